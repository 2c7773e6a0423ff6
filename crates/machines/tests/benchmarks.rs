//! Values from the output of benchmarks: what each form gives, what does not fit a machine, and texts that are no
//! output.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use machines::benchmarks::{Changed, Given, Log, set};
use machines::import::Refused;
use machines::{Entry, read_file, resolve};

/// Two NUMA nodes of eight cores, as `box.yaml` of an import.
const MINE: &str = "package:2 numa:1 core:8 pu:2";

fn data(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs").join(name)).unwrap()
}

fn changed(machine: &str, logs: &[&str]) -> Result<Changed, Refused> {
    let entry = resolve(machine).unwrap();
    let names: Vec<String> = (0..logs.len()).map(|at| format!("log{at}.txt")).collect();
    let logs: Vec<Log<'_>> = names.iter().zip(logs).map(|(name, text)| Log { name, text }).collect();
    set(&entry, "mine", &logs, &[])
}

/// The machine of the file that is written, with the value of a name and its note.
fn value(entry: &Entry, name: &str) -> (f64, String, bool) {
    let note = entry.notes.iter().find(|note| note.parameter == name).unwrap();
    (entry.values.number(name).unwrap_or(0) as f64 / 1e6, note.source.clone(), note.uncertain)
}

fn range(entry: &Entry, name: &str) -> Option<(u64, u64)> {
    entry.notes.iter().find(|note| note.parameter == name).unwrap().range
}

/// All of a refusal in one text.
fn refused(result: Result<Changed, Refused>) -> String {
    match result.unwrap_err() {
        Refused::Sentence(sentence) => sentence,
        Refused::Problems(all) => {
            all.iter().map(|one| format!("{}; {}", one.message, one.hint)).collect::<Vec<_>>().join("\n")
        }
    }
}

/// What `cores` cores read together on memory with this bandwidth, by the formula of the model.
fn read_at(core: f64, cores: f64, node: f64) -> f64 {
    let asked = core * cores;
    asked / (1.0 + (asked / node).powi(4)).powf(0.25)
}

fn near(one: f64, other: f64) {
    assert!((one / other - 1.0).abs() < 0.002, "{one} is not {other}");
}

#[test]
fn stream_gives_both_bandwidths_and_their_rates_come_back() {
    let (one, all) = (data("stream-1.txt"), data("stream-16.txt"));
    let entry = changed(MINE, &[&one, &all]).unwrap().entry;
    let (core, source, uncertain) = value(&entry, "core_bandwidth");
    let (node, node_source, _) = value(&entry, "node_bandwidth");
    assert!(source.starts_with("STREAM, Triad with 1 thread: 14,366 MB/s, in log0.txt line 30"), "{source}");
    assert!(
        node_source.contains("16 threads: 98,765 MB/s, in log1.txt line 30, of 2 NUMA nodes"),
        "{node_source}"
    );
    assert!(uncertain, "the output does not say how data were stored");
    near(read_at(core, 1.0, node), 14_365.7);
    near(read_at(core, 8.0, node), 98_765.4 / 2.0);
    // With ordinary stores, a third more crosses the bus.
    let (low, high) = range(&entry, "node_bandwidth").unwrap();
    near(low as f64 / 1e6, node);
    near(high as f64 / low as f64, 4.0 / 3.0);
    // Alone, a rate is taken as it is.
    let entry = changed(MINE, &[&all]).unwrap().entry;
    near(value(&entry, "node_bandwidth").0, 98_765.4 / 2.0);
    assert!(value(&entry, "core_bandwidth").1.starts_with("default"), "nothing was measured");
    let entry = changed(MINE, &[&one]).unwrap().entry;
    near(value(&entry, "core_bandwidth").0, 14_365.7);
}

#[test]
fn stream_states_its_threads_in_several_ways() {
    let all = data("stream-16.txt");
    let counted = "Number of Threads counted = 16\n";
    let old = all
        .replace(counted, "")
        .replace("Number of Threads requested = 16", "Number of Threads requested = 4");
    let fortran =
        all.replace("Number of Threads requested = 16\n", "").replace(counted, " Number of Threads =   16\n");
    let ranks = all
        .replace("= 16\n", "= 4\n")
        .replace("Each kernel", "Data is distributed across 4 MPI ranks\nEach kernel");
    let printed = "Printing one line per active thread....\n".repeat(16);
    let lines = all.replace("Number of Threads requested = 16\n", "").replace(counted, &printed);
    for text in [&fortran, &ranks, &lines] {
        let entry = changed(MINE, &[text]).unwrap().entry;
        near(value(&entry, "node_bandwidth").0, 98_765.4 / 2.0);
    }
    let few = refused(changed(MINE, &[&old]));
    assert!(few.contains("4 threads are fewer than the 16 cores"), "{few}");
    // No OpenMP: one thread.
    let plain = lines.replace("Printing one line per active thread....\n", "");
    near(value(&changed(MINE, &[&plain]).unwrap().entry, "core_bandwidth").0, 98_765.4);
    let table = format!("Function{}", all.split_once("\nFunction").unwrap().1);
    assert!(refused(changed(MINE, &[&table])).contains("state the number of threads"));
}

#[test]
fn likwid_counts_reads_and_knows_sockets() {
    let text = data("likwid-load.txt");
    let changed = changed(MINE, &[&text]).unwrap();
    let (core, source, uncertain) = value(&changed.entry, "core_bandwidth");
    assert!(
        source.starts_with("likwid-bench, load with 1 thread: 14,479 MB/s, in log0.txt line 25"),
        "{source}"
    );
    let (node, _, node_uncertain) = value(&changed.entry, "node_bandwidth");
    assert!(!uncertain && !node_uncertain, "reads are what the model has");
    near(read_at(core, 1.0, node), 14_479.33);
    near(read_at(core, 8.0, node), 51_210.62);
    assert!(changed.remarks.is_empty(), "{:?}", changed.remarks);
}

#[test]
fn what_does_not_count_is_listed() {
    let (load, mixed) = (data("likwid-load.txt"), data("likwid-mixed.txt"));
    let changed = changed(MINE, &[&mixed, &load]).unwrap();
    let remarks = changed.remarks.join("\n");
    for said in [
        "copy with 1 thread: 135,390 MB/s, in log0.txt line 25: its data, 46.9 KiB, fit into the caches",
        "triad with 16 threads: 80,211 MB/s, in log0.txt line",
        "likwid-bench, load counts, which only reads",
        "peakflops: it measures arithmetic",
    ] {
        assert!(remarks.contains(said), "{said}: {remarks}");
    }
    assert!(value(&changed.entry, "node_bandwidth").1.starts_with("likwid-bench, load with 8 threads"));
    assert!(changed.text.contains("# not taken: likwid-bench, copy"), "{}", changed.text);
    // Alone it counts: three loads and a store move five lines where four are counted.
    let entry = self::changed(MINE, &[&mixed]).unwrap().entry;
    let (low, high) = range(&entry, "node_bandwidth").unwrap();
    assert_eq!(low, 40_105_000_000);
    near(high as f64 / low as f64, 1.25);
}

#[test]
fn fewer_threads_than_cores_count_where_they_saturate() {
    let part = data("likwid-load.txt").replace("Using 8 threads", "Using 4 threads");
    let full = changed(MINE, &[&part]).unwrap();
    assert!(full.remarks.iter().any(|remark| remark.contains("neither one thread nor enough")));
    assert!(value(&full.entry, "node_bandwidth").1.starts_with("default"));
    let slow = part.replace("51210.62", "40000.00");
    let entry = changed(MINE, &[&slow]).unwrap().entry;
    let (core, node) = (value(&entry, "core_bandwidth").0, value(&entry, "node_bandwidth").0);
    near(read_at(core, 4.0, node), 40_000.0);
    near(read_at(core, 1.0, node), 14_479.33);
}

#[test]
fn mlc_gives_distances_nodes_and_links() {
    let text = data("mlc.txt");
    let changed = changed(MINE, &[&text]).unwrap();
    let entry = &changed.entry;
    assert_eq!(entry.lists.distances, [1_000, 1_640, 1_600, 1_000]);
    let (_, source, uncertain) = value(entry, "lists.distances");
    assert!(source.contains("in log0.txt line 2") && !uncertain, "{source}");
    assert_eq!(entry.values.number("remote_factor"), Some(1_620));
    // 113,249 MB/s from its own memory; all together read less per node.
    near(value(entry, "node_bandwidth").0, 113_249.2);
    let (link, source, _) = value(entry, "link_bandwidth");
    near(link, 50_923.4);
    assert!(source.contains("node 0 from memory of node 1 at 50,923 MB/s, in log0.txt line 24"), "{source}");
    let remarks = changed.remarks.join("\n");
    for said in ["ALL Reads: 225,097 MB/s", "loaded latencies", "transfers between caches"] {
        assert!(remarks.contains(said), "{said}: {remarks}");
    }
    // With what a core asks for, the link gives its rate back.
    let load = data("likwid-load.txt");
    let entry = self::changed(MINE, &[&text, &load]).unwrap().entry;
    let core = value(&entry, "core_bandwidth").0;
    near(read_at(core / 1.64, 8.0, value(&entry, "link_bandwidth").0), 50_923.4);
}

#[test]
fn all_of_a_machine_stays_as_it_was() {
    for name in machines::names() {
        let entry = resolve(name).unwrap();
        let given = [Given { name: "poll", value: "77ns", source: "my own \"test\"" }];
        let changed = set(&entry, "mine", &[], &given).unwrap();
        let mut wanted = Entry { name: "mine".into(), ..entry.clone() };
        let note = wanted.notes.iter_mut().find(|note| note.parameter == "poll").unwrap();
        (note.source, note.uncertain, note.range) = ("my own \"test\"".into(), false, None);
        let sorted = |entry: &Entry| {
            let mut notes = entry.notes.clone();
            notes.sort_by(|one, other| one.parameter.cmp(&other.parameter));
            notes
        };
        assert_eq!(sorted(&changed.entry), sorted(&wanted), "{name}");
        wanted.values.set("poll", 77).unwrap();
        for parameter in entry.values.table() {
            assert_eq!(
                changed.entry.values.number(parameter.name),
                wanted.values.number(parameter.name),
                "{name}"
            );
        }
        assert_eq!((&changed.entry.lists, &changed.entry.about), (&entry.lists, &entry.about), "{name}");
        assert_eq!(read_file(0, &changed.text), Ok(changed.entry));
    }
}

#[test]
fn what_does_not_fit_the_machine_is_refused_with_what_differs() {
    let (stream, likwid, mlc) = (data("stream-16.txt"), data("likwid-load.txt"), data("mlc.txt"));
    for (machine, text, said) in [
        (
            "package:1 core:4 pu:2",
            stream.clone(),
            "the run had 16 threads; machine `package:1 core:4 pu:2` has 8 cpus",
        ),
        (MINE, likwid.replace("Domain S0", "Domain S4"), "the run used socket 4 (from 0); machine"),
        (MINE, likwid.replace("Domain S0", "Domain M2"), "the run used NUMA node 2 (from 0)"),
        ("package:4 numa:1 core:4", mlc.clone(), "the table has 2 rows and 2 columns of NUMA nodes; machine"),
        (
            MINE,
            mlc.replace("  80.0	 131.2", "  80.0	  30.0"),
            "latency of 30 ns to node 1, and of 80 ns to itself",
        ),
        (MINE, mlc.replace("50923.4", "9e9"), "beyond the range of `link_bandwidth`: 1B/s to 1000GB/s"),
        (MINE, stream.replace("98765.4", "9e12"), "beyond the range of `node_bandwidth`"),
        (MINE, stream.replace("98765.4", "1e300"), "beyond the range of `node_bandwidth`"),
        (MINE, stream.replace("Solution Validates", "Failed Validation on array a[]"), "wrong results"),
    ] {
        let answer = refused(changed(machine, &[&text]));
        assert!(answer.contains(said), "{said}: {answer}");
    }
    let small = stream.replace("1525.9 MiB", "7.6 MiB");
    let answer = refused(changed(MINE, &[&small]));
    assert!(answer.contains("nothing was measured") && answer.contains("fit into the caches"), "{answer}");
}

#[test]
fn given_values_are_checked() {
    let entry = resolve(MINE).unwrap();
    let wrong = |name, value, source| refused(set(&entry, "m", &[], &[Given { name, value, source }]));
    assert!(wrong("core_bandwith", "1GB/s", "x").contains("did you mean `core_bandwidth`?"));
    assert!(wrong("core_bandwidth", "12", "x").contains("needs a unit"));
    assert!(wrong("core_bandwidth", "2TB/s", "x").contains("must lie between"));
    assert!(wrong("core_bandwidth", "2GB/s", " ").contains("source is empty"));
    let text = data("stream-1.txt");
    let given = [Given { name: "core_bandwidth", value: "12GB/s", source: "by hand" }];
    let changed = set(&entry, "m", &[Log { name: "s", text: &text }], &given).unwrap();
    assert_eq!(changed.entry.values.number("core_bandwidth"), Some(12_000_000_000), "what is given counts");
}

/// Every beginning, and lines that are missing, doubled or spoilt: an answer, no panic.
#[test]
fn hostile_texts_are_answered() {
    let all = ["stream-1.txt", "stream-16.txt", "likwid-load.txt", "likwid-mixed.txt", "mlc.txt"].map(data);
    let entry = resolve(MINE).unwrap();
    let answered = |text: &str| {
        if let Ok(changed) = set(&entry, "m", &[Log { name: "\u{1b}[1m\0", text }], &[]) {
            assert_eq!(read_file(0, &changed.text).as_ref(), Ok(&changed.entry));
        }
    };
    let huge = "9".repeat(400);
    for text in &all {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)).step_by(7) {
            answered(&text[..end]);
        }
        let lines: Vec<&str> = text.lines().collect();
        for at in 0..lines.len() {
            let without: Vec<&str> =
                lines.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, l)| *l).collect();
            answered(&without.join("\n"));
            answered(&[&lines[..=at], &lines[at..]].concat().join("\n"));
            for digits in [huge.as_str(), "1e308", "-1", "0", "nan", "\0", "4294967296", "\u{202e}1"] {
                let spoilt: String =
                    lines[at].split(|c: char| c.is_ascii_digit()).collect::<Vec<_>>().join(digits);
                let mut lines = lines.clone();
                lines[at] = &spoilt;
                answered(&lines.join("\r\n"));
            }
        }
    }
    for text in ["", " \n", "\0", "Copy: 1", "Numa node 0 1", "hello"] {
        let answer = refused(set(&entry, "m", &[Log { name: "x", text }], &[]));
        assert!(answer.contains("these are read: STREAM"), "{answer}");
    }
    let many = all[0].repeat(600);
    assert!(set(&entry, "m", &[Log { name: "x", text: &many }], &[]).is_ok());
    let more =
        refused(set(&entry, "m", &[Log { name: "x", text: &many }, Log { name: "x", text: &many }], &[]));
    assert!(more.contains("more than 1000 measurements"), "{more}");
}
