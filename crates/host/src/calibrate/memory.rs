//! Measures cache lines, polls, pages, caches and memory bandwidth.

use std::cell::OnceCell;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};

use super::bench::Bench;
use crate::facts::bind;
use crate::memory::Arrays;
use crate::places::Places;
use crate::statistics::median;
use crate::work::{Kernel, Stream, now, rate, spin, together};

/// Bytes of the array whose refill is measured: it fits every private cache of the last ten years.
const REFILL: u64 = 256 << 10;
/// Size of a page.
const PAGE: usize = 4096;

/// Time until a store is visible on another cpu: one leg of a ping-pong of two polling threads, ns.
pub(super) fn line(bench: &Bench, other: u32) -> Result<f64, String> {
    const LEGS: u32 = 20_000;
    let word = AtomicU32::new(0);
    let body = |rank: usize| {
        let begin = now();
        loop {
            let seen = word.load(Ordering::Acquire);
            if seen >= LEGS {
                return (now() - begin) as f64;
            }
            if seen % 2 == rank as u32 {
                word.store(seen + 1, Ordering::Release);
            }
        }
    };
    Ok(together(&[bench.first(), other], &body)?[0] / f64::from(LEGS))
}

/// One poll of a flag with the pause instruction, ns.
pub(super) fn poll(bench: &Bench) -> Result<f64, String> {
    const POLLS: u32 = 20_000;
    let word = AtomicU32::new(0);
    let body = |_: usize| {
        let begin = now();
        let mut polls = 0;
        while word.load(Ordering::SeqCst) == 0 && polls < POLLS {
            spin_loop();
            polls += 1;
        }
        (now() - begin) as f64 / f64::from(POLLS)
    };
    Ok(together(&[bench.first()], &body)?[0])
}

/// First touch of a page of memory, ns.
pub(super) fn first_touch(bench: &Bench) -> Result<f64, String> {
    const PAGES: usize = 2_048;
    let body = |_: usize| {
        let mut memory = vec![0_u8; PAGES * PAGE];
        let begin = now();
        for at in (0..memory.len()).step_by(PAGE) {
            memory[at] = 1;
        }
        let taken = now() - begin;
        std::hint::black_box(&memory);
        taken as f64 / PAGES as f64
    };
    Ok(together(&[bench.first()], &body)?[0])
}

/// Arrays for the cores of this host, made when they are first needed and kept for all rounds.
#[derive(Default)]
pub(super) struct Kept(OnceCell<Result<Arrays, String>>);

impl Kept {
    /// The arrays of these cores.
    pub(super) fn of(&self, cores: &[u32], bytes: u64) -> Result<&Arrays, String> {
        self.0.get_or_init(|| Arrays::new(cores, bytes)).as_ref().map_err(Clone::clone)
    }
}

/// Bytes per second that one cpu reads from an array of this size.
pub(super) fn read(bench: &Bench, bytes: u64) -> Result<f64, String> {
    let body = |_: usize| {
        let mut stream = Stream::new(bytes);
        let piece = bytes.max(1 << 20);
        stream.read(piece);
        stream.rate(Kernel::Read, piece)
    };
    Ok(together(&[bench.first()], &body)?[0] * 1e9)
}

/// How much longer the first read of 256 KiB takes after a migration than a warm one, ns.
pub(super) fn refill(bench: &Bench, other: u32) -> Result<f64, String> {
    let here = bench.first();
    let body = |_: usize| {
        let mut stream = Stream::new(REFILL);
        let mut values = Vec::new();
        for round in 0..10 {
            stream.read(REFILL);
            stream.read(REFILL);
            let begin = now();
            stream.read(REFILL);
            let warm = now() - begin;
            if bind(&[if round % 2 == 0 { other } else { here }]).is_err() {
                continue;
            }
            let begin = now();
            stream.read(REFILL);
            values.push((now() - begin).saturating_sub(warm) as f64);
        }
        median(&mut values)
    };
    Ok(together(&[here], &body)?[0])
}

/// Iterations of the counted loop per nanosecond.
pub(super) fn speed(bench: &Bench) -> Result<f64, String> {
    Ok(together(&[bench.first()], &|_| rate())?[0])
}

/// Speed of a cpu while another one computes, over its speed alone.
pub(super) fn beside(bench: &Bench, other: u32) -> Result<f64, String> {
    let alone = speed(bench)?;
    let both = together(&[bench.first(), other], &|_| {
        spin(400_000);
        let value = rate();
        spin(400_000);
        value
    })?;
    Ok(both.iter().sum::<f64>() / both.len() as f64 / alone)
}

/// Bytes per second of two cpus that read memory together, over twice those of one.
pub(super) fn beside_reading(bench: &Bench, other: u32, places: &Places) -> Result<f64, String> {
    Ok(1.0 / Arrays::new(&[bench.first(), other], places.array())?.probe()?.slowdown())
}
