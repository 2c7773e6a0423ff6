//! The committed schemas are those that the registries and types make; OVERSIM_UPDATE=1 rewrites them.

use std::fs;
use std::path::PathBuf;

use experiment::schema::{output, schema};
use serde_json::Value;

#[test]
fn the_committed_schemas_are_current() {
    let schemas: [(&str, Value); 4] = [
        ("oversim.schema.json", schema()),
        ("docs/schemas/result.schema.json", output::result()),
        ("docs/schemas/result-line.schema.json", output::result_line()),
        ("docs/schemas/compare.schema.json", output::compare()),
    ];
    for (name, schema) in schemas {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        if std::env::var_os("OVERSIM_UPDATE").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "{name} is out of date: run this test with OVERSIM_UPDATE=1");
    }
}

#[test]
fn the_schema_knows_every_name_and_parameter() {
    let text = schema().to_string();
    let tables = policies::ALL.iter().map(|e| (e.name, e.parameters));
    let tables = tables.chain(workloads::entries().iter().map(|e| (e.name, e.parameters)));
    for (name, parameters) in tables {
        assert!(text.contains(&format!("\"{name}\"")), "{name}");
        for parameter in parameters {
            assert!(text.contains(&format!("\"{}\"", parameter.name)), "{name}: {}", parameter.name);
        }
    }
}
