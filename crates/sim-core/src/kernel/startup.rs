//! How the tasks of an application come up: who creates whom, who touches the data, the barrier before the program.

use crate::event::Timer;
use crate::ids::{AppId, CpuId, TaskId};
use crate::kernel::Kernel;
use crate::kernel::state::{After, Lead, Stage};
use crate::observe::Observer;
use crate::policy::{Placement, Policy, System};
use crate::program::{Forks, Touch};
use crate::rng;
use crate::run_queue::Entry;
use crate::time::Span;

/// Where the shell and launchers run.
const SHELL: CpuId = CpuId(0);

impl<O: Observer> Kernel<'_, O> {
    /// The next step of a task's start-up; false when it is over and the program may go on.
    pub(crate) fn starts_up(&mut self, cpu: CpuId, lead: Lead, policy: &mut dyn Policy) -> bool {
        let id = self.cpus[cpu].current;
        let app = self.tasks[id].app;
        let startup = self.apps[app].runtime.startup;
        if self.tasks[id].rank == 0 {
            if startup.touch == Touch::Master && self.tasks[id].home.is_none() {
                self.touch_all(cpu, app);
            }
            if startup.forks == Forks::Master && self.forks(cpu, app, lead, policy) {
                return true;
            }
        }
        if startup.touch == Touch::Each {
            let node = self.memory.node(cpu);
            self.tasks[id].home.get_or_insert(node);
        }
        if startup.barrier {
            self.tasks[id].stage = Stage::Meeting;
            self.arrive(cpu, lead);
            return true;
        }
        self.tasks[id].stage = Stage::Program;
        false
    }

    /// Everybody's data that nobody has touched yet lie where rank 0 runs.
    fn touch_all(&mut self, cpu: CpuId, app: AppId) {
        let node = self.memory.node(cpu);
        for rank in 0..self.apps[app].tasks {
            let id: TaskId = self.apps[app].task(rank);
            self.tasks[id].home.get_or_insert(node);
        }
    }

    /// Rank 0 creates the other ranks before it goes on with its program; true while it is busy with that.
    fn forks(&mut self, cpu: CpuId, app: AppId, lead: Lead, policy: &mut dyn Policy) -> bool {
        while self.apps[app].forked < self.apps[app].tasks {
            let rank = self.apps[app].forked;
            let call = self.fork_cost(app, rank);
            if call > Span::ZERO {
                self.begin_syscall(cpu, call, After::Fork(rank), lead);
                return true;
            }
            self.fork(cpu, app, rank, policy);
        }
        false
    }

    /// The launcher of an application begins to create its next rank, as kernel work of its cpu.
    pub(crate) fn launch(&mut self, app: AppId, policy: &mut dyn Policy) {
        while self.apps[app].forked < self.apps[app].tasks {
            let rank = self.apps[app].forked;
            let call = self.fork_cost(app, rank);
            if call > Span::ZERO {
                System::charge(self, SHELL, call, false);
                self.arm_pending(self.now + call, Timer::Create(app));
                return;
            }
            self.fork(SHELL, app, rank, policy);
        }
    }

    /// The launcher has created the next rank.
    pub(crate) fn create(&mut self, app: AppId, policy: &mut dyn Policy) {
        let rank = self.apps[app].forked;
        self.fork(SHELL, app, rank, policy);
        self.tell(policy);
        self.launch(app, policy);
    }

    /// What it costs to create the task of a rank.
    fn fork_cost(&self, app: AppId, rank: u32) -> Span {
        let costs = &self.machine.costs;
        let draw = rng::draw(self.apps[app].fork_noise, u64::from(rank));
        Span::from_ns(costs.fork_spread.apply(costs.fork.ns(), draw))
    }

    /// Creates the task of a rank.
    pub(crate) fn fork(&mut self, parent: CpuId, app: AppId, rank: u32, policy: &mut dyn Policy) {
        let id = self.apps[app].task(rank);
        let choice = policy.select_cpu(self, id, Placement::Fork { parent });
        let cpu = self.corrected(id, choice);
        self.apps[app].forked += 1;
        self.enqueue(id, cpu, Entry::Fork, Some(parent));
        if self.apps[app].forked == self.apps[app].tasks {
            self.complete_apps.push(app);
        }
    }
}
