//! Jobs: a thread that starts one program after the other and waits for their ends, as `make` does.

#[cfg(test)]
mod tests;

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

impl Jobs {
    /// The place of a job, by its first thread.
    #[must_use]
    pub fn place(&self, first: Id) -> Option<usize> {
        self.of.get(&first).copied().filter(|place| self.jobs.get(*place) == Some(&first))
    }
}

/// Threads of different jobs wait for each other, as in a pipeline: they are no jobs.
fn tied(courses: &Courses, of: &BTreeMap<Id, usize>) -> bool {
    let (mut within, mut between) = (0, 0);
    for (id, job) in of {
        for timed in courses.list.get(id).into_iter().flat_map(|course| &course.steps) {
            match timed.step {
                Step::Wait { whom, slept: Some(_) } if of.get(&whom) == Some(job) => within += 1,
                Step::Wait { whom, slept: Some(_) } if of.contains_key(&whom) => between += 1,
                _ => {}
            }
        }
    }
    between > within && between >= of.len()
}

/// Jobs among the threads of a program: the thread that started the most processes which end before it, and
/// for which it waited.
#[must_use]
pub fn find(threads: &Threads, courses: &Courses, program: &BTreeSet<Id>) -> Option<Jobs> {
    let mut children: BTreeMap<Id, Vec<Id>> = BTreeMap::new();
    for id in program {
        let Some(thread) = threads.get(*id) else { continue };
        let process = thread.process.is_none_or(|process| process == thread.tid);
        let executed = courses
            .list
            .get(id)
            .is_some_and(|course| course.ended && course.steps.iter().any(|timed| timed.step == Step::Exec));
        if let Some(parent) = thread.parent
            && process
            && executed
            && program.contains(&parent)
        {
            children.entry(parent).or_default().push(*id);
        }
    }
    let (starter, jobs) =
        children.into_iter().max_by_key(|(id, jobs)| (jobs.len(), std::cmp::Reverse(*id)))?;
    let ours: BTreeSet<Id> = jobs.iter().copied().collect();
    let waited = courses.list.get(&starter).map_or(0, |course| {
        let ends = course
            .steps
            .iter()
            .filter(|timed| matches!(timed.step, Step::Wait { whom, .. } if ours.contains(&whom)));
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
    if tied(courses, &of) {
        return None;
    }
    let span = |id: &Id| courses.list.get(id).map_or((0, 0), |course| (course.first, course.last));
    let spans: Vec<(u64, u64)> = jobs.iter().map(span).collect();
    let (mut slots, mut after_all, mut alive) = (1, BTreeSet::new(), BTreeSet::new());
    for (place, (first, last)) in spans.iter().enumerate() {
        while alive.first().is_some_and(|(end, _)| end <= first) {
            alive.pop_first();
        }
        if place > 0 && alive.is_empty() {
            after_all.insert(place);
        }
        alive.insert((*last, place));
        slots = slots.max(alive.len());
    }
    Some(Jobs { starter, jobs, of, slots, after_all })
}
