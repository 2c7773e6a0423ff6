//! What a discipline states: [`Rules`] (all of them), and apart what only some have: how polling goes on
//! ([`FastForward`]), task groups ([`Grouped`]), requests ([`Requested`]), levels of priority
//! ([`Levels`](super::multilevel::Levels)).
//!
//! The list of `disciplines!` is the only place that knows all disciplines. The methods of [`Rules`] are
//! written once: `contract!` makes the trait, and with it [`Discipline`], which asks the discipline it is.

use crate::engine::state::{Cpu, Task};
use crate::ids::TaskId;
use crate::observe::{LeaveReason, Request, Verdict};
use crate::policy::THROTTLED;
use crate::run_queue::by_policy::ByPolicy;
use crate::run_queue::cfs::CfsParams;
use crate::run_queue::cfs_groups::CfsGroups;
use crate::run_queue::eevdf_params::EevdfParams;
use crate::run_queue::multilevel::Levels;
use crate::run_queue::o1::O1Params;
use crate::run_queue::real_time::RealTime;
use crate::run_queue::round_robin::RoundRobinParams;
use crate::run_queue::ts::TsParams;
use crate::run_queue::ule::UleParams;
use crate::run_queue::virtual_time::VirtualTimeParams;
use crate::run_queue::{Entry, Interrupted, Picked, Requests, Tasks, Ticks, Turns, contested};
use crate::time::{Span, Time};

macro_rules! disciplines {
    ($d:tt $($(#[$doc:meta])* $name:ident($params:ty) = $word:literal,)*) => {
        /// A run-queue discipline with its parameters.
        ///
        /// ```
        /// use sim_core::os::{CfsParams, Discipline, YieldMode};
        /// use sim_core::time::Span;
        ///
        /// // CFS as Linux 2.6.28 sets it up on 16 cpus, but `sched_yield` puts its caller behind all others.
        /// let cfs = CfsParams { yield_mode: YieldMode::Posix, ..CfsParams::scaled(16) };
        /// assert_eq!(cfs.latency, Span::from_ms(100));
        /// let discipline = Discipline::Cfs(cfs);
        /// assert_ne!(discipline, Discipline::Cfs(CfsParams::scaled(16)));
        /// ```
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum Discipline {
            $($(#[$doc])* $name($params),)*
        }

        impl Discipline {
            /// Its name for people.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => $word,)*
                }
            }
        }

        /// The same expression for the rules of each discipline.
        macro_rules! each {
            ($d discipline:expr, $d rules:ident => $d call:expr) => {
                match $d discipline {
                    $(Discipline::$name($d rules) => $d call,)*
                }
            };
        }
        pub(super) use each;
    };
}

disciplines! {
    $
    /// Completely Fair Scheduler of Linux 2.6.27 to 6.5.
    Cfs(CfsParams) = "CFS",
    /// The same in a run with task groups.
    CfsGroups(CfsGroups) = "CFS",
    /// O(1) scheduler of Linux 2.6.18.
    O1(O1Params) = "O(1)",
    /// ULE of FreeBSD 7.
    Ule(UleParams) = "ULE",
    /// Time-sharing class of Solaris 9.
    Ts(TsParams) = "time sharing",
    /// Round robin with a fixed quantum.
    RoundRobin(RoundRobinParams) = "round robin",
    /// Earliest eligible virtual deadline first, of Linux 6.18.
    Eevdf(EevdfParams) = "EEVDF",
    /// Plain virtual time, under a policy that orders by it.
    VirtualTime(VirtualTimeParams) = "virtual time",
    /// What the policy says for each task.
    ByPolicy(ByPolicy) = "by the policy",
    /// The real-time class above one of the others.
    RealTime(RealTime) = "real-time class",
}

/// A trait of all disciplines, and [`Discipline`] as one of its implementers, which asks the one it is.
macro_rules! contract {
    (
        $(#[$about:meta])*
        trait $name:ident {
            $($(#[$doc:meta])* fn $method:ident(&$this:ident $(, $arg:ident: $of:ty)*) $(-> $out:ty)?;)*
            default:
            $($(#[$meta:meta])* fn $default:ident(&$it:ident $(, $a:ident: $t:ty)*) $(-> $o:ty)? $body:block)*
        }
    ) => {
        $(#[$about])*
        pub(crate) trait $name {
            $($(#[$doc])* fn $method(&$this $(, $arg: $of)*) $(-> $out)?;)*
            $(
                $(#[$meta])*
                #[inline]
                fn $default(&$it $(, $a: $t)*) $(-> $o)? {
                    $(let _ = &$a;)*
                    $body
                }
            )*
        }

        impl $name for Discipline {
            $(
                #[inline]
                fn $method(&$this $(, $arg: $of)*) $(-> $out)? {
                    each!($this, rules => rules.$method($($arg),*))
                }
            )*
            $(
                #[inline]
                fn $default(&$it $(, $a: $t)*) $(-> $o)? {
                    each!($it, rules => rules.$default($($a),*))
                }
            )*
        }
    };
}

contract! {
    /// The rules by which an operating system orders the run queue of a cpu and picks from it. Within a
    /// priority level, the list is sorted by [`Rules::key`]; of equal keys the first come is first.
    trait Rules {
        /// Sets the key of a task that enters. The key of a moved task is relative to this queue already.
        fn place(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, entry: Entry, now: Time);

        /// When the slice of the current task ends, if other tasks compete and nothing changes; later than
        /// `now`.
        fn slice_end(&self, tasks: &Tasks, cpu: &Cpu, now: Time, next_tick: impl Fn(Time) -> Time) -> Time;

        /// True when a task that has just entered takes the cpu from the current one, which has the same
        /// priority level.
        fn preempts(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time) -> bool;

        /// True when a waiting task that another task yielded to is picked instead of the best one. Its key
        /// is `gap` behind the best.
        fn prefers(&self, tasks: &Tasks, cpu: &Cpu, target: TaskId, gap: i64) -> bool;

        /// Gives the current task, `id`, its key after a `sched_yield` that ends now.
        fn yield_key(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time);

        default:

        /// Refuses parameters that cannot be simulated, with a sentence.
        fn check(&self, tick: Span) -> Result<(), String> { Ok(()) }

        /// It writes the history of each task ([`crate::engine::state::History`]).
        fn keeps_history(&self) -> bool { true }

        /// It notes the instant of each ordinary pick, in the record of a cpu that others seldom write.
        fn times_picks(&self) -> bool { false }

        /// A task that is picked again begins a new slice.
        fn renews_slice(&self) -> bool { true }

        /// The weight of a task can change while it is queued.
        fn reweighs(&self) -> bool { false }

        /// The policy gives each task its place in the queue ([`crate::policy::Order::Policy`]).
        fn asks_policy(&self) -> bool { false }

        /// The key of a moved task is relative to the minimum of its queue.
        fn has_relative_keys(&self) -> bool { true }

        /// Each timer tick of each cpu is processed, and tasks are charged there only. None: a tick is
        /// computed when a slice ends, and a task is charged whenever its time matters.
        fn ticks(&self) -> Option<Ticks> { None }

        /// A timer tick comes to a cpu whose current task computes.
        fn tick(&self, tasks: &mut Tasks, cpu: &mut Cpu, at: Time) { self.charge(tasks, cpu, at); }

        /// What the list is sorted by.
        fn key(&self, task: &Task) -> i64 { task.vruntime }

        /// Charges the current task for the time since it was last charged.
        fn charge(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time) {}

        /// The queue's minimum follows a change, where there is one.
        fn advance_minimum(&self, tasks: &Tasks, cpu: &mut Cpu) {}

        /// The current task has been picked.
        fn picked(&self, tasks: &mut Tasks, cpu: &mut Cpu, how: Picked) {}

        /// The kernel is about to pick again while the current task could run on.
        fn interrupted(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time, why: Interrupted) {}

        /// True when a waiting task competes with the current one: it has the same or a lower priority level.
        fn contested(&self, tasks: &Tasks, cpu: &Cpu) -> bool { contested(tasks, cpu) }

        /// Who runs next: `current`, when there is one that is not throttled and it wins, else the best
        /// waiting one.
        fn choose(
            &self,
            tasks: &mut Tasks,
            cpu: &mut Cpu,
            current: Option<TaskId>,
            now: Time
        ) -> Option<TaskId> {
            best(tasks, cpu, current, |mine, theirs| {
                let (key, other) = (self.key(mine), self.key(theirs));
                key < other || (mine.history.share.front && key == other)
            })
        }

        /// The current task gives up the cpu to one of its level that enters now, from another cpu and
        /// without an interrupt, only when its cpu next returns to user mode.
        fn is_lazy(&self, tasks: &Tasks, cpu: &Cpu) -> bool { false }

        /// Gives the current task its key for going back into the queue after a pre-emption.
        fn put_back_key(&self, tasks: &mut Tasks, cpu: &Cpu, id: TaskId) {}

        /// A task is about to leave the queue or the cpu it is on.
        fn leave(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, reason: LeaveReason, now: Time) {}

        /// Its levels of priority, where a slice lasts over several dispatches.
        fn levels(&self) -> Option<&dyn Levels> { None }

        /// Its rules of task groups.
        fn groups(&self) -> Option<&dyn Grouped> { None }

        /// The requests of tasks, for reports.
        fn requests(&self) -> Option<&dyn Requested> { None }
    }
}

/// The best of the current task, if it takes part, and the waiting ones; none that is throttled. `keeps`: the
/// current task goes before the first waiting one of its priority level.
#[inline]
pub(crate) fn best(
    tasks: &Tasks,
    cpu: &Cpu,
    current: Option<TaskId>,
    keeps: impl Fn(&Task, &Task) -> bool,
) -> Option<TaskId> {
    let Some(head) = cpu.head.some().filter(|id| tasks[*id].priority < THROTTLED) else { return current };
    let Some(current) = current else { return Some(head) };
    let (mine, theirs) = (&tasks[current], &tasks[head]);
    let equal = mine.priority == theirs.priority && keeps(mine, theirs);
    Some(if mine.priority < theirs.priority || equal { current } else { head })
}

/// How polling goes on under a discipline, so that it need not be followed yield by yield.
pub(crate) trait FastForward: Rules {
    /// How tasks that poll are picked.
    fn picks(&self) -> Picks;

    /// The queue's minimum follows a yield of the current task.
    #[inline]
    fn follow_yield(&self, tasks: &Tasks, cpu: &mut Cpu) {
        self.advance_minimum(tasks, cpu);
    }

    /// A task has yielded. Where keys grow without bound, the same number is subtracted from all keys of its
    /// level before they exceed 64 bits. Only their differences count.
    #[inline]
    fn move_origin(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId) {
        let _ = (tasks, cpu, id);
    }
}

/// How tasks that poll are picked, where a yield and the pick read no more of each than a compact record.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Picks {
    /// Each cycle is an event.
    EachCycle,
    /// A yield puts its caller behind every task of its priority level.
    InTurns(Turns),
    /// The first of all keys runs. A yield charges its caller by weight
    /// ([`weighted`](crate::run_queue::cfs::weighted)) and changes nothing else; buddies aside. With slack,
    /// the first waiting task also runs if its key is behind that of the caller by at most that much.
    ByKey(Option<Slack>),
    /// The first of all keys runs, which are those of [`Levels`].
    BySlice,
    /// The pick and the yield of EEVDF.
    ByDeadline(Requests),
}

/// By how much a yield may let go of a lead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slack {
    pub(crate) span: Span,
    /// As virtual time of the caller's weight.
    pub(crate) weighed: bool,
}

/// What changes of a task while it is out of its queue.
pub(crate) type Change<'a> = &'a dyn Fn(&mut Tasks, &Cpu);

/// The rules of task groups and their limits, of priority levels whose tasks keep their lag, and of tasks and
/// groups that compete while they sleep.
pub(crate) trait Grouped {
    /// A task whose dequeue is delayed leaves its cpu.
    fn end_delay(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time);

    /// A cpu has no runnable task any more: no sleeping one competes there.
    fn emptied(&self, tasks: &mut Tasks, cpu: &mut Cpu, now: Time);

    /// A task that is not in a list, but may be the current one, changes its priority level.
    fn change_priority(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, priority: u8);

    /// A runnable task of a cpu no longer competes: its group is throttled.
    fn throttle(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time);

    /// Its group is not throttled any more.
    fn unthrottle(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, now: Time);

    /// A task that is queued on a cpu, runs there, or is delayed leaves its queue, changes and enters again.
    /// Without a lag it stays where it is.
    fn anew(&self, tasks: &mut Tasks, cpu: &mut Cpu, id: TaskId, change: Change<'_>, now: Time) {
        let _ = (id, now);
        change(tasks, cpu);
    }

    /// A group, by its number from 0, has another weight over all cpus: its entity on this one follows.
    fn reshare(&self, tasks: &mut Tasks, cpu: &mut Cpu, group: u16, now: Time) {
        let _ = (tasks, cpu, group, now);
    }
}

/// What tasks ask for, where picks depend on it.
pub(crate) trait Requested {
    /// The request of a task of a cpu, and the mean of its level.
    fn request(&self, tasks: &Tasks, cpu: &Cpu, id: TaskId) -> (Request, i64);

    /// The rule that decided about a task of a cpu.
    fn rule(&self, tasks: &Tasks, cpu: &Cpu, id: TaskId, verdict: Verdict) -> &'static str;
}
