//! The sweep of a result as reports and figures name it: axes with short names, and each configuration in
//! words.

use scenario::configuration::{Axis, Configuration, plain};

use crate::provenance::Provenance;

/// A swept path with more than one value.
#[derive(Clone, PartialEq, Debug)]
pub struct Varied {
    /// The axis.
    pub axis: Axis,
    /// Its last part, or as much of its path as distinguishes it from the other axes.
    pub short: String,
    /// Its position among all axes.
    position: usize,
}

impl Varied {
    /// The only axis of a sweep.
    #[must_use]
    pub fn new(axis: Axis, short: &str) -> Self {
        Self { axis, short: short.to_owned(), position: 0 }
    }
}

/// The axes and configurations of a result.
#[derive(Clone, PartialEq, Debug)]
pub struct Sweep {
    /// The configurations in order; one without a sweep.
    pub configurations: Vec<Configuration>,
    /// Axes with more than one value.
    pub varied: Vec<Varied>,
    /// Settings that all configurations share, `path=value`.
    pub fixed: Vec<String>,
}

impl Sweep {
    /// The sweep of a result.
    #[must_use]
    pub fn of(provenance: &Provenance) -> Self {
        Self::new(&provenance.sweep, &provenance.configurations)
    }

    /// The sweep over these axes.
    #[must_use]
    pub fn new(axes: &[Axis], configurations: &[Configuration]) -> Self {
        let axes = axes.iter().enumerate();
        let (varied, fixed): (Vec<_>, Vec<_>) = axes.partition(|(_, axis)| axis.values.len() > 1);
        let paths: Vec<&str> = varied.iter().map(|(_, axis)| axis.path.as_str()).collect();
        let named = |(position, axis): &(usize, &Axis)| Varied {
            axis: (*axis).clone(),
            short: short(&axis.path, &paths),
            position: *position,
        };
        Self {
            configurations: configurations.to_vec(),
            varied: varied.iter().map(named).collect(),
            fixed: fixed
                .iter()
                .map(|(_, axis)| format!("{}={}", axis.path, axis.values.join(", ")))
                .collect(),
        }
    }

    /// Labels of the configurations, as cells have them.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.configurations.iter().map(|configuration| configuration.label.as_str())
    }

    /// What distinguishes a configuration from the others, `threads_per_core=1, runtime=spin`; empty for a
    /// single one.
    #[must_use]
    pub fn short(&self, configuration: usize) -> String {
        let all: Vec<usize> = (0..self.varied.len()).collect();
        self.described(configuration, &all)
    }

    /// The settings of a configuration on some axes.
    #[must_use]
    pub fn described(&self, configuration: usize, axes: &[usize]) -> String {
        let each = axes.iter().filter_map(|axis| {
            Some(format!("{}={}", self.varied.get(*axis)?.short, self.value(configuration, *axis)?))
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// The settings of a configuration that another one does not share.
    #[must_use]
    pub fn differing(&self, configuration: usize, other: usize) -> String {
        self.described(configuration, &self.axes(configuration, other, false))
    }

    /// The settings that two configurations share.
    #[must_use]
    pub fn common(&self, configuration: usize, other: usize) -> String {
        self.described(configuration, &self.axes(configuration, other, true))
    }

    /// The axes on which two configurations have the same value, or have different ones.
    fn axes(&self, one: usize, other: usize, same: bool) -> Vec<usize> {
        let alike = |axis: &usize| (self.place(one, *axis) == self.place(other, *axis)) == same;
        (0..self.varied.len()).filter(alike).collect()
    }

    /// The value of a configuration on an axis, without the signs of YAML around it.
    #[must_use]
    pub fn value(&self, configuration: usize, axis: usize) -> Option<String> {
        let place = self.place(configuration, axis)?;
        self.varied.get(axis)?.axis.values.get(place).map(|value| plain(value))
    }

    /// The values of a configuration on all axes.
    #[must_use]
    pub fn values(&self, configuration: usize) -> String {
        let all = (0..self.varied.len()).filter_map(|axis| self.value(configuration, axis));
        all.collect::<Vec<_>>().join(", ")
    }

    /// The short names of all axes.
    #[must_use]
    pub fn names(&self) -> String {
        self.varied.iter().map(|varied| varied.short.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The position of a configuration's value on an axis.
    #[must_use]
    pub fn place(&self, configuration: usize, axis: usize) -> Option<usize> {
        self.configurations.get(configuration)?.places.get(self.varied.get(axis)?.position).copied()
    }
}

/// The last part of a path, with as many before it as distinguish it from the others; the application belongs
/// to its keys.
#[must_use]
pub fn short(path: &str, paths: &[&str]) -> String {
    let tail = |path: &str, parts: usize| {
        let all: Vec<&str> = path.split('.').collect();
        all[all.len().saturating_sub(parts)..].join(".")
    };
    let alone = |parts: &usize| {
        let mine = tail(path, *parts);
        paths.iter().all(|other| *other == path || tail(other, *parts) != mine)
    };
    let parts = (1..8).find(alone).unwrap_or(8);
    match path.strip_prefix("apps.") {
        Some(rest) if parts == 1 => {
            let app = rest.split('.').next().unwrap_or(rest);
            format!("{app}.{}", tail(path, 1))
        }
        _ => tail(path, parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::fixture;
    use scenario::configuration::Settings;

    fn sweep(axes: &[(&str, &[&str])]) -> Sweep {
        let mut provenance = fixture::two_apps().provenance;
        let axis = |(path, values): &(&str, &[&str])| {
            Axis::new(path, values.iter().map(|value| (*value).to_owned()).collect())
        };
        provenance.sweep = axes.iter().map(axis).collect();
        let mut places: Vec<Vec<usize>> = vec![Vec::new()];
        for (_, values) in axes {
            let next = |earlier: &Vec<usize>| {
                let earlier = earlier.clone();
                (0..values.len()).map(move |at| earlier.iter().copied().chain([at]).collect())
            };
            places = places.iter().flat_map(next).collect();
        }
        let configuration =
            |places| Configuration { label: String::new(), settings: Settings::default(), places };
        provenance.configurations = places.into_iter().map(configuration).collect();
        Sweep::of(&provenance)
    }

    #[test]
    fn configurations_are_named_by_what_varies() {
        let sweep = sweep(&[
            ("machine", &["barcelona"]),
            ("apps.a.runtime", &["{openmp: {x: 1, y: 2}}", "upc"]),
            ("threads_per_core", &["1", "2"]),
        ]);
        assert_eq!(sweep.names(), "a.runtime, threads_per_core");
        assert_eq!(sweep.fixed, ["machine=barcelona"]);
        assert_eq!(sweep.short(1), "a.runtime=openmp x 1, y 2, threads_per_core=2");
        assert_eq!((sweep.place(2, 0), sweep.place(2, 1)), (Some(1), Some(0)));
        assert_eq!(sweep.values(2), "upc, 1");
        assert_eq!(
            (sweep.differing(2, 3), sweep.common(2, 3)),
            ("threads_per_core=1".into(), "a.runtime=upc".into())
        );
    }

    #[test]
    fn names_are_as_long_as_they_need_to_be() {
        let sweep =
            sweep(&[("apps.a.workload.program", &["x", "y"]), ("apps.b.workload.program", &["x", "y"])]);
        assert_eq!(sweep.varied[0].short, "a.workload.program");
    }

    #[test]
    fn without_a_sweep_nothing_varies() {
        let sweep = sweep(&[]);
        assert_eq!((sweep.configurations.len(), sweep.short(0).as_str()), (1, ""));
    }
}
