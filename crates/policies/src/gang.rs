//! `gang`: all tasks of an application run at the same time, in slots of an Ousterhout matrix.
//!
//! Idea: a program that synchronises often never waits for a task that is not running. Sources: Ousterhout,
//! "Scheduling techniques for concurrent systems" (ICDCS 1982); Feitelson, Rudolph, "Gang scheduling performance benefits for
//! fine-grain synchronization" (JPDC 1992).

use notation::parameter::{Kind, Parameter, Values};
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::policy::{Affinity, Placement, Policy, System, View};
use sim_core::time::{Span, Time};

use crate::registry::{Entry, Level, Setting, Showcase};
use crate::spread::{allowed_cpus, first_allowed};

/// Its place on the shelf.
pub(crate) const ENTRY: Entry = Entry {
    name: "gang",
    summary: "gang scheduling: applications take turns in time slots, all their tasks at once",
    source: "Ousterhout, ICDCS 1982; Feitelson and Rudolph, JPDC 1992",
    level: Level::Kernel,
    parameters: PARAMETERS,
    about: "A matrix of slots (rows) and cpus (columns). A starting application takes the first slot with enough free \
columns, or a new one; it is one gang: with more tasks than cpus, k tasks share a column and its slot. Slots take turns of \
one quantum; at each change every cpu pays the broadcast of the switch, an interrupt per doubling of the cpus plus one \
context switch. Tasks stay in their column; nothing is balanced.\n\n\
Where the active slot leaves a cpu idle (an empty cell, or all its tasks asleep) tasks of other slots run in its stead: \
first those of applications whose columns are all free in this slot (alternates), then any other. This filling-in cannot \
be switched off: bands only order tasks. When an application ends, slots whose columns do not overlap are united.\n\n\
Good for fine-grained spinning programs; poor when programs do not fill the machine, sleep, or synchronise rarely, and \
when the quantum is not long against the cost of a change. Background applications are outside the matrix: they run in \
every slot, on the least loaded cpu they may use.",
    sees: "Which application a task belongs to, starts and ends, masks, and which cpus have nothing to run.",
    costs: "At each slot change every cpu pays an interrupt per doubling of the cpus and one context switch of kernel time; the caches then have to be refilled.",
    wins: Showcase { scenario: "", label: "gang", against: "", app: "all", point: "", about: "" },
    loses: Showcase { scenario: "", label: "gang", against: "", app: "all", point: "", about: "" },
    build,
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "quantum",
        kind: Kind::Duration,
        default: 100_000_000,
        min: 100_000,
        max: 1_000_000_000_000,
        about: "Length of a slot (at least 100 ms on production systems such as the CM-5).",
    },
    Parameter {
        name: "alternates",
        kind: Kind::Choice(&["jobs-first", "any"]),
        default: 0,
        min: 0,
        max: 1,
        about: "Who fills idle cells first: applications that fit as a whole, or any task alike.",
    },
    Parameter {
        name: "unification",
        kind: Kind::Flag,
        default: 1,
        min: 0,
        max: 1,
        about: "Unite slots with disjoint columns when an application ends.",
    },
    Parameter {
        name: "switch_cost",
        kind: Kind::Factor,
        default: 1_000,
        min: 0,
        max: 1_000_000,
        about: "Scales the cost of a slot change, t_ipi * ceil(log2 cpus) + one context switch on every cpu.",
    },
];

fn build(values: &Values, _: &Setting<'_>) -> Box<dyn Policy> {
    Box::new(Gang {
        quantum: Span::from_ns(values.get("quantum")),
        whole_jobs_first: values.choice("alternates") == "jobs-first",
        unification: values.flag("unification"),
        switch_cost: values.get("switch_cost"),
        slots: Vec::new(),
        active: 0,
        next_switch: Time::NEVER,
        gangs: Vec::new(),
    })
}

/// Runs in the active slot, or belongs to no gang.
const ACTIVE: u8 = 0;
/// Belongs to an application that fits into the active slot's empty columns.
const ALTERNATE: u8 = 1;
/// Fills in where nobody else can run.
const FILL_IN: u8 = 2;

struct Gang {
    quantum: Span,
    whole_jobs_first: bool,
    unification: bool,
    /// In thousandths.
    switch_cost: u64,
    slots: Vec<Slot>,
    active: usize,
    /// When the active slot ends; slot calls before are leftovers.
    next_switch: Time,
    /// Per application; `None` outside the matrix.
    gangs: Vec<Option<Job>>,
}

/// A row of the matrix.
struct Slot {
    jobs: Vec<AppId>,
    taken: Vec<bool>,
}

/// A gang.
struct Job {
    first: u32,
    tasks: u32,
    columns: Vec<CpuId>,
    band: Option<u8>,
}

impl Job {
    fn column(&self, task: TaskId) -> CpuId {
        let rank = task.0.saturating_sub(self.first) as usize;
        self.columns[rank % self.columns.len()]
    }

    fn fits(&self, slot: &Slot) -> bool {
        self.columns.iter().all(|cpu| !slot.taken[cpu.0 as usize])
    }
}

impl Slot {
    fn add(&mut self, app: AppId, columns: &[CpuId]) {
        self.jobs.push(app);
        for cpu in columns {
            self.taken[cpu.0 as usize] = true;
        }
    }
}

impl Gang {
    /// First fit: the first slot with enough free columns among `allowed`, or a new one. Returns the columns.
    fn admit(&mut self, app: AppId, tasks: u32, allowed: &[CpuId], cpus: usize) -> Vec<CpuId> {
        let width = allowed.len().min(tasks as usize);
        for slot in &mut self.slots {
            let free = allowed.iter().copied().filter(|cpu| !slot.taken[cpu.0 as usize]);
            let columns: Vec<CpuId> = free.take(width).collect();
            if columns.len() == width {
                slot.add(app, &columns);
                return columns;
            }
        }
        let mut slot = Slot { jobs: Vec::new(), taken: vec![false; cpus] };
        let columns = allowed[..width].to_vec();
        slot.add(app, &columns);
        self.slots.push(slot);
        columns
    }

    /// Puts the tasks of every gang into the band of the active slot's order.
    fn apply_bands(&mut self, system: &mut dyn System) {
        let Some(active) = self.slots.get(self.active) else {
            return;
        };
        for (app, job) in self.gangs.iter_mut().enumerate() {
            let Some(job) = job else {
                continue;
            };
            let band = if active.jobs.contains(&AppId(app as u32)) {
                ACTIVE
            } else if self.whole_jobs_first && job.fits(active) {
                ALTERNATE
            } else {
                FILL_IN
            };
            if job.band != Some(band) {
                job.band = Some(band);
                for task in job.first..job.first + job.tasks {
                    system.set_band(TaskId(task), band);
                }
            }
        }
    }

    /// Makes `slot` the active one at the price of a global switch.
    fn switch_to(&mut self, system: &mut dyn System, slot: usize) {
        self.active = slot;
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

    fn start_quantum(&mut self, system: &mut dyn System) {
        self.next_switch = Time::NEVER;
        if self.slots.len() > 1 {
            self.next_switch = system.now().saturating_add(self.quantum);
            system.at_slot(self.next_switch);
        }
    }

    /// Removes an application and, if asked to, unites slots with disjoint columns. Returns whether the active slot went.
    fn remove(&mut self, app: AppId) -> bool {
        let Some(row) = self.slots.iter().position(|slot| slot.jobs.contains(&app)) else {
            return false;
        };
        let columns = self.gangs[app.0 as usize].take().map(|job| job.columns).unwrap_or_default();
        let slot = &mut self.slots[row];
        slot.jobs.retain(|job| *job != app);
        for cpu in columns {
            slot.taken[cpu.0 as usize] = false;
        }
        let emptied = slot.jobs.is_empty();
        let lost_active = emptied && row == self.active;
        if emptied {
            self.drop_slot(row);
        }
        if self.unification {
            self.unite();
        }
        lost_active
    }

    fn drop_slot(&mut self, row: usize) {
        self.slots.remove(row);
        if self.active > row {
            self.active -= 1;
        }
        // The slot after the one that went has moved to its place; after the last comes the first.
        if self.active >= self.slots.len() {
            self.active = 0;
        }
    }

    fn unite(&mut self) {
        let mut into = 0;
        while into < self.slots.len() {
            let disjoint = |a: &Slot, b: &Slot| !a.taken.iter().zip(&b.taken).any(|(a, b)| *a && *b);
            let later = into + 1..self.slots.len();
            let Some(from) = later.clone().find(|from| disjoint(&self.slots[into], &self.slots[*from]))
            else {
                into += 1;
                continue;
            };
            if self.active == from {
                self.active = into;
            } else if self.active > from {
                self.active -= 1;
            }
            let merged = self.slots.remove(from);
            let slot = &mut self.slots[into];
            slot.jobs.extend(merged.jobs);
            for (mine, theirs) in slot.taken.iter_mut().zip(merged.taken) {
                *mine |= theirs;
            }
        }
    }
}

impl Policy for Gang {
    fn init(&mut self, system: &mut dyn System) {
        self.gangs = (0..system.apps()).map(|_| None).collect();
    }

    fn app_started(&mut self, system: &mut dyn System, app: AppId) {
        let view = system.app(app);
        let allowed = allowed_cpus(system, TaskId(view.tasks.start));
        if view.background || allowed.is_empty() || view.tasks.is_empty() {
            return;
        }
        let tasks = view.tasks.len() as u32;
        let columns = self.admit(app, tasks, &allowed, system.machine().cpus() as usize);
        let job = Job { first: view.tasks.start, tasks, columns, band: None };
        for task in view.task_ids() {
            system.set_affinity(task, Affinity::One(job.column(task)));
        }
        if let Some(slot) = self.gangs.get_mut(app.0 as usize) {
            *slot = Some(job);
        }
        self.apply_bands(system);
        if self.next_switch.is_never() {
            self.start_quantum(system);
        }
    }

    fn app_exited(&mut self, system: &mut dyn System, app: AppId) {
        if self.remove(app) && !self.slots.is_empty() {
            self.switch_to(system, self.active);
        } else {
            self.apply_bands(system);
            if self.slots.len() <= 1 {
                self.next_switch = Time::NEVER;
            }
        }
    }

    fn slot(&mut self, system: &mut dyn System) {
        if system.now() >= self.next_switch && self.slots.len() > 1 {
            self.switch_to(system, (self.active + 1) % self.slots.len());
        }
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, why: Placement) -> CpuId {
        let app = view.task(task).app;
        let job = self.gangs.get(app.0 as usize).and_then(Option::as_ref);
        let wish = match (job, why) {
            (Some(job), _) => job.column(task),
            (None, Placement::Wake { previous, .. }) => previous,
            (None, _) => {
                let allowed = view.machine().cpu_ids().filter(|cpu| view.allowed(task, *cpu));
                allowed.min_by_key(|cpu| view.load(*cpu)).unwrap_or(CpuId(0))
            }
        };
        if view.allowed(task, wish) { wish } else { first_allowed(view, task) }
    }
}

#[cfg(test)]
mod tests;
