//! `advise`, `matrix` and `why`: from scenarios to decisions. Each returns its answer in all its forms.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use decide::advise::Effort;
use decide::advise::levers::{Allowed, Kind};
use decide::matrix::{Changes, Effort as Replicates, FORMATS, File, Matrix, Programs};
use decide::trial::{Means, Subject};
use decide::typed::Dialect;
use decide::why::{explain, of_files, of_policies, of_values};
use experiment::export::{Exported, View};
use notation::diagnostics::Problems;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use scenario::{Overrides, examine};

use crate::errors::Failure;
use crate::patience;
use crate::source::{Asked, Request};

/// Columns of the texts.
const WIDTH: usize = 100;

/// The forms of an answer by name, and what the user should know besides.
pub(crate) type Forms = (BTreeMap<&'static str, String>, Vec<String>);

/// What is searched, in the words of the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Search {
    allow: Vec<String>,
    programs: Vec<String>,
    /// `path=a,b,c` each.
    vary: Vec<String>,
    as_stated: bool,
    objective: Option<String>,
    runs: Option<u32>,
    draws: u32,
    syntax: Vec<String>,
}

/// How programs run together.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Together {
    pub(crate) only: Vec<String>,
    pub(crate) at_a_time: usize,
    /// Half-width of the intervals as a part of the mean.
    narrow: f64,
    /// Most replicates, where their number is not given.
    most: u32,
}

/// Something by its name in a list.
fn named<T: Copy>(name: &str, what: &str, all: &[(T, &'static str)]) -> PyResult<T> {
    let found = all.iter().find(|(_, known)| *known == name);
    found.map(|(one, _)| *one).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|(_, name)| *name).collect();
        PyValueError::new_err(format!("{what}: no `{name}`: use {}", known.join(", ")))
    })
}

pub(crate) fn means<'a>(asked: &Asked, stop: &'a AtomicBool) -> Means<'a> {
    Means { jobs: asked.jobs.unwrap_or(0), progress: &|| (), stop }
}

/// What is written as a text.
pub(crate) fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<String, Failure> {
    let mut out = Vec::new();
    write(&mut out).map_err(Failure::refused)?;
    String::from_utf8(out).map_err(Failure::refused)
}

/// Searches what a user can set for a scenario.
#[pyfunction]
pub(crate) fn advise(py: Python<'_>, request: Request<'_>, search: Search) -> PyResult<Forms> {
    let kinds = search.allow.iter().map(|name| named(name, "allow", &Kind::NAMES));
    let kinds = kinds.collect::<PyResult<Vec<Kind>>>()?;
    let known = Dialect::ALL.map(|one| (one, one.name()));
    let syntax = search.syntax.iter().map(|name| named(name, "syntax", &known));
    let syntax = syntax.collect::<PyResult<Vec<Dialect>>>()?;
    let allowed = Allowed { kinds, apps: search.programs, vary: search.vary, as_stated: search.as_stated };
    let mut asked = request.asked()?;
    asked.overrides.objective = search.objective;
    asked.overrides.without_sweep = true;
    let replicates = asked.overrides.repeat.unwrap_or(1);
    let effort = Effort::asked(search.runs, replicates, search.draws);
    patience::wait(py, &Arc::clone(&asked.session), move |stop| {
        // Says where the scenario is wrong.
        let warnings = asked.open()?.warnings;
        let (name, content) = asked.read()?;
        let base = asked.overrides.clone();
        let subject = Subject { policies: asked.session.registry(), name: &name, text: &content, base };
        let advised = decide::advise::advise(&subject, &allowed, effort, means(&asked, stop))?;
        // A command that names the scenario alone would run it without the changes.
        let changed = !asked.overrides.set.is_empty() || !asked.overrides.policies.is_empty();
        let called = asked.subject.as_deref().filter(|_| !changed);
        let answer = advised.answer(called, advised.typed(&syntax));
        let forms = [
            ("text", text(|out| answer.write_text(out, WIDTH))?),
            ("json", text(|out| answer.write_json(out))?),
            ("markdown", text(|out| answer.write_markdown(out))?),
        ];
        Ok((forms.into(), warnings))
    })
}

/// Runs programs each with each. The first request has the changes of all.
#[pyfunction]
pub(crate) fn matrix(
    py: Python<'_>,
    request: Request<'_>,
    others: Vec<Request<'_>>,
    together: Together,
) -> PyResult<Forms> {
    let asked = request.asked()?;
    let others = others.into_iter().map(|other| Ok(other.asked()?.changed_as(&asked)));
    let others = others.collect::<PyResult<Vec<Asked>>>()?;
    patience::wait(py, &Arc::clone(&asked.session), move |stop| {
        let files = files(&asked, &others)?;
        let changes = changes(&asked, together.only.clone());
        let policies = asked.session.registry();
        let programs =
            Programs::read(policies, &files, &changes).map_err(|why| misread(&asked, &files, why))?;
        let (effort, means) = (effort(&asked, &together), means(&asked, stop));
        let found = decide::matrix::matrix((&programs, policies), together.at_a_time, effort, means)?;
        let form = |form: &Exported<Matrix>| {
            Ok((form.form().name, text(|out| form.write(&found, out, &View::FILE))?))
        };
        let forms = FORMATS.iter().map(form).collect::<Result<_, Failure>>()?;
        Ok((forms, programs.warnings))
    })
}

/// The scenarios with the names by which messages call them.
pub(crate) fn files(first: &Asked, others: &[Asked]) -> Result<Vec<File>, Failure> {
    let several = !others.is_empty();
    let mut files = Vec::new();
    for (at, one) in [first].into_iter().chain(others).enumerate() {
        let (name, text) = one.read()?;
        let name = if several && one.subject.is_none() { format!("scenario {}", at + 1) } else { name };
        files.push(File { name, text });
    }
    Ok(files)
}

/// What is changed in all scenarios.
pub(crate) fn changes(asked: &Asked, only: Vec<String>) -> Changes {
    Changes {
        machine: None,
        policy: asked.overrides.policies.first().cloned(),
        set: asked.overrides.set.clone(),
        only,
        seed: asked.overrides.seed,
        limit: asked.overrides.limit.clone(),
    }
}

/// How many replicates each group gets.
pub(crate) fn effort(asked: &Asked, together: &Together) -> Replicates {
    let narrow = together.narrow;
    match asked.overrides.repeat {
        Some(count) => Replicates { least: count, most: count, narrow },
        None => Replicates { most: together.most, narrow, ..Replicates::default() },
    }
}

/// A refusal of scenarios with the places of its diagnostics, if that is what it is.
pub(crate) fn misread(asked: &Asked, files: &[File], why: String) -> Failure {
    let plain = Overrides {
        set: Vec::new(),
        sweep: Vec::new(),
        objective: Some("makespan".to_owned()),
        repeat: Some(1),
        without_sweep: true,
        warn: false,
        ..asked.overrides.clone()
    };
    let changed = Overrides { set: asked.overrides.set.clone(), ..plain.clone() };
    let tried = files.iter().flat_map(|file| [(file, &changed), (file, &plain)]);
    let problems = tried.filter_map(|(file, overrides)| {
        examine(asked.session.registry(), &file.name, &file.text, overrides).err()
    });
    let same = |problems: &Problems| problems.to_string().trim_end() == why.trim_end();
    match problems.into_iter().find(same) {
        Some(problems) => problems.into(),
        None => Failure::Refused(why),
    }
}

/// Explains the difference between two scenarios, two policies of one, or two values of a path.
#[pyfunction]
#[pyo3(signature = (request, second, vary, objective))]
pub(crate) fn why(
    py: Python<'_>,
    request: Request<'_>,
    second: Option<Request<'_>>,
    vary: Option<String>,
    objective: Option<String>,
) -> PyResult<Forms> {
    let mut asked = request.asked()?;
    asked.overrides.objective = objective;
    asked.overrides.without_sweep = true;
    asked.overrides.warn = false;
    let second = second.map(|second| Ok::<_, PyErr>(second.asked()?.changed_as(&asked))).transpose()?;
    patience::wait(py, &Arc::clone(&asked.session), move |stop| {
        // Says where a scenario is wrong.
        for one in [Some(&asked), second.as_ref()].into_iter().flatten() {
            one.open()?;
        }
        let (name, content) = asked.read()?;
        let other = second.as_ref().map(Asked::read).transpose()?;
        let named = &asked.overrides.policies;
        // Of a scenario that is compared with itself, the policies are the sides.
        let sides = other.is_none() && vary.is_none();
        let policies = if sides { Vec::new() } else { named.clone() };
        let base = Overrides { policies, ..asked.overrides.clone() };
        let subject = Subject { policies: asked.session.registry(), name: &name, text: &content, base };
        let pair = match (&vary, &other, &named[..]) {
            (Some(vary), ..) => of_values(&subject, None, vary).map_err(Failure::Refused)?,
            (None, Some((name, text)), _) => of_files(&subject, &Subject { name, text, ..subject.clone() }),
            (None, None, [a, b]) => of_policies(&subject, [a, b]),
            (None, None, _) => return Err(Failure::refused("a difference has two sides")),
        };
        let replicates = asked.overrides.repeat.unwrap_or(2);
        let answer = explain(&pair, replicates, means(&asked, stop))?;
        let forms = [
            ("text", decide::why::text(&answer, WIDTH)),
            ("json", decide::why::json(&answer)),
            ("markdown", decide::why::markdown(&answer)),
        ];
        Ok((forms.into(), Vec::new()))
    })
}
