//! Remarks on values that do more or less on this machine than they seem to.

use notation::yaml::{Content, Entry, Node};
use sim_core::machine::{Level, Machine};

use crate::Reader;
use crate::keys::{Application, Scenario};
use crate::resolved::Resolved;

/// Remarks on a resolved configuration.
pub(super) fn remark(reader: &mut Reader, scenario: &Scenario<'_>, resolved: &Resolved) {
    cache_level(reader, scenario, resolved);
    if resolved.machine.topology.count(Level::Node) == 1 {
        pages(reader, scenario, &resolved.machine);
        node_masks(reader, scenario, &resolved.machine);
    }
}

/// The parameters of `NAME: { ... }`.
fn parameters(node: &Node) -> &[Entry] {
    match &node.content {
        Content::Map(entries) => entries.first().map_or(&[], |chosen| chosen.value.entries()),
        _ => &[],
    }
}

/// A machine whose cores share no cache has no such level for the balancer either.
fn cache_level(reader: &mut Reader, scenario: &Scenario<'_>, resolved: &Resolved) {
    let set = scenario
        .machine
        .node()
        .is_some_and(|machine| parameters(machine).iter().any(|parameter| parameter.key == "shared_cache"));
    if !set || resolved.machine.memory.shared_cache > 0 {
        return;
    }
    let names = |machine: &Machine| -> Vec<&'static str> {
        ::policies::domains(machine, &resolved.kernel).iter().map(|level| level.name).collect()
    };
    let mut with = Machine::clone(&resolved.machine);
    with.memory.shared_cache = 1;
    let (with, without) = (names(&with), names(&resolved.machine));
    if with != without {
        reader.remark(format!(
            "`shared_cache: 0B` also changes the levels that the kernel balances, from {} to {}: cores that \
             share no cache have no level of their own; `shared_cache: 1B` keeps the levels",
            with.join(", "),
            without.join(", ")
        ));
    }
}

/// Where pages lie makes no difference on one node.
fn pages(reader: &mut Reader, scenario: &Scenario<'_>, machine: &Machine) {
    for app in scenario.apps.node().map_or(&[][..], Node::entries) {
        let workload = Application::of(&app.value).workload;
        let set = workload.node().map_or(&[][..], parameters).iter().find(|entry| entry.key == "pages");
        let Some(Content::Scalar(word)) = set.map(|entry| &entry.value.content) else { continue };
        if word != "first-touch" {
            reader.remark(format!(
                "`pages: {word}` of `{}` has no effect: {} has one NUMA node{}",
                app.key,
                machine.name,
                advice(machine)
            ));
        }
    }
}

/// To bind to the only node is not to bind.
fn node_masks(reader: &mut Reader, scenario: &Scenario<'_>, machine: &Machine) {
    let Some(Content::List(policies)) = scenario.policies.node().map(|node| &node.content) else { return };
    for parameter in policies.iter().flat_map(parameters) {
        let node = |value: &Node| matches!(&value.content, Content::Scalar(word) if word == "node");
        let value = &parameter.value;
        if node(value) || value.entries().iter().any(|app| node(&app.value)) {
            reader.remark(format!(
                "`{}: node` means the whole machine: {} has one NUMA node{}",
                parameter.key,
                machine.name,
                advice(machine)
            ));
        }
    }
}

/// How a machine of several packages gets several nodes.
fn advice(machine: &Machine) -> &'static str {
    if machine.topology.count(Level::Package) > 1 {
        "; add `numa:1` behind its packages for a node in each"
    } else {
        ""
    }
}
