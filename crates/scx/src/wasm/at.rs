//! Where in the memory of a module the members of its structures are.

use crate::policy_file::Layout;

/// The operations of `struct sched_ext_ops` that are called, in the order of [`Op`].
pub(super) const OPS: [&str; Op::COUNT] = [
    "select_cpu",
    "enqueue",
    "dequeue",
    "dispatch",
    "tick",
    "runnable",
    "running",
    "stopping",
    "quiescent",
    "yield",
    "set_weight",
    "set_cpumask",
    "update_idle",
    "init_task",
    "exit_task",
    "enable",
    "disable",
    "cgroup_init",
    "cgroup_exit",
    "cgroup_prep_move",
    "cgroup_move",
    "cgroup_cancel_move",
    "cgroup_set_weight",
    "init",
    "exit",
];

/// An operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Op {
    SelectCpu,
    Enqueue,
    Dequeue,
    Dispatch,
    Tick,
    Runnable,
    Running,
    Stopping,
    Quiescent,
    Yield,
    SetWeight,
    SetCpumask,
    UpdateIdle,
    InitTask,
    ExitTask,
    Enable,
    Disable,
    CgroupInit,
    CgroupExit,
    CgroupPrepMove,
    CgroupMove,
    CgroupCancelMove,
    CgroupSetWeight,
    Init,
    Exit,
}

impl Op {
    /// How many there are.
    pub(super) const COUNT: usize = 25;

    /// Its name in `struct sched_ext_ops`.
    pub(super) fn name(self) -> &'static str {
        OPS.get(self as usize).copied().unwrap_or_default()
    }
}

/// Declares the offsets, each with its name in the layout.
macro_rules! offsets {
    ($($field:ident: $name:literal,)*) => {
        /// Offsets of members and sizes of structures, bytes.
        #[derive(Clone, Default, Debug)]
        pub(super) struct At {
            $(pub(super) $field: u64,)*
            /// Of the operations, in the order of [`OPS`].
            pub(super) ops: Vec<u64>,
        }

        impl At {
            /// From the layout of a module.
            pub(super) fn new(layout: &Layout) -> Result<Self, String> {
                let of = |name: &str| layout.of(name).map(u64::from);
                Ok(Self {
                    $($field: of($name)?,)*
                    ops: OPS.iter().map(|op| of(&format!("sched_ext_ops.{op}"))).collect::<Result<_, _>>()?,
                })
            }
        }
    };
}

offsets! {
    now: "scx_state.now",
    cpu: "scx_state.cpu",
    current: "scx_state.current_task",
    pid: "task_struct.pid",
    tgid: "task_struct.tgid",
    comm: "task_struct.comm",
    state: "task_struct.__state",
    on_cpu: "task_struct.on_cpu",
    on_rq: "task_struct.on_rq",
    task_cpu: "task_struct.thread_info.cpu",
    wake_cpu: "task_struct.wake_cpu",
    recent_cpu: "task_struct.recent_used_cpu",
    cpus_mask: "task_struct.cpus_mask",
    nr_cpus_allowed: "task_struct.nr_cpus_allowed",
    prio: "task_struct.prio",
    static_prio: "task_struct.static_prio",
    normal_prio: "task_struct.normal_prio",
    group_leader: "task_struct.group_leader",
    real_parent: "task_struct.real_parent",
    parent: "task_struct.parent",
    utime: "task_struct.utime",
    start_time: "task_struct.start_time",
    start_boottime: "task_struct.start_boottime",
    sum_exec_runtime: "task_struct.se.sum_exec_runtime",
    load_weight: "task_struct.se.load.weight",
    scx_flags: "task_struct.scx.flags",
    scx_weight: "task_struct.scx.weight",
    slice: "task_struct.scx.slice",
    dsq_vtime: "task_struct.scx.dsq_vtime",
    cpumask_size: "cpumask",
    exit_size: "scx_exit_info",
    exit_kind: "scx_exit_info.kind",
    exit_code: "scx_exit_info.exit_code",
    exit_reason: "scx_exit_info.reason",
    exit_msg: "scx_exit_info.msg",
    exit_dump: "scx_exit_info.dump",
    init_task_size: "scx_init_task_args",
    init_task_fork: "scx_init_task_args.fork",
    init_task_cgroup: "scx_init_task_args.cgroup",
    exit_task_size: "scx_exit_task_args",
    exit_task_cancelled: "scx_exit_task_args.cancelled",
    cgroup_init_size: "scx_cgroup_init_args",
    cgroup_init_weight: "scx_cgroup_init_args.weight",
    event_size: "scx_event_stats",
    max_batch: "sched_ext_ops.dispatch_max_batch",
    flags: "sched_ext_ops.flags",
    timeout_ms: "sched_ext_ops.timeout_ms",
    name: "sched_ext_ops.name",
}
