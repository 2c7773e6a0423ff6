//! Pages of metrics: how each is computed, with numbers.

use sim_core::account::Category;

use super::{Block, Page, Shelf};
use crate::metrics::{METRICS, Metric, Reduction, Scope};

use Scope::{All, App};

/// Metric, formula or rule, and an example.
const HOW: &[(Scope, &str, &str, &str)] = &[
    (
        App,
        "run_time",
        "end of its last task - start of its first. Waiting to be admitted is not part of it; applications in the background and those cut off have none.",
        "First task starts at 0.002 s, last task ends at 4.010 s: run_time = 4.008 s.",
    ),
    (
        App,
        "timed_run_time",
        "end of its last task - instant at which its first task was past the start-up barrier: the creation of its tasks does not count. Benchmarks such as NPB start their clocks there. Equal to run_time for runtimes without that barrier.",
        "First task starts at 0.002 s, all 128 have met at 0.215 s, the last one ends at 4.010 s: timed_run_time = 3.795 s.",
    ),
    (
        App,
        "queue_time",
        "start - arrival. 0 without `admission`.",
        "With `admission: { jobs: 1 }` two jobs of 3 s arrive together: queue_time is 0 s for the first, 3 s for the second.",
    ),
    (
        App,
        "turnaround",
        "end of its last task - arrival = queue_time + run_time.",
        "The second of two jobs of 3 s that run one after the other: 3 s + 3 s = 6 s.",
    ),
    (
        App,
        "slowdown",
        "run_time / mean run_time of its dedicated runs (alone, one thread per core, pinned) over the replicates. Needs `baseline: dedicated`.",
        "Alone 24.4 s, beside another program 36.6 s: 36.6 / 24.4 = 1.5. Two programs that share fairly and disturb each other in nothing have 2 each while both run.",
    ),
    (
        App,
        "slowdown_paired",
        "run_time / run_time of the dedicated run with the same seed: the variation that seeds bring cancels out.",
        "Seed 1: 10 s shared, 5.0 s alone; seed 2: 12 s and 6.0 s. slowdown_paired is 2.0 in both; slowdown is 10 / 5.5 = 1.82 and 12 / 5.5 = 2.18.",
    ),
    (
        App,
        "variation",
        "100 x (largest / smallest run_time - 1) over the replicates: how far one can rely on a single run.",
        "Run times of 4.0, 4.2 and 5.0 s: 100 x (5.0 / 4.0 - 1) = 25 %.",
    ),
    (
        App,
        "recovered",
        "100 x (T(first policy) - T(this policy)) / (T(first policy) - T(fluid)), T being the mean run_time; see the reference `fluid`. None where the gap is below 1 % of the ideal.",
        "First policy 18 s, ideal 14 s, this policy 15 s: 100 x 3 / 4 = 75 %. Below 0: slower than the first; above 100: faster than a fair share.",
    ),
    (
        App,
        "migrations",
        "number of times a task continued on another cpu than the one it was on; first placements do not count.",
        "Three tasks on two cpus, the odd one moved once per 0.1 s for 4 s: about 40.",
    ),
    (
        App,
        "far_migrations",
        "those migrations that cross a package or a NUMA node, after which pages are far and caches cold.",
        "On `barcelona` a move from cpu 3 to cpu 4 counts, one from cpu 0 to cpu 3 does not.",
    ),
    (
        App,
        "context_switches",
        "voluntary_switches + involuntary_switches.",
        "Two yielding threads that alternate every 1.3 us for 1 ms: about 770.",
    ),
    (
        App,
        "voluntary_switches",
        "switches to another task because this one slept, ended or yielded.",
        "A blocking thread that waits at 100 barriers: up to 100.",
    ),
    (
        App,
        "involuntary_switches",
        "switches to another task because this one was pre-empted or moved away.",
        "Two hogs on one cpu with slices of 50 ms for 4 s: about 80, 40 each.",
    ),
    (
        App,
        "yields",
        "number of `sched_yield` calls, with and without a switch.",
        "A waiter alone on its cpu that looks and yields every 0.5 us for 1 ms: 2,000 yields, no switch.",
    ),
    (
        App,
        "barrier_interval",
        "run_time x tasks / number of barrier episodes completed by all tasks.",
        "4 s, 16 tasks, 400 barriers each: 4 x 16 / 6,400 = 0.01 s. Intervals shorter than a slice need tasks that run at the same time.",
    ),
    (
        App,
        "barrier_wait",
        "time that tasks spend from arrival at a barrier to going on, over run_time x tasks; being off the cpu meanwhile counts.",
        "16 tasks for 4 s, each waits 1 s in all: 16 / 64 = 0.25.",
    ),
    (
        App,
        "response_time",
        "time from waking up after a sleep to sleeping again or ending, mean over all tasks and sleeps.",
        "A request of 10 ms that first waits 40 ms for a cpu: 0.05 s.",
    ),
    (
        App,
        "cpu_time",
        "time its tasks had a cpu, polling included.",
        "16 tasks for 4 s that never left their cpus: 64 s, however much of it was polling.",
    ),
    (
        App,
        "work",
        "work done, in seconds of the nominal core (a core of `barcelona`) alone.",
        "1 s of computing on a core of speed 0.8 without contention: 0.8 s.",
    ),
    (
        App,
        "misses_per_1000_instructions",
        "(bytes fetched / 64) / (work x 2 GHz / 1000), counting one instruction per cycle of the nominal core.",
        "1 s of work that fetches 640 MB: 10 million lines, 2 million thousands of instructions: 5.",
    ),
    (
        App,
        "page_copies",
        "times the pages of a task were copied to the node it had moved to; pages of profiles without next touch stay.",
        "A task that is moved to another node and back: 2.",
    ),
    (
        All,
        "makespan",
        "end of the last foreground task - start of the run, pauses and queues included.",
        "Two programs start together and end after 36.6 and 21.9 s: 36.6 s.",
    ),
    (
        All,
        "throughput",
        "sum of the dedicated run times with the same seed / makespan. Running one after the other is 1.",
        "Alone 24.4 and 11.0 s, together done after 37.4 s: 35.4 / 37.4 = 0.95, sharing loses 5 %.",
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
        "100 x (T(first policy) - T(this policy)) / (T(first policy) - T(fluid)), T being the mean makespan.",
        "First policy 40 s, ideal 30 s, this policy 30 s: 100 %.",
    ),
    (
        All,
        "migrations",
        "sum over all applications, background ones included.",
        "A solver with 30 and a hog with 2: 32.",
    ),
    (
        All,
        "context_switches",
        "sum over all applications, background ones included.",
        "One program with 500, one with 700: 1,200.",
    ),
    (
        All,
        "user_time_balance",
        "smallest / largest user time over the cpus; user time is computing with all that slows it, refills and polling, but not system calls (`sched_yield`), switches and ticks.",
        "15 cpus compute and poll for 10 s, one for 8 s and spends 2 s in `sched_yield`: 8 / 10 = 0.8.",
    ),
    (
        All,
        "corrections",
        "decisions of the policy that the kernel refused or corrected: a cpu outside the task's mask, a task that has ended. 0 for every policy on the shelf; more configurations to a mistake in a policy of your own.",
        "`select_cpu` answers cpu 5 for a task that may use cpus 0 to 3: the kernel takes an allowed one and counts 1.",
    ),
];

/// What a category of the account means in practice.
const ACCOUNT: &[(Category, &str)] = &[
    (
        Category::Compute,
        "The useful part, and the same under every policy as long as the same work is done: what differs between policies is all the rest.",
    ),
    (
        Category::MemoryStall,
        "More tasks draw on a controller, bus or shared cache than it can serve. Policies that spread memory-bound tasks, or let them run at different times, have less.",
    ),
    (
        Category::Remote,
        "Tasks run away from the node where their pages lie: the price of far migrations and of placements that ignore first touch.",
    ),
    (Category::Smt, "Both hardware threads of a core are busy and each gets part of it."),
    (
        Category::Refill,
        "After a switch or a migration the working set has to be fetched again. It grows with the number of switches between programs that use the caches.",
    ),
    (
        Category::Spin,
        "Waiting with the cpu in hand, without giving it away: high where spinning programs wait for threads that have no cpu.",
    ),
    (
        Category::Yield,
        "The calls of waiting tasks that yield. A lot of it on a machine with nothing else to run is harmless; beside others it is waiting in turns.",
    ),
    (
        Category::Switch,
        "From one task to the next, at the machine's `switch_thread` or `switch_process`. Yielding waiters that take turns spend most of their time here.",
    ),
    (
        Category::Migration,
        "The kernel's work of moving tasks; cold caches are in `refill`, far pages in `remote`.",
    ),
    (
        Category::PageInit,
        "A starting program writes its data for the first time: page faults and clearing of pages. Runtimes choose who writes with `touch`.",
    ),
    (Category::Kernel, "Everything else the kernel does for the programs and for itself."),
    (
        Category::Daemon,
        "What user-level policies charge for looking and deciding, such as the balancers of SPEED.",
    ),
    (
        Category::Idle,
        "Cpus that nobody may or can use: threads asleep at barriers, fewer threads than cpus, bindings that leave cpus empty.",
    ),
];

pub(super) fn pages() -> Vec<Page> {
    METRICS.iter().map(page).collect()
}

fn page(m: &Metric) -> Page {
    let of = if m.scope == App { "of each application" } else { "of the whole run" };
    let mut page = Page::new(Shelf::Metric, m.name, &format!("{} ({}, {of})", m.about, m.unit));
    let category =
        m.name.strip_prefix("breakdown_").and_then(|name| ACCOUNT.iter().find(|a| a.0.name() == name));
    if let Some((category, about)) = category {
        page.aliases.push(category.name().into());
        return account(page, *category, about);
    }
    let how = HOW.iter().find(|(scope, name, ..)| *scope == m.scope && *name == m.name);
    let (formula, example) = how.map_or(("", ""), |(_, _, formula, example)| (*formula, *example));
    page.text("", formula).with("", cells(m)).text("Example", example)
}

fn account(page: Page, category: Category, about: &str) -> Page {
    let all: Vec<String> = Category::ALL.iter().map(|c| format!("`{}`", c.name())).collect();
    let formula = format!(
        "Time of all cpus in the category `{}` / (cpus x makespan). Every nanosecond of every cpu is in exactly one of {} categories: {}. The shares sum to 1.",
        category.name(),
        Category::COUNT,
        all.join(", ")
    );
    let example = "Two cpus for 2 s: one computes all the time, the other computes 1 s, polls 0.4 s and is idle 0.6 s. \
compute = 3 / 4 = 0.75, spin = 0.1, idle = 0.15.";
    page.text("", about).text("", &formula).text("Example", example)
}

/// How replicates become a cell.
fn cells(m: &Metric) -> Vec<Block> {
    let app = if m.scope == App { "NAME" } else { "all" };
    let text = match m.reduction {
        Reduction::Statistics => format!(
            "One cell per configuration, policy and application (`app` is {app}): mean, median, extremes and the 95 % confidence interval of the mean over the replicates."
        ),
        Reduction::Variation => {
            format!("One number over all replicates of a configuration and policy (`app` is {app}).")
        }
    };
    vec![Block::Text(text)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_its_formula_and_nothing_else_has() {
        for m in METRICS.iter().filter(|m| !m.name.starts_with("breakdown_")) {
            let entries = HOW.iter().filter(|(scope, name, ..)| *scope == m.scope && *name == m.name).count();
            assert_eq!(entries, 1, "{:?} {}", m.scope, m.name);
        }
        let known = |scope, name| METRICS.iter().any(|m| m.scope == scope && m.name == name);
        assert!(HOW.iter().all(|(scope, name, ..)| known(*scope, *name)));
        let explained: Vec<Category> = ACCOUNT.iter().map(|(category, _)| *category).collect();
        assert_eq!(explained, Category::ALL);
    }
}
