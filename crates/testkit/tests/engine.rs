//! The engine against its own promises, on random small scenarios: invariants, double runs, and every poll
//! simulated.

use std::ops::Range;
use std::sync::Arc;

use sim_core::account::{Account, Category};
use sim_core::engine::Simulation;
use sim_core::latency::Latencies;
use sim_core::observe::{Observation, Observer};
use sim_core::os::{NumaBalancing, OsModel};
use sim_core::outcome::{Options, RunReport};
use sim_core::policy::Policy;
use sim_core::time::{Span, Time};
use testkit::differences::differences;
use testkit::invariants::{Invariants, violations};
use testkit::policies::{Fixed, Restless};
use testkit::scenarios::{Small, long_queues, random, with_commands, with_locks, with_pools, with_programs};

/// Random scenarios per test of the gate; `.ci/nightly` has 600 (`OVERSIM_SWARM`), a long campaign
/// `OVERSIM_SWARM=100000`, and `OVERSIM_SEED=7` runs a single one.
fn seeds(part: u64) -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let campaign = || 0..number("OVERSIM_SWARM").unwrap_or(200) / part;
    number("OVERSIM_SEED").map_or_else(campaign, |seed| seed..seed + 1)
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
    let period = Span::from_us(1 + seed % 300);
    match seed % 4 {
        0 => Box::new(Fixed),
        1 => Box::new(Restless::ordering(seed, period)),
        _ => Box::new(Restless::new(seed, period)),
    }
}

fn run(small: &Small, seed: u64, stepwise: bool) -> RunReport {
    let options = Options { stepwise, ..small.options };
    let latencies = Latencies::new(small.machine.cpus(), small.apps.iter().map(|app| app.tasks));
    let mut observer = (Invariants::new(&small.apps), latencies);
    let Small { machine, model, apps, objects, .. } = small.clone();
    let simulation = Simulation::with_objects(machine, model, apps, objects, options).expect("legal");
    let mut report = simulation.run(policy(seed).as_mut(), &mut observer);
    report.add_latencies(observer.1.finish());
    let mut found = observer.0.violations;
    found.extend(violations(&report));
    assert!(found.is_empty(), "seed {seed} (stepwise {stepwise}): {found:#?}\n{small:#?}");
    report
}

#[test]
fn closed_form_and_stepwise_give_the_same_bytes() {
    for seed in seeds(1) {
        equals_stepwise(&random(seed), seed);
    }
    for seed in seeds(10) {
        equals_stepwise(&long_queues(seed), seed);
    }
    for seed in seeds(2) {
        equals_stepwise(&with_locks(random(seed), seed), seed);
        equals_stepwise(&with_commands(random(seed), seed), seed);
        equals_stepwise(&with_programs(random(seed), seed), seed);
        equals_stepwise(&with_pools(random(seed), seed), seed);
        equals_stepwise(&with_pools(long_queues(seed), seed), seed);
        equals_stepwise(&with_programs(long_queues(seed), seed), seed);
        equals_stepwise(&with_locks(long_queues(seed), seed), seed);
    }
}

fn equals_stepwise(small: &Small, seed: u64) {
    let fast = run(small, seed, false);
    let slow = run(small, seed, true);
    let strip = |report: RunReport| RunReport { events: 0, ..report };
    let (fast, slow) = (strip(fast), strip(slow));
    let first = || first_difference(&facts(small, seed, false), &facts(small, seed, true));
    let lines = || differences(&fast, &slow).join("\n  ");
    assert!(
        fast == slow,
        "seed {seed}: what differs (closed form / stepwise):\n  {}\n{}\n{small:#?}",
        lines(),
        first()
    );
}

/// All facts of a run.
fn facts(small: &Small, seed: u64, stepwise: bool) -> Vec<(Time, Observation)> {
    let mut log = Log::default();
    let options = Options { stepwise, ..small.options };
    let Small { machine, model, apps, objects, .. } = small.clone();
    let simulation = Simulation::with_objects(machine, model, apps, objects, options).expect("legal");
    simulation.run(policy(seed).as_mut(), &mut log);
    log.0
}

/// The first fact that differs, and those before it.
fn first_difference(fast: &[(Time, Observation)], slow: &[(Time, Observation)]) -> String {
    let Some(at) = (0..fast.len().max(slow.len())).find(|at| fast.get(*at) != slow.get(*at)) else {
        return "all facts are equal".into();
    };
    let before = &fast[at.saturating_sub(12)..at];
    let (fast, slow) = (fast.get(at), slow.get(at));
    format!("fact {at} differs\nbefore: {before:#?}\nclosed form: {fast:?}\nstepwise: {slow:?}")
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in 0..50 {
        let small = random(seed);
        assert_eq!(run(&small, seed, false), run(&small, seed, false), "seed {seed}");
        let small = with_programs(small, seed);
        assert_eq!(run(&small, seed, false), run(&small, seed, false), "programs, seed {seed}");
    }
}

#[test]
fn the_random_scenarios_meet_every_category_and_resource() {
    let mut account = Account::default();
    let (mut copies, mut fetched) = (0, 0);
    for seed in 0..150 {
        let report = run(&random(seed), seed, false);
        account.merge(&report.account());
        copies += report.apps.iter().map(|app| app.counters.page_copies).sum::<u64>();
        fetched += report.apps.iter().map(|app| app.counters.bytes_fetched).sum::<u64>();
    }
    let missing: Vec<_> = Category::ALL.into_iter().filter(|c| account.get(*c) == Span::ZERO).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(copies > 100 && fetched > 1_000_000, "{copies} copies, {fetched} bytes");
}

#[test]
fn numa_balancing_changes_some_random_scenarios() {
    let (mut drawn, mut changed, mut moved) = (0, 0, 0);
    for seed in 0..100 {
        let mut small = random(seed);
        let Some(rules) = small.model.numa_balancing else { continue };
        drawn += 1;
        let on = run(&small, seed, false);
        let pages = Some(NumaBalancing { moves_tasks: false, ..rules });
        small.model = Arc::new(OsModel { numa_balancing: pages, ..(*small.model).clone() });
        moved += u32::from(rules.moves_tasks && on != run(&small, seed, false));
        small.model = Arc::new(OsModel { numa_balancing: None, ..(*small.model).clone() });
        changed += u32::from(on != run(&small, seed, false));
    }
    assert!(changed >= 8 && moved >= 1, "{changed} of {drawn}, {moved} by moves of tasks");
}
