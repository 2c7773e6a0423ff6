//! Nodes of a YAML document written on one line, as `--set` takes values.

use notation::yaml::{Content, Node};

/// Whether a character needs no quotes within a plain scalar on one line.
const fn plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '/' | '%')
}

/// A scalar, in quotes where it needs them.
pub(crate) fn scalar(text: &str) -> String {
    let starts =
        text.chars().next().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/'));
    let quoted = !starts || text == "-" || !text.chars().all(plain);
    match quoted {
        false => text.to_owned(),
        // In single quotes a line break is a space.
        true if text.contains(char::is_control) => serde_json::Value::from(text).to_string(),
        true => format!("'{}'", text.replace('\'', "''")),
    }
}

/// A node on one line.
pub(crate) fn written(node: &Node) -> String {
    match &node.content {
        Content::Null => "null".into(),
        Content::Scalar(text) => scalar(text),
        Content::List(items) => {
            format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", "))
        }
        Content::Map(entries) if entries.is_empty() => "{}".into(),
        Content::Map(entries) => {
            let entries =
                entries.iter().map(|entry| format!("{}: {}", scalar(&entry.key), written(&entry.value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notation::yaml::tree;

    #[test]
    fn what_is_written_reads_as_the_same_values() {
        let text = "{ a: { work: 1s, cpus: '0-3,8', list: [1, 'it''s', x] }, b: {}, 'c d': linux-6.18 }";
        let node = tree(0, text).unwrap();
        assert_eq!(
            written(&node),
            "{ a: { work: 1s, cpus: '0-3,8', list: [1, 'it''s', x] }, b: {}, 'c d': \
            linux-6.18 }"
        );
        let again = tree(0, &written(&node)).unwrap();
        assert_eq!(written(&again), written(&node));
    }
}
