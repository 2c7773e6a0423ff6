//! What `oversim --version` says: the program, the commit it is made from, and the versions of what it
//! simulates and writes.

use experiment::provenance::MODEL;
use experiment::result;

/// The version alone: `1.0.0`.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version in the first line, and in each further one a name and what it is. A `+` behind the commit:
/// files differed from it. The build script states the commit, and results do not: the same scenario gives
/// the same bytes in each build of a version.
pub(crate) fn long() -> String {
    let lines = [
        ("commit", env!("OVERSIM_BUILT_FROM")),
        ("model", MODEL),
        ("results", result::SCHEMA),
        ("sweeps", sweep::plan::SCHEMA),
        ("rustc", env!("OVERSIM_BUILT_BY")),
        ("target", env!("OVERSIM_BUILT_FOR")),
    ];
    let lines: String = lines.iter().map(|(name, value)| format!("\n{name}: {value}")).collect();
    format!("{VERSION}{lines}")
}
