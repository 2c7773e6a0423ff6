//! Control groups as written: their paths, weights and limits.

use notation::diagnostics::Place;
use notation::yaml::{Content, Entry, Node};
use policies::PolicyRegistry;
use serde_json::{Value as Json, json};
use sim_core::os::Limit;
use sim_core::time::Span;

use crate::Reader;
use crate::forms::{Count, Duration};
use crate::key::{Form, Inside, Key, Value, keys, names, properties};

/// Weight of a session and of a control group without `weight`: that of a task of nice 0.
pub(crate) const WEIGHT: u32 = 1024;
/// Longest path, in characters.
const MAX_PATH: usize = 200;

keys! {
    /// A control group as written.
    struct ControlGroup

    /// Share of the cpu time beside its siblings, as `cpu.weight` of cgroup v2: 1 to 10,000 (default 100).
    weight: Count<1, 10_000> { default: "100" }

    /// Cpu time that the group may use in each period on all cpus together, as the first number of `cpu.max`
    /// of cgroup v2: 1 ms to 1,000 s (default: no limit).
    quota: Duration<{ Limit::QUOTAS.start().ns() }, { Limit::QUOTAS.end().ns() }> {}

    /// Period of the quota, as the second number of `cpu.max`: 1 ms to 1 s (default 100 ms, as in Linux).
    period: Duration<{ Limit::PERIODS.start().ns() }, { Limit::PERIODS.end().ns() }> { default: "100ms" }

    /// What of the quotas of earlier periods may be used on top of the present one, as `cpu.max.burst`, at
    /// most the quota (default: nothing). Kernels have it since Linux 5.14.
    burst: Duration<0, { Limit::QUOTAS.end().ns() }> {}
}

/// A control group as read.
pub(crate) struct Declared {
    pub(crate) path: String,
    pub(crate) place: Place,
    pub(crate) weight: u32,
    pub(crate) limit: Option<Limit>,
    /// Where its burst is written.
    pub(crate) burst: Option<Place>,
}

/// Control groups by path.
pub(crate) struct ControlGroups;

impl Form for ControlGroups {
    const INSIDE: Inside = Inside::Named(ControlGroup::KEYS);

    fn schema(key: &Key, policies: &PolicyRegistry) -> Json {
        json!({
            "type": "object",
            "description": key.about(),
            "additionalProperties": {
                "type": "object",
                "additionalProperties": false,
                "properties": properties(ControlGroup::KEYS, policies),
            },
        })
    }
}

impl Value for ControlGroups {
    type Read = Vec<Declared>;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self::Read> {
        let Content::Map(entries) = &node.content else {
            let hint = "write `cgroups: { batch: { weight: 50 } }`";
            reader.wrong_node(node, format!("{what} must be a mapping, not {}", node.what()), hint);
            return None;
        };
        let read: Vec<_> = entries.iter().map(|entry| declared(reader, entry)).collect();
        read.into_iter().collect()
    }
}

fn declared(reader: &mut Reader, entry: &Entry) -> Option<Declared> {
    let path = path(reader, entry.place, &entry.key);
    reader.mapping(&entry.value, "a control group", &names(ControlGroup::KEYS))?;
    let written = ControlGroup::of(&entry.value);
    let weight = written.weight.read(reader);
    let (quota, period) = (written.quota.given(reader), written.period.read(reader));
    if let (None, Some(place)) = (written.quota.place(), written.period.place()) {
        let hint = "add `quota`, the cpu time in each period";
        reader.wrong_with_hint(place, "a period without a quota limits nothing", hint);
        return None;
    }
    let burst = written.burst.given(reader);
    let (quota, period, burst) = (quota?, period?, burst?);
    if let Some(place) = written.burst.place()
        && burst > quota
    {
        let hint = "Linux accepts at most the quota (cpu.max.burst)";
        reader.wrong_with_hint(place, "a burst is part of a `quota` that is at least as large", hint);
        return None;
    }
    Some(Declared {
        path: path?,
        place: entry.place,
        // As `sched_weight_from_cgroup`: 100 is the weight of nice 0.
        weight: ((weight? * u64::from(WEIGHT) + 50) / 100) as u32,
        limit: quota.map(|quota| Limit { quota, period, burst: burst.unwrap_or(Span::ZERO) }),
        burst: written.burst.place(),
    })
}

/// The path of a control group in a hierarchy, as `batch/low`.
pub(crate) struct GroupPath;

impl Form for GroupPath {
    fn schema(_: &Key, _: &PolicyRegistry) -> Json {
        json!({ "type": "string", "pattern": "^[A-Za-z0-9_.@:-]+(/[A-Za-z0-9_.@:-]+)*$" })
    }
}

impl Value for GroupPath {
    type Read = String;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<String> {
        let text = reader.text(node, what)?;
        path(reader, node.place, text)
    }
}

fn path(reader: &mut Reader, place: Place, text: &str) -> Option<String> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | ':');
    let part = |part: &str| !part.is_empty() && part.chars().all(good);
    if text.split('/').all(part) && text.chars().count() <= MAX_PATH {
        return Some(text.to_owned());
    }
    let hint = "names of letters, digits, `_`, `-`, `.`, `@` and `:`, with `/` between them: `batch/low`";
    reader.wrong_with_hint(place, format!("`{text}` is not a valid path of a control group"), hint);
    None
}
