//! `oversim machine`: shows, imports, changes and exports machines.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use explain::machine_import::{self, From, MAX_XML_BYTES};
use explain::machine_set::{self, Given, MAX_BYTES};
use explain::machine_view::{self, Refusal};

use crate::args::{ListFormat, MachineExport, MachineImport, MachineSet, MachineShow};
use crate::failure::Failure;
use crate::output::{Target, distinct, to_stdout, write_folded};
use crate::{input, say};

/// Prints the machine.
pub(crate) fn show(args: &MachineShow) -> Result<ExitCode, Failure> {
    let view = machine_view::show(&args.machine, args.kernel.as_deref()).map_err(refused)?;
    to_stdout(|out| match args.format {
        ListFormat::Json => machine_view::write_json(&view, out),
        ListFormat::Text => {
            let mut text = Vec::new();
            machine_view::write_text(&view, &mut text)?;
            write_folded(&String::from_utf8_lossy(&text), out)
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

fn refused(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::Sentence(text) => Failure::Input(text),
        Refusal::Rendered(text) => Failure::Rendered(text),
    }
}

/// Writes the machine file of a description.
pub(crate) fn import(args: &MachineImport) -> Result<ExitCode, Failure> {
    let target = args.output.as_deref().map(|path| Target::check(path, args.force)).transpose()?;
    let inputs: Vec<&Path> = args.file.as_deref().into_iter().collect();
    distinct(&target.iter().collect::<Vec<_>>(), &inputs)?;
    let read = args.file.as_deref().map(|path| input::file(path, MAX_XML_BYTES, "topology")).transpose()?;
    let (from, own) = match (&read, &args.synthetic) {
        (Some((name, text)), _) => (From::Xml(name, text), stem(args.file.as_deref())),
        (None, Some(text)) => (From::Synthetic(text), "synthetic".into()),
        (None, None) => (From::Host(args.root.as_deref().unwrap_or(Path::new("/"))), "this-computer".into()),
    };
    let title = args.output.as_deref().map_or(own, |path| stem(Some(path)));
    let imported = machine_import::import(from, &title, args.largest_regular).map_err(refused)?;
    match &target {
        None => to_stdout(|out| out.write_all(imported.text.as_bytes()))?,
        Some(target) => target.write(&|out| out.write_all(imported.text.as_bytes()))?,
    }
    imported.remarks.iter().for_each(say::warning);
    if let Some(target) = &target {
        let file = target.named().display();
        let what = &imported.entry.topology_text;
        say::written(&file, format_args!("machine `{what}`; next: oversim machine show {file}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the machine file of a machine with measured values.
pub(crate) fn set(args: &MachineSet) -> Result<ExitCode, Failure> {
    let target = args.output.as_deref().map(|path| Target::check(path, args.force)).transpose()?;
    let machine = Path::new(&args.machine);
    let inputs: Vec<&Path> = args.from.iter().map(PathBuf::as_path).chain([machine]).collect();
    distinct(&target.iter().collect::<Vec<_>>(), &inputs)?;
    let given = given(&args.value, &args.source)?;
    let read = |path: &PathBuf| input::file(path, MAX_BYTES, "output of a benchmark");
    let logs = args.from.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let title = args.output.as_deref().map(|path| stem(Some(path)));
    let changed = machine_set::set(&args.machine, title.as_deref(), &logs, &given).map_err(refused)?;
    match &target {
        None => to_stdout(|out| out.write_all(changed.text.as_bytes()))?,
        Some(target) => target.write(&|out| out.write_all(changed.text.as_bytes()))?,
    }
    changed.remarks.iter().for_each(say::warning);
    if let Some(target) = &target {
        let file = target.named().display();
        say::written(&file, format_args!("{}; next: oversim machine show {file}", changed.set.join(", ")));
    }
    Ok(ExitCode::SUCCESS)
}

/// The values that are given, each with its source.
fn given<'a>(values: &'a [String], sources: &'a [String]) -> Result<Vec<Given<'a>>, Failure> {
    if sources.len() > 1 && sources.len() != values.len() {
        return Err(Failure::Input(format!(
            "there are {} --value and {} --source: give each value its source, or one source for all",
            values.len(),
            sources.len()
        )));
    }
    let one = |(at, value): (usize, &'a String)| {
        let (name, value) = value.split_once('=').ok_or_else(|| {
            Failure::Input(format!("`{value}` is no value: write `--value core_bandwidth=12GB/s`"))
        })?;
        let source = sources.get(at).or_else(|| sources.first()).map_or("", String::as_str);
        Ok(Given { name: name.trim(), value, source })
    };
    values.iter().enumerate().map(one).collect()
}

/// The name of a file without folder and ending.
fn stem(path: Option<&Path>) -> String {
    let stem = path.filter(|path| path.as_os_str() != "-").and_then(Path::file_stem);
    stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// Prints the machine as one line.
pub(crate) fn export(args: &MachineExport) -> Result<ExitCode, Failure> {
    let exported = machine_import::export_synthetic(&args.machine).map_err(refused)?;
    to_stdout(|out| writeln!(out, "{}", exported.text))?;
    exported.remarks.iter().for_each(say::remark);
    Ok(ExitCode::SUCCESS)
}
