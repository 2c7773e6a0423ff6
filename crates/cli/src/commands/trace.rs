//! `oversim run --trace` and `--requests`: which run they write, and the files that it goes to.

use experiment::requests;
use experiment::result::{DEDICATED, Results};
use scenario::plan::{Experiment, RunPlan};
use trace::{About, Form};

use crate::args::Run;
use crate::failure::Failure;
use crate::output::Target;
use crate::parts::FORMATS;

/// Runs that an error names at most.
const NAMED: usize = 6;

/// A requested trace.
pub(super) struct Wanted {
    target: Target,
    form: Form,
}

impl Wanted {
    /// Its file.
    pub(super) const fn target(&self) -> &Target {
        &self.target
    }
}

/// The form that the name of the file requests, before anything is read.
pub(super) fn wanted(args: &Run) -> Result<Option<Wanted>, Failure> {
    let Some(path) = &args.trace else { return Ok(None) };
    let Some(form) = Form::of(path) else {
        return Err(Failure::Input(format!(
            "{}: the name of a trace must end in .pftrace (for ui.perfetto.dev), or in .ftrace or .txt (the \
                text form of ftrace)",
            path.display()
        )));
    };
    if form == Form::Perfetto {
        FORMATS.need("a trace for Perfetto")?;
    }
    Ok(Some(Wanted { target: Target::check(path, args.force)?, form }))
}

/// The file of `--requests`, before anything is read.
pub(super) fn requested(args: &Run) -> Result<Option<Target>, Failure> {
    args.requests.as_ref().map(|path| Target::check(path, args.force)).transpose()
}

/// The number of the run whose requests are written, as [`chosen`].
pub(super) fn answering(args: &Run, experiment: &Experiment) -> Result<usize, Failure> {
    let run = chosen(args, experiment)?;
    if experiment.runs.get(run).is_some_and(requests::has) {
        return Ok(run);
    }
    Err(Failure::Input(format!(
        "--requests: no application of run {run} answers requests; `interactive`, `services` and `daemon` \
            do, and programs with `arrivals` or `until`"
    )))
}

/// Simulates the run once more and writes its requests: whole or not at all.
pub(super) fn write_requests(target: &Target, run: usize, experiment: &Experiment) -> Result<(), Failure> {
    let Some(plan) = experiment.runs.get(run) else { return Ok(()) };
    target.write(&|out| match requests::write(plan, out) {
        Ok(_) => Ok(()),
        Err(requests::Failure::Write(error)) => Err(error),
        Err(requests::Failure::Refused(reason)) => Err(std::io::Error::other(reason)),
    })
}

/// The number of the run that is written: the requested one, or the only one under a policy.
pub(super) fn chosen(args: &Run, experiment: &Experiment) -> Result<usize, Failure> {
    if let Some(run) = args.trace_run {
        return numbered(run, experiment);
    }
    let shared = shared(experiment);
    if let [only] = shared[..] {
        return Ok(only);
    }
    let what = if args.trace.is_some() { "a trace shows" } else { "--requests writes" };
    Err(several(what, &shared, experiment, " --repeat 1"))
}

/// The number of the run that a report shows: the requested one, or the first replicate of the only
/// configuration under a policy.
#[cfg(feature = "measured")]
pub(super) fn first(asked: Option<usize>, experiment: &Experiment) -> Result<usize, Failure> {
    if let Some(run) = asked {
        return numbered(run, experiment);
    }
    let mut firsts = shared(experiment);
    firsts.retain(|run| experiment.runs.get(*run).is_some_and(|plan| plan.replicate == 0));
    match firsts[..] {
        [only] => Ok(only),
        _ => Err(several("a report shows", &firsts, experiment, "")),
    }
}

/// The number of a run that is requested.
fn numbered(run: usize, experiment: &Experiment) -> Result<usize, Failure> {
    let count = experiment.runs.len();
    if run < count {
        return Ok(run);
    }
    Err(Failure::Input(format!(
        "there is no run {run}: runs are numbered from 0 to {}",
        count.saturating_sub(1)
    )))
}

/// The numbers of the runs under a policy.
fn shared(experiment: &Experiment) -> Vec<usize> {
    let runs = experiment.runs.iter().enumerate().filter(|(_, plan)| plan.alone.is_none());
    runs.map(|(run, _)| run).collect()
}

/// The error about several runs where one is needed.
fn several(what: &str, shared: &[usize], experiment: &Experiment, more_flags: &str) -> Failure {
    let runs = &experiment.runs;
    let named = shared.iter().take(NAMED).map(|run| format!("{run} ({})", label(experiment, &runs[*run])));
    let more = if shared.len() > NAMED { ", ..." } else { "" };
    Failure::Input(format!(
        "{what} one run and the scenario has {}: choose one with --trace-run {}{more}, or reduce the \
            scenario with{}{more_flags}",
        shared.len(),
        named.collect::<Vec<_>>().join(", "),
        reduced(experiment)
    ))
}

/// The flags that leave one configuration of an experiment: ` --policy LOAD --set threads_per_core=1`.
fn reduced(experiment: &Experiment) -> String {
    let policy = experiment.policies.first().map(|policy| format!(" --policy {policy}"));
    let swept = experiment.axes.iter().filter(|axis| axis.values.len() > 1);
    let sets = swept.filter_map(|axis| Some(format!(" --set {}={}", axis.path, axis.values.first()?)));
    format!("{}{}", policy.unwrap_or_default(), sets.collect::<String>())
}

/// `LOAD, threads_per_core=2, replicate 0`
pub(super) fn label(experiment: &Experiment, plan: &RunPlan) -> String {
    let policy = experiment.policies.get(plan.policy).map_or(DEDICATED, String::as_str);
    let configuration = experiment
        .configurations
        .get(plan.configuration)
        .map_or("", |configuration| configuration.label.as_str());
    let parts = [policy.to_owned(), configuration.to_owned(), format!("replicate {}", plan.replicate)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Simulates the run once more, as it repeats exactly, and writes its trace: whole or not at all.
pub(super) fn write(
    wanted: &Wanted,
    run: usize,
    experiment: &Experiment,
    results: &Results,
) -> Result<(), Failure> {
    let Some(plan) = experiment.runs.get(run) else { return Ok(()) };
    let p = &results.provenance;
    let facts = [
        ("tool", format!("{} {}", p.tool, p.version)),
        ("model", p.model.clone()),
        ("scenario", p.scenario.clone()),
        ("scenario_sha256", p.scenario_sha256.clone()),
        ("overrides", p.overrides.join(" ")),
        ("machine", plan.machine.name.clone()),
        ("kernel", plan.kernel.name.clone()),
        ("run", format!("{run}: {}", label(experiment, plan))),
        ("seed", plan.options.seed.to_string()),
    ];
    let facts = facts.into_iter().filter(|(_, value)| !value.is_empty());
    let about = About { facts: facts.map(|(key, value)| (key.to_owned(), value)).collect() };
    wanted.target.write(&|out| match trace::run(plan, &about, wanted.form, out) {
        Ok(_) => Ok(()),
        Err(trace::Failure::Write(error)) => Err(error),
        Err(trace::Failure::Refused(reason)) => Err(std::io::Error::other(reason)),
    })
}
