//! Reads the texts of a claim's fields: which machines, models, codes, classes and degrees they name.

use crate::claims::Claim;

/// The machines of the literature on which `none` and unnamed machines are understood, by group of claims.
const UNNAMED: [&str; 3] = ["tigerton", "barcelona", "nehalem"];

/// The words between separators, trimmed, without empty ones.
fn words<'a>(text: &'a str, separators: &[char]) -> Vec<&'a str> {
    text.split(separators).map(str::trim).filter(|word| !word.is_empty()).collect()
}

/// The machines named; the three of the oversubscription papers when none is.
#[must_use]
pub fn machines(claim: &Claim) -> Vec<String> {
    let text = claim.machine.replace(" vs ", ",");
    let named: Vec<String> =
        words(&text, &[',', '+']).into_iter().filter(|m| *m != "none").map(str::to_lowercase).collect();
    if named.is_empty() { UNNAMED.iter().map(ToString::to_string).collect() } else { named }
}

/// The programming models named, in the order written; all three for `any`.
#[must_use]
pub fn models(claim: &Claim) -> Vec<String> {
    let text = claim.model.to_lowercase();
    let mut at: Vec<(usize, &str)> =
        ["upc", "mpi", "openmp"].iter().filter_map(|model| Some((text.find(model)?, *model))).collect();
    at.sort_unstable();
    if at.is_empty() {
        at = vec![(0, "upc"), (1, "mpi"), (2, "openmp")];
    }
    at.into_iter().map(|(_, model)| model.to_owned()).collect()
}

/// All numbers in a text, in order; a number inside a word (as in `t4`) is none.
#[must_use]
pub fn numbers(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    let mut in_word = false;
    let mut digits = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_ascii_digit() && !in_word {
            digits.push(c);
            continue;
        }
        if let Ok(number) = digits.parse() {
            found.push(number);
        }
        digits.clear();
        in_word = c.is_alphanumeric() || c == '_';
    }
    found
}

/// The numbers of threads per core, ascending and each once, as in `2,4,8 per core` or `1 per core each`.
#[must_use]
pub fn per_core(claim: &Claim) -> Vec<u32> {
    let mut degrees = numbers(&claim.threads);
    degrees.retain(|k| (1..=64).contains(k));
    degrees.sort_unstable();
    degrees.dedup();
    degrees
}

/// The problem classes named, each once; `A`, `B` and `C` when none is.
#[must_use]
pub fn classes(claim: &Claim) -> Vec<char> {
    let mut named: Vec<char> = Vec::new();
    for word in words(&claim.class, &[',', ' ', '+']) {
        if let [c @ ('S' | 'W' | 'A' | 'B' | 'C')] = word.chars().collect::<Vec<_>>()[..]
            && !named.contains(&c)
        {
            named.push(c);
        }
    }
    if named.is_empty() { vec!['A', 'B', 'C'] } else { named }
}

/// The NPB codes.
pub const NPB: [&str; 8] = ["ep", "ft", "is", "sp", "mg", "cg", "bt", "lu"];

/// NPB codes named in a text, with their class if it is written as `cg-B` or `bt.A`; each once, in the order
/// written.
#[must_use]
pub fn codes(text: &str) -> Vec<(String, Option<char>)> {
    let mut found: Vec<(String, Option<char>)> = Vec::new();
    let separators = |c: char| !(c.is_alphanumeric() || c == '-' || c == '.');
    for word in text.split(separators) {
        let (name, class) = match word.split_once(['-', '.']) {
            Some((name, class)) => (name, class.chars().next().filter(|_| class.len() == 1)),
            None => (word, None),
        };
        let name = name.to_lowercase();
        let item = (name, class.map(|c| c.to_ascii_uppercase()));
        if NPB.contains(&item.0.as_str()) && !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

/// The yield modes of the kernel that a claim names, in our words (`posix`, `default`); `posix` when it says
/// nothing.
#[must_use]
pub fn yields(claim: &Claim) -> Vec<&'static str> {
    let text = claim.yields.to_lowercase();
    let mut modes = Vec::new();
    if text.contains("posix") {
        modes.push("posix");
    }
    if text.contains("cfs") || text.contains("default") {
        modes.push("default");
    }
    if modes.is_empty() {
        modes.push("posix");
    }
    modes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_alone() {
        assert_eq!(numbers("2 > 4 > 8 per core"), [2, 4, 8]);
        assert_eq!(numbers("16 threads on 1..16 cores"), [16, 1, 16]);
        assert_eq!(numbers("t4, 67x1 + 9x8"), [67, 9]);
        assert_eq!(numbers("2:1, 4:2"), [2, 1, 4, 2]);
        assert!(numbers("not stated").is_empty());
    }

    #[test]
    fn codes_with_and_without_class() {
        let named =
            |text| codes(text).into_iter().map(|(name, class)| format!("{name}{}", class.unwrap_or('?')));
        assert_eq!(named("EP, FT, IS").collect::<Vec<_>>(), ["ep?", "ft?", "is?"]);
        assert_eq!(named("NPB (bt.A cg.B ep.C)").collect::<Vec<_>>(), ["btA", "cgB", "epC"]);
        assert_eq!(named("mg-C (with cg-B)").collect::<Vec<_>>(), ["mgC", "cgB"]);
        assert!(codes("pairs").is_empty());
    }
}
