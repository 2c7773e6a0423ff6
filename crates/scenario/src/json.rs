//! The JSON Schema of parameter tables: names with their parameters, and values of each kind.

use notation::parameter::{Kind, Parameter};
use notation::units;
use serde_json::{Map, Value, json};

/// Largest integer that every reader of JSON keeps exact (2^53 - 1, RFC 8259 section 6).
const EXACT: u64 = (1 << 53) - 1;

/// Names of scenarios, applications and labels.
pub(crate) const WORD: &str = "^[A-Za-z0-9_-]{1,64}$";

/// A name, or one name with its parameters.
pub(crate) fn choice<'a>(
    about: &str,
    entries: impl Iterator<Item = (&'a str, &'a str, &'a [Parameter])>,
) -> Value {
    let mut names = Vec::new();
    let mut properties = Map::new();
    for (name, summary, table) in entries {
        names.push(name.to_owned());
        let mut of = parameters(table, true);
        of["description"] = json!(summary);
        properties.insert(name.to_owned(), of);
    }
    let mut schema = json!({
        "anyOf": [
            { "enum": names },
            {
                "type": "object",
                "minProperties": 1,
                "maxProperties": 1,
                "additionalProperties": false,
                "properties": properties,
            },
        ],
    });
    if !about.is_empty() {
        schema["description"] = json!(about);
    }
    schema
}

/// The mapping of a table's parameters.
pub(crate) fn parameters(table: &[Parameter], with_defaults: bool) -> Value {
    let properties: Map<String, Value> =
        table.iter().map(|p| (p.name.to_owned(), parameter(p, with_defaults))).collect();
    json!({ "type": ["object", "null"], "additionalProperties": false, "properties": properties })
}

fn parameter(parameter: &Parameter, with_default: bool) -> Value {
    let Parameter { kind, default, about, .. } = *parameter;
    let mut schema = value(parameter);
    if let Kind::PerApp(_) = kind {
        let each =
            json!({ "type": "object", "propertyNames": { "pattern": WORD }, "additionalProperties": schema });
        schema = json!({ "anyOf": [schema, each] });
    }
    schema["description"] = json!(about);
    if with_default && !kind.is_list() {
        schema["default"] = match kind.of_one() {
            Kind::Count => json!(default.min(EXACT)),
            Kind::Signed => json!(Kind::of_signed(default)),
            Kind::Factor => json!(thousandths(default)),
            Kind::Flag => json!(default != 0),
            kind => json!(kind.show(default)),
        };
    }
    schema
}

/// One value of a parameter.
fn value(parameter: &Parameter) -> Value {
    let Parameter { kind, min, max, .. } = *parameter;
    let kind = kind.of_one();
    match kind {
        Kind::Duration | Kind::Size | Kind::Rate | Kind::Percent => {
            json!({ "type": "string", "pattern": units::pattern(kind) })
        }
        Kind::Count => json!({ "type": "integer", "minimum": min.min(EXACT), "maximum": max.min(EXACT) }),
        Kind::Signed => {
            json!({ "type": "integer", "minimum": Kind::of_signed(min), "maximum": Kind::of_signed(max) })
        }
        Kind::Factor => json!({
            "anyOf": [
                { "type": "number", "minimum": thousandths(min), "maximum": thousandths(max) },
                { "type": "string", "pattern": units::pattern(kind) },
            ],
        }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Cpus => list(
            &json!({ "type": ["integer", "string"], "minimum": 0, "pattern": units::pattern(kind) }),
            kind,
        ),
        Kind::Counts => list(&json!({ "type": "integer", "minimum": min, "maximum": max.min(EXACT) }), kind),
        // `of_one` leaves none.
        Kind::PerApp(_) => json!({}),
    }
}

/// A list: as one, as a text, or a single number.
pub(crate) fn list(item: &Value, kind: Kind) -> Value {
    json!({
        "anyOf": [
            { "type": "string", "pattern": units::pattern(kind) },
            { "type": "integer", "minimum": 0 },
            { "type": "array", "minItems": 1, "items": item },
        ],
    })
}

fn thousandths(value: u64) -> f64 {
    value.min(EXACT) as f64 / 1_000.0
}
