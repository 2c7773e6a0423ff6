//! `linux-6.6` to `linux-7.1`: earliest eligible virtual deadline first.

use notation::declare::Duration;
use notation::declare::amount::us;
use notation::parameter::{Parameter, Values, changed, joined};
use notation::{choices, parameters};
use sim_core::os::{Bandwidth, Discipline, EevdfParams, EevdfYield, GroupShares, Preemption, Protection};
use sim_core::time::Span;

use super::balance::Form;
use super::types::{
    TYPES, TYPES_6_6, TYPES_6_8, TYPES_6_12_65, TYPES_6_18, TYPES_6_18_0, TYPES_6_19, TYPES_7_1,
};

use super::real_time::{CLASS, CLASS_6_12, CLASS_6_18, CLASS_6_19, CLASS_7_1, CLASS_LIMITED};
use super::{Entry, Kernel, LONGEST, OsBuilt, SHORTEST};

choices! {
    /// The words of `group_shares`.
    pub(crate) enum Shares { Averaged = "averaged", Queued = "queued" }
}

choices! {
    /// The words of `yield`.
    pub(super) enum Yields { Forfeit = "forfeit", Deadline = "deadline" }
}

choices! {
    /// The words of `throttle`.
    pub(super) enum Throttle { OnReturn = "on_return", AtOnce = "at_once" }
}

choices! {
    /// The words of `preemption`.
    pub(super) enum Models { None = "none", Voluntary = "voluntary", Full = "full", Lazy = "lazy" }
}

choices! {
    /// The words of `protection`.
    pub(super) enum Protected { MinSlice = "min_slice", Deadline = "deadline" }
}

parameters! {
    /// Parameters of the releases with EEVDF; the defaults are those of 6.18.2.
    pub(super) struct Parameters {
        /// Length of a task's request for cpu time (base_slice_ns, 32 bits of ns), at least 1us. 0s uses the
        /// kernel's own scaling: `base_slice` x (1 + log2 of up to 8 cpus).
        slice: Duration = 0, in 0..=s(4);
        /// The same before scaling (normalized_sysctl_sched_base_slice): 0.7ms since 6.15 (2ae891b82695),
        /// 0.75ms before.
        base_slice: Duration = us(700), in SHORTEST..=s(1);
        /// Effect of sched_yield. `forfeit` moves the caller's virtual runtime on to its deadline
        /// (79104becf42b, since 6.18.2 and 6.19). `deadline` moves the deadline on by a slice and leaves the
        /// virtual runtime (147f3efaa241, 6.6 to 6.18.1): beside a task that computes, the caller burns half
        /// of the cpu.
        r#yield: Yields = Yields::Forfeit;
        /// Each application without a `session` or `cgroup` is started in a session of its own, and each
        /// session is a task group (sched_autogroup_enabled, 5091faa449ee, since 2.6.38; on in RHEL and
        /// Ubuntu, where each login and each batch job is one session). Off here, so that programs without
        /// groups share a cpu by their threads; groups make runs with polling slower to simulate.
        autogroup: bool = false;
        /// Period of the timer tick. 4ms corresponds to HZ = 250, as measured on a virtual machine with two
        /// cpus.
        tick: Duration = ms(4), in SHORTEST..=LONGEST;
        /// If true, the ticks of the cpus are spread over half a period, as Linux did until 2.6.38. If false,
        /// all cpus tick at the same time.
        tick_skew: bool = false;
        /// Each tick of each cpu is late by a random time up to this value, but by less than one tick, and so
        /// is the timer of `hrtick`. 0s puts all ticks exactly on the grid.
        tick_jitter: Duration = us(10), in 0..=LONGEST;
        /// A task that goes to sleep after it has received more than its share keeps competing until the
        /// scheduler would pick it (DELAY_DEQUEUE).
        delayed_dequeue: bool = true;
        /// A task that returns to a queue is placed as far behind or ahead of the others as it was when it
        /// left (PLACE_LAG).
        place_lag: bool = true;
        /// A task that moves to another cpu keeps what is left of its request (PLACE_REL_DEADLINE,
        /// 82e9d0456e06, since 6.12). Otherwise a whole new request begins there.
        rel_deadline: bool = true;
        /// What is left of the request of a task that gets another nice value stays the same service
        /// (reweight_entity; since 6.13 and 6.12.10, 6d71a9c61604). Otherwise it stays the same virtual time,
        /// less than its share for a task that becomes lighter.
        request_scales: bool = true;
        /// The first request of a new task is half a slice, whatever its queue (PLACE_DEADLINE_INITIAL; since
        /// 6.12, when a task is placed as it first enters a queue). Before, a new task was placed twice, and
        /// the second time began a whole request (task_fork_fair, wake_up_new_task).
        half_first_request: bool = true;
        /// A picked task is protected from pre-emption for its whole slice instead of only `base_slice`
        /// (under `protection: deadline`: instead of not at all) (RUN_TO_PARITY, 63304558ba5d).
        run_to_parity: bool = true;
        /// By what load the weight of a task group is divided among the cpus (calc_group_shares): averaged,
        /// with a half-life of 32 ms and with what sleeps (since 4.15), or queued, by what is queued at the
        /// instant.
        group_shares: Shares = Shares::Averaged;
        /// What ends the protection of an eligible task. `min_slice`: a virtual runtime that is set at the
        /// pick (052c3d87c82e, since 6.17). `deadline`: a new deadline, be it by a yield, a new weight or the
        /// end of the request (6.6 to 6.16).
        protection: Protected = Protected::MinSlice;
        /// Tasks may have a slice of their own (sched_setattr, 857b158dc5e8, since 6.12): the key `slice` of
        /// an application.
        own_slice: bool = true;
        /// A woken task with a shorter slice than the current one pre-empts it although it is protected, if
        /// it is eligible and would be picked without that (PREEMPT_SHORT, 85e511df3cec, since 6.12). It acts
        /// only where slices differ.
        preempt_short: bool = true;
        /// A timer ends a request when it is used up (HRTICK, on since 7.1 where the timer code can defer
        /// it). It starts as the cpu switches to another task and as a rival enters; the next request of a
        /// task that wins again ends at a tick (hrtick_start_fair, put_prev_set_next_task).
        hrtick: bool = false;
        /// When the current task gives up its cpu for another one (CONFIG_PREEMPT_*, kernel/Kconfig.preempt;
        /// `preempt=` at boot). `none`, `voluntary` and `full` differ for tasks inside the kernel, which are
        /// not simulated: here all three act at once. `lazy` (7c70cb94d29c, since 6.13): a task of the fair
        /// class that another cpu wakes waits for the next tick, interrupt or system call of the current one
        /// (resched_curr_lazy). It comes at once from a cpu of another cache (ttwu_queue_wakelist), and
        /// where the first rival starts the timer of `hrtick`.
        preemption: Models = Models::Voluntary;
        /// A group whose weight changes is placed anew by its lag (reweight_entity, eab03c23c2a1, since 6.7).
        /// Otherwise its virtual runtime stays, and with it not the service that it lags behind by.
        reweigh_places: bool = true;
        /// What a cpu keeps of the quota of a group is lost when the next period begins (512ac999d275, 4.18,
        /// to de53fd7aedb1, 5.4).
        quota_expires: bool = false;
        /// Groups may use what is left of the quotas of earlier periods (cpu.max.burst, f4183717b370, since
        /// 5.14).
        quota_burst: bool = true;
        /// When the tasks of a group without cpu time stop. `on_return`: each when it is picked, on its way
        /// to user mode (e1fad12dcb66, since 6.18). `at_once`: all tasks of the group on the cpu together.
        throttle: Throttle = Throttle::OnReturn;
    }
}

/// Number of parameters.
pub(super) const COUNT: usize = Parameters::TABLE.len();

/// The rules of 6.6.
pub(super) const ROW_6_6: [Parameter; COUNT] = changed(
    Parameters::TABLE,
    &[
        Parameters::base_slice.with(us(750)),
        Parameters::r#yield.with(Yields::Deadline as u64),
        Parameters::protection.with(Protected::Deadline as u64),
        Parameters::delayed_dequeue.with(false as u64),
        Parameters::rel_deadline.with(false as u64),
        Parameters::request_scales.with(false as u64),
        Parameters::half_first_request.with(false as u64),
        Parameters::reweigh_places.with(false as u64),
        Parameters::own_slice.with(false as u64),
        Parameters::preempt_short.with(false as u64),
        Parameters::throttle.with(Throttle::AtOnce as u64),
    ],
);

/// The rules of 6.8.
pub(super) const ROW_6_8: [Parameter; COUNT] =
    changed(&ROW_6_6, &[Parameters::reweigh_places.with(true as u64)]);

/// The rules of 6.12 as released.
pub(super) const ROW_6_12_0: [Parameter; COUNT] = changed(
    &ROW_6_8,
    &[
        Parameters::delayed_dequeue.with(true as u64),
        Parameters::rel_deadline.with(true as u64),
        Parameters::half_first_request.with(true as u64),
        Parameters::own_slice.with(true as u64),
        Parameters::preempt_short.with(true as u64),
    ],
);

/// The rules of 6.12 after the stable updates of 2025: the slice of 6.15 and the yield of 6.19.
const ROW_6_12_65: [Parameter; COUNT] = changed(
    &ROW_6_12_0,
    &[
        Parameters::base_slice.with(us(700)),
        Parameters::r#yield.with(Yields::Forfeit as u64),
        Parameters::request_scales.with(true as u64),
    ],
);

/// The rules of 6.18.0 and 6.18.1.
const ROW_6_18_0: [Parameter; COUNT] =
    changed(Parameters::TABLE, &[Parameters::r#yield.with(Yields::Deadline as u64)]);

/// The rules of 7.0.
const ROW_7_0: [Parameter; COUNT] =
    changed(Parameters::TABLE, &[Parameters::preemption.with(Models::Lazy as u64)]);

/// The rules of 7.1.
const ROW_7_1: [Parameter; COUNT] = changed(&ROW_7_0, &[Parameters::hrtick.with(true as u64)]);

/// The parameters of a release since 6.12.
const fn row(
    queue: &[Parameter],
    balance: &[Parameter],
    class: &[Parameter],
) -> [Parameter; COUNT + TYPES + CLASS] {
    joined(&joined::<{ COUNT + TYPES }>(queue, balance), class)
}

/// The parameters of a release before 6.12, which limits the real-time class.
const fn limited(queue: &[Parameter], balance: &[Parameter]) -> [Parameter; COUNT + TYPES + CLASS] {
    row(queue, balance, &CLASS_LIMITED)
}

/// An entry of the registry.
const fn release(
    [name, base]: [&'static str; 2],
    parameters: &'static [Parameter],
    [summary, source, example]: [&'static str; 3],
) -> Entry {
    let own = Kernel::linux(eevdf, Form::Types).like(base);
    Entry { name, summary, source, example, parameters, own }
}

/// The entry of 6.18.
pub(super) const LINUX_6_18: Entry = Entry {
    name: "linux-6.18",
    summary: "Earliest eligible virtual deadline first (EEVDF, 2025): lag, delayed dequeue, a yield that \
        gives up the slice",
    source: "Linux 6.18.2, kernel/sched/fair.c; yield of commit 79104becf42b; the tick period and the \
        lateness of ticks are measured",
    example: "{ linux-6.18: { slice: 3ms, run_to_parity: false } }",
    parameters: &row(Parameters::TABLE, &TYPES_6_18, &CLASS_6_18),
    own: Kernel::linux(eevdf, Form::Types).packaged("", "6.18.2"),
};

/// The other releases with EEVDF, oldest first.
pub(super) const LINUX_EEVDF: [Entry; 9] = [
    release(
        ["linux-6.6", "linux-6.18"],
        &limited(&ROW_6_6, &TYPES_6_6),
        [
            "the first EEVDF (2023): slices of 0.75ms, no delayed dequeue, a yield that moves the deadline",
            "Linux 6.6, kernel/sched/fair.c",
            "{ linux-6.6: { yield: forfeit } }",
        ],
    ),
    release(
        ["linux-6.8", "linux-6.6"],
        &limited(&ROW_6_8, &TYPES_6_8),
        [
            "like linux-6.6, but a group whose weight changes keeps its lag (2024)",
            "Linux 6.8, kernel/sched/fair.c",
            "{ linux-6.8: { yield: forfeit } }",
        ],
    ),
    release(
        ["linux-6.12.0", "linux-6.8"],
        &row(&ROW_6_12_0, &TYPES_6_8, &CLASS_6_12),
        [
            "like linux-6.6, with delayed dequeue and requests that move with their tasks (2024)",
            "Linux 6.12, kernel/sched/fair.c",
            "{ linux-6.12.0: { yield: forfeit } }",
        ],
    ),
    release(
        ["linux-6.12.65", "linux-6.12.0"],
        &row(&ROW_6_12_65, &TYPES_6_12_65, &CLASS_6_12),
        [
            "like linux-6.12.0, with slices of 0.7ms, a yield that gives up the slice, and looks at random \
             of cpus that go idle (January 2026)",
            "Linux 6.12.117, kernel/sched/fair.c",
            "{ linux-6.12.65: { delayed_dequeue: false } }",
        ],
    ),
    release(
        ["linux-6.18.0", "linux-6.18"],
        &row(&ROW_6_18_0, &TYPES_6_18_0, &CLASS_6_18),
        [
            "like linux-6.18 (which is 6.18.2), with the yield that moves the deadline",
            "Linux 6.18, kernel/sched/fair.c",
            "{ linux-6.18.0: { yield: forfeit } }",
        ],
    ),
    release(
        ["linux-6.18.2", "linux-6.18"],
        &row(Parameters::TABLE, &TYPES_6_18, &CLASS_6_18),
        [
            "another name of linux-6.18",
            "Linux 6.18.2, kernel/sched/fair.c",
            "{ linux-6.18.2: { run_to_parity: false } }",
        ],
    ),
    release(
        ["linux-6.19", "linux-6.18"],
        &row(Parameters::TABLE, &TYPES_6_19, &CLASS_6_19),
        [
            "the queues of linux-6.18; cpus that go idle look for tasks at random (2026)",
            "Linux 6.19, kernel/sched/fair.c",
            "{ linux-6.19: { failing: cost } }",
        ],
    ),
    release(
        ["linux-7.0", "linux-6.19"],
        &row(&ROW_7_0, &TYPES_6_19, &CLASS_6_19),
        [
            "like linux-6.19, but a task that another cpu wakes waits for the tick (lazy preemption, 2026)",
            "Linux 7.0, kernel/sched/core.c and fair.c; kernel/Kconfig.preempt (7dadeaa6e851)",
            "{ linux-7.0: { preemption: full } }",
        ],
    ),
    release(
        ["linux-7.1", "linux-7.0"],
        &row(&ROW_7_1, &TYPES_7_1, &CLASS_7_1),
        [
            "like linux-7.0, but a timer of its own ends requests (HRTICK, 2026)",
            "Linux 7.2, kernel/sched/fair.c and features.h",
            "{ linux-7.1: { hrtick: false } }",
        ],
    ),
];

pub(super) fn eevdf(values: &Values, cpus: u32) -> OsBuilt {
    let values = Parameters::from(values);
    let base = Span::from_ns(values.base_slice.ns());
    let slice = match values.slice.ns() {
        0 => EevdfParams::scaled_slice(base, cpus),
        ns => Span::from_ns(ns.max(SHORTEST)),
    };
    let tick = values.tick.ns();
    let discipline = Discipline::Eevdf(EevdfParams {
        slice,
        tick_jitter: Span::from_ns(values.tick_jitter.ns().min(tick - 1)),
        delayed_dequeue: values.delayed_dequeue,
        place_lag: values.place_lag,
        group_shares: match values.group_shares {
            Shares::Averaged => GroupShares::Averaged,
            Shares::Queued => GroupShares::Queued,
        },
        rel_deadline: values.rel_deadline,
        request_scales: values.request_scales,
        half_first_request: values.half_first_request,
        yields: match values.r#yield {
            Yields::Forfeit => EevdfYield::Forfeit,
            Yields::Deadline => EevdfYield::Deadline,
        },
        protection: match values.protection {
            Protected::MinSlice => Protection::MinSlice,
            Protected::Deadline => Protection::Deadline,
        },
        protected: match values.protection {
            _ if values.run_to_parity => None,
            Protected::MinSlice => Some(base),
            Protected::Deadline => Some(Span::ZERO),
        },
        own_slices: values.own_slice,
        preempt_short: values.preempt_short,
        hrtick: values.hrtick,
        preemption: match values.preemption {
            Models::None => Preemption::None,
            Models::Voluntary => Preemption::Voluntary,
            Models::Full => Preemption::Full,
            Models::Lazy => Preemption::Lazy,
        },
        reweigh_places: values.reweigh_places,
        bandwidth: Bandwidth {
            expires: values.quota_expires,
            burst: values.quota_burst,
            at_once: values.throttle == Throttle::AtOnce,
        },
        tick: Span::from_ns(tick),
    });
    OsBuilt { tick: values.tick, tick_skew: values.tick_skew, autogroup: values.autogroup, discipline }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KERNELS, build};

    fn eevdf_with(settings: &[(&str, u64)], cpus: u32) -> EevdfParams {
        let entry = KERNELS.resolve("linux-6.18").unwrap();
        let mut values = Values::defaults(entry.parameters);
        for (name, value) in settings {
            values.set(name, *value).unwrap();
        }
        match build(entry, &values, cpus).discipline {
            Discipline::Eevdf(params) => params,
            _ => panic!("not EEVDF"),
        }
    }

    #[test]
    fn defaults_are_the_kernels_own() {
        for cpus in [1, 2, 16, 144] {
            assert_eq!(eevdf_with(&[], cpus), EevdfParams::scaled(cpus));
        }
    }

    #[test]
    fn overrides_are_literal_and_ticks_stay_apart() {
        let params = eevdf_with(&[("slice", 3_000_000), ("run_to_parity", 0), ("tick_jitter", 9_000_000)], 2);
        assert_eq!((params.slice, params.tick), (Span::from_ms(3), Span::from_ms(4)));
        assert_eq!(params.protected, Some(Span::from_us(700)));
        assert_eq!(params.tick_jitter, Span::from_ns(4_000_000 - 1));
    }
}
