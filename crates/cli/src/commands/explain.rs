//! `oversim explain`: the pages of a name, from the registries and the glossary.

use std::process::ExitCode;

use experiment::PolicyRegistry;

use crate::args::{Explain, ExplainFormat};
use crate::failure::Failure;
use crate::output::{to_stdout, width};

/// Prints the pages of a name, or the list of all pages.
pub(crate) fn explain(args: &Explain, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let Some(name) = &args.name else {
        return overview(args.format, policies);
    };
    let pages = explain::find_with(policies, name).map_err(Failure::Input)?;
    to_stdout(|out| match args.format {
        ExplainFormat::Text => explain::write_text(&pages, out, width()),
        ExplainFormat::Markdown => explain::write_markdown(&pages, 1, out),
        ExplainFormat::Json => explain::write_json(&pages, out),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn overview(format: ExplainFormat, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    to_stdout(|out| match format {
        ExplainFormat::Text => explain::write_overview(policies, out, width()),
        ExplainFormat::Markdown => explain::reference::write_index(out),
        ExplainFormat::Json => {
            let all = explain::Kind::ALL.into_iter().flat_map(|kind| explain::pages_with(policies, kind));
            explain::write_json(&all.collect::<Vec<_>>(), out)
        }
    })?;
    Ok(ExitCode::SUCCESS)
}
