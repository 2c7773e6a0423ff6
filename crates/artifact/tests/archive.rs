//! Archives of strangers: what is not as `pack` writes it is refused with the entry, and nothing is written
//! outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use artifact::archive::{self, TOP};
use artifact::gather::gather;
use artifact::{Trouble, Work};
use experiment::PolicyRegistry;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use sweep::unfinished::UnfinishedDirectory;
use tar::{EntryType, Header};
use tempfile::TempDir;

/// An entry of an archive: path, type, the size in its header, contents.
#[derive(Clone)]
struct Entry {
    path: String,
    kind: EntryType,
    size: u64,
    bytes: Vec<u8>,
}

impl Entry {
    fn new(path: &str, bytes: &[u8]) -> Self {
        Self { path: path.into(), kind: EntryType::Regular, size: bytes.len() as u64, bytes: bytes.to_vec() }
    }
}

fn work<'a>(policies: &'a PolicyRegistry) -> Work<'a> {
    Work { policies, jobs: 1, progress: &|_, _| () }
}

/// An archive with two files in one part.
fn packed(folder: &Path) -> PathBuf {
    let notes = folder.join("notes");
    fs::create_dir_all(&notes).unwrap();
    fs::write(notes.join("a.txt"), "first\n").unwrap();
    fs::write(notes.join("b.txt"), "second\n").unwrap();
    let room = UnfinishedDirectory::new(folder).unwrap();
    let registry = PolicyRegistry::default();
    let gathered = gather(&[notes], &room, &work(&registry)).unwrap();
    let path = folder.join("good.tar.gz");
    gathered.write(&mut fs::File::create(&path).unwrap()).unwrap();
    path
}

fn entries(path: &Path) -> Vec<Entry> {
    let mut tar = tar::Archive::new(GzDecoder::new(fs::File::open(path).unwrap()));
    let read = |entry: std::io::Result<tar::Entry<'_, GzDecoder<fs::File>>>| {
        let mut entry = entry.unwrap();
        let path = String::from_utf8(entry.path_bytes().to_vec()).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        Entry::new(&path, &bytes)
    };
    tar.entries().unwrap().map(read).collect()
}

/// A header of tar as a stranger may write it.
fn header(entry: &Entry) -> Header {
    let mut header = Header::new_ustar();
    let name = &mut header.as_old_mut().name;
    let length = entry.path.len().min(name.len());
    name[..length].copy_from_slice(&entry.path.as_bytes()[..length]);
    header.set_size(entry.size);
    header.set_entry_type(entry.kind);
    if entry.kind.is_symlink() || entry.kind.is_hard_link() {
        header.set_link_name("/etc/passwd").unwrap();
    }
    header.set_mode(0o644);
    header.set_cksum();
    header
}

fn tarred(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in entries {
        bytes.extend_from_slice(header(entry).as_bytes());
        bytes.extend_from_slice(&entry.bytes);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut gzip: GzEncoder<Vec<u8>> = GzBuilder::new().write(Vec::new(), Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

/// Unpacks bytes; the reason why they are refused. Nothing stays, and nothing is written beside.
fn refused(folder: &TempDir, bytes: &[u8], most: u64) -> String {
    let path = folder.path().join("bad.tar.gz");
    fs::write(&path, bytes).unwrap();
    let above = tempfile::tempdir().unwrap();
    let into = UnfinishedDirectory::new(above.path()).unwrap();
    let done = archive::unpack(&path, &PolicyRegistry::default(), most, &into);
    let Err(Trouble::Refused(why)) = done else { panic!("{done:?}") };
    assert!(why.contains("bad.tar.gz"), "{why}");
    assert_eq!(fs::read_dir(above.path()).unwrap().count(), 1, "only the directory itself");
    drop(into);
    assert_eq!(fs::read_dir(above.path()).unwrap().count(), 0);
    assert!(!Path::new("/tmp/oversim-outside").exists());
    why
}

const MOST: u64 = 1 << 30;

#[test]
fn a_good_archive_is_unpacked_with_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = packed(folder.path());
    let into = UnfinishedDirectory::new(folder.path()).unwrap();
    let unpacked = archive::unpack(&path, &PolicyRegistry::default(), MOST, &into).unwrap();
    let file = into.path().join("files/notes/a.txt");
    assert_eq!(fs::read_to_string(file).unwrap(), "first\n");
    assert_eq!(unpacked.manifest.parts.len(), 1);
    assert_eq!(unpacked.sha256, experiment::provenance::sha256(&fs::read(&path).unwrap()));
    // Packed again, the bytes are the same: no time, no owner, no order of a directory.
    let first = fs::read(&path).unwrap();
    assert_eq!(fs::read(packed(folder.path())).unwrap(), first);
    let tar = entries(&path);
    assert!(tar.iter().all(|entry| entry.path.starts_with(&format!("{TOP}/"))));
}

#[test]
fn entries_that_lead_elsewhere_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let good = entries(&packed(folder.path()));
    let with = |entry: Entry| {
        let mut all = good.clone();
        all.push(entry);
        refused(&folder, &zipped(&tarred(&all)), MOST)
    };
    for path in [
        "../oversim-outside",
        "/tmp/oversim-outside",
        "oversim-artifact/../../tmp/oversim-outside",
        "oversim-artifact//tmp/oversim-outside",
        "oversim-artifact/./a",
        "oversim-artifact",
        "oversim-artifact/a\\b",
        "elsewhere/a",
        "",
    ] {
        let why = with(Entry::new(path, b"x"));
        assert!(why.contains("leads out of the directory"), "{path}: {why}");
    }
    for (kind, word) in [
        (EntryType::Symlink, "is a link"),
        (EntryType::Link, "is a link"),
        (EntryType::Directory, "is a directory"),
        (EntryType::Char, "is a device"),
        (EntryType::Fifo, "is a device"),
        (EntryType::GNULongName, "is an extension of tar"),
        (EntryType::XHeader, "is an extension of tar"),
        (EntryType::GNUSparse, "is an extension of tar"),
    ] {
        let path = "oversim-artifact/files/notes/a.txt";
        let why = with(Entry { kind, ..Entry::new(path, b"") });
        assert!(why.contains(word) && why.contains("a.txt"), "{why}");
    }
    let why = with(Entry::new("oversim-artifact/files/notes/c.txt", b"x"));
    assert!(why.contains("files/notes/c.txt is not in its manifest"), "{why}");
    let why = with(good[1].clone());
    assert!(why.contains("twice"), "{why}");
}

#[test]
fn a_changed_missing_or_grown_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let good = entries(&packed(folder.path()));
    for at in 1..good.len() {
        let name = good[at].path.strip_prefix("oversim-artifact/").unwrap();
        let mut all = good.clone();
        all[at].bytes[0] ^= 1;
        let why = refused(&folder, &zipped(&tarred(&all)), MOST);
        assert!(why.contains(&format!("{name} is damaged: its checksum differs")), "{why}");
        let mut all = good.clone();
        all.remove(at);
        let why = refused(&folder, &zipped(&tarred(&all)), MOST);
        assert!(why.contains(&format!("it lacks {name}")), "{why}");
        let mut all = good.clone();
        all[at] = Entry::new(&good[at].path, &[all[at].bytes.as_slice(), b"more"].concat());
        let why = refused(&folder, &zipped(&tarred(&all)), MOST);
        assert!(why.contains(name) && why.contains("by the manifest"), "{why}");
    }
}

#[test]
fn a_manifest_that_is_not_right_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let good = entries(&packed(folder.path()));
    let text = String::from_utf8(good[0].bytes.clone()).unwrap();
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}\n{text}");
        let mut all = good.clone();
        all[0] = Entry::new(&good[0].path, text.replacen(from, to, 1).as_bytes());
        refused(&folder, &zipped(&tarred(&all)), MOST)
    };
    let cases = [
        ("{", "[", "manifest.json is not right"),
        ("\"parts\"", "\"foreign\": 1,\n  \"parts\"", "unknown field"),
        ("\"files/notes/a.txt\"", "\"../a.txt\"", "is no path of a file"),
        ("\"files/notes/a.txt\"", "\"/a.txt\"", "is no path of a file"),
        ("\"files/notes/b.txt\"", "\"files/notes/a.txt\"", "twice"),
        ("\"files/notes/a.txt\"", "\"files/other/a.txt\"", "belongs to no part"),
        ("\"files/notes\"", "\"files/../../notes\"", "is no directory of a part"),
        ("\"files/notes\"", "\"results/notes\"", "is no directory of a part"),
        ("\"bytes\": 6", "\"bytes\": -6", "manifest.json is not right"),
        ("\"bytes\": 6", "\"bytes\": 18446744073709551615", "more than"),
        ("\"schema\": \"oversim.artifact/1\"", "\"schema\": \"other/1\"", "not that of an artifact"),
        ("\n  \"schema\"", "\n   \"schema\"", "is not as `oversim artifact pack` writes it"),
    ];
    for (from, to, why) in cases {
        let said = with(from, to);
        assert!(said.contains(why), "{from} -> {to}: {said}");
    }
    let mut all = good.clone();
    all.swap(0, 1);
    let why = refused(&folder, &zipped(&tarred(&all)), MOST);
    assert!(why.contains("it begins with README.md"), "{why}");
}

#[test]
fn another_version_is_refused_with_all_that_differs() {
    let folder = tempfile::tempdir().unwrap();
    let good = entries(&packed(folder.path()));
    let text = String::from_utf8(good[0].bytes.clone()).unwrap();
    let model = experiment::provenance::MODEL;
    let changed = [
        (format!("\"model\": \"{model}\""), "\"model\": \"oversim-model/9999\"", "oversim-model/9999"),
        ("\"cpu_hog\": \"".into(), "\"cpu_hog\": \"0", "self-test cpu_hog"),
        ("\"schema\": \"oversim.artifact/1\"".into(), "\"schema\": \"oversim.artifact/2\"", "form"),
        ("\"selftest\": {".into(), "\"selftest\": {\n      \"new\": \"00\",", "self-test new: 00"),
        ("\"kernels\": {}".into(), "\"kernels\": { \"linux-99\": {} }", "kernel linux-99: known"),
        ("\"tool\": \"oversim\"".into(), "\"later\": [], \"tool\": \"oversim\"", "self-test"),
    ];
    for (from, to, difference) in changed {
        assert!(text.contains(&from), "{from}\n{text}");
        let mut all = good.clone();
        all[0] = Entry::new(&good[0].path, text.replacen(&from, to, 1).as_bytes());
        let why = refused(&folder, &zipped(&tarred(&all)), MOST);
        let (_, list) = why.split_once("What differs:\n").unwrap_or_else(|| panic!("{why}"));
        assert!(list.contains(difference) && list.contains("in the archive"), "{why}");
    }
}

#[test]
fn bombs_and_torn_archives_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = packed(folder.path());
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(37) {
        let why = refused(&folder, &whole[..length], MOST);
        let told = ["truncated", "cannot be read", "is empty", "is no archive", "lacks"];
        assert!(told.iter().any(|word| why.contains(word)), "{length}: {why}");
    }
    let good = entries(&path);
    // A manifest of gigabytes, which compresses to little: its header alone refuses it.
    let mut all = good.clone();
    all[0].size = 8 << 30;
    assert!(refused(&folder, &zipped(&tarred(&all)), MOST).contains("manifest.json has 8589934592 bytes"));
    // More than the limit.
    let why = refused(&folder, &whole, 10);
    assert!(why.contains("--most"), "{why}");
    // Zeros, and another file, behind the end.
    let tar = [tarred(&good), vec![0; 1 << 20]].concat();
    assert!(refused(&folder, &zipped(&tar), MOST).contains("something follows its last file"));
    let tar = [tarred(&good), tarred(&good)].concat();
    assert!(refused(&folder, &zipped(&tar), MOST).contains("something follows its last file"));
    let gzip = [whole.clone(), whole.clone()].concat();
    assert!(refused(&folder, &gzip, MOST).contains("something follows the end of gzip"));
    // A wrong checksum of gzip.
    let mut wrong = whole.clone();
    let at = wrong.len() - 6;
    wrong[at] ^= 1;
    assert!(refused(&folder, &wrong, MOST).contains("cannot be read at its end"));
    assert!(refused(&folder, b"name: no archive\n", MOST).contains("is no archive"));
    let into = UnfinishedDirectory::new(folder.path()).unwrap();
    for none in [folder.path().join("none"), folder.path().to_owned()] {
        let done = archive::unpack(&none, &PolicyRegistry::default(), MOST, &into);
        assert!(matches!(done, Err(Trouble::Refused(_))), "{done:?}");
    }
}

/// Bytes of an archive, changed one after another: each is refused, or the same files come out.
#[test]
fn no_changed_byte_passes() {
    let folder = tempfile::tempdir().unwrap();
    let path = packed(folder.path());
    let whole = fs::read(&path).unwrap();
    let changed = folder.path().join("changed.tar.gz");
    for at in (0..whole.len()).step_by(23) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&changed, &bytes).unwrap();
        let into = UnfinishedDirectory::new(folder.path()).unwrap();
        let done = archive::unpack(&changed, &PolicyRegistry::default(), MOST, &into);
        // The header of gzip has a time and a system, which mean nothing.
        assert!(done.is_err() || at < 10, "byte {at}");
    }
}
