//! Bars: the share of the variance that belongs to each parameter, to pairs and to the seeds.

use crate::canvas::axis::{Axis, Kind as Scale};
use crate::canvas::font;
use crate::canvas::palette::{BLUE, Colour, Fill, Hatch, INK, MUTED, ORANGE};
use crate::canvas::{Area, Canvas, Letters, Picture};
use experiment::response::Response;
use experiment::response::effects::{Effects, Estimator, Kind, Share, percent};

use super::Attempt;
use crate::figures::axis_names;
use crate::figures::figure::{Figure, Table};
use crate::figures::frame::{self, Frame, Key, LABEL};
use crate::figures::origin::Origin;
use crate::figures::plane::Plane;

/// So many values of policies and configurations are read more easily than shares of their variance.
const FEW: usize = 4;
/// The most pairs with a bar; the others are one bar.
const MOST_PAIRS: usize = 10;
/// Height of a row and of its bar in pixels; space between groups.
const ROW: f64 = 23.0;
const BAR: f64 = 14.0;
const GAP: f64 = 8.0;
/// Space for the axis below, and for the number behind a bar.
const FOOT: f64 = 46.0;
const NUMBER: f64 = 48.0;
/// The widest names.
const MOST_LEFT: f64 = 300.0;
const GREY: Colour = Colour(150, 150, 150);
const PALE: Colour = Colour(225, 225, 225);

/// The effects on what policies are ranked by.
pub(crate) fn effects(plane: &Plane<'_>) -> Attempt {
    let response = Response::chosen(plane.results, None, None)?;
    if response.axes.is_empty() {
        return Err("needs a sweep".into());
    }
    figure(&response, &response.effects()?, &Origin { page: plane.page, ..Origin::of(plane.results) })
}

/// Whether shares of so few values say anything.
///
/// # Errors
/// That they do not.
pub(crate) fn news(plane: &Plane<'_>) -> Result<(), String> {
    match plane.policies.len() * plane.configurations().len() {
        cells @ 0..=FEW => Err(format!("{cells} values are too few for shares of their variance")),
        _ => Ok(()),
    }
}

/// A bar.
struct Row {
    group: usize,
    name: String,
    share: f64,
}

/// The figure of the effects of a response.
///
/// # Errors
/// A half-sentence: there are no shares.
pub fn figure(response: &Response, effects: &Effects, origin: &Origin) -> Attempt {
    let title = effects.title(response);
    let rows = rows(effects, response, origin.page.left(MOST_LEFT));
    if rows.is_empty() {
        return Err("no parameter has more than one value".into());
    }
    let estimator = match effects.estimator {
        Estimator::Grid => "analysis of variance of the complete grid",
        Estimator::Classes => "correlation ratio of classes of values",
    };
    let left = match effects.left_out {
        0 => String::new(),
        n => format!("; {n} configurations with missing values left out"),
    };
    let setting = &origin.setting;
    let fixed = response.fixed.iter().map(|one| format!("{one}; ")).collect::<String>();
    let words = Frame {
        page: origin.page,
        title: title.clone(),
        about: format!(
            "First-order share of each factor, and what each pair adds ({estimator}){left}; {fixed}{setting}"
        ),
        legend: legend(&rows),
        source: origin.source.clone(),
    };
    let picture = draw(&words, &rows);
    let data = data(effects);
    Ok(Figure { name: "effects", title: title.to_string(), about: words.about, picture, data })
}

/// The rows by group: parameters and policy, pairs, rest and seeds; the largest first.
fn rows(effects: &Effects, response: &Response, most: f64) -> Vec<Row> {
    let (short, words) = (response.names(), axis_names::of_response(response));
    let named = |one: &Share| match short.iter().position(|name| *name == one.name) {
        Some(at) if one.kind == Kind::Parameter => {
            axis_names::within(&words[at], &response.axes[at].path, most)
        }
        _ => one.name.clone(),
    };
    let row = |group: usize| {
        let named = &named;
        move |one: &Share| Row { group, name: named(one), share: one.share }
    };
    let mut rows: Vec<Row> = effects.of(&[Kind::Parameter, Kind::Policy]).into_iter().map(row(0)).collect();
    let pairs = effects.of(&[Kind::Pair]);
    let shown = if pairs.len() > MOST_PAIRS { MOST_PAIRS - 1 } else { pairs.len() };
    rows.extend(pairs[..shown].iter().copied().map(row(1)));
    if shown < pairs.len() {
        let share = pairs[shown..].iter().map(|one| one.share).sum();
        rows.push(Row { group: 1, name: format!("{} other pairs together", pairs.len() - shown), share });
    }
    rows.extend(effects.of(&[Kind::Rest]).into_iter().map(row(2)));
    rows.extend(effects.of(&[Kind::Seeds]).into_iter().map(row(3)));
    rows
}

/// How the bars of a group look: what is alike on grey paper differs in hatching.
const fn look(group: usize) -> (Colour, Hatch, &'static str) {
    match group {
        0 => (BLUE, Hatch::None, "one factor"),
        1 => (ORANGE, Hatch::Rising, "interaction of two"),
        2 => (PALE, Hatch::Dots, "everything else"),
        _ => (GREY, Hatch::None, "seeds"),
    }
}

fn legend(rows: &[Row]) -> Vec<(Key, String)> {
    let groups = (0..4).filter(|group| rows.iter().any(|row| row.group == *group));
    groups.map(|group| (Key::Area(look(group).0, look(group).1, INK), look(group).2.to_owned())).collect()
}

fn draw(words: &Frame, rows: &[Row]) -> Picture {
    let gaps = rows.windows(2).filter(|pair| pair[0].group != pair[1].group).count();
    let height = rows.len() as f64 * ROW + gaps as f64 * GAP;
    frame::compose(words, height + FOOT, |canvas, body| {
        let widest = rows.iter().map(|row| font::width(&row.name, LABEL)).fold(0.0, f64::max);
        let most = words.page.left(MOST_LEFT);
        let left = widest.min(most) + 12.0;
        let panel = Area { x: body.x + left, y: body.y, width: body.width - left - NUMBER, height };
        let most = rows.iter().map(|row| row.share).fold(0.0, f64::max).clamp(0.05, 1.0) * 100.0;
        let axis = Axis::exact(Scale::Linear, 0.0, most, panel.x, panel.right());
        frame::lower_axis(canvas, panel, &axis, true);
        let mut y = body.y;
        for (at, row) in rows.iter().enumerate() {
            if at > 0 && rows[at - 1].group != row.group {
                y += GAP;
            }
            bar(canvas, (body.x, most), panel, y, row, &axis);
            y += ROW;
        }
        frame::axis_title(canvas, body, left, "share of the variance (%)");
    })
}

fn bar(canvas: &mut Canvas, (left, most): (f64, f64), panel: Area, y: f64, row: &Row, axis: &Axis) {
    let (colour, hatch, _) = look(row.group);
    let end = axis.place(row.share * 100.0);
    let area = Area { x: panel.x, y: y + (ROW - BAR) / 2.0, width: end - panel.x, height: BAR };
    if area.width >= 0.5 {
        canvas.fill(area, Fill::hatched(hatch, MUTED, colour));
        canvas.frame(area, INK, 0.5);
    }
    let middle = y + ROW / 2.0;
    canvas.text((left, middle), &font::squeezed(&row.name, LABEL, most), Letters::new(LABEL));
    canvas.text((end + 6.0, middle), &percent(row.share), Letters::new(LABEL));
}

fn data(effects: &Effects) -> Table {
    let kind = |kind| match kind {
        Kind::Parameter => "parameter",
        Kind::Policy => "policy",
        Kind::Pair => "pair",
        Kind::Rest => "rest",
        Kind::Seeds => "seeds",
    };
    let row = |one: &Share| vec![kind(one.kind).to_owned(), one.name.clone(), one.share.to_string()];
    let rows = effects.shares.iter().map(row).collect();
    Table { header: vec!["kind", "factor", "share"], rows, ..Table::default() }
}
