//! Start-up of an application: who creates its tasks, who touches the data, the barrier before the program.

use std::collections::BTreeMap;

use crate::engine::Engine;
use crate::engine::state::{After, Stage};
use crate::event::Timer;
use crate::ids::{AppId, CpuId, TaskId};
use crate::policy::{Enqueue, Placement, Policy, System, TaskState};
use crate::program::{Touch, release_order};
use crate::rng;
use crate::run_queue::{Entry, Rules};
use crate::time::{Span, Time};
use crate::wait::Scope;

/// Ten days, beyond every horizon.
const LONGEST_TOUCH: u128 = 864_000_000_000_000;
/// Bytes of a page.
const PAGE: u128 = 4_096;
/// Pages that a task touches between two points at which it may be preempted or moved: those of one page
/// table (2 MiB).
const PIECE: u64 = 512;
/// The most pieces in which a task touches its data.
const PIECES: u64 = 1_024;

/// Where the shell and launchers run.
const SHELL: CpuId = CpuId(0);

impl Engine<'_> {
    /// The next step of a task's start-up; false when it is over and the program may continue.
    pub(crate) fn starts_up(&mut self, cpu: CpuId, policy: &mut dyn Policy) -> bool {
        let id = self.cpus[cpu].current;
        let app = self.shared.tasks[id].app();
        let now = self.shared.elapsed();
        self.shared.apps[app].first_run.get_or_insert(now);
        let startup = self.shared.apps[app].runtime.startup;
        let rank = self.shared.apps[app].rank(id);
        if rank == 0 && startup.touch == Touch::Master && self.touches(cpu) {
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

    /// The current task begins to touch its data, and as a master every task's; false when that is done or
    /// takes no time.
    fn touches(&mut self, cpu: CpuId) -> bool {
        let id = self.cpus[cpu].current;
        if self.shared.tasks[id].home.node().is_some() {
            return false;
        }
        let pages = self.next_piece(id).1;
        let call = self.fault_time(id, pages);
        if call == Span::ZERO {
            self.touch(cpu);
            return false;
        }
        self.begin_syscall(cpu, call, After::Touch);
        true
    }

    /// Pages that a task has yet to touch, as a master every task's, and those of its next piece.
    fn next_piece(&self, id: TaskId) -> (u64, u64) {
        let app = &self.shared.apps[self.shared.tasks[id].app()];
        let tasks = if app.runtime.startup.touch == Touch::Master { app.tasks } else { 1 };
        let bytes = u128::from(app.program.first_touched()) * u128::from(tasks);
        let all = u64::try_from(bytes.div_ceil(PAGE)).unwrap_or(u64::MAX);
        let touched = app.touched.get(app.rank(id) as usize).map_or(0, |pages| pages.values().sum());
        let left = all.saturating_sub(touched);
        (left, left.min(PIECE.max(all.div_ceil(PIECES))))
    }

    /// The time in which a task touches its next pages: faults and clearing on its core, or longer
    /// when other threads of its process have the lock of the address space before it.
    fn fault_time(&mut self, id: TaskId, pages: u64) -> Span {
        let shared = &mut self.shared;
        let (costs, now) = (&shared.machine.costs, shared.now);
        let bandwidth = u128::from(shared.machine.memory.core_bandwidth.max(1));
        let clearing = u128::from(pages) * PAGE * 1_000_000_000 / bandwidth;
        let fault = |each: Span| Span::from_ns(each.ns().saturating_mul(pages));
        let own = fault(costs.page_fault).saturating_add(Span::from_ns(clearing.min(LONGEST_TOUCH) as u64));
        let app = &mut shared.apps[shared.tasks[id].app()];
        if costs.fault_lock == Span::ZERO || app.process < 2 || pages == 0 {
            return own;
        }
        let process = (app.rank(id) / app.process) as usize;
        if app.faults_until.len() <= process {
            app.faults_until.resize(process + 1, Time::ZERO);
        }
        let until = &mut app.faults_until[process];
        *until = (*until).max(now).saturating_add(fault(costs.fault_lock));
        own.max(until.since(now))
    }

    /// The current task has touched its next piece; the pages lie where it runs.
    pub(crate) fn touch_piece(&mut self, cpu: CpuId) {
        let id = self.cpus[cpu].current;
        let (left, pages) = self.next_piece(id);
        let node = self.shared.touched_node(cpu, id);
        let app = &mut self.shared.apps[self.shared.tasks[id].app()];
        let rank = app.rank(id) as usize;
        if app.touched.len() <= rank {
            app.touched.resize(rank + 1, BTreeMap::new());
        }
        *app.touched[rank].entry(node).or_insert(0) += pages;
        if left == pages {
            self.touch(cpu);
        }
    }

    /// The data of the current task, as a master every task's that no task has touched yet, lie where it ran
    /// while it touched them, or where it runs if that took no time.
    pub(crate) fn touch(&mut self, cpu: CpuId) {
        let id = self.cpus[cpu].current;
        let (app, node) = (self.shared.tasks[id].app(), self.shared.touched_pages(cpu, id));
        self.shared.settle_home(id, node);
        if self.shared.apps[app].runtime.startup.touch == Touch::Master {
            for rank in 0..self.shared.apps[app].tasks {
                let other = self.shared.apps[app].task(rank);
                self.shared.settle_home(other, node);
            }
        }
    }

    /// The current task creates the ranks that it has to before it continues with its program; true while it
    /// is busy with that.
    fn forks(&mut self, cpu: CpuId, creator: u32, policy: &mut dyn Policy) -> bool {
        let app = self.shared.tasks[self.cpus[cpu].current].app();
        while let Some(rank) = self.shared.apps[app].next_forked(creator) {
            let call = self.fork_cost(app, rank);
            if call > Span::ZERO {
                self.begin_syscall(cpu, call, After::Fork(rank));
                return true;
            }
            self.fork(cpu, app, rank, policy);
        }
        false
    }

    /// The launcher of an application begins to create its next rank, as kernel work of its cpu.
    pub(crate) fn launch(&mut self, app: AppId, policy: &mut dyn Policy) {
        while let Some(rank) = self.shared.apps[app].next_launched() {
            let call = self.fork_cost(app, rank);
            if call > Span::ZERO {
                System::charge(self, SHELL, call, false);
                self.arm_pending(self.shared.now + call, Timer::Create(app));
                return;
            }
            self.shared.apps[app].launched += 1;
            self.fork(SHELL, app, rank, policy);
        }
    }

    /// The launcher has created the next rank.
    pub(crate) fn create(&mut self, app: AppId, policy: &mut dyn Policy) {
        if let Some(rank) = self.shared.apps[app].next_launched() {
            self.shared.apps[app].launched += 1;
            self.fork(SHELL, app, rank, policy);
            self.notify(policy);
        }
        self.launch(app, policy);
    }

    /// All tasks of an application, which exist and sleep, are woken at this instant. Each is placed as one
    /// that is created where it slept.
    pub(crate) fn release(&mut self, app: AppId, policy: &mut dyn Policy) {
        let (seed, tasks, cpus) = (self.shared.options.seed, self.shared.apps[app].tasks, self.cpus.len());
        for (rank, slept) in release_order(seed, app, tasks) {
            let id = self.shared.apps[app].task(rank);
            let parent = self.shared.affinity(id).nth(slept.into(), cpus as u32);
            let cpu = self.placed(id, Placement::Fork { parent }, policy);
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

    /// What it costs to create the task of a rank.
    fn fork_cost(&self, app: AppId, rank: u32) -> Span {
        let costs = &self.shared.machine.costs;
        let draw = rng::draw(self.shared.apps[app].fork_noise, u64::from(rank));
        Span::from_ns(costs.fork_spread.apply(costs.fork.ns(), draw))
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
