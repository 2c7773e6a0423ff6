//! Results in JSON: any text, and edits of the tree of one.

use std::sync::LazyLock;

use experiment::result::{is_result, read};
use serde_json::Value;
use testkit::house::root;

use crate::edits::Bases;
use crate::tape::Tape;
use crate::{output, promise};

/// The results in the corpus of the texts.
static RESULTS: LazyLock<Bases> = LazyLock::new(|| {
    let folder = root().join("crates/testkit/tests/fuzz/corpus/result_text");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts = paths.iter().filter_map(|path| std::fs::read_to_string(path).ok());
    Bases::from(texts.filter_map(|text| serde_json::from_str(&text).ok()).filter(Value::is_object).collect())
});

/// Any text.
pub(crate) fn text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = is_result(text);
    match read("r.json", text) {
        Ok(results) => output::results(&results),
        Err(why) => {
            promise::refusal(&why);
            assert!(why.contains("r.json"), "the file is not named: {why}");
        }
    }
}

/// Edits of the tree of a result.
pub(crate) fn tree(bytes: &[u8]) {
    text(RESULTS.edited(&mut Tape(bytes)).to_string().as_bytes());
}
