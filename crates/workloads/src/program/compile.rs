//! The compiler: the statements of a kind to operations.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use notation::diagnostics::Place;
use notation::reader::Reader;
use notation::suggest::advice;
use sim_core::ids::{EventId, ProfileId};
use sim_core::limits::{MAX_LOOP_DEPTH, MAX_OPS};
use sim_core::os::NICE_WEIGHTS;
use sim_core::program::{Change, Job, MemoryProfile, Op, Quantiles, Spread};
use sim_core::time::{Span, Work};

use super::calls::Call;
use super::draft::{Draft, RuntimeForm, of};
use super::graphs::GraphDraft;
use super::loops::passes_at_once;
use super::objects::{ALL, All, Number};
use super::team::Team;
use super::tree::{Action, Length, Name, Run, Statement};
use super::uses::{self, Sort};
use crate::runtimes::MessageRules;

/// Most clocks of a task.
const MOST_CLOCKS: usize = 16;

/// The operations of a kind; numbers of objects are those of its program.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Code {
    pub(super) ops: Vec<Op>,
    pub(super) profiles: Vec<MemoryProfile>,
    pub(super) tables: Vec<Quantiles>,
    pub(super) changes: Vec<Change>,
    /// Under which of `runtimes` each operation waits ([`sim_core::program::Program::waiting`]).
    pub(super) by: Vec<u8>,
    /// The runtimes of single statements, with their names.
    pub(super) runtimes: Vec<(String, RuntimeForm)>,
    /// Operations that are one call of a runtime.
    pub(super) calls: Vec<Call>,
}

/// Compiles a kind of a program; what is wrong goes to the reader.
pub(super) fn kind<C>(
    reader: &mut Reader<C>,
    (drafts, app): (&[Draft], usize),
    at: usize,
    (objects, begun): (&All, &Begun),
    forked: Option<(EventId, EventId)>,
) -> Option<Code> {
    let draft = drafts.get(app)?;
    let kind = draft.kinds.get(at)?;
    let mut compiler = Compiler::new(reader, (drafts, app), objects, begun.clone());
    compiler.depth = usize::from(forked.is_some());
    compiler.forked = forked.is_some();
    compiler.team = Team::of(kind.threads, kind.count);
    compiler.messages = kind.messages;
    if compiler.forked && kind.threads > 1 {
        let message = format!("the kind `{}` is forked, so it has no teams of threads", kind.name.text);
        reader.wrong_with_hint(kind.name.place, message, "leave out `threads`, and fork more tasks");
        return None;
    }
    if let Some((start, _)) = forked {
        let take = Op::Take { event: start, count: 1 };
        compiler.code.ops.extend([Op::Repeat(0), take, Op::Respawn]);
    }
    let before = compiler.code.ops.len();
    compiler.block(&kind.code)?;
    compiler.end_of_first();
    if compiler.code.ops.len() == before {
        let message = format!("the kind `{}` does nothing", kind.name.text);
        reader.wrong_with_hint(kind.name.place, message, "write `run 1ms`, for instance");
        return None;
    }
    if let Some((_, end)) = forked {
        compiler.code.ops.extend([Op::Post { event: end, count: 1, kept: true }, Op::End]);
    }
    let mut code = compiler.code;
    if !code.by.is_empty() {
        code.by.resize(code.ops.len(), 0);
    }
    Some(code)
}

/// Compiles a section that nobody calls, for its errors alone; false if there are any.
pub(super) fn section<C>(
    reader: &mut Reader<C>,
    (drafts, app): (&[Draft], usize),
    name: &Name,
    objects: &All,
) -> bool {
    let before = reader.is_clean();
    let Some(draft) = drafts.get(app) else { return before };
    let Some(block) = of(&draft.sections, &name.text) else { return before };
    let mut sound = true;
    let mut compiler = Compiler::new(reader, (drafts, app), objects, Begun::default());
    compiler.sections.push(&name.text);
    // Whoever calls it may have others to send to.
    compiler.team.tasks = 2;
    // Whoever called it could hold them.
    draft.each(block, &mut |action, _| {
        if let Action::Unlock(name) | Action::Wait(_, name) = action {
            compiler.held.insert(&name.text);
        }
    });
    // Objects that nothing else uses have no number, which is no error.
    compiler.block(block);
    sound &= before == compiler.reader.is_clean();
    sound
}

/// What the graphs of a program have numbers for: all kinds begin with these.
#[derive(Clone, Default)]
pub(super) struct Begun {
    profiles: Vec<MemoryProfile>,
    tables: Vec<Quantiles>,
    named: Named,
}

/// Compiles the graphs of a program: the jobs of each. What is wrong goes to the reader.
pub(super) fn graphs<C>(
    reader: &mut Reader<C>,
    (drafts, app): (&[Draft], usize),
    objects: &All,
) -> Option<(Begun, Vec<Arc<[Job]>>)> {
    let draft = drafts.get(app)?;
    let mut compiler = Compiler::new(reader, (drafts, app), objects, Begun::default());
    let mut sound = true;
    let mut all = Vec::new();
    for (name, graph) in &draft.graphs {
        match compiler.jobs(name, graph) {
            Some(jobs) => all.push(jobs),
            None => sound = false,
        }
    }
    let Compiler { code, named, .. } = compiler;
    let begun = Begun { profiles: code.profiles, tables: code.tables, named };
    sound.then_some((begun, all))
}

/// What has a number of its own in a program.
#[derive(Clone, Default)]
pub(super) struct Named {
    pub(super) profiles: BTreeMap<String, u32>,
    pub(super) tables: BTreeMap<String, (Span, u16)>,
    pub(super) lognormal: BTreeMap<u64, u16>,
    clocks: BTreeMap<String, u8>,
}

pub(super) struct Compiler<'a, C> {
    pub(super) reader: &'a mut Reader<C>,
    drafts: &'a [Draft],
    app: usize,
    objects: &'a All,
    pub(super) code: Code,
    pub(super) named: Named,
    pub(super) team: Team,
    /// How the tasks of the kind move messages.
    pub(super) messages: MessageRules,
    /// Sections around the present statement.
    sections: Vec<&'a str>,
    /// Locks that the task may hold.
    held: BTreeSet<&'a str>,
    /// Those that it holds whatever happened before.
    certain: BTreeSet<&'a str>,
    /// Loops around the present statement.
    depth: usize,
    /// Choices around it.
    pub(super) choices: usize,
    visited: usize,
    forked: bool,
}

impl<'a, C> Compiler<'a, C> {
    fn new(
        reader: &'a mut Reader<C>,
        (drafts, app): (&'a [Draft], usize),
        objects: &'a All,
        begun: Begun,
    ) -> Self {
        let Begun { mut profiles, tables, named } = begun;
        if profiles.is_empty() {
            profiles.push(MemoryProfile::NONE);
        }
        Self {
            reader,
            drafts,
            app,
            objects,
            code: Code { profiles, tables, ..Code::default() },
            named,
            team: Team::default(),
            messages: MessageRules::PLAIN,
            sections: Vec::new(),
            held: BTreeSet::new(),
            certain: BTreeSet::new(),
            depth: 0,
            choices: 0,
            visited: 0,
            forked: false,
        }
    }

    /// The jobs of a graph.
    fn jobs(&mut self, of: &Name, graph: &GraphDraft) -> Option<Arc<[Job]>> {
        // Most jobs of a large graph have the same work.
        let mut last: Option<(&Run, (Work, Spread, ProfileId))> = None;
        let mut jobs = Vec::new();
        for (run, next) in graph.jobs(self.reader, of)? {
            let known = last.filter(|(known, _)| run.is_some_and(|run| std::ptr::eq(run, *known)));
            let (work, spread, profile) = match (known, run) {
                (Some((_, known)), _) => known,
                (None, None) => (Work::ZERO, Spread::NONE, ProfileId(0)),
                (None, Some(run)) => self.run(&run.length, run.profile.as_ref(), run.place)?,
            };
            last = run.map(|run| (run, (work, spread, profile)));
            jobs.push(Job { work, spread, profile, next });
        }
        if jobs.iter().all(|job| job.work == Work::ZERO) {
            let message = format!("no job of the graph `{}` has work", of.text);
            return self.refuse(of.place, message, "write `run: 1ms`, for instance");
        }
        Some(jobs.into())
    }

    /// Work with its variation and its memory profile.
    fn run(
        &mut self,
        length: &Length,
        profile: Option<&Name>,
        place: Place,
    ) -> Option<(Work, Spread, ProfileId)> {
        let (span, spread) = self.length(length, place)?;
        let profile = match profile {
            Some(name) => self.profile(name)?,
            None => ProfileId(0),
        };
        Some((self.work(span, spread, place)?, spread, profile))
    }

    pub(super) fn draft(&self) -> &'a Draft {
        &self.drafts[self.app]
    }

    pub(super) fn refuse<T>(
        &mut self,
        place: Place,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Option<T> {
        self.reader.wrong_with_hint(place, message, hint);
        None
    }

    /// All statements of a block, so that each error is shown; nothing after one.
    pub(super) fn block(&mut self, block: &'a [Statement]) -> Option<()> {
        let mut sound = true;
        let mut endless = false;
        for statement in block {
            if std::mem::replace(&mut endless, matches!(statement.action, Action::Forever(_))) {
                let message = "a `forever` does not end, so this is never done";
                sound = false;
                self.reader.wrong_with_hint(statement.place, message, "put it before, or use `repeat`");
            }
            self.visited += 1;
            if self.visited > 4 * MAX_OPS || self.code.ops.len() > MAX_OPS {
                let message = format!("a program has at most {MAX_OPS} operations, sections written out");
                return self.refuse(statement.place, message, "use loops");
            }
            self.part(statement);
            let before = self.code.ops.len();
            sound &= self.statement(statement).is_some() && self.waits_by(statement, before).is_some();
            self.code.calls.extend(Call::of(statement, before, self.code.ops.len()));
        }
        sound.then_some(())
    }

    fn number(&mut self, sort: Sort, name: &Name) -> Option<Number> {
        let key = uses::key(self.drafts, self.app, sort, &name.text);
        self.objects.numbers.get(&key).copied()
    }

    fn event(&mut self, sort: Sort, name: &Name) -> Option<EventId> {
        match self.number(sort, name)? {
            Number::Event(event) => Some(event),
            _ => None,
        }
    }

    pub(super) fn push(&mut self, op: Op) {
        self.code.ops.push(op);
    }

    fn post(&mut self, event: EventId, count: u32, kept: bool) {
        self.push(Op::Post { event, count, kept });
    }

    fn take(&mut self, event: EventId, count: u32) {
        self.push(Op::Take { event, count });
    }

    /// Work without a memory profile.
    pub(super) fn copy(&mut self, span: Span) {
        if span > Span::ZERO {
            let work = Work::from_span(span);
            self.push(Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) });
        }
    }

    fn statement(&mut self, statement: &'a Statement) -> Option<()> {
        let place = statement.place;
        match &statement.action {
            Action::Run(length, profile) => {
                let (work, spread, profile) = self.run(length, profile.as_ref(), place)?;
                self.push(Op::Compute { work, spread, profile });
            }
            Action::Sleep(length) => {
                let (span, spread) = self.length(length, place)?;
                self.push(Op::Sleep { span, spread });
            }
            Action::Io(name, length) => {
                let (span, spread) = self.length(length, place)?;
                if let Number::Device(device) = self.number(Sort::Device, name)? {
                    self.push(Op::Io { device, span, spread });
                }
            }
            Action::Until { period, first, clock, skips } => {
                let clock = self.clock(clock.as_ref(), place)?;
                self.push(Op::Until { clock, first: *first, period: *period, skips: *skips });
            }
            Action::Lock(_) | Action::Unlock(_) | Action::Wait(..) => self.locks(&statement.action)?,
            Action::Signal(name, count) => {
                let event = self.event(Sort::Condition, name)?;
                self.post(event, *count, false);
            }
            Action::Broadcast(name) => {
                let event = self.event(Sort::Condition, name)?;
                self.post(event, ALL, false);
            }
            Action::Acquire(name, count) => {
                let event = self.event(Sort::Semaphore, name)?;
                self.take(event, *count);
            }
            Action::Release(name, count) => {
                let event = self.event(Sort::Semaphore, name)?;
                self.post(event, *count, true);
            }
            Action::Send(_) | Action::Receive(_) => self.queue(&statement.action)?,
            Action::Exchange(shift, data) => self.exchange(*shift, data, place)?,
            Action::Collective(collective, data) => self.collective(*collective, data, place)?,
            Action::Barrier(name) => self.meet(name.as_ref(), place)?,
            Action::Fork(name, count) | Action::Join(name, count) => {
                let starts = matches!(statement.action, Action::Fork(..));
                self.fork(name, *count, starts)?;
            }
            Action::Work(name) => self.work_in(name)?,
            Action::Yield => self.push(Op::Yield),
            Action::Repeat(..) | Action::Forever(_) | Action::Share(..) => {
                self.repeat(&statement.action, place)?;
            }
            Action::Choose(cases) => self.choose(cases)?,
            Action::Parallel(block) => self.parallel(block, place)?,
            Action::Call(name) => self.call(name)?,
            Action::Nice(nice) => {
                let weight = NICE_WEIGHTS[(i16::from(*nice) + 20).clamp(0, 39) as usize];
                self.change(Change::Weight(weight));
            }
            Action::Cpus(set) => self.change(Change::Cpus(set.clone())),
            Action::Scheduling(class) => self.change(Change::Class(*class)),
            Action::Done => self.push(Op::Done),
            Action::StartClock => self.push(Op::StartClock),
        }
        Some(())
    }

    fn locks(&mut self, action: &'a Action) -> Option<()> {
        let name = match action {
            Action::Lock(name) | Action::Unlock(name) | Action::Wait(_, name) => name,
            _ => return None,
        };
        let Number::Lock(lock) = self.number(Sort::Lock, name)? else { return None };
        if matches!(action, Action::Lock(_)) {
            if !self.certain.insert(&name.text) {
                let message =
                    format!("the task holds the lock `{}` already, and would wait for itself", name.text);
                return self.refuse(name.place, message, format!("add `unlock {}` before", name.text));
            }
            self.held.insert(&name.text);
            self.push(Op::Lock(lock));
            return Some(());
        }
        if !self.held.contains(name.text.as_str()) {
            let message = format!("the lock `{}` is given back here, and nobody can hold it here", name.text);
            return self.refuse(name.place, message, format!("add `lock {}` before", name.text));
        }
        if let Action::Wait(condition, _) = action {
            let event = self.event(Sort::Condition, condition)?;
            self.code.ops.extend([Op::Arm(event), Op::Unlock(lock)]);
            self.take(event, 1);
            self.push(Op::Lock(lock));
        } else {
            self.held.remove(name.text.as_str());
            self.certain.remove(name.text.as_str());
            self.push(Op::Unlock(lock));
        }
        Some(())
    }

    fn queue(&mut self, action: &Action) -> Option<()> {
        let (name, sends) = match action {
            Action::Send(name) => (name, true),
            Action::Receive(name) => (name, false),
            _ => return None,
        };
        let Number::Queue { items, places, form } = self.number(Sort::Queue, name)? else { return None };
        if sends {
            places.into_iter().for_each(|places| self.take(places, 1));
            self.copy(form.copy);
            self.post(items, 1, true);
        } else {
            self.take(items, 1);
            places.into_iter().for_each(|places| self.post(places, 1, true));
            self.copy(form.copy);
        }
        Some(())
    }

    fn meet(&mut self, name: Option<&Name>, place: Place) -> Option<()> {
        let Some(name) = name else {
            self.all_run(place)?;
            self.push(match (self.team.threads > 1, self.team.inside) {
                (false, _) => Op::Barrier,
                (true, true) => Op::TeamBarrier,
                (true, false) => Op::LeadersBarrier,
            });
            return Some(());
        };
        if self.team.inside {
            let message = "a barrier with a name is for the first threads of teams";
            return self.refuse(name.place, message, "write `barrier`: the threads of the team meet");
        }
        if let Number::Barrier(event, parties) = self.number(Sort::Barrier, name)? {
            self.push(Op::Meet { event, parties });
        }
        Some(())
    }

    /// Refuses that the tasks of a kind meet that do not all run at the same time.
    pub(super) fn all_run(&mut self, place: Place) -> Option<()> {
        if !self.forked {
            return Some(());
        }
        let message = "tasks that are forked do not all run at the same time, so they cannot meet here";
        self.refuse(place, message, "write `barrier NAME` with `barriers: { NAME: 2 }`")
    }

    fn fork(&mut self, name: &Name, count: u32, starts: bool) -> Option<()> {
        let kinds: Vec<&str> = self.draft().kinds.iter().map(|kind| kind.name.text.as_str()).collect();
        if !kinds.contains(&name.text.as_str()) {
            let hint = advice(&name.text, &kinds);
            return self.refuse(name.place, format!("unknown kind `{}`", name.text), hint);
        }
        if let Number::Kind { start, end } = self.number(Sort::Kind, name)? {
            if starts { self.post(start, count, true) } else { self.take(end, count) }
        }
        Some(())
    }

    fn work_in(&mut self, name: &Name) -> Option<()> {
        let known: Vec<&str> = self.draft().graphs.iter().map(|(name, _)| name.text.as_str()).collect();
        if !known.contains(&name.text.as_str()) {
            let hint = if known.is_empty() {
                format!("add `graphs: {{ {}: {{ independent: {{ count: 8, run: 1ms }} }} }}`", name.text)
            } else {
                advice(&name.text, &known)
            };
            return self.refuse(name.place, format!("unknown graph `{}`", name.text), hint);
        }
        if let Number::Graph(pool) = self.number(Sort::Graph, name)? {
            self.push(Op::Work(pool));
        }
        Some(())
    }

    /// A loop.
    fn repeat(&mut self, action: &'a Action, place: Place) -> Option<()> {
        let (op, block) = match action {
            Action::Repeat(count, block) => (Op::Repeat(*count), block),
            Action::Share(count, block) => (Op::RepeatShared(*count), block),
            Action::Forever(block) => (Op::Repeat(0), block),
            _ => return None,
        };
        let shares = matches!(op, Op::RepeatShared(_));
        if shares && self.team.inside && self.team.tasks > 1 {
            let message = "the threads of one team cannot share passes that those of the others do not";
            return self.refuse(place, message, "use `repeat`, or `count: 1`");
        }
        if shares && self.forked {
            let message = "tasks that are forked do not all run at the same time, so they share no passes";
            return self.refuse(place, message, "use `repeat`, or a semaphore with so many units");
        }
        if shares && self.choices > 0 {
            let message = "only tasks that come to a loop together share its passes, and a choice parts them";
            return self.refuse(place, message, "put `choose` into the loop, or use `repeat`");
        }
        if self.depth >= MAX_LOOP_DEPTH {
            let most = MAX_LOOP_DEPTH - usize::from(self.forked);
            return self.refuse(place, format!("loops nest at most {most} deep here"), "");
        }
        // A later pass may begin with what an earlier one took.
        self.draft().each(block, &mut |action, _| {
            if let Action::Lock(name) = action {
                self.held.insert(&name.text);
            }
        });
        let start = self.code.ops.len();
        self.push(op);
        self.depth += 1;
        let before = shares.then(|| self.certain.clone());
        let inside = self.block(block);
        self.depth -= 1;
        // Perhaps the others have taken all passes.
        if let Some(before) = before {
            self.certain.retain(|name| before.contains(name));
        }
        inside?;
        if self.is_wide(block) {
            self.end_of_first();
        }
        let body = self.code.ops.get(start + 1..).unwrap_or_default();
        if passes_at_once(body, start + 1) {
            let hint = "add `run 1us` or `yield`: a queue or a semaphore may have units for ever";
            return self.refuse(place, "the body of this loop can pass without taking time", hint);
        }
        let together = |op: &Op| {
            let meets = matches!(op, Op::Barrier | Op::TeamBarrier | Op::Join | Op::LeadersBarrier);
            meets || matches!(op, Op::Exchange { .. } | Op::Message(_) | Op::RepeatShared(_))
        };
        if shares && body.iter().any(together) {
            let message =
                "tasks that share the passes of a loop cannot meet in it or share another one there";
            return self.refuse(place, message, "use `repeat`, or take the barrier out");
        }
        self.push(Op::End);
        Some(())
    }

    fn choose(&mut self, cases: &'a [(u64, super::tree::Block)]) -> Option<()> {
        let (before, before_certain) = (self.held.clone(), self.certain.clone());
        let mut after = before.clone();
        let mut all_hold: Option<BTreeSet<&str>> = None;
        let mut left = 10_000_u64;
        let mut ends: Vec<usize> = Vec::new();
        for (share, block) in cases {
            let certain = *share >= left;
            let branch = self.code.ops.len();
            if !certain {
                // The probability that none of those so far is taken, if it comes to this one.
                let other = ((left - share) << 32) / left;
                self.push(Op::Branch { share: other.min(u64::from(u32::MAX)) as u32, to: 0 });
            }
            left = left.saturating_sub(*share);
            self.held = before.clone();
            self.certain = before_certain.clone();
            self.choices += 1;
            let inside = self.block(block);
            self.choices -= 1;
            inside?;
            after.extend(self.held.iter());
            all_hold = Some(match all_hold {
                None => self.certain.clone(),
                Some(others) => others.intersection(&self.certain).copied().collect(),
            });
            if !certain {
                ends.push(self.code.ops.len());
                self.push(Op::Jump(0));
                let next = self.code.ops.len() as u16;
                if let Some(Op::Branch { to, .. }) = self.code.ops.get_mut(branch) {
                    *to = next;
                }
            }
        }
        let end = self.code.ops.len() as u16;
        for jump in ends {
            if let Some(Op::Jump(to)) = self.code.ops.get_mut(jump) {
                *to = end;
            }
        }
        self.held = after;
        self.certain = all_hold.unwrap_or_default();
        if left > 0 {
            self.certain.retain(|name| before_certain.contains(name));
        }
        Some(())
    }

    fn call(&mut self, name: &'a Name) -> Option<()> {
        let draft = self.draft();
        let Some(block) = of(&draft.sections, &name.text) else {
            let known: Vec<&str> = draft.sections.iter().map(|(name, _)| name.text.as_str()).collect();
            let hint = advice(&name.text, &known);
            return self.refuse(name.place, format!("unknown section `{}`", name.text), hint);
        };
        if self.sections.contains(&name.text.as_str()) {
            let message = format!("the section `{}` calls itself", name.text);
            return self.refuse(name.place, message, "use a loop");
        }
        self.sections.push(&name.text);
        let done = self.block(block);
        self.sections.pop();
        done
    }

    fn change(&mut self, change: Change) {
        let known = self.code.changes.iter().position(|other| *other == change);
        let at = known.unwrap_or(self.code.changes.len());
        if known.is_none() {
            self.code.changes.push(change);
        }
        self.push(Op::Set(at as u16));
    }

    fn clock(&mut self, name: Option<&Name>, place: Place) -> Option<u8> {
        let text = name.map_or("", |name| name.text.as_str());
        let next = self.named.clocks.len();
        if !self.named.clocks.contains_key(text) && next >= MOST_CLOCKS {
            return self.refuse(place, format!("a task has at most {MOST_CLOCKS} clocks"), "");
        }
        Some(*self.named.clocks.entry(text.to_owned()).or_insert(next as u8))
    }
}
