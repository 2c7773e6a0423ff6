//! The horizontal axis of curves: the values of a swept parameter, as numbers where they are.

use crate::canvas::axis::{Axis, Kind};
use crate::canvas::font;
use crate::canvas::palette::{GRID, MUTED, PAPER};
use crate::canvas::{Anchor, Area, Canvas, Letters};
use experiment::sweep::{Sweep, Varied};

use crate::figures::axis_names::{self, Named};
use crate::figures::frame::{LABEL, LOG};

/// A largest value of more than this many times the smallest one makes a logarithmic axis.
const WIDE: f64 = 20.0;
/// Values that grow by this factor or more at every step do, too.
const DOUBLING: f64 = 1.9;
/// Part of a logarithmic axis that zero and the gap behind it take.
const ZERO: f64 = 0.14;
/// Part of a linear axis before the first value and behind the last one.
const MARGIN: f64 = 0.06;
/// Lines of a label.
const LINES: usize = 3;

/// How marks of neighbouring values belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Join {
    /// Numbers: a line.
    Line,
    /// Two numbers: a faint line, because the course between them is not known.
    Pair,
    /// Names: nothing.
    Apart,
}

/// The swept parameter: the places of its values between 0 and 1, and their labels.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Along {
    /// Its position among the axes that vary.
    pub(crate) axis: usize,
    /// Its name in words, with the unit of its labels.
    pub(crate) title: String,
    /// The place of each value.
    pub(crate) places: Vec<f64>,
    /// Whether the distance of two places is that of their numbers.
    pub(crate) join: Join,
    /// Values that are labelled before others: those at which a curve turns.
    pub(crate) turns: Vec<usize>,
    labels: Vec<String>,
    log: bool,
    /// The place of the gap between zero and the other values of a logarithmic axis.
    gap: Option<f64>,
}

impl Along {
    /// The axis to go along: the longest of those with three or more numbers, else the longest one.
    pub(crate) fn of(sweep: &Sweep) -> Option<Self> {
        let rank = |at: &usize| {
            let axis = &sweep.varied[*at].axis;
            let (length, numbers) = (axis.values.len(), axis.numbers.is_some());
            (numbers && length > 2, length, numbers, std::cmp::Reverse(*at))
        };
        let axis = (0..sweep.varied.len()).max_by_key(rank)?;
        Some(Self::on(axis, &sweep.varied[axis], axis_names::named(&sweep.varied, axis)))
    }

    fn on(axis: usize, varied: &Varied, named: Named) -> Self {
        let values = &varied.axis.values;
        let (title, labels) = (named.title(), named.labels);
        let Some(numbers) = &varied.axis.numbers else {
            let places = (0..values.len()).map(|at| (at as f64 + 0.5) / values.len() as f64).collect();
            return Self {
                axis,
                title,
                places,
                join: Join::Apart,
                turns: Vec::new(),
                labels,
                log: false,
                gap: None,
            };
        };
        let join = if numbers.len() > 2 { Join::Line } else { Join::Pair };
        let positive: Vec<f64> = numbers.iter().copied().filter(|number| *number > 0.0).collect();
        let log = is_log(&positive);
        let apart = log && positive.len() < numbers.len();
        let scale = scale(if log { &positive } else { numbers }, log);
        let from = if apart { ZERO } else { 0.0 };
        let place = |number: &f64| {
            if apart && *number <= 0.0 { ZERO / 4.0 } else { from + (1.0 - from) * scale.place(*number) }
        };
        let places = numbers.iter().map(place).collect();
        Self { axis, title, places, join, turns: Vec::new(), labels, log, gap: apart.then_some(ZERO * 0.7) }
    }

    /// What it is, and whether it is logarithmic.
    pub(crate) fn name(&self) -> String {
        if self.log { format!("{}{LOG}", self.title) } else { self.title.clone() }
    }

    /// Whether a gap lies between two places: no line leads across it.
    pub(crate) fn parted(&self, a: usize, b: usize) -> bool {
        let beyond = |at: usize| self.gap.is_none_or(|gap| self.places[at] > gap);
        beyond(a) != beyond(b)
    }

    /// The smallest distance of two places, as a part of the axis.
    pub(crate) fn closest(&self) -> f64 {
        let mut places = self.places.clone();
        places.sort_by(f64::total_cmp);
        places.windows(2).map(|pair| pair[1] - pair[0]).fold(1.0, f64::min)
    }

    /// Which values are written on an axis of this width, in lines: those at which a curve turns, the first
    /// and the last, then those that have room.
    pub(crate) fn written(&self, width: f64) -> Vec<(f64, Vec<String>)> {
        let room = width / self.places.len() as f64;
        let lines = |text: &String| -> Vec<String> {
            if self.join != Join::Apart {
                return vec![text.clone()];
            }
            let mut lines = font::wrapped(text, LABEL, room - 6.0);
            lines.truncate(LINES);
            lines.iter().map(|line| font::shortened(line, LABEL, room.max(44.0) - 4.0)).collect()
        };
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.sort_by(|a, b| self.places[*a].total_cmp(&self.places[*b]));
        if let Some(last) = order.pop() {
            order.insert(1.min(order.len()), last);
        }
        order.sort_by_key(|at| !self.turns.contains(at));
        let mut shown: Vec<(f64, f64, Vec<String>)> = Vec::new();
        for at in order {
            let lines = lines(&self.labels[at]);
            let half = lines.iter().map(|line| font::width(line, LABEL)).fold(0.0, f64::max) / 2.0;
            let middle = self.places[at] * width;
            if shown.iter().all(|(other, wide, _)| (middle - other).abs() > half + wide + 5.0) {
                shown.push((middle, half, lines));
            }
        }
        shown.into_iter().map(|(middle, _, lines)| (middle, lines)).collect()
    }

    /// Draws the axis below a panel, with its labels where they are `written`.
    pub(crate) fn draw(
        &self,
        canvas: &mut Canvas,
        panel: Area,
        labels: &[(f64, Vec<String>)],
        written: bool,
    ) {
        canvas.line(&[(panel.x, panel.bottom()), (panel.right(), panel.bottom())], MUTED, 1.0);
        for place in &self.places {
            let x = panel.x + place * panel.width;
            canvas.line(&[(x, panel.y), (x, panel.bottom())], GRID, 0.75);
        }
        if let Some(gap) = self.gap {
            let x = panel.x + gap * panel.width;
            canvas.fill(Area { x: x - 3.0, y: panel.bottom() - 2.0, width: 6.0, height: 4.0 }, PAPER);
            for x in [x - 3.0, x + 3.0] {
                canvas.line(&[(x - 2.0, panel.bottom() + 5.0), (x + 2.0, panel.bottom() - 5.0)], MUTED, 1.0);
            }
        }
        for (middle, lines) in labels.iter().filter(|_| written) {
            for (row, line) in lines.iter().enumerate() {
                let at = (panel.x + middle, panel.bottom() + 11.0 + row as f64 * 14.0);
                canvas.text(at, line, Letters::new(LABEL).at(Anchor::Middle));
            }
        }
    }
}

/// Whether positive values stand better by their ratios: where they double at every step, or span a large
/// factor.
fn is_log(positive: &[f64]) -> bool {
    let mut sorted = positive.to_vec();
    sorted.sort_by(f64::total_cmp);
    let [low, .., high] = sorted[..] else { return false };
    let doubling = sorted.len() > 2 && sorted.windows(2).all(|pair| pair[1] / pair[0] >= DOUBLING);
    doubling || high / low > WIDE
}

/// An axis from 0 to 1 for these values, with a margin at both ends.
fn scale(values: &[f64], log: bool) -> Axis {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if log {
        return Axis::of(Kind::Log, low, high, 0.0, 1.0);
    }
    let margin = if high > low { (high - low) * MARGIN } else { 1.0 };
    Axis::exact(Kind::Linear, low - margin, high + margin, 0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::configuration::Axis as Swept;

    fn along(values: &[&str]) -> Along {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        let mut provenance = Sweep { configurations: Vec::new(), varied: Vec::new(), fixed: Vec::new() };
        provenance.varied.push(Varied::new(Swept::new("x", values), "x"));
        Along::of(&provenance).unwrap()
    }

    fn steps(along: &Along) -> Vec<f64> {
        along.places.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn durations_are_numbers_and_stand_where_they_belong() {
        let durations = along(&["500us", "2ms", "8ms", "32ms"]);
        assert_eq!((durations.join, durations.log), (Join::Line, true));
        let steps = steps(&durations);
        assert!(steps.windows(2).all(|pair| (pair[0] - pair[1]).abs() < 1e-9), "{steps:?}");
        assert_eq!(durations.name(), "x (ms) (log scale)");
        let labels: Vec<String> = durations.written(400.0).into_iter().flat_map(|(_, lines)| lines).collect();
        assert!(labels.contains(&"0.5".to_owned()) && labels.contains(&"2".to_owned()), "{labels:?}");
    }

    #[test]
    fn counts_that_do_not_double_are_linear() {
        let counts = along(&["16", "17", "18", "32"]);
        assert!(!counts.log);
        let steps = steps(&counts);
        assert!((steps[2] / steps[0] - 14.0).abs() < 1e-6, "{steps:?}");
        assert!(along(&["1", "3", "50"]).log, "a factor above 20");
        let from_zero = along(&["0", "2", "4"]);
        assert!(from_zero.places[0] > 0.03 && from_zero.places[2] < 0.97, "marks stay off the edges");
    }

    #[test]
    fn two_numbers_are_a_pair_and_names_stand_apart() {
        assert_eq!(along(&["17", "31"]).join, Join::Pair);
        assert_eq!(along(&["spin", "yield", "block"]).join, Join::Apart);
        assert_eq!(along(&["1ms", "infinite"]).join, Join::Apart);
    }

    #[test]
    fn zero_has_a_place_beside_a_logarithmic_axis() {
        let times = along(&["0s", "1ms", "10ms", "200ms"]);
        assert!(times.log && times.parted(0, 1) && !times.parted(1, 2));
        assert!(steps(&times).iter().all(|step| *step > 0.0));
        assert!(!along(&["0", "10", "20", "30"]).log);
    }

    #[test]
    fn the_ends_are_written_and_labels_stay_apart() {
        let values: Vec<String> = (16..=64).map(|n| n.to_string()).collect();
        let all = along(&values.iter().map(String::as_str).collect::<Vec<_>>());
        let written = all.written(300.0);
        let texts: Vec<&String> = written.iter().flat_map(|(_, lines)| lines).collect();
        assert!(texts.contains(&&"16".to_owned()) && texts.contains(&&"64".to_owned()), "{texts:?}");
        assert!(texts.len() < 20);
    }
}
