//! Puts the runs of all parts into one file, in the order of their numbers.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

#[cfg(feature = "parquet")]
use crate::columns::{Table, of_axes};
use crate::plan::Plan;
use crate::read::{configurations, in_plan, unreadable};
use crate::row::{Brief, Row};
use crate::status::Status;
use crate::store::{Store, StoreError};
use crate::unnamed::Unnamed;

/// The merged runs as one JSON object per line.
pub const NDJSON: &str = "runs.ndjson";
/// The merged values as a table, one row for each.
#[cfg(feature = "parquet")]
pub const PARQUET: &str = "runs.parquet";

/// How a merge ended.
#[derive(Debug)]
pub enum Merged {
    /// All runs were there: how many, and the files.
    Whole(u64, Vec<PathBuf>),
    /// Runs are missing, and nothing was written.
    Missing(Status),
}

/// The first line of the merged file: the plan.
#[derive(Serialize)]
struct Head<'a> {
    kind: &'a str,
    #[serde(flatten)]
    plan: &'a Plan,
}

/// Merges the runs of a directory into its files [`NDJSON`] and, in a program with Parquet, `runs.parquet`.
/// Their bytes depend on the plan only.
///
/// # Errors
/// A part is damaged or of another plan, two parts disagree, or a file cannot be read or written.
pub fn merge(store: &Store, plan: &Plan) -> Result<Merged, StoreError> {
    let (status, index) = Status::with_index(store, plan)?;
    if !status.is_complete() {
        return Ok(Merged::Missing(status));
    }
    let path = store.directory().join(NDJSON);
    let failed = |error: io::Error| StoreError::failed("write", &path, &error);
    let mut lines = Unnamed::new(&path).map_err(failed)?;
    let head = serde_json::to_string(&Head { kind: "plan", plan }).unwrap_or_default();
    writeln!(lines, "{head}").map_err(failed)?;
    #[cfg(feature = "parquet")]
    let table_path = store.directory().join(PARQUET);
    #[cfg(feature = "parquet")]
    let table_failed = |error: io::Error| StoreError::failed("write", &table_path, &error);
    #[cfg(feature = "parquet")]
    let mut table = Unnamed::new(&table_path)
        .and_then(|file| Table::new(file, plan, of_axes(&plan.provenance.sweep)))
        .map_err(table_failed)?;
    let mut runs = 0;
    if are_final(plan) {
        index.read(&mut |run, line| {
            let row = Brief::read(line).map_err(|why| unreadable(run, &why))?;
            in_plan(plan, run, row.configuration, row.replicate)?;
            runs += 1;
            writeln!(lines, "{line}").map_err(failed)
        })?;
    } else {
        configurations(plan, &index, &mut |rows: Vec<Row>| {
            for row in &rows {
                writeln!(lines, "{}", row.line()).map_err(failed)?;
            }
            runs += rows.len() as u64;
            #[cfg(feature = "parquet")]
            table.add(&rows).map_err(table_failed)?;
            Ok(())
        })?;
    }
    lines.finish().map_err(failed)?;
    #[cfg(feature = "parquet")]
    table.finish().and_then(Unnamed::finish).map_err(table_failed)?;
    let files = vec![
        path.clone(),
        #[cfg(feature = "parquet")]
        table_path.clone(),
    ];
    Ok(Merged::Whole(runs, files))
}

/// Whether the lines of the parts are those of the merged file. Otherwise metrics that refer to dedicated
/// runs are added to them, or their values are written to a table, too.
const fn are_final(plan: &Plan) -> bool {
    plan.dedicated.is_empty() && cfg!(not(feature = "parquet"))
}
