//! Barriers and exchanges between neighbours: arrivals, signals, and the wait that follows.

use crate::engine::Engine;
use crate::engine::invariants::violated;
use crate::engine::state::{Activity, BarrierRank, Part, Waiting};
use crate::event::Timer;
use crate::ids::{AppId, CpuId, TaskId};
use crate::policy::TaskState;
use crate::program::Partners;
use crate::run_queue::Rules;
use crate::sync::BarrierStep;
use crate::time::{Span, Time};

impl Engine<'_> {
    /// The current task of `cpu` arrives at its barrier.
    pub(crate) fn arrive(&mut self, cpu: CpuId) {
        let id = self.cpus[cpu].current;
        let task = &self.shared.tasks[id];
        let app = &self.shared.apps[task.app()];
        let rank = app.barrier_rank(task.scope(), app.rank(id));
        let step = self.shared.arrive(&mut self.cpus[cpu], rank);
        self.barrier_step(cpu, step, rank);
    }

    /// Performs the next step of the current task at its barrier and begins the wait that follows. A part of
    /// its two callers, like what it calls: dissemination takes 300 instructions less per step.
    #[inline(always)]
    pub(crate) fn barrier_step(&mut self, cpu: CpuId, step: BarrierStep, rank: BarrierRank) {
        let task = &self.shared.tasks[self.cpus[cpu].current];
        debug_assert!(
            task.waiting == Waiting::No,
            "a task on {cpu} enters a barrier and waits ({:?})",
            task.waiting
        );
        let (app, scope, episode) = (task.app(), task.scope(), task.episode);
        let at = rank.barrier;
        let (waiting, ready) = match step {
            BarrierStep::Gather(ready) => (Waiting::Gather, ready),
            BarrierStep::AwaitRelease => (Waiting::Release, Time::NEVER),
            BarrierStep::NotifyParent(parent) => {
                let task = rank.task(parent);
                let visible = self.shared.visible(&self.cpus[cpu], task);
                self.shared.apps[app].barriers[at].child_arrived(parent, visible);
                let ready = self.shared.apps[app].barriers[at].gather_ready(parent);
                let other = &self.shared.tasks[task];
                if other.waiting == Waiting::Gather && other.scope() == scope && !ready.is_never() {
                    self.signal(cpu, task, Some(ready));
                }
                let past = self.shared.apps[app].barriers[at].gathers();
                (Waiting::Release, if past { self.cpus[cpu].cursor(self.shared.now) } else { Time::NEVER })
            }
            BarrierStep::ReleaseAll => {
                let ranks = self.shared.apps[app].barriers[at].ranks();
                for other in (0..ranks).filter(|other| *other != rank.number) {
                    self.signal(cpu, rank.task(other), None);
                }
                (Waiting::Release, self.cpus[cpu].cursor(self.shared.now))
            }
            BarrierStep::NotifyPartner(partner, round) => {
                let task = rank.task(partner);
                let visible = self.shared.visible(&self.cpus[cpu], task);
                let barrier = &mut self.shared.apps[app].barriers[at];
                barrier.set_flag(partner, round, episode, visible);
                let ready = barrier.flag_time(rank.number, round, episode);
                let other = &self.shared.tasks[task];
                let together = other.scope() == scope && other.episode == episode;
                if other.waiting == Waiting::Round(round as u8) && together {
                    self.signal(cpu, task, Some(visible));
                }
                (Waiting::Round(round as u8), ready)
            }
            // A rank that is alone, or that all of its team have joined, polls the flag once.
            BarrierStep::Done => (Waiting::Release, self.cpus[cpu].cursor(self.shared.now)),
        };
        self.begin_wait(cpu, waiting, ready);
    }

    /// Signals one neighbour and waits for the other one.
    pub(crate) fn exchange(&mut self, cpu: CpuId, shift: u32) {
        let id = self.cpus[cpu].current;
        let (app, pc) = (self.shared.tasks[id].app(), self.shared.tasks[id].pc);
        let rank = self.shared.apps[app].rank(id);
        let ranks = u64::from(self.shared.apps[app].tasks);
        let to = ((u64::from(rank) + u64::from(shift)) % ranks) as u32;
        self.tell_rank(cpu, (app, pc), to);
        let ready = self.shared.apps[app].exchanges.ready(pc.into(), rank, self.shared.now);
        self.begin_wait(cpu, Waiting::Exchange, ready);
    }

    /// Signals one rank if the current task is to, and waits for another one if it is to: then true.
    pub(crate) fn message(&mut self, cpu: CpuId, with: Partners) -> bool {
        let id = self.cpus[cpu].current;
        let (app, pc) = (self.shared.tasks[id].app(), self.shared.tasks[id].pc);
        let (rank, ranks) = self.shared.apps[app].number(id);
        let team = self.shared.apps[app].team;
        if let Some(to) = rank.and_then(|rank| with.to(rank, ranks)) {
            self.tell_rank(cpu, (app, pc), to * team);
        }
        if rank.and_then(|rank| with.from(rank, ranks)).is_none() {
            self.shared.tasks[id].pc += 1;
            return false;
        }
        let rank = self.shared.apps[app].rank(id);
        let ready = self.shared.apps[app].exchanges.ready(pc.into(), rank, self.shared.now);
        self.begin_wait(cpu, Waiting::Exchange, ready);
        true
    }

    /// Signals a rank at the operation of the current task. A part of its callers, one of which is frequent.
    #[inline(always)]
    fn tell_rank(&mut self, cpu: CpuId, (app, pc): (AppId, u16), to: u32) {
        let other = self.shared.apps[app].task(to);
        let visible = self.shared.visible(&self.cpus[cpu], other);
        self.shared.apps[app].exchanges.notify(pc.into(), to, visible);
        let record = &self.shared.tasks[other];
        if record.waiting == Waiting::Exchange && record.pc == pc && record.ready().is_never() {
            self.signal(cpu, other, Some(visible));
        }
    }

    /// What a cpu pays to wake a task of another one, if it sends an interrupt there: that cpu is idle, and
    /// no wake-up is on its way to it. A busy cpu finds the task in its queue, and an interrupt in flight
    /// wakes all that have been put on its list by then (kernel/sched/core.c, `ttwu_queue_cond`,
    /// `__ttwu_queue_wakelist`, `resched_curr`; before 5.8 `try_to_wake_up` and `resched_task` likewise).
    fn price_of_interrupt(&self, cpu: CpuId, there: CpuId) -> Option<Span> {
        let (record, now) = (&self.cpus[there], self.shared.now);
        let interrupts = there != cpu && record.current.is_none() && now >= record.rare.woken;
        interrupts.then(|| self.shared.machine.costs.wake_remote_after(now.since(record.picked)))
    }

    /// Signals a waiting task. It observes the signal at `visible`, or else when the store reaches its cpu.
    /// The signaller pays to wake a sleeper.
    pub(crate) fn signal(&mut self, cpu: CpuId, task: TaskId, visible: Option<Time>) {
        let ready = visible.unwrap_or_else(|| self.shared.visible(&self.cpus[cpu], task));
        let other = &mut self.shared.tasks[task];
        debug_assert!(other.waiting != Waiting::No, "{task} is signalled from {cpu} and waits for nothing");
        debug_assert!(ready >= self.shared.now, "{task} observes a signal at {ready:?}, before it is sent");
        other.set_ready(ready);
        self.shared.watch.note(other.cpu);
        match other.state {
            TaskState::Sleeping => {
                let there = other.cpu;
                let wake = self.shared.machine.costs.wake;
                let price = self.price_of_interrupt(cpu, there).unwrap_or(wake);
                let until_effect = price.min(wake);
                self.cpus[cpu].pend(Part::Kernel, until_effect);
                let at = self.cpus[cpu].cursor(self.shared.now);
                if there != cpu {
                    let woken = &mut self.cpus[there].rare.woken;
                    *woken = at.max(*woken);
                }
                self.cpus[cpu].pend(Part::Kernel, price - until_effect);
                self.shared.tasks[task].set_ready(ready.min(at));
                self.timers.arm(at, Timer::Wake(task, cpu));
                if self.shared.reports.wants_sleeps() {
                    self.shared.report_waker(self.cpus[cpu].current, task);
                }
                if self.shared.model.discipline.keeps_history() {
                    let waker = &mut self.shared.tasks[self.cpus[cpu].current];
                    waker.history.waker.wakes(waker.cpu_time);
                }
            }
            TaskState::Queued | TaskState::Running => {
                let there = other.cpu;
                if there == cpu || self.shared.rounds.is_marked(there) {
                    return;
                }
                let polling = matches!(self.cpus[there].activity, Activity::Poll | Activity::Spin);
                if polling && self.shared.sources.get(there.0 as usize) > ready {
                    self.shared.rounds.mark(there);
                }
            }
            TaskState::New | TaskState::Exited => {
                violated(task, cpu, "is signalled from there and does not exist");
            }
        }
    }
}
