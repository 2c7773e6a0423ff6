//! What `docs/promises.md` promises: files of earlier versions are read or refused as it says, versions
//! agree, exit statuses are those of the page, and public names are as recorded.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod exit_status;
mod files;
mod identity;
mod names;
mod scan;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use assert_cmd::Command;

/// The root of the sources.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A file of the sources.
fn source(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// The files of a surface that earlier versions wrote, in order; a directory counts as one.
fn earlier(surface: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/promises/earlier").join(surface);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// What precedes the first dot of a file's name: format and model of its version.
fn version(path: &Path) -> &str {
    path.file_stem().unwrap().to_str().unwrap()
}

/// Runs the program in a folder: exit status, standard output, standard error.
fn oversim(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("oversim").unwrap();
    let output = command.current_dir(folder).args(args).env("COLUMNS", "100").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The program as a child that a test sends signals to.
fn child(folder: &Path, args: &[&str]) -> std::process::Child {
    let program = assert_cmd::cargo::cargo_bin("oversim");
    let mut command = std::process::Command::new(program);
    command.current_dir(folder).args(args).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null()).spawn().unwrap()
}
