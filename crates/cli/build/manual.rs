//! The pages of the manual as one file for the program, which `oversim docs` shows.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::{env, fs};

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// What `oversim explain` makes from the registries is not built in a second time.
fn is_explained(path: &str) -> bool {
    path == "glossary.md" || path.starts_with("reference/") && path != "reference/showcases.md"
}

/// Deflates the summary and its pages into one file: the path of each, a zero byte, its text, and another zero
/// byte.
pub(crate) fn pack() -> Result<(), Box<dyn Error>> {
    let (from, to) = (env::var("CARGO_MANIFEST_DIR")?, env::var("OUT_DIR")?);
    let folder = Path::new(&from).join("docs");
    let summary = fs::read_to_string(folder.join("SUMMARY.md"))?;
    let links = summary.lines().filter_map(|line| line.split_once("](")?.1.strip_suffix(')'));
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    for path in ["SUMMARY.md"].into_iter().chain(links.filter(|path| !is_explained(path))) {
        let file = folder.join(path);
        println!("cargo::rerun-if-changed={}", file.display());
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        write!(packed, "{path}\0{text}\0")?;
    }
    fs::write(Path::new(&to).join("manual.deflate"), packed.finish()?)?;
    Ok(())
}
