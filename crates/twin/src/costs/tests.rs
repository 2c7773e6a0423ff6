//! Costs of wake-ups that are known.

use super::*;
use crate::course::Timed;
use crate::samples::{ping_pong, team_of_pollers};
use crate::stream::US;

#[test]
fn wakes_cost_what_runs_behind_them_take_more_than_runs_behind_waits() {
    // 7 us behind the wake-up, 3 us behind the wait; 5 us until the other one has its cpu.
    let (followed, _) = ping_pong(200).follow();
    let costs = Estimated::of(&followed.courses);
    let (wake, cases) = costs.wake_remote.unwrap();
    assert_eq!((wake, costs.idle_exit.unwrap().0), (4 * US, 5 * US));
    assert!(cases >= 190, "{cases}");
    let shortest = &costs.dense.unwrap()[&Id(1)];
    assert_eq!((shortest.behind_wake, shortest.behind_wait), (3 * US, 3 * US));
}

#[test]
fn what_runs_behind_waits_take_beyond_the_shortest_is_a_cost_too() {
    // 3 or 9 us behind a wait, 7 us behind a wake-up: 3 us of the former are the sleeper's way out of idle.
    let mut courses = Courses::default();
    let course = courses.list.entry(Id(0)).or_default();
    for turn in 0..80_u64 {
        for step in [
            Step::Wait { whom: Id(1), slept: Some(US) },
            Step::Run((3 + 6 * (turn % 2)) * US),
            Step::Wake { whom: Id(1), idle: true },
            Step::Run(7 * US),
        ] {
            course.steps.push(Timed { at: 0, step });
        }
    }
    course.cpu = 80 * 13 * US;
    courses.exits = vec![5 * US; 80];
    let Estimated { idle_exit, wake_remote, .. } = Estimated::of(&courses);
    assert_eq!((idle_exit, wake_remote), (Some((8 * US, 80)), Some((7 * US, 80))));
}

#[test]
fn few_cases_are_no_estimate() {
    let (followed, _) = ping_pong(20).follow();
    assert_eq!(Estimated::of(&followed.courses), Estimated::default());
    let (followed, _) = team_of_pollers().follow();
    assert_eq!(Estimated::of(&followed.courses), Estimated::default());
}

#[test]
fn means_and_quantiles_of_large_numbers_do_not_overflow() {
    assert_eq!((mean(&[u64::MAX, u64::MAX]), mean(&[])), (u64::MAX, 0));
    assert_eq!(quantile(&mut [3; FEWEST], 1.0), Some(3));
    assert_eq!(quantile(&mut [3; FEWEST - 1], 0.5), None);
}
