//! Several files of one directory: all are written before the first gets its name, and two writers cannot
//! mix.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use sweep::unfinished::{Made, UnfinishedDirectory};

use super::target::{Content, Target, accepts, write_together};
use crate::failure::Failure;
use crate::say;

/// A directory that receives files.
pub(crate) struct Folder {
    path: PathBuf,
    force: bool,
}

impl Folder {
    /// Checks that files of these names can be written there: the directory exists or can be made, and
    /// nothing is lost without `force`.
    ///
    /// # Errors
    /// [`Failure::Input`] with the reason.
    pub(crate) fn check<'n>(
        path: &Path,
        force: bool,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<(Self, Vec<Target>), Failure> {
        let folder = Self { path: path.to_owned(), force };
        let shown = path.display();
        let there = existing(path);
        if !there.is_dir() {
            return Err(Failure::Input(format!("{} is not a directory", there.display())));
        }
        accepts(there).map_err(|e| Failure::Input(format!("cannot write to {shown}: {e}")))?;
        let targets = if path.is_dir() {
            // A directory of names that is not there is made later.
            let there = |file: &PathBuf| file.parent().is_some_and(Path::is_dir);
            let files = names.map(|name| path.join(name)).filter(there);
            files.map(|file| Target::check(&file, force)).collect::<Result<_, _>>()?
        } else {
            Vec::new()
        };
        Ok((folder, targets))
    }

    /// Checks that the file system has room for so many bytes, where it tells.
    ///
    /// # Errors
    /// [`Failure::Input`] with what is needed and what is free.
    pub(crate) fn room(&self, needed: u64) -> Result<(), Failure> {
        #[cfg(unix)]
        if let Ok(found) = rustix::fs::statvfs(existing(&self.path)) {
            let free = found.f_bavail.saturating_mul(found.f_frsize);
            if free < needed {
                return Err(Failure::Input(format!(
                    "{} has {} KiB free, and the results need about {} KiB: choose another directory or \
                        fewer configurations",
                    self.path.display(),
                    free >> 10,
                    needed >> 10
                )));
            }
        }
        Ok(())
    }

    /// Makes the directory, and those that the names of the files contain, and writes the files.
    ///
    /// # Errors
    /// [`Failure::Output`] with the reason. No file has its name then, unless the last step fails, and the
    /// new directories are removed.
    pub(crate) fn write<C>(&self, files: &[(impl AsRef<Path>, C)]) -> Result<(), Failure>
    where
        C: Fn(&mut dyn Write) -> io::Result<()>,
    {
        let mut made = Made::default();
        let inside = files.iter().filter_map(|(name, _)| name.as_ref().parent());
        for name in [Path::new("")].into_iter().chain(inside) {
            let directory = self.path.join(name);
            made.make(&directory)
                .map_err(|e| Failure::Output(format!("cannot make {}: {e}", directory.display())))?;
        }
        // Another writer waits until this one has named its files.
        let directory = File::open(&self.path);
        if let Ok(directory) = &directory
            && directory.lock().is_err()
        {
            say::note(format_args!(
                "{}: this file system has no locks: let no other command write there at the same time",
                self.path.display()
            ));
        }
        let check = |name: &Path| match Target::check(&self.path.join(name), self.force) {
            Err(Failure::Input(why)) => Err(Failure::Output(why)),
            checked => checked,
        };
        let targets: Vec<Target> =
            files.iter().map(|(name, _)| check(name.as_ref())).collect::<Result<_, _>>()?;
        let contents = files.iter().map(|(_, content)| content as Content<'_>);
        write_together(&targets.iter().zip(contents).collect::<Vec<_>>())?;
        made.keep();
        Ok(())
    }
}

/// Writes a directory that does not exist yet, with all its files or not at all, also if the process is
/// killed. Their names may contain directories.
///
/// # Errors
/// [`Failure::Input`] when the directory exists or cannot be made there, [`Failure::Output`] with another
/// reason. Nothing of it exists then.
pub(crate) fn write_new<C>(path: &Path, files: &[(&str, C)]) -> Result<(), Failure>
where
    C: Fn(&mut dyn Write) -> io::Result<()>,
{
    let exists = || Failure::Input(format!("{} exists, and it is not replaced", path.display()));
    if fs::symlink_metadata(path).is_ok() {
        return Err(exists());
    }
    Folder::check(path, false, std::iter::empty())?;
    let failed = |name: &Path, e: &io::Error| Failure::Output(format!("cannot make {}: {e}", name.display()));
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut made = Made::default();
    made.make(above).map_err(|e| failed(above, &e))?;
    let directory = UnfinishedDirectory::new(above).map_err(|e| failed(path, &e))?;
    for (name, content) in files {
        directory.add(Path::new(name), content).map_err(|e| failed(&path.join(name), &e))?;
    }
    directory.name(path).map_err(|e| match e.kind() {
        // Another program made it meanwhile.
        ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory => exists(),
        _ => failed(path, &e),
    })?;
    made.keep();
    Ok(())
}

/// Writes what is in memory.
pub(crate) fn bytes(all: &[u8]) -> impl Fn(&mut dyn Write) -> io::Result<()> {
    move |out| out.write_all(all)
}

/// The path, or its nearest ancestor that exists.
fn existing(path: &Path) -> &Path {
    let there =
        path.ancestors().find(|path| path.as_os_str().is_empty() || fs::symlink_metadata(path).is_ok());
    there.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_directory_has_all_its_files_or_does_not_exist() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b");
        let content = |fails: bool| {
            move |out: &mut dyn Write| if fails { Err(io::Error::other("full")) } else { out.write_all(b"x") }
        };
        let refused = write_new(&path, &[("one", content(false)), ("src/two", content(true))]).unwrap_err();
        assert!(matches!(refused, Failure::Output(why) if why.contains("src/two: full")));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        write_new(&path, &[("one", content(false)), ("src/two", content(false))]).unwrap();
        assert_eq!(fs::read(path.join("src/two")).unwrap(), b"x");
        let again = write_new(&path, &[("three", content(false))]).unwrap_err();
        assert!(
            matches!(again, Failure::Input(why) if why.contains("exists")) && !path.join("three").exists()
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_file_system_without_room_is_refused_before_the_work() {
        let directory = tempfile::tempdir().unwrap();
        let (folder, _) =
            Folder::check(&directory.path().join("new/results"), false, ["a"].into_iter()).unwrap();
        assert!(folder.room(0).is_ok());
        let refused = folder.room(u64::MAX).unwrap_err();
        assert!(matches!(refused, Failure::Input(why) if why.contains("KiB free")));
    }
}
