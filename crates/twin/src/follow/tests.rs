//! Recordings with gaps, by hand.

use super::*;
use crate::event::State;
use crate::stream::{IDLE, MS, S, Stream, Told, US};

/// Number, cpu, from and to of each stint, in us.
fn spans(told: &[Told]) -> Vec<(u32, u32, u64, u64)> {
    told.iter().map(|one| (one.tid, one.cpu, one.from / US, one.to / US)).collect()
}

#[test]
fn a_thread_runs_from_its_switch_to_the_next_one() {
    let mut stream = Stream::named("a");
    stream.begin(10 * US, 0, 5).switch(40 * US, 0, (5, State::Runnable), 6).wait(70 * US, 0, 6);
    let (followed, told) = stream.follow();
    assert_eq!(spans(&told), [(5, 0, 10, 40), (6, 0, 40, 70)]);
    assert_eq!((told[0].end, told[0].idle), (End::Preempted, true));
    assert_eq!((told[1].end, told[1].idle, told[1].start), (End::Blocked(b'S'), false, Start::First));
    assert_eq!((followed.follower.counts.missing, followed.follower.counts.switches), (0, 3));
}

#[test]
fn a_missing_switch_from_idle_is_mended_by_the_cpu_time_that_follows() {
    // 5 waits at 20 us; at 50 us the idle thread still has the cpu; the switch to 5 is not there. At 100 us
    // 5 has had 30 us of cpu time: its stint began at 70 us.
    let mut stream = Stream::named("a");
    stream.begin(10 * US, 0, 5).wait(20 * US, 0, 5).wake(50 * US, 0, IDLE, 5);
    stream.runtime(100 * US, 0, 5, 30 * US).wait(110 * US, 0, 5);
    let (followed, told) = stream.follow();
    assert_eq!(spans(&told), [(5, 0, 10, 20), (5, 0, 70, 110)]);
    assert_eq!(told[1].start, Start::Woken { blocked: 20 * US, at: 50 * US, by: Source::Interrupt });
    assert!(told[1].idle && !told[1].mended);
    assert_eq!(followed.follower.counts.missing, 1);
}

#[test]
fn a_missing_switch_without_cpu_time_begins_with_the_wake_up() {
    let mut stream = Stream::named("a");
    stream.begin(10 * US, 0, 5).wait(20 * US, 0, 5).wake(50 * US, 0, IDLE, 5).wait(110 * US, 0, 5);
    let (_, told) = stream.follow();
    assert_eq!(spans(&told), [(5, 0, 10, 20), (5, 0, 50, 110)]);
}

#[test]
fn a_wake_up_before_the_switch_of_the_sleeper_ends_the_wait_that_follows() {
    // 6 wakes 5 on another cpu 2 us before 5 gives up its cpu; 5 goes on without another wake-up.
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 5).begin(0, 1, 6).wake(38 * US, 1, 6, 5).wait(40 * US, 0, 5);
    stream.begin(41 * US, 0, 5).wait(50 * US, 0, 5).wait(60 * US, 1, 6);
    let (followed, told) = stream.follow();
    assert_eq!(spans(&told), [(5, 0, 0, 40), (5, 0, 41, 50), (6, 1, 0, 60)]);
    let six = followed.follower.threads.alive(6).unwrap();
    assert_eq!(told[0].points, [Point { at: 38 * US, did: Did::Raced(six) }]);
    assert_eq!(told[1].start, Start::Woken { blocked: 40 * US, at: 40 * US, by: Source::Raced });
    let five = followed.follower.threads.alive(5).unwrap();
    assert_eq!(told[2].points, [Point { at: 38 * US, did: Did::Woke { whom: five, waited: false } }]);
    assert_eq!((followed.follower.counts.early, followed.follower.counts.unseen), (1, 0));
}

#[test]
fn a_timer_whose_wake_up_was_not_recorded_ends_the_wait() {
    let mut stream = Stream::named("a");
    let start = Kind::TimerStart { timer: 0xf00, expires: 2 * MS, relative: Some(false) };
    stream.begin(0, 0, 5).event(10 * US, 0, 5, start).wait(12 * US, 0, 5);
    stream.begin(2 * MS + 3 * US, 0, 5).wait(3 * MS, 0, 5);
    let (followed, told) = stream.follow();
    let timer = Timer { asked: 10 * US, expires: 2 * MS, relative: Some(false) };
    assert_eq!(told[1].start, Start::Woken { blocked: 12 * US, at: 2 * MS, by: Source::Timer(timer) });
    assert_eq!(followed.follower.counts.unseen, 0);
}

#[test]
fn a_timer_that_expires_names_who_is_woken_by_it() {
    let mut stream = Stream::named("a");
    let start = Kind::TimerStart { timer: 0xf00, expires: 500 * US, relative: Some(true) };
    stream.begin(0, 0, 5).event(10 * US, 0, 5, start).switch(12 * US, 0, (5, S), 6);
    stream.event(501 * US, 0, 6, Kind::TimerExpire { timer: 0xf00 }).wake(502 * US, 0, 6, 5);
    stream.switch(503 * US, 0, (6, State::Runnable), 5).wait(510 * US, 0, 5);
    let (_, told) = stream.follow();
    let timer = Timer { asked: 10 * US, expires: 500 * US, relative: Some(true) };
    assert_eq!(told[2].start, Start::Woken { blocked: 12 * US, at: 502 * US, by: Source::Timer(timer) });
    assert!(told[1].points.is_empty(), "6 had the cpu, and woke nobody");
}

#[test]
fn a_thread_that_is_seen_on_another_cpu_has_left_the_first_one() {
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 5).event(30 * US, 0, 5, Kind::Other);
    stream.event(50 * US, 1, 5, Kind::Other).wait(60 * US, 1, 5);
    let (followed, told) = stream.follow();
    assert_eq!(spans(&told), [(5, 0, 0, 30), (5, 1, 30, 60)]);
    assert_eq!((told[0].end, told[1].start), (End::Preempted, Start::Resumed { since: 30 * US }));
    assert!(told[1].mended && followed.follower.counts.missing > 0);
}

#[test]
fn a_number_that_is_used_again_is_another_thread() {
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 5).fork(10 * US, 0, 5, 6).wait(20 * US, 0, 5).begin(21 * US, 0, 6).end(30 * US, 0, 6);
    stream.begin(40 * US, 0, 5).fork(41 * US, 0, 5, 6).wait(42 * US, 0, 5).begin(43 * US, 0, 6);
    stream.end(50 * US, 0, 6);
    let (followed, told) = stream.follow();
    let threads: Vec<_> =
        followed.follower.threads.iter().map(|(id, one)| (id.0, one.tid, one.ended)).collect();
    assert_eq!(threads, [(0, 5, None), (1, 6, Some(30 * US)), (2, 6, Some(50 * US))]);
    assert_eq!(told.iter().filter(|one| one.start == Start::Forked { at: 41 * US }).count(), 1);
}

#[test]
fn a_number_is_used_again_although_its_end_was_not_recorded() {
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 6).wait(10 * US, 0, 6).begin(20 * US, 0, 5);
    stream.event(30 * US, 0, 5, Kind::WakeupNew(stream.who(6))).wait(35 * US, 0, 5).begin(36 * US, 0, 6);
    stream.end(40 * US, 0, 6);
    let (followed, told) = stream.follow();
    assert_eq!(followed.follower.threads.len(), 3);
    assert_eq!(told.last().map(|one| one.start), Some(Start::Forked { at: 30 * US }));
}

#[test]
fn a_thread_that_executes_a_program_takes_the_number_of_its_process() {
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 7).exec(10 * US, 0, (7, 5), "/bin/true").wait(20 * US, 0, 5);
    let (followed, told) = stream.follow();
    assert_eq!(spans(&told), [(5, 0, 0, 20)]);
    assert_eq!(told[0].points, [Point { at: 10 * US, did: Did::Executed }]);
    let (_, thread) = followed.follower.threads.iter().next().unwrap();
    assert_eq!(
        (thread.tid, thread.file.as_deref(), followed.follower.threads.len()),
        (5, Some("/bin/true"), 1)
    );
}

#[test]
fn an_end_that_was_not_recorded_is_one_where_the_teardown_had_begun() {
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 5).event(10 * US, 0, 5, Kind::Exit { tid: 5 });
    stream.event(20 * US, 0, IDLE, Kind::Other);
    let (followed, told) = stream.follow();
    assert_eq!((told[0].to, told[0].end), (10 * US, End::Exited));
    assert_eq!(followed.follower.threads.alive(5), None);
}

#[test]
fn a_switch_ends_interrupts_whose_end_was_lost() {
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 5).event(10 * US, 0, 5, Kind::IrqEntry).event(11 * US, 0, 5, Kind::SoftirqEntry(1));
    stream.wake(12 * US, 0, 5, 7).switch(20 * US, 0, (5, State::Runnable), 6).wake(30 * US, 0, 6, 8);
    stream.switch(40 * US, 0, (6, S), 7).switch(50 * US, 0, (7, S), 8).wait(60 * US, 0, 8);
    let (followed, told) = stream.follow();
    let by = |tid| told.iter().find(|one| one.tid == tid).map(|one| one.start).unwrap();
    assert_eq!(by(7), Start::Woken { blocked: 0, at: 12 * US, by: Source::Interrupt });
    let six = followed.follower.threads.alive(6).unwrap();
    assert_eq!(by(8), Start::Woken { blocked: 0, at: 30 * US, by: Source::Thread(six) });
}

#[test]
fn a_message_over_the_loopback_is_from_its_sender() {
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 5).event(10 * US, 0, 5, Kind::SoftirqEntry(3)).wake(11 * US, 0, 5, 6);
    stream.event(12 * US, 0, 5, Kind::SoftirqExit).switch(20 * US, 0, (5, S), 6).wait(30 * US, 0, 6);
    let (followed, told) = stream.follow();
    let five = followed.follower.threads.alive(5).unwrap();
    assert_eq!(told[1].start, Start::Woken { blocked: 0, at: 11 * US, by: Source::Thread(five) });
}

#[test]
fn yields_are_told_from_preemptions() {
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 5).event(10 * US, 0, 5, Kind::Yield).switch(11 * US, 0, (5, State::Runnable), 6);
    stream.switch(50 * US, 0, (6, State::Runnable), 5).wait(60 * US, 0, 5);
    let (_, told) = stream.follow();
    assert_eq!([told[0].end, told[1].end], [End::Yielded, End::Preempted]);
}

#[test]
fn whoever_runs_at_the_end_is_cut() {
    let mut stream = Stream::named("a");
    stream.begin(0, 0, 5).event(30 * US, 1, IDLE, Kind::Other);
    let (_, told) = stream.follow();
    assert_eq!((told[0].to, told[0].end), (30 * US, End::Cut));
}

#[test]
fn a_number_of_a_cpu_that_no_machine_has_takes_no_memory() {
    let mut stream = Stream::named("a");
    stream.event(0, u32::MAX, 5, Kind::Other).event(9, u32::MAX - 1, 5, Kind::Other);
    assert_eq!(stream.follow().0.follower.cpus(), 1);
}
