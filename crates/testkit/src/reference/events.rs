//! What programs share on the reference engine: counted events as plain lists of who waits, devices as lists
//! of servers, sources of requests; and the clocks of tasks.

use sim_core::ids::{DeviceId, EventId, TaskId};
use sim_core::policy::{Policy, System, TaskState, Why};
use sim_core::program::{Change, Scheduling, Spread};
use sim_core::time::Span;

use super::state::{NEVER, OnReturn, Overhead, Waiting};
use super::{Reference, Timer};

impl Reference<'_> {
    /// Who of those in the line of an event gets what it wants now, if the first one does.
    fn next_granted(&mut self, event: usize) -> Option<usize> {
        let record = &mut self.objects.events[event];
        let (t, wants) = *record.line.first()?;
        if wants > record.value {
            return None;
        }
        record.line.remove(0);
        record.value -= wants;
        self.tasks[t].event.instant = record.stamps.as_mut().map(|stamps| stamps.remove(0));
        self.tasks[t].event.granted = true;
        Some(t)
    }

    /// The current task adds units to an event, and pays for waking those who get them.
    pub(super) fn post(&mut self, c: usize, event: EventId, count: u32, kept: bool, overhead: &mut Overhead) {
        let event = event.0 as usize;
        let at = self.now + overhead.total();
        let record = &mut self.objects.events[event];
        record.value = record.value.saturating_add(count);
        if let Some(stamps) = &mut record.stamps {
            stamps.push(at);
        }
        while let Some(t) = self.next_granted(event) {
            // Who has only begun to wait finds it.
            if self.tasks[t].waiting == Waiting::Event {
                let seen = self.seen_at(c, t, overhead);
                self.signal(c, t, seen, overhead);
            }
        }
        if !kept {
            self.objects.events[event].value = 0;
        }
    }

    /// The current task takes units (true) or begins to wait for them.
    pub(super) fn take(
        &mut self,
        c: usize,
        t: usize,
        event: EventId,
        count: u32,
        overhead: Overhead,
    ) -> bool {
        if self.objects.is_stamped(event) {
            self.responded(t);
        }
        let event = event.0 as usize;
        if self.tasks[t].event.armed.take() == Some(event) {
            if self.tasks[t].event.granted {
                self.has_taken(t);
                return true;
            }
            self.wait(c, Waiting::Event, NEVER, overhead);
            return false;
        }
        let record = &mut self.objects.events[event];
        if record.line.is_empty() && record.value >= count {
            record.value -= count;
            self.tasks[t].event.instant = record.stamps.as_mut().map(|stamps| stamps.remove(0));
            self.has_taken(t);
            return true;
        }
        record.line.push((t, count));
        self.wait(c, Waiting::Event, NEVER, overhead);
        false
    }

    /// A task has what it waited for, and goes on.
    pub(super) fn has_taken(&mut self, t: usize) {
        self.tasks[t].event.granted = false;
        self.tasks[t].pc += 1;
        let Some(instant) = self.tasks[t].event.instant.take() else { return };
        self.tasks[t].event.woken = Some(instant);
        let app = &mut self.apps[self.tasks[t].app];
        if app.spec.requests {
            app.waits.add(Span::from_ns(self.now.saturating_sub(instant)));
        }
    }

    /// A task begins to wait for a unit, and goes on.
    pub(super) fn begin_to_wait(&mut self, t: usize, event: EventId) {
        let event = event.0 as usize;
        self.objects.events[event].line.push((t, 1));
        self.tasks[t].event.armed = Some(event);
        self.tasks[t].pc += 1;
    }

    /// The current task is the last one to come to a meeting (true), or waits there.
    pub(super) fn meet(
        &mut self,
        c: usize,
        t: usize,
        event: EventId,
        parties: u32,
        overhead: &mut Overhead,
    ) -> bool {
        let record = &mut self.objects.events[event.0 as usize];
        record.value += 1;
        if record.value != parties {
            record.line.push((t, 0));
            self.wait(c, Waiting::Event, NEVER, *overhead);
            return false;
        }
        record.value = 0;
        for (other, _) in std::mem::take(&mut record.line) {
            let seen = self.seen_at(c, other, overhead);
            self.signal(c, other, seen, overhead);
        }
        self.tasks[t].pc += 1;
        true
    }

    /// The current task enters the call that waits for the next instant of one of its clocks.
    pub(super) fn until(
        &mut self,
        c: usize,
        t: usize,
        clock: (u8, Span, Span),
        skips: bool,
        overhead: Overhead,
    ) {
        let (clock, first, period) = clock;
        self.responded(t);
        let app = &mut self.apps[self.tasks[t].app];
        let mut at = match self.tasks[t].event.clocks.get(&clock) {
            None => self.tasks[t].event.begun.unwrap_or(app.begun).saturating_add(first.ns()),
            Some(before) => before.saturating_add(period.ns()),
        };
        while skips && at < self.now {
            at = at.saturating_add(period.ns());
            app.counters.skipped += 1;
        }
        self.tasks[t].event.clocks.insert(clock, at);
        self.call(c, self.machine.costs.sleep.ns(), OnReturn::Until(at), overhead);
    }

    /// That call ends.
    pub(super) fn instant_comes(&mut self, c: usize, t: usize, at: u64, policy: &mut dyn Policy) {
        self.tasks[t].pc += 1;
        self.tasks[t].event.woken = Some(at);
        if at > self.now {
            self.sleep(c, t, Some(at - self.now));
            return;
        }
        self.cpus[c].resched |= self.watches.releases && self.by_policy();
        let sliced = self.cpus[c].resched || self.cpus[c].slice_over;
        if sliced && self.reschedule(c, t, policy) {
            return;
        }
        let overhead = self.take_deferred(c);
        self.proceed(c, overhead, policy);
    }

    /// The current task enters the call that gives work to a device.
    pub(super) fn io(
        &mut self,
        c: usize,
        t: usize,
        device: DeviceId,
        length: (Span, Spread),
        overhead: Overhead,
    ) {
        let length = self.vary(t, length.0.ns(), length.1).max(1);
        let call = OnReturn::Io(device.0 as usize, length);
        self.call(c, self.machine.costs.sleep.ns(), call, overhead);
    }

    /// That call ends: the first server that is free works next.
    pub(super) fn served(&mut self, c: usize, t: usize, device: usize, length: u64) {
        self.tasks[t].pc += 1;
        let now = self.now;
        let record = &mut self.objects.devices[device];
        if let Some(free) = record.servers.iter_mut().min_by_key(|free| **free) {
            let begins = now.max(*free);
            *free = begins.saturating_add(length);
            let end = *free;
            record.report.served += 1;
            record.report.busy_ns += length;
            record.report.waited_ns += begins - now;
            self.sleep(c, t, Some(end - now));
        }
    }

    /// A request comes from outside; then the next one of its source is on its way.
    pub(super) fn request(&mut self, number: usize, policy: &mut dyn Policy) {
        let source = &mut self.objects.sources[number];
        source.report.came += 1;
        let (event, places) = (source.spec.event.0 as usize, source.spec.places);
        let place = places.map(|places| &mut self.objects.events[places.0 as usize]);
        let free = place.is_none_or(|place| {
            let free = place.value > 0 && place.line.is_empty();
            place.value -= u32::from(free);
            free
        });
        if free {
            self.post_from_outside(event, policy);
        } else {
            self.objects.sources[number].report.lost += 1;
        }
        if let Some(at) = self.objects.next_request(number) {
            self.arm(at, Timer::Request(number));
        }
    }

    fn post_from_outside(&mut self, event: usize, policy: &mut dyn Policy) {
        let now = self.now;
        let record = &mut self.objects.events[event];
        record.value = record.value.saturating_add(1);
        if let Some(stamps) = &mut record.stamps {
            stamps.push(now);
        }
        while let Some(t) = self.next_granted(event) {
            if self.tasks[t].waiting != Waiting::Event {
                continue;
            }
            self.tasks[t].ready = now;
            if self.tasks[t].state == TaskState::Sleeping {
                self.wake(t, self.tasks[t].cpu, policy);
            }
        }
    }

    /// The current task changes how it is scheduled; false when it has lost its cpu by that.
    pub(super) fn change_itself(&mut self, c: usize, t: usize, number: u16, overhead: &mut Overhead) -> bool {
        self.tasks[t].pc += 1;
        let program = self.apps[self.tasks[t].app].spec.program.clone();
        match &program.changes()[usize::from(number)] {
            Change::Weight(weight) => {
                let scheduling = self.tasks[t].scheduling;
                let counts = self.notes_nice(t, *weight, false);
                if counts && scheduling != Scheduling::Idle && !scheduling.is_real_time() {
                    let present = self.tasks[t].weight;
                    self.tasks[t].event.weight_before.get_or_insert(present);
                    self.weigh(t, *weight);
                }
                true
            }
            Change::Class(scheduling) => {
                self.change_class(t, *scheduling);
                true
            }
            Change::Cpus(cpus) => {
                let present = self.tasks[t].affinity.clone();
                self.tasks[t].event.cpus_before.get_or_insert(present);
                // What it has not paid yet is work of the cpu if it leaves.
                self.cpus[c].since = self.now;
                self.cpus[c].overhead = std::mem::take(overhead);
                self.masked(t, cpus);
                self.bind_one(t, &std::sync::Arc::new(cpus.clone()));
                if self.cpus[c].current != Some(t) {
                    return false;
                }
                *overhead = std::mem::take(&mut self.cpus[c].overhead);
                true
            }
        }
    }
    /// A new process in the place of a task knows no clock yet, and has changed nothing.
    pub(super) fn renew(&mut self, t: usize) {
        let event = &mut self.tasks[t].event;
        event.clocks.clear();
        event.begun = Some(self.now);
        let (weight, cpus) = (event.weight_before.take(), event.cpus_before.take());
        if let Some(weight) = weight {
            self.weigh(t, weight);
        }
        if let Some(cpus) = cpus {
            self.set_affinity(TaskId(t as u32), cpus, Why::NONE);
        }
        self.renew_class(t);
    }
}
