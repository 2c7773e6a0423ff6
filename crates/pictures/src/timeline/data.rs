//! A timeline as JSON, for pages that draw it themselves.

use serde_json::{Value, json};

use crate::timeline::record::{Cell, Recording};
use crate::timeline::states::{Owner, State};
use crate::timeline::{Timeline, Track};
use trace::slices::Occupant;

/// A timeline as one JSON object.
///
/// `message` is a sentence, `headline` the window and why it was chosen. Times are nanoseconds of simulated
/// time. `states` names the states, `apps` the applications, `rows` the rows with their node: mostly one
/// cpu each. Each of `runs` has the `label` of its track, its `facts`, `end_ns` (null when unknown),
/// `slices` and `marks`.
///
/// A slice is `[row, from, to, thread, app, parts]`: `thread` is the rank in its application, and `thread`
/// and `app` are -1 where there is not exactly one. Its parts are `[state, nanoseconds, app, thread]`,
/// stacked from below; with `thread` -1 a part may be of several threads. A mark has `at_ns`, a `kind`
/// (`barrier`, `migration`, `decision`, `end`) and `text`; migrations also have the rows `from` and `to`
/// (null where not shown), barriers and ends an `app`.
#[must_use]
pub fn data(timeline: &Timeline) -> Value {
    let rows: Vec<Value> = timeline
        .rows
        .iter()
        .map(|row| json!({"name": row.name, "node": row.group, "cpus": row.cpus}))
        .collect();
    json!({
        "message": timeline.message(),
        "headline": timeline.headline(),
        "from_ns": timeline.window.from,
        "to_ns": timeline.window.to,
        "states": states().map(State::name).collect::<Vec<_>>(),
        "coloured": states().map(State::coloured).collect::<Vec<_>>(),
        "apps": timeline.apps,
        "threads": timeline.threads,
        "rows": rows,
        "runs": timeline.tracks.iter().map(|track| run(timeline, track)).collect::<Vec<Value>>(),
    })
}

/// The states of cpus: a part names one by its position among them.
fn states() -> impl Iterator<Item = State> {
    State::ALL.into_iter().filter(|state| state.on_cpu())
}

fn run(timeline: &Timeline, track: &Track) -> Value {
    let rows = track.recording.rows.iter().enumerate();
    let slices: Vec<Value> =
        rows.flat_map(|(row, cells)| cells.iter().map(move |cell| slice(track, row, cell))).collect();
    json!({
        "label": track.label,
        "facts": timeline.facts(track),
        "end_ns": track.end,
        "completed": track.completed,
        "slices": slices,
        "marks": marks(&track.recording, &timeline.apps),
    })
}

fn slice(track: &Track, row: usize, cell: &Cell) -> Value {
    let who = cell.slice.map(|slice| slice.who);
    let task = who.and_then(Occupant::task);
    let app = who.and_then(|who| who.app(&track.owners)).map_or(-1, |app| i64::from(app.0));
    let thread = task.map_or(-1, |task| i64::from(track.owners.rank(task)));
    let parts: Vec<Value> = cell
        .mix
        .parts()
        .map(|(owner, state, ns)| {
            let (app, thread) = match owner {
                Owner::App(app) => (i64::from(app), -1),
                Owner::Thread(rank) => (0, i64::from(rank)),
                Owner::Several | Owner::Nobody => (-1, -1),
            };
            json!([state as u8, ns, app, thread])
        })
        .collect();
    json!([row, cell.from, cell.to, thread, app, parts])
}

/// The marks of a run, in order of time.
fn marks(recording: &Recording, apps: &[String]) -> Vec<Value> {
    let name = |app: u32| apps.get(app as usize).map_or("", String::as_str);
    let mut marks: Vec<(u64, Value)> = Vec::new();
    for (app, completed) in &recording.barriers {
        for barrier in completed {
            let text = match barrier.count {
                1 => format!("barrier of {} complete", name(*app)),
                count => format!("{count} barriers of {} complete", name(*app)),
            };
            marks.push((
                barrier.at,
                json!({"at_ns": barrier.at, "kind": "barrier", "app": app, "text": text}),
            ));
        }
    }
    for moved in &recording.moves {
        let (at, from, to) = (moved.at, moved.from, moved.to);
        marks.push((
            at,
            json!({"at_ns": at, "kind": "migration", "from": from, "to": to, "text": moved.text}),
        ));
    }
    for note in &recording.notes {
        marks.push((note.at, json!({"at_ns": note.at, "kind": "decision", "text": note.text})));
    }
    for (app, at) in &recording.ends {
        let text = format!("{} ends", name(app.0));
        marks.push((*at, json!({"at_ns": at, "kind": "end", "app": app.0, "text": text})));
    }
    marks.sort_by_key(|(at, _)| *at);
    marks.into_iter().map(|(_, mark)| mark).collect()
}
