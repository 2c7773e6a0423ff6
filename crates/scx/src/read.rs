//! Reads the files that scenarios name as policies: programs in WebAssembly and orders by formula.

use std::path::Path;

use policies::PolicyFile;

use crate::{formula, wasm};

/// Reads the policy file at a path, for [`policies::PolicyRegistry::reading_files`]: an order if its name
/// ends in `.order`, else WebAssembly.
///
/// # Errors
/// A half-sentence about the file, and what would be right.
pub fn read(path: &Path) -> Result<PolicyFile, (String, String)> {
    let end = path.extension().map(|end| end.to_string_lossy().to_lowercase());
    if end.as_deref() == Some("order") { formula::read(path) } else { wasm::read(path) }
}
