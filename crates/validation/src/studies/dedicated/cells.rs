//! The cells of one program alone: codes, classes and degrees that can be run, and what is read off their
//! runs.

use notation::declare::Choice;

use super::super::general::Run;
use super::super::programs::{self, Runtime, at_any_phase, codes, share};
use crate::answer::{Series, Trouble};
use crate::claims::{Code, Conditions, Model, Policy, Yield, label};
use crate::lab::{Cell, Lab};

/// Degrees of the paper's figures besides one task per core.
const DEGREES: [u32; 3] = [2, 4, 8];
/// The most tasks per core of MPI in the paper (Iancu et al., IPDPS 2010, caption of figure 7). It counts
/// where a claim speaks of several programming models.
const MPI_DEGREE: u32 = 4;
/// The machine on which the paper measured the intervals that it calls fine or coarse.
const INTERVALS_OF: &str = "nehalem";

/// A program on a machine in a programming model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Subject {
    pub(super) machine: String,
    pub(super) model: Model,
    pub(super) code: Code,
    pub(super) class: char,
    pub(super) yields: Yield,
    pub(super) policy: Policy,
    runtime: Runtime,
    /// Hardware contexts of the machine, the paper's "cores": Nehalem's 16 hardware threads among them.
    cores: u32,
    /// The most tasks per core.
    pub(super) most: u32,
}

impl Subject {
    /// The cell with so many tasks per core.
    pub(super) fn cell(&self, degree: u32, quick: bool) -> Cell {
        let share = self.share(quick);
        let cell = Cell::new("dedicated", self.policy.word())
            .set("machine", &self.machine)
            .set("kernel.yield", self.yields.word())
            .set("apps.a.runtime", self.runtime.setting())
            .set("apps.a.workload.benchmark", self.code.word())
            .set("apps.a.workload.class", self.class)
            .set("apps.a.workload.scale", format!("{share}%"))
            .set("apps.a.tasks", self.cores * degree);
        if share < 100.0 { at_any_phase(cell, 'a', self.model) } else { cell }
    }

    /// Share of the run that is simulated, per cent: about a second of simulated time at least, in which the
    /// slices of the start are forgotten, and two cycles of yields with OpenMP. ep, which costs nothing to
    /// simulate, is run in full: its one interval must not be cut. A quick look takes one iteration.
    fn share(&self, quick: bool) -> f64 {
        let usual = match (self.code, self.class) {
            (Code::Ep, _) => 100.0,
            _ if quick => return 0.1,
            (_, 'S' | 'W') => 100.0,
            (_, 'A') => 15.0,
            (_, 'B') => 3.0,
            _ => 1.0,
        };
        share(self.model, (self.code, self.class), self.cores, usual)
    }

    /// Whether the code runs with so many tasks per core.
    pub(super) fn runs(&self, degree: u32) -> bool {
        programs::runs(self.code, self.class, self.model, self.cores * degree)
    }

    /// Name in reports.
    pub(super) fn name(&self, degree: u32) -> String {
        let program = label(self.code, self.class);
        format!("{} {} {program} {degree}/core", self.machine, self.model.word())
    }

    /// Run times of the timed section by replicate, in seconds.
    pub(super) fn times(&self, lab: &mut Lab, degree: u32) -> Result<Series, Trouble> {
        let cell = self.cell(degree, lab.is_quick());
        lab.times(&cell, "a")
    }

    /// The run with so many tasks per core, made whole.
    pub(super) fn run(&self, lab: &mut Lab, degree: u32) -> Result<Run, Trouble> {
        let (cell, tasks) = (self.cell(degree, lab.is_quick()), self.cores * degree);
        let program = (self.code, self.class, self.model);
        let factor = programs::whole(program, tasks, self.share(lab.is_quick()));
        let times = lab.of_app(&cell, "a", |app| app.timed * factor)?;
        let yields = if self.yields == Yield::Default { ", default yield" } else { "" };
        let program = label(self.code, self.class);
        let key = format!("{} {} {program}{yields}", self.machine, self.model.word());
        Ok(Run { key, program, at: format!("{degree}/core"), times })
    }

    /// The same program in another model.
    pub(super) fn other(&self, model: Model) -> Self {
        Self { model, runtime: Runtime::usual(model), ..self.clone() }
    }

    /// T(1 per core) over T(so many per core): above 1, oversubscription helps.
    pub(super) fn relative(&self, lab: &mut Lab, degree: u32) -> Result<Series, Trouble> {
        let one = self.times(lab, 1)?.mean();
        Ok(self.times(lab, degree)?.map(|time| one / time))
    }

    /// Mean time between two synchronisations (barriers, and exchanges where a model has them) of the timed
    /// section with one task per core, in ms: on the machine on which the paper measured it.
    pub(super) fn interval(&self, lab: &mut Lab) -> Result<f64, Trouble> {
        let cell = self.cell(1, lab.is_quick()).set("machine", INTERVALS_OF);
        let (of, class) = (lab.times(&cell, "a")?, self.class.to_string());
        let program = (self.code.word(), class.as_str(), self.model.word());
        let share = (self.share(lab.is_quick()) * 100.0).round() as u64;
        let count =
            workloads::npb::synchronisations(program, self.cores, share).map_err(Trouble::Uncovered)?;
        Ok(of.mean() * 1e3 / count as f64)
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
pub(super) fn degrees(at: &Conditions) -> Vec<u32> {
    let mut named = at.threads.degrees(&[]);
    named.retain(|k| *k > 1);
    if named.is_empty() { DEGREES.to_vec() } else { named }
}

/// Those of them that all of the claim's models have.
pub(super) fn common_degrees(at: &Conditions) -> Vec<u32> {
    let mut common = degrees(at);
    common.retain(|k| at.models.list.iter().all(|model| *k <= most(at, *model)));
    common
}

/// The most tasks per core of a model where a claim speaks of several.
fn most(at: &Conditions, model: Model) -> u32 {
    if model == Model::Mpi && at.models.list.len() > 1 { MPI_DEGREE } else { u32::MAX }
}

/// The subjects on one machine in one model.
pub(super) fn of(at: &Conditions, machine: &str, model: Model) -> Vec<Subject> {
    let mut all = Vec::new();
    let most = most(at, model);
    for yields in at.yields() {
        for (code, class) in codes(&at.workload, &at.classes) {
            all.push(Subject {
                machine: machine.to_owned(),
                model,
                code,
                class,
                yields,
                policy: at.policy.placer(),
                runtime: Runtime::waiting(model, &at.wait),
                cores: programs::contexts(machine),
                most,
            });
        }
    }
    all
}

/// All subjects a claim speaks of.
pub(super) fn all(at: &Conditions) -> Vec<Subject> {
    let mut all = Vec::new();
    for machine in &at.machines.list {
        for model in &at.models.list {
            all.extend(of(at, machine, *model));
        }
    }
    all
}

/// Subjects and degrees that can be run; all where none can, so that their scenarios say why.
pub(super) fn runs(subjects: &[Subject], degrees: &[u32]) -> Vec<(Subject, u32)> {
    let all = subjects.iter().flat_map(|subject| degrees.iter().map(|k| (subject.clone(), *k)));
    let all = all.filter(|(subject, k)| *k <= subject.most);
    let (can, cannot): (Vec<_>, Vec<_>) = all.partition(|(subject, k)| subject.runs(*k));
    if can.is_empty() { cannot } else { can }
}
