//! When applications and their copies arrive, and whether they are ever admitted.

use notation::diagnostics::Place;
use sim_core::ids::AppId;
use sim_core::outcome::Admission;
use sim_core::program::AppSpec;
use sim_core::rng::{Purpose, draw, exponential, key};
use sim_core::time::{Span, Time};

use crate::Reader;
use crate::apps::App;
use crate::keys::{Arrival, Scenario};
use crate::limits::MAX_HORIZON_NS;

/// Notes applications that would never be admitted.
pub(crate) fn check_admission(
    reader: &mut Reader,
    scenario: &Scenario<'_>,
    apps: &[App],
    admission: Admission,
) {
    let place = |name: &str| {
        scenario.apps.node().and_then(|apps| apps.get(name)).map_or(Place::NONE, |entry| entry.place)
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

/// All applications of a run with this seed, copies written out, and for each which application of the
/// scenario it is a copy of. Copies of `cg` are called `cg-1`, `cg-2` and so on.
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
