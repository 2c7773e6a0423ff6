//! The checksum of the sources that make a run of its plan: finished runs of other sources are of no use.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hmac_sha256::Hash;

/// The engine, the policies, and what reads a run. Machines, kernels, programs and scenarios are part of each
/// plan, and its text is hashed with it.
const SOURCES: [&str; 5] = [
    "../sim-core/src",
    "../policies/src",
    "../experiment/src/simulate.rs",
    "../experiment/src/snapshots.rs",
    "src/lab/sample.rs",
];

fn main() -> io::Result<()> {
    let mut hash = Hash::new();
    // A published package has no neighbours: versions name their sources.
    hash.update(env!("CARGO_PKG_VERSION"));
    for source in SOURCES {
        println!("cargo:rerun-if-changed={source}");
        let path = Path::new(source);
        if path.exists() {
            for file in files(path)? {
                hash.update(file.to_string_lossy().as_bytes());
                hash.update(fs::read(&file)?);
            }
        }
    }
    let sum: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=OVERSIM_SOURCES={sum}");
    Ok(())
}

/// The files below a path, sorted.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    let mut all = Vec::new();
    for entry in entries {
        all.extend(files(&entry)?);
    }
    Ok(all)
}
