//! Imports a machine: from hwloc's XML, from hwloc's synthetic descriptions, or from the sysfs of Linux, to
//! the text of a machine file.
//!
//! Every imported value has its source in the file. What a topology does not state has the default of a
//! present-day server. Shapes that a regular tree cannot have are refused, or cut down on request.

mod bitmap;
mod cgroup;
mod complete;
mod cores;
mod elements;
mod found;
mod indexes;
mod kinds;
mod near;
mod regular;
mod synthetic;
mod sysfs;
mod sysfs_files;
mod values;
mod write;
mod xml;
mod xml_tables;

use std::path::Path;

use notation::diagnostics::{Diagnostic, Place};

use crate::entry::Entry;
use crate::file;
use cores::Core;
use found::Found;
use regular::Regular;

pub use synthetic::Exported;
pub use synthetic::export as export_synthetic;

/// Most bytes of an hwloc XML file: the largest machines have some megabytes.
pub const MAX_XML_BYTES: u64 = 16 << 20;

/// Where a machine is described.
#[derive(Clone, Copy, Debug)]
pub enum Description<'a> {
    /// XML that `lstopo` has written: the name of the file and its text.
    Xml {
        /// For sources and messages.
        name: &'a str,
        /// What it holds.
        text: &'a str,
    },
    /// A synthetic description of hwloc, such as `pack:2 core:4 pu:2`.
    Synthetic(&'a str),
    /// The files `sys` and `proc` of Linux below this directory: `/` for this computer.
    Host(&'a Path),
}

/// An imported machine.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The text of its machine file.
    pub text: String,
    /// The machine that this text describes.
    pub entry: Entry,
    /// What was left out, ignored or missing: sentences without full stop.
    pub remarks: Vec<String>,
}

/// Why nothing was imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// A sentence.
    Sentence(String),
    /// What is wrong with the text of the description, with places.
    Problems(Vec<Diagnostic>),
}

impl From<String> for Refused {
    fn from(sentence: String) -> Self {
        Self::Sentence(sentence)
    }
}

/// Imports a machine under a name; with `largest`, an irregular one is cut down to the largest regular
/// machine inside it.
///
/// # Errors
/// What is wrong with the description, or why the simulator has no such machine.
pub fn import(description: Description<'_>, name: &str, largest: bool) -> Result<Imported, Refused> {
    let found = match description {
        Description::Xml { name, text } => xml::read(name, text).map_err(|problem| problems(*problem))?,
        Description::Synthetic(text) => synthetic::read(text).map_err(|problem| problems(*problem))?,
        Description::Host(root) => sysfs::read(root)?,
    };
    // A shape that the simulator lacks concerns the description as a whole.
    let refused = |why: String| match description {
        Description::Host(_) => Refused::Sentence(why),
        _ => problems(Diagnostic::new(Place::NONE, why)),
    };
    build(&found, name, largest).map_err(refused)
}

fn problems(problem: Diagnostic) -> Refused {
    Refused::Problems(vec![problem])
}

fn build(found: &Found, name: &str, largest: bool) -> Result<Imported, String> {
    let cores = cores::cores_of(found)?;
    if cores.is_empty() {
        return Err("there is no cpu that a program may use".into());
    }
    let mut remarks = found.remarks.clone();
    let regular = match regular::regular(found, &cores, largest) {
        Ok(regular) => regular,
        Err(why) => own_nodes(found, cores, largest, &why, &mut remarks)?,
    };
    let text = write::machine_file(found, &regular, name, &mut remarks);
    let entry = file::read(0, &text).map_err(|problems| {
        let first = problems.first().map_or_else(String::new, |problem| problem.message.clone());
        format!("the machine does not fit into a machine file: {first}")
    })?;
    Ok(Imported { text, entry, remarks })
}

/// Packages and NUMA nodes that do not fit together may do so without the cpus that have no node of their
/// own.
fn own_nodes(
    found: &Found,
    mut cores: Vec<Core>,
    largest: bool,
    why: &str,
    remarks: &mut Vec<String>,
) -> Result<Regular, String> {
    let borrows = |core: &Core| found.borrowed.contains(&core.first);
    if regular::regular(found, &cores, true).is_ok() || !cores.iter().any(borrows) {
        return Err(why.to_owned());
    }
    cores.retain(|core| !borrows(core));
    let borrowed: Vec<u32> = found.borrowed.iter().copied().collect();
    let regular = regular::regular(found, &cores, true).map_err(|_| why.to_owned())?;
    let left_out = found::named(&borrowed);
    if !largest {
        return Err(format!(
            "{why}. --largest-regular imports `{}`, without {left_out}, which have no NUMA node of their own",
            regular.topology
        ));
    }
    remarks.push(format!("{left_out} left out: they have no NUMA node of their own, and {why}"));
    Ok(regular)
}
