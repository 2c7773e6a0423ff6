//! Pools of jobs: work that whoever comes takes, job by job, in the order of a graph.

use std::sync::Arc;

use crate::ids::ProfileId;
use crate::limits::{MAX_JOB_EDGES, MAX_JOBS};
use crate::spread::Spread;
use crate::time::Work;

/// Jobs, some of which come after others, and how workers share them. The workers of a pool are the tasks of
/// all applications whose programs work in it ([`crate::program::Op::Work`]), in the order of their ids.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pool {
    /// Its name in messages and reports.
    pub name: String,
    /// Its jobs, at least one of which has work; at most [`MAX_JOBS`]. A pass does each of them once.
    pub jobs: Arc<[Job]>,
    /// Who gets which.
    pub rules: PoolRules,
}

/// A job. It is computed as [`crate::program::Op::Compute`] is; its length in a pass is the same whoever
/// takes it, apart from [`crate::program::AppSpec::rank_scale`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// Mean work; a job without work is done at once.
    pub work: Work,
    /// Variation of it; a table is one of the program of whoever takes it.
    pub spread: Spread,
    /// Memory profile, of the program of whoever takes it.
    pub profile: ProfileId,
    /// The jobs that come after it, by their positions, each once. A job is ready when all that it comes
    /// after are done.
    pub next: Vec<u32>,
}

/// How workers share the jobs that are ready.
///
/// Blumofe and Leiserson (Scheduling multithreaded computations by work stealing, Journal of the ACM 46, 5,
/// 1999) give each worker a queue of its own, of which it takes the newest job, and from which others, which
/// have none, steal the oldest one. So do Intel TBB, Rayon and the OpenMP of LLVM (`kmp_tasking.cpp`). The
/// scheduler of Go takes the oldest one of its own queue. The OpenMP of GNU has one queue for all threads of
/// a team, behind one lock (`task.c`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PoolRules {
    /// Where ready jobs are.
    pub queues: JobQueues,
    /// Which job a worker takes from its own queue, or from the one of all.
    pub own: JobEnd,
    /// Which job it takes from the queue of another worker.
    pub steal: JobEnd,
    /// In which order it looks at the queues of others.
    pub victims: Victims,
    /// Who gets the jobs that come after none.
    pub roots: Roots,
}

impl PoolRules {
    /// Those of Blumofe and Leiserson.
    pub const STEALING: Self = Self {
        queues: JobQueues::OnePerWorker,
        own: JobEnd::Newest,
        steal: JobEnd::Oldest,
        victims: Victims::Random,
        roots: Roots::First,
    };
    /// One queue for all, first come, first served.
    pub const SHARED: Self = Self { queues: JobQueues::One, own: JobEnd::Oldest, ..Self::STEALING };
}

/// Where ready jobs are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JobQueues {
    /// In one queue. Its lock is on a cache line, which whoever adds jobs or takes one has to have.
    One,
    /// Each worker has a queue of its own. It adds jobs to it, and takes them from it, at no cost.
    OnePerWorker,
}

/// An end of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JobEnd {
    /// What was added last.
    Newest,
    /// What was added first.
    Oldest,
}

/// In which order a worker looks at the queues of others, each once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Victims {
    /// From the next worker on; after the last one comes the first one.
    Next,
    /// The same, from one of the others on that is drawn each time (Rayon, `registry.rs`).
    Random,
}

/// Who gets the jobs that come after none, when a pass begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Roots {
    /// The worker that comes first, in the order of the jobs.
    First,
    /// All workers in turns, from the first worker on.
    InTurns,
}

impl Pool {
    /// Of each job, how many it comes after.
    #[must_use]
    pub fn predecessors(&self) -> Vec<u32> {
        let mut before = vec![0; self.jobs.len()];
        for next in self.jobs.iter().flat_map(|job| &job.next) {
            before[*next as usize] += 1;
        }
        before
    }

    /// Refuses jobs that cannot be done.
    pub(super) fn check(&self) -> Result<(), String> {
        let (name, jobs) = (&self.name, self.jobs.len());
        if self.jobs.iter().all(|job| job.work == Work::ZERO) {
            return Err(format!("the pool `{name}` has no job with work"));
        }
        let edges: usize = self.jobs.iter().map(|job| job.next.len()).sum();
        if jobs > MAX_JOBS || edges > MAX_JOB_EDGES {
            return Err(format!(
                "a pool has at most {MAX_JOBS} jobs, which wait for others {MAX_JOB_EDGES} times; \
                 `{name}` has {jobs}, and they do so {edges} times"
            ));
        }
        // By whom each job was last named.
        let mut named = vec![usize::MAX; jobs];
        for (number, job) in self.jobs.iter().enumerate() {
            for next in &job.next {
                let Some(by) = named.get_mut(*next as usize) else {
                    return Err(format!("a job of the pool `{name}` comes before one that does not exist"));
                };
                if std::mem::replace(by, number) == number {
                    return Err(format!("a job of the pool `{name}` comes twice before another one"));
                }
            }
        }
        let mut before = self.predecessors();
        let mut ready: Vec<usize> = (0..jobs).filter(|job| before[*job] == 0).collect();
        let mut done = 0;
        while let Some(job) = ready.pop() {
            done += 1;
            for next in self.jobs[job].next.iter().map(|next| *next as usize) {
                before[next] -= 1;
                if before[next] == 0 {
                    ready.push(next);
                }
            }
        }
        if done < jobs {
            return Err(format!("jobs of the pool `{name}` wait for each other"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn pool(work: u64, next: &[&[u32]]) -> Pool {
        let job = |next: &&[u32]| Job {
            work: Work::from_span(Span::from_ns(work)),
            spread: Spread::NONE,
            profile: ProfileId(0),
            next: next.to_vec(),
        };
        Pool {
            name: "p".into(),
            jobs: next.iter().map(job).collect::<Vec<_>>().into(),
            rules: PoolRules::STEALING,
        }
    }

    #[test]
    fn graphs_that_cannot_be_done_are_refused() {
        let why = |work, next: &[&[u32]]| pool(work, next).check().err().unwrap_or_default();
        assert_eq!(why(1, &[&[1, 2], &[3], &[3], &[]]), "");
        assert_eq!(pool(1, &[&[1, 2], &[3], &[3], &[]]).predecessors(), [0, 1, 1, 2]);
        assert_eq!(why(0, &[&[]]), "the pool `p` has no job with work");
        assert_eq!(why(1, &[]), "the pool `p` has no job with work");
        assert_eq!(why(1, &[&[1]]), "a job of the pool `p` comes before one that does not exist");
        assert_eq!(why(1, &[&[1, 1], &[]]), "a job of the pool `p` comes twice before another one");
        for circle in [&[&[0][..]][..], &[&[1], &[2], &[1]], &[&[], &[2], &[1]]] {
            assert_eq!(why(1, circle), "jobs of the pool `p` wait for each other");
        }
        assert!(why(1, &vec![&[][..]; MAX_JOBS + 1]).starts_with("a pool has at most 1048576 jobs"));
    }
}
