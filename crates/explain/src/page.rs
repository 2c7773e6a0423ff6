//! What a page is: its kind, its names, and sections of text, examples, parameters, facts and references.

use serde::Serialize;

use crate::catalogue::ParameterRow;

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
    /// Kinds of locks, words of the parameter `lock`.
    Lock,
    /// Keys of scenarios.
    Key,
    /// Words of the field.
    Term,
    /// Parameters of policies, kernels, runtimes, workloads and machines.
    Parameter,
}

impl Kind {
    /// All kinds in the order of the overview.
    pub const ALL: [Self; 13] = [
        Self::Policy,
        Self::Kernel,
        Self::Runtime,
        Self::Workload,
        Self::Machine,
        Self::Metric,
        Self::Reference,
        Self::Wait,
        Self::Barrier,
        Self::Lock,
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
            Self::Lock => "lock",
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
            Self::Lock => "Locks",
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
    pub(crate) fn new(kind: Kind, name: &str, summary: &str) -> Self {
        Self { kind, name: name.into(), aliases: Vec::new(), summary: summary.into(), sections: Vec::new() }
    }

    /// Adds a section unless it is empty.
    pub(crate) fn with(mut self, title: &'static str, blocks: Vec<Block>) -> Self {
        let blocks: Vec<Block> = blocks.into_iter().filter(|block| !block.is_empty()).collect();
        if !blocks.is_empty() {
            self.sections.push(Section { title, blocks });
        }
        self
    }

    /// The text in a section unless it is empty.
    pub(crate) fn text(self, title: &'static str, text: &str) -> Self {
        self.with(title, vec![Block::Text(text.trim().into())])
    }

    /// Whether its texts contain the word, given in lower case.
    pub(crate) fn mentions(&self, word: &str) -> bool {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        let texts = blocks.filter_map(|b| if let Block::Text(text) = b { Some(text) } else { None });
        texts.chain([&self.summary]).any(|text| text.to_lowercase().contains(word))
    }

    /// Whether this is one of its names, whatever the case and the marks between words.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let wanted = folded(name);
        [&self.name].into_iter().chain(&self.aliases).any(|own| folded(own) == wanted)
    }
}

/// Lower case, with a blank between words: `run time` finds `run_time`, and `fair share` finds `fair-share`.
pub(crate) fn folded(name: &str) -> String {
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
