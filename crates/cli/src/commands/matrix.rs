//! `oversim matrix`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use decide::matrix::{self, Changes, File, Matrix as Measured, Programs};
use decide::trial::{Failed, Means};
use experiment::PolicyRegistry;
use experiment::export::View;
use pictures::figures::slowdowns::{self, Slowdowns};
use pictures::figures::{Figure, Table};

use crate::args::Matrix;
use crate::bar::Bar;
use crate::failure::Failure;
use crate::output::{self, Folder, to_stdout};
use crate::{input, say};

/// The files of the heat map.
const FILES: [&str; 2] = ["matrix.svg", "matrix.csv"];

pub(crate) fn matrix(args: &Matrix, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let folder = args.output.as_deref().map(|path| Folder::check(path, args.force, FILES.into_iter()));
    let folder = folder.transpose()?;
    let programs = programs(&args.files, &args.together.changes(), policies)?;
    let (at_a_time, effort) = (usize::from(args.at_a_time), args.together.effort());
    let found = measured(args.together.threads(), |means| {
        matrix::matrix((&programs, policies), at_a_time, effort, means)
    })?;
    if let Some((folder, _)) = folder {
        let figure = figure(&found).map_err(Failure::Input)?;
        let numbers = figure.data.csv().map_err(Failure::Output)?;
        let bytes = [figure.picture.svg().into_bytes(), numbers.into_bytes()];
        let files: Vec<_> = FILES.iter().zip(&bytes).map(|(name, all)| (*name, output::bytes(all))).collect();
        folder.write(&files)?;
    }
    to_stdout(|out| args.format.write(&found, out, &View::FILE))?;
    Ok(ExitCode::SUCCESS)
}

/// The programs of files, with the changes of the command line.
pub(crate) fn programs(
    files: &[PathBuf],
    changes: &Changes,
    policies: &PolicyRegistry,
) -> Result<Programs, Failure> {
    let file = |path: &PathBuf| {
        let (name, text) = input::scenario(path)?;
        Ok(File { name, text })
    };
    let files: Vec<File> = files.iter().map(file).collect::<Result<_, Failure>>()?;
    let programs = Programs::read(policies, &files, changes).map_err(failure)?;
    programs.warnings.iter().for_each(say::warning);
    Ok(programs)
}

/// Diagnostics of scenarios are rendered, all else is a sentence.
pub(crate) fn failure(text: String) -> Failure {
    if text.starts_with("error:") { Failure::Rendered(text) } else { Failure::Input(text) }
}

/// Does something that runs trials on so many threads, and shows how many runs there were.
pub(crate) fn measured<T>(
    jobs: usize,
    what: impl FnOnce(Means<'_>) -> Result<T, Failed>,
) -> Result<T, Failure> {
    let bar = Bar::new(0, "runs");
    let done = AtomicUsize::new(0);
    let progress = || {
        let count = 1 + done.fetch_add(1, Ordering::Relaxed);
        bar.set(count, count);
    };
    let found = what(Means { jobs, progress: &progress, stop: &AtomicBool::new(false) });
    drop(bar);
    found.map_err(|failed| match failed {
        Failed::Refused(text) => failure(text),
        // 128 plus the number of SIGINT.
        Failed::Stopped => Failure::Stopped("interrupted".to_owned(), 130),
    })
}

fn figure(found: &Measured) -> Result<Figure, String> {
    let values = found.groups.iter().filter(|group| group.members.len() == 2).flat_map(|group| {
        let [one, other] = [group.members[0], group.members[1]];
        let both = [(one, other, group.slowdowns[0].mean), (other, one, group.slowdowns[1].mean)];
        both.into_iter().take(if one == other { 1 } else { 2 })
    });
    let rows = found.rows().into_iter().map(Vec::from).collect();
    slowdowns::figure(&Slowdowns {
        programs: found.programs.iter().map(|alone| alone.program.clone()).collect(),
        values: values.collect(),
        setting: format!("{}, {}", found.machine, found.policy),
        source: format!("oversim matrix {}", found.files.join(" ")),
        data: Table { header: matrix::COLUMNS.to_vec(), rows, ..Table::default() },
    })
}
