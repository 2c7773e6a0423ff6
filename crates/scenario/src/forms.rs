//! The types of values that keys have: how each is read, and its JSON Schema.

use notation::diagnostics::Place;
use notation::parameter::{Kind, Parameter};
use notation::registry::Registry;
use notation::suggest::advice;
use notation::units;
use notation::yaml::{Content, Entry, Node};
use policies::{Level, Perturbation, PolicyRegistry};
use serde_json::{Value as Json, json};
use sim_core::admission::StartOrder;
use sim_core::ids::CpuId;
use sim_core::limits::MAX_CPUS;
use sim_core::machine::CpuSet;
use sim_core::os::NICE_WEIGHTS;
use sim_core::program::{Reservation, Scheduling};
use sim_core::time::Span;
use workloads::runtimes::{RUNTIMES, Role};
use workloads::{Build, WORKLOADS};

use crate::Reader;
use crate::json::{WORD, choice, list, parameters};
use crate::key::{Form, Inside, Key, Value};
use crate::labels::is_word;
use crate::objective::Objective;
use crate::registries::{self, ChosenMachine, Selected};
use crate::written::{Call, Chosen, Written};

/// A value for all ranks, or a list of them for the ranks in turn.
fn for_ranks<T>(
    reader: &mut Reader,
    node: &Node,
    what: &str,
    one: fn(&mut Reader, &Node, &str) -> Option<T>,
) -> Option<Vec<T>> {
    match &node.content {
        Content::List(each) if each.is_empty() => {
            let hint = "the ranks take the values of the list in turn; write one, or leave the key out";
            reader.wrong_node(node, format!("the list of {what} is empty"), hint);
            None
        }
        Content::List(each) => each.iter().map(|node| one(reader, node, what)).collect(),
        _ => Some(vec![one(reader, node, what)?]),
    }
}

/// Scheduling policies as written.
const SCHEDULING: [&str; 3] = ["other", "batch", "idle"];

/// Real-time policies as written, two with a priority and one with a reservation.
const REAL_TIME: [&str; 3] = ["fifo", "rr", "deadline"];

/// What to write for the policy with a reservation.
const RESERVED: &str = "write `{ deadline: { runtime: 3ms, period: 10ms } }`";

/// What to write for one of Linux's real-time policies, with or without its prefix.
fn real_time_hint(text: &str) -> Option<&'static str> {
    let name = text.to_ascii_lowercase();
    match name.strip_prefix("sched_").unwrap_or(&name) {
        "fifo" | "realtime" | "rt" => Some("write `{ fifo: 50 }`, with a priority from 1 to 99"),
        "rr" => Some("write `{ rr: 50 }`, with a priority from 1 to 99"),
        "deadline" => Some(RESERVED),
        _ => None,
    }
}

/// What a task of SCHED_DEADLINE reserves. A deadline that is left out is the period (as in `chrt`), and a
/// period that is left out is the deadline (as in `sched_setattr`).
fn reservation(reader: &mut Reader, node: &Node, what: &str) -> Option<Reservation> {
    const TIMES: [&str; 3] = ["runtime", "deadline", "period"];
    let what = format!("{what}, `deadline`");
    if !matches!(node.content, Content::Map(_)) {
        reader.wrong_node(node, format!("{what} is a runtime and a period"), RESERVED);
        return None;
    }
    reader.mapping(node, &what, &TIMES)?;
    let mut read = |name: &str| match node.get(name) {
        Some(entry) => {
            let of = format!("the {name} of {what}");
            // Bounds of their own follow, with what Linux says of them.
            let ns = reader.value(&entry.value, &of, Kind::Duration, 1, 10_000_000_000)?;
            Some(Some(Span::from_ns(ns)))
        }
        None => Some(None),
    };
    let [runtime, deadline, period] = [read(TIMES[0])?, read(TIMES[1])?, read(TIMES[2])?];
    let (Some(runtime), Some(period), Some(deadline)) = (runtime, period.or(deadline), deadline.or(period))
    else {
        reader.wrong_node(node, format!("{what} lacks a runtime, or a period and a deadline"), RESERVED);
        return None;
    };
    let all = Reservation { runtime, deadline, period };
    if let Err(why) = all.check() {
        reader.wrong_node(node, format!("{what}: {why}"), "");
        return None;
    }
    Some(all)
}

/// A scheduling policy.
fn scheduling(reader: &mut Reader, node: &Node, what: &str) -> Option<Scheduling> {
    match &node.content {
        Content::Map(entries) => {
            reader.mapping(node, what, &REAL_TIME)?;
            let [only] = entries.as_slice() else {
                reader.wrong_node(
                    node,
                    format!("{what} is one policy"),
                    "write `{ fifo: 50 }`, `{ rr: 50 }` or `{ deadline: { runtime: 3ms, period: 10ms } }`",
                );
                return None;
            };
            if only.key == "deadline" {
                return reservation(reader, &only.value, what).map(Scheduling::Deadline);
            }
            let of = format!("the priority of {what}");
            let priority = reader.value(&only.value, &of, Kind::Count, 1, 99)? as u8;
            Some(if only.key == "fifo" {
                Scheduling::Fifo(priority)
            } else {
                Scheduling::RoundRobin(priority)
            })
        }
        Content::Scalar(text) if real_time_hint(text).is_some() => {
            let hint = real_time_hint(text);
            let lacks = if hint == Some(RESERVED) { "reservation" } else { "priority" };
            let message = format!("{what}: `{text}` is a real-time policy without a {lacks}");
            reader.wrong_node(node, message, hint.unwrap_or_default());
            None
        }
        _ => {
            let all = [Scheduling::Other, Scheduling::Batch, Scheduling::Idle];
            reader.value(node, what, Kind::Choice(&SCHEDULING), 0, 2).map(|word| all[word as usize])
        }
    }
}

/// The load weight of a nice value.
fn nice(reader: &mut Reader, node: &Node, what: &str) -> Option<u32> {
    let text = reader.text(node, what)?;
    let at = text.parse().ok().and_then(|nice: i64| usize::try_from(nice.checked_add(20)?).ok());
    let weight = at.and_then(|at| NICE_WEIGHTS.get(at).copied());
    if weight.is_none() {
        reader.wrong_node(node, format!("{what} must be a whole number between -20 and 19"), "");
    }
    weight
}

/// The orders of the admission queue.
const ORDERS: [&str; 2] = [StartOrder::ALL[0].name(), StartOrder::ALL[1].name()];

/// Declares types of plain values: `/// About. Name -> Type: JSON Schema, how it is read;`.
macro_rules! plain {
    ($($(#[$about:meta])* $name:ident $(<$($bound:ident),+>)? -> $read:ty:
        $schema:expr, |$reader:ident, $node:ident, $what:ident| $value:expr;)+) => {$(
        $(#[$about])*
        pub(crate) struct $name$(<$(const $bound: u64),+>)?;

        impl$(<$(const $bound: u64),+>)? Form for $name$(<$($bound),+>)? {
            fn schema(key: &Key, _: &PolicyRegistry) -> Json {
                let schema: fn(&Key) -> Json = $schema;
                schema(key)
            }
        }

        impl$(<$(const $bound: u64),+>)? Value for $name$(<$($bound),+>)? {
            type Read = $read;

            fn read($reader: &mut Reader, $node: &Node, $what: &str) -> Option<$read> {
                $value
            }
        }
    )+};
}

plain! {
    /// A text.
    Text -> String: |_| json!({ "type": "string" }),
        |reader, node, what| reader.text(node, what).map(str::to_owned);

    /// The name of a scenario.
    Name -> String: |_| json!({ "type": "string", "pattern": WORD }), |reader, node, what| {
        let name = reader.text(node, what)?;
        if !is_word(name) {
            let message = format!("`{name}` is not a valid name for a scenario");
            reader.wrong_node(node, message, "use letters, digits, `_` and `-`");
            return None;
        }
        Some(name.to_owned())
    };

    /// A whole number from `MIN` to `MAX`.
    Count<MIN, MAX> -> u64: |_| json!({ "type": "integer", "minimum": MIN }),
        |reader, node, what| reader.value(node, what, Kind::Count, MIN, MAX);

    /// A length of time from `MIN` to `MAX` nanoseconds.
    Duration<MIN, MAX> -> Span:
        |_| json!({ "type": "string", "pattern": units::pattern(Kind::Duration) }),
        |reader, node, what| reader.value(node, what, Kind::Duration, MIN, MAX).map(Span::from_ns);

    /// `true` or `false`.
    Flag -> bool: |key| match key.default {
        "" => json!({ "type": "boolean" }),
        default => json!({ "type": "boolean", "default": default == "true" }),
    }, |reader, node, what| reader.value(node, what, Kind::Flag, 0, 1).map(|flag| flag == 1);

    /// Whether each application also runs alone.
    Baseline -> bool: |key| json!({ "enum": ["dedicated", "none"], "default": key.default }),
        |reader, node, what| {
            reader.value(node, what, Kind::Choice(&["none", "dedicated"]), 0, 1).map(|word| word == 1)
        };

    /// What policies are judged by.
    Judged -> Objective: |_| json!({ "enum": Objective::NAMES }),
        |reader, node, what| {
            let most = Objective::NAMES.len() as u64 - 1;
            let word = reader.value(node, what, Kind::Choice(&Objective::NAMES), 0, most)?;
            Objective::ALL.get(word as usize).copied()
        };

    /// The order in which applications of the admission queue start.
    QueueOrder -> StartOrder: |_| json!({ "enum": ORDERS, "default": ORDERS[0] }),
        |reader, node, what| {
            let word = reader.value(node, what, Kind::Choice(&ORDERS), 0, ORDERS.len() as u64 - 1)?;
            StartOrder::ALL.get(word as usize).copied()
        };

    /// Whether most of a run is extrapolated.
    Fidelity -> bool: |key| json!({ "enum": ["exact", "sampled"], "default": key.default }),
        |reader, node, what| {
            reader.value(node, what, Kind::Choice(&["exact", "sampled"]), 0, 1).map(|word| word == 1)
        };

    /// A nice value, or a list of them for the ranks; read as load weights.
    Nice -> Vec<u32>: |_| {
        let one = json!({ "type": "integer", "minimum": -20, "maximum": 19 });
        json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    },
        |reader, node, what| for_ranks(reader, node, what, nice);

    /// A scheduling policy, or a list of them for the ranks.
    SchedulingPolicy -> Vec<Scheduling>: |key| {
        let priority = json!({ "type": "integer", "minimum": 1, "maximum": 99 });
        let time = json!({ "type": "string", "pattern": units::pattern(Kind::Duration) });
        let reservation = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": { "runtime": time, "deadline": time, "period": time },
            "required": ["runtime"],
            "minProperties": 2,
        });
        let real_time = json!({
            "type": "object",
            "additionalProperties": false,
            "minProperties": 1,
            "maxProperties": 1,
            "properties": { "fifo": priority, "rr": priority, "deadline": reservation },
        });
        let one = json!({ "anyOf": [{ "enum": SCHEDULING }, real_time] });
        let list = json!({ "type": "array", "items": one, "minItems": 1 });
        json!({ "anyOf": [{ "enum": SCHEDULING }, real_time, list], "default": key.default })
    },
        |reader, node, what| for_ranks(reader, node, what, scheduling);

    /// A set of cpus of the machine: a list of numbers and ranges, or a text like `0-3,8`.
    Cpus -> CpuSet: |key| {
        let any = list(&json!({ "type": ["integer", "string"] }), Kind::Cpus);
        json!({ "description": key.about(), "anyOf": any["anyOf"] })
    }, |reader, node, what| {
        let cpus = reader.list(node, what, Kind::Cpus, (0, MAX_CPUS - 1))?;
        Some(CpuSet::of(cpus.into_iter().map(|cpu| CpuId(cpu as u32))))
    };
}

/// Paths of machine files, relative to the scenario.
const MACHINE_FILE: &str = r"/|\.[Yy][Aa]?[Mm][Ll]$";

/// A machine with its parameters.
pub(crate) struct Machine;

impl Form for Machine {
    const INSIDE: Inside = Inside::Parameters;

    fn schema(_: &Key, _: &PolicyRegistry) -> Json {
        let known = machines::entries().iter();
        let mut named = choice(
            "",
            known.map(|entry| (entry.name.as_str(), entry.summary.as_str(), entry.values.table())),
        );
        let parameters = parameters(machines::Parameters::TABLE, false);
        if let Some(forms) = named.get_mut("anyOf").and_then(Json::as_array_mut) {
            forms.push(json!({ "type": "string", "pattern": ":", "description": "A description." }));
            let file = json!({ "type": "string", "pattern": MACHINE_FILE, "description": "A machine file." });
            forms.push(file);
            forms.push(json!({
                "type": "object",
                "minProperties": 1,
                "maxProperties": 1,
                "patternProperties": { (format!(":|{MACHINE_FILE}")): parameters },
                "additionalProperties": false,
            }));
        }
        named
    }
}

impl Value for Machine {
    type Read = ChosenMachine;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<ChosenMachine> {
        let chosen = reader.chosen(node, what, &[])?;
        registries::machine(reader, &chosen)
    }
}

/// An entry of a registry with its parameters.
pub(crate) fn entries<T>(registry: &Registry<T>) -> Json {
    choice("", registry.entries.iter().map(|e| (e.name, e.summary, e.parameters)))
}

/// An operating-system model with its parameters; which one is the default depends on the machine.
pub(crate) struct Kernel;

impl Form for Kernel {
    const INSIDE: Inside = Inside::Parameters;

    fn schema(_: &Key, _: &PolicyRegistry) -> Json {
        entries(&kernels::KERNELS)
    }
}

/// A workload with its parameters.
pub(crate) struct Workload;

impl Form for Workload {
    const INSIDE: Inside = Inside::Parameters;

    fn schema(_: &Key, _: &PolicyRegistry) -> Json {
        entries(&WORKLOADS)
    }
}

impl Value for Workload {
    type Read = (Place, Selected<Build>);

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self::Read> {
        let chosen = reader.chosen(node, what, &[])?;
        Some((chosen.place, registries::entry(reader, &WORKLOADS, &chosen)?))
    }
}

/// One runtime with its parameters, or two: that of the processes and that of the threads of each.
pub(crate) struct Runtime;

/// The runtimes of an application as chosen.
pub(crate) struct Runtimes {
    /// The only one, or that of the processes.
    pub(crate) first: Selected<&'static str>,
    /// That of the threads of a process.
    pub(crate) of_threads: Option<Selected<&'static str>>,
    /// Where they are chosen.
    pub(crate) place: Place,
}

impl Runtimes {
    /// Their names and values, with the calls of a program.
    pub(crate) fn written(&self, calls: Vec<Call>) -> Written {
        let of = |of: &Selected<&'static str>| Chosen::of(of.entry.name, &of.values);
        Written { runtime: of(&self.first), of_threads: self.of_threads.as_ref().map(of), calls }
    }
}

/// Whether a value names a runtime for each role.
pub(crate) fn names_roles(node: &Node) -> bool {
    Role::ALL.iter().all(|role| node.get(role.name()).is_some())
}

impl Form for Runtime {
    const INSIDE: Inside = Inside::Parameters;

    fn schema(_: &Key, _: &PolicyRegistry) -> Json {
        let mut schema = entries(&RUNTIMES);
        let of = |role: Role| choice("", role.entries().map(|e| (e.name, e.summary, e.parameters)));
        let both = json!({
            "type": "object",
            "description": "Two runtimes: that of the processes, and that of the threads of each.",
            "required": Role::ALL.map(Role::name),
            "additionalProperties": false,
            "properties": { "mpi": of(Role::Mpi), "openmp": of(Role::OpenMp) },
        });
        if let Some(forms) = schema["anyOf"].as_array_mut() {
            forms.push(both);
        }
        schema
    }
}

impl Value for Runtime {
    type Read = Runtimes;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self::Read> {
        if let Content::Map(written) = &node.content {
            let role = |entry: &&Entry| Role::ALL.iter().any(|role| role.name() == entry.key);
            let named = |entry: &Entry| matches!(entry.value.content, Content::Scalar(_));
            if written.iter().any(|entry| role(&entry) && (written.len() > 1 || named(entry))) {
                return two(reader, node, what);
            }
        }
        let chosen = reader.chosen(node, what, &[])?;
        let first = registries::entry(reader, &RUNTIMES, &chosen)?;
        Some(Runtimes { first, of_threads: None, place: chosen.place })
    }
}

/// The runtimes of processes and of threads.
fn two(reader: &mut Reader, node: &Node, what: &str) -> Option<Runtimes> {
    let hint = "write `{ mpi: openmpi, openmp: libgomp }`; parameters go behind one of them: `{ mpi: { \
        openmpi: { yielding: never } }, openmp: libgomp }`";
    let written = node.entries();
    let other = written.iter().find(|entry| Role::ALL.iter().all(|role| role.name() != entry.key));
    if let Some(entry) = other {
        let message = format!("{what} has two names, and `{}` is neither `mpi` nor `openmp`", entry.key);
        reader.wrong_with_hint(entry.place, message, hint);
        return None;
    }
    if let Some(missing) = Role::ALL.iter().find(|role| node.get(role.name()).is_none()) {
        let message = format!(
            "{what} has no `{}`: a program of processes with threads has two runtimes",
            missing.name()
        );
        reader.wrong_node(node, message, hint);
        return None;
    }
    let [first, of_threads] = Role::ALL.map(|role| {
        let entry = node.get(role.name())?;
        let chosen = reader.chosen(&entry.value, &format!("`{}` of {what}", role.name()), &[])?;
        let known: Vec<&str> = role.entries().map(|entry| entry.name).collect();
        if RUNTIMES.find(chosen.name).is_some() && !known.contains(&chosen.name) {
            let message = format!("`{}` is not a runtime for `{}`", chosen.name, role.name());
            reader.wrong_with_hint(chosen.place, message, advice(chosen.name, &known));
            return None;
        }
        registries::entry(reader, &RUNTIMES, &chosen)
    });
    Some(Runtimes { first: first?, of_threads: Some(of_threads?), place: node.place })
}

/// Paths of policy files, relative to the scenario.
const POLICY_FILE: &str = r"/|\.[Ww][Aa][Ss][Mm]$";

/// The policies with their labels, the policies under them and what perturbs them.
pub(crate) struct Policies;

impl Form for Policies {
    fn schema(key: &Key, known: &PolicyRegistry) -> Json {
        let of = |e: &policies::Entry| -> (&'static str, &'static str, &'static [Parameter]) {
            (e.name, e.summary, e.parameters)
        };
        let mut item = choice("", known.entries().map(of));
        let mut over = choice(
            "The kernel-level policy under a user-level one (default: the kernel's own).",
            known.entries().filter(|e| e.level == Level::InKernel).map(of),
        );
        let mut perturb = parameters(Perturbation::TABLE, true);
        perturb["description"] =
            json!("Disturbs its decisions, which shows how much the result depends on each of them.");
        let file = json!({ "type": "string", "pattern": POLICY_FILE, "description": "A policy file." });
        if let Some(forms) = over.get_mut("anyOf").and_then(Json::as_array_mut) {
            forms.push(file.clone());
        }
        if let Some(with_parameters) = over.pointer_mut("/anyOf/1") {
            with_parameters["properties"]["perturb"] = perturb.clone();
            with_parameters["maxProperties"] = json!(2);
        }
        let label = json!({ "type": "string", "pattern": WORD, "description": "Label in reports." });
        if let Some(with_parameters) = item.pointer_mut("/anyOf/1") {
            with_parameters["properties"]["as"] = label;
            with_parameters["properties"]["over"] = over;
            with_parameters["properties"]["perturb"] = perturb;
            with_parameters["maxProperties"] = json!(4);
        }
        // What may stand beside the name is above in full.
        let label = json!({ "type": "string", "pattern": WORD });
        let beside = json!({ "as": label, "over": {}, "perturb": { "type": "object" } });
        let mut flat = beside.clone();
        flat["policy"] =
            json!({ "type": "string", "description": "A policy, or the path of a policy file." });
        flat["label"] = label;
        if let Some(forms) = item.get_mut("anyOf").and_then(Json::as_array_mut) {
            forms.push(file);
            forms.push(json!({
                "type": "object",
                "minProperties": 1,
                "maxProperties": 4,
                "properties": beside,
                "patternProperties": { (POLICY_FILE): { "type": ["object", "null"] } },
                "additionalProperties": false,
            }));
            forms.push(json!({
                "type": "object",
                "required": ["policy"],
                "properties": flat,
                "description": "A policy with its parameters beside its name.",
            }));
        }
        json!({ "type": "array", "minItems": 1, "description": key.about(), "items": item })
    }
}

/// Anything: a place for anchors.
pub(crate) struct Anything;

impl Form for Anything {
    fn schema(_: &Key, _: &PolicyRegistry) -> Json {
        json!({})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nice_zero_weighs_1024_and_steps_are_a_quarter() {
        assert_eq!(NICE_WEIGHTS[20], 1_024);
        for pair in NICE_WEIGHTS.windows(2) {
            let ratio = f64::from(pair[0]) / f64::from(pair[1]);
            assert!((1.15..1.35).contains(&ratio), "{pair:?}");
        }
    }
}
