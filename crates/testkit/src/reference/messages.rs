//! Steps of collectives: who tells whom, found by trying all ranks.

use sim_core::program::Partners;

use super::Reference;
use super::state::{NEVER, Overhead, Waiting};

impl Reference<'_> {
    /// Tells a rank and waits for another one, where there is one: true when the task goes on.
    pub(super) fn message(&mut self, c: usize, t: usize, with: Partners, overhead: &mut Overhead) -> bool {
        let (app, rank, pc) = (self.tasks[t].app, self.tasks[t].rank, self.tasks[t].pc);
        if let Some(to) = self.partner(t, with, true) {
            let other = self.task(app, to);
            let seen = self.seen_at(c, other, overhead);
            self.apps[app].signals.signals.entry((pc, to)).or_default().0.push(seen);
            let there = &self.tasks[other];
            if there.waiting == Waiting::Exchange && there.pc == pc && there.ready == NEVER {
                self.signal(c, other, seen, overhead);
            }
        }
        if !self.has_partner(t, with, false) {
            self.tasks[t].pc += 1;
            return true;
        }
        let ready = self.apps[app].signals.signal_ready(pc, rank, self.now);
        self.wait(c, Waiting::Exchange, ready, *overhead);
        false
    }

    /// Whether a step has someone for a task to tell, or to wait for.
    pub(super) fn has_partner(&self, t: usize, with: Partners, told: bool) -> bool {
        self.partner(t, with, told).is_some()
    }

    /// The rank that a task tells, or that it waits for. Only the first tasks of teams have one.
    fn partner(&self, t: usize, with: Partners, told: bool) -> Option<u32> {
        let (app, rank) = (self.tasks[t].app, self.tasks[t].rank);
        let team = self.team(app);
        let (mine, teams) = (rank / team, self.apps[app].spec.tasks.div_ceil(team));
        let is_it = |other: &u32| {
            if told { tells(with, mine, *other, teams) } else { tells(with, *other, mine, teams) }
        };
        (0..teams).find(|other| rank % team == 0 && is_it(other)).map(|other| other * team)
    }
}

/// Whether a rank tells another one.
fn tells(with: Partners, from: u32, to: u32, ranks: u32) -> bool {
    // The even ranks below this one have a rank behind them that stands for both.
    let mut main = 1;
    while main * 2 <= ranks {
        main *= 2;
    }
    let doubled = 2 * (ranks - main);
    let pair = |even: u32, odd: u32| even.is_multiple_of(2) && odd == even + 1 && odd < doubled;
    // A rank that has a bit and none below, and the one without it.
    let branch = |leaf: u32, root: u32, bit: u32| leaf % (2 << bit) == 1 << bit && root == leaf - (1 << bit);
    let numbers: Vec<u32> = (0..ranks).filter(|rank| *rank >= doubled || !rank.is_multiple_of(2)).collect();
    let number = |rank: u32| numbers.iter().position(|known| *known == rank);
    match with {
        Partners::Up(bit) => branch(from, to, bit),
        Partners::Down(bit) => branch(to, from, bit),
        Partners::Fold => pair(from, to),
        Partners::Unfold => pair(to, from),
        Partners::Folded(bits) => {
            number(from).zip(number(to)).is_some_and(|(from, to)| from ^ to == bits as usize)
        }
    }
}
