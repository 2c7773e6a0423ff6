//! Nothing that a description states is called missing: random XML files of hwloc 1 and 2 with random facts,
//! each of which is either in the machine file or named as left out.

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

/// What a file has: packages with a node, an L3 and cores; in hwloc 1 the node contains its package.
struct Facts {
    /// hwloc 1.
    old: bool,
    packages: u64,
    /// Cores of a package.
    cores: u64,
    /// Threads of a core.
    threads: u64,
    has_cache: bool,
    /// An L2 inside the L3.
    small: bool,
    bandwidth: bool,
    hbm: bool,
    latency: bool,
    groups: bool,
    io: bool,
    cpuless: bool,
    pages: bool,
}

impl Facts {
    /// Random facts.
    fn draw(random: &mut Random) -> Self {
        let old = random.flip();
        let (packages, cores, threads) = (1 + random.below(3), 1 + random.below(3), 1 + random.below(2));
        let has_cache = random.flip();
        // Fields are drawn in this order.
        Self {
            old,
            packages,
            cores,
            threads,
            has_cache,
            small: has_cache && random.flip(),
            bandwidth: !old && random.flip(),
            hbm: !old && random.flip(),
            latency: !old && random.flip(),
            groups: random.flip(),
            io: random.flip(),
            cpuless: random.flip(),
            pages: random.flip(),
        }
    }

    /// The cpus of a package.
    fn each(&self) -> u64 {
        self.cores * self.threads
    }

    /// All cpus.
    fn cpus(&self) -> u64 {
        self.packages * self.each()
    }

    /// A node with the cpus of a package; those from 50 on have HBM.
    fn node(&self, package: u64, number: u64, inside: &str) -> String {
        let close = if self.old { format!(">{inside}</object>") } else { "/>".to_owned() };
        let kind = if number >= 50 { " subtype='HBM'" } else { "" };
        let local = set(package * self.each()..(package + 1) * self.each());
        let gp = if self.old { String::new() } else { format!(" gp_index='{}'", 100 + number) };
        format!(
            "<object type='NUMANode' os_index='{number}' cpuset='{local}' \
             local_memory='1073741824'{kind}{gp}{close}"
        )
    }

    /// A cache around other objects.
    fn cache(&self, level: u64, size: u64, inside: &str) -> String {
        let kind = if self.old { "Cache".to_owned() } else { format!("L{level}Cache") };
        format!("<object type='{kind}' depth='{level}' cache_size='{size}' cache_type='0'>{inside}</object>")
    }

    /// The cores of a package.
    fn core_objects(&self, package: u64) -> String {
        let core_object = |core: u64| {
            let first = package * self.each() + core * self.threads;
            let pus = (first..first + self.threads)
                .map(|cpu| format!("<object type='PU' os_index='{cpu}' cpuset='{}'/>", set([cpu])));
            format!("<object type='Core' os_index='{core}'>{}</object>", pus.collect::<String>())
        };
        (0..self.cores).map(core_object).collect()
    }

    /// A package with its nodes.
    fn package(&self, package: u64) -> String {
        let mut inside = self.core_objects(package);
        if self.small {
            // Around all cores, and inside the outer one.
            inside = self.cache(2, 1 << 20, &inside);
        }
        if self.has_cache {
            inside = self.cache(3, 8 << 20, &inside);
        }
        if self.groups {
            inside = format!("<object type='Group'>{inside}</object>");
        }
        if self.io {
            inside += "<object type='Bridge'><object type='PCIDev'/></object>";
        }
        if self.old {
            let socket = format!("<object type='Socket' os_index='{package}'>{inside}</object>");
            return self.node(package, package, &socket);
        }
        let first = self.node(package, package, "");
        let second = if self.hbm { self.node(package, 50 + package, "") } else { String::new() };
        format!("<object type='Package' os_index='{package}'>{first}{second}{inside}</object>")
    }

    /// The values of a memory attribute: this one for each node, four times as much with HBM.
    fn values(&self, value: u64) -> String {
        let one = |node: u64, value: u64| {
            format!(
                "<memattr_value target_obj_type='NUMANode' target_obj_gp_index='{}' value='{value}'/>",
                100 + node
            )
        };
        (0..self.packages)
            .map(|node| one(node, value) + &if self.hbm { one(50 + node, 4 * value) } else { String::new() })
            .collect()
    }

    /// The whole file.
    fn text(&self) -> String {
        let mut text: String = (0..self.packages).map(|package| self.package(package)).collect();
        if self.cpuless {
            let gp = if self.old { "" } else { " gp_index='177'" };
            text += &format!("<object type='NUMANode' os_index='77' cpuset='0x0'{gp}/>");
        }
        if self.pages {
            text = format!("<page_type size='4096' count='1'/>{text}");
        }
        let mut tables = String::new();
        if self.bandwidth {
            tables += &format!("<memattr name='Bandwidth' flags='5'>{}</memattr>", self.values(20_000));
        }
        if self.latency {
            tables += &format!("<memattr name='Latency' flags='6'>{}</memattr>", self.values(100));
        }
        let all = set(0..self.cpus());
        let (version, gp) = if self.old { ("", "") } else { (" version='2.0'", " gp_index='1'") };
        format!(
            "<topology{version}><object type='Machine' cpuset='{all}' \
             complete_cpuset='{all}'{gp}>{text}</object>{tables}</topology>"
        )
    }

    /// For each fact that no machine file holds some words of the sentence about it.
    fn left_out(&self) -> Vec<String> {
        let mut left_out: Vec<String> = Vec::new();
        for (stated, words) in [
            (self.hbm, "holds the same cpu"),
            (self.hbm, "HBM, 1024 MiB"),
            (self.hbm && self.bandwidth, "80GB/s"),
            (self.latency, "the memory attribute Latency"),
            (self.groups, "objects of type Group"),
            (self.io, "objects of type PCIDev"),
            (self.cpuless, "NUMA node 77 left out"),
            (self.pages, "sizes of pages"),
        ] {
            if stated {
                left_out.push(words.to_owned());
            }
        }
        if self.small {
            // The L2 of a package of one core is inside its private L3.
            let words = if self.cores == 1 { "L2 caches of 1MiB" } else { "the L2 cache of 1MiB" };
            left_out.push(words.to_owned());
        }
        if self.bandwidth {
            left_out.push("node_bandwidth: { value: 20GB/s".to_owned());
        }
        if self.has_cache {
            let name = if self.cores == 1 { "private_cache" } else { "shared_cache" };
            left_out.push(format!("{name}: {{ value: 8MiB"));
        }
        left_out
    }
}

/// A file with random facts.
fn case(seed: u64) -> Case {
    let facts = Facts::draw(&mut Random(seed, 0));
    let mut never = vec!["no NUMANode", "is missing", "not stated", "is assumed"];
    if facts.has_cache {
        never.push("caches have their defaults");
    }
    Case { text: facts.text(), left_out: facts.left_out(), never, cpus: facts.cpus() as u32 }
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
