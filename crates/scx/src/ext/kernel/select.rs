//! The kernel's own choice of an idle cpu (`scx_select_cpu_dfl`).

use std::sync::Arc;

use sim_core::ids::{CpuId, TaskId};

use crate::ext::abi::{OPS_BUILTIN_IDLE_PER_NODE, PICK_IDLE_CORE, PICK_IDLE_IN_NODE, WAKE_SYNC, errno};
use crate::ext::kernel::Kernel;
use crate::ext::kernel::cpus::number;
use crate::ext::mask::CpuMask;
use crate::ext::state::Context;

impl Kernel<'_> {
    /// `scx_bpf_select_cpu_dfl`: an idle cpu, which is claimed, and true; or `prev` and false.
    pub fn select_cpu_dfl(&mut self, task: TaskId, prev: i32, wake_flags: u64) -> (i32, bool) {
        let cpu = self.select_cpu_from(task, prev, wake_flags, None, 0, "scx_bpf_select_cpu_dfl");
        if cpu >= 0 { (cpu, true) } else { (prev, false) }
    }

    /// `scx_bpf_select_cpu_and`: an idle cpu of those that the task may use and that are in the set, which is
    /// claimed; `-EBUSY` without one. Flags: `SCX_PICK_IDLE_*`.
    pub fn select_cpu_and(
        &mut self,
        task: TaskId,
        prev: i32,
        wake_flags: u64,
        within: &CpuMask,
        flags: u64,
    ) -> i32 {
        self.select_cpu_from(task, prev, wake_flags, Some(within), flags, "scx_bpf_select_cpu_and")
    }

    fn select_cpu_from(
        &mut self,
        task: TaskId,
        prev: i32,
        wake_flags: u64,
        within: Option<&CpuMask>,
        flags: u64,
        function: &str,
    ) -> i32 {
        let Some(prev) = self.valid_cpu(prev, "") else { return -errno::EINVAL };
        if !self.state.tracks_idle() {
            self.refuse("built-in idle tracking is disabled");
            return -errno::EBUSY;
        }
        if !self.permits(Context::ENQUEUE | Context::SELECT_CPU | Context::UNLOCKED, function) {
            return -errno::EINVAL;
        }
        if self.state.task(task).nr_allowed == 1 {
            let allowed = within.is_none_or(|within| within.contains(prev));
            let free = allowed && self.state.task(task).allowed.contains(prev) && self.state.idle.claim(prev);
            return number(free.then_some(prev));
        }
        number(self.default_cpu(task, prev, wake_flags, within, flags))
    }

    /// The order of the kernel: the waker's cpu for a synchronous wake-up, then cores that are idle as a
    /// whole, then any idle cpus; of each the last cpu of the task first, then those that share its cache,
    /// those of its node, and all others.
    pub(crate) fn default_cpu(
        &mut self,
        task: TaskId,
        prev: CpuId,
        wake_flags: u64,
        within: Option<&CpuMask>,
        flags: u64,
    ) -> Option<CpuId> {
        let own: Arc<CpuMask> = Arc::clone(&self.state.task(task).allowed);
        let everywhere = self.state.task(task).nr_allowed == self.nr_cpu_ids();
        let both;
        let allowed: &CpuMask = match within {
            None => &own,
            Some(within) if everywhere => within,
            Some(within) => {
                both = within.and(&own);
                &both
            }
        };
        if allowed.is_empty() {
            return None;
        }
        let is_prev_allowed = allowed.contains(prev);
        if wake_flags & WAKE_SYNC != 0
            && let Some(cpu) = self.synchronous(prev, is_prev_allowed, allowed, flags)
        {
            return Some(cpu);
        }
        if self.state.idle.has_siblings() {
            if is_prev_allowed && self.state.idle.is_core_idle(prev) && self.state.idle.claim(prev) {
                return Some(prev);
            }
            if let Some(cpu) = self.nearest(prev, allowed, flags, PICK_IDLE_CORE) {
                return Some(cpu);
            }
            if flags & PICK_IDLE_CORE != 0 {
                return None;
            }
        }
        if is_prev_allowed && self.state.idle.claim(prev) {
            return Some(prev);
        }
        self.nearest(prev, allowed, flags, 0)
    }

    /// A synchronous wake-up: the waker is about to sleep. The last cpu of the task if it shares the waker's
    /// cache and is idle; else the waker's cpu if no task waits there and another cpu is idle.
    fn synchronous(
        &mut self,
        prev: CpuId,
        is_prev_allowed: bool,
        allowed: &CpuMask,
        flags: u64,
    ) -> Option<CpuId> {
        let waker = self.state.this_cpu;
        let machine = self.view().machine();
        let caches = machine.topology.last_caches(machine.memory.shared_cache > 0);
        let near = caches.part(waker) == caches.part(prev);
        let node = machine.node_of(waker);
        let same_node = node == machine.node_of(prev);
        if is_prev_allowed && near && self.state.idle.claim(prev) {
            return Some(prev);
        }
        let stays = flags & PICK_IDLE_IN_NODE == 0 || same_node;
        let others = self.state.idle.cpus(node).is_some_and(|idle| !idle.is_empty());
        (self.state.local_len(waker) == 0 && stays && others && allowed.contains(waker)).then_some(waker)
    }

    /// An idle cpu that shares the cache of `prev`, else one of its node, else any. `core`:
    /// `SCX_PICK_IDLE_CORE` or nothing.
    fn nearest(&mut self, prev: CpuId, allowed: &CpuMask, flags: u64, core: u64) -> Option<CpuId> {
        let per_node = self.state.flags & OPS_BUILTIN_IDLE_PER_NODE != 0;
        let node = if per_node { self.view().machine().node_of(prev).0 } else { 0 };
        let by = self.state.this_cpu;
        let idle = &mut self.state.idle;
        let at = prev.0 as usize;
        for near in [idle.caches.get(at).cloned(), idle.node_cpus.get(at).cloned()].into_iter().flatten() {
            if let Some(cpu) = idle.pick_in_node(&[allowed, &near], node, core, by) {
                return Some(cpu);
            }
        }
        idle.pick(&[allowed], node, flags | core, by)
    }
}
