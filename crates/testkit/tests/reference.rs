//! The engine against the reference engine: equal reports and digests on random small scenarios.

use std::sync::Arc;

use notation::parameter::Kind;
use sim_core::engine::Simulation;
use sim_core::ids::{CpuId, TaskId};
use sim_core::latency::Latencies;
use sim_core::machine::{Costs, Machine};
use sim_core::observe::{Observation, Observer};
use sim_core::outcome::{AppReport, Outcome, RunReport};
use sim_core::policy::{
    Awaited, CpuChoice, Placement, Policy, System, THROTTLED, TaskState, Timer, View, Watches, Why,
};
use sim_core::program::{AppSpec, Forks, Op, Program, Spread};
use sim_core::rng::draw;
use sim_core::time::{Span, Time, Work};
use testkit::differences::differences;
use testkit::policies::{Fixed, Restless};
use testkit::reference;
use testkit::scenarios::programs::{OPERATIONS, operation};
use testkit::scenarios::{
    Small, random, with_backfilling, with_classes, with_commands, with_deadlines, with_locks, with_messages,
    with_own_runtimes, with_pools, with_programs, with_real_time,
};

/// Random scenarios per test of the gate; `.ci/nightly` has 600 (`OVERSIM_SWARM`), a long campaign
/// `OVERSIM_SWARM=100000`, and `OVERSIM_SEED=7` runs a single one.
fn seeds(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    number("OVERSIM_SEED").map_or(0..number("OVERSIM_SWARM").unwrap_or(default), |seed| seed..seed + 1)
}

/// Keeps every fact.
#[derive(Default)]
struct Log(Vec<(Time, Observation)>);

impl Observer for Log {
    fn observe(&mut self, at: Time, what: &Observation) {
        self.0.push((at, *what));
    }
}

fn policy(seed: u64) -> Box<dyn Policy> {
    let period = Span::from_us([7, 60, 400][(seed / 4 % 3) as usize] + seed % 13);
    match seed % 4 {
        0 => Box::new(Fixed),
        1 | 2 => Box::new(Restless::ordering(seed, period)),
        _ => Box::new(Restless::new(seed, period)),
    }
}

/// The tasks of the first application exist before it starts.
fn together(small: &mut Small) {
    if let Some(app) = small.apps.first_mut() {
        app.runtime.startup.forks = Forks::Together;
    }
}

/// The scenario of a seed, cut so that the poll cycles of one cpu stay countable one by one.
fn scenario(seed: u64) -> Small {
    let mut small = random(seed);
    let costs = &small.machine.costs;
    let cycle = costs.poll.ns() + costs.yield_call.ns();
    if seed % 5 == 4 {
        together(&mut small);
    }
    small.options.horizon = small.options.horizon.min(Time::from_ns(cycle * 20_000));
    small
}

/// Keeps every fact and collects latencies.
fn observer(small: &Small) -> (Log, Latencies) {
    let tasks = small.apps.iter().map(|app| app.tasks);
    (Log::default(), Latencies::new(small.machine.cpus(), tasks))
}

fn engine(small: &Small, policy: &mut dyn Policy) -> (RunReport, Log) {
    let mut observer = observer(small);
    let Small { machine, model, apps, objects, options } = small.clone();
    let simulation = Simulation::with_objects(machine, model, apps, objects, options).expect("legal");
    let mut report = simulation.run(policy, &mut observer);
    report.add_latencies(observer.1.finish());
    (report, observer.0)
}

fn slow(small: &Small, policy: &mut dyn Policy) -> (RunReport, Log) {
    let mut observer = observer(small);
    let Small { machine, model, apps, objects, options } = small.clone();
    let mut report = reference::run_observed(machine, model, apps, &objects, options, policy, &mut observer);
    report.add_latencies(observer.1.finish());
    (report, observer.0)
}

/// Runs both kernels and compares all they say.
fn compare(label: &str, small: &Small, mut policy: impl FnMut() -> Box<dyn Policy>) -> RunReport {
    let (mut fast, facts) = engine(small, policy().as_mut());
    let (mut plain, expected) = slow(small, policy().as_mut());
    (fast.events, plain.events) = (0, 0);
    // Each kernel has its own words.
    for report in [&mut fast, &mut plain] {
        if let Outcome::Deadlock(text) = &mut report.outcome {
            text.clear();
        }
    }
    let differ = (0..facts.0.len().max(expected.0.len())).find(|i| facts.0.get(*i) != expected.0.get(*i));
    if let Some(at) = differ {
        let (one, other) = (&facts.0[at..], &expected.0[at..]);
        let instant = [one, other].iter().filter_map(|facts| facts.first()).map(|(at, _)| *at).min();
        let mut cut = small.clone();
        cut.options.horizon = instant.unwrap_or(cut.options.horizon);
        let (mut fast, mut plain) = (engine(&cut, policy().as_mut()).0, slow(&cut, policy().as_mut()).0);
        (fast.events, plain.events) = (0, 0);
        panic!(
            "{label}: fact {at} differs. What differs up to then (engine / reference):\n  {}\nengine: {:?}\n\
             reference: {:?}\nbefore: {:#?}\n{small:#?}",
            differences(&fast, &plain).join("\n  "),
            &one[..one.len().min(14)],
            &other[..other.len().min(14)],
            &facts.0[at.saturating_sub(70)..at],
        );
    }
    let lines = || differences(&fast, &plain).join("\n  ");
    assert!(
        fast == plain,
        "{label}: all facts are equal; what differs (engine / reference):\n  {}\n{small:#?}",
        lines()
    );
    fast
}

/// Everything in whole half microseconds, no variation, no contention: events of different cpus coincide all
/// the time.
fn in_lock_step(seed: u64) -> Small {
    let mut small = random(seed);
    if seed % 5 == 3 {
        together(&mut small);
    }
    let round = |span: Span| Span::from_ns(span.ns().div_ceil(500) * 500);
    let old = &small.machine.costs;
    let costs = Costs {
        switch_thread: Span::from_ns(if seed.is_multiple_of(2) { 0 } else { 500 }),
        switch_process: round(old.switch_process),
        poll: Span::from_ns(500),
        yield_call: Span::from_ns(if seed.is_multiple_of(3) { 0 } else { 500 }),
        wake: round(old.wake),
        wake_remote: round(old.wake_remote),
        sleep: round(old.sleep),
        ipi: round(old.ipi),
        idle_exit: round(old.idle_exit),
        idle_exits: Vec::new(),
        wake_remotes: Vec::new(),
        migration: round(old.migration),
        tick: Span::ZERO,
        fork: round(old.fork),
        fork_spread: Spread::NONE,
        page_fault: Span::ZERO,
        fault_lock: Span::ZERO,
        line: [Span::from_ns(500); 5],
    };
    let mut machine = Machine { costs, core_speed: Vec::new(), ..(*small.machine).clone() };
    machine.memory.node_bandwidth = 0;
    machine.memory.bus_bandwidth = 0;
    for app in &mut small.apps {
        let ops = app.program.ops().iter().map(|op| match *op {
            Op::Compute { work, profile, .. } => {
                let work = Work::from_span(round(Span::from_ns(work.floor_ns() + 1)));
                Op::Compute { work, spread: Spread::NONE, profile }
            }
            Op::Serial { work, profile, .. } => {
                let work = Work::from_span(round(Span::from_ns(work.floor_ns() + 1)));
                Op::Serial { work, spread: Spread::NONE, profile }
            }
            Op::Sleep { span, .. } => Op::Sleep { span: round(span), spread: Spread::NONE },
            other => other,
        });
        app.program = Arc::new(Program::new(ops.collect(), app.program.profiles().to_vec()).expect("legal"));
        app.start = Time::ZERO + round(app.start - Time::ZERO);
        app.rank_scale.clear();
    }
    let mut model = (*small.model).clone();
    model.tick = round(model.tick);
    model.tick_skew = false;
    small.machine = Arc::new(machine);
    small.model = Arc::new(model);
    small
}

/// Acts at whole microseconds through timers, ticks and slots in turn: moves one task to the next cpu,
/// changes its priority level, or charges a cpu. Tasks that begin to wait yield to a waiting one of their
/// cpu or the next.
struct Clockwork(u32);

impl Clockwork {
    fn act(&mut self, system: &mut dyn System) {
        self.0 = self.0.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let draw = self.0 >> 16;
        let cpus = system.machine().cpus();
        let (cpu, to) = (CpuId(draw % cpus), CpuId((draw + 1) % cpus));
        let mut queue = Vec::new();
        system.queued(cpu, usize::MAX, &mut queue);
        let current = system.current(cpu);
        match (draw / 16 % 4, queue.first().copied(), current) {
            (0, Some(task), _) | (1, _, Some(task)) if cpu != to => {
                system.migrate(task, to, Why::NONE);
            }
            (2, Some(task), _) => {
                let levels = [0, 1, 0, 1, THROTTLED];
                let span = system.cpu_time(task);
                let at = (span.ns() / 1_000 + u64::from(draw / 256)) % levels.len() as u64;
                system.set_priority(task, levels[at as usize], Why::NONE);
            }
            (3, _, Some(task)) => {
                let done = system.progress(task).ns();
                system.charge(cpu, Span::from_ns(done % 1_000), done.is_multiple_of(2));
            }
            _ => system.charge(cpu, Span::from_ns(500 * u64::from(draw % 3)), draw.is_multiple_of(2)),
        }
        let next = system.now() + Span::from_ns(500 * u64::from(1 + draw % 40));
        match draw / 64 % 3 {
            0 => system.at(next, Timer::Token(1)),
            1 => system.at(next, Timer::Tick(cpu)),
            _ => system.at(next, Timer::Slot),
        }
    }
}

impl Policy for Clockwork {
    fn init(&mut self, system: &mut dyn System) {
        self.act(system);
    }
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        // Sometimes a cpu that does not exist, which the kernel has to correct.
        CpuId(view.task(task).rank % (view.machine().cpus() + u32::from(self.0.is_multiple_of(64)))).into()
    }
    fn watches(&self) -> Watches {
        Watches { waits: true, ..Watches::default() }
    }
    fn waits(&mut self, system: &mut dyn System, task: TaskId, what: Awaited) {
        let cpus = system.machine().cpus();
        let home = system.task(task).cpu;
        let cpu = CpuId((home.0 + self.0 % 2 + u32::from(what == Awaited::Lock)) % cpus);
        let mut queue = Vec::new();
        system.queued(cpu, usize::MAX, &mut queue);
        if let (Some(to), true) = (queue.last(), system.current(home) == Some(task)) {
            system.yield_to(task, *to, Why::NONE);
        }
    }
    fn proceeds(&mut self, system: &mut dyn System, task: TaskId) {
        let to = CpuId((system.task(task).cpu.0 + 1) % system.machine().cpus());
        if self.0.is_multiple_of(8) && system.task(task).cpu != to {
            system.migrate(task, to, Why::NONE);
        }
    }
    fn misplaced(&mut self, system: &mut dyn System, task: TaskId) {
        let Some(seen) = system.locality(task) else { return };
        let share = system.fault_share(task, seen.preferred, seen.group.is_some());
        let cpus = system.machine().cpu_ids();
        let near: Vec<_> = cpus.filter(|cpu| system.machine().node_of(*cpu) == seen.preferred).collect();
        let to = near[(share + u64::from(self.0)) as usize % near.len()];
        if share % 5 > 0 && to != system.task(task).cpu {
            system.migrate(task, to, Why::NONE);
        }
    }
    fn timer(&mut self, system: &mut dyn System, _: Timer) {
        self.act(system);
    }
    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        let from = CpuId((cpu.0 + 1) % system.machine().cpus());
        let mut queue = Vec::new();
        system.queued(from, usize::MAX, &mut queue);
        if let Some(task) = queue.last().filter(|task| system.task(**task).state == TaskState::Queued) {
            system.migrate(*task, cpu, Why::NONE);
        }
    }
}

#[test]
fn engine_and_reference_agree_on_random_scenarios() {
    let mut ended = 0;
    for seed in seeds(160) {
        let report = compare(&format!("seed {seed}"), &scenario(seed), || policy(seed));
        ended += u64::from(matches!(report.outcome, Outcome::Completed));
    }
    let wanted = seeds(160);
    let count = wanted.end - wanted.start;
    assert!(count < 100 || ended > count / 8, "only {ended} of {count} scenarios ran to their end");
}

#[test]
fn engine_and_reference_agree_when_everything_coincides() {
    for seed in seeds(100) {
        let small = in_lock_step(seed);
        compare(&format!("lock step, fixed, seed {seed}"), &small, || Box::new(Fixed));
        compare(&format!("lock step, seed {seed}"), &small, || Box::new(Clockwork(seed as u32)));
    }
}

#[test]
fn engine_and_reference_agree_on_locks() {
    let mut waits = 0;
    for seed in seeds(150) {
        let small = with_locks(scenario(seed), seed);
        let report = compare(&format!("locks, seed {seed}"), &small, || policy(seed));
        waits += report.apps.iter().map(|app| app.counters.lock_waits).sum::<u64>();
        let small = with_locks(in_lock_step(seed), seed);
        compare(&format!("locks in lock step, fixed, seed {seed}"), &small, || Box::new(Fixed));
        compare(&format!("locks in lock step, seed {seed}"), &small, || Box::new(Clockwork(seed as u32)));
    }
    assert!(waits > 0, "no task ever waited for a lock");
}

#[test]
fn engine_and_reference_agree_on_backfilling() {
    let (mut overtook, mut waited) = (0, 0);
    for seed in seeds(100) {
        let small = with_backfilling(scenario(seed), seed);
        let report = compare(&format!("backfilling, seed {seed}"), &small, || policy(seed));
        let apps = || report.apps.iter().filter(|app| app.start >= app.arrived);
        waited += apps().filter(|app| app.start > app.arrived).count();
        let before =
            |other: &AppReport| apps().any(|app| other.arrived < app.arrived && app.start < other.start);
        overtook += apps().filter(|app| before(app)).count();
        let small = with_backfilling(in_lock_step(seed), seed);
        compare(&format!("backfilling in lock step, seed {seed}"), &small, || Box::new(Fixed));
    }
    let count = seeds(100).count();
    assert!(count < 100 || (overtook > count / 2 && waited > count), "{overtook} of {waited} were overtaken");
}

#[test]
fn engine_and_reference_agree_on_pools() {
    let (mut ended, mut jobs, mut steals, mut waits) = (0, 0, 0, 0);
    for seed in seeds(150) {
        let small = with_pools(scenario(seed), seed);
        let report = compare(&format!("pools, seed {seed}"), &small, || policy(seed));
        ended += u64::from(matches!(report.outcome, Outcome::Completed));
        for pool in &report.pools {
            jobs += pool.jobs.iter().sum::<u64>();
            steals += pool.steals;
            waits += pool.waits;
        }
        let small = with_pools(in_lock_step(seed), seed);
        compare(&format!("pools in lock step, fixed, seed {seed}"), &small, || Box::new(Fixed));
        compare(&format!("pools in lock step, seed {seed}"), &small, || Box::new(Clockwork(seed as u32)));
        let small = with_commands(with_pools(scenario(seed), seed), seed);
        compare(&format!("pools and commands, seed {seed}"), &small, || policy(seed));
    }
    let count = seeds(150).end - seeds(150).start;
    let found = [ended * 8, jobs / 10, steals, waits];
    assert!(count < 150 || found.iter().all(|found| *found > count), "ended, jobs, steals, waits: {found:?}");
}

#[test]
fn engine_and_reference_agree_on_messages() {
    let (mut ended, mut polls) = (0, 0);
    for seed in seeds(150) {
        let small = with_messages(scenario(seed), seed);
        let report = compare(&format!("messages, seed {seed}"), &small, || policy(seed));
        ended += u64::from(matches!(report.outcome, Outcome::Completed));
        polls += report.apps.iter().map(|app| app.counters.yields).sum::<u64>();
        let small = with_messages(in_lock_step(seed), seed);
        compare(&format!("messages in lock step, fixed, seed {seed}"), &small, || Box::new(Fixed));
        compare(&format!("messages in lock step, seed {seed}"), &small, || Box::new(Clockwork(seed as u32)));
        let small = with_commands(with_messages(scenario(seed), seed), seed);
        compare(&format!("messages and commands, seed {seed}"), &small, || policy(seed));
    }
    let count = seeds(150).end - seeds(150).start;
    assert!(count < 150 || ended * 8 > count && polls > count, "ended, yields: {ended}, {polls}");
}

#[test]
fn engine_and_reference_agree_on_programs() {
    let mut drawn = std::collections::BTreeMap::<_, u64>::new();
    let (mut ended, mut answered, mut served, mut lost) = (0, 0, 0, 0);
    for seed in seeds(150) {
        let small = with_programs(scenario(seed), seed);
        let ops = small.apps.iter().flat_map(|app| app.program.ops().iter().filter_map(operation));
        ops.for_each(|name| *drawn.entry(name).or_default() += 1);
        let report = compare(&format!("programs, seed {seed}"), &small, || policy(seed));
        ended += u64::from(matches!(report.outcome, Outcome::Completed));
        answered += report.apps.iter().map(|app| app.counters.responses).sum::<u64>();
        served += report.devices.iter().map(|device| device.served).sum::<u64>();
        lost += report.sources.iter().map(|source| source.lost).sum::<u64>();
        let small = with_programs(in_lock_step(seed), seed);
        compare(&format!("programs in lock step, fixed, seed {seed}"), &small, || Box::new(Fixed));
        compare(&format!("programs in lock step, seed {seed}"), &small, || Box::new(Clockwork(seed as u32)));
    }
    let count = seeds(150).end - seeds(150).start;
    if count >= 150 {
        assert_eq!(drawn.len(), OPERATIONS.len(), "some operations are never drawn: {drawn:?}");
        let found = [ended * 20, answered / 10, served / 10, lost];
        assert!(found.iter().all(|found| *found > count), "ended, answered, served, lost: {found:?}");
    }
}

#[test]
fn engine_and_reference_agree_on_waits_under_runtimes_of_their_own() {
    let (mut own, mut led, mut barriers) = (0, 0, 0);
    for seed in seeds(100) {
        for (how, small) in [("", random(seed)), (" with programs", with_programs(scenario(seed), seed))] {
            let small = with_own_runtimes(small, seed);
            let ops = |app: &AppSpec| app.program.ops().iter().any(|op| matches!(op, Op::Lead(_)));
            led += small.apps.iter().filter(|app| ops(app)).count();
            own += small.apps.iter().filter(|app| app.program.own_runtimes() > 0).count();
            let report = compare(&format!("runtimes{how}, seed {seed}"), &small, || policy(seed));
            barriers += report.apps.iter().map(|app| app.counters.barriers).sum::<u64>();
        }
        let small = with_own_runtimes(with_pools(in_lock_step(seed), seed), seed);
        compare(&format!("runtimes, pools in lock step, seed {seed}"), &small, || {
            Box::new(Clockwork(seed as u32))
        });
    }
    let count = (seeds(100).end - seeds(100).start) as usize;
    let found = [own, led, barriers as usize / 10];
    assert!(count < 100 || found.iter().all(|found| *found > count / 2), "own, led, barriers: {found:?}");
}

#[test]
fn engine_and_reference_agree_on_tasks_that_change_their_class() {
    let (mut compared, mut ran) = (0, 0);
    for seed in seeds(200) {
        for (how, small) in [("", scenario(seed)), (" in lock step", in_lock_step(seed))] {
            let Some(small) = with_classes(small, seed) else { continue };
            let label = format!("classes{how}, seed {seed}");
            let report = match seed % 3 {
                0 => compare(&label, &small, || Box::new(Fixed)),
                1 => compare(&label, &small, || Box::new(Clockwork(seed as u32))),
                _ => {
                    let entry = policies::find("LOAD").expect("it exists");
                    compare(&label, &small, || shelved(entry, seed, &small))
                }
            };
            compared += 1;
            ran += report.apps.iter().map(|app| app.counters.cpu_ns).sum::<u64>();
        }
    }
    assert!(compared > 0 && ran > 0, "{compared} scenarios");
}

#[test]
fn engine_and_reference_agree_on_commands() {
    let (mut sleeps, mut moves) = (0, 0);
    for seed in seeds(200) {
        let small = with_commands(scenario(seed), seed);
        let report = compare(&format!("commands, seed {seed}"), &small, || policy(seed));
        sleeps += report.apps.iter().map(|app| app.counters.voluntary_switches).sum::<u64>();
        moves += report.apps.iter().map(|app| app.counters.migrations).sum::<u64>();
    }
    assert!(sleeps > 1_000 && moves > 100, "{sleeps} sleeps, {moves} moves");
}

#[test]
fn engine_and_reference_agree_on_real_time_tasks() {
    let mut ran = 0;
    for seed in seeds(150) {
        let small = with_real_time(scenario(seed), seed);
        let period = Span::from_us([7, 60, 400][(seed / 4 % 3) as usize] + seed % 13);
        let label = format!("real time, seed {seed}");
        let report = match seed % 3 {
            0 => compare(&label, &small, || Box::new(Fixed)),
            1 => compare(&label, &small, || Box::new(Restless::new(seed, period))),
            _ => {
                let entry = policies::find("LOAD").expect("it exists");
                compare(&label, &small, || shelved(entry, seed, &small))
            }
        };
        let real_time = small.apps.iter().zip(&report.apps).filter(|(app, _)| app.is_real_time());
        ran += real_time.map(|(_, app)| app.counters.cpu_ns).sum::<u64>();
        let small = with_real_time(in_lock_step(seed), seed);
        compare(&format!("real time in lock step, fixed, seed {seed}"), &small, || Box::new(Fixed));
        compare(&format!("real time in lock step, seed {seed}"), &small, || Box::new(Clockwork(seed as u32)));
    }
    assert!(ran > 0, "no real-time task ever ran");
}

#[test]
fn engine_and_reference_agree_on_reservations() {
    let (mut ran, mut preempted) = (0, 0);
    for seed in seeds(200) {
        let label = format!("reservations, seed {seed}");
        let plain = with_real_time(scenario(seed), seed);
        let small = with_deadlines(if seed % 2 == 0 { with_programs(plain, seed) } else { plain }, seed);
        let report = match seed % 3 {
            0 => compare(&label, &small, || Box::new(Fixed)),
            1 => compare(&label, &small, || Box::new(Restless::new(seed, Span::from_us(60 + seed % 13)))),
            _ => {
                let entry = policies::find("LOAD").expect("it exists");
                compare(&label, &small, || shelved(entry, seed, &small))
            }
        };
        let reserved = small.apps.iter().zip(&report.apps).filter(|(app, _)| app.reserved() > 0);
        let counters = reserved.map(|(_, app)| app.counters);
        ran += counters.clone().map(|counters| counters.cpu_ns).sum::<u64>();
        preempted += counters.map(|counters| counters.involuntary_switches).sum::<u64>();
        let small = with_deadlines(with_real_time(in_lock_step(seed), seed), seed);
        compare(&format!("reservations in lock step, seed {seed}"), &small, || Box::new(Fixed));
    }
    assert!(ran > 0 && preempted > 0, "{ran} ns, {preempted} preemptions");
}

/// A policy of the registry with values drawn from the seed, its intervals shortened to the length of the
/// scenarios.
fn shelved(entry: &'static policies::Entry, seed: u64, small: &Small) -> Box<dyn Policy> {
    let mut choice = policies::Choice::new(entry);
    for (number, parameter) in entry.parameters.iter().enumerate() {
        let draw = u64::from(draw(seed, number as u64));
        let value = match parameter.kind.of_one() {
            Kind::Cpus => {
                let cpus = u64::from(small.machine.cpus());
                choice
                    .values
                    .set_list(parameter.name, (draw % cpus..cpus).rev().collect())
                    .expect("in range");
                continue;
            }
            // Mostly none: a list says more than the other parameters.
            Kind::Counts if draw % 3 > 0 => continue,
            Kind::Counts => 1 + draw / 3 % 4,
            Kind::Duration => (parameter.default / 200).max(parameter.min),
            Kind::Flag => draw % 2,
            Kind::Choice(words) => draw % words.len() as u64,
            _ => parameter.default,
        };
        choice.values.set(parameter.name, value).expect("in range");
    }
    choice.build(&small.machine, &small.model, &small.apps)
}

#[test]
fn engine_and_reference_agree_under_every_policy() {
    let mut moves = 0;
    for entry in policies::ALL {
        for seed in seeds(20) {
            let mut small = scenario(seed);
            // What scenarios with these policies may not have.
            match entry.name {
                "DWRR" => small.apps.iter_mut().for_each(|app| app.rebinds.clear()),
                "YIELD_TO" => {
                    let groups = &mut Arc::make_mut(&mut small.model).groups;
                    groups.iter_mut().for_each(|group| group.limit = None);
                }
                _ => {}
            }
            let label = format!("{}, seed {seed}", entry.name);
            let report = compare(&label, &small, || shelved(entry, seed, &small));
            moves += report.apps.iter().map(|app| app.counters.migrations).sum::<u64>();
        }
    }
    assert!(moves > 0, "no policy ever moved a task");
}
