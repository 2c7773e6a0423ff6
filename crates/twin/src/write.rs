//! Writes the programs of threads as the code of a scenario.

mod names;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::costs::Shortest;
use crate::course::{Course, Courses, Step};
use crate::fold::{self, Lengths, Part, Token};
use crate::jobs::Jobs;
use crate::threads::{Id, Thread, Threads};
use names::distinct;

pub use names::plain;
pub(crate) use names::time;

/// Fewest turns of a thread that goes on until it is stopped.
const TURNS: usize = 8;
/// Such a thread is there until this share of the time of the program before its end.
const ENDS: f64 = 0.03;
/// Fewest intervals between the instants of a clock.
const CLOCK: usize = 4;
/// More instants that have passed in a row are a pause of the program.
const MOST_MISSED: u64 = 64;

/// Longer runs between wake-ups than this are work, and not the cost of a wake-up or an interruption, in ns.
const INTERRUPTED: u64 = 1_000_000;
/// What is left of a run at least, in ns, so that it stays a step.
const LEAST: u64 = 100;

/// What the simulator charges for what a thread does, in ns: it is taken out of the recorded cpu time, and
/// the run puts it back where the thread then is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Costs {
    /// A wake-up of a thread whose cpu is busy.
    pub wake: u64,
    /// One of a thread whose cpu is idle.
    pub wake_idle: u64,
    /// Going to sleep, and the switch to another thread.
    pub sleep: u64,
    /// The switch to a thread that comes.
    pub switch: u64,
    /// Creating a thread.
    pub fork: u64,
}

impl Costs {
    /// Those of a machine.
    #[must_use]
    pub fn of(machine: &sim_core::machine::Costs) -> Self {
        let remote = machine.wake_remotes.first().map_or(machine.wake_remote, |row| row.1);
        Self {
            wake: machine.wake.ns(),
            wake_idle: remote.ns().max(machine.wake.ns()),
            sleep: machine.sleep.ns(),
            switch: machine.switch_process.ns(),
            fork: machine.fork.ns(),
        }
    }
}

/// A statement of code, without its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Say {
    Run(u64),
    /// From whom, who waits, and how long it slept, in ns.
    Acquire(Id, Id, u64),
    Release(Id, Id),
    Sleep(u64),
    Until {
        period: u64,
        first: u64,
    },
    Outside(u64),
    Fork(Id),
    Join(Id),
    Slot,
    Free,
}

impl Token for Say {
    fn length(self) -> Option<u64> {
        match self {
            Self::Run(length) | Self::Sleep(length) | Self::Outside(length) => Some(length),
            _ => None,
        }
    }

    fn alike(self, other: Self) -> bool {
        match (self, other) {
            (Self::Run(_), Self::Run(_))
            | (Self::Sleep(_), Self::Sleep(_))
            | (Self::Outside(_), Self::Outside(_)) => true,
            (Self::Acquire(from, to, _), Self::Acquire(from_other, to_other, _)) => {
                (from, to) == (from_other, to_other)
            }
            _ => self == other,
        }
    }
}

/// A thread that computes and sleeps in turns until it is stopped.
struct Endless {
    /// What it computed in each turn, in ns.
    runs: Vec<u64>,
    /// How long it slept, in ns.
    sleeps: Vec<u64>,
    /// The clock that it waits for.
    clock: Option<Say>,
    turns: usize,
}

/// Lengths of so many turns, which together are the cpu time of those that were recorded: some had no length
/// of their own because the thread was late.
fn turn(runs: &[u64], turns: usize) -> Vec<u64> {
    let mut runs: Vec<u64> = runs.iter().copied().filter(|ran| *ran > 0).collect();
    let kept = runs.len().max(1) as f64 / turns.max(1) as f64;
    runs.iter_mut().for_each(|ran| *ran = (*ran as f64 * kept) as u64);
    runs
}

/// Kinds of tasks with their code.
#[derive(Default, Debug)]
pub(crate) struct Written {
    /// One for each thread.
    pub(crate) kinds: Vec<Kind>,
    /// Tables of lengths, in ns.
    pub(crate) tables: BTreeMap<String, Vec<u64>>,
    /// It waits for what is outside.
    pub(crate) outside: bool,
    /// Slots for jobs.
    pub(crate) slots: Option<usize>,
    /// Threads that go on until they are stopped, and their share of the cpu time.
    pub(crate) endless: (usize, f64),
    /// Steps of all threads, and statements that stand for them.
    pub(crate) steps: (usize, usize),
}

/// A kind of tasks.
#[derive(Debug)]
pub(crate) struct Kind {
    /// It goes on until it is stopped.
    pub(crate) endless: bool,
    pub(crate) name: String,
    pub(crate) code: Vec<String>,
    pub(crate) origin: String,
    pub(crate) nice: i32,
}

/// What programs are written from.
pub(crate) struct Writer<'a> {
    pub(crate) threads: &'a Threads,
    pub(crate) courses: &'a Courses,
    pub(crate) program: &'a BTreeSet<Id>,
    pub(crate) jobs: Option<&'a Jobs>,
    pub(crate) costs: Costs,
    /// The shortest runs of threads, where the program does little but wake and wait.
    pub(crate) dense: Option<&'a BTreeMap<Id, Shortest>>,
    /// Start of the program, in ns of the recording.
    pub(crate) begin: u64,
    /// Its end.
    pub(crate) end: u64,
    names: BTreeMap<Id, String>,
    /// When the threads of jobs executed their programs, in ns of the recording.
    executed: BTreeMap<Id, u64>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
        threads: &'a Threads,
        courses: &'a Courses,
        program: &'a BTreeSet<Id>,
        jobs: Option<&'a Jobs>,
        costs: Costs,
        (begin, end): (u64, u64),
    ) -> Self {
        let mut names = BTreeMap::new();
        let mut taken = BTreeMap::new();
        for id in program {
            let name = threads.get(*id).map_or("", |thread| thread.name.as_str());
            names.insert(*id, distinct(&plain(name), &mut taken));
        }
        let steps = |id: &Id| courses.list.get(id).map(|course| &course.steps);
        let executed = |id: &Id| Some(steps(id)?.iter().find(|timed| timed.step == Step::Exec)?.at);
        let of_jobs = jobs.into_iter().flat_map(|jobs| jobs.of.keys());
        let executed = of_jobs.filter_map(|id| Some((*id, executed(id)?))).collect();
        Self { threads, courses, program, jobs, costs, dense: None, begin, end, names, executed }
    }

    pub(crate) fn name(&self, id: Id) -> &str {
        self.names.get(&id).map_or("task", String::as_str)
    }

    /// The programs of all threads.
    pub(crate) fn programs(&self) -> Written {
        let mut written = Written { slots: self.jobs.map(|jobs| jobs.slots), ..Written::default() };
        let said: BTreeMap<Id, Vec<Say>> = self
            .program
            .iter()
            .filter_map(|id| Some((*id, self.say(*id, self.courses.list.get(id)?))))
            .collect();
        // A wake without a wait, or the reverse, at the edges of the recording.
        let mut sides: BTreeMap<(Id, Id), (bool, bool)> = BTreeMap::new();
        for step in said.values().flatten() {
            match step {
                Say::Acquire(from, to, _) => sides.entry((*from, *to)).or_default().0 = true,
                Say::Release(from, to) => sides.entry((*from, *to)).or_default().1 = true,
                _ => {}
            }
        }
        let jobs = self.jobs.is_some();
        let endless: BTreeMap<Id, Endless> = said
            .iter()
            .filter(|_| !jobs)
            .filter_map(|(id, steps)| {
                let mut steps = steps.clone();
                merge(&mut steps);
                clock(&mut steps);
                Some((*id, self.endless(*id, &steps)?))
            })
            .collect();
        // Who goes on for ever ends no wait of others: these last as long as in the recording.
        let ends = |id: &Id| !endless.contains_key(id);
        let whole = |step: &Say| match step {
            Say::Acquire(from, to, _) | Say::Release(from, to) => {
                sides.get(&(*from, *to)) == Some(&(true, true)) && ends(from) && ends(to)
            }
            Say::Fork(id) => said.contains_key(id),
            Say::Join(id) => said.contains_key(id) && ends(id),
            _ => true,
        };
        let all: u64 = said.keys().filter_map(|id| self.courses.list.get(id)).map(|course| course.cpu).sum();
        for (id, steps) in &said {
            let lasts = |step: Say| match step {
                Say::Acquire(from, _, slept) if !ends(&from) => Say::Outside(slept),
                step => step,
            };
            let mut steps: Vec<Say> = steps.iter().copied().map(lasts).filter(whole).collect();
            merge(&mut steps);
            clock(&mut steps);
            written.steps.0 += steps.len();
            let endless = endless.get(id);
            if endless.is_some() {
                let cpu = self.courses.list.get(id).map_or(0, |course| course.cpu);
                written.endless.0 += 1;
                written.endless.1 += cpu as f64 / all.max(1) as f64;
            }
            let kind = match endless {
                Some(endless) => self.periodic(*id, endless, &mut written),
                None => self.kind(*id, &steps, &mut written),
            };
            written.steps.1 += kind.code.len();
            written.kinds.push(kind);
        }
        written
    }

    /// What a thread did, in statements.
    fn say(&self, id: Id, course: &Course) -> Vec<Say> {
        let mut said = Vec::new();
        let mut debt = self.costs.switch;
        let parent = self.threads.get(id).and_then(|thread| thread.parent);
        if parent.is_none_or(|parent| !self.program.contains(&parent))
            && course.first > self.begin + 1_000_000
        {
            said.push(Say::Sleep(course.first - self.begin));
        }
        let starts = self.jobs.filter(|jobs| jobs.starter == id);
        let mut starter = Starter::default();
        let last_wait = starts
            .and_then(|jobs| course.steps.iter().rposition(|timed| self.ends(jobs, timed.step, timed.at)));
        for (place, timed) in course.steps.iter().enumerate() {
            match timed.step {
                Step::Run(ran) if ran < INTERRUPTED && self.short(id, course, place).is_some() => {
                    let own = self.short(id, course, place).unwrap_or(ran);
                    said.push(Say::Run(own.saturating_sub(self.costs.sleep + self.costs.switch).max(LEAST)));
                    debt = 0;
                }
                Step::Run(ran) => {
                    let paid = debt.min(ran.saturating_sub(LEAST));
                    debt -= paid;
                    said.push(Say::Run(ran - paid));
                }
                Step::Fork(child) if self.program.contains(&child) => {
                    if let Some((jobs, job)) = starts.and_then(|jobs| Some((jobs, jobs.place(child)?))) {
                        starter.forks(jobs, job, &mut said);
                    }
                    said.push(Say::Fork(child));
                    debt += self.costs.fork;
                }
                Step::Wait { .. } if starts.is_some_and(|jobs| self.ends(jobs, timed.step, timed.at)) => {
                    if let (Some(jobs), Step::Wait { whom, .. }) = (starts, timed.step) {
                        let alive = self.alive(jobs, starter.forked, whom, timed.at);
                        starter.waits(jobs, alive, last_wait == Some(place), &mut said);
                    }
                }
                step => debt += self.other(id, step, &mut said),
            }
        }
        if let Some(jobs) = starts {
            starter.joins(jobs, starter.forked, &mut said);
        } else {
            self.outlived(course, &mut said);
        }
        if self.jobs.is_some_and(|jobs| jobs.place(id).is_some()) {
            said.push(Say::Free);
        }
        said
    }

    /// What a thread computes at least beside wake-ups, where the program does little else.
    fn short(&self, id: Id, course: &Course, place: usize) -> Option<u64> {
        let shortest = self.dense?.get(&id)?;
        match course.steps.get(place.checked_sub(1)?)?.step {
            Step::Wake { idle: true, .. } => Some(shortest.behind_wake),
            Step::Wait { slept: Some(_), .. } => {
                Some(shortest.behind_wait + self.costs.sleep + self.costs.switch)
            }
            _ => None,
        }
    }

    /// The starter of jobs waited for the end of one: its first thread had executed its program by then.
    fn ends(&self, jobs: &Jobs, step: Step, at: u64) -> bool {
        let Step::Wait { whom, .. } = step else { return false };
        jobs.of.contains_key(&whom) && at > self.executed.get(&whom).copied().unwrap_or(0)
    }

    /// A run is over with the threads that nobody forked: whoever forked one that goes on behind it waits for
    /// it.
    fn outlived(&self, course: &Course, said: &mut Vec<Say>) {
        let outlives = |id: &Id| self.courses.list.get(id).is_some_and(|child| child.last > course.last);
        let forked = said.iter().filter_map(|step| if let Say::Fork(id) = step { Some(*id) } else { None });
        let outliving: Vec<Say> = forked.filter(outlives).map(Say::Join).collect();
        said.extend(outliving);
    }

    /// How many of the first jobs had not ended at an instant, beside the one of a thread.
    fn alive(&self, jobs: &Jobs, first: usize, of: Id, at: u64) -> usize {
        let own = jobs.of.get(&of);
        let ended = |id: &Id| self.courses.list.get(id).is_none_or(|course| course.last <= at);
        let forked = jobs.jobs.iter().take(first).enumerate();
        forked.filter(|(place, id)| own != Some(place) && !ended(id)).count()
    }

    /// Edges between threads of different jobs are chance: locks of the kernel, or the order in which they
    /// ran.
    fn between_jobs(&self, one: Id, other: Id) -> bool {
        let Some(jobs) = self.jobs else { return false };
        match (jobs.of.get(&one), jobs.of.get(&other)) {
            (Some(one), Some(other)) => one != other,
            (None, None) => false,
            // Of the starter, only what precedes the program of the job (vfork) is kept.
            _ => true,
        }
    }

    /// A step that is neither a run nor a fork. What it costs, in ns.
    fn other(&self, id: Id, step: Step, said: &mut Vec<Say>) -> u64 {
        let slept = self.costs.sleep + self.costs.switch;
        match step {
            Step::Wake { whom, idle } if self.program.contains(&whom) => {
                if !self.between_jobs(id, whom) {
                    said.push(Say::Release(id, whom));
                }
                if idle { self.costs.wake_idle } else { self.costs.wake }
            }
            Step::Wait { whom, slept: time } if self.program.contains(&whom) => {
                if !self.between_jobs(whom, id) {
                    said.push(Say::Acquire(whom, id, time.unwrap_or(0)));
                }
                if time.is_some() { slept } else { 0 }
            }
            Step::Wait { slept: Some(time), .. } | Step::Outside(time) => {
                said.push(Say::Outside(time));
                slept
            }
            Step::Sleep(time) => {
                said.push(Say::Sleep(time));
                slept
            }
            Step::Until { at, length } => {
                said.push(Say::Until { period: length, first: at.saturating_sub(self.begin) });
                slept
            }
            _ => 0,
        }
    }

    /// A thread that computes and sleeps in turns until the program is over: nothing but time ends it.
    fn endless(&self, id: Id, steps: &[Say]) -> Option<Endless> {
        let course = self.courses.list.get(&id)?;
        let whole = self.end.saturating_sub(self.begin) as f64;
        if ((self.end - course.last.min(self.end)) as f64) > ENDS * whole {
            return None;
        }
        let edges = steps.iter().filter(|step| matches!(step, Say::Acquire(..) | Say::Release(..))).count();
        let timers = |step: &&Say| matches!(step, Say::Until { .. } | Say::Sleep(_));
        let by_timer = 2 * steps.iter().filter(timers).count()
            > steps.iter().filter(|step| matches!(step, Say::Outside(_))).count();
        let (mut runs, mut sleeps, mut clock, mut ran) = (Vec::new(), Vec::new(), None, 0);
        for step in steps {
            match step {
                Say::Run(length) => ran += length,
                // Beside timers the rest is chance: a page, a lock.
                Say::Outside(_) if by_timer => continue,
                Say::Sleep(length) | Say::Outside(length) => sleeps.push(*length),
                Say::Until { .. } => clock = Some(*step),
                Say::Fork(_) | Say::Join(_) | Say::Slot | Say::Free => return None,
                Say::Acquire(..) | Say::Release(..) => continue,
            }
            if !matches!(step, Say::Run(_)) {
                runs.push(std::mem::take(&mut ran));
            }
        }
        runs.push(ran);
        let untils = steps.iter().filter(|step| matches!(step, Say::Until { .. })).count();
        let clock = clock.filter(|_| 2 * untils > sleeps.len());
        let turns = if clock.is_some() { untils } else { sleeps.len() };
        (turns >= TURNS && 4 * edges <= turns).then_some(Endless { runs, sleeps, clock, turns })
    }

    fn periodic(&self, id: Id, endless: &Endless, written: &mut Written) -> Kind {
        let Endless { runs, sleeps, clock, turns } = endless;
        let name = self.name(id).to_owned();
        let mut lasts = |lengths: &[u64], what: &str| match fold::lengths(lengths) {
            Lengths::Mean(mean) => time(mean.max(1)),
            Lengths::Table(values) => {
                let table = format!("{name}-{what}");
                written.tables.insert(table.clone(), values);
                format!("table {table}")
            }
        };
        // A clock goes on also where the thread was late, and it had begun before the thread first slept.
        let whole = self.end - self.begin;
        let begin = self.courses.list.get(&id).map_or(0, |course| course.first.saturating_sub(self.begin));
        let (turns, clock) = match clock {
            Some(Say::Until { period, first }) => {
                let first = first - first.saturating_sub(begin) / period * period;
                ((whole.saturating_sub(first) / period).max(1) as usize + 1, Some((*period, first)))
            }
            _ => (*turns, None),
        };
        let run = lasts(&turn(runs, turns), "runs");
        let code = match clock {
            Some((period, first)) => {
                vec![
                    "forever {".into(),
                    format!("  until {} from {}", time(period), time(first)),
                    format!("  run {run}"),
                    "}".into(),
                ]
            }
            _ => {
                let sleep = lasts(sleeps, "sleeps");
                vec!["forever {".into(), format!("  run {run}"), format!("  sleep {sleep}"), "}".into()]
            }
        };
        let Kind { origin, nice, .. } = self.about(id);
        let origin = format!("{origin}; {turns} turns until the program was over");
        Kind { endless: true, name, code, origin, nice }
    }

    /// The kind of a thread without its code.
    fn about(&self, id: Id) -> Kind {
        let thread = self.threads.get(id);
        let origin = thread.zip(self.courses.list.get(&id)).map_or_else(String::new, |(thread, course)| {
            format!(
                "thread {} `{}`: {} of cpu time, {} waits",
                thread.tid,
                thread.name,
                time(course.cpu),
                course.blocked
            )
        });
        Kind {
            endless: false,
            name: self.name(id).to_owned(),
            code: Vec::new(),
            origin,
            nice: thread.map_or(0, Thread::nice),
        }
    }

    /// The kind of a thread.
    fn kind(&self, id: Id, steps: &[Say], written: &mut Written) -> Kind {
        let name = self.name(id);
        let mut code = Vec::new();
        let mut loops = 0;
        for part in fold::fold(steps) {
            match part {
                Part::One(step) => self.line(step, None, written, &mut code, 0),
                Part::Loop(times, block) => {
                    loops += 1;
                    code.push(format!("repeat {times} {{"));
                    for (place, (step, lengths)) in block.iter().enumerate() {
                        let table = match fold::lengths(lengths) {
                            Lengths::Mean(mean) => Err(mean),
                            Lengths::Table(values) => {
                                let table = format!("{name}-{loops}-{}", place + 1);
                                written.tables.insert(table.clone(), values);
                                Ok(table)
                            }
                        };
                        let table = step.length().map(|_| table);
                        self.line(*step, table.as_ref(), written, &mut code, 2);
                    }
                    code.push("}".into());
                }
            }
        }
        if code.is_empty() {
            code.push("run 1us".into());
        }
        Kind { code, ..self.about(id) }
    }

    fn line(
        &self,
        step: Say,
        length: Option<&Result<String, u64>>,
        written: &mut Written,
        code: &mut Vec<String>,
        indent: usize,
    ) {
        let lasts = |own: u64| match length {
            Some(Ok(table)) => format!("table {table}"),
            Some(Err(mean)) => time(*mean),
            None => time(own),
        };
        let text = match step {
            Say::Run(own) => format!("run {}", lasts(own)),
            Say::Acquire(from, to, _) => format!("acquire {}", self.edge(from, to)),
            Say::Release(from, to) => format!("release {}", self.edge(from, to)),
            Say::Sleep(own) => format!("sleep {}", lasts(own)),
            Say::Until { period, first } => format!("until {} from {}", time(period), time(first)),
            Say::Outside(own) => {
                written.outside = true;
                format!("io outside {}", lasts(own))
            }
            Say::Fork(child) => format!("fork {}", self.name(child)),
            Say::Join(child) => format!("join {}", self.name(child)),
            Say::Slot => "acquire slots".into(),
            Say::Free => "release slots".into(),
        };
        let mut line = " ".repeat(indent);
        line.push_str(&text);
        code.push(line);
    }

    fn edge(&self, from: Id, to: Id) -> String {
        format!("{}-to-{}", self.name(from), self.name(to))
    }
}

/// How far a thread that starts jobs has come.
#[derive(Default)]
struct Starter {
    /// Jobs that it has forked.
    forked: usize,
    /// Jobs of whose end it knows.
    joined: usize,
    /// It has a slot for the next one.
    slot: bool,
}

impl Starter {
    fn joins(&mut self, jobs: &Jobs, to: usize, said: &mut Vec<Say>) {
        said.extend(jobs.jobs.get(self.joined..to).unwrap_or_default().iter().map(|job| Say::Join(*job)));
        self.joined = self.joined.max(to);
    }

    /// It forks a job.
    fn forks(&mut self, jobs: &Jobs, job: usize, said: &mut Vec<Say>) {
        if jobs.after_all.contains(&job) {
            self.joins(jobs, job, said);
        }
        if !std::mem::take(&mut self.slot) {
            said.push(Say::Slot);
        }
        self.forked = job + 1;
    }

    /// It has waited for the end of a job; so many others are alive. It may start others behind its last
    /// wait.
    fn waits(&mut self, jobs: &Jobs, alive: usize, last: bool, said: &mut Vec<Say>) {
        let all = self.forked == jobs.jobs.len();
        if last && all || alive == 0 && jobs.after_all.contains(&self.forked) {
            self.joins(jobs, self.forked, said);
        } else if !all && alive + 1 >= jobs.slots && !self.slot {
            // It waited until it could start the next one.
            said.push(Say::Slot);
            self.slot = true;
        }
    }
}

/// Runs next to each other become one; what lasts for no time is left out.
fn merge(steps: &mut Vec<Say>) {
    let mut merged: Vec<Say> = Vec::with_capacity(steps.len());
    for step in steps.drain(..) {
        match (merged.last_mut(), step) {
            (_, Say::Run(0) | Say::Sleep(0) | Say::Outside(0)) => {}
            (Some(Say::Run(before)), Say::Run(ran)) => *before += ran,
            _ => merged.push(step),
        }
    }
    *steps = merged;
}

/// Sleeps until instants become those of a clock, if most of the instants are a period apart; otherwise
/// sleeps for as long as they lasted. An instant that had passed when the thread came to it, so that it did
/// not sleep, divides what the thread computed meanwhile.
fn clock(steps: &mut Vec<Say>) {
    let instants: Vec<u64> = steps
        .iter()
        .filter_map(|step| if let Say::Until { first, .. } = step { Some(*first) } else { None })
        .collect();
    let mut apart: Vec<u64> = instants.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    apart.sort_unstable();
    let period = apart.get(apart.len() / 2).copied().unwrap_or(0);
    let near = apart.iter().filter(|apart| apart.abs_diff(period) <= period / 50).count();
    if period == 0 || apart.len() < CLOCK || 2 * near < apart.len() {
        for step in steps.iter_mut() {
            if let Say::Until { period, .. } = *step {
                *step = Say::Sleep(period);
            }
        }
        return;
    }
    let first = instants.first().copied().unwrap_or(0);
    let every = Say::Until { period, first };
    let mut done: Vec<Say> = Vec::with_capacity(steps.len());
    let (mut last, mut begin) = (None, 0);
    for step in steps.drain(..) {
        let Say::Until { first: at, .. } = step else {
            done.push(step);
            continue;
        };
        if let Some(last) = last.replace(at) {
            let missed = (at.saturating_sub(last) + period / 2) / period;
            divide(&mut done, begin, missed.max(1), every);
        }
        done.push(every);
        begin = done.len();
    }
    *steps = done;
}

/// Divides the longest run behind a place into so many parts, with instants of a clock between them.
fn divide(steps: &mut Vec<Say>, begin: usize, parts: u64, every: Say) {
    let runs = steps.iter().enumerate().skip(begin);
    let longest = runs
        .filter_map(|(place, step)| if let Say::Run(ran) = step { Some((*ran, place)) } else { None })
        .max();
    let Some((ran, place)) = longest.filter(|_| parts > 1 && parts < MOST_MISSED) else { return };
    let mut pieces = vec![Say::Run(ran / parts)];
    for _ in 1..parts {
        pieces.extend([every, Say::Run(ran / parts)]);
    }
    steps.splice(place..=place, pieces);
}
