//! When applications arrive: copies and their intervals, chains, and how many are admitted at once.

use notation::diagnostics::Place;
use notation::parameter::Kind;
use notation::yaml::{Content, Entry, Node};
use sim_core::ids::AppId;
use sim_core::limits::{MAX_APPS, MAX_TASKS};
use sim_core::outcome::Admission;
use sim_core::program::AppSpec;
use sim_core::rng::{Purpose, draw, exponential, key};
use sim_core::time::{Span, Time};

use crate::apps::App;
use crate::reader::Reader;
use crate::resolve::MAX_HORIZON_NS;

/// Keys of `admission`.
pub(crate) const ADMISSION_KEYS: [&str; 2] = ["jobs", "threads"];
/// Keys of `arrival`.
const ARRIVAL_KEYS: [&str; 2] = ["every", "mean"];

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

/// How often an application runs, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Copies {
    pub(crate) count: u32,
    pub(crate) arrival: Arrival,
}

/// Reads `copies` and `arrival` of an application.
pub(crate) fn copies(reader: &mut Reader, node: &Node) -> Option<Copies> {
    let count = node
        .get("copies")
        .map_or(Some(1), |entry| reader.value(&entry.value, "`copies`", Kind::Count, 1, MAX_APPS as u64));
    let arrival = match node.get("arrival") {
        None => Some(Arrival::Together),
        Some(entry) => arrival(reader, &entry.value),
    };
    if let (Some(1), Some(entry)) = (count, node.get("arrival"))
        && node.get("copies").is_none()
    {
        let hint = "add `copies: 10`; a single one arrives at its `start`";
        reader.wrong_with_hint(entry.place, "`arrival` applies to copies, and there is only one", hint);
    }
    Some(Copies { count: count? as u32, arrival: arrival? })
}

fn arrival(reader: &mut Reader, node: &Node) -> Option<Arrival> {
    let hint = "write `{ every: 10s }`, `{ mean: 10s }` (exponential) or `queue` (one after the other)";
    match &node.content {
        Content::Scalar(word) if word == "queue" => Some(Arrival::Queue),
        Content::Map(entries) if entries.len() == 1 => {
            let entry = &reader.mapping(node, "`arrival`", &ARRIVAL_KEYS)?[0];
            let what = format!("`{}`", entry.key);
            let span = reader.value(&entry.value, &what, Kind::Duration, 0, MAX_HORIZON_NS)?;
            let span = Span::from_ns(span);
            Some(if entry.key == "every" { Arrival::Every(span) } else { Arrival::Random(span) })
        }
        _ => {
            reader.wrong_node(node, "`arrival` must be `every`, `mean` or `queue`", hint);
            None
        }
    }
}

/// The application that `after` names: the file lists it first, and its end is defined.
pub(crate) fn predecessor(reader: &mut Reader, entry: &Entry, earlier: &[App]) -> Option<usize> {
    let name = reader.text(&entry.value, "`after`")?;
    let Some(at) = earlier.iter().position(|app| app.spec.name == name) else {
        let known: Vec<&str> = earlier.iter().map(|app| app.spec.name.as_str()).collect();
        let hint = match known.as_slice() {
            [] => "this is the first application of the file".to_owned(),
            _ => format!(
                "`after` names an application that the file lists before this one: {}",
                known.join(", ")
            ),
        };
        reader.wrong_node(&entry.value, format!("no application `{name}` is listed before this one"), hint);
        return None;
    };
    let before = &earlier[at];
    if before.spec.background {
        reader.wrong_node(
            &entry.value,
            format!("`{name}` is a background application: it may never end"),
            "",
        );
        return None;
    }
    if before.copies.count > 1 && before.copies.arrival != Arrival::Queue {
        let message = format!("`{name}` has copies that run at the same time, so no copy is the last one");
        reader.wrong_node(
            &entry.value,
            message,
            "give them `arrival: queue`, so that they run one after the other",
        );
        return None;
    }
    Some(at)
}

/// Reads `admission`; without it everybody starts on arrival.
pub(crate) fn admission(reader: &mut Reader, root: &Node) -> Option<Admission> {
    let Some(entry) = root.get("admission") else {
        return Some(Admission::UNLIMITED);
    };
    reader.mapping(&entry.value, "`admission`", &ADMISSION_KEYS)?;
    let mut limit = |key: &str, most: u64| match entry.value.get(key) {
        None => Some(None),
        Some(found) => reader.value(&found.value, &format!("`{key}`"), Kind::Count, 1, most).map(Some),
    };
    let (jobs, tasks) = (limit("jobs", MAX_APPS as u64), limit("threads", MAX_TASKS));
    let unlimited = Admission::UNLIMITED;
    Some(Admission {
        jobs: jobs?.map_or(unlimited.jobs, |jobs| jobs as u32),
        tasks: tasks?.unwrap_or(unlimited.tasks),
    })
}

/// Notes applications that would never be admitted.
pub(crate) fn check_admission(reader: &mut Reader, root: &Node, apps: &[App], admission: Admission) {
    let place = |name: &str| {
        let apps = root.get("apps").map(|apps| &apps.value);
        apps.and_then(|apps| apps.get(name)).map_or(Place::NONE, |entry| entry.place)
    };
    for app in apps.iter().filter(|app| !app.spec.background) {
        let tasks = u64::from(app.spec.tasks);
        if tasks > admission.tasks {
            let name = &app.spec.name;
            let message = format!("`{name}` has {tasks} tasks; `admission` allows {}", admission.tasks);
            reader.wrong_with_hint(place(name), message, "it would never start");
        }
    }
}

/// All applications of a run with this seed, copies written out, and for each which application of the scenario it is a
/// copy of. Copies of `cg` are called `cg-1`, `cg-2` and so on.
pub(crate) fn expand(apps: &[App], seed: u64) -> (Vec<AppSpec>, Vec<usize>) {
    let (mut specs, mut entries): (Vec<AppSpec>, Vec<usize>) = (Vec::new(), Vec::new());
    // The last copy of each application so far.
    let mut last: Vec<AppId> = Vec::new();
    for (at, app) in apps.iter().enumerate() {
        let after = app.after.and_then(|before| last.get(before).copied());
        let mut start = app.spec.start;
        let key = key(seed, Purpose::Arrival, at as u64);
        for copy in 0..app.copies.count {
            let mut spec = AppSpec { start, after, ..app.spec.clone() };
            if app.copies.count > 1 {
                spec.name = format!("{}-{}", app.spec.name, copy + 1);
            }
            if app.copies.arrival == Arrival::Queue && copy > 0 {
                spec.start = Time::ZERO;
                spec.after = Some(AppId(specs.len() as u32 - 1));
            }
            specs.push(spec);
            entries.push(at);
            start = start.saturating_add(match app.copies.arrival {
                Arrival::Together | Arrival::Queue => Span::ZERO,
                Arrival::Every(span) => span,
                Arrival::Random(mean) => {
                    Span::from_ns(exponential(mean.ns(), draw(key, u64::from(copy))).min(MAX_HORIZON_NS))
                }
            });
        }
        last.push(AppId(specs.len() as u32 - 1));
    }
    (specs, entries)
}

/// When the last copy of an application arrives at the earliest, as far as that is certain.
pub(crate) fn last_arrival(app: &App) -> Time {
    match app.copies.arrival {
        Arrival::Every(span) => {
            let intervals = u64::from(app.copies.count - 1);
            app.spec.start.saturating_add(Span::from_ns(span.ns().saturating_mul(intervals)))
        }
        _ => app.spec.start,
    }
}
