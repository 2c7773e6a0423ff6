//! Suites: fixed lists of small scenarios on which policies are compared and tuned. One half is for a search,
//! the other one shows whether what it found holds elsewhere.

pub mod bench;
pub mod ratio;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use experiment::PolicyRegistry;
use notation::typed;
use scenario::subject::{self, Unfound};
use scenario::{Overrides, built_in, memory};
use serde::{Deserialize, Serialize};

use crate::trial::Subject;

/// The name of the built-in suite.
pub const GENERAL: &str = "general";
/// Its scenarios.
const TEXT: &str = include_str!("general.yaml");
/// The folders of the halves in a directory.
const HALVES: [(&str, Half); 3] = [("", Half::Train), ("train", Half::Train), ("holdout", Half::Holdout)];

/// What a cell is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Half {
    /// A search looks at it.
    Train,
    /// What a search found is tried on it once.
    Holdout,
}

/// One scenario of a suite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Its name in the suite.
    pub name: String,
    /// What it is for.
    pub half: Half,
    /// What a command calls the scenario: the name of a built-in one, or a file.
    pub scenario: String,
    /// Its name in messages; machine files are relative to it.
    pub title: String,
    /// Its text.
    pub text: String,
    /// `path=value` pairs, as `--set` takes them.
    pub set: Vec<String>,
}

impl Cell {
    /// The scenario with the settings of the cell. `seed`: of the first replicate; `objective`: what it is
    /// judged by, in place of its own.
    #[must_use]
    pub fn subject<'a>(
        &'a self,
        policies: &'a PolicyRegistry,
        seed: Option<u64>,
        objective: Option<&str>,
    ) -> Subject<'a> {
        let base = Overrides {
            set: self.set.clone(),
            seed,
            objective: objective.map(str::to_owned),
            limit: memory::limit(None),
            ..Overrides::default()
        };
        Subject { policies, name: &self.title, text: &self.text, base }
    }

    /// The command that runs it, without policies.
    #[must_use]
    pub fn command(&self) -> String {
        let word = |text: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-=/%+,:".contains(c);
            if text.chars().all(plain) { text.to_owned() } else { format!("\"{text}\"") }
        };
        let set = self.set.iter().map(|pair| format!(" --set {}", word(pair)));
        format!("oversim run {}{}", word(&self.scenario), set.collect::<String>())
    }
}

/// A row of the built-in suite.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    cell: String,
    half: Half,
    scenario: String,
    set: Vec<String>,
}

/// The built-in suite.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    set: Vec<String>,
    cells: Vec<Row>,
}

/// The cells of a suite: `general`, a directory, a scenario (a file or a built-in one), or several of them
/// with commas between. The files of a directory are those that end in `.yaml` or `.yml`, there and in its
/// folders `train` and `holdout`; those of `holdout` are the second half.
///
/// # Errors
/// A sentence or a rendered text: there is no such scenario, it cannot be read, a directory has none, or two
/// have one name. The scenarios themselves are not checked.
pub fn load(suite: &str) -> Result<Vec<Cell>, String> {
    let mut cells = Vec::new();
    for part in suite.split(',').map(str::trim) {
        match part {
            "" => return Err(format!("`{suite}` names no scenario between its commas")),
            GENERAL if !Path::new(part).exists() => cells.extend(general()?),
            _ if Path::new(part).is_dir() => cells.extend(directory(Path::new(part))?),
            _ => cells.push(scenario(Path::new(part), Half::Train)?),
        }
    }
    let mut names = BTreeSet::new();
    match cells.iter().find(|cell| !names.insert(cell.name.as_str())) {
        Some(twice) => {
            Err(format!("two scenarios of the suite are called `{}`: rename one of their files", twice.name))
        }
        None => Ok(cells),
    }
}

/// The built-in suite.
fn general() -> Result<Vec<Cell>, String> {
    let rows: Rows = typed::parse("general.yaml", TEXT)?;
    let cell = |row: Row| {
        let scenario = built_in::find(&row.scenario)
            .ok_or_else(|| format!("general.yaml: there is no built-in scenario `{}`", row.scenario))?;
        Ok(Cell {
            name: row.cell,
            half: row.half,
            scenario: scenario.name.to_owned(),
            title: scenario.title(),
            text: scenario.text.to_owned(),
            set: rows.set.iter().cloned().chain(row.set).collect(),
        })
    };
    rows.cells.into_iter().map(cell).collect()
}

/// A scenario as it is.
fn scenario(path: &Path, half: Half) -> Result<Cell, String> {
    let (title, text) = subject::scenario(path).map_err(|why| match why {
        Unfound::Sentence(text) | Unfound::Rendered(text) => text,
    })?;
    let stem = path.file_stem().map_or_else(|| title.clone(), |stem| stem.to_string_lossy().into_owned());
    Ok(Cell { name: stem, half, scenario: path.display().to_string(), title, text, set: Vec::new() })
}

/// The scenarios of a directory.
fn directory(path: &Path) -> Result<Vec<Cell>, String> {
    let mut cells = Vec::new();
    for (folder, half) in HALVES {
        let folder = if folder.is_empty() { path.to_owned() } else { path.join(folder) };
        if !folder.is_dir() {
            continue;
        }
        for file in files(&folder)? {
            cells.push(scenario(&file, half)?);
        }
    }
    if cells.is_empty() {
        return Err(format!(
            "{} has no scenario: a suite is a directory of files that end in .yaml, those of its folder \
             `holdout` being the second half",
            path.display()
        ));
    }
    Ok(cells)
}

/// The scenario files of a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let read = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let yaml = |path: &PathBuf| path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    let mut files: Vec<PathBuf> = read.into_iter().map(|entry| entry.path()).filter(yaml).collect();
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Setting, Wanted};

    #[test]
    fn the_built_in_suite_has_two_halves_of_scenarios_that_are_right() {
        let cells = load(GENERAL).unwrap();
        let policies = PolicyRegistry::default();
        let half = |half: Half| cells.iter().filter(|cell| cell.half == half).count();
        assert!(half(Half::Train) >= 12 && half(Half::Holdout) >= 12, "{}", cells.len());
        let mut cpus = BTreeSet::new();
        for cell in &cells {
            let wanted = Wanted { setting: Setting::default(), replicates: 0..1, draw: None, at_most: None };
            let read = cell.subject(&policies, None, None).experiment(&wanted);
            let experiment = read.unwrap_or_else(|why| panic!("{}: {why}", cell.name));
            assert!(experiment.runs.iter().all(|run| run.kernel.name == "linux-6.18"), "{}", cell.name);
            cpus.insert(experiment.cpus());
            assert!(cell.command().starts_with("oversim run "), "{}", cell.command());
        }
        assert!(cpus.first() <= Some(&8) && cpus.last() == Some(&64), "{cpus:?}");
    }

    #[test]
    fn a_directory_is_a_suite_with_a_second_half() {
        let folder = std::env::temp_dir().join(format!("oversim-suite-{}", std::process::id()));
        fs::create_dir_all(folder.join("holdout")).unwrap();
        let text = "name: x\nmachine: core:1\npolicies: [LOAD]\napps: { a: { workload: hog } }\n";
        for file in ["b.yaml", "a.yml", "notes.txt", "holdout/c.yaml"] {
            fs::write(folder.join(file), text).unwrap();
        }
        let cells = load(folder.to_str().unwrap()).unwrap();
        let names: Vec<(&str, Half)> = cells.iter().map(|cell| (cell.name.as_str(), cell.half)).collect();
        assert_eq!(names, [("a", Half::Train), ("b", Half::Train), ("c", Half::Holdout)]);
        fs::write(folder.join("holdout/a.yaml"), text).unwrap();
        assert!(load(folder.to_str().unwrap()).unwrap_err().contains("are called `a`"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_not_there_is_named() {
        assert!(load("odd_thread,nothing_of_this_name").unwrap_err().contains("nothing_of_this_name"));
        assert!(load("odd_thread,,cpu_hog").unwrap_err().contains("between its commas"));
        assert!(load("odd_thread,odd_thread").unwrap_err().contains("are called `odd_thread`"));
        assert_eq!(load("odd_thread").unwrap()[0].command(), "oversim run odd_thread");
    }
}
