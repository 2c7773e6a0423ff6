//! Reads and writes hwloc's synthetic descriptions: `pack:2 [numa(memory=64GB)] l3:1(size=32MB) core:8 pu:2`.

use notation::diagnostics::{Diagnostic, Place};
use notation::parameter::Kind as Unit;
use notation::suggest::nearest;
use notation::units;
use sim_core::machine::Level;

use super::elements::Problem;
use super::found::{Cache, Cpu, DIES, Found, MAX_CPUS, NumaNode, Places, words};
use super::indexes;
use super::kinds::{Kind, kind_of, wrong};
use super::near::left_out_nodes;
use crate::entry::Entry;

/// Longest description, in bytes: a list of the numbers of some ten thousand cpus.
const MAX_TEXT: usize = 1 << 18;
/// Most levels: hwloc has about 20 types, and Groups repeat.
const MAX_LEVELS: usize = 64;

/// The types of levels that are given as counts only, by the number of levels, as in hwloc.
const PLAIN: [&[Kind]; 7] = [
    &[Kind::Pu],
    &[Kind::Numa, Kind::Pu],
    &[Kind::Package, Kind::Numa, Kind::Pu],
    &[Kind::Package, Kind::Numa, Kind::Core, Kind::Pu],
    &[Kind::Package, Kind::Numa, Kind::Cache(2), Kind::Core, Kind::Pu],
    &[Kind::Package, Kind::Numa, Kind::Cache(2), Kind::Cache(1), Kind::Core, Kind::Pu],
    &[Kind::Package, Kind::Numa, Kind::Cache(3), Kind::Cache(2), Kind::Cache(1), Kind::Core, Kind::Pu],
];

/// Attributes of a level.
#[derive(Clone, Default, Debug)]
struct Attributes {
    size: u64,
    memory: u64,
    memory_side_cache: bool,
    /// The text and its place.
    indexes: Option<(String, Place)>,
}

/// A level: so many of a type in each part above.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// `None` until all levels are known, for a level given as a count only.
    kind: Option<Kind>,
    count: u64,
    attributes: Attributes,
    /// The NUMA nodes attached to each of them.
    nodes: Vec<Attributes>,
    place: Place,
}

/// Reads a description.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub(super) fn read(text: &str) -> Result<Found, Problem> {
    if text.len() > MAX_TEXT {
        let message = format!("a synthetic description has at most {MAX_TEXT} characters");
        return Err(Diagnostic::new(Place::NONE, message).into());
    }
    let (root, mut steps) = Cursor { text, at: 0 }.description()?;
    set_kinds(&mut steps, text)?;
    let total = check(&steps)?;
    expand(text, &root, &steps, total)
}

/// A place in the description, and the reading of what follows.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.rest().starts_with(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    /// The text up to one of these characters, with its place.
    fn until(&mut self, ends: &[char]) -> (&'a str, Place) {
        let rest = self.rest();
        let length = rest.find(|c: char| ends.contains(&c)).unwrap_or(rest.len());
        let place = Place::range(0, self.at..self.at + length);
        self.at += length;
        (&rest[..length], place)
    }

    /// The whole description: the root with its NUMA nodes, and the levels.
    fn description(mut self) -> Result<(Step, Vec<Step>), Problem> {
        self.skip_spaces();
        let place = Place::range(0, self.at..self.at + self.rest().chars().next().map_or(0, char::len_utf8));
        let mut root =
            Step { kind: None, count: 1, attributes: Attributes::default(), nodes: Vec::new(), place };
        root.attributes = self.attributes()?;
        let mut steps: Vec<Step> = Vec::new();
        loop {
            self.skip_spaces();
            if self.rest().is_empty() {
                return Ok((root, steps));
            }
            if self.eat('[') {
                let node = self.attached()?;
                steps.last_mut().unwrap_or(&mut root).nodes.push(node);
                continue;
            }
            let step = self.step()?;
            if steps.len() == MAX_LEVELS {
                let message = format!("a synthetic description has at most {MAX_LEVELS} levels");
                return Err(wrong(step.place, message, ""));
            }
            steps.push(step);
        }
    }

    /// `numa(memory=64GB)]`
    fn attached(&mut self) -> Result<Attributes, Problem> {
        let (word, place) = self.until(&['(', ']', ' ', '\t', '\n']);
        if kind_of(word, place)? != Kind::Numa {
            let message = format!("`{word}` cannot be attached to a level");
            return Err(wrong(place, message, "only NUMA nodes can, as `[numa]`"));
        }
        let attributes = self.attributes()?;
        self.skip_spaces();
        if !self.eat(']') {
            return Err(wrong(place, "`[` is not closed", "write `]` after the NUMA node"));
        }
        Ok(attributes)
    }

    /// `core:8` or `8`, with attributes.
    fn step(&mut self) -> Result<Step, Problem> {
        let (word, place) = self.until(&['(', '[', ' ', '\t', '\n', '\r']);
        let (kind, count) = match word.split_once(':') {
            Some((name, count)) => {
                let name_at = Place { end: place.start + name.len(), ..place };
                (Some(kind_of(name, name_at)?), count)
            }
            None if word.starts_with(|c: char| c.is_ascii_digit()) => (None, word),
            None => {
                kind_of(word, place)?;
                return Err(wrong(place, format!("`{word}` has no count"), format!("write `{word}:1`")));
            }
        };
        let at = Place { start: place.end - count.len(), ..place };
        let digits = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
        let count = match count.parse::<u64>() {
            Ok(0) => return Err(wrong(at, "a level has at least one part", "write a count from 1 on")),
            Ok(count) if digits => count,
            // More digits than the number holds.
            _ if digits => u64::MAX,
            _ => {
                return Err(wrong(at, format!("`{count}` is no count"), "write a whole number, as `core:8`"));
            }
        };
        Ok(Step { kind, count, attributes: self.attributes()?, nodes: Vec::new(), place })
    }

    /// `(size=32MB indexes=0,2,1,3)`, if it follows.
    fn attributes(&mut self) -> Result<Attributes, Problem> {
        let mut found = Attributes::default();
        let open = Place::range(0, self.at..self.at + 1);
        if !self.eat('(') {
            return Ok(found);
        }
        loop {
            self.skip_spaces();
            if self.eat(')') {
                return Ok(found);
            }
            let (word, place) = self.until(&[')', ' ', '\t', '\n', '\r']);
            if word.is_empty() {
                return Err(wrong(open, "`(` is not closed", "write `)` after the attributes"));
            }
            let Some((key, value)) = word.split_once('=') else {
                return Err(wrong(place, format!("`{word}` has no value"), "write `size=32MB`"));
            };
            let at = Place { start: place.start + key.len() + 1, ..place };
            match key {
                "size" => found.size = bytes(value, at)?,
                "memory" => found.memory = bytes(value, at)?,
                "indexes" => found.indexes = Some((value.to_owned(), at)),
                "memorysidecachesize" => found.memory_side_cache = bytes(value, at)? > 0,
                _ => {
                    let near = nearest(key, ["size", "memory", "indexes"]);
                    let hint = near.map_or_else(
                        || "known: size, memory, indexes".to_owned(),
                        |near| format!("did you mean `{near}`?"),
                    );
                    return Err(wrong(place, format!("unknown attribute `{key}`"), hint));
                }
            }
        }
    }
}

/// A size with or without its unit; a bare number counts bytes.
fn bytes(text: &str, place: Place) -> Result<u64, Problem> {
    let bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let bytes = if bare { units::parse(Unit::Count, text) } else { units::parse(Unit::Size, text) };
    bytes.map_err(|why| wrong(place, why, ""))
}

/// Gives types to levels that are counts only.
fn set_kinds(steps: &mut [Step], text: &str) -> Result<(), Problem> {
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
        let hint = "write for example `pack:2 core:4 pu:2`";
        let place = if text.trim().is_empty() { Place::NONE } else { Place::range(0, 0..text.len()) };
        return Err(wrong(place, "the description has no level", hint));
    };
    // As in hwloc, the type of the last level may be there or not, whatever the others have.
    let plain = first.kind.is_none();
    let end = last.place;
    if let Some(last) = steps.last_mut() {
        match last.kind {
            Some(Kind::Pu) if plain => last.kind = None,
            None if !plain => last.kind = Some(Kind::Pu),
            _ => {}
        }
    }
    if let Some(other) = steps.iter().find(|step| step.kind.is_none() != plain) {
        let hint = "give every level its type, as `core:4`, or none";
        return Err(wrong(other.place, "levels with and without a type are mixed", hint));
    }
    if !plain {
        return Ok(());
    }
    let Some(kinds) = PLAIN.get(steps.len() - 1) else {
        let message = format!("more than {} levels without types", PLAIN.len());
        return Err(wrong(end, message, "give every level its type, as `core:4`"));
    };
    steps.iter_mut().zip(*kinds).for_each(|(step, kind)| step.kind = Some(*kind));
    Ok(())
}

/// Checks the levels together; returns the number of cpus.
fn check(steps: &[Step]) -> Result<usize, Problem> {
    let mut total: u64 = 1;
    for (at, step) in steps.iter().enumerate() {
        total = total.saturating_mul(step.count);
        if total > MAX_CPUS as u64 {
            let hint =
                "a machine of equal parts of any size can be a description: `machine: \"package:8 core:64\"`";
            return Err(wrong(step.place, format!("more than {MAX_CPUS} cpus"), hint));
        }
        let last = at + 1 == steps.len();
        if last != (step.kind == Some(Kind::Pu)) {
            let message = if last { "the last level must be pu" } else { "a pu contains no other level" };
            return Err(wrong(
                step.place,
                message,
                "end the description with `pu:1`, or `pu:2` for two threads",
            ));
        }
        let repeats = !matches!(step.kind, Some(Kind::Group | Kind::Instructions));
        if repeats && steps[..at].iter().any(|other| other.kind == step.kind) {
            return Err(wrong(step.place, "this type appears twice", "give each type one level"));
        }
    }
    Ok(total as usize)
}

/// The cpus of the levels.
fn expand(text: &str, root: &Step, steps: &[Step], total: usize) -> Result<Found, Problem> {
    let origin = format!("hwloc synthetic description {}", words(text));
    let places =
        Places { shape: origin.clone(), caches: format!("{origin}, size of {{}}"), ..Places::default() };
    let mut found = Found { origin, places, ..Found::default() };
    let numbers = numbers(steps, steps.last().and_then(|pu| pu.attributes.indexes.as_ref()), total)?;
    found.cpus = numbers.into_iter().map(Cpu::new).collect();
    if root.attributes.memory > 0 && !has_nodes(root, steps) {
        let local = found.cpus.iter().map(|cpu| cpu.number).collect();
        let memory = root.attributes.memory;
        found.nodes.push(NumaNode { number: 0, memory, local, ..NumaNode::default() });
        found.cpus.iter_mut().for_each(|cpu| cpu.node = 0);
    }
    let mut count = 1;
    for step in std::iter::once(root).chain(steps) {
        count *= step.count as usize;
        // Cpus in each part of this level.
        let span = total / count;
        let first = found.caches.len();
        for (at, cpu) in found.cpus.iter_mut().enumerate() {
            let part = (at / span) as u32;
            match step.kind {
                Some(Kind::Package) => cpu.package = part,
                Some(Kind::Core) => cpu.core = part,
                Some(Kind::Die | Kind::Group) => cpu.unit = first as u32 + part,
                Some(Kind::Cache(level)) => cpu.caches[level - 1] = first as u32 + part,
                _ => {}
            }
        }
        match step.kind {
            Some(Kind::Cache(_)) => {
                found.caches.resize(first + count, Cache { size: step.attributes.size });
            }
            Some(Kind::Package) => {
                found.packages = self::numbers(steps, step.attributes.indexes.as_ref(), count)?;
            }
            _ => {}
        }
        let own = (step.kind == Some(Kind::Numa)).then_some(&step.attributes);
        let nodes: Vec<&Attributes> = own.into_iter().chain(&step.nodes).collect();
        attach(&mut found, &nodes, steps, span, count)?;
    }
    if steps.iter().any(|step| step.kind == Some(Kind::Die) && step.count > 1) {
        found.remark(DIES);
    }
    if steps.iter().any(|step| step.kind == Some(Kind::Group)) {
        found.unused.insert("groups".into());
    }
    if steps.iter().any(|step| step.kind == Some(Kind::Instructions)) {
        found.unused.insert("instruction caches".into());
    }
    if steps.iter().chain([root]).any(|step| {
        step.nodes.iter().chain([&step.attributes]).any(|attributes| attributes.memory_side_cache)
    }) {
        found.unused.insert("memory-side caches".into());
    }
    left_out_nodes(&mut found);
    found.complete().map_err(|why| wrong(Place::NONE, why, ""))?;
    Ok(found)
}

fn has_nodes(root: &Step, steps: &[Step]) -> bool {
    let has = |step: &Step| step.kind == Some(Kind::Numa) || !step.nodes.is_empty();
    has(root) || steps.iter().any(has)
}

/// Attaches NUMA nodes to every part of a level; the first one of a part is that of its cpus.
fn attach(
    found: &mut Found,
    nodes: &[&Attributes],
    steps: &[Step],
    span: usize,
    count: usize,
) -> Result<(), Problem> {
    let (base, each) = (found.nodes.len() as u32, nodes.len() as u32);
    for (at, attributes) in (0..).zip(nodes) {
        let first = found.nodes.len() as u32;
        let given = numbers(steps, attributes.indexes.as_ref(), count)?;
        // Nodes of different levels are numbered one level after the other.
        let numbers = given.into_iter().map(|number| base + number * each + at);
        let memory = attributes.memory;
        for (part, number) in numbers.enumerate() {
            let cpus = found.cpus.iter().skip(part * span).take(span);
            let local = cpus.map(|cpu| cpu.number).collect();
            found.nodes.push(NumaNode { number, memory, local, ..NumaNode::default() });
        }
        if at == 0 {
            let cpus = found.cpus.iter_mut().enumerate();
            cpus.for_each(|(at, cpu)| cpu.node = first + (at / span) as u32);
        }
    }
    Ok(())
}

/// The numbers of the parts of a level: as `indexes` states, else in order.
fn numbers(steps: &[Step], indexes: Option<&(String, Place)>, count: usize) -> Result<Vec<u32>, Problem> {
    let Some((text, place)) = indexes else { return Ok((0..count as u32).collect()) };
    let mut above = 1;
    let levels: Vec<(Kind, usize)> = steps
        .iter()
        .filter_map(|step| {
            above *= step.count as usize;
            Some((step.kind?, above))
        })
        .collect();
    indexes::read(text, *place, &levels, count)
}

/// A machine as one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exported {
    /// The synthetic description.
    pub text: String,
    /// What it lacks: sentences without full stop.
    pub remarks: Vec<String>,
}

/// The synthetic description of a machine, for `lstopo --if synthetic` and for papers. It states the shape,
/// the sizes of the caches and the Linux numbers of the cpus.
///
/// # Errors
/// A sentence: the parts of the machine differ.
pub fn export(entry: &Entry) -> Result<Exported, String> {
    let tree = &entry.topology;
    if !tree.is_even() {
        return Err(format!(
            "a synthetic description of hwloc has equal parts, and those of `{}` differ; `oversim machine \
             show` prints all of them",
            entry.topology_text
        ));
    }
    let levels = tree.levels();
    let size = |name: &str| entry.values.number(name).filter(|bytes| *bytes > 0);
    let has = |level: Level| levels.iter().any(|(other, _)| *other == level);
    let sized = |name: &str, count: u32, bytes: u64| format!("{name}:{count}(size={bytes})");
    let mut words = Vec::new();
    // A package without cache groups shares the cache.
    let of_package = size("shared_cache")
        .filter(|_| !has(Level::Cache) && tree.span(Level::Package) > tree.span(Level::Core))
        .map(|bytes| sized("L3Cache", 1, bytes));
    if !has(Level::Node) {
        words.push("[NUMANode]".to_owned());
    }
    if !has(Level::Package) {
        words.extend(of_package.clone());
    }
    let mut cores = 1;
    for (at, (level, count)) in levels.iter().enumerate() {
        match level {
            Level::Package => {
                words.push(format!("Package:{count}"));
                let node = levels.get(at + 1).filter(|inner| **inner == (Level::Node, 1));
                words.extend(node.map(|_| "[NUMANode]".to_owned()));
                words.extend(of_package.clone());
            }
            Level::Node if at > 0 && *count == 1 => {}
            Level::Node => words.push(format!("NUMANode:{count}")),
            Level::Cache => words.push(match size("shared_cache") {
                Some(bytes) => sized("L3Cache", *count, bytes),
                None => format!("L3Cache:{count}"),
            }),
            Level::Cluster => {
                let cores = u64::from(tree.span(Level::Cluster) / tree.span(Level::Core));
                words.push(match size("private_cache") {
                    Some(bytes) => sized("L2Cache", *count, bytes.saturating_mul(cores)),
                    None => format!("L2Cache:{count}"),
                });
            }
            Level::Core => cores = *count,
            // Without cores, each hardware thread is one.
            Level::Thread if !has(Level::Core) => cores = *count,
            Level::Thread => {}
        }
    }
    match size("private_cache").filter(|_| !has(Level::Cluster)) {
        Some(bytes) => words.extend([sized("L2Cache", cores, bytes), "Core:1".to_owned()]),
        None => words.push(format!("Core:{cores}")),
    }
    let numbers: Vec<String> = entry.lists.cpu_numbers.iter().map(u32::to_string).collect();
    let indexes = if numbers.is_empty() { String::new() } else { format!("(indexes={})", numbers.join(",")) };
    words.push(format!("PU:{}{indexes}", tree.span(Level::Core)));
    let mut remarks = vec!["a synthetic description has no speeds, bandwidths and costs".to_owned()];
    let lists = [("core_speeds", &entry.lists.core_speeds), ("distances", &entry.lists.distances)];
    remarks.extend(
        lists.into_iter().filter(|(_, list)| !list.is_empty()).map(|(name, _)| format!("{name} left out")),
    );
    Ok(Exported { text: words.join(" "), remarks })
}
