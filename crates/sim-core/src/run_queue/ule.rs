//! ULE of FreeBSD (sys/kern/sched_ule.c): interactive threads by score, all others first in, first out.
//!
//! A key is the score of an interactive thread, or one value for all others. Deviations: the calendar queue
//! that spreads the others by their recent cpu share and nice value is a plain queue; a woken interactive
//! thread always pre-empts one that is not, as when an interrupt or another cpu wakes it.

use crate::engine::state::Task;
use crate::run_queue::multilevel::{Levels, Parent, Setting, Share, nice};
use crate::run_queue::{Entry, at_least_1us};
use crate::time::{Span, Time};

/// Parameters of ULE (FreeBSD, sys/kern/sched_ule.c).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UleParams {
    /// Slice of a thread with at most one rival; at least 1 us. 12 ticks of a statistics clock of 127 Hz.
    pub slice: Span,
    /// Shortest slice, that of six or more rivals; at least 1 us. 2 ticks since FreeBSD 10, the whole slice
    /// in 7.
    pub min_slice: Span,
    /// A thread whose interactivity score is below this is interactive (`sched_interact`); 0 to 100.
    pub interactive: u32,
    /// History of running and sleeping that counts (`SCHED_SLP_RUN_MAX`); at least 1 us.
    pub history: Span,
}

/// Key of a thread that is not interactive: behind every score.
const BATCH: i64 = 256;
/// Half of the greatest score (`SCHED_INTERACT_HALF`).
const HALF: u64 = 50;
/// From this many rivals on the slice is the shortest (`SCHED_SLICE_MIN_DIVISOR`).
const MOST_RIVALS: u32 = 6;

const fn is_batch(key: i64) -> bool {
    key == BATCH
}

/// `tdq_slice` (FreeBSD 10 and later): the slice is shared by the rivals, down to the shortest. In 7 it is
/// always `sched_slice`, which is the same with a shortest slice as long as the longest.
fn slice(params: &UleParams, running: u32) -> Span {
    let rivals = running.saturating_sub(1);
    if rivals <= 1 {
        params.slice
    } else if rivals >= MOST_RIVALS {
        params.min_slice
    } else {
        Span::from_ns(params.slice.ns() / u64::from(rivals)).max(params.min_slice)
    }
}

/// `sched_interact_score` and the priority that follows from it.
fn key(params: &UleParams, weight: u32, share: &Share) -> i64 {
    let (ran, slept) = (share.ran, share.rest);
    let score = if ran > slept {
        HALF + HALF.saturating_sub(slept / (ran / HALF).max(1))
    } else if slept > ran {
        ran / (slept / HALF).max(1)
    } else if ran > 0 {
        HALF
    } else {
        0
    };
    let score = (score as i64 + nice(weight)).max(0);
    if score < i64::from(params.interactive) { score } else { BATCH }
}

/// `sched_interact_update`: history beyond its length fades.
fn fade(params: &UleParams, share: &mut Share) {
    let most = params.history.ns();
    let sum = share.ran.saturating_add(share.rest);
    if sum < most {
        return;
    }
    if sum > most.saturating_mul(2) {
        let ran_more = share.ran > share.rest;
        (share.ran, share.rest) = if ran_more { (most, 1) } else { (1, most) };
    } else if sum > most / 5 * 6 {
        (share.ran, share.rest) = (share.ran / 2, share.rest / 2);
    } else {
        (share.ran, share.rest) = (share.ran / 5 * 4, share.rest / 5 * 4);
    }
}

/// A forked thread has at most a tenth of the history of its parent (`sched_interact_fork`), a woken one its
/// sleep more.
fn place(params: &UleParams, task: &mut Task, parent: Option<&Parent>, entry: Entry, now: Time) {
    match entry {
        Entry::Move => return,
        Entry::Fork => {
            if let Some(parent) = parent {
                let (ran, slept) = (parent.share.ran, parent.share.rest);
                let ratio = (ran.saturating_add(slept) / (params.history.ns() / 10).max(1)).max(1);
                (task.history.share.ran, task.history.share.rest) = (ran / ratio, slept / ratio);
            }
            task.history.share.used = 0;
        }
        Entry::Wake => {
            task.history.share.rest = task.history.share.rest.saturating_add(now.since(task.last_ran).ns());
            fade(params, &mut task.history.share);
            task.history.share.used = 0;
        }
    }
    task.vruntime = key(params, task.weight, &task.history.share);
}

impl Levels for UleParams {
    fn check_parameters(&self) -> Result<(), String> {
        at_least_1us("slice", self.slice.min(self.min_slice).min(self.history))
    }

    fn quantum(&self, _: i64, _: u32, running: u32) -> Span {
        slice(self, running)
    }

    fn ran(&self, share: &mut Share, part: u64) {
        share.ran += part;
    }

    fn expire(&self, _: &Setting, weight: u32, _: i64, share: &mut Share, _: Time) -> i64 {
        fade(self, share);
        key(self, weight, share)
    }

    fn steady(&self, key: i64, _: u32, share: &Share) -> bool {
        is_batch(key) && self.interactive <= 50 && share.ran >= share.rest
    }

    fn enter(&self, task: &mut Task, parent: Option<&mut Parent>, _: i64, (entry, now): (Entry, Time)) {
        place(self, task, parent.as_deref(), entry, now);
    }

    fn outranks(&self, mine: i64, theirs: i64) -> bool {
        !is_batch(mine) && is_batch(theirs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_and_slices() {
        let params = UleParams {
            slice: Span::from_ms(96),
            min_slice: Span::from_ms(16),
            interactive: 30,
            history: Span::from_ms(5_000),
        };
        let ms = [1, 2, 3, 4, 7, 9].map(|running| slice(&params, running).ns() / 1_000_000);
        assert_eq!(ms, [96, 96, 48, 32, 16, 16]);
        let of = |ran, slept| key(&params, 1024, &Share { ran, rest: slept, ..Share::default() });
        // 50 x ran / slept below 30, that is more than 5/3 as much sleep as running.
        assert_eq!([of(100, 1_000), of(500, 1_000), of(590, 1_000), of(700, 1_000)], [5, 25, 29, BATCH]);
        assert_eq!(of(1_000, 100), BATCH);
    }

    #[test]
    fn a_forked_thread_gets_its_parents_history_scaled_to_a_tenth() {
        let params = UleParams {
            slice: Span::from_ms(96),
            min_slice: Span::from_ms(16),
            interactive: 30,
            history: Span::from_ms(5_000),
        };
        // `sched_interact_fork`: ran and slept 5 s, ten times a tenth of the history.
        let ms = 1_000_000;
        let share = Share { ran: 2_000 * ms, rest: 3_000 * ms, ..Share::default() };
        let process = crate::engine::state::ProcessId::NONE;
        let mut task = Task::new(crate::ids::AppId(0), 1024, process, 1);
        place(&params, &mut task, Some(&Parent { share, key: 0 }), Entry::Fork, Time::ZERO);
        assert_eq!((task.history.share.ran, task.history.share.rest), (200 * ms, 300 * ms));
    }
}
