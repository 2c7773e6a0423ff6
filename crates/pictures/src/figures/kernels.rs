//! Strips: what the rules in which two kernels differ do to the run time of programs, over all machines.

use std::collections::BTreeSet;

use crate::canvas::axis::{Axis, Kind as Scale};
use crate::canvas::font;
use crate::canvas::palette::{BLUE, INK, MUTED, Mark, ORANGE};
use crate::canvas::{Area, Canvas, Letters, Picture};
use experiment::kernel_effects::report::{Change, Compared, signed};
use experiment::kernel_effects::{Row, Variant};

use crate::figures::figure::{Figure, Table};
use crate::figures::frame::{self, Frame, Key, LABEL};
use crate::figures::page::Page;

/// Height of a row in pixels, and of the space for the axis below.
const ROW: f64 = 19.0;
const FOOT: f64 = 46.0;
/// The widest names.
const MOST_LEFT: f64 = 230.0;
/// A rule is drawn if it changes a run time by this part.
const SEEN: f64 = 0.000_5;

/// A line of the picture.
struct Line {
    name: String,
    /// None: the name of a program.
    change: Option<Change>,
    whole: bool,
}

/// The figure of the effects of rules on run times; rules that change none are left out and counted.
///
/// # Errors
/// A half-sentence: there is nothing to draw.
pub fn figure([from, to]: [&str; 2], variants: &[Variant], rows: &[Row]) -> Result<Figure, String> {
    let compared = Compared::of(variants, rows);
    let changes: Vec<(&str, usize, Change)> = compared.run_times();
    if changes.is_empty() {
        return Err("no program completed under both kernels".into());
    }
    let seen = |change: &Change| change.range.iter().any(|ratio| (ratio - 1.0).abs() >= SEEN);
    let drawn: BTreeSet<usize> =
        changes.iter().filter(|(_, variant, change)| *variant == 0 || seen(change)).map(|c| c.1).collect();
    let mut lines: Vec<Line> = Vec::new();
    for (at, (program, variant, change)) in changes.iter().enumerate() {
        if at == 0 || changes[at - 1].0 != *program {
            lines.push(Line { name: (*program).to_owned(), change: None, whole: true });
        }
        if drawn.contains(variant) {
            let name = variants[*variant].rule.unwrap_or("all rules").to_owned();
            lines.push(Line { name, change: Some(*change), whole: *variant == 0 });
        }
    }
    let hidden = match variants.len() - drawn.len() {
        0 => String::new(),
        1 => "; one rule changes no run time and is not drawn".into(),
        n => format!("; {n} rules change no run time and are not drawn"),
    };
    let title = title([from, to], &changes);
    let words = Frame {
        page: Page::SCREEN,
        title: title.clone().into(),
        about: format!(
            "Run time relative to {from}{}; dot: geometric mean, line: smallest to largest ratio{hidden}",
            compared.over
        ),
        legend: vec![
            (Key::Mark(Mark::Circle, ORANGE), format!("all rules of {to}")),
            (Key::Mark(Mark::Circle, BLUE), format!("{from} with one rule of {to}")),
        ],
        source: format!("oversim kernel diff {from} {to}"),
    };
    let picture = draw(&words, &lines);
    Ok(Figure { name: "kernels", title, about: words.about, picture, data: data(variants, &changes) })
}

/// The largest change of a mean over the machines.
fn title([from, to]: [&str; 2], changes: &[(&str, usize, Change)]) -> String {
    let whole = changes.iter().filter(|(_, variant, _)| *variant == 0);
    let size = |change: &Change| change.mean.ln().abs();
    let most = whole.max_by(|a, b| size(&a.2).total_cmp(&size(&b.2)));
    match most {
        Some((program, _, change)) if (change.mean - 1.0).abs() >= SEEN => format!(
            "From {from} to {to} the mean run time changes most for \"{program}\": {} %",
            signed(100.0 * (change.mean - 1.0), 1)
        ),
        _ => format!("From {from} to {to} the mean run time of no program changes"),
    }
}

fn draw(words: &Frame, lines: &[Line]) -> Picture {
    let height = lines.len() as f64 * ROW;
    frame::compose(words, height + FOOT, |canvas, body| {
        let widest = lines.iter().map(|line| font::width(&line.name, LABEL)).fold(0.0, f64::max);
        let left = (widest * 1.13).min(MOST_LEFT) + 12.0;
        let panel = Area { x: body.x + left, y: body.y, width: body.width - left, height };
        let ends = lines.iter().filter_map(|line| line.change).flat_map(|change| change.range);
        let (low, high) = ends.fold((1.0_f64, 1.0_f64), |(low, high), x| (low.min(x), high.max(x)));
        let axis = Axis::of(Scale::Log, low.min(0.95), high.max(1.05), panel.x, panel.right());
        frame::lower_axis(canvas, panel, &axis, true);
        let same = axis.place(1.0);
        canvas.line(&[(same, panel.y), (same, panel.bottom())], MUTED, 1.5);
        for (at, line) in lines.iter().enumerate() {
            strip(canvas, body.x, panel.y + (at as f64 + 0.5) * ROW, line, &axis);
        }
        frame::axis_title(canvas, body, left, &frame::measured("run time (ratio)", &axis));
    })
}

fn strip(canvas: &mut Canvas, left: f64, y: f64, line: &Line, axis: &Axis) {
    let Some(Change { mean, range }) = line.change else {
        canvas.text((left, y), &font::squeezed(&line.name, LABEL, MOST_LEFT), Letters::new(LABEL).bold());
        return;
    };
    canvas.text((left + 12.0, y), &font::squeezed(&line.name, LABEL, MOST_LEFT - 12.0), Letters::new(LABEL));
    let [least, most] = range.map(|ratio| axis.place(ratio));
    canvas.line(&[(least, y), (most, y)], if line.whole { INK } else { MUTED }, 1.5);
    canvas.mark((axis.place(mean), y), Mark::Circle, 7.0, if line.whole { ORANGE } else { BLUE });
}

fn data(variants: &[Variant], changes: &[(&str, usize, Change)]) -> Table {
    let row = |(program, variant, change): &(&str, usize, Change)| {
        let rule = variants[*variant].rule.unwrap_or("all");
        let numbers = [change.mean, change.range[0], change.range[1]].map(|ratio| ratio.to_string());
        [(*program).to_owned(), rule.to_owned()].into_iter().chain(numbers).collect()
    };
    Table {
        header: vec!["program", "changed", "mean_ratio", "least_ratio", "largest_ratio"],
        rows: changes.iter().map(row).collect(),
        ..Table::default()
    }
}
