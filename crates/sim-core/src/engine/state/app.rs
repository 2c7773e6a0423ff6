//! The record of an application, and the ranks of its tasks at their barriers.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::engine::state::{MaybeNode, Stage, Task, Waiting};
use crate::histogram::Histogram;
use crate::ids::{AppId, CpuId, LockId, NodeId, TaskId};
use crate::machine::{Costs, Machine};
use crate::observe::LeaveReason;
use crate::outcome::Counters;
use crate::policy::Affinity;
use crate::program::{Forks, Op, Program, Runtime, Touch, TransferOrder};
use crate::rng;
use crate::sync::{Barrier, Exchanges, SharedLoops};
use crate::time::{Span, Time};
use crate::wait::{Scope, WaitMode};

/// Ten days, beyond every horizon.
const LONGEST_TOUCH: u128 = 864_000_000_000_000;
/// Bytes of a page.
const PAGE: u128 = 4_096;
/// Pages that a task touches between two points at which it may be preempted or moved: those of one page
/// table (2 MiB).
const PIECE: u64 = 512;
/// The most pieces in which a task touches its data.
const PIECES: u64 = 1_024;

/// A task's rank at one of the barriers of its application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BarrierRank {
    /// The index of the barrier.
    pub(crate) barrier: usize,
    /// Its rank there.
    pub(crate) number: u32,
    /// The task with rank 0, and the distance from each rank to the next.
    first: u32,
    step: u32,
}

impl BarrierRank {
    /// The task that has a rank.
    #[inline]
    pub(crate) const fn task(&self, number: u32) -> TaskId {
        TaskId(self.first + number * self.step)
    }
}

/// What a task was before it changed itself; `None` where it has not, or where something else has changed it
/// since.
#[derive(Clone, Default)]
pub(crate) struct Before {
    pub(crate) weight: Option<u32>,
    pub(crate) cpus: Option<Affinity>,
}

/// The number of the runtime of an application ([`App::handler`]).
pub(crate) const OF_ALL: u8 = 0;

/// That of the runtime of its teams.
pub(crate) const OF_TEAM: u8 = 1;

/// A runtime of single operations.
pub(crate) struct OwnRuntime {
    pub(crate) runtime: Runtime,
    /// Its waiters yield: always, never, or as its clock has it now.
    pub(crate) yields: bool,
    /// How they poll before each yield: at barriers, and for messages.
    pub(crate) looks: [u8; 2],
}

impl OwnRuntime {
    /// How a waiter polls, if it yields now; second for messages.
    fn polls(&self, messages: usize) -> u8 {
        if self.yields { self.looks[messages] } else { 0 }
    }
}

/// An application.
pub(crate) struct App {
    pub(crate) name: String,
    pub(crate) background: bool,
    /// Its task group.
    pub(crate) group: Option<u16>,
    /// Its tasks compute in kernel mode and are not pre-empted there.
    pub(crate) kernel_mode: bool,
    /// Times to answer requests, if it answers any.
    pub(crate) responses: Option<Box<Histogram>>,
    pub(crate) deadline: Option<Span>,
    pub(crate) estimate: Option<Span>,
    pub(crate) runtime: Runtime,
    /// That of the threads of a team, if it is another one.
    pub(crate) team_runtime: Option<Runtime>,
    /// Those of single operations of its program, and how their waiters poll.
    pub(crate) own_runtimes: Vec<OwnRuntime>,
    /// Not all its waits are under `runtime`.
    pub(crate) several: bool,
    pub(crate) program: Arc<Program>,
    pub(crate) first: TaskId,
    pub(crate) tasks: u32,
    pub(crate) rank_scale: Vec<u32>,
    /// First index of its profiles in the run's table; the entry before it is its transfer profile.
    pub(crate) profiles: u32,
    /// From time zero or the end of `after` to its arrival.
    pub(crate) delay: Span,
    pub(crate) after: Option<AppId>,
    /// Arrival and admission.
    pub(crate) arrived: Time,
    pub(crate) begun: Time,
    /// When one of its tasks first had a cpu.
    pub(crate) first_run: Option<Time>,
    /// When the first task was past the start-up barrier.
    pub(crate) met: Option<Time>,
    /// When the program started its own clock.
    pub(crate) clock: Option<Time>,
    pub(crate) started: bool,
    /// Where the shell or launcher runs that starts it.
    pub(crate) shell: CpuId,
    /// Changes of the affinity masks: how long after the start, and to what.
    pub(crate) rebinds: Vec<(Span, Affinity)>,
    /// Key of its stream of fork costs.
    pub(crate) fork_noise: u64,
    /// Where the homes of the tasks of each process are ([`Pages::Team`](crate::program::Pages::Team)); none
    /// when that has changed; as long as needed.
    pub(crate) team_pages: Vec<MaybeNode>,
    /// Bytes of each task's pages that automatic NUMA balancing scans; 0: none.
    pub(crate) scanned: u64,
    /// Pages that each rank has touched as it starts, by node, and until when page faults have the lock of
    /// each process; as long as needed.
    pub(crate) touched: Vec<BTreeMap<NodeId, u64>>,
    pub(crate) faults_until: Vec<Time>,
    /// Its tasks that have been created, those of them that a launcher created, and how many each team's
    /// first rank created; the last is empty where first ranks create none.
    pub(crate) forked: u32,
    pub(crate) launched: u32,
    pub(crate) team_forked: Vec<u32>,
    pub(crate) exited: u32,
    /// Tasks in run queues and on cpus, and since when it is this number.
    pub(crate) runnable: (u32, Time),
    pub(crate) end: Option<Time>,
    pub(crate) counters: Counters,
    /// How its tasks poll before each yield ([`Task::polls`](super::Task::polls)): at barriers, for messages,
    /// under the runtime of teams, and for locks.
    pub(crate) looks: [u8; 4],
    /// Its waiters at barriers and for messages yield: always, never, or as the clock of their runtime has it
    /// now; second those of the runtime of teams.
    pub(crate) yields: [bool; 2],
    /// Passes of outermost loops that rank 0 has ended.
    pub(crate) passes: u64,
    /// The barrier of all tasks; if the program has barriers of teams, also that of the leaders and of each
    /// team.
    pub(crate) barriers: Vec<Barrier>,
    /// Tasks of a process, at least 1.
    pub(crate) process: u32,
    /// Tasks of a team, at least 1.
    pub(crate) team: u32,
    pub(crate) loops: SharedLoops,
    pub(crate) exchanges: Exchanges,
    /// The first of its locks among those of the run, and whether other applications can use them, too.
    pub(crate) first_lock: u32,
    pub(crate) named_locks: bool,
    /// The next instant of each clock of each rank; never before the first use. Empty without clocks.
    pub(crate) instants: Vec<Time>,
    /// Since when the clocks of each rank count, if not since `begun`: never where they do. Empty without
    /// clocks.
    pub(crate) renewed: Vec<Time>,
    /// A timed sleep ends a response, and the wake-up begins the next one.
    pub(crate) sleeps_answer: bool,
    /// What tasks were before they changed themselves.
    pub(crate) changed: BTreeMap<TaskId, Before>,
    /// The affinity masks of the changes that its tasks make to themselves, by the number of the change.
    pub(crate) masks: Vec<Affinity>,
    /// Times that requests waited for a task, if it takes any from an event.
    pub(crate) waits: Option<Box<Histogram>>,
    /// When the first response beyond the deadline ended.
    pub(crate) first_late: Option<Time>,
}

impl App {
    /// Its time in run queues and on cpus up to now that its counters do not contain yet, ns.
    #[inline]
    pub(crate) fn runnable_since(&self, now: Time) -> u64 {
        u64::from(self.runnable.0) * now.since(self.runnable.1).ns()
    }

    /// A task of it becomes runnable.
    #[inline]
    pub(crate) fn task_enters(&mut self, now: Time) {
        self.counters.runnable_ns += self.runnable_since(now);
        self.runnable = (self.runnable.0 + 1, now);
    }

    /// A task of it goes to sleep or ends.
    #[inline]
    pub(crate) fn task_leaves(&mut self, now: Time) {
        debug_assert!(self.runnable.0 > 0, "a task of {} leaves, and none is runnable", self.name);
        self.counters.runnable_ns += self.runnable_since(now);
        self.runnable = (self.runnable.0 - 1, now);
    }

    pub(crate) const fn task(&self, rank: u32) -> TaskId {
        TaskId(self.first.0 + rank)
    }

    /// The ranks of the process of a rank, which share their pages.
    #[inline]
    pub(crate) fn mates(&self, rank: u32) -> Range<u32> {
        let first = rank - rank % self.process;
        first..first.saturating_add(self.process).min(self.tasks)
    }

    /// The number of a task's process in the application.
    #[inline]
    pub(crate) const fn process_of(&self, task: TaskId) -> usize {
        (self.rank(task) / self.process) as usize
    }

    /// Its runtimes: one, that of its teams if they have their own, and those of single operations.
    pub(crate) fn runtimes(&self) -> impl Iterator<Item = &Runtime> {
        let own = self.own_runtimes.iter().map(|own| &own.runtime);
        std::iter::once(&self.runtime).chain(&self.team_runtime).chain(own)
    }

    /// Which of its runtimes handles a wait of a task: 0 its own, 1 that of teams, from 2 on those of single
    /// operations.
    #[inline]
    pub(crate) fn handler(&self, task: &Task, waiting: Waiting) -> u8 {
        if self.several { self.handler_among(task, waiting) } else { OF_ALL }
    }

    fn handler_among(&self, task: &Task, waiting: Waiting) -> u8 {
        if matches!(waiting, Waiting::Lock | Waiting::No) {
            return OF_ALL;
        }
        let by = if task.stage == Stage::Program { self.program.by(task.pc.into()) } else { 0 };
        let messages = matches!(waiting, Waiting::Exchange | Waiting::Event | Waiting::Job);
        match by {
            0 if self.team_runtime.is_some() && !messages && task.scope().is_of_team() => OF_TEAM,
            0 => OF_ALL,
            by => OF_TEAM + by,
        }
    }

    /// One of its runtimes ([`App::handler`]).
    #[inline]
    pub(crate) fn runtime_of(&self, handler: u8) -> &Runtime {
        match handler {
            OF_ALL => &self.runtime,
            OF_TEAM => self.team_runtime.as_ref().unwrap_or(&self.runtime),
            own => &self.own_runtimes[usize::from(own - 2)].runtime,
        }
    }

    /// Whether the waiters of one of its runtimes yield now.
    pub(crate) fn yields_mut(&mut self, handler: u8) -> &mut bool {
        match handler {
            OF_ALL | OF_TEAM => &mut self.yields[usize::from(handler)],
            own => &mut self.own_runtimes[usize::from(own - 2)].yields,
        }
    }

    /// The numbers of its runtimes.
    pub(crate) fn handlers(&self) -> impl Iterator<Item = u8> + use<> {
        let team = self.team_runtime.as_ref().map(|_| OF_TEAM);
        let own = (2..).take(self.own_runtimes.len());
        std::iter::once(OF_ALL).chain(team).chain(own)
    }

    /// How a task of it polls that waits for this, but no lock ([`Task::polls`](super::Task::polls)).
    #[inline]
    pub(crate) fn polls(&self, waiting: Waiting, handler: u8) -> u8 {
        let messages = usize::from(matches!(waiting, Waiting::Exchange | Waiting::Event | Waiting::Job));
        match handler {
            OF_ALL if self.yields[0] => self.looks[messages],
            OF_TEAM if self.yields[1] => self.looks[2],
            OF_ALL | OF_TEAM => 0,
            own => self.own_runtimes[usize::from(own - 2)].polls(messages),
        }
    }

    /// What it costs to create the task of a rank.
    pub(crate) fn fork_cost(&self, costs: &Costs, rank: u32) -> Span {
        let draw = rng::draw(self.fork_noise, u64::from(rank));
        Span::from_ns(costs.fork_spread.apply(costs.fork.ns(), draw))
    }

    /// Pages that a rank has yet to touch, as a master those of every task of its process, and those of its
    /// next piece.
    pub(crate) fn next_piece(&self, rank: u32) -> (u64, u64) {
        let tasks = if self.runtime.startup.touch == Touch::Master { self.mates(rank).len() } else { 1 };
        let bytes = u128::from(self.program.first_touched()) * tasks as u128;
        let all = u64::try_from(bytes.div_ceil(PAGE)).unwrap_or(u64::MAX);
        let touched = self.touched.get(rank as usize).map_or(0, |pages| pages.values().sum());
        let left = all.saturating_sub(touched);
        (left, left.min(PIECE.max(all.div_ceil(PIECES))))
    }

    /// The time in which a rank touches its next piece: faults and clearing on its core, or longer when other
    /// threads of its process have the lock of the address space before it.
    pub(crate) fn fault_time(&mut self, rank: u32, machine: &Machine, now: Time) -> Span {
        let (pages, costs) = (self.next_piece(rank).1, &machine.costs);
        let bandwidth = u128::from(machine.memory.core_bandwidth.max(1));
        let clearing = u128::from(pages) * PAGE * 1_000_000_000 / bandwidth;
        let fault = |each: Span| Span::from_ns(each.ns().saturating_mul(pages));
        let own = fault(costs.page_fault).saturating_add(Span::from_ns(clearing.min(LONGEST_TOUCH) as u64));
        if costs.fault_lock == Span::ZERO || self.process < 2 || pages == 0 {
            return own;
        }
        let process = (rank / self.process) as usize;
        if self.faults_until.len() <= process {
            self.faults_until.resize(process + 1, Time::ZERO);
        }
        let until = &mut self.faults_until[process];
        *until = (*until).max(now).saturating_add(fault(costs.fault_lock));
        own.max(until.since(now))
    }

    /// The rank whose block a task is reading, when it is inside a bulk transfer.
    pub(crate) fn transfer_source(&self, id: TaskId, task: &Task) -> Option<u32> {
        if u32::from(task.profile) + 1 != self.profiles {
            return None;
        }
        let Some(Op::Transfer { order, .. }) = self.program.ops().get(usize::from(task.pc)) else {
            return None;
        };
        let block = task.history.block.saturating_sub(1);
        Some(match order {
            TransferOrder::Sequential => block,
            TransferOrder::Rotated => (self.rank(id) + 1 + block) % self.tasks,
        })
    }

    /// The lock of the run that a lock of its program is.
    #[inline]
    pub(crate) const fn lock(&self, own: LockId) -> LockId {
        LockId(self.first_lock + own.0)
    }

    /// The lock of its program that a lock of the run is.
    pub(crate) const fn own_lock(&self, lock: LockId) -> LockId {
        LockId(lock.0 - self.first_lock)
    }

    /// The lock of the run that a task waits for or comes to.
    pub(crate) fn lock_of(&self, task: &Task) -> LockId {
        match self.program.ops().get(usize::from(task.pc)) {
            Some(Op::Lock(lock)) => self.lock(*lock),
            _ => unreachable!("a task waits for a lock and is at no such operation"),
        }
    }

    /// A task of it leaves a cpu.
    #[inline]
    pub(crate) const fn count_switch(&mut self, reason: LeaveReason) {
        match reason {
            LeaveReason::Preempted | LeaveReason::Moved => self.counters.involuntary_switches += 1,
            LeaveReason::Slept | LeaveReason::Exited | LeaveReason::Waits => {
                self.counters.voluntary_switches += 1;
            }
        }
    }

    /// A task of it has done the present request, if it has one; `elapsed`: now on the clock of the run. When
    /// the request came, of an application that answers requests.
    pub(crate) fn end_response(&mut self, task: &mut Task, now: Time, elapsed: Time) -> Option<Time> {
        let woken = std::mem::replace(&mut task.history.written()?.woken, Time::NEVER);
        if !woken.is_never() {
            let took = now.since(woken);
            self.counters.responses += 1;
            self.counters.response_ns += took.ns();
            if self.deadline.is_some_and(|most| took > most) {
                self.counters.late_responses += 1;
                self.first_late.get_or_insert(elapsed);
            }
            if let Some(responses) = &mut self.responses {
                responses.add(took);
                return Some(woken);
            }
        }
        None
    }

    /// Whether one of its tasks waits and yields to another one of its tasks.
    pub(crate) fn yields_to(&self, task: &Task) -> bool {
        !matches!(task.waiting, Waiting::No | Waiting::Lock)
            && self.runtime_of(self.handler(task, task.waiting)).wait == WaitMode::YieldTo
    }

    /// Whether a launcher creates the first rank of each team, and this one the others.
    pub(crate) fn is_launched_by_team(&self) -> bool {
        self.team > 1 && self.runtime.startup.forks == Forks::Launcher
    }

    /// The next rank that the launcher creates.
    pub(crate) fn next_launched(&self) -> Option<u32> {
        let step = if self.is_launched_by_team() { self.team } else { 1 };
        self.launched.checked_mul(step).filter(|rank| *rank < self.tasks)
    }

    /// The rank that creates another one; none for those that a shell or a launcher creates.
    pub(crate) fn creator(&self, rank: u32) -> Option<u32> {
        let by = match self.runtime.startup.forks {
            Forks::Master => 0,
            Forks::Launcher if self.is_launched_by_team() => rank / self.team * self.team,
            Forks::Launcher | Forks::Together | Forks::Woken(_) => rank,
        };
        Some(by).filter(|by| *by != rank)
    }

    /// The next rank that this one creates.
    pub(crate) fn next_forked(&self, rank: u32) -> Option<u32> {
        let (next, end) = match self.runtime.startup.forks {
            Forks::Master if rank == 0 => (self.forked, self.tasks),
            Forks::Launcher if rank.is_multiple_of(self.team) => {
                let done = self.team_forked.get((rank / self.team) as usize)?;
                (rank + 1 + done, self.tasks.min(rank.saturating_add(self.team)))
            }
            _ => return None,
        };
        Some(next).filter(|next| *next < end)
    }

    /// The tasks that meet before the program proper.
    pub(crate) fn start_barrier(&self) -> Option<Scope> {
        let of_team = self.is_launched_by_team();
        let scope = if of_team { Scope::Team } else { Scope::All };
        self.runtime_of(u8::from(of_team)).startup.barrier.then_some(scope)
    }

    /// Whether first ranks of teams meet before they create the others: those of processes of a library.
    pub(crate) fn has_leaders_barrier(&self) -> bool {
        self.is_launched_by_team() && self.runtime.processes && self.runtime.startup.barrier
    }

    /// The rank of one of its tasks.
    #[inline]
    pub(crate) const fn rank(&self, task: TaskId) -> u32 {
        task.0 - self.first.0
    }

    /// The number of the team that a task is the first one of, and how many teams there are. Ranks of
    /// messages are these.
    pub(crate) const fn number(&self, task: TaskId) -> (Option<u32>, u32) {
        let rank = self.rank(task);
        let leads = rank.is_multiple_of(self.team);
        (if leads { Some(rank / self.team) } else { None }, self.tasks.div_ceil(self.team))
    }

    /// The rank at the barrier of a scope of the task with this rank in the application.
    #[inline]
    pub(crate) const fn barrier_rank(&self, scope: Scope, rank: u32) -> BarrierRank {
        let (first, team) = (self.first.0, self.team);
        match scope {
            Scope::All => BarrierRank { barrier: 0, number: rank, first, step: 1 },
            Scope::Leaders => BarrierRank { barrier: 1, number: rank / team, first, step: team },
            Scope::Team | Scope::Join => {
                let barrier = 2 + 2 * (rank / team) as usize + matches!(scope, Scope::Join) as usize;
                BarrierRank { barrier, number: rank % team, first: first + rank / team * team, step: 1 }
            }
        }
    }
}
