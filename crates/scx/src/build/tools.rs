//! Finds and runs clang and wasm-ld.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Output};

use super::Failed;

/// The newest version whose suffixed names (`clang-22`) are tried, and the oldest that knows the attributes
/// by which the build finds maps and programs (`btf_decl_tag` in the debug information: clang 14).
const NEWEST: u32 = 30;
const OLDEST: u32 = 14;

/// The two programs of a build.
pub(super) struct Tools {
    clang: PathBuf,
    linker: PathBuf,
    /// The first line of `clang --version`.
    pub(super) version: String,
}

impl Tools {
    /// Finds both: the clang that is named, else `clang`, else the newest `clang-N`; the linker of its
    /// version.
    pub(super) fn find(clang: Option<&OsStr>) -> Result<Self, Failed> {
        let (clang, version) = find_clang(clang)?;
        let major = major(&version);
        if let Some(major) = major.filter(|major| *major < OLDEST) {
            return Err(Failed::Tools(format!(
                "clang {major} is too old: clang {OLDEST} or newer is needed"
            )));
        }
        let linker = find_linker(&clang, major)?;
        Ok(Self { clang, linker, version })
    }

    /// Runs clang.
    pub(super) fn clang<I: AsRef<OsStr>>(&self, arguments: &[I]) -> Result<Output, Failed> {
        let mut command = Command::new(&self.clang);
        // Search paths of the environment would bring headers of this machine in.
        for variable in ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH"] {
            command.env_remove(variable);
        }
        run(command.args(arguments))
    }

    /// Runs the linker.
    pub(super) fn link<I: AsRef<OsStr>>(&self, arguments: &[I]) -> Result<Output, Failed> {
        run(Command::new(&self.linker).args(arguments))
    }
}

fn run(command: &mut Command) -> Result<Output, Failed> {
    command.output().map_err(|error| {
        let program = command.get_program().display().to_string();
        Failed::Tools(format!("cannot run {program}: {error}"))
    })
}

/// The text of a program's standard output, if it ran and ended well.
fn says(program: &OsStr, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The path and the first line of `--version`.
fn find_clang(named: Option<&OsStr>) -> Result<(PathBuf, String), Failed> {
    let first_line = |text: String| text.lines().next().unwrap_or_default().trim().to_owned();
    if let Some(named) = named {
        let version = says(named, "--version");
        let name = named.display();
        let version = version.ok_or_else(|| Failed::Tools(format!("{name}: cannot be run as a clang")))?;
        return match says(named, "--print-targets") {
            Some(targets) if targets.contains("wasm64") => Ok((named.into(), first_line(version))),
            _ => Err(Failed::Tools(format!("{name}: this clang has no target wasm64"))),
        };
    }
    let suffixed = (OLDEST..=NEWEST).rev().map(|version| format!("clang-{version}"));
    let mut seen = None;
    for name in std::iter::once("clang".to_owned()).chain(suffixed) {
        let name = OsStr::new(&name);
        let Some(version) = says(name, "--version") else { continue };
        if says(name, "--print-targets").is_some_and(|targets| targets.contains("wasm64")) {
            return Ok((name.into(), first_line(version)));
        }
        seen = Some(first_line(version));
    }
    Err(Failed::Tools(seen.map_or_else(
        || {
            format!(
                "clang is not found: install clang and lld, version {OLDEST} or newer (`apt install clang \
                 lld`, `dnf install clang lld`)"
            )
        },
        |seen| format!("{seen} has no target wasm64: install a clang that has it (`apt install clang lld`)"),
    )))
}

/// `Debian clang version 14.0.6` gives 14.
fn major(version: &str) -> Option<u32> {
    let (_, number) = version.split_once("version ")?;
    number.split('.').next()?.parse().ok()
}

fn find_linker(clang: &PathBuf, major: Option<u32>) -> Result<PathBuf, Failed> {
    // The one that this clang would run.
    let own = Command::new(clang).arg("-print-prog-name=wasm-ld").output().ok();
    let own = own.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let suffixed = major.map(|major| format!("wasm-ld-{major}"));
    for name in suffixed.into_iter().chain(own).chain(std::iter::once("wasm-ld".to_owned())) {
        if !name.is_empty() && says(OsStr::new(&name), "--version").is_some() {
            return Ok(name.into());
        }
    }
    Err(Failed::Tools(
        "wasm-ld, the linker of clang for WebAssembly, is not found: install lld (`apt install lld`, \
         `dnf install lld`)"
            .to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn the_version_of_clang_is_read_from_its_first_line() {
        assert_eq!(major("Debian clang version 14.0.6"), Some(14));
        assert_eq!(major("clang version 21.1.8 (Fedora 21.1.8-4.fc43)"), Some(21));
        assert_eq!(major("Apple clang version 17.0.0 (clang-1700)"), Some(17));
        assert_eq!(major("something else"), None);
    }
}
