//! One program alone on the machine: oversubscription, its dependence on the model, on intervals, counters.

mod cells;

use cells::Subject;
use notation::declare::Choice;

use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Conditions, Feature, Form, Metric, Model, Schedule, ToleranceKind, Workload};
use crate::lab::{Cell, Lab};
use experiment::statistics::spearman;

/// A code whose barriers are no further apart is fine-grained, ms: 1 to 5 ms is the paper's word for those
/// that degrade.
const FINE_MS: f64 = 5.0;
/// What counts as degraded where a claim states no tolerance.
const DEGRADED: f64 = 0.05;

/// What the simulator says about a claim of these groups.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let Some(metric) = claim.at.metric else { return Err(Trouble::no_rule(&claim.texts.metric)) };
    match (metric, claim.form) {
        (Metric::Throughput, _) => super::sharing::answer(claim, lab),
        (Metric::RelPerf, _) if claim.at.workload.has(Feature::Imbalanced) => imbalanced(claim, lab),
        (Metric::RelPerf, _) if claim.at.baseline.free_switches => free_switches(claim, lab),
        (Metric::RelPerf, Form::Ordering) => monotone(claim, lab),
        (Metric::RelPerf | Metric::Correlation, Form::Qualitative) => fine_ones_degrade(claim, lab),
        (Metric::RelPerf, _) => each(claim, lab, Subject::relative),
        (Metric::WorkloadChange, _) => change(claim, lab),
        (Metric::Correlation, _) => interval(claim, lab),
        (Metric::Balance, _) => {
            each(claim, lab, |s, lab, k| against_one(&s.balance(lab, k)?, &s.balance(lab, 1)?, |x| x - 1.0))
        }
        (Metric::CacheMisses, _) => {
            each(claim, lab, |s, lab, k| against_one(&s.misses(lab, k)?, &s.misses(lab, 1)?, |x| 1.0 - x))
        }
        (Metric::Order, _) if !claim.at.baseline.schedules.is_empty() => schedules(claim, lab),
        (Metric::Order, Form::Range) => faster(claim, lab),
        (Metric::Order, _) => compared(claim, lab),
        _ => Err(Trouble::no_rule(&claim.texts.metric)),
    }
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
    for (subject, k) in cells::runs(&cells::all(&claim.at), &cells::degrees(&claim.at)) {
        points.push(Point::new(subject.name(k), &what(&subject, lab, k)?));
    }
    Ok(Answer::Points(points))
}

/// The mean over programs of T(1 per core) / T(k per core), minus one, in per cent; empty when none runs.
fn workload(lab: &mut Lab, subjects: &[Subject], degrees: &[u32]) -> Result<Series, Trouble> {
    let mut all = Vec::new();
    for (subject, k) in cells::runs(subjects, degrees) {
        all.push(subject.relative(lab, k)?.map(|x| (x - 1.0) * 100.0));
    }
    Ok(Series::mean_of(&all))
}

/// Workload averages: one for each machine and degree; over all of them where one number is published, over
/// the machines where none is named.
fn change(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let degrees = cells::degrees(&claim.at);
    if matches!(claim.form, Form::Exact | Form::Approx | Form::Average) {
        let label = format!("mean over {} degrees", degrees.len());
        return Ok(Answer::one(label, &workload(lab, &cells::all(&claim.at), &degrees)?));
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
            add("all machines", &cells::all(&claim.at))?;
            continue;
        }
        for machine in &claim.at.machines.list {
            for model in &claim.at.models.list {
                add(&format!("{machine} {}", model.word()), &cells::of(&claim.at, machine, *model))?;
            }
        }
    }
    Ok(Answer::Points(points))
}

/// Performance falls from each degree to the next, one per core included: differences.
fn monotone(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for subject in cells::all(&claim.at) {
        let mut before = (1, Series::from(1.0));
        for (subject, k) in cells::runs(std::slice::from_ref(&subject), &cells::degrees(&claim.at)) {
            let here = subject.relative(lab, k)?;
            let loss = before.1.mean();
            points
                .push(Point::new(format!("{} below {}", subject.name(k), before.0), &here.map(|x| loss - x)));
            before = (k, here);
        }
    }
    Ok(Answer::Points(points))
}

/// What degrades has short intervals between barriers.
fn fine_ones_degrade(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let noise = match claim.tolerance.kind {
        ToleranceKind::Sign => claim.tolerance.amount,
        _ => DEGRADED,
    };
    let (mut degraded, mut coarse) = (0, Vec::new());
    let runs = cells::runs(&cells::all(&claim.at), &cells::degrees(&claim.at));
    for (subject, k) in &runs {
        let (relative, interval) = (subject.relative(lab, *k)?.mean(), subject.interval(lab)?);
        if relative < 1.0 - noise {
            degraded += 1;
            if interval > FINE_MS {
                coarse.push(format!("{} {relative:.2} at {interval:.0} ms", subject.name(*k)));
            }
        }
    }
    let most = 2 * degraded < runs.len() && coarse.is_empty();
    let evidence = format!(
        "{degraded} of {} lose more than {:.0} %; coarser than {FINE_MS} ms: {}",
        runs.len(),
        noise * 100.0,
        if coarse.is_empty() { "none".to_owned() } else { coarse.join(", ") }
    );
    Ok(Answer::Holds(most, evidence))
}

/// The interval between barriers tells how a program bears oversubscription: rank correlation over all cells.
fn interval(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut pairs = Vec::new();
    for (subject, k) in cells::runs(&cells::all(&claim.at), &cells::degrees(&claim.at)) {
        pairs.push((subject.interval(lab)?, subject.relative(lab, k)?.mean()));
    }
    let label = format!("rank correlation of interval and performance over {} cells", pairs.len());
    Ok(Answer::Points(spearman(&pairs).map(|rho| Point::single(label, rho)).into_iter().collect()))
}

/// The same runs on a machine whose switches cost nothing and whose caches are never cold: how far that moves
/// the mean over the programs, as a share, with negative sign.
fn free_switches(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    for machine in &claim.at.machines.list {
        for model in &claim.at.models.list {
            for k in cells::degrees(&claim.at) {
                let mut all = Vec::new();
                for (subject, k) in cells::runs(&cells::of(&claim.at, machine, *model), &[k]) {
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
    Ok(Answer::Points(points))
}

fn without_switches(cell: Cell) -> Cell {
    cell.set("machine.switch_thread", "0ns")
        .set("machine.switch_process", "0ns")
        .set("machine.private_cache", "0B")
        .set("machine.shared_cache", "0B")
}

/// The first model, or machine, of two bears oversubscription better: the difference of the workload
/// averages.
fn compared(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let degrees = cells::common_degrees(&claim.at);
    let (machines, models) = (&claim.at.machines.list, &claim.at.models.list);
    let share = |lab: &mut Lab, subjects: Vec<Subject>| -> Result<Series, Trouble> {
        Ok(workload(lab, &subjects, &degrees)?.map(|x| x / 100.0))
    };
    if claim.at.machines.versus
        && let [first, second] = &machines[..]
    {
        let of = |machine: &str| -> Vec<Subject> {
            models.iter().flat_map(|model| cells::of(&claim.at, machine, *model)).collect()
        };
        let (one, other) = (share(lab, of(first))?, share(lab, of(second))?);
        return Ok(Answer::one(format!("{first} - {second}"), &one.with(&other, |a, b| a - b)));
    }
    let [first, second] = &models[..] else {
        return Err(Trouble::uncovered("neither two machines nor two models are compared"));
    };
    let mut points = Vec::new();
    for machine in machines {
        let one = share(lab, cells::of(&claim.at, machine, *first))?;
        let other = share(lab, cells::of(&claim.at, machine, *second))?;
        let label = format!("{machine}: {} - {}", first.word(), second.word());
        points.push(Point::new(label, &one.with(&other, |a, b| a - b)));
    }
    Ok(Answer::Points(points))
}

/// How much longer other implementations of the programs take than the first model's, mean over the programs,
/// in per cent.
fn faster(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let [first, others @ ..] = &claim.at.models.list[..] else {
        return Err(Trouble::uncovered("no model is named"));
    };
    let degrees = claim.at.threads.degrees(&[1]);
    let mut points = Vec::new();
    for machine in &claim.at.machines.list {
        for model in others {
            let mut all = Vec::new();
            for (subject, k) in cells::runs(&cells::of(&claim.at, machine, *model), &degrees) {
                let same = Subject { model: *first, ..subject.clone() };
                all.push(subject.times(lab, k)?.gain_over(&same.times(lab, k)?));
            }
            let label = format!("{machine}: {} over {}", model.word(), first.word());
            points.push(Point::new(label, &Series::mean_of(&all)));
        }
    }
    Ok(Answer::Points(points))
}

/// Loops divided evenly beforehand are as fast as those whose passes are handed out, or faster: T(handed out)
/// / T(even) - 1.
fn schedules(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut degrees = cells::degrees(&claim.at);
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
                for (subject, k) in cells::runs(&cells::of(&claim.at, machine, Model::OpenMp), &[*k]) {
                    let cell = subject.cell(k, lab.is_quick()).set("apps.a.workload.schedule", schedule);
                    all.push(lab.times(&cell, "a")?.gain_over(&subject.times(lab, k)?).map(|x| x / 100.0));
                }
                points.push(Point::new(format!("{machine} {schedule} {k}/core"), &Series::mean_of(&all)));
            }
        }
    }
    Ok(Answer::Points(points))
}

/// A program whose ranks differ gains more from oversubscription than the balanced codes do on average.
fn imbalanced(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let balanced = Conditions { workload: Workload::default(), ..claim.at.clone() };
    let mut points = Vec::new();
    for machine in &claim.at.machines.list {
        for model in &claim.at.models.list {
            for k in cells::degrees(&claim.at) {
                let npb = workload(lab, &cells::of(&balanced, machine, *model), &[k])?.map(|x| x / 100.0);
                if npb.0.is_empty() {
                    continue;
                }
                let cell = |degree: u32| {
                    Cell::new("uneven", "PIN")
                        .set("machine", machine)
                        .set("kernel.yield", "posix")
                        .set("apps.a.runtime", model.word())
                        .set("apps.a.tasks", 16 * degree)
                };
                let one = lab.times(&cell(1), "a")?.mean();
                let gain = lab.times(&cell(k), "a")?.map(|time| one / time - 1.0);
                let label = format!("{machine} {} {k}/core", model.word());
                points.push(Point::new(label, &gain.with(&npb, |a, b| a - b)));
            }
        }
    }
    Ok(Answer::Points(points))
}
