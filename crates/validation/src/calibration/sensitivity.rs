//! Sensitivity to the model constants that no measurement determines: what a change of each does to runs of
//! one program.

use std::fmt::Write;

use machines::Parameters;
use notation::parameter::Values;
use workloads::{Context, spec_omp};

use crate::calibration::bench::{Bench, first, spread};

/// A constant and the range in which the inputs cannot tell its values apart.
struct Constant {
    name: &'static str,
    chosen: &'static str,
    range: [&'static str; 2],
    knob: Knob,
}

/// Where a constant is set.
#[derive(Clone, Copy)]
enum Knob {
    /// A parameter of all machines, in the unit of its kind.
    Machine(&'static str, [u64; 2]),
    /// A parameter of one machine.
    Pool([u64; 2]),
    /// A parameter of the workloads that have it.
    Workload(&'static str, [u64; 2]),
    /// The load that SPEC OMP programs are given at least.
    Floor([u64; 2]),
}

const CONSTANTS: &[Constant] = &[
    Constant {
        name: "exponent p of the contention model",
        chosen: "4",
        range: ["3", "10"],
        knob: Knob::Machine("stretch_exponent", [3, 10]),
    },
    Constant {
        name: "demand from which a task is fully memory-bound, as a share of a controller's bandwidth",
        chosen: "1/6",
        range: ["1/10", "1/5"],
        knob: Knob::Machine("bound_demand", [100, 200]),
    },
    Constant {
        name: "variation of the work between two barriers",
        chosen: "15 %",
        range: ["10 %", "20 %"],
        knob: Knob::Workload("variation", [1_000, 2_000]),
    },
    Constant {
        name: "volume of the all-to-all transfers of ft and is",
        chosen: "1 copy of the data",
        range: ["0.5", "2"],
        knob: Knob::Workload("transfer_volume", [500, 2_000]),
    },
    Constant {
        name: "length of a parallel region of SPEC OMP",
        chosen: "20 ms",
        range: ["5 ms", "80 ms"],
        knob: Knob::Workload("region", [5_000_000, 80_000_000]),
    },
    Constant {
        name: "smallest load of three SPEC OMP threads, as a share of a socket's bandwidth",
        chosen: "0.3",
        range: ["0.1", "0.45"],
        knob: Knob::Floor([1_000, 4_500]),
    },
    Constant {
        name: "bandwidth of Tigerton's memory",
        chosen: "7.2 GB/s",
        range: ["6.5 GB/s", "8 GB/s"],
        knob: Knob::Pool([6_500_000_000, 8_000_000_000]),
    },
];

/// A run whose time is watched.
struct Probe {
    name: &'static str,
    machine: &'static str,
    workload: &'static str,
    settings: &'static [(&'static str, &'static str)],
    runtime: &'static str,
}

const PROBES: &[Probe] = &[
    Probe {
        name: "cg.A, OpenMP, Barcelona",
        machine: "barcelona",
        workload: "npb",
        settings: &[("benchmark", "cg"), ("class", "A")],
        runtime: "openmp",
    },
    Probe {
        name: "ft.B, UPC, Barcelona",
        machine: "barcelona",
        workload: "npb",
        settings: &[("benchmark", "ft"), ("class", "B")],
        runtime: "upc",
    },
    Probe {
        name: "cg.A, OpenMP, Tigerton",
        machine: "tigerton",
        workload: "npb",
        settings: &[("benchmark", "cg"), ("class", "A")],
        runtime: "openmp",
    },
    Probe {
        name: "apsi, 12 scattered, X4440",
        machine: "x4440",
        workload: "spec-omp",
        settings: &[("program", "apsi"), ("scale", "5%")],
        runtime: "openmp",
    },
];

/// Seconds of a probe with a constant at one end of its range, or as chosen.
fn seconds(probe: &Probe, changed: Option<(Knob, usize)>) -> Result<f64, String> {
    let mut machine = machines::resolve(probe.machine)?;
    let entry = workloads::WORKLOADS.resolve(probe.workload)?;
    let mut values = Values::defaults(entry.parameters);
    for (name, text) in probe.settings {
        let kind =
            values.find(name).map(|p| p.kind).ok_or_else(|| format!("there is no parameter {name}"))?;
        values.set(name, notation::units::parse(kind, text)?)?;
    }
    match changed {
        Some((Knob::Machine(name, ends), end)) => machine.values.set(name, ends[end])?,
        Some((Knob::Pool(ends), end)) if probe.machine == "tigerton" => {
            machine.values.set("node_bandwidth", ends[end])?;
        }
        Some((Knob::Workload(name, ends), end)) if values.find(name).is_some() => {
            values.set(name, ends[end])?;
        }
        _ => {}
    }
    let cpus = if probe.workload == "spec-omp" { spread(4, 6, 3) } else { first(16) };
    let tasks = cpus.len() as u32;
    let bench = Bench::with(&machine)?;
    let program = match changed {
        Some((Knob::Floor(ends), end)) if probe.workload == "spec-omp" => {
            let mut profile = spec_omp::profile("apsi")?;
            let node = bench.machine().memory.node_bandwidth;
            let speed = Parameters::from(&machine.values).core_speed.thousandths();
            profile.demand = (u128::from(node) * u128::from(ends[end]) / 10 / 3 / u128::from(speed)) as u64;
            let regions = profile.serial.ns() / 12 / 20_000_000 / 20;
            spec_omp::trial("apsi", tasks, &profile, regions as u32)?.program
        }
        _ => {
            (entry.own)(&values, &Context { tasks, runtime: probe.runtime, machine: probe.machine })?.program
        }
    };
    bench.seconds(program, probe.runtime, &cpus)
}

/// The table in Markdown: change of each probe's run time, per cent, at both ends of each constant's range.
///
/// # Errors
/// A sentence: a run failed.
pub fn table() -> Result<String, String> {
    let names: Vec<&str> = PROBES.iter().map(|p| p.name).collect();
    let mut text = format!(
        "| constant | chosen | range | {} |\n|---|---|---|{}\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    let chosen = PROBES.iter().map(|p| seconds(p, None)).collect::<Result<Vec<_>, _>>()?;
    for constant in CONSTANTS {
        let mut cells = Vec::new();
        for (probe, chosen) in PROBES.iter().zip(&chosen) {
            let change =
                |end| Ok::<_, String>((seconds(probe, Some((constant.knob, end)))? / chosen - 1.0) * 100.0);
            cells.push(format!("{:+.1} / {:+.1} %", change(0)?, change(1)?));
        }
        // Writing to a string does not fail.
        let [low, high] = constant.range;
        let _ = writeln!(
            text,
            "| {} | {} | {low} to {high} | {} |",
            constant.name,
            constant.chosen,
            cells.join(" | ")
        );
    }
    Ok(text)
}
