//! `STEAL`, a scheduling policy for oversim.

use notation::parameter::Values;
use notation::parameters;
use policies::{Entry, Level, Setting, Showcase, TaskGroups};
use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{CpuChoice, Placement, Policy, System, View, Why};

/// What scenarios, lists, `explain` and the schema show.
pub const ENTRY: Entry = Entry {
    name: "STEAL",
    summary: "an idle cpu takes a waiting task from the longest queue",
    source: "own, after Blumofe, Leiserson: Scheduling multithreaded computations by work stealing, JACM \
        1999",
    level: Level::InKernel,
    // `Refused` for a policy with an `order` of its own, or one that sets priority levels.
    task_groups: TaskGroups::Kept,
    parameters: Parameters::TABLE,
    text: include_str!("policy.md"),
    wins: Showcase::NONE,
    loses: Showcase::NONE,
    build: &build,
};

parameters! {
    /// What scenarios can set.
    struct Parameters {
        /// Tasks that wait in a queue before an idle cpu takes one of them (a free choice).
        min_waiting: usize = 1, in 1..=1_000;
    }
}

fn build(values: &Values, _: &Setting<'_>) -> Box<dyn Policy> {
    Box::new(Steal { parameters: values.into(), waiting: Vec::new() })
}

struct Steal {
    parameters: Parameters,
    /// The tasks of one queue. It stays allocated between calls.
    waiting: Vec<TaskId>,
}

impl Policy for Steal {
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _placement: Placement) -> CpuChoice {
        let allowed = view.machine().cpu_ids().filter(|cpu| view.allowed(task, *cpu));
        let shortest = allowed.min_by_key(|cpu| view.nr_running(*cpu)).unwrap_or(CpuId(0));
        CpuChoice::new(shortest, Why::rule("the shortest queue"))
    }

    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        let longest = system.machine().cpu_ids().max_by_key(|other| system.nr_running(*other));
        system.queued(longest.unwrap_or(cpu), usize::MAX, &mut self.waiting);
        if self.waiting.len() < self.parameters.min_waiting {
            return;
        }
        let first = self.waiting.iter().copied().find(|task| system.allowed(*task, cpu));
        if let Some(task) = first {
            system.migrate(task, cpu, Why::rule("taken by an idle cpu"));
        }
    }
}
