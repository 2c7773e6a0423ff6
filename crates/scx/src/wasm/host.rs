//! A policy file as a scheduler of `sched_ext`: the operations are functions of the module.

use std::collections::BTreeMap;
use std::sync::Arc;

use notation::parameter::Values;
use policies::Setting;
use sim_core::ids::{CpuId, TaskId};
use wasmi::TypedFunc;

use crate::ext::{Cgroup, CpuMask, ExitInfo, Given, Kernel, Scheduler};

use super::at::{At, OPS, Op};
use super::call::{Call, reason};
use super::globals;
use super::kernel::during;
use super::limits::CPUS;
use super::loaded::Loaded;
use super::memory::Bytes;
use super::started::Started;
use super::tasks::Data;

/// A running policy file.
pub(super) struct Host {
    started: Started,
    at: Arc<At>,
    loaded: Arc<Loaded>,
    name: String,
    given: Given,
    flags: u64,
    timeout_ms: u32,
    max_batch: u32,
    ops: Vec<Option<Call>>,
    task_new: TypedFunc<i32, i64>,
    task_gone: TypedFunc<i64, ()>,
    cgroup_new: TypedFunc<(i64, i64), i64>,
    /// Puts a task into a cgroup; none where no scheduler asks.
    task_cgroup: Option<TypedFunc<(i64, i64), ()>>,
    timer_fire: TypedFunc<i64, ()>,
    alloc: TypedFunc<i64, i64>,
    /// Room for the arguments of operations that take a structure.
    arguments: u64,
    /// Where the cgroups are, by their ids.
    cgroups: BTreeMap<u64, u64>,
}

impl Host {
    /// Starts a policy file on a machine, with the values that a scenario sets.
    ///
    /// # Errors
    /// A sentence with the name of the file.
    pub(super) fn new(loaded: &Arc<Loaded>, values: &Values, setting: &Setting<'_>) -> Result<Self, String> {
        Self::start(loaded, values, setting)
            .map_err(|error| format!("the policy file {}: {error}", loaded.file))
    }

    fn start(loaded: &Arc<Loaded>, values: &Values, setting: &Setting<'_>) -> Result<Self, String> {
        let cpus = setting.machine.cpus();
        if cpus > CPUS {
            return Err(format!("the machine has {cpus} cpus, and its masks have room for {CPUS}"));
        }
        let mut started = Started::new((&loaded.engine, &loaded.module), &loaded.imports, &loaded.at)?;
        set_up(&mut started, loaded, cpus)?;
        globals::write(&mut started.bytes(), &loaded.about, values, setting)?;
        let (at, table) = (Arc::clone(&loaded.at), loaded.about.ops.address);
        let out = || "its `struct sched_ext_ops` is not in its memory".to_owned();
        let bytes = started.bytes();
        let pointers =
            at.ops.iter().map(|op| bytes.u64(table.checked_add(*op)?)).collect::<Option<Vec<u64>>>();
        let pointers = pointers.ok_or_else(out)?;
        let name = bytes.text(table + at.name, 128).ok_or_else(out)?;
        let flags = bytes.u64(table + at.flags).ok_or_else(out)?;
        let timeout_ms = bytes.u32(table + at.timeout_ms).ok_or_else(out)?;
        let max_batch = bytes.u32(table + at.max_batch).ok_or_else(out)?;
        let mut ops = Vec::new();
        for (pointer, op) in pointers.into_iter().zip(OPS) {
            ops.push(match pointer {
                0 => None,
                _ => Some(started.pointed(pointer).ok_or_else(|| {
                    format!(
                        "`{op}` of its operations is {pointer:#x}, which is no function with integers only"
                    )
                })?),
            });
        }
        Ok(Self {
            task_new: started.function("scx_task_new")?,
            task_gone: started.function("scx_task_gone")?,
            cgroup_new: started.function("scx_cgroup_new")?,
            task_cgroup: started.function("scx_task_cgroup").ok(),
            timer_fire: started.function("scx_timer_fire")?,
            alloc: started.function("scx_alloc")?,
            given: given(&ops),
            name: if name.is_empty() { loaded.about.name.clone() } else { name },
            loaded: Arc::clone(loaded),
            started,
            at,
            flags,
            timeout_ms,
            max_batch,
            ops,
            arguments: 0,
            cgroups: BTreeMap::new(),
        })
    }

    /// The run ends because something about an operation has failed.
    fn fail(&self, kernel: &mut Kernel<'_>, op: &str, reason: &str) {
        kernel.abort(&format!("operation {op} of {}: {reason}", self.loaded.file));
    }

    /// Calls something in the module; the kernel gets to know what it has written. None: it has failed.
    fn call<R>(
        &mut self,
        kernel: &mut Kernel<'_>,
        op: &str,
        call: impl FnOnce(&mut Started) -> Result<R, wasmi::Error>,
    ) -> Option<R> {
        self.call_with(kernel, op, |_, _, _| (), |started, ()| call(started))
    }

    /// The same with arguments that are made when the kernel is shown to the module.
    fn call_with<R, A>(
        &mut self,
        kernel: &mut Kernel<'_>,
        op: &str,
        with: impl FnOnce(&mut Data, &mut Bytes<'_>, &mut Kernel<'_>) -> A,
        call: impl FnOnce(&mut Started, A) -> Result<R, wasmi::Error>,
    ) -> Option<R> {
        let started = &mut self.started;
        let (mut bytes, data) = started.parts();
        data.begin(&mut bytes, kernel);
        let with = with(data, &mut bytes, kernel);
        started.refuel();
        let result = during(kernel, || call(started, with));
        let (bytes, data) = started.parts();
        data.end(&bytes, kernel);
        match result {
            Ok(result) => Some(result),
            Err(error) => {
                if let Some(reason) = reason(&error) {
                    self.fail(kernel, op, &reason);
                }
                None
            }
        }
    }

    /// Calls an operation, if it is given; none without a result.
    fn operate(
        &mut self,
        kernel: &mut Kernel<'_>,
        op: Op,
        with: impl FnOnce(&mut Data, &mut Bytes<'_>, &mut Kernel<'_>) -> [u64; 4],
    ) -> Option<i64> {
        let call = self.ops.get(op as usize)?.clone()?;
        self.call_with(kernel, op.name(), with, |started, with| call.call(&mut started.store, with))
    }

    /// Calls an operation with plain arguments.
    fn op(&mut self, kernel: &mut Kernel<'_>, op: Op, with: [u64; 4]) -> Option<i64> {
        self.operate(kernel, op, |_, _, _| with)
    }

    /// Calls an operation with a task and other arguments.
    fn task_op(&mut self, kernel: &mut Kernel<'_>, op: Op, task: TaskId, [a, b]: [u64; 2]) -> Option<i64> {
        self.operate(kernel, op, |data, bytes, kernel| [data.show(bytes, kernel, task), a, b, 0])
    }

    /// Memory of the module; none: the run ends.
    fn room(&mut self, kernel: &mut Kernel<'_>, op: Op, size: u64) -> Option<u64> {
        let alloc = self.alloc;
        let size = size.cast_signed();
        let found = self.call(kernel, op.name(), |started| alloc.call(&mut started.store, size))?;
        if found == 0 {
            self.fail(kernel, op.name(), "its memory is exhausted");
            return None;
        }
        let (found, size) = (found.cast_unsigned(), size.cast_unsigned());
        if self.started.bytes().slice(found, size).is_none() {
            self.fail(kernel, op.name(), "`scx_alloc` returned what is no address of its memory");
            return None;
        }
        Some(found)
    }

    /// Room for masks and arguments, and the root cgroup.
    fn prepare(&mut self, kernel: &mut Kernel<'_>) -> Option<()> {
        let at = Arc::clone(&self.at);
        let sizes = [at.init_task_size, at.exit_task_size, at.cgroup_init_size, at.exit_size];
        self.arguments = self.room(kernel, Op::Init, sizes.into_iter().max()?)?;
        let possible = self.room(kernel, Op::Init, at.cpumask_size)?;
        let mut idle = Vec::new();
        if self.loaded.imports.iter().any(|(name, _)| name.starts_with("scx_bpf_get_idle_")) {
            for _ in 0..=kernel.nr_node_ids() {
                let cpus = self.room(kernel, Op::Init, at.cpumask_size)?;
                idle.push((cpus, self.room(kernel, Op::Init, at.cpumask_size)?));
            }
        }
        let (mut bytes, data) = self.started.parts();
        let _ = bytes.put_words(possible, CpuMask::full(kernel.nr_cpu_ids()).words());
        (data.masks.possible, data.masks.idle) = (possible, idle);
        for cgroup in kernel.cgroups().to_vec() {
            self.cgroup(kernel, Op::Init, &cgroup)?;
        }
        Some(())
    }

    /// The address of a cgroup, which is made if it is new.
    fn cgroup(&mut self, kernel: &mut Kernel<'_>, op: Op, cgroup: &Cgroup) -> Option<u64> {
        if let Some(found) = self.cgroups.get(&cgroup.id) {
            return Some(*found);
        }
        let parent = cgroup.parent.map_or(0, |parent| self.cgroup_address(parent));
        let (new, with) = (self.cgroup_new, (cgroup.id.cast_signed(), parent.cast_signed()));
        let found = self.call(kernel, op.name(), |started| new.call(&mut started.store, with))?;
        if found == 0 {
            self.fail(kernel, op.name(), "it has no room for another cgroup");
            return None;
        }
        self.cgroups.insert(cgroup.id, found.cast_unsigned());
        Some(found.cast_unsigned())
    }

    fn cgroup_address(&self, id: u64) -> u64 {
        self.cgroups.get(&id).copied().unwrap_or(0)
    }

    /// Makes the structure of a task.
    fn new_task(&mut self, kernel: &mut Kernel<'_>, task: TaskId) -> Option<()> {
        let (new, pid) = (self.task_new, task.0.cast_signed() + 1);
        let name = Op::InitTask.name();
        let address = self.call(kernel, name, |started| new.call(&mut started.store, pid))?;
        if address == 0 {
            self.fail(kernel, name, "its memory is exhausted");
            return None;
        }
        let (mut bytes, data) = self.started.parts();
        data.set_address(task, address.cast_unsigned());
        if data.describe(&mut bytes, kernel, task).is_none() {
            self.fail(kernel, name, "`scx_task_new` returned what is no address of its memory");
            return None;
        }
        Some(())
    }

    /// The structure of a task is in this cgroup from now on.
    fn join(&mut self, kernel: &mut Kernel<'_>, task: TaskId, cgroup: u64) -> Option<()> {
        let Some(put) = self.task_cgroup else { return Some(()) };
        let of_task = self.started.parts().1.address(task);
        let with = (of_task.cast_signed(), self.cgroup_address(cgroup).cast_signed());
        self.call(kernel, "scx_task_cgroup", |started| put.call(&mut started.store, with))
    }

    /// Writes the cpus that a task may use.
    fn write_mask(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        let (mut bytes, data) = self.started.parts();
        data.write_allowed(&mut bytes, kernel, task);
    }
}

/// Calls what has to be called before the globals are written: the cpus and the maps.
fn set_up(started: &mut Started, loaded: &Loaded, cpus: u32) -> Result<(), String> {
    let state = started.once::<(), i64>("scx_state_at", ())?.cast_unsigned();
    let (bytes, data) = started.parts();
    let members = [data.at.now, data.at.cpu, data.at.current];
    let lies = |offset: &u64| state.checked_add(*offset).and_then(|at| bytes.u64(at)).is_some();
    if !members.iter().all(lies) {
        return Err(format!("its `struct scx_state` at {state:#x} is not in its memory"));
    }
    data.state = state;
    let done: i32 = started.once("scx_setup", cpus.cast_signed())?;
    if done != 0 {
        return Err(format!("it cannot be set up for {cpus} cpus: error {done}"));
    }
    for map in &loaded.about.maps {
        let address = map.address.cast_signed();
        let numbers =
            [map.kind, map.key_size, map.value_size, map.max_entries, map.flags].map(u32::cast_signed);
        let [kind, key, value, entries, flags] = numbers;
        let done: i32 = started.once("scx_map_setup", (address, kind, key, value, entries, flags))?;
        if done != 0 {
            let name = notation::neutral::line(&map.symbol).into_owned();
            return Err(format!("its map `{name}` cannot be set up: error {done}"));
        }
        for reference in &map.references {
            started.once::<_, ()>("scx_map_reference", (address, reference.cast_signed()))?;
        }
    }
    // Once all of them are there.
    for map in &loaded.about.maps {
        for (index, inner) in (0..).zip(&map.inner).filter(|(_, inner)| **inner != 0) {
            started.once::<(i64, i32, i64), ()>(
                "scx_map_inner",
                (map.address.cast_signed(), index, inner.cast_signed()),
            )?;
        }
    }
    Ok(())
}

/// The operations that are given; the host needs some of them even where the module does not.
fn given(ops: &[Option<Call>]) -> Given {
    let has = |op: Op| ops.get(op as usize).is_some_and(Option::is_some);
    Given {
        select_cpu: has(Op::SelectCpu),
        enqueue: has(Op::Enqueue),
        dequeue: has(Op::Dequeue),
        dispatch: has(Op::Dispatch),
        tick: has(Op::Tick),
        runnable: has(Op::Runnable),
        running: has(Op::Running),
        stopping: has(Op::Stopping),
        quiescent: has(Op::Quiescent),
        yields: has(Op::Yield),
        set_weight: has(Op::SetWeight),
        update_idle: has(Op::UpdateIdle),
        enable: has(Op::Enable),
        disable: has(Op::Disable),
        cgroup_init: has(Op::CgroupInit),
        cgroup_exit: has(Op::CgroupExit),
        cgroup_prep_move: has(Op::CgroupPrepMove),
        // Also without the operation the task is in another cgroup afterwards.
        cgroup_move: true,
        cgroup_cancel_move: has(Op::CgroupCancelMove),
        cgroup_set_weight: has(Op::CgroupSetWeight),
        // They make, change and free the structure of a task.
        init_task: true,
        exit_task: true,
        set_cpumask: true,
    }
}

/// A result of 32 bits.
const fn number(result: i64) -> i32 {
    result as i32
}

impl Scheduler for Host {
    fn name(&self) -> &str {
        &self.name
    }

    fn given(&self) -> Given {
        self.given
    }

    fn flags(&self) -> u64 {
        self.flags
    }

    fn timeout_ms(&self) -> u32 {
        self.timeout_ms
    }

    fn dispatch_max_batch(&self) -> u32 {
        self.max_batch
    }

    fn init(&mut self, kernel: &mut Kernel<'_>) -> i32 {
        if self.prepare(kernel).is_none() {
            return 0;
        }
        self.op(kernel, Op::Init, [0; 4]).map_or(0, number)
    }

    fn exit(&mut self, kernel: &mut Kernel<'_>, info: &ExitInfo) {
        let (at, to) = (Arc::clone(&self.at), self.arguments);
        if to == 0 || self.ops.get(Op::Exit as usize).is_none_or(Option::is_none) {
            return;
        }
        let texts = [info.reason, info.message.as_str(), ""].map(|text| {
            let room = self.room(kernel, Op::Exit, text.len() as u64 + 1)?;
            self.started.bytes().slice_mut(room, text.len() as u64)?.copy_from_slice(text.as_bytes());
            Some(room)
        });
        let [reason, message, dump] = texts.map(Option::unwrap_or_default);
        let mut bytes = self.started.bytes();
        if let Some(room) = bytes.slice_mut(to, at.exit_size) {
            room.fill(0);
        }
        let _ = bytes.put_u32(to + at.exit_kind, info.kind.cast_unsigned());
        let _ = bytes.put_u64(to + at.exit_code, info.code.cast_unsigned());
        for (offset, text) in [(at.exit_reason, reason), (at.exit_msg, message), (at.exit_dump, dump)] {
            let _ = bytes.put_u64(to + offset, text);
        }
        self.op(kernel, Op::Exit, [to, 0, 0, 0]);
    }

    fn init_task(&mut self, kernel: &mut Kernel<'_>, task: TaskId, fork: bool, cgroup: u64) -> i32 {
        if self.new_task(kernel, task).is_none() || self.join(kernel, task, cgroup).is_none() {
            return 0;
        }
        let (at, to, cgroup) = (Arc::clone(&self.at), self.arguments, self.cgroup_address(cgroup));
        let mut bytes = self.started.bytes();
        let _ = bytes.put(to + at.init_task_fork, 1, u64::from(fork));
        let _ = bytes.put_u64(to + at.init_task_cgroup, cgroup);
        self.task_op(kernel, Op::InitTask, task, [to, 0]).map_or(0, number)
    }

    fn enable(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        self.task_op(kernel, Op::Enable, task, [0, 0]);
    }

    fn disable(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        self.task_op(kernel, Op::Disable, task, [0, 0]);
    }

    fn exit_task(&mut self, kernel: &mut Kernel<'_>, task: TaskId, cancelled: bool) {
        let (at, to) = (Arc::clone(&self.at), self.arguments);
        let _ = self.started.bytes().put(to + at.exit_task_cancelled, 1, u64::from(cancelled));
        self.task_op(kernel, Op::ExitTask, task, [to, 0]);
        let (_, data) = self.started.parts();
        let (gone, address) = (self.task_gone, data.address(task).cast_signed());
        self.call(kernel, Op::ExitTask.name(), |started| gone.call(&mut started.store, address));
        self.started.parts().1.set_address(task, 0);
    }

    fn select_cpu(&mut self, kernel: &mut Kernel<'_>, task: TaskId, prev: i32, wake_flags: u64) -> i32 {
        let with = [u64::from(prev.cast_unsigned()), wake_flags];
        self.task_op(kernel, Op::SelectCpu, task, with).map_or(prev, number)
    }

    fn runnable(&mut self, kernel: &mut Kernel<'_>, task: TaskId, enq_flags: u64) {
        self.task_op(kernel, Op::Runnable, task, [enq_flags, 0]);
    }

    fn enqueue(&mut self, kernel: &mut Kernel<'_>, task: TaskId, enq_flags: u64) {
        self.task_op(kernel, Op::Enqueue, task, [enq_flags, 0]);
    }

    fn dequeue(&mut self, kernel: &mut Kernel<'_>, task: TaskId, deq_flags: u64) {
        self.task_op(kernel, Op::Dequeue, task, [deq_flags, 0]);
    }

    fn dispatch(&mut self, kernel: &mut Kernel<'_>, cpu: CpuId, prev: Option<TaskId>) {
        self.operate(kernel, Op::Dispatch, |data, bytes, kernel| {
            [u64::from(cpu.0), prev.map_or(0, |prev| data.show(bytes, kernel, prev)), 0, 0]
        });
    }

    fn running(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        self.task_op(kernel, Op::Running, task, [0, 0]);
    }

    fn tick(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        self.task_op(kernel, Op::Tick, task, [0, 0]);
    }

    fn stopping(&mut self, kernel: &mut Kernel<'_>, task: TaskId, runnable: bool) {
        self.task_op(kernel, Op::Stopping, task, [u64::from(runnable), 0]);
    }

    fn quiescent(&mut self, kernel: &mut Kernel<'_>, task: TaskId, deq_flags: u64) {
        self.task_op(kernel, Op::Quiescent, task, [deq_flags, 0]);
    }

    fn yields(&mut self, kernel: &mut Kernel<'_>, from: TaskId, to: Option<TaskId>) -> bool {
        let yielded = self.operate(kernel, Op::Yield, |data, bytes, kernel| {
            let to = to.map_or(0, |to| data.show(bytes, kernel, to));
            [data.show(bytes, kernel, from), to, 0, 0]
        });
        yielded.is_some_and(|yielded| number(yielded) != 0)
    }

    fn set_weight(&mut self, kernel: &mut Kernel<'_>, task: TaskId, weight: u32) {
        self.task_op(kernel, Op::SetWeight, task, [u64::from(weight), 0]);
    }

    fn set_cpumask(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        self.write_mask(kernel, task);
        let mask = self.started.parts().1.address(task).saturating_add(self.at.cpus_mask);
        self.task_op(kernel, Op::SetCpumask, task, [mask, 0]);
    }

    fn update_idle(&mut self, kernel: &mut Kernel<'_>, cpu: CpuId, idle: bool) {
        self.op(kernel, Op::UpdateIdle, [u64::from(cpu.0), u64::from(idle), 0, 0]);
    }

    fn cgroup_init(&mut self, kernel: &mut Kernel<'_>, cgroup: &Cgroup) -> i32 {
        let Some(address) = self.cgroup(kernel, Op::CgroupInit, cgroup) else { return 0 };
        let (at, to) = (Arc::clone(&self.at), self.arguments);
        let _ = self.started.bytes().put_u32(to + at.cgroup_init_weight, cgroup.weight);
        self.op(kernel, Op::CgroupInit, [address, to, 0, 0]).map_or(0, number)
    }

    fn cgroup_exit(&mut self, kernel: &mut Kernel<'_>, cgroup: u64) {
        let address = self.cgroup_address(cgroup);
        self.op(kernel, Op::CgroupExit, [address, 0, 0, 0]);
    }

    fn cgroup_prep_move(&mut self, kernel: &mut Kernel<'_>, task: TaskId, from: u64, to: u64) -> i32 {
        let with = [self.cgroup_address(from), self.cgroup_address(to)];
        self.task_op(kernel, Op::CgroupPrepMove, task, with).map_or(0, number)
    }

    fn cgroup_move(&mut self, kernel: &mut Kernel<'_>, task: TaskId, from: u64, to: u64) {
        if self.join(kernel, task, to).is_none() {
            return;
        }
        let with = [self.cgroup_address(from), self.cgroup_address(to)];
        self.task_op(kernel, Op::CgroupMove, task, with);
    }

    fn cgroup_cancel_move(&mut self, kernel: &mut Kernel<'_>, task: TaskId, from: u64, to: u64) {
        let with = [self.cgroup_address(from), self.cgroup_address(to)];
        self.task_op(kernel, Op::CgroupCancelMove, task, with);
    }

    fn cgroup_set_weight(&mut self, kernel: &mut Kernel<'_>, cgroup: u64, weight: u32) {
        let address = self.cgroup_address(cgroup);
        self.op(kernel, Op::CgroupSetWeight, [address, u64::from(weight), 0, 0]);
    }

    fn timer(&mut self, kernel: &mut Kernel<'_>, token: u64) {
        let (_, data) = self.started.parts();
        let Some(timer) = usize::try_from(token).ok().and_then(|at| data.timer_addresses.get(at)) else {
            return;
        };
        let (fire, timer) = (self.timer_fire, timer.cast_signed());
        self.call(kernel, "timer", |started| fire.call(&mut started.store, timer));
    }

    fn counters(&self) -> Vec<(String, u64)> {
        globals::counters(self.started.memory.data(&self.started.store), &self.loaded.about)
    }
}
