//! Writes results to standard output and, atomically, to a directory.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use experiment::report::{DEFAULT_WIDTH, FORMATS, Format, View};
use experiment::result::Results;
use tempfile::NamedTempFile;

use crate::failure::Failure;

/// The formats that a directory receives.
const IN_DIRECTORY: &[&str] = &[
    "json",
    "csv",
    "tidy",
    "markdown",
    "text",
    #[cfg(feature = "parquet")]
    "parquet",
];

/// Lines have at least this width, because tables need it.
const MIN_WIDTH: usize = 60;

/// Columns of pictures in text when the width is unknown, and the largest number of them.
const DEFAULT_COLUMNS: usize = 80;
const MOST_COLUMNS: usize = 1000;

/// Calls `write` with standard output, buffered.
pub(crate) fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(Failure::stdout)
}

/// Columns of the terminal on standard output, or the default when it is none.
pub(crate) fn width() -> usize {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0).max(MIN_WIDTH))
}

/// Columns for what is drawn with characters: those of the terminal on standard output, else the variable COLUMNS, else 80.
pub(crate) fn columns() -> usize {
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(variable).unwrap_or(DEFAULT_COLUMNS).clamp(MIN_WIDTH, MOST_COLUMNS)
}

/// True when standard output shows colours: a terminal, and NO_COLOR is not set.
pub(crate) fn colours() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

fn files() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|f| IN_DIRECTORY.contains(&f.name))
}

/// Refuses a directory that has results already, before anything is simulated.
pub(crate) fn check_directory(directory: &Path, force: bool) -> Result<(), Failure> {
    if directory.exists() && !directory.is_dir() {
        return Err(Failure::Input(format!("{} is not a directory", directory.display())));
    }
    let taken = files().map(|f| directory.join(f.file)).find(|path| path.exists());
    match taken {
        Some(path) if !force => {
            Err(Failure::Input(format!("{} exists; --force replaces it", path.display())))
        }
        _ => Ok(()),
    }
}

/// Writes the result in every form, each file whole or not at all.
pub(crate) fn to_directory(results: &Results, directory: &Path, force: bool) -> Result<(), Failure> {
    let failed = |e: io::Error| Failure::Output(format!("cannot write to {}: {e}", directory.display()));
    fs::create_dir_all(directory).map_err(failed)?;
    for format in files() {
        write_file(results, format, directory, force).map_err(failed)?;
    }
    Ok(())
}

fn write_file(results: &Results, format: &Format, directory: &Path, force: bool) -> io::Result<()> {
    let mut file = temporary(directory)?;
    {
        let mut out = BufWriter::new(file.as_file_mut());
        (format.write)(results, &mut out, &View::FILE)?;
        out.flush()?;
    }
    let path = directory.join(format.file);
    if force {
        file.persist(path)?
    } else {
        file.persist_noclobber(path)?
    };
    Ok(())
}

/// Refuses a file that exists, before anything is simulated.
pub(crate) fn check_file(path: &Path, force: bool) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::Input(format!("{} is a directory", path.display())));
    }
    if path.exists() && !force {
        return Err(Failure::Input(format!("{} exists; --force replaces it", path.display())));
    }
    Ok(())
}

/// Writes a file, whole or not at all.
pub(crate) fn to_file(
    path: &Path,
    force: bool,
    write: &dyn Fn(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let all = || -> io::Result<()> {
        let mut file = temporary(directory)?;
        {
            let mut out = BufWriter::new(file.as_file_mut());
            write(&mut out)?;
            out.flush()?;
        }
        if force {
            file.persist(path)?
        } else {
            file.persist_noclobber(path)?
        };
        Ok(())
    };
    all().map_err(|e| Failure::Output(format!("cannot write {}: {e}", path.display())))
}

/// A temporary file in the directory with the permissions of an ordinary one.
fn temporary(directory: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask of the process removes permissions that the user does not want.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.prefix(".oversim-").tempfile_in(directory)
}

/// Where decisions go: standard output, a pipe or device, or a file that gets its name when it is whole.
pub(crate) enum Decisions {
    /// Standard output.
    Standard(BufWriter<io::Stdout>),
    /// Something that is there and is no ordinary file.
    Direct(BufWriter<File>),
    /// A file in the making, its name, and whether it may replace another one.
    File(BufWriter<NamedTempFile>, PathBuf, bool),
}

/// Refuses a file that exists already, before anything is simulated.
pub(crate) fn check_decisions(path: &Path, force: bool) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::Input(format!("{} is a directory", path.display())));
    }
    if path.is_file() && !force {
        return Err(Failure::Input(format!("{} exists; --force replaces it", path.display())));
    }
    Ok(())
}

impl Decisions {
    /// Opens it; directories on the way are made.
    pub(crate) fn open(path: &Path, force: bool) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            return Ok(Self::Standard(BufWriter::new(io::stdout())));
        }
        let failed = |e: io::Error| Failure::Input(format!("cannot write to {}: {e}", path.display()));
        if path.exists() && !path.is_file() {
            return Ok(Self::Direct(BufWriter::new(File::options().write(true).open(path).map_err(failed)?)));
        }
        if path.file_name().is_none() {
            return Err(Failure::Input(format!("`{}` is not the name of a file", path.display())));
        }
        // The parent of a bare name is the empty path.
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(failed)?;
        let file = temporary(parent).map_err(failed)?;
        Ok(Self::File(BufWriter::new(file), path.to_owned(), force))
    }

    /// True when standard output is taken.
    pub(crate) const fn takes_standard_output(&self) -> bool {
        matches!(self, Self::Standard(_))
    }

    /// All is written: gives the file its name.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self {
            Self::Standard(mut out) => out.flush().map_err(Failure::stdout),
            Self::Direct(mut out) => out.flush().map_err(|e| Failure::decisions(&e)),
            Self::File(out, path, force) => {
                let file = out.into_inner().map_err(|e| Failure::decisions(e.error()))?;
                file.as_file().sync_data().map_err(|e| Failure::decisions(&e))?;
                let kept = if force { file.persist(&path) } else { file.persist_noclobber(&path) };
                kept.map(drop).map_err(|e| Failure::decisions(&e.error))
            }
        }
    }
}

impl Write for Decisions {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard(out) => out.write(bytes),
            Self::Direct(out) => out.write(bytes),
            Self::File(out, ..) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard(out) => out.flush(),
            Self::Direct(out) => out.flush(),
            Self::File(out, ..) => out.flush(),
        }
    }
}
