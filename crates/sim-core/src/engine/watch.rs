//! Notices for policies that watch waits: waits that begin and end, and cpus whose current task or waits have
//! changed.

use crate::ids::{CpuId, Id, IdVec, TaskId};
use crate::policy::Awaited;

/// A wait that has begun (for what) or ended (none).
type Wait = (TaskId, Option<Awaited>);

/// The list of cpus holds each cpu once, so its capacity suffices even if no policy reads it.
#[derive(Default)]
pub(crate) struct Watch {
    cpus: Vec<CpuId>,
    /// Whether a cpu is in the list. Empty if no policy watches waits.
    noted: Vec<bool>,
    /// Of each task: its wait has been reported to the policy, or is in `waits`. Empty if no policy watches
    /// waits.
    reported: IdVec<TaskId, bool>,
    /// Waits to report to the policy, and how many of them it has received.
    waits: (Vec<Wait>, usize),
}

impl Watch {
    /// A policy watches the waits of so many tasks on so many cpus.
    pub(crate) fn watching(cpus: usize, tasks: usize) -> Self {
        Self {
            cpus: Vec::with_capacity(cpus),
            noted: vec![false; cpus],
            reported: IdVec::filled(tasks, false),
            waits: (Vec::new(), 0),
        }
    }

    /// True if a policy watches waits.
    #[inline]
    pub(crate) const fn is_watching(&self) -> bool {
        !self.noted.is_empty()
    }

    /// The current task of a cpu has changed, or its waits have.
    #[inline]
    pub(crate) fn note(&mut self, cpu: CpuId) {
        if let Some(noted) = self.noted.get_mut(cpu.index())
            && !std::mem::replace(noted, true)
        {
            self.cpus.push(cpu);
        }
    }

    /// Empties the list of cpus.
    pub(crate) fn take(&mut self, found: &mut dyn FnMut(CpuId)) {
        for cpu in self.cpus.drain(..) {
            self.noted[cpu.index()] = false;
            found(cpu);
        }
    }

    /// A task begins to wait for what is not known to come.
    #[inline]
    pub(crate) fn wait_begins(&mut self, task: TaskId, what: impl FnOnce() -> Awaited) {
        if self.is_watching() && !std::mem::replace(&mut self.reported[task], true) {
            self.waits.0.push((task, Some(what())));
        }
    }

    /// A task waits no more.
    #[inline]
    pub(crate) fn wait_ends(&mut self, task: TaskId) {
        if self.is_watching() && std::mem::replace(&mut self.reported[task], false) {
            self.waits.0.push((task, None));
        }
    }

    /// Whether a wait is still to be reported to the policy.
    #[inline]
    pub(crate) const fn has_waits(&self) -> bool {
        !self.waits.0.is_empty()
    }

    /// The next wait to report to the policy.
    pub(crate) fn next_wait(&mut self) -> Option<Wait> {
        let next = self.waits.0.get(self.waits.1).copied();
        self.waits.1 += 1;
        if next.is_none() {
            self.waits.0.clear();
            self.waits.1 = 0;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cpu_is_reported_once_and_again_after_it_was_taken() {
        let mut watch = Watch::watching(4, 2);
        let taken = |watch: &mut Watch| {
            let mut all = Vec::new();
            watch.take(&mut |cpu| all.push(cpu.0));
            all
        };
        [2, 0, 2].into_iter().for_each(|cpu| watch.note(CpuId(cpu)));
        assert_eq!(taken(&mut watch), [2, 0]);
        assert_eq!(taken(&mut watch), []);
        watch.note(CpuId(2));
        assert_eq!(taken(&mut watch), [2]);
        let mut unwatched = Watch::default();
        unwatched.note(CpuId(1));
        assert_eq!(taken(&mut unwatched), []);
    }

    #[test]
    fn the_end_of_a_wait_is_reported_if_its_begin_was() {
        let mut watch = Watch::watching(1, 2);
        let [one, other] = [0, 1].map(TaskId);
        watch.wait_begins(one, || Awaited::Lock);
        watch.wait_begins(one, || Awaited::Neighbour);
        watch.wait_ends(one);
        watch.wait_ends(one);
        watch.wait_ends(other);
        let reported: Vec<_> = std::iter::from_fn(|| watch.next_wait()).collect();
        assert_eq!(reported, [(one, Some(Awaited::Lock)), (one, None)]);
        assert!(!watch.has_waits() && watch.next_wait().is_none());
        let mut unwatched = Watch::default();
        unwatched.wait_begins(one, || Awaited::Lock);
        assert!(!unwatched.has_waits() && !unwatched.is_watching());
    }
}
