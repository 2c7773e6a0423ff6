//! The traffic that no engine can avoid: per event one record of a cpu, one of a task and one update of the
//! tree, two events per step.

use super::{Grain, Sum, Tree, noise};
use crate::job::Job;

/// A cpu. One cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Cpu {
    /// Which of its tasks is next.
    turn: u32,
    computes: bool,
    busy: u64,
}

/// A task. One cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Task {
    noise: u64,
    draws: u32,
    left: u32,
    since: u64,
    busy: u64,
}

/// The job: the tasks of a cpu compute one after the other, and all meet. Nobody schedules, waiting is free.
#[derive(Clone)]
pub struct Traffic {
    grain: Grain,
    per_cpu: u32,
    /// Nanoseconds between a computation and the next on a cpu.
    gap: u64,
    cpus: Vec<Cpu>,
    tasks: Vec<Task>,
}

impl Traffic {
    /// The job, ready to go; `gap`: nanoseconds between a computation and the next on the same cpu.
    #[must_use]
    pub fn new(job: &Job, seed: u64, gap: u64) -> Self {
        let count = job.cpus * job.tasks_per_cpu;
        let task = |id| Task { noise: noise(seed, id), draws: 0, left: job.intervals, since: 0, busy: 0 };
        Self {
            grain: Grain::of(job),
            per_cpu: job.tasks_per_cpu,
            gap,
            cpus: vec![Cpu { turn: 0, computes: false, busy: 0 }; job.cpus as usize],
            tasks: (0..count).map(task).collect(),
        }
    }

    /// Runs to the end.
    #[must_use]
    pub fn run(mut self) -> Sum {
        let (mut sum, mut arrived, count) = (Sum::NONE, 0, self.cpus.len() as u32);
        let mut tree = Tree::new(count);
        (0..count).for_each(|cpu| tree.arm(cpu, 0));
        while let Some((now, cpu)) = tree.first() {
            sum.events += 1;
            let record = &mut self.cpus[cpu as usize];
            let task = &mut self.tasks[(record.turn * count + cpu) as usize];
            if !std::mem::replace(&mut record.computes, true) {
                task.draws += 1;
                task.since = now;
                tree.arm(cpu, now + self.grain.length(task.noise, task.draws));
                continue;
            }
            record.computes = false;
            record.turn += 1;
            record.busy += now - task.since;
            task.busy += now - task.since;
            task.left -= 1;
            let more = task.left > 0;
            arrived += 1;
            sum.step(now, cpu);
            sum.end = now;
            if record.turn < self.per_cpu {
                tree.arm(cpu, now + self.gap);
            } else {
                record.turn = 0;
                tree.disarm(cpu);
            }
            if arrived == self.tasks.len() {
                arrived = 0;
                if more {
                    (0..count).for_each(|cpu| tree.arm(cpu, now + self.gap));
                }
            }
        }
        assert_eq!(
            self.cpus.iter().map(|cpu| cpu.busy).sum::<u64>(),
            self.tasks.iter().map(|task| task.busy).sum::<u64>(),
            "cpus and tasks count the same time"
        );
        sum
    }
}
