//! The law of contention, solved for the values that give measured rates back.
//!
//! Cores that ask for a rate `a` of a memory that has `b` read at `a / (1 + (a / b)^p)^(1 / p)`
//! (`docs/model/memory.md`, Bandwidth). With m = rate^-p this is a sum: m(read) = m(asked) + m(limit).

/// A limit beyond so many times the rate that is read does not show: the rate is 1 % less than asked at most
/// (p = 4).
pub(crate) const OPEN: f64 = 2.5;
/// One core asks for at most so many times what it reads alone. Beyond, the two rates say too little: one
/// core reads as much as all.
const LARGEST: f64 = 2.0;

/// What the rates of one core and of all say.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Solved {
    /// What a core asks for, and the bandwidth.
    Both(f64, f64),
    /// Cores read together what they read alone: the limit is beyond this.
    Open(f64),
    /// There are no such values.
    None,
}

/// Solves for the rate that `one` core reads alone, and that `all` of `cores` read together.
pub(crate) fn both(one: f64, all: f64, cores: f64, exponent: f64) -> Solved {
    // Relative to `one`, so that no power overflows.
    let ratio = all / one;
    if cores < 2.0 || ratio <= 1.0 {
        return Solved::None;
    }
    if ratio >= cores {
        return Solved::Open(OPEN * all);
    }
    let m = |rate: f64| rate.powf(-exponent);
    let asked = ((1.0 - m(cores)) / (1.0 - m(ratio))).powf(1.0 / exponent);
    if !asked.is_finite() || asked > LARGEST {
        return Solved::None;
    }
    match limit(asked * cores * one, all, exponent) {
        Some(limit) => Solved::Both(asked * one, limit),
        None => Solved::Open(OPEN * all),
    }
}

/// The bandwidth at which cores that ask for a rate together read at another one; none if it does not show.
pub(crate) fn limit(asked: f64, read: f64, exponent: f64) -> Option<f64> {
    let ratio = read / asked;
    let rest = 1.0 - ratio.powf(exponent);
    let limit = read / rest.powf(1.0 / exponent);
    (ratio < 1.0 && limit.is_finite() && limit <= OPEN * read).then_some(limit)
}

/// The load of a controller while one core reads: its rate as the core asks for it, over the bandwidth. `one`
/// is the rate of one core alone, `all` that of all `cores` of the controller together, in one unit. Where
/// the rates show no limit, it is that of a limit beyond what shows; where one core reads nearly as much as
/// all, that of a core that asks for twice what it reads.
#[must_use]
pub fn load(one: f64, all: f64, cores: f64, exponent: f64) -> f64 {
    match both(one, all, cores, exponent) {
        Solved::Both(asked, limit) => asked / limit,
        Solved::Open(limit) => one / limit,
        Solved::None if cores < 2.0 => 1.0 / OPEN,
        Solved::None => (LARGEST.powf(exponent) - 1.0).powf(1.0 / exponent),
    }
}

/// By how much the accesses to a controller of this load are slower.
#[must_use]
pub fn slowdown(load: f64, exponent: f64) -> f64 {
    (1.0 + load.powf(exponent)).powf(1.0 / exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(asked: f64, limit: f64, exponent: f64) -> f64 {
        asked / (1.0 + (asked / limit).powf(exponent)).powf(1.0 / exponent)
    }

    #[test]
    fn solved_values_give_the_rates_back() {
        for (one, all, cores) in
            [(14.5e9, 98.8e9, 16.0), (12e9, 21e9, 2.0), (10e9, 11e9, 64.0), (5e9, 19.8e9, 4.0)]
        {
            for exponent in [1.0, 4.0, 16.0] {
                let Solved::Both(core, node) = both(one, all, cores, exponent) else { continue };
                let (alone, together) = (read(core, node, exponent), read(core * cores, node, exponent));
                assert!((alone / one - 1.0).abs() < 0.001, "{one} {all} {cores} {exponent}: {alone}");
                assert!((together / all - 1.0).abs() < 0.001, "{one} {all} {cores} {exponent}: {together}");
            }
        }
        assert!(matches!(both(14.5e9, 98.8e9, 16.0, 4.0), Solved::Both(..)));
        assert!(matches!(both(12e9, 21e9, 2.0, 4.0), Solved::Both(..)));
    }

    #[test]
    fn rates_that_no_limit_explains_have_no_solution() {
        assert_eq!(both(10e9, 9e9, 4.0, 4.0), Solved::None);
        assert_eq!(
            both(10e9, 10.01e9, 4.0, 4.0),
            Solved::None,
            "a core would ask for four times what it reads"
        );
        assert_eq!(both(10e9, 10e9, 1.0, 4.0), Solved::None);
        assert_eq!(both(10e9, 41e9, 4.0, 4.0), Solved::Open(OPEN * 41e9));
        let open = read(40e9, OPEN * 39.8e9, 4.0);
        assert!((open / 39.8e9 - 1.0).abs() < 0.01, "{open}");
        assert_eq!(limit(f64::INFINITY, 1.0, 4.0), Some(1.0));
    }
}
