//! A figure: its picture, what it says, and the numbers that it shows.

use experiment::result::Cell;
use notation::neutral;

use crate::canvas::Picture;

/// A picture with its data.
#[derive(Clone, PartialEq, Debug)]
pub struct Figure {
    /// Its name, also that of its files.
    pub name: &'static str,
    /// What it says, a sentence.
    pub title: String,
    /// What it shows.
    pub about: String,
    /// The picture.
    pub picture: Picture,
    /// The numbers in it.
    pub data: Table,
}

/// A kind of figure that was left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Omitted {
    /// Its name.
    pub name: &'static str,
    /// Why, a half-sentence.
    pub why: String,
}

/// Numbers as rows of text.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Table {
    /// Names of the columns.
    pub header: Vec<&'static str>,
    /// Names of the columns behind these: of swept parameters.
    pub swept: Vec<String>,
    /// The rows, each as long as both.
    pub rows: Vec<Vec<String>>,
}

/// The columns of a table of cells, as in `cells.csv`.
const CELL: [&str; 12] = [
    "configuration",
    "policy",
    "app",
    "metric",
    "unit",
    "mean",
    "median",
    "ci95_lo",
    "ci95_hi",
    "min",
    "max",
    "n",
];

impl Table {
    /// A row per cell.
    pub(crate) fn of_cells<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Self {
        let cells: Vec<&Cell> = cells.into_iter().collect();
        let swept = swept(&cells);
        let row = |cell: &Cell| {
            let s = &cell.summary;
            let [lo, hi] = s.ci95.map_or_else(Default::default, |ends| ends.map(|end| end.to_string()));
            let words =
                [&cell.configuration, &cell.policy, &cell.app, &cell.metric, &cell.unit].map(Clone::clone);
            let numbers =
                [s.mean.to_string(), s.median.to_string(), lo, hi, s.min.to_string(), s.max.to_string()];
            let rest = [s.n.to_string()].into_iter().chain(set(cell, &swept));
            words.into_iter().chain(numbers).chain(rest).collect()
        };
        let rows = cells.iter().map(|cell| row(cell)).collect();
        Self { header: CELL.to_vec(), swept, rows }
    }

    /// The names of all columns.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.header.iter().copied().chain(self.swept.iter().map(String::as_str))
    }

    /// As CSV with a header line; no program for tables takes a text for a formula. No field has a comma, so
    /// that programs read it that know no quotation marks, as pgfplots.
    ///
    /// # Errors
    /// What the writer of CSV says.
    pub fn csv(&self) -> Result<String, String> {
        let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
        writer.write_record(self.columns().map(plain)).map_err(|e| e.to_string())?;
        for row in &self.rows {
            let cells = row.iter().map(|text| plain(&neutral::cell(text)));
            writer.write_record(cells).map_err(|e| e.to_string())?;
        }
        let bytes = writer.into_inner().map_err(|e| e.to_string())?;
        String::from_utf8(bytes).map_err(|e| e.to_string())
    }
}

/// A field without commas.
fn plain(text: &str) -> String {
    text.replace(", ", "; ").replace(',', ";")
}

/// The paths that the configurations of these cells set.
pub(crate) fn swept(cells: &[&Cell]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for (path, _) in cells.iter().flat_map(|cell| &cell.settings.0) {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths
}

/// What the configuration of a cell sets at these paths, numbers in base units.
pub(crate) fn set<'a>(cell: &'a Cell, paths: &'a [String]) -> impl Iterator<Item = String> + 'a {
    paths.iter().map(|path| cell.settings.get(path).map_or_else(String::new, ToString::to_string))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_needs_no_quotation_marks() {
        let table = Table {
            header: vec!["configuration", "mean"],
            swept: vec!["a".into()],
            rows: vec![vec!["a=1, b=2".into(), "-3".into(), "1".into()]],
        };
        assert_eq!(table.csv().unwrap(), "configuration,mean,a\na=1; b=2,-3,1\n");
    }
}
