//! What the host keeps beside a module: where its tasks, masks and timers are, and what it has been shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use sim_core::ids::TaskId;
use sim_core::os::NICE_WEIGHTS;
use wasmi::{Caller, Error, Memory, StoreLimits};

use crate::ext::abi::TASK_QUEUED;
use crate::ext::{CpuMask, DsqIter, Kernel};

use super::at::At;
use super::memory::Bytes;

/// `TASK_COMM_LEN`.
const COMM: u64 = 16;

/// A task in the memory of a module.
#[derive(Clone, Copy, Default, Debug)]
struct Shown {
    /// Where its `struct task_struct` is; 0: it has none.
    address: u64,
    /// The slice that the kernel has written there last: another one has been written by the module.
    slice: u64,
}

/// Masks of the kernel in the memory of a module.
#[derive(Clone, Default, Debug)]
pub(super) struct Masks {
    /// All cpus of the machine.
    pub(super) possible: u64,
    /// The idle cpus and the cpus of idle cores: of the machine, then of each node.
    pub(super) idle: Vec<(u64, u64)>,
    /// The operation that goes on has asked for idle masks.
    used: bool,
}

/// The state of a module that its functions do not hold themselves.
pub(super) struct Data {
    pub(super) at: Arc<At>,
    pub(super) memory: Option<Memory>,
    pub(super) limits: StoreLimits,
    /// Where its `struct scx_state` is.
    pub(super) state: u64,
    pub(super) masks: Masks,
    /// The numbers of timers by their addresses.
    pub(super) timers: BTreeMap<u64, u64>,
    /// The addresses of timers by their numbers.
    pub(super) timer_addresses: Vec<u64>,
    /// Iterations of the operation that goes on.
    pub(super) iterations: Vec<Option<DsqIter>>,
    tasks: Vec<Shown>,
    /// The tasks that the operation that goes on has seen.
    handed: Vec<TaskId>,
}

/// The memory of a module and what the host keeps beside it.
pub(super) fn parts<'a>(caller: &'a mut Caller<'_, Data>) -> Result<(Bytes<'a>, &'a mut Data), Error> {
    let memory = caller.data().memory.ok_or_else(|| Error::new("it has no memory yet"))?;
    let (bytes, data) = memory.data_and_store_mut(caller);
    Ok((Bytes(bytes), data))
}

/// An address that a module has given is none of what it should be.
pub(super) fn wild(what: &str, address: u64, function: &str) -> Error {
    Error::new(format!("it calls {function}() with {address:#x}, which is no address of {what}"))
}

impl Data {
    pub(super) fn new(at: Arc<At>, limits: StoreLimits) -> Self {
        Self {
            at,
            memory: None,
            limits,
            state: 0,
            masks: Masks::default(),
            timers: BTreeMap::new(),
            timer_addresses: Vec::new(),
            iterations: Vec::new(),
            tasks: Vec::new(),
            handed: Vec::new(),
        }
    }

    /// Where a task is; 0 if the module does not know it.
    pub(super) fn address(&self, task: TaskId) -> u64 {
        self.tasks.get(task.0 as usize).map_or(0, |shown| shown.address)
    }

    /// A task is at this address from now on; 0: nowhere.
    pub(super) fn set_address(&mut self, task: TaskId, address: u64) {
        let at = task.0 as usize;
        if at >= self.tasks.len() {
            self.tasks.resize(at + 1, Shown::default());
        }
        if let Some(shown) = self.tasks.get_mut(at) {
            *shown = Shown { address, slice: crate::ext::abi::SLICE_DFL };
        }
    }

    /// Writes what does not change of a new task, and the cpus that it may use. None: it is not in the
    /// memory.
    pub(super) fn describe(
        &mut self,
        bytes: &mut Bytes<'_>,
        kernel: &mut Kernel<'_>,
        task: TaskId,
    ) -> Option<()> {
        let address = self.address(task);
        let seen = kernel.view().task(task);
        let app = kernel.view().app(seen.app);
        let leader = TaskId(app.tasks.start + seen.rank - seen.rank % app.process.max(1));
        let at = &self.at;
        let name = bytes.slice_mut(address.checked_add(at.comm)?, COMM)?;
        name.fill(0);
        for (to, byte) in name.iter_mut().take(COMM as usize - 1).zip(app.name.bytes()) {
            *to = byte;
        }
        bytes.put_u32(address + at.tgid, leader.0 + 1)?;
        // The priority of a nice value: 100 to 139.
        let nice = NICE_WEIGHTS.partition_point(|weight| *weight > seen.weight).min(NICE_WEIGHTS.len() - 1);
        for offset in [at.prio, at.static_prio, at.normal_prio] {
            bytes.put_u32(address + offset, 100 + nice as u32)?;
        }
        bytes.put_u64(address + at.load_weight, u64::from(seen.weight))?;
        let now = kernel.now();
        bytes.put_u64(address + at.start_time, now)?;
        bytes.put_u64(address + at.start_boottime, now)?;
        let leader = match self.address(leader) {
            0 => address,
            leader => leader,
        };
        for offset in [at.group_leader, at.real_parent, at.parent] {
            bytes.put_u64(address + offset, leader)?;
        }
        self.write_allowed(bytes, kernel, task)
    }

    /// Writes the cpus that a task may use.
    pub(super) fn write_allowed(
        &mut self,
        bytes: &mut Bytes<'_>,
        kernel: &mut Kernel<'_>,
        task: TaskId,
    ) -> Option<()> {
        let address = self.address(task);
        if address == 0 {
            return None;
        }
        bytes.put_words(address.checked_add(self.at.cpus_mask)?, kernel.cpus_allowed(task).words())?;
        bytes.put_u32(address.checked_add(self.at.nr_cpus_allowed)?, kernel.nr_cpus_allowed(task))
    }

    /// The task at an address that comes from the module.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn task(&self, bytes: &Bytes<'_>, address: i64, function: &str) -> Result<TaskId, Error> {
        let address = address.cast_unsigned();
        let pid = address.checked_add(self.at.pid).and_then(|at| bytes.u32(at));
        let task = pid.and_then(|pid| pid.checked_sub(1)).map(TaskId);
        let task = task.filter(|task| address != 0 && self.address(*task) == address);
        task.ok_or_else(|| wild("a task", address, function))
    }

    /// Shows a task to the module as it is now and returns its address; 0 if the module does not know it.
    pub(super) fn show(&mut self, bytes: &mut Bytes<'_>, kernel: &mut Kernel<'_>, task: TaskId) -> u64 {
        let address = self.address(task);
        if address == 0 {
            return 0;
        }
        self.take_slice(bytes, kernel, task);
        let info = kernel.task_info(task);
        let at = &self.at;
        let waits = info.flags & TASK_QUEUED != 0;
        let (sleeps, on_cpu) = (u32::from(!waits), u32::from(info.on_cpu));
        let short = [
            (at.task_cpu, info.cpu),
            (at.wake_cpu, info.cpu),
            (at.recent_cpu, info.cpu),
            (at.on_cpu, on_cpu),
            (at.on_rq, u32::from(waits)),
            (at.state, sleeps),
            (at.scx_flags, info.flags),
            (at.scx_weight, info.weight),
        ];
        for (offset, value) in short {
            let _ = bytes.put_u32(address.saturating_add(offset), value);
        }
        let run = info.sum_exec_runtime;
        for (offset, value) in [(at.slice, info.slice), (at.sum_exec_runtime, run), (at.utime, run)] {
            let _ = bytes.put_u64(address.saturating_add(offset), value);
        }
        if let Some(shown) = self.tasks.get_mut(task.0 as usize) {
            shown.slice = info.slice;
        }
        if !self.handed.contains(&task) {
            self.handed.push(task);
        }
        address
    }

    /// Tells the kernel of a slice and a virtual time that the module has written into a task.
    pub(super) fn take_slice(&mut self, bytes: &Bytes<'_>, kernel: &mut Kernel<'_>, task: TaskId) {
        let Some(shown) = self.tasks.get_mut(task.0 as usize).filter(|shown| shown.address != 0) else {
            return;
        };
        if let Some(slice) = bytes.u64(shown.address.saturating_add(self.at.slice))
            && slice != shown.slice
        {
            shown.slice = slice;
            kernel.set_slice(task, slice);
        }
        if let Some(vtime) = bytes.u64(shown.address.saturating_add(self.at.dsq_vtime)) {
            kernel.set_vtime(task, vtime);
        }
    }

    /// Writes the slice and the virtual time that a call of the kernel has set into the task.
    pub(super) fn write_slice(&mut self, bytes: &mut Bytes<'_>, kernel: &mut Kernel<'_>, task: TaskId) {
        let (slice, vtime) = (kernel.slice(task), kernel.vtime(task));
        let Some(shown) = self.tasks.get_mut(task.0 as usize).filter(|shown| shown.address != 0) else {
            return;
        };
        shown.slice = slice;
        let _ = bytes.put_u64(shown.address.saturating_add(self.at.slice), slice);
        let _ = bytes.put_u64(shown.address.saturating_add(self.at.dsq_vtime), vtime);
    }

    /// An operation begins: the module can read the time, the cpu and the current task.
    pub(super) fn begin(&mut self, bytes: &mut Bytes<'_>, kernel: &mut Kernel<'_>) {
        self.handed.clear();
        self.iterations.clear();
        self.masks.used = false;
        let current = kernel.current_task().map_or(0, |task| self.show(bytes, kernel, task));
        let (now, cpu) = (kernel.now(), kernel.this_cpu().0);
        let _ = bytes.put_u64(self.state + self.at.now, now);
        let _ = bytes.put_u32(self.state + self.at.cpu, cpu);
        let _ = bytes.put_u64(self.state + self.at.current, current);
    }

    /// An operation is over: the kernel gets to know what it has written.
    pub(super) fn end(&mut self, bytes: &Bytes<'_>, kernel: &mut Kernel<'_>) {
        let handed = std::mem::take(&mut self.handed);
        for task in &handed {
            self.take_slice(bytes, kernel, *task);
        }
        self.handed = handed;
    }

    /// Writes the idle masks of the machine, or of a node, and returns their addresses.
    pub(super) fn write_masks(
        &mut self,
        bytes: &mut Bytes<'_>,
        kernel: &mut Kernel<'_>,
        node: Option<i32>,
    ) -> (u64, u64) {
        let at = node.and_then(|node| usize::try_from(node).ok()).map_or(0, |node| node + 1);
        let Some((cpus, cores)) = self.masks.idle.get(at).copied() else { return (0, 0) };
        self.masks.used = true;
        if let Some(mask) = kernel.idle_cpumask(node) {
            let _ = bytes.put_words(cpus, mask.words());
        }
        if let Some(mask) = kernel.idle_smtmask(node) {
            let _ = bytes.put_words(cores, mask.words());
        }
        (cpus, cores)
    }

    /// A cpu may have been claimed: a mask that the operation has asked for shows it.
    pub(super) fn renew_masks(&mut self, bytes: &mut Bytes<'_>, kernel: &mut Kernel<'_>) {
        if !self.masks.used {
            return;
        }
        if kernel.idle_masks().is_some() {
            self.write_masks(bytes, kernel, None);
        } else if !kernel.has_ended() {
            for node in 0..kernel.nr_node_ids() {
                self.write_masks(bytes, kernel, Some(node as i32));
            }
        }
    }

    /// The mask at an address that comes from the module.
    ///
    /// # Errors
    /// It is not in the memory.
    pub(super) fn mask(bytes: &Bytes<'_>, address: i64, cpus: u32, function: &str) -> Result<CpuMask, Error> {
        let address = address.cast_unsigned();
        let words = bytes.words(address, cpus.div_ceil(64) as usize).filter(|_| address != 0);
        Ok(CpuMask::from_words(cpus, &words.ok_or_else(|| wild("a mask", address, function))?))
    }
}
