//! Machines from descriptions of hwloc and Linux to machine files, and machines as one line.

use std::path::Path;

use machines::import::{self, Description, Refused};
use notation::diagnostics::Sources;

use crate::machine_view::{self, Refusal};

pub use machines::import::{Exported, Imported, MAX_XML_BYTES};

/// The name in messages of a description on the command line.
const SYNTHETIC: &str = "--synthetic";
/// Longest name of a machine before the end that one of a built-in machine gets.
const MAX_NAME: usize = 48;

/// Where a machine is described; see [`Description`].
#[derive(Clone, Copy, Debug)]
pub enum From<'a> {
    /// The name and the text of an XML file of hwloc.
    Xml(&'a str, &'a str),
    /// A synthetic description of hwloc.
    Synthetic(&'a str),
    /// The files `sys` and `proc` below a directory.
    Host(&'a Path),
}

/// Imports a machine under a name that is made from `title`, such as the stem of a file; with `largest`, an
/// irregular machine is cut down to the largest regular one inside it.
///
/// # Errors
/// What is wrong with the description, or why the simulator has no such machine.
pub fn import(from: From<'_>, title: &str, largest: bool) -> Result<Imported, Refusal> {
    let (description, name, text) = match from {
        From::Xml(name, text) => (Description::Xml { name, text }, name, text),
        From::Synthetic(text) => (Description::Synthetic(text), SYNTHETIC, text),
        From::Host(root) => (Description::Host(root), "", ""),
    };
    import::import(description, &name_of(title, "imported"), largest).map_err(|refused| match refused {
        Refused::Sentence(sentence) => Refusal::Sentence(sentence),
        Refused::Problems(problems) => Refusal::Rendered(Sources::new(name, text).render(&problems)),
    })
}

/// A legal name of a machine that is not that of a built-in one; what became of the machine is its end then,
/// and the name of one without title.
pub(crate) fn name_of(title: &str, became: &str) -> String {
    let good = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '-' };
    let name: String = title.chars().take(MAX_NAME).map(good).collect();
    match name.as_str() {
        "" => became.to_owned(),
        name if machines::names().any(|built_in| built_in == name) => format!("{name}-{became}"),
        _ => name,
    }
}

/// The synthetic description of a machine: of a name, a file's path or a description.
///
/// # Errors
/// What is wrong with the name, the file or the description.
pub fn export_synthetic(machine: &str) -> Result<Exported, Refusal> {
    import::export_synthetic(&machine_view::find(machine)?).map_err(Refusal::Sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal_and_no_built_in_ones() {
        assert_eq!(name_of("my box/é", "imported"), "my-box--");
        assert_eq!(
            (name_of("", "imported"), name_of("epyc", "imported")),
            ("imported".into(), "epyc-imported".into())
        );
    }

    #[test]
    fn what_is_wrong_is_shown_with_its_place() {
        let wrong = import(From::Synthetic("pack:2 coer:4 pu:2"), "m", false).unwrap_err();
        let Refusal::Rendered(text) = wrong else { panic!("{wrong:?}") };
        assert!(text.contains("--synthetic:1:8") && text.contains("did you mean `core`?"), "{text}");
    }
}
