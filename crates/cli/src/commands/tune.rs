//! `oversim tune`: the parameters of a policy, searched over a suite.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;

use decide::suite;
use decide::suite::bench::read_files;
use decide::tune::{self, Request, Subject};
use experiment::PolicyRegistry;
use experiment::export::View;

use super::matrix::{failure, measured};
use crate::args::Tune;
use crate::failure::Failure;
use crate::output::{Target, to_stdout};
use crate::say;

/// Searches and prints.
pub(crate) fn tune(args: &Tune, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let target = |path: &Path| Target::check(path, args.force);
    let file = args.output.as_deref().map(target).transpose()?;
    let (policy, names) = tune::parts(&args.policy);
    let (policies, _) = read_files(policies, std::slice::from_ref(&policy)).map_err(Failure::Input)?;
    let subject = Subject::of(&policies, &policy, &names).map_err(Failure::Input)?;
    let cells = suite::load(&args.scenarios).map_err(failure)?;
    let request = Request {
        suite: args.scenarios.clone(),
        objective: args.objective.clone(),
        budget: args.budget,
        replicates: args.repeat,
        seed: args.seed,
        longest_wait: args.longest_wait(),
    };
    let jobs = args.jobs.map_or(0, NonZeroUsize::get);
    let found = measured(jobs, |means| tune::tune(&cells, &policies, (&subject, &request), means))?;
    if let Some(file) = &file {
        file.write(&|out| out.write_all(tune::snippet(&found).as_bytes()))?;
        say::remark(format_args!("{} written", file.named().display()));
    }
    to_stdout(|out| args.format.write(&found, out, &View::FILE))?;
    Ok(ExitCode::SUCCESS)
}
