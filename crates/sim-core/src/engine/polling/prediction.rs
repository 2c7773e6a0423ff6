//! The last prediction for a cpu is kept: when it comes true, what has happened up to then is computed
//! already.

use crate::account::Category;
use crate::engine::polling::Look;
use crate::engine::polling::members::Members;
use crate::engine::polling::queue_copy::{self, QueueCopy};
use crate::engine::shared::Shared;
use crate::engine::state::{Cpu, Prices};
use crate::ids::{CpuId, TaskId};
use crate::policy::TaskState;
#[cfg(debug_assertions)]
use crate::run_queue::Picks;
use crate::run_queue::{self, Tasks};
use crate::time::Time;

/// Predictions kept at most, a power of two: those of more cpus than these replace each other.
const KEPT: usize = 256;

/// The predictions of the cpus.
pub(crate) struct Predictions {
    kept: Vec<Prediction>,
    /// Where one is computed again when it has come true.
    #[cfg(debug_assertions)]
    again: Prediction,
}

impl Predictions {
    /// Those of this number of cpus, whose tasks poll in these ways.
    pub(crate) fn new(cpus: usize, looks: &[Look]) -> Self {
        let kept = cpus.next_power_of_two().min(KEPT);
        Self {
            kept: (0..kept).map(|_| Prediction::new(looks)).collect(),
            #[cfg(debug_assertions)]
            again: Prediction::new(looks),
        }
    }

    /// That of a cpu.
    #[inline]
    pub(crate) fn of(&mut self, cpu: CpuId) -> &mut Prediction {
        let mask = self.kept.len() - 1;
        &mut self.kept[cpu.0 as usize & mask]
    }

    /// Does all cycles of a cpu that end before `limit`.
    ///
    /// Where the predicted instant has come, they are computed already: what has happened since then on the
    /// cpu was followed by another prediction, and no wait ends before this instant.
    pub(crate) fn settle(&mut self, shared: &mut Shared, record: &mut Cpu, limit: Time) {
        if self.of(record.id).is_for(record.id, limit) {
            #[cfg(debug_assertions)]
            self.check(shared, record, limit);
        } else {
            self.of(record.id).run(shared, record, limit);
        }
        self.of(record.id).store(shared, record);
    }

    /// What was predicted is what is computed now.
    #[cfg(debug_assertions)]
    fn check(&mut self, shared: &Shared, record: &Cpu, limit: Time) {
        self.again.run(shared, record, limit);
        let mask = self.kept.len() - 1;
        let (kept, again) = (&self.kept[record.id.0 as usize & mask], &self.again);
        let same = match (kept.on_members, again.on_members) {
            (true, true) => kept.members.ends_like(&again.members),
            (false, false) => kept.copy.ends_like(&again.copy),
            _ => false,
        };
        assert!(same, "{} has changed since a prediction", record.id);
        // Copies know nothing of limits of task groups, and do not skip anything where there are groups.
        let limited = shared.model.groups.iter().any(|group| group.limit.is_some());
        let short = kept.members.cycles() < 1_000;
        if kept.on_members && !limited && short && matches!(shared.picks, Some(Picks::ByDeadline(_))) {
            self.again.run_copy(shared, record, limit);
            let mine = &self.kept[record.id.0 as usize & mask].members;
            assert!(mine.ends_like_copy(&self.again.copy), "{} polls in another way on a copy", record.id);
        }
    }
}

/// The polling of a cpu up to a predicted instant.
pub(crate) struct Prediction {
    cpu: CpuId,
    /// The instant; nothing else has happened on the cpu since. It is never where nothing is kept.
    due: Time,
    /// It was computed by `members`, else by `copy`.
    on_members: bool,
    members: Members,
    copy: QueueCopy,
}

impl Prediction {
    fn new(looks: &[Look]) -> Self {
        let (members, copy) = (Members::new(looks), QueueCopy::new(looks));
        Self { cpu: CpuId(0), due: Time::NEVER, on_members: false, members, copy }
    }

    /// Another instant is armed, or none.
    #[inline]
    pub(crate) fn forget(&mut self) {
        self.due = Time::NEVER;
    }

    /// When polling on a cpu next causes something.
    pub(crate) fn predict(&mut self, shared: &Shared, record: &Cpu) -> Time {
        (self.cpu, self.due) = (record.id, self.run(shared, record, Time::NEVER));
        self.due
    }

    fn is_for(&self, cpu: CpuId, due: Time) -> bool {
        (self.cpu, self.due) == (cpu, due)
    }

    fn run(&mut self, shared: &Shared, record: &Cpu, limit: Time) -> Time {
        let due = self.members.run(shared, record, limit);
        self.on_members = due.is_some();
        if let Some(due) = due {
            return due;
        }
        self.run_copy(shared, record, limit)
    }

    fn run_copy(&mut self, shared: &Shared, record: &Cpu, limit: Time) -> Time {
        let how = (Prices::of(&shared.machine.costs), shared.directed);
        self.copy.load(record, &shared.tasks, &shared.apps, how);
        shared.model.discipline.run_polling(&mut self.copy, limit)
    }

    /// Writes what has happened back to the cpu.
    fn store(&mut self, shared: &mut Shared, record: &mut Cpu) {
        self.due = Time::NEVER;
        if self.on_members {
            self.members.store(shared, record);
        } else {
            store(&self.copy, shared, record);
        }
    }
}

/// Writes what has happened on a copy back to the cpu.
fn store(copy: &QueueCopy, shared: &mut Shared, record: &mut Cpu) {
    if copy.cycles == 0 {
        return;
    }
    for category in [Category::Spin, Category::LockWait] {
        record.account.add(category, copy.polling(category));
    }
    record.account.add(Category::Yield, copy.prices.call * copy.cycles);
    record.pay_all();
    // The last switch is still pending when its dispatch has not completed a cycle.
    record.account.add(Category::Switch, copy.switching - copy.overhead);
    record.poll_on(copy.cpu.since, copy.cpu.charged, copy.overhead, (copy.cycles, copy.switches));
    record.min_vruntime = copy.cpu.min_vruntime;
    record.set_expired_since(copy.cpu.rare.expired_since);
    for (done, member) in copy.done.iter().zip(copy.tasks.iter()) {
        let task = &mut shared.tasks[done.task];
        task.vruntime = member.vruntime;
        if let Some(history) = task.history.written() {
            history.vdeadline = member.history.vdeadline;
            history.protection = member.history.protection;
            history.chosen = member.history.chosen;
            history.share = member.history.share;
        }
        // Task groups count no cycles.
        if done.cycles == 0 {
            continue;
        }
        shared.has_polled(done.task, (member.cpu_time, member.last_ran), (done.cycles, done.switches));
    }
    if copy.switches > 0 {
        record.last_process = queue_copy::last_process(copy, &shared.tasks);
        relink(&mut shared.tasks, record, copy);
    }
}

/// Brings a queue into the order of its copy.
fn relink(tasks: &mut Tasks, record: &mut Cpu, copy: &QueueCopy) {
    let task_of = |id: TaskId| copy.done[id.0 as usize].task;
    let mut previous = TaskId::NONE;
    for id in copy.queue().map(task_of) {
        tasks[id].state = TaskState::Queued;
        run_queue::link(tasks, record, previous, id);
        previous = id;
    }
    run_queue::link(tasks, record, previous, TaskId::NONE);
    run_queue::sum_waiting(tasks, record);
    record.current = task_of(copy.cpu.current);
    let current = &mut tasks[record.current];
    current.state = TaskState::Running;
    (current.previous, current.next) = (TaskId::NONE, TaskId::NONE);
}
