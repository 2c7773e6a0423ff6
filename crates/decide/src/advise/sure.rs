//! How sure advice is: uncertain values drawn from their ranges together, each of them moved alone to its
//! ends, and other busy tasks beside the programs, with the seeds of the search.

use notation::number::plural;
use notation::parameter::Kind;
use scenario::plan::{Experiment, UncertainValue};
use scenario::{Draw, settable};
use sim_core::time::Span;

use super::Effort;
use super::levers::{Program, shared};
use super::search::{COLLAPSE, Found, THREE, Tried, paired};
use crate::goal::Goal;
use crate::trial::{self, Failed, Means, Subject, Wanted};

/// Advice holds where it is no more than this part slower than another setting.
const HOLDS: f64 = 0.01;
/// Settings beside the advised one that are looked at.
const RIVALS: usize = 4;
/// Values that are moved alone, at most.
const MOVED: usize = 48;
/// Draws, and values that are moved, however few runs the search has.
const LEAST: usize = 4;
/// Steps of the bisection between a value at which advice holds and one at which it does not: 1/64 of the
/// way.
const STEPS: u32 = 6;
/// A run is cut off at this multiple of the time of the advised setting as it is.
const HOPELESS: f64 = 20.0;
/// What a scenario does not state of a program and often matters: the memory traffic of a task and the
/// variation of its work between two barriers, each from its default. The upper ends are assumptions: a core
/// that does little but copy, and a program that nobody has balanced. They bound a look and enter no result.
const UNSTATED: [(&str, &str, &str); 2] = [("demand", "0B/s", "8GB/s"), ("spread", "0%", "20%")];

/// A value that changes the advice.
#[derive(Clone, PartialEq, Debug)]
pub struct Flip {
    /// Its path, or what it is.
    pub what: String,
    /// The value as it is; empty where the scenario does not state it.
    pub now: String,
    /// Its range as looked at.
    pub range: [String; 2],
    /// From here on another setting is better.
    pub at: String,
    /// The advice changes above that value; else below.
    pub above: bool,
    /// Position of the better setting in [`Found::last`]; none: as it is; the habit is in the list.
    pub to: Option<usize>,
    /// How many times as long the advised setting then takes, at the end of the range.
    pub loss: f64,
    /// Nobody stated the value: it is a default.
    pub unstated: bool,
}

/// Runs that take many times as long as most, with one of the settings that were tried.
#[derive(Clone, PartialEq, Debug)]
pub struct Rare {
    /// How many times its median the worst run of any setting took.
    pub worst: f64,
    /// Runs of the advised setting.
    pub runs: usize,
    /// Those that took more than twice their median.
    pub seen: usize,
}

impl Rare {
    /// What the search saw; none where no run of any setting took more than twice its median.
    #[must_use]
    pub fn of(found: &Found) -> Option<Self> {
        let advised = found.last.first()?;
        let Found { goal, worst, .. } = found;
        let rare = Self { worst: *worst, runs: advised.values.len(), seen: advised.collapses(goal) };
        (rare.worst > COLLAPSE).then_some(rare)
    }

    /// As a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { worst, runs, seen } = self;
        let times = notation::number::ratio(*worst);
        let runs_of = plural(*runs, "run", "runs");
        if *seen > 0 {
            return format!(
                "{seen} of {runs_of} of the advised setting took over twice the median of these runs; its \
                 mean includes them"
            );
        }
        let most = notation::number::ratio(100.0 * (THREE / *runs as f64).min(1.0));
        format!(
            "a run of another setting took {times} times its median; none of {runs_of} of the advised one \
             took over twice, so at most {most} % of its runs do (with 95 % confidence)"
        )
    }
}

/// How sure advice is.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sure {
    /// Uncertain values that were drawn.
    pub inputs: usize,
    /// Draws.
    pub draws: u32,
    /// Draws in which no other setting was more than 1 % better.
    pub holds: u32,
    /// Values that change the advice within their range.
    pub flips: Vec<Flip>,
    /// Values that were moved alone.
    pub moved: usize,
    /// The number of other busy tasks at which the advice changes, if it does with at most one for each cpu.
    pub load: Option<Flip>,
    /// Busy tasks up to which it was tried.
    pub most_load: u32,
    /// Runs.
    pub runs: usize,
    /// Rare long runs; none where no setting had any.
    pub rare: Option<Rare>,
}

/// A value that can be moved.
struct Moved {
    path: String,
    now: String,
    unstated: bool,
    /// The value at a place from 0 to 1.
    at: Box<dyn Fn(f64) -> String>,
}

struct Looks<'a> {
    subject: &'a Subject<'a>,
    means: Means<'a>,
    found: &'a Found,
    /// The advised setting first; `None` is the setting as it is.
    rivals: Vec<(Option<usize>, &'a Tried)>,
    /// Seeds that a better setting must be better with.
    seeds: u32,
    runs: usize,
}

/// Looks how sure the advice of a search is, with about as many runs as the search.
///
/// # Errors
/// The user interrupted, or the simulator refuses a run.
pub fn sure(
    subject: &Subject<'_>,
    experiment: &Experiment,
    (programs, found): (&[Program], &Found),
    effort: Effort,
    means: Means<'_>,
) -> Result<Sure, Failed> {
    let rivals = rivals(found);
    let mut looks = Looks { subject, means, found, rivals, seeds: effort.replicates.max(2), runs: 0 };
    let mut sure = Sure { rare: Rare::of(found), ..Sure::default() };
    if looks.rivals.len() < 2 {
        return Ok(sure);
    }
    let stated = stated(experiment);
    sure.inputs = stated.len();
    // Of each value both ends are looked at, and of draws perhaps all seeds: no more runs than the search
    // has.
    let each = effort.runs / looks.rivals.len();
    if !stated.is_empty() {
        sure.draws = effort.draws.min((each / looks.seeds as usize).max(LEAST) as u32);
        sure.holds = looks.drawn(sure.draws)?;
    }
    // What nobody stated first: the machine's values often matter less.
    let moved = unstated(subject, experiment, programs).into_iter().chain(stated);
    let moved: Vec<Moved> = moved.take(MOVED.min((each / 2).max(LEAST))).collect();
    sure.moved = moved.len();
    for one in moved {
        sure.flips.extend(looks.flip(&one)?);
    }
    sure.flips.sort_by(|a, b| b.loss.total_cmp(&a.loss));
    sure.most_load = shared(experiment).map_or(0, |plan| plan.machine.cpus());
    sure.load = looks.load(experiment, sure.most_load)?;
    sure.runs = looks.runs;
    Ok(sure)
}

/// The advised setting, then the best ones of other numbers of tasks and the next best ones, then what is as
/// it is, if it may be advised. Each with its place in the last comparison.
fn rivals(found: &Found) -> Vec<(Option<usize>, &Tried)> {
    let mut sizes = std::collections::BTreeSet::new();
    let (first, more): (Vec<_>, Vec<_>) =
        found.last.iter().enumerate().partition(|(_, tried)| sizes.insert(found.tasks(&tried.choice)));
    // Of the other sizes half of the places; the rest for other ways to wait and to be bound.
    let few = (1 + RIVALS / 2).min(first.len());
    let (few, others) = first.split_at(few);
    let chosen = few.iter().chain(&more).chain(others).take(RIVALS + 1);
    let mut rivals: Vec<(Option<usize>, &Tried)> = chosen.map(|(at, tried)| (Some(*at), *tried)).collect();
    let known = rivals.iter().any(|(_, tried)| tried.choice == found.as_it_is.choice);
    if !known && found.admits(&found.as_it_is.choice) {
        rivals.push((None, &found.as_it_is));
    }
    rivals
}

/// The uncertain values of machine and scenario.
fn stated(experiment: &Experiment) -> Vec<Moved> {
    let own = experiment.uncertain.iter().map(|value| {
        let UncertainValue { path, value: now, .. } = value.clone();
        let value = value.clone();
        Moved { path, now, unstated: false, at: Box::new(move |place| value.at(place)) }
    });
    let machine = shared(experiment).map(|plan| plan.machine.name.clone()).unwrap_or_default();
    let inputs = experiment.machines.iter().filter(|origin| origin.name == machine);
    let inputs = inputs.flat_map(|origin| &origin.inputs).filter_map(|input| {
        let path = format!("machine.{}", input.name);
        if experiment.uncertain.iter().any(|value| value.path == path) {
            return None;
        }
        let kind = machines::Parameters::TABLE.iter().find(|known| known.name == input.name)?.kind;
        let [_, low, high] = input.numbers;
        let at = move |place: f64| between(kind, (low, high), place);
        Some(Moved { path, now: input.value.clone(), unstated: false, at: Box::new(at) })
    });
    own.chain(inputs).collect()
}

/// A value between two numbers of a kind, as text; by ratio where both are above 0.
fn between(kind: Kind, (low, high): (u64, u64), place: f64) -> String {
    let (low_f, high_f) = (low as f64, high as f64);
    let number =
        if low > 0 { low_f * libm::pow(high_f / low_f, place) } else { low_f + (high_f - low_f) * place };
    kind.show((number.round() as u64).clamp(low.min(high), high.max(low)))
}

/// What the scenario leaves at its default and often matters.
fn unstated(subject: &Subject<'_>, experiment: &Experiment, programs: &[Program]) -> Vec<Moved> {
    let paths = settable(subject.policies, Some(subject.text), false);
    let mut found = Vec::new();
    for program in programs {
        for (name, low, high) in UNSTATED {
            let path = format!("apps.{}.workload.{name}", program.name);
            let known = paths.iter().any(|known| known.path == path);
            let set = subject.base.set.iter().any(|pair| pair.starts_with(&path));
            let written = experiment.uncertain.iter().any(|value| value.path == path)
                || subject.text.contains(&format!("{name}:"));
            if !known || set || written {
                continue;
            }
            let kind = if name == "demand" { Kind::Rate } else { Kind::Percent };
            let numbers = [low, high].map(|text| notation::units::parse(kind, text).unwrap_or(0));
            let at = move |place: f64| {
                let number = numbers[0] as f64 + (numbers[1] - numbers[0]) as f64 * place;
                kind.show(number.round() as u64)
            };
            found.push(Moved { path, now: low.to_owned(), unstated: true, at: Box::new(at) });
        }
    }
    found
}

/// The setting that is better than the first one by more than 1 %, with all seeds together, and how many
/// times as long the first one takes; none where no one is.
fn best(goal: &Goal, tried: &[Tried]) -> Option<(usize, f64)> {
    let (first, rest) = tried.split_first()?;
    let ended = |tried: &Tried| !tried.values.contains(&None);
    let mut best: Option<(usize, f64)> = None;
    for (at, other) in rest.iter().enumerate().filter(|(_, other)| ended(other)) {
        let (ratio, half) = if ended(first) {
            let Some((ratio, half)) = paired(goal, first, other) else { continue };
            // One seed is a first look.
            (ratio, if first.values.len() > 1 { half } else { 0.0 })
        } else {
            (f64::MAX, 0.0)
        };
        if ratio > 1.0 + HOLDS && ratio - half > 1.0 && best.is_none_or(|(_, known)| ratio > known) {
            best = Some((at + 1, ratio));
        }
    }
    best
}

impl Looks<'_> {
    /// What each rival reaches with more settings, by seed.
    fn try_all(&mut self, more: &[String], draw: Option<Draw>, seeds: u32) -> Result<Vec<Tried>, Failed> {
        let goal = &self.found.goal;
        let advised = self.rivals.first().and_then(|(_, tried)| tried.mean());
        let at_most =
            advised.filter(|_| goal.is_end()).map(|time| Span::from_ns((time * HOPELESS * 1e9) as u64));
        let wanted = |tried: &Tried| {
            let mut setting = tried.setting.clone();
            // The settings of the advice win: they may be what is moved.
            let set = more.iter().filter(|pair| !states(&setting.set, pair)).cloned().collect::<Vec<_>>();
            setting.set = [set, setting.set].concat();
            Wanted { setting, replicates: 0..seeds, draw, at_most }
        };
        let wanted: Vec<Wanted> = self.rivals.iter().map(|(_, tried)| wanted(tried)).collect();
        self.runs += wanted.len() * seeds as usize;
        let trials = trial::run(self.subject, &wanted, self.found.dedicated.as_ref(), self.means)?;
        let values = |trial: &trial::Trial| -> Vec<Option<f64>> {
            trial.values.iter().map(|values| goal.value(values.as_ref()?)).collect()
        };
        let both = self.rivals.iter().zip(&trials);
        Ok(both.map(|((_, tried), trial)| Tried { values: values(trial), ..(*tried).clone() }).collect())
    }

    /// The rival that beats the advice with more settings by more than 1 %, and how many times as long the
    /// advice then takes. A first look has one seed; what it finds counts if all seeds together show it.
    fn beaten(&mut self, more: &[String], draw: Option<Draw>) -> Result<Option<(usize, f64)>, Failed> {
        for seeds in [1, self.seeds] {
            let tried = match self.try_all(more, draw, seeds) {
                // A setting that the scenario refuses says nothing.
                Err(Failed::Refused(_)) => return Ok(None),
                other => other?,
            };
            let found = best(&self.found.goal, &tried);
            if found.is_none() || seeds == self.seeds {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// In how many draws the advice holds.
    fn drawn(&mut self, draws: u32) -> Result<u32, Failed> {
        let mut holds = 0;
        for number in 0..draws {
            let draw = Draw { number, of: draws };
            holds += u32::from(self.beaten(&[], Some(draw))?.is_none());
        }
        Ok(holds)
    }

    /// Whether the advice changes when one value is at an end of its range, and where it begins to.
    fn flip(&mut self, moved: &Moved) -> Result<Option<Flip>, Failed> {
        let pair = |place: f64| vec![format!("{}={}", moved.path, (moved.at)(place))];
        let now = position(moved);
        let mut found: Option<Flip> = None;
        for end in [0.0, 1.0] {
            if (end - now).abs() < 1e-9 {
                continue;
            }
            let Some((to, loss)) = self.beaten(&pair(end), None)? else { continue };
            if found.as_ref().is_some_and(|known| known.loss >= loss) {
                continue;
            }
            let (mut holds, mut fails) = (now, end);
            for _ in 0..STEPS {
                let middle = f64::midpoint(holds, fails);
                if self.beaten(&pair(middle), None)?.is_some() { fails = middle } else { holds = middle }
            }
            let to = self.rivals.get(to).and_then(|(at, _)| *at);
            found = Some(Flip {
                what: moved.path.clone(),
                now: moved.now.clone(),
                range: [(moved.at)(0.0), (moved.at)(1.0)],
                at: (moved.at)(fails),
                above: end > now,
                to,
                loss,
                unstated: moved.unstated,
            });
        }
        Ok(found)
    }

    /// The least number of busy tasks of others at which the advice changes, up to `most`.
    fn load(&mut self, experiment: &Experiment, most: u32) -> Result<Option<Flip>, Failed> {
        let name = (0..)
            .map(|n| if n == 0 { "others".to_owned() } else { format!("others{n}") })
            .find(|name| !experiment.apps.contains(name))
            .unwrap_or_default();
        let beside =
            |tasks: u32| vec![format!("apps.{name}={{ workload: hog, background: true, tasks: {tasks} }}")];
        let mut holds = 0;
        let mut tasks = 1;
        loop {
            if let Some((to, loss)) = self.beaten(&beside(tasks), None)? {
                let mut fails = (tasks, to, loss);
                while fails.0 - holds > 1 {
                    let middle = u32::midpoint(holds, fails.0);
                    match self.beaten(&beside(middle), None)? {
                        Some((to, loss)) => fails = (middle, to, loss),
                        None => holds = middle,
                    }
                }
                let to = self.rivals.get(fails.1).and_then(|(at, _)| *at);
                return Ok(Some(Flip {
                    what: "other busy tasks".to_owned(),
                    now: "0".to_owned(),
                    range: ["0".to_owned(), most.to_string()],
                    at: fails.0.to_string(),
                    above: true,
                    to,
                    loss: fails.2,
                    unstated: false,
                }));
            }
            if tasks >= most {
                return Ok(None);
            }
            holds = tasks;
            tasks = (tasks * 4).min(most);
        }
    }
}

/// Whether settings state the path of a pair.
fn states(set: &[String], pair: &str) -> bool {
    let path = |pair: &str| pair.split('=').next().unwrap_or_default().trim().to_owned();
    set.iter().any(|known| path(known) == path(pair))
}

/// Where in its range a value is now: the place whose text is nearest, in 64ths.
fn position(moved: &Moved) -> f64 {
    if moved.unstated {
        return 0.0;
    }
    let number = |text: &str| -> f64 {
        let kinds = [Kind::Duration, Kind::Rate, Kind::Size, Kind::Percent, Kind::Factor, Kind::Count];
        let read = |kind: Kind| notation::units::parse(kind, text).ok();
        kinds.into_iter().find_map(read).map_or(f64::NAN, |number| number as f64)
    };
    let now = number(&moved.now);
    let places = (0..=64).map(|step| f64::from(step) / 64.0);
    let distance = |place: &f64| (number(&(moved.at)(*place)) - now).abs();
    places.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0.5)
}
