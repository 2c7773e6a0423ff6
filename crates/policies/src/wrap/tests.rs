//! The wrappers by hand: what is late, what never happens, and what a replay makes of a record.

use notation::parameter::Values;
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::machine::Level;
use sim_core::policy::{Affinity, CpuChoice, Placement, Policy, System, Timer, View, Why};
use sim_core::time::{Span, Time};

use super::{Perturbation, Perturbed, Recorder, Replayer, Tally};
use crate::fake::FakeSystem;

const FOUR: &[(Level, u32)] = &[(Level::Core, 4)];

/// On every timer moves task 0 to the cpu of the token and puts it into priority 1; new tasks go to cpu 3.
struct Pusher;

impl Policy for Pusher {
    fn select_cpu(&mut self, _: &dyn View, _: TaskId, _: Placement) -> CpuChoice {
        CpuId(3).into()
    }
    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        let Timer::Token(token) = timer else { return };
        system.charge(CpuId(0), Span::from_us(5), true);
        system.migrate(TaskId(0), CpuId(token as u32), Why::NONE);
        system.set_priority(TaskId(0), 1, Why::NONE);
    }
}

fn perturbed(settings: &[(&str, u64)]) -> Perturbed {
    let mut values = Values::defaults(Perturbation::TABLE);
    settings.iter().for_each(|(name, value)| values.set(name, *value).unwrap());
    Perturbed::new(Box::new(Pusher), &values, 0)
}

/// One task on cpu 0.
fn system(policy: &mut dyn Policy) -> FakeSystem {
    let mut system = FakeSystem::new(FOUR);
    system.add_app(1, false);
    policy.init(&mut system);
    system.enter(policy, TaskId(0), CpuId(0));
    system
}

/// Calls all timers that are due by `now`.
fn advance(system: &mut FakeSystem, policy: &mut dyn Policy, now: u64) {
    system.now = Time::from_ns(now);
    let (due, later): (Vec<_>, Vec<_>) = system.timers.drain(..).partition(|(at, _)| at.ns() <= now);
    system.timers = later;
    due.into_iter().for_each(|(_, token)| policy.timer(system, Timer::Token(token)));
}

#[test]
fn a_late_decision_happens_at_its_time_and_a_price_at_once() {
    let mut policy = perturbed(&[("delay", 2_000)]);
    let mut system = system(&mut policy);
    policy.timer(&mut system, Timer::Token(1));
    assert_eq!((system.moves.len(), system.tasks[0].priority, system.charges.len()), (0, 0, 1));
    advance(&mut system, &mut policy, 1_999);
    assert_eq!(system.moves.len(), 0);
    advance(&mut system, &mut policy, 2_000);
    assert_eq!(system.moves, [(TaskId(0), CpuId(1))]);
    assert_eq!(system.tasks[0].priority, 1);
}

#[test]
fn what_is_no_longer_legal_does_not_happen() {
    let mut policy = perturbed(&[("delay", 2_000)]);
    let mut system = system(&mut policy);
    policy.timer(&mut system, Timer::Token(1));
    system.tasks[0].affinity = Affinity::One(CpuId(0));
    advance(&mut system, &mut policy, 2_000);
    assert_eq!((system.moves.len(), system.tasks[0].priority), (0, 1));
    // Nor is it asked for: the policy is notified at once.
    policy.timer(&mut system, Timer::Token(2));
    assert_eq!(system.timers.len(), 1, "the priority level only");
}

#[test]
fn what_concerns_one_task_keeps_its_order() {
    let mut policy = perturbed(&[("delay", 1_000), ("jitter", 1_000_000)]);
    let mut system = system(&mut policy);
    for token in [1, 2, 3, 1, 2, 3] {
        policy.timer(&mut system, Timer::Token(token));
    }
    assert!(system.timers.is_sorted(), "{:?}", system.timers);
    advance(&mut system, &mut policy, 1_001_000);
    let to: Vec<u32> = system.moves.iter().map(|(_, cpu)| cpu.0).collect();
    assert_eq!(to, [1, 2, 3, 1, 2, 3]);
}

#[test]
fn a_veto_drops_moves_and_placements_but_no_bands() {
    let mut policy = perturbed(&[("veto", 10_000)]);
    let mut system = system(&mut policy);
    policy.timer(&mut system, Timer::Token(1));
    assert_eq!((system.moves.len(), system.tasks[0].priority), (0, 1));
    let woken = Placement::Wake { waker: CpuId(1), previous: CpuId(2) };
    assert_eq!(policy.select_cpu(&system, TaskId(0), woken).cpu, CpuId(2), "where it was");
    let mut created = [0; 4];
    for _ in 0..400 {
        created
            [policy.select_cpu(&system, TaskId(0), Placement::Fork { parent: CpuId(0) }).cpu.0 as usize] += 1;
    }
    assert!(created.iter().all(|count| (60..140).contains(count)), "anywhere: {created:?}");
}

#[test]
fn a_share_is_vetoed() {
    let mut policy = perturbed(&[("veto", 2_500)]);
    let mut system = system(&mut policy);
    for n in 0..400 {
        policy.timer(&mut system, Timer::Token(1 + n % 2));
    }
    // A vetoed move leaves the task where the next one sends it or not: of the legal ones a quarter is
    // dropped.
    assert!((180..=320).contains(&system.moves.len()), "{}", system.moves.len());
}

#[test]
fn a_replay_asks_at_the_same_calls_and_counts_what_it_cannot() {
    let mut recorder = Recorder::new(Box::new(Pusher));
    let mut first = system(&mut recorder);
    for token in [1, 2, 2] {
        recorder.timer(&mut first, Timer::Token(token));
    }
    let woken = Placement::Wake { waker: CpuId(0), previous: CpuId(0) };
    recorder.select_cpu(&first, TaskId(0), woken);
    recorder.app_exited(&mut first, AppId(0));
    let schedule = recorder.into_schedule(first.now).unwrap();
    // Calls in which nothing was asked for are no part of it.
    let asked: Vec<usize> = schedule.calls.iter().map(|call| call.asked.len()).collect();
    assert_eq!(asked, [3, 3, 3, 0]);

    let mut replayer = Replayer::new(&schedule);
    let mut second = system(&mut replayer);
    second.tasks[0].affinity = Affinity::One(CpuId(2));
    replayer.timer(&mut second, Timer::Token(9));
    replayer.timer(&mut second, Timer::Token(1));
    replayer.timer(&mut second, Timer::Token(2));
    assert_eq!(second.moves, [(TaskId(0), CpuId(2))], "cpu 1 is forbidden");
    assert_eq!(second.charges.len(), 2);
    assert_eq!(
        replayer.select_cpu(&second, TaskId(0), woken).cpu,
        CpuId(2),
        "cpu 3 and the one it was on are forbidden"
    );
    assert_eq!(replayer.select_cpu(&second, TaskId(0), woken).cpu, CpuId(2));
    // Priority levels of the first two timers and one move; a move and a placement are illegal; the third
    // timer never came.
    assert_eq!(replayer.tally(), Tally { applied: 3, illegal: 2, unreached: 2, unforeseen: 1 });
}

#[test]
fn a_replay_places_tasks_as_recorded_where_that_is_legal() {
    let mut recorder = Recorder::new(Box::new(Pusher));
    let first = system(&mut recorder);
    let created = Placement::Fork { parent: CpuId(0) };
    assert_eq!(recorder.select_cpu(&first, TaskId(0), created).cpu, CpuId(3));
    let schedule = recorder.into_schedule(first.now).unwrap();
    let place = |levels| {
        let mut replayer = Replayer::new(&schedule);
        let mut system = FakeSystem::new(levels);
        system.add_app(1, false);
        replayer.init(&mut system);
        (replayer.select_cpu(&system, TaskId(0), created).cpu.0, replayer.tally())
    };
    assert_eq!(place(FOUR), (3, Tally { applied: 1, ..Tally::default() }));
    assert_eq!(place(&[(Level::Core, 3)]), (0, Tally { illegal: 1, ..Tally::default() }));
}
