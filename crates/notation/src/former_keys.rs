//! Former names of keys ([`crate::renamed`]) in the tree of a file and in paths of the command line.

use crate::diagnostics::Diagnostic;
use crate::reader::Reader;
use crate::renamed::{Renamed, What};
use crate::yaml::{Content, Node};

/// Gives former keys of a file their present names: `root` is its tree, in which `paths` are the keys that
/// hold mappings of dotted paths.
pub fn rename_keys<C>(
    table: &[Renamed],
    what: What,
    root: &mut Node,
    paths: &[&str],
    reader: &mut Reader<C>,
) {
    for row in table.iter().filter(|row| row.what == what && row.is_read()) {
        let parts: Vec<&str> = row.old.split('.').collect();
        rename_at(row, &parts, root, reader);
        for path in paths {
            if let Content::Map(entries) = &mut root.content
                && let Some(entry) = entries.iter_mut().find(|entry| entry.key == *path)
            {
                rename_paths(row, &mut entry.value, reader);
            }
        }
    }
}

/// Renames the key that the rest of a path leads to.
fn rename_at<C>(row: &Renamed, parts: &[&str], node: &mut Node, reader: &mut Reader<C>) {
    let (Content::Map(entries), Some((first, rest))) = (&mut node.content, parts.split_first()) else {
        return;
    };
    if !rest.is_empty() {
        let inside = entries.iter_mut().filter(|entry| *first == "*" || entry.key == *first);
        inside.for_each(|entry| rename_at(row, rest, &mut entry.value, reader));
        return;
    }
    let both = entries.iter().any(|entry| entry.key == row.new);
    if let Some(entry) = entries.iter_mut().find(|entry| entry.key == *first) {
        if both {
            let message = format!("`{first}` and `{}` are names of one key", row.new);
            reader.add(Diagnostic::new(entry.place, message).hint(format!("remove `{first}`")));
        } else {
            row.new.clone_into(&mut entry.key);
            reader.remark(row.remark());
        }
    }
}

/// Renames keys that are dotted paths, at any depth.
fn rename_paths<C>(row: &Renamed, node: &mut Node, reader: &mut Reader<C>) {
    match &mut node.content {
        Content::List(items) => items.iter_mut().for_each(|item| rename_paths(row, item, reader)),
        Content::Map(entries) => {
            for entry in entries {
                if let Some(path) = renamed_path(row, &entry.key) {
                    entry.key = path;
                    reader.remark(row.remark());
                }
                rename_paths(row, &mut entry.value, reader);
            }
        }
        _ => {}
    }
}

/// A dotted path of the command line, `PATH` or `PATH=VALUE`, with the present names of keys.
pub fn rename_path<C>(table: &[Renamed], what: What, pair: &mut String, reader: &mut Reader<C>) {
    for row in table.iter().filter(|row| row.what == what && row.is_read()) {
        let (path, value) = pair.split_at(pair.find('=').unwrap_or(pair.len()));
        if let Some(path) = renamed_path(row, path.trim()) {
            *pair = format!("{path}{value}");
            reader.remark(row.remark());
        }
    }
}

/// The path with the present name, if it begins with the former one.
fn renamed_path(row: &Renamed, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = path.split('.').collect();
    let old: Vec<&str> = row.old.split('.').collect();
    let begins =
        old.len() <= parts.len() && old.iter().zip(&parts).all(|(old, part)| *old == "*" || old == part);
    begins.then(|| {
        parts[old.len() - 1] = row.new;
        parts.join(".")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    const KEY: Renamed =
        Renamed { what: What::Key, old: "apps.*.ranks", new: "tasks", since: "1.1.0", refused: None };
    const GONE: Renamed = Renamed { refused: Some("1.3.0"), ..KEY };

    fn read(table: &[Renamed], text: &str) -> (Node, Reader) {
        let mut root = yaml::tree(0, text).unwrap();
        let mut reader = Reader::default();
        rename_keys(table, What::Key, &mut root, &["sweep"], &mut reader);
        (root, reader)
    }

    #[test]
    fn a_former_key_is_read_with_a_remark_wherever_it_stands() {
        let text =
            "apps: { cg: { ranks: 4 }, ft: { tasks: 2 } }\nsweep: { apps.cg.ranks: [1, 2], seed: [1] }";
        let (root, reader) = read(&[KEY], text);
        let app = &root.get("apps").unwrap().value.get("cg").unwrap().value;
        assert!(app.get("tasks").is_some() && app.get("ranks").is_none());
        assert!(root.get("sweep").unwrap().value.get("apps.cg.tasks").is_some());
        assert_eq!(reader.remarks(), ["`ranks` is called `tasks` since version 1.1.0; use that name"]);
        assert!(reader.is_clean());
    }

    #[test]
    fn both_names_at_once_are_an_error() {
        let (_, reader) = read(&[KEY], "apps: { cg: { ranks: 4, tasks: 4 } }");
        assert!(!reader.is_clean() && reader.remarks().is_empty());
    }

    #[test]
    fn a_key_of_the_same_name_elsewhere_stays() {
        let (root, reader) = read(&[KEY], "ranks: 3\napps: { cg: { runtime: { ranks: 4 } } }");
        assert!(root.get("ranks").is_some() && reader.remarks().is_empty());
    }

    #[test]
    fn paths_of_the_command_line_are_renamed_up_to_their_value() {
        for (given, wanted) in [
            ("apps.cg.ranks=4", "apps.cg.tasks=4"),
            ("apps.cg.ranks", "apps.cg.tasks"),
            ("apps.cg.ranks.of=1", "apps.cg.tasks.of=1"),
            ("apps.ranks=apps.cg.ranks", "apps.ranks=apps.cg.ranks"),
        ] {
            let (mut pair, mut reader) = (given.to_owned(), Reader::<()>::default());
            rename_path(&[KEY], What::Key, &mut pair, &mut reader);
            assert_eq!(pair, wanted);
            assert_eq!(reader.remarks().is_empty(), given == wanted);
        }
    }

    #[test]
    fn a_refused_name_is_not_read() {
        let (root, reader) = read(&[GONE], "apps: { cg: { ranks: 4 } }");
        assert!(root.get("apps").unwrap().value.get("cg").unwrap().value.get("ranks").is_some());
        assert!(reader.remarks().is_empty());
    }
}
