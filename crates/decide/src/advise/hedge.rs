//! Two things that nobody states and that decide how many threads are best: how much a second hardware thread
//! of a core adds, and whether the host is ever quite idle. The best settings of a search are judged at the
//! low end of the one and beside one busy task of the other.

use std::collections::BTreeSet;

use notation::number::ratio;
use scenario::plan::{Experiment, Input};
use sim_core::time::Span;

use super::levers::{Choice, Lever};
use super::race::{COLLAPSE, Tried, WORTH, paired};
use super::words;
use crate::goal::Goal;
use crate::trial::{self, Dedicated, Failed, Means, Subject, Wanted};

/// A team gives up so much of its speed on an idle host at most to leave a cpu free. What the scenario says
/// goes before what it does not say: a larger loss is said, and not advised.
pub const FREE: f64 = 0.03;
/// Seeds of the runs beside a busy task: a loss of more than twice shows in each of them.
const SEEDS: u32 = 3;
/// A run beside a busy task is cut off at this multiple of the best time without it: it has lost.
const CUT: f64 = 8.0;

/// What scenarios rarely state, each as `path=value` pairs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Worlds {
    /// The least that a second hardware thread adds; none where that is measured or does not act.
    pub low: Option<Low>,
    /// One busy task of somebody else; none where the scenario states what runs beside the program.
    pub busy: Option<String>,
}

/// The low end of what second hardware threads add.
#[derive(Clone, PartialEq, Debug)]
pub struct Low {
    set: Vec<String>,
    /// Work of two hardware threads of a core over that of one: from caches and from memory, as assumed.
    assumed: [f64; 2],
    /// The same at the low end.
    least: [f64; 2],
}

impl Low {
    /// The same for who does not wait for memory.
    #[must_use]
    pub fn of_caches(self) -> Self {
        let [assumed, least] = [self.assumed, self.least].map(|[caches, _]| [caches, caches]);
        Self { assumed, least, ..self }
    }
}

impl Worlds {
    /// Those of a scenario.
    #[must_use]
    pub fn of(experiment: &Experiment) -> Self {
        let own = experiment.uncertain.iter().map(Input::stated);
        let of_machine = experiment.machines.iter().flat_map(|origin| &origin.inputs).cloned();
        let inputs: Vec<Input> = own.chain(of_machine).collect();
        let named = |name: &str| inputs.iter().find(|input| input.name.rsplit('.').next() == Some(name));
        let speed = |input: &Input, at: usize| 2.0 * input.numbers.get(at).map_or(0.0, |n| *n as f64) / 1e3;
        let low = named("smt_compute").map(|compute| {
            let memory = named("smt_memory");
            let pair = |input: &Input| {
                let name = input.name.rsplit('.').next().unwrap_or_default();
                format!("machine.{name}={}", input.low)
            };
            let both = |at| [speed(compute, at), memory.map_or(speed(compute, at), |input| speed(input, at))];
            Low {
                set: [Some(compute), memory].into_iter().flatten().map(pair).collect(),
                assumed: both(0),
                least: both(1),
            }
        });
        let foreground = experiment.background.iter().filter(|background| !**background).count();
        let alone = foreground == 1 && experiment.apps.len() == 1;
        let name = (0..).map(|n| format!("other{n}")).find(|name| !experiment.apps.contains(name));
        let busy = name.filter(|_| alone);
        let busy = busy.map(|name| format!("apps.{name}={{ workload: hog, background: true, tasks: 1 }}"));
        Self { low, busy }
    }
}

/// What a setting is judged with.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    /// The scenario.
    pub subject: &'a Subject<'a>,
    /// How runs are made.
    pub means: Means<'a>,
    /// What counts.
    pub goal: &'a Goal,
    /// What slowdowns refer to.
    pub dedicated: Option<&'a Dedicated>,
}

/// Settings in another world, and the runs and events that it took.
pub struct Elsewhere {
    /// The settings, in the same order, with what their seeds reached there.
    pub tried: Vec<Tried>,
    /// Runs.
    pub runs: usize,
    /// Events.
    pub events: u64,
}

impl Judge<'_> {
    fn elsewhere(
        self,
        more: &[String],
        tried: &[&Tried],
        seeds: u32,
        at_most: Option<f64>,
    ) -> Result<Elsewhere, Failed> {
        let at_most = at_most.filter(|_| self.goal.is_end()).map(|s| Span::from_ns((s * 1e9) as u64));
        let wanted = tried.iter().map(|tried| {
            let mut setting = tried.setting.clone();
            setting.set = [more, &setting.set].concat();
            Wanted { setting, replicates: 0..seeds, draw: None, at_most }
        });
        let wanted: Vec<Wanted> = wanted.collect();
        let trials = trial::run(self.subject, &wanted, self.dedicated, self.means)?;
        let values = |trial: &trial::Trial| -> Vec<Option<f64>> {
            trial.values.iter().map(|values| self.goal.value(values.as_ref()?)).collect()
        };
        Ok(Elsewhere {
            runs: wanted.len() * seeds as usize,
            events: trials.iter().map(|trial| trial.events).sum(),
            tried: tried
                .iter()
                .zip(&trials)
                .map(|(one, trial)| Tried { values: values(trial), ..(*one).clone() })
                .collect(),
        })
    }

    /// Settings where a second hardware thread adds the least.
    ///
    /// # Errors
    /// As [`trial::run`].
    pub fn at_low(self, low: &Low, tried: &[&Tried], seeds: u32) -> Result<Elsewhere, Failed> {
        self.elsewhere(&low.set, tried, seeds, None)
    }

    /// Settings beside one busy task. `alone`: the best time without it, in s.
    ///
    /// # Errors
    /// As [`trial::run`].
    pub fn beside(self, busy: &str, tried: &[&Tried], seeds: u32, alone: f64) -> Result<Elsewhere, Failed> {
        self.elsewhere(&[busy.to_owned()], tried, seeds.min(SEEDS), Some(alone * CUT))
    }
}

/// Whether the first setting is worse than the second one, by what matters.
#[must_use]
pub fn loses(goal: &Goal, one: &Tried, other: &Tried) -> bool {
    other.complete().is_some() && paired(goal, one, other).is_none_or(|(mean, _)| mean > 1.0 + WORTH)
}

/// How many times as long a setting takes beside a busy task as without one; none where it was cut off.
#[must_use]
pub fn loss(goal: &Goal, alone: &Tried, beside: &Tried) -> Option<f64> {
    Some(goal.ratio(beside.mean()?, alone.mean()?))
}

/// Whether it takes more than twice as long beside a busy task.
#[must_use]
pub fn collapses(goal: &Goal, alone: &Tried, beside: &Tried) -> bool {
    loss(goal, alone, beside).is_none_or(|loss| loss > COLLAPSE)
}

/// What is not advised although it is better as the scenario is stated.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Barred {
    /// Teams of more threads than cores.
    pub above_cores: bool,
    /// Numbers of tasks and ways to wait.
    pub groups: BTreeSet<Choice>,
}

/// A doubt about the advice that nobody's values settle.
#[derive(Clone, PartialEq, Debug)]
pub enum Hedge {
    /// More threads than cores would be better, if second hardware threads add as much as is assumed.
    SecondThreads {
        /// The setting with more threads: how many, and the setting.
        other: (u64, Choice),
        /// How many times as long that takes as the advised one, as assumed and at the low end.
        ratios: [f64; 2],
        /// The two worlds.
        low: Low,
    },
    /// The setting that is best on an idle host collapses beside one busy task.
    Busy {
        /// The advised setting is that one: the other costs too much.
        kept: bool,
        /// The setting that it is not: one that collapses, or where that is advised, one that does not.
        other: (u64, Choice),
        /// How many times as long the other one takes as the advised one on an idle host.
        idle: f64,
        /// How many times as long the advised one and the other one take beside one busy task; none: more
        /// than eight times.
        beside: [Option<f64>; 2],
    },
}

/// `1.24`, or `1.24 to 1.7`.
fn between([from_cache, from_memory]: [f64; 2]) -> String {
    let (a, b) = (ratio(from_cache), ratio(from_memory));
    if a == b { a } else { format!("{a} (in caches) to {b} (in memory)") }
}

/// `7.9 times`, `over 8 times`.
fn times(loss: Option<f64>) -> String {
    loss.map_or_else(|| format!("over {CUT} times"), |loss| format!("{} times", ratio(loss)))
}

/// A setting as the subject of a sentence, always with its number of tasks.
fn named(levers: &[Lever], (tasks, choice): &(u64, Choice)) -> String {
    let words = words::choice(levers, choice);
    let count = notation::number::plural(usize::try_from(*tasks).unwrap_or(usize::MAX), "task", "tasks");
    if choice.iter().all(|at| *at == 0) {
        format!("what is there now ({count})")
    } else if words.starts_with(|c: char| c.is_ascii_digit()) {
        words
    } else {
        format!("{count}, {words}")
    }
}

impl Hedge {
    /// As a sentence.
    #[must_use]
    pub fn sentence(&self, levers: &[Lever]) -> String {
        match self {
            Self::SecondThreads { other, ratios: [assumed, least], low } => format!(
                "{}: {} times as long as the advice if two hardware threads of a core do {} times the \
                 work of one, as is assumed; {} times as long if they do {} times; measure with oversim \
                 calibrate host",
                named(levers, other),
                ratio(*assumed),
                between(low.assumed),
                ratio(*least),
                between(low.least),
            ),
            Self::Busy { kept: false, other, idle, beside: [own, theirs] } => format!(
                "for a host that is not always idle: beside one busy task {} would take {} as long as \
                 alone, the advice {}; alone {} times as long as the advice",
                named(levers, other),
                times(*theirs),
                times(*own),
                ratio(*idle),
            ),
            Self::Busy { kept: true, other, idle, beside: [own, theirs] } => format!(
                "for an idle host only: beside one busy task the advice takes {} as long as alone, {} {}; \
                 alone {} times as long as the advice",
                times(*own),
                named(levers, other),
                times(*theirs),
                ratio(*idle),
            ),
        }
    }
}
