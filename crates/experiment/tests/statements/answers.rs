//! Holds the statements of the answer: what each one's value says is recomputed from the cells.

use std::collections::BTreeSet;

use experiment::statements::Statement;
use experiment::statements::ranking::{Mark, Rivals, Standing, mark};
use experiment::statements::statement::{Best, ByValue, End, Inputs, Missed, Range, Ranked};
use experiment::statements::{Extremes, Table};
use experiment::statistics::Summary;

use crate::goal::{axis, goal};
use crate::oracle::{Case, Oracle, Relation, Verdict, ensure};

pub(crate) fn better(higher: bool, a: &Summary, b: &Summary) -> bool {
    if higher { a.mean > b.mean } else { a.mean < b.mean }
}

pub(crate) fn case(standing: &Standing<'_>) -> Case {
    (standing.policy.to_owned(), standing.configuration)
}

/// The names of some cases.
fn cases<'s, 'a: 's>(all: impl IntoIterator<Item = &'s Standing<'a>>) -> BTreeSet<Case> {
    all.into_iter().map(case).collect()
}

/// A statement of the answer.
pub(crate) fn statement(oracle: &Oracle<'_>, extremes: &Extremes<'_>, statement: &Statement<'_>) -> Verdict {
    let best = extremes.best.configuration;
    match statement {
        Statement::Sharing { cases, gains, losses, best } => sharing(oracle, (*cases, *gains, *losses), best),
        Statement::Best(best) => self::best(oracle, best, true),
        Statement::Result(best) => self::best(oracle, best, false),
        Statement::Counts { configurations, policies } => counts(oracle, *configurations, policies),
        Statement::Avoid { worst, intervals, apart } => avoid(oracle, worst.as_ref(), *intervals, *apart),
        Statement::Policy(by_value) => policies_at_values(oracle, by_value),
        Statement::Sweep(by_value) => values_of_policies(oracle, by_value),
        Statement::Inputs(inputs) => self::inputs(oracle, inputs),
        Statement::Fairness(range) => fairness(oracle, best, range),
        Statement::Response { programs } => response(oracle, extremes, programs),
        Statement::Locks { least, most, polls } => locks(oracle, best, [least, most], *polls),
        Statement::Deadlines { cases } => deadlines(oracle, best, cases),
        Statement::Partition(_) => Err("no random result has partitions".into()),
        Statement::Identical { sets } => identical(oracle, sets),
    }
}

fn sharing(oracle: &Oracle<'_>, said: (usize, usize, usize), best: &Standing<'_>) -> Verdict {
    let all = oracle.cases("all", "throughput");
    let ends = |s: &Summary| {
        let half = s.half_width().unwrap_or(0.0);
        let inputs = oracle.cell(s).and_then(|cell| cell.input_error.as_ref()).map_or(0.0, |e| e.half_width);
        let all = half.hypot(inputs);
        if inputs == 0.0 { s.ci95.unwrap_or([s.mean; 2]) } else { [s.mean - all, s.mean + all] }
    };
    let gains = all.iter().filter(|(_, s)| ends(s)[0] > 1.01).count();
    let losses = all.iter().filter(|(_, s)| ends(s)[1] < 0.99).count();
    let want = (all.len(), gains, losses);
    ensure(said == want, || format!("cases, gains, losses: {want:?}"))?;
    oracle.is(best, "all", "throughput")?;
    is_extreme(&all, &case(best), true)
}

/// A case has the largest (or smallest) mean of all.
pub(crate) fn is_extreme(all: &[(Case, &Summary)], case: &Case, largest: bool) -> Verdict {
    let own = all.iter().find(|(other, _)| other == case).ok_or("no such case")?.1;
    let beaten = all.iter().find(|(_, s)| better(largest, s, own));
    ensure(beaten.is_none(), || {
        format!("{case:?} with {} is beaten by {:?}", own.mean, beaten.map(|b| (&b.0, b.1.mean)))
    })
}

/// A case of a ranking is of the goal, and its rivals are all that are not apart from it, each where it is.
fn ranked(oracle: &Oracle<'_>, said: &Ranked<'_>) -> Verdict {
    let (app, metric, _) = goal(oracle);
    oracle.is(&said.case, &app, metric)?;
    let (own, at) = (case(&said.case), said.case.configuration);
    let opposite = oracle.opposite(said.case.value, at, &app, metric);
    let mut want: [BTreeSet<Case>; 4] = Default::default();
    for other in oracle.policies().iter().filter(|other| **other != own.0) {
        let Some(value) = oracle.get(at, other, &app, metric) else { continue };
        let between = opposite.is_some_and(|end| oracle.relation(value, end).is_close());
        let place = match oracle.relation(said.case.value, value) {
            Relation::Apart => continue,
            Relation::Equal => 0,
            Relation::Level if !between && oracle.tail(&own, other, &app, metric).is_some() => 2,
            Relation::Level if !between => 1,
            Relation::Level | Relation::Undecided => 3,
        };
        want[place].insert((other.clone(), at));
    }
    let Rivals { equal, level, tails, undecided } = &said.rivals;
    let named =
        [cases(equal), cases(level), tails.iter().map(|t| case(&t.other)).collect(), cases(undecided)];
    ensure(named == want, || format!("equal, level, tails, undecided: {named:?} named, {want:?} are"))?;
    for tail in tails {
        let found = oracle.tail(&own, tail.other.policy, &app, metric);
        let name = found.ok_or("their tails are alike")?;
        ensure(case(&tail.own) == own, || format!("a tail of {:?}", tail.own.policy))?;
        oracle.is(&tail.own, &app, name)?;
        oracle.is(&tail.other, &app, name)?;
    }
    beside(oracle, said)
}

/// Other quantities are those of the case, and of the metrics that belong to the goal.
fn beside(oracle: &Oracle<'_>, said: &Ranked<'_>) -> Verdict {
    let (app, metric, _) = goal(oracle);
    let fitting: &[&str] = match metric {
        "response_time_p99" => &["response_time", "response_time_max"],
        "response_time" => &["response_time_p99", "response_time_max"],
        "turnaround" => &["turnaround_max", "queue_time"],
        "queue_time" => &["queue_time_max", "turnaround"],
        "lateness_max" => &["lateness", "lateness_p99", "missed_deadlines"],
        _ => &["slowdown"],
    };
    for other in &said.beside {
        let name = other.cell.metric.as_str();
        let of = if name == "slowdown" { other.cell.app.as_str() } else { &app };
        ensure(fitting.contains(&name) && case(other) == case(&said.case), || {
            format!("{name} of {other:?}")
        })?;
        oracle.is(other, of, name)?;
    }
    Ok(())
}

/// The configurations at which the policy of a case has the same values.
fn equal(oracle: &Oracle<'_>, said: &Ranked<'_>) -> Verdict {
    let (app, metric, _) = goal(oracle);
    let (policy, at) = case(&said.case);
    let same = |c: &usize| {
        let other = oracle.get(*c, &policy, &app, metric);
        *c != at && other.is_some_and(|other| oracle.relation(said.case.value, other) == Relation::Equal)
    };
    let want: BTreeSet<Case> =
        (0..oracle.configurations()).filter(same).map(|c| (policy.clone(), c)).collect();
    let named = cases(&said.equal);
    ensure(named == want, || format!("equal: {named:?} named, {want:?} are"))
}

fn best(oracle: &Oracle<'_>, said: &Best<'_>, advice: bool) -> Verdict {
    let (app, metric, higher) = goal(oracle);
    ranked(oracle, &said.ranked)?;
    let (own, at) = (case(&said.ranked.case), said.ranked.case.configuration);
    let all = oracle.cases(&app, metric);
    let here: Vec<(Case, &Summary)> = all.iter().filter(|(c, _)| c.1 == at).cloned().collect();
    is_extreme(&here, &own, higher)?;
    if !said.ranked.equal.is_empty() {
        equal(oracle, &said.ranked)?;
    }
    let single = oracle.policies().len() == 1;
    ensure(advice || single, || "advice of one of several policies".into())?;
    let other = said.of_other_work;
    ensure(!other || single && !higher && oracle.configurations() > 3, || "it is no such sweep".into())?;
    let Some(worst) = &said.worst else { return Ok(()) };
    ranked(oracle, worst)?;
    is_extreme(&here, &case(&worst.case), !higher)?;
    ensure(!oracle.level(worst.case.value, said.ranked.case.value), || "the worst is not apart".into())
}

fn avoid(oracle: &Oracle<'_>, worst: Option<&Ranked<'_>>, said: bool, apart: Option<f64>) -> Verdict {
    let (app, metric, higher) = goal(oracle);
    let all = oracle.cases(&app, metric);
    let intervals = all.iter().any(|(_, s)| s.ci95.is_some());
    ensure(said == intervals, || format!("there are intervals: {intervals}"))?;
    if let Some(worst) = worst {
        ranked(oracle, worst)?;
        return is_extreme(&all, &case(&worst.case), !higher);
    }
    let best = all.iter().map(|(_, s)| *s).reduce(|a, b| if better(higher, b, a) { b } else { a });
    let worst = all.iter().map(|(_, s)| *s).reduce(|a, b| if better(higher, a, b) { b } else { a });
    let (best, worst) = best.zip(worst).ok_or("nothing measured")?;
    ensure(oracle.level(best, worst), || format!("{} is clearly worse than {}", worst.mean, best.mean))?;
    // The reason is that they read alike, or else that seeds or draws do not decide.
    let short = experiment::number::short;
    ensure(apart.is_some() == (short(best.mean) == short(worst.mean)), || format!("apart: {apart:?}"))?;
    let distance = (best.mean - worst.mean).abs();
    let largest = best.mean.abs().max(worst.mean.abs());
    ensure(apart.is_none_or(|apart| (apart * largest - distance).abs() <= largest * 1e-9), || {
        format!("{} and {} are not {apart:?} apart", best.mean, worst.mean)
    })
}

/// The policies that are best or level at a configuration.
fn winners(oracle: &Oracle<'_>, configuration: usize) -> BTreeSet<String> {
    let (app, metric, higher) = goal(oracle);
    let here: Vec<(Case, &Summary)> =
        oracle.cases(&app, metric).into_iter().filter(|(case, _)| case.1 == configuration).collect();
    let best = here.iter().map(|(_, s)| *s).reduce(|a, b| if better(higher, b, a) { b } else { a });
    let level = |s: &Summary| best.is_some_and(|best| oracle.level(s, best));
    here.iter().filter(|(_, s)| level(s)).map(|(case, _)| case.0.clone()).collect()
}

fn counts(oracle: &Oracle<'_>, configurations: usize, said: &[(&str, usize)]) -> Verdict {
    let (app, metric, _) = goal(oracle);
    let all = oracle.cases(&app, metric);
    let measured: BTreeSet<usize> = all.iter().map(|(case, _)| case.1).collect();
    ensure(configurations == measured.len(), || format!("{} configurations", measured.len()))?;
    let times = |policy: &str| measured.iter().filter(|c| winners(oracle, **c).contains(policy)).count();
    let want: BTreeSet<(&str, usize)> =
        oracle.policies().iter().map(|p| (p.as_str(), times(p))).filter(|(_, n)| *n > 0).collect();
    ensure(said.iter().copied().collect::<BTreeSet<_>>() == want, || format!("{want:?}"))?;
    ensure(said.is_sorted_by_key(|(_, n)| std::cmp::Reverse(*n)), || "they are not in order".into())
}

fn policies_at_values(oracle: &Oracle<'_>, said: &ByValue<'_>) -> Verdict {
    let (axis, short, values) = axis(oracle)?;
    ensure(said.parameter == short, || format!("the parameter is {short}"))?;
    for c in 0..oracle.configurations() {
        let value = &values[oracle.results.provenance.configurations[c].places[axis]];
        let groups = said.groups.iter().filter(|group| group.values.contains(value));
        let named: Vec<BTreeSet<String>> =
            groups.map(|group| group.policies.iter().map(|p| (*p).to_owned()).collect()).collect();
        let want = Some(winners(oracle, c)).filter(|want| !want.is_empty());
        ensure(named == Vec::from_iter(want), || format!("{named:?} at {}", oracle.with(c)))?;
    }
    Ok(())
}

/// The values of the axis at which a policy is as good as at its best.
fn best_values(oracle: &Oracle<'_>, policy: &str, axis: usize, values: &[String]) -> Option<Vec<String>> {
    let (app, metric, higher) = goal(oracle);
    let own: Vec<(Case, &Summary)> =
        oracle.cases(&app, metric).into_iter().filter(|(case, _)| case.0 == policy).collect();
    let best = own.iter().map(|(_, s)| *s).reduce(|a, b| if better(higher, b, a) { b } else { a })?;
    let level = own.iter().filter(|(_, s)| oracle.level(s, best));
    let value = |at: usize| values[oracle.results.provenance.configurations[at].places[axis]].clone();
    Some(level.map(|(case, _)| value(case.1)).collect())
}

fn values_of_policies(oracle: &Oracle<'_>, said: &ByValue<'_>) -> Verdict {
    let (axis, short, values) = axis(oracle)?;
    ensure(said.parameter == short, || format!("the parameter is {short}"))?;
    for policy in oracle.policies() {
        let groups = said.groups.iter().filter(|group| group.policies.contains(&policy.as_str()));
        let named: Vec<&Vec<String>> = groups.map(|group| &group.values).collect();
        let want = best_values(oracle, policy, axis, &values);
        ensure(named == Vec::from_iter(&want), || format!("{policy}: {want:?}, not {named:?}"))?;
    }
    Ok(())
}

fn inputs(oracle: &Oracle<'_>, said: &Inputs<'_>) -> Verdict {
    let (app, metric, higher) = goal(oracle);
    let uncertainty = oracle.results.uncertainty.as_ref().ok_or("nothing was drawn")?;
    ensure(said.values == uncertainty.inputs.len(), || "another number of values".into())?;
    let stated = oracle.results.provenance.uncertain.len();
    ensure(said.stated.unwrap_or(0) == stated, || "another number of values of the scenario".into())?;
    ensure(said.machine == Some("box"), || "another machine".into())?;
    oracle.is(&said.best, &app, metric)?;
    let all = oracle.cases(&app, metric);
    let values = oracle.draws(said.best.value);
    ensure(said.draws == values.iter().flatten().count(), || format!("{} draws", values.len()))?;
    if let Some(stays) = said.stays_best {
        // Against all cases, or against those of its configuration.
        let count = |rivals: &[&(Case, &Summary)]| {
            let beats = |x: f64, own: f64| if higher { x > own } else { x < own };
            let best = |at: usize, own: f64| {
                let mut others = rivals.iter().filter_map(|(_, s)| *oracle.draws(s).get(at)?);
                !others.any(|x| beats(x, own))
            };
            let known = values.iter().enumerate().filter_map(|(at, own)| Some((at, (*own)?)));
            known.filter(|(at, own)| best(*at, *own)).count()
        };
        let here: Vec<_> = all.iter().filter(|(other, _)| other.1 == said.best.configuration).collect();
        let either = [count(&here), count(&all.iter().collect::<Vec<_>>())];
        ensure(either.contains(&stays), || format!("it stays the best in {either:?}"))?;
    }
    let half = said.best.cell.input_error.as_ref().ok_or("no error")?.half_width;
    let want = Some(half / said.best.value.mean).filter(|_| said.best.value.mean > 0.0);
    let near = said.change.zip(want).is_some_and(|(a, b)| (a - b).abs() <= b * 1e-9);
    ensure(near || said.change.is_none() && want.is_none(), || format!("it changes by {want:?}"))?;
    let of = |input: &experiment::result::DrawnInput| {
        let pairs = input.places.iter().zip(values).filter_map(|(place, value)| Some((*place, (*value)?)));
        experiment::statistics::spearman(&pairs.collect::<Vec<_>>()).unwrap_or(0.0)
    };
    let most = uncertainty.inputs.iter().map(|input| of(input).abs()).fold(0.0, f64::max);
    let chance =
        |rho| experiment::statistics::correlation_p(rho, said.draws).unwrap_or(1.0) * said.values as f64;
    let Some(followed) = &said.follows else {
        return ensure(most < 1e-12 || chance(most) > 0.05 - 1e-9, || format!("it follows one by {most}"));
    };
    let named =
        uncertainty.inputs.iter().find(|input| input.name == followed.input).ok_or("no such input")?;
    let rho = of(named);
    ensure((rho - followed.rank_correlation).abs() < 1e-9, || format!("it is {rho}"))?;
    ensure(chance(rho) <= 0.05 && rho.abs() >= most, || format!("chance: {}, {most}", chance(rho)))
}

/// The largest slowdown of a program under a policy.
fn worst_slowdown<'a>(
    oracle: &Oracle<'a>,
    policy: &str,
    configuration: usize,
) -> Option<(String, &'a Summary)> {
    let each: Option<Vec<(String, &Summary)>> = oracle
        .apps()
        .into_iter()
        .map(|app| Some((app.clone(), oracle.get(configuration, policy, &app, "slowdown")?)))
        .collect();
    each?.into_iter().reduce(|a, b| if b.1.mean > a.1.mean { b } else { a })
}

/// The ends of a range are the least and the most of these, each with all that are level with it at its
/// configuration.
fn range(oracle: &Oracle<'_>, said: &Range<'_>, all: &[(Case, &Summary)]) -> Verdict {
    is_extreme(all, &case(&said.least.case), false)?;
    let opposite = said.most.as_ref().map(|most| most.case.value);
    let even = |end: &End<'_>, opposite: Option<&Summary>| {
        let here = all.iter().filter(|(other, _)| other.1 == end.case.configuration);
        let here = here
            .filter(|(other, s)| other.0 != end.case.policy && oracle.even_with(s, end.case.value, opposite));
        let want: BTreeSet<&str> = here.map(|(other, _)| other.0.as_str()).collect();
        let named: BTreeSet<&str> = end.level.iter().copied().collect();
        ensure(named == want, || format!("level with {:?}: {want:?}, not {named:?}", case(&end.case)))
    };
    even(&said.least, opposite)?;
    let Some(most) = &said.most else {
        let high = all.iter().map(|(_, s)| *s).reduce(|a, b| if b.mean >= a.mean { b } else { a });
        let level = high.is_some_and(|high| oracle.level(said.least.case.value, high));
        return ensure(level, || "the largest is clearly more".into());
    };
    is_extreme(all, &case(&most.case), true)?;
    even(most, Some(said.least.case.value))?;
    ensure(!oracle.level(most.case.value, said.least.case.value), || "the ends are not apart".into())
}

fn fairness(oracle: &Oracle<'_>, at: usize, said: &Range<'_>) -> Verdict {
    let hit = |policy: &String| Some(((policy.clone(), at), worst_slowdown(oracle, policy, at)?.1));
    let all: Vec<(Case, &Summary)> = oracle.policies().iter().filter_map(hit).collect();
    for end in [Some(&said.least), said.most.as_ref()].into_iter().flatten() {
        oracle.is(&end.case, &end.case.cell.app, "slowdown")?;
        let worst = worst_slowdown(oracle, end.case.policy, at).ok_or("not measured")?.1;
        ensure(end.case.configuration == at && worst.mean <= end.case.value.mean, || format!("{worst:?}"))?;
    }
    range(oracle, said, &all)
}

fn response(oracle: &Oracle<'_>, extremes: &Extremes<'_>, programs: &[Range<'_>]) -> Verdict {
    let tails = oracle.results.provenance.apps.iter().filter(|app| {
        let requests = oracle.results.provenance.requests.as_ref();
        requests.is_none_or(|all| all.contains(app))
    });
    let tails = tails.into_iter().any(|app| !oracle.cases(app, "response_time_p99").is_empty());
    let metric = if tails { "response_time_p99" } else { "response_time" };
    for program in programs {
        let app = program.least.case.cell.app.as_str();
        let requests = oracle.results.provenance.requests.as_ref();
        ensure(requests.is_none_or(|all| all.iter().any(|one| one == app)), || {
            format!("{app} answers none")
        })?;
        let ends = [Some(&program.least), program.most.as_ref()];
        ends.iter().flatten().try_for_each(|end| oracle.is(&end.case, app, metric))?;
        // Where configurations are not compared, the ends are those of the best one.
        let shown = |at: usize| extremes.comparable || at == extremes.best.configuration;
        let all = oracle.cases(app, metric).into_iter();
        let all: Vec<(Case, &Summary)> = all.filter(|(case, _)| shown(case.1)).collect();
        range(oracle, program, &all)?;
    }
    Ok(())
}

/// The policies at a configuration, or all configurations of the only policy.
fn compared<'a>(oracle: &Oracle<'a>, at: usize, app: &str, metric: &str) -> Vec<(Case, &'a Summary)> {
    let all = oracle.cases(app, metric).into_iter();
    all.filter(|(case, _)| oracle.policies().len() == 1 || case.1 == at).collect()
}

fn locks(oracle: &Oracle<'_>, at: usize, [least, most]: [&Standing<'_>; 2], said: bool) -> Verdict {
    let polls =
        compared(oracle, at, "all", "breakdown_lock_wait").iter().any(|(_, share)| share.mean >= 0.01);
    ensure(polls == said, || format!("they poll: {polls}"))?;
    let app = most.cell.app.as_str();
    oracle.is(most, app, "lock_wait_share")?;
    oracle.is(least, app, "lock_wait_share")?;
    let all = oracle.apps().into_iter().flat_map(|app| compared(oracle, at, &app, "lock_wait_share"));
    let largest = all.map(|(_, share)| share.mean).fold(0.0, f64::max);
    ensure(most.value.mean >= largest.max(0.01), || format!("{largest} of all"))?;
    let own = compared(oracle, at, app, "lock_wait_share");
    is_extreme(&own, &case(least), false)?;
    is_extreme(&own, &case(most), true)
}

fn deadlines(oracle: &Oracle<'_>, at: usize, said: &[Missed<'_>]) -> Verdict {
    let apps = oracle.results.provenance.apps.iter().map(String::as_str);
    let known = |app: &&str| !oracle.cases(app, "missed_deadlines").is_empty();
    let app = ["all"].into_iter().chain(apps).find(known).ok_or("there are no deadlines")?;
    let want: BTreeSet<Case> =
        compared(oracle, at, app, "missed_deadlines").into_iter().map(|(case, _)| case).collect();
    let named = cases(said.iter().map(|one| &one.missed));
    ensure(named == want, || format!("{named:?} named, {want:?} are"))?;
    said.iter().try_for_each(|one| {
        oracle.is(&one.missed, app, "missed_deadlines")?;
        oracle.is(&one.latest, app, "lateness_max")?;
        ensure(case(&one.missed) == case(&one.latest), || "of two cases".into())
    })
}

fn identical(oracle: &Oracle<'_>, sets: &[Vec<&str>]) -> Verdict {
    let numbers = |policy: &str| -> Vec<(&String, &String, &String, &Vec<Option<f64>>)> {
        let cells = oracle.results.cells.iter().filter(|c| c.policy == policy && c.metric != "recovered");
        cells.map(|c| (&c.configuration, &c.app, &c.metric, &c.values)).collect()
    };
    let set = |policy: &str| sets.iter().position(|set| set.contains(&policy));
    let measured = || oracle.policies().iter().filter(|policy| !numbers(policy).is_empty());
    for one in measured() {
        for other in measured().filter(|other| *other != one) {
            let together = set(one).is_some() && set(one) == set(other);
            let same = numbers(one) == numbers(other);
            ensure(together == same, || format!("{one} and {other} are the same: {same}"))?;
        }
    }
    Ok(())
}

/// Every case of the result is marked as documented: exactly those that are best or level with the best.
pub(crate) fn marks(oracle: &Oracle<'_>, table: &Table<'_>, extremes: &Extremes<'_>) -> Verdict {
    let (app, metric, _) = goal(oracle);
    for ranking in &extremes.rankings {
        for own in ranking {
            let at = own.configuration;
            let [first, last] = oracle.ends(at, &app, metric).ok_or("no ends")?;
            let relation = oracle.relation(own.value, first);
            let apart = !oracle.level(first, last);
            let between = apart && oracle.relation(own.value, last).is_close();
            let is_first = std::ptr::eq(own.value, first);
            let close = relation == Relation::Equal || is_first || relation == Relation::Level && !between;
            // What is level in the mean alone has no mark.
            let tail = close && relation == Relation::Level && !is_first;
            let tail = tail && oracle.has_tail(own.policy, at, &app, metric, first);
            let want = match relation {
                _ if ranking.len() < 2 => Mark::None,
                _ if tail => Mark::None,
                _ if close => Mark::Best,
                Relation::Apart if oracle.level(own.value, last) => Mark::Worst,
                Relation::Apart => Mark::None,
                _ => Mark::Undecided,
            };
            let found = mark(table, &extremes.goal, own, ranking);
            ensure(found == want, || format!("{:?} is {found:?}, not {want:?}", case(own)))?;
        }
    }
    Ok(())
}
