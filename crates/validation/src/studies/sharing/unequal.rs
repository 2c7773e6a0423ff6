//! Two programs with unequal numbers of tasks per core, against one task per core each.

use super::pairs::{self, Pair};
use super::{faster, shared, time};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Form};
use crate::fields;
use crate::lab::Lab;

/// Numbers written as words.
const WORDS: [(&str, u32); 4] = [("two", 2), ("three", 3), ("four", 4), ("eight", 8)];

/// Tasks per core of the measured program and of the other one, as in `2:1, 4:2` or `two threads` (against
/// half as many).
fn ratios(claim: &Claim) -> Vec<(u32, u32)> {
    let text = claim.threads.to_lowercase();
    let fewer = claim.workload.to_lowercase().contains("fewer");
    let mut found = Vec::new();
    for word in text.split([' ', ',', '(', ')', ';']) {
        if let Some((one, other)) = word.split_once([':', '/'])
            && let (Ok(one), Ok(other)) = (one.parse::<u32>(), other.parse::<u32>())
        {
            found.push((one, other));
        }
    }
    if found.is_empty() {
        let in_words = WORDS.iter().filter(|(word, _)| text.contains(word)).map(|(_, n)| *n);
        let counts = in_words.chain(fields::numbers(&text)).filter(|n| (2..=16).contains(n));
        found.extend(counts.map(|n| (n, (n / 2).max(1))));
    }
    found.retain(|(one, other)| *one > 0 && *other > 0 && one.max(other) <= &16);
    let turned =
        |(one, other): (u32, u32)| if fewer { (one.min(other), one.max(other)) } else { (one, other) };
    found.into_iter().map(turned).collect()
}

/// Change of the measured program's performance against one task per core each, in per cent, mean over its
/// neighbours.
fn change(
    lab: &mut Lab,
    pairs: &[Pair],
    machine: &str,
    (mine, theirs): (u32, u32),
) -> Result<Series, Trouble> {
    let app = if mine < theirs { "b" } else { "a" };
    let mut all = Vec::new();
    for pair in pairs {
        let [before, _] = shared(lab, pair, machine, 1, "PIN")?;
        let times = time(lab, &pair.unequal(machine, (mine, theirs)), app)?;
        all.push(faster(&before, &times));
    }
    Ok(Series::mean_of(&all))
}

/// What the simulator says about a claim on unequal numbers of tasks.
pub(super) fn answer(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let ratios = ratios(claim);
    if ratios.is_empty() {
        return Err(Trouble::uncovered(format!("no ratio of tasks in `{}`", claim.threads)));
    }
    let mut points = Vec::new();
    for machine in fields::machines(claim) {
        for model in fields::models(claim) {
            for ratio in &ratios {
                let label = format!("{machine} {model} {}:{}", ratio.0, ratio.1);
                let pairs = pairs::measured_beside(claim, &model, lab.is_quick());
                match claim.form {
                    Form::Ordering => points.extend(ordered(lab, &pairs, &machine, *ratio, &label)?),
                    Form::Qualitative => {
                        points.push(proportional(claim, lab, &pairs, &machine, *ratio, &label)?);
                    }
                    _ => points.push(Point::new(label, &change(lab, &pairs, &machine, *ratio)?)),
                }
            }
        }
    }
    Ok(Answer::Points(points))
}

/// Each program gains more than the next one named, the last one more than nothing.
fn ordered(
    lab: &mut Lab,
    pairs: &[Pair],
    machine: &str,
    ratio: (u32, u32),
    label: &str,
) -> Result<Vec<Point>, Trouble> {
    let mut gains: Vec<(String, f64)> = Vec::new();
    for same in pairs.chunk_by(|a, b| a.0 == b.0) {
        gains.push((same[0].0.code.clone(), change(lab, same, machine, ratio)?.mean()));
    }
    gains.push(("nothing".to_owned(), 0.0));
    let step = |two: &[(String, f64)]| {
        Point::single(format!("{label}, {} over {}", two[0].0, two[1].0), two[0].1 - two[1].1)
    };
    Ok(gains.windows(2).map(step).collect())
}

/// The measured program's performance follows its share of the tasks, a half before: how much of the
/// tolerance is left, as a share of the expected ratio.
fn proportional(
    claim: &Claim,
    lab: &mut Lab,
    pairs: &[Pair],
    machine: &str,
    ratio: (u32, u32),
    label: &str,
) -> Result<Point, Trouble> {
    let gain = 1.0 + change(lab, pairs, machine, ratio)?.mean() / 100.0;
    let (mine, theirs) = (f64::from(ratio.0), f64::from(ratio.1));
    let expected = 2.0 * mine / (mine + theirs);
    let off = (gain / expected - 1.0).abs();
    let label = format!("{label}: {gain:.2} times the performance, {expected:.2} times the share");
    Ok(Point::single(label, claim.tolerance.amount - off))
}
