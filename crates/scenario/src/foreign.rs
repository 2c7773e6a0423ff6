//! Files that people have and that are no scenarios: job logs, traces, other simulators' inputs. The error
//! about one names its format and says how to write the same as a scenario.

/// A sentence about a text in a known format of another program; none when it is in none of them.
#[must_use]
pub(crate) fn recognised(text: &str) -> Option<&'static str> {
    let first = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let head = || text.lines().take(200);
    let json = text.trim_start().starts_with('{');
    if json && quoted(text, "tasks") && ["run", "sleep", "loop", "timer"].iter().any(|key| quoted(text, key))
    {
        return Some(
            "it is a file of rt-app (JSON with `tasks`). A task that runs 20 ms in each period of 100 ms is \
                `workload: { daemon: { burst: 20ms, pause: 80ms } }`; see `oversim explain daemon`",
        );
    }
    if json && quoted(text, "jobs") && quoted(text, "profiles") {
        return Some(
            "it is a workload of Batsim (JSON with `jobs` and `profiles`). Write one application for each \
             job, \
                with `start` as its submission time, and limit them by `admission`; see `oversim explain \
                admission`",
        );
    }
    if head().any(|line| line.contains("sched_switch") || line.starts_with("# tracer:")) {
        return Some(
            "it is a trace of Linux's scheduler (ftrace, trace-cmd or perf script), and oversim writes such \
             traces \
                but reads none. Take the run and sleep times of a task from it and write them as `workload: \
                { daemon: \
                { ... } }`; see `oversim explain 'perf sched'`",
        );
    }
    if first().next().is_some_and(|line| line.starts_with(';') || swf(line))
        && first().find(|line| !line.starts_with(';')).is_some_and(swf)
    {
        return Some(
            "it is a job log in the Standard Workload Format (SWF: 18 numbers in each line). Write one \
             application \
                for each job: `start` is the second number, `tasks` the fifth, the work of a task the \
                fourth; see \
                `oversim explain admission`",
        );
    }
    if first().next().is_some_and(|line| line.starts_with("JobID")) {
        return Some(
            "it is a table of sacct. Write one application for each job: `tasks` is AllocCPUS, the work of a \
             task \
                TotalCPU divided by it, `start` the time since the first Start; see `oversim explain Slurm`",
        );
    }
    if head().any(|line| line.starts_with("#SBATCH")) {
        return Some(
            "it is a job script of Slurm. Write what it starts as applications: `tasks` is the number of its \
                processes times their threads, `cpus` what it may use; see `oversim explain srun`",
        );
    }
    let key = |name: &str| text.lines().any(|line| line.starts_with(name));
    if key("apiVersion:") && key("kind:") {
        return Some(
            "it is an object of Kubernetes. Write each container as an application with a `cgroup`: the cpu \
             limit \
                is its `quota` in a `period`, the cpu request its `weight`; see `oversim explain cpu.max`",
        );
    }
    if key("<!DOCTYPE topology") || key("<topology") {
        return Some(
            "it is a machine in hwloc's XML. `oversim machine import FILE -o mine.yaml` makes a machine file \
             of it, \
                and a scenario names that file by `machine: mine.yaml`",
        );
    }
    None
}

/// A line of 18 numbers.
fn swf(line: &str) -> bool {
    let mut words = 0;
    let numbers = line.split_whitespace().all(|word| {
        words += 1;
        word.parse::<f64>().is_ok()
    });
    numbers && words == 18
}

/// Whether a text has this word as a key of JSON.
fn quoted(text: &str, key: &str) -> bool {
    text.match_indices(&format!("\"{key}")).any(|(at, found)| {
        // rt-app numbers keys that come twice: `run0`, `sleep1`.
        let rest = text[at + found.len()..].trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_prefix('"').is_some_and(|rest| rest.trim_start().starts_with(':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::BUILT_IN;

    #[test]
    fn formats_of_other_programs_are_named_with_a_way_on() {
        for (text, name) in [
            ("; Version: 2.2\n1 0 10 100 4 -1 -1 4 200 -1 1 1 1 1 1 -1 -1 -1\n", "SWF"),
            ("1 0 10 100 4 -1 -1 4 200 -1 1 1 1 1 1 -1 -1 -1\n", "SWF"),
            (r#"{"tasks": {"t": {"loop": -1, "run": 20000, "sleep": 80000}}}"#, "rt-app"),
            (r#"{ "tasks" : { "t" : { "run0" : 20000, "sleep0": 1 } } }"#, "rt-app"),
            (r#"{"nb_res": 4, "jobs": [], "profiles": {}}"#, "Batsim"),
            ("  a 1 [001] 12.3: sched:sched_switch: a:1 [120] R ==> b:2 [120]\n", "perf script"),
            ("# tracer: nop\n#\n", "ftrace"),
            ("JobID|Elapsed|AllocCPUS\n1|00:01|4\n", "sacct"),
            ("#!/bin/bash\n#SBATCH -n 4\nsrun ./a\n", "Slurm"),
            ("apiVersion: v1\nkind: Pod\n", "Kubernetes"),
            ("<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n", "hwloc"),
        ] {
            let said = recognised(text).unwrap_or_default();
            assert!(said.contains(name) && said.contains('`'), "{text}: {said}");
        }
    }

    #[test]
    fn a_scenario_and_a_result_are_none_of_them() {
        for scenario in BUILT_IN {
            assert_eq!(recognised(scenario.text), None, "{}", scenario.name);
        }
        for text in ["", "{}", "{\"schema\": \"oversim.result/3\", \"tasks\": 3}", "name: x\n", "1 2 3\n"] {
            assert_eq!(recognised(text), None, "{text}");
        }
    }
}
