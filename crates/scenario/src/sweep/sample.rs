//! Random combinations of values: each path drawn for itself, or spread evenly over its range (a Latin
//! hypercube: McKay, Beckman, Conover, Technometrics 21(2), 1979).

use std::collections::BTreeSet;

use notation::hash;
use sim_core::rng::{self, Purpose};

use crate::range::{self, Ends};

/// What a path is drawn from.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Source {
    /// One of these texts, all with the same probability.
    Listed(Vec<String>),
    /// A number between two ends, both included; `true`: the logarithm is uniform.
    Between(Ends, bool),
}

/// How combinations are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Method {
    /// Of each path's range, `count` equal parts hold one value each.
    Latin,
    /// All values are independent.
    Random,
}

impl Source {
    /// What a text of one line says: a range with or without steps.
    ///
    /// # Errors
    /// A sentence.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let (ends, rest) = Ends::read(text)?;
        match rest {
            None => Ok(Self::Between(ends, false)),
            Some("log") => range::above_zero(&ends).map(|()| Self::Between(ends, true)),
            Some(_) => range::values(text).map(Self::Listed),
        }
    }

    /// The value at a place between 0 and 1 of the range.
    fn at(&self, place: f64) -> String {
        match self {
            Self::Listed(texts) => {
                texts[((place * texts.len() as f64) as usize).min(texts.len() - 1)].clone()
            }
            Self::Between(ends, logarithmic) => ends.at(place, *logarithmic),
        }
    }
}

/// `count` combinations of one value for each path, without those that repeat an earlier one. The values of a
/// path depend on its name and the seed, and not on the other paths.
pub(super) fn draw(paths: &[(String, Source)], count: u32, seed: u64, method: Method) -> Vec<Vec<String>> {
    let columns: Vec<Vec<f64>> = paths.iter().map(|(path, _)| places(path, count, seed, method)).collect();
    let row = |at: usize| -> Vec<String> {
        paths.iter().zip(&columns).map(|((_, source), places)| source.at(places[at])).collect()
    };
    let mut seen = BTreeSet::new();
    (0..count as usize).map(row).filter(|row| seen.insert(row.clone())).collect()
}

/// A place between 0 and 1 for each combination.
fn places(path: &str, count: u32, seed: u64, method: Method) -> Vec<f64> {
    let key = rng::key(seed, Purpose::Sweep, hash::text(path));
    let uniform = |n: u64| f64::from(rng::draw(key, n)) / 4_294_967_296.0;
    match method {
        Method::Random => (0..u64::from(count)).map(uniform).collect(),
        Method::Latin => {
            let mut order: Vec<u32> = (0..count).collect();
            order.sort_by_key(|at| (rng::draw(key, u64::from(*at)), *at));
            let within = |at: u32| uniform(u64::from(count) + u64::from(at));
            order
                .iter()
                .zip(0..)
                .map(|(part, at)| (f64::from(*part) + within(at)) / f64::from(count))
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> Vec<(String, Source)> {
        [("a", "0ns..1000ns"), ("b", "1us..1s:log"), ("c", "1..4")]
            .map(|(path, text)| (path.to_owned(), Source::read(text).unwrap()))
            .to_vec()
    }

    #[test]
    fn a_latin_hypercube_has_one_value_in_each_part_of_each_range() {
        let rows = draw(&paths(), 10, 1, Method::Latin);
        assert_eq!(rows.len(), 10);
        let ns = |text: &str| notation::units::parse(notation::parameter::Kind::Duration, text).unwrap();
        let mut parts: Vec<u64> = rows.iter().map(|row| ns(&row[0]) / 100).collect();
        assert!(!parts.is_sorted(), "the paths would rise together: {parts:?}");
        parts.sort_unstable();
        assert_eq!(parts, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        // Six decades in ten parts: 0.6 decades each.
        let decade = |row: &Vec<String>| (libm::log10(ns(&row[1]) as f64 / 1e3) / 0.6) as u64;
        let mut parts: Vec<u64> = rows.iter().map(decade).collect();
        parts.sort_unstable();
        assert_eq!(parts, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn values_depend_on_the_seed_and_not_on_other_paths() {
        let all = draw(&paths(), 50, 1, Method::Random);
        assert_eq!(all, draw(&paths(), 50, 1, Method::Random));
        assert_ne!(all, draw(&paths(), 50, 2, Method::Random));
        let alone = draw(&paths()[1..], 50, 1, Method::Random);
        assert!(all.iter().zip(&alone).all(|(all, alone)| all[1..] == alone[..]));
    }

    #[test]
    fn a_combination_that_repeats_another_is_left_out() {
        let paths = [("c".to_owned(), Source::read("1..4").unwrap())];
        let mut rows = draw(&paths, 100, 1, Method::Random);
        rows.sort();
        assert_eq!(rows, [["1"], ["2"], ["3"], ["4"]]);
    }
}
