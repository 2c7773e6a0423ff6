//! What a user can set for the programs of a scenario: levers, each with its values. The first value of each
//! lever is to leave it as it is.

mod demand;
mod habit;
mod hybrid;
mod sizes;

use std::collections::BTreeSet;

use experiment::PolicyRegistry;
use notation::lists;
use notation::number::plural;
use notation::yaml::{Content, tree};
use scenario::plan::{Experiment, RunPlan};
use scenario::settable;
use sim_core::ids::CpuId;
use sim_core::machine::Machine;
use sim_core::topology::Level;
use workloads::runtimes::RUNTIMES;

use crate::flow;
use crate::trial::Setting;
use crate::typed::Waiting;
use crate::ways::{is_set_by_user, parameters, ways};
pub use habit::habit;
pub use sizes::Sizes;

/// The policy by which a scenario says that programs are bound.
pub(super) const PIN: &str = "PIN";

/// What can be set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Threads of a process.
    Threads,
    /// Processes.
    Ranks,
    /// Binding.
    Pin,
    /// How threads wait.
    Wait,
    /// Cpus of their own for each program.
    Partition,
    /// One program after the other.
    Order,
    /// `cpu.max`.
    Quota,
    /// Nice values.
    Nice,
    /// One hardware thread of each core.
    Smt,
    /// A path of the scenario that the user names.
    Path,
}

impl Kind {
    /// All that `--allow` takes, with their names there.
    pub const NAMES: [(Self, &'static str); 9] = [
        (Self::Threads, "threads"),
        (Self::Ranks, "ranks"),
        (Self::Pin, "pin"),
        (Self::Wait, "wait"),
        (Self::Partition, "partition"),
        (Self::Order, "order"),
        (Self::Quota, "quota"),
        (Self::Nice, "nice"),
        (Self::Smt, "smt"),
    ];

    /// What is searched where the user says nothing: all that a user may set without asking anybody and that
    /// leaves to others what they have. Quotas and nice values are agreements with others.
    pub const DEFAULT: [Self; 7] =
        [Self::Threads, Self::Ranks, Self::Pin, Self::Wait, Self::Partition, Self::Order, Self::Smt];

    /// So many of its values: `3 numbers of tasks`.
    #[must_use]
    pub fn refused(self, count: usize) -> String {
        match self {
            Self::Threads | Self::Ranks => plural(count, "number of tasks", "numbers of tasks"),
            Self::Pin => plural(count, "way of binding", "ways of binding"),
            Self::Wait => plural(count, "way of waiting", "ways of waiting"),
            Self::Partition => plural(count, "division of the cpus", "divisions of the cpus"),
            Self::Quota => plural(count, "quota", "quotas"),
            Self::Nice => plural(count, "nice value", "nice values"),
            Self::Order | Self::Smt | Self::Path => plural(count, "value", "values"),
        }
    }
}

/// How tasks are bound.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Layout {
    /// Far apart: `OMP_PROC_BIND=spread`.
    Spread,
    /// Close together: `OMP_PROC_BIND=close`.
    Close,
    /// To the NUMA node of their cpu, far apart.
    Node,
    /// Each process in a block of neighbouring cores, each of its threads on one of them:
    /// `--map-by l3cache:PE=8 --bind-to core`, `OMP_PROC_BIND=close`.
    Blocks,
}

/// What a value of a lever does, for what a user types.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Effect {
    /// Nothing.
    AsItIs,
    /// So many threads in each process.
    Threads(u32),
    /// So many processes, each of so many threads; one thread where it has no team.
    Ranks(u32, u32),
    /// Not bound.
    Unbound,
    /// Bound so.
    Bound(Layout),
    /// A way to wait.
    Waits {
        /// The runtime.
        runtime: &'static str,
        /// How.
        waiting: Waiting,
    },
    /// One hardware thread of each core that it may use.
    OneThreadPerCore(Vec<u32>),
    /// Each program has cpus of its own: name and cpus.
    Parts(Vec<(String, Vec<u32>)>),
    /// One program after the other.
    InTurns,
    /// So much cpu time in each period, in nanoseconds.
    Quota(u64, u64),
    /// This nice value.
    Nice(i8),
    /// The value of a path.
    Path(String, String),
}

/// A value of a lever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// What it does.
    pub effect: Effect,
    /// What it sets.
    pub set: Vec<String>,
    /// The policy that stands for it; none: the scenario's.
    pub policy: Option<String>,
}

impl Value {
    fn as_it_is() -> Self {
        Self { effect: Effect::AsItIs, set: Vec::new(), policy: None }
    }

    fn of(effect: Effect, set: Vec<String>) -> Self {
        Self { effect, set, policy: None }
    }
}

/// What can be set for one program, or for all of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lever {
    /// What it is.
    pub kind: Kind,
    /// The program; none: all programs.
    pub app: Option<String>,
    /// The values; the first one leaves it as it is.
    pub values: Vec<Value>,
}

/// What is searched.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Allowed {
    /// Kinds; empty: [`Kind::DEFAULT`].
    pub kinds: Vec<Kind>,
    /// The programs that may be changed; empty: all foreground ones.
    pub apps: Vec<String>,
    /// `path=a,b,c`: values of a path, as a sweep writes them.
    pub vary: Vec<String>,
    /// Judge the scenario exactly as it is stated: an idle host, and second hardware threads that add what
    /// the machine says.
    pub as_stated: bool,
}

/// A foreground program as it is.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub tasks: u32,
    /// Tasks of each process where it has teams, else 0.
    pub team: u32,
    /// Its runtimes: that of the processes, and that of the threads of each if there are two.
    pub runtimes: Vec<scenario::written::Chosen>,
    /// The cpus that it may use, in the simulator's numbers.
    pub cpus: Vec<u32>,
    /// It is of processes that a launcher starts.
    pub processes: bool,
    /// Its nice value is that of weight 1,024.
    pub plain: bool,
}

/// The foreground programs of a scenario that may be changed, in the order written.
#[must_use]
pub fn programs(experiment: &Experiment, only: &[String]) -> Vec<Program> {
    let Some(plan) = shared(experiment) else { return Vec::new() };
    let mut found: Vec<Program> = Vec::new();
    for (spec, entry) in plan.apps.iter().zip(&plan.entries) {
        let background = experiment.background.get(*entry).copied().unwrap_or(true);
        let Some(name) = experiment.apps.get(*entry).filter(|_| !background) else { continue };
        let wanted = only.is_empty() || only.contains(name);
        if !wanted || found.iter().any(|known| known.name == *name) {
            continue;
        }
        let written = plan.written.get(*entry);
        let runtimes = written.into_iter().flat_map(|w| [Some(&w.runtime), w.of_threads.as_ref()]);
        let cpus = match &spec.allowed {
            Some(set) => set.iter().map(|cpu| cpu.0).collect(),
            None => (0..plan.machine.cpus()).collect(),
        };
        found.push(Program {
            name: name.clone(),
            tasks: spec.tasks,
            team: spec.team,
            runtimes: runtimes.flatten().cloned().collect(),
            cpus,
            processes: spec.runtime.processes,
            plain: spec.weight == 1_024,
        });
    }
    found
}

/// The first run of all programs together.
#[must_use]
pub fn shared(experiment: &Experiment) -> Option<&RunPlan> {
    experiment.runs.iter().find(|plan| plan.alone.is_none())
}

/// The cores of some cpus: for each its first hardware thread among them.
#[must_use]
pub fn one_per_core(machine: &Machine, cpus: &[u32]) -> Vec<u32> {
    let mut seen = BTreeSet::new();
    let first = |cpu: &&u32| seen.insert(machine.topology.group(Level::Core, CpuId(**cpu)));
    cpus.iter().filter(first).copied().collect()
}

/// The levers of a scenario. `text`: what says which paths it has.
#[must_use]
pub fn levers(
    (policies, text): (&PolicyRegistry, &str),
    experiment: &Experiment,
    allowed: &Allowed,
) -> Vec<Lever> {
    let Some(plan) = shared(experiment) else { return Vec::new() };
    let programs = programs(experiment, &allowed.apps);
    let paths: BTreeSet<String> =
        settable(policies, Some(text), false).into_iter().map(|known| known.path).collect();
    let kinds = if allowed.kinds.is_empty() { &Kind::DEFAULT[..] } else { &allowed.kinds };
    let may = |kind: Kind| kinds.contains(&kind);
    let mut levers = Vec::new();
    for program in &programs {
        levers.extend(sizes(plan, program, &paths, kinds));
        if may(Kind::Wait) {
            let own = allowed.kinds.contains(&Kind::Wait);
            levers.extend(waits(program, own));
        }
        if may(Kind::Nice) {
            levers.push(nice(program));
        }
    }
    if may(Kind::Pin) {
        levers.push(pins(experiment, plan, &programs));
    }
    levers.extend(room(plan, &programs, kinds));
    if may(Kind::Order) && programs.len() > 1 && plan.window.is_none() {
        levers.push(turns(plan));
    }
    if may(Kind::Quota) {
        levers.extend(quotas(plan, &paths));
    }
    levers.extend(allowed.vary.iter().filter_map(|axis| varied(axis)));
    levers.retain(|lever| lever.values.len() > 1);
    levers
}

/// Counts that are worth a trial for a program on so many cores with so many cpus: powers of two, the cores,
/// the cpus, one less than each (a cpu for the rest of the system), three quarters, and twice as many; then
/// twice as many again, as long as that is nearer than the count before to twice the tasks that can keep the
/// cpus busy ([`demand::useful`]). Twice: tasks wait at random moments, so cpus still idle where there are
/// just enough of them. `most`: more tasks have nothing to do.
fn counts(cores: u32, cpus: u32, (useful, most): (f64, u32)) -> BTreeSet<u32> {
    let powers = (0..=16).map(|power| 1 << power).take_while(|count| *count < cpus);
    let near = [cores, cpus, cores.saturating_sub(1), cpus.saturating_sub(1), cpus * 3 / 4, 2 * cpus];
    // Halfway between a count and twice that, by ratio.
    let short = |count: &u32| f64::from(*count) * std::f64::consts::SQRT_2 < 2.0 * useful;
    let last = most.min(1 << 16);
    let more = std::iter::successors(Some(2 * cpus), |count| Some(*count).filter(short)?.checked_mul(2));
    let more = more.skip(1).take_while(|count| count / 2 < last).map(|count| count.min(last));
    powers.chain(near).chain(more).filter(|count| *count > 0).collect()
}

/// How many threads and processes.
fn sizes(plan: &RunPlan, program: &Program, paths: &BTreeSet<String>, kinds: &[Kind]) -> Option<Lever> {
    let app = &program.name;
    let teams = format!("apps.{app}.workload.threads_per_process");
    // A program that the scenario writes itself, of one kind of tasks, has its `count` in place of `tasks`.
    // With teams the count is that of the teams.
    let counted = format!("apps.{app}.program.count");
    let own = paths.contains(&counted);
    let tasks = if own { counted } else { format!("apps.{app}.tasks") };
    if !paths.contains(&tasks) || own && program.team > 0 {
        return None;
    }
    let cpus = program.cpus.len() as u32;
    let cores = one_per_core(&plan.machine, &program.cpus).len() as u32;
    let counts = counts(cores, cpus, demand::useful(plan, app, cpus));
    let (threads, ranks) = (kinds.contains(&Kind::Threads), kinds.contains(&Kind::Ranks));
    let mut values = vec![Value::as_it_is()];
    if paths.contains(&teams) && program.team > 0 {
        let processes = format!("apps.{app}.workload.processes");
        let now = program.tasks / program.team.max(1);
        for (number, team) in hybrid::shapes(&plan.machine, program) {
            let same = (number, team) == (now, program.team);
            if !same && (threads || team == program.team) && (ranks || number == now) {
                let set = vec![format!("{processes}={number}"), format!("{teams}={team}")];
                values.push(Value::of(Effect::Ranks(number, team), set));
            }
        }
    } else if if program.processes { ranks } else { threads } {
        for count in counts.into_iter().filter(|count| *count != program.tasks) {
            let effect = if program.processes { Effect::Ranks(count, 1) } else { Effect::Threads(count) };
            values.push(Value::of(effect, vec![format!("{tasks}={count}")]));
        }
    }
    let kind = if program.processes { Kind::Ranks } else { Kind::Threads };
    Some(Lever { kind, app: Some(app.clone()), values })
}

/// How its tasks wait: each runtime by itself. `own`: also where no user but the author of the program can
/// set it.
fn waits(program: &Program, own: bool) -> Vec<Lever> {
    let several = program.runtimes.len() > 1;
    let names = ["mpi.", "openmp."];
    let each = program.runtimes.iter().zip(names).filter_map(|(runtime, role)| {
        if !own && !is_set_by_user(runtime.name) {
            return None;
        }
        let rows = std::iter::once(Waiting::Default).chain(ways(runtime.name).copied());
        let rows: Vec<(Waiting, Vec<(&'static str, String)>)> =
            rows.map(|way| (way, parameters(runtime.name, way))).collect();
        let touched: BTreeSet<&str> = rows.iter().flat_map(|(_, set)| set).map(|(name, _)| *name).collect();
        let path = format!("apps.{}.runtime.{}", program.name, if several { role } else { "" });
        let entry = RUNTIMES.find(runtime.name)?;
        let mut values = vec![Value::as_it_is()];
        for (waiting, own) in &rows {
            let of = |name: &str| text_of(entry.parameters, own, name);
            let set: Option<Vec<(String, u64)>> = touched.iter().map(|name| of(name)).collect();
            let set = set?;
            let same =
                touched.iter().zip(&set).all(|(name, (_, number))| runtime.number(name) == Some(*number));
            if !same {
                let set = touched.iter().zip(set).map(|(name, (text, _))| format!("{path}{name}={text}"));
                let effect = Effect::Waits { runtime: entry.name, waiting: *waiting };
                values.push(Value::of(effect, set.collect()));
            }
        }
        Some(Lever { kind: Kind::Wait, app: Some(program.name.clone()), values })
    });
    each.collect()
}

/// What a way to wait sets a parameter to, as text and number: its value or the default.
fn text_of(
    table: &[notation::parameter::Parameter],
    set: &[(&'static str, String)],
    name: &str,
) -> Option<(String, u64)> {
    let parameter = table.iter().find(|known| known.name == name)?;
    let text = match set.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => text.clone(),
        None => parameter.kind.show(parameter.default),
    };
    let number = match parameter.kind {
        notation::parameter::Kind::Choice(words) => {
            words.iter().position(|word| *word == text).map(|at| at as u64)?
        }
        kind => notation::units::parse(kind, &text).ok()?,
    };
    Some((text, number))
}

fn nice(program: &Program) -> Lever {
    let mut values = vec![Value::as_it_is()];
    for nice in [0_i8, 5, 10, 19].into_iter().filter(|nice| *nice != 0 || !program.plain) {
        values.push(Value::of(Effect::Nice(nice), vec![format!("apps.{}.nice={nice}", program.name)]));
    }
    Lever { kind: Kind::Nice, app: Some(program.name.clone()), values }
}

/// Bound or not, and how. All programs that may be changed are bound alike, or one of them alone; others are
/// left to the kernel.
fn pins(experiment: &Experiment, plan: &RunPlan, programs: &[Program]) -> Lever {
    let nodes = plan.machine.nodes() > 1;
    let layouts = [
        (Layout::Spread, "scatter", ""),
        (Layout::Close, "gather", ""),
        (Layout::Node, "scatter", "by: node"),
    ];
    let layouts = layouts.into_iter().filter(|(layout, ..)| nodes || *layout != Layout::Node);
    let blocks = Some(hybrid::BLOCKS).filter(|_| programs.iter().any(hybrid::is_hybrid));
    let bound = plan.policy_choice.entry.name == PIN;
    let mut values = vec![Value::as_it_is()];
    if bound && experiment.policies.len() == 1 {
        let beneath = plan.policy_choice.beneath(&plan.kernel);
        let policy = beneath.map(|choice| choice.entry.name.to_owned());
        values.push(Value { effect: Effect::Unbound, set: Vec::new(), policy });
    }
    let foreground =
        experiment.apps.iter().zip(&experiment.background).filter(|(_, background)| !**background);
    let foreground: Vec<&String> = foreground.map(|(name, _)| name).collect();
    // Of settings that are level the first one is advised: that which launchers have an option for.
    for (layout, word, by) in blocks.into_iter().chain(layouts) {
        let each: Vec<String> = foreground
            .iter()
            .map(|name| {
                let own = programs.iter().any(|program| program.name == **name);
                format!("{name}: {}", if own { word } else { "none" })
            })
            .collect();
        let more = if by.is_empty() { String::new() } else { format!(", {by}") };
        let policy = format!("{{ {PIN}: {{ layout: {{ {} }}{more} }} }}", each.join(", "));
        values.push(Value { effect: Effect::Bound(layout), set: Vec::new(), policy: Some(policy) });
    }
    Lever { kind: Kind::Pin, app: None, values }
}

/// The cpus of each program: one hardware thread of each core, parts of the machine for each program, both.
fn room(plan: &RunPlan, programs: &[Program], kinds: &[Kind]) -> Vec<Lever> {
    let machine = &plan.machine;
    let set = |app: &str, cpus: &[u32]| format!("apps.{app}.cpus=[{}]", lists::ranges(cpus.iter().copied()));
    let mut levers = Vec::new();
    if kinds.contains(&Kind::Partition) && programs.len() > 1 {
        let mut values = vec![Value::as_it_is()];
        for parts in partitions(machine, programs) {
            let text = parts.iter().map(|(app, cpus)| set(app, cpus)).collect();
            values.push(Value::of(Effect::Parts(parts), text));
        }
        levers.push(Lever { kind: Kind::Partition, app: None, values });
    }
    if kinds.contains(&Kind::Smt) {
        for program in programs {
            let cores = one_per_core(machine, &program.cpus);
            let mut values = vec![Value::as_it_is()];
            if cores.len() < program.cpus.len() {
                let text = vec![set(&program.name, &cores)];
                values.push(Value::of(Effect::OneThreadPerCore(cores), text));
            }
            levers.push(Lever { kind: Kind::Smt, app: Some(program.name.clone()), values });
        }
    }
    levers
}

/// Parts of the cores that all programs may use: equal ones, in proportion to their tasks, and for two
/// programs each eighth of the cores. Parts are neighbouring cores, in the order of the programs.
fn partitions(machine: &Machine, programs: &[Program]) -> Vec<Vec<(String, Vec<u32>)>> {
    let common: Vec<u32> = match programs {
        [first, rest @ ..] => {
            let shared = |cpu: &&u32| rest.iter().all(|program| program.cpus.contains(cpu));
            first.cpus.iter().filter(shared).copied().collect()
        }
        [] => Vec::new(),
    };
    let cores = one_per_core(machine, &common);
    let (count, n) = (cores.len(), programs.len());
    if count < n || n > 8 {
        return Vec::new();
    }
    let tasks: u64 = programs.iter().map(|program| u64::from(program.tasks)).sum();
    let equal = vec![1; n];
    let proportional: Vec<u64> = programs.iter().map(|p| u64::from(p.tasks).max(1)).collect();
    let mut shares = vec![equal, proportional];
    if n == 2 {
        shares.extend((1..8).map(|eighth| vec![eighth, 8 - eighth]));
    }
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for share in shares.into_iter().filter(|_| tasks > 0) {
        let sizes = divided(count, &share);
        if sizes.contains(&0) || !seen.insert(sizes.clone()) {
            continue;
        }
        let mut begin = 0;
        let parts = programs.iter().zip(&sizes).map(|(program, size)| {
            let own: BTreeSet<u32> = cores
                .iter()
                .skip(begin)
                .take(*size)
                .map(|cpu| machine.topology.group(Level::Core, CpuId(*cpu)))
                .collect();
            begin += size;
            let of = |cpu: &&u32| own.contains(&machine.topology.group(Level::Core, CpuId(**cpu)));
            (program.name.clone(), common.iter().filter(of).copied().collect())
        });
        found.push(parts.collect());
    }
    found
}

/// Divides a number in proportion: sums of rounded shares, each at least 1 where there is enough.
fn divided(count: usize, shares: &[u64]) -> Vec<usize> {
    let whole: u64 = shares.iter().sum();
    let mut before = 0;
    let mut sum = 0;
    let each = shares.iter().map(|share| {
        sum += share;
        let end = (count as u64 * sum * 2 + whole) / (whole * 2);
        let size = (end as usize).saturating_sub(before);
        before = end as usize;
        size
    });
    each.collect()
}

fn turns(plan: &RunPlan) -> Lever {
    let mut values = vec![Value::as_it_is()];
    if plan.options.admission == sim_core::admission::Admission::UNLIMITED {
        values.push(Value::of(Effect::InTurns, vec!["admission={ jobs: 1 }".to_owned()]));
    }
    Lever { kind: Kind::Order, app: None, values }
}

/// Quotas of the groups that have one: in quarters of what they are, up to twice as much.
fn quotas(plan: &RunPlan, paths: &BTreeSet<String>) -> Vec<Lever> {
    let each = plan.kernel.groups.iter().filter_map(|group| {
        let path = format!("cgroups.{}.quota", group.name);
        let limit = group.limit.as_ref().filter(|_| paths.contains(&path))?;
        let (quota, period) = (limit.quota.ns(), limit.period.ns());
        let mut values = vec![Value::as_it_is()];
        for quarters in [2, 3, 5, 6, 8] {
            let ns = quota / 4 * quarters;
            values.push(Value::of(Effect::Quota(ns, period), vec![format!("{path}={ns}ns")]));
        }
        Some(Lever { kind: Kind::Quota, app: None, values })
    });
    each.collect()
}

/// A path of the user's with its values; none if it is not `PATH=A,B`.
pub(super) fn varied(axis: &str) -> Option<Lever> {
    let (path, values) = axis.split_once('=')?;
    let path = path.trim();
    if path.is_empty() || values.trim().is_empty() {
        return None;
    }
    let mut all = vec![Value::as_it_is()];
    let list = tree(0, &format!("[{values}]")).ok()?;
    let Content::List(items) = &list.content else { return None };
    for value in items.iter().map(flow::written) {
        let effect = Effect::Path(path.to_owned(), value.clone());
        all.push(Value::of(effect, vec![format!("{path}={value}")]));
    }
    Some(Lever { kind: Kind::Path, app: None, values: all })
}

/// A value of each lever, by its place.
pub type Choice = Vec<usize>;

/// The settings of a choice; none where two of its values cannot be set together: parts of the machine and
/// one hardware thread of each core, which both state the cpus.
#[must_use]
pub fn setting(levers: &[Lever], choice: &[usize]) -> Option<Setting> {
    let mut setting = Setting::default();
    let mut stated = BTreeSet::new();
    for (lever, at) in levers.iter().zip(choice) {
        let value = lever.values.get(*at)?;
        for pair in &value.set {
            let path = pair.split('=').next().unwrap_or_default();
            if !stated.insert(path.to_owned()) {
                return None;
            }
        }
        setting.set.extend(value.set.iter().cloned());
        if value.policy.is_some() {
            setting.policy.clone_from(&value.policy);
        }
    }
    Some(setting)
}
