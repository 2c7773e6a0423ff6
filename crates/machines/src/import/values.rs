//! The values and lists of a machine file that an import can state, each with its source.

use std::collections::BTreeMap;

use notation::parameter::Kind;

use super::cores::{Core, Held};
use super::found::{Found, Sourced};
use super::regular::Regular;
use crate::file::DISTANCES;
use crate::os;
use crate::parameters::Parameters;

/// Most NUMA nodes whose distances are written: the reader of machine files accepts no longer lists.
const MAX_NODES: usize = 200;

/// A value of a machine file, as it is written there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Datum {
    pub(super) name: &'static str,
    /// In the syntax of YAML.
    pub(super) value: String,
    pub(super) source: String,
    pub(super) uncertain: bool,
}

/// The kernel that is closest to the one that runs.
pub(super) fn kernel(release: &Sourced<String>) -> Option<Datum> {
    let version = |text: &str| -> Option<Vec<u32>> {
        let numbers: Vec<u32> =
            text.split(['.', '-', '+', '~', '_']).map_while(|part| part.parse().ok()).take(3).collect();
        (!numbers.is_empty()).then_some(numbers)
    };
    let runs = version(&release.value)?;
    let mut known: Vec<(Vec<u32>, &'static str)> =
        os::KERNELS.names().filter_map(|name| Some((version(name.strip_prefix("linux-")?)?, name))).collect();
    known.sort();
    let (newest, name) = known.iter().rev().find(|(known, _)| *known <= runs).or(known.first())?;
    let exact = runs.starts_with(newest);
    let relation = if exact {
        String::new()
    } else {
        let which = if *newest <= runs {
            "the newest built-in one that is not newer"
        } else {
            "the oldest built-in one"
        };
        format!("; {name} is {which}")
    };
    Some(Datum {
        name: "kernel",
        value: (*name).to_owned(),
        source: format!("{}: {}{relation}", release.source, release.value),
        uncertain: !exact,
    })
}

/// The values, and remarks on what has no place in them.
pub(super) fn values(found: &Found, regular: &Regular, remarks: &mut Vec<String>) -> Vec<Datum> {
    let mut values: Vec<Datum> = ["bus_bandwidth", "crossbar_bandwidth"]
        .map(|name| Datum {
            name,
            value: "0B/s".into(),
            source: "not known from a topology; present-day servers have none".into(),
            uncertain: true,
        })
        .into();
    values.extend(cache(found, regular, "private_cache", |core| core.private, remarks));
    let shared = cache(found, regular, "shared_cache", |core| core.shared, remarks);
    let none = !found.caches.is_empty() && regular.cores.iter().all(|core| core.shared.is_none());
    values.extend(shared.or_else(|| {
        none.then(|| Datum {
            name: "shared_cache",
            value: "0B".into(),
            source: format!("{}: no data cache is shared by several cores", found.origin),
            uncertain: false,
        })
    }));
    if regular.cores.iter().all(|core| core.cpus.len() == 1) {
        values.extend(["smt_compute", "smt_memory", "smt_poll"].map(|name| Datum {
            name,
            value: "1".into(),
            source: "one thread per core".into(),
            uncertain: false,
        }));
    }
    values
}

/// The size of a cache that most cores have.
fn cache(
    found: &Found,
    regular: &Regular,
    name: &'static str,
    of: impl Fn(&Core) -> Option<Held>,
    remarks: &mut Vec<String>,
) -> Option<Datum> {
    let mut sizes: BTreeMap<Held, usize> = BTreeMap::new();
    for core in &regular.cores {
        if let Some(held) = of(core).filter(|held| held.size > 0) {
            *sizes.entry(held).or_default() += 1;
        }
    }
    // Of equally frequent ones the first, which is the smallest of the lowest level.
    let most = sizes.values().copied().max()?;
    let (held, _) = sizes.iter().find(|(_, count)| **count == most)?;
    let largest =
        if name == "private_cache" { Parameters::private_cache } else { Parameters::shared_cache }.max;
    if held.size > largest {
        remarks.push(format!(
            "the L{} cache of {} is larger than a machine can have ({}): {name} has its default",
            held.level,
            shown_size(held.size),
            shown_size(largest)
        ));
        return None;
    }
    let mut source = found.places.caches.replace("{}", &format!("L{}", held.level));
    if held.parts > 1 {
        source += &format!("; {} NUMA nodes or packages share it, and each has an equal part", held.parts);
    }
    if sizes.len() > 1 {
        let each = |(held, count): (&Held, &usize)| {
            format!("L{} of {} in {count} cores", held.level, shown_size(held.size))
        };
        source += &format!("; cores differ: {}", sizes.iter().map(each).collect::<Vec<_>>().join(", "));
    }
    let uncertain = held.parts > 1 || sizes.len() > 1;
    Some(Datum { name, value: shown_size(held.size), source, uncertain })
}

/// A size as a machine file writes it, exactly.
fn shown_size(bytes: u64) -> String {
    let shown = Kind::Size.show(bytes);
    if notation::units::parse(Kind::Size, &shown) == Ok(bytes) { shown } else { format!("{bytes}B") }
}

/// The lists, and remarks on what has no place in them.
pub(super) fn lists(found: &Found, regular: &Regular, remarks: &mut Vec<String>) -> Vec<Datum> {
    let (distances, speeds) = (distances(found, regular, remarks), core_speeds(found, regular));
    [distances, speeds, cpu_numbers(found, regular)].into_iter().flatten().collect()
}

fn distances(found: &Found, regular: &Regular, remarks: &mut Vec<String>) -> Option<Datum> {
    let table = found.distances.as_ref()?;
    let mut nodes: Vec<u32> = Vec::new();
    for core in &regular.cores {
        let number = found.nodes.get(core.node as usize)?.number;
        if !nodes.contains(&number) {
            nodes.push(number);
        }
        if nodes.len() > MAX_NODES {
            remarks.push(format!("the distances of more than {MAX_NODES} NUMA nodes are not imported"));
            return None;
        }
    }
    if nodes.len() < 2 {
        return None;
    }
    match matrix(table, &nodes) {
        Ok(rows) => Some(Datum {
            name: "distances",
            value: format!("[{}]", rows.join(", ")),
            source: format!(
                "{}, divided by the distance of a node to itself; stated by firmware, not measured",
                table.source
            ),
            uncertain: true,
        }),
        Err(why) => {
            remarks.push(format!("the distances of NUMA nodes are not imported: {why}"));
            None
        }
    }
}

/// Rows of factors for these nodes.
fn matrix(table: &super::found::Distances, nodes: &[u32]) -> Result<Vec<String>, String> {
    let wide = table.nodes.len();
    let at = |from: u32, to: u32| {
        let place = |node: u32| table.nodes.iter().position(|other| *other == node);
        table.values.get(place(from)? * wide + place(to)?).copied()
    };
    let factor = |from: u32, to: u32| {
        let missing = || format!("there is none from node {from} to node {to}");
        let local = at(from, from).filter(|local| *local > 0).ok_or_else(missing)?;
        let distance = at(from, to).ok_or_else(missing)?;
        let factor = distance.saturating_mul(1_000).saturating_add(local / 2) / local;
        if factor < DISTANCES.0 || factor > DISTANCES.1 {
            return Err(format!("node {from} is at {local} from itself and at {distance} from node {to}"));
        }
        Ok(Kind::Factor.show(factor))
    };
    let row = |from: &u32| {
        let row: Result<Vec<String>, String> = nodes.iter().map(|to| factor(*from, *to)).collect();
        Ok(format!("[{}]", row?.join(", ")))
    };
    nodes.iter().map(row).collect()
}

fn core_speeds(found: &Found, regular: &Regular) -> Option<Datum> {
    let fastest = regular.cores.iter().map(|core| core.speed).max().filter(|fastest| *fastest > 0)?;
    if regular.cores.iter().all(|core| core.speed == fastest) || regular.cores.iter().any(|c| c.speed == 0) {
        return None;
    }
    // Thousandths, at least the smallest one that a machine file may have.
    let factor = |core: &Core| ((core.speed * 1_000 + fastest / 2) / fastest).max(10);
    let speeds: Vec<u64> = regular.cores.iter().map(factor).collect();
    let period = (1..=speeds.len()).find(|period| {
        speeds.len().is_multiple_of(*period)
            && speeds.iter().skip(*period).zip(&speeds).all(|(one, other)| one == other)
    })?;
    let shown: Vec<String> = speeds.iter().take(period).map(|factor| Kind::Factor.show(*factor)).collect();
    Some(Datum {
        name: "core_speeds",
        value: format!("[{}]", shown.join(", ")),
        source: format!("{}, divided by that of the fastest core; no measurement", found.places.speeds),
        uncertain: true,
    })
}

/// The Linux numbers of the cpus, unless they are those of the simulator.
fn cpu_numbers(found: &Found, regular: &Regular) -> Option<Datum> {
    let cpus = regular.cores.iter().flat_map(|core| &core.cpus);
    let numbers: Vec<u32> = cpus.map(|at| found.cpus[*at as usize].number).collect();
    if (0..).zip(&numbers).all(|(own, number): (u32, &u32)| own == *number) {
        return None;
    }
    Some(Datum {
        name: "cpu_numbers",
        value: format!("\"{}\"", notation::lists::ranges(numbers)),
        source: found.places.shape.clone(),
        uncertain: false,
    })
}
