//! Programs together, each with each: slowdowns, which go together, which to keep apart, and why.
//!
//! *Together.* The programs of a group begin at once, and each one that has ended begins again, until the one
//! that takes longest has ended once. So the long program never runs beside an idle half, and the short one
//! is never beside the start of the long one alone: a slowdown states what a program loses while the others
//! are there, whatever their lengths. Measurements of co-runs are made in this way (Tuck, Tullsen: Initial
//! Observations of the Simultaneous Multithreading Pentium 4 Processor, PACT 2003; Vera et al.: FAME,
//! PACT 2007). A turn that ends after the longest program has ended counts in no slowdown.
//!
//! *Alone.* The same program on the whole machine, with the same policy, kernel and seeds, beside the
//! background applications of its file, which run beside every group as well.

mod causes;
mod doubts;
mod forms;
mod matching;
mod programs;
mod runs;
mod text;

use std::collections::BTreeMap;

use experiment::PolicyRegistry;
use experiment::number::plural;
use experiment::statistics::summarise;
use serde::Serialize;

pub use causes::Cause;
pub(crate) use doubts::of as doubts_of;
pub(crate) use forms::Written;
pub use forms::{COLUMNS, FORMATS};
pub use matching::{MOST_EXACT, Matching, best};
pub use programs::{Changes, File, Program, Programs};
pub use runs::{Effort, FEWEST, MOST_AGAIN};
pub use text::MOST_ROWS;

use crate::trial::{Failed, Means};
use runs::{Bench, Group};

/// A mean with its 95 % interval, which one replicate does not have.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Estimate {
    /// Mean over the replicates.
    pub mean: f64,
    /// Low end of the interval of the mean.
    pub low: Option<f64>,
    /// High end.
    pub high: Option<f64>,
}

impl Estimate {
    /// Of some values; none without one.
    fn of(values: &[f64]) -> Option<Self> {
        let summary = summarise(values)?;
        let ends = summary.ci95;
        Some(Self { mean: summary.mean, low: ends.map(|ends| ends[0]), high: ends.map(|ends| ends[1]) })
    }

    /// Whether it is certainly above a value: the interval is, or without an interval the mean.
    #[must_use]
    pub fn above(self, value: f64) -> bool {
        self.low.unwrap_or(self.mean) > value
    }

    /// Whether it is certainly below a value.
    #[must_use]
    pub fn below(self, value: f64) -> bool {
        self.high.unwrap_or(self.mean) < value
    }
}

/// A program alone.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Alone {
    /// Its name.
    pub program: String,
    /// Its tasks.
    pub tasks: u32,
    /// Its run time, seconds.
    pub seconds: Estimate,
}

/// Programs together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Together {
    /// Their positions among the programs, in order; one several times if it runs beside itself.
    pub members: Vec<usize>,
    /// Their names.
    pub programs: Vec<String>,
    /// Run time together over run time alone, for each of them; copies of one program have one value.
    pub slowdowns: Vec<Estimate>,
    /// Work done in a time in which one after the other would do 1: the sum of the programs' run times alone
    /// over those together (`stp` of `oversim list metrics`). Above 1, sharing does more than taking turns.
    pub throughput: Estimate,
    /// Time in which each runs once, when all begin at once, seconds; by the slowdowns of all that still run.
    pub seconds: Option<f64>,
    /// Replicates that count.
    pub replicates: usize,
    /// The smallest part of the longest program's time in which each of the others ran, 0 to 1.
    pub covered: f64,
    /// Where the added time went, the largest part first.
    pub causes: Vec<Cause>,
}

/// The division of the programs into groups that share, with the least total time.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Division {
    /// The groups, by position among the programs.
    pub parts: Vec<Vec<usize>>,
    /// The time of one group after the other, each program once, seconds.
    pub seconds: f64,
    /// The time of all programs one after the other, seconds.
    pub taking_turns: f64,
    /// Whether no other division takes less time; otherwise a local search found it.
    pub exact: bool,
}

/// What a matrix is.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Matrix {
    /// The form of the JSON.
    pub schema: &'static str,
    /// The files.
    pub files: Vec<String>,
    /// The machine.
    pub machine: String,
    /// The policy.
    pub policy: String,
    /// Applications that run beside everybody.
    pub beside: Vec<String>,
    /// Most programs at a time.
    pub at_a_time: usize,
    /// Seed of the first replicate.
    pub seed: u64,
    /// The programs.
    pub programs: Vec<Alone>,
    /// The groups of two and more.
    pub groups: Vec<Together>,
    /// Which go together.
    pub division: Division,
    /// What to know before it is used: sentences.
    pub doubts: Vec<String>,
}

/// Groups of a matrix at most: 62 programs two at a time, 21 three at a time.
pub const MOST_GROUPS: usize = 2_000;

/// All groups of 2 to `most` of so many programs, each program also beside itself; by size, in order.
#[must_use]
pub fn groups(programs: usize, most: usize) -> Vec<Vec<usize>> {
    let (mut all, mut last) = (Vec::new(), (0..programs).map(|one| vec![one]).collect::<Vec<_>>());
    for _ in 1..most {
        let more = |group: &Vec<usize>| {
            let from = group.last().copied().unwrap_or(0);
            let group = group.clone();
            (from..programs).map(move |next| [&group[..], &[next]].concat())
        };
        last = last.iter().flat_map(more).collect();
        all.extend(last.iter().cloned());
        if all.len() > MOST_GROUPS {
            break;
        }
    }
    all
}

/// The forms of the JSON.
const SCHEMA: &str = "oversim-matrix-1";

/// Runs the programs alone and in all groups of two to `at_a_time`.
///
/// # Errors
/// There are too many groups; a run is refused; a program does not end; the user interrupted.
pub fn matrix(
    (programs, policies): (&Programs, &PolicyRegistry),
    at_a_time: usize,
    effort: Effort,
    means: Means<'_>,
) -> Result<Matrix, Failed> {
    let wanted = groups(programs.programs.len(), at_a_time);
    if wanted.len() > MOST_GROUPS {
        return Err(Failed::Refused(format!(
            "{} up to {at_a_time} at a time are more than {MOST_GROUPS} groups: name fewer programs \
             (`--only`)",
            plural(programs.programs.len(), "program", "programs")
        )));
    }
    let Measured { alone, mut groups, incomplete } =
        measure((programs, policies), wanted, &[], effort, means)?;
    let (once, division) = {
        let table = Table::of(&alone, &groups);
        let once: Vec<Option<f64>> = groups.iter().map(|group| table.once(&group.members)).collect();
        (once, division(&table, at_a_time))
    };
    groups.iter_mut().zip(once).for_each(|(group, once)| group.seconds = once);
    let mut matrix = Matrix {
        schema: SCHEMA,
        files: programs.files.clone(),
        machine: programs.machine.clone(),
        policy: programs.policy.clone(),
        beside: programs.beside.clone(),
        at_a_time,
        seed: programs.seed,
        programs: alone,
        groups,
        division,
        doubts: Vec::new(),
    };
    matrix.doubts = incomplete.into_iter().chain(doubts_of(&matrix.groups, programs, effort)).collect();
    Ok(matrix)
}

/// What runs of programs measured.
pub(crate) struct Measured {
    pub(crate) alone: Vec<Alone>,
    /// The groups of which a run completed; without [`Together::seconds`].
    pub(crate) groups: Vec<Together>,
    /// A sentence on the runs that did not complete.
    pub(crate) incomplete: Option<String>,
}

/// Runs the programs alone and in these groups. `more`: changes of the scenario besides.
pub(crate) fn measure(
    (programs, policies): (&Programs, &PolicyRegistry),
    groups: Vec<Vec<usize>>,
    more: &[String],
    effort: Effort,
    means: Means<'_>,
) -> Result<Measured, Failed> {
    let mut groups: Vec<Group> = groups.into_iter().map(Group::new).collect();
    let runs = Bench { programs, policies, more, effort, means }.run(&mut groups)?;
    let times = programs.programs.iter().zip(&runs).map(|(program, group)| {
        let seconds: Vec<f64> = group.runs.iter().flatten().filter_map(|run| run.time(0)).collect();
        let missing = || Failed::Refused(format!("`{}` has no run time", program.name));
        let seconds = Estimate::of(&seconds).ok_or_else(missing)?;
        Ok(Alone { program: program.name.clone(), tasks: program.tasks, seconds })
    });
    let alone: Vec<Alone> = times.collect::<Result<_, Failed>>()?;
    let incomplete = runs::incomplete(&groups, programs);
    let groups = groups.iter().filter_map(|group| together(group, &runs, &alone)).collect();
    Ok(Measured { alone, groups, incomplete })
}

/// What the runs of a group say; none if no replicate completed.
fn together(group: &Group, alone: &[Group], times: &[Alone]) -> Option<Together> {
    let by_place: Vec<Vec<f64>> =
        (0..group.members.len()).map(|place| group.slowdowns(place, alone)).collect();
    let replicates = by_place.iter().map(Vec::len).min()?;
    // Copies of one program have one slowdown: their mean.
    let slowdown = |place: usize| {
        let program = group.members[place];
        let same = (0..by_place.len()).filter(|other| group.members[*other] == program);
        let same: Vec<&Vec<f64>> = same.map(|other| &by_place[other]).collect();
        let of = |at: usize| same.iter().map(|values| values[at]).sum::<f64>() / same.len() as f64;
        Estimate::of(&(0..replicates).map(of).collect::<Vec<_>>())
    };
    let throughput: Vec<f64> =
        (0..replicates).map(|at| by_place.iter().map(|values| 1.0 / values[at]).sum()).collect();
    let covered = group.runs.iter().flatten().map(runs::Run::covered).fold(1.0, f64::min);
    Some(Together {
        programs: group.members.iter().map(|program| times[*program].program.clone()).collect(),
        slowdowns: (0..by_place.len()).map(slowdown).collect::<Option<_>>()?,
        throughput: Estimate::of(&throughput)?,
        seconds: None,
        replicates,
        covered,
        causes: causes::of(group, alone),
        members: group.members.clone(),
    })
}

/// Times alone, and slowdowns by group.
pub(crate) struct Table<'a> {
    alone: &'a [Alone],
    groups: BTreeMap<&'a [usize], &'a Together>,
}

impl<'a> Table<'a> {
    pub(crate) fn of(alone: &'a [Alone], groups: &'a [Together]) -> Self {
        Self { alone, groups: groups.iter().map(|group| (&group.members[..], group)).collect() }
    }

    /// The group of these programs in order; none if it was not measured.
    pub(crate) fn group(&self, members: &[usize]) -> Option<&'a Together> {
        self.groups.get(members).copied()
    }

    /// The slowdown of the program in each place of a group; alone it is 1.
    pub(crate) fn slowdowns(&self, members: &[usize]) -> Option<Vec<f64>> {
        if members.len() == 1 {
            return Some(vec![1.0]);
        }
        Some(self.group(members)?.slowdowns.iter().map(|slowdown| slowdown.mean).collect())
    }

    /// The time in which these programs run once each when they begin together: each goes on at the speed
    /// that it has beside all those that have not ended.
    pub(crate) fn once(&self, members: &[usize]) -> Option<f64> {
        let mut left: Vec<(usize, f64)> = members
            .iter()
            .map(|program| Some((*program, self.alone.get(*program)?.seconds.mean)))
            .collect::<Option<_>>()?;
        let mut time = 0.0;
        while !left.is_empty() {
            let running: Vec<usize> = left.iter().map(|(program, _)| *program).collect();
            let slowdowns = self.slowdowns(&running)?;
            let ends = left.iter().zip(&slowdowns).map(|((_, rest), slowdown)| rest * slowdown);
            let (first, step) = ends.enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
            time += step;
            for ((_, rest), slowdown) in left.iter_mut().zip(&slowdowns) {
                *rest = (*rest - step / slowdown).max(0.0);
            }
            left.remove(first);
        }
        Some(time)
    }
}

/// The division with the least total time.
fn division(table: &Table<'_>, at_a_time: usize) -> Division {
    let count = table.alone.len();
    let Matching { parts, cost, exact } = best(count, at_a_time, &|group| table.once(group));
    let taking_turns = table.alone.iter().map(|alone| alone.seconds.mean).sum();
    Division { parts, seconds: cost, taking_turns, exact }
}
