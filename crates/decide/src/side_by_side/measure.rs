//! Runs the same scenarios under two policies and takes the differences apart.

use super::answer::{Answer, Compared, LeftOut, Part, Row, Wakeups, Where};
use super::runs::{Measured, Numbers, Run, Sides, simulated};
use super::worst;
use crate::trial::{Failed, Means, Setting, Subject, Wanted, sentence};

/// The name of the sum of all scenarios.
pub(super) const TOTAL: &str = "total";

/// The most characters of a policy's name.
const MOST_LABEL: usize = 24;

/// The metric of wake-up latencies.
const WAKEUP: &str = "wakeup_latency_p99";

/// Compares two policies on scenarios with names, in this many replicates (at least 2) with the same seeds.
///
/// # Errors
/// No scenario can be compared; the user interrupted.
pub fn compare(
    subjects: &[(String, Subject<'_>)],
    policies: [&str; 2],
    replicates: u32,
    means: Means<'_>,
) -> Result<Answer, Failed> {
    let replicates = replicates.max(2);
    let (mut all, mut left_out, mut refusals) = (Vec::new(), Vec::new(), Vec::new());
    for (number, (name, subject)) in subjects.iter().enumerate() {
        match sides((name, subject), number, policies, replicates) {
            Ok(sides) => all.push(sides),
            Err(refusal) => {
                left_out.push(LeftOut { scenario: name.clone(), reason: sentence(&refusal) });
                refusals.push(refusal);
            }
        }
    }
    let Some(first) = all.first() else {
        let first = refusals.into_iter().next();
        return Err(Failed::Refused(first.unwrap_or_else(|| "there is no scenario".into())));
    };
    let labels = labels(first);
    let (measured, runs) = simulated(&all, means)?;
    let (mut rows, mut kept) = (Vec::new(), Vec::new());
    for (sides, runs) in measured {
        match complete(&runs, &labels).and_then(|()| row(sides, &runs)) {
            Ok(row) => {
                rows.push(row);
                kept.push((sides, runs));
            }
            Err(reason) => left_out.push(LeftOut { scenario: sides.name.clone(), reason }),
        }
    }
    if rows.is_empty() {
        let why = left_out.last().map_or("", |left| left.reason.as_str());
        return Err(Failed::Refused(format!("no scenario can be compared: {why}")));
    }
    let total = if rows.len() > 1 { total(&kept, &rows) } else { None };
    let worst = worst::find(&kept, means)?;
    let runs = runs + 2 * usize::from(worst.is_some());
    Ok(Answer { policies: labels, replicates, scenarios: rows, total, worst, left_out, runs })
}

/// A scenario under both policies.
fn sides(
    (name, subject): (&str, &Subject<'_>),
    number: usize,
    policies: [&str; 2],
    replicates: u32,
) -> Result<Sides, String> {
    let load = |policy: &str| {
        let setting = Setting { set: Vec::new(), policy: Some(policy.to_owned()) };
        subject.experiment(&Wanted { setting, replicates: 0..replicates, draw: None, at_most: None })
    };
    let [first, second] = policies;
    Ok(Sides { name: name.to_owned(), subject: number, experiments: [load(first)?, load(second)?] })
}

/// Names of the policies, which differ.
fn labels(sides: &Sides) -> [String; 2] {
    let cut = |text: &str| notation::text::cut(text, MOST_LABEL);
    let own = [0, 1].map(|side| cut(sides.experiments[side].policies.first().map_or("", String::as_str)));
    if own[0] != own[1] {
        return own;
    }
    let [first, second] = own;
    [format!("{first} (A)"), format!("{second} (B)")]
}

/// Whether all runs of both sides completed.
fn complete(runs: &[Vec<Run>; 2], labels: &[String; 2]) -> Result<(), String> {
    for (side, label) in runs.iter().zip(labels) {
        if let Some(run) = side.iter().find(|run| !run.ended.is_empty()) {
            return Err(format!("under {label}: {}", run.ended));
        }
    }
    Ok(())
}

/// A row of the answer from the numbers of each replicate.
fn of_numbers(scenario: &str, numbers: &[Vec<Numbers>; 2]) -> Option<Row> {
    let compared = |of: &dyn Fn(&Numbers) -> f64| {
        let [first, second] = numbers.each_ref().map(|side| side.iter().map(of).collect::<Vec<f64>>());
        Compared::of(&first, &second)
    };
    let part = |place: Where| {
        let time = compared(&|numbers| numbers.parts.get(place as usize).copied().unwrap_or(0.0))?;
        Some(Part { place, time })
    };
    Some(Row {
        scenario: scenario.to_owned(),
        same: false,
        window: false,
        time: compared(&|numbers| numbers.time)?,
        parts: Where::ALL.into_iter().map(part).collect::<Option<_>>()?,
        waiting: compared(&|numbers| numbers.waiting)?,
        migrations: compared(&|numbers| numbers.migrations)?,
        switches: compared(&|numbers| numbers.switches)?,
        wakeups: Vec::new(),
    })
}

/// The row of a scenario all runs of which completed.
fn row(sides: &Sides, runs: &[Vec<Run>; 2]) -> Result<Row, String> {
    let numbers = runs.each_ref().map(|side| side.iter().map(|run| run.numbers).collect());
    let row = of_numbers(&sides.name, &numbers).ok_or("a run measured no finite value")?;
    let [first, second] = runs;
    let same = first.iter().zip(second).all(|(first, second)| first.digest == second.digest);
    let wakeups = sides.experiments[0].apps.iter().filter_map(|app| {
        let of = |side: &[Run]| -> Option<Vec<f64>> {
            side.iter().map(|run| run.values.get(app)?.get(WAKEUP).copied()).collect()
        };
        Some(Wakeups { app: app.clone(), p99: Compared::of(&of(first)?, &of(second)?)? })
    });
    let window = sides.plans(0).any(|plan| plan.window.is_some());
    Ok(Row { same, window, wakeups: wakeups.collect(), ..row })
}

/// The sum of all scenarios, replicate by replicate.
fn total(measured: &[Measured<'_>], rows: &[Row]) -> Option<Row> {
    let mut sums: [Vec<Numbers>; 2] = [Vec::new(), Vec::new()];
    for (_, runs) in measured {
        for (sums, side) in sums.iter_mut().zip(runs) {
            sums.resize(side.len(), Numbers::default());
            for (sum, run) in sums.iter_mut().zip(side) {
                *sum = sum.plus(&run.numbers);
            }
        }
    }
    let same = rows.iter().all(|row| row.same);
    Some(Row { same, window: rows.iter().all(|row| row.window), ..of_numbers(TOTAL, &sums)? })
}
