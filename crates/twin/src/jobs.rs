//! Jobs: a thread that starts one program after the other and waits for their ends, as `make` does.

use std::collections::{BTreeMap, BTreeSet};

use crate::course::{Courses, Step};
use crate::threads::{Id, Threads};

/// Fewest jobs.
const FEWEST: usize = 3;

/// A thread that starts jobs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Jobs {
    /// Who starts them.
    pub starter: Id,
    /// The first thread of each job, in the order of their starts.
    pub jobs: Vec<Id>,
    /// To which job each thread of one belongs, by its place in `jobs`.
    pub of: BTreeMap<Id, usize>,
    /// The largest number of jobs that were alive at once.
    pub slots: usize,
    /// Jobs that started when none was alive: all before them had ended.
    pub after_all: BTreeSet<usize>,
}

/// Jobs among the threads of a program: the thread that started the most processes which end before it, and
/// for which it waited.
#[must_use]
pub fn find(threads: &Threads, courses: &Courses, program: &BTreeSet<Id>) -> Option<Jobs> {
    let mut children: BTreeMap<Id, Vec<Id>> = BTreeMap::new();
    for id in program {
        let Some(thread) = threads.get(*id) else { continue };
        let process = thread.process.is_none_or(|process| process == thread.tid);
        let executed = courses.list.get(id).is_some_and(|course| course.ended && course.steps.iter().any(|timed| timed.step == Step::Exec));
        if let Some(parent) = thread.parent
            && process
            && executed
            && program.contains(&parent)
        {
            children.entry(parent).or_default().push(*id);
        }
    }
    let (starter, jobs) = children.into_iter().max_by_key(|(id, jobs)| (jobs.len(), std::cmp::Reverse(*id)))?;
    let ours: BTreeSet<Id> = jobs.iter().copied().collect();
    let waited = courses.list.get(&starter).map_or(0, |course| {
        let ends = course.steps.iter().filter(|timed| matches!(timed.step, Step::Wait { whom, .. } if ours.contains(&whom)));
        ends.count()
    });
    if jobs.len() < FEWEST || 2 * waited < jobs.len() {
        return None;
    }
    let mut of: BTreeMap<Id, usize> = jobs.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    for (id, thread) in threads.iter().filter(|(id, _)| program.contains(id)) {
        if let Some(place) = thread.parent.and_then(|parent| of.get(&parent)).copied() {
            of.entry(id).or_insert(place);
        }
    }
    let span = |id: &Id| courses.list.get(id).map_or((0, 0), |course| (course.first, course.last));
    let spans: Vec<(u64, u64)> = jobs.iter().map(span).collect();
    let alive = |at: u64, before: usize| {
        spans.iter().take(before).filter(|(first, last)| *first <= at && *last > at).count()
    };
    let slots = (0..spans.len()).map(|place| alive(spans[place].0, place) + 1).max().unwrap_or(1);
    let after_all = (1..spans.len()).filter(|place| alive(spans[*place].0, *place) == 0).collect();
    Some(Jobs { starter, jobs, of, slots, after_all })
}
