//! The timer that ends requests (`hrtick`).

use super::Reference;
use super::records::Ent;
use super::state::{Activity, Later};

impl Reference<'_> {
    /// The timer that ends requests comes to a cpu.
    pub(super) fn end_request(&mut self, c: usize) {
        if self.eevdf().is_some() {
            self.charge(c);
            if self.cpus[c].later == Some(Later::UsedUp) {
                self.return_to_user(c);
            }
            self.cpus[c].slice_over |= self.cpus[c].resched;
        }
    }

    /// The request of the current task ends, as it was last brought up to date.
    pub(super) fn request_end(&self, c: usize) -> u64 {
        let computes = matches!(self.cpus[c].activity, Activity::Compute | Activity::Spin);
        match (self.fair_current(c), self.eevdf()) {
            (Some(t), Some(_)) if computes && self.cpus[c].timed => {
                let keys = self.keys(c, Ent::Task(t));
                let mut ns = (keys.deadline - keys.v).max(0) as u64;
                if keys.weight != 1024 {
                    ns = (u128::from(ns) * u128::from(keys.weight)).div_ceil(1024) as u64;
                }
                let end = self.cpus[c].charged.saturating_add(ns);
                end.saturating_add(self.lateness(c, end))
            }
            _ => u64::MAX,
        }
    }
}
