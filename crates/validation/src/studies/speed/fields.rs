//! Reads claims about fewer cores than threads: which programs, machines, core counts and ways to wait they
//! speak of.

use crate::answer::Trouble;
use crate::claims::Claim;
use crate::fields;
use crate::lab::{Cell, Lab};

/// The programs of the experiment with their class and the share of a run that is simulated.
const PROGRAMS: [(&str, char, &str); 7] = [
    ("bt", 'A', "5%"),
    ("cg", 'B', "4%"),
    ("ep", 'C', "60%"),
    ("ft", 'B', "40%"),
    ("is", 'C', "100%"),
    ("mg", 'C', "10%"),
    ("sp", 'A', "5%"),
];

/// Core counts of a quick look.
const QUICK: [u32; 3] = [3, 6, 11];

/// An OpenMP runtime that never sleeps, one as installed, and one that sleeps at once.
pub(super) const POLLING: &str = "{openmp: {block_time: infinite}}";
const AS_INSTALLED: &str = "openmp";
const SLEEPING: &str = "{openmp: {block_time: 0s}}";

/// A program as a cell names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Program {
    /// As in `cg.B`.
    pub(super) name: String,
    /// The workload of the cell.
    pub(super) workload: String,
}

/// The programs a claim names, those of the experiment when it names none.
pub(super) fn programs(claim: &Claim) -> Vec<Program> {
    let mut named = fields::codes(&claim.workload);
    if named.is_empty() {
        named = PROGRAMS.iter().map(|(code, class, _)| ((*code).to_owned(), Some(*class))).collect();
    }
    let one = |(code, class): (String, Option<char>)| {
        let usual = PROGRAMS.iter().find(|(known, ..)| *known == code);
        let class = class.or(usual.map(|(_, class, _)| *class)).unwrap_or('A');
        let scale = usual.map_or("10%", |(.., scale)| scale);
        Program {
            name: format!("{code}.{class}"),
            workload: format!("{{npb: {{benchmark: {code}, class: {class}, scale: {scale}}}}}"),
        }
    };
    named.into_iter().map(one).collect()
}

/// The programs without barriers worth the name among those of a claim, by which efficiency on m cores is
/// shown; all when there are none.
pub(super) fn scalable(claim: &Claim) -> Vec<Program> {
    let all = programs(claim);
    let ep: Vec<Program> = all.iter().filter(|program| program.name.starts_with("ep")).cloned().collect();
    if ep.is_empty() { all } else { ep }
}

/// Which runtimes a claim is about: its models, each with the ways to wait it names. OpenMP stands for
/// programs of any model whose ways to wait are compared, as its block time chooses between them; UPC for all
/// other claims about any model.
pub(super) fn runtimes(claim: &Claim) -> Vec<&'static str> {
    let wait = claim.wait.to_lowercase();
    let model = claim.model.to_lowercase();
    let sleeps = wait.contains("sleep") || wait.contains("block");
    let models = match (model.as_str(), sleeps) {
        ("any" | "none" | "not applicable", true) => vec!["openmp".to_owned()],
        ("any" | "none" | "not applicable", false) => vec!["upc".to_owned()],
        _ => fields::models(claim),
    };
    let polls = wait.contains("poll") || wait.contains("yield") || wait.contains("infinite");
    let open = wait.starts_with("all") || wait.starts_with("not ") || !(polls || sleeps);
    let mut runtimes = Vec::new();
    for model in models {
        match (model.as_str(), open, polls, sleeps) {
            ("upc", _, false, true) => runtimes.push("{upc: {wait: block}}"),
            ("upc", _, true, true) => runtimes.extend(["upc", "{upc: {wait: block}}"]),
            ("upc", ..) => runtimes.push("upc"),
            ("mpi", _, false, true) => runtimes.push("{mpi: {wait: block}}"),
            ("mpi", ..) => runtimes.push("mpi"),
            (_, true, ..) => runtimes.extend([POLLING, AS_INSTALLED, SLEEPING]),
            (_, _, true, true) => runtimes.extend([POLLING, SLEEPING]),
            (_, _, true, _) => runtimes.push(POLLING),
            _ => runtimes.push(SLEEPING),
        }
    }
    runtimes
}

/// The OpenMP runtimes that a text about block times names; those that sleep when it names none.
pub(super) fn sleeping(text: &str) -> Vec<&'static str> {
    let text = text.to_lowercase();
    let mut named = Vec::new();
    if text.contains("default") || text.contains("200") {
        named.push(AS_INSTALLED);
    }
    if fields::numbers(&text).contains(&0) || named.is_empty() {
        named.push(SLEEPING);
    }
    named
}

/// Tasks, and the numbers of cores they run on: `16 threads on 1..16 cores`; 16 on 1 to 16 where nothing is
/// said.
pub(super) fn threads(claim: &Claim) -> (u32, Vec<u32>) {
    let (before, after) = claim.threads.split_once(" on ").unwrap_or((&claim.threads, ""));
    let tasks = fields::numbers(before).first().copied().unwrap_or(16).clamp(1, 1024);
    let named: Vec<u32> = fields::numbers(after).into_iter().filter(|m| (1..=16).contains(m)).collect();
    let cores = match named[..] {
        [low, high] if after.contains("..") || after.contains(" to ") => (low..=high).collect(),
        [] => (1..=16).collect(),
        _ => named,
    };
    (tasks, cores)
}

/// The first so many cpus as a mask.
pub(super) fn mask(cores: u32) -> String {
    if cores == 1 { "0".to_owned() } else { format!("0-{}", cores - 1) }
}

/// The policy that a name in a claim stands for.
///
/// # Errors
/// None known.
pub(super) fn policy(name: &str) -> Result<&'static str, Trouble> {
    let text = name.to_lowercase();
    let known = [
        ("speed", "SPEED"),
        ("load", "LOAD"),
        ("linux", "LOAD"),
        ("dwrr", "DWRR"),
        ("freebsd", "ULE"),
        ("ule", "ULE"),
        ("juggle", "JUGGLE"),
        ("pin", "PIN"),
        ("no migration", "PIN"),
    ];
    let found = known.iter().find(|(word, _)| text.contains(word)).map(|(_, policy)| *policy);
    found.ok_or_else(|| Trouble::uncovered(format!("no policy is known by the name `{name}`")))
}

/// All that a claim is about: machines, runtimes, programs and core counts.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) machines: Vec<String>,
    pub(super) runtimes: Vec<&'static str>,
    pub(super) programs: Vec<Program>,
    pub(super) tasks: u32,
    pub(super) cores: Vec<u32>,
}

/// One place of a grid.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) machine: String,
    pub(super) runtime: &'static str,
    pub(super) program: Program,
    pub(super) tasks: u32,
    pub(super) cores: u32,
}

impl Grid {
    /// All that a claim names; in a quick look some of many core counts.
    pub(super) fn of(claim: &Claim, lab: &Lab) -> Self {
        let (tasks, mut cores) = threads(claim);
        if lab.is_quick() && cores.len() > QUICK.len() {
            cores.retain(|m| QUICK.contains(m));
        }
        Self {
            machines: fields::machines(claim),
            runtimes: runtimes(claim),
            programs: programs(claim),
            tasks,
            cores,
        }
    }

    /// Every combination.
    pub(super) fn places(&self) -> Vec<Place> {
        let mut all = Vec::new();
        for machine in &self.machines {
            for runtime in &self.runtimes {
                for program in &self.programs {
                    all.extend(self.cores.iter().map(|cores| Place {
                        machine: machine.clone(),
                        runtime,
                        program: program.clone(),
                        tasks: self.tasks,
                        cores: *cores,
                    }));
                }
            }
        }
        all
    }
}

impl Place {
    /// Its cell under a policy; that of FreeBSD comes with its kernel.
    pub(super) fn cell(&self, policy: &str) -> Cell {
        let mut cell = Cell::new("speed", policy)
            .set("machine", &self.machine)
            .set("apps.a.runtime", self.runtime)
            .set("apps.a.workload", &self.program.workload)
            .set("apps.a.cpus", mask(self.cores));
        if self.tasks != 16 {
            cell = cell.set("apps.a.tasks", self.tasks);
        }
        if policy == "ULE" { cell.set("kernel", "freebsd-7") } else { cell }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims;

    fn claim(change: impl Fn(&mut Claim)) -> Claim {
        let all = claims::read(claims::SHIPPED_NAME, claims::SHIPPED).unwrap_or_default();
        let mut claim = all.into_iter().find(|claim| claim.group == "speed").unwrap();
        change(&mut claim);
        claim
    }

    #[test]
    fn threads_on_cores() {
        let of = |text: &str| threads(&claim(|c| c.threads = text.into()));
        assert_eq!(of("16 threads on 1..16 cores"), (16, (1..=16).collect()));
        assert_eq!(of("16 threads on 5, 7 and 11 cores"), (16, vec![5, 7, 11]));
        assert_eq!(of("12 threads on 4 to 6 cores"), (12, vec![4, 5, 6]));
        assert_eq!(of("not stated"), (16, (1..=16).collect()));
    }

    #[test]
    fn ways_to_wait() {
        let of = |model: &str, wait: &str| {
            runtimes(&claim(|c| {
                c.model = model.into();
                c.wait = wait.into();
            }))
        };
        assert_eq!(of("upc", "poll+yield"), ["upc"]);
        assert_eq!(of("openmp", "polling (blocktime inf)"), [POLLING, SLEEPING]);
        assert_eq!(of("openmp", "poll+yield"), [POLLING]);
        assert_eq!(of("any", "sleep vs sched_yield"), [POLLING, SLEEPING]);
        assert_eq!(of("any", "not applicable"), ["upc"]);
        assert_eq!(of("upc,mpi,openmp", "all"), ["upc", "mpi", POLLING, AS_INSTALLED, SLEEPING]);
        assert_eq!(sleeping("sleeping barriers (blocktime default/0)"), [AS_INSTALLED, SLEEPING]);
    }

    #[test]
    fn programs_have_the_classes_of_the_experiment() {
        let of = |text: &str| programs(&claim(|c| c.workload = text.into()));
        assert_eq!(of("NPB + cpu-hog").len(), 7);
        assert_eq!(of("EP + hog")[0].name, "ep.C");
        assert!(of("NPB (cg.A)")[0].workload.contains("class: A, scale: 4%"));
    }
}
