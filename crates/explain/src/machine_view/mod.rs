//! A machine for display: its tree, caches, memory, speeds and costs with their sources, and the hierarchy of
//! cpu groups that a kernel balances on it.

mod text;

use std::io::{self, Write};
use std::path::Path;

use machines::{Entry, Note, Parameters};
use notation::diagnostics::Sources;
use notation::parameter::{Parameter, Values};
use serde::Serialize;
use sim_core::machine::{Level, Machine};

use scenario::machine_files::Refused;
use scenario::{default_kernel, machine_files};

pub use text::write_text;

/// Why there is nothing to show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// A sentence.
    Sentence(String),
    /// Diagnostics with place and source line, rendered.
    Rendered(String),
}

/// A machine under a kernel. Factors and speeds are plain numbers in text (`1.3`), as in a machine file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct View {
    /// Its name.
    pub name: String,
    /// One line.
    pub summary: String,
    /// Its shape as a synthetic description.
    pub topology: String,
    /// Cpus (hardware threads).
    pub cpus: u32,
    /// Cores.
    pub cores: u32,
    /// Packages (sockets).
    pub packages: u32,
    /// NUMA nodes.
    pub nodes: u32,
    /// The tree, outermost level first; the machine is uniform, so each level is described once.
    pub levels: Vec<LevelRow>,
    /// Factor on the time of an access from each node (row) to each (column); `None` where the list is
    /// absent: then `remote_factor` holds between any two nodes.
    pub distances: Option<Vec<Vec<String>>>,
    /// Factor on the clock of a package by its busy cores: the first for one; a row for all cores, or one for
    /// each kind of core; empty = 1 always.
    pub turbo: Vec<Vec<String>>,
    /// Speed of each core against the nominal one, by runs of equal cores.
    pub core_speeds: Vec<SpeedRun>,
    /// Number of each cpu under Linux, in the order of the simulator's cpus; empty: they are the same.
    pub cpu_numbers: Vec<u32>,
    /// All values with their sources.
    pub values: Vec<ValueRow>,
    /// The kernel shown.
    pub kernel: String,
    /// The kernel that the machine ran in the literature or runs today.
    pub own_kernel: Option<String>,
    /// The groups that the kernel balances, lowest level first.
    pub domains: Vec<DomainRow>,
}

/// A level of the tree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LevelRow {
    /// `package`, `node`, `cache group`, `core` or `thread`.
    pub level: String,
    /// Instances within one of the level above.
    pub each: u32,
    /// Instances in the machine.
    pub count: u32,
    /// Cpus of one instance, of the largest where they differ; they are numbered consecutively.
    pub cpus: u32,
    /// Instances differ in size.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub uneven: bool,
    /// What belongs to one instance: caches, controllers, buses.
    pub holds: Vec<String>,
}

/// Neighbouring cores of one speed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SpeedRun {
    /// The first of them.
    pub first_core: u32,
    /// How many.
    pub cores: u32,
    /// Their speed against the nominal core.
    pub speed: String,
}

/// A value with its source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ValueRow {
    /// The parameter, `topology`, `kernel`, or `lists.` and the name of a list.
    pub name: String,
    /// As written in a machine file; empty for a list.
    pub value: String,
    /// Paper, data sheet or measurement.
    pub source: String,
    /// No measurement of this very machine.
    pub uncertain: bool,
    /// The smallest and the largest value that `oversim run --uncertainty` draws; none where it draws none.
    pub range: Option<[String; 2]>,
}

/// A level of the balancer's hierarchy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DomainRow {
    /// The kernel's name of the level.
    pub name: String,
    /// Cpus of one domain.
    pub cpus: u32,
    /// Groups of one domain.
    pub groups: u32,
    /// Cpus of one group.
    pub group_cpus: u32,
    /// Power of a group; 1,024 = one task at full speed.
    pub power: u64,
    /// Shortest and longest interval of periodic balancing, in milliseconds; 0: the level has no separate
    /// interval.
    pub interval_ms: (u64, u64),
    /// Factor on the interval of a busy cpu.
    pub busy_factor: u64,
    /// Load of the busiest group over the local one, per cent, up to which nothing is moved.
    pub imbalance_pct: u64,
    /// What the balancer does at this level, in the kernel's words.
    pub flags: Vec<String>,
}

/// The machine of a name, a file's path or a synthetic description, under a kernel (`None`: its own, if that
/// is built in).
///
/// # Errors
/// What is wrong with the name, the file or the description.
pub fn show(machine: &str, kernel: Option<&str>) -> Result<View, Refusal> {
    let entry = find(machine)?;
    let name = kernel.unwrap_or_else(|| default_kernel(entry.kernel.as_deref()));
    let kernel = kernels::KERNELS.resolve(name).map_err(Refusal::Sentence)?;
    Ok(view(&entry, kernel))
}

/// The entry of a name, a file's path or a synthetic description.
pub(crate) fn find(machine: &str) -> Result<Entry, Refusal> {
    if !machine_files::is_file(machine) {
        return machines::resolve(machine).map_err(Refusal::Sentence);
    }
    let text = machine_files::text_of(Path::new(machine)).map_err(|refused| match refused {
        Refused::Absent(why) => Refusal::Sentence(format!("cannot read the machine file {machine}: {why}")),
        Refused::Unreadable(refused) => Refusal::Rendered(refused.render(machine)),
    })?;
    machine_files::entry(0, &text)
        .map_err(|problems| Refusal::Rendered(Sources::new(machine, &text).render(&problems)))
}

fn view(entry: &Entry, kernel: &'static kernels::Entry) -> View {
    let machine = entry.machine();
    let model = kernels::build(kernel, &Values::defaults(kernel.parameters), machine.cpus());
    let tree = &entry.topology;
    let nodes = machine.nodes();
    let distances = &machine.memory.distances;
    let rows = |all: &[u32]| all.chunks(nodes.max(1) as usize).map(factors).collect();
    View {
        name: entry.name.clone(),
        summary: entry.summary.clone(),
        topology: entry.topology_text.clone(),
        cpus: machine.cpus(),
        cores: tree.count(Level::Core),
        packages: tree.count(Level::Package),
        nodes,
        levels: levels(entry),
        distances: (!distances.is_empty()).then(|| rows(distances)),
        turbo: machine.turbo.iter().map(|row| factors(row)).collect(),
        core_speeds: speeds(&machine),
        cpu_numbers: entry.lists.cpu_numbers.clone(),
        values: entry.notes.iter().map(|note| value_row(entry, note)).collect(),
        kernel: kernel.name.to_owned(),
        own_kernel: entry.kernel.clone(),
        domains: policies::domains(&machine, &model).into_iter().map(domain_row).collect(),
    }
}

/// Thousandths as plain numbers.
fn factors(thousandths: &[u32]) -> Vec<String> {
    thousandths.iter().map(|factor| notation::parameter::Kind::Factor.show(u64::from(*factor))).collect()
}

/// The levels that the description names or that hold something: packages and nodes hold memory, cores their
/// caches.
fn levels(entry: &Entry) -> Vec<LevelRow> {
    let tree = &entry.topology;
    let mut shown: Vec<Level> = tree.levels().iter().map(|(level, _)| *level).collect();
    if !shown.contains(&Level::Node) {
        shown.insert(0, Level::Node);
    }
    if !shown.contains(&Level::Core) {
        let at = shown.iter().position(|level| *level == Level::Thread).unwrap_or(shown.len());
        shown.insert(at, Level::Core);
    }
    let mut above = 1;
    let mut rows = Vec::new();
    for level in shown {
        let count = tree.count(level);
        rows.push(LevelRow {
            level: level_name(level).into(),
            each: count / above.max(1),
            count,
            cpus: tree.span(level),
            uneven: !tree.division(level).is_equal(),
            holds: holds(entry, level),
        });
        above = count;
    }
    rows
}

const fn level_name(level: Level) -> &'static str {
    match level {
        Level::Node => "NUMA node",
        Level::Package => "package",
        Level::Cache => "cache group",
        Level::Cluster => "cluster",
        Level::Core => "core",
        Level::Thread => "thread",
    }
}

/// What belongs to one instance of a level.
fn holds(entry: &Entry, level: Level) -> Vec<String> {
    let tree = &entry.topology;
    let grouped = tree.levels().iter().any(|(level, _)| *level == Level::Cache);
    let sharing = if grouped { Level::Cache } else { Level::Package };
    // A machine whose description names no package is one.
    let outermost = tree.levels().iter().all(|(level, _)| *level != Level::Package);
    let package = level == Level::Package || (outermost && level == Level::Node);
    let mut parts = Vec::new();
    let mut add = |parameter: Parameter, what: &str| {
        if let Some(value) = entry.values.number(parameter.name).filter(|value| *value != 0) {
            parts.push(format!("{what} {}", parameter.kind.show(value)));
        }
    };
    if level == Level::Node {
        add(Parameters::node_bandwidth, "memory");
        if tree.count(Level::Node) > 1 {
            add(Parameters::link_bandwidth, "link to other nodes");
        }
    }
    if package {
        add(Parameters::bus_bandwidth, "bus");
    }
    if level == sharing || (package && sharing == Level::Package) {
        add(Parameters::shared_cache, "shared cache");
    }
    if level == Level::Core {
        add(Parameters::private_cache, "private cache");
        add(Parameters::core_bandwidth, "memory traffic up to");
    }
    parts
}

fn speeds(machine: &Machine) -> Vec<SpeedRun> {
    let mut runs: Vec<(u32, u32, u64)> = Vec::new();
    for (core, speed) in (0..).zip(&machine.core_speed) {
        let against_nominal = (*speed * machine.work_unit).raw();
        match runs.last_mut() {
            Some((_, cores, raw)) if *raw == against_nominal => *cores += 1,
            _ => runs.push((core, 1, against_nominal)),
        }
    }
    let nominal = sim_core::time::Speed::NOMINAL.raw();
    // To the nearest thousandth.
    let shown = |raw: u64| notation::parameter::Kind::Factor.show((raw * 1_000 + nominal / 2) / nominal);
    let run = |(first_core, cores, raw)| SpeedRun { first_core, cores, speed: shown(raw) };
    runs.into_iter().map(run).collect()
}

fn value_row(entry: &Entry, note: &Note) -> ValueRow {
    let value = match note.parameter.as_str() {
        "topology" => entry.topology_text.clone(),
        "kernel" => entry.kernel.clone().unwrap_or_default(),
        name => entry.values.shown(name).unwrap_or_default(),
    };
    let input = entry.inputs(&[]).into_iter().find(|input| input.parameter == note.parameter);
    ValueRow {
        name: note.parameter.clone(),
        value,
        source: note.source.clone(),
        uncertain: note.uncertain,
        range: input.map(|input| [input.low, input.high].map(|end| input.kind.show(end))),
    }
}

fn domain_row(level: policies::DomainLevel) -> DomainRow {
    DomainRow {
        name: level.name.to_owned(),
        cpus: level.span,
        groups: level.groups,
        group_cpus: level.group_cpus,
        power: level.power,
        interval_ms: (level.min_interval_ms, level.max_interval_ms),
        busy_factor: level.busy_factor,
        imbalance_pct: level.imbalance_pct,
        flags: level.flags.into_iter().map(str::to_owned).collect(),
    }
}

/// Writes a machine as one JSON object.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_json(view: &View, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, view)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_counts_instances_and_names_their_parts() {
        let view = show("barcelona", None).unwrap();
        assert_eq!((view.cpus, view.packages, view.nodes), (16, 4, 4));
        let each: Vec<_> = view.levels.iter().map(|l| (l.level.as_str(), l.each, l.count, l.cpus)).collect();
        assert_eq!(each, [("package", 4, 4, 4), ("NUMA node", 1, 4, 4), ("core", 4, 16, 1)]);
        assert_eq!(view.levels[0].holds, ["shared cache 2MiB"]);
        assert_eq!(view.levels[1].holds, ["memory 4.5GB/s", "link to other nodes 4GB/s"]);
        assert_eq!(view.distances.unwrap()[0], ["1", "1.2", "1.2", "1.5"]);
    }

    #[test]
    fn uniform_machines_show_their_one_memory() {
        let view = show("tigerton", None).unwrap();
        let each: Vec<_> = view.levels.iter().map(|l| (l.level.as_str(), l.each)).collect();
        assert_eq!(each, [("NUMA node", 1), ("package", 4), ("cache group", 2), ("core", 2)]);
        assert_eq!(view.levels[1].holds, ["bus 5GB/s"]);
        assert_eq!(view.levels[2].holds, ["shared cache 2MiB"]);
        assert_eq!((view.core_speeds.len(), view.core_speeds[0].speed.as_str()), (1, "0.8"));
    }

    #[test]
    fn the_kernel_decides_the_domains() {
        let view = show("tigerton", Some("linux-2.6.28")).unwrap();
        let domains: Vec<_> = view.domains.iter().map(|d| (d.name.as_str(), d.cpus, d.groups)).collect();
        assert_eq!(domains, [("MC", 2, 2), ("CPU", 16, 8)]);
        assert!(matches!(show("tigerton", Some("vms")), Err(Refusal::Sentence(_))));
    }

    #[test]
    fn every_machine_can_be_shown() {
        for name in machines::names() {
            let view = show(name, None).unwrap();
            let mut text = Vec::new();
            write_text(&view, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert!(text.starts_with(name) && text.lines().count() < 90, "{text}");
            assert!(!view.domains.is_empty() && !text.contains('\t'), "{name}");
        }
    }

    #[test]
    fn unknown_machines_and_files_are_refused() {
        assert!(matches!(show("barcelno", None), Err(Refusal::Sentence(s)) if s.contains("did you mean")));
        assert!(
            matches!(show("no/such.yaml", None), Err(Refusal::Sentence(s)) if s.contains("no/such.yaml"))
        );
    }
}
