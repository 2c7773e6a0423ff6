//! A smaller scenario with the same failure: greedy delta debugging on the tree of a scenario file.

use serde_json::{Map, Value, json};

use super::check::Failure;
use super::code;
use super::text;

/// Checks at most.
const MOST_CHECKS: usize = 1_500;

/// Keys that stay: without them a run could take hours.
const KEPT: [&str; 3] = ["horizon", "window", "name"];

/// Simpler values that take the place of others: kernels, runtimes, workloads, policies.
const SIMPLER: &[(&str, &[&str])] = &[
    ("kernel", &["round-robin", "linux-2.6.28", "linux-6.18"]),
    ("machine", &["core:1", "core:2", "core:4"]),
    ("runtime", &["block", "spin", "yield"]),
    ("workload", &["hog", "barriers"]),
];

/// The smallest scenario found that fails like `failure`, and its failure. `check` is a check of a text.
pub fn shrink(
    tree: &Value,
    failure: &Failure,
    check: &mut dyn FnMut(&str) -> Option<Failure>,
) -> (Value, Failure) {
    let (mut best, mut kept) = (tree.clone(), failure.clone());
    let mut left = MOST_CHECKS;
    loop {
        let before = best.clone();
        let mut at = 0;
        // The candidates are those of the tree as it is now: larger cuts first.
        while let Some(candidate) = candidates(&best).into_iter().nth(at) {
            if left == 0 {
                return (best, kept);
            }
            left -= 1;
            match check(&text::write(&candidate)).filter(|found| found.alike(failure)) {
                Some(found) => (best, kept) = (candidate, found),
                None => at += 1,
            }
        }
        if best == before {
            return (best, kept);
        }
    }
}

/// All trees that are one step simpler.
fn candidates(tree: &Value) -> Vec<Value> {
    let mut paths = Vec::new();
    walk(tree, &mut Vec::new(), &mut paths);
    // What is near the root contains most.
    paths.sort_by_key(Vec::len);
    let mut found = Vec::new();
    for path in &paths {
        found.extend(without(tree, path));
    }
    for path in &paths {
        let Some(value) = tree.pointer(&pointer(path)) else { continue };
        let key = path.last().map(String::as_str).unwrap_or_default();
        let others = if is_code(path) { code::smaller(value) } else { simpler(key, value) };
        for other in others {
            let mut changed = tree.clone();
            if let Some(place) = changed.pointer_mut(&pointer(path)) {
                *place = other;
                found.push(changed);
            }
        }
    }
    found
}

/// Whether a path is that of statements of a program.
fn is_code(path: &[String]) -> bool {
    let [.., above, last] = path else { return false };
    let inside = path.iter().any(|part| part == "program");
    inside && (last == "code" || above == "sections")
}

fn pointer(path: &[String]) -> String {
    path.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect()
}

/// The paths of all values below a value.
fn walk(value: &Value, at: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(n, value)| (n.to_string(), value)).collect(),
        _ => return,
    };
    for (key, value) in inside {
        at.push(key);
        paths.push(at.clone());
        walk(value, at, paths);
        at.pop();
    }
}

/// The tree without one value.
fn without(tree: &Value, path: &[String]) -> Option<Value> {
    let (last, above) = path.split_last()?;
    if above.is_empty() && KEPT.contains(&last.as_str()) {
        return None;
    }
    let mut changed = tree.clone();
    match changed.pointer_mut(&pointer(above))? {
        Value::Object(map) => drop(map.shift_remove(last)?),
        Value::Array(list) if list.len() > 1 => drop(list.remove(last.parse().ok()?)),
        _ => return None,
    }
    Some(changed)
}

/// Simpler values for a value.
fn simpler(key: &str, value: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    let name = match value {
        Value::Object(map) if map.len() == 1 => map.keys().next().cloned(),
        Value::String(text) => Some(text.clone()),
        _ => None,
    };
    if let Value::Object(map) = value
        && let Some((name, Value::Object(inside))) = map.iter().next()
        && map.len() == 1
        && inside.is_empty()
    {
        found.push(json!(name));
    }
    if let Some((_, others)) = SIMPLER.iter().find(|(known, _)| *known == key) {
        let rank = others.iter().position(|other| name.as_deref() == Some(other)).unwrap_or(others.len());
        found.extend(others[..rank].iter().map(|other| json!(other)));
    }
    if let (Value::Object(map), Some(name)) = (value, &name) {
        found.extend(narrower(name).into_iter().filter_map(|other| {
            let inside = map.get(name)?.clone();
            Some(Value::Object(Map::from_iter([(other, inside)])))
        }));
    }
    match value {
        Value::Number(number) => {
            if let Some(number) = number.as_i64().filter(|number| *number != 0 && key != "seed") {
                found.extend([json!(1), json!(number / 2)].into_iter().filter(|other| other != value));
            }
        }
        Value::String(text) => {
            found.extend(code::halved(text).map(|text| json!(text)));
            found.extend(narrower(text).into_iter().map(|text| json!(text)));
        }
        _ => {}
    }
    found
}

/// A description of a machine with fewer levels or parts.
fn narrower(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split(' ').collect();
    if !words.iter().all(|word| word.contains(':')) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let mut fewer = words.clone();
        fewer.remove(at);
        if !fewer.is_empty() {
            found.push(fewer.join(" "));
        }
        let Some((level, count)) = word.split_once(':') else { continue };
        if let Some(count) = count.parse::<u32>().ok().filter(|count| *count > 1) {
            let one = format!("{level}:{}", count / 2);
            let mut smaller = words.clone();
            smaller[at] = &one;
            found.push(smaller.join(" "));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_machines_get_smaller() {
        assert_eq!(code::halved("300ms").as_deref(), Some("150ms"));
        assert_eq!(code::halved("1us").as_deref(), Some("500ns"));
        assert_eq!(code::halved("LOAD"), None);
        assert_eq!(
            narrower("package:2 core:3"),
            ["core:3", "package:1 core:3", "package:2", "package:2 core:1"]
        );
        assert!(narrower("LOAD").is_empty());
    }

    #[test]
    fn only_what_the_failure_needs_stays() {
        let tree = json!({
            "seed": 7,
            "apps": { "a0": { "tasks": 9, "nice": [3, 4] }, "a1": { "tasks": 2 } },
            "policies": [{ "PIN": {} }, "LOAD"],
        });
        let mut checks = 0;
        let failure = Failure { kind: "test", detail: String::new() };
        let mut check = |text: &str| {
            checks += 1;
            (text.contains("PIN") && text.contains("tasks: 9")).then(|| failure.clone())
        };
        let (small, _) = shrink(&tree, &failure.clone(), &mut check);
        assert_eq!(small, json!({ "apps": { "a0": { "tasks": 9 } }, "policies": ["PIN"] }));
        assert!(checks < 60, "{checks}");
    }
}
