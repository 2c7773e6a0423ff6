//! The kernel's side of each transition of a task: which operations are called, in which order.

use std::sync::Arc;

use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{TaskChange, Timer};
use sim_core::time::Span;

use crate::ext::abi::{
    DEQ_SAVE, DEQ_SLEEP, DSP_MAX_LOOPS, ENQ_HEAD, ENQ_LAST, ENQ_RESTORE, EXIT_ERROR_STALL, EXIT_UNREG,
    KICK_PREEMPT, OPS_ENQ_LAST, TASK_DEQD_FOR_SLEEP, TASK_QUEUED,
};
use crate::ext::entity::{Entity, Place, cgroup_weight};
use crate::ext::given::{ExitInfo, reason};
use crate::ext::groups;
use crate::ext::kernel::{Kernel, Target, WATCHDOG};
use crate::ext::mask::CpuMask;
use crate::ext::scheduler::Scheduler;
use crate::ext::state::{Context, Direct};

/// What a cpu that looks for a task has found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// Its task goes on.
    Keep,
    /// A task in its local queue.
    Next,
    /// None.
    Nothing,
}

/// A scheduler and the kernel, during one call of the engine.
pub(crate) struct Side<'a, S> {
    pub(crate) ops: &'a mut S,
    pub(crate) kernel: Kernel<'a>,
}

impl<S: Scheduler> Side<'_, S> {
    /// Operations are still called.
    pub(crate) fn is_active(&self) -> bool {
        !self.kernel.has_ended() && !self.kernel.state.exited
    }

    /// Calls an operation that may call what `mask` allows.
    pub(crate) fn call<R>(
        &mut self,
        (name, mask): (&'static str, u8),
        direct: Direct,
        operation: impl FnOnce(&mut S, &mut Kernel<'_>) -> R,
    ) -> R {
        self.kernel.enters(Context::new(name, mask), direct);
        let result = operation(self.ops, &mut self.kernel);
        self.kernel.leaves();
        result
    }

    /// Calls an operation about a task that may call what all may, if it is given.
    pub(crate) fn tell(
        &mut self,
        name: &'static str,
        given: bool,
        operation: impl FnOnce(&mut S, &mut Kernel<'_>),
    ) {
        if given && self.is_active() {
            self.call((name, Context::REST), Direct::No, operation);
        }
    }

    /// A task is created: the scheduler gets to know it.
    pub(crate) fn begin(&mut self, task: TaskId, cpu: CpuId, fork: bool) {
        let weight = cgroup_weight(self.kernel.view().task(task).weight);
        let cgroup = groups::of(self.kernel.view(), self.kernel.view().task(task).app);
        *self.kernel.state.task_mut(task) = Entity { known: true, cpu, weight, cgroup, ..Entity::new() };
        self.read_mask(task);
        let given = self.kernel.state.given;
        if given.init_task && self.is_active() {
            let place = ("ops.init_task()", Context::UNLOCKED);
            let result =
                self.call(place, Direct::No, |ops, kernel| ops.init_task(kernel, task, fork, cgroup));
            if result != 0 {
                let name = self.kernel.name(task);
                self.kernel.refuse(&format!("ops.init_task() failed ({result}) for {name}"));
            }
        }
        self.tell("ops.enable()", given.enable, |ops, kernel| ops.enable(kernel, task));
        self.tell("ops.set_weight()", given.set_weight, |ops, kernel| ops.set_weight(kernel, task, weight));
    }

    /// Takes over the cpus that a task may use.
    fn read_mask(&mut self, task: TaskId) {
        let (view, cpus) = (self.kernel.view(), self.kernel.nr_cpu_ids());
        let mut mask = CpuMask::empty(cpus);
        (0..cpus).map(CpuId).filter(|cpu| view.allowed(task, *cpu)).for_each(|cpu| mask.set(cpu, true));
        let count = mask.count();
        // Most tasks have the mask of the one before.
        let known = Arc::clone(&self.kernel.state.last_mask);
        let mask = if *known == mask { known } else { Arc::new(mask) };
        self.kernel.state.last_mask = Arc::clone(&mask);
        let entity = self.kernel.state.task_mut(task);
        (entity.allowed, entity.nr_allowed) = (mask, count);
    }

    /// A task has ended.
    pub(crate) fn end(&mut self, task: TaskId) {
        let given = self.kernel.state.given;
        self.tell("ops.disable()", given.disable, |ops, kernel| ops.disable(kernel, task));
        self.tell("ops.exit_task()", given.exit_task, |ops, kernel| ops.exit_task(kernel, task, false));
        let entity = self.kernel.state.task_mut(task);
        (entity.known, entity.place) = (false, Place::Away);
    }

    /// A task becomes runnable; it is in no queue.
    pub(crate) fn make_runnable(&mut self, task: TaskId, flags: u64) {
        let (now, given) = (self.kernel.time(), self.kernel.state.given);
        let entity = self.kernel.state.task_mut(task);
        entity.flags |= TASK_QUEUED;
        (entity.runnable_at, entity.place) = (now, Place::Entering);
        self.watch();
        self.tell("ops.runnable()", given.runnable, |ops, kernel| ops.runnable(kernel, task, flags));
    }

    /// A task is no longer runnable.
    pub(crate) fn make_quiescent(&mut self, task: TaskId, flags: u64) {
        let given = self.kernel.state.given;
        self.tell("ops.quiescent()", given.quiescent, |ops, kernel| ops.quiescent(kernel, task, flags));
        let entity = self.kernel.state.task_mut(task);
        entity.flags &= !(TASK_QUEUED | TASK_DEQD_FOR_SLEEP);
        if flags & DEQ_SLEEP != 0 {
            entity.flags |= TASK_DEQD_FOR_SLEEP;
        }
        entity.place = Place::Away;
    }

    /// A runnable task needs a queue (`do_enqueue_task`): the one of its direct dispatch, else the one that
    /// `ops.enqueue` names, else the scheduler has it.
    pub(crate) fn enqueue_task(&mut self, task: TaskId, flags: u64) {
        let (given, here) = (self.kernel.state.given, self.kernel.state.task(task).cpu);
        self.kernel.state.task_mut(task).place = Place::Entering;
        let mut verdict = self.kernel.state.task_mut(task).verdict.take();
        if verdict.is_none() && !given.enqueue {
            self.kernel.state.refill(task);
            let node = self.kernel.view().machine().node_of(here).0;
            return self.kernel.put(task, Target::Global(node), flags);
        }
        if verdict.is_none() && self.is_active() {
            let place = ("ops.enqueue()", Context::ENQUEUE);
            self.call(place, Direct::May(task), |ops, kernel| ops.enqueue(kernel, task, flags));
            verdict = self.kernel.state.task_mut(task).verdict.take();
        }
        if let Some((dsq, own)) = verdict {
            let target = self.kernel.target(dsq, task, here);
            self.kernel.put(task, target, own | flags);
        }
        if self.kernel.state.task(task).place == Place::Entering {
            self.kernel.state.give(task);
        }
    }

    /// A cpu looks for a task (`balance_one`). `prev`: its task, or the one that has just left it;
    /// `stays`: it is still runnable.
    pub(crate) fn balance(&mut self, cpu: CpuId, prev: Option<TaskId>, stays: bool) -> Found {
        let left = |side: &Self| prev.is_some_and(|prev| stays && side.kernel.state.task(prev).slice > 0);
        if left(self) {
            return Found::Keep;
        }
        if self.has_local(cpu) {
            return Found::Next;
        }
        if self.kernel.state.given.dispatch {
            let place = ("ops.dispatch()", Context::DISPATCH);
            for turn in 0..DSP_MAX_LOOPS {
                if !self.is_active() {
                    break;
                }
                self.kernel.state.dispatched = 0;
                self.call(place, Direct::No, |ops, kernel| {
                    ops.dispatch(kernel, cpu, prev);
                    kernel.carry_out_batch();
                });
                if left(self) {
                    return Found::Keep;
                }
                if self.has_local(cpu) {
                    return Found::Next;
                }
                if self.kernel.state.dispatched == 0 {
                    break;
                }
                if turn + 1 == DSP_MAX_LOOPS {
                    self.kernel.state.kicks.entry(cpu).or_default();
                }
            }
        }
        if stays && (self.kernel.state.flags & OPS_ENQ_LAST == 0 || !self.is_active()) {
            self.kernel.state.events.dispatch_keep_last += 1;
            return Found::Keep;
        }
        Found::Nothing
    }

    /// A task waits in the local queue of a cpu, or comes there from the global one.
    fn has_local(&mut self, cpu: CpuId) -> bool {
        let node = self.kernel.view().machine().node_of(cpu).0;
        self.kernel.state.local_len(cpu) > 0 || self.kernel.consume(Target::Global(node), cpu)
    }

    /// The task of a cpu has used its slice, yields or is interrupted: it goes on, or goes to where the
    /// scheduler wants it. True when it goes on.
    pub(crate) fn requeue(&mut self, task: TaskId, cpu: CpuId) -> bool {
        match self.balance(cpu, Some(task), true) {
            Found::Keep => {
                if self.kernel.state.task(task).slice == 0 {
                    self.kernel.state.refill(task);
                }
                true
            }
            found => {
                self.put_back(task, cpu, if found == Found::Next { 0 } else { ENQ_LAST });
                if found == Found::Nothing && self.kernel.state.answer.is_none() {
                    // It goes idle although a task is runnable.
                    if let Some(cpu) = self.kernel.state.cpu_mut(cpu) {
                        cpu.looks = false;
                    }
                }
                false
            }
        }
    }

    /// The task of a cpu that has chosen its next one is put back (`put_prev_task_scx`).
    fn put_back(&mut self, task: TaskId, cpu: CpuId, flags: u64) {
        let (now, given) = (self.kernel.time(), self.kernel.state.given);
        self.tell("ops.stopping()", given.stopping, |ops, kernel| ops.stopping(kernel, task, true));
        self.kernel.state.putting = flags == 0;
        let entity = self.kernel.state.task_mut(task);
        (entity.place, entity.runnable_at) = (Place::Entering, now);
        self.watch();
        if self.kernel.state.task(task).slice > 0 {
            let entry = self.kernel.state.enter_local(task, cpu, ENQ_HEAD);
            self.kernel.state.answer = Some(entry);
        } else {
            self.enqueue_task(task, flags);
        }
        self.kernel.state.putting = false;
        if let Some(cpu) = self.kernel.state.cpu_mut(cpu) {
            cpu.current = None;
        }
    }

    /// A timer tick while a task runs. True when the operation has ended its slice.
    pub(crate) fn tick(&mut self, task: TaskId, cpu: CpuId) -> bool {
        let (now, given) = (self.kernel.time(), self.kernel.state.given);
        self.kernel.charge(task);
        let before = self.kernel.state.task(task).slice;
        if let Some(cpu) = self.kernel.state.cpu_mut(cpu) {
            cpu.ticked = Some(now);
        }
        self.tell("ops.tick()", given.tick, |ops, kernel| ops.tick(kernel, task));
        before > 0 && self.kernel.state.task(task).slice == 0
    }

    /// The tick timer of a cpu fires.
    pub(crate) fn ticks(&mut self, cpu: CpuId) {
        if let Some(record) = self.kernel.state.cpu_mut(cpu) {
            record.ticking = false;
        }
        let Some(current) = self.kernel.state.current(cpu) else { return };
        if self.tick(current, cpu) {
            *self.kernel.state.kicks.entry(cpu).or_default() |= KICK_PREEMPT;
        }
        self.arm_tick(cpu);
    }

    fn arm_tick(&mut self, cpu: CpuId) {
        let now = self.kernel.time();
        let armed =
            self.kernel.state.cpu_mut(cpu).is_none_or(|cpu| std::mem::replace(&mut cpu.ticking, true));
        if !armed && let Some(system) = self.kernel.system() {
            system.at(now, Timer::Tick(cpu));
        }
    }

    /// A task begins to run on a cpu (`set_next_task_scx`).
    pub(crate) fn run(&mut self, task: TaskId, cpu: CpuId) {
        self.kernel.state.leave_queue(task);
        let used = self.kernel.system().map_or(Span::ZERO, |system| system.cpu_time(task));
        let entity = self.kernel.state.task_mut(task);
        (entity.place, entity.cpu, entity.charged) = (Place::Running(cpu), cpu, used);
        if let Some(record) = self.kernel.state.cpu_mut(cpu) {
            (record.current, record.previous) = (Some(task), None);
        }
        self.set_idle(cpu, false);
        if self.kernel.state.task(task).slice == 0 {
            self.kernel.state.refill(task);
        }
        let given = self.kernel.state.given;
        self.tell("ops.running()", given.running, |ops, kernel| ops.running(kernel, task));
        if given.tick {
            self.arm_tick(cpu);
        }
    }

    /// A cpu runs the idle task from now on, or still, because it has found no other; or no longer.
    pub(crate) fn set_idle(&mut self, cpu: CpuId, idle: bool) {
        if self.kernel.state.tracks_idle() {
            self.kernel.state.idle.update(cpu, idle);
        }
        let given = self.kernel.state.given;
        let before = self.kernel.state.cpu_mut(cpu).map(|cpu| std::mem::replace(&mut cpu.idle, idle));
        if before == Some(!idle) {
            let name = "ops.update_idle()";
            self.tell(name, given.update_idle, |ops, kernel| ops.update_idle(kernel, cpu, idle));
        }
    }

    /// The task of a cpu stops running there for another reason than [`Side::requeue`].
    pub(crate) fn stop(&mut self, task: TaskId, cpu: CpuId, runnable: bool) {
        self.kernel.charge(task);
        let given = self.kernel.state.given;
        self.tell("ops.stopping()", given.stopping, |ops, kernel| ops.stopping(kernel, task, runnable));
        if let Some(record) = self.kernel.state.cpu_mut(cpu) {
            (record.current, record.previous, record.looks) = (None, Some(task), true);
        }
    }

    /// The weight of a task or its cpus are other ones: a runnable one is taken out, told and put in again.
    pub(crate) fn change(&mut self, task: TaskId, what: TaskChange) {
        let given = self.kernel.state.given;
        match self.kernel.state.task(task).place {
            place @ (Place::Scheduler | Place::User(_) | Place::Global(_) | Place::Passing(_)) => {
                if place == Place::Scheduler {
                    let name = "ops.dequeue()";
                    self.tell(name, given.dequeue, |ops, kernel| ops.dequeue(kernel, task, DEQ_SAVE));
                }
                self.kernel.state.leave_queue(task);
                self.make_quiescent(task, DEQ_SAVE);
                self.tell_change(task, what);
                let cpu = self.kernel.view().task(task).cpu;
                self.kernel.state.task_mut(task).cpu = cpu;
                self.make_runnable(task, ENQ_RESTORE);
                self.enqueue_task(task, ENQ_RESTORE);
            }
            Place::Running(cpu) => {
                self.stop(task, cpu, false);
                self.make_quiescent(task, DEQ_SAVE);
                self.tell_change(task, what);
                self.make_runnable(task, ENQ_RESTORE);
                self.run(task, cpu);
            }
            Place::Away | Place::Leaving | Place::Entering | Place::Local(_) => self.tell_change(task, what),
        }
    }

    fn tell_change(&mut self, task: TaskId, what: TaskChange) {
        let given = self.kernel.state.given;
        match what {
            TaskChange::Weight => {
                let weight = cgroup_weight(self.kernel.view().task(task).weight);
                self.kernel.state.task_mut(task).weight = weight;
                let name = "ops.set_weight()";
                self.tell(name, given.set_weight, |ops, kernel| ops.set_weight(kernel, task, weight));
            }
            TaskChange::Affinity => {
                self.read_mask(task);
                let name = "ops.set_cpumask()";
                self.tell(name, given.set_cpumask, |ops, kernel| ops.set_cpumask(kernel, task));
            }
            TaskChange::Group => self.regroup(task),
        }
    }

    /// Arms the watchdog, unless it is. It looks twice in the time that it allows.
    fn watch(&mut self) {
        if self.kernel.state.watching {
            return;
        }
        let (now, period) = (self.kernel.time(), (self.kernel.state.timeout.ns() / 2).max(1));
        if let Some(system) = self.kernel.system() {
            let ahead = period - now.ns() % period;
            system.at(now.saturating_add(Span::from_ns(ahead)), Timer::Token(WATCHDOG));
            self.kernel.state.watching = true;
        }
    }

    /// The watchdog looks for a task that waits for too long (`check_rq_for_timeouts`).
    pub(crate) fn watchdog(&mut self) {
        self.kernel.state.watching = false;
        let (now, timeout) = (self.kernel.time(), self.kernel.state.timeout);
        let waits = |place: Place| !matches!(place, Place::Away | Place::Leaving | Place::Running(_));
        let waiting = || self.kernel.state.known().filter(|(_, entity)| waits(entity.place));
        let waited = |entity: &Entity| now.since(entity.runnable_at);
        let (any, stalled) = (
            waiting().next().is_some(),
            waiting()
                .find(|(_, entity)| waited(entity) > timeout)
                .map(|(task, entity)| (task, waited(entity).ns() / 1_000_000)),
        );
        if !any {
            return;
        }
        if let Some((task, since)) = stalled {
            let name = self.kernel.name(task);
            let text = format!("{name} failed to run for {}.{:03}s", since / 1_000, since % 1_000);
            self.kernel.state.end(EXIT_ERROR_STALL, 0, &text);
        }
        self.watch();
    }

    /// The run is over, and the scheduler is taken out: it gives up its tasks, and `ops.exit` is called.
    pub(crate) fn shut_down(&mut self) {
        self.kernel.state.exited = true;
        let given = self.kernel.state.given;
        let tasks: Vec<TaskId> = self.kernel.state.known().map(|(task, _)| task).collect();
        for task in tasks {
            if given.disable {
                let place = ("ops.disable()", Context::REST);
                self.call(place, Direct::No, |ops, kernel| ops.disable(kernel, task));
            }
            if given.exit_task {
                let place = ("ops.exit_task()", Context::REST);
                self.call(place, Direct::No, |ops, kernel| ops.exit_task(kernel, task, false));
            }
        }
        if given.cgroup_exit {
            let cgroups: Vec<u64> = self.kernel.cgroups().iter().rev().map(|cgroup| cgroup.id).collect();
            for id in cgroups {
                let place = ("ops.cgroup_exit()", Context::UNLOCKED);
                self.call(place, Direct::No, |ops, kernel| ops.cgroup_exit(kernel, id));
            }
        }
        let unloaded =
            ExitInfo { kind: EXIT_UNREG, code: 0, reason: reason(EXIT_UNREG), message: String::new() };
        let info = self.kernel.state.ended.clone().unwrap_or(unloaded);
        self.call(("ops.exit()", Context::UNLOCKED), Direct::No, |ops, kernel| ops.exit(kernel, &info));
    }
}
