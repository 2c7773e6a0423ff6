//! `LOAD` of Linux 6.18 against queues set by hand: idle siblings, forks, group types, odd tasks.

use super::*;
use crate::attempt::{Attempt, Situation};
use crate::fake::FakeSystem;
use crate::load;
use notation::parameter::Values;
use sim_core::machine::Level as Tree;
use sim_core::policy::{Affinity, Why};

pub(super) const SOCKETS: [(Tree, u32); 4] =
    [(Tree::Package, 2), (Tree::Node, 1), (Tree::Cache, 1), (Tree::Core, 8)];
pub(super) const TWO: [(Tree, u32); 3] = [(Tree::Package, 1), (Tree::Cache, 1), (Tree::Core, 2)];

fn policy_on(system: &FakeSystem, rules: Rules) -> GroupTypes {
    let setting =
        Setting { entry: &load::ENTRY, machine: &system.machine, kernel: &system.kernel, apps: &[] };
    let values = load::Parameters::from(&Values::defaults(load::Parameters::TABLE));
    GroupTypes::new(load::by_group_types(&values, &rules), rules, &setting)
}

/// A group of four idle cpus.
pub(super) fn empty() -> group::Stats {
    group::Stats {
        cpus: 0..4,
        load: 0,
        busy: 0,
        tasks: 0,
        idle: 0,
        capacity: 4096,
        capacities: (UNIT, UNIT),
        misfit: 0,
        priority: 0,
        cores: 4,
        smt: false,
        room: true,
        state: group::State::HasSpare,
    }
}

/// The rules of a release.
pub(super) fn rules(release: &str) -> Rules {
    let (_, table) = kernels::TYPE_ROWS.iter().find(|(name, _)| *name == release).unwrap();
    Rules::from(&Values::defaults(table))
}

/// Queues that have been as they are for ten seconds.
fn steady(levels: &[(Tree, u32)], counts: &[u32]) -> (FakeSystem, GroupTypes) {
    steady_under(rules("6.18"), levels, counts)
}

/// The same under the rules of a release.
pub(super) fn steady_under(rules: Rules, levels: &[(Tree, u32)], counts: &[u32]) -> (FakeSystem, GroupTypes) {
    let mut system = FakeSystem::new(levels);
    let mut policy = policy_on(&system, rules);
    system.fill(&mut policy, counts);
    system.now = Time::from_ns(10_000_000_000);
    (system, policy)
}

fn wakes_on(counts: &[u32], waker: u32, previous: u32) -> u32 {
    let (mut system, mut policy) = steady(&SOCKETS, counts);
    let sleeper = system.add_app(1, false);
    let task = system.apps[sleeper.index()].task_ids().next().unwrap();
    let why = Placement::Wake { waker: CpuId(waker), previous: CpuId(previous) };
    policy.place(&system, task, why).cpu.0
}

fn counts(busy: std::ops::Range<usize>) -> Vec<u32> {
    (0..16).map(|cpu| u32::from(busy.contains(&cpu))).collect()
}

#[test]
fn a_woken_task_finds_an_idle_cpu_in_the_shared_cache() {
    assert_eq!(wakes_on(&counts(0..1), 0, 3), 3, "the previous cpu is idle");
    assert_eq!(wakes_on(&counts(0..4), 0, 1), 4, "the next idle cpu after the target");
    let mut full = counts(0..8);
    full[0] = 2;
    assert_eq!(wakes_on(&full, 0, 1), 1, "none is idle: the other socket is not searched");
    // The cpu before the last one is remembered.
    let (mut system, mut policy) = steady(&SOCKETS, &counts(0..4));
    system.add_app(1, false);
    let task = TaskId(4);
    let why = |previous| Placement::Wake { waker: CpuId(0), previous: CpuId(previous) };
    assert_eq!(policy.place(&system, task, why(6)).cpu, CpuId(6));
    assert_eq!(policy.place(&system, task, why(1)).cpu, CpuId(6));
}

#[test]
fn a_woken_task_goes_to_the_other_thread_of_its_core_where_no_core_is_idle() {
    let threads = [(Tree::Package, 1), (Tree::Cache, 1), (Tree::Core, 4), (Tree::Thread, 2)];
    let (mut system, mut policy) = steady(&threads, &[0, 1, 0, 1, 0, 1, 0, 1]);
    system.add_app(1, false);
    let why = Placement::Wake { waker: CpuId(5), previous: CpuId(5) };
    assert_eq!(policy.place(&system, TaskId(4), why).cpu, CpuId(4), "6 and 0 are the next idle ones");
}

#[test]
fn forks_within_a_tick_spread() {
    let mut system = FakeSystem::new(&SOCKETS);
    let mut policy = policy_on(&system, rules("6.18"));
    let app = system.add_app(16, false);
    let tasks: Vec<TaskId> = system.apps[app.index()].task_ids().collect();
    for (i, task) in tasks.into_iter().enumerate() {
        let parent = CpuId(0);
        let cpu = if i == 0 { parent } else { policy.place(&system, task, Placement::Fork { parent }).cpu };
        system.enter(&mut policy, task, cpu);
    }
    assert_eq!(system.counts(), [1; 16]);
}

#[test]
fn forks_respect_affinity() {
    let mut system = FakeSystem::new(&SOCKETS);
    let mut policy = policy_on(&system, rules("6.18"));
    system.add_app(1, false);
    system.tasks[0].affinity = Affinity::One(CpuId(13));
    assert_eq!(policy.place(&system, TaskId(0), Placement::Fork { parent: CpuId(2) }).cpu, CpuId(13));
}

#[test]
fn a_cpu_that_goes_idle_pulls_one_task_at_once() {
    let (mut system, mut policy) = steady(&TWO, &[1, 3]);
    system.leave(&mut policy, TaskId(0), TaskState::Exited);
    policy.idle(&mut system, CpuId(0));
    assert_eq!(system.counts(), [1, 2]);
    assert_eq!(system.moves, [(TaskId(2), CpuId(0))], "the one that waits longest");
    // A cpu whose idle times are shorter than a look does not.
    let (mut system, mut policy) = steady(&TWO, &[1, 3]);
    policy.cpus[CpuId(0)].avg_idle = 100;
    system.leave(&mut policy, TaskId(0), TaskState::Exited);
    policy.idle(&mut system, CpuId(0));
    assert!(system.moves.is_empty());
}

#[test]
fn an_odd_task_moves_after_a_failure() {
    // Three on two: half a task is to move, which only a failure makes enough for a whole one.
    let (mut system, mut policy) = steady(&TWO, &[1, 2]);
    let busy = Situation::Busy;
    let domain = policy.domains[0].clone();
    let finding = policy.find_busiest(&system, &domain, CpuId(0), busy);
    assert_eq!(finding, busiest::Finding::Pull(1..2, group::Amount::Load(512)));
    assert_eq!(policy.attempt(&mut system, 0, CpuId(0), busy), Attempt::Failed(CpuId(1)));
    policy.progress[0][CpuId(0)].failed = 1;
    assert_eq!(policy.attempt(&mut system, 0, CpuId(0), busy), Attempt::Moved);
    // Eight on seven is within 17 %.
    let (mut system, mut policy) = steady(&TWO, &[7, 8]);
    assert_eq!(policy.attempt(&mut system, 0, CpuId(0), busy), Attempt::Balanced);
}

#[test]
fn idle_cpus_are_evened_out_over_nodes_beyond_the_slack() {
    let idle = Situation::Idle;
    let find = |busy: usize| {
        let (system, mut policy) = steady(&SOCKETS, &counts(0..busy));
        let domain = policy.domains[1].clone();
        policy.find_busiest(&system, &domain, CpuId(8), idle)
    };
    assert_eq!(find(2), busiest::Finding::Balanced, "two tasks may stay together");
    assert_eq!(find(6), busiest::Finding::Pull(0..8, group::Amount::Tasks(3)));
    // A full, overloaded socket beside an idle one: as much as fits.
    let (system, mut policy) = steady(&SOCKETS, &[2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0]);
    let domain = policy.domains[1].clone();
    let finding = policy.find_busiest(&system, &domain, CpuId(8), idle);
    assert_eq!(finding, busiest::Finding::Pull(0..8, group::Amount::Utilisation(8 * 1024)));
}

#[test]
fn loads_follow_their_tasks() {
    let (mut system, mut policy) = steady(&TWO, &[2, 0]);
    let now = system.now;
    assert_eq!(policy.cpus[CpuId(0)].load.get(now), 2048);
    system.migrate(TaskId(1), CpuId(1), Why::NONE);
    policy.quiescent(&mut system, TaskId(1), CpuId(0));
    policy.runnable(&mut system, TaskId(1), CpuId(1));
    assert_eq!(policy.cpus[CpuId(0)].load.get(now), 1024);
    assert_eq!(policy.cpus[CpuId(1)].load.get(now), 1024);
    assert_eq!(policy.overloaded, 0);
}

#[test]
fn utilisation_follows_its_tasks() {
    let (mut system, mut policy) = steady(&TWO, &[2, 0]);
    for task in &mut system.tasks {
        task.cpu_time = Span::from_ms(5_000);
    }
    let start = system.now;
    assert_eq!(policy.cpus[CpuId(0)].utilisation(start, UNIT), 1024);
    system.migrate(TaskId(1), CpuId(1), Why::NONE);
    policy.quiescent(&mut system, TaskId(1), CpuId(0));
    policy.runnable(&mut system, TaskId(1), CpuId(1));
    let both = [0, 1].map(|cpu| policy.cpus[CpuId(cpu)].utilisation(start, UNIT));
    assert_eq!(both, [511, 512], "half of the source goes with it, fractions apart");
    // The source counts as having spare capacity until 1024 / 1.17: 32 periods x log2(512 / 149).
    let domain = policy.domains[0].clone();
    let mut state = |periods: u64| {
        system.now = Time::from_ns(start.ns() + periods * 1_024_000);
        policy.sum(&system, &domain, 0..1).state
    };
    assert_eq!([55, 59].map(&mut state), [group::State::HasSpare, group::State::FullyBusy]);
}

#[test]
fn a_task_that_is_not_eligible_stays_at_a_busy_cpus_first_attempt() {
    let (mut system, mut policy) = steady(&TWO, &[1, 4]);
    system.ahead = (2..5).map(TaskId).collect();
    let busy = Situation::Busy;
    assert_eq!(policy.attempt(&mut system, 0, CpuId(0), busy), Attempt::Failed(CpuId(1)));
    policy.progress[0][CpuId(0)].failed = 1;
    assert_eq!(policy.attempt(&mut system, 0, CpuId(0), busy), Attempt::Moved);
    let (mut system, mut policy) = steady(&TWO, &[0, 4]);
    system.ahead = (1..4).map(TaskId).collect();
    assert_eq!(policy.attempt(&mut system, 0, CpuId(0), Situation::Idle), Attempt::Moved);
}

#[test]
fn a_fork_leaves_an_overloaded_cpu_for_one_with_half_its_load() {
    let fork = |counts: &[u32]| {
        let (mut system, mut policy) = steady(&TWO, counts);
        let app = system.add_app(1, false);
        let task = TaskId(system.apps[app.index()].tasks.start);
        policy.place(&system, task, Placement::Fork { parent: CpuId(0) }).cpu.0
    };
    assert_eq!(fork(&[4, 2]), 1);
    assert_eq!(fork(&[4, 4]), 0);
}

#[test]
fn of_groups_with_as_many_idle_cpus_the_one_with_more_tasks_is_busier() {
    let state = group::State::HasSpare;
    let fewer = group::Stats { tasks: 3, idle: 2, capacity: 4096, state, ..empty() };
    let more = group::Stats { tasks: 4, ..fewer.clone() };
    assert!(more.busier_than(&fewer, &rules("6.18")) && !fewer.busier_than(&more, &rules("6.18")));
}

#[test]
fn a_lone_task_heavier_than_the_amount_is_not_pulled_from() {
    let (mut system, mut policy) = steady(&SOCKETS, &[1, 4, 4, 4, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2]);
    system.tasks[0].view.weight = 20_000;
    policy.runnable(&mut system, TaskId(0), CpuId(0));
    system.now = Time::from_ns(20_000_000_000);
    let attempt = policy.attempt(&mut system, 1, CpuId(8), Situation::Busy);
    assert_eq!(attempt, Attempt::Moved);
}

#[test]
fn a_group_with_an_idle_cpu_has_spare_capacity_however_busy_the_others_are() {
    let state = |busy| {
        let (system, mut policy) = steady(&SOCKETS, &counts(0..busy));
        let domain = policy.domains[1].clone();
        policy.sum(&system, &domain, 0..8).state
    };
    use group::State::{FullyBusy, HasSpare};
    assert_eq!([6, 7, 8].map(state), [HasSpare, HasSpare, FullyBusy]);
}

pub(super) const PACKAGES: [(Tree, u32); 3] = [(Tree::Package, 2), (Tree::Cache, 1), (Tree::Core, 4)];

/// Four tasks bound to cpu 0 of a package that is idle otherwise, five free ones on the other one.
fn bound_and_free() -> (FakeSystem, GroupTypes) {
    let (mut system, policy) = steady(&PACKAGES, &[4, 0, 0, 0, 2, 1, 1, 1]);
    for task in &mut system.tasks[..4] {
        task.affinity = Affinity::One(CpuId(0));
    }
    (system, policy)
}

#[test]
fn a_pull_that_masks_defeat_marks_the_group_above() {
    let idle = Situation::Idle;
    let find = |system: &FakeSystem, policy: &mut GroupTypes| {
        let domain = policy.domains[1].clone();
        policy.excluded = CpuSet::default();
        policy.find_busiest(system, &domain, CpuId(1), idle)
    };
    let (mut system, mut policy) = bound_and_free();
    let spare = busiest::Finding::Pull(4..8, group::Amount::Utilisation(3 * 1024));
    assert_eq!(find(&system, &mut policy), spare, "it has three idle cpus");
    assert_eq!(policy.load_balance(&mut system, 0, CpuId(1), idle), Attempt::Balanced);
    assert!(policy.marked[1][0], "cpu 0 has only tasks that may not come");
    // Its own group counts as uneven now: what is over the average moves, half a task, after one failure.
    let half = busiest::Finding::Pull(4..8, group::Amount::Load(512));
    assert_eq!(find(&system, &mut policy), half);
    assert_eq!(policy.load_balance(&mut system, 1, CpuId(1), idle), Attempt::Failed(CpuId(4)));
    assert_eq!(policy.load_balance(&mut system, 1, CpuId(1), idle), Attempt::Moved);
    // Seen from the other package the marked group gives one task, if one may come.
    let domain = policy.domains[1].clone();
    policy.excluded = CpuSet::default();
    system.leave(&mut policy, TaskId(8), TaskState::Exited);
    let one = busiest::Finding::Pull(0..4, group::Amount::Tasks(1));
    assert_eq!(policy.find_busiest(&system, &domain, CpuId(7), idle), one);
    // An attempt that finds balance clears the mark.
    assert_eq!(policy.load_balance(&mut system, 0, CpuId(0), Situation::Busy), Attempt::Balanced);
    assert!(!policy.marked[1][0]);
}

#[test]
fn a_mark_is_cleared_by_cpus_that_find_balance_or_leave_the_balancing_to_another() {
    let idle = Situation::Idle;
    let threads = [(Tree::Package, 1), (Tree::Cache, 4), (Tree::Core, 2), (Tree::Thread, 2)];
    let mut crowd = [0; 16];
    (crowd[0], crowd[2], crowd[4]) = (1, 1, 3);
    let (mut system, mut policy) = steady(&threads, &crowd);
    let allowed = std::sync::Arc::new(CpuSet::of((0..5).map(CpuId)));
    for task in &mut system.tasks {
        task.affinity = Affinity::Set(std::sync::Arc::clone(&allowed));
    }
    // Cpu 6 is on an idle core of the cache: it looks, and none of the waiting tasks may come. Cpu 5 shares
    // the core of the queue and finds nothing on the other one; cpu 7 leaves the look to cpu 6.
    for (cpu, end) in [(5, Attempt::Balanced), (7, Attempt::NotDesignated)] {
        policy.load_balance(&mut system, 1, CpuId(6), idle);
        assert!(policy.marked[2][1]);
        assert_eq!(policy.load_balance(&mut system, 1, CpuId(cpu), idle), end);
        assert!(!policy.marked[2][1], "cpu {cpu}");
    }
}

#[test]
fn pinned_queues_are_looked_at_ever_more_rarely() {
    let idle = Situation::Idle;
    let (mut system, mut policy) = bound_and_free();
    let mut intervals = Vec::new();
    for _ in 0..9 {
        policy.load_balance(&mut system, 0, CpuId(1), idle);
        intervals.push(policy.progress[0][CpuId(1)].interval_ms);
    }
    assert_eq!(intervals, [8, 16, 32, 64, 128, 256, 512, 512, 512]);
}

#[test]
fn a_cpu_that_does_not_balance_forgets_its_failures() {
    let idle = Situation::Idle;
    let (mut system, mut policy) = steady(&PACKAGES, &[0, 0, 0, 0, 1, 1, 1, 1]);
    policy.progress[1][CpuId(1)].failed = 3;
    assert_eq!(policy.load_balance(&mut system, 1, CpuId(1), idle), Attempt::NotDesignated);
    assert_eq!(policy.progress[1][CpuId(1)].failed, 0);
    assert_eq!(policy.progress[1][CpuId(1)].interval_ms, 16);
}

#[test]
fn running_tasks_are_pushed_where_a_number_of_tasks_is_to_move() {
    let idle = Situation::Idle;
    let (mut system, mut policy) = steady(&PACKAGES, &[0, 0, 0, 0, 1, 1, 1, 1]);
    policy.progress[1][CpuId(0)].interval_ms = 16;
    for failed in 1..=3 {
        assert_eq!(policy.load_balance(&mut system, 1, CpuId(0), idle), Attempt::Failed(CpuId(4)));
        assert_eq!(policy.progress[1][CpuId(0)].failed, failed);
    }
    assert!(system.moves.is_empty());
    assert_eq!(policy.load_balance(&mut system, 1, CpuId(0), idle), Attempt::Failed(CpuId(4)));
    assert_eq!(system.moves.len(), 1, "cache_nice_tries is 1: the fourth failure wakes the stopper");
    let after = policy.progress[1][CpuId(0)];
    assert_eq!((after.failed, after.interval_ms), (0, 8));
    // By load nothing that runs is pushed, however often it fails.
    let (mut system, mut policy) = steady(&TWO, &[1, 2]);
    for task in &mut system.tasks {
        task.affinity = Affinity::One(CpuId(1));
    }
    for _ in 0..20 {
        policy.load_balance(&mut system, 0, CpuId(0), Situation::Busy);
    }
    assert!(system.moves.is_empty());
}

#[test]
fn of_full_groups_the_last_is_the_busiest_and_of_cores_the_first() {
    let state = group::State::FullyBusy;
    let heavy = group::Stats { load: 9_000, busy: 4096, tasks: 4, capacity: 4096, state, ..empty() };
    let light = group::Stats { load: 4_096, ..heavy.clone() };
    assert!(
        light.busier_than(&heavy, &rules("6.18")) && heavy.busier_than(&light, &rules("6.18")),
        "loads are not compared"
    );
    let (core, other) = (group::Stats { smt: true, ..heavy }, group::Stats { smt: true, ..light });
    assert!(!core.busier_than(&other, &rules("6.18")) && !other.busier_than(&core, &rules("6.18")));
    let uneven = group::Stats { state: group::State::Imbalanced, ..core.clone() };
    assert!(uneven.busier_than(&core, &rules("6.18")) && !uneven.busier_than(&uneven, &rules("6.18")));
}

#[test]
fn the_numa_allowance_grows_from_the_lowest_numa_level() {
    let slacks = |nodes: u32, caches: u32, sockets: u32| {
        let tree = [(Tree::Package, sockets), (Tree::Node, nodes), (Tree::Cache, caches), (Tree::Core, 4)];
        let domains = domains::build(&crate::fake::machine(&tree), &rules("6.18"));
        let numa = domains.iter().filter(|domain| domain.kind == domains::Kind::Numa);
        numa.map(|domain| domain.numa_slack).collect::<Vec<_>>()
    };
    for caches in [2, 3, 8] {
        let m = u64::from(caches);
        assert_eq!(slacks(1, caches, 2), [m]);
        assert_eq!(slacks(2, caches, 2), [m, 2 * m]);
        assert_eq!(slacks(4, caches, 2), [m, 2 * m]);
        assert_eq!(slacks(4, caches, 4), [m, 4 * m]);
        assert_eq!(slacks(4, caches, 1), [m]);
    }
}

/// Runs the timers that the policy has asked for until `until`, ticks and others in order.
fn go_on(system: &mut FakeSystem, policy: &mut GroupTypes, until: Time) {
    loop {
        let tick = system.ticks.iter().map(|(cpu, at)| (*at, Timer::Tick(*cpu))).min_by_key(|(at, _)| *at);
        let token =
            system.timers.iter().map(|(at, token)| (*at, Timer::Token(*token))).min_by_key(|(at, _)| *at);
        let Some((at, timer)) = [tick, token].into_iter().flatten().min_by_key(|(at, _)| *at) else { return };
        if at > until {
            return;
        }
        match timer {
            Timer::Tick(cpu) => system.ticks.retain(|entry| *entry != (cpu, at)),
            Timer::Token(token) => system.timers.retain(|entry| *entry != (at, token)),
            Timer::Slot => {}
        }
        system.now = at.max(system.now);
        policy.timer(system, timer);
    }
}

#[test]
fn the_first_idle_cpu_balances_for_all_itself_last() {
    // Three tasks wait; of the idle cpus 1, 2 and 3 the first is sent for and serves 2 before 3 and itself.
    let one = [(Tree::Package, 1), (Tree::Cache, 1), (Tree::Core, 4)];
    let (mut system, mut policy) = steady(&one, &[3, 0, 0, 0]);
    policy.options.kernel_threads = Span::ZERO;
    system.timers.clear();
    policy.idle.armed = None;
    policy.kick(&mut system);
    let until = system.now + Span::from_ms(8);
    go_on(&mut system, &mut policy, until);
    assert_eq!(system.moves.iter().map(|(_, cpu)| cpu.0).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn idle_cpus_are_left_alone_while_one_task_runs_behind_each_cache() {
    let caches = [(Tree::Package, 1), (Tree::Cache, 2), (Tree::Core, 2)];
    let (mut system, mut policy) = steady(&caches, &[1, 0, 1, 0]);
    system.timers.clear();
    policy.kick(&mut system);
    assert!(system.timers.is_empty(), "nobody waits, and no cache has two busy cpus");
    let (mut system, mut policy) = steady(&caches, &[1, 1, 0, 0]);
    system.timers.clear();
    policy.idle.armed = None;
    policy.kick(&mut system);
    assert!(!system.timers.is_empty(), "two busy cpus of a cache: one may have to go");
}

#[test]
fn a_kernel_thread_that_ends_makes_its_cpu_look() {
    let (mut system, mut policy) = steady(&TWO, &[0, 2]);
    policy.options.periodic = false;
    policy.kernel_thread(&mut system);
    assert_eq!(system.counts(), [1, 1]);
}

#[test]
fn clusters_are_a_level_between_cores_and_caches() {
    let clusters =
        [(Tree::Package, 2), (Tree::Cache, 1), (Tree::Cluster, 2), (Tree::Core, 4), (Tree::Thread, 2)];
    let names = |release: &str, tree: &[(Tree, u32)]| {
        let domains = domains::build(&FakeSystem::new(tree).machine, &rules(release));
        domains.iter().map(|domain| (domain.name(), domain.domains.largest())).collect::<Vec<_>>()
    };
    let with = [("SMT", 2), ("CLS", 8), ("MC", 16), ("PKG", 32)];
    assert_eq!(names("6.18", &clusters), with);
    assert_eq!(names("5.19", &clusters), with);
    assert_eq!(names("5.15", &clusters), [with[0], with[2], with[3]]);
    // Clusters of one core, and one cluster for the whole cache, are none.
    let none = [(Tree::Cache, 2), (Tree::Cluster, 4), (Tree::Core, 1)];
    assert_eq!(names("6.18", &none), [("MC", 4), ("PKG", 8)]);
    assert_eq!(
        names("6.18", &[(Tree::Cache, 2), (Tree::Cluster, 1), (Tree::Core, 4)]),
        [("CLS", 4), ("PKG", 8)]
    );
}

#[test]
fn a_task_counts_in_the_load_of_its_cpu_until_its_dequeue() {
    let after = |ms: u64| Time::from_ns(10_000_000_000 + ms * sim_core::decay::PERIOD_NS);
    let sleeps = |delayed: bool| {
        let (mut system, mut policy) = steady(&TWO, &[1, 2]);
        system.now = after(0);
        system.delayed.extend(delayed.then_some(TaskId(2)));
        system.leave(&mut policy, TaskId(2), TaskState::Sleeping);
        system.now = after(32);
        (system, policy)
    };
    let other = CpuId(1);
    let (system, mut policy) = sleeps(false);
    assert_eq!(policy.load(&system, other), 1024 + 512);
    let (mut system, mut policy) = sleeps(true);
    assert_eq!(policy.load(&system, other), 2048);
    // It leaves: its load fades from now on.
    system.delayed.clear();
    policy.dequeued(&mut system, TaskId(2), other);
    system.now = after(64);
    assert_eq!(policy.load(&system, other), 1024 + 512);
    // It wakes before: nothing has happened.
    let (mut system, mut policy) = sleeps(true);
    system.delayed.clear();
    system.enter(&mut policy, TaskId(2), other);
    system.now = after(64);
    assert_eq!((policy.load(&system, other), policy.cpus[other].delayed), (2048, 0));
    // It is woken on another cpu: its load goes along.
    let (mut system, mut policy) = sleeps(true);
    system.delayed.clear();
    policy.dequeued(&mut system, TaskId(2), other);
    system.enter(&mut policy, TaskId(2), CpuId(0));
    assert_eq!([0, 1].map(|cpu| policy.load(&system, CpuId(cpu))), [2048, 1024]);
}
