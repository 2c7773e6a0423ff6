//! What a claim asks of its cells: measures, and what is calculated of them.

use notation::choices;
use notation::declare::Choice;

use super::cell::Cell;

choices! {
    /// A measure of a run by its name in files; others are metrics of applications by theirs.
    pub enum What {
        /// Seconds that the program times itself: for NPB from behind the start barrier.
        Timed = "timed",
        /// Seconds from the first task's start to the last one's end.
        RunTime = "run_time",
        /// Seconds of the whole SPEC OMP program of which the cell runs a part.
        WholeTime = "whole_time",
        /// Seconds of a whole job of so many `barriers` of which the cell runs a part.
        JobTime = "job_time",
        /// Cpu seconds of the same.
        JobCpuTime = "job_cpu_time",
        /// Seconds of the slowest such job.
        SlowestJobTime = "slowest_job_time",
        /// Cpu seconds of all tasks per barrier of one task.
        CpuPerBarrier = "cpu_per_barrier",
        /// Cpu seconds of the application over the seconds of the run.
        CpuPerTime = "cpu_per_time",
        /// Cpu seconds of the application over those of all applications.
        CpuShare = "cpu_share",
        /// Share of its run time in which the mean task waits for a cpu, in per cent.
        Waiting = "wait_percent",
        /// Bytes fetched from memory per second of work.
        BytesPerWork = "bytes_per_work",
        /// Share of snapshots in which a task runs on its home node, in per cent.
        Home = "home",
        /// Share of snapshots in which its cpu has changed, in per cent.
        Moved = "moved",
        /// User time of the least over the most busy cpu.
        Balance = "balance",
        /// Seconds until the last foreground application ends.
        Makespan = "makespan",
    }
}

/// What is measured: one of the measures, or a metric of applications.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Measured {
    /// A measure.
    What(What),
    /// The metric of this name.
    Metric(String),
}

impl Measured {
    /// Its name in files.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::What(what) => what.word(),
            Self::Metric(name) => name,
        }
    }
}

/// What is measured where.
#[derive(Clone, PartialEq, Debug)]
pub struct Measure {
    /// What is measured.
    pub what: Measured,
    /// The cell.
    pub cell: Cell,
    /// The application; the mean over its copies counts.
    pub app: String,
    /// Barriers of a whole job.
    pub barriers: f64,
    /// The task looked at, from 0; `None` for all.
    pub task: Option<usize>,
    /// An application whose tasks count as well.
    pub beside: Option<String>,
}

choices! {
    /// What is calculated. Where nothing else is said, replicate by replicate.
    pub enum Function {
        Add = "+",
        Subtract = "-",
        Multiply = "*",
        Divide = "/",
        Absolute = "abs",
        /// The largest.
        Max = "max",
        Sum = "sum",
        /// Of one quantity over its replicates, of several over them.
        Mean = "mean",
        /// (largest - least) / least in per cent: of one quantity over its replicates, of several over their
        /// means.
        Variation = "variation",
        /// The one with the least mean.
        Least = "least",
        /// The one in the middle of the sorted means; the lower one of two.
        Middle = "middle",
        /// How many means are above one.
        CountAboveOne = "count_above_one",
        /// Rank correlation of the means of pairs.
        Correlation = "correlation",
        /// The second, or 0 where the mean of the first is not above 0.
        UnlessZero = "unless_zero",
        /// The second if the mean of the first is above 0; nothing otherwise.
        OnlyIf = "only_if",
    }
}

/// A quantity.
#[derive(Clone, PartialEq, Debug)]
pub enum Quantity {
    /// A number.
    Number(f64),
    /// Something measured.
    Measure(Box<Measure>),
    /// Something calculated; `many`: over a list.
    Of {
        /// How.
        function: Function,
        /// Over the entries of a list, not over replicates.
        many: bool,
        /// Of what.
        parts: Vec<Quantity>,
    },
}

/// Most entries of a list that a quick look takes.
const QUICK: usize = 4;

impl Quantity {
    /// This as a function of parts.
    #[must_use]
    pub const fn of(function: Function, many: bool, parts: Vec<Self>) -> Self {
        Self::Of { function, many, parts }
    }

    /// What it measures.
    pub fn measures<'a>(&'a self, found: &mut Vec<&'a Measure>) {
        match self {
            Self::Number(_) => {}
            Self::Measure(measure) => found.push(measure),
            Self::Of { parts, .. } => parts.iter().for_each(|part| part.measures(found)),
        }
    }

    /// The same for a quick look: of long lists some entries. What is counted stays.
    #[must_use]
    pub fn quick(&self) -> Self {
        let Self::Of { function, many, parts } = self else { return self.clone() };
        let parts: Vec<Self> = parts.iter().map(Self::quick).collect();
        let parts = match function {
            _ if !many => parts,
            Function::CountAboveOne => parts,
            Function::Correlation => some(parts.chunks(2)).flatten().cloned().collect(),
            _ => some(parts.iter()).cloned().collect(),
        };
        Self::Of { function: *function, many: *many, parts }
    }
}

/// Some of many entries, evenly.
pub fn some<I: ExactSizeIterator>(all: I) -> impl Iterator<Item = I::Item> {
    let step = all.len().div_ceil(QUICK).max(1);
    all.skip(step / 2).step_by(step)
}
