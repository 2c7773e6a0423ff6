//! The pages of `docs/reference` and the glossary, made from the registries by the code of `oversim explain`.

use std::fmt::Write as _;

use super::markdown::{capital, cell, see, write_markdown};
use super::{Block, Kind, Link, Page, find, pages};
use scenario::built_in;

/// The first line of every page.
const NOTE: &str = "<!-- written by OVERSIM_UPDATE=1 cargo test -p oversim-explain --test reference; edit the registries instead -->\n";

/// The glossary, seen from `docs/reference`.
const GLOSSARY: &str = "../glossary.md";

/// Pages that hold all entries of some kinds: file, title, introduction, kinds.
const FILES: &[(&str, &str, &str, &[Kind])] = &[
    (
        "kernels.md",
        "Kernels",
        "The names that a scenario's `kernel:` accepts: operating-system models with the scheduler of each cpu.",
        &[Kind::Kernel],
    ),
    (
        "runtimes.md",
        "Runtimes",
        "The names that an application's `runtime:` accepts: how its tasks start, wait and meet at barriers.",
        &[Kind::Runtime],
    ),
    (
        "waiting.md",
        "Waiting",
        "The ways to wait and the barriers that the parameters of a runtime choose.",
        &[Kind::Wait, Kind::Barrier],
    ),
    (
        "workloads.md",
        "Workloads",
        "The names that an application's `workload:` accepts: the programs.",
        &[Kind::Workload],
    ),
    (
        "machines.md",
        "Machines",
        "The names that a scenario's `machine:` accepts. `oversim explain PARAMETER` gives the meaning of a value.",
        &[Kind::Machine],
    ),
    (
        "metrics.md",
        "Metrics",
        "What is measured, and how it is computed. The form of results: [results](../results.md).",
        &[Kind::Metric],
    ),
    (
        "references.md",
        "References",
        "Lines of reports to compare policies with. How to read them: [results](../results.md#references).",
        &[Kind::Reference],
    ),
    (
        "keys.md",
        "Keys",
        "The keys of a scenario and of its applications, with an example each. The manual: [scenario files](../scenario-files.md).",
        &[Kind::Key],
    ),
];

/// All files and their texts, in order of path; paths are those seen from `docs/reference`.
#[must_use]
pub fn files() -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = FILES
        .iter()
        .map(|(file, title, about, kinds)| ((*file).into(), kind_page(title, about, kinds)))
        .collect();
    for page in pages(Kind::Policy) {
        let path = format!("policies/{}.md", page.name);
        files.push((path, format!("{}\n{NOTE}", markdown(&[page], 1))));
    }
    files.push(("README.md".into(), index()));
    files.push((GLOSSARY.into(), glossary()));
    files.sort();
    files
}

fn markdown(pages: &[Page], level: usize) -> String {
    let mut out = Vec::new();
    // Writing to memory cannot fail, and what is written is text.
    let _ = write_markdown(pages, level, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn kind_page(title: &str, about: &str, kinds: &[Kind]) -> String {
    let pages: Vec<Page> = kinds.iter().flat_map(|kind| pages(*kind)).collect();
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
All names of scenarios and results. `oversim explain NAME` prints the same pages.\n\n\
Where each policy wins and loses, measured: [showcases](showcases.md). The words of the field: [glossary]({GLOSSARY}).\n"
    );
    for kind in Kind::listed() {
        let _ = write!(text, "\n## {}\n\n| | |\n|---|---|\n", kind.title());
        let pages = pages(kind);
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

/// The words of the field, each with its meaning and what to read next.
fn glossary() -> String {
    let mut text = format!(
        "# Glossary\n\n{NOTE}\n\
The words of the field as oversim uses them. `oversim explain TERM` prints the same entries and finds the synonyms.\n"
    );
    for page in pages(Kind::Term) {
        let _ = write!(text, "\n## {}\n\n", page.name);
        let blocks = page.sections.iter().flat_map(|section| &section.blocks);
        let (mut paragraphs, mut links) = (vec![format!("{}.", page.summary)], String::new());
        for block in blocks {
            match block {
                // The synonyms come last.
                Block::Text(also) if also.starts_with("Also: ") => links = format!("{also} {links}"),
                Block::Text(rest) => paragraphs.push(rest.clone()),
                Block::See(all) => links = format!("{links}See: {}.", see(all)),
                _ => {}
            }
        }
        let _ = write!(text, "{}\n\n{links}\n", paragraphs.join(" "));
    }
    text
}

/// A reference as a link, seen from `docs`.
pub(super) fn link(link: &Link) -> String {
    let Link { kind, name } = link;
    let words = format!("{kind} {name}");
    match kind.as_str() {
        "" => format!("[{name}]({})", name.strip_prefix("docs/").unwrap_or(name)),
        "scenario" => match built_in::find(name) {
            Some(scenario) => format!("[{words}](../{})", scenario.path),
            None => words,
        },
        // A parameter is described where its owner is.
        "parameter" => {
            match name.rsplit_once('.').and_then(|(owner, _)| find(owner).ok()?.into_iter().next()) {
                Some(owner) => format!("[{words}](reference/{})", target(&owner)),
                None => format!("{kind} `{name}`"),
            }
        }
        _ => match find(&format!("{kind}:{name}")).ok().and_then(|pages| pages.into_iter().next()) {
            Some(page) if page.kind == Kind::Term => format!("[{name}](#{})", anchor(&page.name)),
            Some(page) => format!("[{words}](reference/{})", target(&page)),
            None => words,
        },
    }
}

/// Where a page is, seen from the index.
fn target(page: &Page) -> String {
    if page.kind == Kind::Policy {
        return format!("policies/{}.md", page.name);
    }
    let file = FILES.iter().find(|(.., kinds)| kinds.contains(&page.kind)).map_or("", |(file, ..)| file);
    format!("{file}#{}", anchor(&page.name))
}

/// The anchor of a heading: lower case, `-` for blanks, without punctuation other than `-` and `_`.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_headings() {
        let of = |kind: &str, name: &str| link(&Link { kind: kind.into(), name: name.into() });
        assert_eq!(of("policy", "LOAD"), "[policy LOAD](reference/policies/LOAD.md)");
        assert_eq!(of("kernel", "linux-6.18"), "[kernel linux-6.18](reference/kernels.md#linux-618)");
        assert_eq!(
            of("parameter", "libgomp.spin_count"),
            "[parameter libgomp.spin_count](reference/runtimes.md#libgomp)"
        );
        assert_eq!(of("parameter", "grain"), "parameter `grain`");
        assert_eq!(
            of("scenario", "odd_thread"),
            "[scenario odd_thread](../scenarios/policies/odd_thread.yaml)"
        );
        assert_eq!(of("term", "O(1) scheduler"), "[O(1) scheduler](#o1-scheduler)");
        assert_eq!(of("", "docs/model.md"), "[docs/model.md](model.md)");
    }

    #[test]
    fn the_glossary_has_every_term_with_links() {
        let text = glossary();
        for page in pages(Kind::Term) {
            let entry = text.split_once(&format!("\n## {}\n", page.name)).map_or("", |(_, rest)| rest);
            let entry = entry.split("\n## ").next().unwrap_or_default();
            assert!(entry.contains("See: ") && entry.contains(&page.summary), "{}: {entry}", page.name);
        }
    }
}
