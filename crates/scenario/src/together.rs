//! Errors that only machine, applications and policies of a scenario together can have.

use notation::parameter::Kind;
use notation::yaml::{Content, Entry, Node};
use policies::{Choice, Cut, PartitionParameters};
use sim_core::limits::MAX_POLL;
use sim_core::lock::Protocol;
use sim_core::machine::Level;
use sim_core::program::{AppSpec, Scheduling};
use sim_core::time::Span;

use crate::Reader;
use crate::apps::App;
use crate::arrivals;
use crate::groups;
use crate::keys::{Application, Scenario};
use crate::nested::Arrival;
use crate::reserved;
use crate::resolved::Resolved;

/// Checks a resolved configuration.
pub(super) fn check(reader: &mut Reader, scenario: &Scenario<'_>, resolved: &Resolved) {
    let Some(Content::List(items)) = scenario.policies.node().map(|node| &node.content) else {
        return;
    };
    for (item, (label, choice)) in items.iter().zip(&resolved.policies) {
        if choice.entry.name == "PARTITION" {
            partition(reader, item, label, choice, resolved);
        }
        let under = choice.over.as_deref().map_or("", |over| over.entry.name);
        let changes = resolved.apps.iter().find_map(|app| match &app.kind {
            _ if !app.spec.rebinds.is_empty() => Some("`affinity`"),
            Some(of) if !of.kind.cpus.is_empty() => Some("`cpus` in the code of a program"),
            _ => None,
        });
        if let Some(changes) = changes.filter(|_| [choice.entry.name, under].contains(&"DWRR")) {
            let message = format!("the policy `{label}` does not work with {changes}");
            let hint = "DWRR counts the tasks that it can take by masks that do not change; use `cpus`";
            reader.wrong_node(item, message, hint);
        }
    }
    let written = scenario.apps.node().map_or(&[][..], Node::entries);
    for app in &resolved.apps {
        let Some(entry) = written.get(app.entry) else { continue };
        if arrivals::last_arrival(app) >= resolved.horizon {
            let copy = if app.copies.count > 1 { "the last copy of " } else { "" };
            let message = format!("{copy}`{}` arrives at or after the horizon", app.spec.name);
            let start = Application::of(&entry.value).start.node();
            reader.wrong(start.map_or(entry.place, |start| start.place), message);
        }
        polls(reader, entry, app, resolved);
    }
    changes(reader, resolved);
    raising(reader, resolved, written);
    reserved::check(reader, resolved, written);
}

/// Locks that change priorities need a kernel and tasks whose priorities change.
fn raising(reader: &mut Reader, resolved: &Resolved, written: &[Entry]) {
    let kernel = &resolved.kernel;
    let kinds = || resolved.apps.iter().filter_map(|app| Some((app, &app.kind.as_ref()?.kind)));
    for (app, kind) in kinds() {
        let own = app.spec.highest_priority();
        for (protocol, place) in &kind.raising {
            match protocol {
                Protocol::Ceiling(ceiling) if own > *ceiling => {
                    let message = format!(
                        "`{}` has the priority {own}, and the lock has a lower ceiling",
                        app.spec.name
                    );
                    reader.wrong_with_hint(*place, message, format!("write `{{ ceiling: {own} }}` or more"));
                    return;
                }
                Protocol::Ceiling(ceiling) => {
                    let becomes = (*place, Scheduling::Fifo(*ceiling));
                    if groups::may_become(reader, becomes, kernel, &resolved.policies).is_none() {
                        return;
                    }
                }
                Protocol::Plain | Protocol::Inherits => {}
            }
        }
    }
    let ceilings =
        kinds().any(|(_, kind)| kind.raising.iter().any(|of| matches!(of.0, Protocol::Ceiling(_))));
    if !ceilings && !resolved.apps.iter().any(|app| app.spec.is_real_time()) {
        return;
    }
    for app in &resolved.apps {
        let named = app.kind.as_ref().and_then(|of| of.kind.raising.first()).map(|of| of.1);
        let Some(place) = named
            .or_else(|| written.get(app.entry).filter(|_| app.spec.lock.raises()).map(|entry| entry.place))
        else {
            continue;
        };
        if !kernel.discipline.has_groups() {
            let message = format!("locks do not change priorities here under {}", kernel.name);
            reader.wrong_with_hint(place, message, "they do under CFS and EEVDF: use `kernel: linux-6.18`");
            return;
        }
        if app.spec.group.is_some() {
            let message = "tasks in sessions and control groups keep their class";
            reader.wrong_with_hint(place, message, "use another kind of lock, or remove the group");
            return;
        }
    }
}

/// What the tasks of programs change of themselves must exist here: weights, and cpus.
fn changes(reader: &mut Reader, resolved: &Resolved) {
    let (machine, kernel) = (&resolved.machine, &resolved.kernel);
    let kinds = || resolved.apps.iter().filter_map(|app| app.kind.as_ref()).map(|of| &of.kind);
    for (cpus, place) in kinds().flat_map(|kind| &kind.cpus) {
        if !cpus.iter().any(|cpu| cpu.0 < machine.cpus()) {
            let message = format!("{} has none of these cpus", machine.name);
            reader.wrong_with_hint(*place, message, format!("its cpus are 0 to {}", machine.cpus() - 1));
        }
    }
    for app in &resolved.apps {
        let Some(kind) = app.kind.as_ref().map(|of| &of.kind) else { continue };
        for (scheduling, place) in &kind.classes {
            if groups::may_become(reader, (*place, *scheduling), kernel, &resolved.policies).is_none() {
                break;
            }
            if app.spec.group.is_some() {
                let message = "tasks in sessions and control groups keep their class";
                reader.wrong_with_hint(*place, message, "remove `scheduling` from the code, or the group");
                break;
            }
            if *scheduling == Scheduling::Idle && app.spec.slice.is_some() {
                let message = "tasks of SCHED_IDLE have no slice of their own";
                reader.wrong_with_hint(*place, message, "remove one of both");
                break;
            }
        }
    }
    let Some(place) = kinds().find_map(|kind| kind.nice) else { return };
    let limited = kernel.groups.iter().any(|group| group.limit.is_some());
    let weighs = kernel.groups.is_empty() || kernel.discipline.has_policies() && !limited;
    if !kernel.discipline.has_groups() || !weighs {
        let message = format!("nice values do not change here under {}", kernel.name);
        let hint = "they do under CFS without sessions and control groups, and under EEVDF without quotas: \
            `kernel: linux-6.18`";
        reader.wrong_with_hint(place, message, hint);
        return;
    }
    let specs: Vec<AppSpec> = resolved.apps.iter().map(|app| app.spec.clone()).collect();
    for (label, choice) in &resolved.policies {
        let order = choice.build(machine, kernel, &specs).order();
        if !kernel.ordered(order).discipline.has_groups() {
            let message =
                format!("nice values do not change under the policy `{label}`, which orders run queues");
            reader.wrong_with_hint(place, message, "remove `nice` from the code, or use another policy");
        }
    }
}

/// How long the polls before a yield take depends on the machine, and on the tasks of the application.
fn polls(reader: &mut Reader, entry: &Entry, app: &App, resolved: &Resolved) {
    let poll = resolved.machine.costs.poll;
    let time = |spec: &AppSpec| {
        let each = spec.runtimes().flat_map(|of| [of.polling.looks, of.polling.message_looks]);
        let spans = each.map(|looks| {
            let one = if looks.each == Span::ZERO { poll } else { looks.each };
            Span::from_ns(one.ns().saturating_mul(u64::from(looks.count)))
        });
        spans.max().unwrap_or(Span::ZERO)
    };
    let longest = app.alone.as_ref().map_or(Span::ZERO, time).max(time(&app.spec));
    if longest > MAX_POLL {
        let shown = |span: Span| Kind::Duration.show(span.ns());
        let (name, most) = (&app.spec.name, shown(MAX_POLL));
        let message = format!(
            "the polls of `{name}` before a yield take {}; at most {most} are simulated",
            shown(longest)
        );
        let place = Application::of(&entry.value).runtime.place().unwrap_or(entry.place);
        reader.wrong_with_hint(place, message, "use fewer `polls`, or a shorter `poll` of the runtime");
    }
}

/// A static division must be possible: at most one part per cpu, and at most the cores that the machine has.
fn partition(reader: &mut Reader, item: &Node, label: &str, choice: &Choice, resolved: &Resolved) {
    let topology = &resolved.machine.topology;
    let values = PartitionParameters::from(&choice.values);
    let (cores, cpus) = (u64::from(topology.count(Level::Core)), topology.cpus());
    let explicit = &values.cores;
    let dynamic = values.cut == Cut::Dynamic;
    let wanted = explicit.iter().fold(0u64, |sum, part| sum.saturating_add(u64::from(*part)));
    if wanted > cores {
        let message = format!(
            "the parts of {label} have {wanted} cores together; {} has {cores}",
            resolved.machine.name
        );
        reader.wrong_node(item, message, "use fewer cores");
    }
    if !explicit.is_empty() && (dynamic || values.parts > 0) {
        let other = if dynamic { "cut: dynamic" } else { "parts" };
        let message = format!("{label}: `cores` already divides the machine for the whole run");
        reader.wrong_node(item, message, format!("leave out `cores` or `{other}`"));
    }
    // An application that waits for the end of another one takes over its part.
    let copies = |app: &App| if app.copies.arrival == Arrival::Queue { 1 } else { app.copies.count as usize };
    let at_once = |app: &&App| !app.spec.background && app.after.is_none();
    let jobs: usize = resolved.apps.iter().filter(at_once).map(copies).sum();
    let parts = match values.parts {
        0 => jobs,
        parts => parts,
    };
    if !dynamic && explicit.is_empty() && parts > cpus as usize {
        let message = format!("{label} cannot divide {cpus} cpus among {parts} applications");
        reader.wrong_node(item, message, "use a larger machine, fewer applications or `cut: dynamic`");
    }
}
