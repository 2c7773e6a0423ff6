//! Finished runs on disk, so that an interrupted reproduction goes on where it was.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hmac_sha256::Hash;
use serde::{Deserialize, Serialize};

use super::sample::RunSample;

/// How long the runs of other sources are kept.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// The first line of every file, before the version of its form: what does not begin with it belongs to
/// somebody else.
const HEADER: &str = "{\"oversim\":\"finished runs\",\"form\":";
/// The form of the lines.
const FORM: &str = "3}";

/// The run of a line: its checksum, and what is kept of it.
#[derive(Serialize, Deserialize)]
struct Entry {
    name: String,
    run: RunSample,
}

/// A file of finished runs, one JSON object per line: `{"sha256":"...","name":...,"run":{...}}`, with the
/// checksum of what follows it. A run is named by the checksum of its resolved plan, so a cell that changes
/// finds nothing, and one that is only renamed finds its runs. The file is only good for the sources that
/// made it (engine, policies, reading of runs): its name holds their checksum. A line that is damaged or
/// cut off is left out.
#[derive(Debug)]
pub struct Store {
    file: Option<Mutex<File>>,
    /// The runs found there.
    pub found: BTreeMap<String, RunSample>,
    /// Lines found there that are damaged or cut off.
    pub damaged: usize,
}

impl Store {
    /// Nothing is kept.
    #[must_use]
    pub fn none() -> Self {
        Self { file: None, found: BTreeMap::new(), damaged: 0 }
    }

    /// Opens the file of these sources in a directory, which is made. Files of other sources are removed
    /// after a week, and no other files. With `fresh` what is there is not used; what is kept then takes
    /// its place.
    ///
    /// # Errors
    /// The file cannot be read or written, or another program made it.
    pub fn open(directory: &Path, fresh: bool) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let stem = stem();
        remove_others(directory, stem)?;
        let path = directory.join(format!("{stem}.ndjson"));
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(&path)?;
        // One process at a time writes the first line. File systems without locks do without.
        let _ = file.lock();
        begin(&mut file, &path)?;
        let _ = file.unlock();
        let mut store = Self::none();
        if !fresh {
            store.read(&path)?;
        }
        // A line that was cut off must not swallow the next one.
        file.write_all(b"\n")?;
        store.file = Some(Mutex::new(file));
        Ok(store)
    }

    /// Keeps a run. A full disk costs the resumption, not the result.
    pub fn keep(&self, name: &str, run: &RunSample) {
        let Some(file) = &self.file else { return };
        let entry = Entry { name: name.to_owned(), run: run.clone() };
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
                Some(Entry { name, run }) => {
                    self.found.insert(name, run);
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

/// Digits of the sources' checksum in the name of their file.
const DIGITS: usize = 16;

/// The first digits of the SHA-256 of the sources.
fn stem() -> &'static str {
    let sum = env!("OVERSIM_SOURCES");
    sum.get(..DIGITS).unwrap_or(sum)
}

/// Whether a file begins as this program begins its files, of this form or another.
fn is_ours(path: &Path) -> bool {
    File::open(path).and_then(|file| first_bytes(&file)).is_ok_and(|start| start == HEADER.as_bytes())
}

/// As many bytes of a file as the header has.
fn first_bytes(file: &File) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    file.take(HEADER.len() as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// Writes the first line of a file, unless it is there. A process that was killed, or a full disk, may have
/// left a part of it: such a file holds nothing.
fn begin(file: &mut File, path: &Path) -> io::Result<()> {
    let start = first_bytes(file)?;
    let line = format!("{HEADER}{FORM}\n");
    if start == HEADER.as_bytes() {
        // A part of the form may be missing.
        let whole = file.metadata()?.len() >= line.len() as u64;
        if whole { Ok(()) } else { file.set_len(0).and_then(|()| file.write_all(line.as_bytes())) }
    } else if HEADER.as_bytes().starts_with(&start) {
        file.set_len(0).and_then(|()| file.write_all(line.as_bytes()))
    } else {
        let why = format!("{} is no file of finished runs", path.display());
        Err(io::Error::new(io::ErrorKind::InvalidData, why))
    }
}

/// Whether a name is that of a file of finished runs: `0123456789abcdef.ndjson`, or with `-quick` as older
/// versions wrote them.
fn is_name(name: &str) -> bool {
    let Some(name) = name.strip_suffix(".ndjson") else { return false };
    let stem = name.strip_suffix("-quick").or_else(|| name.strip_suffix("-full")).unwrap_or(name);
    stem.len() == DIGITS && stem.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// Removes the old files of other sources, which have the name and the first line of such files and are no
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
        let store = Store::open(directory, true).unwrap();
        store.keep("a", &run);
        if let Some(file) = &store.file {
            file.lock().unwrap().write_all(b"{\"name\":\"b\",\"ru").unwrap();
        }
        drop(store);
        let store = Store::open(directory, false).unwrap();
        assert_eq!(store.found.keys().collect::<Vec<_>>(), ["a"]);
        assert_eq!(store.damaged, 1);
        store.keep("c", &run);
        drop(store);
        let store = Store::open(directory, false).unwrap();
        assert_eq!(store.found.keys().collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(store.found["c"], run);
        // What is not used stays, until something takes its place.
        let fresh = Store::open(directory, true).unwrap();
        assert!(fresh.found.is_empty());
        fresh.keep("c", &RunSample { makespan: 3.5, ..RunSample::default() });
        drop(fresh);
        let store = Store::open(directory, false).unwrap();
        assert_eq!((store.found.len(), store.found["c"].makespan), (2, 3.5));
    }

    #[test]
    fn every_changed_byte_of_an_entry_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let run = RunSample { makespan: 2.5, ..RunSample::default() };
        Store::open(directory.path(), true).unwrap().keep("a", &run);
        let path = directory.path().join(format!("{}.ndjson", stem()));
        let whole = fs::read(&path).unwrap();
        let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for at in first..whole.len() - 1 {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&path, changed).unwrap();
            let store = Store::open(directory.path(), false).unwrap();
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
            ("0123456789abcde.ndjson", &header, true),
            ("0123456789abcdef.ndjson", &header, false),
            ("0123456789abcdef-quick.ndjson.bak", &header, true),
            ("fedcba9876543210-full.ndjson", &header, false),
        ];
        for (name, text, _) in files {
            let path = directory.path().join(name);
            fs::write(&path, text).unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(week).unwrap();
        }
        Store::open(directory.path(), false).unwrap();
        for (name, _, stays) in files {
            assert_eq!(directory.path().join(name).exists(), stays, "{name}");
        }
    }

    #[test]
    fn a_first_line_that_was_cut_off_is_written_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(format!("{}.ndjson", stem()));
        let line = format!("{HEADER}{FORM}\n");
        for length in 0..=line.len() {
            fs::write(&path, &line[..length]).unwrap();
            let store = Store::open(directory.path(), false).unwrap();
            assert_eq!(store.damaged, 0, "{length}");
            store.keep("a", &RunSample::default());
            drop(store);
            let store = Store::open(directory.path(), false).unwrap();
            assert_eq!((store.found.len(), store.damaged), (1, 0), "{length}");
            assert!(fs::read_to_string(&path).unwrap().starts_with(&line), "{length}");
        }
    }

    #[test]
    fn processes_that_begin_at_the_same_time_share_a_file() {
        for _ in 0..20 {
            let directory = tempfile::tempdir().unwrap();
            std::thread::scope(|scope| {
                for name in ["a", "b", "c", "d"] {
                    let open = || Store::open(directory.path(), false).unwrap();
                    scope.spawn(move || open().keep(name, &RunSample::default()));
                }
            });
            let store = Store::open(directory.path(), false).unwrap();
            assert_eq!((store.found.len(), store.damaged), (4, 0));
        }
    }

    #[test]
    fn a_foreign_file_of_the_same_name_is_refused_and_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(format!("{}.ndjson", stem()));
        fs::write(&path, "mine\n").unwrap();
        for fresh in [false, true] {
            let error = Store::open(directory.path(), fresh).unwrap_err();
            assert!(error.to_string().contains("no file of finished runs"), "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), b"mine\n");
    }
}
