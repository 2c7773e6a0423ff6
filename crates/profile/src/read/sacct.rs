//! `sacct -P`: jobs of Slurm, one line for each job and each of its steps.

use std::collections::BTreeMap;

use import::{Kind, Note, Refused};

use crate::job::{Job, Word};
use crate::source::{Line, Num, Source, finite, short};

/// Columns without which no job can be described, and those with which each line is.
const RIGHT: &str =
    "`sacct -P -j JOB -o JobID,JobName,State,Elapsed,TotalCPU,AllocCPUS,NNodes,NTasks,MaxRSS`";

pub(crate) fn fits(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    first.contains('|') && first.split('|').any(|column| column.trim() == "JobID")
}

/// A job and its steps.
#[derive(Default)]
struct Record<'a> {
    /// The line of the job itself.
    own: Option<(Line<'a>, Vec<&'a str>)>,
    steps: Vec<(Line<'a>, Vec<&'a str>)>,
}

/// Names of columns and their places.
struct Columns<'a> {
    names: Vec<&'a str>,
}

impl Columns<'_> {
    fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| *known == name)
    }

    /// The value of a column, if the line has one that is not empty.
    fn get<'t>(&self, fields: &[&'t str], name: &str) -> Option<&'t str> {
        fields.get(self.place(name)?).map(|value| value.trim()).filter(|value| !value.is_empty())
    }
}

/// The jobs, in the order of the file; those that have not computed are left out with a note.
pub(crate) fn read(source: &Source<'_>, notes: &mut Vec<Note>) -> Result<Vec<Job>, Refused> {
    let (columns, records) = records(source)?;
    let mut jobs = Vec::new();
    for (id, record) in &records {
        // Without `-X` a list of steps alone has no line of the job.
        let Some((line, fields)) = record.own.as_ref().or_else(|| record.steps.first()) else { continue };
        match job(source, &columns, (id, record), (line, fields))? {
            Ok(job) => jobs.push(job),
            Err(why) => notes.push(Note {
                kind: Kind::LeftOut,
                place: format!("{}:{} job {}", short(source.name), line.number, short(id)),
                what: why,
            }),
        }
    }
    distinct(&mut jobs);
    if jobs.is_empty() {
        let why = notes.last().map_or_else(String::new, |note| format!(": {note}"));
        return Err(source.refused(&format!("no job of it can be described{why}"), RIGHT));
    }
    Ok(jobs)
}

/// Jobs of one name get their numbers behind it. The others keep the name, by which `oversim advise share`
/// finds them in a log.
fn distinct(jobs: &mut [Job]) {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for name in jobs.iter().filter_map(|job| job.name.as_ref()) {
        *times.entry(name.text.clone()).or_default() += 1;
    }
    for job in jobs {
        if let (Some(name), Some(number)) = (&mut job.name, &job.number)
            && times.get(&name.text).is_some_and(|times| *times > 1)
        {
            name.text = format!("{}-{number}", name.text);
        }
    }
}

type Records<'a> = Vec<(&'a str, Record<'a>)>;

/// The header and the lines, steps with their jobs.
fn records<'a>(source: &Source<'a>) -> Result<(Columns<'a>, Records<'a>), Refused> {
    let mut lines = source.lines().filter(|line| !line.text.trim().is_empty());
    let Some(header) = lines.next().filter(|line| line.text.contains('|')) else {
        return Err(source.refused("there is no header with `|` between the columns", RIGHT));
    };
    let text = header.text.trim_start_matches('\u{feff}');
    let columns = Columns { names: text.split('|').map(str::trim).collect() };
    let timed = columns.place("Elapsed").or_else(|| columns.place("ElapsedRaw"));
    for (missing, name) in [(columns.place("JobID").is_none(), "JobID"), (timed.is_none(), "Elapsed")] {
        if missing {
            return Err(source.wrong(&header, &format!("the column `{name}` is missing"), RIGHT));
        }
    }
    let mut records: Records<'a> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines {
        let fields: Vec<&str> = line.text.split('|').collect();
        // `sacct -p` ends each line with a bar, the header too.
        if fields.len() != columns.names.len() {
            let what = format!("{} columns, and the header has {}", fields.len(), columns.names.len());
            return Err(source.wrong(
                &line,
                &what,
                "a job name with `|` in it cannot be read: leave JobName out",
            ));
        }
        let id = columns.get(&fields, "JobID").unwrap_or_default();
        let base = id.split('.').next().unwrap_or(id);
        if !base.starts_with(|c: char| c.is_ascii_digit()) {
            let what = format!("`{}` is no number of a job", short(id));
            return Err(source.wrong(&line, &what, "such as `4711`, `4711.batch` or `4711_3.0`"));
        }
        let at = *places.entry(base).or_insert_with(|| {
            records.push((base, Record::default()));
            records.len() - 1
        });
        let Some((_, record)) = records.get_mut(at) else { continue };
        if id == base && record.own.is_none() {
            record.own = Some((line, fields));
        } else {
            record.steps.push((line, fields));
        }
    }
    Ok((columns, records))
}

/// A job, or why it is left out.
fn job(
    source: &Source<'_>,
    columns: &Columns<'_>,
    (id, record): (&str, &Record<'_>),
    (line, fields): (&Line<'_>, &[&str]),
) -> Result<Result<Job, String>, Refused> {
    let time = |name: &str| -> Result<Option<Num>, Refused> {
        let Some(text) = columns.get(fields, name) else { return Ok(None) };
        let raw = name.ends_with("Raw") || name.ends_with("RAW");
        let value = if raw { finite(text) } else { clock(text) };
        let right = if raw { "whole seconds, such as `3605`" } else { "such as `1-02:03:04` or `10:31.250`" };
        match value {
            Some(value) => Ok(Some(Num::new(value, source.origin(line, name)))),
            None => Err(source.wrong(line, &format!("`{}` is no time for {name}", short(text)), right)),
        }
    };
    let number = |name: &str| -> Result<Option<Num>, Refused> {
        match columns.get(fields, name) {
            Some(text) => source.number(line, name, text, "`16`").map(Some),
            None => Ok(None),
        }
    };
    let elapsed = time("ElapsedRaw")?.or(time("Elapsed")?);
    let Some(elapsed) = elapsed.filter(|elapsed| elapsed.value > 0.0) else {
        return Ok(Err("it has not run (Elapsed is 0)".into()));
    };
    let state = columns.get(fields, "State").unwrap_or_default();
    if matches!(state.split_whitespace().next(), Some("RUNNING" | "PENDING" | "SUSPENDED" | "REQUEUED")) {
        return Ok(Err(format!("it has not ended (State is {}), so TotalCPU is not known", short(state))));
    }
    let mut job = Job { elapsed: Some(elapsed.clone()), ..Job::default() };
    job.name = Some(match columns.get(fields, "JobName") {
        Some(name) => Word { text: name.to_owned(), origin: source.origin(line, "JobName") },
        None => Word { text: format!("job-{id}"), origin: source.origin(line, "JobID") },
    });
    job.number = Some(id.to_owned());
    job.allocated = number("AllocCPUS")?.or(number("NCPUS")?).filter(|cpus| cpus.value >= 1.0);
    if job.allocated.is_none()
        && let Some(all) = time("CPUTimeRAW")?
    {
        let cpus = (all.value / elapsed.value).round();
        job.allocated = Some(Num::new(cpus, format!("{} / {}", all.origin, elapsed.origin)));
    }
    job.cpu = time("TotalCPU")?.filter(|cpu| cpu.value > 0.0);
    if job.cpu.is_none() {
        job.remarks.push("TotalCPU is 0 or missing: the cluster does not count cpu time".into());
    }
    if !state.is_empty() && !state.starts_with("COMPLETED") {
        job.remarks.push(format!("State is {}: is this a whole run?", short(state)));
    }
    steps(source, columns, record, &mut job)?;
    nodes(number("NNodes")?.or(number("AllocNodes")?), &mut job);
    Ok(Ok(job))
}

/// Ranks and memory, of the step that has most of them: `.batch` and `.extern` are the script and its
/// surroundings.
fn steps(
    source: &Source<'_>,
    columns: &Columns<'_>,
    record: &Record<'_>,
    job: &mut Job,
) -> Result<(), Refused> {
    let mut memory: Option<(f64, String)> = None;
    for (line, fields) in record.steps.iter().chain(&record.own) {
        let id = columns.get(fields, "JobID").unwrap_or_default();
        let step = id.split_once('.').map_or("", |(_, step)| step);
        if let Some(text) = columns.get(fields, "NTasks") {
            let tasks = source.number(line, "NTasks", text, "`16`")?;
            let numbered = !matches!(step, "batch" | "extern" | "interactive");
            if numbered && job.ranks.as_ref().is_none_or(|ranks| tasks.value > ranks.value) {
                job.ranks = Some(tasks).filter(|tasks| tasks.value >= 1.0);
            }
        }
        if let Some(text) = columns.get(fields, "MaxRSS") {
            let bytes = size(text).ok_or_else(|| {
                let what = format!("`{}` is no size for MaxRSS", short(text));
                source.wrong(line, &what, "such as `1180K` or `5.02G`")
            })?;
            if memory.as_ref().is_none_or(|(most, _)| bytes > *most) {
                memory = Some((bytes, source.origin(line, "MaxRSS")));
            }
        }
    }
    if let Some((bytes, origin)) = memory {
        let text = notation::number::bytes(bytes as u64);
        job.remarks.push(format!("largest task: {text} in memory ({origin})"));
    }
    Ok(())
}

/// A job on several nodes becomes its part on one of them.
fn nodes(nodes: Option<Num>, job: &mut Job) {
    let Some(nodes) = nodes.filter(|nodes| nodes.value > 1.0) else { return };
    let part = |num: &mut Option<Num>| {
        if let Some(num) = num {
            num.value /= nodes.value;
            num.origin += " / NNodes";
        }
    };
    part(&mut job.cpu);
    for num in [&mut job.ranks, &mut job.allocated] {
        part(num);
        if let Some(num) = num {
            num.value = num.value.round().max(1.0);
        }
    }
    job.remarks.push(format!("it ran on {:.0} nodes: this is its part on one of them", nodes.value));
}

/// `[days-][hours:]minutes:seconds[.fraction]` in s.
fn clock(text: &str) -> Option<f64> {
    let (days, rest) = text.split_once('-').map_or((None, text), |(days, rest)| (Some(days), rest));
    let mut seconds = 0.0;
    let parts: Vec<&str> = rest.split(':').collect();
    if !(2..=3).contains(&parts.len()) {
        return None;
    }
    for part in parts {
        seconds = 60.0 * seconds + finite(part)?;
    }
    let days = days.map_or(Some(0.0), finite)?;
    Some(86_400.0 * days + seconds)
}

/// A size as sacct writes it, in bytes: `1180K`, `5.02G`, a number alone.
fn size(text: &str) -> Option<f64> {
    let units = [('K', 10), ('M', 20), ('G', 30), ('T', 40), ('P', 50)];
    let unit = units.iter().find(|(letter, _)| text.ends_with(*letter));
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    if unit.is_none() && number.len() < text.len() {
        return None;
    }
    Some(finite(number)? * f64::from(unit.map_or(0, |(_, power)| *power)).exp2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_those_of_sacct() {
        assert_eq!(clock("1-02:03:04"), Some(93_784.0));
        assert_eq!(clock("10:31.250"), Some(631.25));
        assert_eq!(clock("00:00:00"), Some(0.0));
        for bad in ["", "10", "x:1", "1:2:3:4", "-1:00:00", "1-1:-2", "nan:1"] {
            assert_eq!(clock(bad), None, "{bad}");
        }
        assert_eq!(size("1180K"), Some(1_208_320.0));
        assert_eq!([size("0"), size("12X"), size("-3K"), size("K")], [Some(0.0), None, None, None]);
    }
}
