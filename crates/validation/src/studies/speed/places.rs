//! The cells of claims about fewer cores than threads: programs, machines, core counts, runtimes.

use notation::declare::Choice;

use super::super::general::Run;
use super::super::programs::{Runtime, at_any_phase, npb, run_by, runs, whole};
use crate::answer::{Series, Trouble};
use crate::claims::{BlockTime, Claim, Code, Model, Named, Together, Way, Yield, label};
use crate::lab::{AppSample, Cell, Lab, Setting};

/// The programs of the experiment with their class and the share of a run that is simulated.
const PROGRAMS: [(Code, char, &str); 7] = [
    (Code::Bt, 'A', "5%"),
    (Code::Cg, 'B', "4%"),
    (Code::Ep, 'C', "60%"),
    (Code::Ft, 'B', "40%"),
    (Code::Is, 'C', "100%"),
    (Code::Mg, 'C', "10%"),
    (Code::Sp, 'A', "5%"),
];

/// Core counts of a quick look.
const QUICK: [u32; 3] = [3, 6, 11];

/// OpenMP with barriers that poll for so long; for ever they never sleep.
pub(super) fn openmp(time: BlockTime) -> Runtime {
    Runtime::polling(Model::OpenMp, time)
}

/// A program as a cell names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Program {
    code: Code,
    class: char,
    /// As in `cg.B`.
    pub(super) name: String,
    /// The share of the program that is simulated, per cent with its sign.
    scale: &'static str,
    /// The workload of the cell.
    pub(super) workload: Setting,
}

impl Program {
    /// Whether it runs with so many tasks.
    pub(super) fn runs(&self, model: Model, tasks: u32) -> bool {
        runs(self.code, self.class, model, tasks)
    }

    /// The run time of the whole program.
    pub(super) fn whole(&self, app: &AppSample, model: Model, tasks: u32) -> f64 {
        let share = self.scale.trim_end_matches('%').parse().unwrap_or(100.0);
        app.timed * whole((self.code, self.class, model), tasks, share)
    }
}

/// Tasks on a machine of 16 cores: `2 per core`, `16 threads`; 16 where nothing is stated.
pub(super) fn tasks(claim: &Claim) -> u32 {
    let threads = &claim.at.threads;
    if threads.per_core { threads.tasks * 16 } else { threads.tasks }
}

/// The programs a claim names, those of the experiment when it names none.
pub(super) fn programs(claim: &Claim) -> Vec<Program> {
    let mut named = claim.at.workload.codes.clone();
    if named.is_empty() {
        named = PROGRAMS.iter().map(|(code, class, _)| (*code, Some(*class))).collect();
    }
    let one = |(code, class): (Code, Option<char>)| {
        let usual = PROGRAMS.iter().find(|(known, ..)| *known == code);
        let class = class.or(usual.map(|(_, class, _)| *class)).unwrap_or('A');
        let scale = usual.map_or("10%", |(.., scale)| scale);
        Program { code, class, name: label(code, class), scale, workload: npb(code, class, Some(scale)) }
    };
    named.into_iter().map(one).collect()
}

/// The programs without barriers worth the name among those of a claim, by which efficiency on m cores is
/// shown; all when there are none.
fn scalable(claim: &Claim) -> Vec<Program> {
    let all = programs(claim);
    let ep: Vec<Program> = all.iter().filter(|program| program.code == Code::Ep).cloned().collect();
    if ep.is_empty() { all } else { ep }
}

/// Which runtimes a claim is about: its models, each with the ways to wait it names. OpenMP stands for
/// programs of any model whose ways to wait are compared, as its block time chooses between them; UPC for all
/// other claims about any model.
pub(super) fn runtimes(claim: &Claim) -> Vec<Runtime> {
    let wait = &claim.at.wait;
    let sleeps = wait.ways.contains(&Way::Sleep) || wait.ways.contains(&Way::Block);
    let polls = wait.ways.contains(&Way::Poll);
    let models = match claim.at.models.together {
        Together::Unstated if sleeps => vec![Model::OpenMp],
        Together::Unstated | Together::Unknown => vec![Model::Upc],
        _ => claim.at.models.list.clone(),
    };
    let mut runtimes = Vec::new();
    for model in models {
        let usual = Runtime::usual(model);
        match model {
            Model::Upc if sleeps && polls => runtimes.extend([usual, Runtime::blocking(model)]),
            Model::Upc | Model::Mpi if sleeps && !polls => runtimes.push(Runtime::blocking(model)),
            Model::Upc | Model::Mpi => runtimes.push(usual),
            Model::OpenMp => {
                let times = [
                    (BlockTime::Infinite, wait.open || polls),
                    (BlockTime::Usual, wait.open),
                    (BlockTime::Zero, wait.open || sleeps),
                ];
                runtimes.extend(times.iter().filter(|(_, named)| *named).map(|(time, _)| openmp(*time)));
            }
        }
    }
    runtimes
}

/// The first so many cpus as a mask.
pub(super) fn mask(cores: u32) -> String {
    if cores == 1 { "0".to_owned() } else { format!("0-{}", cores - 1) }
}

/// The label of a policy that a claim names.
///
/// # Errors
/// None known.
pub(super) fn policy(named: &Named) -> Result<&'static str, Trouble> {
    let unknown = |name: &String| Trouble::uncovered(format!("no policy is known by the name `{name}`"));
    named.as_ref().map(|policy| policy.word()).map_err(unknown)
}

/// All that a claim is about: machines, runtimes, programs and core counts.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) machines: Vec<String>,
    pub(super) runtimes: Vec<Runtime>,
    pub(super) programs: Vec<Program>,
    pub(super) tasks: u32,
    pub(super) cores: Vec<u32>,
    /// What `sched_yield` does, where the claim says; else as the kernel has it.
    yields: Vec<Option<Yield>>,
}

/// One place of a grid.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) machine: String,
    pub(super) runtime: Runtime,
    pub(super) program: Program,
    pub(super) tasks: u32,
    pub(super) cores: u32,
    /// What `sched_yield` does, where the claim says.
    pub(super) yields: Option<Yield>,
}

impl Grid {
    /// All that a claim names; in a quick look some of many core counts.
    pub(super) fn of(claim: &Claim, lab: &Lab) -> Self {
        let mut cores = claim.at.threads.cores.clone();
        if lab.is_quick() && cores.len() > QUICK.len() {
            cores.retain(|m| QUICK.contains(m));
        }
        Self {
            machines: claim.at.machines.list.clone(),
            runtimes: runtimes(claim),
            programs: programs(claim),
            tasks: tasks(claim),
            cores,
            yields: if claim.at.yields.is_empty() {
                vec![None]
            } else {
                claim.at.yields.iter().copied().map(Some).collect()
            },
        }
    }

    /// The same with OpenMP barriers that never sleep.
    pub(super) fn polling(claim: &Claim, lab: &Lab) -> Self {
        Self { runtimes: vec![openmp(BlockTime::Infinite)], ..Self::of(claim, lab) }
    }

    /// The same with programs that scale.
    pub(super) fn scalable(claim: &Claim, lab: &Lab) -> Self {
        Self { programs: scalable(claim), ..Self::of(claim, lab) }
    }

    /// Every combination that can be run; all where none can, so that their scenarios say why.
    pub(super) fn places(&self) -> Vec<Place> {
        let (can, cannot): (Vec<Place>, Vec<Place>) = self
            .combinations()
            .into_iter()
            .partition(|place| place.program.runs(place.runtime.model, place.tasks));
        if can.is_empty() { cannot } else { can }
    }

    fn combinations(&self) -> Vec<Place> {
        let mut all = Vec::new();
        for machine in &self.machines {
            for runtime in &self.runtimes {
                for (program, yields) in self
                    .programs
                    .iter()
                    .flat_map(|program| self.yields.iter().map(move |yields| (program, yields)))
                {
                    all.extend(self.cores.iter().map(|cores| Place {
                        machine: machine.clone(),
                        runtime: *runtime,
                        program: program.clone(),
                        tasks: self.tasks,
                        cores: *cores,
                        yields: *yields,
                    }));
                }
            }
        }
        all
    }
}

impl Place {
    /// Machine, model and program.
    pub(super) fn program_key(&self) -> String {
        let yields = self.yields.map_or(String::new(), |yields| format!(", {} yield", yields.word()));
        format!("{} {} {}{yields}", self.machine, self.runtime.setting(), self.program.name)
    }

    /// The same with its cores.
    pub(super) fn label(&self) -> String {
        format!("{} on {}", self.program_key(), self.cores)
    }

    /// Its run under a policy, made whole.
    pub(super) fn run(&self, lab: &mut Lab, policy: &str) -> Result<Run, Trouble> {
        let times = lab
            .of_app(&self.cell(policy), "a", |app| self.program.whole(app, self.runtime.model, self.tasks))?;
        let (key, program) = (self.program_key(), self.program.name.clone());
        Ok(Run { key, program, at: format!("on {}", self.cores), times })
    }

    /// Its cell under a policy; that of FreeBSD comes with its kernel.
    pub(super) fn cell(&self, policy: &str) -> Cell {
        let mut cell = Cell::new("speed", policy)
            .set("machine", &self.machine)
            .set("apps.a.workload", self.program.workload.clone())
            .set("apps.a.cpus", mask(self.cores));
        cell = run_by(cell, 'a', self.runtime.model, self.runtime.setting());
        if self.tasks != 16 {
            cell = cell.set("apps.a.tasks", self.tasks);
        }
        cell = at_any_phase(cell, 'a', self.runtime.model);
        if let Some(yields) = self.yields {
            cell = cell.set("kernel.yield", yields.word());
        }
        if policy == "ULE" { cell.set("kernel", "freebsd-7") } else { cell }
    }
}

/// The run times at a place under a policy.
pub(super) fn times(lab: &mut Lab, place: &Place, policy: &str) -> Result<Series, Trouble> {
    lab.times(&place.cell(policy), "a")
}

/// How much longer `other` takes than `this` at a place, in per cent.
pub(super) fn excess(lab: &mut Lab, place: &Place, other: &str, this: &str) -> Result<Series, Trouble> {
    Ok(times(lab, place, other)?.gain_over(&times(lab, place, this)?))
}

/// The same on the mean over places.
pub(super) fn mean_excess(
    lab: &mut Lab,
    places: &[Place],
    other: &str,
    this: &str,
) -> Result<Series, Trouble> {
    let all: Result<Vec<Series>, Trouble> =
        places.iter().map(|place| excess(lab, place, other, this)).collect();
    Ok(Series::mean_of(&all?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims;

    fn claim(change: impl FnOnce(&mut claims::Texts)) -> Claim {
        let all = claims::read(claims::SHIPPED_NAME, claims::SHIPPED).unwrap_or_default();
        all.into_iter().find(|claim| claim.group == "speed").unwrap().with(change)
    }

    #[test]
    fn ways_to_wait() {
        let of = |model: &str, wait: &str| {
            let claim = claim(|texts| (texts.model, texts.wait) = (model.into(), wait.into()));
            runtimes(&claim).iter().map(|runtime| runtime.setting().to_string()).collect::<Vec<_>>()
        };
        let (polling, sleeping) = ("{openmp: {block_time: infinite}}", "{openmp: {block_time: 0s}}");
        assert_eq!(of("upc", "poll+yield"), ["upc"]);
        assert_eq!(of("upc", "sleep"), ["{upc: {wait: block}}"]);
        assert_eq!(of("openmp", "polling (blocktime inf)"), [polling, sleeping]);
        assert_eq!(of("openmp", "poll+yield"), [polling]);
        assert_eq!(of("any", "sleep vs sched_yield"), [polling, sleeping]);
        assert_eq!(of("any", "not applicable"), ["upc"]);
        assert_eq!(of("upc,mpi,openmp", "all"), ["upc", "mpi", polling, "openmp", sleeping]);
    }

    #[test]
    fn programs_have_the_classes_of_the_experiment() {
        let of = |text: &str| programs(&claim(|texts| texts.workload = text.into()));
        assert_eq!(of("NPB + cpu-hog").len(), 7);
        assert_eq!(of("EP + hog")[0].name, "ep.C");
        assert!(of("NPB (cg.A)")[0].workload.to_string().contains("class: A, scale: 4%"));
    }
}
