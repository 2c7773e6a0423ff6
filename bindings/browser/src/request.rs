//! What a page asks for: changes of a scenario, in the words of `oversim run`.

use experiment::neutral;
use scenario::Overrides;
use scenario::memory::Limit;
use serde::Deserialize;

/// Memory that a page may use, bytes: less than the 4 GiB that 32-bit WebAssembly can address.
const MEMORY: u64 = 2 << 30;

/// Which runs a timeline shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Show {
    /// The two cases that the answer compares, the worse one above.
    #[default]
    Pair,
    /// The policies at the first configuration.
    Policies,
    /// The values of the first swept path under the first policy.
    Values,
}

/// Changes of a scenario and what to answer; every field may be left out.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// Name of the scenario in messages and recommended commands; `scenario.yaml` unless given.
    pub name: Option<String>,
    /// Only these policies, as `--policy`.
    pub policies: Option<Vec<String>>,
    /// `path=value`, as `--set`.
    pub set: Vec<String>,
    /// `path=a,b,c`, as `--sweep`.
    pub sweep: Vec<String>,
    /// Replicates, as `--repeat`.
    pub repeat: Option<u32>,
    /// Seed of the first replicate, as `--seed`.
    pub seed: Option<u64>,
    /// Whether to record a timeline of up to four runs.
    pub timeline: bool,
    /// Which runs the timeline shows.
    pub show: Show,
    /// For steps: the run, by the numbers of its configuration and of its policy.
    pub run: Option<[usize; 2]>,
    /// For steps: the window, nanoseconds of simulated time.
    pub window: Option<[u64; 2]>,
    /// Columns of the text, 40 to 400; 100 unless given.
    pub width: Option<usize>,
}

impl Request {
    /// Reads a request; an empty text asks for the scenario as it is.
    ///
    /// # Errors
    /// What is wrong with the JSON.
    pub fn read(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_str(text)
            .map_err(|error| neutral::lines(&format!("the request: {error}")).into_owned())
    }

    /// The name of the scenario.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("scenario.yaml")
    }

    /// The changes as the reader of scenarios wants them.
    #[must_use]
    pub fn overrides(&self) -> Overrides {
        Overrides {
            set: self.set.clone(),
            sweep: self.sweep.clone(),
            policies: self.policies.clone().unwrap_or_default(),
            seed: self.seed,
            repeat: self.repeat,
            warn: true,
            limit: Some(limit()),
            ..Overrides::default()
        }
    }
}

/// The memory that a page may use.
#[must_use]
pub fn limit() -> Limit {
    Limit { bytes: MEMORY, source: "the memory of a page".into(), addresses: false }
}
