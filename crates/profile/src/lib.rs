//! What other programs measured of a job, as an application of a scenario with the range of each number.
//!
//! [`describe`] reads files of `perf stat`, `time -v`, `sacct`, mpiP and of parallel regions, two looks at
//! running processes ([`look`]), and numbers that were typed in. Each form becomes a list of known
//! quantities; these become the numbers of an application by formulas that its comments name. What is missing
//! gets the middle of a wide range, and is asked for ([`Asked`]).

mod asked;
mod form;
mod job;
mod model;
mod page;
mod pid;
#[cfg(test)]
mod pid_tests;
mod read;
pub mod report;
mod shape;
mod source;
#[cfg(test)]
mod tests;
mod twin;
mod values;
mod waiting;
mod waits;

use import::{Note, Refused};
use notation::neutral;

use crate::job::{Job, Word};
use crate::model::App;
use crate::page::{Head, Names};
use crate::source::Num;

pub use asked::{Asked, Topic};
pub use form::{FORMS, Form};
pub use pid::{Look, MOST_PIDS, Roots, look};
pub use source::{MAX_BYTES, Source};
pub use values::Number;

/// What is typed in; it counts more than files.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Name of the scenario.
    pub title: String,
    /// Name of the application.
    pub name: Option<String>,
    /// The form of the files; otherwise each is recognised.
    pub form: Option<Form>,
    /// The machine, as a scenario names it.
    pub machine: Option<String>,
    /// The kernel, as a scenario names it.
    pub kernel: Option<String>,
    /// Work of a task between two barriers, in ns.
    pub interval: Option<u64>,
    /// Memory traffic of a task, in bytes/s.
    pub bandwidth: Option<u64>,
    /// How tasks wait: a runtime, as a scenario writes it.
    pub wait: Option<String>,
    /// Threads, of each rank if there are several.
    pub threads: Option<u32>,
    /// Ranks.
    pub ranks: Option<u32>,
    /// Work of all tasks, in ns.
    pub work: Option<u64>,
    /// Describe only a stretch of the job, in which each task has so much work, in ns.
    pub stretch: Option<u64>,
}

/// Two looks at running processes.
#[derive(Clone, Copy, Debug)]
pub struct Looks<'a> {
    /// Where the kernel shows them.
    pub roots: Roots<'a>,
    /// The first look.
    pub first: &'a Look,
    /// The second one.
    pub second: &'a Look,
    /// Time from the one to the other, in s.
    pub seconds: f64,
}

/// An application, and what is known and missing of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Described {
    /// Its name.
    pub name: String,
    /// Its numbers.
    pub numbers: Vec<Number>,
    /// What is asked for.
    pub asked: Vec<Asked>,
    /// A scenario in which it runs alone with less work, for trials; none for twins.
    pub trial: Option<Trial>,
}

/// A scenario for trials.
#[derive(Clone, PartialEq, Debug)]
pub struct Trial {
    /// Its text.
    pub text: String,
    /// When its runs are cut off, in s.
    pub horizon: f64,
}

/// A scenario of one or several jobs.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    /// The scenario without the ranges of its numbers.
    pub scenario: String,
    /// The key `uncertain` with these ranges; empty if there is none.
    pub uncertain: String,
    /// Its applications.
    pub apps: Vec<Described>,
    /// What files disagree about, and what was left out.
    pub notes: Vec<Note>,
}

impl Profile {
    /// The whole text.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}{}", self.scenario, self.uncertain)
    }
}

/// Describes jobs. Several files are of one job, but for those of `sacct`, which may hold several.
///
/// # Errors
/// A file has no known form or is wrong (with its line), a process had no cpu, or nothing is stated.
pub fn describe(
    sources: &[Source<'_>],
    looks: Option<Looks<'_>>,
    options: &Options,
) -> Result<Profile, Refused> {
    let mut forms = Vec::new();
    for source in sources {
        if source.text.contains('\0') {
            return Err(source.refused("a zero byte: this is not a text file", &form::unknown()));
        }
        let Some(form) = options.form.or_else(|| Form::of(source.text)) else {
            return Err(source.refused("the form of the file is not known", &form::unknown()));
        };
        forms.push(form);
    }
    if let Some(at) = forms.iter().position(|form| *form == Form::Twin) {
        return of_twin(sources, at, looks.is_some(), options);
    }
    let mut notes = Vec::new();
    let jobs = jobs(sources, &forms, looks, &mut notes)?;
    let jobs = typed(jobs, options)?;
    let mut from: Vec<String> = sources
        .iter()
        .zip(&forms)
        .map(|(source, form)| format!("{} ({})", source::short(source.name), form.title()))
        .collect();
    if looks.is_some() {
        from.push("/proc".into());
    }
    if from.is_empty() {
        from.push("numbers typed in".into());
    }
    let mut names = Names::default();
    let apps: Vec<App> = jobs
        .iter()
        .map(|job| {
            let name = names.unique(job.name.as_ref().map_or("job", |name| name.text.as_str()));
            App::of_stretch(job, &name, options.stretch.map(|ns| ns as f64 / 1e9))
        })
        .collect();
    let title = import::word(&options.title, "profile");
    let head = Head {
        title: &title,
        machine: options.machine.as_deref(),
        kernel: options.kernel.as_deref(),
        from: from.join(", "),
        notes: &notes,
    };
    let (scenario, uncertain) = page::scenario(&head, &apps)?;
    let described = |app: &App| {
        let (text, horizon) = page::trial(&head, app);
        Described {
            name: app.name.clone(),
            numbers: app.numbers.clone(),
            asked: app.asked.clone(),
            trial: Some(Trial { text, horizon }),
        }
    };
    let apps = apps.iter().map(described).collect();
    Ok(Profile { scenario, uncertain, apps, notes })
}

/// A twin as it is, with ranges.
fn of_twin(sources: &[Source<'_>], at: usize, looked: bool, options: &Options) -> Result<Profile, Refused> {
    let Some(source) = sources.get(at).filter(|_| sources.len() == 1 && !looked) else {
        return Err(Refused::Sentence("a twin is taken as it is: give no other file and no `--pid`".into()));
    };
    let Options { name, machine, kernel, interval, bandwidth, wait, threads, ranks, work, stretch, .. } =
        options;
    let numbers = [interval, bandwidth, work, stretch].iter().any(|number| number.is_some());
    let words = [name, machine, kernel, wait].iter().any(|word| word.is_some());
    if numbers || words || threads.is_some() || ranks.is_some() {
        return Err(source.refused(
            "a twin is taken as it is: no flag changes it",
            "`--set apps.NAME.workload.demand=3GB/s` of the commands that run it",
        ));
    }
    let (uncertain, asked) = twin::read(source)?;
    // Its comments may hold characters that are not seen, and lines of Windows.
    let mut scenario = neutral::lines(source.text).into_owned();
    if !scenario.ends_with('\n') {
        scenario.push('\n');
    }
    let apps = asked
        .into_iter()
        .map(|asked| Described {
            name: asked.path.split('.').nth(1).unwrap_or_default().to_owned(),
            numbers: Vec::new(),
            asked: vec![asked],
            trial: None,
        })
        .collect();
    Ok(Profile { scenario, uncertain, apps, notes: Vec::new() })
}

/// The jobs of all files and looks.
fn jobs(
    sources: &[Source<'_>],
    forms: &[Form],
    looks: Option<Looks<'_>>,
    notes: &mut Vec<Note>,
) -> Result<Vec<Job>, Refused> {
    let mut lists: Vec<(String, Vec<Job>)> = Vec::new();
    for (source, form) in sources.iter().zip(forms) {
        let jobs = match form {
            Form::Perf => vec![read::perf::read(source)?],
            Form::Time => vec![read::time::read(source)?],
            Form::Mpip => vec![read::mpip::read(source)?],
            Form::Regions => vec![read::regions::read(source)?],
            Form::Sacct => read::sacct::read(source, notes)?,
            Form::Twin => Vec::new(),
        };
        lists.push((source::short(source.name), jobs));
    }
    if let Some(Looks { roots, first, second, seconds }) = looks {
        lists.push(("--pid".into(), pid::between(roots, (first, second), seconds)?));
    }
    if let Some((name, several)) = lists.iter().find(|(_, jobs)| jobs.len() > 1)
        && lists.len() > 1
    {
        return Err(Refused::Sentence(format!(
            "{name}: {} jobs, so it is not clear which of them the other files describe: give one job \
             (`sacct -j JOB`, one program of `--pid`), or this file alone",
            several.len()
        )));
    }
    let merge = lists.len() > 1;
    let mut all: Vec<Job> = lists.into_iter().flat_map(|(_, jobs)| jobs).collect();
    if all.is_empty() {
        all.push(Job::default());
    }
    if merge {
        let mut whole = all.remove(0);
        for other in all {
            whole.add(other, notes);
        }
        all = vec![whole];
    }
    Ok(all)
}

/// Flags count more than files.
fn typed(mut jobs: Vec<Job>, options: &Options) -> Result<Vec<Job>, Refused> {
    let Options { name, interval, bandwidth, wait, threads, ranks, work, .. } = options;
    let single = [
        ("--name", name.is_some()),
        ("--threads", threads.is_some()),
        ("--ranks", ranks.is_some()),
        ("--work", work.is_some()),
    ];
    if let Some((flag, _)) = single.iter().find(|(_, given)| *given && jobs.len() > 1) {
        return Err(Refused::Sentence(format!(
            "{flag} describes one job, and there are {}: give one of them (`sacct -j JOB`)",
            jobs.len()
        )));
    }
    let nothing = jobs.first() == Some(&Job::default());
    if nothing && interval.is_none() && threads.is_none() && ranks.is_none() && work.is_none() {
        return Err(Refused::Sentence(
            "nothing describes the job: give a file, `--pid`, or numbers such as `--threads 8 --interval \
             200us --bandwidth 3GB/s --wait libgomp`"
                .into(),
        ));
    }
    let seconds = |ns: &u64, flag: &str| Num::new(*ns as f64 / 1e9, flag);
    for job in &mut jobs {
        if let Some(name) = name {
            job.name = Some(Word { text: name.clone(), origin: "--name".into() });
        }
        if let Some(interval) = interval {
            job.interval = Some(seconds(interval, "--interval"));
        }
        if let Some(rate) = bandwidth {
            job.demand = Some((*rate as f64, *rate as f64, "--bandwidth".into()));
        }
        if let Some(wait) = wait {
            job.runtime = Some(Word { text: wait.clone(), origin: "--wait".into() });
        }
        if let Some(threads) = threads {
            job.threads = Some(Num::new(f64::from(*threads), "--threads"));
        }
        if let Some(ranks) = ranks {
            job.ranks = Some(Num::new(f64::from(*ranks), "--ranks"));
        }
        if let Some(work) = work {
            job.work = Some(seconds(work, "--work"));
        }
    }
    Ok(jobs)
}
