//! The end of a run: the last segments are charged and the report is made.

use sim_core::account::Category;
use sim_core::outcome::{AppReport, Outcome, RunReport};
use sim_core::policy::TaskState;
use sim_core::program::{AppSpec, NamedLock, Op};
use sim_core::time::{Span, Time, WORK_FRACTION_BITS};

use super::Reference;
use super::state::{RefApp, RefLock, Signals};

impl RefApp {
    /// All applications and their locks: those of the run, and behind them those that each has of its own.
    pub(super) fn all(specs: Vec<AppSpec>, named: &[NamedLock]) -> (Vec<Self>, Vec<RefLock>) {
        let mut locks: Vec<_> = named.iter().map(|lock| RefLock::new(lock.rules)).collect();
        let (mut apps, mut first) = (Vec::new(), 0);
        for spec in specs {
            let own = if spec.named_locks { 0 } else { spec.program.locks() };
            let base = if spec.named_locks { 0 } else { locks.len() };
            locks.extend((0..own).map(|_| RefLock::new(spec.lock)));
            let tasks = spec.tasks as usize;
            apps.push(Self::new(spec, first, base));
            first += tasks;
        }
        (apps, locks)
    }

    fn new(spec: AppSpec, first: usize, locks: usize) -> Self {
        Self {
            signals: Signals::default(),
            locks,
            episodes: std::collections::BTreeMap::new(),
            passes: std::collections::BTreeMap::new(),
            yields: [&spec.runtime, spec.team_runtime.as_ref().unwrap_or(&spec.runtime)]
                .map(|runtime| runtime.wait.yields()),
            spec,
            first,
            arrived: 0,
            begun: 0,
            first_run: None,
            responses: sim_core::histogram::Histogram::default(),
            waits: sim_core::histogram::Histogram::default(),
            first_late: None,
            runnable: 0,
            met: None,
            clock: None,
            started: false,
            shell: 0,
            forked: 0,
            launched: 0,
            locked: std::collections::BTreeMap::new(),
            exited: 0,
            end: None,
            counters: sim_core::outcome::Counters::default(),
        }
    }
}

impl Reference<'_> {
    /// For the deadlock message: how many wait, and the first five of them.
    pub(super) fn who_waits(&self) -> String {
        let waits = |t: &&super::RefTask| t.state != TaskState::Exited && !self.apps[t.app].spec.background;
        let all: Vec<_> = self.tasks.iter().filter(waits).collect();
        let names: Vec<_> = all
            .iter()
            .take(5)
            .map(|t| format!("{} rank {} ({:?})", self.apps[t.app].spec.name, t.rank, t.waiting))
            .collect();
        format!("{} tasks wait for what will never happen: {}", all.len(), names.join(", "))
    }

    pub(super) fn finish(mut self, outcome: Outcome) -> RunReport {
        for c in 0..self.cpus.len() {
            self.close(c);
            self.tell_polling(c);
        }
        self.charge_ticks();
        RunReport {
            outcome,
            makespan: Time::from_ns(self.now),
            extrapolated: Span::ZERO,
            error: Span::ZERO,
            apps: (0..self.apps.len()).map(|app| self.app_report(app)).collect(),
            sources: self.objects.source_reports(),
            devices: self.objects.device_reports(self.now),
            pools: self.pool_reports(),
            cpus: self.cpus.iter().map(super::RefCpu::account).collect(),
            corrections: self.corrections,
            events: self.steps,
            digest: self.digest.value(),
        }
    }

    /// Moves the timer ticks' share of the computing time, which the speeds already contain, to the kernel.
    fn charge_ticks(&mut self) {
        let period = u128::from(self.model.tick.ns());
        let tick = u128::from(self.machine.costs.tick.ns()).min(period);
        for cpu in &mut self.cpus {
            let computing = cpu.times[Category::Compute as usize];
            let added = [Category::MemoryStall, Category::Remote, Category::Smt];
            let busy = computing + added.into_iter().map(|part| cpu.times[part as usize]).sum::<u64>();
            let ticks = ((u128::from(busy) * tick / period) as u64).min(computing);
            cpu.times[Category::Compute as usize] -= ticks;
            cpu.times[Category::Kernel as usize] += ticks;
        }
    }

    fn app_report(&self, app: usize) -> AppReport {
        let record = &self.apps[app];
        let tasks = &self.tasks[record.first..record.first + record.spec.tasks as usize];
        let mut counters = record.counters;
        for task in tasks {
            counters.cpu_ns += task.cpu_time;
            counters.work_done_ns += (task.done >> WORK_FRACTION_BITS) as u64;
            counters.bytes_fetched += (task.fetched / 1_000_000_000) as u64;
            counters.work_asked_ns += (task.asked >> WORK_FRACTION_BITS) as u64;
        }
        counters.runnable_ns = record.runnable;
        let takes = |op: &Op| matches!(op, Op::Take { event, .. } if self.objects.is_stamped(*event));
        let waits = record.spec.requests && record.spec.program.ops().iter().any(takes);
        for task in tasks {
            counters.runnable_ns += task.runnable_since.map_or(0, |since| self.now - since);
        }
        AppReport {
            name: record.spec.name.clone(),
            background: record.spec.background,
            arrived: Time::from_ns(record.arrived),
            start: Time::from_ns(record.begun),
            first_run: record.first_run.map(Time::from_ns),
            program_start: Time::from_ns(record.clock.or(record.met).unwrap_or(record.begun)),
            end: record.end.map(Time::from_ns),
            counters,
            task_cpu: tasks.iter().map(|task| Span::from_ns(task.cpu_time)).collect(),
            requests: record.spec.requests,
            deadline: record.spec.deadline,
            responses: record.spec.requests.then(|| Box::new(record.responses.clone())),
            waits: waits.then(|| Box::new(record.waits.clone())),
            first_late: record.first_late,
            skips: record.spec.program.skips(),
            latencies: None,
        }
    }
}
