//! `hog`: a task that only computes, for ever or for a given amount of work.

use notation::declare::{Duration, Rate, Size};
use notation::parameter::Values;
use notation::parameters;
use sim_core::ids::ProfileId;
use sim_core::program::{MemoryProfile, Op, Program, Spread};
use sim_core::time::{Span, Work};

use crate::entry::{Built, Context, Entry};
use crate::spmd::inline::{MAX_RATE, MAX_SIZE};

/// Work of one compute operation: long enough to cost no events, short enough to be one number.
const PIECE: u64 = 1_000_000_000;
/// Longest finite work, 2^31 pieces (68 years).
const LONGEST: u64 = PIECE << 31;

parameters! {
    /// Parameters of `hog`.
    struct Parameters {
        /// Work of each task at nominal speed. `infinite` computes without end, in the background: the run
        /// ends when the other applications have ended.
        work: Duration = u64::MAX, in 1..=u64::MAX;
        /// Memory traffic of a task while it computes alone at nominal speed.
        demand: Rate = 0, in 0..=MAX_RATE;
        /// Bytes that a task works on. They limit the refill of its caches after a migration.
        working_set: Size = 0, in 0..=MAX_SIZE;
    }
}

/// The entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "hog",
    summary: "computes and never waits, without end or for a given time",
    source: "the cpu-hog of Hofmeyr, Iancu, Blagojevic, Load Balancing on Speed, PPoPP 2010",
    example: "code: { workload: { spmd: { work: 1s, intervals: 20 } } }\nhog: { workload: hog, cpus: [0] }",
    parameters: Parameters::TABLE,
    own: build,
};

fn build(values: &Values, _context: &Context<'_>) -> Result<Built, String> {
    let values = Parameters::from(values);
    let profile = MemoryProfile {
        demand: values.demand.bytes_per_second(),
        bound: None,
        working_set: values.working_set.bytes(),
        ..MemoryProfile::NONE
    };
    let piece = |ns| Op::Compute {
        work: Work::from_span(Span::from_ns(ns)),
        spread: Spread::NONE,
        profile: ProfileId(0),
    };
    let work = values.work.ns();
    let mut ops = Vec::new();
    if work == u64::MAX {
        ops.extend([Op::Repeat(0), piece(PIECE), Op::End]);
    } else if work > LONGEST {
        return Err("`work` of a hog is at most 68 years, or `infinite`".into());
    } else {
        if work >= PIECE {
            ops.extend([Op::Repeat((work / PIECE) as u32), piece(PIECE), Op::End]);
        }
        if !work.is_multiple_of(PIECE) {
            ops.push(piece(work % PIECE));
        }
    }
    let program = Program::new(ops, vec![profile])?;
    Ok(Built { background: work == u64::MAX, own_work: true, ..Built::even(program) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(work: u64) -> Built {
        let mut values = Values::defaults(Parameters::TABLE);
        values.set("work", work).unwrap();
        build(&values, &Context { tasks: 1, runtime: "spin", machine: "" }).unwrap()
    }

    #[test]
    fn endless_hogs_run_in_the_background() {
        assert!(built(u64::MAX).background);
        assert_eq!(built(u64::MAX).program.ops()[0], Op::Repeat(0));
    }

    #[test]
    fn finite_hogs_do_their_work_exactly() {
        for work in [1, PIECE - 1, PIECE, PIECE + 1, 12_345_678_901] {
            let built = built(work);
            let mut times = 1;
            let mut total = 0;
            for op in built.program.ops() {
                match op {
                    Op::Repeat(n) => times = u64::from(*n),
                    Op::Compute { work, .. } => total += times * work.floor_ns(),
                    _ => times = 1,
                }
            }
            assert_eq!((total, built.background), (work, false));
        }
    }
}
