//! Steps of threads, by hand; cpu time is conserved whatever the events are.

use std::collections::BTreeMap;

use super::*;
use crate::event::{Kind, State};
use crate::stream::{MS, S, Stream, US, chaos};

fn steps(stream: &Stream, tid: u32) -> Vec<Step> {
    let (followed, _) = stream.follow();
    let (id, _) = followed.follower.threads.iter().find(|(_, thread)| thread.tid == tid).unwrap();
    followed.courses.list[&id].steps.iter().map(|timed| timed.step).collect()
}

#[test]
fn a_thread_computes_wakes_and_waits() {
    // 5 wakes 6, which takes an idle cpu, and waits for it; 6 wakes 5 again.
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 5).wake(10 * US, 0, 5, 6).begin(14 * US, 1, 6).wait(20 * US, 0, 5);
    stream.wake(50 * US, 1, 6, 5).wait(51 * US, 1, 6).begin(55 * US, 0, 5).wait(60 * US, 0, 5);
    let [five, six] = [Id(0), Id(1)];
    let wait = Step::Wait { whom: six, slept: Some(30 * US) };
    let expected = [
        Step::Run(10 * US),
        Step::Wake { whom: six, idle: true },
        Step::Run(10 * US),
        wait,
        Step::Run(5 * US),
    ];
    assert_eq!(steps(&stream, 5), expected);
    let wait = Step::Wait { whom: five, slept: Some(10 * US) };
    assert_eq!(
        steps(&stream, 6),
        [wait, Step::Run(36 * US), Step::Wake { whom: five, idle: true }, Step::Run(US)]
    );
    let (followed, _) = stream.follow();
    let course = &followed.courses.list[&five];
    assert_eq!((course.cpu, course.queued, course.blocked, course.from_idle), (25 * US, 5 * US, 2, 2));
    assert_eq!(followed.courses.exits, [4 * US, 5 * US]);
    assert_eq!(followed.courses.busy, BTreeMap::from([(0, 25 * US), (1, 37 * US)]));
}

#[test]
fn sleeps_are_lengths_or_instants() {
    let timer = |expires, relative| Kind::TimerStart { timer: 1, expires, relative };
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 5).event(10 * US, 0, 5, timer(MS, Some(false))).wait(12 * US, 0, 5);
    stream.begin(MS + US, 0, 5).event(MS + 10 * US, 0, 5, timer(3 * MS, Some(true))).wait(MS + 12 * US, 0, 5);
    stream.begin(3 * MS + US, 0, 5).wait(4 * MS, 0, 5);
    let expected = [
        Step::Run(12 * US),
        Step::Until { at: MS, length: 990 * US },
        Step::Run(11 * US),
        Step::Sleep(3 * MS - MS - 10 * US),
        Step::Run(999 * US),
    ];
    assert_eq!(steps(&stream, 5), expected);
}

#[test]
fn a_preempted_thread_goes_on_with_its_step() {
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 5).switch(10 * US, 0, (5, State::Runnable), 6).switch(30 * US, 0, (6, S), 5);
    stream.wait(50 * US, 0, 5);
    assert_eq!(steps(&stream, 5), [Step::Run(30 * US)]);
    let course = &stream.follow().0.courses.list[&Id(0)];
    assert_eq!((course.preempted, course.queued), (1, 20 * US));
}

#[test]
fn the_program_is_who_executes_first_with_all_that_descend_from_it() {
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 4).begin(0, 1, 5).exec(10, 1, (5, 5), "/bin/x").fork(20, 1, 5, 6).fork(30, 0, 4, 7);
    stream.wait(40, 1, 5).begin(50, 1, 6).end(60, 1, 6).wait(70, 0, 4);
    let (followed, _) = stream.follow();
    let chosen = |chosen: Chosen| -> Vec<u32> {
        let ids = choose(&followed.follower.threads, &followed.courses, &chosen);
        ids.into_iter().map(|id| followed.follower.threads.get(id).unwrap().tid).collect()
    };
    assert_eq!(chosen(Chosen::First), [5, 6]);
    assert_eq!(chosen(Chosen::Named(vec!["4".into()])), [4, 7]);
    assert_eq!(chosen(Chosen::Named(vec!["x".into()])), [5, 6]);
    assert_eq!(chosen(Chosen::All), [4, 5, 6, 7]);
    assert!(chosen(Chosen::Named(vec!["nobody".into()])).is_empty());
}

#[test]
fn without_a_program_that_is_executed_it_is_the_process_with_the_most_cpu_time() {
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 4).begin(0, 1, 5).wait(40, 1, 5).wait(70, 0, 4);
    let (followed, _) = stream.follow();
    assert_eq!(choose(&followed.follower.threads, &followed.courses, &Chosen::First), [Id(0)].into());
}

#[test]
fn threads_of_the_kernel_are_known_by_their_names() {
    assert!(of_the_kernel("kworker/0:1") && of_the_kernel("rcu_preempt") && of_the_kernel("irq/9-acpi"));
    assert!(!of_the_kernel("kwin") && !of_the_kernel("rcu") && !of_the_kernel(""));
}

#[test]
fn cpu_time_is_conserved_and_no_two_stints_overlap_whatever_the_events_are() {
    for seed in 0..400 {
        let (followed, told) = chaos(seed, 300).follow();
        let mut of_threads: BTreeMap<Id, u64> = BTreeMap::new();
        for (id, course) in &followed.courses.list {
            let runs = course.steps.iter().map(|timed| if let Step::Run(ran) = timed.step { ran } else { 0 });
            assert_eq!(runs.sum::<u64>(), course.cpu, "seed {seed}");
            assert_eq!(course.cpus.values().sum::<u64>(), course.cpu, "seed {seed}");
            assert!(course.first <= course.last, "seed {seed}");
            of_threads.insert(*id, course.cpu);
        }
        let stints: u64 = told.iter().map(|one| one.to - one.from).sum();
        assert_eq!(of_threads.values().sum::<u64>(), stints, "seed {seed}");
        assert_eq!(followed.courses.busy.values().sum::<u64>(), stints, "seed {seed}");
        let mut of_cpus: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
        for one in &told {
            of_cpus.entry(one.cpu).or_default().push((one.from, one.to));
        }
        let mut threads: BTreeMap<Id, Vec<(u64, u64)>> = BTreeMap::new();
        for one in &told {
            threads.entry(one.thread).or_default().push((one.from, one.to));
        }
        for stints in of_cpus.values_mut().chain(threads.values_mut()) {
            stints.sort_unstable();
            assert!(stints.windows(2).all(|pair| pair[0].1 <= pair[1].0), "seed {seed}: {stints:?}");
        }
    }
}
