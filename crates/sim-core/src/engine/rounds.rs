//! The rounds of an instant: which cpus have something to decide, in what order they do, and which one
//! decides now.
//!
//! A cpu that is marked before a round decides in it, in the order of ids. While a cpu decides it may mark
//! others: those of higher ids still decide in this round, the others (itself included) in the next one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::ids::CpuId;
use crate::machine::PerCpu;

/// The marks of all cpus, and how far the present round is.
pub(crate) struct Rounds {
    marked: PerCpu<bool>,
    /// Cpus of the next round, in order of marking.
    next: Vec<CpuId>,
    /// Cpus of the present round in the order of ids, and the first of them that has not decided.
    present: (Vec<CpuId>, usize),
    /// Cpus that a lower one marked while it decided.
    late: BinaryHeap<Reverse<CpuId>>,
    deciding: Option<CpuId>,
    /// Cpus below this id have decided at this instant.
    passed: u32,
}

impl Rounds {
    /// No cpu is marked.
    pub(crate) fn new(cpus: usize) -> Self {
        Self {
            marked: PerCpu::filled(cpus, false),
            next: Vec::with_capacity(cpus),
            present: (Vec::with_capacity(cpus), 0),
            late: BinaryHeap::new(),
            deciding: None,
            passed: 0,
        }
    }

    /// A cpu has something to decide at this instant.
    #[inline]
    pub(crate) fn mark(&mut self, cpu: CpuId) {
        if !std::mem::replace(&mut self.marked[cpu], true) {
            if self.deciding.is_some_and(|deciding| cpu > deciding) {
                self.late.push(Reverse(cpu));
            } else {
                self.next.push(cpu);
            }
        }
    }

    /// It is still to decide at this instant.
    #[inline]
    pub(crate) fn is_marked(&self, cpu: CpuId) -> bool {
        self.marked[cpu]
    }

    /// It has decided at this instant, or every cpu has: what ends now on it is over.
    #[inline]
    pub(crate) const fn is_over(&self, cpu: CpuId) -> bool {
        cpu.0 < self.passed
    }

    /// No cpu is marked for the next round.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.next.is_empty()
    }

    /// A round begins with all marked cpus.
    #[inline]
    pub(crate) fn begin(&mut self) {
        debug_assert!(self.present.0.is_empty(), "{} cpus of the last round are left", self.present.0.len());
        self.present.0.append(&mut self.next);
        self.present.0.sort_unstable();
    }

    /// A round begins with the only marked cpu, if there is exactly one, and that one is to decide. Others
    /// may follow.
    #[inline]
    pub(crate) fn begin_single(&mut self) -> Option<CpuId> {
        let [cpu] = self.next[..] else { return None };
        self.next.clear();
        Some(cpu)
    }

    /// The next cpu that is to decide in this round.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<CpuId> {
        let (present, at) = &mut self.present;
        let listed = present.get(*at).copied();
        match (listed, self.late.peek().copied()) {
            (Some(cpu), Some(Reverse(late))) if late < cpu => self.late.pop().map(|Reverse(late)| late),
            (None, Some(_)) => self.late.pop().map(|Reverse(late)| late),
            (Some(_), _) => {
                *at += 1;
                listed
            }
            (None, None) => None,
        }
    }

    /// A cpu decides from now on.
    #[inline]
    pub(crate) fn decides(&mut self, cpu: CpuId) {
        debug_assert!(
            self.deciding.is_none_or(|before| before < cpu),
            "{cpu} decides after {:?}",
            self.deciding
        );
        self.marked[cpu] = false;
        self.deciding = Some(cpu);
        self.passed = self.passed.max(cpu.0);
    }

    /// All cpus of the round have decided.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.present.0.clear();
        self.present.1 = 0;
        self.deciding = None;
        self.passed = u32::MAX;
    }

    /// The time has advanced: no cpu has decided yet.
    #[inline]
    pub(crate) fn advance(&mut self) {
        debug_assert!(self.deciding.is_none(), "{:?} decides between two instants", self.deciding);
        self.passed = 0;
    }

    /// Cpus that have not decided: of the next round, of the present one, and late ones.
    pub(crate) fn left(&self) -> (usize, usize, usize) {
        (self.next.len(), self.present.0.len(), self.late.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(rounds: &mut Rounds, mut marks: impl FnMut(u32) -> Vec<u32>) -> Vec<u32> {
        let mut order = Vec::new();
        while let Some(cpu) = rounds.next() {
            rounds.decides(cpu);
            order.push(cpu.0);
            for other in marks(cpu.0) {
                rounds.mark(CpuId(other));
            }
        }
        rounds.end();
        order
    }

    #[test]
    fn cpus_decide_in_order_and_marks_of_higher_ones_count_at_once() {
        let mut rounds = Rounds::new(8);
        for cpu in [5, 2, 5] {
            rounds.mark(CpuId(cpu));
        }
        rounds.begin();
        // Cpu 2 marks itself, a lower one, one between the two, and the last.
        let order = decide(&mut rounds, |cpu| if cpu == 2 { vec![2, 0, 3, 7, 5] } else { Vec::new() });
        assert_eq!(order, [2, 3, 5, 7]);
        assert_eq!((rounds.begin_single(), rounds.left()), (None, (2, 0, 0)));
        rounds.begin();
        assert_eq!(decide(&mut rounds, |_| Vec::new()), [0, 2]);
        assert!(rounds.is_empty() && rounds.left() == (0, 0, 0));
    }

    #[test]
    fn a_single_cpu_decides_and_those_it_marks_follow() {
        let mut rounds = Rounds::new(4);
        rounds.mark(CpuId(1));
        let Some(cpu) = rounds.begin_single() else { panic!("one is marked") };
        rounds.decides(cpu);
        rounds.mark(CpuId(3));
        rounds.mark(CpuId(1));
        assert_eq!(decide(&mut rounds, |_| Vec::new()), [3]);
        assert_eq!(rounds.begin_single(), Some(CpuId(1)));
    }

    #[test]
    fn a_cpu_is_over_once_a_higher_one_decides_or_the_round_has_ended() {
        let mut rounds = Rounds::new(4);
        let over = |rounds: &Rounds| (0..4).map(CpuId).filter(|cpu| rounds.is_over(*cpu)).count();
        rounds.decides(CpuId(2));
        assert_eq!(over(&rounds), 2);
        rounds.end();
        assert_eq!(over(&rounds), 4);
        rounds.advance();
        assert_eq!(over(&rounds), 0);
    }
}
