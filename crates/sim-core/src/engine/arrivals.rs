//! Applications come, wait to be admitted, start and end: fixed arrivals, chains, and the admission queue.

use crate::admission::{Runs, StartOrder, Waits};
use crate::engine::Engine;
use crate::event::Timer;
use crate::ids::AppId;
use crate::observe::Observation;
use crate::policy::{Affinity, Policy, System, TaskState, Why};
use crate::program::Forks;
use crate::time::Span;

impl Engine<'_> {
    /// An application has arrived: a background one starts at once, another one when there is room.
    pub(crate) fn arrives(&mut self, app: AppId, policy: &mut dyn Policy) {
        self.shared.apps[app].arrived = self.shared.elapsed();
        if self.shared.apps[app].background {
            self.start_app(app, policy);
        } else {
            self.queue.push_back(app);
            self.admit(policy);
        }
    }

    /// Starts applications of the queue that may run beside the others, in their order.
    pub(crate) fn admit(&mut self, policy: &mut dyn Policy) {
        match self.shared.options.admission.order {
            StartOrder::Fcfs => self.admit_first(policy),
            StartOrder::Easy => self.backfill(policy),
        }
    }

    /// Starts applications from the head of the queue while there is room: no task overtakes.
    fn admit_first(&mut self, policy: &mut dyn Policy) {
        let limit = self.shared.options.admission;
        while let Some(head) = self.queue.front().copied() {
            let tasks = self.admitted.tasks + u64::from(self.shared.apps[head].tasks);
            if self.admitted.jobs >= limit.jobs || tasks > limit.tasks {
                return;
            }
            self.queue.pop_front();
            self.admitted.jobs += 1;
            self.admitted.tasks = tasks;
            self.start_app(head, policy);
        }
    }

    /// Starts applications of the queue by EASY backfilling.
    fn backfill(&mut self, policy: &mut dyn Policy) {
        let apps = &self.shared.apps;
        let tasks = |app: AppId| u64::from(apps[app].tasks);
        // An application without an estimate has been refused.
        let estimate = |app: AppId| apps[app].estimate.unwrap_or(Span::ZERO);
        let ends = |app: AppId| apps[app].begun.saturating_add(estimate(app));
        let runs =
            self.admitted.apps.iter().map(|app| Runs { tasks: tasks(*app), ends: ends(*app) }).collect();
        let wait = |app: &AppId| Waits { tasks: tasks(*app), estimate: estimate(*app) };
        let waits: Vec<Waits> = self.queue.iter().map(wait).collect();
        let chosen = self.shared.options.admission.easy(self.shared.elapsed(), runs, &waits);
        // Places behind one that has left are one less.
        for (before, place) in chosen.into_iter().enumerate() {
            if let Some(app) = self.queue.remove(place - before) {
                self.admitted.jobs += 1;
                self.admitted.tasks += u64::from(self.shared.apps[app].tasks);
                self.admitted.apps.push(app);
                self.start_app(app, policy);
            }
        }
    }

    /// The first task of an application is created, by a shell or a launcher.
    fn start_app(&mut self, app: AppId, policy: &mut dyn Policy) {
        assert!(!self.shared.apps[app].started, "{app} starts for the second time");
        self.shared.apps[app].started = true;
        self.shared.apps[app].begun = self.shared.elapsed();
        for change in 0..self.shared.apps[app].rebinds.len() {
            let at = self.shared.now.saturating_add(self.shared.apps[app].rebinds[change].0);
            self.timers.arm(at, Timer::Bind(app, change as u16));
        }
        self.begin_yield_cycles(app);
        self.shared.observe(Observation::AppStarted(app));
        policy.app_started(self, app);
        self.notify(policy);
        match self.shared.apps[app].runtime.startup.forks {
            Forks::Master => self.fork(self.shared.apps[app].shell, app, 0, policy),
            Forks::Launcher => self.launch(app, policy),
            Forks::Together | Forks::Woken(_) => self.release(app, policy),
        }
    }

    /// All tasks of an application that have not ended get another affinity mask.
    pub(crate) fn rebind(&mut self, app: AppId, change: u16, policy: &mut dyn Policy) {
        const WHY: Why = Why::rule("the application changes the affinity masks of its tasks");
        let affinity = self.shared.apps[app].rebinds[usize::from(change)].1.clone();
        self.bind_all(app, &affinity, WHY, policy);
    }

    /// The tasks of an application that have not ended may run here only.
    pub(super) fn bind_all(&mut self, app: AppId, affinity: &Affinity, why: Why, policy: &mut dyn Policy) {
        self.shared.apps[app].changed.values_mut().for_each(|before| before.cpus = None);
        for rank in 0..self.shared.apps[app].tasks {
            let task = self.shared.apps[app].task(rank);
            if self.shared.tasks[task].state != TaskState::Exited {
                let bound = System::set_affinity(self, task, affinity.clone(), why);
                assert!(bound, "{task} is bound to cpus that exist");
                self.notify(policy);
            }
        }
    }

    /// The last task of an application has ended: its followers are armed, and the admission queue may have
    /// room.
    pub(crate) fn app_ends(&mut self, app: AppId, policy: &mut dyn Policy) {
        self.shared.apps[app].end = Some(self.shared.elapsed());
        self.shared.observe(Observation::AppExited(app));
        self.notify(policy);
        policy.app_exited(self, app);
        for follower in self.shared.apps.ids() {
            if self.shared.apps[follower].after == Some(app) {
                let at = self.shared.now.saturating_add(self.shared.apps[follower].delay);
                self.timers.arm(at, Timer::Start(follower));
            }
        }
        if !self.shared.apps[app].background {
            assert!(self.left > 0 && self.admitted.jobs > 0, "{app} ends, and none was running");
            self.left -= 1;
            self.admitted.jobs -= 1;
            self.admitted.tasks -= u64::from(self.shared.apps[app].tasks);
            self.admitted.apps.retain(|other| *other != app);
            if !self.queue.is_empty() {
                self.timers.arm(self.shared.now, Timer::Admit);
            }
        }
    }
}
