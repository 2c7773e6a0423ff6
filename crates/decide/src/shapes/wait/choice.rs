//! Which setting to take under an unknown load, and whether one setting is best under all of them.

use experiment::statistics::{Summary, summarise};
use serde::Serialize;

use super::{Cell, Column, SettingRow};

/// A setting with the regret that it was chosen by.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Choice {
    /// Its row.
    pub setting: usize,
    /// The worst regret over the columns, or the mean one, in per cent.
    pub regret: Summary,
    /// The column of the worst regret; none for the mean.
    pub column: Option<usize>,
}

/// Whether one setting is best everywhere.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Verdict {
    /// These settings are best or level with the best one in all columns.
    One {
        /// Their rows.
        settings: Vec<usize>,
    },
    /// None is best on an idle and on a busy host: one is best, or level, in all idle columns, and another
    /// one in all busy ones.
    Split {
        /// The row of the setting for an idle host, of several the one that loses least on a busy one.
        idle: usize,
        /// The row of the setting for a busy host, of several the one that loses least on an idle one.
        busy: usize,
    },
    /// None is best in all columns, and it is not the load alone that decides.
    None,
}

/// The column of the largest regret of a setting, among some columns.
pub(super) fn worst(cells: &[Cell], among: impl Fn(usize) -> bool) -> Option<(usize, f64)> {
    let own = cells.iter().enumerate().filter(|(at, _)| among(*at)).map(|(at, cell)| (at, cell.regret.mean));
    // The first one of equal columns.
    own.fold(None, |worst: Option<(usize, f64)>, one| match worst {
        Some(found) if found.1 >= one.1 => Some(found),
        _ => Some(one),
    })
}

/// The setting with the smallest number; of those within a tenth of a per cent the default, else the first.
fn smallest(numbers: &[f64], settings: &[SettingRow]) -> Option<usize> {
    let least = numbers.iter().copied().reduce(f64::min)?;
    let near = |at: &usize| numbers.get(*at).is_some_and(|number| *number <= least + 0.1);
    let is_default = |at: &usize| settings.get(*at).is_some_and(|row| row.typed.is_empty());
    let all = 0..numbers.len();
    all.clone().filter(near).find(is_default).or_else(|| {
        all.min_by(|a, b| {
            let of = |at: &usize| numbers.get(*at).copied().unwrap_or(f64::INFINITY);
            of(a).total_cmp(&of(b))
        })
    })
}

/// The setting whose worst regret is smallest (minimax regret: Savage 1951).
pub(super) fn smallest_worst(cells: &[Vec<Cell>], settings: &[SettingRow]) -> Option<Choice> {
    let worsts: Vec<(usize, f64)> = cells.iter().map(|of| worst(of, |_| true)).collect::<Option<_>>()?;
    let setting = smallest(&worsts.iter().map(|(_, regret)| *regret).collect::<Vec<_>>(), settings)?;
    let (column, _) = *worsts.get(setting)?;
    let regret = cells.get(setting)?.get(column)?.regret;
    Some(Choice { setting, regret, column: Some(column) })
}

/// The setting whose mean regret over all columns is smallest. The interval is that of the columns' own
/// errors, which are of runs with the same seeds and taken as independent.
pub(super) fn smallest_mean(cells: &[Vec<Cell>], settings: &[SettingRow]) -> Option<Choice> {
    let mean = |of: &Vec<Cell>| of.iter().map(|cell| cell.regret.mean).sum::<f64>() / of.len().max(1) as f64;
    let means: Vec<f64> = cells.iter().map(mean).collect();
    let setting = smallest(&means, settings)?;
    let of = cells.get(setting)?;
    let mean = *means.get(setting)?;
    let halves = of.iter().map(|cell| cell.regret.half_width().unwrap_or(0.0));
    let half = libm::sqrt(halves.map(|half| half * half).sum::<f64>()) / of.len().max(1) as f64;
    let mut regret = summarise(&[mean])?;
    regret.ci95 = Some([mean - half, mean + half]);
    regret.n = of.first().map_or(0, |cell| cell.regret.n);
    regret.min = of.iter().map(|cell| cell.regret.min).reduce(f64::min)?;
    regret.max = of.iter().map(|cell| cell.regret.max).reduce(f64::max)?;
    Some(Choice { setting, regret, column: None })
}

/// Whether one setting is best everywhere.
pub(super) fn verdict(cells: &[Vec<Cell>], columns: &[Column]) -> Verdict {
    let level = |of: &[Cell], among: &dyn Fn(&Column) -> bool| {
        of.iter().zip(columns).filter(|(_, column)| among(column)).all(|(cell, _)| cell.level)
    };
    let settings = |among: &dyn Fn(&Column) -> bool| -> Vec<usize> {
        cells.iter().enumerate().filter(|(_, of)| level(of, among)).map(|(at, _)| at).collect()
    };
    let everywhere = settings(&|_| true);
    if !everywhere.is_empty() {
        return Verdict::One { settings: everywhere };
    }
    let both = columns.iter().any(Column::is_idle) && columns.iter().any(|column| !column.is_idle());
    // Of several the one that loses least on the other host.
    let least = |of: Vec<usize>, other: &dyn Fn(&Column) -> bool| {
        let loses = |at: &usize| {
            let found =
                cells.get(*at).and_then(|of| worst(of, |column| columns.get(column).is_some_and(other)));
            found.map_or(f64::INFINITY, |(_, regret)| regret)
        };
        of.into_iter().min_by(|a, b| loses(a).total_cmp(&loses(b)))
    };
    let idle = least(settings(&Column::is_idle), &|column| !column.is_idle());
    let busy = least(settings(&|column| !column.is_idle()), &Column::is_idle);
    match (both, idle, busy) {
        (true, Some(idle), Some(busy)) => Verdict::Split { idle, busy },
        _ => Verdict::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(regret: f64) -> Cell {
        let one = summarise(&[regret, regret]).unwrap();
        Cell { pass_s: one, regret: one, level: regret < 0.5, burnt: 0.0 }
    }

    fn rows(regrets: &[&[f64]]) -> Vec<Vec<Cell>> {
        regrets.iter().map(|row| row.iter().map(|regret| cell(*regret)).collect()).collect()
    }

    fn column(busy: u32) -> Column {
        Column { region_ns: 1, threads: 2, busy, second_team: false, passes: 1 }
    }

    fn settings(typed: &[&str]) -> Vec<SettingRow> {
        let one = |typed: &&str| SettingRow {
            typed: (*typed).into(),
            about: String::new(),
            runtime: String::new(),
        };
        typed.iter().map(one).collect()
    }

    #[test]
    fn the_smallest_worst_regret_is_not_the_smallest_mean() {
        let cells = rows(&[&[0.0, 0.0, 0.0, 40.0], &[15.0, 15.0, 15.0, 15.0]]);
        let settings = settings(&["", "A=1"]);
        let worst = smallest_worst(&cells, &settings).unwrap();
        assert_eq!((worst.setting, worst.column), (1, Some(0)));
        let mean = smallest_mean(&cells, &settings).unwrap();
        assert_eq!((mean.setting, mean.column), (0, None));
        assert!((mean.regret.mean - 10.0).abs() < 1e-9);
    }

    #[test]
    fn the_default_wins_a_tie() {
        let cells = rows(&[&[3.0], &[3.05], &[9.0]]);
        assert_eq!(smallest_worst(&cells, &settings(&["A=1", "", "A=2"])).unwrap().setting, 1);
    }

    #[test]
    fn no_single_value_is_best_exactly_when_the_loads_have_different_best_ones() {
        let columns = [column(0), column(8)];
        let of = |regrets: &[&[f64]]| verdict(&rows(regrets), &columns);
        assert_eq!(of(&[&[0.0, 9.0], &[7.0, 0.0]]), Verdict::Split { idle: 0, busy: 1 });
        assert_eq!(of(&[&[0.0, 0.2], &[7.0, 0.0]]), Verdict::One { settings: vec![0] });
        let three = [column(0), column(4), column(8)];
        let cells = rows(&[&[0.0, 9.0, 9.0], &[7.0, 0.0, 5.0], &[7.0, 5.0, 0.0]]);
        assert_eq!(verdict(&cells, &three), Verdict::None, "no setting is best on all busy hosts");
        let idle = [column(0), column(0)];
        let cells = rows(&[&[0.0, 9.0], &[7.0, 0.0]]);
        assert_eq!(verdict(&cells, &idle), Verdict::None, "nothing is said of a busy host");
    }
}
