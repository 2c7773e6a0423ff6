//! Pages of machines.

use machines::{Entry, Note};
use scenario::DEFAULT_KERNEL;

use crate::example::scenario;
use crate::page::{Block, Fact, Kind, Page};

pub(super) fn pages() -> Vec<Page> {
    machines::entries().iter().map(page).collect()
}

/// The page of a synthetic description.
///
/// # Errors
/// What is wrong with the description.
pub(super) fn described(text: &str) -> Result<Page, String> {
    machines::resolve(text).map(|entry| page(&entry))
}

fn page(e: &Entry) -> Page {
    let kernel = match &e.kernel {
        Some(kernel) => format!("default kernel `{kernel}`"),
        None => format!("default kernel `{DEFAULT_KERNEL}`"),
    };
    let shape = format!("{} cpus, `{}`, {kernel}.", e.topology.cpus(), e.topology_text);
    let apps = "solver: { workload: { spmd: { work: 1s, intervals: 20, demand: 1GB/s } }, tasks: 8 }";
    let name = if e.name.contains(' ') { format!("'{}'", e.name) } else { e.name.clone() };
    Page::new(Kind::Machine, &e.name, &e.summary)
        .text("", &e.about)
        .text("", &shape)
        .with(
            "Example",
            vec![
                Block::Text(
                    "This command shows its tree, memory, costs and the groups that its kernel balances:"
                        .into(),
                ),
                Block::Command(format!("oversim machine show {name}")),
                Block::Yaml(scenario(&e.name, "", apps, "LOAD, PIN")),
            ],
        )
        .with("Values and their sources", vec![Block::Facts(facts(e))])
}

/// Every value with its source; `oversim explain NAME` of a parameter gives its meaning.
fn facts(e: &Entry) -> Vec<Fact> {
    let table = e.values.table().iter();
    let value = |name: &str| table.clone().find(|p| p.name == name).map(|p| p.kind.show(p.default));
    e.notes.iter().filter_map(|note| value(&note.parameter).map(|value| fact(note, value))).collect()
}

fn fact(note: &Note, value: String) -> Fact {
    let doubt = if note.uncertain { " (uncertain)" } else { "" };
    Fact { name: note.parameter.clone(), value, about: format!("{}{doubt}", note.source) }
}
