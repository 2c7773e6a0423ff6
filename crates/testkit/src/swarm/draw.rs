//! A case: a small random scenario as the tree of a scenario file.

use kernels::KERNELS;
use machines::{LEVEL_NAMES, entries, parse_topology};
use notation::parameter::{Kind, Parameter};
use serde_json::{Map, Value, json};
use sim_core::machine::{Level, Topology};

use super::apps::{self, Mix, Offers};
use super::chosen::{self, Beside, policies};
use super::programs;
use super::source::Source;
use super::values::{Frame, Limit, duration, groups_sessions, settings, sparse, time, with};

/// Cpus of the largest machine.
const MOST_CPUS: u32 = 16;
/// Timer ticks of all cpus within the horizon: each is an event.
const TICKS: u64 = 60_000;
/// Most periods of the shortest time that a policy has for parameter.
const PERIODS: u64 = 20_000;
/// Polls of a cpu within the horizon, where each is simulated.
const POLLS: u64 = 30_000;
/// Pieces of work of a cpu within the horizon.
const PIECES: u64 = 1_500;
/// Longest horizon, in nanoseconds.
const LONGEST: u64 = 3_000_000_000;

/// Descriptions of machines: one cpu, flat ones, and all levels together.
const SHAPES: [&str; 16] = [
    "core:2",
    "core:1",
    "core:3",
    "core:4",
    "core:8",
    "core:1 pu:2",
    "core:2 pu:2",
    "core:3 pu:4",
    "package:2 core:2",
    "package:2 cache:2 core:2",
    "package:2 numa:1 core:3",
    "package:1 numa:2 core:2 pu:2",
    "package:3 numa:1 cache:1 core:2",
    "package:2 numa:2 cache:1 core:2",
    "numa:2 package:2 core:2",
    "package:2 numa:1 cache:2 core:2 pu:2",
];

/// Draws a scenario.
pub(super) fn scenario(source: &mut Source<'_>) -> Value {
    let (machine, topology, cycle) = machine(source);
    let cpus = u64::from(topology.cpus());
    let (kernel, tick, offers) = kernel(source, cpus);
    let names: Vec<String> = (0..*source.pick(&[1, 2, 2, 3, 4])).map(|number| format!("a{number}")).collect();
    // Pieces of work: from far below a tick to several of them.
    let long = if source.one_in(12) { u64::MAX } else { cycle.saturating_mul(POLLS) };
    let most = (tick.saturating_mul(TICKS) / cpus).min(long).min(LONGEST);
    let grain = source.magnitude(2_000, 4_000_000).min(most / 40).max(1_000);
    let (bound_to, ordered) = (source.one_in(5), offers.groups && source.one_in(2));
    let beside = Beside {
        cpus,
        cores: u64::from(topology.count(Level::Core)),
        apps: &names,
        groups: ordered || groups_sessions(&kernel),
        rebinds: bound_to,
    };
    let (policies, period) = policies(source, &beside);
    let horizon = most.min(period.saturating_mul(PERIODS)).min(grain.saturating_mul(PIECES)).max(40_000);
    let offers = Offers { groups: ordered, ..offers };
    let mix = Mix { cpus, horizon, grain, offers, rebinds: bound_to, names: &names };
    let mut root = Map::new();
    root.insert("name".into(), json!("swarm"));
    root.insert("machine".into(), machine);
    root.insert("kernel".into(), kernel);
    root.insert("policies".into(), policies);
    let (apps, cgroups, most) = apps::mix(source, &mix);
    root.insert("apps".into(), apps);
    if let Some(cgroups) = cgroups {
        root.insert("cgroups".into(), cgroups);
    }
    options(source, &mut root, (horizon, tick), most);
    programs::add(source, &mut root, (cpus, grain));
    backfilled(source, &mut root, horizon);
    chosen::add_file(source, &mut root);
    Value::Object(root)
}

/// Short applications overtake in half of the queues with a limit of threads.
fn backfilled(source: &mut Source<'_>, root: &mut Map<String, Value>, horizon: u64) {
    let Some(Value::Object(admission)) = root.get_mut("admission") else { return };
    if !admission.contains_key("threads") || !source.one_in(2) {
        return;
    }
    admission.insert("order".into(), json!("easy"));
    let Some(Value::Object(apps)) = root.get_mut("apps") else { return };
    for app in apps.values_mut().filter_map(Value::as_object_mut) {
        app.insert("estimate".into(), time(source.magnitude(1_000, horizon)));
    }
}

/// A machine: the value of its key, its shape, and the time of a poll with a yield in nanoseconds.
fn machine(source: &mut Source<'_>) -> (Value, Topology, u64) {
    let known: Vec<_> = entries().iter().filter(|entry| entry.topology.cpus() <= MOST_CPUS).collect();
    let named = if source.one_in(10) && !known.is_empty() { Some(*source.pick(&known)) } else { None };
    let (name, topology, table): (String, Topology, &[Parameter]) = match named {
        Some(entry) => (entry.name.clone(), entry.topology.clone(), entry.values.table()),
        None => {
            let shape = *source.pick(&SHAPES);
            let parsed = parse_topology(shape);
            let topology = parsed.unwrap_or_else(|why| unreachable!("{shape}: {why}: {LEVEL_NAMES:?}"));
            (shape.to_owned(), topology, machines::Parameters::TABLE)
        }
    };
    let per_package = u64::from(topology.span(Level::Package) / topology.span(Level::Core)).max(1);
    // Costs of a second and speeds of a thousandth leave no time for programs.
    let cost = if source.one_in(30) { 1_000_000_000 } else { 60_000 };
    let mut limits: Vec<Limit> = vec![
        ("slow_cores", 0, per_package),
        ("core_speed", 500, 10_000),
        ("slow_speed", 250, 1_000),
        ("smt_compute", 300, 1_000),
        ("smt_memory", 300, 1_000),
        ("smt_poll", 300, 1_000),
        ("poll", 1, 20_000),
        ("yield_call", 0, 20_000),
    ];
    let costs = table.iter().filter(|p| p.kind == Kind::Duration);
    limits.extend(costs.map(|p| (p.name, 0, cost)));
    let frame =
        Frame { cpus: u64::from(topology.cpus()), apps: &[], limits: &limits, sparse: sparse(source) };
    let mut parameters = settings(source, table, &frame);
    // Every poll is an event of the runs that are simulated poll by poll: mostly a long one.
    if source.below(3) > 0 {
        parameters.insert("poll".into(), time(source.magnitude(500, 20_000)));
    }
    let default = |name| table.iter().find(|p| p.name == name).map_or(0, |p| p.default);
    let cost = |name| parameters.get(name).and_then(duration).unwrap_or_else(|| default(name));
    let cycle = cost("poll") + cost("yield_call");
    (with(&name, &parameters), topology, cycle)
}

/// A kernel: the value of its key, its tick in nanoseconds, and what it has for applications.
fn kernel(source: &mut Source<'_>, cpus: u64) -> (Value, u64, Offers) {
    let entry = source.pick(KERNELS.entries);
    let frame = Frame { cpus, apps: &[], limits: &[], sparse: sparse(source) };
    let parameters = settings(source, entry.parameters, &frame);
    let default = entry.parameters.iter().find(|p| p.name == "tick").map_or(1_000_000, |p| p.default);
    let tick = parameters.get("tick").and_then(duration).unwrap_or(default);
    let values = notation::parameter::Values::defaults(entry.parameters);
    let model = kernels::build(entry, &values, cpus as u32);
    let limited = parameters.get("quota").and_then(Value::as_bool);
    let offers = Offers {
        groups: model.discipline.has_groups(),
        policies: model.discipline.has_policies(),
        limits: limited.unwrap_or(model.discipline.bandwidth().is_some()),
    };
    (with(entry.name, &parameters), tick, offers)
}

/// What is neither machine nor kernel, programs or policies.
fn options(source: &mut Source<'_>, root: &mut Map<String, Value>, (horizon, tick): (u64, u64), most: u64) {
    let mut set = |key: &str, value: Value| root.insert(key.to_owned(), value);
    set("seed", json!(source.between(0, 999_999)));
    set("baseline", json!(*source.pick(&["none", "none", "none", "dedicated"])));
    let window = source.one_in(12);
    if window {
        set("window", time((horizon / 4).max(1)));
        if source.one_in(2) {
            set("warm_up", time(source.between(0, horizon / 4)));
        }
    } else {
        set("horizon", time(horizon));
    }
    match source.below(8) {
        0 => drop(set("start_jitter", time(0))),
        1 => drop(set("start_jitter", time(source.between(0, horizon / 20)))),
        _ if tick > horizon / 20 => drop(set("start_jitter", time(horizon / 20))),
        _ => {}
    }
    match source.below(12) {
        0 => drop(set("latencies", json!(true))),
        1 if !window => drop(set("fidelity", json!("sampled"))),
        _ => {}
    }
    match source.below(8) {
        0 => drop(set("admission", json!({ "jobs": source.between(1, 2) }))),
        1 => drop(set("admission", json!({ "threads": source.between(most, 2 * most) }))),
        _ => {}
    }
    if source.one_in(16) {
        set("repeat", json!(2));
    }
    if !window && source.one_in(100) {
        set("best_partition", json!(true));
    }
    if source.one_in(16) {
        let jitter = source.between(1, horizon / 20);
        set("sweep", json!({ "start_jitter": ["0s", time(jitter)] }));
    }
}
