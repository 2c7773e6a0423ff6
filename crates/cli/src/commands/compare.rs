//! `oversim compare`: two results, or two policies of one scenario, pair by pair; the exit code tells of slowdowns.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use experiment::PolicyShelf;
use experiment::compare::contrast::{self, Contrasts, Named, Wanted};
use experiment::compare::report;
use experiment::result::{self, Results};
use experiment::scenario::{Overrides, load_with};

use crate::args::Compare;
use crate::failure::{BAD_END, Failure};
use crate::{input, output, say};

/// Compares and reports; exit code 1 when something is significantly slower beyond the threshold.
pub(crate) fn compare(args: &Compare, policies: &PolicyShelf) -> Result<ExitCode, Failure> {
    let a = open(args, &args.first, policies)?;
    let b = args.second.as_deref().map(|path| open(args, path, policies)).transpose()?;
    let simulated = a.simulated || b.as_ref().is_some_and(|b| b.simulated);
    if !simulated && (args.seed.is_some() || args.repeat.is_some() || !args.set.is_empty()) {
        return Err(Failure::Input(
            "--seed, --repeat and --set belong to scenarios; results have been simulated already".into(),
        ));
    }
    let wanted =
        Wanted { policies: args.policies.clone(), metrics: args.metrics.clone(), threshold: args.threshold };
    // A scenario that ran only the wanted policies has them in this order, whatever their spelling.
    let wanted = if a.simulated { Wanted { policies: Vec::new(), ..wanted } } else { wanted };
    let compared = match &b {
        None => contrast::policies(a.named(), &wanted),
        Some(b) => contrast::results(a.named(), b.named(), &wanted),
    };
    let compared = compared.map_err(Failure::Input)?;
    deliver(args, &compared)?;
    Ok(if compared.too_slow > 0 { ExitCode::from(BAD_END) } else { ExitCode::SUCCESS })
}

/// A result that was read, or simulated just now.
struct Opened {
    name: String,
    results: Results,
    simulated: bool,
}

impl Opened {
    fn named(&self) -> Named<'_> {
        Named { file: &self.name, results: &self.results }
    }
}

/// Reads a result, or reads a scenario and runs it.
fn open(args: &Compare, path: &Path, policies: &PolicyShelf) -> Result<Opened, Failure> {
    let (name, text) = input::read_up_to(path, input::MAX_RESULT_BYTES, "result or scenario")?;
    let json = path.extension().is_some_and(|extension| extension == "json");
    if json || result::is_result(&text) {
        let results = result::read(&name, &text).map_err(Failure::Input)?;
        return Ok(Opened { name, results, simulated: false });
    }
    let overrides = Overrides {
        set: args.set.clone(),
        policies: args.policies.clone(),
        seed: args.seed,
        repeat: args.repeat,
        ..Overrides::default()
    };
    let experiment = load_with(policies, &name, &text, &overrides).map_err(Failure::Rendered)?;
    say::remark(format_args!("{name}: {}", super::check::counts(&experiment)));
    let began = Instant::now();
    let bar = say::bar(experiment.runs.len(), "runs");
    let jobs = args.jobs.map_or(0, NonZeroUsize::get);
    let results = experiment::run::run(&experiment, jobs, &|_, _| bar.inc(1));
    bar.finish_and_clear();
    say::took(began, experiment.runs.len(), "runs");
    Ok(Opened { name, results: results.map_err(|e| Failure::Input(e.to_string()))?, simulated: true })
}

fn deliver(args: &Compare, compared: &Contrasts) -> Result<(), Failure> {
    let Some(form) = report::form(args.format.name()) else {
        return Err(Failure::Output(format!("no format {}", args.format.name())));
    };
    output::to_stdout(|out| (form.write)(compared, out))
}
