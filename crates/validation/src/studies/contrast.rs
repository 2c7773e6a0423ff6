//! Comparisons and statements in words: a claim about two sides is two claims, one about each.

use super::baselines::{Field, Side, baselines, is_one_per_core};
use super::general::{self, Runs, gains, scale};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Conditions, Form, Metric, Model, Says};
use crate::lab::Lab;

/// What answers a claim about numbers.
pub(super) type Numbers<'a> = &'a dyn Fn(&Claim, &mut Lab) -> Result<Answer, Trouble>;

/// The fields that may name two sides, the one that counts first.
const FIELDS: [Field; 9] = [
    |texts| &mut texts.machine,
    |texts| &mut texts.model,
    |texts| &mut texts.policy,
    |texts| &mut texts.yields,
    |texts| &mut texts.workload,
    |texts| &mut texts.class,
    |texts| &mut texts.threads,
    |texts| &mut texts.wait,
    |texts| &mut texts.environment,
];

/// What stands between two sides.
const VERSUS: [&str; 3] = [" vs ", " VS ", " versus "];

/// The two sides that a field of the claim names, and what they are called.
fn sides(claim: &Claim) -> Option<[Side; 2]> {
    for field in FIELDS {
        let text = field(&mut claim.texts.clone()).clone();
        // Ways to wait that belong to one model each are no sides.
        if text == claim.texts.wait && claim.at.models.list != [Model::OpenMp] {
            continue;
        }
        let Some((first, second)) = VERSUS.iter().find_map(|versus| text.split_once(versus)) else {
            continue;
        };
        let mut named = [first.trim().to_owned(), second.trim().to_owned()];
        // As in `2,4 vs 1 per core each`: what follows the last number belongs to both.
        let tail = named[1].rfind(|c: char| c.is_ascii_digit()).map(|at| named[1][at + 1..].to_owned());
        if let Some(tail) = tail
            && named[0].ends_with(|c: char| c.is_ascii_digit())
        {
            named[0].push_str(&tail);
        }
        return Some(named.map(|name| {
            let mut other = claim.with(|texts| field(texts).clone_from(&name));
            other.form = Form::Average;
            Side { other, name }
        }));
    }
    None
}

/// Whether a field of a claim names two sides.
pub(super) fn has_sides(claim: &Claim) -> bool {
    sides(claim).is_some()
}

/// Whether a claim is a statement in words, or compares two sides.
pub(super) fn is_comparison(claim: &Claim) -> bool {
    matches!(claim.form, Form::Ordering | Form::Qualitative) || sides(claim).is_some()
}

/// What the simulator says about a statement in words, or a comparison of two sides in numbers.
pub(super) fn answer(
    claim: &Claim,
    lab: &mut Lab,
    numbers: Numbers<'_>,
    runs: Runs<'_>,
) -> Result<Answer, Trouble> {
    if let Some([first, second]) = sides(claim) {
        return compared(claim, lab, numbers, runs, [&first, &second]);
    }
    let order = claim.at.metric == Some(Metric::Order);
    let words = matches!(claim.form, Form::Ordering | Form::Qualitative);
    if order && !words {
        return general::answer(claim, lab, runs);
    }
    if !baselines_itself(claim) {
        // What has no baseline of its own, as variation: less or more than that of the baseline.
        let first = Side { other: average(claim), name: claim.texts.policy.clone() };
        let mut points = Vec::new();
        for Side { other, name } in baselines(claim) {
            let second = Side { other: average(&other), name };
            points.extend(compared(claim, lab, numbers, runs, [&first, &second])?.0);
        }
        if !points.is_empty() {
            return Ok(Answer(points));
        }
    }
    let degrees = claim.at.threads.degrees(&[]);
    if claim.form == Form::Ordering && !order && degrees.len() > 1 {
        return trend(claim, lab, numbers, &degrees);
    }
    signed(claim, lab, numbers, runs)
}

/// Whether a metric is a comparison with a baseline by its definition.
fn baselines_itself(claim: &Claim) -> bool {
    let own = [Metric::Variation, Metric::Order, Metric::RunTime, Metric::JobRunTime, Metric::CpuTime];
    claim.at.metric.is_some_and(|metric| !own.contains(&metric))
}

fn average(claim: &Claim) -> Claim {
    Claim { form: Form::Average, ..claim.clone() }
}

/// The machines of a comparison, each by itself, unless it is the machines that are compared.
fn by_machine(sides: [&Side; 2]) -> Vec<[Claim; 2]> {
    let [one, other] = sides;
    let machines = &one.other.at.machines;
    if *machines != other.other.at.machines || machines.unnamed {
        return vec![[one.other.clone(), other.other.clone()]];
    }
    let only = |side: &Side, machine: &String| side.other.with(|texts| texts.machine.clone_from(machine));
    machines.list.iter().map(|machine| [only(one, machine), only(other, machine)]).collect()
}

/// What the first side has more than the second, or less where the statement says so: of run times how much
/// longer the second takes.
fn compared(
    claim: &Claim,
    lab: &mut Lab,
    numbers: Numbers<'_>,
    runs: Runs<'_>,
    sides: [&Side; 2],
) -> Result<Answer, Trouble> {
    let (metric, words) = (claim.at.metric, matches!(claim.form, Form::Ordering | Form::Qualitative));
    let statement = &claim.at.statement;
    let low = metric.is_some_and(Metric::low_is_better);
    let [first, second] = sides.map(|side| side.name.as_str());
    let order = metric == Some(Metric::Order);
    // Whose run time is less has more performance.
    let turned = order && statement.is_of_times();
    let more = !words || (statement.first_has_more(first, second, low) != turned);
    let same = words && statement.says(low) == Some(Says::Same);
    let relative = is_one_per_core(&claim.texts.baseline.to_lowercase());
    let mut points = Vec::new();
    for [one, other] in by_machine(sides) {
        let series = if order && relative {
            let of = |lab: &mut Lab, claim: &Claim| -> Result<Series, Trouble> {
                let change = Claim { at: with_metric(claim, Metric::WorkloadChange), ..claim.clone() };
                single(general::answer(&change, lab, runs)?)
            };
            of(lab, &one)?.with(&of(lab, &other)?, |a, b| (a - b) * scale(claim))
        } else if order {
            let all: Vec<Series> =
                gains(lab, runs, &other, &one)?.into_iter().map(|(_, gain)| gain).collect();
            Series::mean_of(&all).map(|gain| gain * scale(claim))
        } else {
            let one = single(numbers(&one, lab)?.averaged())?;
            let other = single(numbers(&other, lab)?.averaged())?;
            if one.0.len() == other.0.len() {
                one.with(&other, |a, b| a - b)
            } else {
                Series::from(one.mean() - other.mean())
            }
        };
        let series = series.map(|x| {
            if same {
                0.0 - x.abs()
            } else if more {
                x
            } else {
                0.0 - x
            }
        });
        let machine = one.at.machines.list.join(",");
        let between = if same {
            "as"
        } else if more {
            "over"
        } else {
            "under"
        };
        points.push(Point::new(format!("{machine}: {first} {between} {second}"), &series));
    }
    Ok(Answer(points))
}

/// The conditions of a claim with another metric.
fn with_metric(claim: &Claim, metric: Metric) -> Conditions {
    Conditions { metric: Some(metric), ..claim.at.clone() }
}

fn single(answer: Answer) -> Result<Series, Trouble> {
    match &answer.averaged().0[..] {
        [point] => Ok(point.series.clone()),
        _ => Err(Trouble::uncovered("there is no cell on one side of the comparison")),
    }
}

/// The quantity rises from each degree to the next, or falls where the claim says so.
fn trend(claim: &Claim, lab: &mut Lab, numbers: Numbers<'_>, degrees: &[u32]) -> Result<Answer, Trouble> {
    let rises = rises(claim, true);
    let mut points = Vec::new();
    let mut before: Option<(u32, Series)> = None;
    for k in degrees {
        let only = average(&claim.with(|texts| texts.threads = format!("{k} per core each")));
        let here = single(numbers(&only, lab)?)?;
        if let Some((less, earlier)) = before {
            let step = here.mean() - earlier.mean();
            let label = format!("{k} per core after {less}");
            points.push(Point::single(label, if rises { step } else { 0.0 - step }));
        }
        before = Some((*k, here));
    }
    Ok(Answer(points))
}

/// Whether a claim says that a quantity rises with the number of tasks: by the signs between the numbers, or
/// by its words.
pub(super) fn rises(claim: &Claim, usual: bool) -> bool {
    let threads = &claim.texts.threads;
    match (threads.contains('<'), threads.contains('>')) {
        (true, false) => return true,
        (false, true) => return false,
        _ => {}
    }
    let low = claim.at.metric.is_some_and(Metric::low_is_better);
    match claim.at.statement.says(low) {
        Some(Says::More) => true,
        Some(Says::Less) => false,
        _ => usual,
    }
}

/// Everything is above what changes nothing, or below, or as near to it as the tolerance.
pub(super) fn signed(
    claim: &Claim,
    lab: &mut Lab,
    numbers: Numbers<'_>,
    runs: Runs<'_>,
) -> Result<Answer, Trouble> {
    let order = claim.at.metric == Some(Metric::Order);
    let low = claim.at.metric.is_some_and(Metric::low_is_better);
    let Some(says) = claim.at.statement.says(low) else {
        let statement = claim.value.shown();
        return Err(Trouble::uncovered(format!(
            "`{statement}` states neither more nor less, and compares nothing"
        )));
    };
    let neutral = claim.at.metric.map_or(0.0, Metric::neutral);
    let all = if order { general::answer(claim, lab, runs)? } else { numbers(&average(claim), lab)? };
    let sign = |x: f64| match says {
        Says::More => x - neutral,
        Says::Less => neutral - x,
        Says::Same => 0.0 - (x - neutral).abs(),
    };
    Ok(Answer(all.0.iter().map(|point| Point::new(point.label.clone(), &point.series.map(sign))).collect()))
}
