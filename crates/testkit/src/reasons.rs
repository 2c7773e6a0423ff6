//! Whether every decision comes with a reason.

use std::collections::BTreeMap;

use sim_core::observe::Observer;
use sim_core::policy::{Action, Decision, Placement};
use sim_core::time::Time;

/// Collects the decisions that say nothing, and the rules of those that do.
#[derive(Clone, Default)]
pub struct Reasons {
    /// Decisions without a rule, or whose facts have the same name twice: how many of each kind.
    pub silent: BTreeMap<&'static str, u64>,
    /// The rules met, and how often.
    pub rules: BTreeMap<&'static str, u64>,
}

/// A kind of decision, in words.
const fn kind(action: &Action) -> &'static str {
    match action {
        Action::Placed { placement: Placement::Fork { .. }, .. } => "place a created task",
        Action::Placed { placement: Placement::Wake { .. }, .. } => "place a woken task",
        Action::Migrated { .. } => "migrate",
        Action::Bound(_) => "bind",
        Action::PrioritySet(_) => "band",
        Action::Dispatched(_) => "dispatch",
        Action::Yielded { .. } => "yield",
        Action::SliceSet(_) => "slice",
        Action::Remarked => "remark",
    }
}

impl Observer for Reasons {
    fn decided(&mut self, _: Time, decision: &Decision) {
        let why = &decision.why;
        let named: Vec<&str> =
            why.facts.iter().map(|(name, _)| *name).filter(|name| !name.is_empty()).collect();
        let twice = named.iter().enumerate().any(|(i, name)| named[..i].contains(name));
        if why.rule.is_empty() || twice {
            *self.silent.entry(kind(&decision.action)).or_default() += 1;
        } else {
            *self.rules.entry(why.rule).or_default() += 1;
        }
    }
}
