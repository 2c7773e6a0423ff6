//! What policies are judged by, and the sentence about one of them.

use scenario::objective::Objective;

use crate::oracle::{Case, Oracle, Relation, bare, ensure, number, quantity};

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

/// The text behind `by response p99: `, which must name the objective where it is not the throughput.
pub(crate) fn judged<'t>(oracle: &Oracle<'_>, text: &'t str) -> Result<&'t str, String> {
    let (_, metric, _) = goal(oracle);
    let objective = oracle.results.provenance.objective.filter(|o| *o != Objective::Throughput);
    let fits = |objective: &Objective| match objective {
        Objective::RunTime => ["run_time", "makespan"].contains(&metric),
        Objective::Makespan => metric == "makespan",
        Objective::Throughput => false,
        Objective::WorstSlowdown => ["worst_slowdown", "slowdown"].contains(&metric),
        Objective::Turnaround => metric == "turnaround",
        Objective::QueueTime => metric == "queue_time",
        Objective::Response => metric == "response_time",
        Objective::ResponseP99 => metric == "response_time_p99",
        Objective::Lateness => metric == "lateness_max",
        Objective::Rate => metric == "time_per_work",
    };
    match text.strip_prefix("by ").and_then(|rest| rest.split_once(": ")) {
        Some((words, rest)) => {
            let same = objective.is_some_and(|objective| objective.words() == words && fits(&objective));
            ensure(same, || format!("by {words}, but {metric} of {objective:?}"))?;
            Ok(rest)
        }
        None => Ok(text),
    }
}

/// A value with or without a unit.
pub(crate) fn any_quantity(text: &str) -> Option<(f64, f64, &str)> {
    quantity(text).or_else(|| number(text))
}

/// ` or 2 (equal)` or ` (equal: a=1, b=2)` behind a case: the other configurations at which its policy has the
/// same values, all of which must be named up to three.
fn equals<'t>(oracle: &Oracle<'_>, case: &Case, text: &'t str) -> Result<&'t str, String> {
    let (app, metric, _) = goal(oracle);
    let own = oracle.get(case.1, &case.0, &app, metric).ok_or("no such case")?;
    let same = |c: &usize| {
        let other = oracle.get(*c, &case.0, &app, metric);
        *c != case.1 && other.is_some_and(|other| oracle.relation(own, other) == Relation::Equal)
    };
    let all: Vec<usize> = (0..oracle.configurations()).filter(same).collect();
    if text.starts_with(" or ") {
        let (values, rest) = text.split_once(" (equal)").ok_or("no end of the equal ones")?;
        let (axis, _, known) = axis(oracle)?;
        let place = |c: &usize| known[oracle.results.provenance.configurations[*c].places[axis]].clone();
        let want: Vec<String> = all.iter().map(place).collect();
        let named: Vec<&str> = values.split(" or ").skip(1).collect();
        ensure(named == want, || format!("equal: {named:?} named, {want:?} are"))?;
        return Ok(rest);
    }
    if let Some(rest) = text.strip_prefix(" (equal: ") {
        let (named, rest) = rest.split_once(')').ok_or("no end of the equal ones")?;
        let want: Vec<&str> =
            all.iter().take(3).map(|c| oracle.with(*c).trim_start_matches(" with ")).collect();
        ensure(named.split("; ").eq(want.iter().copied()), || format!("equal: {named}, {want:?} are"))?;
        return Ok(rest);
    }
    Ok(text)
}

/// `PIN with x=1: 93 % of sequential throughput; slowdown cg 1.79. A is level with it.`; the case and the
/// rest.
pub(crate) fn standing<'t>(oracle: &Oracle<'_>, text: &'t str) -> Result<(Case, &'t str), String> {
    let (app, metric, _) = goal(oracle);
    let (case, rest) = oracle.case(text).ok_or("no case")?;
    let rest = equals(oracle, &case, rest)?;
    let rest = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(", ")).ok_or("no colon")?;
    let (value, tolerance, rest) = any_quantity(rest).ok_or("no value")?;
    oracle.is_value(&case, &app, metric, (value, tolerance))?;
    let mut rest = rest.strip_prefix(" of sequential throughput").unwrap_or(rest);
    let beside: &[(&str, &str)] = match metric {
        "response_time_p99" => &[("mean", "response_time"), ("max", "response_time_max")],
        "response_time" => &[("p99", "response_time_p99"), ("max", "response_time_max")],
        "turnaround" => &[("max", "turnaround_max"), ("mean queue time", "queue_time")],
        "queue_time" => &[("max", "queue_time_max"), ("mean turnaround", "turnaround")],
        "lateness_max" => &[("mean", "lateness"), ("p99", "lateness_p99")],
        _ => &[],
    };
    for (name, other) in beside {
        let after = rest.strip_prefix("; ").or_else(|| rest.strip_prefix(", "));
        let Some(after) = after.and_then(|after| after.strip_prefix(&format!("{name} "))) else { continue };
        let (value, tolerance, after) = quantity(after).ok_or("no value")?;
        oracle.is_value(&case, &app, other, (value, tolerance))?;
        rest = after;
    }
    let shares = rest.trim_start_matches([';', ',', ' ']);
    if metric == "lateness_max" && shares.starts_with(|c: char| c.is_ascii_digit()) {
        let (value, tolerance, after) = quantity(shares).ok_or("no share")?;
        let after = after.strip_prefix(" of the deadlines missed").ok_or("no share of deadlines")?;
        oracle.is_value(&case, &app, "missed_deadlines", (value, tolerance))?;
        rest = after;
    }
    if let Some(after) = rest.strip_prefix("; slowdown ") {
        rest = after;
        loop {
            let (app, after) = oracle.app(rest).ok_or("no program")?;
            let (value, tolerance, after) =
                number(after.strip_prefix(' ').ok_or("no slowdown")?).ok_or("no slowdown")?;
            oracle.is_value(&case, &app, "slowdown", (value, tolerance))?;
            match after.strip_prefix(", ") {
                Some(next) => rest = next,
                None => {
                    rest = after;
                    break;
                }
            }
        }
    }
    let rest = rest.strip_prefix('.').ok_or_else(|| format!("no end: {rest}"))?;
    let rest = oracle.levels(&case, &app, metric, rest)?;
    Ok((case, rest))
}

/// The only axis that varies: its position, name and values.
pub(crate) fn axis(oracle: &Oracle<'_>) -> Result<(usize, String, Vec<String>), String> {
    let axes = &oracle.results.provenance.sweep;
    let at = axes.iter().position(|axis| axis.values.len() > 1).ok_or("no axis")?;
    let values = axes[at].values.iter().map(|value| bare(value)).collect();
    Ok((at, Oracle::short(&axes[at].path), values))
}
