//! `perturb`: another policy whose decisions come late or not at all, to find out whether it stands or falls
//! with each of them.

use std::collections::BTreeMap;

use notation::declare::{Duration, Percent};
use notation::parameter::Values;
use notation::parameters;
use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{
    CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, Timer, View, Watches, Why,
};
use sim_core::rng::{Purpose, below, draw, key};
use sim_core::time::{Span, Time};
use sim_core::wrap::{Notice, Request, Tap, Tapped, Wrapper};

use super::request::{is_legal, tasks};

parameters! {
    /// How decisions are disturbed.
    pub struct Perturbation {
        /// moves, masks and priority levels that the policy decides take effect this much later, if they are
        /// still legal then
        delay: Duration = 0, in 0..=s(10);
        /// an additional delay, drawn uniformly from the seed, of at most this much; decisions about one task
        /// keep their order
        jitter: Duration = 0, in 0..=s(10);
        /// share of moves, masks, directed yields and placements that do not happen, drawn from the seed. The
        /// policy is notified of the refusal. A woken task stays where it was, and a created one goes to any
        /// cpu that it may use. Changes of priority levels are never vetoed, because a throttled task would
        /// not end
        veto: Percent = 0, in 0..=percent(100);
    }
}

/// Timer tokens of late decisions carry this bit; [`sim_core::wrap::Stacked`] uses the one above it, policies
/// none of the two.
const LATE: u64 = 1 << 62;

/// A policy and what disturbs it.
pub(crate) struct Perturbed {
    inner: Box<dyn Policy>,
    disturb: Disturb,
}

struct Disturb {
    delay: Span,
    jitter: u64,
    veto: u64,
    entity: u64,
    key: u64,
    draws: u64,
    tasks: u32,
    /// Decisions that wait, by the number of their timer.
    late: BTreeMap<u64, (Request, Why)>,
    numbers: u64,
    /// When the last waiting decision about a task is due.
    due: BTreeMap<TaskId, Time>,
}

impl Perturbed {
    /// `inner` under these values of [`Perturbation`]; `entity` tells the streams of two perturbed policies
    /// of one run apart.
    pub(crate) fn new(inner: Box<dyn Policy>, values: &Values, entity: u64) -> Self {
        let given = Perturbation::from(values);
        let disturb = Disturb {
            delay: Span::from_ns(given.delay.ns()),
            jitter: given.jitter.ns(),
            veto: given.veto.hundredths(),
            entity,
            key: 0,
            draws: 0,
            tasks: 0,
            late: BTreeMap::new(),
            numbers: 0,
            due: BTreeMap::new(),
        };
        Self { inner, disturb }
    }
}

impl Disturb {
    /// A uniform draw below `bound`.
    fn draw(&mut self, bound: u64) -> u64 {
        self.draws += 1;
        below(bound, draw(self.key, self.draws))
    }

    fn vetoed(&mut self) -> bool {
        self.draw(10_000) < self.veto
    }

    /// When a decision about `task` takes effect; it does not overtake an earlier one.
    fn due(&mut self, now: Time, task: TaskId) -> Time {
        let jitter = self.draw(self.jitter.saturating_add(1));
        let at = now + self.delay + Span::from_ns(jitter);
        let last = self.due.entry(task).or_insert(at);
        *last = at.max(*last);
        *last
    }

    /// What was late happens, if it still can.
    fn happen(&mut self, system: &mut dyn System, token: u64) {
        let Some((request, why)) = self.late.remove(&(token & !LATE)) else {
            return;
        };
        if is_legal(&request, system, self.tasks) {
            request.ask(system, why);
        }
    }

    /// The cpu of a task whose placement is vetoed or forbidden.
    fn elsewhere(&mut self, view: &dyn View, task: TaskId, why: Placement) -> CpuId {
        if let Placement::Wake { previous, .. } = why
            && view.allowed(task, previous)
        {
            return previous;
        }
        let allowed = || view.machine().cpu_ids().filter(|cpu| view.allowed(task, *cpu));
        let count = allowed().count() as u64;
        let nth = self.draw(count) as usize;
        allowed().nth(nth).unwrap_or(CpuId(0))
    }
}

impl Tap for Disturb {
    fn meet(&mut self, system: &mut dyn System, request: Request, why: Why) -> bool {
        let Some(task) = request.task() else {
            return request.ask(system, why);
        };
        // Who runs next, and for how long, is no decision that can come late: the cpu would stand still.
        if matches!(request, Request::Dispatch(..) | Request::SetSlice(..)) {
            return request.ask(system, why);
        }
        // What came late or never makes some decisions of the policy impossible: no fault of its own.
        if !is_legal(&request, system, self.tasks) {
            return false;
        }
        if !matches!(request, Request::SetPriority(..)) && self.vetoed() {
            return false;
        }
        // A task that gives its own cpu away does it now or not at all.
        let now = system.now();
        let due = if matches!(request, Request::YieldTo(..)) { now } else { self.due(now, task) };
        if due == now {
            return request.ask(system, why);
        }
        self.numbers += 1;
        self.late.insert(self.numbers, (request, why));
        system.at(due, Timer::Token(self.numbers | LATE));
        true
    }
}

impl Wrapper for Perturbed {
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
        self.inner.enqueue(&mut Tapped::new(system, &mut self.disturb), task, cpu, why)
    }

    fn place(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let chosen = self.inner.select_cpu(view, task, placement);
        let why = if self.disturb.vetoed() {
            Why::rule("perturbed: placement vetoed").with("cpu wanted", u64::from(chosen.cpu.0))
        } else if view.allowed(task, chosen.cpu) {
            return chosen;
        } else {
            Why::rule("perturbed: the placement is forbidden because a mask is late")
        };
        CpuChoice { cpu: self.disturb.elsewhere(view, task, placement), why, ..chosen }
    }

    fn notify(&mut self, system: &mut dyn System, notice: Notice) {
        match notice {
            Notice::Timer(Timer::Token(token)) if token & LATE != 0 => {
                return self.disturb.happen(system, token);
            }
            Notice::Init => {
                self.disturb.key = key(system.seed(), Purpose::Perturb, self.disturb.entity);
                self.disturb.tasks = tasks(system);
            }
            _ => {}
        }
        notice.deliver(&mut *self.inner, &mut Tapped::new(system, &mut self.disturb));
    }
}
