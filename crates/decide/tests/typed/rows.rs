//! Every row of the table is produced, each wait mode is what the simulator has, and odd values do no harm.

use std::collections::BTreeSet;

use decide::typed::{
    Advice, Dialect, Kind, LIBRARIES, Layout, Lever, Pages, Place, Program, Quota, ROWS, Shared, Unit,
    Waiting, lines, simulated,
};
use workloads::runtimes::RUNTIMES;

use super::{Host, bound, cg, layer, there};

const WAITS: [Waiting; 6] = [
    Waiting::Sleep,
    Waiting::Yield,
    Waiting::Spin,
    Waiting::SpinFor(50_000),
    Waiting::SpinFor(5_000_000),
    Waiting::SpinCount(700),
];

/// Programs that ask for everything in many ways.
fn programs() -> Vec<Program> {
    let mut all = Vec::new();
    let pools = [
        "libgomp",
        "libomp",
        "openmp",
        "sun-openmp",
        "open64",
        "go",
        "openblas",
        "mkl",
        "rayon",
        "java",
        "make",
    ];
    let named = |name: &&str| Program { name: (*name).into(), threads: layer(name, 3, None), ..cg() };
    all.extend(LIBRARIES.iter().map(named));
    for wait in WAITS {
        all.extend(pools.map(|pool| Program { threads: layer(pool, 3, Some(wait)), ..cg() }));
        for library in ["mpi", "mpich2"] {
            all.extend(pools.map(|pool| Program {
                processes: there(library, 2, None),
                threads: layer(pool, 3, Some(wait)),
                ..cg()
            }));
        }
        all.extend(
            ["mpi", "mpich2", "openmpi"].map(|lib| Program { processes: layer(lib, 9, Some(wait)), ..cg() }),
        );
    }
    let quota = Some(Quota { quota: 75_000_000, period: 50_000_000, burst: 5_000_000 });
    let places = [
        bound(Layout::Close, Unit::Cpu),
        bound(Layout::Even, Unit::Cpu),
        bound(Layout::Even, Unit::Core),
        Some(Place::Unbound),
        None,
    ];
    for (place, pages) in places.into_iter().flat_map(|place| {
        [None, Some(Pages::Interleaved), Some(Pages::Nodes(vec![1]))].map(|pages| (place.clone(), pages))
    }) {
        let base = Program { place, pages, nice: Some(5), quota, weight: Some(200), ..cg() };
        for number in [2, 20] {
            let processes = there("mpi", number, None);
            all.push(Program {
                processes: processes.clone(),
                threads: layer("libgomp", 2, None),
                ..base.clone()
            });
            all.push(Program { processes, cpus: Some(vec![0, 1, 2, 3]), ..base.clone() });
        }
        all.push(Program { threads: layer("block", 4, None), cpus: Some(vec![0, 2]), ..base.clone() });
        all.push(Program { threads: layer("libomp", 4, None), one_thread_per_core: true, ..base });
    }
    all.push(Program { cpus: Some(vec![0, 1]), ..cg() });
    all
}

#[test]
fn every_row_is_produced() {
    let host = Host::smt();
    let mut seen: BTreeSet<(Dialect, &str)> = BTreeSet::new();
    for program in programs() {
        for shared in [None, Some(Shared::Cores(2)), Some(Shared::Node), Some(Shared::Nothing)] {
            let advice = Advice { programs: vec![program.clone()], shared, ..Advice::default() };
            for dialect in Dialect::ALL {
                let typed = lines(&advice, &host.node(), &[dialect]);
                seen.extend(
                    typed.iter().flat_map(|line| line.settings.iter().map(|said| (dialect, said.name))),
                );
                for line in &typed {
                    assert!(!line.text.contains('\n') && !line.text.is_empty(), "{line:?}");
                    let own = LIBRARIES.contains(&program.name.as_str());
                    assert!(own || line.kind != Kind::Command || line.text.ends_with("cg"), "{line:?}");
                }
            }
        }
    }
    for row in ROWS.iter().copied().flatten() {
        assert!(!row.source.is_empty() && !row.levers.is_empty(), "{}", row.name);
        for dialect in row.dialects {
            assert!(seen.contains(&(*dialect, row.name)), "{} in {}", row.name, dialect.name());
        }
    }
}

#[test]
fn runtimes_of_rows_exist() {
    for row in ROWS.iter().copied().flatten() {
        for name in row.runtimes {
            let known = RUNTIMES.find(name).is_some() || LIBRARIES.contains(name);
            assert!(known, "{}: {name}", row.name);
        }
    }
}

#[test]
fn a_wait_mode_can_be_typed_where_the_simulator_has_it() {
    let host = Host::smt();
    for runtime in RUNTIMES.names() {
        for wait in WAITS {
            let mpi = ["mpi", "mpich2", "openmpi"].contains(&runtime);
            let pool = if mpi { None } else { there(runtime, 4, Some(wait)) };
            let processes = if mpi { there(runtime, 4, Some(wait)) } else { None };
            let advice =
                Advice { programs: vec![Program { processes, threads: pool, ..cg() }], ..Advice::default() };
            let lever = if mpi { Lever::WaitOfProcesses } else { Lever::WaitOfThreads };
            let names: BTreeSet<&str> = ROWS
                .iter()
                .copied()
                .flatten()
                .filter(|row| row.levers.contains(&lever))
                .map(|row| row.name)
                .collect();
            let typed = lines(&advice, &host.node(), &Dialect::ALL);
            let said = typed.iter().flat_map(|line| &line.settings).any(|said| names.contains(said.name));
            // Intel's runtime to 2015 takes whole milliseconds.
            let fine = runtime == "openmp" && wait == Waiting::SpinFor(50_000);
            assert_eq!(said, simulated(runtime, wait).is_some() && !fine, "{runtime} {wait:?}: {typed:?}");
        }
    }
}

/// A program of four tasks with this runtime.
fn scenario_with(runtime: &str) -> String {
    format!(
        "name: t\nmachine: \"core:4\"\napps:\n  cg: {{ workload: {{ spmd: {{ work: 1ms, \
         intervals: 1 }} \
         }}, runtime: {runtime},\n    tasks: 4 }}\npolicies: [LOAD]\nbaseline: none\n"
    )
}

#[test]
fn what_a_wait_mode_is_in_a_scenario_can_be_read() {
    let policies = experiment::PolicyRegistry::default();
    for runtime in RUNTIMES.names() {
        for form in WAITS.into_iter().filter_map(|wait| simulated(runtime, wait)) {
            let text = scenario_with(&form);
            let loaded = scenario::load_with(&policies, "t", &text, &scenario::Overrides::default());
            assert!(loaded.is_ok(), "{form}: {:?}", loaded.err());
        }
    }
}

#[test]
fn sleeping_at_once_is_the_same_wait_in_every_runtime() {
    let policies = experiment::PolicyRegistry::default();
    for runtime in ["libgomp", "libomp", "openmp", "sun-openmp"] {
        let form = simulated(runtime, Waiting::Sleep).unwrap();
        let text = scenario_with(&form);
        let loaded = scenario::load_with(&policies, "t", &text, &scenario::Overrides::default()).unwrap();
        let wait = loaded.runs[0].apps[0].runtime.wait;
        let at_once = match wait {
            sim_core::wait::WaitMode::Block => true,
            sim_core::wait::WaitMode::SpinThenBlock { limit, .. } => limit == sim_core::time::Span::ZERO,
            _ => false,
        };
        assert!(at_once, "{runtime}: {wait:?}");
    }
}

#[test]
fn odd_values_do_no_harm() {
    let host = Host::small();
    let names = ["", "a b", "'; rm -rf /", "x\ny\u{202e}", "-np"];
    for name in names {
        let odd = Program {
            name: name.into(),
            processes: layer("no such\nruntime", 0, Some(Waiting::SpinCount(u64::MAX))),
            threads: layer("libgomp", u32::MAX >> 16, Some(Waiting::SpinFor(u64::MAX))),
            place: Some(Place::Bound { layout: Layout::List(vec![99]), unit: Unit::Core, offset: u32::MAX }),
            cpus: Some(vec![77, 0, 0]),
            quota: Some(Quota { quota: u64::MAX, period: 0, burst: u64::MAX }),
            weight: Some(u32::MAX),
            ..cg()
        };
        let advice = Advice { programs: vec![odd.clone(), odd], turns: true, shared: Some(Shared::Cores(0)) };
        let typed = lines(&advice, &host.node(), &Dialect::ALL);
        assert!(typed.iter().all(|line| !line.text.contains('\n')), "{typed:?}");
        // No cpu is left: no list, and no panic.
        let none = Program { cpus: Some(vec![77]), place: bound(Layout::Even, Unit::Cpu), ..cg() };
        let advice = Advice { programs: vec![none], ..Advice::default() };
        let typed = lines(&advice, &host.node(), &Dialect::ALL);
        assert!(typed.iter().all(|line| !line.text.contains("-c  ")), "{typed:?}");
    }
}
