//! A recording beside the run of its twin, or of any other recording: how long it took, who had how much cpu
//! time, who waited how long.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use import::Refused;
use scenario::plan::RunPlan;
use trace::{About, Form};

use crate::course::{Courses, of_the_kernel};
use crate::follow::{Follower, Start, Stint};
use crate::read::{Input, Seen, Sink, read};
use crate::threads::{Id, Threads};

/// The longest recording, in ns: a day and some hours. Sums over all cpus fit in 64 bits.
const LONGEST: u64 = 100_000_000_000_000;

/// What threads did, in a few numbers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Measured {
    /// Threads.
    pub threads: usize,
    /// From the first to the last instant, in ns.
    pub lasted: u64,
    /// Cpu time, in ns.
    pub cpu: u64,
    /// Time in queues, in ns.
    pub queued: u64,
    /// Times in which a thread had a cpu, in ns, ascending.
    pub runs: Vec<u64>,
    /// From wake-ups until the thread had a cpu, in ns, ascending.
    pub latencies: Vec<u64>,
    /// A thread came to another cpu than it had before.
    pub migrations: u64,
}

impl Measured {
    /// A quantile of sorted lengths, in ns.
    #[must_use]
    pub fn quantile(sorted: &[u64], share: f64) -> Option<u64> {
        let place = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
        sorted.get(place).copied()
    }
}

/// Gathers what is compared, thread by thread.
#[derive(Default, Debug)]
pub struct Gather {
    each: BTreeMap<Id, (Measured, u64, u64, Option<u32>)>,
}

impl Gather {
    /// Takes a stint.
    pub fn stint(&mut self, stint: &Stint<'_>) {
        let begin = stint.start.runnable().unwrap_or(stint.from).min(stint.from);
        let (measured, first, last, cpu) = self
            .each
            .entry(stint.thread)
            .or_insert_with(|| (Measured { threads: 1, ..Measured::default() }, begin, begin, None));
        *first = (*first).min(begin);
        *last = (*last).max(stint.to);
        measured.cpu += stint.to - stint.from;
        measured.queued += stint.from - begin;
        measured.runs.push(stint.to - stint.from);
        if matches!(stint.start, Start::Woken { .. }) && !stint.mended {
            measured.latencies.push(stint.from - begin);
        }
        measured.migrations += u64::from(cpu.is_some_and(|cpu| cpu != stint.cpu));
        *cpu = Some(stint.cpu);
    }

    /// The last instant of some threads, in ns.
    fn last<'a>(&self, of: impl IntoIterator<Item = &'a Id>) -> u64 {
        of.into_iter().filter_map(|id| self.each.get(id)).map(|(_, _, last, _)| *last).max().unwrap_or(0)
    }

    /// The sums of some threads.
    #[must_use]
    pub fn sum<'a>(&self, of: impl IntoIterator<Item = &'a Id>) -> Measured {
        let mut sum = Measured::default();
        let (mut begin, mut end) = (u64::MAX, 0);
        for (one, first, last, _) in of.into_iter().filter_map(|id| self.each.get(id)) {
            sum.threads += 1;
            (begin, end) = (begin.min(*first), end.max(*last));
            (sum.cpu, sum.queued) = (sum.cpu + one.cpu, sum.queued.saturating_add(one.queued));
            sum.runs.extend(&one.runs);
            sum.latencies.extend(&one.latencies);
            sum.migrations += one.migrations;
        }
        sum.lasted = end.saturating_sub(begin);
        sum.runs.sort_unstable();
        sum.latencies.sort_unstable();
        sum
    }
}

/// A recording or a run, followed to its end.
#[derive(Default, Debug)]
pub struct Followed {
    /// Who ran when.
    pub follower: Follower,
    /// What each thread did.
    pub courses: Courses,
    /// What is compared.
    pub gather: Gather,
    /// The spelling.
    pub form: &'static str,
}

/// Follows a recording; `read` gives each event to what it is given.
///
/// # Errors
/// What `read` refuses, and what is longer than a day.
pub fn follow<E: From<Refused>>(
    name: &str,
    read: impl FnOnce(Sink<'_>) -> Result<Seen, E>,
) -> Result<Followed, E> {
    let mut followed = Followed::default();
    let Followed { follower, courses, gather, .. } = &mut followed;
    let mut sink = |_: &Threads, stint: &Stint<'_>| {
        courses.stint(stint);
        gather.stint(stint);
    };
    let seen = read(&mut |event| follower.event(event, &mut sink))?;
    follower.done(&mut sink);
    followed.form = seen.form;
    let lasted = followed.follower.last - followed.follower.first.unwrap_or(followed.follower.last);
    if lasted > LONGEST {
        return Err(E::from(Refused::Sentence(format!(
            "{name}: from its first to its last event are {} hours, and at most {} are of use: keep a part \
             of it with `--from` and `--to`, for example 10s",
            lasted / 3_600_000_000_000,
            LONGEST / 3_600_000_000_000
        ))));
    }
    Ok(followed)
}

/// Simulates a run and follows it. For each thread the name of its application.
///
/// # Errors
/// The simulator refuses the run.
pub fn simulate(plan: &RunPlan) -> Result<(Followed, BTreeMap<Id, String>), Refused> {
    let mut text = Vec::new();
    let said = |why: String| Refused::Sentence(why);
    trace::run(plan, &About::default(), Form::Ftrace, &mut text).map_err(|failure| match failure {
        trace::Failure::Refused(why) => said(why),
        trace::Failure::Write(error) => said(error.to_string()),
    })?;
    text.flush().map_err(|error| said(error.to_string()))?;
    let mut from = text.as_slice();
    let input = Input { name: "the run", from: &mut from, after: None, before: None };
    let followed = follow(input.name, |sink| read(input, &mut |_| {}, sink))?;
    // Threads are numbered application by application, from 1, and again behind them for each task that came
    // after another one under its rank; those behind all of them stand for tasks that poll, or for the
    // kernel.
    let mut apps: Vec<(u64, &str)> = Vec::new();
    let mut all = 0;
    for app in &plan.apps {
        all += u64::from(app.tasks);
        apps.push((all, &app.name));
    }
    let names = followed.follower.threads.iter().filter_map(|(id, thread)| {
        if thread.name.contains('/') {
            let app =
                thread.name.split(" polling/").next().filter(|_| !thread.name.starts_with("kernel/"))?;
            return Some((id, app.to_owned()));
        }
        let place = u64::from(thread.tid).checked_sub(1)?.checked_rem(all)?;
        let (_, app) = apps.get(apps.partition_point(|(behind, _)| *behind <= place))?;
        Some((id, (*app).to_owned()))
    });
    let names = names.collect();
    Ok((followed, names))
}

/// A recording beside a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Compared {
    /// Of the recording.
    pub recorded: Measured,
    /// Of the run.
    pub replayed: Measured,
    /// By the names of threads: recorded and replayed, those with the most cpu time first.
    pub each: Vec<(String, Measured, Measured)>,
}

impl Compared {
    /// How much longer the run took than the recording, as a share of it; `None` where the recording is
    /// shorter than [`SHORTEST`].
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        share(self.replayed.lasted, self.recorded.lasted).filter(|_| self.recorded.lasted >= SHORTEST)
    }

    /// The same for the cpu time; `None` without any in the recording, too.
    #[must_use]
    pub fn cpu_error(&self) -> Option<f64> {
        share(self.replayed.cpu, self.recorded.cpu).filter(|_| self.recorded.lasted >= SHORTEST)
    }
}

/// The shortest recording of which an error can be stated, in ns: the clocks of recorders have steps of 1 us
/// (text of `perf script` and of tracefs), which are 1 % of it.
pub const SHORTEST: u64 = 100_000;

/// How much more a value is than another, as a share of that; `None` of nothing.
#[must_use]
pub fn share(value: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| value as f64 / of as f64 - 1.0)
}

/// Compares the program of a recording with the run of its twin. `kinds`: the name that each thread of the
/// program has in the twin; `app` the name of the application there.
#[must_use]
pub fn compare(
    recorded: &Followed,
    program: &BTreeSet<Id>,
    kinds: &BTreeMap<Id, String>,
    (run, names): (&Followed, &BTreeMap<Id, String>),
    app: &str,
) -> Compared {
    let ours = |name: &str| name == app || name.strip_prefix(app).is_some_and(|rest| rest.starts_with('-'));
    let own = || names.iter().filter(|(_, name)| ours(name)).map(|(id, _)| id);
    let mut replayed = run.gather.sum(own());
    // A run begins with the program, also where its first thread comes later.
    replayed.lasted = run.gather.last(own());
    let all = recorded.gather.sum(program);
    // Threads with one name, without the numbers behind it, are one row.
    let stem = |name: &str| {
        name.trim_end_matches(|letter: char| letter.is_ascii_digit()).trim_end_matches(['_', '-']).to_owned()
    };
    let mut rows: BTreeMap<String, (BTreeSet<Id>, BTreeSet<Id>)> = BTreeMap::new();
    for (id, kind) in kinds {
        rows.entry(stem(kind)).or_default().0.insert(*id);
    }
    for (id, name) in names.iter().filter(|(_, name)| ours(name)) {
        let kind = name.strip_prefix(app).map_or("", |rest| rest.trim_start_matches('-'));
        rows.entry(stem(if kind.is_empty() { app } else { kind })).or_default().1.insert(*id);
    }
    let mut each: Vec<(String, Measured, Measured)> = rows
        .into_iter()
        .filter(|(name, _)| !of_the_kernel(name))
        .map(|(name, (one, other))| (name, recorded.gather.sum(&one), run.gather.sum(&other)))
        .collect();
    each.sort_by_key(|(_, recorded, _)| std::cmp::Reverse(recorded.cpu));
    Compared { recorded: all, replayed, each }
}
