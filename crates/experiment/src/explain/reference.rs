//! The reference pages of `docs/reference`, made from the registries by the code of `oversim explain`.

use std::fmt::Write as _;

use super::markdown::{capital, cell, write_markdown};
use super::{Page, Shelf, pages};

/// Said at the head of every page.
const NOTE: &str = "<!-- written by OVERSIM_UPDATE=1 cargo test -p experiment --test reference; edit the registries instead -->\n";

/// Pages that hold whole shelves: file, title, what it says at its head, shelves.
const FILES: &[(&str, &str, &str, &[Shelf])] = &[
    (
        "kernels.md",
        "Kernels",
        "What a scenario's `kernel:` may name: the discipline of each cpu's queue.",
        &[Shelf::Kernel],
    ),
    (
        "runtimes.md",
        "Runtimes",
        "What an application's `runtime:` may name: how its tasks come up, wait and meet.",
        &[Shelf::Runtime],
    ),
    (
        "waiting.md",
        "Waiting",
        "The ways to wait and the barriers that a runtime's parameters choose among.",
        &[Shelf::Wait, Shelf::Barrier],
    ),
    (
        "workloads.md",
        "Workloads",
        "What an application's `workload:` may name: the programs.",
        &[Shelf::Workload],
    ),
    (
        "machines.md",
        "Machines",
        "What a scenario's `machine:` may name. `oversim explain PARAMETER` says what a value means.",
        &[Shelf::Machine],
    ),
    (
        "metrics.md",
        "Metrics",
        "What is measured, and how. The form of results: [results](../results.md).",
        &[Shelf::Metric],
    ),
    (
        "references.md",
        "References",
        "What reports show beside the policies. How to read them: [results](../results.md#references).",
        &[Shelf::Reference],
    ),
    (
        "keys.md",
        "Keys",
        "The keys of a scenario and of its applications, with an example each. The manual: [scenario files](../scenario-files.md).",
        &[Shelf::Key],
    ),
];

/// All files below `docs/reference` and their texts, in order of path.
#[must_use]
pub fn files() -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = FILES
        .iter()
        .map(|(file, title, about, shelves)| ((*file).into(), shelf_page(title, about, shelves)))
        .collect();
    for page in pages(Shelf::Policy) {
        let path = format!("policies/{}.md", page.name);
        files.push((path, format!("{}\n{NOTE}", markdown(&[page], 1))));
    }
    files.push(("README.md".into(), index()));
    files.sort();
    files
}

fn markdown(pages: &[Page], level: usize) -> String {
    let mut out = Vec::new();
    // Writing to memory cannot fail, and what is written is text.
    let _ = write_markdown(pages, level, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn shelf_page(title: &str, about: &str, shelves: &[Shelf]) -> String {
    let pages: Vec<Page> = shelves.iter().flat_map(|shelf| pages(*shelf)).collect();
    format!("# {title}\n\n{NOTE}\n{about}\n\n{}", markdown(&pages, 2))
}

/// Writes the list of all pages with their summaries.
///
/// # Errors
/// Those of `out`.
pub fn write_index(out: &mut dyn std::io::Write) -> std::io::Result<()> {
    out.write_all(index().as_bytes())
}

fn index() -> String {
    let mut text = format!(
        "# Reference\n\n{NOTE}\n\
Everything a scenario or a result can name. The same on the command line: `oversim explain NAME`.\n\n\
Which policy wins where, measured: [showcases](showcases.md).\n"
    );
    for shelf in Shelf::ALL.into_iter().filter(|shelf| *shelf != Shelf::Parameter) {
        let _ = write!(text, "\n## {}\n\n| | |\n|---|---|\n", shelf.title());
        let pages = pages(shelf);
        for (i, page) in pages.iter().enumerate() {
            // The second heading of the same name has a number behind it.
            let before = pages[..i].iter().filter(|other| other.name == page.name).count();
            let number = if before > 0 { format!("-{before}") } else { String::new() };
            let summary = cell(&capital(&page.summary));
            let _ = writeln!(text, "| [{}]({}{number}) | {summary} |", page.name, target(page));
        }
    }
    text
}

/// Where a page stands, seen from the index.
fn target(page: &Page) -> String {
    if page.shelf == Shelf::Policy {
        return format!("policies/{}.md", page.name);
    }
    let file = FILES.iter().find(|(.., shelves)| shelves.contains(&page.shelf)).map_or("", |(file, ..)| file);
    // Headings become anchors: lower case, without punctuation other than - and _.
    let kept = page.name.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    format!("{file}#{}", kept.flat_map(char::to_lowercase).collect::<String>())
}
