//! Pages of the keys of a scenario, from its schema.

use serde_json::Value;

use super::example::apps;
use super::{Block, Kind, Page};
use scenario::schema::schema;

/// Keys of a scenario: the key with its value in the example, and more about it.
const SCENARIO: &[(&str, &str, &str)] = &[
    ("name", "name: example", "Letters, digits, `_` and `-`, at most 64. Required."),
    ("about", "about: Does it pay to pin?", "Reports show it at the head. Default: empty."),
    (
        "machine",
        "machine: { barcelona: { remote_factor: 1.5, distances: false } }",
        "A name (`oversim list machines`), the path of a machine file, or a description from the outermost level to the innermost, such as \"package:2 numa:1 core:8 pu:2\". Required.",
    ),
    (
        "kernel",
        "kernel: { linux-2.6.28: { yield: posix } }",
        "Default: the kernel of the machine, or `linux-2.6.28` if the machine has none.",
    ),
    (
        "apps",
        "apps:\n  code: { workload: { spmd: { work: 1s, intervals: 50 } } }\n  hog: { workload: hog, cpus: [0] }",
        "For each application a name and its keys. Required.",
    ),
    (
        "admission",
        "admission: { jobs: 1 }",
        "Applications start in the order of their arrival. The time that they wait is `queue_time`. Default: no limit.",
    ),
    (
        "policies",
        "policies: [LOAD, { SPEED: { interval: 50ms } }, { SPEED: { interval: 200ms }, as: slow }]",
        "Two entries of the same policy need different labels: `as: LABEL`. Required.",
    ),
    (
        "sweep",
        "sweep: { threads_per_core: [1, 2], kernel.tick: [1ms, 4ms] }",
        "Every combination of the values is a configuration, here 2 x 2 = 4. `--set` and `--sweep` use the same paths.",
    ),
    (
        "threads_per_core",
        "threads_per_core: 2",
        "Cores count, not hardware threads: 2 on 16 cores are 32 tasks. Default: 1.",
    ),
    (
        "baseline",
        "baseline: none",
        "Without dedicated runs there are fewer runs, but no slowdowns and no throughput. Default: `dedicated`.",
    ),
    (
        "best_partition",
        "best_partition: true",
        "The search simulates up to 48 partitions for each configuration. Its result is the reference `best-partition`. Default: `false`.",
    ),
    ("repeat", "repeat: 3", "Confidence intervals need at least 2. Default: 1."),
    (
        "seed",
        "seed: 7",
        "Replicate i uses seed + i under every policy, so all policies meet the same random work. Default: 1.",
    ),
    (
        "horizon",
        "horizon: 10s",
        "At most 240h. A run that is cut off counts in no result, and `oversim run` ends with status 1.",
    ),
    (
        "start_jitter",
        "start_jitter: 0s",
        "Default: one tick of the kernel, because real programs do not start in step with the timer. Use `0s` for results that you want to check on paper.",
    ),
    (
        "templates",
        "templates:\n  - &work { spmd: { work: 1s } }",
        "Define parts with YAML anchors (`&work`) here and use them with `*work`.",
    ),
];

/// Keys of an application: the application in the example, and more about the key.
const APP: &[(&str, &str, &str)] = &[
    ("workload", "code: { workload: { spmd: { work: 1s, intervals: 50, spread: 10% } } }", "Required."),
    (
        "runtime",
        "code: { workload: { spmd: { work: 1s } }, runtime: { openmp: { block_time: 0s } } }",
        "Default: `upc`.",
    ),
    (
        "tasks",
        "code: { workload: { spmd: { work: 1s } }, tasks: 17 }",
        "Default: `threads_per_core` times the number of cores. A background application has one task, and some workloads define their own number.",
    ),
    (
        "threads_per_core",
        "code: { workload: { spmd: { work: 1s } }, threads_per_core: 4 }",
        "Default: the value of the scenario.",
    ),
    (
        "start",
        "code: { workload: { spmd: { work: 1s } }, start: 50ms }",
        "A random part of `start_jitter` is added.",
    ),
    (
        "after",
        "first: { workload: { spmd: { work: 1s } } }\nsecond: { workload: { spmd: { work: 1s } }, after: first, start: 10ms }",
        "The file must list the named application first.",
    ),
    (
        "copies",
        "job: { workload: { spmd: { work: 1s } }, copies: 3, tasks: 8 }",
        "Their names are `job-1`, `job-2` and `job-3`. Results are means over the copies.",
    ),
    (
        "arrival",
        "job: { workload: { spmd: { work: 1s } }, copies: 3, arrival: { mean: 100ms } }",
        "Default: all copies arrive together.",
    ),
    (
        "cpus",
        "hog: { workload: { hog: { work: 100ms } }, cpus: '0-3,8' }",
        "No policy moves the application to other cpus. Default: all cpus.",
    ),
    (
        "background",
        "code: { workload: { spmd: { work: 1s } } }\nother: { workload: { hog: { work: 5s } }, background: true }",
        "Background applications have no run time. The default depends on the workload.",
    ),
    (
        "nice",
        "code: { workload: { spmd: { work: 1s } }, nice: 5 }",
        "Under CFS and EEVDF each step changes the weight by a factor of about 1.25.",
    ),
];

const FRAME: [&str; 4] = [
    "name: example",
    "machine: barcelona",
    "apps:\n  code: { workload: { spmd: { work: 1s, intervals: 50 } } }",
    "policies: [LOAD, PIN]",
];

pub(super) fn pages() -> Vec<Page> {
    let schema = schema();
    let of = |properties: &Value, at: &str, known: &'static [(&str, &str, &str)], app: bool| -> Vec<Page> {
        let properties = properties.as_object().into_iter().flatten();
        properties.map(|(key, schema)| page(key, at, schema, known, app)).collect()
    };
    let mut pages = of(&schema["properties"], "of a scenario", SCENARIO, false);
    let apps = &schema["properties"]["apps"]["additionalProperties"]["properties"];
    pages.extend(of(apps, "of an application", APP, true));
    pages
}

fn page(key: &str, at: &str, schema: &Value, known: &[(&str, &str, &str)], app: bool) -> Page {
    let about = schema["description"].as_str().unwrap_or_default().trim_end_matches('.');
    let page = Page::new(Kind::Key, key, &format!("key {at}: {about}"));
    let Some((_, fragment, more)) = known.iter().find(|(name, ..)| *name == key) else {
        return page.text("", about);
    };
    page.text("", more)
        .with("Example", vec![Block::Yaml(if app { of_app(fragment) } else { of_scenario(key, fragment) })])
}

/// The frame with the application's lines.
fn of_app(lines: &str) -> String {
    of_scenario("apps", &format!("apps:\n{}", apps(lines).trim_end()))
}

/// The frame with the key's line instead of its own line for that key, or at the end.
fn of_scenario(key: &str, fragment: &str) -> String {
    let mut parts: Vec<&str> = FRAME.to_vec();
    match parts.iter_mut().find(|part| part.starts_with(&format!("{key}:"))) {
        Some(part) => *part = fragment,
        None => parts.push(fragment),
    }
    parts.join("\n") + "\n"
}
