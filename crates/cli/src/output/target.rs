//! One output that the command line names: checked before the simulation, written after it.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use sweep::unfinished::{Unfinished, bare, name_all};

use crate::failure::Failure;

/// What writes the content of an output.
pub(crate) type Content<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// A file, a pipe or a device that receives an output.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The path as the user wrote it.
    named: PathBuf,
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    /// A pipe, a device or a stream of this process: written through.
    Through,
    /// A regular file behind all symbolic links: it appears whole or not at all.
    File { path: PathBuf, replace: bool },
}

impl Target {
    /// Checks that the output can be written: nothing is lost without `force`, and the directory accepts
    /// files.
    ///
    /// # Errors
    /// [`Failure::Input`] with the reason.
    pub(crate) fn check(path: &Path, force: bool) -> Result<Self, Failure> {
        let shown = path.display();
        let named = path.to_owned();
        if path.file_name().is_none() {
            return Err(Failure::Input(format!("`{shown}` is not the name of a file")));
        }
        if path.as_os_str() == "-" {
            return Err(Failure::Input("`-` is not the name of a file: write `./-`, or another name".into()));
        }
        let refused = |e: &io::Error| Failure::Input(format!("cannot write {shown}: {e}"));
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(Failure::Input(format!("{shown} is a directory"))),
            Ok(found) if !found.is_file() || is_stream(path) => Ok(Self { named, place: Place::Through }),
            Ok(_) if !force => Err(Failure::Input(format!("{shown} exists; --force replaces it"))),
            Ok(_) => {
                let path = fs::canonicalize(path).map_err(|e| refused(&e))?;
                accepts(directory_of(&path)).map_err(|e| refused(&e))?;
                Ok(Self { named, place: Place::File { path, replace: true } })
            }
            Err(e) if e.kind() == ErrorKind::NotFound => {
                match fs::symlink_metadata(path) {
                    Ok(found) if found.is_symlink() => {
                        let text = format!("{shown} is a symbolic link to a file that does not exist");
                        return Err(Failure::Input(text));
                    }
                    // Another program has just written it.
                    Ok(_) => return Self::check(path, force),
                    Err(_) => {}
                }
                let directory = directory_of(path);
                if !directory.is_dir() {
                    let directory = directory.display();
                    return Err(Failure::Input(format!(
                        "cannot write {shown}: there is no directory {directory}"
                    )));
                }
                accepts(directory).map_err(|e| refused(&e))?;
                let whole = fs::canonicalize(directory).map_err(|e| refused(&e))?;
                let path = whole.join(path.file_name().unwrap_or_default());
                Ok(Self { named, place: Place::File { path, replace: force } })
            }
            Err(e) => Err(refused(&e)),
        }
    }

    /// The path as the user wrote it.
    pub(crate) fn named(&self) -> &Path {
        &self.named
    }

    /// The file behind all symbolic links; `None` for pipes and devices.
    pub(super) fn file(&self) -> Option<&Path> {
        match &self.place {
            Place::Through => None,
            Place::File { path, .. } => Some(path),
        }
    }

    /// Opens it for content that is made bit by bit.
    ///
    /// # Errors
    /// [`Failure::Output`] with the reason.
    pub(crate) fn open(&self) -> Result<Stream, Failure> {
        let opened = || -> io::Result<Stream> {
            Ok(match &self.place {
                Place::Through => Stream::through(Box::new(File::options().write(true).open(&self.named)?)),
                Place::File { path, .. } => Stream(Sink::File(Unfinished::new(directory_of(path))?)),
            })
        };
        opened().map_err(|e| self.failed(&e))
    }

    /// Writes it: a file whole or not at all.
    ///
    /// # Errors
    /// [`Failure::Output`] with the reason.
    pub(crate) fn write(&self, content: Content<'_>) -> Result<(), Failure> {
        let mut stream = self.open()?;
        content(&mut stream).map_err(|e| self.failed(&e))?;
        self.finish(stream)
    }

    /// All is written to the stream that [`open`](Self::open) gave: the file gets its name.
    ///
    /// # Errors
    /// [`Failure::Output`] with the reason.
    pub(crate) fn finish(&self, stream: Stream) -> Result<(), Failure> {
        write_all(vec![(self, stream)])
    }

    pub(super) fn failed(&self, error: &io::Error) -> Failure {
        Failure::Output(format!("cannot write {}: {error}", self.named.display()))
    }
}

/// Writes several outputs: all files are complete before the first one gets its name.
///
/// # Errors
/// [`Failure::Output`] with the reason.
pub(crate) fn write_together(outputs: &[(&Target, Content<'_>)]) -> Result<(), Failure> {
    let mut streams = Vec::new();
    for (target, content) in outputs {
        let mut stream = target.open()?;
        content(&mut stream).map_err(|e| target.failed(&e))?;
        streams.push((*target, stream));
    }
    write_all(streams)
}

/// Finishes several streams: all files get their names together, behind pipes and devices.
fn write_all(streams: Vec<(&Target, Stream)>) -> Result<(), Failure> {
    let (mut files, mut force) = (Vec::new(), true);
    let Some(first) = streams.first().map(|(target, _)| *target) else { return Ok(()) };
    for (target, stream) in streams {
        match (stream.0, &target.place) {
            (Sink::File(mut file), Place::File { path, replace }) => {
                file.complete(path).map_err(|e| target.failed(&e))?;
                force &= *replace;
                files.push((file, path.clone()));
            }
            (Sink::Through(mut out), _) => out.flush().map_err(|e| target.failed(&e))?,
            (Sink::File(_) | Sink::Closed, _) => {}
        }
    }
    name_all(files, force).map_err(|e| first.failed(&e))
}

/// Refuses an output that is also an input or another output.
///
/// # Errors
/// [`Failure::Input`] with both.
pub(crate) fn distinct(outputs: &[&Target], inputs: &[&Path]) -> Result<(), Failure> {
    for (at, output) in outputs.iter().enumerate() {
        let Some(file) = output.file() else { continue };
        let shown = output.named.display();
        if outputs[..at].iter().any(|other| other.file() == Some(file)) {
            return Err(Failure::Input(format!(
                "two outputs would be written to {shown}: choose another name"
            )));
        }
        let same = |input: &&&Path| fs::canonicalize(input).is_ok_and(|input| input == file);
        if inputs.iter().any(|input| same(&input)) {
            return Err(Failure::Input(format!(
                "{shown} is also read by this command: choose another output"
            )));
        }
    }
    Ok(())
}

/// True for the names that the system gives to the open streams of a process, such as `/dev/stdout`.
fn is_stream(path: &Path) -> bool {
    let real = fs::canonicalize(directory_of(path)).unwrap_or_default();
    real == Path::new("/dev") || real.starts_with("/proc")
}

/// The directory of a file; that of a bare name is the current one.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether files can be made in the directory: makes one and removes it.
pub(super) fn accepts(directory: &Path) -> io::Result<()> {
    Unfinished::new(directory).map(drop)
}

/// Receives the content of an output.
pub(crate) struct Stream(Sink);

enum Sink {
    File(Unfinished),
    Through(BufWriter<Box<dyn Write + Send>>),
    /// The reader of the pipe went away: what follows is not wanted.
    Closed,
}

impl Stream {
    /// A stream to a pipe or device. A reader that goes away ends the output and nothing else.
    pub(crate) fn through(out: Box<dyn Write + Send>) -> Self {
        Self(Sink::Through(BufWriter::new(out)))
    }

    fn forward<T: Default>(&mut self, done: io::Result<T>, instead: T) -> io::Result<T> {
        match done {
            Err(e) if e.kind() == ErrorKind::BrokenPipe => {
                if let Sink::Through(out) = std::mem::replace(&mut self.0, Sink::Closed) {
                    // Without this the rest of the buffer would be written once more.
                    let _ = out.into_parts();
                }
                Ok(instead)
            }
            done => done.map_err(bare),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = match &mut self.0 {
            Sink::File(file) => file.write(bytes),
            Sink::Through(out) => out.write(bytes),
            Sink::Closed => Ok(bytes.len()),
        };
        self.forward(done, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = match &mut self.0 {
            Sink::File(file) => file.flush(),
            Sink::Through(out) => out.flush(),
            Sink::Closed => Ok(()),
        };
        self.forward(done, ())
    }
}
