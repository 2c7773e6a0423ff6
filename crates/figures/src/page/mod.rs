//! A scenario and its results as one page for the browser: nothing is loaded from elsewhere, nothing on it moves.

mod figures;
mod numbers;
mod origin;
mod style;
mod subject;
mod verdicts;

use experiment::PolicyShelf;
use experiment::plan::Experiment;
use experiment::result::Results;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::Drawn;

/// What a page tells.
#[derive(Clone, Copy)]
pub struct Story<'a> {
    /// What was simulated.
    pub experiment: &'a Experiment,
    /// What came out.
    pub results: &'a Results,
    /// The policies that have pages of their own.
    pub policies: &'a PolicyShelf,
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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// What it shows and why just that, a sentence.
    pub about: String,
    /// The picture.
    pub svg: String,
    /// The command that draws it alone.
    pub command: String,
}

/// A section: its anchor, its heading, what it holds.
struct Section {
    id: &'static str,
    title: &'static str,
    body: Markup,
}

/// The page as HTML. The same story gives the same bytes.
#[must_use]
pub fn page(story: &Story<'_>) -> String {
    let p = &story.results.provenance;
    let sections = sections(story);
    let title = format!("{}: {} {}", p.scenario, p.tool, p.version);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ (p.tool) " " (p.version) };
                title { (title) }
                style { (PreEscaped(style::CSS)) }
            }
            body {
                a class="skip" href="#main" { "Skip to the results" }
                header {
                    h1 { (p.scenario) }
                    @if !p.about.is_empty() { p class="about" { (p.about) } }
                    (subject::facts(story))
                }
                nav aria-label="Sections" {
                    ol {
                        @for section in &sections {
                            li { a href={ "#" (section.id) } { (section.title) } }
                        }
                    }
                }
                main id="main" tabindex="-1" {
                    @for section in &sections {
                        section aria-labelledby=(section.id) {
                            h2 id=(section.id) { (section.title) }
                            (section.body)
                        }
                    }
                }
                footer { p { (origin::line(story.results)) } }
            }
        }
    }
    .into_string()
}

fn sections(story: &Story<'_>) -> Vec<Section> {
    let section = |id, title, body| Section { id, title, body };
    let mut all = vec![section("answers", "In short", verdicts::answers(story.results))];
    if !story.results.notes.is_empty() {
        all.push(section("incomplete", "Runs that did not complete", origin::notes(story.results)));
    }
    all.push(section("figures", "Figures", figures::figures(story.drawn)));
    if let Some(slot) = story.timeline {
        all.push(section("timeline", "Who ran where", figures::timeline(slot)));
    }
    all.push(section("verdicts", "Verdicts", verdicts::comparisons(story.results)));
    all.push(section("numbers", "Numbers", numbers::tables(story.results)));
    all.push(section("references", "References", numbers::references(story.results)));
    all.push(section("simulated", "What was simulated", subject::subject(story)));
    all.push(section("repeat", "Where it comes from, and how to repeat it", origin::origin(story)));
    all
}

/// A table with a caption; the first entry of each row is its name. Wide ones scroll, also by keyboard.
fn table(caption: &str, head: &[String], rows: &[Vec<String>]) -> Markup {
    let numeric: Vec<bool> = (0..head.len()).map(|at| at > 0 && is_numeric(rows, at)).collect();
    let class = |at: usize| numeric.get(at).copied().unwrap_or(false).then_some("number");
    html! {
        div class="scroll" role="region" tabindex="0" aria-label=(caption) {
            table {
                caption { (caption) }
                thead { tr { @for (at, name) in head.iter().enumerate() { th scope="col" class=[class(at)] { (name) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (at, entry) in row.iter().enumerate() {
                                @if at == 0 { th scope="row" { (entry) } } @else { td class=[class(at)] { (entry) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Whether a column holds numbers, with units or signs, and is set flush right.
fn is_numeric(rows: &[Vec<String>], column: usize) -> bool {
    let number = |entry: &str| {
        let digits = entry.chars().filter(char::is_ascii_digit).count();
        entry == "-"
            || (digits > 0
                && entry.chars().count() <= 24
                && !entry.contains('=')
                && entry.starts_with(|first: char| first.is_ascii_digit() || "+-<".contains(first)))
    };
    let entries = || rows.iter().filter_map(|row| row.get(column));
    entries().all(|entry| number(entry)) && entries().any(|entry| entry != "-")
}

fn strings(all: &[&str]) -> Vec<String> {
    all.iter().map(|s| (*s).to_owned()).collect()
}

/// Texts of several paragraphs.
fn paragraphs(text: &str) -> Markup {
    html! { @for paragraph in text.split("\n\n").map(str::trim).filter(|p| !p.is_empty()) { p { (paragraph) } } }
}

/// A header whose second column is the configuration, where there are several.
fn head(names: &[&str], configurations: usize) -> Vec<String> {
    let all = names.iter().enumerate().filter(|(at, _)| configurations > 1 || *at != 1);
    all.map(|(_, name)| (*name).to_owned()).collect()
}

/// A row with its configuration second, where there are several.
fn row(
    name: &str,
    configuration: &str,
    rest: impl IntoIterator<Item = String>,
    configurations: usize,
) -> Vec<String> {
    let configuration = Some(configuration.to_owned()).filter(|_| configurations > 1);
    [name.to_owned()].into_iter().chain(configuration).chain(rest).collect()
}

/// The name of a configuration for headings and captions.
fn at_configuration(configuration: &str) -> String {
    if configuration.is_empty() { String::new() } else { format!(" at {configuration}") }
}
