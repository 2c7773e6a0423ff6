//! Holds which two cases are compared, where their cpu time went, and which differences one seed cannot tell from
//! chance.

use experiment::statements::Extremes;
use experiment::statements::causes::{Causes, PARTS, Pair};
use experiment::statistics::Summary;

use crate::answers::better;
use crate::goal::goal;
use crate::oracle::{Case, Oracle, Relation, Verdict, ensure, number};

/// The share of a part in whole per cent.
fn percent(oracle: &Oracle<'_>, case: &Case, part: usize) -> i64 {
    let each =
        PARTS[part].metrics.iter().map(|m| oracle.get(case.1, &case.0, "all", m).map_or(0.0, |s| s.mean));
    (each.sum::<f64>() * 100.0).round() as i64
}

/// The two cases that the breakdown compares, as documented: LOAD, or else the first policy, and the best at
/// its configuration; where these are level, the best and the last there, or else the worst of all.
fn compared(oracle: &Oracle<'_>, extremes: &Extremes<'_>) -> (Case, Option<Case>, [&'static str; 2]) {
    let (app, metric, higher) = goal(oracle);
    let at = extremes.best.configuration;
    let best: Case = (extremes.best.policy.to_owned(), at);
    let here = |policy: &str| oracle.get(at, policy, &app, metric);
    let own = here(&best.0).expect("the best has a value");
    let differs = |value: &Summary| !oracle.level(value, own) && distance(value, own) >= 0.01;
    let apart = |policy: &String| here(policy).is_some_and(differs);
    let load = "LOAD".to_owned();
    let baseline = if here(&load).is_some() { &load } else { &oracle.policies()[0] };
    if apart(baseline) {
        return ((baseline.clone(), at), Some(best), ["the baseline", "the best"]);
    }
    let all = oracle.policies().iter().filter_map(|policy| Some((policy, here(policy)?)));
    let last = all.reduce(|a, b| if better(higher, b.1, a.1) { a } else { b });
    let last = last.filter(|(policy, _)| apart(policy)).map(|(policy, _)| (policy.clone(), at));
    let worst = extremes.worst.map(|worst| (worst.policy.to_owned(), worst.configuration));
    if last.is_none() && worst.is_none() && !extremes.comparable && !higher && oracle.policies().len() == 1 {
        let all = oracle.cases(&app, metric).into_iter();
        let largest = all.reduce(|a, b| if b.1.mean >= a.1.mean { b } else { a });
        let largest = largest.filter(|(_, value)| differs(value)).map(|(case, _)| case);
        return (best, largest, ["the smallest", "the largest"]);
    }
    (best, last.or(worst), ["the best", "the worst"])
}

/// `From LOAD (the baseline) to gang (the best), in points: useful work +31, waiting -17.`
pub(crate) fn why(oracle: &Oracle<'_>, extremes: &Extremes<'_>, pair: &Pair<'_>, causes: &Causes) -> Verdict {
    let case = |s: &experiment::statements::ranking::Standing<'_>| (s.policy.to_owned(), s.configuration);
    let (from, to, roles) = compared(oracle, extremes);
    let told = (case(&pair.from), pair.to.as_ref().map(case));
    ensure(told == (from.clone(), to.clone()), || format!("{told:?}, not {from:?} and {to:?}"))?;
    // Every part that is written as more than 0 % in one of the cases has its place in the table.
    for (part, known) in PARTS.iter().enumerate() {
        let most =
            [Some(&from), to.as_ref()].into_iter().flatten().map(|case| percent(oracle, case, part)).max();
        let listed = causes.parts.contains(known);
        ensure(listed || most.unwrap_or(0) == 0, || format!("{} is not in the table", known.name))?;
    }
    let text = causes.text.as_str();
    let (Some(to), false) = (to, text.is_empty()) else { return Ok(()) };
    let (ends, rest) = text.split_once(", in points: ").ok_or("no ends")?;
    let want = match to.0 == from.0 {
        true => format!("From {} to {} case", roles[0], roles[1]),
        false => format!("From {} ({}) to {} ({})", from.0, roles[0], to.0, roles[1]),
    };
    ensure(ends == want, || format!("{ends:?} are not {want:?}"))?;
    let change = |part: usize| percent(oracle, &to, part) - percent(oracle, &from, part);
    let mut least = i64::MAX;
    for clause in rest.trim_end_matches('.').split(", ") {
        let (name, value) = clause.rsplit_once(' ').ok_or("no value")?;
        let part =
            PARTS.iter().position(|part| part.name == name).ok_or_else(|| format!("no part {name}"))?;
        let stated: i64 = value.parse().map_err(|_| "no number")?;
        ensure(change(part) == stated, || format!("{name} changes by {}", change(part)))?;
        least = least.min(change(part).abs());
    }
    // No other part differs more than those that are named.
    let named = |part: usize| rest.contains(PARTS[part].name);
    let larger = (0..PARTS.len()).filter(|part| !named(*part)).find(|part| change(*part).abs() > least);
    ensure(larger.is_none(), || format!("{:?} differs more", larger.map(|part| PARTS[part].name)))
}

/// By which part of the larger one two values differ.
fn distance(a: &Summary, b: &Summary) -> f64 {
    (a.mean - b.mean).abs() / a.mean.abs().max(b.mean.abs())
}

/// Differences of a tenth at most from the best, where one seed cannot tell them from chance.
fn close(oracle: &Oracle<'_>, extremes: &Extremes<'_>) -> Vec<(Case, Case, f64)> {
    let (app, metric, higher) = goal(oracle);
    let all = oracle.cases(&app, metric);
    let whole = extremes.comparable && oracle.policies().len() == 1;
    let groups: Vec<Vec<&(Case, &Summary)>> = match whole {
        true => vec![all.iter().collect()],
        false => (0..oracle.configurations())
            .map(|at| all.iter().filter(|(case, _)| case.1 == at).collect())
            .collect(),
    };
    let mut found = Vec::new();
    for group in groups {
        let best = group.iter().copied().reduce(|a, b| if better(higher, b.1, a.1) { b } else { a });
        let Some(best) = best else { continue };
        let near = group.iter().filter(|(_, value)| oracle.relation(best.1, value) == Relation::Apart);
        let near = near.map(|(case, value)| (best.0.clone(), case.clone(), distance(best.1, value)));
        found.extend(near.filter(|(.., part)| *part <= 0.1));
    }
    found
}

/// `With one seed the 3 % between A with x=1 and B with x=1 may be chance: ...`
pub(crate) fn chance(oracle: &Oracle<'_>, extremes: &Extremes<'_>, rest: &str) -> Verdict {
    let drawn = oracle.results.uncertainty.is_some();
    ensure(drawn == rest.contains("intervals are those of the inputs"), || "intervals".into())?;
    let rest = rest.rsplit_once(" the ").ok_or("no difference")?.1;
    let (part, tolerance, rest) = number(rest).ok_or("no difference")?;
    let rest = rest.strip_prefix(" % between ").ok_or("between what?")?;
    let (one, rest) = oracle.case(rest).ok_or("no case")?;
    let (other, rest_of_moves) =
        oracle.case(rest.strip_prefix(" and ").ok_or("one case")?).ok_or("no other case")?;
    let close = close(oracle, extremes);
    let own = close.iter().find(|(a, b, _)| (a, b) == (&one, &other)).ok_or("they are not close")?.2;
    ensure((own * 100.0 - part).abs() <= tolerance + 1e-9, || format!("it is {own}"))?;
    ensure(close.iter().all(|(.., part)| *part >= own), || "others are closer".into())?;
    let tried = tried(oracle, [&one, &other]);
    let said = rest_of_moves.split_once(" (with seed 2 it is ").and_then(|(_, rest)| number(rest));
    match (tried, said) {
        (None, None) => {}
        (Some((here, there)), Some((part, tolerance, rest))) => {
            ensure((there.abs() * 100.0 - part).abs() <= tolerance + 1e-9, || format!("it is {there}"))?;
            ensure(rest.starts_with(" %, reversed") == (here * there < 0.0), || "its side".into())?;
            ensure((there - here).abs() > own / 10.0, || format!("{there} is near {here}"))?;
        }
        other => return Err(format!("the other seed: {other:?}")),
    }
    let repeat = oracle.results.provenance.repeat;
    ensure(repeat == 1, || format!("{repeat} seeds"))
}

/// By which part of the larger one the second case is above the first, and with seed 2, if that was tried for
/// them.
fn tried(oracle: &Oracle<'_>, cases: [&Case; 2]) -> Option<(f64, f64)> {
    let tried = oracle.results.other_seed.as_ref()?;
    let label = |case: &Case| oracle.results.provenance.configurations[case.1].label.clone();
    let all = oracle.cases(&tried.app, &tried.metric);
    let own = |case: &Case| Some(all.iter().find(|(own, _)| own == case)?.1.mean);
    let same = cases
        .into_iter()
        .zip(&tried.cases)
        .all(|(case, other)| (&case.0, label(case)) == (&other.policy, other.configuration.clone()));
    let gap = |a: f64, b: f64| (b - a) / a.abs().max(b.abs());
    let here = gap(own(cases[0])?, own(cases[1])?);
    same.then_some((here, gap(tried.cases[0].value?, tried.cases[1].value?)))
}

/// A doubt that is not said must not exist: small differences of one seed.
pub(crate) fn silence(oracle: &Oracle<'_>, extremes: Option<&Extremes<'_>>, doubts: &[String]) -> Verdict {
    let said = doubts.iter().any(|doubt| doubt.starts_with("With one seed"));
    let Some(extremes) = extremes.filter(|_| !said && oracle.results.provenance.repeat == 1) else {
        return Ok(());
    };
    let close = close(oracle, extremes);
    // Another seed hardly changes what lies between the closest ones.
    let steady = |(one, other, part): &(Case, Case, f64)| {
        tried(oracle, [one, other]).is_some_and(|(here, there)| (there - here).abs() <= part / 10.0)
    };
    if close.iter().min_by(|a, b| a.2.total_cmp(&b.2)).is_some_and(steady) {
        return Ok(());
    }
    ensure(close.is_empty(), || format!("nothing is said of {close:?}"))
}
