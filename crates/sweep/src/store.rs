//! The directory of a sweep: the plan, and what the runs measured, in parts.
//!
//! A worker appends each run to its journal, `parts/I-of-N.open`, as one line with a checksum. A torn
//! last line, of a worker that was killed, is ignored. When a journal is long, or its worker ends, its
//! runs become a part: a file in the order of runs with a checksum, written under another name and
//! renamed. A journal is locked by its worker; the journal of a dead worker becomes a part as soon as
//! another one starts.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::plan::{Plan, SCHEMA, Shard, hex};
use crate::request::Request;
use crate::row::Row;
use crate::unfinished::{self, UnfinishedDirectory};
use crate::unnamed::Unnamed;
use hmac_sha256::Hash;
use notation::neutral;
use scenario::inputs::{self, Inputs};
use serde::{Deserialize, Serialize};

/// The file of the plan.
pub const PLAN: &str = "plan.json";
/// The directory of parts.
const PARTS: &str = "parts";
/// The directory of the messages of an engine; its script makes it before the first worker starts.
const LOGS: &str = "logs";
/// Time after which a journal that another process has locked is tried again.
const AGAIN: Duration = Duration::from_millis(50);
/// Runs of a journal that become a part: few enough to be sorted in memory.
const PART: usize = 4096;

/// Why the directory cannot be used.
#[derive(Debug)]
pub enum StoreError {
    /// It holds something else, or another worker uses it: a sentence.
    Refused(String),
    /// It cannot be read or written: a sentence.
    Failed(String),
}

impl StoreError {
    pub(crate) fn failed(what: &str, path: &Path, error: &io::Error) -> Self {
        Self::Failed(format!("cannot {what} {}: {error}", path.display()))
    }
}

type Done<T> = Result<T, StoreError>;

/// Lines of a file with the numbers of their runs.
type Numbered<'a> = Vec<(u64, &'a str)>;

/// The directory of a sweep.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
    plan: String,
    /// Other directories of the same sweep, which are only read.
    others: Vec<PathBuf>,
}

/// The first line of a part.
#[derive(Serialize, Deserialize)]
struct Head {
    kind: String,
    schema: String,
    /// The plan to which the runs belong.
    plan: String,
    /// How many there are.
    runs: usize,
    /// CRC-32 of all that follows this line, hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    crc32: Option<String>,
    /// SHA-256 of the same, hex, in parts from before version 1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// The shard of its worker, `3-of-17`; absent in copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shard: Option<String>,
}

/// Where the line of a run is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Found {
    pub(crate) run: u64,
    file: u32,
    begin: u32,
    length: u32,
}

/// All runs that a directory has, in the order of their numbers; runs in several parts are there several
/// times.
#[derive(Debug, Default)]
pub(crate) struct Index {
    files: Vec<PathBuf>,
    pub(crate) found: Vec<Found>,
    /// Into how many shards the workers divided the runs.
    pub(crate) shards: BTreeSet<u32>,
}

/// Whether a directory is that of a sweep.
#[must_use]
pub fn is_sweep(path: &Path) -> bool {
    path.is_dir() && path.join(PLAN).is_file()
}

/// The plan of the sweep in a directory.
///
/// # Errors
/// A sentence.
pub fn plan(directory: &Path) -> Done<Plan> {
    let path = directory.join(PLAN);
    let text = regular(&path)
        .and_then(|bytes| String::from_utf8(bytes).map_err(|_| io::Error::other("it is no text")))
        .map_err(|error| StoreError::Refused(format!("cannot read {}: {error}", path.display())))?;
    let wrong = |why: &str| {
        let sentence = format!("{} is not the plan of a sweep: {why}", path.display());
        StoreError::Refused(neutral::line(&sentence).into_owned())
    };
    let plan: Plan = serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
    if plan.schema != SCHEMA {
        return Err(wrong(&format!("its form is `{}`, and this program reads `{SCHEMA}`", plan.schema)));
    }
    plan.check(&text).map_err(wrong)?;
    Ok(plan)
}

/// The bytes of a file of a sweep. Anything but a regular file is refused: to read a pipe waits for somebody
/// who writes, and a device may have no end.
fn regular(path: &Path) -> io::Result<Vec<u8>> {
    is_regular(&fs::metadata(path)?)?;
    fs::read(path)
}

fn is_regular(metadata: &fs::Metadata) -> io::Result<()> {
    if metadata.is_file() { Ok(()) } else { Err(io::Error::other("it is no regular file, remove it")) }
}

/// Makes a directory if it is not there.
fn make(directory: &Path) -> Done<()> {
    fs::create_dir_all(directory).map_err(|error| {
        StoreError::Refused(format!("cannot make the directory {}: {error}", directory.display()))
    })
}

impl Store {
    /// Stores what the plan was read from, unless it is there: equal plans have equal inputs.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn keep(&self, inputs: &Inputs) -> Done<()> {
        let path = self.directory.join(inputs::DIRECTORY);
        let failed = |error: io::Error| StoreError::failed("write", &path, &error);
        if path.is_dir() {
            return Ok(());
        }
        let unfinished = UnfinishedDirectory::new(&self.directory).map_err(failed)?;
        for (name, bytes) in inputs.contents() {
            unfinished.add(Path::new(&name), |out| out.write_all(&bytes)).map_err(failed)?;
        }
        match unfinished.name(&path) {
            // Another worker was faster.
            Err(_) if path.is_dir() => Ok(()),
            named => named.map_err(failed),
        }
    }

    /// The directory with the sweep of a plan; made if it is not there.
    ///
    /// # Errors
    /// It holds another plan or other files, or cannot be written.
    pub fn create(directory: &Path, plan: &Plan) -> Done<Self> {
        let path = directory.join(PLAN);
        if !path.exists() {
            let mut entries = fs::read_dir(directory).into_iter().flatten().flatten();
            // Another worker may be writing the plan at this moment.
            let own = |name: &OsStr| {
                name == PARTS
                    || name == LOGS
                    || name.as_encoded_bytes().starts_with(unfinished::PREFIX.as_bytes())
            };
            if entries.any(|entry| !own(&entry.file_name())) && !path.exists() {
                let message = format!(
                    "{} is not the directory of a sweep, and it is not empty: name another one",
                    directory.display()
                );
                return Err(StoreError::Refused(message));
            }
            make(&directory.join(PARTS))?;
            let text = serde_json::to_string_pretty(plan).unwrap_or_default() + "\n";
            let written = Unnamed::new(&path).and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.finish_new()
            });
            written.map_err(|error| StoreError::failed("write", &path, &error))?;
        }
        let there = self::plan(directory)?;
        if there != *plan {
            let message = format!(
                "{} holds the sweep of another plan, which differs in {}: name another directory",
                directory.display(),
                plan.differences(&there)
            );
            return Err(StoreError::Refused(message));
        }
        // A copy of the directory may lack it: archives leave out empty directories.
        make(&directory.join(PARTS))?;
        Ok(Self { directory: directory.to_owned(), plan: plan.plan.clone(), others: Vec::new() })
    }

    /// The directory of a sweep that is there.
    ///
    /// # Errors
    /// There is none.
    pub fn open(directory: &Path) -> Done<(Self, Plan)> {
        if !is_sweep(directory) {
            let why =
                if directory.is_dir() { format!("has no {PLAN}") } else { "is no directory".to_owned() };
            let message = format!("{} is not the directory of a sweep: it {why}", directory.display());
            return Err(StoreError::Refused(message));
        }
        let plan = plan(directory)?;
        Ok((Self { directory: directory.to_owned(), plan: plan.plan.clone(), others: Vec::new() }, plan))
    }

    /// The directories of one sweep, whose workers did not share a file system. The first one is that of the
    /// store, and the others are only read.
    ///
    /// # Errors
    /// There are none, or one of them is not that of the sweep in the first one.
    pub fn open_all(directories: &[PathBuf]) -> Done<(Self, Plan)> {
        let (first, others) = directories
            .split_first()
            .ok_or_else(|| StoreError::Refused("name the directory of a sweep".to_owned()))?;
        let (mut store, plan) = Self::open(first)?;
        for other in others {
            let (_, its) = Self::open(other)?;
            if its != plan {
                return Err(StoreError::Refused(format!(
                    "{} holds the sweep of another plan than {}, which differs in {}",
                    other.display(),
                    first.display(),
                    plan.differences(&its)
                )));
            }
            store.others.push(other.clone());
        }
        Ok((store, plan))
    }

    /// The lines of all runs that are there, in the order of runs.
    ///
    /// # Errors
    /// A part is damaged, or a file cannot be read.
    pub fn lines(&self) -> Done<Vec<String>> {
        let mut lines = Vec::new();
        self.index(&mut |_, _| {})?.read(&mut |_, line| {
            lines.push(line.to_owned());
            Ok(())
        })?;
        Ok(lines)
    }

    /// Adds those runs that another directory of the same plan has and whose numbers are wanted, in parts
    /// that depend on nothing else.
    ///
    /// # Errors
    /// A directory cannot be read or written.
    pub fn copy(&self, from: &Self, wanted: &dyn Fn(u64) -> bool) -> Done<()> {
        let mut lines = BTreeMap::new();
        from.index(&mut |_, _| {})?.read(&mut |run, line| {
            if wanted(run) {
                lines.insert(run, line.to_owned());
            }
            if lines.len() < PART {
                return Ok(());
            }
            let full = self.seal(&lines, None);
            lines.clear();
            full
        })?;
        self.seal(&lines, None)
    }

    /// Adds runs that another directory of the same plan had.
    ///
    /// # Errors
    /// A line is not that of a run, or the directory cannot be written.
    pub fn add(&self, lines: &[String]) -> Done<()> {
        let wrong = |line: &String| StoreError::Refused(format!("`{line}` is not the line of a run"));
        for lines in lines.chunks(PART) {
            let numbered = lines.iter().map(|line| {
                let run = Row::read(line).map_err(|_| wrong(line))?.run;
                Ok((run, line.clone()))
            });
            self.seal(&numbered.collect::<Done<_>>()?, None)?;
        }
        Ok(())
    }

    /// Writes runs as a part. `shard`: whose, under the lock of its journal.
    fn seal(&self, lines: &BTreeMap<u64, String>, shard: Option<String>) -> Done<()> {
        let Some(first) = lines.keys().next() else { return Ok(()) };
        let mut body = String::new();
        for line in lines.values() {
            body.push_str(line);
            body.push('\n');
        }
        let sum = check(&body);
        let head = Head {
            kind: "part".into(),
            schema: SCHEMA.into(),
            plan: self.plan.clone(),
            runs: lines.len(),
            crc32: Some(sum.clone()),
            sha256: None,
            shard,
        };
        let name = format!("{first:010}-{sum}.part");
        let path = self.parts().join(name);
        let begun = match &head.shard {
            Some(shard) => Unnamed::of(&path, shard),
            None => Unnamed::new(&path),
        };
        let written = begun.and_then(|mut file| {
            writeln!(file, "{}", serde_json::to_string(&head)?)?;
            file.write_all(body.as_bytes())?;
            file.finish()
        });
        written.map_err(|error| StoreError::failed("write", &path, &error))
    }

    pub(crate) fn parts(&self) -> PathBuf {
        self.directory.join(PARTS)
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Opens the journal of a shard, after the journals of dead workers have become parts.
    ///
    /// Waits while another process has it: one that makes a part of it, or a worker of the same shard that
    /// its engine has lost and that still ends its runs in progress. None if it was asked to stop meanwhile.
    ///
    /// # Errors
    /// Files cannot be read or written.
    pub(crate) fn journal(&self, request: &Request<'_>) -> Done<Option<Journal<'_>>> {
        let own = self.parts().join(format!("{}.open", request.shard.name()));
        for path in Self::files(&self.parts(), "open")? {
            if path != own
                && let Lock::Here(mut journal) = self.lock(&path)?
            {
                journal.seal()?;
                // Its runs are in a part now; if it cannot be removed they are there twice.
                let _ = fs::remove_file(&path);
            }
        }
        let mut waits = false;
        loop {
            match self.lock(&own)? {
                Lock::Here(mut journal) => {
                    journal.seal()?;
                    return Ok(Some(journal));
                }
                Lock::Unknown(mut journal) => {
                    (request.unlocked)();
                    journal.seal()?;
                    return Ok(Some(journal));
                }
                Lock::Elsewhere => {}
            }
            if request.stop.load(Ordering::SeqCst) {
                return Ok(None);
            }
            if !waits {
                (request.waits)();
                waits = true;
            }
            std::thread::sleep(AGAIN);
        }
    }

    /// Opens a journal and locks it.
    fn lock(&self, path: &Path) -> Done<Lock<'_>> {
        let file = match fs::metadata(path).map(|metadata| is_regular(&metadata)) {
            Ok(Err(error)) => Err(error),
            _ => OpenOptions::new().read(true).append(true).create(true).open(path),
        };
        let mut file = file.map_err(|error| StoreError::failed("open", path, &error))?;
        let known = match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(Lock::Elsewhere),
            Err(TryLockError::Error(_)) => false,
            Ok(()) => true,
        };
        // The process that had the lock may have removed the file.
        if known && !is_named(&file, path) {
            return Ok(Lock::Elsewhere);
        }
        if known {
            unfinished::clear(&self.parts(), &owner(path));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| StoreError::failed("read", path, &error))?;
        let lines = lines(&bytes).into_iter().map(|(run, line)| (run, line.to_owned())).collect();
        let journal = Journal { store: self, path: path.to_owned(), file, lines };
        Ok(if known { Lock::Here(journal) } else { Lock::Unknown(journal) })
    }

    /// The files of a directory of parts with an ending, by name.
    fn files(parts: &Path, ending: &str) -> Done<Vec<PathBuf>> {
        let failed = |error: &io::Error| StoreError::failed("read", parts, error);
        let mut files = Vec::new();
        let entries = match fs::read_dir(parts) {
            // A directory without parts has no runs.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(files),
            entries => entries.map_err(|error| failed(&error))?,
        };
        for entry in entries {
            let path = entry.map_err(|error| failed(&error))?.path();
            if path.extension().is_some_and(|found| found == ending) {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }

    /// All runs that the directory has, also those in the journals of workers that are at work. `each` sees
    /// every line.
    ///
    /// # Errors
    /// A part is damaged or belongs to another plan, or a file cannot be read.
    pub(crate) fn index(&self, each: &mut dyn FnMut(u64, &str)) -> Done<Index> {
        let mut index = Index::default();
        let directories = || std::iter::once(&self.directory).chain(&self.others);
        // Journals first: a worker may turn one into a part meanwhile.
        for (ending, directory) in ["open", "part"].iter().flat_map(|e| directories().map(move |d| (*e, d))) {
            for path in Self::files(&directory.join(PARTS), ending)? {
                let bytes = match regular(&path) {
                    Ok(bytes) => bytes,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(StoreError::failed("read", &path, &error)),
                };
                let (shard, lines) = if ending == "part" {
                    self.part(&path, &bytes)?
                } else {
                    (Some(owner(&path)), lines(&bytes))
                };
                index.shards.extend(shard.as_deref().and_then(Shard::count_in));
                let file = index.files.len() as u32;
                for (run, line) in lines {
                    let begin = (line.as_ptr() as usize - bytes.as_ptr() as usize) as u32;
                    index.found.push(Found { run, file, begin, length: line.len() as u32 });
                    each(run, line);
                }
                index.files.push(path);
            }
        }
        index.found.sort_unstable();
        Ok(index)
    }

    /// The shard and the lines of a part, after its checksum has been verified.
    fn part<'a>(&self, path: &Path, bytes: &'a [u8]) -> Done<(Option<String>, Numbered<'a>)> {
        let damaged = |why: &str| {
            StoreError::Failed(format!(
                "the part {} is damaged ({why}): remove it and run the sweep again, which repeats its runs",
                path.display()
            ))
        };
        let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is no text"))?;
        let (head, body) = text.split_once('\n').ok_or_else(|| damaged("it has no first line"))?;
        let head: Head =
            serde_json::from_str(head).map_err(|_| damaged("its first line is not that of a part"))?;
        if head.plan != self.plan {
            return Err(StoreError::Refused(format!(
                "the part {} belongs to another plan: its runs cannot be merged with these",
                path.display()
            )));
        }
        let intact = match (&head.crc32, &head.sha256) {
            (Some(crc32), _) => check(body) == *crc32,
            (None, Some(sha256)) => hex(&Hash::hash(body.as_bytes())) == *sha256,
            (None, None) => false,
        };
        if !intact {
            return Err(damaged("its checksum differs"));
        }
        let lines: Option<Numbered<'_>> = body.lines().map(|line| Some((Row::number(line)?, line))).collect();
        let lines = lines.ok_or_else(|| damaged("a line is not that of a run"))?;
        if lines.len() == head.runs { Ok((head.shard, lines)) } else { Err(damaged("runs are missing")) }
    }
}

/// Whose files are made under the lock of a journal: its shard's.
fn owner(journal: &Path) -> String {
    journal.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Who has the lock of a journal.
enum Lock<'a> {
    /// This process.
    Here(Journal<'a>),
    /// Another process.
    Elsewhere,
    /// The file system has no locks, as Lustre without `flock`. Two workers of one shard would only do the
    /// work twice.
    Unknown(Journal<'a>),
}

/// The journal of a worker.
pub(crate) struct Journal<'a> {
    store: &'a Store,
    path: PathBuf,
    file: File,
    /// The runs in it.
    lines: BTreeMap<u64, String>,
}

impl Journal<'_> {
    /// Appends a run with its line and the [`entry`] of it.
    pub(crate) fn append(&mut self, run: u64, line: String, entry: &str) -> Done<()> {
        self.file
            .write_all(entry.as_bytes())
            .map_err(|error| StoreError::failed("write", &self.path, &error))?;
        self.lines.insert(run, line);
        if self.lines.len() >= PART { self.seal() } else { Ok(()) }
    }

    /// Turns the runs so far into a part.
    pub(crate) fn seal(&mut self) -> Done<()> {
        self.store.seal(&self.lines, Some(owner(&self.path)))?;
        self.lines.clear();
        let emptied = self.file.set_len(0).and_then(|()| self.file.seek(SeekFrom::Start(0)));
        emptied.map(drop).map_err(|error| StoreError::failed("write", &self.path, &error))
    }

    /// Turns the runs into a part and removes the journal.
    pub(crate) fn finish(mut self) -> Done<()> {
        self.seal()?;
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::failed("remove", &self.path, &error))
            }
            _ => Ok(()),
        }
    }
}

impl Index {
    /// Calls `each` with each run and its line, in the order of numbers, each run once.
    ///
    /// # Errors
    /// Two parts have different lines for a run, or a file cannot be read; or what `each` returns.
    pub(crate) fn read(&self, each: &mut dyn FnMut(u64, &str) -> Done<()>) -> Done<()> {
        let mut files: BTreeMap<u32, Opened> = BTreeMap::new();
        let (mut line, mut last) = (Vec::new(), (None, Vec::new()));
        for found in &self.found {
            let path = &self.files[found.file as usize];
            let failed = |error: io::Error| StoreError::failed("read", path, &error);
            if files.len() >= MOST_OPEN && !files.contains_key(&found.file) {
                files.clear();
            }
            let file = match files.entry(found.file) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(entry) => {
                    entry.insert(Opened::new(path).map_err(failed)?)
                }
            };
            file.line(found, &mut line).map_err(failed)?;
            if last.0 == Some(found.run) {
                if last.1 != line {
                    return Err(StoreError::Failed(format!(
                        "run {} has two different results, one of them in {}",
                        found.run,
                        path.display()
                    )));
                }
                continue;
            }
            each(found.run, std::str::from_utf8(&line).unwrap_or_default())?;
            last.0 = Some(found.run);
            std::mem::swap(&mut last.1, &mut line);
        }
        Ok(())
    }

    /// The numbers of the runs, in order, each once.
    pub(crate) fn runs(&self) -> impl Iterator<Item = u64> + '_ {
        self.found.chunk_by(|a, b| a.run == b.run).filter_map(|same| Some(same.first()?.run))
    }
}

/// An open part or journal. Its lines are mostly read in their order, so what is buffered stays.
struct Opened {
    file: BufReader<File>,
    /// Where the next byte is.
    at: i64,
}

impl Opened {
    fn new(path: &Path) -> io::Result<Self> {
        is_regular(&fs::metadata(path)?)?;
        Ok(Self { file: BufReader::with_capacity(BUFFER, File::open(path)?), at: 0 })
    }

    /// Reads the line of a run, in place of what `line` has.
    fn line(&mut self, found: &Found, line: &mut Vec<u8>) -> io::Result<()> {
        let begin = i64::from(found.begin);
        self.file.seek_relative(begin - self.at)?;
        line.resize(found.length as usize, 0);
        self.at = begin + i64::from(found.length);
        self.file.read_exact(line)
    }
}

/// Whether an open file is the one with this name.
#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => identity(open) == identity(named),
        _ => false,
    }
}

/// Whether an open file is the one with this name: an open file cannot be removed.
#[cfg(not(unix))]
fn is_named(_: &File, _: &Path) -> bool {
    true
}

/// Files that are open at the same time while runs are read, and the bytes that are buffered of each.
const MOST_OPEN: usize = 200;
const BUFFER: usize = 1 << 16;

/// The runs of a journal, without a torn or foreign line.
fn lines(bytes: &[u8]) -> Numbered<'_> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // Torn within a character.
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let read = |line| {
        let (sum, line) = str::split_once(line, ' ')?;
        (sum == check(line) || sum == former(line)).then_some((Row::number(line)?, line))
    };
    whole.filter_map(read).collect()
}

/// What stood before a line until version 1.0: the beginning of its SHA-256, hex.
fn former(line: &str) -> String {
    let mut sum = hex(&Hash::hash(line.as_bytes()));
    sum.truncate(16);
    sum
}

/// What a journal has for a line. Threads compute it before they lock the journal.
pub(crate) fn entry(line: &str) -> String {
    let mut entry = check(line);
    entry.reserve(line.len() + 2);
    entry.push(' ');
    entry.push_str(line);
    entry.push('\n');
    entry
}

/// The checksum of a line or of a part.
fn check(line: &str) -> String {
    format!("{:08x}", crc32fast::hash(line.as_bytes()))
}
