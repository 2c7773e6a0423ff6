//! Reads scenario files and standard input, up to a size no scenario needs.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::failure::Failure;

/// Most bytes of a scenario: the reader of scenarios refuses more; without the limit a wrong file (a disk image, a
/// device) would fill the memory first.
const MAX_BYTES: u64 = 1 << 20;

/// Most bytes of a result: some million cells.
pub(crate) const MAX_RESULT_BYTES: u64 = 1 << 30;

/// The name and the text of a scenario; `-` is standard input.
pub(crate) fn read(path: &Path) -> Result<(String, String), Failure> {
    read_up_to(path, MAX_BYTES, "scenario")
}

/// The name and the text of a file of at most so many bytes.
pub(crate) fn read_up_to(path: &Path, most: u64, what: &str) -> Result<(String, String), Failure> {
    let standard = path.as_os_str() == "-";
    let name = if standard { "<stdin>".to_owned() } else { path.display().to_string() };
    let source: io::Result<Box<dyn Read>> = if standard {
        Ok(Box::new(io::stdin()))
    } else {
        File::open(path).map(|f| Box::new(f) as Box<dyn Read>)
    };
    let mut bytes = Vec::new();
    source
        .and_then(|s| s.take(most + 1).read_to_end(&mut bytes))
        .map_err(|e| Failure::Input(format!("cannot read {name}: {e}")))?;
    if bytes.len() as u64 > most {
        return Err(Failure::Input(format!("{name} is no {what}: it is larger than {most} bytes")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|e| Failure::Input(format!("{name} is not UTF-8 text: {}", e.utf8_error())))?;
    Ok((name, text))
}
