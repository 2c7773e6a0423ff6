//! The catalogue against the published figures it was made from.

use super::*;
use crate::spmd::census;
use sim_core::program::{Op, Program, TransferOrder};

fn built(settings: &[(&str, &str)], tasks: u32, runtime: &str) -> Program {
    let mut values = Values::defaults(Parameters::TABLE);
    for (name, text) in settings {
        let kind = values.find(name).unwrap().kind;
        values.set(name, notation::units::parse(kind, text).unwrap()).unwrap();
    }
    build(&values, &Context { tasks, runtime, machine: "" }).unwrap().program
}

fn barriers(benchmark: &str, class: &str, runtime: &str) -> u64 {
    census(&built(&[("benchmark", benchmark), ("class", class)], 16, runtime)).0
}

#[test]
fn operation_totals_follow_the_benchmarks_own_formulas() {
    // Mop of classes S, W, A, B, C.
    let table = [
        ("cg", [66.7, 421.0, 1.50e3, 5.47e4, 1.43e5]),
        ("mg", [7.6, 487.0, 3.89e3, 1.95e4, 1.56e5]),
        ("ft", [177.0, 373.0, 7.14e3, 9.21e4, 3.96e5]),
        ("ep", [33.6, 67.1, 537.0, 2147.0, 8590.0]),
        ("is", [0.655, 10.5, 83.9, 336.0, 1342.0]),
        ("sp", [96.7, 1.42e4, 8.50e4, 3.55e5, 1.45e6]),
        ("bt", [228.0, 7.72e3, 1.68e5, 7.02e5, 2.87e6]),
        ("lu", [102.0, 1.81e4, 1.19e5, 4.99e5, 2.04e6]),
    ];
    for (name, row) in table {
        for (class, expected) in Class::WORDS.iter().zip(row) {
            let mop = catalogue().unwrap().code(name, class).unwrap().size.operations() as f64 / 1e6;
            assert!((mop / expected - 1.0).abs() < 0.005, "{name}.{class}: {mop} Mop, not {expected}");
        }
    }
}

#[test]
fn footprints_follow_the_declared_arrays() {
    let table = [
        ("cg", [1.1, 6.8, 24.0, 176.0, 461.0]),
        ("mg", [1.0, 58.0, 451.0, 451.0, 3570.0]),
        ("ft", [10.0, 21.0, 336.0, 1342.0, 5369.0]),
        ("is", [0.524, 8.39, 67.0, 268.0, 1074.0]),
        ("sp", [0.311, 8.4, 47.2, 191.0, 765.0]),
        ("bt", [0.29, 2.32, 44.0, 178.0, 714.0]),
        ("lu", [0.235, 4.89, 35.7, 144.0, 578.0]),
    ];
    for (name, row) in table {
        for (class, expected) in Class::WORDS.iter().zip(row) {
            let mb = catalogue().unwrap().code(name, class).unwrap().size.footprint() as f64 / 1e6;
            assert!((mb / expected - 1.0).abs() < 0.05, "{name}.{class}: {mb} MB, not {expected}");
        }
    }
}

#[test]
fn barriers_are_as_counted() {
    let table = [
        ("cg", [3_777, 17_877, 17_877]),
        ("mg", [378, 1_114, 1_240]),
        ("ep", [13, 13, 13]),
        ("is", [91, 91, 91]),
        ("sp", [13_677, 13_677, 13_677]),
        ("bt", [7_688, 7_688, 7_688]),
    ];
    for (name, counts) in table {
        for (class, expected) in Class::WORDS[2..].iter().zip(counts) {
            assert_eq!(barriers(name, class, "upc"), expected, "{name}.{class}");
        }
    }
    assert_eq!((barriers("ft", "A", "upc"), barriers("ft", "B", "upc")), (56, 140));
    assert_eq!(barriers("cg", "B", "openmp"), 10_200);
    assert_eq!(barriers("mg", "C", "openmp"), 3_072);
    assert_eq!(barriers("ft", "B", "openmp"), 245);
    assert_eq!(barriers("ep", "C", "openmp"), 9);
    assert_eq!(barriers("is", "C", "openmp"), 66);
    assert_eq!(barriers("sp", "A", "openmp"), 8_848);
    assert_eq!(barriers("cg", "B", "spin"), barriers("cg", "B", "upc"), "plain runtimes count as UPC");
}

#[test]
fn mpi_codes_exchange_messages_as_their_sources_do() {
    // Per iteration, with the one that is not timed. On 4 x 4 tasks l2npcols is 2, on 8 x 4 it is 3.
    let cg = |columns: u64| 26 * (columns + 1 + 2 * columns);
    // Three halo exchanges on each of 8 levels, along 3 axes, with 2 neighbours.
    let mg = 3 * 8 * 3 * 2;
    // Stages of the reduction and of the counts, and the all-to-all of the keys; 4 doublings make 16 tasks.
    let (is, ft) = (2 * 4 + 4, 4 + 4);
    // Six faces; sweeps of four stages in both directions along three axes.
    let bt = 6 + 3 * 2 * 4;
    let table = [
        ("cg", 16, 16 * cg(2)),
        ("cg", 32, 16 * cg(3)),
        ("cg", 64, 16 * cg(3)),
        ("mg", 16, 5 * mg),
        ("is", 16, 11 * is),
        ("ft", 16, 7 * ft),
        ("bt", 16, 201 * bt),
    ];
    for (name, tasks, expected) in table {
        let (barriers, exchanges, ..) = census(&built(&[("benchmark", name), ("class", "A")], tasks, "mpi"));
        assert_eq!((barriers, exchanges), (0, expected), "{name} on {tasks}");
    }
    let (barriers, exchanges, ..) = census(&built(&[("benchmark", "cg"), ("class", "A")], 1, "mpi"));
    assert_eq!((barriers, exchanges), (16, 0), "a lone task sends no messages");
    let timed = |name: &str, model: &str, share| synchronisations((name, "A", model), 16, share).unwrap();
    assert_eq!(timed("cg", "mpi", 10_000), 15 * cg(2));
    assert_eq!(timed("cg", "mpi", 1_000), 2 * cg(2));
    assert_eq!(timed("cg", "upc", 10_000), 3_777 - 235, "all but those of the iteration that is not timed");
}

#[test]
fn every_combination_builds_the_same_problem_for_any_number_of_tasks() {
    for name in Benchmark::WORDS {
        for class in Class::WORDS {
            for runtime in ["upc", "mpi", "openmp", "block"] {
                let settings = [("benchmark", *name), ("class", *class)];
                let total = |tasks| {
                    let program = built(&settings, tasks, runtime);
                    let (barriers, .., work) = census(&program);
                    // What fills the arrays depends on their size, not on operations.
                    let filled = match program.ops() {
                        [Op::Repeat(times), Op::Compute { work, profile, .. }, ..]
                            if program.profiles()[profile.0 as usize].pages == Pages::NextTouch =>
                        {
                            u128::from(*times) * u128::from(work.raw())
                        }
                        _ => 0,
                    };
                    (barriers, (work - filled) * u128::from(tasks))
                };
                let (barriers, work) = total(1);
                // Where data are copied between tasks, more of them copy more.
                let cut = matches!(*name, "cg" | "mg" | "sp" | "bt") && runtime != "openmp";
                for tasks in [4, 16, 64, 4_096] {
                    let (same, other) = total(tasks);
                    // In MPI codes only a lone task has barriers in place of messages.
                    assert!(barriers == same || runtime == "mpi", "{name}.{class}");
                    // A rounding of half a millionth of a nanosecond for each of at most 10^6 pieces per
                    // task.
                    let same = work.abs_diff(other) < 1_000_000 * u128::from(tasks);
                    assert!(if cut { other > work } else { same }, "{name}.{class} {runtime} {tasks}");
                }
            }
        }
    }
}

#[test]
fn what_the_cut_costs_follows_the_mpi_sources() {
    let size = |name: &str| catalogue().unwrap().code(name, "B").unwrap().size;
    // cg.B: 26 x (2 + 1) vectors of 75,000 / 4 doubles; with 32 tasks the grid is 8 x 4, with 64 it is 8 x 8.
    assert_eq!([16, 32, 64].map(|n| size("cg").surface(n)), [11_700_000, 15_600_000, 7_800_000]);
    // mg.B: boxes of 64 x 128 x 128 on 16 tasks, 64^3 on 64.
    let faces = |a: u64, b: u64, c: u64| 2 * (a * b + b * c + c * a) * 8 * 4 * 4 / 3;
    assert_eq!([16, 64].map(|n| size("mg").surface(n)), [faces(128, 128, 64), faces(64, 64, 64)]);
    // sp.B: 4 boxes of 25 x 25 faces; six faces of two points of five doubles, 3 x 3 passages of 32 doubles.
    assert_eq!(size("sp").surface(16), 625 * 8 * (4 * 6 * 10 + 9 * 32));
    for name in Benchmark::WORDS {
        assert_eq!(size(name).surface(1), 0, "{name}");
    }
    let work = |runtime| census(&built(&[("benchmark", "cg"), ("class", "B")], 16, runtime)).3;
    let (none, once, twice) = (work("openmp"), work("upc"), work("mpi"));
    assert!(once > none && twice > once, "{none} {once} {twice}");
}

#[test]
fn task_counts_are_those_the_codes_run_with() {
    let built = |benchmark: &str, tasks, runtime| {
        let mut values = Values::defaults(Parameters::TABLE);
        let kind = values.find("benchmark").unwrap().kind;
        values.set("benchmark", notation::units::parse(kind, benchmark).unwrap()).unwrap();
        build(&values, &Context { tasks, runtime, machine: "" })
    };
    for (code, runtime, good, bad) in [
        ("bt", "upc", 64, 32),
        ("sp", "mpi", 9, 8),
        ("cg", "mpi", 32, 48),
        ("lu", "mpi", 8, 9),
        ("is", "mpi", 64, 17),
    ] {
        assert!(built(code, good, runtime).is_ok(), "{code} {good}");
        assert!(built(code, bad, runtime).unwrap_err().contains("the nearest are"), "{code} {bad}");
    }
    let refusal = built("bt", 32, "upc").unwrap_err();
    assert_eq!(refusal, "bt (upc) needs a square number of tasks, not 32; the nearest are 25 and 36");
    for code in Benchmark::WORDS {
        assert!(built(code, 17, "openmp").is_ok(), "OpenMP divides loops among any number of threads");
    }
    assert!(built("cg", 17, "upc").is_ok());
}

#[test]
fn solvers_exchange_by_stages_and_planes() {
    let exchanges = |code, class, runtime, tasks| {
        census(&built(&[("benchmark", code), ("class", class)], tasks, runtime)).1
    };
    // 400 steps and one that is not timed, six faces and six sweeps of four stages.
    assert_eq!(exchanges("sp", "A", "mpi", 16), 401 * (6 + 6 * 4));
    assert_eq!(exchanges("bt", "A", "mpi", 64), 201 * (6 + 6 * 8));
    // A wavefront passes 62 planes twice per step.
    assert_eq!(exchanges("lu", "A", "mpi", 16), 251 * (4 + 2 * 62));
    assert_eq!(exchanges("lu", "A", "openmp", 16), 1_760 * (2 * 62 / 7));
    assert_eq!(exchanges("sp", "A", "upc", 16), 0);
}

#[test]
fn is_moves_every_key_once_per_ranking() {
    let program = built(&[("benchmark", "is"), ("class", "C")], 16, "upc");
    let block = program.ops().iter().find_map(|op| match op {
        Op::Transfer { block, .. } => Some(*block),
        _ => None,
    });
    // 4 B x 2^27 keys over 16 x 16 blocks, ten times and once untimed.
    assert_eq!((block, census(&program).2), (Some(2 << 20), 11));
}

#[test]
fn ft_transposes_its_grid_once_per_iteration() {
    let settings = [("benchmark", "ft"), ("class", "B")];
    let block = |program: &Program| {
        program.ops().iter().find_map(|op| match op {
            Op::Transfer { block, order } => Some((*block, *order)),
            _ => None,
        })
    };
    // 16 B x 2^25 points over 16 x 16 blocks.
    let upc = built(&settings, 16, "upc");
    assert_eq!(block(&upc), Some((2 << 20, TransferOrder::Sequential)));
    assert_eq!(census(&upc).2, 21, "one of them untimed");
    assert_eq!(block(&built(&settings, 64, "mpi")), Some((128 << 10, TransferOrder::Rotated)));
    assert_eq!(block(&built(&settings, 16, "openmp")), None);
    let double = [settings[0], settings[1], ("transfer_volume", "2"), ("transfer_order", "rotated")];
    assert_eq!(block(&built(&double, 16, "upc")), Some((4 << 20, TransferOrder::Rotated)));
    let none = [settings[0], settings[1], ("transfer_volume", "0")];
    assert_eq!(block(&built(&none, 16, "upc")), None);
}

#[test]
fn a_share_of_a_run_has_the_iterations_of_the_whole() {
    let first = |code: &str, share: &str| {
        let program = built(&[("benchmark", code), ("class", "B"), ("scale", share)], 16, "upc");
        let work = program.ops().iter().find_map(|op| match op {
            Op::Compute { work, spread, .. } => Some((work.raw(), spread.0)),
            _ => None,
        });
        (census(&program), work.unwrap())
    };
    // What is not timed, one iteration, is not cut: cg 235 barriers, mg 46 and what surrounds it, ft 6, is 8.
    for (code, iterations) in [("cg", 75), ("mg", 20), ("ft", 20), ("is", 10)] {
        let ((all, _, transfers, _), piece) = first(code, "100%");
        let ((part, _, tenth, _), same) = first(code, "10%");
        let ((least, _, one, _), _) = first(code, "0.01%");
        let each = (all - least) as f64 / f64::from(iterations - 1);
        let kept = (part - least) as f64 / each + 1.0;
        assert!((kept - f64::from(iterations) / 10.0).abs() < 0.6, "{code}: {kept} iterations");
        if transfers > 0 {
            assert_eq!((one, tenth), (2, 1 + iterations as u64 / 10), "{code}");
        }
        assert!(same.0.abs_diff(piece.0) < piece.0 / 1_000 && same.1.abs_diff(piece.1) < 10, "{code}");
    }
    // ep makes a tenth of its pairs, its barriers are what they were.
    let ((all, _, _, work), (part, _, _, tenth)) = (first("ep", "100%").0, first("ep", "10%").0);
    assert_eq!((all, part), (13, 13));
    assert!(tenth.abs_diff(work / 10) < 1 << 21);
}

#[test]
fn loops_are_handed_out_pass_by_pass_or_in_portions() {
    let portions = |code: &str, schedule: &str| {
        let program = built(&[("benchmark", code), ("class", "B"), ("schedule", schedule)], 16, "openmp");
        let loops = program.ops().iter().skip_while(|op| !matches!(op, Op::RepeatShared(_)));
        let cost = loops.take(2).find_map(|op| match op {
            Op::Compute { work, profile, .. } if profile.0 == 1 => Some(work.floor_ns()),
            _ => None,
        });
        let portions = program.ops().iter().find_map(|op| match op {
            Op::RepeatShared(portions) => Some(*portions),
            _ => None,
        });
        (portions, cost)
    };
    assert_eq!(portions("cg", "static"), (None, None));
    // 75,000 rows at 0.2 us, in 8 portions for each of 16 tasks; 16 x ln(75,000 / 16) portions.
    assert_eq!(portions("cg", "dynamic"), (Some(128), Some(586 * 200)));
    assert_eq!(portions("cg", "guided"), (Some(134), Some(200)));
    // 102 planes.
    assert_eq!(portions("sp", "dynamic"), (Some(102), Some(200)));
    let work = |schedule| {
        let program = built(&[("benchmark", "mg"), ("schedule", schedule)], 16, "openmp");
        let mut times = 0;
        program.ops().iter().fold(0, |sum, op| match op {
            Op::RepeatShared(portions) => {
                times = *portions;
                sum
            }
            Op::Compute { work, profile, .. } if profile.0 == 0 => {
                sum.max(u128::from(work.raw()) * u128::from(times.max(16)))
            }
            _ => sum,
        })
    };
    assert!(work("guided").abs_diff(work("static")) < 1 << 20, "an interval has the same work");
}

#[test]
fn long_intervals_vary_less() {
    let spread = |benchmark, class| {
        let program = built(&[("benchmark", benchmark), ("class", class)], 16, "upc");
        program.ops().iter().find_map(|op| match op {
            Op::Compute { spread, .. } => Some(spread.0),
            _ => None,
        })
    };
    assert_eq!(spread("cg", "B"), Some(9_830));
    assert!(spread("ft", "B") < Some(9_830 / 2));
    assert_eq!(spread("ep", "C"), Some(0), "every task makes the same number of pairs");
}
