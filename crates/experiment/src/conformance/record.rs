//! What a run shows at each tick, and which rules decided where that is first not as expected.

use std::collections::BTreeSet;

use sim_core::command::Act;
use sim_core::ids::{AppId, CpuId, Id, TaskId};
use sim_core::observe::{Contender, LeaveReason, Observation, Observer, QueueDecision, Verdict};
use sim_core::policy::{Action, Decision, Placement};
use sim_core::time::Time;

use super::case::{Case, Cell, Difference, TICK};
use super::table::show;
use crate::decisions::reason;

/// What a run has shown.
pub(super) struct Seen {
    /// A row for each tick from 0.
    pub(super) rows: Vec<Vec<Cell>>,
    /// The first cell that is not as expected.
    pub(super) first: Option<Difference>,
}

/// A cpu as of now.
#[derive(Clone, Default)]
struct Now {
    current: Option<usize>,
    runnable: BTreeSet<usize>,
    delayed: BTreeSet<usize>,
}

pub(super) struct Recorder<'a> {
    case: &'a Case,
    ticks: u64,
    cpus: Vec<Now>,
    seen: Seen,
    /// The last decision of the queue of each cpu; the last placement or move of each task, and of any task
    /// to or from each cpu. They are kept up to the first difference.
    queues: Vec<Option<(Time, QueueDecision)>>,
    tasks: Vec<Option<(Time, Decision)>>,
    touched: Vec<Option<(Time, Decision)>>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(case: &'a Case, cpus: u32, ticks: u64) -> Self {
        let (cpus, tasks) = (cpus as usize, case.tasks.len());
        Self {
            case,
            ticks,
            cpus: vec![Now::default(); cpus],
            seen: Seen { rows: Vec::new(), first: None },
            queues: vec![None; cpus],
            tasks: vec![None; tasks],
            touched: vec![None; cpus],
        }
    }

    /// Something happens at an instant; `command`: when all events of it are over. Rows up to then are
    /// complete.
    fn come(&mut self, at: Time, command: bool) {
        while (self.seen.rows.len() as u64) < self.ticks {
            let tick = Time::ZERO + TICK * self.seen.rows.len() as u64;
            let complete = match self.case.before {
                true => at > tick || command && at == tick,
                false => at >= tick + TICK,
            };
            if !complete {
                return;
            }
            self.row();
        }
    }

    fn row(&mut self) {
        let cell = |cpu: &Now| {
            // A cpu without runnable tasks lets those go whose dequeue is delayed.
            let delayed = if cpu.runnable.is_empty() { 0 } else { cpu.delayed.len() };
            let length = cpu.runnable.len() + delayed;
            Cell { who: Some(cpu.current), length: Some(length as u32) }
        };
        let row: Vec<Cell> = self.cpus.iter().map(cell).collect();
        let tick = self.seen.rows.len() as u64;
        let expected = self.case.rows.get(&tick).filter(|_| self.seen.first.is_none());
        let differs = |(cpu, expected): (usize, &Cell)| {
            let got = *row.get(cpu)?;
            (!expected.agrees(got)).then_some((cpu, *expected, got))
        };
        if let Some((cpu, expected, got)) = expected.and_then(|row| row.iter().enumerate().find_map(differs))
        {
            let decided = self.deciders(cpu, expected, got);
            let cpu = cpu as u32 + self.case.first_cpu;
            self.seen.first = Some(Difference { tick, cpu, expected, got, decided });
        }
        self.seen.rows.push(row);
    }

    /// The decisions that led to a cell: the last one of the cpu's queue, and the last placement or move of
    /// the tasks that were expected and seen, or of any task to or from the cpu if only its length differs.
    fn deciders(&self, cpu: usize, expected: Cell, got: Cell) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        let mut add = |at: Time, text: String| {
            let text = format!("tick {}: {text}", at.ns() / TICK.ns());
            if !texts.contains(&text) {
                texts.push(text);
            }
        };
        if expected.who.is_some() && expected.who != got.who {
            if let Some((at, decision)) = &self.queues[cpu] {
                add(*at, self.of_queue(decision));
            }
            for task in [expected.who, got.who].into_iter().flatten().flatten() {
                if let Some((at, decision)) = self.tasks.get(task).and_then(Option::as_ref) {
                    add(*at, self.of_policy(decision));
                }
            }
        }
        if expected.length.is_some()
            && expected.length != got.length
            && let Some((at, decision)) = &self.touched[cpu]
        {
            add(*at, self.of_policy(decision));
        }
        if texts.is_empty() {
            texts.push(format!("nothing was decided about {}", show(self.case, expected)));
        }
        texts
    }

    /// A decision of a queue in words.
    fn of_queue(&self, decision: &QueueDecision) -> String {
        let did = match decision.verdict {
            Verdict::Picked => "picks",
            Verdict::Preempts => "preempts for",
            Verdict::Waits => "lets wait",
        };
        let mean = decision.mean.map_or(String::new(), |mean| format!("; mean {mean}"));
        let queue: Vec<String> = decision.contenders.iter().map(|one| self.stands(one)).collect();
        let (cpu, name) = (self.cpu(decision.cpu), self.name(decision.task.0 as usize));
        format!("{cpu} {did} {name}: {}; {}{mean}", decision.rule, queue.join(", "))
    }

    /// A placement or a move in words.
    fn of_policy(&self, decision: &Decision) -> String {
        let who = decision.task.map_or("", |TaskId(task)| self.name(task as usize));
        let did = match &decision.action {
            Action::Placed { placement: Placement::Wake { previous, .. }, cpu } => {
                format!("woken on {}, last on {}", self.cpu(*cpu), self.cpu(*previous))
            }
            Action::Placed { placement: Placement::Fork { parent }, cpu } => {
                format!("placed on {} from {}", self.cpu(*cpu), self.cpu(*parent))
            }
            Action::Migrated { from, to } => format!("moved from {} to {}", self.cpu(*from), self.cpu(*to)),
            _ => String::new(),
        };
        format!("{who} {did}: {}", reason(&decision.why))
    }

    pub(super) fn finish(mut self) -> Seen {
        self.come(Time::NEVER, false);
        self.seen
    }

    fn name(&self, task: usize) -> &str {
        self.case.tasks.get(task).map_or("?", String::as_str)
    }

    fn cpu(&self, cpu: CpuId) -> String {
        format!("cpu{}", cpu.0 + self.case.first_cpu)
    }

    fn stands(&self, one: &Contender) -> String {
        let mut text = format!("{} v {}", self.name(one.task.0 as usize), one.vruntime);
        if let Some(request) = one.request {
            text += &format!(" deadline {}", request.deadline);
            text += if request.eligible { " eligible" } else { "" };
            if let Some(until) = request.protected_until {
                text += &format!(" protected to {until}");
            }
        }
        text += if one.current { " current" } else { "" };
        text + if one.delayed { " delayed" } else { "" }
    }
}

impl Observer for Recorder<'_> {
    fn observe(&mut self, at: Time, what: &Observation) {
        self.come(at, false);
        match *what {
            Observation::Runnable { task, cpu } => {
                let task = task.0 as usize;
                for cpu in &mut self.cpus {
                    cpu.runnable.remove(&task);
                    cpu.delayed.remove(&task);
                }
                self.cpus[cpu.index()].runnable.insert(task);
            }
            Observation::Running { task, cpu } => self.cpus[cpu.index()].current = Some(task.0 as usize),
            Observation::Stopping { task, cpu, reason } => {
                let now = &mut self.cpus[cpu.index()];
                now.current = None;
                if reason != LeaveReason::Preempted {
                    now.runnable.remove(&(task.0 as usize));
                }
            }
            _ => {}
        }
    }

    fn commanded(&mut self, at: Time, _: AppId, _: &Act) {
        self.come(at, true);
    }

    fn wants_queues(&self) -> bool {
        true
    }

    fn queued(&mut self, at: Time, decision: &QueueDecision) {
        self.come(at, false);
        let delayed = decision.contenders.iter().filter(|one| one.delayed).map(|one| one.task.0 as usize);
        self.cpus[decision.cpu.index()].delayed = delayed.collect();
        if self.seen.first.is_none() {
            self.queues[decision.cpu.index()] = Some((at, decision.clone()));
        }
    }

    fn decided(&mut self, at: Time, decision: &Decision) {
        self.come(at, false);
        let cpus = match &decision.action {
            Action::Placed { placement: Placement::Wake { previous: from, .. }, cpu }
            | Action::Placed { placement: Placement::Fork { parent: from }, cpu } => [*cpu, *from],
            Action::Migrated { from, to } => [*from, *to],
            _ => return,
        };
        if self.seen.first.is_some() {
            return;
        }
        let task = decision.task.and_then(|TaskId(task)| self.tasks.get_mut(task as usize));
        if let Some(task) = task {
            *task = Some((at, decision.clone()));
        }
        for cpu in cpus {
            self.touched[cpu.index()] = Some((at, decision.clone()));
        }
    }
}
