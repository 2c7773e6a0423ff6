//! Tables of lengths: written in a program, or log-normal.

use std::sync::OnceLock;

use notation::diagnostics::Place;
use notation::parameter::Kind as Unit;
use notation::suggest::advice;
use sim_core::ids::ProfileId;
use sim_core::program::{Quantiles, Spread};
use sim_core::time::{Span, Work};

use super::compile::Compiler;
use super::draft::of;
use super::tree::{Length, Name, Vary};

/// Parts of a log-normal table.
const PARTS: usize = 1_024;

/// A mean length and how lengths vary about it, from quantiles: equally likely parts between them.
///
/// # Errors
/// A sentence: too few or too many values, descending ones, none above 0.
pub(super) fn table(values: &[Span]) -> Result<(Span, Quantiles), String> {
    if !(2..=Quantiles::MOST).contains(&values.len()) {
        return Err(format!("a table has 2 to {} values", Quantiles::MOST));
    }
    if !values.is_sorted() {
        return Err("the values of a table are in ascending order".into());
    }
    // The mean of each part is its middle.
    let doubled: u128 =
        values.windows(2).map(|pair| u128::from(pair[0].ns()) + u128::from(pair[1].ns())).sum();
    let parts = 2 * (values.len() as u128 - 1);
    let mean = (doubled + parts / 2) / parts;
    if mean == 0 {
        return Err("the mean of a table is at least 1 ns".into());
    }
    let of_mean = |value: &Span| ((u128::from(value.ns()) << 16) + mean / 2) / mean;
    let quantiles = values.iter().map(|value| of_mean(value) as u32).collect();
    Ok((Span::from_ns(mean as u64), Quantiles::new(quantiles)?))
}

/// Log-normal lengths with a standard deviation in hundredths of a per cent of the mean: 1,025 quantiles. The
/// first and the last value are such that these parts have their mean; the tail beyond is cut.
///
/// # Errors
/// As [`Quantiles::new`].
pub(super) fn lognormal(deviation: u64) -> Result<Quantiles, String> {
    let relative = deviation as f64 / 1e4;
    let variance = libm::log(1.0 + relative * relative);
    let sigma = libm::sqrt(variance);
    let quantile = |z: f64| libm::exp(sigma * z - variance / 2.0);
    let inner: Vec<f64> = normal_quantiles().iter().map(|z| quantile(*z)).collect();
    // Mean of the part beyond z: the share of the mean that lies there, over the share of the cases.
    let edge = normal_quantiles().last().copied().unwrap_or_default();
    let parts = PARTS as f64;
    let above = normal(sigma - edge) * parts;
    let below = normal(-edge - sigma) * parts;
    let (least, most) = (inner.first().copied().unwrap_or(1.0), inner.last().copied().unwrap_or(1.0));
    let first = (2.0 * below - least).max(0.0);
    let last = (2.0 * above - most).max(most);
    let all: Vec<f64> = std::iter::once(first.min(least)).chain(inner).chain(std::iter::once(last)).collect();
    // The middles of the inner parts lie a little above their means.
    let mean: f64 = all.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0).sum::<f64>() / parts;
    Quantiles::new(all.iter().map(|value| libm::round(value / mean * 65_536.0) as u32).collect())
}

/// The share of a standard normal variate below z.
fn normal(z: f64) -> f64 {
    libm::erfc(-z / std::f64::consts::SQRT_2) / 2.0
}

/// The quantiles of the standard normal distribution that divide it into equally likely parts.
fn normal_quantiles() -> &'static [f64] {
    static QUANTILES: OnceLock<Vec<f64>> = OnceLock::new();
    QUANTILES.get_or_init(|| {
        let of = |part: usize| {
            let wanted = part as f64 / PARTS as f64;
            // Bisection: the same bits everywhere.
            let (mut low, mut high) = (-8.0, 8.0);
            for _ in 0..60 {
                let middle = (low + high) / 2.0;
                if normal(middle) < wanted { low = middle } else { high = middle }
            }
            (low + high) / 2.0
        };
        (1..PARTS).map(of).collect()
    })
}

impl<C> Compiler<'_, C> {
    pub(super) fn profile(&mut self, name: &Name) -> Option<ProfileId> {
        if let Some(known) = self.named.profiles.get(&name.text) {
            return Some(ProfileId(*known));
        }
        let draft = self.draft();
        let Some(profile) = of(&draft.profiles, &name.text) else {
            let known: Vec<&str> = draft.profiles.iter().map(|(name, _)| name.text.as_str()).collect();
            let hint = advice(&name.text, &known);
            return self.refuse(name.place, format!("unknown profile `{}`", name.text), hint);
        };
        let number = self.code.profiles.len() as u32;
        self.code.profiles.push(*profile);
        self.named.profiles.insert(name.text.clone(), number);
        Some(ProfileId(number))
    }

    /// The mean and the variation of a length.
    pub(super) fn length(&mut self, length: &Length, place: Place) -> Option<(Span, Spread)> {
        match length {
            Length::Mean(span, Vary::Fixed) => Some((*span, Spread::NONE)),
            Length::Mean(span, Vary::Exponential) => Some((*span, Spread::EXPONENTIAL)),
            Length::Mean(span, Vary::Uniform(width)) => {
                Some((*span, Spread((width * u64::from(Spread::MAX) / 10_000) as u32)))
            }
            Length::Mean(span, Vary::Lognormal(deviation)) => {
                let number = match self.named.lognormal.get(deviation) {
                    Some(known) => *known,
                    None => {
                        let table = lognormal(*deviation);
                        let number = self.table(table, place)?;
                        self.named.lognormal.insert(*deviation, number);
                        number
                    }
                };
                Some((*span, Spread::table(number)))
            }
            Length::Table(name) => self.named_table(name),
        }
    }

    fn table(&mut self, table: Result<Quantiles, String>, place: Place) -> Option<u16> {
        match table {
            Ok(table) if self.code.tables.len() < usize::from(u16::MAX) => {
                self.code.tables.push(table);
                Some((self.code.tables.len() - 1) as u16)
            }
            Ok(_) => self.refuse(place, "too many different variations", ""),
            Err(message) => self.refuse(place, message, ""),
        }
    }

    fn named_table(&mut self, name: &Name) -> Option<(Span, Spread)> {
        if let Some((mean, number)) = self.named.tables.get(&name.text) {
            return Some((*mean, Spread::table(*number)));
        }
        let draft = self.draft();
        let Some(values) = of(&draft.tables, &name.text) else {
            let known: Vec<&str> = draft.tables.iter().map(|(name, _)| name.text.as_str()).collect();
            let hint = advice(&name.text, &known);
            return self.refuse(name.place, format!("unknown table `{}`", name.text), hint);
        };
        match table(values) {
            Ok((mean, table)) => {
                let number = self.table(Ok(table), name.place)?;
                self.named.tables.insert(name.text.clone(), (mean, number));
                Some((mean, Spread::table(number)))
            }
            Err(message) => self.refuse(name.place, format!("the table `{}`: {message}", name.text), ""),
        }
    }

    /// Work that is in the range of clocks, however long an execution is.
    pub(super) fn work(&mut self, span: Span, spread: Spread, place: Place) -> Option<Work> {
        let table = spread.table_number().and_then(|at| self.code.tables.get(at));
        let times = match table {
            Some(table) => u64::from(table.greatest() >> 16) + 1,
            None if spread == Spread::EXPONENTIAL => Spread::LONGEST,
            None => 2,
        };
        let most = Work::MAX.raw() / times / Work::from_span(Span::from_ns(1)).raw();
        if span.ns() > most {
            let message = format!("a piece of such work is at most {}", Unit::Duration.show(most));
            return self.refuse(place, message, "divide it: `repeat 10 { run ... }`");
        }
        Some(Work::from_span(span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_tables_keep_their_lengths() {
        let us = |list: &[u64]| list.iter().map(|us| Span::from_us(*us)).collect::<Vec<_>>();
        let (mean, quantiles) = table(&us(&[100, 1_000, 1_000, 20_000])).unwrap();
        assert_eq!(mean, Span::from_us((550 + 1_000 + 10_500) / 3 + 1).saturating_sub(Span::from_ns(333)));
        let at = |share: f64| quantiles.apply(mean.ns(), (share * 4_294_967_296.0) as u32);
        assert!(at(0.0).abs_diff(100_000) < 100, "{}", at(0.0));
        assert!(at(0.5).abs_diff(1_000_000) < 100, "{}", at(0.5));
        assert!(at(5.0 / 6.0).abs_diff(10_500_000) < 200, "{}", at(5.0 / 6.0));
        for wrong in [&[1][..], &[2, 1], &[0, 0]] {
            assert!(table(&us(wrong)).is_err(), "{wrong:?}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "a thousand quantiles by bisection")]
    fn log_normal_lengths_have_their_moments_and_quantiles() {
        for deviation in [1_000, 5_000, 20_000_u64] {
            let table = lognormal(deviation).unwrap();
            let n = 1_u32 << 16;
            let each = (0..n).map(|i| table.apply(1_000_000, (i << 16) + (1 << 15)) as f64 / 1e6);
            let (mut sum, mut squares) = (0.0, 0.0);
            each.for_each(|x| (sum += x, squares += x * x).0);
            let mean = sum / f64::from(n);
            let sd = (squares / f64::from(n) - mean * mean).sqrt();
            assert!((mean - 1.0).abs() < 1e-3, "{deviation}: {mean}");
            // The cut tail takes part of the variance of wide distributions.
            let wanted = deviation as f64 / 1e4;
            assert!((sd / wanted - 1.0).abs() < 0.02 + wanted / 8.0, "{deviation}: {sd}");
            // The median is 1 / sqrt(1 + cv^2).
            let median = table.apply(1_000_000, 1 << 31) as f64 / 1e6;
            assert!((median - 1.0 / (1.0 + wanted * wanted).sqrt()).abs() < 2e-3, "{deviation}: {median}");
        }
    }
}
