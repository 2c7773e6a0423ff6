//! The command line of oversim: words to values, values to words, exit codes.
//!
//! A library, so that a program with policies of its own has the same command line: [`main_with`].

mod args;
mod commands;
mod failure;
mod help;
mod input;
mod output;
mod say;

use std::process::ExitCode;

use clap::Parser;
use experiment::{PolicyEntry, PolicyShelf};

use args::{Arguments, Command, Machine};
use failure::Failure;

/// The program: reads the command line of this process, does what it says, and gives the exit code (0 done, 1 a run did
/// not complete or output failed, 2 wrong usage or scenario).
#[must_use]
pub fn main() -> ExitCode {
    main_with(&[])
}

/// As [`main()`], with these policies behind those of the shelf: scenarios can name them, lists and the schema show them.
#[must_use]
pub fn main_with(own: &[&'static PolicyEntry]) -> ExitCode {
    let done = match PolicyShelf::with(own) {
        Ok(policies) => {
            let arguments = Arguments::parse();
            say::speak(arguments.quiet, arguments.verbose);
            execute(&arguments.command, &policies)
        }
        Err(sentence) => Err(Failure::Input(sentence)),
    };
    match done {
        Ok(code) => code,
        Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn execute(command: &Command, policies: &PolicyShelf) -> Result<ExitCode, Failure> {
    match command {
        Command::Run(run) => commands::run::run(run, policies),
        Command::Check(check) => commands::check::check(check, policies),
        Command::Compare(compare) => commands::compare::compare(compare, policies),
        Command::Report(report) => commands::report::report(report, policies),
        Command::Plot(plot) => commands::plot::plot(plot, policies),
        Command::Schema(schema) => commands::schema::schema(schema, policies),
        Command::Explain(explain) => commands::explain::explain(explain, policies),
        Command::List(list) => commands::list::list(list, policies),
        Command::Calibrate(calibrate) => commands::calibrate::calibrate(calibrate),
        Command::Reproduce(reproduce) => commands::reproduce::reproduce(reproduce),
        Command::Timeline(timeline) => commands::timeline::timeline(timeline, policies),
        Command::Machine { command: Machine::Show(show) } => commands::machine::show(show),
        Command::Completions(completions) => commands::completions::completions(completions),
        Command::Man(man) => commands::man::man(man),
    }
}
