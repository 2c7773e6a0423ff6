//! The command line of oversim: words to values, values to words, exit codes.

mod args;
mod commands;
mod failure;
mod input;
mod output;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command, Machine};
use failure::Failure;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Command::Run(run) => commands::run::run(run),
        Command::Check(check) => commands::check::check(check),
        Command::Schema => commands::schema::schema(),
        Command::List(list) => commands::list::list(list),
        Command::Calibrate(calibrate) => commands::calibrate::calibrate(calibrate),
        Command::Machine { command: Machine::Show(show) } => commands::machine::show(show),
    };
    match done {
        Ok(code) => code,
        Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
