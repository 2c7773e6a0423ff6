//! Every key of a scenario, declared once: its type, meaning, default and example, and who may change it.

use policies::PolicyRegistry;
use serde_json::{Value as Json, json};
use sim_core::limits::{MAX_APPS, MAX_TASKS};

use crate::cgroups::{ControlGroups, GroupPath};
use crate::defaults::{DEFAULT_RUNTIME, MACHINE_KERNEL};
use crate::forms::{
    Anything, Baseline, Count, Cpus, Duration, Fidelity, Flag, Judged, Kernel, Machine, Name, Nice, Policies,
    Runtime, SchedulingPolicy, Text, Workload,
};
use crate::json::WORD;
use crate::key::{Edit, Form, Inside, Key, keys, names, properties};
use crate::limits::{MAX_HORIZON_NS, MAX_PER_CORE, MAX_REPEAT, MAX_SAMPLES, MAX_SEED};
use crate::nested::{Admitted, Arrivals, Rebinds};
use crate::program_keys::Program;
use workloads::runtimes::Role;

keys! {
    /// A scenario as written.
    #[expect(dead_code, reason = "`templates` are for anchors, and `uncertain` is read before the others")]
    struct Scenario

    /// Name in reports.
    name: Name {
        add: "name: cg_ft_share",
        edit: Edit::Set,
        more: "Letters, digits, `_` and `-`, at most 64. Required.",
        example: "name: example",
    }

    /// The question that the scenario answers, in one or two sentences.
    about: Text {
        edit: Edit::Set,
        more: "Reports show it at the head. Default: empty.",
        example: "about: Does it pay to pin?",
    }

    /// A name, a machine file or a description such as `package:8 numa:1 core:64 pu:2`, alone or with
    /// parameters.
    machine: Machine {
        add: "machine: barcelona",
        more: "A name (`oversim list machines`), the path of a machine file, or a description from \
            the outermost level to the innermost, such as \"package:2 numa:1 core:8 pu:2\". Required.",
        example: "machine: { barcelona: { remote_factor: 1.5, distances: false } }",
    }

    /// Operating-system model with the scheduler of each cpu (default: that of the machine, else
    /// linux-6.18), alone or with parameters.
    kernel: Kernel {
        default: MACHINE_KERNEL,
        more: "Default: the kernel of the machine, or `linux-6.18` if the machine has none.",
        example: "kernel: { linux-2.6.28: { yield: posix } }",
    }

    /// Applications by name.
    apps: Apps {
        add: "apps: { cg: { workload: { npb: { benchmark: cg } } } }",
        edit: Edit::Fixed,
        more: "For each application a name and its keys. Required.",
        example: "apps:\n\
            \x20 code: { workload: { spmd: { work: 1s, intervals: 50 } } }\n\
            \x20 hog: { workload: hog, cpus: [0] }",
    }

    /// Limit on the foreground applications that run at the same time. The others wait in a queue.
    admission: Admitted {
        more: "Applications start in the order of their arrival (`order: fcfs`, the default), or by EASY \
            backfilling (`order: easy`): while the first one waits, a later one starts if it fits and, by \
            the `estimate` of each, does not delay the first one. The time that they wait is `queue_time`. \
            Default: no limit.",
        example: "admission: { jobs: 1 }",
    }

    /// Control groups by path, with their weights (`cpu.weight` of cgroup v2) and limits (`cpu.max`).
    cgroups: ControlGroups {
        more: "Applications name theirs with `cgroup`. A group without an entry has weight 100. The \
            weight counts among the groups and tasks beside it, and each cpu has the part that its \
            queued tasks are of the group. A group with a `quota` is throttled when it has used that much \
            cpu time in a `period`, on all cpus together. `quota` is 1 ms to 1,000 s, `period` 1 ms to 1 s \
            (default 100 ms). The run of one of its applications alone is limited as well. Kernels \
            with CFS and EEVDF have groups, from 3.2 on with limits; `cpus` of an application does what a \
            cpuset does. Default: none.",
        example: "kernel: linux-6.18\n\
            cgroups: { batch: { weight: 50, quota: 150ms } }\n\
            apps:\n\
            \x20 code: { workload: { spmd: { work: 1s, intervals: 50 } } }\n\
            \x20 job: { workload: { spmd: { work: 1s } }, cgroup: batch/one }",
    }

    /// Policies to compare. The others are compared with the first one.
    policies: Policies {
        add: "policies: [LOAD, PIN]",
        edit: Edit::Fixed,
        more: "Two entries of the same policy need different labels: `as: LABEL`. Required.",
        example: "policies: [LOAD, { SPEED: { interval: 50ms } }, { SPEED: { interval: 200ms }, as: slow }]",
    }

    /// Paths and their values. Every combination runs.
    sweep: Sweep {
        edit: Edit::Fixed,
        more: "Every combination of the values is a configuration, here 2 x 3 = 6. `--set` and \
            `--sweep` use the same paths. Instead of a list, a range can be written: `1..10`, \
            `0%..20%:5%` (a step), `1..64:*2` (a factor), `1ms..1s:log7` (7 values at equal ratios), \
            `0%..20%:lin5` (5 values at equal distances). The paths of a `zip` change together. A `sample` \
            has `count` random combinations of the values of the paths in `over`: of ranges (`1ms..1s`, \
            `1ms..1s:log`) or lists, by the method `latin` (a Latin hypercube, the default) or `random`, \
            from a `seed` (default 1). `when` has conditions: only configurations that fulfil all of them \
            run.",
        example: "sweep: { threads_per_core: [1, 2], kernel.tick: 1ms..4ms:*2 }",
    }

    /// Paths whose values are known only within a range, each with the smallest and the largest value.
    uncertain: Uncertain {
        edit: Edit::Fixed,
        more: "An ordinary run has the single values of the scenario, which must lie in their ranges. \
            `oversim run --uncertainty=N` also runs the scenario N times with values drawn from these \
            ranges and from those of the machine's estimates; a range of a value of the machine replaces \
            that of its file. If the ends differ by more than a factor of 10, the logarithm is drawn \
            evenly, otherwise the value (a range from 0 too). What `--set` or `--sweep` states is not \
            drawn. Paths as in `sweep`, without those that it sweeps. Default: none.",
        example: "uncertain: { apps.code.workload.intervals: 10..1000, machine.switch_thread: 300ns..2us }\n\
            apps: { code: { workload: { spmd: { work: 1s, intervals: 50 } } } }",
    }

    /// Tasks per core of every foreground application without own `tasks` or `threads_per_core` (default
    /// 1).
    threads_per_core: Count<1, MAX_PER_CORE> {
        default: "1",
        more: "Cores count, not hardware threads: 2 on 16 cores are 32 tasks. Default: 1.",
        example: "threads_per_core: 2",
    }

    /// `dedicated`: each application also runs alone, pinned, with one thread per core, or with all its tasks
    /// where each has separate work (`hog`, `interactive`, `critical-section`). Slowdowns refer to these
    /// runs. `none`: no such runs.
    baseline: Baseline {
        default: "dedicated",
        edit: Edit::Set,
        more: "Without dedicated runs there are fewer runs, but no slowdowns and no throughput. \
            Default: `dedicated`.",
        example: "baseline: none",
    }

    /// What policies are judged by, in the answer and in comparisons.
    objective: Judged {
        edit: Edit::Set,
        more: "`run_time` of the only program; `makespan`, the time until all programs have ended; \
            `throughput`, the work for each second in dedicated runs; `worst_slowdown` of a program; \
            `turnaround`, the mean time from the arrival of a program to its end; `queue_time`, the mean \
            time from its arrival to its start; `response` and `response_p99`, the mean and the 99th \
            percentile of the times in which requests are answered; `lateness`, the largest time from a \
            `deadline` to the end of the work; `rate`, the work in a `window`. The default depends on the \
            kind of the scenario. The first rule that holds decides: \
            `response_p99` if a foreground application answers requests (`interactive`, `services`, \
            `daemon`); `throughput` of several programs in a `window`, or else `rate`; `turnaround` of \
            several programs if copies arrive over time, if there is an `admission`, or if each program has \
            one task; `throughput` of several programs, without dedicated runs `makespan`; `run_time` of one \
            program.",
        example: "objective: turnaround\n\
            apps:\n\
            \x20 long: { workload: { spmd: { work: 1s } }, tasks: 1 }\n\
            \x20 short: { workload: { spmd: { work: 100ms } }, tasks: 1 }",
    }

    /// How much of each run is simulated. `exact`: all of it. `sampled`: the passes of the loops of the
    /// programs until their mean length is known to 1 %; most of the others are extrapolated.
    fidelity: Fidelity {
        default: "exact",
        more: "`sampled` simulates at least a fifth of the passes of each loop. It measures anew after each \
            change of what runs: a program that starts, ends or reaches another loop. The 95 % confidence \
            interval of the mean length comes from batch means; its half-width is at most 1 % of the \
            mean, and it is added to the intervals of the results. Times, breakdowns and counters grow in \
            proportion. A run is simulated as a whole while the passes vary too much, and while programs \
            still arrive. Not together with `window`. Timelines and traces show exact runs. Default: \
            `exact`.",
        example: "fidelity: sampled\n\
            apps:\n\
            \x20 cg: { workload: { npb: { benchmark: cg, class: A } }, runtime: upc }",
    }

    /// Also search the best static partition of the cores among the applications by simulation.
    best_partition: Flag {
        default: "false",
        edit: Edit::Set,
        more: "The search simulates up to 48 partitions for each configuration. Its result is the \
            reference `best-partition`. Default: `false`.",
        example: "best_partition: true",
    }

    /// Also measure wake-up latencies and run lengths of each application.
    latencies: Flag {
        default: "false",
        edit: Edit::Set,
        more: "The metrics are `wakeup_latency_median`, `wakeup_latency_p90`, `wakeup_latency_p99`, \
            `wakeup_latency_max` and the same four of `run_length`. Default: `false`.",
        example: "latencies: true",
    }

    /// Number of runs of each configuration and policy, each with its own seed (default 1).
    repeat: Count<1, MAX_REPEAT> {
        default: "1",
        edit: Edit::Set,
        more: "Confidence intervals need at least 2. Default: 1.",
        example: "repeat: 3",
    }

    /// Seed of the first run, the same for all policies (default 1).
    seed: Count<0, MAX_SEED> {
        default: "1",
        edit: Edit::Set,
        more: "Replicate i uses seed + i under every policy, so all policies meet the same random \
            work. Default: 1.",
        example: "seed: 7",
    }

    /// Simulated time at which a run is cut off (default 1h).
    horizon: Duration<1, MAX_HORIZON_NS> {
        default: "1h",
        more: "At most 240h. A run that is cut off counts in no result, and `oversim run` ends with \
            status 1.",
        example: "horizon: 10s",
    }

    /// Length of a window in which work is counted, for programs that do not end.
    window: Duration<1, MAX_HORIZON_NS> {
        more: "A run ends with its window, and no foreground application may end before. Results have \
            `work_rate` and `barrier_rate` instead of run times, of background applications too. A \
            slowdown is the ratio of two work rates. Where all applications are such as never end \
            (`hog`), they are in the foreground. Default: no window.",
        example: "window: 200ms\n\
            apps:\n\
            \x20 code: { workload: { spmd: { work: 100s, intervals: 10000 } } }\n\
            \x20 hog: { workload: hog, tasks: 4 }",
    }

    /// Time before the window: what happens in it does not count.
    warm_up: Duration<0, MAX_HORIZON_NS> {
        more: "Only with `window`. Each run is simulated a second time up to here. Default: `0s`.",
        example: "window: 200ms\n\
            warm_up: 50ms\n\
            apps:\n\
            \x20 code: { workload: { spmd: { work: 100s, intervals: 10000 } } }",
    }

    /// Largest random delay of the arrival of an application, drawn from the seed (default: one timer
    /// tick).
    start_jitter: Duration<0, MAX_HORIZON_NS> {
        more: "Default: one tick of the kernel, because real programs do not start in step with the \
            timer. Use `0s` for results that you want to check on paper.",
        example: "start_jitter: 0s",
    }

    /// Not read: a place for YAML anchors.
    templates: Anything {
        edit: Edit::Fixed,
        more: "Define parts with YAML anchors (`&work`) here and use them with `*work`.",
        example: "templates:\n\
            \x20 - &work { spmd: { work: 1s } }",
    }
}

keys! {
    /// An application as written.
    struct Application

    /// The program, by the name of a workload.
    workload: Workload {
        add: "workload: { npb: { benchmark: cg, class: B } }",
        more: "Required, or else a `program`.",
        example: "code: { workload: { spmd: { work: 1s, intervals: 50, spread: 10% } } }",
    }

    /// The program, written in the scenario or in a file beside it: kinds of tasks with their statements, and
    /// what they share.
    program: Program {
        more: "In place of `workload`. Tasks compute, sleep, wait for clocks and devices, and share locks, \
            conditions, semaphores, queues, barriers and graphs of jobs. Several kinds of tasks appear in \
            results as `app-kind`. The runtime is `block` unless stated. A program has no dedicated run, so \
            no slowdown. `docs/programs.md` has examples and all statements.",
        example: "shop: { program: { arrivals: { jobs: { mean: 10ms, count: 100 } }, count: 2, \
            code: 'share 100 { receive jobs; run 5ms exponential }' } }",
    }

    /// How its tasks start, wait and meet at barriers (default upc).
    runtime: Runtime {
        default: DEFAULT_RUNTIME,
        more: "A program of processes with threads (`hybrid`) can have two runtimes: `mpi` for what the \
            processes do with each other, `openmp` for the threads of each process. Paths of sweeps reach \
            them: `apps.job.runtime.openmp`, `apps.job.runtime.mpi.yielding`. Default: `upc`.",
        example: "code: { workload: { spmd: { work: 1s } }, runtime: { openmp: { block_time: 0s } } }\n\
            job: { workload: { hybrid: { work: 1s, processes: 2 } }, \
            runtime: { mpi: openmpi, openmp: libgomp } }",
    }

    /// Number of tasks.
    tasks: Count<1, MAX_TASKS> {
        more: "Default: `threads_per_core` times the number of cores. A background application has \
            one task, and some workloads define their own number (`interactive` 1, `make` 16).",
        example: "code: { workload: { spmd: { work: 1s } }, tasks: 17 }",
    }

    /// Tasks for each core that it may use, instead of `tasks`.
    threads_per_core: Count<1, MAX_TASKS> {
        more: "Default: the value of the scenario.",
        example: "code: { workload: { spmd: { work: 1s } }, threads_per_core: 4 }",
    }

    /// Time of its arrival (default 0s), with `after` counted from the end of that application.
    start: Duration<0, MAX_HORIZON_NS> {
        default: "0s",
        more: "A random part of `start_jitter` is added.",
        example: "code: { workload: { spmd: { work: 1s } }, start: 50ms }",
    }

    /// It arrives when this application has ended. The file must list that one first.
    after: Text {
        more: "The file must list the named application first.",
        example: "first: { workload: { spmd: { work: 1s } } }\n\
            second: { workload: { spmd: { work: 1s } }, after: first, start: 10ms }",
    }

    /// Number of copies (default 1). Results are means over them.
    copies: Count<1, { MAX_APPS as u64 }> {
        default: "1",
        more: "Their names are `job-1`, `job-2` and `job-3`. Results are means over the copies.",
        example: "job: { workload: { spmd: { work: 1s } }, copies: 3, tasks: 8 }",
    }

    /// Arrival of the copies after the first one (default: all together).
    arrival: Arrivals {
        more: "Default: all copies arrive together.",
        example: "job: { workload: { spmd: { work: 1s } }, copies: 3, arrival: { mean: 100ms } }",
    }

    /// How long after its release a piece of work should be done: a request after its wake-up, a program
    /// after its arrival.
    deadline: Duration<1, MAX_HORIZON_NS> {
        more: "Results have the lateness (end - deadline, negative when early) and the share of missed \
            deadlines; `EDF` runs the earliest deadline first. Nothing is stopped at its deadline. Default: \
            the period of copies that arrive at one (`arrival: { every: 20ms }`), otherwise none.",
        example: "job: { workload: { spmd: { work: 5ms } }, tasks: 1, copies: 3, arrival: { every: 20ms }, \
            deadline: 10ms }",
    }

    /// Run time that its user states, from its start to its end, for `order: easy` of `admission`.
    estimate: Duration<1, MAX_HORIZON_NS> {
        more: "A batch system plans with it which job may overtake. Batch systems stop a job at its \
            estimate; here it runs on, and is expected to end at any moment. Without `order: easy` it has \
            no effect. Default: none.",
        example: "admission: { threads: 8, order: easy }\n\
            apps:\n\
            \x20 wide: { workload: { spmd: { work: 2s } }, tasks: 8, copies: 2, estimate: 400ms }\n\
            \x20 narrow: { workload: { spmd: { work: 200ms } }, tasks: 2, estimate: 200ms }",
    }

    /// Cpus that it may use: a list, or a text such as `0-3,8`, or `linux:0-3` in the numbers of Linux.
    cpus: Cpus {
        more: "No policy moves the application to other cpus. Default: all cpus.",
        example: "hog: { workload: { hog: { work: 100ms } }, cpus: '0-3,8' }",
    }

    /// Changes of the cpus that it may use, in the course of the run: a list of times and cpus.
    affinity: Rebinds {
        more: "At each time after its start all tasks get this affinity mask (as with `taskset -ap`). A \
            task that runs elsewhere moves at once. A policy that binds tasks later overrides it. Default: \
            no change.",
        example: "code: { workload: { spmd: { work: 1s } }, affinity: [{ at: 100ms, cpus: '0-3' }] }",
    }

    /// Whether the run ends without waiting for it, as with hogs and daemons.
    background: Flag {
        more: "Background applications have no run time. The default depends on the workload; with a \
            `window` and nothing else, what never ends is in the foreground.",
        example: "code: { workload: { spmd: { work: 1s } } }\n\
            other: { workload: { hog: { work: 5s } }, background: true }",
    }

    /// Nice value, from -20 (most cpu time) to 19 (default 0), or a list with one for each rank,
    /// repeated for further ranks.
    nice: Nice {
        default: "0",
        more: "Under CFS and EEVDF each step changes the weight by a factor of about 1.25.",
        example: "code: { workload: { spmd: { work: 1s } }, nice: 5 }\n\
            other: { workload: { spmd: { work: 1s } }, tasks: 4, nice: [0, 0, 10, 10] }",
    }

    /// Scheduling policy of its tasks: `other`, `batch`, `idle`, `{ fifo: 50 }` or `{ rr: 50 }` (SCHED_OTHER,
    /// ...; the last two with a priority from 1 to 99), `{ deadline: { runtime: 3ms, period: 10ms } }`
    /// (SCHED_DEADLINE, also with a `deadline` from the runtime to the period), or a list with one for each
    /// rank.
    scheduling: SchedulingPolicy {
        default: "other",
        more: "Tasks of `fifo` and `rr` run before all others, the higher priority first; of equals the \
            first runs until it sleeps (`fifo`) or for `rr_timeslice` of the kernel (`rr`). `rt_runtime` and \
            `fair_server` of the kernel, one of Linux, limit them. Those of `deadline` run before these, \
            the earliest deadline first, for at most `runtime` in each `period`; reservations of more than \
            95 % of the cpus are refused, as by Linux (`deadline_limit`). Tasks of `batch` preempt no task \
            when they wake. Tasks of `idle` have a weight of 3 whatever their nice value, and any other task \
            that wakes preempts them; both need a kernel with EEVDF. Default: `other`.",
        example: "kernel: linux-6.18\n\
            apps:\n\
            \x20 code: { workload: { spmd: { work: 1s } } }\n\
            \x20 filler: { workload: { spmd: { work: 1s } }, scheduling: idle }\n\
            \x20 control: { workload: interactive, scheduling: { fifo: 50 } }",
    }

    /// Slice of each of its tasks (sched_setattr), from 0.1ms to 100ms: how much cpu time it asks for at a
    /// time.
    slice: Duration<100_000, 100_000_000> {
        more: "A task with a shorter slice has earlier deadlines, and pre-empts one with a longer slice \
            when it wakes (PREEMPT_SHORT); its share of the cpu stays the same. Kernels with EEVDF have it \
            from `linux-6.12.0` on. Default: the slice of the kernel.",
        example: "kernel: linux-6.18\n\
            apps:\n\
            \x20 code: { workload: { spmd: { work: 1s } } }\n\
            \x20 server: { workload: interactive, slice: 500us }",
    }

    /// Session in which it is started. The applications of a session share the weight of one nice-0 task, as
    /// with autogroup.
    session: Name {
        more: "Linux forms a group for each session (setsid) while `sched_autogroup_enabled` is 1, \
            the default of RHEL, Ubuntu and desktops. Only kernels with CFS and EEVDF have groups. \
            Default: no group, or one of its own where the kernel has `autogroup: true`.",
        example: "kernel: linux-6.18\n\
            apps:\n\
            \x20 make: { workload: { spmd: { work: 1s } }, session: terminal1 }\n\
            \x20 code: { workload: { spmd: { work: 1s } }, session: terminal2 }",
    }

    /// Path of the control group in which it runs, from the outermost group on: `batch/low`.
    cgroup: GroupPath {
        more: "Groups nest as their paths do. Weights are in `cgroups`. Only kernels with CFS and EEVDF \
            have groups. Default: no group.",
        example: "kernel: linux-6.18\n\
            apps:\n\
            \x20 job: { workload: { spmd: { work: 1s } }, cgroup: slurm/job1 }\n\
            \x20 other: { workload: { spmd: { work: 1s } }, cgroup: slurm/job2 }",
    }
}

/// The keys of a scenario.
pub const SCENARIO: &[Key] = Scenario::KEYS;
/// The keys of an application.
pub const APPLICATION: &[Key] = Application::KEYS;

/// Applications by name.
pub(crate) struct Apps;

impl Form for Apps {
    fn schema(key: &Key, policies: &PolicyRegistry) -> Json {
        json!({
            "type": "object",
            "description": key.about(),
            "minProperties": 1,
            "propertyNames": { "pattern": WORD },
            "additionalProperties": {
                "type": "object",
                "oneOf": [{ "required": ["workload"] }, { "required": ["program"] }],
                "additionalProperties": false,
                "properties": properties(APPLICATION, policies),
            },
        })
    }
}

/// The keys of `sweep` that are no paths.
const WORDS: [&str; 3] = ["zip", "sample", "when"];

/// Paths and the values that each takes.
pub(crate) struct Sweep;

impl Sweep {
    /// The regular expression of all paths, without anchors.
    fn pattern() -> String {
        let forms: Vec<String> = Self::paths().into_iter().map(|(form, _)| form).collect();
        forms.join("|")
    }

    /// What the regular expression of a path and its description have for each form.
    fn paths() -> Vec<(String, Vec<String>)> {
        let swept = || SCENARIO.iter().filter(|key| key.allows(Edit::Sweep));
        let chosen = |keys: &mut dyn Iterator<Item = &Key>| -> Vec<&'static str> {
            keys.filter(|key| matches!(key.inside, Inside::Parameters)).map(|key| key.name).collect()
        };
        let mut paths: Vec<(String, Vec<String>)> = Vec::new();
        for key in swept() {
            paths.push((key.name.to_owned(), vec![key.name.to_owned()]));
        }
        for key in swept() {
            if let Inside::Keys(keys) = key.inside {
                let (name, keys) = (key.name, names(keys));
                let each = keys.iter().map(|key| format!("{name}.{key}")).collect();
                paths.push((format!(r"{name}\.({})", keys.join("|")), each));
            }
            if let Inside::Named(keys) = key.inside {
                let (name, keys) = (key.name, names(keys));
                let each = keys.iter().map(|key| format!("{name}.NAME.{key}")).collect();
                paths.push((format!(r"{name}\.[^.]+\.({})", keys.join("|")), each));
            }
        }
        let named = chosen(&mut swept());
        let each = named.iter().map(|name| format!("{name}.PARAMETER")).collect();
        paths.push((format!(r"({})\.[^.]+", named.join("|")), each));
        paths.push((r"apps\.[^.]+\.[^.]+".to_owned(), vec!["apps.APP.KEY".to_owned()]));
        let each = ["values.NAME", "queues.NAME.places", "kinds.KIND.count"];
        let each = each.map(|rest| format!("apps.APP.program.{rest}")).to_vec();
        paths.push((r"apps\.[^.]+\.program\..+".to_owned(), each));
        let named = chosen(&mut APPLICATION.iter());
        let each = named.iter().map(|name| format!("apps.APP.{name}.PARAMETER")).collect();
        paths.push((format!(r"apps\.[^.]+\.({})\.[^.]+", named.join("|")), each));
        for key in APPLICATION {
            if let Inside::Either(keys) = key.inside {
                let (name, keys) = (key.name, names(keys));
                let each = keys.iter().map(|key| format!("apps.APP.{name}.{key}")).collect();
                paths.push((format!(r"apps\.[^.]+\.{name}\.({})", keys.join("|")), each));
            }
        }
        let roles = Role::ALL.map(Role::name);
        let each = roles.iter().map(|role| format!("apps.APP.runtime.{role}.PARAMETER")).collect();
        paths.push((format!(r"apps\.[^.]+\.runtime\.({})\.[^.]+", roles.join("|")), each));
        let each = ["PARAMETER", "over"].map(|rest| format!("policies.LABEL.{rest}"));
        paths.push((r"policies\.[^.]+\.[^.]+".to_owned(), each.to_vec()));
        let each = ["over", "perturb"].map(|rest| format!("policies.LABEL.{rest}.PARAMETER"));
        paths.push((r"policies\.[^.]+\.(over|perturb)\.[^.]+".to_owned(), each.to_vec()));
        paths
    }
}

/// Paths and the range of each.
pub(crate) struct Uncertain;

impl Form for Uncertain {
    fn schema(key: &Key, _: &PolicyRegistry) -> Json {
        json!({
            "type": "object",
            "description": key.about(),
            "propertyNames": { "pattern": format!("^({})$", Sweep::pattern()) },
            "additionalProperties": { "type": "string", "pattern": r"^[0-9][^:]*\.\.\s*[0-9][^:]*$" },
        })
    }
}

impl Form for Sweep {
    fn schema(key: &Key, _: &PolicyRegistry) -> Json {
        let path = Self::pattern();
        let values = json!({
            "anyOf": [
                { "type": "array", "minItems": 1 },
                { "type": "string", "pattern": r"^[0-9].*\.\..*[0-9]" },
            ],
        });
        let axes = json!({
            "type": "object",
            "propertyNames": { "pattern": format!("^({path})$") },
            "additionalProperties": values,
        });
        let condition = json!({ "type": "string" });
        json!({
            "type": "object",
            "description": key.about(),
            "propertyNames": { "pattern": format!("^({path}|{})$", WORDS.join("|")) },
            "properties": {
                "zip": {
                    "description": "Paths whose values change together: a mapping, or a list of mappings.",
                    "anyOf": [axes, { "type": "array", "items": axes }],
                },
                "sample": {
                    "type": "object",
                    "description": "Random combinations of the values of the paths in `over`.",
                    "required": ["count", "over"],
                    "additionalProperties": false,
                    "properties": {
                        "count": { "type": "integer", "minimum": 1, "maximum": MAX_SAMPLES },
                        "seed": { "type": "integer", "minimum": 0 },
                        "method": { "enum": ["latin", "random"] },
                        "over": axes,
                    },
                },
                "when": {
                    "description": "Conditions on the configurations, all of which must hold.",
                    "anyOf": [condition, { "type": "array", "items": condition }],
                },
            },
            "additionalProperties": values,
        })
    }

    fn describe(meaning: &str) -> String {
        let paths = Self::paths().into_iter().flat_map(|(_, each)| each);
        let paths: Vec<String> = paths.map(|path| format!("`{path}`")).collect();
        format!("{meaning} Paths: {}.", paths.join(", "))
    }
}
