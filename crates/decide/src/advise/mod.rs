//! Which setting to type: what a user can set is searched under common random numbers.

pub mod answer;
pub mod hedge;
pub mod known;
pub mod levers;
mod race;
pub mod search;
pub mod sure;
mod typing;
pub mod words;

pub(crate) use race::undecided;
use scenario::plan::Experiment;

use crate::trial::{Failed, Means, Setting, Subject, Wanted};
use answer::{Answer, Beside};
use hedge::Worlds;
use levers::{Allowed, Program, levers, programs, varied};
use search::{Found, search};
use sure::{Sure, sure};

/// How much is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Runs of the search, about; as many of them as `events` allows. The race between the best settings has
    /// as many again where `events` is not limited.
    pub runs: usize,
    /// Events of all runs of the search, about; the race between the best settings has an eighth of them, and
    /// each of the looks at how sure the advice is has as many.
    pub events: u64,
    /// Seeds of the settings that are left for that race.
    pub replicates: u32,
    /// Draws of uncertain values; 0: it is not looked how sure the advice is.
    pub draws: u32,
}

/// Runs of a search where nobody states another number.
pub const RUNS: usize = 1_000;
/// Events of all runs of such a search: a search of long runs has fewer. A core simulates some million events
/// in a second.
pub const EVENTS: u64 = 1_000_000_000;

/// Runs that every search may have, however long they are.
const LEAST: usize = 24;

impl Effort {
    /// As many runs as a user asks for, else [`RUNS`], or fewer where they are long ([`EVENTS`]).
    #[must_use]
    pub fn asked(runs: Option<u32>, replicates: u32, draws: u32) -> Self {
        let (runs, events) = runs.map_or((RUNS, EVENTS), |runs| (runs as usize, u64::MAX));
        Self { runs, events, replicates, draws }
    }

    /// The effort where a run has so many events: fewer runs, and then fewer seeds and draws.
    #[must_use]
    pub fn within(self, events: u64) -> Self {
        let most = usize::try_from(self.events / events.max(1)).unwrap_or(usize::MAX).max(LEAST);
        if most >= self.runs {
            return self;
        }
        let seeds = u32::try_from(most / LEAST).unwrap_or(u32::MAX).max(2);
        Self { runs: most, replicates: self.replicates.min(seeds), ..self }
    }
}

/// What was found of a scenario.
pub struct Advised {
    /// The scenario as it is.
    pub experiment: Experiment,
    /// Its programs that may be changed.
    pub programs: Vec<Program>,
    /// Runs that were asked for.
    pub asked: usize,
    /// The search.
    pub found: Found,
    /// How sure it is.
    pub sure: Sure,
    /// What the advised setting does to other programs.
    pub beside: Vec<Beside>,
}

/// Searches what a user can set for a scenario. The best settings are also judged where second hardware
/// threads add the least, if nobody has measured that, and beside one busy task, if the scenario does not
/// state what runs beside its program; unless it is to be judged [as stated](Allowed::as_stated).
///
/// # Errors
/// The scenario is wrong, does not complete as it is, or nothing can be set; the user interrupted.
pub fn advise(
    subject: &Subject<'_>,
    allowed: &Allowed,
    effort: Effort,
    means: Means<'_>,
) -> Result<Advised, Failed> {
    let base = Wanted {
        setting: Setting::default(),
        replicates: 0..effort.replicates.max(1),
        draw: None,
        at_most: None,
    };
    let experiment = subject.experiment(&base).map_err(Failed::Refused)?;
    for name in &allowed.apps {
        if !experiment.apps.contains(name) {
            let known = notation::number::listed(&experiment.apps);
            return Err(Failed::Refused(format!("there is no application `{name}`: there are {known}")));
        }
    }
    let programs = programs(&experiment, &allowed.apps);
    if programs.is_empty() {
        return Err(Failed::Refused(format!(
            "{}: no program can be advised: all applications run in the background",
            subject.name
        )));
    }
    for axis in &allowed.vary {
        if varied(axis).is_none() {
            return Err(Failed::Refused(format!("--vary {axis}: write a path and its values, PATH=A,B")));
        }
    }
    let levers = levers((subject.policies, subject.text), &experiment, allowed);
    if levers.is_empty() {
        let why = "nothing that may be set has another value: allow more, or name values by --vary";
        return Err(Failed::Refused(format!("{}: {why}", subject.name)));
    }
    let worlds = if allowed.as_stated { Worlds::default() } else { Worlds::of(&experiment) };
    let found = search(subject, (&experiment, worlds), levers, effort, means)?;
    let sure = if effort.draws > 0 {
        sure(subject, &experiment, (&programs, &found), found.effort, means)?
    } else {
        Sure::default()
    };
    let beside = answer::beside(subject, &experiment, (&programs, &found), means)?;
    Ok(Advised { experiment, programs, asked: effort.runs, found, sure, beside })
}

impl Advised {
    /// The answer. `subject`: what a command calls the scenario, if it can.
    #[must_use]
    pub fn answer(&self, subject: Option<&str>, typed: Vec<String>) -> Answer {
        let cpus = self.experiment.cpus();
        let known = known::nearest(&self.programs, self.found.memory >= known::MEMORY_BOUND);
        let answer =
            Answer::of((&self.experiment.name, subject), (&self.found, &self.sure), typed, (known, cpus));
        let cut_to = Some(self.found.effort.runs).filter(|runs| *runs < self.asked);
        let hedges = self.found.hedges.iter().map(|hedge| hedge.sentence(&self.found.levers)).collect();
        Answer { cut_to, hedges, beside: self.beside.clone(), ..answer }
    }
}
