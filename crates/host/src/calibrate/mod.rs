//! Measures the costs of this host: a list of values, and the parameters of a machine file that follow from
//! them.

mod bench;
pub mod file;
mod memory;
mod switches;

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::{Host, cpus};
use crate::load::Watch;
use crate::parent::Starter;
use crate::places::Places;
use crate::statistics::{self, Sample};
use crate::work::Kernel;
use bench::{Bench, Task, Value};
use memory::Kept;
use switches::{Meeting, WakeUp};

/// Name and version of the form of the values as JSON.
pub const SCHEMA: &str = "oversim.host/1";
/// Rounds of a full measurement.
const ROUNDS: usize = 9;
/// Rounds of a quick one.
const QUICK: usize = 2;
/// Sleeps after which the cost and latency of a wake-up are measured: name and length in nanoseconds.
const SLEEPS: [(&str, u64); 4] = [("6us", 6_000), ("20us", 20_000), ("200us", 200_000), ("2ms", 2_000_000)];
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
    /// The Linux number of each cpu in the order of the simulator; empty where both are the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_numbers: Vec<u32>,
    /// Private cache of a core in bytes, from sysfs; 0 if unknown.
    pub private_cache: u64,
    /// Cache shared by cores in bytes, from sysfs; 0 if unknown.
    pub shared_cache: u64,
    /// The measured values.
    pub readings: Vec<Reading>,
    /// Who used the host meanwhile, if anyone did (`--force`): a sentence without full stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbed_by: Option<String>,
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
    /// The value that counts: this quantile of the sample.
    pub value: f64,
    /// Which quantile that is, 0.5 for the median.
    pub quantile: f64,
    /// Others disturbed the measurement, or the values are widely spread.
    pub uncertain: bool,
    /// Others used the host in some of the rounds that count.
    #[serde(default)]
    pub disturbed: bool,
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

    /// The value that counts of a measurement.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<f64> {
        self.find(name).map(|reading| reading.value)
    }

    /// How many values others disturbed.
    #[must_use]
    pub fn disturbed(&self) -> usize {
        self.readings.iter().filter(|reading| reading.disturbed).count()
    }
}

/// Which of the values of the rounds counts.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Quantile {
    /// A cost of one cpu. Other programs and interrupts can only lengthen it, so the low values are those of
    /// the operation alone. A decile, since the smallest of all is that of a lucky clock.
    Low,
    /// A rate, which others can only lower.
    High,
    /// A difference, ratio or count, which others move both ways, or a cost that crosses cpus: idle states
    /// and the hypervisor vary it on a quiet host, too.
    Median,
}

impl Quantile {
    const fn share(self) -> f64 {
        match self {
            Self::Low => 0.1,
            Self::High => 0.9,
            Self::Median => 0.5,
        }
    }

    /// That of a value by its name and unit.
    fn of(name: &str, unit: &str) -> Self {
        let across = ["futex_leg_", "wake_", "migration_", "refill_"];
        match unit {
            "bytes/s" | "iterations/ns" => Self::High,
            "ns" if name != "wake_call_same" && across.iter().any(|way| name.starts_with(way)) => {
                Self::Median
            }
            "ns" => Self::Low,
            _ => Self::Median,
        }
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

/// Measures everything, if the host is quiet. `progress` is called with the number of finished and of all
/// measurements.
///
/// # Errors
/// A sentence: a value cannot be measured here, or others use the host.
pub fn measure(
    starter: &Starter,
    quick: bool,
    watch: &mut Watch,
    progress: &dyn Fn(usize, usize),
) -> Result<Costs, String> {
    watch.quiet()?;
    let all = cpus();
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let (places, kept) = (Places::of(&all), <[Kept; 2]>::default());
    let bench = Bench::new(starter, all);
    let mut list = List(Vec::new());
    one_cpu(&mut list);
    others(&mut list, &places);
    memory(&mut list, &places, &kept);
    let rounds = if quick { QUICK } else { ROUNDS };
    let (tasks, texts): (Vec<Task<'_>>, Vec<(&str, String)>) =
        list.0.into_iter().map(|entry| (entry.task, (entry.unit, entry.how))).unzip();
    let values = bench::values(&bench, &tasks, rounds, watch, progress)?;
    let reading = |(value, (unit, how)): (Value, (&str, String))| {
        let quantile = Quantile::of(&value.name, unit).share();
        Reading {
            value: statistics::quantile(&value.sample.values, quantile),
            quantile,
            name: value.name,
            how,
            unit: unit.to_owned(),
            sample: value.sample,
            uncertain: value.uncertain,
            disturbed: value.disturbed,
        }
    };
    let readings: Vec<Reading> = values.into_iter().zip(texts).map(reading).collect();
    let disturbed = readings.iter().any(|reading| reading.disturbed);
    if disturbed && !watch.forced() {
        let who = watch.disturbed_by().unwrap_or_else(|| "others used the host".into());
        return Err(format!(
            "the measurement was disturbed: {who}. Nothing was written; --force keeps such values and marks \
             each \
             as disturbed"
        ));
    }
    Ok(Costs {
        schema: SCHEMA.into(),
        date,
        host: Host::here(),
        topology: places.topology.clone(),
        cpu_numbers: places.cpu_numbers.clone(),
        private_cache: places.private_cache,
        shared_cache: places.shared_cache,
        disturbed_by: disturbed.then(|| watch.disturbed_by()).flatten(),
        readings,
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
fn others<'a>(list: &mut List<'a>, places: &'a Places) {
    for (name, other) in places.others() {
        list.add(format!("futex_leg_{name}"), "ns", format!("one leg of a futex ping-pong, {name}"), {
            move |bench: &Bench<'_>| switches::futex_leg(bench, other)
        });
        for (sleep, length) in SLEEPS {
            let how = format!("FUTEX_WAKE of a thread that has slept for {sleep} on a cpu, {name}");
            list.add(format!("wake_remote_{sleep}_{name}"), "ns", how, move |bench: &Bench<'_>| {
                switches::wake_up(bench, other, length, WakeUp::Call)
            });
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
        list.add("reading_beside_sibling", "", how, move |b: &Bench<'_>| {
            memory::beside_reading(b, other, places)
        });
    }
}

/// So many cores in words.
fn cores(count: usize) -> String {
    if count == 1 { "one core".into() } else { format!("{count} cores together") }
}

/// Values of memory and caches.
fn memory<'a>(list: &mut List<'a>, places: &'a Places, kept: &'a [Kept; 2]) {
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
    let mib = places.array() >> 20;
    let [own, far] = kept;
    for count in counts {
        let how = format!("{mib} MiB for each core, read by {}", cores(count));
        list.add(format!("stream_{count}"), "bytes/s", how, move |_: &Bench<'_>| {
            own.of(&places.cores, places.array())?.rate(count, Kernel::Read, &|rank| rank)
        });
    }
    for kernel in [Kernel::Write, Kernel::Copy, Kernel::Triad] {
        for count in [1, places.cores.len()] {
            let name = format!("{}_{count}", kernel.name());
            let how = format!("{mib} MiB for each core, {} of STREAM by {}", kernel.name(), cores(count));
            if list.0.iter().all(|known| known.task.name != name) {
                list.add(name, "bytes/s", how, move |_: &Bench<'_>| {
                    own.of(&places.cores, places.array())?.rate(count, kernel, &|rank| rank)
                });
            }
        }
    }
    // Where a core of another package first wrote an array, the array is in the memory of that package.
    if let (Some(other), Some(first)) = (places.far, places.cores.first()) {
        let how = format!("{mib} MiB of another package read by one core");
        list.add("stream_far", "bytes/s", how, move |_: &Bench<'_>| {
            far.of(&[*first, other], places.array())?.rate(1, Kernel::Read, &|_| 1)
        });
    }
}
