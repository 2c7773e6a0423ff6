//! One program in one dialect, with what follows from its settings: what the rows of the table ask.

use super::advice::{Dialect, Layer, Lever, Node, Place, Program, Shared};
use super::layout::{Placing, mask, placing, whole};
use super::libraries::{MPI, OPENMP, command};

impl Program {
    /// The command of this name, if it has a setting of its own for the number of its tasks and no runtime
    /// that has one.
    #[must_use]
    pub fn command(name: &str, runtime: &str) -> Option<&'static str> {
        command(name).filter(|_| !OPENMP.contains(&runtime) && !MPI.contains(&runtime))
    }

    /// Whether a launcher of MPI starts it, which binds processes by itself.
    #[must_use]
    pub fn is_launched(&self) -> bool {
        self.processes.as_ref().is_some_and(|layer| MPI.contains(&layer.runtime.as_str()))
    }
}

/// A program for which a row is to say something.
#[derive(Clone, Debug)]
pub(super) struct Case<'a> {
    pub(super) program: &'a Program,
    pub(super) node: &'a Node<'a>,
    pub(super) dialect: Dialect,
    pub(super) shared: Option<Shared>,
    /// The cpus that it may use, if that is part of the advice: Linux numbers, rising.
    pub(super) mask: Option<Vec<u32>>,
    pub(super) placing: Option<Placing>,
}

impl<'a> Case<'a> {
    pub(super) fn new(
        program: &'a Program,
        node: &'a Node<'a>,
        dialect: Dialect,
        shared: Option<Shared>,
    ) -> Self {
        let (mask, placing) = (mask(program, node), placing(program, node));
        Self { program, node, dialect, shared, mask, placing }
    }

    /// Whether the advice says something of a lever.
    pub(super) fn asks(&self, lever: Lever) -> bool {
        let program = self.program;
        let set = |layer: &Option<Layer>| layer.as_ref().is_some_and(|layer| layer.set);
        let waits = |layer: &Option<Layer>| layer.as_ref().and_then(|layer| layer.wait);
        match lever {
            Lever::Processes => set(&program.processes),
            Lever::Threads => set(&program.threads),
            Lever::Place => program.place.is_some(),
            Lever::Cpus => self.mask.is_some(),
            Lever::WaitOfProcesses => waits(&program.processes).is_some(),
            Lever::WaitOfThreads => waits(&program.threads).is_some(),
            Lever::Pages => program.pages.is_some(),
            Lever::Nice => program.nice.is_some(),
            Lever::Quota => program.quota.is_some(),
            Lever::Burst => program.quota.is_some_and(|quota| quota.burst > 0),
            Lever::Weight => program.weight.is_some(),
            Lever::Shared => self.shared.is_some(),
        }
    }

    /// Number of processes.
    pub(super) fn processes(&self) -> u32 {
        self.program.processes.as_ref().map_or(1, |layer| layer.number.max(1))
    }

    /// Threads of each process.
    pub(super) fn team(&self) -> u32 {
        self.program.threads.as_ref().map_or(1, |layer| layer.number.max(1))
    }

    /// The cpus that the program may use, rising.
    pub(super) fn cpus(&self) -> Vec<u32> {
        self.mask.clone().unwrap_or_else(|| whole(self.node))
    }

    /// The place is "not bound".
    pub(super) fn unbound(&self) -> bool {
        self.program.place == Some(Place::Unbound)
    }
}
