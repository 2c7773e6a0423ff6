//! The results as the page lays them out: the best configuration and the best policy first, a column for each
//! swept parameter.

use experiment::result::Results;
use experiment::statements::{Extremes, Table};

use crate::figures::plane::Plane;

/// A result with its order.
pub(super) struct View<'a> {
    pub(super) results: &'a Results,
    pub(super) plane: Plane<'a>,
    pub(super) extremes: Option<Extremes<'a>>,
    /// Numbers of the configurations, the best first where they can be compared.
    pub(super) configurations: Vec<usize>,
}

impl<'a> View<'a> {
    pub(super) fn of(results: &'a Results) -> Self {
        let plane = Plane::of(results);
        let extremes = Extremes::of(&plane.index);
        let mut configurations: Vec<usize> = plane.configurations().collect();
        if let Some(extremes) = extremes.as_ref().filter(|extremes| extremes.comparable) {
            let best = |at: &usize| extremes.rankings[*at].first().map(|standing| standing.value);
            configurations.sort_by(|a, b| match (best(a), best(b)) {
                (Some(a), Some(b)) => extremes.goal.order(a, b),
                (a, b) => a.is_none().cmp(&b.is_none()),
            });
        }
        Self { results, plane, extremes, configurations }
    }

    /// The index of the cells.
    pub(super) const fn index(&self) -> &Table<'a> {
        &self.plane.index
    }

    /// The label of a configuration in cells.
    pub(super) fn label(&self, configuration: usize) -> &str {
        &self.plane.sweep().configurations[configuration].label
    }

    /// The policies at a configuration, the best first, then those that were not measured.
    pub(super) fn policies(&self, configuration: usize) -> Vec<&'a str> {
        let ranking = self.extremes.as_ref().map(|extremes| extremes.rankings[configuration].as_slice());
        let mut policies: Vec<&str> = ranking.unwrap_or_default().iter().map(|s| s.policy).collect();
        let rest = self.plane.policies.iter().copied().filter(|policy| !policies.contains(policy));
        let rest: Vec<&str> = rest.collect();
        policies.extend(rest);
        policies
    }

    /// Heads of a table: the name, a column for each swept parameter, the rest.
    pub(super) fn head(&self, name: &str, rest: &[&str]) -> Vec<String> {
        let axes = self.plane.sweep().varied.iter().map(|varied| varied.short.clone());
        let rest = rest.iter().map(|name| (*name).to_owned());
        std::iter::once(name.to_owned()).chain(axes).chain(rest).collect()
    }

    /// A row of a table: the name, the value of each swept parameter, the rest.
    pub(super) fn row(
        &self,
        name: &str,
        configuration: usize,
        rest: impl IntoIterator<Item = String>,
    ) -> Vec<String> {
        let sweep = self.plane.sweep();
        let values = (0..sweep.varied.len()).map(|axis| sweep.value(configuration, axis).unwrap_or_default());
        std::iter::once(name.to_owned()).chain(values).chain(rest).collect()
    }

    /// A name with the configuration behind it.
    pub(super) fn caption(&self, what: &str, configuration: usize) -> String {
        format!("{what}{}", self.index().with(configuration))
    }
}
