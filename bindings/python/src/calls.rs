//! `run`, `compare`, `timeline` and `check`.

use std::sync::Arc;

use experiment::compare::contrast::{self, Named, Wanted};
use experiment::run::run_or_stop;
use pictures::timeline::choice::{self, Asked as Panels};
use pictures::timeline::{self as pictured, Medium, Subject, draw};
use pyo3::prelude::*;
use scenario::Overrides;
use serde_json::json;

use crate::errors::Failure;
use crate::figure::Figure;
use crate::patience;
use crate::result::{Comparison, Outcome};
use crate::slices;
use crate::source::Request;

/// Runs a scenario.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, request: Request<'_>, timeline: bool) -> PyResult<Outcome> {
    let asked = request.asked()?;
    patience::wait(py, &Arc::clone(&asked.session), move |stop| {
        let experiment = asked.open()?;
        let jobs = asked.threads(&experiment)?;
        let results = run_or_stop(&experiment, jobs, &|_, _| (), stop)?;
        let recorded = timeline.then(|| slices::record(&experiment, stop)).transpose()?;
        Ok(Outcome::new(results, asked.subject, experiment.warnings, recorded))
    })
}

/// Compares two results, or the policies of one.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    first: (String, Bound<'_, Outcome>),
    second: Option<(String, Bound<'_, Outcome>)>,
    policies: Vec<String>,
    metrics: Vec<String>,
    threshold: f64,
) -> PyResult<Comparison> {
    let wanted = Wanted { policies, metrics, threshold };
    let (name, a) = (first.0, Arc::clone(&first.1.get().results));
    let b = second.map(|(name, of)| (name, Arc::clone(&of.get().results)));
    let compared = py.detach(|| {
        contrast::check_metrics(&wanted.metrics)?;
        let a = Named { file: &name, results: &a };
        match &b {
            None => contrast::policies(a, &wanted),
            Some((name, results)) => contrast::results(a, Named { file: name, results }, &wanted),
        }
    });
    compared.map(Comparison).map_err(|why| Failure::Refused(why).raise(py))
}

/// Draws which task ran where and when.
#[pyfunction]
#[pyo3(signature = (request, vary, begin, end, cpus))]
pub(crate) fn timeline(
    py: Python<'_>,
    request: Request<'_>,
    vary: Option<String>,
    begin: Option<String>,
    end: Option<String>,
    cpus: Option<String>,
) -> PyResult<Figure> {
    let mut asked = request.asked()?;
    asked.overrides =
        Overrides { repeat: Some(1), warn: false, vary: vary.clone(), ..asked.overrides.clone() };
    patience::wait(py, &Arc::clone(&asked.session), move |_| {
        let instant = |name: &str, text: Option<String>| {
            let read = text.as_deref().map(pictured::instant).transpose();
            read.map_err(|why| Failure::Refused(format!("{name}: {why}")))
        };
        let (from, to) = (instant("begin", begin)?, instant("end", end)?);
        let experiment = asked.open()?;
        let panels = Panels { named: !asked.overrides.policies.is_empty(), vary: vary.as_deref() };
        let choice = choice::choose(&experiment, panels).map_err(Failure::Refused)?;
        let subjects: Vec<Subject<'_>> = choice.subjects();
        let wanted = cpus.as_deref().zip(subjects.first());
        let read =
            wanted.map(|(list, first)| pictured::cpus(list, &experiment.numbering(&first.plan.machine)));
        let read = read.transpose().map_err(|why| Failure::Refused(format!("cpus: {why}")))?;
        let (cpus, remark) = read.map_or((None, None), |(cpus, remark)| (Some(cpus), remark));
        let window = pictured::Request { from, to, cpus, aim: choice.aim };
        let recorded = pictured::record(&subjects, &window, Medium::Picture).map_err(Failure::Refused)?;
        let picture = draw::picture(&recorded, &choice.title);
        let mut said = format!("{} {}", recorded.message(), recorded.headline());
        if let Some(remark) = remark {
            said.push_str(&format!(" {remark}."));
        }
        Ok(Figure::timeline(said, choice.title, picture))
    })
}

/// What a scenario contains, as JSON; nothing is simulated.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, request: Request<'_>) -> PyResult<String> {
    let asked = request.asked()?;
    patience::wait(py, &Arc::clone(&asked.session), move |_| {
        let experiment = asked.open()?;
        let axes = experiment.axes.iter().map(|axis| (axis.path.clone(), json!(axis.values)));
        Ok(json!({
            "name": experiment.name,
            "about": experiment.about,
            "policies": experiment.policies,
            "apps": experiment.apps,
            "swept": axes.collect::<serde_json::Map<_, _>>(),
            "repeat": experiment.repeat,
            "seed": experiment.seed,
            "runs": experiment.runs.len(),
            "size": experiment.size(),
            "cpus": experiment.cpus(),
            "warnings": experiment.warnings,
        })
        .to_string())
    })
}
