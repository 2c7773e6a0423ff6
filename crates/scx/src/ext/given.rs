//! What a scheduler states of itself, and what it is told of cgroups and of its end.

use crate::ext::abi;

/// The operations that a scheduler gives; the kernel does without the others by rules of its own.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[expect(missing_docs, reason = "each is the operation of its name")]
pub struct Given {
    pub select_cpu: bool,
    pub enqueue: bool,
    pub dequeue: bool,
    pub dispatch: bool,
    pub tick: bool,
    pub runnable: bool,
    pub running: bool,
    pub stopping: bool,
    pub quiescent: bool,
    pub yields: bool,
    pub set_weight: bool,
    pub set_cpumask: bool,
    pub update_idle: bool,
    pub init_task: bool,
    pub exit_task: bool,
    pub enable: bool,
    pub disable: bool,
    pub cgroup_init: bool,
    pub cgroup_exit: bool,
    pub cgroup_prep_move: bool,
    pub cgroup_move: bool,
    pub cgroup_cancel_move: bool,
    pub cgroup_set_weight: bool,
}

/// Why a scheduler ends (`struct scx_exit_info`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExitInfo {
    /// One of `SCX_EXIT_*` ([`crate::ext::abi`]).
    pub kind: i32,
    /// The code that `scx_bpf_exit` was given.
    pub code: i64,
    /// What kind of end this is, in the words of the kernel.
    pub reason: &'static str,
    /// The message of the error.
    pub message: String,
}

/// A cgroup as the operations show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cgroup {
    /// Its id; the root's is [`crate::ext::abi::CGROUP_ROOT`].
    pub id: u64,
    /// The one that it is in; none for the root.
    pub parent: Option<u64>,
    /// 0 for the root.
    pub level: u32,
    /// Its `cpu.weight`, 1 to 10,000.
    pub weight: u32,
}

/// The words of the kernel for a kind of end (`scx_exit_reason`).
pub(crate) const fn reason(kind: i32) -> &'static str {
    match kind {
        abi::EXIT_UNREG => "unregistered from user space",
        abi::EXIT_UNREG_BPF => "unregistered from BPF",
        abi::EXIT_ERROR => "runtime error",
        abi::EXIT_ERROR_BPF => "scx_bpf_error",
        abi::EXIT_ERROR_STALL => "runnable task stall",
        _ => "<UNKNOWN>",
    }
}
