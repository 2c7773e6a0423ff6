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
    /// The rows, each as long as the header.
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
        let row = |cell: &Cell| {
            let s = &cell.summary;
            let [lo, hi] = s.ci95.map_or_else(Default::default, |ends| ends.map(|end| end.to_string()));
            let words =
                [&cell.configuration, &cell.policy, &cell.app, &cell.metric, &cell.unit].map(Clone::clone);
            let numbers =
                [s.mean.to_string(), s.median.to_string(), lo, hi, s.min.to_string(), s.max.to_string()];
            words.into_iter().chain(numbers).chain([s.n.to_string()]).collect()
        };
        Self { header: CELL.to_vec(), rows: cells.into_iter().map(row).collect() }
    }

    /// As CSV with a header line; no program for tables takes a text for a formula.
    ///
    /// # Errors
    /// What the writer of CSV says.
    pub fn csv(&self) -> Result<String, String> {
        let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
        writer.write_record(&self.header).map_err(|e| e.to_string())?;
        for row in &self.rows {
            let cells = row.iter().map(|text| neutral::cell(text).into_owned());
            writer.write_record(cells).map_err(|e| e.to_string())?;
        }
        let bytes = writer.into_inner().map_err(|e| e.to_string())?;
        String::from_utf8(bytes).map_err(|e| e.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_quotes_what_needs_it() {
        let table =
            Table { header: vec!["configuration", "mean"], rows: vec![vec!["a=1, b=2".into(), "3".into()]] };
        assert_eq!(table.csv().unwrap(), "configuration,mean\n\"a=1, b=2\",3\n");
    }
}
