//! Small recordings in each spelling, whole and broken.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;
use crate::event::{Kind, Named, State, UNKNOWN};

/// All events as lines, and what was seen.
pub(super) fn read_bytes(
    bytes: &[u8],
    window: (Option<u64>, Option<u64>),
) -> Result<(Vec<String>, Seen), String> {
    let mut events = Vec::new();
    let mut from = bytes;
    let input = Input { name: "a file", from: &mut from, after: window.0, before: window.1 };
    let seen = read(input, &mut |_| {}, &mut |event| events.push(shown(event))).map_err(said)?;
    let mut again = Vec::new();
    let mut file = Cursor::new(bytes);
    let other = read_file("a file", &mut file, window, &mut |_| {}, &mut |event| again.push(shown(event)));
    assert_eq!((other.map_err(said)?, again), (seen.clone(), events.clone()));
    Ok((events, seen))
}

fn said(refused: Refused) -> String {
    match refused {
        Refused::Sentence(text) | Refused::Rendered(text) => text,
    }
}

fn whole(text: &str) -> Vec<String> {
    let (events, seen) = read_bytes(text.as_bytes(), (None, None)).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(seen.unread, 0);
    events
}

/// The events of a file of this form that is understood.
pub(super) fn whole_bytes(bytes: &[u8], form: &str) -> Vec<String> {
    let (events, seen) = read_bytes(bytes, (None, None)).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!((seen.form, seen.unread), (form, 0));
    events
}

pub(super) fn wrong(bytes: &[u8]) -> String {
    read_bytes(bytes, (None, None)).expect_err("refused")
}

fn shown(event: &Event<'_>) -> String {
    let tid = |tid: u32| if tid == UNKNOWN { "?".to_owned() } else { tid.to_string() };
    let who = |who: Named<'_>| format!("{}:{}", who.comm, tid(who.tid));
    let what = match event.kind {
        Kind::Switch { prev, state, next } => {
            let state = match state {
                State::Runnable => 'R',
                State::Waits(letter) => char::from(letter),
                State::Ended => 'X',
            };
            format!("{} {state} > {}", who(prev), who(next))
        }
        Kind::Waking(woken) => format!("waking {}", who(woken)),
        Kind::Wakeup(woken) => format!("wakeup {}", who(woken)),
        other => format!("{other:?}"),
    };
    let process = event.process.map_or_else(String::new, |process| format!("{process}/"));
    let interrupt = event.interrupt.map_or("", |interrupt| if interrupt { " irq" } else { " thread" });
    format!("{} {} {process}{}{interrupt} {what}", event.at, event.cpu, tid(event.tid))
}

/// The same four events as each program prints them.
const PERF: &str = "\
    my prog    41/42    [001]  7.000000100:       sched:sched_waking: comm=b [x] pid=9 prio=120 target_cpu=001
    my prog    41/42    [001]  7.000000300:       sched:sched_switch: prev_comm=my prog prev_pid=42 \
    prev_prio=120 \
    prev_state=S ==> next_comm=b [x] next_pid=9 next_prio=139
      b [x]     9/9     [001]  7.000000400: probe_prog:w_out__return: (5601 <- 5602)
        :-1    -1/-1    [000]  7.000000500: sched:sched_stat_runtime: comm=a pid=7 runtime=5 [ns]
";
const TRACEFS: &str = "\
# tracer: nop
#
# entries-in-buffer/entries-written: 4/4   #P:2
#
##### CPU 1 buffer started ####
         my prog-42      (     41) [001] d..3.     7.000000: sched_waking: comm=b [x] pid=9 prio=120 \
         target_cpu=001
         my prog-42      (     41) [001] d..2.     7.000000: sched_switch: prev_comm=my prog prev_pid=42 \
         prev_prio=120 prev_state=S ==> next_comm=b [x] next_pid=9 next_prio=139
           b [x]-9       (-------) [001] d.h..     7.000001: w_out: (0x5601 <- 0x5602)
CPU:0 [LOST 12 EVENTS]
          <idle>-0       [000]     7.000002: sched_stat_runtime: comm=a pid=7 runtime=5 [ns]
";
const REPORT: &str = "\
cpus=2
CPU 2 is empty
         my prog-42    [001]     7.000000100: sched_waking:         comm=b [x] pid=9 prio=120 target_cpu=001
         my prog-42    [001]     7.000000300: sched_switch:         my prog:42 [120] S ==> b [x]:9 [139]
           b [x]-9     [001]     7.000000400: w_out__return:        (0x5601 <- 0x5602)
 my prog-9999      0d.s2.     7.000000500: sched_wakeup:         c:7 [120]<CANT FIND FIELD success> CPU:001
";

#[test]
fn each_spelling_gives_the_same_events() {
    let perf = whole(PERF);
    assert_eq!(
        perf,
        [
            "7000000100 1 41/42 waking b [x]:9",
            "7000000300 1 41/42 my prog:42 S > b [x]:9",
            "7000000400 1 9/9 Mark { name: \"w_out\", returns: true }",
            "7000000500 0 ? Runtime { tid: 7, ran: 5 }",
        ]
    );
    let (tracefs, seen) = read_bytes(TRACEFS.as_bytes(), (None, None)).unwrap();
    assert_eq!((seen.form, seen.lines), ("text of tracefs", 4));
    assert_eq!(
        tracefs,
        [
            "7000000000 1 41/42 thread waking b [x]:9",
            "7000000000 1 41/42 thread my prog:42 S > b [x]:9",
            "7000001000 1 9 irq Mark { name: \"w_out\", returns: true }",
            "7000001000 0 ? Lost(12)",
            "7000002000 0 0 Runtime { tid: 7, ran: 5 }",
        ]
    );
    let (report, seen) = read_bytes(REPORT.as_bytes(), (None, None)).unwrap();
    assert_eq!((seen.form, seen.lines), ("text of trace-cmd report", 4));
    assert_eq!(report[1], "7000000300 1 42 my prog:42 S > b [x]:9");
    assert_eq!(report[3], "7000000500 0 9999 irq wakeup c:7");
}

#[test]
fn call_chains_and_calls_are_passed_over() {
    let chain =
        "\tffffffff813b4986 try_to_wake_up+0x3b6 ([kernel.kallsyms])\n\t       0 [unknown] ([unknown])\n\n";
    let text = PERF.replace('\n', &format!("\n{chain}"));
    assert_eq!(whole(&text), whole(PERF));
    let text = format!(
        "{TRACEFS}  a-9 [001] d..2. 7.000003: sys_sched_yield()\n  a-9 [001] d..2. 7.000003: \
         sys_nanosleep -> 0x0\n"
    );
    let events = whole(&text);
    assert_eq!(events[5..], ["7000003000 1 9 thread Yield", "7000003000 1 9 thread Other"]);
    let lost = "perf 5/5 [001] 7.000000500: PERF_RECORD_LOST lost 77\n";
    assert_eq!(whole(&format!("{PERF}{lost}"))[4], "7000000500 1 5/5 Lost(77)");
}

#[test]
fn events_are_put_in_order_and_those_of_an_instant_stay_in_theirs() {
    let lines: Vec<String> = PERF.lines().map(|line| format!("{line}\n")).collect();
    let late = [&lines[0], &lines[2], &lines[1], &lines[3]].map(String::as_str).concat();
    assert_eq!(whole(&late), whole(PERF));
    let same = PERF.replace("7.000000100", "7.000000300").replace("7.000000400", "7.000000300");
    let order: Vec<String> =
        whole(&same).iter().map(|line| line.split(' ').nth(3).unwrap().to_owned()).collect();
    assert_eq!(order, ["waking", "my", "Mark", "Runtime"]);
}

#[test]
fn a_time_that_steps_back_is_refused_with_both_times() {
    let text = format!("{PERF}{}", PERF.replace("7.000000", "6.989000"));
    let why = wrong(text.as_bytes());
    assert!(why.contains("a file:5:1"), "{why}");
    assert!(why.contains("from 7.000000500 s to 6.989000100 s"), "{why}");
}

#[test]
fn lines_that_are_not_understood_are_counted_and_shown() {
    let many = PERF.repeat(100);
    let (_, seen) = read_bytes(format!("{many}what\n").as_bytes(), (None, None)).unwrap();
    assert_eq!((seen.lines, seen.unread), (401, 1));
    // Something was cut off, perhaps a part of a number.
    let cut = many.trim_end();
    let (_, seen) = read_bytes(cut.as_bytes(), (None, None)).unwrap();
    assert_eq!((seen.lines, seen.unread), (400, 1));
    let bad = "a 1/1 [000] 7.000000500: sched:sched_switch: prev_comm=x\n";
    let why = wrong(format!("{PERF}{bad}{bad}").as_bytes());
    assert!(
        why.contains("2 of 6 events") && why.contains("a file:5:1") && why.contains("perf script --ns"),
        "{why}"
    );
    let huge = format!("{PERF}{}\n", "x".repeat(1 << 20));
    let why = wrong(huge.as_bytes());
    assert!(why.contains("1 of 5 events") && why.contains("64 KiB"), "{why}");
}

#[test]
fn recordings_without_what_is_needed_are_refused() {
    let without = |event: &str| {
        let lines = PERF.lines().filter(|line| !line.contains(event)).map(|line| format!("{line}\n"));
        wrong(lines.collect::<String>().as_bytes())
    };
    assert!(without("sched_switch").contains("none of its 3 events is sched_switch"));
    assert!(without("sched_waking").contains("none of its 3 events is sched_waking"));
    assert!(wrong(b"").contains("empty"));
    for text in ["name: x\nmachine: y\n", "\n\n\n", "%!PS\n"] {
        let why = wrong(text.as_bytes());
        assert!(why.contains("no event of the scheduler") && why.contains("oversim twin record"), "{why}");
    }
    let why = wrong(TRACEFS.replace("# tracer: nop", "# clock: [counter]").as_bytes());
    assert!(why.contains("the clock counter counts no ns") && why.contains("a file:1:1"), "{why}");
    assert!(whole(&TRACEFS.replace("# tracer: nop", "# clock: mono")).len() == 5);
    let why = wrong(b"  a-1  [000] d..2. 71422500: sched_waking: comm=b pid=2 prio=120 target_cpu=000\n");
    assert!(why.contains("not in seconds") && why.contains("a file:1:1"), "{why}");
    let why = wrong(PERF.replace("[001]", "[65536]").as_bytes());
    assert!(why.contains("cpu 65536") && why.contains("65535"), "{why}");
}

#[test]
fn only_the_window_is_given() {
    let (events, _) = read_bytes(PERF.as_bytes(), (Some(200), Some(300))).unwrap();
    assert_eq!(events, whole(PERF)[1..3]);
    let why = read_bytes(PERF.as_bytes(), (Some(500), None)).unwrap_err();
    assert!(why.contains("no event is in this part"), "{why}");
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn gzip_is_undone_and_damage_is_located() {
    let file = packed(PERF.repeat(40).as_bytes());
    let (events, _) = read_bytes(&file, (None, None)).unwrap();
    assert_eq!(events.len(), 160);
    let two = [packed(PERF.as_bytes()), packed(PERF.as_bytes())].concat();
    assert_eq!(read_bytes(&two, (None, None)).unwrap().0.len(), 8);
    for length in 2..file.len() {
        let why = wrong(&file[..length]);
        assert!(why.contains("at byte") || why.contains("neither text"), "{length}: {why}");
    }
    let mut file = file;
    let sum = file.len() - 8;
    file[sum] ^= 1;
    assert!(wrong(&file).contains("damaged at byte"), "{}", wrong(&file));
}

#[test]
fn other_files_are_named() {
    for (bytes, word) in [
        (b"\x28\xb5\x2f\xfd....".as_slice(), "zstd -dc a file"),
        (b"\xfd7zXZ\0\0\0", "xz -dc"),
        (b"\x7fELF\x02\x01\x01\0\0\0\0", "neither text nor"),
        (b"2ELIFREP", "cut off"),
        (b"PERFILE2", "cut off"),
    ] {
        let why = wrong(bytes);
        assert!(why.contains(word), "{why}");
    }
}

#[test]
fn names_in_other_encodings_are_tolerated() {
    let mut bytes = PERF.as_bytes().to_vec();
    for at in 0..bytes.len() {
        if bytes[at..].starts_with(b"my prog") {
            bytes[at] = 0xe4;
        }
    }
    let (events, _) = read_bytes(&bytes, (None, None)).unwrap();
    assert_eq!(events[1], "7000000300 1 41/42 \u{fffd}y prog:42 S > b [x]:9");
}

/// A generator of numbers (xorshift), always the same.
pub(super) fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

#[test]
fn no_input_makes_the_reader_panic() {
    let mut next = numbers(0x9e37_79b9_7f4a_7c15);
    let texts = [PERF, TRACEFS, REPORT];
    for round in 0..4_000 {
        let mut bytes = texts[round % 3].as_bytes().to_vec();
        for _ in 0..=next() % 8 {
            let at = next() as usize % bytes.len();
            match next() % 4 {
                0 => bytes[at] = next() as u8,
                1 => drop(bytes.drain(at..bytes.len().min(at + next() as usize % 30))),
                2 => bytes.truncate(at + 1),
                _ => {
                    let part = bytes[at..bytes.len().min(at + 40)].to_vec();
                    let to = next() as usize % bytes.len();
                    bytes.splice(to..to, part);
                }
            }
            if bytes.is_empty() {
                bytes.push(b'\n');
            }
        }
        let _ = read_bytes(&bytes, (None, None));
        let junk: Vec<u8> = (0..next() % 300).map(|_| next() as u8).collect();
        let _ = read_bytes(&junk, (None, None));
        let heads: [&[u8]; 4] = [
            b"PERFILE2\x10\0\0\0\0\0\0\0",
            b"PERFILE2\x68\0\0\0\0\0\0\0",
            b"\x17\x08\x44tracing6\0\0\x08\0\x10\0\0",
            b"\x0a\x02\x08\x01",
        ];
        let _ = read_bytes(&[heads[round % 4], &junk].concat(), (None, None));
    }
}
