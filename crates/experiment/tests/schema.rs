//! The committed schemas of results are those that the types make; OVERSIM_UPDATE=1 rewrites them.

use std::fs;
use std::path::PathBuf;

use experiment::schema;
use serde_json::Value;

#[test]
fn the_committed_schemas_are_current() {
    let schemas: [(&str, Value); 5] = [
        ("docs/schemas/result.schema.json", schema::result()),
        ("docs/schemas/result-line.schema.json", schema::result_line()),
        ("docs/schemas/job.schema.json", schema::job()),
        ("docs/schemas/request.schema.json", schema::request()),
        ("docs/schemas/compare.schema.json", schema::compare()),
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
