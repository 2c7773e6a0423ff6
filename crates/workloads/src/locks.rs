//! The kinds of locks: the rules of each as a row of data, with its source.

use notation::choices;
use sim_core::lock::{LockRules, LockWait};

choices! {
    /// The kind of a lock.
    pub(crate) enum Kind {
        Mutex = "mutex",
        Adaptive = "adaptive",
        Fair = "fair",
        Inherit = "inherit",
        Libgomp = "libgomp",
        Libomp = "libomp",
        TestAndSet = "test-and-set",
        TestAndYield = "test-and-yield",
        Ticket = "ticket",
        Queued = "queued",
    }
}

/// What a kind of lock is, for lists and pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockKind {
    /// Its name, the value of the parameter `lock`.
    pub name: &'static str,
    /// In half a sentence.
    pub summary: &'static str,
    /// What it does, and what follows from that with more threads than cpus.
    pub text: &'static str,
    /// Where its rules are from.
    pub source: &'static str,
    /// Its rules with a cpu for each thread, and with more threads than cpus, with the default numbers of
    /// polls.
    pub rules: (LockRules, LockRules),
}

/// Numbers of polls that are parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Polls {
    /// glibc.pthread.mutex_spin_count.
    pub(crate) adaptive: u64,
    /// GOMP_SPINCOUNT, and what it is at most with more threads than cpus.
    pub(crate) libgomp: (u64, u64),
}

impl Polls {
    /// The defaults: glibc, `DEFAULT_ADAPTIVE_COUNT`; libgomp, env.c.
    pub(crate) const DEFAULT: Self = Self { adaptive: 100, libgomp: (300_000, 100) };
}

const fn sleep(spins: u64, again: bool) -> LockWait {
    LockWait::Sleep { spins, again }
}

/// The rules of a kind with a cpu for each thread, and with more threads than cpus.
pub(crate) const fn rules(kind: Kind, polls: Polls) -> (LockRules, LockRules) {
    let (many, few) = polls.libgomp;
    let few = if few < many { few } else { many };
    let always = match kind {
        Kind::Mutex => LockRules::MUTEX,
        Kind::Adaptive => LockRules::barging(sleep(polls.adaptive, false)),
        Kind::Fair => LockRules::queued(sleep(0, false)),
        Kind::Inherit => LockRules::INHERIT,
        Kind::Libgomp => {
            return (LockRules::barging(sleep(many, true)), LockRules::barging(sleep(few, true)));
        }
        Kind::Libomp => return (LockRules::QUEUED, LockRules::queued(LockWait::Yield)),
        Kind::TestAndSet => LockRules::TEST_AND_SET,
        Kind::TestAndYield => LockRules::barging(LockWait::Yield),
        Kind::Ticket => LockRules::TICKET,
        Kind::Queued => LockRules::QUEUED,
    };
    (always, always)
}

const fn row(
    kind: Kind,
    name: &'static str,
    summary: &'static str,
    text: &'static str,
    source: &'static str,
) -> LockKind {
    LockKind { name, summary, text, source, rules: rules(kind, Polls::DEFAULT) }
}

/// All kinds, the default first.
pub const LOCK_KINDS: &[LockKind] = &[
    row(
        Kind::Mutex,
        "mutex",
        "pthread_mutex_lock: one attempt, then sleep; a free lock is anyone's",
        "A thread that finds the lock taken marks it and sleeps in futex_wait at once. The release sets it \
            free and, if it is marked, wakes the thread that has slept longest. The lock is not handed \
        over: a running thread may take it before the woken one runs, which then sleeps again, behind the \
        others. A pre-empted waiter delays nobody. A pre-empted holder delays those that need the lock, but \
        their cpus are free for it.",
        "glibc 2.36: nptl/pthread_mutex_lock.c, nptl/lowlevellock.c (__lll_lock_wait: exchange with 2, then \
            futex_wait), sysdeps/nptl/lowlevellock.h (unlock wakes one if the old value was 2); Linux \
        kernel/futex: waiters of equal priority are woken first in, first out",
    ),
    row(
        Kind::Adaptive,
        "adaptive",
        "PTHREAD_MUTEX_ADAPTIVE_NP: polls up to 100 times, then as `mutex`",
        "A thread polls `mutex_spin_count` times before it sleeps as in `mutex`. It pays when the holder \
            runs and gives the lock back within a few microseconds. glibc begins with 10 polls and moves to \
        100 as polls fail (2 x the mean + 10); the model always polls the maximum.",
        "glibc 2.36: nptl/pthread_mutex_lock.c (max_adaptive_count, __spins), nptl/pthread_mutex_conf.c \
            (DEFAULT_ADAPTIVE_COUNT 100, tunable glibc.pthread.mutex_spin_count)",
    ),
    row(
        Kind::Fair,
        "fair",
        "sleeps at once as `mutex`, but the lock is handed over in order",
        "The release gives the lock to the thread that has slept longest and wakes it. Nobody can take it \
            meanwhile, so each contended section costs a wake-up and a switch, and a lock once contended \
        stays so: a lock convoy. No thread starves.",
        "Blasgen, Gray, Mitoma, Price 1979 (the convoy phenomenon); java.util.concurrent \
         ReentrantLock(true); \
            parking_lot unlock_fair; Go sync.Mutex in its starvation mode",
    ),
    row(
        Kind::Inherit,
        "inherit",
        "PTHREAD_PRIO_INHERIT: as `fair`, and its holder runs at the priority of those that wait",
        "The kernel hands the lock over to the waiting thread with the highest real-time priority, of equals \
            to the one that came first. Its holder has at least the priority of each waiter, also through a \
        chain of such locks. So a thread of a priority between those of the holder and the waiter does not \
        delay the waiter. Without real-time tasks it is `fair`: nice values are not inherited. With a \
        ceiling, `locks: { NAME: { ceiling: 30 } }` of a program (PTHREAD_PRIO_PROTECT), a thread has at \
        least that priority from the attempt to lock until the release.",
        "Linux kernel/locking/rtmutex.c (rt_mutex_adjust_prio_chain, rt_waiter_node_less), \
            kernel/futex/pi.c (wake_futex_pi); glibc nptl/pthread_mutex_lock.c, nptl/tpp.c; Sha, Rajkumar, \
        Lehoczky, IEEE TC 39(9), 1990",
    ),
    row(
        Kind::Libgomp,
        "libgomp",
        "GNU OpenMP critical and omp_set_lock: polls 300,000 times, 100 when oversubscribed, then sleeps",
        "A thread polls `spin_count` times, or at most `throttled_spin_count` times with more threads than \
            cpus, and then sleeps as in `mutex`. A thread that loses the race polls as often again.",
        "GCC libgomp: config/linux/mutex.c (gomp_mutex_lock_slow), config/linux/wait.h (do_spin, do_wait), \
            env.c (gomp_spin_count_var, gomp_throttled_spin_count_var)",
    ),
    row(
        Kind::Libomp,
        "libomp",
        "LLVM and Intel OpenMP: a queue in order; polls, and yields when oversubscribed",
        "A thread joins a queue and polls its own flag. With more threads than cpus it calls sched_yield \
            after each poll. It never sleeps. The lock is handed over, so a release may have to wait until \
        the next thread of the queue runs.",
        "LLVM openmp: runtime/src/kmp_lock.cpp (__kmp_acquire_queuing_lock, the default kind of user locks \
            without transactional memory), kmp_wait_release.h, KMP_YIELD_OVERSUB",
    ),
    row(
        Kind::TestAndSet,
        "test-and-set",
        "a spinlock that whoever polls it takes",
        "A thread polls until it finds the lock free, and takes it. The first poll that ends after the \
            release gets it; of several at the same instant that on the lowest cpu. A pre-empted waiter \
        delays nobody. A pre-empted holder stops all others for as long as it is queued, and they use up \
        their slices polling.",
        "std::atomic_flag loops; pthread_spin_lock of glibc (nptl/pthread_spin_lock.c); Linux before 2.6.25",
    ),
    row(
        Kind::TestAndYield,
        "test-and-yield",
        "as `test-and-set`, with sched_yield after each poll",
        "A waiting thread lets others run, a pre-empted holder among them. What a yield does depends on the \
            kernel.",
        "the usual loop of user code: while (!try_lock()) std::this_thread::yield()",
    ),
    row(
        Kind::Ticket,
        "ticket",
        "a spinlock that is handed over in order of arrival",
        "Each thread draws a number and polls until it is its turn. The lock goes to the next number, even \
            if that thread has been pre-empted: all others then poll until it runs again. With more threads \
        than cpus each section may cost a round of time slices. All poll one word, so its cache line goes \
        to half of the others, in the mean, before the next holder sees the release.",
        "Linux 2.6.25 to 4.1, arch/x86/include/asm/spinlock.h; Mellor-Crummey, Scott, ACM TOCS 9(1), 1991",
    ),
    row(
        Kind::Queued,
        "queued",
        "an MCS lock or qspinlock: as `ticket`, each waiter polls a word of its own",
        "The rules are those of `ticket`, but a release sends one cache line to one cpu, however many poll. \
            With more threads than cpus it collapses in the same way, because the next in the queue may have \
        no cpu.",
        "Mellor-Crummey, Scott, ACM TOCS 9(1), 1991; Linux 4.2 and later, kernel/locking/qspinlock.c",
    ),
];

#[cfg(test)]
mod tests {
    use notation::declare::Choice;

    use super::*;

    #[test]
    fn every_word_has_a_row() {
        let rows: Vec<&str> = LOCK_KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(rows, Kind::WORDS);
        let default = LOCK_KINDS.first().map(|kind| kind.rules);
        assert_eq!(default, Some((LockRules::MUTEX, LockRules::MUTEX)));
    }

    #[test]
    fn libgomp_polls_less_when_it_has_more_threads_than_cpus() {
        let spins = |rules: LockRules| rules.sleeps_after();
        let polls = Polls { libgomp: (0, 100), ..Polls::DEFAULT };
        let (many, few) = rules(Kind::Libgomp, Polls::DEFAULT);
        assert_eq!((spins(many), spins(few)), (Some(300_000), Some(100)));
        // OMP_WAIT_POLICY=passive polls not at all, oversubscribed or not.
        let (many, few) = rules(Kind::Libgomp, polls);
        assert_eq!((spins(many), spins(few)), (Some(0), Some(0)));
    }
}
