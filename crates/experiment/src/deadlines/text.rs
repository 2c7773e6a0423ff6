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
            write_group(group, out)?;
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

fn write_group(group: &Group, out: &mut dyn Write) -> io::Result<()> {
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
    writeln!(out, "{}", verdict(group))?;
    write_bounds(group, tasks, out)?;
    let width = group.rows.iter().map(|row| row.app.len()).max().unwrap_or(0).max(4);
    writeln!(
        out,
        "  {:width$} {:>9} {:>9} {:>9} {:>10} {:>10} {:>12}",
        "task", "work", "period", "deadline", "theory", "simulated", "late"
    )?;
    for row in &group.rows {
        write_row(row, width, out)?;
    }
    if group.meets_all == Some(true) && group.rows.iter().any(|row| row.late > 0) {
        writeln!(out, "The simulation also has switches, ticks and the kernel's limits: jobs are late.")?;
    }
    Ok(())
}

/// The bounds of use up to which no deadline is missed, where these are the ends of periods.
fn write_bounds(group: &Group, tasks: u32, out: &mut dyn Write) -> io::Result<()> {
    if group.cpu.is_none() || group.rows.iter().any(|row| row.deadline_ns != row.period_ns) {
        return Ok(());
    }
    let rate = 100.0 * rate_bound(tasks as usize);
    writeln!(out, "Bounds: 100 % for EDF, {rate:.1} % for rate-monotonic priorities; these also meet all")?;
    writeln!(out, "deadlines if the product of all (use + 1), here {:.3}, is at most 2.", product(group))
}

/// The product of (use + 1) over all tasks (Bini, Buttazzo and Buttazzo, IEEE Transactions on Computers
/// 52(7), 2003).
fn product(group: &Group) -> f64 {
    let of = |row: &Row| (row.work_ns as f64 / row.period_ns as f64 + 1.0).powf(f64::from(row.tasks));
    group.rows.iter().map(of).product()
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
fn verdict(group: &Group) -> &'static str {
    match group.meets_all {
        Some(true) => "Theory: no deadline is missed, whenever the tasks begin.",
        Some(false) if group.utilisation > f64::from(group.cpus) => {
            "Theory: deadlines are missed, because the tasks need more than there is."
        }
        Some(false) => "Theory: a deadline can be missed if the tasks begin at the worst times.",
        None if group.cpu.is_some() => "Theory has no answer; the simulation shows cases.",
        None => "Theory has no exact answer for several cpus; the simulation shows cases.",
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
