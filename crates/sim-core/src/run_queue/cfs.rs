//! The Completely Fair Scheduler of Linux 2.6.28 (kernel/sched_fair.c): virtual runtime, slices, placement, wake-up
//! pre-emption, buddies.
//!
//! Deviations: virtual runtime is exact at every instant instead of brought up to date at ticks; on a cpu shared by
//! several processes every switch is charged as one between processes; any yield on a queue forgets both buddies.

use crate::ids::TaskId;
use crate::kernel::state::{Cpu, Task};
use crate::kernel_model::CfsParams;
use crate::run_queue::{Entry, Tasks};
use crate::time::Span;

/// Weight of a nice-0 task.
const NICE_0: u128 = 1024;

/// Virtual runtime of a span for a weight: exact for nice 0, rounded down otherwise.
pub(crate) const fn weighted(span: Span, weight: u32) -> i64 {
    if weight as u128 == NICE_0 {
        span.ns() as i64
    } else {
        (span.ns() as u128 * NICE_0 / weight as u128) as i64
    }
}

/// The slice of a task of this weight among `running` tasks of total weight `load`: its share of one latency
/// period, or of `running` minimum granularities when they are more than `nr_latency`.
pub(crate) fn slice(params: &CfsParams, running: u32, weight: u32, load: u64) -> Span {
    let period = if running <= params.nr_latency {
        params.latency
    } else {
        params.min_granularity * u64::from(running)
    };
    Span::from_ns((u128::from(period.ns()) * u128::from(weight) / u128::from(load.max(1))) as u64)
}

/// `min_vruntime` follows the smaller of the current and the leftmost task, and never goes back.
pub(crate) fn advance_minimum(tasks: &Tasks, cpu: &mut Cpu) {
    let current = cpu.current.some().map(|id| tasks[id].vruntime);
    let leftmost = cpu.head.some().map(|id| tasks[id].vruntime);
    let least = match (current, leftmost) {
        (Some(a), Some(b)) => a.min(b),
        (Some(a), None) | (None, Some(a)) => a,
        (None, None) => return,
    };
    cpu.min_vruntime = cpu.min_vruntime.max(least);
}

/// Places a task that enters (`place_entity`): a forked one a slice behind the minimum, a woken one up to one
/// latency before it but never before its own past, a moved one where its relative position puts it.
pub(crate) fn place(params: &CfsParams, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, entry: Entry) {
    let task: &Task = &tasks[id];
    let placed = match entry {
        Entry::Fork if params.start_debit => {
            let slice = slice(params, cpu.running + 1, task.weight, cpu.load + u64::from(task.weight));
            cpu.min_vruntime + weighted(slice, task.weight)
        }
        Entry::Fork => cpu.min_vruntime,
        Entry::Wake if params.sleeper_credit => {
            task.vruntime.max(cpu.min_vruntime - weighted(params.latency, task.weight))
        }
        Entry::Wake => task.vruntime.max(cpu.min_vruntime),
        Entry::Move => task.vruntime,
    };
    tasks[id].vruntime = placed;
}

/// Wake-up pre-emption (`check_preempt_wakeup`): the entering task needs a lead of more than one wake-up
/// granularity. It becomes the next buddy and the current task the last buddy whether it pre-empts or not.
pub(crate) fn preempts(params: &CfsParams, tasks: &Tasks, cpu: &mut Cpu, id: TaskId) -> bool {
    if params.buddies {
        cpu.last_buddy = cpu.current;
        cpu.next_buddy = id;
    }
    let lead = tasks[cpu.current].vruntime - tasks[id].vruntime;
    lead > weighted(params.wakeup_granularity, tasks[cpu.current].weight.max(NICE_0 as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_on_sixteen_cpus() {
        let params = CfsParams::linux_2_6_28(16);
        let ms = |n: u32| slice(&params, n, 1024, u64::from(n) * 1024).ns() / 1_000;
        assert_eq!([2, 3, 4, 5, 8].map(ms), [50_000, 33_333, 25_000, 20_000, 20_000]);
    }

    #[test]
    fn heavier_tasks_age_slower() {
        assert_eq!(weighted(Span::from_ns(1_000), 1024), 1_000);
        assert_eq!(weighted(Span::from_ns(1_000), 2048), 500);
    }
}
