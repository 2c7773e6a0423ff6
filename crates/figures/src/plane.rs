//! The configurations of a result as figures lay them out.

use experiment::provenance::Provenance;
use experiment::sweep::Sweep;

/// The sweep of a result, with the labels that cells have.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Plane {
    /// Labels of the configurations, in order.
    pub(crate) configurations: Vec<String>,
    /// Axes and names.
    pub(crate) sweep: Sweep,
}

impl Plane {
    /// The configurations of a result.
    pub(crate) fn of(provenance: &Provenance) -> Self {
        let sweep = Sweep::of(provenance);
        Self { configurations: sweep.labels().map(str::to_owned).collect(), sweep }
    }

    /// Settings shared by all configurations, as an addition to a subtitle.
    pub(crate) fn remark(&self) -> String {
        let fixed = &self.sweep.fixed;
        if fixed.is_empty() { String::new() } else { format!("; {}", fixed.join(", ")) }
    }
}
