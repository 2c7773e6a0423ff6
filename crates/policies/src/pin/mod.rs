//! `PIN`: every task is bound for the whole run, to one cpu or to a cache, package or node, in a layout of
//! choice.
//!
//! Idea: remove migration altogether. Source: the `taskset`/`numactl` practice measured as PIN by Iancu,
//! Hofmeyr, Blagojevic, Zheng, "Oversubscription on Multicore Processors" (IPDPS 2010); scatter and gather as
//! `KMP_AFFINITY`.

mod places;

use std::sync::Arc;

use notation::declare::{Cpus, PerApp};
use notation::parameter::Values;
use notation::{choices, parameters};
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::machine::{CpuSet, Level as Tree, Topology};
use sim_core::policy::{Affinity, CpuChoice, Placement, Policy, System, View, Why};
use sim_core::program::AppSpec;
use sim_core::rng::Purpose;

use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::spread::{Draws, allowed_cpus, threads_last};
use places::once_in_each;

pub use places::{Order, Tasks, places};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "PIN",
    summary: "binds each task for the whole run, to a cpu or a larger domain: evenly, at random, scattered, \
        gathered, as listed or each process in a block",
    source: "Iancu, Hofmeyr, Blagojevic, Zheng: Oversubscription on Multicore Processors, IPDPS 2010; \
        KMP_AFFINITY of Intel's \
OpenMP runtime (scatter, compact); taskset(1), numactl(8)",
    level: Level::UserLevel,
    task_groups: TaskGroups::Kept,
    parameters: Parameters::TABLE,
    text: include_str!("pin.md"),
    wins: Showcase { scenario: "even_or_balanced", label: "PIN", against: "LOAD", app: "code", point: "" },
    loses: Showcase { scenario: "stranger_on_a_core", label: "PIN", against: "LOAD", app: "code", point: "" },
    build: &build,
};

choices! {
    /// The words of `layout`.
    enum Layout {
        Even = "even",
        Random = "random",
        Scatter = "scatter",
        Gather = "gather",
        List = "list",
        Blocks = "blocks",
        None = "none",
    }
}

choices! {
    /// The words of `by`.
    enum Domain { Cpu = "cpu", Core = "core", Cache = "cache", Node = "node", Package = "package" }
}

choices! {
    /// The words of `start`.
    enum Start { Domain = "domain", Even = "even" }
}

parameters! {
    /// Parameters of `PIN`.
    struct Parameters {
        /// The order in which ranks get cpus: round-robin by number (`even`), an even layout drawn from the
        /// seed (`random`), far apart (`scatter`), close together (`gather`), as `cpus` lists them (`list`),
        /// or each process in a block of neighbouring cores (`blocks`). `none` leaves an application to the
        /// kernel.
        layout: PerApp<Layout> = Layout::Even;
        /// What a rank is bound to: one cpu, or all cpus of the core, cache, NUMA node or package that
        /// contains it.
        by: PerApp<Domain> = Domain::Cpu;
        /// Where a rank begins that is bound to several cpus: anywhere in its domain, as fork places it
        /// (`domain`), or on its own cpu as with `by: cpu`, until all ranks exist (`even`).
        start: PerApp<Start> = Start::Domain;
        /// The cpus to use, written as for `taskset -c`, in this order with `layout: list`, where a cpu may
        /// be named several times. By default PIN uses all that the application may use.
        cpus: PerApp<Cpus> = 0, in 0..=(1 << 22) - 1;
        /// Position of rank 0 among the cpus of the layout.
        offset: PerApp<u64> = 0, in 0..=1 << 22;
        /// Also bind the tasks of background applications.
        background: bool = false;
    }
}

fn build(values: &Values, setting: &Setting<'_>) -> Box<dyn Policy> {
    let values = Parameters::from(values);
    let wish = |app: &AppSpec| Wish {
        layout: *values.layout.of(&app.name),
        by: match values.by.of(&app.name) {
            Domain::Cpu => Tree::Thread,
            Domain::Core => Tree::Core,
            Domain::Cache => Tree::Cache,
            Domain::Node => Tree::Node,
            Domain::Package => Tree::Package,
        },
        even_start: *values.start.of(&app.name) == Start::Even,
        cpus: values.cpus.of(&app.name).0.iter().copied().map(CpuId).collect(),
        offset: *values.offset.of(&app.name),
        process: app.process(),
    };
    let wishes = setting.apps.iter().map(wish).collect();
    Box::new(Pin { wishes, background: values.background, bound: Vec::new() })
}

impl Layout {
    const fn rule(self) -> &'static str {
        match self {
            Self::Even => "bound evenly: the next cpu",
            Self::Random => "bound evenly: the next shuffled cpu",
            Self::Scatter => "bound far apart: the next package",
            Self::Gather => "bound close together: the next cpu of the package",
            Self::List => "bound as listed: the next cpu of the list",
            Self::Blocks => "bound in blocks: the next core of the block of its process",
            Self::None => "not bound: left to the kernel",
        }
    }
}

/// How one application is to be bound.
#[derive(Clone, Debug)]
struct Wish {
    layout: Layout,
    /// The domain to bind to; [`Tree::Thread`] is a single cpu.
    by: Tree,
    /// Each rank begins on its own cpu.
    even_start: bool,
    /// The cpus to use; empty = all.
    cpus: Vec<CpuId>,
    offset: u64,
    /// Tasks of each process.
    process: u32,
}

struct Pin {
    /// By application.
    wishes: Vec<Wish>,
    background: bool,
    /// Applications whose ranks are still bound to their first cpus: these, and the cpus that they may use.
    bound: Vec<(AppId, Vec<CpuId>, CpuSet)>,
}

impl Wish {
    /// The cpus in the order in which ranks get them; one cpu stands for each domain.
    fn places(&self, topology: &Topology, allowed: &CpuSet, ranks: usize, draws: &mut Draws) -> Vec<CpuId> {
        let mut cpus: Vec<CpuId> = self.cpus.iter().copied().filter(|cpu| allowed.contains(*cpu)).collect();
        if cpus.is_empty() {
            cpus = allowed.iter().collect();
        }
        // With an even start the domains come later.
        let by = if self.even_start { Tree::Thread } else { self.by };
        let tasks = Tasks { number: ranks, process: self.process as usize };
        let order = match self.layout {
            Layout::Random => {
                cpus.sort_unstable();
                cpus.dedup();
                draws.shuffle(&mut cpus);
                threads_last(topology, &mut cpus);
                once_in_each(topology, by, &mut cpus);
                Order::List
            }
            Layout::List | Layout::None => Order::List,
            Layout::Gather => Order::Gather,
            Layout::Scatter => Order::Scatter,
            Layout::Even => Order::Even,
            Layout::Blocks => Order::Blocks,
        };
        places(topology, &cpus, order, by, tasks)
    }

    /// The place of each of `tasks` ranks.
    fn layout(&self, view: &dyn View, app: AppId, tasks: usize, allowed: &CpuSet) -> Vec<CpuId> {
        let mut draws = Draws::new(view.seed(), Purpose::Layout, u64::from(app.0));
        let places = self.places(&view.machine().topology, allowed, tasks, &mut draws);
        let start = (self.offset % places.len().max(1) as u64) as usize;
        let mut layout: Vec<CpuId> = places.iter().cycle().skip(start).take(tasks).copied().collect();
        if self.layout == Layout::Random {
            draws.shuffle(&mut layout);
        }
        layout
    }

    /// Each rank is bound to its own cpu first and to a domain later.
    fn starts_even(&self) -> bool {
        self.even_start && self.by != Tree::Thread
    }

    /// The reason for the mask of a rank that sits on this cpu.
    fn why(&self, rank: usize, place: CpuId) -> Why {
        Why::rule(self.layout.rule()).with("rank", rank as u64).with("cpu", u64::from(place.0))
    }

    /// The mask of a rank that sits on this cpu.
    fn affinity(&self, topology: &Topology, place: CpuId, allowed: &CpuSet) -> Affinity {
        if self.by == Tree::Thread {
            return Affinity::One(place);
        }
        let domain = topology.members(self.by, topology.group(self.by, place)).map(CpuId);
        Affinity::Set(Arc::new(CpuSet::of(domain.filter(|cpu| allowed.contains(*cpu)))))
    }
}

impl Pin {
    /// Binds each rank to the domain of its place.
    fn bind(&self, system: &mut dyn System, app: AppId, places: &[CpuId], allowed: &CpuSet) {
        let Some(wish) = self.wishes.get(app.0 as usize) else { return };
        let tasks = system.app(app).task_ids();
        let topology = system.machine().topology.clone();
        // Ranks on the same place share one mask.
        let mut masks: Vec<Option<Affinity>> = vec![None; topology.count(wish.by) as usize];
        for (rank, (task, place)) in tasks.zip(places).enumerate() {
            // A mask that has changed since an even start stays as it is.
            if wish.starts_even() && allowed_cpus(system, task) != [*place] {
                continue;
            }
            let domain = topology.group(wish.by, *place) as usize;
            let affinity =
                masks[domain].get_or_insert_with(|| wish.affinity(&topology, *place, allowed)).clone();
            let cpus = topology.members(wish.by, topology.group(wish.by, *place)).len();
            let why = wish.why(rank, *place).with("domain cpus", cpus as u64);
            system.set_affinity(task, affinity, why);
        }
    }
}

impl Policy for Pin {
    fn app_started(&mut self, system: &mut dyn System, app: AppId) {
        let view = system.app(app);
        let bound = |wish: &&Wish| wish.layout != Layout::None && (self.background || !view.background);
        let Some(wish) = self.wishes.get(app.0 as usize).filter(bound) else {
            return;
        };
        let allowed = CpuSet::of(allowed_cpus(system, TaskId(view.tasks.start)));
        let places = wish.layout(system, app, view.tasks.len(), &allowed);
        if !wish.starts_even() {
            return self.bind(system, app, &places, &allowed);
        }
        for (rank, (task, place)) in view.task_ids().zip(&places).enumerate() {
            system.set_affinity(task, Affinity::One(*place), wish.why(rank, *place).with("domain cpus", 1));
        }
        self.bound.push((app, places, allowed));
    }

    fn app_ready(&mut self, system: &mut dyn System, app: AppId) {
        if let Some(at) = self.bound.iter().position(|(bound, ..)| *bound == app) {
            let (_, places, allowed) = self.bound.swap_remove(at);
            self.bind(system, app, &places, &allowed);
        }
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        CpuChoice::new(view.task(task).cpu, Why::rule("stays: on the cpu it is bound to"))
    }
}

#[cfg(test)]
mod tests;
