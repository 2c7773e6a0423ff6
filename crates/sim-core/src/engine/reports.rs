//! What a run reports to its observer, and the digest of all facts.

use crate::observe::{Digest, Observation, Observer};
use crate::time::Time;

/// The observer of a run, if it wants facts, and what else it wants.
pub(crate) struct Reports<'o> {
    observer: Option<&'o mut dyn Observer>,
    wants_accounts: bool,
    wants_queues: bool,
    wants_dispatches: bool,
    digest: Digest,
}

impl<'o> Reports<'o> {
    pub(crate) fn new(observer: &'o mut dyn Observer) -> Self {
        Self {
            wants_accounts: observer.wants_cpu_time(),
            wants_queues: observer.wants_queues(),
            wants_dispatches: observer.wants_dispatches(),
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
        self.observer().into_iter().for_each(|observer| observer.observe(now, &what));
    }

    /// The observer, if it wants facts.
    pub(crate) fn observer(&mut self) -> Option<&mut dyn Observer> {
        match &mut self.observer {
            Some(observer) => Some(&mut **observer),
            None => None,
        }
    }
}
