//! The effects of rules as a table for people and as CSV.

use std::io::{self, Write};

use super::{Row, Sample, Variant};

/// What stands for the second kernel with all of its rules.
const ALL: &str = "all rules";

/// How a value changes over the machines of a program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Change {
    /// Geometric mean of the ratios to the first kernel.
    pub mean: f64,
    /// Smallest and largest ratio.
    pub range: [f64; 2],
}

/// The rows of which both runs completed.
fn completed<'a>(rows: &[&'a Row], variant: usize) -> Vec<&'a Row> {
    rows.iter().copied().filter(|row| row.first.completed && row.variants[variant].completed).collect()
}

/// The change of a value over some rows; none unless every row has it under both kernels, above 0.
fn change(rows: &[&Row], variant: usize, value: fn(&Sample) -> Option<f64>) -> Option<Change> {
    let ratio = |row: &&Row| {
        let (before, after) = (value(&row.first)?, value(&row.variants[variant])?);
        (before > 0.0 && after > 0.0).then(|| after / before)
    };
    let ratios: Option<Vec<f64>> = rows.iter().map(ratio).collect();
    let ratios = ratios.filter(|ratios| !ratios.is_empty())?;
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let extreme = |pick: fn(f64, f64) -> f64| ratios.iter().copied().reduce(pick).unwrap_or(mean);
    Some(Change { mean, range: [extreme(f64::min), extreme(f64::max)] })
}

/// A number with its sign, none for one that rounds to nothing.
#[must_use]
pub fn signed(value: f64, digits: usize) -> String {
    let text = format!("{value:+.digits$}");
    let without = text.trim_start_matches(['+', '-']);
    if without.chars().all(|c| matches!(c, '0' | '.')) { without.to_owned() } else { text }
}

/// `+3.1 % (-1 to +8)`; only the mean for a single machine.
fn percent(change: Option<Change>, single: bool) -> String {
    let Some(Change { mean, range: [least, most] }) = change else { return "-".into() };
    let of = |ratio: f64| 100.0 * (ratio - 1.0);
    if single {
        return format!("{} %", signed(of(mean), 1));
    }
    format!("{} % ({} to {})", signed(of(mean), 1), signed(of(least), 0), signed(of(most), 0))
}

/// The sum of the migrations before and after.
fn migrations(rows: &[&Row], variant: usize) -> String {
    let sum = |of: &dyn Fn(&Row) -> Option<f64>| -> Option<f64> {
        rows.iter().map(|row| of(row)).sum::<Option<f64>>()
    };
    match (sum(&|row| row.first.migrations), sum(&|row| row.variants[variant].migrations)) {
        (Some(before), Some(after)) => format!("{before:.0} -> {after:.0}"),
        _ => "-".into(),
    }
}

/// The rows of two kernels by program.
#[derive(Clone, Debug)]
pub struct Compared<'a> {
    variants: &'a [Variant],
    /// Programs in their order, with their rows.
    programs: Vec<(&'a str, Vec<&'a Row>)>,
    /// What the changes are over, after a noun; empty for a single machine.
    pub over: String,
    /// A sentence on the runs that are left out; empty if there are none.
    pub left_out: String,
}

impl<'a> Compared<'a> {
    /// Sorts rows by program.
    #[must_use]
    pub fn of(variants: &'a [Variant], rows: &'a [Row]) -> Self {
        let mut programs: Vec<(&str, Vec<&Row>)> = Vec::new();
        for row in rows {
            match programs.last_mut() {
                Some((program, mine)) if *program == row.program => mine.push(row),
                _ => programs.push((&row.program, vec![row])),
            }
        }
        let cpus = rows.iter().map(|row| row.cpus);
        let (least, most) = (cpus.clone().min().unwrap_or(0), cpus.max().unwrap_or(0));
        let mut machines: Vec<&str> = rows.iter().map(|row| row.machine.as_str()).collect();
        machines.sort_unstable();
        machines.dedup();
        let over = match machines.len() {
            1 => String::new(),
            count => format!(" over {count} machines of {least} to {most} cpus"),
        };
        let every: Vec<&Row> = rows.iter().collect();
        let all = rows.len() * variants.len();
        let kept: usize = (0..variants.len()).map(|at| completed(&every, at).len()).sum();
        let left_out = match all - kept {
            0 => String::new(),
            some => format!("{some} of {all} comparisons are left out: a run did not complete."),
        };
        Self { variants, programs, over, left_out }
    }

    /// How each variant changes the run time of each program: the program, the number of the variant, the
    /// change.
    #[must_use]
    pub fn run_times(&self) -> Vec<(&'a str, usize, Change)> {
        let of = |(program, mine): &(&'a str, Vec<&Row>)| -> Vec<(&'a str, usize, Change)> {
            let found = (0..self.variants.len()).filter_map(|at| {
                Some((*program, at, change(&completed(mine, at), at, |sample| sample.run_time)?))
            });
            found.collect()
        };
        self.programs.iter().flat_map(of).collect()
    }

    /// The table: a line for each program and variant, the second kernel first.
    #[must_use]
    pub fn lines(&self) -> Vec<[String; 5]> {
        let mut lines = Vec::new();
        for (program, mine) in &self.programs {
            for (at, variant) in self.variants.iter().enumerate() {
                let single = mine.len() == 1;
                let mine = completed(mine, at);
                lines.push([
                    if at == 0 { (*program).to_owned() } else { String::new() },
                    variant.rule.unwrap_or(ALL).to_owned(),
                    percent(change(&mine, at, |sample| sample.run_time), single),
                    percent(change(&mine, at, |sample| sample.wakeup_p99), single),
                    migrations(&mine, at),
                ]);
            }
        }
        lines
    }
}

/// Writes a line for each subject and variant, with the values under both kernels: times in s, nothing for a
/// run that did not complete.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_csv(variants: &[Variant], rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record([
        "program",
        "machine",
        "cpus",
        "changed",
        "run_time_before",
        "run_time",
        "wakeup_p99_before",
        "wakeup_p99",
        "migrations_before",
        "migrations",
    ])?;
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for row in rows {
        for (variant, sample) in variants.iter().zip(&row.variants) {
            let values: [fn(&Sample) -> Option<f64>; 3] =
                [|s| s.run_time, |s| s.wakeup_p99, |s| s.migrations];
            let cpus = row.cpus.to_string();
            let names = [&row.program, &row.machine, &cpus, variant.rule.unwrap_or("all")].map(str::to_owned);
            let both = values.iter().flat_map(|value| [number(value(&row.first)), number(value(sample))]);
            table.write_record(names.into_iter().chain(both))?;
        }
    }
    table.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(machine: &str, before: f64, after: f64) -> Row {
        let sample = |run_time| Sample { completed: true, run_time: Some(run_time), ..Sample::default() };
        Row {
            program: "p".into(),
            machine: machine.into(),
            cpus: 4,
            first: sample(before),
            variants: vec![sample(after)],
        }
    }

    #[test]
    fn changes_are_geometric_means_with_their_range() {
        let rows = [row("a", 1.0, 2.0), row("b", 1.0, 0.5), row("c", 4.0, 4.0)];
        let all: Vec<&Row> = rows.iter().collect();
        let found = change(&all, 0, |sample| sample.run_time).unwrap();
        assert!((found.mean - 1.0).abs() < 1e-12);
        assert!((found.range[0] - 0.5).abs() < 1e-12 && (found.range[1] - 2.0).abs() < 1e-12);
        assert_eq!(percent(Some(found), false), "0.0 % (-50 to +100)");
        assert_eq!(percent(change(&all[..1], 0, |sample| sample.run_time), true), "+100.0 %");
        assert_eq!(percent(change(&all, 0, |sample| sample.wakeup_p99), false), "-");
    }

    #[test]
    fn runs_that_did_not_complete_are_left_out_and_counted() {
        let mut rows = vec![row("a", 1.0, 2.0), row("b", 1.0, 2.0)];
        rows[1].variants[0] = Sample::default();
        let variants = [Variant { rule: None, kernel: "k".into(), policy: "LOAD" }];
        let compared = Compared::of(&variants, &rows);
        assert_eq!(compared.left_out, "1 of 2 comparisons are left out: a run did not complete.");
        assert_eq!(compared.lines()[0][2], "+100.0 % (+100 to +100)");
        assert_eq!(compared.run_times().len(), 1);
        rows.truncate(1);
        assert_eq!(Compared::of(&variants, &rows).left_out, "");
    }
}
