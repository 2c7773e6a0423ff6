//! Answers to a page: JSON text for a scenario and a request.

use experiment::report::{self, View};
use experiment::result::Results;
use experiment::run;
use experiment::size::Size;
use experiment::statements::causes::{Pair, causes};
use experiment::statements::{Extremes, Table, answer, doubts};
use explain::{Kind, find, pages};
use policies::PolicyRegistry;
use scenario::built_in::BUILT_IN;
use scenario::plan::Experiment;
use scenario::{examine, settable};
use serde_json::{Map, Value, json};

use crate::panels;
use crate::request::{Request, limit};
use crate::words::without_flags;

/// Columns of the text unless the request gives them.
const WIDTH: usize = 100;

/// Parameters of kernels that set the length of time slices, each of some kernels. CFS divides its latency
/// among the queue.
const SLICES: [&str; 3] = ["slice", "timeslice", "latency"];

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
                "message": without_flags(&problem.message),
                "help": without_flags(&problem.hint),
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
        "slice": first.and_then(|run| slice(&run.kernel.name)),
        "cpus": experiment.cpus(),
        "machine": first.map_or("", |run| run.machine.name.as_str()),
        "size": experiment.size(),
        "settable": paths.iter().map(|path| path.path.as_str()).collect::<Vec<_>>(),
        "words": words,
        "repeat": experiment.repeat,
        "seed": experiment.seed,
    })
}

/// The path of the time slice of a kernel, if it has one.
fn slice(kernel: &str) -> Option<String> {
    let entry = kernels::KERNELS.entries.iter().find(|entry| entry.name == kernel)?;
    let has = |name: &&&str| entry.parameters.iter().any(|parameter| parameter.name == **name);
    SLICES.iter().find(has).map(|name| format!("kernel.{name}"))
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
    let shown = || panels::timeline(experiment, &results, request.show);
    let timeline = if request.timeline { shown() } else { Ok(Value::Null) };
    let (timeline, why) = match timeline {
        Ok(timeline) => (timeline, Value::Null),
        Err(why) => (Value::Null, Value::String(why)),
    };
    Ok(json!({
        "ok": true,
        "text": text,
        "said": said(&results),
        "goal": Extremes::of(&Table::of(&results)).map(|extremes| extremes.goal.metric),
        "csv": written(&results, "csv", &View::FILE)?,
        "digest": results.provenance.digest,
        "completed": results.all_completed(),
        "warnings": experiment.warnings,
        "result": result,
        "timeline": timeline,
        "no_timeline": why,
    }))
}

/// The answer in sentences, as `[label, sentences]`: the statements, what makes the difference, the doubts.
fn said(results: &Results) -> Value {
    let table = Table::of(results);
    let Some(extremes) = Extremes::of(&table) else {
        return json!([["Answer", answer::nothing(results)]]);
    };
    let mut said: Vec<(&str, String)> = Vec::new();
    for statement in answer::said(&table, &extremes) {
        said.push((statement.label, statement.text));
    }
    let why = causes(&table, &Pair::of(&table, &extremes)).map(|causes| causes.text);
    said.extend(why.filter(|text| !text.is_empty()).map(|text| ("Why", text)));
    said.extend(doubts::doubts(&table, Some(&extremes)).into_iter().map(|text| ("Doubt", text)));
    let said = said.into_iter().map(|(label, text)| json!([label, without_flags(&text)]));
    Value::Array(said.collect())
}

/// What a name or a term means: `{"ok": true, "pages": [...]}`, the pages as those of
/// `oversim explain --format json`, or `{"ok": false, "why": ...}`.
#[must_use]
pub fn explained(name: &str) -> String {
    match find(name) {
        Ok(pages) => json!({"ok": true, "pages": pages}).to_string(),
        Err(why) => json!({"ok": false, "why": why}).to_string(),
    }
}

/// The names that a page shows, as `{"policy": [[name, summary], ...], ...}`.
#[must_use]
pub fn names() -> String {
    let kinds = [Kind::Policy, Kind::Kernel, Kind::Metric, Kind::Reference, Kind::Term];
    let lists = kinds.map(|kind| {
        let all = pages(kind).into_iter().map(|page| json!([page.name, page.summary]));
        (kind.name().to_owned(), Value::Array(all.collect()))
    });
    Value::Object(lists.into_iter().collect()).to_string()
}

/// The timeline as SVG; empty if the scenario is wrong or has no timeline.
#[must_use]
pub fn picture(text: &str, request: &str) -> String {
    let drawn = || -> Option<String> {
        let request = Request::read(request).ok()?;
        let experiment = open(text, &request).ok()?;
        let results = run::run(&experiment, 1, &|_, _| ()).ok()?;
        panels::picture(&experiment, &results, request.show).ok()
    };
    drawn().unwrap_or_default()
}

/// The decisions of the run and the window that the request names, as `{"ok": true, "steps": {...}}`, or what
/// is wrong as `{"ok": false, "why": ...}`.
#[must_use]
pub fn steps(text: &str, request: &str) -> String {
    let found = || -> Result<Value, String> {
        let request = Request::read(request)?;
        let experiment = open(text, &request).map_err(|_| "The scenario has an error.".to_owned())?;
        panels::steps(&experiment, request.run.unwrap_or_default(), request.window)
    };
    match found() {
        Ok(steps) => json!({"ok": true, "steps": steps}).to_string(),
        Err(why) => json!({"ok": false, "why": without_flags(&why)}).to_string(),
    }
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
