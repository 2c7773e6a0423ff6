//! The answer in three sentences: the difference, what makes it, what does not matter.

use experiment::number;

use super::answer::{Answer, Kind, Row, SMALL, Share};

/// The most names that a sentence lists.
const MOST_NAMES: usize = 3;
/// Sums of parts within this of all of the difference are said to be all of it.
const NEAR: f64 = 0.1;

/// A number in a unit.
pub(super) fn amount(value: f64, unit: &str) -> String {
    match unit {
        "s" => number::short_seconds(value),
        "ratio" | "count" | "" => number::short(value),
        "%" => format!("{} %", number::short(value)),
        other => format!("{} {other}", number::short(value)),
    }
}

/// A share as a percentage with its sign: whole above ten, one decimal below.
#[must_use]
pub fn signed_percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = usize::from(percent.abs() < 9.95);
    let text = format!("{percent:.digits$}");
    // No negative zero.
    if text.trim_start_matches('-').chars().all(|c| matches!(c, '0' | '.')) { "0".into() } else { text }
}

/// `94 % (90 to 98 %)`.
pub(super) fn with_interval(share: &Share) -> String {
    let [low, high] = share.ci95.map(signed_percent);
    format!("{} % ({low} to {high} %)", signed_percent(share.mean))
}

/// What is judged, as the subject of a sentence behind its article.
fn subject(answer: &Answer) -> String {
    let metric = answer.metric.replace('_', " ");
    match answer.app.as_str() {
        "all" => format!("he {metric} of all programs"),
        app => format!("he {metric} of `{app}`"),
    }
}

/// A value of a side, with one digit more than differences have.
fn reached(value: f64, unit: &str) -> String {
    match unit {
        "s" => number::seconds(value),
        _ => amount(value, unit),
    }
}

/// `60.1 ms to 61.2 ms, 5 seeds`.
fn interval(answer: &Answer, [low, high]: [f64; 2]) -> String {
    let [low, high] = [low, high].map(|end| amount(end, answer.unit));
    format!("95 % interval {low} to {high}, {} seeds", answer.replicates)
}

/// The difference.
fn difference(answer: &Answer) -> String {
    let ([a, b], how, unit) = (&answer.sides, answer.how, answer.unit);
    let [x, y] = &answer.values;
    let what = subject(answer);
    let all = &answer.difference;
    if !answer.shown {
        if all.min.to_bits() == 0 && all.max.to_bits() == 0 {
            let mean = reached(x.mean, unit);
            return format!(
                "There is no difference: t{what} is the same on both sides in every seed, {mean} on average."
            );
        }
        let range = all.ci95.map_or_else(String::new, |ends| format!(" ({})", interval(answer, ends)));
        let [x, y] = [x, y].map(|side| reached(side.mean, unit));
        let gap = amount(all.mean, unit);
        return format!(
            "No difference is shown: t{what} is {x} {how} {a} and {y} {how} {b}, a difference of \
             {gap}{range}."
        );
    }
    // From the better side to the worse one.
    let worse = all.mean > 0.0;
    let (better, other) = if worse { ((a, x), (b, y)) } else { ((b, y), (a, x)) };
    let gap = all.mean.abs();
    let ends = all.ci95.unwrap_or([gap, gap]);
    let ends = if worse { ends } else { [-ends[1], -ends[0]] };
    let relative = if better.1.mean > 0.0 && answer.metric != "lateness" {
        format!(" ({} %)", signed_percent(gap / better.1.mean))
    } else {
        String::new()
    };
    format!(
        "T{what} is {} {how} {} and {} {how} {}: {}{relative} {} ({}).",
        reached(better.1.mean, unit),
        better.0,
        reached(other.1.mean, unit),
        other.0,
        amount(gap, unit),
        if answer.higher_is_better { "less" } else { "more" },
        interval(answer, ends)
    )
}

/// A mechanism, what the move does, and its part.
fn named(row: &Row) -> String {
    let part = row.part.as_ref().map_or_else(String::new, with_interval);
    format!("`{}` ({}): {part}", row.name, row.about)
}

/// Of alternatives the largest.
fn one_of_each<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<&'a Row> {
    let mut seen: Vec<&str> = Vec::new();
    rows.filter(|row| {
        let new = !seen.contains(&row.group.as_str());
        seen.push(&row.group);
        new
    })
    .collect()
}

/// What makes the difference.
fn makers(answer: &Answer) -> String {
    let taken = |row: &&Row| row.taken().is_some_and(|part| part >= SMALL);
    let makers = one_of_each(answer.mechanisms.iter().filter(taken));
    let mut text = match makers.first().map(|first| (first, first.taken().unwrap_or(0.0))) {
        None => {
            format!("No mechanism that is moved alone takes away {} % of the difference", SMALL * 100.0)
        }
        Some((first, part)) if part >= 0.5 => format!("Most of it goes away by moving {}", named(first)),
        Some((first, _)) => {
            format!("No single mechanism makes half of it; most goes away by moving {}", named(first))
        }
    };
    if let Some(second) = makers.get(1) {
        text.push_str(&format!("; then {}", named(second)));
    }
    text.push_str(&other_way(answer));
    text.push('.');
    if let Some(sum) = answer.sum.filter(|sum| *sum >= SMALL) {
        text.push(' ');
        text.push_str(&sums(answer, sum));
    }
    text
}

/// The largest move that makes the difference larger, or turns it round.
fn other_way(answer: &Answer) -> String {
    let other =
        |row: &&Row| row.taken().is_none() && row.shown().is_some_and(|part| part.mean.abs() >= SMALL);
    let Some((row, left)) = answer.mechanisms.iter().find(other).and_then(|row| Some((row, row.left?)))
    else {
        return String::new();
    };
    let turned = (left.mean > 0.0) != (answer.difference.mean > 0.0);
    let what = if turned { "turns round, to" } else { "grows to" };
    let left = amount(left.mean.abs(), answer.unit);
    format!("; by moving `{}` ({}) the difference {what} {left}", row.name, row.about)
}

/// A name in a list.
fn name(row: &Row) -> String {
    format!("`{}`", row.name)
}

/// The sum of the parts, and what it says.
fn sums(answer: &Answer, sum: f64) -> String {
    let percent = signed_percent(sum);
    let mut text = match sum {
        sum if (sum - 1.0).abs() <= NEAR => format!("The parts that go away sum to {percent} %"),
        sum if sum > 1.0 => {
            format!(
                "The parts that go away sum to {percent} %: mechanisms act together, and each counts what \
                 they share"
            )
        }
        _ => format!(
            "The parts that go away sum to {percent} %: the rest is made by what is not moved here, or by \
             several together"
        ),
    };
    if let Some(both) = &answer.together {
        let [a, b] = &both.names;
        let part = with_interval(&both.part);
        text.push_str(&match both.part.mean > 0.0 {
            true => format!("; `{a}` and `{b}` together take away {part}"),
            false => format!("; `{a}` and `{b}` together take nothing away"),
        });
    }
    text.push('.');
    text
}

/// What does not matter.
fn others(answer: &Answer) -> String {
    let without: Vec<&Row> =
        answer.mechanisms.iter().filter(|row| row.part.is_some() && row.shown().is_none()).collect();
    let small =
        answer.mechanisms.iter().filter(|row| row.shown().is_some_and(|part| part.mean.abs() < SMALL));
    let small = small.count();
    let mut parts = Vec::new();
    if !without.is_empty() {
        let names: Vec<String> = without.iter().take(MOST_NAMES).map(|row| name(row)).collect();
        let more = without.len().saturating_sub(names.len());
        let list = match more {
            0 => number::listed(&names),
            more => format!("{} and {more} more", names.join(", ")),
        };
        parts.push(format!("no effect on the difference is shown of {list}"));
    }
    if small > 0 {
        let least = SMALL * 100.0;
        parts.push(match small {
            1 => format!("one mechanism makes less than {least} %"),
            n => format!("{n} mechanisms make less than {least} % each"),
        });
    }
    if !answer.without_change.is_empty() {
        let n = answer.without_change.len();
        parts.push(match n {
            1 => "one more changes nothing in the first seed".to_owned(),
            n => format!("{n} more change nothing in the first seed"),
        });
    }
    if parts.is_empty() {
        return "Every mechanism that was moved has a part in it.".into();
    }
    let text = parts.join("; ");
    format!("{}{}.", text.get(..1).unwrap_or_default().to_uppercase(), text.get(1..).unwrap_or_default())
}

/// The three sentences; the last two only if the difference is shown.
#[must_use]
pub fn sentences(answer: &Answer) -> Vec<String> {
    let first = difference(answer);
    if !answer.shown {
        let more = answer.replicates_needed.map_or_else(
            || "Nothing was moved.".into(),
            |needed| {
                format!(
                    "Nothing was moved; if it is as large as it seems, about {needed} replicates show it."
                )
            },
        );
        return vec![first, more];
    }
    vec![first, makers(answer), others(answer)]
}

/// The message of a picture: the mechanism that makes most of the difference.
#[must_use]
pub fn title(answer: &Answer) -> String {
    let [a, b] = &answer.sides;
    let largest = answer.mechanisms.iter().find_map(|row| Some((row, row.taken()?)));
    match largest {
        Some((row, part)) => {
            let percent = signed_percent(part);
            format!("{percent} % of the difference between {a} and {b} goes away with {}", row.name)
        }
        None => format!("No mechanism alone makes the difference between {a} and {b}"),
    }
}

/// What makes the difference in a few words, for others to quote: the largest mechanisms that are shown.
#[must_use]
pub fn reason(answer: &Answer) -> Option<String> {
    let shown = answer
        .mechanisms
        .iter()
        .filter(|row| row.kind != Kind::Difference && row.taken().is_some_and(|part| part >= SMALL));
    let two: Vec<String> = one_of_each(shown).into_iter().take(2).map(named).collect();
    (!two.is_empty())
        .then(|| format!("the part of the difference that goes away by moving {}", two.join("; ")))
}
