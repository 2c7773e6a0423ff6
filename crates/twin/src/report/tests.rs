//! Reports on streams of events written by hand, with numbers worked out by hand. Times are in us.

use super::head::Head;
use super::idle::Idle;
use super::latency::{Latency, Order};
use super::split::{self, Split};
use super::timehist::{Only, Options, Timehist};
use crate::event::{Event, Kind, Named, State, Tid};
use crate::follow::{Follower, Sink};
use crate::read::Seen;

const S: State = State::Waits(b'S');
const R: State = State::Runnable;

fn named(tid: Tid) -> Named<'static> {
    let comm = match tid {
        0 => "swapper",
        1 => "a",
        2 => "b",
        3 => "c",
        _ => "evil\u{1b}[31m",
    };
    Named { tid, comm, prio: 120 }
}

fn event(at: u64, cpu: u32, tid: Tid, kind: Kind<'static>) -> Event<'static> {
    Event { at: at * 1_000, cpu, tid, process: None, interrupt: None, kind, line: 0 }
}

fn switch(at: u64, cpu: u32, prev: Tid, state: State, next: Tid) -> Event<'static> {
    event(at, cpu, prev, Kind::Switch { prev: named(prev), state, next: named(next) })
}

fn waking(at: u64, cpu: u32, by: Tid, whom: Tid) -> Event<'static> {
    event(at, cpu, by, Kind::Waking(named(whom)))
}

/// Two threads on one cpu: a wake-up, a pre-emption, a wake-up by an interrupt, an end.
fn one_cpu() -> Vec<Event<'static>> {
    vec![
        switch(1_000, 0, 0, R, 1),
        waking(2_000, 0, 1, 2),
        switch(3_000, 0, 1, R, 2),
        switch(5_000, 0, 2, S, 1),
        switch(9_000, 0, 1, S, 0),
        waking(12_000, 0, 0, 2),
        switch(12_500, 0, 0, R, 2),
        switch(13_500, 0, 2, State::Ended, 0),
    ]
}

/// A woken thread stays behind the one that woke it, while the other cpu idles for 6 ms and then takes it.
fn left_behind() -> Vec<Event<'static>> {
    vec![
        switch(1_000, 0, 0, R, 1),
        switch(1_000, 1, 0, R, 3),
        waking(2_000, 0, 1, 2),
        switch(4_000, 1, 3, S, 0),
        switch(10_000, 1, 0, R, 2),
        switch(12_000, 1, 2, S, 0),
        switch(20_000, 0, 1, S, 0),
    ]
}

/// The switch from the idle thread to a woken one is missing.
fn missing(runtime: bool) -> Vec<Event<'static>> {
    let mut events = vec![
        switch(1_000, 1, 0, R, 3),
        switch(1_000, 0, 0, R, 1),
        switch(2_000, 0, 1, S, 0),
        waking(3_000, 1, 3, 1),
    ];
    events.extend(runtime.then(|| event(5_000, 0, 1, Kind::Runtime { tid: 1, ran: 1_800_000 })));
    events.push(switch(5_000, 0, 1, S, 0));
    events
}

fn follow(events: &[Event<'_>], sink: Sink<'_>) -> (Follower, Head) {
    let mut follower = Follower::default();
    events.iter().for_each(|event| follower.event(event, sink));
    follower.done(sink);
    let head = Head::of("hand.txt", &Seen { form: "text", ..Seen::default() }, &follower);
    (follower, head)
}

/// The lines of a text with single blanks.
fn lines(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8(text.to_vec()).unwrap();
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn latency(events: &[Event<'_>], how: (bool, Order)) -> Vec<String> {
    let mut report = Latency::default();
    let (follower, head) = follow(events, &mut |threads, stint| report.stint(threads, stint));
    let mut out = Vec::new();
    report.write(&head, &follower.threads, how, &mut out).unwrap();
    lines(&out)
}

fn timehist(events: &[Event<'_>], options: Options) -> Vec<String> {
    let mut out = Vec::new();
    let mut report = Timehist::new(options, &mut out);
    report.begin(events[0].at);
    let (follower, head) = follow(events, &mut |threads, stint| report.stint(threads, stint));
    report.finish(&head, &follower.threads).unwrap();
    lines(&out)
}

fn split_of(events: &[Event<'_>], grouping: split::Grouping<'_>) -> Vec<String> {
    let mut report = Split::new(grouping);
    let (follower, head) = follow(events, &mut |threads, stint| report.stint(threads, stint));
    let mut out = Vec::new();
    report.write(&head, &follower.threads, &mut out).unwrap();
    lines(&out)
}

fn idle(events: &[Event<'_>], least: u64, cpus: u32) -> Vec<String> {
    let mut report = Idle::new(least * 1_000);
    report.machine(cpus);
    let (follower, head) = follow(events, &mut |threads, stint| report.stint(threads, stint));
    let mut out = Vec::new();
    report.write(&head, &follower.threads, &mut out).unwrap();
    lines(&out)
}

fn has(lines: &[String], wanted: &str) {
    assert!(lines.iter().any(|line| line == wanted), "`{wanted}` is not in {lines:#?}");
}

#[test]
fn a_report_says_first_what_was_read_and_mended() {
    let told = latency(&missing(true), (false, Order::RunTime));
    assert_eq!(told[0], "hand.txt, text: 6 events, 5 switches, 1 of them mended, 0 lost");
    assert_eq!(told[1], "2 threads on 2 cpus in 4.000 ms");
}

#[test]
fn latency_counts_delays_after_wakes_and_after_preemptions() {
    let told = latency(&one_cpu(), (false, Order::RunTime));
    has(&told, "a:1 6.000 2 2.000 - - 2.000 0.003000 0.005000");
    has(&told, "b:2 3.000 2 0.750 0.500 1.000 1.000 0.002000 0.003000");
    has(&told, "TOTAL:(2) 9.000 4 1.167 0.500 1.000 2.000 0.003000 0.005000");
    let at = |told: &[String], begins: &str| told.iter().position(|line| line.starts_with(begins)).unwrap();
    assert!(at(&told, "a:1") < at(&told, "b:2"));
    let told = latency(&left_behind(), (false, Order::Maximum));
    assert!(at(&told, "b:2 2.000 1 8.000") < at(&told, "a:1 19.000 1 -"));
}

#[test]
fn latency_puts_threads_of_a_name_together() {
    let events =
        [switch(0, 0, 0, R, 8), waking(1_000, 0, 8, 9), switch(2_000, 0, 8, S, 9), switch(5_000, 0, 9, S, 0)];
    let told = latency(&events, (true, Order::RunTime));
    has(&told, "evil␛[31m:(2) 5.000 2 1.000 1.000 1.000 1.000 0.001000 0.002000");
    let shown = timehist(&events, Options { summary: true, ..Options::default() });
    assert!(told.iter().chain(&shown).all(|line| !line.contains('\u{1b}')), "{told:?} {shown:?}");
}

#[test]
fn a_missing_switch_leaves_a_delay_unknown_unless_the_cpu_time_tells() {
    let told = latency(&missing(true), (false, Order::RunTime));
    has(&told, "a:1 2.800 2 0.200 0.200 0.200 0.200 0.003000 0.003200");
    let told = latency(&missing(false), (false, Order::RunTime));
    has(&told, "a:1 3.000 2 - - - - - -");
    assert!(told.iter().any(|line| line.starts_with("Without a known delay: 3 stints")), "{told:#?}");
}

#[test]
fn timehist_has_a_line_for_each_stint() {
    let told = timehist(&one_cpu(), Options { summary: true, ..Options::default() });
    let stints: Vec<&str> =
        told.iter().filter(|line| line.contains(" [0000] ")).map(String::as_str).collect();
    assert_eq!(
        stints,
        [
            "0.003000 [0000] a[1] 0.000 - 2.000 pre-empted",
            "0.005000 [0000] b[2] 1.000 1.000 2.000 waits S a[1]",
            "0.009000 [0000] a[1] 0.000 2.000 4.000 waits S",
            "0.013500 [0000] b[2] 7.000 0.500 1.000 ended interrupt",
        ]
    );
    has(&told, "a[1] 2 6.000 2.000 3.000 4.000 0.000 2.000 0");
    has(&told, "b[2] 2 3.000 1.000 1.500 2.000 8.000 1.500 0");
    // 12.5 ms, of which 9 ms are busy.
    has(&told, "cpu 0 idle for 3.500 ms (28.00 %)");
    has(&told, "hand.txt, text: 8 events, 6 switches, 0 of them mended, 0 lost");
}

#[test]
fn timehist_shows_some_threads_and_a_window() {
    let only = |only: &[&str]| {
        let only = only.iter().map(|text| Only::of(text)).collect();
        let told = timehist(&one_cpu(), Options { only, ..Options::default() });
        told.iter().filter(|line| line.contains(" [0000] ")).count()
    };
    assert_eq!((only(&["1"]), only(&["b"]), only(&["1", "b"]), only(&["3"])), (2, 2, 4, 0));
    // From 3 to 6 ms after the first event: the clock shows 4 to 7 ms.
    let options = Options { from: 3_000_000, to: Some(6_000_000), ..Options::default() };
    let told = timehist(&one_cpu(), options);
    has(&told, "0.005000 [0000] b[2] 1.000 1.000 2.000 waits S a[1]");
    has(&told, "0.009000 [0000] a[1] 0.000 2.000 4.000 waits S");
    assert_eq!(told.iter().filter(|line| line.contains(" [0000] ")).count(), 2);
}

#[test]
fn timehist_marks_what_was_mended_and_counts_migrations() {
    let told = timehist(&missing(false), Options::default());
    has(&told, "0.005000 [0000]* a[1] 1.000 - 2.000 waits S c[3]");
    let told = timehist(&missing(true), Options::default());
    has(&told, "0.005000 [0000] a[1] 1.000 0.200 1.800 waits S c[3]");
    let events = [
        switch(0, 0, 0, R, 1),
        switch(1_000, 0, 1, R, 2),
        switch(3_000, 1, 0, R, 1),
        switch(4_000, 1, 1, S, 0),
        switch(5_000, 0, 2, S, 0),
    ];
    let told = timehist(&events, Options { summary: true, ..Options::default() });
    has(&told, "0.004000 [0001] a[1] 0.000 2.000 1.000 waits S");
    has(&told, "a[1] 2 2.000 1.000 1.000 1.000 0.000 2.000 1");
}

#[test]
fn a_wait_whose_wake_up_is_missing_lasts_until_the_cpu_time_begins() {
    let mut events = missing(true);
    events.retain(|event| !matches!(event.kind, Kind::Waking(_)));
    let told = timehist(&events, Options::default());
    has(&told, "0.005000 [0000] a[1] 1.200 - 1.800 waits S unseen");
    let told = split_of(&events, &split::by_thread);
    has(&told, "a[1] 1 2.800 0.000 0.000 0 % 0.000 0 % 0.000 0 % 0.000 0.000 0.000 1.200");
}

#[test]
fn timehist_as_json_has_the_same_numbers() {
    let told = timehist(&one_cpu(), Options { json: true, summary: true, ..Options::default() });
    let objects: Vec<serde_json::Value> =
        told.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 6, "four stints and two threads");
    assert_eq!((objects[1]["delay_s"].as_f64(), objects[1]["by"].as_u64()), (Some(0.001), Some(1)));
    assert_eq!(objects[1]["state"], "S");
    assert_eq!(objects[5]["summary"]["wait_s"].as_f64(), Some(0.008));
}

#[test]
fn split_says_who_had_the_cpu() {
    let told = split_of(&one_cpu(), &split::by_thread);
    has(&told, "a[1] 1 6.000 2.000 2.000 100 % 0.000 0 % 0.000 0 % 0.000 0.000 0.000 0.000");
    has(&told, "b[2] 1 3.000 1.500 1.000 67 % 0.000 0 % 0.500 33 % 1.000 0.000 7.000 0.000");
    let told = split_of(&one_cpu(), &|_| split::Group::Named("all".into()));
    has(&told, "all 2 9.000 3.500 0.000 0 % 3.000 86 % 0.500 14 % 1.000 0.000 7.000 0.000");
    let told = split_of(&left_behind(), &split::by_thread);
    has(&told, "b[2] 1 2.000 8.000 2.000 25 % 0.000 0 % 6.000 75 % 1.000 0.000 0.000 0.000");
}

#[test]
fn split_groups_by_process_where_the_recording_has_them() {
    let of = |process: Tid, mut events: Vec<Event<'static>>| {
        events.iter_mut().filter(|event| event.tid > 0).for_each(|event| event.process = Some(process));
        split_of(&events, &split::by_process)
    };
    let told = of(1, one_cpu());
    has(&told, "a[1] 2 9.000 3.500 0.000 0 % 3.000 86 % 0.500 14 % 1.000 0.000 7.000 0.000");
    // Without processes names count, and these have no number at their end.
    let told = split_of(&one_cpu(), &split::by_process);
    has(&told, "a 1 6.000 2.000 2.000 100 % 0.000 0 % 0.000 0 % 0.000 0.000 0.000 0.000");
}

#[test]
fn the_tasks_of_a_simulated_application_are_a_group() {
    let group = |name: &str| {
        let (follower, _) = follow(&one_cpu(), &mut |_, _| {});
        let thread = follower.threads.iter().next().map(|(_, thread)| thread.clone()).unwrap();
        split::by_process(&crate::threads::Thread { name: name.into(), ..thread })
    };
    for name in ["cg.3", "cg_polling/7", "cg"] {
        assert_eq!(group(name), split::Group::Named("cg".into()), "{name}");
    }
    assert_eq!(group("my_polling"), split::Group::Named("my_polling".into()));
}

#[test]
fn idle_finds_a_cpu_that_idles_while_a_thread_waits() {
    let told = idle(&left_behind(), 1_000, 0);
    has(&told, "0.004000 6.000 8.000 1 b[2] 1");
    has(&told, "1 period, together 6.000 ms, 31.58 % of 19.000 ms; the longest 6.000 ms");
    has(
        &idle(&left_behind(), 6_001, 0),
        "0 periods, together 0.000 ms, 0.00 % of 19.000 ms; the longest 0.000 ms",
    );
}

#[test]
fn idle_counts_cpus_of_the_machine_that_no_stint_names() {
    let told = idle(&left_behind(), 1_000, 4);
    // Cpus 2 and 3 idle while b waits, from 2 to 10 ms.
    has(&told, "0.002000 8.000 8.000 1 b[2] 1-3");
}

#[test]
fn idle_leaves_out_delays_whose_end_was_not_recorded() {
    let events = [
        switch(0, 1, 0, R, 3),
        switch(0, 0, 0, R, 1),
        switch(1_000, 0, 1, R, 2),
        switch(2_000, 0, 2, S, 0),
        switch(9_000, 1, 3, S, 0),
        // The switch to a is missing.
        switch(9_000, 0, 1, S, 0),
    ];
    let told = idle(&events, 1_000, 0);
    has(&told, "Left out: 1 delay whose last switch was not recorded.");
}
