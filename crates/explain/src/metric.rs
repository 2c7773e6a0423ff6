//! Pages of metrics: how each is computed, with numbers.

use experiment::metrics::{METRICS, Metric, Reduction, Scope};
use sim_core::account::Category;

use crate::page::{Block, Kind, Page};

use Scope::{All, App};

/// Metric, formula or rule, and an example.
const HOW: &[(Scope, &str, &str, &str)] = &[
    (
        App,
        "run_time",
        "end of its last task - start of its first task. Time in the admission queue does not count. \
            Background applications have no run time, nor have applications that were cut off.",
        "The first task starts at 0.002 s and the last task ends at 4.010 s: run_time = 4.008 s.",
    ),
    (
        App,
        "timed_run_time",
        "end of its last task - instant at which its first task leaves the start-up barrier. The creation \
            of its tasks does not count. Benchmarks such as NPB start their clocks there. For runtimes \
        without that barrier it equals run_time.",
        "The first task starts at 0.002 s, all 128 tasks have reached the start-up barrier at 0.215 s, and \
            the last task ends at 4.010 s: timed_run_time = 3.795 s.",
    ),
    (
        App,
        "queue_time",
        "start - arrival. It is 0 without `admission`.",
        "With `admission: { jobs: 1 }` two jobs of 3 s arrive together: queue_time is 0 s for the first job \
            and 3 s for the second.",
    ),
    (
        App,
        "turnaround",
        "end of its last task - arrival = queue_time + run_time.",
        "Two jobs of 3 s arrive together and run one after the other. The second job has 3 s + 3 s = 6 s.",
    ),
    (
        App,
        "slowdown",
        "run_time / mean run_time of its dedicated runs over the replicates. In a dedicated run the program \
            is alone on the machine with one thread per core, each thread pinned. Needs `baseline: \
        dedicated`.",
        "The program takes 24.4 s in a dedicated run and 36.6 s next to another program: 36.6 / 24.4 = 1.5. \
            Two programs that share the machine evenly and do not disturb each other have 2 each while \
        both run.",
    ),
    (
        App,
        "slowdown_paired",
        "run_time / run_time of the dedicated run with the same seed. The variation between seeds cancels \
            out.",
        "Seed 1: 10 s shared and 5.0 s dedicated. Seed 2: 12 s and 6.0 s. slowdown_paired is 2.0 in both. \
            slowdown is 10 / 5.5 = 1.82 and 12 / 5.5 = 2.18.",
    ),
    (
        App,
        "variation",
        "100 x (largest / smallest run_time - 1) over the replicates. It shows how far a single run can be \
            trusted.",
        "Run times of 4.0, 4.2 and 5.0 s: 100 x (5.0 / 4.0 - 1) = 25 %.",
    ),
    (
        App,
        "recovered",
        "100 x (T(first policy) - T(this policy)) / (T(first policy) - T(fair share)), where T is the mean \
            run_time; see the reference `fair-share`. 0 % is the first policy and 100 % is the fair share. \
        There is no value if the first policy is less than 1 % slower than the fair share.",
        "The first policy takes 18 s, the fair share 14 s and this policy 15 s: 100 x 3 / 4 = 75 %. A value \
            below 0 means slower than the first policy, a value above 100 faster than the fair share.",
    ),
    (
        App,
        "migrations",
        "number of times that a task resumed on another cpu than its last one. The first placement of a \
            task does not count.",
        "Three tasks share two cpus for 4 s. A balancer moves one task every 0.1 s: about 40.",
    ),
    (
        App,
        "far_migrations",
        "number of migrations to another package or NUMA node. Afterwards the pages are remote and the \
            caches are cold.",
        "On `barcelona` a move from cpu 3 to cpu 4 counts, a move from cpu 0 to cpu 3 does not.",
    ),
    (
        App,
        "context_switches",
        "voluntary_switches + involuntary_switches.",
        "Two threads that yield alternate every 1.3 us for 1 ms: about 770.",
    ),
    (
        App,
        "voluntary_switches",
        "switches to another task because this task slept, ended or yielded.",
        "A thread that sleeps while it waits at 100 barriers: up to 100.",
    ),
    (
        App,
        "involuntary_switches",
        "switches to another task because this task was pre-empted or moved away.",
        "Two hogs share a cpu for 4 s in slices of 50 ms: about 80 switches, 40 of each hog.",
    ),
    (
        App,
        "yields",
        "number of `sched_yield` calls, with and without a switch.",
        "A waiting task is alone on its cpu, and polls and yields every 0.5 us for 1 ms: 2,000 yields \
            without a switch.",
    ),
    (
        App,
        "barrier_interval",
        "run_time x tasks / number of barriers that all tasks together have passed.",
        "16 tasks pass 400 barriers each in 4 s: 4 x 16 / 6,400 = 0.01 s. If the interval is shorter than a \
            time slice, the tasks need to run at the same time.",
    ),
    (
        App,
        "barrier_wait",
        "time that tasks spend from their arrival at a barrier until they resume, divided by run_time x \
            tasks. Time off the cpu counts.",
        "16 tasks run for 4 s, and each waits 1 s in total: 16 / 64 = 0.25.",
    ),
    (
        App,
        "response_time",
        "time from the wake-up after a sleep to the next sleep or the end of the task, mean over all tasks \
            and sleeps.",
        "A request of 10 ms first waits 40 ms for a cpu: 0.05 s.",
    ),
    (
        App,
        "cpu_time",
        "time for which its tasks had a cpu, polling included.",
        "16 tasks run for 4 s and never leave their cpus: 64 s, polling included.",
    ),
    (
        App,
        "work",
        "work done, as the time that a nominal core (a core of `barcelona`) without contention needs for it.",
        "A task computes for 1 s on a core of speed 0.8 without contention: 0.8 s.",
    ),
    (
        App,
        "misses_per_1000_instructions",
        "(bytes fetched / 64) / (work x 2 GHz / 1000). By convention the nominal core executes one \
            instruction per cycle.",
        "1 s of work fetches 640 MB. These are 10 million lines in 2 million thousands of instructions: 5.",
    ),
    (
        App,
        "page_copies",
        "number of times that the pages of a task were copied to the node to which it had moved. Only \
            profiles with next touch copy pages.",
        "A task moves to another node and back: 2.",
    ),
    (
        All,
        "makespan",
        "end of the last foreground task - start of the run. Pauses and queues count.",
        "Two programs start together and end after 36.6 s and 21.9 s: 36.6 s.",
    ),
    (
        All,
        "throughput",
        "sum of the dedicated run times with the same seed / makespan. 1 means as fast as one program after \
            the other.",
        "Two programs take 24.4 and 11.0 s in dedicated runs, and 37.4 s together: 35.4 / 37.4 = 0.95. \
            Sharing loses 5 %.",
    ),
    (
        All,
        "variation",
        "100 x (largest / smallest makespan - 1) over the replicates.",
        "Makespans of 40 and 44 s: 10 %.",
    ),
    (
        All,
        "recovered",
        "100 x (T(first policy) - T(this policy)) / (T(first policy) - T(fair share)), where T is the mean \
            makespan.",
        "The first policy takes 40 s, the fair share 30 s and this policy 30 s: 100 %.",
    ),
    (
        All,
        "migrations",
        "sum over all applications, background ones included.",
        "A solver with 30 migrations and a hog with 2: 32.",
    ),
    (
        All,
        "context_switches",
        "sum over all applications, background ones included.",
        "One program with 500 switches and one with 700: 1,200.",
    ),
    (
        All,
        "user_time_balance",
        "smallest / largest user time over the cpus. User time is computing with everything that slows it \
            down, cache refills and polling. System calls (`sched_yield`), switches and ticks do not count.",
        "15 cpus compute and poll for 10 s. One cpu does so for 8 s and spends 2 s in `sched_yield`: 8 / 10 \
            = 0.8.",
    ),
    (
        All,
        "corrections",
        "number of decisions of the policy that the engine refused or corrected, for example a cpu outside \
            the affinity mask or a task that has ended. It is 0 for every built-in policy. A larger number \
        indicates a mistake in a policy from outside.",
        "`select_cpu` returns cpu 5 for a task that may use cpus 0 to 3. The engine takes an allowed cpu \
            and counts 1.",
    ),
];

/// What a category of the breakdown means in practice.
const BREAKDOWN: &[(Category, &str)] = &[
    (
        Category::Compute,
        "The useful part. It takes the same time under every policy that does the same work, so policies \
            differ in the other categories.",
    ),
    (
        Category::MemoryStall,
        "Tasks together demand more than a controller, bus or shared cache can serve. Policies that spread \
            memory-bound tasks, or run them at different times, have less of it.",
    ),
    (
        Category::Remote,
        "Tasks run on other nodes than those of their pages. Far migrations cause it, and placements that \
            ignore first touch.",
    ),
    (
        Category::Smt,
        "Several hardware threads of a core are busy, and each gets a part of the speed of the core.",
    ),
    (
        Category::Refill,
        "After a switch or a migration a task fetches its working set again. The share grows with the \
            number of switches between programs that use the caches.",
    ),
    (
        Category::Spin,
        "Waiting tasks poll and keep the cpu. The share is high where programs that spin wait for threads \
            without a cpu.",
    ),
    (
        Category::Yield,
        "System calls of waiting tasks that yield. A large share is harmless on a machine with nothing else \
            to run. Next to other work it means that waiting tasks alternate with each other.",
    ),
    (
        Category::Switch,
        "Changes from one task to the next, at the machine's `switch_thread` or `switch_process`. Waiting \
            tasks that yield to each other spend most of their time here.",
    ),
    (
        Category::Migration,
        "The kernel's work of moving tasks. Cold caches count in `refill`, and remote pages in `remote`.",
    ),
    (
        Category::PageInit,
        "A program writes its data for the first time, which costs page faults and clearing of pages. The \
            parameter `touch` of a runtime defines which task writes. The share is large in short runs.",
    ),
    (
        Category::Kernel,
        "Other work of the kernel: timer ticks, wake-ups, going to sleep, creation of tasks, interrupts.",
    ),
    (
        Category::Daemon,
        "Cpu time of user-level policies for measuring and deciding, such as the balancers of SPEED.",
    ),
    (
        Category::Idle,
        "Cpus without a task that may run: threads sleep at barriers, there are fewer threads than cpus, or \
            affinities leave cpus empty.",
    ),
];

pub(super) fn pages() -> Vec<Page> {
    METRICS.iter().map(page).collect()
}

fn page(m: &Metric) -> Page {
    let of = if m.scope == App { "of each application" } else { "of the whole run" };
    let mut page = Page::new(Kind::Metric, m.name, &format!("{} ({}, {of})", m.about, m.unit));
    let category =
        m.name.strip_prefix("breakdown_").and_then(|name| BREAKDOWN.iter().find(|a| a.0.name() == name));
    if let Some((category, about)) = category {
        page.aliases.push(category.name().into());
        return breakdown(page, *category, about);
    }
    let how = HOW.iter().find(|(scope, name, ..)| *scope == m.scope && *name == m.name);
    let (formula, example) = how.map_or(("", ""), |(_, _, formula, example)| (*formula, *example));
    page.text("", formula).with("", cells(m)).text("Example", example)
}

fn breakdown(page: Page, category: Category, about: &str) -> Page {
    let all: Vec<String> = Category::ALL.iter().map(|c| format!("`{}`", c.name())).collect();
    let formula = format!(
        "Time of all cpus in the category `{}` / (cpus x makespan). Every nanosecond of every cpu belongs \
            to exactly one of {} categories: {}. The shares sum to 1.",
        category.name(),
        Category::COUNT,
        all.join(", ")
    );
    let example = "Two cpus run for 2 s. One computes all the time. The other computes for 1 s, polls for \
        0.4 s and is idle for \
0.6 s. compute = 3 / 4 = 0.75, spin = 0.4 / 4 = 0.1, idle = 0.6 / 4 = 0.15.";
    page.text("", about).text("", &formula).text("Example", example)
}

/// How replicates become a cell.
fn cells(m: &Metric) -> Vec<Block> {
    let app = if m.scope == App { "NAME" } else { "all" };
    let text = match m.reduction {
        Reduction::Statistics => format!(
            "Results have one cell per configuration, policy and application (`app` is {app}) with mean, \
                median, smallest and largest value and the 95 % confidence interval of the mean over the \
            replicates."
        ),
        Reduction::Variation => {
            format!("All replicates of a configuration and policy together have one value (`app` is {app}).")
        }
    };
    vec![Block::Text(text)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_exactly_one_formula() {
        for m in METRICS.iter().filter(|m| !m.name.starts_with("breakdown_")) {
            let entries = HOW.iter().filter(|(scope, name, ..)| *scope == m.scope && *name == m.name).count();
            assert_eq!(entries, 1, "{:?} {}", m.scope, m.name);
        }
        let known = |scope, name| METRICS.iter().any(|m| m.scope == scope && m.name == name);
        assert!(HOW.iter().all(|(scope, name, ..)| known(*scope, *name)));
        let explained: Vec<Category> = BREAKDOWN.iter().map(|(category, _)| *category).collect();
        assert_eq!(explained, Category::ALL);
    }
}
