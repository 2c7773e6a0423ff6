//! Nothing that a description states is called missing: random XML files of hwloc 1 and 2 with random facts, each
//! of which is either in the machine file or named as left out.

use machines::import::{Description, Imported, import};
use sim_core::rng::{Purpose, draw, key};

/// Numbers of a seed.
struct Random(u64, u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.1 += 1;
        u64::from(draw(key(self.0, Purpose::Test, 42), self.1)) % most
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// A file, and for each fact that no machine file holds some words of the sentence about it.
struct Case {
    text: String,
    left_out: Vec<String>,
    /// Words that would be false.
    never: Vec<&'static str>,
    cpus: u32,
}

fn set(cpus: impl IntoIterator<Item = u64>) -> String {
    format!("0x{:08x}", cpus.into_iter().fold(0_u32, |set, cpu| set | 1 << cpu))
}

/// Packages with a node, an L3 and cores; in hwloc 1 the node contains its package.
fn case(seed: u64) -> Case {
    let random = &mut Random(seed, 0);
    let old = random.flip();
    let (packages, cores, threads) = (1 + random.below(3), 1 + random.below(3), 1 + random.below(2));
    let each = cores * threads;
    let has_cache = random.flip();
    let small = has_cache && random.flip();
    let bandwidth = !old && random.flip();
    let (hbm, latency, groups, io) =
        (!old && random.flip(), !old && random.flip(), random.flip(), random.flip());
    let cpuless = random.flip();
    let pages = random.flip();
    let mut text = String::new();
    for package in 0..packages {
        let cpus = || package * each..(package + 1) * each;
        let node = |number: u64, inside: &str| {
            let close = if old { format!(">{inside}</object>") } else { "/>".to_owned() };
            let kind = if number >= 50 { " subtype='HBM'" } else { "" };
            let local = set(cpus());
            let gp = if old { String::new() } else { format!(" gp_index='{}'", 100 + number) };
            format!(
                "<object type='NUMANode' os_index='{number}' cpuset='{local}' local_memory='1073741824'{kind}{gp}{close}"
            )
        };
        let mut inside: String = (0..cores)
            .map(|core| {
                let first = package * each + core * threads;
                let pus = (first..first + threads)
                    .map(|cpu| format!("<object type='PU' os_index='{cpu}' cpuset='{}'/>", set([cpu])));
                format!("<object type='Core' os_index='{core}'>{}</object>", pus.collect::<String>())
            })
            .collect();
        let cache = |level: u64, size: u64, inside: String| {
            let kind = if old { "Cache".to_owned() } else { format!("L{level}Cache") };
            format!(
                "<object type='{kind}' depth='{level}' cache_size='{size}' cache_type='0'>{inside}</object>"
            )
        };
        if small {
            // Around all cores, and inside the outer one.
            inside = cache(2, 1 << 20, inside);
        }
        if has_cache {
            inside = cache(3, 8 << 20, inside);
        }
        if groups {
            inside = format!("<object type='Group'>{inside}</object>");
        }
        if io {
            inside += "<object type='Bridge'><object type='PCIDev'/></object>";
        }
        if old {
            text += &node(package, &format!("<object type='Socket' os_index='{package}'>{inside}</object>"));
        } else {
            let second = if hbm { node(50 + package, "") } else { String::new() };
            text += &format!(
                "<object type='Package' os_index='{package}'>{}{second}{inside}</object>",
                node(package, "")
            );
        }
    }
    if cpuless {
        let gp = if old { "" } else { " gp_index='177'" };
        text += &format!("<object type='NUMANode' os_index='77' cpuset='0x0'{gp}/>");
    }
    if pages {
        text = format!("<page_type size='4096' count='1'/>{text}");
    }
    let mut tables = String::new();
    let values = |value: u64| -> String {
        let one = |node: u64, value: u64| {
            format!(
                "<memattr_value target_obj_type='NUMANode' target_obj_gp_index='{}' value='{value}'/>",
                100 + node
            )
        };
        (0..packages)
            .map(|node| one(node, value) + &if hbm { one(50 + node, 4 * value) } else { String::new() })
            .collect()
    };
    if bandwidth {
        tables += &format!("<memattr name='Bandwidth' flags='5'>{}</memattr>", values(20_000));
    }
    if latency {
        tables += &format!("<memattr name='Latency' flags='6'>{}</memattr>", values(100));
    }
    let all = set(0..packages * each);
    let (version, gp) = if old { ("", "") } else { (" version='2.0'", " gp_index='1'") };
    let text = format!(
        "<topology{version}><object type='Machine' cpuset='{all}' complete_cpuset='{all}'{gp}>{text}</object>{tables}</topology>"
    );
    let mut left_out: Vec<String> = Vec::new();
    let mut never = vec!["no NUMANode", "is missing", "not stated", "is assumed"];
    for (stated, words) in [
        (hbm, "holds the same cpu"),
        (hbm, "HBM, 1024 MiB"),
        (hbm && bandwidth, "80GB/s"),
        (latency, "the memory attribute Latency"),
        (groups, "objects of type Group"),
        (io, "objects of type PCIDev"),
        (cpuless, "NUMA node 77 left out"),
        (pages, "sizes of pages"),
    ] {
        if stated {
            left_out.push(words.to_owned());
        }
    }
    if small {
        // The L2 of a package of one core is inside its private L3.
        left_out.push(if cores == 1 { "L2 caches of 1MiB" } else { "the L2 cache of 1MiB" }.to_owned());
    }
    if bandwidth {
        left_out.push("node_bandwidth: { value: 20GB/s".to_owned());
    }
    if has_cache {
        let name = if cores == 1 { "private_cache" } else { "shared_cache" };
        left_out.push(format!("{name}: {{ value: 8MiB"));
        never.push("caches have their defaults");
    }
    Case { text, left_out, never, cpus: (packages * each) as u32 }
}

fn read(case: &Case) -> Imported {
    let description = Description::Xml { name: "x.xml", text: &case.text };
    import(description, "m", false).unwrap_or_else(|why| panic!("{why:?}\n{}", case.text))
}

#[test]
fn every_fact_is_used_or_named_as_left_out() {
    for seed in 0..400 {
        let case = case(seed);
        let imported = read(&case);
        assert_eq!(imported.entry.topology.cpus(), case.cpus, "seed {seed}: {}", case.text);
        let said = format!("{}\n{}", imported.text, imported.remarks.join("\n"));
        for words in &case.left_out {
            assert!(
                said.contains(words.as_str()),
                "seed {seed}: no word on `{words}`:\n{said}\n{}",
                case.text
            );
        }
        for words in &case.never {
            assert!(!said.contains(words), "seed {seed}: false: `{words}`:\n{said}\n{}", case.text);
        }
    }
}

#[test]
fn hwloc_1_is_read_with_its_distances_and_offline_cpus() {
    let text = "<topology><object type='Machine' os_index='0' cpuset='0x0000001f' complete_cpuset='0x0000001f' \
        online_cpuset='0x0000000f' allowed_cpuset='0x0000000f'>\
        <info name='OSName' value='Linux'/><info name='OSRelease' value='2.6.32-573.el6'/>\
        <distances nbobjs='2' relative_depth='1' latency_base='10.000000'><latency value='1.000000'/>\
        <latency value='2.100000'/><latency value='2.100000'/><latency value='1.000000'/></distances>\
        <object type='NUMANode' os_index='0' cpuset='0x00000003' local_memory='1073741824'>\
        <object type='Socket' os_index='0'><info name='CPUModel' value='A CPU'/>\
        <object type='Cache' cache_size='20971520' depth='3' cache_type='0'>\
        <object type='Core'><object type='Cache' cache_size='32768' depth='1' cache_type='1'>\
        <object type='Cache' cache_size='65536' depth='1' cache_type='2'><object type='PU' os_index='0'/></object>\
        </object></object>\
        <object type='Core'><object type='Cache' cache_size='32768' depth='1' cache_type='1'>\
        <object type='PU' os_index='1'/></object></object></object></object></object>\
        <object type='NUMANode' os_index='1' cpuset='0x0000000c' local_memory='1073741824'>\
        <object type='Socket' os_index='1'><object type='Cache' cache_size='20971520' depth='3' cache_type='0'>\
        <object type='Core'><object type='Cache' cache_size='32768' depth='1'><object type='PU' os_index='2'/>\
        </object></object>\
        <object type='Core'><object type='Cache' cache_size='32768' depth='1'><object type='PU' os_index='3'/>\
        </object></object></object></object></object></object></topology>";
    let imported = import(Description::Xml { name: "x.xml", text }, "m", false).unwrap();
    assert_eq!(imported.entry.topology_text, "package:2 numa:1 cache:1 core:2");
    assert_eq!(imported.entry.lists.distances, [1_000, 2_100, 2_100, 1_000]);
    assert_eq!(imported.entry.values.number("shared_cache"), Some(20 << 20));
    assert_eq!(imported.entry.values.number("private_cache"), Some(32 << 10));
    assert_eq!(imported.entry.kernel.as_deref(), Some("linux-2.6.30"));
    assert_eq!(imported.remarks, ["cpu 4 left out: offline (online_cpuset)"]);
    assert!(imported.entry.summary.contains("A CPU"));
}

#[test]
fn groups_of_synthetic_descriptions_may_carry_their_depth() {
    let read = |text| import(Description::Synthetic(text), "m", false).unwrap();
    let imported = read("pack:2 group0:2 l3:1(size=8MB) core:4 pu:2");
    assert_eq!(imported.entry.topology_text, "package:2 cache:2 core:4 pu:2");
    assert!(imported.text.contains("Stated and left out, as a machine file has no place for it: groups"));
    // The last level has its type or not, whatever the others have.
    assert_eq!(read("pack:2 core:4 2").entry.topology_text, "package:2 core:4 pu:2");
    assert_eq!(read("2 2 4 pu:2").entry.topology_text, read("2 2 4 2").entry.topology_text);
    let two = read("pack:2 [numa(memory=8GB)] [numa(memory=2GB)] core:4 pu:1");
    assert_eq!(two.entry.topology_text, "package:2 numa:1 core:4");
    assert_eq!(two.remarks.len(), 2, "{:?}", two.remarks);
    assert!(
        two.remarks[0].contains("holds the same cpus 0-3; a machine file has one node per group of cpus")
    );
}
