//! `advise_wait`, `advise_pod`, `advise_share` and `advise_pools`: questions of one shape. Each returns its
//! answer in all its forms.

use std::sync::Arc;

use decide::matrix::Programs;
use decide::shapes::{Form, pod, pools, share, wait};
use decide::trial::Means;
use experiment::export::{Exported, View};
use explain::machine_view::{self, Refusal};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::decisions::{Forms, Together, changes, effort, files, means, misread, text};
use crate::errors::Failure;
use crate::patience;
use crate::policy::Session;
use crate::source::{Asked, Request};

/// On what, and how often, in the words of the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Ground {
    machine: String,
    kernel: String,
    /// Seeds of each cell.
    repeat: u32,
    seed: u64,
    jobs: Option<usize>,
}

/// How threads wait.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Waits {
    region: Vec<String>,
    threads: Vec<u32>,
    between: String,
    spread: u32,
    runtime: String,
    load: Vec<String>,
}

/// A pod and its requests.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Pod {
    /// Name and text of a file.
    file: Option<(String, String)>,
    container: Option<String>,
    arrivals: String,
    service: String,
    parallel: u32,
    request: Option<String>,
    limit: Option<String>,
    period: String,
    burst: Vec<String>,
    gomaxprocs: Option<String>,
    beside: Option<String>,
    limits: Vec<String>,
    target: Option<String>,
}

/// Workers with threads of their own.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Pools {
    outer: Vec<u32>,
    inner: Vec<u32>,
    work: String,
    region: String,
    /// How often the threads of a region meet.
    meetings: u32,
    serial: u32,
    spread: u32,
    runtime: String,
    cpus: Option<String>,
}

/// What of a value is wrong.
fn refused(what: &'static str) -> impl Fn(String) -> PyErr {
    move |why| PyValueError::new_err(format!("{what}: {why}"))
}

/// All of some values.
fn each<T>(
    what: &'static str,
    texts: &[String],
    read: impl Fn(&str) -> Result<T, String>,
) -> PyResult<Vec<T>> {
    texts.iter().map(|text| read(text).map_err(refused(what))).collect()
}

/// A value, if there is one.
fn perhaps<T>(
    what: &'static str,
    text: Option<&String>,
    read: impl Fn(&str) -> Result<T, String>,
) -> PyResult<Option<T>> {
    text.map(|text| read(text).map_err(refused(what))).transpose()
}

/// The machine and the kernel, if there are such.
fn known(ground: &Ground) -> Result<(), Failure> {
    let why = match machine_view::show(&ground.machine, Some(&ground.kernel)) {
        Ok(_) => return Ok(()),
        Err(Refusal::Sentence(why) | Refusal::Rendered(why)) => why,
    };
    Err(Failure::Refused(why))
}

/// An answer in all its forms.
fn forms(written: impl Fn(Form) -> String, remarks: Vec<String>) -> Forms {
    let all = [("text", Form::Text), ("json", Form::Json), ("markdown", Form::Markdown)];
    (all.map(|(name, form)| (name, written(form))).into(), remarks)
}

/// Which setting of a runtime to wait with.
#[pyfunction]
pub(crate) fn advise_wait(py: Python<'_>, asked: Waits, ground: Ground) -> PyResult<Forms> {
    let question = wait::Question {
        machine: ground.machine.clone(),
        kernel: ground.kernel.clone(),
        runtime: asked.runtime,
        regions: each("region", &asked.region, wait::work)?,
        threads: asked.threads,
        between: wait::gap(&asked.between).map_err(refused("between"))?,
        spread: asked.spread,
        loads: each("load", &asked.load, wait::load)?,
        seeds: ground.repeat,
        seed: ground.seed,
    };
    let session = Arc::new(Session::new(&[])?);
    patience::wait(py, &Arc::clone(&session), move |stop| {
        known(&ground)?;
        let means = Means { jobs: ground.jobs.unwrap_or(0), progress: &|| (), stop };
        let answer = wait::ask(&question, session.registry(), means)?;
        Ok(forms(|form| answer.written(form), Vec::new()))
    })
}

/// Which limit a pod needs.
#[pyfunction]
pub(crate) fn advise_pod(py: Python<'_>, asked: Pod, ground: Ground) -> PyResult<Forms> {
    let read = match &asked.file {
        Some((name, text)) => {
            pod::read(name, text, asked.container.as_deref()).map_err(|why| Failure::from(why).raise(py))?
        }
        None => {
            pod::Read { name: "pod".into(), limit: None, request: None, procs: None, remarks: Vec::new() }
        }
    };
    let limit = perhaps("limit", asked.limit.as_ref(), pod::cpus)?.or(read.limit);
    let request = perhaps("request", asked.request.as_ref(), pod::cpus)?.or(read.request);
    if let (Some(limit), Some(request)) = (limit, request)
        && request > limit
    {
        let why = format!("a request of {request}m is above the limit of {limit}m: Kubernetes refuses it");
        return Err(PyValueError::new_err(why));
    }
    let mut limits = each("limits", &asked.limits, pod::cpus)?;
    limits.extend(limit);
    limits.sort_unstable();
    limits.dedup();
    let question = pod::Question {
        name: read.name,
        machine: ground.machine.clone(),
        kernel: ground.kernel.clone(),
        rate: pod::rate(&asked.arrivals).map_err(refused("arrivals"))?,
        service: pod::service(&asked.service).map_err(refused("service"))?,
        parallel: asked.parallel,
        request,
        limit,
        period: pod::period(&asked.period).map_err(refused("period"))?,
        bursts: each("burst", &asked.burst, pod::burst)?,
        procs: perhaps("gomaxprocs", asked.gomaxprocs.as_ref(), pod::procs)?
            .or(read.procs)
            .unwrap_or(pod::Procs::Limit),
        beside: perhaps("beside", asked.beside.as_ref(), pod::cpus)?.unwrap_or(0),
        limits,
        target: perhaps("target", asked.target.as_ref(), pod::target)?,
        seeds: ground.repeat,
        seed: ground.seed,
    };
    let (session, remarks) = (Arc::new(Session::new(&[])?), read.remarks);
    patience::wait(py, &Arc::clone(&session), move |stop| {
        known(&ground)?;
        let means = Means { jobs: ground.jobs.unwrap_or(0), progress: &|| (), stop };
        let answer = pod::ask(&question, session.registry(), means)?;
        Ok(forms(|form| answer.written(form), remarks))
    })
}

/// How many workers with how many threads each.
#[pyfunction]
pub(crate) fn advise_pools(py: Python<'_>, asked: Pools, ground: Ground) -> PyResult<Forms> {
    let question = pools::Question {
        machine: ground.machine.clone(),
        kernel: ground.kernel.clone(),
        runtime: asked.runtime,
        outer: asked.outer,
        inner: asked.inner,
        work: pools::work(&asked.work).map_err(refused("work"))?,
        region: wait::work(&asked.region).map_err(refused("region"))?,
        meetings: asked.meetings,
        serial: asked.serial,
        spread: asked.spread,
        quota: perhaps("cpus", asked.cpus.as_ref(), pod::cpus)?,
        seeds: ground.repeat,
        seed: ground.seed,
    };
    let session = Arc::new(Session::new(&[])?);
    patience::wait(py, &Arc::clone(&session), move |stop| {
        known(&ground)?;
        let means = Means { jobs: ground.jobs.unwrap_or(0), progress: &|| (), stop };
        let answer = pools::ask(&question, session.registry(), means)?;
        Ok(forms(|form| answer.written(form), Vec::new()))
    })
}

/// Whether jobs may share a node. `mix`: how often programs run, as `cg=3,ft=1`; `logs`: names and texts of
/// logs of `sacct`, whose jobs say it.
#[pyfunction]
#[pyo3(signature = (request, others, together, mix, logs))]
pub(crate) fn advise_share(
    py: Python<'_>,
    request: Request<'_>,
    others: Vec<Request<'_>>,
    together: Together,
    mix: Option<String>,
    logs: Vec<(String, String)>,
) -> PyResult<Forms> {
    let asked = request.asked()?;
    let others = others.into_iter().map(|other| Ok(other.asked()?.changed_as(&asked)));
    let others = others.collect::<PyResult<Vec<Asked>>>()?;
    patience::wait(py, &Arc::clone(&asked.session), move |stop| {
        let files = files(&asked, &others)?;
        let policies = asked.session.registry();
        let read = |only: &[String]| {
            let changes = changes(&asked, only.to_vec());
            Programs::read(policies, &files, &changes).map_err(|why| misread(&asked, &files, why))
        };
        let logs = logs.iter().map(|(name, text)| share::Log::read(name, text));
        let logs = logs.collect::<Result<Vec<_>, _>>().map_err(Failure::Refused)?;
        let mix = match mix {
            Some(text) => share::Mix::parse(&text).map_err(Failure::Refused)?,
            None if logs.is_empty() => share::Mix::even(),
            None => {
                let names = read(&together.only)?.programs.into_iter().map(|program| program.name);
                share::Log::mix(&logs, &names.collect::<Vec<_>>()).map_err(Failure::Refused)?
            }
        };
        let named = mix.names();
        let programs = read(if named.is_empty() { &together.only } else { &named })?;
        let (effort, means) = (effort(&asked, &together), means(&asked, stop));
        let answer = share::advise((&programs, policies), &mix, together.at_a_time, effort, means)?;
        let form = |form: &Exported<share::Advice>| {
            Ok((form.form().name, text(|out| form.write(&answer, out, &View::FILE))?))
        };
        let forms = share::FORMATS.iter().map(form).collect::<Result<_, Failure>>()?;
        Ok((forms, programs.warnings))
    })
}
