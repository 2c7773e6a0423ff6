//! Tells a trace in order: who leaves and who gets each cpu, who becomes runnable, queues, barriers, moves. Instant by instant,
//! so that all who leave at an instant are told before all who come.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::cast::{Cast, Guest, Tid};
use super::collect::{DID, MIXED, SYSTEM, TURNS, WAITS, WORKS};
use super::sort::{Kind, Record, Sorted};

/// What a thread does while it has no cpu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Runnable,
    Asleep,
    Dead,
}

/// A thread for the writers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Who {
    pub(super) tid: Tid,
    /// The task, if it is one.
    pub(super) task: Option<u32>,
}

/// What is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// A thread leaves a cpu; the next one, if any, comes at the same instant.
    Off { cpu: u32, who: Who, state: State, replaced: bool },
    /// A thread without a cpu is something else now.
    Becomes { cpu: u32, who: Who, state: State },
    /// A thread gets a cpu, from another one or after idle time.
    On { cpu: u32, who: Who, from: Option<(Who, State)> },
    /// A task moved.
    Moved { who: Who, from: u32, to: u32 },
    /// Tasks runnable or running on a cpu.
    Queue { cpu: u32, length: u32 },
    /// Cpus of a node on which tasks compute, and on which they poll.
    Busy { node: u32, computing: u32, polling: u32 },
    /// A task arrives at a barrier.
    Waits { who: Who, circle: u32, episode: u32 },
    /// It goes on.
    GoesOn { who: Who },
    /// A barrier is complete.
    Barrier { app: u32, circle: u32, episode: u32 },
    /// An application starts or ends.
    App { app: u32, ends: bool },
    /// The policy decided.
    Decided { who: Option<Who>, did: &'static str, rule: u32 },
}

/// Writes a trace.
pub(super) trait Writer {
    fn event(&mut self, at: u64, event: &Event) -> io::Result<()>;
}

/// What is known of a task.
#[derive(Clone, Copy, Default)]
struct Task {
    /// How many came before under this number.
    generation: u32,
    state: Option<State>,
    /// Whose queue it is in, or on.
    on: Option<u32>,
    meets: bool,
}

#[derive(Clone, Copy, Default)]
struct Cpu {
    /// Who runs.
    runs: Option<Who>,
    length: u32,
    /// What runs there: [`WORKS`] and so on.
    sort: Option<u32>,
}

/// The state of the play.
pub(super) struct Story<'a> {
    cast: &'a Cast,
    tasks: Vec<Task>,
    cpus: Vec<Cpu>,
    /// What was last told of each thread; `None` while it runs.
    told: BTreeMap<Tid, Option<State>>,
    nodes: Vec<(u32, u32)>,
    /// Threads whose slice begins before their last one on another cpu has ended (books of pollers lag by a poll): where
    /// they will go on then.
    late: BTreeMap<Tid, u32>,
    /// What this instant has changed.
    touched: Touched,
}

#[derive(Default)]
struct Touched {
    tasks: BTreeSet<u32>,
    /// For each cpu whose occupant changes: who comes.
    cpus: BTreeMap<u32, Option<Who>>,
    queues: BTreeSet<u32>,
    nodes: BTreeSet<u32>,
    /// Tasks that died and were replaced: their last state and cpu.
    dead: Vec<(Who, u32)>,
    /// Facts for after the switches.
    later: Vec<Event>,
}

impl<'a> Story<'a> {
    pub(super) fn new(cast: &'a Cast) -> Self {
        let nodes = cast.node.iter().max().map_or(0, |last| *last as usize + 1);
        Self {
            tasks: vec![Task::default(); cast.owners.tasks() as usize],
            cpus: vec![Cpu::default(); cast.node.len()],
            told: BTreeMap::new(),
            nodes: vec![(0, 0); nodes],
            late: BTreeMap::new(),
            touched: Touched::default(),
            cast,
        }
    }

    /// Tells everything to a writer.
    pub(super) fn tell(mut self, records: &mut Sorted, writer: &mut dyn Writer) -> io::Result<()> {
        let mut now = 0;
        while let Some(record) = records.next()? {
            if record.at != now {
                self.close_instant(now, writer)?;
                now = record.at;
            }
            self.take(&record);
        }
        self.close_instant(now, writer)
    }

    fn who(&self, task: u32) -> Who {
        let generation = self.tasks.get(task as usize).map_or(0, |task| task.generation);
        Who { tid: self.cast.tid(task, generation), task: Some(task) }
    }

    fn occupant(&self, record: &Record) -> Who {
        let guest = match record.b {
            TURNS => Guest::Turns(record.a),
            MIXED => Guest::Mixed,
            SYSTEM => Guest::System,
            _ => return self.who(record.a),
        };
        Who { tid: self.cast.guest(guest, record.cpu), task: None }
    }

    fn take(&mut self, record: &Record) {
        let Record { kind, cpu, a, b, .. } = *record;
        match kind {
            Kind::Runnable => self.runnable(a, cpu),
            Kind::Slept => self.stopped(a, State::Asleep),
            Kind::Exited => self.stopped(a, State::Dead),
            Kind::Migrated => {
                self.queued(a, None);
                self.touched.later.push(Event::Moved { who: self.who(a), from: cpu, to: b });
            }
            Kind::Arrived => {
                let who = self.who(a);
                self.meets(a, true);
                self.touched.later.push(Event::Waits { who, circle: cpu, episode: b });
            }
            Kind::Released => self.meets(a, false),
            Kind::Barrier => {
                self.touched.later.push(Event::Barrier { app: a, circle: cpu, episode: b });
            }
            Kind::Started | Kind::Ended => {
                self.touched.later.push(Event::App { app: a, ends: kind == Kind::Ended });
            }
            Kind::Decided => {
                let who = (a != u32::MAX).then(|| self.who(a));
                let did = DID.get(cpu as usize).copied().unwrap_or_default();
                self.touched.later.push(Event::Decided { who, did, rule: b });
            }
            Kind::End => {
                self.touched.cpus.insert(cpu, None);
                self.busy(cpu, None);
            }
            Kind::Begin => {
                let who = self.occupant(record);
                self.touched.cpus.insert(cpu, Some(who));
                self.busy(cpu, Some(b));
            }
        }
    }

    fn runnable(&mut self, task: u32, cpu: u32) {
        let who = self.who(task);
        let Some(record) = self.tasks.get_mut(task as usize) else { return };
        if record.state == Some(State::Dead) {
            record.generation += 1;
            let last = record.on.unwrap_or(cpu);
            self.touched.dead.push((who, last));
        }
        record.state = Some(State::Runnable);
        self.touched.tasks.insert(task);
        self.queued(task, Some(cpu));
    }

    fn stopped(&mut self, task: u32, state: State) {
        if let Some(record) = self.tasks.get_mut(task as usize) {
            record.state = Some(state);
        }
        self.touched.tasks.insert(task);
        if state == State::Dead {
            self.meets(task, false);
        }
        self.queued(task, None);
    }

    /// The task waits at a barrier, or no longer.
    fn meets(&mut self, task: u32, meets: bool) {
        let who = self.who(task);
        let Some(record) = self.tasks.get_mut(task as usize) else { return };
        // One that did not wait has nothing to end; one that waits already ends that first.
        if std::mem::replace(&mut record.meets, meets) {
            self.touched.later.push(Event::GoesOn { who });
        }
    }

    /// The task is in the queue of this cpu now.
    fn queued(&mut self, task: u32, on: Option<u32>) {
        let Some(record) = self.tasks.get_mut(task as usize) else { return };
        let before = std::mem::replace(&mut record.on, on);
        for (cpu, more) in [(before, false), (on, true)] {
            let Some(cpu) = cpu else { continue };
            let Some(record) = self.cpus.get_mut(cpu as usize) else { continue };
            record.length = if more { record.length + 1 } else { record.length.saturating_sub(1) };
            self.touched.queues.insert(cpu);
        }
    }

    /// Something else runs on the cpu.
    fn busy(&mut self, cpu: u32, sort: Option<u32>) {
        let Some(record) = self.cpus.get_mut(cpu as usize) else { return };
        let before = std::mem::replace(&mut record.sort, sort);
        let Some(node) = self.cast.node.get(cpu as usize) else { return };
        let Some((computing, polling)) = self.nodes.get_mut(*node as usize) else { return };
        for (sort, more) in [(before, false), (sort, true)] {
            let count = match sort {
                Some(WORKS) => &mut *computing,
                Some(WAITS | TURNS | MIXED) => &mut *polling,
                _ => continue,
            };
            *count = if more { *count + 1 } else { count.saturating_sub(1) };
        }
        self.touched.nodes.insert(*node);
    }

    /// The state of a thread that does not run.
    fn state(&self, who: Who) -> State {
        let Some(task) = who.task else { return State::Asleep };
        // Whoever was replaced has died.
        if self.who(task) != who {
            return State::Dead;
        }
        let state = self.tasks.get(task as usize).and_then(|task| task.state);
        state.unwrap_or(State::Runnable)
    }

    /// Everything of the instant is known: tells it.
    fn close_instant(&mut self, at: u64, writer: &mut dyn Writer) -> io::Result<()> {
        let mut touched = std::mem::take(&mut self.touched);
        self.in_one_place(&mut touched);
        let changes: Vec<(u32, Option<Who>, Option<Who>)> = touched
            .cpus
            .iter()
            .map(|(cpu, comes)| (*cpu, self.runs(*cpu), *comes))
            .filter(|(_, leaves, comes)| leaves != comes)
            .collect();
        let comes: BTreeSet<Tid> = changes.iter().filter_map(|(.., who)| Some((*who)?.tid)).collect();
        let mut left = BTreeMap::new();
        for (cpu, leaves, next) in &changes {
            let Some(who) = *leaves else { continue };
            // Whoever goes on elsewhere at once was runnable in between.
            let state = if comes.contains(&who.tid) { State::Runnable } else { self.state(who) };
            self.told.insert(who.tid, Some(state));
            left.insert(*cpu, (who, state));
            writer.event(at, &Event::Off { cpu: *cpu, who, state, replaced: next.is_some() })?;
        }
        self.become_something(at, &touched, &changes, writer)?;
        for (cpu, _, next) in changes {
            if let Some(record) = self.cpus.get_mut(cpu as usize) {
                record.runs = next;
            }
            let Some(who) = next else { continue };
            self.told.insert(who.tid, None);
            writer.event(at, &Event::On { cpu, who, from: left.get(&cpu).copied() })?;
        }
        for event in &touched.later {
            writer.event(at, event)?;
        }
        self.count(at, &touched, writer)
    }

    fn runs(&self, cpu: u32) -> Option<Who> {
        self.cpus.get(cpu as usize).and_then(|cpu| cpu.runs)
    }

    /// Nobody is in two places: whoever still runs elsewhere comes when that is over.
    fn in_one_place(&mut self, touched: &mut Touched) {
        self.late.retain(|_, cpu| !touched.cpus.contains_key(cpu));
        let leaves = |(cpu, comes): (&u32, &Option<Who>)| self.runs(*cpu).filter(|who| Some(*who) != *comes);
        let free: Vec<Who> = touched.cpus.iter().filter_map(leaves).collect();
        for who in &free {
            if let Some(cpu) = self.late.remove(&who.tid) {
                touched.cpus.entry(cpu).or_insert(Some(*who));
            }
        }
        for (cpu, comes) in &mut touched.cpus {
            let Some(who) = *comes else { continue };
            let elsewhere = self.told.get(&who.tid) == Some(&None)
                && self.cpus.get(*cpu as usize).and_then(|cpu| cpu.runs) != Some(who);
            if elsewhere && !free.contains(&who) {
                self.late.insert(who.tid, *cpu);
                *comes = None;
            }
        }
    }

    /// Threads without a cpu that sleep, wake up or die, and those that get one and were not runnable.
    fn become_something(
        &mut self,
        at: u64,
        touched: &Touched,
        changes: &[(u32, Option<Who>, Option<Who>)],
        writer: &mut dyn Writer,
    ) -> io::Result<()> {
        let dead = touched.dead.iter().map(|(who, cpu)| (*who, *cpu, State::Dead));
        let tasks = touched.tasks.iter().map(|task| {
            let who = self.who(*task);
            let on = self.tasks.get(*task as usize).and_then(|task| task.on);
            (who, on.unwrap_or(0), self.state(who))
        });
        let coming = changes.iter().filter_map(|(cpu, _, comes)| Some(((*comes)?, *cpu, State::Runnable)));
        let all: Vec<(Who, u32, State)> = dead.chain(tasks).chain(coming).collect();
        for (who, cpu, state) in all {
            // Whoever runs is told of when it leaves; nobody is told of twice, and the dead are dead.
            match self.told.get(&who.tid) {
                Some(None | Some(State::Dead)) => continue,
                Some(Some(before)) if *before == state => continue,
                _ => {}
            }
            let first = self.told.insert(who.tid, Some(state)).is_none();
            if first && state != State::Runnable {
                // It came and went within the instant.
                writer.event(at, &Event::Becomes { cpu, who, state: State::Runnable })?;
            }
            writer.event(at, &Event::Becomes { cpu, who, state })?;
        }
        Ok(())
    }

    fn count(&self, at: u64, touched: &Touched, writer: &mut dyn Writer) -> io::Result<()> {
        for cpu in &touched.queues {
            let length = self.cpus.get(*cpu as usize).map_or(0, |cpu| cpu.length);
            writer.event(at, &Event::Queue { cpu: *cpu, length })?;
        }
        for node in &touched.nodes {
            let (computing, polling) = self.nodes.get(*node as usize).copied().unwrap_or_default();
            writer.event(at, &Event::Busy { node: *node, computing, polling })?;
        }
        Ok(())
    }
}
