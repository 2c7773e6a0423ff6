//! Which programs a claim about sharing speaks of: pairs of NAS codes with their classes and models, and the
//! cells they run in.

use crate::claims::Claim;
use crate::fields;
use crate::lab::Cell;

/// Part of each program that is simulated, the untimed first iteration included: 5 of 21 iterations of FT and
/// MG, and as much of the others. So run times keep their proportions, on which pairs depend. The study files
/// of this family have the same.
const PART: f64 = 5.0 / 21.0;
/// The same in a quick look.
const QUICK: f64 = 2.0 / 21.0;
/// The workload of the section on sharing, with the classes the paper gives (run times of 10 to 30 s), in the
/// order of the cells.
const DEFAULTS: [(&str, char); 8] =
    [("ep", 'C'), ("cg", 'B'), ("ft", 'B'), ("mg", 'C'), ("is", 'C'), ("sp", 'A'), ("bt", 'A'), ("lu", 'A')];
/// How many of them are the paper's workload for pairs.
const PAPER: usize = 4;

/// A program: code, class, and the runtime as a scenario names it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Job {
    rank: usize,
    pub(super) code: String,
    class: char,
    pub(super) runtime: String,
    quick: bool,
}

impl Job {
    fn new(code: &str, class: char, runtime: &str, quick: bool) -> Self {
        let rank = DEFAULTS.iter().position(|(known, _)| *known == code).unwrap_or(DEFAULTS.len());
        Self { rank, code: code.to_owned(), class, runtime: runtime.to_owned(), quick }
    }

    /// Timed iterations of a whole run (NPB sources); none for EP.
    fn iterations(&self) -> Option<u32> {
        match (self.code.as_str(), self.class) {
            ("ep", _) => None,
            ("cg", 'B' | 'C') => Some(75),
            ("cg", _) => Some(15),
            ("mg", 'B' | 'C') => Some(20),
            ("ft", 'B' | 'C') => Some(20),
            ("mg", _) => Some(4),
            ("ft", _) => Some(6),
            ("is", _) => Some(10),
            ("sp", _) => Some(400),
            ("lu", _) => Some(250),
            _ => Some(200),
        }
    }

    /// Its workload, cut to a part of the run.
    fn workload(&self, quick: bool) -> String {
        let part = if quick { QUICK } else { PART };
        let scale = match self.iterations().map(f64::from) {
            None => part,
            Some(n) => ((part * (n + 1.0)).round() - 1.0).max(1.0) / n,
        };
        let percent = (scale * 10_000.0).round() / 100.0;
        format!("{{npb: {{benchmark: {}, class: {}, scale: {percent}%}}}}", self.code, self.class)
    }

    fn place(&self, cell: Cell, app: char) -> Cell {
        cell.set(&format!("apps.{app}.workload"), self.workload(self.quick))
            .set(&format!("apps.{app}.runtime"), &self.runtime)
    }

    /// Alone on a machine, pinned, `k` tasks per core.
    pub(super) fn alone(&self, machine: &str, k: u32) -> Cell {
        self.place(plain("sequence", "PIN", machine), 'a').set("threads_per_core", k)
    }
}

fn plain(study: &'static str, policy: &str, machine: &str) -> Cell {
    Cell::new(study, policy).set("machine", machine).set("kernel.yield", "posix")
}

/// Two programs that run together; the first is the one a claim measures, if it measures one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Pair(pub(super) Job, pub(super) Job);

impl Pair {
    /// The programs as the cells have them, so that a pair and its mirror image are the same cell; and
    /// whether they changed places.
    fn ordered(&self) -> (&Job, &Job, bool) {
        let Self(one, other) = self;
        let key = |job: &Job| (job.runtime.clone(), job.rank, job.class);
        if key(one) <= key(other) { (one, other, false) } else { (other, one, true) }
    }

    /// Names of the two programs' applications in the pair's cells.
    pub(super) fn apps(&self) -> [&'static str; 2] {
        if self.ordered().2 { ["b", "a"] } else { ["a", "b"] }
    }

    fn place(&self, cell: Cell) -> Cell {
        let (a, b, _) = self.ordered();
        b.place(a.place(cell, 'a'), 'b')
    }

    /// Both on all cores, `k` tasks per core each.
    pub(super) fn shared(&self, machine: &str, k: u32, policy: &str) -> Cell {
        let cell = self.place(plain("sharing", policy, machine)).set("threads_per_core", k);
        // Mixes of models are many; what is asked of them are signs.
        if self.0.runtime == self.1.runtime { cell } else { cell.set("repeat", 1) }
    }

    /// Each on its own half of the sockets, one task on each of `cores` cores.
    pub(super) fn partitioned(&self, machine: &str, cores: u32) -> Cell {
        let cell = self.place(plain("partition", "PARTITION", machine));
        let cell = if self.0.runtime == self.1.runtime { cell } else { cell.set("repeat", 1) };
        // Eight, the number of the paper, stands in the file.
        if cores == 8 { cell } else { cell.set("apps.a.tasks", cores).set("apps.b.tasks", cores) }
    }

    /// Both on all cores with unequal numbers of tasks per core.
    pub(super) fn unequal(&self, machine: &str, (mine, theirs): (u32, u32)) -> Cell {
        // The study has the program with more tasks first.
        let (pair, mine, theirs) = if mine < theirs {
            (Self(self.1.clone(), self.0.clone()), theirs, mine)
        } else {
            (self.clone(), mine, theirs)
        };
        let cell = pair.0.place(plain("imbalanced", "PIN", machine), 'a');
        pair.1.place(cell, 'b').set("apps.a.threads_per_core", mine).set("apps.b.threads_per_core", theirs)
    }

    pub(super) fn label(&self) -> String {
        let Self(a, b) = self;
        if a.runtime == b.runtime {
            format!("{}.{} + {}.{}", a.code, a.class, b.code, b.class)
        } else {
            format!("{}.{} ({}) + {}.{} ({})", a.code, a.class, a.runtime, b.code, b.class, b.runtime)
        }
    }
}

/// Three programs on all cores.
pub(super) fn three(machine: &str, runtime: &str, k: u32, (policy, quick): (&str, bool)) -> Cell {
    let mut cell = plain("gang", policy, machine).set("threads_per_core", k);
    for (app, (code, class)) in ['a', 'b', 'c'].into_iter().zip(&DEFAULTS[1..PAPER]) {
        cell = Job::new(code, *class, runtime, quick).place(cell, app);
    }
    cell
}

/// The programming models of a pair's two programs.
pub(super) type Models = (String, String);

/// The models that a claim combines: each with itself, mixes where it speaks of them, only the mix for
/// `openmp+upc`.
pub(super) fn models(claim: &Claim) -> Vec<Models> {
    let named = fields::models(claim);
    let text = claim.model.to_lowercase();
    let mixed = || {
        let later = |i: usize| named[i + 1..].iter().map(move |b| (i, b.clone()));
        (0..named.len()).flat_map(later).map(|(i, b)| (named[i].clone(), b)).collect::<Vec<_>>()
    };
    let same = || named.iter().map(|m| (m.clone(), m.clone())).collect::<Vec<_>>();
    if text.contains("mix") || claim.workload.contains("combination") {
        [same(), mixed()].concat()
    } else if text.contains('+') && named.len() > 1 {
        mixed()
    } else {
        same()
    }
}

/// The runtime of a model in a scenario: for OpenMP with the block time a claim names (the runtime's default
/// is 200 ms).
fn runtime(model: &str, claim: &Claim) -> String {
    let wait = claim.wait.to_lowercase();
    let block_time = wait.find("blocktime").map(|at| wait[at..].split([' ', ',']).nth(1).unwrap_or(""));
    match (model, block_time) {
        ("openmp", Some("0" | "0s" | "0ms")) => "{openmp: {block_time: 0s}}".to_owned(),
        ("openmp", Some("infinite" | "infinity")) => "{openmp: {block_time: infinite}}".to_owned(),
        _ => model.to_owned(),
    }
}

/// The codes a claim names, with classes: beside the name, by position in its list of classes, the one class
/// named, or the paper's.
fn named(claim: &Claim) -> Vec<(String, char)> {
    let codes = fields::codes(&claim.workload);
    let list: Vec<char> = claim
        .class
        .split([',', ' '])
        .filter_map(|word| match word.chars().collect::<Vec<_>>()[..] {
            [c @ ('S' | 'W' | 'A' | 'B' | 'C')] => Some(c),
            _ => None,
        })
        .collect();
    let usual =
        |code: &str| DEFAULTS.iter().find(|(known, _)| *known == code).map_or('B', |(_, class)| *class);
    let class = |i: usize, code: &str| match list[..] {
        [all] => all,
        _ if list.len() == codes.len() => list[i],
        _ => usual(code),
    };
    codes
        .iter()
        .enumerate()
        .map(|(i, (code, beside))| (code.clone(), beside.unwrap_or_else(|| class(i, code))))
        .collect()
}

/// The paper's workload.
fn paper() -> Vec<(String, char)> {
    DEFAULTS[..PAPER].iter().map(|(code, class)| ((*code).to_owned(), *class)).collect()
}

/// The one pair that a claim is about, as in `mg-C (with cg-B)` or `cg-B + cg-B`; `None` when it is about a
/// set of pairs.
fn single(claim: &Claim) -> Option<[(String, char); 2]> {
    match &named(claim)[..] {
        _ if claim.workload.contains("pair") => None,
        [one] => Some([one.clone(), one.clone()]),
        [one, other] => Some([one.clone(), other.clone()]),
        _ => None,
    }
}

/// Whether a claim is about one pair.
pub(super) fn is_single(claim: &Claim) -> bool {
    single(claim).is_some()
}

/// The pairs of a claim in these models: the one it names, or all of its codes (the paper's when it names
/// none). Of one model each pair once, equal ones included; of two models each code with each.
pub(super) fn pairs(claim: &Claim, (first, second): &Models, quick: bool) -> Vec<Pair> {
    let (mine, theirs) = (runtime(first, claim), runtime(second, claim));
    let pair = |a: &(String, char), b: &(String, char)| {
        Pair(Job::new(&a.0, a.1, &mine, quick), Job::new(&b.0, b.1, &theirs, quick))
    };
    if let Some([one, other]) = single(claim) {
        return vec![pair(&one, &other)];
    }
    let mut codes = named(claim);
    if codes.is_empty() {
        codes = paper();
    }
    let from = |i: usize| if first == second { i } else { 0 };
    let rest = |i: usize| codes[from(i)..].iter().map(move |b| (i, b));
    (0..codes.len()).flat_map(rest).map(|(i, b)| pair(&codes[i], b)).collect()
}

/// Each program a claim with unequal numbers of tasks measures, beside each program of the paper's workload.
/// `without` a code leaves it out.
pub(super) fn measured_beside(claim: &Claim, model: &str, quick: bool) -> Vec<Pair> {
    let (named, all) = (named(claim), paper());
    let measured: Vec<_> = if claim.workload.to_lowercase().contains("without") {
        all.iter().filter(|job| !named.iter().any(|n| n.0 == job.0)).cloned().collect()
    } else if named.is_empty() {
        all.clone()
    } else {
        named
    };
    let runtime = runtime(model, claim);
    let job = |(code, class): &(String, char)| Job::new(code, *class, &runtime, quick);
    measured.iter().flat_map(|one| all.iter().map(move |other| Pair(job(one), job(other)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::{SHIPPED, SHIPPED_NAME, read};
    use crate::studies::{find, grid};

    fn claim(id: &str) -> Claim {
        read(SHIPPED_NAME, SHIPPED).unwrap().into_iter().find(|claim| claim.id == id).unwrap()
    }

    fn upc() -> Models {
        ("upc".to_owned(), "upc".to_owned())
    }

    #[test]
    fn cells_of_claims_are_those_of_the_grid() {
        let keys: Vec<String> = ["sharing", "partition"]
            .iter()
            .flat_map(|s| grid(find(s).unwrap()).unwrap())
            .map(|c| c.key())
            .collect();
        for pair in pairs(&claim("share-part-upc-1pc"), &upc(), false) {
            for cell in [pair.shared("barcelona", 2, "PIN"), pair.partitioned("barcelona", 8)] {
                assert!(keys.contains(&cell.key()), "{cell}");
            }
        }
    }

    #[test]
    fn a_pair_and_its_mirror_image_are_one_cell() {
        let [ep, mg] = ["ep", "mg"].map(|code| Job::new(code, 'C', "upc", false));
        let (pair, mirror) = (Pair(ep.clone(), mg.clone()), Pair(mg, ep));
        assert_eq!(pair.shared("barcelona", 1, "PIN"), mirror.shared("barcelona", 1, "PIN"));
        assert_eq!((pair.apps(), mirror.apps()), (["a", "b"], ["b", "a"]));
    }

    #[test]
    fn pairs_follow_the_fields() {
        let labels = |claim: &Claim| pairs(claim, &upc(), false).iter().map(Pair::label).collect::<Vec<_>>();
        assert_eq!(labels(&claim("share-part-upc-1pc")).len(), 10);
        assert_eq!(labels(&claim("share-part-omp-cg-cg")), ["cg.B + cg.B"]);
        assert_eq!(labels(&claim("share-part-omp-mg-cg-cg")), ["cg.B + mg.C"]);
        let mut other = claim("share-part-omp-mg-cg-cg");
        (other.workload, other.class) = ("is (with ft)".into(), "A,W".into());
        assert_eq!(labels(&other), ["is.A + ft.W"]);
        assert_eq!(models(&claim("seq-omp-upc-kmp0-trend")).len(), 1);
        assert_eq!(models(&claim("seq-any-mix-any-arch")).len(), 6);
    }

    #[test]
    fn programs_keep_their_proportions() {
        let scale = |code, quick| Job::new(code, 'B', "upc", quick).workload(quick);
        assert!(scale("ft", false).ends_with("scale: 20%}}"));
        assert!(scale("cg", false).ends_with("scale: 22.67%}}"));
        assert!(scale("mg", true).ends_with("scale: 5%}}"));
        assert!(scale("ep", true).ends_with("scale: 9.52%}}"));
    }
}
