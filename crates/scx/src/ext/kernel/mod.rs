//! What a scheduler can ask of the kernel: the functions `scx_bpf_*`, and what its programs read of tasks.
//!
//! Each refuses what Linux refuses: such a call ends the run with the scheduler's name and the rule.

mod cpus;
mod queues;
mod select;
mod tasks;

pub use queues::DsqIter;
pub(crate) use queues::Target;
pub use tasks::TaskInfo;

use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{Kick, System, Timer, View, Why};
use sim_core::rng;
use sim_core::time::{Span, Time};

use crate::ext::abi::{EXIT_ERROR, EXIT_ERROR_BPF, EXIT_UNREG_BPF, KICK_PREEMPT, SLICE_DFL};
use crate::ext::entity::{Place, span};
use crate::ext::state::{Context, Direct, State};

/// Timers of schedulers have numbers from here on, up to the same number of them.
pub(crate) const TIMERS: u64 = 1 << 40;
/// The timer of the watchdog.
pub(crate) const WATCHDOG: u64 = TIMERS * 2;
/// The timer at which tasks reach the local queues of other cpus.
pub(crate) const PASSING: u64 = TIMERS * 2 + 1;
/// The timers at which cpus take the interrupts that they have sent themselves: the number of the cpu is
/// added.
pub(crate) const OWN_KICKS: u64 = TIMERS * 3;
/// A cpu that kicks itself while it switches tasks takes the interrupt after the switch: after the time of an
/// interrupt, and at least after this one, so that time passes for a cpu that does so whenever it is idle.
const LEAST_KICK: Span = Span::from_us(1);

/// What the kernel can see and do at this point.
pub(crate) enum Access<'a> {
    /// A cpu is chosen: nothing changes.
    Sees(&'a dyn View),
    /// Anything else.
    Acts(&'a mut dyn System),
}

/// The kernel as an operation of a scheduler can use it.
pub struct Kernel<'a> {
    pub(crate) access: Access<'a>,
    pub(crate) state: &'a mut State,
}

impl Kernel<'_> {
    /// The machine and the tasks, as any policy sees them.
    #[must_use]
    pub fn view(&self) -> &dyn View {
        match &self.access {
            Access::Sees(view) => *view,
            Access::Acts(system) => &**system,
        }
    }

    pub(crate) fn system(&mut self) -> Option<&mut dyn System> {
        match &mut self.access {
            Access::Sees(_) => None,
            Access::Acts(system) => Some(&mut **system),
        }
    }

    /// `scx_bpf_now` and `bpf_ktime_get_ns`: ns since the run began.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.view().now().ns()
    }

    /// `bpf_get_smp_processor_id`: the cpu on which the operation is called.
    #[must_use]
    pub fn this_cpu(&self) -> CpuId {
        self.state.this_cpu
    }

    /// `bpf_get_current_task_btf`: the task that runs on this cpu; none: the idle task.
    #[must_use]
    pub fn current_task(&self) -> Option<TaskId> {
        self.state.current(self.state.this_cpu)
    }

    /// `bpf_get_prandom_u32`, from a stream of the run's seed.
    pub fn prandom_u32(&mut self) -> u32 {
        rng::next(&mut self.state.random)
    }

    /// `scx_bpf_error`: the run ends with this message.
    pub fn error(&mut self, message: &str) {
        self.state.end(EXIT_ERROR_BPF, 0, message);
    }

    /// `scx_bpf_exit`: the scheduler ends itself, and the run with it.
    pub fn exit(&mut self, code: i64, message: &str) {
        self.state.end(EXIT_UNREG_BPF, code, message);
    }

    /// The run ends for a reason of the one who runs the scheduler: it traps, or it takes too long.
    pub fn abort(&mut self, message: &str) {
        self.refuse(message);
    }

    /// True when the run is about to end: nothing that the scheduler does matters any more. False in the
    /// operations with which it is taken out, `ops.exit` the last of them.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.state.ended.is_some() && !self.state.exited
    }

    /// The scheduler breaks a rule.
    pub(crate) fn refuse(&mut self, message: &str) {
        self.state.end(EXIT_ERROR, 0, message);
    }

    /// False, and the run ends, if the operation that goes on may not call this function.
    pub(crate) fn permits(&mut self, mask: u8, function: &str) -> bool {
        let context = self.state.context;
        let permitted = context.mask & mask != 0;
        if !permitted {
            self.refuse(&format!("{function}() cannot be called from {}", context.name));
        }
        permitted
    }

    /// A cpu that exists, as `ops_cpu_valid` has it; else the run ends.
    pub(crate) fn valid_cpu(&mut self, cpu: i32, place: &str) -> Option<CpuId> {
        let found = self.known_cpu(cpu);
        if found.is_none() {
            let place = if place.is_empty() { String::new() } else { format!(" {place}") };
            self.refuse(&format!("invalid CPU {cpu}{place}"));
        }
        found
    }

    pub(crate) fn known_cpu(&self, cpu: i32) -> Option<CpuId> {
        u32::try_from(cpu).ok().filter(|cpu| (*cpu as usize) < self.state.cpus.len()).map(CpuId)
    }

    /// A task as messages name it.
    pub(crate) fn name(&self, task: TaskId) -> String {
        let seen = self.view().task(task);
        let app = self.view().app(seen.app).name;
        format!("{} rank {} (pid {})", notation::neutral::line(&app), seen.rank, u64::from(task.0) + 1)
    }

    /// `bpf_timer_start`: [`crate::ext::Scheduler::timer`] is called with `token`, at most 2^40, in `delay`
    /// ns; what was started before with the same token is forgotten.
    pub fn timer_start(&mut self, token: u64, delay: u64) {
        if token >= TIMERS {
            return self.refuse(&format!("{token} is no timer"));
        }
        let at = self.view().now().saturating_add(Span::from_ns(delay));
        self.state.timers.insert(token, (at, self.state.this_cpu));
        self.state.arming.push((at, TIMERS + token));
    }

    /// `bpf_timer_cancel`: true when the timer was to fire.
    pub fn timer_cancel(&mut self, token: u64) -> bool {
        self.state.timers.remove(&token).is_some()
    }

    /// Takes the time that a running task has used off its slice (`update_curr_scx`).
    pub(crate) fn charge(&mut self, task: TaskId) {
        if !matches!(self.state.task(task).place, Place::Running(_)) {
            return;
        }
        let Some(used) = self.system().map(|system| system.cpu_time(task)) else { return };
        let entity = self.state.task_mut(task);
        let since = used.saturating_sub(entity.charged).ns();
        entity.charged = used;
        if entity.slice != crate::ext::abi::SLICE_INF {
            entity.slice = entity.slice.saturating_sub(since);
        }
    }

    /// Carries out what operations have asked for and could not do by themselves: timers, slices, kicks, the
    /// end of the run.
    pub(crate) fn flush(&mut self) {
        let Access::Acts(system) = &mut self.access else { return };
        for (at, token) in self.state.arming.drain(..) {
            system.at(at, Timer::Token(token));
        }
        for task in std::mem::take(&mut self.state.slices) {
            let entity = self.state.task(task);
            if matches!(entity.place, Place::Local(_) | Place::Running(_)) {
                let slice = match (entity.slice, entity.place) {
                    (0, Place::Local(_)) => SLICE_DFL,
                    (slice, _) => slice,
                };
                system.set_slice(task, span(slice), Why::rule("slice set by the scheduler"));
            }
        }
        for (cpu, flags) in std::mem::take(&mut self.state.kicks) {
            self.kick_now(cpu, flags);
        }
        self.tell_end();
    }

    /// The engine is told why the run ends.
    pub(crate) fn tell_end(&mut self) {
        if self.state.told {
            return;
        }
        let Some(ended) = &self.state.ended else { return };
        let message =
            format!("scheduler `{}` is disabled ({}): {}", self.state.name, ended.reason, ended.message);
        if let Some(system) = self.system() {
            system.fail(message);
            self.state.told = true;
        }
    }

    /// An interrupt makes a cpu look for a task (`kick_one_cpu`).
    pub(crate) fn kick_now(&mut self, cpu: CpuId, flags: u64) {
        if self.state.switching == Some(cpu) {
            let Access::Acts(system) = &mut self.access else { return };
            let at = system.now() + system.machine().costs.ipi.max(LEAST_KICK);
            if let Some(record) = self.state.cpu_mut(cpu) {
                record.own_kicks |= flags | OWN;
                system.at(at, Timer::Token(OWN_KICKS + u64::from(cpu.0)));
            }
            return;
        }
        if let Some(record) = self.state.cpu_mut(cpu) {
            record.looks = true;
        }
        let mut how = Kick::Idle;
        if let Some(current) = self.state.current(cpu)
            && flags & crate::ext::abi::KICK_IDLE == 0
        {
            self.charge(current);
            if flags & KICK_PREEMPT != 0 {
                self.state.task_mut(current).slice = 0;
            }
            // With some of its slice left it would go on.
            if self.state.task(current).slice == 0 {
                how = Kick::Preempt;
            }
        }
        if let Some(system) = self.system() {
            system.kick(cpu, how);
        }
    }

    /// A kick that a cpu has sent itself arrives.
    pub(crate) fn own_kick(&mut self, cpu: CpuId) {
        let flags = self.state.cpu_mut(cpu).map_or(0, |cpu| std::mem::take(&mut cpu.own_kicks));
        if flags != 0 {
            self.kick_now(cpu, flags & !OWN);
        }
    }

    /// Enters an operation.
    pub(crate) fn enters(&mut self, context: Context, direct: Direct) {
        (self.state.context, self.state.direct) = (context, direct);
    }

    /// An operation is over.
    pub(crate) fn leaves(&mut self) {
        (self.state.context, self.state.direct) = (Context::NONE, Direct::No);
    }

    pub(crate) fn time(&self) -> Time {
        self.view().now()
    }
}

/// A kick that a cpu has sent itself, whatever its flags are.
const OWN: u64 = 1 << 63;
