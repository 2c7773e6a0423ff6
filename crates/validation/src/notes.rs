//! What people wrote about groups of claims and about misses.

use std::collections::BTreeMap;

use notation::typed;
use serde::Deserialize;

use crate::claims;

const GROUPS: &str = include_str!("../data/groups.yaml");
const ANALYSES: &str = include_str!("../data/analyses.yaml");

/// Why some claims miss.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Analysis {
    /// Ids of shipped claims. Only pages of the shipped claims show analyses; no verdict depends on them.
    pub claims: Vec<String>,
    /// Which mechanism is wrong or missing.
    pub mechanism: String,
    /// Which input would settle it.
    pub settle: String,
}

/// A source that was read and could not be used.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unused {
    /// What it is.
    pub source: String,
    /// What it lacks.
    pub why: String,
}

/// The sources of the modern chapter.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Sources {
    /// Those of its claims, by the names that the claims use.
    pub documents: BTreeMap<String, String>,
    /// Those without claims.
    pub unused: Vec<Unused>,
}

/// The sources of the modern chapter.
///
/// # Errors
/// The file built in is wrong.
pub fn modern() -> Result<Sources, String> {
    typed::parse(claims::MODERN_NAME, claims::MODERN)
}

/// What each group of claims is about.
///
/// # Errors
/// The file built in is wrong.
pub fn groups() -> Result<BTreeMap<String, String>, String> {
    typed::parse("groups.yaml", GROUPS)
}

/// All analyses.
///
/// # Errors
/// The file built in is wrong.
pub fn analyses() -> Result<Vec<Analysis>, String> {
    typed::parse("analyses.yaml", ANALYSES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modern_claims_name_documents_of_their_file() {
        let sources = modern().unwrap();
        for claim in claims::read(claims::MODERN_NAME, claims::MODERN).unwrap() {
            let name = claim.source.split([':', ' ']).next().unwrap();
            assert!(sources.documents.contains_key(name), "{}: no document {name}", claim.id);
        }
        assert!(!sources.unused.is_empty());
    }

    #[test]
    fn notes_speak_of_claims_and_groups_that_exist() {
        let shipped = claims::shipped().unwrap();
        for id in analyses().unwrap().iter().flat_map(|analysis| &analysis.claims) {
            assert!(shipped.iter().any(|claim| claim.id == *id), "no claim {id}");
        }
        let groups = groups().unwrap();
        for claim in &shipped {
            assert!(groups.contains_key(&claim.group), "the group {} has no text", claim.group);
        }
        assert!(groups.keys().all(|name| shipped.iter().any(|claim| claim.group == *name)));
    }
}
