//! Figures: pictures with their numbers.

use pictures::canvas::Picture;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// Pixels of a PNG for each pixel of the SVG.
const SCALE: f32 = 2.0;

/// A picture. A notebook shows it; `save` writes it as SVG, PNG or, its numbers, as CSV.
#[pyclass(frozen, module = "oversim")]
pub(crate) struct Figure {
    name: String,
    title: String,
    about: String,
    picture: Picture,
    csv: Option<String>,
}

impl Figure {
    /// A figure of a result.
    pub(crate) fn of(figure: pictures::figures::Figure) -> PyResult<Self> {
        let csv = figure.data.csv().map_err(PyValueError::new_err)?;
        Ok(Self {
            name: figure.name.into(),
            title: figure.title,
            about: figure.about,
            picture: figure.picture,
            csv: Some(csv),
        })
    }

    /// A timeline.
    pub(crate) fn timeline(title: String, about: String, picture: Picture) -> Self {
        Self { name: "timeline".into(), title, about, picture, csv: None }
    }
}

#[pymethods]
impl Figure {
    /// Its kind, such as `slowdown`.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// What it shows, a sentence.
    #[getter]
    fn title(&self) -> &str {
        &self.title
    }

    /// What it shows.
    #[getter]
    fn about(&self) -> &str {
        &self.about
    }

    /// The picture as SVG.
    #[getter]
    fn svg(&self, py: Python<'_>) -> String {
        py.detach(|| self.picture.svg())
    }

    /// The numbers in it as CSV; a timeline has none.
    #[getter]
    fn csv(&self) -> Option<&str> {
        self.csv.as_deref()
    }

    /// Writes the picture to a file whose name ends in `.svg` or `.png`, or its numbers to one that ends in
    /// `.csv`.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
        let bytes = match (ending.as_deref(), &self.csv) {
            (Some("svg"), _) => self.svg(py).into_bytes(),
            (Some("png"), _) => py.detach(|| self.picture.png(SCALE)).map_err(PyOSError::new_err)?,
            (Some("csv"), Some(csv)) => csv.clone().into_bytes(),
            (Some("csv"), None) => return Err(PyValueError::new_err("a timeline has no numbers to write")),
            _ => {
                let name = path.display();
                return Err(PyValueError::new_err(format!("`{name}` must end in .svg, .png or .csv")));
            }
        };
        std::fs::write(&path, bytes)
            .map_err(|error| PyOSError::new_err(format!("cannot write {}: {error}", path.display())))
    }

    fn _repr_svg_(&self, py: Python<'_>) -> String {
        self.svg(py)
    }

    fn __str__(&self) -> &str {
        &self.title
    }

    fn __repr__(&self) -> String {
        format!("<oversim.Figure {}: {}>", self.name, self.title)
    }
}
