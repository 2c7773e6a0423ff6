//! What a policy that orders the queues does to cpus and slices, and what it is told.

use super::*;
use crate::policy::{Enqueue, Kick, Order, QueueEntry, TaskChange};

/// Puts created tasks behind each other on cpu 0 with a slice of 10 ms; holds those that are in `holds`, and
/// dispatches them to the cpu that asks. Acts at given instants, and notes what it is told.
#[derive(Default)]
struct Orders {
    acts: Vec<(u64, Act)>,
    holds: Vec<TaskId>,
    held: Vec<TaskId>,
    asked: Vec<(u64, u32)>,
    changed: Vec<(u32, TaskChange)>,
}

const SLICE: Span = Span::from_ms(10);

impl Policy for Orders {
    fn init(&mut self, system: &mut dyn System) {
        for (at, (ns, _)) in self.acts.iter().enumerate() {
            system.at(Time::from_ns(*ns), Timer::Token(at as u64));
        }
    }
    fn order(&self) -> Order {
        Order::Policy
    }
    fn select_cpu(&mut self, _: &dyn View, _: TaskId, _: Placement) -> CpuChoice {
        CpuId(0).into()
    }
    fn enqueue(&mut self, _: &mut dyn System, task: TaskId, _: CpuId, why: Enqueue) -> Option<QueueEntry> {
        if why == Enqueue::Created && self.holds.contains(&task) {
            self.held.push(task);
            return None;
        }
        Some(QueueEntry::new(i64::from(why != Enqueue::Created), SLICE))
    }
    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        self.asked.push((system.now().ns(), cpu.0));
        // The first millisecond belongs to the cpu that was asked for.
        if cpu.0 > 0
            && let Some(task) = self.held.pop()
        {
            system.dispatch(task, cpu, QueueEntry::new(0, SLICE), Why::NONE);
        }
    }
    fn changed(&mut self, _: &mut dyn System, task: TaskId, what: TaskChange) {
        self.changed.push((task.0, what));
    }
    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        if let Timer::Token(at) = timer {
            self.acts[at as usize].1(system);
        }
    }
    fn counters(&self) -> Vec<(String, u64)> {
        vec![("asked".into(), self.asked.len() as u64)]
    }
}

/// Tasks that compute for 6 ms each on two cpus.
fn run(tasks: u32, mut policy: Orders) -> (RunReport, Log, Orders) {
    let rig = Rig::of(2).app(app(tasks, WaitMode::Block, vec![compute(6 * MS)]));
    let mut log = Log::default();
    let (machine, model) = (Arc::new(rig.machine), Arc::new(rig.model));
    let simulation = Simulation::new(machine, model, rig.apps, rig.options).unwrap();
    let report = simulation.run(&mut policy, &mut log);
    (report, log, policy)
}

/// When a task first had a cpu.
fn began(log: &Log, task: u32) -> Option<u64> {
    log.began.iter().find(|(_, id)| *id == task).map(|(at, _)| *at)
}

#[test]
fn an_idle_cpu_that_is_kicked_asks_for_a_task() {
    let kick: Act = |system| assert!(system.kick(CpuId(1), Kick::Idle));
    let policy = Orders { acts: vec![(2 * MS, kick)], holds: vec![TaskId(1)], ..Orders::default() };
    let (report, log, policy) = run(2, policy);
    assert!(policy.asked.contains(&(2 * MS, 1)), "{:?}", policy.asked);
    assert_eq!((began(&log, 1), report.makespan.ns()), (Some(2 * MS), 8 * MS));
    assert_eq!(report.policy_counters, [("asked".to_owned(), policy.asked.len() as u64)]);
    assert_eq!(report.corrections, 0);
}

#[test]
fn a_busy_cpu_is_left_alone_unless_its_slice_is_to_end() {
    let kicks: [Act; 2] = [
        |system| assert!(!system.kick(CpuId(0), Kick::Idle)),
        |system| {
            assert!(system.kick(CpuId(0), Kick::Preempt));
        },
    ];
    for (kick, second) in kicks.into_iter().zip([6 * MS, 2 * MS]) {
        let (report, log, _) = run(2, Orders { acts: vec![(2 * MS, kick)], ..Orders::default() });
        assert_eq!((began(&log, 1), report.makespan.ns()), (Some(second), 12 * MS));
    }
}

#[test]
fn a_slice_that_is_cut_ends_at_the_next_tick() {
    // The tick is 1 ms.
    let acts: [Act; 3] = [
        |system| assert!(system.set_slice(TaskId(0), Span::ZERO, Why::NONE)),
        |system| assert!(system.set_slice(TaskId(0), Span::from_us(1_600), Why::NONE)),
        // It waits, and has not begun.
        |system| assert!(system.set_slice(TaskId(1), Span::from_ms(1), Why::NONE)),
    ];
    let at = 2 * MS + 300 * US;
    for (act, (first, again)) in acts.into_iter().zip([(3, None), (4, None), (6, Some(0))]) {
        let (_, log, _) = run(2, Orders { acts: vec![(at, act)], ..Orders::default() });
        assert_eq!(began(&log, 1), Some(first * MS), "{:?}", log.began);
        let returns = log.began.iter().filter(|(_, task)| *task == 1).count() - 1;
        assert_eq!(returns, again.unwrap_or(returns), "nobody waits behind the second one");
    }
}

#[test]
fn slices_and_kicks_of_what_does_not_exist_are_refused() {
    let act: Act = |system| {
        assert!(!system.kick(CpuId(2), Kick::Preempt));
        assert!(!system.set_slice(TaskId(7), SLICE, Why::NONE));
    };
    let (report, ..) = run(1, Orders { acts: vec![(MS, act)], ..Orders::default() });
    assert_eq!(report.corrections, 2);
    // The operating system orders the queues: it has slices of its own.
    let rig = Rig::of(1).app(app(1, WaitMode::Block, vec![compute(2 * MS)]));
    let (report, _) = rig
        .at(MS, |system| {
            assert!(!system.kick(CpuId(0), Kick::Preempt));
            assert!(!system.set_slice(TaskId(0), SLICE, Why::NONE));
        })
        .run();
    assert_eq!((report.corrections, report.makespan.ns()), (2, 2 * MS));
}

#[test]
fn the_policy_is_told_of_another_mask() {
    let act: Act = |system| {
        assert!(system.set_affinity(TaskId(1), Affinity::One(CpuId(1)), Why::NONE));
    };
    let policy = Orders { acts: vec![(MS, act)], holds: vec![TaskId(1)], ..Orders::default() };
    let (_, log, policy) = run(2, policy);
    assert_eq!(policy.changed, [(1, TaskChange::Affinity)]);
    // It is held on a cpu that it may use, and that cpu asks.
    assert_eq!(began(&log, 1), Some(MS));
}

#[test]
fn a_policy_can_end_the_run() {
    let acts: [Act; 2] =
        [|system| system.fail("task 0 has waited too long".into()), |system| system.fail("later".into())];
    let acts = acts.into_iter().zip([MS, 2 * MS]).map(|(act, at)| (at, act)).collect();
    let (report, ..) = run(1, Orders { acts, ..Orders::default() });
    assert_eq!(report.outcome, Outcome::Failed("task 0 has waited too long".into()));
    assert_eq!(report.makespan.ns(), MS);
}
