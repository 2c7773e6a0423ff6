//! The policies that a call can name: the built-in ones and those that it is given.

use policies::PolicyShelf;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The policies of a call.
///
/// # Errors
/// Something that is no policy.
pub(crate) fn shelf(own: &[Bound<'_, PyAny>]) -> PyResult<PolicyShelf> {
    match own.first() {
        None => Ok(PolicyShelf::default()),
        Some(other) => Err(PyTypeError::new_err(format!("{other} is not the name of a policy"))),
    }
}
