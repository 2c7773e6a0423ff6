//! What is wrong with a text and where, rendered with file, line, column and the line itself.

use std::fmt;
use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::neutral;

/// Most diagnostics shown of one text: nobody reads more at a time.
const MAX_RENDERED: usize = 50;

/// Most characters of a line that are marked.
const MOST_MARKED: usize = 60;

/// A stretch of a source text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// Which source: 0 is the file, others are overrides from the command line.
    pub source: u32,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Place {
    /// The source as a whole.
    pub const NONE: Self = Self { source: 0, start: usize::MAX, end: usize::MAX };

    /// A range of bytes of a source.
    #[must_use]
    pub const fn range(source: u32, range: Range<usize>) -> Self {
        Self { source, start: range.start, end: range.end }
    }

    /// False for "the source as a whole".
    #[must_use]
    pub const fn is_known(self) -> bool {
        self.start != usize::MAX
    }
}

/// One thing that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Where.
    pub place: Place,
    /// What, as a sentence without full stop.
    pub message: String,
    /// What to do, shown under the marked text; may be empty.
    pub hint: String,
    /// Another place that has to do with it, and why.
    pub related: Option<(Place, String)>,
}

impl Diagnostic {
    /// A diagnostic without hint.
    #[must_use]
    pub fn new(place: Place, message: impl Into<String>) -> Self {
        Self { place, message: message.into(), hint: String::new(), related: None }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// The same with a related place.
    #[must_use]
    pub fn related(mut self, place: Place, why: impl Into<String>) -> Self {
        self.related = Some((place, why.into()));
        self
    }
}

/// All that is wrong with some texts; shown as [`Sources::render`] writes it.
#[derive(Clone, Debug)]
pub struct Problems {
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
}

/// A diagnostic with its place as editors count: lines and columns (in characters) from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Located {
    /// Name of the source: the file, or `--set` and the like.
    pub source: String,
    /// False for an override: its line and column are those of the override.
    pub in_file: bool,
    /// First line and column.
    pub start: (usize, usize),
    /// Last line, and the column behind the last character.
    pub end: (usize, usize),
    /// What is wrong.
    pub message: String,
    /// What to do; may be empty.
    pub hint: String,
}

impl Problems {
    /// Diagnostics of these sources.
    #[must_use]
    pub const fn new(sources: Sources, diagnostics: Vec<Diagnostic>) -> Self {
        Self { sources, diagnostics }
    }

    /// Each one with lines and columns, in the order of the places.
    #[must_use]
    pub fn located(&self) -> Vec<Located> {
        let located = |diagnostic: &Diagnostic| {
            let place = diagnostic.place;
            let text = self.sources.texts.get(place.source as usize).map_or("", |(_, text)| text.as_str());
            let (start, end) = match place.is_known() {
                true => (place.start, place.end.max(place.start)),
                false => (0, 0),
            };
            Located {
                source: self.sources.name(place).to_owned(),
                in_file: place.source == 0,
                start: line_and_column(text, start),
                end: line_and_column(text, end),
                message: neutral::lines(&diagnostic.message).into_owned(),
                hint: neutral::lines(&diagnostic.hint).into_owned(),
            }
        };
        in_order(&self.diagnostics).into_iter().map(located).collect()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sources.render(&self.diagnostics))
    }
}

/// Line and column of a byte, from 1.
fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(byte)];
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

/// Diagnostics in the order of their places, each once.
fn in_order(diagnostics: &[Diagnostic]) -> Vec<&Diagnostic> {
    let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
    sorted.sort_by(|a, b| (a.place, &a.message).cmp(&(b.place, &b.message)));
    sorted.dedup();
    sorted
}

/// The texts that places refer to.
#[derive(Clone, Debug)]
pub struct Sources {
    texts: Vec<(String, String)>,
}

impl Sources {
    /// One source, number 0.
    #[must_use]
    pub fn new(name: &str, text: &str) -> Self {
        Self { texts: vec![(name.to_owned(), text.to_owned())] }
    }

    /// Adds a source and returns its number.
    pub fn add(&mut self, name: &str, text: &str) -> u32 {
        self.texts.push((name.to_owned(), text.to_owned()));
        (self.texts.len() - 1) as u32
    }

    /// A whole source; empty when there is none of this number.
    #[must_use]
    pub fn whole(&self, source: u32) -> &str {
        self.texts.get(source as usize).map_or("", |(_, text)| text)
    }

    /// The text at a place; empty when there is none.
    #[must_use]
    pub fn text(&self, place: Place) -> &str {
        self.texts
            .get(place.source as usize)
            .and_then(|(_, text)| text.get(place.start..place.end))
            .unwrap_or("")
    }

    /// All diagnostics in the order of their places, each once, without colour and without invisible
    /// characters. A source as a whole is named with its first line and column.
    #[must_use]
    pub fn render(&self, diagnostics: &[Diagnostic]) -> String {
        let sorted = in_order(diagnostics);
        let left = sorted.len().saturating_sub(MAX_RENDERED);
        let mut rendered: Vec<String> =
            sorted.into_iter().take(MAX_RENDERED).map(|d| self.render_one(d)).collect();
        if left > 0 {
            rendered.push(format!("... and {left} more errors"));
        }
        neutral::lines(&rendered.join("\n\n")).into_owned()
    }

    fn render_one(&self, diagnostic: &Diagnostic) -> String {
        let mut group = Group::with_title(Level::ERROR.primary_title(diagnostic.message.as_str()));
        match self.snippet(diagnostic.place, AnnotationKind::Primary, &diagnostic.hint) {
            Some(snippet) => group = group.element(snippet),
            None => {
                group = group.element(Origin::path(self.name(diagnostic.place)).line(1).char_column(1));
                if !diagnostic.hint.is_empty() {
                    group = group.element(Level::HELP.message(diagnostic.hint.as_str()));
                }
            }
        }
        if let Some((place, why)) = &diagnostic.related
            && let Some(snippet) = self.snippet(*place, AnnotationKind::Context, why)
        {
            group = group.element(snippet);
        }
        Renderer::plain().decor_style(DecorStyle::Ascii).render(&[group])
    }

    fn name(&self, place: Place) -> &str {
        self.texts.get(place.source as usize).map_or("?", |(name, _)| name.as_str())
    }

    fn snippet<'a>(
        &'a self,
        place: Place,
        kind: AnnotationKind,
        label: &'a str,
    ) -> Option<Snippet<'a, annotate_snippets::Annotation<'a>>> {
        let (name, text) = self.texts.get(place.source as usize)?;
        if !place.is_known() || place.start > text.len() || text.trim().is_empty() {
            return None;
        }
        let end = place.end.clamp(place.start, text.len());
        // A long line is not underlined from end to end.
        let shown = text.get(place.start..end).unwrap_or_default();
        let end = match shown.char_indices().nth(MOST_MARKED) {
            Some((at, _)) if !shown.contains('\n') => place.start + at,
            _ => end,
        };
        let annotation = kind.span(place.start..end);
        let annotation = if label.is_empty() { annotation } else { annotation.label(label) };
        Some(Snippet::source(text.as_str()).path(name.as_str()).annotation(annotation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_shows_file_line_column_and_hint() {
        let sources = Sources::new("a.yaml", "name: x\nmachne: barcelona\n");
        let diagnostic =
            Diagnostic::new(Place::range(0, 8..14), "unknown key `machne`").hint("did you mean `machine`?");
        let expected = "\
error: unknown key `machne`
 --> a.yaml:2:1
  |
2 | machne: barcelona
  | ^^^^^^ did you mean `machine`?";
        assert_eq!(sources.render(&[diagnostic.clone(), diagnostic]), expected);
    }

    #[test]
    fn places_are_counted_in_characters_from_1() {
        let mut sources = Sources::new("a.yaml", "name: \u{e4}\u{e4} x\nb: 1\n");
        let set = sources.add("--set", "b=2");
        let at = |source, range| Diagnostic::new(Place::range(source, range), "wrong");
        let problems =
            Problems::new(sources, vec![at(set, 2..3), at(0, 11..13), Diagnostic::new(Place::NONE, "all")]);
        let found = problems.located();
        let places: Vec<_> = found.iter().map(|l| (l.source.as_str(), l.in_file, l.start, l.end)).collect();
        assert_eq!(
            places,
            [
                ("a.yaml", true, (1, 10), (2, 1)),
                ("a.yaml", true, (1, 1), (1, 1)),
                ("--set", false, (1, 3), (1, 4))
            ]
        );
    }

    #[test]
    fn what_is_not_seen_is_shown_in_all_parts() {
        let sources = Sources::new("a\u{1b}.yaml", "name: \u{1b}[31m\u{200b}\r\nx: 1\r\n");
        let diagnostic = Diagnostic::new(Place::range(0, 0..4), "bad \u{7}").hint("no \u{202e}");
        let text = sources.render(&[diagnostic]);
        assert!(text.contains("a␛.yaml:1:1") && text.contains("name: ␛[31m"), "{text}");
        assert!(!text.contains(|c| neutral::is_invisible(c) && c != '\n'), "{text:?}");
    }

    #[test]
    fn a_diagnostic_without_place_names_the_file() {
        let sources = Sources::new("a.yaml", "");
        let text = sources.render(&[Diagnostic::new(Place::NONE, "the file is empty")]);
        assert_eq!(text, "error: the file is empty\n--> a.yaml:1:1");
    }
}
