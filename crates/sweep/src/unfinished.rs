//! Files and directories in the making. They lie beside their final place under a name that begins with
//! `.oversim-`, and get their name by one `rename` when they are whole. An error, a panic or a signal removes
//! them.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, NamedTempFile, TempDir};

/// How the name of such a file begins.
pub const PREFIX: &str = ".oversim-";

/// How something in the making is removed.
#[derive(Clone, Copy, Debug)]
enum What {
    /// A file.
    File,
    /// A directory with all that is in it.
    Whole,
    /// A directory, if it is empty.
    Empty,
}

impl What {
    /// The directory may be gone or read-only by now, and others may have written into it: then it stays.
    fn remove(self, path: &Path) {
        let _ = match self {
            Self::File => fs::remove_file(path),
            Self::Whole => fs::remove_dir_all(path),
            Self::Empty => fs::remove_dir(path),
        };
    }
}

type List = BTreeMap<PathBuf, What>;

/// What this process has in the making, for the thread that receives signals.
static ALL: Mutex<List> = Mutex::new(List::new());

fn all() -> MutexGuard<'static, List> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps other threads from making or naming files, as long as it lives.
#[derive(Debug)]
pub struct Held {
    _all: MutexGuard<'static, List>,
}

/// Removes everything in the making, for a process that is about to end.
pub fn remove_all() -> Held {
    let mut all = all();
    let (directories, files): (Vec<_>, Vec<_>) =
        std::mem::take(&mut *all).into_iter().partition(|(_, what)| matches!(what, What::Empty));
    // Directories last, and what is in a directory comes behind it in the order of paths.
    for (path, what) in files.into_iter().chain(directories.into_iter().rev()) {
        what.remove(&path);
    }
    Held { _all: all }
}

/// Keeps a path in the list.
#[derive(Debug)]
struct Listed(PathBuf);

impl Listed {
    /// Adds a path, while the list is locked: a signal between the file and its entry would leave the file.
    fn new(all: &mut List, path: &Path, what: What) -> Self {
        all.insert(path.to_owned(), what);
        Self(path.to_owned())
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        all().remove(&self.0);
    }
}

/// What makes them, with the permissions of an ordinary file or directory: the umask of the process removes
/// those that the user does not want.
fn builder(mode: u32, prefix: &str) -> Builder<'_, 'static> {
    let mut builder = Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = mode;
    builder.prefix(prefix);
    builder
}

fn prefix_of(owner: &str) -> String {
    format!("{PREFIX}{owner}-")
}

/// Removes what an owner had in the making when it was killed: nothing else could. A file that cannot be
/// removed stays, and does no harm.
pub(crate) fn clear(directory: &Path, owner: &str) {
    let prefix = prefix_of(owner);
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()) {
            What::File.remove(&entry.path());
        }
    }
}

/// A file that has no name yet.
#[derive(Debug)]
pub struct Unfinished {
    out: BufWriter<NamedTempFile>,
    listed: Listed,
}

impl Unfinished {
    /// Makes one in a directory.
    ///
    /// # Errors
    /// That of the system.
    pub fn new(directory: &Path) -> io::Result<Self> {
        Self::prefixed(directory, PREFIX)
    }

    /// Makes one in a directory for an owner, who alone may make files under this name.
    ///
    /// # Errors
    /// That of the system.
    pub(crate) fn of(directory: &Path, owner: &str) -> io::Result<Self> {
        Self::prefixed(directory, &prefix_of(owner))
    }

    fn prefixed(directory: &Path, prefix: &str) -> io::Result<Self> {
        let mut all = all();
        let file = builder(0o666, prefix).tempfile_in(directory).map_err(bare)?;
        let listed = Listed::new(&mut all, file.path(), What::File);
        Ok(Self { out: BufWriter::new(file), listed })
    }

    /// Writes what is buffered to the disk. A file that this one will replace passes on its permissions.
    ///
    /// # Errors
    /// That of the system.
    pub fn complete(&mut self, replaces: &Path) -> io::Result<()> {
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
///
/// # Errors
/// That of the system; a file that exists is one unless `replace` is set.
pub fn name_all(files: Vec<(Unfinished, PathBuf)>, replace: bool) -> io::Result<()> {
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

/// Directories that are made for files in the making. Directories that are still empty when it is dropped are
/// removed.
#[derive(Debug, Default)]
pub struct Made(Vec<Listed>);

impl Made {
    /// Makes a directory and those above it.
    ///
    /// # Errors
    /// That of the system.
    pub fn make(&mut self, path: &Path) -> io::Result<()> {
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.is_dir();
        let missing: Vec<&Path> = path.ancestors().take_while(missing).collect();
        for directory in missing.into_iter().rev() {
            let mut all = all();
            match fs::create_dir(directory) {
                Ok(()) => self.0.push(Listed::new(&mut all, directory, What::Empty)),
                // Another process was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The directories stay.
    pub fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        while let Some(listed) = self.0.pop() {
            What::Empty.remove(&listed.0);
        }
    }
}

/// A directory that has no name yet.
#[derive(Debug)]
pub struct UnfinishedDirectory {
    directory: TempDir,
    _listed: Listed,
}

impl UnfinishedDirectory {
    /// Makes one in a directory.
    ///
    /// # Errors
    /// That of the system.
    pub fn new(above: &Path) -> io::Result<Self> {
        let mut all = all();
        let directory = builder(0o777, PREFIX).tempdir_in(above).map_err(bare)?;
        let listed = Listed::new(&mut all, directory.path(), What::Whole);
        Ok(Self { directory, _listed: listed })
    }

    /// Where it is as long as it has no name.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Makes a file in it and the directories of its name.
    ///
    /// # Errors
    /// That of the system, or that of `content`.
    pub fn add(&self, name: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let path = self.directory.path().join(name);
        // A signal removes the directory, and nothing is added to it meanwhile.
        let all = all();
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        let mut out = BufWriter::new(File::create_new(&path)?);
        drop(all);
        content(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }

    /// Gives it its name, which nothing has but an empty directory. A signal comes before or after.
    ///
    /// # Errors
    /// That of the system.
    pub fn name(self, path: &Path) -> io::Result<()> {
        let mut all = all();
        fs::rename(self.directory.path(), path)?;
        // A signal or the end of this value would find nothing to remove.
        all.remove(&self.directory.keep());
        Ok(())
    }
}

/// The error of the system without the path of the temporary file, which means nothing to the user.
#[must_use]
pub fn bare(error: io::Error) -> io::Error {
    let source = error.get_ref().and_then(|inner| inner.source()).and_then(|e| e.downcast_ref::<io::Error>());
    match source.and_then(io::Error::raw_os_error) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_appears_with_all_its_files_or_not_at_all() {
        let here = tempfile::tempdir().unwrap();
        let path = here.path().join("new");
        let unfinished = UnfinishedDirectory::new(here.path()).unwrap();
        unfinished.add(Path::new("src/one"), |out| out.write_all(b"1")).unwrap();
        assert!(unfinished.add(Path::new("two"), |_| Err(io::Error::other("full"))).is_err());
        drop(unfinished);
        assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0);
        let unfinished = UnfinishedDirectory::new(here.path()).unwrap();
        unfinished.add(Path::new("src/one"), |out| out.write_all(b"1")).unwrap();
        assert!(!path.exists());
        unfinished.name(&path).unwrap();
        assert_eq!(fs::read(path.join("src/one")).unwrap(), b"1");
        assert_eq!(fs::read_dir(here.path()).unwrap().count(), 1);
        // What is there already stays.
        let late = UnfinishedDirectory::new(here.path()).unwrap();
        assert!(late.name(&path).is_err());
        assert_eq!(fs::read_dir(here.path()).unwrap().count(), 1);
    }

    #[test]
    fn only_new_and_empty_directories_are_removed() {
        let here = tempfile::tempdir().unwrap();
        let (old, used) = (here.path().join("old"), here.path().join("old/used"));
        fs::create_dir(&old).unwrap();
        let mut made = Made::default();
        made.make(&old.join("new/inner")).unwrap();
        made.make(&used).unwrap();
        fs::write(used.join("theirs"), "x").unwrap();
        drop(made);
        assert!(used.join("theirs").exists() && !old.join("new").exists());
        let mut made = Made::default();
        made.make(&old.join("new/inner")).unwrap();
        made.keep();
        assert!(old.join("new/inner").exists());
    }
}
