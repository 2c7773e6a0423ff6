//! Pools of jobs: a worker takes one, computes it, and makes ready what comes after it.
//!
//! A worker that finds no job that is ready waits as for a message: it polls, and sleeps, by the rules of its
//! runtime. When a worker ends a job that makes n others ready, it signals n - 1 of the waiting workers, and
//! takes one job itself (as the OpenMP of GNU does, `gomp_barrier_handle_tasks`). Workers that still poll are
//! signalled first, and sleepers are woken only when no worker polls (`wakep` in the scheduler of Go,
//! `new_jobs` in Rayon). A worker that polls and has lost its cpu counts as one that polls, there too.
//! Another worker may take the job before the one that was signalled looks, which then waits again. The end
//! of the last job signals all.

use crate::engine::Engine;
use crate::engine::execute::ask_for;
use crate::engine::invariants::violated;
use crate::engine::state::{Part, Waiting};
use crate::ids::{CpuId, PoolId};
use crate::jobs::{Ended, Taken};
use crate::policy::TaskState;
use crate::program::Spread;
use crate::time::{Span, Time};

impl Engine<'_> {
    /// The current task works in a pool until a pass is over; true when it computes a job or waits for one.
    pub(super) fn work_in(&mut self, cpu: CpuId, of: PoolId) -> bool {
        let id = self.cpus[cpu].current;
        let Some(worker) = self.shared.objects.pools[of].worker(id) else {
            violated(id, cpu, "works in a pool that does not know it");
        };
        // It comes here again when it has computed a job.
        self.job_ends(cpu, of, worker);
        loop {
            let pool = &mut self.shared.objects.pools[of];
            if pool.passes(worker) {
                self.shared.tasks[id].pc += 1;
                return false;
            }
            let Some(taken) = pool.take(worker) else {
                pool.wait(worker);
                self.begin_wait(cpu, Waiting::Job, Time::NEVER);
                return true;
            };
            if self.begin_job(cpu, of, taken) {
                return true;
            }
            self.job_ends(cpu, of, worker);
        }
    }

    /// The current task computes a job that it has taken; false when that has no work.
    fn begin_job(&mut self, cpu: CpuId, of: PoolId, taken: Taken) -> bool {
        let id = self.cpus[cpu].current;
        if let Some(victim) = taken.from {
            // The line with the job comes from where the victim is.
            let there = self.shared.tasks[victim].cpu;
            let latency = self.shared.machine.signal_latency(there, cpu);
            self.cpus[cpu].pend(Part::Spin, latency);
        }
        self.use_one_queue(cpu, of);
        let task = &mut self.shared.tasks[id];
        let app = &self.shared.apps[task.app()];
        let Taken { work, spread, profile, draw, .. } = taken;
        let raw =
            if spread == Spread::NONE { work.raw() } else { app.program.vary(work.raw(), spread, draw) };
        if !ask_for(app, app.rank(id), task, work, raw) {
            return false;
        }
        task.profile = (app.profiles + profile.0) as u16;
        self.shared.begin_compute(&mut self.cpus[cpu]);
        true
    }

    /// The current task has done its job, if it had one.
    fn job_ends(&mut self, cpu: CpuId, of: PoolId, worker: usize) {
        match self.shared.objects.pools[of].end(worker) {
            None | Some(Ended::Ready(0)) => {}
            Some(Ended::Ready(jobs)) => {
                self.use_one_queue(cpu, of);
                for _ in 1..jobs {
                    let tasks = &self.shared.tasks;
                    let sleeps = |id| tasks[id].state == TaskState::Sleeping;
                    let Some(other) = self.shared.objects.pools[of].next_told(sleeps) else { return };
                    self.signal(cpu, other, None);
                }
            }
            Some(Ended::Pass) => {
                while let Some(other) = self.shared.objects.pools[of].next_released() {
                    self.signal(cpu, other, None);
                }
            }
        }
    }

    /// The current task fetches the line of the one queue of a pool, if it has one.
    fn use_one_queue(&mut self, cpu: CpuId, of: PoolId) {
        let pool = &mut self.shared.objects.pools[of];
        if pool.has_one_queue() {
            let record = &self.cpus[cpu];
            let latency = |had| self.shared.machine.signal_latency(had, record.id);
            let wait = pool.line.write(record.cursor(self.shared.now), record.id, latency, Span::ZERO);
            self.cpus[cpu].pend(Part::Lock, wait);
        }
    }
}
