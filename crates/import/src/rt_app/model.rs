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
    /// `dl-deadline` in ns.
    pub(super) deadline: Option<(u64, usize)>,
    /// `dl-period` in ns.
    pub(super) period: Option<(u64, usize)>,
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

impl What {
    /// The most time that it takes when no other thread runs, in ns: for data, a guess that is too long.
    fn longest(&self) -> u64 {
        match self {
            Self::Run { ns, .. } | Self::Sleep(ns) | Self::Timer { period: ns, .. } => *ns,
            Self::Memory { bytes, .. } | Self::Write(bytes) => bytes.saturating_mul(100),
            Self::Chase { loads, .. } => loads.saturating_mul(1_000),
            _ => 0,
        }
    }
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

    /// Its control group, or that of its first phase.
    pub(super) fn group(&self) -> Option<&(String, usize)> {
        let first = self.phases.first().and_then(|phase| phase.traits.group.as_ref());
        self.traits.group.as_ref().or(first)
    }

    /// The most time that its events take when no other thread runs, in ns; none when it never ends.
    pub(super) fn longest(&self) -> Option<u64> {
        if self.is_endless() {
            return None;
        }
        let number = |times: Times| if let Times::Number(number) = times { u64::from(number) } else { 0 };
        let mut pass = 0_u64;
        for phase in &self.phases {
            let sum = phase.events.iter().map(|event| event.what.longest()).fold(0, u64::saturating_add);
            // A pass that only waits takes 1 us in a program.
            pass = pass.saturating_add(sum.max(1_000).saturating_mul(number(phase.times)));
        }
        Some(pass.saturating_mul(number(self.times)).saturating_add(self.delay))
    }

    /// True when it never ends by itself.
    pub(super) fn is_endless(&self) -> bool {
        self.times == Times::Forever || self.phases.iter().any(|phase| phase.times == Times::Forever)
    }
}
