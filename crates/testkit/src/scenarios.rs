//! Random small scenarios: every feature of the engine, drawn from one seed.

mod added;
mod messages;
mod pools;
pub mod programs;
mod waits;

use std::sync::Arc;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use sim_core::admission::Admission;
use sim_core::ids::{AppId, CpuId, LockId, NodeId, ProfileId};
use sim_core::machine::{Clocks, Costs, CpuSet, Governor, Level, Machine, Memory, Smt, Topology};
use sim_core::os::{
    Balancer, Bandwidth, BuddyLimit, CfsParams, Discipline, EevdfParams, EevdfYield, GroupShares, Limit,
    NumaBalancing, O1Params, OsModel, Preemption, Protection, RoundRobinParams, StartDebit, TaskGroup,
    TsParams, UleParams, YieldMode,
};
use sim_core::outcome::Options;
use sim_core::program::{
    AppSpec, Forks, MemoryProfile, Objects, Op, Pages, Program, Runtime, Scheduling, Spread, StartUp, Touch,
    TransferOrder, WEIGHT_IDLE,
};
use sim_core::rng::{Purpose, stream};
use sim_core::time::{Span, Speed, Time, Work};
use sim_core::wait::{BarrierKind, Polling, PollsPerYield, WaitMode, YieldCycle};

pub use added::{with_backfilling, with_commands, with_deadlines, with_locks, with_real_time};
pub use messages::with_messages;
pub use pools::with_pools;
pub use programs::{with_classes, with_programs};
pub use waits::with_own_runtimes;

/// A scenario small enough to simulate poll by poll.
#[derive(Clone, Debug)]
pub struct Small {
    /// Machine.
    pub machine: Arc<Machine>,
    /// Kernel.
    pub model: Arc<OsModel>,
    /// Applications.
    pub apps: Vec<AppSpec>,
    /// What their programs share.
    pub objects: Objects,
    /// Options.
    pub options: Options,
}

impl Small {
    /// Another operating system, without task groups, other rules of EEVDF and changes of affinity.
    pub fn boot(&mut self, model: OsModel) {
        self.model = Arc::new(OsModel { groups: Vec::new(), ..model });
        for app in &mut self.apps {
            (app.group, app.scheduling, app.rank_weights) = (None, Scheduling::Other, Vec::new());
            app.rank_scheduling.clear();
            app.slice = None;
            app.rebinds.clear();
        }
    }
}

/// The scenario of a seed.
#[must_use]
pub fn random(seed: u64) -> Small {
    let mut rng = stream(seed, Purpose::Test, 1);
    let rng = &mut rng;
    let mut machine = machine(rng);
    turbo_by_kind(&mut stream(seed, Purpose::Test, 40), &mut machine);
    machine.clocks = clocks(&mut stream(seed, Purpose::Test, 41));
    let mut model = kernel(rng);
    later_rules(&mut stream(seed, Purpose::Test, 20), &mut model.discipline);
    model.numa_balancing = numa_balancing(&mut stream(seed, Purpose::Test, 22));
    let count = rng.random_range(1..=3);
    let mut apps: Vec<AppSpec> = (0..count).map(|i| app(rng, i, machine.cpus())).collect();
    if model.discipline.has_groups() {
        let mut rng = stream(seed, Purpose::Test, 3);
        model.groups = groups(&mut rng, &mut apps);
        group_rules(&mut rng, &mut model);
        apps.iter_mut().filter(|_| model.discipline.has_policies()).for_each(|app| schedule(&mut rng, app));
    }
    rebind(&mut stream(seed, Purpose::Test, 4), &mut apps, machine.cpus());
    meet_in_memory(&mut stream(seed, Purpose::Test, 11), &mut machine, &mut apps);
    let mut own = stream(seed, Purpose::Test, 5);
    apps.iter_mut().for_each(|app| app.runtime.polling = polling(&mut own));
    let mut of_teams = stream(seed, Purpose::Test, 12);
    apps.iter_mut().for_each(|app| wait_in_teams(&mut of_teams, app));
    apps[0].background = false;
    let horizon = Time::from_ns(rng.random_range(2_000_000..12_000_000));
    let most = apps.iter().map(|app| u64::from(app.tasks)).max().unwrap_or(1);
    let admission = match rng.random_range(0..4) {
        0 => Admission { jobs: rng.random_range(1..=2), ..Admission::UNLIMITED },
        1 => Admission { tasks: rng.random_range(most..=2 * most), ..Admission::UNLIMITED },
        _ => Admission::UNLIMITED,
    };
    let start_jitter = if rng.random_range(0..2) == 0 { Span::ZERO } else { model.tick };
    let options = Options { seed, horizon, stepwise: false, sampled: false, admission, start_jitter };
    let objects = Objects::default();
    Small { machine: Arc::new(machine), model: Arc::new(model), apps, objects, options }
}

/// A random scenario with long queues of tasks of one weight that poll under a fair yield of CFS or the one
/// that skips its caller.
#[must_use]
pub fn long_queues(seed: u64) -> Small {
    let mut small = random(seed);
    let mut rng = stream(seed, Purpose::Test, 2);
    let rng = &mut rng;
    let yield_mode = [YieldMode::Default, YieldMode::Skip][(seed % 2) as usize];
    let params = loop {
        let mut discipline = kernel(rng).discipline;
        later_rules(&mut stream(seed, Purpose::Test, 21), &mut discipline);
        if let Discipline::Cfs(params) = discipline {
            // Without it, each poll under the skip yield is an event.
            let minimum_with_current = params.minimum_with_current || yield_mode == YieldMode::Skip;
            break CfsParams { yield_mode, minimum_with_current, ..params };
        }
    };
    small.boot(OsModel { discipline: Discipline::Cfs(params), ..(*small.model).clone() });
    small.options.admission = Admission::UNLIMITED;
    for app in &mut small.apps {
        app.weight = 1024;
        app.rank_scale = Vec::new();
        app.runtime.wait = WaitMode::Yield;
    }
    small.apps[0].tasks = rng.random_range(60..=300);
    small
}

/// On a third of the machines cores wait for each load; the tasks of a quarter of the applications use the
/// pages of all.
fn meet_in_memory(rng: &mut ChaCha8Rng, machine: &mut Machine, apps: &mut [AppSpec]) {
    machine.memory.blocking_loads = rng.random_range(0..3) == 0;
    machine.costs.page_fault = Span::from_ns([0, 0, 300][rng.random_range(0..3)]);
    machine.costs.fault_lock = Span::from_ns([0, 0, 700][rng.random_range(0..3)]);
    for app in apps {
        if rng.random_range(0..4) > 0 {
            continue;
        }
        let mut profiles = app.program.profiles().to_vec();
        for profile in profiles.iter_mut().filter(|profile| profile.pages == Pages::FirstTouch) {
            profile.pages = Pages::Team;
        }
        if let Ok(program) = Program::new(app.program.ops().to_vec(), profiles) {
            app.program = Arc::new(program);
        }
    }
}

/// Up to two changes of the affinity masks of a quarter of the applications.
fn rebind(rng: &mut ChaCha8Rng, apps: &mut [AppSpec], cpus: u32) {
    for app in apps {
        if rng.random_range(0..4) > 0 {
            continue;
        }
        for _ in 0..rng.random_range(1..=2) {
            let first = CpuId(rng.random_range(0..cpus));
            let others = (0..cpus).map(CpuId).filter(|_| rng.random_range(0..3) == 0);
            let set = CpuSet::of(std::iter::once(first).chain(others).collect::<Vec<_>>());
            app.rebinds.push((ns(rng, 4_000_000), set));
        }
    }
}

/// A scheduling policy, and weights of ranks in a quarter of the cases.
fn schedule(rng: &mut ChaCha8Rng, app: &mut AppSpec) {
    app.scheduling = match rng.random_range(0..6) {
        0 => Scheduling::Batch,
        1 => Scheduling::Idle,
        _ => Scheduling::Other,
    };
    if app.scheduling == Scheduling::Idle {
        app.weight = WEIGHT_IDLE;
        return;
    }
    app.slice = [None, None, Some(Span::from_us(rng.random_range(100..400)))][rng.random_range(0..3)];
    if rng.random_range(0..4) == 0 {
        app.rank_weights = (0..app.tasks).map(|_| [15, 335, 1024, 3121][rng.random_range(0..4)]).collect();
    }
}

/// No task groups, or up to three, some inside others, with applications in them and beside them.
fn groups(rng: &mut ChaCha8Rng, apps: &mut [AppSpec]) -> Vec<TaskGroup> {
    let count = rng.random_range(0..=6_u16).saturating_sub(3);
    if count == 0 {
        return Vec::new();
    }
    for app in apps {
        let group = rng.random_range(0..=count);
        app.group = group.checked_sub(1);
    }
    let group = |number: u16| TaskGroup {
        name: format!("group{number}"),
        parent: rng.random_range(0..=number).checked_sub(1),
        weight: [2, 100, 1024, 1024, 10_000][rng.random_range(0..5)],
        limit: (rng.random_range(0..3) == 0).then(|| Limit {
            quota: Span::from_us(rng.random_range(1_000..4_000)),
            period: Span::from_us(rng.random_range(1_000..3_000)),
            burst: Span::from_us([0, 0, 900][rng.random_range(0..3)]),
        }),
    };
    (0..count).map(group).collect()
}

/// The rules of CFS that act with task groups only; no limits where it has none.
fn group_rules(rng: &mut ChaCha8Rng, model: &mut OsModel) {
    let Discipline::Cfs(params) = &mut model.discipline else { return };
    let mut rule = || rng.random_range(0..2) == 0;
    (params.alt_period, params.sleep_buddy, params.quota) = (rule(), rule(), rule() || rule());
    params.group_shares = if rule() { GroupShares::Averaged } else { GroupShares::Queued };
    params.bandwidth = Bandwidth { expires: rule(), burst: rule(), at_once: true };
    let (limits, bursts) = (params.quota, params.bandwidth.burst);
    for limit in model.groups.iter_mut().map(|group| &mut group.limit) {
        *limit = limit.filter(|_| limits);
        if let Some(limit) = limit.as_mut().filter(|_| !bursts) {
            limit.burst = Span::ZERO;
        }
    }
}

fn ns(rng: &mut ChaCha8Rng, below: u64) -> Span {
    Span::from_ns(rng.random_range(0..below))
}

/// None, or three rows of growing idle times and of costs; they follow from the cost after any idle time.
fn by_idle_time(cost: Span) -> Vec<(Span, Span)> {
    let rows = [(5, cost * 2), (20, cost), (200, cost * 3)].map(|(idle, cost)| (Span::from_us(idle), cost));
    if cost.ns().is_multiple_of(2) { rows.to_vec() } else { Vec::new() }
}

fn topology(rng: &mut ChaCha8Rng) -> Topology {
    let shapes: [&[(Level, u32)]; 10] = [
        &[(Level::Core, 1)],
        &[(Level::Core, 2)],
        &[(Level::Package, 2), (Level::Node, 1), (Level::Core, 2)],
        &[(Level::Package, 1), (Level::Cache, 1), (Level::Cluster, 2), (Level::Core, 2)],
        &[(Level::Package, 1), (Level::Core, 2), (Level::Thread, 2)],
        &[(Level::Node, 2), (Level::Package, 1), (Level::Core, 1)],
        &[(Level::Node, 2), (Level::Package, 2), (Level::Core, 1), (Level::Thread, 2)],
        &[(Level::Package, 2), (Level::Node, 1), (Level::Cache, 2), (Level::Core, 1), (Level::Thread, 2)],
        // With a further kind of cores below.
        &[(Level::Package, 2), (Level::Core, 1), (Level::Thread, 2)],
        &[(Level::Node, 1), (Level::Cache, 1), (Level::Core, 2), (Level::Thread, 2)],
    ];
    // Half of the single cpus, and of the pairs of cores, are hybrid processors.
    let shape = match rng.random_range(0..16usize) {
        1 => 8,
        3 => 9,
        draw => draw / 2,
    };
    let more = match shape {
        8 => vec![vec![(Level::Core, 2)]],
        9 => vec![vec![(Level::Core, 1)], vec![(Level::Cache, 1), (Level::Cluster, 1), (Level::Core, 2)]],
        _ => Vec::new(),
    };
    Topology::of_kinds(shapes[shape], &more).expect("the shapes are legal")
}

fn machine(rng: &mut ChaCha8Rng) -> Machine {
    let topology = topology(rng);
    let cores = topology.count(Level::Core);
    let free = rng.random_range(0..4) == 0;
    let mut costs = Costs {
        switch_thread: ns(rng, 900),
        switch_process: ns(rng, 1_800),
        poll: Span::from_ns(rng.random_range(1..400)),
        yield_call: ns(rng, 600),
        wake: ns(rng, 900),
        sleep: ns(rng, 900),
        ipi: ns(rng, 900),
        wake_remote: Span::ZERO,
        idle_exit: ns(rng, 900),
        idle_exits: Vec::new(),
        wake_remotes: Vec::new(),
        migration: ns(rng, 3_000),
        tick: ns(rng, 1_500),
        fork: ns(rng, 3_000),
        fork_spread: Spread([0, 13_107, 65_536][rng.random_range(0..3)]),
        page_fault: Span::ZERO,
        fault_lock: Span::ZERO,
        line: std::array::from_fn(|i| Span::from_ns(1 + i as u64 * rng.random_range(0..60))),
    };
    costs.wake_remote = costs.wake * 2;
    costs.idle_exits = by_idle_time(costs.idle_exit);
    costs.wake_remotes = by_idle_time(costs.wake);
    if free {
        let poll = costs.poll;
        costs = Costs { poll, ..Costs::free() };
    }
    let memory = memory(rng, topology.count(Level::Node));
    let core_speed = if rng.random_range(0..2) == 0 {
        Vec::new()
    } else {
        (0..cores).map(|_| Speed::ratio(rng.random_range(5..12), 10)).collect()
    };
    let smt = if rng.random_range(0..4) == 0 {
        Smt::NONE
    } else {
        let mut left = || rng.random_range(400..=1_000);
        Smt { compute: left(), memory: left(), poll: left() }
    };
    let turbo = match rng.random_range(0..3) {
        0 => vec![vec![1_300, 1_100, 950]],
        1 => vec![vec![1_200, 1_200]],
        _ => Vec::new(),
    };
    let clocks = Clocks::HIGHEST;
    Machine {
        name: "random".into(),
        topology,
        costs,
        memory,
        core_speed,
        work_unit: Speed::NOMINAL,
        smt,
        turbo,
        clocks,
    }
}

/// Turbo steps for each kind of core, on half of the machines that have steps.
fn turbo_by_kind(rng: &mut ChaCha8Rng, machine: &mut Machine) {
    let kinds = machine.kinds().into_iter().max().unwrap_or(0);
    if machine.turbo.is_empty() || rng.random_range(0..2) == 0 {
        return;
    }
    for _ in 0..kinds {
        let steps = (0..rng.random_range(1..=3)).map(|_| rng.random_range(800..1_500));
        machine.turbo.push(steps.collect());
    }
}

/// A governor on a third of the machines.
fn clocks(rng: &mut ChaCha8Rng) -> Clocks {
    if rng.random_range(0..3) > 0 {
        return Clocks::HIGHEST;
    }
    Clocks {
        governor: Governor::Schedutil,
        lowest: rng.random_range(50..=1_000),
        shared: rng.random_range(0..2) == 0,
        rate_limit: Span::from_us([0, 30, 1_100][rng.random_range(0..3)]),
    }
}

fn memory(rng: &mut ChaCha8Rng, nodes: u32) -> Memory {
    let distances = if rng.random_range(0..2) == 0 {
        Vec::new()
    } else {
        (0..nodes * nodes).map(|_| rng.random_range(1_000..2_500)).collect()
    };
    let memory = Memory {
        node_bandwidth: [0, 4_500_000_000, 1_000_000_000][rng.random_range(0..3)],
        bus_bandwidth: [0, 0, 3_000_000_000][rng.random_range(0..3)],
        link_bandwidth: [0, 1_000_000_000][rng.random_range(0..2)],
        crossbar_bandwidth: [0, 1_200_000_000][rng.random_range(0..2)],
        transfer_bandwidth: 0,
        core_bandwidth: 2_000_000_000,
        remote_factor: rng.random_range(1_000..1_800),
        distances,
        private_cache: [0, 10_000][rng.random_range(0..2)],
        shared_cache: [0, 20_000, 60_000][rng.random_range(0..3)],
        cache_exponent: [0, 500, 1_400][rng.random_range(0..3)],
        stretch_exponent: rng.random_range(1..8),
        bound_demand: 167,
        blocking_loads: false,
    };
    // Half of all, without a draw of its own.
    Memory { transfer_bandwidth: u64::from(memory.remote_factor % 2) * 1_500_000_000, ..memory }
}

fn kernel(rng: &mut ChaCha8Rng) -> OsModel {
    let tick = Span::from_ns(rng.random_range(3_000..60_000));
    let short = |rng: &mut ChaCha8Rng, from, to| Span::from_ns(rng.random_range(from..to));
    let kind = rng.random_range(0..10);
    let discipline = if kind == 1 {
        Discipline::O1(O1Params {
            timeslice: short(rng, 20_000, 600_000),
            sleep_average: short(rng, 10_000, 500_000),
            bonus: rng.random_range(0..4) > 0,
        })
    } else if kind == 2 {
        Discipline::Ule(UleParams {
            slice: short(rng, 20_000, 400_000),
            min_slice: short(rng, 5_000, 60_000),
            interactive: rng.random_range(0..60),
            history: short(rng, 10_000, 900_000),
        })
    } else if kind == 3 {
        Discipline::Ts(TsParams {
            server_table: rng.random_range(0..3) == 0,
            clock_tick: short(rng, 1_000, 20_000),
            update: short(rng, 20_000, 900_000),
            lift_running: rng.random_range(0..2) == 0,
            every_sleep: rng.random_range(0..2) == 0,
            start: rng.random_range(0..60),
        })
    } else if kind == 0 {
        Discipline::RoundRobin(RoundRobinParams { quantum: Span::from_ns(rng.random_range(5_000..400_000)) })
    } else if kind < 6 {
        Discipline::Eevdf(eevdf(rng, tick))
    } else {
        // Short periods, so that slices, credits and granularities all matter within milliseconds.
        // Each rule alone: a release is one row of them, and scenarios may mix them.
        let mut rule = || rng.random_range(0..2) == 0;
        let [normalized, period, with_current, last_buddy, slice, clear, adaptive] = [(); 7].map(|()| rule());
        Discipline::Cfs(CfsParams {
            latency: Span::from_ns(rng.random_range(50_000..500_000)),
            min_granularity: Span::from_ns(rng.random_range(10_000..100_000)),
            wakeup_granularity: Span::from_ns(rng.random_range(1_000..120_000)),
            nr_latency: rng.random_range(1..6),
            sleeper_credit: rng.random_range(0..2) == 0,
            normalized_sleeper: normalized,
            start_debit: rng.random_range(0..2) == 0,
            debit: if period { StartDebit::Period } else { StartDebit::Slice },
            minimum_with_current: with_current,
            last_buddy,
            buddy_limit: if slice { BuddyLimit::Slice } else { BuddyLimit::Granularity },
            clear_buddies: clear,
            adaptive_gran: adaptive,
            buddies: rng.random_range(0..2) == 0,
            yield_mode: if rng.random_range(0..2) == 0 { YieldMode::Default } else { YieldMode::Posix },
            ..CfsParams::scaled(1)
        })
    };
    let balancer = Balancer { policy: "LOAD", rules: Vec::new() };
    OsModel {
        name: "random".into(),
        tick,
        tick_skew: rng.random_range(0..2) == 0,
        discipline,
        balancer,
        groups: vec![],
        autogroup: false,
        numa_balancing: None,
        real_time: None,
    }
}

/// The rules of CFS since 2.6.31, each alone; half of all kernels have most of them.
fn later_rules(rng: &mut ChaCha8Rng, discipline: &mut Discipline) {
    if let Discipline::Eevdf(params) = discipline {
        params.half_first_request = rng.random_range(0..3) > 0;
        params.preemption = [Preemption::Full, Preemption::Lazy][rng.random_range(0..2)];
    }
    let Discipline::Cfs(params) = discipline else { return };
    let likely = [1, 5][rng.random_range(0..2)];
    let mut rule = || rng.random_range(0..6) < likely;
    params.gentle_sleepers = rule();
    params.preempting_buddies = rule();
    params.crowded_last_buddy = rule();
    params.clear_picked = rule();
    params.weigh_woken = rule();
    params.gap_test = rule();
    params.base_slice = rule();
    params.cap_slice = rule();
    params.renew_slice = !rule();
    if rule() {
        params.yield_mode = YieldMode::Skip;
    }
    if rule() {
        params.long_sleep = Span::from_us(rng.random_range(1..300));
    }
}

/// None, or scans that come often within milliseconds.
fn numa_balancing(rng: &mut ChaCha8Rng) -> Option<NumaBalancing> {
    let page = rng.random_range(16..2_000);
    let fastest = ns(rng, 900_000);
    let rules = NumaBalancing {
        delay: ns(rng, 600_000),
        window: page + rng.random_range(0..60_000),
        fastest,
        slowest: fastest + ns(rng, 3_000_000),
        floor: Span::from_ns(rng.random_range(1_000..100_000)),
        page,
        fault: ns(rng, 400),
        early: rng.random_range(0..3) > 0,
        private_slows: rng.random_range(0..3) > 0,
        moves_tasks: rng.random_range(0..4) > 0,
    };
    (rng.random_range(0..2) == 0).then_some(rules)
}

fn eevdf(rng: &mut ChaCha8Rng, tick: Span) -> EevdfParams {
    let slice = Span::from_ns(rng.random_range(1_000..120_000));
    EevdfParams {
        slice,
        tick_jitter: [Span::ZERO, ns(rng, tick.ns())][rng.random_range(0..2)],
        delayed_dequeue: rng.random_range(0..4) > 0,
        place_lag: rng.random_range(0..4) > 0,
        protected: [None, Some(ns(rng, 30_000))][rng.random_range(0..2)],
        own_slices: true,
        preempt_short: rng.random_range(0..3) > 0,
        hrtick: rng.random_range(0..4) == 0,
        preemption: Preemption::Full,
        half_first_request: true,
        reweigh_places: rng.random_range(0..3) > 0,
        bandwidth: Bandwidth {
            expires: rng.random_range(0..3) == 0,
            burst: true,
            at_once: rng.random_range(0..2) == 0,
        },
        tick,
        rel_deadline: rng.random_range(0..3) > 0,
        request_scales: true,
        yields: [EevdfYield::Forfeit, EevdfYield::Deadline][rng.random_range(0..2)],
        protection: [Protection::MinSlice, Protection::Deadline][rng.random_range(0..2)],
        group_shares: [GroupShares::Averaged, GroupShares::Queued][rng.random_range(0..2)],
    }
}

fn runtime(rng: &mut ChaCha8Rng) -> Runtime {
    let barrier = match rng.random_range(0..3) {
        0 => BarrierKind::Central,
        1 => BarrierKind::Tree { arity: rng.random_range(2..5) },
        _ => BarrierKind::Dissemination,
    };
    let limit = [Span::ZERO, Span::from_us(3), Span::from_us(90), Span::MAX][rng.random_range(0..4)];
    let wait = match rng.random_range(0..7) {
        0 => WaitMode::Spin,
        1 | 2 => WaitMode::Yield,
        3 => WaitMode::Block,
        4 => WaitMode::YieldTo,
        5 => WaitMode::SpinThenBlock { limit, yielding: true },
        _ => WaitMode::SpinThenBlock { limit, yielding: false },
    };
    let startup = StartUp {
        forks: [Forks::Master, Forks::Master, Forks::Launcher][rng.random_range(0..3)],
        barrier: rng.random_range(0..2) == 0,
        sleeps: rng.random_range(0..2) == 0,
        touch: [Touch::Work, Touch::Each, Touch::Master][rng.random_range(0..3)],
    };
    let processes = rng.random_range(0..3) == 0;
    Runtime { name: "random".into(), barrier, wait, polling: Polling::PLAIN, processes, startup }
}

/// Often a yield after each poll; else several looks before it, and yields that are off now and then.
fn polling(rng: &mut ChaCha8Rng) -> Polling {
    let mut looks = || {
        let each = [Span::ZERO, Span::from_ns(rng.random_range(1..900))][rng.random_range(0..2)];
        PollsPerYield {
            count: [1, rng.random_range(2..5), rng.random_range(5..40)][rng.random_range(0..3)],
            each,
        }
    };
    let (often, message_looks) = (looks(), looks());
    if rng.random_range(0..3) == 0 {
        return Polling::PLAIN;
    }
    let mut part = || Span::from_ns(rng.random_range(1_000..200_000));
    let (on, off) = (part(), part());
    let cycle = YieldCycle { on, off, random: rng.random_range(0..2) == 0 };
    Polling { looks: often, message_looks, cycle: (rng.random_range(0..2) == 0).then_some(cycle) }
}

/// Threads of the teams of half of the applications that have some wait under a runtime of their own.
fn wait_in_teams(rng: &mut ChaCha8Rng, app: &mut AppSpec) {
    if app.team > 1 && rng.random_range(0..2) == 0 {
        app.team_runtime = Some(Runtime { polling: polling(rng), ..runtime(rng) });
    }
}

fn profile(rng: &mut ChaCha8Rng) -> MemoryProfile {
    MemoryProfile {
        demand: [0, 300_000_000, 1_500_000_000][rng.random_range(0..3)],
        bound: [None, Some(0), Some(40_000), Some(65_536)][rng.random_range(0..4)],
        working_set: rng.random_range(0..40_000),
        pages: [
            Pages::FirstTouch,
            Pages::NextTouch,
            Pages::Master,
            Pages::Interleaved,
            Pages::Node(NodeId(1)),
        ][rng.random_range(0..5)],
        shared: [0, 0, 20_000, 65_536][rng.random_range(0..4)],
    }
}

fn spread(rng: &mut ChaCha8Rng) -> Spread {
    [Spread::NONE, Spread(6_554), Spread(40_000), Spread::EXPONENTIAL][rng.random_range(0..4)]
}

/// Passes for all ranks together, now and then with a nap or a new process in each.
fn shared_loop(rng: &mut ChaCha8Rng, ops: &mut Vec<Op>) {
    ops.push(Op::RepeatShared(rng.random_range(1..30)));
    let work = Work::from_span(Span::from_ns(rng.random_range(1..20_000)));
    ops.push(Op::Compute { work, spread: spread(rng), profile: ProfileId(1) });
    match rng.random_range(0..3) {
        0 => ops.push(Op::Sleep { span: ns(rng, 20_000), spread: spread(rng) }),
        1 => ops.push(Op::Respawn),
        _ => {}
    }
    ops.push(Op::End);
}

fn program(rng: &mut ChaCha8Rng) -> Program {
    let profiles = vec![profile(rng), profile(rng)];
    let mut ops = vec![Op::Repeat([0, 3, 20, 40][rng.random_range(0..4)])];
    ops.push(Op::Compute {
        work: Work::from_span(Span::from_ns(rng.random_range(1..80_000))),
        spread: spread(rng),
        profile: ProfileId(0),
    });
    for _ in 0..rng.random_range(1..4) {
        match rng.random_range(0..15) {
            0..=3 => ops.push(Op::Barrier),
            4 => ops.push(Op::Exchange { shift: rng.random_range(0..5) }),
            5 => ops.push(Op::Transfer {
                block: rng.random_range(0..3_000),
                order: [TransferOrder::Sequential, TransferOrder::Rotated][rng.random_range(0..2)],
            }),
            6 => {
                let work = Work::from_span(ns(rng, 4_000));
                ops.push(Op::Lock(LockId(0)));
                ops.push(Op::Compute { work, spread: spread(rng), profile: ProfileId(1) });
                ops.push(Op::Unlock(LockId(0)));
            }
            7 => ops.push(Op::Sleep { span: ns(rng, 40_000), spread: spread(rng) }),
            8 => ops.push(Op::Respawn),
            13 => ops.push(Op::StartClock),
            9 => shared_loop(rng, &mut ops),
            10 => ops.extend(&[Op::TeamBarrier, Op::Join][..=ops.len() % 2]),
            11 => ops.push(Op::LeadersBarrier),
            12 => {
                let work = Work::from_span(ns(rng, 20_000));
                ops.push(Op::Serial { work, spread: spread(rng), profile: ProfileId(1) });
            }
            _ => ops.push(Op::Yield),
        }
    }
    ops.push(Op::End);
    Program::new(ops, profiles).expect("the programs are legal")
}

fn app(rng: &mut ChaCha8Rng, number: u32, cpus: u32) -> AppSpec {
    let tasks = rng.random_range(1..=(3 * cpus).min(9));
    let mut app = AppSpec::new(format!("app{number}"), tasks, Arc::new(program(rng)), runtime(rng));
    app.start = Time::from_ns(if rng.random_range(0..2) == 0 { 0 } else { rng.random_range(0..500_000) });
    if number > 0 && rng.random_range(0..4) == 0 {
        app.after = Some(AppId(rng.random_range(0..number)));
    }
    app.background = rng.random_range(0..5) == 0;
    // No draw of its own: the random programs stay what they were.
    app.requests = number.is_multiple_of(2);
    app.deadline = app.requests.then_some(Span::from_us(100));
    app.weight = [1024, 1024, 1024, 335, 3121][rng.random_range(0..5)];
    app.team = [0, 0, 1, 2, 3][rng.random_range(0..5)];
    if rng.random_range(0..4) == 0 {
        app.rank_scale = (0..tasks).map(|_| rng.random_range(200..2_000)).collect();
    }
    if app.program.locks() > 0 {
        app.lock = added::lock(rng);
    }
    app
}
