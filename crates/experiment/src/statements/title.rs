//! A title of a figure as a value: clauses of words and of places, which become text last.

use std::fmt;

use crate::number::listed;

/// What stands in parentheses behind a value: whose it is, or where.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Program, policy, or both: `cg under LOAD`.
    pub who: String,
    /// The settings of its configuration, `threads_per_core=4`; may be empty.
    pub settings: String,
    /// Policies that are level with it.
    pub level: Vec<String>,
}

impl Place {
    /// Without policies that are level.
    #[must_use]
    pub fn new(who: String, settings: String) -> Self {
        Self { who, settings, level: Vec::new() }
    }

    fn written(&self, how: How) -> Option<String> {
        let (others, names) = (self.level.len(), listed(&self.level));
        let place = match (how.places, self.settings.is_empty()) {
            (Places::None, _) => {
                return match others {
                    0 => None,
                    1 => Some(format!(" (level: {names})")),
                    _ => Some(format!(" (level: {others} others)")),
                };
            }
            (_, true) => self.who.clone(),
            (Places::All, false) => format!("{} with {}", self.who, self.settings),
            (Places::Short, false) => format!("{} with ...", self.who),
            (Places::Settings, false) => self.settings.clone(),
        };
        let level = if others == 0 { String::new() } else { format!("; level: {names}") };
        Some(format!(" ({place}{level})"))
    }
}

/// A part of a clause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Words that are always there.
    Words(String),
    /// The place of the value before it.
    Place(Place),
    /// A remark on the words before it, in parentheses, which goes with the places.
    Remark(String),
}

/// How much of the places is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Places {
    All,
    /// Only the settings: both places have the same program and policy.
    Settings,
    /// `...` for the settings.
    Short,
    None,
}

#[derive(Clone, Copy)]
struct How {
    clauses: usize,
    places: Places,
}

/// A title: clauses, the first of which is true alone.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Title(Vec<Vec<Piece>>);

impl From<String> for Title {
    fn from(words: String) -> Self {
        Self(vec![vec![Piece::Words(words)]])
    }
}

impl Title {
    /// A title of one clause.
    #[must_use]
    pub fn new(pieces: Vec<Piece>) -> Self {
        Self(vec![pieces])
    }

    /// With another clause.
    #[must_use]
    pub fn and(mut self, pieces: Vec<Piece>) -> Self {
        self.0.push(pieces);
        self
    }

    /// The text in a form; none if a shorter form names the same place twice in a row.
    fn written(&self, how: How) -> Option<String> {
        let mut text = String::new();
        let mut before = None;
        for (at, clause) in self.0.iter().take(how.clauses).enumerate() {
            text.push_str(if at > 0 { "; " } else { "" });
            for piece in clause {
                let place = match piece {
                    Piece::Words(words) => {
                        text.push_str(words);
                        continue;
                    }
                    Piece::Place(place) => place.written(how),
                    Piece::Remark(_) if how.places == Places::None => None,
                    Piece::Remark(remark) => Some(format!(" ({remark})")),
                };
                let Some(place) = place else { continue };
                let whole = how.places == Places::All && how.clauses == self.0.len();
                if !whole && before.as_ref() == Some(&place) {
                    return None;
                }
                text.push_str(&place);
                before = Some(place);
            }
        }
        Some(text)
    }

    /// The title and shorter forms of it that are as true, the better ones first: with `...` for the settings
    /// of its places, without its last clause, without its places. What is level is always named or counted.
    #[must_use]
    pub fn forms(&self) -> Vec<String> {
        let all = self.0.len();
        let mut hows = vec![How { clauses: all, places: Places::All }];
        let places = self.0.iter().flatten().filter(|piece| !matches!(piece, Piece::Words(_)));
        if let [Piece::Place(a), Piece::Place(b)] = places.collect::<Vec<_>>()[..]
            && a.who == b.who
            && !a.settings.is_empty()
            && !b.settings.is_empty()
        {
            hows.push(How { clauses: all, places: Places::Settings });
        }
        hows.push(How { clauses: all, places: Places::Short });
        for clauses in (1..all).rev() {
            hows.extend([Places::All, Places::Short].map(|places| How { clauses, places }));
        }
        hows.push(How { clauses: 1, places: Places::None });
        let mut forms: Vec<String> = hows.into_iter().filter_map(|how| self.written(how)).collect();
        forms.dedup();
        forms
    }
}

impl fmt::Display for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = How { clauses: self.0.len(), places: Places::All };
        f.write_str(&self.written(whole).unwrap_or_default())
    }
}
