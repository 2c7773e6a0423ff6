//! What a run measured, and its row in the plan. The last dedicated runs are kept, because several
//! configurations may have the same one.

use std::collections::{BTreeMap, VecDeque};

use experiment::measured::{self, Values};
use experiment::result::DEDICATED;
use experiment::run::simulate_one;
use experiment::statistics::rounded;
use notation::hash;
use scenario::alike;
use scenario::configuration::Configuration;
use scenario::plan::RunPlan;

use crate::plan::{Place, Plan};
use crate::row::{INVALID, Row};

/// Dedicated runs that are kept.
const KEPT: usize = 1024;

/// What a run measured.
#[derive(Clone)]
pub(crate) struct Simulated {
    outcome: String,
    text: String,
    digest: String,
    error: f64,
    copies: BTreeMap<String, usize>,
    values: Values,
}

impl Simulated {
    /// Simulates a run. `apps`: the names of the scenario's applications.
    pub(crate) fn of(apps: &[String], run: &RunPlan) -> Self {
        let report = match simulate_one(run, &mut ()) {
            Ok(report) => report,
            Err(why) => return Self::invalid(&why),
        };
        let (outcome, text) = measured::outcome(run, &report);
        Self {
            outcome: outcome.to_owned(),
            text,
            digest: format!("{:016x}", report.digest),
            error: rounded(report.relative_error()),
            copies: measured::several(apps, run),
            values: measured::values(apps, run, &report),
        }
    }

    /// A run of a configuration that is not valid.
    pub(crate) fn invalid(why: &str) -> Self {
        Self {
            outcome: INVALID.into(),
            text: why.to_owned(),
            digest: String::new(),
            error: 0.0,
            copies: BTreeMap::new(),
            values: Values::new(),
        }
    }

    /// Its row.
    pub(crate) fn row(self, plan: &Plan, configuration: &Configuration, place: Place) -> Row {
        let policy = place.slot.checked_sub(plan.dedicated.len());
        Row {
            kind: "run".into(),
            run: plan.number(place),
            configuration: place.configuration,
            settings: configuration.settings.clone(),
            places: configuration.places.clone(),
            policy: policy.map_or(DEDICATED, |at| &plan.provenance.policies[at]).to_owned(),
            app: if policy.is_none() { Some(plan.dedicated[place.slot].clone()) } else { None },
            replicate: place.replicate,
            seed: plan.provenance.seed.wrapping_add(u64::from(place.replicate)),
            outcome: self.outcome,
            text: self.text,
            digest: self.digest,
            error: self.error,
            copies: self.copies,
            values: self.values,
        }
    }
}

/// The last dedicated runs.
#[derive(Default)]
pub(crate) struct Kept {
    by_hash: BTreeMap<u64, Vec<(RunPlan, Simulated)>>,
    order: VecDeque<u64>,
}

impl Kept {
    /// What an equal run measured.
    pub(crate) fn find(&self, run: &RunPlan) -> Option<Simulated> {
        let same = self.by_hash.get(&key(run))?.iter().find(|(known, _)| {
            alike(known, run) && (known.window, known.latencies) == (run.window, run.latencies)
        });
        same.map(|(_, simulated)| simulated.clone())
    }

    /// Keeps a run, in place of the oldest one.
    pub(crate) fn add(&mut self, run: &RunPlan, simulated: &Simulated) {
        if self.order.len() >= KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_hash.remove(&oldest);
        }
        let key = key(run);
        self.by_hash.entry(key).or_default().push((run.clone(), simulated.clone()));
        self.order.push_back(key);
    }
}

fn key(run: &RunPlan) -> u64 {
    hash::debug(&(&run.apps, &run.options))
}
