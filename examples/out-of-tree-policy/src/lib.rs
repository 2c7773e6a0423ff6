//! `STEAL`, a policy outside of oversim's repository: random work stealing.

use notation::parameter::{Kind, Parameter, Values};
use policies::{Entry, Level, Setting, Showcase};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::{CpuChoice, Placement, Policy, System, View, Why};
use sim_core::rng::{Purpose, stream};

/// What scenarios, lists and the schema know of it.
pub const ENTRY: Entry = Entry {
    name: "STEAL",
    summary: "an idle cpu steals from a victim drawn at random",
    source: "Blumofe, Leiserson: Scheduling multithreaded computations by work stealing, JACM 1999 (for tasks of one program)",
    level: Level::InKernel,
    parameters: PARAMETERS,
    about: "A created task goes to one of the shortest queues, drawn at random. A woken task stays where it was. A cpu that \
is about to go idle draws another cpu and takes a waiting task from it. If there is no task to take, it draws again, `tries` \
times in all. Then it stays idle until a task wakes up on it. STEAL reads the queues of the whole machine only to place a \
new task.",
    sees: "STEAL observes the queue of the victim and the lengths of all queues.",
    costs: "A migration for each stolen task. Reading a queue is free.",
    wins: Showcase::NONE,
    loses: Showcase::NONE,
    build,
    example: "Six tasks of 1 s run on four cpus, and two cpus get two of them. After 1 s the other two cpus are free, and \
each of the four tasks that share has half a second left. Each free cpu draws victims until it draws one of the two cpus \
with a waiting task, and takes that task. All tasks end after 1.5 s. If all draws of a cpu miss, it stays idle, and a pair \
ends after 2 s.",
};

const PARAMETERS: &[Parameter] = &[Parameter {
    name: "tries",
    kind: Kind::Count,
    default: 4,
    min: 1,
    max: 1_000,
    about: "Victims that an idle cpu draws before it gives up (a free choice).",
}];

fn build(values: &Values, _: &Setting<'_>) -> Box<dyn Policy> {
    Box::new(Steal { tries: values.get("tries"), rng: None, waiting: Vec::new() })
}

struct Steal {
    tries: u64,
    rng: Option<ChaCha8Rng>,
    waiting: Vec<TaskId>,
}

impl Steal {
    /// A number below `bound`, from a stream that depends on the run's seed alone: the same seed, the same run.
    fn draw(&mut self, view: &dyn View, bound: usize) -> usize {
        self.rng.get_or_insert_with(|| stream(view.seed(), Purpose::Policy, 0)).random_range(0..bound)
    }
}

impl Policy for Steal {
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        if let Placement::Wake { previous, .. } = placement
            && view.allowed(task, previous)
        {
            return CpuChoice::new(previous, Why::rule("woken: stays on its last cpu"));
        }
        let allowed = || view.machine().cpu_ids().filter(|cpu| view.allowed(task, *cpu));
        let shortest = allowed().map(|cpu| view.nr_running(cpu)).min().unwrap_or(0);
        let best: Vec<CpuId> = allowed().filter(|cpu| view.nr_running(*cpu) == shortest).collect();
        let cpu = if best.is_empty() { CpuId(0) } else { best[self.draw(view, best.len())] };
        let why = Why::rule("created: one of the shortest queues");
        CpuChoice::new(cpu, why.with("tasks", u64::from(shortest)))
    }

    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        let cpus = system.machine().cpus() as usize;
        for attempt in 1..=self.tries {
            let victim = CpuId(self.draw(system, cpus) as u32);
            system.queued(victim, usize::MAX, &mut self.waiting);
            let stolen = self.waiting.iter().copied().find(|task| system.allowed(*task, cpu));
            if let Some(task) = stolen.filter(|_| victim != cpu) {
                let why = Why::rule("stolen by an idle cpu");
                system.migrate(task, cpu, why.with("victims drawn", attempt));
                return;
            }
        }
    }
}
