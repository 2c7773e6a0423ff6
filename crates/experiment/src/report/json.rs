//! JSON: the whole result as one object, with the answer.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::export::{Exporter, Form, View};
use crate::result::Results;
use crate::statements::{Extremes, Said, Table, answer};

/// The result of an experiment with its answer.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Written<'a> {
    #[serde(flatten)]
    results: &'a Results,
    /// The statements of the answer, each with the values that it speaks of. They follow from `cells`, so a
    /// result that is read needs none.
    #[serde(default)]
    answer: Vec<Said<'a>>,
}

/// Writes the result, indented, with a final newline.
#[derive(Debug)]
pub(super) struct Json;

impl Exporter<Results> for Json {
    fn form(&self) -> Form {
        Form { name: "json", file: Some("result.json"), about: "One JSON object with all details" }
    }

    fn write(&self, results: &Results, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        let table = Table::of(results);
        let extremes = Extremes::of(&table);
        let answer = extremes.map(|extremes| answer::said(&table, &extremes)).unwrap_or_default();
        serde_json::to_writer_pretty(&mut *out, &Written { results, answer })?;
        out.write_all(b"\n")
    }
}
