//! `oversim compare`: two results, or two policies of one scenario, pair by pair; the exit code reports
//! slowdowns.

use std::path::Path;
use std::process::ExitCode;

use experiment::PolicyRegistry;
use experiment::compare::contrast::{self, Contrasts, Named, Wanted};
use experiment::export::View;

use super::source::{self, Opened};
use crate::args::Compare;
use crate::failure::{BAD_END, Failure};
use crate::output;

/// Compares and reports; exit code 1 when a significant slowdown is larger than the threshold.
pub(crate) fn compare(args: &Compare, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    // Before anything is simulated.
    contrast::check_metrics(&args.metrics).map_err(Failure::Input)?;
    let open = |path: &Path| source::open(path, &args.changes, false, policies);
    let a = open(&args.first)?;
    let b = args.second.as_deref().map(open).transpose()?;
    let simulated = a.simulated || b.as_ref().is_some_and(|b| b.simulated);
    let mut flags = source::given(&args.changes, false);
    // Of results, policies can be chosen.
    flags.retain(|flag| *flag != "--policy");
    if !simulated && !flags.is_empty() {
        return Err(source::refused(&flags, &a.name));
    }
    let policies = args.changes.edits.policies.clone();
    let wanted = Wanted { policies, metrics: args.metrics.clone(), threshold: args.threshold };
    // A scenario that ran only the wanted policies has them in this order, whatever their spelling.
    let wanted = if a.simulated { Wanted { policies: Vec::new(), ..wanted } } else { wanted };
    let compared = match &b {
        None => contrast::policies(named(&a), &wanted),
        Some(b) => contrast::results(named(&a), named(b), &wanted),
    };
    let compared = compared.map_err(Failure::Input)?;
    deliver(args, &compared)?;
    Ok(if compared.too_slow > 0 { ExitCode::from(BAD_END) } else { ExitCode::SUCCESS })
}

fn named(opened: &Opened) -> Named<'_> {
    Named { file: &opened.name, results: &opened.results }
}

fn deliver(args: &Compare, compared: &Contrasts) -> Result<(), Failure> {
    if args.format.form().name != "text" {
        return output::to_stdout(|out| args.format.write(compared, out, &View::FILE));
    }
    let mut text = Vec::new();
    args.format
        .write(compared, &mut text, &View::FILE)
        .map_err(|error| Failure::Output(error.to_string()))?;
    let text = String::from_utf8_lossy(&text);
    output::to_stdout(|out| output::write_folded(&text, out))
}
