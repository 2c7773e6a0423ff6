//! The JSON Schemas (draft-07) of scenario files and machine files, made from keys and registries. Editors
//! complete names and check values with them.

use policies::PolicyRegistry;
use serde_json::{Value, json};

use crate::json::parameters;
use crate::key::properties;
use crate::keys::SCENARIO;

/// The schema.
#[must_use]
pub fn schema() -> Value {
    schema_with(&PolicyRegistry::default())
}

/// As [`schema`], with these policies.
#[must_use]
pub fn schema_with(known: &PolicyRegistry) -> Value {
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

/// The schema of machine files.
#[must_use]
pub fn machine() -> Value {
    let kernels: Vec<&str> = kernels::KERNELS.entries.iter().map(|entry| entry.name).collect();
    let mut values = parameters(machines::Parameters::TABLE, false);
    for value in values["properties"].as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
        *value = sourced(value);
    }
    let factor = json!({ "type": ["number", "string"] });
    let rows = json!({ "type": "array", "minItems": 1, "items": { "type": "array", "items": factor } });
    let factors = json!({ "type": "array", "minItems": 1, "items": factor });
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "oversim machine file",
        "description": "A machine: its shape and its costs, each value with its source.",
        "type": "object",
        "required": ["name", "summary", "topology"],
        "additionalProperties": false,
        "properties": {
            "name": { "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$" },
            "summary": { "type": "string", "description": "The machine in one line." },
            "about": { "type": "string", "description": "More about it." },
            "kernel": sourced(&json!({
                "enum": kernels,
                "description": "The kernel of scenarios that name none.",
            })),
            "topology": sourced(&json!({
                "type": "string",
                "description": "Its shape from the outermost level to the innermost, as \"package:2 numa:1 \
                    core:8 pu:2\".",
            })),
            "values": values,
            "lists": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "distances": sourced(&rows),
                    "turbo": sourced(&json!({ "anyOf": [factors, rows] })),
                    "core_speeds": sourced(&factors),
                    "idle_exit": sourced(&rows),
                    "wake_remote": sourced(&rows),
                    "cpu_numbers": sourced(&json!({ "type": ["string", "array", "integer"] })),
                },
            },
        },
    })
}

/// A value with its source.
fn sourced(value: &Value) -> Value {
    json!({
        "type": "object",
        "required": ["value", "source"],
        "additionalProperties": false,
        "properties": {
            "value": value,
            "source": { "type": "string", "description": "Where the value comes from." },
            "uncertain": { "type": "boolean", "description": "It is an estimate, or of another machine." },
            "range": {
                "type": "array",
                "items": value,
                "minItems": 2,
                "maxItems": 2,
                "description": "Smallest and largest value that the source allows, for an uncertain value. \
                    Without it, --uncertainty draws from a fifth below to a fifth above the value.",
            },
        },
    })
}
