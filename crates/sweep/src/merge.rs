//! Puts the runs of all parts into one file, in the order of their numbers.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::plan::Plan;
use crate::read::configurations;
use crate::row::Row;
use crate::status::Status;
use crate::store::{Store, StoreError, UNNAMED};

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
    #[cfg(feature = "parquet")]
    let failed = |path: &Path, error: &io::Error| {
        StoreError::Failed(format!("cannot write {}: {error}", path.display()))
    };
    let mut lines = Unnamed::new(store.directory(), &path)?;
    let head = serde_json::to_string(&Head { kind: "plan", plan }).unwrap_or_default();
    lines.line(&head)?;
    #[cfg(feature = "parquet")]
    let (table_path, mut table) = {
        let table_path = store.directory().join(PARQUET);
        let file = tempfile::Builder::new().prefix(UNNAMED).tempfile_in(store.directory());
        let file = file.map_err(|error| failed(&table_path, &error))?;
        let table = crate::columns::Table::new(file, plan).map_err(|error| failed(&table_path, &error))?;
        (table_path, table)
    };
    let mut runs = 0;
    configurations(plan, &index, &mut |rows: Vec<Row>| {
        for row in &rows {
            lines.line(&row.line())?;
        }
        runs += rows.len() as u64;
        #[cfg(feature = "parquet")]
        table.add(&rows).map_err(|error| failed(&table_path, &error))?;
        Ok(())
    })?;
    let files = vec![path.clone()];
    lines.finish()?;
    #[cfg(feature = "parquet")]
    let files = {
        let file = table.finish().map_err(|error| failed(&table_path, &error))?;
        file.persist(&table_path).map_err(|error| failed(&table_path, &error.error))?;
        [files, vec![table_path]].concat()
    };
    Ok(Merged::Whole(runs, files))
}

/// A file of lines that gets its name when it is whole.
struct Unnamed<'a> {
    out: BufWriter<tempfile::NamedTempFile>,
    path: &'a Path,
}

impl<'a> Unnamed<'a> {
    fn new(folder: &Path, path: &'a Path) -> Result<Self, StoreError> {
        let file = tempfile::Builder::new().prefix(UNNAMED).tempfile_in(folder);
        let out = file.map(BufWriter::new).map_err(|error| Self::failed(path, &error))?;
        Ok(Self { out, path })
    }

    fn failed(path: &Path, error: &io::Error) -> StoreError {
        StoreError::Failed(format!("cannot write {}: {error}", path.display()))
    }

    fn line(&mut self, line: &str) -> Result<(), StoreError> {
        let written = self.out.write_all(line.as_bytes()).and_then(|()| self.out.write_all(b"\n"));
        written.map_err(|error| Self::failed(self.path, &error))
    }

    fn finish(self) -> Result<(), StoreError> {
        let path = self.path;
        let file = self.out.into_inner().map_err(|error| Self::failed(path, error.error()))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let _ = file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644));
        }
        let synced: io::Result<()> = File::sync_all(file.as_file());
        synced.map_err(|error| Self::failed(path, &error))?;
        file.persist(path).map(drop).map_err(|error| Self::failed(path, &error.error))
    }
}
