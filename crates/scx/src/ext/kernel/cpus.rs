//! Cpus: which are idle, which look for a task, how fast they are.

use sim_core::ids::{CpuId, NodeId, TaskId};

use crate::ext::abi::{
    CPUPERF_ONE, KICK_IDLE, KICK_PREEMPT, KICK_WAIT, OPS_BUILTIN_IDLE_PER_NODE, PICK_IDLE_IN_NODE, errno,
};
use crate::ext::kernel::Kernel;
use crate::ext::mask::CpuMask;

impl Kernel<'_> {
    /// `scx_bpf_nr_cpu_ids`: the number of cpus; all of them are online.
    #[must_use]
    pub fn nr_cpu_ids(&self) -> u32 {
        self.state.cpus.len() as u32
    }

    /// `scx_bpf_nr_node_ids`.
    #[must_use]
    pub fn nr_node_ids(&self) -> u32 {
        self.state.globals.len() as u32
    }

    /// `scx_bpf_cpu_node`: the NUMA node of a cpu, -1 (`NUMA_NO_NODE`) for one that does not exist.
    pub fn cpu_node(&mut self, cpu: i32) -> i32 {
        let found = self.valid_cpu(cpu, "");
        found.map_or(NO_NODE, |cpu| self.view().machine().node_of(cpu).0 as i32)
    }

    /// `scx_bpf_cpu_curr`: the task that a cpu runs; none: the idle task, or no such cpu.
    pub fn cpu_curr(&mut self, cpu: i32) -> Option<TaskId> {
        let cpu = self.valid_cpu(cpu, "")?;
        self.state.current(cpu)
    }

    /// `scx_bpf_kick_cpu` with flags `SCX_KICK_*`: the cpu looks for a task when the operation is over. The
    /// sender does not wait for `SCX_KICK_WAIT`: cpus that are told to switch do so at the same instant.
    pub fn kick_cpu(&mut self, cpu: i32, flags: u64) {
        let Some(cpu) = self.valid_cpu(cpu, "") else { return };
        if flags & KICK_IDLE != 0 && flags & (KICK_PREEMPT | KICK_WAIT) != 0 {
            return self.refuse("PREEMPT/WAIT cannot be used with SCX_KICK_IDLE");
        }
        let before = self.state.kicks.get(&cpu).copied();
        // A kick of any cpu counts more than one of an idle cpu.
        let flags = match before {
            None => flags,
            Some(before) if before & flags & KICK_IDLE != 0 => KICK_IDLE,
            Some(before) => (before | flags) & !KICK_IDLE,
        };
        self.state.kicks.insert(cpu, flags);
    }

    /// False, and the run ends, where the kernel keeps no idle masks.
    fn tracks_idle(&mut self) -> bool {
        let tracked = self.state.tracks_idle();
        if !tracked {
            self.refuse("built-in idle tracking is disabled");
        }
        tracked
    }

    /// A node with idle masks of its own, as the functions that end in `_node` want it.
    fn valid_node(&mut self, node: i32) -> Option<NodeId> {
        if self.state.flags & OPS_BUILTIN_IDLE_PER_NODE == 0 {
            self.refuse("per-node idle tracking is disabled");
            return None;
        }
        let found = u32::try_from(node).ok().filter(|node| *node < self.nr_node_ids()).map(NodeId);
        if found.is_none() && node != NO_NODE {
            self.refuse(&format!("invalid node {node}"));
        }
        found
    }

    /// False, and the run ends, if idle masks are kept for each node: one for the machine has no meaning
    /// then.
    fn has_one_mask(&mut self, function: &str) -> bool {
        let one = self.state.flags & OPS_BUILTIN_IDLE_PER_NODE == 0;
        if !one {
            self.refuse(&format!("per-node idle tracking is enabled: {function}_node() is to be used"));
        }
        one
    }

    /// `scx_bpf_get_idle_cpumask` and, with a node, `scx_bpf_get_idle_cpumask_node`: the idle cpus that
    /// nobody has claimed. None: the run ends.
    pub fn idle_cpumask(&mut self, node: Option<i32>) -> Option<&CpuMask> {
        let node = self.masked_node(node, "scx_bpf_get_idle_cpumask")?;
        self.state.idle.cpus(node)
    }

    /// `scx_bpf_get_idle_smtmask` and `scx_bpf_get_idle_smtmask_node`: the cpus of idle cores.
    pub fn idle_smtmask(&mut self, node: Option<i32>) -> Option<&CpuMask> {
        let node = self.masked_node(node, "scx_bpf_get_idle_smtmask")?;
        self.state.idle.cores(node)
    }

    fn masked_node(&mut self, node: Option<i32>, function: &str) -> Option<NodeId> {
        if !self.tracks_idle() {
            return None;
        }
        match node {
            Some(node) => self.valid_node(node),
            None => self.has_one_mask(function).then_some(NodeId(0)),
        }
    }

    /// The idle cpus and the idle cores of the machine as they are, without any rule: for those who show
    /// them to a scheduler in memory of its own. None where the kernel keeps no masks, or keeps them for
    /// each node.
    #[must_use]
    pub fn idle_masks(&self) -> Option<(&CpuMask, &CpuMask)> {
        if !self.state.tracks_idle() || self.state.idle.is_per_node() {
            return None;
        }
        Some((self.state.idle.cpus(NodeId(0))?, self.state.idle.cores(NodeId(0))?))
    }

    /// `scx_bpf_test_and_clear_cpu_idle`: true when the cpu was idle; it is claimed now.
    pub fn test_and_clear_cpu_idle(&mut self, cpu: i32) -> bool {
        if !self.tracks_idle() {
            return false;
        }
        self.valid_cpu(cpu, "").is_some_and(|cpu| self.state.idle.claim(cpu))
    }

    /// `scx_bpf_pick_idle_cpu`: claims an idle cpu of a set; `-EBUSY` without one. Flags: `SCX_PICK_IDLE_*`.
    pub fn pick_idle_cpu(&mut self, allowed: &CpuMask, flags: u64) -> i32 {
        if !self.tracks_idle() || !self.has_one_mask("scx_bpf_pick_idle_cpu") {
            return -errno::EBUSY;
        }
        self.pick(allowed, NodeId(0), flags)
    }

    /// `scx_bpf_pick_idle_cpu_node`: the same, in a node first.
    pub fn pick_idle_cpu_node(&mut self, allowed: &CpuMask, node: i32, flags: u64) -> i32 {
        if !self.tracks_idle() {
            return -errno::EBUSY;
        }
        match self.valid_node(node) {
            Some(node) => self.pick(allowed, node, flags),
            None => -errno::EBUSY,
        }
    }

    fn pick(&mut self, allowed: &CpuMask, node: NodeId, flags: u64) -> i32 {
        let by = self.state.this_cpu;
        number(self.state.idle.pick(&[allowed], node.0, flags, by))
    }

    /// `scx_bpf_pick_any_cpu`: an idle cpu, else any cpu of the set.
    pub fn pick_any_cpu(&mut self, allowed: &CpuMask, flags: u64) -> i32 {
        if !self.has_one_mask("scx_bpf_pick_any_cpu") {
            return -errno::EBUSY;
        }
        self.pick_any(allowed, NodeId(0), flags)
    }

    /// `scx_bpf_pick_any_cpu_node`.
    pub fn pick_any_cpu_node(&mut self, allowed: &CpuMask, node: i32, flags: u64) -> i32 {
        let Some(found) = self.valid_node(node) else { return -errno::EBUSY };
        if flags & PICK_IDLE_IN_NODE == 0 {
            return self.pick_any(allowed, found, flags);
        }
        let cpus = self.view().machine().cpu_ids();
        let mut inside = allowed.clone();
        let machine = self.view().machine();
        cpus.filter(|cpu| machine.node_of(*cpu) != found).for_each(|cpu| inside.set(cpu, false));
        self.pick_any(&inside, found, flags)
    }

    fn pick_any(&mut self, allowed: &CpuMask, node: NodeId, flags: u64) -> i32 {
        if self.state.tracks_idle() {
            let idle = self.pick(allowed, node, flags);
            if idle >= 0 {
                return idle;
            }
        }
        let by = self.state.this_cpu;
        number(self.state.idle.pick_any(allowed, by))
    }

    /// `scx_bpf_cpuperf_cap`: the speed of a cpu, 1,024 being the fastest.
    pub fn cpuperf_cap(&mut self, cpu: i32) -> u32 {
        let Some(cpu) = self.valid_cpu(cpu, "") else { return CPUPERF_ONE };
        let machine = self.view().machine();
        let most = machine.cpu_ids().map(|cpu| machine.speed_of(cpu).raw()).max().unwrap_or(1).max(1);
        (u128::from(machine.speed_of(cpu).raw()) * u128::from(CPUPERF_ONE) / u128::from(most)) as u32
    }

    /// `scx_bpf_cpuperf_cur`: the clock that was asked for last, 1,024 being the highest. The machine keeps
    /// its own clock rules.
    pub fn cpuperf_cur(&mut self, cpu: i32) -> u32 {
        let cpu = self.valid_cpu(cpu, "");
        cpu.and_then(|cpu| self.state.cpu_mut(cpu)).map_or(CPUPERF_ONE, |cpu| cpu.performance)
    }

    /// `scx_bpf_cpuperf_set`: at most 1,024. It is noted; the machine keeps its own clock rules.
    pub fn cpuperf_set(&mut self, cpu: i32, performance: u32) {
        if performance > CPUPERF_ONE {
            return self.refuse(&format!("Invalid cpuperf target {performance} for CPU {cpu}"));
        }
        let cpu = self.valid_cpu(cpu, "");
        if let Some(cpu) = cpu.and_then(|cpu| self.state.cpu_mut(cpu)) {
            cpu.performance = performance;
        }
    }
}

/// `NUMA_NO_NODE`.
const NO_NODE: i32 = -1;

/// A cpu as functions of the kernel return it.
pub(crate) fn number(cpu: Option<CpuId>) -> i32 {
    cpu.map_or(-errno::EBUSY, |cpu| cpu.0 as i32)
}
