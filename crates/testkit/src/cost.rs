//! What a task-step costs, as measured by the example `cost_per_step`: the rows of its table, and the tables
//! of docs/performance.md that are made from them.

use std::fmt::Write as _;

/// One measurement: a job at a size.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// `size` or `path`.
    pub group: String,
    /// What ran: `traffic`, `probe` or the form of the job.
    pub job: String,
    /// Cpus of the machine.
    pub cpus: u32,
    /// Nanoseconds per task-step, the least of all rounds.
    pub ns: f64,
    /// Events per task-step.
    pub events: f64,
    /// Nanoseconds that the same number of events take in `traffic` on this number of cpus.
    pub floor: f64,
}

/// The heading of the file.
pub const HEADING: &str = "group,job,cpus,ns_per_step,events_per_step,floor_ns";

impl Row {
    /// As a line of the file.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { group, job, cpus, ns, events, floor } = self;
        format!("{group},{job},{cpus},{ns:.1},{events:.3},{floor:.1}")
    }

    /// How many times the lower bound it costs.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.ns / self.floor
    }
}

/// Reads the file that the example writes; lines that begin with `#` are comments.
///
/// # Errors
/// The line that is no row.
pub fn rows(text: &str) -> Result<Vec<Row>, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && *line != HEADING);
    lines.map(|line| row(line).ok_or_else(|| format!("`{line}` is not `{HEADING}`"))).collect()
}

fn row(line: &str) -> Option<Row> {
    let [group, job, cpus, ns, events, floor] = line.split(',').collect::<Vec<_>>().try_into().ok()?;
    Some(Row {
        group: group.into(),
        job: job.into(),
        cpus: cpus.parse().ok()?,
        ns: ns.parse().ok()?,
        events: events.parse().ok()?,
        floor: floor.parse().ok()?,
    })
}

/// The rows of one form of the job, by size.
pub fn curve<'a>(rows: &'a [Row], job: &str) -> impl Iterator<Item = &'a Row> {
    let job = job.to_owned();
    rows.iter().filter(move |row| row.group == "size" && row.job == job)
}

/// The exponent of growth of the cost per step with the number of cpus: the slope of the straight line
/// through the logarithms (least squares).
#[must_use]
pub fn exponent(rows: &[&Row]) -> f64 {
    let points: Vec<(f64, f64)> =
        rows.iter().map(|row| (libm::log(f64::from(row.cpus)), libm::log(row.ns))).collect();
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / count, y + p.1 / count));
    let (above, below) =
        points.iter().fold((0.0, 0.0), |(a, b), p| (a + (p.0 - x) * (p.1 - y), b + (p.0 - x) * (p.0 - x)));
    above / below
}

/// A number of cpus with commas.
#[must_use]
pub fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let head = digits.len() % 3;
    let mut text = digits[..head].to_owned();
    for (at, digit) in digits.chars().enumerate().skip(head) {
        if at > 0 && (at - head).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A ratio to one decimal place, from ten on without.
fn times(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}

/// The cost of a step by size as multiples of the probe, one row per size.
#[must_use]
pub fn sizes(rows: &[Row]) -> String {
    let mut text = String::from(
        "| cpus x 4 tasks | traffic | probe, ns | central barrier | tree barrier |\n|---|---|---|---|---|\n",
    );
    for probe in curve(rows, "probe") {
        let cell = |job: &str| {
            let found = curve(rows, job).find(|row| row.cpus == probe.cpus);
            found.map_or_else(|| "-".into(), |row| times(row.ns / probe.ns))
        };
        let (cpus, ns) = (grouped(probe.cpus), format!("{:.0}", probe.ns));
        let _ = writeln!(
            text,
            "| {cpus} | {} | 1.0 ({ns}) | {} | {} |",
            cell("traffic"),
            cell("central"),
            cell("tree")
        );
    }
    text
}

/// The cost of a step on each path as a multiple of its lower bound, one row per path.
#[must_use]
pub fn paths(rows: &[Row]) -> String {
    let mut text = String::from(
        "| path | cpus | events per step | lower bound, ns | oversim, multiple of it |\n|---|---|---|---|---|\n",
    );
    for row in rows.iter().filter(|row| row.group == "path") {
        let (job, cpus) = (&row.job, grouped(row.cpus));
        let _ = writeln!(
            text,
            "| {job} | {cpus} | {:.1} | {:.0} | {} |",
            row.events,
            row.floor,
            times(row.ratio())
        );
    }
    text
}
