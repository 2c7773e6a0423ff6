//! What another seed does to a difference that was measured with one: only this tells how much of it can be
//! chance. Most of what is drawn (the phases of arrivals, ticks and periods) hardly moves a result.

use scenario::plan::Experiment;

use crate::metrics::Metric;
use crate::result::{OtherCase, OtherSeed, Results};
use crate::run::{self, RunError};
use crate::statements::{Extremes, Table, doubts};

/// Whether chance is a question: one seed, and two cases that differ by little.
#[must_use]
pub fn is_asked(results: &Results) -> bool {
    let table = Table::of(results);
    Extremes::of(&table).is_some_and(|extremes| doubts::chance(&table, &extremes).is_some())
}

/// Runs the two closest cases of a result once more. `experiment`: the same scenario with another seed. Adds
/// nothing where chance is no question.
///
/// # Errors
/// As [`run::run`].
pub fn add(results: &mut Results, experiment: Experiment, jobs: usize) -> Result<(), RunError> {
    let table = Table::of(results);
    let Some(extremes) = Extremes::of(&table) else { return Ok(()) };
    let Some(closest) = doubts::chance(&table, &extremes) else { return Ok(()) };
    let goal = &extremes.goal;
    let places = closest.map(|case| (case.configuration, case.policy.to_owned()));
    let dedicated = Metric::named(goal.metric).any(|metric| metric.needs_dedicated);
    let wanted = |run: &scenario::plan::RunPlan| {
        places.iter().any(|(configuration, policy)| match run.alone {
            Some(_) => dedicated && run.serves.contains(configuration),
            None => {
                run.configuration == *configuration && experiment.policies.get(run.policy) == Some(policy)
            }
        })
    };
    let runs = experiment.runs.iter().filter(|run| wanted(run)).cloned().collect();
    let seed = experiment.seed;
    let again = Experiment { runs, best_partition: false, ..experiment };
    let again = run::run(&again, jobs, &|_, _| ())?;
    let again = Table::of(&again);
    let cases = closest.map(|case| OtherCase {
        configuration: case.cell.configuration.clone(),
        policy: case.policy.to_owned(),
        value: again.get(case.configuration, case.policy, &goal.app, goal.metric).map(|s| s.mean),
    });
    let (app, metric) = (goal.app.clone(), goal.metric.to_owned());
    results.other_seed = Some(OtherSeed { seed, app, metric, cases });
    Ok(())
}
