//! The rules of the real-time class of Linux, each a key of `kernel:`, and the rows of the releases.
//!
//! Source: kernel/sched/rt.c and core.c of 5.10, 6.1 and 6.8; kernel/sched/deadline.c of 6.12.117 and 7.x,
//! with the commits of 2025 and 2026 between them; features.h for HRTICK_DL.

use notation::declare::Duration;
use notation::declare::amount::ms;
use notation::parameter::{Parameter, Values, changed};
use notation::{choices, parameters};
use sim_core::os::{DeadlineRules, RealTimeRules, ServerRules, ServerStop};
use sim_core::time::Span;

choices! {
    /// The words of `fair_server_stop`.
    pub(super) enum Stop { Dequeue = "dequeue", Yield = "yield", Pick = "pick" }
}

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
        /// The first period begins as a real-time task enters a queue and none was there in the period before
        /// (start_rt_bandwidth, c3a990dc9fab, 4.6 to 6.11). Otherwise its phase is random.
        rt_period_starts: bool = true;
        /// A woken real-time task that may run on no other cpu pre-empts one of its priority that may, and
        /// that is pushed to another cpu (check_preempt_equal_prio, 45c01e824991, since 2.6.27).
        rt_pinned_first: bool = true;
        /// How long other tasks run once SCHED_FIFO and SCHED_RR have kept them from a cpu for
        /// fair_server_period less this (fair_server/runtime, 557a6bfc662c, since 6.12). 0s: no such server.
        /// Only kernels with EEVDF have it here.
        fair_server: Duration = 0, in 0..=ms(900);
        /// The period of fair_server (fair_server/period).
        fair_server_period: Duration = s(1), in s(1)..=s(4);
        /// When the fair server of a cpu without other tasks stops. `dequeue`: as the last one leaves
        /// (dequeue_entities, to 6.16). `yield`: the second time that it finds none; the first time it gives
        /// up the rest of its period, so that tasks that sleep often run once in each period (cccb45d7c429,
        /// in the stable updates of August 2025). `pick`: the first time (a3a70caf7906, since 6.17).
        fair_server_stop: Stop = Stop::Dequeue;
        /// A fair server that has served, and starts after the end of its period, waits again (115135422562,
        /// since 6.19 and the stable updates of February 2026). Otherwise it goes first at once, however
        /// long nobody needed it.
        fair_server_waits_again: bool = false;
        /// Idle time of a cpu uses up the runtime of its fair server, which then begins a new period, as if
        /// other tasks had run (dl_server_update_idle, e636ffb9e31b, since 6.19). Otherwise what is left goes
        /// down to zero (dl_server_update_idle_time).
        fair_server_counts_idle: bool = false;
        /// It has SCHED_DEADLINE (since 3.14; aab03e05e8f7).
        deadline_class: bool = true;
        /// How much of each rt_period all tasks of SCHED_DEADLINE may reserve per cpu (sched_rt_runtime_us,
        /// also where that no longer limits SCHED_FIFO; __dl_overflow). 0s: there is no such test (-1), and
        /// their cpus may be any.
        deadline_limit: Duration = ms(950), in 0..=s(10);
        /// A timer ends the runtime of a task of SCHED_DEADLINE (HRTICK_DL, on since 7.1 where timers are set
        /// late, as on x86). Otherwise the tick after its end does.
        deadline_timer: bool = false;
    }
}

/// Number of rules.
pub(super) const CLASS: usize = ClassRules::TABLE.len();

/// 4.6 to 6.11.
pub(super) const CLASS_LIMITED: [Parameter; CLASS] = changed(ClassRules::TABLE, &[]);

/// 2.6.27 to 3.13.
pub(super) const CLASS_2_6_27: [Parameter; CLASS] = changed(
    ClassRules::TABLE,
    &[ClassRules::rt_period_starts.with(false as u64), ClassRules::deadline_class.with(false as u64)],
);

/// Before 2.6.25.
pub(super) const CLASS_2_6: [Parameter; CLASS] = changed(
    ClassRules::TABLE,
    &[
        ClassRules::rt_runtime.with(0),
        ClassRules::rt_pinned_first.with(false as u64),
        ClassRules::deadline_class.with(false as u64),
    ],
);

/// 6.12, to its stable updates of January 2026.
pub(super) const CLASS_6_12: [Parameter; CLASS] =
    changed(ClassRules::TABLE, &[ClassRules::rt_runtime.with(0), ClassRules::fair_server.with(ms(50))]);

/// 6.18, to its stable updates of January 2026.
pub(super) const CLASS_6_18: [Parameter; CLASS] =
    changed(&CLASS_6_12, &[ClassRules::fair_server_stop.with(Stop::Pick as u64)]);

/// Since 6.19.
pub(super) const CLASS_6_19: [Parameter; CLASS] = changed(
    &CLASS_6_18,
    &[
        ClassRules::fair_server_waits_again.with(true as u64),
        ClassRules::fair_server_counts_idle.with(true as u64),
    ],
);

/// Since 7.1.
pub(super) const CLASS_7_1: [Parameter; CLASS] =
    changed(&CLASS_6_19, &[ClassRules::deadline_timer.with(true as u64)]);

/// The rules with these values.
pub(super) fn class(values: &Values) -> RealTimeRules {
    let values = ClassRules::from(values);
    let span = |duration: Duration| Span::from_ns(duration.ns());
    let (runtime, period) = (span(values.rt_runtime), span(values.rt_period));
    RealTimeRules {
        quantum: span(values.rr_timeslice),
        runtime: if runtime == Span::ZERO { Span::MAX } else { runtime },
        period,
        period_starts: values.rt_period_starts,
        pinned_first: values.rt_pinned_first,
        server: ServerRules {
            runtime: span(values.fair_server),
            period: span(values.fair_server_period),
            stops: match values.fair_server_stop {
                Stop::Dequeue => ServerStop::Dequeue,
                Stop::Yield => ServerStop::Yield,
                Stop::Pick => ServerStop::Pick,
            },
            defers_anew: values.fair_server_waits_again,
            counts_idle: values.fair_server_counts_idle,
        },
        deadline: values.deadline_class.then(|| DeadlineRules {
            limit: Some(span(values.deadline_limit)).filter(|limit| *limit > Span::ZERO),
            period,
            timer: values.deadline_timer,
        }),
    }
}
