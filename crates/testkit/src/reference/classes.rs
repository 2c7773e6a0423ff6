//! Tasks of the reference engine that change how they are scheduled, by themselves or for others.

use sim_core::lock::Protocol;
use sim_core::observe::LeaveReason;
use sim_core::policy::TaskState;
use sim_core::program::Scheduling;

use super::queue::Entry;
use super::records::APART;
use super::server::{RefServer, Standing};
use super::{Change, Reference};

const fn in_turns(scheduling: Scheduling) -> bool {
    matches!(scheduling, Scheduling::RoundRobin(_))
}

impl Reference<'_> {
    /// `sched_setscheduler` of a task for itself.
    pub(super) fn change_class(&mut self, t: usize, scheduling: Scheduling) {
        self.tasks[t].own.scheduling = scheduling;
        self.adjust(t);
    }

    /// A nice value is noted; true when it is also the weight from now on. `lasts`: a new process has it,
    /// too.
    pub(super) fn notes_nice(&mut self, t: usize, weight: u32, lasts: bool) -> bool {
        if !self.classes_change {
            return true;
        }
        let task = &mut self.tasks[t];
        task.own.nice = weight;
        if lasts {
            task.own.first.1 = weight;
        }
        matches!(task.scheduling, Scheduling::Other | Scheduling::Batch)
    }

    /// A new process is what the first one was.
    pub(super) fn renew_class(&mut self, t: usize) {
        if !self.classes_change {
            return;
        }
        let (scheduling, nice) = self.tasks[t].own.first;
        let own = &mut self.tasks[t].own;
        (own.scheduling, own.nice, own.left) = (scheduling, nice, (nice, false));
        let (to, real_time) = (self.deserved(t), self.real_time);
        let task = &mut self.tasks[t];
        (task.scheduling, task.weight) = (to, task.own.weighs(to));
        if real_time {
            task.priority = if to.is_real_time() { APART } else { 0 };
        }
        if to.is_real_time() {
            task.vruntime = 0;
        }
    }

    /// The virtual runtime of those of the class counts from a minimum.
    pub(super) fn is_apart(&self, t: usize) -> bool {
        self.classes_change && self.in_class(t)
    }

    /// The best of what a task is by itself, the ceilings of its locks, and those who wait for what it has.
    fn deserved(&self, t: usize) -> Scheduling {
        let own = self.tasks[t].own.scheduling;
        if self.reserve(t).is_some() {
            return own;
        }
        let mut best = own.priority().unwrap_or(0);
        for lock in self.locks.iter().filter(|_| self.real_time) {
            let has = lock.holder == Some(t);
            match lock.rules.protocol {
                Protocol::Ceiling(ceiling) if has || lock.line.contains(&t) => best = best.max(ceiling),
                Protocol::Inherits if has => {
                    let priority = |waiter: &usize| self.tasks[*waiter].scheduling.priority();
                    let waiting = lock.line.iter().filter_map(priority);
                    best = waiting.fold(best, u8::max);
                }
                _ => {}
            }
        }
        match own {
            _ if own.priority().unwrap_or(0) == best => own,
            Scheduling::RoundRobin(_) => Scheduling::RoundRobin(best),
            _ => Scheduling::Fifo(best),
        }
    }

    /// A task becomes what it deserves, and so do all along the chain of locks.
    pub(super) fn adjust(&mut self, t: usize) {
        let mut chain = vec![t];
        while let Some(t) = chain.pop() {
            let to = self.deserved(t);
            if to == self.tasks[t].scheduling {
                return;
            }
            self.schedule_as(t, to);
            let lock = self.awaited(t).filter(|lock| self.locks[*lock].rules.protocol == Protocol::Inherits);
            if let Some(lock) = lock {
                self.finds_place(lock, t);
                chain.extend(self.locks[lock].holder.filter(|holder| *holder != t));
            }
        }
    }

    /// A waiter stands behind all who are at least as good.
    pub(super) fn finds_place(&mut self, lock: usize, t: usize) {
        let mut line = std::mem::take(&mut self.locks[lock].line);
        if line.contains(&t) {
            line.retain(|other| *other != t);
            let mine = self.class_priority(t);
            let better = line.iter().filter(|other| self.class_priority(**other) >= mine).count();
            line.insert(better, t);
        }
        self.locks[lock].line = line;
    }

    /// A task is scheduled so from now on.
    fn schedule_as(&mut self, t: usize, to: Scheduling) {
        let from = self.tasks[t].scheduling;
        let runnable = matches!(self.tasks[t].state, TaskState::Queued | TaskState::Running);
        if from == to {
            return;
        }
        match (from.priority(), to.priority()) {
            (None, None) => self.alter(t, |all| {
                all.tasks[t].scheduling = to;
                let weight = all.tasks[t].own.weighs(to);
                all.set_weight(t, weight);
            }),
            (Some(before), Some(after)) => self.change_rank(t, to, (before, after), runnable),
            (None, Some(_)) if !runnable => {
                self.leave_delayed(t);
                self.leaves_queue_for_class(t, false);
                self.becomes(t, to);
                self.tasks[t].vruntime = 0;
            }
            (Some(_), None) if !runnable => {
                self.becomes(t, to);
                self.comes_from_class(t);
            }
            (before, _) => self.cross(t, to, before.is_none()),
        }
    }

    /// From one priority of the class to another.
    fn change_rank(&mut self, t: usize, to: Scheduling, (before, after): (u8, u8), runnable: bool) {
        let c = self.tasks[t].cpu;
        if runnable {
            self.charge(c);
            self.mark(c);
        }
        if in_turns(to) && !in_turns(self.tasks[t].scheduling) {
            self.tasks[t].used = 0;
        }
        if !runnable || before == after {
            self.tasks[t].scheduling = to;
        } else if self.cpus[c].current == Some(t) {
            self.tasks[t].scheduling = to;
            let best = self.cpus[c].class.line.first().and_then(|first| self.class_priority(*first));
            // Those of its new priority were there before.
            self.tasks[t].expired = after > before && self.has_equal(c, t);
            if best > Some(i64::from(after)) {
                self.cpus[c].resched = true;
            }
            if after < before {
                self.notices.push((t, c, Change::Lowered(before.into())));
            }
        } else {
            self.remove(c, t);
            self.tasks[t].scheduling = to;
            self.tasks[t].expired = false;
            self.tasks[t].front = after < before;
            self.join_line(c, t);
            if after > before {
                self.challenges(c, t);
            }
        }
    }

    /// Somebody of the same priority of the class waits.
    fn has_equal(&self, c: usize, t: usize) -> bool {
        let mine = self.class_priority(t);
        self.cpus[c].class.line.iter().any(|other| self.class_priority(*other) == mine)
    }

    /// A waiting task has changed, and may take the cpu.
    fn challenges(&mut self, c: usize, t: usize) {
        if self.cpus[c].current.is_some() && self.preempts(c, t) {
            self.cpus[c].resched = true;
        }
    }

    /// A runnable task comes into the class (`rises`) or leaves it, on the cpu where it is.
    fn cross(&mut self, t: usize, to: Scheduling, rises: bool) {
        let c = self.tasks[t].cpu;
        let runs = self.cpus[c].current == Some(t);
        self.charge(c);
        self.mark(c);
        self.use_goes(t, c);
        if rises {
            self.take_leave(c, t, LeaveReason::Moved);
            self.server_loses(c, t);
        } else if runs {
            self.stops_class(c);
        }
        if runs {
            self.cpus[c].current = None;
        } else {
            self.remove(c, t);
        }
        self.no_buddy(c, t);
        self.cpus[c].skipped = self.cpus[c].skipped.filter(|skipped| *skipped != t);
        if rises {
            self.leaves_queue_for_class(t, true);
        }
        self.becomes(t, to);
        let entry = if rises { Entry::Move } else { self.comes_from_class(t) };
        self.use_comes(t, c);
        if !rises && self.runnable(c).next().is_none() {
            let now = self.now;
            self.tell_server(c, |server: &mut RefServer, rules| server.begin(rules, now));
        }
        self.place(c, t, entry);
        if runs {
            self.cpus[c].current = Some(t);
            self.tasks[t].expired = rises && self.has_equal(c, t);
            self.picked(c, false);
            if let Some(params) = self.eevdf().filter(|_| !rises) {
                self.protect(params, c, t);
            }
            if !rises || self.cpus[c].class.standing() != Standing::Above {
                self.cpus[c].resched = true;
            }
        } else {
            self.insert(c, t);
            self.advance_minimum(c);
        }
        if !rises {
            self.notices.push((t, c, Change::Lowered(1)));
        }
        if !runs {
            self.challenges(c, t);
        }
        self.start_period(t);
        if !runs {
            self.notice_entry(t, c);
        }
    }

    fn leaves_queue_for_class(&mut self, t: usize, queued: bool) {
        self.tasks[t].own.left = (self.tasks[t].weight, queued);
        if self.cfs().is_some() {
            self.tasks[t].vruntime -= self.cpus[self.tasks[t].cpu].minimum;
        }
    }

    /// How it comes back.
    fn comes_from_class(&mut self, t: usize) -> Entry {
        if self.cfs().is_some() {
            self.tasks[t].vruntime += self.cpus[self.tasks[t].cpu].minimum;
        } else if !self.tasks[t].own.left.1 {
            return Entry::Wake;
        }
        Entry::Move
    }

    /// A task in no queue has another class, and the weight in it.
    fn becomes(&mut self, t: usize, to: Scheduling) {
        let weight = self.tasks[t].own.weighs(to);
        if in_turns(to) {
            self.tasks[t].used = 0;
        }
        self.tasks[t].scheduling = to;
        (self.tasks[t].front, self.tasks[t].expired) = (false, false);
        if to.priority().is_some() {
            (self.tasks[t].weight, self.tasks[t].priority) = (weight, APART);
        } else {
            (self.tasks[t].weight, self.tasks[t].priority) = (self.tasks[t].own.left.0, 0);
            self.set_weight(t, weight);
        }
    }
}
