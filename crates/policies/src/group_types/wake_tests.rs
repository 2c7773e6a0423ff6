//! The rules of wake-ups and of cpus that go idle in which releases differ, each by a law worked out on
//! paper.

use super::tests::{SOCKETS, TWO, rules, steady_under};
use super::*;
use crate::attempt::Situation;
use crate::fake::FakeSystem;
use kernels::*;
use sim_core::machine::Level as Tree;

fn all() -> Rules {
    Rules { scan: Scan::All, ..rules("6.18") }
}

/// Wakes a sleeper that was last on `previous` from `waker`.
fn wake(system: &mut FakeSystem, policy: &mut GroupTypes, waker: u32, previous: u32) -> u32 {
    let app = system.add_app(1, false);
    let task = TaskId(system.apps[app.index()].tasks.start);
    let (waker, previous) = (CpuId(waker), CpuId(previous));
    policy.place(system, task, Placement::Wake { waker, previous }).cpu.0
}

#[test]
fn scans_shrink_with_the_square_of_the_utilisation_of_the_cache() {
    // The table of the commit's text for 112 cpus.
    let of = |percent: u64| wake::scanned(112 * 1024 * percent / 100, 112, 117);
    assert_eq!([5, 25, 45, 65, 85].map(of), [111, 102, 81, 47, 1]);
}

#[test]
fn seven_hogs_on_eight_cpus_hide_the_eighth() {
    let found = |rules| {
        let counts: Vec<u32> = (0..16).map(|cpu| u32::from(cpu < 7)).collect();
        let (mut system, mut policy) = steady_under(rules, &SOCKETS, &counts);
        let before = wake(&mut system, &mut policy, 0, 0);
        policy.attempt(&mut system, 0, CpuId(7), Situation::NewlyIdle);
        let newly = wake(&mut system, &mut policy, 0, 0);
        policy.attempt(&mut system, 0, CpuId(7), Situation::Idle);
        [before, newly, wake(&mut system, &mut policy, 0, 0)]
    };
    // 87.5 % is more than 1 / 1.17; only periodic balancing measures it.
    assert_eq!(["6.6", "6.18"].map(|release| found(rules(release))), [[7, 7, 0]; 2]);
    assert_eq!(found(all()), [7, 7, 7]);
}

#[test]
fn an_idle_core_is_not_looked_for_either_where_the_limit_is_zero() {
    let threads = [(Tree::Package, 1), (Tree::Cache, 1), (Tree::Core, 4), (Tree::Thread, 2)];
    let found = |limit: u32| {
        let (mut system, mut policy) = steady_under(rules("6.6"), &threads, &[1, 0, 1, 1, 1, 1, 0, 0]);
        policy.scanned[0] = limit;
        wake(&mut system, &mut policy, 0, 0)
    };
    // The previous cpu 0 is busy; core 6 is idle. A search for it has no other limit.
    assert_eq!([0, 1].map(found), [0, 6]);
}

#[test]
fn scans_cost_the_cpus_they_look_at_to_5_19() {
    let found = |rules: Rules, idle: usize, avg_idle: u64| {
        let counts: Vec<u32> = (0..16).map(|cpu| u32::from(cpu != idle)).collect();
        let (mut system, mut policy) = steady_under(rules, &SOCKETS, &counts);
        (policy.cpus[CpuId(0)].avg_idle, policy.cpus[CpuId(0)].scan_cost) = (avg_idle, 799);
        wake(&mut system, &mut policy, 0, 0) as usize
    };
    // 8 cpus x (51200 / 512) / 800 is one: the least is four with the one that ends the scan.
    assert_eq!([3, 4].map(|idle| found(rules("5.19"), idle, 51_200)), [3, 0]);
    // 8 x 600 / 800 = 6.
    assert_eq!([5, 6].map(|idle| found(rules("5.19"), idle, 307_200)), [5, 0]);
    assert_eq!(found(all(), 6, 51_200), 6);
}

#[test]
fn scans_grow_dearer_by_an_eighth_of_the_difference() {
    let (mut system, mut policy) = steady_under(rules("5.19"), &SOCKETS, &[1; 16]);
    policy.cpus[CpuId(0)].avg_idle = 1_000_000;
    wake(&mut system, &mut policy, 0, 0);
    // All eight cpus at 50 ns.
    assert_eq!(policy.cpus[CpuId(0)].scan_cost, 400 / 8);
}

/// Where a task goes that was last on cpu 9 and is woken from cpu 0, when its waker and it have woken so many
/// tasks in turn. The waker's cpu has little load; all of the other socket is crowded.
pub(super) fn woken_by_waker_of_many(rules: Rules, [waker, task]: [u32; 2]) -> u32 {
    let mut counts = [2; 16];
    counts[..8].copy_from_slice(&[1, 0, 1, 1, 1, 1, 1, 1]);
    let (mut system, mut policy) = steady_under(rules, &SOCKETS, &counts);
    let app = system.add_app(1, false);
    let sleeper = TaskId(system.apps[app.index()].tasks.start);
    policy.task(TaskId(0)).wakes = wake::Wakes::flipped(system.now, waker);
    policy.task(sleeper).wakes = wake::Wakes::flipped(system.now, task);
    policy.place(&system, sleeper, Placement::Wake { waker: CpuId(0), previous: CpuId(9) }).cpu.0
}

#[test]
fn wakers_of_many_that_wake_many_are_not_followed() {
    // The cache has 8 cpus: 8 and 64 make it wide; the waker flips once more here.
    assert_eq!(woken_by_waker_of_many(rules("6.6"), [63, 8]), 9);
    assert_eq!(
        [[62, 8], [63, 7], [1_000, 1]].map(|flips| woken_by_waker_of_many(rules("6.6"), flips)),
        [1; 3]
    );
    assert_eq!(woken_by_waker_of_many(Rules { wake_wide: false, ..rules("6.6") }, [63, 8]), 1);
}

#[test]
fn flips_are_wakes_of_another_task_than_the_last_and_halve_each_second() {
    let (mut system, mut policy) = steady_under(rules("6.6"), &SOCKETS, &[1]);
    let app = system.add_app(64, false);
    let first = system.apps[app.index()].tasks.start;
    let mut wakes = |system: &FakeSystem, task: u32| {
        let (waker, previous) = (CpuId(0), CpuId(task % 16));
        policy.place(system, TaskId(first + task), Placement::Wake { waker, previous });
        policy.task(TaskId(0)).wakes.count()
    };
    assert_eq!([0, 0, 1, 0, 0].map(|task| wakes(&system, task)), [1, 1, 2, 3, 3]);
    let counts: Vec<u32> = (1..64).map(|task| wakes(&system, task)).collect();
    assert_eq!(counts[62], 66);
    system.now += Span::from_ms(1_001);
    assert_eq!(wakes(&system, 0), 34);
    assert_eq!(policy.task(TaskId(first)).wakes.count(), 0, "the workers wake nobody");
}

#[test]
fn an_idle_previous_cpu_wins_across_caches_since_5_11() {
    let found = |rules| {
        let (mut system, mut policy) = steady_under(rules, &SOCKETS, &[1, 0]);
        // Those that slept on cpu 8 have left more load than there is on cpu 0.
        let now = system.now;
        policy.cpus[CpuId(8)].load.add(now, 5_000 << FINE);
        wake(&mut system, &mut policy, 0, 8)
    };
    assert_eq!([rules("5.10"), rules("5.15")].map(found), [1, 8]);
}

#[test]
fn what_is_remembered_is_the_waker_s_cpu_to_5_13_and_the_one_before_the_last_since() {
    let remembered = |rules| {
        let (mut system, mut policy) = steady_under(rules, &SOCKETS, &[1, 1, 1, 1, 0, 0, 0, 0]);
        system.add_app(1, false);
        let wakes = Placement::Wake { waker: CpuId(0), previous: CpuId(6) };
        policy.place(&system, TaskId(4), wakes);
        [0, 4].map(|task| policy.task(TaskId(task)).recent.map(|cpu| cpu.0))
    };
    assert_eq!(remembered(rules("5.10")), [Some(0), None]);
    assert_eq!(remembered(rules("5.15")), [None, Some(6)]);
}

#[test]
fn threads_of_the_previous_core_come_first_since_5_13() {
    let threads = [(Tree::Package, 1), (Tree::Cache, 1), (Tree::Core, 4), (Tree::Thread, 2)];
    let found = |rules| {
        let (mut system, mut policy) = steady_under(rules, &threads, &[0, 1, 0, 1, 0, 1, 0, 1]);
        wake(&mut system, &mut policy, 5, 5)
    };
    assert_eq!([rules("5.10"), rules("5.15")].map(found), [6, 4]);
    // Before, those of the target's core came last: after three looks at busy cpus.
    let (mut system, mut policy) = steady_under(rules("5.10"), &threads, &[0, 1, 1, 1, 1, 1, 1, 1]);
    policy.cpus[CpuId(1)].avg_idle = 0;
    assert_eq!(wake(&mut system, &mut policy, 1, 1), 0);
}

/// Whether a cpu that goes idle takes one of two waiting tasks.
fn pulls(rules: Rules, avg_idle: u64) -> bool {
    let (mut system, mut policy) = steady_under(rules, &TWO, &[1, 3]);
    policy.cpus[CpuId(0)].avg_idle = avg_idle;
    system.leave(&mut policy, TaskId(0), TaskState::Exited);
    policy.cpus[CpuId(0)].avg_idle = avg_idle;
    policy.idle(&mut system, CpuId(0));
    !system.moves.is_empty()
}

#[test]
fn only_cpus_that_idle_long_look_for_tasks_to_5_16() {
    assert_eq!([rules("5.15"), rules("5.19")].map(|rules| pulls(rules, 499_999)), [false, true]);
    assert_eq!([rules("5.15"), rules("5.19")].map(|rules| pulls(rules, 500_000)), [true, true]);
    // Two cpus at 100 ns.
    assert_eq!([199, 200].map(|avg_idle| pulls(rules("5.19"), avg_idle)), [false, true]);
}

#[test]
fn looks_that_pull_nothing_cost_half_as_much_again_in_6_17() {
    let cost = |rules, times: u32| {
        // Two waiting tasks that may not come.
        let (mut system, mut policy) = steady_under(rules, &TWO, &[0, 3]);
        for task in &mut system.tasks {
            task.affinity = sim_core::policy::Affinity::One(CpuId(1));
        }
        policy.looks[0][CpuId(0)].cost = 10_000;
        for _ in 0..times {
            policy.cpus[CpuId(0)].avg_idle = 1_000_000;
            policy.new_idle(&mut system, CpuId(0));
        }
        policy.looks[0][CpuId(0)].cost
    };
    let more = Rules { look_cost_fades: false, ..rules("6.18") };
    let plain = Rules { failing: Failing::Cost, ..more };
    assert_eq!([0, 1, 2].map(|times| cost(more, times)), [10_000, 15_000, 22_500]);
    assert_eq!([9, 10, 11].map(|times| cost(more, times)), [384_427, 500_200, 500_200]);
    assert_eq!(cost(plain, 10), 10_000);
}

#[test]
fn the_highest_cost_of_a_look_fades_each_second() {
    let cost = |rules| {
        let (mut system, mut policy) = steady_under(rules, &TWO, &[1, 3]);
        policy.looks[0][CpuId(0)].cost = 25_600;
        for _ in 0..3 {
            system.now += Span::from_ms(1_001);
            policy.rebalance(&mut system, CpuId(0));
        }
        policy.looks[0][CpuId(0)].cost
    };
    assert_eq!(cost(rules("6.6")), ((25_600 * 253 / 256) * 253 / 256) * 253 / 256);
    assert_eq!(cost(Rules { look_cost_fades: false, ..rules("6.6") }), 25_600);
}

#[test]
fn the_share_of_looks_follows_their_success() {
    let after = |successes: u64, calls: u32, by_rate: bool, gap: Span| {
        let mut looks = newidle::Looks::new(0);
        let mut dice = Draws::new(1, Purpose::Policy, 7);
        let mut now = Time::ZERO;
        for _ in 0..calls {
            now += gap;
            let weight = looks.allowed(dice.below(1_024)).filter(|_| dice.below(1_000) < successes);
            looks.count(now, weight.unwrap_or(0), by_rate);
        }
        looks.ratio
    };
    let gap = Span::from_ms(1);
    // Without success it halves every 512 calls.
    assert_eq!([511, 512, 1_024, 1_536].map(|calls| after(0, calls, false, gap)), [512, 256, 128, 64]);
    // One that pulls stands for a whole number of looks, so that high rates are met less well.
    for permille in [100, 250, 500] {
        let ratio = after(permille, 100_000, false, gap) * 1_000 / 1_024;
        assert!(ratio.abs_diff(permille) < 60, "{permille} {ratio}");
    }
    // 512 calls at 256 a second are two seconds: 2^31 ns are 512 of 2^22.
    assert!(after(0, 51_200, true, Span::from_ns(1 << 22)).abs_diff(512) < 8);
    assert_eq!(after(0, 51_200, true, Span::from_us(1)), 0);
}

#[test]
fn the_dice_keep_a_cpu_from_looking() {
    let looks = |rules: Rules, ratio: u64| {
        let (mut system, mut policy) = steady_under(rules, &TWO, &[0, 3]);
        for task in &mut system.tasks {
            task.affinity = sim_core::policy::Affinity::One(CpuId(1));
        }
        policy.looks[0][CpuId(0)].ratio = ratio;
        let mut looked = 0;
        for _ in 0..100 {
            policy.excluded = CpuSet::default();
            policy.new_idle(&mut system, CpuId(0));
            looked += u32::from(policy.excluded.contains(CpuId(1)));
        }
        looked
    };
    let random = Rules { failing: Failing::Random, ..rules("6.18") };
    let plain = Rules { failing: Failing::Cost, ..random };
    assert_eq!(looks(random, 1_024), 100);
    assert!((10..=45).contains(&looks(random, 256)));
    assert_eq!(looks(plain, 256), 100);
}

#[test]
fn cpus_with_tasks_of_sched_idle_count_as_idle_since_5_4() {
    let found = |rules, woken: u32| {
        let mut system = FakeSystem::new(&SOCKETS);
        let (_, mut policy) = steady_under(rules, &SOCKETS, &[]);
        let app = system.add_app(9, false);
        let mut tasks = system.apps[app.index()].task_ids();
        for cpu in 0..8 {
            let task = tasks.next().unwrap();
            // A task of SCHED_IDLE on cpu 5, ordinary ones elsewhere.
            system.tasks[task.index()].view.weight = if cpu == 5 { WEIGHT_IDLE } else { 1_024 };
            system.enter(&mut policy, task, CpuId(cpu));
        }
        let last = tasks.next().unwrap();
        system.tasks[last.index()].view.weight = woken;
        let wakes = Placement::Wake { waker: CpuId(1), previous: CpuId(1) };
        policy.place(&system, last, wakes).cpu.0
    };
    let all = |rules| [1_024, WEIGHT_IDLE].map(|woken| found(Rules { scan: Scan::All, ..rules }, woken));
    assert_eq!(all(rules("4.18")), [1, 1]);
    assert_eq!(["5.4", "6.18"].map(|release| all(rules(release))), [[5, 5]; 2]);
    assert_eq!(all(Rules { idle_class: IdleClass::IdleForOthers, ..rules("6.18") }), [5, 1]);
}

/// Two clusters of four cores that share a cache.
const CLUSTERS: [(Tree, u32); 4] =
    [(Tree::Package, 1), (Tree::Cache, 1), (Tree::Cluster, 2), (Tree::Core, 4)];

#[test]
fn a_cluster_is_looked_at_before_the_rest_of_the_cache() {
    let found = |release: &str, counts: &[u32], waker: u32, previous: u32| {
        let (mut system, mut policy) = steady_under(rules(release), &CLUSTERS, counts);
        wake(&mut system, &mut policy, waker, previous)
    };
    // The target is cpu 2. Cpus 4 to 7 come before cpu 0 in a round of the cache, not in one of the cluster.
    let busy = [0, 1, 1, 1, 0, 0, 0, 0];
    assert_eq!(["6.6", "6.8", "6.18"].map(|release| found(release, &busy, 2, 2)), [4, 0, 0]);
    // The cluster is full: any cpu of the cache.
    assert_eq!(found("6.8", &[1, 1, 1, 1, 0, 0, 0, 0], 2, 2), 4);
    let without = Rules { clusters: false, ..rules("6.8") };
    let (mut system, mut policy) = steady_under(without, &CLUSTERS, &busy);
    assert_eq!(wake(&mut system, &mut policy, 2, 2), 4);
}

#[test]
fn a_known_cpu_of_another_cluster_comes_last() {
    // The waker on cpu 0 runs alone, cpu 5, where the task was before the last, is idle, as is cpu 3.
    let found = |release: &str, counts: [u32; 8]| {
        let (mut system, mut policy) = steady_under(rules(release), &CLUSTERS, &counts);
        let app = system.add_app(1, false);
        let task = TaskId(system.apps[app.index()].tasks.start);
        policy.task(task).recent = Some(CpuId(5));
        let why = Placement::Wake { waker: CpuId(0), previous: CpuId(0) };
        policy.place(&system, task, why).cpu.0
    };
    assert_eq!(["6.6", "6.8"].map(|release| found(release, [1, 1, 1, 0, 1, 0, 1, 1])), [5, 3]);
    // Without another idle cpu it is taken all the same, also where no cpu is looked at.
    assert_eq!(["6.6", "6.8"].map(|release| found(release, [1, 1, 1, 1, 1, 0, 1, 1])), [5, 5]);
}
