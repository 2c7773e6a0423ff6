//! Pages of the keys of a scenario, from its schema.

use serde_json::Value;

use super::example::apps;
use super::{Block, Page, Shelf};
use crate::schema::schema;

/// Keys of a scenario: what stands in the example in place of, or after, the key's line, and more about it.
const SCENARIO: &[(&str, &str, &str)] = &[
    ("name", "name: example", "Letters, digits, `_` and `-`, at most 64. Must be given."),
    ("about", "about: Does it pay to pin?", "Shown at the head of every report. Empty unless given."),
    (
        "machine",
        "machine: { barcelona: { remote_factor: 1.5, distances: false } }",
        "A name (`oversim list machines`), the path of a machine file, or a description from the outside in such as \"package:2 numa:1 core:8 pu:2\". Must be given.",
    ),
    (
        "kernel",
        "kernel: { linux-2.6.28: { yield: posix } }",
        "The machine's own unless given; `linux-2.6.28` for machines without one.",
    ),
    (
        "apps",
        "apps:\n  code: { workload: { spmd: { work: 1s, intervals: 50 } } }\n  hog: { workload: hog, cpus: [0] }",
        "A name for each, and its keys. Must be given.",
    ),
    (
        "admission",
        "admission: { jobs: 1 }",
        "First come, first served, nobody overtakes; waiting is `queue_time`. No limit unless given.",
    ),
    (
        "policies",
        "policies: [LOAD, { SPEED: { interval: 50ms } }, { SPEED: { interval: 200ms }, as: slow }]",
        "Two entries of the same policy need `as: LABEL`. Must be given.",
    ),
    (
        "sweep",
        "sweep: { threads_per_core: [1, 2], kernel.tick: [1ms, 4ms] }",
        "Every combination is a configuration: here 2 x 2 = 4. `--set` uses the same paths.",
    ),
    (
        "threads_per_core",
        "threads_per_core: 2",
        "1 unless given. Cores count, not hardware threads: 2 on 16 cores are 32 tasks.",
    ),
    (
        "baseline",
        "baseline: none",
        "Without dedicated runs there are no slowdowns and no throughput, and fewer runs.",
    ),
    (
        "best_partition",
        "best_partition: true",
        "Up to 48 divisions are simulated at each configuration; the best one is the reference `best-cut`. `false` unless given.",
    ),
    ("repeat", "repeat: 3", "1 unless given. Confidence intervals need at least 2."),
    (
        "seed",
        "seed: 7",
        "1 unless given. Replicate i uses seed + i under every policy, so all meet the same variation.",
    ),
    (
        "horizon",
        "horizon: 10s",
        "At most 240h. A run that is cut off counts in no cell, and `oversim run` ends with status 1.",
    ),
    (
        "start_jitter",
        "start_jitter: 0s",
        "One tick of the kernel unless given: nobody starts programs in step with the timer. `0s` for cases by hand.",
    ),
    (
        "templates",
        "templates:\n  - &work { spmd: { work: 1s } }",
        "Names of YAML anchors are used with `*work`.",
    ),
];

/// Keys of an application: the application's line, and more about it.
const APP: &[(&str, &str, &str)] = &[
    ("workload", "code: { workload: { spmd: { work: 1s, intervals: 50, spread: 10% } } }", "Must be given."),
    (
        "runtime",
        "code: { workload: { spmd: { work: 1s } }, runtime: { openmp: { block_time: 0s } } }",
        "`upc` unless given.",
    ),
    (
        "tasks",
        "code: { workload: { spmd: { work: 1s } }, tasks: 17 }",
        "As many as `threads_per_core` says unless given.",
    ),
    (
        "threads_per_core",
        "code: { workload: { spmd: { work: 1s } }, threads_per_core: 4 }",
        "That of the scenario unless given.",
    ),
    ("start", "code: { workload: { spmd: { work: 1s } }, start: 50ms }", "Lengthened by `start_jitter`."),
    (
        "after",
        "first: { workload: { spmd: { work: 1s } } }\nsecond: { workload: { spmd: { work: 1s } }, after: first, start: 10ms }",
        "The application named must stand before it.",
    ),
    (
        "copies",
        "job: { workload: { spmd: { work: 1s } }, copies: 3, tasks: 8 }",
        "They are called `job-1`, `job-2`, `job-3`; results are means over them.",
    ),
    (
        "arrival",
        "job: { workload: { spmd: { work: 1s } }, copies: 3, arrival: { mean: 100ms } }",
        "All together unless given.",
    ),
    (
        "cpus",
        "hog: { workload: { hog: { work: 100ms } }, cpus: '0-3,8' }",
        "All unless given. No policy moves it elsewhere.",
    ),
    (
        "background",
        "code: { workload: { spmd: { work: 1s } } }\nother: { workload: { hog: { work: 5s } }, background: true }",
        "As the workload says unless given; background applications have no run time.",
    ),
    (
        "nice",
        "code: { workload: { spmd: { work: 1s } }, nice: 5 }",
        "A step is a factor of about 1.25 in weight on CFS and EEVDF.",
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
    let page = Page::new(Shelf::Key, key, &format!("key {at}: {about}"));
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

/// The frame with the key's line in the place of its own, or at the end.
fn of_scenario(key: &str, fragment: &str) -> String {
    let mut parts: Vec<&str> = FRAME.to_vec();
    match parts.iter_mut().find(|part| part.starts_with(&format!("{key}:"))) {
        Some(part) => *part = fragment,
        None => parts.push(fragment),
    }
    parts.join("\n") + "\n"
}
