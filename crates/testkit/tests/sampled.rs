//! Sampled runs (`fidelity: sampled`) beside exact ones of the same seed: how far their run times are apart, and
//! how much is not simulated. `OVERSIM_SAMPLED=all cargo test --release -p testkit --test sampled -- --nocapture`
//! compares all cases and prints the table of `docs/performance.md`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed; it prints a table"
)]

use std::fs;
use std::path::Path;

use experiment::run::simulate;
use scenario::{Overrides, load};
use sim_core::outcome::{Outcome, RunReport};

/// A scenario of `scenarios/` and what is changed in it: programs are long.
type Case = (&'static str, &'static [&'static str]);

/// The first example, whose programs are whole.
const FIRST: Case = ("cg_ft_share", &[]);

/// Small enough for every test run.
const QUICK: &[Case] = &[
    ("big_little", &["apps.code.workload.work=960s", "apps.code.workload.intervals=80"]),
    ("turbo_steps", &["apps.code.workload.work=320s", "apps.code.workload.intervals=400"]),
    ("numa_first_touch", &["apps.stencil.workload.work=640s", "apps.stencil.workload.intervals=2000"]),
    ("bandwidth_sharing", &["apps.streams.workload.intervals=600"]),
];

const MORE: &[Case] = &[
    ("remote_memory", &["apps.code.workload.intervals=600"]),
    ("smt_pairs", &["apps.code.workload.work=640s", "apps.code.workload.intervals=400"]),
    ("first_touch_startup", &["apps.stencil.workload.work=640s", "apps.stencil.workload.intervals=4000"]),
    ("cpu_hog", &["apps.code.workload.work=1600s", "apps.code.workload.intervals=400"]),
    ("cpu_hog", &["apps.code.workload.work=1600s", "apps.code.workload.intervals=20000"]),
    ("services_on_one_core", &["apps.code.workload.work=1600s", "apps.code.workload.intervals=20000"]),
    ("services_on_one_core", &["apps.code.workload.work=800s", "apps.code.workload.intervals=1000"]),
    ("make_competitor", &["apps.code.workload.work=1600s", "apps.code.workload.intervals=1000"]),
    ("yield_under_kernels", &["apps.fine.workload.work=320s", "apps.fine.workload.intervals=40000"]),
    ("cfs_vs_posix_yield", &["apps.fine.workload.work=320s", "apps.fine.workload.intervals=20000"]),
    ("hybrid_mpi_openmp", &["apps.code.workload.work=640s", "apps.code.workload.intervals=20000"]),
    ("spin_yield_block", &["apps.code.workload.work=320s", "apps.code.workload.intervals=5000"]),
    ("waiting_on_a_modern_kernel", &["apps.*.workload.work=40s", "apps.*.workload.intervals=20000"]),
    ("sessions", &["apps.solver.workload.work=20s", "apps.solver.workload.intervals=2000"]),
    ("cpu_limit", &["apps.solver.workload.work=40s", "apps.solver.workload.intervals=20000"]),
    ("gang_fragmentation", &["apps.*.workload.work=180s", "apps.*.workload.intervals=5000"]),
    ("lgroup_homes", &["apps.one.workload.work=320s", "apps.one.workload.intervals=4000"]),
    ("fragile_policies", &["apps.code.workload.work=1200s", "apps.code.workload.intervals=60"]),
    ("shared_cache", &["apps.*.workload.work=60s", "apps.*.workload.intervals=30"]),
    ("spec_pair", &["apps.swim.workload.scale=20%", "apps.apsi.workload.scale=20%"]),
    ("blocktime", &["apps.mg.workload.class=C"]),
    ("barrier_latency", &["apps.bench.workload.count=100000"]),
];

/// Programs of the first example replaced: benchmark, class, runtime of each, and more changes.
type Pair = ([&'static str; 3], [&'static str; 3], &'static [&'static str]);

const PAIRS: &[Pair] = &[
    (["mg", "B", "upc"], ["is", "C", "upc"], &[]),
    (["cg", "B", "upc"], ["mg", "B", "upc"], &[]),
    (["cg", "B", "mpi"], ["ft", "B", "mpi"], &[]),
    (["cg", "B", "openmp"], ["ft", "B", "openmp"], &[]),
    (["cg", "B", "libgomp"], ["mg", "B", "libgomp"], &[]),
    (["cg", "B", "upc"], ["ft", "B", "upc"], &["kernel=linux-6.18"]),
    (["cg", "B", "upc"], ["ft", "B", "upc"], &["kernel=linux-2.6.18"]),
    (["cg", "B", "upc"], ["ft", "B", "upc"], &["kernel=freebsd-7"]),
    (["cg", "B", "upc"], ["ft", "B", "upc"], &["kernel=solaris-9"]),
    (["cg", "B", "upc"], ["ft", "B", "upc"], &["kernel={linux-2.6.28: {yield: posix}}"]),
    (["cg", "B", "upc"], ["ft", "B", "upc"], &["machine=tigerton"]),
    (["cg", "B", "upc"], ["ft", "B", "upc"], &["machine=nehalem"]),
    (["cg", "B", "mpi"], ["is", "C", "mpi"], &["kernel=linux-6.18"]),
    (["bt", "A", "openmp"], ["sp", "A", "openmp"], &[]),
    (["lu", "A", "openmp"], ["ft", "B", "upc"], &[]),
];

/// What a comparison found.
struct Found {
    /// Relative differences of the run times, sorted by size.
    errors: Vec<f64>,
    /// The share of the simulated time that was extrapolated.
    extrapolated: f64,
    /// The largest half-width that a run states.
    stated: f64,
    /// Events of the sampled runs over those of the exact ones.
    events: f64,
}

impl Found {
    fn median(&self) -> f64 {
        self.errors.get(self.errors.len() / 2).copied().unwrap_or(0.0)
    }

    fn worst(&self) -> f64 {
        self.errors.last().copied().unwrap_or(0.0)
    }
}

/// `apps.*` in a path is each application.
fn expand(set: &[&str], text: &str) -> Vec<String> {
    let apps: Vec<&str> = text
        .lines()
        .skip_while(|line| *line != "apps:")
        .skip(1)
        .take_while(|line| line.starts_with(' ') || line.starts_with('#'))
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.trim().split_once(':'))
        .map(|(name, _)| name)
        .collect();
    let each = |pair: &&str| -> Vec<String> {
        match pair.strip_prefix("apps.*.") {
            Some(rest) => apps.iter().map(|app| format!("apps.{app}.{rest}")).collect(),
            None => vec![(*pair).to_owned()],
        }
    };
    set.iter().flat_map(each).collect()
}

fn reports(path: &str, text: &str, set: &[String], fidelity: &str) -> Vec<RunReport> {
    let set = [set, &[format!("fidelity={fidelity}")]].concat();
    let overrides = Overrides { set, repeat: Some(1), ..Overrides::default() };
    let experiment = load(path, text, &overrides).unwrap_or_else(|said| panic!("{said}"));
    simulate(&experiment, 0, &|_, _| ()).unwrap_or_else(|said| panic!("{said}"))
}

fn compared(name: &str, set: &[String]) -> Found {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.yaml"));
    let text = fs::read_to_string(&path).unwrap();
    let of = |fidelity| reports(&path.to_string_lossy(), &text, set, fidelity);
    let (exact, sampled) = (of("exact"), of("sampled"));
    let mut errors = Vec::new();
    for (exact, sampled) in exact.iter().zip(&sampled) {
        assert_eq!(exact.outcome, sampled.outcome, "{name} {set:?}");
        if exact.outcome != Outcome::Completed {
            continue;
        }
        for cpu in &sampled.cpus {
            assert_eq!(cpu.total().ns(), sampled.makespan.ns(), "{name}: every nanosecond is accounted for");
        }
        for (exact, sampled) in exact.apps.iter().zip(&sampled.apps) {
            let (Some(of_exact), Some(of_sampled)) = (exact.run_time(), sampled.run_time()) else { continue };
            errors.push((of_sampled.ns() as f64 / of_exact.ns() as f64 - 1.0).abs());
            // The variation of the work is not part of what is extrapolated.
            let (work, part) = (exact.counters.work_done_ns, sampled.counters.work_done_ns);
            let same = part.abs_diff(work) as f64 <= 0.01 * work as f64;
            assert!(same, "{name} {set:?}: {part} ns of {work} ns of the work of {}", exact.name);
        }
    }
    errors.sort_by(f64::total_cmp);
    let sum = |reports: &[RunReport], part: fn(&RunReport) -> u64| -> f64 {
        reports.iter().map(|report| part(report) as f64).sum()
    };
    Found {
        errors,
        extrapolated: sum(&sampled, |run| run.extrapolated.ns()) / sum(&sampled, |run| run.makespan.ns()),
        stated: sampled.iter().map(RunReport::relative_error).fold(0.0, f64::max),
        events: sum(&sampled, |run| run.events) / sum(&exact, |run| run.events),
    }
}

fn set_of((name, set): &Case) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.yaml"));
    expand(set, &fs::read_to_string(path).unwrap())
}

fn set_of_pair((cg, ft, more): &Pair) -> Vec<String> {
    let mut set: Vec<String> = vec!["threads_per_core=2".into()];
    for (app, [benchmark, class, runtime]) in [("cg", cg), ("ft", ft)] {
        set.push(format!("apps.{app}.workload={{npb: {{benchmark: {benchmark}, class: {class}}}}}"));
        set.push(format!("apps.{app}.runtime={runtime}"));
    }
    set.extend(more.iter().map(|pair| (*pair).to_owned()));
    set
}

fn row(name: &str, found: &Found) {
    println!(
        "| {name} | {} | {:.2} | {:.2} | {:.2} | {:.0} | {:.0} |",
        found.errors.len(),
        found.median() * 100.0,
        found.worst() * 100.0,
        found.stated * 100.0,
        found.extrapolated * 100.0,
        found.events * 100.0
    );
}

#[test]
fn sampled_run_times_are_those_of_exact_runs() {
    for case in QUICK {
        let found = compared(case.0, &set_of(case));
        assert!(found.median() <= 0.005 && found.worst() <= 0.03, "{case:?}: {:?}", found.errors);
        assert!(found.extrapolated >= 0.3 && found.events < 0.7, "{case:?}: {}", found.extrapolated);
    }
}

#[test]
fn every_poll_can_be_simulated_in_a_sampled_run() {
    let (name, _) = &QUICK[2];
    let set = expand(&["apps.stencil.workload.work=160s", "apps.stencil.workload.intervals=500"], "");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.yaml"));
    let text = fs::read_to_string(&path).unwrap();
    let of = |stepwise| {
        let set = [&set[..], &["fidelity=sampled".into()]].concat();
        let overrides = Overrides { set, repeat: Some(1), stepwise, ..Overrides::default() };
        let experiment = load(&path.to_string_lossy(), &text, &overrides).unwrap();
        simulate(&experiment, 0, &|_, _| ()).unwrap()
    };
    let (closed, stepwise) = (of(false), of(true));
    assert!(closed.iter().any(|run| run.extrapolated.ns() > 0));
    for (closed, stepwise) in closed.iter().zip(&stepwise) {
        assert_eq!((closed.digest, closed.extrapolated), (stepwise.digest, stepwise.extrapolated));
    }
}

#[test]
fn all_cases_are_close_to_exact_runs() {
    if std::env::var("OVERSIM_SAMPLED").is_err() {
        return;
    }
    println!(
        "| scenario | run times | median error, % | worst, % | stated, % | extrapolated, % | events, % |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut all = Vec::new();
    let mut add = |name: &str, found: Found| {
        row(name, &found);
        all.extend(found.errors);
    };
    let first = compared(FIRST.0, &set_of(&FIRST));
    add("`cg_ft_share`", first);
    for case in QUICK.iter().chain(MORE) {
        add(&format!("`{}` {}", case.0, case.1.join(" ")), compared(case.0, &set_of(case)));
    }
    for pair in PAIRS {
        let ([a, of_a, run_a], [b, of_b, run_b], more) = pair;
        let name = format!("{a}.{of_a} {run_a} + {b}.{of_b} {run_b} {}", more.join(" "));
        add(&name, compared("cg_ft_share", &set_of_pair(pair)));
    }
    all.sort_by(f64::total_cmp);
    let at = |part: f64| all[((all.len() - 1) as f64 * part) as usize] * 100.0;
    println!(
        "all: {} run times, median {:.3} %, 95 % below {:.2} %, worst {:.2} %",
        all.len(),
        at(0.5),
        at(0.95),
        at(1.0)
    );
    // No sample shows a change that comes later: three runs (docs/performance.md).
    let far = all.iter().filter(|error| **error > 0.03).count();
    assert!(at(0.5) <= 0.5 && far <= 3 && at(1.0) <= 10.0);
}
