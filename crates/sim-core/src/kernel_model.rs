//! What an operating-system kernel's scheduler does on one cpu, as parameters: tick and run-queue discipline.

use crate::time::Span;

/// A kernel's per-cpu scheduling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelModel {
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
    /// Completely Fair Scheduler of Linux 2.6.28.
    Cfs(CfsParams),
    /// Round robin with a fixed quantum.
    RoundRobin {
        /// Quantum; at least 1 us.
        quantum: Span,
    },
}

/// What `sched_yield` does under CFS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum YieldMode {
    /// The caller's virtual runtime is brought up to date and the next task is picked (`sched_compat_yield` = 0).
    Default,
    /// The caller goes behind every other task of its queue (`sched_compat_yield` = 1).
    Posix,
}

/// Tunables of CFS, as in force (after the kernel scaled them by the number of cpus).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CfsParams {
    /// Period in which each of up to `nr_latency` tasks runs once.
    pub latency: Span,
    /// Slice per task beyond `nr_latency` tasks.
    pub min_granularity: Span,
    /// Lead in virtual runtime a woken task needs to pre-empt.
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

#[cfg(test)]
mod tests {
    use super::*;

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
