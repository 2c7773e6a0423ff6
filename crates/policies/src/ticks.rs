//! Timer ticks of the cpus as numbers: balancers of Linux count in ticks (jiffies).

use sim_core::ids::CpuId;
use sim_core::os::OsModel;
use sim_core::time::{Span, Time};

/// The grid of ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ticks {
    period: u64,
    /// Offset of a cpu's ticks from those of the cpu before.
    skew: u64,
}

impl Ticks {
    #[inline]
    pub(crate) fn new(kernel: &OsModel, cpus: u32) -> Self {
        let period = kernel.tick.ns().max(1);
        // `tick_setup_sched_timer` until 2.6.38: half a period, divided by the number of cpus, times the cpu.
        let skew = if kernel.tick_skew { period / 2 / u64::from(cpus.max(1)) } else { 0 };
        Self { period, skew }
    }

    /// The number of ticks of `cpu` up to `now`, inclusive.
    #[inline]
    pub(crate) const fn number(&self, cpu: CpuId, now: Time) -> u64 {
        now.ns().saturating_sub(self.skew * cpu.0 as u64) / self.period
    }

    /// When tick `number` of `cpu` is due.
    #[inline]
    pub(crate) const fn due(&self, cpu: CpuId, number: u64) -> Time {
        Time::from_ns(number.saturating_mul(self.period).saturating_add(self.skew * cpu.0 as u64))
    }

    /// A span in ticks, rounded up, at least 1.
    #[inline]
    pub(crate) fn of(&self, span: Span) -> u64 {
        span.ns().div_ceil(self.period).max(1)
    }
}

/// A step of an average of loads at a tick (`cpu_load[i]`): `(average * (2^i - 1) + load) / 2^i`, rounded
/// towards `load`.
#[inline]
pub(crate) const fn followed(average: u64, load: u64, i: u32) -> u64 {
    let whole = 1u64 << i;
    let rounding = if load > average { whole - 1 } else { 0 };
    (average * (whole - 1) + load + rounding) >> i
}
