//! Pending overhead: time that passes before an activity proper begins, by purpose.

use crate::account::{Account, Category};
use crate::time::Span;

/// Pending overhead before an activity proper begins, by purpose, paid in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Overhead {
    total: Span,
    parts: [Span; Part::COUNT],
}

/// The purpose of overhead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Part {
    Switch,
    Migration,
    Kernel,
    Daemon,
    /// Refilling caches, or copying pages, before a compute operation.
    Refill,
    /// Waiting for a contended line while arriving at a barrier.
    Spin,
}

impl Part {
    const COUNT: usize = 6;

    /// The category of each, in order.
    const CATEGORIES: [Category; Self::COUNT] = [
        Category::Switch,
        Category::Migration,
        Category::Kernel,
        Category::Daemon,
        Category::Refill,
        Category::Spin,
    ];
}

impl Overhead {
    pub(crate) const NONE: Self = Self { total: Span::ZERO, parts: [Span::ZERO; Part::COUNT] };

    /// Nothing but a switch.
    #[inline]
    pub(crate) const fn switch(cost: Span) -> Self {
        let none = Span::ZERO;
        Self { total: cost, parts: [cost, none, none, none, none, none] }
    }

    #[inline]
    pub(crate) const fn total(&self) -> Span {
        self.total
    }

    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.total == Span::ZERO
    }

    #[inline]
    pub(crate) const fn part(&self, part: Part) -> Span {
        self.parts[part as usize]
    }

    /// Adds to one part.
    #[inline]
    pub(crate) fn grow(&mut self, part: Part, span: Span) {
        self.parts[part as usize] += span;
        self.total += span;
    }

    #[inline]
    pub(crate) fn add(&mut self, other: &Self) {
        if other.is_none() {
            return;
        }
        for (mine, theirs) in self.parts.iter_mut().zip(other.parts) {
            *mine += theirs;
        }
        self.total += other.total;
    }

    /// Charges up to `elapsed` of the overhead, subtracts it, and returns what of `elapsed` lies behind it.
    #[inline]
    pub(crate) fn pay(&mut self, elapsed: Span, account: &mut Account) -> Span {
        if self.is_none() {
            return elapsed;
        }
        let switch = self.part(Part::Switch);
        if switch == self.total && elapsed >= switch {
            // The most frequent case: nothing but a switch.
            account.add(Category::Switch, switch);
            self.parts[Part::Switch as usize] = Span::ZERO;
            self.total = Span::ZERO;
            return elapsed - switch;
        }
        self.pay_any(elapsed, account)
    }

    fn pay_any(&mut self, elapsed: Span, account: &mut Account) -> Span {
        if elapsed < self.total {
            self.pay_part(elapsed, account);
            return Span::ZERO;
        }
        let [switch, migration, kernel, daemon, refill, spin] = self.parts;
        account.add(Category::Switch, switch);
        account.add(Category::Migration, migration);
        account.add(Category::Kernel, kernel);
        account.add(Category::Daemon, daemon);
        account.add(Category::Refill, refill);
        account.add(Category::Spin, spin);
        let rest = elapsed - self.total;
        *self = Self::NONE;
        rest
    }

    /// The same for less than all of the overhead.
    fn pay_part(&mut self, elapsed: Span, account: &mut Account) {
        debug_assert!(elapsed < self.total, "{elapsed:?} is no part of an overhead of {:?}", self.total);
        let mut rest = elapsed;
        for (part, category) in self.parts.iter_mut().zip(Part::CATEGORIES) {
            let paid = rest.min(*part);
            account.add(category, paid);
            *part -= paid;
            rest -= paid;
        }
        self.total -= elapsed;
    }
}
