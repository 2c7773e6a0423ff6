//! Archives: tar within gzip, written with the same bytes for the same files, and read without trust.
//!
//! The manifest is the first file. What follows must be the regular files that it names, with their sizes
//! and checksums: no links, no directories, no devices, no extensions of tar.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use experiment::{PolicyRegistry, neutral};
use flate2::bufread::GzDecoder;
use flate2::{Compression, GzBuilder};
use hmac_sha256::Hash;
use notation::number;
use sweep::unfinished::UnfinishedDirectory;
use tar::{EntryType, Header};

use crate::Trouble;
use crate::manifest::{MANIFEST, Manifest, Member};

/// The directory above all files of an archive.
pub const TOP: &str = "oversim-artifact";
/// Most bytes of a manifest: 100,000 files with paths of 100 bytes.
const MOST_MANIFEST: u64 = 32 << 20;
/// Most bytes behind the last file: tar ends with two blocks of zeros, and writers fill a record of 10 KiB.
const MOST_END: u64 = 64 << 10;
/// Bytes that are copied at once.
const BUFFER: usize = 64 << 10;

/// Where the contents of a member are.
#[derive(Clone, Debug)]
pub enum Content {
    /// In memory.
    Bytes(Vec<u8>),
    /// In a file.
    File(PathBuf),
}

impl Content {
    fn open(&self) -> Result<Box<dyn Read + '_>, Trouble> {
        Ok(match self {
            Self::Bytes(bytes) => Box::new(bytes.as_slice()),
            Self::File(path) => {
                Box::new(File::open(path).map_err(|error| Trouble::failed("read", path, &error))?)
            }
        })
    }

    /// The line of the manifest of a file with these contents.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn member(&self, path: &str) -> Result<Member, Trouble> {
        let (mut hash, mut bytes) = (Hash::new(), 0);
        copy(&mut self.open()?, &mut |block| {
            hash.update(block);
            bytes += block.len() as u64;
            Ok(())
        })
        .map_err(|error| Trouble::failed("read", Path::new(path), &error))?;
        Ok(Member { path: path.to_owned(), bytes, sha256: hex(&hash.finalize()) })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads everything in blocks.
fn copy(from: &mut dyn Read, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => to(&buffer[..length])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A header that depends on the name and the size only.
fn header(path: &str, size: u64) -> io::Result<Header> {
    let mut header = Header::new_ustar();
    header.set_path(format!("{TOP}/{path}"))?;
    header.set_size(size);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_entry_type(EntryType::Regular);
    header.set_cksum();
    Ok(header)
}

/// Writes the archive of a manifest and the files that it names.
///
/// # Errors
/// A file cannot be read, or is not what it was when its checksum was calculated; or that of `out`.
pub fn write(
    manifest: &Manifest,
    members: &BTreeMap<String, Content>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let gzip = GzBuilder::new().mtime(0).write(out, Compression::default());
    let mut tar = tar::Builder::new(gzip);
    let bytes = manifest.bytes();
    tar.append(&header(MANIFEST, bytes.len() as u64)?, bytes.as_slice())?;
    for file in &manifest.files {
        let changed = || io::Error::other(format!("{} changed while it was packed", file.path));
        let content = members.get(&file.path).ok_or_else(changed)?;
        let source = content.open().map_err(|trouble| io::Error::other(trouble.to_string()))?;
        let mut source = Hashing { source: source.take(file.bytes), hash: Hash::new() };
        tar.append(&header(&file.path, file.bytes)?, &mut source)?;
        if hex(&source.hash.finalize()) != file.sha256 {
            return Err(changed());
        }
    }
    tar.into_inner()?.finish()?.flush()
}

/// Hashes what is read through it.
struct Hashing<R> {
    source: R,
    hash: Hash,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.source.read(buffer)?;
        self.hash.update(&buffer[..length]);
        Ok(length)
    }
}

/// An archive that was unpacked.
#[derive(Debug)]
pub struct Unpacked {
    /// What it contains.
    pub manifest: Manifest,
    /// SHA-256 of the archive's own bytes, hex.
    pub sha256: String,
}

/// An archive that is read from its beginning.
struct Source<'a> {
    /// Its name in messages.
    name: &'a str,
}

impl Source<'_> {
    fn refused(&self, why: &str) -> Trouble {
        Trouble::refused(&format!("{}: {why}", self.name))
    }

    /// A read that failed: the archive is damaged, or ends too early.
    fn broken(&self, at: &str, error: &io::Error) -> Trouble {
        let why = if error.kind() == io::ErrorKind::UnexpectedEof {
            "it is truncated".to_owned()
        } else {
            error.to_string()
        };
        self.refused(&format!("the archive cannot be read at {}: {why}", neutral::line(at)))
    }

    /// The path of an entry below [`TOP`], and its size; anything but a regular file there is refused.
    fn place(&self, header: &Header) -> Result<(String, u64), Trouble> {
        let path = header.path_bytes();
        let path = String::from_utf8_lossy(&path).into_owned();
        let entry = neutral::line(&path).into_owned();
        let kind = match header.entry_type() {
            EntryType::Regular | EntryType::Continuous => None,
            EntryType::Link | EntryType::Symlink => Some("a link"),
            EntryType::Directory => Some("a directory"),
            EntryType::Char | EntryType::Block | EntryType::Fifo => Some("a device"),
            _ => Some("an extension of tar"),
        };
        if let Some(kind) = kind {
            return Err(self.refused(&format!(
                "the entry `{entry}` is {kind}, and artifacts have files only (`oversim artifact pack` wrote \
                 no such entry)"
            )));
        }
        let size = header.entry_size().map_err(|error| self.broken(&entry, &error))?;
        match path.strip_prefix(TOP).and_then(|rest| rest.strip_prefix('/')) {
            Some(inside) if crate::manifest::is_plain(inside) => Ok((inside.to_owned(), size)),
            _ => Err(self.refused(&format!("the entry `{entry}` leads out of the directory {TOP}"))),
        }
    }
}

/// Reads an archive up to the end of its manifest.
///
/// # Errors
/// It is no artifact, or that of another version.
pub fn manifest(archive: &Path, registry: &PolicyRegistry) -> Result<Manifest, Trouble> {
    read(archive, registry, u64::MAX, None).map(|unpacked| unpacked.manifest)
}

/// Unpacks an archive into a directory and checks it: the files are those of the manifest, of at most `most`
/// bytes together.
///
/// # Errors
/// It is no artifact, that of another version, damaged, or not as its manifest says; or the directory cannot
/// be written.
pub fn unpack(
    archive: &Path,
    registry: &PolicyRegistry,
    most: u64,
    into: &UnfinishedDirectory,
) -> Result<Unpacked, Trouble> {
    read(archive, registry, most, Some(into))
}

fn read(
    archive: &Path,
    registry: &PolicyRegistry,
    most: u64,
    into: Option<&UnfinishedDirectory>,
) -> Result<Unpacked, Trouble> {
    let name = archive.display().to_string();
    let source = Source { name: &name };
    let unreadable = |error: &io::Error| Trouble::refused(&format!("cannot read {name}: {error}"));
    let about = fs::metadata(archive).map_err(|error| unreadable(&error))?;
    if !about.is_file() {
        return Err(source.refused("it is no file"));
    }
    let file = File::open(archive).map_err(|error| unreadable(&error))?;
    let hashing = Hashing { source: BufReader::new(file), hash: Hash::new() };
    let mut gzip = GzDecoder::new(BufReader::new(hashing));
    let mut seen = BTreeSet::new();
    let manifest;
    {
        let mut tar = tar::Archive::new(&mut gzip);
        let mut entries = tar.entries().map_err(|error| source.broken(MANIFEST, &error))?.raw(true);
        let first = entries.next().ok_or_else(|| source.refused("it is empty"))?;
        let mut first = first.map_err(|error| {
            source.refused(&format!("it is no archive of `oversim artifact pack` (tar within gzip): {error}"))
        })?;
        manifest = first_entry(&source, &mut first, registry)?;
        let Some(into) = into else {
            return Ok(Unpacked { manifest, sha256: String::new() });
        };
        room(&source, &manifest, most, into.path())?;
        into.add(Path::new(MANIFEST), |out| out.write_all(&manifest.bytes()))
            .map_err(|error| Trouble::failed("write", into.path(), &error))?;
        let mut last = MANIFEST.to_owned();
        for entry in entries {
            let mut entry = entry.map_err(|error| source.broken(&format!("what follows {last}"), &error))?;
            let (path, size) = source.place(entry.header())?;
            let member = manifest.files.binary_search_by(|file| file.path.as_str().cmp(&path));
            let Some(member) = member.ok().and_then(|at| manifest.files.get(at)) else {
                return Err(source.refused(&format!("{path} is not in its manifest")));
            };
            if !seen.insert(path.clone()) {
                return Err(source.refused(&format!("it has {path} twice")));
            }
            if size != member.bytes {
                return Err(
                    source.refused(&format!("{path} has {size} bytes, and {} by the manifest", member.bytes))
                );
            }
            store(&source, &mut entry, member, into)?;
            last = path;
        }
    }
    if let Some(missing) = manifest.files.iter().find(|file| !seen.contains(&file.path)) {
        return Err(source.refused(&format!("it lacks {}", missing.path)));
    }
    let sha256 = rest(&source, gzip)?;
    Ok(Unpacked { manifest, sha256 })
}

/// The manifest, which is the first entry.
fn first_entry<R: Read>(
    source: &Source<'_>,
    entry: &mut tar::Entry<'_, R>,
    registry: &PolicyRegistry,
) -> Result<Manifest, Trouble> {
    let (path, size) = source.place(entry.header())?;
    if path != MANIFEST {
        return Err(source.refused(&format!("it begins with {path}, and an artifact with {MANIFEST}")));
    }
    if size > MOST_MANIFEST {
        return Err(source.refused(&format!("{MANIFEST} has {size} bytes, more than {MOST_MANIFEST}")));
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).map_err(|error| source.broken(MANIFEST, &error))?;
    if bytes.len() as u64 != size {
        return Err(source.refused(&format!("it is truncated within {MANIFEST}")));
    }
    let manifest = Manifest::read(source.name, &bytes, registry)?;
    if manifest.bytes() != bytes {
        return Err(source.refused(&format!("{MANIFEST} is not as `oversim artifact pack` writes it")));
    }
    Ok(manifest)
}

/// Refuses what does not fit.
fn room(source: &Source<'_>, manifest: &Manifest, most: u64, into: &Path) -> Result<(), Trouble> {
    let size = manifest.size();
    if size > most {
        return Err(source.refused(&format!(
            "it unpacks to {}, more than {}: --most sets another limit",
            number::bytes(size),
            number::bytes(most)
        )));
    }
    #[cfg(unix)]
    if let Ok(found) = rustix::fs::statvfs(into) {
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        if free < size {
            return Err(source.refused(&format!(
                "it unpacks to {}, and {} has {} free: --into names another directory",
                number::bytes(size),
                into.parent().unwrap_or(into).display(),
                number::bytes(free)
            )));
        }
    }
    Ok(())
}

/// Writes a file of the archive and compares its checksum.
fn store<R: Read>(
    source: &Source<'_>,
    entry: &mut tar::Entry<'_, R>,
    member: &Member,
    into: &UnfinishedDirectory,
) -> Result<(), Trouble> {
    let (mut hash, mut bytes) = (Hash::new(), 0);
    let mut unread = None;
    let written = into.add(Path::new(&member.path), |out| {
        let mut failed = None;
        let read = copy(entry, &mut |block| {
            hash.update(block);
            bytes += block.len() as u64;
            out.write_all(block).inspect_err(|error| failed = Some(io::Error::from(error.kind())))
        });
        match (read, failed) {
            (Err(error), None) => unread = Some(error),
            (read, _) => return read,
        }
        Ok(())
    });
    written.map_err(|error| Trouble::failed("write", &into.path().join(&member.path), &error))?;
    if let Some(error) = unread {
        return Err(source.broken(&member.path, &error));
    }
    if bytes != member.bytes {
        return Err(source.refused(&format!("it is truncated within {}", member.path)));
    }
    if hex(&hash.finalize()) != member.sha256 {
        return Err(source.refused(&format!("{} is damaged: its checksum differs", member.path)));
    }
    Ok(())
}

/// Reads what follows the last file, which gzip's own checksum covers; returns the SHA-256 of the archive.
fn rest<R: Read>(source: &Source<'_>, mut gzip: GzDecoder<BufReader<Hashing<R>>>) -> Result<String, Trouble> {
    let mut end = Vec::new();
    let read = (&mut gzip).take(MOST_END + 1).read_to_end(&mut end);
    read.map_err(|error| source.broken("its end", &error))?;
    if end.len() as u64 > MOST_END || end.iter().any(|byte| *byte != 0) {
        return Err(source.refused("something follows its last file"));
    }
    let mut compressed = gzip.into_inner();
    let mut behind = Vec::new();
    compressed.by_ref().take(1).read_to_end(&mut behind).map_err(|error| source.broken("its end", &error))?;
    if !behind.is_empty() {
        return Err(source.refused("something follows the end of gzip"));
    }
    Ok(hex(&compressed.into_inner().hash.finalize()))
}
