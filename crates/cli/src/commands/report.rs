//! `oversim report`: a scenario as one page for the browser.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use experiment::PolicyShelf;
use experiment::scenario::load_with;
use figures::page::{Story, page};

use super::source;
use crate::args::{Changes, Report};
use crate::failure::{BAD_END, Failure};
use crate::{input, output, say};

/// Runs the scenario and writes the page.
pub(crate) fn report(args: &Report, policies: &PolicyShelf) -> Result<ExitCode, Failure> {
    let standard = args.output.as_os_str() == "-";
    if !standard {
        output::check_file(&args.output, args.force)?;
    }
    let (name, text) = input::read(&args.file)?;
    if experiment::result::is_result(&text) {
        return Err(Failure::Input(format!(
            "{name} is a result; a report tells what was simulated, too, and wants the scenario (`oversim plot` draws figures of a result)"
        )));
    }
    let changes = &args.changes;
    let experiment =
        load_with(policies, &name, &text, &source::overrides(changes)).map_err(Failure::Rendered)?;
    let results = source::simulate(&name, &experiment, changes)?;
    let drawn = figures::draw(&results, &[]).map_err(Failure::Output)?;
    let file = file_name(&args.file);
    let story = Story {
        experiment: &experiment,
        results: &results,
        policies,
        drawn: &drawn,
        timeline: None,
        command: &command(&file, changes),
        file: &file,
    };
    let html = page(&story);
    let write = |out: &mut dyn Write| out.write_all(html.as_bytes());
    if standard {
        output::to_stdout(|out| write(out))?;
    } else {
        output::to_file(&args.output, args.force, &write)?;
    }
    if results.all_completed() {
        return Ok(ExitCode::SUCCESS);
    }
    say::line(format_args!(
        "warning: {} of {} runs did not complete",
        results.notes.len(),
        results.provenance.runs
    ));
    Ok(ExitCode::from(BAD_END))
}

/// The name of the scenario's file, without the directories on this machine.
fn file_name(path: &Path) -> String {
    let name = path.file_name().filter(|_| path.as_os_str() != "-");
    name.map_or_else(|| "scenario.yaml".into(), |name| name.to_string_lossy().into_owned())
}

/// The command that makes the page again.
fn command(file: &str, changes: &Changes) -> String {
    let mut words = vec!["oversim".to_owned(), "report".to_owned(), file.to_owned()];
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    for policy in &changes.policies {
        option("--policy", policy.clone());
    }
    for (name, value) in [("--seed", changes.seed), ("--repeat", changes.repeat.map(u64::from))] {
        if let Some(value) = value {
            option(name, value.to_string());
        }
    }
    for set in &changes.set {
        option("--set", set.clone());
    }
    if changes.best_partition {
        words.push("--best-partition".into());
    }
    words.extend(["-o".into(), "report.html".into()]);
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// As a shell wants it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_command_are_quoted_where_a_shell_would_read_them_otherwise() {
        assert_eq!(quoted("a.yaml"), "a.yaml");
        assert_eq!(quoted("apps.a={x: 1}"), "'apps.a={x: 1}'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
