//! Claims: the file, the scenarios beside it, and what the simulation says of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use experiment::export::{View, find};
use scenario::{Overrides, load};
use validation::claims::{self, Claim};
use validation::lab::{self, Campaign, Store};
use validation::report::FORMS;
use validation::reproduce::reproduce;

use crate::manifest::is_plain;
use crate::{Trouble, Work};

/// The file of claims in its part.
pub(crate) const CLAIMS: &str = "claims.yaml";
/// What was said of the claims, as `oversim reproduce --format json` prints it.
pub(crate) const REPORT: &str = "report.json";
/// Most bytes of a file of claims, as its reader has it.
const MOST: u64 = 16 << 20;

/// A file of claims with the scenarios that it names.
pub(crate) struct Claimed {
    /// Its text.
    pub(crate) text: String,
    /// The scenarios, by the path that the claims give.
    pub(crate) scenarios: BTreeMap<String, String>,
    claims: Vec<Claim>,
}

/// Whether a text is a file of claims.
pub(crate) fn is_claims(text: &str) -> bool {
    text.lines().any(|line| line.trim_end() == "claims:")
}

/// Reads a file of claims and the scenarios beside it.
///
/// # Errors
/// They are wrong, or name files that do not lie beside them.
pub(crate) fn read(path: &Path) -> Result<Claimed, Trouble> {
    let name = path.display().to_string();
    let beside = path.parent().unwrap_or(Path::new("."));
    let (_, text) = scenario::subject::file(path, MOST, "file of claims")
        .map_err(|why| Trouble::Refused(why.to_string()))?;
    let scenarios = RefCell::new(BTreeMap::new());
    let read = |scenario: &str| -> Result<String, String> {
        if !is_plain(scenario) {
            let why = "in an artifact it must lie beside the claims or below";
            return Err(format!("cannot read the scenario {scenario}: {why}"));
        }
        let path = beside.join(scenario);
        let text = fs::read_to_string(&path)
            .map_err(|error| format!("cannot read the scenario {}: {error}", path.display()))?;
        scenarios.borrow_mut().insert(scenario.to_owned(), text.clone());
        Ok(text)
    };
    let claims = claims::read_with(&name, &text, &read).map_err(Trouble::Refused)?;
    let scenarios = scenarios.into_inner();
    for (scenario, text) in &scenarios {
        // Nothing but the text is packed.
        let alone = Overrides { files: Some(BTreeMap::new()), ..Overrides::default() };
        load(scenario, text, &alone).map_err(Trouble::Refused)?;
    }
    Ok(Claimed { text, scenarios, claims })
}

/// What the simulation says, and how many runs that took.
///
/// # Errors
/// Runs cannot be simulated here.
pub(crate) fn report(claimed: &Claimed, work: &Work<'_>) -> Result<(Vec<u8>, u64), Trouble> {
    let nothing_kept = Store::none();
    let campaign = Campaign {
        jobs: work.jobs,
        quick: false,
        adjusted: &lab::as_stated,
        progress: work.progress,
        store: &nothing_kept,
    };
    let done = reproduce(claimed.claims.clone(), &campaign, false).map_err(Trouble::Failed)?;
    let runs = done.cells.values().map(|runs| runs.len() as u64).sum();
    let mut bytes = Vec::new();
    let json = find(FORMS, "json").ok_or_else(|| Trouble::Failed("claims have no form json".into()))?;
    json.write(&done, &mut bytes, &View::FILE)
        .map_err(|error| Trouble::Failed(format!("cannot write {REPORT}: {error}")))?;
    Ok((bytes, runs))
}
