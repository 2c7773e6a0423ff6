//! All programs of a run together: checked, compiled, and placed among the objects of the run.

use std::collections::BTreeSet;
use std::sync::Arc;

use notation::diagnostics::Place;
use notation::reader::Reader;
use notation::suggest::nearest;
use sim_core::ids::{DeviceId, EventId, LockId, PoolId};
use sim_core::lock::{LockRules, Protocol};
use sim_core::machine::CpuSet;
use sim_core::program::{Change, MemoryProfile, Objects, Op, Program, Quantiles, Scheduling};
use sim_core::time::Time;

use super::calls::Call;
use super::compile::{self, Code};
use super::draft::{Draft, RuntimeForm, of};
use super::objects::{self, All, Number, SHARED};
use super::tree::{Action, Length, Name};
use super::uses::{self, Sort};

/// A kind of tasks, compiled.
#[derive(Clone, PartialEq, Debug)]
pub struct Kind {
    /// Its name in the program.
    pub name: String,
    /// Its tasks: all threads of its teams.
    pub count: u32,
    /// Threads of a team; 1: there are no teams.
    pub threads: u32,
    /// Its tasks answer requests: they wait for a clock, or for a queue that arrivals feed.
    pub requests: bool,
    /// Its code has no end.
    pub endless: bool,
    /// Others start its tasks.
    pub forked: bool,
    /// Where its tasks change their nice value.
    pub nice: Option<Place>,
    /// The cpus to which they change, and where.
    pub cpus: Vec<(CpuSet, Place)>,
    /// The classes to which they change, and where.
    pub classes: Vec<(Scheduling, Place)>,
    /// What the locks that they take do to priorities, and where they take them.
    pub raising: Vec<(Protocol, Place)>,
    code: Arc<Code>,
}

/// The programs of a run, compiled.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Linked {
    /// The kinds of each program, in the order of the programs.
    pub kinds: Vec<Vec<Kind>>,
    all: All,
}

/// Where the own objects of a program begin among those of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bases {
    events: u32,
    devices: u32,
    locks: u32,
    pools: u32,
}

impl Bases {
    fn event(self, id: EventId) -> EventId {
        EventId(moved(id.0, self.events))
    }

    /// An operation with the numbers of a run.
    fn op(self, op: &Op) -> Op {
        let mut op = *op;
        match &mut op {
            Op::Post { event, .. } | Op::Take { event, .. } | Op::Arm(event) | Op::Meet { event, .. } => {
                *event = self.event(*event);
            }
            Op::Io { device, .. } => *device = DeviceId(moved(device.0, self.devices)),
            Op::Work(pool) => *pool = PoolId(moved(pool.0, self.pools)),
            Op::Lock(lock) | Op::Unlock(lock) => *lock = LockId(moved(lock.0, self.locks)),
            _ => {}
        }
        op
    }
}

const fn moved(id: u32, base: u32) -> u32 {
    if id & SHARED == 0 { base + id } else { id & !SHARED }
}

impl Kind {
    /// Its program, with the objects of its application at these places of the run.
    ///
    /// # Errors
    /// As [`Program::with`].
    pub fn program(&self, bases: Bases) -> Result<Program, String> {
        let ops = self.code.ops.iter().map(|op| bases.op(op)).collect();
        let Code { profiles, tables, changes, by, .. } = &*self.code;
        Program::with(ops, profiles.clone(), tables.clone(), changes.clone())?.waiting(by.clone())
    }

    /// The runtimes under which single operations wait, with their names.
    #[must_use]
    pub fn runtimes(&self) -> &[(String, RuntimeForm)] {
        &self.code.runtimes
    }

    /// Its operations that are one call of a runtime.
    #[must_use]
    pub fn calls(&self) -> &[Call] {
        &self.code.calls
    }

    /// Bytes of one program of it.
    #[must_use]
    pub fn size(&self) -> u64 {
        let lists = self.code.profiles.len() * size_of::<MemoryProfile>()
            + self.code.tables.len() * size_of::<Quantiles>()
            + self.code.changes.len() * size_of::<Change>();
        (self.code.ops.len() * (size_of::<Op>() + 10) + lists) as u64 + 256
    }
}

/// The objects of a run while its applications are written out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// The objects so far.
    pub objects: Objects,
}

impl Linked {
    /// The objects that programs share.
    #[must_use]
    pub fn begin(&self) -> Placed {
        Placed { objects: self.all.shared.clone() }
    }

    /// Adds the objects of a program, or of a copy of it (`suffix`: behind their names), which starts then.
    pub fn place(&self, placed: &mut Placed, app: usize, suffix: &str, start: Time) -> Bases {
        let run = &mut placed.objects;
        let bases = Bases {
            events: run.events.len() as u32,
            devices: run.devices.len() as u32,
            locks: run.locks.len() as u32,
            pools: run.pools.len() as u32,
        };
        let Some((own, feeds)) = self.all.own.get(app).zip(self.all.feeds.get(app)) else { return bases };
        let mut own = own.clone();
        let names = own.events.iter_mut().map(|event| &mut event.name);
        let names = names.chain(own.devices.iter_mut().map(|device| &mut device.name));
        let names = names.chain(own.pools.iter_mut().map(|pool| &mut pool.name));
        names.chain(own.locks.iter_mut().map(|lock| &mut lock.name)).for_each(|name| name.push_str(suffix));
        run.events.append(&mut own.events);
        run.devices.append(&mut own.devices);
        run.locks.append(&mut own.locks);
        run.pools.append(&mut own.pools);
        for (source, feed) in feeds {
            let mut source = source.clone();
            source.name.push_str(suffix);
            source.event = bases.event(source.event);
            source.places = source.places.map(|places| bases.event(places));
            source.start = start.saturating_add(feed.start);
            run.sources.push(source);
        }
        bases
    }

    /// Whether requests come to a program from outside.
    #[must_use]
    pub fn is_fed(&self, app: usize) -> bool {
        self.all.feeds.get(app).is_some_and(|feeds| !feeds.is_empty())
    }
}

/// Checks and compiles the programs of a run; what is wrong goes to the reader.
pub fn link<C>(reader: &mut Reader<C>, drafts: &[Draft]) -> Option<Linked> {
    let mut sound = true;
    let uses = uses::all(drafts);
    for app in 0..drafts.len() {
        sound &= agree(reader, drafts, app);
        sound &= parties(reader, drafts, app, &uses);
        sound &= shared(reader, drafts, app, &uses);
    }
    if !uses::check(reader, &uses) || !sound {
        return None;
    }
    let mut all = objects::all(drafts, &uses);
    let mut kinds = Vec::new();
    for (app, draft) in drafts.iter().enumerate() {
        let mut of_app = Vec::new();
        let Some(begun) = graphs(reader, drafts, app, &mut all) else {
            sound = false;
            continue;
        };
        for at in 0..draft.kinds.len() {
            match kind(reader, drafts, (app, at), (&all, &begun)) {
                Some(kind) => of_app.push(kind),
                None => sound = false,
            }
        }
        sound &= unused(reader, (drafts, app), &uses, &all);
        for (name, _) in &draft.runtimes {
            let named = |kind: &Kind| kind.runtimes().iter().any(|(known, _)| *known == name.text);
            if !of_app.iter().any(named) {
                let of = &draft.name;
                reader.remark(format!("the runtime `{}` of `{of}` is declared and not used", name.text));
            }
        }
        kinds.push(of_app);
    }
    sound.then_some(Linked { kinds, all })
}

/// Compiles the graphs of a program and gives the pools of those in use their jobs.
fn graphs<C>(reader: &mut Reader<C>, drafts: &[Draft], app: usize, all: &mut All) -> Option<compile::Begun> {
    let (begun, jobs) = compile::graphs(reader, (drafts, app), all)?;
    for ((name, _), jobs) in drafts.get(app)?.graphs.iter().zip(jobs) {
        let number = all.numbers.get(&uses::key(drafts, app, Sort::Graph, &name.text));
        if let (Some(Number::Graph(pool)), Some(own)) = (number, all.own.get_mut(app))
            && let Some(pool) = own.pools.get_mut(pool.0 as usize)
        {
            pool.jobs = jobs;
        }
    }
    Some(begun)
}

fn kind<C>(
    reader: &mut Reader<C>,
    drafts: &[Draft],
    (app, at): (usize, usize),
    (all, begun): (&All, &compile::Begun),
) -> Option<Kind> {
    let draft = drafts.get(app)?;
    let written = draft.kinds.get(at)?;
    let name = &written.name.text;
    let forked = match all.numbers.get(&uses::key(drafts, app, Sort::Kind, name)) {
        Some(Number::Kind { start, end }) => Some((*start, *end)),
        _ => None,
    };
    let code = compile::kind(reader, (drafts, app), at, (all, begun), forked)?;
    let stamped = |event: EventId| {
        let objects = if event.0 & SHARED == 0 { all.own.get(app) } else { Some(&all.shared) };
        let events = objects.map_or(&[][..], |objects| &objects.events);
        events.get((event.0 & !SHARED) as usize).is_some_and(|event| event.stamped)
    };
    let answers = |op: &Op| match op {
        Op::Until { .. } => true,
        Op::Take { event, .. } => stamped(*event),
        _ => false,
    };
    let protocol = |name: &Name| match all.numbers.get(&uses::key(drafts, app, Sort::Lock, &name.text)) {
        Some(Number::Lock(lock)) => {
            let objects = if lock.0 & SHARED == 0 { all.own.get(app) } else { Some(&all.shared) };
            objects.and_then(|objects| objects.locks.get((lock.0 & !SHARED) as usize))
        }
        _ => None,
    };
    let (mut nice, mut cpus, mut classes, mut raising) = (None, Vec::new(), Vec::new(), Vec::new());
    draft.each(&written.code, &mut |action, place| match action {
        Action::Nice(_) => nice = nice.or(Some(place)),
        Action::Cpus(set) => cpus.push((set.clone(), place)),
        Action::Scheduling(class) => classes.push((*class, place)),
        Action::Lock(name) | Action::Wait(_, name) => {
            let rules = protocol(name).map(|lock| lock.rules).filter(LockRules::raises);
            raising.extend(rules.map(|rules| (rules.protocol, place)));
        }
        _ => {}
    });
    let kind = Kind {
        name: name.clone(),
        nice,
        cpus,
        classes,
        raising,
        count: written.count.saturating_mul(written.threads),
        threads: written.threads,
        requests: written.requests.unwrap_or_else(|| code.ops.iter().any(answers)),
        endless: code.ops.contains(&Op::Repeat(0)),
        forked: forked.is_some(),
        code: Arc::new(code),
    };
    if let Err(message) = kind.program(Bases::default()) {
        reader.wrong(written.name.place, format!("the kind `{name}`: {message}"));
        return None;
    }
    Some(kind)
}

/// Notes a shared name that two programs declare differently.
fn agree<C>(reader: &mut Reader<C>, drafts: &[Draft], app: usize) -> bool {
    let Some(draft) = drafts.get(app) else { return false };
    let mut sound = true;
    for name in &draft.shared {
        let text = name.text.as_str();
        for other in drafts.iter().take(app).filter(|other| other.shares(text)) {
            let differs = differ(of(&draft.locks, text), of(&other.locks, text))
                || differ(of(&draft.semaphores, text), of(&other.semaphores, text))
                || differ(of(&draft.queues, text), of(&other.queues, text))
                || differ(of(&draft.barriers, text), of(&other.barriers, text))
                || differ(of(&draft.devices, text), of(&other.devices, text));
            if differs {
                let message = format!("`{text}` is declared otherwise in the program of `{}`", other.name);
                reader.wrong_with_hint(name.place, message, "declare a shared name in one program");
                sound = false;
            }
        }
    }
    sound
}

fn differ<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

/// Notes a barrier at which more tasks are to meet than can come.
fn parties<C>(reader: &mut Reader<C>, drafts: &[Draft], app: usize, uses: &uses::Uses) -> bool {
    let Some(draft) = drafts.get(app) else { return false };
    let mut sound = true;
    for (name, parties) in &draft.barriers {
        let key = uses::key(drafts, app, Sort::Barrier, &name.text);
        let Some(sides) = uses.get(&key) else { continue };
        let tasks: u64 = sides
            .users
            .iter()
            .filter_map(|(app, kind)| {
                let of_app = drafts.get(*app)?;
                // Copies meet each other only by a shared name.
                let copies = if key.0.is_none() { u64::from(of_app.copies) } else { 1 };
                Some(u64::from(of_app.kinds.get(*kind)?.count) * copies)
            })
            .sum();
        if u64::from(*parties) > tasks {
            let message =
                format!("{parties} tasks are to meet at the barrier `{}`, and {tasks} come", name.text);
            reader.wrong_with_hint(name.place, message, "leave out the number: then all of them meet");
            sound = false;
        }
    }
    sound
}

/// Remarks on names that are declared and not used; false if a section that nobody calls has errors.
fn unused<C>(reader: &mut Reader<C>, (drafts, app): (&[Draft], usize), uses: &uses::Uses, all: &All) -> bool {
    let Some(draft) = drafts.get(app) else { return false };
    let mut named: BTreeSet<(&str, &str)> = BTreeSet::new();
    for kind in &draft.kinds {
        draft.each(&kind.code, &mut |action, _| named.extend(names_in(action)));
    }
    for run in draft.graphs.iter().flat_map(|(_, graph)| graph.runs()) {
        named.extend(names_of(&run.length, run.profile.as_ref()));
    }
    let used = |sort, name: &str| {
        uses.get(&uses::key(drafts, app, sort, name)).is_some_and(|sides| !sides.users.is_empty())
    };
    let mut remark = |what: &str, name: &str, used: bool| {
        if !used {
            reader.remark(format!("the {what} `{name}` of `{}` is declared and not used", draft.name));
        }
    };
    draft.locks.iter().for_each(|(name, _)| remark("lock", &name.text, used(Sort::Lock, &name.text)));
    let semaphores = draft.semaphores.iter();
    semaphores.for_each(|(name, _)| remark("semaphore", &name.text, used(Sort::Semaphore, &name.text)));
    draft.queues.iter().for_each(|(name, _)| remark("queue", &name.text, used(Sort::Queue, &name.text)));
    let barriers = draft.barriers.iter();
    barriers.for_each(|(name, _)| remark("barrier", &name.text, used(Sort::Barrier, &name.text)));
    draft.devices.iter().for_each(|(name, _)| remark("device", &name.text, used(Sort::Device, &name.text)));
    draft.graphs.iter().for_each(|(name, _)| remark("graph", &name.text, used(Sort::Graph, &name.text)));
    let tables = draft.tables.iter().map(|(name, _)| ("table", name));
    let profiles = draft.profiles.iter().map(|(name, _)| ("profile", name));
    let sections = draft.sections.iter().map(|(name, _)| ("section", name));
    for (what, name) in tables.chain(profiles).chain(sections) {
        remark(what, &name.text, named.contains(&(what, name.text.as_str())));
    }
    let mut sound = true;
    for (name, _) in draft.sections.iter().filter(|(name, _)| !named.contains(&("section", &name.text))) {
        sound &= compile::section(reader, (drafts, app), name, all);
    }
    sound
}

/// What work names: a table, and a memory profile.
fn names_of<'a>(length: &'a Length, profile: Option<&'a Name>) -> Vec<(&'static str, &'a str)> {
    let table = if let Length::Table(name) = length { Some(("table", name.text.as_str())) } else { None };
    table.into_iter().chain(profile.map(|name| ("profile", name.text.as_str()))).collect()
}

/// What a statement names that is no object: its sort and its name.
fn names_in(action: &Action) -> Vec<(&'static str, &str)> {
    let mut names = Vec::new();
    match action {
        Action::Run(length, profile) => names.extend(names_of(length, profile.as_ref())),
        Action::Sleep(length) | Action::Io(_, length) => names.extend(names_of(length, None)),
        Action::Exchange(_, data) | Action::Collective(_, data) => {
            names.extend(data.profile.iter().map(|name| ("profile", name.text.as_str())));
        }
        Action::Call(name) => names.push(("section", name.text.as_str())),
        _ => {}
    }
    names
}

/// Notes shared names that say nothing, and remarks on those that no other application shares.
fn shared<C>(reader: &mut Reader<C>, drafts: &[Draft], app: usize, uses: &uses::Uses) -> bool {
    let Some(draft) = drafts.get(app) else { return false };
    let mut sound = true;
    // The objects that it uses or feeds, whoever shares them.
    let own = |key: &uses::Key, sides: &uses::Sides| {
        !matches!(key.1, Sort::Kind | Sort::Graph)
            && (key.0 == Some(app) || sides.users.iter().any(|(user, _)| *user == app))
    };
    let known = || uses.iter().filter(|(key, sides)| own(key, sides)).map(|((_, _, name), _)| name.as_str());
    for (at, name) in draft.shared.iter().enumerate() {
        let text = name.text.as_str();
        let fed = draft.arrivals.iter().any(|(fed, _)| fed.text == text);
        let (message, hint) = if !super::is_name(text) {
            (format!("`{text}` is not a name"), "use letters, digits, `_` and `-`".to_owned())
        } else if draft.shared.iter().take(at).any(|other| other.text == text) {
            (format!("`{text}` is shared twice"), "leave out one of them".to_owned())
        } else if !fed && !known().any(|used| used == text) {
            let near = nearest(text, known());
            let hint = near.map_or_else(String::new, |near| format!("did you mean `{near}`?"));
            (format!("no statement of `{}` uses `{text}`", draft.name), hint)
        } else {
            let others = drafts.iter().enumerate().any(|(other, draft)| other != app && draft.shares(text));
            if !others && draft.copies == 1 {
                reader.remark(format!("no other application shares `{text}` with `{}`", draft.name));
            }
            continue;
        };
        reader.wrong_with_hint(name.place, message, hint);
        sound = false;
    }
    sound
}
