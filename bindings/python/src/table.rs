//! Tables of results as Arrow: the columns of the CSV forms of `oversim run`, with their types.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, StructArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use experiment::result::{Cell, Results};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule};
use scenario::configuration::{self, Configuration, Setting};

/// What the metrics of the cpu-time breakdown begin with.
const PART: &str = "breakdown_";

/// An Arrow table. Whatever reads the Arrow PyCapsule interface takes it: `pyarrow.table(t)`,
/// `polars.DataFrame(t)`, `pandas.DataFrame.from_arrow(t)`, and DuckDB by way of these.
#[pyclass(frozen, module = "oversim._native")]
pub(crate) struct Table(RecordBatch);

#[pymethods]
impl Table {
    /// The schema by the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.0.schema_ref().as_ref())?)
    }

    /// The rows by the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let rows: ArrayRef = Arc::new(StructArray::from(self.0.clone()));
        let field = Arc::new(Field::new_struct("", self.0.schema_ref().fields().clone(), false));
        let rows = ArrayIterator::new(std::iter::once(Ok(rows)), field);
        Ok(to_stream_pycapsule(py, Box::new(rows), requested_schema)?)
    }

    /// Number of rows.
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.0.schema_ref().fields().iter().map(|field| field.name().as_str()).collect()
    }
}

/// Columns in the making.
#[derive(Default)]
pub(crate) struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    fn add(&mut self, name: &str, kind: DataType, nullable: bool, array: ArrayRef) {
        self.fields.push(Field::new(name, kind, nullable));
        self.arrays.push(array);
    }

    /// A column of texts.
    pub(crate) fn texts<'a>(&mut self, name: &str, values: impl Iterator<Item = &'a str>) {
        let array = Arc::new(StringArray::from_iter_values(values));
        self.add(name, DataType::Utf8, false, array);
    }

    /// A column of texts that may be missing.
    pub(crate) fn maybe_texts<'a>(&mut self, name: &str, values: impl Iterator<Item = Option<&'a str>>) {
        self.add(name, DataType::Utf8, true, Arc::new(StringArray::from_iter(values)));
    }

    /// A column of whole numbers.
    pub(crate) fn counts(&mut self, name: &str, values: impl Iterator<Item = u64>) {
        self.add(name, DataType::UInt64, false, Arc::new(UInt64Array::from_iter_values(values)));
    }

    /// A column of whole numbers that may be missing.
    pub(crate) fn maybe_counts(&mut self, name: &str, values: impl Iterator<Item = Option<u64>>) {
        self.add(name, DataType::UInt64, true, Arc::new(UInt64Array::from_iter(values)));
    }

    /// A column of numbers that may be missing.
    pub(crate) fn numbers(&mut self, name: &str, values: impl Iterator<Item = Option<f64>>) {
        self.add(name, DataType::Float64, true, Arc::new(Float64Array::from_iter(values)));
    }

    /// The table.
    ///
    /// # Errors
    /// Columns of different lengths, which would be a defect.
    pub(crate) fn table(self) -> PyResult<Table> {
        let schema: SchemaRef = Arc::new(Schema::new(self.fields));
        let batch = RecordBatch::try_new(schema, self.arrays);
        batch.map(Table).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
}

/// Columns of cells: scenario, one for each swept parameter, policy and application.
fn places(results: &Results, cells: &[&Cell]) -> Columns {
    let mut columns = Columns::default();
    columns.texts("scenario", cells.iter().map(|cell| cell.scenario.as_str()));
    let configurations = &results.provenance.configurations;
    for path in configuration::columns(configurations) {
        let values = cells.iter().map(|cell| cell.settings.get(path));
        if is_number(configurations, path) {
            columns.numbers(path, values.map(number));
        } else {
            let texts: Vec<Option<String>> = values.map(|value| value.map(ToString::to_string)).collect();
            columns.maybe_texts(path, texts.iter().map(Option::as_deref));
        }
    }
    columns.texts("policy", cells.iter().map(|cell| cell.policy.as_str()));
    columns.texts("app", cells.iter().map(|cell| cell.app.as_str()));
    columns
}

/// Whether a swept parameter is a number wherever it is set.
fn is_number(configurations: &[Configuration], path: &str) -> bool {
    let mut values = configurations.iter().filter_map(|one| one.settings.get(path));
    values.all(|value| matches!(value, Setting::Number(_)))
}

fn number(value: Option<&Setting>) -> Option<f64> {
    match value {
        Some(Setting::Number(number)) => Some(*number),
        _ => None,
    }
}

/// The statistics of cells.
fn statistics(columns: &mut Columns, results: &Results, cells: &[&Cell]) {
    let each = |of: fn(&Cell) -> f64| cells.iter().map(move |cell| Some(of(cell)));
    let bound = |at: usize| cells.iter().map(move |cell| cell.summary.ci95.map(|ends| ends[at]));
    columns.numbers("mean", each(|cell| cell.summary.mean));
    columns.numbers("median", each(|cell| cell.summary.median));
    columns.numbers("ci95_lo", bound(0));
    columns.numbers("ci95_hi", bound(1));
    columns.numbers("min", each(|cell| cell.summary.min));
    columns.numbers("max", each(|cell| cell.summary.max));
    columns.counts("n", cells.iter().map(|cell| cell.summary.n as u64));
    if results.uncertainty.is_some() {
        let widths = cells.iter().map(|cell| Some(cell.input_error.as_ref()?.half_width));
        columns.numbers("input_half_width", widths);
    }
}

/// One cell per row, as `--format csv`.
pub(crate) fn cells(results: &Results) -> PyResult<Table> {
    let cells: Vec<&Cell> = results.cells.iter().collect();
    let mut columns = places(results, &cells);
    columns.texts("metric", cells.iter().map(|cell| cell.metric.as_str()));
    columns.texts("unit", cells.iter().map(|cell| cell.unit.as_str()));
    statistics(&mut columns, results, &cells);
    columns.table()
}

/// The cpu-time breakdown: the cells of its metrics, with the category in place of metric and unit.
pub(crate) fn account(results: &Results) -> PyResult<Table> {
    let cells: Vec<&Cell> = results.cells.iter().filter(|cell| cell.metric.starts_with(PART)).collect();
    let mut columns = places(results, &cells);
    let category = |cell: &&Cell| cell.metric.get(PART.len()..).unwrap_or_default().to_owned();
    let categories: Vec<String> = cells.iter().map(category).collect();
    columns.texts("category", categories.iter().map(String::as_str));
    statistics(&mut columns, results, &cells);
    columns.table()
}

/// One measured value per row, as `--format tidy`.
pub(crate) fn samples(results: &Results) -> PyResult<Table> {
    let rows: Vec<(&Cell, u32, u64, f64)> = results.samples().collect();
    let cells: Vec<&Cell> = rows.iter().map(|row| row.0).collect();
    let mut columns = places(results, &cells);
    columns.texts("metric", cells.iter().map(|cell| cell.metric.as_str()));
    columns.texts("unit", cells.iter().map(|cell| cell.unit.as_str()));
    columns.counts("replicate", rows.iter().map(|row| u64::from(row.1)));
    columns.counts("seed", rows.iter().map(|row| row.2));
    columns.numbers("value", rows.iter().map(|row| Some(row.3)));
    columns.table()
}
