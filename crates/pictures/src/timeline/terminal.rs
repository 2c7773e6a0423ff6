//! The timeline as text: a character per piece of time, in colour where the terminal has it, else with
//! letters.

use std::collections::{BTreeMap, BTreeSet};

use notation::neutral;
use notation::text::lines;

use crate::canvas::axis::times;
use crate::canvas::font::words;
use crate::timeline::palette::Palette;
use crate::timeline::record::{Cell, RowSpec};
use crate::timeline::runs::{Timeline, Track};
use crate::timeline::signs::{Class, DIGITS, Glyph, Script, line};
use crate::timeline::states::{Owner, State};

/// Columns for the names of rows: `node 0    12 `.
const GUTTER: usize = 12;
/// Narrower windows get lines that are cut by the terminal.
const LEAST: usize = 40;
/// Owners that no character shows and that are named.
const UNSEEN: usize = 4;
/// Below this share of the time shown, an owner that no character shows is not named.
const LITTLE: f64 = 0.0005;
/// The mark of a thread that is woken.
const WOKEN: char = '>';

/// Columns of the time axis in a window so many columns wide.
#[must_use]
pub fn columns(width: usize) -> u32 {
    (width.max(LEAST) - GUTTER) as u32
}

/// The name of a row in front of it; the first one of a group has that of the group, too.
fn name_of(timeline: &Timeline, row: &RowSpec, first: bool, common: &str) -> String {
    if !timeline.single_cpus() {
        let name: String = row.name.chars().take(GUTTER - 1).collect();
        return format!("{name:>width$} ", width = GUTTER - 1);
    }
    let room = if row.name.is_empty() { GUTTER - 1 } else { GUTTER - 6 };
    let group = timeline.group(row);
    let group = group.strip_prefix(common).unwrap_or(&group);
    let group: String = group.chars().take(if first { room } else { 0 }).collect();
    let width = GUTTER - 1 - group.chars().count().max(GUTTER - 5);
    format!("{group:<least$}{:>width$} ", row.name, least = GUTTER - 5)
}

/// What all names begin with up to a hyphen, if one of them is too long with it.
fn common_prefix(names: &[String]) -> String {
    let long = names.len() > 1 && names.iter().any(|name| name.chars().count() >= GUTTER);
    let Some((prefix, _)) = names.first().filter(|_| long).and_then(|name| name.rsplit_once('-')) else {
        return String::new();
    };
    let prefix = format!("{prefix}-");
    if names.iter().all(|name| name.starts_with(&prefix)) { prefix } else { String::new() }
}

/// Marks in the row of a thread where it is woken.
fn woken(glyphs: &mut [Glyph], timeline: &Timeline, track: &Track, row: usize, classes: &[Class]) {
    let columns = glyphs.len();
    for wake in track.recording.wakes.iter().filter(|wake| wake.to == row) {
        let at = column(timeline, wake.at, columns);
        // Sleep is what the mark may hide.
        let sleeps = |at: &usize| {
            matches!(classes[*at], Class::Without(State::Asleep | State::Blocked | State::Meets))
        };
        if let Some(at) = [Some(at), at.checked_sub(1)].into_iter().flatten().find(sleeps) {
            glyphs[at] = Glyph::plain(WOKEN);
        }
    }
}

/// The lane with the length of the queue of a row of cpus; none where it is always empty.
fn queue(timeline: &Timeline, track: &Track, row: usize, columns: usize) -> Option<String> {
    let sums = track.recording.queues.get(row)?;
    let cpus = timeline.rows.get(row)?.cpus.len().max(1) as u64;
    let means: Vec<u64> = sums.iter().map(|sum| sum / cpus).collect();
    means.iter().any(|sum| *sum > 0).then(|| lane_of("queued", &waiting(timeline, &means, columns)))
}

/// The timeline for a window of `width` columns, recorded for [`columns`] of that width; with colours for
/// terminals of 256, or without any. The title names the scenario and its configuration.
#[must_use]
pub fn text(timeline: &Timeline, title: &str, width: usize, colour: bool) -> String {
    let script = Script::new(timeline, colour);
    let width = width.max(LEAST);
    let mut lines: Vec<String> = Vec::new();
    wrap(&mut lines, &timeline.message(), width);
    for line in &mut lines {
        *line = script.bold(line);
    }
    wrap(&mut lines, &format!("{title}: {}", timeline.headline()), width);
    let mut seen = BTreeSet::new();
    for track in &timeline.tracks {
        lines.push(String::new());
        let at = lines.len();
        wrap(&mut lines, &format!("{}: {}", track.label, timeline.facts(track)), width);
        if let Some(rest) = lines[at].strip_prefix(&track.label) {
            lines[at] = script.bold(&track.label) + rest;
        }
        body(&mut lines, &mut seen, timeline, track, &script, width);
    }
    scale(&mut lines, timeline, width);
    lines.push(String::new());
    legend(&mut lines, timeline, &seen, &script, width);
    // The names come from files.
    let text = lines.join("\n") + "\n";
    if colour { neutral::coloured(&text) } else { neutral::lines(&text).into_owned() }
}

/// Rows and lanes of a run; the classes in them are added to those seen.
fn body(
    lines: &mut Vec<String>,
    seen: &mut BTreeSet<Class>,
    timeline: &Timeline,
    track: &Track,
    script: &Script,
    width: usize,
) {
    let columns = columns(width) as usize;
    let at = |ns: u64| column(timeline, ns, columns);
    let mut own = BTreeSet::new();
    for (app, barriers) in &track.recording.barriers {
        let name: String = timeline.app(*app as usize).chars().take(GUTTER - 4).collect();
        let counts = barriers.iter().map(|completed| (at(completed.at), completed.count));
        lines.push(counted(&format!("{name} ╷"), columns, counts, '╷'));
    }
    for (app, waits) in track.recording.locks.iter().filter(|_| !timeline.by_threads) {
        let name: String = timeline.app(*app as usize).chars().take(GUTTER - 6).collect();
        lines.push(lane_of(&format!("{name} lock"), &waiting(timeline, waits, columns)));
    }
    let mut before = None;
    let common = common_prefix(&timeline.apps);
    for (at_row, (row, cells)) in timeline.rows.iter().zip(&track.recording.rows).enumerate() {
        let name = name_of(timeline, row, before != Some(row.group), &common);
        before = Some(row.group);
        let classes = classes(cells, columns, timeline);
        let mut glyphs = match track.recording.places.get(at_row) {
            Some(places) => script.placed(&classes, places),
            None => script.glyphs(&classes),
        };
        woken(&mut glyphs, timeline, track, at_row, &classes);
        lines.push(name + &line(&glyphs));
        own.extend(classes);
        if timeline.queues && timeline.shows_queues() {
            lines.extend(queue(timeline, track, at_row, columns));
        }
    }
    let mut unseen = if timeline.by_threads { Vec::new() } else { unseen(timeline, track, &own) };
    if !unseen.is_empty() {
        let more = unseen.len().saturating_sub(UNSEEN);
        unseen.truncate(UNSEEN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        wrap(lines, &format!("In no character, but there: {}{more}.", unseen.join(", ")), width);
    }
    seen.extend(own);
    if !track.recording.moves.is_empty() {
        let moves = track.recording.moves.iter().map(|moved| (at(moved.at), 1));
        lines.push(counted("migrations", columns, moves, '1'));
    }
}

/// The mean number of tasks that wait for locks in each column: a dot below a half, `+` for ten and more.
fn waiting(timeline: &Timeline, waits: &[u64], columns: usize) -> Vec<char> {
    let length = (timeline.window.to - timeline.window.from) as f64 / columns.max(1) as f64;
    let sign = |ns: &u64| match *ns as f64 / length {
        mean if mean <= 0.0 => ' ',
        mean if mean < 0.5 => '.',
        mean => char::from_digit(mean.round() as u32, 10).unwrap_or('+'),
    };
    waits.iter().map(sign).collect()
}

/// What computes in a run and never fills most of a character, with its share of the cpu time shown.
fn unseen(timeline: &Timeline, track: &Track, classes: &BTreeSet<Class>) -> Vec<String> {
    let mut times: BTreeMap<Owner, u64> = BTreeMap::new();
    let mut all = 0;
    for (owner, _, ns) in track.recording.rows.iter().flatten().flat_map(|cell| cell.mix.parts()) {
        *times.entry(owner).or_default() += ns;
        all += ns;
    }
    let hidden = times.into_iter().filter(|(owner, _)| classes.iter().all(|c| c.owner() != Some(*owner)));
    let named = |(owner, ns): (Owner, u64)| {
        let name = match owner {
            Owner::App(app) => timeline.app(app as usize).to_owned(),
            Owner::Thread(rank) => format!("thread {rank}"),
            Owner::Several | Owner::Nobody => return None,
        };
        let share = ns as f64 / all.max(1) as f64;
        (share >= LITTLE).then(|| format!("{name} ({} %)", experiment::number::percent(share)))
    };
    hidden.filter_map(named).collect()
}

/// A lane with the number of events in each column: a sign for one, a digit for more, `+` for ten and more.
fn counted(name: &str, columns: usize, events: impl Iterator<Item = (usize, u32)>, one: char) -> String {
    let mut counts = vec![0u32; columns];
    for (column, count) in events {
        counts[column] = counts[column].saturating_add(count);
    }
    let sign = |count: &u32| match count {
        0 => ' ',
        1 => one,
        count => char::from_digit(*count, 10).unwrap_or('+'),
    };
    lane_of(name, &counts.iter().map(sign).collect::<Vec<char>>())
}

fn lane_of(name: &str, lane: &[char]) -> String {
    let text: String = lane.iter().collect();
    format!("{name:>width$} {}", text.trim_end(), width = GUTTER - 1)
}

/// The column of an instant.
fn column(timeline: &Timeline, at: u64, columns: usize) -> usize {
    let (from, to) = (timeline.window.from, timeline.window.to);
    let part = u128::from(at.clamp(from, to) - from) * columns as u128 / u128::from(to - from);
    (part as usize).min(columns - 1)
}

/// One class for each column.
fn classes(cells: &[Cell], columns: usize, timeline: &Timeline) -> Vec<Class> {
    let mut classes = vec![Class::Nothing; columns];
    for cell in cells {
        let begin = column(timeline, cell.from, columns);
        let end = column(timeline, cell.to - 1, columns);
        classes[begin..=end].fill(Class::of(&cell.mix));
    }
    classes
}

/// The time axis.
fn scale(lines: &mut Vec<String>, timeline: &Timeline, width: usize) {
    let columns = columns(width) as usize;
    let axis = times(timeline.window.from, timeline.window.to, (columns / 12).max(2) as u64);
    let mut ruler = vec!['─'; columns];
    let mut labels = vec![' '; columns];
    let mut free = 0;
    for (at, label) in &axis.ticks {
        let place = column(timeline, *at, columns);
        ruler[place] = '┬';
        let length = label.chars().count();
        let begin = place.saturating_sub(length / 2).min(columns.saturating_sub(length));
        if begin < free {
            continue;
        }
        for (at, c) in label.chars().enumerate() {
            labels[begin + at] = c;
        }
        free = begin + length + 1;
    }
    lines.push(lane_of("", &ruler));
    lines.push(lane_of(&format!("time, {}", axis.unit), &labels));
}

/// A sample and what it means.
type Entry = (String, String);

/// What is seen in the rows and lanes, and nothing else.
fn legend(
    lines: &mut Vec<String>,
    timeline: &Timeline,
    seen: &BTreeSet<Class>,
    script: &Script,
    width: usize,
) {
    let mut entries =
        if timeline.by_threads { on_cpus(timeline, seen, script) } else { computing(timeline, seen, script) };
    let kinds: BTreeSet<Class> = seen.iter().map(|class| class.kind()).collect();
    for kind in kinds {
        let words = match kind {
            // With letters these have entries by application.
            Class::Memory(_) if !script.colour && timeline.apps.len() > 1 => continue,
            Class::Memory(_) => "memory stall",
            Class::SharedCore(_) => "shared core (SMT)",
            Class::Pages(_) => "page initialisation",
            Class::Wait(_) => "waits",
            Class::Without(state) => state.name(),
            Class::Overhead => "switch, kernel",
            Class::Idle => "idle",
            Class::Compute(_) | Class::Nothing => continue,
        };
        let sign = script.glyph(kind).sign;
        entries.push((format!("{sign}{sign}"), words.into()));
    }
    let met = timeline.tracks.iter().flat_map(|track| track.recording.barriers.values().flatten());
    let several = met.clone().any(|completed| completed.count > 1);
    if met.count() > 0 {
        entries.push(("╷".into(), "barrier complete".into()));
    }
    if several {
        entries.push(("2-9 +".into(), "barriers in one column, + for ten or more".into()));
    }
    if !timeline.by_threads && timeline.tracks.iter().any(|track| !track.recording.locks.is_empty()) {
        let text = "tasks that wait for a lock, asleep or polling (mean of a column)";
        entries.push((". 1-9 +".into(), text.into()));
    }
    if timeline.tracks.iter().any(|track| !track.recording.wakes.is_empty()) {
        entries.push((WOKEN.into(), "is woken".into()));
    }
    if timeline.queues && timeline.shows_queues() {
        entries.push((". 1-9 +".into(), "threads queued for the cpu (mean of a column)".into()));
    }
    laid(lines, &entries, width);
    wrap(lines, "A character shows what most of its time went into.", width);
}

/// What computing looks like in rows of threads.
fn on_cpus(timeline: &Timeline, seen: &BTreeSet<Class>, script: &Script) -> Vec<Entry> {
    let Some(class) = seen.iter().find(|class| matches!(class, Class::Compute(_))) else {
        return Vec::new();
    };
    let again = if timeline.machine_cpus as usize > DIGITS.len() { ", then again from 0" } else { "" };
    if script.colour {
        return vec![(line(&[script.glyph(*class); 2]), "computes; number: the cpu".into())];
    }
    let letters = if timeline.machine_cpus > 10 { format!(", A is cpu 10{again}") } else { String::new() };
    let range = match timeline.machine_cpus {
        1 => "0".to_owned(),
        cpus @ 2..=10 => format!("0-{}", cpus - 1),
        _ => "0-9 A-Z".to_owned(),
    };
    vec![(range, format!("computes on this cpu{letters}"))]
}

/// What computing looks like, by application or by thread.
fn computing(timeline: &Timeline, seen: &BTreeSet<Class>, script: &Script) -> Vec<Entry> {
    let paint = |class: Class| line(&[script.glyph(class); 2]);
    let mut entries = Vec::new();
    let threads = seen.iter().filter_map(|class| match class {
        Class::Compute(Owner::Thread(rank)) => Some(*rank),
        _ => None,
    });
    let (count, last) = (threads.clone().count(), threads.max().unwrap_or(0) as usize);
    if count > 0 && script.colour {
        let again = if count > Palette::HUES { ", colours repeat" } else { "" };
        let text = format!("thread of {} computes; number: its id{again}", timeline.app(0));
        entries.push((paint(Class::Compute(Owner::Thread(0))), text));
    } else if count > 0 {
        let repeat = if last >= DIGITS.len() { ", then again from 0" } else { "" };
        let letters = if last >= 10 { format!(", A is thread 10{repeat}") } else { String::new() };
        let range = if last >= 10 { "0-9 A-Z".to_owned() } else { format!("0-{last}") };
        entries.push((range, format!("thread of {} computes{letters}", timeline.app(0))));
    }
    for (app, name) in timeline.apps.iter().enumerate() {
        let owner = Owner::App(app as u32);
        let (compute, memory) = (Class::Compute(owner), Class::Memory(owner));
        let there = seen.iter().any(|class| class.owner() == Some(owner));
        if seen.contains(&compute) || there && script.colour {
            entries.push((paint(compute), format!("{name} computes")));
        }
        if seen.contains(&memory) && !script.colour && timeline.apps.len() > 1 {
            entries.push((paint(memory), format!("{name}, memory stall")));
        }
    }
    entries
}

/// Entries side by side, as many as fit a line.
fn laid(lines: &mut Vec<String>, entries: &[Entry], width: usize) {
    let mut line = String::new();
    let mut used = 0;
    for (sample, text) in entries {
        // Two columns of a coloured sample, whatever codes colour it.
        let columns = if sample.contains('\u{1b}') { 2 } else { sample.chars().count() };
        let length = columns + 1 + text.chars().count() + 2;
        if used > 0 && used + length > width {
            lines.push(std::mem::take(&mut line).trim_end().to_owned());
            used = 0;
        }
        line.push_str(&format!("{sample} {text}  "));
        used += length;
    }
    lines.push(line.trim_end().to_owned());
}

/// A sentence in lines.
fn wrap(to: &mut Vec<String>, text: &str, width: usize) {
    to.extend(lines(words(text), |line| line.chars().count() <= width));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::record::Completed;
    use crate::timeline::runs::fixture;
    use crate::timeline::states::Mix;

    fn mix(parts: &[(Owner, State, u64)]) -> Mix {
        let mut mix = Mix::default();
        for (owner, state, ns) in parts {
            mix.add(*owner, *state, *ns);
        }
        mix
    }

    /// Two applications on one cpu: cg computes in the first half, then ft waits.
    fn timeline(columns: u64) -> Timeline {
        let half = columns / 2;
        let cells = (0..columns).map(|at| {
            let part = if at < half {
                (Owner::App(0), State::Compute, 10)
            } else {
                (Owner::App(1), State::Yield, 10)
            };
            Cell { from: at * 10, to: at * 10 + 10, mix: mix(&[part]), slice: None, label: String::new() }
        });
        let total = mix(&[(Owner::App(0), State::Compute, half), (Owner::App(1), State::Yield, half)]);
        let mut timeline = fixture::one(total);
        timeline.tracks[0].recording.rows = vec![cells.collect()];
        timeline.window.to = columns * 10;
        timeline.apps.push("ft".into());
        timeline
    }

    /// The ranks of threads that run on one cpu, ten columns each.
    fn threads(ranks: &[u32]) -> Timeline {
        let cell = |(at, rank): (usize, &u32)| {
            let (from, to) = (at as u64 * 100, at as u64 * 100 + 100);
            let mix = mix(&[(Owner::Thread(*rank), State::Compute, 100)]);
            Cell { from, to, mix, slice: None, label: String::new() }
        };
        let total = mix(&[(Owner::App(0), State::Compute, ranks.len() as u64 * 100)]);
        let mut timeline = Timeline { threads: true, ..fixture::one(total) };
        timeline.tracks[0].recording.rows = vec![ranks.iter().enumerate().map(cell).collect()];
        timeline.window.to = ranks.len() as u64 * 100;
        timeline
    }

    #[test]
    fn every_line_fits_the_window_and_time_is_to_scale() {
        for width in [60, 80, 200] {
            let columns = columns(width);
            let text =
                text(&timeline(u64::from(columns)), "a scenario with a rather long name", width, false);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
            let row = text.lines().find(|line| line.starts_with("node 0")).unwrap();
            assert_eq!(row.matches('C').count(), columns as usize / 2, "{row}");
            assert_eq!(row.matches('▒').count() as u32, columns - columns / 2, "{row}");
            assert!(!text.contains('\u{1b}'));
        }
    }

    #[test]
    fn colours_change_where_the_application_does_and_are_off_at_the_end() {
        let text = text(&timeline(68), "x", 80, true);
        let row = text.lines().find(|line| line.starts_with("node 0")).unwrap();
        assert_eq!(row.matches("\u{1b}[38;5;").count(), 2, "{row}");
        assert!(row.contains('█') && row.ends_with("\u{1b}[0m"), "{row}");
    }

    #[test]
    fn the_largest_part_gives_its_character() {
        let app = Owner::App(1);
        let mixed = mix(&[(app, State::Spin, 3), (app, State::Yield, 3), (Owner::App(0), State::Compute, 5)]);
        assert_eq!(Class::of(&mixed), Class::Wait(app));
        assert_eq!(Class::of(&Mix::default()), Class::Nothing);
    }

    #[test]
    fn threads_have_digits_or_colours_with_their_id() {
        let timeline = threads(&[0, 3, 12, 35, 36, 7, 8]);
        let plain = text(&timeline, "x", GUTTER + 70, false);
        let row = plain.lines().find(|line| line.starts_with("node 0")).unwrap();
        let wanted: String = "03CZ078".chars().flat_map(|c| std::iter::repeat_n(c, 10)).collect();
        assert!(row.ends_with(&wanted), "{row}");
        assert!(
            plain.contains("0-9 A-Z thread of cg computes, A is thread 10, then again from 0"),
            "{plain}"
        );
        let painted = text(&timeline, "x", GUTTER + 70, true);
        let row = painted.lines().find(|line| line.starts_with("node 0")).unwrap();
        // The palette has seven hues: 0, 35 and 7 have the same; each slice has its number.
        for id in ["0", "3", "12", "35", "36", "7", "8"] {
            assert!(row.contains(&format!("m{id}\u{1b}")), "{id}: {row}");
        }
        assert_eq!(row.matches("\u{1b}[38;5;25m█").count(), 6, "{row}");
    }

    #[test]
    fn an_application_with_more_barriers_than_columns_has_its_lane() {
        let mut timeline = timeline(68);
        let met =
            (0..68).map(|at| Completed { at: at * 10, count: if at < 60 { 1 + at as u32 % 12 } else { 1 } });
        timeline.tracks[0].recording.barriers.insert(0, met.collect());
        let text = text(&timeline, "x", 80, false);
        let lane = text.lines().find(|line| line.contains("cg ╷")).expect("the lane");
        assert!(lane.ends_with("╷23456789+++╷╷╷╷╷╷╷╷"), "{lane}");
        assert!(text.contains("+ for ten or more"), "{text}");
    }

    #[test]
    fn the_legend_has_what_the_rows_have() {
        let text = text(&timeline(68), "x", 80, false);
        let legend = text.lines().rev().nth(1).unwrap();
        assert_eq!(legend, "CC cg computes  ▒▒ waits");
    }
}
