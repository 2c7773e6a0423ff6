//! Balancing for idle cpus, whose ticks are stopped: the tick of a busy cpu interrupts one of them, which
//! balances for all.
//!
//! Source: `nohz_balancer_kick`, `find_new_ilb` and `_nohz_idle_balance` of kernel/sched/fair.c, Linux 6.x.

use sim_core::ids::CpuId;
use sim_core::machine::{CpuSet, Machine};
use sim_core::policy::{System, Timer, View};
use sim_core::rng::Purpose;
use sim_core::time::{Span, Time};

use super::GroupTypes;
use super::unequal::Rule;
use crate::attempt::MAX_PINNED_MS;
use crate::spread::Draws;

/// The timer of the tick that interrupts an idle cpu.
const PASS: u64 = 0;
/// The timer of the next run of a kernel thread.
pub(super) const KERNEL_THREAD: u64 = 1;
/// The timer of the next tick of all cpus at which one of them is to balance, where idle cpus tick.
pub(super) const TICK: u64 = 2;

/// What is known of the idle cpus (`nohz`).
#[derive(Debug)]
pub(super) struct Idle {
    /// `idle_cpus_mask`.
    cpus: CpuSet,
    /// How many they are: asked at every change of a queue.
    count: u32,
    /// The tick from which one of them is to balance (`next_balance`).
    next: u64,
    /// The time of the tick that interrupts one of them, if one is coming.
    pub(super) armed: Option<Time>,
    /// The next run of a kernel thread on one of them has been drawn.
    expected: bool,
    /// Runs of kernel threads matter until then.
    follow: Time,
    pub(super) draws: Draws,
    /// Scratch: their order in a pass.
    order: Vec<CpuId>,
}

impl Idle {
    pub(super) fn new(machine: &Machine) -> Self {
        Self {
            cpus: CpuSet::of(machine.cpu_ids()),
            count: machine.cpus(),
            next: 0,
            armed: None,
            expected: false,
            follow: Time::ZERO,
            draws: Draws::new(0, Purpose::Policy, 1),
            order: Vec::new(),
        }
    }

    pub(super) fn enter(&mut self, cpu: CpuId) {
        self.cpus.insert(cpu);
        self.count += 1;
    }

    pub(super) fn leave(&mut self, cpu: CpuId) {
        self.cpus.remove(cpu);
        self.count -= 1;
    }

    /// Masks have kept an attempt from moving a task. While they do, the next such attempt comes within
    /// [`MAX_PINNED_MS`] and a tick.
    pub(super) fn hindered(&mut self, now: Time) {
        self.follow = now + Span::from_ms(2 * MAX_PINNED_MS);
    }
}

impl GroupTypes {
    /// A cpu has gone idle: the next tick of a busy cpu takes note of when it is to balance, and the tick
    /// after that can send for it.
    pub(super) fn stops_ticking(&mut self, system: &mut dyn System, cpu: CpuId) {
        if self.rules.idle_ticks {
            return self.arm_tick(system);
        }
        let known = self.ticks.number(cpu, system.now()) + 2;
        self.idle.next = self.idle.next.min(self.cpus[cpu].next_balance.max(known));
        self.kick(system);
    }

    /// Asks for the tick at which a busy cpu finds that an idle one is to balance: it has two tasks or more,
    /// or another cpu of its shared cache is busy too.
    pub(super) fn kick(&mut self, system: &mut dyn System) {
        if self.rules.idle_ticks
            || !self.wants_balance(system)
            || !self.options.periodic
            || self.domains.is_empty()
            || self.idle.count == 0
        {
            return;
        }
        self.expect_kernel_thread(system);
        let coming = self.ticks.number(CpuId(0), system.now()) + 1;
        let at = self.ticks.due(CpuId(0), self.idle.next.max(coming));
        if self.idle.armed.is_none_or(|armed| at < armed) {
            self.idle.armed = Some(at);
            system.at(at, Timer::Token(PASS));
        }
    }

    /// Where idle cpus tick: asks for the next tick at which a cpu is to balance.
    pub(super) fn arm_tick(&mut self, system: &mut dyn System) {
        let coming = self.ticks.number(CpuId(0), system.now()) + 1;
        let first = self.cpus.iter().map(|cpu| cpu.next_balance).min().unwrap_or(coming);
        let at = self.ticks.due(CpuId(0), first.max(coming));
        let armed = self.idle.armed.is_some_and(|armed| armed <= at);
        if self.options.periodic && !self.domains.is_empty() && !armed {
            self.idle.armed = Some(at);
            system.at(at, Timer::Token(TICK));
        }
    }

    /// Such a tick has come: each cpu that is to balance does, in the order of their numbers.
    pub(super) fn tick_all(&mut self, system: &mut dyn System) {
        if self.idle.armed != Some(system.now()) {
            return;
        }
        self.idle.armed = None;
        for cpu in system.machine().cpu_ids() {
            if self.ticks.number(cpu, system.now()) >= self.cpus[cpu].next_balance {
                self.rebalance(system, cpu);
            }
        }
        self.arm_tick(system);
    }

    /// Busy cpus may give the idle ones a reason to balance: one has two tasks, or shares its cache with
    /// another busy one; where cores differ in priority, an idle core has a higher one; where they differ in
    /// capacity, a task may be too large for its cpu, and caches do not count.
    fn wants_balance(&self, view: &dyn View) -> bool {
        let crowded = match self.unequal.rule {
            Rule::Capacity => self.small_busy > 0,
            Rule::Equal | Rule::Packing => self.crowded > 0,
        };
        self.overloaded > 0 || crowded || self.unequal.idles_above(view)
    }

    /// Of the small cpus that are busy one has a task that is too large.
    fn has_reason(&mut self, system: &mut dyn System) -> bool {
        let all = 0..system.machine().cpus();
        self.unequal.rule != Rule::Capacity || self.overloaded > 0 || self.mark_misfits(system, all)
    }

    /// The first idle cpu balances for all that are due, in order after itself, itself last; it stops when a
    /// task has come to it.
    pub(super) fn balance_idle(&mut self, system: &mut dyn System) {
        if self.idle.armed != Some(system.now()) {
            return;
        }
        self.idle.armed = None;
        let now = self.ticks.number(CpuId(0), system.now());
        let due = now >= self.idle.next && self.wants_balance(system) && self.has_reason(system);
        let mut order = std::mem::take(&mut self.idle.order);
        order.clear();
        order.extend(self.idle.cpus.iter());
        if due && let Some(balancer) = order.first().copied() {
            order.rotate_left(1);
            let mut next = now.saturating_add(self.ticks.of(Span::from_ms(60_000)));
            for cpu in order.iter().copied() {
                if system.nr_running(cpu) > 0 {
                    continue;
                }
                if system.nr_running(balancer) > 0 {
                    next = now;
                    break;
                }
                if now >= self.cpus[cpu].next_balance {
                    self.rebalance(system, cpu);
                }
                next = next.min(self.cpus[cpu].next_balance);
            }
            self.idle.next = next.max(now + 1);
        }
        self.idle.order = order;
        self.kick(system);
    }

    /// Looks of cpus on which kernel threads run are followed while masks keep tasks from moving; elsewhere
    /// the ordinary attempts do the same within milliseconds. The time to the next such run is exponential,
    /// so it can be drawn anew whenever their number changes.
    fn expect_kernel_thread(&mut self, system: &mut dyn System) {
        let mean = self.options.kernel_threads.ns() / u64::from(self.idle.count.max(1));
        let matters = self.overloaded > 0 && system.now() < self.idle.follow;
        if matters && mean > 0 && !self.idle.expected {
            self.idle.expected = true;
            let gap = self.idle.draws.exponential(mean);
            system.at(system.now() + Span::from_ns(gap), Timer::Token(KERNEL_THREAD));
        }
    }

    /// A kernel thread has run on one of the idle cpus.
    pub(super) fn kernel_thread(&mut self, system: &mut dyn System) {
        self.idle.expected = false;
        let draw = self.idle.draws.below(u64::from(self.idle.count));
        let cpu = self.idle.cpus.iter().nth(draw as usize);
        if let Some(cpu) = cpu {
            self.new_idle(system, cpu);
            self.stops_ticking(system, cpu);
        }
    }
}
