//! Pages that explain every policy, kernel, runtime, workload, machine, metric, way to wait, barrier, key and term, and the
//! search for a page by its name.

pub mod catalogue;
mod entries;
mod example;
mod key;
mod machine;
pub mod machine_view;
mod markdown;
mod metric;
mod parameter;
mod policy;
pub mod reference;
mod reference_value;
mod term;
mod text;
mod waiting;

use std::collections::BTreeSet;

use notation::suggest::hint;
use policies::PolicyShelf;
use serde::Serialize;

use crate::catalogue::ParameterRow;
use scenario::built_in;

pub use markdown::write_markdown;
pub use text::{write_overview, write_text};

/// Most pages that an error names.
const MENTIONED: usize = 8;

/// What a page is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
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
    /// References that the results of policies are compared with.
    Reference,
    /// Ways to wait, words of a runtime's `wait`.
    Wait,
    /// Barrier algorithms, words of a runtime's `barrier`.
    Barrier,
    /// Keys of scenarios.
    Key,
    /// Words of the field.
    Term,
    /// Parameters of policies, kernels, runtimes, workloads and machines.
    Parameter,
}

impl Kind {
    /// All kinds in the order of the overview.
    pub const ALL: [Self; 12] = [
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
        Self::Term,
        Self::Parameter,
    ];

    /// The kinds whose pages are entries of registries: the overview and the reference list each of them.
    pub fn listed() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kind| !matches!(kind, Self::Term | Self::Parameter))
    }

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
            Self::Term => "term",
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
            Self::Term => "Terms",
            Self::Parameter => "Parameters",
        }
    }
}

/// What there is to read about one name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Page {
    /// What it is about.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Other names by which it is found; often none.
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
    /// The text below it.
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
    /// References to other pages, built-in scenarios and documents.
    See(Vec<Link>),
}

/// A reference to something else to read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Link {
    /// `policy` and the like, `scenario`, or empty for a document.
    pub kind: String,
    /// The name of the page or scenario, or the path of the document in the repository.
    pub name: String,
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
    fn new(kind: Kind, name: &str, summary: &str) -> Self {
        Self { kind, name: name.into(), aliases: Vec::new(), summary: summary.into(), sections: Vec::new() }
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

    /// Whether its texts contain the word, given in lower case.
    fn mentions(&self, word: &str) -> bool {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        let texts = blocks.filter_map(|b| if let Block::Text(text) = b { Some(text) } else { None });
        texts.chain([&self.summary]).any(|text| text.to_lowercase().contains(word))
    }

    /// Whether this is one of its names, whatever the case and the marks between words.
    fn is_called(&self, name: &str) -> bool {
        let wanted = folded(name);
        [&self.name].into_iter().chain(&self.aliases).any(|own| folded(own) == wanted)
    }
}

/// Lower case, with a blank between words: `run time` finds `run_time`, and `fair share` finds `fair-share`.
fn folded(name: &str) -> String {
    let mark = |c: char| if matches!(c, '-' | '_') { ' ' } else { c.to_ascii_lowercase() };
    name.trim().chars().map(mark).collect()
}

impl Block {
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) | Self::Yaml(text) | Self::Command(text) => text.is_empty(),
            Self::Parameters(rows) => rows.is_empty(),
            Self::Facts(facts) => facts.is_empty(),
            Self::See(links) => links.is_empty(),
        }
    }
}

/// The pages of a kind, in its order.
#[must_use]
pub fn pages(kind: Kind) -> Vec<Page> {
    pages_with(&PolicyShelf::default(), kind)
}

/// As [`pages`], with these policies.
#[must_use]
pub fn pages_with(policies: &PolicyShelf, kind: Kind) -> Vec<Page> {
    match kind {
        Kind::Policy => policy::pages(policies),
        Kind::Kernel => entries::kernels(),
        Kind::Runtime => entries::runtimes(),
        Kind::Workload => entries::workloads(),
        Kind::Machine => machine::pages(),
        Kind::Metric => metric::pages(),
        Kind::Reference => reference_value::pages(),
        Kind::Wait => waiting::waits(),
        Kind::Barrier => waiting::barriers(),
        Kind::Key => key::pages(),
        Kind::Term => term::pages(),
        Kind::Parameter => parameter::pages(policies),
    }
}

/// The pages of this name, upper or lower case: more than one if it has several meanings. Entries of registries come first, then
/// a term, then, if no entry has this name, the parameters. `policy:SPEED` searches only the policies, `SPEED.interval` finds a
/// parameter of one entry, and a description such as `core:8` a machine.
///
/// # Errors
/// A sentence with the nearest name.
pub fn find(name: &str) -> Result<Vec<Page>, String> {
    find_with(&PolicyShelf::default(), name)
}

/// As [`find`], with these policies.
///
/// # Errors
/// As [`find`].
pub fn find_with(policies: &PolicyShelf, name: &str) -> Result<Vec<Page>, String> {
    let name = name.trim();
    let of = |kind: Kind, name: &str| -> Vec<Page> {
        if kind == Kind::Parameter {
            return parameter::find(policies, name);
        }
        pages_with(policies, kind).into_iter().filter(|page| page.is_called(name)).collect()
    };
    let chosen = name.split_once(':').and_then(|(kind, rest)| {
        Kind::ALL
            .into_iter()
            .find(|known| known.name().eq_ignore_ascii_case(kind))
            .map(|kind| (kind, rest.trim()))
    });
    let found = match chosen {
        Some((kind, rest)) => of(kind, rest),
        None => {
            let entries: Vec<Page> = Kind::listed().flat_map(|kind| of(kind, name)).collect();
            let parameters = if entries.is_empty() { of(Kind::Parameter, name) } else { Vec::new() };
            entries.into_iter().chain(of(Kind::Term, name)).chain(parameters).collect()
        }
    };
    if !found.is_empty() {
        return Ok(found);
    }
    if chosen.is_none() && name.contains(':') {
        return machine::described(name).map(|page| vec![page]);
    }
    Err(unknown(policies, name))
}

fn unknown(policies: &PolicyShelf, name: &str) -> String {
    if let Some(scenario) = built_in::find(name) {
        let name = scenario.name;
        return format!("`{name}` is a built-in scenario: `oversim list scenarios {name}` describes it");
    }
    let word = name.rsplit(':').next().unwrap_or(name).trim();
    let pages: Vec<Page> = Kind::ALL.into_iter().flat_map(|kind| pages_with(policies, kind)).collect();
    let names = || pages.iter().flat_map(|page| page.aliases.iter().chain([&page.name])).map(String::as_str);
    let mut text = format!("there is no page `{name}`{}", hint(word, names()));
    let lower = word.to_lowercase();
    let mut seen = BTreeSet::new();
    let mentions = pages.iter().filter(|page| lower.len() > 2 && page.mentions(&lower));
    let mentions = mentions.map(|page| page.name.as_str()).filter(|name| seen.insert(*name));
    let mentions: Vec<&str> = mentions.take(MENTIONED).collect();
    if !mentions.is_empty() {
        text.push_str(&format!(" These pages mention it: {}.", mentions.join(", ")));
    }
    let stop = if text.ends_with(['?', '.']) { "" } else { "." };
    format!("{text}{stop} `oversim explain` lists all pages")
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

    fn kinds(name: &str) -> Vec<Kind> {
        find(name).unwrap_or_else(|why| panic!("{why}")).iter().map(|page| page.kind).collect()
    }

    #[test]
    fn a_name_finds_all_its_meanings_in_any_case() {
        assert_eq!(kinds("speed"), [Kind::Policy]);
        assert_eq!(kinds("yield"), [Kind::Runtime, Kind::Metric, Kind::Wait]);
        assert_eq!(kinds("wait:yield"), [Kind::Wait]);
        assert_eq!(kinds("compute"), [Kind::Metric]);
        assert_eq!(kinds("core:2 pu:2"), [Kind::Machine]);
        assert_eq!(kinds("node_bandwidth"), [Kind::Parameter]);
        assert_eq!(kinds("tasks"), [Kind::Key]);
        assert_eq!(kinds("kernel"), [Kind::Metric, Kind::Key], "not the parameters of this name");
        assert_eq!(kinds("speed.interval"), [Kind::Parameter]);
        assert_eq!(kinds("parameter:SPEED.interval"), [Kind::Parameter]);
        assert_eq!(find("migrations").unwrap().len(), 2, "of each application and of the run");
    }

    #[test]
    fn pages_come_before_terms_and_marks_between_words_do_not_matter() {
        assert_eq!(kinds("fair share"), [Kind::Reference, Kind::Term]);
        assert_eq!(kinds("gang"), [Kind::Policy, Kind::Term]);
        assert_eq!(kinds("barrier"), [Kind::Term, Kind::Parameter]);
        assert_eq!(kinds("term:gang"), [Kind::Term]);
        assert_eq!((kinds("run time"), kinds("OMP-wait-policy")), (vec![Kind::Metric], vec![Kind::Term]));
    }

    /// The words by which users have searched.
    const WORDS: &str = "oversubscription OMP_WAIT_POLICY KMP_BLOCKTIME GOMP_SPINCOUNT OMP_NUM_THREADS OMP_PROC_BIND OMP_PLACES \
taskset numactl cpuset cgroup hyperthreading SMT noise nice sched_yield CFS EEVDF O(1)_scheduler barrier spin NUMA \
first_touch context_switch run_queue load_balancing gang_scheduling fair_share makespan slowdown throughput \
confidence_interval inter-barrier_interval SPMD UPC configuration replicate seed dedicated_run lower_bound perturb digest \
pinning affinity polling busy_waiting preemption priority quantum time_slice work_stealing container turbo Perfetto \
KMP_AFFINITY GOMP_CPU_AFFINITY KMP_LIBRARY p-value futex SCHED_FIFO MPI OpenMP NPB imbalance granularity";

    #[test]
    fn the_words_of_users_are_found() {
        for word in WORDS.split_whitespace() {
            // The list is separated by blanks.
            let word = if word.starts_with("OMP") { word.to_owned() } else { word.replace('_', " ") };
            assert!(find(&word).is_ok(), "{word}: {:?}", find(&word));
        }
    }

    #[test]
    fn an_unknown_name_gets_advice() {
        assert!(find("SPED").unwrap_err().contains("did you mean `SPEED`?"));
        assert!(find("policy:laod").unwrap_err().contains("did you mean `LOAD`?"));
        assert!(find("Opteron").unwrap_err().contains("barcelona"));
        assert!(find("odd_thread").unwrap_err().contains("`oversim list scenarios odd_thread`"));
        assert!(find("core:0").is_err() && find("").is_err());
    }

    #[test]
    fn policies_from_outside_are_explained_too() {
        let mine = policies::Entry { name: "MINE", ..*policies::find("PIN").unwrap() };
        let policies = PolicyShelf::with(&[Box::leak(Box::new(mine))]).unwrap();
        assert_eq!(find_with(&policies, "mine").unwrap()[0].name, "MINE");
        assert_eq!(find_with(&policies, "MINE.layout").unwrap()[0].kind, Kind::Parameter);
        assert!(find("MINE").is_err());
    }

    #[test]
    fn every_page_has_a_summary_and_every_entry_an_example() {
        for page in Kind::ALL.into_iter().flat_map(pages) {
            let at = format!("{}:{}", page.kind.name(), page.name);
            assert!(!page.summary.is_empty() && !page.summary.contains('\n'), "{at}");
            assert!(!page.sections.is_empty(), "{at}");
            if !matches!(page.kind, Kind::Parameter | Kind::Term) {
                let shown = page.sections.iter().any(|s| ["Example", "Worked example"].contains(&s.title));
                assert!(shown, "{at} has no example");
            }
        }
    }
}
