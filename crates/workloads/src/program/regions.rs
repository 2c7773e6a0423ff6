//! Teams of threads with parallel regions, and runtimes under which single statements wait.
//!
//! All threads of a team have the same operations. What stands outside of parallel regions is for the first
//! thread of the team; the others pass over it ([`Op::Lead`]) to where the next region begins. A loop around
//! a region is done by all of them.

use notation::diagnostics::Place;
use notation::parameter::Values;
use notation::suggest::advice;
use sim_core::limits::MAX_OWN_RUNTIMES;
use sim_core::program::Op;

use super::compile::Compiler;
use super::draft::{RuntimeForm, of};
use super::statements::BY;
use super::tree::{Action, Block, Name, Statement};
use crate::runtimes::RUNTIMES;

impl<'a, C> Compiler<'a, C> {
    /// Begins what is for the first thread alone, or ends it, where a statement is of the other sort.
    pub(super) fn part(&mut self, statement: &'a Statement) {
        if self.team.threads <= 1 || self.team.inside {
            return;
        }
        let wide = match &statement.action {
            Action::Parallel(_) => true,
            Action::Repeat(_, block) | Action::Forever(block) => self.is_wide(block),
            Action::Call(name) => {
                of(&self.draft().sections, &name.text).is_some_and(|block| self.is_wide(block))
            }
            _ => false,
        };
        if wide {
            self.end_of_first();
        } else if self.team.passes_over.is_none() {
            self.team.passes_over = Some(self.code.ops.len());
            self.push(Op::Lead(0));
        }
    }

    /// Ends what is for the first thread alone: the others go on here.
    pub(super) fn end_of_first(&mut self) {
        let Some(at) = self.team.passes_over.take() else { return };
        let end = self.code.ops.len();
        if end == at + 1 {
            self.code.ops.pop();
        } else if let Some(op) = self.code.ops.get_mut(at) {
            *op = Op::Lead(end as u16);
        }
    }

    /// Whether a block has a parallel region, so that all threads do it.
    pub(super) fn is_wide(&self, block: &'a Block) -> bool {
        let mut wide = false;
        self.draft().each(block, &mut |action, _| wide |= matches!(action, Action::Parallel(_)));
        wide && self.team.threads > 1
    }

    /// A parallel region.
    pub(super) fn parallel(&mut self, block: &'a Block, place: Place) -> Option<()> {
        if self.team.inside {
            let hint = "the outer team is that of `count`, the inner ones are those of `threads`";
            return self.refuse(place, "a parallel region in a parallel region", hint);
        }
        if self.team.threads <= 1 {
            let message = "a parallel region needs a team of threads";
            return self.refuse(place, message, "add `threads: 4` to the kind");
        }
        if self.choices > 0 {
            let message = "all threads of a team come to a parallel region, and a choice parts them";
            return self.refuse(place, message, "put `choose` into the region");
        }
        self.push(Op::TeamBarrier);
        self.team.inside = true;
        let inside = self.block(block);
        self.team.inside = false;
        self.push(Op::Join);
        inside
    }

    /// Lets the operations of a statement, those from `before` on, wait under the runtime that it names.
    pub(super) fn waits_by(&mut self, statement: &Statement, before: usize) -> Option<()> {
        let Some(name) = &statement.by else { return Some(()) };
        let simple =
            statement.action.blocks().next().is_none() && !matches!(statement.action, Action::Call(_));
        let waits: Vec<usize> =
            (before..self.code.ops.len()).filter(|at| simple && self.code.ops[*at].waits()).collect();
        // A collective of one rank has nothing to wait for.
        if waits.is_empty() && !matches!(statement.action, Action::Collective(..)) {
            let message = "this does not wait for other tasks under a runtime";
            let hint = "locks wait as their kind does; `by` stands behind `barrier`, `receive`, `acquire` \
                and the like";
            return self.refuse(name.place, message, hint);
        }
        let number = self.own_runtime(name)?;
        self.code.by.resize(self.code.ops.len(), 0);
        waits.into_iter().for_each(|at| self.code.by[at] = number);
        Some(())
    }

    /// The number of a runtime of single statements, from 1.
    fn own_runtime(&mut self, name: &Name) -> Option<u8> {
        if let Some(known) = self.code.runtimes.iter().position(|(known, _)| *known == name.text) {
            return Some(known as u8 + 1);
        }
        let draft = self.draft();
        let form = match (of(&draft.runtimes, &name.text), RUNTIMES.find(&name.text)) {
            (Some(declared), _) => declared.clone(),
            (None, Some(entry)) => {
                RuntimeForm { name: entry.name, values: Values::defaults(entry.parameters) }
            }
            (None, None) => {
                let own = draft.runtimes.iter().map(|(name, _)| name.text.as_str());
                let known: Vec<&str> = own.chain(RUNTIMES.entries.iter().map(|entry| entry.name)).collect();
                let hint = advice(&name.text, &known);
                return self.refuse(name.place, format!("unknown runtime `{}`", name.text), hint);
            }
        };
        if self.code.runtimes.len() >= MAX_OWN_RUNTIMES {
            let message = format!("a kind waits under at most {MAX_OWN_RUNTIMES} runtimes");
            return self.refuse(name.place, message, format!("leave out `{} {}`", BY.word, name.text));
        }
        self.code.runtimes.push((name.text.clone(), form));
        Some(self.code.runtimes.len() as u8)
    }
}
