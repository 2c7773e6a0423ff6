//! `hybrid`: processes of several threads, as MPI programs with OpenMP loops

use notation::declare::{Duration, Percent};
use notation::parameter::{Parameter, Values, joined};
use notation::parameters;
use sim_core::ids::ProfileId;
use sim_core::program::{Op, Program};
use sim_core::time::{WORK_FRACTION_BITS, Work};

use crate::entry::{Built, Context, Entry};
use crate::spmd::inline::{MEMORY, is_memory, memory};
use crate::variation::Varies;

parameters! {
    /// Parameters of `hybrid`.
    struct Parameters {
        /// Number of processes (MPI ranks). The program then has this many times `threads_per_process` tasks;
        /// 0: as many processes as `tasks` has room for.
        processes: u32 = 0, in 0..=1 << 20;
        /// Threads of each process. `tasks` counts threads.
        threads_per_process: u32 = 4, in 1..=1 << 20;
        /// Work of the whole problem, divided among all threads.
        work: Duration = s(16), in 1..=s(1_000_000);
        /// Number of parallel loops. Each loop has a barrier for the threads of a process.
        intervals: u32 = 400, in 1..=u32::MAX as u64;
        /// Number of loops from one exchange among the processes to the next.
        exchange_every: u32 = 10, in 1..=u32::MAX as u64;
        /// Variation of the pieces of work: uniform with the half-width `spread`, or exponential.
        variation: Varies = Varies::Uniform;
        /// Half-width of the uniform variation.
        spread: Percent = 0, in 0..=percent(100);
    }
}

/// They and those of a program's use of memory.
const TABLE: &[Parameter] = &joined::<12>(Parameters::TABLE, MEMORY);

/// The entry of the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "hybrid",
    summary: "MPI between processes, OpenMP within: barriers inside each process, and at times one between \
        the processes",
    source: "the masteronly style of Rabenseifner, Hager, Jost, Hybrid MPI/OpenMP parallel programming on \
        clusters of \
        multi-core SMP nodes, PDP 2009",
    example: "code: { workload: { hybrid: { work: 1s, intervals: 40, processes: 4, \
        threads_per_process: 4 } }, \
        runtime: { mpi: openmpi, openmp: libgomp } }",
    parameters: TABLE,
    own: build,
};

fn build(values: &Values, context: &Context<'_>) -> Result<Built, String> {
    let profile = memory(values);
    let values = Parameters::from(&values.only(|parameter| !is_memory(parameter)));
    let (intervals, every) = (values.intervals, values.exchange_every);
    let total = u128::from(values.work.ns()) << WORK_FRACTION_BITS;
    let raw = (total / u128::from(intervals) / u128::from(context.tasks.max(1))).max(1);
    let Some(raw) = u64::try_from(raw).ok().filter(|raw| *raw <= Work::MAX.raw() / 16) else {
        return Err("a thread computes for more than 9 minutes in one loop; use more intervals".into());
    };
    let compute = Op::Compute {
        work: Work::from_raw(raw),
        spread: values.variation.by(values.spread),
        profile: ProfileId(0),
    };
    let mut ops = Vec::new();
    if intervals >= every {
        ops.extend([Op::Repeat(intervals / every), Op::Repeat(every), compute, Op::TeamBarrier, Op::End]);
        // The team waits while its leader communicates.
        ops.extend([Op::LeadersBarrier, Op::TeamBarrier, Op::End]);
    }
    if intervals % every > 0 {
        ops.extend([Op::Repeat(intervals % every), compute, Op::TeamBarrier, Op::End]);
    }
    let program = Program::new(ops, vec![profile])?;
    let team = values.threads_per_process;
    let Some(tasks) = values.processes.checked_mul(team) else {
        return Err("`processes` times `threads_per_process` are too many tasks".into());
    };
    Ok(Built { team, tasks, ..Built::even(program) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::program::{MemoryProfile, Pages};

    #[test]
    fn loops_and_exchanges_are_as_many_as_asked_for() {
        let mut values = Values::defaults(TABLE);
        values.set("intervals", 25).unwrap();
        let built = build(&values, &Context { tasks: 16, runtime: "block", machine: "" }).unwrap();
        let repeats: Vec<Op> =
            built.program.ops().iter().copied().filter(|op| matches!(op, Op::Repeat(_))).collect();
        assert_eq!(repeats, [Op::Repeat(2), Op::Repeat(10), Op::Repeat(5)]);
        assert_eq!((built.team, built.tasks), (4, 0));
        values.set("processes", 3).unwrap();
        let built = build(&values, &Context { tasks: 12, runtime: "block", machine: "" }).unwrap();
        assert_eq!((built.team, built.tasks), (4, 12));
    }

    #[test]
    fn threads_use_memory_as_stated() {
        let context = Context { tasks: 16, runtime: "block", machine: "" };
        let mut values = Values::defaults(TABLE);
        let plain = build(&values, &context).unwrap();
        assert_eq!(plain.program.profiles(), [MemoryProfile::NONE]);
        for (name, value) in
            [("demand", 4_000_000_000), ("working_set", 4_096), ("pages", 4), ("shared", 2_500)]
        {
            values.set(name, value).unwrap();
        }
        let profile = MemoryProfile {
            demand: 4_000_000_000,
            bound: None,
            working_set: 4_096,
            pages: Pages::Master,
            shared: 16_384,
        };
        assert_eq!(build(&values, &context).unwrap().program.profiles(), [profile]);
    }
}
