//! Reads the XML of hwloc 2 and 3, as `lstopo mine.xml` writes it.

use std::collections::{BTreeMap, BTreeSet};

use notation::diagnostics::{Diagnostic, Place};
use roxmltree::{Document, Node, ParsingOptions};

use super::elements::{Problem, info, number, set, wrong};
use super::found::{CACHE_LEVELS, Cache, Cpu, DIES, Found, MAX_CPUS, NONE, NumaNode, Places, Sourced, named};
use super::xml_tables;

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
    check_version(&root)?;
    let origin = format!("hwloc XML file {name}");
    let places = Places {
        shape: origin.clone(),
        caches: format!("{origin}, {{}}Cache cache_size"),
        speeds: String::new(),
    };
    let mut reader = Reader {
        found: Found { origin, places, ..Found::default() },
        numbers: BTreeSet::new(),
        nodes: BTreeMap::new(),
        by_gp: BTreeMap::new(),
        dies: 0,
    };
    let machine = root.children().find(|node| is_object(node, "Machine"));
    let machine = machine.ok_or_else(|| wrong(&root, "there is no object of type Machine"))?;
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

fn check_version(root: &Node<'_, '_>) -> Result<(), Problem> {
    if !root.has_tag_name("topology") {
        let name = root.tag_name().name();
        let message = format!("the outermost element is `{name}`, and that of hwloc's XML is `topology`");
        return Err(wrong(root, message));
    }
    match root.attribute("version") {
        Some(version) if version.starts_with("2.") || version.starts_with("3.") => Ok(()),
        Some(version) => {
            let message = format!("version {version} of hwloc's XML is unknown; versions 2 and 3 are read");
            Err(wrong(root, message))
        }
        None => {
            let hint = "export it again: `lstopo --input old.xml new.xml` with lstopo of hwloc 2";
            Err(wrong(root, "this is the XML of hwloc 1, which is not read").hint(hint).into())
        }
    }
}

fn is_object(node: &Node<'_, '_>, kind: &str) -> bool {
    node.has_tag_name("object") && node.attribute("type") == Some(kind)
}

/// The level of a data or unified cache.
fn cache_level(kind: &str) -> Option<usize> {
    let rest = kind.strip_prefix('L')?;
    let level = rest.get(..1)?.parse::<usize>().ok().filter(|level| (1..=CACHE_LEVELS).contains(level))?;
    matches!(rest.get(1..)?, "Cache" | "dCache" | "uCache").then_some(level)
}

struct Reader {
    found: Found,
    /// The numbers of the cpus so far.
    numbers: BTreeSet<u32>,
    /// Positions of the NUMA nodes by number.
    nodes: BTreeMap<u32, u32>,
    /// Numbers of the NUMA nodes by `gp_index`.
    by_gp: BTreeMap<u64, u32>,
    dies: usize,
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
            "Package" => {
                let next = found.packages.len() as u32;
                around.package = next;
                found.packages.push(os_index(object)?.unwrap_or(next));
                if found.model.is_none() {
                    found.model = info(object, "CPUModel").map(words);
                }
            }
            "Die" => self.dies += 1,
            // The position of the element differs from core to core.
            "Core" => around.core = object.id().get(),
            "PU" => {
                self.cpu(object, *around)?;
                return Ok(true);
            }
            "NUMANode" | "MemCache" => return Ok(true),
            _ => {
                if let Some(level) = cache_level(kind) {
                    around.caches[level - 1] = found.caches.len() as u32;
                    found.caches.push(Cache { size: number(object, "cache_size")?.unwrap_or(0) });
                }
            }
        }
        self.memory(object, around)?;
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
                left.extend(child.children().rev());
            }
        }
        // The main memory has no subtype or DRAM; others are MCDRAM, HBM and NVM.
        let main = |node: &Node<'_, '_>| node.attribute("subtype").is_none_or(|kind| kind == "DRAM");
        let chosen = attached.iter().position(main).unwrap_or(0);
        for (at, node) in attached.iter().enumerate() {
            let number = os_index(node)?.ok_or_else(|| wrong(node, "a NUMANode without `os_index`"))?;
            set(node, "cpuset")?;
            set(node, "nodeset")?;
            let memory = self::number(node, "local_memory")?.unwrap_or(0);
            if let Some(gp) = self::number(node, "gp_index")? {
                self.by_gp.insert(gp, number);
            }
            let next = self.found.nodes.len() as u32;
            if self.nodes.insert(number, next).is_some() {
                return Err(wrong(node, format!("NUMA node {number} appears twice")));
            }
            self.found.nodes.push(NumaNode { number, memory });
            if at == chosen {
                around.node = next;
            }
        }
        Ok(())
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
        let found = &mut self.found;
        if let Some(complete) = set(machine, "complete_cpuset")? {
            let offline: Vec<u32> =
                complete.numbers().filter(|number| !self.numbers.contains(number)).collect();
            if !offline.is_empty() {
                found.remark(format_args!("{} left out: offline", named(&offline)));
            }
        }
        if let Some(allowed) = set(machine, "allowed_cpuset")?.filter(|allowed| !allowed.is_empty()) {
            found.keep(|number| allowed.contains(number), "programs may not use them (allowed_cpuset)");
        }
        if found.cpus.iter().all(|cpu| cpu.node == NONE) {
            found.guessed = true;
            found.remark("there is no NUMANode object: one NUMA node for all cpus is assumed");
        }
        if self.dies > found.packages.len() {
            found.remark(DIES);
        }
        found.complete().map_err(|why| wrong(machine, why))?;
        let release = info(machine, "OSRelease").or_else(|| info(root, "OSRelease"));
        let linux = info(machine, "OSName").or_else(|| info(root, "OSName")).is_none_or(|os| os == "Linux");
        let source = format!("{}, OSRelease", found.origin);
        found.release =
            release.filter(|_| linux).map(|release| Sourced { value: release.to_owned(), source });
        left_out_nodes(found);
        xml_tables::distances(found, root, &self.by_gp)?;
        xml_tables::kinds(found, root)?;
        Ok(self.found)
    }
}

/// Remarks on the NUMA nodes without cpus.
pub(super) fn left_out_nodes(found: &mut Found) {
    let used: BTreeSet<u32> = found.cpus.iter().map(|cpu| cpu.node).collect();
    let nodes = (0..).zip(&found.nodes).filter(|(at, _)| !used.contains(at));
    let mut numbers: Vec<u32> = nodes.map(|(_, node)| node.number).collect();
    if numbers.is_empty() {
        return;
    }
    numbers.sort_unstable();
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let word = if numbers.len() == 1 { "node" } else { "nodes" };
    found.remark(format_args!(
        "NUMA {word} {} left out: no cpu that may be used is local to them",
        numbers.join(",")
    ));
}

/// The number that Linux gives to an object.
fn os_index(object: &Node<'_, '_>) -> Result<Option<u32>, Problem> {
    match number(object, "os_index")?.map(u32::try_from) {
        None => Ok(None),
        Some(Ok(number)) if number != NONE => Ok(Some(number)),
        Some(_) => Err(wrong(object, "`os_index` is too large")),
    }
}

/// A text with single spaces.
pub(super) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
