//! What a run or a sweep was read from: the text of the scenario, the files that it names, and the changes of
//! the command line. They are stored beside the results, which are calculated again from them alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Overrides;
use crate::memory;
use crate::named_files::Included;
use crate::plan::Experiment;

/// The directory of the inputs, in that of the results.
pub const DIRECTORY: &str = "inputs";
/// The file in it with the text of the scenario.
pub const SCENARIO: &str = "scenario.yaml";
/// The file in it with the changes of the command line and the names of all other files.
pub const RECORD: &str = "inputs.json";
/// Name and version of the form of [`RECORD`].
pub const SCHEMA: &str = "oversim.inputs/1";
/// The directory in it for files that a scenario names by a path that leads out of its own directory.
pub const OUTSIDE: &str = "outside";
/// Longest path of a file that is stored under the name that the scenario gives it, in bytes: with the
/// directories around it, archives can name it.
const LONGEST: usize = 60;
/// Most bytes of [`RECORD`]: a scenario with all of its changes has less than a megabyte.
const MOST: u64 = 16 << 20;

/// Changes of the command line.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changes {
    /// [`Overrides::set`].
    pub set: Vec<String>,
    /// [`Overrides::sweep`].
    pub sweep: Vec<String>,
    /// [`Overrides::policies`].
    pub policies: Vec<String>,
    /// [`Overrides::seed`].
    pub seed: Option<u64>,
    /// [`Overrides::repeat`].
    pub repeat: Option<u32>,
    /// [`Overrides::objective`].
    pub objective: Option<String>,
    /// [`Overrides::best_partition`].
    pub best_partition: bool,
    /// Draws of the uncertain values.
    pub uncertainty: Option<u32>,
}

impl Changes {
    /// The flags of `oversim run` and `oversim sweep` that ask for them, as words.
    #[must_use]
    pub fn flags(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
        self.policies.iter().for_each(|policy| option("--policy", policy.clone()));
        self.set.iter().for_each(|pair| option("--set", pair.clone()));
        self.sweep.iter().for_each(|axis| option("--sweep", axis.clone()));
        self.seed.iter().for_each(|seed| option("--seed", seed.to_string()));
        self.repeat.iter().for_each(|repeat| option("--repeat", repeat.to_string()));
        self.objective.iter().for_each(|objective| option("--objective", objective.clone()));
        if self.best_partition {
            words.push("--best-partition".into());
        }
        words.extend(self.uncertainty.map(|draws| format!("--uncertainty={draws}")));
        words
    }
}

/// The form of [`RECORD`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    schema: String,
    changes: Changes,
    files: Vec<Place>,
}

/// Where a file is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    /// Its name as the scenario or a change writes it.
    name: String,
    /// Its path in the directory of inputs.
    file: String,
}

/// What a result is calculated from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inputs {
    /// The scenario.
    pub text: String,
    /// The files that it and the changes name.
    pub files: Vec<Included>,
    /// The changes.
    pub changes: Changes,
}

impl Inputs {
    /// Those of an experiment that was read from this text with these changes.
    #[must_use]
    pub fn of(text: &str, experiment: &Experiment, changes: &Overrides, uncertainty: Option<u32>) -> Self {
        let changes = changes.clone();
        Self {
            text: text.to_owned(),
            files: experiment.files.clone(),
            changes: Changes {
                set: changes.set,
                sweep: changes.sweep,
                policies: changes.policies,
                seed: changes.seed,
                repeat: changes.repeat,
                objective: changes.objective,
                best_partition: changes.best_partition,
                uncertainty,
            },
        }
    }

    /// All files of the directory of inputs, by their paths in it.
    #[must_use]
    pub fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let mut contents = BTreeMap::new();
        let mut places = Vec::new();
        for (number, file) in self.files.iter().enumerate() {
            let path = place(&file.name, number);
            contents.insert(path.clone(), file.bytes.to_vec());
            places.push(Place { name: file.name.clone(), file: path });
        }
        let record = Record { schema: SCHEMA.into(), changes: self.changes.clone(), files: places };
        let record = serde_json::to_string_pretty(&record).unwrap_or_default() + "\n";
        contents.insert(RECORD.into(), record.into_bytes());
        contents.insert(SCENARIO.into(), self.text.clone().into_bytes());
        contents
    }
}

/// Where a file of this name is stored: under its name if that leads nowhere else.
fn place(name: &str, number: usize) -> String {
    if let Some(inside) = inside(name).filter(|path| path.len() <= LONGEST)
        && ![SCENARIO, RECORD].contains(&inside.as_str())
        && !inside.starts_with(OUTSIDE)
    {
        return inside;
    }
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let last: String = last.chars().map(plain).collect();
    let last = last.get(last.len().saturating_sub(LONGEST)..).unwrap_or_default();
    format!("{OUTSIDE}/{number}-{last}")
}

/// A relative path of plain names that leads to no other directory above, without `.`.
fn inside(name: &str) -> Option<String> {
    let mut names = Vec::new();
    for part in Path::new(name).components() {
        match part {
            Component::Normal(part) => names.push(part.to_str()?),
            Component::CurDir => {}
            _ => return None,
        }
    }
    let path = names.join("/");
    let plain = !path.contains(['\\', ':']) && !path.chars().any(char::is_control);
    (!path.is_empty() && plain).then_some(path)
}

/// Inputs that lie in a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stored {
    /// The path of the scenario, its name in messages.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The changes.
    pub changes: Changes,
    /// Where the files are, by the name that the scenario or a change gives them.
    pub files: BTreeMap<String, PathBuf>,
    /// Paths of all files, relative to the directory of inputs.
    pub paths: Vec<String>,
}

impl Stored {
    /// Reads those beside the results in this directory.
    ///
    /// # Errors
    /// A sentence: they are not there or not right.
    pub fn read(results: &Path) -> Result<Self, String> {
        let directory = results.join(DIRECTORY);
        let path = directory.join(RECORD);
        let shown = path.display();
        let refused = |why: String| format!("cannot read {shown}: {why}");
        let size = fs::metadata(&path).map_err(|error| refused(error.to_string()))?.len();
        if size > MOST {
            return Err(refused(format!("it has {size} bytes, more than any such file")));
        }
        let text = fs::read_to_string(&path).map_err(|error| refused(error.to_string()))?;
        let record: Record =
            serde_json::from_str(&text).map_err(|why| format!("{shown} is not right: {why}"))?;
        if record.schema != SCHEMA {
            let form = record.schema;
            return Err(format!("{shown} has the form `{form}`, and this program reads `{SCHEMA}`"));
        }
        let mut files = BTreeMap::new();
        let mut paths = vec![RECORD.to_owned(), SCENARIO.to_owned()];
        for Place { name, file } in record.files {
            if inside(&file).as_deref() != Some(file.as_str()) {
                return Err(format!("{shown} is not right: `{file}` is no path in {}", directory.display()));
            }
            files.insert(name, directory.join(&file));
            paths.push(file);
        }
        paths.sort_unstable();
        paths.dedup();
        let scenario = directory.join(SCENARIO);
        let name = scenario.display().to_string();
        let text = crate::subject::file(&scenario, MOST, "scenario").map_err(|why| why.to_string())?.1;
        Ok(Self { name, text, changes: record.changes, files, paths })
    }

    /// The changes as the reader of scenarios wants them: all files are those that are stored.
    #[must_use]
    pub fn overrides(&self) -> Overrides {
        let changes = self.changes.clone();
        Overrides {
            set: changes.set,
            sweep: changes.sweep,
            policies: changes.policies,
            seed: changes.seed,
            repeat: changes.repeat,
            objective: changes.objective,
            best_partition: changes.best_partition,
            files: Some(self.files.clone()),
            limit: memory::limit(None),
            ..Overrides::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_keep_their_names_unless_these_lead_elsewhere() {
        for (name, stored) in [
            ("m.yaml", "m.yaml"),
            ("./a/m.yaml", "a/m.yaml"),
            ("../m.yaml", "outside/3-m.yaml"),
            ("a/../../m.yaml", "outside/3-m.yaml"),
            ("/home/me/p.wasm", "outside/3-p.wasm"),
            ("scenario.yaml", "outside/3-scenario.yaml"),
            ("outside/m.yaml", "outside/3-m.yaml"),
            ("a:b.yaml", "outside/3-a_b.yaml"),
            ("..", "outside/3-.."),
        ] {
            assert_eq!(place(name, 3), stored, "{name}");
        }
        let long = format!("{}.wasm", "x".repeat(300));
        assert!(place(&long, 0).len() < 80 && place(&long, 0).ends_with(".wasm"));
    }

    #[test]
    fn a_record_that_leads_out_of_its_directory_is_refused() {
        let folder = std::env::temp_dir().join(format!("oversim-inputs-{}", std::process::id()));
        let inputs = folder.join(DIRECTORY);
        fs::create_dir_all(&inputs).unwrap();
        fs::write(inputs.join(SCENARIO), "name: a\n").unwrap();
        let of = |text: String| Inputs { text, files: Vec::new(), changes: Changes::default() };
        let whole = of("name: a\n".into()).contents()[RECORD].clone();
        fs::write(inputs.join(RECORD), &whole).unwrap();
        assert_eq!(Stored::read(&folder).unwrap().text, "name: a\n");
        let whole = String::from_utf8(whole).unwrap();
        let changed = [
            ("\"files\": []", "\"files\": [{ \"name\": \"m\", \"file\": \"../../m\" }]", "no path in"),
            ("\"files\": []", "\"files\": [{ \"name\": \"m\", \"file\": \"/etc/passwd\" }]", "no path in"),
            ("\"schema\": \"oversim.inputs/1\"", "\"schema\": \"oversim.inputs/9\"", "has the form"),
            ("\"changes\"", "\"other\": 1, \"changes\"", "unknown field"),
        ];
        for (from, to, why) in changed {
            assert!(whole.contains(from), "{from}");
            fs::write(inputs.join(RECORD), whole.replace(from, to)).unwrap();
            let refused = Stored::read(&folder).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
