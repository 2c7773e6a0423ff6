//! Holds the doubts and the sentences of each configuration.

use std::collections::BTreeSet;

use experiment::statements::Extremes;
use experiment::statistics::Summary;

use crate::answers::is_extreme;
use crate::goal::goal;
use crate::oracle::{Case, Oracle, Verdict, ensure, number, quantity};
use crate::{causes, cautions};

/// A doubt.
pub(crate) fn doubt(oracle: &Oracle<'_>, extremes: Option<&Extremes<'_>>, text: &str) -> Verdict {
    let p = &oracle.results.provenance;
    let (app, metric, _) = goal(oracle);
    let relative = |s: &Summary| s.ci95.map(|[lo, hi]| (hi - lo) / 2.0 / s.mean);
    if let Some(rest) = text.strip_prefix("With one seed") {
        return causes::chance(oracle, extremes.ok_or("nothing is best")?, rest);
    }
    if text.contains(" known only within ") {
        return cautions::stated(oracle, text);
    }
    if text.contains(" did not complete ") {
        let (count, _, _) = number(text).ok_or("no number")?;
        return ensure(count as usize == oracle.results.notes.len(), || "another number of notes".into());
    }
    if text.contains(" of the iterations; ") {
        return ensure(!p.shortened.is_empty(), || "nothing is shortened".into());
    }
    if text.starts_with("`fidelity: sampled`") {
        return ensure(p.sampled.is_some_and(|sampled| sampled.runs == 0), || "some runs are sampled".into());
    }
    if text.contains(" is extrapolated, ") {
        let sampled = p.sampled.ok_or("nothing is extrapolated")?;
        let starts = text.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at);
        let first = |at: &usize| !text[..*at].ends_with(|c: char| c.is_ascii_digit() || c == '.');
        let numbers: Vec<_> = starts.filter(first).filter_map(|at| number(&text[at..])).collect();
        let [(share, of_share, _), (runs, ..), (all, ..), (error, of_error, _)] = numbers[..] else {
            return Err(format!("{} numbers", numbers.len()));
        };
        ensure((sampled.extrapolated * 100.0 - share).abs() <= of_share + 1e-9, || "another share".into())?;
        ensure((runs as usize, all as usize) == (sampled.runs, p.runs), || "other numbers of runs".into())?;
        return ensure((sampled.error * 100.0 - error).abs() <= of_error + 1e-9, || "another error".into());
    }
    let estimate = ["The estimate ", "Estimates such as "].iter().find_map(|start| text.strip_prefix(start));
    if let Some(rest) = estimate {
        return cautions::input(oracle, extremes.ok_or("nothing is best")?, rest);
    }
    if let Some(verdict) = cautions::caution(oracle, extremes, text) {
        return verdict;
    }
    let (seeds, _, rest) = number(text).ok_or("no number")?;
    ensure(seeds as u32 == p.repeat && extremes.is_some(), || format!("{} seeds", p.repeat))?;
    let (width, tolerance, rest) =
        number(rest.strip_prefix(" seeds: ±").ok_or("no width")?).ok_or("no width")?;
    let (case, rest) = oracle.case(rest.strip_prefix(" % for ").ok_or("no case")?).ok_or("no case")?;
    let all = oracle.cases(&app, metric);
    let own = all.iter().find(|(c, _)| *c == case).and_then(|(_, s)| relative(s)).ok_or("no interval")?;
    ensure((own * 100.0 - width).abs() <= tolerance + 1e-9, || format!("it is {own}"))?;
    ensure(all.iter().filter_map(|(_, s)| relative(s)).all(|w| w <= own), || "another one is wider".into())?;
    // The advice: enough seeds for a tenth with the variation seen, and not more than the next smaller round
    // number needs.
    let t = |n: f64| experiment::statistics::half_widths(n as usize);
    if let Some((_, advice)) = rest.split_once("--repeat ") {
        let (count, _, _) = number(advice).ok_or("no number of seeds")?;
        ensure(count > seeds && own * t(count) / t(seeds) <= 0.1, || format!("{count} seeds give no 10 %"))?;
    } else {
        ensure(own * t(100.0) / t(seeds) > 0.1 || seeds >= 100.0, || "100 seeds are enough".into())?;
    }
    let named = rest.split_once(" Also wide: ").map(|(_, names)| oracle.list(names).0).unwrap_or_default();
    let want: BTreeSet<String> = all
        .iter()
        .filter(|(c, s)| c.0 != case.0 && relative(s).is_some_and(|w| w > 0.1))
        .map(|(c, _)| c.0.clone())
        .collect();
    ensure(named == want, || format!("wide: {want:?}, not {named:?}"))
}

/// ` A and B are level with it.`, which must name all of them and no other.
fn simple_levels<'t>(
    oracle: &Oracle<'_>,
    case: &Case,
    app: &str,
    metric: &str,
    text: &'t str,
) -> Result<&'t str, String> {
    let want = oracle.level_with(case, app, metric);
    let (named, rest) = match text.strip_prefix(' ').map(|rest| oracle.list(rest)) {
        Some((named, rest))
            if rest.starts_with(" is level with it") || rest.starts_with(" are level with it") =>
        {
            (named, rest.split_once("level with it.").ok_or("no end")?.1)
        }
        _ => (BTreeSet::new(), text),
    };
    ensure(named == want, || format!("level with {case:?}: {named:?} named, {want:?} are"))?;
    Ok(rest)
}

/// A sentence about one configuration.
pub(crate) fn each(oracle: &Oracle<'_>, configuration: usize, text: &str) -> Verdict {
    if let Some(rest) = text.strip_prefix("Throughput, sequential runs = 1: ") {
        return throughput(oracle, configuration, rest);
    }
    if text.contains(" times as long as the fair share. ") {
        return recovered(oracle, configuration, text);
    }
    if text.starts_with("Run times vary") {
        return variation(oracle, configuration, text);
    }
    let (app, rest) = oracle.app(text).ok_or("no program")?;
    let rest = rest.strip_prefix(": ").ok_or("no colon")?;
    let all: Vec<(Case, &Summary)> =
        oracle.cases(&app, "run_time").into_iter().filter(|(case, _)| case.1 == configuration).collect();
    let timed = |text: &'_ str| -> Result<(Case, String), String> {
        let (policy, rest) = oracle.policy(text).ok_or("no policy")?;
        let case = (policy, configuration);
        let (value, tolerance, rest) =
            quantity(rest.strip_prefix(", ").ok_or("no time")?).ok_or("no time")?;
        oracle.is_value(&case, &app, "run_time", (value, tolerance))?;
        let mut rest = rest;
        if let Some(after) = rest.strip_prefix(", slowdown ") {
            let (value, tolerance, after) = number(after).ok_or("no slowdown")?;
            oracle.is_value(&case, &app, "slowdown", (value, tolerance))?;
            rest = after;
        }
        Ok((case, rest.strip_prefix('.').ok_or("no end")?.to_owned()))
    };
    let Some(rest) = rest.strip_prefix("fastest under ") else {
        let (_, rest) = timed(rest)?;
        return ensure(rest.is_empty() && all.len() == 1, || format!("what is `{rest}`?"));
    };
    let (first, rest) = timed(rest)?;
    is_extreme(&all, &first, false)?;
    let rest = simple_levels(oracle, &first, &app, "run_time", &rest)?;
    if rest.is_empty() {
        let clearly = all.iter().find(|(c, s)| {
            !oracle.level(s, all.iter().find(|(o, _)| *o == first).map_or(s, |o| o.1)) && *c != first
        });
        let slowest = all.iter().map(|(_, s)| *s).reduce(|a, b| if b.mean > a.mean { b } else { a });
        let own = all.iter().find(|(c, _)| *c == first).map(|(_, s)| *s);
        let level = slowest.zip(own).is_some_and(|(a, b)| oracle.level(a, b));
        return ensure(level, || format!("the slowest is left out: {clearly:?}"));
    }
    let (last, rest) = timed(rest.strip_prefix(" Slowest under ").ok_or("no slowest")?)?;
    is_extreme(&all, &last, true)?;
    let rest = simple_levels(oracle, &last, &app, "run_time", &rest)?;
    ensure(rest.is_empty(), || format!("what is `{rest}`?"))
}

fn throughput(oracle: &Oracle<'_>, configuration: usize, text: &str) -> Verdict {
    let all: Vec<(Case, &Summary)> =
        oracle.cases("all", "throughput").into_iter().filter(|(case, _)| case.1 == configuration).collect();
    let value = |text: &'_ str| -> Result<(Case, String), String> {
        let (value, tolerance, rest) = number(text).ok_or("no value")?;
        let (policy, rest) =
            oracle.policy(rest.strip_prefix(" under ").ok_or("no policy")?).ok_or("no policy")?;
        let case = (policy, configuration);
        oracle.is_value(&case, "all", "throughput", (value, tolerance))?;
        Ok((case, rest.strip_prefix('.').ok_or("no end")?.to_owned()))
    };
    let (most, rest) = value(text)?;
    is_extreme(&all, &most, true)?;
    let rest = simple_levels(oracle, &most, "all", "throughput", &rest)?;
    if rest.is_empty() {
        return Ok(());
    }
    let (least, rest) = value(rest.strip_prefix(" Least: ").ok_or("no least")?)?;
    is_extreme(&all, &least, false)?;
    let rest = simple_levels(oracle, &least, "all", "throughput", &rest)?;
    ensure(rest.is_empty(), || format!("what is `{rest}`?"))
}

fn recovered(oracle: &Oracle<'_>, configuration: usize, text: &str) -> Verdict {
    let (first, rest) = oracle.policy(text).ok_or("no policy")?;
    let (factor, tolerance, rest) =
        number(rest.strip_prefix(" takes ").ok_or("no factor")?).ok_or("no factor")?;
    let mean = |policy: &str| oracle.get(configuration, policy, "all", "makespan").map(|s| s.mean);
    let want = mean(&first).zip(mean("fair-share")).map(|(a, b)| a / b).ok_or("not measured")?;
    ensure((want - factor).abs() <= tolerance + want * 1e-9, || format!("it is {want}"))?;
    let rest = rest.strip_prefix(" times as long as the fair share. ").ok_or("no end")?;
    let (best, rest) = oracle.policy(rest).ok_or("no best policy")?;
    let (part, tolerance, _) = number(rest.strip_prefix(" recovers ").ok_or("no part")?).ok_or("no part")?;
    let case = (best, configuration);
    oracle.is_value(&case, "all", "recovered", (part, tolerance))?;
    let all: Vec<(Case, &Summary)> =
        oracle.cases("all", "recovered").into_iter().filter(|(c, _)| c.1 == configuration).collect();
    is_extreme(&all, &case, true)
}

fn variation(oracle: &Oracle<'_>, configuration: usize, text: &str) -> Verdict {
    let of = |policy: &str| {
        let each = oracle.apps().into_iter();
        each.filter_map(|app| Some(oracle.get(configuration, policy, &app, "variation")?.mean))
            .reduce(f64::max)
    };
    let all: Vec<f64> = oracle.policies().iter().filter_map(|policy| of(policy)).collect();
    let high = all.iter().copied().fold(0.0, f64::max);
    let low = all.iter().copied().fold(f64::INFINITY, f64::min);
    let holds = |names: &BTreeSet<String>, value: f64, tolerance: f64, want: f64| {
        ensure((value - want).abs() <= tolerance + 1e-9, || format!("it is {want}"))?;
        let wrong = names.iter().find(|name| of(name).is_none_or(|v| (v - value).abs() > tolerance + 1e-9));
        ensure(wrong.is_none() && !names.is_empty(), || format!("{wrong:?} varies differently"))
    };
    if let Some(rest) = text.strip_prefix("Run times vary by up to ") {
        let (value, tolerance, rest) = number(rest).ok_or("no value")?;
        let (names, _) = oracle.list(rest.strip_prefix(" % between seeds under ").ok_or("no policies")?);
        return holds(&names, value, tolerance, high);
    }
    let rest = text.strip_prefix("Run times vary most between seeds under ").ok_or("no beginning")?;
    let (names, rest) = oracle.list(rest);
    let (value, tolerance, rest) = number(rest.strip_prefix(" (").ok_or("no value")?).ok_or("no value")?;
    holds(&names, value, tolerance, high)?;
    let (names, rest) = oracle.list(rest.strip_prefix(" %), least under ").ok_or("no least")?);
    let (value, tolerance, _) = number(rest.strip_prefix(" (").ok_or("no value")?).ok_or("no value")?;
    holds(&names, value, tolerance, low)
}
