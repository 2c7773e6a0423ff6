//! What an operating-system kernel's scheduler does on one cpu, as parameters: tick and run-queue discipline.

use crate::time::Span;

/// A kernel's per-cpu scheduling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OsModel {
    /// Its name in reports.
    pub name: String,
    /// Period of the timer tick; at least 1 us.
    pub tick: Span,
    /// Ticks of the cpus are spread over half a period (as Linux did until 2.6.38) instead of all on one grid.
    pub tick_skew: bool,
    /// Who runs next on a cpu.
    pub discipline: Discipline,
}

/// A run-queue discipline with its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Discipline {
    /// Completely Fair Scheduler of Linux 2.6.27 to 2.6.30.
    Cfs(CfsParams),
    /// O(1) scheduler of Linux 2.6.18.
    O1(O1Params),
    /// ULE of FreeBSD 7.
    Ule(UleParams),
    /// Time-sharing class of Solaris 9.
    Ts(TsParams),
    /// Round robin with a fixed quantum.
    RoundRobin {
        /// Quantum; at least 1 us.
        quantum: Span,
    },
    /// Earliest eligible virtual deadline first, of Linux 6.18.
    Eevdf(EevdfParams),
}

/// What `sched_yield` does under CFS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum YieldMode {
    /// The caller's virtual runtime is brought up to date and the next task is picked (`sched_compat_yield` = 0).
    Default,
    /// The caller goes behind every other task of its queue (`sched_compat_yield` = 1).
    Posix,
}

/// The kernel release whose CFS it is; kernel/sched_fair.c of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CfsRelease {
    /// The minimum follows the leftmost waiting task only; a forked task starts a whole period late; only the woken
    /// task is a buddy, preferred whatever its lag for one slice after the last ordinary pick.
    V27,
    /// Both buddies, each within one wake-up granularity of the leftmost.
    V28,
    /// As 28, but the lead a woken task needs shrinks when it wakes others often (`ADAPTIVE_GRAN`), a slice that is
    /// used up ends the current task's claim as a buddy, and the sleeper's credit is not scaled by weight.
    V30,
}

/// Tunables of CFS, as in force (after the kernel scaled them by the number of cpus).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CfsParams {
    /// Whose rules.
    pub release: CfsRelease,
    /// Period in which each of up to `nr_latency` tasks runs once.
    pub latency: Span,
    /// Slice per task beyond `nr_latency` tasks.
    pub min_granularity: Span,
    /// Overhead in virtual runtime a woken task needs to pre-empt.
    pub wakeup_granularity: Span,
    /// Number of tasks that share one latency period.
    pub nr_latency: u32,
    /// A woken task is placed up to one latency before the minimum (fair sleepers).
    pub sleeper_credit: bool,
    /// A forked task starts one slice behind the minimum (`START_DEBIT`).
    pub start_debit: bool,
    /// Prefer the last woken task, then the task it pre-empted (`NEXT_BUDDY`, `LAST_BUDDY`).
    pub buddies: bool,
    /// `sched_yield`.
    pub yield_mode: YieldMode,
}

impl CfsParams {
    /// Linux 2.6.28.2 on `cpus` online cpus: 20 ms, 4 ms and 5 ms times 1 + floor(log2(cpus)), latency and
    /// minimum granularity capped at 200 ms (kernel/sched.c, `sched_init_granularity`).
    #[must_use]
    pub fn linux_2_6_28(cpus: u32) -> Self {
        let factor = u64::from(cpus.max(1).ilog2() + 1);
        let cap = Span::from_ms(200);
        Self {
            release: CfsRelease::V28,
            latency: (Span::from_ms(20) * factor).min(cap),
            min_granularity: (Span::from_ms(4) * factor).min(cap),
            wakeup_granularity: Span::from_ms(5) * factor,
            nr_latency: 5,
            sleeper_credit: true,
            start_debit: true,
            buddies: true,
            yield_mode: YieldMode::Default,
        }
    }
}

/// Tunables of EEVDF, as in force (after the kernel scaled them by the number of cpus).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EevdfParams {
    /// What a task asks for at a time (`base_slice_ns`); at least 1 us.
    pub slice: Span,
    /// Each tick of each cpu is late by a random time up to this; less than the tick's period.
    pub tick_jitter: Span,
    /// A task that sleeps while it is ahead of its share stays in the queue until it would be picked (`DELAY_DEQUEUE`).
    pub delayed_dequeue: bool,
    /// A task comes back with the lag it left with (`PLACE_LAG`).
    pub place_lag: bool,
    /// How long a task that was picked is protected as long as it is eligible; at most its slice counts. The slice under
    /// `RUN_TO_PARITY`, without it [`EevdfParams::SHORT_SLICE`] (`set_protect_slice`).
    pub protected: Span,
    /// Bound of what a task that leaves keeps of its lag, for nice 0: twice the slice or one tick, whichever is longer
    /// (`entity_lag`).
    pub lag_bound: Span,
}

impl EevdfParams {
    /// The slice before scaling (`normalized_sysctl_sched_base_slice`, kernel/sched/fair.c of Linux 6.18).
    pub const SHORT_SLICE: Span = Span::from_us(700);

    /// Linux 6.18 on `cpus` online cpus: 0.7 ms times 1 + floor(log2(min(cpus, 8))) (kernel/sched/fair.c,
    /// `get_update_sysctl_factor`), a tick of 4 ms. Ticks late by up to 10 us: the size of what was measured on a virtual machine.
    #[must_use]
    pub fn linux_6_18(cpus: u32) -> Self {
        let slice = Self::SHORT_SLICE * u64::from(cpus.clamp(1, 8).ilog2() + 1);
        Self {
            slice,
            tick_jitter: Span::from_us(10),
            delayed_dequeue: true,
            place_lag: true,
            protected: slice,
            lag_bound: (slice * 2).max(Span::from_ms(4)),
        }
    }
}

/// Load weights of nice -20 to 19 (Linux 2.6.27, kernel/sched.c, `prio_to_weight`): the scenario gives weights, the
/// other kernels know the nice value.
pub const NICE_WEIGHTS: [u32; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121,
    2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29,
    23, 18, 15,
];

/// Parameters of the O(1) scheduler (Linux 2.6.18, kernel/sched.c).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct O1Params {
    /// Time slice at nice 0 (`DEF_TIMESLICE`); at least 1 us. Other nice values get a twentieth to eight times of it.
    pub timeslice: Span,
    /// Sleep average that earns the full bonus (`MAX_SLEEP_AVG`); at least 10 ns.
    pub sleep_average: Span,
    /// Priority bonus for sleepers, up to 5 levels up or down; without it priorities are static.
    pub bonus: bool,
}

/// Parameters of ULE (FreeBSD, sys/kern/sched_ule.c).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UleParams {
    /// Slice of a thread with at most one rival; at least 1 us. 12 ticks of a statistics clock of 127 Hz.
    pub slice: Span,
    /// Shortest slice, that of six or more rivals; at least 1 us. 2 ticks since FreeBSD 10, the whole slice in 7.
    pub min_slice: Span,
    /// A thread whose interactivity score is below this is interactive (`sched_interact`); 0 to 100.
    pub interactive: u32,
    /// History of running and sleeping that counts (`SCHED_SLP_RUN_MAX`); at least 1 us.
    pub history: Span,
}

/// Parameters of the time-sharing class (illumos, ts.c and ts_dptbl.c of 2005).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TsParams {
    /// The dispatch table for large servers instead of the default one.
    pub server_table: bool,
    /// Clock tick that the table's quanta count; at least 1 us. 10 ms.
    pub clock_tick: Span,
    /// Time between two updates of all priorities; at least 1 us. One second.
    pub update: Span,
    /// The update boosts running threads too, not only waiting ones.
    pub lift_running: bool,
    /// Every sleep earns the priority of a sleeper, as in System V Release 4; otherwise only one that began or went on
    /// across an update.
    pub every_sleep: bool,
    /// Priority of the first thread of a program, 0 to 59.
    pub start: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eevdf_slices_grow_up_to_eight_cpus() {
        let slice = |cpus| EevdfParams::linux_6_18(cpus).slice.ns() / 100_000;
        assert_eq!([1, 2, 4, 7, 8, 16, 1024].map(slice), [7, 14, 21, 21, 28, 28, 28]);
    }

    #[test]
    fn boot_scaling_matches_the_kernel() {
        let sixteen = CfsParams::linux_2_6_28(16);
        assert_eq!(sixteen.latency, Span::from_ms(100));
        assert_eq!(sixteen.min_granularity, Span::from_ms(20));
        assert_eq!(sixteen.wakeup_granularity, Span::from_ms(25));
        assert_eq!(CfsParams::linux_2_6_28(24).latency, Span::from_ms(100));
        assert_eq!(CfsParams::linux_2_6_28(4096).latency, Span::from_ms(200));
        assert_eq!(CfsParams::linux_2_6_28(1).latency, Span::from_ms(20));
    }
}
