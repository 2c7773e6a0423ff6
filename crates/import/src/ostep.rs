//! Job lists as the homework of Operating Systems: Three Easy Pieces has them: the flags of its simulators,
//! or lines of `arrival length`.

use kernels::DEFAULT_KERNEL;

use crate::page::Page;
use crate::units::span;
use crate::{Form, Imported, Options, Refused, Source};

/// Most jobs.
const MOST_JOBS: usize = 4_096;
const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// Parts of a unit in which times are kept.
const UNIT: u64 = 1_000_000;
/// Length of an I/O of `mlfq.py` where none is stated (`-i`).
const IO_TIME: u64 = 5 * UNIT;
/// Longest slice of the policy `FIFO`, longest quantum and boost of `MLFQ`, in ns.
const LONGEST: [u64; 3] = [1_000 * SECOND, 10 * SECOND, 1_000 * SECOND];
/// The defaults of `mlfq.py`: levels, quantum and boost.
const MLFQ: [u64; 3] = [3, 10 * UNIT, 0];

/// A job, in millionths of the units of the list.
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
    mlfq: Option<Levels>,
}

/// What `mlfq.py` is told.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Levels {
    levels: Option<u64>,
    allotment: Option<u64>,
    boost: Option<u64>,
    forgets: bool,
}

/// True for a list of jobs, by its first lines.
pub(crate) fn fits(text: &str) -> bool {
    let mut lines = text.lines().map(content).filter(|line| !line.is_empty()).take(20).peekable();
    if lines.peek().is_none() {
        return false;
    }
    lines.all(|line| {
        let words: Vec<&str> = line.split([' ', '\t', ',']).filter(|word| !word.is_empty()).take(8).collect();
        let pair = words.len() == 2 && words.iter().all(|word| time(word).is_some());
        pair || flags(line).is_some() || said(line).is_some()
    })
}

/// A line without its comment.
fn content(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

/// The words of a command line of a simulator, or of its flags alone, with a list of jobs.
fn flags(line: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = line.trim_start_matches('$').split_whitespace().collect();
    let program = words.iter().take(2).any(|word| simulator(word).is_some());
    let begins = program || words.first().is_some_and(|word| word.starts_with('-'));
    let list = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | ':' | '.'))
    };
    let apart = words.windows(2).any(|two| matches!(two[0], "-l" | "--jlist") && list(two[1]));
    let joined = words.iter().any(|word| {
        let value = word.strip_prefix("--jlist=").or_else(|| word.strip_prefix("-l"));
        value.is_some_and(list)
    });
    (begins && (apart || program && joined)).then_some(words)
}

/// The simulator that a word starts.
fn simulator(word: &str) -> Option<&str> {
    let name = word.rsplit('/').next().unwrap_or(word);
    matches!(name, "scheduler.py" | "mlfq.py").then_some(name)
}

/// A line as `scheduler.py` prints it: `Job 0 ( length = 10 )`.
fn said(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("Job ")?;
    let length = rest.split_once("length = ")?.1;
    time(length.split([' ', ')']).next()?)
}

/// A number of units with at most six decimals.
fn time(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if part.len() > 6 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(UNIT)?.checked_add(part)
}

/// Imports a job list.
pub(crate) fn import(source: Source<'_>, options: &Options) -> Result<Imported, Refused> {
    let mut page = Page::new();
    let list = read(&source, &mut page)?;
    if list.jobs.is_empty() {
        return Err(source.refused("it has no job"));
    }
    // The unit of `scheduler.py` is a second, that of `mlfq.py` a tick of any length.
    // Without a policy that takes jobs off the cpu, no slice may end before the longest job.
    let ticks = list.jobs.iter().any(|job| job.every > 0) || list.io.is_some() || list.mlfq.is_some();
    let whole = list.policy.as_ref().is_none_or(|(name, _)| name.eq_ignore_ascii_case("FIFO"));
    let long = list.jobs.iter().any(|job| job.length > 1_000 * UNIT);
    let unit = if ticks || whole && long { MS } else { SECOND };
    page.notes.assumed("", format!("a unit of time is {}", span(unit)));
    let one = Options { cores: options.cores.or(Some(1)), ..options.clone() };
    if options.machine.is_none() && options.cores.is_none() {
        page.line(0, "machine: \"package:1 numa:1 core:1 pu:1\"", "the simulators have one cpu");
        page.line(0, &format!("kernel: {DEFAULT_KERNEL}"), "");
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
        let ns = ns_of(units, unit).filter(|ns| *ns <= crate::units::LONGEST);
        ns.ok_or_else(|| format!("{}: the time {} is longer than 240 h", job.origin, units / UNIT))
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
        page.line(10, &format!("io disk-{number} {}", span(times(io)?)), &origin);
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

/// Parts of units as ns.
fn ns_of(units: u64, unit: u64) -> Option<u64> {
    units.checked_mul(unit / UNIT)
}

/// A time of a policy within its range; a changed one is noted.
fn within(page: &mut Page, place: &str, units: u64, unit: u64, most: u64) -> String {
    let asked = ns_of(units, unit).unwrap_or(u64::MAX);
    let ns = asked.clamp(MS, most);
    if ns != asked {
        let what = format!("a time out of the range of the policy ({} to {})", span(MS), span(most));
        page.notes.differs(place, what);
    }
    span(ns)
}

/// The policies that are compared.
fn policies(page: &mut Page, list: &List, unit: u64) {
    if let Some(mlfq) = &list.mlfq {
        return levels(page, list, mlfq, unit);
    }
    let policy = list.policy.as_ref().map(|(name, origin)| (name.to_uppercase(), origin));
    let longest = list.jobs.iter().map(|job| job.length).max().unwrap_or(0);
    let fifo = format!("{{ FIFO: {{ slice: {} }} }}", span(LONGEST[0]));
    if policy.as_ref().is_none_or(|(name, _)| name == "FIFO")
        && ns_of(longest, unit).is_none_or(|ns| ns > LONGEST[0])
    {
        let what = "a job longer than the longest slice, 1,000 s: others run in between";
        page.notes.differs("the longest job", what);
    }
    let (policies, origin) = match policy.as_ref().map(|(name, origin)| (name.as_str(), origin.as_str())) {
        Some(("FIFO", _)) => (fifo, "-p: no job is longer than the slice"),
        Some(("RR", place)) => {
            let quantum = list.slice.as_ref().map_or(UNIT, |(units, _)| *units);
            let slice = within(page, place, quantum, unit, LONGEST[0]);
            (format!("{{ FIFO: {{ slice: {slice} }} }}"), "-p, -q")
        }
        Some(("SJF", _)) => ("SJF".to_owned(), "-p"),
        Some(("STCF", _)) => ("SRTF".to_owned(), "-p"),
        Some((name, place)) => {
            let shown: String = name.chars().take(40).collect();
            page.notes.left_out(place, format!("the policy {shown}: it is FIFO, RR, SJF or STCF"));
            ("LOAD".to_owned(), "")
        }
        None => {
            if let Some((_, origin)) = &list.slice {
                page.notes.left_out(origin.clone(), "a slice without a policy");
            }
            page.notes.assumed("", "the policies are compared: first come first served, and Linux's");
            (format!("{fifo}, LOAD"), "assumed")
        }
    };
    page.line(0, &format!("policies: [{policies}]"), origin);
}

/// The policy of `mlfq.py`.
fn levels(page: &mut Page, list: &List, mlfq: &Levels, unit: u64) {
    let asked = mlfq.levels.unwrap_or(MLFQ[0]);
    let number = asked.clamp(1, 32);
    if number != asked {
        page.notes.differs("-n", "1 to 32 levels");
    }
    let allotment = mlfq.allotment.unwrap_or(1);
    if allotment > 1 {
        let what = "a task stays on its level for the whole allotment, and tasks of a level take turns after \
                    it, not after each quantum";
        page.notes.differs("-a", what);
    }
    let quantum = list.slice.as_ref().map_or(MLFQ[1], |(units, _)| *units).saturating_mul(allotment);
    let quantum = within(page, "-q, -a", quantum, unit, LONGEST[1]);
    let boost = match mlfq.boost.unwrap_or(MLFQ[2]) {
        0 => "0s".to_owned(),
        units => within(page, "-B", units, unit, LONGEST[2]),
    };
    let policy = format!(
        "policies: [{{ MLFQ: {{ levels: {number}, quantum: {quantum}, growth: equal, boost: {boost}, \
         forgets: {} }} }}]",
        mlfq.forgets
    );
    page.line(0, &policy, "-n, -q times -a, -B, -S, or their defaults");
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

/// Numbers with these characters between them.
fn numbers<const N: usize>(text: &str, between: [char; N]) -> Result<Vec<u64>, String> {
    let words = text.split(between).map(str::trim).filter(|word| !word.is_empty());
    let read = |word: &str| {
        let shown: String = word.chars().take(40).collect();
        time(word).ok_or_else(|| format!("`{shown}` is no number from 0 on with at most six decimals"))
    };
    words.map(read).collect()
}

/// The flags of `scheduler.py` and `mlfq.py`.
fn command(list: &mut List, page: &mut Page, words: &[&str], place: &str) -> Result<(), String> {
    let mut mlfq = words.iter().take(2).any(|word| simulator(word) == Some("mlfq.py"));
    let mut levels = Levels::default();
    let mut lists = Vec::new();
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
        let of_mlfq = ["n", "numQueues", "a", "allotment", "B", "boost", "S", "stay", "i", "iotime", "I"];
        mlfq |= of_mlfq.contains(&name)
            || matches!(name, "iobump" | "Q" | "quantumlist" | "A" | "allotmentlist" | "M" | "maxio");
        match name {
            "l" | "jlist" => lists.push((value()?, origin)),
            "p" | "policy" => list.policy = Some((value()?.to_owned(), origin)),
            "q" | "quantum" => list.slice = Some((one(value()?)?, origin)),
            "i" | "iotime" => list.io = Some((one(value()?)?, origin)),
            "n" | "numQueues" => levels.levels = Some(one(value()?)? / UNIT),
            "a" | "allotment" => levels.allotment = Some((one(value()?)? / UNIT).max(1)),
            "B" | "boost" => levels.boost = Some(numbers(value()?, [','])?.first().copied().unwrap_or(0)),
            "S" | "stay" => levels.forgets = true,
            "c" | "compute" => {}
            "j" | "m" | "s" | "M" | "jobs" | "maxlen" | "seed" | "numJobs" | "maxio" => {
                value()?;
                page.notes.no_effect(origin, "it acts on random lists only");
            }
            "Q" | "A" | "quantumlist" | "allotmentlist" => {
                let shown: String = value()?.chars().take(40).collect();
                page.notes.left_out(origin, format!("`{shown}`: all levels have the same quantum"));
            }
            _ => page.notes.left_out(origin, "a flag of the simulator"),
        }
    }
    for (text, origin) in lists {
        jobs(list, text, &origin, mlfq)?;
    }
    if mlfq {
        list.mlfq = Some(levels);
    }
    Ok(())
}

fn one(text: &str) -> Result<u64, String> {
    match numbers(text, [','])?[..] {
        [value] if value > 0 => Ok(value),
        _ => Err("a number above 0 is due here".into()),
    }
}

/// `10,20,30`, lengths of jobs that arrive together, or, of `mlfq.py`, `0,20,0:5,10,1`: arrival, length and
/// time between I/Os.
fn jobs(list: &mut List, text: &str, origin: &str, mlfq: bool) -> Result<(), String> {
    if !mlfq && !text.contains(':') {
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
        for text in [
            "-l 10,20,30",
            "./mlfq.py -l 0,20,0:5,10,1",
            "python3 scheduler.py -l10.0",
            "0 10\n# x\n5,20\n",
            "Job 0 ( length = 1 )",
        ] {
            assert!(fits(text), "{text}");
        }
        for text in ["", "#", "1 2 3", "a b", "ls -l", "name: x", "10", "-lm", "gcc -l 3", "x.py -l 3"] {
            assert!(!fits(text), "{text}");
        }
    }

    #[test]
    fn jobs_have_three_numbers_or_one() {
        let mut list = List::default();
        jobs(&mut list, "10,20.0", "o", false).unwrap();
        jobs(&mut list, "0,20,0:5,10,1", "o", true).unwrap();
        jobs(&mut list, "0,20,7", "o", true).unwrap();
        let read: Vec<_> =
            list.jobs.iter().map(|job| [job.arrival, job.length, job.every].map(|n| n / UNIT)).collect();
        assert_eq!(read, [[0, 10, 0], [0, 20, 0], [0, 20, 0], [5, 10, 1], [0, 20, 7]]);
        for wrong in ["0,20:5", "x", "0,20"] {
            assert!(jobs(&mut list, wrong, "o", true).is_err(), "{wrong}");
        }
    }
}
