//! What a task-step costs: the rows that the example `cost_per_step` measures, the speed of other engines,
//! and the tables of docs/performance.md that are made from them.

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

/// The number of cpus up to which all records are in the caches of the machine that the page speaks of.
pub const CACHED: u32 = 4_096;

/// The heading of the file.
pub const HEADING: &str = "group,job,cpus,ns_per_step,events_per_step,floor_ns";

impl Row {
    /// As a line of the file.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { group, job, cpus, ns, events, floor } = self;
        format!("{group},{job},{cpus},{ns:.1},{events:.3},{floor:.1}")
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
pub fn curve<'a>(rows: &'a [Row], job: &'a str) -> impl Iterator<Item = &'a Row> {
    rows.iter().filter(move |row| row.group == "size" && row.job == job)
}

/// The exponents of growth of the cost per step with the number of cpus, up to [`CACHED`] cpus and beyond;
/// none with fewer than two sizes.
#[must_use]
pub fn exponents(rows: &[Row], job: &str) -> [Option<f64>; 2] {
    let (small, large): (Vec<&Row>, Vec<&Row>) = curve(rows, job).partition(|row| row.cpus <= CACHED);
    [small, large].map(|part| (part.len() > 1).then(|| exponent(&part)))
}

/// The slope of the straight line through the logarithms (least squares).
fn exponent(rows: &[&Row]) -> f64 {
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

/// The cost of a step by size as multiples of the probe, one row per size.
#[must_use]
pub fn sizes(rows: &[Row]) -> String {
    let mut text = String::from(
        "| cpus x 4 tasks | traffic | probe, ns | central barrier | tree barrier |\n|---|---|---|---|---|\n",
    );
    for probe in curve(rows, "probe") {
        let cell = |job: &str| {
            let found = curve(rows, job).find(|row| row.cpus == probe.cpus);
            found.map_or_else(|| "-".into(), |row| digits(row.ns / probe.ns))
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
        "| path | cpus | events per step | lower bound, ns | oversim, multiple of it |\n\
        |---|---|---|---|---|\n",
    );
    for row in rows.iter().filter(|row| row.group == "path") {
        let (job, cpus) = (&row.job, grouped(row.cpus));
        let _ = writeln!(
            text,
            "| {job} | {cpus} | {:.1} | {:.0} | {} |",
            row.events,
            row.floor,
            digits(row.ns / row.floor)
        );
    }
    text
}

/// The engines of `peers` in the order of the table: name and form in the file, and what they are called.
const ENGINES: [(&str, &str, &str, &str); 9] = [
    ("oversim", "", "oversim", ""),
    ("textbook", "with-polls", "textbook engine", ", with polls"),
    ("desque", "with-polls", "desque", ", with polls"),
    ("simpy", "with-polls", "SimPy", ", with polls"),
    ("textbook", "without-polls", "textbook engine", ", without polls"),
    ("desque", "without-polls", "desque", ", without polls"),
    ("simpy", "without-polls", "SimPy", ", without polls"),
    ("simgrid", "without-polls", "SimGrid", ", without polls, cpus with queues"),
    ("simgrid", "without-polls-shared-cpu", "SimGrid", ", without polls, shared cpus"),
];

/// How many times as long as oversim other engines take for a step of the same job, from lines
/// `engine,version,form,cpus,steps,seconds,task_steps_per_second`.
///
/// # Errors
/// An engine that has not been measured on 16 or 4,096 cpus.
pub fn peers(text: &str) -> Result<String, String> {
    let measured = |engine: &str, form: &str, cpus: &str| {
        let found = text.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let [name, version, how, on, _, _, speed] = fields[..] else { return None };
            let speed: f64 = speed.parse().ok()?;
            (name == engine && how == form && on == cpus).then_some((version, speed))
        });
        found.ok_or_else(|| format!("{engine} {form} was not measured on {cpus} cpus"))
    };
    let mut table = String::from("| engine | 16 cpus | 4,096 cpus |\n|---|---|---|\n");
    for (engine, form, name, how) in ENGINES {
        let slower =
            |cpus: &str| Ok::<_, String>(measured("oversim", "", cpus)?.1 / measured(engine, form, cpus)?.1);
        let (small, large) = (slower("16")?, slower("4096")?);
        let version = measured(engine, form, "16")?.0;
        let named = format!("{name} {version}");
        let _ = writeln!(table, "| {}{how} | {} | {} |", named.trim_end(), digits(small), digits(large));
    }
    Ok(table)
}

/// A ratio to two digits.
fn digits(ratio: f64) -> String {
    if ratio < 0.995 {
        format!("{ratio:.2}")
    } else if ratio < 9.95 {
        format!("{ratio:.1}")
    } else if ratio < 99.5 {
        format!("{ratio:.0}")
    } else {
        format!("{:.0}", (ratio / 10.0).round() * 10.0)
    }
}
