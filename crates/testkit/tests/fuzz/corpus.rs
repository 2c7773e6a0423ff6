//! The inputs of a target: files of its corpus, files that the program ships, and mutations of both.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use rand::{SeedableRng, rngs::ChaCha8Rng};
use testkit::house::root;

use crate::mutation::mutated;

/// Where the corpora are, below the root of the repository.
const CORPUS: &str = "crates/testkit/tests/fuzz/corpus";
/// Most bytes of all corpora together.
const MOST_BYTES: u64 = 300_000;
/// The seed of all mutations.
const SEED: u64 = 0x0fe7_51a1;
/// The table of the script: targets with the folders of shipped files that they read.
const SCRIPT: &str = ".ci/fuzz";

/// The folders of shipped files that a target reads besides its corpus, from the script that also hands them
/// to libFuzzer.
fn shipped(target: &str) -> Vec<PathBuf> {
    let script = fs::read_to_string(root().join(SCRIPT)).unwrap();
    let line = script.lines().find_map(|line| line.trim().strip_prefix(&format!("[{target}]=")));
    let folders = line.unwrap_or_else(|| panic!("{SCRIPT} has no target {target}"));
    folders.trim_matches('"').split_whitespace().map(|folder| root().join(folder)).collect()
}

/// The files of a folder in order of name; none if there is no such folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// Hands each file and a number of mutations to a target, or as many as `OVERSIM_MUTATIONS` says. What fails
/// is written to `target/fuzz/failed`.
pub(crate) fn run(name: &str, target: fn(&[u8]), mutations: usize) {
    let mut paths = files(&root().join(CORPUS).join(name));
    paths.extend(shipped(name).iter().flat_map(|folder| files(folder)));
    let inputs: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    assert!(!inputs.is_empty(), "the target {name} has no corpus");
    for (path, input) in paths.iter().zip(&inputs) {
        one(name, target, input, &path.display().to_string());
    }
    let wanted = std::env::var("OVERSIM_MUTATIONS").ok().map(|number| number.parse().unwrap());
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    for number in 0..wanted.unwrap_or(mutations) {
        let input = mutated(&inputs, &mut random);
        one(name, target, &input, &format!("mutation {number}"));
    }
}

/// One case; a failure is kept as a file.
fn one(name: &str, target: fn(&[u8]), input: &[u8], what: &str) {
    if catch_unwind(AssertUnwindSafe(|| target(input))).is_err() {
        let folder = root().join("target/fuzz/failed");
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        fs::write(&path, input).unwrap();
        panic!("the target {name} fails on {what}; the input is in {}", path.display());
    }
}

/// Checks that the script lists these targets, that each folder of a corpus belongs to one, and the size of
/// all corpora.
pub(crate) fn names(targets: &[&str]) {
    let script = fs::read_to_string(root().join(SCRIPT)).unwrap();
    let listed = script.lines().filter_map(|line| line.trim().strip_prefix('[')?.split_once("]="));
    let mut listed: Vec<&str> = listed.map(|(name, _)| name).collect();
    listed.sort_unstable();
    let mut sorted = targets.to_vec();
    sorted.sort_unstable();
    assert_eq!(listed, sorted, "{SCRIPT} has other targets than this program");
    let mut bytes = 0;
    for folder in fs::read_dir(root().join(CORPUS)).unwrap() {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        assert!(targets.contains(&name.as_str()), "the corpus {name} belongs to no target");
        bytes += files(&folder).iter().map(|file| fs::metadata(file).unwrap().len()).sum::<u64>();
    }
    assert!(bytes <= MOST_BYTES, "the corpora have {bytes} bytes; reduce them with `.ci/fuzz --reduce`");
}
