//! How well predictions met measurements in cases like the advised one: what the page of measured hosts says.

use super::levers::Program;

/// A class of measured programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    /// The programs, as the page calls them.
    pub class: &'static str,
    /// Run times that were measured and predicted.
    pub cells: u32,
    /// Per cent of them that were predicted within 10 %.
    pub within: u32,
    /// Which programs belong to it.
    who: Who,
}

/// Which programs belong to a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Who {
    /// All.
    All,
    /// Those of this runtime.
    Under(&'static str),
    /// Those that wait for memory.
    MemoryBound,
}

/// The classes of docs/validation-host.md; a test compares them with that page. All hosts had two cpus.
pub const KNOWN: [Known; 5] = [
    Known { class: "programs under libgomp", cells: 156, within: 90, who: Who::Under("libgomp") },
    Known { class: "programs under libomp", cells: 156, within: 96, who: Who::Under("libomp") },
    Known { class: "programs under Open MPI", cells: 120, within: 92, who: Who::Under("openmpi") },
    Known { class: "memory-bound programs", cells: 16, within: 44, who: Who::MemoryBound },
    Known { class: "compute-bound programs", cells: 472, within: 93, who: Who::All },
];

/// From this share of the busy cpu time on, memory decides how long a program takes: as in the cautions of
/// `oversim run`.
pub const MEMORY_BOUND: f64 = 0.2;

/// Cpus of the measured hosts.
pub const CPUS: u32 = 2;

/// The class nearest to some programs: the one that was predicted worst of those that they belong to.
/// `memory`: one of them draws on memory.
#[must_use]
pub fn nearest(programs: &[Program], memory: bool) -> Known {
    let runtimes = programs.iter().flat_map(|program| &program.runtimes).map(|chosen| chosen.name);
    let belongs = |known: &&Known| match known.who {
        Who::All => true,
        Who::Under(runtime) => runtimes.clone().any(|name| name == runtime),
        Who::MemoryBound => memory,
    };
    KNOWN.iter().filter(belongs).min_by_key(|known| known.within).copied().unwrap_or(KNOWN[4])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_are_those_of_the_page() {
        let page = include_str!("../../../../docs/validation-host.md");
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        for Known { class, cells, within, .. } in KNOWN {
            let what = if class.starts_with("programs") { "programs" } else { class };
            let under = class.strip_prefix("programs").unwrap_or_default();
            let said = format!("{within} % of {cells} run times of {what}{under}");
            assert!(page.contains(&said), "{said}");
        }
    }
}
