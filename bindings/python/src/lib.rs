//! The simulator as a Python module: functions and classes that the package `oversim` wraps.
//!
//! Every function takes plain texts and numbers, so that other processes can be asked the same, and releases
//! the lock of the interpreter while runs are simulated.

mod calls;
mod decisions;
mod environment;
mod errors;
mod figure;
mod lists;
mod patience;
mod policy;
mod result;
mod shapes;
mod slices;
mod source;
mod sweeps;
mod table;

use pyo3::prelude::*;

/// The simulator itself; the package `oversim` around it is what users import.
#[pymodule]
mod _native {
    use super::*;

    #[pymodule_export]
    use super::calls::{check, compare, run, timeline};
    #[pymodule_export]
    use super::decisions::{advise, matrix, why};
    #[pymodule_export]
    use super::environment::{Environment, duration_ns};
    #[pymodule_export]
    use super::figure::Figure;
    #[pymodule_export]
    use super::lists::{explain, policies, scenarios, schema};
    #[pymodule_export]
    use super::policy::{App, Choice, Machine, Placement, QueueEntry, System, Task, Timer};
    #[pymodule_export]
    use super::result::{Comparison, Outcome};
    #[pymodule_export]
    use super::shapes::{advise_pod, advise_pools, advise_share, advise_wait};
    #[pymodule_export]
    use super::sweeps::{parts, shard, sweep};
    #[pymodule_export]
    use super::table::Table;

    #[cfg(feature = "conformance")]
    #[pymodule_export]
    use super::policy::conformance::{conformance, runs, steal_runs};

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        experiment::run::surround_threads(policy::around);
        Ok(())
    }

    /// The version of oversim.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
