//! `SWOMPS`: binds the threads of each program near together or far apart, by what the program prefers.
//!
//! Idea: memory-bound programs want the caches and controllers of many packages (scatter), programs that
//! share data want one (gather). Source: Yan et al., "SWOMPS" (IWOMP 2010). The printed pseudo-code has the
//! sign of the preference the wrong way round; the prose is followed.

mod plan;

use notation::declare::{PerApp, Percent};
use notation::parameter::Values;
use notation::{choices, parameters};
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::machine::{Level as Tree, Machine};
use sim_core::policy::{Affinity, CpuChoice, Placement, Policy, System, View, Why};
use sim_core::program::{AppSpec, MemoryProfile, Op};

use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use plan::{Request, allocate, bind, free_cores};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "SWOMPS",
    summary: "binds the threads of each program by its preference: scattered over packages or gathered on \
        few",
    source: "Yan et al.: SWOMPS, IWOMP 2010 (prose, not the sign of the printed pseudo-code)",
    level: Level::UserLevel,
    task_groups: TaskGroups::Kept,
    parameters: Parameters::TABLE,
    text: include_str!("swomps.md"),
    wins: Showcase {
        scenario: "streams_and_compute",
        label: "SWOMPS",
        against: "LOAD",
        app: "streams",
        point: "",
    },
    loses: Showcase {
        scenario: "twice_too_many_threads",
        label: "SWOMPS",
        against: "PIN",
        app: "all",
        point: "",
    },
    build: &build,
};

choices! {
    /// The words of `preference`.
    enum Asked { Auto = "auto", Scatter = "scatter", Gather = "gather", None = "none" }
}

choices! {
    /// The words of `scope`.
    enum Scope { System = "system", Own = "self" }
}

parameters! {
    /// Parameters of `SWOMPS`.
    struct Parameters {
        /// The preference of an application: from its memory demand (`auto`), or stated. `none` means no
        /// preference: placed last, as if scattered.
        preference: PerApp<Asked> = Asked::Auto;
        /// The strength of the preference: run time against it over run time with it, minus one. 0%: derived
        /// from the memory demand with `auto`, otherwise the weakest possible.
        gain: PerApp<Percent> = 0, in 0..=percent(1000);
        /// `system`: plan all programs at every start and end. `self`: each program plans for itself, once,
        /// at its own start.
        scope: Scope = Scope::System;
        /// With `auto`: the memory-bound share of the work at and above which a program scatters.
        scatter_from: Percent = percent(25), in 0..=percent(100);
    }
}

fn build(values: &Values, setting: &Setting<'_>) -> Box<dyn Policy> {
    let values = Parameters::from(values);
    let request = |app: &AppSpec| Request {
        preference: preference(&values, app, setting.machine),
        threads: app.tasks,
        live: false,
        managed: !app.background && app.allowed.is_none(),
    };
    Box::new(Swomps::new(setting.apps.iter().map(request).collect(), values.scope == Scope::Own))
}

/// The preference of an application: below zero scatter, above gather, the size is the strength.
fn preference(values: &Parameters, app: &AppSpec, machine: &Machine) -> i64 {
    let from = values.scatter_from.hundredths() as i64;
    let by_demand = || {
        let bound = bound_share(app, machine);
        if bound >= from { -1 - bound } else { 1 + (from - bound) / 10 }
    };
    let preference = match values.preference.of(&app.name) {
        Asked::Auto => by_demand(),
        Asked::Scatter => -1,
        Asked::Gather => 1,
        Asked::None => 0,
    };
    match values.gain.of(&app.name).hundredths() as i64 {
        0 => preference,
        gain => preference.signum() * gain,
    }
}

/// The memory-bound share of a program's work, weighted by the work of each operation and how often it is
/// done, in hundredths of a per cent.
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

/// The memory-bound share of one profile: as declared, else demand over `bound_demand` of a controller's
/// bandwidth.
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
                    let why = self.reason(app, new.map(|cpu| topology.group(Tree::Package, cpu)));
                    system.set_affinity(task, new.map_or(Affinity::All, Affinity::One), why);
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
            (false, true) => "planned again: an application has started",
            (false, false) => "planned again: an application has ended",
            (true, true) => "planned once: at its own start",
            (true, false) => "gives up its cores: at its own end",
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

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        CpuChoice::new(view.task(task).cpu, Why::rule("stays: on its current cpu"))
    }
}

#[cfg(test)]
mod tests;
