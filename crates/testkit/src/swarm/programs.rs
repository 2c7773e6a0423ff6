//! Programs in place of some workloads of a case. They are drawn last: what else a seed draws stays as it is.

use kernels::KERNELS;
use notation::parameter::{Kind as Unit, Values};
use policies::{ALL, Choice, TaskGroups};
use serde_json::{Map, Value, json};
use sim_core::os::OsModel;
use sim_core::policy::Order;
use workloads::runtimes::{Entry, RUNTIMES};

use super::program::{Facts, Kind, Program, SHARED};
use super::source::Source;
use super::values::{cpus, groups_sessions, time};

/// What the kernel and the policies of a case have for tasks.
#[derive(Clone, Copy)]
struct Has {
    /// Load weights that a task can change.
    weights: bool,
    /// Cpus that a task can change.
    moves: bool,
    /// Scheduling policies that a task can change, by themselves.
    changes: bool,
    /// `SCHED_BATCH` and `SCHED_IDLE`.
    policies: bool,
    /// `SCHED_FIFO` and `SCHED_RR`.
    real_time: bool,
    /// Slices of tasks.
    slices: bool,
}

impl Has {
    /// The scheduling policies between which a task can change; none where it cannot.
    fn classes(self) -> Vec<&'static str> {
        let of = |there: bool, names: &[&'static str]| if there { names.to_vec() } else { Vec::new() };
        let mut classes = of(self.changes && self.real_time, &["other", "fifo", "rr"]);
        classes.extend(of(self.changes && self.policies, &["other", "batch"]));
        // Tasks with a slice are never idle.
        classes.extend(of(self.changes && self.policies && !self.slices, &["idle"]));
        classes
    }
}

/// Gives some applications of a scenario programs in place of their workloads.
pub(super) fn add(source: &mut Source<'_>, root: &mut Map<String, Value>, (cpus, grain): (u64, u64)) {
    if source.below(5) > 1 {
        return;
    }
    let has = has(root);
    let window = root.contains_key("window");
    let Some(Value::Object(apps)) = root.get("apps") else { return };
    let chosen: Vec<String> = apps.keys().filter(|_| source.below(3) > 0).cloned().collect();
    let mut shared: Vec<&'static str> = Vec::new();
    if chosen.len() > 1 && source.one_in(2) {
        shared = SHARED.into_iter().filter(|_| source.one_in(2)).collect();
    }
    let mut most = 0;
    for (number, name) in chosen.iter().enumerate() {
        let second = number == 1 && !shared.is_empty();
        let shared = if number < 2 { shared.clone() } else { Vec::new() };
        let classes = has.classes();
        let facts = Facts { cpus, grain, weighs: has.weights, moves: has.moves, classes, shared, second };
        let program = Program::draw(source, &facts);
        let tied = program.fed || !facts.shared.is_empty();
        let (keys, kinds) = program.written();
        most = kinds.iter().map(|(kind, _)| kind.count * kind.threads).chain([most]).max().unwrap_or(1);
        let names: Vec<String> = kinds.iter().map(|(kind, _)| format!("{name}-{}", kind.name)).collect();
        let Some(app) = root.get_mut("apps").and_then(|apps| apps.get_mut(name)?.as_object_mut()) else {
            continue;
        };
        suit(source, app, (name.as_str(), kinds.len() > 1, tied));
        let program = self::kinds(source, (keys, kinds), (&*app, name == "a0"), (cpus, has));
        app.insert("program".into(), program);
        if let [first, _, ..] = &names[..] {
            renamed(root, name, first);
        }
    }
    if !chosen.is_empty() {
        admitted(source, root, most);
        swept(source, root, (&chosen, window));
    }
}

/// What the kernel and the policies of a scenario have.
fn has(root: &Map<String, Value>) -> Has {
    let nothing = Has {
        weights: false,
        moves: false,
        changes: false,
        policies: false,
        real_time: false,
        slices: false,
    };
    let named = |value: &Value| match value {
        Value::Object(map) => map.keys().find(|key| ALL.iter().any(|entry| entry.name == *key)).cloned(),
        other => other.as_str().map(str::to_owned),
    };
    let kernel = root.get("kernel");
    let name = kernel.and_then(|kernel| match kernel {
        Value::Object(map) => map.keys().next().cloned(),
        other => other.as_str().map(str::to_owned),
    });
    let entry = KERNELS.entries.iter().find(|entry| Some(entry.name) == name.as_deref());
    let Some(entry) = entry else { return nothing };
    let model = kernels::build(entry, &Values::defaults(entry.parameters), 4);
    let list = root.get("policies").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let items = list.iter().flat_map(|item| [Some(item), item.get("over")]).flatten();
    let used: Vec<_> = items.filter_map(named).collect();
    let policies = || ALL.iter().filter(|entry| used.iter().any(|name| name == entry.name));
    let leaves = policies().all(|entry| entry.task_groups == TaskGroups::Kept);
    let in_order = policies().all(|entry| order(entry, &model) == Order::System);
    let apps = || root.get("apps").and_then(Value::as_object).into_iter().flatten().map(|(_, app)| app);
    let automatic = kernel.is_some_and(groups_sessions);
    let grouped = automatic || apps().any(|app| app.get("session").or(app.get("cgroup")).is_some());
    let limited = root.get("cgroups").is_some_and(|groups| groups.to_string().contains("\"quota\""));
    let queues = &model.discipline;
    Has {
        weights: in_order && queues.has_groups() && (!grouped || (queues.has_policies() && !limited)),
        moves: policies().all(|entry| entry.name != "DWRR"),
        changes: in_order && queues.has_groups() && !grouped,
        policies: leaves && queues.has_policies(),
        real_time: leaves && model.real_time.is_some() && (!grouped || queues.has_policies()),
        slices: leaves && queues.has_own_slices(),
    }
}

/// The order in which a policy has tasks in run queues.
fn order(entry: &'static policies::Entry, model: &OsModel) -> Order {
    let machine = machines::resolve("core:4").map(|entry| entry.machine());
    machine.map_or(Order::System, |machine| Choice::new(entry).build(&machine, model, &[]).order())
}

/// Takes away what an application with a program cannot have: of several kinds, or with requests or shared
/// names.
fn suit(source: &mut Source<'_>, app: &mut Map<String, Value>, (name, several, tied): (&str, bool, bool)) {
    for key in ["workload", "tasks"] {
        app.shift_remove(key);
    }
    // Two runtimes are those of processes with threads.
    let two = app.get("runtime").is_some_and(|runtime| runtime.get("mpi").is_some());
    if two || source.one_in(2) {
        app.shift_remove("runtime");
    }
    if name == "a0" || source.below(4) > 0 {
        app.shift_remove("background");
    }
    if tied {
        app.shift_remove("after");
    }
    if app.get("arrival") == Some(&json!("queue")) && (several || tied) {
        app.shift_remove("arrival");
    }
}

/// The value of `program`; the first application has to have a kind in the foreground.
fn kinds(
    source: &mut Source<'_>,
    (mut keys, kinds): (Map<String, Value>, Vec<(Kind, Value)>),
    (app, first): (&Map<String, Value>, bool),
    (cpus, has): (u64, Has),
) -> Value {
    let idle = app.get("scheduling") == Some(&json!("idle"));
    let alone = kinds.len() == 1 && source.one_in(2);
    let mut written = Map::new();
    for (kind, code) in kinds {
        let mut of_kind =
            Map::from_iter([("count".to_owned(), json!(kind.count)), ("code".to_owned(), code)]);
        if kind.threads > 1 {
            of_kind.insert("threads".into(), json!(kind.threads));
        }
        if kind.count == 1 && source.one_in(2) {
            of_kind.shift_remove("count");
        }
        if source.one_in(8) {
            of_kind.insert("requests".into(), json!(source.one_in(2)));
        }
        if alone {
            // The keys of the only kind are those of the application.
            keys.extend(of_kind);
            break;
        }
        if source.one_in(3) {
            own(source, &mut of_kind, (cpus, has, idle));
        }
        if kind.name == "main" {
            if first {
                of_kind.insert("background".into(), json!(false));
            }
        } else if source.one_in(12) && !kind.endless && !kind.forked {
            of_kind.insert("background".into(), json!(source.one_in(2)));
        }
        written.insert(kind.name.to_owned(), Value::Object(of_kind));
    }
    if !written.is_empty() {
        keys.insert("kinds".into(), Value::Object(written));
    }
    Value::Object(keys)
}

/// Some keys of a kind.
fn own(source: &mut Source<'_>, kind: &mut Map<String, Value>, (all, has, idle): (u64, Has, bool)) {
    let mut set = |key: &str, value: Value| drop(kind.insert(key.to_owned(), value));
    let nice = |source: &mut Source<'_>| source.between(0, 39) as i64 - 20;
    match source.below(6) {
        0 => set("nice", json!(nice(source))),
        1 => set("nice", json!([nice(source), nice(source)])),
        _ => {}
    }
    if source.one_in(5) {
        set("cpus", Value::from(cpus(source, all)));
    }
    if source.one_in(4) {
        let runtimes: Vec<&Entry> = RUNTIMES.entries.iter().collect();
        set("runtime", json!(source.pick(&runtimes).name));
    }
    if source.one_in(4) {
        set("deadline", time(source.magnitude(1_000, 1_000_000_000)));
    }
    let mut sleepy = idle;
    if has.real_time && source.one_in(3) {
        let mut one = || {
            let class = *source.pick(&["fifo", "rr"]);
            json!({ class: source.between(1, 99) })
        };
        let (one, other) = (one(), one());
        sleepy = false;
        set("scheduling", if source.one_in(4) { json!([one, "other", other]) } else { one });
    } else if has.policies && source.one_in(3) {
        let name = *source.pick(&["batch", "idle", "other"]);
        sleepy = name == "idle";
        set("scheduling", json!(name));
    }
    if has.slices && !sleepy && source.one_in(3) {
        set("slice", time(source.magnitude(100_000, 100_000_000)));
    }
}

/// Gives what speaks of an application the name of its first kind, and takes away what waits for its end.
fn renamed(root: &mut Map<String, Value>, name: &str, kind: &str) {
    for app in root.get_mut("apps").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
        if app.get("after").and_then(Value::as_str) == Some(name)
            && let Value::Object(app) = app
        {
            app.shift_remove("after");
        }
    }
    if let Some(policies) = root.get_mut("policies") {
        rename(policies, name, kind);
    }
}

/// Gives a key another name wherever it is.
fn rename(value: &mut Value, name: &str, other: &str) {
    match value {
        Value::Object(map) => {
            for (key, mut inside) in std::mem::take(map) {
                rename(&mut inside, name, other);
                map.insert(if key == name { other.to_owned() } else { key }, inside);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|item| rename(item, name, other)),
        _ => {}
    }
}

/// Admission mostly lets in all kinds: they may need each other.
fn admitted(source: &mut Source<'_>, root: &mut Map<String, Value>, most: u64) {
    if !root.contains_key("admission") {
        return;
    }
    if source.below(4) > 0 {
        root.shift_remove("admission");
    } else if let Some(threads) = root.get_mut("admission").and_then(|admission| admission.get_mut("threads"))
    {
        *threads = json!(threads.as_u64().unwrap_or(0).max(most));
    }
}

/// Now and then a sweep of a value of a program.
fn swept(source: &mut Source<'_>, root: &mut Map<String, Value>, (chosen, window): (&[String], bool)) {
    if root.contains_key("sweep") || window || !source.one_in(6) {
        return;
    }
    let pointer = |name: &String| format!("/apps/{name}/program/values/v");
    let tree = Value::Object(root.clone());
    if let Some(name) = chosen.iter().find(|name| tree.pointer(&pointer(name)).is_some()) {
        let other = Unit::Duration.show(source.magnitude(1_000, 1_000_000));
        let path = format!("apps.{name}.program.values.v");
        root.insert("sweep".into(), json!({ path: [tree.pointer(&pointer(name)), other] }));
    }
}
