//! Load averages of each cpu as Linux 2.6.28 keeps them: `cpu_load[]`, refreshed at the cpu's timer tick
//! only.
//!
//! `update_cpu_load`, `source_load` and `target_load` of kernel/sched.c. The ticks are not simulated: the
//! averages are brought up to date when they are read or the load changes, with the same values as if every
//! tick had done it.

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::PerCpu;
use sim_core::os::OsModel;
use sim_core::policy::View;
use sim_core::time::{Span, Time};

use crate::ticks::{Ticks, followed};

/// Averages kept: index i follows the load with a time constant of 2^i ticks. The kernel keeps five and reads
/// three.
const AVERAGES: usize = 3;

/// The load of a cpu at this instant: the weights in its queue, where there are task groups of the groups as
/// a whole (`weighted_cpuload`).
pub(super) fn load_of(view: &dyn View, cpu: CpuId) -> u64 {
    view.load_average(cpu).unwrap_or_else(|| view.load(cpu))
}

/// What a task counts of it (`task_h_load`; `load_balance_fair` of 2.6).
pub(super) fn weight_of(view: &dyn View, task: TaskId) -> u64 {
    view.task_load_average(task).unwrap_or_else(|| view.task(task).weight.into())
}

#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// Load since the last change.
    weight: u64,
    /// Ticks already counted, and when the next one is due.
    ticks: u64,
    next: Time,
    average: [u64; AVERAGES],
}

/// The averages of all cpus.
#[derive(Clone, Debug, Default)]
pub(super) struct Loads {
    grid: Ticks,
    cpus: PerCpu<Load>,
}

impl Loads {
    pub(super) fn new(kernel: &OsModel, cpus: u32) -> Self {
        Self { grid: Ticks::new(kernel, cpus), cpus: PerCpu::filled(cpus as usize, Load::default()) }
    }

    /// The number of ticks of `cpu` up to `now`, inclusive.
    pub(super) const fn ticks(&self, cpu: CpuId, now: Time) -> u64 {
        self.grid.number(cpu, now)
    }

    /// When tick number `ticks` of `cpu` is due.
    pub(super) const fn due(&self, cpu: CpuId, ticks: u64) -> Time {
        self.grid.due(cpu, ticks)
    }

    /// A span in ticks, rounded up, at least 1.
    pub(super) fn ticks_of(&self, span: Span) -> u64 {
        self.grid.of(span)
    }

    /// The load of `cpu` changes now.
    pub(super) fn set(&mut self, cpu: CpuId, now: Time, weight: u64) {
        self.catch_up(cpu, now);
        self.cpus[cpu].weight = weight;
    }

    #[inline]
    fn catch_up(&mut self, cpu: CpuId, now: Time) {
        if now >= self.cpus[cpu].next {
            self.count_ticks(cpu, now);
        }
    }

    fn count_ticks(&mut self, cpu: CpuId, now: Time) {
        let ticks = self.ticks(cpu, now);
        let next = self.due(cpu, ticks + 1);
        let load = &mut self.cpus[cpu];
        let missed = ticks.saturating_sub(load.ticks);
        (load.ticks, load.next) = (ticks, next);
        for (i, average) in load.average.iter_mut().enumerate() {
            *average = decay(*average, load.weight, i as u32, missed);
        }
    }

    /// A cautious low estimate of a cpu's load (`source_load`).
    pub(super) fn source(&mut self, view: &dyn View, cpu: CpuId, index: usize) -> u64 {
        let load = load_of(view, cpu);
        load.min(self.average(cpu, (view.now(), load), index))
    }

    /// A cautious high estimate (`target_load`).
    pub(super) fn target(&mut self, view: &dyn View, cpu: CpuId, index: usize) -> u64 {
        let load = load_of(view, cpu);
        load.max(self.average(cpu, (view.now(), load), index))
    }

    /// The average of a cpu's load with this index; index 0 is the load of this instant.
    #[inline]
    pub(super) fn average(&mut self, cpu: CpuId, (now, load): (Time, u64), index: usize) -> u64 {
        let Some(slot) = index.checked_sub(1) else { return load };
        self.catch_up(cpu, now);
        self.cpus[cpu].average.get(slot).copied().unwrap_or(load)
    }
}

/// `ticks` steps of an average; ends early when it has arrived, which takes at most some hundred steps.
fn decay(mut average: u64, weight: u64, i: u32, ticks: u64) -> u64 {
    for _ in 0..ticks {
        if average == weight {
            break;
        }
        average = followed(average, weight, i);
    }
    average
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::kernel;

    #[test]
    fn averages_follow_the_tick_rule() {
        assert_eq!(decay(0, 1024, 0, 1), 1024);
        assert_eq!(decay(0, 1024, 1, 1), 512);
        assert_eq!(decay(0, 1024, 2, 1), 256);
        assert_eq!(decay(256, 1024, 2, 1), 448);
        // Rising values round up and falling ones down, so both arrive exactly.
        assert_eq!(decay(0, 1024, 2, 1_000_000_000), 1024);
        assert_eq!(decay(5000, 1024, 2, 1_000_000_000), 1024);
        assert_eq!(decay(1023, 1024, 2, 1), 1024);
    }

    #[test]
    fn lazy_equals_tick_by_tick() {
        for i in 0..AVERAGES as u32 {
            let mut stepwise = 37;
            for _ in 0..50 {
                stepwise = decay(stepwise, 3072, i, 1);
            }
            assert_eq!(stepwise, decay(37, 3072, i, 50));
        }
    }

    #[test]
    fn ticks_are_spread_when_skewed() {
        let mut model = kernel(16);
        model.tick_skew = true;
        let loads = Loads::new(&model, 16);
        let last = CpuId(15);
        assert_eq!(loads.due(last, 1), Time::from_ns(1_000_000 + 15 * 31_250));
        assert_eq!(loads.ticks(last, loads.due(last, 7)), 7);
        assert_eq!(loads.ticks(last, Time::from_ns(7_000_000)), 6);
        assert_eq!(loads.ticks_of(Span::from_us(1)), 1);
    }

    #[test]
    fn a_change_is_seen_only_after_the_next_tick() {
        let mut loads = Loads::new(&kernel(1), 1);
        loads.set(CpuId(0), Time::from_ns(200_000), 1024);
        loads.catch_up(CpuId(0), Time::from_ns(900_000));
        assert_eq!(loads.cpus[CpuId(0)].average[0], 0);
        loads.catch_up(CpuId(0), Time::from_ns(1_000_000));
        assert_eq!(loads.cpus[CpuId(0)].average, [1024, 512, 256]);
    }
}
