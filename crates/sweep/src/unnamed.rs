//! A file of a sweep in the making: it gets its name when it is whole.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::unfinished::{Unfinished, name_all};

/// A file in the making, beside its place.
pub(crate) struct Unnamed {
    out: Unfinished,
    path: PathBuf,
}

impl Unnamed {
    /// Makes one for this place, with the permissions of an ordinary file.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        let out = Unfinished::new(path.parent().unwrap_or(Path::new(".")))?;
        Ok(Self { out, path: path.to_owned() })
    }

    /// As [`Self::new`], for an owner, whose files are removed when it has been killed
    /// ([`crate::unfinished::clear`]).
    pub(crate) fn of(path: &Path, owner: &str) -> io::Result<Self> {
        let out = Unfinished::of(path.parent().unwrap_or(Path::new(".")), owner)?;
        Ok(Self { out, path: path.to_owned() })
    }

    /// Gives it its name, in place of a file that is there.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.named(true)
    }

    /// Gives it its name, unless there is a file of this name, which stays.
    pub(crate) fn finish_new(self) -> io::Result<()> {
        match self.named(false) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    fn named(mut self, replace: bool) -> io::Result<()> {
        self.out.complete(&self.path)?;
        name_all(vec![(self.out, self.path)], replace)
    }
}

impl Write for Unnamed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
