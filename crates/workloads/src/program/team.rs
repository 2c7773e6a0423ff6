//! The team of a kind while its code is compiled.

/// The team of a kind, and where in its code the compiler is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Team {
    /// Threads of each team.
    pub(super) threads: u32,
    /// Teams.
    pub(super) tasks: u32,
    /// Inside of a parallel region.
    pub(super) inside: bool,
    /// The operation with which those that are not the first thread pass over the present statements.
    pub(super) passes_over: Option<usize>,
}

impl Team {
    /// Teams of so many threads; the code begins outside of parallel regions.
    pub(super) fn of(threads: u32, tasks: u32) -> Self {
        Self { threads, tasks, ..Self::default() }
    }
}
