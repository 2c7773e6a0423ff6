//! The objective of a scenario: the one that it states, or the one of its kind.

use sim_core::admission::Admission;

use crate::Reader;
use crate::apps::App;
use crate::keys::Scenario;
use crate::nested::Arrival;
use crate::objective::Objective;
use crate::resolved::Resolved;

/// The objective of a scenario of this kind. The first of these that holds decides: a foreground
/// application answers requests; programs arrive over time, or `admission` lets some of them wait; there
/// are several programs of one task each (jobs); there are several programs; there is one.
pub(crate) fn of_kind(resolved: &Resolved, baseline: bool) -> Objective {
    let programs: Vec<&App> = resolved.apps.iter().filter(|app| !app.spec.background).collect();
    let count: u32 = programs.iter().map(|app| app.copies.count).sum();
    let arrives = |app: &&App| matches!(app.copies.arrival, Arrival::Every(_) | Arrival::Random(_));
    if programs.iter().any(|app| app.spec.requests) {
        return Objective::ResponseP99;
    }
    if resolved.window.is_some() {
        return if count > 1 && baseline { Objective::Throughput } else { Objective::Rate };
    }
    let waits = resolved.admission != Admission::UNLIMITED || programs.iter().any(arrives);
    let jobs = programs.iter().all(|app| app.spec.tasks == 1);
    match count {
        0 | 1 => Objective::RunTime,
        _ if waits || jobs => Objective::Turnaround,
        _ if baseline => Objective::Throughput,
        _ => Objective::Makespan,
    }
}

/// Notes that the scenario states an objective that it cannot have.
pub(crate) fn check(reader: &mut Reader, scenario: &Scenario<'_>, resolved: &Resolved) {
    let Some(place) = scenario.objective.place() else { return };
    let Some(Some(objective)) = scenario.objective.given(reader) else { return };
    let baseline = scenario.baseline.read(reader) != Some(false);
    let programs = resolved.apps.iter().filter(|app| !app.spec.background);
    let count: u32 = programs.map(|app| app.copies.count).sum();
    let requests = resolved.apps.iter().any(|app| app.spec.requests);
    let (window, name) = (resolved.window.is_some(), objective.name());
    let wrong = match objective {
        Objective::Response | Objective::ResponseP99 if !requests => Some((
            "needs an application that answers requests",
            "`interactive`, `services` and `daemon` do, and programs with `arrivals` or `until`",
        )),
        Objective::Throughput | Objective::WorstSlowdown if !baseline => {
            Some(("refers to dedicated runs", "leave out `baseline: none`"))
        }
        Objective::Throughput | Objective::WorstSlowdown if !resolved.has_dedicated() => {
            Some(("refers to dedicated runs, and a `program` has none", "use `makespan` or `rate`"))
        }
        Objective::Lateness if !resolved.apps.iter().any(|app| app.spec.deadline.is_some()) => {
            Some(("needs an application with a deadline", "add `deadline: 50ms` to one"))
        }
        Objective::Rate if !window => Some(("counts work in a window", "add `window: 1s`")),
        Objective::RunTime | Objective::Makespan | Objective::Turnaround | Objective::QueueTime if window => {
            Some(("needs programs that end", "leave out `window`, or use `rate`"))
        }
        Objective::RunTime if count > 1 => {
            Some(("is that of a single program", "use `makespan` or `turnaround`"))
        }
        _ => None,
    };
    if let Some((why, hint)) = wrong {
        reader.wrong_with_hint(place, format!("the objective `{name}` {why}"), hint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The objective of a scenario with these applications and keys, or what is wrong with it.
    fn of(apps: &str, keys: &str) -> Result<Objective, String> {
        let text = format!("name: x\nmachine: core:4\npolicies: [LOAD]\n{keys}\napps: {{ {apps} }}\n");
        crate::load("x.yaml", &text, &crate::Overrides::default()).map(|experiment| experiment.objective)
    }

    #[test]
    fn the_kind_of_a_scenario_decides() {
        let users = "u: { workload: { interactive: { requests: 5 } }, tasks: 2 }";
        let endless = "d: { workload: daemon }";
        let (program, other) =
            ("a: { workload: { spmd: { work: 1s } } }", "b: { workload: { spmd: { work: 1s } } }");
        let job = |name: &str| format!("{name}: {{ workload: {{ spmd: {{ work: 1s }} }}, tasks: 1 }}");
        let arriving = "j: { workload: { spmd: { work: 1s } }, copies: 3, arrival: { mean: 1s } }";
        let queue = "j: { workload: { spmd: { work: 1s } }, copies: 3, arrival: queue }";
        let two = format!("{program}, {other}");
        let jobs = format!("{}, {}", job("a"), job("b"));
        for (apps, keys, want) in [
            (program.to_owned(), "", Objective::RunTime),
            // What runs in the background does not count.
            (format!("{program}, {endless}"), "", Objective::RunTime),
            (format!("{program}, {users}"), "", Objective::ResponseP99),
            (two.clone(), "", Objective::Throughput),
            (two.clone(), "baseline: none", Objective::Makespan),
            (two.clone(), "admission: { jobs: 1 }", Objective::Turnaround),
            (two.clone(), "window: 100ms", Objective::Throughput),
            (program.to_owned(), "window: 100ms", Objective::Rate),
            (jobs, "", Objective::Turnaround),
            (arriving.to_owned(), "", Objective::Turnaround),
            (queue.to_owned(), "", Objective::Throughput),
            (two, "objective: worst_slowdown", Objective::WorstSlowdown),
            (
                "j: { workload: { spmd: { work: 1ms } }, copies: 3, arrival: { every: 1s } }".to_owned(),
                "objective: lateness",
                Objective::Lateness,
            ),
        ] {
            assert_eq!(of(&apps, keys), Ok(want), "{apps} {keys}");
        }
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let program = "a: { workload: { spmd: { work: 1s } } }";
        let two = format!("{program}, b: {{ workload: {{ spmd: {{ work: 1s }} }} }}");
        let said = |apps: &str, keys: &str| of(apps, keys).unwrap_err();
        assert!(said(program, "objective: response").contains("needs an application that answers requests"));
        assert!(said(program, "objective: rate").contains("add `window: 1s`"));
        assert!(said(program, "objective: makespan\nwindow: 1s").contains("needs programs that end"));
        assert!(said(&two, "objective: run_time").contains("a single program"));
        assert!(said(&two, "objective: throughput\nbaseline: none").contains("dedicated runs"));
        assert!(said(program, "objective: lateness").contains("needs an application with a deadline"));
        assert!(said(program, "objective: speed").contains("speed"));
    }
}
