//! The records of a run: cpus, tasks, applications. Plain data, which the other modules of the engine change.

mod apart;
mod app;
mod class;
mod cpu;
mod look;
mod objects;
mod overhead;
mod process;
mod task;

pub(crate) use apart::{Armed, Boxed, History, LockWaiter, MaybeNode};
pub(crate) use app::{App, BarrierRank, Before, OwnRuntime};
pub(crate) use class::Own;
pub(crate) use cpu::{Activity, Cpu, Lazily, NOWHERE, OnReturn};
pub(crate) use look::Look;
pub(crate) use objects::{Flow, RunObjects};
pub(crate) use overhead::{Overhead, Part, Parts};
pub(crate) use process::{Prices, ProcessId};
pub(crate) use task::{Stage, Task, Waiting};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_keep_their_size() {
        // Machines of a million cpus: a byte more is a megabyte for cpus, four for tasks.
        assert_eq!((size_of::<Cpu>(), size_of::<Task>()), (256, 128));
    }

    #[test]
    fn what_is_needed_together_lies_in_one_line() {
        use std::mem::offset_of;
        // Queues and polling; computations and arrivals.
        assert_eq!([offset_of!(Task, vruntime), offset_of!(Task, filled)], [0, 80]);
        // The present dispatch; what has happened; the frequent half of the breakdown; the rest.
        assert_eq!([offset_of!(Cpu, id), offset_of!(Cpu, overhead), offset_of!(Cpu, account)], [0, 64, 128]);
    }
}
