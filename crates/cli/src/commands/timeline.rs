//! `oversim timeline`: which task ran where and when, as a picture or in the terminal.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use experiment::PolicyShelf;
use experiment::plan::{Experiment, RunPlan};
use experiment::scenario::Overrides;
use timeline::draw::{self, Caption};
use timeline::{Medium, Request, Subject, terminal};

use super::source;
use crate::args::Timeline as Args;
use crate::failure::Failure;
use crate::{input, output};

/// Pixels of a PNG for each pixel of the SVG.
const SCALE: f32 = 2.0;
/// Policies that are shown when none is named: those of the scenario, as far as they fit one picture well.
const UNNAMED: usize = 2;

/// The form of the picture.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Svg,
    Png,
}

/// Draws the timeline.
pub(crate) fn timeline(args: &Args, policies: &PolicyShelf) -> Result<ExitCode, Failure> {
    let target = args.output.as_deref().map(|path| target(path, args.force)).transpose()?;
    let (name, text) = input::scenario(&args.file)?;
    let overrides = Overrides { repeat: Some(1), ..source::edited(&args.edits) };
    let experiment = source::load(policies, &name, &text, &overrides)?;
    // Of a sweep the first configuration is shown; `--set` chooses another one.
    let configuration = 0;
    let plans = plans(&experiment, configuration, args.edits.policies.is_empty());
    let subjects: Vec<Subject<'_>> = plans.iter().map(|(label, plan)| Subject { label, plan }).collect();
    let request = Request { from: args.from, to: args.to, cpus: cpus(args, &subjects)? };
    let title = title(&experiment, configuration, &plans);
    remark(args, &experiment, configuration, plans.len());
    let Some((path, form)) = target else {
        let (width, colour) = (output::columns(), output::colours());
        let medium = Medium::Text(terminal::columns(width));
        let timeline = timeline::record(&subjects, &request, medium).map_err(Failure::Input)?;
        let text = terminal::text(&timeline, &title, width, colour);
        output::to_stdout(|out| out.write_all(text.as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    };
    let timeline = timeline::record(&subjects, &request, Medium::Picture).map_err(Failure::Input)?;
    let svg = draw::svg(&timeline, Caption { title: &title, prefix: "timeline" });
    let bytes = match form {
        Form::Svg => svg.into_bytes(),
        Form::Png => drawing::png::from_svg(&svg, SCALE).map_err(Failure::Output)?,
    };
    output::to_file(path, args.force, &|out| out.write_all(&bytes))?;
    if !args.quiet {
        // As above.
        let _ = writeln!(anstream::stderr(), "{}: {}", path.display(), timeline.headline());
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the picture goes and in which form; refused before anything is simulated.
fn target(path: &Path, force: bool) -> Result<(&Path, Form), Failure> {
    let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    let form = match extension.as_deref() {
        Some("svg") => Form::Svg,
        Some("png") => Form::Png,
        _ => {
            let name = path.display();
            return Err(Failure::Input(format!(
                "`{name}` must end in .svg or .png, which selects the kind of picture"
            )));
        }
    };
    output::check_file(path, force)?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !directory.is_dir() {
        let (name, directory) = (path.display(), directory.display());
        return Err(Failure::Input(format!("cannot write {name}: there is no directory {directory}")));
    }
    Ok((path, form))
}

/// The first replicate of each policy at a configuration.
fn plans(experiment: &Experiment, configuration: usize, unnamed: bool) -> Vec<(&str, &RunPlan)> {
    let runs = experiment
        .runs
        .iter()
        .filter(|run| run.alone.is_none() && run.configuration == configuration && run.replicate == 0);
    let named = runs.filter_map(|run| Some((experiment.policies.get(run.policy)?.as_str(), run)));
    named.take(if unnamed { UNNAMED } else { usize::MAX }).collect()
}

/// The cpus asked for, of those that the machine has.
fn cpus(args: &Args, subjects: &[Subject<'_>]) -> Result<Option<Vec<u32>>, Failure> {
    let Some(list) = &args.cpus else { return Ok(None) };
    let count = subjects.first().map_or(0, |subject| subject.plan.machine.cpus());
    timeline::cpus(list, count).map(Some).map_err(|why| Failure::Input(format!("--cpus {list}: {why}")))
}

/// The scenario, the configuration that is shown, and the seed.
fn title(experiment: &Experiment, configuration: usize, plans: &[(&str, &RunPlan)]) -> String {
    let configuration =
        experiment.configurations.get(configuration).map_or("", |configuration| configuration.label.as_str());
    let at = if configuration.is_empty() { String::new() } else { format!(", {configuration}") };
    let seed = plans.first().map_or(experiment.seed, |plan| plan.1.options.seed);
    format!("{}{at}, seed {seed}", experiment.name)
}

/// Names on standard error what is not shown: other configurations of the sweep, other policies.
fn remark(args: &Args, experiment: &Experiment, configuration: usize, shown: usize) {
    if args.quiet {
        return;
    }
    let mut remarks = Vec::new();
    let open: Vec<&str> =
        experiment.axes.iter().filter(|axis| axis.values.len() > 1).map(|axis| axis.path.as_str()).collect();
    if !open.is_empty() {
        let label = experiment.configurations.get(configuration).map_or("", |c| c.label.as_str());
        let how = open.iter().map(|path| format!("--set {path}=...")).collect::<Vec<_>>().join(" ");
        remarks.push(format!("shown with {label}; {how} shows another configuration"));
    }
    let policies = &experiment.policies;
    if policies.len() > shown {
        let (here, there) = (policies[..shown].join(" and "), policies[shown..].join(", "));
        remarks.push(format!("shown under {here}; --policy A,B chooses other policies: {there}"));
    }
    let mut err = anstream::stderr();
    for remark in remarks {
        // If standard error is closed, the picture is complete without the remark.
        let _ = writeln!(err, "note: {remark}");
    }
}
