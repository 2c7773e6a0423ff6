//! What a task does next when an operation is over.

use sim_core::observe::LeaveReason;
use sim_core::policy::{Awaited, Policy, TaskState};
use sim_core::program::{MemoryProfile, Op, Pages, Spread, TransferOrder};
use sim_core::rng;
use sim_core::time::{Span, Time, Work};
use sim_core::wait::Scope;

use super::Reference;
use super::state::{Activity, NEVER, OnReturn, Overhead, Waiting};

impl Reference<'_> {
    /// The current task goes on with its program after `overhead`, up to the next operation that takes time.
    pub(super) fn proceed(&mut self, c: usize, mut overhead: Overhead, policy: &mut dyn Policy) {
        let Some(t) = self.cpus[c].current else { return };
        let app = self.tasks[t].app;
        if !self.tasks[t].up && self.starts_up(c, t, overhead, policy) {
            return;
        }
        let program = self.apps[app].spec.program.clone();
        while let Some(op) = program.ops().get(self.tasks[t].pc) {
            let goes_on = match *op {
                Op::LeadersBarrier if !self.tasks[t].rank.is_multiple_of(self.team(app)) => {
                    self.tasks[t].pc += 1;
                    true
                }
                Op::StartClock => {
                    self.tasks[t].pc += 1;
                    let first = self.apps[app].clock.unwrap_or(self.now);
                    self.apps[app].clock = Some(first);
                    true
                }
                Op::RepeatShared(passes) => {
                    self.next_pass(t, passes);
                    true
                }
                Op::Repeat(_) | Op::End => {
                    self.turn_of_loop(t, *op);
                    true
                }
                Op::Lock(lock) => self.lock(c, t, lock, &mut overhead),
                Op::Unlock(lock) => {
                    self.tasks[t].pc += 1;
                    self.unlock(c, t, lock, &mut overhead);
                    true
                }
                Op::Compute { work, spread, profile } => {
                    self.tasks[t].pc += 1;
                    let profile = program.profiles()[profile.0 as usize];
                    self.work(c, t, work, spread, profile, overhead)
                }
                Op::Serial { work, spread, profile } => {
                    self.tasks[t].pc += 1;
                    let profile = program.profiles()[profile.0 as usize];
                    // Nobody but rank 0 has anything to do.
                    self.tasks[t].rank > 0 || self.work(c, t, work, spread, profile, overhead)
                }
                Op::Transfer { block, order } => self.transfer(c, t, block, order, overhead),
                Op::Post { .. } | Op::Take { .. } | Op::Arm(_) | Op::Meet { .. } | Op::Set(_) => {
                    self.shared_op(c, t, *op, &mut overhead)
                }
                Op::Work(pool) => self.work_in(c, t, pool, &mut overhead),
                Op::Message(with) => self.message(c, t, with, &mut overhead),
                Op::Branch { .. } | Op::Jump(_) | Op::Lead(_) | Op::Apart { .. } | Op::Done => {
                    self.pass(t, *op);
                    true
                }
                _ => {
                    self.begin_waiting_op(c, t, *op, overhead);
                    false
                }
            };
            if !goes_on {
                return;
            }
        }
        self.exit(c, t, policy);
    }

    /// Begins an operation that always takes time.
    fn begin_waiting_op(&mut self, c: usize, t: usize, op: Op, overhead: Overhead) {
        let costs = &self.machine.costs;
        let (sleep, yielding) = (costs.sleep.ns(), costs.yield_call.ns().max(1));
        match op {
            Op::Barrier => self.arrive(c, t, Scope::All, overhead),
            Op::TeamBarrier => self.arrive(c, t, Scope::Team, overhead),
            Op::Join => self.arrive(c, t, Scope::Join, overhead),
            Op::LeadersBarrier => self.arrive(c, t, Scope::Leaders, overhead),
            Op::Respawn => {
                self.responded(t);
                self.call(c, self.machine.costs.fork.ns().max(1), OnReturn::Respawn, overhead);
            }
            Op::Exchange { shift } => self.exchange(c, t, shift, overhead),
            Op::Until { clock, first, period, skips } => {
                self.until(c, t, (clock, first, period), skips, overhead);
            }
            Op::Io { device, span, spread } => self.io(c, t, device, (span, spread), overhead),
            Op::Sleep { span, spread } => {
                if self.naps_answer(t) {
                    self.responded(t);
                }
                let nap = self.vary(t, span.ns(), spread).max(1);
                self.call(c, sleep, OnReturn::Nap(nap), overhead);
            }
            _ => self.call(c, yielding, OnReturn::Yield, overhead),
        }
    }

    /// An operation on what the programs share, or a change: true when the task goes on.
    fn shared_op(&mut self, c: usize, t: usize, op: Op, overhead: &mut Overhead) -> bool {
        match op {
            Op::Post { event, count, kept } => {
                self.tasks[t].pc += 1;
                self.post(c, event, count, kept, overhead);
                true
            }
            Op::Take { event, count } => self.take(c, t, event, count, *overhead),
            Op::Arm(event) => {
                self.begin_to_wait(t, event);
                true
            }
            Op::Meet { event, parties } => self.meet(c, t, event, parties, overhead),
            Op::Set(number) => self.change_itself(c, t, number, overhead),
            _ => unreachable!("an operation of the program alone"),
        }
    }

    /// Goes on elsewhere, or ends a response.
    fn pass(&mut self, t: usize, op: Op) {
        match op {
            Op::Branch { share, to } => {
                let draw = self.draw(t);
                let next = self.tasks[t].pc + 1;
                self.tasks[t].pc = if draw < share { usize::from(to) } else { next };
            }
            Op::Jump(to) => self.tasks[t].pc = usize::from(to),
            Op::Lead(to) => {
                let (app, rank) = (self.tasks[t].app, self.tasks[t].rank);
                let leads = rank % self.team(app) == 0;
                self.tasks[t].pc = if leads { self.tasks[t].pc + 1 } else { usize::from(to) };
            }
            Op::Apart { with, tells, to } => {
                let stays = self.has_partner(t, with, tells);
                self.tasks[t].pc = if stays { self.tasks[t].pc + 1 } else { usize::from(to) };
            }
            _ => {
                self.tasks[t].pc += 1;
                self.responded(t);
            }
        }
    }

    fn turn_of_loop(&mut self, t: usize, op: Op) {
        let program = self.apps[self.tasks[t].app].spec.program.clone();
        let task = &mut self.tasks[t];
        if let Op::Repeat(times) = op {
            task.loops.push(times);
            task.pc += 1;
            return;
        }
        let start = program.partner(task.pc as u32) as usize;
        if matches!(program.ops()[start], Op::RepeatShared(_)) {
            task.pc = start;
            return;
        }
        match task.loops.pop() {
            // The last pass is over.
            Some(1) | None => task.pc += 1,
            // 0: for ever.
            Some(passes) => {
                task.loops.push(passes.saturating_sub(1));
                task.pc = start + 1;
            }
        }
    }

    /// Takes the next pass of a shared loop, or goes on behind it.
    fn next_pass(&mut self, t: usize, passes: u32) {
        let (app, pc) = (self.tasks[t].app, self.tasks[t].pc);
        let visit = self.tasks[t].visits.entry(pc).or_default();
        let taken = self.apps[app].passes.entry((pc, *visit)).or_default();
        if *taken < passes {
            *taken += 1;
            self.tasks[t].pc += 1;
        } else {
            *visit += 1;
            self.tasks[t].pc = self.apps[app].spec.program.partner(pc as u32) as usize + 1;
        }
    }

    /// Requests come with the end of naps: the program has nothing else that they come with.
    pub(super) fn naps_answer(&self, t: usize) -> bool {
        let ops = self.apps[self.tasks[t].app].spec.program.ops();
        !ops.iter().any(|op| match op {
            Op::Until { .. } => true,
            Op::Take { event, .. } => self.objects.is_stamped(*event),
            _ => false,
        })
    }

    /// What a task woke from a nap for is done.
    pub(super) fn responded(&mut self, t: usize) {
        let Some(woken) = self.tasks[t].event.woken.take() else { return };
        let (now, app) = (self.now, &mut self.apps[self.tasks[t].app]);
        // A unit that a busy task has posted can be taken a little before its instant.
        let response = now.saturating_sub(woken);
        app.counters.responses += 1;
        app.counters.response_ns += response;
        if app.spec.deadline.is_some_and(|deadline| response > deadline.ns()) {
            app.counters.late_responses += 1;
            app.first_late.get_or_insert(Time::from_ns(now));
        }
        if app.spec.requests {
            app.responses.add(Span::from_ns(response));
        }
    }

    fn draw(&mut self, t: usize) -> u32 {
        let task = &mut self.tasks[t];
        task.draws += 1;
        rng::draw(task.noise, task.draws)
    }

    pub(super) fn vary(&mut self, t: usize, mean: u64, spread: Spread) -> u64 {
        let draw = self.draw(t);
        self.apps[self.tasks[t].app].spec.program.vary(mean, spread, draw)
    }

    /// Begins a compute operation; true when there is nothing to do.
    fn work(
        &mut self,
        c: usize,
        t: usize,
        work: Work,
        spread: Spread,
        profile: MemoryProfile,
        overhead: Overhead,
    ) -> bool {
        let varied = self.vary(t, work.raw(), spread);
        let scales = &self.apps[self.tasks[t].app].spec.rank_scale;
        let scale = scales.get(self.tasks[t].rank as usize).copied().unwrap_or(1_000);
        let scaled = (u128::from(varied) * u128::from(scale) / 1_000).min(u128::from(Work::MAX.raw()));
        let raw = scaled.max(u128::from(work > Work::ZERO));
        let task = &mut self.tasks[t];
        task.remaining = raw as u64;
        task.asked += raw;
        if raw == 0 {
            return true;
        }
        task.profile = profile;
        task.source = None;
        self.compute(c, overhead);
        false
    }

    /// Reads the next block of a bulk transfer; true (and on to the next operation) when there is none.
    fn transfer(&mut self, c: usize, t: usize, block: u64, order: TransferOrder, overhead: Overhead) -> bool {
        let ranks = self.apps[self.tasks[t].app].spec.tasks;
        let bandwidth = self.machine.memory.core_bandwidth.max(1);
        let ns = (u128::from(block) * 1_000_000_000 / u128::from(bandwidth)).min(u128::from(u64::MAX)) as u64;
        let task = &mut self.tasks[t];
        let source = |block: u32| match order {
            TransferOrder::Sequential => block,
            TransferOrder::Rotated => (task.rank + 1 + block) % ranks,
        };
        // Nobody reads its own block.
        let next = (task.block..ranks).find(|block| source(*block) != task.rank);
        let Some(next) = next.filter(|_| ns > 0) else {
            task.block = 0;
            task.pc += 1;
            return true;
        };
        task.source = Some(source(next));
        task.block = next + 1;
        task.remaining = Work::from_span(Span::from_ns(ns)).raw();
        task.asked += u128::from(task.remaining);
        task.profile = MemoryProfile {
            demand: self.machine.memory.core_bandwidth,
            bound: Some(1 << 16),
            working_set: 0,
            pages: Pages::FirstTouch,
            shared: 0,
        };
        self.compute(c, overhead);
        false
    }

    /// The current task enters a system call.
    pub(super) fn call(&mut self, c: usize, ns: u64, then: OnReturn, overhead: Overhead) {
        self.announce(c);
        let cpu = &mut self.cpus[c];
        cpu.since = self.now;
        cpu.overhead = overhead;
        cpu.activity = Activity::Syscall(ns, then);
    }

    /// The current task begins to wait.
    pub(super) fn wait(&mut self, c: usize, waiting: Waiting, ready: u64, overhead: Overhead) {
        self.renounce(c, LeaveReason::Waits);
        if !self.has_ticks() {
            self.charge(c);
        }
        let Some(t) = self.cpus[c].current else { return };
        self.tasks[t].waiting = waiting;
        let runtime = self.runtime(self.tasks[t].app, self.handler(t, waiting));
        let present_episode = runtime.startup.sleeps && !self.tasks[t].up;
        let limit = if present_episode {
            Some(0)
        } else if waiting == Waiting::Lock {
            self.lock_patience(t)
        } else {
            runtime.wait.sleeps_after().map(Span::ns)
        };
        let begins = self.now + overhead.total();
        let task = &mut self.tasks[t];
        task.ready = ready;
        task.deadline = limit.map_or(NEVER, |limit| begins.saturating_add(limit));
        if self.watches.waits && ready == NEVER && !task.notified {
            task.notified = true;
            let what = match waiting {
                Waiting::Exchange => Awaited::Neighbour,
                Waiting::Lock => Awaited::Lock,
                Waiting::Event | Waiting::Job => Awaited::Event,
                _ => Awaited::Barrier(task.scope),
            };
            self.waits.push((t, Some(what)));
        }
        self.poll(c, overhead);
    }

    /// The current task polls from now on, after `overhead`.
    pub(super) fn poll(&mut self, c: usize, overhead: Overhead) {
        let Some(t) = self.cpus[c].current else { return };
        if self.tasks[t].waiting == Waiting::Lock {
            self.renew_patience(t, self.now + overhead.total());
        }
        let yields = self.polls_and_yields(t);
        let cpu = &mut self.cpus[c];
        cpu.since = self.now;
        cpu.overhead = overhead;
        cpu.activity = if yields { Activity::Poll } else { Activity::Spin };
    }

    /// Whether a task waits by polls with yields between them.
    pub(super) fn polls_and_yields(&self, t: usize) -> bool {
        match self.tasks[t].waiting {
            Waiting::No => false,
            Waiting::Lock => self.lock_yields(t),
            waiting => self.apps[self.tasks[t].app].yields[self.handler(t, waiting)],
        }
    }

    fn exit(&mut self, c: usize, t: usize, policy: &mut dyn Policy) {
        self.announce(c);
        self.responded(t);
        self.not_runnable(t, TaskState::Exited);
        self.leave(c, LeaveReason::Exited);
        let app = self.tasks[t].app;
        self.apps[app].exited += 1;
        if self.apps[app].exited == self.apps[app].spec.tasks {
            self.ends(app, policy);
        }
    }
}
