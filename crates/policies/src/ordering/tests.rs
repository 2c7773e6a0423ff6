//! The examples of the texts, computed on the engine: one or two cpus without costs, a tick of 1 ms.

use std::sync::Arc;

use notation::parameter::Values;
use sim_core::engine::Simulation;
use sim_core::ids::{CpuId, ProfileId, TaskId};
use sim_core::machine::{Costs, Level as Tree, Machine};
use sim_core::outcome::{Options, RunReport};
use sim_core::policy::{Placement, TaskState};
use sim_core::program::{AppSpec, MemoryProfile, Op, Program, Runtime, Spread, StartUp};
use sim_core::time::{Span, Time, Work};
use sim_core::wait::{BarrierKind, Polling, WaitMode};

use crate::entry::{Entry, Setting};
use crate::fake;

/// An application: name, start in ms, weight, tasks, and what each of them does.
type Submitted<'a> = (&'a str, u64, u32, u32, Vec<Op>);

fn compute(ms: u64) -> Op {
    let work = Work::from_span(Span::from_ms(ms));
    Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) }
}

fn sleep(ms: u64) -> Op {
    Op::Sleep { span: Span::from_ms(ms), spread: Spread::NONE }
}

/// Runs applications under a policy, for so many ms at most.
fn run(
    entry: &'static Entry,
    changes: &[(&str, u64)],
    levels: &[(Tree, u32)],
    apps: Vec<Submitted<'_>>,
    horizon: u64,
) -> RunReport {
    let machine = Machine { costs: Costs::free(), ..fake::machine(levels) };
    let kernel = fake::kernel(machine.cpus());
    let runtime = Runtime {
        name: "none".into(),
        barrier: BarrierKind::Central,
        wait: WaitMode::Block,
        polling: Polling::PLAIN,
        processes: false,
        startup: StartUp::PLAIN,
    };
    let app = |(name, start, weight, tasks, ops): Submitted<'_>| {
        let program = Program::new(ops, vec![MemoryProfile::NONE]).unwrap();
        let spec = AppSpec::new(name, tasks, Arc::new(program), runtime.clone());
        AppSpec { weight, start: Time::from_ns(start * 1_000_000), ..spec }
    };
    let apps: Vec<AppSpec> = apps.into_iter().map(app).collect();
    let mut values = Values::defaults(entry.parameters);
    changes.iter().for_each(|(name, value)| values.set(name, *value).unwrap());
    if matches!(entry.name, "EDF" | "FP") {
        values.set_for("period", "b", vec![30_000_000]).unwrap();
    }
    if entry.name == "FP" {
        values.set_for("priority", "c", vec![1]).unwrap();
    }
    let setting = Setting { entry, machine: &machine, kernel: &kernel, apps: &apps };
    let mut policy = (entry.build)(&values, &setting);
    let options = Options { horizon: Time::from_ns(horizon * 1_000_000), ..Options::default() };
    let simulation = Simulation::new(Arc::new(machine), Arc::new(kernel), apps, options).unwrap();
    let report = simulation.run(policy.as_mut(), &mut ());
    assert_eq!(report.corrections, 0, "{}", entry.name);
    report
}

/// When each application ended, in whole ms.
fn ends(report: &RunReport) -> Vec<u64> {
    report.apps.iter().map(|app| app.end.map_or(u64::MAX, |end| end.ns() / 1_000_000)).collect()
}

/// The cpu time of each task, in whole ms.
fn shares(report: &RunReport) -> Vec<u64> {
    report.apps.iter().flat_map(|app| app.task_cpu.iter().map(|span| span.ns() / 1_000_000)).collect()
}

const ONE: &[(Tree, u32)] = &[(Tree::Core, 1)];
const TWO: &[(Tree, u32)] = &[(Tree::Core, 2)];

#[test]
fn fifo_runs_one_slice_of_each_in_turn() {
    let apps = vec![
        ("a", 0, 1024, 1, vec![compute(50)]),
        ("b", 1, 1024, 1, vec![compute(10)]),
        ("c", 2, 1024, 1, vec![compute(30)]),
    ];
    assert_eq!(ends(&run(&super::FIFO, &[], ONE, apps, 1_000)), [90, 30, 80]);
}

#[test]
fn an_idle_cpu_steals_under_fifo() {
    // C waits behind A, on the first of two queues of equal length, until B has ended.
    let apps = vec![
        ("a", 0, 1024, 1, vec![compute(100)]),
        ("b", 0, 1024, 1, vec![compute(10)]),
        ("c", 1, 1024, 1, vec![compute(100)]),
    ];
    assert_eq!(ends(&run(&super::FIFO, &[("slice", 1_000_000_000)], TWO, apps, 1_000)), [100, 10, 110]);
}

#[test]
fn stride_shares_by_weight_to_the_quantum() {
    let apps = vec![("a", 0, 2048, 1, vec![compute(9_000)]), ("b", 0, 1024, 1, vec![compute(9_000)])];
    assert_eq!(shares(&run(&super::STRIDE, &[], ONE, apps, 600)), [400, 200]);
}

#[test]
fn vtime_gives_three_tasks_two_thirds_of_a_cpu_each() {
    let apps = vec![("a", 0, 1024, 3, vec![compute(9_000)])];
    assert_eq!(shares(&run(&super::VTIME, &[], TWO, apps, 60)), [40, 40, 40]);
}

#[test]
fn a_sleeper_under_vtime_keeps_one_slice_of_credit() {
    // It wakes at 226 ms and waits until a slice of the hog ends at 241 ms. It then runs for two slices.
    let apps = vec![
        ("hog", 0, 1024, 1, vec![compute(9_000)]),
        ("late", 0, 1024, 1, vec![compute(1), sleep(205), compute(30)]),
    ];
    let report = run(&super::VTIME, &[], ONE, apps, 1_000);
    assert_eq!(ends(&report)[1], 271);
}

#[test]
fn the_guarantee_counts_from_the_creation_of_a_task() {
    let long = || vec![compute(90_000)];
    let near = |found: &[u64], wanted: &[u64]| {
        assert!(found.iter().zip(wanted).all(|(a, b)| a.abs_diff(*b) <= 21), "{found:?}, not {wanted:?}");
    };
    // x of 5 s for the one that comes at 5 s: x / 5 = (10 - x) / 10.
    let apps = vec![("a", 0, 1024, 1, long()), ("b", 5_000, 1024, 1, long())];
    near(&shares(&run(&super::GUARANTEED, &[], ONE, apps, 10_000)), &[6_667, 3_333]);
    // The one that slept is entitled to 5 s, and computes for 3 s only.
    let returns = vec![sleep(5_000), compute(3_000)];
    let apps = vec![("steady", 0, 1024, 1, vec![compute(6_000)]), ("returns", 0, 1024, 1, returns)];
    near(&ends(&run(&super::GUARANTEED, &[], ONE, apps, 20_000)), &[9_000, 8_000]);
    // Of three on two cpus each gets two thirds of a cpu.
    let apps = vec![("a", 0, 1024, 3, long())];
    near(&shares(&run(&super::GUARANTEED, &[], TWO, apps, 3_000)), &[2_000; 3]);
}

#[test]
fn no_task_is_a_quantum_ahead_of_its_guarantee() {
    // Of equals none is one behind either. Ticks of 1 ms end the slices of 20 ms.
    for (weights, equal) in
        [([1024; 4], true), ([4096, 1024, 2048, 512], false), ([15, 88_761, 1024, 70], false)]
    {
        for horizon in [7, 60, 333, 1_000, 4_321] {
            let app = |weight: u32| ("a", 0, weight, 1, vec![compute(90_000)]);
            let shares =
                shares(&run(&super::GUARANTEED, &[], ONE, weights.into_iter().map(app).collect(), horizon));
            let total: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
            for (had, weight) in shares.iter().zip(weights) {
                let due = horizon * u64::from(weight) / total;
                assert!(*had <= due + 21, "{weights:?} at {horizon}: {shares:?}");
                assert!(!equal || *had + 21 >= due, "{weights:?} at {horizon}: {shares:?}");
            }
        }
    }
}

#[test]
fn lottery_shares_by_tickets_within_chance() {
    let apps = vec![("a", 0, 3072, 1, vec![compute(90_000)]), ("b", 0, 1024, 1, vec![compute(90_000)])];
    let shares = shares(&run(&super::LOTTERY, &[], ONE, apps, 10_000));
    assert_eq!(shares[0] + shares[1], 10_000);
    assert!((6_600..=8_400).contains(&shares[0]), "75 of 100 drawings, deviation 4.3: {shares:?}");
}

#[test]
fn mlfq_lets_short_tasks_preempt_long_ones() {
    let short = [sleep(50), compute(2)].repeat(4);
    let apps = vec![("hog", 0, 1024, 1, vec![compute(9_000)]), ("short", 0, 1024, 1, short)];
    let report = run(&super::MLFQ, &[], ONE, apps, 900);
    // It waits 10 ms until the hog has sunk to the second level, and from then on not at all: four times 52
    // ms.
    assert_eq!(ends(&report)[1], 10 + 208);
}

#[test]
fn mlfq_lets_tasks_sink_whether_they_sleep_or_not() {
    // It uses the 10 ms of the higher level in ten pieces, then waits for slices of the hog on the lower one.
    let naps = [compute(1), sleep(1)].repeat(40);
    let apps = vec![("hog", 0, 1024, 1, vec![compute(9_000)]), ("naps", 0, 1024, 1, naps)];
    let report = run(&super::MLFQ, &[("levels", 2)], ONE, apps, 1_000);
    // 30 ms for ten pieces and the first wait, then 30 pieces with a slice of 20 ms each.
    let end = ends(&report)[1];
    assert!((500..=680).contains(&end), "{end}");
}

#[test]
fn edf_runs_the_earliest_deadline() {
    let apps = vec![
        ("a", 0, 1024, 1, vec![compute(60)]),
        ("b", 5, 1024, 1, vec![compute(10), sleep(15), compute(10)]),
    ];
    // B preempts at 5 and at 30 ms; A, with deadlines of 100, 200 and 300 ms, has the rest.
    let report = run(&super::EDF, &[], ONE, apps, 1_000);
    assert_eq!(ends(&report), [80, 40]);
}

#[test]
fn edf_counts_the_budget_over_preemptions() {
    let apps = vec![
        ("a", 0, 1024, 1, vec![compute(60)]),
        ("c", 1, 1024, 1, vec![compute(10)]),
        ("b", 5, 1024, 1, vec![compute(10)]),
    ];
    // A has run for 5 ms when B preempts it at 5 ms. At 30 ms its 20 ms are used, and C has the earlier
    // deadline.
    let report = run(&super::EDF, &[], ONE, apps, 1_000);
    assert_eq!(ends(&report), [80, 40, 15]);
}

#[test]
fn an_edf_task_that_polls_keeps_a_deadline_within_its_period() {
    // It yields alone for 30 ms; with a deadline for each yield it would be last for long.
    let yields = [compute(1), Op::Yield].repeat(30);
    let late = [yields, vec![compute(40)]].concat();
    let apps = vec![("a", 0, 1024, 1, late), ("hog", 30, 1024, 1, vec![compute(9_000)])];
    let report = run(&super::EDF, &[], ONE, apps, 10_000);
    // Half of the cpu from 30 ms on, in budgets of 20 ms, the hog's first at most once more.
    assert!(ends(&report)[0] <= 130, "{:?}", ends(&report));
}

#[test]
fn mlfq_boosts_running_tasks_too() {
    // At 1 s the hog is on level 6 and has 320 ms of 640 left. It is on level 0 then: preempted once, it is
    // first again.
    let apps = vec![("hog", 0, 1024, 1, vec![compute(1_300)]), ("late", 1_001, 1024, 1, vec![compute(500)])];
    let boosted = ends(&run(&super::MLFQ, &[], ONE, apps.clone(), 5_000));
    let never = ends(&run(&super::MLFQ, &[("boost", 0)], ONE, apps, 5_000));
    assert!(boosted[0] + 100 < never[0], "{boosted:?} {never:?}");
}

#[test]
fn rusty_shares_by_weight_within_a_cache_and_balances_between_caches() {
    let levels = [(Tree::Cache, 2), (Tree::Core, 2)];
    // Four tasks run, and the other two wait, one in each domain.
    let apps = vec![("a", 0, 1024, 6, vec![compute(90_000)])];
    let even = run(&super::RUSTY, &[], &levels, apps, 6_000);
    assert!(shares(&even).iter().all(|share| (3_900..=4_100).contains(share)), "{:?}", shares(&even));
    // The short tasks leave six long ones, four of them in one domain: one moves at the first pass.
    let apps = vec![
        ("first", 0, 1024, 4, vec![compute(90_000)]),
        ("long", 10, 1024, 1, vec![compute(90_000)]),
        ("short", 11, 1024, 1, vec![compute(10)]),
        ("long", 12, 1024, 1, vec![compute(90_000)]),
        ("short", 13, 1024, 1, vec![compute(10)]),
    ];
    let least = |interval: u64| {
        let report = run(&super::RUSTY, &[("interval", interval)], &levels, apps.clone(), 6_000);
        shares(&report).into_iter().filter(|share| *share > 10).min()
    };
    assert!(least(100_000_000).is_some_and(|share| share > 3_800), "{:?}", least(100_000_000));
    assert!(least(100_000_000_000).is_some_and(|share| share < 3_100), "{:?}", least(100_000_000_000));
}

#[test]
fn rusty_shares_by_weight_on_a_cpu() {
    let apps = vec![("a", 0, 2048, 1, vec![compute(9_000)]), ("b", 0, 1024, 1, vec![compute(9_000)])];
    assert_eq!(shares(&run(&super::RUSTY, &[], ONE, apps, 600)), [400, 200]);
}

#[test]
fn a_task_goes_to_an_idle_cpu_of_its_last_group_first() {
    let mut system = fake::FakeSystem::new(&[(Tree::Cache, 3), (Tree::Core, 2)]);
    let mut servers = super::queue::Servers::new(
        &system.machine,
        sim_core::machine::Division::equal(system.machine.cpus(), 2),
    );
    system.add_app(4, false);
    // The cpus 0, 2 and 4 are idle, one of each group.
    for (task, cpu) in [(1, 1), (2, 3), (3, 5)] {
        system.tasks[task].view.cpu = CpuId(cpu);
        system.tasks[task].view.state = TaskState::Running;
    }
    let woken = Placement::Wake { waker: CpuId(1), previous: CpuId(3) };
    assert_eq!(servers.place(&system, TaskId(0), woken, None).cpu, CpuId(2));
}

#[test]
fn sjf_runs_the_shortest_job_and_srtf_the_one_with_the_least_left() {
    // OSTEP, chapter 7, in ms: A of 100 comes first, B and C of 10 come at 10.
    let apps = || {
        vec![
            ("a", 0, 1024, 1, vec![compute(100)]),
            ("b", 10, 1024, 1, vec![compute(10)]),
            ("c", 10, 1024, 1, vec![compute(10)]),
        ]
    };
    assert_eq!(ends(&run(&super::SJF, &[], ONE, apps(), 1_000)), [100, 110, 120]);
    assert_eq!(ends(&run(&super::SRTF, &[], ONE, apps(), 1_000)), [120, 20, 30]);
    // B comes when A has less left than B needs; C is shorter than B.
    let apps = vec![
        ("a", 0, 1024, 1, vec![compute(30)]),
        ("b", 25, 1024, 1, vec![compute(10)]),
        ("c", 26, 1024, 1, vec![compute(2)]),
    ];
    assert_eq!(ends(&run(&super::SRTF, &[], ONE, apps, 1_000)), [32, 42, 28]);
}

#[test]
fn a_job_that_sleeps_counts_by_its_next_burst() {
    // The second burst of A is longer than all of B, the first one is shorter.
    let apps = || {
        vec![
            ("first", 0, 1024, 1, vec![compute(10)]),
            ("b", 1, 1024, 1, vec![compute(20)]),
            ("a", 2, 1024, 1, vec![compute(5), sleep(1), compute(40)]),
        ]
    };
    assert_eq!(ends(&run(&super::SJF, &[], ONE, apps(), 1_000)), [10, 35, 75]);
    // By estimates all are alike until they have slept: the order of arrival.
    let estimated = [("lengths", 1)];
    assert_eq!(ends(&run(&super::SJF, &estimated, ONE, apps(), 1_000)), [10, 30, 76]);
}

#[test]
fn estimates_follow_what_a_task_used_before_it_slept() {
    let bursts = |ms: u64| [[compute(ms), sleep(10)].repeat(3), vec![compute(ms)]].concat();
    let (long, short, hog) = (bursts(30), bursts(2), vec![compute(40)]);
    let apps = vec![("long", 0, 1024, 1, long), ("short", 0, 1024, 1, short), ("hog", 130, 1024, 1, hog)];
    let report = run(&super::SRTF, &[("lengths", 1), ("first", 10_000_000)], ONE, apps, 1_000);
    let ends = ends(&report);
    assert!(ends[1] < ends[0] && ends[1] < ends[2], "{ends:?}");
}

#[test]
fn fixed_priorities_follow_rates_deadlines_or_what_is_given() {
    let apps = || {
        vec![
            ("a", 0, 1024, 1, vec![compute(30)]),
            ("b", 5, 1024, 1, vec![compute(10)]),
            ("c", 6, 1024, 1, vec![compute(10)]),
        ]
    };
    let given = [("by", 2)];
    // C preempts; A and B have the same priority.
    assert_eq!(ends(&run(&super::FP, &given, ONE, apps(), 1_000)), [40, 50, 16]);
    // The period of B is 30 ms, that of the others 100 ms.
    assert_eq!(ends(&run(&super::FP, &[], ONE, apps(), 1_000)), [40, 15, 50]);
}

#[test]
fn a_task_that_sleeps_before_its_time_is_over_games_mlfq_unless_all_of_it_counts() {
    // OSTEP, figure 8.4: levels of 10 ms, a task that computes for 9 ms and sleeps for 1 ms beside one that
    // computes.
    let apps = || {
        let gamer = vec![Op::Repeat(0), compute(9), sleep(1), Op::End];
        vec![("gamer", 0, 1024, 1, gamer), ("other", 0, 1024, 1, vec![compute(9_000)])]
    };
    let rules = |forgets| [("levels", 3), ("growth", 1), ("boost", 0), ("forgets", forgets)];
    let gamed = shares(&run(&super::MLFQ, &rules(1), ONE, apps(), 1_000));
    let mended = shares(&run(&super::MLFQ, &rules(0), ONE, apps(), 1_000));
    assert!(gamed[0] > 850 && gamed[1] < 150, "{gamed:?}");
    // Of 90 ms of the gamer 10 bursts end in a sleep and 9 slices within a burst; each time the other one
    // has a slice of 10 ms: 90 of 280.
    assert!((300..360).contains(&mended[0]), "{mended:?}");
}

#[test]
fn a_job_that_is_looked_at_as_a_shorter_one_comes_goes_back_into_the_queue() {
    let apps = vec![
        ("a", 0, 1024, 1, vec![compute(1_000)]),
        ("b", 400, 1024, 1, vec![compute(100)]),
        ("c", 400, 1024, 1, vec![compute(100)]),
    ];
    assert_eq!(ends(&run(&super::SRTF, &[], ONE, apps, 3_000)), [1_200, 500, 600]);
}
