//! Reports of mpiP: time of each rank within MPI, and how often each place calls.

use import::Refused;

use crate::job::{Job, Mpi, Word};
use crate::source::{Line, Num, Source, finite, short};

/// The first line of a report.
const FIRST: &str = "@ mpiP";
/// Headings of the tables that are read.
const TIMES: &str = "@--- MPI Time (seconds)";
const CALLS: &str = "@--- Callsite Time statistics (all";
const SUMS: &str = "@--- Aggregate Time (top";
/// Calls for which every rank waits for all others. `Bcast`, `Scatter` and `Reduce` are left out: small ones
/// let the root, or all but it, go on.
const ALL: [&str; 14] = [
    "Barrier",
    "Allreduce",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Reduce_scatter",
    "Reduce_scatter_block",
    "Comm_dup",
    "Comm_split",
    "Win_fence",
    "File_write_all",
    "File_read_all",
];
/// Calls that wait for a message of another rank.
const SOME: [&str; 7] = ["Recv", "Sendrecv", "Sendrecv_replace", "Wait", "Waitall", "Waitany", "Waitsome"];
const RIGHT: &str = "`MPIP=-t0 mpirun -np N PROGRAM` with libmpiP preloaded writes PROGRAM.N.PID.1.mpiP";

pub(crate) fn fits(text: &str) -> bool {
    text.lines().take(200).any(|line| line.trim_end() == FIRST || line.starts_with(TIMES))
}

/// The table in which a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    None,
    Times,
    Calls,
    Sums,
}

/// What the tables say.
#[derive(Default)]
struct Found {
    ranks: Vec<(f64, f64)>,
    origin: String,
    /// Calls of all ranks, by kind, and the first line that says so.
    all: Option<Num>,
    some: Option<Num>,
    /// The counts are of each rank, so the aggregated ones do not count.
    each: bool,
}

/// The job of a report.
pub(crate) fn read(source: &Source<'_>) -> Result<Job, Refused> {
    let mut job = Job::default();
    let (mut table, mut found) = (Table::None, Found::default());
    for line in source.lines() {
        let text = line.text.trim();
        if let Some(command) = text.strip_prefix("@ Command :") {
            let first = command.split_whitespace().next().unwrap_or_default();
            let program = first.rsplit('/').next().unwrap_or(first).to_owned();
            job.name = Some(Word { text: program, origin: source.origin(&line, "Command") });
        }
        if text.starts_with("@---") {
            table = match text {
                _ if text.starts_with(TIMES) => Table::Times,
                _ if text.starts_with(CALLS) => Table::Calls,
                _ if text.starts_with(SUMS) => Table::Sums,
                _ => Table::None,
            };
        } else if !text.is_empty() && !text.starts_with("---") {
            match table {
                Table::Times => rank(source, &line, &mut found)?,
                Table::Calls => calls(source, &line, &mut found)?,
                Table::Sums => sums(source, &line, &mut found)?,
                Table::None => {}
            }
        }
    }
    if found.ranks.is_empty() {
        return Err(source.refused("there is no rank in the table `MPI Time (seconds)`", RIGHT));
    }
    let ranks = found.ranks.len() as f64;
    let longest = found.ranks.iter().map(|(app, _)| *app).fold(0.0, f64::max);
    if longest <= 0.0 {
        let what = format!("all ranks have an AppTime of 0 ({})", found.origin);
        return Err(source.refused(&what, "AppTime is the time from MPI_Init to MPI_Finalize, in s"));
    }
    job.elapsed = Some(Num::new(longest, format!("{} largest AppTime", found.origin)));
    job.ranks = Some(Num::new(ranks, format!("{} ranks", found.origin)));
    let each = |calls: Option<Num>| {
        calls.map(|num| Num::new(num.value / ranks, format!("{} Count of all ranks / {ranks}", num.origin)))
    };
    job.mpi = Some(Mpi {
        ranks: found.ranks,
        collectives: each(found.all),
        receives: each(found.some),
        origin: found.origin,
    });
    Ok(job)
}

/// `Task AppTime MPITime MPI%`.
fn rank(source: &Source<'_>, line: &Line<'_>, found: &mut Found) -> Result<(), Refused> {
    let words: Vec<&str> = line.text.split_whitespace().collect();
    let [task, app, mpi, ..] = words[..] else {
        return Err(source.wrong(line, "fewer than 3 columns", "`Task AppTime MPITime MPI%`"));
    };
    if task == "Task" || task == "*" {
        return Ok(());
    }
    source.number(line, "Task", task, "`0`")?;
    let app = source.number(line, "AppTime", app, "`9.51`")?.value;
    let mpi = source.number(line, "MPITime", mpi, "`0.168`")?.value;
    // Rounded to three digits each.
    if mpi > 1.01 * app {
        let what = format!("MPITime {mpi} is longer than AppTime {app}");
        return Err(source.wrong(line, &what, "time within MPI is a part of AppTime"));
    }
    if found.ranks.is_empty() {
        found.origin = format!("{}:{}", short(source.name), line.number);
    }
    found.ranks.push((app, mpi.min(app)));
    Ok(())
}

/// `Name Site Rank Count Max Mean Min App% MPI%`: the line of all ranks (`*`) of each place.
fn calls(source: &Source<'_>, line: &Line<'_>, found: &mut Found) -> Result<(), Refused> {
    let words: Vec<&str> = line.text.split_whitespace().collect();
    if let [name, _, "*", count, ..] = words[..] {
        let count = source.number(line, "Count", count, "`4`")?;
        if !found.each {
            (found.all, found.some, found.each) = (None, None, true);
        }
        add(found, name, &count, source, line);
    }
    Ok(())
}

/// `Call Site Time App% MPI% Count COV`: since 3.5 with counts; the first columns of older ones end before.
fn sums(source: &Source<'_>, line: &Line<'_>, found: &mut Found) -> Result<(), Refused> {
    let words: Vec<&str> = line.text.split_whitespace().collect();
    if found.each || words.first() == Some(&"Call") {
        return Ok(());
    }
    if let [name, _, _, _, _, count, _] = words[..]
        && finite(count).is_some()
    {
        let count = source.number(line, "Count", count, "`4`")?;
        add(found, name, &count, source, line);
    }
    Ok(())
}

fn add(found: &mut Found, name: &str, count: &Num, source: &Source<'_>, line: &Line<'_>) {
    let kind = if ALL.contains(&name) {
        &mut found.all
    } else if SOME.contains(&name) {
        &mut found.some
    } else {
        return;
    };
    match kind {
        Some(sum) => sum.value += count.value,
        None => *kind = Some(Num::new(count.value, format!("{}:{} ff.", short(source.name), line.number))),
    }
}
