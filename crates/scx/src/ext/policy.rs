//! A scheduler of `sched_ext` as a policy: each hook of the engine as the transition that it is in the
//! kernel.

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::Machine;
use sim_core::policy::{
    CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, TaskChange, TaskState, Timer, View, Why,
};
use sim_core::rng::{self, Purpose};

use crate::ext::abi::{
    DEQ_SLEEP, DSQ_LOCAL, ENQ_CPU_SELECTED, ENQ_WAKEUP, OPS_ALL, OPS_BUILTIN_IDLE_PER_NODE, OPS_ENQ_LAST,
    OPS_KEEP_BUILTIN_IDLE, OPS_SWITCH_PARTIAL, WAKE_FORK, WAKE_TTWU, WATCHDOG_MAX_TIMEOUT_MS,
};
use crate::ext::entity::Place;
use crate::ext::groups;
use crate::ext::kernel::{Access, Kernel, OWN_KICKS, PASSING, TIMERS, WATCHDOG};
use crate::ext::scheduler::Scheduler;
use crate::ext::side::Side;
use crate::ext::state::{Context, Direct, State};

/// A scheduler of `sched_ext` as a policy.
#[derive(Debug)]
pub struct Ext<S> {
    scheduler: S,
    state: State,
}

/// `validate_ops` and `bpf_scx_init_member`: what the kernel refuses to load.
fn validate<S: Scheduler>(scheduler: &S) -> Result<(), String> {
    let (name, flags, given) = (scheduler.name(), scheduler.flags(), scheduler.given());
    let named = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if name.is_empty() || !name.chars().all(named) {
        return Err("the name of a scheduler (`ops.name`) is of letters, digits, `_` and `.`".into());
    }
    if flags & !OPS_ALL != 0 {
        return Err(format!("`ops.flags` of `{name}` has bits that no flag is: {:#x}", flags & !OPS_ALL));
    }
    if flags & OPS_ENQ_LAST != 0 && !given.enqueue {
        return Err(format!("`{name}`: SCX_OPS_ENQ_LAST requires ops.enqueue() to be implemented"));
    }
    if flags & OPS_BUILTIN_IDLE_PER_NODE != 0 && given.update_idle && flags & OPS_KEEP_BUILTIN_IDLE == 0 {
        let text = "SCX_OPS_BUILTIN_IDLE_PER_NODE requires CPU idle selection enabled";
        return Err(format!("`{name}`: {text}"));
    }
    if scheduler.timeout_ms() > WATCHDOG_MAX_TIMEOUT_MS {
        let most = WATCHDOG_MAX_TIMEOUT_MS;
        return Err(format!(
            "`ops.timeout_ms` of `{name}` is {}, and at most {most} is allowed",
            scheduler.timeout_ms()
        ));
    }
    Ok(())
}

impl<S: Scheduler> Ext<S> {
    /// A policy for a machine.
    ///
    /// # Errors
    /// What Linux refuses to load: a name, flags or a time-out that are not allowed.
    pub fn new(scheduler: S, machine: &Machine) -> Result<Self, String> {
        validate(&scheduler)?;
        let options = (scheduler.flags(), scheduler.timeout_ms(), scheduler.dispatch_max_batch());
        let state = State::new(scheduler.name(), scheduler.given(), options, machine);
        Ok(Self { scheduler, state })
    }

    /// The scheduler.
    pub const fn scheduler(&self) -> &S {
        &self.scheduler
    }

    fn side<'a>(&'a mut self, system: &'a mut dyn System, cpu: CpuId) -> Side<'a, S> {
        self.state.this_cpu = cpu;
        let kernel = Kernel { access: Access::Acts(system), state: &mut self.state };
        Side { ops: &mut self.scheduler, kernel }
    }
}

impl<S: Scheduler> Side<'_, S> {
    /// The end of a call of the engine: what is left to do is done, and no cpu is choosing a task any more.
    fn close(&mut self) {
        self.kernel.flush();
        self.kernel.state.switching = None;
    }

    /// A task gets a cpu, and maybe its queue.
    fn place(&mut self, task: TaskId, prev: CpuId, flags: u64) -> CpuChoice {
        let entity = self.kernel.state.task_mut(task);
        (entity.verdict, entity.selected) = (None, None);
        if entity.nr_allowed == 1 {
            let only = entity.allowed.first().unwrap_or(prev);
            return CpuChoice::new(only, Why::rule("placed: its only cpu"));
        }
        if !self.is_active() {
            return self.fallback(task, prev, Why::rule("placed: the scheduler is disabled"));
        }
        if !self.kernel.state.given.select_cpu {
            let tracked = self.kernel.state.tracks_idle();
            let idle = tracked.then(|| self.kernel.default_cpu(task, prev, flags, None, 0)).flatten();
            if idle.is_some() {
                self.kernel.state.refill(task);
                self.kernel.state.task_mut(task).verdict = Some((DSQ_LOCAL, 0));
            }
            let why = if idle.is_some() { "placed: an idle cpu" } else { "placed: no cpu is idle" };
            let cpu = idle.unwrap_or(prev);
            self.kernel.state.task_mut(task).selected = Some(cpu);
            return self.fallback(task, cpu, Why::rule(why));
        }
        let place = ("ops.select_cpu()", Context::SELECT_CPU | Context::ENQUEUE);
        let number = prev.0 as i32;
        let chosen =
            self.call(place, Direct::May(task), |ops, kernel| ops.select_cpu(kernel, task, number, flags));
        let cpu = self.kernel.valid_cpu(chosen, "from ops.select_cpu()").unwrap_or(prev);
        let entity = self.kernel.state.task_mut(task);
        entity.selected = Some(cpu);
        let direct = "placed and dispatched: ops.select_cpu";
        let why = if entity.verdict.is_some() { direct } else { "placed: ops.select_cpu" };
        self.fallback(task, cpu, Why::rule(why))
    }

    /// The cpu if the task may use it; else one that it may, of the same node if there is one
    /// (`select_fallback_rq`).
    fn fallback(&mut self, task: TaskId, cpu: CpuId, why: Why) -> CpuChoice {
        let allowed = &self.kernel.state.task(task).allowed;
        if allowed.contains(cpu) {
            return CpuChoice::new(cpu, why);
        }
        let machine = self.kernel.view().machine();
        let near = allowed.iter().find(|other| machine.node_of(*other) == machine.node_of(cpu));
        let other = near.or_else(|| allowed.first()).unwrap_or(cpu);
        CpuChoice::new(other, Why::rule("placed: the chosen cpu is not allowed"))
    }

    /// A task that was created or wakes enters the queue of a cpu.
    fn enter(&mut self, task: TaskId, cpu: CpuId, woken: bool) {
        if !self.kernel.state.task(task).known {
            self.begin(task, cpu, true);
        }
        if let Some(record) = self.kernel.state.cpu_mut(cpu) {
            record.looks = true;
        }
        let entity = self.kernel.state.task_mut(task);
        entity.cpu = cpu;
        let selected = entity.selected.take();
        if selected.is_some_and(|selected| selected != cpu) {
            self.kernel.state.events.select_cpu_fallback += 1;
        }
        let flags = if woken { ENQ_WAKEUP } else { 0 };
        let flags = flags | if selected.is_some() { ENQ_CPU_SELECTED } else { 0 };
        self.make_runnable(task, flags);
        self.enqueue_task(task, flags);
    }

    /// A task that has the cpu yields (`yield_task_scx`).
    fn yields(&mut self, task: TaskId) {
        if self.kernel.state.given.yields {
            if self.is_active() {
                let place = ("ops.yield()", Context::REST);
                self.call(place, Direct::No, |ops, kernel| ops.yields(kernel, task, None));
            }
        } else {
            self.kernel.state.task_mut(task).slice = 0;
        }
    }

    /// The engine asks where the task of a cpu goes.
    fn reconsider(&mut self, task: TaskId, cpu: CpuId, why: Enqueue) -> Option<QueueEntry> {
        self.kernel.state.switching = Some(cpu);
        self.kernel.charge(task);
        let now = self.kernel.time();
        let ticked = self.kernel.state.cpu_mut(cpu).and_then(|cpu| cpu.ticked) == Some(now);
        match why {
            Enqueue::Yielded => self.yields(task),
            Enqueue::Expired if self.kernel.state.given.tick && !ticked => {
                self.tick(task, cpu);
            }
            _ => {}
        }
        if self.requeue(task, cpu) {
            return Some(self.kernel.state.keep(task));
        }
        self.kernel.state.answer.take()
    }
}

impl<S: Scheduler> Policy for Ext<S> {
    fn order(&self) -> Order {
        Order::Policy
    }

    fn init(&mut self, system: &mut dyn System) {
        self.state.random = rng::key(system.seed(), Purpose::Policy, 0);
        self.state.cgroups = groups::all(system);
        if self.state.flags & OPS_SWITCH_PARTIAL != 0 {
            system.remark(Why::rule("SCX_OPS_SWITCH_PARTIAL is ignored: all tasks are of sched_ext"));
        }
        let mut side = self.side(system, CpuId(0));
        let result = side.call(("ops.init()", Context::UNLOCKED), Direct::No, S::init);
        if result < 0 {
            side.kernel.refuse(&format!("ops.init() failed ({result})"));
        }
        if side.kernel.state.given.cgroup_init && side.is_active() {
            for cgroup in side.kernel.state.cgroups.clone() {
                let place = ("ops.cgroup_init()", Context::UNLOCKED);
                let result = side.call(place, Direct::No, |ops, kernel| ops.cgroup_init(kernel, &cgroup));
                if result < 0 {
                    side.kernel.refuse(&format!("ops.cgroup_init() failed ({result})"));
                }
            }
        }
        side.close();
    }

    fn ended(&mut self, system: &mut dyn System) {
        self.side(system, CpuId(0)).shut_down();
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let (by, prev, flags) = match placement {
            Placement::Fork { parent } => (parent, parent, WAKE_FORK),
            Placement::Wake { waker, previous } => (waker, previous, WAKE_TTWU),
        };
        self.state.this_cpu = by;
        self.state.waker = Some((task, by));
        let kernel = Kernel { access: Access::Sees(view), state: &mut self.state };
        let mut side = Side { ops: &mut self.scheduler, kernel };
        if !side.kernel.state.task(task).known {
            side.begin(task, prev, matches!(placement, Placement::Fork { .. }));
        }
        side.place(task, prev, flags)
    }

    fn enqueue(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        let woken = matches!(why, Enqueue::Created | Enqueue::Woken);
        let by = self.state.waker.take_if(|(woken, _)| *woken == task).map(|(_, by)| by);
        let mut side = self.side(system, if woken { by.unwrap_or(cpu) } else { cpu });
        if !side.is_active() {
            side.close();
            return Some(side.kernel.state.enter_local(task, cpu, 0));
        }
        (side.kernel.state.entering, side.kernel.state.answer) = (Some(task), None);
        let entry = if woken || side.kernel.state.current(cpu) != Some(task) {
            side.enter(task, cpu, why == Enqueue::Woken);
            side.kernel.state.answer.take()
        } else {
            side.reconsider(task, cpu, why)
        };
        side.kernel.state.entering = None;
        if let Place::Passing(_) = side.kernel.state.task(task).place {
            let now = side.kernel.time();
            if let Some(system) = side.kernel.system() {
                system.at(now, Timer::Token(PASSING));
            }
        }
        side.close();
        entry
    }

    fn dispatch(&mut self, system: &mut dyn System, cpu: CpuId) {
        let mut side = self.side(system, cpu);
        if !side.is_active() {
            return;
        }
        side.kernel.state.switching = Some(cpu);
        let looks = side.kernel.state.cpu_mut(cpu).is_some_and(|cpu| std::mem::take(&mut cpu.looks));
        if looks {
            let prev = side.kernel.state.cpu_mut(cpu).and_then(|cpu| cpu.previous.take());
            // Nobody knows one that has ended.
            let prev = prev.filter(|prev| side.kernel.knows(*prev));
            side.balance(cpu, prev, false);
        }
        if side.kernel.state.local_len(cpu) == 0 {
            side.set_idle(cpu, true);
        }
        side.close();
    }

    fn running(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let mut side = self.side(system, cpu);
        // It goes on after `enqueue`, and nobody is told.
        if side.kernel.state.current(cpu) != Some(task) {
            side.kernel.state.switching = Some(cpu);
            side.run(task, cpu);
            side.close();
        }
    }

    fn stopping(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        if self.state.current(cpu) != Some(task) {
            return;
        }
        let state = system.task(task).state;
        if state == TaskState::Running && system.current(cpu) == Some(task) {
            // `enqueue` follows.
            return;
        }
        let to = system.task(task).cpu;
        let mut side = self.side(system, cpu);
        side.kernel.state.switching = Some(cpu);
        let moved = matches!(state, TaskState::Queued | TaskState::Running);
        side.stop(task, cpu, moved);
        if moved {
            // The engine has put it into the queue of another cpu.
            side.kernel.state.moved(task, to);
        } else {
            side.kernel.state.task_mut(task).place = Place::Leaving;
        }
        side.close();
    }

    fn quiescent(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let state = system.task(task).state;
        let entity = self.state.task(task);
        // One that is moved stays runnable.
        if !entity.known || entity.place != Place::Leaving || entity.cpu != cpu {
            return;
        }
        let mut side = self.side(system, cpu);
        side.kernel.state.switching = Some(cpu);
        side.make_quiescent(task, DEQ_SLEEP);
        if matches!(state, TaskState::Exited | TaskState::New) {
            side.end(task);
        }
        side.close();
    }

    fn runnable(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId) {
        let mut side = self.side(system, cpu);
        match side.kernel.state.task(task).place {
            Place::Passing(_) => side.kernel.pass(),
            Place::Local(before) if before != cpu => {
                side.kernel.state.moved(task, cpu);
            }
            Place::Scheduler | Place::User(_) | Place::Global(_)
                if side.kernel.state.task(task).cpu != cpu =>
            {
                // It was moved, and the other cpu looks for a task.
                side.kernel.state.task_mut(task).cpu = cpu;
                if let Some(record) = side.kernel.state.cpu_mut(cpu) {
                    record.looks = true;
                }
            }
            _ => {}
        }
        side.close();
    }

    fn changed(&mut self, system: &mut dyn System, task: TaskId, what: TaskChange) {
        if self.state.task(task).known {
            let cpu = self.state.task(task).cpu;
            let mut side = self.side(system, cpu);
            side.change(task, what);
            side.close();
        }
    }

    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        let now = system.now();
        let Timer::Token(token) = timer else {
            if let Timer::Tick(cpu) = timer {
                let mut side = self.side(system, cpu);
                side.ticks(cpu);
                side.close();
            }
            return;
        };
        let started = token.checked_sub(TIMERS).filter(|token| *token < TIMERS);
        let due =
            started.and_then(|token| self.state.timers.get(&token)).filter(|(at, _)| *at == now).copied();
        let mut side = self.side(system, due.map_or(CpuId(0), |(_, cpu)| cpu));
        if !side.is_active() {
            return;
        }
        match (token, started.zip(due)) {
            (WATCHDOG, _) => side.watchdog(),
            (PASSING, _) => side.kernel.pass(),
            (_, Some((token, _))) => {
                side.kernel.state.timers.remove(&token);
                let place = ("the callback of a timer", Context::UNLOCKED);
                side.call(place, Direct::No, |ops, kernel| ops.timer(kernel, token));
            }
            (token, None) if token >= OWN_KICKS => side.kernel.own_kick(CpuId((token - OWN_KICKS) as u32)),
            _ => {}
        }
        side.close();
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let events = &self.state.events;
        let kernel = [
            ("scx_ev_select_cpu_fallback", events.select_cpu_fallback),
            ("scx_ev_dispatch_keep_last", events.dispatch_keep_last),
            ("scx_ev_refill_slice_dfl", events.refill_slice_dfl),
            ("void_insertions", events.void_insertions),
        ];
        let own = self.scheduler.counters();
        kernel.into_iter().map(|(name, count)| (name.to_owned(), count)).chain(own).collect()
    }
}
