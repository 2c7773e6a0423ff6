//! When applications and their copies arrive, and whether they are ever admitted.

use std::collections::BTreeMap;
use std::sync::Arc;

use notation::diagnostics::Place;
use notation::yaml::Node;
use sim_core::admission::{Admission, StartOrder};
use sim_core::ids::AppId;
use sim_core::program::{AppSpec, Objects};
use sim_core::rng::{Purpose, draw, exponential, key};
use sim_core::time::{Span, Time};
use workloads::program::{Bases, Linked};

use crate::Reader;
use crate::apps::App;
use crate::keys::Scenario;
use crate::limits::MAX_HORIZON_NS;
use crate::nested::Arrival;

/// Notes applications that would never be admitted, or that lack what the order of the queue needs.
pub(crate) fn check_admission(
    reader: &mut Reader,
    scenario: &Scenario<'_>,
    apps: &[App],
    admission: Admission,
) {
    let written = scenario.apps.node().map_or(&[][..], Node::entries);
    let place = |app: &App| written.get(app.entry).map_or(Place::NONE, |entry| entry.place);
    let mut told = None;
    for app in apps.iter().filter(|app| !app.spec.background) {
        let tasks = u64::from(app.spec.tasks);
        if tasks > admission.tasks {
            let name = &app.spec.name;
            let message = format!("`{name}` has {tasks} tasks; `admission` allows {}", admission.tasks);
            reader.wrong_with_hint(place(app), message, "it would never start");
        }
        // The kinds of a program have one estimate.
        if admission.order == StartOrder::Easy && app.spec.estimate.is_none() && told != Some(app.entry) {
            told = Some(app.entry);
            let name = written.get(app.entry).map_or(app.spec.name.as_str(), |entry| &entry.key);
            let message = format!("`{name}` has no `estimate`; `order: easy` of `admission` plans with it");
            let hint = "add `estimate: 10min`, the run time that its user states";
            reader.wrong_with_hint(place(app), message, hint);
        }
    }
}

/// All applications of a run with this seed, copies written out, and for each which application of the
/// scenario it is a copy of, with the objects of their programs. Copies of `cg` are called `cg-1`, `cg-2` and
/// so on. The kinds of a program arrive together.
pub(crate) fn expand(apps: &[App], programs: &Linked, seed: u64) -> (Vec<AppSpec>, Vec<usize>, Arc<Objects>) {
    let mut placed = programs.begin();
    // Where the objects of each copy of a program begin.
    let mut bases: BTreeMap<(usize, u32), Bases> = BTreeMap::new();
    // The first kind of each application of the file.
    let mut first: BTreeMap<usize, usize> = BTreeMap::new();
    let (mut specs, mut entries): (Vec<AppSpec>, Vec<usize>) = (Vec::new(), Vec::new());
    // The last copy of each application so far.
    let mut last: Vec<AppId> = Vec::new();
    for (at, app) in apps.iter().enumerate() {
        let after = app.after.and_then(|before| last.get(before).copied());
        let mut start = app.spec.start;
        let key = key(seed, Purpose::Arrival, *first.entry(app.entry).or_insert(at) as u64);
        for copy in 0..app.copies.count {
            let mut spec = AppSpec { start, after, ..app.spec.clone() };
            if app.copies.count > 1 {
                spec.name = format!("{}-{}", app.spec.name, copy + 1);
            }
            if app.copies.arrival == Arrival::Queue && copy > 0 {
                spec.start = Time::ZERO;
                spec.after = Some(AppId(specs.len() as u32 - 1));
            }
            if let Some(of) = &app.kind {
                let suffix = if app.copies.count > 1 { format!("-{}", copy + 1) } else { String::new() };
                let place = || programs.place(&mut placed, of.program, &suffix, start);
                let bases = *bases.entry((of.program, copy)).or_insert_with(place);
                // It has been compiled once with other numbers.
                if let Ok(program) = of.kind.program(bases) {
                    spec.program = Arc::new(program);
                }
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
    (specs, entries, Arc::new(placed.objects))
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
