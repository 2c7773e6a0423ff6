//! What there is: built-in scenarios, policies, pages, the schema.

use ::explain::catalogue::{self, Registry};
use ::policies::PolicyRegistry;
use experiment::report::DEFAULT_WIDTH;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use scenario::built_in::BUILT_IN;
use serde_json::{Value, json};

/// The built-in scenarios as JSON.
#[pyfunction]
pub(crate) fn scenarios() -> String {
    let all = BUILT_IN
        .iter()
        .map(|one| json!({"name": one.name, "path": one.path, "question": one.about(), "text": one.text}));
    Value::Array(all.collect()).to_string()
}

/// The policies with their parameters as JSON.
#[pyfunction]
pub(crate) fn policies() -> PyResult<String> {
    let mut out = Vec::new();
    let rows = catalogue::rows_with(&PolicyRegistry::default(), Registry::Policies);
    catalogue::write_json(&rows, &mut out).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    String::from_utf8(out).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// The pages of a name as text or Markdown.
#[pyfunction]
pub(crate) fn explain(name: &str, markdown: bool) -> PyResult<String> {
    let pages = ::explain::find_with(&PolicyRegistry::default(), name).map_err(PyKeyError::new_err)?;
    let mut out = Vec::new();
    let written = match markdown {
        true => ::explain::write_markdown(&pages, 1, &mut out),
        false => ::explain::write_text(&pages, &mut out, DEFAULT_WIDTH),
    };
    written.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    String::from_utf8(out).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// The JSON Schema of scenarios.
#[pyfunction]
pub(crate) fn schema() -> String {
    scenario::schema::schema().to_string()
}
