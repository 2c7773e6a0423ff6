//! Slices against the cpu-time breakdown: nothing missing, nothing twice, and the same when every poll is
//! simulated.

use sim_core::account::{Account, Category};
use sim_core::engine::Simulation;
use sim_core::ids::Id;
use sim_core::outcome::{Options, RunReport};
use sim_core::policy::Policy;
use sim_core::time::{Span, Time};
use testkit::policies::{Fixed, Restless};
use testkit::scenarios::{Small, random};
use trace::slices::{Mark, Occupant, Owners, Sink, Slice, Slices};

/// Random scenarios per test.
fn swarm() -> u64 {
    std::env::var("OVERSIM_SWARM").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

/// Keeps everything.
#[derive(Default, PartialEq, Debug)]
struct Kept {
    slices: Vec<Slice>,
    marks: Vec<(Time, Mark)>,
}

impl Sink for Kept {
    fn slice(&mut self, slice: &Slice) {
        self.slices.push(*slice);
    }
    fn mark(&mut self, at: Time, mark: &Mark) {
        self.marks.push((at, mark.clone()));
    }
}

fn policy(seed: u64) -> Box<dyn Policy> {
    if seed.is_multiple_of(3) {
        Box::new(Fixed)
    } else {
        Box::new(Restless::new(seed, Span::from_us(1 + seed % 300)))
    }
}

fn run(small: &Small, seed: u64, stepwise: bool) -> (RunReport, Kept) {
    let options = Options { stepwise, ..small.options };
    let owners = Owners::new(small.apps.iter().map(|app| app.tasks));
    let mut slices = Slices::new(small.machine.cpus(), owners, Kept::default());
    let simulation = Simulation::new(small.machine.clone(), small.model.clone(), small.apps.clone(), options);
    let report = simulation.expect("legal").run(policy(seed).as_mut(), &mut slices);
    (report, slices.finish())
}

/// The slices of each cpu in order of time.
fn by_cpu(report: &RunReport, kept: &Kept) -> Vec<Vec<Slice>> {
    let mut cpus = vec![Vec::new(); report.cpus.len()];
    for slice in &kept.slices {
        cpus[slice.cpu.index()].push(*slice);
    }
    cpus
}

#[test]
fn the_slices_of_a_cpu_fill_the_run_and_sum_to_its_account() {
    for seed in 0..swarm() {
        let (report, kept) = run(&random(seed), seed, false);
        for (cpu, slices) in by_cpu(&report, &kept).iter().enumerate() {
            let mut at = Time::ZERO;
            let mut sum = Account::default();
            for slice in slices {
                assert_eq!(slice.from, at, "seed {seed} cpu {cpu}: {slice:?}");
                assert!(slice.to > slice.from, "seed {seed} cpu {cpu}: {slice:?}");
                assert_eq!(slice.parts.total(), slice.to.since(slice.from), "seed {seed} cpu {cpu}");
                let idle = slice.who == Occupant::Idle;
                let whole = slice.parts.get(Category::Idle) == slice.parts.total();
                assert_eq!(idle, whole, "seed {seed} cpu {cpu}: {slice:?}");
                assert!(idle || slice.parts.get(Category::Idle) == Span::ZERO, "seed {seed}: {slice:?}");
                at = slice.to;
                sum.merge(&slice.parts);
            }
            assert_eq!(at, report.makespan, "seed {seed} cpu {cpu}");
            same_but_for_ticks(&sum, &report.cpus[cpu], seed);
        }
    }
}

/// The report takes the ticks out of computing time.
fn same_but_for_ticks(sum: &Account, report: &Account, seed: u64) {
    let ticks = |account: &Account| account.get(Category::Compute) + account.get(Category::Kernel);
    assert_eq!(ticks(sum), ticks(report), "seed {seed}");
    for category in Category::ALL.into_iter().filter(|c| ![Category::Compute, Category::Kernel].contains(c)) {
        assert_eq!(sum.get(category), report.get(category), "seed {seed} {category:?}");
    }
}

#[test]
fn the_slices_are_the_same_when_every_poll_is_simulated() {
    for seed in 0..swarm() {
        let small = random(seed);
        let (fast_report, fast) = run(&small, seed, false);
        let (slow_report, slow) = run(&small, seed, true);
        assert_eq!(fast_report.digest, slow_report.digest, "seed {seed}");
        assert_eq!(fast.marks, slow.marks, "seed {seed}");
        let (fast, slow) = (by_cpu(&fast_report, &fast), by_cpu(&slow_report, &slow));
        for (cpu, (fast, slow)) in fast.iter().zip(&slow).enumerate() {
            for (fast, slow) in fast.iter().zip(slow) {
                assert_eq!(fast, slow, "seed {seed} cpu {cpu}");
            }
            assert_eq!(fast.len(), slow.len(), "seed {seed} cpu {cpu}");
        }
    }
}

#[test]
fn a_slice_of_polling_holds_no_computing_and_work_belongs_to_a_task_that_can() {
    let mut met = [0u32; 6];
    for seed in 0..swarm() {
        let small = random(seed);
        let (report, kept) = run(&small, seed, false);
        for slice in &kept.slices {
            let kind = match slice.who {
                Occupant::Idle => 0,
                Occupant::Works(_) => 1,
                Occupant::Waits(_) => 2,
                Occupant::WaitInTurns(_) => 3,
                Occupant::WaitMixed => 4,
                Occupant::System => 5,
            };
            met[kind] += 1;
            if kind >= 2 {
                assert_eq!(slice.parts.get(Category::Compute), Span::ZERO, "seed {seed}: {slice:?}");
            }
        }
        let moves =
            kept.marks.iter().filter(|(_, mark)| matches!(mark, Mark::Migrated { .. })).count() as u64;
        assert_eq!(moves, report.apps.iter().map(|app| app.counters.migrations).sum::<u64>(), "seed {seed}");
    }
    assert!(met.iter().all(|count| *count > 0), "{met:?}");
}

#[test]
fn tasks_are_numbered_application_by_application() {
    use sim_core::ids::{AppId, TaskId};
    let owners = Owners::new([2, 3]);
    let apps: Vec<AppId> = (0..5).map(|task| owners.app(TaskId(task))).collect();
    assert_eq!(apps, [0, 0, 1, 1, 1].map(AppId));
    assert_eq!((owners.rank(TaskId(1)), owners.rank(TaskId(2)), owners.rank(TaskId(4))), (1, 0, 2));
    assert_eq!((owners.tasks(), owners.apps()), (5, 2));
}

#[test]
fn applications_that_a_run_lacks_keep_their_number() {
    use sim_core::ids::{AppId, TaskId};
    let all = ["a", "b", "c"].map(String::from);
    let owners = Owners::among(&all, [("a", 2), ("c", 3)]).unwrap();
    let apps: Vec<AppId> = (0..5).map(|task| owners.app(TaskId(task))).collect();
    assert_eq!(apps, [0, 0, 2, 2, 2].map(AppId));
    assert_eq!((owners.rank(TaskId(4)), owners.tasks(), owners.apps()), (2, 5, 3));
    assert_eq!(Owners::among(&all, [("c", 1), ("a", 1)]), None);
    assert_eq!(Owners::among(&all, [("d", 1)]), None);
}
