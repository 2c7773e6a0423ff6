//! The runs of groups of programs: who runs again how often, and how many replicates there are.

use experiment::PolicyRegistry;
use experiment::measured::Values;
use experiment::metrics::ALL_APPS;
use experiment::number::listed;
use experiment::statistics::summarise;

use super::programs::Programs;
use crate::trial::{self, Failed, Means, Wanted};

/// How many replicates are run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Effort {
    /// At least so many.
    pub least: u32,
    /// At most so many.
    pub most: u32,
    /// More are added until the half-widths of the 95 % intervals of all slowdowns of a group are at most
    /// this part of their means.
    pub narrow: f64,
}

/// Replicates that an interval needs at least: with two, Student's t is 12.7. As in `oversim sweep`.
pub const FEWEST: u32 = 3;

impl Default for Effort {
    /// One per cent is less than the model can state; ten replicates keep a dozen programs below a minute.
    fn default() -> Self {
        Self { least: FEWEST, most: 10, narrow: 0.01 }
    }
}

/// The part of the longest program's time for which another one may have ended for the last time: as much as
/// the default interval of a slowdown.
const ALONE: f64 = 0.01;
/// How often a program runs again at most. One that is so short changes the other one's time by its presence
/// and not by its length; without a limit a program of milliseconds would run again without end.
pub const MOST_AGAIN: u32 = 64;
/// Attempts to find how often programs run again: the first guess is right unless they slow each other
/// down very unequally.
const ATTEMPTS: usize = 8;

/// Where cpu time goes besides work: names in results, and the parts of the breakdown of each.
pub(super) const PARTS: [(&str, &[&str]); 8] = [
    ("memory", &["breakdown_memory_stall", "breakdown_remote"]),
    ("hardware threads", &["breakdown_smt"]),
    ("cache refills", &["breakdown_refill"]),
    ("polling", &["breakdown_spin", "breakdown_yield"]),
    ("locks", &["breakdown_lock_wait"]),
    ("switches", &["breakdown_switch", "breakdown_migration"]),
    ("kernel", &["breakdown_page_init", "breakdown_kernel", "breakdown_daemon"]),
    (QUEUE, &[]),
];

/// Time in run queues.
pub(super) const QUEUE: &str = "queueing for a cpu";

/// What one run of a group measured.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Run {
    /// For each place of the group the times of its turns from arrival to end, seconds.
    pub(super) turns: Vec<Vec<f64>>,
    /// For each place the work of all its turns, seconds.
    pub(super) work: Vec<f64>,
    /// Task-seconds for [`PARTS`].
    pub(super) parts: Vec<f64>,
}

impl Run {
    /// When the longest first turn ended.
    fn longest(&self) -> f64 {
        self.turns.iter().filter_map(|turns| turns.first()).copied().fold(0.0, f64::max)
    }

    /// The mean time of the turns that others were beside from begin to end.
    pub(super) fn time(&self, place: usize) -> Option<f64> {
        // Ends are sums of times: a last bit must not decide.
        let last = self.longest() * (1.0 + 1e-9);
        let (mut end, mut sum, mut count) = (0.0, 0.0, 0);
        for turn in self.turns.get(place)? {
            end += turn;
            if end > last {
                break;
            }
            sum += turn;
            count += 1;
        }
        (count > 0).then(|| sum / f64::from(count))
    }

    /// The smallest part of the longest first turn in which a program ran, over all programs.
    pub(super) fn covered(&self) -> f64 {
        let longest = self.longest();
        let part = |turns: &Vec<f64>| turns.iter().sum::<f64>() / longest;
        self.turns.iter().map(part).fold(1.0, f64::min)
    }

    /// How often each program has to run again for the others to be never alone.
    fn needed(&self) -> Vec<u32> {
        let longest = self.longest();
        let of = |turns: &Vec<f64>| {
            let mean = turns.iter().sum::<f64>() / turns.len().max(1) as f64;
            again(longest, mean)
        };
        self.turns.iter().map(of).collect()
    }
}

/// How often a program of this time runs again beside one that is so long.
fn again(longest: f64, time: f64) -> u32 {
    let turns = libm::ceil(longest * (1.0 - ALONE) / time);
    if turns.is_finite() { (turns as u32).saturating_sub(1).min(MOST_AGAIN) } else { 0 }
}

/// A group of programs with its runs.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Group {
    /// The programs, in order; one several times if it runs beside itself.
    pub(super) members: Vec<usize>,
    /// How often each runs again.
    pub(super) again: Vec<u32>,
    /// The runs by replicate; none for one that did not complete.
    pub(super) runs: Vec<Option<Run>>,
    /// Why the first run that did not complete ended; empty if all did.
    pub(super) ended: String,
}

impl Group {
    pub(super) fn new(members: Vec<usize>) -> Self {
        let again = vec![0; members.len()];
        Self { members, again, runs: Vec::new(), ended: String::new() }
    }

    /// The slowdowns of a place by replicate, against the runs alone with the same seeds.
    pub(super) fn slowdowns(&self, place: usize, alone: &[Self]) -> Vec<f64> {
        let Some(by_itself) = self.members.get(place).and_then(|program| alone.get(*program)) else {
            return Vec::new();
        };
        let of = |(run, alone): (&Option<Run>, &Option<Run>)| {
            let (run, alone) = (run.as_ref()?, alone.as_ref()?);
            Some(run.time(place)? / alone.time(0)?)
        };
        self.runs.iter().zip(&by_itself.runs).filter_map(of).collect()
    }

    fn is_narrow(&self, alone: &[Self], effort: Effort) -> bool {
        (0..self.members.len()).all(|place| {
            let summary = summarise(&self.slowdowns(place, alone));
            let half = summary.and_then(|summary| Some((summary.half_width()?, summary.mean)));
            half.is_none_or(|(half, mean)| half <= effort.narrow * mean)
        })
    }
}

/// What runs are made with.
#[derive(Clone, Copy)]
pub(super) struct Bench<'a> {
    pub(super) programs: &'a Programs,
    pub(super) policies: &'a PolicyRegistry,
    /// Further changes of the scenario.
    pub(super) more: &'a [String],
    pub(super) effort: Effort,
    pub(super) means: Means<'a>,
}

impl Bench<'_> {
    /// Runs the programs alone, then the groups, each as often as needed.
    pub(super) fn run(self, groups: &mut [Group]) -> Result<Vec<Group>, Failed> {
        let count = self.programs.programs.len();
        let mut alone: Vec<Group> = (0..count).map(|program| Group::new(vec![program])).collect();
        self.add(&mut alone, |_| true, self.effort.least)?;
        if let Some(group) = alone.iter().find(|group| group.runs.iter().all(Option::is_none)) {
            let name = self.programs.programs.get(group.members[0]).map_or("", |program| &program.name);
            return Err(Failed::Refused(format!("`{name}` does not end by itself: {}", group.ended)));
        }
        let time = |program: usize| {
            let runs = alone[program].runs.iter().flatten();
            runs.filter_map(|run| run.time(0)).next().unwrap_or(0.0)
        };
        for group in groups.iter_mut() {
            let longest = group.members.iter().map(|program| time(*program)).fold(0.0, f64::max);
            group.again = group.members.iter().map(|program| again(longest, time(*program))).collect();
        }
        self.add(groups, |_| true, 1)?;
        self.cover(groups)?;
        self.add(groups, |_| true, self.effort.least)?;
        self.cover(groups)?;
        for replicates in self.effort.least + 1..=self.effort.most {
            let wide: Vec<bool> = groups.iter().map(|group| !group.is_narrow(&alone, self.effort)).collect();
            if !wide.contains(&true) {
                break;
            }
            self.add(&mut alone, |_| true, replicates)?;
            let mut open: Vec<&mut Group> =
                groups.iter_mut().zip(&wide).filter(|(_, wide)| **wide).map(|(group, _)| group).collect();
            self.add_to(&mut open, replicates)?;
            self.cover(groups)?;
        }
        Ok(alone)
    }

    /// Lets programs run again more often, and repeats the runs, until no program is alone for long.
    fn cover(self, groups: &mut [Group]) -> Result<(), Failed> {
        for _ in 0..ATTEMPTS {
            let mut open: Vec<&mut Group> = Vec::new();
            let mut most = 0;
            for group in groups.iter_mut() {
                let short = group.runs.iter().flatten().find(|run| run.covered() < 1.0 - ALONE);
                let Some(short) = short else { continue };
                let needed = short.needed().into_iter().zip(&group.again).zip(&short.turns);
                let longest = short.longest();
                let wanted: Vec<u32> = needed
                    .map(|((needed, now), turns)| {
                        let missing = turns.iter().sum::<f64>() < longest * (1.0 - ALONE);
                        let more = if missing { needed.max(now + 1) } else { *now };
                        more.min(MOST_AGAIN)
                    })
                    .collect();
                if wanted != group.again {
                    most = most.max(group.runs.len());
                    group.again = wanted;
                    open.push(group);
                }
            }
            if open.is_empty() {
                return Ok(());
            }
            let counts: Vec<usize> = open.iter().map(|group| group.runs.len()).collect();
            for count in 1..=most {
                let due = open.iter_mut().zip(&counts).filter(|(_, had)| **had == count);
                let mut due: Vec<&mut Group> = due.map(|(group, _)| &mut **group).collect();
                due.iter_mut().for_each(|group| group.runs.clear());
                self.add_to(&mut due, count as u32)?;
            }
        }
        Ok(())
    }

    /// Adds the replicates that the groups of a choice lack up to this number.
    fn add(self, groups: &mut [Group], which: impl Fn(&Group) -> bool, count: u32) -> Result<(), Failed> {
        let mut open: Vec<&mut Group> = groups.iter_mut().filter(|group| which(group)).collect();
        self.add_to(&mut open, count)
    }

    fn add_to(self, groups: &mut [&mut Group], count: u32) -> Result<(), Failed> {
        let open = groups.iter_mut().filter(|group| (group.runs.len() as u32) < count);
        let mut open: Vec<&mut Group> = open.map(|group| &mut **group).collect();
        let wanted = |group: &&mut Group| Wanted {
            setting: self.programs.setting(&group.members, &group.again, self.more),
            replicates: group.runs.len() as u32..count,
            draw: None,
            at_most: None,
        };
        let all: Vec<Wanted> = open.iter().map(wanted).collect();
        if all.is_empty() {
            return Ok(());
        }
        let trials = trial::run(&self.programs.subject(self.policies), &all, None, self.means)?;
        for (group, trial) in open.iter_mut().zip(trials) {
            let run = |values: &Option<Values>| self.measured(group, values.as_ref()?);
            let runs: Vec<Option<Run>> = trial.values.iter().map(run).collect();
            group.runs.extend(runs);
            if group.ended.is_empty() {
                group.ended = trial.ended;
            }
        }
        Ok(())
    }

    /// What a run measured of a group; none if a value is missing.
    fn measured(self, group: &Group, values: &Values) -> Option<Run> {
        let (mut turns, mut work, mut queued) = (Vec::new(), Vec::new(), 0.0);
        for (place, again) in group.again.iter().enumerate() {
            let tasks = self.programs.programs.get(*group.members.get(place)?)?.tasks;
            let (mut times, mut done) = (Vec::new(), 0.0);
            for turn in 0..=*again {
                let of = values.get(&self.programs.instance(&group.members, place, turn))?;
                times.push(*of.get("turnaround")?);
                done += of.get("work")?;
                queued += of.get("waiting_time")? * f64::from(tasks);
            }
            turns.push(times);
            work.push(done);
        }
        let all = values.get(ALL_APPS)?;
        let whole = all.get("makespan")? * f64::from(self.programs.cpus);
        let share = |name: &&str| all.get(*name).copied();
        let part = |(name, of): &(&str, &[&str])| {
            if *name == QUEUE {
                Some(queued)
            } else {
                Some(of.iter().map(share).sum::<Option<f64>>()? * whole)
            }
        };
        let parts = PARTS.iter().map(part).collect::<Option<Vec<f64>>>()?;
        Some(Run { turns, work, parts })
    }
}

/// The groups of which runs did not complete, as a sentence; none if all did.
pub(super) fn incomplete(groups: &[Group], programs: &Programs) -> Option<String> {
    let bad: Vec<&Group> = groups.iter().filter(|group| group.runs.iter().any(Option::is_none)).collect();
    let first = bad.first()?;
    let of = first.members.iter().filter_map(|program| programs.programs.get(*program));
    let names: Vec<&str> = of.map(|program| program.name.as_str()).collect();
    Some(format!(
        "Of {} of {} groups a run did not complete and counts in no number; the first: {} together: {}.",
        bad.len(),
        groups.len(),
        listed(&names),
        first.ended
    ))
}
