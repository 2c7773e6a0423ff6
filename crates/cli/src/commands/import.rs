//! `oversim import` and `oversim export`: files of other programs to scenarios, and the reverse.

use std::path::Path;
use std::process::ExitCode;

use experiment::PolicyRegistry;
use import::{Form, Formula, Note, Options, Source};
use scenario::Overrides;

use super::source;
use crate::args::{CpuManager, Export, Import, Weights, Written};
use crate::failure::{Failure, LEFT_OUT};
use crate::output::{Target, distinct, to_stdout};
use crate::{input, say};

/// Writes the scenario that a file of another program becomes.
pub(crate) fn import(args: &Import) -> Result<ExitCode, Failure> {
    let target = args.output.as_deref().map(|path| Target::check(path, args.force)).transpose()?;
    let inputs: Vec<&Path> = args.files.iter().map(std::path::PathBuf::as_path).collect();
    distinct(&target.iter().collect::<Vec<_>>(), &inputs)?;
    let mut read = Vec::new();
    let mut form = args.form.as_deref().and_then(Form::named);
    for path in &inputs {
        read.push(if path.is_dir() {
            form = form.or(Some(Form::Cgroup));
            (path.display().to_string(), import::read_directory(path)?)
        } else {
            input::file(path, import::MAX_BYTES, "file to import")?
        });
    }
    let sources: Vec<Source<'_>> = read.iter().map(|(name, text)| Source { name, text }).collect();
    let title = args.output.as_deref().or(inputs.first().copied()).and_then(Path::file_stem);
    let title = title.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let options = Options {
        form,
        machine: args.machine.clone(),
        cores: args.cores,
        workload: args.workload.clone(),
        jobs: args.jobs.map(usize::from),
        from: args.from,
        flops: args.flops,
        formula: match args.weights {
            Weights::Quadratic => Formula::Quadratic,
            Weights::Linear => Formula::Linear,
        },
        exclusive: args.cpu_manager == CpuManager::Static,
        ..Options::named(&title)
    };
    let imported = import::import(&sources, &options)?;
    let whole = imported.is_whole();
    loads(
        &target.as_ref().map_or_else(|| "the scenario".into(), |to| to.named().display().to_string()),
        &imported.text,
    )?;
    deliver(target.as_ref(), &imported.text)?;
    list(&imported.notes);
    if let Some(target) = &target {
        let file = target.named().display();
        say::written(
            &file,
            format_args!("scenario of {}; next: oversim check {file}", imported.form.title()),
        );
    }
    Ok(ended(whole))
}

/// Refuses a scenario that cannot be read back: of a wrong `--workload` or `--machine`, or of a file whose
/// numbers no scenario can have.
fn loads(name: &str, text: &str) -> Result<(), Failure> {
    match scenario::load(name, text, &Overrides::default()) {
        Ok(_) => Ok(()),
        Err(problems) => Err(Failure::Rendered(problems)),
    }
}

/// Writes a scenario in the form of another program.
pub(crate) fn export(args: &Export, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let target = args.output.as_deref().map(|path| Target::check(path, args.force)).transpose()?;
    distinct(&target.iter().collect::<Vec<_>>(), &[&args.file])?;
    let (name, text) = input::scenario(&args.file)?;
    source::load(policies, &name, &text, &Overrides::default())?;
    let scenario = Source { name: &name, text: &text };
    let exported = match args.form {
        Written::RtApp => import::export::rt_app(&scenario),
        Written::Swf => import::export::swf(&scenario),
    }?;
    deliver(target.as_ref(), &exported.text)?;
    list(&exported.notes);
    Ok(ended(exported.is_whole()))
}

fn deliver(target: Option<&Target>, text: &str) -> Result<(), Failure> {
    match target {
        None => to_stdout(|out| out.write_all(text.as_bytes())),
        Some(target) => target.write(&|out| out.write_all(text.as_bytes())),
    }
}

/// The list of differences: warnings about what is missing, remarks about the rest.
pub(super) fn list(notes: &[Note]) {
    for note in notes {
        match note.kind {
            import::Kind::LeftOut => say::warning(note),
            import::Kind::Differs | import::Kind::Assumed => say::note(note),
            import::Kind::NoEffect => say::remark(note),
        }
    }
}

fn ended(whole: bool) -> ExitCode {
    if whole { ExitCode::SUCCESS } else { ExitCode::from(LEFT_OUT) }
}
