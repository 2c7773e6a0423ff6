//! The text of a machine file that holds what a machine has.

use notation::lists;
use notation::parameter::Kind;
use notation::text::hanging;

use crate::datum::{Datum, MAX_ABOUT, MAX_LINE, line, quoted};
use crate::entry::{Entry, Note};
use crate::parameters::{GENERIC_NOTES, generic_values};

/// Columns of the comment.
const WIDTH: usize = 110;

/// The text: a comment, and all of the machine but what is the default of every machine of its shape.
pub(super) fn machine_file(entry: &Entry, comment: &[String]) -> String {
    let mut text = String::new();
    for paragraph in comment {
        for line in hanging(paragraph, ["# ", "# "], WIDTH) {
            text += &notation::neutral::line(&line);
            text.push('\n');
        }
    }
    text += &format!("name: {}\n", quoted(&entry.name, MAX_LINE));
    text += &format!("summary: {}\n", quoted(&entry.summary, MAX_LINE));
    if !entry.about.is_empty() {
        text += &format!("about: {}\n", quoted(&entry.about, MAX_ABOUT));
    }
    if let Some(kernel) = &entry.kernel {
        text += &plain(entry, "", "kernel", "kernel", quoted(kernel, MAX_LINE));
    }
    text += &plain(entry, "", "topology", "topology", quoted(&entry.topology_text, MAX_LINE));
    for (heading, lines) in [("values", values(entry)), ("lists", all_lists(entry))] {
        if !lines.is_empty() {
            text += &format!("{heading}:\n{lines}");
        }
    }
    text
}

fn note<'a>(entry: &'a Entry, name: &str) -> Option<&'a Note> {
    entry.notes.iter().find(|note| note.parameter == name)
}

/// A line without range.
fn plain(entry: &Entry, indent: &str, name: &'static str, noted: &str, value: String) -> String {
    let note = note(entry, noted);
    let source = note.map_or_else(
        || "a description, given to `oversim machine set`".to_owned(),
        |note| note.source.clone(),
    );
    line(indent, &Datum { name, value, source, uncertain: note.is_some_and(|note| note.uncertain) }, None)
}

fn values(entry: &Entry) -> String {
    let generic = generic_values(&entry.topology);
    // A machine that is a description has the sources of the defaults as they are.
    let described = note(entry, "topology").is_none();
    let mut text = String::new();
    for parameter in entry.values.table() {
        let (Some(note), Some(value)) = (note(entry, parameter.name), entry.values.number(parameter.name))
        else {
            continue;
        };
        let common = GENERIC_NOTES.iter().any(|(name, source, _)| {
            let given =
                if described { Some(note.source.as_str()) } else { note.source.strip_prefix(GENERIC) };
            *name == parameter.name && given == Some(*source)
        });
        if common && generic.number(parameter.name) == Some(value) {
            continue;
        }
        let shown = |value| parameter.kind.show(value);
        let range = note.range.filter(|_| note.uncertain).map(|(low, high)| [shown(low), shown(high)]);
        let datum = Datum {
            name: parameter.name,
            value: shown(value),
            source: note.source.clone(),
            uncertain: note.uncertain,
        };
        text += &line("  ", &datum, range.as_ref());
    }
    text
}

/// How the source of a value begins that a machine file leaves out.
const GENERIC: &str = "default for a present-day server: ";

fn all_lists(entry: &Entry) -> String {
    let lists = &entry.lists;
    let factors = |row: &[u32]| {
        let row: Vec<String> = row.iter().map(|factor| Kind::Factor.show((*factor).into())).collect();
        format!("[{}]", row.join(", "))
    };
    let rows = |rows: Vec<String>| format!("[{}]", rows.join(", "));
    let mut text = String::new();
    let mut add = |name, noted: &str, value| text += &plain(entry, "  ", name, noted, value);
    if !lists.distances.is_empty() {
        let nodes = lists.distances.len().isqrt().max(1);
        add("distances", "lists.distances", rows(lists.distances.chunks(nodes).map(factors).collect()));
    }
    match lists.turbo.as_slice() {
        [] => {}
        [row] => add("turbo", "lists.turbo", factors(row)),
        all => add("turbo", "lists.turbo", rows(all.iter().map(|row| factors(row)).collect())),
    }
    if !lists.core_speeds.is_empty() {
        add("core_speeds", "lists.core_speeds", factors(&lists.core_speeds));
    }
    if !lists.cpu_numbers.is_empty() {
        let numbers = lists::ranges(lists.cpu_numbers.iter().copied());
        add("cpu_numbers", "lists.cpu_numbers", format!("\"{numbers}\""));
    }
    let show = |time: &u64| Kind::Duration.show(*time);
    let pair = |(idle, cost): &(u64, u64)| format!("[{}, {}]", show(idle), show(cost));
    for (key, note, list) in [
        ("idle_exit", "lists.idle_exit", &lists.idle_exit),
        ("wake_remote", "lists.wake_remote", &lists.wake_remote),
    ] {
        if !list.is_empty() {
            add(key, note, rows(list.iter().map(pair).collect()));
        }
    }
    text
}
