//! The JSON Schema (draft-07) of scenario files, made from keys and registries.
//! Editors complete names and check values with it.

use policies::PolicyShelf;
use serde_json::{Value, json};

use crate::key::properties;
use crate::keys::SCENARIO;

/// The schema.
#[must_use]
pub fn schema() -> Value {
    schema_with(&PolicyShelf::default())
}

/// As [`schema`], with these policies.
#[must_use]
pub fn schema_with(known: &PolicyShelf) -> Value {
    let required = SCENARIO.iter().filter(|key| !key.add.is_empty()).map(|key| key.name);
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "oversim scenario",
        "description": "A simulated experiment: applications that share a machine, under several scheduling \
            policies.",
        "type": "object",
        "required": required.collect::<Vec<_>>(),
        "additionalProperties": false,
        "properties": properties(SCENARIO, known),
    })
}
