//! Where two reports of the same run differ, by the names of what they hold.

use std::fmt::Debug;

use sim_core::account::Category;
use sim_core::outcome::{AppReport, RunReport};

/// What differs between two reports, a line each: where it is, its name, its value in the one and in the
/// other.
#[must_use]
pub fn differences(one: &RunReport, other: &RunReport) -> Vec<String> {
    let mut found = Vec::new();
    add(&mut found, "outcome", &one.outcome, &other.outcome);
    add(&mut found, "makespan", &one.makespan, &other.makespan);
    add(&mut found, "extrapolated", &one.extrapolated, &other.extrapolated);
    add(&mut found, "error", &one.error, &other.error);
    add(&mut found, "corrections", &one.corrections, &other.corrections);
    add(&mut found, "cpus", &one.cpus.len(), &other.cpus.len());
    for (cpu, (one, other)) in one.cpus.iter().zip(&other.cpus).enumerate() {
        for category in Category::ALL {
            let place = format!("cpu {cpu}, {}", category.name());
            add(&mut found, &place, &one.get(category).ns(), &other.get(category).ns());
        }
    }
    add(&mut found, "applications", &one.apps.len(), &other.apps.len());
    for (number, (one, other)) in one.apps.iter().zip(&other.apps).enumerate() {
        of_app(&mut found, &format!("application {number} ({})", one.name), one, other);
    }
    add(&mut found, "sources", &one.sources, &other.sources);
    add(&mut found, "devices", &one.devices, &other.devices);
    add(&mut found, "pools", &one.pools, &other.pools);
    add(&mut found, "counters of the policy", &one.policy_counters, &other.policy_counters);
    add(&mut found, "events", &one.events, &other.events);
    add(&mut found, "digest of all facts", &one.digest, &other.digest);
    found
}

fn of_app(found: &mut Vec<String>, place: &str, one: &AppReport, other: &AppReport) {
    add(found, &format!("{place}, name"), &one.name, &other.name);
    add(found, &format!("{place}, background"), &one.background, &other.background);
    add(found, &format!("{place}, arrived"), &one.arrived, &other.arrived);
    add(found, &format!("{place}, start"), &one.start, &other.start);
    add(found, &format!("{place}, first run"), &one.first_run, &other.first_run);
    add(found, &format!("{place}, program start"), &one.program_start, &other.program_start);
    add(found, &format!("{place}, end"), &one.end, &other.end);
    add(found, place, &one.counters, &other.counters);
    add(found, &format!("{place}, tasks"), &one.task_cpu.len(), &other.task_cpu.len());
    for (rank, (one, other)) in one.task_cpu.iter().zip(&other.task_cpu).enumerate() {
        add(found, &format!("{place}, cpu time of rank {rank}"), one, other);
    }
    add(found, &format!("{place}, requests"), &one.requests, &other.requests);
    let quantiles = |app: &AppReport| app.responses.as_ref().map(|all| all.quantiles());
    add(found, &format!("{place}, responses"), &quantiles(one), &quantiles(other));
    let quantiles = |app: &AppReport| app.waits.as_ref().map(|all| all.quantiles());
    add(found, &format!("{place}, waits"), &quantiles(one), &quantiles(other));
    add(found, &format!("{place}, first late"), &one.first_late, &other.first_late);
    add(found, &format!("{place}, skips"), &one.skips, &other.skips);
    add(found, &format!("{place}, latencies"), &one.latencies, &other.latencies);
}

/// Adds what differs between two values: the fields with their names, where both have the same.
fn add(found: &mut Vec<String>, place: &str, one: &dyn Debug, other: &dyn Debug) {
    let (long, long_other) = (format!("{one:#?}"), format!("{other:#?}"));
    if long == long_other {
        return;
    }
    let count = long.lines().count();
    if count == 1 || count != long_other.lines().count() {
        found.push(format!("{place}: {one:?} / {other:?}"));
        return;
    }
    let bare = |line: &str| line.trim().trim_end_matches(',').to_owned();
    let pairs = long.lines().zip(long_other.lines()).filter(|(one, other)| one != other);
    found.extend(pairs.map(|(one, other)| format!("{place}, {} / {}", bare(one), bare(other))));
}

#[cfg(test)]
mod tests {
    use sim_core::account::Account;
    use sim_core::outcome::{Counters, Outcome};
    use sim_core::time::{Span, Time};

    use super::*;

    fn report() -> RunReport {
        let app = AppReport {
            name: "hog".into(),
            background: false,
            arrived: Time::ZERO,
            start: Time::ZERO,
            first_run: None,
            program_start: Time::ZERO,
            end: None,
            counters: Counters::default(),
            task_cpu: vec![Span::ZERO; 2],
            requests: false,
            deadline: None,
            responses: None,
            waits: None,
            first_late: None,
            skips: false,
            latencies: None,
        };
        RunReport {
            outcome: Outcome::Completed,
            makespan: Time::ZERO,
            extrapolated: Span::ZERO,
            error: Span::ZERO,
            apps: vec![app],
            sources: Vec::new(),
            devices: Vec::new(),
            pools: Vec::new(),
            cpus: vec![Account::default(); 2],
            corrections: 0,
            policy_counters: Vec::new(),
            events: 0,
            digest: 0,
        }
    }

    #[test]
    fn what_differs_is_named() {
        let (one, mut other) = (report(), report());
        assert!(differences(&one, &other).is_empty());
        other.apps[0].counters.yields = 3;
        other.apps[0].task_cpu[1] = Span::from_ns(7);
        other.cpus[1] = Account::of(Category::Switch, Span::from_ns(5));
        let found = differences(&one, &other);
        assert_eq!(found[..2], ["cpu 1, switch: 0 / 5", "application 0 (hog), yields: 0 / yields: 3"]);
        assert!(found[2].starts_with("application 0 (hog), cpu time of rank 1: "), "{found:?}");
        assert_eq!(found.len(), 3);
    }
}
