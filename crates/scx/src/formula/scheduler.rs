//! An order by formula as a scheduler: one that an idle cpu takes at once, and queues by key for all others.
//!
//! The program in C that [`super::export`] writes does the same, operation by operation: a change here is a
//! change there, and a test holds the two against each other.

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::{Level, PerCpu};

use crate::ext::abi::{
    DEQ_SLEEP, DSQ_GLOBAL, DSQ_LOCAL, KICK_IDLE, KICK_PREEMPT, SLICE_DFL, TASK_QUEUED, WEIGHT_DFL,
    time_before,
};
use crate::ext::{Given, Kernel, Scheduler};

use super::expression::Expression;
use super::order::{Formula, LEAST_SLICE, MOST_KEY, MOST_SLICE, Queue};
use super::program::Program;
use super::variable::Variable;

/// What is kept of a task; times in ns.
#[derive(Clone, Copy, Default, Debug)]
struct Task {
    /// It has been created, and has not ended.
    known: bool,
    vtime: u64,
    /// Its cpu time when `vtime` was brought up to date.
    charged: u64,
    /// Its last slice, its key, and what it has used of the slice.
    granted: u64,
    key: i64,
    spent: u64,
    /// Its cpu time when it began to run, and how much it used until it stopped.
    ran_from: u64,
    ran: u64,
    /// It sleeps, since when, and how long it slept the last time.
    asleep: bool,
    slept_from: u64,
    slept: u64,
    average_sleep: u64,
    /// When it woke, how often, and whether it has not run since.
    woke: u64,
    wakeups: u64,
    woken: bool,
    /// Its cpu time when it woke, and how much it used until it slept.
    burst_from: u64,
    last_burst: u64,
    average_burst: u64,
    /// Since when it waits, and how long it waited the last time.
    since: u64,
    waited: u64,
    average_wait: u64,
    created: u64,
}

/// What is kept of a cpu.
#[derive(Clone, Copy, Default, Debug)]
struct Cpu {
    /// It runs a task, of this key and since then.
    busy: bool,
    key: i64,
    began: u64,
    /// It has been interrupted for a task of a smaller key.
    kicked: bool,
}

/// The task with the largest key among those that run.
#[derive(Clone, Copy, Default, Debug)]
struct Rival {
    key: i64,
    running_for: u64,
}

/// An order by formula.
#[derive(Clone, Debug)]
pub struct Ordered {
    name: String,
    queue: Queue,
    key: Option<Program>,
    slice: Program,
    preempts: Option<Program>,
    tasks: Vec<Task>,
    cpus: PerCpu<Cpu>,
    /// The queue of each cpu, and how many cpus each queue has.
    queue_of: PerCpu<u64>,
    queues: Vec<u64>,
    vtime_now: u64,
    /// Tasks that went to an idle cpu and to a queue, and cpus that were interrupted.
    local: u64,
    queued: u64,
    preempted: u64,
}

/// The name as `ops.name` has it: letters, digits, `_` and `.`, at most 127 of them.
pub(crate) fn ops_name(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') { c } else { '_' };
    name.chars().take(127).map(fits).collect()
}

/// An average in which the new value has a quarter; the first value is the average.
const fn average(old: u64, new: u64) -> u64 {
    if old == 0 { new } else { old - old / 4 + new / 4 }
}

impl Ordered {
    /// The scheduler of an order, with the values of its parameters in their order; a value that is not given
    /// is the default.
    ///
    /// # Errors
    /// A sentence: the parts of the order do not fit together ([`Formula::check`]).
    pub fn new(formula: &Formula, values: &[i64]) -> Result<Self, String> {
        formula.check()?;
        let parameter = |name: &str| {
            let at = formula.parameters.iter().position(|parameter| parameter.name == name);
            at.map_or(0, |at| values.get(at).copied().unwrap_or(formula.parameters[at].default))
        };
        let program = |part: &Expression| Program::new(part, &parameter);
        Ok(Self {
            name: ops_name(&formula.name),
            queue: formula.queue,
            key: formula.key.as_ref().map(program),
            slice: program(&formula.slice),
            preempts: formula.preempts.as_ref().map(program),
            tasks: Vec::new(),
            cpus: PerCpu::filled(0, Cpu::default()),
            queue_of: PerCpu::filled(0, 0),
            queues: Vec::new(),
            vtime_now: 0,
            local: 0,
            queued: 0,
            preempted: 0,
        })
    }

    fn state(&self, task: TaskId) -> Option<Task> {
        self.tasks.get(task.0 as usize).filter(|state| state.known).copied()
    }

    fn keep(&mut self, task: TaskId, state: Task) {
        if let Some(place) = self.tasks.get_mut(task.0 as usize) {
            *place = state;
        }
    }

    /// The cpu on which a task is or was last.
    fn cpu_of(kernel: &Kernel<'_>, task: TaskId) -> CpuId {
        CpuId(u32::try_from(kernel.task_cpu(task)).unwrap_or(0))
    }

    /// What a formula reads.
    fn read(
        &self,
        kernel: &mut Kernel<'_>,
        (task, t): (TaskId, &Task),
        queue: u64,
        rival: Rival,
        what: Variable,
    ) -> i64 {
        let value = match what {
            Variable::Vtime => t.vtime,
            Variable::VtimeNow => self.vtime_now,
            Variable::Weight => u64::from(kernel.weight(task)),
            Variable::Used => kernel.sum_exec_runtime(task),
            Variable::Granted => t.granted,
            Variable::Ran => t.ran,
            Variable::Burst => kernel.sum_exec_runtime(task).wrapping_sub(t.burst_from),
            Variable::LastBurst => t.last_burst,
            Variable::AverageBurst => t.average_burst,
            Variable::Slept => t.slept,
            Variable::AverageSleep => t.average_sleep,
            Variable::Waited => t.waited,
            Variable::AverageWait => t.average_wait,
            Variable::Wakeups => t.wakeups,
            Variable::Woken => u64::from(t.woken),
            Variable::Woke => t.woke,
            Variable::Created => t.created,
            Variable::Now => kernel.now(),
            Variable::Queued => i64::from(kernel.dsq_nr_queued(queue)).cast_unsigned(),
            Variable::QueueCpus => self.queues.get(queue as usize).copied().unwrap_or(0),
            Variable::Cpus => u64::from(kernel.nr_cpu_ids()),
            Variable::Allowed => u64::from(kernel.nr_cpus_allowed(task)),
            Variable::Key => t.key.cast_unsigned(),
            Variable::RunningKey => rival.key.cast_unsigned(),
            Variable::RunningFor => rival.running_for,
        };
        value.cast_signed()
    }

    /// A task wakes, if it slept; and one that slept for long has saved up one slice, not more.
    fn enter(&self, kernel: &mut Kernel<'_>, task: TaskId, t: &mut Task) {
        if t.asleep {
            let now = kernel.now();
            t.slept = now.wrapping_sub(t.slept_from);
            t.average_sleep = average(t.average_sleep, t.slept);
            (t.woke, t.since) = (now, now);
            t.wakeups += 1;
            t.burst_from = kernel.sum_exec_runtime(task);
            (t.asleep, t.woken) = (false, true);
        }
        let least = self.vtime_now.wrapping_sub(SLICE_DFL);
        if time_before(t.vtime, least) {
            t.vtime = least;
        }
    }

    /// The key and the slice of a task in a queue.
    fn grant(&self, kernel: &mut Kernel<'_>, task: TaskId, t: &mut Task, queue: u64) -> u64 {
        let rival = Rival::default();
        let key = self.key.as_ref();
        let key = key.map_or(0, |key| key.value(|what| self.read(kernel, (task, &*t), queue, rival, what)));
        let slice = self.slice.value(|what| self.read(kernel, (task, &*t), queue, rival, what));
        t.key = key.clamp(-MOST_KEY, MOST_KEY);
        t.granted = slice.clamp(LEAST_SLICE, MOST_SLICE).cast_unsigned();
        t.spent = 0;
        t.granted
    }

    /// Brings the virtual time of a task up to date.
    fn account(kernel: &mut Kernel<'_>, task: TaskId, t: &mut Task) {
        let used = kernel.sum_exec_runtime(task).wrapping_sub(t.charged);
        t.charged = t.charged.wrapping_add(used);
        t.spent = t.spent.wrapping_add(used);
        Self::age(kernel, task, t, used);
    }

    /// Adds cpu time to the virtual time.
    fn age(kernel: &Kernel<'_>, task: TaskId, t: &mut Task, used: u64) {
        let weighted = used.wrapping_mul(u64::from(WEIGHT_DFL)).checked_div(u64::from(kernel.weight(task)));
        t.vtime = t.vtime.wrapping_add(weighted.unwrap_or(0));
    }

    /// Interrupts the cpu that runs the task with the largest key, if the formula wants it.
    fn preempt(&mut self, kernel: &mut Kernel<'_>, task: TaskId, t: &Task, queue: u64) {
        let Some(preempts) = &self.preempts else { return };
        let allowed = kernel.cpus_allowed(task);
        let mut found: Option<(CpuId, Cpu)> = None;
        for (cpu, state) in self.cpus.ids().map(|cpu| (cpu, self.cpus[cpu])) {
            let eligible =
                state.busy && !state.kicked && self.queue_of[cpu] == queue && allowed.contains(cpu);
            if eligible && found.is_none_or(|(_, most)| state.key > most.key) {
                found = Some((cpu, state));
            }
        }
        let Some((cpu, state)) = found else { return };
        let rival = Rival { key: state.key, running_for: kernel.now().wrapping_sub(state.began) };
        if preempts.value(|what| self.read(kernel, (task, t), queue, rival, what)) != 0 {
            self.cpus[cpu].kicked = true;
            self.preempted += 1;
            kernel.kick_cpu(cpu.0.cast_signed(), KICK_PREEMPT);
        }
    }
}

impl Scheduler for Ordered {
    fn name(&self) -> &str {
        &self.name
    }

    fn given(&self) -> Given {
        Given {
            select_cpu: true,
            enqueue: true,
            dispatch: true,
            running: true,
            stopping: true,
            quiescent: true,
            init_task: true,
            exit_task: true,
            ..Given::default()
        }
    }

    fn init(&mut self, kernel: &mut Kernel<'_>) -> i32 {
        let machine = kernel.view().machine();
        let of = |cpu: CpuId| match self.queue {
            Queue::Machine => 0,
            Queue::Node => machine.node_of(cpu).0,
            Queue::Cache => machine.topology.group(Level::Cache, cpu),
            Queue::Cpu => cpu.0,
        };
        let cpus = machine.cpus() as usize;
        let mut queue_of = PerCpu::filled(cpus, 0);
        let mut queues = Vec::new();
        for cpu in machine.cpu_ids() {
            let queue = of(cpu);
            queue_of[cpu] = u64::from(queue);
            queues.resize(queues.len().max(queue as usize + 1), 0);
            queues[queue as usize] += 1;
        }
        (self.queue_of, self.queues, self.cpus) = (queue_of, queues, PerCpu::filled(cpus, Cpu::default()));
        (0..self.queues.len()).map(|queue| kernel.create_dsq(queue as u64, -1)).min().unwrap_or(0)
    }

    fn init_task(&mut self, kernel: &mut Kernel<'_>, task: TaskId, _: bool, _: u64) -> i32 {
        let (at, now, used) = (task.0 as usize, kernel.now(), kernel.sum_exec_runtime(task));
        self.tasks.resize(self.tasks.len().max(at + 1), Task::default());
        self.tasks[at] = Task {
            known: true,
            vtime: self.vtime_now,
            charged: used,
            asleep: true,
            slept_from: now,
            created: now,
            ..Task::default()
        };
        0
    }

    fn exit_task(&mut self, _: &mut Kernel<'_>, task: TaskId, _: bool) {
        self.keep(task, Task::default());
    }

    fn select_cpu(&mut self, kernel: &mut Kernel<'_>, task: TaskId, prev: i32, wake_flags: u64) -> i32 {
        let (cpu, idle) = kernel.select_cpu_dfl(task, prev, wake_flags);
        if idle && let Some(mut t) = self.state(task) {
            let queue = u32::try_from(cpu).map_or(0, |cpu| self.queue_of[CpuId(cpu)]);
            self.enter(kernel, task, &mut t);
            let slice = self.grant(kernel, task, &mut t, queue);
            self.keep(task, t);
            self.local += 1;
            kernel.dsq_insert(task, DSQ_LOCAL, slice, 0);
        }
        cpu
    }

    fn enqueue(&mut self, kernel: &mut Kernel<'_>, task: TaskId, enq_flags: u64) {
        let Some(mut t) = self.state(task) else {
            return kernel.dsq_insert(task, DSQ_GLOBAL, SLICE_DFL, enq_flags);
        };
        let queue = self.queue_of[Self::cpu_of(kernel, task)];
        self.enter(kernel, task, &mut t);
        let slice = self.grant(kernel, task, &mut t, queue);
        self.keep(task, t);
        self.queued += 1;
        match self.key {
            Some(_) => kernel.dsq_insert_vtime(task, queue, slice, t.key.cast_unsigned(), enq_flags),
            None => kernel.dsq_insert(task, queue, slice, enq_flags),
        }
        // A cpu of another queue may be idle while all of this one are busy.
        let idle = kernel.pick_idle_cpu(&kernel.cpus_allowed(task), 0);
        if idle >= 0 {
            kernel.kick_cpu(idle, KICK_IDLE);
        } else if t.woken {
            self.preempt(kernel, task, &t, queue);
        }
    }

    fn dispatch(&mut self, kernel: &mut Kernel<'_>, cpu: CpuId, prev: Option<TaskId>) {
        let (own, queues) = (self.queue_of[cpu], self.queues.len() as u64);
        if (0..queues).any(|step| kernel.dsq_move_to_local((own + step) % queues)) {
            return;
        }
        // No other task waits: the last one goes on with a new slice.
        let stays =
            |prev: &TaskId| kernel.task_flags(*prev) & TASK_QUEUED != 0 && Self::cpu_of(kernel, *prev) == cpu;
        let Some(prev) = prev.filter(stays) else { return };
        if let Some(mut t) = self.state(prev) {
            Self::account(kernel, prev, &mut t);
            let slice = self.grant(kernel, prev, &mut t, own);
            self.keep(prev, t);
            (self.cpus[cpu].key, self.cpus[cpu].kicked) = (t.key, false);
            kernel.set_slice(prev, slice);
        }
    }

    fn running(&mut self, kernel: &mut Kernel<'_>, task: TaskId) {
        let Some(mut t) = self.state(task) else { return };
        let (now, used) = (kernel.now(), kernel.sum_exec_runtime(task));
        if time_before(self.vtime_now, t.vtime) {
            self.vtime_now = t.vtime;
        }
        t.waited = now.wrapping_sub(t.since);
        t.average_wait = average(t.average_wait, t.waited);
        (t.charged, t.ran_from, t.woken) = (used, used, false);
        self.keep(task, t);
        let cpu = Self::cpu_of(kernel, task);
        self.cpus[cpu] = Cpu { busy: true, key: t.key, began: now, kicked: false };
    }

    fn stopping(&mut self, kernel: &mut Kernel<'_>, task: TaskId, runnable: bool) {
        let cpu = Self::cpu_of(kernel, task);
        let kicked = self.cpus[cpu].kicked;
        (self.cpus[cpu].busy, self.cpus[cpu].kicked) = (false, false);
        let Some(mut t) = self.state(task) else { return };
        Self::account(kernel, task, &mut t);
        if runnable && !kicked && kernel.slice(task) == 0 && t.spent < t.granted {
            // It yields, and gives up what it has left.
            let left = t.granted - t.spent;
            Self::age(kernel, task, &mut t, left);
        }
        t.ran = kernel.sum_exec_runtime(task).wrapping_sub(t.ran_from);
        t.since = kernel.now();
        self.keep(task, t);
    }

    fn quiescent(&mut self, kernel: &mut Kernel<'_>, task: TaskId, deq_flags: u64) {
        let Some(mut t) = self.state(task) else { return };
        if deq_flags & DEQ_SLEEP != 0 {
            t.last_burst = kernel.sum_exec_runtime(task).wrapping_sub(t.burst_from);
            t.average_burst = average(t.average_burst, t.last_burst);
            (t.asleep, t.slept_from) = (true, kernel.now());
            self.keep(task, t);
        }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let counted =
            [("nr_local", self.local), ("nr_queued", self.queued), ("nr_preempted", self.preempted)];
        counted.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_those_of_operations() {
        assert_eq!(ops_name("my order-2.b"), "my_order_2.b");
        assert_eq!(ops_name(&"x".repeat(200)).len(), 127);
    }

    #[test]
    fn averages_follow_by_quarters() {
        assert_eq!([average(0, 8), average(8, 16), average(u64::MAX, u64::MAX)], [8, 10, u64::MAX]);
    }
}
