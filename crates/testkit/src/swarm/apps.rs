//! The applications of a case: workloads, runtimes, places, times and groups.

use serde_json::{Map, Value, json};
use workloads::WORKLOADS;
use workloads::runtimes::{Entry, RUNTIMES, Role, serves_threads};

use super::source::Source;
use super::values::{Frame, Limit, cpus, settings, sparse, time, with};

/// What a kernel has for applications.
#[derive(Clone, Copy)]
pub(super) struct Offers {
    /// Task groups.
    pub(super) groups: bool,
    /// Scheduling policies.
    pub(super) policies: bool,
    /// Limits of groups.
    pub(super) limits: bool,
}

/// What the applications depend on.
pub(super) struct Mix<'a> {
    /// Cpus of the machine.
    pub(super) cpus: u64,
    /// Horizon in nanoseconds.
    pub(super) horizon: u64,
    /// Typical piece of work in nanoseconds.
    pub(super) grain: u64,
    /// What they may use; scheduling policies only with groups.
    pub(super) offers: Offers,
    /// Their affinity may change.
    pub(super) rebinds: bool,
    /// Their names.
    pub(super) names: &'a [String],
}

/// Control groups in which applications may run.
const PATHS: [&str; 4] = ["batch", "batch/low", "batch/low/one", "users"];

/// Draws the applications: the values of the keys `apps` and `cgroups`, and the most tasks of one of them.
pub(super) fn mix(source: &mut Source<'_>, mix: &Mix<'_>) -> (Value, Option<Value>, u64) {
    let mut apps = Map::new();
    let mut most = 1;
    // Those whose end another one may wait for.
    let mut ends: Vec<&str> = Vec::new();
    for (number, name) in mix.names.iter().enumerate() {
        let mut app = Map::new();
        let tasks = program(source, mix, &mut app);
        most = most.max(tasks);
        if number == 0 {
            app.insert("background".into(), json!(false));
        } else if source.one_in(6) {
            app.insert("background".into(), json!(source.one_in(2)));
        }
        arrival(source, mix, &mut app, &ends);
        place(source, mix, &mut app);
        // By default some workloads are background applications.
        if app.get("background") == Some(&json!(false)) && !app.contains_key("copies") {
            ends.push(name);
        }
        apps.insert(name.clone(), Value::Object(app));
    }
    let used: Vec<&str> = apps.values().filter_map(|app| app.get("cgroup")?.as_str()).collect();
    let limits = mix.offers.limits;
    let cgroups = (!used.is_empty() && source.below(4) > 0).then(|| groups(source, &used, limits));
    (Value::Object(apps), cgroups, most)
}

/// Workload, runtime and number of tasks.
fn program(source: &mut Source<'_>, mix: &Mix<'_>, app: &mut Map<String, Value>) -> u64 {
    // The general one is as likely as a third of the others.
    let of = WORKLOADS.entries.len() as u64;
    let chosen = source.below(of + of / 3) as usize;
    let entry = WORKLOADS.entries.get(chosen).or_else(|| WORKLOADS.entries.iter().find(|e| e.name == "spmd"));
    let Some(entry) = entry else { return 1 };
    let limits: &[Limit] = &[
        ("exchanges", 0, 6),
        ("transfer", 0, 1 << 24),
        ("transfers", 0, 6),
        ("long_every", 0, 8),
        ("long_factor", 1, 20),
        ("serial_per_task", 0, mix.grain),
        ("steal", 0, mix.grain),
        ("core", 200, 5_000),
    ];
    let frame = Frame { cpus: mix.cpus, apps: &[], limits, sparse: sparse(source) };
    let mut parameters = settings(source, entry.parameters, &frame);
    for (name, value) in sizes(source, entry.name, mix) {
        parameters.insert(name.to_owned(), value);
    }
    if parameters.contains_key("transfer") {
        // A program has either transfers or long intervals.
        parameters.remove("long_every");
    }
    let benchmark = parameters.get("benchmark").and_then(Value::as_str);
    let squares = matches!(benchmark, Some("bt" | "sp"));
    app.insert("workload".into(), with(entry.name, &parameters));
    app.insert("runtime".into(), runtime(source, mix, entry.name == "hybrid"));
    let tasks = match entry.name {
        "npb" if squares => *source.pick(&[1, 4]),
        "npb" => *source.pick(&[1, 2, 4, 8]),
        "make" if source.one_in(2) => return 64,
        _ => source.between(1, (2 * mix.cpus + 1).min(9)),
    };
    app.insert("tasks".into(), json!(tasks));
    tasks
}

/// A runtime; for processes with threads one that serves both, or one for each.
fn runtime(source: &mut Source<'_>, mix: &Mix<'_>, hybrid: bool) -> Value {
    let two = hybrid && source.one_in(2);
    if two {
        let [mpi, openmp] = Role::ALL.map(|role| {
            let known: Vec<&Entry> = role.entries().collect();
            let entry = *source.pick(&known);
            runtime_of(source, mix, entry)
        });
        return json!({ "mpi": mpi, "openmp": openmp });
    }
    let known: Vec<&Entry> = RUNTIMES.entries.iter().filter(|e| !hybrid || serves_threads(e)).collect();
    let entry = *source.pick(&known);
    runtime_of(source, mix, entry)
}

fn runtime_of(source: &mut Source<'_>, mix: &Mix<'_>, runtime: &Entry) -> Value {
    // The polls before a yield take at most 10 ms.
    let limits: &[Limit] =
        &[("arity", 2, 9), ("polls", 1, 400), ("message_polls", 1, 1_000), ("message_poll", 1, 1_000)];
    let frame = Frame { cpus: mix.cpus, apps: &[], limits, sparse: sparse(source) };
    let values = settings(source, runtime.parameters, &frame);
    with(runtime.name, &values)
}

/// Settings that decide how long a workload takes.
fn sizes(source: &mut Source<'_>, workload: &str, mix: &Mix<'_>) -> Vec<(&'static str, Value)> {
    let grain = mix.grain;
    let mut span = |from: u64, to: u64| {
        let low = (grain * from / 8).max(1_000);
        time(source.magnitude(low, (grain * to).max(low)))
    };
    match workload {
        "spmd" => {
            let (work, each) = (span(8, 80), span(1, 4));
            let size = if source.one_in(2) { ("grain", each) } else { ("work", work) };
            vec![size, ("intervals", json!(source.magnitude(1, 40)))]
        }
        "hog" => vec![("work", span(8, 200))],
        "barriers" => vec![("count", json!(source.magnitude(1, 100)))],
        "critical-section" => {
            let (outside, inside) = (span(1, 4), span(1, 1));
            let (count, kinds) = (json!(source.magnitude(1, 30)), workloads::LOCK_KINDS);
            let kind = kinds[source.between(0, kinds.len() as u64 - 1) as usize].name;
            vec![("count", count), ("outside", outside), ("inside", inside), ("lock", json!(kind))]
        }
        "daemon" => vec![("burst", span(1, 4)), ("pause", span(1, 20))],
        "make" => {
            let (compute, io) = (span(8, 60), span(1, 4));
            let (parts, jobs) = (source.between(1, 8), source.between(0, 6));
            vec![("compute", compute), ("io", io), ("parts", json!(parts)), ("jobs", json!(jobs))]
        }
        "interactive" => {
            let (think, burst) = (span(1, 20), span(1, 4));
            vec![("think", think), ("burst", burst), ("requests", json!(source.between(1, 20)))]
        }
        "services" => vec![("burst", span(1, 10))],
        "pool" => {
            let work = span(8, 80);
            let (chunks, rounds) = (source.magnitude(1, 60), source.between(1, 3));
            vec![("work", work), ("chunks", json!(chunks)), ("rounds", json!(rounds))]
        }
        "hybrid" => {
            let work = span(8, 80);
            let (threads, every) = (source.between(1, 4), source.between(1, 5));
            let intervals = source.magnitude(1, 20);
            vec![
                // As many as there are tasks for.
                ("processes", json!(0)),
                ("threads_per_process", json!(threads)),
                ("work", work),
                ("intervals", json!(intervals)),
                ("exchange_every", json!(every)),
            ]
        }
        "npb" => {
            let benchmark = *source.pick(&["cg", "ft", "ep", "mg", "is", "bt", "sp", "lu"]);
            vec![("benchmark", json!(benchmark)), ("class", json!("S")), ("scale", json!("1%"))]
        }
        "parbench" => vec![("work", span(8, 80)), ("kernels", json!(source.magnitude(1, 30)))],
        "spec-omp" => vec![("scale", json!("1%")), ("init", time(grain))],
        _ => Vec::new(),
    }
}

/// When it arrives, and how often it runs.
fn arrival(source: &mut Source<'_>, mix: &Mix<'_>, app: &mut Map<String, Value>, ends: &[&str]) {
    if source.one_in(3) {
        app.insert("start".into(), time(source.between(0, mix.horizon / 20)));
    }
    if !ends.is_empty() && source.one_in(5) {
        let before = *source.pick(ends);
        app.insert("after".into(), json!(before));
    }
    if source.one_in(8) {
        app.insert("copies".into(), json!(source.between(2, 3)));
        let every = time(source.between(0, mix.horizon / 20));
        match source.below(4) {
            0 => drop(app.insert("arrival".into(), json!({ "every": every }))),
            1 => drop(app.insert("arrival".into(), json!({ "mean": every }))),
            2 => drop(app.insert("arrival".into(), json!("queue"))),
            _ => {}
        }
    }
    if source.one_in(8) {
        app.insert("deadline".into(), time(source.between(1, mix.horizon / 10)));
    }
}

/// Where it may run, and its weight and group.
fn place(source: &mut Source<'_>, mix: &Mix<'_>, app: &mut Map<String, Value>) {
    if source.one_in(5) {
        app.insert("cpus".into(), Value::from(cpus(source, mix.cpus)));
    }
    if mix.rebinds && source.one_in(2) {
        let count = source.between(1, 3);
        let change = |_| {
            let at = time(source.between(0, mix.horizon / 10));
            json!({ "at": at, "cpus": cpus(source, mix.cpus) })
        };
        let changes: Vec<Value> = (0..count).map(change).collect();
        app.insert("affinity".into(), Value::Array(changes));
    }
    let mut nice = || source.between(0, 39) as i64 - 20;
    let (one, list) = (nice(), [nice(), nice(), nice()]);
    match source.below(8) {
        0 => drop(app.insert("nice".into(), json!(one))),
        1 => drop(app.insert("nice".into(), json!(list))),
        _ => {}
    }
    if mix.offers.groups {
        match source.below(6) {
            0 => drop(app.insert("session".into(), json!(*source.pick(&["s1", "s2"])))),
            1..3 => drop(app.insert("cgroup".into(), json!(*source.pick(&PATHS)))),
            _ => {}
        }
        if mix.offers.policies && source.one_in(3) {
            app.insert("scheduling".into(), json!(*source.pick(&["batch", "idle"])));
        }
    }
}

/// Weights and limits of the control groups that are used, or that contain one that is.
fn groups(source: &mut Source<'_>, used: &[&str], limits: bool) -> Value {
    let mut groups = Map::new();
    for path in PATHS {
        let inside = |used: &&str| {
            used.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if !used.iter().any(inside) || source.one_in(3) {
            continue;
        }
        let mut group = Map::new();
        if source.one_in(2) {
            group.insert("weight".into(), json!(source.magnitude(1, 10_000)));
        }
        if limits && source.one_in(2) {
            group.insert("quota".into(), time(source.magnitude(1_000_000, 200_000_000)));
            if source.one_in(2) {
                group.insert("period".into(), time(source.magnitude(1_000_000, 1_000_000_000)));
            }
        }
        groups.insert(path.to_owned(), Value::Object(group));
    }
    Value::Object(groups)
}
