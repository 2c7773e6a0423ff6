//! What policies see and do on the reference engine: nothing is ever behind, so seeing changes nothing.

use sim_core::ids::{AppId, CpuId, NodeId, TaskId};
use sim_core::machine::Machine;
use sim_core::os::TaskGroup;
use sim_core::policy::{
    self, Affinity, AppView, Kick, Locality, QueueEntry, System, THROTTLED, TaskChange, TaskState, TaskView,
    View, Why,
};
use sim_core::time::{Span, Time, WORK_FRACTION_BITS};

use super::state::{Activity, DAEMON, KERNEL, OnReturn, Waiting};
use super::{Reference, Timer};

impl View for Reference<'_> {
    fn now(&self) -> Time {
        Time::from_ns(self.now)
    }

    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn seed(&self) -> u64 {
        self.options.seed
    }

    fn apps(&self) -> u32 {
        self.apps.len() as u32
    }

    fn app(&self, app: AppId) -> AppView {
        let record = &self.apps[app.0 as usize];
        let first = record.first as u32;
        AppView {
            name: record.spec.name.clone(),
            tasks: first..first + record.spec.tasks,
            alive: record.started && record.end.is_none(),
            background: record.spec.background,
            process: record.spec.process(),
        }
    }

    fn groups(&self) -> &[TaskGroup] {
        &self.told.0
    }

    fn group_of(&self, app: AppId) -> Option<u16> {
        self.told.1[app.0 as usize].filter(|_| !self.told.0.is_empty())
    }

    fn nr_running(&self, cpu: CpuId) -> u32 {
        self.everyone(cpu.0 as usize).filter(|t| self.counts(*t)).count() as u32
    }

    fn next_task(&self, cpu: CpuId) -> Option<TaskId> {
        let c = cpu.0 as usize;
        let first = self.in_order(c).first().copied();
        let Some(current) = self.cpus[c].current else { return first.map(|t| TaskId(t as u32)) };
        let takes = |t: usize| {
            let held = self.tasks[current].held.is_some();
            self.by_policy() && (held || self.cpus[c].resched && self.key(t) < self.key(current))
        };
        let stays = Some(current).filter(|_| !(self.by_policy() && self.tasks[current].held.is_some()));
        first.filter(|t| takes(*t)).or(stays).map(|t| TaskId(t as u32))
    }

    fn load(&self, cpu: CpuId) -> u64 {
        let counted = self.everyone(cpu.0 as usize).filter(|t| self.counts(*t));
        counted.map(|t| u64::from(self.tasks[t].weight)).sum()
    }

    fn load_average(&self, cpu: CpuId) -> Option<u64> {
        (!self.model.groups.is_empty()).then(|| self.average_load(cpu.0 as usize))
    }

    fn task_load_average(&self, task: TaskId) -> Option<u64> {
        (!self.model.groups.is_empty()).then(|| self.task_load(task.0 as usize))
    }

    fn locality(&self, task: TaskId) -> Option<Locality> {
        self.locality_of(task.0 as usize)
    }

    fn fault_share(&self, task: TaskId, node: NodeId, of_group: bool) -> u64 {
        self.thousandths(task.0 as usize, node.0 as usize, of_group)
    }

    fn task(&self, task: TaskId) -> TaskView {
        let record = &self.tasks[task.0 as usize];
        let cpu = &self.cpus[record.cpu];
        let runs = record.state == TaskState::Running;
        TaskView {
            app: AppId(record.app as u32),
            rank: record.rank,
            state: record.state,
            cpu: CpuId(record.cpu as u32),
            weight: record.weight,
            last_ran: Time::from_ns(if runs { self.now } else { record.last_ran }),
            entered: record.entered,
            buddy: [cpu.next_buddy, cpu.last_buddy].contains(&Some(task.0 as usize)),
            priority: record.held.unwrap_or(record.priority),
            held: record.held.is_some(),
            dispatch_priority: self.priority_of(task.0 as usize),
            wait_ends: (record.waiting != Waiting::No)
                .then_some(Time::from_ns(self.ready_at(task.0 as usize))),
            released: record.event.instant.or(record.event.woken).map(Time::from_ns),
        }
    }

    fn allowed(&self, task: TaskId, cpu: CpuId) -> bool {
        self.tasks[task.0 as usize].affinity.allows(cpu)
    }

    fn best_dispatch_priority(&self, cpu: CpuId) -> Option<i64> {
        let all = &self.cpus[cpu.0 as usize];
        let head = all.class.line.first().or(all.queue.first()).copied();
        all.current.into_iter().chain(head).map(|t| self.priority_of(t)).max()
    }
}

impl Reference<'_> {
    /// It waits in a queue and may run.
    pub(super) fn may_inherit(&self, t: usize) -> bool {
        self.tasks[t].state == TaskState::Queued && self.tasks[t].priority != THROTTLED
    }

    fn refuse(&mut self) -> bool {
        self.corrections += 1;
        false
    }

    pub(super) fn is_runnable(&self, t: usize) -> bool {
        matches!(self.tasks[t].state, TaskState::Queued | TaskState::Running)
    }
}

impl System for Reference<'_> {
    fn current(&mut self, cpu: CpuId) -> Option<TaskId> {
        self.cpus[cpu.0 as usize].current.map(|t| TaskId(t as u32))
    }

    fn queued(&mut self, cpu: CpuId, most: usize, out: &mut Vec<TaskId>) {
        let mut queue = self.cpus[cpu.0 as usize].queue.clone();
        queue.retain(|t| self.counts(*t));
        queue.sort_by_key(|t| self.tasks[*t].entered);
        out.clear();
        out.extend(queue.into_iter().rev().take(most).map(|t| TaskId(t as u32)));
    }

    fn cpu_time(&mut self, task: TaskId) -> Span {
        let record = &self.tasks[task.0 as usize];
        let cpu = &self.cpus[record.cpu];
        let running = cpu.current == Some(task.0 as usize);
        Span::from_ns(record.cpu_time + if running { self.now - cpu.since } else { 0 })
    }

    fn progress(&mut self, task: TaskId) -> Span {
        let t = task.0 as usize;
        let c = self.tasks[t].cpu;
        let computes = self.cpus[c].current == Some(t) && self.cpus[c].activity == Activity::Compute;
        let left = if computes { self.nominal_left(c, t) } else { self.tasks[t].remaining };
        let done = self.tasks[t].done + u128::from(self.tasks[t].remaining - left);
        Span::from_ns((done >> WORK_FRACTION_BITS) as u64)
    }

    fn slice(&mut self, task: TaskId) -> Option<(Span, Span)> {
        let t = task.0 as usize;
        if !self.has_priorities() {
            return None;
        }
        let c = self.tasks[t].cpu;
        Reference::charge(self, c);
        let used = self.tasks[t].used;
        Some((Span::from_ns(used), Span::from_ns(self.whole_slice(c, t).saturating_sub(used))))
    }

    fn is_eligible(&mut self, task: TaskId) -> bool {
        if self.eevdf().is_none() {
            return true;
        }
        let t = task.0 as usize;
        Reference::is_eligible(self, self.tasks[t].cpu, t)
    }

    fn migrate(&mut self, task: TaskId, to: CpuId, _: Why) -> bool {
        let (t, c) = (task.0 as usize, to.0 as usize);
        let exist = t < self.tasks.len() && c < self.cpus.len();
        if exist && self.refuses(task) {
            return false;
        }
        if !exist || !self.is_runnable(t) || self.tasks[t].cpu == c || !self.tasks[t].affinity.allows(to) {
            return self.refuse();
        }
        self.relocate(t, c);
        true
    }

    fn set_affinity(&mut self, task: TaskId, affinity: Affinity, _: Why) -> bool {
        let t = task.0 as usize;
        let first = self.machine.cpu_ids().find(|cpu| affinity.allows(*cpu));
        let Some(first) = first.filter(|_| t < self.tasks.len()) else { return self.refuse() };
        let limited =
            self.class().and_then(|rules| rules.deadline).is_some_and(|rules| rules.limit.is_some());
        if limited && self.reserve(t).is_some() {
            return false;
        }
        let misplaced = !affinity.allows(CpuId(self.tasks[t].cpu as u32));
        self.tasks[t].affinity = affinity;
        if misplaced && self.is_runnable(t) {
            self.relocate(t, first.0 as usize);
        }
        self.note_altered(t, TaskChange::Affinity);
        true
    }

    fn set_priority(&mut self, task: TaskId, priority: u8, _: Why) -> bool {
        let t = task.0 as usize;
        if t >= self.tasks.len() || !self.cpus[0].groups.is_empty() || self.real_time {
            return self.refuse();
        }
        if self.tasks[t].held.unwrap_or(self.tasks[t].priority) == priority {
            return true;
        }
        if self.tasks[t].held.is_some() {
            self.tasks[t].held = Some(priority);
            return true;
        }
        let c = self.tasks[t].cpu;
        let runnable = self.is_runnable(t);
        if runnable {
            self.charge(c);
        }
        self.leave_delayed(t);
        let waits = self.cpus[c].queue.contains(&t);
        let idle = self.cpus[c].current.is_none() && self.able(c).is_empty();
        self.remove(c, t);
        match self.eevdf().filter(|_| runnable) {
            Some(params) => self.move_band(params, c, t, priority),
            None => self.tasks[t].priority = priority,
        }
        if waits {
            self.insert(c, t);
        }
        if runnable {
            if let (Some(first), Some(current)) = (self.cpus[c].queue.first(), self.cpus[c].current) {
                self.cpus[c].resched |= self.tasks[*first].priority < self.tasks[current].priority;
            }
            if self.cpus[c].current == Some(t) && priority == THROTTLED {
                self.cpus[c].resched = true;
            }
            if idle && priority != THROTTLED {
                // Work comes to an idle cpu.
                self.cpus[c].deferred.0[KERNEL] += self.idle_exit(c);
            }
            self.mark(c);
        }
        true
    }

    fn dispatch(&mut self, task: TaskId, cpu: CpuId, entry: QueueEntry, _: Why) -> bool {
        let (t, c) = (task.0 as usize, cpu.0 as usize);
        let exist = t < self.tasks.len() && c < self.cpus.len();
        if !exist || self.tasks[t].held.is_none() || !self.tasks[t].affinity.allows(cpu) {
            return self.refuse();
        }
        if self.tasks[t].cpu != c {
            self.relocate(t, c);
        }
        let current = self.cpus[c].current;
        if current == Some(t) {
            self.take_entry(t, Some(entry));
            return true;
        }
        let idle = current.is_none() && self.able(c).is_empty();
        self.remove(c, t);
        self.take_entry(t, Some(entry));
        self.note_overtaken(t, c);
        self.insert(c, t);
        let picks = current.is_some_and(|current| self.tasks[current].held.is_some());
        if !picks && self.preempts(c, t) {
            let costs = &self.machine.costs;
            if !idle {
                self.cpus[c].resched = true;
                self.cpus[c].deferred.0[KERNEL] += costs.ipi.ns();
            } else if self.cpus[c].since < self.now {
                self.cpus[c].deferred.0[KERNEL] += costs.ipi.ns() + self.idle_exit(c);
            }
        }
        self.mark(c);
        true
    }

    fn kick(&mut self, cpu: CpuId, how: Kick) -> bool {
        let c = cpu.0 as usize;
        if !self.by_policy() || c >= self.cpus.len() {
            return self.refuse();
        }
        let idle = self.cpus[c].current.is_none();
        if !idle && how == Kick::Idle {
            return false;
        }
        if !idle {
            self.cpus[c].resched = true;
            self.cpus[c].deferred.0[KERNEL] += self.machine.costs.ipi.ns();
        }
        self.mark(c);
        true
    }

    fn set_slice(&mut self, task: TaskId, slice: Span, _: Why) -> bool {
        let t = task.0 as usize;
        if !self.by_policy() || t >= self.tasks.len() {
            return self.refuse();
        }
        let c = self.tasks[t].cpu;
        let used = match self.tasks[t].state {
            TaskState::Running => self.now - self.cpus[c].picked,
            TaskState::Queued if self.tasks[t].held.is_none() => 0,
            _ => return false,
        };
        self.tasks[t].slice = used.saturating_add(slice.ns());
        self.mark(c);
        true
    }

    fn fail(&mut self, reason: String) {
        self.told.2.get_or_insert(reason);
    }

    fn yield_to(&mut self, from: TaskId, to: TaskId, _: Why) -> bool {
        let (f, t) = (from.0 as usize, to.0 as usize);
        if f.max(t) >= self.tasks.len() {
            return self.refuse();
        }
        if !self.may_inherit(t) {
            return false;
        }
        let c = self.tasks[f].cpu;
        let polls = matches!(self.cpus[c].activity, Activity::Poll | Activity::Spin);
        if self.cpus[c].current != Some(f) || self.tasks[f].waiting == Waiting::No || !polls {
            return false;
        }
        // Overhead that is not paid yet comes before the call; a poll that has begun is broken off.
        if self.now > self.cpus[c].begun() {
            self.close(c);
        }
        self.cpus[c].activity =
            Activity::Syscall(self.machine.costs.yield_call.ns().max(1), OnReturn::YieldTo(t));
        self.mark(c);
        true
    }

    fn charge(&mut self, cpu: CpuId, span: Span, daemon: bool) {
        let c = cpu.0 as usize;
        if c >= self.cpus.len() {
            self.refuse();
            return;
        }
        let part = if daemon { DAEMON } else { KERNEL };
        if self.cpus[c].current.is_none() {
            // An idle cpu does the work at once, after what it still has to do.
            self.close(c);
            let deferred = std::mem::take(&mut self.cpus[c].deferred);
            for (mine, owed) in self.cpus[c].overhead.0.iter_mut().zip(deferred.0) {
                *mine += owed;
            }
            self.cpus[c].overhead.0[part] += span.ns();
        } else {
            self.cpus[c].deferred.0[part] += span.ns();
        }
        self.mark(c);
    }

    fn at(&mut self, at: Time, timer: policy::Timer) {
        let now = self.now;
        self.armed_now += u64::from(at.ns() <= now);
        match timer {
            policy::Timer::Token(token) => self.arm(at.ns().max(now), Timer::Policy(token)),
            policy::Timer::Slot => self.arm(at.ns().max(now), Timer::Slot),
            policy::Timer::Tick(cpu) if cpu.0 as usize >= self.cpus.len() => {
                self.refuse();
            }
            policy::Timer::Tick(cpu) => {
                self.arm(self.tick_from(cpu.0 as usize, at.ns().max(now + 1)), Timer::Tick(cpu.0));
            }
        }
    }
}
