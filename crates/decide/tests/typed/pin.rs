//! The cpus that PIN gives tasks, against those that the typed lists state.

use std::collections::BTreeMap;

use decide::typed::{Dialect, Layout, Place, Program, Unit};
use experiment::PolicyRegistry;
use experiment::run::simulate_one;
use notation::lists::parse;
use notation::parameter::Kind;
use scenario::Overrides;
use sim_core::observe::Observer;
use sim_core::policy::{Action, Decision};
use sim_core::time::Time;

use super::{Host, SHAPE, bound, cg, layer, there};

/// The mask that each task was bound to.
#[derive(Default)]
struct Masks {
    of: BTreeMap<u32, Vec<u32>>,
    cpus: u32,
}

impl Observer for Masks {
    fn decided(&mut self, _: Time, decision: &Decision) {
        if let (Some(task), Action::Bound(affinity)) = (decision.task, &decision.action) {
            let all = (0..self.cpus).map(sim_core::ids::CpuId);
            self.of.insert(task.0, all.filter(|cpu| affinity.allows(*cpu)).map(|cpu| cpu.0).collect());
        }
    }
}

/// What PIN does, in Linux's numbers.
fn simulated(host: &Host, tasks: u32, layout: &str, by: &str, offset: u32, mask: &str) -> Vec<Vec<u32>> {
    let cpus = if mask.is_empty() { String::new() } else { format!(", cpus: \"{mask}\"") };
    let app =
        format!("workload: {{ spmd: {{ work: 1ms, intervals: 1 }} }}, runtime: block, tasks: {tasks}{cpus}");
    bound_by(host, SHAPE, &app, tasks, &format!("layout: {layout}, by: {by}, offset: {offset}"))
}

/// What PIN does with processes of so many threads each, in Linux's numbers.
fn simulated_teams(host: &Host, shape: &str, (processes, team): (u32, u32), mask: &str) -> Vec<Vec<u32>> {
    let cpus = if mask.is_empty() { String::new() } else { format!(", cpus: \"{mask}\"") };
    let app = format!(
        "workload: {{ hybrid: {{ work: 1ms, intervals: 1, threads_per_process: {team} }} }}, runtime: \
         {{ mpi: openmpi, openmp: libgomp }}, tasks: {}{cpus}",
        processes * team
    );
    bound_by(host, shape, &app, processes * team, "layout: blocks, by: core")
}

/// The cpus to which PIN binds each task of a program.
fn bound_by(host: &Host, shape: &str, app: &str, tasks: u32, pin: &str) -> Vec<Vec<u32>> {
    let text = format!(
        "name: t\nmachine: \"{shape}\"\napps:\n  cg: {{ {app} }}\npolicies: [{{ PIN: {{ {pin} }} }}]\n\
         baseline: none\nrepeat: 1\n"
    );
    let loaded = scenario::load_with(&PolicyRegistry::default(), "t", &text, &Overrides::default()).unwrap();
    let mut masks = Masks { cpus: host.machine.cpus(), ..Masks::default() };
    simulate_one(&loaded.runs[0], &mut masks).unwrap();
    let linux = |cpu: &u32| host.numbering.linux[*cpu as usize];
    let sorted = |cpus: &Vec<u32>| {
        let mut cpus: Vec<u32> = cpus.iter().map(linux).collect();
        cpus.sort_unstable();
        cpus
    };
    assert_eq!(masks.of.len(), tasks as usize);
    masks.of.values().map(sorted).collect()
}

/// The value of a variable in a command, unquoted.
fn variable<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.split_once(&format!("{name}="))?.1;
    Some(
        rest.strip_prefix('\'')
            .map_or_else(|| rest.split(' ').next().unwrap(), |quoted| quoted.split('\'').next().unwrap()),
    )
}

/// A place of OpenMP: `0`, `0,8` or `0:4`, without its braces.
fn place(text: &str) -> Vec<i64> {
    match text.split_once(':') {
        Some((first, count)) => {
            let (first, count): (i64, i64) = (first.parse().unwrap(), count.parse().unwrap());
            (first..first + count).collect()
        }
        None => text.split(',').map(|cpu| cpu.parse().unwrap()).collect(),
    }
}

/// A list of places, by the grammar of OpenMP.
fn listed(text: &str) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    for part in text.split('{').filter(|part| !part.is_empty()) {
        let (inner, rest) = part.split_once('}').unwrap();
        let numbers: Vec<i64> =
            rest.trim_matches(',').split(':').filter(|n| !n.is_empty()).map(|n| n.parse().unwrap()).collect();
        let (count, step) = (numbers.first().copied().unwrap_or(1), numbers.get(1).copied().unwrap_or(1));
        let cpus = place(inner);
        all.extend((0..count).map(|at| cpus.iter().map(|cpu| (cpu + at * step) as u32).collect::<Vec<_>>()));
    }
    all
}

/// What the names stand for on the machine of [`SHAPE`], as libgomp lists them.
fn named(name: &str, allowed: &[u32]) -> Vec<Vec<u32>> {
    let cores: Vec<Vec<u32>> = (0..8).map(|core| vec![core, core + 8]).collect();
    let all: Vec<Vec<u32>> = match name {
        "cores" => cores,
        "threads" => cores.into_iter().flatten().map(|cpu| vec![cpu]).collect(),
        "sockets" => vec![vec![0, 1, 2, 3, 8, 9, 10, 11], vec![4, 5, 6, 7, 12, 13, 14, 15]],
        other => return listed(other),
    };
    let kept = all.into_iter().map(|cpus| cpus.into_iter().filter(|cpu| allowed.contains(cpu)).collect());
    kept.filter(|cpus: &Vec<u32>| !cpus.is_empty()).collect()
}

/// The cpus of each thread by the rules of OpenMP.
fn openmp(text: &str, threads: usize, allowed: &[u32]) -> Vec<Vec<u32>> {
    let places = named(variable(text, "OMP_PLACES").unwrap(), allowed);
    let (count, spread) = (places.len(), variable(text, "OMP_PROC_BIND").unwrap() == "spread");
    let of = |thread: usize| match (threads <= count, spread) {
        (true, true) => thread * (count / threads),
        (true, false) => thread,
        // Consecutive threads; the first places have one more where they do not divide evenly.
        (false, _) => {
            let (each, more) = (threads / count, threads % count);
            if thread < more * (each + 1) {
                thread / (each + 1)
            } else {
                more + (thread - more * (each + 1)) / each
            }
        }
    };
    (0..threads).map(|thread| places[of(thread)].clone()).collect()
}

/// The cpus of each process of `--cpu-bind`.
fn slurm(text: &str, tasks: usize) -> Vec<Vec<u32>> {
    let value = variable(text, "--cpu-bind").unwrap();
    let (kind, list) = value.split_once(':').unwrap();
    let one = |text: &str| match kind {
        "map_cpu" => vec![text.parse().unwrap()],
        _ => {
            let bits = u128::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap();
            (0..128).filter(|cpu| bits >> cpu & 1 == 1).collect()
        }
    };
    list.split(',').map(one).cycle().take(tasks).collect()
}

fn cpus(text: &str) -> Vec<u32> {
    parse(Kind::Cpus, text, 0, 1_000).unwrap().into_iter().map(|cpu| cpu as u32).collect()
}

/// The cpus of each process behind `bash -c`, or of the options of Open MPI on the machine of [`SHAPE`].
fn open_mpi(text: &str, tasks: usize) -> Vec<Vec<u32>> {
    let core = |rank: usize| vec![rank as u32, rank as u32 + 8];
    let node = |rank: usize| cpus(if rank.is_multiple_of(2) { "0-3,8-11" } else { "4-7,12-15" });
    let all = |given: &dyn Fn(usize) -> Vec<u32>| (0..tasks).map(given).collect();
    let option = |text: &str, name: &str| {
        text.split_once(&format!("{name} ")).map(|(_, rest)| rest.split(' ').next().unwrap().to_owned())
    };
    match (option(text, "--map-by").as_deref(), option(text, "--bind-to").unwrap().as_str()) {
        (Some("core"), "core") => all(&core),
        (Some("hwthread"), "hwthread") => all(&|rank| vec![core(rank / 2)[rank % 2]]),
        (Some("numa"), "core") => all(&|rank| core(rank % 2 * 4 + rank / 2)),
        (Some("numa"), "numa") => all(&node),
        (Some("core"), "numa") => all(&|rank| node(rank / 4)),
        (None, "none") => {
            let list = text.split_once("c=(").unwrap().1.split(')').next().unwrap();
            list.split(' ').map(cpus).cycle().take(tasks).collect()
        }
        other => panic!("{other:?} in {text}"),
    }
}

/// The cpus of each process of Hydra's `-bind-to user:`.
fn hydra(text: &str, tasks: usize) -> Vec<Vec<u32>> {
    let list = text.split_once("user:").unwrap().1.split(' ').next().unwrap();
    list.split(',').map(|set| cpus(&set.replace('+', ","))).cycle().take(tasks).collect()
}

/// The cpus of Intel MPI's domains, by process.
fn intel(text: &str) -> Vec<Vec<u32>> {
    let list = variable(text, "I_MPI_PIN_DOMAIN").unwrap();
    let domains = list.trim_matches(['[', ']']).split(',');
    let bits = domains.map(|mask| u128::from_str_radix(mask, 16).unwrap());
    bits.map(|bits| (0..128).filter(|cpu| bits >> cpu & 1 == 1).collect()).collect()
}

const UNITS: [(Unit, &str); 5] = [
    (Unit::Cpu, "cpu"),
    (Unit::Core, "core"),
    (Unit::Cache, "cache"),
    (Unit::Node, "node"),
    (Unit::Package, "package"),
];

#[test]
fn lists_state_the_cpus_that_pin_gives() {
    let host = Host::smt();
    let layouts = [(Layout::Even, "even"), (Layout::Close, "gather"), (Layout::Spread, "scatter")];
    for (layout, written) in &layouts {
        for ((unit, by), tasks) in
            UNITS.into_iter().flat_map(|unit| [1, 2, 4, 5, 8, 16, 20].map(|n| (unit, n)))
        {
            let pinned = simulated(&host, tasks, written, by, 0, "");
            let said = format!("{written} by {by}, {tasks} tasks");
            let place = bound(layout.clone(), unit);
            let threads = Program { threads: there("libgomp", tasks, None), place: place.clone(), ..cg() };
            let text = &host.one(threads, Dialect::Shell)[0];
            let everything: Vec<u32> = (0..16).collect();
            assert_eq!(openmp(text, tasks as usize, &everything), pinned, "{said}: {text}");
            let job =
                |runtime| Program { processes: there(runtime, tasks, None), place: place.clone(), ..cg() };
            let text = &host.one(job("openmpi"), Dialect::Slurm)[0];
            assert_eq!(slurm(text, tasks as usize), pinned, "{said}: {text}");
            let text = &host.one(job("openmpi"), Dialect::OpenMpi)[0];
            assert_eq!(open_mpi(text, tasks as usize), pinned, "{said}: {text}");
            let text = &host.one(job("mpich2"), Dialect::Mpich)[0];
            assert_eq!(hydra(text, tasks as usize), pinned, "{said}: {text}");
        }
    }
}

#[test]
fn masks_and_offsets_move_the_places_as_in_pin() {
    let host = Host::smt();
    for (layout, written) in [(Layout::Even, "even"), (Layout::Spread, "scatter")] {
        for (tasks, offset) in [(3, 0), (6, 0), (6, 2), (9, 5)] {
            let pinned = simulated(&host, tasks, written, "cpu", offset, "0-5,8");
            let place = Some(Place::Bound { layout: layout.clone(), unit: Unit::Cpu, offset });
            let mask = Some(vec![0, 1, 2, 3, 4, 5, 8]);
            let threads = Program {
                threads: there("libomp", tasks, None),
                place: place.clone(),
                cpus: mask.clone(),
                ..cg()
            };
            let text = &host.one(threads, Dialect::Shell)[0];
            let allowed = [0, 8, 1, 9, 2, 10, 4];
            assert_eq!(openmp(text, tasks as usize, &allowed), pinned, "{text}");
            assert!(text.contains(" taskset -c 0-2,4,8-10 cg"), "{text}");
            let job = Program { processes: there("mpi", tasks, None), place, cpus: mask, ..cg() };
            let text = &host.one(job, Dialect::OpenMpi)[0];
            assert_eq!(open_mpi(text, tasks as usize), pinned, "{text}");
        }
    }
}

#[test]
fn a_list_is_followed_in_its_order_with_repetitions() {
    let host = Host::smt();
    let list = Layout::List(vec![5, 0, 5, 2]);
    let program = Program { threads: there("libgomp", 6, None), place: bound(list, Unit::Cpu), ..cg() };
    let text = &host.one(program, Dialect::Shell)[0];
    let all: Vec<u32> = (0..16).collect();
    assert_eq!(openmp(text, 6, &all), [[10], [0], [10], [1], [10], [0]], "{text}");
}

/// Two packages of two caches of four cores with two hardware threads; Linux counts the second ones from 16.
const CACHES: &str = "package:2 numa:1 l3:2 core:4 pu:2";

/// What Open MPI gives each process on the machine of [`CACHES`].
fn open_mpi_of_caches(text: &str, processes: usize) -> Vec<Vec<u32>> {
    let each = text.split_once(":PE=").map(|(_, rest)| rest.split(' ').next().unwrap().parse().unwrap());
    let each: usize = each.unwrap_or(1);
    let cores = |from: usize| {
        let mut cpus: Vec<u32> =
            (from..from + each).flat_map(|core| [core as u32, core as u32 + 16]).collect();
        cpus.sort_unstable();
        cpus
    };
    let all = |first: &dyn Fn(usize) -> usize| (0..processes).map(|rank| cores(first(rank))).collect();
    let pe = format!(":PE={each} --bind-to core");
    let maps = |object: &str| text.contains(&format!("--map-by {object}{pe}"));
    match (maps("slot"), maps("numa")) {
        _ if text.contains("--map-by core --bind-to core") => {
            (0..processes as u32).map(|core| vec![core, core + 16]).collect()
        }
        (true, _) => all(&|rank| rank * each),
        (_, true) => all(&|rank| rank % 2 * 8 + rank / 2 * each),
        _ => {
            let list = text.split_once("c=(").unwrap().1.split(')').next().unwrap();
            list.split(' ').map(cpus).cycle().take(processes).collect()
        }
    }
}

/// One process for each package, cache and core, some of them with fewer or more threads than cores, and
/// numbers that do not divide the machine.
#[test]
fn processes_with_threads_are_started_on_the_blocks_that_pin_gives() {
    let host = Host::new(CACHES, (0..16).flat_map(|core| [core, core + 16]).collect());
    let core = |cpu: &u32| vec![cpu % 16, cpu % 16 + 16];
    for (processes, team) in
        [(4, 4), (2, 8), (4, 2), (2, 4), (8, 2), (1, 16), (4, 8), (3, 4), (3, 5), (16, 2)]
    {
        for mask in ["", "0-15"] {
            let pinned = simulated_teams(&host, CACHES, (processes, team), mask);
            let said = format!("{processes} of {team} in {mask:?}");
            let of_process = |cpus: &[Vec<u32>]| {
                let all: std::collections::BTreeSet<u32> = cpus.iter().flatten().copied().collect();
                all.into_iter().collect::<Vec<u32>>()
            };
            let masks: Vec<Vec<u32>> = pinned.chunks(team as usize).map(of_process).collect();
            let job = |runtime| Program {
                processes: there(runtime, processes, None),
                threads: there("libgomp", team, None),
                place: bound(Layout::Blocks, Unit::Core),
                cpus: (!mask.is_empty()).then(|| (0..16).collect()),
                ..cg()
            };
            let text = &host.one(job("openmpi"), Dialect::Slurm)[0];
            assert_eq!(slurm(text, processes as usize), masks, "{said}: {text}");
            // Inside of its process each thread has the core that OpenMP gives it.
            if team > 1 && variable(text, "OMP_PROC_BIND") == Some("close") && processes > 1 {
                assert_eq!(variable(text, "OMP_PLACES"), Some("cores"), "{said}: {text}");
                for (process, own) in pinned.chunks(team as usize).zip(&masks) {
                    let mut cores: Vec<Vec<u32>> = own.iter().filter(|cpu| **cpu < 16).map(core).collect();
                    cores.sort_unstable();
                    let each = (0..team as usize)
                        .map(|thread| thread * cores.len() / (team as usize).max(cores.len()));
                    assert_eq!(
                        each.map(|at| cores[at].clone()).collect::<Vec<_>>(),
                        process,
                        "{said}: {text}"
                    );
                }
            }
            let text = &host.one(job("openmpi"), Dialect::OpenMpi)[0];
            assert_eq!(open_mpi_of_caches(text, processes as usize), masks, "{said}: {text}");
            let text = &host.one(job("mpich2"), Dialect::Mpich)[0];
            assert_eq!(hydra(text, processes as usize), masks, "{said}: {text}");
            let text = &host.one(job("mpi"), Dialect::IntelMpi)[0];
            if variable(text, "I_MPI_PIN_DOMAIN").is_some() {
                assert_eq!(intel(text), masks, "{said}: {text}");
            } else {
                assert_eq!(open_mpi_of_caches(text, processes as usize), masks, "{said}: {text}");
            }
        }
    }
}

#[test]
fn blocks_are_typed_as_the_guides_of_computing_centres_do() {
    let host = Host::new(CACHES, (0..16).flat_map(|core| [core, core + 16]).collect());
    let job = Program {
        processes: layer("openmpi", 4, None),
        threads: layer("libgomp", 4, None),
        place: bound(Layout::Blocks, Unit::Core),
        ..cg()
    };
    let text = "OMP_NUM_THREADS=4 OMP_PROC_BIND=close OMP_PLACES=cores mpirun -np 4 --map-by slot:PE=4 \
        --bind-to core cg";
    assert_eq!(host.one(job.clone(), Dialect::OpenMpi), [text]);
    let text = "OMP_NUM_THREADS=4 OMP_PROC_BIND=close OMP_PLACES=cores srun --ntasks=4 --cpus-per-task=4 \
        --cpu-bind=mask_cpu:0xf000f,0xf000f0,0xf000f00,0xf000f000 cg";
    assert_eq!(host.one(job.clone(), Dialect::Slurm)[0], text);
    let half = Program { processes: layer("openmpi", 2, None), ..job };
    let text = "OMP_NUM_THREADS=4 OMP_PROC_BIND=close OMP_PLACES=cores mpirun -np 2 --map-by numa:PE=4 \
        --bind-to core cg";
    assert_eq!(host.one(half, Dialect::OpenMpi), [text]);
}
