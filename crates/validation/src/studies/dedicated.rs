//! One program alone on the machine: oversubscription, its dependence on the model, on intervals, counters.

use notation::declare::Choice;

use super::alone::{self, Subject};
use super::contrast;
use super::general::{self, Run};
use super::programs::{contexts, run_by};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{
    Claim, Conditions, Feature, Form, Metric, Model, Schedule, Together, ToleranceKind, Workload,
};
use crate::lab::{Cell, Lab};
use experiment::statistics::spearman;

/// A code whose barriers are no further apart is fine-grained, ms: 1 to 5 ms is the paper's word for those
/// that degrade.
const FINE_MS: f64 = 5.0;
/// Fewest cells of a rank correlation.
const LEAST_CELLS: usize = 3;
/// What counts as degraded where a claim states no tolerance.
const DEGRADED: f64 = 0.05;

/// Beginnings of words about how fine-grained programs are.
const GRAIN: [&str; 6] = ["barrier", "fine", "grain", "interval", "synchron", "communicat"];

/// What the simulator says about a claim of these groups.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let at = &claim.at;
    let words = matches!(claim.form, Form::Ordering | Form::Qualitative);
    match (at.metric, claim.form) {
        (
            Some(
                Metric::Throughput
                | Metric::PartitionGain
                | Metric::MeanPartitionGain
                | Metric::OfDedicated
                | Metric::ImbalanceChange,
            ),
            _,
        ) => super::sharing::answer(claim, lab),
        (Some(Metric::RelPerf), _) if at.workload.has(Feature::Imbalanced) => imbalanced(claim, lab),
        (Some(Metric::RelPerf), _) if at.baseline.free_switches => free_switches(claim, lab),
        (Some(Metric::Correlation), Form::Qualitative) => fine_ones_degrade(claim, lab),
        (Some(Metric::RelPerf), Form::Qualitative) if at.statement.speaks_of(&GRAIN) => {
            fine_ones_degrade(claim, lab)
        }
        (Some(Metric::RelPerf), Form::Ordering) if !contrast::has_sides(claim) => monotone(claim, lab),
        (Some(Metric::Order), _) if !at.baseline.schedules.is_empty() => schedules(claim, lab),
        (Some(Metric::Order), _) if !words && at.models.together == Together::Versus => faster(claim, lab),
        (Some(Metric::Order), _) if words && is_of_degrees(claim) => compared(claim, lab),
        (Some(Metric::YieldGain), _) if words && super::waiting::is_statement(claim) => {
            super::waiting::statement(claim, lab)
        }
        _ if contrast::is_comparison(claim) => contrast::answer(claim, lab, &numbers, &runs),
        _ => numbers(claim, lab),
    }
}

/// Whether two machines or two models are compared by what oversubscription costs them.
fn is_of_degrees(claim: &Claim) -> bool {
    let at = &claim.at;
    let two = at.machines.versus || at.models.together == Together::Versus;
    two && !claim.at.baseline.none && at.baseline.models.is_empty() && !alone::common_degrees(at).is_empty()
}

/// What the simulator says about a claim of numbers.
fn numbers(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    match claim.at.metric {
        Some(Metric::RelPerf) => each(claim, lab, Subject::relative),
        Some(Metric::WorkloadChange) => change(claim, lab),
        Some(Metric::Correlation) => interval(claim, lab),
        Some(Metric::Balance) => {
            each(claim, lab, |s, lab, k| against_one(&s.balance(lab, k)?, &s.balance(lab, 1)?, |x| x - 1.0))
        }
        Some(Metric::CacheMisses) => {
            each(claim, lab, |s, lab, k| against_one(&s.misses(lab, k)?, &s.misses(lab, 1)?, |x| 1.0 - x))
        }
        Some(Metric::YieldGain | Metric::PinGain | Metric::Variation | Metric::BlockTimeGain) => {
            super::waiting::answer(claim, lab)
        }
        _ => general::answer(claim, lab, &runs),
    }
}

/// The whole runs of every program and number of tasks, one per core included where it is named or none is.
fn runs(claim: &Claim, lab: &mut Lab) -> Result<Vec<Run>, Trouble> {
    let degrees = claim.at.threads.degrees(&[1]);
    let all = alone::runs(&alone::all(&claim.at), &degrees);
    all.into_iter().map(|(subject, k)| subject.whole(lab, k)).collect()
}

/// A change of a ratio; none where there is nothing (misses of a code without memory traffic).
fn against_one(many: &Series, one: &Series, change: fn(f64) -> f64) -> Result<Series, Trouble> {
    let one = one.mean();
    Ok(many.map(|x| if one > 0.0 { change(x / one) } else { 0.0 }))
}

/// A point for each program and degree.
fn each(
    claim: &Claim,
    lab: &mut Lab,
    what: impl Fn(&Subject, &mut Lab, u32) -> Result<Series, Trouble>,
) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for (subject, k) in alone::runs(&alone::all(&claim.at), &alone::degrees(&claim.at)) {
        points.push(Point::new(subject.name(k), &what(&subject, lab, k)?));
    }
    Ok(Answer(points))
}

/// The mean over programs of T(1 per core) / T(k per core), minus one, in per cent; empty when none runs.
fn workload(lab: &mut Lab, subjects: &[Subject], degrees: &[u32]) -> Result<Series, Trouble> {
    let mut all = Vec::new();
    for (subject, k) in alone::runs(subjects, degrees) {
        all.push(subject.relative(lab, k)?.map(|x| (x - 1.0) * 100.0));
    }
    Ok(Series::mean_of(&all))
}

/// Workload averages: one for each machine and degree; over all of them where one number is published, over
/// the machines where none is named.
fn change(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let degrees = alone::degrees(&claim.at);
    if claim.form.is_mean() {
        let label = format!("mean over {} degrees", degrees.len());
        return Ok(Answer::one(label, &workload(lab, &alone::all(&claim.at), &degrees)?));
    }
    let unnamed = claim.at.machines.unnamed;
    let mut points = Vec::new();
    for k in degrees {
        let mut add = |name: &str, subjects: &[Subject]| -> Result<(), Trouble> {
            let series = workload(lab, subjects, &[k])?;
            if !series.0.is_empty() {
                points.push(Point::new(format!("{name} {k}/core"), &series));
            }
            Ok(())
        };
        if unnamed {
            add("all machines", &alone::all(&claim.at))?;
            continue;
        }
        for machine in &claim.at.machines.list {
            for model in &claim.at.models.list {
                add(&format!("{machine} {}", model.word()), &alone::of(&claim.at, machine, *model))?;
            }
        }
    }
    Ok(Answer(points))
}

/// Performance falls from each degree to the next, one per core included, or rises where the claim says so:
/// differences.
fn monotone(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    let sign = if contrast::rises(claim, false) { -1.0 } else { 1.0 };
    for subject in alone::all(&claim.at) {
        let mut before = (1, Series::from(1.0));
        for (subject, k) in alone::runs(std::slice::from_ref(&subject), &alone::degrees(&claim.at)) {
            let here = subject.relative(lab, k)?;
            let loss = before.1.mean();
            let label =
                format!("{} {} {}", subject.name(k), if sign > 0.0 { "below" } else { "above" }, before.0);
            points.push(Point::new(label, &here.map(|x| sign * (loss - x))));
            before = (k, here);
        }
    }
    Ok(Answer(points))
}

/// What degrades has short intervals between barriers, and it is not the most: of the programs with long
/// intervals and of the one in the middle what they keep, less what counts as degraded.
fn fine_ones_degrade(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let noise = match claim.tolerance.kind {
        ToleranceKind::Bool => DEGRADED,
        _ => 0.0,
    };
    let mut points = Vec::new();
    let mut kept = Vec::new();
    for (subject, k) in alone::runs(&alone::all(&claim.at), &alone::degrees(&claim.at)) {
        let relative = subject.relative(lab, k)?.map(|x| x - (1.0 - noise));
        kept.push(relative.mean());
        let interval = subject.interval(lab)?;
        if interval > FINE_MS {
            points.push(Point::new(format!("{} at {interval:.0} ms", subject.name(k)), &relative));
        }
    }
    kept.sort_by(f64::total_cmp);
    if let Some(middle) = kept.len().checked_sub(1).map(|last| kept[last - kept.len() / 2]) {
        points.push(Point::single(format!("the middle one of {} cells", kept.len()), middle));
    }
    Ok(Answer(points))
}

/// The interval between barriers tells how a program bears oversubscription: rank correlation over all cells.
fn interval(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut pairs = Vec::new();
    for (subject, k) in alone::runs(&alone::all(&claim.at), &alone::degrees(&claim.at)) {
        pairs.push((subject.interval(lab)?, subject.relative(lab, k)?.mean()));
    }
    let label = format!("rank correlation of interval and performance over {} cells", pairs.len());
    // A correlation that is stated as negative is the negative of it.
    let sign = if claim.at.statement.speaks_of(&["negativ", "invers", "anti"]) { -1.0 } else { 1.0 };
    if pairs.len() < LEAST_CELLS {
        return Err(Trouble::uncovered(format!(
            "`{}` in `{}` makes {} cells, too few for a correlation",
            claim.texts.workload,
            claim.texts.threads,
            pairs.len()
        )));
    }
    // What does not vary goes together with nothing.
    Ok(Answer(vec![Point::single(label, sign * spearman(&pairs).unwrap_or(0.0))]))
}

/// The same runs on a machine whose switches cost nothing and whose caches are never cold: how far that moves
/// the mean over the programs, as a share, with negative sign.
fn free_switches(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for machine in &claim.at.machines.list {
        for model in &claim.at.models.list {
            for k in alone::degrees(&claim.at) {
                let mut all = Vec::new();
                for (subject, k) in alone::runs(&alone::of(&claim.at, machine, *model), &[k]) {
                    let cell = without_switches(subject.cell(k, lab.is_quick()));
                    let free = lab.times(&cell, "a")?.mean();
                    all.push(subject.times(lab, k)?.map(|time| free / time - 1.0));
                }
                if all.is_empty() {
                    continue;
                }
                let moved = Series::mean_of(&all).map(|x| -x.abs());
                points.push(Point::new(format!("{machine} {} {k}/core", model.word()), &moved));
            }
        }
    }
    Ok(Answer(points))
}

fn without_switches(cell: Cell) -> Cell {
    cell.set("machine.switch_thread", "0ns")
        .set("machine.switch_process", "0ns")
        .set("machine.private_cache", "0B")
        .set("machine.shared_cache", "0B")
}

/// The first model, or machine, of two bears oversubscription better, or the second where the claim says so:
/// the difference of the workload averages.
fn compared(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let more = |first: &str, second: &str| {
        if claim.at.statement.first_has_more(first, second, false) { 1.0 } else { -1.0 }
    };
    let degrees = alone::common_degrees(&claim.at);
    let (machines, models) = (&claim.at.machines.list, &claim.at.models.list);
    let share = |lab: &mut Lab, subjects: Vec<Subject>| -> Result<Series, Trouble> {
        Ok(workload(lab, &subjects, &degrees)?.map(|x| x / 100.0))
    };
    if claim.at.machines.versus
        && let [first, second] = &machines[..]
    {
        let of = |machine: &str| -> Vec<Subject> {
            models.iter().flat_map(|model| alone::of(&claim.at, machine, *model)).collect()
        };
        let (one, other) = (share(lab, of(first))?, share(lab, of(second))?);
        let sign = more(first, second);
        return Ok(Answer::one(format!("{first} - {second}"), &one.with(&other, |a, b| sign * (a - b))));
    }
    let [first, others @ ..] = &models[..] else {
        return Err(Trouble::uncovered("neither two machines nor two models are compared"));
    };
    let mut points = Vec::new();
    for machine in machines {
        let one = share(lab, alone::of(&claim.at, machine, *first))?;
        for second in others {
            let other = share(lab, alone::of(&claim.at, machine, *second))?;
            let label = format!("{machine}: {} - {}", first.word(), second.word());
            let sign = more(first.word(), second.word());
            points.push(Point::new(label, &one.with(&other, |a, b| sign * (a - b))));
        }
    }
    Ok(Answer(points))
}

/// How much longer other implementations of the programs take than the first model's, mean over the programs.
fn faster(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let [first, others @ ..] = &claim.at.models.list[..] else {
        return Err(Trouble::uncovered("no model is named"));
    };
    let degrees = claim.at.threads.degrees(&[1]);
    let mut points = Vec::new();
    for machine in &claim.at.machines.list {
        for model in others {
            let mut all = Vec::new();
            for (subject, k) in alone::runs(&alone::of(&claim.at, machine, *model), &degrees) {
                // Of the models different shares of the program are simulated.
                let same = subject.other(*first).whole(lab, k)?.times;
                let gain = subject.whole(lab, k)?.times.gain_over(&same);
                all.push(gain.map(|gain| gain * general::scale(claim)));
            }
            let label = format!("{machine}: {} over {}", model.word(), first.word());
            points.push(Point::new(label, &Series::mean_of(&all)));
        }
    }
    Ok(Answer(points))
}

/// Loops divided evenly beforehand are as fast as those whose passes are handed out, or faster: T(handed out)
/// / T(even) - 1.
fn schedules(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let unit = general::scale(claim);
    let mut degrees = alone::degrees(&claim.at);
    if claim.at.threads.degrees(&[]).contains(&1) {
        degrees.insert(0, 1);
    }
    let mut points = Vec::new();
    for machine in &claim.at.machines.list {
        for schedule in [Schedule::Dynamic, Schedule::Guided] {
            if !claim.at.baseline.schedules.contains(&schedule) {
                continue;
            }
            let schedule = schedule.word();
            for k in &degrees {
                let mut all = Vec::new();
                for (subject, k) in alone::runs(&alone::of(&claim.at, machine, Model::OpenMp), &[*k]) {
                    let cell = subject.cell(k, lab.is_quick()).set("apps.a.workload.schedule", schedule);
                    all.push(lab.times(&cell, "a")?.gain_over(&subject.times(lab, k)?).map(|x| x * unit));
                }
                points.push(Point::new(format!("{machine} {schedule} {k}/core"), &Series::mean_of(&all)));
            }
        }
    }
    Ok(Answer(points))
}

/// A program whose ranks differ gains more from oversubscription than the balanced codes do on average.
fn imbalanced(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let balanced = Conditions { workload: Workload::default(), ..claim.at.clone() };
    let mut points = Vec::new();
    for machine in &claim.at.machines.list {
        for model in &claim.at.models.list {
            for k in alone::degrees(&claim.at) {
                let npb = workload(lab, &alone::of(&balanced, machine, *model), &[k])?.map(|x| x / 100.0);
                if npb.0.is_empty() {
                    continue;
                }
                let cell = |degree: u32| {
                    let cell = Cell::new("uneven", "PIN")
                        .set("machine", machine)
                        .set("kernel.yield", "posix")
                        .set("apps.a.tasks", contexts(machine) * degree);
                    run_by(cell, 'a', *model, model.word())
                };
                let one = lab.times(&cell(1), "a")?.mean();
                let gain = lab.times(&cell(k), "a")?.map(|time| one / time - 1.0);
                let label = format!("{machine} {} {k}/core", model.word());
                points.push(Point::new(label, &gain.with(&npb, |a, b| a - b)));
            }
        }
    }
    Ok(Answer(points))
}
