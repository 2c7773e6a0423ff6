//! What the policy is notified of: entries and exits of queues, waits, preemptions.

use crate::engine::{Change, Engine};
use crate::ids::CpuId;
use crate::policy::{Policy, TaskState};

/// Notices for which room is kept.
const NOTICES: usize = 4_096;

impl Engine<'_> {
    /// Notifies the policy of entries and exits since the last time.
    #[inline]
    pub(super) fn notify(&mut self, policy: &mut dyn Policy) {
        if !self.notices.is_empty() {
            self.notify_runnable(policy);
        }
    }

    fn notify_runnable(&mut self, policy: &mut dyn Policy) {
        let mut notified = 0;
        while let Some((task, cpu, change)) = self.notices.get(notified).copied() {
            notified += 1;
            match change {
                Change::Entered => policy.runnable(self, task, cpu),
                Change::Left => policy.quiescent(self, task, cpu),
                Change::Dequeued => policy.dequeued(self, task, cpu),
                Change::Stopped => policy.stopping(self, task, cpu),
                Change::Overtaken => self.requeue_overtaken(task, cpu, policy),
                Change::Task(what) => policy.changed(self, task, what),
                Change::Crowded => self.push_real_time(cpu),
                Change::Lowered(rank) => self.pull_real_time(cpu, rank),
            }
        }
        self.notices.clear();
        // When an application begins, there may be as many as it has tasks; later, most rounds have few.
        self.notices.shrink_to(NOTICES);
    }

    /// Notifies the policy of each wait that has begun or ended, and of what its reaction causes before the
    /// next one.
    pub(super) fn notify_waits(&mut self, policy: &mut dyn Policy) {
        while let Some((task, what)) = self.shared.watch.next_wait() {
            match what {
                Some(what) => policy.waits(self, task, what),
                None => policy.proceeds(self, task),
            }
            self.notify(policy);
        }
    }

    /// Notifies the policy of each task that still waits where it lost its cpu.
    pub(super) fn notify_preemptions(&mut self, policy: &mut dyn Policy) {
        for (task, cpu, why) in std::mem::take(&mut self.preempted) {
            // A yield that ends at this instant may have given it the cpu.
            self.settle(cpu);
            let record = &self.shared.tasks[task];
            if record.state == TaskState::Queued && record.cpu == cpu {
                self.refresh_priorities();
                policy.preempted(self, task, cpu, why);
                self.notify(policy);
            }
        }
    }

    /// Notifies the policy of each task that is not on the node that it prefers; then the pass over its pages
    /// comes.
    pub(super) fn notify_misplaced(&mut self, policy: &mut dyn Policy) {
        for task in std::mem::take(&mut self.shared.misplaced) {
            if !self.shared.scans[task].waits() {
                continue;
            }
            if matches!(self.shared.tasks[task].state, TaskState::Queued | TaskState::Running) {
                policy.misplaced(self, task);
                self.notify(policy);
            }
            let cpu = self.shared.tasks[task].cpu;
            self.shared.scans[task].answer(self.shared.segments.memory.node(cpu));
            self.shared.rounds.mark(cpu);
        }
    }

    /// Charges all cpus up to now, so that the policy observes current priorities.
    pub(crate) fn refresh_priorities(&mut self) {
        if self.watches_preemptions {
            for cpu in 0..self.cpus.len() {
                self.catch_up(CpuId(cpu as u32));
            }
        }
    }
}
