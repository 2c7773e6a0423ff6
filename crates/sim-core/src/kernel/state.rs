//! The records of a run: cpus, tasks, applications. Plain data; every change is made by the code beside.

use std::sync::Arc;

use crate::account::{Account, Category};
use crate::contention::ClassId;
use crate::ids::{AppId, CpuId, NodeId, TaskId};
use crate::limits::MAX_LOOP_DEPTH;
use crate::outcome::Counters;
use crate::policy::TaskState;
use crate::program::Program;
use crate::program::Runtime;
use crate::run_queue::cfs::Waker;
use crate::run_queue::ladder::Share;
use crate::sync::{Exchanges, Locks, Meeting, SharedLoops};
use crate::time::{Span, Time, Work};
use crate::wait::Circle;

/// Overhead before an activity proper begins, by category, paid in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lead {
    total: Span,
    parts: [Span; Part::COUNT],
}

/// What overhead is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Part {
    Switch,
    Migration,
    Kernel,
    Daemon,
    /// Refilling caches, or copying pages, before a compute operation.
    Refill,
    /// Waiting for a contended line while arriving at a barrier.
    Spin,
}

impl Part {
    const COUNT: usize = 6;

    /// Where each is booked, in order.
    const BOOKS: [Category; Self::COUNT] = [
        Category::Switch,
        Category::Migration,
        Category::Kernel,
        Category::Daemon,
        Category::Refill,
        Category::Spin,
    ];
}

impl Lead {
    pub(crate) const NONE: Self = Self { total: Span::ZERO, parts: [Span::ZERO; Part::COUNT] };

    /// Nothing but a switch.
    #[inline]
    pub(crate) const fn switch(cost: Span) -> Self {
        let none = Span::ZERO;
        Self { total: cost, parts: [cost, none, none, none, none, none] }
    }

    #[inline]
    pub(crate) const fn total(&self) -> Span {
        self.total
    }

    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.total == Span::ZERO
    }

    #[inline]
    pub(crate) const fn part(&self, part: Part) -> Span {
        self.parts[part as usize]
    }

    /// Adds to one part.
    #[inline]
    pub(crate) fn grow(&mut self, part: Part, span: Span) {
        self.parts[part as usize] += span;
        self.total += span;
    }

    #[inline]
    pub(crate) fn add(&mut self, other: &Self) {
        if other.is_none() {
            return;
        }
        for (mine, theirs) in self.parts.iter_mut().zip(other.parts) {
            *mine += theirs;
        }
        self.total += other.total;
    }

    /// Books up to `elapsed` of the lead, takes it off, and returns what of `elapsed` lies behind the lead.
    #[inline]
    pub(crate) fn pay(&mut self, elapsed: Span, account: &mut Account) -> Span {
        if self.is_none() {
            return elapsed;
        }
        let switch = self.part(Part::Switch);
        if switch == self.total && elapsed >= switch {
            // The most frequent case: nothing but a switch.
            account.add(Category::Switch, switch);
            self.parts[Part::Switch as usize] = Span::ZERO;
            self.total = Span::ZERO;
            return elapsed - switch;
        }
        self.pay_any(elapsed, account)
    }

    fn pay_any(&mut self, elapsed: Span, account: &mut Account) -> Span {
        if elapsed < self.total {
            self.pay_part(elapsed, account);
            return Span::ZERO;
        }
        let [switch, migration, kernel, daemon, refill, spin] = self.parts;
        account.add(Category::Switch, switch);
        account.add(Category::Migration, migration);
        account.add(Category::Kernel, kernel);
        account.add(Category::Daemon, daemon);
        account.add(Category::Refill, refill);
        account.add(Category::Spin, spin);
        let rest = elapsed - self.total;
        *self = Self::NONE;
        rest
    }

    /// The same for less than all of the lead.
    fn pay_part(&mut self, elapsed: Span, account: &mut Account) {
        let mut rest = elapsed;
        for (part, category) in self.parts.iter_mut().zip(Part::BOOKS) {
            let paid = rest.min(*part);
            account.add(category, paid);
            *part -= paid;
            rest -= paid;
        }
        self.total -= elapsed;
    }
}

/// What the current task of a cpu does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Activity {
    /// There is no current task.
    Idle,
    /// It computes, in a contention class or at a fixed speed.
    Compute(ClassId),
    /// It polls and yields, cycle after cycle.
    Poll,
    /// It polls without yielding.
    Spin,
    /// It is inside a system call.
    Syscall,
}

/// What happens when a system call ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum After {
    /// It sleeps until what it waits for happens.
    WaitAsleep,
    /// It sleeps for a span.
    Nap(Span),
    /// It yields.
    Yield,
    /// It yields in favour of another task.
    YieldTo(TaskId),
    /// A task of this rank is created.
    Fork(u32),
    /// Its data are touched.
    Touch,
    /// Its process ends and a new one takes its rank.
    Respawn,
}

/// A cpu. The order of the fields is that of their use: what one event touches lies together in memory, in the first five lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Cpu {
    pub(crate) id: CpuId,
    // The queue and the turn.
    pub(crate) current: TaskId,
    pub(crate) head: TaskId,
    pub(crate) tail: TaskId,
    /// The task told to observers as running.
    pub(crate) announced: TaskId,
    /// Runnable tasks, the current one included.
    pub(crate) running: u32,
    /// Start of the present segment of the activity, its lead included.
    pub(crate) since: Time,
    /// Up to when its virtual runtime is charged.
    pub(crate) charged: Time,
    /// When the current task was picked: its slice counts from here.
    pub(crate) picked: Time,
    /// When the slice of the current task ends, as armed.
    pub(crate) slice_end: Time,
    pub(crate) activity: Activity,
    pub(crate) min_vruntime: i64,
    /// Sum of the weights of its runnable tasks.
    pub(crate) load: u64,
    /// What of a context switch is charged to the virtual runtime of the task switched to: the same for all of a cpu,
    /// the price between processes when its tasks belong to several, else the price between threads.
    pub(crate) switch_charge: Span,
    /// The first timer tick that has not passed yet; `NEVER` where ticks are only looked for when they matter.
    pub(crate) next_tick: Time,
    /// Asked to pick again.
    pub(crate) resched: bool,
    /// Its last task has just left: new-idle balancing is due.
    pub(crate) emptied: bool,
    pub(crate) marked: bool,
    /// Its own armed event is what it was marked for.
    pub(crate) fired: bool,
    /// Its runnable tasks belong to several processes.
    pub(crate) several: bool,
    /// It owes kernel or daemon work.
    pub(crate) owes: bool,
    /// The process that ran last, to price the next switch; [`NO_PROCESS`] at first.
    pub(crate) last_process: u64,
    /// Polls and switches not yet told.
    pub(crate) polled: (u64, u64),
    // The overhead that the turn begins with, and what has happened.
    pub(crate) lead: Lead,
    pub(crate) next_buddy: TaskId,
    pub(crate) last_buddy: TaskId,
    pub(crate) account: Account,
    /// Bytes that computing tasks have brought into its caches so far, the last task to do so, and its part since
    /// another one did.
    pub(crate) filled: u64,
    pub(crate) filler_part: u64,
    pub(crate) filler: TaskId,
    /// The waiting task that the next pick prefers: the target of a directed yield.
    pub(crate) heir: TaskId,
    /// How far its ticks are behind those of the first cpu, ns.
    pub(crate) tick_phase: u64,
    // What seldom matters.
    /// Kernel and daemon work that the next segment begins with.
    debt: Lead,
    /// When a buddy was last not followed (2.6.27).
    pub(crate) pair_start: Time,
    /// Since when a task waits in the expired array (O(1)).
    pub(crate) expired_since: Time,
    /// The system call that the current task is in: how long it takes, and what follows.
    pub(crate) call: (Span, After),
    /// Key of the lateness of its ticks.
    pub(crate) tick_key: u64,
    /// Tasks that sleep but still compete (EEVDF's delayed dequeue), linked by `next`.
    pub(crate) delayed: TaskId,
}

/// The number of no cpu.
pub(crate) const NOWHERE: CpuId = CpuId(u32::MAX);

/// The number of no process.
pub(crate) const NO_PROCESS: u64 = u64::MAX;

impl Cpu {
    pub(crate) fn new(id: CpuId) -> Self {
        Self {
            id,
            current: TaskId::NONE,
            head: TaskId::NONE,
            tail: TaskId::NONE,
            announced: TaskId::NONE,
            running: 0,
            since: Time::ZERO,
            charged: Time::ZERO,
            picked: Time::ZERO,
            slice_end: Time::NEVER,
            activity: Activity::Idle,
            min_vruntime: 0,
            load: 0,
            switch_charge: Span::ZERO,
            next_tick: Time::NEVER,
            resched: false,
            emptied: false,
            marked: false,
            fired: false,
            several: false,
            owes: false,
            last_process: NO_PROCESS,
            polled: (0, 0),
            lead: Lead::NONE,
            next_buddy: TaskId::NONE,
            last_buddy: TaskId::NONE,
            account: Account::default(),
            filled: 0,
            filler_part: 0,
            filler: TaskId::NONE,
            heir: TaskId::NONE,
            tick_phase: 0,
            debt: Lead::NONE,
            pair_start: Time::ZERO,
            expired_since: Time::NEVER,
            call: (Span::ZERO, After::Yield),
            tick_key: 0,
            delayed: TaskId::NONE,
        }
    }

    /// Kernel or daemon work comes up: it goes before what the current task does next.
    #[inline]
    pub(crate) fn owe(&mut self, part: Part, span: Span) {
        self.debt.grow(part, span);
        self.owes |= span > Span::ZERO;
    }

    /// The kernel and daemon work that has come up leads the segment about to begin.
    #[inline]
    pub(crate) fn take_debt(&mut self) {
        if self.owes {
            self.owes = false;
            self.lead = std::mem::take(&mut self.debt);
        }
    }

    /// The same behind what leads the segment already.
    pub(crate) fn add_debt(&mut self) {
        self.owes = false;
        self.lead.add(&std::mem::take(&mut self.debt));
    }

    /// What is left of the lead when a segment is cut short: kernel and daemon work and a migration stay a debt; returns
    /// what is left of a refill.
    #[cold]
    pub(crate) fn keep_lead(&mut self) -> Span {
        let lead = std::mem::take(&mut self.lead);
        for part in [Part::Migration, Part::Kernel, Part::Daemon] {
            self.owe(part, lead.part(part));
        }
        lead.part(Part::Refill)
    }
}

/// What a waiting task waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waiting {
    /// Nothing: it does not wait.
    No,
    /// Its children in the gather phase of a tree barrier.
    Gather,
    /// The release of a barrier.
    Release,
    /// A round of a dissemination barrier.
    Round(u32),
    /// A neighbour's signal.
    Exchange,
    /// A lock.
    Lock,
}

/// How far a task's start-up is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// It has not got beyond creating others and touching its data.
    New,
    /// It waits at the start-up barrier.
    Meeting,
    /// It runs its program.
    Program,
}

/// A task. The order of the fields is that of their use: what one event touches lies together in memory.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Task {
    // Where it stands: what the run queue and polling look at.
    /// The key of its queue: virtual runtime, or what the discipline orders by.
    pub(crate) vruntime: i64,
    /// When what it waits for is (or will be) visible to it.
    pub(crate) ready: Time,
    /// When it stops polling and sleeps.
    pub(crate) deadline: Time,
    /// Work of the present compute operation still to do, at nominal speed.
    pub(crate) remaining: Work,
    pub(crate) last_ran: Time,
    pub(crate) cpu_time: Span,
    pub(crate) previous: TaskId,
    pub(crate) next: TaskId,
    pub(crate) band: u8,
    pub(crate) state: TaskState,
    pub(crate) stage: Stage,
    /// The policy was told that it waits, or will be.
    pub(crate) told: bool,
    /// While it polls it yields after each look (as its runtime says).
    pub(crate) yields: bool,
    pub(crate) depth: u8,
    /// Who meets at the barrier it is at or was at last.
    pub(crate) circle: Circle,
    /// EEVDF: it sleeps and still competes on its cpu.
    pub(crate) delayed: bool,
    // What it is, and how it waits.
    pub(crate) app: AppId,
    pub(crate) rank: u32,
    pub(crate) cpu: CpuId,
    pub(crate) weight: u32,
    /// Position in the program.
    pub(crate) pc: u32,
    /// Profile of the running compute operation (index into the run's table).
    pub(crate) profile: u32,
    /// The contention class it last computed in.
    pub(crate) class: ClassId,
    /// Blocks read of the present transfer.
    pub(crate) block: u32,
    pub(crate) waiting: Waiting,
    /// Number of its process: switches between tasks of equal numbers are switches between threads.
    pub(crate) process: u64,
    /// When it arrived at the barrier it is at.
    pub(crate) arrived: Time,
    /// What is left of a cache refill that was interrupted.
    pub(crate) refill: Span,
    // Its caches and its program.
    /// What had been brought into the caches of the cpu where it last computed by then.
    pub(crate) filled: u64,
    /// Key and position of its stream of work variation.
    pub(crate) noise: u64,
    pub(crate) draws: u32,
    /// Where it last computed; [`NOWHERE`] at first.
    pub(crate) warm: CpuId,
    /// Where the policy wants the pages that the task touches first.
    pub(crate) allotted: MaybeNode,
    /// Where its pages are, once they have been touched.
    pub(crate) home: MaybeNode,
    /// Passes left of the loops around `pc`.
    pub(crate) loops: [u32; MAX_LOOP_DEPTH],
    /// Barrier episode it is in, for each circle.
    pub(crate) episodes: [u32; Circle::COUNT],
    // What it has done.
    /// Work asked for so far, in raw units.
    pub(crate) asked: u128,
    /// Bytes fetched from memory, times [`crate::kernel::caches::NS_PER_S`].
    pub(crate) fetched: u128,
    pub(crate) entered: u64,
    /// When it last woke from sleep for a time, if it has worked since; else `NEVER`.
    pub(crate) woken: Time,
    /// EEVDF: end of its present request in virtual time; relative to `vruntime` while it is between two queues.
    pub(crate) vdeadline: i64,
    pub(crate) history: Apart<History>,
}

/// What a few disciplines know of a task besides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct History {
    /// Its slice and history, where the discipline has priorities.
    pub(crate) share: Share,
    /// The task that forked it, if one did, where parent and child share.
    pub(crate) parent: TaskId,
    /// EEVDF: how far it was behind (positive) or ahead of the average when it left its queue.
    pub(crate) vlag: i64,
    /// EEVDF: as long as its virtual runtime is below this, nobody but an ineligible current task gives way.
    pub(crate) protection: i64,
    /// How often it wakes others (2.6.30).
    pub(crate) waker: Waker,
}

impl Unwritten for History {
    const NOTHING: &'static Self =
        &Self { share: Share::NONE, parent: TaskId::NONE, vlag: 0, protection: 0, waker: Waker::NONE };
}

/// A value that reads as a constant until it is written.
pub(crate) trait Unwritten: Copy + 'static {
    const NOTHING: &'static Self;
}

/// A part of a record that most runs never write, kept apart from it.
#[derive(Clone, Debug)]
pub(crate) struct Apart<T>(Option<Box<T>>);

impl<T: Unwritten> Apart<T> {
    pub(crate) const NONE: Self = Self(None);

    /// One that is going to be written.
    pub(crate) fn ready() -> Self {
        Self(Some(Box::new(*T::NOTHING)))
    }

    /// The value, if it has been written.
    #[inline]
    pub(crate) fn written(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl<T: Unwritten> std::ops::Deref for Apart<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::NOTHING)
    }
}

impl<T: Unwritten> std::ops::DerefMut for Apart<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_with(|| Box::new(*T::NOTHING))
    }
}

/// A node of the machine, or none, in four bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MaybeNode(u32);

impl MaybeNode {
    pub(crate) const NONE: Self = Self(u32::MAX);

    #[inline]
    pub(crate) const fn at(node: NodeId) -> Self {
        Self(node.0)
    }

    #[inline]
    pub(crate) const fn node(self) -> Option<NodeId> {
        if self.0 == u32::MAX { None } else { Some(NodeId(self.0)) }
    }

    /// The node; `node` from now on if there is none yet.
    #[inline]
    pub(crate) const fn get_or_insert(&mut self, node: NodeId) -> NodeId {
        if self.0 == u32::MAX {
            self.0 = node.0;
        }
        NodeId(self.0)
    }
}

impl Task {
    /// The episode of the barrier it is at.
    #[inline]
    pub(crate) const fn episode(&self) -> u32 {
        self.episodes[self.circle as usize]
    }

    /// It leaves the caches of this cpu as they are now.
    #[inline]
    pub(crate) const fn keep(&mut self, record: &Cpu) {
        self.warm = record.id;
        self.filled = record.filled;
    }

    /// Work done so far, in raw units: all that was asked for but what remains.
    #[inline]
    pub(crate) fn done(&self) -> u128 {
        self.asked - u128::from(self.remaining.raw())
    }
}

/// A rank's place among those it meets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Seat {
    /// Which of the application's meetings.
    pub(crate) meeting: usize,
    /// Its number there.
    pub(crate) number: u32,
    /// The task with number 0, and from each number to the next.
    first: u32,
    step: u32,
}

impl Seat {
    /// The task that has a number.
    #[inline]
    pub(crate) const fn task(&self, number: u32) -> TaskId {
        TaskId(self.first + number * self.step)
    }
}

/// An application.
pub(crate) struct App {
    pub(crate) name: String,
    pub(crate) background: bool,
    pub(crate) runtime: Runtime,
    pub(crate) program: Arc<Program>,
    pub(crate) first: TaskId,
    pub(crate) tasks: u32,
    pub(crate) rank_scale: Vec<u32>,
    /// First index of its profiles in the run's table; the entry before it is its transfer profile.
    pub(crate) profiles: u32,
    /// From time zero or the end of `after` to its arrival.
    pub(crate) delay: Span,
    pub(crate) after: Option<AppId>,
    /// When it came, and when it was admitted.
    pub(crate) arrived: Time,
    pub(crate) begun: Time,
    /// When the first task was past the start-up barrier.
    pub(crate) met: Option<Time>,
    /// When the program started its own clock.
    pub(crate) clock: Option<Time>,
    pub(crate) started: bool,
    /// Key of its stream of fork costs.
    pub(crate) fork_noise: u64,
    pub(crate) forked: u32,
    pub(crate) exited: u32,
    pub(crate) end: Option<Time>,
    pub(crate) counters: Counters,
    /// The meeting of all; if the program has barriers of teams, that of the leaders and of each team.
    pub(crate) meetings: Vec<Meeting>,
    /// Tasks of a process, at least 1.
    pub(crate) process: u32,
    /// Tasks of a team, at least 1.
    pub(crate) team: u32,
    pub(crate) loops: SharedLoops,
    pub(crate) exchanges: Exchanges,
    pub(crate) locks: Locks,
}

impl App {
    pub(crate) const fn task(&self, rank: u32) -> TaskId {
        TaskId(self.first.0 + rank)
    }

    /// Where a rank sits in a circle.
    #[inline]
    pub(crate) const fn seat(&self, circle: Circle, rank: u32) -> Seat {
        let (first, team) = (self.first.0, self.team);
        match circle {
            Circle::All => Seat { meeting: 0, number: rank, first, step: 1 },
            Circle::Leaders => Seat { meeting: 1, number: rank / team, first, step: team },
            Circle::Team => {
                let meeting = 2 + (rank / team) as usize;
                Seat { meeting, number: rank % team, first: first + rank / team * team, step: 1 }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_keep_their_size() {
        // Machines of a million cpus: a byte more is a megabyte for cpus, four for tasks.
        assert_eq!((size_of::<Cpu>(), size_of::<Task>()), (448, 256));
    }
}
