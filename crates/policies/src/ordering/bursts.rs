//! How long a task computes until it sleeps or ends, as its program states it.

use sim_core::program::{AppSpec, Op, Program};
use sim_core::time::WORK_FRACTION_BITS;

/// The most bursts of a program that are counted one by one.
const MOST: usize = 1 << 16;

/// The work of a program up to each operation at which a task sleeps, and to its end, ns at nominal speed, in
/// the mean.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Bursts {
    ends: Vec<u64>,
    /// The program begins again after this much work; 0: it ends.
    again: u64,
    /// Work of each rank in thousandths.
    scale: Vec<u32>,
}

impl Bursts {
    pub(super) fn of(app: &AppSpec) -> Self {
        let mut walk = Walk { program: &app.program, ends: Vec::new(), work: 0, again: None };
        walk.pass(0, app.program.ops().len());
        let Walk { mut ends, work, again, .. } = walk;
        let to_ns = |raw: u128| u64::try_from(raw >> WORK_FRACTION_BITS).unwrap_or(u64::MAX);
        let begins = again.unwrap_or(work);
        ends.push(work);
        Self {
            ends: ends.into_iter().map(to_ns).collect(),
            // A program that repeats a part for ever is taken to repeat as a whole.
            again: if again.is_some() { to_ns(begins) } else { 0 },
            scale: app.rank_scale.clone(),
        }
    }

    /// What the task of a rank has left until it sleeps or ends, which has done so much, ns.
    pub(super) fn left(&self, rank: u32, done: u64) -> u64 {
        let scale = u128::from(self.scale.get(rank as usize).copied().unwrap_or(1_000).max(1));
        let done = (u128::from(done) * 1_000 / scale) as u64;
        let within = done.checked_rem(self.again).unwrap_or(done);
        let at = self.ends.partition_point(|end| *end <= within);
        // A task whose work varies may have done more than the mean.
        let left = self.ends.get(at).map_or(0, |end| end - within);
        (u128::from(left) * scale / 1_000) as u64
    }
}

struct Walk<'a> {
    program: &'a Program,
    /// In raw units of work.
    ends: Vec<u128>,
    work: u128,
    /// The work at the end of the first loop without an end.
    again: Option<u128>,
}

impl Walk<'_> {
    /// Goes through operations once; the outermost loops first.
    fn pass(&mut self, from: usize, to: usize) {
        let mut at = from;
        while at < to && self.again.is_none() && self.ends.len() < MOST {
            match self.program.ops()[at] {
                Op::Compute { work, .. } | Op::Serial { work, .. } => self.work += u128::from(work.raw()),
                Op::Sleep { .. } | Op::Io { .. } | Op::Until { .. } | Op::Take { .. } | Op::Meet { .. } => {
                    if self.ends.last() != Some(&self.work) {
                        self.ends.push(self.work);
                    }
                }
                Op::Repeat(times) | Op::RepeatShared(times) => {
                    let end = self.program.partner(at as u32) as usize;
                    self.repeat((at + 1, end), times);
                    at = end;
                }
                // The middle of the two ways would be no burst that happens: the first one counts.
                Op::Jump(target) => at = usize::from(target) - 1,
                _ => {}
            }
            at += 1;
        }
    }

    /// Goes through the body of a loop; 0 times: without end.
    fn repeat(&mut self, body: (usize, usize), times: u32) {
        let (work, bursts) = (self.work, self.ends.len());
        let mut passes = 0;
        while passes < times.max(1) && self.again.is_none() && self.ends.len() < MOST {
            self.pass(body.0, body.1);
            passes += 1;
            if self.ends.len() == bursts && times > 0 {
                // Nothing sleeps in it: the other passes are as long.
                self.work = work + (self.work - work) * u128::from(times);
                return;
            }
        }
        if times == 0 {
            self.again.get_or_insert(self.work);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sim_core::ids::ProfileId;
    use sim_core::program::{MemoryProfile, Runtime, Spread, StartUp};
    use sim_core::time::{Span, Work};
    use sim_core::wait::{BarrierKind, Polling, WaitMode};

    use super::*;

    fn bursts(ops: Vec<Op>) -> Bursts {
        let runtime = Runtime {
            name: "none".into(),
            barrier: BarrierKind::Central,
            wait: WaitMode::Block,
            polling: Polling::PLAIN,
            processes: false,
            startup: StartUp::PLAIN,
        };
        let program = Program::new(ops, vec![MemoryProfile::NONE]).unwrap();
        Bursts::of(&AppSpec::new("a", 2, Arc::new(program), runtime))
    }

    fn run(ms: u64) -> Op {
        let work = Work::from_span(Span::from_ms(ms));
        Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) }
    }

    const NAP: Op = Op::Sleep { span: Span::from_ms(1), spread: Spread::NONE };

    #[test]
    fn a_program_without_sleep_is_one_burst() {
        let one = bursts(vec![Op::Repeat(3), run(4), Op::Barrier, Op::End, run(1)]);
        assert_eq!([0, 5_000_000, 13_000_000].map(|done| one.left(0, done)), [13_000_000, 8_000_000, 0]);
        let endless = bursts(vec![Op::Repeat(0), run(4), Op::End]);
        assert_eq!(endless.left(0, 1_000_000), 3_000_000);
    }

    #[test]
    fn bursts_end_where_the_task_sleeps() {
        let of = bursts(vec![run(2), NAP, Op::Repeat(2), run(5), NAP, Op::End]);
        let left = |ms: u64| of.left(0, ms * 1_000_000) / 1_000_000;
        assert_eq!([0, 1, 2, 4, 7, 12].map(left), [2, 1, 5, 3, 5, 0]);
        let mut scaled = of.clone();
        scaled.scale = vec![1_000, 500];
        assert_eq!((scaled.left(1, 0), scaled.left(1, 500_000)), (1_000_000, 500_000));
        // What repeats without end repeats as a whole.
        let endless = bursts(vec![Op::Repeat(0), run(2), NAP, run(3), NAP, Op::End]);
        let left = |ms: u64| endless.left(0, ms * 1_000_000) / 1_000_000;
        assert_eq!([0, 2, 4, 5, 8].map(left), [2, 3, 1, 2, 2]);
    }
}
