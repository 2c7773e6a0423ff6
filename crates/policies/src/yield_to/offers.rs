//! Stragglers that wait for a cpu which runs none of theirs, oldest first, looked up anew only where
//! something has happened.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use sim_core::ids::{AppId, CpuId, Id, TaskId};
use sim_core::machine::PerCpu;
use sim_core::policy::{Awaited, System, TaskState};
use sim_core::time::Time;
use sim_core::wait::Scope;

use super::Members;

/// Those who wait for each other: all tasks of an application, its leaders, or the team of a process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Party {
    All,
    Leaders,
    Team(u32),
}

impl Party {
    /// The tasks for which `task` waits.
    pub(super) fn awaited(members: &Members, task: TaskId, what: Awaited) -> Self {
        match what {
            Awaited::Barrier(Scope::Team | Scope::Join) => Self::Team(members.rank(task) / members.process),
            Awaited::Barrier(Scope::Leaders) => Self::Leaders,
            Awaited::Barrier(Scope::All) | Awaited::Neighbour | Awaited::Lock | Awaited::Event => Self::All,
        }
    }

    /// All parties of which a task is a member.
    fn of(members: &Members, task: TaskId) -> impl Iterator<Item = Self> + use<> {
        let (rank, process) = (members.rank(task), members.process);
        let leads = rank.is_multiple_of(process).then_some(Self::Leaders);
        [Self::All, Self::Team(rank / process)].into_iter().chain(leads)
    }
}

/// A straggler as the search orders it: by party, then by when it last ran. The cpu keeps what a task offered
/// before it moved apart from what it offers now, whichever cpu is looked at first.
type Offer = (AppId, Party, Time, TaskId, CpuId);

/// What is known of a cpu.
#[derive(Clone)]
struct Place {
    /// What stands in [`Offers::sorted`].
    offers: Vec<Offer>,
    /// It stands in [`Offers::doubtful`].
    doubtful: bool,
    /// Its earliest time in [`Offers::due`].
    due: Time,
}

/// A straggler is a task of a party that has something else to do than to wait. It is on offer while it
/// stands in a queue and the task that holds its cpu is no straggler of the party.
#[derive(Default)]
pub(super) struct Offers {
    sorted: BTreeSet<Offer>,
    cpus: PerCpu<Place>,
    /// Cpus to be looked at before the next answer.
    doubtful: Vec<CpuId>,
    /// Cpus to be looked at from an instant on.
    due: BinaryHeap<Reverse<(Time, CpuId)>>,
    /// Room for a queue.
    queue: Vec<TaskId>,
}

impl Offers {
    /// The straggler on offer that has not run for longest, the first of equals.
    pub(super) fn oldest(
        &mut self,
        system: &mut dyn System,
        apps: &[Option<Members>],
        app: AppId,
        party: Party,
    ) -> Option<TaskId> {
        self.refresh(system, apps);
        let first = self.sorted.range((app, party, Time::ZERO, TaskId(0), CpuId(0))..).next()?;
        (first.0 == app && first.1 == party).then_some(first.3)
    }

    /// Looks at the cpus where something has happened, and at those that change by themselves.
    fn refresh(&mut self, system: &mut dyn System, apps: &[Option<Members>]) {
        if self.cpus.is_empty() {
            self.cpus = PerCpu::filled(
                system.machine().cpus() as usize,
                Place { offers: Vec::new(), doubtful: false, due: Time::NEVER },
            );
        }
        while let Some(Reverse((_, cpu))) = self.due.peek().filter(|due| due.0.0 <= system.now()).copied() {
            self.due.pop();
            self.cpus[cpu].due = Time::NEVER;
            doubt(&mut self.cpus, &mut self.doubtful, cpu);
        }
        let (cpus, doubtful) = (&mut self.cpus, &mut self.doubtful);
        system.dirty(&mut |cpu| doubt(cpus, doubtful, cpu));
        let mut doubtful = std::mem::take(&mut self.doubtful);
        for cpu in doubtful.drain(..) {
            self.cpus[cpu].doubtful = false;
            self.look(system, apps, cpu);
        }
        self.doubtful = doubtful;
    }

    /// Notes what a cpu has to offer, and until when: that changes without anything happening there when news
    /// of the end of a wait come to it, and as long as a task whose wait is over takes turns with others that
    /// poll.
    fn look(&mut self, system: &mut dyn System, apps: &[Option<Members>], cpu: CpuId) {
        let place = &mut self.cpus[cpu];
        for offer in place.offers.drain(..) {
            self.sorted.remove(&offer);
        }
        let current = system.current(cpu);
        system.queued(cpu, usize::MAX, &mut self.queue);
        let now = system.now();
        let turn = system.yield_ends(cpu);
        let ends = current.into_iter().chain(self.queue.iter().copied());
        let ends = ends.filter_map(|task| system.task(task).wait_ends).filter(|end| !end.is_never());
        let mut next = Time::NEVER;
        for end in ends {
            next = next.min(if end > now { end } else { turn });
        }
        if next < place.due {
            place.due = next;
            self.due.push(Reverse((next, cpu)));
        }
        let held = current.filter(|task| !system.task(*task).still_waits(now));
        for task in self.queue.iter().copied() {
            let seen = system.task(task);
            let Some(Some(members)) = apps.get(seen.app.index()) else { continue };
            if seen.state != TaskState::Queued || seen.still_waits(now) {
                continue;
            }
            let runs = |party: Party| {
                held.is_some_and(|held| {
                    members.tasks.contains(&held.0) && Party::of(members, held).any(|other| other == party)
                })
            };
            let free = Party::of(members, task).filter(|party| !runs(*party));
            place.offers.extend(free.map(|party| (seen.app, party, seen.last_ran, task, cpu)));
        }
        self.sorted.extend(place.offers.iter().copied());
    }
}

/// Puts a cpu on the list, once.
fn doubt(cpus: &mut PerCpu<Place>, doubtful: &mut Vec<CpuId>, cpu: CpuId) {
    if !std::mem::replace(&mut cpus[cpu].doubtful, true) {
        doubtful.push(cpu);
    }
}

/// What [`Offers::oldest`] finds, by a look at all tasks of the application.
pub(super) fn plain_scan(
    system: &mut dyn System,
    members: &Members,
    (task, what): (TaskId, Awaited),
) -> Option<TaskId> {
    let mut best: Option<(Time, TaskId)> = None;
    for other in members.tasks.clone().map(TaskId) {
        if !members.is_straggler(system, (task, what), other) {
            continue;
        }
        // Looking at the cpu brings up to date which of its polling tasks holds it.
        let current = system.current(system.task(other).cpu);
        let view = system.task(other);
        let older = best.is_none_or(|best| (view.last_ran, other) < best);
        let runs_straggler =
            current.is_some_and(|current| members.is_straggler(system, (task, what), current));
        if view.state == TaskState::Queued && older && !runs_straggler {
            best = Some((view.last_ran, other));
        }
    }
    best.map(|(_, other)| other)
}
