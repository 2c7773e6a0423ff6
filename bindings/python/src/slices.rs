//! Who had each cpu from when to when: the slices of the first replicate of every policy and configuration.

use std::sync::atomic::AtomicBool;

use experiment::run::{simulate_one, stoppable};
use pyo3::prelude::*;
use scenario::plan::{Experiment, RunPlan};
use sim_core::account::Category;
use sim_core::ids::Id;
use trace::slices::{Occupant, Owners, Sink, Slice, Slices};

use crate::errors::Failure;
use crate::table::{Columns, Table};

/// Most slices of a table: about 1 GB.
const MOST: usize = 5_000_000;

/// The runs that were recorded, and their slices.
pub(crate) struct Recorded {
    runs: Vec<Run>,
    slices: Vec<(usize, Slice)>,
}

/// Where the slices of a run come from.
struct Run {
    configuration: String,
    policy: String,
    apps: Vec<String>,
    owners: Owners,
}

/// Keeps slices up to a number of them.
struct Keep {
    slices: Vec<Slice>,
    most: usize,
    more: bool,
}

impl Sink for Keep {
    fn slice(&mut self, slice: &Slice) {
        if self.slices.len() < self.most {
            self.slices.push(*slice);
        } else {
            self.more = true;
        }
    }
}

/// Simulates the runs once more and keeps their slices.
pub(crate) fn record(experiment: &Experiment, stop: &AtomicBool) -> Result<Recorded, Failure> {
    let mut recorded = Recorded { runs: Vec::new(), slices: Vec::new() };
    for plan in experiment.runs.iter().filter(|plan| plan.alone.is_none() && plan.replicate == 0) {
        let owners = Owners::new(plan.apps.iter().map(|app| app.tasks));
        let keep = Keep { slices: Vec::new(), most: MOST - recorded.slices.len(), more: false };
        let kept = slices(plan, owners.clone(), keep, stop)?;
        if kept.more {
            return Err(Failure::Refused(format!(
                "the timelines have more than {MOST} slices: set a shorter `horizon`, fewer policies or a \
                    smaller sweep"
            )));
        }
        let run = recorded.runs.len();
        recorded.slices.extend(kept.slices.into_iter().map(|slice| (run, slice)));
        recorded.runs.push(Run {
            configuration: experiment.configurations.get(plan.configuration).map_or("", |c| &c.label).into(),
            policy: experiment.policies.get(plan.policy).cloned().unwrap_or_default(),
            apps: plan.apps.iter().map(|app| app.name.clone()).collect(),
            owners,
        });
    }
    Ok(recorded)
}

fn slices(plan: &RunPlan, owners: Owners, keep: Keep, stop: &AtomicBool) -> Result<Keep, Failure> {
    let mut slices = Slices::new(plan.machine.cpus(), owners, keep);
    let done = stoppable(stop, |end| simulate_one(plan, &mut (&mut slices, end)));
    match done.map_err(Failure::Refused)? {
        Some(_) => Ok(slices.finish()),
        None => Err(Failure::Stopped),
    }
}

impl Recorded {
    /// The slices as a table, run by run and in the order in which they ended.
    pub(crate) fn table(&self) -> PyResult<Table> {
        let rows = || self.slices.iter().filter_map(|(run, slice)| Some((self.runs.get(*run)?, slice)));
        let mut columns = Columns::default();
        columns.texts("configuration", rows().map(|(run, _)| run.configuration.as_str()));
        columns.texts("policy", rows().map(|(run, _)| run.policy.as_str()));
        columns.counts("cpu", rows().map(|(_, slice)| u64::from(slice.cpu.0)));
        columns.counts("from_ns", rows().map(|(_, slice)| slice.from.ns()));
        columns.counts("to_ns", rows().map(|(_, slice)| slice.to.ns()));
        columns.texts("occupant", rows().map(|(_, slice)| word(slice.who)));
        let app = |(run, slice): (&Run, &Slice)| slice.who.app(&run.owners).map(|app| app.index());
        columns.maybe_texts("app", rows().map(|row| Some(row.0.apps.get(app(row)?)?.as_str())));
        let rank = |run: &Run, slice: &Slice| Some(u64::from(run.owners.rank(slice.who.task()?)));
        columns.maybe_counts("rank", rows().map(|(run, slice)| rank(run, slice)));
        for category in Category::ALL {
            let name = format!("{}_ns", category.name());
            columns.counts(&name, rows().map(|(_, slice)| slice.parts.get(category).ns()));
        }
        columns.table()
    }
}

/// Who has a cpu, in a word.
const fn word(who: Occupant) -> &'static str {
    match who {
        Occupant::Idle => "idle",
        Occupant::System => "system",
        Occupant::Works(_) => "works",
        Occupant::Waits(_) => "waits",
        Occupant::WaitInTurns(_) => "waits_in_turns",
        Occupant::WaitMixed => "waits_mixed",
    }
}
