//! `oversim report`: a scenario as one page for the browser.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use experiment::PolicyRegistry;
use experiment::number::listed;
use experiment::report::quoted;
use experiment::response::{Response, regions};
use experiment::result::Results;
use experiment::statements::{Extremes, Table};
use pictures::figures;
use pictures::page::{Slot, Story, SweepStory, page, sweep_page};
use pictures::timeline::data::data;
use pictures::timeline::{self, Medium, Request, Subject, draw};
use scenario::plan::Experiment;

use super::source;
use crate::args::{Changes, Report};
use crate::failure::{BAD_END, Failure};
use crate::output::Target;
use crate::{input, output, say};

/// Why there are no pictures of a window.
pub(super) const NO_RUN_TIMES: &str = "figures and pages show run times, and with a `window` there are none: \
    use `oversim run` with `--format csv`";

/// Runs the scenario and writes the page.
pub(crate) fn report(args: &Report, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let standard = args.output.as_os_str() == "-";
    let target = (!standard).then(|| Target::check(&args.output, args.force)).transpose()?;
    output::distinct(&target.iter().collect::<Vec<_>>(), &[&args.file])?;
    if ::sweep::store::is_sweep(&args.file) {
        return of_sweep(args, target.as_ref(), policies);
    }
    let (name, text) = input::scenario(&args.file)?;
    if experiment::result::is_result(&text) {
        return Err(Failure::Input(format!(
            "{name} is a result, and a report also describes its scenario: name the scenario instead \
                (`oversim plot` draws figures of a result)"
        )));
    }
    let changes = &args.changes;
    let experiment = source::load(policies, &name, &text, &source::changed(changes, args.best_partition))?;
    if experiment.runs.iter().any(|run| run.window.is_some()) {
        return Err(Failure::Input(NO_RUN_TIMES.into()));
    }
    let results = source::simulate(&name, &experiment, changes)?;
    let drawn = figures::draw(&results, &[]);
    let file = typed(&args.file);
    let timeline = timeline(&experiment, &results, &file, changes);
    let story = Story {
        experiment: &experiment,
        results: &results,
        policies,
        drawn: &drawn,
        timeline: timeline.as_ref(),
        command: &command(&file, changes, args.best_partition),
        file: &file,
    };
    write(target.as_ref(), &page(&story))?;
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

/// Writes the page of a sweep.
fn of_sweep(args: &Report, target: Option<&Target>, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let changes = &args.changes;
    let flags = source::given(changes, args.best_partition);
    if !flags.is_empty() {
        return Err(source::refused(&flags, &args.file.display().to_string()));
    }
    let opened = source::open(&args.file, changes, false, policies)?;
    let plan = ::sweep::store::plan(&args.file).map_err(Failure::sweep)?;
    let response = Response::chosen(&opened.results, None, None);
    let sentences = response.and_then(|response| {
        let map = response.map(None, None)?;
        let mut all = regions::sentences(&response, &map);
        all.extend(response.effects().map(|effects| effects.sentences(&response)).unwrap_or_default());
        Ok(all)
    });
    let sentences =
        sentences.unwrap_or_else(|why| vec![format!("There is no ranking of the policies: {why}.")]);
    let drawn = figures::draw(&opened.results, &["phase", "effects"].map(str::to_owned));
    let command = line(&strings(&["oversim", "report", &typed(&args.file), "-o", "report.html"]));
    let story = SweepStory {
        results: &opened.results,
        drawn: &drawn,
        sentences: &sentences,
        command: &command,
        scenario: &plan.scenario,
    };
    write(target, &sweep_page(&story))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a page to its file, or to standard output.
fn write(target: Option<&Target>, html: &str) -> Result<(), Failure> {
    let write = |out: &mut dyn Write| out.write_all(html.as_bytes());
    match target {
        None => output::to_stdout(|out| write(out)),
        Some(target) => target.write(&write),
    }
}

/// Most bytes of a timeline that a reader can enlarge: a megabyte, which a browser reads in a moment.
const MOST_DETAIL: usize = 1 << 20;

/// The worst policy above the best one, at the configuration of the best, in the window that `timeline`
/// shows.
/// None when there is nothing to draw.
fn timeline(experiment: &Experiment, results: &Results, file: &str, changes: &Changes) -> Option<Slot> {
    let table = Table::of(results);
    let extremes = Extremes::of(&table)?;
    let configuration = extremes.best.configuration;
    let here = &extremes.rankings[configuration];
    let worst = here.last().filter(|worst| worst.policy != extremes.best.policy);
    let shown: Vec<&str> = worst.into_iter().chain(here.first()).map(|standing| standing.policy).collect();
    let places: Vec<String> = shown.iter().map(|label| format!("under {label}")).collect();
    let named = shown.iter().zip(&places);
    let subjects: Vec<Subject<'_>> =
        named.filter_map(|(label, place)| subject(experiment, label, place, configuration)).collect();
    let timeline = timeline::record(&subjects, &Request::default(), Medium::Picture).ok()?;
    let with = table.with(configuration);
    let title = format!("{}{with}, seed {}", experiment.name, experiment.seed);
    let mut words = strings(&["oversim", "timeline", file, "--policy", &shown.join(",")]);
    words.extend(changes.edits.set.iter().flat_map(|set| strings(&["--set", set])));
    for (axis, varied) in table.sweep.varied.iter().enumerate() {
        let value = varied.axis.values.get(table.sweep.place(configuration, axis)?)?;
        words.extend(strings(&["--set", &format!("{}={value}", varied.axis.path)]));
    }
    words.extend(changes.edits.seed.iter().flat_map(|seed| strings(&["--seed", &seed.to_string()])));
    words.extend(strings(&["-o", "timeline.svg"]));
    let window = (timeline.window.from, timeline.window.to);
    Some(Slot {
        detail: detail(&subjects, window),
        about: format!("{} {}{with}: {}.", timeline.message(), listed(&shown), timeline.headline()),
        picture: draw::picture(&timeline, &title),
        command: line(&words),
    })
}

/// The window in more detail, unless that needs more than [`MOST_DETAIL`].
fn detail(subjects: &[Subject<'_>], (from, to): (u64, u64)) -> Option<String> {
    let request = Request { from: Some(from), to: Some(to), ..Request::default() };
    let timeline = timeline::record(subjects, &request, Medium::Page).ok()?;
    let text = data(&timeline).to_string();
    (text.len() <= MOST_DETAIL).then_some(text)
}

/// The first replicate of a policy at a configuration.
fn subject<'a>(
    experiment: &'a Experiment,
    label: &'a str,
    place: &'a str,
    configuration: usize,
) -> Option<Subject<'a>> {
    let policy = experiment.policies.iter().position(|policy| policy == label)?;
    let mut runs = experiment.runs.iter();
    let plan =
        runs.find(|run| run.policy == policy && run.configuration == configuration && run.replicate == 0)?;
    Some(Subject { label, place, plan })
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The path of the scenario as the user typed it; a name for standard input.
pub(super) fn typed(path: &Path) -> String {
    if path.as_os_str() == "-" { "scenario.yaml".into() } else { path.to_string_lossy().into_owned() }
}

/// The command that makes the page again.
fn command(file: &str, changes: &Changes, best_partition: bool) -> String {
    let mut words = vec!["oversim".to_owned(), "report".to_owned(), file.to_owned()];
    words.extend(options(changes, best_partition));
    words.extend(["-o".into(), "report.html".into()]);
    line(&words)
}

/// The flags that change what a scenario says.
pub(super) fn options(changes: &Changes, best_partition: bool) -> Vec<String> {
    let mut words = Vec::new();
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
    words
}

/// Words as a command line.
pub(super) fn line(words: &[String]) -> String {
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
