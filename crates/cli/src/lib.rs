//! The command line of oversim: arguments to values, values to text, exit codes.
//!
//! A library, so that a program with additional policies has the same command line: [`main_with`].

mod advice;
mod args;
mod bar;
mod commands;
mod complete;
mod engines;
mod failure;
mod former;
mod help;
mod identity;
mod input;
mod manual;
mod markdown;
mod output;
mod parts;
mod say;
mod signals;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use experiment::renamed::RENAMED;
use experiment::{PolicyEntry, PolicyRegistry};

#[cfg(feature = "scx")]
use args::Scx;
use args::{Arguments, Command, Kernel, Machine, New};
#[cfg(feature = "measured")]
use args::{Calibrate, CalibrateWhat};
use failure::Failure;
use former::Words;

/// The commands that run programs on this host.
#[cfg(feature = "measured")]
mod on_this_host {
    #[cfg(not(target_os = "linux"))]
    pub(crate) use crate::commands::elsewhere::{calibrate, measure, process, record};
    #[cfg(target_os = "linux")]
    pub(crate) use crate::commands::{
        host_costs::calibrate, measure::measure, measure::process, twin::record::record,
    };
}

/// The program: reads the command line of this process, executes it, and returns the exit code (0 done, 1 a
/// run did not complete or output failed, 2 wrong usage or scenario). SIGINT, SIGTERM and SIGHUP remove files
/// in the making and end the process with 128 plus their number.
#[must_use]
pub fn main() -> ExitCode {
    main_with(&[])
}

/// As [`main()`], with these policies after the built-in ones: scenarios can name them; lists, completions
/// and the schema show them.
#[must_use]
pub fn main_with(own: &[&'static PolicyEntry]) -> ExitCode {
    let policies = PolicyRegistry::with(own);
    let done = match policies.map(reading_files) {
        Ok(policies) => {
            // Ends the process here if a shell asks for completions.
            complete::answer(&policies);
            let mut given = std::env::args_os();
            let program = given.next();
            let Words { words, remarks } = Words::of(RENAMED, given);
            match Arguments::try_parse_from(program.into_iter().chain(words.iter().cloned())) {
                Ok(arguments) => {
                    say::speak(arguments.quiet, arguments.verbose);
                    remarks.iter().for_each(say::note);
                    signals::watch();
                    if output::is_lost() {
                        say::warning("standard output is closed or /dev/null: what it would show is lost");
                    }
                    execute(&arguments.command, &policies)
                }
                Err(error) => return refused(error, &words),
            }
        }
        Err(sentence) => Err(Failure::Input(sentence)),
    };
    match done {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

/// The policies of files are read by the part for sched_ext.
#[cfg(feature = "scx")]
fn reading_files(policies: PolicyRegistry) -> PolicyRegistry {
    policies.reading_files(Arc::new(scx::read))
}

/// A program without the part for sched_ext refuses them.
#[cfg(not(feature = "scx"))]
fn reading_files(policies: PolicyRegistry) -> PolicyRegistry {
    policies.reading_files(Arc::new(|_| Err((parts::SCX.sentence("a policy file"), String::new()))))
}

/// Prints help, the version or what is wrong with the command line.
fn refused(error: clap::Error, words: &[OsString]) -> ExitCode {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let error = advice::improved(error, &words);
    match error.print() {
        // Help that was asked for and could not be delivered. When standard error is closed, the exit code
        // still reports.
        Err(e) if !error.use_stderr() && e.kind() != ErrorKind::BrokenPipe => {
            return Failure::stdout(&e).report();
        }
        _ => {}
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(failure::BAD_INPUT))
}

fn execute(command: &Command, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    match command {
        Command::Run(run) => commands::run::run(run, policies),
        Command::Check(check) => commands::check::check(check, policies),
        Command::Selftest(selftest) => commands::selftest::selftest(selftest),
        Command::Compare(compare) => commands::compare::compare(compare, policies),
        Command::Report(report) => commands::report::report(report, policies),
        Command::Plot(plot) => commands::plot::plot(plot, policies),
        Command::Schema(schema) => commands::schema::schema(schema, policies),
        Command::Explain(explain) => commands::explain::explain(explain, policies),
        Command::Docs(docs) => commands::docs::docs(docs, policies),
        Command::Lesson(lesson) => commands::lesson::lesson(lesson, policies, execute),
        Command::List(list) => commands::list::list(list, policies),
        Command::Import(import) => commands::import::import(import),
        Command::Export(export) => commands::import::export(export, policies),
        Command::Init(init) => commands::init::init(init),
        Command::New { command: New::Policy(policy) } => commands::new::policy(policy, policies),
        #[cfg(feature = "measured")]
        Command::Calibrate(Calibrate { what: Some(CalibrateWhat::Host(costs)), .. }) => {
            on_this_host::calibrate(costs)
        }
        #[cfg(feature = "measured")]
        Command::Calibrate(calibrate) => commands::calibrate::calibrate(calibrate),
        #[cfg(feature = "measured")]
        Command::Measure(measure) => on_this_host::measure(measure, policies),
        #[cfg(feature = "measured")]
        Command::HostProcess => Ok(on_this_host::process()),
        #[cfg(feature = "measured")]
        Command::Reproduce(reproduce) => commands::reproduce::reproduce(reproduce),
        Command::Sweep(sweep) => commands::sweep::sweep(sweep, policies),
        #[cfg(feature = "artifact")]
        Command::Artifact { command } => commands::artifact::artifact(command, policies),
        Command::Deadlines(deadlines) => commands::deadlines::deadlines(deadlines, policies),
        Command::Timeline(timeline) if timeline.step => commands::step::step(timeline, policies),
        Command::Timeline(timeline) => commands::timeline::timeline(timeline, policies),
        Command::Machine { command: Machine::Show(show) } => commands::machine::show(show),
        Command::Machine { command: Machine::Import(import) } => commands::machine::import(import),
        Command::Machine { command: Machine::Set(set) } => commands::machine::set(set),
        Command::Machine { command: Machine::Export(export) } => commands::machine::export(export),
        Command::Kernel { command: Kernel::List(list) } => commands::kernel::list(list),
        Command::Kernel { command: Kernel::Show(show) } => commands::kernel::show(show),
        Command::Kernel { command: Kernel::Diff(diff) } => commands::kernel::diff(diff),
        #[cfg(feature = "measured")]
        Command::Twin { command } => commands::twin::twin(command, policies),
        Command::Profile(profile) => commands::profile::profile(profile, policies),
        Command::Advise(advise) => commands::advise::advise(advise, policies),
        Command::Matrix(matrix) => commands::matrix::matrix(matrix, policies),
        Command::Why(why) => commands::why::why(why, policies),
        Command::Duel(duel) => commands::duel::duel(duel, policies),
        Command::Leaderboard(board) => commands::leaderboard::leaderboard(board, policies),
        Command::Tune(tune) => commands::tune::tune(tune, policies),
        #[cfg(feature = "scx")]
        Command::Scx { command: Scx::Build(build) } => commands::scx::build(build),
        #[cfg(feature = "scx")]
        Command::Scx { command: Scx::Compare(compare) } => commands::scx::compare(compare, policies),
        #[cfg(feature = "scx")]
        Command::Scx { command: Scx::Export(export) } => commands::scx::export(export),
        Command::Conformance(conformance) => commands::conformance::conformance(conformance),
        Command::Completions(completions) => commands::completions::completions(completions),
        #[cfg(feature = "formats")]
        Command::Man(man) => commands::man::man(man),
    }
}
