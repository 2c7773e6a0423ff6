//! The page docs/validation-host.md, made from archived measurements.

use crate::result::Measurement;

/// The page below the root of the sources.
pub const PATH: &str = "docs/validation-host.md";
/// The folder of the measurements.
pub const ARCHIVE: &str = "docs/validation-host";

/// The page.
#[must_use]
pub fn page(_archived: &[(String, Measurement)]) -> String {
    String::new()
}
