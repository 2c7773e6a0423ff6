//! Pending overhead: time that passes before an activity proper begins, by purpose.

use crate::account::{Account, Category};
use crate::engine::state::Cpu;
use crate::time::Span;

/// The purpose of overhead, in the order in which it is paid.
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
    /// Waiting for the line of a lock's word.
    Lock,
}

impl Part {
    const COUNT: usize = 7;

    /// The category of each, in order.
    const CATEGORIES: [Category; Self::COUNT] = [
        Category::Switch,
        Category::Migration,
        Category::Kernel,
        Category::Daemon,
        Category::Refill,
        Category::Spin,
        Category::LockWait,
    ];
}

/// Overhead by purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Parts([Span; Part::COUNT]);

impl Parts {
    pub(crate) const NONE: Self = Self([Span::ZERO; Part::COUNT]);

    pub(crate) const fn get(&self, part: Part) -> Span {
        self.0[part as usize]
    }

    pub(crate) fn grow(&mut self, part: Part, span: Span) {
        self.0[part as usize] += span;
    }

    /// Charges up to `elapsed` of the overhead, subtracts it, and returns what of `elapsed` lies behind it.
    pub(crate) fn pay(&mut self, elapsed: Span, account: &mut Account) -> Span {
        let mut rest = elapsed;
        for (part, category) in self.0.iter_mut().zip(Part::CATEGORIES) {
            let paid = rest.min(*part);
            account.add(category, paid);
            *part -= paid;
            rest -= paid;
        }
        rest
    }
}

/// The pending overhead of a cpu. Most often that is a switch and one part more. Several more are apart
/// ([`crate::engine::state::Rare::parts`]), and so is a switch of over four seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Overhead {
    /// What is no switch; with all that is apart.
    other: Span,
    /// The switch, ns.
    switch: u32,
    /// What the other part is; none: the parts are apart.
    part: Option<Part>,
}

impl Overhead {
    pub(crate) const NONE: Self = Self { other: Span::ZERO, switch: 0, part: Some(Part::Spin) };

    #[inline]
    pub(crate) fn total(&self) -> Span {
        Span::from_ns(self.switch.into()) + self.other
    }

    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.total() == Span::ZERO
    }
}

impl Cpu {
    /// The pending overhead by purpose.
    pub(crate) fn parts(&self) -> Parts {
        let Overhead { other, switch, part } = self.overhead;
        let Some(part) = part else { return self.rare.parts };
        let mut parts = Parts::NONE;
        parts.grow(Part::Switch, Span::from_ns(switch.into()));
        parts.grow(part, other);
        parts
    }

    /// Nothing but a switch is pending.
    #[inline]
    pub(crate) fn set_switch(&mut self, cost: Span) {
        self.overhead = Overhead::NONE;
        match u32::try_from(cost.ns()) {
            Ok(switch) => self.overhead.switch = switch,
            Err(_) => self.pend_apart(Part::Switch, cost),
        }
    }

    /// More overhead is pending.
    #[inline]
    pub(crate) fn pend(&mut self, part: Part, span: Span) {
        let overhead = &mut self.overhead;
        let small = u32::try_from(span.ns()).ok().and_then(|span| overhead.switch.checked_add(span));
        match (part, overhead.part, small) {
            (Part::Switch, Some(_), Some(switch)) => overhead.switch = switch,
            (_, Some(other), _) if part == other || overhead.other == Span::ZERO && part != Part::Switch => {
                overhead.part = Some(part);
                overhead.other += span;
            }
            _ => self.pend_apart(part, span),
        }
    }

    fn pend_apart(&mut self, part: Part, span: Span) {
        if span == Span::ZERO {
            return;
        }
        let (overhead, parts) = (&mut self.overhead, &mut self.rare.parts);
        if let Some(before) = overhead.part {
            let switch = Span::from_ns(overhead.switch.into());
            *parts = Parts::NONE;
            parts.grow(Part::Switch, switch);
            parts.grow(before, overhead.other);
            *overhead = Overhead { other: overhead.other + switch, switch: 0, part: None };
        }
        parts.grow(part, span);
        overhead.other += span;
    }

    /// Charges up to `elapsed` of the pending overhead, subtracts it, and returns what of `elapsed` lies
    /// behind it.
    #[inline(always)]
    pub(crate) fn pay(&mut self, elapsed: Span) -> Span {
        let Overhead { other, switch, part } = self.overhead;
        let total = self.overhead.total();
        if elapsed < total {
            self.pay_some(elapsed);
            return Span::ZERO;
        }
        if let Some(part) = part {
            self.account.add(Category::Switch, Span::from_ns(switch.into()));
            self.account.add(Part::CATEGORIES[part as usize], other);
        } else {
            self.pay_apart(total);
        }
        self.overhead = Overhead::NONE;
        elapsed - total
    }

    /// The same for overhead of several parts.
    #[cold]
    fn pay_apart(&mut self, total: Span) {
        self.rare.parts.pay(total, &mut self.account);
    }

    /// The same for less than all of the overhead.
    #[cold]
    fn pay_some(&mut self, elapsed: Span) {
        let Overhead { other, switch, part } = &mut self.overhead;
        if let Some(part) = *part {
            let switched = elapsed.min(Span::from_ns((*switch).into()));
            self.account.add(Category::Switch, switched);
            self.account.add(Part::CATEGORIES[part as usize], elapsed - switched);
            *switch -= switched.ns() as u32;
            *other -= elapsed - switched;
        } else {
            self.rare.parts.pay(elapsed, &mut self.account);
            *other -= elapsed;
        }
    }

    /// Pays all of the pending overhead.
    #[inline]
    pub(crate) fn pay_all(&mut self) {
        self.pay(self.overhead.total());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::CpuId;

    #[test]
    fn a_record_keeps_the_same_parts_as_a_list() {
        let (mut cpu, mut parts, mut account) = (Cpu::new(CpuId(0)), Parts::NONE, Account::default());
        let all =
            [Part::Switch, Part::Migration, Part::Kernel, Part::Daemon, Part::Refill, Part::Spin, Part::Lock];
        for step in 0..crate::steps(20_000) {
            let draw = u64::from(crate::rng::draw(11, step));
            let span = Span::from_ns(if draw & 1023 == 0 { 1 << 33 } else { draw >> 24 });
            match draw % 16 {
                0..7 => {
                    let part = all[(draw % 16) as usize];
                    cpu.pend(part, span);
                    parts.grow(part, span);
                }
                7 => {
                    cpu.set_switch(span);
                    parts = Parts::NONE;
                    parts.grow(Part::Switch, span);
                }
                8..13 => assert_eq!(cpu.pay(span), parts.pay(span, &mut account)),
                _ => {
                    cpu.pay_all();
                    parts.pay(Span::MAX, &mut account);
                }
            }
            assert_eq!((cpu.parts(), cpu.account), (parts, account), "step {step}");
            let total = all.map(|part| parts.get(part).ns()).iter().sum();
            assert_eq!(cpu.overhead.total().ns(), total);
        }
    }
}
