//! Advice on mistyped words: the nearest subcommand, flag, value or name.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Command, CommandFactory};
use experiment::neutral;
use experiment::suggest::{hint, nearest};
use scenario::built_in;

use crate::args::Arguments;
use crate::parts;

/// `no figure is called `slowdwn`; did you mean `slowdown`? Valid: slowdown, sweep`.
pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let hint = hint(name, known.iter().copied());
    let stop = if hint.is_empty() { "." } else { "" };
    format!("no {what} is called `{name}`{hint}{stop} Valid: {}", known.join(", "))
}

/// The error about a built-in scenario that does not exist. The list is long, so it is not part of the error.
pub(crate) fn no_scenario(name: &str) -> String {
    let near = built_in::similar(name).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let stop = if near.is_empty() { "." } else { "" };
    format!("no built-in scenario is called `{name}`{near}{stop} `oversim list scenarios` lists all")
}

/// The error of the parser with the nearest valid word: ``did you mean `run`?``.
pub(crate) fn improved(error: Error, words: &[String]) -> Error {
    visible(advised(error, words), words)
}

fn advised(mut error: Error, words: &[String]) -> Error {
    let mut program = Arguments::command();
    program.build();
    let command = innermost(&program, words);
    let (invalid, candidates) = match error.kind() {
        ErrorKind::InvalidSubcommand => (ContextKind::InvalidSubcommand, subcommands(command)),
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, flags(command)),
        ErrorKind::InvalidValue => (ContextKind::InvalidValue, valid_values(&error)),
        _ => return error,
    };
    let Some(ContextValue::String(word)) = error.get(invalid) else { return error };
    let key = if error.kind() == ErrorKind::UnknownArgument { set_instead(command, word) } else { None };
    let near = nearest(word, candidates.iter().map(String::as_str));
    let left_out = if error.kind() == ErrorKind::InvalidSubcommand { parts::elsewhere(word) } else { None };
    let tip =
        key.map(str::to_owned).or(left_out).or_else(|| near.map(|near| format!("did you mean `{near}`?")));
    // The parser's own suggestions have another form, are missing for short words and far off for others.
    for own in [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue] {
        error.remove(own);
    }
    if key.is_some() {
        // The usage would name the flag of the parser's own suggestion.
        error.remove(ContextKind::Usage);
    }
    if let Some(tip) = tip {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

/// What is no flag but a key of the scenario, and how it is changed; for commands that change scenarios.
fn set_instead(command: &Command, flag: &str) -> Option<&'static str> {
    command.get_arguments().find(|arg| arg.get_long() == Some("set"))?;
    Some(match flag.trim_start_matches('-') {
        "cores" | "cpus" | "ncpus" | "machine" => {
            "a machine is a key of the scenario: `--set machine=core:4`"
        }
        "threads" | "tasks" | "nthreads" | "ranks" | "np" => {
            "the number of tasks is a key of a program: `--set apps.NAME.tasks=4`"
        }
        "kernel" => "the kernel is a key of the scenario: `--set kernel=linux-6.18`",
        "runtime" => "the runtime is a key of a program: `--set apps.NAME.runtime=block`",
        "nice" => "the nice value is a key of a program: `--set apps.NAME.nice=5`",
        "work" => "the work is a parameter of a workload: `--set apps.NAME.workload.work=2s`",
        "seeds" | "runs" | "replicates" => "`--repeat 5` runs five seeds",
        _ => return None,
    })
}

/// The error without colours and with the invisible characters shown if it may repeat words with such
/// characters.
fn visible(error: Error, words: &[String]) -> Error {
    if !words.iter().any(|word| word.contains(neutral::is_invisible)) {
        return error;
    }
    let text = error.render().to_string();
    let shown = neutral::lines(&text);
    Error::raw(error.kind(), shown.strip_prefix("error: ").unwrap_or(&shown))
}

/// The command that the words name, as far as they name one.
fn innermost<'a>(program: &'a Command, words: &[String]) -> &'a Command {
    let mut command = program;
    for word in words.iter().filter(|word| !word.starts_with('-')) {
        match command.find_subcommand(word) {
            Some(next) => command = next,
            None => break,
        }
    }
    command
}

fn subcommands(command: &Command) -> Vec<String> {
    let visible = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    visible.map(|sub| sub.get_name().to_owned()).collect()
}

fn flags(command: &Command) -> Vec<String> {
    command.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect()
}

fn valid_values(error: &Error) -> Vec<String> {
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) => values.clone(),
        _ => Vec::new(),
    }
}
