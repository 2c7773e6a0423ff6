//! The error that uncertain inputs add: the same experiment with other values of what is only estimated, with
//! the same seeds (common random numbers), and the part of the variation that is due to these values.

use std::collections::BTreeMap;

use scenario::Draw;
use scenario::plan::{Experiment, UncertainValue};

use crate::result::{Cell, DrawnInput, InputError, Results, Uncertainty};
use crate::run::{self, RunError};
use crate::statistics::{quantile, rounded};

/// Runs an experiment and its draws on `jobs` threads (0 = as many as this process may use). `draws` are the
/// same experiment read with [`scenario::Overrides::draw`]. `progress` is called after each run.
///
/// # Errors
/// As [`run::run`].
pub fn run(
    experiment: &Experiment,
    draws: &[Experiment],
    jobs: usize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Results, RunError> {
    let mut results = run::run(experiment, jobs, progress)?;
    let mut drawn = Vec::new();
    for draw in draws {
        let draw = Experiment { best_partition: false, ..draw.clone() };
        drawn.push(run::run(&draw, jobs, progress)?);
    }
    add(&mut results, &experiment.uncertain, &drawn);
    Ok(results)
}

/// Adds to each value of a result what the draws say about it; `stated`: what the scenario itself states as
/// uncertain.
fn add(results: &mut Results, stated: &[UncertainValue], drawn: &[Results]) {
    let cells: Vec<BTreeMap<_, &Cell>> =
        drawn.iter().map(|one| one.cells.iter().map(|cell| (key(cell), cell)).collect()).collect();
    let errors: Vec<Option<InputError>> = results
        .cells
        .iter()
        .map(|cell| error(&cells.iter().map(|one| one.get(&key(cell)).copied()).collect::<Vec<_>>()))
        .collect();
    for (cell, error) in results.cells.iter_mut().zip(errors) {
        cell.input_error = error;
    }
    results.uncertainty = Some(Uncertainty {
        draws: drawn.len() as u32,
        runs: drawn.iter().map(|one| one.provenance.runs).sum(),
        inputs: inputs(results, stated, drawn.len() as u32),
    });
}

/// What a cell is about.
fn key(cell: &Cell) -> (&str, &str, &str, &str) {
    (&cell.configuration, &cell.policy, &cell.app, &cell.metric)
}

/// The inputs of all machines with their places in each draw, and before them those of the scenario.
fn inputs(results: &Results, stated: &[UncertainValue], draws: u32) -> Vec<DrawnInput> {
    /// Steps into which a range is divided to state a place in it.
    const STEPS: u64 = 1_000_000;
    let each = || (0..draws).map(|number| Draw { number, of: draws });
    let of_scenario = stated.iter().map(|value| DrawnInput {
        machine: String::new(),
        name: value.path.clone(),
        range: [value.low.clone(), value.high.clone()],
        places: each().map(|draw| rounded(value.place(draw))).collect(),
    });
    let of_machines = results.provenance.machines.iter().flat_map(|machine| {
        machine.inputs.iter().map(|input| DrawnInput {
            machine: machine.name.clone(),
            name: input.name.clone(),
            range: [input.low.clone(), input.high.clone()],
            places: each()
                .map(|draw| draw.value(&input.name, 0, STEPS))
                .map(|place| rounded(place as f64 / STEPS as f64))
                .collect(),
        })
    });
    of_scenario.chain(of_machines).collect()
}

/// What the cells of the draws say about a value; none where it has no values by seed, or fewer than two
/// draws have it.
fn error(cells: &[Option<&Cell>]) -> Option<InputError> {
    let by_seed = |cell: &Cell| !cell.values.is_empty();
    if !cells.iter().flatten().all(|cell| by_seed(cell)) {
        return None;
    }
    let draws: Vec<Option<f64>> = cells.iter().map(|cell| cell.map(|cell| cell.summary.mean)).collect();
    let whole: Option<Vec<Vec<f64>>> =
        cells.iter().map(|cell| cell.and_then(|cell| cell.values.iter().copied().collect())).collect();
    let deviation = match whole {
        Some(rows) if rows.len() > 1 && rows[0].len() > 1 => between_rows(&rows),
        _ => deviation(&draws.iter().flatten().copied().collect::<Vec<_>>())?,
    };
    let half_width = rounded(quantile(draws.iter().flatten().count())? * deviation);
    Some(InputError { half_width, draws })
}

/// The standard deviation of at least two values.
fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt())
}

/// The standard deviation between the rows of a table, without what chance adds: two-way analysis of variance
/// without replication (rows: draws; columns: seeds), as in Montgomery, Design and Analysis of Experiments,
/// section on random effects. Zero where chance explains all. At least two rows and columns, all alike.
fn between_rows(rows: &[Vec<f64>]) -> f64 {
    let (n, m) = (rows.len() as f64, rows[0].len() as f64);
    let of_row: Vec<f64> = rows.iter().map(|row| row.iter().sum::<f64>() / m).collect();
    let of_column: Vec<f64> =
        (0..rows[0].len()).map(|at| rows.iter().map(|row| row[at]).sum::<f64>() / n).collect();
    let mean = of_row.iter().sum::<f64>() / n;
    let square = |x: f64| x * x;
    let rows_apart = m * of_row.iter().map(|x| square(x - mean)).sum::<f64>() / (n - 1.0);
    let rest: f64 = rows
        .iter()
        .zip(&of_row)
        .flat_map(|(row, of)| {
            row.iter().zip(&of_column).map(move |(x, column)| square(x - of - column + mean))
        })
        .sum();
    ((rows_apart - rest / ((n - 1.0) * (m - 1.0))) / m).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::fixture;

    #[test]
    fn the_variation_between_draws_is_without_that_of_seeds() {
        // Rows 1, 2, 3; columns add 0, 10, 20: the rows differ with deviation 1, the seeds explain the rest.
        let rows: Vec<Vec<f64>> =
            [1.0, 2.0, 3.0].iter().map(|row| vec![*row, row + 10.0, row + 20.0]).collect();
        assert!((between_rows(&rows) - 1.0).abs() < 1e-12);
        // Nothing but chance: means of rows are alike.
        assert!(between_rows(&[vec![1.0, 3.0], vec![3.0, 1.0]]) < 1e-12);
        // Montgomery's estimate: (MS rows - MS rest) / columns. Rows (0, 2), (4, 2): means 1 and 3,
        // columns 2 and 2; MS rows = 2 (1 + 1) / 1 = 4, MS rest = (1 + 1 + 1 + 1) / 1 = 4.
        assert!(between_rows(&[vec![0.0, 2.0], vec![4.0, 2.0]]) < 1e-12);
    }

    #[test]
    fn the_half_width_is_that_of_students_t() {
        // Two draws with means 1 and 3 of one seed: deviation sqrt(2), t with one degree of freedom 12.706.
        let cell = |mean: f64| {
            let mut cell = fixture::two_apps().cells[2].clone();
            cell.summary.mean = mean;
            cell.values = vec![Some(mean)];
            cell
        };
        let (a, b) = (cell(1.0), cell(3.0));
        let error = error(&[Some(&a), Some(&b)]).unwrap();
        assert!((error.half_width - 12.706_204_74 * 2f64.sqrt()).abs() < 1e-6, "{error:?}");
        assert_eq!(error.draws, [Some(1.0), Some(3.0)]);
        assert_eq!(super::error(&[Some(&a), None]), None, "one draw has no variation");
    }
}
