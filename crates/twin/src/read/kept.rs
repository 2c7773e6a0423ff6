//! Events that wait for their turn own their names.

use std::cmp::Ordering;

use crate::event::{Event, Kind, Named};

/// Bytes of a name of Linux (`TASK_COMM_LEN` - 1), which is kept without an allocation.
const COMM: usize = 15;

/// A name.
#[derive(Clone, Debug)]
enum Name {
    Short(u8, [u8; COMM]),
    Long(Box<str>),
}

impl Name {
    fn new(name: &str) -> Self {
        let mut bytes = [0; COMM];
        match bytes.get_mut(..name.len()) {
            Some(place) => {
                place.copy_from_slice(name.as_bytes());
                Self::Short(name.len() as u8, bytes)
            }
            None => Self::Long(name.into()),
        }
    }

    fn get(&self) -> &str {
        match self {
            Self::Short(length, bytes) => {
                let bytes = bytes.get(..usize::from(*length)).unwrap_or_default();
                std::str::from_utf8(bytes).unwrap_or_default()
            }
            Self::Long(name) => name,
        }
    }
}

/// An event that owns its names, and its turn among those of the same instant.
#[derive(Debug)]
pub(super) struct Kept {
    event: Event<'static>,
    names: [Name; 2],
    turn: u64,
}

impl Kept {
    pub(super) fn new(event: &Event<'_>, turn: u64) -> Self {
        let (kind, names) = taken(event.kind);
        let Event { at, cpu, tid, process, interrupt, line, .. } = *event;
        let event = Event { at, cpu, tid, process, interrupt, kind, line };
        Self { event, names: names.map(Name::new), turn }
    }

    pub(super) const fn at(&self) -> u64 {
        self.event.at
    }

    pub(super) fn event(&self) -> Event<'_> {
        let [one, two] = &self.names;
        Event { kind: given(self.event.kind, one.get(), two.get()), ..self.event }
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Kept {}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kept {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at(), self.turn).cmp(&(other.at(), other.turn))
    }
}

/// A thread without its name.
const fn bare(who: Named<'_>) -> Named<'static> {
    Named { tid: who.tid, comm: "", prio: who.prio }
}

/// What happened without names, and the names.
fn taken(kind: Kind<'_>) -> (Kind<'static>, [&str; 2]) {
    match kind {
        Kind::Switch { prev, state, next } => {
            (Kind::Switch { prev: bare(prev), state, next: bare(next) }, [prev.comm, next.comm])
        }
        Kind::Waking(who) => (Kind::Waking(bare(who)), [who.comm, ""]),
        Kind::Wakeup(who) => (Kind::Wakeup(bare(who)), [who.comm, ""]),
        Kind::WakeupNew(who) => (Kind::WakeupNew(bare(who)), [who.comm, ""]),
        Kind::Fork { parent, child, comm } => (Kind::Fork { parent, child, comm: "" }, [comm, ""]),
        Kind::Exec { tid, old, file } => (Kind::Exec { tid, old, file: "" }, [file, ""]),
        Kind::Mark { name, returns } => (Kind::Mark { name: "", returns }, [name, ""]),
        Kind::Runtime { tid, ran } => (Kind::Runtime { tid, ran }, ["", ""]),
        Kind::Exit { tid } => (Kind::Exit { tid }, ["", ""]),
        Kind::Migrate { tid, from, to } => (Kind::Migrate { tid, from, to }, ["", ""]),
        Kind::TimerStart { timer, expires, relative } => {
            (Kind::TimerStart { timer, expires, relative }, ["", ""])
        }
        Kind::TimerExpire { timer } => (Kind::TimerExpire { timer }, ["", ""]),
        Kind::SoftirqEntry(which) => (Kind::SoftirqEntry(which), ["", ""]),
        Kind::SoftirqExit => (Kind::SoftirqExit, ["", ""]),
        Kind::IrqEntry => (Kind::IrqEntry, ["", ""]),
        Kind::IrqExit => (Kind::IrqExit, ["", ""]),
        Kind::Yield => (Kind::Yield, ["", ""]),
        Kind::Lost(events) => (Kind::Lost(events), ["", ""]),
        Kind::Other => (Kind::Other, ["", ""]),
    }
}

/// What happened with its names.
fn given<'a>(kind: Kind<'static>, one: &'a str, two: &'a str) -> Kind<'a> {
    match kind {
        Kind::Switch { prev, state, next } => {
            Kind::Switch { prev: Named { comm: one, ..prev }, state, next: Named { comm: two, ..next } }
        }
        Kind::Waking(who) => Kind::Waking(Named { comm: one, ..who }),
        Kind::Wakeup(who) => Kind::Wakeup(Named { comm: one, ..who }),
        Kind::WakeupNew(who) => Kind::WakeupNew(Named { comm: one, ..who }),
        Kind::Fork { parent, child, .. } => Kind::Fork { parent, child, comm: one },
        Kind::Exec { tid, old, .. } => Kind::Exec { tid, old, file: one },
        Kind::Mark { returns, .. } => Kind::Mark { name: one, returns },
        other => other,
    }
}
