//! JSON: the whole result as one object.

use std::io::{self, Write};

use super::View;
use crate::result::Results;

/// Writes the result, indented, with a final newline.
pub(super) fn write(results: &Results, out: &mut dyn Write, _view: &View<'_>) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, results)?;
    out.write_all(b"\n")
}
