//! What tells two runs apart in a window, in words: the state of cpus that takes the most different shares of their time.

use crate::states::{Mix, Owner, State};

/// Differences in the states of all cpus smaller than so many per cent of the time are not worth a word while single
/// applications differ more.
const SMALL: f64 = 5.0;

/// What cpus do, as people say it.
const WORDS: [(&str, &[State]); 5] = [
    ("computing", &[State::Compute]),
    ("stalled on memory", &[State::Stall]),
    ("waiting", &[State::Spin, State::Yield]),
    ("switching and in the kernel", &[State::Switch, State::Migrate, State::Kernel]),
    ("idle", &[State::Idle]),
];

/// The largest difference between two mixes, with the labels of the runs and the names of the applications; none where all
/// shares are equal to the per cent.
#[must_use]
pub fn contrast(one: (&str, &Mix), two: (&str, &Mix), apps: &[String]) -> Option<String> {
    let overall =
        WORDS.iter().map(|(word, states)| Share::of(word, one.1, two.1, |part| states.contains(&part.1)));
    let each = apps.iter().enumerate().flat_map(|(app, name)| {
        let owner = Owner::App(app as u32);
        WORDS[..2].iter().map(move |(word, states)| {
            let word = format!("{name} {word}");
            Share::of(&word, one.1, two.1, |part| part.0 == owner && states.contains(&part.1))
        })
    });
    let widest = |shares: Vec<Share>| shares.into_iter().rev().max_by(|a, b| a.apart().total_cmp(&b.apart()));
    let overall = widest(overall.collect());
    let each = widest(each.collect());
    let share = match (overall, each) {
        (Some(overall), Some(each)) if overall.apart() < SMALL && each.apart() > overall.apart() => each,
        (Some(overall), _) => overall,
        (None, _) => return None,
    };
    let Share { words, one: a, two: b } = &share;
    let (first, second) = (one.0, two.0);
    (share.apart() >= 1.0)
        .then(|| format!("{words} {a} % of the cpu time under {first}, {b} % under {second}"))
}

/// Something's share of the time of two runs, in whole per cent.
struct Share {
    words: String,
    one: f64,
    two: f64,
}

impl Share {
    fn of(words: &str, one: &Mix, two: &Mix, what: impl Fn(&(Owner, State, u64)) -> bool) -> Self {
        let percent = |mix: &Mix| {
            let part: u64 = mix.parts().filter(&what).map(|part| part.2).sum();
            (part as f64 * 100.0 / mix.total().max(1) as f64).round()
        };
        Self { words: words.to_owned(), one: percent(one), two: percent(two) }
    }

    fn apart(&self) -> f64 {
        (self.one - self.two).abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(parts: &[(Owner, State, u64)]) -> Mix {
        let mut mix = Mix::default();
        for (owner, state, ns) in parts {
            mix.add(*owner, *state, *ns);
        }
        mix
    }

    #[test]
    fn states_come_first_and_applications_where_these_agree() {
        let (cg, ft, nobody) = (Owner::App(0), Owner::App(1), Owner::Nobody);
        let one = mix(&[(cg, State::Compute, 30), (ft, State::Yield, 40), (nobody, State::Idle, 30)]);
        let two = mix(&[(cg, State::Compute, 50), (ft, State::Yield, 10), (nobody, State::Idle, 40)]);
        let swapped = mix(&[(ft, State::Compute, 30), (ft, State::Spin, 40), (nobody, State::Idle, 30)]);
        let apps = ["cg".to_owned(), "ft".to_owned()];
        let said = |other| contrast(("LOAD", &one), ("PIN", other), &apps);
        assert_eq!(said(&two).unwrap(), "waiting 40 % of the cpu time under LOAD, 10 % under PIN");
        assert_eq!(said(&swapped).unwrap(), "cg computing 30 % of the cpu time under LOAD, 0 % under PIN");
        assert_eq!(said(&one), None);
    }
}
