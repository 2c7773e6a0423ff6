//! Where two runs of the same plan first differ: the first fact, or the first call of or by the policy, that
//! is not the same in both.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use sim_core::ids::{CpuId, TaskId};
use sim_core::observe::{Observation, Observer};
use sim_core::policy::{
    CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, View, Watches, Why,
};
use sim_core::time::Time;
use sim_core::wrap::{Notice, Request, Tap, Tapped, Wrapper};

/// Steps that are kept of a run at most.
const MOST: usize = 500_000;
/// Steps before the first difference that are shown.
const BEFORE: usize = 3;
/// Steps that are shown before a panic, or before an end with other results.
const LAST: usize = 6;

/// The steps of a run, in words, in their order.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<Vec<String>>>);

impl Steps {
    fn add(&self, at: Time, step: &dyn Debug) {
        // A run whose policy panicked leaves its steps behind.
        let mut steps = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if steps.len() < MOST {
            steps.push(format!("{} ns: {step:?}", at.ns()));
        }
    }
}

impl Observer for Steps {
    fn observe(&mut self, at: Time, what: &Observation) {
        self.add(at, what);
    }
}

impl Tap for Steps {
    fn meet(&mut self, system: &mut dyn System, request: Request, why: Why) -> bool {
        let at = system.now();
        let text = format!("{request:?}");
        let done = request.ask(system, why);
        self.add(at, &format_args!("the policy requests {text}: {}", if done { "done" } else { "refused" }));
        done
    }
}

/// A policy whose calls are steps.
struct Watched {
    inner: Box<dyn Policy>,
    steps: Steps,
}

impl Wrapper for Watched {
    fn wants(&self) -> Watches {
        self.inner.watches()
    }

    fn ordering(&self) -> Order {
        self.inner.order()
    }

    fn counted(&self) -> Vec<(String, u64)> {
        self.inner.counters()
    }

    fn insert(
        &mut self,
        system: &mut dyn System,
        task: TaskId,
        cpu: CpuId,
        why: Enqueue,
    ) -> Option<QueueEntry> {
        let at = system.now();
        let entry = self.inner.enqueue(&mut Tapped::new(system, &mut self.steps), task, cpu, why);
        self.steps.add(at, &format_args!("enqueue {task:?} {cpu:?} {why:?}: {entry:?}"));
        entry
    }

    fn place(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let chosen = self.inner.select_cpu(view, task, placement);
        self.steps.add(view.now(), &format_args!("select_cpu {task:?} {placement:?}: {:?}", chosen.cpu));
        chosen
    }

    fn notify(&mut self, system: &mut dyn System, notice: Notice) {
        self.steps.add(system.now(), &notice);
        notice.deliver(&mut *self.inner, &mut Tapped::new(system, &mut self.steps));
    }
}

/// The steps of a run under a policy, up to a panic if there is one.
pub(super) fn of(
    policy: Box<dyn Policy>,
    run: impl FnOnce(&mut dyn Policy, &mut dyn Observer),
) -> Vec<String> {
    let steps = Steps::default();
    let (mut watched, mut observer) = (Watched { inner: policy, steps: steps.clone() }, steps.clone());
    // The panic is reported by who asks for the steps.
    drop(catch_unwind(AssertUnwindSafe(|| run(&mut watched, &mut observer))));
    std::mem::take(&mut *steps.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// The first step that differs, with some before it; none where all steps that are kept are the same.
pub(super) fn first_difference(one: &[String], other: &[String]) -> Option<String> {
    let at = (0..one.len().max(other.len())).find(|at| one.get(*at) != other.get(*at))?;
    let before = one[at.saturating_sub(BEFORE)..at].iter().map(|step| format!("  both: {step}"));
    let own = [("  the engine", one), ("  the other", other)];
    let own = own.map(|(who, steps)| format!("{who}: {}", steps.get(at).map_or("nothing", String::as_str)));
    let head = std::iter::once(format!("the first difference is step {at}:"));
    Some(head.chain(before).chain(own).collect::<Vec<_>>().join("\n"))
}

/// The last steps of a run, each on a line that follows.
pub(super) fn last(steps: &[String]) -> String {
    let last = steps.iter().skip(steps.len().saturating_sub(LAST)).map(|step| format!("\n  {step}"));
    last.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_that_differs_is_shown_with_those_before() {
        let steps = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (one, other) = (steps("a b c d e f"), steps("a b c d x"));
        let text = "the first difference is step 4:\n  both: b\n  both: c\n  both: d\n  the engine: e\n  \
            the other: x";
        assert_eq!(first_difference(&one, &other).as_deref(), Some(text));
        assert_eq!(first_difference(&one, &one), None);
        let short = first_difference(&one[..1], &one).unwrap_or_default();
        assert!(short.ends_with("  the engine: nothing\n  the other: b"), "{short}");
    }
}
