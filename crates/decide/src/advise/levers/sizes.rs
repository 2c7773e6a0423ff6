//! How many tasks each choice has, and how that compares with the cores and the cpus.

use scenario::plan::RunPlan;
use sim_core::program::Op;

use super::{Effect, Kind, Lever, Program, demand, one_per_core};

/// The tasks of one program by the value of the lever that sets them.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Size {
    /// Which lever.
    lever: usize,
    /// The tasks with each of its values.
    tasks: Vec<u64>,
    /// Cores and cpus that it may use.
    room: (u64, u64),
    /// Its tasks are threads of one process that compute all the time.
    team: bool,
}

/// The sizes of all programs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sizes {
    all: Vec<Size>,
    /// Levers that set how many tasks there are or how they wait.
    kinds: Vec<usize>,
    /// The period of the quota of a program, in s; none without a quota.
    pub period: Option<f64>,
}

impl Sizes {
    /// The sizes that some levers make.
    #[must_use]
    pub fn of(plan: &RunPlan, programs: &[Program], levers: &[Lever]) -> Self {
        let numbered = || levers.iter().enumerate();
        let sizes = numbered().filter(|(_, lever)| matches!(lever.kind, Kind::Threads | Kind::Ranks));
        let all = sizes.filter_map(|(at, lever)| {
            let program = programs.iter().find(|program| lever.app.as_ref() == Some(&program.name))?;
            let tasks = |effect: &Effect| match effect {
                Effect::Threads(count) => u64::from(*count),
                Effect::Ranks(count, team) => u64::from(*count) * u64::from(*team),
                _ => u64::from(program.tasks),
            };
            let cpus = program.cpus.len() as u32;
            let blocks = demand::useful(plan, &program.name, cpus).0 > f64::from(cpus);
            Some(Size {
                lever: at,
                tasks: lever.values.iter().map(|value| tasks(&value.effect)).collect(),
                room: (one_per_core(&plan.machine, &program.cpus).len() as u64, u64::from(cpus)),
                team: lever.kind == Kind::Threads && !blocks && !starts_processes(plan, &program.name),
            })
        });
        let kinds = numbered()
            .filter(|(_, lever)| matches!(lever.kind, Kind::Threads | Kind::Ranks | Kind::Wait | Kind::Path));
        let groups = plan.apps.iter().filter_map(|spec| plan.kernel.groups.get(usize::from(spec.group?)));
        let periods = groups.filter_map(|group| Some(group.limit.as_ref()?.period.ns() as f64 / 1e9));
        Self {
            all: all.collect(),
            kinds: kinds.map(|(at, _)| at).collect(),
            period: periods.reduce(f64::max),
        }
    }

    /// The tasks of all programs together whose number can be set.
    #[must_use]
    pub fn tasks(&self, choice: &[usize]) -> u64 {
        self.all.iter().map(|size| size.with(choice)).sum()
    }

    /// Whether a team has more threads than cores that it may use.
    #[must_use]
    pub fn above_cores(&self, choice: &[usize]) -> bool {
        self.all.iter().any(|size| size.team && size.with(choice) > size.room.0)
    }

    /// Whether a team has a thread for each cpu that it may use, or more.
    #[must_use]
    pub fn fills(&self, choice: &[usize]) -> bool {
        self.all.iter().any(|size| size.team && size.with(choice) >= size.room.1)
    }

    /// A choice without all that changes neither how many tasks there are nor how they wait.
    #[must_use]
    pub fn group(&self, choice: &[usize]) -> Vec<usize> {
        choice
            .iter()
            .enumerate()
            .map(|(at, value)| if self.kinds.contains(&at) { *value } else { 0 })
            .collect()
    }
}

impl Size {
    fn with(&self, choice: &[usize]) -> u64 {
        choice.get(self.lever).and_then(|value| self.tasks.get(*value)).copied().unwrap_or(0)
    }
}

/// Whether the tasks of a program are or start processes of their own: those of a build.
fn starts_processes(plan: &RunPlan, app: &str) -> bool {
    plan.apps.iter().any(|spec| spec.name == app && spec.program.ops().contains(&Op::Respawn))
}

#[cfg(test)]
mod tests {
    use experiment::PolicyRegistry;
    use scenario::{Overrides, load_with};

    use super::*;
    use crate::advise::levers::{Allowed, levers, programs, shared};

    /// For each number of threads on four cores with two hardware threads each: above the cores, on all cpus.
    fn on_cores(workload: &str) -> Vec<(u64, bool, bool)> {
        let text = format!(
            "name: x\nmachine: core:4 pu:2\nkernel: linux-6.18\napps:\n  a: {{ workload: {workload}, tasks: \
             3 }}\npolicies: [LOAD]\n"
        );
        let policies = PolicyRegistry::default();
        let found = load_with(&policies, "x.yaml", &text, &Overrides::default()).unwrap();
        let allowed = Allowed { kinds: vec![Kind::Threads, Kind::Ranks], ..Allowed::default() };
        let levers = levers((&policies, &text), &found, &allowed);
        let sizes = Sizes::of(shared(&found).unwrap(), &programs(&found, &[]), &levers);
        let one = |value| {
            let choice = [value];
            (sizes.tasks(&choice), sizes.above_cores(&choice), sizes.fills(&choice))
        };
        (0..levers[0].values.len()).map(one).collect()
    }

    #[test]
    fn teams_are_compared_with_the_cores_and_the_cpus() {
        let all = on_cores("{ spmd: { work: 1s, intervals: 20 } }");
        for known in [(3, false, false), (4, false, false), (6, true, false), (8, true, true)] {
            assert!(all.contains(&known), "{known:?} in {all:?}");
        }
    }

    #[test]
    fn jobs_of_a_build_are_no_team() {
        let all = on_cores("{ make: { compute: 40ms, io: 0s, jobs: 90 } }");
        assert!(all.contains(&(8, false, false)) && all.contains(&(16, false, false)), "{all:?}");
    }
}
