//! The last prediction for a cpu is kept: when it comes true, what has happened up to then is computed
//! already.

use crate::engine::polling::Look;
use crate::engine::polling::members::Members;
use crate::engine::shared::Shared;
use crate::engine::state::Cpu;
use crate::ids::CpuId;
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
    /// Predictions for `cpus` cpus, whose tasks poll in these ways.
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
            self.of(record.id).members.run(shared, record, limit);
        }
        self.of(record.id).store(shared, record);
    }

    /// What was predicted is what is computed now.
    #[cfg(debug_assertions)]
    fn check(&mut self, shared: &Shared, record: &Cpu, limit: Time) {
        self.again.members.run(shared, record, limit);
        let mask = self.kept.len() - 1;
        let (kept, again) = (&self.kept[record.id.0 as usize & mask], &self.again);
        let same = kept.members.ends_like(&again.members);
        assert!(same, "{} has changed since a prediction", record.id);
    }
}

/// The polling of a cpu up to a predicted instant.
pub(crate) struct Prediction {
    cpu: CpuId,
    /// The instant; nothing else has happened on the cpu since. It is never where nothing is kept.
    due: Time,
    members: Members,
}

impl Prediction {
    fn new(looks: &[Look]) -> Self {
        Self { cpu: CpuId(0), due: Time::NEVER, members: Members::new(looks) }
    }

    /// Another instant is armed, or none.
    #[inline]
    pub(crate) fn forget(&mut self) {
        self.due = Time::NEVER;
    }

    /// When polling on a cpu next causes something.
    pub(crate) fn predict(&mut self, shared: &Shared, record: &Cpu) -> Time {
        (self.cpu, self.due) = (record.id, self.members.run(shared, record, Time::NEVER));
        self.due
    }

    fn is_for(&self, cpu: CpuId, due: Time) -> bool {
        (self.cpu, self.due) == (cpu, due)
    }

    /// Writes what has happened back to the cpu.
    fn store(&mut self, shared: &mut Shared, record: &mut Cpu) {
        self.due = Time::NEVER;
        self.members.store(shared, record);
    }
}
