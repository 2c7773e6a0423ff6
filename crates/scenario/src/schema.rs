//! The JSON Schema (draft-07) of scenario files, made from the registries: editors complete names and check
//! values with it.

use notation::parameter::{Kind, Parameter};
use notation::units;
use policies::{Level, PERTURB, PolicyShelf};
use serde_json::{Map, Value, json};

use crate::{DEFAULT_KERNEL, DEFAULT_RUNTIME};

/// Largest integer that every reader of JSON keeps exact (2^53 - 1, RFC 8259 section 6).
const EXACT: u64 = (1 << 53) - 1;

/// The schema.
#[must_use]
pub fn schema() -> Value {
    schema_with(&PolicyShelf::default())
}

/// As [`schema`], with these policies.
#[must_use]
pub fn schema_with(known: &PolicyShelf) -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "oversim scenario",
        "description": "A simulated experiment: applications that share a machine, under several scheduling policies.",
        "type": "object",
        "required": ["name", "machine", "apps", "policies"],
        "additionalProperties": false,
        "properties": {
            "name": { "type": "string", "pattern": WORD, "description": "Name in reports." },
            "about": { "type": "string", "description": "The question that the scenario answers, in one or two sentences." },
            "machine": machine(),
            "kernel": choice(
                &format!("Operating-system model with the scheduler of each cpu (default: that of the machine, else {DEFAULT_KERNEL}), alone or with parameters."),
                machines::os::entries().iter().map(|e| (e.name, e.summary, e.parameters)),
            ),
            "apps": {
                "type": "object",
                "description": "Applications by name.",
                "minProperties": 1,
                "propertyNames": { "pattern": WORD },
                "additionalProperties": app(),
            },
            "admission": {
                "type": "object",
                "additionalProperties": false,
                "description": "Limit on the foreground applications that run at the same time. The others wait in the order of their arrival.",
                "properties": {
                    "jobs": count("Largest number of applications.", 1),
                    "threads": count("Largest number of their tasks.", 1),
                },
            },
            "policies": policies(known),
            "sweep": sweep(),
            "threads_per_core": count("Tasks per core of every foreground application without own `tasks` or `threads_per_core` (default 1).", 1),
            "baseline": {
                "enum": ["dedicated", "none"],
                "default": "dedicated",
                "description": "`dedicated`: each application also runs alone, one thread per core, pinned. Slowdowns refer to these runs. `none`: no such runs.",
            },
            "best_partition": {
                "type": "boolean",
                "default": false,
                "description": "Also search the best static partition of the cores among the applications by simulation.",
            },
            "repeat": count("Number of runs of each configuration and policy, each with its own seed (default 1).", 1),
            "seed": count("Seed of the first run, the same for all policies (default 1).", 0),
            "horizon": duration("Simulated time at which a run is cut off (default 1h)."),
            "start_jitter": duration("Largest random delay of the arrival of an application, drawn from the seed (default: one timer tick)."),
            "templates": { "description": "Not read: a place for YAML anchors." },
        },
    })
}

/// Names of scenarios, applications and labels.
const WORD: &str = "^[A-Za-z0-9_-]{1,64}$";

/// Paths of machine files, relative to the scenario.
const MACHINE_FILE: &str = r"/|\.[Yy][Aa]?[Mm][Ll]$";

fn machine() -> Value {
    let known = machines::entries().iter();
    let mut named = choice(
        "A name, a machine file or a description such as `package:8 numa:1 core:64 pu:2`, alone or with parameters.",
        known.map(|entry| (entry.name.as_str(), entry.summary.as_str(), entry.values.table())),
    );
    let parameters = parameters(machines::PARAMETERS, false);
    if let Some(forms) = named.get_mut("anyOf").and_then(Value::as_array_mut) {
        forms.push(json!({ "type": "string", "pattern": ":", "description": "A description." }));
        forms.push(json!({ "type": "string", "pattern": MACHINE_FILE, "description": "A machine file." }));
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

fn app() -> Value {
    let workloads = workloads::entries().iter().map(|e| (e.name, e.summary, e.parameters));
    let runtimes = workloads::runtimes::entries().iter().map(|e| (e.name, e.summary, e.parameters));
    json!({
        "type": "object",
        "required": ["workload"],
        "additionalProperties": false,
        "properties": {
            "workload": choice("The program.", workloads),
            "runtime": choice(&format!("How its tasks start, wait and meet at barriers (default {DEFAULT_RUNTIME})."), runtimes),
            "tasks": count("Number of tasks.", 1),
            "threads_per_core": count("Tasks for each core that it may use, instead of `tasks`.", 1),
            "start": duration("Time of its arrival (default 0s), with `after` counted from the end of that application."),
            "after": { "type": "string", "description": "It arrives when this application has ended. The file must list that one first." },
            "copies": count("Number of copies (default 1). Results are means over them.", 1),
            "arrival": arrival(),
            "cpus": {
                "description": "Cpus that it may use: a list, or a text such as `0-3,8`.",
                "anyOf": list(&json!({ "type": ["integer", "string"] }), Kind::Cpus)["anyOf"],
            },
            "background": { "type": "boolean", "description": "Whether the run ends without waiting for it, as with hogs and daemons." },
            "nice": { "type": "integer", "minimum": -20, "maximum": 19, "description": "Nice value, from -20 (most cpu time) to 19 (default 0)." },
        },
    })
}

fn arrival() -> Value {
    let interval = |key: &str, about: &str| {
        let mut properties = Map::new();
        properties.insert(key.to_owned(), duration(about));
        json!({ "type": "object", "required": [key], "additionalProperties": false, "properties": properties })
    };
    json!({
        "description": "Arrival of the copies after the first one (default: all together).",
        "anyOf": [
            { "enum": ["queue"], "description": "Each copy when the previous one has ended." },
            interval("every", "At fixed intervals."),
            interval("mean", "At exponentially distributed intervals with this mean, drawn from the seed."),
        ],
    })
}

fn policies(known: &PolicyShelf) -> Value {
    let mut item = choice("", known.entries().map(|e| (e.name, e.summary, e.parameters)));
    let kernel_level = known.entries().filter(|e| e.level == Level::InKernel);
    let mut over = choice(
        "The kernel-level policy under a user-level one (default: the kernel's own).",
        kernel_level.map(|e| (e.name, e.summary, e.parameters)),
    );
    let mut perturb = parameters(PERTURB, true);
    perturb["description"] =
        json!("Disturbs its decisions, which shows how much the result depends on each of them.");
    if let Some(with_parameters) = over.pointer_mut("/anyOf/1") {
        with_parameters["properties"]["perturb"] = perturb.clone();
        with_parameters["maxProperties"] = json!(2);
    }
    let label = json!({ "type": "string", "pattern": WORD, "description": "Label in reports." });
    let forms = item.get_mut("anyOf").and_then(Value::as_array_mut);
    if let Some(with_parameters) = forms.and_then(|forms| forms.get_mut(1)) {
        with_parameters["properties"]["as"] = label;
        with_parameters["properties"]["over"] = over;
        with_parameters["properties"]["perturb"] = perturb;
        with_parameters["maxProperties"] = json!(4);
    }
    json!({
        "type": "array",
        "minItems": 1,
        "description": "Policies to compare. The others are compared with the first one.",
        "items": item,
    })
}

fn sweep() -> Value {
    json!({
        "type": "object",
        "description": "Paths and their values. Every combination runs. Paths: `threads_per_core`, `machine`, `kernel`, `horizon`, `start_jitter`, `admission`, `admission.jobs`, `admission.threads`, `machine.PARAMETER`, `kernel.PARAMETER`, `apps.APP.KEY`, `apps.APP.workload.PARAMETER`, `apps.APP.runtime.PARAMETER`, `policies.LABEL.PARAMETER`, `policies.LABEL.over`, `policies.LABEL.over.PARAMETER`, `policies.LABEL.perturb.PARAMETER`.",
        "propertyNames": {
            "pattern": r"^(threads_per_core|machine|kernel|horizon|start_jitter|admission|admission\.(jobs|threads)|(machine|kernel)\.[^.]+|apps\.[^.]+\.[^.]+|apps\.[^.]+\.(workload|runtime)\.[^.]+|policies\.[^.]+\.[^.]+|policies\.[^.]+\.(over|perturb)\.[^.]+)$",
        },
        "additionalProperties": { "type": "array", "minItems": 1 },
    })
}

/// A name, or one name with its parameters.
fn choice<'a>(about: &str, entries: impl Iterator<Item = (&'a str, &'a str, &'a [Parameter])>) -> Value {
    let mut names = Vec::new();
    let mut properties = Map::new();
    for (name, summary, table) in entries {
        names.push(name.to_owned());
        let mut of = parameters(table, true);
        of["description"] = json!(summary);
        properties.insert(name.to_owned(), of);
    }
    let mut schema = json!({
        "anyOf": [
            { "enum": names },
            {
                "type": "object",
                "minProperties": 1,
                "maxProperties": 1,
                "additionalProperties": false,
                "properties": properties,
            },
        ],
    });
    if !about.is_empty() {
        schema["description"] = json!(about);
    }
    schema
}

/// The mapping of a table's parameters.
fn parameters(table: &[Parameter], with_defaults: bool) -> Value {
    let properties: Map<String, Value> =
        table.iter().map(|p| (p.name.to_owned(), parameter(p, with_defaults))).collect();
    json!({ "type": ["object", "null"], "additionalProperties": false, "properties": properties })
}

fn parameter(parameter: &Parameter, with_default: bool) -> Value {
    let Parameter { kind, default, about, .. } = *parameter;
    let mut schema = value(parameter);
    if let Kind::PerApp(_) = kind {
        let each =
            json!({ "type": "object", "propertyNames": { "pattern": WORD }, "additionalProperties": schema });
        schema = json!({ "anyOf": [schema, each] });
    }
    schema["description"] = json!(about);
    if with_default && !kind.is_list() {
        schema["default"] = match kind.of_one() {
            Kind::Count => json!(default.min(EXACT)),
            Kind::Factor => json!(thousandths(default)),
            Kind::Flag => json!(default != 0),
            kind => json!(kind.show(default)),
        };
    }
    schema
}

/// One value of a parameter.
fn value(parameter: &Parameter) -> Value {
    let Parameter { kind, min, max, .. } = *parameter;
    let kind = kind.of_one();
    match kind {
        Kind::Duration | Kind::Size | Kind::Rate | Kind::Percent => {
            json!({ "type": "string", "pattern": units::pattern(kind) })
        }
        Kind::Count => json!({ "type": "integer", "minimum": min.min(EXACT), "maximum": max.min(EXACT) }),
        Kind::Factor => json!({
            "anyOf": [
                { "type": "number", "minimum": thousandths(min), "maximum": thousandths(max) },
                { "type": "string", "pattern": units::pattern(kind) },
            ],
        }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Cpus => list(
            &json!({ "type": ["integer", "string"], "minimum": 0, "pattern": units::pattern(kind) }),
            kind,
        ),
        Kind::Counts => list(&json!({ "type": "integer", "minimum": min, "maximum": max.min(EXACT) }), kind),
        // `of_one` leaves none.
        Kind::PerApp(_) => json!({}),
    }
}

/// A list: as one, as a text, or a single number.
fn list(item: &Value, kind: Kind) -> Value {
    json!({
        "anyOf": [
            { "type": "string", "pattern": units::pattern(kind) },
            { "type": "integer", "minimum": 0 },
            { "type": "array", "minItems": 1, "items": item },
        ],
    })
}

fn thousandths(value: u64) -> f64 {
    value.min(EXACT) as f64 / 1_000.0
}

fn count(about: &str, min: u64) -> Value {
    json!({ "type": "integer", "minimum": min, "description": about })
}

fn duration(about: &str) -> Value {
    json!({ "type": "string", "pattern": units::pattern(Kind::Duration), "description": about })
}
