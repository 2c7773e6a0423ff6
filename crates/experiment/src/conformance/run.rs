//! A case as a run: without costs, noise and kernel threads, with ticks of 1 ms that are never late.

use std::sync::Arc;

use kernels::{Failing, KERNELS};
use notation::parameter::Values;
use notation::units;
use sim_core::command::{Act, Command};
use sim_core::engine::Simulation;
use sim_core::ids::{AppId, CpuId, ProfileId};
use sim_core::machine::{Clocks, Costs, CpuSet, Level, Machine, Memory, Smt};
use sim_core::os::{OsModel, TaskGroup};
use sim_core::outcome::Options;
use sim_core::program::{AppSpec, Forks, MemoryProfile, Op, Program, Runtime, Spread, StartUp};
use sim_core::time::{Span, Speed, Time, Work};
use sim_core::wait::{BarrierKind, Polling, WaitMode};

use super::case::{Case, Group, MOST_CELLS, MOST_CPUS, TICK, What};
use super::record::{Recorder, Seen};

/// Rules that make a run random or move it off the ticks, and their values here, where a kernel has them.
const WITHOUT_NOISE: [(&str, u64); 4] =
    [("tick", TICK.ns()), ("tick_jitter", 0), ("tick_skew", 0), ("hrtick", 0)];

fn machine(case: &Case) -> Result<Machine, String> {
    if case.machine.is_empty() {
        return Err("the machine is not known; write `machine core:4`, or use --machine".into());
    }
    let topology = machines::parse_topology(&case.machine)?;
    if topology.cpus() > MOST_CPUS {
        return Err(format!("a case has at most {MOST_CPUS} cpus, the machine has {}", topology.cpus()));
    }
    if !case.capacities.is_empty() && case.capacities.len() != topology.cpus() as usize {
        let (given, cpus) = (case.capacities.len(), topology.cpus());
        return Err(format!("`capacity` is that of each cpu: {cpus} numbers, not {given}"));
    }
    // The threads of a core are alike. That a task does less there is not seen: it computes without end.
    let firsts = (0..topology.count(Level::Core)).map(|core| topology.members(Level::Core, core).start);
    let capacities = firsts.filter_map(|cpu| case.capacities.get(cpu as usize));
    let core_speed = capacities.map(|capacity| Speed::ratio(u64::from(*capacity), 1024)).collect();
    Ok(Machine {
        name: case.machine.clone(),
        topology,
        costs: Costs::free(),
        // The cores of a package share a cache, unless the description names others.
        memory: Memory { shared_cache: 1 << 20, ..Memory::unlimited() },
        core_speed,
        work_unit: Speed::NOMINAL,
        smt: Smt::NONE,
        turbo: Vec::new(),
        clocks: Clocks::HIGHEST,
    })
}

fn kernel(case: &Case, cpus: u32) -> Result<OsModel, String> {
    if case.kernel.is_empty() {
        return Err("the kernel is not known; write `kernel linux-6.12.0`, or use --kernel".into());
    }
    let entry = KERNELS.resolve(&case.kernel)?;
    let mut values = Values::defaults(entry.parameters);
    let has = |values: &Values, rule: &str| values.find(rule).is_some();
    for (rule, value) in WITHOUT_NOISE {
        if has(&values, rule) {
            values.set(rule, value)?;
        }
    }
    if case.stepped {
        if has(&values, "idle_ticks") {
            values.set("idle_ticks", 1)?;
        }
        if values.number("failing").is_some_and(|failing| failing >= Failing::Random as u64) {
            values.set("failing", Failing::Cost as u64)?;
        }
    }
    for (rule, text) in &case.rules {
        let Some(parameter) = values.find(rule) else {
            return Err(format!("{} has no rule `{rule}` (`oversim kernel show {0}`)", entry.name));
        };
        if WITHOUT_NOISE.iter().any(|(fixed, _)| fixed == rule) {
            return Err(format!("`{rule}` is fixed here: ticks of 1ms that are never late"));
        }
        let value = units::parse(parameter.kind, text).map_err(|why| format!("rule `{rule}`: {why}"))?;
        values.set(rule, value).map_err(|why| format!("rule `{rule}`: {why}"))?;
    }
    let model = kernels::build(entry, &values, case.booted.unwrap_or(cpus).max(cpus));
    // There is no memory to migrate.
    let group = |group: &Group| TaskGroup {
        name: group.name.clone(),
        parent: group.parent.map(|parent| parent as u16),
        weight: 1024,
        limit: None,
    };
    let groups = if has_groups(case) { case.groups.iter().map(group).collect() } else { Vec::new() };
    Ok(OsModel { numa_balancing: None, groups, ..model })
}

/// A task while the operations are gone through.
struct Draft {
    mask: Vec<u32>,
    weight: u32,
    group: Option<u16>,
    started: bool,
    forked: bool,
    /// It starts with this mask and weight, in this task group.
    first: (Vec<u32>, u32, Option<u16>),
    commands: Vec<Command>,
}

impl Draft {
    fn new(all: &[u32]) -> Self {
        Self {
            mask: all.to_vec(),
            weight: 1024,
            group: None,
            started: false,
            forked: false,
            first: (Vec::new(), 1024, None),
            commands: Vec::new(),
        }
    }
}

/// The tasks with what is done to each. A task that is woken for the first time has no cpu of its own among
/// those that it may use; it goes to the first one (`select_fallback_rq`), and may use the others then.
fn drafts(case: &Case, cpus: u32) -> Result<Vec<Draft>, String> {
    let all: Vec<u32> = (0..cpus).collect();
    let (harness, grouped) = (case.has_harness(), has_groups(case));
    let mut drafts: Vec<Draft> = case.tasks.iter().map(|_| Draft::new(&all)).collect();
    for (number, operation) in (0..).zip(&case.operations) {
        let add = |draft: &mut Draft, act: Act, later: u32| {
            let at = Time::ZERO + TICK * operation.tick;
            draft.commands.push(Command { at, order: 2 * number + later, act });
        };
        let set = |cpus: &[u32]| CpuSet::of(cpus.iter().map(|cpu| CpuId(*cpu)));
        // What is done to a group stands among the commands of the first task.
        let of_group = matches!(operation.what, What::Shares(_));
        let draft = &mut drafts[if of_group { 0 } else { operation.task }];
        match &operation.what {
            What::Create => {}
            What::Wake if draft.started => add(draft, Act::Continue, 0),
            What::Wake => {
                draft.started = true;
                let mask = if harness { &draft.mask[..] } else { &draft.mask[..1] };
                draft.first = (mask.to_vec(), draft.weight, draft.group);
                add(draft, Act::Start, 0);
                let mask = set(&draft.mask);
                add(draft, Act::Bind(mask), 1);
            }
            What::Sleep => add(draft, Act::Stop, 0),
            What::Block => add(draft, Act::Pause, 0),
            What::Join(group) => {
                draft.group = group.map(|group| group as u16);
                if draft.started {
                    add(draft, Act::Group(draft.group), 0);
                }
            }
            What::Shares(_) if !grouped => {}
            What::Shares(weight) => add(draft, Act::Shares(operation.task as u16, *weight), 0),
            What::Weight(weight) => {
                draft.weight = *weight;
                if draft.started {
                    add(draft, Act::Weight(*weight), 0);
                }
            }
            What::Pin(mask) => {
                if mask.iter().all(|cpu| *cpu >= cpus) {
                    let name = &case.tasks[operation.task];
                    return Err(format!("`{name}` is pinned to cpus that the machine of {cpus} lacks"));
                }
                draft.mask = mask.iter().copied().filter(|cpu| *cpu < cpus).collect();
                draft.mask.sort_unstable();
                if draft.started {
                    let mask = set(&draft.mask);
                    add(draft, Act::Bind(mask), 0);
                }
            }
            What::Fork(child) => {
                let (mask, weight, group) = (draft.mask.clone(), draft.weight, draft.group);
                let child = &mut drafts[*child];
                (child.mask, child.weight, child.started, child.forked) = (mask.clone(), weight, true, true);
                child.group = group;
                child.first = (mask, weight, group);
                add(child, Act::Fork(AppId(operation.task as u32)), 0);
            }
        }
    }
    Ok(drafts)
}

/// A task ever joins a task group; otherwise there are none.
fn has_groups(case: &Case) -> bool {
    case.operations.iter().any(|operation| matches!(operation.what, What::Join(Some(_))))
}

/// The applications, one task each, which computes without end.
fn apps(case: &Case, cpus: u32, horizon: Time) -> Result<Vec<AppSpec>, String> {
    let work = Work::from_span(horizon.since(Time::ZERO) + Span::from_ms(1_000));
    let compute = Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) };
    let program = Arc::new(Program::new(vec![compute], vec![MemoryProfile::NONE])?);
    let app = |(number, (name, draft)): (usize, (&String, Draft))| {
        let forks = match draft.forked {
            true => Forks::Master,
            false if case.has_harness() => Forks::Woken(CpuId(0)),
            false => Forks::Together,
        };
        let runtime = Runtime {
            name: "none".into(),
            barrier: BarrierKind::Central,
            wait: WaitMode::Block,
            polling: Polling::PLAIN,
            processes: true,
            startup: StartUp { forks, ..StartUp::PLAIN },
        };
        let (mask, weight, group) = draft.first;
        AppSpec {
            start: Time::NEVER,
            weight,
            group,
            kernel_mode: case.kernel_threads.contains(&number),
            allowed: (!mask.is_empty()).then(|| CpuSet::of(mask.into_iter().map(CpuId))),
            commands: draft.commands,
            ..AppSpec::new(name.clone(), 1, program.clone(), runtime)
        }
    };
    Ok(case.tasks.iter().zip(drafts(case, cpus)?).enumerate().map(app).collect())
}

/// Runs a case.
///
/// # Errors
/// A sentence: what of the case cannot be run.
pub(super) fn run(case: &Case) -> Result<Seen, String> {
    let machine = machine(case)?;
    let cpus = machine.cpus();
    if let Some((tick, row)) = case.rows.iter().find(|(_, row)| row.len() > cpus as usize) {
        return Err(format!("the row of tick {tick} has {} cpus, the machine {cpus}", row.len()));
    }
    if case.tasks.is_empty() {
        return Err("a case needs a task; write `at 0 create A` and `at 0 wake A`".into());
    }
    let model = kernel(case, cpus)?;
    let ticks = case.last_tick() + 1;
    if ticks * u64::from(cpus) > MOST_CELLS {
        return Err(format!("a case has at most {MOST_CELLS} cells, this one {ticks} ticks on {cpus} cpus"));
    }
    let horizon = Time::ZERO + TICK * (ticks + 1);
    let apps = apps(case, cpus, horizon)?;
    let mut policy = policies::just_booted(&machine, &model, &apps, !case.has_harness());
    let mut recorder = Recorder::new(case, cpus, ticks);
    let options = Options { horizon, ..Options::default() };
    Simulation::new(Arc::new(machine), Arc::new(model), apps, options)?.run(&mut *policy, &mut recorder);
    Ok(recorder.finish())
}
