//! The periodic tasks of a run: what its programs state.

use policies::Priorities;
use scenario::plan::RunPlan;
use serde::Serialize;
use sim_core::machine::{CpuSet, Level};
use sim_core::program::{AppSpec, Op, Program, Reservation, Spread};
use sim_core::time::{Span, Speed, WORK_FRACTION_BITS, Work};

use super::theory::{self, Periodic};

/// What orders the tasks of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The earliest deadline first.
    Deadline,
    /// Fixed priorities.
    Fixed,
    /// Something about whose response times this analysis says nothing.
    Unknown,
}

/// A periodic task.
#[derive(Clone, PartialEq, Debug)]
pub struct Task {
    /// Its application.
    pub app: String,
    /// How many such tasks it has.
    pub tasks: u32,
    /// Its times and its priority.
    pub times: Periodic,
    /// The one cpu that it may use.
    pub cpu: Option<u32>,
}

/// An application that is no set of periodic tasks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub app: String,
    /// Why, a sentence without a full stop.
    pub why: &'static str,
}

/// What orders the tasks of a run, its periodic tasks, and the other applications.
pub(super) fn of(plan: &RunPlan) -> (Order, Vec<Task>, Vec<LeftOut>) {
    let (mut tasks, mut left_out) = (Vec::new(), Vec::new());
    let order = policies::priorities(&plan.policy_choice, &plan.apps);
    let (mut fixed, mut reserved) = (true, true);
    for (number, app) in plan.apps.iter().enumerate() {
        match times(app) {
            Ok((work, period)) => {
                let class = app.scheduling.priority().filter(|_| app.rank_scheduling.is_empty());
                let priority = match &order {
                    Some(Priorities::Fixed(keys)) => keys.get(number).copied().unwrap_or(i64::MAX),
                    Some(Priorities::Deadlines(_)) => 0,
                    // Of real-time classes the largest number is the best.
                    None => class.map_or(i64::MAX, |priority| -i64::from(priority)),
                };
                fixed &= order.is_some() || class.is_some();
                reserved &= order.is_none() && (0..app.tasks).all(|rank| holds(app, rank, work, period));
                let deadline = app.deadline.map_or(period, Span::ns);
                let times = Periodic { work, period, deadline, priority };
                let mut cpus = app.allowed.iter().flat_map(CpuSet::iter);
                let cpu = cpus.next().filter(|_| cpus.next().is_none()).map(|cpu| cpu.0);
                tasks.push(Task { app: app.name.clone(), tasks: app.tasks, times, cpu });
            }
            Err(why) => left_out.push(LeftOut { app: app.name.clone(), why }),
        }
    }
    let order = match order {
        Some(Priorities::Deadlines(_)) => Order::Deadline,
        Some(Priorities::Fixed(_)) => Order::Fixed,
        None if fixed && !tasks.is_empty() => Order::Fixed,
        None if reserved && !tasks.is_empty() => Order::Deadline,
        None => Order::Unknown,
    };
    (order, tasks, left_out)
}

/// The task of a rank is of SCHED_DEADLINE, and each of its jobs begins a period of its server and fits into
/// it, so that the deadlines are those of the jobs.
fn holds(app: &AppSpec, rank: u32, work: u64, period: u64) -> bool {
    let due = app.deadline.map_or(period, Span::ns);
    let fits = |of: Reservation| {
        work <= of.runtime.ns() && of.period.ns() == period && of.deadline.ns() == due.min(period)
    };
    app.scheduling_of(rank).reservation().is_some_and(fits)
}

/// Why theory does not hold for the tasks of a run; nothing where it does.
pub(super) fn silent(plan: &RunPlan, order: Order, tasks: &[Task], left_out: &[LeftOut]) -> Vec<String> {
    let mut why = Vec::new();
    if order == Order::Unknown || tasks.is_empty() {
        return why;
    }
    let policy = policies::priorities(&plan.policy_choice, &plan.apps);
    // Tasks of lower classes never delay those of a real-time class.
    let above = |app: &&AppSpec| {
        left_out.iter().any(|left| left.app == app.name) && (policy.is_some() || app.is_real_time())
    };
    if let Some(app) = plan.apps.iter().find(above) {
        why.push(format!("`{}` is no set of periodic tasks and may run before them", app.name));
    }
    if let Some(Priorities::Deadlines(budget)) = policy {
        if let Some(task) = tasks.iter().find(|task| task.times.work >= budget) {
            why.push(format!("a job of `{}` uses the whole `budget`, and its deadline moves then", task.app));
        }
        if let Some(task) = tasks.iter().find(|task| task.times.deadline > task.times.period) {
            why.push(format!(
                "the deadline of `{}` is beyond its period, and EDF keeps one deadline",
                task.app
            ));
        }
        if plan.apps.iter().any(AppSpec::is_real_time) {
            why.push("tasks of a real-time class do not follow the policy".into());
        }
    }
    if plan.apps.iter().any(|app| app.group.is_some()) {
        why.push("task groups share the cpu by other rules".into());
    }
    let limit = plan.kernel.real_time.filter(|rules| rules.runtime < rules.period);
    if let Some(rules) = limit.filter(|_| policy.is_none()) {
        let share = rules.runtime.ns() as f64 / rules.period.ns() as f64;
        if utilisation(tasks) > share {
            why.push(format!("the kernel stops real-time tasks at {:.0} % of a cpu", 100.0 * share));
        }
    }
    let machine = &plan.machine;
    let even = machine.core_speed.iter().all(|speed| *speed == Speed::NOMINAL);
    if !even || machine.turbo.len() > 1 || machine.cpus() > machine.topology.count(Level::Core) {
        why.push("cpus of this machine are not always of the nominal speed".into());
    }
    why
}

fn utilisation(tasks: &[Task]) -> f64 {
    let share = |task: &Task| f64::from(task.tasks) * theory::utilisation(&[task.times]);
    tasks.iter().map(share).sum()
}

/// The work of a job at most and the period, ns.
fn times(app: &AppSpec) -> Result<(u64, u64), &'static str> {
    let (ops, program) = (app.program.ops(), &app.program);
    let mut clocks = ops.iter().enumerate().filter(|(_, op)| matches!(op, Op::Until { .. }));
    let Some((at, Op::Until { period, .. })) = clocks.next() else {
        return Err("its program has no clock (`until`)");
    };
    if clocks.next().is_some() {
        return Err("its program waits for more than one instant");
    }
    let inside = |start: usize| at > start && at < program.partner(start as u32) as usize;
    let mut around =
        ops.iter().enumerate().filter(|(start, op)| matches!(op, Op::Repeat(_)) && inside(*start));
    let Some((start, _)) = around.next() else {
        return Err("its clock is in no loop");
    };
    if around.next().is_some() {
        return Err("its clock is in a loop within a loop");
    }
    let end = program.partner(start as u32) as usize;
    let jumps = |op: &Op| {
        let to = match op {
            Op::Branch { to, .. } | Op::Jump(to) | Op::Lead(to) | Op::Apart { to, .. } => usize::from(*to),
            _ => 0,
        };
        to > at
    };
    if ops[start + 1..at].iter().any(jumps) {
        return Err("not every pass of its loop waits for its clock");
    }
    let outside = |op: &Op| {
        !matches!(
            op,
            Op::StartClock | Op::Set(_) | Op::Done | Op::Post { .. } | Op::Compute { work: Work::ZERO, .. }
        )
    };
    if ops[..start].iter().chain(&ops[end + 1..]).any(outside) {
        return Err("it does more than its periodic jobs");
    }
    let work = most(program, start + 1, end)?;
    let scale = u128::from(app.rank_scale.iter().copied().max().unwrap_or(1_000));
    let ns = (work * scale / 1_000) >> WORK_FRACTION_BITS;
    match u64::try_from(ns) {
        Ok(0) => Err("its jobs have no work"),
        Ok(work) => Ok((work, period.ns())),
        Err(_) => Err("its jobs have more work than can be added up"),
    }
}

/// The most work on a way through these operations, in raw units.
fn most(program: &Program, from: usize, to: usize) -> Result<u128, &'static str> {
    // On the way to each operation; none where none leads.
    let mut ways: Vec<Option<u128>> = vec![None; to + 1 - from];
    ways[0] = Some(0);
    let mut at = from;
    while at < to {
        let Some(before) = ways[at - from] else {
            at += 1;
            continue;
        };
        let mut reach = |next: usize, work: u128| {
            let way = &mut ways[next - from];
            *way = Some(way.map_or(work, |known| known.max(work)));
        };
        match program.ops()[at] {
            Op::Compute { work, spread, .. } => {
                let longest = longest(program, work.raw(), spread).ok_or("its work has no upper bound")?;
                reach(at + 1, before + longest);
            }
            Op::Branch { to: other, .. } | Op::Lead(other) | Op::Apart { to: other, .. } => {
                reach(usize::from(other), before);
                reach(at + 1, before);
            }
            Op::Jump(other) => reach(usize::from(other), before),
            Op::Repeat(0) => return Err("it has a loop without end within a job"),
            Op::Repeat(times) => {
                let end = program.partner(at as u32) as usize;
                let body = most(program, at + 1, end)?;
                reach(end + 1, before + body * u128::from(times));
                // What is inside has been counted.
                at = end;
            }
            Op::Until { .. } | Op::Done | Op::StartClock | Op::Set(_) | Op::Post { .. } => {
                reach(at + 1, before);
            }
            Op::Lock(_) | Op::Unlock(_) => {
                return Err("its jobs wait for locks, which this analysis does not count");
            }
            _ => return Err("its jobs sleep or wait for other tasks"),
        }
        at += 1;
    }
    Ok(ways[to - from].unwrap_or(0))
}

/// The longest work that an operation can draw; none when it has no sensible bound.
fn longest(program: &Program, mean: u64, spread: Spread) -> Option<u128> {
    (spread != Spread::EXPONENTIAL).then(|| u128::from(program.vary(mean, spread, u32::MAX)))
}
