//! Rounds by hand: expiry, balancing, masks, weights, idle cpus, wake-ups.

use super::*;
use crate::fake::FakeSystem;
use notation::parameter::Values;
use sim_core::policy::{Affinity, Timer};
use sim_core::time::Span;

const MS: u64 = 1_000_000;

/// Two cpus with these numbers of threads, all of them reported.
fn on_two(counts: &[u32]) -> (FakeSystem, Dwrr, Vec<TaskId>) {
    let mut system = FakeSystem::new(&[(Tree::Core, 2)]);
    let setting = Setting { entry: &ENTRY, machine: &system.machine, kernel: &system.kernel, apps: &[] };
    let mut policy = Dwrr::new(&Parameters::from(&Values::defaults(Parameters::TABLE)), &setting);
    let tasks = system.fill(&mut policy, counts);
    (system, policy, tasks)
}

/// Lets threads have used these cpu times at an instant (in ms), and a cpu have its tick.
fn tick(system: &mut FakeSystem, policy: &mut Dwrr, now: u64, used: &[u64], cpu: u32) {
    system.now = Time::from_ns(now * MS);
    for (task, ms) in system.tasks.iter_mut().zip(used) {
        task.cpu_time = Span::from_ms(*ms);
    }
    policy.timer(system, Timer::Tick(CpuId(cpu)));
}

fn priorities(system: &FakeSystem) -> Vec<u8> {
    system.tasks.iter().map(|task| task.priority).collect()
}

fn rounds(policy: &Dwrr) -> [u64; 2] {
    [policy.cpus[CpuId(0)].round, policy.cpus[CpuId(1)].round]
}

#[test]
fn three_on_two_take_turns() {
    let (mut system, mut policy, tasks) = on_two(&[2, 1]);
    // After 100 ms the lone thread has had its slice; it waits, one of the others comes over.
    tick(&mut system, &mut policy, 100, &[50, 50, 100], 1);
    assert_eq!(
        (system.moves.as_slice(), priorities(&system)),
        ([(tasks[1], CpuId(1))].as_slice(), vec![0, 0, 1])
    );
    assert_eq!(rounds(&policy), [1, 1]);
    system.tasks[1].view.state = TaskState::Running;
    system.tasks[2].view.state = TaskState::Queued;
    // 50 ms later the first cpu is through: nothing waits elsewhere that is in this round.
    tick(&mut system, &mut policy, 150, &[100, 50, 100], 0);
    assert_eq!((system.moves.len(), rounds(&policy), priorities(&system)), (1, [2, 1], vec![0, 0, 1]));
    // What was used too much is missing in the next round.
    assert_eq!(policy.known(tasks[0]).due, 200 * MS);
    // The other one ends its round at once when its last active thread sleeps: the expired one is active
    // again.
    system.leave(&mut policy, tasks[1], TaskState::Sleeping);
    policy.dispatch(&mut system, CpuId(1));
    assert_eq!((rounds(&policy), priorities(&system)), ([2, 2], vec![0, 0, 0]));
}

#[test]
fn a_tick_within_the_slice_changes_nothing_and_comes_when_a_slice_can_end() {
    let (mut system, mut policy, _) = on_two(&[2, 1]);
    assert!(system.ticks.iter().all(|(_, at)| at.ns() == 100 * MS), "{:?}", system.ticks);
    tick(&mut system, &mut policy, 100, &[51, 49, 99], 0);
    assert_eq!((priorities(&system), system.moves.len()), (vec![0; 3], 0));
    assert_eq!(system.ticks.last(), Some(&(CpuId(0), Time::from_ns(149 * MS))));
    let ticks = system.ticks.len();
    tick(&mut system, &mut policy, 120, &[100, 20, 120], 0);
    assert_eq!(
        (priorities(&system), system.ticks.len()),
        (vec![0; 3], ticks),
        "a leftover tick runs no check"
    );
}

#[test]
fn bound_threads_are_not_taken_and_slow_cpus_are_pulled_along() {
    let (mut system, mut policy, tasks) = on_two(&[2, 1]);
    system.tasks[0].affinity = Affinity::One(CpuId(0));
    system.tasks[1].affinity = Affinity::One(CpuId(0));
    for round in 1..=5u64 {
        tick(&mut system, &mut policy, 100 * round, &[50 * round, 50 * round, 100 * round], 1);
        assert_eq!(rounds(&policy), [round.max(1), round + 1]);
    }
    assert!(system.moves.is_empty());
    // They keep at most one slice of what they could not use.
    assert_eq!(policy.known(tasks[0]).due, (250 + 2 * 100) * MS);
}

#[test]
fn slices_follow_weights() {
    let (mut system, mut policy, _) = on_two(&[0, 0]);
    let app = system.add_app(1, false);
    assert_eq!(app.0, 1);
    system.tasks[0].view.weight = 3_121;
    system.enter(&mut policy, TaskId(0), CpuId(0));
    assert_eq!(policy.known(TaskId(0)).due, 100 * MS * 3_121 / 1_024);
}

#[test]
fn an_idle_cpu_takes_what_waits_even_for_the_next_round() {
    let (mut system, mut policy, tasks) = on_two(&[2, 1]);
    // The running one of cpu 0 has expired, the other one of its threads runs now.
    tick(&mut system, &mut policy, 100, &[100, 0, 100], 0);
    assert_eq!(priorities(&system), [1, 0, 0]);
    system.tasks[0].view.state = TaskState::Queued;
    system.tasks[1].view.state = TaskState::Running;
    system.leave(&mut policy, tasks[2], TaskState::Exited);
    policy.idle(&mut system, CpuId(1));
    assert_eq!((rounds(&policy), priorities(&system)), ([1, 2], vec![0, 0, 0]));
    assert_eq!(system.moves, [(tasks[0], CpuId(1))]);
    assert!(system.reasons.iter().any(|why| why.rule == TAKEN_EARLY));
}

#[test]
fn at_most_half_of_what_waits_is_taken() {
    let taken = |take: u64| {
        let mut system = FakeSystem::new(&[(Tree::Core, 2)]);
        let mut values = Values::defaults(Parameters::TABLE);
        values.set("take", take).unwrap();
        let setting = Setting { entry: &ENTRY, machine: &system.machine, kernel: &system.kernel, apps: &[] };
        let mut policy = Dwrr::new(&Parameters::from(&values), &setting);
        let tasks = system.fill(&mut policy, &[9, 1]);
        system.leave(&mut policy, tasks[9], TaskState::Exited);
        policy.idle(&mut system, CpuId(1));
        system.counts()
    };
    assert_eq!([taken(1), taken(3), taken(100)], [[8, 1], [6, 3], [5, 4]]);
}

#[test]
fn woken_threads_find_their_round() {
    let (mut system, mut policy, tasks) = on_two(&[1, 1]);
    let wake = |system: &mut FakeSystem, policy: &mut Dwrr| {
        let place =
            policy.select_cpu(system, tasks[1], Placement::Wake { waker: CpuId(0), previous: CpuId(1) }).cpu;
        system.enter(policy, tasks[1], place);
        (place.0, policy.known(tasks[1]).due / MS)
    };
    // It slept within a round: the rest of its slice.
    system.leave(&mut policy, tasks[1], TaskState::Sleeping);
    system.tasks[1].cpu_time = Span::from_ms(30);
    policy.idle(&mut system, CpuId(1));
    assert_eq!(wake(&mut system, &mut policy), (1, 100));
    // It slept while the round ended elsewhere: a full slice of the latest round.
    system.leave(&mut policy, tasks[1], TaskState::Sleeping);
    policy.idle(&mut system, CpuId(1));
    tick(&mut system, &mut policy, 100, &[100, 30], 0);
    assert_eq!(wake(&mut system, &mut policy), (1, 130));
    assert_eq!(rounds(&policy), [2, 2]);
}

#[test]
fn a_woken_thread_gets_a_slice_more_when_its_next_round_has_come() {
    let (mut system, mut policy, tasks) = on_two(&[2, 1]);
    tick(&mut system, &mut policy, 100, &[100, 0, 100], 0);
    system.leave(&mut policy, tasks[0], TaskState::Sleeping);
    // The other thread of the cpu uses its slice up: the round for which the first one waits begins.
    system.tasks[1].view.state = TaskState::Running;
    system.tasks[2].affinity = Affinity::One(CpuId(1));
    tick(&mut system, &mut policy, 200, &[100, 100, 200], 0);
    assert_eq!(rounds(&policy)[0], 2);
    assert_eq!(policy.known(tasks[0]).due, 100 * MS);
    system.enter(&mut policy, tasks[0], CpuId(0));
    assert_eq!(policy.known(tasks[0]).due, 200 * MS);
}
