//! Jobs and slots.

use super::*;
use crate::samples::{jobs, team_of_sleepers};
use crate::stream::Stream;

fn found(stream: &Stream) -> Option<Jobs> {
    let (followed, _) = stream.follow();
    let program = followed.follower.threads.iter().map(|(id, _)| id).collect();
    find(&followed.follower.threads, &followed.courses, &program)
}

#[test]
fn jobs_have_as_many_slots_as_were_alive_at_once() {
    let jobs = found(&jobs()).unwrap();
    assert_eq!((jobs.starter, jobs.jobs.len(), jobs.slots), (Id(0), 5, 2));
    assert_eq!(jobs.after_all, [4].into(), "the fifth one was started when none was alive");
    assert_eq!((jobs.place(Id(1)), jobs.place(Id(0))), (Some(0), None));
}

#[test]
fn threads_that_execute_nothing_are_no_jobs() {
    assert!(found(&team_of_sleepers()).is_none());
}
