//! The difference between two sides, and what is left of it with each mechanism moved.

use std::collections::BTreeSet;
use std::ops::Range;

use experiment::metrics::{ALL_APPS, Metric};
use experiment::statistics::{Summary, needed, summarise};
use scenario::alike;
use scenario::objective::Objective;
use scenario::plan::{Experiment, RunPlan};

use super::answer::{Answer, Kind, Row, SMALL, Share, Together};
use super::differ::differences;
use super::moves::moves;
use super::side::Pair;
use crate::goal::Goal;
use crate::trial::{self, Dedicated, Failed, Means, Setting, Trial, Wanted};

/// A side as it is.
struct Base {
    experiment: Experiment,
    plan: RunPlan,
    values: Vec<f64>,
}

/// What is moved.
struct Candidate {
    row: Row,
    /// The settings of each side with it; none where that is the side as it is.
    settings: [Option<Setting>; 2],
    /// The first side with this setting of the second one alone.
    alone: Option<Setting>,
}

/// Runs on both sides, and counts them.
struct Bench<'a> {
    pair: &'a Pair<'a>,
    means: Means<'a>,
    goal: Goal,
    /// What slowdowns of each side refer to, where they count: the dedicated runs of the side as it is.
    dedicated: [Option<Dedicated>; 2],
    runs: usize,
}

/// Measures the difference between two sides and what each mechanism makes of it, in this many replicates (at
/// least 2), which are the same on both sides.
///
/// # Errors
/// A side that cannot be read or simulated, or that does not complete; the user interrupted.
pub fn explain(pair: &Pair<'_>, replicates: u32, means: Means<'_>) -> Result<Answer, Failed> {
    let replicates = replicates.max(2);
    let mut pair = pair.clone();
    let first = experiment(&pair, 0, &pair.settings[0], replicates)?;
    for subject in &mut pair.subjects {
        subject.base.seed = Some(first.seed);
    }
    let second = experiment(&pair, 1, &pair.settings[1], replicates)?;
    let (mut bench, bases) = started(&pair, [first, second], replicates, means)?;
    let gaps = gaps(&bench.goal, [&bases[0].values, &bases[1].values]);
    let mut answer = answer(&bench, &bases, &gaps, replicates)?;
    if !answer.shown {
        answer.runs = bench.runs;
        return Ok(answer);
    }
    let found = differences(&pair);
    answer.not_moved.extend(found.not_moved);
    let mut candidates: Vec<Candidate> =
        found.all.iter().filter_map(|one| difference(&bench, &bases, &one.name, &one.own)).collect();
    candidates.extend(mechanisms(&bench, &bases));
    let kept = screened(&mut bench, &bases, candidates, &mut answer.without_change)?;
    let mut rows = measured(&mut bench, &bases, &kept, &gaps, replicates)?;
    rows.sort_by(|a, b| size(b).cmp(&size(a)).then_with(|| (a.kind, &a.name).cmp(&(b.kind, &b.name))));
    let (sum, pair_of) = added(&rows);
    answer.sum = sum;
    if let Some(names) = pair_of {
        answer.together = together(&mut bench, &bases, &kept, names, &gaps)?;
    }
    answer.mechanisms = rows;
    answer.runs = bench.runs;
    Ok(answer)
}

/// The order of rows: those that take a part away, other parts that are shown, the rest; by the size of the
/// part in thousandths, since what differs less is level.
fn size(row: &Row) -> (u32, i64) {
    let class = match row.part {
        Some(_) if row.taken().is_some() => 3,
        Some(part) if part.is_shown() => 2,
        Some(_) => 1,
        None => 0,
    };
    let part = row.part.filter(|_| class > 1);
    (class, part.map_or(0, |part| (part.mean.abs() * 1e3).round() as i64))
}

fn experiment(
    pair: &Pair<'_>,
    side: usize,
    setting: &Setting,
    replicates: u32,
) -> Result<Experiment, Failed> {
    let wanted = wanted(setting, 0..replicates);
    pair.subjects[side].experiment(&wanted).map_err(Failed::Refused)
}

fn wanted(setting: &Setting, replicates: Range<u32>) -> Wanted {
    Wanted { setting: setting.clone(), replicates, draw: None, at_most: None }
}

/// The run of the first replicate of the first policy.
fn first_run(experiment: &Experiment) -> Option<RunPlan> {
    experiment.runs.iter().find(|run| run.alone.is_none() && run.policy == 0).cloned()
}

/// Runs both sides as they are.
fn started<'a>(
    pair: &'a Pair<'a>,
    experiments: [Experiment; 2],
    replicates: u32,
    means: Means<'a>,
) -> Result<(Bench<'a>, [Base; 2]), Failed> {
    let [first, second] = experiments;
    let windowed = first_run(&first).is_some_and(|plan| plan.window.is_some());
    // Of programs that end, throughput is their work over the makespan: no dedicated runs are needed.
    let makespan = first.objective == Objective::Throughput && !windowed;
    let refers = !makespan && matches!(first.objective, Objective::Throughput | Objective::WorstSlowdown);
    let mut dedicated = [None, None];
    if refers {
        for (subject, (setting, place)) in pair.subjects.iter().zip(pair.settings.iter().zip(&mut dedicated))
        {
            *place = Some(trial::dedicated(subject, &wanted(setting, 0..replicates), means)?);
        }
    }
    let goal = Goal { objective: first.objective, app: ALL_APPS.into(), metric: "makespan" };
    let mut bench = Bench { pair, means, goal, dedicated, runs: 0 };
    let mut trials = Vec::new();
    for side in 0..2 {
        let own = Some(pair.settings[side].clone());
        trials.extend(bench.run(side, &[own], 0..replicates)?);
    }
    if let Some(trial) = trials.iter().find(|trial| !trial.ended.is_empty()) {
        let side = usize::from(trials[0].ended.is_empty());
        return Err(Failed::Refused(format!("{} does not complete: {}", pair.labels[side], trial.ended)));
    }
    if !makespan {
        let values = trials[0].values.first().cloned().flatten().unwrap_or_default();
        bench.goal = Goal::of(&first, &values).map_err(Failed::Refused)?;
    }
    let both = [(0, first), (1, second)].map(|(side, experiment)| {
        let values = values(&bench.goal, &trials[side]).ok_or_else(|| {
            Failed::Refused(format!(
                "{} has no {} of `{}`, by which the first side is judged",
                pair.labels[side], bench.goal.metric, bench.goal.app
            ))
        })?;
        let plan = first_run(&experiment).ok_or_else(|| Failed::Refused("there is no run".into()))?;
        Ok(Base { experiment, plan, values })
    });
    let [a, b] = both;
    Ok((bench, [a?, b?]))
}

/// What the replicates of a trial reached; none unless all did.
fn values(goal: &Goal, trial: &Trial) -> Option<Vec<f64>> {
    trial.values.iter().map(|values| goal.value(values.as_ref()?)).collect()
}

/// How much worse the second side is, pair by pair.
fn gaps(goal: &Goal, [a, b]: [&[f64]; 2]) -> Vec<f64> {
    let sign = if goal.higher() { -1.0 } else { 1.0 };
    a.iter().zip(b).map(|(a, b)| sign * (b - a)).collect()
}

impl Bench<'_> {
    /// Trials of a side with these settings; none is the side as it is.
    fn run(
        &mut self,
        side: usize,
        settings: &[Option<Setting>],
        replicates: Range<u32>,
    ) -> Result<Vec<Trial>, Failed> {
        let own = &self.pair.settings[side];
        let all: Vec<Wanted> = settings
            .iter()
            .map(|setting| wanted(setting.as_ref().unwrap_or(own), replicates.clone()))
            .collect();
        self.runs += all.len() * replicates.len();
        let (subject, refer) = (&self.pair.subjects[side], self.dedicated[side].as_ref());
        match trial::run(subject, &all, refer, self.means) {
            // One that the simulator refuses must not hide the others.
            Err(Failed::Refused(_)) if all.len() > 1 => {
                all.iter().map(|one| self.single(side, one)).collect()
            }
            done => done,
        }
    }

    /// One trial; what the simulator refuses did not complete.
    fn single(&self, side: usize, one: &Wanted) -> Result<Trial, Failed> {
        let (subject, refer) = (&self.pair.subjects[side], self.dedicated[side].as_ref());
        match trial::run(subject, std::slice::from_ref(one), refer, self.means) {
            Ok(mut trials) => Ok(trials.pop().unwrap_or_default()),
            Err(Failed::Refused(ended)) => {
                Ok(Trial { values: vec![None; one.replicates.len()], ended, ..Trial::default() })
            }
            Err(stopped) => Err(stopped),
        }
    }

    /// A side with more settings; none if that is refused, or changes no run.
    fn changed(&self, side: usize, base: &Base, more: &Setting) -> Option<Setting> {
        let setting = merged(&self.pair.settings[side], more);
        let wanted = wanted(&setting, 0..1);
        let moved = self.pair.subjects[side].experiment(&wanted).ok()?;
        let plan = first_run(&moved)?;
        (!alike(&plan, &base.plan)).then_some(setting)
    }
}

/// A setting and more of them.
fn merged(own: &Setting, more: &Setting) -> Setting {
    Setting {
        set: own.set.iter().chain(&more.set).cloned().collect(),
        policy: more.policy.clone().or_else(|| own.policy.clone()),
    }
}

/// The answer without mechanisms.
fn answer(bench: &Bench<'_>, bases: &[Base; 2], gaps: &[f64], replicates: u32) -> Result<Answer, Failed> {
    let of = |values: &[f64]| {
        summarise(values).ok_or_else(|| Failed::Refused("a run measured no finite value".into()))
    };
    let difference = of(gaps)?;
    let shown = excludes_zero(&difference);
    let metric = Metric::named(bench.goal.metric).next();
    Ok(Answer {
        sides: bench.pair.labels.clone(),
        how: bench.pair.how,
        metric: bench.goal.metric,
        app: bench.goal.app.clone(),
        unit: metric.map_or("s", |metric| metric.unit),
        higher_is_better: bench.goal.higher(),
        values: [of(&bases[0].values)?, of(&bases[1].values)?],
        difference,
        shown,
        replicates_needed: if shown { None } else { needed(gaps) },
        mechanisms: Vec::new(),
        without_change: Vec::new(),
        sum: None,
        together: None,
        not_moved: Vec::new(),
        seed: bases[0].experiment.seed,
        replicates,
        runs: 0,
    })
}

fn excludes_zero(summary: &Summary) -> bool {
    summary.ci95.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
}

/// A setting in which the sides differ: the second side with that of the first one, and the other way round.
fn difference(bench: &Bench<'_>, bases: &[Base; 2], name: &str, own: &[Setting; 2]) -> Option<Candidate> {
    let second = bench.changed(1, &bases[1], &own[0]);
    let alone = bench.changed(0, &bases[0], &own[1]);
    let set = second.as_ref().map(|_| own[0].set.clone());
    (second.is_some() || alone.is_some()).then(|| Candidate {
        row: Row {
            name: name.to_owned(),
            kind: Kind::Difference,
            about: format!("both sides have that of {}", bench.pair.labels[0]),
            group: format!("difference {name}"),
            set: [Vec::new(), set.unwrap_or_default()],
            left: None,
            part: None,
            alone: None,
            ended: String::new(),
        },
        settings: [None, second],
        alone,
    })
}

/// The mechanisms of both sides that change a run of one of them.
fn mechanisms(bench: &Bench<'_>, bases: &[Base; 2]) -> Vec<Candidate> {
    let of = |side: usize| {
        let base = &bases[side];
        let (subject, own) = (&bench.pair.subjects[side], &bench.pair.settings[side]);
        moves(subject, own, &base.experiment, &base.plan, &bench.goal.app)
    };
    let both = [of(0), of(1)];
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for one in both.iter().flatten() {
        if !seen.insert(&one.name) {
            continue;
        }
        let settings = [0, 1].map(|side| {
            let own = both[side].iter().find(|other| other.name == one.name)?;
            bench.changed(side, &bases[side], &own.setting)
        });
        if settings.iter().all(Option::is_none) {
            continue;
        }
        let set = |side: usize| {
            let more = settings[side].as_ref().map(|_| &one.setting);
            more.map_or_else(Vec::new, |more| match &more.policy {
                Some(policy) => vec![format!("policy={policy}")],
                None => more.set.clone(),
            })
        };
        let row = Row {
            name: one.name.clone(),
            kind: one.kind,
            about: one.about.clone(),
            group: one.group.clone(),
            set: [set(0), set(1)],
            left: None,
            part: None,
            alone: None,
            ended: String::new(),
        };
        all.push(Candidate { row, settings, alone: None });
    }
    all
}

/// Which settings a side has to run for some candidates.
fn side_settings(candidates: &[Candidate], side: usize) -> Vec<Option<Setting>> {
    candidates.iter().filter_map(|one| one.settings[side].clone()).map(Some).collect()
}

/// Those that change the result of the first replicate on a side; the names of the others go to `unchanged`.
fn screened(
    bench: &mut Bench<'_>,
    bases: &[Base; 2],
    candidates: Vec<Candidate>,
    unchanged: &mut Vec<String>,
) -> Result<Vec<Candidate>, Failed> {
    let mut trials = Vec::new();
    for side in 0..2 {
        trials.push(bench.run(side, &side_settings(&candidates, side), 0..1)?.into_iter());
    }
    let mut kept = Vec::new();
    for one in candidates {
        let mut differs = one.alone.is_some();
        for side in 0..2 {
            if one.settings[side].is_some()
                && let Some(trial) = trials[side].next()
            {
                let value = values(&bench.goal, &trial).and_then(|values| values.first().copied());
                let same =
                    value.zip(bases[side].values.first()).is_some_and(|(a, b)| a.to_bits() == b.to_bits());
                differs |= !same;
            }
        }
        if differs {
            kept.push(one);
        } else {
            unchanged.push(one.row.name);
        }
    }
    Ok(kept)
}

/// Runs both sides with each candidate.
fn measured(
    bench: &mut Bench<'_>,
    bases: &[Base; 2],
    kept: &[Candidate],
    gaps: &[f64],
    replicates: u32,
) -> Result<Vec<Row>, Failed> {
    let mut sides = Vec::new();
    for side in 0..2 {
        sides.push(bench.run(side, &side_settings(kept, side), 0..replicates)?.into_iter());
    }
    let alone: Vec<Option<Setting>> = kept.iter().filter_map(|one| one.alone.clone()).map(Some).collect();
    let mut alone = bench.run(0, &alone, 0..replicates)?.into_iter();
    let mut rows = Vec::new();
    for one in kept {
        let mut row = one.row.clone();
        let mut reached = [Some(bases[0].values.clone()), Some(bases[1].values.clone())];
        for side in 0..2 {
            if one.settings[side].is_some()
                && let Some(trial) = sides[side].next()
            {
                reached[side] = values(&bench.goal, &trial);
                note_end(&mut row, &trial, &bench.pair.labels[side]);
            }
        }
        if let [Some(a), Some(b)] = &reached {
            let left = self::gaps(&bench.goal, [a, b]);
            row.left = summarise(&left);
            row.part = share(gaps, &left);
        }
        if one.alone.is_some()
            && let Some(trial) = alone.next()
            && let Some(moved) = values(&bench.goal, &trial)
        {
            // What the first side with this one setting of the second one makes of the difference.
            let made = self::gaps(&bench.goal, [&moved, &bases[1].values]);
            row.alone = share(gaps, &made);
        }
        rows.push(row);
    }
    Ok(rows)
}

fn note_end(row: &mut Row, trial: &Trial, label: &str) {
    if row.ended.is_empty() && !trial.ended.is_empty() {
        row.ended = format!("with it, {label} does not complete: {}", trial.ended);
    }
}

/// The share of the difference `gaps` that is gone where `left` is left. The ratio of two means of the same
/// replicates: its interval is that of the mean of (part - share x gap) over the mean gap (the linearised
/// ratio estimator: Cochran, Sampling Techniques, 1977, section 6.4).
fn share(gaps: &[f64], left: &[f64]) -> Option<Share> {
    let whole = summarise(gaps)?.mean;
    let parts: Vec<f64> = gaps.iter().zip(left).map(|(gap, left)| gap - left).collect();
    let mean = summarise(&parts)?.mean / whole;
    let rest: Vec<f64> = parts.iter().zip(gaps).map(|(part, gap)| part - mean * gap).collect();
    let half = summarise(&rest)?.half_width()? / whole.abs();
    let all = [mean, mean - half, mean + half];
    all.iter().all(|value| value.is_finite()).then_some(Share { mean, ci95: [mean - half, mean + half] })
}

/// The sum of the parts that go away for sure, the largest of each group of alternatives, and the two largest
/// of them. Settings in which the sides differ do not count: they are all of it.
fn added(rows: &[Row]) -> (Option<f64>, Option<[String; 2]>) {
    let mut groups = BTreeSet::new();
    let counted: Vec<&Row> = rows
        .iter()
        .filter(|row| row.kind != Kind::Difference && row.taken().is_some())
        .filter(|row| groups.insert(&row.group))
        .collect();
    let parts = counted.iter().filter_map(|row| row.taken());
    let sum = (counted.len() > 1).then(|| parts.sum());
    let mut largest = counted.iter().filter(|row| row.taken().is_some_and(|part| part >= SMALL));
    let two = largest.next().zip(largest.next());
    (sum, two.map(|(a, b)| [a.name.clone(), b.name.clone()]))
}

/// The part of two mechanisms that are moved together.
fn together(
    bench: &mut Bench<'_>,
    bases: &[Base; 2],
    kept: &[Candidate],
    names: [String; 2],
    gaps: &[f64],
) -> Result<Option<Together>, Failed> {
    let find = |name: &String| kept.iter().find(|one| one.row.name == *name);
    let (Some(a), Some(b)) = (find(&names[0]), find(&names[1])) else { return Ok(None) };
    let mut reached = Vec::new();
    for (side, base) in bases.iter().enumerate() {
        let setting = match (&a.settings[side], &b.settings[side]) {
            (Some(a), Some(b)) => Some(merged(a, b)),
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        let Some(setting) = setting else {
            reached.push(base.values.clone());
            continue;
        };
        let replicates = u32::try_from(gaps.len()).unwrap_or(u32::MAX);
        let trials = match bench.run(side, &[Some(setting)], 0..replicates) {
            Ok(trials) => trials,
            // Two moves that cannot be made at the same time.
            Err(Failed::Refused(_)) => return Ok(None),
            Err(stopped) => return Err(stopped),
        };
        let Some(values) = trials.first().and_then(|trial| values(&bench.goal, trial)) else {
            return Ok(None);
        };
        reached.push(values);
    }
    let [first, second] = &reached[..] else { return Ok(None) };
    let left = self::gaps(&bench.goal, [first, second]);
    Ok(share(gaps, &left).map(|part| Together { names, part }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mechanism_that_is_the_whole_difference_has_all_of_it_for_sure() {
        let gaps = [1.0, 2.0, 3.0];
        let all = share(&gaps, &[0.0, 0.0, 0.0]).unwrap();
        assert!((all.mean - 1.0).abs() < 1e-12 && (all.ci95[0] - 1.0).abs() < 1e-9);
        let half = share(&gaps, &[0.5, 1.0, 1.5]).unwrap();
        assert!((half.mean - 0.5).abs() < 1e-12 && half.is_shown());
        let none = share(&gaps, &[1.1, 1.9, 3.0]).unwrap();
        assert!(none.mean.abs() < 1e-9 && !none.is_shown());
    }

    #[test]
    fn alternatives_count_once() {
        let row = |name: &str, group: &str, mean: f64, kind: Kind| Row {
            name: name.into(),
            kind,
            about: String::new(),
            group: group.into(),
            set: Default::default(),
            left: None,
            part: Some(Share { mean, ci95: [mean - 0.01, mean + 0.01] }),
            alone: None,
            ended: String::new(),
        };
        let rows = [
            row("policy", "p", 1.0, Kind::Difference),
            row("block", "wait", 0.9, Kind::Waiting),
            row("spin", "wait", 0.8, Kind::Waiting),
            row("tick", "tick", 0.2, Kind::Machine),
            row("against", "against", -0.3, Kind::Machine),
        ];
        let (sum, two) = added(&rows);
        assert!((sum.unwrap() - 1.1).abs() < 1e-12);
        assert_eq!(two.unwrap(), ["block", "tick"]);
    }
}
