//! What policies observe and do: the engine's side of the policy contract.

use crate::engine::Engine;
use crate::engine::state::{Activity, OnReturn, Part, Waiting};
use crate::event::Timer;
use crate::ids::{AppId, CpuId, Id, NodeId, TaskId};
use crate::machine::Machine;
use crate::os::TaskGroup;
use crate::policy::{
    self, Action, Affinity, AppView, Kick, Locality, QueueEntry, System, THROTTLED, TaskChange, TaskState,
    TaskView, View, Why,
};
use crate::run_queue::{self, Rules, group_loads, groups};
use crate::time::{Span, Time, WORK_FRACTION_BITS};

impl View for Engine<'_> {
    fn now(&self) -> Time {
        self.shared.now
    }

    fn machine(&self) -> &Machine {
        &self.shared.machine
    }

    fn seed(&self) -> u64 {
        self.shared.options.seed
    }

    fn apps(&self) -> u32 {
        self.shared.apps.len() as u32
    }

    fn app(&self, app: AppId) -> AppView {
        let record = &self.shared.apps[app];
        AppView {
            name: record.name.clone(),
            tasks: record.first.0..record.first.0 + record.tasks,
            alive: record.started && record.end.is_none(),
            background: record.background,
            process: record.process,
        }
    }

    fn groups(&self) -> &[TaskGroup] {
        &self.orders.groups
    }

    fn group_of(&self, app: AppId) -> Option<u16> {
        self.shared.apps[app].group.filter(|_| !self.orders.groups.is_empty())
    }

    fn nr_running(&self, cpu: CpuId) -> u32 {
        self.cpus[cpu].running
    }

    fn next_task(&self, cpu: CpuId) -> Option<TaskId> {
        self.shared.next_on(&self.cpus[cpu])
    }

    fn unreported(&self, skip: usize, found: &mut dyn FnMut(CpuId)) {
        self.notices.iter().skip(skip).for_each(|(_, cpu, _)| found(*cpu));
    }

    fn load(&self, cpu: CpuId) -> u64 {
        self.cpus[cpu].load
    }

    fn load_average(&self, cpu: CpuId) -> Option<u64> {
        let cpu = &self.cpus[cpu];
        let (tasks, now) = (&self.shared.tasks, self.shared.now);
        let load = |averaged| match averaged {
            true => group_loads::of_cpu(tasks, cpu, now),
            false => group_loads::queued_on(tasks, cpu),
        };
        (cpu.rare.group_count > 0).then(|| load(self.shared.model.discipline.averages_loads()))
    }

    fn task_load_average(&self, task: TaskId) -> Option<u64> {
        let cpu = &self.cpus[self.shared.tasks[task].cpu];
        let (tasks, now) = (&self.shared.tasks, self.shared.now);
        let load = |averaged| match averaged {
            true => group_loads::of_task(tasks, cpu, task, now),
            false => group_loads::queued_of(tasks, cpu, task),
        };
        (cpu.rare.group_count > 0).then(|| load(self.shared.model.discipline.averages_loads()))
    }

    fn is_delayed(&self, task: TaskId) -> bool {
        self.shared.tasks[task].history.delayed
    }

    fn locality(&self, task: TaskId) -> Option<Locality> {
        self.shared.locality(task)
    }

    fn fault_share(&self, task: TaskId, node: NodeId, of_group: bool) -> u64 {
        self.shared.fault_share(task, node, of_group)
    }

    fn task(&self, task: TaskId) -> TaskView {
        let record = &self.shared.tasks[task];
        // A running task is seen to run now.
        let runs = record.state == TaskState::Running;
        let (levels, rare) = (self.shared.model.discipline.levels(), &self.cpus[record.cpu].rare);
        let app = &self.shared.apps[record.app()];
        TaskView {
            app: record.app(),
            rank: app.rank(task),
            state: record.state,
            cpu: record.cpu,
            weight: record.weight,
            last_ran: if runs { self.shared.now } else { record.last_ran },
            entered: self.entered[task],
            buddy: rare.next_buddy == task || rare.last_buddy == task,
            priority: record.level(),
            held: record.is_held(),
            dispatch_priority: levels.map_or(0, |levels| levels.dispatch_priority(record)),
            wait_ends: (record.waiting != Waiting::No).then(|| self.shared.wait_ends(record)),
            released: Some(record.history.woken).filter(|at| !at.is_never()),
        }
    }

    fn allowed(&self, task: TaskId, cpu: CpuId) -> bool {
        self.shared.affinity(task).allows(cpu)
    }

    fn first_allowed(&self, task: TaskId) -> Option<CpuId> {
        self.shared.affinity(task).first(self.shared.machine.cpus())
    }

    fn best_dispatch_priority(&self, cpu: CpuId) -> Option<i64> {
        let (record, levels) = (&self.cpus[cpu], self.shared.model.discipline.levels());
        // The head has the best key of its priority; throttled and co-scheduled tasks are not distinguished.
        [record.current, record.head]
            .into_iter()
            .filter_map(TaskId::some)
            .map(|id| levels.map_or(0, |levels| levels.dispatch_priority(&self.shared.tasks[id])))
            .max()
    }
}

impl Engine<'_> {
    /// Refuses an action: counts it and returns false.
    fn refuse(&mut self) -> bool {
        self.corrections += 1;
        false
    }

    /// True for a task of an application: behind them are the records of task groups.
    fn is_task(&self, task: TaskId) -> bool {
        let records = groups::records(&self.cpus, &self.shared.model.groups);
        task.index() < self.shared.tasks.len() - records
    }

    fn exists(&self, task: TaskId, cpu: CpuId) -> bool {
        self.is_task(task) && cpu.index() < self.cpus.len()
    }
}

impl System for Engine<'_> {
    fn current(&mut self, cpu: CpuId) -> Option<TaskId> {
        self.settle(cpu);
        self.cpus[cpu].current.some()
    }

    fn queued(&mut self, cpu: CpuId, most: usize, out: &mut Vec<TaskId>) {
        self.settle(cpu);
        out.clear();
        let mut at = self.cpus[cpu].head;
        let grouped = !self.shared.model.groups.is_empty();
        while let Some(id) = at.some().filter(|id| !grouped || self.shared.tasks[*id].priority < THROTTLED) {
            out.push(id);
            at = self.shared.tasks[id].next;
        }
        if self.real_time {
            out.retain(|id| !self.is_real_time(*id));
        }
        let newest_first = |id: &TaskId| std::cmp::Reverse(self.entered[*id]);
        if most < out.len() {
            out.select_nth_unstable_by_key(most, newest_first);
            out.truncate(most);
        }
        out.sort_unstable_by_key(newest_first);
    }

    fn dirty(&mut self, found: &mut dyn FnMut(CpuId)) {
        self.shared.watch.take(found);
    }

    fn yield_ends(&mut self, cpu: CpuId) -> Time {
        self.settle(cpu);
        let record = &self.cpus[cpu];
        if record.activity != Activity::Poll {
            return Time::NEVER;
        }
        record.since + record.overhead.total() + self.shared.cycle(&self.shared.tasks[record.current])
    }

    fn cpu_time(&mut self, task: TaskId) -> Span {
        let cpu = self.shared.tasks[task].cpu;
        self.settle(cpu);
        let record = &self.cpus[cpu];
        let used = self.shared.tasks[task].cpu_time;
        if record.current == task { used + self.shared.now.since(record.since) } else { used }
    }

    fn progress(&mut self, task: TaskId) -> Span {
        let (record, cpu) = (&self.shared.tasks[task], &self.cpus[self.shared.tasks[task].cpu]);
        let mut raw = record.done();
        if cpu.activity == Activity::Compute && cpu.current == task {
            raw += u128::from(self.shared.segments.computed(cpu, record, self.shared.now).raw());
        }
        Span::from_ns((raw >> WORK_FRACTION_BITS) as u64)
    }

    fn slice(&mut self, task: TaskId) -> Option<(Span, Span)> {
        let cpu = self.shared.tasks[task].cpu;
        let model = std::sync::Arc::clone(&self.shared.model);
        let levels = model.discipline.levels()?;
        self.catch_up(cpu);
        Some(levels.slice_used_and_left(&self.shared.tasks[task], &self.cpus[cpu]))
    }

    fn is_eligible(&mut self, task: TaskId) -> bool {
        // As of the last tick or change of the queue: a question charges nobody.
        let cpu = self.shared.tasks[task].cpu;
        self.settle(cpu);
        self.pass_ticks(cpu);
        let (tasks, record) = (&self.shared.tasks, &self.cpus[cpu]);
        let requests = self.shared.model.discipline.requests();
        requests.is_none_or(|requests| requests.request(tasks, record, task).0.eligible)
    }

    fn migrate(&mut self, task: TaskId, to: CpuId, why: Why) -> bool {
        if !self.exists(task, to) {
            return self.refuse();
        }
        let record = &self.shared.tasks[task];
        let runnable = matches!(record.state, TaskState::Queued | TaskState::Running);
        if self.is_real_time(task) {
            return false;
        }
        if !runnable || record.cpu == to || !self.shared.affinity(task).allows(to) {
            return self.refuse();
        }
        let from = record.cpu;
        self.shared.decided(Some(task), Action::Migrated { from, to }, why);
        self.relocate(task, to);
        true
    }

    fn set_affinity(&mut self, task: TaskId, affinity: Affinity, why: Why) -> bool {
        let Some(first) = affinity.first(self.shared.machine.cpus()) else {
            return self.refuse();
        };
        if !self.exists(task, first) {
            return self.refuse();
        }
        if self.keeps_cpus(task) {
            return false;
        }
        self.shared.decided(Some(task), Action::Bound(affinity.clone()), why);
        let stays = affinity.allows(self.shared.tasks[task].cpu);
        self.shared.bind(task, affinity);
        if !stays && matches!(self.shared.tasks[task].state, TaskState::Queued | TaskState::Running) {
            // As `sched_setaffinity` does: any allowed cpu, and that is the first.
            self.relocate(task, first);
        }
        self.note_changed(task, TaskChange::Affinity);
        true
    }

    fn set_priority(&mut self, task: TaskId, priority: u8, why: Why) -> bool {
        // Task groups have no priority levels, and the levels beside a real-time class are its own.
        if !self.is_task(task) || !self.shared.model.groups.is_empty() || self.real_time {
            return self.refuse();
        }
        let cpu = self.shared.tasks[task].cpu;
        if self.shared.tasks[task].level() == priority {
            return true;
        }
        if matches!(self.shared.tasks[task].state, TaskState::Queued | TaskState::Running) {
            self.settle(cpu);
            self.shared.report_account(&self.cpus[cpu]);
        }
        self.shared.decided(Some(task), Action::PrioritySet(priority), why);
        if self.shared.tasks[task].is_held() {
            self.shared.tasks[task].set_held_level(priority);
            return true;
        }
        let model = std::sync::Arc::clone(&self.shared.model);
        match self.shared.tasks[task].state {
            TaskState::Queued | TaskState::Running => {
                self.catch_up(cpu);
                let (discipline, record) = (&model.discipline, &mut self.cpus[cpu]);
                let idle = record.current.is_none() && !run_queue::anyone_waits(&self.shared.tasks, record);
                if record.current == task {
                    discipline.change_priority(&mut self.shared.tasks, record, task, priority);
                } else {
                    run_queue::remove(&mut self.shared.tasks, record, task);
                    discipline.change_priority(&mut self.shared.tasks, record, task, priority);
                    discipline.insert(&mut self.shared.tasks, record, task);
                }
                if let (Some(head), Some(current)) = (record.head.some(), record.current.some()) {
                    record.resched |= self.shared.tasks[head].priority < self.shared.tasks[current].priority;
                }
                record.resched |= record.current == task && priority == THROTTLED;
                if idle && priority < THROTTLED {
                    record.defer(Part::Kernel, self.shared.idle_exit(record));
                }
                self.shared.rounds.mark(cpu);
            }
            _ => {
                if self.shared.tasks[task].history.delayed {
                    self.end_delay(task);
                }
                self.shared.tasks[task].priority = priority;
            }
        }
        true
    }

    fn dispatch(&mut self, task: TaskId, cpu: CpuId, entry: QueueEntry, why: Why) -> bool {
        if !self.exists(task, cpu)
            || !self.shared.tasks[task].is_held()
            || !self.shared.affinity(task).allows(cpu)
        {
            return self.refuse();
        }
        self.shared.decided(Some(task), Action::Dispatched(cpu), why);
        self.dispatch_held(task, cpu, entry);
        true
    }

    fn kick(&mut self, cpu: CpuId, how: Kick) -> bool {
        if !self.shared.policy_orders || cpu.index() >= self.cpus.len() {
            return self.refuse();
        }
        self.kicked(cpu, how)
    }

    fn set_slice(&mut self, task: TaskId, slice: Span, why: Why) -> bool {
        if !self.shared.policy_orders || !self.is_task(task) {
            return self.refuse();
        }
        self.change_slice(task, slice, why)
    }

    fn fail(&mut self, reason: String) {
        self.orders.failed.get_or_insert(reason);
    }

    fn yield_to(&mut self, from: TaskId, to: TaskId, why: Why) -> bool {
        if !self.is_task(from) || !self.is_task(to) {
            return self.refuse();
        }
        let (here, there) = (self.shared.tasks[from].cpu, self.shared.tasks[to].cpu);
        self.settle(here);
        self.settle(there);
        let polls = matches!(self.cpus[here].activity, Activity::Poll | Activity::Spin);
        let waits = self.shared.tasks[from].waiting != Waiting::No;
        if self.cpus[here].current != from || !polls || !waits || !self.shared.tasks[to].may_inherit() {
            return false;
        }
        self.shared.decided(Some(from), Action::Yielded { to }, why);
        // The present poll is broken off; what comes before it is still to be paid.
        self.pass_ticks(here);
        if self.shared.now > self.cpus[here].since + self.cpus[here].overhead.total() {
            self.shared.close_segment(&mut self.cpus[here]);
        }
        let call = self.shared.machine.costs.yield_call.max(Span::from_ns(1));
        self.cpus[here].activity = Activity::Syscall;
        self.cpus[here].rare.call = (call, OnReturn::YieldTo(to));
        self.shared.rounds.mark(here);
        true
    }

    fn charge(&mut self, cpu: CpuId, span: Span, daemon: bool) {
        if cpu.index() >= self.cpus.len() {
            self.refuse();
            return;
        }
        self.settle(cpu);
        let idle = self.cpus[cpu].current.is_none();
        if idle {
            self.shared.close_segment(&mut self.cpus[cpu]);
        }
        let record = &mut self.cpus[cpu];
        if idle {
            // An idle cpu does the work at once.
            record.add_deferred();
        }
        let part = if daemon { Part::Daemon } else { Part::Kernel };
        if idle {
            record.pend(part, span);
        } else {
            record.defer(part, span);
        }
        self.shared.rounds.mark(cpu);
    }

    fn at(&mut self, at: Time, timer: policy::Timer) {
        let at = at.max(self.shared.now);
        self.armed_now += u64::from(at == self.shared.now);
        self.sampling.armed(at.since(self.shared.now));
        match timer {
            policy::Timer::Token(token) => self.timers.arm(at, Timer::Policy(token)),
            policy::Timer::Slot => self.timers.arm(at, Timer::Slot),
            policy::Timer::Tick(cpu) if cpu.index() >= self.cpus.len() => {
                self.refuse();
            }
            policy::Timer::Tick(cpu) => {
                let at = at.max(self.shared.now + Span::from_ns(1));
                let at = self.ticks.at_or_after(&self.shared.model, &self.cpus[cpu], at);
                self.timers.arm(at, Timer::Tick(cpu));
            }
        }
    }

    fn remark(&mut self, why: Why) {
        self.shared.decided(None, Action::Remarked, why);
    }
}
