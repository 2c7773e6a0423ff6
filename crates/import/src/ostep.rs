//! Job lists as the homework of Operating Systems: Three Easy Pieces has them: the flags of its simulators,
//! or lines of `arrival length`.

use crate::page::{self, Page};
use crate::units::{ns, span};
use crate::{Form, Imported, Options, Refused, Source};

/// Most jobs.
const MOST_JOBS: usize = 4_096;
const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// Length of an I/O of `mlfq.py` where none is stated (`-i`), in its unit.
const IO_TIME: u64 = 5;

/// A job, in units of the list.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Job {
    arrival: u64,
    length: u64,
    /// Computes so long between two I/Os; 0: none.
    every: u64,
    origin: String,
}

/// What a list says.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct List {
    jobs: Vec<Job>,
    policy: Option<(String, String)>,
    slice: Option<(u64, String)>,
    io: Option<(u64, String)>,
}

/// True for a list of jobs, by its first lines.
pub(crate) fn fits(text: &str) -> bool {
    let mut lines = text.lines().map(content).filter(|line| !line.is_empty()).take(20).peekable();
    if lines.peek().is_none() {
        return false;
    }
    lines.all(|line| {
        let words: Vec<&str> = line.split([' ', '\t', ',']).filter(|word| !word.is_empty()).take(8).collect();
        let pair = words.len() == 2 && words.iter().all(|word| ns(word, MS).is_some());
        pair || flags(line).is_some() || said(line).is_some()
    })
}

/// A line without its comment.
fn content(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

/// The words of a command line with `-l` or `--jlist`.
fn flags(line: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = line.trim_start_matches('$').split_whitespace().collect();
    let begins = words.first().is_some_and(|word| word.starts_with('-') || word.contains(".py"))
        || words.first().is_some_and(|word| word.starts_with("python"));
    let list = words.iter().any(|word| word.starts_with("-l") || word.starts_with("--jlist"));
    (begins && list).then_some(words)
}

/// A line as `scheduler.py` prints it: `Job 0 ( length = 10 )`.
fn said(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("Job ")?;
    let length = rest.split_once("length = ")?.1;
    length.split([' ', ')']).next()?.parse().ok()
}

/// Imports a job list.
pub(crate) fn import(source: Source<'_>, options: &Options) -> Result<Imported, Refused> {
    let mut page = Page::new();
    let list = read(&source, &mut page)?;
    if list.jobs.is_empty() {
        return Err(source.refused("it has no job"));
    }
    // The unit of `scheduler.py` is a second, that of `mlfq.py` a tick of any length.
    let unit = if list.jobs.iter().any(|job| job.every > 0) || list.io.is_some() { MS } else { SECOND };
    page.notes.assumed("", format!("a unit of time is {}", span(unit)));
    let one = Options { cores: options.cores.or(Some(1)), ..options.clone() };
    if options.machine.is_none() && options.cores.is_none() {
        page.line(0, "machine: \"package:1 numa:1 core:1 pu:1\"", "the simulators have one cpu");
        page.line(0, &format!("kernel: {}", page::KERNEL), "");
    } else {
        page.head(&one, 1);
    }
    page.line(0, "start_jitter: 0s", "");
    page.line(0, "baseline: none", "");
    page.line(0, "horizon: 240h", "");
    page.line(0, "apps:", "");
    for (number, job) in list.jobs.iter().enumerate() {
        write(&mut page, &list, (number, job), unit).map_err(|why| source.refused(&why))?;
    }
    policies(&mut page, &list, unit);
    Ok(page.done(Form::Ostep, source.name, options))
}

fn write(page: &mut Page, list: &List, (number, job): (usize, &Job), unit: u64) -> Result<(), String> {
    let times = |units: u64| {
        let ns = units.checked_mul(unit).filter(|ns| *ns <= crate::units::LONGEST);
        ns.ok_or_else(|| format!("{}: the time {units} is longer than 240 h", job.origin))
    };
    let (arrival, length) = (times(job.arrival)?, times(job.length)?);
    page.line(2, &format!("job-{number}:"), &job.origin);
    if job.every == 0 || job.every >= job.length {
        page.line(4, &format!("workload: {{ hog: {{ work: {} }} }}", span(length)), "length");
    } else {
        let (io, origin) = list.io.clone().unwrap_or((IO_TIME, "the default of -i".into()));
        let (pieces, rest) = (job.length / job.every, job.length % job.every);
        let repeats = if rest == 0 { pieces - 1 } else { pieces };
        page.line(4, "program:", "");
        page.line(6, "code: |", "");
        page.line(8, &format!("repeat {repeats} {{"), "length by the time between I/Os");
        page.line(10, &format!("run {}", span(times(job.every)?)), "");
        page.line(10, &format!("io disk-{number} {}", span(times(io.max(1))?)), &origin);
        page.line(8, "}", "");
        let last = if rest == 0 { job.every } else { rest };
        page.line(8, &format!("run {}", span(times(last)?)), "");
    }
    if job.every == 0 || job.every >= job.length {
        page.line(4, "tasks: 1", "");
    }
    page.line(4, &format!("start: {}", span(arrival)), "arrival");
    Ok(())
}

/// The policies that are compared.
fn policies(page: &mut Page, list: &List, unit: u64) {
    let slice = list.slice.as_ref().map(|(units, origin)| (units.saturating_mul(unit), origin.clone()));
    let policy = match list.policy.as_ref().map(|(name, origin)| (name.to_uppercase(), origin)) {
        Some((name, _)) if name == "FIFO" => {
            // Longer than any job: the first one runs to its end.
            (
                "policies: [{ FIFO: { slice: 1000s } }]".to_owned(),
                "-p: no slice ends before 1,000 s".to_owned(),
            )
        }
        Some((name, _)) if name == "RR" => {
            let slice = slice.map_or(unit, |(ns, _)| ns).clamp(MS, 1_000 * SECOND);
            (format!("policies: [{{ FIFO: {{ slice: {} }} }}]", span(slice)), "-p, -q".to_owned())
        }
        Some((name, origin)) => {
            let what =
                format!("the policy {name}: `oversim explain EDF` orders by deadlines, `MLFQ` by levels");
            page.notes.left_out(origin.clone(), what);
            ("policies: [LOAD]".to_owned(), String::new())
        }
        None => {
            if let Some((_, origin)) = slice {
                page.notes.left_out(origin, "a slice without a policy");
            }
            page.notes.assumed("", "the policies are compared: first come first served, and Linux's");
            ("policies: [{ FIFO: { slice: 1000s } }, LOAD]".to_owned(), "assumed".to_owned())
        }
    };
    page.line(0, &policy.0, &policy.1);
}

fn read(source: &Source<'_>, page: &mut Page) -> Result<List, Refused> {
    let mut list = List::default();
    let mut at = 0;
    for (number, line) in source.text.lines().enumerate() {
        let (place, text) = (format!("line {}", number + 1), content(line));
        let wrong = |why: &str| source.wrong(at, why);
        if list.jobs.len() > MOST_JOBS {
            return Err(wrong(&format!("more than {MOST_JOBS} jobs")));
        }
        if let Some(words) = flags(text) {
            command(&mut list, page, &words, &place).map_err(|why| wrong(&why))?;
        } else if let Some(length) = said(text) {
            list.jobs.push(Job { arrival: 0, length, every: 0, origin: place });
        } else if !text.is_empty() {
            let words: Vec<u64> = numbers(text, [' ', '\t', ',']).map_err(|why| wrong(&why))?;
            let [arrival, length] = words[..] else {
                return Err(wrong("a line is `arrival length`, or the flags of a simulator with `-l`"));
            };
            list.jobs.push(Job { arrival, length, every: 0, origin: place });
        }
        at += line.len() + 1;
    }
    if let Some(empty) = list.jobs.iter().find(|job| job.length == 0) {
        return Err(source.refused(&format!("{}: a job of length 0", empty.origin)));
    }
    Ok(list)
}

/// Whole numbers with these characters between them.
fn numbers<const N: usize>(text: &str, between: [char; N]) -> Result<Vec<u64>, String> {
    let words = text.split(between).map(str::trim).filter(|word| !word.is_empty());
    let read = |word: &str| {
        let shown: String = word.chars().take(40).collect();
        word.parse::<u64>().map_err(|_| format!("`{shown}` is no whole number"))
    };
    words.map(read).collect()
}

/// The flags of `scheduler.py` and `mlfq.py`.
fn command(list: &mut List, page: &mut Page, words: &[&str], place: &str) -> Result<(), String> {
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix('-') else { continue };
        let (name, inline) = match flag.strip_prefix('-') {
            Some(long) => long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value))),
            // `-l10,20` and `-l 10,20`.
            None => (flag.get(..1).unwrap_or_default(), flag.get(1..).filter(|rest| !rest.is_empty())),
        };
        let mut value = || inline.or_else(|| words.next()).ok_or(format!("`{word}` needs a value"));
        let origin = format!("{place}: {word}");
        match name {
            "l" | "jlist" => jobs(list, value()?, &origin)?,
            "p" | "policy" => list.policy = Some((value()?.to_owned(), origin)),
            "q" | "quantum" => list.slice = Some((one(value()?)?, origin)),
            "i" | "iotime" => list.io = Some((one(value()?)?, origin)),
            "c" | "compute" => {}
            "n" | "j" | "m" | "s" | "M" | "B" | "a" | "A" | "Q" | "numQueues" | "jobs" | "maxlen"
            | "seed" | "boost" | "allotment" | "quantumlist" | "allotmentlist" | "numJobs" | "maxio" => {
                let value = value()?;
                let what =
                    format!("`{name} {}` of the simulator", value.chars().take(40).collect::<String>());
                page.notes.left_out(origin, what);
            }
            _ => page.notes.left_out(origin, "a flag of the simulator"),
        }
    }
    Ok(())
}

fn one(text: &str) -> Result<u64, String> {
    match numbers(text, [','])?[..] {
        [value] if value > 0 => Ok(value),
        _ => Err("a whole number from 1 on is due here".into()),
    }
}

/// `10,20,30`, lengths of jobs that arrive together, or `0,20,0:5,10,1`: arrival, length and time between
/// I/Os.
fn jobs(list: &mut List, text: &str, origin: &str) -> Result<(), String> {
    let split = text.contains(':') || numbers(text, [','])?.len() == 3 && list.io.is_some();
    if !split {
        for length in numbers(text, [','])? {
            list.jobs.push(Job { arrival: 0, length, every: 0, origin: origin.to_owned() });
        }
        return Ok(());
    }
    for job in text.split(':') {
        let [arrival, length, every] = numbers(job, [','])?[..] else {
            return Err("a job is `arrival,length,time between I/Os`, with `:` between jobs".into());
        };
        list.jobs.push(Job { arrival, length, every, origin: origin.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_recognised_and_prose_is_not() {
        for text in ["-l 10,20,30", "./mlfq.py -l 0,20,0:5,10,1", "0 10\n# x\n5,20\n", "Job 0 ( length = 1 )"]
        {
            assert!(fits(text), "{text}");
        }
        for text in ["", "#", "1 2 3", "a b", "ls -l", "name: x", "10"] {
            assert!(!fits(text), "{text}");
        }
    }

    #[test]
    fn jobs_have_three_numbers_or_one() {
        let mut list = List::default();
        jobs(&mut list, "10,20", "o").unwrap();
        jobs(&mut list, "0,20,0:5,10,1", "o").unwrap();
        let read: Vec<_> = list.jobs.iter().map(|job| (job.arrival, job.length, job.every)).collect();
        assert_eq!(read, [(0, 10, 0), (0, 20, 0), (0, 20, 0), (5, 10, 1)]);
        assert!(jobs(&mut list, "0,20:5", "o").is_err() && jobs(&mut list, "x", "o").is_err());
    }
}
