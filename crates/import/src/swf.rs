//! Job logs in the Standard Workload Format: each job becomes an application that arrives at its time.

use std::collections::{BTreeMap, BTreeSet};

use kernels::DEFAULT_KERNEL;
use notation::number::plural;

use crate::note::Notes;
use crate::page::{self, Page};
use crate::units::{LONGEST, instant, ns, span};
use crate::{Form, Imported, Options, Refused, Source};

/// Fields of a line.
const FIELDS: usize = 18;
/// Most applications of a scenario.
pub(crate) const MOST_JOBS: usize = 4_096;
const SECOND: u64 = 1_000_000_000;

/// Fields by their number in the definition of the format, from 1.
const SUBMITTED: usize = 2;
const RUN_TIME: usize = 4;
const ALLOCATED: usize = 5;
const CPU_TIME: usize = 6;
const REQUESTED: usize = 8;
const REQUESTED_TIME: usize = 9;
const STATUS: usize = 11;
const PRECEDING: usize = 17;
const THINK_TIME: usize = 18;

/// A job.
#[derive(Clone, Debug)]
struct Job<'t> {
    line: usize,
    number: u64,
    fields: [&'t str; FIELDS],
}

impl Job<'_> {
    /// A field; none for -1, which means "not known".
    fn known(&self, field: usize) -> Option<&str> {
        Some(self.fields[field - 1]).filter(|text| !text.starts_with('-'))
    }

    /// Its place in the log.
    fn place(&self) -> String {
        format!("line {}: job {}", self.line, self.number)
    }

    fn whole(&self, field: usize) -> Option<u64> {
        let text = self.known(field)?;
        text.parse().ok().or_else(|| text.parse::<f64>().ok().filter(|n| *n < 1e15).map(|n| n as u64))
    }

    fn time(&self, field: usize) -> Option<u64> {
        ns(self.known(field)?, SECOND)
    }

    /// Processors: those that it got, else those that it asked for.
    fn size(&self) -> Option<(u64, usize)> {
        let of = |field| self.whole(field).filter(|size| *size > 0).map(|size| (size, field));
        of(ALLOCATED).or_else(|| of(REQUESTED))
    }

    /// The time that its user asked for.
    fn estimate(&self) -> Option<u64> {
        self.time(REQUESTED_TIME).filter(|ns| *ns > 0)
    }

    /// A line about a part of the execution of a job that was stopped and went on.
    fn is_part(&self) -> bool {
        matches!(self.known(STATUS), Some("2" | "3" | "4"))
    }
}

/// Imports a job log.
pub(crate) fn import(source: Source<'_>, options: &Options) -> Result<Imported, Refused> {
    let (header, jobs) = read(&source)?;
    let mut page = Page::new();
    let (first, most) = (options.from.max(1) - 1, options.jobs.unwrap_or(MOST_JOBS).min(MOST_JOBS));
    let whole: BTreeSet<u64> = jobs.iter().filter(|job| !job.is_part()).map(|job| job.number).collect();
    let parts = |job: &&Job<'_>| !(job.is_part() && whole.contains(&job.number));
    let dropped = jobs.len() - jobs.iter().filter(parts).count();
    if dropped > 0 {
        let lines = plural(dropped, "line", "lines");
        let what = format!("{lines} about parts of jobs (status 2 to 4) that have a line as a whole");
        page.notes.no_effect("", what);
    }
    let rest: Vec<&Job<'_>> = jobs.iter().filter(parts).skip(first).collect();
    if rest.len() > most {
        let what = format!(
            "{} of {} jobs behind the first {most} (`--jobs`, `--from`; a scenario has at most {MOST_JOBS})",
            rest.len() - most,
            rest.len()
        );
        page.notes.left_out("", what);
    }
    let cores = cores(&header, options, &rest, &mut page.notes)?;
    let chosen = chosen(&mut page, &rest[..rest.len().min(most)], u64::from(cores.0));
    if chosen.is_empty() {
        return Err(source
            .refused("no job of it can be simulated: each lacks its run time, its size or fits no node"));
    }
    unused(&mut page, &chosen);
    let cores_stated = cores.1;
    let cores = cores.0;
    match (&options.machine, cores) {
        (Some(_), _) => page.head(options, 1),
        (None, cores) => {
            page.line(0, &format!("machine: \"package:1 numa:1 core:{cores} pu:1\""), &cores_stated);
            page.line(0, &format!("kernel: {DEFAULT_KERNEL}"), "");
        }
    }
    page.line(0, &format!("admission: {{ threads: {cores} }}"), admitted(&chosen));
    page.line(0, "baseline: none", "");
    page.line(0, "start_jitter: 0s", "");
    page.line(0, "horizon: 240h", "");
    write(&mut page, &chosen);
    page.line(0, "policies: [LOAD]", "");
    Ok(page.done(Form::Swf, source.name, options))
}

/// How jobs wait.
fn admitted(jobs: &[Chosen<'_, '_>]) -> &'static str {
    if jobs.iter().all(|chosen| chosen.job.estimate().is_some()) {
        "a job waits until its processors are free; with `order: easy` short ones may overtake"
    } else {
        "a job waits until its processors are free"
    }
}

/// The header, and the lines with 18 fields.
fn read<'t>(source: &Source<'t>) -> Result<(BTreeMap<&'t str, &'t str>, Vec<Job<'t>>), Refused> {
    let (mut header, mut jobs) = (BTreeMap::new(), Vec::new());
    let mut at = 0;
    for (number, line) in source.text.lines().enumerate() {
        let text = line.trim();
        if let Some(comment) = text.strip_prefix(';') {
            if let Some((key, value)) = comment.split_once(':') {
                header.insert(key.trim(), value.trim());
            }
        } else if !text.is_empty() {
            let mut fields = [""; FIELDS];
            let mut count = 0;
            for word in text.split_whitespace() {
                if word.parse::<f64>().is_err() {
                    let message = format!("`{}` is no number", word.chars().take(40).collect::<String>());
                    return Err(source.wrong(at, message));
                }
                if let Some(field) = fields.get_mut(count) {
                    *field = word;
                }
                count += 1;
            }
            if count != FIELDS {
                return Err(source.wrong(at, format!("a line of SWF has 18 numbers, this one has {count}")));
            }
            let id = fields[0].parse::<f64>().ok().filter(|n| *n >= 0.0).map_or(0, |n| n as u64);
            jobs.push(Job { line: number + 1, number: id, fields });
        }
        at += line.len() + 1;
    }
    Ok((header, jobs))
}

/// The cores of the machine, and why.
fn cores(
    header: &BTreeMap<&str, &str>,
    options: &Options,
    jobs: &[&Job<'_>],
    notes: &mut Notes,
) -> Result<(u32, String), Refused> {
    if options.machine.is_some() || options.cores.is_some() {
        return Ok((page::cpus(options, 1)?, "--cores".into()));
    }
    for key in ["MaxProcs", "MaxNodes"] {
        let stated = header.get(key).and_then(|value| value.split_whitespace().next()?.parse::<u64>().ok());
        let Some(stated) = stated.filter(|cores| *cores > 0) else { continue };
        let cores = stated.min(u64::from(page::MOST_CORES));
        if cores < stated {
            let what = format!("{stated} processors: a machine has at most {} cores", page::MOST_CORES);
            notes.differs(format!("header: {key}"), what);
        }
        return Ok((cores as u32, format!("header: {key}")));
    }
    let largest = jobs.iter().filter_map(|job| Some(job.size()?.0)).max().unwrap_or(1);
    Ok((largest.clamp(1, u64::from(page::MOST_CORES)) as u32, "the largest job".into()))
}

/// A job as it is written.
struct Chosen<'j, 't> {
    job: &'j Job<'t>,
    size: (u64, usize),
    work: u64,
    start: u64,
}

/// The jobs that a scenario can have; the others are noted. Times count from the first one's submission.
fn chosen<'j, 't>(page: &mut Page, jobs: &[&'j Job<'t>], cores: u64) -> Vec<Chosen<'j, 't>> {
    let mut chosen: Vec<Chosen<'j, 't>> = Vec::new();
    for job in jobs {
        match possible(job, cores) {
            Ok((work, size)) => chosen.push(Chosen { job, size, work, start: 0 }),
            Err(why) => page.notes.left_out(job.place(), why),
        }
    }
    let submitted = |c: &Chosen<'_, '_>| c.job.known(SUBMITTED).and_then(instant);
    let begin = chosen.iter().filter_map(submitted).min().unwrap_or(0);
    chosen.retain_mut(|c| {
        let place = c.job.place();
        c.start = submitted(c).map_or(0, |at| at - begin);
        if c.start.saturating_add(c.work) > LONGEST {
            page.notes.left_out(place, "a job that ends more than 240 h after the first submission");
            return false;
        }
        if c.job.known(SUBMITTED).is_none() && c.job.whole(PRECEDING).is_none() {
            page.notes.assumed(place, "a job without submit time (field 2) is there from the start");
        }
        true
    });
    chosen
}

/// The work and the processors of a job, or why it is left out.
fn possible(job: &Job<'_>, cores: u64) -> Result<(u64, (u64, usize)), String> {
    let stated = job.known(RUN_TIME).and_then(|text| text.parse::<f64>().ok()).filter(|time| *time > 0.0);
    if stated.is_none() {
        return Err("a job without run time (field 4)".into());
    }
    let Some(work) = job.time(RUN_TIME).filter(|ns| *ns > 0) else {
        return Err("a run time (field 4) below a ns or above 240 h, the longest that is simulated".into());
    };
    let Some(size) = job.size() else {
        return Err("a job without processors (fields 5 and 8)".into());
    };
    if size.0 > cores {
        return Err(format!("a job with more processors than the {cores} cores of the node"));
    }
    if job.known(SUBMITTED).is_some_and(|text| instant(text).is_none()) {
        return Err("a submit time (field 2) above 584 years".into());
    }
    Ok((work, size))
}

/// Notes the fields that no scenario has.
fn unused(page: &mut Page, jobs: &[Chosen<'_, '_>]) {
    let states = |fields: &[usize]| {
        jobs.iter().filter(|c| fields.iter().any(|field| c.job.known(*field).is_some())).count()
    };
    let differing = |field: usize| {
        let values: BTreeSet<&str> = jobs.iter().filter_map(|c| c.job.known(field)).collect();
        values.len() > 1
    };
    let jobs_with = |count: usize| plural(count, "job", "jobs");
    let memory = states(&[7, 10]);
    if memory > 0 {
        page.notes.left_out(jobs_with(memory), "memory (fields 7 and 10): nothing runs out of memory here");
    }
    for (field, what) in [(15, "the queue (field 15)"), (16, "the partition (field 16)")] {
        if differing(field) {
            let what = format!("{what}: all jobs wait in one line, in the order of their arrival");
            page.notes.left_out(jobs_with(states(&[field])), what);
        }
    }
    let requested = jobs.iter().filter(|c| c.job.estimate().is_some()).count();
    if requested > 0 {
        let what = "the requested time (field 9) is the `estimate`, for `order: easy` of `admission`; no job \
                    is stopped at it";
        page.notes.no_effect(jobs_with(requested), what);
    }
    let unusable = states(&[REQUESTED_TIME]) - requested;
    if unusable > 0 {
        let what = "a requested time (field 9) below a ns or above 240 h: the job has no `estimate`";
        page.notes.left_out(jobs_with(unusable), what);
    }
    let waited = jobs.iter().filter(|c| c.job.time(3).is_some_and(|ns| ns > 0)).count();
    if waited > 0 {
        let what = "the time in the queue (field 3) is simulated anew: compare it with `queue_time`";
        page.notes.no_effect(jobs_with(waited), what);
    }
    let cpu = |c: &&Chosen<'_, '_>| {
        c.job.time(CPU_TIME).is_some_and(|ns| ns > 0 && ns.abs_diff(c.work) * 20 > c.work)
    };
    let idle = jobs.iter().filter(cpu).count();
    if idle > 0 {
        let what = "the cpu time (field 6) differs from the run time by more than 5 %: the tasks compute for \
                    the \
                    whole run time";
        page.notes.differs(jobs_with(idle), what);
    }
    let names = states(&[12, 13, 14]);
    if names > 0 {
        page.notes.no_effect(jobs_with(names), "user, group and executable (fields 12 to 14)");
    }
    let failed = jobs.iter().filter(|c| matches!(c.job.known(STATUS), Some("0" | "5"))).count();
    if failed > 0 {
        let what = "failed or cancelled (status 0 and 5): they run as long as they ran";
        page.notes.no_effect(jobs_with(failed), what);
    }
}

fn write(page: &mut Page, jobs: &[Chosen<'_, '_>]) {
    page.line(0, "apps:", "");
    let mut names = page::Names::default();
    let mut written: BTreeMap<u64, String> = BTreeMap::new();
    for Chosen { job, size, work, start } in jobs {
        let name = names.unique(&format!("job-{}", job.number), "job");
        let before = job.whole(PRECEDING).and_then(|number| written.get(&number));
        if before.is_none() && job.whole(PRECEDING).is_some_and(|number| number > 0) {
            let what = "a job before it (field 17) that is not simulated, or comes behind it: it arrives at \
                        its submit time";
            page.notes.left_out(job.place(), what);
        }
        let arrives = match before {
            Some(before) => {
                let think = job.time(THINK_TIME).unwrap_or(0);
                format!("after: {before}, start: {}", span(think))
            }
            None => format!("start: {}", span(*start)),
        };
        let fields = if before.is_some() { "17, 18" } else { "2" };
        let estimate = job.estimate().map(|ns| format!(", estimate: {}", span(ns))).unwrap_or_default();
        let text = format!(
            "{name}: {{ workload: {{ hog: {{ work: {} }} }}, tasks: {}, {arrives}{estimate} }}",
            span(*work),
            size.0
        );
        let requested = if estimate.is_empty() { "" } else { "9, " };
        page.line(2, &text, &format!("line {}: fields 4, {}, {requested}{fields}", job.line, size.1));
        written.insert(job.number, name);
    }
}
