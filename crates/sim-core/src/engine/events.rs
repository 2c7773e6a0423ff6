//! Counted events: who posts units, who takes them or waits for them, and requests from outside.
//!
//! Who waits for units polls and sleeps as at an exchange. A post gives units to those who wait, first come
//! first served, and signals each as the release of a barrier does. A request from outside is a post at no
//! cpu's expense: who sleeps wakes as by a timer, who polls sees it at once.

use crate::engine::Engine;
use crate::engine::shared::Shared;
use crate::engine::state::{Activity, Armed, Waiting};
use crate::ids::{CpuId, EventId, TaskId};
use crate::policy::{Policy, TaskState};
use crate::program::Op;
use crate::time::Time;

impl Shared<'_> {
    /// A task begins to wait for a unit of an event and goes on.
    pub(super) fn arm(&mut self, id: TaskId, event: EventId) {
        self.objects.events[event].wait(id, 1);
        let task = &mut self.tasks[id];
        task.history.armed = Armed::Queued;
        task.pc += 1;
    }

    /// A task gets what it waits for; true when it must be told. `unit`: see
    /// [`Event::take`](crate::counted::Event::take).
    fn gets(&mut self, id: TaskId, unit: Time) -> bool {
        let task = &mut self.tasks[id];
        if !unit.is_never() {
            task.history.woken = unit;
        }
        let waits = task.waiting == Waiting::Event;
        if !waits {
            task.history.armed = Armed::Granted;
        }
        waits
    }

    /// A task has got units of an event, or has met the others there, and goes on.
    pub(crate) fn passes_event(&mut self, id: TaskId) {
        let task = &mut self.tasks[id];
        let app = &mut self.apps[task.app()];
        if let Some(waits) = &mut app.waits
            && let Some(Op::Take { event, .. }) = app.program.ops().get(usize::from(task.pc))
            && self.objects.events[*event].is_stamped()
        {
            waits.add(self.now.since(task.history.woken));
        }
        task.pc += 1;
    }
}

impl Engine<'_> {
    /// The current task adds units to an event, which those get who wait for them; what is left stays or is
    /// lost.
    pub(super) fn post(&mut self, cpu: CpuId, event: EventId, (count, kept): (u32, bool)) {
        self.shared.tasks[self.cpus[cpu].current].pc += 1;
        let at = self.cpus[cpu].cursor(self.shared.now);
        self.shared.objects.events[event].post(count, at);
        while let Some((task, unit)) = self.shared.objects.events[event].grant() {
            if self.shared.gets(task, unit) {
                self.signal(cpu, task, None);
            }
        }
        if !kept {
            self.shared.objects.events[event].lose();
        }
    }

    /// The current task takes units of an event or begins to wait for them; true when it waits.
    pub(super) fn take(&mut self, cpu: CpuId, event: EventId, count: u32) -> bool {
        let id = self.cpus[cpu].current;
        if self.shared.objects.events[event].is_stamped() {
            self.shared.end_response(id);
        }
        match std::mem::replace(&mut self.shared.tasks[id].history.armed, Armed::No) {
            Armed::Granted => {
                self.shared.passes_event(id);
                return false;
            }
            Armed::Queued => {}
            Armed::No => {
                if let Some(unit) = self.shared.objects.events[event].take(count) {
                    if !unit.is_never() {
                        self.shared.tasks[id].history.woken = unit;
                    }
                    self.shared.passes_event(id);
                    return false;
                }
                self.shared.objects.events[event].wait(id, count);
            }
        }
        self.begin_wait(cpu, Waiting::Event, Time::NEVER);
        true
    }

    /// The current task meets others, as the last one, or begins to wait for them; true when it waits.
    pub(super) fn meet(&mut self, cpu: CpuId, event: EventId, parties: u32) -> bool {
        let id = self.cpus[cpu].current;
        if !self.shared.objects.events[event].meet(id, parties) {
            self.begin_wait(cpu, Waiting::Event, Time::NEVER);
            return true;
        }
        while let Some(other) = self.shared.objects.events[event].next_met() {
            if self.shared.gets(other, Time::NEVER) {
                self.signal(cpu, other, None);
            }
        }
        self.shared.passes_event(id);
        false
    }

    /// The next request of a source comes.
    pub(super) fn request_comes(&mut self, number: u32, policy: &mut dyn Policy) {
        let objects = &mut self.shared.objects;
        let flow = &mut objects.sources[number as usize];
        flow.came += 1;
        let event = flow.source.event;
        let room = flow.source.places.is_none_or(|places| objects.events[places].take(1).is_some());
        if room {
            objects.events[event].post(1, self.shared.now);
            while let Some((task, unit)) = self.shared.objects.events[event].grant() {
                if self.shared.gets(task, unit) {
                    self.tell(task, policy);
                }
            }
        } else {
            flow.lost += 1;
        }
        self.shared.objects.sources[number as usize].arm(number, &mut self.timers);
    }

    /// A task that waits observes the end of its wait from now on, and wakes as by a timer if it sleeps.
    fn tell(&mut self, id: TaskId, policy: &mut dyn Policy) {
        let now = self.shared.now;
        let task = &mut self.shared.tasks[id];
        let (there, state) = (task.cpu, task.state);
        task.set_ready(now);
        self.shared.watch.note(there);
        if state == TaskState::Sleeping {
            return self.wake(id, there, policy);
        }
        let polling = matches!(self.cpus[there].activity, Activity::Poll | Activity::Spin);
        if polling && self.shared.sources.get(there.0 as usize) > now {
            self.shared.rounds.mark(there);
        }
    }
}
