//! Measures the costs of this host: a list of values, and the parameters of a machine file that follow from
//! them.

mod bench;
pub mod file;
mod memory;
mod places;
mod switches;

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::{Host, cpus};
use crate::parent::Starter;
use crate::statistics::Sample;
use bench::{Bench, Task, Value};
use places::Places;
use switches::{Meeting, WakeUp};

/// Name and version of the form of the values as JSON.
pub const SCHEMA: &str = "oversim.host/1";
/// Rounds of a full measurement.
const ROUNDS: usize = 9;
/// Rounds of a quick one.
const QUICK: usize = 2;
/// Sleeps after which the latency of a wake-up is measured: name and length in nanoseconds.
const SLEEPS: [(&str, u64); 4] = [("7us", 7_000), ("20us", 20_000), ("200us", 200_000), ("2ms", 2_000_000)];
/// Sizes of the arrays that are read, in KiB.
const SIZES: [u64; 9] = [16, 32, 256, 512, 1_024, 4_096, 16_384, 32_768, 131_072];

/// All that was measured of a host.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Costs {
    /// Name and version of this form.
    pub schema: String,
    /// When it began, UTC, as in RFC 3339.
    pub date: String,
    /// The host.
    pub host: Host,
    /// Its shape as a description of machine files.
    pub topology: String,
    /// Private cache of a core in bytes, from sysfs; 0 if unknown.
    pub private_cache: u64,
    /// Cache shared by cores in bytes, from sysfs; 0 if unknown.
    pub shared_cache: u64,
    /// The measured values.
    pub readings: Vec<Reading>,
}

/// A measured value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    /// Its name.
    pub name: String,
    /// How it was measured.
    pub how: String,
    /// `ns`, `bytes/s` or empty for a ratio.
    pub unit: String,
    /// The values.
    pub sample: Sample,
    /// Others disturbed the measurement, or the values are widely spread.
    pub uncertain: bool,
}

impl Costs {
    /// As JSON text with a line break at its end.
    ///
    /// # Errors
    /// A sentence.
    pub fn json(&self) -> Result<String, String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n").map_err(|e| e.to_string())
    }

    /// A measured value by its name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Reading> {
        self.readings.iter().find(|reading| reading.name == name)
    }

    /// The median of a measured value.
    #[must_use]
    pub fn median(&self, name: &str) -> Option<f64> {
        self.find(name).map(|reading| reading.sample.median)
    }
}

/// A value of the list: its task and how it is described.
struct Entry<'a> {
    task: Task<'a>,
    unit: &'static str,
    how: String,
}

/// The list of values, in the order in which they are shown.
struct List<'a>(Vec<Entry<'a>>);

impl<'a> List<'a> {
    fn add(
        &mut self,
        name: impl Into<String>,
        unit: &'static str,
        how: impl Into<String>,
        measure: impl Fn(&Bench<'_>) -> Result<f64, String> + 'a,
    ) {
        let task = Task { name: name.into(), measure: Box::new(measure) };
        self.0.push(Entry { task, unit, how: how.into() });
    }
}

/// Measures everything. `progress` is called with the number of finished and of all measurements.
///
/// # Errors
/// A sentence: a value cannot be measured here.
pub fn measure(starter: &Starter, quick: bool, progress: &dyn Fn(usize, usize)) -> Result<Costs, String> {
    let all = cpus();
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let places = Places::of(&all);
    let bench = Bench::new(starter, all);
    let mut list = List(Vec::new());
    one_cpu(&mut list);
    others(&mut list, &places);
    memory(&mut list, &places);
    let rounds = if quick { QUICK } else { ROUNDS };
    let (tasks, texts): (Vec<Task<'_>>, Vec<(&str, String)>) =
        list.0.into_iter().map(|entry| (entry.task, (entry.unit, entry.how))).unzip();
    let values = bench::values(&bench, &tasks, rounds, progress)?;
    let reading = |(value, (unit, how)): (Value, (&str, String))| Reading {
        name: value.name,
        how,
        unit: unit.to_owned(),
        sample: value.sample,
        uncertain: value.uncertain,
    };
    Ok(Costs {
        schema: SCHEMA.into(),
        date,
        host: Host::here(),
        topology: places.topology.clone(),
        private_cache: places.private_cache,
        shared_cache: places.shared_cache,
        readings: values.into_iter().zip(texts).map(reading).collect(),
    })
}

/// Values of one cpu.
fn one_cpu(list: &mut List<'_>) {
    list.add("run_length", "ns", "run length of two threads that compute on one cpu", switches::run_length);
    list.add(
        "base_slice",
        "ns",
        "time between two yields of a thread beside a computing one",
        switches::slice,
    );
    list.add("yield", "ns", "sched_yield without another runnable thread", switches::yield_alone);
    list.add(
        "yield_switch_thread",
        "ns",
        "sched_yield with a switch to a thread of the same process",
        switches::yield_threads,
    );
    list.add(
        "yield_switch_process",
        "ns",
        "sched_yield with a switch to another process",
        switches::yield_processes,
    );
    list.add("barrier_same", "ns", "futex barrier of two threads on one cpu", |bench: &Bench<'_>| {
        switches::barrier(bench, Meeting::Time)
    });
    list.add("barrier_switches", "", "context switches for each such barrier", |bench: &Bench<'_>| {
        switches::barrier(bench, Meeting::Switches)
    });
    list.add(
        "wake_call_same",
        "ns",
        "FUTEX_WAKE of a thread of the same cpu, without the switch",
        |bench: &Bench<'_>| switches::wake_up(bench, bench.first(), 5_000, WakeUp::Call),
    );
    list.add("fork", "ns", "pthread_create, paid by the caller", switches::fork);
    list.add("poll", "ns", "one load of a flag with a pause instruction", memory::poll);
    list.add("first_touch", "ns", "first write to a page of 4 KiB", memory::first_touch);
    list.add("speed", "iterations/ns", "counted loop: shift, exclusive or, multiply", memory::speed);
}

/// Values of two cpus, by their distance.
fn others(list: &mut List<'_>, places: &Places) {
    for (name, other) in places.others() {
        list.add(format!("futex_leg_{name}"), "ns", format!("one leg of a futex ping-pong, {name}"), {
            move |bench: &Bench<'_>| switches::futex_leg(bench, other)
        });
        let how = format!("FUTEX_WAKE of a thread that has slept for 20 us on a cpu, {name}");
        list.add(format!("wake_remote_{name}"), "ns", how, move |bench: &Bench<'_>| {
            switches::wake_up(bench, other, 20_000, WakeUp::Call)
        });
        for (sleep, length) in SLEEPS {
            let how = format!("from FUTEX_WAKE to the sleeper, idle for {sleep}, {name}");
            list.add(format!("wake_latency_{sleep}_{name}"), "ns", how, move |bench: &Bench<'_>| {
                switches::wake_up(bench, other, length, WakeUp::Latency)
            });
        }
        let how = format!("one leg of a ping-pong of two polling threads, {name}");
        list.add(format!("line_{name}"), "ns", how, move |bench: &Bench<'_>| memory::line(bench, other));
        let how = format!("from sched_setaffinity to running on an idle cpu, {name}");
        list.add(format!("migration_{name}"), "ns", how, move |bench: &Bench<'_>| {
            switches::migration(bench, other)
        });
        let how = format!("first read of 256 KiB after a migration, minus a warm one, {name}");
        list.add(format!("refill_{name}"), "ns", how, move |bench: &Bench<'_>| memory::refill(bench, other));
        let how = format!("speed of the counted loop beside a computing cpu over its speed alone, {name}");
        list.add(format!("beside_{name}"), "", how, move |bench: &Bench<'_>| memory::beside(bench, other));
    }
    if let Some(other) = places.sibling {
        let how = "bandwidth of two hardware threads of a core over twice that of one";
        list.add("reading_beside_sibling", "", how, move |b: &Bench<'_>| memory::beside_reading(b, other));
    }
}

/// Values of memory and caches.
fn memory(list: &mut List<'_>, places: &Places) {
    for kib in SIZES {
        let how = format!("array of {kib} KiB read again and again by one cpu");
        list.add(format!("read_{kib}KiB"), "bytes/s", how, move |bench: &Bench<'_>| {
            memory::read(bench, kib << 10)
        });
    }
    let mut counts = vec![1, 2, places.cores.len() / 2, places.cores.len()];
    counts.retain(|count| (1..=places.cores.len()).contains(count));
    counts.sort_unstable();
    counts.dedup();
    for count in counts {
        let cores = places.cores[..count].to_vec();
        let how = format!("128 MiB read by each of {count} cores, together");
        list.add(format!("stream_{count}"), "bytes/s", how, move |_: &Bench<'_>| memory::stream(&cores));
    }
}
