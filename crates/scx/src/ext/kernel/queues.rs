//! Dispatch queues: creation, insertion, moves, iteration.

use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::Why;

use crate::ext::abi::{
    DSQ_FLAG_BUILTIN, DSQ_GLOBAL, DSQ_ITER_REV, DSQ_LOCAL, DSQ_LOCAL_CPU_MASK, DSQ_LOCAL_ON, ENQ_DSQ_PRIQ,
    ENQ_HEAD, ENQ_INTERNAL_MASK, ENQ_PREEMPT, KICK_PREEMPT, errno,
};
use crate::ext::dsq::{Dsq, Key};
use crate::ext::entity::Place;
use crate::ext::kernel::Kernel;
use crate::ext::state::{Context, Direct, Insertion};

/// A queue that a task can be put into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Local(CpuId),
    Global(u32),
    User(u64),
}

/// An iteration over a dispatch queue (`struct bpf_iter_scx_dsq`): tasks that enter the queue after its
/// beginning are left out.
#[derive(Clone, Debug)]
pub struct DsqIter {
    dsq: u64,
    backwards: bool,
    /// The last entry that counts.
    last: u64,
    at: Option<Key>,
    slice: Option<u64>,
    vtime: Option<u64>,
}

impl DsqIter {
    /// `scx_bpf_dsq_move_set_slice`: the next task that is moved gets this slice, in ns.
    pub fn set_slice(&mut self, slice: u64) {
        self.slice = Some(slice);
    }

    /// `scx_bpf_dsq_move_set_vtime`: the next task that is moved gets this virtual time.
    pub fn set_vtime(&mut self, vtime: u64) {
        self.vtime = Some(vtime);
    }
}

/// Why the engine is told that a task goes to a cpu.
const DISPATCHED: Why = Why::rule("dispatched by the scheduler");

impl Kernel<'_> {
    /// `scx_bpf_create_dsq`: 0, or a negative error number. `node` is -1 or a NUMA node.
    pub fn create_dsq(&mut self, id: u64, node: i32) -> i32 {
        let nodes = self.state.globals.len();
        if id & DSQ_FLAG_BUILTIN != 0 || node < -1 || usize::try_from(node).is_ok_and(|node| node >= nodes) {
            return -errno::EINVAL;
        }
        if self.state.users.create(id) { 0 } else { -errno::EEXIST }
    }

    /// `scx_bpf_destroy_dsq`: the queue must be empty; nothing happens where there is none.
    pub fn destroy_dsq(&mut self, id: u64) {
        let held = self.state.users.get(id).map_or(0, Dsq::len);
        if held > 0 {
            return self.refuse(&format!("attempting to destroy in-use dsq {id:#018x} (nr={held})"));
        }
        self.state.users.destroy(id);
    }

    /// `scx_bpf_dsq_nr_queued`: the number of tasks in a queue, or a negative error number.
    #[must_use]
    pub fn dsq_nr_queued(&self, id: u64) -> i32 {
        let count = if id == DSQ_LOCAL {
            Some(self.state.local_len(self.state.this_cpu))
        } else if id & DSQ_LOCAL_ON == DSQ_LOCAL_ON {
            let cpu = self.known_cpu((id & DSQ_LOCAL_CPU_MASK) as i32);
            cpu.map(|cpu| self.state.local_len(cpu))
        } else {
            self.state.users.get(id).map(Dsq::len)
        };
        count.map_or(-errno::ENOENT, |count| count as i32)
    }

    /// `scx_bpf_dsq_insert`: a task goes into a queue, to run for `slice` ns, or for what it has left if that
    /// is 0. In `ops.select_cpu` and `ops.enqueue` that is direct dispatch of the task that they are called
    /// for; in `ops.dispatch` the insertion is carried out at its end.
    pub fn dsq_insert(&mut self, task: TaskId, dsq: u64, slice: u64, flags: u64) {
        if self.may_insert(flags, "scx_bpf_dsq_insert") {
            self.renew(task, slice);
            self.commit(task, dsq, flags);
        }
    }

    /// `scx_bpf_dsq_insert_vtime`: the same in the order of virtual time.
    pub fn dsq_insert_vtime(&mut self, task: TaskId, dsq: u64, slice: u64, vtime: u64, flags: u64) {
        if self.may_insert(flags, "scx_bpf_dsq_insert_vtime") {
            self.renew(task, slice);
            self.state.task_mut(task).vtime = vtime;
            self.commit(task, dsq, flags | ENQ_DSQ_PRIQ);
        }
    }

    fn may_insert(&mut self, flags: u64, function: &str) -> bool {
        if !self.permits(Context::ENQUEUE | Context::DISPATCH, function) {
            return false;
        }
        if flags & ENQ_INTERNAL_MASK != 0 {
            self.refuse(&format!("invalid enq_flags {flags:#x}"));
            return false;
        }
        true
    }

    /// The slice of an insertion; without one a task keeps what it has, and at least 1 ns.
    fn renew(&mut self, task: TaskId, slice: u64) {
        let slice = if slice > 0 { slice } else { self.state.task(task).slice.max(1) };
        self.set_slice(task, slice);
    }

    fn commit(&mut self, task: TaskId, dsq: u64, flags: u64) {
        match self.state.direct {
            Direct::May(wanted) if wanted == task => {
                self.state.direct = Direct::Done;
                self.state.task_mut(task).verdict = Some((dsq, flags));
            }
            Direct::May(wanted) => {
                let (wanted, task) = (self.name(wanted), self.name(task));
                self.refuse(&format!("scheduling for {wanted} but trying to direct-dispatch {task}"));
            }
            Direct::Done => {
                let task = self.name(task);
                self.refuse(&format!("{task} already direct-dispatched"));
            }
            Direct::No if self.state.batch.len() >= self.state.max_batch => {
                self.refuse("dispatch buffer overflow");
            }
            Direct::No => {
                let turn = self.state.task(task).turn;
                self.state.batch.push(Insertion { task, turn, dsq, flags });
            }
        }
    }

    /// `scx_bpf_dispatch_nr_slots`: how many insertions `ops.dispatch` has left.
    pub fn dispatch_nr_slots(&mut self) -> u32 {
        if !self.permits(Context::DISPATCH, "scx_bpf_dispatch_nr_slots") {
            return 0;
        }
        (self.state.max_batch - self.state.batch.len()) as u32
    }

    /// `scx_bpf_dispatch_cancel`: the last insertion is taken back.
    pub fn dispatch_cancel(&mut self) {
        if self.permits(Context::DISPATCH, "scx_bpf_dispatch_cancel") && self.state.batch.pop().is_none() {
            self.refuse("dispatch buffer underflow");
        }
    }

    /// `scx_bpf_dsq_move_to_local`: the first task of a queue that may run on the dispatching cpu goes into
    /// its local queue; false without one.
    pub fn dsq_move_to_local(&mut self, id: u64) -> bool {
        if !self.permits(Context::DISPATCH, "scx_bpf_dsq_move_to_local") {
            return false;
        }
        self.carry_out_batch();
        if self.state.users.get(id).is_none() {
            self.refuse(&format!("invalid DSQ ID {id:#018x}"));
            return false;
        }
        let moved = self.consume(Target::User(id), self.state.this_cpu);
        self.state.dispatched += u32::from(moved);
        moved
    }

    /// `scx_bpf_reenqueue_local`: only `ops.cpu_release` may call it, and that is never called here.
    pub fn reenqueue_local(&mut self) -> u32 {
        self.permits(0, "scx_bpf_reenqueue_local");
        0
    }

    /// `bpf_iter_scx_dsq_new`.
    ///
    /// # Errors
    /// A negative error number.
    pub fn dsq_iter_new(&self, id: u64, flags: u64) -> Result<DsqIter, i32> {
        if flags & !DSQ_ITER_REV != 0 {
            return Err(-errno::EINVAL);
        }
        let dsq = self.state.users.get(id).ok_or(-errno::ENOENT)?;
        let (backwards, last) = (flags & DSQ_ITER_REV != 0, dsq.entries());
        Ok(DsqIter { dsq: id, backwards, last, at: None, slice: None, vtime: None })
    }

    /// `bpf_iter_scx_dsq_next`.
    pub fn dsq_iter_next(&self, iter: &mut DsqIter) -> Option<TaskId> {
        loop {
            let (key, task) = self.state.users.get(iter.dsq)?.after(iter.at, iter.backwards)?;
            iter.at = Some(key);
            if self.state.task(task).entry <= iter.last {
                return Some(task);
            }
        }
    }

    /// `scx_bpf_dsq_peek`: the first task of a queue.
    pub fn dsq_peek(&mut self, id: u64) -> Option<TaskId> {
        let Some(dsq) = self.state.users.get(id) else {
            self.refuse(&format!("peeking at non-existent DSQ {id:#018x}"));
            return None;
        };
        dsq.first()
    }

    /// `scx_bpf_dsq_move`: a task that an iteration has found goes into another queue; false when it is no
    /// longer in its own one.
    pub fn dsq_move(&mut self, iter: &mut DsqIter, task: TaskId, dsq: u64, flags: u64) -> bool {
        self.move_found(iter, task, dsq, flags)
    }

    /// `scx_bpf_dsq_move_vtime`: the same in the order of virtual time.
    pub fn dsq_move_vtime(&mut self, iter: &mut DsqIter, task: TaskId, dsq: u64, flags: u64) -> bool {
        self.move_found(iter, task, dsq, flags | ENQ_DSQ_PRIQ)
    }

    fn move_found(&mut self, iter: &mut DsqIter, task: TaskId, dsq: u64, flags: u64) -> bool {
        let (slice, vtime) = (iter.slice.take(), iter.vtime.take());
        if !self.permits(Context::DISPATCH | Context::UNLOCKED, "scx_bpf_dsq_move") || self.system().is_none()
        {
            return false;
        }
        let entity = self.state.task(task);
        if entity.place != Place::User(iter.dsq) || entity.entry > iter.last {
            return false;
        }
        let entity = self.state.task_mut(task);
        entity.slice = slice.unwrap_or(entity.slice);
        entity.vtime = vtime.unwrap_or(entity.vtime);
        let target = self.target(dsq, task, self.state.this_cpu);
        self.state.leave_queue(task);
        self.put(task, target, flags);
        true
    }

    /// The queue that an id names, for a task; `here` is the cpu whose local queue `SCX_DSQ_LOCAL` is.
    pub(crate) fn target(&mut self, dsq: u64, task: TaskId, here: CpuId) -> Target {
        if dsq == DSQ_LOCAL {
            return Target::Local(here);
        }
        let global = Target::Global(self.view().machine().node_of(self.state.task(task).cpu).0);
        if dsq & DSQ_LOCAL_ON == DSQ_LOCAL_ON {
            let cpu = (dsq & DSQ_LOCAL_CPU_MASK) as i32;
            let found = self.valid_cpu(cpu, "in SCX_DSQ_LOCAL_ON dispatch verdict");
            return found.map_or(global, Target::Local);
        }
        if dsq == DSQ_GLOBAL {
            return global;
        }
        if self.state.users.get(dsq).is_some() {
            return Target::User(dsq);
        }
        let name = self.name(task);
        self.refuse(&format!("non-existent DSQ {dsq:#x} for {name}"));
        global
    }

    /// Puts a task that is in no queue into one (`dispatch_enqueue`).
    pub(crate) fn put(&mut self, task: TaskId, target: Target, flags: u64) {
        let timed = flags & ENQ_DSQ_PRIQ != 0;
        if timed && !matches!(target, Target::User(_)) {
            self.refuse("cannot use vtime ordering for built-in DSQs");
        }
        let head = flags & (ENQ_HEAD | ENQ_PREEMPT) != 0;
        match target {
            Target::Local(cpu) if !self.state.task(task).allowed.contains(cpu) => {
                let name = self.name(task);
                let text = format!("SCX_DSQ_LOCAL[_ON] target CPU {} not allowed for {name}", cpu.0);
                self.refuse(&text);
                let node = self.view().machine().node_of(self.state.task(task).cpu).0;
                self.put(task, Target::Global(node), flags & !ENQ_DSQ_PRIQ);
            }
            Target::Local(cpu) => self.put_local(task, cpu, flags),
            Target::Global(node) => {
                let entered = self.state.globals.get_mut(node as usize).map(|dsq| dsq.insert(task, head));
                self.entered(task, Place::Global(node), entered);
            }
            Target::User(id) => {
                let vtime = self.state.task(task).vtime;
                let dsq = self.state.users.get_mut(id);
                if dsq.as_ref().is_some_and(|dsq| dsq.refuses(timed)) {
                    let other = if timed { "FIFO" } else { "PRIQ" };
                    return self.refuse(&format!("DSQ ID {id:#018x} already had {other}-enqueued tasks"));
                }
                let entered =
                    dsq.map(|dsq| if timed { dsq.insert_timed(task, vtime) } else { dsq.insert(task, head) });
                self.entered(task, Place::User(id), entered);
            }
        }
    }

    fn entered(&mut self, task: TaskId, place: Place, entered: Option<(Key, u64)>) {
        let entity = self.state.task_mut(task);
        if let Some((key, entry)) = entered {
            (entity.place, entity.key, entity.entry) = (place, key, entry);
        }
    }

    /// A task goes into the local queue of a cpu, where it may run.
    fn put_local(&mut self, task: TaskId, cpu: CpuId, flags: u64) {
        let entering = self.state.entering == Some(task);
        if entering && self.state.task(task).cpu != cpu {
            // It moves when the engine has it (`process_ddsp_deferred_locals`).
            self.state.task_mut(task).place = Place::Passing(cpu);
            self.state.passing.push((task, flags));
            return;
        }
        if !entering && !self.view().allowed(task, cpu) {
            // Its mask has just changed, and the scheduler is about to be told.
            let node = self.view().machine().node_of(self.state.task(task).cpu).0;
            return self.put(task, Target::Global(node), flags);
        }
        let entry = self.state.enter_local(task, cpu, flags);
        if entering {
            self.state.answer = Some(entry);
        } else if self.system().is_some_and(|system| !system.dispatch(task, cpu, entry, DISPATCHED)) {
            // A policy between this one and the engine has refused it.
            self.state.leave_queue(task);
            let node = self.view().machine().node_of(cpu).0;
            return self.put(task, Target::Global(node), flags);
        }
        if flags & ENQ_PREEMPT != 0 {
            self.preempt(task, cpu);
        }
    }

    /// The slice of the task that a cpu runs is over, and the cpu looks for a task, because another one goes
    /// first.
    fn preempt(&mut self, task: TaskId, cpu: CpuId) {
        let Some(current) = self.state.current(cpu).filter(|current| *current != task) else { return };
        if self.state.switching == Some(cpu) {
            self.state.task_mut(current).slice = 0;
        } else {
            *self.state.kicks.entry(cpu).or_default() |= KICK_PREEMPT;
        }
    }

    /// Tasks that are on their way reach the local queues of their cpus.
    pub(crate) fn pass(&mut self) {
        for (task, flags) in std::mem::take(&mut self.state.passing) {
            if let Place::Passing(cpu) = self.state.task(task).place {
                self.put(task, Target::Local(cpu), flags);
            }
        }
    }

    /// Carries out the insertions of `ops.dispatch` (`flush_dispatch_buf`). One is void if the scheduler does
    /// not have the task, or has got it again since.
    pub(crate) fn carry_out_batch(&mut self) {
        let mut batch = std::mem::take(&mut self.state.batch);
        self.state.dispatched += batch.len() as u32;
        for Insertion { task, turn, dsq, flags } in batch.drain(..) {
            let entity = self.state.task(task);
            if entity.place != Place::Scheduler || entity.turn != turn {
                self.state.events.void_insertions += 1;
                continue;
            }
            let target = self.target(dsq, task, self.state.this_cpu);
            self.put(task, target, flags);
        }
        self.state.batch = batch;
    }

    /// The first task of a queue that may run on a cpu goes into its local queue (`consume_dispatch_q`).
    pub(crate) fn consume(&mut self, from: Target, cpu: CpuId) -> bool {
        let dsq = match from {
            Target::User(id) => self.state.users.get(id),
            Target::Global(node) => self.state.globals.get(node as usize),
            Target::Local(_) => None,
        };
        let Some(dsq) = dsq else { return false };
        let found = dsq.iter().find(|task| self.state.task(*task).allowed.contains(cpu));
        let Some(task) = found else { return false };
        self.state.leave_queue(task);
        self.put_local(task, cpu, 0);
        true
    }
}
