//! Finished runs on disk, so that an interrupted reproduction goes on where it was.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hmac_sha256::Hash;
use serde::{Deserialize, Serialize};

use super::sample::RunSample;

/// How long the runs of another build of the program are kept.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// The first line of every file, before the version of its form: what does not begin with it belongs to
/// somebody else.
const HEADER: &str = "{\"oversim\":\"finished runs\",\"form\":";
/// The form of the lines.
const FORM: &str = "2}";

/// The cell of a line and its runs.
#[derive(Serialize, Deserialize)]
struct Entry {
    cell: String,
    runs: Vec<RunSample>,
}

/// A file of finished cells, one JSON object per line: `{"sha256":"...","cell":...,"runs":[...]}`, with the
/// checksum of what follows it. The file is only good for the program that wrote it, with all its built-in
/// data: its name holds the program's checksum. A line that is damaged or cut off is left out.
#[derive(Debug)]
pub struct Store {
    file: Option<Mutex<File>>,
    /// The cells found there.
    pub found: BTreeMap<String, Arc<Vec<RunSample>>>,
    /// Lines found there that are damaged or cut off.
    pub damaged: usize,
}

impl Store {
    /// Nothing is kept.
    #[must_use]
    pub fn none() -> Self {
        Self { file: None, found: BTreeMap::new(), damaged: 0 }
    }

    /// Opens the file of this program in a directory, which is made; `variant` tells quick campaigns from
    /// full ones. Files of other builds of the program are removed after a week, and no other files. With
    /// `fresh` what is there is thrown away.
    ///
    /// # Errors
    /// The file cannot be read or written, or another program made it.
    pub fn open(directory: &Path, variant: &str, fresh: bool) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let stem = program()?;
        remove_others(directory, &stem)?;
        let path = directory.join(format!("{stem}-{variant}.ndjson"));
        let mut store = Self::none();
        if path.exists() {
            if !is_ours(&path) {
                let why = format!("{} is no file of finished runs", path.display());
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            if fresh {
                fs::remove_file(&path)?;
            } else {
                store.read(&path)?;
            }
        }
        let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
        if file.metadata()?.len() == 0 {
            file.write_all(format!("{HEADER}{FORM}\n").as_bytes())?;
        } else {
            // A line that was cut off must not swallow the next one.
            file.write_all(b"\n")?;
        }
        store.file = Some(Mutex::new(file));
        Ok(store)
    }

    /// Keeps the runs of a cell. A full disk costs the resumption, not the result.
    pub fn keep(&self, cell: &str, runs: &[RunSample]) {
        let Some(file) = &self.file else { return };
        let entry = Entry { cell: cell.to_owned(), runs: runs.to_vec() };
        if let Ok(text) = serde_json::to_string(&entry) {
            let body = &text[1..];
            let line = format!("{{\"sha256\":\"{}\",{body}\n", checksum(body.as_bytes()));
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = file.write_all(line.as_bytes());
        }
    }

    fn read(&mut self, path: &Path) -> io::Result<()> {
        let lines = BufReader::new(File::open(path)?).split(b'\n');
        for line in lines.skip(1) {
            let line = line?;
            match entry(&line) {
                Some(Entry { cell, runs }) => {
                    self.found.insert(cell, Arc::new(runs));
                }
                None => self.damaged += usize::from(!line.is_empty()),
            }
        }
        Ok(())
    }
}

/// The entry of a line, if its checksum is right.
fn entry(line: &[u8]) -> Option<Entry> {
    let rest = line.strip_prefix(b"{\"sha256\":\"")?;
    let (sum, rest) = rest.split_at_checked(CHECKSUM)?;
    let body = rest.strip_prefix(b"\",")?;
    if checksum(body).as_bytes() != sum {
        return None;
    }
    serde_json::from_slice(line).ok()
}

/// Length of a checksum in hexadecimal digits.
const CHECKSUM: usize = 64;

/// The SHA-256 in hexadecimal digits.
fn checksum(bytes: &[u8]) -> String {
    Hash::hash(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Digits of the program's checksum in the name of its file.
const DIGITS: usize = 16;

/// The first digits of the SHA-256 of the running program.
fn program() -> io::Result<String> {
    let mut sum = checksum(&fs::read(std::env::current_exe()?)?);
    sum.truncate(DIGITS);
    Ok(sum)
}

/// Whether a file begins as this program begins its files, of this form or another.
fn is_ours(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEADER.len() as u64).read_to_end(&mut start));
    read.is_ok() && start == HEADER.as_bytes()
}

/// Whether a name is that of a file of finished runs: `0123456789abcdef-quick.ndjson`.
fn is_name(name: &str) -> bool {
    let Some((stem, "quick.ndjson" | "full.ndjson")) = name.split_once('-') else { return false };
    stem.len() == DIGITS && stem.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// Removes the old files of other builds, which have the name and the first line of such files and are no
/// links.
fn remove_others(directory: &Path, stem: &str) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path: PathBuf = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        let old = found.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > KEPT));
        if old && found.is_file() && is_name(&name) && !name.starts_with(stem) && is_ours(&path) {
            // Another process may have removed it.
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
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let run = RunSample { makespan: 2.5, ..RunSample::default() };
        let store = Store::open(directory, "quick", true).unwrap();
        store.keep("a", std::slice::from_ref(&run));
        if let Some(file) = &store.file {
            file.lock().unwrap().write_all(b"{\"cell\":\"b\",\"ru").unwrap();
        }
        drop(store);
        let store = Store::open(directory, "quick", false).unwrap();
        assert_eq!(store.found.keys().collect::<Vec<_>>(), ["a"]);
        assert_eq!(store.damaged, 1);
        store.keep("c", &[run.clone(), run]);
        drop(store);
        let store = Store::open(directory, "quick", false).unwrap();
        assert_eq!(store.found.keys().collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(store.found["c"].len(), 2);
        drop(Store::open(directory, "quick", true).unwrap());
        assert!(Store::open(directory, "quick", false).unwrap().found.is_empty());
    }

    #[test]
    fn every_changed_byte_of_an_entry_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let run = RunSample { makespan: 2.5, ..RunSample::default() };
        Store::open(directory.path(), "quick", true).unwrap().keep("a", std::slice::from_ref(&run));
        let path = directory.path().join(format!("{}-quick.ndjson", program().unwrap()));
        let whole = fs::read(&path).unwrap();
        let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for at in first..whole.len() - 1 {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&path, changed).unwrap();
            let store = Store::open(directory.path(), "quick", false).unwrap();
            assert!(store.found.is_empty() && store.damaged > 0, "byte {at}");
        }
    }

    #[test]
    fn only_old_files_of_this_program_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let week = std::time::SystemTime::now() - KEPT - KEPT;
        let header = format!("{HEADER}{FORM}\n");
        let files = [
            ("hogs.ndjson", header.as_str(), true),
            ("0123456789abcdef-quick.ndjson", "{}\n", true),
            ("0123456789abcde-quick.ndjson", &header, true),
            ("0123456789abcdef-quick.ndjson.bak", &header, true),
            ("fedcba9876543210-full.ndjson", &header, false),
        ];
        for (name, text, _) in files {
            let path = directory.path().join(name);
            fs::write(&path, text).unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(week).unwrap();
        }
        Store::open(directory.path(), "quick", false).unwrap();
        for (name, _, stays) in files {
            assert_eq!(directory.path().join(name).exists(), stays, "{name}");
        }
    }

    #[test]
    fn a_foreign_file_of_the_same_name_is_refused_and_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(format!("{}-quick.ndjson", program().unwrap()));
        fs::write(&path, "mine\n").unwrap();
        for fresh in [false, true] {
            let error = Store::open(directory.path(), "quick", fresh).unwrap_err();
            assert!(error.to_string().contains("no file of finished runs"), "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), b"mine\n");
    }
}
