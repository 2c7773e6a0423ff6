//! The memory of this host: arrays that no cache holds, and what cores read from them alone and together.

use std::fs;
use std::sync::{Mutex, PoisonError};

use machines::contention;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::cpus;
use crate::places::Places;
use crate::work::{Kernel, Stream, together};

/// Bytes of an array at least.
const LEAST: u64 = 128 << 20;
/// An array is this many times larger than the last-level cache: who reads twice what a cache holds from
/// front to back, again and again, finds nothing of the last pass in it, whatever the cache replaces first.
const CACHES: u64 = 2;
/// Bytes of a piece of a probe: about a millisecond on one core.
const PIECE: u64 = 16 << 20;
/// Share of the available memory that arrays may have.
const ROOM: u64 = 2;
/// Bytes of the array that a memory-bound thread reads on this host.
#[must_use]
pub fn array() -> u64 {
    Places::of(&cpus()).array()
}

impl Places {
    /// Bytes of an array that no cache holds.
    pub(crate) fn array(&self) -> u64 {
        LEAST.max(self.shared_cache.saturating_mul(CACHES))
    }
}

/// Whether this host has room for so many arrays.
///
/// # Errors
/// A sentence: it has not.
pub fn room(arrays: u64, bytes: u64) -> Result<(), String> {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    match available(&text) {
        Some(free) if arrays.saturating_mul(bytes) > free / ROOM => Err(format!(
            "memory-bound tasks read {arrays} arrays of {} MiB here, each larger than the caches, and at \
             most half of the {} MiB of memory that are available may be used: write fewer `tasks`",
            bytes >> 20,
            free >> 20
        )),
        _ => Ok(()),
    }
}

/// Bytes of MemAvailable in a text of /proc/meminfo.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
}

/// What cores read in one minute, in bytes per second.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Bandwidth {
    /// What one core reads while the others do not.
    pub alone: f64,
    /// What all these cores read together.
    pub together: f64,
    /// How many cores read together.
    pub cores: u32,
}

impl Bandwidth {
    /// By how much each core is slower beside the others than alone, at least 1.
    #[must_use]
    pub fn slowdown(&self) -> f64 {
        let slowdown = f64::from(self.cores) * self.alone / self.together;
        if slowdown.is_finite() { slowdown.max(1.0) } else { 1.0 }
    }

    /// The load of a controller while one core reads, on a machine of so many nodes with a controller each
    /// ([`machines::contention::load`]).
    #[must_use]
    pub fn load(&self, exponent: u32, nodes: u32) -> f64 {
        let nodes = f64::from(nodes.max(1));
        contention::load(self.alone, self.together / nodes, f64::from(self.cores) / nodes, exponent.into())
    }

    /// The largest share by which one of both rates differs from that of another probe.
    #[must_use]
    pub fn drift(&self, other: &Self) -> f64 {
        let of = |one: f64, other: f64| (one / other.max(1.0) - 1.0).abs();
        of(self.alone, other.alone).max(of(self.together, other.together))
    }

    /// The mean of two probes.
    #[must_use]
    pub fn mean(&self, other: &Self) -> Self {
        let of = |one: f64, other: f64| f64::midpoint(one, other);
        Self {
            alone: of(self.alone, other.alone),
            together: of(self.together, other.together),
            cores: self.cores,
        }
    }
}

/// An array for each of some cores.
pub struct Arrays {
    cores: Vec<u32>,
    arrays: Vec<Mutex<Stream>>,
}

impl Arrays {
    /// An array for one cpu of each core of this host.
    ///
    /// # Errors
    /// A sentence: the arrays do not fit into memory, or a thread cannot be bound.
    pub fn of_this_host() -> Result<Self, String> {
        let places = Places::of(&cpus());
        Self::new(&places.cores, places.array())
    }

    /// Arrays of so many bytes for these cpus, each first written by its cpu.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn new(cores: &[u32], bytes: u64) -> Result<Self, String> {
        room(cores.len() as u64, bytes)?;
        let arrays = together(cores, &|_| Mutex::new(Stream::new(bytes)))?;
        Ok(Self { cores: cores.to_vec(), arrays })
    }

    /// Bytes per second of the first `count` cores together. `place` says whose array a core uses, by the
    /// number of the core.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn rate(
        &self,
        count: usize,
        kernel: Kernel,
        place: &(dyn Fn(usize) -> usize + Sync),
    ) -> Result<f64, String> {
        let cores = &self.cores[..count.min(self.cores.len())];
        let body = |rank: usize| {
            let array = self.arrays.get(place(rank)).or_else(|| self.arrays.first());
            array
                .map_or(0.0, |array| array.lock().unwrap_or_else(PoisonError::into_inner).rate(kernel, PIECE))
        };
        Ok(together(cores, &body)?.iter().sum::<f64>() * 1e9)
    }

    /// What the cores read now.
    ///
    /// # Errors
    /// A sentence.
    pub fn probe(&self) -> Result<Bandwidth, String> {
        let read = |count| self.rate(count, Kernel::Read, &|rank| rank);
        let cores = u32::try_from(self.cores.len()).unwrap_or(u32::MAX);
        Ok(Bandwidth { alone: read(1)?, together: read(self.cores.len())?, cores })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one / other - 1.0).abs() < 1e-9
    }

    #[test]
    fn the_load_gives_the_slowdown_back() {
        for (p, cores, load) in [(4, 2, 0.7), (4, 8, 0.4), (1, 2, 0.9), (16, 4, 0.3), (4, 2, 1.4)] {
            let law = |load| contention::slowdown(load, p.into());
            let slowdown = law(f64::from(cores) * load) / law(load);
            let together = f64::from(cores) * 10e9 / slowdown;
            let found = Bandwidth { alone: 10e9, together, cores };
            // Two nodes with as many cores each have the same load.
            let two = Bandwidth { together: 2.0 * together, cores: 2 * cores, ..found };
            assert!(near(found.slowdown(), slowdown), "{p} {load}");
            assert!(near(found.load(p, 1), load) && near(two.load(p, 2), load), "{p} {load}");
        }
    }

    #[test]
    fn a_load_that_a_probe_does_not_show_has_limits() {
        let ratio = |found: &Bandwidth| {
            let law = |load| contention::slowdown(load, 4.0);
            law(2.0 * found.load(4, 1)) / law(found.load(4, 1))
        };
        let of = |together| Bandwidth { alone: 10e9, together, cores: 2 };
        // No slowdown, and one by the number of cores.
        let (free, full) = (of(20.5e9), of(10e9));
        assert!(near(free.slowdown(), 1.0) && ratio(&free) < 1.01);
        assert!(near(full.slowdown(), 2.0) && ratio(&full) > 0.95 * 2.0);
        assert!(near(of(0.0).slowdown(), 1.0));
    }

    #[test]
    fn probes_drift_by_the_rate_that_changed_most() {
        let of = |alone, together| Bandwidth { alone, together, cores: 2 };
        assert!(near(of(10e9, 18e9).drift(&of(10e9, 20e9)), 0.1));
        assert_eq!(of(10e9, 18e9).mean(&of(12e9, 20e9)), of(11e9, 19e9));
    }

    #[test]
    fn arrays_without_room_are_refused_with_the_sizes() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), Some(2 << 20));
        assert_eq!(available("MemAvailable: much"), None);
        let refused = room(1 << 20, 1 << 30).unwrap_err();
        assert!(refused.contains("1048576 arrays of 1024 MiB") && refused.contains("fewer `tasks`"));
        assert!(room(1, 1 << 20).is_ok());
    }

    #[test]
    fn cores_read_alone_and_together() {
        let arrays = Arrays::new(&cpus()[..1], 1 << 20).unwrap();
        let found = arrays.probe().unwrap();
        assert!(found.alone > 0.0 && found.together > 0.0 && found.cores == 1);
        for kernel in [Kernel::Write, Kernel::Copy, Kernel::Triad] {
            assert!(arrays.rate(1, kernel, &|_| 0).unwrap() > 0.0);
        }
    }
}
