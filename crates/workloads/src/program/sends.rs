//! Messages: from statements to operations.
//!
//! A message up to the eager limit is copied by its sender, announced, and copied by its receiver. Above it
//! the receiver is told first; then it copies and tells the sender, which has waited; or both copy at the
//! same time.

use notation::diagnostics::Place;
use sim_core::ids::ProfileId;
use sim_core::program::{Op, Spread};
use sim_core::time::{Span, Work};

use super::collectives::{Collective, Hop, Step, steps};
use super::compile::Compiler;
use super::tree::Data;

impl<C> Compiler<'_, C> {
    /// An exchange with neighbours.
    pub(super) fn exchange(&mut self, shift: u32, data: &Data, place: Place) -> Option<()> {
        let ranks = self.team.tasks.max(1);
        let step = Step { hop: Hop::Shift(shift % ranks), bytes: data.bytes, combines: false };
        self.sends(&[step], data.bytes > 0, data, place)
    }

    /// A collective of all ranks of the kind.
    pub(super) fn collective(&mut self, what: Collective, data: &Data, place: Place) -> Option<()> {
        let steps = steps(what, self.team.tasks, data.bytes, &self.messages);
        self.sends(&steps, true, data, place)
    }

    /// These steps, one after another, each a call of the library unless it is a signal alone.
    fn sends(&mut self, steps: &[Step], calls: bool, data: &Data, place: Place) -> Option<()> {
        self.all_run(place)?;
        if self.team.inside {
            let message = "messages are between the first threads of teams";
            return self.refuse(place, message, "put it outside of `parallel`");
        }
        let profile = match &data.profile {
            Some(name) => self.profile(name)?,
            None => ProfileId(0),
        };
        steps.iter().try_for_each(|step| {
            if calls {
                self.copy(self.messages.call(step.bytes));
            }
            self.step(*step, profile, place)
        })
    }

    fn step(&mut self, step: Step, profile: ProfileId, place: Place) -> Option<()> {
        let rules = self.messages;
        let copy = rules.copy(step.bytes);
        let combine = if step.combines { copy } else { Span::ZERO };
        let receive = Span::from_ns(copy.ns().saturating_add(combine.ns()));
        let back = step.hop.reverse(self.team.tasks.max(1));
        if step.bytes <= rules.eager {
            self.copies((step.hop, true), copy, profile, place)?;
            self.tells(step.hop);
            return self.copies((step.hop, false), receive, profile, place);
        }
        self.tells(step.hop);
        if let Some(single) = rules.single(step.bytes) {
            let receive = Span::from_ns(single.ns().saturating_add(combine.ns()));
            self.copies((step.hop, false), receive, profile, place)?;
            self.tells(back);
            return Some(());
        }
        self.tells(back);
        self.copies((step.hop, true), copy, profile, place)?;
        self.copies((step.hop, false), receive, profile, place)?;
        self.tells(step.hop);
        Some(())
    }

    fn tells(&mut self, hop: Hop) {
        let threads = self.team.threads.max(1);
        self.push(match hop {
            // Ranks of teams lie so far apart.
            Hop::Shift(by) => Op::Exchange { shift: by * threads },
            Hop::With(with) => Op::Message(with),
        });
    }

    /// Work of those that send in a step, or of those that receive.
    fn copies(
        &mut self,
        (hop, tells): (Hop, bool),
        span: Span,
        profile: ProfileId,
        place: Place,
    ) -> Option<()> {
        if span == Span::ZERO {
            return Some(());
        }
        let work: Work = self.work(span, Spread::NONE, place)?;
        if let Hop::With(with) = hop {
            let to = self.code.ops.len() + 2;
            self.push(Op::Apart { with, tells, to: to.min(usize::from(u16::MAX)) as u16 });
        }
        self.push(Op::Compute { work, spread: Spread::NONE, profile });
        Some(())
    }
}
