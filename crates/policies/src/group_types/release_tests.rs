//! The rules in which releases differ, each by a law worked out on paper.

use super::busiest::Finding;
use super::group::{Amount, State, Stats};
use super::tests::{PACKAGES, SOCKETS, TWO, empty, rules, steady_under};
use super::*;
use crate::attempt::{Attempt, Situation};
use crate::fake::FakeSystem;
use kernels::*;
use sim_core::machine::Level as Tree;
use sim_core::policy::Affinity;

/// Two nodes of so many cores with one last-level cache each.
fn nodes(cores: u32) -> [(Tree, u32); 4] {
    [(Tree::Package, 2), (Tree::Node, 1), (Tree::Cache, 1), (Tree::Core, cores)]
}

/// On which node each of so many threads ends that the first one, on cpu 0, forks at once.
fn forked(rules: Rules, threads: u32) -> Vec<u32> {
    let (mut system, mut policy) = steady_under(rules, &nodes(24), &[1]);
    let app = system.add_app(threads - 1, false);
    let tasks: Vec<TaskId> = system.apps[app.index()].task_ids().collect();
    let mut ends = vec![0];
    for task in tasks {
        let cpu = policy.place(&system, task, Placement::Fork { parent: CpuId(0) }).cpu;
        system.enter(&mut policy, task, cpu);
        ends.push(cpu.0 / 24);
    }
    ends
}

#[test]
fn forks_leave_their_node_when_the_release_lets_them() {
    let here = |rules, threads| forked(rules, threads).iter().filter(|node| **node == 0).count();
    let first = |rules| forked(rules, 24).iter().take_while(|node| **node == 0).count();
    let counts = |threads| {
        [rules("5.10"), rules("5.15"), rules("5.19"), rules("6.1")].map(|rules| here(rules, threads))
    };
    assert_eq!(counts(24), [24, 12, 12, 12]);
    assert_eq!(counts(12), [12, 12, 6, 6]);
    // 48 / 4 = 12, imb_numa_nr 24 / 4 = 6, 24 / 8 = 3.
    assert_eq!([rules("5.15"), rules("5.19"), rules("6.1")].map(first), [12, 6, 3]);
    // While the first node takes 6 against none, the idle cpus differ by more than two.
    let gap = Rules { fork_numa: ForkNuma::TasksAndGap, ..rules("5.19") };
    assert_eq!(first(gap), 3);
}

#[test]
fn few_hogs_stay_on_their_node_as_far_as_the_release_tolerates() {
    let find = |rules: Rules, hogs: usize| {
        let counts: Vec<u32> = (0..64).map(|cpu| u32::from(cpu < hogs)).collect();
        let (system, mut policy) = steady_under(rules, &nodes(32), &counts);
        let domain = policy.domains[1].clone();
        match policy.find_busiest(&system, &domain, CpuId(32), Situation::Idle) {
            Finding::Pull(_, Amount::Tasks(tasks)) => tasks,
            _ => 0,
        }
    };
    let all = [rules("5.5"), rules("5.10"), rules("5.15"), rules("5.19"), rules("6.1")];
    // Idle cpus 32 and 27: two would move. A quarter of the node is 8, imb_numa_nr 8 in 5.18 and 4 in 6.0.
    assert_eq!(all.map(|rules| find(rules, 5)), [2, 2, 0, 0, 2]);
    assert_eq!(all.map(|rules| find(rules, 2)), [1, 0, 0, 0, 0]);
    assert_eq!(all.map(|rules| find(rules, 8)), [4, 4, 4, 4, 4]);
    let crippled = Rules { numa_allowance: NumaAllowance::Off, ..rules("5.15") };
    assert_eq!([find(crippled, 5), find(crippled, 2)], [2, 1]);
}

#[test]
fn one_task_more_moves_at_once_to_5_9_and_after_a_failure_since_5_10() {
    // Five hogs and four on four cpus each: 1280 to 1024, half a task over the average. To 5.9 it is due.
    let attempt = |rules, failed| {
        let (mut system, mut policy) = steady_under(rules, &PACKAGES, &[2, 1, 1, 1, 1, 1, 1, 1]);
        policy.progress[1][CpuId(4)].failed = failed;
        policy.attempt(&mut system, 1, CpuId(4), Situation::Busy)
    };
    assert_eq!(attempt(rules("5.9"), 0), Attempt::Moved);
    assert_eq!(attempt(rules("5.10"), 0), Attempt::Failed(CpuId(0)));
    assert_eq!(attempt(rules("5.10"), 1), Attempt::Moved);
    let half = Rules { detach: Detach::Half, ..rules("5.10") };
    assert_eq!(attempt(half, 0), Attempt::Moved);
    // Six and five: both are overloaded, 120 %.
    let attempt = |rules| {
        let (mut system, mut policy) = steady_under(rules, &PACKAGES, &[2, 2, 1, 1, 2, 1, 1, 1]);
        policy.progress[1][CpuId(4)].failed = 1;
        policy.attempt(&mut system, 1, CpuId(4), Situation::Busy)
    };
    assert_eq!([rules("5.9"), rules("5.10")].map(attempt), [Attempt::Balanced, Attempt::Moved]);
}

#[test]
fn a_load_that_does_not_fit_moves_by_halves_after_the_failures_of_its_release() {
    let left = Amount::Load(100);
    assert_eq!(left.after(400, 0, (1, 0)), None);
    assert_eq!(left.after(400, 0, (2, 0)), Some(Amount::Load(0)));
    assert_eq!(left.after(u64::MAX, 0, (u64::BITS, 0)), Some(Amount::Load(0)));
    // Utilisation: 400 > 100 stays whole in 5.10 however often it failed.
    let used = |rules: Rules| {
        let (_, policy) = steady_under(rules, &TWO, &[1, 1]);
        let pull = pull::Pull::failing(5);
        Amount::Utilisation(100).after(0, 400, policy.halvings(&pull))
    };
    assert_eq!([rules("5.10"), rules("5.15")].map(used), [None, Some(Amount::Utilisation(0))]);
}

#[test]
fn the_stopper_moves_a_running_task_by_load_to_5_11() {
    // The waiting task may not come, the running one may: every attempt fails.
    let pushed = |rules| {
        let (mut system, mut policy) = steady_under(rules, &TWO, &[1, 2]);
        system.tasks[2].affinity = Affinity::One(CpuId(1));
        policy.progress[0][CpuId(0)].interval_ms = 2;
        let busy = Situation::Busy;
        for failed in 1..=3 {
            assert_eq!(policy.load_balance(&mut system, 0, CpuId(0), busy), Attempt::Failed(CpuId(1)));
            assert_eq!((policy.progress[0][CpuId(0)].failed, system.moves.len()), (failed, 0));
        }
        policy.load_balance(&mut system, 0, CpuId(0), busy);
        let after = policy.progress[0][CpuId(0)];
        (system.moves.len(), after.failed, after.interval_ms)
    };
    assert_eq!(pushed(rules("5.10")), (1, 0, 4));
    assert_eq!(pushed(rules("5.15")), (0, 4, 2));
}

#[test]
fn a_busy_cpu_evens_out_siblings_to_6_5() {
    let amount = |rules, as_a| {
        let (_, policy) = steady_under(rules, &PACKAGES, &[1; 8]);
        let domain = &policy.domains[1];
        let local = Stats { tasks: 1, idle: 3, load: 1024, busy: 1024, ..empty() };
        let busiest = Stats { tasks: 4, load: 4096, busy: 4096, state: State::FullyBusy, ..empty() };
        busiest::amount(domain, &local, &busiest, 640, as_a)
    };
    use Situation::{Busy, Idle};
    assert_eq!([Busy, Idle].map(|as_a| amount(rules("6.5"), as_a)), [Some(Amount::Tasks(1)); 2]);
    assert_eq!([Busy, Idle].map(|as_a| amount(rules("6.6"), as_a)), [None, Some(Amount::Tasks(1))]);
}

const THREADS: [(Tree, u32); 4] = [(Tree::Package, 1), (Tree::Cache, 1), (Tree::Core, 2), (Tree::Thread, 2)];

#[test]
fn a_crowded_core_is_worth_a_look_of_its_own_since_6_6() {
    let special = |rules| {
        let (system, mut policy) = steady_under(rules, &THREADS, &[1, 1, 0, 0]);
        let domain = policy.domains[1].clone();
        let stats = policy.sum(&system, &domain, 0..2);
        policy.special(&system, &domain, (&stats, Situation::Idle), CpuId(2))
    };
    assert_eq!([rules("6.5"), rules("6.6")].map(special), [State::HasSpare, State::SmtBalance]);
    // One task on each of two groups: since 6.6 the core with several threads does not give it.
    let lone = Stats { tasks: 1, idle: 1, smt: true, ..empty() };
    let other = Stats { idle: 2, smt: false, ..lone.clone() };
    assert!(lone.busier_than(&other, &rules("6.5")) && !lone.busier_than(&other, &rules("6.6")));
}

#[test]
fn of_full_groups_the_first_is_the_busiest_to_6_5() {
    let full = Stats { load: 4096, busy: 4096, tasks: 4, state: State::FullyBusy, ..empty() };
    assert!(!full.busier_than(&full, &rules("6.5")) && full.busier_than(&full, &rules("6.6")));
}

#[test]
fn the_first_idle_cpu_balances_though_its_core_is_busy_to_6_5() {
    let look = |rules, me| {
        let threads = [(Tree::Package, 2), (Tree::Cache, 1), (Tree::Core, 2), (Tree::Thread, 2)];
        let (system, mut policy) = steady_under(rules, &threads, &[1, 0, 0, 0, 1, 1, 1, 1]);
        let domain = policy.domains[2].clone();
        policy.find_busiest(&system, &domain, CpuId(me), Situation::Idle) != Finding::NotDesignated
    };
    assert_eq!([1, 2].map(|me| look(rules("6.5"), me)), [true, false]);
    assert_eq!([1, 2].map(|me| look(rules("6.6"), me)), [false, true]);
}

#[test]
fn runnable_time_makes_a_group_overloaded_since_5_7() {
    let state = |rules| {
        let (system, mut policy) = steady_under(rules, &TWO, &[3, 0]);
        // Its tasks have waited all the time and hardly run.
        policy.cpus[CpuId(0)].busy = Average::default();
        policy.cpus[CpuId(0)].expected = 0;
        let domain = policy.domains[0].clone();
        policy.sum(&system, &domain, 0..1).state
    };
    assert_eq!([rules("5.5"), rules("5.9")].map(state), [State::HasSpare, State::Overloaded]);
}

/// The queue that a cpu of the idle second socket takes utilisation from; `busy`: cpu 0 hardly runs.
fn queue(rules: Rules, counts: &[u32], waits: bool) -> Option<CpuId> {
    let (system, mut policy) = steady_under(rules, &SOCKETS, counts);
    if waits {
        policy.cpus[CpuId(0)].busy = Average::default();
        policy.cpus[CpuId(0)].expected = 0;
    }
    let domain = policy.domains[1].clone();
    let queues = (0..8).map(CpuId).collect();
    policy.busiest_queue(&system, &domain, (queues, CpuId(8)), Amount::Utilisation(4096))
}

#[test]
fn utilisation_comes_from_queues_with_several_tasks_since_5_7() {
    // All eight are as busy as can be: the first of equals.
    let one_waits = [1, 2, 1, 1, 1, 1, 1, 1];
    assert_eq!(queue(rules("5.5"), &one_waits, false), Some(CpuId(0)));
    assert_eq!(queue(rules("5.9"), &one_waits, false), Some(CpuId(1)));
}

#[test]
fn tasks_that_wait_count_as_utilisation_of_their_cpu_since_6_5() {
    let waits = [3, 2, 1, 1, 1, 1, 1, 1];
    assert_eq!(queue(rules("6.1"), &waits, true), Some(CpuId(1)));
    assert_eq!(queue(rules("6.5"), &waits, true), Some(CpuId(0)));
}

#[test]
fn between_cpus_of_a_cache_numbers_of_tasks_move_since_5_11() {
    let find = |rules| {
        let (system, mut policy) = steady_under(rules, &PACKAGES, &[0, 4, 1, 1]);
        let domain = policy.domains[0].clone();
        policy.find_busiest(&system, &domain, CpuId(0), Situation::Idle)
    };
    assert_eq!(find(rules("5.10")), Finding::Pull(1..2, Amount::Utilisation(1024)));
    assert_eq!(find(rules("5.15")), Finding::Pull(1..2, Amount::Tasks(2)));
}

#[test]
fn a_task_that_is_not_eligible_moves_at_a_first_attempt_to_6_12() {
    let attempt = |rules| {
        let (mut system, mut policy): (FakeSystem, _) = steady_under(rules, &TWO, &[1, 4]);
        system.ahead = (2..5).map(TaskId).collect();
        policy.attempt(&mut system, 0, CpuId(0), Situation::Busy)
    };
    assert_eq!([rules("6.6"), rules("6.18")].map(attempt), [Attempt::Moved, Attempt::Failed(CpuId(1))]);
}

#[test]
fn busy_cpus_balance_every_32_intervals_to_5_9_and_a_tick_before_16_since() {
    let ticks = |rules| {
        let (_, policy) = steady_under(rules, &PACKAGES, &[1; 8]);
        policy.interval(0, CpuId(0), true)
    };
    assert_eq!([rules("5.9"), rules("5.10")].map(ticks), [4 * 32, 4 * 16 - 1]);
}
