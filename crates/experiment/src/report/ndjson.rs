//! NDJSON: provenance, cells, comparisons and notes as one object per line, each with its `kind`.

use std::io::{self, Write};

use serde::Serialize;

use crate::result::Results;

/// A line: what it is, and the object's own fields.
#[derive(Serialize)]
struct Line<'a, T> {
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a str>,
    #[serde(flatten)]
    item: &'a T,
}

/// Writes the provenance (with the schema's name), then every cell, comparison, note and replay.
pub(super) fn write(results: &Results, out: &mut dyn Write, _width: usize) -> io::Result<()> {
    line(out, "provenance", Some(&results.schema), &results.provenance)?;
    for cell in &results.cells {
        line(out, "cell", None, cell)?;
    }
    for comparison in &results.comparisons {
        line(out, "comparison", None, comparison)?;
    }
    for note in &results.notes {
        line(out, "note", None, note)?;
    }
    for replay in &results.replays {
        line(out, "replay", None, replay)?;
    }
    Ok(())
}

fn line<T: Serialize>(out: &mut dyn Write, kind: &str, schema: Option<&str>, item: &T) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Line { kind, schema, item })?;
    out.write_all(b"\n")
}
