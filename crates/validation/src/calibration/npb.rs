//! Profiles of the NAS Parallel Benchmarks: serial work and memory demand from run times and speed-ups on 16
//! cores.

use sim_core::time::{Span, Speed};
use workloads::{Profile, npb};

use crate::calibration::bench::{Bench, first};
use crate::calibration::law;
use crate::calibration::measurements::{Measurement, Measurements, Quantity, find};
use crate::calibration::residuals::Row;

/// Intervals of a run that a derivation simulates: enough to average the variation of 16 threads to well
/// below 1 %.
const INTERVALS: u32 = 800;
/// Rounds of the fixed-point iteration; each leaves about a tenth of the error of the one before.
const ROUNDS: u32 = 4;
/// The programming model of the run times, assumed for the speed-ups.
const MODEL: &str = "openmp";
const CORES: u32 = 16;

/// A derived profile of a code, with the class it is for and how it came about.
#[derive(Clone, PartialEq, Debug)]
pub struct Derived {
    /// Code.
    pub code: &'static str,
    /// Reference class.
    pub class: &'static str,
    /// The profile.
    pub profile: Profile,
    /// What Tigerton, whose cores and caches are others, was measured to make of it.
    pub tigerton: Option<There>,
    /// Where the serial work comes from.
    pub serial_source: String,
    /// Where the demand comes from.
    pub demand_source: String,
    /// The time or the demand is borrowed from another code.
    pub borrowed: bool,
}

/// A profile on a machine other than Barcelona.
#[derive(Clone, PartialEq, Debug)]
pub struct There {
    /// The profile.
    pub profile: Profile,
    /// Where its demand comes from.
    pub demand_source: String,
    /// Where its serial work comes from; none when it is that on Barcelona.
    pub serial_source: Option<String>,
}

/// Reference classes: those of the measurements; lu has none and takes the class of its sister codes.
const CODES: [(&str, &str); 8] =
    [("cg", "B"), ("mg", "C"), ("ft", "B"), ("ep", "C"), ("is", "C"), ("sp", "A"), ("bt", "A"), ("lu", "A")];

/// The machines of the measurements.
pub(crate) struct Machines {
    barcelona: Bench,
    tigerton: Bench,
}

impl Machines {
    pub(crate) fn new() -> Result<Self, String> {
        Ok(Self { barcelona: Bench::new("barcelona")?, tigerton: Bench::new("tigerton")? })
    }

    fn of(&self, name: &str) -> &Bench {
        if name == "tigerton" { &self.tigerton } else { &self.barcelona }
    }

    /// Seconds of the whole run, from its first `most` intervals.
    fn seconds(
        &self,
        machine: &str,
        (code, class): (&str, &str),
        profile: &Profile,
        tasks: u32,
        most: u32,
    ) -> Result<f64, String> {
        let trial = npb::trial((code, class, MODEL), tasks, profile, most)?;
        let cut = f64::from(trial.of) / f64::from(trial.intervals);
        Ok(self.of(machine).seconds(trial.program, MODEL, &first(tasks))? * cut)
    }

    fn speed_up(
        &self,
        machine: &str,
        code: (&str, &str),
        profile: &Profile,
        most: u32,
    ) -> Result<f64, String> {
        let one = self.seconds(machine, code, profile, 1, most.min(INTERVALS))?;
        Ok(one / self.seconds(machine, code, profile, CORES, most)?)
    }
}

/// The measured time with 16 threads that a code's serial work is derived from: machine, seconds, source.
fn measured_time(list: &[Measurement], code: &str) -> Option<(&'static str, f64, String)> {
    if let Ok(time) = find(list, code, "barcelona", Quantity::RunTime, "") {
        let source = format!("{time} s with 16 threads on Barcelona (Iancu et al., IPDPS 2010, section VI)");
        return Some(("barcelona", time, source));
    }
    tigerton_time(list, code).map(|(seconds, source)| ("tigerton", seconds, source))
}

/// The time with 16 threads that barriers and the interval between them make on Tigerton: seconds, source.
fn tigerton_time(list: &[Measurement], code: &str) -> Option<(f64, String)> {
    let interval = find(list, code, "tigerton", Quantity::Interval, "").ok()?;
    let barriers = find(list, code, "tigerton", Quantity::Barriers, "").ok()?;
    let source = format!(
        "{barriers} barriers, one every {interval} ms, with 16 threads on Tigerton (Hofmeyr et al., PPoPP \
            2010, slides; \
            the machine is inferred, and the interval has only one or two digits)"
    );
    Some((interval * barriers / 1e3, source))
}

/// Profiles of all codes.
///
/// # Errors
/// A sentence: an input is missing or a run failed.
pub fn derive(data: &Measurements) -> Result<Vec<Derived>, String> {
    let machines = Machines::new()?;
    let mut done: Vec<Derived> = Vec::new();
    for (code, class) in CODES {
        let derived = one(&machines, &data.npb, (code, class), &done)?;
        done.push(derived);
    }
    Ok(done)
}

fn one(
    machines: &Machines,
    list: &[Measurement],
    (code, class): (&'static str, &'static str),
    done: &[Derived],
) -> Result<Derived, String> {
    // bt and lu have no run time: sp's rate of operations.
    let sister = done.iter().find(|d| d.code == "sp");
    let time = measured_time(list, code);
    let speed_up = find(list, code, "barcelona", Quantity::SpeedUp16, "").ok();
    let scaled = |sister: &Derived| -> Result<u64, String> {
        let ratio = npb::operations(code, class)? * u128::from(sister.profile.serial.ns());
        Ok((ratio / npb::operations(sister.code, sister.class)?.max(1)) as u64)
    };
    let mut profile = Profile::default();
    let demand_source = if let Some(speed_up) = speed_up {
        format!("speed-up of {speed_up} on 16 cores of Barcelona (Hofmeyr et al., PPoPP 2010, slides)")
    } else {
        profile.demand = sister.map_or(0, |s| s.profile.demand);
        "no measurement: the value of sp, a solver on the same grid".to_owned()
    };
    let serial_source = match (&time, sister) {
        (Some((_, seconds, source)), _) => {
            profile.serial = span(seconds * speed_up.unwrap_or(f64::from(CORES)));
            source.clone()
        }
        (None, Some(sister)) => {
            profile.serial = Span::from_ns(scaled(sister)?);
            "no measurement: the operations of the code at the rate of sp".to_owned()
        }
        (None, None) => return Err(format!("there is no run time of {code}")),
    };
    if let Some(speed_up) = speed_up {
        let time = time.as_ref().map(|(machine, seconds, _)| (*machine, *seconds));
        fit(machines, (code, class), &mut profile, speed_up, time)?;
    }
    let borrowed = time.is_none();
    let mut derived =
        Derived { code, class, profile, tigerton: None, serial_source, demand_source, borrowed };
    tigerton(machines, list, &mut derived, time.map(|(machine, seconds, _)| (machine, seconds)))?;
    derived.profile = rounded(derived.profile);
    Ok(derived)
}

/// Demand, and work where there is a time, of a code on Tigerton by its speed-up there; nothing for codes
/// that memory does not slow. Where the time on Tigerton is the only one (`time`), the work on both machines
/// follows from it.
fn tigerton(
    machines: &Machines,
    list: &[Measurement],
    derived: &mut Derived,
    time: Option<(&str, f64)>,
) -> Result<(), String> {
    let code = (derived.code, derived.class);
    let Ok(speed_up) = find(list, code.0, "tigerton", Quantity::SpeedUp16, "") else { return Ok(()) };
    if derived.profile.demand == 0 {
        return Ok(());
    }
    let only = time.filter(|(machine, _)| *machine == "tigerton");
    let own = time.filter(|(machine, _)| *machine == "barcelona").and_then(|_| tigerton_time(list, code.0));
    let seconds = only.map(|(_, seconds)| seconds).or(own.as_ref().map(|(seconds, _)| *seconds));
    let machine = machines.tigerton.machine();
    let speed = machine.core_speed.first().map_or(1.0, |s| s.raw() as f64 / Speed::NOMINAL.raw() as f64);
    let capacity = machine.memory.node_bandwidth as f64;
    let mut there = derived.profile;
    let mut stretch = f64::from(CORES) / speed_up;
    for _ in 0..ROUNDS {
        there.demand = (law::load(stretch) * capacity / f64::from(CORES) / speed) as u64;
        if let Some(seconds) = seconds {
            let simulated = machines.seconds("tigerton", code, &there, CORES, INTERVALS)?;
            there.serial = Span::from_ns((there.serial.ns() as f64 * seconds / simulated) as u64);
        }
        stretch *= machines.speed_up("tigerton", code, &there, INTERVALS)? / speed_up;
    }
    if only.is_some() {
        derived.profile.serial = there.serial;
    }
    let demand_source =
        format!("speed-up of {speed_up} on 16 cores of Tigerton (Hofmeyr et al., PPoPP 2010, slides)");
    let serial_source = own.map(|(_, source)| source);
    derived.tigerton = Some(There { profile: rounded(there), demand_source, serial_source });
    Ok(())
}

impl Derived {
    /// The profile on a machine.
    pub(crate) fn on(&self, machine: &str) -> Profile {
        match &self.tigerton {
            Some(there) if machine == "tigerton" => there.profile,
            _ => self.profile,
        }
    }
}

/// Adjusts demand and serial work until the simulated speed-up and run time are the measured ones.
fn fit(
    machines: &Machines,
    code: (&str, &str),
    profile: &mut Profile,
    speed_up: f64,
    time: Option<(&str, f64)>,
) -> Result<(), String> {
    let node = machines.barcelona.machine().memory.node_bandwidth as f64;
    // A loss below 2 % is not memory's: ticks and start-up make it.
    let memory = speed_up < 0.98 * f64::from(CORES);
    let mut stretch = f64::from(CORES) / speed_up;
    for _ in 0..ROUNDS {
        if memory {
            profile.demand = (law::load(stretch) * node / 4.0) as u64;
        }
        if let Some((machine, seconds)) = time {
            let simulated = machines.seconds(machine, code, profile, CORES, INTERVALS)?;
            profile.serial = Span::from_ns((profile.serial.ns() as f64 * seconds / simulated) as u64);
        }
        if memory {
            stretch *= machines.speed_up("barcelona", code, profile, INTERVALS)? / speed_up;
        }
    }
    Ok(())
}

fn span(seconds: f64) -> Span {
    Span::from_ns((seconds * 1e9) as u64)
}

/// To hundredths of a second and ten thousand kB/s: what the data files hold.
fn rounded(profile: Profile) -> Profile {
    let to = |n: u64, step: u64| (n + step / 2) / step * step;
    Profile {
        serial: Span::from_ns(to(profile.serial.ns(), 10_000_000)),
        demand: to(profile.demand, 10_000_000),
        ..profile
    }
}

/// Every measurement against the complete simulated run.
///
/// # Errors
/// A sentence: a run failed.
pub fn residuals(data: &Measurements, derived: &[Derived]) -> Result<Vec<Row>, String> {
    let machines = Machines::new()?;
    let mut rows = Vec::new();
    for d in derived.iter().filter(|d| !d.borrowed || d.code == "bt") {
        let code = (d.code, d.class);
        let name = format!("{}.{}", d.code, d.class);
        if let Some((machine, seconds, _)) = measured_time(&data.npb, d.code) {
            let simulated = machines.seconds(machine, code, &d.on(machine), CORES, u32::MAX)?;
            rows.push(Row::new(&name, machine, "run time, 16 threads, s", seconds, simulated, true));
            if machine == "barcelona"
                && let Some((measured, _)) = tigerton_time(&data.npb, d.code)
            {
                let simulated = machines.seconds("tigerton", code, &d.on("tigerton"), CORES, u32::MAX)?;
                let input = d.tigerton.is_some();
                rows.push(Row::new(&name, "tigerton", "run time, 16 threads, s", measured, simulated, input));
            }
        }
        for machine in ["barcelona", "tigerton"] {
            let measured = find(&data.npb, d.code, machine, Quantity::SpeedUp16, "")?;
            let simulated = machines.speed_up(machine, code, &d.on(machine), u32::MAX)?;
            let fitted = machine == "barcelona" || d.tigerton.is_some();
            rows.push(Row::new(&name, machine, "speed-up, 16 cores", measured, simulated, fitted));
        }
    }
    Ok(rows)
}
