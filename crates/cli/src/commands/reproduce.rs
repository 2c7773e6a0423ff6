//! `oversim reproduce`: every published claim next to the simulated outcome.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use experiment::export::View;
use experiment::number::plural;
use validation::claims::{self, Claim};
use validation::lab::{self, Campaign, Store};
use validation::report::page;
use validation::reproduce::Reproduction;
use validation::{report, sensitivity};

use crate::args::Reproduce;
use crate::bar::Bar;
use crate::failure::Failure;
use crate::output::{Folder, Target};
use crate::{advice, input, output, say};

/// Most bytes of a file of claims, as its reader has it.
const MAX_BYTES: u64 = 16 << 20;

/// Runs the cells that the claims need, and reports.
pub(crate) fn reproduce(args: &Reproduce) -> Result<ExitCode, Failure> {
    let claims = chosen(args)?;
    // Before anything is simulated.
    if let Some(root) = &args.write {
        page_of(root)?;
    }
    let cells = args.cells.as_ref().map(|path| Target::check(path, args.force)).transpose()?;
    let inputs: Vec<&Path> = args.claims.iter().map(PathBuf::as_path).collect();
    output::distinct(&cells.iter().collect::<Vec<_>>(), &inputs)?;
    let store = store(args)?;
    let bar = Bar::new(0, "runs");
    let campaign = Campaign {
        jobs: args.jobs.map_or(0, NonZeroUsize::get),
        quick: args.quick,
        adjusted: &lab::as_stated,
        progress: &|done, all| bar.set(done, all),
        store: &store,
    };
    if args.sensitivity {
        let nothing_kept = Store::none();
        let table = sensitivity::table(&claims, &Campaign { store: &nothing_kept, ..campaign });
        say::clear_bar();
        let table = table.map_err(Failure::Input)?;
        if let Some(root) = &args.write {
            write_sensitivity(root, &table)?;
        }
        output::to_stdout(|out| out.write_all(table.as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.chosen {
        let nothing_kept = Store::none();
        let table = validation::chosen::table(&claims, &Campaign { store: &nothing_kept, ..campaign });
        say::clear_bar();
        let table = table.map_err(Failure::Input)?;
        output::to_stdout(|out| out.write_all(table.as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let done = validation::reproduce::reproduce(claims, &campaign, args.grid);
    say::clear_bar();
    let done = done.map_err(Failure::Input)?.showing(args.held_out.shown());
    if let Some(root) = &args.write {
        write(root, &done)?;
    }
    if let Some(target) = &cells {
        target.write(&|out| report::cells(&done, out))?;
    }
    output::to_stdout(|out| args.format.write(&done, out, &View::FILE))?;
    Ok(ExitCode::SUCCESS)
}

/// The page as it is, if there is one.
fn page_of(root: &Path) -> Result<String, Failure> {
    let path = root.join(page::PATH);
    fs::read_to_string(&path).map_err(|e| {
        Failure::Input(format!("{}: {e}; `--write` needs the root directory of the sources", path.display()))
    })
}

/// Writes the page and its pictures; the table of sensitivities stays.
fn write(root: &Path, done: &Reproduction) -> Result<(), Failure> {
    let old = page_of(root)?;
    let files = page::files(done, page::sensitivity_of(&old)).map_err(Failure::Output)?;
    let files: Vec<_> = files.iter().map(|(name, text)| (name, output::bytes(text.as_bytes()))).collect();
    let (folder, _) = Folder::check(root, true, std::iter::empty())?;
    folder.write(&files)
}

/// Writes the table of sensitivities into the page.
fn write_sensitivity(root: &Path, table: &str) -> Result<(), Failure> {
    let old = page_of(root)?;
    let marked = |text: &str| format!("{}{text}{}", page::SENSITIVITY.0, page::SENSITIVITY.1);
    let new = old.replacen(&marked(page::sensitivity_of(&old)), &marked(table), 1);
    Target::check(&root.join(page::PATH), true)?.write(&|out| out.write_all(new.as_bytes()))
}

/// The requested claims of the file, or of the built-in ones.
fn chosen(args: &Reproduce) -> Result<Vec<Claim>, Failure> {
    let all = match &args.claims {
        Some(path) => own(path)?,
        None => claims::shipped().map_err(Failure::Rendered)?,
    };
    for group in &args.groups {
        if !all.iter().any(|claim| claim.group == *group) {
            return Err(Failure::Input(unknown(
                "group",
                group,
                all.iter().map(|claim| claim.group.clone()).collect(),
            )));
        }
    }
    for machine in &args.machines {
        if !all.iter().any(|claim| claim.machines().contains(machine)) {
            return Err(Failure::Input(unknown(
                "machine",
                machine,
                all.iter()
                    .filter(|claim| !claim.group.starts_with(claims::MODERN_PREFIX))
                    .flat_map(Claim::machines)
                    .collect(),
            )));
        }
    }
    let asked = |claim: &Claim| {
        (args.groups.is_empty() || args.groups.contains(&claim.group))
            && (args.machines.is_empty() || claim.machines().iter().any(|m| args.machines.contains(m)))
    };
    Ok(all.into_iter().filter(asked).collect())
}

/// The claims of a file. Scenarios that they name lie beside it.
fn own(path: &Path) -> Result<Vec<Claim>, Failure> {
    let (name, text) = input::file(path, MAX_BYTES, "file of claims")?;
    let beside = path.parent().unwrap_or(Path::new("."));
    let load = |scenario: &str| {
        let path = beside.join(scenario);
        fs::read_to_string(&path).map_err(|e| format!("cannot read the scenario {}: {e}", path.display()))
    };
    claims::read_with(&name, &text, &load).map_err(Failure::Rendered)
}

fn unknown(what: &str, name: &str, mut known: Vec<String>) -> String {
    known.sort_unstable();
    known.dedup();
    if known.is_empty() {
        return format!("no {what} is called `{name}`: the file has no claims");
    }
    advice::unknown(what, name, &known.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The runs of an interrupted reproduction, and the directory for new ones.
fn store(args: &Reproduce) -> Result<Store, Failure> {
    let Some(directory) = args.cache.clone().or_else(cache) else {
        return Ok(Store::none());
    };
    match Store::open(&directory, args.fresh) {
        Ok(store) => {
            if store.damaged > 0 {
                say::remark(format_args!(
                    "{}: {} damaged, computed again",
                    directory.display(),
                    plural(store.damaged, "entry is", "entries are")
                ));
            }
            Ok(store)
        }
        // A directory that the user names must be usable. The default one (a read-only home) may be unusable.
        Err(e) if args.cache.is_some() => {
            Err(Failure::Input(format!("cannot keep runs in {}: {e}", directory.display())))
        }
        Err(_) => Ok(Store::none()),
    }
}

/// The user's cache directory, by the XDG base directory specification.
fn cache() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(base.join("oversim").join("reproduce"))
}
