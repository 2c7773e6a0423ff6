//! The answer: what to set, what that gains, what to type, how sure it is, and what would change it.

mod beside;

use std::io::{self, Write};

use experiment::statements::ranking::unit;
use experiment::statistics::summarise;
use notation::neutral;
use notation::number::{decimals, plural, ratio};
use notation::text::wrapped;
use notation::yaml::tree;
use serde::Serialize;

use super::known::{CPUS, Known, MEMORY_BOUND};
use super::levers::{Effect, Layout, Lever};
use super::race::by_seed;
use super::search::{Found, Tried, WORTH, paired};
use super::sure::{Flip, Rare, Sure};
use super::words;
use crate::goal::Goal;
use crate::trial::Setting;
pub use beside::{Beside, beside};

/// Name and version of the JSON form.
pub const SCHEMA: &str = "oversim.advice/1";
/// Other settings that the answer names.
const OTHERS: usize = 2;
/// Values that would change the advice and that the answer names.
const FLIPS: usize = 4;
/// Other programs that the answer names.
const BESIDE: usize = 3;
/// Columns before the text of a line.
const LABEL: usize = 10;

/// A setting and what it reaches.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Reached {
    /// In words.
    pub setting: String,
    /// The flags of `oversim run` that make it.
    pub flags: String,
    /// Mean over the seeds; none where a run did not complete.
    pub mean: Option<f64>,
    /// Half of the 95 % interval of the mean; none with one seed.
    pub half_width: Option<f64>,
    /// How many times as long as the advised setting it takes, paired by seed, and half of the 95 % interval.
    pub ratio: Option<(f64, Option<f64>)>,
    /// The geometric mean of these ratios seed by seed, and the ends of its 95 % interval.
    pub by_seed: Option<[f64; 3]>,
}

/// A value that would change the advice.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Change {
    /// Its path, or what it is.
    pub what: String,
    /// Its value in the scenario.
    pub now: String,
    /// The scenario does not state it.
    pub unstated: bool,
    /// The range in which it was moved.
    pub range: [String; 2],
    /// Where the advice changes.
    pub at: String,
    /// It changes above that value, else below.
    pub above: bool,
    /// The setting that is better there.
    pub to: String,
    /// How many times as long the advised setting takes at the end of the range.
    pub loss: f64,
    /// How to measure it; empty for what is no property of the programs or of the machine.
    pub measure: &'static str,
}

/// The answer.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Answer {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The scenario.
    pub scenario: String,
    /// The objective.
    pub objective: &'static str,
    /// The application that is judged, or `all`.
    pub app: String,
    /// The metric.
    pub metric: &'static str,
    /// Nothing is better than what is there.
    pub keep: bool,
    /// The advised setting.
    pub advised: Reached,
    /// Everything as it is.
    pub as_it_is: Reached,
    /// The usual habit; none where it is what is there.
    pub habit: Option<Reached>,
    /// The next best settings.
    pub others: Vec<Reached>,
    /// What to type, line by line.
    pub typed: Vec<String>,
    /// Uncertain values that were drawn, draws, and draws in which the advice holds.
    pub drawn: (usize, u32, u32),
    /// What would change it, the largest loss first.
    pub changes: Vec<Change>,
    /// Values that were moved alone.
    pub moved: usize,
    /// The number of other busy tasks that changes it.
    pub load: Option<Change>,
    /// Other busy tasks up to which it was tried.
    pub most_load: u32,
    /// Programs of this kind that were measured, how many run times, and per cent predicted within 10 %.
    pub known: (&'static str, u32, u32),
    /// What the advice assumes of second hardware threads and of the rest of the host, and what would be best
    /// otherwise.
    pub hedges: Vec<String>,
    /// What was seen of rare long runs, in words; none where no setting had any.
    pub rare: Option<String>,
    /// Cpus of the machine.
    pub cpus: u32,
    /// Settings that exist, settings tried, runs.
    pub search: (usize, usize, usize),
    /// Runs that the search was cut to because each is long; none if it was not.
    pub cut_to: Option<usize>,
    /// Tasks that draw on memory are bound, and the machine has several NUMA nodes: it counts where their
    /// pages lie.
    pub pages: bool,
    /// What was not searched, and why.
    pub left_out: Vec<String>,
    /// What the advised setting does to other programs.
    pub beside: Vec<Beside>,
    /// The files of several scenarios, each with the flags that make its part of the advised setting.
    pub files: Vec<(String, String)>,
    /// What the command that follows calls the scenario.
    pub subject: Option<String>,
}

/// The next best settings that differ in what they reach: a setting that has the times of another one with
/// each seed differs in nothing that counts.
fn others<'a>(found: &'a Found, advised: &'a Tried) -> Vec<&'a Tried> {
    let mut known: Vec<&Tried> = vec![advised, &found.as_it_is];
    known.extend(&found.habit);
    let named = known.len();
    for tried in &found.last {
        let same = |other: &&Tried| other.choice == tried.choice || other.values == tried.values;
        if !known.iter().any(same) {
            known.push(tried);
        }
    }
    known.into_iter().skip(named).take(OTHERS).collect()
}

/// Whether a setting binds tasks that draw on memory on a machine of several NUMA nodes: only there tasks may
/// be bound to nodes.
fn binds_memory(found: &Found, advised: &Tried) -> bool {
    let chosen = found.levers.iter().zip(&advised.choice);
    let bound = |(lever, at): (&Lever, &usize)| {
        let value = lever.values.get(*at).map(|value| &value.effect);
        let nodes = lever.values.iter().any(|value| value.effect == Effect::Bound(Layout::Node));
        nodes && matches!(value, Some(Effect::Bound(_)))
    };
    found.memory >= MEMORY_BOUND && chosen.into_iter().any(bound)
}

/// How a value is measured, by what its path ends with.
const MEASURES: &[(&str, &str)] = &[
    ("demand", "perf stat -x, -e LLC-load-misses,task-clock COMMAND | oversim profile -"),
    ("bound", "perf stat -x, -e cycles,stalled-cycles-backend COMMAND"),
    ("intervals", "an OpenMP region profile or mpiP: oversim profile --help"),
    ("grain", "an OpenMP region profile or mpiP: oversim profile --help"),
    ("spread", "the times between two barriers of each thread: oversim twin record --marks -- COMMAND"),
    ("imbalance", "the times between two barriers of each thread: oversim twin record --marks -- COMMAND"),
    ("working_set", "/usr/bin/time -v COMMAND (maximum resident set size)"),
];

/// How to measure the value of a path.
fn measure(path: &str) -> &'static str {
    let last = path.rsplit('.').next().unwrap_or(path);
    match MEASURES.iter().find(|(name, _)| *name == last) {
        Some((_, how)) => how,
        None if path.starts_with("machine.") => "oversim calibrate host -o machine.yaml",
        None => "",
    }
}

impl Reached {
    fn of(goal: &Goal, levers: &[Lever], tried: &Tried, advised: &Tried) -> Self {
        let values: Option<Vec<f64>> = tried.values.iter().copied().collect();
        let summary = values.as_deref().and_then(summarise);
        let ratio = paired(goal, tried, advised);
        Self {
            setting: words::choice(levers, &tried.choice),
            flags: words::flags(&tried.setting),
            mean: summary.as_ref().map(|summary| summary.mean),
            half_width: summary.and_then(|summary| summary.half_width()),
            ratio: ratio.map(|(mean, half)| (mean, Some(half).filter(|half| half.is_finite()))),
            by_seed: by_seed(goal, tried, advised),
        }
    }
}

impl Answer {
    /// The answer of a search. `subject`: what a command calls the scenario, if it can.
    #[must_use]
    pub fn of(
        (scenario, subject): (&str, Option<&str>),
        (found, sure): (&Found, &Sure),
        typed: Vec<String>,
        (known, cpus): (Known, u32),
    ) -> Self {
        let Found { goal, levers, last, .. } = found;
        let advised = last.first().unwrap_or(&found.as_it_is);
        let reached = |tried: &Tried| Reached::of(goal, levers, tried, advised);
        let shown = others(found, advised);
        let to = |at: Option<usize>| {
            let tried = at.and_then(|at| last.get(at)).unwrap_or(&found.as_it_is);
            words::choice(levers, &tried.choice)
        };
        let change = |flip: &Flip| Change {
            what: flip.what.clone(),
            now: flip.now.clone(),
            unstated: flip.unstated,
            range: flip.range.clone(),
            at: flip.at.clone(),
            above: flip.above,
            to: to(flip.to),
            loss: flip.loss,
            measure: measure(&flip.what),
        };
        Self {
            schema: SCHEMA,
            scenario: scenario.to_owned(),
            objective: goal.objective.name(),
            app: goal.app.clone(),
            metric: goal.metric,
            keep: advised.changes() == 0,
            advised: reached(advised),
            as_it_is: reached(&found.as_it_is),
            habit: found.habit.as_ref().map(reached),
            others: shown.into_iter().map(reached).collect(),
            typed,
            drawn: (sure.inputs, sure.draws, sure.holds),
            changes: sure.flips.iter().map(change).collect(),
            moved: sure.moved,
            load: sure.load.as_ref().map(change),
            most_load: sure.most_load,
            hedges: Vec::new(),
            rare: sure.rare.as_ref().map(Rare::sentence),
            known: (known.class, known.cells, known.within),
            cpus,
            search: (found.size, found.tried, found.runs + sure.runs),
            cut_to: None,
            pages: binds_memory(found, advised),
            left_out: found.left_out.clone(),
            beside: Vec::new(),
            files: Vec::new(),
            subject: subject.map(str::to_owned),
        }
    }

    /// The answer of several files (names and texts) with what is to be tried of each: the advised setting
    /// of its own programs. `set`: the user's own `path=value` pairs. One file stays as it is.
    #[must_use]
    pub fn of_files(self, found: &Found, files: &[(String, String)], set: &[String]) -> Self {
        let Some(advised) = found.last.first().filter(|advised| advised.changes() > 0 && files.len() > 1)
        else {
            return self;
        };
        let each = files.iter().filter(|(name, _)| name != "-").filter_map(|(name, text)| {
            let root = tree(0, text).ok()?;
            let keys = ["apps", "cgroups"].into_iter().filter_map(|key| root.get(key));
            let names: Vec<String> =
                keys.flat_map(|entry| entry.value.entries()).map(|entry| entry.key.clone()).collect();
            let own = words::flags_of(&advised.setting, &names);
            let asked = Setting { set: set.to_vec(), policy: None };
            let flags = format!("{}{own}", words::flags_of(&asked, &names));
            (!own.is_empty()).then(|| (name.clone(), flags))
        });
        Self { files: each.collect(), ..self }
    }

    /// `1.23 s ±0.02`.
    fn value(&self, reached: &Reached) -> String {
        let Some(mean) = reached.mean else { return "did not complete".to_owned() };
        let (unit, scale) = unit(self.metric, mean.abs());
        let digits = decimals(mean / scale);
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        match reached.half_width {
            Some(half) => format!("{:.digits$}{unit} ±{:.digits$}", mean / scale, half / scale),
            None => format!("{:.digits$}{unit}", mean / scale),
        }
    }

    /// `, 3.7 times as long (3.6 to 3.8)`; empty where there is no ratio.
    fn than_advised(&self, reached: &Reached) -> String {
        let Some((mean, half)) = reached.ratio else { return String::new() };
        if self.metric.starts_with("lateness") {
            return String::new();
        }
        let what = if self.metric == "throughput" { "the advised value over this one is" } else { "" };
        let times = if what.is_empty() { " times as long" } else { "" };
        if (mean - 1.0).abs() <= WORTH {
            return ", level with the advice".to_owned();
        }
        let between = |low: f64, high: f64| format!(" ({} to {})", ratio(low), ratio(high));
        let what = if what.is_empty() { String::new() } else { format!("{what} ") };
        let between = match (half.filter(|half| (mean - 1.0).abs() > *half), reached.by_seed) {
            (Some(half), _) => between(mean - half, mean + half),
            // Seeds of one of the two settings differ by more than the settings do in the mean.
            (None, Some([usual, low, high])) if mean > 1.0 && low > 1.0 || mean < 1.0 && high < 1.0 => {
                format!("; seed by seed {} times{}", ratio(usual), between(low, high))
            }
            (None, _) => return ", which the seeds do not tell apart from the advice".to_owned(),
        };
        format!(", {what}{}{times}{between}", ratio(mean))
    }

    /// The lines of the answer: label and text.
    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("Advice", self.advised.setting.clone())];
        let what = unit_words(self.metric, &self.app);
        lines.push(("Reaches", format!("{what} {}", self.value(&self.advised))));
        if !self.keep {
            let now = format!("{}{}", self.value(&self.as_it_is), self.than_advised(&self.as_it_is));
            lines.push(("As it is", now));
        }
        if let Some(habit) = &self.habit {
            let text = if habit.setting == self.advised.setting {
                format!("{}: the same", habit.setting)
            } else {
                format!("{}: {}{}", habit.setting, self.value(habit), self.than_advised(habit))
            };
            lines.push(("Habit", text));
        }
        for (at, other) in self.others.iter().enumerate() {
            let text = format!("{}: {}{}", other.setting, self.value(other), self.than_advised(other));
            lines.push((if at == 0 { "Else" } else { "" }, text));
        }
        if !self.beside.is_empty() {
            let each: Vec<String> = self.beside.iter().take(BESIDE).map(Beside::words).collect();
            let rest = self.beside.len().saturating_sub(BESIDE);
            let more = if rest > 0 { format!("; {rest} more") } else { String::new() };
            lines.push(("Others", format!("{}{more}", each.join("; "))));
        }
        for (at, line) in self.typed.iter().enumerate() {
            lines.push((if at == 0 { "Type" } else { "" }, line.clone()));
        }
        for (at, hedge) in self.hedges.iter().enumerate() {
            lines.push((if at == 0 { "Assumed" } else { "" }, hedge.clone()));
        }
        lines.extend(self.doubts());
        lines.push(("Searched", self.searched()));
        if let Some(subject) = self.subject.as_ref().filter(|_| !self.keep) {
            lines.push(("Try", format!("oversim run {subject}{}", self.advised.flags)));
        }
        for (at, (file, flags)) in self.files.iter().enumerate() {
            let alone = if at == 0 { "  # each file alone, on its own machine" } else { "" };
            lines.push((
                if at == 0 { "Try" } else { "" },
                format!("oversim run {}{flags}{alone}", word(file)),
            ));
        }
        lines
    }

    /// How sure it is, and what would change it.
    fn doubts(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        let (inputs, draws, holds) = self.drawn;
        if draws > 0 {
            let values = plural(inputs, "uncertain value", "uncertain values");
            lines.push((
                "Sure",
                format!(
                    "none of the next best settings is over 1 % better in {holds} of {draws} draws of \
                     {values}"
                ),
            ));
        }
        if let Some(rare) = &self.rare {
            lines.push((if draws > 0 { "" } else { "Sure" }, rare.clone()));
        }
        for (at, change) in self.changes.iter().take(FLIPS).enumerate() {
            lines.push((if at == 0 { "Changes" } else { "" }, change.sentence()));
        }
        if self.changes.is_empty() && self.moved > 0 {
            let values = plural(self.moved, "value", "values");
            lines.push((
                "Changes",
                format!("with none of {values}, each moved alone to the ends of its range"),
            ));
        }
        let load = match &self.load {
            Some(load) => format!("beside {} or more other busy tasks to: {}", load.at, load.to),
            None if self.most_load > 0 => {
                let not = if self.changes.is_empty() { "nor" } else { "not" };
                let most = plural(self.most_load as usize, "other busy task", "other busy tasks");
                format!("{not} beside up to {most}")
            }
            None => String::new(),
        };
        if !load.is_empty() {
            lines.push(("", load));
        }
        lines.push(("Measured", self.measured()));
        if self.pages {
            let text = "bound tasks that draw on memory gain only if their pages lie as the scenario says \
                        (`pages`): numastat -p PID shows where they are";
            lines.push(("", text.to_owned()));
        }
        lines
    }

    /// What is known of the error of such predictions.
    fn measured(&self) -> String {
        let (class, cells, within) = self.known;
        let mut text = format!(
            "on hosts with {CPUS} cpus, {within} % of {cells} run times of {class} were predicted within 10 %"
        );
        if self.cpus > CPUS {
            text.push_str("; larger machines were not measured");
        }
        let gain = self.as_it_is.ratio.map_or(0.0, |(mean, _)| mean - 1.0);
        if !self.keep && (0.0..0.1).contains(&gain) {
            text.push_str(". The gain is smaller than that: try it before you rely on it");
        }
        text
    }

    fn searched(&self) -> String {
        let (size, tried, runs) = self.search;
        let mut text = if tried >= size {
            format!("all {}", plural(size, "setting", "settings"))
        } else {
            format!("{tried} of {size} settings")
        };
        text.push_str(&format!(", {}", plural(runs, "run", "runs")));
        if let Some(runs) = self.cut_to {
            text.push_str(&format!("; each run is long, so the search had {runs}: --runs gives it more"));
        }
        for why in &self.left_out {
            text.push_str(&format!("; {why}"));
        }
        text
    }

    /// Whether a line without a label is one to type.
    fn is_typed(&self, text: &str) -> bool {
        self.typed.iter().any(|line| line == text)
            || !self.files.is_empty() && text.starts_with("oversim run ")
    }

    /// Writes it as text of at most `width` columns.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_text(&self, out: &mut dyn Write, width: usize) -> io::Result<()> {
        for (label, text) in self.lines() {
            let text = neutral::line(&text).into_owned();
            // What is typed is never broken.
            let whole = matches!(label, "Type" | "Try") || self.is_typed(&text);
            let parts = if whole { vec![text] } else { wrapped(&text, width.saturating_sub(LABEL).max(30)) };
            for (at, part) in parts.iter().enumerate() {
                let label = if at == 0 { label } else { "" };
                writeln!(out, "{}", format!("{label:LABEL$}{part}").trim_end())?;
            }
        }
        Ok(())
    }

    /// Writes it as Markdown.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "## Advice for {}\n", neutral::line(&self.scenario))?;
        let mut typing = false;
        for (label, text) in self.lines() {
            let text = neutral::line(&text);
            let typed = self.is_typed(&text) || label == "Try";
            if typed != typing {
                writeln!(out, "{}", if typed { "\n```sh" } else { "```\n" })?;
                typing = typed;
            }
            match label {
                _ if typed => writeln!(out, "{text}")?,
                "" => writeln!(out, "- {text}")?,
                _ => writeln!(out, "- **{label}**: {text}")?,
            }
        }
        if typing {
            writeln!(out, "```")?;
        }
        Ok(())
    }

    /// Writes it as JSON.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }
}

/// A file name as a word of a shell.
fn word(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    if name.chars().all(plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', r"'\''")) }
}

/// `run time of solver`.
fn unit_words(metric: &str, app: &str) -> String {
    let words = metric.replace('_', " ");
    if app == "all" { words } else { format!("{words} of {app}") }
}

impl Change {
    /// `to: bound far apart, when apps.a.workload.demand is above 5GB/s (0B/s, not stated); measure it first:
    /// ..`.
    fn sentence(&self) -> String {
        let Self { what, now, at, to, measure, .. } = self;
        let side = if self.above { "above" } else { "below" };
        let stated = if self.unstated { ", not stated" } else { "" };
        let how = if measure.is_empty() { String::new() } else { format!("; measure it first: {measure}") };
        format!("when {what} is {side} {at} (it is {now}{stated}) to: {to}{how}")
    }
}
