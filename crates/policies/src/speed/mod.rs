//! `SPEED`: a user-level balancer that equalises the *speed* of an application's threads, not queue lengths.
//!
//! Idea: on an uneven number of threads per core, rotate the threads so that each gets the same share of cpu
//! time. Source: Hofmeyr, Iancu, Blagojevic, "Load Balancing on Speed" (PPoPP 2010).

use notation::declare::{Duration, Percent};
use notation::parameter::Values;
use notation::{choices, parameters};
use sim_core::ids::{AppId, TaskId};
use sim_core::policy::{CpuChoice, Placement, Policy, System, Timer, View};
use sim_core::time::{Span, Time};

use self::balancers::Balancers;
use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::measure::{FULL, thousandths};
use crate::spread::Draws;

mod balancers;

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "SPEED",
    summary: "user-level balancing of the threads' shares of cpu time: fast cores pull threads from slow \
        cores",
    source: "Hofmeyr, Iancu, Blagojevic: Load Balancing on Speed, PPoPP 2010",
    level: Level::UserLevel,
    task_groups: TaskGroups::Kept,
    parameters: Parameters::TABLE,
    text: include_str!("speed.md"),
    wins: Showcase {
        scenario: "turns_on_uneven_cores",
        label: "SPEED",
        against: "PIN",
        app: "all",
        point: "",
    },
    loses: Showcase {
        scenario: "asleep_at_barriers",
        label: "SPEED",
        against: "LOAD",
        app: "all",
        point: "",
    },
    build: &build,
};

choices! {
    /// What the speed of a core is made of.
    enum Measure {
        /// Cpu time of its threads over real time.
        Share = "share",
        /// The inverse of the length of its queue.
        Queue = "queue",
        /// Work done by its threads over real time at nominal speed.
        Progress = "progress",
    }
}

choices! {
    /// The words of `sleepers`.
    enum Sleepers { Count = "count", Skip = "skip" }
}

parameters! {
    /// Parameters of `SPEED`.
    struct Parameters {
        /// Time between two checks of a balancer (0.1 s in the paper).
        interval: Duration = ms(100), in ms(1)..=s(100);
        /// Each interval grows by a uniform random part, at most this share of the interval (by default one
        /// interval). This prevents lock step.
        jitter: Percent = percent(100), in 0..=percent(1000);
        /// Other cores pull from a core when its speed is below this share of the global speed (T_s = 0.9).
        threshold: Percent = percent(90), in 1..=percent(100);
        /// What speed means. `share`: cpu time over real time as in the paper, polling included. `queue`: 1 /
        /// tasks on the core at the check, other programs included. `progress`: work done, measured as its
        /// time at nominal speed, over real time, as hardware counters report it.
        measure: Measure = Measure::Share;
        /// How to count threads that sleep at the check. `count`: as in the paper, where a thread that sleeps
        /// at a barrier appears slow. `skip`: leave them out of the mean and never pull them (their state is
        /// in `/proc`).
        sleepers: Sleepers = Sleepers::Count;
        /// Checks for which both cores rest after a migration, each counted by its balancer. With two, the
        /// next speed that counts is that of an interval without migration.
        block: u64 = 2, in 0..=1_000;
        /// Delay between the creation of the last thread and the first interval.
        startup: Duration = 0, in 0..=s(1000);
        /// Also pull across NUMA nodes.
        cross_nodes: bool = false;
        /// Cpu time of one check (reading the times of a core's threads: some system calls of about 1 us).
        cost: Duration = us(5), in 0..=s(1);
    }
}

fn build(values: &Values, _: &Setting<'_>) -> Box<dyn Policy> {
    let values = Parameters::from(values);
    let interval = Span::from_ns(values.interval.ns());
    Box::new(Speed {
        interval,
        jitter_ns: (u128::from(interval.ns()) * u128::from(values.jitter.hundredths()) / 10_000) as u64,
        threshold: values.threshold.hundredths(),
        block: values.block,
        startup: Span::from_ns(values.startup.ns()),
        cross_nodes: values.cross_nodes,
        cost: Span::from_ns(values.cost.ns()),
        measure: values.measure,
        skip_sleepers: values.sleepers == Sleepers::Skip,
        balancers: Vec::new(),
    })
}

struct Speed {
    interval: Span,
    jitter_ns: u64,
    /// In hundredths of a per cent.
    threshold: u64,
    /// Looks for which cores rest after a migration.
    block: u64,
    startup: Span,
    cross_nodes: bool,
    cost: Span,
    measure: Measure,
    skip_sleepers: bool,
    /// One per application; `None` before it starts, after it ended and for background ones.
    balancers: Vec<Option<Balancers>>,
}

impl Speed {
    /// One look of the balancer of one core.
    fn look(&self, system: &mut dyn System, balancers: &mut Balancers, me: usize) {
        balancers.measure(self, system, me);
        let global = balancers.global();
        if balancers.may_pull(me, global) {
            let slowest = balancers.slowest(self, system, me, global);
            let pick = balancers.draws.below(slowest.len() as u64) as usize;
            if let Some(from) = slowest.get(pick) {
                balancers.pull(self, system, (me, *from), global);
            }
        }
        system.charge(balancers.cpu(me), self.cost, true);
    }

    fn next_look(&self, now: Time, draws: &mut Draws) -> Time {
        let extra = draws.below(self.jitter_ns.saturating_add(1));
        now.saturating_add(self.interval).saturating_add(Span::from_ns(extra))
    }
}

const fn token(app: AppId, core: usize) -> u64 {
    (app.0 as u64) << 32 | core as u64
}

impl Policy for Speed {
    fn init(&mut self, system: &mut dyn System) {
        self.balancers = (0..system.apps()).map(|_| None).collect();
    }

    fn app_started(&mut self, system: &mut dyn System, app: AppId) {
        if system.app(app).background {
            return;
        }
        let balancers = Balancers::start(self, system, app);
        if let Some(slot) = self.balancers.get_mut(app.0 as usize) {
            *slot = Some(balancers);
        }
    }

    fn app_ready(&mut self, system: &mut dyn System, app: AppId) {
        let Some(mut balancers) = self.balancers.get_mut(app.0 as usize).and_then(Option::take) else {
            return;
        };
        let start = system.now().saturating_add(self.startup);
        balancers.begin(self, system);
        for core in 0..balancers.cores() {
            let at = self.next_look(start, &mut balancers.draws);
            system.at(at, Timer::Token(token(app, core)));
        }
        self.balancers[app.0 as usize] = Some(balancers);
    }

    fn app_exited(&mut self, _: &mut dyn System, app: AppId) {
        if let Some(slot) = self.balancers.get_mut(app.0 as usize) {
            *slot = None;
        }
    }

    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        let Timer::Token(token) = timer else { return };
        let (app, core) = ((token >> 32) as usize, (token & u64::from(u32::MAX)) as usize);
        let Some(mut balancers) = self.balancers.get_mut(app).and_then(Option::take) else {
            return;
        };
        if core < balancers.cores() {
            self.look(system, &mut balancers, core);
            let at = self.next_look(system.now(), &mut balancers.draws);
            system.at(at, Timer::Token(token));
        }
        self.balancers[app] = Some(balancers);
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        view.task(task).cpu.into()
    }
}

#[cfg(test)]
mod tests;
