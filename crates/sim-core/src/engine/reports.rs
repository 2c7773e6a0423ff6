//! What a run reports to its observer, and the digest of all facts.

use crate::ids::TaskId;
use crate::observe::{Answered, Digest, Observation, Observer};
use crate::time::Time;

/// The observer of a run, if it wants facts, and what else it wants.
pub(crate) struct Reports<'o> {
    observer: Option<&'o mut dyn Observer>,
    wants_accounts: bool,
    wants_queues: bool,
    wants_dispatches: bool,
    wants_sleeps: bool,
    /// When each task began with its present request, if the observer wants requests; never: not yet.
    begun: Option<Vec<Time>>,
    digest: Digest,
}

impl<'o> Reports<'o> {
    pub(crate) fn new(observer: &'o mut dyn Observer) -> Self {
        Self {
            wants_accounts: observer.wants_cpu_time(),
            wants_queues: observer.wants_queues(),
            wants_dispatches: observer.wants_dispatches(),
            wants_sleeps: observer.wants_sleeps(),
            begun: observer.wants_requests().then(Vec::new),
            observer: observer.wants_facts().then_some(observer),
            digest: Digest::default(),
        }
    }
}

impl Reports<'_> {
    /// The observer wants the cpu-time breakdowns.
    #[inline]
    pub(crate) const fn wants_accounts(&self) -> bool {
        self.wants_accounts
    }

    /// The observer wants the decisions of the run queues.
    #[inline]
    pub(crate) const fn wants_queues(&self) -> bool {
        self.wants_queues
    }

    /// The observer wants the dispatches.
    #[inline]
    pub(crate) const fn wants_dispatches(&self) -> bool {
        self.wants_dispatches
    }

    /// The observer wants to know what tasks sleep for and who wakes them.
    #[inline]
    pub(crate) const fn wants_sleeps(&self) -> bool {
        self.wants_sleeps
    }

    /// The digest of all facts up to now.
    pub(crate) fn digest(&self) -> u64 {
        self.digest.value()
    }

    /// A fact, which is part of the digest.
    #[inline]
    pub(crate) fn fact(&mut self, now: Time, what: Observation) {
        self.digest.observe(now, &what);
        if self.observer.is_some() {
            self.report(now, what);
        }
    }

    /// Out of line, so that a run without observer makes no record of the fact.
    #[cold]
    #[inline(never)]
    fn report(&mut self, now: Time, what: Observation) {
        if let Observation::Running { task, .. } = what
            && self.begun_by(task).is_some_and(Time::is_never)
        {
            self.begins(task, now);
        }
        self.observer().into_iter().for_each(|observer| observer.observe(now, &what));
    }

    /// When a task began with its present request, if the observer wants requests; never: not yet.
    fn begun_by(&self, task: TaskId) -> Option<Time> {
        let begun = self.begun.as_ref()?;
        Some(begun.get(task.0 as usize).copied().unwrap_or(Time::NEVER))
    }

    /// A task begins with a request; [`Time::NEVER`]: it will when it next has a cpu.
    #[inline]
    pub(crate) fn begins(&mut self, task: TaskId, at: Time) {
        let Some(begun) = &mut self.begun else { return };
        let place = task.0 as usize;
        if place >= begun.len() {
            begun.resize(place + 1, Time::NEVER);
        }
        begun[place] = at;
    }

    /// A task has answered a request that came then.
    #[inline]
    pub(crate) fn answered(&mut self, now: Time, task: TaskId, came: Time) {
        if let Some(begun) = self.begun_by(task) {
            // Who asks for the next one in the same instant has had no cpu in between.
            let begun = if begun.is_never() { now } else { begun };
            self.observer().into_iter().for_each(|to| to.answered(now, &Answered { task, came, begun }));
        }
    }

    /// The observer, if it wants facts.
    pub(crate) fn observer(&mut self) -> Option<&mut dyn Observer> {
        match &mut self.observer {
            Some(observer) => Some(&mut **observer),
            None => None,
        }
    }
}
