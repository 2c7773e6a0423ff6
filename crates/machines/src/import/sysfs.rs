//! Reads the topology that Linux states in `/sys` and `/proc`: of this computer, or of a captured tree.
//!
//! What is missing has a default and a remark: containers and old kernels hide files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::bitmap::Bitmap;
use super::found::{CACHE_LEVELS, Cache, Cpu, Distances, Found, NumaNode, Places, Sourced, named};
use super::sysfs_files::Files;
use super::xml::{left_out_nodes, words};

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
        speeds: String::new(),
    };
    let mut found = Found { origin, places, ..Found::default() };
    found.cpus = online(&files, &mut found)?.into_iter().map(Cpu::new).collect();
    let mut missing = BTreeMap::new();
    shape(&files, &mut found, &mut missing)?;
    caches(&files, &mut found, &mut missing)?;
    nodes(&files, &mut found)?;
    speeds(&files, &mut found)?;
    for (what, (default, cpus)) in missing {
        found.guessed |= what != "cache";
        found.remark(format_args!("{what} is missing for {}: {default}", named(&cpus)));
    }
    allowed(&files, &mut found)?;
    if found.cpus.is_empty() {
        return Err(format!("below {cpus} there is no cpu that a program may use"));
    }
    found.complete()?;
    left_out_nodes(&mut found);
    found.release = release(&files);
    let info = files.text("proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    found.model = model.map(|(_, model)| words(model)).filter(|model| !model.is_empty());
    Ok(found)
}

/// What is missing, with the default and the cpus that lack it.
type Missing = BTreeMap<&'static str, (&'static str, Vec<u32>)>;

/// The numbers of the cpus that are online.
fn online(files: &Files, found: &mut Found) -> Result<Vec<u32>, String> {
    const CPU: &str = "sys/devices/system/cpu";
    let set = |name: &str| files.set(&format!("{CPU}/{name}"));
    let online = match set("online")? {
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
            found.guessed = true;
            found.remark("the file cpu/online is missing: every cpu is taken for online");
            numbers
        }
    };
    let present = set("present")?.map_or_else(|| set("possible"), |present| Ok(Some(present)))?;
    let is_online: BTreeSet<u32> = online.iter().copied().collect();
    let present = present.unwrap_or_default();
    let offline: Vec<u32> = present.numbers().filter(|cpu| !is_online.contains(cpu)).collect();
    if !offline.is_empty() {
        found.remark(format_args!("{} left out: offline", named(&offline)));
    }
    Ok(online)
}

/// Sets packages and cores.
fn shape(files: &Files, found: &mut Found, missing: &mut Missing) -> Result<(), String> {
    let mut packages: BTreeMap<u32, u32> = BTreeMap::new();
    // By the siblings of a cpu, or by its package, die and core.
    let mut cores: BTreeMap<(bool, u32, u64, u64), u32> = BTreeMap::new();
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
        let siblings = match files.set(&file("core_cpus_list"))? {
            Some(siblings) => Some(siblings),
            None => files.set(&file("thread_siblings_list"))?,
        };
        let first = siblings.and_then(|siblings| siblings.numbers().next());
        let key = match (first, files.number(&file("core_id"))?) {
            (Some(first), _) => (true, first, 0, 0),
            (None, Some(core)) => (false, cpu.package, files.number(&file("die_id"))?.unwrap_or(0), core),
            (None, None) => {
                let one = ("each cpu is taken for a core", Vec::new());
                missing.entry("topology/thread_siblings_list").or_insert(one).1.push(number);
                (true, number, 0, 0)
            }
        };
        let next = cores.len() as u32;
        cpu.core = *cores.entry(key).or_insert(next);
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
        for index in 0..MAX_CACHES {
            let file =
                |name: &str| format!("sys/devices/system/cpu/cpu{}/cache/index{index}/{name}", cpu.number);
            let Some(level) = files.number(&file("level"))? else { break };
            any = true;
            let instructions = files.text(&file("type")).is_some_and(|kind| kind.trim() == "Instruction");
            let level = usize::try_from(level).unwrap_or(usize::MAX);
            if instructions || !(1..=CACHE_LEVELS).contains(&level) {
                continue;
            }
            let users = files.set(&file("shared_cpu_list"))?;
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
        found.nodes.push(NumaNode { number: *number, memory: kib.unwrap_or(0).saturating_mul(1 << 10) });
        if let Some(cpus) = files.set(&file("cpulist"))? {
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

/// Sets the speeds of cores of different kinds: by the capacity that the kernel uses, else by the clock.
fn speeds(files: &Files, found: &mut Found) -> Result<(), String> {
    for (name, is_clock) in [("cpu_capacity", false), ("cpufreq/cpuinfo_max_freq", true)] {
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
        if is_clock {
            found.merge_clocks();
        }
        if found.cpus.windows(2).any(|pair| pair[0].speed != pair[1].speed) {
            let shown = files.shown("sys/devices/system/cpu");
            found.places.speeds = format!("sysfs {shown}/cpu*/{name}");
            return Ok(());
        }
    }
    found.cpus.iter_mut().for_each(|cpu| cpu.speed = 0);
    Ok(())
}

/// Leaves out the cpus that this process, or the captured one, may not use.
fn allowed(files: &Files, found: &mut Found) -> Result<(), String> {
    let status = files.text("proc/self/status").unwrap_or_default();
    if let Some(list) = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")) {
        let allowed = files.parse("proc/self/status", list)?;
        keep(found, &allowed, "the affinity mask forbids them");
    }
    let groups = files.text("proc/self/cgroup").unwrap_or_default();
    let Some(path) = groups.lines().find_map(|line| line.strip_prefix("0::")) else { return Ok(()) };
    // The nearest group with the file: a group without the controller has the cpus of the one above.
    let mut path = Path::new(path);
    loop {
        let folder: Vec<_> =
            path.components().filter_map(|part| Some(part.as_os_str().to_str()?.trim_matches('/'))).collect();
        let inside = folder.iter().filter(|part| !part.is_empty() && **part != "..");
        let folder = inside.fold("sys/fs/cgroup".to_owned(), |folder, part| format!("{folder}/{part}"));
        if let Some(quota) = files.text(&format!("{folder}/cpu.max")) {
            let mut words = quota.split_whitespace().map(str::parse::<f64>);
            if let (Some(Ok(time)), Some(Ok(period))) = (words.next(), words.next()) {
                let cpus = time / period;
                found.remark(format_args!(
                    "the limit of {cpus:.1} cpus of {folder}/cpu.max is no part of a machine: a scenario has \
                     it as `cgroups: {{ NAME: {{ quota: {time}us, period: {period}us }} }}`"
                ));
            }
        }
        if let Some(cpus) = files.set(&format!("{folder}/cpuset.cpus.effective"))? {
            keep(found, &cpus, "the cgroup forbids them (cpuset.cpus.effective)");
            return Ok(());
        }
        let Some(above) = path.parent() else { return Ok(()) };
        path = above;
    }
}

/// An empty set is that of a tree without its processes.
fn keep(found: &mut Found, allowed: &Bitmap, why: &str) {
    if !allowed.is_empty() {
        found.keep(|number| allowed.contains(number), why);
    }
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
