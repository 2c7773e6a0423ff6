//! Figures of results: which apply, their drawing and their data.

mod along;
mod axis_names;
pub mod board;
mod breakdown;
pub mod caption;
mod curves;
mod dots;
pub mod effects;
mod figure;
pub mod file;
mod frame;
mod grid;
mod heat;
pub mod kernels;
mod origin;
pub mod page;
pub mod phase;
pub(crate) mod plane;
mod ranges;
pub mod slowdowns;
mod tiles;
pub mod tornado;
pub(crate) mod words;

pub use figure::{Figure, Omitted, Table};
pub use origin::Origin;
pub use page::Page;

use experiment::metrics::METRICS;
use experiment::result::Results;
use experiment::statements::ranking::Goal;
use plane::Plane;
use scenario::objective::Objective;

/// The figures of a result, and those that make no sense for it.
#[derive(Clone, PartialEq, Debug)]
pub struct Drawn {
    /// In the order of a report: outcomes, causes, details.
    pub figures: Vec<Figure>,
    /// Which were left out and why.
    pub omitted: Vec<Omitted>,
}

/// What a kind of figure makes of a result: the figure, or the reason why there is none, a half-sentence.
type Attempt = Result<Figure, String>;

/// A kind of figure: its name, what it makes of a result, and whether that is news.
type Kind = (&'static str, fn(&Plane<'_>) -> Attempt, fn(&Plane<'_>) -> Result<(), String>);

/// All kinds.
const KINDS: [Kind; 10] = [
    ("slowdown", dots::slowdown, always),
    ("throughput", dots::throughput, always),
    ("speedup", dots::speedup, always),
    ("sweep", curves::sweep, always),
    ("breakdown", breakdown::breakdown, breakdown::news),
    ("run-time", ranges::run_time, ranges::news),
    ("barrier", ranges::barrier, always),
    ("heatmap", heat::heatmap, always),
    ("phase", phase::phase, always),
    ("effects", effects::effects, effects::news),
];

/// Of kinds that always have news.
const fn always(_: &Plane<'_>) -> Result<(), String> {
    Ok(())
}

/// What figures are drawn for.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Target {
    /// A page for the browser.
    #[default]
    Screen,
    /// A paper: the width in millimetres, within [`Page::WIDTHS`].
    Paper(f64),
    /// A slide of 16:9.
    Slide,
}

/// Which figures are drawn, and for what.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Asked<'a> {
    /// Names of kinds, and names of metrics to be drawn by policy. Without any: all kinds that have news, and
    /// the metric of the objective where no kind shows it.
    pub figures: &'a [String],
    /// See `figures`.
    pub metrics: &'a [String],
    /// What for.
    pub target: Target,
}

/// Metrics of objectives that no kind of figure shows.
pub fn objectives() -> impl Iterator<Item = &'static str> {
    Objective::ALL.into_iter().map(Goal::metric_of).filter(|name| shown(name).is_none())
}

/// The kind of figure that shows a metric.
fn shown(metric: &str) -> Option<&'static str> {
    match metric {
        "run_time" => Some("slowdown"),
        "throughput" => Some("throughput"),
        _ => None,
    }
}

/// Names of all kinds of figures, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(name, ..)| *name)
}

/// Draws every figure that the result has data for, for the browser; `only` keeps those of these names, all
/// that have news when empty.
#[must_use]
pub fn draw(results: &Results, only: &[String]) -> Drawn {
    drawn(results, &Asked { figures: only, ..Asked::default() })
}

/// Draws what is asked for. The figure of the objective comes first.
#[must_use]
pub fn drawn(results: &Results, asked: &Asked<'_>) -> Drawn {
    let everything = asked.figures.is_empty() && asked.metrics.is_empty();
    let objective = results.provenance.objective.map(Goal::metric_of);
    let policies = &results.provenance.policies;
    let measured = results.cells.iter().any(|cell| policies.contains(&cell.policy));
    let planes = planes(results, asked.target);
    let mut drawn = Drawn { figures: Vec::new(), omitted: Vec::new() };
    let mut add = |name: &'static str, attempt: Attempt| match attempt {
        Ok(figure) => drawn.figures.push(figure),
        Err(why) => drawn.omitted.push(Omitted { name, why }),
    };
    for (name, kind, news) in KINDS {
        if !everything && !asked.figures.iter().any(|wanted| wanted == name) {
            continue;
        }
        let known = if everything && measured { news(&planes[0]) } else { Ok(()) };
        let attempt = |plane: &Plane<'_>| if measured { kind(plane) } else { Err("no run completed".into()) };
        add(name, known.and_then(|()| fitted(&planes, attempt)));
    }
    let own = objective.filter(|name| everything && shown(name).is_none());
    let mut seen: Vec<&str> = Vec::new();
    for metric in METRICS.iter() {
        let wanted = asked.metrics.iter().any(|name| name == metric.name) || own == Some(metric.name);
        // Some names belong to an application and to the whole run.
        if wanted && !seen.contains(&metric.name) {
            seen.push(metric.name);
            add(metric.name, fitted(&planes, |plane| dots::metric(plane, metric)));
        }
    }
    let first = objective.map(|metric| shown(metric).unwrap_or(metric));
    // The others stay in their order.
    drawn.figures.sort_by_key(|figure| Some(figure.name) != first);
    drawn
}

/// The result on the page that figures are drawn for; for a slide on pages of growing width.
fn planes(results: &Results, target: Target) -> Vec<Plane<'_>> {
    let on = |page| Plane { page, ..Plane::of(results) };
    match target {
        Target::Screen => vec![Plane::of(results)],
        Target::Paper(width) => vec![on(Page::paper(width))],
        Target::Slide => Page::slides().map(on).collect(),
    }
}

/// What is drawn on the first of these pages that is high enough, or on the last one; a slide is filled.
fn fitted(planes: &[Plane<'_>], draw: impl Fn(&Plane<'_>) -> Attempt) -> Attempt {
    let (last, first) = planes.split_last().ok_or("there is no page to draw on")?;
    if first.is_empty() {
        return draw(last);
    }
    let on_slide = |figure: Figure, page: Page| {
        let paper = page.slide();
        Figure { picture: figure.picture.fitted(paper, (0.0, 0.0), paper), ..figure }
    };
    for plane in first {
        let figure = draw(plane)?;
        if figure.picture.size().1 <= plane.page.slide().1 {
            return Ok(on_slide(figure, plane.page));
        }
    }
    draw(last).map(|figure| on_slide(figure, last.page))
}
