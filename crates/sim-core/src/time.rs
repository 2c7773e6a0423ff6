//! Simulated time and work: integers with units in their types.
//!
//! `Time` is an instant, `Span` a length of time, both whole nanoseconds; `Work` is computation in
//! nanoseconds at nominal speed with [`WORK_FRACTION_BITS`] fraction bits, so "remaining work" never drifts;
//! `Speed` is work per nanosecond. `Time + Time` does not compile.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// Fraction bits of [`Work`] and [`Speed`]: a resolution of one millionth of a nanosecond.
pub const WORK_FRACTION_BITS: u32 = 20;

/// An instant of simulated time: nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A length of simulated time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

/// Computation: nanoseconds at nominal speed, fixed point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Work(u64);

/// How fast work is done: 1.0 is nominal speed, fixed point. Always positive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Speed(u64);

impl Time {
    /// The start of every run.
    pub const ZERO: Self = Self(0);
    /// Later than everything that happens.
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `ns` nanoseconds after the start.
    #[must_use]
    #[inline]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the start.
    #[must_use]
    #[inline]
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// True for [`Time::NEVER`].
    #[must_use]
    #[inline]
    pub const fn is_never(self) -> bool {
        self.0 == u64::MAX
    }

    /// The time from `earlier` to `self`, zero when `earlier` is later.
    #[must_use]
    #[inline]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// `self - span`, or the start of the run when that is later.
    #[must_use]
    #[inline]
    pub const fn saturating_sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// `self + span`, or `NEVER` when that overflows.
    #[must_use]
    #[inline]
    pub const fn saturating_add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `ns` nanoseconds.
    #[must_use]
    #[inline]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// A span of `us` microseconds.
    #[must_use]
    #[inline]
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000)
    }

    /// A span of `ms` milliseconds.
    #[must_use]
    #[inline]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    /// Nanoseconds.
    #[must_use]
    #[inline]
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// The sum, or the longest span when that overflows.
    #[must_use]
    #[inline]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, zero when `other` is longer.
    #[must_use]
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Work {
    /// Nothing to do.
    pub const ZERO: Self = Self(0);
    /// The most work one value may hold: half the range, so that clocks may wrap.
    pub const MAX: Self = Self(u64::MAX >> 1);

    /// The work done in `span` at nominal speed; spans beyond 2^43 ns (2.4 hours) are cut to that.
    #[must_use]
    #[inline]
    pub const fn from_span(span: Span) -> Self {
        let limit = Self::MAX.0 >> WORK_FRACTION_BITS;
        let ns = if span.0 < limit { span.0 } else { limit };
        Self(ns << WORK_FRACTION_BITS)
    }

    /// From raw fixed-point units.
    #[must_use]
    #[inline]
    pub const fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    /// Raw fixed-point units.
    #[must_use]
    #[inline]
    pub const fn raw(self) -> u64 {
        self.0
    }

    /// Whole nanoseconds at nominal speed, rounded down.
    #[must_use]
    #[inline]
    pub const fn floor_ns(self) -> u64 {
        self.0 >> WORK_FRACTION_BITS
    }

    /// The difference, zero when `other` is larger.
    #[must_use]
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The time this work takes at `speed`, rounded up to whole nanoseconds.
    #[must_use]
    #[inline]
    pub const fn duration_at(self, speed: Speed) -> Span {
        Span(self.0.div_ceil(speed.0))
    }
}

impl Speed {
    /// Nominal speed.
    pub const NOMINAL: Self = Self(1 << WORK_FRACTION_BITS);

    /// `numerator / denominator` of nominal speed, rounded down, at least the smallest positive speed.
    #[must_use]
    #[inline]
    pub const fn ratio(numerator: u64, denominator: u64) -> Self {
        let raw = ((numerator as u128) << WORK_FRACTION_BITS) / (denominator as u128);
        if raw == 0 { Self(1) } else { Self(raw as u64) }
    }

    /// From raw fixed-point units; zero becomes the smallest positive speed.
    #[must_use]
    #[inline]
    pub const fn from_raw(raw: u64) -> Self {
        if raw == 0 { Self(1) } else { Self(raw) }
    }

    /// Raw fixed-point units.
    #[must_use]
    #[inline]
    pub const fn raw(self) -> u64 {
        self.0
    }

    /// The work done in `span` at this speed. Exact.
    #[must_use]
    #[inline]
    pub const fn work_in(self, span: Span) -> Work {
        Work(span.0 * self.0)
    }
}

impl Mul for Speed {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        Self::from_raw(((u128::from(self.0) * u128::from(other.0)) >> WORK_FRACTION_BITS) as u64)
    }
}

impl Add<Span> for Time {
    type Output = Self;
    #[inline]
    fn add(self, span: Span) -> Self {
        Self(self.0 + span.0)
    }
}
impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}
impl Sub for Time {
    type Output = Span;
    #[inline]
    fn sub(self, earlier: Self) -> Span {
        Span(self.0 - earlier.0)
    }
}
impl Add for Span {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
impl Sub for Span {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl SubAssign for Span {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}
impl Mul<u64> for Span {
    type Output = Self;
    #[inline]
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}
impl Add for Work {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl AddAssign for Work {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
impl Sub for Work {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_never() { f.write_str("never") } else { write!(f, "@{}ns", self.0) }
    }
}
impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ns", self.0)
    }
}
impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "work:{}ns", self.floor_ns())
    }
}
impl fmt::Debug for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "speed:{}/{}", self.0, Self::NOMINAL.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_rounds_up_and_never_loses_work() {
        let work = Work::from_span(Span::from_ns(1_000));
        let third = Speed::ratio(1, 3);
        let span = work.duration_at(third);
        assert!(third.work_in(span) >= work);
        assert!(third.work_in(span - Span::from_ns(1)) < work);
        assert_eq!(work.duration_at(Speed::NOMINAL), Span::from_ns(1_000));
    }

    #[test]
    fn spans_and_instants_keep_apart() {
        let start = Time::from_ns(5);
        assert_eq!((start + Span::from_us(1)) - start, Span::from_ns(1_000));
        assert_eq!(start.since(Time::from_ns(9)), Span::ZERO);
        assert_eq!(Time::NEVER.saturating_add(Span::from_ms(1)), Time::NEVER);
    }
}
