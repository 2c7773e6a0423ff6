//! The programs, pairs, jobs and sets of them that a claim is about.

use notation::choices;
use notation::declare::Choice;

use super::spec_omp::{self, Program};
use super::text::{chosen, named, numbers, numbers_before, numbers_behind};

choices! {
    /// A code of the NAS Parallel Benchmarks.
    pub enum Code {
        Ep = "ep",
        Ft = "ft",
        Is = "is",
        Sp = "sp",
        Mg = "mg",
        Cg = "cg",
        Bt = "bt",
        Lu = "lu",
    }
}

choices! {
    /// What a claim states about the programs as a set, by a part of a word.
    pub enum Feature {
        All = "all",
        /// The eleven programs of SPEC OMP.
        Eleven = "11",
        Pairs = "pair",
        /// Any combination of programming models.
        Combinations = "combination",
        /// Sets of three.
        Three = "three",
        /// All but the programs named.
        Without = "without",
        /// The measured program has the fewer threads.
        Fewer = "fewer",
        /// Tasks with unequal amounts of work.
        Imbalanced = "imbalanced",
        Different = "different",
        /// Several versions of a kernel.
        Versions = "versions",
        /// One kind of jobs against another.
        Versus = " vs ",
    }
}

/// Programs and jobs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Workload {
    /// NAS codes in the order written, each with the class that stands beside it.
    pub codes: Vec<(Code, Option<char>)>,
    /// SPEC OMP programs in the order written.
    pub programs: Vec<Program>,
    /// Jobs as in `67x1 + 9x8`: how many of so many threads.
    pub jobs: Vec<(u32, u32)>,
    /// Threads of each job as in `jobs of 8 threads`.
    pub widths: Vec<u32>,
    /// Number of a kernel version.
    pub kernel: Option<u32>,
    /// The first number, as in `140 sequential jobs`.
    pub count: Option<u32>,
    features: Vec<Feature>,
}

impl Workload {
    pub(super) fn read(text: &str) -> Self {
        Self {
            codes: codes(text),
            programs: spec_omp::read(text),
            jobs: jobs(text),
            widths: numbers_before(text, "threads"),
            kernel: numbers_behind(text, "kernel ").first().copied(),
            count: numbers(text).first().copied(),
            features: chosen(text),
        }
    }

    /// Whether a claim states anything about the programs as a set.
    #[must_use]
    pub fn is_described(&self) -> bool {
        !self.features.is_empty()
    }

    /// Whether a claim states this about the programs.
    #[must_use]
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }
}

/// NAS codes, with their class if it is written as `cg-B` or `bt.A`; each once, in the order written.
fn codes(text: &str) -> Vec<(Code, Option<char>)> {
    let mut found = Vec::new();
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '.')) {
        let (name, class) = match word.split_once(['-', '.']) {
            Some((name, class)) => (name, class.chars().next().filter(|_| class.len() == 1)),
            None => (word, None),
        };
        let class = class.map(|c| c.to_ascii_uppercase());
        if let Some(code) = named(&name.to_lowercase()).map(|code| (code, class))
            && !found.contains(&code)
        {
            found.push(code);
        }
    }
    found
}

/// Jobs written as `67x1`, `9x8`.
fn jobs(text: &str) -> Vec<(u32, u32)> {
    let pair = |word: &str| {
        let (count, threads) = word.split_once('x')?;
        Some((count.parse().ok()?, threads.parse().ok()?))
    };
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter_map(pair).collect()
}

/// Name of a program in a class, as in `cg.B`.
#[must_use]
pub fn label(code: Code, class: char) -> String {
    format!("{}.{class}", code.word())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_with_and_without_class() {
        let named = |text| codes(text).into_iter().map(|(code, class)| label(code, class.unwrap_or('?')));
        assert_eq!(named("EP, FT, IS").collect::<Vec<_>>(), ["ep.?", "ft.?", "is.?"]);
        assert_eq!(named("NPB (bt.A cg.B ep.C)").collect::<Vec<_>>(), ["bt.A", "cg.B", "ep.C"]);
        assert_eq!(named("mg-C (with cg-B)").collect::<Vec<_>>(), ["mg.C", "cg.B"]);
        assert!(codes("pairs").is_empty());
    }

    #[test]
    fn jobs_as_written() {
        assert_eq!(jobs("67x1 + 9x8 + prstat"), [(67, 1), (9, 8)]);
        assert_eq!(jobs("jobs of 8 threads + sequential fill"), []);
    }
}
