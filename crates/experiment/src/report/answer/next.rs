//! The commands to go on with: the one that settles the doubt that decides, the timeline of the two cases
//! that are compared, and the page about what differs between them. Each runs as it is printed.

use super::super::text::footer;
use super::super::{View, quoted};
use super::grid::Ink;
use super::{LABEL, MOST_COLUMNS};
use crate::references::FAIR_SHARE;
use crate::result::Results;
use crate::statements::causes::{Causes, Pair};
use crate::statements::ranking::Standing;
use crate::statements::{Extremes, Table, cautions, doubts};

/// Commands at most.
pub(super) const MOST: usize = 2;
/// The metric of waits for locks, and the share of their time from which on tasks wait long.
const LOCKS: &str = "lock_wait_share";
const LONG: f64 = 0.1;

/// The lines with the label `Next`, of so many commands at most.
pub(super) fn lines(
    table: &Table<'_>,
    answer: Option<(&Extremes<'_>, &Pair<'_>)>,
    causes: Option<&Causes>,
    view: &View<'_>,
    most: usize,
) -> Vec<String> {
    let Some((extremes, pair)) = answer else { return vec![footer(table.results)] };
    let width = view.width.min(MOST_COLUMNS);
    let mut commands = Vec::new();
    if let Some(subject) = view.subject {
        commands.extend(settle(table, extremes, subject, width - LABEL));
        commands.extend(look(table, extremes, pair, subject, width - LABEL));
    }
    commands.push(page(table, extremes, pair, causes));
    commands.truncate(most);
    let mut behind = ["all tables: --table full".to_owned(), footer(table.results)].into_iter().peekable();
    if let Some(last) = commands.last_mut() {
        // The first line of a command has the label before it, the others their own blanks.
        let used = |text: &str| match text.rsplit_once('\n') {
            Some((_, line)) => line.chars().count(),
            None => LABEL + text.chars().count(),
        };
        while let Some(more) = behind.next_if(|more| used(last) + 4 + more.chars().count() <= width) {
            last.push_str(&format!("  # {more}"));
        }
    }
    let rest: Vec<String> = behind.collect();
    let label = |at: usize| if at == 0 { Ink::Bold.paint("Next", view.colour) } else { "    ".to_owned() };
    let line = |(at, command): (usize, &String)| format!("{}{}{command}", label(at), " ".repeat(LABEL - 4));
    let whole: Vec<String> = commands.iter().enumerate().map(line).collect();
    let mut lines: Vec<String> = whole.iter().flat_map(|line| line.lines()).map(str::to_owned).collect();
    lines.extend((!rest.is_empty()).then(|| rest.join(" | ")));
    lines
}

/// The run that settles the doubt that decides: more seeds, another value of the estimate that decides, or a
/// team that does not poll; `None` without such a doubt, or where the command does not fit.
fn settle(table: &Table<'_>, extremes: &Extremes<'_>, subject: &str, width: usize) -> Option<String> {
    let changes = if let Some(seeds) = doubts::seeds_needed(table, extremes) {
        vec!["--repeat".to_owned(), seeds.to_string()]
    } else {
        let worst = extremes.worst.as_ref();
        let change = cautions::first_change(table, &extremes.best, worst)?;
        vec!["--set".to_owned(), quoted(&change)]
    };
    let mut words: Vec<String> = ["oversim", "run", subject].map(quoted).into();
    words.extend(kept(table.results, &changes));
    words.extend(changes);
    fitted(&words, width)
}

/// The changes of the command line that another run must have, too, but for those that it makes itself.
fn kept(results: &Results, changes: &[String]) -> Vec<String> {
    let p = &results.provenance;
    let mut words = Vec::new();
    for (path, value) in p.overrides.iter().filter_map(|change| change.split_once('=')) {
        let again = changes.iter().any(|change| change.starts_with(&format!("{path}=")));
        let repeats = path == "repeat" && changes.iter().any(|change| change == "--repeat");
        if again || repeats || path == "seed" {
            continue;
        }
        words.extend(match (path, path.strip_prefix("sweep.")) {
            (_, Some(axis)) => ["--sweep".to_owned(), quoted(&format!("{axis}={value}"))],
            ("policies", _) => ["--policy".to_owned(), quoted(value)],
            ("repeat" | "objective", _) => [format!("--{path}"), quoted(value)],
            _ => ["--set".to_owned(), quoted(&format!("{path}={value}"))],
        });
    }
    if p.seed != 1 {
        words.extend(["--seed".to_owned(), p.seed.to_string()]);
    }
    words
}

/// A command in one line, or in two that are divided before a flag.
fn fitted(words: &[String], width: usize) -> Option<String> {
    let line = words.join(" ");
    if line.chars().count() <= width {
        return Some(line);
    }
    let flags = (1..words.len()).rev().filter(|at| words[*at].starts_with("--"));
    let parts =
        flags.map(|at| [format!("{} \\", words[..at].join(" ")), format!("    {}", words[at..].join(" "))]);
    let mut fitting = parts.filter(|parts| parts.iter().all(|part| part.chars().count() <= width));
    Some(fitting.next()?.join(&format!("\n{}", " ".repeat(LABEL))))
}

/// The cases that are compared in a timeline: both policies of a configuration, or the policy of the second
/// case at its configuration; `None` when that does not fit.
fn look(
    table: &Table<'_>,
    extremes: &Extremes<'_>,
    pair: &Pair<'_>,
    subject: &str,
    width: usize,
) -> Option<String> {
    let (configuration, shown) = match pair.to {
        Some(to) if to.configuration == pair.from.configuration => {
            (to.configuration, format!("{},{}", pair.from.policy, to.policy))
        }
        Some(to) => (to.configuration, to.policy.to_owned()),
        None => (slowest(table, extremes), pair.from.policy.to_owned()),
    };
    let p = &table.results.provenance;
    let swept = |path: &str| p.sweep.iter().any(|axis| axis.path == path);
    let kept = p.overrides.iter().filter(|change| {
        change.split_once('=').is_some_and(|(path, _)| {
            !swept(path)
                && !path.starts_with("sweep.")
                && !["repeat", "seed", "policies", "objective"].contains(&path)
        })
    });
    let at = p.sweep.iter().enumerate().filter_map(|(axis, swept)| {
        let value = swept.values.get(*p.configurations.get(configuration)?.places.get(axis)?)?;
        Some(format!("{}={value}", swept.path))
    });
    let mut words: Vec<String> = ["oversim", "timeline", subject, "--policy", &shown].map(quoted).into();
    for change in kept.cloned().chain(at) {
        words.extend(["--set".to_owned(), quoted(&change)]);
    }
    if p.seed != 1 {
        words.extend(["--seed".to_owned(), p.seed.to_string()]);
    }
    // A command without some of its settings would show another experiment.
    fitted(&words, width)
}

/// The configuration at which the policy of the best is farthest from the fair share; without one, where it
/// is worst.
fn slowest(table: &Table<'_>, extremes: &Extremes<'_>) -> usize {
    let goal = &extremes.goal;
    let of = |c: usize, policy: &str| Some(table.get(c, policy, &goal.app, goal.metric)?.mean);
    let far = |c: &usize| {
        let own = of(*c, extremes.best.policy).unwrap_or(0.0);
        let fair = of(*c, FAIR_SHARE.label).filter(|fair| *fair > 0.0).unwrap_or(1.0);
        if goal.higher() { -own } else { own / fair }
    };
    let all = table.configurations().filter(|c| of(*c, extremes.best.policy).is_some());
    all.max_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(extremes.best.configuration)
}

/// The page about the best policy where it is another one than the baseline; else about waits for locks where
/// these are long; else about the part of the cpu time that differs most; else about what is judged.
fn page(table: &Table<'_>, extremes: &Extremes<'_>, pair: &Pair<'_>, causes: Option<&Causes>) -> String {
    let best = extremes.best.policy;
    let known = policies::ALL.iter().any(|entry| entry.name.eq_ignore_ascii_case(best));
    let other = pair.to.is_some_and(|to| to.policy != pair.from.policy && to.policy == best);
    if other && known {
        return format!("oversim explain {best}");
    }
    let waits = |case: &Standing<'_>| {
        let share = |app| table.get(case.configuration, case.policy, app, LOCKS);
        table.results.foreground().filter_map(share).any(|share| share.mean >= LONG)
    };
    if waits(&pair.from) || pair.to.as_ref().is_some_and(waits) {
        return format!("oversim explain {LOCKS}");
    }
    let part = causes.and_then(Causes::largest).and_then(|part| part.metrics.first().copied());
    format!("oversim explain {}", part.unwrap_or(extremes.goal.metric))
}
