//! The cells behind claims about waiting and binding: which programs, how they are run, and how much of them.

use crate::answer::{Series, Trouble};
use crate::claims::Claim;
use crate::fields;
use crate::lab::{Cell, Lab};

/// The codes of the paper's figures.
const CODES: [&str; 6] = ["ep", "ft", "is", "sp", "mg", "cg"];
/// Hardware contexts of its three machines, its "cores".
const CORES: u32 = 16;
/// Replicates of pinned runs, which differ by a per cent, and of those left to the balancer.
const REPLICATES: (u32, u32) = (1, 4);

/// A program on a machine in a programming model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Subject {
    machine: String,
    model: String,
    pub(super) code: String,
    class: char,
}

/// How it is run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// What `sched_yield` does.
    pub(super) yields: &'static str,
    /// Who places the tasks.
    pub(super) policy: &'static str,
    /// Pinned to a NUMA node each instead of a cpu.
    pub(super) by_node: bool,
    /// An even layout drawn by the seed.
    pub(super) random: bool,
    /// Replicates are what it is about, pinned or not.
    pub(super) repeated: bool,
    /// As much of the program as under a balancer: the run is compared with one, or a balancer moves tasks
    /// within nodes.
    pub(super) long: bool,
    /// Of the OpenMP runtime; `None`: its default.
    pub(super) block_time: Option<&'static str>,
}

impl Run {
    /// One task per cpu in turn, POSIX yield.
    pub(super) const PINNED: Self = Self {
        yields: "posix",
        policy: "PIN",
        by_node: false,
        random: false,
        repeated: false,
        long: false,
        block_time: None,
    };
}

impl Subject {
    /// Whether the code runs with so many tasks per core: sp and bt need a square number of tasks in UPC and
    /// MPI.
    fn runs(&self, degree: u32) -> bool {
        let tasks = CORES * degree;
        let square = tasks.isqrt().pow(2) == tasks;
        let power = tasks.is_power_of_two() || self.model != "mpi";
        match self.code.as_str() {
            "sp" | "bt" => square || self.model == "openmp",
            _ => power,
        }
    }

    /// Name in reports.
    pub(super) fn name(&self, degree: u32) -> String {
        format!("{} {} {}.{} {degree}/core", self.machine, self.model, self.code, self.class)
    }

    /// Part of the program that is simulated. Codes with few barriers run whole; of the others pinned runs
    /// are the same in every iteration, so one to four of them do, some 50 to 250 barriers. Runs left to the
    /// balancer settle in their first second: about a second or two. A quick look takes one iteration of
    /// each.
    fn scale(&self, run: &Run, quick: bool) -> &'static str {
        match (self.code.as_str(), run.long || run.policy == "LOAD") {
            ("ep", _) => "100%",
            _ if quick => "0.1%",
            ("ft" | "is", _) => "100%",
            ("mg", true) => "40%",
            ("mg", false) => "10%",
            (_, true) => "4%",
            (_, false) => "1%",
        }
    }

    fn cell(&self, degree: u32, run: &Run, quick: bool) -> Cell {
        let runtime = match run.block_time {
            Some(time) => format!("{{{}: {{block_time: {time}}}}}", self.model),
            None => self.model.clone(),
        };
        let mut cell = Cell::new("dedicated", run.policy)
            .set("machine", &self.machine)
            .set("kernel.yield", run.yields)
            .set("apps.a.runtime", runtime)
            .set("apps.a.workload.benchmark", &self.code)
            .set("apps.a.workload.class", self.class)
            .set("apps.a.workload.scale", self.scale(run, quick))
            .set("apps.a.tasks", CORES * degree);
        if run.by_node {
            cell = cell.set("policies.PIN.by", "node");
        }
        if run.random {
            cell = cell.set("policies.PIN.layout", "random");
        }
        let (pinned, loaded) = REPLICATES;
        cell.set("repeat", if run.policy == "PIN" && !run.repeated { pinned } else { loaded })
    }

    /// Run times of the timed section by replicate, in seconds.
    pub(super) fn times(&self, lab: &mut Lab, degree: u32, run: &Run) -> Result<Series, Trouble> {
        let cell = self.cell(degree, run, lab.is_quick());
        lab.times(&cell, "a")
    }
}

/// The degrees of a claim; those of the paper's figures when it names none.
pub(super) fn degrees(claim: &Claim) -> Vec<u32> {
    let named = fields::per_core(claim);
    if named.is_empty() { vec![2, 4, 8] } else { named }
}

/// The programs of a claim on one machine in one model. `loaded`: where the balancer takes part, whole runs
/// are simulated that vary widely, so of several classes the middle one stands for all.
pub(super) fn subjects(claim: &Claim, machine: &str, model: &str, loaded: bool) -> Vec<Subject> {
    let mut codes = fields::codes(&claim.workload);
    if codes.is_empty() {
        codes = CODES.iter().map(|code| ((*code).to_owned(), None)).collect();
    }
    let mut classes = fields::classes(claim);
    if loaded && classes.len() > 1 {
        classes = vec![classes[classes.len() / 2]];
    }
    let mut all = Vec::new();
    for (code, class) in codes {
        for class in class.map_or_else(|| classes.clone(), |class| vec![class]) {
            let (machine, model, code) = (machine.to_owned(), model.to_owned(), code.clone());
            all.push(Subject { machine, model, code, class });
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

/// The block time that a text like `blocktime 200ms` names, as a scenario says it; `None` for the default,
/// 200 ms.
pub(super) fn block_time(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let word = text.split([' ', ',']).skip_while(|word| !word.contains("blocktime")).nth(1)?;
    match word {
        "0" | "0s" | "0ms" => Some("0s"),
        "infinite" | "infinity" => Some("infinite"),
        _ => None,
    }
}
