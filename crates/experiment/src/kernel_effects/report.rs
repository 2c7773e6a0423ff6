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

/// `+3.1 % (-1 to +8)`; only the mean for a single machine.
fn percent(change: Option<Change>, single: bool) -> String {
    let Some(Change { mean, range: [least, most] }) = change else { return "-".into() };
    let of = |ratio: f64| 100.0 * (ratio - 1.0);
    // No sign for what rounds to nothing.
    let signed = |value: f64, digits: usize| {
        let text = format!("{value:+.digits$}");
        if text.trim_start_matches(['+', '-']).chars().all(|c| matches!(c, '0' | '.')) {
            text.trim_start_matches(['+', '-']).to_owned()
        } else {
            text
        }
    };
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

/// The table: a line for each program and variant, the second kernel first.
#[must_use]
pub fn lines(variants: &[Variant], rows: &[Row]) -> (String, Vec<[String; 5]>) {
    let mut programs: Vec<&str> = Vec::new();
    for row in rows {
        if programs.last() != Some(&row.program.as_str()) {
            programs.push(&row.program);
        }
    }
    let mut lines = Vec::new();
    for program in programs {
        let mine: Vec<&Row> = rows.iter().filter(|row| row.program == program).collect();
        for (at, variant) in variants.iter().enumerate() {
            let single = mine.len() == 1;
            lines.push([
                if at == 0 { program.to_owned() } else { String::new() },
                variant.rule.unwrap_or(ALL).to_owned(),
                percent(change(&mine, at, |sample| sample.run_time), single),
                percent(change(&mine, at, |sample| sample.wakeup_p99), single),
                migrations(&mine, at),
            ]);
        }
    }
    let cpus = rows.iter().map(|row| row.cpus);
    let (least, most) = (cpus.clone().min().unwrap_or(0), cpus.max().unwrap_or(0));
    let mut machines: Vec<&str> = rows.iter().map(|row| row.machine.as_str()).collect();
    machines.sort_unstable();
    machines.dedup();
    let over = match machines.len() {
        1 => String::new(),
        count => format!(
            " over {count} machines of {least} to {most} cpus: geometric mean (smallest to largest change)"
        ),
    };
    (over, lines)
}

/// Writes a line for each subject and variant, with the values under both kernels: times in s.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_csv(variants: &[Variant], rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "program,machine,cpus,changed,run_time_before,run_time,wakeup_p99_before,wakeup_p99,\
         migrations_before,migrations"
    )?;
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for row in rows {
        for (variant, sample) in variants.iter().zip(&row.variants) {
            let both = |value: fn(&Sample) -> Option<f64>| {
                format!("{},{}", number(value(&row.first)), number(value(sample)))
            };
            writeln!(
                out,
                "\"{}\",{},{},{},{},{},{}",
                row.program,
                row.machine,
                row.cpus,
                variant.rule.unwrap_or("all"),
                both(|s| s.run_time),
                both(|s| s.wakeup_p99),
                both(|s| s.migrations),
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(machine: &str, before: f64, after: f64) -> Row {
        let sample = |run_time| Sample { run_time: Some(run_time), ..Sample::default() };
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
}
