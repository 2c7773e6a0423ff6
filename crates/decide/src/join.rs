//! Several scenario files as one: the programs of all of them on the machine of the first.

use experiment::PolicyRegistry;
use notation::yaml::{Entry, Node, tree};
use scenario::{Overrides, load_with};

use crate::flow;

/// Keys of which the entries of all files count.
const JOINED: [&str; 3] = ["apps", "cgroups", "uncertain"];

/// The applications, control groups and uncertain values of all files; everything else is that of the first
/// one. `files`: names and texts. One file stays as it is.
///
/// # Errors
/// A file is wrong, rendered with its place; or two files have an application or a group of the same name.
pub fn join(
    policies: &PolicyRegistry,
    files: &[(String, String)],
    base: &Overrides,
) -> Result<(String, String), String> {
    let [first, rest @ ..] = files else { return Err("there is no scenario".to_owned()) };
    if rest.is_empty() {
        return Ok(first.clone());
    }
    let plain = Overrides { limit: base.limit.clone(), ..Overrides::default() };
    let mut roots = Vec::new();
    for (name, text) in files {
        let root = tree(0, text);
        roots.push(root.map_err(|_| load_with(policies, name, text, &plain).err().unwrap_or_default())?);
    }
    let parts = JOINED.map(|key| (key, joined(files, &roots, key)));
    let mut whole: Vec<String> = Vec::new();
    for entry in roots.first().map_or(&[][..], Node::entries) {
        if !JOINED.contains(&entry.key.as_str()) {
            whole.push(format!("{}: {}", flow::scalar(&entry.key), flow::written(&entry.value)));
        }
    }
    for (key, part) in parts {
        let part = part?;
        if !part.is_empty() {
            whole.push(format!("{key}: {{ {} }}", part.join(", ")));
        }
    }
    let text = whole.join("\n") + "\n";
    // What is wrong has a place in its own file; a file may have background applications only.
    if let Err(why) = load_with(policies, &first.0, &text, &plain) {
        let own = files.iter().find_map(|(name, text)| load_with(policies, name, text, &plain).err());
        return Err(own.unwrap_or(why));
    }
    Ok((first.0.clone(), text))
}

/// The entries of a key of all files.
fn joined(files: &[(String, String)], roots: &[Node], key: &str) -> Result<Vec<String>, String> {
    let mut all: Vec<(&Entry, &str)> = Vec::new();
    for ((name, _), root) in files.iter().zip(roots) {
        for entry in root.get(key).map_or(&[][..], |found| found.value.entries()) {
            if let Some((_, other)) = all.iter().find(|(known, _)| known.key == entry.key) {
                return Err(format!(
                    "{name}: `{key}` has `{}`, and {other} has it, too: give one of them another name",
                    entry.key
                ));
            }
            all.push((entry, name));
        }
    }
    let written = |(entry, _): &(&Entry, &str)| {
        format!("{}: {}", flow::scalar(&entry.key), flow::written(&entry.value))
    };
    Ok(all.iter().map(written).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, apps: &str) -> (String, String) {
        let text = format!("name: x\nmachine: core:4\npolicies: [LOAD]\napps:\n  {apps}\n");
        (name.to_owned(), text)
    }

    #[test]
    fn programs_of_all_files_share_the_machine_of_the_first() {
        let policies = PolicyRegistry::default();
        let files = [
            file("a.yaml", "a: { workload: { hog: { work: 1s } } }"),
            file("b.yaml", "b: { workload: hog, cpus: [1] }"),
        ];
        let (name, text) = join(&policies, &files, &Overrides::default()).unwrap();
        let both = load_with(&policies, &name, &text, &Overrides::default()).unwrap();
        assert_eq!(both.apps, ["a", "b"]);
        let twice = [files[0].clone(), file("c.yaml", "a: { workload: { hog: { work: 1s } } }")];
        let said = join(&policies, &twice, &Overrides::default()).unwrap_err();
        assert!(said.starts_with("c.yaml: `apps` has `a`, and a.yaml has it, too"), "{said}");
        let wrong = [files[0].clone(), file("d.yaml", "d: { workload: hogg }")];
        assert!(join(&policies, &wrong, &Overrides::default()).unwrap_err().contains("d.yaml:5"));
    }
}
