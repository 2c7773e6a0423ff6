//! The analysis of deadlines as text, 80 columns wide.

use std::io::{self, Write};

use notation::number::plural;
use notation::parameter::Kind;

use super::theory::rate_bound;
use super::{Analysis, Group, Order, Row, Witness};

/// Writes what is known of each policy.
///
/// # Errors
/// Of the writer.
pub fn write(analyses: &[Analysis], out: &mut dyn Write) -> io::Result<()> {
    for (number, analysis) in analyses.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}: {}", analysis.policy, order(analysis.order))?;
        for group in &analysis.groups {
            write_group(analysis.order, group, out)?;
        }
        for why in &analysis.silent {
            writeln!(out, "Theory says nothing about response times here: {why}.")?;
        }
        for left in &analysis.left_out {
            writeln!(out, "Left out: {}, because {}.", left.app, left.why)?;
        }
        if analysis.groups.is_empty() {
            writeln!(out, "There is no periodic task: a loop with `until` around its work.")?;
        }
    }
    Ok(())
}

/// A time with its unit, to a microsecond.
fn time(ns: u64) -> String {
    let us = (ns + 500) / 1_000;
    match us {
        0 => Kind::Duration.show(ns),
        1..1_000 => format!("{us} us"),
        1_000..1_000_000 => format!("{}.{:03} ms", us / 1_000, us % 1_000),
        _ => format!("{}.{:03} s", us / 1_000_000, us / 1_000 % 1_000),
    }
}

const fn order(order: Order) -> &'static str {
    match order {
        Order::Deadline => "the earliest deadline first",
        Order::Fixed => "fixed priorities",
        Order::Unknown => "an order about which theory promises no response time",
    }
}

fn write_group(order: Order, group: &Group, out: &mut dyn Write) -> io::Result<()> {
    let tasks: u32 = group.rows.iter().map(|row| row.tasks).sum();
    let on = match group.cpu {
        Some(cpu) => format!("cpu {cpu}"),
        None => plural(group.cpus as usize, "cpu", "cpus"),
    };
    writeln!(
        out,
        "{} on {on} use {:.1} % of a cpu.",
        plural(tasks as usize, "task", "tasks"),
        100.0 * group.utilisation
    )?;
    writeln!(out, "{}", verdict(order, group, tasks))?;
    let width = group.rows.iter().map(|row| row.app.len()).max().unwrap_or(0).max(4);
    writeln!(
        out,
        "  {:width$} {:>9} {:>9} {:>9} {:>10} {:>10} {:>12}",
        "task", "work", "period", "deadline", "theory", "simulated", "late"
    )?;
    for row in &group.rows {
        write_row(row, width, out)?;
    }
    Ok(())
}

fn write_row(row: &Row, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let or_none = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), time);
    writeln!(
        out,
        "  {:width$} {:>9} {:>9} {:>9} {:>10} {:>10} {:>12}",
        row.app,
        time(row.work_ns),
        time(row.period_ns),
        time(row.deadline_ns),
        or_none(row.bound_ns),
        or_none(row.seen_ns),
        format!("{} of {}", row.late, row.jobs),
    )
}

/// What theory says of the deadlines of a group.
fn verdict(order: Order, group: &Group, tasks: u32) -> String {
    let bound = 100.0 * rate_bound(tasks as usize);
    match (group.meets_all, order) {
        (Some(true), Order::Deadline) => "Theory: no deadline is missed, whenever the tasks begin.".into(),
        (Some(true), _) => {
            let implicit = group.rows.iter().all(|row| row.deadline_ns == row.period_ns);
            let below = implicit && 100.0 * group.utilisation <= bound;
            let extra = if below {
                format!(" The bound of rate-monotonic priorities is {bound:.1} %.")
            } else {
                String::new()
            };
            format!("Theory: no deadline is missed, whenever the tasks begin.{extra}")
        }
        (Some(false), _) if group.utilisation > f64::from(group.cpus) => {
            "Theory: deadlines are missed, because the tasks need more than there is.".into()
        }
        (Some(false), _) => "Theory: a deadline can be missed if the tasks begin at the worst times.".into(),
        (None, _) if group.cpu.is_some() => "Theory has no answer; the simulation shows cases.".into(),
        (None, _) => "Theory has no exact answer for several cpus; the simulation shows cases.".into(),
    }
}

/// The command that repeats the run of a witness, if one can.
type Command<'a> = &'a dyn Fn(&Witness) -> Option<String>;

/// Writes the worst cases that a search has found.
///
/// # Errors
/// Of the writer.
pub fn write_witnesses(
    (command, policy): (Command<'_>, Option<&str>),
    rounds: u64,
    found: &[Witness],
    out: &mut dyn Write,
) -> io::Result<()> {
    let under = policy.map_or_else(String::new, |policy| format!(" under {policy}"));
    writeln!(out, "The worst of {}{under}:", plural(rounds as usize, "run", "runs"))?;
    for witness in found {
        let late = plural(witness.late as usize, "job", "jobs");
        writeln!(out, "  {}: {} ({late} late in that run)", witness.app, time(witness.response_ns))?;
        match command(witness) {
            Some(command) => writeln!(out, "    {command}")?,
            None => {
                let starts = witness.starts.iter().map(|(app, ns)| format!("{app} at {}", time(*ns)));
                writeln!(out, "    The applications begin: {}.", starts.collect::<Vec<_>>().join(", "))?;
            }
        }
    }
    Ok(())
}

/// Writes all of it as JSON, with the worst cases of each policy.
///
/// # Errors
/// Of the writer.
pub fn write_json(
    analyses: &[Analysis],
    worst: &[(String, Vec<Witness>)],
    out: &mut dyn Write,
) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Everything<'a> {
        analyses: &'a [Analysis],
        worst: &'a [(String, Vec<Witness>)],
    }
    serde_json::to_writer_pretty(&mut *out, &Everything { analyses, worst })?;
    writeln!(out)
}
