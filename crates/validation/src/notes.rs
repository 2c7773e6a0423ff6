//! What people wrote about groups of claims and about misses.

use notation::typed;
use serde::Deserialize;
use std::collections::BTreeMap;

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
    use crate::claims;

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
