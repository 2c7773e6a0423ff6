//! What threads, locks and other things of a run are called in pictures and steps.

use scenario::plan::RunPlan;
use sim_core::ids::{AppId, Id, LockId, TaskId};
use sim_core::observe::Sleep;
use trace::slices::Owners;

/// Names of a run.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    plan: &'a RunPlan,
}

impl<'a> Names<'a> {
    pub(super) const fn new(plan: &'a RunPlan) -> Self {
        Self { plan }
    }

    /// The tasks of the run.
    pub(super) fn owners(self) -> Owners {
        Owners::new(self.plan.apps.iter().map(|app| app.tasks))
    }

    /// The name of an application.
    pub(super) fn app(self, app: AppId) -> &'a str {
        self.plan.apps.get(app.index()).map_or("", |app| app.name.as_str())
    }

    /// A thread: `cg.3`.
    pub(super) fn thread(self, owners: &Owners, task: TaskId) -> String {
        format!("{}.{}", self.app(owners.app(task)), owners.rank(task))
    }

    /// A lock: its name; without one `lock`, with a number where the application has several.
    pub(super) fn lock(self, app: AppId, lock: LockId) -> String {
        let Some(spec) = self.plan.apps.get(app.index()) else { return "lock".into() };
        match self.plan.objects.locks.get(lock.index()).filter(|_| spec.named_locks) {
            Some(named) => named.name.clone(),
            None if spec.program.locks() <= 1 => "lock".into(),
            None => format!("lock {}", lock.0),
        }
    }

    /// True for an application whose threads yield while they poll at barriers or for messages.
    pub(super) fn yields(self, app: AppId) -> bool {
        let spec = self.plan.apps.get(app.index());
        spec.is_some_and(|spec| spec.runtimes().any(|runtime| runtime.wait.yields()))
    }

    /// Who woke a thread that slept for this: another thread, or what no thread does.
    pub(super) fn waker(self, owners: &Owners, waker: Option<TaskId>, what: Sleep) -> String {
        match (waker, what) {
            (Some(waker), _) => self.thread(owners, waker),
            (None, Sleep::Timer) => "a timer".into(),
            (None, Sleep::Device(device)) => {
                let named = self.plan.objects.devices.get(device.index());
                named.map_or("a device", |device| device.name.as_str()).to_owned()
            }
            (None, Sleep::Command) => "a command from outside".into(),
            (None, _) => "a request from outside".into(),
        }
    }

    /// What a sleeping thread waits for.
    pub(super) fn sleep(self, app: AppId, what: Sleep) -> String {
        match what {
            Sleep::Barrier => "the others at the barrier".into(),
            Sleep::Message => "a message".into(),
            Sleep::Lock(lock) => self.lock(app, lock),
            Sleep::Event(event) => {
                let named = self.plan.objects.events.get(event.index());
                named.map_or("an event", |event| event.name.as_str()).to_owned()
            }
            Sleep::Job => "a job".into(),
            Sleep::Device(device) => {
                let named = self.plan.objects.devices.get(device.index());
                named.map_or("a device", |device| device.name.as_str()).to_owned()
            }
            Sleep::Timer => "a timer".into(),
            Sleep::Command => "a command from outside".into(),
        }
    }
}
