//! The simulator as a Python module.

use pyo3::prelude::*;

/// The simulator itself; the package `oversim` around it is what users import.
#[pymodule]
mod _native {
    use super::*;

    /// The version of oversim.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
