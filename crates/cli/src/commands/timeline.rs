//! `oversim timeline`: who ran where, as a picture or in the terminal.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use experiment::PolicyShelf;
use experiment::plan::{Experiment, RunPlan};
use experiment::scenario::{Overrides, load_with};
use timeline::draw::{self, Caption};
use timeline::{Medium, Request, Subject, terminal};

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
    let (name, text) = input::read(&args.file)?;
    let load = |one_point| {
        let overrides = Overrides { one_point, ..overrides(args) };
        load_with(policies, &name, &text, &overrides).map_err(Failure::Rendered)
    };
    let mut experiment = load(false)?;
    // A value that the sweep does not have: the scenario without its sweep does.
    let point = match point(&experiment, &args.set) {
        Some(point) => point,
        None => {
            experiment = load(true)?;
            0
        }
    };
    let plans = plans(&experiment, point, args.policies.is_empty());
    let subjects: Vec<Subject<'_>> = plans.iter().map(|(label, plan)| Subject { label, plan }).collect();
    let request = Request { from: args.from, to: args.to, cpus: cpus(args, &subjects)? };
    let title = title(&experiment, point, &plans);
    remark(args, &experiment, point, plans.len());
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
                "`{name}` is to end in .svg or .png: that says which picture"
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

fn overrides(args: &Args) -> Overrides {
    Overrides {
        set: args.set.clone(),
        policies: args.policies.clone(),
        seed: args.seed,
        repeat: Some(1),
        ..Overrides::default()
    }
}

/// The first point of the sweep that has all values of `--set` for the paths of the sweep; none when no point has them.
fn point(experiment: &Experiment, set: &[String]) -> Option<usize> {
    let pairs = || set.iter().filter_map(|pair| pair.split_once('='));
    experiment.points.iter().position(|point| {
        let wanted =
            |path: &str| pairs().rev().find(|(set, _)| set.trim() == path).map(|(_, value)| value.trim());
        point.settings.iter().all(|(path, value)| wanted(path).is_none_or(|wanted| wanted == value))
    })
}

/// The first replicate of each policy at a point.
fn plans(experiment: &Experiment, point: usize, unnamed: bool) -> Vec<(&str, &RunPlan)> {
    let runs =
        experiment.runs.iter().filter(|run| run.alone.is_none() && run.point == point && run.replicate == 0);
    let named = runs.filter_map(|run| Some((experiment.policies.get(run.policy)?.as_str(), run)));
    named.take(if unnamed { UNNAMED } else { usize::MAX }).collect()
}

/// The cpus asked for, of those that the machine has.
fn cpus(args: &Args, subjects: &[Subject<'_>]) -> Result<Option<Vec<u32>>, Failure> {
    let Some(list) = &args.cpus else { return Ok(None) };
    let count = subjects.first().map_or(0, |subject| subject.plan.machine.cpus());
    timeline::cpus(list, count).map(Some).map_err(|why| Failure::Input(format!("--cpus {list}: {why}")))
}

/// The scenario, the point that is shown, and the seed.
fn title(experiment: &Experiment, point: usize, plans: &[(&str, &RunPlan)]) -> String {
    let point = experiment.points.get(point).map_or("", |point| point.label.as_str());
    let at = if point.is_empty() { String::new() } else { format!(", {point}") };
    let seed = plans.first().map_or(experiment.seed, |plan| plan.1.options.seed);
    format!("{}{at}, seed {seed}", experiment.name)
}

/// Says on standard error what was not asked for: other points of the sweep, policies that are not shown.
fn remark(args: &Args, experiment: &Experiment, point: usize, shown: usize) {
    if args.quiet {
        return;
    }
    let mut remarks = Vec::new();
    // Nobody who has said which point wants to hear of others.
    let settings = experiment.points.get(point).map_or(&[][..], |point| &point.settings);
    let said = |path: &str| args.set.iter().any(|pair| pair.split('=').next().map(str::trim) == Some(path));
    let open: Vec<&str> =
        settings.iter().map(|setting| setting.0.as_str()).filter(|path| !said(path)).collect();
    if experiment.points.len() > 1 && !open.is_empty() {
        let label = experiment.points.get(point).map_or("", |point| point.label.as_str());
        let how = open.iter().map(|path| format!("--set {path}=...")).collect::<Vec<_>>().join(" ");
        remarks.push(format!("shown at {label}; {how} shows another point of the sweep"));
    }
    let policies = &experiment.policies;
    if policies.len() > shown {
        let (here, there) = (policies[..shown].join(" and "), policies[shown..].join(", "));
        remarks.push(format!("shown under {here}; --policy A,B chooses among them and {there}"));
    }
    let mut err = anstream::stderr();
    for remark in remarks {
        // Standard error may be closed; the picture is there all the same.
        let _ = writeln!(err, "note: {remark}");
    }
}
