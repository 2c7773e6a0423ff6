//! Imports from the sysfs of Linux: trees made by the tests, complete and with missing or broken files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use machines::import::{Description, Imported, Refused, import};

const CPU: &str = "sys/devices/system/cpu";

/// A tree of files.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
        self
    }

    fn without(&self, path: &str) -> &Self {
        let path = self.path(path);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
        self
    }

    fn import(&self, largest: bool) -> Result<Imported, Refused> {
        import(Description::Host(self.0.path()), "m", largest)
    }

    fn read(&self) -> Imported {
        self.import(false).unwrap()
    }

    fn said(&self) -> String {
        match self.import(false).unwrap_err() {
            Refused::Sentence(sentence) => sentence,
            Refused::Problems(all) => all[0].message.clone(),
        }
    }
}

/// Two packages with a node each, four cores with two threads; siblings are 8 apart, as Linux numbers them.
fn server() -> Tree {
    let tree = Tree::new();
    tree.write(&format!("{CPU}/online"), "0-15").write(&format!("{CPU}/present"), "0-15");
    for cpu in 0..16_u32 {
        let (core, package) = (cpu % 8, cpu % 8 / 4);
        let file = |name: &str| format!("{CPU}/cpu{cpu}/{name}");
        let siblings = format!("{core},{}", core + 8);
        let package_cpus =
            format!("{}-{},{}-{}", package * 4, package * 4 + 3, package * 4 + 8, package * 4 + 11);
        tree.write(&file("topology/physical_package_id"), &package.to_string());
        tree.write(&file("topology/core_id"), &(core % 4).to_string());
        tree.write(&file("topology/thread_siblings_list"), &siblings);
        for (index, level, kind, size, users) in [
            (0, 1, "Data", "48K", &siblings),
            (1, 1, "Instruction", "32K", &siblings),
            (2, 2, "Unified", "1280K", &siblings),
            (3, 3, "Unified", "24M", &package_cpus),
        ] {
            let file = |name: &str| file(&format!("cache/index{index}/{name}"));
            tree.write(&file("level"), &level.to_string()).write(&file("type"), kind);
            tree.write(&file("size"), size).write(&file("shared_cpu_list"), users);
        }
    }
    for (node, cpus, distance) in [(0, "0-3,8-11", "10 20"), (1, "4-7,12-15", "20 10")] {
        let file = |name: &str| format!("sys/devices/system/node/node{node}/{name}");
        tree.write(&file("cpulist"), cpus).write(&file("distance"), distance);
        tree.write(&file("meminfo"), &format!("Node {node} MemTotal:       16777216 kB"));
    }
    tree.write("proc/sys/kernel/osrelease", "6.1.0-13-amd64");
    tree.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some  Processor");
    tree
}

#[test]
fn the_cores_of_an_amd_module_are_threads_that_hardly_slow_each_other() {
    let tree = server();
    let cpu =
        |vendor: &str, family: &str| format!("vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t: 1");
    let speed = |text: &str| {
        let imported = tree.write("proc/cpuinfo", text).read();
        let told = imported.remarks.iter().any(|remark| remark.contains("modules of two integer cores"));
        (imported.entry.values.shown("smt_compute"), imported.entry.values.shown("smt_poll"), told)
    };
    let usual = speed(&cpu("AuthenticAMD", "25"));
    assert!(!usual.2);
    assert_eq!(speed(&cpu("GenuineIntel", "21")), usual);
    assert_eq!(speed(&cpu("AuthenticAMD", "21")), (Some("0.9".into()), Some("0.9".into()), true));
}

#[test]
fn a_server_is_read_with_its_numbering() {
    let imported = server().read();
    let entry = &imported.entry;
    assert_eq!(entry.topology_text, "package:2 numa:1 cache:1 core:4 pu:2");
    assert_eq!(entry.lists.cpu_numbers, [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]);
    assert_eq!(entry.lists.distances, [1_000, 2_000, 2_000, 1_000]);
    let shown = |name: &str| entry.values.shown(name).unwrap();
    assert_eq!((shown("private_cache").as_str(), shown("shared_cache").as_str()), ("1.25MiB", "24MiB"));
    assert_eq!(entry.kernel.as_deref(), Some("debian-12"));
    assert!(imported.text.contains("6.1.0-13-amd64"));
    assert!(
        entry.summary.contains("Some Processor") && entry.about.contains("nodes 0-1 have 16384 MiB each")
    );
    let unknown = "no affinity mask and no control group is in the captured tree: all cpus that are online are imported";
    assert_eq!(imported.remarks, [unknown]);
    // The root of the cpusets limits nothing.
    let tree = server();
    tree.write("proc/self/cpuset", "/").write("proc/mounts", "none /dev/cpuset cpuset rw 0 0");
    assert!(tree.read().remarks.is_empty(), "{:?}", tree.read().remarks);
    tree.write("proc/self/cpuset", "/job");
    assert!(tree.read().remarks[0].starts_with("the control group /job of the captured tree is not applied"));
}

#[test]
fn offline_and_forbidden_cpus_are_left_out() {
    let tree = server();
    tree.write(&format!("{CPU}/online"), "0-13")
        .write("proc/self/status", "Name: x\nCpus_allowed_list:\t0-6,8-14");
    // Package 1 lost cpus 7, 14 and 15.
    assert!(
        tree.said().contains("the core of cpus 5,13 has 2 hardware threads")
            || tree.said().contains("has 1 hardware thread"),
        "{}",
        tree.said()
    );
    tree.write("proc/self/cgroup", "0::/box/a").write("sys/fs/cgroup/box/cpuset.cpus.effective", "4-5,12-13");
    tree.write("sys/fs/cgroup/box/a/cpu.max", "150000 100000");
    let imported = tree.read();
    assert_eq!(imported.entry.topology_text, "package:1 cache:1 core:2 pu:2");
    assert_eq!(imported.entry.lists.cpu_numbers, [4, 12, 5, 13]);
    let all = imported.remarks.join("\n");
    for part in [
        "cpus 14-15 left out: offline",
        "cpu 7 left out: the affinity mask",
        "cpuset.cpus.effective",
        "1.5 cpus",
        "quota: 150000us, period: 100000us",
        "NUMA node 0 (16384 MiB) left out: none of the cpus 0-3,8-11 may be used",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
}

#[test]
fn one_cpu_offline_costs_its_core() {
    let tree = server();
    tree.write(&format!("{CPU}/online"), "0-14");
    assert!(
        tree.said().contains("the core of cpu 7 has 1 hardware thread, and the core of cpus 0,8 has 2"),
        "{}",
        tree.said()
    );
    let cut = tree.import(true).unwrap();
    assert_eq!(cut.entry.topology_text, "package:2 numa:1 cache:1 core:3 pu:2");
    assert!(cut.remarks.iter().any(|remark| remark.starts_with("cpus 3,7,11 left out")), "{:?}", cut.remarks);
}

#[test]
fn big_and_little_cores_have_their_capacity() {
    let tree = Tree::new();
    tree.write(&format!("{CPU}/online"), "0-3");
    for (cpu, capacity) in [(0, 446), (1, 446), (2, 1024), (3, 1024)] {
        tree.write(&format!("{CPU}/cpu{cpu}/topology/core_cpus_list"), &cpu.to_string());
        tree.write(&format!("{CPU}/cpu{cpu}/topology/physical_package_id"), "-1");
        tree.write(&format!("{CPU}/cpu{cpu}/cpu_capacity"), &capacity.to_string());
    }
    let imported = tree.read();
    assert_eq!(imported.entry.topology_text, "package:1 core:4");
    assert_eq!(imported.entry.lists.core_speeds, [436, 436, 1_000, 1_000]);
    assert!(imported.text.contains("cpu*/cpu_capacity"));
    for cpu in 0..4 {
        tree.without(&format!("{CPU}/cpu{cpu}/cpu_capacity"));
        let clock = if cpu < 2 { "1800000" } else { "2400000" };
        tree.write(&format!("{CPU}/cpu{cpu}/cpufreq/cpuinfo_max_freq"), clock);
    }
    let clocks = tree.read();
    assert_eq!(clocks.entry.lists.core_speeds, [750, 750, 1_000, 1_000]);
    let warned = |imported: &Imported| imported.remarks.iter().any(|said| said.contains("per clock"));
    assert!(warned(&clocks), "{:?}", clocks.remarks);
    // What the firmware states counts work.
    for (cpu, most) in [(0, 40), (1, 40), (2, 64), (3, 67)] {
        tree.write(&format!("{CPU}/cpu{cpu}/acpi_cppc/highest_perf"), &most.to_string());
    }
    let stated = tree.read();
    assert_eq!(stated.entry.lists.core_speeds, [597, 597, 1_000, 1_000]);
    assert!(!warned(&stated) && stated.text.contains("acpi_cppc/highest_perf"));
    tree.write("proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
    assert_eq!(tree.read().entry.lists.core_speeds, [750, 750, 1_000, 1_000]);
}

#[test]
fn a_governor_that_lowers_clocks_is_imported_with_its_limits() {
    let tree = server();
    let each = |name: &str, text: &str| {
        for cpu in 0..16 {
            tree.write(&format!("{CPU}/cpu{cpu}/cpufreq/{name}"), text);
        }
    };
    each("scaling_governor", "schedutil\n");
    each("cpuinfo_min_freq", "800000\n");
    each("cpuinfo_max_freq", "3200000\n");
    let value = |imported: &Imported, name: &str| imported.entry.values.shown(name).unwrap();
    let own = tree.read();
    assert_eq!(
        ["governor", "lowest_clock", "clock_domain"].map(|name| value(&own, name)),
        ["schedutil", "0.25", "core"]
    );
    each("related_cpus", "0-7\n");
    assert_eq!(value(&tree.read(), "clock_domain"), "package");
    // One cpu with another governor: none is imported.
    tree.write(&format!("{CPU}/cpu3/cpufreq/scaling_governor"), "performance\n");
    assert_eq!(value(&tree.read(), "governor"), "performance");
}

#[test]
fn one_large_core_and_four_small_ones_are_imported_whole_and_warned_about() {
    let tree = Tree::new();
    tree.write(&format!("{CPU}/online"), "0-5");
    for cpu in 0..6 {
        let siblings = if cpu < 2 { "0-1".to_owned() } else { cpu.to_string() };
        tree.write(&format!("{CPU}/cpu{cpu}/topology/core_cpus_list"), &siblings);
        tree.write(&format!("{CPU}/cpu{cpu}/topology/physical_package_id"), "0");
        for (index, level, size, users) in [
            (0, 1, "48K", siblings.clone()),
            (1, 2, "2048K", if cpu < 2 { siblings.clone() } else { "2-5".to_owned() }),
            (2, 3, "12288K", "0-5".to_owned()),
        ] {
            let file = |name: &str| format!("{CPU}/cpu{cpu}/cache/index{index}/{name}");
            tree.write(&file("level"), &level.to_string());
            tree.write(&file("size"), size);
            tree.write(&file("shared_cpu_list"), &users);
        }
    }
    let whole = tree.read();
    assert_eq!(whole.entry.topology_text, "package:1 cache:1 core:1 pu:2 + cluster:1 core:4");
    assert!(whole.entry.lists.core_speeds.is_empty());
    let all = whole.remarks.join("\n");
    assert!(all.contains("no speed is stated: all cores get the same speed"), "{all}");
    assert!(
        all.contains("(an equal part of L2 of 2MiB in 4 cores, L2 of 2MiB in 1 cores): all get 512KiB"),
        "{all}"
    );
}

#[test]
fn missing_files_are_named_and_mark_the_shape() {
    let tree = server();
    tree.without("sys/devices/system/node").without("proc");
    for cpu in 0..16 {
        tree.without(&format!("{CPU}/cpu{cpu}/cache"));
    }
    tree.without(&format!("{CPU}/online"));
    let imported = tree.read();
    assert_eq!(imported.entry.topology_text, "package:2 core:4 pu:2");
    let all = imported.remarks.join("\n");
    for part in ["cpu/online is missing", "cache is missing for cpus 0-15", "no directory node"] {
        assert!(all.contains(part), "{part}: {all}");
    }
    let note = imported.entry.notes.iter().find(|note| note.parameter == "topology").unwrap();
    assert!(note.uncertain && imported.entry.kernel.is_none());
    let bare = Tree::new();
    bare.write(&format!("{CPU}/online"), "0-1");
    let imported = bare.read();
    assert_eq!(imported.entry.topology_text, "package:1 core:2");
    assert_eq!(imported.remarks.len(), 5, "{:?}", imported.remarks);
}

#[test]
fn cpus_without_a_node_use_the_nearest() {
    // Core 3 is in no list: it uses the node of its cache.
    let tree = server();
    tree.write("sys/devices/system/node/node0/cpulist", "0-2,8-10");
    let imported = tree.read();
    assert_eq!(imported.entry.topology_text, "package:2 numa:1 cache:1 core:4 pu:2");
    assert!(
        imported
            .remarks
            .contains(&"cpus 3,11 have no NUMA node of their own: they use node 0, the nearest".into()),
        "{:?}",
        imported.remarks
    );
    // Four dies of which two have memory, as on a Threadripper WX: each other one uses one of the two.
    let tree = Tree::new();
    let dies = |write: &dyn Fn(String, String)| {
        write(format!("{CPU}/online"), "0-15".into());
        for cpu in 0..16 {
            let file = |name: &str| format!("{CPU}/cpu{cpu}/{name}");
            write(file("topology/physical_package_id"), "0".into());
            write(file("topology/core_cpus_list"), cpu.to_string());
        }
        for node in 0..4 {
            let file = |name: &str| format!("sys/devices/system/node/node{node}/{name}");
            write(file("cpulist"), format!("{}-{}", 4 * node, 4 * node + 3));
            let distances = (0..4).map(|other| if other == node { "10" } else { "16" });
            write(file("distance"), distances.collect::<Vec<_>>().join(" "));
            let memory = if node % 2 == 0 { 16 << 20 } else { 0 };
            write(file("meminfo"), format!("Node {node} MemTotal:       {memory} kB"));
        }
    };
    dies(&|path, text| {
        tree.write(&path, &text);
    });
    let imported = tree.read();
    assert_eq!(imported.entry.topology_text, "package:1 numa:2 core:8");
    assert_eq!(imported.entry.lists.cpu_numbers, Vec::<u32>::new());
    let all = imported.remarks.join("\n");
    for said in ["NUMA node 1 left out: it has no memory: cpus 4-7 use node 0", "cpus 12-15 use node 2"] {
        assert!(all.contains(said), "{said}: {all}");
    }
    // A cpuset with fewer nodes: the same rule.
    tree.write("proc/mounts", "none /dev/cpuset cpuset rw 0 0").write("proc/self/cpuset", "/job");
    tree.write("dev/cpuset/job/cpus", "0-7").write("dev/cpuset/job/mems", "2");
    let imported = tree.read();
    assert_eq!(imported.entry.topology_text, "package:1 core:8");
    let all = imported.remarks.join("\n");
    for said in
        ["cpus 8-15 left out: the cgroup forbids them (cpus)", "NUMA node 0 left out: programs get no memory"]
    {
        assert!(all.contains(said), "{said}: {all}");
    }
}

#[test]
fn maps_count_as_lists_and_a_text_ends_at_a_nul() {
    let lists = server().read();
    let tree = server();
    for cpu in 0..16 {
        let file = |name: &str| format!("{CPU}/cpu{cpu}/{name}");
        let siblings = 1_u32 << (cpu % 8) | 1 << (cpu % 8 + 8);
        tree.without(&file("topology/thread_siblings_list"));
        tree.write(&file("topology/thread_siblings"), &format!("00000000,{siblings:08x}"));
        for index in 0..16 {
            let of = |name: &str| file(&format!("cache/index{index}/{name}"));
            let Ok(shared) = fs::read_to_string(tree.path(&of("shared_cpu_list"))) else { continue };
            let bits = shared.trim().split(',').flat_map(|part| {
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                first.parse::<u32>().unwrap()..=last.parse().unwrap()
            });
            let map = bits.fold(0_u32, |map, cpu| map | 1 << cpu);
            tree.without(&of("shared_cpu_list"));
            tree.write(&of("shared_cpu_map"), &format!("{map:x}"));
        }
    }
    for (node, map) in [(0, "0f0f"), (1, "f0f0")] {
        tree.without(&format!("sys/devices/system/node/node{node}/cpulist"));
        tree.write(&format!("sys/devices/system/node/node{node}/cpumap"), map);
    }
    let same = |maps: &Imported, what: &str| {
        assert_eq!(maps.entry.topology, lists.entry.topology, "{what}");
        assert_eq!(maps.entry.values, lists.entry.values, "{what}");
        assert_eq!(maps.entry.lists, lists.entry.lists, "{what}");
        assert_eq!(maps.remarks, lists.remarks, "{what}");
    };
    same(&tree.read(), "maps");
    let tree = server();
    tree.write("sys/devices/system/node/node0/cpulist", "0-3,8-11\n\0");
    same(&tree.read(), "a list that ends with NUL");
}

#[test]
fn broken_files_are_named() {
    assert!(Tree::new().said().contains("--root DIR"));
    for (path, text, said) in [
        (format!("{CPU}/online"), "0-99999999999", "online:1:1"),
        (format!("{CPU}/online"), "all", "a list of cpus"),
        (
            format!("{CPU}/cpu3/topology/physical_package_id"),
            "x",
            "cpu3/topology/physical_package_id:1:1: `x`",
        ),
        (format!("{CPU}/cpu0/cache/index3/size"), "24X", "a size, as `32K`"),
        ("sys/devices/system/node/node0/distance".into(), "10 a", "`a`: Linux writes whole numbers"),
        ("proc/self/status".into(), "Cpus_allowed_list: 77", "no cpu that a program may use"),
    ] {
        let tree = server();
        tree.write(&path, text);
        assert!(tree.said().contains(said), "{path}: {}", tree.said());
    }
}

#[test]
fn this_computer_can_be_read() {
    if !Path::new("/sys/devices/system/cpu/online").exists() {
        return;
    }
    match import(Description::Host(Path::new("/")), "m", true) {
        Ok(imported) => assert!(imported.entry.topology.cpus() > 0),
        // A machine that the simulator cannot have is refused with a reason.
        Err(Refused::Sentence(why)) => assert!(!why.is_empty()),
        Err(why) => panic!("{why:?}"),
    }
}
