//! Kernels as rows of rules: the list, one row with each rule, and the difference of two rows.

use std::io::{self, Write};

pub use kernels::Entry;
use kernels::{Fit, KERNELS, nearest, numbers_of};
use notation::parameter::{Parameter, Values};
use serde::Serialize;

/// A kernel in the list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Listed {
    /// Its name in scenarios.
    pub name: &'static str,
    /// How it orders the tasks of a cpu.
    pub queues: &'static str,
    /// The policy that is its own placement and balancing.
    pub balancer: &'static str,
    /// Period of its timer tick.
    pub tick: String,
    /// What it is.
    pub summary: &'static str,
}

/// A rule of a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Rule {
    /// Its name in scenarios.
    pub name: &'static str,
    /// Its value in this kernel, as a scenario writes it.
    pub value: String,
    /// The mainline releases of the list, from the oldest to the newest in a row, that have the same value.
    pub releases: Vec<[&'static str; 2]>,
    /// What it means, and where it comes from.
    pub about: &'static str,
}

/// A kernel with all of its rules.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Kernel {
    /// As in the list.
    #[serde(flatten)]
    pub listed: Listed,
    /// Where its rules come from.
    pub source: &'static str,
    /// What a scenario may say of it.
    pub example: &'static str,
    /// What it is and when to use it, in paragraphs.
    pub about: String,
    /// The rules, in the order of the reference.
    pub rules: Vec<Rule>,
    /// What its release does and the row does not.
    pub missing: Vec<Lack>,
}

/// What a kernel does and its row does not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Lack {
    /// What the kernel calls it.
    pub rule: &'static str,
    /// On which side results err without it.
    pub error: &'static str,
    /// Whom it concerns.
    pub about: &'static str,
}

/// A rule in which two kernels differ.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Difference {
    /// Its name in scenarios.
    pub rule: &'static str,
    /// Its value in the first kernel; none if that has no such rule.
    pub first: Option<String>,
    /// Its value in the second one.
    pub second: Option<String>,
    /// What it means, and where it comes from.
    pub about: &'static str,
}

/// The kernel of a name of the list, or the nearest one to a release as `uname -r` prints it, with a remark
/// which that is.
///
/// # Errors
/// A sentence with the nearest name.
pub fn find(name: &str) -> Result<(&'static Entry, Option<String>), String> {
    let unknown = match KERNELS.resolve(name) {
        Ok(entry) => return Ok((entry, None)),
        Err(unknown) => unknown,
    };
    let release = name.strip_prefix("linux-").unwrap_or(name);
    match nearest(release) {
        Some(found) if found.fit != Fit::Oldest => {
            Ok((found.entry, Some(format!("{name}: the nearest kernel of the list is {}", found.entry.name))))
        }
        _ => Err(unknown),
    }
}

/// All kernels.
#[must_use]
pub fn list() -> Vec<Listed> {
    KERNELS.entries.iter().map(listed).collect()
}

fn listed(entry: &'static Entry) -> Listed {
    let model = kernels::build(entry, &Values::defaults(entry.parameters), 8);
    Listed {
        name: entry.name,
        queues: model.discipline.name(),
        balancer: entry.own.policy,
        tick: notation::parameter::Kind::Duration.show(model.tick.ns()),
        summary: entry.summary,
    }
}

/// The value of a parameter where a scenario says nothing.
fn shown(rule: &Parameter) -> String {
    rule.kind.show(rule.default)
}

fn rule_of<'a>(entry: &'a Entry, name: &str) -> Option<&'a Parameter> {
    entry.parameters.iter().find(|rule| rule.name == name)
}

/// The mainline releases, oldest first.
fn mainline() -> Vec<&'static Entry> {
    let mainline = KERNELS.entries.iter().filter(|entry| entry.own.is_mainline());
    let mut all: Vec<_> = mainline.filter_map(|entry| Some((numbers_of(entry)?, entry))).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.into_iter().map(|(_, entry)| entry).collect()
}

/// The spans of mainline releases that have this value of a rule.
fn releases(rule: &Parameter) -> Vec<[&'static str; 2]> {
    let mut spans: Vec<[&'static str; 2]> = Vec::new();
    let mut goes_on = false;
    for entry in mainline() {
        let same = rule_of(entry, rule.name).is_some_and(|other| shown(other) == shown(rule));
        match spans.last_mut().filter(|_| same && goes_on) {
            Some(span) => span[1] = entry.name,
            None if same => spans.push([entry.name; 2]),
            None => {}
        }
        goes_on = same;
    }
    spans
}

const fn lack(missing: &kernels::Missing) -> Lack {
    Lack { rule: missing.rule, error: missing.error.word(), about: missing.about }
}

/// A kernel with all of its rules.
#[must_use]
pub fn show(entry: &'static Entry) -> Kernel {
    let rule = |rule: &'static Parameter| Rule {
        name: rule.name,
        value: shown(rule),
        releases: releases(rule),
        about: rule.about,
    };
    Kernel {
        listed: listed(entry),
        source: entry.source,
        example: entry.example,
        about: KERNELS.about(entry),
        rules: entry.parameters.iter().map(rule).collect(),
        missing: kernels::missing(entry).into_iter().map(lack).collect(),
    }
}

/// The rules in which two kernels differ: those of the first in its order, then those that only the second
/// has.
#[must_use]
pub fn differences(first: &'static Entry, second: &'static Entry) -> Vec<Difference> {
    let of = |rule: &Parameter| Difference {
        rule: rule.name,
        first: rule_of(first, rule.name).map(shown),
        second: rule_of(second, rule.name).map(shown),
        about: rule.about,
    };
    let only_second = second.parameters.iter().filter(|rule| rule_of(first, rule.name).is_none());
    let all = first.parameters.iter().chain(only_second).map(of);
    all.filter(|difference| difference.first != difference.second).collect()
}

/// Writes kernels, a kernel or differences as JSON.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_json(what: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, what)?;
    writeln!(out)
}

/// Writes the list as text: a line for each kernel.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_list(kernels: &[Listed], out: &mut dyn Write) -> io::Result<()> {
    let head = ["kernel", "queues", "balancer", "tick"].map(str::to_owned);
    let row = |k: &Listed| [k.name.to_owned(), k.queues.to_owned(), k.balancer.to_owned(), k.tick.clone()];
    write_columns(&head, &kernels.iter().map(row).collect::<Vec<_>>(), out)
}

/// Writes a kernel as text: its rules with value, releases and meaning.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_kernel(kernel: &Kernel, out: &mut dyn Write) -> io::Result<()> {
    let Listed { name, queues, balancer, tick, summary } = &kernel.listed;
    writeln!(out, "{name}: {summary}")?;
    writeln!(out, "Source: {}", kernel.source)?;
    writeln!(out, "Queues: {queues}; balancer: {balancer}; tick: {tick}")?;
    writeln!(out, "In a scenario: kernel: {}\n", kernel.example)?;
    for rule in &kernel.rules {
        let spans: Vec<String> = rule.releases.iter().map(span).collect();
        let spans = if spans.is_empty() { String::new() } else { format!("  ({})", spans.join(", ")) };
        writeln!(out, "  {} = {}{spans}", rule.name, rule.value)?;
        writeln!(out, "      {}", rule.about)?;
    }
    if !kernel.missing.is_empty() {
        writeln!(out, "\nNot modelled, and on which side results err:")?;
    }
    for lack in &kernel.missing {
        writeln!(out, "  {}: {}\n      {}", lack.rule, lack.error, lack.about)?;
    }
    Ok(())
}

fn span([from, to]: &[&'static str; 2]) -> String {
    if from == to { (*from).to_owned() } else { format!("{from} to {to}") }
}

/// Writes the difference of two kernels as text.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_differences(
    (first, second): (&Entry, &Entry),
    differences: &[Difference],
    out: &mut dyn Write,
) -> io::Result<()> {
    if differences.is_empty() {
        return writeln!(out, "{} and {} have the same rules.", first.name, second.name);
    }
    let head = ["rule", first.name, second.name].map(str::to_owned);
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".into());
    let row = |d: &Difference| [d.rule.to_owned(), value(&d.first), value(&d.second)];
    write_columns(&head, &differences.iter().map(row).collect::<Vec<_>>(), out)
}

/// Writes rows with a head in columns, each as wide as its widest text.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write_columns<const N: usize>(
    head: &[String; N],
    rows: &[[String; N]],
    out: &mut dyn Write,
) -> io::Result<()> {
    let wide =
        |column: usize| rows.iter().chain([head]).map(|row| row[column].chars().count()).max().unwrap_or(0);
    for row in [head].into_iter().chain(rows) {
        let cells = row.iter().enumerate().map(|(at, cell)| format!("{cell:<0$}", wide(at)));
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str) -> &'static Entry {
        KERNELS.resolve(name).unwrap()
    }

    #[test]
    fn neighbours_differ_in_their_rules_and_in_nothing_else() {
        let rules = |a, b| -> Vec<&str> {
            differences(entry(a), entry(b)).iter().map(|difference| difference.rule).collect()
        };
        assert_eq!(
            rules("linux-2.6.28", "linux-2.6.30"),
            ["normalized_sleeper", "clear_buddies", "adaptive_gran", "newidle_walks_on"]
        );
        assert!(rules("linux-6.18", "linux-6.18").is_empty());
        let other = differences(entry("linux-2.6.28"), entry("freebsd-7"));
        assert!(other.iter().any(|d| d.rule == "fuzz" && d.second.is_none()));
        assert!(other.iter().any(|d| d.rule == "interactive" && d.first.is_none()));
    }

    #[test]
    fn a_rule_names_the_releases_with_its_value() {
        let kernel = show(entry("linux-2.6.28"));
        let of = |name: &str| kernel.rules.iter().find(|rule| rule.name == name).unwrap().releases.clone();
        assert_eq!(of("fuzz"), [["linux-2.6.28", "linux-3.10"]]);
        assert_eq!(of("debit"), [["linux-2.6.28", "linux-6.5"]]);
    }

    #[test]
    fn a_release_as_uname_prints_it_finds_the_nearest_kernel() {
        let (entry, remark) = find("6.18.2-generic").unwrap();
        assert_eq!(entry.name, "linux-6.18");
        assert!(remark.unwrap().contains("nearest"));
        assert_eq!(find("linux-5.14").unwrap().0.name, "linux-5.10");
        assert!(find("linus-6.18").unwrap_err().contains("did you mean"));
    }
}
