//! `oversim advise SCENARIO`: searches what a user can set.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use decide::advise::levers::Allowed;
use decide::advise::{Advised, Effort, RUNS, advise};
use decide::join::join;
use decide::trial::{Failed, Means, Subject};
use experiment::PolicyRegistry;
use scenario::{Overrides, memory};

use crate::args::{AdviseGeneral, AnswerFormat};
use crate::bar::Bar;
use crate::failure::Failure;
use crate::output::{to_stdout, width};
use crate::{input, say};

/// Signals end the process; nothing sets this.
static NEVER: AtomicBool = AtomicBool::new(false);

/// A failure of trials as the program reports it.
pub(crate) fn failure(failed: Failed) -> Failure {
    match failed {
        Failed::Refused(text) if text.contains('\n') => Failure::Rendered(text),
        Failed::Refused(text) => Failure::Input(text),
        Failed::Stopped => Failure::Input("interrupted".to_owned()),
    }
}

pub(crate) fn general(args: &AdviseGeneral, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let base = overrides(args);
    let files = args.files.iter().map(|file| input::scenario(file)).collect::<Result<Vec<_>, _>>()?;
    let (name, text) = join(policies, &files, &base).map_err(Failed::Refused).map_err(failure)?;
    let subject = Subject { policies, name: &name, text: &text, base };
    let began = Instant::now();
    let runs = args.runs.map_or(RUNS, |runs| runs as usize).max(1);
    let bar = Bar::new(length(0, runs), "runs");
    let done = AtomicUsize::new(0);
    let progress = || {
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        bar.set(done, length(done, runs));
    };
    let means = Means { jobs: args.jobs.map_or(0, NonZeroUsize::get), progress: &progress, stop: &NEVER };
    let effort = Effort::asked(args.runs, args.repeat, args.draws);
    let allowed = Allowed {
        kinds: args.allow.clone(),
        apps: args.programs.clone(),
        vary: args.vary.clone(),
        as_stated: args.as_stated,
    };
    let advised = advise(&subject, &allowed, effort, means).map_err(failure)?;
    drop(bar);
    say::took(began, advised.found.runs + advised.sure.runs, "runs");
    print(args, &advised, &files)?;
    Ok(ExitCode::SUCCESS)
}

/// How many runs there may be when so many are done: the search and the race between the best settings have
/// `runs` each, about; then the bar grows by as many as often as they are used up, as nobody knows how many
/// are needed to see how sure the advice is.
const fn length(done: usize, runs: usize) -> usize {
    let parts = done / runs + 1;
    runs.saturating_mul(if parts < 2 { 2 } else { parts })
}

fn overrides(args: &AdviseGeneral) -> Overrides {
    let machine = args.machine.iter().map(|machine| format!("machine={machine}"));
    Overrides {
        set: machine.chain(args.set.iter().cloned()).collect(),
        policies: args.policy.iter().cloned().collect(),
        seed: args.seed,
        objective: args.objective.clone(),
        limit: memory::limit(args.memory),
        ..Overrides::default()
    }
}

/// The answer on standard output.
fn print(args: &AdviseGeneral, advised: &Advised, files: &[(String, String)]) -> Result<(), Failure> {
    // Of several files no command of one scenario can be named.
    let only = args.files.first().filter(|_| args.files.len() == 1);
    let file = only.and_then(|file| file.to_str()).filter(|file| *file != "-" && args.policy.is_none());
    let set: String = overrides(args).set.iter().map(|pair| format!(" --set '{pair}'")).collect();
    let subject = file.map(|file| format!("{file}{set}"));
    let answer = advised.answer(subject.as_deref(), advised.typed(&args.syntax));
    let answer = answer.of_files(&advised.found, files, &args.set);
    to_stdout(|out| match args.format {
        AnswerFormat::Text => answer.write_text(out, width()),
        AnswerFormat::Json => answer.write_json(out),
        AnswerFormat::Markdown => answer.write_markdown(out),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_never_shorter_than_what_is_done() {
        assert_eq!(
            [0, 999, 1_999, 2_000, 13_500].map(|done| length(done, 1_000)),
            [2_000, 2_000, 2_000, 3_000, 14_000]
        );
    }
}
