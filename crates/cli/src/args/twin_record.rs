//! Flags of `oversim twin record`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use experiment::lists;
use experiment::parameter::Kind;

use super::size;

/// Largest number of a cpu: Linux has at most 8,192.
const LAST_CPU: u64 = 8_191;

#[derive(Args, Debug)]
pub(crate) struct Record {
    /// Command to record, with its arguments. It runs as without oversim: with this terminal, environment and
    /// user.
    #[arg(value_name = "COMMAND", trailing_var_arg = true, value_hint = ValueHint::CommandWithArguments)]
    #[arg(required_unless_present = "guard")]
    pub(crate) command: Vec<OsString>,
    /// Write the recording to this file. Default: the name of the command and `.trace.gz`.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// Let the command use these cpus only, as `taskset -c` does: `0-3,8`.
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub(crate) cpus: Option<Cpus>,
    /// Nice value of the command.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(i32).range(-20..=19))]
    pub(crate) nice: Option<i32>,
    /// End the recording after this time. The command goes on without being recorded, and the file is written
    /// at its end; Ctrl-C ends it.
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub(crate) length: Option<u64>,
    /// Set marks, for programs that poll: at the outlined functions of OpenMP in the program, and at the
    /// functions of MPI that it calls. Each takes some 10 us whenever a thread passes it.
    #[arg(long)]
    pub(crate) marks: bool,
    /// Buffer of each cpu in the kernel. All buffers together take at most one eighth of the available
    /// memory.
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = size)]
    pub(crate) buffer: u64,
    /// Keep the recording although more than 1 % of its events were lost.
    #[arg(long)]
    pub(crate) allow_lost: bool,
    /// Wait for the end of the process that records, and remove what it leaves.
    #[arg(long, hide = true, exclusive = true)]
    pub(crate) guard: bool,
}

/// Cpus, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cpus(pub(crate) Vec<u32>);

/// A list of cpus.
fn cpus(text: &str) -> Result<Cpus, String> {
    let list = lists::parse(Kind::Cpus, text, 0, LAST_CPU)?;
    let mut cpus: Vec<u32> = list.into_iter().filter_map(|cpu| u32::try_from(cpu).ok()).collect();
    cpus.sort_unstable();
    Ok(Cpus(cpus))
}

/// A time above 0, in ns.
fn time(text: &str) -> Result<u64, String> {
    match experiment::units::parse(Kind::Duration, text)? {
        0 => Err("a recording takes longer than 0".to_owned()),
        time => Ok(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_lists_and_times_are_not_zero() {
        assert_eq!(cpus("8,0-2"), Ok(Cpus(vec![0, 1, 2, 8])));
        assert!(cpus("").is_err() && cpus("0,0").is_err() && cpus("99999999").is_err());
        assert_eq!(time("5s"), Ok(5_000_000_000));
        assert!(time("0s").is_err() && time("5").is_err());
    }
}
