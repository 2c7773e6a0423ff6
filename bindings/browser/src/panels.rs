//! Which runs the timeline of a page shows.

use experiment::result::Results;
use experiment::statements::causes::Pair;
use experiment::statements::ranking::Standing;
use experiment::statements::{Extremes, Table};
use pictures::timeline::choice::{Asked, choose, runs};
use pictures::timeline::steps;
use pictures::timeline::{Aim, Medium, Request as Window, Subject, Timeline, data, draw, record};
use scenario::plan::{Experiment, RunPlan};
use serde_json::{Value, json};

use crate::request::Show;
use crate::words::without_flags;

/// Most runs of one timeline.
const MOST: usize = 4;
/// Most decisions that a page gets at once: some megabytes of JSON.
const STEPS: usize = 5000;

/// The runs with the first seed, for a page that draws them.
///
/// # Errors
/// A sentence why there is no timeline.
pub fn timeline(experiment: &Experiment, results: &Results, show: Show) -> Result<Value, String> {
    let (timeline, cases) = recorded(experiment, results, show, Medium::Page)?;
    let mut data = data::data(&timeline);
    for (run, case) in cases.into_iter().enumerate() {
        data["runs"][run]["case"] = json!(case);
    }
    for key in ["message", "headline"] {
        let text = without_flags(data[key].as_str().unwrap_or_default());
        data[key] = Value::String(text);
    }
    Ok(data)
}

/// The same as an SVG.
///
/// # Errors
/// As [`timeline`].
pub fn picture(experiment: &Experiment, results: &Results, show: Show) -> Result<String, String> {
    let (timeline, _) = recorded(experiment, results, show, Medium::Picture)?;
    let title = format!("{}, seed {}", experiment.name, experiment.seed);
    Ok(draw::picture(&timeline, &title).svg())
}

/// The decisions of a run, by the numbers of its configuration and policy, in a window.
///
/// # Errors
/// A sentence: there is no such run, or the window is empty.
pub fn steps(
    experiment: &Experiment,
    [configuration, policy]: [usize; 2],
    window: Option<[u64; 2]>,
) -> Result<Value, String> {
    let run = runs(experiment).find(|run| run.configuration == configuration && run.policy == policy);
    let run = run.ok_or("There is no such run.")?;
    let window = Window { from: window.map(|w| w[0]), to: window.map(|w| w[1]), ..Window::default() };
    let steps = steps::steps(run, &window, STEPS)?;
    serde_json::to_value(steps).map_err(|error| error.to_string())
}

/// A timeline, and of each run the numbers of its configuration and policy.
type Recorded = (Timeline, Vec<[usize; 2]>);

fn recorded(
    experiment: &Experiment,
    results: &Results,
    show: Show,
    medium: Medium,
) -> Result<Recorded, String> {
    let kept = |subjects: &[Subject<'_>], aim: Aim| {
        let cases = subjects.iter().map(|subject| [subject.plan.configuration, subject.plan.policy]);
        let timeline = record(subjects, &Window { aim, ..Window::default() }, medium)?;
        Ok((timeline, cases.collect()))
    };
    let table = Table::of(results);
    if show == Show::Pair
        && let Some(compared) = compared(experiment, &table)
    {
        let subjects: Vec<Subject<'_>> = compared
            .iter()
            .map(|(label, plan)| Subject { label: &label.name, place: &label.place, plan })
            .collect();
        return kept(&subjects, Aim::Difference);
    }
    let swept = experiment.axes.iter().find(|axis| axis.values.len() > 1).map(|axis| axis.path.as_str());
    let vary = show == Show::Values || (show == Show::Pair && experiment.policies.len() == 1);
    let named = experiment.policies.len() <= MOST;
    let choice = choose(experiment, Asked { named, vary: swept.filter(|_| vary) })?;
    kept(&choice.subjects(), choice.aim)
}

/// What a run is called, and the same in a sentence.
struct Label {
    name: String,
    place: String,
}

/// The two cases that the answer compares, the worse one first; none where it compares none.
fn compared<'e>(experiment: &'e Experiment, table: &Table<'_>) -> Option<Vec<(Label, &'e RunPlan)>> {
    let extremes = Extremes::of(table)?;
    let pair = Pair::of(table, &extremes);
    let mut both = [pair.from, pair.to?];
    both.sort_by(|a, b| extremes.goal.order(b.value, a.value));
    let [worse, better] = both;
    let label = |own: &Standing<'_>, other: &Standing<'_>| {
        let settings = table.sweep.differing(own.configuration, other.configuration);
        let with = if settings.is_empty() { String::new() } else { format!(" with {settings}") };
        Label { name: format!("{}{with}", own.policy), place: format!("under {}{with}", own.policy) }
    };
    let find = |of: &Standing<'_>| {
        let policy = experiment.policies.iter().position(|policy| policy == of.policy)?;
        runs(experiment).find(|run| run.configuration == of.configuration && run.policy == policy)
    };
    Some(vec![(label(&worse, &better), find(&worse)?), (label(&better, &worse), find(&better)?)])
}
