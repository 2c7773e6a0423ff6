//! A central barrier of threads of one process, and the ways to wait at it.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use rustix::thread::{futex, sched_yield};
use serde::{Deserialize, Serialize};

use crate::work::now;

/// What a waiting thread does; the names are those of the simulator's modes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Wait {
    /// Polls with a pause instruction, never yields.
    Spin,
    /// Polls ([`Polls`] times), calls `sched_yield`, and so on.
    Yield,
    /// Polls once, then sleeps on a futex.
    Block,
    /// Polls for so many nanoseconds, then sleeps on a futex.
    SpinThenBlock {
        /// How long it polls, in nanoseconds.
        limit: u64,
        /// Whether it polls as often as [`Polls`] says and then calls `sched_yield`.
        yielding: bool,
    },
}

/// What a waiting thread does before each `sched_yield`. It does not call it if the wait is over at the end
/// of a poll.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Polls {
    /// Number of polls, 1 or more.
    pub count: u32,
    /// Nanoseconds between two of them, spent in pause instructions; 0: none.
    pub each: u64,
}

impl Polls {
    /// One poll.
    pub const ONE: Self = Self { count: 1, each: 0 };

    /// Whether it is over at the end of one of the polls.
    fn see(self, over: impl Fn() -> bool) -> bool {
        (0..self.count).any(|_| {
            if self.each > 0 {
                let begin = now();
                while now() - begin < self.each {
                    spin_loop();
                }
            }
            over()
        })
    }
}

/// A value alone in its cache lines (two: processors fetch lines in pairs).
#[repr(align(128))]
struct Line(AtomicU32);

/// One counter of arrivals and one number that all poll: the simulator's `central` barrier.
pub struct Barrier {
    ranks: u32,
    arrived: Line,
    episode: Line,
    sleepers: Line,
}

impl Barrier {
    /// A barrier of so many threads.
    #[must_use]
    pub const fn new(ranks: u32) -> Self {
        Self {
            ranks,
            arrived: Line(AtomicU32::new(0)),
            episode: Line(AtomicU32::new(0)),
            sleepers: Line(AtomicU32::new(0)),
        }
    }

    /// Waits until all threads are here.
    pub fn meet(&self, wait: Wait, polls: Polls) {
        if self.ranks < 2 {
            return;
        }
        let episode = self.episode.0.load(SeqCst);
        if self.arrived.0.fetch_add(1, SeqCst) + 1 == self.ranks {
            self.arrived.0.store(0, SeqCst);
            self.episode.0.store(episode.wrapping_add(1), SeqCst);
            if self.sleepers.0.load(SeqCst) > 0 {
                // The only error is an unknown flag. A thread that is about to sleep checks the number first.
                let _ = futex::wake(&self.episode.0, futex::Flags::PRIVATE, i32::MAX as u32);
            }
            return;
        }
        let over = || self.episode.0.load(SeqCst) != episode;
        match wait {
            Wait::Spin => {
                while !over() {
                    spin_loop();
                }
            }
            Wait::Yield => {
                while !polls.see(over) {
                    sched_yield();
                }
            }
            Wait::Block => self.sleep(episode),
            Wait::SpinThenBlock { limit, yielding } => {
                let begin = now();
                while !over() {
                    if now() - begin >= limit {
                        return self.sleep(episode);
                    }
                    match yielding {
                        true if polls.see(over) => return,
                        true => sched_yield(),
                        false => spin_loop(),
                    }
                }
            }
        }
    }

    /// Sleeps until the episode is over.
    fn sleep(&self, episode: u32) {
        if self.episode.0.load(SeqCst) != episode {
            return;
        }
        self.sleepers.0.fetch_add(1, SeqCst);
        while self.episode.0.load(SeqCst) == episode {
            // Returns at once if the number has changed in between.
            let _ = futex::wait(&self.episode.0, futex::Flags::PRIVATE, episode, None);
        }
        self.sleepers.0.fetch_sub(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_thread_is_an_episode_ahead() {
        let (limit, many) = (10_000, Polls { count: 20, each: 50 });
        let modes = [Wait::Yield, Wait::Block, Wait::SpinThenBlock { limit, yielding: true }, Wait::Spin];
        for (wait, polls) in modes.into_iter().flat_map(|wait| [(wait, Polls::ONE), (wait, many)]) {
            let (barrier, count) = (Barrier::new(3), AtomicU32::new(0));
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        for episode in 0..5 {
                            count.fetch_add(1, SeqCst);
                            barrier.meet(wait, polls);
                            let seen = count.load(SeqCst);
                            assert!(seen >= 3 * (episode + 1) && seen <= 3 * (episode + 2), "{wait:?}");
                            barrier.meet(wait, polls);
                        }
                    });
                }
            });
            assert_eq!(count.load(SeqCst), 15);
        }
    }

    #[test]
    fn polls_end_with_the_first_that_sees_the_end() {
        // Four looks of at least 1 us each: the third one sees it.
        let (looks, begin) = (std::cell::Cell::new(0), now());
        let third = || {
            looks.set(looks.get() + 1);
            looks.get() == 3
        };
        assert!(Polls { count: 4, each: 1_000 }.see(third));
        assert!(now() - begin >= 3_000);
        assert_eq!(looks.get(), 3);
        looks.set(3);
        assert!(!Polls { count: 4, each: 0 }.see(third));
        assert_eq!(looks.get(), 7);
    }

    #[test]
    fn one_thread_waits_for_none() {
        Barrier::new(1).meet(Wait::Block, Polls::ONE);
    }
}
