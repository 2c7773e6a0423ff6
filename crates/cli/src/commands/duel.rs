//! `oversim duel`: the smallest scenario in which one policy loses most to another one.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use decide::duel::{self, Found, Request};
use decide::trial::{Means, Subject};
use decide::why;
use experiment::PolicyRegistry;
use scenario::Overrides;

use super::figure::PictureFile;
use super::pair;
use super::why::{explain, failed};
use crate::args::{AnswerFormat, Duel};
use crate::bar::Bar;
use crate::failure::Failure;
use crate::output::{self, Target};
use crate::say;

/// Replicates of the search for reasons: the fresh seeds on which the ratio is measured.
const REPLICATES: u32 = 10;

/// Searches and prints.
pub(crate) fn duel(args: &Duel, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let target = |path: &Path| Target::check(path, args.force);
    let file = args.output.as_deref().map(target).transpose()?;
    let picture = args.timeline.as_deref().map(|path| PictureFile::check(path, args.force)).transpose()?;
    let outputs: Vec<&Target> = file.iter().chain(picture.iter().map(|picture| &picture.target)).collect();
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
    if let Some(picture) = picture {
        draw_both(&found.scenario, policies, &picture)?;
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
fn draw_both(scenario: &str, policies: &PolicyRegistry, picture: &PictureFile) -> Result<(), Failure> {
    let overrides = Overrides { repeat: Some(1), ..Overrides::default() };
    let experiment =
        scenario::load_with(policies, "lost.yaml", scenario, &overrides).map_err(Failure::Rendered)?;
    pair::draw(&experiment, None, picture)
}
