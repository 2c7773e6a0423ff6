//! The response of a metric over a sweep: which policy is best where, by how much and how certain that is,
//! and which parameters the metric depends on.

pub mod effects;
pub mod map;
pub mod regions;
pub mod winners;

use std::collections::BTreeMap;

use scenario::configuration::{Axis, plain};

use crate::metrics::{ALL_APPS, Better, METRICS};
use crate::result::{Cell, Results};
use crate::statements::Table;
use crate::statements::table::Goal;
use crate::suggest::{hint, metric_hint};
use crate::sweep::short;

/// The values of one metric over a sweep.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Response {
    /// Name of the scenario.
    pub scenario: String,
    /// Swept paths with more than one value. Sampled parameters have a value for each configuration.
    pub axes: Vec<Axis>,
    /// Settings that were chosen of a larger sweep, `path=value`.
    pub fixed: Vec<String>,
    /// Labels of the policies.
    pub policies: Vec<String>,
    /// The application, or [`ALL_APPS`].
    pub app: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The configurations; combinations that the sweep leaves out are absent.
    pub points: Vec<Point>,
    /// What extrapolation may have added to or taken from a mean (`fidelity: sampled`), relative to it: half
    /// of a 95 % interval, the largest one. 0 for exact runs.
    pub sampling_error: f64,
}

/// The values of one configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// The position of its value on each axis.
    pub places: Vec<usize>,
    /// For each policy the value of each replicate, in order of seed; `None` where a run did not complete.
    pub values: Vec<Vec<Option<f64>>>,
}

impl Response {
    /// The response of a metric of an application (or of [`ALL_APPS`]) in a result.
    ///
    /// # Errors
    /// A sentence: the metric cannot rank policies, or no run has it.
    pub fn of(results: &Results, app: &str, metric: &str) -> Result<Self, String> {
        ranks(metric)?;
        let provenance = &results.provenance;
        let kept: Vec<usize> =
            (0..provenance.sweep.len()).filter(|axis| provenance.sweep[*axis].values.len() > 1).collect();
        let wanted = |cell: &&Cell| cell.metric == metric && cell.app == app;
        let cells: Vec<&Cell> = results.cells.iter().filter(wanted).collect();
        let mut index: BTreeMap<(&str, &str), &Cell> = BTreeMap::new();
        for cell in &cells {
            index.entry((&cell.configuration, &cell.policy)).or_insert(cell);
        }
        let values = |label: &str, policy: &str| {
            index.get(&(label, policy)).map_or_else(Vec::new, |cell| cell.values.clone())
        };
        let points: Vec<Point> = provenance
            .configurations
            .iter()
            .map(|configuration| Point {
                places: kept.iter().filter_map(|axis| configuration.places.get(*axis).copied()).collect(),
                values: provenance.policies.iter().map(|p| values(&configuration.label, p)).collect(),
            })
            .collect();
        if points.iter().flat_map(|point| &point.values).flatten().all(Option::is_none) {
            return Err(format!("no run under a policy has {metric} of {app}"));
        }
        let of_policies = cells.iter().filter(|cell| provenance.policies.contains(&cell.policy));
        Ok(Self {
            scenario: provenance.scenario.clone(),
            axes: kept.iter().map(|axis| provenance.sweep[*axis].clone()).collect(),
            fixed: Vec::new(),
            policies: provenance.policies.clone(),
            app: app.to_owned(),
            metric: metric.to_owned(),
            unit: cells.first().map_or_else(String::new, |cell| cell.unit.clone()),
            points,
            sampling_error: of_policies.map(|cell| cell.summary.sampling_error).fold(0.0, f64::max),
        })
    }

    /// The response of what policies are ranked by ([`Goal::of`]), or of another application or metric.
    ///
    /// # Errors
    /// A sentence: an unknown name, or an application that has to be named.
    pub fn chosen(results: &Results, app: Option<&str>, metric: Option<&str>) -> Result<Self, String> {
        let table = Table::of(results);
        let apps: Vec<&str> = results.provenance.apps.iter().map(String::as_str).chain([ALL_APPS]).collect();
        if let Some(app) = app.filter(|app| !apps.contains(app)) {
            let hint = hint(app, apps.iter().copied());
            let stop = if hint.is_empty() { "." } else { "" };
            return Err(format!("no application is called `{app}`{hint}{stop} Valid: {}", apps.join(", ")));
        }
        if let Some(metric) = metric {
            ranks(metric)?;
        }
        let measured: Vec<&str> = match metric {
            Some(metric) => apps.iter().copied().filter(|app| table.measures(app, metric)).collect(),
            None => Vec::new(),
        };
        match (app, metric) {
            (Some(app), Some(metric)) => Self::of(results, app, metric),
            (Some(ALL_APPS), None) => Self::of(
                results,
                ALL_APPS,
                if results.provenance.window { "time_per_work" } else { "makespan" },
            ),
            (Some(app), None) => Self::of(results, app, table.time()),
            (None, None) => {
                let goal = Goal::of(&table).ok_or("no run completed")?;
                Self::of(results, &goal.app, goal.metric)
            }
            (None, Some(metric)) => match measured[..] {
                [] => Err(format!("no run under a policy has {metric}")),
                [only] => Self::of(results, only, metric),
                _ if measured.contains(&ALL_APPS) => Self::of(results, ALL_APPS, metric),
                _ => Err(format!(
                    "{metric} belongs to each of {}: choose one with --app",
                    crate::number::listed(&measured)
                )),
            },
        }
    }

    /// Short names of the axes.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let paths: Vec<&str> = self.axes.iter().map(|axis| axis.path.as_str()).collect();
        paths.iter().map(|path| short(path, &paths)).collect()
    }

    /// A value of an axis as sentences and figures write it.
    #[must_use]
    pub fn value(&self, axis: usize, place: usize) -> String {
        let written = self.axes.get(axis).and_then(|axis| axis.values.get(place));
        written.map_or_else(String::new, |value| plain(value))
    }

    /// The axis of a path, or of its short name.
    ///
    /// # Errors
    /// A sentence with the valid paths.
    pub fn axis(&self, path: &str) -> Result<usize, String> {
        let names = self.names();
        let found = self.axes.iter().position(|axis| axis.path == path);
        found.or_else(|| names.iter().position(|name| name == path)).ok_or_else(|| {
            if self.axes.is_empty() {
                return format!("`{path}` is not swept: nothing is");
            }
            let paths = || self.axes.iter().map(|axis| axis.path.as_str());
            let hint = hint(path, paths());
            let stop = if hint.is_empty() { "." } else { "" };
            format!("`{path}` is not swept{hint}{stop} Swept: {}", paths().collect::<Vec<_>>().join(", "))
        })
    }

    /// Only the configurations with this value of an axis, which is then no axis.
    ///
    /// # Errors
    /// A sentence with the valid paths or values.
    pub fn at(&self, path: &str, value: &str) -> Result<Self, String> {
        let axis = self.axis(path)?;
        let of = &self.axes[axis];
        let number = Axis::new(path, vec![value.to_owned()]).numbers.and_then(|all| all.first().copied());
        let equal = |place: usize| {
            let number_of = of.numbers.as_ref().and_then(|all| all.get(place));
            // The same number in another unit.
            number.is_some() && number_of.copied() == number
        };
        let written = of.values.iter().position(|known| known == value || plain(known) == plain(value));
        let place =
            written.or_else(|| (0..of.values.len()).find(|place| equal(*place))).ok_or_else(|| {
                let values: Vec<String> =
                    (0..of.values.len().min(20)).map(|at| self.value(axis, at)).collect();
                let more = if of.values.len() > 20 { ", ..." } else { "" };
                format!("{} has no value `{value}`. Valid: {}{more}", of.path, values.join(", "))
            })?;
        let mut part = self.clone();
        part.fixed.push(format!("{}={}", of.path, self.value(axis, place)));
        part.axes.remove(axis);
        part.points.retain(|point| point.places.get(axis) == Some(&place));
        for point in &mut part.points {
            point.places.remove(axis);
        }
        Ok(part)
    }

    /// The number of replicates: the most that any configuration has.
    #[must_use]
    pub fn replicates(&self) -> usize {
        self.points.iter().flat_map(|point| &point.values).map(Vec::len).max().unwrap_or(0)
    }

    /// Which values are better.
    #[must_use]
    pub fn better(&self) -> Better {
        METRICS.iter().find(|m| m.name == self.metric).and_then(|m| m.better).unwrap_or(Better::Lower)
    }

    /// The metric and whose it is: `run_time of cg`.
    #[must_use]
    pub fn what(&self) -> String {
        if self.app == ALL_APPS { self.metric.clone() } else { format!("{} of {}", self.metric, self.app) }
    }
}

/// Checks that policies can be ranked by a metric.
///
/// # Errors
/// A sentence: there is no such metric, or none of its values is better.
pub fn ranks(name: &str) -> Result<(), String> {
    let Some(metric) = METRICS.iter().find(|metric| metric.name == name) else {
        let usable = METRICS.iter().filter(|m| m.has_replicates && m.better.is_some());
        let mut known: Vec<&str> = usable.map(|metric| metric.name).collect();
        let mut seen = std::collections::BTreeSet::new();
        known.retain(|name| seen.insert(*name));
        let hint = metric_hint(name, known.iter().copied());
        let stop = if hint.is_empty() { "." } else { "" };
        return Err(format!("no metric is called `{name}`{hint}{stop} Valid: {}", known.join(", ")));
    };
    if !metric.has_replicates {
        return Err(format!("`{name}` is one value over all replicates, so policies cannot be ranked by it"));
    }
    if metric.better.is_none() {
        return Err(format!(
            "neither more nor less of `{name}` is better, so policies cannot be ranked by it"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
