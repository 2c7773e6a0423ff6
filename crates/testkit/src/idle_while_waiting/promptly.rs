//! What a kernel does at once: a woken task looks for an idle cpu, and a cpu that goes idle for a task to
//! take.

use std::ops::Range;

use sim_core::ids::{CpuId, Id, TaskId};
use sim_core::program::{AppSpec, Op};
use sim_core::time::{Span, Time};

use super::{Case, Cpus, Kernel};
use policies::DomainLevel;

/// A woken task that was put behind another one, although a cpu that its kernel looks at was idle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Late {
    /// When.
    pub at: Time,
    /// The task.
    pub task: TaskId,
    /// Where it was put.
    pub cpu: CpuId,
    /// A cpu in reach that was idle and that its mask allows.
    pub idle: CpuId,
}

/// What a woken task and a cpu that goes idle look at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    /// Cpus around the chosen one among which a woken task finds an idle one; 0: it does not look.
    wake: u32,
    /// It looks at fewer of them, the busier they have been.
    by_utilisation: bool,
    /// Cpus around one that goes idle, from which it takes a task in any case; 0: none.
    new_idle: u32,
}

/// `avg_idle` of 6.18 is at most twice `max_idle_balance_cost`, which begins as
/// `sysctl_sched_migration_cost`.
const MIGRATION_COST: Span = Span::from_us(500);
/// What a look on going idle costs per cpu of its level (the policy's default of `newidle_cost`).
const LOOK: Span = Span::from_us(100);
/// What it counts at most after looks that found nothing (`sched_balance_newidle` of 6.17 and 6.18.2).
const DEAREST: Span = Span::from_ns(500_200);
/// Averages over the queues have settled (PELT: half-life 32 ms).
const SETTLED: Span = Span::from_ms(300);

impl Reach {
    /// By kernel: 6.18 `select_idle_sibling` searches the cpus that share the target's cache, 2.6.18
    /// `wake_idle` the threads of the core, `sched_pickcpu` of FreeBSD all cpus. Solaris hands a thread to
    /// a cpu at home with a lower priority first; where ties fall at random, it looks for idle cpus
    /// anywhere.
    pub(super) fn of(case: &Case, levels: &[DomainLevel]) -> Self {
        let flagged = |flag: &str| {
            let having = levels.iter().filter(|level| level.flags.contains(&flag));
            having.map(|level| level.span).max().unwrap_or(0)
        };
        let Kernel { name, policy, setting, .. } = case.kernel;
        let wake = match policy {
            "ULE" => case.machine.cpus(),
            "LGROUP" if setting.is_some() => case.machine.cpus(),
            "LOAD" if name == "linux-6.18" => flagged("SHARE_LLC"),
            "LOAD" => flagged("WAKE_IDLE"),
            _ => 0,
        };
        let lowest = levels.first().filter(|level| name == "linux-6.18" && level.name == "MC");
        let by_utilisation = name == "linux-6.18";
        Self { wake, by_utilisation, new_idle: lowest.map_or(0, |level| level.span) }
    }
}

/// What is known of the cpus and tasks for these looks.
#[derive(Clone, Debug)]
pub(super) struct Prompt {
    reach: Reach,
    /// When each cpu went idle, and its `avg_idle`.
    idle: Vec<(Time, Span)>,
    /// When a task last came to each cpu or left it.
    changed: Vec<Time>,
    /// Whether a cpu has ever had a task.
    used: Vec<bool>,
    /// When each task last got a cpu or left one; never for tasks that poll or sleep, of which that is not
    /// known.
    ran: Vec<Time>,
}

fn around(cpu: CpuId, span: u32, cpus: usize) -> Range<usize> {
    let start = (cpu.0 / span * span) as usize;
    start..(start + span as usize).min(cpus)
}

impl Prompt {
    pub(super) fn new(reach: Reach, cpus: usize, apps: &[AppSpec]) -> Self {
        let idle = vec![(Time::ZERO, MIGRATION_COST * 2); cpus];
        let waits = |app: &AppSpec| app.program.ops().contains(&Op::End);
        let ran = |app: &AppSpec| if waits(app) { Time::NEVER } else { Time::ZERO };
        let ran = apps.iter().flat_map(|app| vec![ran(app); app.tasks as usize]).collect();
        Self { reach, idle, changed: vec![Time::ZERO; cpus], used: vec![false; cpus], ran }
    }

    pub(super) fn ran(&mut self, task: TaskId, at: Time) {
        let ran = &mut self.ran[task.index()];
        *ran = if *ran == Time::NEVER { *ran } else { at };
    }

    /// A task has left a cpu or comes to it, where so many are left or come.
    pub(super) fn changed(&mut self, at: Time, cpu: CpuId, before: usize, after: usize) {
        let (since, average) = &mut self.idle[cpu.index()];
        if before == 0 && after > 0 {
            let (span, mean) = ((at - *since).ns(), average.ns());
            *average = Span::from_ns(mean - mean / 8 + span / 8).min(MIGRATION_COST * 2);
        } else if before > 0 && after == 0 {
            *since = at;
        }
        self.changed[cpu.index()] = at;
        self.used[cpu.index()] |= after > 0;
    }

    /// The least number of cpus at which a woken task looks (`update_idle_cpu_scan` of 6.0 and later): as if
    /// those that ever had a task had always been busy at the last periodic balancing.
    fn looked_at(&self, reach: Range<usize>) -> usize {
        let cpus = reach.len() as u64;
        if !self.reach.by_utilisation {
            return reach.len();
        }
        let busy = 1_024 * self.used[reach].iter().filter(|used| **used).count() as u64 / cpus;
        let left = 1_024 - (busy * busy * 117 * 117 / (10_000 * 1_024)).min(1_024);
        (left * cpus / 1_024) as usize
    }

    /// A woken task goes to `cpu`: an idle one that it has overlooked.
    pub(super) fn overlooked(&self, tasks: &[Vec<TaskId>], mask: Cpus, cpu: CpuId) -> Option<CpuId> {
        if self.reach.wake == 0 || tasks[cpu.index()].is_empty() {
            return None;
        }
        // It was the target, after which the search begins.
        let reach = around(cpu, self.reach.wake, tasks.len());
        let order = (cpu.index() + 1..reach.end).chain(reach.start..cpu.index());
        let mut seen = order.filter(|other| mask >> other & 1 == 1).take(self.looked_at(reach));
        seen.find(|other| tasks[*other].is_empty()).map(CpuId::new)
    }

    /// A cpu that goes idle at this instant takes a task for sure: a queue beside it has tasks to give that
    /// may all come, that are cold, and it is idle for long enough on average.
    pub(super) fn takes(&self, at: Time, tasks: &[Vec<TaskId>], masks: &[Cpus], cpu: CpuId) -> bool {
        let (since, average) = self.idle[cpu.index()];
        let span = self.reach.new_idle;
        if span == 0 || since != at || at == Time::ZERO || average < (LOOK * u64::from(span)).max(DEAREST) {
            return false;
        }
        let crowded = || around(cpu, span, tasks.len()).filter(|other| tasks[*other].len() > 1);
        let cold = |task: &TaskId| at.since(self.ran[task.index()]) > MIGRATION_COST;
        let may = |task: &TaskId| masks[task.index()] >> cpu.0 & 1 == 1;
        crowded().count() > 0
            && crowded().all(|other| {
                let queue = &tasks[other];
                let waits = queue.iter().filter(|task| cold(task)).count() + 1 >= queue.len();
                at - self.changed[other] > SETTLED && queue.iter().all(may) && waits
            })
    }
}
