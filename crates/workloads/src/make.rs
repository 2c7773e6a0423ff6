//! `make`: `make -j N`, a stream of short sequential jobs with waits for input and output between their parts

use notation::declare::{Duration, Rate, Size};
use notation::parameter::Values;
use notation::parameters;
use sim_core::ids::ProfileId;
use sim_core::program::{MemoryProfile, Op, Program, Spread};
use sim_core::time::{Span, Work};

use crate::entry::{Built, Context, Entry};
use crate::spmd::inline::{MAX_RATE, MAX_SIZE};
use crate::variation::LONGEST;

parameters! {
    /// Parameters of `make`.
    struct Parameters {
        /// Mean work of one job. The work of each part is exponential. The default is uncertain (compiling a
        /// C file took 0.1 to 2 s in 2010).
        compute: Duration = ms(500), in us(1)..=LONGEST;
        /// Mean wait for the disk after each part of a job, exponential. The default is uncertain (one disk
        /// access).
        io: Duration = ms(5), in 0..=LONGEST;
        /// Parts of a job, with a wait after each: preprocess, compile, assemble, write. Uncertain.
        parts: u32 = 4, in 1..=10_000;
        /// Number of jobs that all slots do together. 0 runs without end, in the background.
        jobs: u32 = 0, in 0..=u32::MAX as u64;
        /// Memory traffic of a job while it computes alone at nominal speed.
        demand: Rate = 0, in 0..=MAX_RATE;
        /// Bytes that a job works on. They limit the refill of its caches after a migration.
        working_set: Size = 0, in 0..=MAX_SIZE;
    }
}

/// The entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "make",
    summary: "`make -j N`: short sequential jobs, each a separate process, in as many slots as it has tasks",
    source: "the competitor `make -j 16` of Hofmeyr, Iancu, Blagojevic, Load Balancing on Speed, PPoPP 2010",
    example: "code: { workload: { spmd: { work: 1s, intervals: 20 } } }\nmake: { workload: make, tasks: 4 }",
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
    let jobs = values.jobs;
    let part = Span::from_ns((values.compute.ns() / u64::from(values.parts)).max(1));
    let mut ops =
        vec![if jobs == 0 { Op::Repeat(0) } else { Op::RepeatShared(jobs) }, Op::Repeat(values.parts)];
    ops.push(Op::Compute { work: Work::from_span(part), spread: Spread::EXPONENTIAL, profile: ProfileId(0) });
    if values.io.ns() > 0 {
        ops.push(Op::Sleep { span: Span::from_ns(values.io.ns()), spread: Spread::EXPONENTIAL });
    }
    ops.extend([Op::End, Op::Respawn, Op::End]);
    let program = Program::new(ops, vec![profile])?;
    Ok(Built { background: jobs == 0, processes: true, tasks: 16, ..Built::even(program) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(jobs: u64) -> Built {
        let mut values = Values::defaults(Parameters::TABLE);
        values.set("jobs", jobs).unwrap();
        build(&values, &Context { tasks: 16, runtime: "block", machine: "" }).unwrap()
    }

    #[test]
    fn every_job_is_a_process_of_its_own() {
        let jobs = built(100);
        assert_eq!(jobs.program.ops()[0], Op::RepeatShared(100));
        assert!(jobs.program.ops().contains(&Op::Respawn) && jobs.processes && !jobs.background);
        assert_eq!((built(0).program.ops()[0], built(0).background), (Op::Repeat(0), true));
    }

    #[test]
    fn the_parts_of_a_job_add_up() {
        let Op::Compute { work, .. } = built(1).program.ops()[2] else { panic!("no part") };
        assert_eq!(4 * work.floor_ns(), 500_000_000);
    }
}
