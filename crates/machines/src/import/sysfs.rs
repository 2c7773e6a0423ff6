//! Reads the topology that Linux states in `/sys` and `/proc`: of this computer, or of a captured tree.
//!
//! What is missing has a default and a remark: containers and old kernels hide files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::cgroup;
use super::found::{
    CACHE_LEVELS, Cache, Cpu, Distances, Found, Governed, NONE, NumaNode, Places, Sourced, named, words,
};
use super::near::left_out_nodes;
use super::sysfs_files::Files;

/// Most caches of a cpu: Linux has up to about five.
const MAX_CACHES: usize = 16;

/// Reads the tree below a directory.
///
/// # Errors
/// A sentence: there is no such tree, or a file in it is not as Linux writes it.
pub(super) fn read(root: &Path) -> Result<Found, String> {
    let files = Files::new(root);
    let cpus = files.shown("sys/devices/system/cpu");
    let origin = if root == Path::new("/") {
        "Linux on this computer".to_owned()
    } else {
        format!("the captured tree {}", root.display())
    };
    let places = Places {
        shape: format!("sysfs {cpus}"),
        caches: format!("sysfs {cpus}/cpu*/cache, size of {{}}"),
        ..Places::default()
    };
    let mut found = Found { origin, places, ..Found::default() };
    found.cpus = online(&files, &mut found)?.into_iter().map(Cpu::new).collect();
    let mut missing = BTreeMap::new();
    shape(&files, &mut found, &mut missing)?;
    caches(&files, &mut found, &mut missing)?;
    nodes(&files, &mut found)?;
    speeds(&files, &mut found)?;
    governor(&files, &mut found)?;
    let lacking = (0..).zip(&found.nodes).filter(|(_, node)| node.said).map(|(at, _)| at).collect();
    found.nodes.iter_mut().for_each(|node| node.said = false);
    found.without_memory(&lacking, "it has no memory");
    for (what, (default, cpus)) in missing {
        found.guessed |= what != "cache";
        found.remark(format_args!("{what} is missing for {}: {default}", named(&cpus)));
    }
    cgroup::apply(&files, root != Path::new("/"), &mut found)?;
    if found.cpus.is_empty() {
        return Err(format!("below {cpus} there is no cpu that a program may use"));
    }
    found.complete()?;
    left_out_nodes(&mut found);
    found.release = release(&files);
    let info = files.text("proc/cpuinfo").unwrap_or_default();
    let stated = |name: &str| {
        let (_, value) = info.lines().find_map(|line| line.strip_prefix(name)?.split_once(':'))?;
        Some(words(value)).filter(|value| !value.is_empty())
    };
    found.model = stated("model name");
    let is = |name: &str, value: &str| stated(name).is_some_and(|stated| stated == value);
    found.modules = is("vendor_id", "AuthenticAMD") && is("cpu family", AMD_WITH_MODULES);
    Ok(found)
}

/// Family 15h (Bulldozer to Excavator), as `/proc/cpuinfo` writes it. Linux has the two cores of its modules
/// as hardware threads of one core (`arch/x86/kernel/cpu/amd.c`, `cu_id`).
const AMD_WITH_MODULES: &str = "21";

/// What is missing, with the default and the cpus that lack it.
type Missing = BTreeMap<&'static str, (&'static str, Vec<u32>)>;

/// The numbers of the cpus that are online.
fn online(files: &Files, found: &mut Found) -> Result<Vec<u32>, String> {
    const CPU: &str = "sys/devices/system/cpu";
    let set = |name: &str| files.set(&format!("{CPU}/{name}"));
    let mut off = Vec::new();
    let online = match set("online")?.filter(|online| !online.is_empty()) {
        Some(online) => online.numbers().collect(),
        None => {
            let numbers = files.numbered(CPU, "cpu");
            if numbers.is_empty() {
                return Err(format!(
                    "there is no {}: the topology is read from the sysfs of Linux; on another computer, copy \
                        its `/sys/devices/system` and choose the copy with --root DIR, or import the XML of \
                        `lstopo mine.xml`",
                    files.shown(&format!("{CPU}/online"))
                ));
            }
            let state = |cpu: u32| files.number(&format!("{CPU}/cpu{cpu}/online"));
            let mut online = Vec::new();
            for cpu in numbers {
                match state(cpu)? {
                    Some(0) => off.push(cpu),
                    _ => online.push(cpu),
                }
            }
            if off.is_empty() {
                found.guessed = true;
                found.remark("the file cpu/online is missing: every cpu is taken for online");
            }
            online
        }
    };
    let present = set("present")?.map_or_else(|| set("possible"), |present| Ok(Some(present)))?;
    let is_online: BTreeSet<u32> = online.iter().copied().collect();
    let present = present.unwrap_or_default();
    off.extend(present.numbers().filter(|cpu| !is_online.contains(cpu)));
    let offline: BTreeSet<u32> = off.into_iter().collect();
    let offline: Vec<u32> = offline.into_iter().collect();
    if !offline.is_empty() {
        found.remark(format_args!("{} left out: offline", named(&offline)));
    }
    Ok(online)
}

/// Levels of sysfs that are none of the simulator: file and words.
const LEVELS: [(&str, &str); 4] =
    [("die_id", "dies"), ("cluster_id", "clusters"), ("book_id", "books"), ("drawer_id", "drawers")];

/// Sets packages and cores.
fn shape(files: &Files, found: &mut Found, missing: &mut Missing) -> Result<(), String> {
    let mut packages: BTreeMap<u32, u32> = BTreeMap::new();
    // By the siblings of a cpu, or by its package, die and core.
    let mut cores: BTreeMap<(bool, u32, u64, u64), u32> = BTreeMap::new();
    let mut levels: BTreeMap<&str, BTreeSet<(u32, u64)>> = BTreeMap::new();
    for cpu in &mut found.cpus {
        let number = cpu.number;
        let file = |name: &str| format!("sys/devices/system/cpu/cpu{number}/topology/{name}");
        let package = files.number(&file("physical_package_id"))?;
        if package.is_none() {
            let one = ("one package is assumed", Vec::new());
            missing.entry("topology/physical_package_id").or_insert(one).1.push(number);
        }
        let package = package.and_then(|id| u32::try_from(id).ok()).unwrap_or(0);
        let next = packages.len() as u32;
        cpu.package = *packages.entry(package).or_insert(next);
        let siblings = match files.list_or_map(&file("core_cpus_list"), &file("core_cpus"))? {
            Some(siblings) => Some(siblings),
            None => files.list_or_map(&file("thread_siblings_list"), &file("thread_siblings"))?,
        };
        let die = files.number(&file("die_id"))?;
        cpu.unit = die.and_then(|die| u32::try_from(die).ok()).unwrap_or(NONE);
        for (name, words) in LEVELS {
            let own = files.number(&file(name))?;
            let levels = levels.entry(words).or_default();
            levels.extend(own.map(|own| (cpu.package, own)));
        }
        let first = siblings.and_then(|siblings| siblings.numbers().next());
        let key = match (first, files.number(&file("core_id"))?) {
            (Some(first), _) => (true, first, 0, 0),
            (None, Some(core)) => (false, cpu.package, die.unwrap_or(0), core),
            (None, None) => {
                let one = ("each cpu is taken for a core", Vec::new());
                missing.entry("topology/thread_siblings_list").or_insert(one).1.push(number);
                (true, number, 0, 0)
            }
        };
        let next = cores.len() as u32;
        cpu.core = *cores.entry(key).or_insert(next);
    }
    for (words, of) in levels {
        // As many as packages: the level is that of the packages.
        if of.len() > packages.len() {
            found.unused.insert(format!("{} {words}", of.len()));
        }
    }
    let mut numbers: Vec<(u32, u32)> = packages.into_iter().map(|(number, at)| (at, number)).collect();
    numbers.sort_unstable();
    found.packages = numbers.into_iter().map(|(_, number)| number).collect();
    Ok(())
}

/// Sets the data and unified caches.
fn caches(files: &Files, found: &mut Found, missing: &mut Missing) -> Result<(), String> {
    let mut known: BTreeMap<(usize, u32), u32> = BTreeMap::new();
    for cpu in &mut found.cpus {
        let mut any = false;
        let folder = format!("sys/devices/system/cpu/cpu{}/cache", cpu.number);
        for index in files.numbered(&folder, "index").into_iter().take(MAX_CACHES) {
            let file = |name: &str| format!("{folder}/index{index}/{name}");
            let Some(level) = files.number(&file("level"))? else { continue };
            any = true;
            let instructions = files.text(&file("type")).is_some_and(|kind| kind.trim() == "Instruction");
            let level = usize::try_from(level).unwrap_or(usize::MAX);
            if instructions || !(1..=CACHE_LEVELS).contains(&level) {
                let what = if instructions { "instruction caches" } else { "caches beyond level 5" };
                found.unused.insert(what.into());
                continue;
            }
            let users = files.list_or_map(&file("shared_cpu_list"), &file("shared_cpu_map"))?;
            let first = users.and_then(|users| users.numbers().next()).unwrap_or(cpu.number);
            let next = found.caches.len() as u32;
            let cache = *known.entry((level, first)).or_insert(next);
            if cache == next {
                found.caches.push(Cache { size: files.kibibytes(&file("size"))?.unwrap_or(0) });
            }
            cpu.caches[level - 1] = cache;
        }
        if !any {
            let one = ("caches have their defaults", Vec::new());
            missing.entry("cache").or_insert(one).1.push(cpu.number);
        }
    }
    Ok(())
}

/// Sets the NUMA nodes and their distances.
fn nodes(files: &Files, found: &mut Found) -> Result<(), String> {
    const NODE: &str = "sys/devices/system/node";
    let numbers = files.numbered(NODE, "node");
    if numbers.is_empty() {
        found.guessed = true;
        found.remark("there is no directory node: one NUMA node for all cpus is assumed");
        return Ok(());
    }
    let mut values = Vec::new();
    for (at, number) in (0..).zip(&numbers) {
        let file = |name: &str| format!("{NODE}/node{number}/{name}");
        let meminfo = files.text(&file("meminfo")).unwrap_or_default();
        // Node 0 MemTotal:       24684068 kB
        let total = meminfo.lines().find_map(|line| line.split_once("MemTotal:"));
        let kib = total.and_then(|(_, rest)| rest.split_whitespace().next()?.parse::<u64>().ok());
        let cpus = files.list_or_map(&file("cpulist"), &file("cpumap"))?;
        let local = cpus.as_ref().map_or_else(Vec::new, |cpus| cpus.numbers().collect());
        let bandwidth = bandwidth(files, &file("access"), found)?;
        found.nodes.push(NumaNode {
            number: *number,
            memory: kib.unwrap_or(0).saturating_mul(1 << 10),
            bandwidth,
            kind: String::new(),
            local,
            // Until its cpus have another node.
            said: kib == Some(0),
        });
        if files.text(&file("memory_side_cache/index1/size")).is_some() {
            found.unused.insert("memory-side caches".into());
        }
        if let Some(cpus) = cpus {
            let inside = found.cpus.iter_mut().filter(|cpu| cpus.contains(cpu.number));
            inside.for_each(|cpu| cpu.node = at);
        }
        let distances = files.text(&file("distance")).unwrap_or_default();
        for word in distances.split_whitespace() {
            let value = word.parse::<u64>();
            values.push(
                value.map_err(|_| files.refused(&file("distance"), word, "whole numbers, as `10 21`"))?,
            );
        }
    }
    if values.len() == numbers.len() * numbers.len() {
        let source = format!("sysfs {}", files.shown(&format!("{NODE}/node*/distance")));
        found.distances = Some(Distances { nodes: numbers, values, source });
    } else if numbers.len() > 1 {
        found.remark("the distances of NUMA nodes are incomplete: remote_factor has its default");
    }
    Ok(())
}

/// The bandwidth of a node for its nearest cpus (`access1`, else its nearest initiators) in bytes per second
/// as firmware states it in MB/s; 0 without a statement.
fn bandwidth(files: &Files, access: &str, found: &mut Found) -> Result<u64, String> {
    for class in ["1", "0"] {
        let file = |name: &str| format!("{access}{class}/initiators/{name}");
        if files.text(&file("read_latency")).is_some() {
            found.unused.insert("latencies of NUMA nodes (access*/initiators)".into());
        }
        if let Some(megabytes) = files.number(&file("read_bandwidth"))?.filter(|known| *known > 0) {
            let shown = files.shown("sys/devices/system/node");
            found.places.bandwidth = format!("sysfs {shown}/node*/access{class}/initiators/read_bandwidth");
            return Ok(megabytes.saturating_mul(1_000_000));
        }
    }
    Ok(0)
}

/// What states the speed of a cpu, the best one first: file, and whether small differences are those of
/// favoured cores of one kind. The capacity that the kernel uses and the highest performance of CPPC (ACPI
/// 8.4.6.1.1.1) count work, clocks do not.
const SPEEDS: [(&str, bool); 3] = [("cpu_capacity", false), (CPPC, true), ("cpufreq/cpuinfo_max_freq", true)];
const CPPC: &str = "acpi_cppc/highest_perf";

/// Sets the speeds of cores of different kinds: by the capacity that the kernel uses or the firmware states,
/// else by the clock. On AMD's processors CPPC ranks cores of one kind (`amd_get_highest_perf`), so it counts
/// elsewhere only.
fn speeds(files: &Files, found: &mut Found) -> Result<(), String> {
    let info = files.text("proc/cpuinfo").unwrap_or_default();
    let ranks = info.lines().any(|line| line.starts_with("vendor_id") && line.contains("AMD"));
    for (name, merges) in SPEEDS.into_iter().filter(|(name, _)| !ranks || *name != CPPC) {
        let mut speeds = Vec::new();
        for cpu in &found.cpus {
            let file = format!("sys/devices/system/cpu/cpu{}/{name}", cpu.number);
            let Some(speed) = files.number(&file)? else { break };
            if speed == 0 || speed >= 1 << 32 {
                return Err(files.refused(&file, &speed.to_string(), "a whole number from 1 on"));
            }
            speeds.push(speed);
        }
        if speeds.len() < found.cpus.len() {
            continue;
        }
        found.cpus.iter_mut().zip(&speeds).for_each(|(cpu, speed)| cpu.speed = *speed);
        if merges {
            found.merge_clocks();
        }
        if found.cpus.windows(2).any(|pair| pair[0].speed != pair[1].speed) {
            let shown = files.shown("sys/devices/system/cpu");
            found.places.speeds = format!("sysfs {shown}/cpu*/{name}");
            found.clocks = name.starts_with("cpufreq");
            return Ok(());
        }
    }
    found.cpus.iter_mut().for_each(|cpu| cpu.speed = 0);
    Ok(())
}

/// Notes how clocks are set if schedutil does that on all cpus: with the lowest clock of all, and whether
/// cpus of several cores have one (`related_cpus`).
fn governor(files: &Files, found: &mut Found) -> Result<(), String> {
    let (mut lowest, mut shared) = (Some(1_000), false);
    for cpu in &found.cpus {
        let file = |name: &str| format!("sys/devices/system/cpu/cpu{}/cpufreq/{name}", cpu.number);
        let governor = files.text(&file("scaling_governor"));
        if governor.is_none_or(|governor| governor.trim() != "schedutil") {
            return Ok(());
        }
        let (least, most) =
            (files.number(&file("cpuinfo_min_freq"))?, files.number(&file("cpuinfo_max_freq"))?);
        let share = least.zip(most).filter(|(_, most)| *most > 0);
        let share = share.map(|(least, most)| u64::try_from(u128::from(least) * 1_000 / u128::from(most)));
        lowest = lowest.zip(share.and_then(Result::ok)).map(|(lowest, share)| share.min(lowest));
        if let Some(related) = files.list_or_map(&file("related_cpus"), &file("affected_cpus"))? {
            shared |= found.cpus.iter().any(|other| related.contains(other.number) && other.core != cpu.core);
        }
    }
    let source = format!("sysfs {}/cpu*/cpufreq", files.shown("sys/devices/system/cpu"));
    found.governed = Some(Governed { source, lowest, shared });
    Ok(())
}

/// The release of the kernel.
fn release(files: &Files) -> Option<Sourced<String>> {
    let of_file = |path: &str, text: Option<String>| {
        let value = words(&text?);
        (!value.is_empty()).then(|| Sourced { value, source: files.shown(path) })
    };
    let version = || {
        let text = files.text("proc/version")?;
        text.strip_prefix("Linux version ")?.split_whitespace().next().map(str::to_owned)
    };
    let release = "proc/sys/kernel/osrelease";
    of_file(release, files.text(release)).or_else(|| of_file("proc/version", version()))
}
