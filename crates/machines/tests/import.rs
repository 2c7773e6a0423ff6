//! Imports of machines: shapes of many kinds, round trips, and inputs that are refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::time::Instant;

use machines::import::{Description, Imported, Refused, export_synthetic, import};
use machines::read_file;

fn synthetic(text: &str) -> Result<Imported, Refused> {
    import(Description::Synthetic(text), "m", false)
}

fn xml(text: &str) -> Result<Imported, Refused> {
    import(Description::Xml { name: "x.xml", text }, "m", false)
}

/// The message of a refusal.
fn said<T: std::fmt::Debug>(refused: Result<T, Refused>) -> String {
    match refused.unwrap_err() {
        Refused::Sentence(sentence) => sentence,
        Refused::Problems(all) => {
            all.iter().map(|one| format!("{} {}", one.message, one.hint)).collect::<Vec<_>>().join("\n")
        }
    }
}

fn data(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

fn shown(imported: &Imported, name: &str) -> String {
    imported.entry.values.shown(name).unwrap()
}

/// A line of the machine file.
fn line<'a>(imported: &'a Imported, key: &str) -> &'a str {
    let key = format!("{key}:");
    imported.text.lines().find(|line| line.trim_start().starts_with(&key)).unwrap_or_default()
}

/// Synthetic descriptions and their shapes, which are those that lstopo 2.9 gives them.
const SHAPES: &[(&str, &str)] = &[
    ("pack:1 [numa] core:1 pu:1", "package:1 core:1"),
    ("pack:1 [numa(memory=8GB)] l3:1(size=32MiB) l2:2(size=1MiB) core:1 pu:1", "package:1 cache:1 core:2"),
    ("pack:1 [numa] l3:1(size=8MiB) core:4 pu:2", "package:1 cache:1 core:4 pu:2"),
    ("pack:2 [numa] l3:1(size=32MB) core:8 pu:2", "package:2 numa:1 cache:1 core:8 pu:2"),
    ("pack:2 numa:4 l3:1(size=8MiB) core:4 pu:2", "package:2 numa:4 cache:1 core:4 pu:2"),
    ("pack:8 [numa] l3:1(size=32MiB) core:4 pu:1", "package:8 numa:1 cache:1 core:4"),
    ("pack:2 [numa] l3:8(size=32MiB) core:8 pu:2", "package:2 numa:1 cache:8 core:8 pu:2"),
    ("[numa] pack:4 l2:2(size=2MiB) core:2 pu:1", "package:4 cache:2 core:2"),
    (
        "pack:2 [numa] l3:1(size=32MiB) l2:8(size=4MiB) core:4 pu:1",
        "package:2 numa:1 cache:1 cluster:8 core:4",
    ),
    ("pack:1 [numa] l3:2(size=8MiB) l2:1(size=4MiB) core:4 pu:2", "package:1 cache:2 core:4 pu:2"),
    ("numa:3 pack:2 core:2 pu:1", "numa:3 package:2 core:2"),
    ("numa:2 core:4 pu:1", "package:1 numa:2 core:4"),
    ("NUMANode:3 Core:2 PU:2", "package:1 numa:3 core:2 pu:2"),
    ("pack:2 pu:4", "package:2 core:4"),
    ("pack:2 die:2 [numa] core:2 pu:1", "package:2 numa:2 core:2"),
    ("4", "package:1 core:4"),
    ("2 4", "package:1 numa:2 core:4"),
    ("2 3 4", "package:2 numa:3 core:4"),
    ("2 2 3 4", "package:2 numa:2 core:3 pu:4"),
    ("2 2 2 3 4", "package:2 numa:2 cache:2 core:3 pu:4"),
];

#[test]
fn shapes_survive_the_machine_file_and_the_way_back_to_hwloc() {
    for (text, shape) in SHAPES {
        let imported = synthetic(text).unwrap();
        assert_eq!(imported.entry.topology_text, *shape, "{text}");
        let again = read_file(0, &imported.text).unwrap();
        assert_eq!(again, imported.entry, "{text}");
        let exported = export_synthetic(&again).unwrap().text;
        let back = synthetic(&exported).unwrap();
        let second = export_synthetic(&back.entry).unwrap().text;
        // A default cache of a package with several nodes is split among them once.
        if line(&imported, "shared_cache").contains("size of") {
            assert_eq!(exported, second, "{text}");
        }
        assert_eq!(second, export_synthetic(&synthetic(&second).unwrap().entry).unwrap().text, "{text}");
        for name in ["private_cache", "shared_cache"] {
            let has = line(&imported, name).contains("size of") && !line(&back, name).is_empty();
            assert!(!has || shown(&imported, name) == shown(&back, name), "{text}");
        }
    }
}

#[test]
fn built_in_machines_survive_hwloc() {
    for entry in machines::entries() {
        let back = synthetic(&export_synthetic(entry).unwrap().text).unwrap().entry;
        let counts = |entry: &machines::Entry| {
            use sim_core::machine::Level;
            [Level::Package, Level::Node, Level::Core, Level::Thread].map(|l| entry.topology.count(l))
        };
        assert_eq!(counts(entry), counts(&back), "{}", entry.name);
        assert_eq!(
            entry.values.number("private_cache"),
            back.values.number("private_cache"),
            "{}",
            entry.name
        );
    }
}

#[test]
fn a_machine_without_cores_has_one_for_each_thread_in_hwloc() {
    let entry = machines::resolve("package:2 numa:1 pu:21").unwrap();
    let exported = export_synthetic(&entry).unwrap().text;
    let back = synthetic(&exported).unwrap().entry;
    assert_eq!(back.topology.count(sim_core::machine::Level::Core), 42, "{exported}");
}

#[test]
fn values_have_their_sources_and_guesses_their_marks() {
    let imported = synthetic("pack:2 [numa] l3:1(size=32MB) core:8 pu:2").unwrap();
    assert!(line(&imported, "shared_cache").ends_with("size of L3\" }"), "{}", imported.text);
    for note in &imported.entry.notes {
        let stated = note.source.contains("hwloc") || note.source.contains("setting");
        let chosen = note.source.contains("chosen by") || note.source.contains("smallest latency");
        assert!(stated || chosen || note.uncertain, "{note:?}");
    }
}

#[test]
fn numbers_of_linux_are_kept() {
    let imported = synthetic("pack:2 [numa] core:4 pu:2(indexes=2*4:8*2:1*2)").unwrap();
    assert_eq!(imported.entry.lists.cpu_numbers, [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]);
    let back = synthetic(&export_synthetic(&imported.entry).unwrap().text).unwrap();
    assert_eq!(back.entry.lists, imported.entry.lists);
    assert!(synthetic("core:4 pu:1").unwrap().entry.lists.cpu_numbers.is_empty());
}

#[test]
fn wrong_descriptions_are_refused_before_anything_is_made() {
    let began = Instant::now();
    for (text, expected) in [
        ("", "has no level"),
        ("pack:1000000 core:1000000 pu:1", "more than 1048576 cpus"),
        ("pack:99999999999999999999999 pu:1", "more than 1048576 cpus"),
        ("pack:0 pu:1", "at least one part"),
        ("pack:2 coer:2 pu:2", "did you mean `core`?"),
        ("sokcet:2 pu:2", "did you mean `socket`?"),
        ("pack:2 core:2", "last level must be pu"),
        ("pu:2 core:2", "a pu contains no other level"),
        ("pack:2 pack:2 pu:1", "twice"),
        ("pack:2 3 pu:1", "mixed"),
        ("pack pu:1", "has no count"),
        ("pack: pu:1", "no count"),
        ("pack:-1 pu:1", "no count"),
        ("1 1 1 1 1 1 1 1", "more than 7 levels"),
        ("ma:1 pu:1", "the machine is not a level"),
        ("pack:2 [core] pu:1", "cannot be attached"),
        ("pack:2 [numa core:1 pu:1", "not closed"),
        ("l3:1(size=1MB core:1 pu:1", "has no value"),
        ("l3:1(size=1MB", "not closed"),
        ("l3:1(sise=1MB) pu:1", "did you mean `size`?"),
        ("l3:1(size=1XB) pu:1", "not understood"),
        ("core:2 pu:1(indexes=0,0)", "appears twice"),
        ("core:2 pack:2 pu:2", "share a core"),
    ] {
        let said = said(synthetic(text));
        assert!(said.contains(expected), "{text}: {said}");
    }
    assert!(said(synthetic(&"group:1 ".repeat(70))).contains("at most 64 levels"));
    assert!(said(synthetic(&"x".repeat(1 << 20))).contains("at most"));
    assert!(began.elapsed().as_secs() < 5, "the size is refused before memory is taken");
}

#[test]
fn files_of_lstopo_are_read() {
    // lstopo 2.9 on a virtual machine; the others are descriptions that lstopo 2.9 wrote as XML.
    let vm = xml(&data("vm-2cpu.xml")).unwrap();
    assert_eq!(
        (vm.entry.topology_text.as_str(), vm.entry.kernel.as_deref()),
        ("package:1 cache:1 core:2", Some("linux-6.18"))
    );
    assert_eq!(
        (shown(&vm, "private_cache").as_str(), shown(&vm, "shared_cache").as_str()),
        ("1MiB", "32MiB")
    );
    assert!(line(&vm, "shared_cache").contains("hwloc XML file x.xml, L3Cache cache_size"));
    assert!(vm.remarks.is_empty() && vm.entry.lists.cpu_numbers.is_empty(), "{:?}", vm.remarks);
    let ccx = xml(&data("ccx.xml")).unwrap().entry;
    assert_eq!(ccx.topology_text, "package:1 cache:2 core:2 pu:2");
    assert_eq!(ccx.lists.cpu_numbers, [0, 4, 1, 5, 2, 6, 3, 7]);
    // The L3 of a package is shared by two nodes.
    let snc = xml(&data("snc.xml")).unwrap();
    assert_eq!(snc.entry.topology_text, "package:2 numa:2 cache:1 core:2 pu:2");
    assert_eq!(
        (shown(&snc, "shared_cache").as_str(), shown(&snc, "private_cache").as_str()),
        ("30MiB", "1.25MiB")
    );
    assert!(line(&snc, "shared_cache").contains("uncertain: true"));
    assert!(xml(&data("ccx.xml").replace("version=\"2.0\"", "version=\"3.0\"")).is_ok());
}

/// A hybrid processor: two fast cores with two threads, two slow cores with one; NUMA distances, offline and
/// forbidden cpus are added by the tests.
fn hybrid() -> String {
    let pu = |n: u32| format!("<object type='PU' os_index='{n}' cpuset='0x{:x}'/>", 1 << n);
    let core = |cpus: &[u32]| {
        let cpus: String = cpus.iter().map(|n| pu(*n)).collect();
        format!("<object type='L2Cache' cache_size='1048576'><object type='Core'>{cpus}</object></object>")
    };
    let cores: String = [core(&[0, 1]), core(&[2, 3]), core(&[4]), core(&[5])].concat();
    format!(
        "<!DOCTYPE topology SYSTEM 'hwloc2.dtd'>\n<topology version='2.0'><object type='Machine' \
         complete_cpuset='0x3f' allowed_cpuset='0x3f'><object type='Package' os_index='0'><object \
         type='NUMANode' os_index='0' local_memory='8589934592'/><object type='L3Cache' \
         cache_size='12582912'>{cores}</object></object></object><memattr name='Capacity'/>\
         <cpukind cpuset='0x30'><info name='FrequencyMaxMHz' value='3000'/></cpukind>\
         <cpukind cpuset='0xf'><info name='FrequencyMaxMHz' value='4000'/></cpukind></topology>"
    )
}

#[test]
fn hybrid_processors_keep_their_speeds_and_lose_threads_only_on_request() {
    let whole = xml(&hybrid()).unwrap();
    assert_eq!(whole.entry.topology_text, "package:1 cache:1 core:2 pu:2 + core:2");
    assert_eq!(whole.entry.lists.core_speeds, [1_000, 1_000, 750, 750]);
    assert!(whole.entry.lists.cpu_numbers.is_empty());
    assert!(whole.remarks.iter().any(|remark| remark.contains("work that each does per clock")));
    assert!(export_synthetic(&whole.entry).unwrap_err().contains("equal parts"));
    let text = hybrid();
    let cut = import(Description::Xml { name: "x.xml", text: &text }, "m", true).unwrap();
    assert_eq!(cut.entry.topology_text, "package:1 cache:1 core:4");
    assert_eq!(cut.entry.lists.core_speeds, [1_000, 1_000, 750, 750]);
    assert_eq!(cut.entry.lists.cpu_numbers, [0, 2, 4, 5]);
    assert!(line(&cut, "topology").contains("uncertain: true"));
    assert!(line(&cut, "core_speeds").contains("uncertain: true"));
    assert!(cut.remarks.iter().any(|remark| remark.starts_with("cpus 1,3 left out")), "{:?}", cut.remarks);
    // Without hyper-threading nothing is irregular.
    let plain = text
        .replace("0x3f'><", "0x35'><")
        .replace("<object type='PU' os_index='1' cpuset='0x2'/>", "")
        .replace("<object type='PU' os_index='3' cpuset='0x8'/>", "");
    let plain = xml(&plain).unwrap();
    assert_eq!(plain.entry.topology_text, "package:1 cache:1 core:4");
    // Nearly equal clocks are those of favoured cores.
    let equal = xml(&hybrid().replace("3000", "3900")).unwrap();
    assert!(equal.entry.lists.core_speeds.is_empty());
}

#[test]
fn offline_and_forbidden_cpus_are_left_out() {
    let base = "<topology version='2.1'><object type='Machine' complete_cpuset='0x1f' allowed_cpuset='0x6'>\
        <object type='Package' os_index='0'><object type='NUMANode' os_index='0'/>\
        <object type='Core'><object type='PU' os_index='0'/></object><object type='Core'><object type='PU' os_index='1'/></object>\
        <object type='Core'><object type='PU' os_index='2'/></object><object type='Core'><object type='PU' os_index='4'/></object>\
        </object></object></topology>";
    let imported = xml(base).unwrap();
    assert_eq!(imported.entry.topology_text, "package:1 core:2");
    assert_eq!(imported.entry.lists.cpu_numbers, [1, 2]);
    assert_eq!(
        imported.remarks,
        [
            "cpu 3 left out: offline, or forbidden to the program that wrote the file (complete_cpuset)",
            "cpus 0,4 left out: programs may not use them (allowed_cpuset)"
        ]
    );
}

#[test]
fn distances_of_nodes_follow_the_order_of_the_nodes() {
    let node = |n: u32, cpu: u32| {
        format!(
            "<object type='Package' os_index='{n}'><object type='NUMANode' os_index='{n}' gp_index='{}'/><object type='PU' os_index='{cpu}'/></object>",
            70 + n
        )
    };
    let file = |table: &str| {
        format!(
            "<topology version='2.0'><object type='Machine'>{}{}</object>{table}</topology>",
            node(0, 1),
            node(1, 0)
        )
    };
    let table = |attributes: &str, indexes: &str| {
        format!(
            "<distances2 type='NUMANode' {attributes}><indexes length='4'>{indexes}</indexes><u64values length='12'>10 21 31 10 </u64values></distances2>"
        )
    };
    let good = table("nbobjs='2' kind='5' name='NUMALatency' indexing='os'", "0 1");
    // Node 1 holds cpu 0 and is the first of the simulator.
    let imported = xml(&file(&good)).unwrap();
    assert_eq!(imported.entry.lists.distances, [1_000, 3_100, 2_100, 1_000]);
    assert_eq!(imported.entry.lists.cpu_numbers, Vec::<u32>::new());
    assert!(
        line(&imported, "distances").contains("distances2 NUMALatency")
            && line(&imported, "distances").contains("uncertain")
    );
    let by_gp = table("kind='5' indexing='gp'", "70 71");
    assert_eq!(xml(&file(&by_gp)).unwrap().entry.lists, imported.entry.lists);
    let bandwidth = xml(&file(&table("kind='9' name='Triad'", "0 1"))).unwrap();
    assert!(bandwidth.entry.lists.distances.is_empty() && bandwidth.remarks[0].contains("Triad"));
    assert!(said(xml(&file(&table("kind='5'", "0 1 2")))).contains("need 9 values"));
    assert!(said(xml(&file(&table("kind='5'", "0 x")))).contains("`x` is no whole number"));
    let strange = xml(&file(&good.replace("21", "2"))).unwrap();
    assert!(strange.entry.lists.distances.is_empty() && strange.remarks[0].contains("not imported"));
}

#[test]
fn irregular_shapes_are_refused_with_what_differs() {
    let package = |n: u32, cores: std::ops::Range<u32>| {
        let cores: String = cores
            .map(|n| format!("<object type='Core'><object type='PU' os_index='{n}'/></object>"))
            .collect();
        format!(
            "<object type='Package' os_index='{n}'><object type='NUMANode' os_index='{n}'/><object type='L3Cache' cache_size='1048576'>{cores}</object></object>"
        )
    };
    let text = format!(
        "<topology version='2.0'><object type='Machine'>{}{}</object></topology>",
        package(0, 0..8),
        package(1, 8..14)
    );
    let refused = said(xml(&text));
    assert!(refused.contains("package 1 has 6 cores, and package 0 has 8"), "{refused}");
    let cut = import(Description::Xml { name: "x", text: &text }, "m", true).unwrap();
    assert_eq!(cut.entry.topology_text, "package:2 numa:1 cache:1 core:6");
    assert_eq!(cut.entry.lists.cpu_numbers, [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13]);
}

#[test]
fn files_that_are_not_of_hwloc_are_refused() {
    let good = data("vm-2cpu.xml");
    let entities: String =
        (1..12).map(|i| format!("<!ENTITY a{i} '{}'>", format!("&a{};", i - 1).repeat(10))).collect();
    let laughs = format!("<!DOCTYPE t [<!ENTITY a0 'x'>{entities}]><topology version='2.0'>&a11;</topology>");
    let deep = format!(
        "<topology version='2.0'>{}{}</topology>",
        "<object type='Machine'>".repeat(50_000),
        "</object>".repeat(50_000)
    );
    for (text, expected) in [
        (String::new(), "the file is empty"),
        ("<html><body/></html>".into(), "the outermost element is `html`"),
        ("<!DOCTYPE html><html><br></html>".into(), "not the XML of hwloc"),
        (good[..good.len() / 2].to_owned(), "not the XML of hwloc"),
        (good.replace("version=\"2.0\"", "version=\"0.9\""), "version 0.9"),
        (good.replace("version=\"2.0\"", "version=\"4.0\""), "version 4.0"),
        (good.replace("type=\"PU\"", "type=\"Misc\""), "no object of type PU"),
        (good.replace("type=\"PU\" os_index=\"1\"", "type=\"PU\" os_index=\"0\""), "cpu 0 appears twice"),
        (good.replace("type=\"PU\" os_index=\"1\"", "type=\"PU\""), "without `os_index`"),
        (good.replace("type=\"PU\" os_index=\"1\"", "type=\"PU\" os_index=\"4294967295\""), "too large"),
        (good.replace("type=\"PU\" os_index=\"1\"", "type=\"PU\" os_index=\"7777777\""), "too large"),
        (good.replace("cache_size=\"33554432\"", "cache_size=\"-1\""), "`cache_size` is `-1`"),
        (good.replace("allowed_cpuset=\"0x00000003\"", "allowed_cpuset=\"3 4\""), "cpu set"),
        (
            good.replace("allowed_cpuset=\"0x00000003\"", "allowed_cpuset=\"0x00000100\""),
            "no cpu that a program may use",
        ),
        ("<topology version='2.0'/>".into(), "no object of type Machine"),
        (laughs, "entity"),
        (deep, "nested more than 64 deep"),
    ] {
        let said = said(xml(&text));
        assert!(said.contains(expected), "{expected}: {said}");
    }
}
