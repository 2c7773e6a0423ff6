//! A run step by step: each scheduling decision with its reason, and the queue as the scheduler sees it.
//!
//! [`steps`] gives the list to whoever shows it: the terminal, or a page with a player, for which it can be
//! serialised. A step says what happened, why, who has the cpu afterwards and who waits in its queue, in the
//! order in which they will be served if nothing changes. Yields among threads that only poll are no steps:
//! the simulator computes them together.

use std::collections::{BTreeMap, BTreeSet};

use experiment::decisions::Words;
use experiment::run::simulate_one;
use scenario::plan::RunPlan;
use serde::Serialize;
use sim_core::ids::{AppId, CpuId, LockId, TaskId};
use sim_core::observe::{Contender, Keys, LeaveReason, Observation, Observer, QueueDecision, Sleep, Verdict};
use sim_core::outcome::Outcome;
use sim_core::policy::{Action, Decision, THROTTLED};
use sim_core::time::{Span, Time};
use trace::slices::Owners;
use trace::threads::{Doing, Stay, Threads, Watcher};

use crate::timeline::Request;
use crate::timeline::names::Names;

/// What happened in a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A thread was created.
    Created,
    /// A sleeping thread has become runnable.
    Woken,
    /// The policy has chosen a cpu for a thread.
    Placed,
    /// The scheduler has picked who runs next.
    Picked,
    /// A thread that has come takes the cpu from the current one.
    Preempts,
    /// A thread that has come waits.
    Waits,
    /// The slice of a thread is used up, or another one takes its cpu.
    Loses,
    /// A polling thread has found what it waited for.
    GoesOn,
    /// A thread begins to poll.
    Polls,
    /// A thread falls asleep.
    Sleeps,
    /// A thread found a lock taken.
    LockAwaited,
    /// A thread has got the lock for which it waited.
    LockObtained,
    /// All have arrived at a barrier.
    Barrier,
    /// A thread moved to another cpu.
    Migrated,
    /// A thread gives its cpu away in favour of another one.
    Yields,
    /// Another decision of the policy.
    Decided,
    /// A thread ended.
    Ended,
}

/// A thread on a cpu, as the scheduler sees it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Standing {
    /// Its name, `cg.3`.
    pub thread: String,
    /// Its application, by position in [`Steps::apps`].
    pub app: u32,
    /// Its rank there.
    pub rank: u32,
    /// It has nothing to do but to poll.
    pub polls: bool,
    /// What the scheduler sorts by and what else it knows: names and values. Empty where it has not looked at
    /// the queue in this step.
    pub keys: Vec<(&'static str, String)>,
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Step {
    /// When, in nanoseconds of simulated time.
    pub at_ns: u64,
    /// The cpu concerned, if it is one.
    pub cpu: Option<u32>,
    /// The thread concerned, if it is one.
    pub thread: Option<String>,
    /// What happened.
    pub kind: Kind,
    /// The same in words.
    pub text: String,
    /// Why; empty where the text says all.
    pub reason: String,
    /// Who has the cpu afterwards.
    pub running: Option<Standing>,
    /// Who waits for it, the next one first.
    pub queue: Vec<Standing>,
}

/// The steps of a window of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Steps {
    /// First instant, in nanoseconds.
    pub from_ns: u64,
    /// Last instant: where the window ends, or the run.
    pub to_ns: u64,
    /// When the run ended, if it did so in the window or at its end.
    pub end_ns: Option<u64>,
    /// Names of the applications.
    pub apps: Vec<String>,
    /// The steps in order.
    pub steps: Vec<Step>,
    /// Further steps of the window, which were counted and not kept.
    pub more: u64,
}

/// The steps of a run in a window: from its start to its end unless the request says otherwise, of those cpus
/// that it names, and at most so many. [`Request::aim`] has no meaning here.
///
/// # Errors
/// A sentence: a window that is empty or begins after the run has ended, a cpu that does not exist, a run
/// that the simulator refuses.
pub fn steps(plan: &RunPlan, request: &Request, most: usize) -> Result<Steps, String> {
    let (from, to) = (request.from.unwrap_or(0), request.to.unwrap_or(u64::MAX));
    super::runs::in_order(from, to)?;
    let cpus = super::runs::chosen(request, plan.machine.cpus())?;
    let plan = super::runs::until(plan, to);
    let all = cpus.len() == plan.machine.cpus() as usize;
    let mut teller = Teller::new(&plan, (from, to), (!all).then_some(cpus), most);
    let report = simulate_one(&plan, &mut teller)?;
    let end = report.makespan.ns();
    if end <= from && from > 0 {
        return Err(super::runs::beyond(1, from, end));
    }
    let ended = report.outcome == Outcome::Completed || end < to;
    Ok(Steps {
        from_ns: from,
        to_ns: to.min(end),
        end_ns: ended.then_some(end),
        apps: plan.apps.iter().map(|app| app.name.clone()).collect(),
        steps: teller.steps,
        more: teller.more,
    })
}

/// Keeps who was woken by whom until it is told.
#[derive(Default)]
struct Wakers {
    woken: Vec<(Option<TaskId>, Sleep)>,
}

impl Watcher for Wakers {
    fn stay(&mut self, _: &Stay) {}
    fn woken(&mut self, _: Time, waker: Option<TaskId>, _: TaskId, what: Sleep) {
        self.woken.push((waker, what));
    }
}

/// Turns what a run reports into steps.
struct Teller<'a> {
    names: Names<'a>,
    owners: Owners,
    words: Words<'a>,
    threads: Threads<Wakers>,
    window: (u64, u64),
    cpus: Option<Vec<u32>>,
    most: usize,
    /// The order of each queue when the scheduler last looked at it.
    orders: BTreeMap<CpuId, Vec<TaskId>>,
    /// Who was picked last on each cpu, and when: that it runs is no step of its own.
    picked: BTreeMap<CpuId, (TaskId, Time)>,
    /// Why each task is moved next.
    moves: BTreeMap<TaskId, (Time, String)>,
    /// The next episode of each application's barriers that is to be told.
    episodes: BTreeMap<(u32, u32), u32>,
    /// Threads that have had a cpu.
    begun: BTreeSet<TaskId>,
    /// How a thread that has come competes: told when it is told that it has.
    held: Option<Step>,
    /// For threads whose last step is that they go on: whether it was kept.
    last: BTreeMap<TaskId, Option<bool>>,
    steps: Vec<Step>,
    more: u64,
}

impl<'a> Teller<'a> {
    fn new(plan: &'a RunPlan, window: (u64, u64), cpus: Option<Vec<u32>>, most: usize) -> Self {
        let names = Names::new(plan);
        Self {
            names,
            owners: names.owners(),
            words: Words::new(plan),
            threads: Threads::new(plan.machine.cpus(), &plan.apps, &plan.objects, Wakers::default()),
            window,
            cpus,
            most,
            orders: BTreeMap::new(),
            picked: BTreeMap::new(),
            moves: BTreeMap::new(),
            episodes: BTreeMap::new(),
            begun: BTreeSet::new(),
            held: None,
            last: BTreeMap::new(),
            steps: Vec::new(),
            more: 0,
        }
    }

    fn thread(&self, task: TaskId) -> String {
        self.names.thread(&self.owners, task)
    }

    /// The cpu that a thread has or in whose queue it is.
    fn place(&self, task: TaskId) -> Option<CpuId> {
        match self.threads.doing(task)? {
            Doing::Runs(cpu) | Doing::Polls(cpu, _) | Doing::Queued(cpu) => Some(cpu),
            Doing::Sleeps(_) => None,
        }
    }

    /// True for a step of the window and of the cpus that are shown.
    fn wanted(&self, at: Time, cpu: Option<CpuId>) -> bool {
        let inside = (self.window.0..=self.window.1).contains(&at.ns());
        let shown = match (&self.cpus, cpu) {
            (None, _) => true,
            (Some(cpus), Some(cpu)) => cpus.binary_search(&cpu.0).is_ok(),
            (Some(_), None) => false,
        };
        inside && shown
    }

    /// Keeps a step; one that does not fit any more is counted.
    fn push(&mut self, task: Option<TaskId>, step: Step) {
        let fits = self.more == 0 && self.steps.len() < self.most;
        if let Some(task) = task {
            self.last.insert(task, (step.kind == Kind::GoesOn).then_some(fits));
        }
        if fits {
            self.steps.push(step);
        } else {
            self.more += 1;
        }
    }

    /// A step after which the queue is as the threads are.
    fn tell(
        &mut self,
        at: Time,
        cpu: Option<CpuId>,
        task: Option<TaskId>,
        kind: Kind,
        said: (String, String),
    ) {
        if !self.wanted(at, cpu) {
            return;
        }
        let (running, queue) = cpu.map_or((None, Vec::new()), |cpu| self.present(at, cpu));
        let thread = task.map(|task| self.thread(task));
        let (text, reason) = said;
        let cpu = cpu.map(|cpu| cpu.0);
        self.push(task, Step { at_ns: at.ns(), cpu, thread, kind, text, reason, running, queue });
    }

    /// Who has a cpu and who waits there, in the order of the last look at the queue.
    fn present(&self, at: Time, cpu: CpuId) -> (Option<Standing>, Vec<Standing>) {
        let members = self.threads.runnable(cpu);
        let has =
            |task: &&TaskId| matches!(self.threads.doing(**task), Some(Doing::Runs(_) | Doing::Polls(..)));
        // Whoever has been picked has the cpu, or is about to get it.
        let picked = self.picked.get(&cpu).filter(|(task, when)| *when == at && members.contains(task));
        let first = members.iter().find(has).copied().or(picked.map(|(task, _)| *task));
        let known = self.orders.get(&cpu).map_or(&[][..], Vec::as_slice);
        let place = |task: &TaskId| known.iter().position(|other| other == task).unwrap_or(known.len());
        let mut others: Vec<TaskId> = members.iter().copied().filter(|task| Some(*task) != first).collect();
        others.sort_by_key(place);
        let stands = |task: TaskId| self.stands(task, Vec::new());
        (first.map(stands), others.into_iter().map(stands).collect())
    }

    fn stands(&self, task: TaskId, keys: Vec<(&'static str, String)>) -> Standing {
        Standing {
            thread: self.thread(task),
            app: self.owners.app(task).0,
            rank: self.owners.rank(task),
            polls: self.threads.only_polls(task),
            keys,
        }
    }

    fn woken(&mut self, at: Time, task: TaskId, cpu: CpuId, existed: bool) {
        let woken = std::mem::take(&mut self.threads.watcher().woken);
        let who = self.thread(task);
        for (waker, what) in &woken {
            let by = self.names.waker(&self.owners, *waker, *what);
            let said = (format!("{who} is woken by {by}"), String::new());
            self.tell(at, Some(cpu), Some(task), Kind::Woken, said);
        }
        if woken.is_empty() && !existed {
            let said = (format!("{who} is created"), String::new());
            self.tell(at, Some(cpu), Some(task), Kind::Created, said);
        }
        if let Some(step) = self.held.take() {
            self.push(Some(task), step);
        }
    }

    /// A thread that polls and then sleeps has something to do in between: the call in which it falls
    /// asleep.
    fn forget_call(&mut self, task: TaskId) {
        let who = self.thread(task);
        match self.last.remove(&task).flatten() {
            Some(true) => {
                if let Some(at) = self.steps.iter().rposition(|step| step.thread.as_ref() == Some(&who)) {
                    self.steps.remove(at);
                }
            }
            Some(false) => self.more -= 1,
            None => {}
        }
    }

    fn stopped(&mut self, at: Time, task: TaskId, cpu: CpuId, reason: LeaveReason) {
        let who = self.thread(task);
        let (kind, text) = match reason {
            LeaveReason::Exited => {
                self.begun.remove(&task);
                (Kind::Ended, format!("{who} ends"))
            }
            LeaveReason::Preempted => {
                (Kind::Loses, format!("{who} loses the cpu and goes back into the queue"))
            }
            LeaveReason::Waits => {
                let what = match self.threads.awaits(task) {
                    Some(lock) => format!(" for {}", self.names.lock(self.owners.app(task), lock)),
                    None => String::new(),
                };
                (Kind::Polls, format!("{who} has to wait and begins to poll{what}"))
            }
            // Told by what follows.
            LeaveReason::Slept | LeaveReason::Moved => return,
        };
        self.tell(at, Some(cpu), Some(task), kind, (text, String::new()));
    }

    fn locks(&mut self, at: Time, task: TaskId, lock: LockId, obtained: bool) {
        let (who, lock) = (self.thread(task), self.names.lock(self.owners.app(task), lock));
        let (kind, text) = if obtained {
            (Kind::LockObtained, format!("{who} gets {lock}"))
        } else {
            (Kind::LockAwaited, format!("{who} finds {lock} taken"))
        };
        let cpu = self.place(task);
        self.tell(at, cpu, Some(task), kind, (text, String::new()));
    }

    fn released(&mut self, at: Time, app: AppId, scope: u32, episode: u32) {
        let next = self.episodes.entry((app.0, scope)).or_default();
        if episode >= *next {
            *next = episode.saturating_add(1);
            let text = format!("barrier {episode} of {} is complete", self.names.app(app));
            self.tell(at, None, None, Kind::Barrier, (text, String::new()));
        }
    }

    /// The decision about a queue, with the keys.
    fn queue_step(&mut self, at: Time, decision: &QueueDecision) {
        let cpu = decision.cpu;
        let current = decision.contenders.iter().find(|one| one.current);
        let runs = match decision.verdict {
            Verdict::Picked => Some(decision.task),
            Verdict::Preempts | Verdict::Waits => current.map(|one| one.task),
        };
        let mut waiting: Vec<&Contender> =
            decision.contenders.iter().filter(|one| Some(one.task) != runs).collect();
        // Its key is set when it goes back.
        let goes_back = |one: &Contender| one.current && decision.keys != Keys::VirtualRuntime;
        waiting.sort_by_key(|one| (one.delayed, order(one, goes_back(one))));
        self.orders.insert(cpu, waiting.iter().map(|one| one.task).collect());
        let kind = match decision.verdict {
            Verdict::Picked => {
                self.picked.insert(cpu, (decision.task, at));
                Kind::Picked
            }
            Verdict::Preempts => Kind::Preempts,
            Verdict::Waits => Kind::Waits,
        };
        if !self.wanted(at, Some(cpu)) {
            return;
        }
        let levels = decision.contenders.iter().any(|one| one.level != decision.contenders[0].level);
        let one = |one: &Contender| self.stands(one.task, keys(one, decision.keys, levels, goes_back(one)));
        let running = decision.contenders.iter().find(|one| Some(one.task) == runs).map(one);
        let queue = waiting.into_iter().map(one).collect();
        let who = self.thread(decision.task);
        let text = match decision.verdict {
            Verdict::Picked => format!("{who} is picked"),
            Verdict::Preempts => format!("{who} takes the cpu from the current thread"),
            Verdict::Waits => format!("{who} waits in the queue"),
        };
        let step = Step {
            at_ns: at.ns(),
            cpu: Some(cpu.0),
            thread: Some(who),
            kind,
            text,
            reason: decision.rule.to_owned(),
            running,
            queue,
        };
        if decision.verdict == Verdict::Picked {
            self.push(Some(decision.task), step);
        } else {
            // It is told next that the thread has come.
            self.held = Some(step);
        }
    }
}

/// In which order a queue serves: priority levels, the real-time class, eligible requests by deadline, then
/// keys.
fn order(one: &Contender, goes_back: bool) -> (u8, u8, bool, bool, i64) {
    if let Some(due) = one.due {
        return (one.level, 0, false, false, due.ns() as i64);
    }
    let real_time = u8::MAX - one.real_time.unwrap_or(0);
    match one.request {
        Some(request) => (one.level, real_time, goes_back, !request.eligible, request.deadline),
        None => (one.level, real_time, goes_back, false, one.vruntime),
    }
}

/// A virtual time in ms.
fn virtual_ms(ns: i64) -> String {
    let (sign, ns) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    format!("{sign}{}.{:03} ms", ns / 1_000_000, ns % 1_000_000 / 1_000)
}

/// What the scheduler knows of a thread: names and values.
fn keys(one: &Contender, keys: Keys, levels: bool, goes_back: bool) -> Vec<(&'static str, String)> {
    let mut known = Vec::new();
    if levels {
        let level = if one.level == THROTTLED { "throttled".to_owned() } else { one.level.to_string() };
        known.push(("level", level));
    }
    if let Some(due) = one.due {
        known.push(("absolute deadline", virtual_ms(due.ns() as i64)));
    } else if let Some(priority) = one.real_time {
        known.push(("real-time priority", priority.to_string()));
    } else if goes_back {
        known.push(("key", "set when it goes back".to_owned()));
    } else {
        let key = one.vruntime;
        match keys {
            Keys::VirtualRuntime => known.push(("vruntime", virtual_ms(key))),
            Keys::Arrival => known.push(("arrival", key.to_string())),
            Keys::ArrayAndPriority => {
                known.push(("array", key.div_euclid(256).to_string()));
                known.push(("priority", key.rem_euclid(256).to_string()));
            }
            Keys::Score if key >= 256 => known.push(("score", "not interactive".to_owned())),
            Keys::Score => known.push(("score", key.to_string())),
            Keys::Priority => known.push(("priority", (-key).to_string())),
            Keys::Policy => known.push(("key", key.to_string())),
        }
    }
    if let Some(request) = one.request.filter(|_| one.real_time.is_none() && one.due.is_none()) {
        known.push(("deadline", virtual_ms(request.deadline)));
        known.push(("eligible", if request.eligible { "yes" } else { "no" }.to_owned()));
        if let Some(until) = request.protected_until {
            known.push(("protected until", virtual_ms(until)));
        }
    }
    if one.delayed {
        known.push(("sleeps", "its dequeue is delayed".to_owned()));
    }
    known
}

impl Observer for Teller<'_> {
    fn observe(&mut self, at: Time, what: &Observation) {
        let existed = match *what {
            Observation::Runnable { task, .. } => self.threads.doing(task).is_some(),
            _ => true,
        };
        let waited = match *what {
            Observation::Running { task, .. } => self.threads.only_polls(task),
            _ => false,
        };
        self.threads.observe(at, what);
        match *what {
            Observation::Runnable { task, cpu } => self.woken(at, task, cpu, existed),
            Observation::Running { task, cpu } => {
                let who = self.thread(task);
                let (kind, text) = if self.begun.insert(task) {
                    (Kind::Picked, format!("{who} gets the cpu and begins"))
                } else if waited {
                    (Kind::GoesOn, format!("{who} has found what it waited for and goes on"))
                } else if self.picked.get(&cpu) == Some(&(task, at)) {
                    return;
                } else {
                    (Kind::Picked, format!("{who} gets the cpu"))
                };
                self.tell(at, Some(cpu), Some(task), kind, (text, String::new()));
            }
            Observation::Stopping { task, cpu, reason } => self.stopped(at, task, cpu, reason),
            Observation::Migrated { task, from, to } => {
                let reason = self.moves.remove(&task).filter(|(when, _)| *when == at);
                let text = format!("{} moves from cpu {} to cpu {}", self.thread(task), from.0, to.0);
                let reason = reason.map_or(String::new(), |(_, reason)| reason);
                self.tell(at, Some(to), Some(task), Kind::Migrated, (text, reason));
            }
            Observation::Released { task, scope, episode } => {
                self.released(at, self.owners.app(task), scope as u32, episode);
            }
            Observation::LockAwaited { task, lock } => self.locks(at, task, lock, false),
            Observation::LockObtained { task, lock } => self.locks(at, task, lock, true),
            Observation::AppStarted(_)
            | Observation::AppExited(_)
            | Observation::Polled { .. }
            | Observation::Arrived { .. } => {}
        }
    }

    fn decided(&mut self, at: Time, decision: &Decision) {
        self.threads.decided(at, decision);
        let (text, reason) = self.words.parts(decision);
        let (kind, cpu) = match decision.action {
            Action::Migrated { .. } => {
                if let Some(task) = decision.task {
                    self.moves.insert(task, (at, reason));
                }
                return;
            }
            Action::Placed { cpu, .. } | Action::Dispatched(cpu) => (Kind::Placed, Some(cpu)),
            Action::Yielded { .. } => (Kind::Yields, None),
            Action::Remarked => {
                return self.tell(at, None, None, Kind::Decided, (reason, String::new()));
            }
            Action::Bound(_) | Action::PrioritySet(_) | Action::SliceSet(_) => (Kind::Decided, None),
        };
        self.tell(at, cpu, decision.task, kind, (text, reason));
    }

    fn wants_queues(&self) -> bool {
        true
    }

    fn queued(&mut self, at: Time, decision: &QueueDecision) {
        self.queue_step(at, decision);
    }

    fn wants_dispatches(&self) -> bool {
        true
    }

    fn dispatched(&mut self, at: Time, task: TaskId, cpu: CpuId, overhead: Span) {
        self.threads.dispatched(at, task, cpu, overhead);
    }

    fn wants_sleeps(&self) -> bool {
        true
    }

    fn slept(&mut self, at: Time, task: TaskId, what: Sleep) {
        let on = self.place(task);
        self.threads.slept(at, task, what);
        self.forget_call(task);
        let (who, app) = (self.thread(task), self.owners.app(task));
        let text = format!("{who} falls asleep and waits for {}", self.names.sleep(app, what));
        self.tell(at, on, Some(task), Kind::Sleeps, (text, String::new()));
    }

    fn wakes(&mut self, at: Time, waker: TaskId, task: TaskId) {
        self.threads.wakes(at, waker, task);
    }
}
