//! Statements and names.

use super::*;
use crate::samples::periodic;
use crate::stream::{IDLE, MS, Stream, US};

fn until(first: u64) -> Say {
    Say::Until { period: 8 * MS, first }
}

#[test]
fn instants_of_a_clock_that_had_passed_divide_what_the_thread_computed() {
    let mut steps = vec![Say::Run(2 * MS)];
    for first in [10, 20, 30, 40, 60] {
        steps.extend([until(first * MS), Say::Run(if first == 40 { 4 * MS } else { 2 * MS })]);
    }
    clock(&mut steps);
    let every = Say::Until { period: 10 * MS, first: 10 * MS };
    let mut expected = vec![Say::Run(2 * MS)];
    (0..6).for_each(|_| expected.extend([every, Say::Run(2 * MS)]));
    assert_eq!(steps, expected);
}

#[test]
fn instants_without_a_clock_are_lengths() {
    let mut steps: Vec<Say> = [10, 20, 100, 500, 505, 900].map(|first| until(first * MS)).to_vec();
    clock(&mut steps);
    assert_eq!(steps, [Say::Sleep(8 * MS); 6]);
    let mut steps = vec![until(5 * MS); 9];
    clock(&mut steps);
    assert_eq!(steps, [Say::Sleep(8 * MS); 9], "an instant again and again has no period");
}

#[test]
fn runs_beside_each_other_are_one() {
    let mut steps = vec![Say::Run(1), Say::Run(0), Say::Sleep(0), Say::Run(2), Say::Slot, Say::Outside(0)];
    merge(&mut steps);
    assert_eq!(steps, [Say::Run(3), Say::Slot]);
}

#[test]
fn names_are_plain_and_distinct() {
    assert_eq!(plain("kworker/u4:2"), "kworker-u4-2");
    assert_eq!(plain("7zip"), "t7zip");
    assert_eq!(plain("\u{1b}[31m\"'"), "t31m");
    assert_eq!((plain(""), plain("NULL")), ("t".into(), "tNULL".into()));
    assert_eq!(plain(&"x".repeat(99)).len(), 24);
    let mut taken = BTreeMap::new();
    let names = ["a", "a", "a_2", "a", "a_2"].map(|name| distinct(name, &mut taken));
    assert_eq!(names, ["a", "a_2", "a_2_2", "a_3", "a_2_3"]);
}

#[test]
fn many_threads_of_one_name_are_named_in_no_time() {
    let mut taken = BTreeMap::new();
    let last = (0..100_000).map(|_| distinct("a", &mut taken)).last();
    assert_eq!(last.as_deref(), Some("a_100000"));
}

#[test]
fn lengths_are_exact() {
    let texts = [0, 999, 1_000, 1_234, 999_999, 1_000_000, 10_000_000_000].map(time);
    assert_eq!(texts, ["0ns", "999ns", "1us", "1.234us", "999.999us", "1ms", "10s"]);
}

fn written(stream: &Stream) -> Written {
    let (followed, _) = stream.follow();
    let threads = &followed.follower.threads;
    let program = threads.iter().map(|(id, _)| id).collect();
    let span = (0, followed.follower.last);
    Writer::new(threads, &followed.courses, &program, None, Costs::default(), span).programs()
}

#[test]
fn a_periodic_thread_goes_on_until_it_is_stopped() {
    let written = written(&periodic());
    assert_eq!(written.kinds.len(), 1);
    let code = written.kinds[0].code.join("\n");
    // The clock had begun when the thread first slept.
    assert!(code.starts_with("forever {\n  until 10ms from 0ns\n  run 999."), "{code}");
    assert_eq!(written.endless.0, 1);
}

#[test]
fn a_wake_up_without_a_wait_and_the_reverse_are_left_out() {
    // 5 wakes 6, which never runs: nothing is released.
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 6).wait(5 * US, 0, 6).begin(10 * US, 0, 5).wake(20 * US, 0, 5, 6).wait(30 * US, 0, 5);
    let code: Vec<String> = written(&stream).kinds.into_iter().flat_map(|kind| kind.code).collect();
    assert_eq!(code, ["run 5us", "run 20us"]);
}

#[test]
fn waits_for_nobody_last_as_long_as_they_did() {
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 5).wait(10 * US, 0, 5).wake(50 * US, 0, IDLE, 5).begin(50 * US, 0, 5).wait(
        70 * US,
        0,
        5,
    );
    let written = written(&stream);
    assert_eq!(written.kinds[0].code, ["run 10us", "io outside 40us", "run 20us"]);
    assert!(written.outside);
}
