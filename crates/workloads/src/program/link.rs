//! All programs of a run together: checked, compiled, and placed among the objects of the run.

use std::sync::Arc;

use notation::reader::Reader;
use sim_core::ids::{DeviceId, EventId, LockId};
use sim_core::program::{Objects, Op, Program};
use sim_core::time::Time;

use super::compile::{self, Code};
use super::draft::{Draft, of};
use super::objects::{self, All, Number, SHARED};
use super::uses::{self, Sort};

/// A kind of tasks, compiled.
#[derive(Clone, PartialEq, Debug)]
pub struct Kind {
    /// Its name in the program.
    pub name: String,
    /// Its tasks.
    pub count: u32,
    /// Its tasks answer requests: they wait for a clock, or for a queue that arrivals feed.
    pub requests: bool,
    /// Its code has no end.
    pub endless: bool,
    /// Others start its tasks.
    pub forked: bool,
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
        Program::with(ops, self.code.profiles.clone(), self.code.tables.clone(), self.code.changes.clone())
    }

    /// Bytes of one program of it.
    #[must_use]
    pub fn size(&self) -> u64 {
        (self.code.ops.len() * (size_of::<Op>() + 9)) as u64 + 256
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
        };
        let Some((own, feeds)) = self.all.own.get(app).zip(self.all.feeds.get(app)) else { return bases };
        let mut own = own.clone();
        let names = own.events.iter_mut().map(|event| &mut event.name);
        let names = names.chain(own.devices.iter_mut().map(|device| &mut device.name));
        names.chain(own.locks.iter_mut().map(|lock| &mut lock.name)).for_each(|name| name.push_str(suffix));
        run.events.append(&mut own.events);
        run.devices.append(&mut own.devices);
        run.locks.append(&mut own.locks);
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
    }
    if !uses::check(reader, &uses) || !sound {
        return None;
    }
    let all = objects::all(drafts, &uses);
    let mut kinds = Vec::new();
    for (app, draft) in drafts.iter().enumerate() {
        let mut of_app = Vec::new();
        for at in 0..draft.kinds.len() {
            match kind(reader, drafts, (app, at), &all) {
                Some(kind) => of_app.push(kind),
                None => sound = false,
            }
        }
        unused(reader, drafts, app, &uses);
        kinds.push(of_app);
    }
    sound.then_some(Linked { kinds, all })
}

fn kind<C>(reader: &mut Reader<C>, drafts: &[Draft], (app, at): (usize, usize), all: &All) -> Option<Kind> {
    let draft = drafts.get(app)?;
    let written = draft.kinds.get(at)?;
    let name = &written.name.text;
    let forked = match all.numbers.get(&uses::key(drafts, app, Sort::Kind, name)) {
        Some(Number::Kind { start, end }) => Some((*start, *end)),
        _ => None,
    };
    let code = compile::kind(reader, (drafts, app), at, all, forked)?;
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
    let kind = Kind {
        name: name.clone(),
        count: written.count,
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
                Some(u64::from(of_app.kinds.get(*kind)?.count) * u64::from(of_app.copies))
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

/// Remarks on names that are declared and not used.
fn unused<C>(reader: &mut Reader<C>, drafts: &[Draft], app: usize, uses: &uses::Uses) {
    let Some(draft) = drafts.get(app) else { return };
    let names = |sort, all: Vec<&super::tree::Name>| {
        all.into_iter().map(|name| (sort, name.text.clone())).collect::<Vec<_>>()
    };
    let declared = [
        names((Sort::Lock, "lock"), draft.locks.iter().map(|(name, _)| name).collect()),
        names((Sort::Queue, "queue"), draft.queues.iter().map(|(name, _)| name).collect()),
        names((Sort::Barrier, "barrier"), draft.barriers.iter().map(|(name, _)| name).collect()),
        names((Sort::Device, "device"), draft.devices.iter().map(|(name, _)| name).collect()),
    ];
    for ((sort, what), name) in declared.into_iter().flatten() {
        if !uses.contains_key(&uses::key(drafts, app, sort, &name)) {
            reader.remark(format!("the {what} `{name}` of `{}` is declared and not used", draft.name));
        }
    }
}
