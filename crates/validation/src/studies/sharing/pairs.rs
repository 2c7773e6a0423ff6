//! Which programs a claim about sharing speaks of: pairs of NAS codes with their classes and models, and the
//! cells they run in.

use notation::declare::Choice;
use sim_core::machine::Level;

use super::super::programs::{self, Runtime, at_any_phase, npb, run_by};
use crate::claims::{Claim, Code, Feature, Model, Together, Yield, label};
use crate::lab::{AppSample, Cell, Lab, Setting};

/// Part of each program that is simulated in a quick look, the untimed first iteration included: 2 of 21
/// iterations of FT and MG, and as much of the others. So run times keep their proportions, on which
/// pairs depend.
const QUICK: f64 = 2.0 / 21.0;
/// The workload of the section on sharing, with the classes the paper gives (run times of 10 to 30 s), in the
/// order of the cells.
const DEFAULTS: [(Code, char); 8] = [
    (Code::Ep, 'C'),
    (Code::Cg, 'B'),
    (Code::Ft, 'B'),
    (Code::Mg, 'C'),
    (Code::Is, 'C'),
    (Code::Sp, 'A'),
    (Code::Bt, 'A'),
    (Code::Lu, 'A'),
];
/// How many of them are the paper's workload for pairs.
const PAPER: usize = 4;

/// A program: code, class, and its runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Job {
    pub(super) code: Code,
    pub(super) class: char,
    runtime: Runtime,
    /// What `sched_yield` does.
    yields: Yield,
    quick: bool,
}

impl Job {
    /// Timed iterations of a whole run (NPB sources); none for EP.
    fn iterations(&self) -> Option<u32> {
        match (self.code, self.class) {
            (Code::Ep, _) => None,
            (Code::Cg, 'B' | 'C') => Some(75),
            (Code::Cg, _) => Some(15),
            (Code::Mg | Code::Ft, 'B' | 'C') => Some(20),
            (Code::Mg, _) => Some(4),
            (Code::Ft, _) => Some(6),
            (Code::Is, _) => Some(10),
            (Code::Sp, _) => Some(400),
            (Code::Lu, _) => Some(250),
            (Code::Bt, _) => Some(200),
        }
    }

    /// Its workload, the whole of it or for a quick look a part.
    fn workload(&self) -> Setting {
        let scale = self.quick.then(|| format!("{}%", self.share()));
        npb(self.code, self.class, scale.as_deref())
    }

    /// The share of it that is simulated, per cent.
    fn share(&self) -> f64 {
        let part = match self.iterations().map(f64::from) {
            _ if !self.quick => return 100.0,
            None => QUICK,
            Some(n) => ((QUICK * (n + 1.0)).round() - 1.0).max(1.0) / n,
        };
        (part * 10_000.0).round() / 100.0
    }

    fn place(&self, cell: Cell, app: char) -> Cell {
        let cell = cell.set(&format!("apps.{app}.workload"), self.workload());
        let cell = run_by(cell, app, self.runtime.model, self.runtime.setting());
        at_any_phase(cell, app, self.runtime.model)
    }

    /// What orders the programs of a cell.
    fn rank(&self) -> (String, Option<usize>, char) {
        let rank = DEFAULTS.iter().position(|(known, _)| *known == self.code);
        (self.runtime.setting().to_string(), rank, self.class)
    }

    /// The run time of the whole program with so many tasks.
    pub(super) fn whole(&self, app: &AppSample, tasks: u32) -> f64 {
        app.run_time * programs::whole((self.code, self.class, self.runtime.model), tasks, self.share())
    }

    /// Alone on a machine, pinned, `k` tasks per core.
    pub(super) fn alone(&self, machine: &str, k: u32) -> Cell {
        let cell = self.place(plain("sequence", "PIN", machine, self.yields), 'a');
        cell.set("threads_per_core", per_core(machine, k))
    }
}

fn plain(study: &'static str, policy: &str, machine: &str, yields: Yield) -> Cell {
    Cell::new(study, policy).set("machine", machine).set("kernel.yield", yields.word())
}

/// Tasks per core of the simulator where the paper has `k` per core: it counts hardware threads as cores
/// (16 of Nehalem in its Table I and figure 2).
fn per_core(machine: &str, k: u32) -> u32 {
    k * machines::resolve(machine).map_or(1, |entry| entry.topology.span(Level::Core))
}

/// Two programs that run together; the first is the one a claim measures, if it measures one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pair(pub(super) Job, pub(super) Job);

impl Pair {
    /// The programs as the cells have them, so that a pair and its mirror image are the same cell; and
    /// whether they changed places.
    fn ordered(&self) -> (&Job, &Job, bool) {
        let Self(one, other) = self;
        if one.rank() <= other.rank() { (one, other, false) } else { (other, one, true) }
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
        let cell = self.place(plain("sharing", policy, machine, self.0.yields));
        let cell = cell.set("threads_per_core", per_core(machine, k));
        // Mixes of models are many; what is asked of them are signs. Of pinned programs the range of three
        // replicates is 0.3 % of their mean (median; 90 % below 1.2 %), but 1.5 % (7.7 %) with OpenMP, whose
        // yields come in cycles.
        let replicates = match (policy, self.0.runtime.model) {
            _ if self.0.runtime != self.1.runtime => 1,
            ("PIN", Model::OpenMp) => 2,
            ("PIN", _) => 1,
            _ => return cell,
        };
        cell.set("repeat", replicates)
    }

    /// Each on its own half of the sockets, one task on each of `cores` cores.
    pub(super) fn partitioned(&self, machine: &str, cores: u32) -> Cell {
        let cell = self.place(plain("partition", "PARTITION", machine, self.0.yields));
        let cell = if self.0.runtime == self.1.runtime { cell } else { cell.set("repeat", 1) };
        // Eight, the number of the paper, stands in the file.
        if cores == 8 { cell } else { cell.set("apps.a.tasks", cores).set("apps.b.tasks", cores) }
    }

    /// Both on all cores with unequal numbers of tasks per core.
    pub(super) fn unequal(&self, machine: &str, (mine, theirs): (u32, u32)) -> Cell {
        // The study has the program with more tasks first.
        let (pair, mine, theirs) =
            if mine < theirs { (Self(self.1, self.0), theirs, mine) } else { (*self, mine, theirs) };
        let cell = pair.0.place(plain("imbalanced", "PIN", machine, self.0.yields), 'a');
        let cell = pair.1.place(cell, 'b').set("apps.a.threads_per_core", per_core(machine, mine));
        cell.set("apps.b.threads_per_core", per_core(machine, theirs))
    }

    pub(super) fn label(&self) -> String {
        let Self(a, b) = self;
        let equal = a.runtime == b.runtime;
        let [a, b] = [a, b].map(|job| {
            let program = label(job.code, job.class);
            if equal { program } else { format!("{program} ({})", job.runtime.setting()) }
        });
        format!("{a} + {b}")
    }
}

/// Three programs on all cores.
pub(super) fn three(machine: &str, model: Model, k: u32, (policy, quick): (&str, bool)) -> Cell {
    let mut cell = plain("gang", policy, machine, Yield::Posix).set("threads_per_core", per_core(machine, k));
    for (app, (code, class)) in ['a', 'b', 'c'].into_iter().zip(&DEFAULTS[1..PAPER]) {
        let (runtime, yields) = (Runtime::usual(model), Yield::Posix);
        let job = Job { code: *code, class: *class, runtime, yields, quick };
        cell = job.place(cell, app);
    }
    cell
}

/// The programming models of a pair's two programs.
pub(super) type Models = (Model, Model);

/// The models that a claim combines: each with itself, mixes where it speaks of them, only the mix for
/// `openmp+upc`.
pub(super) fn models(claim: &Claim) -> Vec<Models> {
    let named = &claim.at.models.list;
    let later = |i: usize| named[i + 1..].iter().map(move |b| (named[i], *b));
    let mixed: Vec<Models> = (0..named.len()).flat_map(later).collect();
    let same: Vec<Models> = named.iter().map(|m| (*m, *m)).collect();
    match claim.at.models.together {
        Together::EachAndMixed => [same, mixed].concat(),
        _ if claim.at.workload.has(Feature::Combinations) => [same, mixed].concat(),
        Together::Mixed => mixed,
        _ => same,
    }
}

/// The codes a claim names, with classes: beside the name, by position in its list of classes, the one class
/// named, or the paper's.
fn named(claim: &Claim) -> Vec<(Code, char)> {
    let (codes, list) = (&claim.at.workload.codes, &claim.at.classes.written);
    let usual =
        |code: Code| DEFAULTS.iter().find(|(known, _)| *known == code).map_or('B', |(_, class)| *class);
    let class = |i: usize, code: Code| match list[..] {
        [all] => all,
        _ if list.len() == codes.len() => list[i],
        _ => usual(code),
    };
    let each = codes.iter().enumerate();
    each.map(|(i, (code, beside))| (*code, beside.unwrap_or_else(|| class(i, *code)))).collect()
}

/// The paper's workload.
fn paper() -> Vec<(Code, char)> {
    DEFAULTS[..PAPER].to_vec()
}

/// The one pair that a claim is about, as in `mg-C (with cg-B)` or `cg-B + cg-B`; `None` when it is about a
/// set of pairs.
fn single(claim: &Claim) -> Option<[(Code, char); 2]> {
    match named(claim)[..] {
        _ if claim.at.workload.has(Feature::Pairs) => None,
        [one] => Some([one, one]),
        [one, other] => Some([one, other]),
        _ => None,
    }
}

/// Whether a claim is about one pair.
pub(super) fn is_single(claim: &Claim) -> bool {
    single(claim).is_some()
}

/// The pairs of a claim in these models; in a quick look every second of many, of mixes every eighth.
pub(super) fn asked(claim: &Claim, lab: &Lab, models: Models) -> Vec<Pair> {
    let all = pairs(claim, models, lab.is_quick());
    if !lab.is_quick() || all.len() < 6 {
        return all;
    }
    let step = if models.0 == models.1 { 2 } else { 8 };
    all.into_iter().skip(1).step_by(step).collect()
}

/// The pairs of a claim in these models: the one it names, or all of its codes (the paper's when it names
/// none). Of one model each pair once, equal ones included; of two models each code with each. All of them
/// with each yield that it names.
fn pairs(claim: &Claim, models: Models, quick: bool) -> Vec<Pair> {
    claim.at.yields().iter().flat_map(|yields| pairs_with(claim, models, *yields, quick)).collect()
}

fn pairs_with(claim: &Claim, (first, second): Models, yields: Yield, quick: bool) -> Vec<Pair> {
    let [mine, theirs] = [first, second].map(|model| Runtime::waiting(model, &claim.at.wait));
    let job = |(code, class), runtime| Job { code, class, runtime, yields, quick };
    if let Some([one, other]) = single(claim) {
        return vec![Pair(job(one, mine), job(other, theirs))];
    }
    let mut codes = named(claim);
    if codes.is_empty() {
        codes = paper();
    }
    let mut all = Vec::new();
    for (i, one) in codes.iter().enumerate() {
        let others = if first == second { &codes[i..] } else { &codes[..] };
        all.extend(others.iter().map(|other| Pair(job(*one, mine), job(*other, theirs))));
    }
    all
}

/// Each program a claim with unequal numbers of tasks measures, beside each program of the paper's workload.
/// `without` a code leaves it out.
pub(super) fn measured_beside(claim: &Claim, model: Model, quick: bool) -> Vec<Pair> {
    let (named, all) = (named(claim), paper());
    let measured: Vec<_> = if claim.at.workload.has(Feature::Without) {
        all.iter().filter(|job| !named.iter().any(|n| n.0 == job.0)).copied().collect()
    } else if named.is_empty() {
        all.clone()
    } else {
        named
    };
    let (runtime, yields) = (Runtime::waiting(model, &claim.at.wait), claim.at.yields()[0]);
    let job = |(code, class)| Job { code, class, runtime, yields, quick };
    measured.iter().flat_map(|one| all.iter().map(move |other| Pair(job(*one), job(*other)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::{SHIPPED, SHIPPED_NAME, read};
    use crate::lab::{find, grid};

    const UPC: Models = (Model::Upc, Model::Upc);

    fn claim(id: &str) -> Claim {
        read(SHIPPED_NAME, SHIPPED).unwrap().into_iter().find(|claim| claim.id == id).unwrap()
    }

    fn job(code: Code, class: char, quick: bool) -> Job {
        Job { code, class, runtime: Runtime::usual(Model::Upc), yields: Yield::Posix, quick }
    }

    #[test]
    fn cells_of_claims_are_those_of_the_grid() {
        let keys: Vec<String> = ["sharing", "partition"]
            .iter()
            .flat_map(|s| grid(find(s).unwrap()).unwrap())
            .map(|c| c.key())
            .collect();
        for pair in pairs(&claim("share-part-upc-1pc"), UPC, false) {
            for cell in [pair.shared("barcelona", 2, "LOAD"), pair.partitioned("barcelona", 8)] {
                assert!(keys.contains(&cell.key()), "{cell}");
            }
        }
    }

    #[test]
    fn hardware_threads_are_the_cores_of_the_paper() {
        let pair = pairs(&claim("share-part-nehalem-equal"), UPC, false)[0];
        let per_core = |machine| pair.shared(machine, 2, "PIN").settings()["threads_per_core"].to_string();
        assert_eq!([per_core("barcelona"), per_core("nehalem")], ["2", "4"]);
    }

    #[test]
    fn a_pair_and_its_mirror_image_are_one_cell() {
        let [ep, mg] = [Code::Ep, Code::Mg].map(|code| job(code, 'C', false));
        let (pair, mirror) = (Pair(ep, mg), Pair(mg, ep));
        assert_eq!(pair.shared("barcelona", 1, "PIN"), mirror.shared("barcelona", 1, "PIN"));
        assert_eq!((pair.apps(), mirror.apps()), (["a", "b"], ["b", "a"]));
    }

    #[test]
    fn pairs_follow_the_fields() {
        let labels = |claim: &Claim| pairs(claim, UPC, false).iter().map(Pair::label).collect::<Vec<_>>();
        assert_eq!(labels(&claim("share-part-upc-1pc")).len(), 10);
        assert_eq!(labels(&claim("share-part-omp-cg-cg")), ["cg.B + cg.B"]);
        assert_eq!(labels(&claim("share-part-omp-mg-cg-cg")), ["cg.B + mg.C"]);
        let other = claim("share-part-omp-mg-cg-cg").with(|texts| {
            (texts.workload, texts.class) = ("is (with ft)".into(), "A,W".into());
        });
        assert_eq!(labels(&other), ["is.A + ft.W"]);
        assert_eq!(models(&claim("seq-omp-upc-kmp0-trend")).len(), 1);
        assert_eq!(models(&claim("seq-any-mix-any-arch")).len(), 6);
    }

    #[test]
    fn programs_are_whole_or_keep_their_proportions() {
        let scale = |code, quick| job(code, 'B', quick).workload().to_string();
        assert_eq!(scale(Code::Ft, false), "{npb: {benchmark: ft, class: B}}");
        assert!(scale(Code::Mg, true).ends_with("scale: 5%}}"));
        assert!(scale(Code::Ep, true).ends_with("scale: 9.52%}}"));
    }
}
