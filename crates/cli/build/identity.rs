//! Which commit, compiler and target the program is made from, for `oversim --version`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Packagers set it where there is no repository: the commit and, if they like, its date.
const VARIABLE: &str = "OVERSIM_COMMIT";
/// Digits of a commit that are shown. What git takes for short depends on the repository.
const DIGITS: usize = 12;

/// States the commit, the compiler and the target.
pub(crate) fn state() {
    println!("cargo:rerun-if-env-changed={VARIABLE}");
    let commit = match env::var(VARIABLE).ok().filter(|text| !text.is_empty()) {
        Some(text) => given(&text),
        None => packaged().or_else(checked_out).unwrap_or_else(|| "unknown".to_owned()),
    };
    println!("cargo:rustc-env=OVERSIM_BUILT_FROM={commit}");
    println!("cargo:rustc-env=OVERSIM_BUILT_BY={}", compiler().unwrap_or_else(|| "unknown".to_owned()));
    let target = env::var("TARGET").unwrap_or_else(|_| "unknown".to_owned());
    println!("cargo:rustc-env=OVERSIM_BUILT_FOR={target}");
}

/// What a packager states: `1a2b3c4d5e6f` or `1a2b3c4d5e6f 2026-11-30`, with `+` after the commit if the
/// sources differ from it.
fn given(text: &str) -> String {
    let (commit, date) = text.split_once(' ').unwrap_or((text, ""));
    let digits = commit.strip_suffix('+').unwrap_or(commit);
    let is_commit = (7..=64).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    assert!(
        is_commit && date.bytes().all(|b| b.is_ascii_digit() || b == b'-'),
        "{VARIABLE} is `{text}`, and must be a commit (7 to 64 hexadecimal digits, then `+` if the sources \
            differ from it) and, after a space, its date as YYYY-MM-DD"
    );
    shown(digits, commit.ends_with('+'), date)
}

/// The commit that `cargo package` has recorded beside the manifest.
fn packaged() -> Option<String> {
    let text = fs::read_to_string(manifest()?.join(".cargo_vcs_info.json")).ok()?;
    let commit = text.split("\"sha1\"").nth(1)?.split('"').nth(1)?;
    let is_commit = commit.len() >= DIGITS && commit.bytes().all(|b| b.is_ascii_hexdigit());
    is_commit.then(|| shown(commit, text.contains("\"dirty\": true"), ""))
}

/// The commit of the repository, if this is one of oversim and not another one around it.
fn checked_out() -> Option<String> {
    let root = manifest()?.join("../..").canonicalize().ok()?;
    let top = PathBuf::from(git(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()?;
    if top != root {
        return None;
    }
    // A change of any of these runs the script again. A file that is missing would run it always.
    let mut watched = vec![git(&["rev-parse", "--git-path", "HEAD"])?];
    watched.extend(git(&["rev-parse", "--git-path", "logs/HEAD"]));
    watched.extend(["../../Cargo.toml", "../../Cargo.lock", "../../scenarios"].map(str::to_owned));
    // Tests and what they need are no part of the program.
    for entry in fs::read_dir("..").ok()?.flatten().filter(|entry| entry.file_name() != "testkit") {
        let parts = ["src", "data", "include", "lessons", "template", "build", "Cargo.toml"];
        watched.extend(parts.map(|part| entry.path().join(part).display().to_string()));
    }
    for path in watched.iter().filter(|path| Path::new(path).exists()) {
        println!("cargo:rerun-if-changed={path}");
    }
    let about = git(&["show", "--no-patch", "--format=%H %cs", "HEAD"])?;
    let (commit, date) = about.split_once(' ')?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(shown(commit, !changed.is_empty(), date))
}

fn shown(commit: &str, changed: bool, date: &str) -> String {
    let commit = &commit[..commit.len().min(DIGITS)];
    format!("{commit}{} {date}", if changed { "+" } else { "" }).trim_end().to_owned()
}

fn manifest() -> Option<PathBuf> {
    env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from)
}

/// What a command of git prints; nothing if there is no git or it fails. It writes nothing.
fn git(arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    // A hook of another repository sets these.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        git.env_remove(variable);
    }
    printed(git.arg("--no-optional-locks").args(arguments).current_dir(manifest()?))
}

/// The version of the compiler: `1.95.0`.
fn compiler() -> Option<String> {
    let text = printed(Command::new(env::var_os("RUSTC")?).arg("--version"))?;
    text.split(' ').nth(1).map(str::to_owned)
}

fn printed(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim_end().to_owned())
}
