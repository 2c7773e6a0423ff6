//! The timeline as text: a character per piece of time, in colour where the terminal has it, else with letters.

use sim_core::ids::Id;

use crate::axis::axis;
use crate::draw::facts;
use crate::palette::Palette;
use crate::record::Cell;
use crate::states::{Mix, Owner, State};
use crate::timeline::{Timeline, Track};

/// Columns for the names of rows: `node 0    12 `.
const GUTTER: usize = 12;
/// Narrower windows get lines that are cut by the terminal.
const LEAST: usize = 40;
/// Letters for applications whose own first letter is taken.
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Columns of the time axis in a window so many columns wide.
#[must_use]
pub fn columns(width: usize) -> u32 {
    (width.max(LEAST) - GUTTER) as u32
}

/// What most of a piece of time is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Class {
    Compute(u32),
    Stall(u32),
    Wait(Owner),
    Overhead,
    Idle,
    /// Behind the end of the run.
    Nothing,
}

impl Class {
    /// The largest class; of equals the first.
    fn of(mix: &Mix) -> Self {
        let mut sums: Vec<(Self, u64)> = Vec::new();
        for (owner, state, ns) in mix.parts() {
            let class = match (state, owner) {
                (State::Compute, Owner::App(app)) => Self::Compute(app),
                (State::Stall, Owner::App(app)) => Self::Stall(app),
                (State::Spin | State::Yield, owner) => Self::Wait(owner),
                (State::Idle, _) => Self::Idle,
                _ => Self::Overhead,
            };
            match sums.iter_mut().find(|sum| sum.0 == class) {
                Some(sum) => sum.1 += ns,
                None => sums.push((class, ns)),
            }
        }
        let mut best = (Self::Nothing, 0);
        for sum in sums {
            if sum.1 > best.1 {
                best = sum;
            }
        }
        best.0
    }
}

/// How classes are written.
struct Script {
    colour: bool,
    palette: Palette,
    letters: Vec<char>,
}

impl Script {
    fn new(timeline: &Timeline, colour: bool) -> Self {
        let palette = Palette::new(timeline.apps.len(), timeline.tracks.iter().map(|track| &track.recording));
        let mut letters: Vec<char> = Vec::new();
        for name in &timeline.apps {
            let own = name.chars().map(|c| c.to_ascii_uppercase()).filter(char::is_ascii_uppercase);
            let free = own.chain(LETTERS.chars()).find(|letter| !letters.contains(letter));
            letters.push(free.unwrap_or('?'));
        }
        Self { colour, palette, letters }
    }

    fn letter(&self, app: u32) -> char {
        self.letters.get(app as usize).copied().unwrap_or('?')
    }

    /// The character of a class and the colour it has, if any.
    fn glyph(&self, class: Class) -> (char, Option<u8>) {
        let hue = |app: u32| Some(self.palette.terminal(app as usize));
        match class {
            Class::Compute(app) if self.colour => ('█', hue(app)),
            Class::Stall(app) if self.colour => ('▓', hue(app)),
            Class::Compute(app) => (self.letter(app), None),
            Class::Stall(app) => (self.letter(app).to_ascii_lowercase(), None),
            Class::Wait(Owner::App(app)) if self.colour => ('▒', hue(app)),
            Class::Wait(_) => ('▒', None),
            Class::Overhead => ('░', None),
            Class::Idle => ('·', None),
            Class::Nothing => (' ', None),
        }
    }

    /// Characters with their colours, changed as seldom as possible.
    fn line(&self, classes: impl Iterator<Item = Class>) -> String {
        let mut text = String::new();
        let mut now = None;
        for class in classes {
            let (glyph, hue) = self.glyph(class);
            if hue != now {
                text.push_str(&hue.map_or("\u{1b}[0m".into(), |hue| format!("\u{1b}[38;5;{hue}m")));
                now = hue;
            }
            text.push(glyph);
        }
        if now.is_some() {
            text.push_str("\u{1b}[0m");
        }
        text
    }
}

/// The timeline for a window of `width` columns, recorded for [`columns`] of that width; with colours for terminals
/// of 256, or without any.
#[must_use]
pub fn text(timeline: &Timeline, title: &str, width: usize, colour: bool) -> String {
    let script = Script::new(timeline, colour);
    let width = width.max(LEAST);
    let mut lines: Vec<String> = Vec::new();
    wrap(&mut lines, &format!("{title}: {}", timeline.headline()), width);
    if !timeline.remark.is_empty() {
        wrap(&mut lines, &timeline.remark, width);
    }
    for track in &timeline.tracks {
        lines.push(String::new());
        wrap(&mut lines, &heading(track), width);
        body(&mut lines, timeline, track, &script, width);
    }
    scale(&mut lines, timeline, width);
    lines.push(String::new());
    legend(&mut lines, timeline, &script, width);
    lines.join("\n") + "\n"
}

fn heading(track: &Track) -> String {
    let end = track.end as f64 / 1e9;
    let ended = if track.completed { "done" } else { "cut off" };
    format!("{}: {}; {ended} at {end:.3} s", track.label, facts(track))
}

/// Rows and lanes of a run.
fn body(lines: &mut Vec<String>, timeline: &Timeline, track: &Track, script: &Script, width: usize) {
    let columns = columns(width) as usize;
    let at = |ns: u64| column(timeline, ns, columns);
    for (app, instants) in &track.recording.barriers {
        let mut lane = vec![' '; columns];
        for instant in instants {
            lane[at(*instant)] = '╷';
        }
        let name: String = timeline.app(*app as usize).chars().take(GUTTER - 4).collect();
        // Where nearly every column has one it tells nothing.
        if instants.len() * 2 <= columns {
            lines.push(lane_of(&format!("{name} ╷"), &lane));
        }
    }
    let mut before = None;
    for (row, cells) in timeline.rows.iter().zip(&track.recording.rows) {
        let node = format!("node {}", row.group);
        let first = before != Some(row.group) && timeline.single_cpus();
        before = Some(row.group);
        let name = if timeline.single_cpus() {
            format!("{:<7}{:>4} ", if first { node.as_str() } else { "" }, row.name)
        } else {
            let name: String = row.name.chars().take(GUTTER - 1).collect();
            format!("{name:>width$} ", width = GUTTER - 1)
        };
        lines.push(name + &script.line(classes(cells, columns, timeline)));
    }
    if !track.recording.moves.is_empty() {
        let mut counts = vec![0u32; columns];
        for moved in &track.recording.moves {
            counts[at(moved.at)] += 1;
        }
        let digit = |count: &u32| match count {
            0 => ' ',
            1..=9 => char::from_digit(*count, 10).unwrap_or('+'),
            _ => '+',
        };
        lines.push(lane_of("migrations", &counts.iter().map(digit).collect::<Vec<char>>()));
    }
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
fn classes(cells: &[Cell], columns: usize, timeline: &Timeline) -> impl Iterator<Item = Class> {
    let mut classes = vec![Class::Nothing; columns];
    for cell in cells {
        let begin = column(timeline, cell.from, columns);
        let end = column(timeline, cell.to - 1, columns);
        classes[begin..=end].fill(Class::of(&cell.mix));
    }
    classes.into_iter()
}

/// The time axis.
fn scale(lines: &mut Vec<String>, timeline: &Timeline, width: usize) {
    let columns = columns(width) as usize;
    let axis = axis(timeline.window.from, timeline.window.to, (columns / 12).max(2) as u64);
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

fn legend(lines: &mut Vec<String>, timeline: &Timeline, script: &Script, width: usize) {
    let mut entries: Vec<(String, String)> = Vec::new();
    let paint = |class: Class| script.line([class, class].into_iter());
    for (app, name) in timeline.apps.iter().enumerate() {
        let app = app as u32;
        let there = |track: &Track| track.recording.total.parts().any(|part| part.0 == Owner::App(app));
        if timeline.tracks.iter().any(there) {
            let text = if script.colour { name.clone() } else { format!("{name} computes") };
            entries.push((paint(Class::Compute(app)), text));
            if !script.colour {
                entries.push((paint(Class::Stall(app)), format!("{name} stalls on memory")));
            }
        }
    }
    if script.colour {
        entries.push(("██".into(), "computes".into()));
        entries.push(("▓▓".into(), "stalls on memory".into()));
    }
    entries.push(("▒▒".into(), "waits".into()));
    entries.push(("░░".into(), "switch, kernel".into()));
    entries.push(("··".into(), "idle".into()));
    if timeline.tracks.iter().any(|track| !track.recording.barriers.is_empty()) {
        entries.push(("╷".into(), "barrier completed".into()));
    }
    let mut line = String::new();
    let mut used = 0;
    for (sample, text) in entries {
        // Two columns of a sample at most, whatever codes colour it.
        let length = 2 + 1 + text.chars().count() + 2;
        if used > 0 && used + length > width {
            lines.push(std::mem::take(&mut line).trim_end().to_owned());
            used = 0;
        }
        line.push_str(&format!("{sample} {text}  "));
        used += length;
    }
    lines.push(line.trim_end().to_owned());
    wrap(lines, "A character shows what most of its time went into.", width);
}

/// A sentence in lines.
fn wrap(lines: &mut Vec<String>, text: &str, width: usize) {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
}
