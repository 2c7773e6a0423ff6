//! The end of a run: the last segments are closed and the report is made.

use crate::account::Category;
use crate::engine::Engine;
use crate::ids::IdVec;
use crate::outcome::{AppReport, Outcome, RunReport};
use crate::time::{Span, WORK_FRACTION_BITS};

impl Engine<'_> {
    pub(crate) fn finish(mut self, outcome: Outcome) -> RunReport {
        let makespan = self.shared.now;
        // Every event up to here has happened, poll cycles that end now included.
        self.shared.passed = u32::MAX;
        let cpus: Vec<_> = self.cpus.ids().collect();
        for cpu in &cpus {
            self.settle(*cpu);
            self.close_segment(*cpu);
            self.report_polling(*cpu);
        }
        self.check_end();
        let (tick, period) = (self.shared.machine.costs.tick.ns(), self.shared.model.tick.ns());
        for cpu in &cpus {
            // The ticks' share of the computing time, which the speeds already contain.
            let account = &mut self.cpus[*cpu].account;
            let parts = [Category::Compute, Category::MemoryStall, Category::Remote, Category::Smt];
            let busy = parts.into_iter().fold(Span::ZERO, |sum, part| sum + account.get(part));
            let ticks = u128::from(busy.ns()) * u128::from(tick.min(period)) / u128::from(period);
            account.reassign(Category::Compute, Category::Kernel, Span::from_ns(ticks as u64));
        }
        for task in self.shared.tasks.iter() {
            let counters = &mut self.shared.apps[task.app].counters;
            counters.cpu_ns += task.cpu_time.ns();
            counters.work_done_ns += (task.done() >> WORK_FRACTION_BITS) as u64;
            counters.bytes_fetched += (task.fetched / super::caches::NS_PER_S) as u64;
            counters.work_asked_ns += (task.asked >> WORK_FRACTION_BITS) as u64;
        }
        let apps = self.shared.apps.iter().map(|app| self.app_report(app)).collect();
        // The largest part of the memory is given back before the report takes some.
        self.shared.tasks = IdVec::default();
        RunReport {
            outcome,
            makespan,
            apps,
            cpus: self.cpus.iter().map(|cpu| cpu.account).collect(),
            corrections: self.corrections,
            events: self.events,
            digest: self.shared.digest.value(),
        }
    }

    fn app_report(&self, app: &super::state::App) -> AppReport {
        let tasks = app.first.0..app.first.0 + app.tasks;
        AppReport {
            name: app.name.clone(),
            background: app.background,
            arrived: app.arrived,
            start: app.begun,
            program_start: app.clock.or(app.met).unwrap_or(app.begun),
            end: app.end,
            counters: app.counters,
            task_cpu: tasks.map(|task| self.shared.tasks[crate::ids::TaskId(task)].cpu_time).collect(),
            latencies: None,
        }
    }
}
