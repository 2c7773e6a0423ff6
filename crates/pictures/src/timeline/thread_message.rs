//! What a timeline of threads shows, in a sentence: which thread waits longest, and for what.

use notation::number::short_seconds;

use crate::timeline::states::State;

/// A way to wait: the states, and the verb of a sentence.
const WAYS: [(&[State], &str); 4] = [
    (&[State::Blocked], "is blocked on a lock for"),
    (&[State::Spin, State::LockWait, State::Yield], "polls for"),
    (&[State::Ready], "waits for a cpu for"),
    (&[State::Meets], "sleeps at a barrier for"),
];

/// Differences below this part of the window are not worth a sentence: a twentieth.
const LEAST: u64 = 20;

/// How long each thread was in each state in a run: nanoseconds by position of the thread.
pub(super) type Times<'a> = &'a dyn Fn(usize, State) -> u64;

/// `web 0 is blocked on a lock for 210 ms under LOAD, 9.00 ms under X.`: the thread and the way to wait that
/// differ most between the runs, or that take longest in a single one; none if that is less than a twentieth
/// of the window. `threads` are names, `runs` have their place in a sentence, and `window` is in nanoseconds.
pub(super) fn message(threads: &[String], runs: &[(&str, Times<'_>)], window: u64) -> Option<String> {
    let spans = |thread: usize, states: &[State]| -> Vec<u64> {
        runs.iter().map(|(_, times)| states.iter().map(|state| times(thread, *state)).sum()).collect()
    };
    let apart = |all: &[u64]| {
        let most = all.iter().max().copied().unwrap_or(0);
        let least = if all.len() < 2 { 0 } else { all.iter().min().copied().unwrap_or(0) };
        most - least
    };
    let all =
        (0..threads.len()).flat_map(|thread| WAYS.iter().map(move |(states, verb)| (thread, states, verb)));
    // Of equal differences the first thread is named, and of its ways to wait the first.
    let (thread, verb, each) = all
        .map(|(thread, states, verb)| (thread, verb, spans(thread, states)))
        .rev()
        .max_by_key(|(.., each)| apart(each))?;
    if apart(&each) < window / LEAST {
        return None;
    }
    let shown = |ns: u64| short_seconds(ns as f64 / 1e9);
    let words: Vec<String> = each
        .iter()
        .zip(runs)
        .map(|(ns, (place, _))| format!("{} {place}", shown(*ns)).trim_end().to_owned())
        .collect();
    Some(format!("{} {verb} {}.", threads[thread], words.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_and_the_way_to_wait_that_differ_most_are_named() {
        let threads = ["bus".to_owned(), "radio".to_owned()];
        let mutex = |thread: usize, state: State| match (thread, state) {
            (0, State::Blocked) => 210_000_000,
            (1, State::Ready) => 40_000_000,
            _ => 0,
        };
        let inherit = |thread: usize, state: State| match (thread, state) {
            (0, State::Blocked) => 10_000_000,
            (1, State::Ready) => 25_000_000,
            _ => 0,
        };
        let said = message(&threads, &[("with mutex", &mutex), ("with inherit", &inherit)], 300_000_000);
        assert_eq!(
            said.as_deref(),
            Some("bus is blocked on a lock for 210 ms with mutex, 10.0 ms with inherit.")
        );
        let said = message(&threads, &[("", &inherit)], 300_000_000);
        assert_eq!(said.as_deref(), Some("radio waits for a cpu for 25.0 ms."));
        assert_eq!(message(&threads, &[("", &inherit)], 3_000_000_000), None);
        assert_eq!(message(&threads, &[("with a", &inherit), ("with b", &inherit)], 300_000_000), None);
    }
}
