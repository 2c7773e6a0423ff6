//! What is known of one job, as files and flags state it, before it becomes numbers of a scenario.

use import::{Kind, Note};

use crate::source::Num;

/// Two files that state the same quantity should agree to this share; otherwise they are of different runs.
const AGREE: f64 = 0.1;

/// A word and where it is from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) origin: String,
}

/// Parallel regions of one kind of a program.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Region {
    /// How often it was entered.
    pub(crate) calls: f64,
    /// Threads of its team.
    pub(crate) threads: f64,
    /// Wall-clock time in it, all calls together, in s; 0 for a part of another region.
    pub(crate) time: f64,
    /// Time at its barrier, all threads and calls together, in s; none where the file does not say it.
    pub(crate) barrier: Option<f64>,
}

/// Regions and the lines that they are from.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Regions {
    pub(crate) all: Vec<Region>,
    pub(crate) origin: String,
}

/// What mpiP reports of ranks.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Mpi {
    /// Time from `MPI_Init` to `MPI_Finalize` and time within MPI of each rank, in s.
    pub(crate) ranks: Vec<(f64, f64)>,
    /// Calls that make all ranks wait for each other, for each rank; none where the report has no counts.
    pub(crate) collectives: Option<Num>,
    /// Other calls that wait for another rank, for each rank.
    pub(crate) receives: Option<Num>,
    pub(crate) origin: String,
}

/// What is known of one job.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Job {
    pub(crate) name: Option<Word>,
    /// The number that a resource manager gave it.
    pub(crate) number: Option<String>,
    /// Wall-clock time, in s.
    pub(crate) elapsed: Option<Num>,
    /// Cpu time of all tasks, in s.
    pub(crate) cpu: Option<Num>,
    /// Processes (ranks).
    pub(crate) ranks: Option<Num>,
    /// Threads, of each rank where there are several.
    pub(crate) threads: Option<Num>,
    /// Cpus that it had.
    pub(crate) allocated: Option<Num>,
    /// Memory traffic of a task while it computes, in bytes/s: lower and upper end.
    pub(crate) demand: Option<(f64, f64, String)>,
    /// Share of its time that a task waits for memory, 0 to 1: lower and upper end.
    pub(crate) bound: Option<(f64, f64, String)>,
    /// Sleeps (voluntary context switches).
    pub(crate) sleeps: Option<Num>,
    /// Switches of both kinds.
    pub(crate) switches: Option<Num>,
    /// Time in run queues, of all tasks, in s.
    pub(crate) queued: Option<Num>,
    /// How tasks wait, as a scenario writes a runtime.
    pub(crate) runtime: Option<Word>,
    /// Work between two barriers of a task, in s.
    pub(crate) interval: Option<Num>,
    /// Work of all tasks, in s.
    pub(crate) work: Option<Num>,
    pub(crate) regions: Option<Regions>,
    pub(crate) mpi: Option<Mpi>,
    /// Quota and period in us.
    pub(crate) quota: Option<(u64, u64, String)>,
    /// Sentences for the head of its application: known, but no part of a scenario.
    pub(crate) remarks: Vec<String>,
}

impl Job {
    /// A part (0 to 1) of the job, in which everything happens in the same proportions.
    pub(crate) fn part(&self, part: f64) -> Self {
        let mut job = self.clone();
        let numbers = [
            &mut job.elapsed,
            &mut job.cpu,
            &mut job.sleeps,
            &mut job.switches,
            &mut job.queued,
            &mut job.work,
        ];
        for number in numbers.into_iter().flatten() {
            number.value *= part;
        }
        for region in job.regions.iter_mut().flat_map(|regions| &mut regions.all) {
            region.calls *= part;
            region.time *= part;
            region.barrier = region.barrier.map(|barrier| barrier * part);
        }
        if let Some(mpi) = &mut job.mpi {
            for (app, within) in &mut mpi.ranks {
                *app *= part;
                *within *= part;
            }
            for number in [&mut mpi.collectives, &mut mpi.receives].into_iter().flatten() {
                number.value *= part;
            }
        }
        job
    }

    /// Adds what another file says of the same job. What is known already stays; a note tells where the files
    /// disagree.
    pub(crate) fn add(&mut self, other: Self, notes: &mut Vec<Note>) {
        let mut number = |mine: &mut Option<Num>, other: Option<Num>, what: &str| match (mine.as_ref(), other)
        {
            (Some(mine), Some(other)) if differ(mine.value, other.value) => notes.push(Note {
                kind: Kind::Differs,
                place: other.origin.clone(),
                what: format!(
                    "{what} is {}, and {} in {}, which counts: are the files of one run?",
                    notation::number::short(other.value),
                    notation::number::short(mine.value),
                    mine.origin
                ),
            }),
            (None, other) => *mine = other,
            _ => {}
        };
        number(&mut self.elapsed, other.elapsed, "the wall-clock time in s");
        number(&mut self.cpu, other.cpu, "the cpu time in s");
        number(&mut self.ranks, other.ranks, "the number of ranks");
        number(&mut self.threads, other.threads, "the number of threads");
        number(&mut self.allocated, other.allocated, "the number of cpus");
        number(&mut self.sleeps, other.sleeps, "the number of voluntary context switches");
        number(&mut self.switches, other.switches, "the number of context switches");
        self.queued = self.queued.take().or(other.queued);
        self.interval = self.interval.take().or(other.interval);
        self.work = self.work.take().or(other.work);
        self.name = self.name.take().or(other.name);
        self.demand = self.demand.take().or(other.demand);
        self.bound = self.bound.take().or(other.bound);
        self.runtime = self.runtime.take().or(other.runtime);
        self.regions = self.regions.take().or(other.regions);
        self.mpi = self.mpi.take().or(other.mpi);
        self.quota = self.quota.take().or(other.quota);
        self.remarks.extend(other.remarks);
    }
}

fn differ(one: f64, other: f64) -> bool {
    (one - other).abs() > AGREE * one.max(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_stays_and_a_disagreement_is_told() {
        let mut notes = Vec::new();
        let of = |value| Job { elapsed: Some(Num::new(value, format!("at {value}"))), ..Job::default() };
        let mut job = of(10.0);
        job.add(Job { cpu: Some(Num::new(3.0, "b")), ..of(10.5) }, &mut notes);
        assert!(notes.is_empty() && job.cpu.is_some());
        job.add(of(20.0), &mut notes);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].to_string().contains("are the files of one run"), "{}", notes[0]);
        assert_eq!(job.elapsed.map(|num| num.value.to_bits()), Some(10.0_f64.to_bits()));
    }
}
