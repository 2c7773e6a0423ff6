//! Files in the making: they get their name when they are whole.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// How the name of such a file begins.
pub(crate) const PREFIX: &str = ".oversim-";

/// A file in the making, beside its place.
pub(crate) struct Unnamed {
    out: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl Unnamed {
    /// Makes one for this place, with the permissions of an ordinary file.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The umask of the process removes permissions that the user does not want.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = builder.prefix(PREFIX).tempfile_in(path.parent().unwrap_or(Path::new(".")))?;
        Ok(Self { out: BufWriter::new(file), path: path.to_owned() })
    }

    /// Gives it its name, in place of a file that is there.
    pub(crate) fn finish(self) -> io::Result<()> {
        let (file, path) = self.whole()?;
        file.persist(path).map(drop).map_err(|failed| failed.error)
    }

    /// Gives it its name, unless there is a file of this name, which stays.
    pub(crate) fn finish_new(self) -> io::Result<()> {
        let (file, path) = self.whole()?;
        match file.persist_noclobber(path) {
            Err(failed) if failed.error.kind() != io::ErrorKind::AlreadyExists => Err(failed.error),
            _ => Ok(()),
        }
    }

    fn whole(self) -> io::Result<(NamedTempFile, PathBuf)> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        Ok((file, self.path))
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
