//! `oversim measure`: a scenario executed on this host, beside its prediction.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use experiment::PolicyRegistry;
use experiment::provenance::sha256;
use host::facts::{Host, cpus};
use host::job::Library;
use host::load::Watch;
use host::measure::{Group, PREDICTIONS, Settings, check, predicted, prepare_by};
use host::others::{self, LOOK};
use host::page;
use host::parent::Starter;
use host::predictions::Predictions;
use host::real::build::Built;
use host::result::Measurement;
use host::suite::Question;
use host::{real_suite, suite, text};
use scenario::Overrides;

use super::source;
use crate::args::{ListFormat, Measure, Suite};
use crate::bar::Bar;
use crate::failure::{BAD_END, Failure};
use crate::output::{self, Folder, Target};
use crate::{input, say};

/// Most bytes of an archived measurement.
const MAX_BYTES: u64 = 64 << 20;
/// Most replicates: what the reader of scenarios accepts, over the predictions for each.
const MAX_REPEAT: u32 = 3_000;

/// The process of one program of a measurement.
pub(crate) fn process() -> ExitCode {
    ExitCode::from(host::process::serve(&mut io::stdin().lock(), &mut io::stdout().lock()))
}

/// Predicts, executes and reports.
pub(crate) fn measure(args: &Measure, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    if let Some(root) = &args.write {
        let new = args.add.as_deref().zip(args.machine.as_deref());
        if new.is_none() && args.machine.is_some() {
            return Err(Failure::Input(
                "--write has the machine of each measurement: leave out --machine".into(),
            ));
        }
        return write_page(root, new, args.force);
    }
    if args.repeat == 0 || args.repeat > MAX_REPEAT {
        return Err(Failure::Input(format!("--repeat is a number from 1 to {MAX_REPEAT}")));
    }
    let target = args.output.as_ref().map(|path| Target::check(path, args.force)).transpose()?;
    let inputs: Vec<&Path> =
        [&args.file, &args.machine, &args.predicted].into_iter().flatten().map(PathBuf::as_path).collect();
    output::distinct(&target.iter().collect::<Vec<_>>(), &inputs)?;
    if let (Some(path), Some(machine)) = (&args.again, &args.machine) {
        return report(args, &again(path, machine)?, target.as_ref());
    }
    let known = args.predicted.as_deref().map(|path| published(path, args.hash.as_deref())).transpose()?;
    let mut host = Host::here();
    let starter = Starter::of_this_program().map_err(Failure::Output)?;
    let mut watch =
        Watch::new(cpus(), Duration::from_nanos(args.wait), args.force, |text| say::warning(text));
    let mut look = |host: &mut Host| {
        host.others = match &known {
            Some(known) => known.others.clone(),
            None => {
                watch.quiet().map_err(Failure::Output)?;
                others::watch(&cpus(), LOOK).map_err(Failure::Output)?
            }
        };
        Ok(())
    };
    let mut built = Built::default();
    let (groups, machine) = match args.suite {
        Some(suite) => predict_suite(args, suite, (&mut host, &mut look), &mut built)?,
        None => predict(args, policies, &mut host, &mut look)?,
    };
    let predictions = predicted(&groups, &machine, args.repeat);
    if args.predict_only {
        return show(args, &predictions, target.as_ref());
    }
    if let Some(known) = &known {
        let hash = known.hash().map_err(Failure::Output)?;
        predictions.expect(&hash).map_err(Failure::Input)?;
    }
    built.add(groups.iter().flat_map(Group::libraries)).map_err(Failure::Input)?;
    let runs = groups.len() * args.repeat as usize;
    let bar = Bar::new(runs, "runs");
    let progress = |done: usize, all: usize| bar.set(done, all);
    let (starter, host, built) = (&starter, &host, &built);
    let settings = Settings { starter, host, built, repeat: args.repeat, progress: &progress };
    let measured = ::host::measure::measure(&groups, &machine, &settings, &mut watch);
    drop(bar);
    let measured = measured.map_err(Failure::Output)?;
    report(args, &measured, target.as_ref())
}

/// Looks what other tasks do on the host.
type Look<'a> = &'a mut dyn FnMut(&mut Host) -> Result<(), Failure>;

/// The predictions of a file, if it has this hash.
fn published(path: &Path, hash: Option<&str>) -> Result<Predictions, Failure> {
    let (name, text) = input::file(path, MAX_BYTES, "file of predictions")?;
    let known = Predictions::read(&name, &text).map_err(Failure::Input)?;
    let found = sha256(text.as_bytes());
    match hash.map(str::trim) {
        Some(hash) if !hash.eq_ignore_ascii_case(&found) => Err(Failure::Input(format!(
            "{name} has the SHA-256 {found}, not {}",
            experiment::neutral::line(hash)
        ))),
        _ => Ok(known),
    }
}

/// Prints and writes predictions.
fn show(args: &Measure, predictions: &Predictions, target: Option<&Target>) -> Result<ExitCode, Failure> {
    let json = predictions.json().map_err(Failure::Output)?;
    if let Some(target) = target {
        target.write(&|out| out.write_all(json.as_bytes()))?;
    }
    let shown = match args.format {
        ListFormat::Text => predictions.report().map_err(Failure::Output)?,
        ListFormat::Json => json,
    };
    output::to_stdout(|out| out.write_all(shown.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// The groups of a scenario.
fn predict(
    args: &Measure,
    policies: &PolicyRegistry,
    host: &mut Host,
    look: Look<'_>,
) -> Result<(Vec<Group>, String), Failure> {
    let Some(file) = &args.file else {
        return Err(Failure::Input("name a scenario, or add --suite".into()));
    };
    let (name, text) = input::scenario(file)?;
    let mut overrides = source::edited(&args.edits);
    overrides.repeat = Some(args.repeat.saturating_mul(PREDICTIONS));
    overrides.warn = false;
    if let Some(path) = &args.machine {
        overrides.set.push(format!("machine={}", quoted(path)?));
    }
    let experiment = source::load(policies, &name, &text, &Overrides { ..overrides })?;
    let machine = experiment.machines.first().map_or_else(String::new, |machine| machine.name.clone());
    let title = experiment.name.clone();
    check(&experiment, host, args.real).map_err(Failure::Input)?;
    look(host)?;
    let groups = prepare_by(&experiment, &title, args.repeat, host, args.real).map_err(Failure::Input)?;
    Ok((groups, machine))
}

/// The scenarios of a suite that this host can execute; what it cannot is named.
fn questions(args: &Measure, which: Suite, host: &Host, built: &mut Built) -> Result<Vec<Question>, Failure> {
    let mut questions = match which {
        Suite::Own => suite::questions(host.cpus, args.quick),
        Suite::Real => {
            let mut here = Vec::new();
            for library in Library::ALL {
                match built.add([library]) {
                    Ok(()) => here.push(library),
                    Err(why) => say::warning(&why),
                }
            }
            real_suite::all(host.cpus, args.quick, &here)
        }
    };
    questions.retain(|question| args.kind.as_ref().is_none_or(|kind| question.kind.contains(kind)));
    if questions.is_empty() {
        return Err(Failure::Input("no cell of the suite can be executed on this host".into()));
    }
    Ok(questions)
}

/// The groups of a suite.
fn predict_suite(
    args: &Measure,
    which: Suite,
    (host, look): (&mut Host, Look<'_>),
    built: &mut Built,
) -> Result<(Vec<Group>, String), Failure> {
    let Some(path) = &args.machine else {
        let hint = "--suite needs --machine mine.yaml; `oversim calibrate host -o mine.yaml` writes the file";
        return Err(Failure::Input(hint.into()));
    };
    let machine = whole_name(path)?;
    look(host)?;
    let questions = questions(args, which, host, built)?;
    let bar = Bar::new(questions.len(), "predictions");
    let groups = suite::groups(&questions, &machine, (args.repeat, args.quick), host, &|| bar.inc());
    drop(bar);
    let name = path.file_stem().map_or_else(|| machine.clone(), |stem| stem.to_string_lossy().into_owned());
    let groups = groups
        .map_err(|why| if why.contains('\n') { Failure::Rendered(why) } else { Failure::Input(why) })?;
    Ok((groups, name))
}

/// The name of a machine, or the whole path of its file.
fn whole_name(path: &Path) -> Result<String, Failure> {
    let named = path.to_string_lossy();
    if scenario::machine_files::is_file(&named) { absolute(path) } else { Ok(named.into_owned()) }
}

/// An archived measurement, predicted again for the machine.
fn again(path: &Path, machine: &Path) -> Result<Measurement, Failure> {
    let (name, text) = input::file(path, MAX_BYTES, "measurement")?;
    let mut archive = Measurement::read(&name, &text).map_err(Failure::Input)?;
    let bar = Bar::new(archive.scenarios.len(), "predictions");
    let predicted = host::measure::predict_again(&mut archive, &whole_name(machine)?, &|| bar.inc());
    drop(bar);
    predicted.map_err(|why| {
        if why.contains('\n') { Failure::Rendered(why) } else { Failure::Input(format!("{name}: {why}")) }
    })?;
    archive.machine = machine.file_stem().map_or(archive.machine, |stem| stem.to_string_lossy().into_owned());
    Ok(archive)
}

/// The path of a machine file, from the root: scenarios read it relative to themselves.
fn absolute(path: &Path) -> Result<String, Failure> {
    let whole = fs::canonicalize(path)
        .map_err(|e| Failure::Input(format!("cannot read the machine file {}: {e}", path.display())))?;
    match whole.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(Failure::Input(format!("the path {} is not UTF-8", path.display()))),
    }
}

/// A machine for `--set`: quoted as YAML quotes, files by their whole path.
fn quoted(path: &Path) -> Result<String, Failure> {
    let named = path.to_string_lossy();
    if !scenario::machine_files::is_file(&named) {
        return Ok(named.into_owned());
    }
    let whole = absolute(path)?;
    Ok(format!("\"{}\"", whole.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// Prints and writes a measurement; the exit code follows `--tolerance`.
fn report(args: &Measure, measured: &Measurement, target: Option<&Target>) -> Result<ExitCode, Failure> {
    let json = measured.json().map_err(Failure::Output)?;
    if let Some(target) = target {
        target.write(&|out| out.write_all(json.as_bytes()))?;
    }
    let shown = match args.format {
        ListFormat::Text => text::report(measured),
        ListFormat::Json => json,
    };
    output::to_stdout(|out| out.write_all(shown.as_bytes()))?;
    let within = args.tolerance.is_none_or(|percent| measured.within(percent / 100.0));
    Ok(if within { ExitCode::SUCCESS } else { ExitCode::from(BAD_END) })
}

/// A file for the archive: its name below the root of the sources, and its bytes.
type New = (PathBuf, Vec<u8>);

/// A measurement to add and its machine, as files of the archive.
fn added(path: &Path, machine: &Path) -> Result<(Measurement, [New; 2]), Failure> {
    let measurement = again(path, machine)?;
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let (Some(name), Some(of)) = (stem(path), stem(machine)) else {
        return Err(Failure::Input(format!("{} has no name", path.display())));
    };
    let (_, text) = input::file(machine, MAX_BYTES, "machine file")?;
    let archive = Path::new(page::ARCHIVE);
    let json = measurement.json().map_err(Failure::Output)?;
    let files = [
        (archive.join(format!("{name}.json")), json.into_bytes()),
        (archive.join(format!("{of}.yaml")), text.into_bytes()),
    ];
    Ok((measurement, files))
}

/// Writes the page from the archived measurements below the root of the sources and a new one, which it
/// archives.
fn write_page(root: &Path, new: Option<(&Path, &Path)>, force: bool) -> Result<ExitCode, Failure> {
    let folder = root.join(page::ARCHIVE);
    let unreadable = |e: &io::Error| {
        Failure::Input(format!("{}: {e}; --write needs the root directory of the sources", folder.display()))
    };
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .map_err(|e| unreadable(&e))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    let file =
        |path: &Path| path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut archived = Vec::new();
    for path in &files {
        let (name, text) = input::file(path, MAX_BYTES, "measurement")?;
        let machine = Measurement::read(&name, &text).map_err(Failure::Input)?.machine;
        archived.push((file(path), again(path, &folder.join(format!("{machine}.yaml")))?));
    }
    let mut written: Vec<New> = Vec::new();
    if let Some((path, machine)) = new {
        let (measurement, both) = added(path, machine)?;
        for (path, bytes) in both {
            // A machine that has been archived with another measurement stays.
            let whole = root.join(&path);
            if fs::read(&whole).is_ok_and(|known| known == bytes) {
                continue;
            }
            if whole.exists() && !force {
                return Err(Failure::Input(format!("{} exists: --force replaces it", whole.display())));
            }
            written.push((path, bytes));
        }
        archived.retain(|(known, _)| *known != file(path));
        archived.push((file(path), measurement));
        archived.sort_by(|(a, _), (b, _)| a.cmp(b));
    }
    if archived.is_empty() {
        return Err(Failure::Input(format!("{}: no measurement (*.json)", folder.display())));
    }
    written.push((PathBuf::from(page::PATH), page::page(&archived).into_bytes()));
    let (folder, _) = Folder::check(root, true, std::iter::empty())?;
    let written: Vec<_> = written.iter().map(|(path, bytes)| (path, output::bytes(bytes))).collect();
    folder.write(&written)?;
    Ok(ExitCode::SUCCESS)
}
