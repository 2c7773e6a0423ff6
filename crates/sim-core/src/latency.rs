//! Wake-up latencies and run lengths of applications, collected by an observer.

use crate::histogram::{Histogram, Quantiles};
use crate::ids::{CpuId, TaskId};
use crate::observe::{LeaveReason, Observation, Observer};
use crate::time::{Span, Time};

/// The latencies of an application, over all its tasks; `None` where there was nothing to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AppLatencies {
    /// From each wake-up to the instant at which the task continues with its program: time in the run queue,
    /// the exit from idle, the interrupt and the context switch, and one poll if it slept at a barrier.
    pub wakeups: Option<Quantiles>,
    /// From each dispatch with work to do to the instant at which the task leaves the cpu. Polling counts as
    /// long as no other task gets the cpu; a run that ends while several tasks poll in alternation counts up
    /// to the begin of its last wait. Runs that consist of polling do not count.
    pub runs: Option<Quantiles>,
}

/// The durations of an application.
#[derive(Clone, Default)]
struct Durations {
    wakeups: Histogram,
    runs: Histogram,
}

/// What a task does, as far as latencies need it.
#[derive(Clone, Copy, Default)]
enum Doing {
    /// It is queued, and no wake-up brought it there; or it polls, and its run has ended.
    #[default]
    Other,
    /// It sleeps.
    Asleep,
    /// It was woken at this instant and has not continued yet.
    Woken(Time),
    /// It has had the cpu since this instant.
    Runs(Time),
    /// It has had this cpu since the first instant and polls since the second.
    Polls(CpuId, Time, Time),
}

/// The last dispatch on a cpu.
#[derive(Clone, Copy)]
struct Dispatch {
    task: TaskId,
    at: Time,
    /// What the task pays before it continues.
    overhead: Span,
}

/// Collects the latencies of every application of a run. It needs memory for each task and cpu, and for a
/// histogram of bounded size.
pub struct Latencies {
    apps: Vec<Durations>,
    /// Number of the application of each task.
    app_of: Vec<u32>,
    doing: Vec<Doing>,
    /// By cpu.
    dispatches: Vec<Option<Dispatch>>,
    /// By cpu: the task that polls there in its run.
    polling: Vec<Option<TaskId>>,
    /// What ends before does not count.
    from: Time,
}

impl Latencies {
    /// For a machine of so many cpus and applications of so many tasks each, in the order of the run.
    #[must_use]
    pub fn new(cpus: u32, tasks: impl IntoIterator<Item = u32>) -> Self {
        let tasks = tasks.into_iter().zip(0..);
        let app_of: Vec<u32> =
            tasks.flat_map(|(tasks, app)| std::iter::repeat_n(app, tasks as usize)).collect();
        let apps = app_of.last().map_or(0, |last| *last as usize + 1);
        Self {
            apps: vec![Durations::default(); apps],
            doing: vec![Doing::Other; app_of.len()],
            app_of,
            dispatches: vec![None; cpus as usize],
            polling: vec![None; cpus as usize],
            from: Time::ZERO,
        }
    }

    /// Counts only what ends at this time or later.
    #[must_use]
    pub const fn from(mut self, from: Time) -> Self {
        self.from = from;
        self
    }

    /// The latencies of the applications, in the order of the run.
    #[must_use]
    pub fn finish(self) -> Vec<AppLatencies> {
        let each =
            |app: Durations| AppLatencies { wakeups: app.wakeups.quantiles(), runs: app.runs.quantiles() };
        self.apps.into_iter().map(each).collect()
    }

    /// The durations of a task's application, if it counts what ends at this time.
    fn app(&mut self, task: TaskId, end: Time) -> Option<&mut Durations> {
        (end >= self.from).then(|| &mut self.apps[self.app_of[task.0 as usize] as usize])
    }

    fn now_does(&mut self, task: TaskId, doing: Doing) -> Doing {
        std::mem::replace(&mut self.doing[task.0 as usize], doing)
    }

    /// Another task has got the cpu, or the task has left it: the run in which a task polls there has ended.
    fn end_polling(&mut self, cpu: CpuId) {
        let Some(task) = self.polling[cpu.0 as usize].take() else { return };
        if let Doing::Polls(_, from, to) = self.now_does(task, Doing::Other)
            && let Some(app) = self.app(task, to)
        {
            app.runs.add(to - from);
        }
    }

    fn runnable(&mut self, at: Time, task: TaskId) {
        match self.doing[task.0 as usize] {
            Doing::Asleep => {
                self.now_does(task, Doing::Woken(at));
            }
            // It was moved while it polled.
            Doing::Polls(cpu, ..) => self.end_polling(cpu),
            Doing::Other | Doing::Woken(_) | Doing::Runs(_) => {}
        }
    }

    fn running(&mut self, at: Time, task: TaskId, cpu: CpuId) {
        let from = match self.doing[task.0 as usize] {
            Doing::Polls(here, from, _) if here == cpu => {
                self.polling[cpu.0 as usize] = None;
                from
            }
            Doing::Woken(woken) => {
                let here = self.dispatches[cpu.0 as usize];
                let dispatched = here.filter(|dispatch| dispatch.task == task && dispatch.at == at);
                let overhead = dispatched.map_or(Span::ZERO, |dispatch| dispatch.overhead);
                if let Some(app) = self.app(task, at) {
                    app.wakeups.add(at - woken + overhead);
                }
                at
            }
            _ => at,
        };
        self.end_polling(cpu);
        self.now_does(task, Doing::Runs(from));
    }

    fn stopping(&mut self, at: Time, task: TaskId, cpu: CpuId, reason: LeaveReason) {
        let Doing::Runs(from) = self.doing[task.0 as usize] else { return };
        if reason == LeaveReason::Waits {
            self.now_does(task, Doing::Polls(cpu, from, at));
            self.polling[cpu.0 as usize] = Some(task);
            return;
        }
        if let Some(app) = self.app(task, at) {
            app.runs.add(at - from);
        }
        let asleep = reason == LeaveReason::Slept;
        self.now_does(task, if asleep { Doing::Asleep } else { Doing::Other });
    }
}

impl Observer for Latencies {
    fn observe(&mut self, at: Time, what: &Observation) {
        match *what {
            Observation::Runnable { task, .. } => self.runnable(at, task),
            Observation::Running { task, cpu } => self.running(at, task, cpu),
            Observation::Stopping { task, cpu, reason } => self.stopping(at, task, cpu, reason),
            Observation::Polled { cpu, switches, .. } if switches > 0 => self.end_polling(cpu),
            _ => {}
        }
    }

    fn wants_dispatches(&self) -> bool {
        true
    }

    fn dispatched(&mut self, at: Time, task: TaskId, cpu: CpuId, overhead: Span) {
        self.end_polling(cpu);
        self.dispatches[cpu.0 as usize] = Some(Dispatch { task, at, overhead });
    }
}
