//! What the cases of a campaign covered: pairs of policies, kernels, ways to wait, queues and resources.

use std::collections::{BTreeMap, BTreeSet};

use kernels::KERNELS;
use notation::parameter::Values;
use policies::{ALL, Choice, Level, TaskGroups};
use scenario::plan::RunPlan;
use sim_core::admission::{Admission, StartOrder};
use sim_core::machine::Level as Part;
use sim_core::outcome::{Outcome, RunReport};
use sim_core::policy::Order;
use sim_core::program::{Change, Op, Pages, Program, Scheduling};
use sim_core::wait::{BarrierKind, WaitMode};

/// A dimension and a value of it.
pub type Feature = (&'static str, String);

/// The dimensions, in the order of tables.
pub(super) const DIMENSIONS: [&str; 8] =
    ["policy", "kernel", "queue", "wait", "barrier", "resource", "setting", "operation"];

const WAITS: [&str; 5] = ["spin", "yield", "block", "spin then block", "yield to"];
const BARRIERS: [&str; 3] = ["central", "tree", "dissemination"];
const RESOURCES: [&str; 13] = [
    "controller",
    "bus",
    "link",
    "crossbar",
    "transfer",
    "shared cache",
    "remote memory",
    "hardware threads",
    "slow cores",
    "lock",
    "shared loop",
    "sleep",
    "next touch",
];
const SETTINGS: [&str; 16] = [
    "stacked",
    "perturbed",
    "background",
    "after",
    "late start",
    "cpus",
    "affinity",
    "nice",
    "admission",
    "backfilling",
    "groups",
    "quota",
    "scheduling",
    "real time",
    "own slice",
    "arrivals",
];

/// The operations of programs.
pub(super) const OPERATIONS: [&str; 34] = [
    "compute",
    "serial",
    "barrier",
    "team barrier",
    "leaders barrier",
    "exchange",
    "transfer",
    "lock",
    "unlock",
    "sleep",
    "yield",
    "respawn",
    "start clock",
    "repeat",
    "repeat shared",
    "end",
    "post",
    "post to nobody",
    "take",
    "arm",
    "meet",
    "until",
    "io",
    "branch",
    "jump",
    "set weight",
    "set cpus",
    "set class",
    "done",
    "work",
    "lead",
    "message",
    "apart",
    "join",
];

/// The name of an operation in [`OPERATIONS`].
fn operation(op: &Op, program: &Program) -> &'static str {
    let at = match op {
        Op::Compute { .. } => 0,
        Op::Serial { .. } => 1,
        Op::Barrier => 2,
        Op::TeamBarrier => 3,
        Op::LeadersBarrier => 4,
        Op::Exchange { .. } => 5,
        Op::Transfer { .. } => 6,
        Op::Lock(_) => 7,
        Op::Unlock(_) => 8,
        Op::Sleep { .. } => 9,
        Op::Yield => 10,
        Op::Respawn => 11,
        Op::StartClock => 12,
        Op::Repeat(_) => 13,
        Op::RepeatShared(_) => 14,
        Op::End => 15,
        Op::Post { kept: true, .. } => 16,
        Op::Post { .. } => 17,
        Op::Take { .. } => 18,
        Op::Arm(_) => 19,
        Op::Meet { .. } => 20,
        Op::Until { .. } => 21,
        Op::Io { .. } => 22,
        Op::Branch { .. } => 23,
        Op::Jump(_) => 24,
        Op::Set(change) => match program.changes().get(usize::from(*change)) {
            Some(Change::Weight(_)) => 25,
            Some(Change::Class(_)) => 27,
            _ => 26,
        },
        Op::Done => 28,
        Op::Work(_) => 29,
        Op::Lead(_) => 30,
        Op::Message(_) => 31,
        Op::Apart { .. } => 32,
        Op::Join => 33,
    };
    OPERATIONS[at]
}

/// The features of a run with this report.
pub(super) fn features(plan: &RunPlan, report: &RunReport) -> Vec<Feature> {
    let mut found: Vec<Feature> = Vec::new();
    let mut add = |dimension, value: &str| found.push((dimension, value.to_owned()));
    let choice = &plan.policy_choice;
    add("policy", choice.entry.name);
    if let Some(over) = &choice.over {
        add("policy", over.entry.name);
    }
    add("kernel", &plan.kernel.name);
    let order = choice.build(&plan.machine, &plan.kernel, &plan.apps).order();
    add("queue", plan.kernel.ordered(order).discipline.name());
    for app in &plan.apps {
        add(
            "wait",
            match app.runtime.wait {
                WaitMode::Spin => WAITS[0],
                WaitMode::Yield => WAITS[1],
                WaitMode::Block => WAITS[2],
                WaitMode::SpinThenBlock { .. } => WAITS[3],
                WaitMode::YieldTo => WAITS[4],
            },
        );
        add(
            "barrier",
            match app.runtime.barrier {
                BarrierKind::Central => BARRIERS[0],
                BarrierKind::Tree { .. } => BARRIERS[1],
                BarrierKind::Dissemination => BARRIERS[2],
            },
        );
    }
    resources(plan, &mut add);
    settings(plan, &mut add);
    // What has ended has done all of its program, choices aside.
    if report.outcome == Outcome::Completed {
        for app in plan.apps.iter().filter(|app| !app.background) {
            app.program.ops().iter().for_each(|op| add("operation", operation(op, &app.program)));
        }
    }
    found
}

fn resources(plan: &RunPlan, add: &mut dyn FnMut(&'static str, &str)) {
    let (machine, memory) = (&plan.machine, &plan.machine.memory);
    let profiles = || plan.apps.iter().flat_map(|app| app.program.profiles());
    let demand = profiles().any(|profile| profile.demand > 0);
    let ops = |wanted: fn(&Op) -> bool| plan.apps.iter().any(|app| app.program.ops().iter().any(wanted));
    let nodes = machine.nodes() > 1;
    let transfers = ops(|op| matches!(op, Op::Transfer { .. }));
    let threads = machine.topology.count(Part::Core) < machine.cpus();
    let speeds = machine.core_speed.windows(2).any(|pair| pair[0] != pair[1]);
    let used = [
        demand && memory.node_bandwidth > 0,
        demand && memory.bus_bandwidth > 0,
        demand && nodes && memory.link_bandwidth > 0,
        demand && nodes && memory.crossbar_bandwidth > 0,
        transfers && memory.transfer_bandwidth > 0,
        demand && memory.cache_exponent > 0,
        demand && nodes && memory.remote_factor > 1_000,
        threads,
        speeds,
        ops(|op| matches!(op, Op::Lock(_))),
        ops(|op| matches!(op, Op::RepeatShared(_))),
        ops(|op| matches!(op, Op::Sleep { .. })),
        nodes && profiles().any(|profile| matches!(profile.pages, Pages::NextTouch)),
    ];
    for (name, _) in RESOURCES.iter().zip(used).filter(|(_, used)| *used) {
        add("resource", name);
    }
}

fn settings(plan: &RunPlan, add: &mut dyn FnMut(&'static str, &str)) {
    let (choice, apps) = (&plan.policy_choice, &plan.apps);
    let any = |of: fn(&sim_core::program::AppSpec) -> bool| apps.iter().any(of);
    let used = [
        choice.beneath(&plan.kernel).is_some(),
        choice.perturb.is_some(),
        any(|app| app.background),
        any(|app| app.after.is_some()),
        any(|app| app.start.ns() > 0),
        any(|app| app.allowed.is_some()),
        any(|app| !app.rebinds.is_empty()),
        any(|app| app.weight != 1024 || !app.rank_weights.is_empty()),
        plan.options.admission != Admission::UNLIMITED,
        plan.options.admission.order == StartOrder::Easy,
        !plan.kernel.groups.is_empty(),
        plan.kernel.groups.iter().any(|group| group.limit.is_some()),
        any(|app| app.scheduling != Scheduling::Other),
        any(|app| app.scheduling.priority().is_some()),
        any(|app| app.slice.is_some()),
        !plan.objects.sources.is_empty(),
    ];
    for (name, _) in SETTINGS.iter().zip(used).filter(|(_, used)| *used) {
        add("setting", name);
    }
}

/// How often each feature and each pair of features of two dimensions occurred.
#[derive(Clone, Default)]
pub(super) struct Coverage {
    single: BTreeMap<Feature, u64>,
    pairs: BTreeMap<(Feature, Feature), u64>,
}

impl Coverage {
    /// Counts a run.
    pub(super) fn add(&mut self, run: &[Feature]) {
        let set: BTreeSet<&Feature> = run.iter().collect();
        for (at, one) in set.iter().enumerate() {
            *self.single.entry((*one).clone()).or_default() += 1;
            for other in set.iter().skip(at + 1).filter(|other| other.0 != one.0) {
                *self.pairs.entry(((*one).clone(), (*other).clone())).or_default() += 1;
            }
        }
    }

    /// How many runs had a feature.
    pub(super) fn of(&self, feature: &Feature) -> u64 {
        self.single.get(feature).copied().unwrap_or(0)
    }

    /// How many runs had a pair.
    pub(super) fn pair(&self, one: &Feature, other: &Feature) -> u64 {
        let (low, high) = if one < other { (one, other) } else { (other, one) };
        self.pairs.get(&(low.clone(), high.clone())).copied().unwrap_or(0)
    }
}

/// All values of all dimensions, and which pairs of them can occur.
pub(super) struct Possible {
    /// By dimension, in the order of [`DIMENSIONS`].
    pub(super) values: Vec<Vec<Feature>>,
    /// The queue of each kernel.
    queues: BTreeMap<String, String>,
    /// The order of each kernel-level policy that is not the kernel's.
    orders: BTreeMap<&'static str, String>,
}

impl Possible {
    /// That of the registries.
    pub(super) fn new() -> Self {
        let system = |entry: &kernels::Entry| kernels::build(entry, &Values::defaults(entry.parameters), 4);
        let queues: BTreeMap<String, String> = KERNELS
            .entries
            .iter()
            .map(|entry| (entry.name.to_owned(), system(entry).discipline.name().to_owned()))
            .collect();
        let machine = machines::resolve("core:4").map(|entry| entry.machine());
        let model = system(&KERNELS.entries[0]);
        let mut orders = BTreeMap::new();
        for entry in ALL.iter().filter(|entry| entry.level == Level::InKernel) {
            let order = machine.as_ref().map(|m| Choice::new(entry).build(m, &model, &[]).order());
            if let Ok(order) = order
                && order != Order::System
            {
                orders.insert(entry.name, model.ordered(order).discipline.name().to_owned());
            }
        }
        let all: BTreeSet<&String> = queues.values().chain(orders.values()).collect();
        let named = |dimension: &'static str, names: &[&str]| -> Vec<Feature> {
            names.iter().map(|name| (dimension, (*name).to_owned())).collect()
        };
        let values = vec![
            ALL.iter().map(|entry| ("policy", entry.name.to_owned())).collect(),
            KERNELS.entries.iter().map(|entry| ("kernel", entry.name.to_owned())).collect(),
            all.into_iter().map(|name| ("queue", name.clone())).collect(),
            named("wait", &WAITS),
            named("barrier", &BARRIERS),
            named("resource", &RESOURCES),
            named("setting", &SETTINGS),
            named("operation", &OPERATIONS),
        ];
        Self { values, queues, orders }
    }

    /// Whether a run can have both features, which are of two dimensions in their order.
    pub(super) fn both(&self, one: &Feature, other: &Feature) -> bool {
        let kernel_queue = |kernel: &str| self.queues.get(kernel);
        let grouped =
            |value: &str| ["groups", "quota", "scheduling", "real time", "own slice"].contains(&value);
        // Limits came with 3.2.
        let has = |queue: &str, value: &str| {
            queue == "EEVDF" || (queue == "CFS" && !["scheduling", "own slice"].contains(&value))
        };
        let early = |name: &str| name.starts_with("linux-2.6");
        let kernel_has = |name: &str, value: &str| {
            self.queues.get(name).is_some_and(|queue| has(queue, value)) && !(value == "quota" && early(name))
        };
        let policy_level = |name: &str| ALL.iter().find(|entry| entry.name == name).map(|entry| entry.level);
        match (one.0, other.0) {
            ("kernel", "queue") => {
                let ordered = self.orders.values().any(|order| *order == other.1);
                kernel_queue(&one.1) == Some(&other.1) || ordered
            }
            ("policy", "queue") => match self.orders.get(one.1.as_str()) {
                Some(order) => *order == other.1,
                None if policy_level(&one.1) == Some(Level::UserLevel) => true,
                None => self.queues.values().any(|queue| *queue == other.1),
            },
            ("policy", "setting") if grouped(&other.1) => {
                ALL.iter().any(|entry| entry.name == one.1 && entry.task_groups == TaskGroups::Kept)
            }
            ("policy", "setting") if other.1 == "affinity" => one.1 != "DWRR",
            ("kernel", "setting") if grouped(&other.1) => kernel_has(&one.1, &other.1),
            ("queue", "setting") if grouped(&other.1) => has(&one.1, &other.1),
            _ => true,
        }
    }
}
