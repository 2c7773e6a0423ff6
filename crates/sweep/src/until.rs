//! How many replicates a configuration needs until the intervals of its run times are narrow.

use std::collections::BTreeMap;

use experiment::measured::Values;
use experiment::statistics::summarise;

use crate::plan::{FEWEST, Place, Plan, Until};
use crate::row::Row;

/// What decides about a run: the times of its foreground applications; none if it did not complete.
pub(crate) type Times = Vec<f64>;

/// The times of runs by number.
pub(crate) type Known = BTreeMap<u64, Times>;

/// How far a configuration is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Need {
    /// It has all replicates that it needs: this many.
    Enough(u32),
    /// It needs at least this many, and runs of them are missing.
    More(u32),
}

/// The times of a row that decide.
pub(crate) fn times(plan: &Plan, values: &Values) -> Times {
    let time = if plan.provenance.window { "time_per_work" } else { "run_time" };
    let foreground = plan.provenance.apps.iter().filter(|app| !plan.provenance.background.contains(app));
    foreground.filter_map(|app| values.get(app)?.get(time).copied()).collect()
}

/// Adds the times of a row, if the plan asks for them.
pub(crate) fn add(plan: &Plan, known: &mut Known, row: &Row) {
    if plan.until.is_some() {
        known.insert(row.run, times(plan, &row.values));
    }
}

/// How many replicates a configuration needs, by the times of its runs. The rule looks at the replicates in
/// their order, so that it does not matter which of them have run.
pub(crate) fn need(plan: &Plan, until: Until, configuration: u64, known: &Known) -> Need {
    let slots = plan.slots();
    let run = |replicate: u32, slot: usize| plan.number(Place { configuration, replicate, slot });
    let first = plan.provenance.repeat.max(FEWEST).min(until.most);
    let mut there = 0;
    for replicates in first..=until.most {
        while there < replicates {
            if (0..slots).any(|slot| !known.contains_key(&run(there, slot))) {
                return Need::More(replicates);
            }
            there += 1;
        }
        let narrow = (plan.dedicated.len()..slots).all(|slot| {
            let runs: Vec<&Times> =
                (0..replicates).filter_map(|replicate| known.get(&run(replicate, slot))).collect();
            narrow(&runs, until.half_width)
        });
        if narrow {
            return Need::Enough(replicates);
        }
    }
    Need::Enough(until.most)
}

/// Whether the interval of each application's mean is narrow. Runs that did not complete have no times, and
/// more replicates cannot help where fewer than two of them did.
fn narrow(runs: &[&Times], half_width: f64) -> bool {
    let apps = runs.iter().map(|times| times.len()).max().unwrap_or(0);
    (0..apps).all(|app| {
        let values: Vec<f64> = runs.iter().filter_map(|times| times.get(app).copied()).collect();
        let Some(summary) = summarise(&values) else { return true };
        summary.half_width().is_none_or(|half| half <= half_width * summary.mean)
    })
}
