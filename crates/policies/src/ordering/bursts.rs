//! How long a task computes until it sleeps or ends, as its program states it.

use sim_core::program::{AppSpec, Op, Program};
use sim_core::time::WORK_FRACTION_BITS;

/// The most bursts of a program that are counted one by one.
const MOST: usize = 1 << 16;

/// The work of a program between the operations at which a task sleeps or waits, ns at nominal speed, in the
/// mean.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Bursts {
    lengths: Vec<u64>,
    /// Where it goes on behind the last one; none: it ends there.
    again: Option<usize>,
    /// Work of each rank in thousandths.
    scale: Vec<u32>,
}

impl Bursts {
    pub(super) fn of(app: &AppSpec) -> Self {
        let mut walk = Walk { program: &app.program, lengths: Vec::new(), work: 0, again: None };
        walk.pass(0, app.program.ops().len());
        walk.ends();
        Self { lengths: walk.lengths, again: walk.again, scale: app.rank_scale.clone() }
    }

    /// What the task of a rank has left until it sleeps, waits or ends, ns, which has woken so many times and
    /// has done so much since, ns. A task that passes an operation without sleeping is in the next burst when
    /// it has done the work of this one.
    pub(super) fn left(&self, rank: u32, woken: u64, done: u64) -> u64 {
        let scale = u128::from(self.scale.get(rank as usize).copied().unwrap_or(1_000).max(1));
        let mut rest = (u128::from(done) * 1_000 / scale) as u64;
        let len = self.lengths.len() as u64;
        let begin = self.again.map_or(len, |from| from as u64);
        let cycle =
            self.lengths[begin as usize..].iter().fold(0, |sum: u64, length| sum.saturating_add(*length));
        let mut at = woken;
        for _ in 0..=2 * self.lengths.len() {
            if at >= begin {
                // Whole passes of what repeats change nothing.
                rest = rest.checked_rem(cycle).unwrap_or(rest);
            }
            if at >= len {
                let Some(into) = (at - begin).checked_rem(len - begin) else { return 0 };
                at = begin + into;
            }
            let Some(length) = self.lengths.get(at as usize) else { return 0 };
            if rest < *length {
                return (u128::from(length - rest) * scale / 1_000) as u64;
            }
            rest -= length;
            at += 1;
        }
        0
    }
}

struct Walk<'a> {
    program: &'a Program,
    lengths: Vec<u64>,
    /// Of the present burst, in raw units of work.
    work: u128,
    /// The first burst of a loop without an end, and the end of the walk.
    again: Option<usize>,
}

impl Walk<'_> {
    /// The present burst ends.
    fn ends(&mut self) {
        let ns = u64::try_from(std::mem::take(&mut self.work) >> WORK_FRACTION_BITS).unwrap_or(u64::MAX);
        if ns > 0 && self.lengths.len() < MOST {
            self.lengths.push(ns);
        }
    }

    /// Goes through operations once; the outermost loops first.
    fn pass(&mut self, from: usize, to: usize) {
        let mut at = from;
        while at < to && self.again.is_none() && self.lengths.len() < MOST {
            match self.program.ops()[at] {
                Op::Compute { work, .. } | Op::Serial { work, .. } => self.work += u128::from(work.raw()),
                Op::Repeat(times) | Op::RepeatShared(times) => {
                    let end = self.program.partner(at as u32) as usize;
                    self.repeat((at + 1, end), times);
                    at = end;
                }
                // The middle of the two ways would be no burst that happens: the first one counts.
                Op::Jump(target) => at = usize::from(target) - 1,
                Op::Sleep { .. }
                | Op::Io { .. }
                | Op::Until { .. }
                | Op::Take { .. }
                | Op::Meet { .. }
                | Op::Barrier
                | Op::TeamBarrier
                | Op::Join
                | Op::LeadersBarrier
                | Op::Exchange { .. }
                | Op::Message(_)
                | Op::Work(_) => self.ends(),
                _ => {}
            }
            at += 1;
        }
    }

    /// Goes through the body of a loop; 0 times: without end.
    fn repeat(&mut self, body: (usize, usize), times: u32) {
        let (bursts, before) = (self.lengths.len(), self.work);
        for _ in 0..times.max(1) {
            self.pass(body.0, body.1);
            if self.again.is_some() || self.lengths.len() >= MOST {
                return;
            }
            if self.lengths.len() == bursts && times > 0 {
                // Nothing ends in it: the other passes are as long.
                self.work = before + (self.work - before) * u128::from(times);
                return;
            }
        }
        if times == 0 {
            // The first burst of the first pass can have begun before the loop.
            let from = self.lengths.len();
            self.pass(body.0, body.1);
            if self.lengths.len() == from {
                // It never sleeps.
                self.work = u128::MAX;
                self.ends();
            }
            self.again = Some(from.min(self.lengths.len().saturating_sub(1)));
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
        let one = bursts(vec![Op::Repeat(3), run(4), Op::Yield, Op::End, run(1)]);
        assert_eq!([0, 5_000_000, 13_000_000].map(|done| one.left(0, 0, done)), [13_000_000, 8_000_000, 0]);
        let endless = bursts(vec![Op::Repeat(0), run(4), Op::End]);
        assert!(endless.left(0, 0, 9_000_000) > u64::MAX / 2);
        // Passes that neither work nor sleep for the first time are not counted one by one.
        let idle = bursts(vec![run(1), Op::Repeat(1 << 30), NAP, Op::End]);
        assert_eq!((idle.left(0, 0, 0), idle.left(0, 5, 0)), (1_000_000, 0));
    }

    #[test]
    fn bursts_end_where_the_task_sleeps() {
        let of = bursts(vec![run(2), NAP, Op::Repeat(2), run(5), NAP, Op::End]);
        let left = |woken: u64, ms: u64| of.left(0, woken, ms * 1_000_000) / 1_000_000;
        assert_eq!([left(0, 0), left(0, 1), left(1, 0), left(2, 4), left(3, 0)], [2, 1, 5, 1, 0]);
        // It passed the first sleep at once.
        assert_eq!(left(0, 3), 4);
        let mut scaled = of.clone();
        scaled.scale = vec![1_000, 500];
        assert_eq!((scaled.left(1, 0, 0), scaled.left(1, 0, 500_000)), (1_000_000, 500_000));
        // The part that repeats without end begins behind what comes once.
        let endless = bursts(vec![run(100), Op::Repeat(0), run(1), NAP, run(3), NAP, Op::End]);
        let left = |woken: u64| endless.left(0, woken, 0) / 1_000_000;
        assert_eq!([0, 1, 2, 3, 4].map(left), [101, 3, 1, 3, 1]);
        let endless = bursts(vec![run(100), NAP, Op::Repeat(0), run(1), NAP, Op::End]);
        let left = |woken: u64| endless.left(0, woken, 0) / 1_000_000;
        assert_eq!([0, 1, 2, 3].map(left), [100, 1, 1, 1]);
        // It passed a million sleeps at once.
        assert_eq!(endless.left(0, 0, 1_000_100_300_000), 700_000);
    }
}
