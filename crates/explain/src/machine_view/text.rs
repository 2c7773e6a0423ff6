//! A machine as text: the tree with equal parts written once, memory, speeds, costs with their sources, and
//! the domains.

use std::io::{self, Write};

use super::{LevelRow, SpeedRun, ValueRow, View};

/// Largest matrix of distances that is printed.
const MAX_MATRIX: usize = 16;
/// Most runs of equal cores that are printed.
const MAX_RUNS: usize = 8;
/// Cpus on a line of Linux numbers, and most such lines.
const NUMBERS_ON_LINE: usize = 16;
const MAX_LINES_OF_NUMBERS: usize = 16;

/// The groups of values, in the order printed: heading and parameters. Values of no group are printed in the
/// last one.
const GROUPS: &[(&str, &[&str])] = &[
    ("Shape and kernel", &["topology", "kernel", "lists.cpu_numbers"]),
    (
        "Speed",
        &[
            "core_speed",
            "smt_compute",
            "smt_memory",
            "smt_poll",
            "lists.turbo",
            "lists.core_speeds",
            "governor",
            "lowest_clock",
            "clock_domain",
            "clock_rate_limit",
        ],
    ),
    (
        "Memory and caches",
        &[
            "node_bandwidth",
            "bus_bandwidth",
            "link_bandwidth",
            "crossbar_bandwidth",
            "transfer_bandwidth",
            "core_bandwidth",
            "remote_factor",
            "lists.distances",
            "private_cache",
            "shared_cache",
            "cache_exponent",
            "stretch_exponent",
            "bound_demand",
            "blocking_loads",
        ],
    ),
    ("Costs", &[]),
];
/// Switches of scenarios, no properties of the machine.
const SWITCHES: [&str; 4] = ["distances", "turbo", "slow_cores", "slow_speed"];

/// Writes a machine as text.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_text(view: &View, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}", view.name, view.summary)?;
    writeln!(out, "\nTree ({})", view.topology)?;
    writeln!(out, "  machine: {}", cpus(view.cpus, 1))?;
    for (depth, level) in view.levels.iter().enumerate() {
        write_level(level, depth, out)?;
    }
    write_numbers(view, out)?;
    write_distances(view, out)?;
    write_speeds(view, out)?;
    write_values(view, out)?;
    write_domains(view, out)
}

fn write_level(row: &LevelRow, depth: usize, out: &mut dyn Write) -> io::Result<()> {
    let indent = 4 + 2 * depth;
    let cpus = if row.uneven { format!("1 to {} cpus", row.cpus) } else { cpus(row.cpus, row.count) };
    write!(out, "{:indent$}{} x {}: {cpus}", "", row.each, row.level)?;
    if row.holds.is_empty() { writeln!(out) } else { writeln!(out, "; {}", row.holds.join(", ")) }
}

/// `4 cpus: 0-3, 4-7, ..., 12-15`
fn cpus(each: u32, count: u32) -> String {
    let range = |i: u32| {
        let first = i * each;
        if each == 1 { first.to_string() } else { format!("{first}-{}", first + each - 1) }
    };
    let shown = match count {
        1..=4 => (0..count).map(range).collect::<Vec<_>>().join(", "),
        _ => format!("{}, {}, ..., {}", range(0), range(1), range(count.saturating_sub(1))),
    };
    format!("{each} {} ({shown})", if each == 1 { "cpu" } else { "cpus" })
}

/// The Linux number of each cpu, if it is another one.
fn write_numbers(view: &View, out: &mut dyn Write) -> io::Result<()> {
    if view.cpu_numbers.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nLinux numbers of the cpus; scenarios and results use the numbers on the left")?;
    let lines: Vec<&[u32]> = view.cpu_numbers.chunks(NUMBERS_ON_LINE).collect();
    for (at, numbers) in lines.iter().enumerate().take(MAX_LINES_OF_NUMBERS) {
        let first = at * NUMBERS_ON_LINE;
        let last = first + numbers.len() - 1;
        let own = if first == last { format!("cpu {first}") } else { format!("cpus {first}-{last}") };
        writeln!(out, "  {own}: {}", notation::lists::ranges(numbers.iter().copied()))?;
    }
    if let Some(left) = lines.len().checked_sub(MAX_LINES_OF_NUMBERS).filter(|left| *left > 0) {
        writeln!(out, "  ... and {left} more lines; --format json prints all")?;
    }
    Ok(())
}

fn write_distances(view: &View, out: &mut dyn Write) -> io::Result<()> {
    if view.nodes < 2 {
        return Ok(());
    }
    writeln!(out, "\nDistances between NUMA nodes (time of an access divided by that of a local one)")?;
    match &view.distances {
        Some(rows) if rows.len() <= MAX_MATRIX => {
            let wide = rows.iter().flatten().map(String::len).max().unwrap_or(1).max(3);
            write!(out, "  from\\to")?;
            (0..rows.len()).try_for_each(|node| write!(out, " {node:>wide$}"))?;
            writeln!(out)?;
            for (node, row) in rows.iter().enumerate() {
                write!(out, "  {node:>7}")?;
                row.iter().try_for_each(|factor| write!(out, " {factor:>wide$}"))?;
                writeln!(out)?;
            }
            Ok(())
        }
        Some(rows) => writeln!(out, "  a list of {0} x {0} factors", rows.len()),
        None => {
            let value = view.values.iter().find(|row| row.name == "remote_factor");
            writeln!(out, "  {} between any two nodes", value.map_or("?", |row| row.value.as_str()))
        }
    }
}

fn write_speeds(view: &View, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nSpeeds (1 = the nominal core, Opteron 8350 at 2.0 GHz)")?;
    for SpeedRun { first_core, cores, speed } in view.core_speeds.iter().take(MAX_RUNS) {
        let last = first_core + cores - 1;
        let which =
            if *cores == 1 { format!("core {first_core}") } else { format!("cores {first_core}-{last}") };
        writeln!(out, "  {which}: {speed}")?;
    }
    if let Some(left) = view.core_speeds.len().checked_sub(MAX_RUNS).filter(|left| *left > 0) {
        writeln!(out, "  ... and {left} more changes of speed from core to core")?;
    }
    if view.values.iter().any(|row| row.name == "work_unit" && row.value == "own") {
        writeln!(out, "  work counts in seconds of the fastest core at its highest clock (work_unit: own)")?;
    }
    for (kind, row) in view.turbo.iter().enumerate() {
        let which = if view.turbo.len() > 1 {
            format!("of kind {kind} (by speed, in the order above) ")
        } else {
            String::new()
        };
        let steps = steps(row).join(", ");
        writeln!(out, "  turbo factor by number of busy cores {which}in a package: {steps}")?;
    }
    Ok(())
}

/// `1-2: 1.111`, runs of equal entries together.
fn steps(turbo: &[String]) -> Vec<String> {
    let mut steps: Vec<(usize, usize, &String)> = Vec::new();
    for (at, factor) in turbo.iter().enumerate() {
        match steps.last_mut() {
            Some((_, last, same)) if *same == factor => *last = at + 1,
            _ => steps.push((at + 1, at + 1, factor)),
        }
    }
    let shown = |(first, last, factor): (usize, usize, &String)| {
        if first == last { format!("{first}: {factor}") } else { format!("{first}-{last}: {factor}") }
    };
    steps.into_iter().map(shown).collect()
}

fn write_values(view: &View, out: &mut dyn Write) -> io::Result<()> {
    let named = |row: &ValueRow| GROUPS.iter().any(|(_, names)| names.contains(&row.name.as_str()));
    let is_switch = |row: &ValueRow| SWITCHES.contains(&row.name.as_str());
    let rest: Vec<&ValueRow> = view.values.iter().filter(|row| !named(row) && !is_switch(row)).collect();
    writeln!(
        out,
        "\nValues and their sources; `?` = uncertain, with the range of `oversim run --uncertainty`"
    )?;
    for (heading, names) in GROUPS {
        let rows: Vec<&ValueRow> = if names.is_empty() {
            rest.clone()
        } else {
            names.iter().filter_map(|name| view.values.iter().find(|row| row.name == *name)).collect()
        };
        writeln!(out, "  {heading}")?;
        for row in rows {
            let mark = if row.uncertain { '?' } else { ' ' };
            let above = row.value.is_empty() || row.name == "topology";
            let value = if above { "(above)" } else { &row.value };
            let range =
                row.range.as_ref().map_or_else(String::new, |[low, high]| format!("{low} to {high}; "));
            writeln!(out, "  {mark} {:18} {:>12}  {range}{}", row.name, value, row.source)?;
        }
    }
    Ok(())
}

fn write_domains(view: &View, out: &mut dyn Write) -> io::Result<()> {
    let own = match view.own_kernel.as_deref() {
        Some(own) if own != view.kernel => format!(" (the kernel of this machine is {own})"),
        _ => String::new(),
    };
    writeln!(out, "\nBalancing domains under {}{own}, lowest first", view.kernel)?;
    if view.domains.is_empty() {
        return writeln!(out, "  none: there is nothing to balance");
    }
    let of = |cpus: u32| if cpus == 1 { "1 cpu".to_owned() } else { format!("{cpus} cpus") };
    for d in &view.domains {
        let interval = match d.interval_ms {
            (0, _) => "no separate interval".to_owned(),
            (min, max) if min == max => format!("every {min} ms, {} times that when busy", d.busy_factor),
            (min, max) => format!("every {min} to {max} ms, {} times that when busy", d.busy_factor),
        };
        writeln!(
            out,
            "  {:8} {:>9} in {} groups of {} (power {}); {interval}; imbalance {} %",
            d.name,
            of(d.cpus),
            d.groups,
            of(d.group_cpus),
            d.power,
            d.imbalance_pct
        )?;
        if !d.flags.is_empty() {
            writeln!(out, "           {}", d.flags.join(" "))?;
        }
    }
    Ok(())
}
