//! From the operations of a program to the steps of the one in C.

use scenario::written::{Call, CallOf, Written};
use sim_core::program::{AppSpec, Op, Spread};

use super::Refused;
use crate::job::Library;
use crate::operations::unknown;
use crate::plan::{Piece, Step};

/// Codes of steps; program.c has the same.
mod code {
    pub(super) const COMPUTE: u64 = 1;
    pub(super) const SERIAL: u64 = 2;
    pub(super) const BARRIER: u64 = 3;
    pub(super) const SLEEP: u64 = 4;
    pub(super) const YIELD: u64 = 5;
    pub(super) const REPEAT: u64 = 6;
    pub(super) const END: u64 = 7;
    pub(super) const REGION: u64 = 8;
    pub(super) const REGION_END: u64 = 9;
    pub(super) const EXCHANGE: u64 = 10;
    pub(super) const COLLECTIVE: u64 = 11;
}

/// Most bytes of a message, times the ranks: two buffers of a rank.
const MOST_BYTES: u64 = 256 << 20;
/// Deepest loops; program.c has the same.
const DEPTH: usize = 64;

/// A program in steps.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Steps {
    /// A code and two numbers each.
    pub steps: Vec<[u64; 3]>,
    /// Largest message, in bytes.
    pub bytes: u64,
    /// The same as steps of our own threads, without messages, for the naive prediction.
    pub work: Vec<Step>,
}

/// The steps of an application.
///
/// # Errors
/// What the library has no counterpart for, and what would be right.
pub fn of(library: Library, app: &AppSpec, written: &Written) -> Result<Steps, Refused> {
    let mut made =
        Maker { library, app, calls: &written.calls, inside: false, depth: 0, steps: Steps::default() };
    made.range(0, app.program.ops().len())?;
    Ok(made.steps)
}

fn refused<T>(what: impl Into<String>, right: &str) -> Result<T, Refused> {
    Err((what.into(), right.to_owned()))
}

struct Maker<'a> {
    library: Library,
    app: &'a AppSpec,
    calls: &'a [Call],
    /// In a parallel region.
    inside: bool,
    depth: usize,
    steps: Steps,
}

impl Maker<'_> {
    fn push(&mut self, code: u64, a: u64, b: u64) {
        self.steps.steps.push([code, a, b]);
    }

    fn range(&mut self, from: usize, to: usize) -> Result<(), Refused> {
        let mut at = from;
        while at < to {
            // The two rendezvous of a region are its own operations, and so are the inner calls.
            match self.calls.iter().find(|call| call.from == at && call.to <= to) {
                Some(call) => {
                    self.call(call)?;
                    at = call.to;
                }
                None => {
                    self.one(at)?;
                    at += 1;
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, call: &Call) -> Result<(), Refused> {
        match (call.of, self.library) {
            (CallOf::Region, Library::OpenMpi) => {
                refused("parallel regions are not executed by Open MPI", "write `runtime: libgomp`")
            }
            (CallOf::Region, _) => self.region(call),
            (CallOf::Exchange { shift, bytes }, Library::OpenMpi) => {
                self.message(code::EXCHANGE, u64::from(shift % self.app.tasks.max(1)), bytes)
            }
            (CallOf::Collective { what, bytes }, Library::OpenMpi) => {
                // The order of the words is that of the cases in program.c.
                self.message(code::COLLECTIVE, what as u64, bytes)
            }
            _ => refused("messages between ranks are not executed by threads", "write `runtime: openmpi`"),
        }
    }

    fn message(&mut self, code: u64, a: u64, bytes: u64) -> Result<(), Refused> {
        if bytes.saturating_mul(u64::from(self.app.tasks)) > MOST_BYTES {
            return refused("a message is too large for the memory of a measurement", "write a smaller size");
        }
        self.steps.bytes = self.steps.bytes.max(bytes);
        self.push(code, a, bytes);
        Ok(())
    }

    fn region(&mut self, call: &Call) -> Result<(), Refused> {
        let begin = self.steps.steps.len();
        self.push(code::REGION, 0, 0);
        self.inside = true;
        let body = self.range(call.from + 1, call.to - 1);
        self.inside = false;
        self.push(code::REGION_END, 0, 0);
        self.steps.steps[begin][1] = self.steps.steps.len() as u64;
        body
    }

    /// Counted work: that of the first thread alone where a team has others.
    fn work(&mut self, op: &Op) -> Result<(), Refused> {
        let (Op::Compute { work, spread, profile } | Op::Serial { work, spread, profile }) = op else {
            return Ok(());
        };
        let profiles = self.app.program.profiles();
        if profiles.get(profile.0 as usize).is_some_and(|profile| profile.demand > 0) {
            return refused(
                "memory-bound work is not executed by a real runtime",
                "leave out `with`, or `demand` of the workload",
            );
        }
        if spread.0 > Spread::MAX {
            return refused(
                "work that varies by another distribution is not executed by a real runtime",
                "write `uniform`",
            );
        }
        let serial = matches!(op, Op::Serial { .. });
        self.push(if serial { code::SERIAL } else { code::COMPUTE }, work.raw(), u64::from(spread.0));
        let piece = Piece { work: work.raw(), spread: spread.0, bound: 0.0 };
        let alone = serial || (self.app.team > 1 && !self.inside);
        self.steps.work.push(if alone { Step::Serial(piece) } else { Step::Compute(piece) });
        Ok(())
    }

    fn one(&mut self, at: usize) -> Result<(), Refused> {
        let op = &self.app.program.ops()[at];
        match *op {
            Op::Compute { .. } | Op::Serial { .. } => self.work(op)?,
            Op::Barrier => self.push(code::BARRIER, 0, 0),
            Op::TeamBarrier if self.inside => self.push(code::BARRIER, 0, 0),
            // The first threads of one team meet nobody; what stands outside of regions is theirs anyway.
            Op::LeadersBarrier | Op::Lead(_) => {}
            Op::Sleep { span, spread } if spread.0 <= Spread::MAX => {
                self.push(code::SLEEP, span.ns(), u64::from(spread.0));
            }
            Op::Yield => self.push(code::YIELD, 0, 0),
            Op::Repeat(0) => {
                return refused(
                    "a program without an end is not executed by a real runtime",
                    "write `repeat`",
                );
            }
            Op::Repeat(passes) => {
                self.depth += 1;
                if self.depth > DEPTH {
                    return refused("its loops are too deep", "write at most 64 loops in one another");
                }
                self.push(code::REPEAT, u64::from(passes), 0);
                self.steps.work.push(Step::Repeat(passes));
            }
            Op::End => {
                self.depth = self.depth.saturating_sub(1);
                self.push(code::END, 0, 0);
                self.steps.work.push(Step::End);
            }
            Op::Exchange { shift } if self.library == Library::OpenMpi => {
                self.message(code::EXCHANGE, u64::from(shift % self.app.tasks.max(1)), 0)?;
            }
            ref other => {
                let what = unknown(other).unwrap_or("other operations");
                return refused(
                    format!("{what} are not executed by a real runtime"),
                    "write `run`, `barrier`, `parallel`, messages of MPI, `sleep` and `repeat`",
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real;
    use crate::testing::{experiment, runs};

    fn steps(runtime: &str, program: &str) -> Result<Steps, Refused> {
        let text = format!(
            "{{ name: t, machine: 'core:2', kernel: linux-6.18, policies: [PIN], apps: {{ a: {{ runtime: \
                {runtime}, program: {{ {program} }} }}, h: {{ workload: {{ hog: {{ work: 1ms }} }} }} }} }}"
        );
        let run = &runs(&experiment(&text))[0];
        let library = real::library(run, 0).unwrap();
        real::check(run, 0, library)?;
        of(library, &run.apps[0], &run.written[0])
    }

    fn codes(steps: &Steps) -> Vec<u64> {
        steps.steps.iter().map(|step| step[0]).collect()
    }

    #[test]
    fn regions_have_their_bodies_and_the_first_thread_does_the_rest() {
        let made = steps(
            "libgomp",
            "threads: 2, code: 'repeat 5 { run 3us; parallel { run 1us; barrier; run 2us }; parallel { run \
                4us } }'",
        )
        .unwrap();
        assert_eq!(codes(&made), [6, 1, 8, 1, 3, 1, 9, 8, 1, 9, 7]);
        assert_eq!((made.steps[0][1], made.steps[2][1], made.steps[7][1]), (5, 7, 10));
        let serial = |step: &Step| matches!(step, Step::Serial(_));
        assert_eq!(made.work.iter().filter(|step| serial(step)).count(), 1, "the first `run`");
    }

    #[test]
    fn messages_are_calls_of_the_library_however_many_operations_they_are() {
        let made = steps(
            "openmpi",
            "count: 4, code: 'repeat 2 { run 1us uniform 10%; exchange 1 8B; allreduce 64KiB; exchange 3; \
                barrier }'",
        )
        .unwrap();
        assert_eq!(codes(&made), [6, 1, 10, 11, 10, 3, 7]);
        assert_eq!((made.steps[2], made.steps[3], made.steps[4]), ([10, 1, 8], [11, 2, 65_536], [10, 3, 0]));
        assert_eq!(made.bytes, 65_536);
        assert_eq!(made.work.len(), 3, "a loop and its work");
    }

    #[test]
    fn collectives_have_the_numbers_of_the_program() {
        for (number, word) in ["bcast", "reduce", "allreduce", "scatter", "gather", "allgather", "alltoall"]
            .into_iter()
            .enumerate()
        {
            let made = steps("openmpi", &format!("count: 2, code: 'run 1us; {word} 8B'")).unwrap();
            assert_eq!(made.steps[1], [11, number as u64, 8], "{word}");
        }
    }

    #[test]
    fn what_has_no_counterpart_is_refused_by_name() {
        for (runtime, program, what) in [
            ("libgomp", "count: 2, code: 'run 1us; exchange 1'", "messages between ranks"),
            ("openmpi", "threads: 2, code: 'parallel { run 1us }'", "regions"),
            ("libgomp", "count: 2, threads: 2, code: 'parallel { run 1us }'", "nested teams"),
            ("libgomp", "count: 2, code: 'run 1us exponential'", "another distribution"),
            ("libgomp", "count: 2, code: 'lock a; run 1us; unlock a'", "critical sections"),
            ("libgomp", "count: 2, code: 'forever { run 1us }'", "background"),
            ("libgomp", "count: 2, code: 'run 1us; barrier by block'", "`by`"),
        ] {
            let (said, right) = steps(runtime, program).unwrap_err();
            assert!(said.contains(what) && !right.is_empty(), "{program}: {said}");
        }
    }
}
