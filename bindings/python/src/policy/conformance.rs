//! For the tests of the package: the conformance suite of policies over a Python class, and single runs.

use std::sync::Arc;

use notation::parameter::Values;
use policies::{Choice, Level, Perturbation, PolicyRegistry};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use testkit::contract::{self, SHAPES, WAITS};
use testkit::scenarios::Small;
use testkit::trial::Trial;

use crate::patience;
use crate::source::{Asked, Request};

use super::Session;

#[path = "../../../../examples/out-of-tree-policy/src/lib.rs"]
mod steal;

/// How decisions come late or never: delay in nanoseconds and share of refusals in hundredths of a per cent.
const DISTURBED: [(u64, u64); 4] = [(0, 2_000), (3_000_000, 0), (3_000_000, 5_000), (200_000, 10_000)];

/// A case: the policy, the kernel, the shape of the machine and the way of waiting.
struct Case {
    choice: Choice,
    kernel: &'static str,
    shape: &'static str,
    wait: usize,
}

impl Case {
    fn small(&self, seed: u64) -> Result<Small, String> {
        let machine = machines::resolve(self.shape).map_err(|e| e.to_string())?.machine();
        let kernel = kernels::KERNELS.resolve(self.kernel).map_err(|e| e.to_string())?;
        let model = kernels::build(kernel, &Values::defaults(kernel.parameters), machine.cpus());
        contract::scenario(machine, model, WAITS[self.wait].1, seed)
    }

    fn run(&self, seed: u64) -> Result<Trial, String> {
        let small = self.small(seed)?;
        let mut policy = self.choice.build(&small.machine, &small.model, &small.apps);
        contract::trial(&small, policy.as_mut())
    }

    /// What is wrong: with the run, and with its repetition where tasks yield.
    fn check(&self) -> Vec<String> {
        let found = self.run(1).and_then(|one| {
            let mut found = one.found;
            let silent = one.reasons.silent;
            found.extend((!silent.is_empty()).then(|| format!("decisions without a reason: {silent:?}")));
            if WAITS[self.wait].0 == "yield" {
                let (again, other) = (self.run(1)?.report, self.run(2)?.report);
                let digest = one.report.digest;
                found.extend((again != one.report).then(|| "the same seed gives another run".to_owned()));
                found.extend((other.digest == digest).then(|| "another seed gives the same run".to_owned()));
            }
            Ok(found)
        });
        let label = format!("under {}, waiting by {}, on {}", self.kernel, WAITS[self.wait].0, self.shape);
        let found = found.unwrap_or_else(|refused| vec![refused]);
        found.into_iter().map(|what| format!("{} {label}: {what}", self.choice.entry.name)).collect()
    }
}

/// All cases of a class: alone on everything, disturbed, and above or below every built-in policy.
fn cases(choice: &Choice) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    // A variation of a kernel differs in rules that no policy sees.
    for kernel in kernels::KERNELS.entries.iter().filter(|kernel| kernel.own.base.is_none()).map(|k| k.name) {
        for (wait, shape) in (0..WAITS.len()).flat_map(|wait| SHAPES.map(|shape| (wait, shape))) {
            cases.push(Case { choice: choice.clone(), kernel, shape, wait });
        }
    }
    let simple = |choice| Case { choice, kernel: "linux-2.6.28", shape: SHAPES[1], wait: 2 };
    for (delay, veto) in DISTURBED {
        let mut perturb = Values::defaults(Perturbation::TABLE);
        for (name, value) in [("delay", delay), ("jitter", delay), ("veto", veto)] {
            perturb.set(name, value)?;
        }
        cases.push(simple(Choice { perturb: Some(perturb), ..choice.clone() }));
    }
    for other in PolicyRegistry::default().entries() {
        let other = Choice::new(other);
        let (upper, lower) = match (choice.entry.level, other.entry.level) {
            (Level::UserLevel, Level::InKernel) => (choice.clone(), other),
            (Level::InKernel, Level::UserLevel) => (other, choice.clone()),
            _ => continue,
        };
        cases.push(simple(Choice { over: Some(Box::new(lower)), ..upper }));
    }
    Ok(cases)
}

/// What is wrong with a policy, in words, and the number of cases tried.
#[pyfunction]
pub(crate) fn conformance(py: Python<'_>, class: Bound<'_, PyAny>) -> PyResult<(usize, Vec<String>)> {
    let session = Session::new(std::slice::from_ref(&class))?;
    let Some(entry) = session.registry().entries().last() else {
        return Err(PyValueError::new_err("no policy"));
    };
    let cases = cases(&Choice::new(entry)).map_err(PyValueError::new_err)?;
    patience::wait(py, &session, move |_| Ok((cases.len(), cases.iter().flat_map(Case::check).collect())))
}

/// As `runs` with the policy STEAL of `examples/out-of-tree-policy`, in Rust.
#[pyfunction]
pub(crate) fn steal_runs(py: Python<'_>, request: Request<'_>) -> PyResult<Vec<Run>> {
    let registry = PolicyRegistry::with(&[&steal::ENTRY]).map_err(PyValueError::new_err)?;
    rows(py, request.asked()?, move |_| registry)
}

/// One run as [`runs`] shows it: label of the policy, replicate, digest, makespan in nanoseconds,
/// corrections.
type Run = (String, u32, String, u64, u64);

/// Runs a scenario without its sweep; one row for each run of a policy.
#[pyfunction]
pub(crate) fn runs(py: Python<'_>, request: Request<'_>) -> PyResult<Vec<Run>> {
    let asked = request.asked()?;
    rows(py, asked, PolicyRegistry::clone)
}

/// The rows of a scenario with the policies that `registry` makes of those of the session.
fn rows(
    py: Python<'_>,
    mut asked: Asked,
    registry: impl FnOnce(&PolicyRegistry) -> PolicyRegistry + Send + 'static,
) -> PyResult<Vec<Run>> {
    asked.overrides.without_sweep = true;
    patience::wait(py, &Arc::clone(&asked.session), move |_| {
        let (name, text) = asked.read()?;
        let experiment =
            scenario::examine(&registry(asked.session.registry()), &name, &text, &asked.overrides)?;
        let reports = experiment::run::simulate(&experiment, asked.jobs.unwrap_or(1), &|_, _| ())?;
        let shown = experiment.runs.iter().zip(reports).filter_map(|(plan, report)| {
            let label = experiment.policies.get(plan.policy)?.clone();
            let digest = format!("{:016x}", report.digest);
            Some((label, plan.replicate, digest, report.makespan.ns(), report.corrections))
        });
        Ok(shown.collect())
    })
}
