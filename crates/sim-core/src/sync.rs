//! Barriers, neighbour exchanges, locks and shared loops: who signals whom, and what each rank then waits
//! for.
//!
//! Pure bookkeeping: this module knows ranks, the names of tasks, and instants, not tasks, cpus or queues.

use std::collections::VecDeque;

use crate::ids::{CpuId, Id as _, LockId, TaskId};
use crate::lock::{LockRules, Protocol};
use crate::time::{Span, Time};
use crate::wait::BarrierKind;

/// A flag that becomes visible to a rank at an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Flag(Time);

const UNSET: Flag = Flag(Time::NEVER);

/// The next step of a rank at a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BarrierStep {
    /// Wait for the children of the tree; ready at this instant as far as is known.
    Gather(Time),
    /// Signal this rank, the parent in the tree, then wait for the release.
    NotifyParent(u32),
    /// Every rank has arrived: release them all.
    ReleaseAll,
    /// Wait for the release.
    AwaitRelease,
    /// Signal this rank in this round, then wait for the flag of the same round.
    NotifyPartner(u32, u32),
    /// The barrier is complete.
    Done,
}

/// The state of an application's barrier.
pub(crate) struct Barrier {
    kind: BarrierKind,
    ranks: u32,
    rounds: u32,
    /// A tree that nobody releases: a rank that has signalled its parent is past it.
    gathers: bool,
    /// Central: arrivals of the present episode.
    arrived: u32,
    /// Central: until when the counter's line is taken.
    pub(crate) line_free: Time,
    /// Central: the rank that had the line last.
    pub(crate) line_holder: u32,
    /// Tree: for each rank with children the signals got from them, and when the latest is visible.
    gathered: Vec<(u32, Time)>,
    /// Dissemination: flags by rank, round and parity.
    flags: Vec<Flag>,
}

impl Barrier {
    pub(crate) fn new(kind: BarrierKind, ranks: u32) -> Self {
        let rounds = if ranks > 1 { (ranks - 1).ilog2() + 1 } else { 0 };
        // The children of rank r are r x arity + 1 and the next ones.
        let parents =
            if let BarrierKind::Tree { arity } = kind { ranks.saturating_sub(1).div_ceil(arity) } else { 0 };
        let flags = if kind == BarrierKind::Dissemination { ranks as usize * rounds as usize * 2 } else { 0 };
        Self {
            kind,
            ranks,
            rounds,
            gathers: false,
            arrived: 0,
            line_free: Time::ZERO,
            line_holder: 0,
            gathered: vec![(0, Time::ZERO); parents as usize],
            flags: vec![UNSET; flags],
        }
    }

    /// One at the end of parallel regions, where a tree only gathers: its release is that of the next region
    /// (`__kmp_join_barrier` of the OpenMP runtime of Intel and LLVM).
    pub(crate) fn that_joins(kind: BarrierKind, ranks: u32) -> Self {
        Self { gathers: matches!(kind, BarrierKind::Tree { .. }), ..Self::new(kind, ranks) }
    }

    /// Whether a rank that has signalled its parent is past it.
    pub(crate) const fn gathers(&self) -> bool {
        self.gathers
    }

    /// The number of ranks.
    #[inline]
    pub(crate) const fn ranks(&self) -> u32 {
        self.ranks
    }

    #[inline]
    pub(crate) const fn is_central(&self) -> bool {
        matches!(self.kind, BarrierKind::Central)
    }

    const fn children(&self, rank: u32) -> u32 {
        let BarrierKind::Tree { arity } = self.kind else { return 0 };
        let first = rank as u64 * arity as u64 + 1;
        let ranks = self.ranks as u64;
        if first >= ranks {
            0
        } else if first + arity as u64 > ranks {
            (ranks - first) as u32
        } else {
            arity
        }
    }

    /// A rank arrives.
    #[inline]
    pub(crate) fn arrive(&mut self, rank: u32) -> BarrierStep {
        match self.kind {
            BarrierKind::Central => {
                debug_assert!(
                    self.arrived < self.ranks,
                    "{} of {} ranks have arrived",
                    self.arrived,
                    self.ranks
                );
                self.arrived += 1;
                if self.arrived == self.ranks {
                    self.arrived = 0;
                    BarrierStep::ReleaseAll
                } else {
                    BarrierStep::AwaitRelease
                }
            }
            BarrierKind::Tree { .. } if self.children(rank) > 0 => {
                BarrierStep::Gather(self.gather_ready(rank))
            }
            BarrierKind::Tree { .. } => self.gather_done(rank),
            BarrierKind::Dissemination => self.round(rank, 0),
        }
    }

    /// When all children of a rank are visible to have arrived.
    pub(crate) fn gather_ready(&self, rank: u32) -> Time {
        let (got, latest) = self.gathered[rank as usize];
        if got >= self.children(rank) { latest } else { Time::NEVER }
    }

    /// A child's signal, visible at an instant.
    pub(crate) fn child_arrived(&mut self, rank: u32, visible: Time) {
        let children = self.children(rank);
        let (got, latest) = &mut self.gathered[rank as usize];
        debug_assert!(*got < children, "rank {rank} gets a signal more than its {children} children send");
        *got += 1;
        *latest = visible.max(*latest);
    }

    /// A rank has observed the signals of all its children.
    pub(crate) fn gather_done(&mut self, rank: u32) -> BarrierStep {
        let BarrierKind::Tree { arity } = self.kind else {
            unreachable!("children are gathered at a barrier that is no tree");
        };
        // Leaves have no signals to forget.
        if let Some(gathered) = self.gathered.get_mut(rank as usize) {
            *gathered = (0, Time::ZERO);
        }
        match rank {
            0 if self.gathers => BarrierStep::Done,
            0 => BarrierStep::ReleaseAll,
            rank => BarrierStep::NotifyParent((rank - 1) / arity),
        }
    }

    /// The step of a rank that enters a round of the dissemination barrier.
    #[inline]
    pub(crate) fn round(&self, rank: u32, round: u32) -> BarrierStep {
        if round >= self.rounds {
            return BarrierStep::Done;
        }
        BarrierStep::NotifyPartner(((u64::from(rank) + (1 << round)) % u64::from(self.ranks)) as u32, round)
    }

    #[inline]
    const fn flag(&self, rank: u32, round: u32, episode: u32) -> usize {
        ((rank * self.rounds + round) * 2 + episode % 2) as usize
    }

    /// Sets a rank's flag of a round.
    #[inline]
    pub(crate) fn set_flag(&mut self, rank: u32, round: u32, episode: u32, visible: Time) {
        let at = self.flag(rank, round, episode);
        debug_assert!(self.flags[at] == UNSET, "the flag of rank {rank} in round {round} is set twice");
        self.flags[at] = Flag(visible);
    }

    /// When a rank's flag of a round is visible.
    #[inline]
    pub(crate) fn flag_time(&self, rank: u32, round: u32, episode: u32) -> Time {
        self.flags[self.flag(rank, round, episode)].0
    }

    /// A rank has observed its flag of a round.
    #[inline]
    pub(crate) fn clear_flag(&mut self, rank: u32, round: u32, episode: u32) {
        let at = self.flag(rank, round, episode);
        self.flags[at] = UNSET;
    }
}

/// A rank is at an operation that was not declared as an exchange or a shared loop. Its arguments are copies,
/// so that the frequent paths need not keep them in memory for the message.
#[cold]
#[inline(never)]
fn not_declared(pc: u32, rank: u32) -> ! {
    unreachable!("rank {rank} is at operation {pc}, which is no exchange and no shared loop")
}

/// Signals between neighbours: for each exchange operation of the program and each rank what came and what
/// was used.
#[derive(Default)]
pub(crate) struct Exchanges {
    ranks: u32,
    /// Position in the program of each exchange operation.
    slots: Vec<u32>,
    /// (signals got, signals used, when the latest is visible).
    boxes: Vec<(u32, u32, Time)>,
}

impl Exchanges {
    pub(crate) fn new(slots: Vec<u32>, ranks: u32) -> Self {
        let boxes = vec![(0, 0, Time::ZERO); slots.len() * ranks as usize];
        Self { ranks, slots, boxes }
    }

    fn at(&self, pc: u32, rank: u32) -> usize {
        let Ok(slot) = self.slots.binary_search(&pc) else {
            not_declared(pc, rank);
        };
        slot * self.ranks as usize + rank as usize
    }

    /// A signal for a rank.
    pub(crate) fn notify(&mut self, pc: u32, rank: u32, visible: Time) {
        let at = self.at(pc, rank);
        let (got, _, latest) = &mut self.boxes[at];
        *got = got.wrapping_add(1);
        *latest = visible.max(*latest);
    }

    /// When the next unused signal of a rank is visible (earlier ones than the latest count as visible now).
    pub(crate) fn ready(&self, pc: u32, rank: u32, now: Time) -> Time {
        let (got, used, latest) = self.boxes[self.at(pc, rank)];
        match got.wrapping_sub(used) {
            0 => Time::NEVER,
            1 => latest,
            _ => now,
        }
    }

    /// A rank uses a signal.
    pub(crate) fn take(&mut self, pc: u32, rank: u32) {
        let at = self.at(pc, rank);
        debug_assert!(self.boxes[at].0 != self.boxes[at].1, "rank {rank} uses a signal that it has not got");
        self.boxes[at].1 = self.boxes[at].1.wrapping_add(1);
    }
}

/// What follows when a lock is given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Given {
    /// Nothing: nobody waits, or the task did not have it.
    Nothing,
    /// This task has it now.
    To(TaskId),
    /// Anyone may take it. Waiters that poll see it; this task, which sleeps, is woken.
    Free(Option<TaskId>),
}

/// The cache line of a lock's word. It moves to one cpu at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Line {
    /// The cpu that had it last; none before the first use.
    cpu: Option<CpuId>,
    /// Since when, and until when, moves follow each other without a gap.
    busy: (Time, Time),
}

impl Line {
    /// A cpu writes the word, and other cpus that poll it then fetch it again, all of them within `reads`.
    /// Returns how long the writer waits for the line: for the moves before its own, and for its own, which
    /// takes `latency` from the cpu that has it.
    pub(crate) fn write(
        &mut self,
        at: Time,
        cpu: CpuId,
        latency: impl Fn(CpuId) -> Span,
        reads: Span,
    ) -> Span {
        let own = self.cpu.filter(|had| *had != cpu).map_or(Span::ZERO, latency);
        self.cpu = Some(cpu);
        let (since, until) = self.busy;
        if at < since {
            // The moves in progress belong to a writer whose instant is later: they come after this one.
            self.busy.1 = until + own + reads;
            return own;
        }
        let begins = at.max(until);
        self.busy = (if at > until { at } else { since }, begins + own + reads);
        begins.since(at) + own
    }
}

/// A lock.
struct Lock {
    rules: LockRules,
    holder: Option<TaskId>,
    /// Tasks in the order in which they came to wait (handed over) or fell asleep (barging).
    queue: VecDeque<TaskId>,
    /// Barging: waiters that polled when the lock was last free, and those that began since.
    pollers: Vec<TaskId>,
    /// Barging: a waiter has announced that it sleeps, so that the next release wakes one (the futex has the
    /// value 2).
    contended: bool,
    /// Barging: when it was last given back, and on which cpu.
    freed: (Time, CpuId),
    /// The line of its word.
    line: Line,
}

/// The locks of a run: those that applications share, then those that each of the others has of its own.
#[derive(Default)]
pub(crate) struct Locks(Vec<Lock>);

impl Locks {
    /// Adds so many locks of a kind; returns the number of the first one.
    pub(crate) fn add(&mut self, rules: LockRules, locks: u32) -> u32 {
        let first = self.0.len() as u32;
        let lock = |_| Lock {
            rules,
            holder: None,
            queue: VecDeque::new(),
            pollers: Vec::new(),
            contended: false,
            freed: (Time::ZERO, CpuId(0)),
            line: Line::default(),
        };
        self.0.extend((0..locks).map(lock));
        first
    }

    /// The kind of a lock.
    #[inline]
    pub(crate) fn rules(&self, lock: LockId) -> LockRules {
        self.0[lock.index()].rules
    }

    /// Tasks that wait for some of them may sleep.
    pub(crate) fn may_sleep(&self) -> bool {
        self.0.iter().any(|lock| lock.rules.sleeps_after().is_some())
    }

    /// Who has a lock.
    pub(crate) fn holder(&self, lock: LockId) -> Option<TaskId> {
        self.0[lock.index()].holder
    }

    /// Takes a lock that is free or has been handed over; true when taken. Otherwise the task waits, in the
    /// queue of a lock that is handed over.
    pub(crate) fn take(&mut self, lock: LockId, task: TaskId) -> bool {
        let lock = &mut self.0[lock.index()];
        let barges = lock.rules.barges();
        match lock.holder {
            None => {
                lock.holder = Some(task);
                lock.contended = false;
            }
            Some(holder) if holder == task => {}
            Some(_) => {
                if !barges {
                    lock.queue.push_back(task);
                }
                return false;
            }
        }
        true
    }

    /// A waiter takes a free lock. `announced`: it had announced that it sleeps, and does not know whether it
    /// was the only one.
    pub(crate) fn seize(&mut self, lock: LockId, task: TaskId, announced: bool) {
        let lock = &mut self.0[lock.index()];
        debug_assert!(lock.holder.is_none(), "{task} takes a lock that {:?} has", lock.holder);
        lock.holder = Some(task);
        lock.contended = announced;
        lock.pollers.retain(|other| *other != task);
    }

    /// Gives a lock back on a cpu, visible from an instant on.
    pub(crate) fn give(&mut self, lock: LockId, task: TaskId, at: (Time, CpuId)) -> Given {
        let lock = &mut self.0[lock.index()];
        let barges = lock.rules.barges();
        if lock.holder != Some(task) {
            return Given::Nothing;
        }
        lock.holder = None;
        if barges {
            lock.freed = at;
            let wakes = std::mem::take(&mut lock.contended);
            return Given::Free(if wakes { lock.queue.pop_front() } else { None });
        }
        lock.holder = lock.queue.pop_front();
        lock.holder.map_or(Given::Nothing, Given::To)
    }

    /// The least priority that a task has by its locks; 0: none. `of`: the priorities of tasks.
    pub(crate) fn priority_of(&self, task: TaskId, of: impl Fn(TaskId) -> u8) -> u8 {
        let by = |lock: &Lock| match lock.rules.protocol {
            Protocol::Inherits if lock.holder == Some(task) => lock.queue.iter().map(|id| of(*id)).max(),
            Protocol::Ceiling(ceiling) if lock.holder == Some(task) || lock.queue.contains(&task) => {
                Some(ceiling)
            }
            Protocol::Plain | Protocol::Inherits | Protocol::Ceiling(_) => None,
        };
        self.0.iter().filter_map(by).max().unwrap_or(0)
    }

    /// A task that waits goes behind all that have at least its priority.
    pub(crate) fn reorder(&mut self, lock: LockId, task: TaskId, of: impl Fn(TaskId) -> u8) {
        let queue = &mut self.0[lock.index()].queue;
        let Some(at) = queue.iter().position(|other| *other == task) else { return };
        queue.remove(at);
        let to = queue.iter().position(|other| of(*other) < of(task)).unwrap_or(queue.len());
        queue.insert(to, task);
    }

    /// When and on which cpu a lock was given back, if it is free.
    pub(crate) fn free(&self, lock: LockId) -> Option<(Time, CpuId)> {
        let lock = &self.0[lock.index()];
        lock.holder.is_none().then_some(lock.freed)
    }

    /// A waiter announces that it sleeps, if the lock is held.
    pub(crate) fn announce(&mut self, lock: LockId) {
        let lock = &mut self.0[lock.index()];
        lock.contended = lock.holder.is_some();
    }

    /// A waiter that has announced it falls asleep, unless the lock has been given back since; false then.
    pub(crate) fn sleep(&mut self, lock: LockId, task: TaskId) -> bool {
        let lock = &mut self.0[lock.index()];
        if !lock.contended {
            return false;
        }
        lock.pollers.retain(|other| *other != task);
        lock.queue.push_back(task);
        true
    }

    /// The line of a lock's word.
    pub(crate) fn line(&mut self, lock: LockId) -> &mut Line {
        &mut self.0[lock.index()].line
    }

    /// True when a lock that is handed over has a next holder in line.
    pub(crate) fn has_next(&self, lock: LockId) -> bool {
        let lock = &self.0[lock.index()];
        !lock.rules.barges() && !lock.queue.is_empty()
    }

    /// The waiters of which some poll.
    pub(crate) fn waiters(&self, lock: LockId) -> impl Iterator<Item = TaskId> {
        let lock = &self.0[lock.index()];
        let barges = lock.rules.barges();
        let (pollers, queue) = if barges { (&*lock.pollers, None) } else { (&[][..], Some(&lock.queue)) };
        // One to which it has been handed over polls until it sees that.
        let next = lock.holder.filter(|_| !barges);
        pollers.iter().chain(queue.into_iter().flatten()).copied().chain(next)
    }

    /// The waiters that poll.
    pub(crate) fn pollers(&mut self, lock: LockId) -> &mut Vec<TaskId> {
        &mut self.0[lock.index()].pollers
    }
}

/// Loops whose passes all ranks share: for each such loop of the program who is in which visit of it, and how
/// many passes of the latest visit are taken. A rank begins a visit only when the one before is used up, so
/// all visits but the latest are.
#[derive(Default)]
pub(crate) struct SharedLoops {
    ranks: u32,
    /// Position in the program of each shared loop.
    slots: Vec<u32>,
    /// Per loop: the latest visit, and its passes taken.
    latest: Vec<(u64, u32)>,
    /// Per loop and rank: the visit it is in.
    visits: Vec<u64>,
}

impl SharedLoops {
    pub(crate) fn new(slots: Vec<u32>, ranks: u32) -> Self {
        let visits = vec![0; slots.len() * ranks as usize];
        Self { ranks, latest: vec![(0, 0); slots.len()], slots, visits }
    }

    /// A rank asks for the next of `passes` passes; false (its visit is over) when none is left.
    pub(crate) fn take(&mut self, pc: u32, rank: u32, passes: u32) -> bool {
        let Ok(slot) = self.slots.binary_search(&pc) else {
            not_declared(pc, rank);
        };
        let visit = &mut self.visits[slot * self.ranks as usize + rank as usize];
        let (latest, taken) = &mut self.latest[slot];
        if *visit > *latest {
            *latest = *visit;
            *taken = 0;
        }
        if *visit < *latest || *taken >= passes {
            *visit += 1;
            return false;
        }
        *taken += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_counts_its_children() {
        let barrier = Barrier::new(BarrierKind::Tree { arity: 4 }, 7);
        assert_eq!((0..7).map(|r| barrier.children(r)).collect::<Vec<_>>(), [4, 2, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_parent_waits_for_the_signal_that_is_visible_last() {
        let mut barrier = Barrier::new(BarrierKind::Tree { arity: 2 }, 3);
        // The second signal comes from nearby and overtakes the first.
        barrier.child_arrived(0, Time::from_ns(300));
        assert!(barrier.gather_ready(0).is_never());
        barrier.child_arrived(0, Time::from_ns(200));
        assert_eq!(barrier.gather_ready(0), Time::from_ns(300));
        assert_eq!(barrier.gather_done(0), BarrierStep::ReleaseAll);
        assert!(barrier.gather_ready(0).is_never(), "the signals of the next episode are still to come");
    }

    #[test]
    fn dissemination_takes_ceil_log2_rounds() {
        for (ranks, rounds) in [(1, 0), (2, 1), (3, 2), (4, 2), (16, 4), (17, 5)] {
            let barrier = Barrier::new(BarrierKind::Dissemination, ranks);
            assert_eq!(barrier.rounds, rounds);
            assert_eq!(barrier.round(0, rounds), BarrierStep::Done);
        }
        let barrier = Barrier::new(BarrierKind::Dissemination, 5);
        assert_eq!(barrier.round(4, 1), BarrierStep::NotifyPartner(1, 1));
    }

    #[test]
    fn central_releases_with_the_last() {
        let mut barrier = Barrier::new(BarrierKind::Central, 2);
        assert_eq!(barrier.arrive(1), BarrierStep::AwaitRelease);
        assert_eq!(barrier.arrive(0), BarrierStep::ReleaseAll);
        assert_eq!(barrier.arrive(0), BarrierStep::AwaitRelease);
    }

    #[test]
    fn passes_of_a_shared_loop_are_taken_once_per_visit() {
        let mut loops = SharedLoops::new(vec![4], 2);
        // Rank 0 takes two of three passes, rank 1 the third; then nothing is left for either.
        assert!(loops.take(4, 0, 3) && loops.take(4, 0, 3) && loops.take(4, 1, 3));
        assert!(!loops.take(4, 0, 3));
        // Rank 0 comes again before rank 1 has left: a fresh loop for it, the old one for rank 1.
        assert!(loops.take(4, 0, 3));
        assert!(!loops.take(4, 1, 3));
        assert!(loops.take(4, 1, 3) && loops.take(4, 1, 3));
        assert!(!loops.take(4, 1, 3) && !loops.take(4, 0, 3));
        assert!(loops.take(4, 1, 3));
    }

    const AT: (Time, CpuId) = (Time::ZERO, CpuId(0));
    const L: LockId = LockId(2);

    /// Two locks of another kind, and one of this kind.
    fn one(rules: LockRules) -> Locks {
        let mut locks = Locks::default();
        assert_eq!((locks.add(LockRules::QUEUED, 2), locks.add(rules, 1)), (0, 2));
        locks
    }

    #[test]
    fn a_lock_is_handed_over_in_order() {
        let mut locks = one(LockRules::TICKET);
        assert!(locks.take(L, TaskId(2)));
        assert!(!locks.take(L, TaskId(0)) && !locks.take(L, TaskId(1)));
        assert_eq!(locks.give(L, TaskId(2), AT), Given::To(TaskId(0)));
        assert_eq!(locks.give(L, TaskId(1), AT), Given::Nothing);
        assert_eq!(locks.give(L, TaskId(0), AT), Given::To(TaskId(1)));
        assert_eq!(locks.give(L, TaskId(1), AT), Given::Nothing);
    }

    #[test]
    fn a_free_mutex_is_anyone_s_and_wakes_one_sleeper() {
        let mut locks = one(LockRules::MUTEX);
        assert!(locks.take(L, TaskId(0)) && !locks.take(L, TaskId(1)) && !locks.take(L, TaskId(2)));
        for rank in [1, 2] {
            locks.announce(L);
            assert!(locks.sleep(L, TaskId(rank)));
        }
        assert_eq!(locks.give(L, TaskId(0), AT), Given::Free(Some(TaskId(1))));
        // Another one is faster. It has seen no waiter, so it wakes none.
        assert!(locks.take(L, TaskId(3)));
        assert_eq!(locks.give(L, TaskId(3), AT), Given::Free(None));
        // The woken one does not know whether others sleep.
        locks.seize(L, TaskId(1), true);
        assert_eq!(locks.give(L, TaskId(1), AT), Given::Free(Some(TaskId(2))));
    }

    #[test]
    fn no_waiter_sleeps_on_a_mutex_that_was_given_back_meanwhile() {
        let mut locks = one(LockRules::MUTEX);
        assert!(locks.take(L, TaskId(0)) && !locks.take(L, TaskId(1)));
        locks.announce(L);
        assert_eq!(locks.give(L, TaskId(0), AT), Given::Free(None));
        assert!(!locks.sleep(L, TaskId(1)));
        // Nor when a third one, which knows of no waiter, has it by now.
        assert!(locks.take(L, TaskId(2)));
        assert!(!locks.sleep(L, TaskId(1)));
        locks.announce(L);
        assert!(locks.sleep(L, TaskId(1)));
        assert_eq!(locks.give(L, TaskId(2), AT), Given::Free(Some(TaskId(1))));
    }
}
