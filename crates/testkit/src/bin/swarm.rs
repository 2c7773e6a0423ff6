//! `swarm`: a campaign over random scenarios that can run for hours.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the command line")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use testkit::swarm::{Campaign, campaign, check_text, quiet, scenario, write};

/// Checks random scenarios against each other: twice, poll by poll, on the reference engine, replayed, with
/// policies in another order, and under faulty policies.
#[derive(Parser)]
#[command(
    about,
    after_help = "With --seed alone one case is checked. A campaign continues with --seed NEXT."
)]
struct Arguments {
    /// Hours to run
    #[arg(long)]
    hours: Option<f64>,
    /// Minutes to run
    #[arg(long)]
    minutes: Option<f64>,
    /// Cases to check
    #[arg(long)]
    cases: Option<u64>,
    /// The first seed
    #[arg(long)]
    seed: Option<u64>,
    /// Threads (default: all cpus)
    #[arg(long)]
    jobs: Option<usize>,
    /// Directory for failures and statistics
    #[arg(long, default_value = "target/swarm")]
    out: PathBuf,
    /// Check this scenario file instead
    #[arg(long)]
    file: Option<PathBuf>,
    /// Print the scenario of the seed and check nothing
    #[arg(long)]
    print: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(file) = &arguments.file {
        return match std::fs::read_to_string(file) {
            Ok(text) => one(&text),
            Err(error) => {
                eprintln!("{}: {error}", file.display());
                ExitCode::from(2)
            }
        };
    }
    let first = arguments.seed.unwrap_or(0);
    if arguments.print {
        print!("{}", write(&scenario(first)));
        return ExitCode::SUCCESS;
    }
    quiet();
    let hours = arguments.hours.map(|hours| hours * 3_600.0);
    let seconds = hours.or(arguments.minutes.map(|minutes| minutes * 60.0));
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let alone = arguments.seed.is_some() && time.is_none();
    let cases = arguments.cases.or(alone.then_some(1)).or(time.is_none().then_some(1_000));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.unwrap_or(threads);
    let plan = Campaign { first, cases, time, jobs, out: Some(arguments.out.clone()) };
    let done = campaign(&plan, |seed, failure, file| {
        let file = file.map_or_else(String::new, |file| format!(" -> {}", file.display()));
        println!("seed {seed}: {}: {}{file}", failure.kind, failure.detail);
    });
    match done {
        Ok(statistics) => {
            println!(
                "{} cases from seed {first}: {} failed, {} refused; {}/swarm.md",
                statistics.cases,
                statistics.failed,
                statistics.refused(),
                arguments.out.display(),
            );
            ExitCode::from(u8::from(statistics.failed > 0))
        }
        Err(error) => {
            eprintln!("{}: {error}", arguments.out.display());
            ExitCode::from(2)
        }
    }
}

/// Checks one scenario; a panic prints where it happened.
fn one(text: &str) -> ExitCode {
    match check_text(text) {
        Err(failure) => {
            println!("{}: {}", failure.kind, failure.detail);
            ExitCode::FAILURE
        }
        Ok(checked) => {
            let refused = checked.refused.map_or_else(String::new, |why| format!("refused: {why}\n"));
            println!("{refused}passed: {}", checked.checks.join(", "));
            ExitCode::SUCCESS
        }
    }
}
