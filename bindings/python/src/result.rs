//! Results and comparisons for Python; `oversim.Result` and `oversim.Comparison` wrap them.

use std::io;
use std::sync::Arc;

use experiment::compare::contrast::Contrasts;
use experiment::compare::report as compared;
use experiment::export::find;
use experiment::report::{self, DEFAULT_WIDTH, View};
use experiment::result::{self, Results};
use pictures::figures;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::Failure;
use crate::figure::Figure;
use crate::slices::Recorded;
use crate::table::{self, Table};

/// The result of an experiment.
#[pyclass(frozen, module = "oversim._native", name = "Result")]
pub(crate) struct Outcome {
    pub(crate) results: Arc<Results>,
    /// How the scenario was named.
    pub(crate) subject: Option<String>,
    warnings: Vec<String>,
    timeline: Option<Recorded>,
}

impl Outcome {
    pub(crate) fn new(
        results: Results,
        subject: Option<String>,
        warnings: Vec<String>,
        timeline: Option<Recorded>,
    ) -> Self {
        Self { results: Arc::new(results), subject, warnings, timeline }
    }
}

#[pymethods]
impl Outcome {
    /// Reads what `write("json")` wrote.
    #[staticmethod]
    fn read(py: Python<'_>, name: &str, text: &str) -> PyResult<Self> {
        let read = py.detach(|| result::read(name, text));
        let results = read.map_err(|why| Failure::Refused(why).raise(py))?;
        Ok(Self::new(results, None, Vec::new(), None))
    }

    /// The result in a form of `oversim run --format`.
    #[pyo3(signature = (format, *, full=false, width=None))]
    fn write(&self, py: Python<'_>, format: &str, full: bool, width: Option<usize>) -> PyResult<String> {
        let Some(form) = report::format(format) else {
            let names: Vec<&str> = report::FORMATS.iter().map(|form| form.form().name).collect();
            return Err(PyValueError::new_err(format!("no format `{format}`: use {}", names.join(", "))));
        };
        let view = View {
            width: width.unwrap_or(DEFAULT_WIDTH).clamp(40, 1000),
            colour: false,
            full,
            subject: self.subject.as_deref(),
        };
        let mut out = Vec::new();
        py.detach(|| form.write(&self.results, &mut out, &view)).map_err(|error| written(&error))?;
        String::from_utf8(out).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    #[getter]
    fn digest(&self) -> &str {
        &self.results.provenance.digest
    }

    #[getter]
    fn completed(&self) -> bool {
        self.results.all_completed()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn cells(&self) -> PyResult<Table> {
        table::cells(&self.results)
    }

    fn samples(&self) -> PyResult<Table> {
        table::samples(&self.results)
    }

    fn account(&self) -> PyResult<Table> {
        table::account(&self.results)
    }

    fn timeline(&self) -> PyResult<Option<Table>> {
        self.timeline.as_ref().map(Recorded::table).transpose()
    }

    /// The figures that there are, and for the other kinds why there is none.
    fn figures(&self, py: Python<'_>) -> (Vec<&'static str>, Vec<(&'static str, String)>) {
        let drawn = py.detach(|| figures::draw(&self.results, &[]));
        let names = drawn.figures.iter().map(|figure| figure.name).collect();
        (names, drawn.omitted.into_iter().map(|omitted| (omitted.name, omitted.why)).collect())
    }

    /// A figure of this name, or the first one that there is.
    fn plot(&self, py: Python<'_>, figure: Option<String>) -> PyResult<Figure> {
        let is_kind = |name: &String| figures::names().any(|kind| kind == *name);
        // All figures, if it is not a kind: the one of the objective has the name of its metric.
        let only: Vec<String> = figure.iter().filter(|name| is_kind(name)).cloned().collect();
        let drawn = py.detach(|| figures::draw(&self.results, &only));
        let named = |drawn: &'static str| figure.as_ref().is_none_or(|name| name == drawn);
        if let Some(found) = drawn.figures.into_iter().find(|drawn| named(drawn.name)) {
            return Figure::of(found);
        }
        let why = match (figure.filter(|name| !is_kind(name)), drawn.omitted.into_iter().next()) {
            (Some(name), _) => {
                let known = figures::names().collect::<Vec<_>>().join(", ");
                format!("no figure `{name}`: use {known}")
            }
            (None, Some(omitted)) => format!("there is no figure {}: {}", omitted.name, omitted.why),
            (None, None) => "there is no figure".to_owned(),
        };
        Err(PyValueError::new_err(why))
    }
}

/// Two sides pair by pair.
#[pyclass(frozen, module = "oversim._native")]
pub(crate) struct Comparison(pub(crate) Contrasts);

#[pymethods]
impl Comparison {
    /// The comparison in a form of `oversim compare --format`.
    fn write(&self, format: &str) -> PyResult<String> {
        let Some(form) = find(compared::FORMS, format) else {
            let names: Vec<&str> = compared::FORMS.iter().map(|form| form.form().name).collect();
            return Err(PyValueError::new_err(format!("no format `{format}`: use {}", names.join(", "))));
        };
        let mut out = Vec::new();
        form.write(&self.0, &mut out, &View::FILE).map_err(|error| written(&error))?;
        String::from_utf8(out).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    #[getter]
    fn too_slow(&self) -> usize {
        self.0.too_slow
    }
}

fn written(error: &io::Error) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
