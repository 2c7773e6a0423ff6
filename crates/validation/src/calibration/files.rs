//! The derived profiles as the catalogue's data files.

use std::fmt::Write;

use crate::calibration::Derivation;
use crate::calibration::measurements::Measurements;

/// The folder of the data files in the repository.
pub const FOLDER: &str = "crates/workloads/data";

const HEAD: &str = "# Written by `oversim calibrate --write .` from \
    crates/validation/data/measurements.yaml; do not edit.\n";

/// The data files: names within [`FOLDER`], texts.
#[must_use]
pub fn texts(d: &Derivation, data: &Measurements) -> [(&'static str, String); 3] {
    [
        ("npb_profiles.yaml", npb(d)),
        ("spec_omp_profiles.yaml", spec_omp(d)),
        ("parbench.yaml", parbench(d, data)),
    ]
}

/// The data files as the catalogue was built with.
#[must_use]
pub const fn committed() -> [(&'static str, &'static str); 3] {
    [
        ("npb_profiles.yaml", workloads::npb::PROFILES),
        ("spec_omp_profiles.yaml", workloads::spec_omp::PROFILES),
        ("parbench.yaml", workloads::parbench::DATA),
    ]
}

/// The file of the machine whose limit of all-to-all transfers is derived.
pub const MACHINE: &str = "crates/machines/data/tigerton.yaml";

/// The text of [`MACHINE`] with the derived limit; `None` when the file has no such value.
#[must_use]
pub fn machine(d: &Derivation, text: &str) -> Option<String> {
    let (before, rest) = text.split_once("  transfer_bandwidth: { value: \"")?;
    let (_, after) = rest.split_once('"')?;
    let value = format!("{}.{:02}GB/s", d.transfers / 1_000_000_000, d.transfers / 10_000_000 % 100);
    Some(format!("{before}  transfer_bandwidth: {{ value: \"{value}\"{after}"))
}

/// Whether the machine was built with the derived limit.
///
/// # Errors
/// A sentence: there is no such machine.
pub fn machine_is_current(d: &Derivation) -> Result<bool, String> {
    let built = machines::resolve(super::transfers::MACHINE)?.machine();
    Ok(built.memory.transfer_bandwidth == d.transfers)
}

/// A quantity of the data file; writing to a string does not fail.
fn datum(text: &mut String, indent: &str, name: &str, value: &str, source: &str) {
    let _ = writeln!(text, "{indent}{name}: {{ value: \"{value}\", source: \"{source}\", uncertain: true }}");
}

/// Milliseconds, exactly.
fn seconds(ns: u64) -> String {
    format!("{}ms", ns / 1_000_000)
}

fn megabytes(bytes: u64) -> String {
    format!("{}MB/s", bytes / 1_000_000)
}

/// Hundredths of a per cent.
fn percent(hundredths: u64) -> String {
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

fn npb(d: &Derivation) -> String {
    let mut text = format!(
        "{HEAD}# `serial`: work of one core of Barcelona (Opteron 8350, 2.0 GHz) without memory contention. \
            `demand`: \
            memory traffic of a\n# task alone on a core of nominal speed. `on`: values measured on \
            machines with other \
            cores and caches.\n"
    );
    for code in &d.npb {
        let _ = write!(text, "{}:\n  class: {}\n", code.code, code.class);
        datum(&mut text, "  ", "serial", &seconds(code.profile.serial.ns()), &code.serial_source);
        datum(&mut text, "  ", "demand", &megabytes(code.profile.demand), &code.demand_source);
        if let Some(there) = &code.tigerton {
            text.push_str("  on:\n    tigerton:\n");
            if let Some(source) = &there.serial_source {
                datum(&mut text, "      ", "serial", &seconds(there.profile.serial.ns()), source);
            }
            datum(&mut text, "      ", "demand", &megabytes(there.profile.demand), &there.demand_source);
        }
    }
    text
}

fn spec_omp(d: &Derivation) -> String {
    let mut text = format!(
        "{HEAD}# `serial`: work of one nominal core (Opteron 8350, 2.0 GHz) without memory contention. \
            `demand`: memory \
            traffic of a task\n# alone. `serial_share`, `per_task`: part that rank 0 does alone. Source of \
            all: Yan et \
            al., IWOMP 2010, Tables 1 and 2 (X4440).\n"
    );
    for p in &d.spec_omp {
        let [scattered, gathered, all] = p.times;
        let _ = writeln!(text, "{}:", p.program);
        let source = format!(
            "{scattered} s with 12 threads scattered, {gathered} s with 12 threads gathered, {all} s with \
                24 threads"
        );
        datum(&mut text, "  ", "serial", &seconds(p.profile.serial.ns()), &source);
        let ratio = format!("time gathered / time scattered = {:.2}{}", gathered / scattered, p.limit());
        datum(&mut text, "  ", "demand", &megabytes(p.profile.demand), &ratio);
        let growth = format!(
            "time with 24 threads / time with 12 gathered = {:.3}, at the same load of each socket",
            all / gathered
        );
        datum(&mut text, "  ", "serial_share", &percent(u64::from(p.profile.serial_share)), &growth);
        if p.profile.per_task.ns() > 0 {
            let growth =
                format!("{growth}; the program is slower with more threads, so it has a cost per thread");
            datum(&mut text, "  ", "per_task", &seconds(p.profile.per_task.ns()), &growth);
        }
    }
    text
}

fn parbench(d: &Derivation, data: &Measurements) -> String {
    let p = &d.parbench;
    let source = data.sources.get("parbench").map_or("", String::as_str);
    let mut text = format!("{HEAD}# PARbench: {source}.\n");
    let speed = format!("{}.{:03}", p.speed / 1_000, p.speed % 1_000);
    datum(&mut text, "", "core_speed", &speed, "the machine `e25k`, on whose cores the times were measured");
    datum(
        &mut text,
        "",
        "serial_share",
        &percent(p.serial_share),
        "run times of jobs with 8 threads (29.1 s alone, Table 2) and with 16, 24 and 32 threads (19.3, \
            14.1, 10.7 s on \
            a machine with free cpus, Table 3), fitted by least squares",
    );
    text.push_str("kernels:\n");
    for (name, kernel, measured) in &p.kernels {
        let _ = writeln!(
            text,
            "  {name}:\n    rates: {{ mrefs: {:.1}, flops: {:.1}, source: \"Table 1, one copy\" }}",
            kernel.mrefs, kernel.flops
        );
        let share = (u64::from(kernel.bound) * 1_000 + 32_768) / 65_536 * 10;
        let bound =
            format!("with 140 copies, a copy takes {measured} % of the cpu time of one copy alone (Table 1)");
        datum(&mut text, "    ", "bound", &percent(share), &bound);
        let demand =
            "read bandwidth of one core (1.6 GB/s) during the bound share, converted to nominal speed";
        datum(&mut text, "    ", "demand", &megabytes(kernel.demand), demand);
    }
    text
}
