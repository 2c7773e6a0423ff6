//! `oversim duel`: the smallest scenario in which one policy loses most to another one.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use decide::duel::{self, Found, Request};
use decide::trial::{Means, Subject};
use decide::why;
use experiment::PolicyRegistry;
use pictures::timeline::choice::{self, Asked};
use pictures::timeline::{self, Medium, draw};
use scenario::Overrides;

use super::why::{explain, failed};
use crate::args::{AnswerFormat, Duel};
use crate::bar::Bar;
use crate::failure::Failure;
use crate::output::{self, Target};
use crate::say;

/// Replicates of the search for reasons: the fresh seeds on which the ratio is measured.
const REPLICATES: u32 = 10;
/// Pixels of a PNG for each pixel of the SVG.
const SCALE: f32 = 2.0;

/// Searches and prints.
pub(crate) fn duel(args: &Duel, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let target = |path: &Path| Target::check(path, args.force);
    let file = args.output.as_deref().map(target).transpose()?;
    let picture = args.timeline.as_deref().map(|path| is_png(path).and_then(|png| Ok((target(path)?, png))));
    let picture = picture.transpose()?;
    let outputs: Vec<&Target> = file.iter().chain(picture.iter().map(|(target, _)| target)).collect();
    output::distinct(&outputs, &[])?;
    let request = Request {
        policies: [args.loser.clone(), args.winner.clone()],
        kernel: args.kernel.clone(),
        objective: args.objective.clone(),
        runs: args.runs as usize,
        seed: args.seed,
    };
    let bar = Bar::new(args.runs as usize, "runs");
    let stop = AtomicBool::new(false);
    let progress = || bar.inc();
    let means = Means { jobs: args.jobs.map_or(0, NonZeroUsize::get), progress: &progress, stop: &stop };
    let found = duel::search(&request, policies, means);
    say::clear_bar();
    let found = match found.map_err(failed)? {
        Found::Lost(found) => found,
        Found::Nothing(why) => {
            return nothing(args, &why);
        }
    };
    let reason = if args.no_reason { None } else { reason(args, &found, policies)? };
    if let Some(file) = &file {
        file.write(&|out| out.write_all(found.scenario.as_bytes()))?;
        say::remark(format_args!("{} written", file.named().display()));
    }
    if let Some((target, png)) = picture {
        draw_both(&found.scenario, policies, &target, png)?;
    }
    let name = args.output.as_ref().map(|path| path.display().to_string());
    let (reason, name) = (reason.as_deref(), name.as_deref());
    let text = match args.format {
        AnswerFormat::Text => duel::text(&found, reason, name, output::width().clamp(60, 100)),
        AnswerFormat::Json => duel::json(&found, reason, name),
        AnswerFormat::Markdown => duel::markdown(&found, reason, name),
    };
    output::to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// No loss was found; no file is written.
fn nothing(args: &Duel, why: &str) -> Result<ExitCode, Failure> {
    output::to_stdout(|out| match args.format {
        AnswerFormat::Json => out.write_all(duel::json_nothing(why).as_bytes()),
        AnswerFormat::Text | AnswerFormat::Markdown => output::write_folded(&format!("{why}\n"), out),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Whether a picture is a PNG, by its ending.
fn is_png(path: &Path) -> Result<bool, Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    match ending.as_deref() {
        Some("svg") => Ok(false),
        Some("png") => Ok(true),
        _ => Err(Failure::Input(format!(
            "`{}` must end in .svg or .png: the ending selects the form of the picture",
            path.display()
        ))),
    }
}

/// What makes the loss, by moving each mechanism alone.
fn reason(args: &Duel, found: &duel::Duel, policies: &PolicyRegistry) -> Result<Option<String>, Failure> {
    let base = Overrides::default();
    let subject = Subject { policies, name: "lost.yaml", text: &found.scenario, base };
    let [loser, winner] = &found.policies;
    let pair = why::of_policies(&subject, [winner, loser]);
    let none = || "no mechanism that is moved alone is shown to make a part of it".to_owned();
    Ok(Some(why::reason(&explain(&pair, REPLICATES, args.jobs)?).unwrap_or_else(none)))
}

/// Draws the runs of both policies on the first of the fresh seeds.
fn draw_both(scenario: &str, policies: &PolicyRegistry, target: &Target, png: bool) -> Result<(), Failure> {
    let overrides = Overrides { repeat: Some(1), ..Overrides::default() };
    let experiment =
        scenario::load_with(policies, "lost.yaml", scenario, &overrides).map_err(Failure::Rendered)?;
    let chosen = choice::choose(&experiment, Asked { named: true, vary: None }).map_err(Failure::Input)?;
    let request = timeline::Request { from: None, to: None, cpus: None, aim: chosen.aim };
    let timeline = timeline::record(&chosen.subjects(), &request, Medium::Picture).map_err(Failure::Input)?;
    let picture = draw::picture(&timeline, &chosen.title);
    let bytes = match png {
        false => picture.svg().into_bytes(),
        true => picture.png(SCALE).map_err(Failure::Output)?,
    };
    target.write(&|out| out.write_all(&bytes))?;
    say::written(target.named().display(), timeline.headline());
    Ok(())
}
