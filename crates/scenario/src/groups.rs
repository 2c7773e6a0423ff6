//! Task groups of a scenario: the sessions and control groups in which its applications run.

use std::collections::BTreeMap;
use std::sync::Arc;

use ::policies::{Choice, TaskGroups};
use notation::diagnostics::Place;
use notation::yaml::{Entry, Node};
use sim_core::limits::{MAX_GROUPS, MAX_TASKS};
use sim_core::os::{Limit, OsModel, TaskGroup};
use sim_core::program::Scheduling;
use sim_core::time::Span;

use crate::Reader;
use crate::apps::App;
use crate::cgroups::{Declared, WEIGHT};
use crate::keys::{Application, Scenario};
use crate::program_keys::KindKeys;

/// Keys that need CFS or EEVDF, and one that needs EEVDF.
const GROUPS: &str = "`session` and `cgroup`";
const SCHEDULING: &str = "`batch` and `idle`";
const SLICES: &str = "slices of tasks";
/// What needs a real-time class.
const REAL_TIME: &str = "real-time tasks";

/// Puts the applications into their groups, and the groups into the kernel.
pub(crate) fn assign(
    reader: &mut Reader,
    scenario: &Scenario<'_>,
    (kernel, cpus): (&mut Arc<OsModel>, u32),
    apps: &mut [App],
    policies: &[(String, Choice)],
) -> Option<()> {
    let declared = scenario.cgroups.given(reader)?.unwrap_or_default();
    let written = scenario.apps.node().map_or(&[][..], Node::entries);
    let (mut first, mut scheduling, mut real_time, mut slices) = (None, None, None, None);
    let mut members: Vec<Option<String>> = Vec::new();
    for entry in written {
        let written = Application::of(&entry.value);
        let session = written.session.given(reader)?;
        let cgroup = written.cgroup.given(reader)?;
        if let (Some(_), Some(both)) = (&session, written.cgroup.place()) {
            let hint = "Linux forms groups by session only for tasks outside of control groups; keep one";
            reader.wrong_with_hint(both, "an application is in a session or in a control group", hint);
            return None;
        }
        let grouped = written.session.place().or(written.cgroup.place());
        first = first.or(grouped.zip(Some(GROUPS)));
        for asked in asked(reader, &written)? {
            let has = |of: &[Scheduling]| asked.scheduling.iter().any(|one| of.contains(one));
            let scheduled = asked.place.filter(|_| has(&[Scheduling::Batch, Scheduling::Idle]));
            let ranked = asked.scheduling.iter().any(|one| one.is_real_time());
            real_time = real_time.or(asked.place.filter(|_| ranked));
            if let Some(place) = asked.sliced {
                has_slices(reader, (place, has(&[Scheduling::Idle])), kernel)?;
            }
            scheduling = scheduling.or(scheduled);
            slices = slices.or(asked.sliced);
            first = first.or(scheduled.zip(Some(SCHEDULING))).or(asked.sliced.zip(Some(SLICES)));
        }
        members.push(session.map(|name| format!("session {name}")).or(cgroup));
    }
    if kernel.autogroup {
        // As if each application were started from a terminal of its own.
        let names = written.iter().map(|entry| format!("session of {}", entry.key));
        members.iter_mut().zip(names).for_each(|(member, name)| _ = member.get_or_insert(name));
        let place = scenario.kernel.place().unwrap_or(Place::NONE);
        first = first.or(Some((place, "sessions (`autogroup`)")));
    }
    let mut groups = paths(&members);
    for Declared { path, place, weight, limit, burst } in declared {
        has_limits(reader, (limit.map(|_| place), burst), kernel)?;
        if limit.is_some() {
            holds_limits(reader, place, policies)?;
        }
        match groups.get_mut(&path) {
            Some(own) => *own = (weight, limit),
            None => {
                let message = format!("no application is in the control group `{path}`");
                reader.wrong_with_hint(place, message, format!("add `cgroup: {path}` to an application"));
                return None;
            }
        }
    }
    if let Some(place) = real_time {
        has_real_time(reader, place, (kernel, groups.len()), policies)?;
    }
    let Some(first) = first else { return Some(()) };
    let more = [scheduling.zip(Some(SCHEDULING)), slices.zip(Some(SLICES))];
    for used in [Some(first)].into_iter().chain(more).flatten() {
        check(reader, used, kernel, policies, (groups.len(), cpus))?;
    }
    enter(&groups, kernel, apps, &members);
    Some(())
}

/// What some tasks ask of the kernel.
struct Asked {
    /// Their scheduling policies, and where they are written.
    scheduling: Vec<Scheduling>,
    place: Option<Place>,
    /// Where a slice is written.
    sliced: Option<Place>,
}

/// What the tasks of an application ask of the kernel: those of each kind, where its program has kinds.
fn asked(reader: &mut Reader, written: &Application<'_>) -> Option<Vec<Asked>> {
    let common = written.scheduling.given(reader)?.unwrap_or_default();
    let all = Asked { scheduling: common, place: written.scheduling.place(), sliced: written.slice.place() };
    let kinds = written.program.node().and_then(|program| program.get("kinds"));
    let kinds = kinds.map_or(&[][..], |kinds| kinds.value.entries());
    if kinds.is_empty() {
        return Some(vec![all]);
    }
    let of = |kind: &Entry| {
        let own = KindKeys::of(&kind.value);
        let (scheduling, place) = match own.scheduling.given(reader)? {
            Some(own_policies) => (own_policies, own.scheduling.place()),
            None => (all.scheduling.clone(), all.place),
        };
        Some(Asked { scheduling, place, sliced: own.slice.place().or(all.sliced) })
    };
    kinds.iter().map(of).collect()
}

/// The kernel has these groups, and the applications are in theirs.
fn enter(
    groups: &BTreeMap<String, (u32, Option<Limit>)>,
    kernel: &mut Arc<OsModel>,
    apps: &mut [App],
    members: &[Option<String>],
) {
    let index = |path: &str| groups.keys().position(|other| other == path).map(|at| at as u16);
    let group = |(path, (weight, limit)): (&String, &(u32, Option<Limit>))| TaskGroup {
        name: path.clone(),
        parent: path.rsplit_once('/').and_then(|(parent, _)| index(parent)),
        weight: *weight,
        limit: *limit,
    };
    Arc::make_mut(kernel).groups = groups.iter().map(group).collect();
    for app in apps {
        app.spec.group = members.get(app.entry).and_then(Option::as_deref).and_then(index);
        if let Some(alone) = &mut app.alone {
            alone.group = app.spec.group;
        }
    }
}

/// Quotas, and their bursts, need a kernel that has them.
fn has_limits(
    reader: &mut Reader,
    (limited, burst): (Option<Place>, Option<Place>),
    kernel: &OsModel,
) -> Option<()> {
    if let Some(place) = limited.filter(|_| kernel.discipline.bandwidth().is_none()) {
        let message = format!("limits of cpu time came with Linux 3.2; {} does not have them", kernel.name);
        reader.wrong_with_hint(place, message, "remove `quota`");
        return None;
    }
    if let (Some(place), Some(false)) = (burst, kernel.discipline.bandwidth().map(|rules| rules.burst)) {
        let message = format!("bursts came with Linux 5.14; {} does not have them", kernel.name);
        reader.wrong_with_hint(place, message, "remove `burst`");
        return None;
    }
    Some(())
}

/// A policy that orders the queues itself and is told of groups does not hold them to their cpu time.
fn holds_limits(reader: &mut Reader, place: Place, policies: &[(String, Choice)]) -> Option<()> {
    let told = |(_, choice): &&(String, Choice)| choice.entry.task_groups == TaskGroups::Told;
    let Some((label, _)) = policies.iter().find(told) else { return Some(()) };
    let message = format!("under the policy `{label}` nothing holds a control group to its `quota`");
    let hint = "schedulers of sched_ext have to do that themselves; remove `quota`, or the policy";
    reader.wrong_with_hint(place, message, hint);
    None
}

/// Slices of tasks need a kernel that has them, and tasks that are not of `SCHED_IDLE`.
fn has_slices(reader: &mut Reader, (place, idle): (Place, bool), kernel: &OsModel) -> Option<()> {
    if kernel.discipline.has_groups() && !kernel.discipline.has_own_slices() {
        let message = format!("slices of tasks came with Linux 6.12; {} does not have them", kernel.name);
        reader.wrong_with_hint(place, message, "use `kernel: linux-6.12.0` or a later one");
        return None;
    }
    if idle {
        reader.wrong_with_hint(place, "tasks of SCHED_IDLE have no slice of their own", "remove one of both");
        return None;
    }
    Some(())
}

/// Groups and scheduling policies need a kernel that has them here, and policies that leave the run queues to
/// it.
fn check(
    reader: &mut Reader,
    (place, what): (Place, &str),
    kernel: &OsModel,
    policies: &[(String, Choice)],
    (groups, cpus): (usize, u32),
) -> Option<()> {
    let most = (MAX_TASKS / u64::from(cpus.max(1))).min(MAX_GROUPS as u64);
    if groups as u64 > most {
        let message = format!("more than {most} sessions and control groups on {cpus} cpus");
        reader.wrong(place, message);
        return None;
    }
    let queues = &kernel.discipline;
    let needed = match what {
        SCHEDULING if !queues.has_policies() => Some("EEVDF"),
        _ if !queues.has_groups() => Some("CFS or EEVDF"),
        _ => None,
    };
    if let Some(needed) = needed {
        let message = format!("{what} need {needed}, which {} does not have", kernel.name);
        reader.wrong_with_hint(place, message, "use `kernel: linux-6.18`");
        return None;
    }
    suit(reader, (place, what), policies)
}

/// The groups that have members, and those around them. Sessions are beside the outermost control groups; no
/// path has a space.
fn paths(members: &[Option<String>]) -> BTreeMap<String, (u32, Option<Limit>)> {
    let mut groups = BTreeMap::new();
    for member in members.iter().flatten() {
        let inside = member.match_indices('/').map(|(at, _)| &member[..at]);
        groups.extend(inside.chain([member.as_str()]).map(|path| (path.to_owned(), (WEIGHT, None))));
    }
    groups
}

/// Real-time tasks need a kernel that has their class, and beside task groups EEVDF.
fn has_real_time(
    reader: &mut Reader,
    place: Place,
    (kernel, groups): (&OsModel, usize),
    policies: &[(String, Choice)],
) -> Option<()> {
    let Some(rules) = kernel.real_time else {
        let message = format!("{} has no real-time classes here", kernel.name);
        reader.wrong_with_hint(place, message, "use a kernel of Linux, such as `kernel: linux-6.18`");
        return None;
    };
    if groups > 0 && !kernel.discipline.has_policies() {
        let message = format!("real-time tasks beside task groups need EEVDF, not {}", kernel.name);
        reader.wrong_with_hint(place, message, "use `kernel: linux-6.18`, or leave out the groups");
        return None;
    }
    if rules.server.runtime > Span::ZERO && !kernel.discipline.has_policies() {
        let message = format!("`fair_server` needs EEVDF, which {} does not have", kernel.name);
        reader.wrong_with_hint(place, message, "leave out `fair_server`; `rt_runtime` limits this kernel");
        return None;
    }
    suit(reader, (place, REAL_TIME), policies)
}

/// A task that changes its class needs a kernel that has that class and can change it.
pub(crate) fn may_become(
    reader: &mut Reader,
    (place, scheduling): (Place, Scheduling),
    kernel: &OsModel,
    policies: &[(String, Choice)],
) -> Option<()> {
    if scheduling.is_real_time() {
        has_real_time(reader, place, (kernel, kernel.groups.len()), policies)?;
    } else if scheduling != Scheduling::Other {
        check(reader, (place, SCHEDULING), kernel, policies, (0, 1))?;
    }
    if !kernel.discipline.has_groups() {
        let message = format!("tasks do not change their class here under {}", kernel.name);
        reader.wrong_with_hint(place, message, "they do under CFS and EEVDF: use `kernel: linux-6.18`");
        return None;
    }
    Some(())
}

/// The policies must leave the run queues to the kernel.
fn suit(reader: &mut Reader, (place, what): (Place, &str), policies: &[(String, Choice)]) -> Option<()> {
    let told = ![SCHEDULING, SLICES, REAL_TIME].contains(&what);
    let fits = |entry: &::policies::Entry| match entry.task_groups {
        TaskGroups::Kept => true,
        TaskGroups::Told => told,
        TaskGroups::Refused => false,
    };
    for (label, choice) in policies {
        let under = choice.over.as_deref().map(|over| over.entry);
        let mut stack = [Some(choice.entry), under].into_iter().flatten();
        if let Some(entry) = stack.find(|entry| !fits(entry)) {
            let message = format!("the policy `{label}` does not work with {what}");
            let hint =
                format!("{} orders run queues itself; these are rules of the kernel's queues", entry.name);
            reader.wrong_with_hint(place, message, hint);
            return None;
        }
    }
    Some(())
}
