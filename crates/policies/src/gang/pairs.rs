//! Paired gangs: a slot that uses its cpus little takes its turn together with one that uses them much, and
//! each cpu runs the one that is ready. Source: Wiseman, Feitelson, "Paired gang scheduling" (IEEE TPDS
//! 14(6), 2003).
//!
//! Which gangs match is measured: the cpu time of a gang over the time of its columns, in turns it had for
//! itself. The limit of what two may need together, and when they are measured again, are choices made here;
//! the paper's own rules could not be checked.

use sim_core::policy::System;
use sim_core::time::{Span, Time};

use super::matrix::{Gang, Matrix};

/// Who takes turns with whom.
#[derive(Debug)]
pub(super) struct Pairs {
    /// Demands of a pair, together at most this, in thousandths of a cpu.
    limit: u64,
    /// Cycles that pairs last before all gangs are measured apart again.
    lasts: u64,
    /// By slot: the other one of its pair.
    partners: Vec<Option<usize>>,
    /// Cycles to go.
    left: u64,
    /// When the turn that is measured began.
    began: Time,
}

impl Pairs {
    pub(super) const fn new(limit: u64, lasts: u64) -> Self {
        Self { limit, lasts, partners: Vec::new(), left: 0, began: Time::ZERO }
    }

    /// The slot that takes its turn together with this one.
    pub(super) fn partner(&self, slot: usize) -> Option<usize> {
        self.partners.get(slot).copied().flatten()
    }

    /// Slots have come, gone or changed: the pairs are made anew from what is known.
    pub(super) fn changed(&mut self, matrix: &Matrix) {
        self.matched(matrix);
    }

    /// All slots have had their turn: pairs are made after a cycle apart, and dissolved when their time is
    /// over.
    pub(super) fn cycle(&mut self, matrix: &Matrix) {
        if self.left == 0 {
            self.matched(matrix);
            self.left = self.lasts;
        } else {
            self.left -= 1;
            if self.left == 0 {
                self.partners.clear();
            }
        }
    }

    /// The least demanding slot goes with the most demanding one that it leaves enough for, then the next.
    fn matched(&mut self, matrix: &Matrix) {
        self.partners = vec![None; matrix.slots.len()];
        let known = |slot: usize| demand(matrix, slot).map(|demand| (demand, slot));
        let mut slots: Vec<(u64, usize)> = (0..matrix.slots.len()).filter_map(known).collect();
        slots.sort_unstable();
        while let Some((light, one)) = slots.first().copied() {
            slots.remove(0);
            let Some(at) = slots.iter().rposition(|(heavy, _)| light + heavy <= self.limit) else { continue };
            let (_, other) = slots.remove(at);
            self.partners[one] = Some(other);
            self.partners[other] = Some(one);
        }
    }

    /// A turn of a slot begins: what its gangs have used so far is noted.
    pub(super) fn turn_begins(&mut self, system: &mut dyn System, matrix: &mut Matrix, slot: usize) {
        self.began = system.now();
        let alone = self.partner(slot).is_none();
        for app in matrix.slots[slot].gangs.clone() {
            let Some(gang) = matrix.gang_mut(app) else { continue };
            gang.before = alone.then(|| used(system, gang));
        }
    }

    /// The turn of a slot is over: gangs that had it for themselves show what they need.
    pub(super) fn yield_ends(&self, system: &mut dyn System, matrix: &mut Matrix, slot: usize) {
        let span = system.now().since(self.began).ns();
        let Some(row) = matrix.slots.get(slot) else { return };
        for app in row.gangs.clone() {
            let Some(gang) = matrix.gang_mut(app) else { continue };
            if let Some(before) = gang.before.take()
                && span > 0
            {
                let used = u128::from(used(system, gang).ns().saturating_sub(before.ns()));
                let most = u128::from(span) * gang.columns.len() as u128;
                gang.demand = Some((used * 1_000 / most) as u64);
            }
        }
    }
}

/// Demand of a slot: that of its most demanding gang; none while one has not been measured.
fn demand(matrix: &Matrix, slot: usize) -> Option<u64> {
    let of = |app: &sim_core::ids::AppId| matrix.gang(*app).and_then(|gang| gang.demand);
    let demands: Option<Vec<u64>> = matrix.slots[slot].gangs.iter().map(of).collect();
    demands?.into_iter().max()
}

fn used(system: &mut dyn System, gang: &Gang) -> Span {
    gang.task_ids().fold(Span::ZERO, |sum, task| sum + system.cpu_time(task))
}
