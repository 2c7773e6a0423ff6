//! What a scheduler gives: `struct sched_ext_ops` as a trait.

use sim_core::ids::{CpuId, TaskId};

use crate::ext::given::{Cgroup, ExitInfo, Given};
use crate::ext::kernel::Kernel;

/// A scheduler: the operations of `struct sched_ext_ops`, in the order in which the kernel calls them.
///
/// An operation is called only if [`Scheduler::given`] names it. All results are those of Linux: a cpu, or 0
/// or a negative error number. Cpus are numbers as schedulers know them and may be out of range; such a cpu
/// ends the run with an error, as it unloads a scheduler. `cpu_acquire`, `cpu_release`, `cpu_online`,
/// `cpu_offline` and `core_sched_before` have no method: no higher class takes a cpu here, none goes offline,
/// and no cores are shared by cookie.
pub trait Scheduler: Send {
    /// `ops.name`.
    fn name(&self) -> &str;
    /// The operations that it gives.
    fn given(&self) -> Given;
    /// `ops.flags`.
    fn flags(&self) -> u64 {
        0
    }
    /// `ops.timeout_ms`: a runnable task that does not run for so long ends the run. 0: 30 s, the most.
    fn timeout_ms(&self) -> u32 {
        0
    }
    /// `ops.dispatch_max_batch`; 0: 32.
    fn dispatch_max_batch(&self) -> u32 {
        0
    }
    /// `ops.init`: nothing exists yet. A negative result ends the run.
    fn init(&mut self, kernel: &mut Kernel<'_>) -> i32 {
        let _ = kernel;
        0
    }
    /// `ops.exit`: the run ends.
    fn exit(&mut self, kernel: &mut Kernel<'_>, info: &ExitInfo) {
        let _ = (kernel, info);
    }
    /// `ops.init_task`: a task is created (`fork`: by another one). A negative result ends the run.
    fn init_task(&mut self, kernel: &mut Kernel<'_>, task: TaskId, fork: bool, cgroup: u64) -> i32 {
        let _ = (kernel, task, fork, cgroup);
        0
    }
    /// `ops.enable`: the scheduler has the task from now on.
    fn enable(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        let _ = (kernel, task);
    }
    /// `ops.disable`: it no longer has the task.
    fn disable(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        let _ = (kernel, task);
    }
    /// `ops.exit_task`: the task has ended.
    fn exit_task(&mut self, kernel: &mut Kernel<'_>, task: TaskId, cancelled: bool) {
        let _ = (kernel, task, cancelled);
    }
    /// `ops.select_cpu`: a task that may use several cpus wakes or is created.
    fn select_cpu(&mut self, kernel: &mut Kernel<'_>, task: TaskId, prev: i32, wake_flags: u64) -> i32 {
        let _ = (kernel, task, wake_flags);
        prev
    }
    /// `ops.runnable`.
    fn runnable(&mut self, kernel: &mut Kernel<'_>, task: TaskId, enq_flags: u64) {
        let _ = (kernel, task, enq_flags);
    }
    /// `ops.enqueue`: a runnable task needs a place, or it stays with the scheduler.
    fn enqueue(&mut self, kernel: &mut Kernel<'_>, task: TaskId, enq_flags: u64) {
        let _ = (kernel, task, enq_flags);
    }
    /// `ops.dequeue`: a task that the scheduler has is taken away.
    fn dequeue(&mut self, kernel: &mut Kernel<'_>, task: TaskId, deq_flags: u64) {
        let _ = (kernel, task, deq_flags);
    }
    /// `ops.dispatch`: a cpu has no task, or only `prev`, whose slice is over; `prev` may also have gone to
    /// sleep.
    fn dispatch(&mut self, kernel: &mut Kernel<'_>, cpu: CpuId, prev: Option<TaskId>) {
        let _ = (kernel, cpu, prev);
    }
    /// `ops.running`.
    fn running(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        let _ = (kernel, task);
    }
    /// `ops.tick`: a timer tick while the task runs.
    fn tick(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        let _ = (kernel, task);
    }
    /// `ops.stopping`.
    fn stopping(&mut self, kernel: &mut Kernel<'_>, task: TaskId, runnable: bool) {
        let _ = (kernel, task, runnable);
    }
    /// `ops.quiescent`.
    fn quiescent(&mut self, kernel: &mut Kernel<'_>, task: TaskId, deq_flags: u64) {
        let _ = (kernel, task, deq_flags);
    }
    /// `ops.yield` of a task that calls `sched_yield`; `to` is always none here.
    fn yields(&mut self, kernel: &mut Kernel<'_>, from: TaskId, to: Option<TaskId>) -> bool {
        let _ = (kernel, from, to);
        false
    }
    /// `ops.set_weight`: of a task, 1 to 10,000; 100 is nice 0.
    fn set_weight(&mut self, kernel: &mut Kernel<'_>, task: TaskId, weight: u32) {
        let _ = (kernel, task, weight);
    }
    /// `ops.set_cpumask`: the cpus that the task may use are other ones ([`Kernel::cpus_allowed`]).
    fn set_cpumask(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        let _ = (kernel, task);
    }
    /// `ops.update_idle`: a cpu becomes idle or ends being so. Without `SCX_OPS_KEEP_BUILTIN_IDLE` a
    /// scheduler that gives it has no idle masks.
    fn update_idle(&mut self, kernel: &mut Kernel<'_>, cpu: CpuId, idle: bool) {
        let _ = (kernel, cpu, idle);
    }
    /// `ops.cgroup_init`.
    fn cgroup_init(&mut self, kernel: &mut Kernel<'_>, cgroup: &Cgroup) -> i32 {
        let _ = (kernel, cgroup);
        0
    }
    /// `ops.cgroup_exit`.
    fn cgroup_exit(&mut self, kernel: &mut Kernel<'_>, cgroup: u64) {
        let _ = (kernel, cgroup);
    }
    /// `ops.cgroup_prep_move`.
    fn cgroup_prep_move(&mut self, kernel: &mut Kernel<'_>, task: TaskId, from: u64, to: u64) -> i32 {
        let _ = (kernel, task, from, to);
        0
    }
    /// `ops.cgroup_move`.
    fn cgroup_move(&mut self, kernel: &mut Kernel<'_>, task: TaskId, from: u64, to: u64) {
        let _ = (kernel, task, from, to);
    }
    /// `ops.cgroup_cancel_move`.
    fn cgroup_cancel_move(&mut self, kernel: &mut Kernel<'_>, task: TaskId, from: u64, to: u64) {
        let _ = (kernel, task, from, to);
    }
    /// `ops.cgroup_set_weight`.
    fn cgroup_set_weight(&mut self, kernel: &mut Kernel<'_>, cgroup: u64, weight: u32) {
        let _ = (kernel, cgroup, weight);
    }
    /// A timer fires that [`Kernel::timer_start`] started (`bpf_timer`).
    fn timer(&mut self, kernel: &mut Kernel<'_>, token: u64) {
        let _ = (kernel, token);
    }
    /// What the scheduler has counted, for the results. Names are in lower case, with `_`.
    fn counters(&self) -> Vec<(String, u64)> {
        Vec::new()
    }
}
