//! What can be named, explained: a page for every policy, kernel, runtime, workload, machine, metric, way to wait, barrier
//! and key of a scenario, and the search for a page by its name.

mod entries;
mod example;
mod key;
mod machine;
mod markdown;
mod metric;
mod parameter;
mod policy;
pub mod reference;
mod reference_value;
mod text;
mod waiting;

use notation::suggest::hint;
use policies::PolicyShelf;
use serde::Serialize;

use crate::catalogue::ParameterRow;

pub use markdown::write_markdown;
pub use text::{write_overview, write_text};

/// A shelf of pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shelf {
    /// Scheduling policies.
    Policy,
    /// Operating-system kernels.
    Kernel,
    /// Parallel runtimes.
    Runtime,
    /// Workloads.
    Workload,
    /// Machines.
    Machine,
    /// Metrics of results.
    Metric,
    /// What the results of policies are measured against.
    Reference,
    /// Ways to wait, words of a runtime's `wait`.
    Wait,
    /// Barrier algorithms, words of a runtime's `barrier`.
    Barrier,
    /// Keys of scenarios.
    Key,
    /// Parameters of policies, kernels, runtimes, workloads and machines.
    Parameter,
}

impl Shelf {
    /// All shelves in the order of the overview; parameters are found by name only.
    pub const ALL: [Self; 11] = [
        Self::Policy,
        Self::Kernel,
        Self::Runtime,
        Self::Workload,
        Self::Machine,
        Self::Metric,
        Self::Reference,
        Self::Wait,
        Self::Barrier,
        Self::Key,
        Self::Parameter,
    ];

    /// The word before the colon in `policy:SPEED`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Kernel => "kernel",
            Self::Runtime => "runtime",
            Self::Workload => "workload",
            Self::Machine => "machine",
            Self::Metric => "metric",
            Self::Reference => "reference",
            Self::Wait => "wait",
            Self::Barrier => "barrier",
            Self::Key => "key",
            Self::Parameter => "parameter",
        }
    }

    /// The heading of its list.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Policy => "Policies",
            Self::Kernel => "Kernels",
            Self::Runtime => "Runtimes",
            Self::Workload => "Workloads",
            Self::Machine => "Machines",
            Self::Metric => "Metrics",
            Self::Reference => "References",
            Self::Wait => "Ways to wait",
            Self::Barrier => "Barriers",
            Self::Key => "Keys of a scenario",
            Self::Parameter => "Parameters",
        }
    }
}

/// What is known of one name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Page {
    /// Where it stands.
    pub shelf: Shelf,
    /// Its name.
    pub name: String,
    /// Other names by which it is found; mostly none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// One line.
    pub summary: String,
    /// The rest.
    pub sections: Vec<Section>,
}

/// A part of a page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Section {
    /// Its heading; empty for the opening.
    pub title: &'static str,
    /// What stands below it.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    /// Paragraphs, separated by empty lines.
    Text(String),
    /// Part of a scenario, or a whole one.
    Yaml(String),
    /// A command line.
    Command(String),
    /// Parameters with default, range and meaning.
    Parameters(Vec<ParameterRow>),
    /// Facts: name, value and remark.
    Facts(Vec<Fact>),
}

/// A fact of a list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Fact {
    /// What.
    pub name: String,
    /// How much; may be empty.
    pub value: String,
    /// Where it comes from or what it means; may be empty.
    pub about: String,
}

impl Page {
    fn new(shelf: Shelf, name: &str, summary: &str) -> Self {
        Self { shelf, name: name.into(), aliases: Vec::new(), summary: summary.into(), sections: Vec::new() }
    }

    /// Adds a section unless it is empty.
    fn with(mut self, title: &'static str, blocks: Vec<Block>) -> Self {
        let blocks: Vec<Block> = blocks.into_iter().filter(|block| !block.is_empty()).collect();
        if !blocks.is_empty() {
            self.sections.push(Section { title, blocks });
        }
        self
    }

    /// The text in a section unless it is empty.
    fn text(self, title: &'static str, text: &str) -> Self {
        self.with(title, vec![Block::Text(text.trim().into())])
    }

    /// Whether its texts hold the word, given in lower case.
    fn mentions(&self, word: &str) -> bool {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        let texts = blocks.filter_map(|b| if let Block::Text(text) = b { Some(text) } else { None });
        texts.chain([&self.summary]).any(|text| text.to_lowercase().contains(word))
    }

    fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name) || self.aliases.iter().any(|a| a.eq_ignore_ascii_case(name))
    }
}

impl Block {
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) | Self::Yaml(text) | Self::Command(text) => text.is_empty(),
            Self::Parameters(rows) => rows.is_empty(),
            Self::Facts(facts) => facts.is_empty(),
        }
    }
}

/// The pages of a shelf, in its order.
#[must_use]
pub fn pages(shelf: Shelf) -> Vec<Page> {
    pages_with(&PolicyShelf::default(), shelf)
}

/// As [`pages`], with the policies of a shelf of one's own.
#[must_use]
pub fn pages_with(policies: &PolicyShelf, shelf: Shelf) -> Vec<Page> {
    match shelf {
        Shelf::Policy => policy::pages(policies),
        Shelf::Kernel => entries::kernels(),
        Shelf::Runtime => entries::runtimes(),
        Shelf::Workload => entries::workloads(),
        Shelf::Machine => machine::pages(),
        Shelf::Metric => metric::pages(),
        Shelf::Reference => reference_value::pages(),
        Shelf::Wait => waiting::waits(),
        Shelf::Barrier => waiting::barriers(),
        Shelf::Key => key::pages(),
        Shelf::Parameter => parameter::pages(policies),
    }
}

/// The pages of this name, upper or lower case: more than one if several shelves hold it. `policy:SPEED` looks on one shelf
/// only, `SPEED.interval` finds a parameter of one entry, and a description such as `core:8` a machine. A name that is also
/// a parameter's is not looked up there unless nothing else bears it.
///
/// # Errors
/// A sentence with the nearest name.
pub fn find(name: &str) -> Result<Vec<Page>, String> {
    find_with(&PolicyShelf::default(), name)
}

/// As [`find`], with the policies of a shelf of one's own.
///
/// # Errors
/// As [`find`].
pub fn find_with(policies: &PolicyShelf, name: &str) -> Result<Vec<Page>, String> {
    let name = name.trim();
    let on = |shelf: Shelf, name: &str| -> Vec<Page> {
        pages_with(policies, shelf).into_iter().filter(|page| page.is_called(name)).collect()
    };
    let shelf_and_name = name.split_once(':').and_then(|(shelf, rest)| {
        Shelf::ALL.into_iter().find(|s| s.name().eq_ignore_ascii_case(shelf)).map(|s| (s, rest.trim()))
    });
    let found = match shelf_and_name {
        Some((shelf, rest)) => on(shelf, rest),
        None => {
            let found: Vec<Page> =
                Shelf::ALL.into_iter().filter(|s| *s != Shelf::Parameter).flat_map(|s| on(s, name)).collect();
            if found.is_empty() { parameter::find(policies, name) } else { found }
        }
    };
    if !found.is_empty() {
        return Ok(found);
    }
    if shelf_and_name.is_none() && name.contains(':') {
        return machine::described(name).map(|page| vec![page]);
    }
    Err(unknown(policies, name))
}

fn unknown(policies: &PolicyShelf, name: &str) -> String {
    let word = name.rsplit(':').next().unwrap_or(name).trim();
    let pages: Vec<Page> = Shelf::ALL.into_iter().flat_map(|shelf| pages_with(policies, shelf)).collect();
    let names = || pages.iter().flat_map(|page| page.aliases.iter().chain([&page.name])).map(String::as_str);
    let mut said = format!("there is no page `{name}`{}", hint(word, names()));
    let lower = word.to_lowercase();
    let mentions = pages.iter().filter(|page| lower.len() > 2 && page.mentions(&lower));
    let mut mentions: Vec<&str> = mentions.map(|page| page.name.as_str()).collect();
    mentions.dedup();
    mentions.truncate(8);
    if !mentions.is_empty() {
        said.push_str(&format!("; it is mentioned by {}", mentions.join(", ")));
    }
    said.push_str(" (`oversim explain` lists all pages)");
    said
}

/// Writes pages as one JSON array.
///
/// # Errors
/// Those of `out`.
pub fn write_json(pages: &[Page], out: &mut dyn std::io::Write) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, pages)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case_and_on_one_shelf_or_several() {
        let on = |name: &str| find(name).unwrap().iter().map(|page| page.shelf).collect::<Vec<_>>();
        assert_eq!(on("speed"), [Shelf::Policy]);
        assert_eq!(on("yield"), [Shelf::Runtime, Shelf::Metric, Shelf::Wait]);
        assert_eq!(on("wait:yield"), [Shelf::Wait]);
        assert_eq!(on("compute"), [Shelf::Metric]);
        assert_eq!(on("core:2 pu:2"), [Shelf::Machine]);
        assert_eq!(on("node_bandwidth"), [Shelf::Parameter]);
        assert_eq!(on("tasks"), [Shelf::Key]);
        assert_eq!(on("kernel"), [Shelf::Metric, Shelf::Key], "parameters are called so too, but come last");
        assert_eq!(on("speed.interval"), [Shelf::Parameter]);
        assert_eq!(find("migrations").unwrap().len(), 2, "of each application and of the run");
    }

    #[test]
    fn what_nobody_is_called_gets_advice() {
        assert!(find("SPED").unwrap_err().contains("did you mean `SPEED`?"));
        assert!(find("policy:laod").unwrap_err().contains("did you mean `LOAD`?"));
        assert!(find("eevdf").unwrap_err().contains("linux-6.18"));
        assert!(find("core:0").is_err() && find("").is_err());
    }

    #[test]
    fn policies_from_outside_are_explained_too() {
        let mine = policies::Entry { name: "MINE", ..*policies::find("PIN").unwrap() };
        let shelf = PolicyShelf::with(&[Box::leak(Box::new(mine))]).unwrap();
        assert_eq!(find_with(&shelf, "mine").unwrap()[0].name, "MINE");
        assert_eq!(find_with(&shelf, "MINE.layout").unwrap()[0].shelf, Shelf::Parameter);
        assert!(find("MINE").is_err());
    }

    #[test]
    fn every_page_says_something() {
        for page in Shelf::ALL.into_iter().flat_map(pages) {
            let at = format!("{}:{}", page.shelf.name(), page.name);
            assert!(!page.summary.is_empty() && !page.summary.contains('\n'), "{at}");
            assert!(!page.sections.is_empty(), "{at}");
            if page.shelf != Shelf::Parameter {
                let shown = page.sections.iter().any(|s| ["Example", "Worked example"].contains(&s.title));
                assert!(shown, "{at} has no example");
            }
        }
    }
}
