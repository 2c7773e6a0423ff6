//! Counted work: a loop of dependent integer operations and a stream over memory, and the probes of their
//! speeds.

use std::hint::black_box;

use rustix::time::{ClockId, clock_gettime};

use crate::statistics::median;

/// Iterations of one piece of a speed probe: about a fifth of a millisecond at 2 to 4 GHz, so that most
/// pieces meet no timer tick.
const PIECE: u64 = 100_000;
/// Pieces of a speed probe.
const PIECES: usize = 9;
/// Bytes of a stream between two pieces of computation.
const CHUNK: u64 = 64 << 10;

/// Nanoseconds of CLOCK_MONOTONIC.
#[must_use]
pub fn now() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// Nanoseconds of a clock.
pub(crate) fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // Both fields are positive: the clocks count from the boot or from the start of a process.
    (time.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64)
}

/// So many dependent operations. Each needs the result of the one before (shift, exclusive or, multiply), so
/// neither wide issue nor a hardware-thread sibling that computes changes the speed much.
#[inline(never)]
pub fn spin(iterations: u64) -> u64 {
    let mut x = black_box(0x9E37_79B9_7F4A_7C15_u64);
    for _ in 0..iterations {
        x = (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    }
    black_box(x)
}

/// Iterations of [`spin`] per nanosecond on the cpu that this thread runs on: the median of nine pieces.
#[must_use]
pub fn rate() -> f64 {
    let mut pieces: Vec<f64> = (0..PIECES)
        .map(|_| {
            let begin = now();
            spin(PIECE);
            PIECE as f64 / (now() - begin).max(1) as f64
        })
        .collect();
    median(&mut pieces)
}

/// An array that is read from front to back, again and again.
pub struct Stream {
    words: Vec<u64>,
    at: usize,
}

impl Stream {
    /// An array of at least this many bytes, with all its pages written once.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        let words = usize::try_from(bytes.max(CHUNK) / 8).unwrap_or(usize::MAX);
        Self { words: (0..words as u64).collect(), at: 0 }
    }

    /// Reads so many bytes, rounded up to whole words.
    #[inline(never)]
    pub fn read(&mut self, bytes: u64) -> u64 {
        let mut left = usize::try_from(bytes.div_ceil(8)).unwrap_or(usize::MAX);
        let mut sum = 0_u64;
        while left > 0 {
            let end = self.at.saturating_add(left).min(self.words.len());
            sum = self.words[self.at..end].iter().fold(sum, |sum, word| sum.wrapping_add(*word));
            left -= end - self.at;
            self.at = if end == self.words.len() { 0 } else { end };
        }
        black_box(sum)
    }

    /// Bytes per nanosecond (GB/s) of reading: the median of nine pieces of this size.
    #[must_use]
    pub fn rate(&mut self, piece: u64) -> f64 {
        let mut pieces: Vec<f64> = (0..PIECES)
            .map(|_| {
                let begin = now();
                self.read(piece);
                piece as f64 / (now() - begin).max(1) as f64
            })
            .collect();
        median(&mut pieces)
    }
}

/// Work whose unloaded time is known: iterations and bytes in small portions side by side.
pub fn mixed(iterations: u64, bytes: u64, stream: Option<&mut Stream>) {
    let Some(stream) = stream.filter(|_| bytes > 0) else {
        spin(iterations);
        return;
    };
    let portions = bytes.div_ceil(CHUNK);
    for portion in 0..portions {
        let share = |whole: u64| {
            (u128::from(whole) * u128::from(portion + 1) / u128::from(portions)) as u64
                - (u128::from(whole) * u128::from(portion) / u128::from(portions)) as u64
        };
        stream.read(share(bytes));
        spin(share(iterations));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_depends_on_the_number_of_operations() {
        assert_eq!(spin(7), spin(7));
        assert_ne!(spin(7), spin(8));
    }

    #[test]
    fn a_stream_reads_every_word_and_begins_again() {
        let mut stream = Stream::new(CHUNK);
        let words = CHUNK / 8;
        assert_eq!(stream.read(CHUNK), words * (words - 1) / 2);
        assert_eq!((stream.at, stream.read(8), stream.read(16)), (0, 0, 3));
    }

    #[test]
    fn probes_give_positive_speeds() {
        assert!(rate() > 0.0 && Stream::new(CHUNK).rate(CHUNK) > 0.0);
    }
}
