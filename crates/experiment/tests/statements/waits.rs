//! Holds the lines about locks and deadlines.

use crate::oracle::{Case, Oracle, Verdict, ensure, number, quantity};

/// The policies at a configuration, or all configurations of the only policy.
fn cases(oracle: &Oracle<'_>, at: usize, app: &str, metric: &str) -> Vec<(Case, f64)> {
    let all = oracle.cases(app, metric).into_iter();
    let here = all.filter(|(case, _)| oracle.policies().len() == 1 || case.1 == at);
    here.map(|(case, summary)| (case, summary.mean)).collect()
}

/// `Tasks of cg wait for locks between 3.0 % (A) and 50 % (B) of their time. Meanwhile they sleep, ...`
pub(crate) fn locks(oracle: &Oracle<'_>, at: usize, text: &str) -> Verdict {
    let (app, rest) = oracle.app(text.strip_prefix("Tasks of ").ok_or("no program")?).ok_or("no program")?;
    let polls = cases(oracle, at, "all", "breakdown_lock_wait").iter().any(|(_, share)| *share >= 0.01);
    ensure(polls != text.contains("Meanwhile they sleep"), || "whether they sleep".into())?;
    let most = oracle.apps().into_iter().flat_map(|app| cases(oracle, at, &app, "lock_wait_share"));
    let most = most.map(|(_, share)| share).fold(0.0, f64::max);
    let all = cases(oracle, at, &app, "lock_wait_share");
    let ends = |of: fn(f64, f64) -> f64, start| all.iter().map(|(_, share)| *share).fold(start, of);
    let (low, high) = (ends(f64::min, f64::INFINITY), ends(f64::max, 0.0));
    ensure(high >= 0.01 && high >= most, || format!("{low} to {high}, and {most} of all"))?;
    let is = |value: f64, (stated, tolerance): (f64, f64)| {
        ensure((value * 100.0 - stated).abs() <= tolerance + 1e-9, || format!("{value}, not {stated} %"))
    };
    let rest = rest.strip_prefix(" wait for locks ").ok_or("no wait")?;
    let Some(rest) = rest.strip_prefix("between ") else {
        let (first, tolerance, _) = number(rest).ok_or("no share")?;
        is(low, (first, tolerance))?;
        return is(high, (first, tolerance));
    };
    let (first, tolerance, rest) = number(rest).ok_or("no share")?;
    is(low, (first, tolerance))?;
    let (case, rest) = oracle.case(rest.strip_prefix(" % (").ok_or("no case")?).ok_or("no case")?;
    ensure(all.iter().any(|(own, share)| *own == case && *share <= low), || format!("{case:?}"))?;
    let (last, tolerance, rest) = number(rest.strip_prefix(") and ").ok_or("no end")?).ok_or("no share")?;
    is(high, (last, tolerance))?;
    let (case, _) = oracle.case(rest.strip_prefix(" % (").ok_or("no end")?).ok_or("no case")?;
    ensure(all.iter().any(|(own, share)| *own == case && *share >= high), || format!("{case:?}"))
}

/// `Missed with x=2: LOAD 2.5 % (up to 1.01 ms late); EDF 0.0 % (at least 15 ms early).`
pub(crate) fn deadlines(oracle: &Oracle<'_>, at: usize, text: &str) -> Verdict {
    let apps = oracle.results.provenance.apps.iter().map(String::as_str);
    let known = |app: &&str| !oracle.cases(app, "missed_deadlines").is_empty();
    let app = ["all"].into_iter().chain(apps).find(known).ok_or("there are no deadlines")?;
    let rest = text.strip_prefix("Missed").ok_or("no beginning")?;
    let place = rest.strip_prefix(oracle.with(at)).filter(|rest| rest.starts_with(": "));
    let (together, list) = (place.is_some(), place.unwrap_or(rest).strip_prefix(": ").ok_or("no place")?);
    let all = cases(oracle, at, app, "missed_deadlines");
    for part in list.trim_end_matches('.').split("; ").filter(|part| !part.ends_with("--table full")) {
        let (case, rest) = match together && oracle.configurations() > 1 {
            true => oracle.policy(part).map(|(policy, rest)| ((policy, at), rest)).ok_or("no policy")?,
            false => oracle.case(part).ok_or("no case")?,
        };
        let (missed, tolerance, rest) = number(rest.trim_start()).ok_or("no share")?;
        let own = all.iter().find(|(own, _)| *own == case).ok_or("no such case")?.1;
        ensure((own * 100.0 - missed).abs() <= tolerance + 1e-9, || format!("{own} are missed"))?;
        let rest = rest.strip_prefix(" % (").ok_or("no lateness")?;
        let (early, rest) = match rest.strip_prefix("at least ") {
            Some(rest) => (true, rest),
            None => (false, rest.strip_prefix("up to ").ok_or("no lateness")?),
        };
        let (late, tolerance, rest) = quantity(rest).ok_or("no lateness")?;
        ensure(rest.starts_with(if early { " early)" } else { " late)" }), || "the wrong word".into())?;
        let own = oracle.get(case.1, &case.0, app, "lateness_max").ok_or("no lateness")?.mean;
        let late = if early { -late } else { late };
        ensure((own - late).abs() <= tolerance + own.abs() * 1e-9, || format!("{own} s late"))?;
    }
    Ok(())
}
