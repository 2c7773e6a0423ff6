//! `oversim timeline`: which task ran where and when, as a picture or in the terminal.

use std::process::ExitCode;

use experiment::PolicyRegistry;
use experiment::run::simulate_one;
use experiment::size::Size;
#[cfg(feature = "formats")]
use pictures::canvas::Picture;
use pictures::timeline::choice::{self, Asked};
use pictures::timeline::{self, Medium, Request, Subject, draw, terminal};
use scenario::plan::Experiment;
use scenario::{Overrides, load_with};

use super::figure::PictureFile;
use super::source;
use crate::args::{Rows, Timeline as Args};
use crate::failure::Failure;
use crate::{input, output, say};

/// Operations of tasks up to which all runs of a scenario are simulated to find those to show: a second or
/// two.
const QUICK: f64 = 5e5;

/// Draws the timeline.
pub(crate) fn timeline(args: &Args, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    check(args)?;
    let target = args.output.as_deref().map(|path| PictureFile::check(path, args.force)).transpose()?;
    let width = output::columns();
    let medium = if target.is_some() { Medium::Picture } else { Medium::Text(terminal::columns(width)) };
    let (timeline, title) = recorded(args, policies, medium)?;
    let Some(file) = target else {
        let text = terminal::text(&timeline, &title, width, output::colours());
        output::to_stdout(|out| out.write_all(text.as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    };
    file.write(&draw::picture(&timeline, &title))?;
    say::written(
        file.target.named().display(),
        format_args!("{} {}", timeline.message(), timeline.headline()),
    );
    Ok(ExitCode::SUCCESS)
}

/// The picture that the arguments ask for, wherever it goes.
#[cfg(feature = "formats")]
pub(crate) fn picture(args: &Args, policies: &PolicyRegistry) -> Result<Picture, Failure> {
    let (timeline, title) = recorded(args, policies, Medium::Picture)?;
    Ok(draw::picture(&timeline, &title))
}

/// Records what the arguments ask for, and its title; remarks and warnings go to standard error.
fn recorded(
    args: &Args,
    policies: &PolicyRegistry,
    medium: Medium,
) -> Result<(timeline::Timeline, String), Failure> {
    let (name, text) = input::scenario(&args.file)?;
    // What has no effect on the runs that are shown is found below.
    let edited = Overrides { warn: false, ..source::edited(&args.edits) };
    let overrides = Overrides { repeat: Some(1), vary: args.vary.clone(), ..edited };
    let experiment = source::load(policies, &name, &text, &overrides)?;
    let asked = Asked { named: !args.edits.policies.is_empty(), vary: args.vary.as_deref() };
    let choice = match extremes(&experiment, asked) {
        Some(pair) => choice::pair(&experiment, pair),
        None => choice::choose(&experiment, asked).map_err(Failure::Input)?,
    };
    let load = |overrides: &Overrides| load_with(policies, &name, &text, overrides).ok();
    for pair in choice::without_effect(&choice, asked, &overrides, load) {
        say::warning(format_args!("--set {pair} has no effect on the runs that are shown"));
    }
    let subjects = choice.subjects();
    let request =
        Request { from: args.from, to: args.to, cpus: cpus(args, &experiment, &subjects)?, aim: choice.aim };
    for remark in &choice.remarks {
        say::note(remark);
    }
    let rows = match args.rows {
        Rows::Cpus => timeline::Rows::Cpus,
        Rows::Threads => timeline::Rows::Threads(args.threads.clone()),
    };
    let mut timeline = timeline::record_rows(&subjects, &request, &rows, medium).map_err(Failure::Input)?;
    timeline.queues = args.queues;
    if let Some(warning) = choice::equal(&choice, &timeline.tracks) {
        say::warning(warning);
    }
    Ok((timeline, choice.title))
}

/// The worst run of a scenario and the best policy beside it, as `run` proposes them; none where the user
/// chooses, where there is nothing to choose, or where it takes long to find out.
fn extremes(experiment: &Experiment, asked: Asked<'_>) -> Option<choice::Pair> {
    let swept = experiment.axes.iter().any(|axis| axis.values.len() > 1);
    let open = swept || experiment.policies.len() > 2;
    if asked.named || asked.vary.is_some() || !open || Size::of(experiment).operations > QUICK {
        return None;
    }
    let makespan = |plan| Some((plan, simulate_one(plan, &mut ()).ok()?.makespan.ns()));
    let runs: Option<Vec<_>> = choice::runs(experiment).map(makespan).collect();
    choice::extremes(experiment, &runs?)
}

/// Refuses flags that have no meaning together, before anything is read.
pub(super) fn check(args: &Args) -> Result<(), Failure> {
    if let Some(sweep) = args.edits.sweep.first() {
        let flag = if sweep.contains(',') { "--vary" } else { "--set" };
        return Err(Failure::Input(format!(
            "--sweep {sweep}: a timeline shows single configurations; write `{flag} {sweep}`{}",
            if flag == "--vary" { ", which stacks two to four" } else { "" }
        )));
    }
    if args.rows == Rows::Threads && args.cpus.is_some() {
        return Err(Failure::Input(
            "--cpus chooses rows of cpus: with `--rows threads` write --threads".into(),
        ));
    }
    if args.rows == Rows::Cpus && args.threads.is_some() {
        return Err(Failure::Input(
            "--threads chooses rows of threads: write `--rows threads` with it".into(),
        ));
    }
    if args.rows == Rows::Threads && args.queues {
        return Err(Failure::Input("--queues belongs to rows of cpus, and `--rows threads` has none".into()));
    }
    let policies = &args.edits.policies;
    if args.vary.is_some() && policies.len() > 1 {
        return Err(Failure::Input(format!(
            "--vary shows one policy, and --policy names {}: choose one of {}, or stack them without --vary",
            policies.len(),
            policies.join(", ")
        )));
    }
    Ok(())
}

/// The cpus asked for, of those that the machine has.
pub(super) fn cpus(
    args: &Args,
    experiment: &Experiment,
    subjects: &[Subject<'_>],
) -> Result<Option<Vec<u32>>, Failure> {
    let Some((list, first)) = args.cpus.as_ref().zip(subjects.first()) else { return Ok(None) };
    let numbering = experiment.numbering(&first.plan.machine);
    let refused = |why| Failure::Input(format!("--cpus {list}: {why}"));
    let (cpus, remark) = timeline::cpus(list, &numbering).map_err(refused)?;
    if let Some(remark) = remark {
        say::warning(format_args!("--cpus: {remark}"));
    }
    Ok(Some(cpus))
}
