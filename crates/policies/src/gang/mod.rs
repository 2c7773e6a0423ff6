//! `gang`: all tasks of an application run at the same time, in slots of an Ousterhout matrix.
//!
//! Idea: a program that synchronises often never waits for a task that is not running. Sources: Ousterhout,
//! "Scheduling techniques for concurrent systems" (ICDCS 1982); Feitelson, Rudolph, "Gang scheduling
//! performance benefits for fine-grain synchronization" (JPDC 1992).

use notation::parameter::Values;
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::policy::{Affinity, CpuChoice, Placement, Policy, System, THROTTLED, Timer, View, Why};
use sim_core::time::{Span, Time};

use crate::entry::{Entry, Level, Setting, Showcase, TaskGroups};
use crate::spread::{allowed_cpus, first_allowed};

mod matrix;
mod pairs;
mod parameters;

use matrix::{Gang, Matrix, Packing};
use pairs::Pairs;
use parameters::{Alternates, Parameters, QuantumBy, SHORTEST};

/// Its entry in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "gang",
    summary: "gang scheduling: time slots alternate between applications, and all tasks of an application \
        run at the same time",
    source: "Ousterhout, ICDCS 1982; Feitelson and Rudolph, JPDC 1992; Feitelson, JSSPP 1996; Wiseman and \
        Feitelson, TPDS 2003; \
Zhang, Franke, Moreira and Sivasubramaniam, TPDS 2003",
    level: Level::InKernel,
    task_groups: TaskGroups::Refused,
    parameters: Parameters::TABLE,
    text: include_str!("gang.md"),
    wins: Showcase {
        scenario: "two_spinning_programs",
        label: "gang",
        against: "LOAD",
        app: "all",
        point: "",
    },
    loses: Showcase {
        scenario: "gangs_that_do_not_fill",
        label: "gang",
        against: "LOAD",
        app: "all",
        point: "",
    },
    build: &build,
};

fn build(values: &Values, setting: &Setting<'_>) -> Box<dyn Policy> {
    let values = Parameters::from(values);
    // Per cent are held in hundredths, demands in thousandths of a cpu.
    let pairs = || Pairs::new(values.pair_limit.hundredths() / 10, values.pair_cycles);
    Box::new(Scheduler {
        quantum: Span::from_ns(values.quantum.ns()),
        by_threads: values.quantum_by == QuantumBy::Threads,
        alternates: values.alternates,
        unification: values.unification,
        migration: values.migration,
        switch_cost: values.switch_cost.thousandths(),
        matrix: Matrix::new(values.packing, setting.machine.cpus() as usize, 0),
        packing: values.packing,
        pairs: values.pairing.then(pairs),
        active: 0,
        next_switch: Time::NEVER,
    })
}

/// Runs in the active slot, or belongs to no gang.
const ACTIVE: u8 = 0;
/// Belongs to an application that fits into the active slot's empty columns.
const ALTERNATE: u8 = 1;
/// Fills in where nobody else can run.
const FILL_IN: u8 = 2;

struct Scheduler {
    quantum: Span,
    by_threads: bool,
    alternates: Alternates,
    unification: bool,
    migration: bool,
    /// In thousandths.
    switch_cost: u64,
    packing: Packing,
    matrix: Matrix,
    pairs: Option<Pairs>,
    active: usize,
    /// When the active slot ends; slot calls before are leftovers.
    next_switch: Time,
}

impl Scheduler {
    /// The slot that has its turn together with the active one.
    fn partner(&self) -> Option<usize> {
        self.pairs.as_ref().and_then(|pairs| pairs.partner(self.active))
    }

    /// The priority of a gang in the active slot's turn, and why.
    fn priority(&self, app: AppId, gang: &Gang) -> (u8, Why) {
        let slots = &self.matrix.slots;
        let (active, partner) = (&slots[self.active], self.partner().map(|slot| &slots[slot]));
        let fits = |gang: &Gang| {
            let idle = |cpu: &CpuId| active.idle_in(*cpu) && partner.is_none_or(|slot| slot.idle_in(*cpu));
            gang.columns.iter().all(idle)
        };
        let (priority, rule) = if active.gangs.contains(&app) {
            (ACTIVE, "runs: its slot is active")
        } else if partner.is_some_and(|slot| slot.gangs.contains(&app)) {
            (ACTIVE, "runs: its slot is paired with the active one")
        } else if self.alternates == Alternates::None {
            (THROTTLED, "throttled until its slot is active")
        } else if self.alternates == Alternates::JobsFirst && fits(gang) {
            (ALTERNATE, "alternate: its columns are all empty in this slot")
        } else {
            (FILL_IN, "fills in where no task of the slot can run")
        };
        (priority, Why::rule(rule).with("slot", self.active as u64))
    }

    /// Puts the tasks of every gang into the priority of the active slot's order.
    fn apply_bands(&mut self, system: &mut dyn System) {
        if self.matrix.slots.is_empty() {
            return;
        }
        for app in (0..self.matrix.gangs.len()).map(|app| AppId(app as u32)) {
            let Some(gang) = self.matrix.gang(app) else {
                continue;
            };
            let (priority, why) = self.priority(app, gang);
            let Some(gang) = self.matrix.gang_mut(app).filter(|gang| gang.priority != Some(priority)) else {
                continue;
            };
            gang.priority = Some(priority);
            for task in gang.task_ids() {
                system.set_priority(task, priority, why);
            }
        }
    }

    /// Makes `slot` the active one at the price of a global switch.
    fn switch_to(&mut self, system: &mut dyn System, slot: usize, rule: &'static str) {
        self.active = slot;
        let length = self.turn(system);
        let why = Why::rule(rule).with("slot", slot as u64).with("slots", self.matrix.slots.len() as u64);
        system.remark(why.with("length us", length.ns() / 1_000));
        self.apply_bands(system);
        let costs = &system.machine().costs;
        let cpus = system.machine().cpus();
        let hops = u64::from(cpus.next_power_of_two().ilog2());
        let span = costs.ipi * hops + costs.switch_process;
        let span = Span::from_ns((u128::from(span.ns()) * u128::from(self.switch_cost) / 1_000) as u64);
        if span > Span::ZERO {
            for cpu in system.machine().cpu_ids() {
                system.charge(cpu, span, false);
            }
        }
        self.start_quantum(system);
    }

    /// How long the active slot has its turn.
    fn turn(&self, system: &dyn System) -> Span {
        if !self.by_threads {
            return self.quantum;
        }
        let own = self.matrix.tasks_of(self.active);
        let tasks = own.max(self.partner().map_or(0, |slot| self.matrix.tasks_of(slot)));
        let cpus = u128::from(system.machine().cpus());
        let length = u128::from(self.quantum.ns()) * u128::from(tasks) / cpus.max(1);
        Span::from_ns((length as u64).max(SHORTEST))
    }

    fn start_quantum(&mut self, system: &mut dyn System) {
        self.next_switch = Time::NEVER;
        if self.matrix.slots.len() > 1 {
            let length = self.turn(system);
            self.next_switch = system.now().saturating_add(length);
            system.at(self.next_switch, Timer::Slot);
            if let Some(pairs) = &mut self.pairs {
                pairs.turn_begins(system, &mut self.matrix, self.active);
            }
        }
    }

    /// The slot whose turn is next: one of a pair has had its turn with the other.
    fn next_slot(&mut self) -> usize {
        let slots = self.matrix.slots.len();
        let Some(pairs) = &mut self.pairs else { return (self.active + 1) % slots };
        let leads = |slot: &usize| pairs.partner(*slot).is_none_or(|other| other > *slot);
        let next = (self.active + 1..slots).find(leads);
        next.unwrap_or_else(|| {
            pairs.cycle(&self.matrix);
            0
        })
    }

    /// Removes an application and makes slots fewer where that is asked for. Returns whether the active slot
    /// went.
    fn remove(&mut self, system: &mut dyn System, app: AppId) -> bool {
        let Some((slot, emptied)) = self.matrix.remove(app) else {
            return false;
        };
        let mut lost_active = false;
        if emptied {
            self.matrix.slots.remove(slot);
            lost_active = self.forget_slot(slot);
        }
        if self.unification {
            self.unite(system);
        }
        if self.migration {
            lost_active |= self.dissolve(system);
        }
        if let Some(pairs) = &mut self.pairs {
            pairs.changed(&self.matrix);
        }
        lost_active
    }

    /// A slot has gone: the active one keeps its turn, or the one after it has moved to its place; after the
    /// last comes the first. Returns whether it was the active one.
    fn forget_slot(&mut self, slot: usize) -> bool {
        let was_active = self.active == slot;
        if self.active > slot {
            self.active -= 1;
        }
        if self.active >= self.matrix.slots.len() {
            self.active = 0;
        }
        was_active
    }

    fn unite(&mut self, system: &mut dyn System) {
        while let Some((into, from)) = self.matrix.disjoint_slots() {
            let rule = Why::rule("slots merged: they share no column");
            system.remark(rule.with("slot", into as u64).with("and slot", from as u64));
            self.matrix.unite(into, from);
            if self.active == from {
                self.active = into;
            } else if self.active > from {
                self.active -= 1;
            }
        }
    }

    /// Moves gangs to free columns as long as that saves a slot. Returns whether the active one went.
    fn dissolve(&mut self, system: &mut dyn System) -> bool {
        let mut lost_active = false;
        while let Some((from, moves)) = self.matrix.dissolve() {
            for app in self.matrix.settle(from, moves) {
                let Some(gang) = self.matrix.gang(app) else { continue };
                for task in gang.task_ids() {
                    if !system.allowed(task, gang.column(task)) {
                        let why = Why::rule("moved: saves a slot").with("dissolved slot", from as u64);
                        system.set_affinity(task, Affinity::One(gang.column(task)), why);
                    }
                }
            }
            lost_active |= self.forget_slot(from);
        }
        lost_active
    }

    /// Binds the tasks of a new gang to their columns.
    fn bind(&self, system: &mut dyn System, app: AppId, slot: usize, new: bool) {
        let Some(gang) = self.matrix.gang(app) else { return };
        let rule = match (self.packing, new) {
            (_, true) => "column in a new slot: it fits into none",
            (Packing::FirstFit, _) => "column in the first slot with enough free columns",
            (Packing::Buddy, _) => "column of the least loaded block, in the first slot where it is free",
        };
        let why = Why::rule(rule).with("slot", slot as u64).with("columns", gang.columns.len() as u64);
        for task in gang.task_ids() {
            system.set_affinity(task, Affinity::One(gang.column(task)), why);
        }
    }
}

impl Policy for Scheduler {
    fn init(&mut self, system: &mut dyn System) {
        let cpus = system.machine().cpus() as usize;
        self.matrix = Matrix::new(self.packing, cpus, system.apps() as usize);
    }

    fn app_started(&mut self, system: &mut dyn System, app: AppId) {
        let view = system.app(app);
        let allowed = allowed_cpus(system, TaskId(view.tasks.start));
        if view.background || allowed.is_empty() || view.tasks.is_empty() {
            return;
        }
        let before = self.matrix.slots.len();
        let slot = self.matrix.admit(app, Gang::new(&view.tasks, allowed));
        self.bind(system, app, slot, slot == before);
        if let Some(pairs) = &mut self.pairs {
            pairs.changed(&self.matrix);
        }
        self.apply_bands(system);
        if self.next_switch.is_never() {
            self.start_quantum(system);
        }
    }

    fn app_exited(&mut self, system: &mut dyn System, app: AppId) {
        if self.remove(system, app) && !self.matrix.slots.is_empty() {
            self.switch_to(system, self.active, "slot begins: the previous slot is gone");
        } else {
            self.apply_bands(system);
            if self.matrix.slots.len() <= 1 {
                self.next_switch = Time::NEVER;
            }
        }
    }

    fn timer(&mut self, system: &mut dyn System, _: Timer) {
        if system.now() < self.next_switch || self.matrix.slots.len() < 2 {
            return;
        }
        let before = (self.active, self.partner());
        if let Some(pairs) = &self.pairs {
            pairs.yield_ends(system, &mut self.matrix, self.active);
        }
        let next = self.next_slot();
        let partner = self.pairs.as_ref().and_then(|pairs| pairs.partner(next));
        if (next, partner) == before {
            system.remark(Why::rule("slot continues: no other slot waits").with("slot", next as u64));
            self.start_quantum(system);
        } else {
            self.switch_to(system, next, "slot begins: it is the next one");
        }
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, placement: Placement) -> CpuChoice {
        let (wish, why) = match (self.matrix.gang(view.task(task).app), placement) {
            (Some(gang), _) => (gang.column(task), Why::rule("its column")),
            (None, Placement::Wake { previous, .. }) => {
                (previous, Why::rule("in no gang: where it last ran"))
            }
            (None, Placement::Fork { .. }) => {
                let allowed = view.machine().cpu_ids().filter(|cpu| view.allowed(task, *cpu));
                let cpu = allowed.min_by_key(|cpu| view.load(*cpu)).unwrap_or(CpuId(0));
                (cpu, Why::rule("in no gang: least loaded cpu").with("load", view.load(cpu)))
            }
        };
        CpuChoice::new(if view.allowed(task, wish) { wish } else { first_allowed(view, task) }, why)
    }
}

#[cfg(test)]
mod tests;
