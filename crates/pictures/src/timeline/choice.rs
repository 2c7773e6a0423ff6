//! Which runs a timeline stacks, what they are called, and what is left out.

use std::collections::BTreeMap;

use experiment::sweep::short;
use scenario::configuration::{Axis, plain};
use scenario::plan::{Experiment, RunPlan};
use scenario::{Overrides, alike};
use sim_core::ids::CpuId;
use sim_core::machine::Machine;

use crate::timeline::{Aim, Subject, Track};

/// What the user asks for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Asked<'a> {
    /// Policies are named: all of them are shown.
    pub named: bool,
    /// One panel for each value of this path, `path` or `path=a,b` ([`Overrides::vary`]).
    pub vary: Option<&'a str>,
}

/// Policies that are shown when none is named: those of the scenario, as far as they fit one picture well.
const UNNAMED: usize = 2;
/// Most panels of one picture.
const MOST: usize = 4;

/// One run in the picture.
pub struct Panel<'a> {
    /// `LOAD` or `runtime=spin`.
    label: String,
    /// `under LOAD` or `with runtime=spin`.
    place: String,
    plan: &'a RunPlan,
}

/// The runs that are shown.
pub struct Choice<'a> {
    panels: Vec<Panel<'a>>,
    /// The scenario, its configuration and the seed.
    pub title: String,
    /// What is not shown and how to see it.
    pub remarks: Vec<String>,
    /// What the window is to show.
    pub aim: Aim,
    /// The path that `--vary` gives, and the policy.
    pub varied: Option<(&'a str, &'a str)>,
    /// The pair that was chosen from the results.
    pair: Option<Pair>,
}

impl Choice<'_> {
    /// The runs as they are recorded.
    pub fn subjects(&self) -> Vec<Subject<'_>> {
        let panels = self.panels.iter();
        panels.map(|panel| Subject { label: &panel.label, place: &panel.place, plan: panel.plan }).collect()
    }
}

/// The runs that are asked for.
///
/// # Errors
/// A sentence: the path has too few or too many values.
pub fn choose<'a>(experiment: &'a Experiment, asked: Asked<'_>) -> Result<Choice<'a>, String> {
    let names = Names::new(experiment);
    match asked.vary {
        Some(vary) => varied(experiment, &names, vary),
        None => Ok(stacked(experiment, asked, &names)),
    }
}

/// Policies of one configuration: those that `run` proposes to look at, the worst and the best.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The configuration.
    pub configuration: usize,
    /// The worst policy there.
    pub worst: usize,
    /// The best one; the same where there is one policy only, or where configurations differ more.
    pub best: usize,
    /// The configuration of the best one: mostly the same.
    pub beside: usize,
}

/// Policies of one configuration whose makespans differ by less than this part of them, one divided by this,
/// are not worth a picture where configurations differ more.
const LEVEL: u64 = 20;

/// The longest run of a scenario and the shortest one beside it, from the makespans of `runs`, one for each
/// policy and configuration: the best policy of the same configuration; where the policies are level there,
/// the best of the configurations that differ from it in one setting.
#[must_use]
pub fn extremes(experiment: &Experiment, runs: &[(&RunPlan, u64)]) -> Option<Pair> {
    // Of equal ones the first.
    let (longest, most) = *runs.iter().rev().max_by_key(|(_, makespan)| *makespan)?;
    let same = runs.iter().filter(|(plan, _)| plan.configuration == longest.configuration);
    let (shortest, least) = *same.min_by_key(|(_, makespan)| *makespan)?;
    let (configuration, worst) = (longest.configuration, longest.policy);
    let level = |least: u64| most - least < most / LEVEL;
    let found = Pair { configuration, worst, best: shortest.policy, beside: configuration };
    if !level(least) {
        return Some(found);
    }
    let places = |plan: &RunPlan| &experiment.configurations[plan.configuration].places;
    let near = |plan: &RunPlan| {
        let differ = places(plan).iter().zip(places(longest)).filter(|(a, b)| a != b).count();
        differ == 1 && plan.policy == worst && same_cpus(&plan.machine, &longest.machine)
    };
    let others = runs.iter().filter(|(plan, _)| near(plan));
    let other = others.min_by_key(|(_, makespan)| *makespan).filter(|(_, least)| !level(*least));
    Some(other.map_or(found, |(plan, _)| Pair { best: worst, beside: plan.configuration, ..found }))
}

/// The worst run above the best one: two policies, or two values of one setting.
#[must_use]
pub fn pair(experiment: &Experiment, pair: Pair) -> Choice<'_> {
    let names = Names::new(experiment);
    if pair.beside != pair.configuration {
        return Choice { pair: Some(pair), ..settings(experiment, &names, pair) };
    }
    let mut order = vec![pair.worst, pair.best];
    order.dedup();
    Choice { pair: Some(pair), ..panels(experiment, &names, pair.configuration, &order) }
}

/// Two configurations that differ in one setting, under one policy.
fn settings<'a>(experiment: &'a Experiment, names: &Names<'a>, pair: Pair) -> Choice<'a> {
    let all = &experiment.configurations;
    let (worst, best) = (&all[pair.configuration].places, &all[pair.beside].places);
    let axis = worst.iter().zip(best).position(|(a, b)| a != b).unwrap_or(0);
    let policy = experiment.policies.get(pair.worst).map_or("", String::as_str);
    let panel = |configuration: usize| {
        let plan =
            runs(experiment).find(|run| run.configuration == configuration && run.policy == pair.worst)?;
        let value = names.value(configuration, axis, &experiment.axes[axis])?;
        let label = format!("{}={value}", names.of(axis));
        Some(Panel { place: format!("with {label}"), label, plan })
    };
    let panels: Vec<Panel<'a>> = [pair.configuration, pair.beside].into_iter().filter_map(panel).collect();
    let mut remarks = Vec::new();
    remarks.extend(names.open(pair.configuration, Some(&[axis])));
    let values = panels.iter().map(|panel| panel.label.as_str()).collect::<Vec<_>>().join(" and ");
    let path = &experiment.axes[axis].path;
    remarks.push(format!("shown with {values}, the worst and the best; --vary {path}=A,B chooses others"));
    if experiment.policies.len() > 1 {
        let others: Vec<&str> = experiment.policies.iter().map(String::as_str).collect();
        remarks.push(format!("shown under {policy}; --policy A,B stacks {}", others.join(", ")));
    }
    let under = format!(" under {policy}");
    let title = title(experiment, &under, &names.settings(pair.configuration, &[axis]), panels.first());
    Choice { panels, title, remarks, aim: Aim::Difference, varied: None, pair: None }
}

/// True for machines that one picture can show.
fn same_cpus(one: &Machine, other: &Machine) -> bool {
    let same_node = |cpu: u32| one.node_of(CpuId(cpu)) == other.node_of(CpuId(cpu));
    one.cpus() == other.cpus() && (0..one.cpus()).all(same_node)
}

/// The first policy at the first configuration.
#[must_use]
pub fn first(experiment: &Experiment) -> Choice<'_> {
    let names = Names::new(experiment);
    let mut remarks = Vec::new();
    // Nothing is stacked.
    remarks.extend(names.open(0, Some(&[])));
    if let [first, others @ ..] = &experiment.policies[..]
        && !others.is_empty()
    {
        remarks.push(format!("shown under {first}; --policy NAME chooses {}", others.join(" or ")));
    }
    Choice { remarks, ..panels(experiment, &names, 0, &[0]) }
}

/// One panel for each policy, at the first configuration.
fn stacked<'a>(experiment: &'a Experiment, asked: Asked<'_>, names: &Names<'a>) -> Choice<'a> {
    let most = if asked.named { usize::MAX } else { UNNAMED };
    let policies: Vec<usize> = (0..experiment.policies.len().min(most)).collect();
    panels(experiment, names, 0, &policies)
}

/// One panel for each of these policies.
fn panels<'a>(
    experiment: &'a Experiment,
    names: &Names<'a>,
    configuration: usize,
    policies: &[usize],
) -> Choice<'a> {
    let run = |policy: &usize| {
        let plan =
            runs(experiment).find(|run| run.configuration == configuration && run.policy == *policy)?;
        let policy = experiment.policies.get(*policy)?;
        Some(Panel { label: policy.clone(), place: format!("under {policy}"), plan })
    };
    let panels: Vec<Panel<'a>> = policies.iter().filter_map(run).collect();
    let mut remarks = Vec::new();
    remarks.extend(names.open(configuration, None));
    let here: Vec<&str> = panels.iter().map(|panel| panel.label.as_str()).collect();
    let others = experiment.policies.iter().map(String::as_str).filter(|policy| !here.contains(policy));
    let there: Vec<&str> = others.collect();
    if !there.is_empty() {
        let (here, there) = (here.join(" and "), there.join(", "));
        remarks.push(format!("shown under {here}; --policy A,B chooses among them and {there}"));
    }
    let under = if panels.len() == 1 { format!(" {}", panels[0].place) } else { String::new() };
    let title = title(experiment, &under, &names.settings(configuration, &[]), panels.first());
    Choice { panels, title, remarks, aim: Aim::Difference, varied: None, pair: None }
}

/// One panel for each value of a path, under the first policy.
fn varied<'a>(experiment: &'a Experiment, names: &Names<'a>, vary: &str) -> Result<Choice<'a>, String> {
    let path = vary.split('=').next().unwrap_or_default().trim();
    let place = experiment.axes.iter().position(|axis| axis.path == path);
    let Some((place, axis)) = place.map(|place| (place, &experiment.axes[place])) else {
        return Err(format!("--vary {vary}: there is no such path"));
    };
    let values = axis.values.len();
    let given = vary.contains('=');
    if values < 2 {
        return Err(format!(
            "--vary {path} has one value, {}: give two to four, or use `--set {path}={}`",
            axis.values.join(", "),
            axis.values.join(", ")
        ));
    }
    if given && values > MOST {
        return Err(format!("--vary {path} has {values} values: at most {MOST} fit one picture"));
    }
    let together = together(experiment, place);
    let mut panels: Vec<Panel<'a>> = Vec::new();
    for run in runs(experiment).filter(|run| run.policy == 0) {
        let places = &experiment.configurations[run.configuration].places;
        let others = places.iter().enumerate().all(|(at, value)| together.contains(&at) || *value == 0);
        if others && panels.len() < MOST {
            let value = |at: &usize| names.value(run.configuration, *at, &experiment.axes[*at]);
            let values: Vec<String> = together.iter().filter_map(value).collect();
            let each = together.iter().zip(&values);
            let label: Vec<String> = each.map(|(at, value)| format!("{}={value}", names.of(*at))).collect();
            let label = label.join(", ");
            let at = if panels.is_empty() {
                format!("with {label}")
            } else {
                format!("with {}", values.join(", "))
            };
            panels.push(Panel { label, place: at, plan: run });
        }
    }
    if panels.len() < 2 {
        return Err(format!(
            "--vary {path}: the sweep has one of its values with the first values of the other paths; name \
             two to four, `--vary {path}={}`",
            axis.values.iter().take(MOST).cloned().collect::<Vec<_>>().join(",")
        ));
    }
    let policy = experiment.policies.first().map_or("", String::as_str);
    let mut remarks = Vec::new();
    if values > MOST {
        let (here, there) = axis.values.split_at(MOST);
        let (here, there) = (here.join(","), there.join(", "));
        remarks.push(format!("left out: {path}={there}; `--vary {path}={here}` names the values to show"));
    }
    remarks.extend(names.open(0, Some(&together)));
    if let [_, others @ ..] = &experiment.policies[..]
        && !others.is_empty()
    {
        remarks.push(format!("shown under {policy}; --policy NAME chooses {}", others.join(" or ")));
    }
    let title = title(experiment, &format!(" under {policy}"), &names.settings(0, &together), panels.first());
    Ok(Choice { panels, title, remarks, aim: Aim::Barriers, varied: Some((&axis.path, policy)), pair: None })
}

/// An axis, and those whose values follow from its value: paths of one `zip`, and of a `sample`.
fn together(experiment: &Experiment, place: usize) -> Vec<usize> {
    let follows = |at: &usize| {
        let mut values: BTreeMap<usize, usize> = BTreeMap::new();
        let varies = experiment.axes[*at].values.len() > 1;
        varies
            && experiment.configurations.iter().all(|one| {
                let value = *values.entry(one.places[place]).or_insert(one.places[*at]);
                value == one.places[*at]
            })
    };
    std::iter::once(place)
        .chain((0..experiment.axes.len()).filter(|at| *at != place && follows(at)))
        .collect()
}

/// A sentence about panels of `vary` that are equal.
#[must_use]
pub fn equal(choice: &Choice<'_>, tracks: &[Track]) -> Option<String> {
    let (path, policy) = choice.varied?;
    let same = |pair: &[Track]| pair[0].recording == pair[1].recording && pair[0].end == pair[1].end;
    tracks
        .windows(2)
        .all(same)
        .then(|| format!("--vary {path} changes nothing under {policy} in this window: the panels are equal"))
}

/// The settings without which the same runs are shown. `load` reads the scenario with other overrides.
pub fn without_effect<'p>(
    choice: &Choice<'_>,
    asked: Asked<'_>,
    overrides: &'p Overrides,
    load: impl Fn(&Overrides) -> Option<Experiment>,
) -> Vec<&'p String> {
    let mut found = Vec::new();
    for (at, setting) in overrides.set.iter().enumerate() {
        let path = setting.split('=').next().unwrap_or_default().trim();
        let mut set = overrides.set.clone();
        set.remove(at);
        let Some(other) = load(&Overrides { set, ..overrides.clone() }) else { continue };
        // The name is in the title; a value of a swept path may be the first one.
        if path == "name" || other.axes.iter().any(|axis| axis.path == path) {
            continue;
        }
        let without = match choice.pair {
            Some(same) => Ok(pair(&other, same)),
            None => choose(&other, asked),
        };
        let Ok(without) = without else { continue };
        let pairs = choice.panels.iter().zip(&without.panels);
        if choice.panels.len() == without.panels.len()
            && pairs.into_iter().all(|(a, b)| alike(a.plan, b.plan))
        {
            found.push(setting);
        }
    }
    found
}

/// The first replicate of every policy and configuration.
pub fn runs(experiment: &Experiment) -> impl Iterator<Item = &RunPlan> {
    experiment.runs.iter().filter(|run| run.alone.is_none() && run.replicate == 0)
}

/// The scenario, the policy, settings, and the seed.
fn title(experiment: &Experiment, under: &str, settings: &[String], first: Option<&Panel<'_>>) -> String {
    let seed = first.map_or(experiment.seed, |panel| panel.plan.options.seed);
    let mut parts = vec![format!("{}{under}", experiment.name)];
    parts.extend(settings.iter().cloned());
    parts.push(format!("seed {seed}"));
    parts.join(", ")
}

/// Short names of the axes of a scenario.
struct Names<'a> {
    experiment: &'a Experiment,
}

impl<'a> Names<'a> {
    const fn new(experiment: &'a Experiment) -> Self {
        Self { experiment }
    }

    /// The name of an axis; without the application where there is one only.
    fn of(&self, place: usize) -> String {
        let paths: Vec<&str> = self.experiment.axes.iter().map(|axis| axis.path.as_str()).collect();
        let name = short(paths[place], &paths);
        match &self.experiment.apps[..] {
            [only] => name.strip_prefix(&format!("{only}.")).map_or(name.clone(), str::to_owned),
            _ => name,
        }
    }

    /// The settings of a configuration, but for some axes.
    fn settings(&self, configuration: usize, without: &[usize]) -> Vec<String> {
        let axes = self.experiment.axes.iter().enumerate().filter(|(at, _)| !without.contains(at));
        axes.filter_map(|(at, axis)| {
            Some(format!("{}={}", self.of(at), self.value(configuration, at, axis)?))
        })
        .collect()
    }

    fn value(&self, configuration: usize, at: usize, axis: &Axis) -> Option<String> {
        let place = *self.experiment.configurations.get(configuration)?.places.get(at)?;
        axis.values.get(place).map(|value| plain(value))
    }

    /// How to see the other configurations of the sweep.
    /// `varied`: the axes of which the values are stacked.
    fn open(&self, configuration: usize, varied: Option<&[usize]>) -> Option<String> {
        let axes = self.experiment.axes.iter().enumerate();
        let stacked = varied.unwrap_or_default();
        let open: Vec<(usize, &Axis)> =
            axes.filter(|(at, axis)| axis.values.len() > 1 && !stacked.contains(at)).collect();
        let first = open.first()?.1;
        let shown: Vec<String> = open
            .iter()
            .filter_map(|(at, axis)| Some(format!("{}={}", axis.path, self.value(configuration, *at, axis)?)))
            .collect();
        let how: Vec<String> = open.iter().map(|(_, axis)| format!("--set {}=...", axis.path)).collect();
        let stack = match varied {
            Some(_) => String::new(),
            None => format!(", --vary {} stacks its values", first.path),
        };
        Some(format!(
            "shown with {}; {} shows another configuration of the sweep{stack}",
            shown.join(", "),
            how.join(" ")
        ))
    }
}
