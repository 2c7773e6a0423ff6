//! `linux-3.10` to `linux-6.5`: the Completely Fair Scheduler from 2013 to 2023, as rows that
//! differ from that of 2009 or from each other.

use notation::declare::amount::{ms, us};
use notation::parameter::{Parameter, changed, joined};

use super::balance::{Form, LOADS, LOADS_2_6_30};
use super::linux_2_6::{COUNT, LONG_SLEEP, Parameters, ROW_30, Scaling, Yields, cfs};
use super::linux_6_18::Shares;
use super::real_time::{CLASS, CLASS_2_6_27, CLASS_LIMITED};
use super::types::{TYPES, TYPES_4_18, TYPES_5_4, TYPES_5_10, TYPES_5_15, TYPES_6_1, TYPES_6_5};
use super::{Entry, Kernel};

/// The queue of 3.10 (kernel/sched/fair.c, kernel/sched/features.h).
pub(super) const ROW_3_10: [Parameter; COUNT] = changed(
    &ROW_30,
    &[
        Parameters::r#yield.with(Yields::Skip as u64),
        Parameters::tick.with(ms(4)),
        Parameters::tick_skew.with(false as u64),
        Parameters::base_latency.with(ms(6)),
        Parameters::base_min_granularity.with(us(750)),
        Parameters::base_wakeup_granularity.with(ms(1)),
        Parameters::scaling.with(Scaling::EightCpus as u64),
        Parameters::gentle_sleepers.with(true as u64),
        Parameters::adaptive_gran.with(false as u64),
        Parameters::preempting_buddies.with(true as u64),
        Parameters::crowded_last_buddy.with(true as u64),
        Parameters::clear_picked.with(true as u64),
        Parameters::weigh_woken.with(true as u64),
        Parameters::gap_test.with(true as u64),
        Parameters::sleep_buddy.with(true as u64),
        Parameters::quota.with(true as u64),
    ],
);

/// The queue of 4.18 to 5.3: a task that is picked again keeps its slice since 3.15, shares of groups follow
/// averages since 4.15, and quotas expire.
pub(super) const ROW_4_18: [Parameter; COUNT] = changed(
    &ROW_3_10,
    &[
        Parameters::renew_slice.with(false as u64),
        Parameters::group_shares.with(Shares::Averaged as u64),
        Parameters::quota_expires.with(true as u64),
    ],
);

/// The queue of 5.4 to 5.12: quotas do not expire any more.
pub(super) const ROW_5_4: [Parameter; COUNT] =
    changed(&ROW_4_18, &[Parameters::quota_expires.with(false as u64)]);

/// The queue of 5.15: `BASE_SLICE`, `ALT_PERIOD`, bursts of quotas.
pub(super) const ROW_5_15: [Parameter; COUNT] = changed(
    &ROW_5_4,
    &[
        Parameters::base_slice.with(true as u64),
        Parameters::alt_period.with(true as u64),
        Parameters::quota_burst.with(true as u64),
    ],
);

/// The queue of 6.5.
pub(super) const ROW_6_5: [Parameter; COUNT] =
    changed(&ROW_5_15, &[Parameters::cap_slice.with(true as u64), Parameters::long_sleep.with(LONG_SLEEP)]);

/// Its entry in the registry.
pub(super) const LINUX_3_10: Entry = Entry {
    name: "linux-3.10",
    summary: "CFS of 2013 (the queue of RHEL 7): turns of at most 12 ms from 8 cpus on, a yield that lets \
        the second-best task run",
    source: "Linux 3.10, kernel/sched/fair.c and kernel/sched/features.h; the balancer is that of 2.6.30",
    example: "{ linux-3.10: { min_granularity: 10ms, wakeup_granularity: 15ms } }",
    parameters: &joined::<{ COUNT + LOADS + CLASS }>(
        &joined::<{ COUNT + LOADS }>(&ROW_3_10, &LOADS_2_6_30),
        &CLASS_2_6_27,
    ),
    own: Kernel::linux(cfs, Form::Loads).like("linux-2.6.30"),
};

/// The parameters of a release with a balancer since 3.16.
const fn row(queue: &[Parameter], balance: &[Parameter]) -> [Parameter; COUNT + TYPES + CLASS] {
    joined(&joined::<{ COUNT + TYPES }>(queue, balance), &CLASS_LIMITED)
}

/// An entry of the registry.
const fn release(
    [name, base]: [&'static str; 2],
    parameters: &'static [Parameter],
    [summary, source, example]: [&'static str; 3],
) -> Entry {
    let own = Kernel::linux(cfs, Form::Types).like(base);
    Entry { name, summary, source, example, parameters, own }
}

/// The later releases, oldest first.
pub(super) const LINUX_CFS: [Entry; 6] = [
    release(
        ["linux-4.18", "linux-3.10"],
        &row(&ROW_4_18, &TYPES_4_18),
        [
            "CFS of 2018: a task that is picked again keeps its slice; the balancer compares loads",
            "Linux 4.18, kernel/sched/fair.c and features.h; the balancer from that of 4.19",
            "{ linux-4.18: { idle_takes: false } }",
        ],
    ),
    release(
        ["linux-5.4", "linux-4.18"],
        &row(&ROW_5_4, &TYPES_5_4),
        [
            "the queues of linux-4.18 (2019), but quotas do not expire; the last balancer by loads",
            "Linux 5.4, kernel/sched/fair.c and features.h; the balancer from that of 4.19 and later commits",
            "{ linux-5.4: { compares: types } }",
        ],
    ),
    release(
        ["linux-5.10", "linux-5.4"],
        &row(&ROW_5_4, &TYPES_5_10),
        [
            "the queues of linux-5.4 under the balancer of 2020: 17 % are tolerated, tasks move sooner",
            "Linux 5.10, kernel/sched/fair.c, features.h and topology.c",
            "{ linux-5.10: { detach: half } }",
        ],
    ),
    release(
        ["linux-5.15", "linux-5.10"],
        &row(&ROW_5_15, &TYPES_5_15),
        [
            "CFS of 2021: a slice is at least the minimum granularity (BASE_SLICE), a quarter of the cpus \
             keeps forks on a node",
            "Linux 5.15, kernel/sched/fair.c, features.h and topology.c",
            "{ linux-5.15: { base_slice: false } }",
        ],
    ),
    release(
        ["linux-6.1", "linux-5.15"],
        &row(&ROW_5_15, &TYPES_6_1),
        [
            "the queues of linux-5.15 under the balancer of 2022: wake-ups look at fewer cpus when many are \
             busy",
            "Linux 6.1, kernel/sched/fair.c, features.h and topology.c",
            "{ linux-6.1: { scan: all } }",
        ],
    ),
    release(
        ["linux-6.5", "linux-6.1"],
        &row(&ROW_6_5, &TYPES_6_5),
        [
            "the last release with CFS (2023): no turn is longer than one latency",
            "Linux 6.5, kernel/sched/fair.c, features.h and topology.c",
            "{ linux-6.5: { tick: 1ms } }",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use notation::parameter::Values;
    use sim_core::os::{Bandwidth, CfsParams, Discipline, GroupShares};
    use sim_core::time::Span;

    use super::*;
    use crate::build;

    fn queue(entry: &Entry, settings: &[(&str, u64)], cpus: u32) -> CfsParams {
        let mut values = Values::defaults(entry.parameters);
        for (name, value) in settings {
            values.set(name, *value).unwrap();
        }
        match build(entry, &values, cpus).discipline {
            Discipline::Cfs(params) => params,
            _ => panic!("not CFS"),
        }
    }

    #[test]
    fn the_rows_are_the_kernels_own() {
        for cpus in [1, 2, 8, 16, 144, 4_096] {
            let old = CfsParams::late(cpus);
            assert_eq!(queue(&LINUX_3_10, &[], cpus), old);
            let bandwidth = Bandwidth { expires: true, ..Bandwidth::FIRST };
            let averaged = GroupShares::Averaged;
            let later = CfsParams { renew_slice: false, group_shares: averaged, bandwidth, ..old };
            assert_eq!(queue(&LINUX_CFS[0], &[], cpus), later);
            let bandwidth = Bandwidth { burst: true, ..Bandwidth::FIRST };
            let later = CfsParams { base_slice: true, alt_period: true, bandwidth, ..later };
            assert_eq!(queue(&LINUX_CFS[3], &[], cpus), later);
            let long_sleep = Span::from_ns(9_007_199_254_740_992);
            assert_eq!(queue(&LINUX_CFS[5], &[], cpus), CfsParams { cap_slice: true, long_sleep, ..later });
        }
    }

    #[test]
    fn the_number_of_tasks_in_a_period_follows_what_is_written() {
        let profile = [("min_granularity", ms(10)), ("wakeup_granularity", ms(15))];
        let params = queue(&LINUX_3_10, &profile, 64);
        assert_eq!((params.latency, params.nr_latency), (Span::from_ms(24), 3));
        assert_eq!(queue(&LINUX_3_10, &profile[1..], 64).nr_latency, 8);
    }
}
