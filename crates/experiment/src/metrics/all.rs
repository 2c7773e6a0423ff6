//! The metrics, one line each.

use super::Scope::{All, App};
use super::{
    Metric, NS_PER_S, app, barrier_interval, barrier_rate, barrier_wait, count, cpus, latency, lateness,
    makespan, metric, queue_time, ratio, requests, run_time, slowdown, slowdown_paired, spread, throughput,
    time_per_work, timed_run_time, times, turnaround, variation, work_rate,
};

/// All metrics, in the order of the cells.
pub const METRICS: &[Metric] = &[
    metric(
        App,
        "run_time",
        "s",
        "time from the start of its first task to the end of its last task",
        run_time,
    ),
    metric(
        App,
        "timed_run_time",
        "s",
        "time from the instant at which its first task leaves the start-up barrier to the end of its last \
            task, as a benchmark reports it",
        timed_run_time,
    ),
    metric(App, "queue_time", "s", "time from arrival to start: waiting for admission", queue_time)
        .tail("queue_time_p99"),
    spread(
        App,
        "queue_time_median",
        "median of the times from arrival to start of its copies",
        times::queue::<500>,
    ),
    spread(
        App,
        "queue_time_p90",
        "90th percentile of the times from arrival to start of its copies",
        times::queue::<900>,
    ),
    spread(
        App,
        "queue_time_p99",
        "99th percentile of the times from arrival to start of its copies",
        times::queue::<990>,
    ),
    spread(
        App,
        "queue_time_max",
        "largest of the times from arrival to start of its copies",
        times::queue::<1000>,
    ),
    metric(App, "turnaround", "s", "time from arrival to the end of its last task", turnaround)
        .tail("turnaround_p99"),
    spread(
        App,
        "turnaround_median",
        "median of the times from arrival to end of its copies",
        times::turnaround::<500>,
    ),
    spread(
        App,
        "turnaround_p90",
        "90th percentile of the times from arrival to end of its copies",
        times::turnaround::<900>,
    ),
    spread(
        App,
        "turnaround_p99",
        "99th percentile of the times from arrival to end of its copies",
        times::turnaround::<990>,
    ),
    spread(
        App,
        "turnaround_max",
        "largest of the times from arrival to end of its copies",
        times::turnaround::<1000>,
    ),
    metric(
        App,
        "first_response",
        "s",
        "time from arrival to the instant at which one of its tasks first has a cpu",
        times::first_response,
    ),
    metric(
        App,
        "waiting_time",
        "s",
        "time in the admission queue and, mean over its tasks, in run queues",
        times::waiting,
    ),
    metric(
        App,
        "work_rate",
        "ratio",
        "work done for each second of the window, in seconds of the core that work counts in",
        work_rate,
    )
    .higher(),
    metric(
        App,
        "barrier_rate",
        "1/s",
        "barriers that each of its tasks passes for each second of the window",
        barrier_rate,
    )
    .higher(),
    metric(App, "time_per_work", "s", "time of the window for each second of work done", time_per_work),
    metric(App, "slowdown", "ratio", "run_time divided by the mean run_time of the dedicated runs", slowdown)
        .dedicated(),
    metric(
        App,
        "slowdown_paired",
        "ratio",
        "run_time divided by the run_time of the dedicated run with the same seed",
        slowdown_paired,
    )
    .dedicated(),
    variation(App, "largest / smallest run_time - 1 over the replicates", run_time),
    metric(
        App,
        "recovered",
        "%",
        "mean run_time on a scale from the first policy (0) to the fair share (100)",
        |_| None,
    )
    .compared(),
    metric(App, "migrations", "count", "moves of its tasks to another cpu", |s| count(s, |c| c.migrations)),
    metric(App, "far_migrations", "count", "moves of its tasks to another package or NUMA node", |s| {
        count(s, |c| c.far_migrations)
    }),
    metric(App, "context_switches", "count", "switches from one of its tasks to another task", |s| {
        count(s, |c| c.voluntary_switches + c.involuntary_switches)
    }),
    metric(App, "voluntary_switches", "count", "switches because a task slept, ended or yielded", |s| {
        count(s, |c| c.voluntary_switches)
    }),
    metric(App, "involuntary_switches", "count", "switches because a task was pre-empted or moved", |s| {
        count(s, |c| c.involuntary_switches)
    }),
    metric(App, "yields", "count", "sched_yield calls of its tasks", |s| count(s, |c| c.yields)),
    metric(App, "barrier_interval", "s", "mean time from one barrier to the next", barrier_interval),
    metric(
        App,
        "barrier_wait",
        "share",
        "share of the run_time of its tasks that they spend at barriers",
        barrier_wait,
    ),
    metric(App, "lock_wait", "s", "mean time from asking for a lock to having it, asleep or polling", |s| {
        let counters = &app(s)?.counters;
        ratio(counters.lock_wait_ns as f64 / NS_PER_S, counters.locks as f64)
    }),
    metric(
        App,
        "lock_wait_share",
        "share",
        "share of the run_time of its tasks that they wait for locks, asleep or polling",
        |s| {
            let app = app(s)?;
            let waited = app.counters.lock_wait_ns as f64 / NS_PER_S;
            if app.counters.locks == 0 {
                None
            } else {
                ratio(waited, run_time(s)? * app.task_cpu.len() as f64)
            }
        },
    ),
    spread(
        App,
        "response_time",
        "mean time in which a request is answered: from a wake-up after a timed sleep to the next sleep or \
            the end of the task",
        times::response_mean,
    )
    .tail("response_time_p99"),
    spread(
        App,
        "response_time_median",
        "median of the times in which requests are answered",
        times::response::<500>,
    ),
    spread(
        App,
        "response_time_p90",
        "90th percentile of the times in which requests are answered",
        times::response::<900>,
    ),
    spread(
        App,
        "response_time_p99",
        "99th percentile of the times in which requests are answered",
        times::response::<990>,
    )
    .tail("wakeup_latency_p99"),
    spread(
        App,
        "response_time_max",
        "largest of the times in which requests are answered",
        times::response::<1000>,
    ),
    metric(App, "request_rate", "1/s", "requests answered for each second", requests::rate).higher(),
    spread(
        App,
        "request_wait",
        "mean time from the arrival of a request in a queue until a task has taken it",
        requests::wait_mean,
    )
    .tail("request_wait_p99"),
    spread(App, "request_wait_median", "median of the waits of requests", requests::wait::<500>),
    spread(App, "request_wait_p99", "99th percentile of the waits of requests", requests::wait::<990>),
    spread(App, "request_wait_p999", "99.9th percentile of the waits of requests", requests::wait::<999>),
    spread(App, "request_wait_max", "largest of the waits of requests", requests::wait::<1000>),
    spread(App, "first_miss", "time from its start to the first missed deadline", requests::first_miss)
        .higher(),
    metric(App, "skipped_instants", "count", "instants of clocks that were left out", requests::skipped),
    spread(
        App,
        "lateness",
        "mean time from the deadline to the end of its work, negative when early",
        lateness::mean,
    )
    .signed(),
    spread(
        App,
        "lateness_median",
        "median of the times from deadlines to the end of the work",
        lateness::quantile::<500>,
    )
    .signed(),
    spread(
        App,
        "lateness_p90",
        "90th percentile of the times from deadlines to the end of the work",
        lateness::quantile::<900>,
    )
    .signed(),
    spread(
        App,
        "lateness_p99",
        "99th percentile of the times from deadlines to the end of the work",
        lateness::quantile::<990>,
    )
    .signed(),
    spread(
        App,
        "lateness_max",
        "largest of the times from deadlines to the end of the work",
        lateness::quantile::<1000>,
    )
    .signed(),
    spread(
        App,
        "tardiness",
        "mean time by which its work was late, 0 for what was in time",
        lateness::tardiness,
    ),
    spread(App, "tardiness_max", "longest time by which its work was late", lateness::tardiness_max),
    Metric {
        unit: "share",
        ..spread(App, "missed_deadlines", "share of the deadlines that were missed", lateness::missed)
    },
    Metric {
        unit: "count",
        ..spread(App, "deadline_misses", "deadlines that were missed", lateness::misses)
    },
    metric(App, "cpu_time", "s", "cpu time of its tasks, polling included", |s| {
        Some(app(s)?.counters.cpu_ns as f64 / NS_PER_S)
    }),
    metric(
        App,
        "cpu_share",
        "share",
        "cpu time of its tasks over that of all applications, background ones included",
        |s| {
            let all = s.run.apps.iter().map(|app| app.counters.cpu_ns as f64).sum();
            ratio(app(s)?.counters.cpu_ns as f64, all)
        },
    )
    .higher(),
    metric(
        App,
        "work",
        "s",
        "work done, in seconds of the core that work counts in (`work_unit` of the machine)",
        |s| Some(app(s)?.counters.work_done_ns as f64 / NS_PER_S),
    )
    .neither(),
    metric(
        App,
        "misses_per_1000_instructions",
        "count",
        "lines of 64 bytes fetched from memory per 1000 instructions of the core that work counts in, at \
            2 GHz and one instruction per cycle",
        cpus::misses,
    ),
    metric(
        App,
        "page_copies",
        "count",
        "times that the pages of a task were copied to the node to which it had moved (next touch)",
        |s| count(s, |c| c.page_copies),
    ),
    metric(
        App,
        "wakeup_latency_mean",
        "s",
        "mean of the times from a wake-up of one of its tasks until that task continues",
        |s| latency(s, |l| Some(l.wakeups?.mean)),
    )
    .latencies(),
    metric(
        App,
        "wakeup_latency_median",
        "s",
        "median of the times from a wake-up of one of its tasks until that task continues",
        |s| latency(s, |l| Some(l.wakeups?.median)),
    )
    .latencies(),
    metric(
        App,
        "wakeup_latency_p90",
        "s",
        "90th percentile of the times from a wake-up of one of its tasks until that task continues",
        |s| latency(s, |l| Some(l.wakeups?.p90)),
    )
    .latencies(),
    metric(
        App,
        "wakeup_latency_p99",
        "s",
        "99th percentile of the times from a wake-up of one of its tasks until that task continues",
        |s| latency(s, |l| Some(l.wakeups?.p99)),
    )
    .latencies(),
    metric(
        App,
        "wakeup_latency_max",
        "s",
        "longest of the times from a wake-up of one of its tasks until that task continues",
        |s| latency(s, |l| Some(l.wakeups?.max)),
    )
    .latencies(),
    metric(
        App,
        "run_length_median",
        "s",
        "median of the times for which one of its tasks keeps a cpu",
        |s| latency(s, |l| Some(l.runs?.median)),
    )
    .latencies()
    .neither(),
    metric(
        App,
        "run_length_p90",
        "s",
        "90th percentile of the times for which one of its tasks keeps a cpu",
        |s| latency(s, |l| Some(l.runs?.p90)),
    )
    .latencies()
    .neither(),
    metric(
        App,
        "run_length_p99",
        "s",
        "99th percentile of the times for which one of its tasks keeps a cpu",
        |s| latency(s, |l| Some(l.runs?.p99)),
    )
    .latencies()
    .neither(),
    metric(App, "run_length_max", "s", "longest of the times for which one of its tasks keeps a cpu", |s| {
        latency(s, |l| Some(l.runs?.max))
    })
    .latencies()
    .neither(),
    metric(
        All,
        "makespan",
        "s",
        "time from the start of the run to the end of the last foreground task",
        makespan,
    ),
    metric(
        All,
        "time_per_work",
        "s",
        "time of the window for each second of work done by all foreground applications",
        |s| {
            let foreground = s.run.apps.iter().filter(|app| !app.background);
            let work = foreground.map(|app| app.counters.work_done_ns).sum::<u64>() as f64;
            if s.window { ratio(s.run.makespan.ns() as f64, work) } else { None }
        },
    ),
    metric(
        All,
        "throughput",
        "ratio",
        "sum of the dedicated run times with the same seed divided by the makespan; above 1, sharing is \
            faster than one program after the other",
        throughput,
    )
    .dedicated()
    .higher(),
    metric(
        All,
        "stp",
        "ratio",
        "system throughput, or weighted speed-up: sum of dedicated time / turnaround over all programs",
        |s| Some(s.together?.stp),
    )
    .dedicated()
    .higher(),
    metric(
        All,
        "antt",
        "ratio",
        "average normalized turnaround time: mean of turnaround / dedicated time over all programs",
        |s| Some(s.together?.antt),
    )
    .dedicated(),
    metric(
        All,
        "jain_index",
        "ratio",
        "Jain's index of the progress of the programs (dedicated time / turnaround); 1 = all alike",
        |s| Some(s.together?.jain),
    )
    .dedicated()
    .higher(),
    metric(All, "worst_slowdown", "ratio", "the largest slowdown of an application", |s| {
        Some(s.together?.worst)
    })
    .dedicated(),
    spread(
        All,
        "queue_time",
        "mean time from arrival to start over all foreground programs",
        times::queue_mean,
    )
    .tail("queue_time_p99"),
    spread(
        All,
        "queue_time_median",
        "median of the times from arrival to start of all foreground programs",
        times::queue::<500>,
    ),
    spread(
        All,
        "queue_time_p90",
        "90th percentile of the times from arrival to start of all foreground programs",
        times::queue::<900>,
    ),
    spread(
        All,
        "queue_time_p99",
        "99th percentile of the times from arrival to start of all foreground programs",
        times::queue::<990>,
    ),
    spread(
        All,
        "queue_time_max",
        "largest of the times from arrival to start of all foreground programs",
        times::queue::<1000>,
    ),
    spread(
        All,
        "turnaround",
        "mean time from arrival to end over all foreground programs",
        times::turnaround_mean,
    )
    .tail("turnaround_p99"),
    spread(
        All,
        "turnaround_median",
        "median of the times from arrival to end of all foreground programs",
        times::turnaround::<500>,
    ),
    spread(
        All,
        "turnaround_p90",
        "90th percentile of the times from arrival to end of all foreground programs",
        times::turnaround::<900>,
    ),
    spread(
        All,
        "turnaround_p99",
        "99th percentile of the times from arrival to end of all foreground programs",
        times::turnaround::<990>,
    ),
    spread(
        All,
        "turnaround_max",
        "largest of the times from arrival to end of all foreground programs",
        times::turnaround::<1000>,
    ),
    spread(
        All,
        "first_response",
        "mean time from arrival to the first instant with a cpu over all foreground programs",
        times::first_response_mean,
    ),
    spread(
        All,
        "waiting_time",
        "mean time in admission and run queues over all foreground programs",
        times::waiting_mean,
    ),
    spread(
        All,
        "response_time",
        "mean time in which a request is answered, of all requests",
        times::response_mean,
    )
    .tail("response_time_p99"),
    spread(
        All,
        "response_time_median",
        "median of the times in which requests are answered, of all requests",
        times::response::<500>,
    ),
    spread(
        All,
        "response_time_p90",
        "90th percentile of the times in which requests are answered, of all requests",
        times::response::<900>,
    ),
    spread(
        All,
        "response_time_p99",
        "99th percentile of the times in which requests are answered, of all requests",
        times::response::<990>,
    )
    .tail("wakeup_latency_p99"),
    spread(
        All,
        "response_time_max",
        "largest of the times in which requests are answered, of all requests",
        times::response::<1000>,
    ),
    metric(All, "lost_requests", "share", "share of the requests that found no place", requests::lost),
    metric(All, "busy_servers", "ratio", "mean number of servers of devices at work", requests::busy)
        .neither(),
    metric(All, "device_wait", "s", "mean wait for a server of a device", requests::device_wait),
    metric(All, "jobs", "count", "jobs of graphs that are done", requests::jobs).neither(),
    metric(
        All,
        "jobs_stolen",
        "share",
        "share of the jobs taken from the queue of another task",
        requests::stolen,
    )
    .neither(),
    metric(All, "job_waits", "count", "how often a task found no job that was ready", requests::job_waits),
    spread(
        All,
        "lateness",
        "mean time from the deadline to the end of its work, negative when early, over all deadlines",
        lateness::mean,
    )
    .signed(),
    spread(
        All,
        "lateness_median",
        "median of the times from deadlines to the end of the work, of all deadlines",
        lateness::quantile::<500>,
    )
    .signed(),
    spread(
        All,
        "lateness_p90",
        "90th percentile of the times from deadlines to the end of the work, of all deadlines",
        lateness::quantile::<900>,
    )
    .signed(),
    spread(
        All,
        "lateness_p99",
        "99th percentile of the times from deadlines to the end of the work, of all deadlines",
        lateness::quantile::<990>,
    )
    .signed(),
    spread(
        All,
        "lateness_max",
        "largest of the times from deadlines to the end of the work, of all deadlines",
        lateness::quantile::<1000>,
    )
    .signed(),
    Metric {
        unit: "share",
        ..spread(
            All,
            "missed_deadlines",
            "share of the deadlines that were missed, of all deadlines",
            lateness::missed,
        )
    },
    variation(All, "largest / smallest makespan - 1 over the replicates", makespan),
    metric(
        All,
        "recovered",
        "%",
        "mean makespan on a scale from the first policy (0) to the fair share (100)",
        |_| None,
    )
    .compared(),
    metric(All, "migrations", "count", "moves of any task to another cpu", |s| {
        Some(s.run.apps.iter().map(|a| a.counters.migrations).sum::<u64>() as f64)
    }),
    metric(All, "context_switches", "count", "switches from any task to another task", |s| {
        let each = s.run.apps.iter().map(|a| a.counters.voluntary_switches + a.counters.involuntary_switches);
        Some(each.sum::<u64>() as f64)
    }),
    metric(
        All,
        "breakdown_compute",
        "share",
        "useful work, as the time that it takes on an undisturbed core with local memory",
        cpus::breakdown::<0>,
    )
    .higher(),
    metric(
        All,
        "breakdown_memory_stall",
        "share",
        "additional time because of contention for memory bandwidth and shared caches",
        cpus::breakdown::<1>,
    ),
    metric(
        All,
        "breakdown_remote",
        "share",
        "additional time because of access to the memory of other nodes",
        cpus::breakdown::<2>,
    ),
    metric(
        All,
        "breakdown_smt",
        "share",
        "additional time because other hardware threads of the core are busy",
        cpus::breakdown::<3>,
    ),
    metric(
        All,
        "breakdown_refill",
        "share",
        "refilling caches after switches and migrations",
        cpus::breakdown::<4>,
    ),
    metric(
        All,
        "breakdown_spin",
        "share",
        "polling while waiting at barriers and for messages",
        cpus::breakdown::<5>,
    ),
    metric(All, "breakdown_lock_wait", "share", "polling while waiting for locks", cpus::breakdown::<6>),
    metric(All, "breakdown_yield", "share", "sched_yield calls", cpus::breakdown::<7>),
    metric(All, "breakdown_switch", "share", "context switches", cpus::breakdown::<8>),
    metric(All, "breakdown_migration", "share", "moving tasks between cpus", cpus::breakdown::<9>),
    metric(
        All,
        "breakdown_page_init",
        "share",
        "first writes to fresh pages at program start",
        cpus::breakdown::<10>,
    ),
    metric(
        All,
        "breakdown_kernel",
        "share",
        "other kernel work: ticks, wake-ups, sleeps, creation of tasks, interrupts",
        cpus::breakdown::<11>,
    ),
    metric(All, "breakdown_daemon", "share", "user-level scheduling daemons", cpus::breakdown::<12>),
    metric(All, "breakdown_idle", "share", "no task to run", cpus::breakdown::<13>),
    metric(
        All,
        "user_time_balance",
        "ratio",
        "smallest user time of a cpu divided by the largest one; 1 = even",
        cpus::user_time_balance,
    )
    .higher(),
    metric(
        All,
        "corrections",
        "count",
        "decisions of the policy that the engine refused or corrected",
        |s| Some(s.run.corrections as f64),
    ),
];
