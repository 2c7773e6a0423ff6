//! The commands that run programs on this host, on systems other than Linux: they need Linux.

use std::process::ExitCode;

use experiment::PolicyRegistry;

use crate::args::{CalibrateHost, Measure, TwinRecord};
use crate::failure::Failure;

fn needs_linux(command: &str) -> Failure {
    Failure::Input(format!(
        "`oversim {command}` needs Linux 6.6 or later: it uses its system calls and /proc"
    ))
}

/// Refused.
pub(crate) fn measure(_: &Measure, _: &PolicyRegistry) -> Result<ExitCode, Failure> {
    Err(needs_linux("measure"))
}

/// Refused.
pub(crate) fn calibrate(_: &CalibrateHost) -> Result<ExitCode, Failure> {
    Err(needs_linux("calibrate host"))
}

/// Refused.
pub(crate) fn record(_: &TwinRecord) -> Result<ExitCode, Failure> {
    Err(needs_linux("twin record"))
}

/// Refused.
pub(crate) fn process() -> ExitCode {
    needs_linux("host-process").report()
}
