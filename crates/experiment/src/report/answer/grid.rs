//! Tables of the answer: rows with names, bars and columns, cut to the lines and columns that there are.

use super::super::text::wrapped;
use crate::number;
use crate::statements::Table;
use notation::text::cut;

/// Blanks between columns.
pub(super) const GAP: usize = 2;
/// Longest and shortest bar.
const BAR: [usize; 2] = [20, 8];
/// The end of a bar of blocks, by the eighths of its last column.
const EIGHTHS: [char; 8] =
    [' ', '\u{258f}', '\u{258e}', '\u{258d}', '\u{258c}', '\u{258b}', '\u{258a}', '\u{2589}'];
/// Rows of a table that is cut: its first ones and its last.
const LEAST_ROWS: usize = 4;
/// Longest name of a row beside columns of the sweep, and the shortest that a name is cut to.
pub(super) const NAME: usize = 18;
const LEAST_NAME: usize = 12;

/// What a piece of text is, for colours.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    Bold,
    Best,
    Worst,
    Doubt,
    /// In place of what did not complete.
    Failed,
}

impl Ink {
    pub(super) fn paint(self, text: &str, colour: bool) -> String {
        let code = match self {
            _ if !colour || text.is_empty() => return text.to_owned(),
            Self::Plain | Self::Failed => return text.to_owned(),
            Self::Bold => "1",
            Self::Best => "32",
            Self::Worst => "31",
            Self::Doubt => "33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// A cell of a table.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) text: String,
    pub(super) ink: Ink,
}

impl Entry {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ink: Ink::Plain }
    }

    pub(super) fn none() -> Self {
        Self::plain("-")
    }

    /// In place of a value that a policy does not have: it did no work in the window, or no run of it
    /// completed there.
    pub(super) fn missing(table: &Table<'_>, place: (usize, &str), (app, metric): (&str, &str)) -> Self {
        let (configuration, policy) = place;
        let idle = || table.get(configuration, policy, app, "work").is_some_and(|work| work.max == 0.0);
        if metric == "time_per_work" && idle() {
            return Self::plain("no work");
        }
        let failed = table.failed(configuration, policy) > 0 && !table.is_measured(configuration, policy);
        Self { ink: if failed { Ink::Failed } else { Ink::Plain }, ..Self::none() }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// A table: its title, its head lines and its rows, the name of each row first.
pub(super) struct Grid {
    pub(super) title: String,
    /// Head lines: what they hold, and a text for each column.
    pub(super) head: Vec<(String, Vec<String>)>,
    pub(super) rows: Vec<(String, Vec<Entry>)>,
    /// Lengths of the bars beside the rows, 0 to 1.
    pub(super) bars: Vec<Option<f64>>,
    /// What a reader needs below it.
    pub(super) remark: String,
    /// Columns before which there is more space.
    pub(super) groups: Vec<usize>,
    /// Columns behind the number of an entry, which a head leaves free.
    pub(super) tail: usize,
    /// Rows in the order of a number, of which these are shown in any case: where not all fit, the others are
    /// taken evenly.
    pub(super) keep: Vec<usize>,
}

impl Grid {
    /// A grid without rows below these head lines.
    pub(super) fn new(title: String, head: Vec<(String, Vec<String>)>) -> Self {
        Self {
            title,
            head,
            rows: Vec::new(),
            bars: Vec::new(),
            remark: String::new(),
            groups: Vec::new(),
            tail: 0,
            keep: Vec::new(),
        }
    }

    /// Says in the title what `-` stands for, where it stands for runs that did not complete.
    pub(super) fn with_gaps(mut self) -> Self {
        if self.rows.iter().flat_map(|(_, entries)| entries).any(|entry| entry.ink == Ink::Failed) {
            self.title.push_str("; -: did not complete");
        }
        self
    }

    /// Number of lines with at most so many rows.
    pub(super) fn height(&self, most: usize, width: usize) -> usize {
        let rows = self.rows.len();
        // A table that is cut has a line about the rows left out, and its last row.
        let shown = if rows <= most { rows } else { most.saturating_sub(2) + 2 };
        wrapped(&self.title, width).lines().count()
            + self.head.len()
            + shown
            + usize::from(!self.remark.is_empty())
    }

    /// The rows that at most so many lines show, one of which says how many are left out.
    fn shown(&self, most: usize) -> Vec<usize> {
        let rows = self.rows.len();
        if rows <= most {
            return (0..rows).collect();
        }
        let count = most.saturating_sub(1).max(1);
        if self.keep.is_empty() {
            return (0..count - 1).chain([rows - 1]).collect();
        }
        let mut shown: Vec<usize> = self.keep.iter().copied().take(count).collect();
        for steps in (2..=count).rev() {
            let evenly = (0..steps).map(|at| at * (rows - 1) / (steps - 1));
            let new: Vec<usize> = evenly.filter(|row| !shown.contains(row)).collect();
            if shown.len() + new.len() <= count {
                shown.extend(new);
                break;
            }
        }
        shown.sort_unstable();
        shown
    }

    /// Lines with at most so many rows.
    pub(super) fn lines(&self, most: usize, width: usize, colour: bool) -> Vec<String> {
        let rows = self.rows.len();
        let shown = self.shown(most);
        let columns = self.rows.first().map_or(0, |row| row.1.len());
        let wide = |column: usize| {
            let entries = shown.iter().map(|at| self.rows[*at].1[column].width());
            let heads = self.head.iter().map(|(_, line)| line[column].chars().count() + self.tail);
            entries.chain(heads).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(wide).collect();
        let gap = |column: usize| if self.groups.contains(&column) { 2 * GAP } else { GAP };
        let body: usize = widths.iter().enumerate().map(|(column, wide)| wide + gap(column)).sum();
        let names = shown.iter().map(|at| self.rows[*at].0.chars().count());
        let names = names.chain(self.head.iter().map(|(label, _)| label.chars().count()));
        let name = names.max().unwrap_or(0).min(width.saturating_sub(body).max(LEAST_NAME));
        let room = width.saturating_sub(name + body + GAP);
        let bar = if self.bars.is_empty() || room < BAR[1] { 0 } else { room.min(BAR[0]) };
        let line = |name_text: &str, bar_text: &str, entries: Vec<(String, Ink)>| {
            let mut line = format!("{:<name$}", cut(name_text, name));
            if bar > 0 {
                let blank = " ".repeat(bar.saturating_sub(bar_text.chars().count()));
                line.push_str(&format!("  {}{blank}", ink_of(&entries).paint(bar_text, colour)));
            }
            for (column, (text, ink)) in entries.into_iter().enumerate() {
                let padded = format!("{text:>wide$}", wide = widths[column]);
                line.push_str(&" ".repeat(gap(column)));
                // Blanks behind the last word are cut.
                let body = padded.trim_end();
                line.push_str(&ink.paint(body, colour));
                line.push_str(&padded[body.len()..]);
            }
            line.trim_end().to_owned()
        };
        let title = wrapped(&self.title, width);
        let mut lines: Vec<String> = title.lines().map(|line| Ink::Bold.paint(line, colour)).collect();
        for (label, head) in &self.head {
            // A value of the ranking stands over the mean, not over the error behind it.
            let tail = " ".repeat(self.tail);
            let head = head.iter().map(|text| (format!("{text}{tail}"), Ink::Plain)).collect();
            lines.push(line(label, "", head));
        }
        for (row, at) in shown.iter().enumerate() {
            if row + 1 == shown.len() && shown.len() < rows {
                lines.push(format!(
                    "... {} more: --table full",
                    number::plural(rows - shown.len(), "row", "rows")
                ));
            }
            let (name_text, entries) = &self.rows[*at];
            let part = self.bars.get(*at).copied().flatten().unwrap_or(0.0);
            let entries = entries.iter().map(|entry| (entry.text.clone(), entry.ink)).collect();
            lines.push(line(name_text, &bar_of(part, bar, colour), entries));
        }
        lines.extend((!self.remark.is_empty()).then(|| self.remark.clone()));
        lines
    }
}

/// A bar of a part, 0 to 1, of so many columns: blocks to an eighth of a column on a terminal with colours,
/// else `#` to a column.
fn bar_of(part: f64, columns: usize, colour: bool) -> String {
    let steps = if colour { EIGHTHS.len() } else { 1 };
    let length = ((part * (columns * steps) as f64).round() as usize).min(columns * steps);
    if !colour {
        return "#".repeat(length);
    }
    let mut bar = "\u{2588}".repeat(length / steps);
    bar.extend((!length.is_multiple_of(steps)).then(|| EIGHTHS[length % steps]));
    bar
}

/// What the entries of a row are: that of the first one that is marked.
fn ink_of(entries: &[(String, Ink)]) -> Ink {
    entries
        .iter()
        .map(|(_, ink)| *ink)
        .find(|ink| !matches!(ink, Ink::Plain | Ink::Failed))
        .unwrap_or(Ink::Plain)
}

/// The tables with an empty line before each, in at most so many lines: rows are cut from the last table
/// first, which may be left out.
pub(super) fn fitted(grids: &[Grid], most: usize, width: usize, colour: bool) -> Vec<String> {
    let all = |limits: &[usize]| -> Vec<String> {
        let each = grids.iter().zip(limits).filter(|(_, limit)| **limit > 0);
        each.flat_map(|(grid, limit)| std::iter::once(String::new()).chain(grid.lines(*limit, width, colour)))
            .collect()
    };
    let height = |limits: &[usize]| -> usize {
        let each = grids.iter().zip(limits).filter(|(_, limit)| **limit > 0);
        each.map(|(grid, limit)| 1 + grid.height(*limit, width)).sum()
    };
    let mut limits: Vec<usize> = grids.iter().map(|grid| grid.rows.len()).collect();
    for at in (0..limits.len()).rev() {
        while height(&limits) > most && limits[at] > LEAST_ROWS {
            limits[at] -= 1;
        }
        if height(&limits) > most && at > 0 {
            limits[at] = 0;
        }
    }
    all(&limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_of_blocks_ends_at_the_eighth_and_one_without_colours_at_the_column() {
        assert_eq!(bar_of(0.5, 8, true), "████");
        // 0.55 of eight columns are 35.2 eighths.
        assert_eq!(bar_of(0.55, 8, true), "████▍");
        assert_eq!(bar_of(0.55, 8, false), "####");
        assert_eq!((bar_of(0.0, 8, true).as_str(), bar_of(1.2, 8, true).as_str()), ("", "████████"));
        let row = |inks: &[Ink]| inks.iter().map(|ink| (String::new(), *ink)).collect::<Vec<_>>();
        assert!(ink_of(&row(&[Ink::Plain, Ink::Best])) == Ink::Best);
        assert!(ink_of(&row(&[Ink::Plain])) == Ink::Plain);
    }
}
