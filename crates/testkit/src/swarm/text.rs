//! A tree as the text of a scenario file: one line for each key, what is inside in flow style.

use serde_json::Value;

/// The text; the reader of scenarios gets the same tree from it.
pub(super) fn write(tree: &Value) -> String {
    let mut text = String::new();
    for (key, value) in tree.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("apps", Value::Object(apps)) if !apps.is_empty() => {
                text.push_str("apps:\n");
                for (name, app) in apps {
                    text.push_str(&format!("  {}: {}\n", scalar(name), flow(app)));
                }
            }
            _ => text.push_str(&format!("{}: {}\n", scalar(key), flow(value))),
        }
    }
    text
}

fn flow(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let each: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", scalar(key), flow(value))).collect();
            if each.is_empty() { "{}".into() } else { format!("{{ {} }}", each.join(", ")) }
        }
        Value::Array(list) => format!("[{}]", list.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// A text without quotes where it cannot be taken for anything else.
fn scalar(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '%');
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins && text.chars().all(plain) { text.to_owned() } else { Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_tree_is_written_in_a_few_lines() {
        let tree = json!({
            "name": "swarm",
            "machine": { "package:2 core:2": { "poll": "1us" } },
            "apps": { "a0": { "workload": "hog", "nice": [0, -3] } },
            "policies": ["LOAD", { "PIN": {}, "as": "p" }],
        });
        assert_eq!(
            write(&tree),
            "name: swarm\nmachine: { \"package:2 core:2\": { poll: 1us } }\napps:\n  a0: { workload: hog, \
             nice: [0, -3] }\npolicies: [LOAD, { PIN: {}, as: p }]\n"
        );
    }
}
