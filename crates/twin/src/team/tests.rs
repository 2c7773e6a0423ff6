//! Teams by bursts of wake-ups and by marks, whose regions are known.

use super::*;
use crate::check::Followed;
use crate::samples::{ping_pong, team_of_pollers, team_of_sleepers};
use crate::stream::US;

fn all(followed: &Followed) -> Vec<Id> {
    let process = followed.follower.threads.iter().map(|(id, _)| id).collect();
    members(&followed.follower.threads, &followed.courses, &process)
}

#[test]
fn bursts_of_wake_ups_divide_serial_from_parallel_parts() {
    let (followed, _) = team_of_sleepers().follow();
    let members = all(&followed);
    assert_eq!(members, [Id(0), Id(1), Id(2), Id(3)]);
    let team = released(&followed.courses, &members).unwrap();
    assert_eq!(team.regions.len(), 10);
    let work = vec![1_000 * US, 1_100 * US, 1_200 * US, 1_300 * US];
    assert_eq!(team.regions[0], Region { serial: 0, work: work.clone() });
    for region in &team.regions[1..] {
        assert_eq!((region.serial, &region.work), (500 * US, &work));
    }
    assert_eq!((team.before, team.after), (1_000 * US, 502 * US));
    assert!(team.explained.is_some_and(|share| share > 0.9), "{:?}", team.explained);
}

#[test]
fn marks_divide_work_from_polling() {
    let (followed, _) = team_of_pollers().follow();
    let team = marked(&followed.courses, &followed.follower.marks, &all(&followed), &|_| true).unwrap();
    assert_eq!((team.regions.len(), team.mark.as_deref()), (10, Some("w_in")));
    let work = vec![1_000 * US, 1_100 * US, 1_200 * US, 1_300 * US];
    assert_eq!(team.regions[0], Region { serial: 0, work: work.clone() });
    assert_eq!(team.regions[9], Region { serial: 200 * US, work });
    assert_eq!(team.before, 1_000 * US);
    let cpu: u64 = followed.courses.list.values().map(|course| course.cpu).sum();
    assert_eq!(team.polled, cpu - (10 * 4_600 + 9 * 200) * US);
}

#[test]
fn marks_that_belong_to_somebody_else_find_no_team() {
    let (followed, _) = team_of_pollers().follow();
    assert!(marked(&followed.courses, &followed.follower.marks, &all(&followed), &|_| false).is_none());
    assert!(released(&followed.courses, &all(&followed)).is_none(), "nobody wakes anybody");
}

#[test]
fn a_thread_that_does_little_is_no_member_and_the_first_one_always_is() {
    let mut stream = crate::stream::Stream::named("a");
    stream.begin(0, 0, 5).fork(5 * US, 0, 5, 6).fork(6 * US, 0, 5, 7).fork(7 * US, 0, 5, 8).wait(
        8 * US,
        0,
        5,
    );
    stream.begin(10 * US, 1, 6).begin(10 * US, 2, 7).begin(10 * US, 0, 8).wait(20 * US, 0, 8);
    stream.end(900 * US, 1, 6).end(900 * US, 2, 7);
    let (followed, _) = stream.follow();
    assert_eq!(all(&followed), [Id(0), Id(1), Id(2)]);
}

#[test]
fn two_threads_that_wake_each_other_are_no_regions_with_serial_parts() {
    let (followed, _) = ping_pong(100).follow();
    let team = released(&followed.courses, &all(&followed));
    assert!(team.is_none_or(|team| team.regions.iter().all(|region| region.serial == 0)));
}
