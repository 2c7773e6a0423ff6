//! A machine file of measured costs, and its comparison with another one.

use std::fmt::Write as _;

use machines::{DISTURBED, Entry, Parameters, contention, parse_topology};
use notation::diagnostics::Sources;
use notation::parameter::Kind;
use sim_core::machine::Level;

use super::{Costs, Reading};
use crate::memory::Bandwidth;

/// A value has changed if it differs by more than this share.
const CHANGED: f64 = 0.25;
/// Nanoseconds below which a cost has not changed.
const SMALL: f64 = 50.0;
/// Cycles of one iteration of the counted loop on the nominal core (K10: shift, exclusive or, 64-bit
/// multiplication of 4 cycles) and its clock: iterations per nanosecond.
const NOMINAL: f64 = 2.0 / 6.0;
/// Longest time to leave an idle state that is believed: the deepest states of servers take a third of a
/// millisecond (`latency` of the C-states in sysfs), a virtual machine adds to it.
const MOST_IDLE: f64 = 1e6;
/// Cores that are slowed down less by each other do not show the bandwidth of a controller: half of the error
/// of a probe that is within 5 % moves it by a fifth and more.
const KNEE: f64 = 1.05;
/// Nanoseconds of an inter-processor interrupt, a part of the measured latency that is not known alone.
const IPI: f64 = 1_000.0;

/// A parameter of a machine file that follows from measured values.
#[derive(Clone, PartialEq, Debug)]
pub struct Derived {
    /// Its name.
    pub parameter: &'static str,
    /// Its value: nanoseconds, bytes, bytes per second or a factor.
    pub value: f64,
    /// How it follows.
    pub source: String,
    /// True for estimates, and where a measurement was disturbed.
    pub uncertain: bool,
    /// Others used the host while it was measured.
    pub disturbed: bool,
    /// The smallest and the largest value that are likely, of a disturbed one.
    pub range: Option<(f64, f64)>,
    /// Why no machine can have this value: the default stays.
    pub impossible: Option<String>,
}

/// A cost or rate this many times smaller or larger than that of a present-day server has another cause than
/// the host: the machines of twenty years in the registry differ from it by less.
const IMPOSSIBLE: f64 = 20.0;

/// Why a measured value is no property of a machine.
fn impossible(parameter: &str, value: f64) -> Option<String> {
    let known = Parameters::TABLE.iter().find(|known| known.name == parameter)?;
    if !matches!(known.kind, Kind::Duration | Kind::Rate) || known.default == 0 {
        return None;
    }
    let usual = known.default as f64;
    let shown = |value| written(parameter, value);
    if value.round() <= 0.0 {
        return Some("is no cost of any machine".into());
    }
    let times = value / usual;
    let usual_range = 1.0 / IMPOSSIBLE..=IMPOSSIBLE;
    (!usual_range.contains(&times)).then(|| {
        let (factor, word) = if times > 1.0 { (times, "times") } else { (1.0 / times, "times smaller than") };
        format!("is {factor:.0} {word} that of a present-day server ({})", shown(usual))
    })
}

/// The interval that contains the value of the host although others disturbed it: from the least that was
/// measured to the value, and the default.
fn range(parameter: &str, value: f64, least: f64) -> Option<(f64, f64)> {
    let known = Parameters::TABLE.iter().find(|known| known.name == parameter)?;
    let factor = if matches!(known.kind, Kind::Factor) { 1_000.0 } else { 1.0 };
    let usual = known.default as f64 / factor;
    let ends = [value, least, usual];
    let low = ends.iter().copied().fold(f64::INFINITY, f64::min).max(known.min as f64 / factor);
    let high = ends.iter().copied().fold(0.0, f64::max).min(known.max as f64 / factor);
    (low < high).then_some((low, high))
}

/// All parameters that follow from the measured values.
#[must_use]
pub fn derived(costs: &Costs) -> Vec<Derived> {
    let mut list = Derivation { costs, all: Vec::new() };
    list.switches();
    list.distances();
    list.memory();
    list.all
}

struct Derivation<'a> {
    costs: &'a Costs,
    all: Vec<Derived>,
}

impl Derivation<'_> {
    /// A parameter from the medians of measured values: none if one of them is missing.
    fn from(
        &mut self,
        parameter: &'static str,
        names: &[&str],
        estimate: bool,
        value: impl Fn(&[f64]) -> f64,
    ) {
        let readings: Option<Vec<_>> = names.iter().map(|name| self.costs.find(name)).collect();
        let Some(readings) = readings else { return };
        let values: Vec<f64> = readings.iter().map(|reading| reading.value).collect();
        let least: Vec<f64> = readings.iter().map(|reading| reading.sample.min).collect();
        let part = |r: &&Reading| format!("{} = {}{}", r.how, shown(r.value, &r.unit), levels(r));
        let parts: Vec<String> = readings.iter().map(part).collect();
        let disturbed = readings.iter().any(|reading| reading.disturbed);
        let mut quantiles: Vec<&str> = readings.iter().map(|reading| quantile(reading.quantile)).collect();
        quantiles.dedup();
        let count = readings.iter().map(|reading| reading.sample.values.len()).min().unwrap_or(0);
        let day = self.costs.date.get(..10).unwrap_or_default();
        let from = if estimate { "derived from measurements" } else { "measured" };
        let from = if disturbed { format!("{DISTURBED} by others: {from}") } else { from.to_owned() };
        let result = value(&values).max(0.0);
        self.all.push(Derived {
            parameter,
            value: result,
            source: format!("{from} on {day}, {} of {count}: {}", quantiles.join(" and "), parts.join("; ")),
            uncertain: estimate || readings.iter().any(|reading| reading.uncertain),
            disturbed,
            range: disturbed.then(|| range(parameter, result, value(&least).max(0.0))).flatten(),
            impossible: impossible(parameter, result),
        });
    }

    fn switches(&mut self) {
        // Differences of quantiles of one kind: what others add to both cancels.
        self.from("core_speed", &["speed"], true, |v| v[0] / NOMINAL);
        self.from("switch_thread", &["yield_switch_thread", "yield"], false, |v| v[0] - v[1]);
        self.from("switch_process", &["yield_switch_process", "yield"], false, |v| v[0] - v[1]);
        self.from("poll", &["poll"], false, |v| v[0]);
        self.from("yield_call", &["yield"], false, |v| v[0]);
        self.from("wake", &["wake_call_same"], false, |v| v[0]);
        let barrier = ["barrier_same", "wake_call_same", "barrier_switches", "yield_switch_thread", "yield"];
        self.from("sleep", &barrier, true, |v| v[0] - v[1] - v[2] * (v[3] - v[4]));
        self.from("fork", &["fork"], false, |v| v[0]);
        let Some(nearest) = nearest(self.costs) else { return };
        let (latency, remote) =
            (format!("wake_latency_20us_{nearest}"), format!("wake_remote_20us_{nearest}"));
        if Parameters::TABLE.iter().any(|parameter| parameter.name == "wake_remote") {
            self.from("wake_remote", &[&remote], false, |v| v[0]);
        }
        self.from("idle_exit", &[&latency, "wake_call_same"], true, |v| v[0] - v[1] - IPI);
        let moved = format!("migration_{nearest}");
        self.from("migration", &[&moved, &latency], true, |v| v[0] - v[1]);
    }

    /// The largest number of cores that read together.
    fn most_cores(&self) -> Option<u32> {
        let counts = self.costs.readings.iter();
        counts.filter_map(|reading| reading.name.strip_prefix("stream_")?.parse().ok()).max()
    }

    fn distances(&mut self) {
        let one_group = !self.costs.topology.contains("cache:");
        for (parameter, distance) in [
            ("line_core", "sibling"),
            // Without groups of caches in its tree, cores of a package are near.
            (if one_group { "line_near" } else { "line_cache" }, "cache"),
            ("line_near", "near"),
            ("line_far", "far"),
        ] {
            if self.all.iter().all(|known| known.parameter != parameter) {
                self.from(parameter, &[&format!("line_{distance}")], false, |v| v[0].max(1.0));
            }
        }
        self.from("smt_compute", &["beside_sibling"], false, |v| v[0].min(1.0));
        self.from("smt_memory", &["reading_beside_sibling"], false, |v| v[0].min(1.0));
    }

    fn memory(&mut self) {
        if let Some(cores) = self.most_cores() {
            let nodes =
                parse_topology(&self.costs.topology).map_or(1, |shape| shape.count(Level::Node).max(1));
            let exponent = u32::try_from(Parameters::stretch_exponent.default).unwrap_or(4);
            let read = |v: &[f64]| Bandwidth { alone: v[0], together: *v.last().unwrap_or(&v[0]), cores };
            // What a core asks for without the slowdown by its own load.
            let asked =
                |v: &[f64]| v[0] * contention::slowdown(read(v).load(exponent, nodes), exponent.into());
            let names = ["stream_1", &format!("stream_{cores}")];
            let values: Option<Vec<f64>> = names.iter().map(|name| self.costs.value(name)).collect();
            // Cores that hardly slow each other down give a lower limit only.
            let estimate = values.is_none_or(|v| read(&v).slowdown() < KNEE);
            self.from("core_bandwidth", if cores > 1 { &names } else { &names[..1] }, false, asked);
            self.from("node_bandwidth", &names, estimate, |v| asked(v) / read(v).load(exponent, nodes));
        }
        self.from("remote_factor", &["stream_1", "stream_far"], false, |v| (v[0] / v[1]).max(1.0));
        let caches = [("private_cache", self.costs.private_cache), ("shared_cache", self.costs.shared_cache)];
        for (parameter, size) in caches.into_iter().filter(|(_, size)| *size > 0) {
            let virtual_share = parameter == "shared_cache" && self.costs.host.virtual_machine;
            self.all.push(Derived {
                parameter,
                value: size as f64,
                source: "sysfs, cache/index*/size".into(),
                uncertain: virtual_share,
                disturbed: false,
                range: None,
                impossible: None,
            });
        }
    }
}

/// The two levels of a bandwidth, in words; empty for one that has none.
fn levels(reading: &Reading) -> String {
    let [low, high] = &reading.sample.modes[..] else { return String::new() };
    if reading.unit != "bytes/s" {
        return String::new();
    }
    let rounds = low.count + high.count;
    format!(
        " (two levels: {} in {} of {rounds} rounds, {} in the others; others share this memory or cache)",
        shown(low.median, &reading.unit),
        low.count,
        shown(high.median, &reading.unit)
    )
}

/// A quantile in words.
fn quantile(share: f64) -> &'static str {
    match share {
        share if share < 0.2 => "lowest decile",
        share if share > 0.8 => "highest decile",
        _ => "median",
    }
}

/// The distance to the nearest other core.
fn nearest(costs: &Costs) -> Option<&'static str> {
    let distances = ["cache", "near", "far", "sibling"];
    distances.into_iter().find(|name| costs.find(&format!("futex_leg_{name}")).is_some())
}

/// A measured value with its unit.
#[must_use]
pub fn shown(value: f64, unit: &str) -> String {
    match unit {
        "ns" => crate::text::time(value),
        "bytes/s" => format!("{:.1} GB/s", value / 1e9),
        "" => format!("{value:.3}"),
        unit => format!("{value:.3} {unit}"),
    }
}

/// A value as machine files write it.
fn written(parameter: &str, value: f64) -> String {
    let kind = Parameters::TABLE.iter().find(|known| known.name == parameter).map(|known| known.kind);
    match kind {
        Some(Kind::Duration) => format!("{}ns", value.round().max(0.0)),
        Some(Kind::Size) => format!("{}B", value.round().max(0.0)),
        Some(Kind::Rate) => format!("{}MB/s", (value / 1e6).round().max(1.0)),
        _ => format!("{:.3}", value.max(0.001)),
    }
}

/// The machine file.
#[must_use]
pub fn text(costs: &Costs, name: &str) -> String {
    let host = &costs.host;
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let virtual_machine = if host.virtual_machine { ", virtual machine" } else { "" };
    let summary = format!("{}{virtual_machine}, {} cpus, Linux {}", host.processor, host.cpus, host.release);
    let mut text = format!(
        "# Measured by `oversim calibrate host` at {}. `uncertain: true` marks estimates and values that\n\
         # other programs disturbed. Values that are not listed are those of a present-day server.\n\
         {}name: {name}\nsummary: {}\n\
         kernel: {{ value: linux-6.18, source: {} }}\n\
         topology: {{ value: {}, source: \"sysfs\" }}\nvalues:\n",
        costs.date,
        busy(costs),
        quoted(&summary),
        quoted(&format!("Linux {} runs on this machine; {}", host.release, kernel(costs))),
        quoted(&costs.topology),
    );
    for value in derived(costs) {
        let mut uncertain = if value.uncertain { ", uncertain: true".to_owned() } else { String::new() };
        if let Some((low, high)) = value.range.filter(|_| value.uncertain) {
            let end = |end| quoted(&written(value.parameter, end));
            let _ = write!(uncertain, ", range: [{}, {}]", end(low), end(high));
        }
        let written = quoted(&written(value.parameter, value.value));
        if let Some(why) = &value.impossible {
            let _ = writeln!(text, "  # {} keeps its default: the measured {written} {why}", value.parameter);
            continue;
        }
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "  {}: {{ value: {written}, source: {}{uncertain} }}",
            value.parameter,
            quoted(&value.source)
        );
    }
    text.push_str(
        "  # A scenario with `grain: 100us` computes for 100 us on this machine, not on the nominal core.\n  \
         work_unit: { value: own, source: \"a setting of the simulator\" }\n",
    );
    if !costs.topology.contains("pu:") {
        for parameter in ["smt_compute", "smt_memory", "smt_poll"] {
            let _ = writeln!(text, "  {parameter}: {{ value: \"1\", source: \"one thread per core\" }}");
        }
    }
    let lists = [idle_exits(costs), wake_remotes(costs), cpu_numbers(costs)].concat();
    match lists.lines().any(|line| !line.trim_start().starts_with('#')) {
        true => format!("{text}lists:\n{lists}"),
        false => text + &lists,
    }
}

/// The Linux numbers of the cpus, where they differ.
fn cpu_numbers(costs: &Costs) -> String {
    if costs.cpu_numbers.is_empty() {
        return String::new();
    }
    let numbers = notation::lists::ranges(costs.cpu_numbers.iter().copied());
    format!("  cpu_numbers: {{ value: \"{numbers}\", source: \"sysfs\" }}\n")
}

/// Who disturbed the measurement, as a comment.
fn busy(costs: &Costs) -> String {
    let Some(who) = &costs.disturbed_by else { return String::new() };
    let who = notation::neutral::line(who);
    format!("# Measured with --force on a busy host: {who}.\n")
}

/// The list of idle-exit times by idle time, where several were measured.
fn idle_exits(costs: &Costs) -> String {
    let wake = costs.value("wake_call_same").unwrap_or(0.0);
    let from = format!(
        "from FUTEX_WAKE to the sleeper after each idle time, minus the wake-up and {} us for the interrupt",
        IPI / 1e3
    );
    by_idle_time(costs, ("idle_exit", "wake_latency"), &from, |latency| latency - wake - IPI)
}

/// The list of the costs of wakers by idle time of the other cpu, likewise.
fn wake_remotes(costs: &Costs) -> String {
    let from = "FUTEX_WAKE of a thread on a cpu after each idle time";
    by_idle_time(costs, ("wake_remote", "wake_remote"), from, |call| call)
}

/// A list of costs by idle time, from the readings whose names begin like this.
fn by_idle_time(costs: &Costs, (list, name): (&str, &str), from: &str, value: impl Fn(f64) -> f64) -> String {
    let Some(nearest) = nearest(costs) else { return String::new() };
    let mut rows: Vec<String> = Vec::new();
    let mut longest = 0.0_f64;
    for (idle, _) in super::SLEEPS {
        if let Some(reading) = costs.value(&format!("{name}_{idle}_{nearest}")) {
            let cost = value(reading).max(0.0).round();
            longest = longest.max(cost);
            rows.push(format!("[{idle}, {cost}ns]"));
        }
    }
    if rows.len() < 2 {
        return String::new();
    }
    // A list has no range that `--uncertainty` could draw from.
    let disturbed =
        costs.readings.iter().any(|reading| reading.disturbed && reading.name.starts_with("wake_"));
    let rows = rows.join(", ");
    if disturbed || longest > MOST_IDLE {
        let why = if disturbed {
            "others disturbed its times"
        } else {
            "a time is longer than those of processors"
        };
        return format!("  # {list} has no list, because {why}: {rows}\n");
    }
    let day = costs.date.get(..10).unwrap_or_default();
    format!(
        "  {list}: {{ value: [{rows}], source: \"derived from measurements on {day}: {from}\", \
         uncertain: true }}\n"
    )
}

/// Reads a machine file; `name` is its name in messages.
///
/// # Errors
/// All that is wrong with it, rendered with file, line and column.
pub fn read(name: &str, text: &str) -> Result<Entry, String> {
    let sources = Sources::new(name, text);
    scenario::machine_files::entry(0, text).map_err(|problems| sources.render(&problems))
}

/// Tick and slice as measured, beside what the model of the kernel assumes.
#[must_use]
pub fn kernel(costs: &Costs) -> String {
    let time = |name| costs.value(name).map_or_else(|| "unknown".into(), crate::text::time);
    format!(
        "two computing threads on one cpu run for {} each, a yield beside one takes {}",
        time("run_length"),
        time("base_slice")
    )
}

/// A machine file beside new measurements.
pub struct Comparison {
    /// How many values were compared: those that no other program disturbed, without estimates.
    pub compared: usize,
    /// What differs, a sentence each.
    pub changed: Vec<String>,
}

/// The parameters of a machine that differ from the measured ones, as sentences.
#[must_use]
pub fn changed(costs: &Costs, entry: &Entry) -> Comparison {
    let (mut compared, mut changed) = (0, Vec::new());
    for value in derived(costs) {
        let kind = Parameters::TABLE.iter().find(|known| known.name == value.parameter).map(|p| p.kind);
        let Some(old) = entry.values.number(value.parameter) else { continue };
        let factor = if matches!(kind, Some(Kind::Factor)) { 1_000.0 } else { 1.0 };
        let old = old as f64 / factor;
        if value.uncertain || value.impossible.is_some() {
            continue;
        }
        compared += 1;
        let small = matches!(kind, Some(Kind::Duration)) && (value.value - old).abs() <= SMALL;
        if small || (value.value / old.max(1e-9) - 1.0).abs() <= CHANGED {
            continue;
        }
        changed.push(format!(
            "{}: {} in the file, {} now ({})",
            value.parameter,
            written(value.parameter, old),
            written(value.parameter, value.value),
            value.source
        ));
    }
    if entry.topology_text != costs.topology {
        changed.push(format!("topology: {} in the file, {} now", entry.topology_text, costs.topology));
    }
    Comparison { compared, changed }
}

/// The measured values as a table, and the parameters that follow.
#[must_use]
pub fn report(costs: &Costs) -> String {
    let host = &costs.host;
    let mut text =
        format!("{} ({}), Linux {}, {}\n\n", costs.topology, host.processor, host.release, costs.date);
    let mut row = |name: &str, value: &str, spread: &str, how: &str| {
        let _ = writeln!(text, "{name:<26} {value:>14}  {spread:<26} {how}");
    };
    row("value", "", "quartiles", "");
    for reading in &costs.readings {
        let show = |value| shown(value, &reading.unit);
        let sample = &reading.sample;
        let mark = match (reading.disturbed, reading.uncertain) {
            (true, _) => " (disturbed)",
            (_, true) => " (uncertain)",
            _ => "",
        };
        let how = format!("{}, {}{mark}{}", reading.how, quantile(reading.quantile), levels(reading));
        let spread = format!("{} - {}", show(sample.q1), show(sample.q3));
        row(&reading.name, &show(reading.value), &spread, &how);
    }
    text.push_str("\nParameters of a machine file\n");
    for value in derived(costs) {
        let mark = match &value.impossible {
            Some(why) => format!("  keeps its default: the measured value {why}"),
            None if value.disturbed => "  disturbed".to_owned(),
            None if value.uncertain => "  uncertain".to_owned(),
            None => String::new(),
        };
        let _ =
            writeln!(text, "  {:<16} {:>12}{mark}", value.parameter, written(value.parameter, value.value));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::{Reading, SCHEMA};
    use crate::facts::Host;
    use crate::statistics::Sample;

    fn costs() -> Costs {
        let values: &[(&str, &str, f64)] = &[
            ("run_length", "ns", 4e6),
            ("base_slice", "ns", 1.4e6),
            ("yield", "ns", 300.0),
            ("yield_switch_thread", "ns", 1_100.0),
            ("yield_switch_process", "ns", 1_300.0),
            ("barrier_same", "ns", 2_900.0),
            ("barrier_switches", "", 1.75),
            ("wake_call_same", "ns", 700.0),
            ("poll", "ns", 40.0),
            ("fork", "ns", 20_000.0),
            ("speed", "iterations/ns", 0.5),
            ("futex_leg_cache", "ns", 5_000.0),
            ("wake_remote_6us_cache", "ns", 900.0),
            ("wake_remote_20us_cache", "ns", 2_000.0),
            ("wake_latency_20us_cache", "ns", 8_000.0),
            ("wake_latency_200us_cache", "ns", 7_000.0),
            ("wake_latency_2ms_cache", "ns", 35_000.0),
            ("line_cache", "ns", 55.0),
            ("migration_cache", "ns", 11_000.0),
            ("stream_1", "bytes/s", 12e9),
            ("stream_2", "bytes/s", 23e9),
        ];
        let reading = |(name, unit, value): &(&str, &str, f64)| Reading {
            name: (*name).to_owned(),
            how: "a \"test\"".into(),
            unit: (*unit).to_owned(),
            sample: Sample::of(vec![*value; 9]).unwrap(),
            value: *value,
            quantile: 0.1,
            uncertain: false,
            disturbed: false,
        };
        Costs {
            schema: SCHEMA.into(),
            date: "2026-11-23T04:00:00Z".into(),
            host: Host { cpus: 2, release: "6.18.44".into(), ..Host::unknown() },
            topology: "package:1 core:2".into(),
            cpu_numbers: vec![0, 2],
            private_cache: 1 << 20,
            shared_cache: 32 << 20,
            readings: values.iter().map(reading).collect(),
            disturbed_by: None,
        }
    }

    #[test]
    fn disturbed_values_carry_a_word_and_a_range_and_impossible_ones_are_left_out() {
        let mut busy = costs();
        busy.disturbed_by = Some("others use 1.90 of 2 cpus (make 95 % of a cpu)".into());
        for reading in &mut busy.readings {
            (reading.disturbed, reading.uncertain) = (true, true);
            if reading.name == "yield" {
                reading.value = 70_000.0;
            }
        }
        let text = text(&busy, "mine");
        assert!(
            text.contains("# Measured with --force on a busy host: others use 1.90 of 2 cpus (make 95 %")
        );
        assert!(
            text.contains("  # yield_call keeps its default: the measured \"70000ns\" is 191 times"),
            "{text}"
        );
        // A switch that costs less than nothing.
        assert!(
            text.contains("  # switch_thread keeps its default: the measured \"0ns\" is no cost"),
            "{text}"
        );
        let entry = read("mine.yaml", &text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        assert_eq!(entry.values.number("yield_call"), Some(367));
        let note = entry.notes.iter().find(|note| note.parameter == "poll").unwrap();
        assert!(
            note.uncertain && note.disturbed() && note.source.contains("disturbed by others"),
            "{note:?}"
        );
        assert_eq!(note.range, Some((40, 90)), "measured and usual");
        assert!(report(&busy).contains("(disturbed)"));
        assert!(entry.lists.idle_exit.is_empty() && text.contains("# idle_exit has no list, because others"));
    }

    #[test]
    fn the_file_is_a_machine_file_with_the_measured_costs() {
        let text = text(&costs(), "mine");
        let entry = read("mine.yaml", &text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        assert!(read("mine.yaml", "name: x\n").unwrap_err().contains("mine.yaml"));
        let number = |name| entry.values.number(name).unwrap();
        assert_eq!((number("switch_thread"), number("switch_process")), (800, 1_000));
        assert_eq!((number("sleep"), number("idle_exit"), number("migration")), (800, 6_300, 3_000));
        assert_eq!(number("wake_remote"), 2_000);
        assert_eq!(entry.lists.idle_exit, [(20_000, 6_300), (200_000, 5_300), (2_000_000, 33_300)]);
        assert_eq!(entry.lists.wake_remote, [(6_000, 900), (20_000, 2_000)]);
        assert_eq!(entry.lists.cpu_numbers, [0, 2]);
        assert_eq!((number("line_near"), number("core_bandwidth")), (55, 12_037_000_000));
        assert_eq!((number("core_speed"), number("private_cache")), (1_500, 1 << 20));
        // A second of work is a second on this machine.
        let machine = entry.machine();
        assert_eq!(machine.core_speed[0], sim_core::time::Speed::NOMINAL);
        assert_eq!(entry.kernel.as_deref(), Some("linux-6.18"));
        let uncertain = |name: &str| entry.notes.iter().any(|note| note.parameter == name && note.uncertain);
        assert!(uncertain("sleep") && uncertain("core_speed") && !uncertain("switch_thread"));
        // Two cores at almost full rate: by the law a load of 0.335 for one.
        assert_eq!((number("node_bandwidth") / 100_000_000, uncertain("node_bandwidth")), (359, true));
    }

    #[test]
    fn a_slowdown_gives_the_bandwidth_of_each_node_and_two_levels_are_said() {
        let mut costs = costs();
        costs.topology = "package:2 numa:1 core:4".into();
        costs.cpu_numbers.clear();
        let mut add = |name: &str, values: &[f64]| {
            let sample = Sample::of(values.to_vec()).unwrap();
            let value = sample.median;
            let like = costs.readings[costs.readings.len() - 1].clone();
            costs.readings.push(Reading { name: name.into(), sample, value, ..like });
        };
        // Four cores of each node slow each other down 1.5 times: as the law has to give back.
        add("stream_8", &[8.0 * 12e9 / 1.5; 9]);
        add("stream_far", &[6e9, 6.1e9, 6.0e9, 8e9, 8.1e9, 8e9, 8e9]);
        let text = text(&costs, "mine");
        let entry = read("mine.yaml", &text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        let number = |name| entry.values.number(name).unwrap();
        let (core, node) = (number("core_bandwidth") as f64, number("node_bandwidth") as f64);
        let slowdown = |cores: f64| contention::slowdown(cores * core / node, 4.0);
        let together = 4.0 * core / slowdown(4.0);
        assert!((core / slowdown(1.0) / 12e9 - 1.0).abs() < 0.001, "alone");
        assert!((together / (4.0 * 12e9 / 1.5) - 1.0).abs() < 0.001, "together");
        assert_eq!(number("remote_factor"), 1_500);
        assert!(text.contains("two levels: 6.0 GB/s in 3 of 7 rounds, 8.0 GB/s in the others"), "{text}");
    }

    #[test]
    fn only_what_has_changed_is_reported() {
        let entry = read("mine.yaml", &text(&costs(), "mine")).unwrap();
        let same = changed(&costs(), &entry);
        assert!(same.changed.is_empty() && same.compared > 5, "{} compared", same.compared);
        let mut disturbed = costs();
        disturbed.readings.iter_mut().for_each(|reading| reading.uncertain = true);
        assert!(changed(&disturbed, &entry).compared <= 2);
        let mut other = costs();
        for reading in &mut other.readings {
            if matches!(reading.name.as_str(), "yield_switch_thread" | "barrier_same") {
                reading.value += 900.0 * if reading.name == "barrier_same" { 1.75 } else { 1.0 };
            }
        }
        let changed = changed(&other, &entry).changed;
        assert!(changed.len() == 1 && changed[0].starts_with("switch_thread: 800ns in the file, 1700ns now"));
    }
}
