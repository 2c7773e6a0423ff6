//! The policies of a case: any of the registry with legal parameters, alone, stacked and disturbed.

use notation::parameter::Kind;
use policies::{ALL, Entry, Level, Perturbation, TaskGroups};
use serde_json::{Map, Value, json};

use super::source::Source;
use super::values::{Frame, Limit, duration, settings, sparse};
use crate::house;

/// What the rest of the scenario allows.
pub(super) struct Beside<'a> {
    /// Cpus of the machine.
    pub(super) cpus: u64,
    /// Its cores.
    pub(super) cores: u64,
    /// Names of the applications.
    pub(super) apps: &'a [String],
    /// Applications may be in task groups.
    pub(super) groups: bool,
    /// The affinity of applications may change.
    pub(super) rebinds: bool,
}

impl Beside<'_> {
    fn allows(&self, entry: &Entry) -> bool {
        !(self.groups && entry.task_groups != TaskGroups::Kept || self.rebinds && entry.name == "DWRR")
    }
}

/// One policy or a few, and the shortest time in their parameters, in nanoseconds.
pub(super) fn policies(source: &mut Source<'_>, beside: &Beside<'_>) -> (Value, u64) {
    let count = *source.pick(&[1, 1, 1, 2, 3]);
    let mut shortest = u64::MAX;
    let list = (0..count).map(|number| {
        let all: Vec<&Entry> = ALL.iter().filter(|entry| beside.allows(entry)).collect();
        let entry = *source.pick(&all);
        let mut item = one(source, entry, beside, &mut shortest);
        if entry.level == Level::UserLevel && source.one_in(3) {
            let below: Vec<&Entry> = all.into_iter().filter(|entry| entry.level == Level::InKernel).collect();
            let below = *source.pick(&below);
            let over = one(source, below, beside, &mut shortest);
            item.insert("over".into(), bare(below, over));
        }
        if count > 1 {
            item.insert("as".into(), json!(format!("p{number}")));
        }
        bare(entry, item)
    });
    (Value::Array(list.collect()), shortest)
}

/// Orders by formula of the repository, and settings of theirs.
const ORDERS: [&str; 3] = ["interactive", "short_bursts", "short_slices"];

/// One case in twelve gets an order by formula as a further policy, where no application is in a group or a
/// class, which `sched_ext` takes over. It comes last, so that what a seed draws besides stays as it was.
pub(super) fn add_file(source: &mut Source<'_>, root: &mut Map<String, Value>) {
    if source.below(12) != 7 {
        return;
    }
    let text = Value::Object(root.clone()).to_string();
    let taken = ["cgroup", "session", "scheduling", "slice", "autogroup", "best_partition"];
    if taken.iter().any(|key| text.contains(&format!("\"{key}\""))) {
        return;
    }
    let Some(Value::Array(list)) = root.get_mut("policies") else { return };
    let order = *source.pick(&ORDERS);
    let path = house::root().join(format!("examples/scx/{order}.order"));
    // Names of the others differ from this one only if there are several.
    list.push(json!({ path.display().to_string(): {}, "as": "order" }));
}

/// An item as its name alone when it has nothing else.
fn bare(entry: &Entry, item: Map<String, Value>) -> Value {
    let plain = item.len() == 1 && item.values().all(|value| value.as_object().is_some_and(Map::is_empty));
    if plain { json!(entry.name) } else { Value::Object(item) }
}

/// A policy with random parameters; one in eight comes late or not at all now and then.
fn one(
    source: &mut Source<'_>,
    entry: &Entry,
    beside: &Beside<'_>,
    shortest: &mut u64,
) -> Map<String, Value> {
    let limits: &[Limit] = &[("parts", 0, beside.cpus)];
    let frame = Frame { cpus: beside.cpus, apps: beside.apps, limits, sparse: sparse(source) };
    let mut parameters = settings(source, entry.parameters, &frame);
    if entry.name == "PARTITION" {
        divided(source, &mut parameters, beside);
    }
    let durations = entry.parameters.iter().filter(|p| p.kind == Kind::Duration);
    let periods = durations.filter(|p| p.min > 0 && !p.name.contains("cost"));
    for parameter in periods {
        let given = parameters.get(parameter.name).and_then(duration);
        *shortest = (*shortest).min(given.unwrap_or(parameter.default));
    }
    let mut item = Map::new();
    if source.one_in(8) {
        let limits: &[Limit] = &[("delay", 0, 3_000_000), ("jitter", 0, 3_000_000)];
        let frame = Frame { limits, sparse: 1, ..frame };
        item.insert("perturb".into(), Value::Object(settings(source, Perturbation::TABLE, &frame)));
    }
    item.insert(entry.name.to_owned(), Value::Object(parameters));
    item
}

/// A division of the cpus that is possible.
fn divided(source: &mut Source<'_>, parameters: &mut Map<String, Value>, beside: &Beside<'_>) {
    if parameters.contains_key("cores") {
        let mut left = beside.cores;
        let mut parts = Vec::new();
        while left > 0 && parts.len() < 3 {
            parts.push(source.between(1, left));
            left -= parts[parts.len() - 1];
        }
        parameters.insert("cores".into(), Value::from(parts));
        parameters.remove("parts");
        parameters.remove("cut");
    } else if beside.cpus < 16 && !parameters.contains_key("cut") {
        // There may be more applications than cpus.
        parameters.insert("cut".into(), json!("dynamic"));
    }
    if parameters.get("cut") == Some(&json!("static")) && beside.cpus < 16 {
        parameters.insert("parts".into(), json!(source.between(1, beside.cpus)));
    }
}
