//! A row of the table of what can be typed.

use super::advice::{Dialect, Lever};
use super::case::Case;

/// Where a setting is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// An environment variable.
    Variable,
    /// An option of the command that starts the program, and what stands between its name and its value.
    Option(&'static str),
    /// A command in front of the launcher, with such an option.
    Outer(&'static str),
    /// A command between the launcher and the program, with such an option.
    Inner(&'static str),
    /// An option of the program itself, where it is called as the runtime of the row, with such a joint.
    Own(&'static str),
    /// A property of a unit of systemd.
    Property,
    /// A file of a control group.
    File,
    /// A field of a container of a pod.
    Field,
    /// A key in a configuration file, which this names, and what stands between the key and its value.
    Site(&'static str, &'static str),
}

/// One setting.
pub struct Row {
    /// The variable, option, command, file or field.
    pub name: &'static str,
    /// What is set by it.
    pub levers: &'static [Lever],
    /// The runtimes or libraries that have it; empty: it is not theirs.
    pub runtimes: &'static [&'static str],
    /// Where it can be said.
    pub dialects: &'static [Dialect],
    /// How it is written.
    pub form: Form,
    /// It completes a command and is no reason for one.
    pub companion: bool,
    /// Its value may have numbers of cpus; words such as `cores` have none.
    pub cpus: bool,
    /// The text of its value; none where it has nothing to say.
    pub(super) value: fn(&Case<'_>) -> Option<String>,
    /// The first version that has it, and what differs before or after.
    pub since: &'static str,
    /// The manual page, the document or the source file that says so.
    pub source: &'static str,
}

/// Everything that hands its environment to the program.
pub(super) const WITH_VARIABLES: &[Dialect] = &[
    Dialect::Shell,
    Dialect::Slurm,
    Dialect::OpenMpi,
    Dialect::IntelMpi,
    Dialect::Mpich,
    Dialect::Systemd,
    Dialect::Docker,
    Dialect::Kubernetes,
];
/// Where a program is called with options of its own.
pub(super) const CALLS: &[Dialect] = &[Dialect::Shell, Dialect::Slurm, Dialect::Systemd];
/// Where the settings of commands count that no launcher of MPI starts.
pub(super) const UNLAUNCHED: &[Dialect] =
    &[Dialect::Shell, Dialect::Slurm, Dialect::Systemd, Dialect::Docker, Dialect::Kubernetes];
/// What most rows have.
pub(super) const PLAIN: Row = Row {
    name: "",
    levers: &[],
    runtimes: &[],
    dialects: WITH_VARIABLES,
    form: Form::Variable,
    companion: false,
    cpus: false,
    value: |_| None,
    since: "",
    source: "",
};
