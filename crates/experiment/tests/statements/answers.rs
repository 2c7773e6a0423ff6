//! Holds the lines of the answer, the causes, the doubts and the sentences of each configuration.

use std::collections::BTreeSet;

use experiment::statements::{Extremes, Line};
use experiment::statistics::Summary;

use crate::goal::{any_quantity, axis, goal, judged, standing};
use crate::oracle::{Case, Oracle, Relation, Verdict, ensure, number, quantity};
use crate::{causes, cautions};

pub(crate) fn better(higher: bool, a: &Summary, b: &Summary) -> bool {
    if higher { a.mean > b.mean } else { a.mean < b.mean }
}

/// A line of the answer.
pub(crate) fn line(oracle: &Oracle<'_>, line: &Line) -> Verdict {
    let per = " for each second of work";
    ensure(oracle.results.provenance.window || !line.text.contains(per), || "there is no window".into())?;
    let text = &line.text.replace(per, "");
    match line.label {
        "Sharing" => sharing(oracle, text),
        "Best" | "Result" if text.starts_with("Best or not distinguishable from the best, of ") => {
            counted(oracle, text)
        }
        "Best" | "Result" => best(oracle, text),
        "Avoid" => avoid(oracle, text),
        "Policy" => by_policy(oracle, text),
        "Sweep" => by_value(oracle, text),
        "Fairness" => fairness(oracle, text),
        "Response" => response(oracle, text),
        "Note" => identical(oracle, text),
        "Inputs" => inputs(oracle, text),
        other => Err(format!("nothing holds lines of {other}")),
    }
}

fn sharing(oracle: &Oracle<'_>, text: &str) -> Verdict {
    let all = oracle.cases("all", "throughput");
    let ends = |s: &Summary| {
        let half = s.half_width().unwrap_or(0.0);
        let inputs = oracle.results.cells.iter().find(|cell| std::ptr::eq(&cell.summary, s));
        let inputs = inputs.and_then(|cell| cell.input_error.as_ref()).map_or(0.0, |error| error.half_width);
        let all = half.hypot(inputs);
        if inputs == 0.0 { s.ci95.unwrap_or([s.mean; 2]) } else { [s.mean - all, s.mean + all] }
    };
    let gains = all.iter().filter(|(_, s)| ends(s)[0] > 1.01).count();
    let losses = all.iter().filter(|(_, s)| ends(s)[1] < 0.99).count();
    if let Some(why) = text.strip_prefix("Does not pay: the programs ") {
        let window = oracle.results.provenance.window;
        let verb = if window { "do less work than" } else { "finish later than" };
        ensure(why.starts_with(verb), || format!("`{why}` of a window: {window}"))?;
        return ensure(losses == all.len(), || format!("{losses} of {} lose", all.len()));
    }
    let (_, reached) = text.split_once(": ").ok_or("no case")?;
    if let Some(rest) = text.strip_prefix("Pays by more than 1 % in ") {
        let (k, _, rest) = number(rest).ok_or("no number")?;
        let (n, _, _) = number(rest.strip_prefix(" of ").ok_or("no total")?).ok_or("no total")?;
        ensure(k as usize == gains && gains > 0 && n as usize == all.len(), || {
            format!("{gains} of {} gain", all.len())
        })?;
    } else {
        ensure(text.starts_with("Does not clearly pay: ") && gains == 0 && losses < all.len(), || {
            format!("{gains} gain")
        })?;
    }
    let (case, rest) = oracle.case(reached).ok_or("no case")?;
    let (value, tolerance, _) =
        quantity(rest.strip_prefix(" reaches ").ok_or("no value")?).ok_or("no value")?;
    oracle.is_value(&case, "all", "throughput", (value, tolerance))?;
    is_extreme(&all, &case, true)
}

/// `20 draws of 3 estimated values of box: PIN with x=1 stays the best in 18. Its value changes by ±2.1 % of
/// itself. It follows poll (rank correlation 0.93).`
fn inputs(oracle: &Oracle<'_>, text: &str) -> Verdict {
    let (app, metric, higher) = goal(oracle);
    let uncertainty = oracle.results.uncertainty.as_ref().ok_or("nothing was drawn")?;
    let (draws, _, rest) = number(text).ok_or("no draws")?;
    let (_, rest) = rest.split_once(" of ").ok_or("no values")?;
    let (values, _, rest) = number(rest).ok_or("no number of values")?;
    ensure(values as usize == uncertainty.inputs.len(), || "another number of values".into())?;
    let (_, rest) = rest.split_once(" of box: ").ok_or("no machine")?;
    let (case, rest) = oracle.case(rest).ok_or("no case")?;
    let all = oracle.cases(&app, metric);
    let own = all.iter().find(|(other, _)| *other == case).ok_or("no such case")?.1;
    let values = oracle.draws(own);
    ensure(draws as usize == values.iter().flatten().count(), || format!("{} draws", values.len()))?;
    let mut rest = rest;
    if let Some(after) = rest.strip_prefix(" stays the best in ") {
        let (stays, _, after) = number(after).ok_or("no count")?;
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
        let here: Vec<_> = all.iter().filter(|(other, _)| other.1 == case.1).collect();
        let either = [count(&here), count(&all.iter().collect::<Vec<_>>())];
        ensure(either.contains(&(stays as usize)), || format!("it stays the best in {either:?}"))?;
        rest = after.strip_prefix('.').ok_or("no end")?;
    }
    let cell = oracle.results.cells.iter().find(|cell| std::ptr::eq(&cell.summary, own)).ok_or("no cell")?;
    if let Some((_, after)) = rest.split_once("changes by ±") {
        let (part, tolerance, after) = number(after).ok_or("no change")?;
        let half = cell.input_error.as_ref().ok_or("no error")?.half_width;
        ensure((half / own.mean * 100.0 - part).abs() <= tolerance + 1e-9, || format!("it is {half}"))?;
        rest = after.strip_prefix(" % of itself.").ok_or("no end")?;
    }
    let Some(after) = rest.strip_prefix(" It follows ") else {
        return ensure(rest.is_empty(), || format!("what is `{rest}`?"));
    };
    let (name, after) = after.split_once(" (rank correlation ").ok_or("no correlation")?;
    let (rho, tolerance, _) = number(after).ok_or("no correlation")?;
    let of = |input: &experiment::result::DrawnInput| {
        let pairs = input.places.iter().zip(values).filter_map(|(place, value)| Some((*place, (*value)?)));
        experiment::statistics::spearman(&pairs.collect::<Vec<_>>()).unwrap_or(0.0)
    };
    let named = uncertainty.inputs.iter().find(|input| input.name == name).ok_or("no such input")?;
    ensure((of(named) - rho).abs() <= tolerance, || format!("it is {}", of(named)))?;
    let chance = experiment::statistics::correlation_p(of(named), draws as usize).unwrap_or(1.0);
    ensure(chance * uncertainty.inputs.len() as f64 <= 0.05, || format!("chance: {chance}"))?;
    ensure(uncertainty.inputs.iter().all(|other| of(other).abs() <= of(named).abs()), || "another one".into())
}

/// A case has the largest (or smallest) mean of all.
fn is_extreme(all: &[(Case, &Summary)], case: &Case, largest: bool) -> Verdict {
    let own = all.iter().find(|(other, _)| other == case).ok_or("no such case")?.1;
    let beaten = all.iter().find(|(_, s)| better(largest, s, own));
    ensure(beaten.is_none(), || {
        format!("{case:?} with {} is beaten by {:?}", own.mean, beaten.map(|b| (&b.0, b.1.mean)))
    })
}

fn best(oracle: &Oracle<'_>, text: &str) -> Verdict {
    let (app, metric, higher) = goal(oracle);
    let (case, rest) = standing(oracle, judged(oracle, text)?)?;
    let all = oracle.cases(&app, metric);
    let here: Vec<(Case, &Summary)> = all.iter().filter(|(c, _)| c.1 == case.1).cloned().collect();
    is_extreme(&here, &case, higher)?;
    if rest == " It is the smallest of the sweep, whose configurations do different work." {
        let single = oracle.results.provenance.policies.len() == 1;
        return ensure(single && !higher && oracle.configurations() > 3, || "it is no such sweep".into());
    }
    let Some(rest) = rest.strip_prefix(" Worst: ") else {
        return ensure(rest.is_empty(), || format!("what is `{rest}`?"));
    };
    let (policy, after) = oracle.policy(rest).ok_or("no worst policy")?;
    let worst = (policy, case.1);
    let (value, tolerance, rest) =
        any_quantity(after.strip_prefix(", ").ok_or("no value")?).ok_or("no value")?;
    oracle.is_value(&worst, &app, metric, (value, tolerance))?;
    is_extreme(&here, &worst, !higher)?;
    let rest = oracle.levels(&worst, &app, metric, rest.strip_prefix('.').ok_or("no end")?)?;
    ensure(rest.is_empty(), || format!("what is `{rest}`?"))
}

fn avoid(oracle: &Oracle<'_>, text: &str) -> Verdict {
    let (app, metric, higher) = goal(oracle);
    let all = oracle.cases(&app, metric);
    if let Some(why) = text.strip_prefix("No case is clearly worse than the best: ") {
        let overlap = all.iter().any(|(_, s)| s.ci95.is_some());
        ensure((why == "no paired difference is significant.") == overlap, || {
            "there are no intervals".into()
        })?;
        let best = all.iter().map(|(_, s)| *s).reduce(|a, b| if better(higher, b, a) { b } else { a });
        let worst = all.iter().map(|(_, s)| *s).reduce(|a, b| if better(higher, a, b) { b } else { a });
        let (best, worst) = best.zip(worst).ok_or("nothing measured")?;
        return ensure(oracle.level(best, worst), || {
            format!("{} is clearly worse than {}", worst.mean, best.mean)
        });
    }
    let (case, rest) = standing(oracle, text)?;
    is_extreme(&all, &case, !higher)?;
    ensure(rest.is_empty(), || format!("what is `{rest}`?"))
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

fn counted(oracle: &Oracle<'_>, text: &str) -> Verdict {
    let (app, metric, _) = goal(oracle);
    let all = oracle.cases(&app, metric);
    let measured: BTreeSet<usize> = all.iter().map(|(case, _)| case.1).collect();
    let rest = text.strip_prefix("Best or not distinguishable from the best, of ").ok_or("no beginning")?;
    let (n, _, rest) = number(rest).ok_or("no number")?;
    ensure(n as usize == measured.len(), || format!("{} configurations", measured.len()))?;
    let each = rest.strip_prefix(" configurations: ").ok_or("no list")?.trim_end_matches('.');
    for part in each.split(", ") {
        let (policy, rest) = oracle.policy(part).ok_or("no policy")?;
        let (k, _, _) = number(rest.strip_prefix(" in ").ok_or("no count")?).ok_or("no count")?;
        let times = measured.iter().filter(|c| winners(oracle, **c).contains(&policy)).count();
        ensure(times == k as usize, || format!("{policy} in {times}"))?;
    }
    Ok(())
}

fn by_policy(oracle: &Oracle<'_>, text: &str) -> Verdict {
    let (axis, short, values) = axis(oracle)?;
    let text =
        text.strip_prefix("Best or not distinguishable: ").ok_or("no beginning")?.trim_end_matches('.');
    let place = |c: usize| oracle.results.provenance.configurations[c].places[axis];
    let mut named = BTreeSet::new();
    for part in text.split("; ") {
        let (policies, rest) = oracle.list(part);
        let at: Vec<String> = if rest == format!(" at every {short}") {
            values.clone()
        } else {
            let rest =
                rest.strip_prefix(&format!(" with {short}=")).ok_or_else(|| format!("what is `{rest}`?"))?;
            values
                .iter()
                .filter(|value| rest.split(", ").any(|v| v == *value) || rest == **value)
                .cloned()
                .collect()
        };
        for c in (0..oracle.configurations()).filter(|c| at.contains(&values[place(*c)])) {
            let want = winners(oracle, c);
            ensure(want.is_empty() || want == policies, || format!("{want:?} at {}", oracle.with(c)))?;
            named.insert(c);
        }
    }
    let missing =
        (0..oracle.configurations()).find(|c| !named.contains(c) && !winners(oracle, *c).is_empty());
    ensure(missing.is_none(), || format!("nothing about {:?}", missing.map(|c| oracle.with(c).to_owned())))
}

/// The values of the axis at which a policy is as good as at its best.
fn best_value(oracle: &Oracle<'_>, policy: &str, axis: usize, values: &[String]) -> Option<String> {
    let (app, metric, higher) = goal(oracle);
    let own: Vec<(Case, &Summary)> =
        oracle.cases(&app, metric).into_iter().filter(|(case, _)| case.0 == policy).collect();
    let best = own.iter().map(|(_, s)| *s).reduce(|a, b| if better(higher, b, a) { b } else { a })?;
    let level = own.iter().filter(|(_, s)| oracle.level(s, best));
    let value = |at: usize| values[oracle.results.provenance.configurations[at].places[axis]].clone();
    Some(level.map(|(case, _)| value(case.1)).collect::<Vec<_>>().join(" or "))
}

fn by_value(oracle: &Oracle<'_>, text: &str) -> Verdict {
    let (axis, short, values) = axis(oracle)?;
    let text = text
        .strip_prefix(&format!("Best or not distinguishable {short}: "))
        .ok_or("no beginning")?
        .trim_end_matches('.');
    let holds = |policy: &str, value: &str| {
        let want = best_value(oracle, policy, axis, &values);
        ensure(want.as_deref().is_none_or(|want| want == value), || {
            format!("{policy}: {want:?}, not {value}")
        })
    };
    if let Some((value, rest)) = text.split_once(" under every policy") {
        let mut others = BTreeSet::new();
        if let Some(rest) = rest.strip_prefix(" except ") {
            for part in rest.replace(" and ", ", ").split(", ") {
                let (policy, after) = oracle.policy(part).ok_or("no policy")?;
                let other = after.trim_start_matches(" (").trim_end_matches(')');
                holds(&policy, other)?;
                others.insert(policy);
            }
        }
        let rest = oracle.policies().iter().filter(|policy| !others.contains(*policy));
        return rest.into_iter().try_for_each(|policy| holds(policy, value));
    }
    for part in text.split("; ") {
        let (value, rest) = part.split_once(" under ").ok_or("no value")?;
        let (policies, rest) = oracle.list(rest);
        ensure(rest.is_empty() && !policies.is_empty(), || format!("what is `{rest}`?"))?;
        policies.iter().try_for_each(|policy| holds(policy, value))?;
    }
    Ok(())
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

/// `1.92 under PIN (ft; level: gang)`; the policy and the rest.
fn hit<'t>(
    oracle: &Oracle<'_>,
    configuration: usize,
    opposite: Option<&Summary>,
    text: &'t str,
) -> Result<(String, &'t str), String> {
    let (value, tolerance, rest) = number(text).ok_or("no value")?;
    let (policy, rest) =
        oracle.policy(rest.strip_prefix(" under ").ok_or("no policy")?).ok_or("no policy")?;
    let (inside, rest) = rest.strip_prefix(" (").and_then(|rest| rest.split_once(')')).ok_or("no program")?;
    let (app, inside) = oracle.app(inside).ok_or("no program")?;
    oracle.is_value(&(policy.clone(), configuration), &app, "slowdown", (value, tolerance))?;
    let own = worst_slowdown(oracle, &policy, configuration).ok_or("not measured")?;
    ensure(own.1.mean <= oracle.get(configuration, &policy, &app, "slowdown").ok_or("none")?.mean, || {
        format!("{} is hit harder under {policy}", own.0)
    })?;
    let named = inside.strip_prefix("; level: ").map(|names| oracle.list(names).0).unwrap_or_default();
    let others = oracle.policies().iter().filter(|other| **other != policy);
    let want: BTreeSet<String> = others
        .filter(|other| {
            worst_slowdown(oracle, other, configuration)
                .is_some_and(|s| oracle.even_with(s.1, own.1, opposite))
        })
        .cloned()
        .collect();
    ensure(named == want, || format!("level with {policy}: {want:?}, not {named:?}"))?;
    Ok((policy, rest))
}

fn fairness(oracle: &Oracle<'_>, text: &str) -> Verdict {
    let rest = text.strip_prefix("Largest slowdown").ok_or("no beginning")?;
    let (configuration, rest) = oracle.configuration(rest).ok_or("no configuration")?;
    let worst = |policy: &str| worst_slowdown(oracle, policy, configuration).map(|(_, s)| s);
    let all: Vec<&Summary> = oracle.policies().iter().filter_map(|policy| worst(policy)).collect();
    let high = all.iter().copied().reduce(|a, b| if b.mean >= a.mean { b } else { a }).ok_or("none")?;
    let low = all.iter().copied().reduce(|a, b| if b.mean < a.mean { b } else { a }).ok_or("none")?;
    let rest = rest.strip_prefix(": ").ok_or("no colon")?;
    let (least, rest) = hit(oracle, configuration, Some(high), rest)?;
    ensure(worst(&least).is_some_and(|s| s.mean <= low.mean), || format!("{least} is not the least"))?;
    if rest == "." {
        return ensure(oracle.level(low, high), || {
            format!("{} is clearly more than {}", high.mean, low.mean)
        });
    }
    let (most, rest) = hit(oracle, configuration, Some(low), rest.strip_prefix(" to ").ok_or("no most")?)?;
    ensure(worst(&most).is_some_and(|s| s.mean >= high.mean) && rest == ".", || {
        format!("{most} is not the most")
    })
}

fn response(oracle: &Oracle<'_>, text: &str) -> Verdict {
    let (what, text) = text.split_once(": ").ok_or("no beginning")?;
    let metric = match what {
        "Mean response time" => "response_time",
        "Response time, 99th percentile" => "response_time_p99",
        other => return Err(format!("what is `{other}`?")),
    };
    let text = text.trim_end_matches('.');
    for part in text.split("; ").filter(|part| !part.starts_with("level")) {
        let (app, rest) = oracle.app(part).ok_or("no program")?;
        let requests = oracle.results.provenance.requests.as_ref();
        ensure(requests.is_none_or(|all| all.contains(&app)), || format!("{app} answers no requests"))?;
        let mut ends = Vec::new();
        for end in rest.trim_start().split(" to ") {
            let (value, tolerance, rest) = quantity(end).ok_or("no value")?;
            let (case, rest) =
                oracle.case(rest.strip_prefix(" under ").ok_or("no policy")?).ok_or("no case")?;
            oracle.is_value(&case, &app, metric, (value, tolerance))?;
            ends.push((case, oracle.even(rest).0));
        }
        let of = |case: &Case| oracle.get(case.1, &case.0, &app, metric);
        for (at, (case, named)) in ends.iter().enumerate() {
            let own = of(case).ok_or("no such case")?;
            let opposite = ends.get(1 - at.min(1)).and_then(|(case, _)| of(case));
            let here = oracle.policies().iter().filter(|other| **other != case.0);
            let even = |other: &&String| {
                oracle.get(case.1, other, &app, metric).is_some_and(|s| oracle.even_with(s, own, opposite))
            };
            let want: BTreeSet<String> = here.filter(even).cloned().collect();
            // With one end all are level, and none stands opposite.
            ensure(*named == want || ends.len() == 1, || {
                format!("level with {case:?}: {want:?}, not {named:?}")
            })?;
        }
        // Where configurations are not compared, the ends are those of the one that is named.
        let same = ends.iter().all(|(case, _)| case.1 == ends[0].0.1);
        let all: Vec<(Case, &Summary)> = oracle
            .cases(&app, metric)
            .into_iter()
            .filter(|(case, _)| !same || case.1 == ends[0].0.1)
            .collect();
        is_extreme(&all, &ends[0].0, false)?;
        if let [_, (last, _)] = ends.as_slice() {
            is_extreme(&all, last, true)?;
        }
    }
    Ok(())
}

fn identical(oracle: &Oracle<'_>, text: &str) -> Verdict {
    let text = text.strip_suffix(" give identical results in every run.").ok_or("no end")?;
    for part in text.split("; ") {
        let (policies, rest) = oracle.list(part);
        ensure(rest.is_empty() && policies.len() > 1, || format!("what is `{rest}`?"))?;
        let numbers = |policy: &str| -> Vec<(String, String, String, Vec<Option<f64>>)> {
            let cells = oracle.results.cells.iter().filter(|c| c.policy == policy && c.metric != "recovered");
            cells
                .map(|c| (c.configuration.clone(), c.app.clone(), c.metric.clone(), c.values.clone()))
                .collect()
        };
        let all: Vec<_> = policies.iter().map(|policy| numbers(policy)).collect();
        ensure(all.windows(2).all(|pair| pair[0] == pair[1]), || format!("{policies:?} differ"))?;
    }
    Ok(())
}

/// A doubt.
pub(crate) fn doubt(oracle: &Oracle<'_>, extremes: Option<&Extremes<'_>>, text: &str) -> Verdict {
    let p = &oracle.results.provenance;
    let (app, metric, _) = goal(oracle);
    let relative = |s: &Summary| s.ci95.map(|[lo, hi]| (hi - lo) / 2.0 / s.mean);
    if let Some(rest) = text.strip_prefix("With one seed") {
        return causes::chance(oracle, extremes.ok_or("nothing is best")?, rest);
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

/// The ranking of a result with one configuration marks exactly the policies that are best or level with the
/// best.
pub(crate) fn marks(oracle: &Oracle<'_>, text: &str) -> Verdict {
    let (app, metric, _) = goal(oracle);
    let mut lines = text
        .lines()
        .skip_while(|line| !line.contains("higher is better") && !line.contains("lower is better"));
    let Some(title) = lines.next() else { return Ok(()) };
    let scale = if metric == "throughput" {
        0.01
    } else if metric == "worst_slowdown" || metric == "slowdown" {
        1.0
    } else {
        let unit = title.split(" in ").nth(1).and_then(|rest| rest.split(' ').next()).ok_or("no unit")?;
        [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)]
            .into_iter()
            .find(|(u, _)| *u == unit)
            .ok_or("no unit")?
            .1
    };
    let Some([first, last]) = oracle.ends(0, &app, metric) else { return Ok(()) };
    let measured = oracle.cases(&app, metric).len();
    for line in lines.take_while(|line| !line.is_empty()) {
        let Some((policy, rest)) = oracle.policy(line) else { continue };
        let cells = rest.trim_start_matches([' ', '#']);
        let Some((value, tolerance, rest)) = number(cells) else { continue };
        oracle.is_value(&(policy.clone(), 0), &app, metric, (value * scale, tolerance * scale))?;
        let own = oracle.get(0, &policy, &app, metric).ok_or("not measured")?;
        let relation = oracle.relation(own, first);
        let between = !oracle.level(first, last) && oracle.relation(own, last).is_close();
        let is_first = std::ptr::eq(own, first);
        let best = relation == Relation::Equal || is_first || relation == Relation::Level && !between;
        let unsure = !best && relation != Relation::Apart;
        let (star, question) = (rest.contains('*'), rest.contains('?'));
        // What is level in the mean alone has no mark.
        let tails = best && !star && !is_first && oracle.has_tail(&policy, 0, &app, metric, first);
        ensure((star || tails) == (measured > 1 && best) && question == (measured > 1 && unsure), || {
            format!("{policy}: `{rest}`, {relation:?}, between {between}")
        })?;
    }
    Ok(())
}
