//! How many tasks can keep the cpus busy when tasks are blocked for a part of their time.

use std::collections::{BTreeMap, BTreeSet};

use scenario::plan::RunPlan;
use sim_core::program::{AppSpec, Op};

/// Where a task is while it needs no cpu, and how many can be there at once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Station {
    /// A device, with its servers.
    Device(u32, u32),
    /// A lock that it holds.
    Lock(u32),
}

/// With how many tasks an application can keep so many cpus busy, and how many of them can have work at once.
///
/// The utilisation law: cpus can use cpus / (1 - b) tasks that are blocked for a share b of their time, apart
/// from each other. A device or a lock that is busy all the time before that limits it: the asymptotic bound
/// is the time of a pass without waiting for each other, over the largest time for which it needs one server
/// of the cpus, of a device, or of a lock (Denning and Buzen, The Operational Analysis of Queueing Network
/// Models, ACM Computing Surveys 10, 3, 1978). Waits for other tasks count as no time: more tasks do not
/// shorten them. Work counts at nominal speed. An application that takes jobs of a pool, or that never
/// computes, can use the cpus.
pub(super) fn useful(plan: &RunPlan, app: &str, cpus: u32) -> (f64, u32) {
    let none = (f64::from(cpus), u32::MAX);
    // Copies are numbered.
    let named = |spec: &&AppSpec| spec.name.strip_prefix(app).is_some_and(|rest| matches!(rest, "" | "-1"));
    plan.apps.iter().find(named).and_then(|spec| of(plan, spec, cpus)).unwrap_or(none)
}

/// The same of one application; none where the law says nothing.
fn of(plan: &RunPlan, spec: &AppSpec, cpus: u32) -> Option<(f64, u32)> {
    let ops = spec.program.ops();
    let tasks = f64::from(spec.tasks.max(1));
    let times = reached(spec);
    let (mut busy, mut blocked, mut shared) = (0.0, 0.0, None);
    let mut stations: BTreeMap<Station, f64> = BTreeMap::new();
    let mut held: BTreeSet<u32> = BTreeSet::new();
    for (at, (op, times)) in ops.iter().zip(&times).enumerate() {
        let (mut cpu, mut wait) = (0.0, 0.0);
        match op {
            Op::Compute { work, .. } => cpu = work.floor_ns() as f64 * times,
            Op::Serial { work, .. } => cpu = work.floor_ns() as f64 * times / tasks,
            Op::Sleep { span, .. } => wait = span.ns() as f64 * times,
            Op::Io { device, span, .. } => {
                wait = span.ns() as f64 * times;
                let servers = plan.objects.devices.get(device.0 as usize).map_or(1, |known| known.servers);
                *stations.entry(Station::Device(device.0, servers.max(1))).or_default() += wait;
            }
            Op::Lock(lock) => drop(held.insert(lock.0)),
            Op::Unlock(lock) => drop(held.remove(&lock.0)),
            Op::Work(_) => return None,
            _ => {}
        }
        for lock in &held {
            *stations.entry(Station::Lock(*lock)).or_default() += cpu + wait;
        }
        if wait > 0.0 {
            shared = shared.max(shared_by(spec, at));
        }
        (busy, blocked) = (busy + cpu, blocked + wait);
    }
    if busy <= 0.0 {
        return None;
    }
    let each = stations.into_iter().map(|(station, time)| match station {
        Station::Device(_, servers) => time / f64::from(servers),
        Station::Lock(_) => time,
    });
    let narrowest = each.fold(busy / f64::from(cpus.max(1)), f64::max);
    Some(((busy + blocked) / narrowest, shared.unwrap_or(u32::MAX)))
}

/// How often a task comes to each operation of its program on average, in passes of a program or of its
/// endless loop.
fn reached(spec: &AppSpec) -> Vec<f64> {
    let ops = spec.program.ops();
    let mut times = vec![0.0; ops.len() + 1];
    if let Some(first) = times.first_mut() {
        *first = 1.0;
    }
    for (at, op) in ops.iter().enumerate() {
        let here = times.get(at).copied().unwrap_or(0.0);
        let (next, jump) = match op {
            // Without end: as often as the longest loop that ends.
            Op::Repeat(0) => (here * f64::from(u32::MAX), None),
            Op::Repeat(count) => (here * f64::from(*count), None),
            Op::RepeatShared(count) => (here * f64::from(*count) / f64::from(spec.tasks.max(1)), None),
            Op::End => (times.get(spec.program.partner(at as u32) as usize).copied().unwrap_or(0.0), None),
            Op::Branch { share, to } => {
                let share = f64::from(*share) / 4_294_967_296.0;
                (here * (1.0 - share), Some((*to, here * share)))
            }
            Op::Jump(to) => (0.0, Some((*to, here))),
            _ => (here, None),
        };
        if let Some(after) = times.get_mut(at + 1) {
            *after += next;
        }
        if let Some((to, share)) = jump
            && let Some(there) = times.get_mut(usize::from(to))
        {
            *there += share;
        }
    }
    times.truncate(ops.len());
    times
}

/// How many passes all tasks together take of the shared loops around an operation, if there are any: more
/// tasks have nothing to do.
fn shared_by(spec: &AppSpec, at: usize) -> Option<u32> {
    let around = |(begin, op): (usize, &Op)| match op {
        Op::RepeatShared(count) if at < spec.program.partner(begin as u32) as usize => Some(*count),
        _ => None,
    };
    spec.program.ops().iter().enumerate().take(at).filter_map(around).max()
}

#[cfg(test)]
mod tests {
    use experiment::PolicyRegistry;
    use scenario::{Overrides, load_with};

    use super::*;

    /// With how many tasks an application keeps four cpus busy, and how many can have work.
    fn on_four(app: &str) -> (f64, u32) {
        let text = format!(
            "name: x\nmachine: {{ \"core:4\": {{ work_unit: own }} }}\nkernel: linux-6.18\napps:\n  a: \
             {app}\npolicies: [LOAD]\n"
        );
        let found = load_with(&PolicyRegistry::default(), "x.yaml", &text, &Overrides::default()).unwrap();
        let plan = found.runs.iter().find(|plan| plan.alone.is_none()).unwrap();
        let (tasks, most) = useful(plan, "a", 4);
        ((tasks * 100.0).round() / 100.0, most)
    }

    #[test]
    fn tasks_that_compute_all_the_time_can_use_the_cpus() {
        assert_eq!(on_four("{ workload: { spmd: { work: 1s, intervals: 20 } }, tasks: 3 }"), (4.0, u32::MAX));
        assert_eq!(on_four("{ workload: { pool: { work: 1s } }, tasks: 3 }"), (4.0, u32::MAX));
        assert_eq!(
            on_four("{ workload: { make: { compute: 40ms, io: 0s, jobs: 9 } }, tasks: 3 }"),
            (4.0, u32::MAX)
        );
    }

    #[test]
    fn tasks_that_are_blocked_half_of_their_time_can_use_twice_the_cpus() {
        // Four waits of 10 ms beside 40 ms of work; nine jobs are nine processes at most.
        let make = "{ workload: { make: { compute: 40ms, io: 10ms, jobs: 9 } }, tasks: 3 }";
        assert_eq!(on_four(make), (8.0, 9));
        assert_eq!(
            on_four("{ program: { count: 2, code: 'repeat 10 { run 1ms; sleep 3ms }' } }"),
            (16.0, u32::MAX)
        );
    }

    #[test]
    fn a_device_or_a_lock_that_all_need_limits_them() {
        let disk =
            "{ program: { count: 2, devices: { disk: 2 }, code: 'repeat 9 { run 1ms; io disk 5ms }' } }";
        assert!((on_four(disk).0 - 2.4).abs() < 1e-9);
        let lock =
            "{ program: { count: 2, code: 'repeat 9 { sleep 4ms; run 2ms; lock l; run 2ms; unlock l }' } }";
        assert!((on_four(lock).0 - 4.0).abs() < 1e-9);
        // Half of the passes sleep.
        let some = "{ program: { count: 2, code: 'repeat 9 { run 1ms; choose { 50% { sleep 2ms } } }' } }";
        assert!((on_four(some).0 - 8.0).abs() < 1e-9);
    }
}
