//! Simulates built-in scenarios and compares their results with recorded digests: whether a build computes
//! what all other builds compute.

use hmac_sha256::Hash;
use scenario::built_in::{BUILT_IN, BuiltIn};
use scenario::{Overrides, load};

use crate::result::Results;
use crate::run;

/// The recorded digests: per line the name of a scenario and the SHA-256 of its results.
const RECORDED: &str = include_str!("selftest.txt");

/// Built-in scenarios that a self-test leaves out: each takes longer than half of the others together.
const LONG: [&str; 5] =
    ["barrier_latency", "cg_ft_share", "job_queue", "one_queue_or_many", "thousand_cores"];

/// A scenario, the digest that was recorded, and what this build computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// Name of the scenario.
    pub scenario: &'static str,
    /// The recorded digest; empty if none was recorded.
    pub recorded: &'static str,
    /// SHA-256, hex, of the results of this build.
    ///
    /// # Errors
    /// Why there are no results.
    pub found: Result<String, String>,
}

impl Checked {
    /// Whether this build computes what was recorded.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.found.as_deref() == Ok(self.recorded)
    }
}

/// The scenarios of the self-test, in the order in which they are simulated.
pub fn scenarios() -> impl Iterator<Item = &'static BuiltIn> {
    BUILT_IN.iter().filter(|scenario| !LONG.contains(&scenario.name))
}

/// The name of each scenario with the digest that was recorded for it.
pub fn recorded() -> impl Iterator<Item = (&'static str, &'static str)> {
    RECORDED.lines().filter_map(|line| line.split_once(' '))
}

/// Simulates one scenario on `jobs` threads (0 = as many as this process may use) and compares its results
/// with the recorded ones.
#[must_use]
pub fn check(scenario: &'static BuiltIn, jobs: usize) -> Checked {
    let recorded = recorded().find(|(name, _)| *name == scenario.name).map_or("", |(_, digest)| digest);
    Checked { scenario: scenario.name, recorded, found: simulated(scenario, jobs) }
}

/// The digest of the results of one replicate.
fn simulated(scenario: &BuiltIn, jobs: usize) -> Result<String, String> {
    let once = Overrides { repeat: Some(1), ..Overrides::default() };
    let experiment = load(&scenario.title(), scenario.text, &once)?;
    digest(&run::run(&experiment, jobs, &|_, _| ()).map_err(|error| error.to_string())?)
}

/// SHA-256 of the JSON form of results. Their header is left out: it changes with the version of the program
/// and with comments in the scenario.
fn digest(results: &Results) -> Result<String, String> {
    let mut json = serde_json::to_value(results).map_err(|error| error.to_string())?;
    if let Some(fields) = json.as_object_mut() {
        fields.remove("provenance");
    }
    Ok(Hash::hash(json.to_string().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect())
}
