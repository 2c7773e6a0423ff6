//! What a statement in words says: which of two has more, whether something rises or falls, or stays.

use super::text::words;

/// Beginnings of words that say more of a quantity.
const MORE: [&str; 9] = ["more", "larg", "high", "great", "bigg", "increas", "rise", "grow", "exceed"];
/// Less of it.
const LESS: [&str; 10] =
    ["less", "low", "small", "few", "decreas", "drop", "fall", "reduc", "shrink", "declin"];
/// Better.
const BETTER: [&str; 10] =
    ["bett", "best", "fast", "outperform", "improv", "gain", "help", "benefit", "profit", "win"];
/// Worse.
const WORSE: [&str; 10] =
    ["worse", "worst", "slow", "long", "los", "suffer", "behind", "hurt", "degrad", "penal"];
/// Nothing changes.
const SAME: [&str; 9] = [
    "unchanged",
    "oblivious",
    "same",
    "similar",
    "equal",
    "independent",
    "insensitive",
    "flat",
    "negligible",
];
/// Words that deny what follows.
const DENIALS: [&str; 3] = ["no", "not", "nothing"];

/// What a claim states about a quantity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Says {
    /// There is more of it.
    More,
    /// There is less of it.
    Less,
    /// It is the same.
    Same,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    text: String,
}

impl Statement {
    pub(super) fn read(text: &str) -> Self {
        Self { text: text.to_lowercase() }
    }

    /// Whether it has a word with one of these beginnings.
    #[must_use]
    pub fn speaks_of(&self, beginnings: &[&str]) -> bool {
        has(&self.text, beginnings)
    }

    /// What it says of a quantity that is better when it is high, or of one that is better when it is low;
    /// `None` without a word that says it.
    #[must_use]
    pub fn says(&self, low_is_better: bool) -> Option<Says> {
        if has(&self.text, &SAME) || words(&self.text).any(|word| DENIALS.contains(&word.as_str())) {
            return Some(Says::Same);
        }
        let sign = |plus: &[&str], minus: &[&str]| match (has(&self.text, plus), has(&self.text, minus)) {
            (true, false) => Some(1),
            (false, true) => Some(-1),
            _ => None,
        };
        let (amount, worth) = (sign(&MORE, &LESS), sign(&BETTER, &WORSE));
        let sign = match (amount, worth) {
            // As in `loses less`, `suffers more`.
            (Some(amount), Some(worth)) if !low_is_better => amount * worth,
            (Some(amount), _) => amount,
            (None, Some(worth)) if low_is_better => -worth,
            (None, Some(worth)) => worth,
            (None, None) => return None,
        };
        Some(if sign > 0 { Says::More } else { Says::Less })
    }

    /// Where it has a sign such as `<`, and whether that says that what is before it is more.
    fn sign(&self) -> Option<(usize, bool)> {
        let signs = [("<", false), ("\u{2264}", false), (">", true), ("\u{2265}", true)];
        signs.iter().filter_map(|(sign, more)| Some((self.text.find(sign)?, *more))).min()
    }

    /// Whether it compares run times by a sign, as in `run time under PIN < under LOAD`.
    #[must_use]
    pub fn is_of_times(&self) -> bool {
        self.sign().is_some() && has(&self.text, &["time"])
    }

    /// Whether the first of two has more of a quantity; both have names. It does where nothing is stated.
    #[must_use]
    pub fn first_has_more(&self, first: &str, second: &str, low_is_better: bool) -> bool {
        let (mine, theirs) = apart(first, second);
        let place = |text: &str, names: &[String]| {
            words(text).position(|word| names.iter().any(|name| alike(&word, name)))
        };
        if let Some((at, more)) = self.sign() {
            let left = &self.text[..at];
            let turned = place(left, &mine).is_none() && place(left, &theirs).is_some();
            return more != turned;
        }
        let turned = match (place(&self.text, &mine), place(&self.text, &theirs)) {
            (Some(one), Some(other)) => other < one,
            _ => false,
        };
        (self.says(low_is_better) != Some(Says::Less)) != turned
    }
}

fn has(text: &str, beginnings: &[&str]) -> bool {
    words(text).any(|word| beginnings.iter().any(|start| word.starts_with(start)))
}

/// Whether a word of a statement is a name: `pinned` is `PIN`.
fn alike(word: &str, name: &str) -> bool {
    word == name || (word.len().min(name.len()) >= 3 && (word.starts_with(name) || name.starts_with(word)))
}

/// The words that only one of two names has.
fn apart(first: &str, second: &str) -> (Vec<String>, Vec<String>) {
    let of = |text: &str| words(&text.to_lowercase()).collect::<Vec<String>>();
    let (one, other) = (of(first), of(second));
    let only = |these: &[String], those: &[String]| {
        these.iter().filter(|word| !those.contains(word)).cloned().collect::<Vec<String>>()
    };
    (only(&one, &other), only(&other, &one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_less_and_the_same() {
        let of = |text: &str, low| Statement::read(text).says(low);
        assert_eq!(of("performance decreases with the degree", false), Some(Says::Less));
        assert_eq!(of("UPC loses less than MPI", false), Some(Says::More));
        assert_eq!(of("OpenMP jobs suffer far more than sequential jobs", false), Some(Says::Less));
        assert_eq!(of("run times vary less", true), Some(Says::Less));
        assert_eq!(of("pinning is better", true), Some(Says::Less));
        assert_eq!(of("oblivious to oversubscription", false), Some(Says::Same));
        assert_eq!(of("it runs", false), None);
    }

    #[test]
    fn the_first_of_two() {
        let of = |text: &str, one: &str, two: &str| Statement::read(text).first_has_more(one, two, false);
        assert!(of("UPC loses less than MPI", "upc", "mpi"));
        assert!(!of("UPC gain < OpenMP gain", "upc", "openmp"));
        assert!(
            of("OpenMP gain > UPC gain", "openmp", "upc") && !of("OpenMP gain > UPC gain", "upc", "openmp")
        );
        assert!(!of("gain under PIN < gain under LOAD", "PIN", "LOAD"));
        assert!(of("SWOMPS >= Non SysWide (average)", "SWOMPS", "Non SysWide"));
        assert!(!of("LOAD is slower than pinned", "LOAD", "PIN"));
        assert!(of("pinned sharing outperforms sharing under LOAD", "PIN", "LOAD"));
    }
}
