//! `LOAD` against queues set by hand: which static imbalances it corrects, hot tasks, pinned tasks,
//! placement.

use super::*;
use crate::attempt::{Attempt, Situation};
use crate::fake::{FakeSystem, balancer};
use sim_core::ids::Id;
use sim_core::machine::Level as Tree;
use sim_core::policy::{Affinity, TaskState, Timer};

const BARCELONA: [(Tree, u32); 3] = [(Tree::Package, 4), (Tree::Node, 1), (Tree::Core, 4)];
const TIGERTON: [(Tree, u32); 3] = [(Tree::Package, 4), (Tree::Cache, 2), (Tree::Core, 2)];
const SOCKET: [(Tree, u32); 1] = [(Tree::Core, 4)];
const TWO: [(Tree, u32); 1] = [(Tree::Core, 2)];

fn load(system: &FakeSystem, changes: &[(&str, u64)]) -> Load {
    let mut values = Values::defaults(Parameters::TABLE);
    for (name, value) in changes {
        values.set(name, *value).unwrap();
    }
    let values = Parameters::from(&values);
    let Balance::Loads(rules) = releases::of(&values, &system.kernel) else { panic!("balances by types") };
    let setting = Setting { entry: &ENTRY, machine: &system.machine, kernel: &system.kernel, apps: &[] };
    Load::new(&values, rules, &setting)
}

/// Queues that have been as they are for ten seconds, all tasks cold; no tick has balanced yet.
fn steady(levels: &[(Tree, u32)], counts: &[u32]) -> (FakeSystem, Load) {
    let mut system = FakeSystem::new(levels);
    let mut policy = load(&system, &[]);
    system.fill(&mut policy, counts);
    system.now = Time::from_ns(10_000_000_000);
    (system, policy)
}

/// The queues after the first move of a pass over all cpus, all of them due: what follows is the next state's
/// business.
fn balanced(levels: &[(Tree, u32)], counts: &[u32]) -> Vec<u32> {
    let (mut system, mut policy) = steady(levels, counts);
    for cpu in system.machine.cpu_ids() {
        policy.rebalance(&mut system, cpu);
        if !system.moves.is_empty() {
            break;
        }
    }
    system.counts()
}

fn per_socket(first: u32, others: u32) -> Vec<u32> {
    let spread = |total: u32| (0..4).map(move |i| total / 4 + u32::from(i < total % 4));
    [first, others, others, others].into_iter().flat_map(spread).collect()
}

fn moves(levels: &[(Tree, u32)], counts: &[u32]) -> bool {
    balanced(levels, counts) != counts
}

#[test]
fn two_cpus() {
    assert_eq!(balanced(&TWO, &[1, 2]), [2, 1]);
    assert_eq!(balanced(&TWO, &[2, 3]), [3, 2]);
    assert_eq!(balanced(&TWO, &[3, 4]), [4, 3]);
    assert_eq!(balanced(&TWO, &[4, 5]), [4, 5]);
    assert_eq!(balanced(&TWO, &[7, 8]), [7, 8]);
    assert_eq!(balanced(&TWO, &[3, 5]), [4, 4]);
    assert_eq!(balanced(&TWO, &[0, 2]), [1, 1]);
    assert_eq!(balanced(&TWO, &[0, 1]), [0, 1]);
}

#[test]
fn one_socket() {
    assert!(moves(&SOCKET, &[2, 1, 1, 1]));
    assert!(!moves(&SOCKET, &[5, 4, 4, 4]));
    assert!(!moves(&SOCKET, &[2, 2, 2, 2]));
}

#[test]
fn across_the_nodes_of_barcelona() {
    // Within the sockets these are even or frozen: 2,1,1,1 rotates, so only the NODE level is asked.
    let node = |counts: &[u32]| {
        let (mut system, mut policy) = steady(&BARCELONA, counts);
        (4..16).step_by(4).any(|cpu| {
            let attempt = policy.find_busiest(&system, 1, CpuId(cpu), Situation::Busy);
            if let busiest::Finding::Pull { from, imbalance } = attempt {
                let from = from.map(CpuId).max_by_key(|c| system.nr_running(*c)).unwrap();
                policy.pull(&mut system, 1, CpuId(cpu), from, imbalance);
            }
            !system.moves.is_empty()
        })
    };
    assert!(!node(&per_socket(5, 4)), "25 % is tolerated");
    assert!(!node(&per_socket(6, 4)), "an amount of half a task moves none");
    assert!(!node(&per_socket(10, 8)), "25 % is tolerated");
    // 768 of load are to move: no whole task, yet more than half of one, which the kernel's walk accepts.
    assert!(node(&per_socket(11, 8)));
    assert!(node(&per_socket(8, 4)));
}

/// Is a task moved between the nodes of Barcelona, all cpus busy, under this release?
fn between_nodes(release: &'static str, first: u32, others: u32) -> bool {
    let mut system = FakeSystem::new(&BARCELONA);
    system.kernel.balancer = balancer(release);
    let mut policy = load(&system, &[]);
    system.fill(&mut policy, &per_socket(first, others));
    system.now = Time::from_ns(10_000_000_000);
    for cpu in (4..16).step_by(4).map(CpuId) {
        policy.load_balance(&mut system, 1, cpu, Situation::Busy);
    }
    !system.moves.is_empty()
}

#[test]
fn the_small_imbalance_test_differs_between_releases() {
    // F = 2 in 2.6.27.57: 6 / 4 / 4 / 4 moves one task; F = 1 since 2.6.28 and F = 0 in 2.6.18 leave it.
    let moved = |first, others| {
        let releases = ["linux-2.6.18", "linux-2.6.27", "linux-2.6.28", "linux-2.6.30"];
        releases.map(|release| between_nodes(release, first, others))
    };
    assert_eq!(moved(6, 4), [false, true, false, false]);
    assert_eq!(moved(5, 4), [false; 4], "25 % is tolerated");
    assert_eq!(moved(10, 8), [false; 4]);
    assert_eq!(moved(8, 4), [true; 4]);
}

#[test]
fn inside_a_socket_2_6_27_pulls_as_soon_as_a_cpu_goes_idle_and_2_6_28_does_not() {
    let pulled = ["linux-2.6.18", "linux-2.6.27", "linux-2.6.28", "linux-2.6.30"].map(|release| {
        let mut system = FakeSystem::new(&SOCKET);
        system.kernel.balancer = balancer(release);
        let mut policy = load(&system, &[]);
        system.fill(&mut policy, &[1, 3, 1, 1]);
        system.now = Time::from_ns(10_000_000_000);
        system.leave(&mut policy, TaskId(0), TaskState::Exited);
        policy.idle(&mut system, CpuId(0));
        system.counts()[0]
    });
    assert_eq!(pulled, [1, 1, 0, 0]);
}

#[test]
fn forks_of_2_6_18_stay_on_their_node() {
    let mut system = FakeSystem::new(&TIGERTON);
    system.kernel.balancer = balancer("linux-2.6.18");
    let mut policy = load(&system, &[]);
    system.fill(&mut policy, &[1]);
    system.add_app(1, false);
    assert_eq!(policy.place(&system, TaskId(1), Placement::Fork { parent: CpuId(0) }).cpu, CpuId(0));
    // A woken task looks for an idle thread of the core.
    let mut system = FakeSystem::new(&[(Tree::Core, 2), (Tree::Thread, 2)]);
    system.kernel.balancer = balancer("linux-2.6.18");
    let mut policy = load(&system, &[]);
    system.fill(&mut policy, &[1, 0, 1, 1]);
    system.add_app(1, false);
    let why = Placement::Wake { waker: CpuId(0), previous: CpuId(0) };
    assert_eq!(policy.place(&system, TaskId(3), why).cpu, CpuId(1));
}

#[test]
fn pairs_of_tigerton() {
    let pairs = |first: u32, others: u32| {
        let pair = |n: u32| [n - n / 2, n / 2];
        [first, others, others, others, others, others, others, others]
            .into_iter()
            .flat_map(pair)
            .collect::<Vec<_>>()
    };
    let between = |counts: &[u32]| {
        let (mut system, mut policy) = steady(&TIGERTON, counts);
        policy.find_busiest(&system, 1, CpuId(2), Situation::Busy) != busiest::Finding::Balanced
            && policy.load_balance(&mut system, 1, CpuId(2), Situation::Busy) != Attempt::Balanced
            && !system.moves.is_empty()
    };
    assert!(between(&pairs(3, 2)));
    assert!(!between(&pairs(5, 4)));
    // Two tasks on one pair, none on the next: a pair counts as one unit, so this is an excess.
    let (mut system, mut policy) = steady(&TIGERTON, &[1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
    let finding = policy.find_busiest(&system, 1, CpuId(2), Situation::Idle);
    assert_eq!(finding, busiest::Finding::Pull { from: 0..2, imbalance: 1024 });
    system.now += Span::from_ms(1);
    // Both run, so nothing can be pulled; the fourth failure wakes the migration thread.
    for attempt in 1..=4 {
        policy.load_balance(&mut system, 1, CpuId(2), Situation::Idle);
        assert_eq!(system.moves.len(), usize::from(attempt == 4), "attempt {attempt}");
        // Only the push makes the interval longer.
        let interval = if attempt == 4 { 2 } else { 1 };
        assert_eq!(policy.progress[1][CpuId(2)].interval_ms, interval, "attempt {attempt}");
    }
    assert_eq!(system.nr_running(CpuId(2)), 1);
}

#[test]
fn only_the_designated_cpu_balances_for_its_group() {
    let (system, mut policy) = steady(&BARCELONA, &per_socket(16, 4));
    let busy = Situation::Busy;
    assert_eq!(policy.find_busiest(&system, 1, CpuId(5), busy), busiest::Finding::NotDesignated);
    assert_ne!(policy.find_busiest(&system, 1, CpuId(4), busy), busiest::Finding::NotDesignated);
}

#[test]
fn hot_tasks_resist_until_the_third_attempt_at_the_cpu_level() {
    let (mut system, mut policy) = steady(&TWO, &[0, 2]);
    for task in &mut system.tasks {
        task.view.last_ran = Time::from_ns(9_999_700_000);
    }
    for attempt in 1..=3 {
        let outcome = policy.load_balance(&mut system, 0, CpuId(0), Situation::Idle);
        assert_eq!(outcome == Attempt::Moved, attempt == 3, "attempt {attempt}");
    }
    // A cold one moves at once, a buddy is hot however long ago it ran.
    let (mut system, mut policy) = steady(&TWO, &[0, 2]);
    system.buddy = Some(TaskId(1));
    let idle = Situation::Idle;
    assert_ne!(policy.load_balance(&mut system, 0, CpuId(0), idle), Attempt::Moved);
    system.buddy = None;
    assert_eq!(policy.load_balance(&mut system, 0, CpuId(0), idle), Attempt::Moved);
}

#[test]
fn a_queue_of_pinned_tasks_ends_an_attempt_of_2_6_18() {
    let (mut system, mut policy) = steady(&SOCKET, &[0, 4, 3, 0]);
    policy.rules = old();
    for task in 0..4 {
        system.tasks[task].affinity = Affinity::One(CpuId(1));
    }
    let outcome = policy.load_balance(&mut system, 0, CpuId(0), Situation::Idle);
    assert_eq!(outcome, Attempt::Pinned);
    assert!(system.moves.is_empty());
}

#[test]
fn an_idle_cpu_of_2_6_18_takes_a_heavy_task_unless_it_is_the_only_best_one() {
    let pulled = |weights: [u32; 2], counts: &[u32]| {
        let (mut system, mut policy) = steady(&TWO, counts);
        policy.rules = old();
        let there = system.tasks.len() - 2;
        for (task, weight) in weights.into_iter().enumerate() {
            system.tasks[there + task].view.weight = weight;
        }
        policy.pull(&mut system, 0, CpuId(0), CpuId(1), 100) == balance::Pulled::Some
    };
    // The first one runs. 3,121 is nice -5.
    assert!(pulled([3121, 3121], &[0, 2]), "two as good");
    assert!(pulled([3121, 1024], &[0, 2]), "the best one stays");
    assert!(!pulled([1024, 3121], &[0, 2]), "the best one would go");
    assert!(!pulled([1024, 1024], &[1, 2]), "one here is as good");
}

#[test]
fn queues_of_pinned_tasks_are_passed_over() {
    let (mut system, mut policy) = steady(&SOCKET, &[0, 4, 3, 0]);
    for task in 0..4 {
        system.tasks[task].affinity = Affinity::One(CpuId(1));
    }
    let outcome = policy.load_balance(&mut system, 0, CpuId(0), Situation::Idle);
    assert_eq!(outcome, Attempt::Moved);
    assert_eq!(system.counts()[1], 4);
    let (mut system, mut policy) = steady(&TWO, &[0, 4]);
    for task in &mut system.tasks {
        task.affinity = Affinity::One(CpuId(1));
    }
    for _ in 0..20 {
        let outcome = policy.load_balance(&mut system, 0, CpuId(0), Situation::Idle);
        assert_eq!(outcome, Attempt::Pinned);
    }
    // The interval grows beyond the level's maximum of 4 ms.
    assert_eq!(policy.progress[0][CpuId(0)].interval_ms, 512);
    assert!(system.moves.is_empty());
}

#[test]
fn the_interval_doubles_while_balanced_and_is_longer_when_busy() {
    let (mut system, mut policy) = steady(&TWO, &[1, 1]);
    let cpu = CpuId(0);
    policy.rebalance(&mut system, cpu);
    assert_eq!(policy.progress[0][cpu].interval_ms, 2);
    assert_eq!(policy.next_balance[cpu], 10_000 + 64);
    policy.load_balance(&mut system, 0, cpu, Situation::Busy);
    policy.load_balance(&mut system, 0, cpu, Situation::Busy);
    assert_eq!(policy.progress[0][cpu].interval_ms, 4);
}

#[test]
fn going_idle_brings_the_next_look_forward_but_pulls_only_where_the_kernel_does() {
    let (mut system, mut policy) = steady(&TWO, &[1, 3]);
    policy.next_balance[CpuId(0)] = 20_000;
    policy.armed[CpuId(0)] = Time::from_ns(20_000_000_000);
    system.leave(&mut policy, TaskId(0), TaskState::Exited);
    policy.idle(&mut system, CpuId(0));
    assert!(system.moves.is_empty(), "the CPU level has no new-idle balancing in 2.6.28");
    assert!(policy.next_balance[CpuId(0)] <= 10_001);
    assert_eq!(system.ticks.last().map(|(cpu, _)| *cpu), Some(CpuId(0)));
    let mut eager = load(&system, &[("newidle", 1)]);
    for task in 1..4 {
        eager.runnable(&mut system, TaskId(task), CpuId(1));
    }
    system.now += Span::from_ms(500);
    eager.idle(&mut system, CpuId(0));
    assert_eq!(system.counts(), [1, 2]);
}

#[test]
fn a_leftover_tick_is_ignored() {
    let (mut system, mut policy) = steady(&TWO, &[1, 3]);
    policy.armed[CpuId(0)] = system.now + Span::from_ms(5);
    policy.timer(&mut system, Timer::Tick(CpuId(0)));
    assert!(system.moves.is_empty() && system.ticks.is_empty());
    system.now += Span::from_ms(5);
    policy.timer(&mut system, Timer::Tick(CpuId(0)));
    assert_eq!(system.counts(), [2, 2]);
    assert_eq!(system.ticks.len(), 1);
}

/// Forks `n` tasks from cpu 0 within one tick; the parent runs there.
fn forks(levels: &[(Tree, u32)], n: u32, ticks_between: u64) -> Vec<u32> {
    let mut system = FakeSystem::new(levels);
    let mut policy = load(&system, &[]);
    let app = system.add_app(n, false);
    let tasks: Vec<TaskId> = system.apps[app.index()].task_ids().collect();
    system.now = Time::from_ns(1_000_100_000);
    for (i, task) in tasks.into_iter().enumerate() {
        let parent = CpuId(0);
        let cpu = if i == 0 { parent } else { policy.place(&system, task, Placement::Fork { parent }).cpu };
        system.enter(&mut policy, task, cpu);
        system.now += Span::from_ms(ticks_between);
    }
    system.counts()
}

#[test]
fn forks_within_a_tick_pile_up_and_later_ones_spread() {
    // The first seven go to the other pairs, the eighth to the parent's pair; then the parent's own queue
    // looks empty, because its average is that of the last tick.
    let clump = forks(&TIGERTON, 16, 0);
    assert_eq!(clump[0], 8, "{clump:?}");
    let spread = forks(&TIGERTON, 16, 20);
    assert_eq!(spread, [1; 16]);
}

#[test]
fn forks_respect_affinity() {
    let mut system = FakeSystem::new(&BARCELONA);
    let mut policy = load(&system, &[]);
    system.add_app(1, false);
    system.tasks[0].affinity = Affinity::One(CpuId(13));
    assert_eq!(policy.place(&system, TaskId(0), Placement::Fork { parent: CpuId(2) }).cpu, CpuId(13));
    let wake = Placement::Wake { waker: CpuId(2), previous: CpuId(5) };
    assert_eq!(policy.place(&system, TaskId(0), wake).cpu, CpuId(13));
}

#[test]
fn wake_ups_stay_or_follow_the_waker_but_never_look_for_an_idle_cpu() {
    let wake = |counts: &[u32]| {
        let (mut system, mut policy) = steady(&SOCKET, counts);
        let sleeper = system.add_app(1, false);
        let task = system.apps[sleeper.index()].task_ids().next().unwrap();
        policy.place(&system, task, Placement::Wake { waker: CpuId(0), previous: CpuId(1) }).cpu.0
    };
    assert_eq!(wake(&[1, 0, 0, 0]), 1, "the previous cpu is idle");
    assert_eq!(wake(&[1, 1, 0, 0]), 1, "alike: stays, though cpus 2 and 3 are idle");
    assert_eq!(wake(&[1, 2, 0, 0]), 0, "the waker's queue stays within 12 % of the previous one");
    assert_eq!(wake(&[1, 3, 0, 0]), 0);
    assert_eq!(wake(&[2, 1, 0, 0]), 1);
}

#[test]
fn an_idle_machine_costs_one_tick_per_interval() {
    let mut system = FakeSystem::new(&BARCELONA);
    let mut policy = load(&system, &[]);
    policy.init(&mut system);
    assert_eq!(system.ticks.len(), 16);
    system.now = Time::from_ns(1_000_000);
    policy.timer(&mut system, Timer::Tick(CpuId(3)));
    assert!(system.moves.is_empty());
    assert_eq!(system.ticks.len(), 17);
}

/// How often a balancing pass of every cpu of a machine without packages reads the load of a cpu.
fn reads(cpus: u32, counts: &[u32]) -> u64 {
    let mut all = vec![0; cpus as usize];
    all[..counts.len()].copy_from_slice(counts);
    let (mut system, mut policy) = steady(&[(Tree::Core, cpus)], &all);
    system.reads.set(0);
    for cpu in system.machine.cpu_ids() {
        policy.rebalance(&mut system, cpu);
    }
    assert_eq!(system.moves, []);
    system.reads.get()
}

#[test]
fn passes_do_not_read_the_loads_of_idle_cpus() {
    // Each cpu reads its own load and that of a few others: twice as many cpus, twice as many reads.
    for counts in [&[1][..], &[1, 1, 1]] {
        for cpus in [64, 128, 256] {
            let reads = reads(cpus, counts);
            assert!(reads <= 8 * u64::from(cpus), "{reads} reads on {cpus} cpus with {counts:?}");
        }
    }
}

#[test]
fn a_cpu_that_goes_idle_in_vain_keeps_a_later_time_to_balance() {
    // In 2.6.30 the walk finds no level with new-idle balancing here, and pulls nothing.
    let next = |before: u64| {
        let mut system = FakeSystem::new(&TWO);
        system.kernel.balancer = balancer("linux-2.6.30");
        let mut policy = load(&system, &[]);
        system.now = Time::from_ns(10_000_000_000);
        policy.next_balance[CpuId(0)] = before;
        policy.new_idle(&mut system, CpuId(0));
        policy.next_balance[CpuId(0)]
    };
    // Its last attempt was at tick 0, with an interval of one tick.
    assert_eq!([9_000, 10_000, 20_000].map(next), [1, 10_000, 20_000]);
}

#[test]
fn a_group_of_even_queues_is_no_busiest_group_while_it_has_power_left() {
    let find = |first: u32| {
        let mut counts = vec![first, 1];
        counts.resize(16, 0);
        let (system, mut policy) = steady(&BARCELONA, &counts);
        policy.find_busiest(&system, 1, CpuId(4), Situation::Idle)
    };
    assert_eq!(find(1), busiest::Finding::Balanced);
    // Queues that differ by more than two tasks count although the group has power for all of them.
    assert_ne!(find(3), busiest::Finding::Balanced);
}

#[test]
fn a_fork_goes_to_the_least_loaded_group_wherever_it_is() {
    let (mut system, mut policy) = steady(&SOCKET, &[2, 1, 0, 1]);
    system.add_app(1, false);
    assert_eq!(policy.place(&system, TaskId(4), Placement::Fork { parent: CpuId(0) }).cpu, CpuId(2));
}

/// The rules of 2.6.18.
fn old() -> LoadRules {
    match Balance::of(&balancer("linux-2.6.18")) {
        Some(Balance::Loads(rules)) => rules,
        other => panic!("{other:?}"),
    }
}

#[test]
fn another_release_can_balance_than_that_of_the_kernel() {
    let mut kernel = FakeSystem::new(&TWO).kernel;
    let of = |kernel: &OsModel, release: &str| {
        let mut values = Values::defaults(Parameters::TABLE);
        let words = <Named as notation::declare::Choice>::WORDS;
        values.set("release", words.iter().position(|word| *word == release).unwrap() as u64).unwrap();
        releases::of(&Parameters::from(&values), kernel)
    };
    let own = |name: &str| Balance::of(&balancer(name)).unwrap();
    for name in ["linux-2.6.18", "linux-2.6.27", "linux-2.6.28", "linux-2.6.30", "linux-6.18"] {
        assert_eq!(of(&kernel, name), own(name));
        kernel.balancer = balancer(name);
        assert_eq!(of(&kernel, "kernel"), own(name));
    }
    kernel.balancer = balancer("freebsd-7");
    assert_eq!(of(&kernel, "kernel"), own(releases::OTHERWISE));
}
