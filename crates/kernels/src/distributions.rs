//! The kernels of distributions: queues of one release, a balancer of another one.
//!
//! Source: kernel/sched of the source packages of RHEL; its balancer is that of a newer mainline release at
//! nearly every minor release, while the version number of the kernel and its queues stay. The rows of the
//! other distributions are those of the mainline release that they are built on.

use notation::declare::amount::ms;
use notation::parameter::{Parameter, changed, joined};

use super::balance::Form;
use super::linux_2_6::{COUNT as CFS, Parameters as Cfs, cfs};
use super::linux_3_10::{ROW_3_10, ROW_4_18, ROW_5_4, ROW_5_15, ROW_6_5};
use super::linux_6_18::{COUNT as EEVDF, Parameters as Eevdf, ROW_6_8, ROW_6_12_0, eevdf};
use super::real_time::{CLASS, CLASS_6_12, CLASS_LIMITED, ClassRules};
use super::tuned::{Installed, TUNED};
use super::types::{
    NumaAllowance, NumaSearch, TYPES, TYPES_3_16, TYPES_4_18, TYPES_5_4, TYPES_5_5, TYPES_5_10, TYPES_5_15,
    TYPES_6_1, TYPES_6_6, TYPES_6_8, TypeRules,
};
use super::{Entry, Kernel};

/// RHEL ticks at 1000 Hz on x86.
const RHEL_TICK: u64 = ms(1);

/// A queue of CFS under RHEL.
const fn rhel(queue: &[Parameter; CFS]) -> [Parameter; CFS] {
    changed(queue, &[Cfs::tick.with(RHEL_TICK)])
}

/// Automatic NUMA balancing is on (CONFIG_NUMA_BALANCING_DEFAULT_ENABLED).
const fn numa(balance: &[Parameter; TYPES]) -> [Parameter; TYPES] {
    changed(balance, &[TypeRules::numa_balancing.with(true as u64)])
}

/// The same under Ubuntu, where programs ask for huge pages (transparent_hugepage=madvise).
const fn numa_of_ubuntu(balance: &[Parameter; TYPES]) -> [Parameter; TYPES] {
    changed(&numa(balance), &[TypeRules::numa_huge_pages.with(false as u64)])
}

/// The same under RHEL 8, where quotas have no bursts.
const fn rhel_8(queue: &[Parameter; CFS]) -> [Parameter; CFS] {
    changed(&rhel(queue), &[Cfs::quota_burst.with(false as u64)])
}

/// A queue of CFS and a balancer since 3.16.
const fn cfs_types(
    queue: &[Parameter; CFS],
    balance: &[Parameter; TYPES],
) -> [Parameter; CFS + TYPES + CLASS] {
    joined(&joined::<{ CFS + TYPES }>(queue, &numa(balance)), &CLASS_LIMITED)
}

/// A queue of EEVDF, a balancer since 3.16, and a real-time class.
const fn eevdf_types(
    queue: &[Parameter; EEVDF],
    balance: &[Parameter; TYPES],
    class: &[Parameter; CLASS],
) -> [Parameter; EEVDF + TYPES + CLASS] {
    joined(&joined::<{ EEVDF + TYPES }>(queue, balance), class)
}

/// The balancer of RHEL 8.0: that of 4.18 with the search for places and the early moves of pages of 4.20.
const TYPES_RHEL_8_0: [Parameter; TYPES] = changed(
    &TYPES_4_18,
    &[
        TypeRules::numa_moves_early.with(true as u64),
        TypeRules::numa_search.with(NumaSearch::Load as u64),
        TypeRules::numa_least_gain.with(30),
    ],
);

/// The parameters of a kernel of RHEL with CFS: a profile of tuned may be installed.
const fn rhel_cfs(
    queue: &[Parameter; CFS],
    balance: &[Parameter; TYPES],
) -> [Parameter; CFS + TYPES + CLASS + TUNED] {
    joined(&cfs_types(queue, balance), Installed::TABLE)
}

/// The balancer of RHEL 8.4: the allowance between nodes is switched off ("crippled" in its fair.c).
const TYPES_RHEL_8_4: [Parameter; TYPES] =
    changed(&TYPES_5_10, &[TypeRules::numa_allowance.with(NumaAllowance::Off as u64)]);

/// The balancer of RHEL 8.5 and 8.6.
const TYPES_RHEL_8_6: [Parameter; TYPES] =
    changed(&TYPES_5_15, &[TypeRules::numa_allowance.with(NumaAllowance::Off as u64)]);

/// The balancer of RHEL 8.8 and 8.10: that of 6.0, with the older condition for cpus that go idle.
const TYPES_RHEL_8_8: [Parameter; TYPES] = changed(
    &TYPES_6_1,
    &[
        TypeRules::idle_for_migration_cost.with(true as u64),
        TypeRules::clusters.with(false as u64),
        TypeRules::cluster_first.with(false as u64),
    ],
);

/// What is said of a row: name, base, mark and release of its packages.
type Names = [&'static str; 4];

/// An entry with CFS.
const fn with_cfs(
    [name, base, mark, release]: Names,
    parameters: &'static [Parameter],
    [summary, source]: [&'static str; 2],
    example: &'static str,
) -> Entry {
    let own = Kernel::linux(cfs, Form::Types).like(base).packaged(mark, release);
    Entry { name, summary, source, example, parameters, own }
}

const RHEL_SOURCE: &str = "kernel/sched/fair.c and features.h of the source package";
const EL7: &str = ".el7";
const EL8: &str = ".el8";
const EL9: &str = ".el9";

/// RHEL 7 to 9.
pub(super) const RHEL_CFS: [Entry; 12] = [
    with_cfs(
        ["rhel-7.9", "linux-4.18", EL7, "3.10.0"],
        &changed::<{ CFS + TYPES + CLASS + TUNED }>(
            &rhel_cfs(&rhel(&ROW_3_10), &TYPES_3_16),
            &[ClassRules::rt_period_starts.with(false as u64)],
        ),
        [
            "CFS of 3.10 under the balancer of 3.16, with ticks of 1ms",
            "kernel/sched of 3.10.0-1160; the balancer from that of 3.18",
        ],
        "{ rhel-7.9: { min_granularity: 10ms, wakeup_granularity: 15ms } }",
    ),
    with_cfs(
        ["rhel-8.0", "linux-4.18", EL8, "4.18.0-80"],
        &rhel_cfs(&rhel(&ROW_4_18), &TYPES_RHEL_8_0),
        ["CFS and balancer of 4.18 with ticks of 1ms", RHEL_SOURCE],
        "{ rhel-8.0: { min_granularity: 10ms, wakeup_granularity: 15ms } }",
    ),
    with_cfs(
        ["rhel-8.2", "linux-5.4", EL8, "4.18.0-193"],
        &rhel_cfs(&rhel(&ROW_5_4), &TYPES_5_4),
        ["CFS of 4.18 under the balancer of 5.3, with ticks of 1ms", RHEL_SOURCE],
        "{ rhel-8.2: { load_bias: true } }",
    ),
    with_cfs(
        ["rhel-8.3", "linux-5.10", EL8, "4.18.0-240"],
        &rhel_cfs(&rhel(&ROW_5_4), &TYPES_5_5),
        [
            "CFS of 4.18 under the balancer of 5.5: forks stay on their node while it has an idle cpu",
            RHEL_SOURCE,
        ],
        "{ rhel-8.3: { fork_numa: quarter } }",
    ),
    with_cfs(
        ["rhel-8.4", "linux-5.10", EL8, "4.18.0-305"],
        &rhel_cfs(&rhel(&ROW_5_4), &TYPES_RHEL_8_4),
        ["CFS of 4.18 under the balancer of 5.10, without its allowance between nodes", RHEL_SOURCE],
        "{ rhel-8.4: { numa_allowance: two } }",
    ),
    with_cfs(
        ["rhel-8.6", "linux-5.15", EL8, "4.18.0-348"],
        &rhel_cfs(&rhel_8(&ROW_5_15), &TYPES_RHEL_8_6),
        ["CFS of 5.13 under the balancer of 5.14, without its allowance between nodes", RHEL_SOURCE],
        "{ rhel-8.6: { numa_allowance: quarter } }",
    ),
    with_cfs(
        ["rhel-8.8", "linux-6.1", EL8, "4.18.0-477"],
        &rhel_cfs(&rhel_8(&ROW_5_15), &TYPES_RHEL_8_8),
        [
            "CFS of 5.13 under the balancer of 6.0, with the older condition for cpus that go idle",
            RHEL_SOURCE,
        ],
        "{ rhel-8.8: { idle_for_migration_cost: false } }",
    ),
    with_cfs(
        ["rhel-8.10", "linux-6.5", EL8, "4.18.0-553"],
        &rhel_cfs(&rhel_8(&ROW_6_5), &TYPES_RHEL_8_8),
        ["CFS of 6.5 under the balancer of 6.4, with the older condition for cpus that go idle", RHEL_SOURCE],
        "{ rhel-8.10: { tuned: hpc-compute } }",
    ),
    with_cfs(
        ["rhel-9.0", "linux-5.15", EL9, "5.14.0"],
        &rhel_cfs(&rhel(&ROW_5_15), &TYPES_5_15),
        ["CFS and balancer of 5.15 with ticks of 1ms", RHEL_SOURCE],
        "{ rhel-9.0: { tick: 4ms } }",
    ),
    with_cfs(
        ["rhel-9.2", "linux-6.1", EL9, "5.14.0-284"],
        &rhel_cfs(&rhel(&ROW_5_15), &TYPES_6_1),
        ["CFS of 5.15 under the balancer of 6.1, with ticks of 1ms", RHEL_SOURCE],
        "{ rhel-9.2: { scan: all } }",
    ),
    with_cfs(
        ["rhel-9.4", "linux-6.5", EL9, "5.14.0-427"],
        &rhel_cfs(&rhel(&ROW_6_5), &TYPES_6_6),
        ["CFS of 6.5 under the balancer of 6.6, with ticks of 1ms", RHEL_SOURCE],
        "{ rhel-9.4: { smt_balance: false } }",
    ),
    with_cfs(
        ["rhel-9.6", "linux-6.5", EL9, "5.14.0-503"],
        &rhel_cfs(&rhel(&ROW_6_5), &TYPES_6_8),
        ["CFS of 6.5 under the balancer of 6.8, with ticks of 1ms", RHEL_SOURCE],
        "{ rhel-9.6: { yield: default } }",
    ),
];

/// RHEL 10.0.
pub(super) const RHEL_10_0: Entry = Entry {
    name: "rhel-10.0",
    summary: "EEVDF and balancer of 6.12.0 with ticks of 1ms: a yield moves the deadline",
    source: RHEL_SOURCE,
    example: "{ rhel-10.0: { yield: forfeit } }",
    parameters: &joined::<{ EEVDF + TYPES + CLASS + TUNED }>(
        &eevdf_types(
            &changed(&ROW_6_12_0, &[Eevdf::tick.with(RHEL_TICK), Eevdf::request_scales.with(true as u64)]),
            &numa(&TYPES_6_8),
            &CLASS_6_12,
        ),
        Installed::TABLE,
    ),
    own: Kernel::linux(eevdf, Form::Types).like("linux-6.12.0").packaged(".el10", "6.12.0"),
};

const BUILT_ON: &str = "the mainline release that it is built on; its packages were not read";

/// Debian 12, Ubuntu 22.04 and SLES 15.
pub(super) const OTHERS: [Entry; 3] = [
    with_cfs(
        ["debian-12", "linux-6.1", "-amd64", "6.1.0"],
        &cfs_types(&ROW_5_15, &TYPES_6_1),
        ["the kernel of Debian 12, built on 6.1", BUILT_ON],
        "{ debian-12: { scan: all } }",
    ),
    with_cfs(
        ["ubuntu-22.04", "linux-5.15", "-generic", "5.15.0"],
        &joined::<{ CFS + TYPES }>(&ROW_5_15, &numa_of_ubuntu(&TYPES_5_15)),
        ["the kernel of Ubuntu 22.04, built on 5.15", BUILT_ON],
        "{ ubuntu-22.04: { fork_numa: idle } }",
    ),
    with_cfs(
        ["sles-15", "linux-5.15", "-default", "5.14.21"],
        &cfs_types(&ROW_5_15, &TYPES_5_15),
        ["the kernel of SLES 15 SP4 and SP5, built on 5.14", BUILT_ON],
        "{ sles-15: { tick: 1ms } }",
    ),
];

/// Ubuntu 24.04.
pub(super) const UBUNTU_24_04: Entry = Entry {
    name: "ubuntu-24.04",
    summary: "the kernel of Ubuntu 24.04, built on 6.8",
    source: BUILT_ON,
    example: "{ ubuntu-24.04: { yield: forfeit } }",
    parameters: &eevdf_types(&ROW_6_8, &numa_of_ubuntu(&TYPES_6_8), &CLASS_LIMITED),
    own: Kernel::linux(eevdf, Form::Types).like("linux-6.8").packaged("-generic", "6.8.0"),
};
