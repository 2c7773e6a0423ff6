//! What a command does when nothing disturbs it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use crate::cases::{Case, Compared, scenarios, words};
use crate::child::{self, Ended};
use crate::fault::{CALLS, Call};
use crate::tree::{Tree, copy};

/// How much is known of an undisturbed command.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Depth {
    /// What it does.
    Once,
    /// Also that it does so again, and what a rival does.
    Twice,
    /// Also its system calls.
    Calls,
}

/// An undisturbed command.
pub(crate) struct Prepared {
    pub(crate) case: &'static Case,
    /// The directory as the command finds it; it is copied for each point.
    pub(crate) place: PathBuf,
    pub(crate) before: Tree,
    /// After the command, and after a rival with other arguments.
    pub(crate) after: Vec<Tree>,
    /// After the commands that follow.
    pub(crate) last: Tree,
    pub(crate) ended: Ended,
    pub(crate) takes: Duration,
    /// The last call of each name in the thread that has most of them.
    pub(crate) calls: Vec<Call>,
    /// The first call of each name that the program makes, not its loader.
    first: BTreeMap<String, u32>,
    /// Bytes of the largest file that it writes, and of all of them.
    pub(crate) largest: u64,
    pub(crate) written: u64,
}

impl Prepared {
    /// Runs a command undisturbed.
    pub(crate) fn new(case: &'static Case, root: &Path, depth: Depth) -> Self {
        let place = root.join("before");
        fs::create_dir_all(&place).unwrap();
        scenarios(&place);
        (case.prepare)(&place);
        let before = Tree::of(&place);
        let run = |name: &str, args: &[String]| {
            let directory = root.join(name);
            copy(&place, &directory);
            let began = Instant::now();
            let ended = child::plain(&directory, args);
            (ended, began.elapsed(), directory)
        };
        let (ended, takes, directory) = run("first", &case.words());
        assert!(ended.code.is_some_and(|code| code < 2), "{:?}: {}", case.args, ended.err);
        let mut after = vec![Tree::of(&directory)];
        for args in case.finish {
            let finished = child::plain(&directory, &words(args));
            assert_eq!(finished.code, Some(0), "{args:?}: {}", finished.err);
        }
        let last = Tree::of(&directory);
        if case.compared == Compared::Bytes && depth > Depth::Once {
            let (again, _, second) = run("second", &case.words());
            let tree = Tree::of(&second).keeping(|name| !case.is_loose(name));
            let differs = after[0].keeping(|name| !case.is_loose(name)).difference(&tree);
            assert!(differs.is_none(), "{:?} does not repeat: {differs:?}", case.args);
            assert_eq!(ended.out, again.out, "{:?} does not repeat", case.args);
        }
        if let Some(args) = case.rival.filter(|_| depth > Depth::Once) {
            let (rival, _, directory) = run("rival", &words(args));
            assert_eq!(rival.code, Some(0), "{args:?}: {}", rival.err);
            after.push(Tree::of(&directory));
        }
        let new = |name: &&str| after[0].0.get(*name) != before.0.get(*name);
        let sizes: Vec<u64> =
            after[0].files().filter(new).map(|name| after[0].file(name).unwrap().len() as u64).collect();
        let (largest, written) = (sizes.iter().copied().max().unwrap_or(0), sizes.iter().sum());
        let (calls, first) = match depth {
            Depth::Calls => calls(&place, &root.join("counted"), &case.words()),
            _ => Default::default(),
        };
        Self { case, place, before, after, last, ended, takes, calls, first, largest, written }
    }

    /// The number of a call of this name.
    pub(crate) fn number(&self, rng: &mut ChaCha8Rng, last: &Call) -> u32 {
        rng.random_range(self.first.get(&last.name).map_or(1, |first| first + 1)..=last.number)
    }

    /// Whether the command names no output file that could be there before it.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &str> {
        let new = |name: &&str| !self.before.0.contains_key(*name) && !self.case.is_loose(name);
        self.after[0].files().filter(new)
    }

    /// The directories that it makes, or all.
    pub(crate) fn directories(&self) -> Vec<&str> {
        let made = |name: &&str| !self.before.0.contains_key(*name) && self.after[0].0[*name].is_none();
        let mut names: Vec<&str> = self.after[0]
            .0
            .keys()
            .map(String::as_str)
            .filter(made)
            .filter(|name| !name.contains('/'))
            .collect();
        if names.is_empty() {
            names.push("");
        }
        names
    }
}

/// Counts the calls of each name: the last ones of the program, and those of its loader.
fn calls(place: &Path, directory: &Path, words: &[String]) -> (Vec<Call>, BTreeMap<String, u32>) {
    copy(place, directory);
    let log = directory.with_extension("log");
    let trace = format!("trace={}", CALLS.join(","));
    let before: Vec<String> = ["strace", "-f", "-qq", "-o", log.to_str().unwrap(), "-e", &trace]
        .iter()
        .map(|word| (*word).to_owned())
        .collect();
    child::Running::start(directory, &before, words, std::process::Stdio::piped()).end();
    let text = fs::read_to_string(&log).unwrap();
    let (mut counts, mut first) = (BTreeMap::<(&str, &str), u32>::new(), BTreeMap::new());
    let (mut loads, mut main) = (false, None);
    for line in text.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let Some((name, args)) = rest.trim().split_once('(') else { continue };
        if !CALLS.contains(&name) {
            continue;
        }
        let main = *main.get_or_insert(thread);
        *counts.entry((thread, name)).or_default() += 1;
        loads |= name == "openat" && args.contains(".so");
        if loads && name == "close" && thread == main {
            // The last library is mapped.
            first = counts.iter().map(|((_, name), count)| ((*name).to_owned(), *count)).collect();
            loads = false;
        }
    }
    let mut most = BTreeMap::<&str, u32>::new();
    for ((_, name), count) in counts {
        let known = most.entry(name).or_default();
        *known = count.max(*known);
    }
    let own = |(name, number): (&str, u32)| Call { name: name.to_owned(), number };
    let calls =
        most.into_iter().map(own).filter(|call| first.get(&call.name).is_none_or(|f| *f < call.number));
    let calls: Vec<Call> = calls.collect();
    assert!(!calls.is_empty(), "{text}");
    (calls, first)
}
