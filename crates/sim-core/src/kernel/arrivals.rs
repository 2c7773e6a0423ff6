//! Applications come, wait to be admitted, start and end: fixed arrivals, chains, and the admission queue.

use crate::event::Timer;
use crate::ids::AppId;
use crate::kernel::Kernel;
use crate::observe::{Observation, Observer};
use crate::policy::Policy;
use crate::program::Forks;

impl<O: Observer> Kernel<'_, O> {
    /// An application has arrived: a background one starts at once, another one when there is room.
    pub(crate) fn arrives(&mut self, app: AppId, policy: &mut dyn Policy) {
        self.world.apps[app].arrived = self.world.now;
        if self.world.apps[app].background {
            self.start_app(app, policy);
        } else {
            self.queue.push_back(app);
            self.admit(policy);
        }
    }

    /// Starts applications from the head of the queue while there is room: nobody overtakes.
    pub(crate) fn admit(&mut self, policy: &mut dyn Policy) {
        let limit = self.world.options.admission;
        while let Some(head) = self.queue.front().copied() {
            let tasks = self.admitted.1 + u64::from(self.world.apps[head].tasks);
            if self.admitted.0 >= limit.jobs || tasks > limit.tasks {
                return;
            }
            self.queue.pop_front();
            self.admitted = (self.admitted.0 + 1, tasks);
            self.start_app(head, policy);
        }
    }

    /// The first task of an application is created, by a shell or a launcher on cpu 0.
    fn start_app(&mut self, app: AppId, policy: &mut dyn Policy) {
        self.world.apps[app].started = true;
        self.world.apps[app].begun = self.world.now;
        self.observe(Observation::AppStarted(app));
        policy.app_started(self, app);
        self.tell(policy);
        match self.world.apps[app].runtime.startup.forks {
            Forks::Master => self.fork(crate::ids::CpuId(0), app, 0, policy),
            Forks::Launcher => self.launch(app, policy),
        }
    }

    /// The last task of an application has ended: those that follow it are on their way, and there may be room.
    pub(crate) fn app_ends(&mut self, app: AppId, policy: &mut dyn Policy) {
        self.world.apps[app].end = Some(self.world.now);
        self.observe(Observation::AppExited(app));
        self.tell(policy);
        policy.app_exited(self, app);
        for follower in self.world.apps.ids() {
            if self.world.apps[follower].after == Some(app) {
                let at = self.world.now.saturating_add(self.world.apps[follower].delay);
                self.arm_pending(at, Timer::Start(follower));
            }
        }
        if !self.world.apps[app].background {
            self.left -= 1;
            self.admitted.0 -= 1;
            self.admitted.1 -= u64::from(self.world.apps[app].tasks);
            if !self.queue.is_empty() {
                self.arm_pending(self.world.now, Timer::Admit);
            }
        }
    }
}
