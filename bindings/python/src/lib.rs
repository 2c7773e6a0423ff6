//! The simulator as a Python module.

mod environment;
mod policy;

use pyo3::prelude::*;

/// The simulator itself; the package `oversim` around it is what users import.
#[pymodule]
mod _native {
    use super::*;

    #[pymodule_export]
    use super::environment::{Environment, duration_ns, scenario_text};
    #[pymodule_export]
    use super::policy::{App, Choice, Machine, Placement, QueueEntry, System, Task, Timer, runs};

    #[cfg(feature = "conformance")]
    #[pymodule_export]
    use super::policy::conformance::{conformance, steal_runs};

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
