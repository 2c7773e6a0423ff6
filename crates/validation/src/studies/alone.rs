//! One program alone on a machine: which ones a claim speaks of, how they are run and how much of them, and
//! what is read off their runs.

use notation::declare::Choice;

use super::general;
use super::programs::{self, Runtime, at_any_phase, codes, run_by};
use crate::answer::{Series, Trouble};
use crate::claims::{BlockTime, Classes, Code, Conditions, Model, Policy, Yield, label};
use crate::lab::{Cell, Lab};

/// Degrees of the paper's figures besides one task per core.
const DEGREES: [u32; 3] = [2, 4, 8];
/// The most tasks per core of MPI in the paper (Iancu et al., IPDPS 2010, caption of figure 7). It counts
/// where a claim speaks of several programming models.
const MPI_DEGREE: u32 = 4;
/// The machine on which the paper measured the intervals that it calls fine or coarse.
const INTERVALS_OF: &str = "nehalem";

/// Replicates of pinned runs, and of those left to the balancer. The range of three pinned replicates is 0.3
/// % of their mean (median of 726 cells of UPC and MPI, 90 % of them below 2.5 %).
const REPLICATES: (u32, u32) = (1, 4);
/// Replicates of pinned runs of OpenMP, whose yields begin at any instant of their cycle. The range of two
/// replicates of one cycle is 0.1 % (median of 582 cells under the POSIX yield, 90 % of them below 5 %).
const PHASES: u32 = 2;

/// Seconds of a program that are simulated at least, with one task per core. Pinned runs are the same in
/// every iteration, and those left to the balancer settle in this time. Both have the same, because they are
/// compared.
const SECONDS: f64 = 0.75;
/// Of OpenMP at least one cycle of the yields of Intel's runtime (11 periods of 200 ms): a part of a cycle
/// has yields on or off.
const CYCLE: f64 = 2.2;
/// The largest speed-up of a code with barriers on 16 cores (sp.A on Barcelona, `measurements.yaml`): no
/// other takes less time than its work over this, cg takes 1.35 times as much.
const SPEED_UP: f64 = 12.4;

/// How a program is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// What `sched_yield` does.
    pub(super) yields: Yield,
    /// Who places the tasks.
    pub(super) policy: Policy,
    /// Pinned to a NUMA node each instead of a cpu.
    pub(super) by_node: bool,
    /// An even layout drawn by the seed.
    pub(super) random: bool,
    /// Replicates are what it is about, pinned or not.
    pub(super) repeated: bool,
}

impl Run {
    /// One task per cpu in turn, POSIX yield.
    pub(super) const PINNED: Self =
        Self { yields: Yield::Posix, policy: Policy::Pin, by_node: false, random: false, repeated: false };
}

/// A program on a machine in a programming model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Subject {
    pub(super) machine: String,
    pub(super) model: Model,
    pub(super) code: Code,
    pub(super) class: char,
    pub(super) run: Run,
    runtime: Runtime,
    /// Hardware contexts of the machine, the paper's "cores": Nehalem's 16 hardware threads among them.
    cores: u32,
    /// The most tasks per core.
    most: u32,
}

impl Subject {
    /// The cell with so many tasks per core.
    pub(super) fn cell(&self, degree: u32, quick: bool) -> Cell {
        let (run, share) = (&self.run, self.share(quick));
        let mut cell = Cell::new("dedicated", run.policy.word())
            .set("machine", &self.machine)
            .set("kernel.yield", run.yields.word())
            .set("apps.a.workload.benchmark", self.code.word())
            .set("apps.a.workload.class", self.class)
            .set("apps.a.workload.scale", format!("{share}%"))
            .set("apps.a.tasks", self.cores * degree)
            .set("repeat", self.replicates());
        cell = run_by(cell, 'a', self.runtime.model, self.runtime.setting());
        if run.by_node {
            cell = cell.set("policies.PIN.by", "node").set("policies.PIN.start", "even");
        }
        if run.random {
            cell = cell.set("policies.PIN.layout", "random");
        }
        if share < 100.0 { at_any_phase(cell, 'a', self.model) } else { cell }
    }

    fn replicates(&self) -> u32 {
        let (pinned, loaded) = REPLICATES;
        match self.run {
            Run { repeated: true, .. } => loaded,
            Run { policy: Policy::Pin, .. } if self.model == Model::OpenMp => PHASES,
            Run { policy: Policy::Pin, .. } => pinned,
            _ => loaded,
        }
    }

    /// Share of the program that is simulated, per cent: so many seconds, and one iteration at least. ep,
    /// which costs nothing to simulate, is run in full: its one interval must not be cut. A quick look takes
    /// one iteration.
    fn share(&self, quick: bool) -> f64 {
        if self.code == Code::Ep {
            return 100.0;
        }
        if quick {
            return 0.1;
        }
        let seconds = if self.model == Model::OpenMp { CYCLE } else { SECONDS };
        let profile = workloads::npb::profile(self.code.word(), &self.class.to_string(), "");
        let serial = profile.map_or(0.0, |profile| profile.serial.ns() as f64 / 1e9);
        (seconds * SPEED_UP / serial * 100.0).ceil().min(100.0)
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
    pub(super) fn whole(&self, lab: &mut Lab, degree: u32) -> Result<general::Run, Trouble> {
        let (cell, tasks) = (self.cell(degree, lab.is_quick()), self.cores * degree);
        let program = (self.code, self.class, self.model);
        let factor = programs::whole(program, tasks, self.share(lab.is_quick()));
        let times = lab.of_app(&cell, "a", |app| app.timed * factor)?;
        let yields = if self.run.yields == Yield::Default { ", default yield" } else { "" };
        let program = label(self.code, self.class);
        let key = format!("{} {} {program}{yields}", self.machine, self.model.word());
        Ok(general::Run { key, program, at: format!("{degree}/core"), times })
    }

    /// The same run otherwise.
    pub(super) fn with(&self, run: Run) -> Self {
        Self { run, ..self.clone() }
    }

    /// The same with barriers that poll for so long.
    pub(super) fn polling(&self, time: BlockTime) -> Self {
        Self { runtime: Runtime::polling(self.model, time), ..self.clone() }
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

/// The subjects on one machine in one model, of these classes, run like this.
pub(super) fn subjects(
    at: &Conditions,
    (machine, model): (&str, Model),
    classes: &Classes,
    run: Run,
) -> Vec<Subject> {
    let subject = |(code, class)| Subject {
        machine: machine.to_owned(),
        model,
        code,
        class,
        run,
        runtime: Runtime::waiting(model, &at.wait),
        cores: programs::contexts(machine),
        most: most(at, model),
    };
    codes(&at.workload, classes).into_iter().map(subject).collect()
}

/// The subjects on one machine in one model, run as the claim says.
pub(super) fn of(at: &Conditions, machine: &str, model: Model) -> Vec<Subject> {
    let run = |yields| Run { yields, policy: at.policy.placer(), ..Run::PINNED };
    let of = |yields| subjects(at, (machine, model), &at.classes, run(yields));
    at.yields().into_iter().flat_map(of).collect()
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
