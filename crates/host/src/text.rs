//! A measurement as text: predicted beside measured, a line for each cell.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};

use crate::result::{Cell, Measurement, Verdict};
use crate::statistics::Sample;

/// A time in its largest unit with three digits or more.
#[must_use]
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns >= 1e9 => (ns / 1e9, "s"),
        ns if ns >= 1e6 => (ns / 1e6, "ms"),
        ns if ns >= 1e3 => (ns / 1e3, "us"),
        ns => (ns, "ns"),
    };
    let digits = if value >= 100.0 { 0 } else { usize::from(value < 10.0) + 1 };
    format!("{value:.digits$} {unit}")
}

/// An error in per cent with its sign.
#[must_use]
pub fn percent(error: f64) -> String {
    format!("{:+.1} %", error * 100.0)
}

/// A prediction: median, smallest and largest value.
#[must_use]
pub fn predicted(sample: &Sample) -> String {
    format!("{} [{} - {}]", time(sample.median), time(sample.min), time(sample.max))
}

/// A measured value: median and quartiles, or both values of a two-valued sample.
#[must_use]
pub fn measured(sample: &Sample) -> String {
    match sample.modes.as_slice() {
        [low, high] => {
            format!("{} ({}x) or {} ({}x)", time(low.median), low.count, time(high.median), high.count)
        }
        _ => format!("{} [{} - {}]", time(sample.median), time(sample.q1), time(sample.q3)),
    }
}

/// The report.
#[must_use]
pub fn report(measurement: &Measurement) -> String {
    let host = &measurement.host;
    let mut text = format!(
        "{} cpus ({}), Linux {}, simulated as {}; {} runs, {} of them disturbed\n\n",
        host.cpus, host.processor, host.release, measurement.machine, measurement.runs, measurement.disturbed
    );
    let mut table = Table::new();
    table.load_style(NOTHING).set_header([
        "cell",
        "predicted [min - max]",
        "measured [q1 - q3]",
        "fair share",
        "error",
        "verdict",
    ]);
    for cell in &measurement.cells {
        let mark = if cell.uncertain { " (uncertain)" } else { "" };
        table.add_row([
            cell.place.to_string(),
            predicted(&cell.predicted),
            measured(&cell.measured),
            time(cell.fair_share),
            percent(cell.error),
            format!("{}{mark}", cell.verdict.words()),
        ]);
    }
    for column in [3, 4] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let count = |verdict| measurement.cells.iter().filter(|cell| cell.verdict == verdict).count();
    text.push_str(&format!(
        "\n{} cells: {} inside the predicted spread, {} more within 10 %, {} off. Median error {}.\n",
        measurement.cells.len(),
        count(Verdict::Inside),
        count(Verdict::Near),
        count(Verdict::Off),
        percent(median_error(measurement.cells.iter())).trim_start_matches('+'),
    ));
    let uncertain = measurement.cells.iter().filter(|cell| cell.uncertain).count();
    if uncertain > 0 {
        text.push_str(&format!(
            "{uncertain} uncertain: other programs, the hypervisor or a change of speed disturbed runs, or \
                the values are widely spread.\n"
        ));
    }
    if let Some(who) = &measurement.disturbed_by {
        text.push_str(&format!("Measured on a busy host: {who}.\n"));
    }
    text
}

/// The median of the absolute errors.
#[must_use]
pub fn median_error<'a>(cells: impl Iterator<Item = &'a Cell>) -> f64 {
    let mut errors: Vec<f64> = cells.map(|cell| cell.error.abs()).collect();
    crate::statistics::median(&mut errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_their_unit() {
        let times = [0.0, 999.0, 1_500.0, 23_400_000.0, 240e6, 1.5e9].map(time);
        assert_eq!(times, ["0.00 ns", "999 ns", "1.50 us", "23.4 ms", "240 ms", "1.50 s"]);
    }

    #[test]
    fn both_values_of_a_two_valued_cell_are_shown() {
        let sample = Sample::of(vec![1e6, 1e6, 2e6, 2e6]).unwrap();
        assert_eq!(measured(&sample), "1.00 ms (2x) or 2.00 ms (2x)");
        assert_eq!(measured(&Sample::of(vec![1e6]).unwrap()), "1.00 ms [1.00 ms - 1.00 ms]");
    }
}
