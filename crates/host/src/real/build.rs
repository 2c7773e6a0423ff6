//! Compiles the program in C, once for each runtime.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::job::{Job, Library};

/// The program.
const SOURCE: &str = include_str!("program.c");

/// Compiled programs. Their files are open and have no name, so that none is left whatever happens.
#[derive(Debug, Default)]
pub struct Built {
    files: BTreeMap<Library, File>,
}

/// A folder that is removed with all that is in it.
struct Folder(PathBuf);

impl Folder {
    /// A new one among the temporary files, for this user alone.
    fn new() -> io::Result<Self> {
        let begin = std::env::temp_dir();
        for number in 0.. {
            let path = begin.join(format!("oversim-real-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < 1_000 => {}
                made => return made.map(|()| Self(path)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed stays among the temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Built {
    /// Compiles the program for these libraries; those that it has are left as they are.
    ///
    /// # Errors
    /// A sentence: a compiler or launcher is missing, or refuses the program.
    pub fn add(&mut self, libraries: impl IntoIterator<Item = Library>) -> Result<(), String> {
        for library in libraries {
            if let Entry::Vacant(place) = self.files.entry(library) {
                place.insert(compile(library)?);
            }
        }
        Ok(())
    }

    /// Gives a job the path of its program, which is valid while this value lives.
    pub fn complete(&self, job: &mut Job) {
        if let Some(file) = self.files.get(&job.library) {
            job.path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        }
    }
}

fn missing(library: Library, command: &str) -> String {
    format!(
        "`{}` is not executed: the command {command} is missing; on Debian it is in {}",
        library.name(),
        library.packages()
    )
}

/// The first line of what a command says about itself.
fn version(library: Library, command: &str) -> Result<String, String> {
    let said = Command::new(command).arg("--version").stdin(Stdio::null()).output();
    let said = said.map_err(|_| missing(library, command))?;
    Ok(String::from_utf8_lossy(&said.stdout).lines().next().unwrap_or_default().to_owned())
}

fn compile(library: Library) -> Result<File, String> {
    if let Some(launcher) = library.launcher() {
        let version = version(library, launcher)?;
        if !version.contains("Open MPI") {
            return Err(format!(
                "`{}` is not executed: {launcher} is that of another library ({version}); on Debian it is in \
                    {}",
                library.name(),
                library.packages()
            ));
        }
    }
    let failed = |e: &io::Error| format!("cannot compile a program: {e}");
    let folder = Folder::new().map_err(|e| failed(&e))?;
    let source = folder.0.join("program.c");
    fs::write(&source, SOURCE).map_err(|e| failed(&e))?;
    let program = folder.0.join("program");
    run(library, &source, &program)?;
    File::open(&program).map_err(|e| failed(&e))
}

fn run(library: Library, source: &Path, program: &Path) -> Result<(), String> {
    let [compiler, options @ ..] = library.compiler() else { return Ok(()) };
    let done = Command::new(compiler)
        .arg("-O2")
        .args(options)
        .arg(source)
        .arg("-o")
        .arg(program)
        .stdin(Stdio::null())
        .output()
        .map_err(|_| missing(library, compiler))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let first = said.lines().find(|line| line.contains("error")).or(said.lines().next()).unwrap_or_default();
    Err(format!(
        "`{}` is not executed: {compiler} cannot compile for it ({}); on Debian it is in {}",
        library.name(),
        notation::neutral::line(first),
        library.packages()
    ))
}
