//! Residuals: what was measured, what the simulator gives, and the table of both.

use std::fmt::Write;

/// The error that calibration aims to stay below, per cent.
pub const TARGET: f64 = 5.0;

/// A measurement and the simulated value.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Program.
    pub program: String,
    /// Machine.
    pub machine: String,
    /// What, with its unit.
    pub what: String,
    /// Measured.
    pub measured: f64,
    /// Simulated.
    pub simulated: f64,
    /// A profile was derived from it; otherwise it is a check.
    pub input: bool,
}

impl Row {
    pub(crate) fn new(
        program: &str,
        machine: &str,
        what: &str,
        measured: f64,
        simulated: f64,
        input: bool,
    ) -> Self {
        Self {
            program: program.to_owned(),
            machine: machine.to_owned(),
            what: what.to_owned(),
            measured,
            simulated,
            input,
        }
    }

    /// Simulated against measured, per cent.
    #[must_use]
    pub fn error(&self) -> f64 {
        (self.simulated / self.measured - 1.0) * 100.0
    }
}

/// Four significant digits.
fn digits(value: f64) -> String {
    let decimals = if value >= 1_000.0 {
        0
    } else if value >= 100.0 {
        1
    } else {
        2
    };
    format!("{value:.decimals$}")
}

/// The table in Markdown, and a line about what misses the target.
#[must_use]
pub fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| program | machine | quantity | measured | simulated | error | \
            |\n|---|---|---|---:|---:|---:|---|\n",
    );
    for row in rows {
        let mark = match (row.input, row.error().abs() > TARGET) {
            (true, true) => "input, misses",
            (true, false) => "input",
            (false, true) => "check, misses",
            (false, false) => "check",
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {:+.1} % | {mark} |",
            row.program,
            row.machine,
            row.what,
            digits(row.measured),
            digits(row.simulated),
            row.error()
        );
    }
    let within = |input| {
        let all = rows.iter().filter(|r| r.input == input);
        (all.clone().filter(|r| r.error().abs() <= TARGET).count(), all.count())
    };
    let ((good, inputs), (fair, checks)) = (within(true), within(false));
    let _ = writeln!(
        text,
        "\nThe simulator reproduces {good} of {inputs} inputs and {fair} of {checks} checks within \
            {TARGET:.0} %."
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_say_whether_they_miss() {
        let rows = [
            Row::new("cg.B", "barcelona", "speed-up", 9.2, 9.25, true),
            Row::new("cg.B", "tigerton", "speed-up", 4.2, 4.7, false),
        ];
        let text = table(&rows);
        assert!(text.contains("| 9.20 | 9.25 | +0.5 % | input |"), "{text}");
        assert!(text.contains("+11.9 % | check, misses |"), "{text}");
        assert!(text.contains("1 of 1 inputs and 0 of 1 checks"));
    }
}
