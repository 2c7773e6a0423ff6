//! The cells behind claims about waiting and binding: which programs, how they are run, and how much of them.

use notation::declare::Choice;

use super::super::programs::{self, Runtime, at_any_phase, codes, share};
use crate::answer::{Series, Trouble};
use crate::claims::{BlockTime, Code, Conditions, Model, Policy, Wait, Way, Yield, label};
use crate::lab::{Cell, Lab};

/// Replicates of pinned runs, which differ by a per cent, and of those left to the balancer.
const REPLICATES: (u32, u32) = (1, 4);
/// Replicates of pinned runs of OpenMP, whose yields begin at any instant of their cycle.
const PHASES: u32 = 2;

/// A program on a machine in a programming model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Subject {
    machine: String,
    model: Model,
    pub(super) code: Code,
    class: char,
    /// Hardware contexts of the machine, the paper's "cores".
    cores: u32,
}

/// How it is run.
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
    /// As much of the program as under a balancer: the run is compared with one, or a balancer moves tasks
    /// within nodes.
    pub(super) long: bool,
    /// Of the OpenMP runtime.
    pub(super) block_time: BlockTime,
    /// Tasks of the other runtimes sleep while they wait.
    pub(super) asleep: bool,
}

impl Run {
    /// One task per cpu in turn, POSIX yield.
    pub(super) const PINNED: Self = Self {
        yields: Yield::Posix,
        policy: Policy::Pin,
        by_node: false,
        random: false,
        repeated: false,
        long: false,
        block_time: BlockTime::Usual,
        asleep: false,
    };

    /// The same with tasks that wait as a claim says.
    pub(super) fn of(wait: &Wait) -> Self {
        let asleep = wait.ways == [Way::Sleep] && !wait.open;
        let block_time = if asleep { BlockTime::Zero } else { wait.block_time };
        Self { block_time, asleep, ..Self::PINNED }
    }
}

impl Subject {
    /// Whether the code runs with so many tasks per core.
    fn runs(&self, degree: u32) -> bool {
        programs::runs(self.code, self.class, self.model, self.cores * degree)
    }

    /// Name in reports.
    pub(super) fn name(&self, degree: u32) -> String {
        let program = label(self.code, self.class);
        format!("{} {} {program} {degree}/core", self.machine, self.model.word())
    }

    /// Part of the program that is simulated. Codes with few barriers run whole; of the others pinned runs
    /// are the same in every iteration, so one to four of them do, some 50 to 250 barriers. Runs left to the
    /// balancer settle in their first second: about a second or two. OpenMP runs for two cycles of its
    /// yields. A quick look takes one iteration of each. In per cent.
    fn share(&self, run: &Run, quick: bool) -> f64 {
        let usual = match (self.code, run.long || run.policy != Policy::Pin) {
            (Code::Ep, _) => 100.0,
            _ if quick => return 0.1,
            (Code::Ft | Code::Is, _) => 100.0,
            (Code::Mg, true) => 40.0,
            (Code::Mg, false) => 10.0,
            (_, true) => 4.0,
            (_, false) => 1.0,
        };
        share(self.model, (self.code, self.class), self.cores, usual)
    }

    /// A block time is an option of OpenMP; the others sleep or do not.
    fn runtime(&self, run: &Run) -> Runtime {
        match self.model {
            Model::OpenMp => Runtime::polling(self.model, run.block_time),
            Model::Upc | Model::Mpi if run.asleep => Runtime::blocking(self.model),
            Model::Upc | Model::Mpi => Runtime::usual(self.model),
        }
    }

    fn cell(&self, degree: u32, run: &Run, quick: bool) -> Cell {
        let share = self.share(run, quick);
        let mut cell = Cell::new("dedicated", run.policy.word())
            .set("machine", &self.machine)
            .set("kernel.yield", run.yields.word())
            .set("apps.a.runtime", self.runtime(run).setting())
            .set("apps.a.workload.benchmark", self.code.word())
            .set("apps.a.workload.class", self.class)
            .set("apps.a.workload.scale", format!("{share}%"))
            .set("apps.a.tasks", self.cores * degree);
        if run.by_node {
            cell = cell.set("policies.PIN.by", "node").set("policies.PIN.start", "even");
        }
        if run.random {
            cell = cell.set("policies.PIN.layout", "random");
        }
        if share < 100.0 {
            cell = at_any_phase(cell, 'a', self.model);
        }
        let (pinned, loaded) = REPLICATES;
        let pinned = if self.model == Model::OpenMp { PHASES } else { pinned };
        cell.set("repeat", if run.policy == Policy::Pin && !run.repeated { pinned } else { loaded })
    }

    /// Run times of the timed section by replicate, in seconds.
    pub(super) fn times(&self, lab: &mut Lab, degree: u32, run: &Run) -> Result<Series, Trouble> {
        let cell = self.cell(degree, run, lab.is_quick());
        lab.times(&cell, "a")
    }
}

/// The programs of a claim on one machine in one model. `loaded`: where the balancer takes part, whole runs
/// are simulated that vary widely, so of several classes the middle one stands for all.
pub(super) fn subjects(at: &Conditions, machine: &str, model: Model, loaded: bool) -> Vec<Subject> {
    let classes = if loaded { at.classes.middle() } else { at.classes.clone() };
    let cores = programs::contexts(machine);
    let subject = |(code, class)| Subject { machine: machine.to_owned(), model, code, class, cores };
    codes(&at.workload, &classes).into_iter().map(subject).collect()
}

/// Subjects and degrees that can be run; all where none can, so that their scenarios say why.
pub(super) fn runs(subjects: &[Subject], degrees: &[u32]) -> Vec<(Subject, u32)> {
    let all = subjects.iter().flat_map(|subject| degrees.iter().map(|k| (subject.clone(), *k)));
    let (can, cannot): (Vec<_>, Vec<_>) = all.partition(|(subject, k)| subject.runs(*k));
    if can.is_empty() { cannot } else { can }
}
