//! Ranks of a message-passing program, from marks of its calls: what a rank does between the return of a call
//! and the entry of the next one is work, and the call waits as the library does.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::course::{Courses, Step};
use crate::fold::{self, Part, Token};
use crate::threads::{Id, Threads};

/// Fewest calls of a rank.
const FEWEST: usize = 4;

/// What begins the names of marks and says nothing of the call.
const PREFIXES: [&str; 4] = ["o_", "m_", "mpi_", "pmpi_"];

/// Calls by the names that marks have, and the statement that stands for each. Sizes are not in a recording.
const CALLS: [(&[&str], &str); 8] = [
    (&["ar", "allreduce"], "allreduce 8B"),
    (&["sr", "sendrecv"], "exchange 1 8B"),
    (&["bar", "ba", "barrier"], "barrier"),
    (&["bc", "bcast"], "bcast 8B"),
    (&["red", "reduce"], "reduce 8B"),
    (&["a2a", "aa", "alltoall"], "alltoall 8B"),
    (&["ag", "allgather"], "allgather 8B"),
    (&["wa", "waitall", "wait"], "exchange 1 8B"),
];

/// The statement for the call of a mark.
#[must_use]
pub fn statement(mark: &str) -> Option<&'static str> {
    let name = mark.to_ascii_lowercase();
    let name = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(&name);
    CALLS.iter().find(|(names, _)| names.contains(&name)).map(|(_, statement)| *statement)
}

/// Ranks, and what they do.
#[derive(Clone, PartialEq, Debug)]
pub struct Ranks {
    /// The thread of each rank.
    pub members: Vec<Id>,
    /// Calls of a rank.
    pub calls: usize,
    /// What all of them do, with the lengths of work of all ranks before each call, in ns.
    pub parts: Vec<Part<Called>>,
    /// Work of a rank before its first call, in ns, and behind its last one.
    pub edges: (u64, u64),
    /// How long a rank slept before its first call, in ns, and behind its last one: it was connected to the
    /// launcher and the others.
    pub slept: (u64, u64),
    /// From the first instant of the program to that of the first rank, in ns.
    pub before: u64,
    /// From the last instant of the ranks to the end of the program, in ns.
    pub after: u64,
    /// Cpu time of the ranks in calls, in ns.
    pub inside: u64,
}

/// A call, and the work before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Called {
    /// The statement.
    pub statement: &'static str,
    /// Work before it, in ns.
    pub work: u64,
}

impl Token for Called {
    fn length(self) -> Option<u64> {
        Some(self.work)
    }

    fn alike(self, other: Self) -> bool {
        self.statement == other.statement
    }
}

/// What one rank did.
#[derive(Default)]
struct Rank {
    calls: Vec<Called>,
    inside: u64,
    last: u64,
    /// Sleep before the first call, and behind the last one.
    slept: (u64, u64),
}

/// The ranks among the threads of a program.
#[must_use]
pub fn find(
    threads: &Threads,
    courses: &Courses,
    marks: &[String],
    program: &BTreeSet<Id>,
    (begin, end): (u64, u64),
) -> Option<Ranks> {
    let known: BTreeMap<u32, &'static str> =
        (0..).zip(marks).filter_map(|(mark, name)| Some((mark, statement(name)?))).collect();
    let all: Vec<(Id, Rank)> =
        program.iter().filter_map(|id| Some((*id, rank(courses, *id, &known)?))).collect();
    let (members, ranks): (Vec<Id>, Vec<Rank>) = all.into_iter().unzip();
    let calls = ranks.iter().map(|rank| rank.calls.len()).min()?;
    let first = ranks.first()?;
    let alike = |rank: &Rank| rank.calls.iter().zip(&first.calls).all(|(one, other)| one.alike(*other));
    if members.len() < 2 || calls < FEWEST || !ranks.iter().all(alike) || threads.is_empty() {
        return None;
    }
    // The work before the first call is the start of the program.
    let mean = |lengths: &[u64]| lengths.iter().sum::<u64>() / (lengths.len() as u64).max(1);
    let starts: Vec<u64> = ranks.iter().filter_map(|rank| rank.calls.first()).map(|call| call.work).collect();
    let ends: Vec<u64> = ranks.iter().map(|rank| rank.last).collect();
    let tokens: Vec<Called> = (0..calls)
        .map(|call| {
            let works: Vec<u64> =
                ranks.iter().filter_map(|rank| rank.calls.get(call)).map(|called| called.work).collect();
            let statement = first.calls.get(call).map_or("barrier", |called| called.statement);
            Called { statement, work: if call == 0 { 0 } else { mean(&works) } }
        })
        .collect();
    // The first call has no work before it, and would make the passes of a loop unequal.
    let (start, rest) = tokens.split_at(1);
    let mut parts: Vec<Part<Called>> = start.iter().map(|call| Part::One(*call)).collect();
    parts.extend(fold::fold(rest));
    let parts = pooled(parts, &ranks);
    let spans = || members.iter().filter_map(|id| courses.list.get(id));
    Some(Ranks {
        calls,
        parts,
        edges: (mean(&starts), mean(&ends)),
        slept: (
            mean(&ranks.iter().map(|rank| rank.slept.0).collect::<Vec<_>>()),
            mean(&ranks.iter().map(|rank| rank.slept.1).collect::<Vec<_>>()),
        ),
        before: spans().map(|course| course.first).min()?.saturating_sub(begin),
        after: end.saturating_sub(spans().map(|course| course.last).max()?),
        inside: ranks.iter().map(|rank| rank.inside).sum(),
        members,
    })
}

/// The lengths in loops are those of all ranks, and not their means.
fn pooled(parts: Vec<Part<Called>>, ranks: &[Rank]) -> Vec<Part<Called>> {
    let mut at = 0;
    let each = parts.into_iter().map(|part| match part {
        Part::One(step) => {
            at += 1;
            Part::One(step)
        }
        Part::Loop(times, block) => {
            let period = block.len();
            let place = at;
            at += times * period;
            let block = block.into_iter().enumerate().map(|(offset, (step, _))| {
                let of = |rank: &Rank| -> Vec<u64> {
                    let calls = rank.calls.get(place..at).unwrap_or_default();
                    calls.iter().skip(offset).step_by(period).map(|called| called.work).collect()
                };
                (step, ranks.iter().flat_map(of).collect())
            });
            Part::Loop(times, block.collect())
        }
    });
    each.collect()
}

fn rank(courses: &Courses, id: Id, known: &BTreeMap<u32, &'static str>) -> Option<Rank> {
    let mut rank = Rank::default();
    let mut inside: Option<u32> = None;
    for timed in &courses.list.get(&id)?.steps {
        match timed.step {
            Step::Run(ran) if inside.is_some() => rank.inside += ran,
            Step::Run(ran) => rank.last += ran,
            Step::Wait { slept: Some(time), .. } | Step::Outside(time) | Step::Sleep(time)
                if inside.is_none() =>
            {
                rank.slept.1 += time;
            }
            Step::Until { length, .. } if inside.is_none() => rank.slept.1 += length,
            Step::Mark(mark, false) if inside.is_none() => {
                let Some(statement) = known.get(&mark) else { continue };
                rank.calls.push(Called { statement, work: std::mem::take(&mut rank.last) });
                inside = Some(mark);
                if rank.calls.len() == 1 {
                    rank.slept.0 = rank.slept.1;
                }
                rank.slept.1 = 0;
            }
            Step::Mark(mark, true) if inside.is_some_and(|entered| same(known, entered, mark)) => {
                inside = None;
            }
            _ => {}
        }
    }
    (rank.calls.len() >= FEWEST).then_some(rank)
}

/// The return of a call is marked under the name of its entry, or under another one of the same call.
fn same(known: &BTreeMap<u32, &'static str>, entered: u32, mark: u32) -> bool {
    entered == mark || known.get(&entered) == known.get(&mark)
}
