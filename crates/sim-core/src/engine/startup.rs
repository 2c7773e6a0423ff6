//! Start-up of an application: who creates its tasks, who touches the data, the barrier before the program.

use crate::engine::Engine;
use crate::engine::state::{OnReturn, Stage};
use crate::event::Timer;
use crate::ids::{AppId, CpuId};
use crate::policy::{Enqueue, Placement, Policy, System, TaskState};
use crate::program::{Forks, Touch, release_order};
use crate::run_queue::{Entry, Rules};
use crate::time::Span;
use crate::wait::Scope;

impl Engine<'_> {
    /// The next step of a task's start-up; false when it is over and the program may continue.
    pub(crate) fn starts_up(&mut self, cpu: CpuId, policy: &mut dyn Policy) -> bool {
        let id = self.cpus[cpu].current;
        let app = self.shared.tasks[id].app();
        let now = self.shared.elapsed();
        self.shared.apps[app].first_run.get_or_insert(now);
        let startup = self.shared.apps[app].runtime.startup;
        let rank = self.shared.apps[app].rank(id);
        let first = rank.is_multiple_of(self.shared.apps[app].process);
        if first && startup.touch == Touch::Master && self.touches(cpu) {
            return true;
        }
        let record = &self.shared.apps[app];
        let leads = rank.is_multiple_of(record.team) && record.has_leaders_barrier();
        if leads && self.shared.tasks[id].stage == Stage::New {
            self.meets_at_start(cpu, Stage::LeadersBarrier, Scope::Leaders);
            return true;
        }
        if self.forks(cpu, rank, policy) {
            return true;
        }
        if startup.touch == Touch::Each && self.touches(cpu) {
            return true;
        }
        if let Some(scope) = self.shared.apps[app].start_barrier() {
            self.meets_at_start(cpu, Stage::StartBarrier, scope);
            return true;
        }
        self.shared.tasks[id].stage = Stage::Program;
        false
    }

    /// The current task arrives at a barrier before the program.
    fn meets_at_start(&mut self, cpu: CpuId, stage: Stage, scope: Scope) {
        let task = &mut self.shared.tasks[self.cpus[cpu].current];
        task.stage = stage;
        task.enters(scope);
        self.arrive(cpu);
    }

    /// The current task begins to touch its data, and as a master those of its process; false when that is
    /// done or takes no time.
    fn touches(&mut self, cpu: CpuId) -> bool {
        let id = self.cpus[cpu].current;
        if self.shared.tasks[id].home.node().is_some() {
            return false;
        }
        let app = &mut self.shared.apps[self.shared.tasks[id].app()];
        let call = app.fault_time(app.rank(id), &self.shared.machine, self.shared.now);
        if call == Span::ZERO {
            self.shared.touch(cpu, id);
            return false;
        }
        self.shared.begin_syscall(&mut self.cpus[cpu], call, OnReturn::Touch);
        true
    }

    /// The current task creates the ranks that it has to before it continues with its program; true while it
    /// is busy with that.
    fn forks(&mut self, cpu: CpuId, creator: u32, policy: &mut dyn Policy) -> bool {
        let app = self.shared.tasks[self.cpus[cpu].current].app();
        while let Some(rank) = self.shared.apps[app].next_forked(creator) {
            let call = self.shared.apps[app].fork_cost(&self.shared.machine.costs, rank);
            if call > Span::ZERO {
                self.shared.begin_syscall(&mut self.cpus[cpu], call, OnReturn::Fork(rank));
                return true;
            }
            self.fork(cpu, app, rank, policy);
        }
        false
    }

    /// The launcher of an application begins to create its next rank, as kernel work of its cpu.
    pub(crate) fn launch(&mut self, app: AppId, policy: &mut dyn Policy) {
        while let Some(rank) = self.shared.apps[app].next_launched() {
            let call = self.shared.apps[app].fork_cost(&self.shared.machine.costs, rank);
            if call > Span::ZERO {
                System::charge(self, self.shared.apps[app].shell, call, false);
                self.timers.arm(self.shared.now + call, Timer::Create(app));
                return;
            }
            self.shared.apps[app].launched += 1;
            self.fork(self.shared.apps[app].shell, app, rank, policy);
        }
    }

    /// The launcher has created the next rank.
    pub(crate) fn create(&mut self, app: AppId, policy: &mut dyn Policy) {
        if let Some(rank) = self.shared.apps[app].next_launched() {
            self.shared.apps[app].launched += 1;
            self.fork(self.shared.apps[app].shell, app, rank, policy);
            self.notify(policy);
        }
        self.launch(app, policy);
    }

    /// All tasks of an application, which exist and sleep, are woken at this instant. Each is placed as one
    /// that is created where it slept, or as one that wakes there.
    pub(crate) fn release(&mut self, app: AppId, policy: &mut dyn Policy) {
        let (seed, tasks, cpus) = (self.shared.options.seed, self.shared.apps[app].tasks, self.cpus.len());
        for (rank, slept) in release_order(seed, app, tasks) {
            let id = self.shared.apps[app].task(rank);
            let placement = match self.shared.apps[app].runtime.startup.forks {
                Forks::Woken(cpu) => Placement::Wake { waker: cpu, previous: cpu },
                _ => Placement::Fork { parent: self.shared.affinity(id).nth(slept.into(), cpus as u32) },
            };
            let cpu = self.placed(id, placement, policy);
            self.shared.apps[app].forked += 1;
            self.catch_up(cpu);
            let (discipline, now) = (&self.shared.model.discipline, self.shared.now);
            // It has slept for long: virtual time that it was charged when it was created is over. Levels of
            // priority are kept.
            if discipline.levels().is_some() {
                discipline.place(&mut self.shared.tasks, &mut self.cpus[cpu], id, Entry::Fork, now);
            }
            self.policy_enqueue(id, cpu, Enqueue::Created, policy);
            self.enqueue(id, cpu, Entry::Wake, None);
        }
        self.complete_apps.push(app);
    }

    /// Creates the task of a rank.
    pub(crate) fn fork(&mut self, parent: CpuId, app: AppId, rank: u32, policy: &mut dyn Policy) {
        let id = self.shared.apps[app].task(rank);
        let state = self.shared.tasks[id].state;
        assert!(state == TaskState::New, "{id} is created on {parent} and is {state:?}");
        let cpu = self.placed(id, Placement::Fork { parent }, policy);
        let record = &mut self.shared.apps[app];
        record.forked += 1;
        if let Some(creator) = record.creator(rank) {
            if let Some(created) = record.team_forked.get_mut((rank / record.team) as usize) {
                *created += 1;
            }
            let master = record.task(creator);
            if self.shared.model.discipline.levels().is_some() {
                self.shared.tasks[id].history.parent = master;
                // Parent and child share a slice or a history: it has to be up to date.
                self.catch_up(parent);
            }
        }
        self.policy_enqueue(id, cpu, Enqueue::Created, policy);
        self.enqueue(id, cpu, Entry::Fork, Some(parent));
        if self.shared.apps[app].forked == self.shared.apps[app].tasks {
            self.complete_apps.push(app);
        }
    }
}
