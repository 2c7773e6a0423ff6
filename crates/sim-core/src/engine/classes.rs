//! Tasks change their scheduling class or their priority (`__sched_setscheduler`, `rt_mutex_setprio`).
//!
//! A task that is queued or runs leaves its queue, changes, and enters again on the same cpu. Within the
//! real-time class it goes behind its equals when it rises and before them when it falls (`ENQUEUE_HEAD`). A
//! task that runs and rises keeps its cpu. One that falls loses it to a better one that waits, and its cpu
//! pulls; as it leaves the class, the cpu picks again in any case (`switched_to_fair`). A change takes no
//! time of its own.
//!
//! Deviations: under CFS a task that leaves the class starts at its distance from the minimum of the queue
//! that it left (`dequeue_entity`, from 2.6.38 on), and at the minimum if it slept then; the rest of a turn
//! of `SCHED_RR` is lost while a task is of another policy.

use crate::engine::commands::change_weight;
use crate::engine::{Change, Engine};
use crate::ids::{CpuId, TaskId};
use crate::observe::LeaveReason;
use crate::policy::TaskState;
use crate::program::Scheduling;
use crate::run_queue::real_time::{OTHERS, Phase, is_of_class, rank};
use crate::run_queue::{self, Entry, Picked, Rules, list};

/// What the pull of a cpu compares with when its last task has left the class: any other one is better.
const LAST: i64 = 98;

impl Engine<'_> {
    /// A task is scheduled in another way from now on.
    pub(super) fn reclass(&mut self, id: TaskId, to: Scheduling) {
        let from = self.shared.tasks[id].history.scheduling;
        if from == to {
            return;
        }
        let class = Scheduling::is_real_time;
        let queued = matches!(self.shared.tasks[id].state, TaskState::Queued | TaskState::Running);
        match (class(from), class(to)) {
            (false, false) => self.change_policy(id, to),
            (true, true) => self.change_priority_of(id, to, queued),
            (rises, _) if queued => self.cross(id, to, !rises),
            (false, true) => {
                if self.shared.tasks[id].history.delayed {
                    self.end_delay(id);
                }
                self.leave_fair(id, false);
                self.set_class(id, to);
                self.shared.tasks[id].vruntime = 0;
            }
            (true, false) => {
                self.set_class(id, to);
                self.enter_fair(id, false);
            }
        }
    }

    /// Between the policies of the discipline: it enters anew with another weight.
    fn change_policy(&mut self, id: TaskId, to: Scheduling) {
        let (task, weight) = (&self.shared.tasks[id], self.shared.classes[id].weight_as(to));
        let (cpu, before) = (task.cpu, task.weight);
        let runnable = matches!(task.state, TaskState::Queued | TaskState::Running);
        let scales = self.shared.model.discipline.scales_requests();
        self.change(id, &|tasks, _| {
            tasks[id].history.scheduling = to;
            change_weight(&mut tasks[id], weight, scales);
        });
        if runnable {
            self.reload(cpu, before, weight);
        }
    }

    /// Within the real-time class.
    fn change_priority_of(&mut self, id: TaskId, to: Scheduling, queued: bool) {
        let before = rank(&self.shared.tasks[id]);
        let cpu = self.shared.tasks[id].cpu;
        let runs = self.cpus[cpu].current == id;
        if queued {
            self.catch_up(cpu);
            self.shared.rounds.mark(cpu);
        }
        let (tasks, record) = (&mut self.shared.tasks, &mut self.cpus[cpu]);
        if to.takes_turns() && !tasks[id].history.scheduling.takes_turns() {
            tasks[id].history.share.used = 0;
        }
        let after = 99 - i64::from(to.priority().unwrap_or(0));
        if !queued || before == after {
            tasks[id].history.scheduling = to;
            return;
        }
        if runs {
            tasks[id].history.scheduling = to;
            let waiting = || list(tasks, record.head).filter(|other| is_of_class(&tasks[*other]));
            let behind = after < before && waiting().any(|other| rank(&tasks[other]) == after);
            record.resched |= waiting().any(|other| rank(&tasks[other]) < after);
            tasks[id].history.share.expired = behind;
            if after > before {
                self.notices.push((id, cpu, Change::Lowered(before)));
            }
            return;
        }
        run_queue::remove(tasks, record, id);
        tasks[id].history.scheduling = to;
        (tasks[id].history.share.front, tasks[id].history.share.expired) = (after > before, false);
        self.shared.model.discipline.insert(tasks, record, id);
        self.shared.watch.note(cpu);
        if after < before {
            self.compete_anew(id, cpu);
        }
    }

    /// A task that is queued or runs enters the real-time class (`rises`), or leaves it.
    fn cross(&mut self, id: TaskId, to: Scheduling, rises: bool) {
        let (cpu, before) = (self.shared.tasks[id].cpu, self.shared.tasks[id].weight);
        let runs = self.cpus[cpu].current == id;
        self.catch_up(cpu);
        self.shared.rounds.mark(cpu);
        self.frees(id, cpu);
        let now = self.shared.now;
        let (discipline, record) = (&self.shared.model.discipline, &mut self.cpus[cpu]);
        discipline.leave(&mut self.shared.tasks, record, id, LeaveReason::Moved, now);
        if runs {
            record.current = TaskId::NONE;
        } else {
            run_queue::remove(&mut self.shared.tasks, record, id);
        }
        run_queue::cfs::forget(record, id);
        if rises {
            self.leave_fair(id, true);
        }
        self.set_class(id, to);
        let after = self.shared.tasks[id].weight;
        self.reload(cpu, before, after);
        let entry = self.enter_fair(id, rises);
        self.uses(id, cpu);
        let (discipline, record) = (&self.shared.model.discipline, &mut self.cpus[cpu]);
        let tasks = &mut self.shared.tasks;
        discipline.place(tasks, record, id, entry, now);
        if runs {
            record.current = id;
            record.picked = now;
            let equal = |other| is_of_class(&tasks[other]) && rank(&tasks[other]) == rank(&tasks[id]);
            tasks[id].history.share.expired = rises && list(tasks, record.head).any(equal);
            discipline.picked(tasks, record, Picked::Anew(now));
            record.resched |= !rises || record.rare.class.phase() != Phase::First;
        } else {
            discipline.insert(tasks, record, id);
            discipline.advance_minimum(tasks, record);
        }
        self.shared.watch.note(cpu);
        if !rises {
            self.notices.push((id, cpu, Change::Lowered(LAST)));
        }
        if !runs {
            self.compete_anew(id, cpu);
        }
        self.begin_class_period(id);
        if !runs {
            self.note_entered(id, cpu);
        }
    }

    /// A task leaves the discipline for the real-time class: it remembers where it was. `queued`: it was in
    /// a queue.
    fn leave_fair(&mut self, id: TaskId, queued: bool) {
        let task = &mut self.shared.tasks[id];
        let own = &mut self.shared.classes[id];
        (own.weight_left, own.request_left) = (task.weight, queued);
        if self.shared.model.discipline.has_relative_keys() {
            task.vruntime -= self.cpus[task.cpu].min_vruntime;
        }
    }

    /// How a task enters the queue of its cpu after a change of its class.
    fn enter_fair(&mut self, id: TaskId, rises: bool) -> Entry {
        if rises {
            return Entry::Move;
        }
        let task = &mut self.shared.tasks[id];
        task.priority = OTHERS;
        if self.shared.model.discipline.has_relative_keys() {
            task.vruntime += self.cpus[task.cpu].min_vruntime;
            return Entry::Move;
        }
        if self.shared.classes[id].request_left { Entry::Move } else { Entry::Wake }
    }

    /// A task, in no queue, gets a class and the weight in it.
    fn set_class(&mut self, id: TaskId, to: Scheduling) {
        let scales = self.shared.model.discipline.scales_requests();
        let (own, task) = (&self.shared.classes[id], &mut self.shared.tasks[id]);
        let weight = own.weight_as(to);
        if to.takes_turns() {
            task.history.share.used = 0;
        }
        task.history.scheduling = to;
        // Where it stood among its equals is of no meaning in another class.
        (task.history.share.front, task.history.share.expired) = (false, false);
        if to.is_real_time() {
            task.weight = weight;
        } else {
            task.weight = own.weight_left;
            change_weight(task, weight, scales);
        }
    }

    fn reload(&mut self, cpu: CpuId, before: u32, after: u32) {
        let record = &mut self.cpus[cpu];
        record.load = record.load - u64::from(before) + u64::from(after);
    }

    /// A waiting task has changed: it may take the cpu from the current one.
    fn compete_anew(&mut self, id: TaskId, cpu: CpuId) {
        let (discipline, record) = (&self.shared.model.discipline, &mut self.cpus[cpu]);
        if !record.current.is_none() {
            record.resched |= discipline.takes_cpu(&mut self.shared.tasks, record, id, self.shared.now);
        }
    }
}
