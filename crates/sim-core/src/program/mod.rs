//! What applications do: compact programs of operations that tasks unroll lazily, one operation at a time.

mod change;
mod objects;
mod ops;
mod partners;
mod pools;
mod validated;

use std::sync::Arc;

use crate::command::{Act, Command};
use crate::ids::{AppId, CpuId};
use crate::lock::LockRules;
use crate::machine::CpuSet;
use crate::rng;
pub use crate::spread::{Quantiles, Spread};
use crate::time::{Span, Time};
use crate::wait::{BarrierKind, Polling, WaitMode};
pub use change::Change;
pub(crate) use objects::pools_of;
pub use objects::{Arrivals, Device, Event, NamedLock, Objects, Source, Stream};
pub use ops::{MemoryProfile, Op, Pages, TransferOrder};
pub use partners::Partners;
pub use pools::{Job, JobEnd, JobQueues, Pool, PoolRules, Roots, Victims};
pub use validated::Program;

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
    /// The first rank of each process touches the data of all its tasks so as soon as it first runs, before
    /// it creates anyone.
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

/// A runtime over a period in units of 2^-20 (`to_ratio`).
#[must_use]
pub const fn bandwidth(runtime: Span, period: Span) -> u64 {
    if period.ns() == 0 { 0 } else { ((runtime.ns() as u128) << 20).wrapping_div(period.ns() as u128) as u64 }
}

/// What a task of `SCHED_DEADLINE` reserves (`sched_setattr`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reservation {
    /// Cpu time in each period; at least 1,024 ns.
    pub runtime: Span,
    /// How long after its begin that of a period is needed; not below `runtime`.
    pub deadline: Span,
    /// Not below `deadline`; 100 us to 4.194304 s.
    pub period: Span,
}

impl Reservation {
    /// The least runtime (`__checkparam_dl`).
    pub const LEAST_RUNTIME: Span = Span::from_ns(1 << 10);
    /// The least and the greatest period (`sched_deadline_period_min_us`, `sched_deadline_period_max_us`).
    pub const PERIODS: (Span, Span) = (Span::from_us(100), Span::from_us(1 << 22));

    /// Refuses what Linux refuses (`EINVAL`).
    ///
    /// # Errors
    /// A sentence that says what is out of range, without a full stop.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.runtime < Self::LEAST_RUNTIME {
            return Err("the runtime is at least 1024ns");
        }
        if self.runtime > self.deadline {
            return Err("the runtime is longer than the deadline");
        }
        if self.deadline > self.period {
            return Err("the deadline is longer than the period");
        }
        if self.period < Self::PERIODS.0 || self.period > Self::PERIODS.1 {
            return Err("a period is 100us to 4.194304s (sched_deadline_period_min_us and _max_us)");
        }
        Ok(())
    }
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
    /// `SCHED_DEADLINE`: it runs before all tasks of the policies above, the earliest deadline first, but for
    /// no longer than it has reserved.
    Deadline(Reservation),
}

impl Scheduling {
    /// Its real-time priority, 1 to 99, if it has one.
    #[must_use]
    pub const fn priority(self) -> Option<u8> {
        match self {
            Self::Fifo(priority) | Self::RoundRobin(priority) => Some(priority),
            Self::Other | Self::Batch | Self::Idle | Self::Deadline(_) => None,
        }
    }

    /// What it has reserved, if it has.
    #[must_use]
    pub const fn reservation(self) -> Option<Reservation> {
        if let Self::Deadline(reservation) = self { Some(reservation) } else { None }
    }

    /// It is above the fair class: it has a real-time priority or a reservation.
    #[must_use]
    pub const fn is_real_time(self) -> bool {
        matches!(self, Self::Fifo(_) | Self::RoundRobin(_) | Self::Deadline(_))
    }

    /// The same with at least this real-time priority; 0: without any. A policy of turns stays one.
    pub(crate) fn at_least(self, priority: u8) -> Self {
        match self {
            Self::Deadline(_) => self,
            _ if priority <= self.priority().unwrap_or(0) => self,
            Self::RoundRobin(_) => Self::RoundRobin(priority),
            _ => Self::Fifo(priority),
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
    /// The kind of its locks: who gets them, and how tasks wait for them. Without meaning with `named_locks`.
    pub lock: LockRules,
    /// The locks of its program are those of the run ([`Objects::locks`]), which other applications can use
    /// too; otherwise it has its own.
    pub named_locks: bool,
    /// When it arrives; with `after`, how long after the end of that application.
    pub start: Time,
    /// It arrives when this application, an earlier one of the run, has ended.
    pub after: Option<AppId>,
    /// A background application (hog, daemon): the run ends when all others have ended.
    pub background: bool,
    /// Its tasks answer requests, and somebody waits until the work of each is done. A request comes at each
    /// instant that [`Op::Until`] waits for, and with each unit that [`Op::Take`] takes from an event that
    /// keeps instants ([`Event::stamped`]), as of when it was posted; in a program without such operations,
    /// with each wake-up after a timed sleep ([`Op::Sleep`]). Its work is done when the task comes to the
    /// next of these operations, to [`Op::Done`], to [`Op::Respawn`], or to its end.
    pub requests: bool,
    /// Time in which a request should be done after its wake-up, or a program without requests after its
    /// arrival.
    pub deadline: Option<Span>,
    /// From its start to its end as its user states it, for the queue of a batch system
    /// ([`StartOrder::Easy`](crate::admission::StartOrder::Easy)). It is not stopped then.
    pub estimate: Option<Span>,
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
    /// The teams are threads of one process, as in nested parallel regions; otherwise each is a process.
    pub teams_share: bool,
    /// Runtimes under which single operations of the program wait ([`Program::waiting`]): they say how
    /// tasks wait there, not by which algorithm they meet or how they start.
    pub own_runtimes: Vec<Runtime>,
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
        if self.scheduling_of(rank).is_real_time() {
            return WEIGHT_REAL_TIME;
        }
        self.rank_weights.get(rank as usize).copied().unwrap_or(self.weight)
    }

    /// How the task of a rank is scheduled.
    #[must_use]
    pub fn scheduling_of(&self, rank: u32) -> Scheduling {
        self.rank_scheduling.get(rank as usize).copied().unwrap_or(self.scheduling)
    }

    /// Some of its tasks are real-time tasks, or become so by themselves ([`Change::Class`]).
    #[must_use]
    pub fn is_real_time(&self) -> bool {
        self.schedulings().any(Scheduling::is_real_time)
    }

    /// What its tasks reserve together, in units of 2^-20 of a cpu
    /// ([`bandwidth`]); 0: none of them is of `SCHED_DEADLINE`.
    #[must_use]
    pub fn reserved(&self) -> u128 {
        let of = |rank| self.scheduling_of(rank).reservation();
        (0..self.tasks).filter_map(of).map(|of| u128::from(bandwidth(of.runtime, of.period))).sum()
    }

    /// The highest real-time priority that one of its tasks has by itself; 0: none has one.
    #[must_use]
    pub fn highest_priority(&self) -> u8 {
        self.schedulings().filter_map(Scheduling::priority).max().unwrap_or(0)
    }

    /// How its tasks are scheduled: at the start, and by what they change of themselves.
    pub(crate) fn schedulings(&self) -> impl Iterator<Item = Scheduling> + '_ {
        let first = (0..self.tasks).map(|rank| self.scheduling_of(rank));
        first.chain(self.classes())
    }

    /// The classes that its tasks give to themselves.
    pub(crate) fn classes(&self) -> impl Iterator<Item = Scheduling> + '_ {
        self.program.changes().iter().filter_map(|change| match change {
            Change::Class(scheduling) => Some(*scheduling),
            Change::Weight(_) | Change::Cpus(_) => None,
        })
    }

    /// The load weight of the task of a rank when it is of `SCHED_OTHER`: that of its nice value, which is 0
    /// for tasks that begin with `SCHED_IDLE`.
    #[must_use]
    pub fn nice_weight_of(&self, rank: u32) -> u32 {
        if self.scheduling_of(rank) == Scheduling::Idle {
            return 1024;
        }
        self.rank_weights.get(rank as usize).copied().unwrap_or(self.weight)
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
            named_locks: false,
            start: Time::ZERO,
            after: None,
            background: false,
            requests: false,
            deadline: None,
            estimate: None,
            weight: 1024,
            rank_weights: Vec::new(),
            scheduling: Scheduling::Other,
            rank_scheduling: Vec::new(),
            slice: None,
            team: 0,
            team_runtime: None,
            teams_share: false,
            own_runtimes: Vec::new(),
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

    /// Its runtimes: one, that of its teams if they have their own, and those of single operations.
    pub fn runtimes(&self) -> impl Iterator<Item = &Runtime> {
        std::iter::once(&self.runtime).chain(&self.team_runtime).chain(&self.own_runtimes)
    }

    /// Tasks of one process: a team, a single rank where ranks are processes, else all.
    #[must_use]
    pub const fn process(&self) -> u32 {
        if self.team > 1 && !self.teams_share {
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
}
