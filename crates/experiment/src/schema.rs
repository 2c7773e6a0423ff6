//! The JSON Schemas (draft-07) of what comes out: results, their lines, comparisons. Made from the types that
//! are written.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::compare::contrast::{self, Contrasts};
use crate::report::{Line, Written};
use crate::requests::Request;
use crate::result::{self, Job};

/// Of `result.json` and `--format json`.
#[must_use]
pub fn result() -> Value {
    let mut schema = of::<Written<'static>>("oversim result");
    pin(&mut schema, result::SCHEMA);
    schema
}

/// Of one line of `--format ndjson`.
#[must_use]
pub fn result_line() -> Value {
    of::<Line<'static>>("a line of an oversim result")
}

/// Of one line of `--format jobs` and of `jobs.ndjson`.
#[must_use]
pub fn job() -> Value {
    of::<Job>("a program of a run of an oversim result")
}

/// Of one line of `oversim run --requests`.
#[must_use]
pub fn request() -> Value {
    of::<Request<'static>>("a request of a run of oversim")
}

/// Of what `oversim compare --format json` prints.
#[must_use]
pub fn compare() -> Value {
    let mut schema = of::<Contrasts>("oversim comparison");
    pin(&mut schema, contrast::SCHEMA);
    schema
}

fn of<T: JsonSchema>(title: &str) -> Value {
    let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>();
    schema.insert("title".into(), json!(title));
    let mut schema = schema.to_value();
    plain(&mut schema);
    schema
}

/// Descriptions come from comments in the code: links and names of constants mean nothing in JSON.
fn plain(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(text)) = fields.get_mut("description") {
                let plain = text.replace("[`", "`").replace("`]", "`");
                let names = [("`None`", "`null`"), ("crate::result::", ""), ("`DEDICATED`", "`dedicated`")];
                *text = names.into_iter().fold(plain, |text, (code, word)| text.replace(code, word));
            }
            fields.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

/// The schema is of this version and no other.
fn pin(schema: &mut Value, version: &str) {
    if let Some(name) = schema.pointer_mut("/properties/schema") {
        *name = json!({ "const": version, "description": "Name and version of this form." });
    }
}
