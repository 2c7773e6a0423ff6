//! How many threads a claim speaks of: per core, per job, in all, in proportion to those of another program.

use super::text::{numbers, numbers_before, numbers_behind};

/// Numbers written as words.
const WORDS: [(&str, u32); 4] = [("two", 2), ("three", 3), ("four", 4), ("eight", 8)];

/// Numbers of threads or tasks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Threads {
    /// All numbers as they stand.
    pub counts: Vec<u32>,
    /// The first one counts the tasks on each core.
    pub per_core: bool,
    /// Tasks in all, as in `16 threads on 1..16 cores`; 16 where nothing is said.
    pub tasks: u32,
    /// Numbers of cores that these run on, one after the other; 1 to 16 where nothing is said.
    pub cores: Vec<u32>,
    /// Tasks per core of the measured program and of the other one.
    pub ratios: Vec<(u32, u32)>,
    /// Threads of each job.
    pub per_job: Vec<u32>,
    /// Which thread of a job, from 1.
    pub thread: Option<u32>,
    /// That thread is counted with the sequential jobs.
    pub pooled: bool,
}

impl Threads {
    pub(super) fn read(text: &str) -> Self {
        let (before, after) = text.split_once(" on ").unwrap_or((text, ""));
        let named: Vec<u32> = numbers(after).into_iter().filter(|m| (1..=16).contains(m)).collect();
        let cores = match named[..] {
            [low, high] if after.contains("..") || after.contains(" to ") => (low..=high).collect(),
            [] => (1..=16).collect(),
            _ => named,
        };
        Self {
            counts: numbers(text),
            per_core: text.contains("per core"),
            tasks: numbers(before).first().copied().unwrap_or(16).clamp(1, 1024),
            cores,
            ratios: ratios(&text.to_lowercase()),
            per_job: numbers_before(text, "per job"),
            thread: numbers_behind(text, "thread ").first().copied(),
            pooled: text.contains("pooled"),
        }
    }

    /// The numbers of tasks per core, ascending and each once, as in `2,4,8 per core` or `1 per core each`;
    /// these where none is named.
    #[must_use]
    pub fn degrees(&self, usual: &[u32]) -> Vec<u32> {
        let mut degrees = self.counts.clone();
        degrees.retain(|k| (1..=64).contains(k));
        degrees.sort_unstable();
        degrees.dedup();
        if degrees.is_empty() { usual.to_vec() } else { degrees }
    }
}

/// As in `2:1, 4:2`, or `two threads` (against half as many).
fn ratios(text: &str) -> Vec<(u32, u32)> {
    let ratio = |word: &str| {
        let (one, other) = word.split_once([':', '/'])?;
        Some((one.parse().ok()?, other.parse().ok()?))
    };
    let mut found: Vec<(u32, u32)> = text.split([' ', ',', '(', ')', ';']).filter_map(ratio).collect();
    if found.is_empty() {
        let in_words = WORDS.iter().filter(|(word, _)| text.contains(word)).map(|(_, n)| *n);
        let counts = in_words.chain(numbers(text)).filter(|n| (2..=16).contains(n));
        found.extend(counts.map(|n| (n, (n / 2).max(1))));
    }
    found.retain(|(one, other)| *one > 0 && *other > 0 && one.max(other) <= &16);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_on_cores() {
        let of = |text: &str| (Threads::read(text).tasks, Threads::read(text).cores);
        assert_eq!(of("16 threads on 1..16 cores"), (16, (1..=16).collect()));
        assert_eq!(of("16 threads on 5, 7 and 11 cores"), (16, vec![5, 7, 11]));
        assert_eq!(of("12 threads on 4 to 6 cores"), (12, vec![4, 5, 6]));
        assert_eq!(of("not stated"), (16, (1..=16).collect()));
    }

    #[test]
    fn ratios_in_figures_and_words() {
        let of = |text: &str| Threads::read(text).ratios;
        assert_eq!(of("share 33% (1:2)"), [(1, 2)]);
        assert_eq!(of("2:1, 4:2"), [(2, 1), (4, 2)]);
        assert_eq!(of("Two threads"), [(2, 1)]);
        assert_eq!(of("1 per core each"), []);
    }
}
