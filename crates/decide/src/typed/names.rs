//! Names of OpenMP and options of Open MPI that stand for a placing on this machine, where there are any.

use super::advice::{Node, Place, Unit};
use super::layout::{Placing, objects, union, whole};
use super::lists;

/// How OpenMP assigns places to threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Binding {
    Close,
    Spread,
}

/// What OpenMP is told: `OMP_PROC_BIND` and `OMP_PLACES`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Bound {
    pub(super) bind: &'static str,
    pub(super) places: Option<String>,
    /// Threads have the cpus that the placing gives them; otherwise only their process has.
    pub(super) exact: bool,
}

/// The place of each thread of a team, by the rules of OpenMP 5.0, section 2.6.2; none where they leave it to
/// the library which places have one thread more.
fn assigned(places: &[Vec<u32>], threads: usize, binding: Binding) -> Option<Vec<Vec<u32>>> {
    let count = places.len();
    let each: Box<dyn Fn(usize) -> usize> = match binding {
        Binding::Close if threads <= count => Box::new(|thread| thread),
        Binding::Close if count > 0 && threads.is_multiple_of(count) => {
            Box::new(move |thread| thread / (threads / count))
        }
        Binding::Spread if threads > 0 && threads <= count && count.is_multiple_of(threads) => {
            Box::new(move |thread| thread * (count / threads))
        }
        _ => return None,
    };
    (0..threads).map(|thread| places.get(each(thread)).cloned()).collect()
}

/// Objects in the order in which libgomp lists them (affinity.c: by the first cpu of a package, then of a
/// core), if that is the order of the simulator: of the hardware, as in libomp.
fn listed(node: &Node<'_>, unit: Unit, allowed: &[u32]) -> Option<Vec<Vec<u32>>> {
    let parts = objects(node, unit, allowed);
    let packages = objects(node, Unit::Package, allowed);
    let rising = |all: &[&Vec<u32>]| all.windows(2).all(|pair| pair[0].first() < pair[1].first());
    let inside = |package: &Vec<u32>| {
        let own = |part: &&Vec<u32>| part.first().is_some_and(|cpu| package.binary_search(cpu).is_ok());
        rising(&parts.iter().filter(own).collect::<Vec<_>>())
    };
    let cores = objects(node, Unit::Core, allowed);
    let of_cores = |package: &Vec<u32>| {
        let own = |core: &&Vec<u32>| core.first().is_some_and(|cpu| package.binary_search(cpu).is_ok());
        rising(&cores.iter().filter(own).collect::<Vec<_>>())
    };
    let same = match unit {
        // Threads are listed core by core.
        Unit::Cpu => {
            packages.iter().all(of_cores)
                && parts.iter().flatten().copied().eq(cores.iter().flatten().copied())
        }
        _ => packages.iter().all(inside),
    };
    (same && rising(&packages.iter().collect::<Vec<_>>())).then_some(parts)
}

/// The abstract name that gives the threads of a process these cpus with a binding.
fn abstract_name(
    node: &Node<'_>,
    threads: &[Vec<u32>],
    allowed: &[u32],
    binding: Binding,
) -> Option<&'static str> {
    let names = [(Unit::Core, "cores"), (Unit::Cpu, "threads"), (Unit::Package, "sockets")];
    let fits = |unit| {
        let places = listed(node, unit, allowed)?;
        (assigned(&places, threads.len(), binding)? == threads).then_some(())
    };
    names.into_iter().find(|(unit, _)| fits(*unit).is_some()).map(|(_, name)| name)
}

/// The places of a list for these threads: each once where the rule of `close` then gives the same.
fn listing(threads: &[Vec<u32>]) -> String {
    let mut once = threads.to_vec();
    once.dedup();
    let shorter = assigned(&once, threads.len(), Binding::Close).as_deref() == Some(threads);
    lists::places(if shorter { &once } else { threads })
}

/// What OpenMP is told of a place; none where nothing has to be said.
pub(super) fn openmp(
    node: &Node<'_>,
    place: Option<&Place>,
    placing: Option<&Placing>,
    mask: Option<&[u32]>,
) -> Option<Bound> {
    let all = whole(node);
    let placing = match (place?, placing) {
        (Place::Unbound, _) => return Some(Bound { bind: "false", places: None, exact: true }),
        (_, placing) => placing?,
    };
    let teams: Vec<&[Vec<u32>]> = placing.tasks.chunks(placing.team).collect();
    let first = teams.first()?;
    let exact = |bind, places| Some(Bound { bind, places: Some(places), exact: true });
    // Of one process the cpus can be listed, of several only the name says other cpus to each.
    if let [team] = teams[..] {
        let name = abstract_name(node, team, mask.unwrap_or(&all), Binding::Close);
        return exact("close", name.map_or_else(|| listing(team), str::to_owned));
    }
    // Threads with the cpus of their process have them already.
    if teams.iter().all(|team| team.iter().all(|cpus| Some(cpus) == team.first())) {
        return None;
    }
    for (binding, word) in [(Binding::Close, "close"), (Binding::Spread, "spread")] {
        let of = |team: &[Vec<u32>]| abstract_name(node, team, &union(team), binding);
        let name = of(first);
        if let Some(name) = name.filter(|_| teams.iter().all(|team| of(team) == name)) {
            return exact(word, name.to_owned());
        }
    }
    if teams.iter().all(|team| team == first) {
        return exact("close", listing(first));
    }
    Some(Bound { bind: "false", places: None, exact: false })
}

/// `--map-by` and `--bind-to` of Open MPI that give each process of a job these cpus, if there are any of
/// those that mean the same in its series 4 and 5.
pub(super) fn open_mpi(node: &Node<'_>, placing: &Placing) -> Option<(String, &'static str)> {
    let all = whole(node);
    let wanted = placing.processes();
    let [cpus, cores, nodes] = [Unit::Cpu, Unit::Core, Unit::Node].map(|unit| objects(node, unit, &all));
    let count = wanted.len();
    // With more processes than cores the launcher refuses to bind, or overloads in its own way.
    if count > cores.len() {
        return None;
    }
    let is = |given: &dyn Fn(usize) -> Option<Vec<u32>>| {
        wanted.iter().enumerate().all(|(rank, cpus)| given(rank).as_ref() == Some(cpus))
    };
    let home = |cpus: &Vec<u32>| {
        let holds = |node: &&Vec<u32>| cpus.first().is_some_and(|cpu| node.binary_search(cpu).is_ok());
        nodes.iter().find(holds)
    };
    let of_node = |rank: usize| {
        let node = nodes.get(rank % nodes.len())?;
        cores.iter().filter(|core| home(core) == Some(node)).nth(rank / nodes.len()).cloned()
    };
    // Cores of a process, of which the launcher gives each as many.
    let within =
        |core: &&Vec<u32>| wanted.first().is_some_and(|own| core.iter().all(|cpu| own.contains(cpu)));
    let each = cores.iter().filter(within).count();
    let team = placing.team;
    let several = |rank: usize| cores.get(rank * each..(rank + 1) * each).map(union);
    let several_of_node = |rank: usize| {
        let node = nodes.get(rank % nodes.len())?;
        let own: Vec<Vec<u32>> = cores.iter().filter(|core| home(core) == Some(node)).cloned().collect();
        own.get(rank / nodes.len() * each..(rank / nodes.len() + 1) * each).map(union)
    };
    let found = |map: &str, bind| Some((map.to_owned(), bind));
    if is(&|rank| cores.get(rank).cloned()) {
        found("core", "core")
    } else if is(&|rank| cpus.get(rank).cloned()) {
        found("hwthread", "hwthread")
    } else if is(&of_node) {
        found("numa", "core")
    } else if team > 1 && is(&several) {
        Some((format!("slot:PE={each}"), "core"))
    } else if team > 1 && is(&several_of_node) {
        Some((format!("numa:PE={each}"), "core"))
    } else if is(&|rank| nodes.get(rank % nodes.len()).cloned()) {
        found("numa", "numa")
    } else if is(&|rank| home(cores.get(rank)?).cloned()) {
        found("core", "numa")
    } else {
        None
    }
}
