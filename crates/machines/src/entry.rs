//! A machine with its values and their sources.

use notation::parameter::Values;
use sim_core::machine::{Machine, Topology};

use crate::parameters::{Lists, build, check};

/// Where a value of a machine comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The parameter, `topology`, `kernel`, or `lists.` and the name of a list.
    pub parameter: String,
    /// Paper, data sheet or measurement.
    pub source: String,
    /// No measurement of this very machine: `oversim run --uncertainty` varies it.
    pub uncertain: bool,
    /// Smallest and largest value that the source allows, as the parameter holds them; none where it does not
    /// say.
    pub range: Option<(u64, u64)>,
}

/// Begins the source of a value that was measured while others used the host.
pub const DISTURBED: &str = "disturbed";

impl Note {
    /// The value was measured while others used the host.
    #[must_use]
    pub fn disturbed(&self) -> bool {
        self.source.starts_with(DISTURBED)
    }
}

/// A built-in machine or a synthetic one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name: as in the data file, or the synthetic description itself.
    pub name: String,
    /// One line.
    pub summary: String,
    /// What it is and what to use it for, a few sentences; may be empty.
    pub about: String,
    /// Its shape, as a synthetic description.
    pub topology_text: String,
    /// Its shape.
    pub topology: Topology,
    /// The kernel it ran in the literature, or runs; the registry of kernels may lack it.
    pub kernel: Option<String>,
    /// Its values of [`crate::Parameters`]; they are the table's defaults too, so [`Values::changed`] lists
    /// overrides only.
    pub values: Values,
    /// Its distances, turbo steps and speeds of cores.
    pub lists: Lists,
    /// Sources of all of this.
    pub notes: Vec<Note>,
    /// What the user of the file should know: names that have changed, sentences without full stop.
    pub remarks: Vec<String>,
}

impl Entry {
    /// The machine with its own values.
    #[must_use]
    pub fn machine(&self) -> Machine {
        build(&self.name, &self.topology, &self.values, &self.lists)
    }

    /// Checks what only its values and lists together can get wrong, after values have been set.
    ///
    /// # Errors
    /// A sentence.
    pub fn check(&self) -> Result<(), String> {
        check(&self.topology, &self.values, &self.lists)
    }
}
