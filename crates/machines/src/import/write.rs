//! The text of a machine file that an import writes.

use std::collections::{BTreeMap, BTreeSet};

use notation::lists;

use super::found::{Found, named};
use super::regular::Regular;
use super::values;
use crate::datum::{Datum, MAX_ABOUT, MAX_LINE, line, quoted};

/// The text, and remarks on what has no place in it.
pub(super) fn machine_file(
    found: &Found,
    regular: &Regular,
    name: &str,
    remarks: &mut Vec<String>,
) -> String {
    let values = values::values(found, regular, remarks);
    let lists = values::lists(found, regular, remarks);
    let (mut unused, caches) = values::unused_caches(found, regular);
    unused.extend(found.unused.iter().cloned());
    remarks.extend(caches);
    if let Some(why) = &regular.why {
        remarks.push(smaller(found, regular, why));
    }
    let mut text = String::from(
        "# Written by `oversim machine import`. A topology states the shape of a machine, not its speed:\n\
         # values that are not listed are the defaults of a present-day server (`oversim machine show`\n\
         # prints each with its source). `uncertain: true` marks a value that was not measured on this\n\
         # machine.\n",
    );
    let model = found.model.as_ref().map_or_else(String::new, |model| format!(", {model}"));
    let summary = format!("{}{model}, imported from {}", regular.words, found.origin);
    text += &format!("name: {}\n", quoted(name, MAX_LINE));
    text += &format!("summary: {}\n", quoted(&summary, MAX_LINE));
    text += &format!("about: {}\n", quoted(&about(found, regular, remarks, &unused), MAX_ABOUT));
    if let Some(kernel) = found.release.as_ref().and_then(values::kernel) {
        text += &line("", &kernel, None);
    }
    let cut = regular.why.as_ref().map_or_else(String::new, |why| format!("; cut down: {why}"));
    let topology = Datum {
        name: "topology",
        value: format!("\"{}\"", regular.topology),
        source: format!("{}{cut}", found.places.shape),
        uncertain: found.guessed || regular.why.is_some(),
    };
    text += &line("", &topology, None);
    for (heading, data) in [("values", &values), ("lists", &lists)] {
        if !data.is_empty() {
            text += &format!("{heading}:\n");
            data.iter().for_each(|datum| text += &line("  ", datum, None));
        }
    }
    text
}

/// What the import left out to get equal parts.
fn smaller(found: &Found, regular: &Regular, why: &str) -> String {
    let without = if regular.left_out.is_empty() {
        "the cache groups are left out".to_owned()
    } else {
        format!("{} left out", named(&regular.left_out))
    };
    let kept: BTreeSet<u32> = regular.cores.iter().flat_map(|core| &core.cpus).copied().collect();
    let threads = found.cpus.iter().zip(0..).filter(|(_, at)| !kept.contains(at));
    let cores: BTreeSet<u32> =
        regular.cores.iter().flat_map(|core| &core.cpus).map(|at| found.cpus[*at as usize].core).collect();
    let lost = threads.filter(|(cpu, _)| cores.contains(&cpu.core)).count();
    let words = match lost {
        0 => String::new(),
        1 => ", one of them a second hardware thread of a core that stays".to_owned(),
        _ if lost == regular.left_out.len() => ", the second hardware threads of cores that stay".to_owned(),
        lost => format!(", {lost} of them second hardware threads of cores that stay"),
    };
    format!("{without}{words}, for a machine of equal parts, because {why}")
}

/// What the machine is, with what the simulator has no value for.
fn about(found: &Found, regular: &Regular, remarks: &[String], unused: &BTreeSet<String>) -> String {
    let mut about = format!("This machine was imported from {}.", found.origin);
    let used: BTreeSet<u32> = regular.cores.iter().map(|core| core.node).collect();
    let mut sizes: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for (_, node) in (0..).zip(&found.nodes).filter(|(at, node)| used.contains(at) && node.memory > 0) {
        sizes.entry(node.memory >> 20).or_default().push(node.number);
    }
    let size = |(mebibytes, nodes): (u64, Vec<u32>)| {
        let nodes: BTreeSet<u32> = nodes.into_iter().collect();
        let one = nodes.len() == 1;
        let (word, have) = if one { ("node", "has") } else { ("nodes", "have") };
        let each = if one { "" } else { " each" };
        format!("{word} {} {have} {mebibytes} MiB{each}", lists::ranges(nodes))
    };
    let memory: Vec<String> = sizes.into_iter().map(size).collect();
    if !memory.is_empty() {
        about += &format!(" Memory, which the simulator does not limit: {}.", memory.join(", "));
    }
    for remark in remarks {
        about += &format!(" Import: {remark}.");
    }
    if !unused.is_empty() {
        let unused: Vec<&str> = unused.iter().map(String::as_str).collect();
        about +=
            &format!(" Stated and left out, as a machine file has no place for it: {}.", unused.join(", "));
    }
    about
}
