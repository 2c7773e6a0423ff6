//! `SWOMPS`: binds the threads of each program near together or far apart, by what the program prefers.
//!
//! Idea: memory-bound programs want the caches and controllers of many packages (scatter), programs that share data want one
//! (gather). Source: Yan et al., "SWOMPS" (IWOMP 2010). The printed pseudo-code has the sign of the preference the wrong
//! way round; the prose is followed.

use notation::parameter::{Kind, Parameter, Values};
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::machine::{Level as Tree, Machine, Topology};
use sim_core::policy::{Affinity, Placement, Policy, System, View};
use sim_core::program::{AppSpec, MemoryProfile, Op};

use crate::registry::{Entry, Level, Setting, Showcase};

/// Its place on the shelf.
pub(crate) const ENTRY: Entry = Entry {
    name: "SWOMPS",
    summary: "binds threads scattered over packages or gathered on few, by each program's preference",
    source: "Yan et al.: SWOMPS, IWOMP 2010 (prose, not the sign of the printed pseudo-code)",
    level: Level::User,
    parameters: PARAMETERS,
    about: "Whenever an application's threads exist or an application ends, all are planned anew. In the order of the \
strength of their preference the applications reserve as many cores as they have threads, as long as there are cores. In \
the same order each takes its cores: always from the package with the most free cores, preferring one where it held some \
before; gathering programs take as many as they can from it, scattering ones a single core, then look again. Threads whose \
old core lies within the plan keep it; others are bound to the remaining cores of the package. Threads beyond the cores \
stay with the kernel.\n\n\
`preference: auto` derives the preference from the memory-bound share of the program's work: a quarter or more scatters, the \
stronger the more; less gathers, weakly. Useful when several programs of different nature share a machine of several \
packages. Background applications and those submitted with a mask of their own are not planned.",
    sees: "Start and end of every application, its number of threads, its preference (measured beforehand; here from its memory demand), and its own bindings. Not the load of the cpus.",
    costs: "A plan costs nothing by itself; each rebound thread costs its migration.",
    wins: Showcase { scenario: "", label: "SWOMPS", against: "", app: "all", point: "", about: "" },
    loses: Showcase { scenario: "", label: "SWOMPS", against: "", app: "all", point: "", about: "" },
    build,
    example: "Four packages of six cores, two programs of 12 threads. If the one that scatters has the stronger preference, it \
takes single cores from the freest package in turn, three from each; the gathering one then finds three free on \
each package and gets 3 + 3 + 3 + 3 too. If the gathering one is stronger, it takes 6 + 6, two whole packages, \
and the scattering one alternates over the other two: 6 + 6. When one program ends the other is planned anew: a \
scatterer that held 6 + 6 gets 3 + 3 + 3 + 3, six threads keep their cores and six are bound anew.",
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "preference",
        kind: Kind::Choice(&["auto", "scatter", "gather", "none"]),
        default: 0,
        min: 0,
        max: 3,
        about: "The preference of every application: from its memory demand, or fixed. `none` is no preference: placed \
            last, as if scattered.",
    },
    Parameter {
        name: "scatter_from",
        kind: Kind::Percent,
        default: 2_500,
        min: 0,
        max: 10_000,
        about: "With `auto`: the memory-bound share of the work from which a program scatters.",
    },
];

fn build(values: &Values, setting: &Setting<'_>) -> Box<dyn Policy> {
    let from = values.get("scatter_from") as i64;
    let preference = |app: &AppSpec| match values.choice("preference") {
        "scatter" => -1,
        "gather" => 1,
        "none" => 0,
        _ => {
            let bound = bound_share(app, setting.machine);
            if bound >= from { -1 - bound } else { 1 + (from - bound) / 10 }
        }
    };
    let request = |app: &AppSpec| Request {
        preference: preference(app),
        threads: app.tasks,
        live: false,
        managed: !app.background && app.allowed.is_none(),
    };
    Box::new(Swomps {
        requests: setting.apps.iter().map(request).collect(),
        bound: setting.apps.iter().map(|app| vec![None; app.tasks as usize]).collect(),
        quota: Vec::new(),
    })
}

/// The memory-bound share of a program's work, weighted by the work of each operation, in hundredths of a per cent.
fn bound_share(app: &AppSpec, machine: &Machine) -> i64 {
    let (mut bound, mut all) = (0u128, 0u128);
    for op in app.program.ops() {
        if let Op::Compute { work, profile, .. } = op {
            let share =
                app.program.profiles().get(profile.0 as usize).map_or(0, |p| profile_share(p, machine));
            bound += u128::from(work.raw()) * u128::from(share);
            all += u128::from(work.raw());
        }
    }
    bound.checked_div(all).unwrap_or(0) as i64
}

/// The memory-bound share of one profile: as declared, else demand over `bound_demand` of a controller's bandwidth.
fn profile_share(profile: &MemoryProfile, machine: &Machine) -> u64 {
    let full = u128::from(machine.memory.node_bandwidth) * u128::from(machine.memory.bound_demand) / 1_000;
    let share = match profile.bound {
        Some(bound) => u128::from(bound) * 10_000 / 65_536,
        None => (u128::from(profile.demand) * 10_000).checked_div(full).unwrap_or(0),
    };
    share.min(10_000) as u64
}

/// What an application asks for.
#[derive(Clone, Debug)]
struct Request {
    /// Below zero: scatter; above: gather; the size is the strength.
    preference: i64,
    threads: u32,
    live: bool,
    managed: bool,
}

struct Swomps {
    requests: Vec<Request>,
    /// The core of each thread of each application; `None` = left to the kernel.
    bound: Vec<Vec<Option<CpuId>>>,
    /// Cores of each application on each package in the plan in force.
    quota: Vec<Vec<u32>>,
}

/// First algorithm: how many cores each application gets on each package, given what it held before.
fn allocate(requests: &[Request], packages: usize, per_package: u32, before: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut order: Vec<usize> = (0..requests.len()).filter(|i| requests[*i].live).collect();
    order.sort_by_key(|i| std::cmp::Reverse(requests[*i].preference.unsigned_abs()));
    let mut left = per_package * packages as u32;
    let mut granted = vec![0; requests.len()];
    for i in &order {
        granted[*i] = left.min(requests[*i].threads);
        left -= granted[*i];
    }
    let mut free = vec![per_package; packages];
    let mut quota = vec![vec![0; packages]; requests.len()];
    for i in order {
        let mut remaining = granted[i];
        while remaining > 0 {
            let held = |s: usize| before.get(i).and_then(|q| q.get(s)).copied().unwrap_or(0);
            // The first of the best: `max_by_key` would take the last.
            let best = (0..packages).min_by_key(|s| std::cmp::Reverse((free[*s], held(*s))));
            let Some(s) = best.filter(|s| free[*s] > 0) else {
                break;
            };
            let take = if requests[i].preference > 0 { remaining.min(free[s]) } else { 1 };
            quota[i][s] += take;
            free[s] -= take;
            remaining -= take;
        }
    }
    quota
}

/// Second algorithm: which thread gets which core. `bound` holds the old binding and receives the new one.
fn bind(topology: &Topology, requests: &[Request], quota: &[Vec<u32>], bound: &mut [Vec<Option<CpuId>>]) {
    let mut quota = quota.to_vec();
    let mut taken = vec![false; topology.cpus() as usize];
    for (app, threads) in bound.iter_mut().enumerate() {
        for home in threads.iter_mut() {
            let keeps = home.filter(|cpu| {
                let left = &mut quota[app][topology.group(Tree::Package, *cpu) as usize];
                let keeps = requests[app].live && *left > 0 && !taken[cpu.0 as usize];
                *left -= u32::from(keeps);
                keeps
            });
            if let Some(cpu) = keeps {
                taken[cpu.0 as usize] = true;
            }
            *home = keeps;
        }
    }
    for (app, threads) in bound.iter_mut().enumerate() {
        let mut unbound = threads.iter_mut().filter(|home| home.is_none());
        for (package, left) in quota[app].iter().enumerate() {
            let cores = topology.members(Tree::Package, package as u32);
            let free: Vec<u32> = cores.filter(|cpu| !taken[*cpu as usize]).take(*left as usize).collect();
            for (cpu, home) in free.into_iter().zip(unbound.by_ref()) {
                taken[cpu as usize] = true;
                *home = Some(CpuId(cpu));
            }
        }
    }
}

impl Swomps {
    fn plan(&mut self, system: &mut dyn System) {
        let topology = system.machine().topology.clone();
        let packages = topology.count(Tree::Package) as usize;
        self.quota = allocate(&self.requests, packages, topology.span(Tree::Package), &self.quota);
        let before = self.bound.clone();
        bind(&topology, &self.requests, &self.quota, &mut self.bound);
        for (app, request) in self.requests.iter().enumerate() {
            if !request.live {
                continue;
            }
            let tasks = system.app(AppId(app as u32)).task_ids();
            for (rank, task) in tasks.enumerate() {
                let (old, new) = (before[app].get(rank).copied(), self.bound[app].get(rank).copied());
                if old != new {
                    let affinity = new.flatten().map_or(Affinity::All, Affinity::One);
                    system.set_affinity(task, affinity);
                }
            }
        }
    }

    fn set_live(&mut self, app: AppId, live: bool) -> bool {
        let managed = self.requests.get_mut(app.0 as usize).filter(|request| request.managed);
        managed.map(|request| request.live = live).is_some()
    }
}

impl Policy for Swomps {
    fn app_ready(&mut self, system: &mut dyn System, app: AppId) {
        if self.set_live(app, true) {
            self.plan(system);
        }
    }

    fn app_exited(&mut self, system: &mut dyn System, app: AppId) {
        if self.set_live(app, false) {
            self.plan(system);
        }
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuId {
        view.task(task).cpu
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeSystem;

    const FOUR_BY_SIX: [(Tree, u32); 2] = [(Tree::Package, 4), (Tree::Core, 6)];

    fn requests(list: &[(i64, u32)]) -> Vec<Request> {
        let request = |(preference, threads): &(i64, u32)| Request {
            preference: *preference,
            threads: *threads,
            live: true,
            managed: true,
        };
        list.iter().map(request).collect()
    }

    #[test]
    fn scatter_takes_one_core_at_a_time_and_gather_all_it_can() {
        // 24 cores as in the paper: 12 threads scattered are 3 per package, 12 gathered are two full packages.
        let scattered = allocate(&requests(&[(-114, 12)]), 4, 6, &[]);
        assert_eq!(scattered, [[3, 3, 3, 3]]);
        let gathered = allocate(&requests(&[(8, 12)]), 4, 6, &[]);
        assert_eq!(gathered, [[6, 6, 0, 0]]);
    }

    #[test]
    fn the_stronger_preference_chooses_first() {
        // Scatter first: 3 on each package; gather finds 3 free everywhere: 3 + 3 + 3 + 3.
        let quota = allocate(&requests(&[(8, 12), (-114, 12)]), 4, 6, &[]);
        assert_eq!(quota, [[3, 3, 3, 3], [3, 3, 3, 3]]);
        // Gather first: packages 0 and 1; the rest scatters over 2 and 3.
        let quota = allocate(&requests(&[(80, 12), (-11, 12)]), 4, 6, &[]);
        assert_eq!(quota, [[6, 6, 0, 0], [0, 0, 6, 6]]);
    }

    #[test]
    fn cores_run_out_in_the_order_of_preference() {
        let quota = allocate(&requests(&[(1, 4), (-5, 3), (0, 4)]), 2, 4, &[]);
        // -5 scatters 2 + 1; +1 gathers from package 1 (3 free) then 0; the last application gets the one core left.
        assert_eq!(quota, [[1, 3], [2, 1], [1, 0]]);
    }

    #[test]
    fn equal_packages_prefer_the_one_held_before() {
        let quota = allocate(&requests(&[(1, 3)]), 2, 4, &[vec![0, 3]]);
        assert_eq!(quota, [[0, 3]]);
    }

    #[test]
    fn threads_keep_their_core_within_the_quota() {
        let topology = Topology::new(&[(Tree::Package, 2), (Tree::Core, 2)]).unwrap();
        let mut bound = vec![vec![Some(CpuId(3)), Some(CpuId(2)), None]];
        bind(&topology, &requests(&[(-1, 3)]), &[vec![2, 1]], &mut bound);
        // One core of package 1 stays with rank 0; ranks 1 and 2 fill package 0.
        assert_eq!(bound, [[3, 0, 1].map(|cpu| Some(CpuId(cpu)))]);
    }

    #[test]
    fn replans_at_starts_and_exits_and_leaves_the_surplus_to_the_kernel() {
        let mut system = FakeSystem::new(&FOUR_BY_SIX);
        let (a, b) = (system.add_app(26, false), system.add_app(4, false));
        let mut swomps = Swomps {
            requests: requests(&[(-9, 26), (-1, 4)]),
            bound: vec![vec![None; 26], vec![None; 4]],
            quota: Vec::new(),
        };
        for request in &mut swomps.requests {
            request.live = false;
        }
        swomps.app_ready(&mut system, a);
        swomps.app_ready(&mut system, b);
        assert_eq!(system.homes(a).iter().filter(|home| home.is_some()).count(), 24);
        assert_eq!(system.homes(b), [None; 4]);
        swomps.app_exited(&mut system, a);
        assert_eq!(system.homes(b), [0, 6, 12, 18].map(Some));
    }
}
