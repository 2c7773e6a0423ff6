//! The clocks of cores under the governor schedutil: what cpus and tasks use, and what clock follows.
//!
//! Source: kernel/sched/cpufreq_schedutil.c (`get_next_freq`, `sugov_update_single_freq`,
//! `sugov_next_freq_shared`, `sugov_hold_freq`), pelt.h (`update_rq_clock_pelt`,
//! `update_idle_rq_clock_pelt`), fair.c (`util_est_update`, `post_init_entity_util_avg`).
//!
//! Times of averages are ns in 1/65,536: the clock by which utilisation follows its target (`clock_pelt`)
//! passes as fast as the core runs and, on an idle cpu, as time does. Utilisations have ten binary digits
//! behind the point. A cpu asks for a clock when a task comes or goes and at ticks while it is busy.

use crate::decay::{PERIOD_NS, approached};
use crate::engine::Engine;
use crate::engine::state::Activity;
use crate::event::Timer;
use crate::ids::{CpuId, IdVec, TaskId};
use crate::machine::{Clocks, Division, Governor, Level, Machine, PerCpu};
use crate::policy::TaskState;
use crate::time::{Span, Time};

/// All of a cpu, in utilisation.
const WHOLE: u64 = 1_024 << 10;
/// The highest clock; also a nanosecond.
const FULL: u64 = 1 << 16;
/// A period of the averages.
const PERIOD: u128 = (PERIOD_NS as u128) << 16;
/// The highest sum of a decayed series (`LOAD_AVG_MAX`).
const SERIES: u64 = 47_742;
/// A cpu that is used so much has had no idle time to make up for (`update_idle_rq_clock_pelt`: the sum of
/// the series less a period, and less its rounding).
const SATURATED: u64 = (((SERIES - 1_024) * 1_024 - SERIES) * 1_024).div_ceil(SERIES);

/// What a cpu uses.
#[derive(Clone, Default)]
struct Usage {
    /// The clock of the averages, and the whole periods of it that are counted.
    clock: u128,
    periods: u128,
    /// How far it stays behind the time for good (`lost_idle_time`).
    lost: u128,
    /// Brought up to date at this time.
    at: Time,
    /// Its core was busy with it at the end of the last instant.
    busy: bool,
    /// It has been idle since it last asked for a clock.
    idled: bool,
    /// Busy time, and the same by `clock`; how much of the latter is counted.
    ran: Span,
    worked: u128,
    counted: u128,
    /// `util_avg` of its queue: of the tasks that belong to it, also of those that sleep.
    value: u64,
    /// `util_est`: what is expected of its runnable tasks.
    expected: u64,
}

impl Usage {
    /// Brings it up to date; its core has had this clock.
    fn advance(&mut self, now: Time, clock: u64) {
        let passed = now.since(self.at);
        self.at = now;
        if self.busy {
            let work = u128::from(passed.ns()) * u128::from(clock);
            (self.clock, self.worked, self.ran) = (self.clock + work, self.worked + work, self.ran + passed);
        } else {
            self.clock += u128::from(passed.ns()) << 16;
        }
        self.count();
    }

    /// Counts the periods that have passed.
    fn count(&mut self) {
        let missed = self.clock / PERIOD - self.periods;
        if missed > 0 {
            let work = (self.worked - self.counted).min(missed * PERIOD);
            self.value = followed(self.value, work, missed);
            (self.periods, self.counted) = (self.periods + missed, self.counted + work);
        }
    }

    /// It becomes idle: its clock catches up with the time, unless it has been busy all along.
    fn rests(&mut self) {
        let lag = (u128::from(self.at.ns()) << 16) - self.lost - self.clock;
        if self.value >= SATURATED {
            self.lost += lag;
        } else {
            self.clock += lag;
            self.count();
        }
        self.idled = true;
    }
}

/// A utilisation after so many periods with so much work in them, at most all of their time.
fn followed(value: u64, work: u128, periods: u128) -> u64 {
    let target = (u128::from(WHOLE) * work / (periods * PERIOD)) as u64;
    approached(value, target, u64::try_from(periods).unwrap_or(u64::MAX))
}

/// What a task uses of the cpu that it belongs to.
#[derive(Clone, Copy, Default)]
struct Share {
    /// `util_avg`, and what is expected of it when it wakes (`util_est`).
    value: u64,
    expected: u64,
    /// What it adds to the expectation of its cpu while it is runnable there.
    adds: u64,
    /// Work that is not counted yet.
    work: u128,
    /// Its cpu time, and periods, busy time and work of its cpu, when it was brought up to date.
    cpu_time: Span,
    periods: u128,
    ran: Span,
    worked: u128,
}

impl Share {
    /// It belongs to a cpu from now on.
    fn joins(&mut self, usage: &Usage, cpu_time: Span) {
        (self.cpu_time, self.periods) = (cpu_time, usage.periods);
        (self.ran, self.worked) = (usage.ran, usage.worked);
    }

    /// Brings it up to date with its cpu, which is so. Of what the cpu did it has the part of the time.
    fn update(&mut self, usage: &Usage, cpu_time: Span) {
        let (ran, busy) = (cpu_time - self.cpu_time, usage.ran - self.ran);
        let part = u128::from(ran.ns()) * (usage.worked - self.worked);
        self.work += part.checked_div(u128::from(busy.ns())).unwrap_or(0);
        let missed = usage.periods - self.periods;
        if missed > 0 {
            let work = self.work.min(missed * PERIOD);
            self.value = followed(self.value, work, missed);
            self.work -= work;
        }
        self.joins(usage, cpu_time);
    }

    /// It has gone to sleep (`util_est_update`): upwards at once, downwards by a quarter of the difference.
    const fn sleeps(&mut self) {
        let (old, new) = (self.expected, self.value);
        self.expected = if new >= old { new } else { old - (old - new) / 4 };
    }
}

/// A clock that is asked for (`sugov_policy`).
#[derive(Clone, Copy)]
struct Request {
    clock: u64,
    since: Option<Time>,
}

/// A task comes to a queue.
pub(crate) struct Comes {
    pub(crate) id: TaskId,
    /// It is new, and so much weight is in the queue.
    pub(crate) new: Option<u64>,
    pub(crate) real_time: bool,
    pub(crate) weight: u32,
    pub(crate) cpu_time: Span,
    /// Where it was.
    pub(crate) from: CpuId,
}

/// The governor.
pub(crate) struct Schedutil {
    rules: Clocks,
    cores: Division,
    packages: Division,
    usage: PerCpu<Usage>,
    shares: IdVec<TaskId, Share>,
    /// Of each cpu, or of each package.
    requests: Vec<Request>,
    /// Of each core.
    clocks: Vec<u64>,
    /// Cpus that ask at this instant.
    asking: Vec<CpuId>,
}

impl Schedutil {
    /// None where the machine's cpus keep their highest clock.
    pub(crate) fn of(machine: &Machine, tasks: usize) -> Option<Box<Self>> {
        let rules = machine.clocks;
        let lowest = (u64::from(rules.lowest) << 16) / 1_000;
        let topology = &machine.topology;
        let (cpus, level) =
            (machine.cpus() as usize, if rules.shared { Level::Package } else { Level::Thread });
        (rules.governor == Governor::Schedutil).then(|| {
            Box::new(Self {
                rules,
                cores: topology.division(Level::Core),
                packages: topology.division(Level::Package),
                usage: PerCpu::filled(cpus, Usage::default()),
                shares: IdVec::filled(tasks, Share::default()),
                requests: vec![Request { clock: lowest, since: None }; topology.count(level) as usize],
                clocks: vec![lowest; topology.count(Level::Core) as usize],
                asking: Vec::new(),
            })
        })
    }

    fn advance(&mut self, cpu: CpuId, now: Time) {
        self.usage[cpu].advance(now, self.clocks[self.cores.part(cpu) as usize]);
    }

    /// A task comes to the queue of a cpu.
    pub(crate) fn comes(&mut self, cpu: CpuId, comes: &Comes, now: Time) {
        self.advance(cpu, now);
        if let Some(queued) = comes.new {
            let used = self.usage[cpu].value;
            // At most half of what is left; no more than its part of the weight.
            let part = used.saturating_mul(u64::from(comes.weight)) / (queued + 1);
            let most = WHOLE.saturating_sub(used) / 2;
            let value = if used == 0 { most } else { part.min(most) };
            self.shares[comes.id] = Share { value, ..Share::default() };
            self.shares[comes.id].joins(&self.usage[cpu], comes.cpu_time);
            self.usage[cpu].value += value;
        } else {
            self.advance(comes.from, now);
            let share = &mut self.shares[comes.id];
            share.update(&self.usage[comes.from], comes.cpu_time);
            if comes.from != cpu {
                let from = &mut self.usage[comes.from];
                from.value = from.value.saturating_sub(share.value);
                share.joins(&self.usage[cpu], comes.cpu_time);
                self.usage[cpu].value += share.value;
            }
        }
        let share = &mut self.shares[comes.id];
        // Real-time tasks have the highest clock.
        share.adds = if comes.real_time { WHOLE } else { share.expected };
        self.usage[cpu].expected += share.adds;
        self.asking.push(cpu);
    }

    /// A task, which is in this state now, leaves the queue and the cpu.
    pub(crate) fn goes(&mut self, cpu: CpuId, id: TaskId, state: TaskState, cpu_time: Span, now: Time) {
        self.advance(cpu, now);
        let share = &mut self.shares[id];
        share.update(&self.usage[cpu], cpu_time);
        let usage = &mut self.usage[cpu];
        usage.expected -= std::mem::take(&mut share.adds);
        match state {
            TaskState::Sleeping => share.sleeps(),
            TaskState::Exited | TaskState::New => usage.value = usage.value.saturating_sub(share.value),
            TaskState::Queued | TaskState::Running => {}
        }
        self.asking.push(cpu);
    }

    /// Whether a cpu is busy at the end of this instant; true if that is news.
    fn note(&mut self, cpu: CpuId, busy: bool, now: Time) -> bool {
        if self.usage[cpu].busy == busy {
            return false;
        }
        self.advance(cpu, now);
        self.usage[cpu].busy = busy;
        if !busy {
            self.usage[cpu].rests();
        }
        true
    }

    /// A busy cpu asks at a tick.
    fn ticks(&mut self) {
        for cpu in self.usage.ids() {
            if self.usage[cpu].busy {
                self.asking.push(cpu);
            }
        }
    }

    /// A cpu asks for the clock that its use, or that of its package, calls for: 5/4 of it
    /// (`map_util_perf`). True if it changes.
    fn ask(&mut self, cpu: CpuId, now: Time) -> bool {
        let (number, members) = if self.rules.shared {
            let package = self.packages.part(cpu);
            (package, self.packages.members(package))
        } else {
            (cpu.0, cpu.0..cpu.0 + 1)
        };
        let Request { clock, since } = self.requests[number as usize];
        if since.is_some_and(|since| now.since(since) < self.rules.rate_limit) {
            return false;
        }
        let mut used = 0;
        for cpu in members.map(CpuId) {
            self.advance(cpu, now);
            let usage = &self.usage[cpu];
            used = used.max(usage.value.max(usage.expected).min(WHOLE));
        }
        let lowest = (u64::from(self.rules.lowest) << 16) / 1_000;
        let next = ((used + used / 4) >> 4).clamp(lowest, FULL);
        let idled = std::mem::take(&mut self.usage[cpu].idled);
        // A cpu that has not been idle keeps its clock: it is likely to need it (`sugov_hold_freq`).
        if next == clock || (next < clock && !idled && !self.rules.shared) {
            return false;
        }
        self.requests[number as usize] = Request { clock: next, since: Some(now) };
        true
    }

    /// The clock of a core is the highest that its busy threads ask for; while all idle it stays. Returns a
    /// new one.
    fn follow(&mut self, core: u32, now: Time) -> Option<u64> {
        let threads = || self.cores.members(core).map(CpuId);
        let number = |cpu: CpuId| if self.rules.shared { self.packages.part(cpu) } else { cpu.0 };
        let asked = threads().filter(|cpu| self.usage[*cpu].busy);
        let clock = asked.map(|cpu| self.requests[number(cpu) as usize].clock).max()?;
        if clock == self.clocks[core as usize] {
            return None;
        }
        for cpu in threads() {
            self.advance(cpu, now);
        }
        self.clocks[core as usize] = clock;
        Some(clock)
    }
}

impl Engine<'_> {
    /// The instant is over: cpus that became busy or idle are noted, those that ask get their clocks.
    pub(crate) fn govern(&mut self) {
        let Some(governor) = &mut self.governor else { return };
        let (now, cpus, cores) = (self.shared.now, &self.cpus, self.shared.segments.cores());
        let mut changed: Vec<u32> = Vec::new();
        for core in cores.touched() {
            for cpu in cores.threads(*core) {
                if governor.note(cpu, cpus[cpu].activity != Activity::Idle, now) {
                    changed.push(*core);
                }
            }
        }
        let mut asking = std::mem::take(&mut governor.asking);
        asking.sort_unstable();
        asking.dedup();
        for cpu in asking.drain(..) {
            if governor.ask(cpu, now) {
                let members =
                    if governor.rules.shared { governor.packages.around(cpu) } else { cpu.0..cpu.0 + 1 };
                changed.extend(members.map(|cpu| governor.cores.part(CpuId(cpu))));
            }
        }
        governor.asking = asking;
        changed.sort_unstable();
        changed.dedup();
        for core in changed {
            if let Some(clock) = governor.follow(core, now) {
                self.shared.segments.set_clock(core, clock);
            }
        }
    }

    /// A tick of the governor.
    pub(crate) fn governor_ticks(&mut self) {
        if let Some(governor) = &mut self.governor {
            governor.ticks();
            self.timers.arm(self.shared.now + self.shared.model.tick, Timer::Clocks);
        }
    }

    /// The governor is told that a task comes to the queue of a cpu.
    pub(crate) fn uses(&mut self, id: TaskId, cpu: CpuId) {
        if self.governor.is_none() {
            return;
        }
        let real_time = self.is_real_time(id);
        let (task, load) = (&self.shared.tasks[id], self.cpus[cpu].load);
        let comes = Comes {
            id,
            new: (task.state == TaskState::New).then_some(load),
            real_time,
            weight: task.weight,
            cpu_time: task.cpu_time,
            from: task.cpu,
        };
        if let Some(governor) = &mut self.governor {
            governor.comes(cpu, &comes, self.shared.now);
        }
    }

    /// The governor is told that a task leaves the queue and the cpu.
    #[inline]
    pub(crate) fn frees(&mut self, id: TaskId, cpu: CpuId) {
        if let Some(governor) = &mut self.governor {
            let task = &self.shared.tasks[id];
            governor.goes(cpu, id, task.state, task.cpu_time, self.shared.now);
        }
    }
}
