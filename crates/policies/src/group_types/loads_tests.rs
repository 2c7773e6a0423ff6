//! The rules of 3.16 to 5.4, each by a law worked out on paper.

use super::tests::{PACKAGES, SOCKETS, TWO, empty, rules, steady_under};
use super::wake_tests::woken_by_waker_of_many;
use super::*;
use crate::attempt::{Attempt, Situation};
use crate::fake::FakeSystem;
use group::{Amount, State};
use sim_core::machine::Level as Tree;

const OLD: [&str; 3] = ["3.16", "4.18", "5.4"];
const THREADS: [(Tree, u32); 4] = [(Tree::Package, 1), (Tree::Cache, 1), (Tree::Core, 4), (Tree::Thread, 2)];

/// Queues with tasks of these weights that have been so for ten seconds.
fn weighted(rules: Rules, levels: &[(Tree, u32)], weights: &[&[u32]]) -> (FakeSystem, GroupTypes) {
    let (mut system, mut policy) = steady_under(rules, levels, &[]);
    system.now = Time::ZERO;
    for (cpu, weights) in weights.iter().enumerate() {
        for weight in *weights {
            let app = system.add_app(1, false);
            let task = TaskId(system.apps[app.index()].tasks.start);
            system.tasks[task.0 as usize].view.weight = *weight;
            system.enter(&mut policy, task, CpuId(cpu as u32));
        }
    }
    system.now = Time::from_ns(10_000_000_000);
    (system, policy)
}

#[test]
fn one_task_more_on_four_cpus_stays_for_ever_to_5_4() {
    // Five hogs and four: 1280 to 1024 is 125 %, which is tolerated. Since 5.5 one moves.
    let attempt = |release, counts| {
        let (mut system, mut policy) = steady_under(rules(release), &PACKAGES, counts);
        policy.progress[1][CpuId(4)].failed = 1;
        policy.attempt(&mut system, 1, CpuId(4), Situation::Busy)
    };
    let odd = |release| attempt(release, &[2, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(OLD.map(odd), [Attempt::Balanced; 3]);
    assert_eq!(odd("5.5"), Attempt::Moved);
    // Six and five: 120 %. Seven and four: 175 %, and half a task to move is enough for one.
    assert_eq!(OLD.map(|release| attempt(release, &[2, 2, 1, 1, 2, 1, 1, 1])), [Attempt::Balanced; 3]);
    assert_eq!(OLD.map(|release| attempt(release, &[2, 2, 2, 1, 1, 1, 1, 1])), [Attempt::Moved; 3]);
}

/// A task of nice -20 beside three idle cpus on a node, eight light ones on the four cpus of another.
fn heavy_beside_light(rules: Rules, as_a: Situation) -> Attempt {
    let two: &[u32] = &[1_024, 1_024];
    let levels = [(Tree::Package, 2), (Tree::Node, 1), (Tree::Cache, 1), (Tree::Core, 4)];
    let (mut system, mut policy) = weighted(rules, &levels, &[&[88_761], &[], &[], &[], two, two, two, two]);
    policy.attempt(&mut system, 1, CpuId(1), as_a)
}

#[test]
fn an_idle_cpu_beside_a_heavy_task_leaves_light_ones_waiting_to_4_14() {
    // "Group imbalance" (EuroSys 2016): 22,190 on average on the node with idle cpus, 2,048 on the other one.
    use Situation::{Idle, NewlyIdle};
    assert_eq!(heavy_beside_light(rules("3.16"), Idle), Attempt::Balanced);
    assert_eq!(heavy_beside_light(rules("3.16"), NewlyIdle), Attempt::Moved);
    assert_eq!(heavy_beside_light(Rules { idle_takes: true, ..rules("3.16") }, Idle), Attempt::Moved);
    for release in ["4.18", "5.4", "5.5", "6.18"] {
        assert_eq!(heavy_beside_light(rules(release), Idle), Attempt::Moved, "{release}");
    }
}

#[test]
fn a_woken_task_waits_in_its_cache_though_another_is_idle_in_all_releases() {
    // "Overload on wakeup" (EuroSys 2016), with 1,024 for each of eight cpus of a socket.
    for (release, _) in &kernels::TYPE_ROWS {
        let counts: Vec<u32> = (0..16).map(|cpu| u32::from(cpu < 8)).collect();
        let (mut system, mut policy) = steady_under(rules(release), &SOCKETS, &counts);
        let app = system.add_app(1, false);
        let task = TaskId(system.apps[app.index()].tasks.start);
        let wakes = Placement::Wake { waker: CpuId(3), previous: CpuId(5) };
        let cpu = policy.place(&system, task, wakes).cpu;
        assert!(cpu.0 < 8 && system.nr_running(cpu) == 1, "{release}: {cpu}");
    }
}

/// How many of so many threads end on the node of the first one, which forks them at once.
fn stay(rules: Rules, threads: u32) -> u32 {
    let levels = [(Tree::Package, 2), (Tree::Node, 1), (Tree::Cache, 1), (Tree::Core, 24)];
    let (mut system, mut policy) = steady_under(rules, &levels, &[1]);
    let app = system.add_app(threads - 1, false);
    let tasks: Vec<TaskId> = system.apps[app.index()].task_ids().collect();
    let mut here = 1;
    for task in tasks {
        let cpu = policy.place(&system, task, Placement::Fork { parent: CpuId(0) }).cpu;
        system.enter(&mut policy, task, cpu);
        here += u32::from(cpu.0 < 24);
    }
    here
}

#[test]
fn forks_go_by_loads_to_5_4() {
    // 4.17 to 5.4: a node may have a quarter of 24 tasks more, then they alternate. Before, the next one goes
    // where the load is less by an eighth: in turns while there are few.
    assert_eq!([4, 7, 8, 12, 24].map(|threads| stay(rules("5.4"), threads)), [4, 7, 7, 9, 15]);
    assert_eq!([4, 12, 24].map(|threads| stay(rules("3.16"), threads)), [2, 6, 13]);
}

#[test]
fn sleepers_decide_between_groups_with_close_loads_to_5_4() {
    let goes = |rules, sleepers: u64| {
        let levels = [(Tree::Package, 3), (Tree::Cache, 1), (Tree::Core, 4)];
        let counts = [1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0];
        let (mut system, mut policy) = steady_under(rules, &levels, &counts);
        let now = system.now;
        policy.cpus[CpuId(5)].load.add(now, sleepers << FINE);
        let app = system.add_app(1, false);
        let task = TaskId(system.apps[app.index()].tasks.start);
        policy.place(&system, task, Placement::Fork { parent: CpuId(0) }).cpu.0 / 4
    };
    // Of two packages with one task each the first, but not if more than an eighth of load sleeps there.
    assert_eq!([100, 200].map(|sleepers| goes(rules("5.4"), sleepers)), [1, 2]);
    assert_eq!([100, 200].map(|sleepers| goes(rules("3.16"), sleepers)), [1, 1]);
}

#[test]
fn the_load_of_a_sleeping_task_leaves_its_cpu_at_once_to_5_4() {
    let load = |release| {
        let (mut system, mut policy) = steady_under(rules(release), &TWO, &[2]);
        system.leave(&mut policy, TaskId(1), TaskState::Sleeping);
        policy.load(&system, CpuId(0))
    };
    assert_eq!(OLD.map(load), [1_024; 3]);
    assert_eq!(load("5.5"), 2_048);
}

#[test]
fn cautious_loads_follow_by_a_quarter_at_each_tick_to_4_19() {
    let levels = [(Tree::Package, 2), (Tree::Node, 1), (Tree::Cache, 1), (Tree::Core, 4)];
    let seen = |release| {
        let (mut system, mut policy) = steady_under(rules(release), &levels, &[1, 0, 0, 0, 1]);
        system.leave(&mut policy, TaskId(1), TaskState::Exited);
        system.now += Span::from_ms(2);
        let domain = policy.domains[1].clone();
        // Between nodes a busy cpu compares `cpu_load[2]`.
        policy.seen(&system, &domain, 4..8, loads::Look { as_a: Situation::Busy, own: true }).load
    };
    assert_eq!(seen("4.18"), 1_024 * 9 / 16);
    assert_eq!(seen("5.4"), 0);
}

#[test]
fn a_group_is_crowded_by_tasks_for_its_cores_to_4_0() {
    // 1178 for the two threads of a core, 589 each.
    assert_eq!([group::cores(16, 9_424), group::cores(1, 589), group::cores(4, 4_096)], [8, 1, 4]);
    let state = |rules, counts: &[u32]| {
        let levels = [(Tree::Package, 2), (Tree::Cache, 1), (Tree::Core, 2), (Tree::Thread, 2)];
        let (system, mut policy) = steady_under(rules, &levels, counts);
        let domain = policy.domains[2].clone();
        policy.sum(&system, &domain, 0..4).state
    };
    // Three tasks on two cores of four threads.
    let three = [1, 1, 1, 0];
    assert_eq!(
        ["3.16", "4.18"].map(|release| state(rules(release), &three)),
        [State::Overloaded, State::HasSpare]
    );
    // Five, of which little runs.
    let idle = |rules| {
        let (system, mut policy) = steady_under(rules, &PACKAGES, &[2, 1, 1, 1]);
        for cpu in 0..4 {
            (policy.cpus[CpuId(cpu)].busy, policy.cpus[CpuId(cpu)].expected) = (Average::default(), 0);
        }
        let domain = policy.domains[1].clone();
        policy.sum(&system, &domain, 0..4).state
    };
    assert_eq!(["3.16", "4.18"].map(|release| idle(rules(release))), [State::Overloaded, State::HasSpare]);
}

#[test]
fn half_of_a_task_has_to_fit_however_often_attempts_failed_to_5_4() {
    let fits = |rules: Rules| {
        let (_, policy) = steady_under(rules, &TWO, &[1, 1]);
        Amount::Load(100).after(400, 0, policy.halvings(&pull::Pull::failing(9)))
    };
    assert_eq!(OLD.map(|release| fits(rules(release))), [None; 3]);
    assert_eq!(fits(rules("5.5")), Some(Amount::Load(0)));
}

#[test]
fn of_a_queue_the_newest_task_moves_to_4_14_and_since_the_one_that_waits_longest() {
    let moved = |release| {
        let (mut system, mut policy) = steady_under(rules(release), &TWO, &[1, 4]);
        policy.attempt(&mut system, 0, CpuId(0), Situation::Busy);
        system.moves[0].0.0
    };
    assert_eq!(OLD.map(moved), [4, 2, 2]);
}

#[test]
fn caches_spread_over_a_package_by_4_18() {
    // Two caches of two cores in a package: two tasks in one, none in the other. Both have room.
    let levels = [(Tree::Package, 1), (Tree::Cache, 2), (Tree::Core, 2)];
    let attempt = |release| {
        let (mut system, mut policy) = steady_under(rules(release), &levels, &[2, 1, 1]);
        policy.attempt(&mut system, 1, CpuId(3), Situation::Idle)
    };
    let evens = |release| {
        let (_, policy) = steady_under(rules(release), &levels, &[]);
        [policy.domains[0].prefer_sibling, policy.domains[1].prefer_sibling]
    };
    assert_eq!(OLD.map(evens), [[false, false], [false, true], [false, true]]);
    assert_eq!(OLD.map(attempt), [Attempt::Moved; 3]);
    // The cache of a node hands on what the level of the node, which is left out, would have.
    let node = [(Tree::Package, 2), (Tree::Node, 1), (Tree::Cache, 1), (Tree::Core, 4)];
    let (_, policy) = steady_under(rules("3.16"), &node, &[]);
    assert!(policy.domains[1].prefer_sibling);
}

#[test]
fn groups_of_masked_tasks_give_one_task() {
    let (_, policy) = steady_under(rules("4.18"), &PACKAGES, &[]);
    let seen = |tasks: u64, state| {
        let stats = group::Stats { tasks, load: 1_024 * tasks, state, ..empty() };
        loads::Seen { load: stats.load, cores: 4, stats }
    };
    let amount = |busiest: &loads::Seen| {
        let local = seen(4, State::FullyBusy);
        loads::amount(&policy.rules, &policy.domains[1], (&local, busiest), (1_152, 1_024), Situation::Busy)
    };
    assert_eq!(amount(&seen(5, State::Overloaded)), None);
    // The mark makes the attempt go on: half a task is to move, and 1280 + 256 reaches 1024 + 2 x 256, so
    // that it is a whole one.
    assert_eq!(amount(&seen(5, State::Imbalanced)), Some(Amount::Load(1_024)));
}

/// Where a task goes that has never slept before.
fn wakes(rules: Rules, levels: &[(Tree, u32)], counts: &[u32], (waker, previous): (u32, u32)) -> u32 {
    let (mut system, mut policy) = steady_under(rules, levels, counts);
    let app = system.add_app(1, false);
    let task = TaskId(system.apps[app.index()].tasks.start);
    policy.task(task).average.add(system.now, 1_024 << FINE);
    policy.place(&system, task, Placement::Wake { waker: CpuId(waker), previous: CpuId(previous) }).cpu.0
}

#[test]
fn a_woken_task_looks_for_an_idle_core_and_then_at_the_targets_to_4_8() {
    let found = |release, counts: &[u32; 8]| wakes(rules(release), &THREADS, counts, (0, 0));
    // Cores 0, 2 and 3 have one task each; that of cpus 2 and 3 is idle.
    assert_eq!(OLD.map(|release| found(release, &[1, 0, 0, 0, 1, 0, 1, 0])), [2, 2, 2]);
    // Without an idle core: the other thread of the target's, later the first idle cpu.
    assert_eq!(OLD.map(|release| found(release, &[1, 0, 0, 1, 1, 0, 1, 0])), [1, 1, 1]);
    assert_eq!(OLD.map(|release| found(release, &[1, 1, 0, 1, 1, 0, 1, 0])), [0, 2, 2]);
}

#[test]
fn loads_alone_decide_between_waker_and_last_cpu_to_4_13() {
    // The waker is an interrupt on an idle cpu of another cache; the last cpu has two tasks.
    let found = |rules, here| {
        let mut counts = [0; 16];
        (counts[0], counts[9]) = (here, 2);
        counts[10..].fill(1);
        counts[8] = 1;
        wakes(rules, &SOCKETS, &counts, (0, 9))
    };
    // Where the waker's cpu has no load it is followed, and where a task more fits below 112 % of the last
    // one.
    assert_eq!([0, 1].map(|here| found(rules("3.16"), here)), [0, 1]);
    // 1,024 and its own against 2,048, without its own: the last cpu.
    assert_eq!([0, 1].map(|here| found(rules("5.4"), here)), [0, 9]);
}

#[test]
fn a_third_cpu_is_remembered_since_4_16() {
    let found = |release| {
        let (mut system, mut policy) = steady_under(rules(release), &SOCKETS, &[1, 1, 1, 1, 1, 0, 0, 0]);
        let app = system.add_app(1, false);
        let task = TaskId(system.apps[app.index()].tasks.start);
        policy.task(task).recent = Some(CpuId(7));
        policy.place(&system, task, Placement::Wake { waker: CpuId(1), previous: CpuId(1) }).cpu.0
    };
    assert_eq!(OLD.map(found), [5, 7, 7]);
}

#[test]
fn a_waker_of_many_is_left_by_tasks_that_wake_many_from_3_12_to_4_2() {
    // More than 8 of the task, more than 72 of the waker, which flips once more here.
    let old = rules("3.16");
    assert_eq!([[72, 9], [71, 9], [72, 8]].map(|flips| woken_by_waker_of_many(old, flips)), [9, 1, 1]);
    // Where the task wakes more than its waker, only the later form is wide.
    assert_eq!(woken_by_waker_of_many(old, [9, 100]), 1);
    assert_eq!(woken_by_waker_of_many(Rules { wide_by_wakee: false, ..old }, [9, 100]), 9);
}
