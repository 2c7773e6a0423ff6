//! Pages of the keys of a scenario and of its applications, from their declarations.

use scenario::Key;
use scenario::keys::{APPLICATION, SCENARIO};

use crate::example::apps;
use crate::page::{Block, Kind, Page};

/// The scenario of the examples, a key a line.
const FRAME: [&str; 4] = [
    "name: example",
    "machine: barcelona",
    "apps:\n  code: { workload: { spmd: { work: 1s, intervals: 50 } } }",
    "policies: [LOAD, PIN]",
];

pub(super) fn pages() -> Vec<Page> {
    let of_scenario = SCENARIO.iter().map(|key| page(key, "of a scenario", with(key.name, key.example)));
    let of_apps = APPLICATION.iter().map(|key| {
        let apps = format!("apps:\n{}", apps(key.example).trim_end());
        page(key, "of an application", with("apps", &apps))
    });
    of_scenario.chain(of_apps).collect()
}

fn page(key: &Key, at: &str, example: String) -> Page {
    let about = key.about();
    let about = about.trim_end_matches('.');
    Page::new(Kind::Key, key.name, &format!("key {at}: {about}"))
        .text("", key.more)
        .with("Example", vec![Block::Yaml(example)])
}

/// The frame with the key's lines instead of its own line for that key, or at the end.
fn with(key: &str, lines: &str) -> String {
    let mut parts: Vec<&str> = FRAME.to_vec();
    match parts.iter_mut().find(|part| part.starts_with(&format!("{key}:"))) {
        Some(part) => *part = lines,
        None => parts.push(lines),
    }
    parts.join("\n") + "\n"
}
