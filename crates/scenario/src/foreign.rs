//! Files that people have and that are no scenarios: job logs, traces, other simulators' inputs. The error
//! about one names its format and says how to write the same as a scenario.

/// A sentence about a text in a known format of another program; none when it is in none of them.
#[must_use]
pub(crate) fn recognised(text: &str) -> Option<&'static str> {
    let first = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let head = || text.lines().take(200);
    let key = |name: &str| text.lines().any(|line| line.starts_with(name));
    let traced = |line: &str| line.contains("sched_switch") && !line.trim_start().starts_with('#');
    if head().any(traced) || first().next().is_some_and(|line| line.starts_with("# tracer:")) {
        return Some(
            "it is a trace of Linux's scheduler (ftrace, trace-cmd or perf script), and oversim writes such \
             traces \
                but reads none. Take the run and sleep times of a task from it and write them as `workload: \
                { daemon: \
                { ... } }`; see `oversim explain 'perf sched'`",
        );
    }
    if let Some(form) = imported(text) {
        return Some(form);
    }
    if first().next().is_some_and(|line| line.starts_with("JobID")) {
        return Some("it is a table of sacct: `oversim profile` makes a scenario of it");
    }
    if head().any(|line| line.starts_with("#SBATCH")) {
        return Some(
            "it is a job script of Slurm. Write what it starts as applications: `tasks` is the number of its \
                processes times their threads, `cpus` what it may use; see `oversim explain srun`",
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

/// As [`recognised`], for what `oversim import` makes scenarios of.
fn imported(text: &str) -> Option<&'static str> {
    let first = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let head = || text.lines().take(200);
    let key = |name: &str| text.lines().any(|line| line.starts_with(name));
    let keys = outermost(text);
    let json = |name: &str| keys.contains(&name);
    if json("jobs") && json("profiles") {
        return Some(
            "it is a workload of Batsim (JSON with `jobs` and `profiles`). `oversim import FILE -o \
                mine.yaml` makes a scenario of it; see docs/import.md",
        );
    }
    if json("tasks") && ["run", "sleep", "loop", "timer"].iter().any(|key| quoted(text, key)) {
        return Some(
            "it is a file of rt-app (JSON with `tasks`). `oversim import FILE -o mine.yaml` makes a scenario \
                of it; see docs/import.md",
        );
    }
    if first().next().is_some_and(|line| line.starts_with(';') || swf(line))
        && first().find(|line| !line.starts_with(';')).is_some_and(swf)
    {
        return Some(
            "it is a job log in the Standard Workload Format (SWF: 18 numbers in each line). `oversim import \
                FILE --jobs 100 -o mine.yaml` makes a scenario of it; see docs/import.md",
        );
    }
    if key("apiVersion:") && key("kind:") || json("apiVersion") && json("kind") {
        return Some(
            "it is an object of Kubernetes. `oversim import FILE -o mine.yaml` makes a scenario of its \
                requests and limits; see docs/import.md",
        );
    }
    if key("services:") || json("services") {
        return Some(
            "it is a compose file of docker. `oversim import FILE -o mine.yaml` makes a scenario of its \
                limits; see docs/import.md",
        );
    }
    let group = |line: &str| {
        let path = line.split(':').next().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or(path);
        line.contains(':') && matches!(name, "cpu.max" | "cpu.weight" | "cpuset.cpus" | "cgroup.procs")
    };
    if head().any(|line| !line.trim_start().starts_with('#') && group(line)) {
        return Some(
            "it has files of cgroup v2. `oversim import FILE -o mine.yaml` makes a scenario of their limits; \
                see docs/import.md",
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

/// The keys of the outermost object of JSON, which may have comments; none for other texts.
fn outermost(text: &str) -> Vec<&str> {
    let (mut rest, mut depth, mut keys) = (text, 0_usize, Vec::new());
    loop {
        rest = rest.trim_start();
        let Some(c) = rest.chars().next() else { return keys };
        if rest.starts_with("/*") || rest.starts_with("//") {
            let end = if rest.starts_with("/*") { "*/" } else { "\n" };
            rest = rest.split_once(end).map_or("", |(_, behind)| behind);
            continue;
        }
        if depth == 0 && c != '{' {
            return keys;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' if depth == 1 => return keys,
            '}' | ']' => depth -= 1,
            '"' => {
                let mut escaped = false;
                let end = rest.find(|c| {
                    let ends = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                });
                let Some(end) = end else { return keys };
                let word = &rest[..end];
                rest = &rest[end + 1..];
                if depth == 1 && rest.trim_start().starts_with(':') {
                    keys.push(word);
                }
            }
            _ => {}
        }
    }
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
            ("/* \" */ // {\n{ \"tasks\": { \"t\": { \"run\": 1 } } }", "rt-app"),
            (r#"{"nb_res": 4, "jobs": [{"tasks": {"run": 1}}], "profiles": {}, "tasks": 1}"#, "Batsim"),
            (r#"{"services": {"web": {"cpus": 1.5}}}"#, "compose"),
            ("  a 1 [001] 12.3: sched:sched_switch: a:1 [120] R ==> b:2 [120]\n", "perf script"),
            ("# tracer: nop\n#\n", "ftrace"),
            ("JobID|Elapsed|AllocCPUS\n1|00:01|4\n", "sacct"),
            ("#!/bin/bash\n#SBATCH -n 4\nsrun ./a\n", "Slurm"),
            ("apiVersion: v1\nkind: Pod\n", "Kubernetes"),
            ("services:\n  web: { cpus: 1.5 }\n", "compose"),
            ("./a.slice/cpu.max:max 100000\n", "cgroup v2"),
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
        for text in [
            "",
            "{}",
            "{\"schema\": \"oversim.result/3\", \"tasks\": 3}",
            "name: x\n",
            "1 2 3\n",
            "# as sched_switch shows\n# ./a/cpu.max:max\nname: x\n# tracer: none\n",
            r#"{"apps": {"a": {"tasks": 3, "program": {"code": [{"run": "1ms"}]}}}, "x": "jobs"}"#,
        ] {
            assert_eq!(recognised(text), None, "{text}");
        }
    }
}
