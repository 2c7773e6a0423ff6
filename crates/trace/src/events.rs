//! Emits the events of a trace in time order: departures from cpus, arrivals, wake-ups, queues, barriers,
//! moves. At one instant, departures precede arrivals.

use std::collections::BTreeMap;
use std::io;

use crate::collect::{DID, MIXED, SYSTEM, TURNS, WAITS, WORKS};
use crate::sort::{Kind, Record};
use crate::tracks::{StandIn, Tid, Tracks};

/// What a thread does while it has no cpu.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Runnable,
    Asleep,
    Dead,
}

/// A thread for the writers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Who {
    pub(crate) tid: Tid,
    /// The task, if it is one.
    pub(crate) task: Option<u32>,
}

/// An event of the trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// A thread leaves a cpu; the next one, if any, comes at the same instant.
    Off { cpu: u32, who: Who, state: State, replaced: bool },
    /// A thread without a cpu is something else now.
    Becomes { cpu: u32, who: Who, state: State },
    /// A thread gets a cpu, after whoever leaves it at this instant or after idle time.
    On { cpu: u32, who: Who },
    /// A task moved.
    Moved { who: Who, from: u32, to: u32 },
    /// Tasks runnable or running on a cpu.
    Queue { cpu: u32, length: u32 },
    /// Cpus of a node on which tasks compute, and on which they poll.
    Busy { node: u32, computing: u32, polling: u32 },
    /// A task arrives at a barrier of a scope, or waits for a lock (`scope` is `sort::LOCK`).
    Waits { who: Who, scope: u32, episode: u32 },
    /// It goes on.
    GoesOn { who: Who },
    /// A barrier is complete.
    Barrier { app: u32, scope: u32, episode: u32 },
    /// An application starts or ends.
    App { app: u32, ends: bool },
    /// The policy decided.
    Decided { who: Option<Who>, did: &'static str, rule: u32 },
}

/// Writes a trace.
pub(crate) trait Writer {
    fn event(&mut self, at: u64, event: &Event) -> io::Result<()>;
    /// There are no more events: writes what is still kept.
    fn finish(&mut self) -> io::Result<()>;
}

/// The state of a thread that was last emitted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Reported {
    #[default]
    Nothing,
    Runs,
    Is(State),
}

/// What is known of a task.
#[derive(Clone, Copy, Default)]
struct Task {
    /// How many came before under this number.
    generation: u32,
    state: Option<State>,
    /// Whose queue it is in, or on.
    on: Option<u32>,
    /// The cpu of the last fact about it.
    last: u32,
    meets: bool,
    reported: Reported,
}

#[derive(Clone, Copy, Default)]
struct Cpu {
    /// Who runs.
    runs: Option<Who>,
    length: u32,
    /// What runs there: [`WORKS`] and so on.
    sort: Option<u32>,
    /// Its occupant changes at this instant: who comes.
    changes: bool,
    comes: Option<Who>,
}

/// What the events so far have led to.
pub(crate) struct Events<'a> {
    tracks: &'a Tracks,
    tasks: Vec<Task>,
    cpus: Vec<Cpu>,
    /// The same of stand-ins, by number from `first_stand_in` on.
    stand_ins: Vec<Reported>,
    first_stand_in: Tid,
    /// The same of threads that another one has replaced, until they are reported to be dead.
    past: BTreeMap<Tid, Reported>,
    nodes: Vec<(u32, u32)>,
    /// Threads whose slice begins before their last one on another cpu has ended (the accounts of pollers
    /// lag by a poll): where they will go on then.
    late: BTreeMap<Tid, u32>,
    /// What this instant has changed.
    touched: Touched,
}

/// Lists that are cleared at the end of an instant, their memory kept; in the order of their numbers once
/// that begins.
#[derive(Default)]
struct Touched {
    tasks: Vec<u32>,
    cpus: Vec<u32>,
    queues: Vec<u32>,
    nodes: Vec<u32>,
    /// Tasks that died and were replaced: their last state and cpu.
    dead: Vec<(Who, u32)>,
    /// Facts for after the switches.
    later: Vec<Event>,
    /// What happens on cpus.
    changes: Vec<Change>,
    /// Who comes to a cpu.
    comes: Vec<Tid>,
    /// Who may be something else now.
    becomes: Vec<(Who, u32, State)>,
}

/// The occupant of a cpu changes.
#[derive(Clone, Copy)]
struct Change {
    cpu: u32,
    leaves: Option<(Who, State)>,
    comes: Option<Who>,
}

impl Touched {
    /// Brings numbers in order, each of them once.
    fn order(&mut self) {
        for list in [&mut self.tasks, &mut self.cpus, &mut self.queues, &mut self.nodes] {
            if list.len() > 1 {
                list.sort_unstable();
                list.dedup();
            }
        }
    }

    fn clear(&mut self) {
        let Self { tasks, cpus, queues, nodes, dead, later, changes, comes, becomes } = self;
        for list in [tasks, cpus, queues, nodes] {
            list.clear();
        }
        dead.clear();
        later.clear();
        changes.clear();
        comes.clear();
        becomes.clear();
    }
}

impl<'a> Events<'a> {
    pub(crate) fn new(tracks: &'a Tracks) -> Self {
        let nodes = tracks.node.iter().max().map_or(0, |last| *last as usize + 1);
        Self {
            tasks: vec![Task::default(); tracks.owners.tasks() as usize],
            cpus: vec![Cpu::default(); tracks.node.len()],
            first_stand_in: tracks.first_stand_in(),
            stand_ins: vec![Reported::Nothing; tracks.stand_in_numbers()],
            past: BTreeMap::new(),
            nodes: vec![(0, 0); nodes],
            late: BTreeMap::new(),
            touched: Touched::default(),
            tracks,
        }
    }

    /// Emits all events to a writer.
    pub(crate) fn write(mut self, records: &[Record], writer: &mut impl Writer) -> io::Result<()> {
        let mut now = 0;
        for record in records {
            if record.at != now {
                self.close_instant(now, writer)?;
                now = record.at;
            }
            self.take(record);
        }
        self.close_instant(now, writer)?;
        writer.finish()
    }

    fn who(&self, task: u32) -> Who {
        let generation = self.tasks.get(task as usize).map_or(0, |task| task.generation);
        Who { tid: self.tracks.tid(task, generation), task: Some(task) }
    }

    fn occupant(&self, record: &Record) -> Who {
        let stand_in = match record.b {
            TURNS => StandIn::Turns(record.a),
            MIXED => StandIn::Mixed,
            SYSTEM => StandIn::System,
            _ => return self.who(record.a),
        };
        Who { tid: self.tracks.stand_in(stand_in, record.cpu), task: None }
    }

    fn take(&mut self, record: &Record) {
        let Record { kind, cpu, a, b, .. } = *record;
        match kind {
            Kind::Runnable => self.runnable(a, cpu),
            Kind::Slept => self.stopped(a, cpu, State::Asleep),
            Kind::Exited => self.stopped(a, cpu, State::Dead),
            Kind::Migrated => {
                self.queued(a, None);
                self.touched.later.push(Event::Moved { who: self.who(a), from: cpu, to: b });
            }
            Kind::Arrived => {
                let who = self.who(a);
                self.meets(a, true);
                self.touched.later.push(Event::Waits { who, scope: cpu, episode: b });
            }
            Kind::Released => self.meets(a, false),
            Kind::Barrier => {
                self.touched.later.push(Event::Barrier { app: a, scope: cpu, episode: b });
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
                self.changes(cpu, None);
                self.busy(cpu, None);
            }
            Kind::Begin => {
                let who = self.occupant(record);
                self.changes(cpu, Some(who));
                self.busy(cpu, Some(b));
            }
        }
    }

    fn runnable(&mut self, task: u32, cpu: u32) {
        let who = self.who(task);
        let Some(record) = self.tasks.get_mut(task as usize) else { return };
        if record.state == Some(State::Dead) {
            record.generation += 1;
            let last = record.last;
            let reported = std::mem::take(&mut record.reported);
            if reported != Reported::Is(State::Dead) {
                self.past.insert(who.tid, reported);
            }
            self.touched.dead.push((who, last));
        }
        record.state = Some(State::Runnable);
        record.last = cpu;
        self.touched.tasks.push(task);
        self.queued(task, Some(cpu));
    }

    fn stopped(&mut self, task: u32, cpu: u32, state: State) {
        if let Some(record) = self.tasks.get_mut(task as usize) {
            record.state = Some(state);
            record.last = cpu;
        }
        self.touched.tasks.push(task);
        if state == State::Dead {
            self.meets(task, false);
        }
        self.queued(task, None);
    }

    /// The task waits at a barrier or for a lock, or no longer.
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
            self.touched.queues.push(cpu);
        }
    }

    /// Something else runs on the cpu.
    fn busy(&mut self, cpu: u32, sort: Option<u32>) {
        let Some(record) = self.cpus.get_mut(cpu as usize) else { return };
        let before = std::mem::replace(&mut record.sort, sort);
        let Some(node) = self.tracks.node.get(cpu as usize) else { return };
        let Some((computing, polling)) = self.nodes.get_mut(*node as usize) else { return };
        for (sort, more) in [(before, false), (sort, true)] {
            let count = match sort {
                Some(WORKS) => &mut *computing,
                Some(WAITS | TURNS | MIXED) => &mut *polling,
                _ => continue,
            };
            *count = if more { *count + 1 } else { count.saturating_sub(1) };
        }
        self.touched.nodes.push(*node);
    }

    /// Somebody else, or nobody, has the cpu from this instant on.
    fn changes(&mut self, cpu: u32, comes: Option<Who>) {
        let Some(record) = self.cpus.get_mut(cpu as usize) else { return };
        record.comes = comes;
        if !std::mem::replace(&mut record.changes, true) {
            self.touched.cpus.push(cpu);
        }
    }

    /// The state of a thread that was last emitted. Whoever was replaced and is not known any more has been
    /// reported to be dead.
    fn reported(&self, who: Who) -> Reported {
        let Some(task) = who.task else {
            let stand_in =
                who.tid.checked_sub(self.first_stand_in).and_then(|at| self.stand_ins.get(at as usize));
            return stand_in.copied().unwrap_or_default();
        };
        match self.tasks.get(task as usize) {
            Some(record) if self.tracks.tid(task, record.generation) == who.tid => record.reported,
            _ => self.past.get(&who.tid).copied().unwrap_or(Reported::Is(State::Dead)),
        }
    }

    fn set_told(&mut self, who: Who, reported: Reported) {
        let Some(task) = who.task else {
            let at = who.tid.checked_sub(self.first_stand_in);
            if let Some(stand_in) = at.and_then(|at| self.stand_ins.get_mut(at as usize)) {
                *stand_in = reported;
            }
            return;
        };
        match self.tasks.get_mut(task as usize) {
            Some(record) if self.tracks.tid(task, record.generation) == who.tid => record.reported = reported,
            _ if reported == Reported::Is(State::Dead) => drop(self.past.remove(&who.tid)),
            _ => drop(self.past.insert(who.tid, reported)),
        }
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

    /// Everything of the instant is known: emits its events.
    fn close_instant(&mut self, at: u64, writer: &mut impl Writer) -> io::Result<()> {
        self.in_one_place();
        let mut touched = std::mem::take(&mut self.touched);
        touched.order();
        self.leave(at, &mut touched, writer)?;
        self.become_something(at, &mut touched, writer)?;
        for Change { cpu, comes, .. } in &touched.changes {
            if let Some(record) = self.cpus.get_mut(*cpu as usize) {
                record.runs = *comes;
            }
            let Some(who) = *comes else { continue };
            self.set_told(who, Reported::Runs);
            writer.event(at, &Event::On { cpu: *cpu, who })?;
        }
        for event in &touched.later {
            writer.event(at, event)?;
        }
        self.count(at, &touched, writer)?;
        touched.clear();
        self.touched = touched;
        Ok(())
    }

    /// Computes what changes on cpus, and emits the departures.
    fn leave(&mut self, at: u64, touched: &mut Touched, writer: &mut impl Writer) -> io::Result<()> {
        for cpu in &touched.cpus {
            let Some(record) = self.cpus.get_mut(*cpu as usize) else { continue };
            record.changes = false;
            let (leaves, comes) = (record.runs, record.comes);
            if leaves != comes {
                // Its state is looked up when all who come are known.
                let leaves = leaves.map(|who| (who, State::Runnable));
                touched.changes.push(Change { cpu: *cpu, leaves, comes });
                touched.comes.extend(comes.map(|who| who.tid));
            }
        }
        touched.comes.sort_unstable();
        for Change { cpu, leaves, comes } in &mut touched.changes {
            let Some((who, state)) = leaves else { continue };
            // Whoever goes on elsewhere at once was runnable in between.
            if touched.comes.binary_search(&who.tid).is_err() {
                *state = self.state(*who);
            }
            self.set_told(*who, Reported::Is(*state));
            let (who, state, replaced) = (*who, *state, comes.is_some());
            writer.event(at, &Event::Off { cpu: *cpu, who, state, replaced })?;
        }
        Ok(())
    }

    /// Who comes to a cpu but still runs on another one.
    fn elsewhere(&self, cpu: u32) -> Option<Who> {
        let record = self.cpus.get(cpu as usize)?;
        record.comes.filter(|who| record.runs != Some(*who) && self.reported(*who) == Reported::Runs)
    }

    /// Who leaves a cpu.
    fn leaver(&self, cpu: u32) -> Option<Who> {
        let record = self.cpus.get(cpu as usize)?;
        record.runs.filter(|who| Some(*who) != record.comes)
    }

    /// Nobody is in two places: whoever still runs elsewhere comes when that is over.
    fn in_one_place(&mut self) {
        if self.late.is_empty() && self.touched.cpus.iter().all(|cpu| self.elsewhere(*cpu).is_none()) {
            return;
        }
        self.touched.order();
        let changes = |this: &Self, cpu: u32| this.cpus.get(cpu as usize).is_none_or(|cpu| cpu.changes);
        let mut late = std::mem::take(&mut self.late);
        late.retain(|_, cpu| !changes(self, *cpu));
        let mut free: Vec<Who> = self.touched.cpus.iter().filter_map(|cpu| self.leaver(*cpu)).collect();
        for who in &free {
            if let Some(cpu) = late.remove(&who.tid).filter(|cpu| !changes(self, *cpu)) {
                self.changes(cpu, Some(*who));
            }
        }
        free.sort_unstable_by_key(|who| who.tid);
        self.touched.order();
        let mut cpus = std::mem::take(&mut self.touched.cpus);
        for cpu in &cpus {
            let Some(who) = self.elsewhere(*cpu) else { continue };
            if free.binary_search_by_key(&who.tid, |who| who.tid).is_err() {
                late.insert(who.tid, *cpu);
                if let Some(record) = self.cpus.get_mut(*cpu as usize) {
                    record.comes = None;
                }
            }
        }
        std::mem::swap(&mut self.touched.cpus, &mut cpus);
        self.late = late;
    }

    /// Threads without a cpu that sleep, wake up or die, and those that get one and were not runnable.
    fn become_something(
        &mut self,
        at: u64,
        touched: &mut Touched,
        writer: &mut impl Writer,
    ) -> io::Result<()> {
        let Touched { tasks, dead, changes, becomes, .. } = touched;
        becomes.extend(dead.iter().map(|(who, cpu)| (*who, *cpu, State::Dead)));
        becomes.extend(tasks.iter().map(|task| {
            let who = self.who(*task);
            let last = self.tasks.get(*task as usize).map_or(0, |task| task.last);
            (who, last, self.state(who))
        }));
        becomes
            .extend(changes.iter().filter_map(|change| Some((change.comes?, change.cpu, State::Runnable))));
        for (who, cpu, state) in becomes.iter().copied() {
            // Whoever runs is reported of when it leaves; nobody is reported of twice, and the dead are dead.
            let waited = match self.reported(who) {
                Reported::Runs | Reported::Is(State::Dead) => continue,
                Reported::Is(before) if before == state => continue,
                Reported::Is(before) => before == State::Runnable,
                Reported::Nothing => false,
            };
            self.set_told(who, Reported::Is(state));
            if !waited && state != State::Runnable {
                // It came, or woke up, and went within the instant.
                writer.event(at, &Event::Becomes { cpu, who, state: State::Runnable })?;
            }
            writer.event(at, &Event::Becomes { cpu, who, state })?;
        }
        Ok(())
    }

    fn count(&self, at: u64, touched: &Touched, writer: &mut impl Writer) -> io::Result<()> {
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
