//! `JUGGLE`: proactive user-level balancing: every interval the threads that are behind take the places of
//! those ahead.
//!
//! Source: Hofmeyr, Colmenares, Iancu, Kubiatowicz, "Juggle: Proactive Load Balancing on Multicore Computers"
//! (HPDC 2011).

use notation::declare::{Duration, Percent};
use notation::parameter::Values;
use notation::{choices, parameters};
use sim_core::ids::{AppId, TaskId};
use sim_core::policy::{CpuChoice, Placement, Policy, System, Timer, View};
use sim_core::time::Span;

use self::team::Team;
use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::measure::Reading;

mod team;

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "JUGGLE",
    summary: "user-level proactive balancing: threads that are behind swap cores with threads that are ahead",
    source: "Hofmeyr, Colmenares, Iancu, Kubiatowicz: Juggle, HPDC 2011; Cluster Computing 16(2), 2013",
    level: Level::UserLevel,
    task_groups: TaskGroups::Kept,
    parameters: Parameters::TABLE,
    text: include_str!("juggle.md"),
    wins: Showcase {
        scenario: "turns_on_uneven_cores",
        label: "JUGGLE",
        against: "SPEED",
        app: "all",
        point: "",
    },
    loses: Showcase {
        scenario: "asleep_at_barriers",
        label: "JUGGLE",
        against: "LOAD",
        app: "all",
        point: "",
    },
    build: &build,
};

choices! {
    /// The words of `measure`.
    enum Measure { Share = "share", Progress = "progress" }
}

choices! {
    /// The words of `scope`.
    enum Scope { Node = "node", Machine = "machine" }
}

choices! {
    /// The words of `coordinator`.
    enum Coordinator { Each = "each", One = "one" }
}

parameters! {
    /// Parameters of `JUGGLE`.
    struct Parameters {
        /// Time between two rounds (0.1 s as in SPEED; unverified).
        interval: Duration = ms(100), in ms(1)..=s(100);
        /// Two threads swap when one is ahead of the other by more than this share of an interval
        /// (unverified).
        threshold: Percent = percent(10), in 0..=percent(1000);
        /// How to measure progress. `share`: the cpu time that a thread has received, polling included.
        /// `progress`: the work that it has done, as hardware counters report it.
        measure: Measure = Measure::Share;
        /// Threads swap cores inside each NUMA node (`node`, as in SPEED; unverified) or across the whole
        /// machine (`machine`).
        scope: Scope = Scope::Node;
        /// Which process reads the times: one balancer on each core for its own threads (`each`), or one
        /// process for all (`one`).
        coordinator: Coordinator = Coordinator::Each;
        /// Delay between the creation of the last thread and the first interval.
        startup: Duration = 0, in 0..=s(1000);
        /// Cpu time of reading the times of one core's threads (some system calls of about 1 us).
        cost: Duration = us(5), in 0..=s(1);
    }
}

fn build(values: &Values, _: &Setting<'_>) -> Box<dyn Policy> {
    let values = Parameters::from(values);
    let interval = Span::from_ns(values.interval.ns());
    let lead = u128::from(interval.ns()) * u128::from(values.threshold.hundredths()) / 10_000;
    Box::new(Juggle {
        interval,
        startup: Span::from_ns(values.startup.ns()),
        rules: Rules {
            lead: Span::from_ns(lead as u64),
            threshold: values.threshold.hundredths(),
            reading: match values.measure {
                Measure::Share => Reading::CpuTime,
                Measure::Progress => Reading::Work,
            },
            by_node: values.scope == Scope::Node,
            central: values.coordinator == Coordinator::One,
            cost: Span::from_ns(values.cost.ns()),
        },
        teams: Vec::new(),
    })
}

/// What a round goes by.
struct Rules {
    /// Two threads swap when they are farther apart than this.
    lead: Span,
    /// The same in hundredths of a per cent of the interval.
    threshold: u64,
    reading: Reading,
    by_node: bool,
    central: bool,
    cost: Span,
}

struct Juggle {
    interval: Span,
    startup: Span,
    rules: Rules,
    /// One per application; `None` before it starts, after it ended and for background ones.
    teams: Vec<Option<Team>>,
}

impl Juggle {
    fn team(&mut self, app: u64) -> Option<&mut Option<Team>> {
        self.teams.get_mut(app as usize)
    }
}

impl Policy for Juggle {
    fn init(&mut self, system: &mut dyn System) {
        self.teams = (0..system.apps()).map(|_| None).collect();
    }

    fn app_started(&mut self, system: &mut dyn System, app: AppId) {
        if system.app(app).background {
            return;
        }
        let team = Team::start(&self.rules, system, app);
        if let Some(slot) = self.team(u64::from(app.0)) {
            *slot = Some(team);
        }
    }

    fn app_ready(&mut self, system: &mut dyn System, app: AppId) {
        let first = system.now().saturating_add(self.startup).saturating_add(self.interval);
        let reading = self.rules.reading;
        if let Some(Some(team)) = self.team(u64::from(app.0)) {
            team.begin(reading, system);
            system.at(first, Timer::Token(u64::from(app.0)));
        }
    }

    fn app_exited(&mut self, _: &mut dyn System, app: AppId) {
        if let Some(slot) = self.team(u64::from(app.0)) {
            *slot = None;
        }
    }

    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        let Timer::Token(token) = timer else { return };
        let next = system.now().saturating_add(self.interval);
        if let Some(Some(team)) = self.teams.get_mut(token as usize) {
            team.round(&self.rules, system);
            system.at(next, Timer::Token(token));
        }
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        view.task(task).cpu.into()
    }
}

#[cfg(test)]
mod tests;
