//! Meeting: arriving at barriers, signalling, and what a task does when its wait is over.

use crate::event::Timer;
use crate::ids::{AppId, CpuId, TaskId};
use crate::kernel::Kernel;
use crate::kernel::state::{Activity, Lead, Part, Seat, Waiting};
use crate::observe::Observer;
use crate::policy::TaskState;
use crate::sync::Turn;
use crate::time::Time;
use crate::wait::Circle;

impl<O: Observer> Kernel<'_, O> {
    /// The current task of `cpu` arrives at its barrier.
    pub(crate) fn arrive(&mut self, cpu: CpuId, mut lead: Lead) {
        let (app, seat, ..) = self.seat(self.cpus[cpu].current);
        let meeting = &self.apps[app].meetings[seat.meeting];
        let holder = meeting.is_central().then(|| self.tasks[seat.task(meeting.line_holder)].cpu);
        if holder.is_some() {
            self.charge_waiter(cpu);
        }
        let mut on = self.on(cpu);
        match on.arrive(seat, holder, &mut lead) {
            // Charged already.
            Turn::AwaitRelease if holder.is_some() => on.begin_wait(Waiting::Release, Time::NEVER, lead),
            turn => self.take_turn(cpu, turn, lead, seat),
        }
    }

    /// Where a task sits at the barrier it is at: application, seat, circle, episode.
    #[inline]
    fn seat(&self, id: TaskId) -> (AppId, Seat, Circle, u32) {
        let task = &self.tasks[id];
        (task.app, self.apps[task.app].seat(task.circle, task.rank), task.circle, task.episode())
    }

    /// Does what the barrier asks of the current task and begins the wait that follows.
    pub(crate) fn take_turn(&mut self, cpu: CpuId, turn: Turn, mut lead: Lead, seat: Seat) {
        let task = &self.tasks[self.cpus[cpu].current];
        let (app, circle, episode) = (task.app, task.circle, task.episode());
        let at = seat.meeting;
        match turn {
            Turn::Gather(ready) => self.begin_wait(cpu, Waiting::Gather, ready, lead),
            Turn::AwaitRelease => self.begin_wait(cpu, Waiting::Release, Time::NEVER, lead),
            Turn::TellParent(parent) => {
                let task = seat.task(parent);
                let visible = self.visible(cpu, task, &lead);
                self.apps[app].meetings[at].child_arrived(parent, visible);
                let ready = self.apps[app].meetings[at].gather_ready(parent);
                let other = &self.tasks[task];
                if other.waiting == Waiting::Gather && other.circle == circle && !ready.is_never() {
                    self.signal(cpu, task, Some(ready), &mut lead);
                }
                self.begin_wait(cpu, Waiting::Release, Time::NEVER, lead);
            }
            Turn::ReleaseAll => {
                let ranks = self.apps[app].meetings[at].ranks();
                for other in (0..ranks).filter(|other| *other != seat.number) {
                    self.signal(cpu, seat.task(other), None, &mut lead);
                }
                self.begin_wait(cpu, Waiting::Release, self.now + lead.total(), lead);
            }
            Turn::TellRound(partner, round) => {
                let task = seat.task(partner);
                let visible = self.visible(cpu, task, &lead);
                let meeting = &mut self.apps[app].meetings[at];
                meeting.set_flag(partner, round, episode, visible);
                let ready = meeting.flag_time(seat.number, round, episode);
                let other = &self.tasks[task];
                let together = other.circle == circle && other.episode() == episode;
                if other.waiting == Waiting::Round(round) && together {
                    self.signal(cpu, task, Some(visible), &mut lead);
                }
                self.begin_wait(cpu, Waiting::Round(round), ready, lead);
            }
            // Alone: nobody to wait for, but the flag is looked at once.
            Turn::Done => self.begin_wait(cpu, Waiting::Release, self.now + lead.total(), lead),
        }
    }

    /// Tells a neighbour and waits for the other one.
    pub(crate) fn exchange(&mut self, cpu: CpuId, shift: u32, mut lead: Lead) {
        let id = self.cpus[cpu].current;
        let (app, rank, pc) = (self.tasks[id].app, self.tasks[id].rank, self.tasks[id].pc);
        let ranks = u64::from(self.apps[app].tasks);
        let to = ((u64::from(rank) + u64::from(shift)) % ranks) as u32;
        let other = self.apps[app].task(to);
        let visible = self.visible(cpu, other, &lead);
        self.apps[app].exchanges.tell(pc, to, visible);
        let record = &self.tasks[other];
        if record.waiting == Waiting::Exchange && record.pc == pc && record.ready.is_never() {
            self.signal(cpu, other, Some(visible), &mut lead);
        }
        let ready = self.apps[app].exchanges.ready(pc, rank, self.now);
        self.begin_wait(cpu, Waiting::Exchange, ready, lead);
    }

    /// When a store made now, after `lead`, is seen by a task.
    #[inline]
    fn visible(&self, cpu: CpuId, task: TaskId, lead: &Lead) -> Time {
        self.now + lead.total() + self.machine.signal_latency(cpu, self.tasks[task].cpu)
    }

    /// Lets a waiting task know (at `visible`, or as soon as the store travels); a sleeper is woken, at the signaller's cost.
    pub(crate) fn signal(&mut self, cpu: CpuId, task: TaskId, visible: Option<Time>, lead: &mut Lead) {
        let ready = visible.unwrap_or_else(|| self.visible(cpu, task, lead));
        let other = &mut self.tasks[task];
        other.ready = ready;
        match other.state {
            TaskState::Sleeping => {
                lead.grow(Part::Kernel, self.machine.costs.wake);
                let at = self.now + lead.total();
                self.tasks[task].ready = ready.min(at);
                self.arm_pending(at, Timer::Wake(task, cpu));
                let waker = &mut self.tasks[self.cpus[cpu].current];
                waker.waker.wakes(waker.cpu_time);
            }
            TaskState::Queued | TaskState::Running => {
                let there = other.cpu;
                let polling = matches!(self.cpus[there].activity, Activity::Poll | Activity::Spin);
                if there != cpu && polling && self.sources.get(there.0 as usize) > ready {
                    self.mark(there);
                }
            }
            TaskState::Embryo | TaskState::Exited => {}
        }
    }
}
