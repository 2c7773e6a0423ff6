//! The rules of the real-time class of Linux, each a key of `kernel:`, and the rows of the releases.
//!
//! Source: kernel/sched/rt.c and core.c of 5.10, 6.1 and 6.8; kernel/sched/deadline.c of 6.12 and 6.18.

use notation::declare::Duration;
use notation::declare::amount::ms;
use notation::parameter::{Parameter, Values, changed};
use notation::parameters;
use sim_core::os::RealTimeRules;
use sim_core::time::Span;

parameters! {
    /// The rules of the real-time class; the defaults are those of 2.6.25 to 6.11.
    pub(super) struct ClassRules {
        /// How long a task of SCHED_RR runs before its equals have a turn (RR_TIMESLICE,
        /// sched_rr_timeslice_ms).
        rr_timeslice: Duration = ms(100), in ms(1)..=s(10);
        /// How long SCHED_FIFO and SCHED_RR may run on a cpu in each rt_period (sched_rt_runtime_us, 2.6.25
        /// to 6.11; 5f6bd380c7bd takes the limit away in 6.12). 0s: without limit.
        rt_runtime: Duration = ms(950), in 0..=s(10);
        /// The period of rt_runtime (sched_rt_period_us). A runtime as long as the period is no limit.
        rt_period: Duration = s(1), in ms(10)..=s(10);
        /// How long other tasks run once SCHED_FIFO and SCHED_RR have kept them from a cpu for
        /// fair_server_period less this (fair_server/runtime, 557a6bfc662c, since 6.12). 0s: no such server.
        /// Only kernels with EEVDF have it here.
        fair_server: Duration = 0, in 0..=ms(900);
        /// The period of fair_server (fair_server/period).
        fair_server_period: Duration = s(1), in s(1)..=s(4);
    }
}

/// Number of rules.
pub(super) const CLASS: usize = ClassRules::TABLE.len();

/// 2.6.25 to 6.11.
pub(super) const CLASS_LIMITED: [Parameter; CLASS] = changed(ClassRules::TABLE, &[]);

/// Before 2.6.25.
pub(super) const CLASS_UNLIMITED: [Parameter; CLASS] =
    changed(ClassRules::TABLE, &[ClassRules::rt_runtime.with(0)]);

/// Since 6.12.
pub(super) const CLASS_SERVER: [Parameter; CLASS] =
    changed(&CLASS_UNLIMITED, &[ClassRules::fair_server.with(ms(50))]);

/// The rules with these values.
pub(super) fn class(values: &Values) -> RealTimeRules {
    let values = ClassRules::from(values);
    let span = |duration: Duration| Span::from_ns(duration.ns());
    let (runtime, period) = (span(values.rt_runtime), span(values.rt_period));
    RealTimeRules {
        quantum: span(values.rr_timeslice),
        runtime: if runtime == Span::ZERO { Span::MAX } else { runtime },
        period,
        server: span(values.fair_server),
        server_period: span(values.fair_server_period),
    }
}
