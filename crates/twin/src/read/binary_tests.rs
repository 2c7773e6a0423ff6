//! Small binary recordings, whole and broken.

use super::tests::{numbers, read_bytes, whole_bytes, wrong};

const SWITCH: &str = "name: sched_switch\nID: 314\nformat:\n\
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n\
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n\
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\
\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n\
print fmt: \"prev_state=%s%s\", (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, \"|\", \
{ 0x00000001, \"S\" }, { 0x00000002, \"D\" }, { 0x00000010, \"X\" }) : \"R\", REC->prev_state & 0x100 ? \
\"+\" : \"\"\n";
const WAKING: &str = "name: sched_waking\nID: 316\nformat:\n\
\tfield:__data_loc char[] comm;\toffset:8;\tsize:4;\tsigned:0;\n\
\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n\
\tfield:int prio;\toffset:16;\tsize:4;\tsigned:1;\n";
const PROBE: &str = "name: w_out__return\nID: 1500\nformat:\n\
\tfield:unsigned long __probe_func;\toffset:8;\tsize:8;\tsigned:0;\n\
\tfield:unsigned long __probe_ret_ip;\toffset:16;\tsize:8;\tsigned:0;\n";

/// What a file says of its events, up to the functions.
fn description(version: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x17\x08\x44tracing".to_vec();
    bytes.extend(version);
    bytes.extend(b"\0\0\x08");
    bytes.extend(4_096_u32.to_le_bytes());
    for header in [b"header_page\0".as_slice(), b"header_event\0"] {
        bytes.extend(header);
        bytes.extend(3_u64.to_le_bytes());
        bytes.extend(b"abc");
    }
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend(systems());
    bytes.extend(0_u32.to_le_bytes());
    bytes
}

fn systems() -> Vec<u8> {
    let mut bytes = 1_u32.to_le_bytes().to_vec();
    bytes.extend(b"sched\0");
    bytes.extend(3_u32.to_le_bytes());
    for format in [SWITCH, WAKING, PROBE] {
        bytes.extend((format.len() as u64).to_le_bytes());
        bytes.extend(format.as_bytes());
    }
    bytes
}

/// The header of an event: its number, flags, and who ran.
fn event(number: u16, flags: u8, tid: u32) -> Vec<u8> {
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.extend([flags, 0]);
    bytes.extend(tid.to_le_bytes());
    bytes
}

fn comm(name: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    bytes
}

fn switch(state: u64) -> Vec<u8> {
    let mut bytes = event(314, 0, 42);
    bytes.extend(comm("my prog"));
    bytes.extend([42_u32, 120].map(u32::to_le_bytes).concat());
    bytes.extend(state.to_le_bytes());
    bytes.extend(comm("b [x]"));
    bytes.extend([9_u32, 139].map(u32::to_le_bytes).concat());
    bytes
}

fn waking() -> Vec<u8> {
    let mut bytes = event(316, 0x08, 42);
    bytes.extend([20 | 6 << 16, 9, 120_u32].map(u32::to_le_bytes).concat());
    bytes.extend(b"b [x]\0\0\0");
    bytes
}

fn probe() -> Vec<u8> {
    let mut bytes = event(1_500, 0, 9);
    bytes.extend([0x5601_u64, 0x5602].map(u64::to_le_bytes).concat());
    bytes
}

/// Those events at 100, 300 and 400 ns, and a lost one.
const EVENTS: [&str; 4] = [
    "100 1 42 irq waking b [x]:9",
    "300 1 42 thread my prog:42 D > b [x]:9",
    "350 0 ? Lost(12)",
    "400 1 9 thread Mark { name: \"w_out\", returns: true }",
];

/// A record of `perf.data`.
fn record(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend([0_u16, body.len() as u16 + 8].map(u16::to_le_bytes).concat());
    bytes.extend(body);
    bytes
}

/// A sample with identifier, tid, time, cpu and raw data.
fn sample(at: u64, cpu: u32, raw: &[u8]) -> Vec<u8> {
    let mut body = 7_u64.to_le_bytes().to_vec();
    body.extend([41_u32, 42].map(u32::to_le_bytes).concat());
    body.extend(at.to_le_bytes());
    body.extend([cpu, 0].map(u32::to_le_bytes).concat());
    body.extend((raw.len() as u32).to_le_bytes());
    body.extend(raw);
    record(9, &body)
}

fn attributes() -> Vec<u8> {
    let mut bytes = vec![0; 136];
    let sample: u64 = 1 << 16 | 1 << 10 | 1 << 7 | 1 << 2 | 1 << 1;
    bytes[24..32].copy_from_slice(&sample.to_le_bytes());
    bytes[40..48].copy_from_slice(&(1_u64 << 18).to_le_bytes());
    bytes[4] = 136;
    bytes
}

/// Records in two passes over the buffers.
fn records() -> Vec<u8> {
    let mut lost = [7_u64, 12].map(u64::to_le_bytes).concat();
    lost.extend([41_u32, 42].map(u32::to_le_bytes).concat());
    lost.extend([350_u64, 0, 7].map(u64::to_le_bytes).concat());
    [
        sample(300, 1, &switch(2)),
        sample(100, 1, &waking()),
        record(68, &[]),
        sample(400, 1, &probe()),
        record(2, &lost),
        record(68, &[]),
        record(1_000, b"unknown!"),
        // What perf says at the end of all that was lost, without a time.
        record(13, &[12_u64, 0, 0, 0, 0].map(u64::to_le_bytes).concat()),
    ]
    .concat()
}

fn perf_file() -> Vec<u8> {
    let (attributes, records, description) = (attributes(), records(), description(b"0.6"));
    let data = 104 + attributes.len() as u64 + 16;
    let table = data + records.len() as u64;
    let mut bytes = b"PERFILE2".to_vec();
    let words = [104, 152, 104, 152, data, records.len() as u64, 0, 0, 0b10, 0, 0, 0];
    bytes.extend(words.map(u64::to_le_bytes).concat());
    bytes.extend(attributes);
    bytes.extend([0_u64, 0].map(u64::to_le_bytes).concat());
    bytes.extend(records);
    bytes.extend([table + 16, description.len() as u64].map(u64::to_le_bytes).concat());
    bytes.extend(description);
    bytes
}

fn perf_pipe() -> Vec<u8> {
    let description = description(b"0.6");
    let mut bytes = b"PERFILE2".to_vec();
    bytes.extend(16_u64.to_le_bytes());
    bytes.extend(record(64, &[attributes(), 7_u64.to_le_bytes().to_vec()].concat()));
    bytes.extend(record(66, &(description.len() as u32).to_le_bytes()));
    bytes.extend(description);
    bytes.extend(records());
    bytes
}

/// A page of a buffer with these events, each with the time since the one before.
fn page(at: u64, events: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut data = Vec::new();
    for (delta, event) in events {
        data.extend((delta << 5).to_le_bytes());
        data.extend((event.len() as u32 + 4).to_le_bytes());
        data.extend(event);
    }
    let mut page = [at, data.len() as u64].map(u64::to_le_bytes).concat();
    page.extend(data);
    page.resize(4_096, 0);
    page
}

/// Two cpus: the first one has lost events, the other one has had all.
fn pages() -> [Vec<u8>; 2] {
    let mut lost = page(350, &[]);
    lost[8..16].copy_from_slice(&(3_u64 << 30).to_le_bytes());
    lost[16] = 12;
    [lost, page(90, &[(10, waking()), (200, switch(2)), (100, probe())])]
}

fn trace_dat_6() -> Vec<u8> {
    let mut bytes = description(b"6");
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend(2_u32.to_le_bytes());
    bytes.extend(b"options  \0\x04\0\x07\0\0\0[mono]\0\0\0flyrecord\0");
    let at = bytes.len() as u64 + 32;
    bytes.extend([at, 4_096, at + 4_096, 4_096].map(u64::to_le_bytes).concat());
    bytes.extend(pages().concat());
    bytes
}

fn section(number: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = [number, 0, 0, 0].map(u16::to_le_bytes).concat();
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(body);
    bytes
}

fn trace_dat_7() -> Vec<u8> {
    let mut bytes = b"\x17\x08\x44tracing7\0\0\x08".to_vec();
    bytes.extend(4_096_u32.to_le_bytes());
    bytes.extend(b"none\0\0");
    let at = bytes.len() as u64 + 8;
    let formats = section(18, &systems());
    let (options, buffers) = (at + formats.len() as u64, at + formats.len() as u64 + 1_024);
    bytes.extend(options.to_le_bytes());
    bytes.extend(formats);
    let mut list = Vec::new();
    let mut option = |number: u16, value: &[u8]| {
        list.extend(number.to_le_bytes());
        list.extend((value.len() as u32).to_le_bytes());
        list.extend(value);
    };
    option(18, &at.to_le_bytes());
    let mut buffer = buffers.to_le_bytes().to_vec();
    buffer.extend(b"\0mono\0");
    buffer.extend([4_096_u32, 2, 0].map(u32::to_le_bytes).concat());
    buffer.extend([buffers, 4_096].map(u64::to_le_bytes).concat());
    buffer.extend(1_u32.to_le_bytes());
    buffer.extend([buffers + 4_096, 4_096].map(u64::to_le_bytes).concat());
    option(3, &buffer);
    option(0, &[0; 8]);
    bytes.extend(section(0, &list));
    bytes.resize(buffers as usize, 0);
    bytes.extend(pages().concat());
    bytes
}

/// Keys and values of protocol buffers, all numbers below 128.
fn message(fields: &[(u64, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, value) in fields {
        let key = key << 3 | 2;
        bytes.extend(if key < 128 { vec![key as u8] } else { vec![key as u8 | 0x80, (key >> 7) as u8] });
        bytes.push(value.len() as u8);
        bytes.extend(*value);
    }
    bytes
}

/// A packet: what a thread does on a cpu.
fn does(at: u8, cpu: u8, tid: u8, state: u8) -> Vec<u8> {
    let mut packet = vec![8 << 3, at];
    packet.extend(message(&[(117, &[8, cpu, 24, tid, 32, state])]));
    message(&[(1, &packet)])
}

fn perfetto() -> Vec<u8> {
    let thread = [b"\x08\x07\x10\x05".to_vec(), message(&[(3, b"a.0")])].concat();
    let tree = message(&[(1, b"\x08\x05"), (2, &thread)]);
    [
        message(&[(1, &message(&[(122, &tree)]))]),
        does(1, 0, 7, 2),
        does(1, 0, 7, 3),
        does(2, 0, 8, 2),
        does(5, 0, 7, 2),
        does(5, 0, 8, 3),
        does(9, 0, 8, 4),
        does(9, 1, 7, 3),
        does(12, 1, 7, 7),
    ]
    .concat()
}

#[test]
fn perf_data_is_read_from_a_file_and_from_a_pipe() {
    let process = |line: &str| line.replace(" 42 ", " 41/42 ").replace(" 9 ", " 41/9 ");
    for bytes in [perf_file(), perf_pipe()] {
        assert_eq!(whole_bytes(&bytes, "perf.data"), EVENTS.map(process));
    }
}

#[test]
fn trace_dat_is_read_in_both_versions() {
    for bytes in [trace_dat_6(), trace_dat_7()] {
        assert_eq!(whole_bytes(&bytes, "trace.dat of trace-cmd"), EVENTS);
    }
}

#[test]
fn a_trace_for_perfetto_becomes_switches_and_wakes() {
    assert_eq!(
        whole_bytes(&perfetto(), "Perfetto trace of oversim"),
        [
            "1 0 ? wakeup a.0:7",
            "1 0 0 swapper/0:0 R > a.0:7",
            "2 0 ? wakeup ?:8",
            "5 0 5/7 a.0:7 R > ?:8",
            "9 1 0 swapper/1:0 R > a.0:7",
            "9 0 8 ?:8 S > swapper/0:0",
            "12 1 5/7 a.0:7 X > swapper/1:0",
        ]
    );
    let foreign = message(&[(1, &message(&[(1, b"\x08\x01")]))]);
    assert!(wrong(&foreign).contains("traceconv systrace"), "{}", wrong(&foreign));
}

#[test]
fn what_cannot_be_read_is_refused_with_a_reason() {
    let changed = |mut bytes: Vec<u8>, at: usize, to: &[u8]| {
        bytes[at..at + to.len()].copy_from_slice(to);
        wrong(&bytes)
    };
    let replaced = |bytes: &[u8], from: &[u8], to: &[u8]| {
        let at = bytes.windows(from.len()).position(|part| part == from).unwrap();
        changed(bytes.to_vec(), at, to)
    };
    let file = perf_file();
    assert!(changed(file.clone(), 48, &[0; 8]).contains("perf has not finished it"));
    assert!(changed(file.clone(), 72, &[0; 8]).contains("no tracepoints"));
    assert!(changed(file.clone(), 32, &[0xff; 8]).contains("damaged or cut off"));
    assert!(replaced(&file, b"sched_switch", b"sched_swatch").contains("sched_switch is none"));
    assert!(changed(file.clone(), 256 + 6, &[4, 0]).contains("record 1 at byte 256 has the length 4"));
    assert!(changed(file, 256, &[81]).contains("compressed (`perf record -z`)"));
    let dat = trace_dat_6();
    assert!(replaced(&dat, b"[mono]\0", b"counter").contains("the clock counter counts no ns"));
    assert!(replaced(&dat, b"tracing6", b"tracing5").contains("neither 6 nor 7"));
    assert!(replaced(&dat, b"flyrecord", b"latency  ").contains("trace-cmd report -t -R a file | oversim"));
    let dat = trace_dat_7();
    assert!(replaced(&dat, &[18, 0, 0, 0], &[18, 0, 1, 0]).contains("it is compressed"));
}

#[test]
fn no_binary_input_makes_the_reader_panic() {
    let files = [perf_file(), perf_pipe(), trace_dat_6(), trace_dat_7(), perfetto()];
    for file in &files {
        for length in (0..file.len()).step_by(1 + file.len() / 500) {
            let _ = read_bytes(&file[..length], (None, None));
        }
    }
    let mut next = numbers(0x1234_5678_9abc_def1);
    for round in 0..10_000 {
        let mut bytes = files[round % files.len()].clone();
        for _ in 0..=next() % 6 {
            let at = next() as usize % bytes.len();
            match next() % 4 {
                0 => bytes[at] = next() as u8,
                1 => bytes[at] = 0xff,
                2 => {
                    let to = bytes.len().min(at + 8);
                    bytes[at..to].fill(next() as u8 & 0x81);
                }
                _ => drop(bytes.drain(at..bytes.len().min(at + next() as usize % 9))),
            }
        }
        let _ = read_bytes(&bytes, (None, None));
    }
}
