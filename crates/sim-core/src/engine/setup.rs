//! Building a run: the first state of everything.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::account::Category;
use crate::engine::bandwidth::kernel_timers;
use crate::engine::clocks::Schedutil;
use crate::engine::commands::Commands;
use crate::engine::invariants::Checks;
use crate::engine::memory::MemorySystem;
use crate::engine::numa::Scan;
use crate::engine::polling::prediction::Predictions;
use crate::engine::raise;
use crate::engine::reports::Reports;
use crate::engine::rounds::Rounds;
use crate::engine::sampling::Sampling;
use crate::engine::segments::Segments;
use crate::engine::shared::Shared;
use crate::engine::state::{App, Boxed, Cpu, History, Look, Own, OwnRuntime, ProcessId, RunObjects, Task};
use crate::engine::ticks::Ticks;
use crate::engine::watch::Watch;
use crate::engine::{Admitted, Engine, Orders, Simulation};
use crate::event::{Sources, Timer, Timers};
use crate::ids::{AppId, CpuId, Id as _, IdVec, LockId, TaskId};
use crate::machine::{CpuSet, Machine, PerCpu};
use crate::observe::Observer;
use crate::os::{Discipline, OsModel};
use crate::outcome::{Counters, Options};
use crate::policy::Affinity;
use crate::program::{AppSpec, Change, Forks, Objects, Op, Program, Runtime, pools_of};
use crate::rng::{Purpose, below, draw, key};
use crate::run_queue::real_time::OTHERS;
use crate::run_queue::{Average, Rules, groups};
use crate::sync::{Barrier, Exchanges, Locks, SharedLoops};
use crate::time::{Span, Speed, Time};
use crate::wait::WaitMode;

/// Positions of the operations of a kind.
fn positions(program: &Program, is: fn(&Op) -> bool) -> Vec<u32> {
    let each = program.ops().iter().enumerate();
    each.filter_map(|(pc, op)| is(op).then_some(pc as u32)).collect()
}

/// The barrier of all tasks; if the program has barriers of teams, also that of the leaders, and for each
/// team its own and that at the end of its regions.
fn barriers(spec: &AppSpec) -> Vec<Barrier> {
    let (kind, team) = (spec.runtime.barrier, spec.team.max(1));
    let mut barriers = vec![Barrier::new(kind, spec.tasks)];
    let of_teams = |op: &Op| matches!(op, Op::TeamBarrier | Op::Join | Op::LeadersBarrier);
    if spec.team > 1 || spec.program.ops().iter().any(of_teams) {
        barriers.push(Barrier::new(kind, spec.tasks.div_ceil(team)));
        let kind = spec.team_runtime.as_ref().map_or(kind, |runtime| runtime.barrier);
        let firsts = (0..spec.tasks).step_by(team as usize);
        barriers.extend(firsts.flat_map(|first| {
            let tasks = team.min(spec.tasks - first);
            [Barrier::new(kind, tasks), Barrier::that_joins(kind, tasks)]
        }));
    }
    barriers
}

/// The number of a task's process: that of its team's leader, its own, or that of its application.
fn process_of(spec: &AppSpec, app: AppId, first: u32, rank: u32) -> ProcessId {
    let of_task = |rank: u32| ProcessId::of_task(TaskId(first + rank));
    match spec.team {
        team if team > 1 && !spec.teams_share => of_task(rank / team * team),
        _ if spec.runtime.processes => of_task(rank),
        _ => ProcessId::of_app(app),
    }
}

fn build_app(spec: AppSpec, first: u32, profiles: u32, fork_noise: u64, delay: Span) -> App {
    let exchanges = positions(&spec.program, |op| matches!(op, Op::Exchange { .. } | Op::Message(_)));
    let affinity = |(at, cpus): (Span, CpuSet)| (at, Affinity::Set(Arc::new(cpus)));
    let loops = positions(&spec.program, |op| matches!(op, Op::RepeatShared(_)));
    let of_team = spec.team_runtime.as_ref();
    let yields = [spec.runtime.wait.yields(), of_team.is_some_and(|runtime| runtime.wait.yields())];
    let by_team = spec.team > 1 && spec.runtime.startup.forks == Forks::Launcher;
    let team_forked = if by_team { vec![0; spec.tasks.div_ceil(spec.team) as usize] } else { Vec::new() };
    let mask = |change: &Change| match change {
        Change::Cpus(cpus) => Affinity::Set(Arc::new(cpus.clone())),
        Change::Weight(_) | Change::Class(_) => Affinity::All,
    };
    App {
        first_lock: 0,
        named_locks: spec.named_locks,
        instants: vec![Time::NEVER; spec.program.clocks() * spec.tasks as usize],
        renewed: vec![Time::NEVER; if spec.program.clocks() > 0 { spec.tasks as usize } else { 0 }],
        sleeps_answer: true,
        changed: BTreeMap::new(),
        masks: spec.program.changes().iter().map(mask).collect(),
        waits: None,
        first_late: None,
        barriers: barriers(&spec),
        process: spec.process(),
        scanned: spec.program.scanned(),
        team: spec.team.max(1),
        exchanges: Exchanges::new(exchanges, spec.tasks),
        loops: SharedLoops::new(loops, spec.tasks),
        name: spec.name,
        background: spec.background,
        group: spec.group,
        kernel_mode: spec.kernel_mode,
        responses: spec.requests.then(Box::default),
        deadline: spec.deadline,
        estimate: spec.estimate,
        runtime: spec.runtime,
        several: of_team.is_some() || spec.program.own_runtimes() > 0,
        team_runtime: spec.team_runtime,
        own_runtimes: Vec::new(),
        program: spec.program,
        first: TaskId(first),
        tasks: spec.tasks,
        rank_scale: spec.rank_scale,
        profiles,
        delay,
        after: spec.after,
        arrived: Time::ZERO,
        begun: Time::ZERO,
        first_run: None,
        met: None,
        clock: None,
        fork_noise,
        started: false,
        shell: CpuId(0),
        looks: [0; 4],
        yields,
        passes: 0,
        rebinds: spec.rebinds.into_iter().map(affinity).collect(),
        team_pages: Vec::new(),
        touched: Vec::new(),
        faults_until: Vec::new(),
        forked: 0,
        launched: 0,
        team_forked,
        exited: 0,
        runnable: (0, Time::ZERO),
        end: None,
        counters: Counters::default(),
    }
}

/// The cpus, all idle, and the records of their task groups; tasks get their priority.
fn build_cpus(
    machine: &Machine,
    model: &OsModel,
    seed: u64,
    (apps, tasks): (&IdVec<AppId, App>, &mut IdVec<TaskId, Task>),
    locks: &Locks,
) -> PerCpu<Cpu> {
    let mut cpus: PerCpu<Cpu> = machine.cpu_ids().map(Cpu::new).collect();
    // A discipline that times ordinary picks writes this record all the time; so do tasks that sleep, whose
    // overhead often has several parts.
    let pairs = model.discipline.times_picks();
    if pairs || apps.iter().flat_map(App::runtimes).any(sleeps) || locks.may_sleep() {
        cpus.iter_mut().for_each(|cpu| cpu.rare = Boxed::ready());
    }
    if model.discipline.ticks().is_some() {
        for cpu in machine.cpu_ids() {
            cpus[cpu].rare.next_tick = Time::ZERO;
            let summed = model.groups.is_empty() && model.discipline.real_time().is_none();
            cpus[cpu].rare.waiting = summed.then(Average::default);
            cpus[cpu].rare.tick_key = key(seed, Purpose::TickLateness, u64::from(cpu.0));
        }
    }
    groups::add(tasks, &mut cpus, &model.groups);
    if tasks.iter().any(|task| task.history.slice > Span::ZERO) {
        cpus.iter_mut().for_each(|cpu| cpu.rare.own_slices = true);
    }
    if model.discipline.real_time().is_some() {
        // Those of task groups, too.
        tasks.iter_mut().for_each(|task| task.priority = OTHERS);
    }
    cpus
}

/// Where each task may run; empty when all may run anywhere.
fn affinities(specs: &[AppSpec]) -> Vec<Affinity> {
    if specs.iter().all(|spec| spec.allowed.is_none()) {
        return Vec::new();
    }
    let of = |spec: &AppSpec| spec.allowed.clone().map_or(Affinity::All, |set| Affinity::Set(Arc::new(set)));
    specs.iter().flat_map(|spec| std::iter::repeat_n(of(spec), spec.tasks as usize)).collect()
}

/// The workers of each of so many pools, in the order of their ids.
fn workers(specs: &[AppSpec], pools: usize) -> Vec<Vec<TaskId>> {
    let (mut workers, mut first) = (vec![Vec::new(); pools], 0);
    for spec in specs {
        for pool in pools_of(spec) {
            workers[pool.index()].extend((first..first + spec.tasks).map(TaskId));
        }
        first += spec.tasks;
    }
    workers
}

/// Tasks that wait under this runtime may sleep.
fn sleeps(runtime: &Runtime) -> bool {
    runtime.startup.sleeps || runtime.wait.sleeps_after().is_some()
}

/// Room for what the discipline or the program will write about a task of an application apart
/// from its record.
fn history(discipline: &Discipline, spec: &AppSpec) -> Boxed<History> {
    let program = &spec.program;
    let apart = |op: &Op| {
        let teams = matches!(op, Op::TeamBarrier | Op::Join | Op::LeadersBarrier);
        let events = matches!(op, Op::Take { .. } | Op::Arm(_) | Op::Until { .. });
        teams || events || matches!(op, Op::Sleep { .. } | Op::Transfer { .. } | Op::Lock(_))
    };
    let nested = || (0..program.ops().len() as u16).any(|pc| program.loops_around(pc) > 1);
    let needed = discipline.keeps_history() || spec.team > 1 || program.ops().iter().any(apart) || nested();
    if needed { Boxed::ready() } else { Boxed::NONE }
}

/// Adds the tasks of an application.
fn add_tasks(
    tasks: &mut IdVec<TaskId, Task>,
    spec: &AppSpec,
    (app, seed): (AppId, u64),
    discipline: &Discipline,
) {
    let first = tasks.len() as u32;
    let history = history(discipline, spec);
    tasks.reserve(spec.tasks as usize);
    for rank in 0..spec.tasks {
        let noise = key(seed, Purpose::WorkNoise, u64::from(app.0) << 32 | u64::from(rank));
        let process = process_of(spec, app, first, rank);
        let mut task = Task::new(app, spec.weight_of(rank), process, noise);
        task.history = history.clone();
        if let Some(history) = task.history.written() {
            let class = spec.scheduling_of(rank).is_real_time();
            history.group = spec.group.filter(|_| !class).map_or(0, |group| group + 1);
            history.scheduling = spec.scheduling_of(rank);
            history.slice = spec.slice.unwrap_or(Span::ZERO);
        }
        tasks.push(task);
    }
}

/// How much later than stated an application arrives.
fn start_phase(options: &Options, app: AppId) -> Span {
    let drawn = draw(key(options.seed, Purpose::StartPhase, u64::from(app.0)), 0);
    Span::from_ns(below(options.start_jitter.ns(), drawn))
}

/// What ticks leave of a cpu: they take their share of every computing nanosecond evenly.
fn usable(machine: &Machine, model: &OsModel) -> Speed {
    let tick = model.tick.ns();
    Speed::ratio(tick.saturating_sub(machine.costs.tick.ns()).max(tick / 10), tick)
}

/// The applications of a run with their tasks, and what is set up along with them.
#[derive(Default)]
struct Population {
    tasks: IdVec<TaskId, Task>,
    apps: IdVec<AppId, App>,
    locks: Locks,
    /// Profiles of all applications so far.
    profiles: u32,
    /// How the tasks poll; entry 0 is a placeholder.
    looks: Vec<Look>,
    /// Foreground applications.
    left: u32,
}

impl Population {
    fn of(
        specs: Vec<AppSpec>,
        objects: &Objects,
        around: (&Machine, &OsModel, &Options),
        timers: &mut Timers,
    ) -> Self {
        let looks = vec![Look::plain(&around.0.costs)];
        let mut population = Self { looks, ..Self::default() };
        for lock in &objects.locks {
            population.locks.add(lock.rules, 1);
        }
        for spec in specs {
            // Requests that it takes from events wait for its tasks.
            let stamped =
                |op: &Op| matches!(op, Op::Take { event, .. } if objects.events[event.index()].stamped);
            let takes = spec.program.ops().iter().any(stamped);
            let waits = (spec.requests && takes).then(Box::default);
            let sleeps_answer = !takes && spec.program.clocks() == 0;
            let app = population.add(spec, around, timers);
            population.apps[app].waits = waits;
            population.apps[app].sleeps_answer = sleeps_answer;
        }
        population
    }

    fn add(
        &mut self,
        spec: AppSpec,
        (machine, model, options): (&Machine, &OsModel, &Options),
        timers: &mut Timers,
    ) -> AppId {
        let Self { tasks, apps, locks, profiles, looks, left } = self;
        let app = AppId(apps.len() as u32);
        let first = tasks.len() as u32;
        add_tasks(tasks, &spec, (app, options.seed), &model.discipline);
        // Behind that of its transfers.
        let base = *profiles + 1;
        *profiles = base + spec.program.profiles().len() as u32;
        let phase = start_phase(options, app);
        if spec.after.is_none() && !spec.is_commanded() {
            timers.arm(spec.start.saturating_add(phase), Timer::Start(app));
        }
        *left += u32::from(!spec.background);
        let delay = Span::from_ns(spec.start.ns()).saturating_add(phase);
        let fork_noise = key(options.seed, Purpose::Fork, u64::from(app.0));
        let polling = spec.runtime.polling;
        let of_team = spec.team_runtime.as_ref().map_or(polling, |runtime| runtime.polling);
        let of = [polling.looks, polling.message_looks, of_team.looks];
        let of = of.map(|of| numbered(looks, Look::of(&machine.costs, of)));
        let first_lock = if spec.named_locks { 0 } else { locks.add(spec.lock, spec.program.locks()) };
        let yields = |op: &Op| match op {
            Op::Lock(lock) | Op::Unlock(lock) => locks.rules(LockId(first_lock + lock.0)).yields(),
            _ => false,
        };
        let of_locks = if spec.program.ops().iter().any(yields) {
            numbered(looks, Look { category: Category::LockWait, ..Look::plain(&machine.costs) })
        } else {
            0
        };
        let own = spec.own_runtimes.iter().map(|runtime| OwnRuntime {
            yields: runtime.wait.yields(),
            looks: [runtime.polling.looks, runtime.polling.message_looks]
                .map(|of| numbered(looks, Look::of(&machine.costs, of))),
            runtime: runtime.clone(),
        });
        let own_runtimes = own.collect();
        let looks = [of[0], of[1], of[2], of_locks];
        apps.push(App { looks, first_lock, own_runtimes, ..build_app(spec, first, base, fork_noise, delay) })
    }
}

/// The number of a way to poll among those of the run, which it is added to.
fn numbered(looks: &mut Vec<Look>, look: Look) -> u8 {
    let known = looks.iter().skip(1).position(|other| *other == look);
    let number = known.map_or(looks.len(), |known| known + 1);
    if number == looks.len() {
        looks.push(look);
    }
    number as u8
}

impl<'o> Engine<'o> {
    /// The state at the beginning. An observer of facts gets those of the whole run: nothing is extrapolated.
    pub(crate) fn new(simulation: Simulation, observer: &'o mut dyn Observer) -> Self {
        let Simulation { machine, model, apps: specs, objects, mut options } = simulation;
        let (commands, real_time) = (Commands::of(&specs), model.discipline.real_time().is_some());
        let classes = Own::all(&specs, real_time && raise::raises(&specs, &objects));
        options.sampled &= !observer.wants_facts() && commands.is_empty() && !specs.iter().any(is_irregular);
        let (workers, cpus) = (workers(&specs, objects.pools.len()), machine.cpus() as usize);
        let (affinities, memory) = (affinities(&specs), MemorySystem::new(&machine, &specs));
        let mut timers = kernel_timers(&model, options.seed);
        let built = Population::of(specs, &objects, (&machine, &model, &options), &mut timers);
        let Population { mut tasks, apps, locks, profiles: _, looks, left } = built;
        let objects = RunObjects::new(objects, options.seed, (tasks.len(), &workers), &mut timers);
        let (governor, policy_orders) =
            (Schedutil::of(&machine, tasks.len()), model.discipline.asks_policy());
        governor.iter().for_each(|_| timers.arm(Time::ZERO + model.tick, Timer::Clocks));
        let directed = apps.iter().flat_map(App::runtimes).any(|of| of.wait == WaitMode::YieldTo);
        Self {
            cpus: build_cpus(&machine, &model, options.seed, (&apps, &mut tasks), &locks),
            notices: Vec::with_capacity(64),
            delayed: Vec::new(),
            watches_preemptions: false,
            real_time,
            deadlines: tasks.iter().any(|task| task.history.scheduling.reservation().is_some()),
            refills: false,
            preempted: Vec::new(),
            predictions: Predictions::new(cpus, &looks),
            complete_apps: Vec::new(),
            corrections: 0,
            armed_now: 0,
            events: 0,
            entries: 0,
            ticks: Ticks::new(&machine, &model),
            entered: IdVec::filled(tasks.len(), 0),
            timers,
            left,
            commands,
            pausing: 0,
            governor,
            queue: VecDeque::new(),
            admitted: Admitted::default(),
            respawned: 0,
            checks: Checks::new(cpus),
            sampling: Sampling::default(),
            orders: Orders::default(),
            shared: Shared {
                now: Time::ZERO,
                extrapolated: Span::ZERO,
                sources: Sources::new(cpus, memory.room()),
                rounds: Rounds::new(cpus),
                watch: Watch::default(),
                picks: model.discipline.picks(),
                renews_slice: model.discipline.renews_slice(),
                directed,
                policy_orders,
                stepwise: options.stepwise || policy_orders || real_time || (directed && limited(&model)),
                scans: scans(&machine, &model, tasks.len()),
                misplaced: Vec::new(),
                segments: Segments::new(&machine, memory, usable(&machine, &model), looks),
                machine,
                model,
                options,
                tasks,
                affinities,
                apps,
                locks,
                objects,
                classes,
                reports: Reports::new(observer),
            },
        }
    }
}

/// Its loops do not repeat alike by themselves.
fn is_irregular(spec: &AppSpec) -> bool {
    spec.program.is_irregular() || spec.named_locks && spec.program.locks() > 0
}

/// The scans of so many tasks' pages; none on a machine of one node.
fn scans(machine: &Machine, model: &OsModel, tasks: usize) -> IdVec<TaskId, Scan> {
    let rules = model.numa_balancing.as_ref().filter(|_| machine.nodes() > 1);
    rules.map(|rules| IdVec::filled(tasks, Scan::new(rules, Span::ZERO))).unwrap_or_default()
}

/// The cpu time of a task group is limited: cpus share a pool, first come first served.
pub(super) fn limited(model: &OsModel) -> bool {
    model.groups.iter().any(|group| group.limit.is_some())
}

/// A machine of `cpus` single cores on one node where everything is free.
#[cfg(test)]
pub(crate) fn test_machine(cpus: u32) -> Machine {
    use crate::machine::{Clocks, Costs, Level, Memory, Smt, Topology};
    Machine {
        name: "test".into(),
        topology: Topology::new(&[(Level::Core, cpus)]).unwrap(),
        costs: Costs::free(),
        memory: Memory {
            node_bandwidth: 10_000_000_000,
            core_bandwidth: 5_000_000_000,
            transfer_bandwidth: 0,
            remote_factor: 1_000,
            private_cache: 0,
            shared_cache: 0,
            stretch_exponent: 4,
            bound_demand: 167,
            ..Memory::unlimited()
        },
        core_speed: Vec::new(),
        work_unit: Speed::NOMINAL,
        smt: Smt::NONE,
        turbo: Vec::new(),
        clocks: Clocks::HIGHEST,
    }
}

/// Round robin with a quantum of 10 ms and a tick of 1 ms.
#[cfg(test)]
pub(crate) fn test_model() -> OsModel {
    use crate::os::{Balancer, RoundRobinParams};
    let discipline = Discipline::RoundRobin(RoundRobinParams { quantum: Span::from_ms(10) });
    let balancer = Balancer { policy: "LOAD", rules: Vec::new() };
    let tick = Span::from_ms(1);
    OsModel {
        name: "test".into(),
        tick,
        tick_skew: false,
        discipline,
        balancer,
        groups: vec![],
        autogroup: false,
        numa_balancing: None,
        real_time: None,
    }
}

/// Tasks that compute for 1 ms and meet at a barrier, where they poll and yield, on a test machine under
/// round robin.
#[cfg(test)]
pub(crate) fn test_simulation(cpus: u32, tasks: u32) -> Simulation {
    use crate::ids::ProfileId;
    use crate::program::{MemoryProfile, Spread, StartUp};
    use crate::time::Work;
    use crate::wait::{BarrierKind, Polling};
    let work = Work::from_span(Span::from_ms(1));
    let compute = Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) };
    let program = Program::new(vec![compute, Op::Barrier], vec![MemoryProfile::NONE]).unwrap();
    let runtime = Runtime {
        name: "test".into(),
        barrier: BarrierKind::Central,
        wait: WaitMode::Yield,
        polling: Polling::PLAIN,
        processes: false,
        startup: StartUp::PLAIN,
    };
    let app = AppSpec::new("test", tasks, Arc::new(program), runtime);
    Simulation::new(Arc::new(test_machine(cpus)), Arc::new(test_model()), vec![app], Options::default())
        .unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::MemoryProfile;

    #[test]
    fn tasks_get_room_for_counters_of_outer_loops_only_in_nested_loops() {
        let simulation = test_simulation(1, 1);
        let has_room = |ops| {
            let program = Arc::new(Program::new(ops, vec![MemoryProfile::NONE]).unwrap());
            let spec = AppSpec { program, ..simulation.apps[0].clone() };
            history(&simulation.model.discipline, &spec).written().is_some()
        };
        let (twice, end) = (Op::Repeat(2), Op::End);
        assert!(!has_room(vec![twice, Op::Barrier, end]));
        assert!(has_room(vec![twice, twice, Op::Barrier, end, end]));
    }
}
