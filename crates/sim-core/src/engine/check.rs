//! What cannot be simulated is refused: applications, task groups, runtimes and rules out of range.

use crate::admission::{Admission, StartOrder};
use crate::engine::commands;
use crate::engine::setup::limited;
use crate::limits::{MAX_APPS, MAX_GROUPS, MAX_LOOKS, MAX_OWN_RUNTIMES, MAX_POLL, MAX_PROFILES, MAX_TASKS};
use crate::machine::{CpuSet, Machine};
use crate::os::{Limit, NumaBalancing, OsModel};
use crate::program::{AppSpec, OWN_SLICE, Runtime, Scheduling};
use crate::reservations;
use crate::run_queue::Rules as _;
use crate::time::Span;
use crate::wait::BarrierKind;

/// Refuses what cannot be simulated.
pub(crate) fn check(
    machine: &Machine,
    model: &OsModel,
    apps: &[AppSpec],
    admission: Admission,
) -> Result<(), String> {
    if apps.len() > MAX_APPS {
        return Err(format!("at most {MAX_APPS} applications, these are {}", apps.len()));
    }
    if apps.iter().all(|app| app.background) {
        return Err("no foreground application: the run would never end".into());
    }
    let tasks: u64 = apps.iter().map(|app| u64::from(app.tasks)).sum();
    if tasks > MAX_TASKS {
        return Err(format!("at most {MAX_TASKS} tasks, these are {tasks}"));
    }
    let profiles: usize = apps.iter().map(|app| 1 + app.program.profiles().len()).sum();
    if profiles > MAX_PROFILES {
        let most = MAX_PROFILES;
        return Err(format!("at most {most} memory profiles with one per application, these are {profiles}"));
    }
    if model.tick < Span::from_us(1) {
        return Err("the tick period must be at least 1us".into());
    }
    model.discipline.check(model.tick)?;
    model.numa_balancing.as_ref().map_or(Ok(()), NumaBalancing::check)?;
    if !(1..=1_000).contains(&machine.clocks.lowest) {
        return Err("the lowest clock is 0.001 to 1 of the highest one".into());
    }
    if machine.costs.poll == Span::ZERO {
        return Err("a poll takes at least 1ns".into());
    }
    if admission.jobs == 0 {
        return Err("at least one application must be admitted".into());
    }
    check_groups(machine, model, apps)?;
    check_looks(machine, apps)?;
    let plain = !model.discipline.has_policies();
    let fair = |app: &AppSpec| {
        app.schedulings().any(|scheduling| matches!(scheduling, Scheduling::Batch | Scheduling::Idle))
    };
    if let Some(app) = apps.iter().find(|app| plain && fair(app)) {
        return Err(format!("`{}`: only EEVDF has SCHED_BATCH and SCHED_IDLE", app.name));
    }
    check_real_time(model, apps)?;
    check_classes(model, apps)?;
    check_reservations(machine, model, apps)?;
    check_slices(model, apps)?;
    commands::check(machine, model, apps)?;
    let mut numbered = apps.iter().enumerate();
    numbered.try_for_each(|(number, app)| check_app(machine, admission, number, app))
}

/// Refuses real-time tasks where the kernel has none, and rules and priorities out of range.
fn check_real_time(model: &OsModel, apps: &[AppSpec]) -> Result<(), String> {
    for app in apps {
        let name = &app.name;
        if !app.rank_scheduling.is_empty() && app.rank_scheduling.len() != app.tasks as usize {
            let (some, all) = (app.rank_scheduling.len(), app.tasks);
            return Err(format!("application `{name}` schedules {some} of {all} ranks"));
        }
        let priorities = app.schedulings().filter_map(Scheduling::priority);
        for priority in priorities {
            if !(1..=99).contains(&priority) {
                return Err(format!("`{name}`: a real-time priority is 1 to 99, this is {priority}"));
            }
        }
    }
    let Some(app) = apps.iter().find(|app| app.is_real_time()) else { return Ok(()) };
    let Some(rules) = model.real_time else {
        return Err(format!("`{}`: {} has no real-time classes here", app.name, model.name));
    };
    if rules.period < Span::from_ms(1)
        || rules.quantum == Span::ZERO
        || rules.server.runtime >= rules.server.period
    {
        return Err("the rules of the real-time class are out of range".into());
    }
    if !model.groups.is_empty() && !model.discipline.has_policies() {
        return Err(format!("`{}`: real-time tasks beside task groups need EEVDF here", app.name));
    }
    model.with_real_time().discipline.check(model.tick)
}

/// Refuses tasks of `SCHED_DEADLINE` that Linux refuses, and where they are not simulated.
fn check_reservations(machine: &Machine, model: &OsModel, apps: &[AppSpec]) -> Result<(), String> {
    for app in apps {
        if let Some(why) =
            app.schedulings().filter_map(Scheduling::reservation).find_map(|of| of.check().err())
        {
            return Err(format!("`{}`: {why}", app.name));
        }
        let reserves = app.reserved() > 0;
        let becomes = app.classes().any(|class| class.reservation().is_some());
        if becomes || (reserves && app.classes().next().is_some()) {
            return Err(format!("`{}`: a task is of SCHED_DEADLINE from its start to its end", app.name));
        }
    }
    let Some(app) = apps.iter().find(|app| app.reserved() > 0) else { return Ok(()) };
    let Some(rules) = model.real_time.and_then(|rules| rules.deadline) else {
        return Err(format!("`{}`: {} has no SCHED_DEADLINE here", app.name, model.name));
    };
    if rules.period < Span::from_ms(1) {
        return Err("the rules of SCHED_DEADLINE are out of range".into());
    }
    if limited(model) {
        return Err(format!("`{}` is of SCHED_DEADLINE, beside task groups with limits", app.name));
    }
    let all: Vec<&AppSpec> = apps.iter().collect();
    reservations::refused(machine.cpus(), &rules, &all, &[]).map_or(Ok(()), |refused| Err(refused.message))
}

/// Refuses tasks that change their class where that is not simulated.
fn check_classes(model: &OsModel, apps: &[AppSpec]) -> Result<(), String> {
    let changes = |app: &&AppSpec| app.classes().next().is_some();
    let Some(app) = apps.iter().find(changes) else { return Ok(()) };
    if !model.discipline.reweighs() {
        return Err(format!("`{}` changes its scheduling class: only under CFS and EEVDF", app.name));
    }
    match apps.iter().filter(changes).find(|app| app.group.is_some()) {
        Some(app) => Err(format!("`{}` changes its scheduling class, and is in a task group", app.name)),
        None => Ok(()),
    }
}

/// Refuses slices of tasks that are out of range, and where the kernel has none.
fn check_slices(model: &OsModel, apps: &[AppSpec]) -> Result<(), String> {
    let Some((app, slice)) = apps.iter().find_map(|app| Some((app, app.slice?))) else { return Ok(()) };
    let name = &app.name;
    if !model.discipline.has_own_slices() {
        return Err(format!("`{name}`: only EEVDF since Linux 6.12 has slices of tasks"));
    }
    if app.schedulings().any(|scheduling| scheduling == Scheduling::Idle) {
        return Err(format!("`{name}`: tasks of SCHED_IDLE have no slice of their own"));
    }
    if slice < OWN_SLICE.0 || slice > OWN_SLICE.1 {
        return Err(format!("`{name}`: the slice of a task is 0.1 to 100 ms, this is {} ns", slice.ns()));
    }
    Ok(())
}

/// Refuses ways to poll that are out of range, or too many.
fn check_looks(machine: &Machine, apps: &[AppSpec]) -> Result<(), String> {
    let mut kinds = Vec::new();
    for app in apps {
        let name = &app.name;
        for looks in app.runtimes().flat_map(|of| [of.polling.looks, of.polling.message_looks]) {
            let each = if looks.each == Span::ZERO { machine.costs.poll } else { looks.each };
            if looks.count == 0 || u64::from(looks.count).saturating_mul(each.ns()) > MAX_POLL.ns() {
                return Err(format!(
                    "application `{name}`: the polls before a yield must be at least 1 and take at most \
                     {} ns, these are {} of {} ns",
                    MAX_POLL.ns(),
                    looks.count,
                    each.ns()
                ));
            }
            if !kinds.contains(&looks) {
                kinds.push(looks);
            }
        }
        let least = Span::from_us(1);
        let short =
            |of: &Runtime| of.polling.cycle.is_some_and(|cycle| cycle.on < least || cycle.off < least);
        if app.runtimes().any(short) {
            return Err(format!("application `{name}`: yields must be on and off for at least 1us each"));
        }
    }
    if kinds.len() > MAX_LOOKS {
        return Err(format!(
            "the applications of a run can poll in {MAX_LOOKS} ways, these are {}",
            kinds.len()
        ));
    }
    Ok(())
}

/// Refuses task groups that are no tree, or out of range, and applications in groups that do not exist.
fn check_groups(machine: &Machine, model: &OsModel, apps: &[AppSpec]) -> Result<(), String> {
    let groups = &model.groups;
    if groups.is_empty() && apps.iter().all(|app| app.group.is_none()) {
        return Ok(());
    }
    if !model.discipline.has_groups() {
        return Err("only CFS and EEVDF have task groups".into());
    }
    if groups.len() as u64 * u64::from(machine.cpus()) > MAX_TASKS {
        return Err(format!("task groups times cpus must be at most {MAX_TASKS}"));
    }
    if groups.len() > MAX_GROUPS {
        return Err(format!("at most {MAX_GROUPS} task groups, these are {}", groups.len()));
    }
    if let Some(app) = apps.iter().find(|app| app.kernel_mode && limited(model)) {
        return Err(format!("`{}` stays in kernel mode, beside task groups with limits", app.name));
    }
    let limits = model.discipline.bandwidth().is_some();
    if let Some(group) = groups.iter().find(|group| group.limit.is_some() && !limits) {
        return Err(format!("the cpu time of the task group `{}` cannot be limited here", group.name));
    }
    for (number, group) in groups.iter().enumerate() {
        if group.parent.is_some_and(|parent| usize::from(parent) >= number) {
            return Err(format!("the task group `{}` comes before the group around it", group.name));
        }
        if !(2..=262_144).contains(&group.weight) {
            return Err(format!("the weight of the task group `{}` must be 2 to 262144", group.name));
        }
        let fits = |limit: &Limit| {
            Limit::PERIODS.contains(&limit.period)
                && Limit::QUOTAS.contains(&limit.quota)
                && limit.burst <= limit.quota
        };
        if !group.limit.iter().all(fits) {
            let name = &group.name;
            return Err(format!(
                "the task group `{name}` needs a quota of 1ms to 1000s, a period of 1ms to 1s"
            ));
        }
    }
    let known = |group: u16| usize::from(group) < groups.len();
    match apps.iter().find(|app| app.group.is_some_and(|group| !known(group))) {
        Some(app) => Err(format!("`{}` is in a task group that does not exist", app.name)),
        None => Ok(()),
    }
}

/// Refuses an application, the `number`-th, that cannot be simulated.
fn check_app(machine: &Machine, admission: Admission, number: usize, app: &AppSpec) -> Result<(), String> {
    let name = &app.name;
    if !app.background && u64::from(app.tasks) > admission.tasks {
        return Err(format!(
            "application `{name}` has {} tasks; {} are admitted at once",
            app.tasks, admission.tasks
        ));
    }
    if !app.background && admission.order == StartOrder::Easy && app.estimate.is_none() {
        return Err(format!(
            "application `{name}` waits for backfilling without an estimate of its run time"
        ));
    }
    if let Some(before) = app.after
        && before.0 as usize >= number
    {
        return Err(format!("application `{name}` can only follow one that stands before it"));
    }
    if app.rank_scale.contains(&0) {
        return Err(format!("application `{name}` has a rank without work"));
    }
    if app.tasks == 0 {
        return Err(format!("application `{name}` has no tasks"));
    }
    if app.weight == 0 || app.rank_weights.contains(&0) {
        return Err(format!("application `{name}` has a weight of 0"));
    }
    if !app.rank_weights.is_empty() && app.rank_weights.len() != app.tasks as usize {
        return Err(format!("application `{name}` weighs {} of {} ranks", app.rank_weights.len(), app.tasks));
    }
    if !app.rank_scale.is_empty() && app.rank_scale.len() != app.tasks as usize {
        return Err(format!("application `{name}` scales {} of {} ranks", app.rank_scale.len(), app.tasks));
    }
    let narrow = |of: &Runtime| matches!(of.barrier, BarrierKind::Tree { arity } if arity < 2);
    if app.runtimes().any(narrow) {
        return Err(format!("application `{name}`: a tree barrier needs an arity of at least 2"));
    }
    let (own, used) = (app.own_runtimes.len(), app.program.own_runtimes());
    if own > MAX_OWN_RUNTIMES || usize::from(used) > own {
        return Err(format!(
            "application `{name}` has {own} runtimes of single operations, of at most {MAX_OWN_RUNTIMES}, \
             and uses number {used}"
        ));
    }
    let none = |cpus: &CpuSet| !cpus.iter().any(|cpu| cpu.0 < machine.cpus());
    if app.rebinds.iter().any(|(_, cpus)| none(cpus)) || app.rebinds.len() > usize::from(u16::MAX) {
        return Err(format!("application `{name}` changes to no cpu of the machine, or too often"));
    }
    if let Some(allowed) = &app.allowed
        && !allowed.iter().any(|cpu| cpu.0 < machine.cpus())
    {
        return Err(format!("application `{name}` is allowed on no cpu of the machine"));
    }
    Ok(())
}
