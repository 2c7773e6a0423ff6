//! Claims are resolved by their fields: all that are shipped, and others of the same groups about other
//! machines, programs, pairs, degrees, kernels, threads and queues. Which cells they ask for is planned here
//! and read as scenarios, not simulated.

#![expect(clippy::unwrap_used, reason = "a test that cannot read what is shipped has failed")]

use std::collections::BTreeMap;

use scenario::{Overrides, load};
use validation::answer::Trouble;
use validation::claims::{self, Claim, Texts};
use validation::lab::{self, Cell, Lab};
use validation::studies;

/// The claims that are resolved by their fields.
fn shipped() -> Vec<Claim> {
    claims::read(claims::SHIPPED_NAME, claims::SHIPPED).unwrap()
}

/// The cells of a claim, and why it has none.
fn plan(claim: &Claim) -> Result<Vec<Cell>, String> {
    let mut lab = Lab::planning();
    match studies::answer(claim, &mut lab) {
        Err(Trouble::Uncovered(reason)) => Err(reason),
        _ => Ok(lab.into_wanted()),
    }
}

/// Every cell must be a scenario that can be read.
fn readable(cells: &BTreeMap<String, Cell>) -> Vec<String> {
    let problem = |cell: &Cell| {
        let study = lab::find(cell.study())?;
        let set = cell.settings().iter().map(|(path, value)| format!("{path}={value}"));
        let overrides = Overrides {
            set: set.collect(),
            policies: vec![cell.policy().to_owned()],
            without_sweep: true,
            repeat: Some(1),
            ..Overrides::default()
        };
        load(&study.name, &study.text, &overrides).err().map(|problem| format!("{cell}: {problem}"))
    };
    cells.values().filter_map(problem).collect()
}

fn check(variants: &[Claim]) {
    let mut wrong = Vec::new();
    let mut cells = BTreeMap::new();
    for claim in variants {
        match plan(claim) {
            Ok(asked) if asked.is_empty() => wrong.push(format!("{}: asks for nothing", claim.id)),
            Ok(asked) => cells.extend(asked.into_iter().map(|cell| (cell.key(), cell))),
            Err(reason) => wrong.push(format!("{}: {reason}", claim.id)),
        }
    }
    wrong.extend(readable(&cells));
    assert!(
        wrong.is_empty(),
        "{} wrong, the first:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(12)].join("\n")
    );
}

/// A shipped claim at other conditions.
fn changed(id: &str, name: &str, change: impl FnOnce(&mut Texts)) -> Claim {
    let claim = shipped().into_iter().find(|claim| claim.id == id).unwrap();
    Claim { id: format!("{id}/{name}"), ..claim.with(change) }
}

/// The claim once for each of these texts of a field.
fn with_each(id: &str, field: fn(&mut Texts) -> &mut String, texts: &[&str]) -> Vec<Claim> {
    texts.iter().map(|text| changed(id, text, |claim| (*text).clone_into(field(claim)))).collect()
}

#[test]
fn all_shipped_claims_are_resolved() {
    check(&claims::shipped().unwrap());
}

#[test]
fn other_codes_machines_and_degrees_of_a_program_alone() {
    let mut all = Vec::new();
    for id in [
        "upc-ep-oblivious",
        "upc-cg-monotone",
        "balance-ft-improves",
        "cache-is-c-improves",
        "upc-ft-b-improves",
    ] {
        all.extend(with_each(id, |c| &mut c.workload, &["CG", "EP", "MG", "IS", "FT, IS"]));
        all.extend(with_each(id, |c| &mut c.class, &["A", "B", "C", "A,B"]));
        all.extend(with_each(
            id,
            |c| &mut c.machine,
            &["tigerton", "barcelona", "nehalem", "tigerton,nehalem"],
        ));
    }
    for id in [
        "mpi-dedicated-2pc",
        "omp-dedicated-2pc",
        "psx-upc-pin-range",
        "pin-upc-barcelona-max",
        "kmp0-oversub-improves",
    ] {
        all.extend(with_each(
            id,
            |c| &mut c.threads,
            &["2 per core", "4 per core", "8 per core", "2,4 per core"],
        ));
        all.extend(with_each(id, |c| &mut c.machine, &["tigerton", "barcelona", "nehalem"]));
    }
    for id in ["psx-upc-pin-avg", "pin-variation-max", "load-variation-max"] {
        all.extend(with_each(id, |c| &mut c.model, &["upc", "mpi", "openmp", "upc,openmp"]));
    }
    all.extend(with_each("kmp0-oversub-improves", |c| &mut c.wait, &["blocktime 0", "blocktime infinite"]));
    check(&all);
}

#[test]
fn other_pairs() {
    let mut all = Vec::new();
    for id in ["share-part-omp-mg-cg-mg", "frac-mg-cg-mg"] {
        let pairs = [
            "mg-C (with cg-B)",
            "ft-B (with mg-C)",
            "ep-C (with ft-B)",
            "cg-B (with cg-B)",
            "ft-B (with ep-C)",
        ];
        all.extend(with_each(id, |c| &mut c.workload, &pairs));
        all.extend(with_each(
            id,
            |c| &mut c.threads,
            &["1 per core each", "2 per core each", "4 per core each"],
        ));
        all.extend(with_each(id, |c| &mut c.model, &["upc", "openmp"]));
        all.extend(with_each(id, |c| &mut c.machine, &["tigerton", "barcelona", "nehalem"]));
    }
    for id in ["share-part-upc-1pc", "seq-upc-upc-1pc", "var-share-pin", "imb-overall-2"] {
        all.extend(with_each(id, |c| &mut c.machine, &["tigerton", "barcelona"]));
    }
    all.extend(with_each("share-part-upc-1pc", |c| &mut c.threads, &["2 per core each", "4 per core each"]));
    all.extend(with_each("seq-omp-omp-1pc", |c| &mut c.threads, &["2 per core each", "4 per core each"]));
    all.extend(with_each("imb-fewer-33", |c| &mut c.threads, &["share 20% (1:4)", "share 33% (2:4)"]));
    check(&all);
}

#[test]
fn other_machines_and_policies_of_the_balancers() {
    let mut all = Vec::new();
    for id in ["speed-upc-vs-load", "speed-upc-variation", "speed-omp-overall"] {
        all.extend(with_each(id, |c| &mut c.machine, &["tigerton", "barcelona"]));
        all.extend(with_each(id, |c| &mut c.model, &["upc", "openmp"]));
    }
    all.extend(with_each("speed-upc-vs-load", |c| &mut c.workload, &["NPB (ep.C)", "NPB (cg.B ft.B)"]));
    all.extend(with_each("hog-two-tasks-third", |c| &mut c.machine, &["tigerton", "barcelona"]));
    check(&all);
}

const PROGRAMS: [&str; 11] = [
    "310.wupwise",
    "312.swim",
    "314.mgrid",
    "316.applu",
    "318.galgel",
    "320.equake",
    "324.apsi",
    "326.gafort",
    "328.fma3d",
    "330.art",
    "332.ammp",
];

#[test]
fn every_pair_and_program_of_spec_omp() {
    let mut all = with_each("swomps-t1-art-impr", |c| &mut c.workload, &PROGRAMS);
    all.extend(with_each("swomps-t1-art-unbound", |c| &mut c.workload, &PROGRAMS));
    for (i, one) in PROGRAMS.iter().enumerate() {
        for other in &PROGRAMS[..i] {
            let pair = [format!("{one} + {other}")];
            let pair = [pair[0].as_str()];
            all.extend(with_each("swomps-t4-swim-wupwise", |c| &mut c.workload, &pair));
            all.extend(with_each("swomps-t5a-swim-wupwise", |c| &mut c.workload, &pair));
            let value = claims::Value::Parts(vec![((*one).into(), 1.0), ((*other).into(), 2.0)]);
            let claim = changed("swomps-t5b-swim-wupwise", pair[0], |texts| texts.workload = pair[0].into());
            all.push(Claim { value, ..claim });
        }
    }
    let orders = [
        "queue order: 310, 312, 314, 316, 318, 320, 324, 326, 328, 330, 332",
        "queue order: 332, 330, 328, 326, 324, 320, 318, 316, 314, 312, 310",
    ];
    all.extend(with_each("swomps-f4a-q2", |c| &mut c.workload, &orders));
    check(&all);
}

#[test]
fn other_kernels_jobs_and_threads_of_parbench() {
    let mut all = Vec::new();
    let kernels: Vec<String> = [61, 81, 101, 111, 121, 126, 141, 151, 201, 221, 226, 241, 246, 281, 286, 301]
        .iter()
        .map(|k| format!("kernel {k}, copies of one 100 s job"))
        .collect();
    let kernels: Vec<&str> = kernels.iter().map(String::as_str).collect();
    all.extend(with_each("e25k-t1-k111-144", |c| &mut c.workload, &kernels));
    all.extend(with_each("e25k-t1-k111-144", |c| &mut c.threads, &["140", "144", "164"]));
    all.extend(with_each("e25k-spin-8t-144", |c| &mut c.workload, &["66x1 9x8", "70x1 9x8", "72x1 9x8"]));
    let per_job = ["8 per job", "16 per job", "24 per job", "32 per job"];
    all.extend(with_each("e25k-t3-8t-144", |c| &mut c.threads, &per_job));
    all.extend(with_each("e25k-t3-8t-ext", |c| &mut c.threads, &per_job));
    let threads: Vec<String> = (1..=8).map(|i| format!("thread {i}, 144 user threads")).collect();
    let threads: Vec<&str> = threads.iter().map(String::as_str).collect();
    all.extend(with_each("e25k-t5-144-thr4", |c| &mut c.threads, &threads));
    all.extend(with_each(
        "e25k-t4-144-migr-par",
        |c| &mut c.workload,
        &["67x1 + 9x8 + prstat", "71x1 + 9x8 + prstat"],
    ));
    check(&all);
}
