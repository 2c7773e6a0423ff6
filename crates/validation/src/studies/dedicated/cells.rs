//! The cells of one program alone: codes, classes and degrees that can be run, and what is read off their
//! runs.

use crate::answer::{Series, Trouble};
use crate::claims::Claim;
use crate::fields;
use crate::lab::{Cell, Lab};

/// The codes of the paper's figures.
const CODES: [&str; 6] = ["ep", "ft", "is", "sp", "mg", "cg"];
/// Degrees of its figures besides one task per core.
const DEGREES: [u32; 3] = [2, 4, 8];
/// Hardware contexts of its three machines, its "cores": Nehalem's 16 hardware threads among them.
const CORES: u32 = 16;

/// A program on a machine in a programming model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Subject {
    pub(super) machine: String,
    pub(super) model: String,
    pub(super) code: String,
    pub(super) class: char,
    pub(super) yields: &'static str,
    pub(super) policy: &'static str,
}

impl Subject {
    /// The cell with so many tasks per core.
    pub(super) fn cell(&self, degree: u32, quick: bool) -> Cell {
        Cell::new("dedicated", self.policy)
            .set("machine", &self.machine)
            .set("kernel.yield", self.yields)
            .set("apps.a.runtime", &self.model)
            .set("apps.a.workload.benchmark", &self.code)
            .set("apps.a.workload.class", self.class)
            .set("apps.a.workload.scale", self.scale(quick))
            .set("apps.a.tasks", CORES * degree)
    }

    /// Share of the run that is simulated: about a second of simulated time at least, in which the slices of
    /// the start are forgotten. ep, which costs nothing to simulate, is run in full: its one interval must
    /// not be cut. A quick look takes one iteration.
    fn scale(&self, quick: bool) -> &'static str {
        match (self.code.as_str(), self.class) {
            ("ep", _) => "100%",
            _ if quick => "0.1%",
            (_, 'S' | 'W') => "100%",
            (_, 'A') => "15%",
            (_, 'B') => "3%",
            _ => "1%",
        }
    }

    /// Whether the code runs with so many tasks per core: sp and bt need a square number of tasks in UPC and
    /// MPI.
    pub(super) fn runs(&self, degree: u32) -> bool {
        let tasks = CORES * degree;
        let square = tasks.isqrt().pow(2) == tasks;
        square || self.model == "openmp" || !matches!(self.code.as_str(), "sp" | "bt")
    }

    /// Name in reports.
    pub(super) fn name(&self, degree: u32) -> String {
        format!("{} {} {}.{} {degree}/core", self.machine, self.model, self.code, self.class)
    }

    /// Run times of the timed section by replicate, in seconds.
    pub(super) fn times(&self, lab: &mut Lab, degree: u32) -> Result<Series, Trouble> {
        let cell = self.cell(degree, lab.is_quick());
        lab.times(&cell, "a")
    }

    /// T(1 per core) over T(so many per core): above 1, oversubscription helps.
    pub(super) fn relative(&self, lab: &mut Lab, degree: u32) -> Result<Series, Trouble> {
        let one = self.times(lab, 1)?.mean();
        Ok(self.times(lab, degree)?.map(|time| one / time))
    }

    /// Mean time between two synchronisations (barriers, and exchanges where a model has them) with one task
    /// per core, in ms.
    pub(super) fn interval(&self, lab: &mut Lab) -> Result<f64, Trouble> {
        let cell = self.cell(1, lab.is_quick());
        let of = lab.of_app(&cell, "a", |sample| sample.timed / sample.barriers.max(1.0))?;
        let exchanges = workloads::npb::exchanges(&self.code, &self.class.to_string(), &self.model, CORES);
        Ok(of.mean() * 1e3 / f64::from(1 + exchanges.map_err(Trouble::Uncovered)?))
    }

    /// User time of the least over the most busy cpu.
    pub(super) fn balance(&self, lab: &mut Lab, degree: u32) -> Result<Series, Trouble> {
        let cell = self.cell(degree, lab.is_quick());
        lab.of_run(&cell, |run| {
            let most = run.user.iter().copied().fold(0.0, f64::max);
            run.user.iter().copied().fold(most, f64::min) / most
        })
    }

    /// Bytes fetched from memory for the same work.
    pub(super) fn misses(&self, lab: &mut Lab, degree: u32) -> Result<Series, Trouble> {
        let cell = self.cell(degree, lab.is_quick());
        lab.of_app(&cell, "a", |sample| sample.bytes_per_work)
    }
}

/// The degrees a claim compares with one task per core.
pub(super) fn degrees(claim: &Claim) -> Vec<u32> {
    let mut named = fields::per_core(claim);
    named.retain(|k| *k > 1);
    if named.is_empty() { DEGREES.to_vec() } else { named }
}

/// Codes with their classes.
fn codes(claim: &Claim) -> Vec<(String, char)> {
    let mut named = fields::codes(&claim.workload);
    if named.is_empty() {
        named = CODES.iter().map(|code| ((*code).to_owned(), None)).collect();
    }
    let classes = fields::classes(claim);
    let of = |(code, class): &(String, Option<char>)| -> Vec<(String, char)> {
        class
            .map_or_else(|| classes.clone(), |class| vec![class])
            .into_iter()
            .map(|c| (code.clone(), c))
            .collect()
    };
    named.iter().flat_map(of).collect()
}

/// The policy of the measured runs: LOAD where the claim says so, else pinned.
fn policy(claim: &Claim) -> &'static str {
    if claim.policy.contains("LOAD") { "LOAD" } else { "PIN" }
}

/// The subjects on one machine in one model.
pub(super) fn of(claim: &Claim, machine: &str, model: &str) -> Vec<Subject> {
    let mut all = Vec::new();
    for yields in fields::yields(claim) {
        for (code, class) in codes(claim) {
            let (machine, model) = (machine.to_owned(), model.to_owned());
            all.push(Subject { machine, model, code, class, yields, policy: policy(claim) });
        }
    }
    all
}

/// All subjects a claim speaks of.
pub(super) fn all(claim: &Claim) -> Vec<Subject> {
    let mut all = Vec::new();
    for machine in fields::machines(claim) {
        for model in fields::models(claim) {
            all.extend(of(claim, &machine, &model));
        }
    }
    all
}

/// Subjects and degrees that can be run.
pub(super) fn runs(subjects: &[Subject], degrees: &[u32]) -> Vec<(Subject, u32)> {
    let each = |subject: &Subject| -> Vec<(Subject, u32)> {
        degrees.iter().filter(|k| subject.runs(**k)).map(|k| (subject.clone(), *k)).collect()
    };
    subjects.iter().flat_map(each).collect()
}
