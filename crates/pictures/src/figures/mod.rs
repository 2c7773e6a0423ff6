//! Figures of results: which apply, their drawing and their data.

mod along;
pub mod board;
mod breakdown;
mod curves;
mod dots;
pub mod effects;
mod figure;
mod frame;
mod grid;
mod heat;
pub mod kernels;
mod origin;
pub mod phase;
pub(crate) mod plane;
mod ranges;
pub mod slowdowns;
mod tiles;
pub mod tornado;
pub(crate) mod words;

pub use figure::{Figure, Omitted, Table};
pub use origin::Origin;

use experiment::metrics::{METRICS, Metric};
use experiment::result::Results;
use experiment::statements::ranking::Goal;
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

/// A kind of figure: its name, and what it makes of a result.
type Kind = (&'static str, fn(&plane::Plane<'_>) -> Attempt);

/// All kinds.
const KINDS: [Kind; 10] = [
    ("slowdown", dots::slowdown),
    ("throughput", dots::throughput),
    ("speedup", dots::speedup),
    ("sweep", curves::sweep),
    ("breakdown", breakdown::breakdown),
    ("run-time", ranges::run_time),
    ("barrier", ranges::barrier),
    ("heatmap", heat::heatmap),
    ("phase", phase::phase),
    ("effects", effects::effects),
];

/// Metrics of objectives that no kind of figure shows.
pub fn objectives() -> impl Iterator<Item = &'static str> {
    let shown = ["run_time", "makespan", "throughput", "time_per_work"];
    Objective::ALL.into_iter().map(Goal::metric_of).filter(move |name| !shown.contains(name))
}

/// The metric of the objective of a result, if no kind of figure shows it.
#[must_use]
pub fn of_objective(results: &Results) -> Option<&'static Metric> {
    let metric = Goal::metric_of(results.provenance.objective?);
    METRICS.iter().find(|known| known.name == metric && objectives().any(|name| name == metric))
}

/// Draws a metric of a result by policy.
///
/// # Errors
/// Why there is nothing to draw.
pub fn metric(results: &Results, metric: &'static Metric) -> Result<Figure, Omitted> {
    let drawn = dots::metric(&plane::Plane::of(results), metric);
    drawn.map_err(|why| Omitted { name: metric.name, why })
}

/// Names of all kinds of figures, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(name, _)| *name)
}

/// Draws every figure that the result has data for; `only` keeps those of these names, all when empty.
#[must_use]
pub fn draw(results: &Results, only: &[String]) -> Drawn {
    let plane = plane::Plane::of(results);
    let policies = &results.provenance.policies;
    let measured = results.cells.iter().any(|cell| policies.contains(&cell.policy));
    let mut drawn = Drawn { figures: Vec::new(), omitted: Vec::new() };
    for (name, kind) in KINDS {
        if !only.is_empty() && !only.iter().any(|wanted| wanted == name) {
            continue;
        }
        match if measured { kind(&plane) } else { Err("no run completed".into()) } {
            Ok(figure) => drawn.figures.push(figure),
            Err(why) => drawn.omitted.push(Omitted { name, why }),
        }
    }
    drawn
}
