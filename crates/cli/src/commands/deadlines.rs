//! `oversim deadlines`: whether periodic tasks meet their deadlines, by theory and by simulation.

use std::num::NonZeroUsize;
use std::process::ExitCode;

use experiment::PolicyRegistry;
use experiment::deadlines::{Witness, analyse, text, worst};

use super::source;
use crate::args::{Deadlines, ListFormat};
use crate::failure::Failure;
use crate::input;
use crate::output::to_stdout;

/// Analyses, searches if that is wanted, and prints.
pub(crate) fn deadlines(args: &Deadlines, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let (name, text) = input::scenario(&args.file)?;
    let experiment = source::load(policies, &name, &text, &source::edited(&args.edits))?;
    let failed = |error: experiment::run::RunError| Failure::Input(error.to_string());
    let analyses = analyse(&experiment).map_err(failed)?;
    let jobs = args.jobs.map_or(0, NonZeroUsize::get);
    let mut found: Vec<(String, Vec<Witness>)> = Vec::new();
    if let Some(rounds) = args.search {
        for (number, policy) in experiment.policies.iter().enumerate() {
            let plan = experiment.runs.iter().find(|run| run.policy == number && run.configuration == 0);
            if let Some(plan) = plan {
                let worst = worst(&experiment, plan, rounds, jobs).map_err(failed)?;
                found.push((policy.clone(), worst));
            }
        }
    }
    // What repeats the run of a witness, if settings can.
    let command = |policy: &str, witness: &Witness| {
        let mut edits = args.edits.clone();
        edits.policies = vec![policy.to_owned()];
        edits.set.extend(witness.settings());
        source::load(policies, &name, &text, &source::edited(&edits)).ok()?;
        let set: String = edits.set.iter().map(|set| format!(" --set {set}")).collect();
        let seed = edits.seed.map_or_else(String::new, |seed| format!(" --seed {seed}"));
        Some(format!("oversim timeline {} --policy {policy}{set}{seed}", args.file.display()))
    };
    to_stdout(|out| match args.format {
        ListFormat::Json => text::write_json(&analyses, &found, out),
        ListFormat::Text => {
            text::write(&analyses, out)?;
            for (policy, worst) in &found {
                let several = (found.len() > 1).then_some(policy.as_str());
                writeln!(out)?;
                let command = |witness: &Witness| command(policy, witness);
                text::write_witnesses((&command, several), args.search.unwrap_or(0), worst, out)?;
            }
            Ok(())
        }
    })?;
    Ok(ExitCode::SUCCESS)
}
