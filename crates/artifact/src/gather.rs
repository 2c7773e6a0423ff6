//! What belongs into an archive: directories and files that a user names, as parts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use scenario::inputs::{self, Stored};
use sweep::plan::Plan;
use sweep::store;
use sweep::unfinished::{PREFIX, UnfinishedDirectory};

use crate::archive::{Content, write};
use crate::claimed::{self, CLAIMS, REPORT, is_claims};
use crate::drawing::Sources;
use crate::manifest::{Facts, Kind, Manifest, Member, Part, README, SCHEMA, is_plain};
use crate::{Trouble, Work, readme, result, sweeping};

/// Most bytes of a text that is looked at to see what it is.
const LOOKED_AT: u64 = 16 << 20;
/// Directories in directories, at most so deep.
const DEEPEST: usize = 16;

/// The members of an archive.
pub struct Gathered {
    /// What is in it.
    pub manifest: Manifest,
    members: BTreeMap<String, Content>,
}

impl Gathered {
    /// Writes the archive.
    ///
    /// # Errors
    /// A file has changed or cannot be read; or that of `out`.
    pub fn write(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        write(&self.manifest, &self.members, out)
    }
}

/// What is being gathered.
struct Gathering<'a> {
    work: &'a Work<'a>,
    room: &'a Path,
    facts: Facts,
    parts: Vec<Part>,
    members: BTreeMap<String, Content>,
    /// Where the numbers of each part are.
    places: Vec<(String, Kind, PathBuf)>,
}

/// Gathers the parts that these paths name, in this order. Copies of sweeps are made in `room`, which must
/// exist until the archive is written.
///
/// # Errors
/// A path is not there, is not complete, or is of another version: what would be right.
pub fn gather(paths: &[PathBuf], room: &UnfinishedDirectory, work: &Work<'_>) -> Result<Gathered, Trouble> {
    let mut all = Gathering {
        work,
        room: room.path(),
        facts: Facts::of_program(),
        parts: Vec::new(),
        members: BTreeMap::new(),
        places: Vec::new(),
    };
    for path in paths {
        all.add(path)?;
    }
    all.draw()?;
    all.finish()
}

impl Gathering<'_> {
    fn add(&mut self, path: &Path) -> Result<(), Trouble> {
        let about = fs::metadata(path)
            .map_err(|error| Trouble::refused(&format!("cannot read {}: {error}", path.display())))?;
        if about.is_dir() {
            if store::is_sweep(path) {
                return self.sweep(path);
            }
            if path.join(result::RESULT).is_file() {
                return self.result(path);
            }
            return self.directory(path);
        }
        if !about.is_file() {
            return Err(Trouble::refused(&format!("{} is no file and no directory", path.display())));
        }
        let text = if about.len() <= LOOKED_AT {
            fs::read_to_string(path).unwrap_or_default()
        } else {
            String::new()
        };
        if experiment::result::is_result(&text) {
            return Err(Trouble::refused(&format!(
                "{} is a result without its scenario: `oversim run SCENARIO -o DIR` writes a directory with \
                 both, and that is what is packed",
                path.display()
            )));
        }
        let yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
        if yaml && is_claims(&text) { self.claims(path) } else { self.file(path) }
    }

    /// A part with the name of a path, with a number if that is taken; `command` makes its command of its
    /// directory.
    fn part(
        &mut self,
        (kind, path): (Kind, &Path),
        runs: u64,
        command: impl FnOnce(&str) -> String,
    ) -> Result<String, Trouble> {
        let whole = fs::canonicalize(path).map_err(|error| Trouble::failed("read", path, &error))?;
        let name = whole.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy());
        let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let name: String = name.chars().map(plain).take(40).collect();
        let free = |name: &String| self.parts.iter().all(|part| part.directory != *name);
        let numbered = |number: usize| match number {
            1 => format!("{}/{name}", kind.directory()),
            _ => format!("{}/{name}-{number}", kind.directory()),
        };
        let directory = (1..).map(numbered).find(free).unwrap_or_default();
        let command = command(&directory);
        self.parts.push(Part { kind, directory: directory.clone(), runs, command, drawn: Vec::new() });
        Ok(directory)
    }

    fn member(&mut self, directory: &str, path: &str, content: Content) -> Result<(), Trouble> {
        let path = format!("{directory}/{path}");
        if !is_plain(&path) {
            return Err(Trouble::refused(&format!(
                "`{path}` cannot be the name of a file in an archive: names have at most 90 bytes, paths \
                 230, without `:`, `\\` and control characters"
            )));
        }
        self.members.insert(path, content);
        Ok(())
    }

    /// All stored inputs of a result or a sweep.
    fn inputs(&mut self, part: &str, path: &Path, stored: &Stored) -> Result<(), Trouble> {
        for file in &stored.paths {
            let name = format!("{}/{file}", inputs::DIRECTORY);
            self.member(part, &name, Content::File(path.join(&name)))?;
        }
        Ok(())
    }

    fn result(&mut self, path: &Path) -> Result<(), Trouble> {
        let results = result::read(path)?;
        result::own(path, &results.provenance)?;
        let stored = result::stored(path, "run")?;
        let experiment = result::experiment(path, &results, &stored, self.work)?;
        self.facts.add(&results.provenance, self.work.policies);
        let runs = result::runs(&experiment, &stored);
        let part = self.part((Kind::Result, path), runs, |part| command(Kind::Result, part, &stored, &[]))?;
        self.inputs(&part, path, &stored)?;
        let inputs = format!("{}/", inputs::DIRECTORY);
        for (name, file) in walk(path)? {
            if !name.starts_with(&inputs) {
                self.member(&part, &name, Content::File(file))?;
            }
        }
        self.places.push((part, Kind::Result, path.to_owned()));
        Ok(())
    }

    fn sweep(&mut self, path: &Path) -> Result<(), Trouble> {
        let plan = store::plan(path)?;
        result::own(path, &plan.provenance)?;
        let stored = result::stored(path, "sweep")?;
        sweeping::planned(path, &plan, self.work)?;
        self.facts.add(&plan.provenance, self.work.policies);
        let copy = self.room.join(self.parts.len().to_string());
        let runs = sweeping::copy(path, &copy, &plan)?;
        let more = until(&plan);
        let part = self.part((Kind::Sweep, path), runs, |part| command(Kind::Sweep, part, &stored, &more))?;
        self.inputs(&part, path, &stored)?;
        for (name, file) in walk(&copy)? {
            self.member(&part, &name, Content::File(file))?;
        }
        self.places.push((part, Kind::Sweep, copy));
        Ok(())
    }

    fn claims(&mut self, path: &Path) -> Result<(), Trouble> {
        let claimed = claimed::read(path)?;
        let (report, runs) = claimed::report(&claimed, self.work)?;
        let part = self.part((Kind::Claims, path), runs, of_claims)?;
        self.member(&part, CLAIMS, Content::Bytes(claimed.text.into_bytes()))?;
        self.member(&part, REPORT, Content::Bytes(report))?;
        for (name, text) in claimed.scenarios {
            self.member(&part, &name, Content::Bytes(text.into_bytes()))?;
        }
        Ok(())
    }

    fn directory(&mut self, path: &Path) -> Result<(), Trouble> {
        let files = walk(path)?;
        if files.is_empty() {
            return Err(Trouble::refused(&format!("{} has no files", path.display())));
        }
        let part = self.part((Kind::Files, path), 0, |_| String::new())?;
        for (name, file) in files {
            self.member(&part, &name, Content::File(file))?;
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<(), Trouble> {
        let part = self.part((Kind::Files, path), 0, |_| String::new())?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.member(&part, &name, Content::File(path.to_owned()))
    }

    /// Finds out from which results the figures were drawn.
    fn draw(&mut self) -> Result<(), Trouble> {
        let mut sources = Sources::new(self.places.iter().cloned());
        for part in self.parts.iter_mut().filter(|part| part.kind == Kind::Files) {
            for (path, content) in &self.members {
                let inside = path.strip_prefix(&part.directory).and_then(|rest| rest.strip_prefix('/'));
                if let (Some(name), Content::File(file)) = (inside, content) {
                    part.drawn.extend(sources.find(name, file)?);
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Gathered, Trouble> {
        let Self { facts, parts, mut members, .. } = self;
        let mut files: Vec<Member> =
            members.iter().map(|(path, content)| content.member(path)).collect::<Result<_, _>>()?;
        let text = readme::text(&parts, &files, (&facts.version, &facts.model));
        let text = Content::Bytes(text.into_bytes());
        files.push(text.member(README)?);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        members.insert(README.into(), text);
        let manifest = Manifest { schema: SCHEMA.into(), program: facts, parts, files };
        Ok(Gathered { manifest, members })
    }
}

/// The command that says again what the simulation says of the claims of a part.
pub(crate) fn of_claims(part: &str) -> String {
    format!("oversim reproduce --claims {part}/{CLAIMS} --format json --fresh")
}

/// The command that calculates a part again in the unpacked directory; empty if it would not find all files.
pub(crate) fn command(kind: Kind, part: &str, stored: &Stored, more: &[String]) -> String {
    let outside = |path: &String| path.starts_with(inputs::OUTSIDE);
    if stored.paths.iter().any(outside) {
        return String::new();
    }
    let flags: Vec<String> = stored.changes.flags().into_iter().chain(more.iter().cloned()).collect();
    readme::command(kind, part, &flags)
}

/// The flags of the rule for more replicates.
pub(crate) fn until(plan: &Plan) -> Vec<String> {
    let words = |until: &sweep::plan::Until| {
        [
            "--until-ci".to_owned(),
            format!("{}%", until.half_width * 100.0),
            "--most".to_owned(),
            until.most.to_string(),
        ]
    };
    plan.until.iter().flat_map(words).collect()
}

/// The regular files of a directory and those below it, by their paths in it; files in the making are left
/// out.
///
/// # Errors
/// It has links or devices, or cannot be read.
fn walk(directory: &Path) -> Result<BTreeMap<String, PathBuf>, Trouble> {
    let mut found = BTreeMap::new();
    let mut open: Vec<(String, PathBuf, usize)> = vec![(String::new(), directory.to_owned(), 0)];
    while let Some((above, directory, depth)) = open.pop() {
        let failed = |error: std::io::Error| Trouble::failed("read", &directory, &error);
        if depth > DEEPEST {
            return Err(Trouble::refused(&format!("{} is too deep", directory.display())));
        }
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(&directory).map_err(failed)? {
            names.insert(entry.map_err(failed)?.file_name());
        }
        for name in names {
            let path = directory.join(&name);
            let Some(name) = name.to_str() else {
                return Err(Trouble::refused(&format!("the name of {} is no UTF-8", path.display())));
            };
            if name.starts_with(PREFIX) {
                continue;
            }
            let kind = fs::symlink_metadata(&path).map_err(failed)?.file_type();
            if kind.is_dir() {
                open.push((format!("{above}{name}/"), path, depth + 1));
            } else if kind.is_file() {
                found.insert(format!("{above}{name}"), path);
            } else {
                let what = if kind.is_symlink() { "a symbolic link" } else { "no regular file" };
                return Err(Trouble::refused(&format!(
                    "{} is {what}, and artifacts have files only: copy what is meant",
                    path.display()
                )));
            }
        }
    }
    Ok(found)
}
