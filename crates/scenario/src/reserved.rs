//! Whether Linux admits the tasks of SCHED_DEADLINE of a scenario.

use notation::diagnostics::Place;
use notation::yaml::Entry;
use sim_core::program::AppSpec;
use sim_core::reservations;

use crate::Reader;
use crate::apps::App;
use crate::keys::Application;
use crate::program_keys::KindKeys;
use crate::programs;
use crate::resolved::Resolved;

/// Notes the first application that is refused, where its policy is written.
pub(crate) fn check(reader: &mut Reader, resolved: &Resolved, written: &[Entry]) {
    if let Some((app, message, hint)) = refused(resolved) {
        let place = place(resolved, app, written).unwrap_or(Place::NONE);
        reader.wrong_with_hint(place, message, hint);
    }
}

/// The first application that is refused, why, and what would be right.
fn refused(resolved: &Resolved) -> Option<(&App, String, String)> {
    let reserved = |app: &App| app.spec.reserved() > 0 || becomes(app);
    let app = resolved.apps.iter().find(|app| reserved(app))?;
    let kernel = &resolved.kernel;
    let Some(rules) = kernel.real_time.and_then(|rules| rules.deadline) else {
        let message = format!("{} has no SCHED_DEADLINE, which Linux has since 3.14", kernel.name);
        return Some((app, message, "use a later kernel, such as `kernel: linux-6.18`".into()));
    };
    if kernel.groups.iter().any(|group| group.limit.is_some()) {
        let message = "tasks of SCHED_DEADLINE beside control groups with limits are not simulated";
        return Some((app, message.into(), "remove the `quota` of the control groups".into()));
    }
    for app in resolved.apps.iter().filter(|app| reserved(app)) {
        let (name, kind) = (&app.spec.name, app.kind.as_ref().map(|of| &of.kind));
        if kind.is_some_and(|kind| !kind.raising.is_empty()) || app.spec.lock.raises() {
            let message = format!(
                "`{name}` is of SCHED_DEADLINE and takes a lock that changes priorities, which is not \
                 simulated"
            );
            return Some((app, message, "use another kind of lock".into()));
        }
        if kind.is_some_and(|kind| !kind.classes.is_empty()) {
            let message = format!("`{name}`: a task is of SCHED_DEADLINE from its start to its end");
            return Some((app, message, "remove `scheduling` from the code".into()));
        }
    }
    let apps: Vec<&AppSpec> = resolved.apps.iter().map(|app| &app.spec).collect();
    let copies: Vec<u32> = resolved.apps.iter().map(|app| app.copies.count).collect();
    let refused = reservations::refused(resolved.machine.cpus(), &rules, &apps, &copies)?;
    Some((&resolved.apps[refused.app], refused.message, refused.hint))
}

/// Its tasks give themselves a reservation.
fn becomes(app: &App) -> bool {
    let mut classes = app.kind.iter().flat_map(|of| &of.kind.classes);
    classes.any(|(class, _)| class.reservation().is_some())
}

/// Where the policy of an application is written.
fn place(resolved: &Resolved, app: &App, written: &[Entry]) -> Option<Place> {
    let entry = written.get(app.entry)?;
    let of_app = Application::of(&entry.value);
    // Each kind of a program is an application of its own.
    let same = resolved.apps.iter().filter(|other| other.entry == app.entry);
    let number = same.take_while(|other| !std::ptr::eq(*other, app)).count();
    let node = of_app.program.node().and_then(|program| programs::kind_node(program, number));
    let own = node.and_then(|node| KindKeys::of(node).scheduling.place());
    Some(own.or(of_app.scheduling.place()).unwrap_or(entry.place))
}
