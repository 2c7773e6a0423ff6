//! Tasks: what programs read of them, slices, virtual times, cgroups.

use std::sync::Arc;

use sim_core::ids::TaskId;

use crate::ext::entity::Place;
use crate::ext::given::Cgroup;
use crate::ext::kernel::Kernel;
use crate::ext::mask::CpuMask;

/// What programs read of a task (`struct task_struct`, `p->scx`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskInfo {
    /// `p->scx.slice`: what it has left of its slice, in ns; of a running task as of the last update.
    pub slice: u64,
    /// `p->scx.dsq_vtime`.
    pub vtime: u64,
    /// `p->scx.weight`, 1 to 10,000; 100 is nice 0.
    pub weight: u32,
    /// `p->scx.flags`, `SCX_TASK_*`.
    pub flags: u32,
    /// `task_cpu(p)`: where it is or was last.
    pub cpu: u32,
    /// `p->on_cpu`.
    pub on_cpu: bool,
    /// `p->nr_cpus_allowed`.
    pub nr_cpus_allowed: u32,
    /// `p->se.sum_exec_runtime`, ns, as of the last update.
    pub sum_exec_runtime: u64,
}

impl Kernel<'_> {
    /// Brings the slice and the cpu time of a running task up to date and returns what programs read of it.
    pub fn task_info(&mut self, task: TaskId) -> TaskInfo {
        self.charge(task);
        let entity = self.state.task(task);
        TaskInfo {
            slice: entity.slice,
            vtime: entity.vtime,
            weight: entity.weight,
            flags: entity.flags,
            cpu: entity.cpu.0,
            on_cpu: matches!(entity.place, Place::Running(_)),
            nr_cpus_allowed: entity.nr_allowed,
            sum_exec_runtime: entity.charged.ns(),
        }
    }

    /// Whether the scheduler knows the task: it has been created and has not ended.
    #[must_use]
    pub fn knows(&self, task: TaskId) -> bool {
        self.state.task(task).known
    }

    /// `scx_bpf_task_running`.
    #[must_use]
    pub fn task_running(&self, task: TaskId) -> bool {
        self.state.current(self.state.task(task).cpu) == Some(task)
    }

    /// `scx_bpf_task_cpu`.
    #[must_use]
    pub fn task_cpu(&self, task: TaskId) -> i32 {
        self.state.task(task).cpu.0 as i32
    }

    /// `p->scx.slice`, ns.
    pub fn slice(&mut self, task: TaskId) -> u64 {
        self.charge(task);
        self.state.task(task).slice
    }

    /// Writes `p->scx.slice`, ns (`scx_bpf_task_set_slice`): a running task may run for so long from now
    /// on, up to the next timer tick.
    pub fn set_slice(&mut self, task: TaskId, slice: u64) {
        self.charge(task);
        let entity = self.state.task_mut(task);
        let changed = entity.slice != slice;
        entity.slice = slice;
        let decided = match entity.place {
            Place::Running(_) => self.state.entering != Some(task),
            Place::Local(_) => true,
            _ => false,
        };
        if changed && decided && !self.state.slices.contains(&task) {
            self.state.slices.push(task);
        }
    }

    /// `p->scx.dsq_vtime`.
    #[must_use]
    pub fn vtime(&self, task: TaskId) -> u64 {
        self.state.task(task).vtime
    }

    /// Writes `p->scx.dsq_vtime` (`scx_bpf_task_set_dsq_vtime`); a task in a queue keeps its place.
    pub fn set_vtime(&mut self, task: TaskId, vtime: u64) {
        self.state.task_mut(task).vtime = vtime;
    }

    /// `p->scx.weight`.
    #[must_use]
    pub fn weight(&self, task: TaskId) -> u32 {
        self.state.task(task).weight
    }

    /// `p->scx.flags`, `SCX_TASK_*`.
    #[must_use]
    pub fn task_flags(&self, task: TaskId) -> u32 {
        self.state.task(task).flags
    }

    /// `p->cpus_ptr`.
    #[must_use]
    pub fn cpus_allowed(&self, task: TaskId) -> Arc<CpuMask> {
        Arc::clone(&self.state.task(task).allowed)
    }

    /// `p->nr_cpus_allowed`.
    #[must_use]
    pub fn nr_cpus_allowed(&self, task: TaskId) -> u32 {
        self.state.task(task).nr_allowed
    }

    /// `p->se.sum_exec_runtime`: cpu time so far, ns.
    pub fn sum_exec_runtime(&mut self, task: TaskId) -> u64 {
        self.charge(task);
        self.state.task(task).charged.ns()
    }

    /// `scx_bpf_task_cgroup`: the id of the cgroup of a task.
    #[must_use]
    pub fn task_cgroup(&self, task: TaskId) -> u64 {
        self.state.task(task).cgroup
    }

    /// The cgroups, the root first. Every task is in the root.
    #[must_use]
    pub fn cgroups(&self) -> &[Cgroup] {
        &self.state.cgroups
    }
}
