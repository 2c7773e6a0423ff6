//! The page docs/validation-host.md, made from archived measurements.

use std::fmt::Write as _;

use crate::job::Library;
use crate::real::kinds::{is_kind, library};
use crate::result::{Cell, Measurement, NEAR, Verdict};
use crate::suite::{KINDS, MEMORY_BOUND};
use crate::text::{measured, median_error, percent, predicted, time};

/// The page below the root of the sources.
pub const PATH: &str = "docs/validation-host.md";
/// The folder of the measurements.
pub const ARCHIVE: &str = "docs/validation-host";

/// Why cells of a kind miss, as far as it is known: explanations, not all of them checked.
const REASONS: &[(&str, &str)] = &[
    ("alone: spin", "Slices last for whole ticks, and the phase of the release against the tick decides."),
    ("alone: yield", "The cost of a yield depends on how many threads are queued; the model has one cost."),
    ("alone: block", BLOCK),
    ("alone: spin-then-block", BLOCK),
    ("variation", "As for the same way to wait without variation."),
    (
        "two programs",
        "Two spinning programs advance only while both threads of one program run at the same time. \
            They stay in step until one cpu serves another task and then decides alone, and both lose \
            whole ticks from there on. A measurement that did not look at other tasks has none in its \
            predictions, and the spread of its measured times shows what is lost. A yielding beside a \
            blocking program depends on the lag with which the sleeper returns.",
    ),
    ("beside a hog", "The lag with which a thread returns from a sleep or a yield decides."),
    ("nice", "Ticks quantise the shares of unequal weights within a short run, and the spread is wide."),
    (
        "sessions",
        "Linux weighs a session on each cpu by averages over some 32 ms, the model by what is queued at the \
            instant.",
    ),
    (
        "unpinned",
        "Where spinning and yielding threads are after the release decides, and the spread is wide. \
            Blocking programs are slower: wake-ups on the other cpu cost their waker several microseconds \
            more than the model has, and the kernel may place a woken thread on the busy cpu of its waker. \
            With autogroup, the balancer \
            weighs the group and not the threads.",
    ),
    (
        "memory-bound",
        "The bandwidth of a virtual machine depends on other machines of the same host. A measurement \
            without probes beside its runs is predicted with the bandwidth of its calibration, which may \
            have met another level than the runs.",
    ),
];
/// The same of real runtimes.
const REAL: &str = "Under real runtimes as with threads of our own: two programs that poll without \
    yielding lose whole slices once their threads are out of step, so their times are \
    widely spread. Beside a hog, a thread that has slept takes the cpu from it at once or \
    after up to some ms; a recording of the scheduler's events (sched_switch) on a Xeon \
    shows that beside four threads with regions of 100 us the hog caught up about every 9 \
    regions, and in the model every 20. With three tasks that sleep at once on two cpus, \
    the model finds an order in which one of them hardly waits.";
const BLOCK: &str = "A wake-up of a thread on the other cpu takes several microseconds on this virtual \
    machine, and its cost depends on how deeply that cpu sleeps.";

/// A part of the cells of all hosts: its name, and whether a kind of cell belongs to it.
type Part = (&'static str, fn(&str) -> bool);

/// The parts that the head of the page tells apart.
const PARTS: [Part; 5] = [
    ("compute-bound programs", |kind| !is_kind(kind) && kind != MEMORY_BOUND),
    ("memory-bound programs", |kind| kind == MEMORY_BOUND),
    ("programs under libgomp", |kind| library(kind) == Some(Library::Libgomp)),
    ("programs under libomp", |kind| library(kind) == Some(Library::Libomp)),
    ("programs under Open MPI", |kind| library(kind) == Some(Library::OpenMpi)),
];

/// The cells of a part in these measurements.
fn part<'a>(measurements: &[&'a Measurement], (_, belongs): &Part) -> Vec<&'a Cell> {
    let all = measurements.iter().flat_map(|measurement| &measurement.cells);
    all.filter(|cell| belongs(&cell.place.kind)).collect()
}

/// How many of these cells are near, in per cent, and how many there are.
fn shares(cells: &[&Cell]) -> String {
    let near = cells.iter().filter(|cell| near(cell)).count();
    format!("{:.0} % of {}", 100.0 * near as f64 / cells.len().max(1) as f64, cells.len())
}

/// The hosts of these files, in the order of the files, with their measurements.
fn hosts(archived: &[(String, Measurement)]) -> Vec<(&str, Vec<&Measurement>)> {
    let mut hosts: Vec<(&str, Vec<&Measurement>)> = Vec::new();
    for (_, measurement) in archived {
        match hosts.iter_mut().find(|(machine, _)| *machine == measurement.machine) {
            Some((_, measurements)) => measurements.push(measurement),
            None => hosts.push((&measurement.machine, vec![measurement])),
        }
    }
    hosts
}

/// The measurements in a sentence, which the README repeats.
#[must_use]
pub fn sentence(archived: &[(String, Measurement)]) -> String {
    let all: Vec<&Measurement> = archived.iter().map(|(_, measurement)| measurement).collect();
    let parts = PARTS.iter().map(|which| (which, part(&all, which)));
    let parts: Vec<String> = parts
        .filter(|(_, cells)| !cells.is_empty())
        .map(|((name, _), cells)| format!("{} run times of {name}", shares(&cells)))
        .collect();
    let hosts = hosts(archived).len();
    let hosts = if hosts == 1 { "one host".to_owned() } else { format!("{hosts} hosts") };
    let list = match &parts[..] {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        parts => parts.join(""),
    };
    format!("On {hosts}, predictions are within 10 % of the measured value for {list}.")
}

/// The share of near predictions by part and host.
fn head(text: &mut String, archived: &[(String, Measurement)]) {
    let hosts = hosts(archived);
    let columns: Vec<String> = hosts
        .iter()
        .map(|(machine, measurements)| {
            let host = measurements.first().map(|measurement| &measurement.host);
            let known =
                host.map(|host| format!("{}, {} cpus, Linux {}", host.processor, host.cpus, host.release));
            format!("`{machine}`: {}", known.unwrap_or_default())
        })
        .collect();
    let _ = writeln!(text, "\n{}\n", sentence(archived));
    let _ = writeln!(text, "| predictions within 10 % | {} |", columns.join(" | "));
    let _ = writeln!(text, "|---|{}", "---:|".repeat(hosts.len()));
    for which in &PARTS {
        let cells: Vec<String> = hosts
            .iter()
            .map(|(_, measurements)| match &part(measurements, which)[..] {
                [] => "not measured".to_owned(),
                cells => shares(cells),
            })
            .collect();
        let _ = writeln!(text, "| {} | {} |", which.0, cells.join(" | "));
    }
}

/// The page of these files, each with its name.
#[must_use]
pub fn page(archived: &[(String, Measurement)]) -> String {
    let mut text = String::from(
        "# Measured on real hosts\n\n\
         `oversim measure --suite` executes the cells below on a real machine, with one process for each \
         program, and compares the measured run times with the predictions for the costs that `oversim \
         calibrate host` has measured there. No value of the model is fitted to these cells.\n\n\
         This page is generated: `oversim measure --write .` makes it from the measurements in \
         `docs/validation-host` and predicts their cells again with the present model.\n\n\
         - **error**: predicted median over measured median, minus 1.\n\
         - **inside**: the measured median lies between the smallest and the largest predicted value over \
         seeds.\n\
         - **miss**: the error is larger than 10 % and the measured median is not inside.\n\
         - **fair share**: the run time if all runnable threads got their fair share of the cpus at no \
         cost.\n\n\
         The text above a list of misses is a hypothesis about their cause. No experiment has tested it, \
         unless it says so.\n",
    );
    head(&mut text, archived);
    for (file, measurement) in archived {
        one(&mut text, file, measurement);
    }
    text
}

/// The section of one file.
fn one(text: &mut String, file: &str, measurement: &Measurement) {
    let host = &measurement.host;
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "\n## {}, {} cpus, Linux {}\n\n\
         [{file}](validation-host/{file}), measured {}, predicted by {}. {} runs, of which other programs, \
         the hypervisor or a change of speed disturbed {}. {} runs for each cell.\n\n",
        host.processor,
        host.cpus,
        host.release,
        measurement.date,
        measurement.version,
        measurement.runs,
        measurement.disturbed,
        measurement.repeat
    );
    if let Some(hash) = &measurement.predictions {
        let _ = writeln!(text, "SHA-256 of the predictions before the first run: `{hash}`.\n");
    }
    text.push_str("How it was executed:\n\n");
    for sentence in &measurement.protocol {
        let _ = writeln!(text, "- {sentence}");
    }
    text.push_str(
        "\n| kind | cells | median error | within 10 % | inside | misses | fair share within 10 % |\n",
    );
    text.push_str("|---|---:|---:|---:|---:|---:|---:|\n");
    let kinds = kinds(measurement);
    for kind in &kinds {
        let cells: Vec<&Cell> = measurement.cells.iter().filter(|cell| cell.place.kind == *kind).collect();
        row(text, kind, &cells);
    }
    row(text, "all", &measurement.cells.iter().collect::<Vec<_>>());
    for kind in kinds {
        misses(text, kind, measurement);
    }
}

/// The kinds of cells in a measurement: those of the suite in their order, then others.
fn kinds(measurement: &Measurement) -> Vec<&str> {
    let mut kinds: Vec<&str> = KINDS.to_vec();
    for cell in &measurement.cells {
        if !kinds.contains(&cell.place.kind.as_str()) {
            kinds.push(&cell.place.kind);
        }
    }
    kinds.retain(|kind| measurement.cells.iter().any(|cell| cell.place.kind == *kind));
    kinds
}

/// Why cells of a kind miss.
fn reason(kind: &str) -> &'static str {
    let known = REASONS.iter().find(|(known, _)| *known == kind).map(|(_, reason)| *reason);
    known.or_else(|| is_kind(kind).then_some(REAL)).unwrap_or_default()
}

fn near(cell: &Cell) -> bool {
    cell.error.abs() <= NEAR
}

fn row(text: &mut String, kind: &str, cells: &[&Cell]) {
    let count = |good: &dyn Fn(&Cell) -> bool| cells.iter().filter(|cell| good(cell)).count();
    let share = |count: usize| format!("{:.0} %", 100.0 * count as f64 / cells.len().max(1) as f64);
    let fair = |cell: &Cell| (cell.fair_share / cell.measured.median - 1.0).abs() <= NEAR;
    let _ = writeln!(
        text,
        "| {kind} | {} | {} | {} | {} | {} | {} |",
        cells.len(),
        percent(median_error(cells.iter().copied())).trim_start_matches('+'),
        share(count(&near)),
        count(&|cell| cell.verdict == Verdict::Inside),
        count(&|cell| cell.verdict == Verdict::Off),
        share(count(&fair)),
    );
}

/// Every miss of a kind.
fn misses(text: &mut String, kind: &str, measurement: &Measurement) {
    let missed: Vec<&Cell> = measurement
        .cells
        .iter()
        .filter(|cell| cell.place.kind == kind && cell.verdict == Verdict::Off)
        .collect();
    if missed.is_empty() {
        return;
    }
    let reason = reason(kind);
    let _ = write!(
        text,
        "\n### Misses: {kind}\n\n{reason}\n\n\
         | cell | predicted [min - max] | measured [q1 - q3] | fair share | error |\n\
         |---|---|---|---:|---:|\n"
    );
    for cell in missed {
        let mark = if cell.uncertain { " (uncertain)" } else { "" };
        let _ = writeln!(
            text,
            "| {}{mark} | {} | {} | {} | {} |",
            cell.place,
            predicted(&cell.predicted),
            measured(&cell.measured),
            time(cell.fair_share),
            percent(cell.error)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Host;
    use crate::result::{Place, SCHEMA, error};
    use crate::statistics::Sample;

    fn cell(kind: &str, predicted: f64, measured: f64) -> Cell {
        let sample = |value: f64| Sample::of(vec![value; 4]).unwrap();
        let (predicted, measured) = (sample(predicted), sample(measured));
        Cell {
            place: Place {
                kind: kind.into(),
                scenario: "s".into(),
                configuration: String::new(),
                policy: "PIN".into(),
                app: "p".into(),
            },
            fair_share: 1e6,
            error: error(&predicted, &measured),
            verdict: Verdict::of(&predicted, &measured),
            predicted,
            measured,
            disturbed: 0,
            uncertain: false,
            memory: None,
        }
    }

    #[test]
    fn the_page_counts_and_lists_every_miss() {
        let measurement = Measurement {
            schema: SCHEMA.into(),
            version: "v".into(),
            predictions: None,
            date: "d".into(),
            host: Host::unknown(),
            machine: "m".into(),
            protocol: vec!["Once.".into()],
            repeat: 4,
            rate: 1.0,
            runs: 16,
            disturbed: 1,
            disturbed_by: None,
            scenarios: std::collections::BTreeMap::new(),
            cells: vec![cell("nice", 1e6, 1e6), cell("nice", 2e6, 1e6), cell("own", 1.05e6, 1e6)],
        };
        let page = page(&[("a.json".into(), measurement)]);
        assert!(page.contains("| nice | 2 | 50.0 % | 50 % | 1 | 1 | 100 % |"), "{page}");
        assert!(page.contains("| all | 3 | 5.0 % | 67 % | 1 | 1 | 100 % |"), "{page}");
        assert!(page.contains("### Misses: nice") && !page.contains("### Misses: own"));
        assert!(page.contains("| s PIN p | 2.00 ms [2.00 ms - 2.00 ms] |") && page.contains("+100.0 %"));
    }

    #[test]
    fn every_kind_has_a_reason() {
        assert!(KINDS.iter().all(|kind| REASONS.iter().any(|(known, _)| known == kind)));
    }
}
