//! What hooks are given and give back: plain values, which stay valid after the call.

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sim_core::ids::{CpuId, NodeId};
use sim_core::machine::{Level, Topology};
use sim_core::policy::{self, AppView, CpuChoice, MAX_FACTS, TaskState, TaskView, Why};
use sim_core::time::Span;

use super::interned::interned;

/// Times that Python gives lie below this (146 years), so that sums do not overflow.
const LATEST_NS: u64 = 1 << 62;

/// A length of time or an instant that Python gives, in nanoseconds.
pub(super) fn ns(name: &str, value: u64) -> PyResult<u64> {
    if value > LATEST_NS {
        return Err(PyValueError::new_err(format!(
            "{name} must be at most {LATEST_NS} ns (2**62), not {value}"
        )));
    }
    Ok(value)
}

/// The reason of a decision: nothing, a rule, or a rule with up to four named numbers.
pub(super) fn why(given: Option<&Bound<'_, PyAny>>) -> PyResult<Why> {
    let Some(given) = given else { return Ok(Why::NONE) };
    if let Ok(rule) = given.extract::<&str>() {
        return Ok(Why::rule(interned(rule)?));
    }
    let wrong = || {
        PyTypeError::new_err(
            "why must be a rule, `\"stolen\"`, or a rule with named numbers, `(\"stolen\", {\"tasks\": 3})`",
        )
    };
    let pair = given.cast::<PyTuple>().map_err(|_| wrong())?;
    let (rule, facts): (String, Bound<'_, PyDict>) = pair.extract().map_err(|_| wrong())?;
    if facts.len() > MAX_FACTS {
        let message = format!("a reason has at most {MAX_FACTS} numbers, not {}", facts.len());
        return Err(PyValueError::new_err(message));
    }
    let mut why = Why::rule(interned(&rule)?);
    for (name, value) in facts {
        let (name, value): (String, u64) = (
            name.extract().map_err(|_| wrong())?,
            value
                .extract()
                .map_err(|_| PyValueError::new_err("the numbers of a reason are whole, from 0"))?,
        );
        why = why.with(interned(&name)?, value);
    }
    Ok(why)
}

/// Why a cpu is chosen for a task: `kind` is `"fork"` (then `parent` is the parent's cpu) or `"wake"` (then
/// `waker` is the cpu that wakes it, and `previous` the one it last ran on).
#[pyclass(frozen, get_all, module = "oversim")]
pub(crate) struct Placement {
    kind: &'static str,
    parent: Option<u32>,
    waker: Option<u32>,
    previous: Option<u32>,
}

impl From<policy::Placement> for Placement {
    fn from(placement: policy::Placement) -> Self {
        match placement {
            policy::Placement::Fork { parent } => {
                Self { kind: "fork", parent: Some(parent.0), waker: None, previous: None }
            }
            policy::Placement::Wake { waker, previous } => {
                Self { kind: "wake", parent: None, waker: Some(waker.0), previous: Some(previous.0) }
            }
        }
    }
}

#[pymethods]
impl Placement {
    fn __repr__(&self) -> String {
        match (self.parent, self.waker, self.previous) {
            (Some(parent), _, _) => format!("Placement(fork, parent={parent})"),
            (_, waker, previous) => {
                format!("Placement(wake, waker={}, previous={})", waker.unwrap_or(0), previous.unwrap_or(0))
            }
        }
    }
}

/// A timer that a policy has armed: `kind` is `"token"` (then `token` is its number), `"tick"` (then `cpu` is
/// the cpu) or `"slot"`.
#[pyclass(frozen, get_all, module = "oversim")]
pub(crate) struct Timer {
    kind: &'static str,
    token: Option<u64>,
    cpu: Option<u32>,
}

impl From<policy::Timer> for Timer {
    fn from(timer: policy::Timer) -> Self {
        match timer {
            policy::Timer::Token(token) => Self { kind: "token", token: Some(token), cpu: None },
            policy::Timer::Tick(cpu) => Self { kind: "tick", token: None, cpu: Some(cpu.0) },
            policy::Timer::Slot => Self { kind: "slot", token: None, cpu: None },
        }
    }
}

#[pymethods]
impl Timer {
    fn __repr__(&self) -> String {
        match (self.token, self.cpu) {
            (Some(token), _) => format!("Timer(token={token})"),
            (_, Some(cpu)) => format!("Timer(tick={cpu})"),
            _ => "Timer(slot)".into(),
        }
    }
}

/// The cpu that `select_cpu` chooses, with the reason; `memory_node` is the NUMA node for the pages that a
/// created task touches first (none: where it runs when it touches them).
#[pyclass(frozen, module = "oversim")]
pub(crate) struct Choice(pub(super) CpuChoice);

#[pymethods]
impl Choice {
    #[new]
    #[pyo3(signature = (cpu, why=None, *, memory_node=None))]
    fn new(cpu: u32, why: Option<&Bound<'_, PyAny>>, memory_node: Option<u32>) -> PyResult<Self> {
        let why = self::why(why)?;
        Ok(Self(CpuChoice { cpu: CpuId(cpu), why, memory_node: memory_node.map(NodeId) }))
    }

    fn __repr__(&self) -> String {
        format!("Choice({}, {:?})", self.0.cpu.0, self.0.why.rule)
    }
}

/// Where a task goes in the queue of its cpu: the smallest key runs first. `slice_ns` is how long it runs
/// until the policy is asked again (none: until it yields or is preempted); with `preempts` it takes the cpu
/// at once from a task with a larger key.
#[pyclass(frozen, module = "oversim")]
pub(crate) struct QueueEntry(pub(super) policy::QueueEntry);

#[pymethods]
impl QueueEntry {
    #[new]
    #[pyo3(signature = (key=0, slice_ns=None, *, preempts=false))]
    fn new(key: i64, slice_ns: Option<u64>, preempts: bool) -> PyResult<Self> {
        entry(key, slice_ns, preempts).map(Self)
    }

    fn __repr__(&self) -> String {
        let slice = if self.0.slice == Span::MAX { "None".into() } else { self.0.slice.ns().to_string() };
        format!(
            "QueueEntry({}, {slice}, preempts={})",
            self.0.key,
            if self.0.preempts { "True" } else { "False" }
        )
    }
}

/// A place in a queue from what Python gives.
pub(super) fn entry(key: i64, slice_ns: Option<u64>, preempts: bool) -> PyResult<policy::QueueEntry> {
    let slice = slice_ns.map_or(Ok(Span::MAX), |slice| ns("slice_ns", slice).map(Span::from_ns))?;
    Ok(policy::QueueEntry { key, slice, preempts })
}

/// What a policy can see of a task, at the instant of the call. Times are in nanoseconds.
#[pyclass(frozen, get_all, module = "oversim")]
pub(crate) struct Task {
    /// Its application.
    app: u32,
    /// Its rank in the application.
    rank: u32,
    /// `"new"`, `"queued"`, `"running"`, `"sleeping"` or `"exited"`.
    state: &'static str,
    /// The cpu it is on or last was on.
    cpu: u32,
    /// Load weight; 1,024 = nice 0.
    weight: u32,
    /// When it last began or was seen to run.
    last_ran_ns: u64,
    /// Order of entry into its queue: larger is newer.
    entered: u64,
    /// Its queue would rather run it next.
    buddy: bool,
    /// Its priority level (`set_priority`).
    priority: u8,
    /// The policy holds it outside the queues.
    held: bool,
    /// Its priority in the time-sharing class of Solaris, 0 to 59; 0 under other disciplines.
    dispatch_priority: i64,
    /// It waits for others of its application.
    waits: bool,
    /// When its wait ends; none: it does not wait, or the others have not come.
    wait_ends_ns: Option<u64>,
}

/// The word for the state of a task.
const fn word(state: TaskState) -> &'static str {
    match state {
        TaskState::New => "new",
        TaskState::Queued => "queued",
        TaskState::Running => "running",
        TaskState::Sleeping => "sleeping",
        TaskState::Exited => "exited",
    }
}

impl From<TaskView> for Task {
    fn from(task: TaskView) -> Self {
        Self {
            app: task.app.0,
            rank: task.rank,
            state: word(task.state),
            cpu: task.cpu.0,
            weight: task.weight,
            last_ran_ns: task.last_ran.ns(),
            entered: task.entered,
            buddy: task.buddy,
            priority: task.priority,
            held: task.held,
            dispatch_priority: task.dispatch_priority,
            waits: task.wait_ends.is_some(),
            wait_ends_ns: task.wait_ends.filter(|end| !end.is_never()).map(|end| end.ns()),
        }
    }
}

#[pymethods]
impl Task {
    fn __repr__(&self) -> String {
        format!("Task(app={}, rank={}, {}, cpu={})", self.app, self.rank, self.state, self.cpu)
    }
}

/// What a policy can see of an application, at the instant of the call.
#[pyclass(frozen, module = "oversim")]
pub(crate) struct App(AppView);

impl From<AppView> for App {
    fn from(app: AppView) -> Self {
        Self(app)
    }
}

#[pymethods]
impl App {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Its tasks.
    #[getter]
    fn tasks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("builtins")?.getattr("range")?.call1((self.0.tasks.start, self.0.tasks.end))
    }

    /// True from the creation of its first to the exit of its last task.
    #[getter]
    fn alive(&self) -> bool {
        self.0.alive
    }

    /// A background application (hog, daemon).
    #[getter]
    fn background(&self) -> bool {
        self.0.background
    }

    /// Number of consecutive ranks that share an address space.
    #[getter]
    fn process(&self) -> u32 {
        self.0.process
    }

    fn __repr__(&self) -> String {
        format!("App({:?}, tasks {} to {})", self.0.name, self.0.tasks.start, self.0.tasks.end)
    }
}

/// The machine of the run. It does not change.
#[pyclass(frozen, module = "oversim")]
pub(crate) struct Machine {
    name: String,
    topology: Topology,
    /// Speed of each cpu relative to the nominal one.
    speeds: Vec<f64>,
}

impl From<&sim_core::machine::Machine> for Machine {
    fn from(machine: &sim_core::machine::Machine) -> Self {
        let one = sim_core::time::Speed::ratio(1, 1).raw() as f64;
        let speed = |cpu| machine.speed_of(cpu).raw() as f64 / one;
        Self {
            name: machine.name.clone(),
            topology: machine.topology.clone(),
            speeds: machine.cpu_ids().map(speed).collect(),
        }
    }
}

impl Machine {
    fn checked(&self, cpu: u32) -> PyResult<CpuId> {
        let cpus = self.topology.cpus();
        if cpu >= cpus {
            return Err(PyIndexError::new_err(format!("there is no cpu {cpu}: the machine has {cpus}")));
        }
        Ok(CpuId(cpu))
    }
}

fn level(name: &str) -> PyResult<Level> {
    match name {
        "node" => Ok(Level::Node),
        "package" => Ok(Level::Package),
        "cache" => Ok(Level::Cache),
        "cluster" => Ok(Level::Cluster),
        "core" => Ok(Level::Core),
        _ => Err(PyValueError::new_err(format!(
            "unknown level `{name}`: use node, package, cache, cluster or core"
        ))),
    }
}

#[pymethods]
impl Machine {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// How many cpus (hardware threads) it has; they are numbered from 0.
    #[getter]
    fn cpus(&self) -> u32 {
        self.topology.cpus()
    }

    /// How many NUMA nodes it has.
    #[getter]
    fn nodes(&self) -> u32 {
        self.topology.count(Level::Node)
    }

    /// The number of the domain of a level (`"node"`, `"package"`, `"cache"`, `"cluster"`, `"core"`) that
    /// contains a cpu.
    fn domain(&self, level: &str, cpu: u32) -> PyResult<u32> {
        Ok(self.topology.group(self::level(level)?, self.checked(cpu)?))
    }

    /// The cpus of the domain of a level that contains a cpu, itself included.
    fn siblings(&self, level: &str, cpu: u32) -> PyResult<Vec<u32>> {
        let level = self::level(level)?;
        Ok(self.topology.members(level, self.topology.group(level, self.checked(cpu)?)).collect())
    }

    /// How far apart two cpus are: 0 the same, 1 in one core, 2 in one cache, 3 near, 4 far.
    fn distance(&self, a: u32, b: u32) -> PyResult<u32> {
        Ok(self.topology.distance(self.checked(a)?, self.checked(b)?) as u32)
    }

    /// The speed of a cpu relative to the nominal one.
    fn speed(&self, cpu: u32) -> PyResult<f64> {
        let cpu = self.checked(cpu)?;
        Ok(self.speeds.get(cpu.0 as usize).copied().unwrap_or(1.0))
    }

    fn __repr__(&self) -> String {
        format!("Machine({:?}, {} cpus)", self.name, self.topology.cpus())
    }
}
