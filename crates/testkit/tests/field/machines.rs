//! Machine files and cpu numbers as Linux, hwloc and job managers have them.

use std::fs;

use machines::import::{Description, Imported, import};
use scenario::plan::Experiment;
use scenario::{Overrides, load};
use sim_core::machine::Level;

use crate::support::{folder, mean, results};

fn xml(file: &str, largest: bool) -> Imported {
    let text = fs::read_to_string(folder().join(file)).unwrap();
    import(Description::Xml { name: file, text: &text }, "m", largest).unwrap_or_else(|why| panic!("{why:?}"))
}

fn read(text: &str) -> Experiment {
    let name = folder().join("here.yaml");
    let overrides = Overrides { warn: true, ..Overrides::default() };
    load(name.to_str().unwrap(), text, &overrides).unwrap_or_else(|said| panic!("{said}"))
}

fn warnings(text: &str) -> Vec<String> {
    read(text).warnings
}

fn refused(text: &str) -> String {
    let name = folder().join("here.yaml");
    load(name.to_str().unwrap(), text, &Overrides::default()).err().unwrap()
}

/// Eight threads under `taskset -c 0-7` have eight cores of their own.
#[test]
fn a_mask_in_the_numbers_of_linux_means_eight_cores() {
    let file = "g06-linux-cpu-numbers.yaml";
    let time = |settings: &[&str]| mean(&results(file, settings), "", "LOAD", "code", "run_time");
    let (own, linux) = (time(&[]), time(&["apps.code.cpus=linux:0-7"]));
    assert!((0.99..1.03).contains(&linux), "Linux's numbers: {linux} s");
    assert!(own > 1.3, "four cores with both threads: {own} s");
}

const G06: &str = "name: g06\nmachine: ./g06-machine.yaml\nkernel: linux-6.18\nbaseline: none\npolicies: [POLICY]\n\
    apps: { code: { workload: { spmd: { work: 8s, intervals: 100 } }, runtime: block, tasks: 8MASK } }\n";

fn g06(mask: &str, policy: &str) -> String {
    G06.replace("MASK", mask).replace("POLICY", policy)
}

#[test]
fn a_list_that_means_other_cpus_for_linux_is_remarked_wherever_it_is_read() {
    for (mask, policy) in [
        (", cpus: \"0-7\"", "LOAD"),
        (", cpus: [0-3, 4-7]", "LOAD"),
        (", affinity: [{ at: 1ms, cpus: 0-7 }]", "LOAD"),
        ("", "PIN: { layout: list, cpus: 0-7 }"),
    ] {
        let said = warnings(&g06(mask, policy));
        let expected = "are oversim's numbers: Linux 0,16,1,17,2,18,3,19; write `linux:";
        assert!(said.len() == 1 && said[0].contains(expected), "{mask} {policy}: {said:?}");
        let linux = g06(&mask.replace("0-7", "linux:0-7"), &policy.replace("0-7", "linux:0-7"));
        if !mask.contains('[') || mask.contains("affinity") {
            assert_eq!(warnings(&linux), Vec::<String>::new(), "{linux}");
        }
    }
    // All cpus are all cpus in any numbers.
    assert!(warnings(&g06(", cpus: 0-31", "LOAD")).is_empty());
    let said = refused(&g06(", cpus: \"linux:0,40\"", "LOAD"));
    assert!(said.contains("Linux cpu 40 does not exist") && said.contains("`linux:LIST`, 0-31"), "{said}");
    let said = refused(&g06(", cpus: 40", "LOAD"));
    assert!(said.contains("cpu 40 does not exist") && said.contains("in Linux's numbers"), "{said}");
    let said = refused(&g06(", cpus: [\"linux:0\", 4]", "LOAD"));
    assert!(said.contains("mixes the numbers of Linux and those of oversim"), "{said}");
}

/// The common mistake: two ranks bound to one cpu.
#[test]
fn a_listed_layout_may_name_a_cpu_twice() {
    let time = |cpus: &str| {
        let text = format!(
            "name: x\nmachine: 'package:1 core:4'\nbaseline: none\n\
             policies: [PIN: {{ layout: list, cpus: {cpus} }}]\n\
             apps: {{ code: {{ workload: {{ spmd: {{ work: 400ms }} }}, runtime: block, tasks: 4 }} }}\n"
        );
        let found = experiment::run::run(&read(&text), 1, &|_, _| {}).unwrap();
        mean(&found, "", "PIN", "code", "run_time")
    };
    let (each, twice) = (time("0-3"), time("[0, 1, 2, 2]"));
    assert!((1.9..2.1).contains(&(twice / each)), "{each} s and {twice} s");
    // A mask is a set.
    assert!(refused(&g06(", cpus: \"0,0\"", "LOAD")).contains("cpu 0 is named twice"));
}

#[test]
fn values_with_another_effect_than_they_seem_to_have_are_remarked() {
    let one = |machine: &str, pages: &str, policy: &str| {
        warnings(&format!(
            "name: x\nmachine: {machine}\nkernel: linux-6.18\nbaseline: none\npolicies: [{policy}]\n\
             apps: {{ code: {{ workload: {{ spmd: {{ work: 1ms, demand: 1GB/s, pages: {pages} }} }} }} }}\n"
        ))
    };
    let said = one("'package:2 core:12'", "master", "LOAD");
    assert!(said.len() == 1 && said[0].contains("`pages: master` of `code` has no effect"), "{said:?}");
    assert!(one("'package:2 numa:1 core:12'", "master", "LOAD").is_empty());
    assert!(one("'package:2 core:12'", "first-touch", "LOAD").is_empty());
    let said = one("'package:2 core:12'", "first-touch", "PIN: { by: node }");
    assert!(said.len() == 1 && said[0].contains("`by: node` means the whole machine"), "{said:?}");
    let said = one("{ 'package:2 core:12': { shared_cache: 0B } }", "first-touch", "LOAD");
    assert!(said.len() == 1 && said[0].contains("from MC, PKG to PKG"), "{said:?}");
    assert!(one("{ 'package:2 core:12': { shared_cache: 1B } }", "first-touch", "LOAD").is_empty());
}

#[test]
fn cpus_without_a_numa_node_use_the_nearest() {
    for largest in [false, true] {
        let imported = xml("i01-memoryless-node.xml", largest);
        assert_eq!(imported.entry.topology_text, "package:1 core:4");
        assert_eq!(
            imported.remarks,
            ["cpus 2-3 have no NUMA node of their own: they use node 0, the nearest"]
        );
    }
}

#[test]
fn a_second_node_of_the_same_cpus_is_named_with_what_is_stated_of_it() {
    let imported = xml("i02-second-node-of-the-same-cpus.xml", false);
    assert_eq!(
        imported.remarks,
        [
            "NUMA node 1 (HBM, 2048 MiB, 80GB/s) left out: node 0 holds the same cpus 0-1; a machine file has one \
          node per group of cpus"
        ]
    );
    assert_eq!(imported.entry.values.number("node_bandwidth"), Some(20_000_000_000));
}

#[test]
fn a_hybrid_processor_is_imported_whole() {
    let imported = xml("i05-hybrid.xml", false);
    assert_eq!(imported.entry.topology_text, "package:1 cache:1 core:2 pu:2 + cluster:1 core:4");
    let machine = imported.entry.machine();
    let threads = |core| machine.topology.members(Level::Core, core).len();
    assert_eq!((machine.cpus(), (0..6).map(threads).collect::<Vec<_>>()), (8, vec![2, 2, 1, 1, 1, 1]));
    assert_eq!(imported.entry.lists.core_speeds, [1_000, 1_000, 760, 760, 760, 760]);
    assert!(imported.entry.lists.cpu_numbers.is_empty(), "the numbers of Linux are those of the simulator");
    let all = imported.remarks.join("\n");
    for said in [
        "an equal part of L2 of 2MiB in 4 cores, L2 of 1.25MiB in 2 cores): all get 512KiB",
        "by their clocks only",
    ] {
        assert!(all.contains(said), "{said}: {all}");
    }
}

#[test]
fn a_hybrid_processor_cut_down_says_what_of_it_is_lost() {
    let imported = xml("i05-hybrid.xml", true);
    assert_eq!(imported.entry.topology_text, "package:1 cache:1 core:6");
    assert_eq!(imported.entry.lists.core_speeds, [1_000, 1_000, 760, 760, 760, 760]);
    let all = imported.remarks.join("\n");
    for said in [
        "cpus 1,3 left out, the second hardware threads of cores that stay",
        "an equal part of L2 of 2MiB in 4 cores, L2 of 1.25MiB in 2 cores): all get 512KiB",
    ] {
        assert!(all.contains(said), "{said}: {all}");
    }
}
