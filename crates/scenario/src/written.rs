//! What the operations of an application no longer show of how it was written.

use notation::parameter::Values;
use workloads::runtimes::RUNTIMES;

pub use workloads::program::{Call, CallOf, Collective};

/// What real runtimes need to do the same as an application.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// The runtime: that of the processes if there are two.
    pub runtime: Chosen,
    /// The runtime of the threads of a process, if that is another one.
    pub of_threads: Option<Chosen>,
    /// Operations of its program that are one call of a runtime.
    pub calls: Vec<Call>,
}

/// A runtime with its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chosen {
    /// Its name in the registry.
    pub name: &'static str,
    /// Parameters that differ from their defaults, with their values.
    pub changed: Vec<(&'static str, u64)>,
}

impl Chosen {
    /// A runtime with these values.
    pub(crate) fn of(name: &'static str, values: &Values) -> Self {
        let both = values.table().iter().zip(values.rows());
        let changed = both.filter_map(|(p, row)| {
            row.all.first().filter(|value| **value != p.default).map(|value| (p.name, *value))
        });
        Self { name, changed: changed.collect() }
    }

    /// The value of a parameter, as [`Values::number`]; none when the runtime lacks it.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        let own = self.changed.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        own.or_else(|| {
            RUNTIMES.find(self.name)?.parameters.iter().find(|p| p.name == name).map(|p| p.default)
        })
    }
}
