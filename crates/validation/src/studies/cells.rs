//! Claims that name their cells: a metric of one cell, its ratio to another, or its order over several.

use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Asked, CPU_SHARE, Comparison};
use crate::lab::{Cell, Lab, RunSample};

/// What the simulator says.
///
/// # Errors
/// A run did not complete, or it has no value of the metric.
pub(super) fn answer(asked: &Asked, lab: &mut Lab) -> Result<Answer, Trouble> {
    match &asked.cells {
        Comparison::Value(cell) => Ok(Answer::one(label(asked, cell), &series(asked, cell, lab)?)),
        Comparison::Ratio(cell, over) => {
            let (value, base) = (series(asked, cell, lab)?, series(asked, over, lab)?.mean());
            let label = format!("{} over {}", label(asked, cell), settings(over));
            Ok(Answer::one(label, &value.map(|x| x / base)))
        }
        Comparison::Rising(cells) => {
            let all: Vec<Series> =
                cells.iter().map(|cell| series(asked, cell, lab)).collect::<Result<_, _>>()?;
            let point = |i: usize| {
                let base = all[i].mean();
                Point::new(label(asked, &cells[i + 1]), &all[i + 1].map(|x| x / base - 1.0))
            };
            Ok(Answer((0..cells.len() - 1).map(point).collect()))
        }
    }
}

/// The metric in a cell by replicate.
fn series(asked: &Asked, cell: &Cell, lab: &mut Lab) -> Result<Series, Trouble> {
    let runs = lab.runs(cell)?;
    if lab.is_planning() {
        return Ok(Series::from(1.0));
    }
    let values: Option<Vec<f64>> = runs.iter().map(|run| value(asked, run)).collect();
    let missing = || Trouble::Failed(format!("{cell}: {} has no {}", asked.app, asked.metric));
    values.map(Series).ok_or_else(missing)
}

/// The metric in a run; of an application with copies the mean over them.
fn value(asked: &Asked, run: &RunSample) -> Option<f64> {
    let copy = |name: &str| {
        let rest = name.strip_prefix(asked.app.as_str())?;
        (rest.is_empty() || rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok())).then_some(())
    };
    let apps: Vec<_> = run.apps.iter().filter(|app| copy(&app.name).is_some()).collect();
    if asked.metric == CPU_SHARE {
        let all: f64 = run.apps.iter().flat_map(|app| &app.task_cpu).sum();
        let own: f64 = apps.iter().flat_map(|app| &app.task_cpu).sum();
        return (!apps.is_empty() && all > 0.0).then(|| own / all);
    }
    let values: Option<Vec<f64>> = apps.iter().map(|app| app.metrics.get(&asked.metric).copied()).collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

fn label(asked: &Asked, cell: &Cell) -> String {
    format!("{} of {}: {}", asked.metric, asked.app, settings(cell))
}

fn settings(cell: &Cell) -> String {
    let all = cell.settings().iter().map(|(path, value)| format!("{path}={value}"));
    std::iter::once(cell.study().to_owned()).chain(all).collect::<Vec<_>>().join(" ")
}
