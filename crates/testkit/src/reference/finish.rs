//! The end of a run: the last segments are charged and the report is made.

use sim_core::account::Category;
use sim_core::outcome::{AppReport, Outcome, RunReport};
use sim_core::policy::TaskState;
use sim_core::program::{AppSpec, NamedLock, Op};
use sim_core::time::{Span, Time, WORK_FRACTION_BITS};

use super::Reference;
use super::state::{RefApp, RefLock, Signals, Waiting};

impl RefApp {
    /// All applications and their locks: those of the run, and behind them those that each has of its own.
    pub(super) fn all(specs: Vec<AppSpec>, named: &[NamedLock]) -> (Vec<Self>, Vec<RefLock>) {
        let mut locks: Vec<_> = named.iter().map(RefLock::named).collect();
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
                .into_iter()
                .chain(&spec.own_runtimes)
                .map(|runtime| runtime.wait.yields())
                .collect(),
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
    /// For the deadlock message: how many wait, for what the first five of them do, and a circle if there is
    /// one.
    pub(super) fn who_waits(&self) -> String {
        let waits = |t: &usize| {
            let task = &self.tasks[*t];
            task.state != TaskState::Exited && !self.apps[task.app].spec.background
        };
        let all: Vec<usize> = (0..self.tasks.len()).filter(waits).collect();
        let each: Vec<String> = all.iter().take(5).map(|t| self.what_for(*t)).collect();
        let mut text = format!("{} tasks wait for what will never happen: {}", all.len(), each.join("; "));
        if let Some(circle) = (0..self.tasks.len()).find_map(|t| self.circle_from(t)) {
            let names: Vec<String> = circle.iter().take(5).map(|t| self.called(*t)).collect();
            text = format!("{text}; a circle of {}: {}", circle.len(), names.join(", "));
        }
        text
    }

    fn called(&self, t: usize) -> String {
        format!("{} rank {}", self.apps[self.tasks[t].app].spec.name, self.tasks[t].rank)
    }

    /// What a task waits for.
    fn what_for(&self, t: usize) -> String {
        let (task, who) = (&self.tasks[t], self.called(t));
        let op = self.apps[task.app].spec.program.ops().get(task.pc);
        if let (Waiting::Event, Some(Op::Take { event, .. } | Op::Meet { event, .. })) = (task.waiting, op) {
            return format!("{who} waits for the event `{}`", self.objects.events[event.0 as usize].name);
        }
        let (Waiting::Lock, Some(Op::Lock(own))) = (task.waiting, op) else {
            return format!("{who} ({:?})", task.waiting);
        };
        let lock = &self.locks[self.apps[task.app].locks + own.0 as usize];
        let name = lock.name.as_ref().map_or_else(|| own.0.to_string(), |name| format!("`{name}`"));
        let holder = lock.holder.map_or_else(|| "nobody".to_owned(), |holder| self.called(holder));
        format!("{who} waits for the lock {name}, which {holder} holds")
    }

    /// The task that has the lock for which a task waits.
    fn in_the_way(&self, t: usize) -> Option<usize> {
        let task = &self.tasks[t];
        match self.apps[task.app].spec.program.ops().get(task.pc) {
            Some(Op::Lock(own)) if task.waiting == Waiting::Lock => {
                self.locks[self.apps[task.app].locks + own.0 as usize].holder
            }
            _ => None,
        }
    }

    /// The circle to which the way from a task leads, from its lowest task on.
    fn circle_from(&self, t: usize) -> Option<Vec<usize>> {
        let mut way = vec![t];
        loop {
            let next = self.in_the_way(way[way.len() - 1])?;
            if let Some(at) = way.iter().position(|other| *other == next) {
                let mut circle = way.split_off(at);
                let lowest = (0..circle.len()).min_by_key(|at| circle[*at])?;
                circle.rotate_left(lowest);
                return Some(circle);
            }
            way.push(next);
        }
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
            policy_counters: Vec::new(),
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
            counters.bytes_fetched += (task.cache.fetched / 1_000_000_000) as u64;
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
