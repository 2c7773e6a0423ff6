//! Which runs the timeline of a page shows.

use pictures::timeline::{Aim, Medium, Request as Window, Subject, data, record};
use scenario::configuration::plain;
use scenario::plan::{Experiment, RunPlan};
use serde_json::Value;

use crate::request::Request;

/// Most runs of one timeline.
const MOST: usize = 4;

/// Up to four runs with the first seed: those of the policies at the first configuration, or of the
/// configurations if there is one policy.
///
/// # Errors
/// A sentence why there is no timeline.
pub fn timeline(experiment: &Experiment, request: &Request) -> Result<Value, String> {
    let first = |run: &&RunPlan| run.alone.is_none() && run.replicate == 0;
    let runs = experiment.runs.iter().filter(first);
    let policies = experiment.policies.len() > 1;
    let chosen: Vec<(String, String, &RunPlan)> = runs
        .filter(|run| if policies { run.configuration == 0 } else { run.policy == 0 })
        .take(MOST)
        .map(|plan| {
            let policy = experiment.policies.get(plan.policy).map_or("", String::as_str);
            let settings = settings(experiment, plan);
            match policies || settings.is_empty() {
                true => (policy.to_owned(), format!("under {policy}"), plan),
                false => (settings.clone(), format!("with {settings}"), plan),
            }
        })
        .collect();
    let subjects: Vec<Subject<'_>> =
        chosen.iter().map(|(label, place, plan)| Subject { label, place, plan }).collect();
    let aim = if policies { Aim::Difference } else { Aim::Barriers };
    let window = Window { from: request.from_ns, to: request.to_ns, cpus: None, aim };
    Ok(data::data(&record(&subjects, &window, Medium::Page)?))
}

/// The values of a run that vary, `threads_per_core=2, apps.code.runtime=spin`.
fn settings(experiment: &Experiment, plan: &RunPlan) -> String {
    let places = experiment.configurations.get(plan.configuration).map_or(&[][..], |c| &c.places);
    let axes = experiment.axes.iter().zip(places).filter(|(axis, _)| axis.values.len() > 1);
    let shown = axes.filter_map(|(axis, place)| {
        Some(format!("{}={}", axis.path.trim_start_matches("apps."), plain(axis.values.get(*place)?)))
    });
    shown.collect::<Vec<_>>().join(", ")
}
