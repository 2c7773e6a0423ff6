//! The text of the scenario: applications with the origin and the range of each number.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use import::{Note, Refused};
use scenario::DEFAULT_KERNEL;

use crate::model::App;
use crate::values::{Number, Unit};

/// Most applications of a scenario.
pub(crate) const MOST_APPS: usize = 4_096;
/// Most bytes of a scenario that are read.
const MOST_BYTES: usize = 1 << 20;
/// Most cores of a machine that is made up, as of imported scenarios.
const MOST_CORES: f64 = 4_096.0;
/// The longest work of a cpu that surely ends within the default horizon of 1 h, in s: a tenth of it.
const WITHIN: f64 = 360.0;
/// A trial is cut off at so many times its shortest time.
const CUT: f64 = 200.0;

/// What a scenario has beside its applications.
#[derive(Clone, Debug)]
pub(crate) struct Head<'a> {
    pub(crate) title: &'a str,
    pub(crate) machine: Option<&'a str>,
    pub(crate) kernel: Option<&'a str>,
    /// What it was made of.
    pub(crate) from: String,
    pub(crate) notes: &'a [Note],
}

/// Names of applications that are taken.
#[derive(Default)]
pub(crate) struct Names(BTreeSet<String>);

impl Names {
    /// A legal name made of a text that no other one has.
    pub(crate) fn unique(&mut self, text: &str) -> String {
        let base = import::word(text, "job");
        let mut name = base.clone();
        let mut number = 2_u32;
        while !self.0.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    }
}

/// The scenario, and behind it the ranges of its numbers.
pub(crate) fn scenario(head: &Head<'_>, apps: &[App]) -> Result<(String, String), Refused> {
    if apps.len() > MOST_APPS {
        return Err(Refused::Sentence(format!(
            "{}: {} jobs, and a scenario has at most {MOST_APPS} applications: choose some (`sacct -j`, \
             `--starttime`)",
            head.from,
            apps.len()
        )));
    }
    let mut text = format!(
        "# Described by `oversim profile` from {}. Comments name where each number comes from.\n",
        head.from
    );
    for note in head.notes {
        let _ = writeln!(text, "# {note}");
    }
    let _ = writeln!(text, "name: {}", head.title);
    text += &machine(head.machine, apps);
    let _ = writeln!(text, "kernel: {}", head.kernel.unwrap_or(DEFAULT_KERNEL));
    let cpus = apps.iter().map(|app| app.cpus).fold(1.0, f64::max);
    let long: f64 = apps.iter().map(|app| app.each * app.tasks / cpus + app.each).sum();
    if long > WITHIN {
        text += "horizon: 240h\n";
    }
    text += &groups(apps);
    text += "apps:\n";
    let mut ranges = String::new();
    for app in apps {
        application(app, &mut text);
        for number in &app.numbers {
            range(&app.name, number, &mut ranges);
        }
    }
    text += "policies: [LOAD]\n";
    if !ranges.is_empty() {
        ranges.insert_str(0, "uncertain:\n");
    }
    let bytes = text.len() + ranges.len();
    if bytes > MOST_BYTES {
        return Err(Refused::Sentence(format!(
            "{}: a scenario of {bytes} bytes, and at most {MOST_BYTES} are read: choose fewer jobs \
             (`sacct -j`)",
            head.from
        )));
    }
    Ok((text, ranges))
}

/// A scenario with one application whose tasks have little work each, for trials, and when its runs are cut
/// off, in s.
pub(crate) fn trial(head: &Head<'_>, app: &App) -> (String, f64) {
    let seconds = app.trial();
    // The longest is a program that polls beside another one: 80 times the time alone was seen.
    let horizon = (CUT * seconds * (app.tasks / app.cpus).max(1.0)).ceil();
    let mut short = app.clone();
    for number in &mut short.numbers {
        match number.path {
            "workload.work" => number.value = Unit::Time.show(seconds * app.tasks),
            "workload.intervals" if app.tasks > 1.0 => {
                number.value = Unit::Count.show(seconds / app.interval);
            }
            _ => {}
        }
    }
    let mut text = format!("name: trial\n{}", machine(head.machine, std::slice::from_ref(app)));
    let _ = writeln!(text, "kernel: {}", head.kernel.unwrap_or(DEFAULT_KERNEL));
    text += &groups(std::slice::from_ref(app));
    text += "apps:\n";
    application(&short, &mut text);
    let _ = writeln!(
        text,
        "policies: [LOAD]\nfidelity: sampled\nobjective: makespan\nbaseline: none\nhorizon: {horizon:.0}s"
    );
    (text, horizon)
}

/// The machine: a second of work is one of the cpu on which the job was measured.
fn machine(stated: Option<&str>, apps: &[App]) -> String {
    match stated {
        Some(machine) if machine.trim_start().starts_with('{') => {
            format!("machine: {machine}  # --machine\n")
        }
        Some(machine) => format!(
            "machine: {{ \"{}\": {{ work_unit: own }} }}  # --machine; work is seconds of its cpus\n",
            machine.replace('\\', "\\\\").replace('"', "\\\"")
        ),
        None => {
            let cpus = apps.iter().map(|app| app.cpus).fold(1.0, f64::max).min(MOST_CORES);
            format!(
                "machine: {{ \"core:{cpus:.0}\": {{ work_unit: own }} }}  # as many cpus as it had; work is \
                 seconds of these\n"
            )
        }
    }
}

/// Control groups with quotas.
fn groups(apps: &[App]) -> String {
    let mut text = String::new();
    for app in apps {
        let Some((quota, period, origin)) = &app.quota else { continue };
        if text.is_empty() {
            text += "cgroups:\n";
        }
        let name = &app.name;
        let _ = writeln!(text, "  {name}: {{ quota: {quota}us, period: {period}us }}  # {origin}");
    }
    text
}

fn application(app: &App, text: &mut String) {
    let _ = writeln!(text, "  {}:", app.name);
    for remark in &app.remarks {
        let _ = writeln!(text, "    # {}", notation::neutral::line(remark));
    }
    let _ = writeln!(text, "    workload:\n      {}:", app.workload.name());
    let (inside, outside): (Vec<&Number>, Vec<&Number>) =
        app.numbers.iter().partition(|number| number.path.starts_with("workload."));
    for number in inside {
        let _ = writeln!(text, "        {}", line(number));
    }
    let _ = writeln!(text, "    runtime: {}  # {}", app.runtime.text, app.runtime.origin);
    for number in outside {
        let _ = writeln!(text, "    {}", line(number));
    }
    if app.quota.is_some() {
        let _ = writeln!(text, "    cgroup: {}", app.name);
    }
}

/// Key, value, range and origin.
fn line(number: &Number) -> String {
    let range = number.range.as_ref().map_or_else(String::new, |(low, high)| format!("{low} to {high}; "));
    format!("{}: {}  # {range}{}", number.key(), number.value, notation::neutral::line(&number.origin))
}

fn range(app: &str, number: &Number, text: &mut String) {
    if let Some((low, high)) = &number.range {
        let (path, origin) = (number.path, notation::neutral::line(&number.origin));
        let _ = writeln!(text, "  apps.{app}.{path}: {low}..{high}  # {origin}");
    }
}
