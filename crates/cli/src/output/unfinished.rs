//! Files in the making. They lie beside their final place under a name that begins with `.oversim-`, and get
//! their name by one `rename` when they are whole. An error, a panic or a signal removes them.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// The files in the making of this process, for the thread that receives signals.
static ALL: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn all() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps other threads from making or naming files, as long as it lives.
pub(crate) struct Held {
    _all: MutexGuard<'static, BTreeSet<PathBuf>>,
}

/// Removes every file in the making, for a process that is about to end.
pub(crate) fn remove_all() -> Held {
    let mut all = all();
    for path in std::mem::take(&mut *all) {
        // The directory may be gone or read-only by now: nothing else can be done.
        let _ = fs::remove_file(path);
    }
    Held { _all: all }
}

/// Keeps a path in the list.
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        all().remove(&self.0);
    }
}

/// A file that has no name yet.
pub(super) struct Unfinished {
    out: BufWriter<NamedTempFile>,
    listed: Listed,
}

impl Unfinished {
    /// Makes one in a directory, with the permissions of an ordinary file.
    pub(super) fn new(directory: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The umask of the process removes permissions that the user does not want.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        // A signal between the file and its entry would leave the file.
        let mut all = all();
        let file = builder.prefix(".oversim-").tempfile_in(directory).map_err(bare)?;
        let path = file.path().to_owned();
        all.insert(path.clone());
        Ok(Self { out: BufWriter::new(file), listed: Listed(path) })
    }

    /// Writes what is buffered to the disk. A file that this one will replace passes on its permissions.
    pub(super) fn complete(&mut self, replaces: &Path) -> io::Result<()> {
        self.out.flush()?;
        let file = self.out.get_ref().as_file();
        if let Ok(old) = fs::metadata(replaces) {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()
    }
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Gives complete files their names. A signal comes before the first or after the last.
pub(super) fn name_all(files: Vec<(Unfinished, PathBuf)>, replace: bool) -> io::Result<()> {
    let (mut whole, mut listed) = (Vec::new(), Vec::new());
    for (file, path) in files {
        whole.push((file.out.into_inner().map_err(io::IntoInnerError::into_error)?, path));
        listed.push(file.listed);
    }
    let _held = all();
    for (file, path) in whole {
        let named = if replace { file.persist(path) } else { file.persist_noclobber(path) };
        named.map_err(|failed| bare(failed.error))?;
    }
    Ok(())
}

/// The error of the system without the path of the temporary file, which means nothing to the user.
pub(super) fn bare(error: io::Error) -> io::Error {
    let source = error.get_ref().and_then(|inner| inner.source()).and_then(|e| e.downcast_ref::<io::Error>());
    match source.and_then(io::Error::raw_os_error) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error,
    }
}
