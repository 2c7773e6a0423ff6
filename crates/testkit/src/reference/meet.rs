//! Barriers and neighbour exchanges of the reference kernel: every signal is kept as the instant it is
//! seen.

use std::collections::BTreeMap;

use sim_core::ids::{CpuId, TaskId};
use sim_core::observe::Observation;
use sim_core::policy::{Policy, TaskState};
use sim_core::program::Runtime;
use sim_core::wait::{BarrierKind, Scope};

use super::locks::RefLock;
use super::state::{Doing, KERNEL, Lead, NEVER, RefTask, SPIN, Waiting};
use super::{Reference, Timer};

/// The barrier of tasks that meet. Numbers count those who meet, from 0.
#[derive(Default)]
pub(super) struct Meeting {
    /// Central barrier: arrivals of the present episode; until when the counter's line is taken; who had it
    /// last.
    arrived: usize,
    line_free: u64,
    line_holder: usize,
    /// Tree barrier: by number, when the signal of each child that has come is seen.
    gathered: BTreeMap<usize, Vec<u64>>,
    /// Dissemination barrier: by (number, round, episode), when the signal is seen.
    flags: BTreeMap<(usize, u32, u32), u64>,
}

impl Meeting {
    /// When a number sees that all its children in the tree have arrived.
    fn gather_ready(&self, number: usize, children: usize) -> u64 {
        let signals = self.gathered.get(&number).map_or(&[][..], Vec::as_slice);
        if signals.len() < children { NEVER } else { signals.iter().copied().max().unwrap_or(0) }
    }
}

/// What the tasks of an application have signalled each other one to one.
pub(super) struct Letters {
    /// Exchanges: by (position, rank), when each signal is seen, and how many were used.
    letters: BTreeMap<(usize, u32), (Vec<u64>, usize)>,
    pub(super) locks: Vec<RefLock>,
}

impl Letters {
    pub(super) fn new(locks: u32) -> Self {
        Self { letters: BTreeMap::new(), locks: vec![RefLock::default(); locks as usize] }
    }

    /// When a rank sees its next unused signal; with several unused ones, now.
    fn letter_ready(&self, pc: usize, rank: u32, now: u64) -> u64 {
        let Some((seen, used)) = self.letters.get(&(pc, rank)) else { return NEVER };
        match seen.len() - used {
            0 => NEVER,
            1 => seen.iter().copied().max().unwrap_or(NEVER),
            _ => now,
        }
    }
}

impl Reference<'_> {
    pub(super) fn task(&self, app: usize, rank: u32) -> usize {
        self.apps[app].first + rank as usize
    }

    pub(super) fn node(&self, c: usize) -> u32 {
        self.machine.node_of(CpuId(c as u32)).0
    }

    pub(super) fn latency(&self, from: usize, to: usize) -> u64 {
        self.machine.signal_latency(CpuId(from as u32), CpuId(to as u32)).ns()
    }

    /// When a store made after `lead` is seen by a task.
    pub(super) fn seen_at(&self, c: usize, other: usize, lead: &Lead) -> u64 {
        self.now + lead.total() + self.latency(c, self.tasks[other].cpu)
    }

    pub(super) fn team(&self, app: usize) -> u32 {
        self.apps[app].spec.team.max(1)
    }

    /// Whether a wait of a task is that of a thread for its team, which has a runtime of its own.
    pub(super) fn waits_in_team(&self, t: usize, waiting: Waiting) -> bool {
        let own = self.apps[self.tasks[t].app].spec.team_runtime.is_some();
        own && match waiting {
            Waiting::Exchange | Waiting::Lock => false,
            _ => self.tasks[t].scope == Scope::Team,
        }
    }

    /// The runtime of teams, if it is another one, or of everything else.
    pub(super) fn runtime(&self, app: usize, of_team: bool) -> &Runtime {
        let spec = &self.apps[app].spec;
        match &spec.team_runtime {
            Some(runtime) if of_team => runtime,
            _ => &spec.runtime,
        }
    }

    /// The tasks that a task meets at its present barrier, itself among them, in the order of ranks.
    fn members(&self, t: usize) -> Vec<usize> {
        let RefTask { app, rank, scope, .. } = self.tasks[t];
        let team = self.team(app);
        let belongs = |other: &u32| match scope {
            Scope::All => true,
            Scope::Team => other / team == rank / team,
            Scope::Leaders => other.is_multiple_of(team),
        };
        (0..self.apps[app].spec.tasks).filter(belongs).map(|rank| self.task(app, rank)).collect()
    }

    /// The tasks a task meets, its number among them, and their barrier.
    fn meeting(&mut self, t: usize) -> (Vec<usize>, usize, &mut Meeting) {
        let members = self.members(t);
        let number = members.iter().position(|member| *member == t).unwrap_or(0);
        let key = (self.tasks[t].scope, self.tasks[members[0]].rank);
        let app = self.tasks[t].app;
        (members, number, self.apps[app].meetings.entry(key).or_default())
    }

    fn children(arity: u32, number: usize, members: &[usize]) -> usize {
        (1..members.len()).filter(|child| (child - 1) / arity as usize == number).count()
    }

    /// The current task arrives at a barrier.
    pub(super) fn arrive(&mut self, c: usize, t: usize, scope: Scope, mut lead: Lead) {
        self.announce(c);
        self.tasks[t].scope = scope;
        let (app, episode) = (self.tasks[t].app, self.tasks[t].episode());
        self.tasks[t].arrived = self.now;
        self.observe(Observation::Arrived { task: TaskId(t as u32), scope, episode });
        match self.runtime(app, scope == Scope::Team).barrier {
            BarrierKind::Central => {
                let (members, number, meeting) = self.meeting(t);
                let holder = members[std::mem::replace(&mut meeting.line_holder, number)];
                let transfer = self.latency(self.tasks[holder].cpu, c);
                let begins = self.now + lead.total();
                let (_, _, meeting) = self.meeting(t);
                let done = begins.max(meeting.line_free) + transfer;
                meeting.line_free = done;
                meeting.arrived += 1;
                let all = meeting.arrived == members.len();
                meeting.arrived %= members.len();
                lead.0[SPIN] += done - begins;
                if all {
                    self.release_all(c, t, lead);
                } else {
                    self.wait(c, Waiting::Release, NEVER, lead);
                }
            }
            BarrierKind::Tree { arity } => {
                let (members, number, meeting) = self.meeting(t);
                let children = Self::children(arity, number, &members);
                let ready = meeting.gather_ready(number, children);
                if children > 0 {
                    self.wait(c, Waiting::Gather, ready, lead);
                } else {
                    self.gathered(c, t, lead);
                }
            }
            BarrierKind::Dissemination => self.round_of_signals(c, t, 0, lead),
        }
    }

    /// All below the current task in the tree have arrived.
    fn gathered(&mut self, c: usize, t: usize, mut lead: Lead) {
        let (app, scope) = (self.tasks[t].app, self.tasks[t].scope);
        let BarrierKind::Tree { arity } = self.runtime(app, scope == Scope::Team).barrier else { return };
        let (members, number, meeting) = self.meeting(t);
        meeting.gathered.remove(&number);
        if number == 0 {
            self.release_all(c, t, lead);
            return;
        }
        let parent = (number - 1) / arity as usize;
        let boss = members[parent];
        let seen = self.seen_at(c, boss, &lead);
        let (_, _, meeting) = self.meeting(t);
        meeting.gathered.entry(parent).or_default().push(seen);
        let ready = meeting.gather_ready(parent, Self::children(arity, parent, &members));
        let waits = self.tasks[boss].waiting == Waiting::Gather && self.tasks[boss].scope == scope;
        if waits && ready != NEVER {
            self.signal(c, boss, ready, &mut lead);
        }
        self.wait(c, Waiting::Release, NEVER, lead);
    }

    fn release_all(&mut self, c: usize, t: usize, mut lead: Lead) {
        for other in self.members(t).into_iter().filter(|other| *other != t) {
            let seen = self.seen_at(c, other, &lead);
            self.signal(c, other, seen, &mut lead);
        }
        self.wait(c, Waiting::Release, self.now + lead.total(), lead);
    }

    /// Number of rounds of the dissemination barrier: the least r with 2^r >= number of those who meet.
    fn rounds(&self, t: usize) -> u32 {
        let count = self.members(t).len() as u64;
        (0..).find(|r| 1u64 << r >= count).unwrap_or(0)
    }

    fn round_of_signals(&mut self, c: usize, t: usize, round: u32, mut lead: Lead) {
        let (scope, episode) = (self.tasks[t].scope, self.tasks[t].episode());
        if self.rounds(t) == 0 {
            // Alone: it looks once.
            self.wait(c, Waiting::Release, self.now + lead.total(), lead);
            return;
        }
        let (members, number, _) = self.meeting(t);
        let partner = (number + (1 << round)) % members.len();
        let other = members[partner];
        let seen = self.seen_at(c, other, &lead);
        let (_, _, meeting) = self.meeting(t);
        meeting.flags.insert((partner, round, episode), seen);
        let ready = meeting.flags.get(&(number, round, episode)).copied().unwrap_or(NEVER);
        let there = &self.tasks[other];
        if there.waiting == Waiting::Round(round) && there.scope == scope && there.episode() == episode {
            self.signal(c, other, seen, &mut lead);
        }
        self.wait(c, Waiting::Round(round), ready, lead);
    }

    /// Tells one neighbour and waits for the other.
    pub(super) fn exchange(&mut self, c: usize, t: usize, shift: u32, mut lead: Lead) {
        let (app, rank, pc) = (self.tasks[t].app, self.tasks[t].rank, self.tasks[t].pc);
        let to = ((u64::from(rank) + u64::from(shift)) % u64::from(self.apps[app].spec.tasks)) as u32;
        let other = self.task(app, to);
        let seen = self.seen_at(c, other, &lead);
        self.apps[app].letters.letters.entry((pc, to)).or_default().0.push(seen);
        let record = &self.tasks[other];
        if record.waiting == Waiting::Exchange && record.pc == pc && record.ready == NEVER {
            self.signal(c, other, seen, &mut lead);
        }
        let ready = self.apps[app].letters.letter_ready(pc, rank, self.now);
        self.wait(c, Waiting::Exchange, ready, lead);
    }

    /// Lets a waiting task know; a sleeper is woken at the signaller's cost.
    pub(super) fn signal(&mut self, c: usize, other: usize, seen: u64, lead: &mut Lead) {
        self.tasks[other].ready = seen;
        match self.tasks[other].state {
            TaskState::Sleeping => {
                let (wake, remote) = (self.machine.costs.wake.ns(), self.machine.costs.wake_remote.ns());
                let price = if self.tasks[other].cpu == c { wake } else { remote };
                // The interrupt is sent after a local wake's work.
                let effect = wake.min(price);
                lead.0[KERNEL] += effect;
                let at = self.now + lead.total();
                lead.0[KERNEL] += price - effect;
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
    pub(super) fn wait_over(&mut self, c: usize, t: usize, lead: Lead, policy: &mut dyn Policy) {
        let task = &mut self.tasks[t];
        let (app, rank, episode, pc) = (task.app, task.rank, task.episode(), task.pc);
        let waited = std::mem::replace(&mut task.waiting, Waiting::No);
        task.ready = NEVER;
        task.deadline = NEVER;
        match waited {
            Waiting::Gather => {
                self.gathered(c, t, lead);
                return;
            }
            Waiting::Round(round) => {
                let (_, number, meeting) = self.meeting(t);
                meeting.flags.remove(&(number, round, episode));
                if round + 1 < self.rounds(t) {
                    self.round_of_signals(c, t, round + 1, lead);
                    return;
                }
                self.barrier_done(c, t);
            }
            Waiting::Release => self.barrier_done(c, t),
            Waiting::Exchange => {
                self.apps[app].letters.letters.entry((pc, rank)).or_default().1 += 1;
                self.tasks[t].pc += 1;
            }
            Waiting::Lock => self.tasks[t].pc += 1,
            Waiting::No => {}
        }
        if std::mem::take(&mut self.tasks[t].notified) {
            self.waits.push((t, None));
        }
        debug_assert!(self.cpus[c].doing == Doing::Nothing);
        self.proceed(c, lead, policy);
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
