//! Counted work: a loop of dependent integer operations and a stream over memory, and the probes of their
//! speeds.

use std::hint::black_box;
use std::sync::Barrier;

use rustix::time::{ClockId, clock_gettime};

use crate::facts::bind;
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

/// What a pass over an array does. Bytes count as STREAM counts them (McCalpin 1995): what the program reads
/// and writes, without the lines that a cache reads before it writes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernel {
    /// Reads 8 bytes of each element.
    Read,
    /// Writes 8 bytes.
    Write,
    /// Reads 8 bytes of one half of the array and writes them to the other half.
    Copy,
    /// Reads 8 bytes of each of two thirds and writes their weighted sum to the last third.
    Triad,
}

impl Kernel {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Copy => "copy",
            Self::Triad => "triad",
        }
    }

    /// Parts of the array that it works on.
    const fn parts(self) -> usize {
        match self {
            Self::Read | Self::Write => 1,
            Self::Copy => 2,
            Self::Triad => 3,
        }
    }
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

    /// Passes over so many bytes, at most once over the array; the bytes that count.
    #[inline(never)]
    pub fn pass(&mut self, kernel: Kernel, bytes: u64) -> u64 {
        if kernel == Kernel::Read {
            self.read(bytes);
            return bytes;
        }
        let parts = kernel.parts();
        let part = self.words.len() / parts;
        let count = usize::try_from(bytes / 8).unwrap_or(usize::MAX) / parts;
        let from = self.at % part.max(1);
        let count = count.clamp(1, part - from);
        let (first, rest) = self.words.split_at_mut(part);
        let (second, third) = rest.split_at_mut(part.min(rest.len()));
        let here = from..from + count;
        match kernel {
            Kernel::Read | Kernel::Write => first[here].fill(count as u64),
            Kernel::Copy => second[here.clone()].copy_from_slice(&first[here]),
            Kernel::Triad => {
                let sources = first[here.clone()].iter().zip(&second[here.clone()]);
                for (to, (one, other)) in third[here].iter_mut().zip(sources) {
                    *to = one.wrapping_add(other << 2);
                }
            }
        }
        self.at = if from + count == part { 0 } else { from + count };
        black_box(&mut self.words);
        (8 * parts * count) as u64
    }

    /// Bytes per nanosecond (GB/s): the median of nine passes over so many bytes each.
    #[must_use]
    pub fn rate(&mut self, kernel: Kernel, piece: u64) -> f64 {
        let mut pieces: Vec<f64> = (0..PIECES)
            .map(|_| {
                let begin = now();
                let bytes = self.pass(kernel, piece);
                bytes as f64 / (now() - begin).max(1) as f64
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

/// Runs a thread on each of these cpus (twice the same one gives two threads on it), all released at once;
/// the answers in order.
///
/// # Errors
/// A sentence: a thread cannot be created or bound.
pub(crate) fn together<T: Send>(cpus: &[u32], body: &(dyn Fn(usize) -> T + Sync)) -> Result<Vec<T>, String> {
    let gate = Barrier::new(cpus.len());
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (rank, cpu) in cpus.iter().enumerate() {
            let gate = &gate;
            let run = move || {
                let bound = bind(&[*cpu]);
                gate.wait();
                bound.map(|()| body(rank))
            };
            threads.push(scope.spawn(run));
        }
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<T, String>>| {
            thread.join().map_err(|_| "a thread of a measurement has failed".to_owned())?
        };
        threads.into_iter().map(join).collect()
    })
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
        assert!(rate() > 0.0 && Stream::new(CHUNK).rate(Kernel::Read, CHUNK) > 0.0);
    }

    #[test]
    fn passes_count_what_the_program_reads_and_writes() {
        for kernel in [Kernel::Read, Kernel::Write, Kernel::Copy, Kernel::Triad] {
            let mut stream = Stream::new(CHUNK);
            let counted: u64 = (0..8).map(|_| stream.pass(kernel, 9_000)).sum();
            assert!((60_000..=72_000).contains(&counted), "{kernel:?} {counted}");
        }
        let mut stream = Stream::new(CHUNK);
        let (part, bytes) = (stream.words.len() / 3, 24 * (CHUNK / 24));
        assert_eq!(stream.pass(Kernel::Triad, CHUNK), bytes);
        assert_eq!(stream.words[2 * part + 5], 5 + 4 * (part as u64 + 5));
        let mut stream = Stream::new(CHUNK);
        stream.pass(Kernel::Copy, CHUNK);
        assert_eq!(stream.words[stream.words.len() / 2 + 7], 7);
    }

    #[test]
    fn threads_answer_in_order() {
        let cpu = crate::facts::cpus()[0];
        assert_eq!(together(&[cpu, cpu], &|rank| rank).unwrap(), [0, 1]);
    }
}
