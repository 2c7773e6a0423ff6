//! Runs the measurements in rounds, shuffled, and repeats what others disturbed.

use std::cell::Cell;

use rustix::time::ClockId;
use sim_core::rng::{Purpose, draw, key};

use crate::facts::Usage;
use crate::load::{OTHERS, UNITS, Watch};
use crate::parent::Starter;
use crate::statistics::Sample;
use crate::work::{nanoseconds, now};

/// A value is repeated, and then uncertain, if half the distance of its quartiles is wider than this share.
const WIDE: f64 = 0.10;

/// Share of the cpus that interrupts and the migration threads use for the wake-ups and moves of a round: 2
/// to 3 % on a virtual machine. It is neither idle time nor that of this process.
const INTERRUPTS: f64 = 0.03;

/// What a measurement needs to know.
pub(super) struct Bench<'a> {
    /// Starts processes.
    pub(super) starter: &'a Starter,
    cpus: Vec<u32>,
    /// Cpu time of processes that were started, since the last round.
    own: Cell<u64>,
}

impl<'a> Bench<'a> {
    pub(super) const fn new(starter: &'a Starter, cpus: Vec<u32>) -> Self {
        Self { starter, cpus, own: Cell::new(0) }
    }

    /// The cpu on which most is measured.
    pub(super) fn first(&self) -> u32 {
        self.cpus.first().copied().unwrap_or(0)
    }

    pub(super) fn count(&self) -> u32 {
        self.cpus.len() as u32
    }

    /// Adds cpu time of a process that was started.
    pub(super) fn add_own(&self, ns: u64) {
        self.own.set(self.own.get() + ns);
    }
}

/// One measurement of a value.
pub(super) type Measure<'a> = Box<dyn Fn(&Bench<'_>) -> Result<f64, String> + 'a>;

/// A value to measure.
pub(super) struct Task<'a> {
    /// Its name.
    pub(super) name: String,
    /// Measures it once.
    pub(super) measure: Measure<'a>,
}

/// A measured value.
pub(super) struct Value {
    pub(super) name: String,
    pub(super) sample: Sample,
    /// Others used the host in some of the rounds that count, or the values are widely spread.
    pub(super) uncertain: bool,
    /// Others used the host in some of the rounds that count.
    pub(super) disturbed: bool,
}

/// Measures all values in so many rounds, each in another order. After a round that others disturbed, the
/// watch waits for a quiet host.
///
/// # Errors
/// A sentence: a value that could not be measured in any round, or a host that stays busy.
pub(super) fn values(
    bench: &Bench<'_>,
    tasks: &[Task<'_>],
    rounds: usize,
    watch: &mut Watch,
    progress: &dyn Fn(usize, usize),
) -> Result<Vec<Value>, String> {
    let mut clean: Vec<Vec<f64>> = tasks.iter().map(|_| Vec::new()).collect();
    let mut disturbed: Vec<Vec<f64>> = tasks.iter().map(|_| Vec::new()).collect();
    let mut failure = String::new();
    let wide = |values: &[f64]| Sample::of(values.to_vec()).is_none_or(|sample| sample.width() > WIDE);
    for round in 0..3 * rounds {
        let missing =
            |values: &Vec<f64>| values.len() < rounds || (values.len() < 2 * rounds && wide(values));
        let mut due: Vec<usize> = (0..tasks.len()).filter(|at| missing(&clean[*at])).collect();
        if due.is_empty() {
            break;
        }
        let shuffle = key(3, Purpose::Test, round as u64);
        due.sort_by_key(|at| draw(shuffle, *at as u64));
        let (before, begin, cpu) = (Usage::now(), now(), nanoseconds(ClockId::ProcessCPUTime));
        bench.own.set(0);
        let mut found = Vec::new();
        for at in due {
            match (tasks[at].measure)(bench) {
                Ok(value) => found.push((at, value)),
                Err(why) => failure = format!("{}: {why}", tasks[at].name),
            }
        }
        let own = bench.own.get() + nanoseconds(ClockId::ProcessCPUTime) - cpu;
        let elapsed = now() - begin;
        let (others, steal) = Usage::now().others(before, own, elapsed, bench.count());
        let whole = elapsed as f64 * f64::from(bench.count());
        let quiet = ((others + steal) as f64) <= ((OTHERS + INTERRUPTS) * whole).max(UNITS);
        for (at, value) in found {
            if quiet { &mut clean[at] } else { &mut disturbed[at] }.push(value);
        }
        let done = clean.iter().map(|values| values.len().min(rounds)).sum();
        progress(done, tasks.len() * rounds);
        if !quiet {
            watch.quiet()?;
        }
        // A host that is never quiet is not measured three times as often.
        if watch.forced() && round + 1 >= rounds && clean.iter().all(Vec::is_empty) {
            break;
        }
    }
    let value = |((task, mut values), others): ((&Task<'_>, Vec<f64>), Vec<f64>)| {
        let few = values.len() < rounds;
        if few {
            values.extend(others);
        }
        let (uncertain, disturbed) = (few || wide(&values), few);
        let name = task.name.clone();
        let sample = Sample::of(values).ok_or_else(|| failure.clone())?;
        Ok(Value { name, sample, uncertain, disturbed })
    };
    tasks.iter().zip(clean).zip(disturbed).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_measured_and_failures_are_named() {
        let starter = Starter::with("/bin/false".into(), Vec::new());
        let bench = Bench::new(&starter, crate::facts::cpus());
        let good = Task { name: "good".into(), measure: Box::new(|_| Ok(2.0)) };
        let done = values(&bench, &[good], 2, &mut Watch::off(), &|_, _| {}).unwrap();
        assert!((done[0].sample.median - 2.0).abs() < 1e-9 && done[0].sample.values.len() >= 2);
        let bad = Task { name: "bad".into(), measure: Box::new(|_| Err("no".into())) };
        assert_eq!(values(&bench, &[bad], 1, &mut Watch::off(), &|_, _| {}).err().unwrap(), "bad: no");
    }
}
