//! Finished runs on disk, so that an interrupted reproduction goes on where it was.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::sample::RunSample;

/// How long the runs of another build of the program are kept.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    cell: String,
    runs: Vec<RunSample>,
}

/// A file of finished cells, one JSON object per line, only good for the program that wrote it: its name holds the program's
/// checksum. A line that is cut off is ignored.
#[derive(Debug)]
pub struct Store {
    file: Option<Mutex<File>>,
    /// The cells found there.
    pub found: BTreeMap<String, Arc<Vec<RunSample>>>,
}

impl Store {
    /// Nothing is kept.
    #[must_use]
    pub fn none() -> Self {
        Self { file: None, found: BTreeMap::new() }
    }

    /// Opens the file of this program in a directory, which is made; `variant` tells quick campaigns from full ones. Files of other
    /// builds of the program are removed after a week. With `fresh` what is there is thrown away.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn open(directory: &Path, variant: &str, fresh: bool) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let stem = program()?;
        remove_others(directory, &stem)?;
        let path = directory.join(format!("{stem}-{variant}.ndjson"));
        let mut found = BTreeMap::new();
        if fresh {
            let _ = fs::remove_file(&path);
        } else if path.exists() {
            found = read(&path)?;
        }
        let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
        // A line that was cut off must not swallow the next one.
        file.write_all(b"\n")?;
        Ok(Self { file: Some(Mutex::new(file)), found })
    }

    /// Keeps the runs of a cell. A full disk costs the resumption, not the result.
    pub fn keep(&self, cell: &str, runs: &[RunSample]) {
        let Some(file) = &self.file else { return };
        let line = Line { cell: cell.to_owned(), runs: runs.to_vec() };
        if let Ok(mut text) = serde_json::to_string(&line) {
            text.push('\n');
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = file.write_all(text.as_bytes());
        }
    }
}

fn read(path: &Path) -> io::Result<BTreeMap<String, Arc<Vec<RunSample>>>> {
    let lines = BufReader::new(File::open(path)?).split(b'\n');
    let mut found = BTreeMap::new();
    for line in lines {
        if let Ok(Line { cell, runs }) = serde_json::from_slice(&line?) {
            found.insert(cell, Arc::new(runs));
        }
    }
    Ok(found)
}

/// The first digits of the SHA-256 of the running program.
fn program() -> io::Result<String> {
    let bytes = fs::read(std::env::current_exe()?)?;
    let digest = Sha256::digest(&bytes);
    Ok(digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

fn remove_others(directory: &Path, stem: &str) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path: PathBuf = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let old = path
            .metadata()
            .and_then(|m| m.modified())
            .is_ok_and(|at| at.elapsed().is_ok_and(|age| age > KEPT));
        if name.ends_with(".ndjson") && !name.starts_with(stem) && old {
            let _ = fs::remove_file(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_found_again_even_behind_a_line_cut_off() {
        let directory = std::env::temp_dir().join(format!("oversim-store-{}", std::process::id()));
        let run = RunSample { makespan: 2.5, ..RunSample::default() };
        let store = Store::open(&directory, "test", true).unwrap();
        store.keep("a", std::slice::from_ref(&run));
        if let Some(file) = &store.file {
            file.lock().unwrap().write_all(b"{\"cell\":\"b\",\"ru").unwrap();
        }
        drop(store);
        let store = Store::open(&directory, "test", false).unwrap();
        assert_eq!(store.found.keys().collect::<Vec<_>>(), ["a"]);
        store.keep("c", &[run.clone(), run]);
        drop(store);
        let store = Store::open(&directory, "test", false).unwrap();
        assert_eq!(store.found.keys().collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(store.found["c"].len(), 2);
        drop(Store::open(&directory, "test", true).unwrap());
        assert!(Store::open(&directory, "test", false).unwrap().found.is_empty());
        fs::remove_dir_all(&directory).unwrap();
    }
}
