//! The end of a run: the last segments are closed and the report is made.

use crate::account::Category;
use crate::counted::Servers;
use crate::engine::Engine;
use crate::engine::state::{App, Flow, Task};
use crate::ids::{Id, IdVec, TaskId};
use crate::jobs::Pool;
use crate::outcome::{AppReport, Outcome, RunReport};
use crate::time::Span;

impl Engine<'_> {
    pub(crate) fn finish(mut self, outcome: Outcome) -> RunReport {
        let makespan = self.shared.elapsed();
        // Every event up to here has happened, poll cycles that end now included.
        self.shared.rounds.end();
        let cpus: Vec<_> = self.cpus.ids().collect();
        for cpu in &cpus {
            self.settle(*cpu);
            self.shared.close_segment(&mut self.cpus[*cpu]);
            self.shared.report_polling(&mut self.cpus[*cpu]);
        }
        self.check_end();
        let (added, error) = (std::mem::take(&mut self.sampling.added), self.sampling.error);
        self.cpus.iter_mut().zip(&added.cpus).for_each(|(cpu, added)| cpu.account.merge(added));
        let (tick, period) = (self.shared.machine.costs.tick.ns(), self.shared.model.tick.ns());
        for cpu in &cpus {
            // The ticks' share of the computing time, which the speeds already contain.
            let account = &mut self.cpus[*cpu].account;
            let parts = [Category::Compute, Category::MemoryStall, Category::Remote, Category::Smt];
            let busy = parts.into_iter().fold(Span::ZERO, |sum, part| sum + account.get(part));
            let ticks = u128::from(busy.ns()) * u128::from(tick.min(period)) / u128::from(period);
            account.reassign(Category::Compute, Category::Kernel, Span::from_ns(ticks as u64));
        }
        let mut counters = self.shared.counters();
        counters.iter_mut().zip(&added.apps).for_each(|(counters, added)| *counters = counters.plus(added));
        for (app, counters) in self.shared.apps.iter_mut().zip(counters) {
            app.counters = counters;
        }
        // A large part of the memory is given back before the report takes some.
        self.entered = IdVec::default();
        let apps = self.shared.apps.iter();
        let apps = apps.map(|app| app_report(app, &self.shared.tasks, &added.tasks)).collect();
        self.shared.tasks = IdVec::default();
        let now = self.shared.now;
        let done = |device: &Servers| device.report(now);
        RunReport {
            policy_counters: Vec::new(),
            outcome,
            makespan,
            extrapolated: self.shared.extrapolated,
            error,
            apps,
            sources: self.shared.objects.sources.iter().map(Flow::report).collect(),
            devices: self.shared.objects.devices.iter().map(done).collect(),
            pools: self.shared.objects.pools.iter().map(Pool::report).collect(),
            cpus: self.cpus.iter().map(|cpu| cpu.account).collect(),
            corrections: self.corrections,
            events: self.events,
            digest: self.shared.reports.digest(),
        }
    }
}

/// The report of an application; `added`: cpu time of each task that was not simulated.
fn app_report(app: &App, tasks: &IdVec<TaskId, Task>, added: &[Span]) -> AppReport {
    let cpu_time = |rank: u32| {
        let id = app.task(rank);
        tasks[id].cpu_time + added.get(id.index()).copied().unwrap_or(Span::ZERO)
    };
    AppReport {
        name: app.name.clone(),
        background: app.background,
        arrived: app.arrived,
        start: app.begun,
        first_run: app.first_run,
        program_start: app.clock.or(app.met).unwrap_or(app.begun),
        end: app.end,
        counters: app.counters,
        task_cpu: (0..app.tasks).map(cpu_time).collect(),
        requests: app.responses.is_some(),
        deadline: app.deadline,
        responses: app.responses.clone(),
        waits: app.waits.clone(),
        first_late: app.first_late,
        skips: app.program.skips(),
        latencies: None,
    }
}
