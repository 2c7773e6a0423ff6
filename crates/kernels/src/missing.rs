//! What Linux does and no row has: for each rule the releases that have it, and on which side results err
//! without it.

use crate::nearest::numbers_of;
use crate::{Entry, KERNELS};

/// On which side a result errs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// The simulated program is faster than the real one.
    Optimistic,
    /// It is slower.
    Pessimistic,
    /// It depends on the program.
    Either,
}

impl Error {
    /// As a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Optimistic => "optimistic",
            Self::Pessimistic => "pessimistic",
            Self::Either => "either way",
        }
    }
}

/// A rule of Linux that is not modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Missing {
    /// What the kernel calls it.
    pub rule: &'static str,
    /// The first mainline release that has it.
    pub since: &'static [u32],
    /// The first one that does not have it any more.
    pub until: Option<&'static [u32]>,
    /// Rows that do not have it although the kernel of which they are a variation has it.
    pub except: &'static [&'static str],
    /// On which side results err without it.
    pub error: Error,
    /// Whom it concerns, and by how much if that is known; with the function or commit.
    pub about: &'static str,
}

/// All of them, those that change most first.
const MISSING: &[Missing] = &[
    Missing {
        rule: "overlapping groups",
        since: &[3, 5],
        until: None,
        except: &[],
        error: Error::Optimistic,
        about: "Where memory nodes are not all neighbours, groups of nodes overlap \
            (build_overlap_sched_groups), to 4.12 built from the view of the first cpu: tasks \
            bound to two distant nodes were not spread. Here groups are blocks of nodes.",
    },
    Missing {
        rule: "RT_RUNTIME_SHARE",
        since: &[2, 6, 25],
        until: Some(&[5, 10]),
        except: &[],
        error: Error::Either,
        about: "Cpus lend each other rt_runtime (do_balance_runtime; off since 2586af1ac187), so that \
            one spinning real-time task is never throttled while another cpu has none. Here it is, \
            and what waits beside it gets its 5 %.",
    },
    Missing {
        rule: "constrained deadlines",
        since: &[3, 14],
        until: Some(&[4, 13]),
        except: &[],
        error: Error::Pessimistic,
        about: "Tasks of SCHED_DEADLINE with a deadline below their period that wake after their \
            deadline got a new period at once (to df8eac8cafce), and a whole runtime where they \
            now get the rest (3effcb4247e7). Here all releases have the later rules.",
    },
    Missing {
        rule: "SCHED_DEADLINE: clocks",
        since: &[4, 16],
        until: None,
        except: &[],
        error: Error::Pessimistic,
        about: "A runtime is used up more slowly on slow cpus and at low clocks \
            (dl_scaled_delta_exec), can be taken from what others leave (SCHED_FLAG_RECLAIM), and \
            is asked of the governor. Here it goes by the clock on the wall, and the governor \
            gives such tasks the highest clock.",
    },
    Missing {
        rule: "SCHED_DEADLINE: locks",
        since: &[3, 14],
        until: None,
        except: &[],
        error: Error::Either,
        about: "A task with a lock that a task of SCHED_DEADLINE waits for inherits its deadline \
            (rt_mutex_setprio). Here such tasks take no locks that change priorities, and a task \
            keeps its class if it begins with SCHED_DEADLINE.",
    },
    Missing {
        rule: "weight counted twice",
        since: &[6, 12, 10],
        until: Some(&[7, 0]),
        except: &[],
        error: Error::Either,
        about: "When a running group is reweighed, its own weight counts twice in the mean by which it \
            is placed (6d71a9c61604 to 101f3498b4bd), so that its lag grows a little. Here it \
            counts once.",
    },
    Missing {
        rule: "core scheduling",
        since: &[5, 14],
        until: None,
        except: &[],
        error: Error::Optimistic,
        about: "Threads with different cookies (PR_SCHED_CORE) never share a core; one of them leaves \
            its hardware thread idle. It acts only where it is asked for.",
    },
    Missing {
        rule: "kernel mode",
        since: &[2, 6],
        until: None,
        except: &[],
        error: Error::Optimistic,
        about: "A system call takes a fixed time here, and pre-empts nothing for longer. Under the \
            preemption models none and voluntary a long one delays the tasks of its cpu. For \
            programs that compute in user mode only lazy differs from them (`preemption`).",
    },
    Missing {
        rule: "interrupts",
        since: &[2, 6],
        until: None,
        except: &[],
        error: Error::Optimistic,
        about: "Interrupts of devices and softirqs take no time of a cpu, apart from what programs \
            with `background: true` stand for.",
    },
];

/// The mainline release whose rules a row has: its own, or that of the kernel of which it is a variation.
fn release(entry: &Entry) -> Option<Vec<u32>> {
    if entry.own.is_mainline() {
        return numbers_of(entry);
    }
    KERNELS.find(entry.own.base?).and_then(release)
}

/// What a row lacks.
#[must_use]
pub fn missing(entry: &Entry) -> Vec<&'static Missing> {
    let Some(release) = release(entry) else { return Vec::new() };
    let has = |rule: &&Missing| {
        let from = release.as_slice() >= rule.since;
        from && rule.until.is_none_or(|until| release.as_slice() < until)
            && !rule.except.contains(&entry.name)
    };
    MISSING.iter().filter(has).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Vec<&'static str> {
        missing(KERNELS.resolve(name).unwrap()).iter().map(|rule| rule.rule).collect()
    }

    #[test]
    fn a_row_lacks_what_its_release_has() {
        assert!(of("linux-6.12.65").contains(&"weight counted twice"));
        assert!(!of("linux-7.1").contains(&"weight counted twice"));
        assert!(of("rhel-9.4").contains(&"core scheduling") && !of("rhel-8.0").contains(&"core scheduling"));
        assert_eq!(of("linux-2.6.18"), ["kernel mode", "interrupts"]);
        assert!(of("freebsd-7").is_empty());
    }
}
