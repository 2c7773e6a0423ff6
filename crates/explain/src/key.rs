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
    let of_scenario = SCENARIO.iter().map(|key| page(key, "of a scenario", with(key.example)));
    let of_apps = APPLICATION.iter().map(|key| {
        let example = match key.example.contains("\napps:") {
            true => with(key.example),
            false => with(&format!("apps:\n{}", apps(key.example).trim_end())),
        };
        page(key, "of an application", example)
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

/// The frame with these lines: what they say of its keys in place of what it says, all else at the end.
fn with(lines: &str) -> String {
    let key = |part: &str| part.split(':').next().unwrap_or_default().to_owned();
    let mut parts: Vec<String> = FRAME.map(str::to_owned).to_vec();
    for part in top_level(lines) {
        match parts.iter_mut().find(|other| key(other) == key(&part)) {
            Some(other) => *other = part,
            None => parts.push(part),
        }
    }
    parts.join("\n") + "\n"
}

/// The keys of a block with their values; lines that are indented belong to the key before them.
fn top_level(lines: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for line in lines.lines() {
        match parts.last_mut() {
            Some(part) if line.starts_with([' ', '-']) => *part += &format!("\n{line}"),
            _ => parts.push(line.to_owned()),
        }
    }
    parts
}
