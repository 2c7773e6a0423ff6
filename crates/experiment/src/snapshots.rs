//! Snapshots of a run at regular instants, as `prstat` takes them: on which cpu each task is, how often on
//! its home node, how often on another cpu than the time before.

use scenario::plan::RunPlan;
use sim_core::ids::{AppId, CpuId, Id, NodeId, TaskId};
use sim_core::machine::Machine;
use sim_core::observe::{LeaveReason, Observation, Observer};
use sim_core::outcome::RunReport;
use sim_core::time::{Span, Time};

use crate::run::simulate_one;

/// The data of a task in the snapshots.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// Snapshots in which it was there.
    pub times: u64,
    /// Those in which it was on its home node: the one on which its process (the first task of its
    /// application) began.
    pub home: u64,
    /// Snapshots that have one before them.
    pub pairs: u64,
    /// Snapshots in which its cpu differs from that of the snapshot before.
    pub moved: u64,
}

impl Seen {
    /// Share of the snapshots on its home node, 0 to 1; none without a snapshot.
    #[must_use]
    pub fn home_share(&self) -> Option<f64> {
        (self.times > 0).then(|| self.home as f64 / self.times as f64)
    }

    /// Share of the snapshots in which its cpu had changed, 0 to 1; none without two of them.
    #[must_use]
    pub fn moved_share(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.moved as f64 / self.pairs as f64)
    }
}

/// A task now.
#[derive(Clone, Copy, Default)]
struct Task {
    app: usize,
    /// Where it runs or waits, or last ran; none before it is created and after it has ended.
    cpu: Option<CpuId>,
    before: Option<CpuId>,
    seen: Seen,
}

/// Takes snapshots. A task that waits in the queue of a cpu counts as on that cpu.
pub struct Snapshots<'a> {
    machine: &'a Machine,
    every: Span,
    next: Time,
    tasks: Vec<Task>,
    /// First task of each application.
    first: Vec<usize>,
    home: Vec<Option<NodeId>>,
}

impl<'a> Snapshots<'a> {
    /// One snapshot each `every` (at least 1 ns) of the tasks of these applications, given by their numbers
    /// of tasks.
    #[must_use]
    pub fn new(machine: &'a Machine, every: Span, apps: impl IntoIterator<Item = u32>) -> Self {
        let every = every.max(Span::from_ns(1));
        let (mut tasks, mut first) = (Vec::new(), Vec::new());
        for (app, count) in apps.into_iter().enumerate() {
            first.push(tasks.len());
            tasks.extend((0..count).map(|_| Task { app, ..Task::default() }));
        }
        let home = vec![None; first.len()];
        Self { machine, every, next: Time::ZERO + every, tasks, first, home }
    }

    /// What was seen of the tasks of an application, by rank.
    pub fn of(&self, app: AppId) -> impl Iterator<Item = Seen> {
        let tasks = self.first.get(app.index()).map_or(&[][..], |first| &self.tasks[*first..]);
        tasks.iter().take_while(move |task| task.app == app.index()).map(|task| task.seen)
    }

    fn take(&mut self) {
        for task in &mut self.tasks {
            let Some(cpu) = task.cpu else { continue };
            let seen = &mut task.seen;
            seen.times += 1;
            seen.home += u64::from(self.home[task.app] == Some(self.machine.node_of(cpu)));
            if let Some(before) = task.before.replace(cpu) {
                seen.pairs += 1;
                seen.moved += u64::from(before != cpu);
            }
        }
    }

    fn put(&mut self, task: TaskId, cpu: Option<CpuId>) {
        let Some(record) = self.tasks.get_mut(task.index()) else { return };
        record.cpu = cpu;
        if let Some(cpu) = cpu {
            self.home[record.app].get_or_insert(self.machine.node_of(cpu));
        } else {
            record.before = None;
        }
    }
}

impl Observer for Snapshots<'_> {
    fn observe(&mut self, at: Time, what: &Observation) {
        // Those up to now see what was true before this fact.
        while self.next < at {
            self.take();
            self.next += self.every;
        }
        match *what {
            Observation::Runnable { task, cpu } | Observation::Migrated { task, to: cpu, .. } => {
                self.put(task, Some(cpu));
            }
            Observation::Stopping { task, reason: LeaveReason::Exited, .. } => self.put(task, None),
            _ => {}
        }
    }
}

/// A run of an experiment with a snapshot each `every`; what was seen of each application's tasks, by rank,
/// in the order of the applications of the run.
///
/// # Errors
/// Why the simulator refuses the run.
pub fn watch(plan: &RunPlan, every: Span) -> Result<(RunReport, Vec<Vec<Seen>>), String> {
    let machine = plan.machine.clone();
    let mut snapshots = Snapshots::new(&machine, every, plan.apps.iter().map(|app| app.tasks));
    let report = simulate_one(plan, &mut snapshots)?;
    let apps = 0..plan.apps.len();
    let seen = apps.map(|app| snapshots.of(AppId(app as u32)).collect()).collect();
    Ok((report, seen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_snapshots() {
        let machine = machines::resolve("e25k").unwrap().machine();
        let second = Span::from_ns(1_000_000_000);
        let mut snapshots = Snapshots::new(&machine, second, [2, 1]);
        let at = |tenths: u64| Time::from_ns(tenths * 100_000_000);
        let runs = |task: u32, cpu: u32| Observation::Runnable { task: TaskId(task), cpu: CpuId(cpu) };
        snapshots.observe(at(0), &runs(0, 3));
        snapshots.observe(at(0), &runs(1, 9));
        snapshots.observe(at(5), &runs(2, 11));
        // Seen once where it began, never where it was for less than a second in between.
        let moved =
            |task: u32, to: u32| Observation::Migrated { task: TaskId(task), from: CpuId(0), to: CpuId(to) };
        snapshots.observe(at(11), &moved(0, 4));
        snapshots.observe(at(12), &moved(2, 100));
        snapshots.observe(at(13), &moved(2, 11));
        snapshots.observe(at(21), &moved(0, 50));
        let ends = Observation::Stopping { task: TaskId(0), cpu: CpuId(50), reason: LeaveReason::Exited };
        snapshots.observe(at(31), &ends);
        snapshots.observe(at(41), &runs(1, 9));
        let of = |app: u32| snapshots.of(AppId(app)).collect::<Vec<_>>();
        // Home is board 0, cpus 0 to 7, for both tasks of the first application.
        assert_eq!(of(0)[0], Seen { times: 3, home: 2, pairs: 2, moved: 2 });
        assert_eq!(of(0)[1], Seen { times: 4, home: 0, pairs: 3, moved: 0 });
        assert_eq!(of(1), [Seen { times: 4, home: 4, pairs: 3, moved: 0 }]);
        assert_eq!(of(0)[0].moved_share(), Some(1.0));
        assert_eq!(Seen::default().home_share(), None);
    }
}
