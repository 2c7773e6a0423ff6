//! The names and lists of a file of claims, and the cells that they make.

use std::cell::Cell as Counter;
use std::collections::BTreeMap;
use std::sync::Arc;

use experiment::metrics::{METRICS, Metric, Reduction, Scope};
use notation::declare::Choice;
use notation::suggest::nearest;

use super::formula::{Formula, split};
use super::named;
use crate::lab::{self, Cell, Function, Measure, Measured, Quantity, Setting, Study, What};

/// A scenario of the file of claims by the path it gives: its text, or why it cannot be read.
pub type Load<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Most entries of a list, and measures of a claim.
const MOST: usize = 20_000;
/// Lists in lists, at most so deep.
const DEEPEST: usize = 8;

/// Settings by name, lists by name.
#[derive(Default)]
pub(super) struct Names {
    pub(super) settings: BTreeMap<String, Vec<(String, Setting)>>,
    pub(super) lists: BTreeMap<String, Vec<String>>,
}

/// An entry of a list: names, and what is meant by `$x` and by `x` in a formula.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Entry {
    names: Vec<String>,
    bound: BTreeMap<String, Vec<String>>,
    numbers: BTreeMap<String, f64>,
}

impl Entry {
    /// The entry with these names.
    pub(super) const fn of(names: Vec<String>) -> Self {
        Self { names, bound: BTreeMap::new(), numbers: BTreeMap::new() }
    }

    /// Its names, and those that it binds.
    pub(super) fn label(&self) -> String {
        let bound = self.bound.values().flatten();
        self.names.iter().chain(bound).map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// This and another one.
    pub(super) fn and(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.names.extend(other.names.iter().cloned());
        both.bound.extend(other.bound.clone());
        both.numbers.extend(other.numbers.clone());
        both
    }

    /// This and the names at a place of a formula, `$x` replaced.
    fn with(&self, names: &[String]) -> Result<Self, String> {
        let mut all = self.clone();
        for name in names {
            match name.strip_prefix('$') {
                None => all.names.push(name.clone()),
                Some(bound) => match self.bound.get(bound) {
                    Some(names) => all.names.extend(names.iter().cloned()),
                    None => return Err(format!("nothing is called `{bound}` in `{}`", self.label())),
                },
            }
        }
        Ok(all)
    }
}

impl Names {
    /// The entries of lines such as `tigerton | barcelona, *programs, x: upc & alone, cores = 4`: every
    /// combination of the alternatives, the first slowest.
    ///
    /// # Errors
    /// A list does not exist, or there are too many entries.
    pub(super) fn entries(&self, lines: &[String]) -> Result<Vec<Entry>, String> {
        self.nested(lines, 0)
    }

    fn nested(&self, lines: &[String], depth: usize) -> Result<Vec<Entry>, String> {
        let mut all = Vec::new();
        for line in lines {
            let mut product = vec![Entry::default()];
            for term in split(line, ",") {
                let mut alternatives = Vec::new();
                for alternative in split(&term, "|") {
                    alternatives.extend(self.alternative(&alternative, depth)?);
                }
                if product.len().saturating_mul(alternatives.len()) > MOST {
                    return Err(format!("`{line}` makes more than {MOST} entries"));
                }
                product =
                    product.iter().flat_map(|one| alternatives.iter().map(|two| one.and(two))).collect();
            }
            all.extend(product);
            if all.len() > MOST {
                return Err(format!("a list of more than {MOST} entries"));
            }
        }
        Ok(all)
    }

    fn alternative(&self, text: &str, depth: usize) -> Result<Vec<Entry>, String> {
        if let Some(list) = text.strip_prefix('*') {
            if depth >= DEEPEST {
                return Err(format!("lists are nested more than {DEEPEST} deep"));
            }
            return self.nested(self.list(list)?, depth + 1);
        }
        let mut entry = Entry::default();
        if let Some((name, names)) = text.split_once(':') {
            entry.bound.insert(name.trim().to_owned(), split(names, "&"));
        } else if let Some((name, Ok(number))) =
            text.split_once(" = ").map(|(name, number)| (name, number.trim().parse::<f64>()))
        {
            entry.numbers.insert(name.trim().to_owned(), number);
        } else {
            entry.names.push(text.to_owned());
        }
        Ok(vec![entry])
    }

    fn list(&self, name: &str) -> Result<&[String], String> {
        self.lists.get(name).map(Vec::as_slice).ok_or_else(|| unknown("list", name, self.lists.keys()))
    }

    /// A formula in an entry: what it asks of which cells.
    ///
    /// # Errors
    /// A name, a list or a study does not exist, or the formula asks for too much.
    pub(super) fn quantity(&self, formula: &Formula, at: &Entry, load: Load<'_>) -> Result<Quantity, String> {
        Asking { names: self, load, left: Counter::new(MOST) }.quantity(formula, at)
    }
}

/// The names that one claim asks with, and how much more it may ask for.
struct Asking<'a> {
    names: &'a Names,
    load: Load<'a>,
    left: Counter<usize>,
}

impl Asking<'_> {
    fn quantity(&self, formula: &Formula, at: &Entry) -> Result<Quantity, String> {
        match formula {
            Formula::Number(number) => Ok(Quantity::Number(*number)),
            Formula::Measure { what, names } => match at.numbers.get(what) {
                Some(number) if names.is_empty() => Ok(Quantity::Number(*number)),
                _ => self.measure(what, &at.with(names)?.names),
            },
            Formula::Call { function, list, parts } => {
                let entries = match list {
                    None => vec![at.clone()],
                    Some((list, names)) => {
                        let at = at.with(names)?;
                        let entries = self.names.entries(self.names.list(list)?)?;
                        entries.iter().map(|entry| at.and(entry)).collect()
                    }
                };
                let each = entries.iter().flat_map(|entry| parts.iter().map(move |part| (entry, part)));
                let of: Vec<Quantity> =
                    each.map(|(entry, part)| self.quantity(part, entry)).collect::<Result<_, _>>()?;
                let many = list.is_some() || (*function == Function::Mean && of.len() > 1);
                let least =
                    if matches!(function, Function::UnlessZero | Function::OnlyIf | Function::Correlation) {
                        2
                    } else {
                        1
                    };
                if of.len() < least || parts.len() > 1 && of.is_empty() {
                    return Err(format!("too few quantities for {function:?}"));
                }
                Ok(Quantity::of(*function, many, of))
            }
        }
    }

    /// A measure in the cell that names make.
    fn measure(&self, what: &str, names: &[String]) -> Result<Quantity, String> {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.ok_or_else(|| format!("more than {MOST} measures in one quantity"))?);
        let mut settings: BTreeMap<&str, Setting> = BTreeMap::new();
        for name in names {
            match self.names.settings.get(name) {
                Some(named) => {
                    settings.extend(named.iter().map(|(path, value)| (path.as_str(), value.clone())));
                }
                None => match name.split_once('=') {
                    Some((path, value)) => {
                        settings.insert(path.trim(), Setting::read(value.trim())?);
                    }
                    None => return Err(unknown("settings", name, self.names.settings.keys())),
                },
            }
        }
        let mut word = |key: &str| settings.remove(key).map(|value| value.to_string());
        let number = |text: String| {
            text.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or(format!("`{text}` is no number"))
        };
        if let Some(value) = word("value") {
            return number(value).map(Quantity::Number);
        }
        let Some(study) = word("study") else {
            return Err(format!("`{}` names no study", names.join(", ")));
        };
        let cell = cell_of(&study, &word("policy").unwrap_or_else(|| "LOAD".to_owned()), self.load)?;
        let barriers = word("barriers").map_or(Ok(1.0), number)?;
        let task = word("task").map(number).transpose()?.map(|task| task as usize);
        let (app, beside) = (word("app").unwrap_or_default(), word("beside"));
        let cell = settings.into_iter().fold(cell, |cell, (path, value)| cell.set(path, value));
        let what = match named(what) {
            Some(measure) => Measured::What(measure),
            None if metrics().any(|known| known.name == what) => Measured::Metric(what.to_owned()),
            None => {
                let known: Vec<String> = What::WORDS.iter().map(|word| (*word).to_owned()).collect();
                return Err(unknown("measure", what, known.iter()));
            }
        };
        Ok(Quantity::Measure(Box::new(Measure { what, cell, app, barriers, task, beside })))
    }
}

/// The cell of a study that is built in, or of the scenario at a path.
pub(super) fn cell_of(name: &str, policy: &str, load: Load<'_>) -> Result<Cell, String> {
    if std::path::Path::new(name).extension().is_some_and(|end| end == "yaml" || end == "yml") {
        return Ok(Cell::of(&Arc::new(Study::own(name, load(name)?)), policy));
    }
    match lab::find(name) {
        Some(study) => Ok(Cell::new(&study.name, policy)),
        None => {
            let known = lab::STUDIES.iter().map(|study| study.name.to_string()).collect::<Vec<_>>();
            Err(unknown("study", name, known.iter()))
        }
    }
}

/// The metrics that a claim may name.
pub(super) fn metrics() -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().filter(|m| m.scope == Scope::App && m.reduction == Reduction::Statistics)
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a String>) -> String {
    let hint = nearest(name, known.map(String::as_str));
    let hint = hint.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    format!("no {what} is called `{name}`{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::formula;

    fn names() -> Names {
        let set = |pairs: &[(&str, &str)]| -> Vec<(String, Setting)> {
            pairs.iter().map(|(path, value)| ((*path).to_owned(), (*value).into())).collect()
        };
        let settings = [
            ("team", set(&[("study", "modern_team"), ("app", "team")])),
            ("four", set(&[("apps.team.tasks", "4")])),
            ("eight", set(&[("apps.team.tasks", "8")])),
            ("known", set(&[("value", "3.5")])),
        ];
        let lists = [("sizes", "four | eight"), ("both", "*sizes, PIN | LOAD"), ("round", "*round")];
        Names {
            settings: settings.into_iter().map(|(name, set)| (name.to_owned(), set)).collect(),
            lists: lists.into_iter().map(|(name, line)| (name.to_owned(), vec![line.to_owned()])).collect(),
        }
    }

    fn quantity(text: &str, at: &str) -> Result<Quantity, String> {
        let no = |_: &str| Err("no".to_owned());
        names().quantity(&formula::read(text)?, &Entry::of(split(at, ",")), &no)
    }

    #[test]
    fn lists_make_every_combination() {
        let labels = |line: &str| -> Vec<String> {
            names().entries(&[line.to_owned()]).unwrap().iter().map(Entry::label).collect()
        };
        assert_eq!(labels("*both"), ["four PIN", "four LOAD", "eight PIN", "eight LOAD"]);
        assert_eq!(labels("a, x: b & c, n = 3"), ["a b c"]);
        assert!(names().entries(&["*round".into()]).unwrap_err().contains("deep"));
        let large = vec!["a | b"; 30].join(", ");
        assert!(names().entries(&[large]).unwrap_err().contains("more than"));
    }

    #[test]
    fn names_make_cells() {
        let Quantity::Of { function: Function::Mean, many: true, parts } =
            quantity("mean(sizes: timed)", "team, kernel.tick=1ms").unwrap()
        else {
            panic!()
        };
        let Quantity::Measure(measure) = &parts[1] else { panic!() };
        assert_eq!(measure.cell.key(), "modern_team LOAD apps.team.tasks=8 kernel.tick=1ms");
        assert_eq!((measure.app.as_str(), measure.what.clone()), ("team", Measured::What(What::Timed)));
        assert_eq!(quantity("timed{known}", "").unwrap(), Quantity::Number(3.5));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, at, part) in [
            ("timed{fuor}", "team", "did you mean `four`"),
            ("timed", "four", "names no study"),
            ("timed", "study=modern_teem", "did you mean `modern_team`"),
            ("mean(size: timed)", "team", "did you mean `sizes`"),
            ("timed{$x}", "team", "nothing is called `x`"),
            ("timde", "team", "did you mean `timed`"),
            ("correlation(timed)", "team", "too few"),
        ] {
            let error = quantity(text, at).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
