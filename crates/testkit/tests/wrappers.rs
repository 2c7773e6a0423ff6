//! Wrapped policies on random small scenarios: a replayed schedule is the same run, a perturbed policy stays
//! legal, and both do what they do on the engine, poll by poll, and on the reference engine.

use notation::parameter::{Kind, Values};
use policies::{ALL, Choice, Entry, Level, Perturbation, Recorder, Replayer, Schedule};
use sim_core::engine::Simulation;
use sim_core::machine::Machine;
use sim_core::outcome::{Options, Outcome, RunReport};
use sim_core::policy::Policy;
use sim_core::rng::draw;
use sim_core::time::{Speed, Time};
use testkit::invariants::{Invariants, violations};
use testkit::reference;
use testkit::scenarios::{Small, random};

/// Random scenarios per policy; `OVERSIM_SWARM=100000` for a long campaign, `OVERSIM_SEED=7` for a single
/// one.
fn seeds(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    number("OVERSIM_SEED").map_or(0..number("OVERSIM_SWARM").unwrap_or(default), |seed| seed..seed + 1)
}

/// The values of a table drawn from the seed, intervals shortened to the length of the scenarios.
fn values(table: &[notation::parameter::Parameter], seed: u64) -> Values {
    let mut values = Values::defaults(table);
    for (number, parameter) in table.iter().enumerate() {
        let draw = u64::from(draw(seed, number as u64));
        if parameter.kind.is_list() {
            continue;
        }
        let value = match parameter.kind.of_one() {
            Kind::Duration => (parameter.default / 200).max(parameter.min),
            Kind::Flag => draw % 2,
            Kind::Choice(words) => draw % words.len() as u64,
            _ => parameter.default,
        };
        values.set(parameter.name, value).expect("in range");
    }
    values
}

/// Decisions late by up to 300 us, and a share of them vetoed.
fn disturbance(seed: u64) -> Values {
    let mut values = Values::defaults(Perturbation::TABLE);
    let draw = |n, bound: u64| u64::from(draw(seed ^ 0x5EED, n)) % bound;
    values.set("delay", [0, 1, 20_000, 150_000][draw(0, 4) as usize]).expect("in range");
    values.set("jitter", [0, 150_000][draw(1, 2) as usize]).expect("in range");
    values.set("veto", [0, 1_000, 5_000, 10_000][draw(2, 4) as usize]).expect("in range");
    values
}

/// The policy, on any kernel-level one if it is a user-level one.
fn choice(entry: &'static Entry, seed: u64, perturbed: bool) -> Choice {
    let mut choice = Choice::with(entry, values(entry.parameters, seed));
    let mut beneath = ALL.iter().filter(|other| other.level == Level::InKernel).cycle();
    if entry.level == Level::UserLevel && !seed.is_multiple_of(3) {
        choice.over = beneath.nth((seed % 16) as usize).map(|below| Box::new(Choice::new(below)));
    }
    if perturbed {
        choice.perturb = Some(disturbance(seed));
        if let Some(over) = &mut choice.over {
            over.perturb = Some(disturbance(seed + 1));
        }
    }
    choice
}

fn build(small: &Small, choice: &Choice) -> Box<dyn Policy> {
    choice.build(&small.machine, &small.model, &small.apps)
}

fn run(small: &Small, policy: &mut dyn Policy, stepwise: bool) -> RunReport {
    let mut observer = Invariants::new(&small.apps);
    let options = Options { stepwise, ..small.options };
    let Small { machine, model, apps, .. } = small.clone();
    let report = Simulation::new(machine, model, apps, options).expect("legal").run(policy, &mut observer);
    let mut found = observer.violations;
    found.extend(violations(&report));
    assert!(found.is_empty(), "{found:#?}\n{small:#?}");
    RunReport { events: 0, ..report }
}

/// A refused request does nothing and is no part of a schedule.
fn but_for_corrections(report: &RunReport) -> RunReport {
    RunReport { corrections: 0, ..report.clone() }
}

fn record(small: &Small, choice: &Choice) -> (RunReport, Schedule) {
    let mut recorder = Recorder::new(build(small, choice));
    let report = run(small, &mut recorder, false);
    let schedule = recorder.into_schedule(report.makespan).expect("a short run");
    (report, schedule)
}

/// The scenario of a seed, without task groups: some policies set priorities.
fn scenario(seed: u64) -> Small {
    let mut small = random(seed);
    small.boot((*small.model).clone());
    small
}

#[test]
fn a_recorded_run_is_the_run_and_its_replay_too() {
    for entry in ALL {
        let mut decisions = 0;
        for seed in seeds(60) {
            let (small, choice) = (scenario(seed), choice(entry, seed, seed.is_multiple_of(4)));
            let label = format!("{} seed {seed}", choice.stack(&small.model));
            let plain = run(&small, build(&small, &choice).as_mut(), false);
            let (recorded, schedule) = record(&small, &choice);
            assert!(recorded == plain, "{label}: recording changed the run");
            let mut replayer = Replayer::new(&schedule);
            let replayed = run(&small, &mut replayer, false);
            assert!(
                replayed == but_for_corrections(&plain),
                "{label}: {replayed:#?}\nreplayed, not {plain:#?}"
            );
            let tally = replayer.tally();
            assert_eq!(tally.missed(), 0, "{label}: {tally:?}");
            decisions += tally.applied;
        }
        assert!(decisions > 0, "{} never decided anything", entry.name);
    }
}

#[test]
fn on_another_machine_a_replay_does_what_is_legal_and_counts_the_rest() {
    let (mut applied, mut missed) = (0, 0);
    for entry in ALL {
        for seed in seeds(40) {
            let (small, choice) = (scenario(seed), choice(entry, seed, false));
            let (_, schedule) = record(&small, &choice);
            let slower = Machine {
                core_speed: vec![Speed::ratio(7, 10), Speed::ratio(1, 1)],
                turbo: Vec::new(),
                clocks: sim_core::machine::Clocks::HIGHEST,
                ..(*small.machine).clone()
            };
            let other = Small { machine: slower.into(), ..small };
            let mut replayer = Replayer::new(&schedule);
            let report = run(&other, &mut replayer, false);
            // Whether a directed yield is legal only the kernel can tell.
            assert!(report.corrections <= replayer.tally().illegal, "{} seed {seed}", entry.name);
            assert!(!matches!(report.outcome, Outcome::Livelock(_)), "{} seed {seed}", entry.name);
            applied += replayer.tally().applied;
            missed += replayer.tally().missed();
        }
    }
    assert!(2 * applied > missed && missed > 0, "{applied} applied, {missed} missed");
}

#[test]
fn a_perturbed_policy_stays_legal_and_deterministic() {
    let mut changed = 0;
    for entry in ALL {
        for seed in seeds(60) {
            let (small, choice) = (scenario(seed), choice(entry, seed, true));
            let label = format!("{} seed {seed}", choice.stack(&small.model));
            let once = run(&small, build(&small, &choice).as_mut(), false);
            // Whether a directed yield is legal only the kernel can tell.
            assert!(once.corrections == 0 || entry.name == "YIELD_TO", "{label}");
            assert!(!matches!(once.outcome, Outcome::Livelock(_)), "{label}");
            assert!(once == run(&small, build(&small, &choice).as_mut(), false), "{label}: another run");
            assert!(once == run(&small, build(&small, &choice).as_mut(), true), "{label}: stepwise differs");
            let plain = Choice { perturb: None, over: None, ..choice };
            changed += u64::from(once.digest != run(&small, build(&small, &plain).as_mut(), false).digest);
        }
    }
    assert!(changed > 0, "nothing was ever disturbed");
}

#[test]
fn wrapped_policies_do_the_same_on_the_reference_kernel() {
    for entry in ALL {
        for seed in seeds(25) {
            let mut small = scenario(seed);
            let cycle = small.machine.costs.poll.ns() + small.machine.costs.yield_call.ns();
            small.options.horizon = small.options.horizon.min(Time::from_ns(cycle * 20_000));
            let choice = choice(entry, seed, true);
            let fast = run(&small, build(&small, &choice).as_mut(), false);
            let Small { machine, model, apps, options, .. } = small.clone();
            let slow = reference::run(machine, model, apps, options, build(&small, &choice).as_mut());
            let slow = RunReport { events: 0, ..slow };
            assert!(fast == slow, "{} seed {seed}", choice.stack(&small.model));
        }
    }
}
