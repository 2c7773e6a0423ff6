//! What a recording holds: events of the scheduler, of timers and of interrupts, in the words of Linux's
//! tracepoints (`include/trace/events/sched.h`, `timer.h`, `irq.h`), whatever the spelling of the file.

/// The number of a thread, as `pid` in the scheduler's events. 0 is the idle thread of each cpu.
pub type Tid = u32;

/// The number of a thread that the record does not know (`-1` of perf for a thread that has ended).
pub const UNKNOWN: Tid = Tid::MAX;

/// A thread as an event names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Named<'a> {
    /// Its number.
    pub tid: Tid,
    /// Its name, at most 15 bytes in Linux.
    pub comm: &'a str,
    /// The kernel's priority: 120 + nice for ordinary threads, below 100 for real-time ones.
    pub prio: i32,
}

/// What a thread was doing when a switch took its cpu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// It could go on: pre-empted (`R`, `R+`), or it yielded (plain `R`).
    Runnable,
    /// It waits: `S`, `D`, `I`, `T`, `t`, `P` and the like. The letter is kept.
    Waits(u8),
    /// It has ended: `Z` or `X`.
    Ended,
}

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event<'a> {
    /// When, in ns of the recording's clock.
    pub at: u64,
    /// On which cpu it was recorded.
    pub cpu: u32,
    /// Who had the cpu, by the prefix of the record.
    pub tid: Tid,
    /// The process of that thread, where the file says it (`perf`; `record-tgid` of tracefs).
    pub process: Option<Tid>,
    /// Whether it happened in an interrupt (`h`, `H`, `z`, `Z` of the flags) or a softirq (`s`), where the
    /// file has flags.
    pub interrupt: Option<bool>,
    /// What happened.
    pub kind: Kind<'a>,
    /// The line of a text, from 1; the number of the record otherwise.
    pub line: u64,
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind<'a> {
    /// `sched_switch`.
    Switch {
        /// Who leaves the cpu.
        prev: Named<'a>,
        /// In which state.
        state: State,
        /// Who gets it.
        next: Named<'a>,
    },
    /// `sched_waking`: in the context of the waker.
    Waking(Named<'a>),
    /// `sched_wakeup`: perhaps on the cpu of the woken thread.
    Wakeup(Named<'a>),
    /// `sched_wakeup_new`: the first wake-up of a forked thread.
    WakeupNew(Named<'a>),
    /// `sched_stat_runtime`: a thread's cpu time since its last such event, in ns.
    Runtime {
        /// Whose.
        tid: Tid,
        /// How much, in ns.
        ran: u64,
    },
    /// `sched_process_fork`.
    Fork {
        /// Who forked.
        parent: Tid,
        /// The new thread.
        child: Tid,
        /// Its name.
        comm: &'a str,
    },
    /// `sched_process_exec`.
    Exec {
        /// Who goes on.
        tid: Tid,
        /// The thread that called it.
        old: Tid,
        /// What it executes.
        file: &'a str,
    },
    /// `sched_process_exit`: the teardown follows, the switch that ends it comes later.
    Exit {
        /// Who.
        tid: Tid,
    },
    /// `sched_migrate_task`.
    Migrate {
        /// Who.
        tid: Tid,
        /// From which cpu.
        from: u32,
        /// To which one.
        to: u32,
    },
    /// `hrtimer_start` of a timer that may wake the thread that starts it: its function is `hrtimer_wakeup`,
    /// or the file has only the address of the function.
    TimerStart {
        /// Its address.
        timer: u64,
        /// When it expires, in ns of CLOCK_MONOTONIC.
        expires: u64,
        /// The caller gave a length (`REL`, mode 1), not an instant.
        relative: Option<bool>,
    },
    /// `hrtimer_expire_entry`.
    TimerExpire {
        /// Its address.
        timer: u64,
    },
    /// `softirq_entry`, with the number of the softirq (`vec`: 1 TIMER, 3 NET_RX, 7 SCHED, 9 RCU).
    SoftirqEntry(u32),
    /// `softirq_exit`.
    SoftirqExit,
    /// `irq_handler_entry`.
    IrqEntry,
    /// `irq_handler_exit`.
    IrqExit,
    /// `sys_enter_sched_yield`.
    Yield,
    /// A probe that the user has set: the entry or the return of a function.
    Mark {
        /// Its name without group and without `__return`.
        name: &'a str,
        /// It is the return.
        returns: bool,
    },
    /// The recorder lost so many events (1 where it does not say how many).
    Lost(u64),
    /// An event that says nothing of a schedule, or one that is not known.
    Other,
}
