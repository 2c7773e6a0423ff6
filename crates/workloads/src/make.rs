//! `make`: `make -j N`, a stream of short sequential jobs with waits for input and output between their parts

use notation::parameter::{Kind, Parameter, Values};
use sim_core::ids::ProfileId;
use sim_core::program::{MemoryProfile, Op, Program, Spread};
use sim_core::time::{Span, Work};

use crate::registry::{Built, Context, Entry};
use crate::spmd::inline::{MAX_RATE, MAX_SIZE};
use crate::variation::{MS, count, time};

const PARAMETERS: &[Parameter] = &[
    time(
        "compute",
        500 * MS,
        1_000,
        "Mean work of one job. The work of each part is exponential. The default is uncertain (compiling a C file took \
            0.1 to 2 s in 2010).",
    ),
    time(
        "io",
        5 * MS,
        0,
        "Mean wait for the disk after each part of a job, exponential. The default is uncertain (one disk access).",
    ),
    count(
        "parts",
        4,
        (1, 10_000),
        "Parts of a job, with a wait after each: preprocess, compile, assemble, write. Uncertain.",
    ),
    count(
        "jobs",
        0,
        (0, u32::MAX as u64),
        "Number of jobs that all slots do together. 0 runs without end, in the background.",
    ),
    Parameter {
        name: "demand",
        kind: Kind::Rate,
        default: 0,
        min: 0,
        max: MAX_RATE,
        about: "Memory traffic of a job while it computes alone at nominal speed.",
    },
    Parameter {
        name: "working_set",
        kind: Kind::Size,
        default: 0,
        min: 0,
        max: MAX_SIZE,
        about: "Bytes that a job works on. They limit the refill of its caches after a migration.",
    },
];

/// The entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "make",
    summary: "`make -j N`: short sequential jobs, each a separate process, in as many slots as it has tasks",
    about: "Each slot (a task; 16 slots unless the scenario sets `tasks`) runs one job after another. A job consists of \
        parts that compute, with a wait for the disk after each part. Every job is a new process, which the kernel \
        places like a fork. Jobs start and end all the time, so the queue lengths keep changing. The workload tests \
        whether a balancer tolerates such changes.",
    source: "the competitor `make -j 16` of Hofmeyr, Iancu, Blagojevic, Load Balancing on Speed, PPoPP 2010",
    example: "code: { workload: { spmd: { work: 1s, intervals: 20 } } }\nmake: { workload: make, tasks: 4 }",
    parameters: PARAMETERS,
    build,
};

fn build(values: &Values, _context: &Context<'_>) -> Result<Built, String> {
    let profile = MemoryProfile {
        demand: values.get("demand"),
        bound: None,
        working_set: values.get("working_set"),
        ..MemoryProfile::NONE
    };
    let (parts, jobs) = (values.get("parts"), values.get("jobs") as u32);
    let part = Span::from_ns((values.get("compute") / parts).max(1));
    let mut ops =
        vec![if jobs == 0 { Op::Repeat(0) } else { Op::RepeatShared(jobs) }, Op::Repeat(parts as u32)];
    ops.push(Op::Compute { work: Work::from_span(part), spread: Spread::EXPONENTIAL, profile: ProfileId(0) });
    if values.get("io") > 0 {
        ops.push(Op::Sleep { span: Span::from_ns(values.get("io")), spread: Spread::EXPONENTIAL });
    }
    ops.extend([Op::End, Op::Respawn, Op::End]);
    let program = Program::new(ops, vec![profile])?;
    Ok(Built { background: jobs == 0, processes: true, tasks: 16, ..Built::even(program) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(jobs: u64) -> Built {
        let mut values = Values::defaults(PARAMETERS);
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
        assert_eq!(4 * work.floor_ns(), 500 * MS);
    }
}
