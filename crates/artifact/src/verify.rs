//! Calculates what an unpacked archive contains again, from its files alone, and compares.

use std::fs;
use std::path::Path;

use experiment::number::plural;
use scenario::inputs::Stored;
use sweep::store;

use crate::claimed::{self, CLAIMS, REPORT};
use crate::compare::bytes_differ;
use crate::drawing::Sources;
use crate::gather::{command, of_claims, until};
use crate::manifest::{Facts, Kind, Manifest, Part, README};
use crate::sample::{Sample, unseen};
use crate::{Trouble, Work, readme, result, sweeping};

/// What was found about a part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The directory of the part.
    pub part: String,
    /// What was calculated again, in a few words.
    pub what: String,
    /// Sentences about what differs; empty if everything is equal.
    pub differences: Vec<String>,
    /// Files of which only the checksum was compared.
    pub kept: Vec<String>,
    /// What a sample cannot show: a sentence, empty without a sample.
    pub doubt: String,
    /// Runs that were simulated.
    pub runs: u64,
}

/// Calculates a part again. `room` is a directory for files on the way.
///
/// # Errors
/// Its files cannot be read or used here, though their checksums are right.
fn part(
    root: &Path,
    manifest: &Manifest,
    part: &Part,
    (sample, room): (Sample, &Path),
    work: &Work<'_>,
) -> Result<Checked, Trouble> {
    let directory = root.join(&part.directory);
    let mut checked = Checked {
        part: part.directory.clone(),
        what: String::new(),
        differences: Vec::new(),
        kept: Vec::new(),
        doubt: String::new(),
        runs: 0,
    };
    match part.kind {
        Kind::Result => {
            let done = result::verify(&directory, manifest.files_of(part), work)?;
            checked.what = format!("{} and {} again", runs(done.runs), plural(done.files, "file", "files"));
            (checked.differences, checked.kept, checked.runs) = (done.differences, done.kept, done.runs);
        }
        Kind::Sweep => {
            let done = sweeping::verify(&directory, room, sample, work)?;
            let (count, all) = done.configurations;
            checked.what = format!("{} of {all} configurations again, {}", count, runs(done.runs));
            if count < all {
                checked.doubt = format!(
                    "had {} of the {all} configurations of {} been changed, or more, a sample of {count} \
                     would show it in 95 of 100 cases",
                    unseen(count, all),
                    part.directory
                );
            }
            (checked.differences, checked.runs) = (done.differences, done.runs);
        }
        Kind::Claims => {
            let claimed = claimed::read(&directory.join(CLAIMS))?;
            let (report, runs_again) = claimed::report(&claimed, work)?;
            let path = directory.join(REPORT);
            let there = fs::read(&path).map_err(|error| Trouble::failed("read", &path, &error))?;
            checked.what = format!("{} again", runs(runs_again));
            checked.differences.extend(bytes_differ(REPORT, &there, &report));
            checked.runs = runs_again;
        }
        Kind::Files => {}
    }
    Ok(checked)
}

/// Draws the figures of a part again.
fn figures(root: &Path, manifest: &Manifest, part: &Part, sources: &mut Sources) -> Result<Checked, Trouble> {
    let mut differences = Vec::new();
    for how in &part.drawn {
        let path = root.join(&part.directory).join(&how.file);
        let there = fs::read(&path).map_err(|error| Trouble::failed("read", &path, &error))?;
        match sources.again(how, &there)? {
            Some(again) => differences.extend(bytes_differ(&how.file, &there, &again)),
            None => differences.push(format!("{} cannot be drawn from {}", how.file, how.from)),
        }
    }
    let drawn = |file: &&str| part.drawn.iter().any(|how| how.file == **file);
    let kept: Vec<String> = manifest.files_of(part).filter(|file| !drawn(file)).map(str::to_owned).collect();
    Ok(Checked {
        part: part.directory.clone(),
        what: format!("{} drawn again", plural(part.drawn.len(), "file", "files")),
        differences,
        kept,
        doubt: String::new(),
        runs: 0,
    })
}

/// Calculates everything in the directory of an unpacked archive again. `each` hears of each part as soon as
/// it is done. Two copies of the largest sweep are made in `room`.
///
/// # Errors
/// The files cannot be used here: they are not those that `oversim artifact pack` writes.
pub fn verify(
    root: &Path,
    manifest: &Manifest,
    (sample, room): (Sample, &Path),
    work: &Work<'_>,
    each: &mut dyn FnMut(&Checked),
) -> Result<Vec<Checked>, Trouble> {
    described(root, manifest, work)?;
    let places =
        manifest.parts.iter().map(|part| (part.directory.clone(), part.kind, root.join(&part.directory)));
    let mut sources = Sources::new(places);
    let mut all = Vec::new();
    for (number, of) in manifest.parts.iter().enumerate() {
        let checked = match of.kind {
            Kind::Files => figures(root, manifest, of, &mut sources)?,
            _ => {
                let room = room.join(format!("part-{number}"));
                fs::create_dir_all(&room).map_err(|error| Trouble::failed("make", &room, &error))?;
                let checked = part(root, manifest, of, (sample, &room), work)?;
                let _ = fs::remove_dir_all(&room);
                checked
            }
        };
        each(&checked);
        all.push(checked);
    }
    Ok(all)
}

fn runs(count: u64) -> String {
    plural(usize::try_from(count).unwrap_or(usize::MAX), "run", "runs")
}

/// Checks that the manifest and the text for people say what the files give.
fn described(root: &Path, manifest: &Manifest, work: &Work<'_>) -> Result<(), Trouble> {
    let wrong =
        |what: &str| Trouble::refused(&format!("{what}: `oversim artifact pack` wrote something else"));
    let mut facts = Facts::of_program();
    for part in &manifest.parts {
        let directory = root.join(&part.directory);
        let said = match part.kind {
            Kind::Result => {
                facts.add(&result::read(&directory)?.provenance, work.policies);
                command(part.kind, &part.directory, &stored(&directory)?, &[])
            }
            Kind::Sweep => {
                let plan = store::plan(&directory)?;
                facts.add(&plan.provenance, work.policies);
                command(part.kind, &part.directory, &stored(&directory)?, &until(&plan))
            }
            Kind::Claims => of_claims(&part.directory),
            Kind::Files => String::new(),
        };
        if said != part.command {
            return Err(wrong(&format!("the manifest has a wrong command for {}", part.directory)));
        }
    }
    if facts != manifest.program {
        return Err(wrong("the manifest has wrong facts about the program"));
    }
    let files: Vec<_> = manifest.files.iter().filter(|file| file.path != README).cloned().collect();
    let text = readme::text(&manifest.parts, &files, (&facts.version, &facts.model));
    let path = root.join(README);
    let there = fs::read(&path).map_err(|error| Trouble::failed("read", &path, &error))?;
    if there == text.as_bytes() { Ok(()) } else { Err(wrong(&format!("{README} is not as it should be"))) }
}

fn stored(directory: &Path) -> Result<Stored, Trouble> {
    Stored::read(directory).map_err(|why| Trouble::refused(&why))
}
