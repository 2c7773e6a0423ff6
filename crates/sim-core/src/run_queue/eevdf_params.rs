//! The rules of EEVDF that differ between releases (kernel/sched/fair.c of Linux 6.6 to 7.1), as values.

use crate::run_queue::bandwidth::Bandwidth;
use crate::run_queue::groups::GroupShares;
use crate::time::Span;

/// What `sched_yield` does to the request of its caller (`yield_task_fair`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EevdfYield {
    /// The deadline moves on by a slice, the virtual runtime stays (147f3efaa241, Linux 6.6 to 6.18.1).
    /// Beside others that compute, the caller stays the only eligible task until it has used its share.
    Deadline,
    /// The virtual runtime moves on to the deadline unless the caller is ahead of the average, and a new
    /// request begins (79104becf42b, Linux 6.18.2 and 6.19).
    Forfeit,
}

/// How long a task that was picked is protected as long as it is eligible (`set_protect_slice`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protection {
    /// As long as its deadline stays the one with which it was picked, so that a yield or a new weight ends
    /// it (63304558ba5d, Linux 6.6 to 6.16).
    Deadline,
    /// Up to a virtual runtime that is set when it is picked (052c3d87c82e, since Linux 6.17).
    MinSlice,
}

/// When the kernel gives up the cpu for a task that is to run in place of the current one (`PREEMPT_*`,
/// kernel/Kconfig.preempt). The models differ for a task in the kernel, which is not simulated; for one in
/// user mode only the last does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preemption {
    /// Inside the kernel only where the code says so (`cond_resched`).
    None,
    /// Also where the code may sleep (`might_sleep`).
    Voluntary,
    /// Wherever the kernel holds no lock.
    Full,
    /// As `Full`; but a task of the fair class is asked to give up its cpu (`resched_curr_lazy`), without an
    /// interrupt, and does when its cpu next returns to user mode: after an interrupt, the tick, or a system
    /// call (7c70cb94d29c, since Linux 6.13).
    Lazy,
}

/// Tunables of EEVDF, as in force (after the kernel scaled them by the number of cpus).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EevdfParams {
    /// What a task asks for at a time (`base_slice_ns`); at least 1 us.
    pub slice: Span,
    /// Each tick of each cpu is late by a random time up to this; less than the tick's period.
    pub tick_jitter: Span,
    /// A task that sleeps while it is ahead of its share stays in the queue until it would be picked
    /// (`DELAY_DEQUEUE`).
    pub delayed_dequeue: bool,
    /// A task comes back with the lag it left with (`PLACE_LAG`).
    pub place_lag: bool,
    /// A task that moves to another cpu keeps what is left of its request (`PLACE_REL_DEADLINE`,
    /// 82e9d0456e06, Linux 6.12); otherwise a whole new request begins there.
    pub rel_deadline: bool,
    /// What is left of the request of a task that gets another weight stays the same service (6d71a9c61604,
    /// Linux 6.13 and 6.12.10); otherwise it stays the same virtual time.
    pub request_scales: bool,
    /// The first request of a new task is half a slice (`PLACE_DEADLINE_INITIAL` at its first queue, since
    /// Linux 6.12); before, the queue that it enters begins a whole one.
    pub half_first_request: bool,
    /// What `sched_yield` does.
    pub yields: EevdfYield,
    /// What ends the protection of a task that was picked.
    pub protection: Protection,
    /// How long it lasts at most without `RUN_TO_PARITY`: not at all under [`Protection::Deadline`], else for
    /// the slice before scaling. `None`: with it, for the slice of the task, under [`Protection::MinSlice`]
    /// for the shortest slice of the queue.
    pub protected: Option<Span>,
    /// Tasks may have a slice of their own (`sched_setattr`, 857b158dc5e8, Linux 6.12).
    pub own_slices: bool,
    /// A task that wakes is not held up by the protection of a current task with a longer slice
    /// (`PREEMPT_SHORT`, 85e511df3cec, Linux 6.12).
    pub preempt_short: bool,
    /// A timer ends the request of the current task when it is used up (`HRTICK`, on since Linux 7.1 where
    /// timers can be deferred); otherwise the next tick does. It starts when a task is picked in place of
    /// another one, and when one enters the queue: a task that is picked again runs up to a tick.
    pub hrtick: bool,
    /// When a task that is to run gets the cpu.
    pub preemption: Preemption,
    /// A group whose weight changes is placed anew by its lag, as a task that enters (eab03c23c2a1, since
    /// Linux 6.7); otherwise its virtual runtime stays, and with it not the service that it lags behind by.
    pub reweigh_places: bool,
    /// By what load the weight of a task group is divided among the cpus.
    pub group_shares: GroupShares,
    /// How the cpu time of groups is limited.
    pub bandwidth: Bandwidth,
    /// The timer's period: what a task that leaves keeps of its lag, for nice 0, is at most this or twice its
    /// slice (`entity_lag`).
    pub tick: Span,
}

impl EevdfParams {
    /// The slice before scaling (`normalized_sysctl_sched_base_slice`, kernel/sched/fair.c; 2ae891b82695,
    /// since Linux 6.15).
    pub const SHORT_SLICE: Span = Span::from_us(700);

    /// Linux 6.18.2 on `cpus` online cpus with a tick of 4 ms. Ticks late by up to 10 us: the size of what
    /// was measured on a virtual machine.
    #[must_use]
    pub fn scaled(cpus: u32) -> Self {
        let slice = Self::scaled_slice(Self::SHORT_SLICE, cpus);
        Self {
            slice,
            tick_jitter: Span::from_us(10),
            delayed_dequeue: true,
            place_lag: true,
            rel_deadline: true,
            request_scales: true,
            half_first_request: true,
            yields: EevdfYield::Forfeit,
            protection: Protection::MinSlice,
            protected: None,
            own_slices: true,
            preempt_short: true,
            hrtick: false,
            preemption: Preemption::Voluntary,
            reweigh_places: true,
            group_shares: GroupShares::Averaged,
            bandwidth: Bandwidth::ON_RETURN,
            tick: Span::from_ms(4),
        }
    }

    /// A slice times 1 + floor(log2(min(cpus, 8))) (kernel/sched/fair.c, `get_update_sysctl_factor`).
    #[must_use]
    pub fn scaled_slice(base: Span, cpus: u32) -> Span {
        base * u64::from(cpus.clamp(1, 8).ilog2() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eevdf_slices_grow_up_to_eight_cpus() {
        let slice = |cpus| EevdfParams::scaled(cpus).slice.ns() / 100_000;
        assert_eq!([1, 2, 4, 7, 8, 16, 1024].map(slice), [7, 14, 21, 21, 28, 28, 28]);
    }
}
