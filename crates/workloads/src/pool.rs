//! `pool`: a pool of work that idle tasks take from, chunk by chunk, as under work stealing

use notation::declare::{Duration, Percent};
use notation::parameter::Values;
use notation::parameters;
use sim_core::ids::ProfileId;
use sim_core::program::{MemoryProfile, Op, Program, Spread};
use sim_core::time::{Span, WORK_FRACTION_BITS, Work};

use crate::entry::{Built, Context, Entry};
use crate::variation::{LONGEST, Varies};

parameters! {
    /// Parameters of `pool`.
    struct Parameters {
        /// Total work of all chunks in all rounds.
        work: Duration = s(16), in 1..=s(1_000_000);
        /// Chunks of one round, shared by all tasks.
        chunks: u32 = 1_024, in 1..=u32::MAX as u64;
        /// Number of times that the pool is filled. All tasks meet at a barrier after each round.
        rounds: u32 = 1, in 1..=u32::MAX as u64;
        /// Variation of the pieces of work: uniform with the half-width `spread`, or exponential.
        variation: Varies = Varies::Uniform;
        /// Half-width of the uniform variation.
        spread: Percent = 0, in 0..=percent(100);
        /// Work of taking a chunk. The default is uncertain (a successful steal takes of the order of a
        /// microsecond).
        steal: Duration = us(1), in 0..=LONGEST;
    }
}

/// The entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "pool",
    summary: "a fixed amount of work in chunks that tasks take one after another until none is left",
    source: "work stealing (Blumofe and Leiserson, J. ACM 46, 1999): Cilk, TBB, dynamic loops of OpenMP. \
        The model has \
        one pool, so it does not matter from which task a task steals",
    example: "pool: { workload: { pool: { work: 1s, chunks: 256 } }, runtime: block }\nhog: { workload: \
        hog, cpus: [0] }",
    parameters: Parameters::TABLE,
    own: build,
};

fn build(values: &Values, _context: &Context<'_>) -> Result<Built, String> {
    let values = Parameters::from(values);
    let (chunks, rounds) = (values.chunks, values.rounds);
    let total = u128::from(values.work.ns()) << WORK_FRACTION_BITS;
    let raw = (total / u128::from(chunks) / u128::from(rounds)).max(1);
    let Some(raw) = u64::try_from(raw).ok().filter(|raw| *raw <= Work::MAX.raw() / Spread::LONGEST) else {
        return Err("a chunk of the pool is more than 9 minutes of work; use more chunks".into());
    };
    let chunk = Op::Compute {
        work: Work::from_raw(raw),
        spread: values.variation.by(values.spread),
        profile: ProfileId(0),
    };
    let mut ops = vec![Op::Repeat(rounds), Op::RepeatShared(chunks)];
    if values.steal.ns() > 0 {
        let work = Work::from_span(Span::from_ns(values.steal.ns()));
        ops.push(Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) });
    }
    ops.extend([chunk, Op::End, Op::Barrier, Op::End]);
    Ok(Built::even(Program::new(ops, vec![MemoryProfile::NONE])?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_add_up_to_the_work_whatever_the_tasks() {
        let mut values = Values::defaults(Parameters::TABLE);
        values.set("rounds", 4).unwrap();
        for tasks in [1, 7, 64] {
            let program = build(&values, &Context { tasks, runtime: "block", machine: "" }).unwrap().program;
            let Op::Compute { work, .. } = program.ops()[3] else { panic!("no chunk") };
            assert_eq!(u128::from(work.raw()) * 4 * 1_024, 16_000_000_000u128 << WORK_FRACTION_BITS);
        }
    }
}
