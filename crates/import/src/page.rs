//! The text of a scenario as it is written: lines with the origin of their numbers.

use std::collections::BTreeSet;

use kernels::DEFAULT_KERNEL;
use notation::lists::ranges;
use notation::neutral;

use crate::note::{Note, Notes};
use crate::{Form, Imported, Options, Refused};

/// Longest name of an application that is written: parts of names get numbers behind them.
const LONGEST_NAME: usize = 48;
/// Cores of a machine that neither the file nor the command line states.
const CORES: u32 = 4;
/// Most cores of a machine that is made up.
pub(crate) const MOST_CORES: u32 = 4_096;
/// Longest comment.
const LONGEST_COMMENT: usize = 160;

/// A scenario in the making.
pub(crate) struct Page {
    text: String,
    pub(crate) notes: Notes,
}

impl Page {
    pub(crate) fn new() -> Self {
        Self { text: String::new(), notes: Notes::default() }
    }

    /// A line, indented by so many spaces, with the origin of its numbers; an empty origin is not written.
    pub(crate) fn line(&mut self, indent: usize, text: &str, origin: &str) {
        self.text.push_str(&" ".repeat(indent));
        self.text.push_str(text);
        if !origin.is_empty() {
            self.text.push_str("  # ");
            self.text.push_str(&comment(origin));
        }
        self.text.push('\n');
    }

    /// The keys before the applications; `cpus` is the number of cpus that the file needs at least.
    pub(crate) fn head(&mut self, options: &Options, cpus: u32) {
        let cores = options.cores.unwrap_or_else(|| CORES.max(cpus)).min(MOST_CORES);
        match (&options.machine, options.cores) {
            (Some(machine), _) => self.line(0, &format!("machine: {}", quoted(machine)), "--machine"),
            (None, Some(_)) => self.machine(cores, "--cores"),
            (None, None) => {
                let why = if cpus > CORES { "as many as the file names" } else { "the file states none" };
                self.notes.assumed("", format!("a machine of {cores} cores, {why} (`--machine`, `--cores`)"));
                self.machine(cores, "assumed");
            }
        }
        self.line(0, &format!("kernel: {DEFAULT_KERNEL}"), "");
    }

    fn machine(&mut self, cores: u32, origin: &str) {
        self.line(0, &format!("machine: \"package:1 numa:1 core:{cores} pu:1\""), origin);
    }

    /// The whole text: what it was made from, its notes, its name, and what was written.
    pub(crate) fn done(self, form: Form, source: &str, options: &Options) -> Imported {
        let notes = self.notes.done();
        let mut text = format!(
            "# Imported from {} ({}) by `oversim import`. Comments name where each number comes from.\n",
            comment(source),
            form.title(),
        );
        for Note { kind, place, what } in &notes {
            let colon = if place.is_empty() { "" } else { ": " };
            text += &format!("# {}: {}{colon}{}\n", kind.word(), shown(place), shown(what));
        }
        text += &format!("name: {}\n", options.name);
        text += &self.text;
        Imported { form, text, notes }
    }
}

/// The cpus of the machine that was asked for, or of the one that is made up.
///
/// # Errors
/// The machine is not known here; one in a file needs `--cores`.
pub(crate) fn cpus(options: &Options, needed: u32) -> Result<u32, Refused> {
    match (&options.machine, options.cores) {
        (_, Some(cores)) => Ok(cores),
        (None, None) => Ok(CORES.max(needed).min(MOST_CORES)),
        (Some(machine), None) => match machines::resolve(machine) {
            Ok(entry) => Ok(entry.machine().cpus()),
            Err(why) => Err(Refused::Sentence(format!("{why}; for a machine in a file state its `--cores`"))),
        },
    }
}

/// The lines that give an application its workload: of `--workload`, or the placeholder, which is stated.
pub(crate) fn workload(page: &mut Page, options: &Options) -> String {
    match &options.workload {
        Some(workload) => format!("workload: {workload}"),
        None => {
            page.notes.assumed(
                "",
                "what runs is not stated: each application computes 1 s for each of its tasks \
                    (`{ hog: { work: 1s } }`); give another one by `--workload`",
            );
            "workload: { hog: { work: 1s } }".to_owned()
        }
    }
}

/// A path of lines and names for a comment.
fn comment(text: &str) -> String {
    let text = neutral::line(text);
    let mut short: String = text.chars().take(LONGEST_COMMENT).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

/// As [`comment`], of any length.
fn shown(text: &str) -> String {
    neutral::line(text).into_owned()
}

/// A text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", neutral::line(text).replace('\\', "\\\\").replace('"', "\\\""))
}

/// A list of cpus in the numbers of Linux.
pub(crate) fn list(cpus: &[u32]) -> String {
    ranges(cpus.iter().copied())
}

/// A legal name made of a text; one that begins with a digit, or has no legal character, begins with
/// `otherwise`.
#[must_use]
pub fn word(text: &str, otherwise: &str) -> String {
    let good = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '-' };
    let word: String = text.chars().take(LONGEST_NAME).map(good).collect();
    let word = word.trim_matches('-');
    match word.chars().next() {
        None => otherwise.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("{otherwise}-{word}"),
        Some(_) => word.to_owned(),
    }
}

/// Names that are taken already.
#[derive(Default)]
pub(crate) struct Names(BTreeSet<String>);

impl Names {
    /// A legal name made of a text that no other one has.
    pub(crate) fn unique(&mut self, text: &str, otherwise: &str) -> String {
        let base = word(text, otherwise);
        let mut name = base.clone();
        let mut number = 2_u64;
        while !self.0.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    }
}

/// The place of a line of a file, with the path of what is there.
pub(crate) fn at(line: usize, path: &str) -> String {
    format!("line {line}: {path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal_and_different() {
        let mut names = Names::default();
        assert_eq!(names.unique("mp3.decoder", "t"), "mp3-decoder");
        assert_eq!(names.unique("mp3/decoder", "t"), "mp3-decoder_2");
        assert_eq!([names.unique("", "t"), names.unique("12", "t")], ["t", "t-12"]);
        assert_eq!(word(&"x".repeat(500), "t").len(), LONGEST_NAME);
        assert_eq!(word("é\u{202e}", "t"), "t");
    }

    #[test]
    fn comments_stay_on_their_line() {
        let mut page = Page::new();
        page.line(2, "a: 1", "x\ny: 2");
        assert_eq!(page.text, "  a: 1  # x\u{240a}y: 2\n");
    }
}
