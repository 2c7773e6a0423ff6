//! The records of the reference engine: plain vectors of plain structs, instants and spans in nanoseconds.

use std::collections::BTreeMap;
use std::sync::Arc;

use sim_core::account::{Account, Category};
use sim_core::lock::LockRules;
use sim_core::outcome::Counters;
use sim_core::policy::{Affinity, TaskState};
use sim_core::program::{AppSpec, MemoryProfile, NamedLock, Scheduling};
use sim_core::rng::{Purpose, key};
use sim_core::time::{Span, Time};
use sim_core::wait::Scope;

use super::event_wait::EventWait;
use super::memory::Job;
use super::records::{APART, RefClass, RefGroup, RefOwn, RefQueue, RefReserve};
use super::scan::RefScan;
use super::tracks::{Track, Tracks};
use super::usage::RefUsage;

/// Later than everything that happens.
pub(super) const NEVER: u64 = u64::MAX;

/// Overhead before an activity proper, in nanoseconds, paid in the order of [`PAID_AS`].
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Overhead(pub(super) [u64; 7]);

pub(super) const SWITCH: usize = 0;
pub(super) const MIGRATION: usize = 1;
pub(super) const KERNEL: usize = 2;
pub(super) const DAEMON: usize = 3;
pub(super) const REFILL: usize = 4;
pub(super) const SPIN: usize = 5;
pub(super) const LOCK: usize = 6;

/// The category that each part of the overhead is charged to.
pub(super) const PAID_AS: [Category; 7] = [
    Category::Switch,
    Category::Migration,
    Category::Kernel,
    Category::Daemon,
    Category::Refill,
    Category::Spin,
    Category::LockWait,
];

impl Overhead {
    pub(super) fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// What happens when a system call ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OnReturn {
    WaitAsleep,
    Nap(u64),
    Yield,
    YieldTo(usize),
    Fork(u32),
    Touch,
    Respawn,
    /// An instant of a clock.
    Until(u64),
    /// Work for a device: which, and how long.
    Io(usize, u64),
}

/// What the current task of a cpu does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    Idle,
    Compute,
    /// Polls and yields, cycle after cycle.
    Poll,
    /// Polls without yielding.
    Spin,
    /// In a system call of this length.
    Syscall(u64, OnReturn),
}

/// Why a cpu is to pick again on its way to user mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Later {
    /// Somebody has come.
    Rival,
    /// The request is used up.
    UsedUp,
}

/// A cpu.
pub(super) struct RefCpu {
    /// Until when a wake-up is on its way to it.
    pub(super) woken: u64,
    pub(super) current: Option<usize>,
    /// Waiting tasks by (priority, virtual runtime), first come first among equals.
    pub(super) queue: Vec<usize>,
    pub(super) minimum: i64,
    /// Its real-time class.
    pub(super) class: RefClass,
    /// Tasks that sleep but still compete.
    pub(super) delayed: Vec<usize>,
    /// Tasks that count in its queue: runnable or delayed ones (EEVDF).
    pub(super) counted: Vec<usize>,
    /// Its task groups.
    pub(super) groups: Vec<RefGroup>,
    /// The load averages of its queue, where there are task groups.
    pub(super) tracks: Tracks,
    /// Its queue under CFS with task groups.
    pub(super) fair: RefQueue,
    pub(super) activity: Activity,
    pub(super) since: u64,
    pub(super) overhead: Overhead,
    /// While it computes: raw work left on this cpu, the overhead included at the rate it began with; below
    /// zero when over.
    pub(super) work_left: i128,
    /// Raw work done per nanosecond.
    pub(super) rate: u64,
    pub(super) job: Job,
    /// Node of the pages of the operation, and the growth of its demand.
    pub(super) page_home: u32,
    /// Shares of the nodes in its pages, where they are its team's.
    pub(super) page_shares: Option<Arc<[u64]>>,
    /// Package whose tasks serve what is being read.
    pub(super) server: Option<usize>,
    pub(super) growth: u64,
    /// Since it began to compute: raw work the rates allowed, and the same weighted with the growth of its
    /// demand.
    pub(super) allowed_work: u64,
    pub(super) traffic: u64,
    /// The clock of its core over the highest one, 1/65,536, and what it uses, where a governor asks.
    pub(super) clock: u64,
    pub(super) usage: RefUsage,
    /// Raw speed of its core, and what siblings leave of it (1/65,536).
    pub(super) own: u64,
    pub(super) share: u64,
    /// Bytes that computing tasks have brought into its caches; the last of them and its part since another
    /// one did.
    pub(super) brought: u64,
    pub(super) bringer: Option<(usize, u64)>,
    pub(super) picked: u64,
    pub(super) charged: u64,
    /// When its last current task left it.
    pub(super) idle_from: u64,
    pub(super) next_buddy: Option<usize>,
    pub(super) last_buddy: Option<usize>,
    /// Who has yielded last and has not been picked since.
    pub(super) skipped: Option<usize>,
    /// Whom somebody yielded to: the next pick prefers it.
    pub(super) yield_target: Option<usize>,
    /// When a buddy was last not followed (2.6.27).
    pub(super) pair_start: u64,
    /// When the first of the expired tasks expired (O(1)).
    pub(super) expired_since: Option<u64>,
    pub(super) resched: bool,
    /// It is to pick again on its way to user mode.
    pub(super) later: Option<Later>,
    /// The timer that ends the request of the current task runs.
    pub(super) timed: bool,
    /// At the timer tick (or quantum) of this very instant the current task had used up its slice.
    pub(super) slice_over: bool,
    pub(super) deferred: Overhead,
    /// The process that ran last.
    pub(super) previous: Option<Process>,
    /// The task that observers have seen running.
    pub(super) observed: Option<usize>,
    pub(super) polls: u64,
    pub(super) switches: u64,
    pub(super) newidle: bool,
    pub(super) times: [u64; Category::COUNT],
}

impl RefCpu {
    pub(super) fn new(own: u64) -> Self {
        Self {
            current: None,
            woken: 0,
            queue: Vec::new(),
            minimum: 0,
            class: RefClass::default(),
            delayed: Vec::new(),
            counted: Vec::new(),
            groups: Vec::new(),
            tracks: Tracks::default(),
            fair: RefQueue::default(),
            activity: Activity::Idle,
            since: 0,
            overhead: Overhead::default(),
            work_left: 0,
            rate: 0,
            job: Job::NONE,
            page_home: 0,
            page_shares: None,
            server: None,
            growth: 1 << 16,
            allowed_work: 0,
            traffic: 0,
            clock: 1 << 16,
            usage: RefUsage::default(),
            own,
            share: 1 << 16,
            brought: 0,
            bringer: None,
            picked: 0,
            charged: 0,
            idle_from: 0,
            next_buddy: None,
            last_buddy: None,
            skipped: None,
            yield_target: None,
            pair_start: 0,
            expired_since: None,
            resched: false,
            later: None,
            timed: false,
            slice_over: false,
            deferred: Overhead::default(),
            previous: None,
            observed: None,
            polls: 0,
            switches: 0,
            newidle: false,
            times: [0; Category::COUNT],
        }
    }

    pub(super) fn add(&mut self, category: Category, ns: u64) {
        self.times[category as usize] += ns;
    }

    /// When the overhead is paid and the activity proper begins.
    pub(super) fn begun(&self) -> u64 {
        self.since + self.overhead.total()
    }

    pub(super) fn account(&self) -> Account {
        let mut account = Account::default();
        for (category, ns) in Category::ALL.into_iter().zip(self.times) {
            account.add(category, Span::from_ns(ns));
        }
        account
    }
}

/// How a task waits for a lock: since when; it has said that it will sleep; it has been in the kernel to
/// sleep and has not looked since.
#[derive(Clone, Copy, Default)]
pub(super) struct LockWait {
    pub(super) since: u64,
    pub(super) marks: bool,
    pub(super) returned: bool,
}

/// What a waiting task waits for (the names appear in the message of a deadlock).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Waiting {
    No,
    Gather,
    Release,
    Round(u32),
    Exchange,
    Lock,
    Event,
    Job,
}

/// A process: application; rank of its first task (0 for threads of one process); which one of that rank's,
/// from 0.
pub(super) type Process = (usize, u32, u64);

/// A task.
pub(super) struct RefTask {
    pub(super) app: usize,
    pub(super) rank: u32,
    pub(super) state: TaskState,
    /// Since when it has been in a run queue or on a cpu.
    pub(super) runnable_since: Option<u64>,
    pub(super) cpu: usize,
    pub(super) affinity: Affinity,
    pub(super) priority: u8,
    pub(super) weight: u32,
    pub(super) scheduling: Scheduling,
    pub(super) reserve: RefReserve,
    /// What it is by itself, where tasks change their classes.
    pub(super) own: RefOwn,
    pub(super) own_slice: Option<u64>,
    /// Its task group.
    pub(super) group: Option<u16>,
    /// It falls asleep when it next works.
    pub(super) pauses: bool,
    pub(super) vruntime: i64,
    pub(super) vdeadline: i64,
    pub(super) vlag: i64,
    /// The part of the time it is queued, and the cpu to whose averages it belongs, where there are groups.
    pub(super) part: Track,
    pub(super) belongs: Option<usize>,
    pub(super) protection: i64,
    /// Priority disciplines: slice used so far; slice used up; to be put back before its equals.
    pub(super) used: u64,
    /// Of its last entry, under a policy that orders the queues; its level while the policy holds it.
    pub(super) slice: u64,
    pub(super) preempts: bool,
    pub(super) held: Option<u8>,
    pub(super) expired: bool,
    pub(super) front: bool,
    /// O(1): the sleep average in 1/2520 ns.
    pub(super) average: u128,
    /// ULE: history of running and sleeping.
    pub(super) ran: u64,
    pub(super) slept: u64,
    /// TS: updates since its quantum began.
    pub(super) waited: u32,
    /// 2.6.30: average cpu time between the wake-ups it issues, its cpu time at the last one since it woke,
    /// and then.
    pub(super) avg_wakeup: u64,
    pub(super) issued: Option<u64>,
    pub(super) awake_since: u64,
    /// The task that forked it, if one did.
    pub(super) parent: Option<usize>,
    pub(super) entered: u64,
    /// Raw nominal work of the present operation still to do.
    pub(super) remaining: u64,
    pub(super) done: u128,
    pub(super) asked: u128,
    pub(super) profile: MemoryProfile,
    /// The rank whose block is being read in a bulk transfer.
    pub(super) source: Option<u32>,
    pub(super) block: u32,
    pub(super) home: Option<u32>,
    /// Pages touched as it starts, by node, and the shares of the nodes, 1/65,536, where they are several.
    pub(super) touched: Vec<u64>,
    pub(super) mixed: Option<Arc<[u64]>>,
    /// The scan of its pages.
    pub(super) scan: RefScan,
    /// Where its first-touched pages are put, if the policy says so.
    pub(super) allotted: Option<u32>,
    /// The first rank of a team, it has met those of the others before it created the rest of its own.
    pub(super) led: bool,
    /// Its start-up is over: it runs its program.
    pub(super) up: bool,
    pub(super) cache: RefCached,
    pub(super) waiting: Waiting,
    /// The policy has been or will be notified that it waits.
    pub(super) notified: bool,
    pub(super) ready: u64,
    pub(super) deadline: u64,
    pub(super) lock: LockWait,
    pub(super) event: EventWait,
    pub(super) pc: usize,
    /// Passes left of the loops around `pc`, the innermost last.
    pub(super) loops: Vec<u32>,
    /// Who meets at its present or last barrier, and how many it has left by scope.
    pub(super) scope: Scope,
    pub(super) left: BTreeMap<Scope, u32>,
    pub(super) arrived: u64,
    pub(super) process: Process,
    /// How often it has left each shared loop, by position.
    pub(super) visits: BTreeMap<usize, u64>,
    pub(super) noise: u64,
    pub(super) draws: u64,
    pub(super) cpu_time: u64,
    pub(super) last_ran: u64,
}

/// The rank of the first task of the process that a task of this rank begins in.
fn leader(spec: &AppSpec, rank: u32) -> u32 {
    match spec.team {
        team if team > 1 && !spec.teams_share => rank - rank % team,
        _ if spec.runtime.processes => rank,
        _ => 0,
    }
}

/// What a task has in caches.
#[derive(Clone, Default)]
pub(super) struct RefCached {
    pub(super) refill: u64,
    /// The cpu where it last computed, and what had been brought into its caches by then.
    pub(super) warm: Option<(usize, u64)>,
    /// Billionths of bytes fetched from memory.
    pub(super) fetched: u128,
}

impl RefTask {
    pub(super) fn new(app: usize, rank: u32, spec: &AppSpec, seed: u64) -> Self {
        Self {
            app,
            rank,
            state: TaskState::New,
            runnable_since: None,
            cpu: 0,
            affinity: spec.allowed.clone().map_or(Affinity::All, |set| Affinity::Set(Arc::new(set))),
            priority: if spec.scheduling_of(rank).is_real_time() { APART } else { 0 },
            weight: spec.weight_of(rank),
            scheduling: spec.scheduling_of(rank),
            reserve: RefReserve::default(),
            own: RefOwn::of(spec, rank),
            own_slice: spec.slice.map(Span::ns),
            group: spec.group,
            pauses: false,
            vruntime: 0,
            vdeadline: 0,
            vlag: 0,
            part: Track::default(),
            belongs: None,
            protection: 0,
            used: 0,
            slice: NEVER,
            preempts: false,
            held: None,
            expired: false,
            front: false,
            average: 0,
            ran: 0,
            slept: 0,
            waited: 0,
            avg_wakeup: 0,
            issued: None,
            awake_since: 0,
            parent: None,
            entered: 0,
            remaining: 0,
            done: 0,
            asked: 0,
            profile: MemoryProfile::NONE,
            source: None,
            block: 0,
            home: None,
            touched: Vec::new(),
            mixed: None,
            scan: RefScan::default(),
            allotted: None,
            led: false,
            up: false,
            cache: RefCached::default(),
            waiting: Waiting::No,
            notified: false,
            ready: NEVER,
            deadline: NEVER,
            lock: LockWait::default(),
            event: EventWait::default(),
            pc: 0,
            loops: Vec::new(),
            scope: Scope::All,
            left: BTreeMap::new(),
            arrived: 0,
            process: (app, leader(spec, rank), 0),
            visits: BTreeMap::new(),
            noise: key(seed, Purpose::WorkNoise, (app as u64) << 32 | u64::from(rank)),
            draws: 0,
            cpu_time: 0,
            last_ran: 0,
        }
    }

    /// Number of the episode of its present or last barrier.
    pub(super) fn episode(&self) -> u32 {
        self.left.get(&self.scope).copied().unwrap_or(0)
    }

    /// One more span of cpu time between two wake-ups that it issues: an eighth of the way from the average
    /// to it.
    pub(super) fn count_wakeup(&mut self, span: u64) {
        let step = (span as i64 - self.avg_wakeup as i64).div_euclid(8);
        self.avg_wakeup = (self.avg_wakeup as i64 + step) as u64;
    }
}

/// An application.
pub(super) struct RefApp {
    pub(super) spec: AppSpec,
    pub(super) first: usize,
    pub(super) arrived: u64,
    pub(super) begun: u64,
    /// When one of its tasks first had a cpu.
    pub(super) first_run: Option<u64>,
    /// Times to answer requests.
    pub(super) responses: sim_core::histogram::Histogram,
    /// Times until its tasks went on with requests.
    pub(super) waits: sim_core::histogram::Histogram,
    /// When the first response was too late.
    pub(super) first_late: Option<Time>,
    /// Time of its tasks in run queues and on cpus, up to when they last left them.
    pub(super) runnable: u64,
    /// When the first task was past the start-up barrier.
    pub(super) met: Option<u64>,
    /// When the program started its own clock.
    pub(super) clock: Option<u64>,
    pub(super) started: bool,
    /// Each waiting task yields now: under the runtime of all, under that of teams, and under those of single
    /// operations.
    pub(super) yields: Vec<bool>,
    /// Where its shell or launcher is.
    pub(super) shell: usize,
    pub(super) forked: u32,
    /// Ranks that the launcher has created.
    pub(super) launched: u32,
    /// Until when page faults hold the lock of each process.
    pub(super) locked: BTreeMap<u32, u64>,
    pub(super) exited: u32,
    pub(super) end: Option<u64>,
    pub(super) counters: Counters,
    pub(super) signals: Signals,
    /// Where its locks begin in the table of all.
    pub(super) locks: usize,
    /// Barriers by scope and the first rank of those who meet.
    pub(super) episodes: BTreeMap<(Scope, u32), Episode>,
    /// Passes taken of shared loops, by position and visit.
    pub(super) passes: BTreeMap<(usize, u64), u32>,
}

/// The barrier of tasks that meet. Numbers count those who meet, from 0.
#[derive(Default)]
pub(super) struct Episode {
    /// Central barrier: arrivals of the present episode; until when the counter's line is taken; who had it
    /// last.
    pub(super) arrived: usize,
    pub(super) line_free: u64,
    pub(super) line_holder: usize,
    /// Tree barrier: by number, when the signal of each child that has come is seen.
    pub(super) gathered: BTreeMap<usize, Vec<u64>>,
    /// Dissemination barrier: by (number, round, episode), when the signal is seen.
    pub(super) flags: BTreeMap<(usize, u32, u32), u64>,
}

impl Episode {
    /// When a number sees that all its children in the tree have arrived.
    pub(super) fn gather_ready(&self, number: usize, children: usize) -> u64 {
        let signals = self.gathered.get(&number).map_or(&[][..], Vec::as_slice);
        if signals.len() < children { NEVER } else { signals.iter().copied().max().unwrap_or(0) }
    }
}

/// What the tasks of an application have signalled each other one to one.
#[derive(Default)]
pub(super) struct Signals {
    /// Exchanges: by (position, rank), when each signal is seen, and how many were used.
    pub(super) signals: BTreeMap<(usize, u32), (Vec<u64>, usize)>,
}

impl Signals {
    /// When a rank sees its next unused signal; with several unused ones, now.
    pub(super) fn signal_ready(&self, pc: usize, rank: u32, now: u64) -> u64 {
        let Some((seen, used)) = self.signals.get(&(pc, rank)) else { return NEVER };
        match seen.len() - used {
            0 => NEVER,
            1 => seen.iter().copied().max().unwrap_or(NEVER),
            _ => now,
        }
    }
}

/// A lock.
pub(super) struct RefLock {
    /// Its name, of a lock of the run.
    pub(super) name: Option<String>,
    pub(super) rules: LockRules,
    pub(super) holder: Option<usize>,
    /// Who waits in line (handed over), or sleeps (not handed over), first come first served.
    pub(super) line: Vec<usize>,
    /// Not handed over: somebody said that it would sleep.
    pub(super) marked: bool,
    /// When and where it was last given back.
    pub(super) freed: (u64, usize),
    /// Who has the cache line of its word; since when and until when the line is under way without a pause.
    pub(super) owner: Option<usize>,
    pub(super) moves: (u64, u64),
}

impl RefLock {
    pub(super) fn new(rules: LockRules) -> Self {
        let (holder, line, owner) = (None, Vec::new(), None);
        Self { name: None, rules, holder, line, marked: false, freed: (0, 0), owner, moves: (0, 0) }
    }

    /// A lock of the run.
    pub(super) fn named(lock: &NamedLock) -> Self {
        Self { name: Some(lock.name.clone()), ..Self::new(lock.rules) }
    }
}
