//! `oversim why`: which mechanism makes the difference between two runs.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use decide::trial::{Failed, Means, Subject};
use decide::why::{self, Answer, Pair};
use experiment::PolicyRegistry;
use pictures::figures::tornado::{self, Bar as Part, Tornado};
use scenario::Overrides;

use super::figure::Files;
use super::source;
use crate::args::{AnswerFormat, Why};
use crate::bar::Bar;
use crate::failure::Failure;
use crate::{input, output, say};

/// Replicates without `--repeat`: with 5, Student's t is 2.8, and a difference of 2.7 times its standard
/// deviation over the seeds shows.
const REPLICATES: u32 = 5;

/// Measures, explains and prints.
pub(crate) fn why(args: &Why, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let replicates = check(args)?;
    let read: Vec<&Path> =
        [Some(args.file.as_path()), args.second.as_deref()].into_iter().flatten().collect();
    let files = args.output.as_deref().map(|path| Files::check(path, args.force, &read)).transpose()?;
    let first = input::scenario(&args.file)?;
    let second = args.second.as_deref().map(input::scenario).transpose()?;
    let edits = &args.changes.edits;
    // Of a scenario that is compared with itself, the policies are the sides.
    let several = second.is_none() && edits.policies.len() > 1;
    let base = Overrides {
        policies: if several { Vec::new() } else { edits.policies.clone() },
        objective: args.changes.objective.clone(),
        warn: false,
        ..source::edited(edits)
    };
    let one = Subject { policies, name: &first.0, text: &first.1, base: base.clone() };
    let pair = match (&args.vary, &second, &edits.policies[..]) {
        (Some(vary), ..) => why::of_values(&one, None, vary).map_err(Failure::Rendered)?,
        (None, Some((name, text)), _) => why::of_files(&one, &Subject { name, text, ..one.clone() }),
        (None, None, [a, b]) => why::of_policies(&one, [a, b]),
        (None, None, _) => return Err(sides()),
    };
    let answer = explain(&pair, replicates, args.changes.jobs)?;
    if let Some(files) = files {
        draw(args, &answer, &files)?;
    }
    let text = match args.format {
        AnswerFormat::Text => why::text(&answer, output::width().clamp(60, 100)),
        AnswerFormat::Json => why::json(&answer),
        AnswerFormat::Markdown => why::markdown(&answer),
    };
    output::to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

fn sides() -> Failure {
    Failure::Input(
        "a difference has two sides: name another scenario, two policies (`--policy A,B`) or two values of a \
         setting (`--vary PATH=A,B`)"
            .into(),
    )
}

/// Refuses flags that have no meaning together; the number of replicates.
fn check(args: &Why) -> Result<u32, Failure> {
    let edits = &args.changes.edits;
    if let Some(sweep) = edits.sweep.first() {
        return Err(Failure::Input(format!(
            "--sweep {sweep}: the sides are single configurations; write `--vary PATH=A,B` or `--set`"
        )));
    }
    let policies = edits.policies.len();
    match (&args.vary, &args.second) {
        (None, None) if policies != 2 => return Err(sides()),
        (Some(_), _) | (_, Some(_)) if policies > 1 => {
            return Err(Failure::Input(format!(
                "--policy names {policies} policies; both sides run under one of them"
            )));
        }
        _ => {}
    }
    match args.changes.repeat.unwrap_or(REPLICATES) {
        few @ 0..=1 => {
            Err(Failure::Input(format!("--repeat {few}: an interval needs at least 2 replicates")))
        }
        many => Ok(many),
    }
}

/// Runs both sides with each mechanism.
pub(super) fn explain(
    pair: &Pair<'_>,
    replicates: u32,
    jobs: Option<NonZeroUsize>,
) -> Result<Answer, Failure> {
    let bar = Bar::new(0, "runs");
    let stop = AtomicBool::new(false);
    let progress = || bar.inc();
    let means = Means { jobs: jobs.map_or(0, NonZeroUsize::get), progress: &progress, stop: &stop };
    let answer = why::explain(pair, replicates, means);
    say::clear_bar();
    answer.map_err(failed)
}

/// A failure of trials.
pub(super) fn failed(failed: Failed) -> Failure {
    match failed {
        // Diagnostics of a scenario have lines of their own; sentences do not.
        Failed::Refused(text) if text.contains("-->") => Failure::Rendered(text),
        Failed::Refused(text) => Failure::Input(text),
        Failed::Stopped => Failure::Output("interrupted".into()),
    }
}

/// Draws the tornado; where there is none, says why.
fn draw(args: &Why, answer: &Answer, files: &Files) -> Result<(), Failure> {
    let part = |row: &why::Row| {
        let part = row.part?;
        let (name, about) = (row.name.clone(), row.about.clone());
        Some(Part { name, about, part: part.mean, ci95: part.ci95, shown: part.is_shown() })
    };
    let sentences = why::sentences(answer);
    let [a, b] = &answer.sides;
    let title = why::title(answer);
    let second = args.second.as_ref().map_or_else(String::new, |path| format!(" {}", path.display()));
    let vary = args.vary.as_ref().map_or_else(String::new, |vary| format!(" --vary {vary}"));
    let policy = match &args.changes.edits.policies[..] {
        [] => String::new(),
        some => format!(" --policy {}", some.join(",")),
    };
    let tornado = Tornado {
        title,
        about: format!(
            "{a} against {b}: {}",
            sentences.first().map_or("", String::as_str).trim_end_matches('.')
        ),
        source: format!("oversim why {}{second}{vary}{policy}", args.file.display()),
        bars: answer.mechanisms.iter().filter_map(part).collect(),
    };
    match tornado::figure(&tornado) {
        Ok(figure) => {
            files.write(&figure)?;
            files.names().into_iter().for_each(|name| say::remark(format_args!("{name} written")));
        }
        Err(why) => say::warning(format_args!("no picture is written: {why}")),
    }
    Ok(())
}
