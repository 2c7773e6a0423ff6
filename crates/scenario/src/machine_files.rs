//! Machine files that a scenario names: `machine: path/to/file.yaml`, relative to the scenario's own file.

use std::sync::Arc;

use machines::Entry;
use notation::diagnostics::{Diagnostic, Place, Sources};
use notation::yaml::{self, Content, Node};

use crate::Reader;
use crate::keys::Scenario;
use crate::named_files::NamedFiles;
pub use crate::named_files::{Refused, text_of};

/// True when a machine's name is the path of a file: it ends like one or has a slash.
#[must_use]
pub fn is_file(name: &str) -> bool {
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    name.contains('/') || end.eq_ignore_ascii_case("yaml") || end.eq_ignore_ascii_case("yml")
}

/// Reads all machine files that a scenario and its sweep name into the reader, and returns their texts one
/// after another.
pub(crate) fn read_all(
    root: &Node,
    files: &mut NamedFiles<'_>,
    sources: &mut Sources,
    reader: &mut Reader,
) -> String {
    let mut texts = String::new();
    for (name, place) in named(root) {
        if !is_file(name) || reader.context.machines.contains_key(name) {
            continue;
        }
        let (path, text) = files.text(name);
        let entry = match text {
            Err(Refused::Absent(why)) => {
                reader.wrong(place, format!("cannot read the machine file {}: {why}", path.display()));
                None
            }
            Err(Refused::Unreadable(refused)) => {
                let source = sources.add(&path.display().to_string(), &refused.text);
                let mut problem = refused.problem.related(place, "the machine file is named here");
                problem.place.source = source;
                reader.add(problem);
                None
            }
            Ok(text) => {
                let source = sources.add(&path.display().to_string(), &text);
                texts.push_str(&text);
                let entry =
                    entry(source, &text).map_err(|all| all.into_iter().for_each(|one| reader.add(one))).ok();
                entry.iter().flat_map(|entry| &entry.remarks).for_each(|remark| reader.remark(remark));
                entry
            }
        };
        Arc::make_mut(&mut reader.context.machines).insert(name.to_owned(), entry);
    }
    texts
}

/// The machine of a file's text; `source` is the number its places carry.
///
/// # Errors
/// All that is wrong with it.
pub fn entry(source: u32, text: &str) -> Result<Entry, Vec<Diagnostic>> {
    let entry = machines::read_file(source, text)?;
    if machines::names().any(|name| name == entry.name) {
        let message = format!("`{}` is the name of a built-in machine", entry.name);
        let name = yaml::tree(source, text).ok().and_then(|root| Some(root.get("name")?.value.place));
        let place = name.unwrap_or(Place { source, ..Place::NONE });
        return Err(vec![Diagnostic::new(place, message).hint("give this one another `name`")]);
    }
    Ok(entry)
}

/// The machines a scenario names: at `machine`, and in its sweep.
fn named(root: &Node) -> Vec<(&str, Place)> {
    let scenario = Scenario::of(root);
    let mut nodes: Vec<&Node> = scenario.machine.node().into_iter().collect();
    if let Some(sweep) = scenario.sweep.node() {
        swept(sweep, &mut nodes);
    }
    nodes
        .into_iter()
        .filter_map(|node| match &node.content {
            Content::Scalar(text) => Some((text.as_str(), node.place)),
            _ => node.entries().first().map(|entry| (entry.key.as_str(), entry.place)),
        })
        .collect()
}

/// Adds the values of each path `machine`, also of those in a `zip` or a `sample`.
fn swept<'a>(node: &'a Node, nodes: &mut Vec<&'a Node>) {
    match &node.content {
        Content::List(items) => items.iter().for_each(|item| swept(item, nodes)),
        Content::Map(entries) => {
            for entry in entries {
                match (&entry.value.content, entry.key.as_str()) {
                    (Content::List(values), "machine") => nodes.extend(values),
                    (_, "zip" | "sample" | "over") => swept(&entry.value, nodes),
                    _ => {}
                }
            }
        }
        Content::Null | Content::Scalar(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_from_names_and_descriptions() {
        for file in ["m.yaml", "my/machine", "./m", "../a/b.yml", "M.YAML"] {
            assert!(is_file(file), "{file}");
        }
        for other in ["barcelona", "package:2 core:8", "xeon-2s-snc", "linux-2.6.28", ""] {
            assert!(!is_file(other), "{other}");
        }
    }
}
