//! Answers to a page: JSON text for a scenario and a request.

use experiment::report::{self, View};
use experiment::result::Results;
use experiment::run;
use experiment::size::Size;
use policies::PolicyRegistry;
use scenario::built_in::BUILT_IN;
use scenario::plan::Experiment;
use scenario::{examine, settable};
use serde_json::{Map, Value, json};

use crate::panels;
use crate::request::{Request, limit};

/// Columns of the text unless the request gives them.
const WIDTH: usize = 100;

/// The built-in scenarios: name, file, text and question of each.
#[must_use]
pub fn scenarios() -> String {
    let all = BUILT_IN.iter().map(|scenario| {
        json!({
            "name": scenario.name,
            "path": scenario.path,
            "text": scenario.text,
            "question": scenario.about(),
        })
    });
    Value::Array(all.collect()).to_string()
}

/// The JSON Schema of scenarios.
#[must_use]
pub fn schema() -> String {
    scenario::schema::schema().to_string()
}

/// What a scenario contains and what can be set in it, or what is wrong with it.
#[must_use]
pub fn describe(text: &str, request: &str) -> String {
    let answer = Request::read(request)
        .map_err(|why| plain_error(&why))
        .and_then(|request| open(text, &request))
        .map(|experiment| described(&experiment, text));
    answer.unwrap_or_else(|errors| json!({"ok": false, "errors": errors})).to_string()
}

/// The results of a scenario, or what is wrong with it. `progress` receives the finished and all runs.
#[must_use]
pub fn run(text: &str, request: &str, progress: &(dyn Fn(usize, usize) + Sync)) -> String {
    let answer = Request::read(request).map_err(|why| plain_error(&why)).and_then(|request| {
        let experiment = open(text, &request)?;
        simulated(&experiment, &request, progress).map_err(|why| plain_error(&why))
    });
    answer.unwrap_or_else(|errors| json!({"ok": false, "errors": errors})).to_string()
}

/// Reads the scenario and refuses what does not fit into memory.
fn open(text: &str, request: &Request) -> Result<Experiment, Value> {
    let experiment = examine(&PolicyRegistry::default(), request.name(), text, &request.overrides());
    let experiment = experiment.map_err(|problems| {
        let all = problems.located().into_iter().map(|problem| {
            let source = if problem.in_file { Value::Null } else { Value::String(problem.source) };
            json!({
                "source": source,
                "line": problem.start.0,
                "column": problem.start.1,
                "end_line": problem.end.0,
                "end_column": problem.end.1,
                "severity": "error",
                "message": problem.message,
                "help": problem.hint,
            })
        });
        Value::Array(all.collect())
    })?;
    Size::of(&experiment).check(Some(1), &limit()).map_err(|why| plain_error(&why))?;
    Ok(experiment)
}

/// An error of the request or the run as a whole, which has no place in the file.
fn plain_error(why: &str) -> Value {
    json!([{
        "source": "request", "line": 1, "column": 1, "end_line": 1, "end_column": 1,
        "severity": "error", "message": why, "help": "",
    }])
}

fn described(experiment: &Experiment, text: &str) -> Value {
    let policies = PolicyRegistry::default();
    let first = experiment.runs.iter().find(|run| run.alone.is_none());
    let paths = settable(&policies, Some(text), false);
    let words: Map<String, Value> = paths
        .iter()
        .filter(|path| !path.words.is_empty())
        .map(|path| (path.path.clone(), json!(path.words)))
        .collect();
    let swept: Vec<Value> =
        experiment.axes.iter().map(|axis| json!({"path": axis.path, "values": axis.values})).collect();
    json!({
        "ok": true,
        "policies": experiment.policies,
        "all_policies": policies.entries().map(|entry| entry.name).collect::<Vec<_>>(),
        "kernels": kernels::KERNELS.entries.iter().map(|entry| entry.name).collect::<Vec<_>>(),
        "swept": swept,
        "kernel": first.map_or("", |run| run.kernel.name.as_str()),
        "cpus": experiment.cpus(),
        "size": experiment.size(),
        "settable": paths.iter().map(|path| path.path.as_str()).collect::<Vec<_>>(),
        "words": words,
        "repeat": experiment.repeat,
        "seed": experiment.seed,
    })
}

fn simulated(
    experiment: &Experiment,
    request: &Request,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Value, String> {
    let results = run::run(experiment, 1, progress).map_err(|error| error.to_string())?;
    let width = request.width.unwrap_or(WIDTH).clamp(40, 400);
    let text = written(
        &results,
        "text",
        &View { width, colour: false, full: false, subject: Some(request.name()) },
    )?;
    let json = written(&results, "json", &View::FILE)?;
    let result: Value = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    let timeline = if request.timeline { panels::timeline(experiment) } else { Ok(Value::Null) };
    let (timeline, why) = match timeline {
        Ok(timeline) => (timeline, Value::Null),
        Err(why) => (Value::Null, Value::String(why)),
    };
    Ok(json!({
        "ok": true,
        "text": text,
        "digest": results.provenance.digest,
        "completed": results.all_completed(),
        "warnings": experiment.warnings,
        "result": result,
        "timeline": timeline,
        "no_timeline": why,
    }))
}

/// The result as `oversim run --format json` prints it, for comparisons byte by byte; empty if the scenario
/// is wrong.
#[must_use]
pub fn json(text: &str, request: &str) -> String {
    let printed = || -> Option<String> {
        let experiment = open(text, &Request::read(request).ok()?).ok()?;
        let results = run::run(&experiment, 1, &|_, _| ()).ok()?;
        written(&results, "json", &View::FILE).ok()
    };
    printed().unwrap_or_default()
}

/// The results in a form of `oversim run --format`.
fn written(results: &Results, format: &str, view: &View<'_>) -> Result<String, String> {
    let format = report::format(format).ok_or_else(|| format!("no format {format}"))?;
    let mut out = Vec::new();
    format.write(results, &mut out, view).map_err(|error| error.to_string())?;
    String::from_utf8(out).map_err(|error| error.to_string())
}
