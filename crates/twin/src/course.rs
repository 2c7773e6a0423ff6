//! What each thread of a program did, as a list of steps: it computed, waited, woke, slept, forked. Cpu time
//! is conserved: the runs of a thread add up to its stints.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::follow::{Did, End, Source, Start, Stint};
use crate::threads::{Id, Threads};

/// Names of threads of the kernel begin with one of these: they belong to no program.
const KERNEL: [&str; 12] = [
    "kworker",
    "ksoftirqd/",
    "migration/",
    "rcu_",
    "rcuop/",
    "rcuos/",
    "rcuog/",
    "kswapd",
    "kcompactd",
    "khugepaged",
    "irq/",
    "cpuhp/",
];

/// A step of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It computed so long, in ns of cpu time.
    Run(u64),
    /// It woke a thread. `idle`: that thread then ran on a cpu that had been idle.
    Wake {
        /// Whom.
        whom: Id,
        /// Its cpu was idle.
        idle: bool,
    },
    /// It waited for a thread to wake it.
    Wait {
        /// For whom.
        whom: Id,
        /// How long it slept, in ns; nothing if it was woken on its way.
        slept: Option<u64>,
    },
    /// It slept for a length that it had asked for, in ns.
    Sleep(u64),
    /// It slept until an instant that it had asked for.
    Until {
        /// The instant, in ns of the recording's clock.
        at: u64,
        /// How long that was, in ns.
        length: u64,
    },
    /// It waited so long for a device, an interrupt or another program, in ns.
    Outside(u64),
    /// It forked a thread.
    Fork(Id),
    /// It executed another program.
    Exec,
    /// It entered (`false`) or left (`true`) a marked function.
    Mark(u32, bool),
}

/// A step, and when it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timed {
    /// The instant of its end, in ns of the recording's clock.
    pub at: u64,
    /// What it was.
    pub step: Step,
}

/// What a thread did.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Course {
    /// In order.
    pub steps: Vec<Timed>,
    /// Cpu time, in ns.
    pub cpu: u64,
    /// Time in a queue, in ns: it could run and had no cpu.
    pub queued: u64,
    /// Its first instant, in ns.
    pub first: u64,
    /// Its last one.
    pub last: u64,
    /// It existed before the recording.
    pub before: bool,
    /// It ended.
    pub ended: bool,
    /// It was pre-empted so often.
    pub preempted: u64,
    /// It waited so often.
    pub blocked: u64,
    /// It got a cpu so often that had been idle.
    pub from_idle: u64,
    /// Its cpu time on each cpu, in ns.
    pub cpus: BTreeMap<u32, u64>,
}

/// The courses of all threads of a recording.
#[derive(Default, Debug)]
pub struct Courses {
    /// By thread.
    pub list: BTreeMap<Id, Course>,
    /// Wakes whose sleeper has not run yet: the waker, and the place of the wake among its steps.
    open: BTreeMap<Id, (Id, usize)>,
    /// Cpu time of every cpu, in ns.
    pub busy: BTreeMap<u32, u64>,
    /// From a wake-up by a thread until the woken one had a cpu that had been idle, in ns.
    pub exits: Vec<u64>,
}

impl Courses {
    /// Takes a stint.
    pub fn stint(&mut self, stint: &Stint<'_>) {
        *self.busy.entry(stint.cpu).or_default() += stint.to - stint.from;
        if let Start::Woken { at, by: Source::Thread(_), .. } = stint.start
            && stint.idle
            && !stint.mended
        {
            self.exits.push(stint.from.saturating_sub(at));
        }
        if stint.idle
            && let Some((waker, place)) = self.open.remove(&stint.thread)
            && let Some(course) = self.list.get_mut(&waker)
            && let Some(Timed { step: Step::Wake { idle, .. }, .. }) = course.steps.get_mut(place)
        {
            *idle = true;
        }
        let course = self.list.entry(stint.thread).or_default();
        course.begin(stint);
        let mut woke = Vec::new();
        for point in stint.points {
            if let Some(whom) = course.did(point.at, point.did) {
                woke.push((whom, course.steps.len() - 1));
            }
        }
        course.end(stint);
        for (whom, place) in woke {
            self.open.insert(whom, (stint.thread, place));
        }
    }
}

impl Course {
    fn push(&mut self, at: u64, step: Step) {
        self.steps.push(Timed { at, step });
    }

    /// Computes up to an instant.
    fn run(&mut self, to: u64) {
        let ran = to.saturating_sub(self.last);
        self.last = self.last.max(to);
        if ran == 0 {
            return;
        }
        self.cpu += ran;
        match self.steps.last_mut() {
            Some(Timed { at, step: Step::Run(length) }) => (*length, *at) = (*length + ran, to),
            _ => self.push(to, Step::Run(ran)),
        }
    }

    fn begin(&mut self, stint: &Stint<'_>) {
        if self.steps.is_empty() && self.cpu == 0 {
            self.first = stint.start.runnable().unwrap_or(stint.from);
            self.before = matches!(stint.start, Start::First | Start::Woken { .. } | Start::Resumed { .. });
        }
        if let Some(since) = stint.start.runnable() {
            self.queued += stint.from.saturating_sub(since);
        }
        self.from_idle += u64::from(stint.idle);
        *self.cpus.entry(stint.cpu).or_default() += stint.to - stint.from;
        if let Start::Woken { blocked, at, by } = stint.start {
            let length = at.saturating_sub(blocked);
            match by {
                Source::Thread(whom) => self.push(at, Step::Wait { whom, slept: Some(length) }),
                Source::Timer(timer) => self.push(at, timed(timer, blocked, at)),
                Source::Interrupt | Source::Unseen => self.push(at, Step::Outside(length)),
                Source::Raced => {}
            }
        }
        self.last = stint.from;
    }

    /// Something it did while it ran. Whom it woke out of a wait.
    fn did(&mut self, at: u64, did: Did) -> Option<Id> {
        self.run(at);
        let step = match did {
            Did::Woke { whom, .. } => Step::Wake { whom, idle: false },
            Did::Raced(whom) => Step::Wait { whom, slept: None },
            Did::RacedInterrupt => return None,
            Did::Forked(child) => Step::Fork(child),
            Did::Executed => Step::Exec,
            Did::Marked(mark, returns) => Step::Mark(mark, returns),
        };
        self.push(at, step);
        match did {
            Did::Woke { whom, waited: true } => Some(whom),
            _ => None,
        }
    }

    fn end(&mut self, stint: &Stint<'_>) {
        self.run(stint.to);
        match stint.end {
            End::Preempted | End::Yielded => self.preempted += 1,
            End::Blocked(_) => self.blocked += 1,
            End::Exited => self.ended = true,
            End::Cut => {}
        }
    }
}

/// A sleep: until an instant if the timer's was one, also where a length was asked for again and again for
/// the same instant.
fn timed(timer: crate::follow::Timer, blocked: u64, at: u64) -> Step {
    // The timer is on the clock of the recording if it expired when it should.
    let length = timer.expires.saturating_sub(timer.asked.max(blocked.saturating_sub(1_000_000)));
    let same_clock = timer.expires.abs_diff(at) < 50_000_000;
    match timer.relative {
        Some(false) if same_clock => Step::Until { at: timer.expires, length },
        _ if same_clock => Step::Sleep(length),
        _ => Step::Sleep(at.saturating_sub(blocked)),
    }
}

/// Which threads are the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Chosen {
    /// The first one that executed a file, and all that descend from it; without such an event, the process
    /// with the most cpu time, and its threads and descendants.
    First,
    /// Those with one of these names or numbers, and all that descend from them.
    Named(Vec<String>),
    /// All but the kernel's.
    All,
}

/// The threads of a program, in the order of their first instants.
#[must_use]
pub fn choose(threads: &Threads, courses: &Courses, chosen: &Chosen) -> BTreeSet<Id> {
    let roots: BTreeSet<Id> = match chosen {
        Chosen::All => {
            threads.iter().filter(|(_, thread)| !of_the_kernel(&thread.name)).map(|(id, _)| id).collect()
        }
        Chosen::Named(names) => threads
            .iter()
            .filter(|(_, thread)| {
                names.iter().any(|name| *name == thread.name || name.parse() == Ok(thread.tid))
                    || names
                        .iter()
                        .any(|name| thread.file.as_deref().is_some_and(|file| file.ends_with(name.as_str())))
            })
            .map(|(id, _)| id)
            .collect(),
        Chosen::First => first(threads, courses),
    };
    let mut chosen = roots;
    // Children come after their parents.
    for (id, thread) in threads.iter() {
        if thread.parent.is_some_and(|parent| chosen.contains(&parent)) {
            chosen.insert(id);
        }
    }
    chosen
}

fn first(threads: &Threads, courses: &Courses) -> BTreeSet<Id> {
    let executed =
        |course: &Course| course.steps.iter().find(|timed| timed.step == Step::Exec).map(|timed| timed.at);
    let first = courses.list.iter().filter_map(|(id, course)| Some((executed(course)?, *id))).min();
    if let Some((_, id)) = first {
        return [id].into();
    }
    let mut busy: BTreeMap<u32, u64> = BTreeMap::new();
    let process = |id: Id| threads.get(id).map_or(0, |thread| thread.process.unwrap_or(thread.tid));
    let ours = |id: Id| threads.get(id).is_some_and(|thread| !of_the_kernel(&thread.name));
    for (id, course) in courses.list.iter().filter(|(id, _)| ours(**id)) {
        *busy.entry(process(*id)).or_default() += course.cpu;
    }
    let most = busy.into_iter().max_by_key(|(process, cpu)| (*cpu, std::cmp::Reverse(*process)));
    let Some((most, _)) = most else { return BTreeSet::new() };
    threads.iter().map(|(id, _)| id).filter(|id| process(*id) == most).collect()
}

/// A thread of the kernel, by its name.
#[must_use]
pub fn of_the_kernel(name: &str) -> bool {
    KERNEL.iter().any(|begins| name.starts_with(begins))
}
