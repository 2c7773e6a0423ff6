//! `oversim report`: a scenario as one page for the browser.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use experiment::PolicyShelf;
use experiment::metrics::ALL_APPS;
use experiment::plan::Experiment;
use experiment::report::quoted;
use experiment::result::Results;
use figures::page::{Slot, Story, page};
use timeline::draw::{self, Caption};
use timeline::{Medium, Request, Subject};

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
    let (name, text) = input::scenario(&args.file)?;
    if experiment::result::is_result(&text) {
        return Err(Failure::Input(format!(
            "{name} is a result, and a report also describes its scenario: name the scenario instead (`oversim plot` draws figures of a result)"
        )));
    }
    let changes = &args.changes;
    let experiment = source::load(policies, &name, &text, &source::changed(changes, args.best_partition))?;
    let results = source::simulate(&name, &experiment, changes)?;
    let drawn = figures::draw(&results, &[]).map_err(Failure::Output)?;
    let file = file_name(&args.file);
    let subject = subject_name(&args.file);
    let timeline = timeline(&experiment, &results, &subject, changes);
    let story = Story {
        experiment: &experiment,
        results: &results,
        policies,
        drawn: &drawn,
        timeline: timeline.as_ref(),
        command: &command(&subject, changes, args.best_partition),
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

/// The first policy above the one under which all is done first, at the first configuration, in the most informative window. None
/// when there is nothing to draw.
fn timeline(experiment: &Experiment, results: &Results, file: &str, changes: &Changes) -> Option<Slot> {
    let configuration = experiment.configurations.first()?;
    let makespan =
        |policy: &String| Some(results.get(&configuration.label, policy, ALL_APPS, "makespan")?.mean);
    let first = experiment.policies.first()?;
    let times: Vec<(&String, f64)> =
        experiment.policies.iter().filter_map(|policy| Some((policy, makespan(policy)?))).collect();
    let (best, _) = times.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let second = times.iter().map(|(policy, _)| *policy).find(|policy| *policy != first);
    let other = if *best == first { second } else { Some(*best) };
    let shown: Vec<&String> = [first].into_iter().chain(other).collect();
    let subjects: Vec<Subject<'_>> = shown.iter().filter_map(|label| subject(experiment, label)).collect();
    let timeline = timeline::record(&subjects, &Request::default(), Medium::Picture).ok()?;
    let at =
        if configuration.label.is_empty() { String::new() } else { format!(" at {}", configuration.label) };
    let title = format!("{}{at}, seed {}", experiment.name, experiment.seed);
    let names = shown.iter().map(|label| label.as_str()).collect::<Vec<_>>();
    let mut words = strings(&["oversim", "timeline", file, "--policy", &names.join(",")]);
    words.extend(changes.edits.set.iter().flat_map(|set| strings(&["--set", set])));
    words.extend(changes.edits.sweep.iter().flat_map(|sweep| strings(&["--sweep", sweep])));
    words.extend(changes.edits.seed.iter().flat_map(|seed| strings(&["--seed", &seed.to_string()])));
    words.extend(strings(&["-o", "timeline.svg"]));
    Some(Slot {
        about: format!("{}{at}. {}.", names.join(" and "), timeline.headline().trim_end_matches('.')),
        svg: draw::svg(&timeline, Caption { title: &title, prefix: "timeline" }),
        command: line(&words),
    })
}

/// The first replicate of a policy at the first configuration.
fn subject<'a>(experiment: &'a Experiment, label: &'a str) -> Option<Subject<'a>> {
    let policy = experiment.policies.iter().position(|policy| policy == label)?;
    let mut runs = experiment.runs.iter();
    let plan = runs.find(|run| run.policy == policy && run.configuration == 0 && run.replicate == 0)?;
    Some(Subject { label, plan })
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The name of the scenario's file, without the directories on this machine.
fn file_name(path: &Path) -> String {
    let name = path.file_name().filter(|_| path.as_os_str() != "-");
    name.map_or_else(|| "scenario.yaml".into(), |name| name.to_string_lossy().into_owned())
}

/// The subject of the commands on the page: as given, so that they run in the same directory.
fn subject_name(path: &Path) -> String {
    if path.as_os_str() == "-" { file_name(path) } else { path.display().to_string() }
}

/// The command that makes the page again.
fn command(file: &str, changes: &Changes, best_partition: bool) -> String {
    let mut words = vec!["oversim".to_owned(), "report".to_owned(), file.to_owned()];
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    if !changes.edits.policies.is_empty() {
        option("--policy", changes.edits.policies.join(","));
    }
    for (name, value) in [("--seed", changes.edits.seed), ("--repeat", changes.repeat.map(u64::from))] {
        if let Some(value) = value {
            option(name, value.to_string());
        }
    }
    for set in &changes.edits.set {
        option("--set", set.clone());
    }
    for sweep in &changes.edits.sweep {
        option("--sweep", sweep.clone());
    }
    if best_partition {
        words.push("--best-partition".into());
    }
    words.extend(["-o".into(), "report.html".into()]);
    line(&words)
}

/// Words as a command line.
fn line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
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
