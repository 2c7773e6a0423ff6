//! `oversim calibrate host`: the costs of this host as a machine file.

use std::process::ExitCode;

use crate::args::CalibrateHost;
use crate::failure::Failure;

/// Measures, prints, writes and compares.
pub(crate) fn calibrate(_args: &CalibrateHost) -> Result<ExitCode, Failure> {
    Err(Failure::Input("not yet".into()))
}
