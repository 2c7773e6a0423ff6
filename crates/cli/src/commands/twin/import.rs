//! `oversim twin import` and `oversim twin check`: recordings to scenarios, and both side by side.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use experiment::PolicyRegistry;
use explain::kernel_view;
use scenario::Overrides;
use scenario::plan::{Experiment, RunPlan};
use twin::check::{Compared, Followed, Measured};
use twin::course::Chosen;
use twin::facts::Facts;
use twin::make::{Form, Found, Made, Options, Recording};
use twin::write::Costs;

use super::super::source;
use super::recorded::{file_name, real};
use crate::args::{Part, TwinCheck, TwinImport};
use crate::failure::{BAD_END, Failure};
use crate::output::{Target, distinct, to_stdout};
use crate::{input, say};

/// A replay that misses the recording by more than this share is no ground for an answer.
const TRUSTED: f64 = 0.1;
/// Rows of threads that are shown.
const ROWS: usize = 12;

/// Reads and follows a recording.
fn follow(path: &Path, part: &Part) -> Result<Followed, Failure> {
    twin::check::follow(&file_name(path), |sink| real(path, (part.from, part.to), sink))
}

/// What the head of a recording says.
fn facts(path: &Path) -> Facts {
    let file = Some(path).filter(|path| path.as_os_str() != "-").map(File::open);
    file.and_then(Result::ok).map(|mut file| Facts::read(&mut file)).unwrap_or_default()
}

fn chosen(part: &Part, facts: &Facts) -> Chosen {
    match (&part.tasks[..], part.all) {
        ([], false) if facts.pid().is_some() => Chosen::Named(facts.all("pid").map(str::to_owned).collect()),
        ([], true) => Chosen::All,
        ([], false) => Chosen::First,
        (names, _) => Chosen::Named(names.to_vec()),
    }
}

/// The kernel of the list that is nearest to the recorded one.
fn recorded_under(facts: &Facts) -> Option<String> {
    let (entry, remark) = kernel_view::find(facts.get("kernel")?).ok()?;
    remark.iter().for_each(say::note);
    Some(entry.name.to_owned())
}

/// The twin with the structure that is found; where its run misses the recording, the one that keeps who woke
/// whom, if that is nearer.
fn best(
    policies: &PolicyRegistry,
    followed: &Followed,
    recording: &Recording<'_>,
    options: &Options,
) -> Result<(Made, Compared), Failure> {
    let costs = costs(policies, recording, options)?;
    let attempt = |options: &Options| -> Result<(Made, Compared), Failure> {
        let made = twin::make::make(recording, options, costs)?;
        let experiment = load(policies, "the twin", &made.text, &Overrides::default())?;
        let compared = compared(followed, &options.chosen, recording.name, (&experiment, None))?;
        Ok((made, compared))
    };
    let first = attempt(options)?;
    // A recording that is too short says nothing of how far a structure is off.
    let missed = first.1.error().map_or(0.0, f64::abs);
    if missed <= TRUSTED || first.0.found == Found::Edges || options.runtime.is_some() {
        return Ok(first);
    }
    match attempt(&Options { form: Form::Edges, ..options.clone() }) {
        Ok(edges) if edges.1.error().is_some_and(|error| error.abs() < missed) => {
            say::note(format!(
                "the structure that was found misses the recording by {:.0} %: the twin keeps who woke whom",
                100.0 * missed
            ));
            Ok(edges)
        }
        _ => Ok(first),
    }
}

/// Makes a scenario of a recording, runs it, and says how far it is off.
pub(crate) fn import(args: &TwinImport, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let target = args.output.as_deref().map(|path| Target::check(path, args.force)).transpose()?;
    distinct(&target.iter().collect::<Vec<_>>(), &[&args.file])?;
    let facts = facts(&args.file);
    let followed = follow(&args.file, &args.part)?;
    let name = file_name(&args.file);
    let recording = Recording {
        name: &name,
        form: followed.form,
        follower: &followed.follower,
        courses: &followed.courses,
    };
    let title =
        args.output.as_deref().unwrap_or(&args.file).file_name().unwrap_or_default().to_string_lossy();
    let title = title.split('.').next().unwrap_or("twin").to_owned();
    let options = Options {
        name: twin::write::plain(&title),
        machine: args.machine.clone(),
        kernel: args.kernel.clone().or_else(|| recorded_under(&facts)),
        chosen: chosen(&args.part, &facts),
        runtime: args.runtime.clone(),
        form: if args.edges { Form::Edges } else { Form::Any },
        quota: args.quota.clone(),
        facts,
    };
    let (made, compared) = best(policies, &followed, &recording, &options)?;
    let text = twin::make::with_error(&made.text, &compared);
    match &target {
        None => to_stdout(|out| out.write_all(text.as_bytes()))?,
        Some(target) => target.write(&|out| out.write_all(text.as_bytes()))?,
    }
    for finding in &made.findings {
        say::note(finding);
    }
    super::super::import::list(&made.notes);
    say::note(twin::make::sentence(&compared));
    if let Some(target) = &target {
        let file = target.named().display();
        say::written(&file, format_args!("a twin; next: oversim run {file}"));
    }
    Ok(ended(&compared))
}

fn ended(compared: &Compared) -> ExitCode {
    match compared.error() {
        Some(error) if error.abs() <= TRUSTED => return ExitCode::SUCCESS,
        Some(_) => {}
        None => {
            say::warning("the recording is too short: nothing says whether the twin is to be trusted");
            return ExitCode::from(BAD_END);
        }
    }
    say::warning(format!(
        "the run is off from the recording by more than {:.0} %: what the twin says of changes is not to be \
            trusted",
        100.0 * TRUSTED
    ));
    ExitCode::from(BAD_END)
}

fn load(
    policies: &PolicyRegistry,
    name: &str,
    text: &str,
    overrides: &Overrides,
) -> Result<Experiment, Failure> {
    scenario::load_with(policies, name, text, overrides).map_err(Failure::Rendered)
}

/// What the machine charges for what threads do.
fn costs(policies: &PolicyRegistry, recording: &Recording<'_>, options: &Options) -> Result<Costs, Failure> {
    let machine = options.machine.clone().unwrap_or_else(|| twin::make::default_machine(recording));
    let text = format!(
        "name: costs\nmachine: {machine}\napps: {{ a: {{ workload: {{ hog: {{ work: 1s }} }}, tasks: 1 }} \
            }}\npolicies: [LOAD]\n"
    );
    let experiment = load(policies, "the machine", &text, &Overrides::default())?;
    let Some(costs) = experiment.runs.first().map(|run| &run.machine.costs) else {
        return Ok(Costs::default());
    };
    Ok(Costs::of(costs))
}

/// The first run of a twin beside a recording.
fn compared(
    followed: &Followed,
    chosen: &Chosen,
    name: &str,
    (experiment, app): (&Experiment, Option<&str>),
) -> Result<Compared, Failure> {
    let recording =
        Recording { name, form: followed.form, follower: &followed.follower, courses: &followed.courses };
    let program = twin::make::program(&recording, chosen)?;
    let kinds = twin::make::names(&recording, &program);
    let plan: &RunPlan = experiment
        .runs
        .iter()
        .find(|run| run.alone.is_none())
        .ok_or_else(|| Failure::Input("the twin has no run under a policy".into()))?;
    let (run, names) = twin::check::simulate(plan)?;
    let app = app.map_or_else(|| twin::make::app(&recording, &program), str::to_owned);
    Ok(twin::check::compare(followed, &program.threads, &kinds, (&run, &names), &app))
}

/// Shows a twin beside a recording.
pub(crate) fn check(args: &TwinCheck, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let (name, text) = input::scenario(&args.twin)?;
    let experiment = source::load(policies, &name, &text, &source::edited(&args.edits))?;
    let followed = follow(&args.file, &args.part)?;
    let recorded = file_name(&args.file);
    let (chosen, app) = ours(&followed, chosen(&args.part, &facts(&args.file)), &experiment);
    let compared = compared(&followed, &chosen, &recorded, (&experiment, app.as_deref()))?;
    to_stdout(|out| table(&compared, out))?;
    Ok(ended(&compared))
}

/// The program of a recording, and the application of a twin that stands for it: a recording of a change can
/// begin with another program (a shell, a competitor).
fn ours(followed: &Followed, chosen: Chosen, experiment: &Experiment) -> (Chosen, Option<String>) {
    let Some(first) = experiment.apps.first().filter(|_| chosen == Chosen::First) else {
        return (chosen, None);
    };
    let begins =
        |plain: &str| first.strip_prefix(plain).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    // The process that an import takes, if the twin has its name.
    let recording =
        Recording { name: "", form: followed.form, follower: &followed.follower, courses: &followed.courses };
    let own = twin::make::program(&recording, &chosen).ok().map(|own| twin::make::app(&recording, &own));
    if let Some(own) = own.filter(|own| begins(own)) {
        return (chosen, Some(own));
    }
    let names = followed.follower.threads.iter().map(|(_, thread)| thread.name.clone());
    let is_app = |name: &String| begins(&twin::write::plain(name));
    let longest = names.filter(is_app).max_by_key(String::len);
    match longest {
        Some(name) => (Chosen::Named(vec![name.clone()]), Some(twin::write::plain(&name))),
        None => (chosen, None),
    }
}

fn table(compared: &Compared, out: &mut dyn Write) -> io::Result<()> {
    let ms = |ns: u64| format!("{:.3}", ns as f64 / 1e6);
    let Compared { recorded, replayed, each } = compared;
    let known = compared.error().is_some();
    writeln!(out, "{:<28} {:>14} {:>14} {:>9}", "", "recorded, ms", "replayed, ms", "error")?;
    let mut row = |name: &str, recorded: Option<u64>, replayed: Option<u64>| match (recorded, replayed) {
        // Nothing is no measure of something, and a recording that is too short of nothing.
        (Some(one), Some(other)) => {
            let error = twin::check::share(other, one).filter(|_| known);
            let error = error.map_or_else(|| "-".into(), |error| format!("{:>+7.1} %", 100.0 * error));
            writeln!(out, "{name:<28} {:>14} {:>14} {error:>9}", ms(one), ms(other))
        }
        _ => Ok(()),
    };
    let quantile = Measured::quantile;
    row("from first to last instant", Some(recorded.lasted), Some(replayed.lasted))?;
    row("cpu time", Some(recorded.cpu), Some(replayed.cpu))?;
    row("time in queues", Some(recorded.queued), Some(replayed.queued))?;
    for (share, name) in [(0.5, "wake-up latency, median"), (0.99, "wake-up latency, 99 %")] {
        row(name, quantile(&recorded.latencies, share), quantile(&replayed.latencies, share))?;
    }
    for (share, name) in [(0.5, "time on a cpu, median"), (0.99, "time on a cpu, 99 %")] {
        row(name, quantile(&recorded.runs, share), quantile(&replayed.runs, share))?;
    }
    for (name, recorded, replayed) in each.iter().take(ROWS) {
        row(&format!("cpu time of {name}"), Some(recorded.cpu), Some(replayed.cpu))?;
    }
    let counts = [
        ("runs on a cpu", recorded.runs.len() as u64, replayed.runs.len() as u64),
        ("migrations", recorded.migrations, replayed.migrations),
    ];
    for (name, one, other) in counts {
        writeln!(out, "{name:<28} {one:>14} {other:>14}")?;
    }
    writeln!(out, "{}", twin::make::sentence(compared))
}
