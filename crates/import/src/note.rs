//! What differs between a file and the scenario that was made of it.

use std::fmt;

use notation::neutral;

/// Most places that are listed of notes with the same words.
const MOST_PLACES: usize = 5;

/// How much a note matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// The scenario lacks something that could act on a schedule.
    LeftOut,
    /// The scenario has it, and it behaves differently in a case that the note names.
    Differs,
    /// The file does not say it.
    Assumed,
    /// It has no effect on a schedule (names, log files).
    NoEffect,
}

impl Kind {
    /// How the list begins.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::LeftOut => "left out",
            Self::Differs => "differs",
            Self::Assumed => "assumed",
            Self::NoEffect => "no effect",
        }
    }
}

/// A difference between a file and the scenario that was made of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// How much it matters.
    pub kind: Kind,
    /// Where it is in the file: line and path. Empty: the file as a whole.
    pub place: String,
    /// What it is, as a sentence without full stop.
    pub what: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.place.is_empty() { "" } else { ": " };
        let text = format!("{}: {}{colon}{}", self.kind.word(), self.place, self.what);
        f.write_str(&neutral::line(&text))
    }
}

/// Notes as they are found.
#[derive(Default, Debug)]
pub(crate) struct Notes {
    found: Vec<Note>,
}

impl Notes {
    pub(crate) fn left_out(&mut self, place: impl Into<String>, what: impl Into<String>) {
        self.add(Kind::LeftOut, place.into(), what.into());
    }

    pub(crate) fn differs(&mut self, place: impl Into<String>, what: impl Into<String>) {
        self.add(Kind::Differs, place.into(), what.into());
    }

    pub(crate) fn assumed(&mut self, place: impl Into<String>, what: impl Into<String>) {
        self.add(Kind::Assumed, place.into(), what.into());
    }

    pub(crate) fn no_effect(&mut self, place: impl Into<String>, what: impl Into<String>) {
        self.add(Kind::NoEffect, place.into(), what.into());
    }

    fn add(&mut self, kind: Kind, place: String, what: String) {
        self.found.push(Note { kind, place, what });
    }

    /// All of them: the most important first, and those with the same words together.
    pub(crate) fn done(self) -> Vec<Note> {
        let mut done: Vec<(Note, usize)> = Vec::new();
        let mut known = std::collections::BTreeMap::new();
        for note in self.found {
            match known.get(&(note.kind, note.what.clone())) {
                Some(at) => {
                    let (first, more): &mut (Note, usize) = &mut done[*at];
                    *more += 1;
                    if *more <= MOST_PLACES {
                        first.place = format!("{}, {}", first.place, note.place);
                    }
                }
                None => {
                    known.insert((note.kind, note.what.clone()), done.len());
                    done.push((note, 1));
                }
            }
        }
        let mut notes: Vec<Note> = done
            .into_iter()
            .map(|(mut note, times)| {
                if times > MOST_PLACES {
                    note.place = format!("{} and {} more places", note.place, times - MOST_PLACES);
                }
                note
            })
            .collect();
        notes.sort_by_key(|note| note.kind);
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_listed_once_and_what_is_missing_comes_first() {
        let mut notes = Notes::default();
        notes.assumed("", "a core");
        (1..=8).for_each(|line| notes.left_out(format!("line {line}"), "no memory"));
        let done = notes.done();
        assert_eq!(done.len(), 2);
        let places = "line 1, line 2, line 3, line 4, line 5 and 3 more places";
        assert_eq!(done[0].to_string(), format!("left out: {places}: no memory"));
        assert_eq!(done[1].to_string(), "assumed: a core");
    }
}
