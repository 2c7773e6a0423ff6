//! Every legal combination of fields is resolved to cells that can be planned, and every other one says why:
//! the shipped claims with each field replaced by every text of the same publication, and by some beyond.

#![expect(clippy::unwrap_used, reason = "a test that cannot read what is shipped has failed")]

use std::collections::{BTreeMap, BTreeSet};

use scenario::{Overrides, load};
use validation::answer::Trouble;
use validation::claims::{self, Claim, Family, Form, Texts, Tolerance, ToleranceKind, Value};
use validation::lab::{self, Cell, Lab};
use validation::studies;

/// Texts of a field.
type Field = (&'static str, fn(&mut Texts) -> &mut String);

const FIELDS: [Field; 11] = [
    ("machine", |texts| &mut texts.machine),
    ("workload", |texts| &mut texts.workload),
    ("class", |texts| &mut texts.class),
    ("model", |texts| &mut texts.model),
    ("threads", |texts| &mut texts.threads),
    ("policy", |texts| &mut texts.policy),
    ("baseline", |texts| &mut texts.baseline),
    ("yield", |texts| &mut texts.yields),
    ("wait", |texts| &mut texts.wait),
    ("environment", |texts| &mut texts.environment),
    ("metric", |texts| &mut texts.metric),
];

/// Texts that no shipped claim has, by publication: on oversubscription and balancers, on SPEC OMP, on
/// PARbench.
const BEYOND: [(u8, &str, &[&str]); 18] = [
    (0, "machine", &["barcelona vs tigerton", "nehalem vs tigerton", "x4440", "nehalem,barcelona", "cray"]),
    (0, "workload", &["CG vs EP", "ft-B (with mg-C)", "MG, CG", "bt-A + cg-B", "LU", "cg-D", "linpack"]),
    (0, "class", &["A", "W", "S", "A vs C", "B,C", "D"]),
    (0, "model", &["openmp vs upc", "mpi vs openmp", "upc+mpi", "openmp,mpi and mixes", "cilk"]),
    (
        0,
        "threads",
        &["3 per core", "1,2,3 per core each", "4 vs 2 per core", "8 > 4 > 2 per core", "99 per core"],
    ),
    (0, "policy", &["LOAD vs PIN", "SPEED", "SPEED vs PIN", "PIN vs SPEED", "DWRR", "Mosix"]),
    (0, "baseline", &["posix yield", "PIN", "1 task per core", "blocktime infinite", "LOAD, PIN", "OpenMP"]),
    (0, "yield", &["cfs", "posix vs cfs", "spin"]),
    (0, "wait", &["blocktime infinite", "sleep"]),
    (1, "machine", &["tigerton"]),
    (1, "workload", &["312.swim + 330.art", "all pairs", "314.mgrid"]),
    (1, "threads", &["6 + 6 on 24 cores", "8 each", "24 + 24 on 24 cores"]),
    (1, "policy", &["LOAD", "PIN", "SWOMPS vs LOAD"]),
    (1, "model", &["upc"]),
    (2, "machine", &["barcelona"]),
    (2, "workload", &["36x1 9x8", "72x1 4x16", "kernel 301, copies of one 100 s job", "kernel 7, copies"]),
    (2, "threads", &["72", "8 per job, 72 user threads", "12 per job, 144 user threads", "150 vs 72"]),
    (2, "baseline", &["72 user threads", "140 jobs"]),
];

/// Beginnings of the reasons that a combination may have: each names what does not go together.
const REASONS: [&str; 17] = [
    // A text of the claim, and what it is not.
    "`",
    "no study answers the group",
    "no metric is called",
    "no machine is called",
    "no policy is known by the name",
    "no programming model is called",
    "these programs were measured on",
    "there are the classes",
    "the experiments of the group",
    "the block time is a setting of OpenMP",
    "SPEC OMP has no programs in the model",
    "PARbench has no jobs in the model",
    "a queue of",
    "no ratio of tasks in",
    "an order of fewer than two policies",
    "kernel ",
    "more threads than the claim has",
];

/// What scenarios say of the cells that they refuse.
const REFUSALS: [&str; 4] = [
    "needs a square number of tasks",
    "needs a number of tasks that is a power of two",
    "unknown parameter of kernel",
    "unknown policy `ALONE`",
];

fn shipped() -> Vec<Claim> {
    claims::read(claims::SHIPPED_NAME, claims::SHIPPED).unwrap()
}

/// Publications by the families of their groups.
const fn publication(family: Option<Family>) -> u8 {
    match family {
        Some(Family::Swomps) => 1,
        Some(Family::Parbench) => 2,
        _ => 0,
    }
}

/// One claim for each group and metric.
fn examples(shipped: &[Claim]) -> Vec<&Claim> {
    let mut seen = BTreeSet::new();
    shipped.iter().filter(|claim| seen.insert((&claim.group, &claim.texts.metric))).collect()
}

/// Every text of a field in a publication.
fn vocabulary(shipped: &[Claim], number: u8, (name, field): Field) -> BTreeSet<String> {
    let mut all: BTreeSet<String> = shipped
        .iter()
        .filter(|claim| publication(claim.at.family) == number)
        .map(|claim| field(&mut claim.texts.clone()).clone())
        .collect();
    let beyond = BEYOND.iter().filter(|(of, field, _)| *of == number && *field == name);
    all.extend(beyond.flat_map(|(.., texts)| texts.iter()).map(|text| (*text).to_owned()));
    all
}

/// The same claim as another kind of statement.
fn forms(claim: &Claim) -> Vec<Claim> {
    let number = |form| Claim {
        form,
        value: Value::Number(3.0),
        tolerance: Tolerance { kind: ToleranceKind::Pp, amount: 2.0 },
        ..claim.clone()
    };
    let words = |form, text: &str| {
        let value = Value::Text(text.to_owned());
        let tolerance = Tolerance { kind: ToleranceKind::Order, amount: 0.02 };
        Claim { form, value, tolerance, ..claim.clone() }.with(|_| ())
    };
    vec![
        number(Form::Exact),
        number(Form::Approx),
        number(Form::Average),
        number(Form::UpTo),
        number(Form::LowerBound),
        number(Form::UpperBound),
        Claim { value: Value::Range(1.0, 2.0), ..number(Form::Range) },
        words(Form::Ordering, "the first gains more than the second"),
        words(Form::Qualitative, "it does not change"),
    ]
}

struct Checked {
    wrong: Vec<String>,
    reasons: BTreeMap<String, (usize, String)>,
    cells: BTreeMap<String, Cell>,
    resolved: usize,
}

impl Checked {
    fn add(&mut self, what: &str, claim: &Claim) {
        let mut lab = Lab::planning();
        let answer = studies::answer(claim, &mut lab);
        match answer {
            Err(Trouble::Uncovered(reason)) => {
                if !REASONS.iter().any(|start| reason.starts_with(start)) || reason.len() < 12 {
                    self.wrong.push(format!("{what}: {reason}"));
                }
                let entry = self.reasons.entry(reason).or_insert_with(|| (0, what.to_owned()));
                entry.0 += 1;
            }
            Err(Trouble::Failed(reason)) => self.wrong.push(format!("{what}: {reason}")),
            Ok(answer) if answer.0.is_empty() => self.wrong.push(format!("{what}: no quantity")),
            Ok(_) => {
                let cells = lab.into_wanted();
                if cells.is_empty() {
                    self.wrong.push(format!("{what}: asks for nothing"));
                }
                self.resolved += 1;
                self.cells.extend(cells.into_iter().map(|cell| (cell.key(), cell)));
            }
        }
    }

    /// Reads the cells as scenarios. A scenario may refuse a combination, in words.
    fn read(&mut self) {
        for cell in self.cells.values() {
            let study = lab::find(cell.study()).unwrap();
            let set = cell.settings().iter().map(|(path, value)| format!("{path}={value}")).collect();
            let policies = vec![cell.policy().to_owned()];
            let overrides =
                Overrides { set, policies, without_sweep: true, repeat: Some(1), ..Overrides::default() };
            if let Err(problem) = load(&study.name, &study.text, &overrides) {
                let first = problem.lines().next().unwrap_or_default();
                if !REFUSALS.iter().any(|part| first.contains(part)) {
                    self.wrong.push(format!("{cell}: {problem}"));
                }
                let entry = self.reasons.entry(first.to_owned()).or_insert_with(|| (0, cell.key()));
                entry.0 += 1;
            }
        }
    }
}

/// Checks all combinations of a publication.
#[expect(clippy::print_stdout, reason = "the reasons are shown with `--nocapture`")]
fn check(number: u8) {
    let mut checked =
        Checked { wrong: Vec::new(), reasons: BTreeMap::new(), cells: BTreeMap::new(), resolved: 0 };
    let shipped = shipped();
    let texts = FIELDS.map(|field| vocabulary(&shipped, number, field));
    let all = examples(&shipped).into_iter();
    for claim in all.filter(|claim| publication(claim.at.family) == number) {
        for (field, texts) in FIELDS.into_iter().zip(&texts) {
            for text in texts {
                let other = claim.with(|texts| text.clone_into(field.1(texts)));
                checked.add(&format!("{} with {} `{text}`", claim.id, field.0), &other);
            }
        }
        for other in forms(claim) {
            checked.add(&format!("{} as {:?}", claim.id, other.form), &other);
        }
    }
    checked.read();
    println!("{} resolved to {} cells", checked.resolved, checked.cells.len());
    for (reason, (times, first)) in &checked.reasons {
        println!("{times:5} {reason}   [{first}]");
    }
    let wrong = &checked.wrong;
    assert!(
        wrong.is_empty(),
        "{} wrong of {}, the first:\n{}",
        wrong.len(),
        checked.resolved,
        wrong[..wrong.len().min(60)].join("\n")
    );
}

#[test]
fn every_combination_on_oversubscription_is_resolved_or_says_why_not() {
    check(0);
}

#[test]
fn every_combination_on_spec_omp_is_resolved_or_says_why_not() {
    check(1);
}

#[test]
fn every_combination_on_parbench_is_resolved_or_says_why_not() {
    check(2);
}
