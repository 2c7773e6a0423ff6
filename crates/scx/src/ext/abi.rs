//! Names and values that schedulers see: flags, ids of built-in dispatch queues, error numbers.
//!
//! They are those of Linux 6.18 (`include/linux/sched/ext.h`, `kernel/sched/ext_internal.h`,
//! `kernel/sched/sched.h`), which programs read by name.

/// `SCX_SLICE_DFL`: 20 ms, in ns.
pub const SLICE_DFL: u64 = 20_000_000;
/// `SCX_SLICE_INF`: no end.
pub const SLICE_INF: u64 = u64::MAX;
/// `SCX_DSP_DFL_MAX_BATCH`: insertions of one `ops.dispatch` unless the scheduler states another number.
pub const DSP_DFL_MAX_BATCH: u32 = 32;
/// `SCX_DSP_MAX_LOOPS`: calls of `ops.dispatch` in a row that give the cpu no task.
pub const DSP_MAX_LOOPS: u32 = 32;
/// `SCX_WATCHDOG_MAX_TIMEOUT`, ms.
pub const WATCHDOG_MAX_TIMEOUT_MS: u32 = 30_000;
/// `SCX_CPUPERF_ONE`: the capacity and the highest clock of the fastest cpu.
pub const CPUPERF_ONE: u32 = 1 << 10;
/// `CGROUP_WEIGHT_DFL`: the weight of a task of nice 0 and of a cgroup that sets none.
pub const WEIGHT_DFL: u32 = 100;
/// The id of the root cgroup (`cgroup_id()` of the default hierarchy).
pub const CGROUP_ROOT: u64 = 1;

/// `SCX_DSQ_FLAG_BUILTIN`.
pub const DSQ_FLAG_BUILTIN: u64 = 1 << 63;
/// `SCX_DSQ_FLAG_LOCAL_ON`.
pub const DSQ_FLAG_LOCAL_ON: u64 = 1 << 62;
/// `SCX_DSQ_INVALID`.
pub const DSQ_INVALID: u64 = DSQ_FLAG_BUILTIN;
/// `SCX_DSQ_GLOBAL`.
pub const DSQ_GLOBAL: u64 = DSQ_FLAG_BUILTIN | 1;
/// `SCX_DSQ_LOCAL`.
pub const DSQ_LOCAL: u64 = DSQ_FLAG_BUILTIN | 2;
/// `SCX_DSQ_LOCAL_ON`, to which the number of a cpu is added.
pub const DSQ_LOCAL_ON: u64 = DSQ_FLAG_BUILTIN | DSQ_FLAG_LOCAL_ON;
/// `SCX_DSQ_LOCAL_CPU_MASK`.
pub const DSQ_LOCAL_CPU_MASK: u64 = 0xffff_ffff;

/// `SCX_WAKE_EXEC`.
pub const WAKE_EXEC: u64 = 0x02;
/// `SCX_WAKE_FORK`.
pub const WAKE_FORK: u64 = 0x04;
/// `SCX_WAKE_TTWU`.
pub const WAKE_TTWU: u64 = 0x08;
/// `SCX_WAKE_SYNC`.
pub const WAKE_SYNC: u64 = 0x10;

/// `SCX_ENQ_WAKEUP`.
pub const ENQ_WAKEUP: u64 = 0x01;
/// `ENQUEUE_RESTORE`: the task was taken out so that one of its properties could be changed.
pub const ENQ_RESTORE: u64 = 0x02;
/// `SCX_ENQ_HEAD`.
pub const ENQ_HEAD: u64 = 0x10;
/// `SCX_ENQ_CPU_SELECTED`.
pub const ENQ_CPU_SELECTED: u64 = 0x400;
/// `SCX_ENQ_PREEMPT`.
pub const ENQ_PREEMPT: u64 = 1 << 32;
/// `SCX_ENQ_REENQ`.
pub const ENQ_REENQ: u64 = 1 << 40;
/// `SCX_ENQ_LAST`.
pub const ENQ_LAST: u64 = 1 << 41;
/// `__SCX_ENQ_INTERNAL_MASK`: no scheduler sets these.
pub const ENQ_INTERNAL_MASK: u64 = 0xff << 56;
/// `SCX_ENQ_CLEAR_OPSS`.
pub const ENQ_CLEAR_OPSS: u64 = 1 << 56;
/// `SCX_ENQ_DSQ_PRIQ`.
pub const ENQ_DSQ_PRIQ: u64 = 1 << 57;

/// `SCX_DEQ_SLEEP`.
pub const DEQ_SLEEP: u64 = 0x01;
/// `DEQUEUE_SAVE`: see [`ENQ_RESTORE`].
pub const DEQ_SAVE: u64 = 0x02;
/// `SCX_DEQ_CORE_SCHED_EXEC`.
pub const DEQ_CORE_SCHED_EXEC: u64 = 1 << 32;

/// `SCX_PICK_IDLE_CORE`.
pub const PICK_IDLE_CORE: u64 = 1;
/// `SCX_PICK_IDLE_IN_NODE`.
pub const PICK_IDLE_IN_NODE: u64 = 2;

/// `SCX_KICK_IDLE`.
pub const KICK_IDLE: u64 = 1;
/// `SCX_KICK_PREEMPT`.
pub const KICK_PREEMPT: u64 = 2;
/// `SCX_KICK_WAIT`.
pub const KICK_WAIT: u64 = 4;

/// `SCX_OPS_KEEP_BUILTIN_IDLE`.
pub const OPS_KEEP_BUILTIN_IDLE: u64 = 1;
/// `SCX_OPS_ENQ_LAST`.
pub const OPS_ENQ_LAST: u64 = 1 << 1;
/// `SCX_OPS_ENQ_EXITING`.
pub const OPS_ENQ_EXITING: u64 = 1 << 2;
/// `SCX_OPS_SWITCH_PARTIAL`.
pub const OPS_SWITCH_PARTIAL: u64 = 1 << 3;
/// `SCX_OPS_ENQ_MIGRATION_DISABLED`.
pub const OPS_ENQ_MIGRATION_DISABLED: u64 = 1 << 4;
/// `SCX_OPS_ALLOW_QUEUED_WAKEUP`.
pub const OPS_ALLOW_QUEUED_WAKEUP: u64 = 1 << 5;
/// `SCX_OPS_BUILTIN_IDLE_PER_NODE`.
pub const OPS_BUILTIN_IDLE_PER_NODE: u64 = 1 << 6;
/// `SCX_OPS_HAS_CGROUP_WEIGHT`.
pub const OPS_HAS_CGROUP_WEIGHT: u64 = 1 << 16;
/// All flags of `sched_ext_ops.flags`: a scheduler with another one is not loaded.
pub const OPS_ALL: u64 = 0x7f | OPS_HAS_CGROUP_WEIGHT;

/// `SCX_TASK_QUEUED` in `p->scx.flags`: it is runnable.
pub const TASK_QUEUED: u32 = 1;
/// `SCX_TASK_DEQD_FOR_SLEEP` in `p->scx.flags`.
pub const TASK_DEQD_FOR_SLEEP: u32 = 1 << 3;

/// `SCX_DSQ_ITER_REV`: the iteration begins with the last task.
pub const DSQ_ITER_REV: u64 = 1 << 16;

/// `SCX_EXIT_UNREG`: the scheduler is taken out.
pub const EXIT_UNREG: i32 = 64;
/// `SCX_EXIT_UNREG_BPF`: it ends itself (`scx_bpf_exit`).
pub const EXIT_UNREG_BPF: i32 = 65;
/// `SCX_EXIT_ERROR`: a rule is broken.
pub const EXIT_ERROR: i32 = 1024;
/// `SCX_EXIT_ERROR_BPF`: it says so itself (`scx_bpf_error`).
pub const EXIT_ERROR_BPF: i32 = 1025;
/// `SCX_EXIT_ERROR_STALL`: the watchdog.
pub const EXIT_ERROR_STALL: i32 = 1026;

/// `time_before64`: whether one time is before another one; they wrap around.
#[must_use]
pub const fn time_before(one: u64, other: u64) -> bool {
    one.wrapping_sub(other).cast_signed() < 0
}

/// Error numbers of Linux (`errno-base.h`), returned as negative values.
pub mod errno {
    /// No such thing.
    pub const ENOENT: i32 = 2;
    /// Too long.
    pub const E2BIG: i32 = 7;
    /// In use, or none is idle.
    pub const EBUSY: i32 = 16;
    /// It exists already.
    pub const EEXIST: i32 = 17;
    /// A value that is not allowed.
    pub const EINVAL: i32 = 22;
}
