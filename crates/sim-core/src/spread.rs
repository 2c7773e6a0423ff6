//! How lengths vary: not at all, uniformly about their mean, or exponentially, in integers only.

/// Variation of a length: none, uniform with this relative half-width in units of 1/65,536 (6,554 = +-10 %;
/// at most 65,536), exponential, or by a table of the program ([`Quantiles`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spread(pub u32);

impl Spread {
    /// No variation.
    pub const NONE: Self = Self(0);
    /// The largest half-width: from nothing to twice the mean.
    pub const MAX: u32 = 1 << 16;
    /// Exponential with the given mean: the variation of service and think times in queueing models. Lengths
    /// beyond [`Spread::LONGEST`] means (one in nine million) count as that long.
    pub const EXPONENTIAL: Self = Self(u32::MAX);
    /// The longest exponential length, in means.
    pub const LONGEST: u64 = 16;

    /// By the table of this number of the program.
    #[must_use]
    pub const fn table(number: u16) -> Self {
        Self(Self::TABLES | number as u32)
    }

    const TABLES: u32 = 1 << 31;

    /// The number of its table, if it has one.
    #[must_use]
    pub const fn table_number(self) -> Option<usize> {
        let number = self.0 ^ Self::TABLES;
        if number <= u16::MAX as u32 { Some(number as usize) } else { None }
    }

    /// True for a half-width in its range, for [`Spread::EXPONENTIAL`], and for one of so many tables.
    #[must_use]
    pub const fn is_legal(self, tables: usize) -> bool {
        match self.table_number() {
            Some(number) => number < tables,
            None => self.0 <= Self::MAX || self.0 == Self::EXPONENTIAL.0,
        }
    }

    /// `mean` varied by a uniform 32-bit draw: moved within the half-width, or times -ln of the draw as a
    /// fraction. Not by a table, which its program has ([`crate::program::Program::vary`]).
    #[must_use]
    pub const fn apply(self, mean: u64, draw: u32) -> u64 {
        if self.0 == 0 {
            return mean;
        }
        if self.0 == Self::EXPONENTIAL.0 {
            let varied = (mean as u128 * minus_ln(draw) as u128) >> LN_BITS;
            return if varied > u64::MAX as u128 { u64::MAX } else { varied as u64 };
        }
        let width = (mean as u128 * self.0 as u128) >> 16;
        let offset = (2 * width * draw as u128) >> 32;
        (mean as u128 - width + offset) as u64
    }
}

/// Lengths by their quantiles: values for equally likely parts of all cases, in ascending order and in
/// 1/65,536 of the mean that an operation states. Between two values lengths are spread evenly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quantiles(std::sync::Arc<[u32]>);

impl Quantiles {
    /// The most values of a table.
    pub const MOST: usize = 4_097;

    /// A table of these values: the least length, the quantiles, the greatest length.
    ///
    /// # Errors
    /// A sentence: less than two values or more than [`Quantiles::MOST`], in descending order, or above
    /// 16,384 means.
    pub fn new(values: Vec<u32>) -> Result<Self, String> {
        if !(2..=Self::MOST).contains(&values.len()) {
            return Err(format!("a table of quantiles has 2 to {} values", Self::MOST));
        }
        if !values.is_sorted() || values.last().is_some_and(|last| *last > 1 << 30) {
            return Err("quantiles are in ascending order, and none is above 16384 means".into());
        }
        Ok(Self(values.into()))
    }

    /// The greatest length, in 1/65,536 of the mean.
    #[must_use]
    pub fn greatest(&self) -> u32 {
        self.0[self.0.len() - 1]
    }

    /// The mean of the lengths, where an operation states `mean`.
    pub(crate) fn mean(&self, mean: u64) -> u64 {
        // The middle of each part, twice.
        let sum: u128 = self.0.windows(2).map(|part| u128::from(part[0]) + u128::from(part[1])).sum();
        let varied = (u128::from(mean) * sum / (self.0.len() as u128 - 1)) >> 17;
        u64::try_from(varied).unwrap_or(u64::MAX)
    }

    /// `mean` varied by a uniform 32-bit draw.
    #[must_use]
    pub fn apply(&self, mean: u64, draw: u32) -> u64 {
        let parts = (self.0.len() - 1) as u64;
        let (at, within) = ((u64::from(draw) * parts) >> 32, (u64::from(draw) * parts) & u64::from(u32::MAX));
        let (low, high) = (u64::from(self.0[at as usize]), u64::from(self.0[at as usize + 1]));
        let factor = (u128::from(low) << 32) + u128::from(high - low) * u128::from(within);
        // 32 bits of the share, 16 of the values.
        let varied = (u128::from(mean) * (factor >> 16)) >> 32;
        u64::try_from(varied).unwrap_or(u64::MAX)
    }
}

/// Fraction bits of [`minus_ln`].
const LN_BITS: u32 = 24;
/// ln 2 with 32 fraction bits.
const LN_2: u64 = 2_977_044_472;

/// -ln u of the uniform variate u = (draw + 1/2) / 2^32 with [`LN_BITS`] fraction bits, at most
/// [`Spread::LONGEST`]. The binary logarithm comes bit by bit from repeated squaring (Knuth, TAOCP 1, 1.2.2,
/// exercise 25), in integers only, so that it is the same everywhere.
const fn minus_ln(draw: u32) -> u64 {
    // u = x / 2^33; log2 x = whole + fraction.
    let x = 2 * draw as u64 + 1;
    let whole = x.ilog2();
    // x / 2^whole in [1, 2) with 31 fraction bits.
    let mut square = if whole > 31 { x >> (whole - 31) } else { x << (31 - whole) };
    let mut log = whole as u64;
    let mut bit = 0;
    while bit < LN_BITS {
        square = (square * square) >> 31;
        log <<= 1;
        if square >= 1 << 32 {
            square >>= 1;
            log |= 1;
        }
        bit += 1;
    }
    let value = (((33 << LN_BITS) - log) as u128 * LN_2 as u128) >> 32;
    let longest = Spread::LONGEST << LN_BITS;
    if value > longest as u128 { longest } else { value as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_covers_its_width_and_keeps_the_mean() {
        let ten_percent = Spread(6_554);
        assert_eq!(ten_percent.apply(1_000_000, 0), 1_000_000 - 100_006);
        assert!(ten_percent.apply(1_000_000, u32::MAX) > 1_099_900);
        assert_eq!(Spread::NONE.apply(77, 12345), 77);
        assert_eq!(Spread(Spread::MAX).apply(100, 0), 0);
    }

    #[test]
    fn quantiles_spread_lengths_between_their_values() {
        let table = Quantiles::new(vec![0, 1 << 16, 3 << 16]).unwrap();
        let of = |draw| table.apply(1_000, draw);
        assert_eq!([0, 1 << 30, 1 << 31, 3 << 30].map(of), [0, 500, 1_000, 2_000]);
        assert_eq!((of(u32::MAX), table.greatest()), (2_999, 3 << 16));
        // 1/2 and 2.
        assert_eq!(table.mean(1_000), 1_250);
        assert!(Quantiles::new(vec![1]).is_err() && Quantiles::new(vec![2, 1]).is_err());
        assert!(Quantiles::new(vec![1, u32::MAX]).is_err());
        let spread = Spread::table(3);
        assert_eq!((spread.table_number(), Spread::EXPONENTIAL.table_number()), (Some(3), None));
        assert!(spread.is_legal(4) && !spread.is_legal(3) && Spread::NONE.table_number().is_none());
    }

    #[test]
    #[cfg_attr(miri, ignore = "the mean of 65,536 lengths")]
    fn exponential_lengths_have_their_mean_and_quantiles() {
        let apply = |draw| Spread::EXPONENTIAL.apply(1_000_000, draw);
        // -ln of 1/2, 1/4 and of all but nothing; beyond 16 means it is cut.
        assert!(apply(1 << 31).abs_diff(693_147) <= 1, "{}", apply(1 << 31));
        assert!(apply(1 << 30).abs_diff(1_386_294) <= 1, "{}", apply(1 << 30));
        assert!(apply(u32::MAX) <= 1);
        assert_eq!(apply(0), 16_000_000);
        // u = 1/e, so -ln u = 1: 0.36788 x 2^32.
        assert!(apply(1_580_030_168).abs_diff(1_000_000) <= 1, "{}", apply(1_580_030_168));
        let n = 1 << 16;
        let (mut sum, mut squares) = (0u128, 0u128);
        for i in 0..n {
            let value = u128::from(apply((i << 16) + (1 << 15)));
            sum += value;
            squares += value * value;
        }
        let mean = sum / u128::from(n);
        let mean_square = squares / u128::from(n);
        assert!(mean.abs_diff(1_000_000) < 100, "{mean}");
        // The mean square of an exponential is twice the square of its mean.
        assert!(mean_square.abs_diff(2_000_000_000_000) < 10_000_000_000, "{mean_square}");
    }
}
