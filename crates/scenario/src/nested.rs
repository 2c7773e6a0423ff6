//! Keys of the mappings inside keys of scenarios and applications: changes of affinity, admission, arrivals.

use notation::yaml::{Content, Node};
use policies::PolicyRegistry;
use serde_json::{Value as Json, json};
use sim_core::admission::Admission;
use sim_core::limits::{MAX_APPS, MAX_TASKS};
use sim_core::machine::CpuSet;
use sim_core::time::Span;

use crate::Reader;
use crate::forms::{Count, Cpus, Duration, QueueOrder};
use crate::key::{Form, Inside, Key, Value, keys, names, properties};
use crate::limits::MAX_HORIZON_NS;

keys! {
    /// A change of the affinity masks of an application as written.
    struct Rebind

    /// Time after the start of the application.
    at: Duration<0, MAX_HORIZON_NS> {}

    /// The cpus from then on.
    cpus: Cpus {}
}

keys! {
    /// The admission as written.
    struct Limits

    /// Largest number of applications.
    jobs: Count<1, { MAX_APPS as u64 }> {}

    /// Largest number of their tasks.
    threads: Count<1, MAX_TASKS> {}

    /// Which of those that wait starts next: `fcfs`, first come, first served (default), or `easy`, in which
    /// a later one starts first if it does not delay the first one by the estimates of all (EASY
    /// backfilling).
    order: QueueOrder {}
}

keys! {
    /// The intervals between copies as written: one of them.
    struct Intervals

    /// At fixed intervals.
    every: Duration<0, MAX_HORIZON_NS> {}

    /// At exponentially distributed intervals with this mean, drawn from the seed.
    mean: Duration<0, MAX_HORIZON_NS> {}
}

/// Changes of affinity masks with their times.
pub(crate) struct Rebinds;

impl Form for Rebinds {
    fn schema(key: &Key, policies: &PolicyRegistry) -> Json {
        json!({
            "type": "array",
            "description": key.about(),
            "items": {
                "type": "object",
                "required": ["at", "cpus"],
                "additionalProperties": false,
                "properties": properties(Rebind::KEYS, policies),
            },
        })
    }
}

impl Value for Rebinds {
    type Read = Vec<(Span, CpuSet)>;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self::Read> {
        let hint = "write `[{ at: 100ms, cpus: '0-3' }]`";
        let Content::List(changes) = &node.content else {
            reader.wrong_node(node, format!("{what} must be a list, not {}", node.what()), hint);
            return None;
        };
        let mut read = Vec::new();
        for change in changes {
            reader.mapping(change, "a change of affinity", &names(Rebind::KEYS))?;
            let written = Rebind::of(change);
            let (at, cpus) = (written.at.given(reader)?, written.cpus.given(reader)?);
            let Some(both) = at.zip(cpus) else {
                reader.wrong_node(change, "a change of affinity has a time and cpus", hint);
                return None;
            };
            read.push(both);
        }
        Some(read)
    }
}

/// How many applications and tasks are admitted at once.
pub(crate) struct Admitted;

impl Form for Admitted {
    const INSIDE: Inside = Inside::Keys(Limits::KEYS);

    fn schema(key: &Key, policies: &PolicyRegistry) -> Json {
        json!({
            "type": "object",
            "additionalProperties": false,
            "description": key.about(),
            "properties": properties(Limits::KEYS, policies),
        })
    }
}

impl Value for Admitted {
    type Read = Admission;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Admission> {
        reader.mapping(node, what, &names(Limits::KEYS))?;
        let limits = Limits::of(node);
        let (jobs, tasks) = (limits.jobs.given(reader), limits.threads.given(reader));
        let order = limits.order.given(reader);
        if let (Some(place), None, None) = (limits.order.place(), limits.jobs.node(), limits.threads.node()) {
            let message = format!("{what} has an order and no limit, so that nothing waits");
            reader.wrong_with_hint(place, message, "add `threads: 16` or `jobs: 2`");
            return None;
        }
        let unlimited = Admission::UNLIMITED;
        Some(Admission {
            jobs: jobs?.map_or(unlimited.jobs, |jobs| jobs as u32),
            tasks: tasks?.unwrap_or(unlimited.tasks),
            order: order?.unwrap_or_default(),
        })
    }
}

/// When the copies of an application arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    /// All at its `start`.
    Together,
    /// The first at its `start`, then one each interval.
    Every(Span),
    /// The first at its `start`, then at exponentially distributed intervals of this mean.
    Random(Span),
    /// The first at its `start`, each other one when the one before it has ended.
    Queue,
}

/// The arrival of copies.
pub(crate) struct Arrivals;

impl Form for Arrivals {
    const INSIDE: Inside = Inside::Either(Intervals::KEYS);

    fn schema(key: &Key, policies: &PolicyRegistry) -> Json {
        let mut any =
            vec![json!({ "enum": ["queue"], "description": "Each copy when the previous one has ended." })];
        any.extend(Intervals::KEYS.chunks(1).map(|one| {
            json!({
                "type": "object",
                "required": names(one),
                "additionalProperties": false,
                "properties": properties(one, policies),
            })
        }));
        json!({ "description": key.about(), "anyOf": any })
    }
}

impl Value for Arrivals {
    type Read = Arrival;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Arrival> {
        let hint = "write `{ every: 10s }`, `{ mean: 10s }` (exponential) or `queue` (one after the other)";
        match &node.content {
            Content::Scalar(word) if word == "queue" => Some(Arrival::Queue),
            Content::Map(entries) if entries.len() == 1 => {
                reader.mapping(node, what, &names(Intervals::KEYS))?;
                let intervals = Intervals::of(node);
                let (every, mean) = (intervals.every.given(reader)?, intervals.mean.given(reader)?);
                // Without either the key is unknown, which has been noted.
                let interval = every.map(Arrival::Every).or_else(|| mean.map(Arrival::Random));
                Some(interval.unwrap_or(Arrival::Together))
            }
            _ => {
                reader.wrong_node(node, format!("{what} must be `every`, `mean` or `queue`"), hint);
                None
            }
        }
    }
}
