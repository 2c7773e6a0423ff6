//! What a run shows at each tick, and which rules decided.

use std::collections::BTreeSet;

use sim_core::command::Act;
use sim_core::ids::{AppId, CpuId, Id, TaskId};
use sim_core::observe::{Contender, LeaveReason, Observation, Observer, QueueDecision, Verdict};
use sim_core::policy::{Action, Decision, Placement};
use sim_core::time::Time;

use super::case::{Case, Cell, TICK};
use crate::decisions::reason;

/// A decision in words.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) at: Time,
    /// The cpus that it is about, and the task.
    pub(super) cpus: [Option<u32>; 2],
    pub(super) task: Option<usize>,
    /// A task was picked, or competes with the current one.
    pub(super) of_queue: bool,
    pub(super) text: String,
}

/// What a run has shown.
pub(super) struct Seen {
    /// A row for each tick from 0.
    pub(super) rows: Vec<Vec<Cell>>,
    pub(super) notes: Vec<Note>,
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
}

impl<'a> Recorder<'a> {
    pub(super) fn new(case: &'a Case, cpus: u32, ticks: u64) -> Self {
        let seen = Seen { rows: Vec::new(), notes: Vec::new() };
        Self { case, ticks, cpus: vec![Now::default(); cpus as usize], seen }
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
        let row = self.cpus.iter().map(cell).collect();
        self.seen.rows.push(row);
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
        let did = match decision.verdict {
            Verdict::Picked => "picks",
            Verdict::Preempts => "preempts for",
            Verdict::Waits => "lets wait",
        };
        let task = decision.task.0 as usize;
        let mean = decision.mean.map_or(String::new(), |mean| format!("; mean {mean}"));
        let queue: Vec<String> = decision.contenders.iter().map(|one| self.stands(one)).collect();
        let (cpu, name) = (self.cpu(decision.cpu), self.name(task));
        let text = format!("{cpu} {did} {name}: {}; {}{mean}", decision.rule, queue.join(", "));
        let cpus = [Some(decision.cpu.0), None];
        self.seen.notes.push(Note { at, cpus, task: Some(task), of_queue: true, text });
    }

    fn decided(&mut self, at: Time, decision: &Decision) {
        self.come(at, false);
        let task = decision.task.map(|TaskId(task)| task as usize);
        let who = task.map_or("", |task| self.name(task));
        let (cpus, did) = match &decision.action {
            Action::Placed { placement: Placement::Wake { previous, .. }, cpu } => {
                let did = format!("woken on {}, last on {}", self.cpu(*cpu), self.cpu(*previous));
                ([Some(cpu.0), Some(previous.0)], did)
            }
            Action::Placed { placement: Placement::Fork { parent }, cpu } => {
                let did = format!("placed on {} from {}", self.cpu(*cpu), self.cpu(*parent));
                ([Some(cpu.0), Some(parent.0)], did)
            }
            Action::Migrated { from, to } => {
                let did = format!("moved from {} to {}", self.cpu(*from), self.cpu(*to));
                ([Some(from.0), Some(to.0)], did)
            }
            Action::Bound(_) => ([None, None], "bound".to_owned()),
            _ => return,
        };
        let text = format!("{who} {did}: {}", reason(&decision.why));
        self.seen.notes.push(Note { at, cpus, task, of_queue: false, text });
    }
}
