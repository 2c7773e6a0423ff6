//! NDJSON: provenance, cells, comparisons, partitions, notes, replays and counters as one object per line,
//! each with its `kind`.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::Comparison;
use crate::export::{Exporter, Form, View};
use crate::provenance::Provenance;
use crate::references::BestPartition;
use crate::result::{Cell, Counted, Note, Results};
use crate::schedule::Replay;

/// A line: its `kind` and the fields of the object.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Line<'a> {
    /// The first line.
    Provenance {
        /// Name and version of the form.
        schema: &'a str,
        /// Where the numbers come from.
        #[serde(flatten)]
        provenance: &'a Provenance,
    },
    /// What was measured.
    Cell(&'a Cell),
    /// A policy against the first one.
    Comparison(&'a Comparison),
    /// The best static partition at a configuration.
    BestPartition(&'a BestPartition),
    /// A run that did not complete.
    Note(&'a Note),
    /// The outcome of a replayed schedule in a run.
    Replay(&'a Replay),
    /// What the policy of a run has counted itself.
    Counters(&'a Counted),
}

/// Writes the provenance (with the schema's name), then everything else in the order of the JSON form.
#[derive(Debug)]
pub(super) struct Ndjson;

impl Exporter<Results> for Ndjson {
    fn form(&self) -> Form {
        Form { name: "ndjson", file: None, about: "The same, one JSON object per line" }
    }

    fn write(&self, results: &Results, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        let head = Line::Provenance { schema: &results.schema, provenance: &results.provenance };
        let lines = [head].into_iter();
        let lines = lines.chain(results.cells.iter().map(Line::Cell));
        let lines = lines.chain(results.comparisons.iter().map(Line::Comparison));
        let lines = lines.chain(results.best_partitions.iter().map(Line::BestPartition));
        let lines = lines.chain(results.notes.iter().map(Line::Note));
        let lines = lines.chain(results.replays.iter().map(Line::Replay));
        for line in lines.chain(results.counters.iter().map(Line::Counters)) {
            serde_json::to_writer(&mut *out, &line)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}
