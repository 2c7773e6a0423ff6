//! Reads the XML of hwloc 1, 2 and 3, as `lstopo mine.xml` writes it.

use std::collections::{BTreeMap, BTreeSet};

use notation::diagnostics::{Diagnostic, Place};
use roxmltree::{Document, Node, ParsingOptions};

use super::elements::{Problem, info, number, set, wrong};
use super::found::{
    CACHE_LEVELS, Cache, Cpu, DIES, Found, MAX_CPUS, NONE, NumaNode, Places, Sourced, named, words,
};
use super::near::left_out_nodes;
use super::xml_tables;

/// `cache_type` of an instruction cache.
const INSTRUCTIONS: &str = "2";
/// Most elements and attributes' owners of a file: some times those of the largest machine.
const MAX_NODES: u32 = 4_000_000;
/// Deepest nesting of objects: hwloc has about 20 types, and Groups repeat.
const MAX_DEPTH: usize = 64;

/// Reads a file.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub(super) fn read(name: &str, text: &str) -> Result<Found, Problem> {
    if text.trim().is_empty() {
        return Err(whole("the file is empty").hint("write one with `lstopo mine.xml`").into());
    }
    let options = ParsingOptions { allow_dtd: true, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| broken(text, &error))?;
    let root = document.root_element();
    let first = check_version(&root)?;
    let origin = format!("hwloc XML file {name}");
    let places = Places {
        shape: origin.clone(),
        caches: format!("{origin}, {{}}Cache cache_size"),
        ..Places::default()
    };
    let mut reader = Reader {
        found: Found { origin, places, ..Found::default() },
        numbers: BTreeSet::new(),
        nodes: BTreeMap::new(),
        by_gp: BTreeMap::new(),
        dies: 0,
        old: false,
        objects: BTreeMap::new(),
    };
    let machine = root.children().find(|node| is_object(node, "Machine"));
    let machine = machine.ok_or_else(|| wrong(&root, "there is no object of type Machine"))?;
    // hwloc 1 has no such number; a file of hwloc 2 may have lost its version.
    reader.old = first && machine.attribute("gp_index").is_none();
    reader.walk(machine)?;
    reader.finish(&root, &machine)
}

/// A diagnostic about the file as a whole.
fn whole(message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Place::NONE, message)
}

/// The error about text that is no XML.
fn broken(text: &str, error: &roxmltree::Error) -> Problem {
    let pos = error.pos();
    let line = (pos.row as usize).saturating_sub(1);
    let before: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let rest = text.get(before..).unwrap_or_default();
    let column = (pos.col as usize).saturating_sub(1);
    let at = match error {
        // The library has no place for it.
        roxmltree::Error::UnexpectedEndOfStream | roxmltree::Error::NoRootNode => text.trim_end().len(),
        _ => before + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at),
    };
    // The library ends its sentences with the place.
    let said = error.to_string();
    let said = said.strip_suffix(&format!(" at {pos}")).unwrap_or(&said);
    let hint = "export it again with `lstopo mine.xml`, or choose another file";
    let message = format!("this is not the XML of hwloc: {said}");
    Diagnostic::new(Place::range(0, at..at), message).hint(hint).into()
}

/// Whether the file is of hwloc 1, which writes no version.
fn check_version(root: &Node<'_, '_>) -> Result<bool, Problem> {
    if !root.has_tag_name("topology") {
        let name = root.tag_name().name();
        let message = format!("the outermost element is `{name}`, and that of hwloc's XML is `topology`");
        return Err(wrong(root, message));
    }
    match root.attribute("version") {
        Some(version) if version.starts_with("2.") || version.starts_with("3.") => Ok(false),
        Some(version) if version.starts_with("1.") => Ok(true),
        Some(version) => {
            let message = format!("version {version} of hwloc's XML is unknown; versions 1 to 3 are read");
            Err(wrong(root, message))
        }
        None => Ok(true),
    }
}

fn is_object(node: &Node<'_, '_>, kind: &str) -> bool {
    node.has_tag_name("object") && node.attribute("type") == Some(kind)
}

/// The level of a data or unified cache. hwloc 1 has one type of all caches and states the level as `depth`.
fn cache_level(object: &Node<'_, '_>, kind: &str) -> Option<usize> {
    if kind == "Cache" {
        let level = object.attribute("depth")?.parse().ok()?;
        let data = object.attribute("cache_type") != Some(INSTRUCTIONS);
        return (data && (1..=CACHE_LEVELS).contains(&level)).then_some(level);
    }
    let rest = kind.strip_prefix('L')?;
    let level = rest.get(..1)?.parse::<usize>().ok().filter(|level| (1..=CACHE_LEVELS).contains(level))?;
    matches!(rest.get(1..)?, "Cache" | "dCache" | "uCache").then_some(level)
}

/// Types of objects that the simulator has no counterpart of.
const NOT_SIMULATED: [&str; 4] = ["Bridge", "PCIDev", "OSDev", "Misc"];

struct Reader {
    found: Found,
    /// The numbers of the cpus so far.
    numbers: BTreeSet<u32>,
    /// Positions of the NUMA nodes by number.
    nodes: BTreeMap<u32, u32>,
    /// Numbers of the NUMA nodes by `gp_index`.
    by_gp: BTreeMap<u64, u32>,
    dies: usize,
    /// The file is of hwloc 1: NUMA nodes contain cpus.
    old: bool,
    /// How many objects of each type have no place in a machine file.
    objects: BTreeMap<&'static str, usize>,
}

impl Reader {
    /// Reads the objects below one; a cpu inherits what surrounds it.
    fn walk(&mut self, machine: Node<'_, '_>) -> Result<(), Problem> {
        let mut left = vec![(machine, Cpu::new(0), 0_usize)];
        while let Some((object, mut around, depth)) = left.pop() {
            if depth > MAX_DEPTH {
                return Err(wrong(&object, format!("objects are nested more than {MAX_DEPTH} deep")));
            }
            if self.enter(&object, &mut around)? {
                continue;
            }
            // The first child is the next one to be read.
            let children = object.children().rev().filter(|child| child.has_tag_name("object"));
            left.extend(children.map(|child| (child, around, depth + 1)));
        }
        Ok(())
    }

    /// Notes what an object is; true if nothing below it matters.
    fn enter(&mut self, object: &Node<'_, '_>, around: &mut Cpu) -> Result<bool, Problem> {
        let kind = object.attribute("type").ok_or_else(|| wrong(object, "an object without `type`"))?;
        let found = &mut self.found;
        match kind {
            "Package" | "Socket" => {
                let next = found.packages.len() as u32;
                around.package = next;
                found.packages.push(os_index(object)?.unwrap_or(next));
                if found.model.is_none() {
                    found.model = info(object, "CPUModel").map(words);
                }
            }
            "Die" => {
                self.dies += 1;
                around.unit = object.id().get();
            }
            "Group" => {
                *self.objects.entry("Group").or_default() += 1;
                around.unit = object.id().get();
            }
            // The position of the element differs from core to core.
            "Core" => around.core = object.id().get(),
            "PU" => {
                self.cpu(object, *around)?;
                return Ok(true);
            }
            "NUMANode" if self.old => around.node = self.node(object)?,
            "NUMANode" | "MemCache" => return Ok(true),
            _ => {
                if let Some(level) = cache_level(object, kind) {
                    around.caches[level - 1] = found.caches.len() as u32;
                    found.caches.push(Cache { size: number(object, "cache_size")?.unwrap_or(0) });
                } else if let Some(kind) = NOT_SIMULATED.iter().find(|known| **known == kind) {
                    *self.objects.entry(kind).or_default() += 1;
                } else if kind.starts_with('L') || kind == "Cache" {
                    *self.objects.entry("instruction cache").or_default() += 1;
                }
            }
        }
        if !self.old {
            self.memory(object, around)?;
        }
        Ok(false)
    }

    /// Notes the NUMA nodes that are attached to an object.
    fn memory(&mut self, object: &Node<'_, '_>, around: &mut Cpu) -> Result<(), Problem> {
        let mut attached = Vec::new();
        let mut left: Vec<Node<'_, '_>> = object.children().rev().collect();
        while let Some(child) = left.pop() {
            if is_object(&child, "NUMANode") {
                attached.push(child);
            } else if is_object(&child, "MemCache") {
                *self.objects.entry("memory-side cache").or_default() += 1;
                left.extend(child.children().rev());
            }
        }
        // The main memory has no subtype or DRAM; others are MCDRAM, HBM and NVM.
        let main = |node: &Node<'_, '_>| node.attribute("subtype").is_none_or(|kind| kind == "DRAM");
        let chosen = attached.iter().position(main).unwrap_or(0);
        for (at, node) in attached.iter().enumerate() {
            let next = self.node(node)?;
            if at == chosen {
                around.node = next;
            }
        }
        Ok(())
    }

    /// Notes a NUMA node; its position.
    fn node(&mut self, node: &Node<'_, '_>) -> Result<u32, Problem> {
        let number = os_index(node)?.ok_or_else(|| wrong(node, "a NUMANode without `os_index`"))?;
        // Without cpus that may be used: those that it has at all.
        let cpus = set(node, "cpuset")?.filter(|cpus| !cpus.is_empty());
        let cpus = cpus.map_or_else(|| set(node, "complete_cpuset"), |cpus| Ok(Some(cpus)))?;
        let local = cpus.map_or_else(Vec::new, |cpus| cpus.numbers().collect());
        set(node, "nodeset")?;
        let memory = self::number(node, "local_memory")?.unwrap_or(0);
        if let Some(gp) = self::number(node, "gp_index")? {
            self.by_gp.insert(gp, number);
        }
        let next = self.found.nodes.len() as u32;
        if self.nodes.insert(number, next).is_some() {
            return Err(wrong(node, format!("NUMA node {number} appears twice")));
        }
        let kind = words(node.attribute("subtype").unwrap_or_default());
        self.found.nodes.push(NumaNode { number, memory, kind, local, ..NumaNode::default() });
        Ok(next)
    }

    fn cpu(&mut self, object: &Node<'_, '_>, around: Cpu) -> Result<(), Problem> {
        let number = os_index(object)?.ok_or_else(|| wrong(object, "a PU without `os_index`"))?;
        if number as usize >= MAX_CPUS {
            let message =
                format!("the number of cpu {number} is too large; at most {} is read", MAX_CPUS - 1);
            return Err(wrong(object, message));
        }
        if !self.numbers.insert(number) {
            return Err(wrong(object, format!("cpu {number} appears twice")));
        }
        if set(object, "cpuset")?.is_some_and(|cpus| !cpus.contains(number)) {
            return Err(wrong(object, format!("the `cpuset` of cpu {number} does not contain it")));
        }
        self.found.cpus.push(Cpu { number, ..around });
        Ok(())
    }

    /// Leaves out what may not be used, and reads the tables behind the objects.
    fn finish(mut self, root: &Node<'_, '_>, machine: &Node<'_, '_>) -> Result<Found, Problem> {
        if self.numbers.is_empty() {
            let hint = "export it again without a filter: `lstopo mine.xml`";
            return Err(wrong(root, "there is no object of type PU").hint(hint).into());
        }
        self.left_out_cpus(machine)?;
        let found = &mut self.found;
        if found.cpus.iter().all(|cpu| cpu.node == NONE) {
            found.guessed = true;
            let what = if found.nodes.is_empty() {
                "the file states no NUMANode"
            } else {
                "no cpu is inside a NUMANode of the file"
            };
            found.remark(format_args!("{what}: one NUMA node for all cpus is assumed"));
        }
        if self.dies > found.packages.len() {
            found.remark(DIES);
        }
        let release = info(machine, "OSRelease").or_else(|| info(root, "OSRelease"));
        let linux = info(machine, "OSName").or_else(|| info(root, "OSName")).is_none_or(|os| os == "Linux");
        let source = format!("{}, OSRelease", found.origin);
        found.release =
            release.filter(|_| linux).map(|release| Sourced { value: release.to_owned(), source });
        xml_tables::distances(found, root, &self.by_gp)?;
        xml_tables::old_distances(found, root)?;
        xml_tables::memory(found, root, &self.by_gp)?;
        xml_tables::kinds(found, root)?;
        xml_tables::rest(found, root);
        if let Some(allowed) = set(machine, "allowed_nodeset")?.filter(|allowed| !allowed.is_empty()) {
            let nodes = (0..).zip(&found.nodes);
            let lacking =
                nodes.filter(|(_, node)| !allowed.contains(node.number)).map(|(at, _)| at).collect();
            found.without_memory(&lacking, "programs may not use its memory (allowed_nodeset)");
        }
        for (kind, count) in &self.objects {
            found.unused.insert(format!("{count} objects of type {kind}"));
        }
        found.complete().map_err(|why| wrong(machine, why))?;
        left_out_nodes(found);
        Ok(self.found)
    }

    /// Leaves out what is offline or forbidden. hwloc 2 and 3 do not tell the two apart.
    fn left_out_cpus(&mut self, machine: &Node<'_, '_>) -> Result<(), Problem> {
        let found = &mut self.found;
        let online = set(machine, "online_cpuset")?;
        if let Some(complete) = set(machine, "complete_cpuset")? {
            let absent: Vec<u32> =
                complete.numbers().filter(|number| !self.numbers.contains(number)).collect();
            let is_online = |number: &u32| online.as_ref().map(|online| online.contains(*number));
            let of = |state: Option<bool>| -> Vec<u32> {
                absent.iter().copied().filter(|number| is_online(number) == state).collect()
            };
            for (cpus, why) in [
                (of(Some(false)), "offline (online_cpuset)"),
                (of(Some(true)), "programs may not use them (no PU object)"),
                (of(None), "offline, or forbidden to the program that wrote the file (complete_cpuset)"),
            ] {
                if !cpus.is_empty() {
                    found.remark(format_args!("{} left out: {why}", named(&cpus)));
                }
            }
        }
        if let Some(online) = online.filter(|online| !online.is_empty()) {
            found.keep(|number| online.contains(number), "offline (online_cpuset)");
        }
        if let Some(allowed) = set(machine, "allowed_cpuset")?.filter(|allowed| !allowed.is_empty()) {
            found.keep(|number| allowed.contains(number), "programs may not use them (allowed_cpuset)");
        }
        Ok(())
    }
}

/// The number that Linux gives to an object.
fn os_index(object: &Node<'_, '_>) -> Result<Option<u32>, Problem> {
    match number(object, "os_index")?.map(u32::try_from) {
        None => Ok(None),
        Some(Ok(number)) if number != NONE => Ok(Some(number)),
        Some(_) => Err(wrong(object, "`os_index` is too large")),
    }
}
