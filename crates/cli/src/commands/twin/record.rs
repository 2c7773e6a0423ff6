//! `oversim twin record`: what the scheduler of this host does while a command runs.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use host::recorder::{self, Failed, Recording, Settings, guard};

use crate::args::TwinRecord;
use crate::failure::Failure;
use crate::output::Target;
use crate::{say, signals};

/// What the first signal says.
const INTERRUPTED: &str = "interrupted: the command ends, then its recording is written; a second SIGINT \
    ends at once, without one";

/// The file of a recording without another name: that of its command.
fn default_name(command: &OsStr) -> PathBuf {
    let name = Path::new(command).file_name().unwrap_or(OsStr::new("recording"));
    // A name that begins with a hyphen would be taken for a flag.
    let mut file = if name.to_string_lossy().starts_with('-') { "recording".into() } else { name.to_owned() };
    file.push(".trace.gz");
    PathBuf::from(file)
}

/// This program as the guard of a recording.
fn guard_of_this() -> Result<Command, Failure> {
    let program = std::env::current_exe()
        .map_err(|e| Failure::Output(format!("cannot find the path of this program: {e}")))?;
    let mut command = Command::new(program);
    command.args(["twin", "record", "--guard"]);
    Ok(command)
}

/// What there is to say about a recording.
fn summary(recording: &Recording, path: &Path) {
    let code = recording.status;
    if !code.success() {
        say::warning(format_args!("the command ended with {code}"));
    }
    let mut text = format!("{}, {} events", seconds(recording.span), recording.events);
    if recording.lost > 0 {
        text += &format!(", {} lost", recording.lost);
    }
    if recording.marks > 0 {
        text += &format!(", functions with marks: {}", recording.marks);
    }
    let file = path.display();
    say::written(&file, format_args!("{text}; next: oversim twin import {file} -o twin.yaml"));
}

/// Seconds with three digits.
fn seconds(ns: u64) -> String {
    format!("{:.3} s", Duration::from_nanos(ns).as_secs_f64())
}

/// Records a command. The exit code is 0 if the recording was written, whatever that of the command is.
pub(crate) fn record(args: &TwinRecord) -> Result<ExitCode, Failure> {
    if args.guard {
        // It outlives the signals that end the process that it guards.
        signals::finish_first("");
        return Ok(ExitCode::from(guard::serve(&mut io::stdin().lock())));
    }
    let command = args.command.first().map_or(OsStr::new(""), |command| command.as_os_str());
    let path = args.output.clone().unwrap_or_else(|| default_name(command));
    let target = Target::check(&path, args.force)?;
    // Beside the recording: there is room for it, or there will be none for the recording either.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let spool = tempfile::tempfile_in(folder).or_else(|_| tempfile::tempfile());
    let spool = spool.map_err(|e| Failure::Output(format!("cannot make a temporary file: {e}")))?;
    signals::finish_first(INTERRUPTED);
    let settings = Settings {
        command: &args.command,
        cpus: args.cpus.as_ref().map(|cpus| cpus.0.as_slice()),
        nice: args.nice,
        length: args.length.map(Duration::from_nanos),
        marks: args.marks,
        buffer: Some(args.buffer),
        allow_lost: args.allow_lost,
        stopped: &|| signals::stopped().map(|code| i32::from(code) - 128),
        remark: &|text| say::note(text),
    };
    let recording = recorder::record(&settings, guard_of_this()?, spool).map_err(|failed| match failed {
        Failed::Refused(why) => Failure::Input(why),
        Failed::Broken(why) => Failure::Output(why),
    })?;
    target.write(&|out| recording.body.write(&recording.head, out))?;
    summary(&recording, target.named());
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_are_named_after_their_command() {
        let names = [("make", "make.trace.gz"), ("./a b/run", "run.trace.gz"), ("..", "recording.trace.gz")];
        for (command, name) in names.into_iter().chain([("-x", "recording.trace.gz")]) {
            assert_eq!(default_name(OsStr::new(command)), Path::new(name));
        }
    }
}
