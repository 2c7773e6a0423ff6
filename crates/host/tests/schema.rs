//! The committed schema of measurements is the one that the types make; OVERSIM_UPDATE=1 rewrites it.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::PathBuf;

#[test]
fn the_committed_schema_is_current() {
    let name = "docs/schemas/measurement.schema.json";
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    let text = format!("{}\n", serde_json::to_string_pretty(&host::result::schema()).unwrap());
    if std::env::var_os("OVERSIM_UPDATE").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "{name} is out of date: run this test with OVERSIM_UPDATE=1");
}
