//! One version in all files that state it; the commit of a build; a citation that programs can read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use experiment::provenance::MODEL;

use crate::{earlier, oversim, root, source, version};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commits that a build script can state in a test.
const SHORT: &str = "0123456789ab";
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

#[test]
fn the_first_line_is_the_version_whatever_follows() {
    let (code, short, _) = oversim(&root(), &["-V"]);
    assert_eq!((code, short), (0, format!("oversim {VERSION}\n")));
    let (code, long, _) = oversim(&root(), &["--version"]);
    let mut lines = long.lines();
    assert_eq!((code, lines.next()), (0, Some(&*format!("oversim {VERSION}"))));
    let facts: BTreeMap<&str, &str> = lines.map(|line| line.split_once(": ").unwrap()).collect();
    let names: Vec<&str> = facts.keys().copied().collect();
    assert_eq!(names, ["commit", "model", "results", "rustc", "sweeps", "target"]);
    assert_eq!((facts["model"], facts["results"]), (MODEL, "oversim.result/3"));
    let commit = facts["commit"].split([' ', '+']).next().unwrap();
    assert!(commit == "unknown" || commit.bytes().all(|b| b.is_ascii_hexdigit()), "{commit}");
    assert!(facts["rustc"].starts_with(|c: char| c.is_ascii_digit()) && facts["target"].contains('-'));
}

/// The lines of a TOML or lock file from one with this text to the next empty one.
fn sections<'a>(text: &'a str, head: &'a str) -> impl Iterator<Item = &'a str> {
    text.split("\n\n").filter(move |section| section.contains(head))
}

#[test]
fn one_version_everywhere() {
    let named = format!("version = \"{VERSION}\"");
    assert!(sections(&source("Cargo.toml"), "[workspace.package]").next().unwrap().contains(&named));
    for path in source("Cargo.toml").lines().filter(|line| line.contains("path = \"crates/")) {
        assert!(path.contains(&named) || path.starts_with("testkit"), "{path}");
    }
    for file in ["fuzz", "bindings/python", "bindings/browser", "bindings/browser/bind"] {
        let manifest = source(&format!("{file}/Cargo.toml"));
        assert!(sections(&manifest, "[package]").next().unwrap().contains(&named), "{file}");
        let locked = source(&format!("{file}/Cargo.lock"));
        for own in sections(&locked, "[[package]]").filter(|section| section.contains("name = \"oversim")) {
            assert!(own.contains(&named), "{file}/Cargo.lock: {own}");
        }
    }
    let example = source("examples/out-of-tree-policy/Cargo.toml");
    for line in example.lines().filter(|line| line.contains("path = ")) {
        assert!(line.contains(&named), "{line}");
    }
}

/// The keys of the first level of a YAML file and their values; lists as their items.
fn keys(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut keys: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut last = String::new();
    for line in text.lines() {
        let (key, value) = match line.strip_prefix("- ") {
            Some(item) => (last.clone(), item),
            None => line.split_once(':').map(|(key, value)| (key.to_owned(), value.trim())).unwrap(),
        };
        let values = keys.entry(key.clone()).or_default();
        values.extend(Some(value.to_owned()).filter(|value| !value.is_empty()));
        last = key;
    }
    keys
}

/// Needed by the schema of the Citation File Format 1.2.0, and what a citation of software needs besides.
#[test]
fn the_citation_is_complete() {
    let citation = keys(&source("CITATION.cff"));
    let one = |key: &str| citation.get(key).and_then(|values| values.first()).unwrap().as_str();
    assert_eq!((one("cff-version"), one("type"), one("title")), ("1.2.0", "software", "oversim"));
    assert_eq!(one("version"), VERSION);
    assert!(one("message").len() > 20 && one("abstract").ends_with('.'));
    assert!(citation["authors"].iter().all(|author| author.starts_with("name: ")));
    let manifest = source("Cargo.toml");
    let licence = citation["license"].join(" OR ");
    assert!(manifest.contains(&format!("license = \"{licence}\"")), "{licence}");
    let words: Vec<String> = citation["keywords"].iter().map(|word| format!("\"{word}\"")).collect();
    assert!(manifest.contains(&format!("keywords = [{}]", words.join(", "))), "{words:?}");
    let date = one("date-released");
    assert!(source("CHANGELOG.md").contains(&format!("\n## [{VERSION}] - {date}\n")), "{date}");
    // Keys of the format; it allows no others.
    let allowed = "abstract authors cff-version commit contact date-released doi identifiers keywords \
        license license-url message preferred-citation references repository repository-artifact \
        repository-code title type url version";
    let other = citation.keys().find(|key| !allowed.split_whitespace().any(|known| known == **key));
    assert_eq!(other, None);
    let numbers: Vec<usize> = date.split('-').map(str::len).collect();
    assert_eq!(numbers, [4, 2, 2], "{date}");
}

#[test]
fn the_changelog_names_what_this_version_writes() {
    let text = source("CHANGELOG.md");
    let versions: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## [")).collect();
    assert!(versions[0].starts_with("Unreleased]") && versions[1].starts_with(VERSION), "{versions:?}");
    for named in [MODEL, "oversim.result/3", "oversim.sweep/1"] {
        assert!(text.contains(&format!("`{named}`")), "the changelog does not name {named}");
    }
    let model: u32 = MODEL.rsplit('/').next().unwrap().parse().unwrap();
    for number in 1..=model {
        assert!(text.contains(&format!("\n| {number} | 20")), "no row of model {number}");
    }
    for format in ["results", "schedules", "measurements"].into_iter().flat_map(earlier) {
        let number = version(&format).split('-').next().unwrap();
        let surface = format.parent().unwrap().file_name().unwrap().to_str().unwrap().trim_end_matches('s');
        assert!(text.contains(&format!("`oversim.{surface}/{number}`")), "{}", format.display());
    }
    for row in experiment::renamed::RENAMED {
        let group = format!("{}_*", row.old.split('_').next().unwrap());
        let shown = [row.old, &group].iter().any(|name| text.contains(&format!("`{name}`")));
        assert!(shown, "the changelog does not name {row:?}");
    }
}

/// A build script in a folder that looks like the sources: what it prints, or its complaint.
struct Script {
    program: PathBuf,
    /// `crates/cli` below the root of the sources.
    manifest: PathBuf,
}

impl Script {
    fn compiled(folder: &Path) -> Self {
        let manifest = folder.join("sources/crates/cli");
        fs::create_dir_all(manifest.join("src")).unwrap();
        fs::write(manifest.join("src/lib.rs"), "").unwrap();
        fs::write(folder.join("sources/Cargo.toml"), "").unwrap();
        let program = folder.join("script");
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut compiler = Command::new(compiler);
        let state = Path::new(env!("CARGO_MANIFEST_DIR")).join("build/identity.rs");
        let build = folder.join("script.rs");
        let main = format!("#[path = {state:?}] mod identity; fn main() {{ identity::state(); }}");
        fs::write(&build, main).unwrap();
        let compiled = compiler.args(["--edition", "2024", "-o"]).arg(&program).arg(build).status().unwrap();
        assert!(compiled.success());
        Self { program, manifest }
    }

    fn run(&self, variable: Option<&str>) -> Result<Vec<String>, String> {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.manifest).env("CARGO_MANIFEST_DIR", &self.manifest);
        command.env("RUSTC", std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        command.env("TARGET", "a-target").env_remove("OVERSIM_COMMIT");
        variable.map(|text| command.env("OVERSIM_COMMIT", text));
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        if !output.status.success() {
            return Err(text(output.stderr));
        }
        Ok(text(output.stdout).lines().map(str::to_owned).collect())
    }

    fn commit(&self, variable: Option<&str>) -> String {
        let lines = self.run(variable).unwrap();
        let commit = lines.iter().find_map(|line| line.strip_prefix("cargo:rustc-env=OVERSIM_BUILT_FROM="));
        commit.unwrap().to_owned()
    }

    /// The files whose change runs it again.
    fn watched(&self) -> Vec<String> {
        let lines = self.run(None).unwrap().into_iter();
        lines.filter_map(|line| line.strip_prefix("cargo:rerun-if-changed=").map(str::to_owned)).collect()
    }

    fn git(&self, at: &Path, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.current_dir(at).args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
        let output = git.args(args).env("GIT_COMMITTER_DATE", "2026-11-30T12:00:00Z").output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

#[test]
fn a_build_states_its_commit() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::compiled(folder.path());
    let sources = folder.path().join("sources");
    // Neither a variable nor a repository: the folder of temporary files is none.
    assert_eq!((script.commit(None), script.watched()), ("unknown".to_owned(), Vec::new()));
    for (given, wanted) in [
        (COMMIT, SHORT.to_owned()),
        ("0123456", "0123456".to_owned()),
        (&*format!("{COMMIT}+ 2026-11-30"), format!("{SHORT}+ 2026-11-30")),
    ] {
        assert_eq!(script.commit(Some(given)), wanted);
    }
    for wrong in ["main", "012345", "0123456 yesterday", "0123456\n"] {
        let why = script.run(Some(wrong)).unwrap_err();
        assert!(why.contains("OVERSIM_COMMIT is `") && why.contains("hexadecimal digits"), "{why}");
    }
    if Command::new("git").arg("--version").output().is_err() {
        return;
    }
    // A repository around the sources is that of somebody else.
    script.git(folder.path(), &["init", "-q"]);
    script.git(folder.path(), &["add", "sources"]);
    script.git(folder.path(), &["commit", "-q", "-m", "a"]);
    assert_eq!(script.commit(None), "unknown");
    // Their own one counts, and only changed files that it knows.
    script.git(&sources, &["init", "-q"]);
    script.git(&sources, &["add", "."]);
    script.git(&sources, &["commit", "-q", "-m", "a"]);
    let head = script.git(&sources, &["rev-parse", "HEAD"]);
    assert_eq!(script.commit(None), format!("{} 2026-11-30", &head[..12]));
    let watched = script.watched();
    assert!(watched.iter().any(|path| path.ends_with("HEAD")), "{watched:?}");
    assert!(watched.iter().any(|path| path.ends_with("cli/src")), "{watched:?}");
    // Of a file that does not exist the script would run in every build.
    assert!(watched.iter().all(|path| script.manifest.join(path).exists()), "{watched:?}");
    fs::write(sources.join("new"), "").unwrap();
    assert!(!script.commit(None).contains('+'));
    fs::write(script.manifest.join("src/lib.rs"), "// changed\n").unwrap();
    assert_eq!(script.commit(None), format!("{}+ 2026-11-30", &head[..12]));
    // A package states where it comes from, also inside of a repository.
    let package = format!("{{\n  \"git\": {{\n    \"sha1\": \"{COMMIT}\",\n    \"dirty\": true\n  }}\n}}");
    fs::write(script.manifest.join(".cargo_vcs_info.json"), package).unwrap();
    assert_eq!(script.commit(None), format!("{SHORT}+"));
    assert_eq!(script.commit(Some("0123456")), "0123456");
}
