//! The forms in which a result is written, one file each, and their registry.

mod answer;
mod csv;
mod jobs;
mod json;
mod markdown;
mod ndjson;
#[cfg(feature = "parquet")]
pub mod parquet;
mod table;
mod text;
mod tidy;

pub(crate) use json::Written;
pub(crate) use ndjson::Line;

use notation::neutral;

pub use crate::export::{DEFAULT_WIDTH, Exported, Exporter, Form, View};

use crate::export::find;
use crate::result::Results;
use crate::statements::Table;

/// A word as a shell wants it; invisible characters are shown.
#[must_use]
pub fn quoted(word: &str) -> String {
    let word = neutral::line(word);
    let word = word.as_ref();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// All forms.
pub const FORMATS: &[Exported<Results>] = &[
    &answer::Text,
    &json::Json,
    &ndjson::Ndjson,
    &csv::Csv,
    &tidy::Tidy,
    &jobs::Jobs,
    &markdown::Markdown,
    #[cfg(feature = "parquet")]
    &parquet::Parquet,
];

/// A table of texts: names of the columns, and rows as long as these.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Names of the columns.
    pub head: Vec<String>,
    /// The rows; the first entry of each is its name.
    pub rows: Vec<Vec<String>>,
}

/// The comparison of the policies at one configuration, by its number, as the text report shows it, without
/// the account of the cpu time.
#[must_use]
pub fn comparison(index: &Table<'_>, configuration: usize) -> Grid {
    let table = table::Comparison::at(index, configuration);
    let columns: Vec<&table::Column> =
        [&table.rows].into_iter().chain(table.groups.iter().rev().skip(1).rev().flatten()).collect();
    let entry = |column: &table::Column, row: usize| column.entries.get(row).cloned().unwrap_or_default();
    Grid {
        head: columns.iter().map(|column| markdown::head(column)).collect(),
        rows: (0..table.rows.entries.len())
            .map(|row| columns.iter().map(|column| entry(column, row)).collect())
            .collect(),
    }
}

/// What the rows and columns of [`comparison`] mean.
#[must_use]
pub fn legend(results: &Results) -> String {
    table::legend(results)
}

/// The form of this name.
#[must_use]
pub fn format(name: &str) -> Option<Exported<Results>> {
    find(FORMATS, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Note, Results, fixture};

    fn written(name: &str, results: &Results) -> String {
        let mut out = Vec::new();
        format(name).unwrap().write(results, &mut out, &View::FILE).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json_reads_back_as_what_was_written() {
        let results = fixture::two_apps();
        let text = written("json", &results);
        assert_eq!(serde_json::from_str::<Results>(&text).unwrap(), results);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let keys: Vec<_> = value["cells"][0].as_object().unwrap().keys().cloned().collect();
        let documented =
            "scenario configuration settings policy app metric unit mean median ci95 min max n values"
                .split(' ')
                .collect::<Vec<_>>();
        assert_eq!(keys, documented);
    }

    #[test]
    fn every_line_of_ndjson_has_its_kind() {
        let results = fixture::two_apps();
        let text = written("ndjson", &results);
        let kinds: Vec<String> = text
            .lines()
            .map(|line| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["kind"].as_str().unwrap().into()
            })
            .collect();
        assert_eq!(kinds.len(), 1 + results.cells.len());
        assert_eq!((kinds[0].as_str(), kinds[1].as_str()), ("provenance", "cell"));
    }

    #[test]
    fn csv_has_a_row_per_cell_and_no_comment() {
        let mut results = fixture::two_apps();
        results.cells[0].summary.ci95 = None;
        let text = written("csv", &results);
        assert_eq!(text.lines().count(), 1 + results.cells.len());
        assert!(text.starts_with(
            "scenario,threads_per_core,policy,app,metric,unit,mean,median,ci95_lo,ci95_hi,min,max,n\n"
        ));
        assert!(text.contains("share,1,dedicated,cg,run_time,s,5,5,,,4.95,5.05,3"), "{text}");
    }

    #[test]
    fn tidy_csv_has_a_row_per_measured_value_with_its_seed() {
        let mut results = fixture::two_apps();
        results.cells[0].values[1] = None;
        results.cells[1].values.clear();
        let text = written("tidy", &results);
        assert!(
            text.starts_with("scenario,threads_per_core,policy,app,metric,unit,replicate,seed,value\n"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 1 + 3 * results.cells.len() - 1 - 3);
        assert!(text.contains("share,1,dedicated,cg,run_time,s,2,3,5.05\n"), "{text}");
        assert!(!text.contains("dedicated,cg,run_time,s,1,"), "{text}");
    }

    #[test]
    fn text_fits_its_width_and_shows_every_policy() {
        let results = fixture::two_apps();
        let text = written("text", &results);
        assert!(text.lines().all(|line| line.chars().count() <= DEFAULT_WIDTH), "{text}");
        assert!(
            text.lines().any(|line| line.starts_with("dedicated") && line.contains("5.000 ±0.050")),
            "{text}"
        );
        assert!(text.lines().any(|line| line.starts_with("PIN") && line.contains("1.25")), "{text}");
    }

    #[test]
    fn runs_that_did_not_complete_are_named() {
        let mut results = fixture::two_apps();
        results.notes.push(Note {
            configuration: "threads_per_core=1".into(),
            policy: "LOAD".into(),
            replicate: 2,
            seed: 3,
            outcome: "deadlock".into(),
            text: "deadlock: cg waits".into(),
        });
        for name in ["text", "markdown"] {
            let text = written(name, &results);
            assert!(text.contains("LOAD (2 of 3)") && text.contains("seed 3: deadlock: cg waits"), "{text}");
        }
    }

    #[test]
    fn formats_have_names_and_files_of_their_own() {
        let forms: Vec<Form> = FORMATS.iter().map(|exporter| exporter.form()).collect();
        for (i, a) in forms.iter().enumerate() {
            assert!(forms[..i].iter().all(|b| a.name != b.name && a.file != b.file));
        }
    }
}
