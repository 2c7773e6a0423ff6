//! `SWOMPS`: binds the threads of each program near together or far apart, by what the program prefers.
//!
//! Idea: memory-bound programs want the caches and controllers of many packages (scatter), programs that share data want one
//! (gather). Source: Yan et al., "SWOMPS" (IWOMP 2010). The printed pseudo-code has the sign of the preference the wrong
//! way round; the prose is followed.

mod plan;

use notation::parameter::{Kind, Parameter, Values};
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::machine::{Level as Tree, Machine};
use sim_core::policy::{Affinity, Placement, Policy, System, View, Why};
use sim_core::program::{AppSpec, MemoryProfile, Op};

use crate::entry::{Entry, Level, Setting, Showcase};
use plan::{Request, allocate, bind, free_cores};

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
old core lies within the plan keep it; others are bound to the remaining cores of the package, first hardware threads before \
second ones. Threads beyond the cores stay with the kernel.\n\n\
`scope: self` is the variant without a system-wide view (\"Non SysWide\"), linked into each program: it decides \
once, when its own threads exist, from the cores that nobody is bound to just then, by the same rules, and never again. It \
moves nobody else, and cores that become free later help only who starts later.\n\n\
`preference` can be stated for each program (`{ swim: scatter, apsi: gather }`), and `gain` its strength: how much \
faster it is with its preference than against it, as measured beforehand (swim 114 %, apsi 8 %). `preference: auto` derives \
both from the memory-bound share of the program's work: a quarter or more scatters, the stronger the more; less gathers, \
weakly. Useful when several programs of different nature share a machine of several packages. Background applications and \
those submitted with a mask of their own are not planned.",
    sees: "Start and end of every application, its number of threads, its preference (measured beforehand; here stated, or from \
its memory demand), and its own bindings. Not the load of the cpus. With `scope: self` only its own start, and which cores others \
are bound to at that instant.",
    costs: "A plan costs nothing by itself; each rebound thread costs its migration and its cold cache.",
    wins: Showcase {
        scenario: "streams_and_compute",
        label: "SWOMPS",
        against: "LOAD",
        app: "streams",
        point: "",
        about: "Eight streams and eight computing threads on four sockets: two streams on each memory controller take half the \
time of four on two of them, which is what fork balancing by number of tasks makes of it.",
    },
    loses: Showcase {
        scenario: "twice_too_many_threads",
        label: "SWOMPS",
        against: "PIN",
        app: "all",
        point: "",
        about: "With cores for one of two programs it leaves the other to the kernel, which spreads it unevenly over cores whose \
bound threads cannot step aside: 1.3 to 1.7 times the time of one thread of each on every core.",
    },
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
        kind: Kind::PerApp(&Kind::Choice(&["auto", "scatter", "gather", "none"])),
        default: 0,
        min: 0,
        max: 3,
        about: "The preference of an application: from its memory demand, or stated. `none` is no preference: placed \
            last, as if scattered.",
    },
    Parameter {
        name: "gain",
        kind: Kind::PerApp(&Kind::Percent),
        default: 0,
        min: 0,
        max: 100_000,
        about: "The strength of the preference: run time against it over run time with it, less one. 0%: with `auto` \
            from the memory demand, else the weakest there is.",
    },
    Parameter {
        name: "scope",
        kind: Kind::Choice(&["system", "self"]),
        default: 0,
        min: 0,
        max: 1,
        about: "Plan for everybody at every start and end, or each program for itself, once, at its own start.",
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
    let request = |app: &AppSpec| Request {
        preference: preference(values, app, setting.machine),
        threads: app.tasks,
        live: false,
        managed: !app.background && app.allowed.is_none(),
    };
    Box::new(Swomps::new(setting.apps.iter().map(request).collect(), values.choice("scope") == "self"))
}

/// The preference of an application: below zero scatter, above gather, the size is the strength.
fn preference(values: &Values, app: &AppSpec, machine: &Machine) -> i64 {
    let from = values.get("scatter_from") as i64;
    let by_demand = || {
        let bound = bound_share(app, machine);
        if bound >= from { -1 - bound } else { 1 + (from - bound) / 10 }
    };
    let preference = match values.choice_for("preference", &app.name) {
        "scatter" => -1,
        "gather" => 1,
        "none" => 0,
        _ => by_demand(),
    };
    match values.get_for("gain", &app.name) as i64 {
        0 => preference,
        gain => preference.signum() * gain,
    }
}

/// The memory-bound share of a program's work, weighted by the work of each operation and how often it is done, in hundredths
/// of a per cent.
fn bound_share(app: &AppSpec, machine: &Machine) -> i64 {
    let (mut bound, mut all) = (0u128, 0u128);
    let (mut times, mut outer) = (1u128, Vec::new());
    for op in app.program.ops() {
        match op {
            Op::Repeat(count) => {
                outer.push(times);
                times = times.saturating_mul(u128::from(*count)).min(1 << 40);
            }
            Op::End => times = outer.pop().unwrap_or(1),
            Op::Compute { work, profile, .. } => {
                let share =
                    app.program.profiles().get(profile.0 as usize).map_or(0, |p| profile_share(p, machine));
                let work = u128::from(work.raw() >> 20) * times;
                bound += work * u128::from(share);
                all += work;
            }
            _ => {}
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

/// What is bound, and why.
struct Swomps {
    requests: Vec<Request>,
    /// Each program decides for itself, once.
    alone: bool,
    /// The core of each thread of each application; `None` = left to the kernel.
    bound: Vec<Vec<Option<CpuId>>>,
    /// Cores of each application on each package in the plan in force.
    quota: Vec<Vec<u32>>,
}

impl Swomps {
    fn new(requests: Vec<Request>, alone: bool) -> Self {
        let bound = requests.iter().map(|request| vec![None; request.threads as usize]).collect();
        Self { quota: vec![Vec::new(); requests.len()], requests, alone, bound }
    }

    /// Plans anew for these applications, around what the others hold.
    fn plan(&mut self, system: &mut dyn System, who: &[usize]) {
        let topology = system.machine().topology.clone();
        let free = free_cores(&topology, who, &self.bound);
        let quota = allocate(&self.requests, who, free, &self.quota);
        for (app, quota) in who.iter().zip(quota) {
            self.quota[*app] = quota;
        }
        let before = self.bound.clone();
        bind(&topology, who, &self.quota, &mut self.bound);
        for app in who.iter().copied().filter(|app| self.requests[*app].live) {
            let tasks = system.app(AppId(app as u32)).task_ids();
            for (rank, task) in tasks.enumerate() {
                let (old, new) = (before[app].get(rank).copied(), self.bound[app].get(rank).copied());
                if old != new {
                    let new = new.flatten();
                    system.because(self.reason(app, new.map(|cpu| topology.group(Tree::Package, cpu))));
                    system.set_affinity(task, new.map_or(Affinity::All, Affinity::One));
                }
            }
        }
    }

    /// Why a thread of an application is bound to a core of a package, or to none.
    fn reason(&self, app: usize, package: Option<u32>) -> Why {
        let preference = self.requests[app].preference;
        let strength = ("strength of the preference", preference.unsigned_abs());
        let Some(package) = package else {
            return Why::rule("left to the kernel: more threads than cores").with(strength.0, strength.1);
        };
        let rule = if preference > 0 {
            "bound: gathers on the package with the most free cores"
        } else {
            "bound: scatters, one core of the package with the most free ones"
        };
        let quota = self.quota[app].get(package as usize).copied().unwrap_or(0);
        let why =
            Why::rule(rule).with("package", u64::from(package)).with("its cores there", u64::from(quota));
        why.with(strength.0, strength.1)
    }

    /// Notes a start or an end; the applications to be planned are those that it may move.
    fn changed(&mut self, system: &mut dyn System, app: AppId, live: bool) {
        let at = app.0 as usize;
        let Some(request) = self.requests.get_mut(at).filter(|request| request.managed) else {
            return;
        };
        request.live = live;
        let who: Vec<usize> = if self.alone { vec![at] } else { (0..self.requests.len()).collect() };
        let lives = self.requests.iter().filter(|request| request.live).count() as u64;
        let rule = match (self.alone, live) {
            (false, true) => "planned anew: an application has started",
            (false, false) => "planned anew: an application has ended",
            (true, true) => "planned once: its own start",
            (true, false) => "gives up its cores: its own end",
        };
        let why = Why::rule(rule).with("application", u64::from(app.0)).with("live applications", lives);
        system.remark(why);
        self.plan(system, &who);
    }
}

impl Policy for Swomps {
    fn app_ready(&mut self, system: &mut dyn System, app: AppId) {
        self.changed(system, app, true);
    }

    fn app_exited(&mut self, system: &mut dyn System, app: AppId) {
        self.changed(system, app, false);
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuId {
        view.because(Why::rule("stays: the cpu it is on"));
        view.task(task).cpu
    }
}

#[cfg(test)]
mod tests;
