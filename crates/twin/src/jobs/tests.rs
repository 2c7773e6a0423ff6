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

#[test]
fn processes_that_wait_for_each_other_are_a_pipeline() {
    let (mut followed, _) = jobs().follow();
    let program = followed.follower.threads.iter().map(|(id, _)| id).collect();
    for id in 1..=5 {
        let course = followed.courses.list.get_mut(&Id(id)).unwrap();
        let step = Step::Wait { whom: Id(id % 5 + 1), slept: Some(1) };
        course.steps.extend([crate::course::Timed { at: course.last, step }; 2]);
    }
    assert!(find(&followed.follower.threads, &followed.courses, &program).is_none());
}
