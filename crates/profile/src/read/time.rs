//! Reports of GNU time: `/usr/bin/time -v`.

use import::Refused;

use crate::job::{Job, Word};
use crate::source::{Line, Num, Source, finite, short};

/// The first line of a report.
const FIRST: &str = "Command being timed:";

pub(crate) fn fits(text: &str) -> bool {
    text.lines().take(2_000).any(|line| line.trim_start().starts_with(FIRST))
}

/// The job of a report. Output of the program may be before it, as when both go to one file.
pub(crate) fn read(source: &Source<'_>) -> Result<Job, Refused> {
    let mut job = Job::default();
    let (mut user, mut system, mut involuntary) = (None, None, None);
    for line in source.lines() {
        let Some((key, value)) = field(line.text) else { continue };
        let number = |right| source.number(&line, key, value, right).map(Some);
        match key {
            "Command being timed" => {
                if job.name.is_some() {
                    let right = "one report in each file: use `-o FILE` without `-a`";
                    return Err(source.wrong(&line, "a second report in the same file", right));
                }
                let name = program(value);
                let origin = source.origin(&line, "command");
                job.remarks.extend(starts_jobs(&name).then(|| {
                    format!(
                        "{name} starts jobs that compute without barriers ({origin}); better, with N for the \
                         number of all jobs and tasks: that at once: workload: {{ make: {{ jobs: N, compute: \
                         work / N }} }}"
                    )
                }));
                job.name = Some(Word { text: name, origin });
            }
            "User time (seconds)" => user = number("`3.62`")?,
            "System time (seconds)" => system = number("`0.05`")?,
            "Elapsed (wall clock) time (h:mm:ss or m:ss)" => {
                job.elapsed = Some(elapsed(source, &line, value)?);
            }
            "Voluntary context switches" => job.sleeps = number("`9`")?,
            "Involuntary context switches" => involuntary = number("`966`")?,
            "Maximum resident set size (kbytes)" => {
                let kib = source.number(&line, key, value, "`1744`")?.value;
                job.remarks.push(format!(
                    "largest process: {} in memory ({})",
                    notation::number::bytes((kib * 1024.0) as u64),
                    source.origin(&line, "maximum resident set size")
                ));
            }
            "Exit status" if finite(value).is_some_and(|status| status > 0.0) => {
                job.remarks.push(format!(
                    "it ended with exit status {} ({}:{}): is this a whole run?",
                    short(value),
                    short(source.name),
                    line.number
                ));
            }
            _ => {}
        }
    }
    let (Some(user), Some(_)) = (&user, &job.elapsed) else {
        let missing = if user.is_none() { "User time (seconds)" } else { "Elapsed (wall clock) time" };
        return Err(source.refused(
            &format!("the line `{missing}` is missing: the report is cut off"),
            "`/usr/bin/time -v -o time.txt PROGRAM` writes a whole one",
        ));
    };
    let system = system.map_or(0.0, |num| num.value);
    job.cpu = Some(Num::new(user.value + system, format!("{} and System time", user.origin)));
    if let (Some(sleeps), Some(involuntary)) = (&job.sleeps, &involuntary) {
        let sum = sleeps.value + involuntary.value;
        job.switches = Some(Num::new(sum, format!("{} and Involuntary ones", sleeps.origin)));
    }
    Ok(job)
}

/// The key and the value of a line. The keys contain colons, as that of the elapsed time does.
fn field(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let at = line.find("): ").map(|at| at + 1).or_else(|| line.find(": "))?;
    let (key, value) = line.split_at(at);
    Some((key, value.trim_start_matches(':').trim()))
}

/// `h:mm:ss` or `m:ss.ss` in s.
fn elapsed(source: &Source<'_>, line: &Line<'_>, text: &str) -> Result<Num, Refused> {
    let mut seconds = Some(0.0);
    for part in text.split(':') {
        seconds = seconds.and_then(|before: f64| Some(60.0 * before + finite(part)?));
    }
    let parts = text.split(':').count();
    match seconds.filter(|_| parts == 2 || parts == 3) {
        Some(seconds) => Ok(Num::new(seconds, source.origin(line, "Elapsed"))),
        None => Err(source.wrong(
            line,
            &format!("`{}` is no time", short(text)),
            "such as `0:03.64` or `1:02:03`",
        )),
    }
}

/// Whether a program does nothing but start jobs, so many at once.
fn starts_jobs(name: &str) -> bool {
    ["make", "gmake", "ninja", "cargo", "cmake", "ctest", "xargs", "parallel"].contains(&name)
}

/// The name of the program of a command line in quotation marks.
fn program(command: &str) -> String {
    let first = command.trim_matches('"').split_whitespace().next().unwrap_or_default();
    first.rsplit('/').next().unwrap_or(first).to_owned()
}
