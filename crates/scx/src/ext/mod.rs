//! The kernel's side of `sched_ext` (Linux 6.12 to 6.18), as a policy that orders the run queues.
//!
//! [`Ext`] makes a policy of a [`Scheduler`], the operations of `struct sched_ext_ops`. It calls them in
//! the order and with the arguments of `kernel/sched/ext.c`, and gives them a [`Kernel`], the functions
//! `scx_bpf_*`. The local queue of a cpu is the engine's run queue; tasks in other dispatch queues and
//! those that the scheduler has are held by the policy.
//!
//! What differs from Linux:
//! - no task is of another class: `ops.cpu_acquire` and `ops.cpu_release` are never called;
//! - no cpu goes offline, no core is shared by cookie, no task is exiting or bound to its cpu for a moment
//!   when it is enqueued: the operations and flags for that have no effect;
//! - cgroups are those of the run; `cpu.max` of a cgroup is refused where a scheduler orders the queues;
//! - a task whose weight or mask changes while it waits in a local queue keeps its place there and is not
//!   enqueued again, and one that has to leave its cpu for its mask goes to the local queue of another one;
//! - `ops.dispatch` gets no previous task when that has ended;
//! - the sender of `SCX_KICK_WAIT` does not wait;
//! - timers are never late, and operations take no time;
//! - an error ends the run, where Linux returns all tasks to the fair class.

pub mod abi;
mod dsq;
mod entity;
mod given;
mod groups;
mod idle;
mod kernel;
mod mask;
mod policy;
mod regroup;
mod scheduler;
mod side;
mod state;
#[cfg(test)]
mod testing;

pub use given::{Cgroup, ExitInfo, Given};
pub use kernel::{DsqIter, Kernel, TaskInfo};
pub use mask::CpuMask;
pub use policy::Ext;
pub use scheduler::Scheduler;
