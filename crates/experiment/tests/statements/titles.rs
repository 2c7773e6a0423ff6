//! Holds the titles of figures.

use experiment::statements::causes::PARTS;
use experiment::statements::title::Title;
use experiment::statements::{Table, titles};
use experiment::statistics::Summary;

use crate::oracle::{Case, Oracle, Verdict, ensure, number, quantity};

/// All titles of a result, each with the name of its figure.
pub(crate) fn all(table: &Table<'_>) -> Vec<(&'static str, Title)> {
    let metric =
        if table.results.cells.iter().any(|c| c.metric == "slowdown") { "slowdown" } else { "run_time" };
    let mut all = vec![
        ("slowdown", titles::slowdown(table)),
        ("throughput", titles::throughput(table)),
        ("speedup", titles::speedup(table)),
        ("breakdown", titles::breakdown(table)),
        ("run-time", titles::run_times(table)),
        ("barrier", titles::barriers(table)),
    ];
    for axis in 0..table.sweep.varied.len() {
        all.push(("sweep", titles::sweep(table, axis, metric)));
    }
    all.into_iter().filter_map(|(name, title)| Some((name, title?))).collect()
}

/// The title of a figure.
pub(crate) fn check(oracle: &Oracle<'_>, name: &str, title: &str) -> Verdict {
    match name {
        "slowdown" if title.starts_with("Largest slowdown") => largest(oracle, title),
        "slowdown" if title.starts_with("Run time") => range(oracle, title, "run_time"),
        "slowdown" => range(oracle, title, "slowdown"),
        "throughput" => range(oracle, title, "throughput"),
        "speedup" => range(oracle, title, "speedup"),
        "run-time" => range(oracle, title, "variation"),
        "barrier" => range(oracle, title, "barrier_interval"),
        "breakdown" => breakdown(oracle, title),
        "sweep" => sweep(oracle, title),
        other => Err(format!("nothing holds titles of {other}")),
    }
}

/// Every value that a figure shows, with its application and case.
fn shown(oracle: &Oracle<'_>, metric: &str) -> Vec<(String, Case, f64)> {
    if metric == "speedup" {
        let results = oracle.results;
        let apps = oracle.apps();
        let of = |c: &experiment::compare::Comparison| {
            let at =
                results.provenance.configurations.iter().position(|known| known.label == c.configuration)?;
            apps.contains(&c.app).then(|| (c.app.clone(), (c.policy.clone(), at), c.ratio))
        };
        return results.comparisons.iter().filter_map(of).collect();
    }
    if metric == "throughput" {
        return oracle
            .cases("all", metric)
            .into_iter()
            .map(|(case, s)| (String::new(), case, s.mean))
            .collect();
    }
    let spread = |s: &Summary| (s.n > 1 && s.min > 0.0).then(|| (s.max / s.min - 1.0) * 100.0);
    let value = |s: &Summary| if metric == "variation" { spread(s) } else { Some(s.mean) };
    let cell = if metric == "variation" { "run_time" } else { metric };
    let apps = oracle.apps();
    let each = apps.iter().flat_map(|app| {
        oracle.cases(app, cell).into_iter().filter_map(|(case, s)| Some((app.clone(), case, value(s)?)))
    });
    each.collect()
}

/// A value with its unit where it has one that is no share.
fn read<'t>(metric: &str, text: &'t str) -> Option<(f64, f64, &'t str)> {
    match metric {
        "run_time" | "barrier_interval" => quantity(text),
        _ => number(text),
    }
}

/// `from 1.2 (cg under PIN with x=1) to 3.4 (ft under LOAD)`, `1.2 everywhere` or `1.2 (cg under PIN)`.
fn range(oracle: &Oracle<'_>, title: &str, metric: &str) -> Verdict {
    let all = shown(oracle, metric);
    let low = all.iter().map(|v| v.2).fold(f64::INFINITY, f64::min);
    let high = all.iter().map(|v| v.2).fold(f64::NEG_INFINITY, f64::max);
    let near = |value: f64, tolerance: f64, want: f64| {
        ensure((value - want).abs() <= tolerance + want.abs() * 1e-9, || format!("{value} is not {want}"))
    };
    let (_, text) = title.split_once(": ").ok_or("no colon")?;
    if let Some(text) = text.strip_suffix(" everywhere") {
        let (value, tolerance, _) = read(metric, text).ok_or("no value")?;
        near(value, tolerance, low)?;
        return near(value, tolerance, high);
    }
    let at = |text: &str, want: f64| -> Verdict {
        let (value, tolerance, rest) = read(metric, text).ok_or("no value")?;
        near(value, tolerance, want)?;
        let place = rest.trim_start_matches(" %").trim_start_matches(" (").trim_end_matches(')');
        let (app, rest) = match oracle.app(place) {
            Some((app, rest)) if rest.starts_with(" under ") => (app, rest.trim_start_matches(" under ")),
            _ => (String::new(), place),
        };
        let (case, rest) = oracle.case(rest).ok_or_else(|| format!("no case in `{rest}`"))?;
        let own =
            all.iter().find(|v| v.0 == app && v.1 == case).ok_or_else(|| format!("no {app} of {case:?}"))?;
        ensure(rest.is_empty(), || format!("what is `{rest}`?"))?;
        near(value, tolerance, own.2)
    };
    let Some(text) = text.strip_prefix("from ") else { return at(text, low) };
    // The first bracket closes before ` to ` and a digit.
    let (from, to) = text.split_once(") to ").ok_or("no second end")?;
    at(&format!("{from})"), low)?;
    at(to, high)
}

/// The largest slowdown of a program under a policy, over all configurations.
fn worst<'a>(oracle: &Oracle<'a>, policy: &str) -> Option<(String, usize, &'a Summary)> {
    let mut worst: Option<(String, usize, &Summary)> = None;
    for configuration in 0..oracle.configurations() {
        for app in oracle.apps() {
            let Some(s) = oracle.get(configuration, policy, &app, "slowdown") else { continue };
            if worst.as_ref().is_none_or(|known| s.mean > known.2.mean) {
                worst = Some((app, configuration, s));
            }
        }
    }
    worst
}

fn largest(oracle: &Oracle<'_>, title: &str) -> Verdict {
    let text = title.strip_prefix("Largest slowdown of a program: ").ok_or("no beginning")?;
    let all: Vec<(String, &Summary)> =
        oracle.policies().iter().filter_map(|p| Some((p.clone(), worst(oracle, p)?.2))).collect();
    let lowest = all.iter().map(|(_, s)| *s).reduce(|a, b| if b.mean < a.mean { b } else { a });
    let highest = all.iter().map(|(_, s)| *s).reduce(|a, b| if b.mean > a.mean { b } else { a });
    let one = |text: &str, opposite: Option<&Summary>| -> Result<(f64, String), String> {
        let (value, tolerance, rest) = number(text).ok_or("no value")?;
        let (policy, rest) =
            oracle.policy(rest.strip_prefix(" under ").ok_or("no policy")?).ok_or("no policy")?;
        let (_, _, own) = worst(oracle, &policy).ok_or("not measured")?;
        ensure((own.mean - value).abs() <= tolerance + 1e-9, || format!("{policy} has {}", own.mean))?;
        let rest = rest.strip_prefix(" (").ok_or("no program")?;
        let (app, rest) = oracle.app(rest).ok_or("no program")?;
        let (configuration, rest) = oracle.configuration(rest).ok_or("no configuration")?;
        oracle.is_value(&(policy.clone(), configuration), &app, "slowdown", (value, tolerance))?;
        let named = rest.strip_prefix("; level: ").map(|names| oracle.list(names).0).unwrap_or_default();
        let want = all
            .iter()
            .filter(|(p, s)| *p != policy && oracle.even_with(s, own, opposite))
            .map(|(p, _)| p.clone())
            .collect();
        ensure(named == want, || format!("level with {policy}: {want:?}, not {named:?}"))?;
        Ok((own.mean, policy))
    };
    let low = all.iter().map(|(_, s)| s.mean).fold(f64::INFINITY, f64::min);
    let high = all.iter().map(|(_, s)| s.mean).fold(0.0, f64::max);
    let Some(text) = text.strip_prefix("least ") else {
        let (value, _) = one(text, highest)?;
        return ensure((value - low).abs() < 1e-12, || format!("the least is {low}"));
    };
    let (least, most) = text.split_once("), most ").ok_or("no most")?;
    let ((least, _), (most, _)) = (one(least, highest)?, one(most, lowest)?);
    ensure((least - low).abs() < 1e-12 && (most - high).abs() < 1e-12, || format!("from {low} to {high}"))
}

fn part(oracle: &Oracle<'_>, case: &Case, part: usize) -> Option<f64> {
    PARTS[part].metrics.iter().map(|m| Some(oracle.get(case.1, &case.0, "all", m)?.mean)).sum()
}

/// `Useful share of the cpu time: from 23 % (LOAD with x=1) to 57 % (gang); largest loss at 23 %: waiting, 33
/// %`.
fn breakdown(oracle: &Oracle<'_>, title: &str) -> Verdict {
    let whole = |share: f64| (share * 100.0).round();
    let all: Vec<(Case, f64)> = oracle
        .cases("all", PARTS[0].metrics[0])
        .into_iter()
        .filter_map(|(case, _)| part(oracle, &case, 0).map(|share| (case, share)))
        .collect();
    let high = whole(all.iter().map(|(_, s)| *s).fold(0.0, f64::max));
    let low = whole(all.iter().map(|(_, s)| *s).fold(f64::INFINITY, f64::min));
    let (facts, loss) = title.split_once("; largest loss at ").map_or((title, None), |(f, l)| (f, Some(l)));
    let facts = facts.strip_prefix("Useful share of the cpu time: ").ok_or("no beginning")?;
    let one = |text: &str, want: f64| -> Result<Case, String> {
        let (value, _, rest) = number(text).ok_or("no value")?;
        let place = rest.strip_prefix(" % (").and_then(|rest| rest.strip_suffix(')')).ok_or("no place")?;
        let (case, rest) = oracle.case(place).ok_or("no case")?;
        let own = part(oracle, &case, 0).ok_or("not measured")?;
        let same = |a: f64, b: f64| (a - b).abs() < 0.5;
        ensure(rest.is_empty() && same(whole(own), value) && same(value, want), || {
            format!("{case:?} has {own}, {low} to {high}")
        })?;
        Ok(case)
    };
    let least = if facts.ends_with(" % everywhere") {
        ensure((low - high).abs() < 0.5, || format!("{low} to {high}"))?;
        ensure(facts == format!("{low} % everywhere"), || format!("{low} everywhere"))?;
        None
    } else if let Some(facts) = facts.strip_prefix("from ") {
        let (from, to) = facts.split_once(") to ").ok_or("no second end")?;
        one(to, high)?;
        Some(one(&format!("{from})"), low)?)
    } else {
        ensure(all.len() == 1, || format!("one of {}", all.len()))?;
        Some(one(facts, low)?)
    };
    // With the same share everywhere in whole per cent the loss is that of the least share.
    let by_share = |a: &&(Case, f64), b: &&(Case, f64)| a.1.total_cmp(&b.1);
    let least =
        least.or_else(|| all.iter().min_by(by_share).map(|(case, _)| case.clone())).ok_or("no case")?;
    let shares: Vec<f64> = (1..PARTS.len()).filter_map(|p| part(oracle, &least, p)).collect();
    let largest = shares.iter().copied().fold(0.0, f64::max);
    let Some(loss) = loss else { return ensure(whole(largest) < 0.5, || format!("a loss of {largest}")) };
    let (at, loss) = loss.split_once(" %: ").ok_or("no place of the loss")?;
    ensure(at == low.to_string(), || format!("the loss is at {low}"))?;
    let (name, value) = loss.rsplit_once(", ").ok_or("no loss")?;
    let named = PARTS.iter().position(|p| p.name == name).ok_or("no such part")?;
    let (value, _, _) = number(value).ok_or("no value")?;
    let own = part(oracle, &least, named).ok_or("not measured")?;
    ensure((whole(own) - value).abs() < 0.5 && own >= largest, || format!("the largest loss is {largest}"))
}

/// Shorter forms of a title state nothing else: their numbers and words are those of the title in this order,
/// and policies that are level stay named or counted.
pub(crate) fn shorter(title: &Title) -> Verdict {
    let (forms, title) = (title.forms(), &*title.to_string());
    for form in forms {
        let mut rest = title;
        for word in form.split(' ') {
            let word = word.trim_matches(['(', ')', ',', ';']);
            if word == "..." {
                continue;
            }
            match rest.split_once(word) {
                Some((_, behind)) => rest = behind,
                None => count(title, &form)?,
            }
        }
        let levels = |text: &str| text.matches("level: ").count();
        ensure(levels(&form) == levels(title) || !form.contains(", most "), || {
            format!("`{form}` leaves out what is level")
        })?;
    }
    Ok(())
}

/// `level: 3 others` where the title names three.
fn count(title: &str, form: &str) -> Verdict {
    let of = |text: &'_ str| -> Vec<String> {
        text.split("level: ").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
    };
    for (names, number) in of(title).iter().zip(of(form)) {
        let others = names.replace(" and ", ", ").split(", ").count();
        let want = if others == 1 { names.clone() } else { format!("{others} others") };
        ensure(number == want || number == *names, || format!("`{form}` does not count {names}"))?;
    }
    ensure(form.contains(" others"), || format!("`{form}` is no part of the title"))
}

/// `Slowdown over x: most change for cg under PIN, 1.0 to 1.9 (highest at 17); least for ...`
fn sweep(oracle: &Oracle<'_>, title: &str) -> Verdict {
    let (what, rest) = title.split_once(" over ").ok_or("no beginning")?;
    let metric = if what == "Slowdown" { "slowdown" } else { "run_time" };
    let (short, rest) = rest.split_once(": ").ok_or("no colon")?;
    let axes = &oracle.results.provenance.sweep;
    let axis = axes.iter().position(|axis| Oracle::short(&axis.path) == short).ok_or("no axis")?;
    let configurations = &oracle.results.provenance.configurations;
    // Application, policy, places on the other axes.
    type Curve = (String, String, Vec<usize>);
    let mut curves: Vec<(Curve, Vec<(usize, f64)>)> = Vec::new();
    for app in oracle.apps() {
        for (case, s) in oracle.cases(&app, metric) {
            let mut others = configurations[case.1].places.clone();
            others[axis] = 0;
            let key = (app.clone(), case.0, others);
            match curves.iter_mut().find(|(known, _)| *known == key) {
                Some((_, points)) => points.push((case.1, s.mean)),
                None => curves.push((key, vec![(case.1, s.mean)])),
            }
        }
    }
    curves.retain(|(_, points)| points.len() > 1);
    let ends = |points: &[(usize, f64)]| {
        let low = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(|p| p.1).fold(0.0, f64::max);
        (low, high)
    };
    let factors: Vec<f64> = curves.iter().map(|(_, points)| ends(points).1 / ends(points).0).collect();
    let check = |text: &str, want: f64| -> Verdict {
        let (app, rest) = oracle.app(text).ok_or("no program")?;
        let (policy, rest) =
            oracle.policy(rest.strip_prefix(" under ").ok_or("no policy")?).ok_or("no policy")?;
        let fitting = curves.iter().filter(|((a, p, _), _)| *a == app && *p == policy);
        let numbers = rest.rsplit_once(", ").map_or(rest, |(_, numbers)| numbers);
        let quantity = |text: &'_ str| {
            if metric == "slowdown" { number(text) } else { quantity(text) }.map(|(v, t, _)| (v, t))
        };
        let found = fitting.into_iter().any(|(_, points)| {
            let (low, high) = ends(points);
            if (high / low - want).abs() > want * 1e-9 {
                return false;
            }
            match numbers.split_once(" to ") {
                None => quantity(numbers).is_some_and(|(v, t)| (v - low).abs() <= t + low * 1e-9),
                Some((from, to)) => {
                    let place = to.split_once("(highest at ").map(|(_, value)| value.trim_end_matches(')'));
                    let at = points.iter().find(|p| (p.1 - high).abs() <= high * 1e-12).map(|p| p.0);
                    let value =
                        at.map(|c| crate::oracle::bare(&axes[axis].values[configurations[c].places[axis]]));
                    quantity(from).is_some_and(|(v, t)| (v - low).abs() <= t + low * 1e-9)
                        && quantity(to).is_some_and(|(v, t)| (v - high).abs() <= t + high * 1e-9)
                        && value.as_deref() == place
                }
            }
        });
        ensure(found, || format!("no curve of {app} under {policy} is so"))
    };
    let largest = factors.iter().copied().fold(0.0, f64::max);
    let smallest = factors.iter().copied().fold(f64::INFINITY, f64::min);
    let Some(rest) = rest.strip_prefix("most change for ") else { return check(rest, largest) };
    let (most, least) = rest.split_once("; least for ").ok_or("no least")?;
    check(most, largest)?;
    check(least, smallest)
}
