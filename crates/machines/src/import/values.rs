//! The values and lists of a machine file that an import can state, each with its source.

use kernels::Fit;
use std::collections::{BTreeMap, BTreeSet};

use notation::lists;
use notation::parameter::Kind;

use super::cores::{Core, Held};
use super::found::{Found, NONE, Sourced};
use super::regular::Regular;
use crate::datum::Datum;
use crate::file::DISTANCES;
use crate::parameters::Parameters;

/// Most NUMA nodes whose distances are written: the reader of machine files accepts no longer lists.
const MAX_NODES: usize = 200;

/// Speed of a core of an AMD module beside a busy one, against alone: half of the 1.8 that AMD states.
const MODULE_SPEED: &str = "0.9";

/// Most groups of cpus that a remark names.
const SHOWN: usize = 4;

/// The kernel that is closest to the one that runs.
pub(super) fn kernel(release: &Sourced<String>) -> Option<Datum> {
    let found = kernels::nearest(&release.value)?;
    let name = found.entry.name;
    let relation = match found.fit {
        Fit::Exact => String::new(),
        Fit::NotNewer => format!("; {name} is the newest built-in one that is not newer"),
        Fit::Oldest => format!("; {name} is the oldest built-in one"),
    };
    Some(Datum {
        name: "kernel",
        value: name.to_owned(),
        source: format!("{}: {}{relation}", release.source, release.value),
        uncertain: found.fit != Fit::Exact,
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
    values.extend(node_bandwidth(found, regular));
    values.extend(governor(found));
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
    } else if found.modules {
        remarks.push(
            "the processor has modules of two integer cores, which Linux schedules as the hardware threads \
                of one core, and so does the machine file: hwloc counts each of them as a core"
                .into(),
        );
        values.extend(["smt_compute", "smt_poll"].map(|name| Datum {
            name,
            value: MODULE_SPEED.into(),
            source:
                "AMD 2009 on Bulldozer: two threads of a module have 80 % more throughput than one".into(),
            uncertain: true,
        }));
    }
    values
}

/// How clocks are set, where they are lowered.
fn governor(found: &Found) -> Vec<Datum> {
    let Some(governed) = &found.governed else { return Vec::new() };
    let datum = |name, value: String, file: &str, uncertain| Datum {
        name,
        value,
        source: format!("{}/{file}", governed.source),
        uncertain,
    };
    let domain = if governed.shared { "package" } else { "core" };
    let mut values = vec![
        datum("governor", "schedutil".into(), "scaling_governor", false),
        datum("clock_domain", domain.into(), "related_cpus", governed.shared),
    ];
    let (least, most) = (Parameters::lowest_clock.min, Parameters::lowest_clock.max);
    values.extend(governed.lowest.map(|lowest| {
        let lowest = Kind::Factor.show(lowest.clamp(least, most));
        datum("lowest_clock", lowest, "cpuinfo_min_freq over cpuinfo_max_freq", false)
    }));
    values
}

/// The bandwidth that is stated for the nodes of the machine: if they differ, that of most of them.
fn node_bandwidth(found: &Found, regular: &Regular) -> Option<Datum> {
    let used: BTreeSet<u32> = regular.cores.iter().map(|core| core.node).collect();
    let mut nodes: BTreeMap<u64, usize> = BTreeMap::new();
    for node in used.iter().filter_map(|at| found.nodes.get(*at as usize)) {
        *nodes.entry(node.bandwidth).or_default() += 1;
    }
    let most = nodes.iter().filter(|(rate, _)| **rate > 0).map(|(_, count)| *count).max()?;
    let (rate, _) = nodes.iter().find(|(rate, count)| **rate > 0 && **count == most)?;
    let (least, largest) = (Parameters::node_bandwidth.min, Parameters::node_bandwidth.max);
    let mut source = format!("{}; stated by firmware, not measured", found.places.bandwidth);
    if nodes.len() > 1 {
        let each = |(rate, count): (&u64, &usize)| {
            let stated = if *rate == 0 { "none".into() } else { Kind::Rate.show(*rate) };
            format!("{stated} for {count}")
        };
        source += &format!("; nodes differ: {}", nodes.iter().map(each).collect::<Vec<_>>().join(", "));
    }
    let value = shown(Kind::Rate, (*rate).clamp(least, largest));
    Some(Datum { name: "node_bandwidth", value, source, uncertain: true })
}

/// What the description states of caches and a machine file has no place for: those inside the shared one
/// that other cores use, those inside the private one, and those of other sizes.
pub(super) fn unused_caches(found: &Found, regular: &Regular) -> (BTreeSet<String>, Vec<String>) {
    let mut inner: BTreeSet<String> = BTreeSet::new();
    let mut shared: BTreeMap<(usize, u64, u32), BTreeSet<u32>> = BTreeMap::new();
    let mut users: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let cpus = |core: &Core| core.cpus.iter().map(|at| found.cpus[*at as usize]).collect::<Vec<_>>();
    for cpu in regular.cores.iter().flat_map(cpus) {
        for cache in cpu.caches.iter().filter(|cache| **cache != NONE) {
            users.entry(*cache).or_default().insert(cpu.core);
        }
    }
    for core in &regular.cores {
        let held = [core.private, core.shared].map(|held| held.map(|held| held.level));
        for cpu in cpus(core) {
            for (level, cache) in (1..).zip(cpu.caches).filter(|(_, cache)| *cache != NONE) {
                if held.contains(&Some(level)) {
                    continue;
                }
                let size = found.caches.get(cache as usize).map_or(0, |cache| cache.size);
                if users.get(&cache).is_some_and(|users| users.len() > 1) {
                    shared.entry((level, size, cache)).or_default().insert(cpu.number);
                } else {
                    inner.insert(format!("L{level} caches of {}", shown_size(size)));
                }
            }
        }
    }
    let all: BTreeSet<u32> = shared.keys().map(|(level, ..)| *level as u32).collect();
    let remarks = all.into_iter().map(|level| {
        let groups = shared.iter().filter(|((of, ..), _)| *of as u32 == level);
        let (sizes, cpus): (BTreeSet<u64>, Vec<String>) =
            groups.map(|((_, size, _), cpus)| (*size, lists::ranges(cpus.iter().copied()))).unzip();
        let sizes: Vec<String> = sizes.into_iter().map(shown_size).collect();
        let more = if cpus.len() > SHOWN { " and others" } else { "" };
        format!(
            "the L{level} cache of {} that cpus {} share is left out: a machine file has one shared cache, \
             the \
             outermost one",
            sizes.join(" or "),
            cpus.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(" and ") + more
        )
    });
    (inner, remarks.collect())
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
    if held.cores > 1 {
        source += &format!("; {} cores share it, and each has an equal part", held.cores);
        let whole = shown_size(held.whole);
        remarks.push(format!(
            "the L{} cache of {whole} that {} cores share inside the outer one makes them a cluster; its \
             capacity counts as private caches of equal size",
            held.level, held.cores
        ));
    }
    let with: usize = sizes.values().sum();
    let without = regular.cores.len() - with;
    if sizes.len() > 1 || without > 0 {
        let each = |(held, count): (&Held, &usize)| {
            let part = if held.cores > 1 { "an equal part of " } else { "" };
            let of = shown_size(held.whole);
            format!("{part}L{} of {of} in {count} cores", held.level)
        };
        let mut each: Vec<String> = sizes.iter().map(each).collect();
        if without > 0 {
            let none = if name == "private_cache" { "have none of their own" } else { "share none" };
            each.push(format!("{without} cores {none}"));
        }
        let each = each.join(", ");
        source += &format!("; cores differ: {each}");
        remarks.push(format!("cores differ in their {name} ({each}): all get {}", shown_size(held.size)));
    }
    let uncertain = held.parts > 1 || held.cores > 1 || sizes.len() > 1 || without > 0;
    Some(Datum { name, value: shown_size(held.size), source, uncertain })
}

/// A size as a machine file writes it, exactly.
fn shown_size(bytes: u64) -> String {
    shown(Kind::Size, bytes)
}

/// A size or a rate as a machine file writes it, exactly.
fn shown(kind: Kind, bytes: u64) -> String {
    let shown = kind.show(bytes);
    let unit = if matches!(kind, Kind::Rate) { "B/s" } else { "B" };
    if notation::units::parse(kind, &shown) == Ok(bytes) { shown } else { format!("{bytes}{unit}") }
}

/// The lists, and remarks on what has no place in them.
pub(super) fn lists(found: &Found, regular: &Regular, remarks: &mut Vec<String>) -> Vec<Datum> {
    let (distances, speeds) = (distances(found, regular, remarks), core_speeds(found, regular));
    match &speeds {
        Some(_) if found.clocks => remarks.push(
            "cores differ in speed by their clocks only: the work that each does per clock is not \
             stated, and small cores mostly do less, so set `core_speeds`"
                .into(),
        ),
        None if found.places.speeds.is_empty() && two_kinds(regular) => remarks.push(
            "cores differ in their hardware threads or caches, and no speed is stated: all cores get \
             the same speed until `core_speeds` states their work per second"
                .into(),
        ),
        _ => {}
    }
    [distances, speeds, cpu_numbers(found, regular)].into_iter().flatten().collect()
}

/// Whether cores differ as those of two kinds do.
fn two_kinds(regular: &Regular) -> bool {
    let kind = |core: &Core| (core.cpus.len(), core.private.map(|held| (held.level, held.size, held.cores)));
    regular.cores.windows(2).any(|pair| kind(&pair[0]) != kind(&pair[1]))
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
        value: format!("\"{}\"", lists::ranges(numbers)),
        source: found.places.shape.clone(),
        uncertain: false,
    })
}
