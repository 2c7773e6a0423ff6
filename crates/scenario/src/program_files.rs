//! Files of programs that a scenario names, and of graphs that programs name: `program: path/to/file.yaml`,
//! relative to the scenario's file.

use notation::diagnostics::{Place, Sources};
use notation::yaml::{Content, Node, tree};

use crate::Reader;
use crate::named_files::{NamedFiles, Refused};

/// True for the path of a file: it ends like one.
pub(crate) fn is_file(name: &str) -> bool {
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    ["yaml", "yml", "json"].iter().any(|known| end.eq_ignore_ascii_case(known)) && !name.contains('\n')
}

/// Puts the contents of all files of programs that a scenario and its sweep name in the places of their
/// names, then those of graphs that the programs name, and returns their texts one after another.
pub(crate) fn read_all(
    root: &mut Node,
    files: &mut NamedFiles<'_>,
    sources: &mut Sources,
    reader: &mut Reader,
) -> String {
    let mut texts = String::new();
    let mut read = |node: &mut Node, what: &str| {
        let Content::Scalar(name) = &node.content else { return };
        if is_file(name) {
            let (name, place) = (name.clone(), node.place);
            if let Some((text, tree)) = file((&name, files), (what, place), sources, reader) {
                texts.push_str(&text);
                *node = tree;
            }
        }
    };
    for program in programs(root) {
        read(program, "program");
        for graph in graphs(program) {
            read(graph, "graph");
            let jobs = values_of(graph).filter(|(key, _)| *key == "jobs");
            jobs.for_each(|(_, jobs)| read(jobs, "graph"));
        }
    }
    texts
}

/// All programs of a scenario and its sweep.
fn programs(root: &mut Node) -> Vec<&mut Node> {
    let mut nodes: Vec<&mut Node> = Vec::new();
    for (key, value) in values_of(root) {
        match key {
            "apps" => of_apps(value, &mut nodes),
            "sweep" => swept(value, &mut nodes),
            _ => {}
        }
    }
    nodes
}

/// The graphs of a program.
fn graphs(program: &mut Node) -> impl Iterator<Item = &mut Node> {
    let graphs = values_of(program).filter(|(key, _)| *key == "graphs");
    graphs.flat_map(|(_, graphs)| values_of(graphs).map(|(_, graph)| graph))
}

/// The keys of a mapping and their values.
fn values_of(node: &mut Node) -> impl Iterator<Item = (&str, &mut Node)> {
    let entries =
        if let Content::Map(entries) = &mut node.content { entries.as_mut_slice() } else { &mut [] };
    entries.iter_mut().map(|entry| (entry.key.as_str(), &mut entry.value))
}

/// The programs of applications.
fn of_apps<'a>(apps: &'a mut Node, nodes: &mut Vec<&'a mut Node>) {
    let Content::Map(apps) = &mut apps.content else { return };
    for app in apps {
        if let Content::Map(keys) = &mut app.value.content {
            let programs = keys.iter_mut().filter(|key| key.key == "program");
            nodes.extend(programs.map(|key| &mut key.value));
        }
    }
}

/// The values of each path `apps.NAME.program`, also of those in a `zip` or a `sample`.
fn swept<'a>(node: &'a mut Node, nodes: &mut Vec<&'a mut Node>) {
    match &mut node.content {
        Content::List(items) => items.iter_mut().for_each(|item| swept(item, nodes)),
        Content::Map(entries) => {
            for entry in entries {
                let parts: Vec<&str> = entry.key.split('.').collect();
                if matches!(parts.as_slice(), ["zip" | "sample" | "over"]) {
                    swept(&mut entry.value, nodes);
                } else if let (Content::List(values), ["apps", _, "program"]) =
                    (&mut entry.value.content, parts.as_slice())
                {
                    nodes.extend(values);
                }
            }
        }
        Content::Null | Content::Scalar(_) => {}
    }
}

/// The text of a file and its tree; what is wrong goes to the reader.
fn file(
    (name, files): (&str, &mut NamedFiles<'_>),
    (what, place): (&str, Place),
    sources: &mut Sources,
    reader: &mut Reader,
) -> Option<(String, Node)> {
    let (path, text) = files.text(name);
    match text {
        Err(Refused::Absent(why)) => {
            reader.wrong(place, format!("cannot read the {what} {}: {why}", path.display()));
            None
        }
        Err(Refused::Unreadable(refused)) => {
            let source = sources.add(&path.display().to_string(), &refused.text);
            let mut problem = refused.problem.related(place, format!("the {what} is named here"));
            problem.place.source = source;
            reader.add(problem);
            None
        }
        Ok(text) => {
            let source = sources.add(&path.display().to_string(), &text);
            match tree(source, &text) {
                Ok(node) => Some((text, node)),
                Err(problem) => {
                    reader.add(problem.related(place, format!("the {what} is named here")));
                    None
                }
            }
        }
    }
}
