//! JSON: the whole result as one object.

use std::io::{self, Write};

use crate::export::{Exporter, Form, View};
use crate::result::Results;

/// Writes the result, indented, with a final newline.
#[derive(Debug)]
pub(super) struct Json;

impl Exporter<Results> for Json {
    fn form(&self) -> Form {
        Form { name: "json", file: Some("result.json"), about: "One JSON object with all details" }
    }

    fn write(&self, results: &Results, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, results)?;
        out.write_all(b"\n")
    }
}
