//! What applications do: compact programs of operations that tasks unroll lazily, one operation at a time.

use std::sync::Arc;

use crate::command::{Act, Command};
use crate::ids::{AppId, CpuId, LockId, NodeId, ProfileId};
use crate::limits::{MAX_LOOP_DEPTH, MAX_OPS};
use crate::lock::LockRules;
use crate::machine::CpuSet;
use crate::rng;
pub use crate::spread::Spread;
use crate::time::{Span, Time, Work};
use crate::wait::{BarrierKind, Polling, WaitMode};

/// Where the pages lie that an operation works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pages {
    /// On the node where the task first touched its data (its home node).
    FirstTouch,
    /// As `FirstTouch`, but the pages follow a task that computes on another node (next touch): they are
    /// copied once.
    NextTouch,
    /// On the home node of rank 0, which initialised the data for all.
    Master,
    /// On the home nodes of all tasks of the application, as many as have their home there: each task first
    /// touched a part of data that all then use at random.
    Team,
    /// Spread over all nodes.
    Interleaved,
    /// On one node; nodes the machine lacks count as node 0.
    Node(NodeId),
}

/// What a compute operation demands of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryProfile {
    /// Bytes per second when alone at nominal speed.
    pub demand: u64,
    /// Memory-bound share of the time, in 1/65,536; `None` derives it from the demand:
    /// min(1, demand / (bound_demand x controller bandwidth)).
    pub bound: Option<u32>,
    /// Bytes the task works on (bounds the refill after a migration).
    pub working_set: u64,
    /// Where its pages lie.
    pub pages: Pages,
    /// Share of the accesses, in 1/65,536, that go to data shared by all tasks and spread over all nodes
    /// instead.
    pub shared: u32,
}

impl MemoryProfile {
    /// Works in its registers: no memory traffic.
    pub const NONE: Self =
        Self { demand: 0, bound: Some(0), working_set: 0, pages: Pages::FirstTouch, shared: 0 };

    /// True when automatic NUMA balancing finds its pages in use. Pages whose place a memory policy states
    /// (`mbind`: on one node, interleaved, next touch) are out of its reach (`vma_policy_mof`).
    #[must_use]
    pub const fn is_scanned(&self) -> bool {
        let by_touch = matches!(self.pages, Pages::FirstTouch | Pages::Master | Pages::Team);
        by_touch && self.demand > 0 && self.working_set > 0
    }
}

/// The order in which the ranks of a bulk exchange read each other's blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransferOrder {
    /// Every rank starts at source 0, 1, 2, ...: ranks in lock step crowd one source.
    Sequential,
    /// Rank r starts at source r + 1: no crowding.
    Rotated,
}

/// One operation of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Work at nominal speed, its variation per task and execution, and its memory profile.
    Compute {
        /// Mean work of one execution.
        work: Work,
        /// Variation of it.
        spread: Spread,
        /// Memory profile.
        profile: ProfileId,
    },
    /// As `Compute`, by rank 0 alone (a serial section); the others pass over it and meet it at the next
    /// barrier.
    Serial {
        /// Mean work of one execution.
        work: Work,
        /// Variation of it.
        spread: Spread,
        /// Memory profile.
        profile: ProfileId,
    },
    /// Meet all tasks of the application.
    Barrier,
    /// Meet the tasks of the same team ([`AppSpec::team`]).
    TeamBarrier,
    /// The first task of each team meets those of the other teams; all others pass at once.
    LeadersBarrier,
    /// Signal rank + shift, then wait for the signal of rank - shift (modulo the number of ranks).
    Exchange {
        /// Distance in ranks; taken modulo their number.
        shift: u32,
    },
    /// All-to-all: read one block from every other rank, each from the reader's source's home node.
    Transfer {
        /// Bytes of one block.
        block: u64,
        /// Order of the sources.
        order: TransferOrder,
    },
    /// Take a lock of the application ([`AppSpec::lock`]).
    Lock(LockId),
    /// Give it back.
    Unlock(LockId),
    /// Sleep for a span (timer).
    Sleep {
        /// Mean length.
        span: Span,
        /// Variation of it.
        spread: Spread,
    },
    /// Call `sched_yield` once.
    Yield,
    /// The task's process ends and a new one takes its rank and continues with the program: it is placed anew
    /// as a fork from the cpu it was on, without cached data or a home, and costs a fork.
    Respawn,
    /// The program starts its own clock: what it reports as its run time counts from when the first task gets
    /// here.
    StartClock,
    /// Start of a loop body executed `0` (forever) or this many times.
    Repeat(u32),
    /// Start of a loop body executed this many times (at least once) by all ranks together: each takes the
    /// next pass until none is left, then continues behind the loop. Re-entering restarts the loop. Its body
    /// has no barrier.
    RepeatShared(u32),
    /// End of the innermost loop body.
    End,
}

/// A program: validated operations, shared by all ranks of an application.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    ops: Vec<Op>,
    profiles: Vec<MemoryProfile>,
    /// For each `Repeat` the position of its `End` and the reverse; itself otherwise.
    partner: Vec<u32>,
    /// How many loops begun by `Repeat` are around each operation, and behind the last one.
    around: Vec<u8>,
    locks: u32,
    per_pass: Vec<u32>,
}

impl Program {
    /// A program of these operations; profile ids index `profiles`.
    ///
    /// # Errors
    /// A sentence: loops that do not nest, too deep or endless without consuming time, unknown profiles, too
    /// many operations.
    pub fn new(ops: Vec<Op>, profiles: Vec<MemoryProfile>) -> Result<Self, String> {
        if ops.len() > MAX_OPS {
            return Err(format!("a program has at most {MAX_OPS} operations, this one has {}", ops.len()));
        }
        let mut partner: Vec<u32> = (0..ops.len() as u32).collect();
        let mut open: Vec<usize> = Vec::new();
        let mut locks = 0;
        for (i, op) in ops.iter().enumerate() {
            match op {
                Op::Repeat(_) | Op::RepeatShared(_) => {
                    open.push(i);
                    if open.len() > MAX_LOOP_DEPTH {
                        return Err(format!("loops nest at most {MAX_LOOP_DEPTH} deep"));
                    }
                    if *op == Op::RepeatShared(0) {
                        return Err("a shared loop has at least one pass".into());
                    }
                }
                Op::End => {
                    let Some(start) = open.pop() else {
                        return Err("a loop ends that was not begun".into());
                    };
                    if !ops[start + 1..i].iter().any(Self::takes_time) {
                        return Err("a loop body must take time (compute, sleep, barrier or the like)".into());
                    }
                    if matches!(ops[start], Op::RepeatShared(_))
                        && ops[start + 1..i].iter().any(Self::is_shared_by_all)
                    {
                        return Err("tasks share the passes of a loop only if they do not meet in it".into());
                    }
                    partner[start] = i as u32;
                    partner[i] = start as u32;
                }
                Op::Compute { work, spread, profile } | Op::Serial { work, spread, profile } => {
                    if profile.0 as usize >= profiles.len() {
                        return Err(format!("{profile} is not declared"));
                    }
                    let most = if *spread == Spread::EXPONENTIAL { Spread::LONGEST } else { 2 };
                    if !spread.is_legal() || work.raw() > Work::MAX.raw() / most {
                        return Err("a compute operation is out of range".into());
                    }
                }
                Op::Lock(lock) | Op::Unlock(lock) => locks = locks.max(lock.0 + 1),
                Op::Sleep { spread, .. } if !spread.is_legal() => {
                    return Err("a sleep's variation is out of range".into());
                }
                _ => {}
            }
        }
        if !open.is_empty() {
            return Err("a loop is not ended".into());
        }
        // Numbers every execution that draws: a draw's index is a pure function of the position in the
        // program.
        let per_pass = ops.iter().map(|op| u32::from(Self::draws(op))).collect();
        let around = Self::around(&ops, &partner);
        Ok(Self { ops, profiles, partner, around, locks, per_pass })
    }

    /// How many loops begun by `Repeat` are around each operation: their `End` is inside.
    fn around(ops: &[Op], partner: &[u32]) -> Vec<u8> {
        let mut depth = 0;
        let of = |(at, op): (usize, &Op)| {
            let around = depth;
            match op {
                Op::Repeat(_) => depth += 1,
                Op::End if matches!(ops[partner[at] as usize], Op::Repeat(_)) => depth -= 1,
                _ => {}
            }
            around
        };
        ops.iter().enumerate().map(of).chain([0]).collect()
    }

    const fn takes_time(op: &Op) -> bool {
        match op {
            Op::Compute { work, .. } => work.raw() > 0,
            Op::Sleep { span, .. } => span.ns() > 0,
            Op::Barrier | Op::TeamBarrier | Op::Respawn | Op::Yield => true,
            // Serial work takes no time of the other ranks.
            Op::Serial { .. }
            | Op::LeadersBarrier
            | Op::Exchange { .. }
            | Op::Transfer { .. }
            | Op::Lock(_)
            | Op::Unlock(_)
            | Op::StartClock
            | Op::Repeat(_)
            | Op::RepeatShared(_)
            | Op::End => false,
        }
    }

    /// Tasks wait for each other here, or the operation is one that ranks must execute equally often.
    const fn is_shared_by_all(op: &Op) -> bool {
        matches!(
            op,
            Op::Barrier
                | Op::TeamBarrier
                | Op::LeadersBarrier
                | Op::Exchange { .. }
                | Op::Transfer { .. }
                | Op::RepeatShared(_)
        )
    }

    const fn draws(op: &Op) -> bool {
        matches!(op, Op::Compute { .. } | Op::Serial { .. } | Op::Sleep { .. })
    }

    /// The operations.
    #[must_use]
    #[inline]
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The memory profiles.
    #[must_use]
    pub fn profiles(&self) -> &[MemoryProfile] {
        &self.profiles
    }

    /// Bytes a rank touches before it works on them: the largest working set whose pages lie by first touch.
    #[must_use]
    pub fn first_touched(&self) -> u64 {
        let by_touch =
            |p: &&MemoryProfile| matches!(p.pages, Pages::FirstTouch | Pages::NextTouch | Pages::Team);
        self.profiles.iter().filter(by_touch).map(|p| p.working_set).max().unwrap_or(0)
    }

    /// Bytes of a rank that automatic NUMA balancing scans: the largest working set in its reach.
    #[must_use]
    pub fn scanned(&self) -> u64 {
        let sets = self.profiles.iter().filter(|p| p.is_scanned()).map(|p| p.working_set);
        sets.max().unwrap_or(0)
    }

    /// True when its ranks ever wait for each other, at barriers or in exchanges.
    #[must_use]
    pub fn synchronises(&self) -> bool {
        let enters =
            |op: &Op| matches!(op, Op::Barrier | Op::TeamBarrier | Op::LeadersBarrier | Op::Exchange { .. });
        self.ops.iter().any(enters)
    }

    /// The number of locks it uses.
    #[must_use]
    pub const fn locks(&self) -> u32 {
        self.locks
    }

    /// The matching `Repeat` or `End` of a loop operation.
    #[must_use]
    #[inline]
    pub fn partner(&self, pc: u32) -> u32 {
        self.partner[pc as usize]
    }

    /// How many loops begun by `Repeat` are around a position.
    #[inline]
    pub(crate) fn loops_around(&self, pc: u16) -> usize {
        usize::from(self.around[usize::from(pc)])
    }

    /// The beginning of the outermost loop around a position.
    #[must_use]
    pub fn outermost(&self, pc: u32) -> Option<u32> {
        let mut at = 0;
        while at < pc {
            match self.ops.get(at as usize)? {
                Op::Repeat(_) | Op::RepeatShared(_) if pc <= self.partner(at) => return Some(at),
                Op::Repeat(_) | Op::RepeatShared(_) => at = self.partner(at) + 1,
                _ => at += 1,
            }
        }
        None
    }

    /// The number of variates one pass over the list draws.
    #[must_use]
    pub fn draws_per_pass(&self) -> u32 {
        self.per_pass.iter().sum()
    }
}

/// Who creates the tasks of an application. Creating rank r costs the machine's `fork`, varied by
/// `fork_spread`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forks {
    /// Rank 0 starts first, from a shell on cpu 0, and creates the others one after another before it
    /// continues (pthreads, OpenMP, UPC on threads).
    Master,
    /// A launcher on cpu 0 (`mpiexec`) creates all processes one after another, that of rank 0 like the
    /// others; its work is kernel work of cpu 0. Where processes have several threads ([`AppSpec::team`]), it
    /// creates the first rank of each, which creates the other ones before it continues.
    Launcher,
    /// All tasks exist and sleep before the start, each on any of the cpus that it may use; creating them
    /// costs nothing. At the start they are woken at one instant. The order and the cpus are drawn from the
    /// seed ([`release_order`]).
    Together,
    /// The same; all of them sleep on this cpu, which need not be one that they may use, and a task there
    /// wakes them: each is placed as a woken one.
    Woken(CpuId),
}

/// The order in which the ranks of an application are released: uniform over all orders (Fisher-Yates; Knuth,
/// TAOCP 2, 3.4.2, algorithm P), drawn from the seed. Beside each rank the number of the cpu on which it has
/// slept, among those that it may use (after the last one comes the first one again): drawn alike,
/// independent of the others. `app`: its
/// number in the run; `ranks`: at most 2^24.
#[must_use]
pub fn release_order(seed: u64, app: AppId, ranks: u32) -> Vec<(u32, u32)> {
    let key = rng::key(seed, rng::Purpose::Release, u64::from(app.0));
    let draws = u64::from(ranks)..;
    let mut order: Vec<(u32, u32)> = (0..ranks).zip(draws.map(|at| rng::draw(key, at))).collect();
    for last in (1..order.len()).rev() {
        let other = rng::below(last as u64 + 1, rng::draw(key, last as u64));
        order.swap(last, other as usize);
    }
    order
}

/// When a task's pages get their home (with [`Pages::FirstTouch`] and [`Pages::NextTouch`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touch {
    /// Each task touches its data in its first compute operation.
    Work,
    /// Each task touches its data as soon as it first runs (rank 0: when it has created the others), before
    /// any barrier: one page fault per page, and its working set written once, at the rate of one core.
    Each,
    /// Rank 0 touches every task's data so as soon as it first runs, before it creates anyone.
    Master,
}

/// How an application comes up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StartUp {
    /// Who creates whom.
    pub forks: Forks,
    /// All tasks meet once, by the runtime's barrier, before the program proper. Where a launcher creates
    /// processes of several threads, the threads of each meet by the barrier of their runtime; if this is a
    /// runtime of processes, the first ranks have met before they create the others (`MPI_Init`).
    pub barrier: bool,
    /// A task that waits there sleeps at once, whatever the runtime does at other barriers.
    pub sleeps: bool,
    /// Who touches the data, and when.
    pub touch: Touch,
}

impl StartUp {
    /// Rank 0 creates the others, no task waits for another one, data are touched by the first compute
    /// operation.
    pub const PLAIN: Self = Self { forks: Forks::Master, barrier: false, sleeps: false, touch: Touch::Work };
}

/// How an application's tasks are built and how they wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Runtime {
    /// Its name in reports.
    pub name: String,
    /// Barrier algorithm.
    pub barrier: BarrierKind,
    /// What a task does that waits at a barrier or for a message.
    pub wait: WaitMode,
    /// How it polls while it waits.
    pub polling: Polling,
    /// Tasks are processes (dearer switches between them) rather than threads of one process. Without meaning
    /// when the application has teams ([`AppSpec::team`]): each team is one process.
    pub processes: bool,
    /// How it comes up.
    pub startup: StartUp,
}

/// The scheduling policy of a task (`sched_setscheduler`), under EEVDF.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Scheduling {
    /// `SCHED_OTHER`.
    #[default]
    Other,
    /// `SCHED_BATCH`: it preempts no task when it wakes.
    Batch,
    /// `SCHED_IDLE`: it has the least weight and preempts no task. Any other task preempts it.
    Idle,
    /// `SCHED_FIFO` with a priority from 1 to 99 (best): it runs before all tasks of the policies above until
    /// it sleeps, and before its equals that came later.
    Fifo(u8),
    /// `SCHED_RR`: the same, and its equals have turns.
    RoundRobin(u8),
}

impl Scheduling {
    /// Its real-time priority, 1 to 99, if it has one.
    #[must_use]
    pub const fn priority(self) -> Option<u8> {
        match self {
            Self::Fifo(priority) | Self::RoundRobin(priority) => Some(priority),
            Self::Other | Self::Batch | Self::Idle => None,
        }
    }

    /// Tasks of one priority have turns.
    pub(crate) const fn takes_turns(self) -> bool {
        matches!(self, Self::RoundRobin(_))
    }
}

/// Load weight of a real-time task: twice that of nice -20 (`set_load_weight`, kernel/sched.c of Linux
/// 2.6.28), so that balancers leave other tasks elsewhere. Later kernels lower the capacity of its cpu.
pub const WEIGHT_REAL_TIME: u32 = 2 * 88_761;

/// Load weight of a task of [`Scheduling::Idle`] (`WEIGHT_IDLEPRIO`, kernel/sched/sched.h of Linux 6.18).
pub const WEIGHT_IDLE: u32 = 3;

/// Shortest and longest slice that a task can ask for (`__setparam_fair`, kernel/sched/syscalls.c of Linux
/// 6.12).
pub const OWN_SLICE: (Span, Span) = (Span::from_us(100), Span::from_ms(100));

/// An application: tasks that run one program, one rank each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AppSpec {
    /// Its name in reports.
    pub name: String,
    /// Number of tasks (ranks), at least 1; [`StartUp`] defines who creates them.
    pub tasks: u32,
    /// What each rank runs.
    pub program: Arc<Program>,
    /// How it waits at barriers and for messages.
    pub runtime: Runtime,
    /// The kind of its locks: who gets them, and how tasks wait for them.
    pub lock: LockRules,
    /// When it arrives; with `after`, how long after the end of that application.
    pub start: Time,
    /// It arrives when this application, an earlier one of the run, has ended.
    pub after: Option<AppId>,
    /// A background application (hog, daemon): the run ends when all others have ended.
    pub background: bool,
    /// Its tasks answer requests: each wake-up after a timed sleep is one, and somebody waits until its work
    /// is done.
    pub requests: bool,
    /// Time in which a request should be done after its wake-up, or a program without requests after its
    /// arrival.
    pub deadline: Option<Span>,
    /// Load weight of each task; 1,024 is nice 0.
    pub weight: u32,
    /// Load weight of each rank in place of `weight`; empty = `weight` for all.
    pub rank_weights: Vec<u32>,
    /// How Linux schedules its tasks.
    pub scheduling: Scheduling,
    /// How it schedules each rank in place of `scheduling`; empty = `scheduling` for all.
    pub rank_scheduling: Vec<Scheduling>,
    /// Slice of each of its tasks (`sched_setattr`, under EEVDF since Linux 6.12), 0.1 to 100 ms; `None` =
    /// that of the kernel.
    pub slice: Option<Span>,
    /// Threads per process of a hybrid application: ranks 0 to team - 1 are the first process, and so on; the
    /// first rank of each is its leader, and the last one may have fewer ranks. 0 = no teams: every rank is
    /// one.
    pub team: u32,
    /// How the threads of a team wait for each other at its barriers and at locks, where that is not the
    /// business of `runtime`: an OpenMP runtime beside an MPI library. It has no say in who creates the
    /// tasks.
    pub team_runtime: Option<Runtime>,
    /// Work of each rank in thousandths of the program's, at least 1; empty = 1,000 for all.
    pub rank_scale: Vec<u32>,
    /// Cpus its tasks may use (inherited affinity); `None` = all.
    pub allowed: Option<CpuSet>,
    /// Changes of the affinity mask of all its tasks (as `taskset -ap`): how long after its start, and the
    /// cpus, at least one of which must exist.
    pub rebinds: Vec<(Span, CpuSet)>,
    /// What is done to all its tasks from outside; no part of sampled runs.
    pub commands: Vec<Command>,
    /// Its task group: an index into [`crate::os::OsModel::groups`], or none.
    pub group: Option<u16>,
    /// Its tasks compute in kernel mode, where the preemption models `none` and `voluntary` take no cpu from
    /// a task: they keep it until they sleep or end.
    pub kernel_mode: bool,
}

impl AppSpec {
    /// Load weight of the task of a rank.
    #[must_use]
    pub fn weight_of(&self, rank: u32) -> u32 {
        if self.scheduling_of(rank).priority().is_some() {
            return WEIGHT_REAL_TIME;
        }
        self.rank_weights.get(rank as usize).copied().unwrap_or(self.weight)
    }

    /// How the task of a rank is scheduled.
    #[must_use]
    pub fn scheduling_of(&self, rank: u32) -> Scheduling {
        self.rank_scheduling.get(rank as usize).copied().unwrap_or(self.scheduling)
    }

    /// Some of its tasks are real-time tasks.
    #[must_use]
    pub fn is_real_time(&self) -> bool {
        (0..self.tasks).any(|rank| self.scheduling_of(rank).priority().is_some())
    }

    /// An application of nice-0 tasks that arrives at once, without background role or restrictions.
    #[must_use]
    pub fn new(name: impl Into<String>, tasks: u32, program: Arc<Program>, runtime: Runtime) -> Self {
        Self {
            name: name.into(),
            tasks,
            program,
            runtime,
            lock: LockRules::MUTEX,
            start: Time::ZERO,
            after: None,
            background: false,
            requests: false,
            deadline: None,
            weight: 1024,
            rank_weights: Vec::new(),
            scheduling: Scheduling::Other,
            rank_scheduling: Vec::new(),
            slice: None,
            team: 0,
            team_runtime: None,
            rank_scale: Vec::new(),
            allowed: None,
            rebinds: Vec::new(),
            commands: Vec::new(),
            group: None,
            kernel_mode: false,
        }
    }

    /// A command starts it, so that it has no start of its own.
    #[must_use]
    pub fn is_commanded(&self) -> bool {
        self.commands.iter().map(|command| &command.act).any(Act::starts)
    }

    /// Its runtimes: one, or two where teams have their own.
    pub fn runtimes(&self) -> impl Iterator<Item = &Runtime> {
        std::iter::once(&self.runtime).chain(&self.team_runtime)
    }

    /// Tasks of one process: a team, a single rank where ranks are processes, else all.
    #[must_use]
    pub const fn process(&self) -> u32 {
        if self.team > 1 {
            self.team
        } else if self.runtime.processes {
            1
        } else {
            self.tasks
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "frequencies in 14,000 drawn orders")]
    fn ranks_are_released_in_any_order() {
        let drawn = |seed| release_order(seed, AppId(1), 3);
        let order = |seed| drawn(seed).into_iter().map(|(rank, _)| rank).collect::<Vec<_>>();
        assert_eq!(drawn(5), drawn(5));
        let mut counts = std::collections::BTreeMap::new();
        (0..6_000).for_each(|seed| *counts.entry(order(seed)).or_insert(0_u32) += 1);
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| count.abs_diff(1_000) < 120), "{counts:?}");
        // Each has slept on one of two cpus in half of the cases, whatever the others did.
        let cpus = |seed| drawn(seed).iter().fold(0, |sum, (_, slept)| 2 * sum + slept % 2);
        let mut counts = [0_u32; 8];
        (0..8_000).for_each(|seed| counts[cpus(seed) as usize] += 1);
        assert!(counts.iter().all(|count| count.abs_diff(1_000) < 120), "{counts:?}");
        assert_eq!(release_order(1, AppId(0), 0), []);
    }

    #[test]
    fn shared_loops_hold_nothing_that_ranks_must_do_equally_often() {
        let nap = Op::Sleep { span: Span::from_ms(1), spread: Spread::EXPONENTIAL };
        let new = |ops: Vec<Op>| Program::new(ops, Vec::new());
        assert!(new(vec![Op::RepeatShared(3), nap, Op::Respawn, Op::End]).is_ok());
        assert!(new(vec![Op::RepeatShared(0), nap, Op::End]).is_err());
        for op in [Op::Barrier, Op::TeamBarrier, Op::LeadersBarrier, Op::Exchange { shift: 1 }] {
            assert!(new(vec![Op::RepeatShared(3), nap, op, Op::End]).is_err());
        }
        assert!(new(vec![Op::RepeatShared(3), Op::RepeatShared(3), nap, Op::End, nap, Op::End]).is_err());
        assert!(
            new(vec![Op::Repeat(0), Op::LeadersBarrier, Op::End]).is_err(),
            "most tasks would not take time"
        );
    }

    #[test]
    fn malformed_programs_are_refused() {
        let compute = Op::Compute {
            work: Work::from_span(Span::from_ms(1)),
            spread: Spread::NONE,
            profile: ProfileId(0),
        };
        let new = |ops: Vec<Op>| Program::new(ops, vec![MemoryProfile::NONE]);
        assert!(new(vec![Op::Repeat(2), compute]).is_err());
        assert!(new(vec![Op::End]).is_err());
        assert!(new(vec![Op::Repeat(0), Op::Unlock(LockId(0)), Op::End]).is_err());
        assert!(new(vec![Op::Repeat(1); 9]).is_err());
        let serial = Op::Serial {
            work: Work::from_span(Span::from_ms(1)),
            spread: Spread::NONE,
            profile: ProfileId(0),
        };
        assert!(new(vec![Op::Repeat(0), serial, Op::End]).is_err(), "the other ranks would never end");
        let good = new(vec![Op::Repeat(2), compute, Op::Barrier, Op::End]).unwrap();
        assert_eq!((good.partner(0), good.partner(3)), (3, 0));
        let inner = [Op::RepeatShared(3), compute, Op::End, Op::Repeat(0), compute, Op::End];
        let nested = new([vec![Op::Repeat(2)], inner.to_vec(), vec![Op::End]].concat()).unwrap();
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|pc| nested.loops_around(pc)),
            [0, 1, 1, 1, 1, 2, 2, 1, 0]
        );
    }
}
