//! What a user-level balancer can measure of the threads of its application, and how it deals them to cores at first.

use sim_core::ids::{CpuId, TaskId};
use sim_core::machine::Machine;
use sim_core::policy::{System, TaskState, View};
use sim_core::time::{Span, Time};

/// Speed 1 in fixed point: a whole cpu, or nominal speed.
pub(crate) const FULL: u64 = 1 << 16;

/// A speed in thousandths, for reasons.
pub(crate) const fn thousandths(speed: u64) -> u64 {
    speed * 1_000 / FULL
}

/// What is read of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reading {
    /// Its cpu time, user and system, polling included (`/proc` or taskstats).
    CpuTime,
    /// The work it has done (hardware counters of useful instructions).
    Work,
}

/// A thread under observation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauge {
    /// The thread.
    pub(crate) task: TaskId,
    looked: Time,
    read: Span,
}

impl Gauge {
    /// One that counts from the start of the run.
    pub(crate) const fn new(task: TaskId) -> Self {
        Self { task, looked: Time::ZERO, read: Span::ZERO }
    }

    /// What the thread has gained since the last look, and the time since then; counts from now on.
    pub(crate) fn look(&mut self, system: &mut dyn System, what: Reading) -> (Span, Span) {
        let now = system.now();
        let value = match what {
            Reading::CpuTime => system.cpu_time(self.task),
            Reading::Work => system.progress(self.task),
        };
        let seen = (value.saturating_sub(self.read), now.since(self.looked));
        (self.looked, self.read) = (now, value);
        seen
    }

    /// True until the thread ends.
    pub(crate) fn live(&self, view: &dyn View) -> bool {
        view.task(self.task).state != TaskState::Exited
    }
}

/// `gained` over `real` as a speed; none when no time has passed.
pub(crate) fn speed(gained: Span, real: Span) -> Option<u64> {
    let scaled = u128::from(gained.ns()) * u128::from(FULL);
    scaled.checked_div(u128::from(real.ns())).map(|speed| speed as u64)
}

/// The cores of an application in the order in which they are filled: in cpu order when every core gets a thread anyway,
/// else taking the nodes in turn so that they fill evenly.
pub(crate) fn fill_order(machine: &Machine, mut cpus: Vec<CpuId>, threads: usize) -> Vec<CpuId> {
    if threads < cpus.len() && machine.nodes() > 1 {
        let per_node = machine.cpus() / machine.nodes();
        cpus.sort_by_key(|cpu| (cpu.0 % per_node, cpu.0));
    }
    cpus
}
