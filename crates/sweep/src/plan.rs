//! The plan of a sweep: which runs there are, by number, and what identifies them.

use experiment::provenance::Provenance;
use experiment::setups::{Setup, Setups};
use hmac_sha256::Hash;
use scenario::Grid;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Name and version of the form of plans, parts and merged files.
pub const SCHEMA: &str = "oversim.sweep/1";
/// Shards divide configurations if there are at least this many for each shard; else they divide the
/// replicates of configurations. Fewer would leave shards without work for too long.
const CONFIGURATIONS_PER_SHARD: u64 = 4;
/// Replicates that an interval needs at least: with two, Student's t is 12.7.
pub const FEWEST: u32 = 3;

/// The plan of a sweep. Equal plans have the same runs with the same results.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// [`SCHEMA`].
    pub schema: String,
    /// SHA-256 of all else in the plan, hex: what parts refer to.
    pub plan: String,
    /// Scenario, model and program; the values of all axes. `runs` counts nothing here.
    pub provenance: Provenance,
    /// The scenario as read, and after it the machine files that it names.
    pub scenario: String,
    /// Configurations that the conditions of the sweep admit.
    pub configurations: u64,
    /// Applications with a dedicated run in each configuration and replicate.
    pub dedicated: Vec<String>,
    /// When a configuration has enough replicates; absent if all have `provenance.repeat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
}

/// More replicates until intervals are narrow.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Until {
    /// Largest half-width of the 95 % intervals of the mean run times, as a share of the mean.
    pub half_width: f64,
    /// Most replicates of a configuration.
    pub most: u32,
}

/// Where a run belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Its configuration, counted among those that the conditions admit.
    pub configuration: u64,
    /// Its replicate.
    pub replicate: u32,
    /// Its position in the replicate: the dedicated runs come first, then one run of each policy.
    pub slot: usize,
}

/// Configurations up to which a plan says how the applications are set up, for the doubts about its results.
const MOST_SET_UP: u64 = 1_000;

/// How the applications are set up at each configuration of a grid that is not too large; combinations that
/// are not valid have none.
fn setups(grid: &Grid) -> Vec<Setup> {
    let mut setups = Setups::default();
    let numbers = (0..grid.combinations()).filter(|number| grid.has(*number));
    for (configuration, number) in numbers.enumerate() {
        if configuration as u64 >= MOST_SET_UP {
            return Vec::new();
        }
        if let Ok(configured) = grid.resolve(number) {
            setups.add_runs(&grid.trial.apps, configuration, &configured.runs(0));
        }
    }
    setups.all
}

impl Plan {
    /// The plan of a scenario. This counts all configurations.
    ///
    /// # Errors
    /// A sentence: the seeds or numbers of the runs do not suffice.
    pub fn new(grid: &Grid, until: Option<Until>) -> Result<Self, String> {
        let until = until.map(|until| Until { most: until.most.max(grid.repeat()), ..until });
        let provenance = Provenance {
            configurations: Vec::new(),
            setups: setups(grid),
            repeat: if until.is_some() { grid.repeat().max(FEWEST) } else { grid.repeat() },
            ..Provenance::of(&grid.trial, &[])
        };
        let configurations = (0..grid.combinations()).filter(|number| grid.has(*number)).count() as u64;
        let dedicated = grid.dedicated().into_iter().map(|app| grid.trial.apps[app].clone()).collect();
        let mut plan = Self {
            schema: SCHEMA.into(),
            plan: String::new(),
            provenance,
            scenario: grid.trial.scenario_text.clone(),
            configurations,
            dedicated,
            until,
        };
        let text = serde_json::to_string(&plan).map_err(|error| error.to_string())?;
        plan.plan = hex(&Hash::hash(text.as_bytes()));
        Ok(plan)
    }

    /// Checks a plan that was read from this text: it is what was written, and each run has a number.
    ///
    /// # Errors
    /// A half-sentence.
    pub(crate) fn check(&self, text: &str) -> Result<(), &'static str> {
        // The text as it was when its checksum was computed; fields of other versions count.
        let mut value: Value = serde_json::from_str(text).map_err(|_| "it is no JSON")?;
        value["plan"] = Value::from("");
        if hex(&Hash::hash(value.to_string().as_bytes())) != self.plan {
            return Err("its checksum differs, so it was changed");
        }
        let replicates = self.configurations.checked_mul(u64::from(self.most_replicates()));
        let runs = replicates.and_then(|replicates| replicates.checked_mul(self.slots() as u64));
        runs.map(drop).ok_or("it has more runs than there are numbers")
    }

    /// Most replicates of a configuration.
    #[must_use]
    pub fn most_replicates(&self) -> u32 {
        self.until.map_or(self.provenance.repeat, |until| until.most)
    }

    /// Runs of a replicate.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.dedicated.len() + self.provenance.policies.len()
    }

    /// Runs at most: exactly so many without [`Plan::until`].
    #[must_use]
    pub fn most_runs(&self) -> u64 {
        self.configurations * u64::from(self.most_replicates()) * self.slots() as u64
    }

    /// The number of a run.
    #[must_use]
    pub fn number(&self, place: Place) -> u64 {
        let replicate = place.configuration * u64::from(self.most_replicates()) + u64::from(place.replicate);
        replicate * self.slots() as u64 + place.slot as u64
    }

    /// Where the run of this number belongs.
    #[must_use]
    pub fn place(&self, run: u64) -> Place {
        let slots = (self.slots() as u64).max(1);
        let (replicate, replicates) = (run / slots, u64::from(self.most_replicates()).max(1));
        Place {
            configuration: replicate / replicates,
            replicate: (replicate % replicates) as u32,
            slot: (run % slots) as usize,
        }
    }

    /// In which fields the plan differs from another one, a list.
    #[must_use]
    pub fn differences(&self, other: &Self) -> String {
        let (a, b) = (&self.provenance, &other.provenance);
        let fields = [
            (self.schema != other.schema, "the form"),
            (a.version != b.version, "the version of the program"),
            (a.model != b.model, "the version of the model"),
            (a.scenario_sha256 != b.scenario_sha256, "the scenario, its machine files or its policy files"),
            (a.policies != b.policies, "the policies"),
            (a.overrides != b.overrides, "the settings of the command line"),
            (a.objective != b.objective, "the objective"),
            (a.seed != b.seed, "the seed"),
            (a.repeat != b.repeat, "the number of replicates"),
            (self.until != other.until, "the rule for more replicates"),
        ];
        let names: Vec<&str> = fields.iter().filter(|(differs, _)| *differs).map(|(_, name)| *name).collect();
        if names.is_empty() { "the values of its axes".into() } else { names.join(", ") }
    }
}

/// A part of the runs: those that one worker executes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// Which one, from 0.
    pub index: u32,
    /// How many there are, at least 1.
    pub of: u32,
}

impl Shard {
    /// All runs.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Whether a replicate of a configuration belongs to the shard.
    #[must_use]
    pub fn has(self, plan: &Plan, configuration: u64, replicate: u32) -> bool {
        Self::holder(plan, self.of, configuration, replicate) == self.index
    }

    /// Which of `of` shards, at least 1, has a replicate of a configuration.
    #[must_use]
    pub fn holder(plan: &Plan, of: u32, configuration: u64, replicate: u32) -> u32 {
        let of = u64::from(of);
        let by_configuration =
            plan.until.is_some() || plan.configurations >= of.saturating_mul(CONFIGURATIONS_PER_SHARD);
        let position = if by_configuration {
            configuration
        } else {
            configuration * u64::from(plan.most_replicates()) + u64::from(replicate)
        };
        (position % of) as u32
    }

    /// Its name in messages and files: `3-of-17`.
    #[must_use]
    pub fn name(self) -> String {
        format!("{}-of-{}", self.index, self.of)
    }

    /// The number of shards in such a name.
    pub(crate) fn count_in(name: &str) -> Option<u32> {
        name.split_once("-of-")?.1.parse().ok().filter(|of| *of > 0)
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
