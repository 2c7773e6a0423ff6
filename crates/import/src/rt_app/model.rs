//! What a file of rt-app says: threads, their phases and events.

/// How often something runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Times {
    Forever,
    Number(u32),
}

/// A kind of thread.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) instances: u32,
    /// Before its first event, in ns.
    pub(super) delay: u64,
    pub(super) times: Times,
    pub(super) phases: Vec<Phase>,
    pub(super) traits: Traits,
    /// Due this long after its release (old files), in ns.
    pub(super) deadline: Option<u64>,
}

/// A sequence of events.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) times: Times,
    pub(super) events: Vec<Event>,
    pub(super) traits: Traits,
}

/// How a thread or phase is scheduled, each with its line.
#[derive(Clone, Default, Debug)]
pub(super) struct Traits {
    pub(super) policy: Option<(String, usize)>,
    pub(super) priority: Option<(i64, usize)>,
    /// `dl-runtime` in ns.
    pub(super) slice: Option<(u64, usize)>,
    pub(super) cpus: Option<(Vec<u32>, usize)>,
    pub(super) group: Option<(String, usize)>,
}

/// An event with its line and path.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) place: String,
    pub(super) what: What,
}

/// What a thread does.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum What {
    /// Work in ns at nominal speed; with a fixed time (`runtime`) or not.
    Run {
        ns: u64,
        fixed: bool,
    },
    Sleep(u64),
    Timer {
        name: String,
        period: u64,
        absolute: bool,
    },
    Lock(String),
    Unlock(String),
    Wait {
        condition: String,
        mutex: String,
    },
    Signal(String),
    Broadcast(String),
    Sync {
        condition: String,
        mutex: String,
    },
    /// The text, which rt-app ignores.
    Suspend(String),
    Resume(String),
    Barrier(String),
    Yield,
    Fork(String),
    Post(String),
    Acquire(String),
    /// Bytes written to memory, of a buffer of so many bytes.
    Memory {
        bytes: u64,
        buffer: u64,
    },
    /// Dependent loads.
    Chase {
        loads: u64,
        buffer: u64,
    },
    /// Bytes written to the device.
    Write(u64),
}

/// What holds for all threads.
#[derive(Clone, Debug)]
pub(super) struct Global {
    /// In ns, with its line.
    pub(super) duration: Option<(u64, usize)>,
    pub(super) policy: String,
    pub(super) inherits: bool,
    pub(super) device: String,
    pub(super) buffer: u64,
}

impl Default for Global {
    /// As `parse_global` of rt-app without the object.
    fn default() -> Self {
        Self {
            duration: None,
            policy: "SCHED_OTHER".into(),
            inherits: false,
            device: "/dev/null".into(),
            buffer: 4_194_304,
        }
    }
}

impl Thread {
    pub(super) fn events(&self) -> impl Iterator<Item = &Event> {
        self.phases.iter().flat_map(|phase| &phase.events)
    }

    /// True when it never ends by itself.
    pub(super) fn is_endless(&self) -> bool {
        self.times == Times::Forever || self.phases.iter().any(|phase| phase.times == Times::Forever)
    }
}
