//! Decayed averages of the reference engine.

use sim_core::decay::{PERIOD_NS, approached};

/// Something on its way to `aim`, with the area under its aims in the period that began last.
#[derive(Clone, Copy, Default)]
pub(super) struct Track {
    pub(super) level: u64,
    pub(super) aim: u64,
    pub(super) area: u64,
    pub(super) at: u64,
    pub(super) stopped: bool,
}

impl Track {
    /// Its clock comes to an instant.
    pub(super) fn to(mut self, now: u64) -> Self {
        if self.stopped || now <= self.at {
            return self;
        }
        let (first, last) = (self.at / PERIOD_NS, now / PERIOD_NS);
        if last > first {
            // The period that ends first has seen several aims, the others one.
            self.area += self.aim * ((first + 1) * PERIOD_NS - self.at);
            self.level = approached(self.level, self.area / PERIOD_NS, 1);
            self.level = approached(self.level, self.aim, last - first - 1);
            (self.area, self.at) = (0, last * PERIOD_NS);
        }
        self.area += self.aim * (now - self.at);
        self.at = now;
        self
    }

    pub(super) fn aims(self, now: u64, aim: u64) -> Self {
        // The period in which its clock goes on has been like its level so far.
        let area = self.level * (now % PERIOD_NS);
        let begun = if self.stopped { Self { stopped: false, at: now, area, ..self } } else { self.to(now) };
        Self { aim, ..begun }
    }

    pub(super) fn stops(self, now: u64) -> Self {
        Self { stopped: true, aim: 0, ..self.to(now) }
    }

    pub(super) fn changed(self, now: u64, plus: u64, minus: u64) -> Self {
        let then = self.to(now);
        Self { level: (then.level + plus).saturating_sub(minus), ..then }
    }
}

/// The averages of a group on a cpu, or of the queue of a cpu.
#[derive(Clone, Copy, Default)]
pub(super) struct Tracks {
    pub(super) part: Track,
    pub(super) queue: Track,
    /// What the cpu says it has of the group's load, and since when it says so.
    pub(super) said: u64,
    pub(super) since: u64,
}

/// The group on all cpus: what the busy ones say, and what is left of what the others said.
#[derive(Clone, Copy, Default)]
pub(super) struct Total {
    pub(super) busy: u64,
    pub(super) rest: Track,
}
