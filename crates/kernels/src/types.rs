//! The rules of the balancer since 3.16, each a key of `kernel:`, and the rows of the releases from 3.16 to
//! 6.18. Since 5.5 it goes by types of groups, before by averages of loads.
//!
//! Source: kernel/sched/fair.c and topology.c of 3.18, 4.19, 5.10.223, 6.1.176, 6.12.117 and 7.2.13, and the
//! commits named. "Since" is the first mainline release; stable and distribution kernels took rules over
//! earlier or later.

use notation::declare::{Duration, Percent, Size};
use notation::parameter::{Parameter, changed};
use notation::{choices, parameters};

use super::LONGEST;

choices! {
    /// What the balancer compares (`find_busiest_group`, `calculate_imbalance`).
    pub enum Compares {
        /// Loads of groups. One task moves at least, where that brings the loads closer or keeps more cpus
        /// busy (`fix_small_imbalance`). To 5.4.
        Loads = "loads",
        /// Types of groups: with spare cpus, full, overloaded. Since 5.5, 0b0695f2b34a.
        Types = "types",
    }
}

choices! {
    /// When a group is overloaded, where loads are compared (`group_is_overloaded`).
    pub enum Crowded {
        /// It has more tasks than cores (`sg_capacity_factor`). To 4.0.
        Tasks = "tasks",
        /// It has more tasks than cpus, and their utilisation leaves little. Since 4.1, ea67821b9a3e.
        Time = "time",
    }
}

choices! {
    /// How a new task finds the idlest group (`find_idlest_group`).
    pub enum Fork {
        /// The one with the least load, if the local one has clearly more. To 4.9.
        Loads = "loads",
        /// The same; where loads are close, those of tasks that sleep count too. Between memory nodes it
        /// stays up to the margin. 4.17 to 5.4, 6b94780e45c1, 2c83362734da.
        Averages = "averages",
        /// The one of the best type, with the most idle cpus. Since 5.5, 57abff067a08.
        Types = "types",
    }
}

choices! {
    /// Where a new task goes whose own memory node has idle cpus (`find_idlest_group` at NUMA levels).
    pub enum ForkNuma {
        /// It stays while the local group has an idle cpu. 5.5 to 5.10, 57abff067a08.
        Idle = "idle",
        /// It stays while the local group runs fewer tasks than a quarter of the level's cpus. 5.11 to 5.17,
        /// 23e6082a522e.
        Quarter = "quarter",
        /// It stays while the local group with it runs at most `imb_numa_nr` tasks. 5.18 and 5.19,
        /// e496132ebedd, 2cfb7a1b031b.
        Tasks = "tasks",
        /// The same, if the idle cpus of both groups differ by two at most. Since 6.0, cb29a5c19d2d.
        TasksAndGap = "tasks-and-gap",
    }
}

choices! {
    /// Which imbalance between memory nodes with spare cpus the balancer leaves (`adjust_numa_imbalance`).
    pub enum NumaAllowance {
        /// None. 5.5, and RHEL 8.4 to 8.6 ("crippled").
        Off = "off",
        /// While the busiest group runs two tasks at most. 5.6 to 5.10, b396f52326de.
        Two = "two",
        /// Up to two tasks to move, while the busiest group runs fewer tasks than a quarter of its cpus. 5.11
        /// to 5.17, 7d2b5dd0bcc4.
        Quarter = "quarter",
        /// Up to two tasks to move, while the local group with one more runs at most `imb_numa_nr`. 5.18 and
        /// 5.19, e496132ebedd, 2cfb7a1b031b.
        Moved = "moved",
        /// The same for a difference of two, of which half would move. Since 6.0, cb29a5c19d2d.
        Difference = "difference",
    }
}

choices! {
    /// When a task is small enough for the load that is to move (`detach_tasks`, `migrate_load`).
    pub enum Detach {
        /// Half of its load fits, or more attempts failed than `cache_nice_tries`. 5.5 to 5.9.
        Half = "half",
        /// Its load fits, halved once for each attempt that failed. Since 5.10, 5a7f55590467.
        Shift = "shift",
        /// Half of its load fits, however many attempts failed. To 5.4.
        AlwaysHalf = "always-half",
    }
}

choices! {
    /// When attempts that fail make the stopper move a running task (`need_active_balance`).
    pub enum ActiveBalance {
        /// Whatever is to move; then the interval doubles, and without a task for it the failures count on
        /// from `cache_nice_tries` + 1. To 5.11.
        Any = "any",
        /// Only where a number of tasks is to move. Since 5.12, e9b9734b7465.
        Tasks = "tasks",
    }
}

choices! {
    /// Who evens out the numbers of tasks of cores, caches and packages with spare cpus (`prefer_sibling` in
    /// `find_busiest_group`).
    pub enum Siblings {
        /// Busy cpus too, and cores with one and with several threads are compared by tasks. To 6.5.
        Any = "any",
        /// Idle cpus only, in proportion to the cores of the groups. Since 6.6, 7ff1693236f5.
        Idle = "idle",
    }
}

choices! {
    /// How many cpus of the target's shared cache a woken task looks at for an idle one (`select_idle_cpu`).
    pub enum Scan {
        /// All; no release has this.
        All = "all",
        /// As many as the idle times of the waker's cpu pay for, at least 4 (`SIS_PROP`). 4.13 to 5.19,
        /// 1ad3aaf3fcd2. The costs of a look are assumed (`scan_cost` of `LOAD`); the time since a cpu went
        /// idle is not aged at ticks, as 5.12 and later do.
        Proportional = "proportional",
        /// The fewer, the busier the cpus of the cache were at their last periodic balancing; none from 85 %
        /// on (`SIS_UTIL`). Since 6.0, 70fb5ccf2ebb.
        Utilisation = "utilisation",
        /// All, but only for a core of which every thread is idle; then for another thread of the target's
        /// core. To 4.8, when 10e2f1acd010 replaced it.
        Cores = "cores",
    }
}

choices! {
    /// How a task finds a place on the node with most of its pages (`task_numa_find_cpu`,
    /// `task_numa_compare`).
    pub enum NumaSearch {
        /// On a node that is less busy than its own; loads may differ by half of the tolerance. To 4.18.
        Capacity = "capacity",
        /// Alone if that brings the loads no further apart, in exchange otherwise. 4.19 to 5.6, 305c1fac3225,
        /// 2d4056fafa19.
        Load = "load",
        /// On an idle cpu at once, if the node has spare cpus and `numa_allowance` lets the move stand;
        /// exchanges with tasks that come home first. Since 5.7, ff7db0bf24db, 88cca72c9673.
        Spare = "spare",
    }
}

choices! {
    /// Which hinting faults make scans of pages rarer (`update_task_scan_period`).
    pub enum NumaPeriod {
        /// Those on local pages; the others make scans the more frequent, the more of them are private. To
        /// 4.13.
        Local = "local",
        /// Private ones, wherever the pages are; then local ones. Since 4.14, 37ec97deb3a8.
        Private = "private",
    }
}

choices! {
    /// Whether a cpu counts as idle for a woken task whose tasks are all of `SCHED_IDLE` (`sched_idle_cpu`).
    pub enum IdleClass {
        /// It does not. To 5.3.
        Busy = "busy",
        /// It does. 5.4 to 7.0, 3c29e651e16d.
        Idle = "idle",
        /// It does, but not for tasks of `SCHED_IDLE`. Since 7.1, fd54d81c2c0e.
        IdleForOthers = "idle-for-others",
    }
}

choices! {
    /// What a look of a cpu that goes idle counts as if it pulls nothing.
    pub enum Failing {
        /// What it costs. 3.13 to 6.16.
        Cost = "cost",
        /// 3/2 of the highest cost so far, up to `migration_cost` and 200 ns, so that vain looks end soon.
        /// 6.17 to 6.18.2, 155213a2aed4.
        More = "more",
        /// What it costs; each level is passed over at random, so that the share of looks follows the share
        /// of those that pull (`NI_RANDOM`). 6.19 and stable kernels since January 2026, 33cf66d88306.
        Random = "random",
        /// The same; rare looks keep a higher share (`NI_RATE`). Since 7.1.
        RandomByRate = "random-by-rate",
    }
}

parameters! {
    /// The rules of the balancer by types of groups.
    pub struct TypeRules {
        /// Balancer: how much longer the intervals of busy cpus are (sd_init; 16 since 5.10, commit
        /// 6e7499135db7; 32 before).
        busy_factor: u64 = 16, in 1..=1_000;
        /// Balancer: intervals of busy cpus are a tick shorter, so that levels do not stay in step
        /// (get_sd_balance_interval; since 5.10, e4d32e4d5444).
        busy_less_a_tick: bool = true;
        /// Balancer: tolerated excess of load above the level of a shared cache, where it is 17% in all
        /// releases, as between threads of a core 10% (imbalance_pct in sd_init, less 100; 17% since 5.10,
        /// 2208cdaa56c9; 25% before).
        tolerance: Percent = percent(17), in 0..=percent(400);
        /// Balancer: what it compares. `loads`: loads of groups; at least one task moves where that brings
        /// them closer (fix_small_imbalance; to 5.4). `types`: types of groups, by idle cpus, tasks and
        /// utilisation (since 5.5, 0b0695f2b34a).
        compares: Compares = Compares::Types;
        /// Balancer by loads: when a group is overloaded (group_is_overloaded). `tasks`: with more tasks than
        /// cores (to 4.0). `time`: with more tasks than cpus, whose utilisation leaves little (4.1 to 5.4,
        /// ea67821b9a3e).
        crowded: Crowded = Crowded::Time;
        /// Balancer by loads: a cpu that is idle takes from an overloaded group whatever the loads are, as
        /// one does that goes idle (find_busiest_group; since 4.15, 583ffd99d765). Before, an idle cpu stays
        /// idle beside a heavy task while lighter ones wait elsewhere.
        idle_takes: bool = true;
        /// Balancer: tasks that sleep still count in the load of their cpu, fading (cpu_load instead of
        /// runnable_load_avg; since 5.5, b0fb1eb4f04a).
        sleepers_count: bool = true;
        /// Balancer by loads: busy and idle cpus, not those that go idle, compare the load of now with one
        /// that follows it over some ticks, and are cautious (LB_BIAS, cpu_load; to 4.19, fdf5f315d5cf).
        load_bias: bool = false;
        /// Balancer: the threads of a core have together the capacity of 1.15 cpus (smt_gain; to 5.1).
        threads_share: bool = false;
        /// Balancer: cores and shared caches, not only memory nodes, spread their tasks over their siblings
        /// (SD_PREFER_SIBLING at the levels SMT and MC; by 4.18).
        caches_spread: bool = true;
        /// Balancer: cores that share an inner cache, the `cluster` of a machine, are a level of their own,
        /// CLS, and the level of the whole cache evens out their tasks (CONFIG_SCHED_CLUSTER; since 5.16,
        /// 778c558f49a2 and 66558b730f25).
        clusters: bool = true;
        /// Balancer: of a queue the task that came last is moved first, since 4.15 the one that ran longest
        /// ago (detach_tasks, 93824900a2e2).
        newest_first: bool = false;
        /// Balancer: how a new task finds the idlest group (find_idlest_group). `loads`: by loads (to 4.9).
        /// `averages`: by loads, and where they are close by those of sleeping tasks too; between nodes it
        /// stays up to the margin (4.17 to 5.4, 2c83362734da). `types`: by types and idle cpus (since 5.5,
        /// 57abff067a08), and between nodes by `fork_numa`.
        fork: Fork = Fork::Types;
        /// Balancer: where a new task goes whose own node has idle cpus (find_idlest_group). `idle`: it stays
        /// while the node has one (5.5 to 5.10, 57abff067a08). `quarter`: while the node runs fewer tasks
        /// than a quarter of the level's cpus (5.11 to 5.17, 23e6082a522e). `tasks`: while the node with it
        /// runs at most imb_numa_nr tasks (5.18 and 5.19, e496132ebedd). `tasks-and-gap`: if the idle cpus
        /// also differ by two at most (since 6.0, cb29a5c19d2d).
        fork_numa: ForkNuma = ForkNuma::TasksAndGap;
        /// Balancer: which imbalance stays between nodes with spare cpus (adjust_numa_imbalance). `off`: none
        /// (5.5; RHEL 8.4 to 8.6). `two`: two tasks in the busiest node (5.6 to 5.10, b396f52326de).
        /// `quarter`: two tasks to move, while that node runs fewer than a quarter of its cpus (5.11 to 5.17,
        /// 7d2b5dd0bcc4). `moved`: two to move, while the local node with one more runs at most imb_numa_nr
        /// (5.18 and 5.19, 2cfb7a1b031b). `difference`: a difference of two in that case (since 6.0,
        /// cb29a5c19d2d).
        numa_allowance: NumaAllowance = NumaAllowance::Difference;
        /// Balancer: a node whose cpus share one cache may stay uneven by its cpus divided by this
        /// (imb_numa_nr in build_sched_domains; 8 since 6.0, commit 026b98a93bbd; 4 in 5.18 and 5.19).
        numa_divisor: u32 = 8, in 1..=1_000;
        /// Balancer: which tasks fit the load to move (detach_tasks). `always-half`: half of the load fits
        /// (to 5.4). `half`: the same, or more attempts failed than cache_nice_tries (5.5 to 5.9). `shift`:
        /// the load fits, halved once for each attempt that failed (since 5.10, 5a7f55590467).
        detach: Detach = Detach::Shift;
        /// Balancer: the utilisation of a task, too, is halved for each attempt that failed (migrate_util in
        /// detach_tasks; since 5.11 to 5.15; not in 5.10).
        utilisation_shrinks: bool = true;
        /// Balancer: when attempts that fail make the stopper move a running task (need_active_balance).
        /// `any`: whatever is to move; the interval doubles then, and if no task may come the failures count
        /// on from cache_nice_tries + 1 (to 5.11). `tasks`: only where a number of tasks is to move (since
        /// 5.12, e9b9734b7465).
        active_balance: ActiveBalance = ActiveBalance::Tasks;
        /// Balancer: who evens out the numbers of tasks of cores, caches and packages with spare cpus
        /// (prefer_sibling in find_busiest_group). `any`: busy cpus too, by tasks (to 6.5). `idle`: idle cpus
        /// only, in proportion to the cores (since 6.6, 7ff1693236f5).
        siblings: Siblings = Siblings::Idle;
        /// Balancer: a core of several threads with more than one task ranks above full groups for an idle
        /// cpu (group_smt_balance; since 6.6, fee1759e4f04).
        smt_balance: bool = true;
        /// Balancer: of full groups the last one looked at is the busiest, unless its rivals are threads of a
        /// core; before, the first (update_sd_pick_busiest; since 6.6, 5fd6d7f43958).
        last_full_group: bool = true;
        /// Balancer: the idle cpu that balances for its group is one of an idle core, if there is one;
        /// before, the first idle cpu (should_we_balance; since 6.6, b1bfeab9b002).
        idle_core_first: bool = true;
        /// Balancer: a group counts as overloaded also by the time that its tasks are runnable, not only by
        /// utilisation (group_is_overloaded; since 5.7, 070f5e860ee2).
        runnable_counts: bool = true;
        /// Balancer: the queue to take utilisation from is chosen by the time of runnable tasks too
        /// (cpu_util_cfs_boost in find_busiest_queue; since 6.5, 7d0583cf9ec7).
        runnable_boost: bool = true;
        /// Balancer: between cpus that share a cache numbers of tasks move, not utilisation
        /// (calculate_imbalance; since 5.11, 16b0a7a1a0af).
        cache_moves_tasks: bool = true;
        /// Balancer: no utilisation is taken from a cpu with one task (find_busiest_queue; since 5.7,
        /// c32b4308295a).
        lone_task_stays: bool = true;
        /// Balancer: a task that is not eligible on its queue does not come to a cpu with tasks at a first
        /// attempt (task_is_ineligible_on_dst_cpu; since 6.13).
        ineligible_stays: bool = true;
        /// Wake-up: a task that wakes many others, which wake many, is not followed to its cpu (wake_wide;
        /// since 4.3, 63b0e9edceec).
        wake_wide: bool = true;
        /// Wake-up: the same by the task that is woken: it has more flips than the cache cpus, and its waker
        /// so many times more (wake_wide of 3.12 to 4.2, 62470419e993). It acts with `wake_wide`.
        wide_by_wakee: bool = false;
        /// Wake-up: an idle cpu of the waker wins if it shares the cache of the previous one, and loads
        /// decide by the margin otherwise (wake_affine_idle; since 4.14, d153b153446f). Before, loads decide
        /// alone, and a waker's cpu without load wins.
        idle_waker_wins: bool = true;
        /// Wake-up: an idle previous cpu wins over the waker's, also where they share no cache
        /// (wake_affine_idle; since 5.11, d8fcb81f1acf); before, loads decide.
        idle_previous_wins: bool = true;
        /// Wake-up: a task goes to a third cpu that it remembers, if that is idle and shares the target's
        /// cache (recent_used_cpu; since 4.16, 32e839dda3ba).
        recent_cpu: bool = true;
        /// Wake-up: a task remembers the cpu before the last (recent_used_cpu; since 5.14, 89aafd67f28c);
        /// before, a waker remembers its own cpu, and a task that goes to the one it remembers the cpu it
        /// left.
        previous_is_recent: bool = true;
        /// Wake-up: how many cpus of the target's cache a task looks at for an idle one (select_idle_cpu).
        /// `all`: all of them. `proportional`: as many as the idle times of the waker's cpu pay for, at least
        /// 4 (SIS_PROP; 4.13 to 5.19, 1ad3aaf3fcd2). `utilisation`: the fewer, the busier the cpus of the
        /// cache were at their last periodic balancing, none from 85 % on (SIS_UTIL; since 6.0,
        /// 70fb5ccf2ebb). `cores`: all, for a core that is idle as a whole; else a thread of the target's
        /// core (to 4.8).
        scan: Scan = Scan::Utilisation;
        /// Wake-up: without an idle core a task looks at the threads of its previous core before the others
        /// (select_idle_smt; since 5.13, c722f35b513f); before, at those of the target's core after them.
        previous_core_first: bool = true;
        /// Wake-up: a task looks for an idle cpu in the cluster of its target before the rest of the cache.
        /// Its previous cpu and the one that it remembers come last if they are of another cluster
        /// (select_idle_cpu, cpus_share_resources; since 6.8, 8881e1639f1f). It acts with `clusters`.
        cluster_first: bool = true;
        /// Wake-up: whether a cpu with tasks of SCHED_IDLE only counts as idle (sched_idle_cpu). `busy`: not
        /// (to 5.3). `idle`: it does (5.4 to 7.0, 3c29e651e16d). `idle-for-others`: not for tasks of
        /// SCHED_IDLE (since 7.1, fd54d81c2c0e).
        idle_class: IdleClass = IdleClass::Idle;
        /// Balancer: a cpu whose idle times are shorter on average than migration_cost looks for nothing when
        /// it goes idle (newidle_balance; to 5.16, c5b0a7eefc70).
        idle_for_migration_cost: bool = false;
        /// Balancer: a task that ran within this time is cache-hot, and a cpu is not taken for idle long
        /// (sysctl_sched_migration_cost). `migration_cost` of `LOAD` stands above it where it is another one
        /// than 0.5ms.
        migration_cost: Duration = us(500), in 0..=s(1);
        /// Balancer: the highest cost of a look of cpus that go idle falls by 3/256 a second
        /// (update_newidle_cost; since 3.13, f48627e686a6). If false, it stays what a look costs.
        look_cost_fades: bool = true;
        /// Balancer: what a look of a cpu that goes idle counts as if it pulls nothing
        /// (sched_balance_newidle).
        /// `cost`: its cost (3.13 to 6.16). `more`: half as much again as the highest cost so far, up to
        /// migration_cost (6.17 to 6.18.2, 155213a2aed4). `random`: its cost, and looks are left out at
        /// random, so that their share follows the share that pulls (NI_RANDOM; 6.19 and stable kernels since
        /// January 2026, 33cf66d88306). `random-by-rate`: the same, and rare looks keep a higher share
        /// (NI_RATE; 7.1).
        failing: Failing = Failing::More;
        /// Balancer: idle cpus keep their timer ticks, so that each balances at its own (nohz=off on the
        /// command line, or CONFIG_HZ_PERIODIC). If false, the tick of a busy cpu sends for an idle one,
        /// which balances for all (nohz_balancer_kick).
        idle_ticks: bool = false;
        /// Memory: automatic NUMA balancing. A scan marks the pages of each task part by part, the next use
        /// of a marked page is a hinting fault, and pages move to the node of the task that uses them
        /// (task_numa_work, should_numa_migrate_memory; since 3.8). Off in a kernel built with the x86-64
        /// defconfig, on in those of RHEL, SLES, Debian and Ubuntu.
        numa_balancing: bool = false;
        /// Memory: under `numa_balancing` tasks also move to the node with most of their faults, alone or in
        /// exchange for another one, and the balancer leaves them there (task_numa_migrate,
        /// migrate_degrades_locality, fbq_classify_rq; since 3.13). If false, only pages move.
        numa_moves_tasks: bool = true;
        /// Memory: in its first scans a page moves at its first fault by the task that had its last one;
        /// later at the second in turn on the same node (should_numa_migrate_memory; since 4.20,
        /// 37355bdc5a12). If false, always at the second; a page without a fault so far moves at once.
        numa_moves_early: bool = true;
        /// Memory: which faults make scans rarer (update_task_scan_period). `local`: those on local pages (to
        /// 4.13). `private`: those of one task, and then local ones (since 4.14, 37ec97deb3a8).
        numa_period: NumaPeriod = NumaPeriod::Private;
        /// Memory: how a task finds a place on the node with most of its pages (task_numa_find_cpu).
        /// `capacity`: on a node that is less busy (to 4.18). `load`: if loads come no further apart (4.19 to
        /// 5.6, 305c1fac3225). `spare`: on an idle cpu at once, as far as `numa_allowance` goes (since 5.7,
        /// ff7db0bf24db).
        numa_search: NumaSearch = NumaSearch::Spare;
        /// Memory: an exchange of two tasks brings both together nearer to so many thousandths of their
        /// faults at least (SMALLIMP in task_numa_compare; 30 since 4.20, 6fd98e775f24; 0 before). Under the
        /// search by capacity it has no effect.
        numa_least_gain: u64 = 30, in 0..=2_000;
        /// Memory: tasks of one group, or of none, change places also while the node has spare cpus
        /// (task_numa_compare; to 5.19, 13ede3315087).
        numa_spare_swaps: bool = false;
        /// Memory: programs have huge pages of 2 MiB (transparent_hugepage=always), each with one hinting
        /// fault; if false, pages of 4 KiB.
        numa_huge_pages: bool = true;
        /// Memory: cpu time of a task before the first pass over its pages (numa_balancing_scan_delay_ms).
        numa_scan_delay: Duration = s(1), in 0..=LONGEST;
        /// Memory: bytes of a process that one pass marks (numa_balancing_scan_size_mb). At most 2,560 MB are
        /// marked in a second.
        numa_scan_size: Size = mib(256), in mib(1)..=mib(1 << 20);
        /// Memory: least cpu time of a scan of all pages of a process, and so between two passes if one pass
        /// marks them all (numa_balancing_scan_period_min_ms).
        numa_period_min: Duration = s(1), in ms(1)..=LONGEST;
        /// Memory: most cpu time of such a scan, at least the least one (numa_balancing_scan_period_max_ms).
        numa_period_max: Duration = s(60), in ms(1)..=LONGEST;
    }
}

impl Copy for TypeRules {}

/// Number of rules.
pub(super) const TYPES: usize = TypeRules::TABLE.len();

/// 6.18.
pub(super) const TYPES_6_18: [Parameter; TYPES] = changed(TypeRules::TABLE, &[]);

/// 6.8 to 6.12.
pub(super) const TYPES_6_8: [Parameter; TYPES] = changed(
    &TYPES_6_18,
    &[TypeRules::ineligible_stays.with(false as u64), TypeRules::failing.with(Failing::Cost as u64)],
);

/// 6.6 and 6.7.
pub(super) const TYPES_6_6: [Parameter; TYPES] =
    changed(&TYPES_6_8, &[TypeRules::cluster_first.with(false as u64)]);

/// 6.12 after the stable updates of January 2026.
pub(super) const TYPES_6_12_65: [Parameter; TYPES] =
    changed(&TYPES_6_8, &[TypeRules::failing.with(Failing::Random as u64)]);

/// 6.18.0 and 6.18.1.
pub(super) const TYPES_6_18_0: [Parameter; TYPES] = TYPES_6_18;

/// 6.19.
pub(super) const TYPES_6_19: [Parameter; TYPES] =
    changed(&TYPES_6_18, &[TypeRules::failing.with(Failing::Random as u64)]);

/// 7.1.
pub(super) const TYPES_7_1: [Parameter; TYPES] = changed(
    &TYPES_6_19,
    &[
        TypeRules::failing.with(Failing::RandomByRate as u64),
        TypeRules::idle_class.with(IdleClass::IdleForOthers as u64),
    ],
);

/// 6.5.
pub(super) const TYPES_6_5: [Parameter; TYPES] = changed(
    &TYPES_6_6,
    &[
        TypeRules::siblings.with(Siblings::Any as u64),
        TypeRules::smt_balance.with(false as u64),
        TypeRules::last_full_group.with(false as u64),
        TypeRules::idle_core_first.with(false as u64),
    ],
);

/// 6.0 to 6.4.
pub(super) const TYPES_6_1: [Parameter; TYPES] =
    changed(&TYPES_6_5, &[TypeRules::runnable_boost.with(false as u64)]);

/// 5.18 and 5.19.
pub(super) const TYPES_5_19: [Parameter; TYPES] = changed(
    &TYPES_6_1,
    &[
        TypeRules::fork_numa.with(ForkNuma::Tasks as u64),
        TypeRules::numa_allowance.with(NumaAllowance::Moved as u64),
        TypeRules::numa_divisor.with(4),
        TypeRules::numa_spare_swaps.with(true as u64),
        TypeRules::scan.with(Scan::Proportional as u64),
    ],
);

/// 5.15 and 5.16.
pub(super) const TYPES_5_15: [Parameter; TYPES] = changed(
    &TYPES_5_19,
    &[
        TypeRules::fork_numa.with(ForkNuma::Quarter as u64),
        TypeRules::numa_allowance.with(NumaAllowance::Quarter as u64),
        TypeRules::clusters.with(false as u64),
        TypeRules::idle_for_migration_cost.with(true as u64),
    ],
);

/// 5.10.
pub(super) const TYPES_5_10: [Parameter; TYPES] = changed(
    &TYPES_5_15,
    &[
        TypeRules::fork_numa.with(ForkNuma::Idle as u64),
        TypeRules::numa_allowance.with(NumaAllowance::Two as u64),
        TypeRules::utilisation_shrinks.with(false as u64),
        TypeRules::active_balance.with(ActiveBalance::Any as u64),
        TypeRules::cache_moves_tasks.with(false as u64),
        TypeRules::idle_previous_wins.with(false as u64),
        TypeRules::previous_is_recent.with(false as u64),
        TypeRules::previous_core_first.with(false as u64),
    ],
);

/// 5.7 to 5.9.
pub(super) const TYPES_5_9: [Parameter; TYPES] = changed(
    &TYPES_5_10,
    &[
        TypeRules::busy_factor.with(32),
        TypeRules::busy_less_a_tick.with(false as u64),
        TypeRules::tolerance.with(2_500),
        TypeRules::detach.with(Detach::Half as u64),
    ],
);

/// 5.5.
pub(super) const TYPES_5_5: [Parameter; TYPES] = changed(
    &TYPES_5_9,
    &[
        TypeRules::numa_allowance.with(NumaAllowance::Off as u64),
        TypeRules::numa_search.with(NumaSearch::Load as u64),
        TypeRules::runnable_counts.with(false as u64),
        TypeRules::lone_task_stays.with(false as u64),
    ],
);

/// 5.2 to 5.4.
pub(super) const TYPES_5_4: [Parameter; TYPES] = changed(
    &TYPES_5_5,
    &[
        TypeRules::compares.with(Compares::Loads as u64),
        TypeRules::sleepers_count.with(false as u64),
        TypeRules::detach.with(Detach::AlwaysHalf as u64),
        TypeRules::fork.with(Fork::Averages as u64),
    ],
);

/// 4.17 to 4.19.
pub(super) const TYPES_4_18: [Parameter; TYPES] = changed(
    &TYPES_5_4,
    &[
        TypeRules::load_bias.with(true as u64),
        TypeRules::threads_share.with(true as u64),
        TypeRules::idle_class.with(IdleClass::Busy as u64),
        TypeRules::numa_moves_early.with(false as u64),
        TypeRules::numa_search.with(NumaSearch::Capacity as u64),
        TypeRules::numa_least_gain.with(0),
    ],
);

/// 3.16 to 4.0.
pub(super) const TYPES_3_16: [Parameter; TYPES] = changed(
    &TYPES_4_18,
    &[
        TypeRules::crowded.with(Crowded::Tasks as u64),
        TypeRules::idle_takes.with(false as u64),
        TypeRules::caches_spread.with(false as u64),
        TypeRules::newest_first.with(true as u64),
        TypeRules::fork.with(Fork::Loads as u64),
        TypeRules::scan.with(Scan::Cores as u64),
        TypeRules::wide_by_wakee.with(true as u64),
        TypeRules::idle_waker_wins.with(false as u64),
        TypeRules::recent_cpu.with(false as u64),
        TypeRules::numa_period.with(NumaPeriod::Local as u64),
    ],
);

/// The rows of the releases, oldest first: each holds until the next one.
pub static TYPE_ROWS: [(&str, [Parameter; TYPES]); 13] = [
    ("3.16", TYPES_3_16),
    ("4.18", TYPES_4_18),
    ("5.4", TYPES_5_4),
    ("5.5", TYPES_5_5),
    ("5.9", TYPES_5_9),
    ("5.10", TYPES_5_10),
    ("5.15", TYPES_5_15),
    ("5.19", TYPES_5_19),
    ("6.1", TYPES_6_1),
    ("6.5", TYPES_6_5),
    ("6.6", TYPES_6_6),
    ("6.8", TYPES_6_8),
    ("6.18", TYPES_6_18),
];
