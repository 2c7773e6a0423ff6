//! What policies are judged by, and what is swept.

use scenario::objective::Objective;

use crate::oracle::{Oracle, bare};

/// What policies are ranked by: application, metric, whether more is better.
pub(crate) fn goal(oracle: &Oracle<'_>) -> (String, &'static str, bool) {
    let apps = oracle.apps();
    let p = &oracle.results.provenance;
    let shared = apps.len() > 1 || p.programs.is_some_and(|programs| programs > 1);
    let any = |app: &str, metric: &str| !oracle.cases(app, metric).is_empty();
    let only = if let [only] = apps.as_slice() { only.as_str() } else { "" };
    let stated: Vec<(&str, &'static str)> = match p.objective {
        None => Vec::new(),
        Some(Objective::RunTime) => vec![(only, "run_time"), ("all", "makespan")],
        Some(Objective::Makespan) => vec![("all", "makespan")],
        Some(Objective::Throughput) => vec![("all", "throughput")],
        Some(Objective::WorstSlowdown) => vec![("all", "worst_slowdown"), (only, "slowdown")],
        Some(Objective::Turnaround) => vec![("all", "turnaround"), (only, "turnaround")],
        Some(Objective::QueueTime) => vec![("all", "queue_time"), (only, "queue_time")],
        Some(Objective::Rate) if p.programs.is_some_and(|programs| programs > 1) => {
            vec![("all", "time_per_work"), (only, "time_per_work")]
        }
        Some(Objective::Rate) => vec![(only, "time_per_work"), ("all", "time_per_work")],
        Some(Objective::Lateness) => {
            let own: Vec<&String> = p.apps.iter().filter(|app| any(app, "lateness_max")).collect();
            let only = if let [one] = own[..] { one.as_str() } else { "" };
            vec![(only, "lateness_max"), ("all", "lateness_max")]
        }
        Some(objective @ (Objective::Response | Objective::ResponseP99)) => {
            let mean = objective == Objective::Response;
            let metric = if mean { "response_time" } else { "response_time_p99" };
            let requests = p.requests.as_deref().unwrap_or_default();
            let answering: Vec<&String> = requests.iter().filter(|app| apps.contains(app)).collect();
            match (answering.as_slice(), requests) {
                ([one], _) => vec![(one.as_str(), metric), ("all", metric)],
                ([], [one]) => vec![(one.as_str(), metric), ("all", metric)],
                _ => vec![("all", metric)],
            }
        }
    };
    if let Some((app, metric)) = stated.into_iter().find(|(app, metric)| any(app, metric)) {
        return (app.to_owned(), metric, metric == "throughput");
    }
    if shared && any("all", "throughput") {
        return ("all".into(), "throughput", true);
    }
    let (time, whole) = if p.window { ("time_per_work", "time_per_work") } else { ("run_time", "makespan") };
    if !shared && apps.len() == 1 && any(&apps[0], time) {
        return (apps[0].clone(), time, false);
    }
    ("all".into(), whole, false)
}

/// The only axis that varies: its position, name and values.
pub(crate) fn axis(oracle: &Oracle<'_>) -> Result<(usize, String, Vec<String>), String> {
    let axes = &oracle.results.provenance.sweep;
    let at = axes.iter().position(|axis| axis.values.len() > 1).ok_or("no axis")?;
    let values = axes[at].values.iter().map(|value| bare(value)).collect();
    Ok((at, Oracle::short(&axes[at].path), values))
}
