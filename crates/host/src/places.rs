//! Which cpus of this host are near each other, from sysfs.

use std::fs;
use std::path::Path;

use machines::import::{Description, import};

const ROOT: &str = "/sys/devices/system/cpu";

/// The cpus of this host by their distance from the first one.
pub(crate) struct Places {
    /// Another hardware thread of its core.
    pub(crate) sibling: Option<u32>,
    /// A core that shares its last-level cache.
    cache: Option<u32>,
    /// A core of its package, beyond that.
    near: Option<u32>,
    /// A cpu of another package.
    pub(crate) far: Option<u32>,
    /// One cpu of each core.
    pub(crate) cores: Vec<u32>,
    /// Its shape as a description of machine files.
    pub(crate) topology: String,
    /// The Linux number of each cpu in the order of the simulator; empty where both are the same.
    pub(crate) cpu_numbers: Vec<u32>,
    /// Bytes of the level-2 cache; 0 if unknown.
    pub(crate) private_cache: u64,
    /// Bytes of the last-level cache; 0 if unknown.
    pub(crate) shared_cache: u64,
}

/// What sysfs lists of one cpu.
struct Cpu {
    siblings: Vec<u32>,
    package: Vec<u32>,
    cache: Vec<u32>,
}

impl Places {
    /// The distances of these cpus from the first of them.
    pub(crate) fn of(all: &[u32]) -> Self {
        let first = all.first().copied().unwrap_or(0);
        let own = cpu(first);
        let among = |list: &[u32], not: &[&[u32]]| {
            all.iter().copied().find(|cpu| {
                *cpu != first && list.contains(cpu) && not.iter().all(|other| !other.contains(cpu))
            })
        };
        let mut cores: Vec<u32> = Vec::new();
        for at in all {
            if !cores.iter().any(|core| cpu(*core).siblings.contains(at)) {
                cores.push(*at);
            }
        }
        let (shape, cpu_numbers) =
            imported(all).unwrap_or_else(|| (topology(all, cores.len(), &own), Vec::new()));
        Self {
            sibling: among(&own.siblings, &[]),
            cache: among(&own.cache, &[&own.siblings]),
            near: among(&own.package, &[&own.siblings, &own.cache]),
            far: among(all, &[&own.package]),
            topology: shape,
            cpu_numbers,
            cores,
            private_cache: cache(first, 2).map_or(0, |(size, _)| size),
            shared_cache: cache(first, 3).map_or(0, |(size, _)| size),
        }
    }

    /// The other cpus to measure with their distances.
    pub(crate) fn others(&self) -> impl Iterator<Item = (&'static str, u32)> {
        [("sibling", self.sibling), ("cache", self.cache), ("near", self.near), ("far", self.far)]
            .into_iter()
            .filter_map(|(name, cpu)| Some((name, cpu?)))
    }
}

/// The shape and the numbers of the cpus as `machine import --host` writes them, if it imports all of them.
fn imported(all: &[u32]) -> Option<(String, Vec<u32>)> {
    let host = import(Description::Host(Path::new("/")), "host", false).ok()?.entry;
    (host.topology.cpus() as usize == all.len()).then_some((host.topology_text, host.lists.cpu_numbers))
}

/// The shape of a uniform machine: packages, groups that share a cache, cores, hardware threads.
fn topology(all: &[u32], cores: usize, own: &Cpu) -> String {
    let count = |list: &[u32]| all.iter().filter(|cpu| list.contains(cpu)).count().max(1);
    let threads = count(&own.siblings);
    let package = count(&own.package);
    let packages = (all.len() / package).max(1);
    let group = count(&own.cache).clamp(threads, package);
    let uniform = packages * package == all.len() && cores * threads == all.len() && package % group == 0;
    if !uniform {
        return format!("package:1 core:{}", all.len());
    }
    let mut text = format!("package:{packages}");
    // As `machine import` writes it: a cache of the whole package is a group, too.
    if group > threads {
        text.push_str(&format!(" cache:{} core:{}", package / group, group / threads));
    } else {
        text.push_str(&format!(" core:{}", package / threads));
    }
    if threads > 1 {
        text.push_str(&format!(" pu:{threads}"));
    }
    text
}

fn cpu(cpu: u32) -> Cpu {
    let list = |file: &str| {
        let text = fs::read_to_string(format!("{ROOT}/cpu{cpu}/topology/{file}")).unwrap_or_default();
        let listed = parse(&text);
        if listed.is_empty() { vec![cpu] } else { listed }
    };
    Cpu {
        siblings: list("thread_siblings_list"),
        package: list("package_cpus_list"),
        cache: cache(cpu, 3).map_or_else(|| vec![cpu], |(_, shared)| shared),
    }
}

/// Size in bytes of a cache of a level, and the cpus that share it.
fn cache(cpu: u32, level: u32) -> Option<(u64, Vec<u32>)> {
    (0..8).find_map(|index| {
        let read = |file: &str| fs::read_to_string(format!("{ROOT}/cpu{cpu}/cache/index{index}/{file}")).ok();
        if read("level")?.trim() != level.to_string() || read("type")?.trim() == "Instruction" {
            return None;
        }
        let size = read("size")?;
        let size = size.trim();
        let (number, unit) = size.split_at(size.len().checked_sub(1)?);
        let unit = match unit {
            "K" => 1 << 10,
            "M" => 1 << 20,
            _ => return None,
        };
        Some((number.parse::<u64>().ok()?.checked_mul(unit)?, parse(&read("shared_cpu_list")?)))
    })
}

/// A list of cpus as sysfs writes it: `0-3,8`.
fn parse(text: &str) -> Vec<u32> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(from), Ok(to)) = (from.parse::<u32>(), to.parse::<u32>()) {
            cpus.extend(from..=to.min(from.saturating_add(65_536)));
        }
    }
    cpus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(parse("0-2,8\n"), [0, 1, 2, 8]);
        assert!(parse("").is_empty());
    }

    #[test]
    fn shapes() {
        let own = |siblings: &[u32], package: &[u32], cache: &[u32]| Cpu {
            siblings: siblings.to_vec(),
            package: package.to_vec(),
            cache: cache.to_vec(),
        };
        let all: Vec<u32> = (0..8).collect();
        assert_eq!(topology(&[0, 1], 2, &own(&[0], &[0, 1], &[0, 1])), "package:1 cache:1 core:2");
        assert_eq!(topology(&all, 4, &own(&[0, 4], &all, &all)), "package:1 cache:1 core:4 pu:2");
        assert_eq!(topology(&[0, 1], 2, &own(&[0], &[0, 1], &[0])), "package:1 core:2");
        let shape = topology(&all, 8, &own(&[0], &[0, 1, 2, 3], &[0, 1]));
        assert_eq!(shape, "package:2 cache:2 core:2");
        assert_eq!(topology(&all[..3], 3, &own(&[0], &[0, 1], &[0, 1])), "package:1 core:3");
    }
}
