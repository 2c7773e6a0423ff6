//! The catalogue against the published figures it was made from.

use super::*;
use crate::spmd::census;
use sim_core::program::{Op, Program, TransferOrder};

fn built(settings: &[(&str, &str)], tasks: u32, runtime: &str) -> Program {
    let mut values = Values::defaults(PARAMETERS);
    for (name, text) in settings {
        let kind = values.find(name).unwrap().kind;
        values.set(name, notation::units::parse(kind, text).unwrap()).unwrap();
    }
    build(&values, &Context { tasks, runtime }).unwrap().program
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
    ];
    for (name, row) in table {
        for (class, expected) in CLASSES.iter().zip(row) {
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
    ];
    for (name, row) in table {
        for (class, expected) in CLASSES.iter().zip(row) {
            let mb = catalogue().unwrap().code(name, class).unwrap().size.footprint() as f64 / 1e6;
            assert!((mb / expected - 1.0).abs() < 0.05, "{name}.{class}: {mb} MB, not {expected}");
        }
    }
}

#[test]
fn barriers_are_as_counted() {
    for (name, counts) in [("cg", [3_777, 17_877, 17_877]), ("mg", [378, 1_114, 1_240]), ("ep", [13, 13, 13])]
    {
        for (class, expected) in CLASSES[2..].iter().zip(counts) {
            assert_eq!(barriers(name, class, "upc"), expected, "{name}.{class}");
        }
    }
    assert_eq!((barriers("ft", "A", "upc"), barriers("ft", "B", "upc")), (56, 140));
    assert_eq!(barriers("cg", "B", "openmp"), 10_200);
    assert_eq!(barriers("mg", "C", "openmp"), 3_072);
    assert_eq!(barriers("ft", "B", "openmp"), 245);
    assert_eq!(barriers("ep", "C", "openmp"), 9);
    assert_eq!(barriers("cg", "B", "spin"), barriers("cg", "B", "upc"), "plain runtimes count as UPC");
}

#[test]
fn mpi_synchronises_about_five_times_as_often() {
    for name in ["cg", "mg"] {
        let (barriers, exchanges, ..) = census(&built(&[("benchmark", name), ("class", "A")], 16, "mpi"));
        assert_eq!(barriers + exchanges, 5 * barriers);
    }
}

#[test]
fn every_combination_builds_the_same_problem_for_any_number_of_tasks() {
    for name in BENCHMARKS {
        for class in CLASSES {
            for runtime in ["upc", "mpi", "openmp", "block"] {
                let settings = [("benchmark", *name), ("class", *class)];
                let total = |tasks| {
                    let program = built(&settings, tasks, runtime);
                    let (barriers, .., work) = census(&program);
                    (barriers, work * u128::from(tasks))
                };
                let (barriers, work) = total(1);
                for tasks in [2, 16, 17, 64, 4_096] {
                    let (same, other) = total(tasks);
                    assert_eq!(barriers, same, "{name}.{class}");
                    // A rounding of half a millionth of a nanosecond for each of at most 10^6 pieces per task.
                    assert!(work.abs_diff(other) < 1_000_000 * u128::from(tasks), "{name}.{class} {runtime}");
                }
            }
        }
    }
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
    assert_eq!(census(&upc).2, 20);
    assert_eq!(block(&built(&settings, 64, "mpi")), Some((128 << 10, TransferOrder::Rotated)));
    assert_eq!(block(&built(&settings, 16, "openmp")), None);
    let double = [settings[0], settings[1], ("transfer_volume", "2"), ("transfer_order", "rotated")];
    assert_eq!(block(&built(&double, 16, "upc")), Some((4 << 20, TransferOrder::Rotated)));
    let none = [settings[0], settings[1], ("transfer_volume", "0")];
    assert_eq!(block(&built(&none, 16, "upc")), None);
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
