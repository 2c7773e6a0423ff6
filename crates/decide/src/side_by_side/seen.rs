//! What a run shows of its tasks: how long each was runnable without a cpu, and for how long cpus were idle
//! meanwhile.

use sim_core::ids::{CpuId, Id, TaskId};
use sim_core::observe::{LeaveReason, Observation, Observer};
use sim_core::time::{Span, Time};

/// What a task does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Doing {
    /// It does not exist yet, or has ended.
    Absent,
    /// It sleeps.
    Sleeps,
    /// It is runnable and has no cpu.
    Waits,
    /// It has a cpu.
    Runs,
    /// It waits for others by polling, with a cpu or without.
    Polls,
}

/// A task as the run has shown it so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Task {
    doing: Doing,
    since: Time,
    cpu: CpuId,
    seen: SeenTask,
}

/// How long a task was runnable without a cpu.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct SeenTask {
    /// All of it.
    pub(super) waited: Span,
    /// The longest time at once: from and to.
    pub(super) longest: (Time, Time),
    /// The cpu on which it counted at the end of that time.
    pub(super) at: u32,
}

impl SeenTask {
    /// The length of its longest wait.
    pub(super) fn worst(&self) -> Span {
        self.longest.1.since(self.longest.0)
    }
}

/// A task of which every step within a window is kept, and a part of that window in which idle cpus count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Aim {
    pub(super) task: TaskId,
    /// The window, cut into this many equal parts.
    pub(super) window: (Time, Time),
    pub(super) parts: usize,
    /// When idle cpus count.
    pub(super) moment: (Time, Time),
}

/// What an [`Aim`] has found.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Close {
    /// For each part of the window the time for which the task did each thing, by [`Doing`].
    pub(super) parts: Vec<[Span; 5]>,
    /// Time of cpus without a task, in the moment that counts.
    pub(super) idle: Span,
}

/// Watches a run.
#[derive(Debug)]
pub(super) struct Watch {
    tasks: Vec<Task>,
    /// Tasks that run or poll on each cpu.
    busy: Vec<u32>,
    /// Cpus without such a task, and tasks that wait.
    idle: u64,
    waiting: u64,
    now: Time,
    /// What is before does not count.
    from: Time,
    idle_while_waiting: Span,
    aim: Option<(Aim, Close)>,
}

/// What a run has shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Seen {
    /// The tasks by their numbers.
    pub(super) tasks: Vec<SeenTask>,
    /// Time of cpus without a task while as many tasks waited.
    pub(super) idle_while_waiting: Span,
    /// What the aim has found, if there was one.
    pub(super) close: Option<Close>,
}

impl Watch {
    /// For a run with so many cpus and tasks; what is before `from` does not count.
    pub(super) fn new(cpus: u32, tasks: u32, from: Time, aim: Option<Aim>) -> Self {
        let task = Task { doing: Doing::Absent, since: Time::ZERO, cpu: CpuId(0), seen: SeenTask::default() };
        let close = |aim: Aim| {
            let parts = vec![[Span::ZERO; 5]; aim.parts];
            (aim, Close { parts, idle: Span::ZERO })
        };
        Self {
            tasks: vec![task; tasks as usize],
            busy: vec![0; cpus as usize],
            idle: u64::from(cpus),
            waiting: 0,
            now: Time::ZERO,
            from,
            idle_while_waiting: Span::ZERO,
            aim: aim.map(close),
        }
    }

    /// The run is over at this instant.
    pub(super) fn finish(mut self, end: Time) -> Seen {
        self.advance(end);
        for task in 0..self.tasks.len() as u32 {
            self.end(end, TaskId(task));
        }
        let close = self.aim.map(|(_, close)| close);
        let tasks = self.tasks.into_iter().map(|task| task.seen).collect();
        Seen { tasks, idle_while_waiting: self.idle_while_waiting, close }
    }

    /// Time passes; nothing has changed meanwhile.
    fn advance(&mut self, to: Time) {
        let from = std::mem::replace(&mut self.now, to);
        let counted = to.since(from.max(self.from).min(to)).ns();
        let lost = self.idle.min(self.waiting).saturating_mul(counted);
        self.idle_while_waiting = self.idle_while_waiting.saturating_add(Span::from_ns(lost));
        if let Some((aim, close)) = &mut self.aim {
            let idle = common((from, to), aim.moment).ns().saturating_mul(self.idle);
            close.idle = close.idle.saturating_add(Span::from_ns(idle));
        }
    }

    /// What a task has done since it began with that ends at this instant.
    fn end(&mut self, at: Time, task: TaskId) {
        let Some(record) = self.tasks.get_mut(task.index()) else { return };
        if record.doing == Doing::Waits {
            let from = record.since.max(self.from).min(at);
            record.seen.waited = record.seen.waited.saturating_add(at.since(from));
            if at.since(from) > record.seen.worst() {
                (record.seen.longest, record.seen.at) = ((from, at), record.cpu.0);
            }
        }
        if let Some((aim, close)) = self.aim.as_mut().filter(|(aim, _)| aim.task == task) {
            spread(aim, close, (record.since, at), record.doing);
        }
    }

    /// A task does this from now on, on this cpu or in its queue.
    fn set(&mut self, at: Time, task: TaskId, doing: Doing, cpu: CpuId) {
        let Some(before) = self.tasks.get(task.index()).copied() else { return };
        if before.doing != doing {
            self.end(at, task);
        }
        if let Some(record) = self.tasks.get_mut(task.index()) {
            record.since = if before.doing == doing { before.since } else { at };
            (record.doing, record.cpu) = (doing, cpu);
        }
        let holds = |doing: Doing| matches!(doing, Doing::Runs | Doing::Polls);
        if holds(before.doing) {
            self.leaves(before.cpu);
        }
        if holds(doing) {
            self.comes(cpu);
        }
        let waits = |doing: Doing| u64::from(doing == Doing::Waits);
        self.waiting = (self.waiting + waits(doing)).saturating_sub(waits(before.doing));
    }

    fn leaves(&mut self, cpu: CpuId) {
        if let Some(busy) = self.busy.get_mut(cpu.index()) {
            *busy = busy.saturating_sub(1);
            self.idle += u64::from(*busy == 0);
        }
    }

    fn comes(&mut self, cpu: CpuId) {
        if let Some(busy) = self.busy.get_mut(cpu.index()) {
            self.idle = self.idle.saturating_sub(u64::from(*busy == 0));
            *busy += 1;
        }
    }

    /// What a task does, and where.
    fn of(&self, task: TaskId) -> (Doing, CpuId) {
        self.tasks.get(task.index()).map_or((Doing::Absent, CpuId(0)), |task| (task.doing, task.cpu))
    }
}

/// What two stretches of time have in common.
fn common(a: (Time, Time), b: (Time, Time)) -> Span {
    a.1.min(b.1).since(a.0.max(b.0).min(a.1.min(b.1)))
}

/// Adds a stretch in which the task did something to the parts of the window that it lies in.
fn spread(aim: &Aim, close: &mut Close, stretch: (Time, Time), doing: Doing) {
    let (begin, length) = (aim.window.0, u128::from(aim.window.1.since(aim.window.0).ns()));
    let count = aim.parts.max(1) as u128;
    let edge = |part: usize| begin + Span::from_ns((length * part as u128 / count) as u64);
    for (number, part) in close.parts.iter_mut().enumerate() {
        let time = common(stretch, (edge(number), edge(number + 1)));
        if let Some(place) = part.get_mut(doing as usize) {
            *place = place.saturating_add(time);
        }
    }
}

impl Observer for Watch {
    fn observe(&mut self, at: Time, what: &Observation) {
        if at > self.now {
            self.advance(at);
        }
        match *what {
            Observation::Runnable { task, cpu } => {
                // One that polls is moved; one that has a cpu is told of by other facts.
                let doing = match self.of(task).0 {
                    doing @ (Doing::Polls | Doing::Runs) => doing,
                    _ => Doing::Waits,
                };
                self.set(at, task, doing, cpu);
            }
            Observation::Running { task, cpu } => self.set(at, task, Doing::Runs, cpu),
            Observation::Stopping { task, cpu, reason } => {
                let doing = match reason {
                    LeaveReason::Slept => Doing::Sleeps,
                    LeaveReason::Exited => Doing::Absent,
                    LeaveReason::Preempted | LeaveReason::Moved => Doing::Waits,
                    LeaveReason::Waits => Doing::Polls,
                };
                self.set(at, task, doing, cpu);
            }
            Observation::Migrated { task, to, .. } => {
                let (doing, _) = self.of(task);
                if matches!(doing, Doing::Waits | Doing::Polls) {
                    self.set(at, task, doing, to);
                }
            }
            // A new task comes to the barrier of the start without a piece of work before it: it polls there.
            Observation::Arrived { task, .. } => {
                if let (Doing::Waits, cpu) = self.of(task) {
                    self.set(at, task, Doing::Polls, cpu);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn at(ms: u64) -> Time {
        Time::from_ns(ms * MS)
    }

    #[test]
    fn waits_and_idle_cpus_are_counted_from_facts() {
        let (a, b, zero, one) = (TaskId(0), TaskId(1), CpuId(0), CpuId(1));
        let aim = Aim { task: b, window: (at(0), at(20)), parts: 4, moment: (at(2), at(8)) };
        let mut watch = Watch::new(2, 2, Time::ZERO, Some(aim));
        let facts = [
            (0, Observation::Runnable { task: a, cpu: zero }),
            (0, Observation::Running { task: a, cpu: zero }),
            (2, Observation::Runnable { task: b, cpu: zero }),
            // It is moved and goes on waiting; cpu 1 is idle all the time.
            (5, Observation::Migrated { task: b, from: zero, to: one }),
            (5, Observation::Runnable { task: b, cpu: one }),
            (8, Observation::Running { task: b, cpu: one }),
            (10, Observation::Stopping { task: b, cpu: one, reason: LeaveReason::Waits }),
            (12, Observation::Stopping { task: a, cpu: zero, reason: LeaveReason::Slept }),
            (14, Observation::Running { task: b, cpu: one }),
            (15, Observation::Stopping { task: b, cpu: one, reason: LeaveReason::Exited }),
            (16, Observation::Runnable { task: a, cpu: zero }),
        ];
        for (when, fact) in facts {
            watch.observe(at(when), &fact);
        }
        let seen = watch.finish(at(20));
        let [first, second] = [seen.tasks[0], seen.tasks[1]];
        assert_eq!((second.waited, second.longest, second.at), (Span::from_ms(6), (at(2), at(8)), 1));
        // The wait at the end of the run counts.
        assert_eq!((first.waited, first.worst()), (Span::from_ms(4), Span::from_ms(4)));
        // 2 to 8 one cpu, 16 to 20 one of two.
        assert_eq!(seen.idle_while_waiting, Span::from_ms(10));
        let close = seen.close.unwrap();
        assert_eq!(close.idle, Span::from_ms(6));
        let ms = |part: usize, doing: Doing| close.parts[part][doing as usize].ns() / MS;
        assert_eq!([ms(0, Doing::Absent), ms(0, Doing::Waits)], [2, 3]);
        assert_eq!([ms(1, Doing::Waits), ms(1, Doing::Runs)], [3, 2]);
        assert_eq!([ms(2, Doing::Polls), ms(2, Doing::Runs), ms(3, Doing::Absent)], [4, 1, 5]);
    }

    #[test]
    fn what_is_before_a_window_does_not_count() {
        let mut watch = Watch::new(1, 1, at(5), None);
        watch.observe(at(1), &Observation::Runnable { task: TaskId(0), cpu: CpuId(0) });
        let seen = watch.finish(at(9));
        assert_eq!((seen.tasks[0].waited, seen.idle_while_waiting), (Span::from_ms(4), Span::from_ms(4)));
        assert_eq!(seen.tasks[0].longest, (at(5), at(9)));
    }
}
