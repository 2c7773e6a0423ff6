//! Barriers and neighbour exchanges of the reference engine: every signal is kept as the instant it is
//! seen.

use sim_core::ids::{CpuId, TaskId};
use sim_core::observe::Observation;
use sim_core::policy::{Policy, TaskState};
use sim_core::program::Runtime;
use sim_core::wait::{BarrierKind, Scope};

use super::state::{Activity, Episode, KERNEL, NEVER, Overhead, RefTask, SPIN, Waiting};
use super::{Reference, Timer};

impl Reference<'_> {
    pub(super) fn task(&self, app: usize, rank: u32) -> usize {
        self.apps[app].first + rank as usize
    }

    /// All tasks of the process of a task, the first one first.
    pub(super) fn process_mates(&self, t: usize) -> Vec<usize> {
        let threads = self.apps[self.tasks[t].app].spec.process();
        let alike = |other: usize| {
            let (one, other) = (&self.tasks[t], &self.tasks[other]);
            one.app == other.app && one.rank / threads == other.rank / threads
        };
        (0..self.tasks.len()).filter(|other| alike(*other)).collect()
    }

    pub(super) fn node(&self, c: usize) -> u32 {
        self.machine.node_of(CpuId(c as u32)).0
    }

    pub(super) fn latency(&self, from: usize, to: usize) -> u64 {
        self.machine.signal_latency(CpuId(from as u32), CpuId(to as u32)).ns()
    }

    /// When a store made after `overhead` is seen by a task.
    pub(super) fn seen_at(&self, c: usize, other: usize, overhead: &Overhead) -> u64 {
        self.now + overhead.total() + self.latency(c, self.tasks[other].cpu)
    }

    pub(super) fn team(&self, app: usize) -> u32 {
        self.apps[app].spec.team.max(1)
    }

    /// Who handles a wait of a task: 0 the runtime of its application, 1 that of its team, from 2 on those of
    /// single operations.
    pub(super) fn handler(&self, t: usize, waiting: Waiting) -> usize {
        let task = &self.tasks[t];
        let spec = &self.apps[task.app].spec;
        if waiting == Waiting::Lock {
            return 0;
        }
        if task.up && spec.program.by(task.pc) > 0 {
            return usize::from(spec.program.by(task.pc)) + 1;
        }
        let message = matches!(waiting, Waiting::Exchange | Waiting::Event | Waiting::Job);
        usize::from(spec.team_runtime.is_some() && !message && task.scope.is_of_team())
    }

    /// The runtime with a number.
    pub(super) fn runtime(&self, app: usize, which: usize) -> &Runtime {
        let spec = &self.apps[app].spec;
        match (which, &spec.team_runtime) {
            (2.., _) => &spec.own_runtimes[which - 2],
            (1, Some(runtime)) => runtime,
            _ => &spec.runtime,
        }
    }

    /// The tasks that a task meets at its present barrier, itself among them, in the order of ranks.
    fn members(&self, t: usize) -> Vec<usize> {
        let RefTask { app, rank, scope, .. } = self.tasks[t];
        let team = self.team(app);
        let belongs = |other: &u32| match scope {
            Scope::All => true,
            Scope::Team | Scope::Join => other / team == rank / team,
            Scope::Leaders => other.is_multiple_of(team),
        };
        (0..self.apps[app].spec.tasks).filter(belongs).map(|rank| self.task(app, rank)).collect()
    }

    /// The tasks a task meets, its number among them, and their barrier.
    fn present_episode(&mut self, t: usize) -> (Vec<usize>, usize, &mut Episode) {
        let members = self.members(t);
        let number = members.iter().position(|member| *member == t).unwrap_or(0);
        let key = (self.tasks[t].scope, self.tasks[members[0]].rank);
        let app = self.tasks[t].app;
        (members, number, self.apps[app].episodes.entry(key).or_default())
    }

    fn children(arity: u32, number: usize, members: &[usize]) -> usize {
        (1..members.len()).filter(|child| (child - 1) / arity as usize == number).count()
    }

    /// The current task arrives at a barrier.
    pub(super) fn arrive(&mut self, c: usize, t: usize, scope: Scope, mut overhead: Overhead) {
        self.announce(c);
        self.tasks[t].scope = scope;
        let (app, episode) = (self.tasks[t].app, self.tasks[t].episode());
        self.tasks[t].arrived = self.now;
        self.observe(Observation::Arrived { task: TaskId(t as u32), scope, episode });
        match self.runtime(app, usize::from(scope.is_of_team())).barrier {
            BarrierKind::Central => {
                let (members, number, present_episode) = self.present_episode(t);
                let holder = members[std::mem::replace(&mut present_episode.line_holder, number)];
                let transfer = self.latency(self.tasks[holder].cpu, c);
                let begins = self.now + overhead.total();
                let (_, _, present_episode) = self.present_episode(t);
                let done = begins.max(present_episode.line_free) + transfer;
                present_episode.line_free = done;
                present_episode.arrived += 1;
                let all = present_episode.arrived == members.len();
                present_episode.arrived %= members.len();
                overhead.0[SPIN] += done - begins;
                if all {
                    self.release_all(c, t, overhead);
                } else {
                    self.wait(c, Waiting::Release, NEVER, overhead);
                }
            }
            BarrierKind::Tree { arity } => {
                let (members, number, present_episode) = self.present_episode(t);
                let children = Self::children(arity, number, &members);
                let ready = present_episode.gather_ready(number, children);
                if children > 0 {
                    self.wait(c, Waiting::Gather, ready, overhead);
                } else {
                    self.gathered(c, t, overhead);
                }
            }
            BarrierKind::Dissemination => self.round_of_signals(c, t, 0, overhead),
        }
    }

    /// All below the current task in the tree have arrived.
    fn gathered(&mut self, c: usize, t: usize, mut overhead: Overhead) {
        let (app, scope) = (self.tasks[t].app, self.tasks[t].scope);
        let BarrierKind::Tree { arity } = self.runtime(app, usize::from(scope.is_of_team())).barrier else {
            return;
        };
        let (members, number, present_episode) = self.present_episode(t);
        present_episode.gathered.remove(&number);
        let joins = scope == Scope::Join;
        if number == 0 {
            if joins {
                self.wait(c, Waiting::Release, self.now + overhead.total(), overhead);
            } else {
                self.release_all(c, t, overhead);
            }
            return;
        }
        let parent = (number - 1) / arity as usize;
        let boss = members[parent];
        let seen = self.seen_at(c, boss, &overhead);
        let (_, _, present_episode) = self.present_episode(t);
        present_episode.gathered.entry(parent).or_default().push(seen);
        let ready = present_episode.gather_ready(parent, Self::children(arity, parent, &members));
        let waits = self.tasks[boss].waiting == Waiting::Gather && self.tasks[boss].scope == scope;
        if waits && ready != NEVER {
            self.signal(c, boss, ready, &mut overhead);
        }
        let past = if joins { self.now + overhead.total() } else { NEVER };
        self.wait(c, Waiting::Release, past, overhead);
    }

    fn release_all(&mut self, c: usize, t: usize, mut overhead: Overhead) {
        for other in self.members(t).into_iter().filter(|other| *other != t) {
            let seen = self.seen_at(c, other, &overhead);
            self.signal(c, other, seen, &mut overhead);
        }
        self.wait(c, Waiting::Release, self.now + overhead.total(), overhead);
    }

    /// Number of rounds of the dissemination barrier: the least r with 2^r >= number of those who meet.
    fn rounds(&self, t: usize) -> u32 {
        let count = self.members(t).len() as u64;
        (0..).find(|r| 1u64 << r >= count).unwrap_or(0)
    }

    fn round_of_signals(&mut self, c: usize, t: usize, round: u32, mut overhead: Overhead) {
        let (scope, episode) = (self.tasks[t].scope, self.tasks[t].episode());
        if self.rounds(t) == 0 {
            // Alone: it looks once.
            self.wait(c, Waiting::Release, self.now + overhead.total(), overhead);
            return;
        }
        let (members, number, _) = self.present_episode(t);
        let partner = (number + (1 << round)) % members.len();
        let other = members[partner];
        let seen = self.seen_at(c, other, &overhead);
        let (_, _, present_episode) = self.present_episode(t);
        present_episode.flags.insert((partner, round, episode), seen);
        let ready = present_episode.flags.get(&(number, round, episode)).copied().unwrap_or(NEVER);
        let there = &self.tasks[other];
        if there.waiting == Waiting::Round(round) && there.scope == scope && there.episode() == episode {
            self.signal(c, other, seen, &mut overhead);
        }
        self.wait(c, Waiting::Round(round), ready, overhead);
    }

    /// Tells one neighbour and waits for the other.
    pub(super) fn exchange(&mut self, c: usize, t: usize, shift: u32, mut overhead: Overhead) {
        let (app, rank, pc) = (self.tasks[t].app, self.tasks[t].rank, self.tasks[t].pc);
        let to = ((u64::from(rank) + u64::from(shift)) % u64::from(self.apps[app].spec.tasks)) as u32;
        let other = self.task(app, to);
        let seen = self.seen_at(c, other, &overhead);
        self.apps[app].signals.signals.entry((pc, to)).or_default().0.push(seen);
        let record = &self.tasks[other];
        if record.waiting == Waiting::Exchange && record.pc == pc && record.ready == NEVER {
            self.signal(c, other, seen, &mut overhead);
        }
        let ready = self.apps[app].signals.signal_ready(pc, rank, self.now);
        self.wait(c, Waiting::Exchange, ready, overhead);
    }

    /// Lets a waiting task know; a sleeper is woken at the signaller's cost.
    pub(super) fn signal(&mut self, c: usize, other: usize, seen: u64, overhead: &mut Overhead) {
        self.tasks[other].ready = seen;
        match self.tasks[other].state {
            TaskState::Sleeping => {
                // An interrupt goes to an idle cpu to which none is on its way.
                let (wake, there) = (self.machine.costs.wake.ns(), self.tasks[other].cpu);
                let idle = self.cpus[there].current.is_none() && self.now >= self.cpus[there].woken;
                let price = if idle && there != c { self.wake_remote(there) } else { wake };
                // The interrupt is sent after a local wake's work.
                let effect = wake.min(price);
                overhead.0[KERNEL] += effect;
                let at = self.now + overhead.total();
                overhead.0[KERNEL] += price - effect;
                if there != c {
                    self.cpus[there].woken = self.cpus[there].woken.max(at);
                }
                self.tasks[other].ready = seen.min(at);
                self.arm(at, Timer::Wake { task: other, by: c });
                if let Some(waker) = self.cpus[c].current {
                    let waker = &mut self.tasks[waker];
                    let since = waker.issued.unwrap_or(waker.awake_since);
                    waker.count_wakeup(waker.cpu_time - since);
                    waker.issued = Some(waker.cpu_time);
                }
            }
            // A poller looks by itself.
            TaskState::Queued | TaskState::Running | TaskState::New | TaskState::Exited => {}
        }
    }

    /// The current task sees that what it waited for has happened.
    pub(super) fn wait_over(&mut self, c: usize, t: usize, overhead: Overhead, policy: &mut dyn Policy) {
        let task = &mut self.tasks[t];
        let (app, rank, episode, pc) = (task.app, task.rank, task.episode(), task.pc);
        let waited = std::mem::replace(&mut task.waiting, Waiting::No);
        task.ready = NEVER;
        task.deadline = NEVER;
        match waited {
            Waiting::Gather => {
                self.gathered(c, t, overhead);
                return;
            }
            Waiting::Round(round) => {
                let (_, number, present_episode) = self.present_episode(t);
                present_episode.flags.remove(&(number, round, episode));
                if round + 1 < self.rounds(t) {
                    self.round_of_signals(c, t, round + 1, overhead);
                    return;
                }
                self.barrier_done(c, t);
            }
            Waiting::Release => self.barrier_done(c, t),
            Waiting::Exchange => {
                self.apps[app].signals.signals.entry((pc, rank)).or_default().1 += 1;
                self.tasks[t].pc += 1;
            }
            Waiting::Lock => self.tasks[t].pc += 1,
            Waiting::Event => self.has_taken(t),
            // It looks for a job again.
            Waiting::Job | Waiting::No => {}
        }
        if std::mem::take(&mut self.tasks[t].notified) {
            self.waits.push((t, None));
        }
        debug_assert!(self.cpus[c].activity == Activity::Idle);
        self.proceed(c, overhead, policy);
    }

    fn barrier_done(&mut self, c: usize, t: usize) {
        let now = self.now;
        let task = &mut self.tasks[t];
        let (scope, episode) = (task.scope, task.episode());
        task.left.insert(scope, episode.wrapping_add(1));
        if task.up {
            task.pc += 1;
            let counters = &mut self.apps[task.app].counters;
            counters.barriers += 1;
            counters.barrier_wait_ns += now - task.arrived;
        } else if scope == Scope::Leaders {
            task.led = true;
        } else {
            task.up = true;
            self.apps[task.app].met.get_or_insert(now);
        }
        self.tell_polling(c);
        self.observe(Observation::Released { task: TaskId(t as u32), scope, episode });
    }
}
