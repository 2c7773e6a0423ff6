//! An application in the models of the references.

/// When a job arrives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Arrival {
    /// At this time, seconds.
    At(f64),
    /// This many seconds after the end of an earlier job.
    After(usize, f64),
}

/// An application in the model of the fair share.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Job {
    pub(crate) arrival: Arrival,
    /// Its tasks.
    pub(crate) tasks: u32,
    /// Weight of a task; only ratios matter.
    pub(crate) weight: f64,
    /// Most cpu a task can use, above 0.
    pub(crate) want: f64,
    /// Cpu time it needs in all, seconds; infinite for a background job.
    pub(crate) demand: f64,
    /// Its task group.
    pub(crate) group: Option<u16>,
}

impl Job {
    pub(crate) fn foreground(&self) -> bool {
        self.demand.is_finite()
    }
}
