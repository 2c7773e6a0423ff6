//! A scenario and its results as one page for the browser: nothing is loaded from elsewhere, and it is whole
//! without its script.

mod answer;
mod comparisons;
mod figures;
mod numbers;
mod origin;
mod script;
mod style;
mod subject;
mod view;

use experiment::PolicyRegistry;
use experiment::result::Results;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use notation::neutral;
use scenario::plan::Experiment;

use crate::canvas::Picture;
use crate::figures::Drawn;
use crate::html::head;
use view::View;

/// What a page shows.
#[derive(Clone, Copy)]
pub struct Story<'a> {
    /// What was simulated.
    pub experiment: &'a Experiment,
    /// What came out.
    pub results: &'a Results,
    /// The policies that have pages of their own.
    pub policies: &'a PolicyRegistry,
    /// The figures.
    pub drawn: &'a Drawn,
    /// A timeline, if there is one.
    pub timeline: Option<&'a Slot>,
    /// The command that makes this page again.
    pub command: &'a str,
    /// Name of the scenario's file.
    pub file: &'a str,
}

/// A picture made elsewhere.
#[derive(Clone, PartialEq, Debug)]
pub struct Slot {
    /// What it shows and why just that, a sentence.
    pub about: String,
    /// The picture.
    pub picture: Picture,
    /// The command that draws it alone.
    pub command: String,
    /// The same window in more detail, for a reader who enlarges it ([`crate::timeline::data::data`]); none
    /// when it is too large for a page.
    pub detail: Option<String>,
}

/// What the page of a sweep shows.
#[derive(Clone, Copy)]
pub struct SweepStory<'a> {
    /// What came out.
    pub results: &'a Results,
    /// The figures.
    pub drawn: &'a Drawn,
    /// The sentences about the best policies and the shares of variance.
    pub sentences: &'a [String],
    /// The command that makes this page again.
    pub command: &'a str,
    /// The scenario as read.
    pub scenario: &'a str,
}

/// The page of a sweep as HTML. The same story gives the same bytes.
#[must_use]
pub fn sweep_page(story: &SweepStory<'_>) -> String {
    let p = &story.results.provenance;
    let section = |id, title, body| Section { id, title, body };
    let answer = html! { @for sentence in story.sentences { p { (sentence) } } };
    let mut sections = vec![section("answer", "Answer", answer)];
    if !story.results.notes.is_empty() {
        sections.push(section("incomplete", "Runs that did not complete", origin::notes(story.results)));
    }
    sections.push(section("figures", "Figures", figures::figures(story.drawn)));
    let axis = |axis: &scenario::configuration::Axis| {
        let few = axis.values.len() <= MOST_VALUES;
        let values = if few { axis.values.join(", ") } else { format!("{} values", axis.values.len()) };
        vec![axis.path.clone(), values]
    };
    let axes =
        Grid::new("Swept parameters", strings(&["Path", "Values"]), p.sweep.iter().map(axis).collect());
    sections.push(section("parameters", "Parameters", axes.markup()));
    let scenario = (p.scenario.as_str(), story.scenario);
    sections.push(section(
        "provenance",
        "Provenance",
        origin::origin(story.results, story.command, scenario),
    ));
    let facts = [
        ("Configurations", p.configurations.len().to_string()),
        ("Policies", p.policies.join(", ")),
        ("Seeds", p.repeat.to_string()),
        ("Runs", p.runs.to_string()),
        ("Kernels", p.kernels.join(", ")),
    ];
    let facts = html! { dl class="facts" { @for (name, value) in &facts { dt { (name) } dd { (value) } } } };
    document(story.results, &facts, &sections)
}

/// Most values of a parameter that a page lists.
const MOST_VALUES: usize = 30;

/// A section: its anchor, its heading, what it holds.
struct Section {
    id: &'static str,
    title: &'static str,
    body: Markup,
}

/// The page as HTML. The same story gives the same bytes.
#[must_use]
pub fn page(story: &Story<'_>) -> String {
    document(story.results, &subject::facts(story), &sections(story))
}

/// A page with these facts at its head.
fn document(results: &Results, facts: &Markup, sections: &[Section]) -> String {
    let p = &results.provenance;
    let title = format!("{}: {} {}", p.scenario, p.tool, p.version);
    let text = html! {
        (DOCTYPE)
        html lang="en" {
            (head(&title, &format!("{} {}", p.tool, p.version), style::CSS))
            body {
                a class="skip" href="#main" { "Skip to the results" }
                header {
                    h1 { (p.scenario) }
                    @if !p.about.is_empty() { p class="about" { (p.about) } }
                    (facts)
                }
                nav aria-label="Sections" {
                    ol {
                        @for section in sections {
                            li { a href={ "#" (section.id) } { (section.title) } }
                        }
                    }
                }
                main id="main" tabindex="-1" {
                    @for section in sections {
                        section aria-labelledby=(section.id) {
                            h2 id=(section.id) { (section.title) }
                            (section.body)
                        }
                    }
                }
                footer { p { (origin::line(results)) } }
                script { (PreEscaped(script::script())) }
            }
        }
    }
    .into_string();
    // Tags are escaped where the text is made; what is not seen is shown here.
    neutral::lines(&text).into_owned()
}

fn sections(story: &Story<'_>) -> Vec<Section> {
    let view = View::of(story.results);
    let section = |id, title, body| Section { id, title, body };
    let mut all = vec![section("answer", "Answer", answer::answer(&view))];
    if !story.results.notes.is_empty() {
        all.push(section("incomplete", "Runs that did not complete", origin::notes(story.results)));
    }
    all.push(section("figures", "Figures", figures::figures(story.drawn)));
    if let Some(slot) = story.timeline {
        all.push(section("timeline", "Who ran where", figures::timeline(slot)));
    }
    all.push(section("comparisons", "Comparisons", comparisons::comparisons(&view)));
    all.push(section("numbers", "Numbers", numbers::tables(&view)));
    if !story.results.counters.is_empty() {
        all.push(section("counters", "Counters", origin::counters(story.results)));
    }
    all.push(section("references", "References", numbers::references(&view)));
    all.push(section("simulated", "What was simulated", subject::subject(story)));
    let scenario = (story.file, story.experiment.scenario_text.as_str());
    all.push(section("provenance", "Provenance", origin::origin(story.results, story.command, scenario)));
    all
}

/// An entry of more letters than this takes several lines.
const LONG: usize = 36;

/// A table of texts.
struct Grid {
    caption: String,
    head: Vec<String>,
    /// The rows; the first entry of each is its name.
    rows: Vec<Vec<String>>,
    /// Rows that stay below the others.
    last: Vec<Vec<String>>,
}

impl Grid {
    fn new(caption: &str, head: Vec<String>, rows: Vec<Vec<String>>) -> Self {
        Self { caption: caption.to_owned(), head, rows, last: Vec::new() }
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.last.is_empty()
    }

    /// With a caption. A wide one scrolls, also by keyboard.
    fn markup(&self) -> Markup {
        let classes: Vec<Option<&str>> = (0..self.head.len()).map(|at| self.class(at)).collect();
        let class = |at: usize| classes.get(at).copied().flatten();
        let body = |rows: &[Vec<String>]| {
            html! {
                tbody {
                    @for row in rows {
                        tr {
                            @for (at, entry) in row.iter().enumerate() {
                                @if at == 0 { th scope="row" { (entry) } }
                                @else { td class=[class(at)] { (entry) } }
                            }
                        }
                    }
                }
            }
        };
        html! {
            div class="scroll" role="region" tabindex="0" aria-label=(self.caption) {
                table {
                    caption { (self.caption) }
                    thead {
                        tr { @for (at, name) in self.head.iter().enumerate() {
                            th scope="col" class=[class(at)] { (name) }
                        } }
                    }
                    (body(&self.rows))
                    @if !self.last.is_empty() { (body(&self.last)) }
                }
            }
        }
    }

    /// How a column is set: flush right where it holds numbers, in several lines where an entry is long.
    fn class(&self, column: usize) -> Option<&'static str> {
        let mut entries = self.rows.iter().chain(&self.last).filter_map(|row| row.get(column));
        match column {
            0 => None,
            _ if self.is_numeric(column) => Some("number"),
            _ => entries.any(|entry| entry.chars().count() > LONG).then_some("long"),
        }
    }

    /// Whether a column holds numbers, with units or signs, and is set flush right.
    fn is_numeric(&self, column: usize) -> bool {
        let number = |entry: &str| {
            let digits = entry.chars().filter(char::is_ascii_digit).count();
            entry == "-"
                || (digits > 0
                    && entry.chars().count() <= 24
                    && !entry.contains('=')
                    && entry.starts_with(|first: char| first.is_ascii_digit() || "+-<".contains(first)))
        };
        let entries = || self.rows.iter().chain(&self.last).filter_map(|row| row.get(column));
        entries().all(|entry| number(entry)) && entries().any(|entry| entry != "-")
    }
}

fn strings(all: &[&str]) -> Vec<String> {
    all.iter().map(|s| (*s).to_owned()).collect()
}

/// Texts of several paragraphs.
fn paragraphs(text: &str) -> Markup {
    let paragraphs = text.split("\n\n").map(str::trim).filter(|p| !p.is_empty());
    html! { @for paragraph in paragraphs { p { (paragraph) } } }
}
