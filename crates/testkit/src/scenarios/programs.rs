//! Random programs of what the applications of a run share: semaphores, conditions, queues, meetings,
//! devices, sources of requests, named locks; and clocks, branches, tables of lengths, and changes that tasks
//! make to themselves.

use std::sync::Arc;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use sim_core::ids::{CpuId, DeviceId, EventId, LockId, ProfileId};
use sim_core::lock::{LockRules, Protocol};
use sim_core::machine::CpuSet;
use sim_core::os::{Discipline, OsModel};
use sim_core::program::{
    Arrivals, Change, Device, Event, NamedLock, Objects, Op, Program, Quantiles, Scheduling, Source, Spread,
};
use sim_core::rng::{Purpose, stream};
use sim_core::time::{Span, Time, Work};

use super::{Small, added, profile, spread};

/// The operations of these programs by name, for counts of what was drawn.
pub const OPERATIONS: [&str; 13] = [
    "post",
    "post to nobody",
    "take",
    "take several",
    "arm",
    "meet",
    "until",
    "until, skipping",
    "io",
    "branch",
    "jump",
    "set",
    "done",
];

/// The name of an operation in [`OPERATIONS`], if it is one of them.
#[must_use]
pub const fn operation(op: &Op) -> Option<&'static str> {
    let at = match op {
        Op::Post { kept: true, .. } => 0,
        Op::Post { .. } => 1,
        Op::Take { count: 1, .. } => 2,
        Op::Take { .. } => 3,
        Op::Arm(_) => 4,
        Op::Meet { .. } => 5,
        Op::Until { skips: false, .. } => 6,
        Op::Until { .. } => 7,
        Op::Io { .. } => 8,
        Op::Branch { .. } => 9,
        Op::Jump(_) => 10,
        Op::Set(_) => 11,
        Op::Done => 12,
        _ => return None,
    };
    Some(OPERATIONS[at])
}

/// A queue: its items, its free places if it is bounded, and whether a source feeds it.
#[derive(Clone, Copy)]
struct Queue {
    items: EventId,
    places: Option<EventId>,
    fed: bool,
}

/// What is drawn for all applications of a scenario.
struct Shop<'a> {
    rng: &'a mut ChaCha8Rng,
    objects: Objects,
    /// All lengths are multiples of it, in ns; above 1 nothing varies.
    step: u64,
    cpus: u32,
    weighs: bool,
    /// Tasks change their classes, to these.
    classes: Vec<Scheduling>,
    semaphores: Vec<(EventId, u32)>,
    condition: EventId,
    queues: Vec<Queue>,
    /// Where tasks meet, and how many.
    meeting: (EventId, u32),
}

/// The program of an application while it is drawn.
#[derive(Default)]
struct Code {
    ops: Vec<Op>,
    tables: Vec<Quantiles>,
    changes: Vec<Change>,
    /// The number of its application.
    number: usize,
}

/// Gives the tasks of a scenario programs of these operations.
#[must_use]
pub fn with_programs(small: Small, seed: u64) -> Small {
    drawn(small, stream(seed, Purpose::Test, 50), Vec::new())
}

/// The same of tasks that change their scheduling classes, some of which are real-time tasks from the start;
/// none where that is not simulated.
#[must_use]
pub fn with_classes(mut small: Small, seed: u64) -> Option<Small> {
    let mut rng = stream(seed, Purpose::Test, 51);
    if !matches!(small.model.discipline, Discipline::Cfs(_) | Discipline::Eevdf(_)) {
        return None;
    }
    small.model = Arc::new(OsModel { groups: Vec::new(), ..(*small.model).clone() });
    small.apps.iter_mut().for_each(|app| app.group = None);
    let mut classes = vec![Scheduling::Other, Scheduling::Other];
    if matches!(small.model.discipline, Discipline::Eevdf(_)) {
        classes.push(Scheduling::Batch);
        classes.extend(small.apps.iter().all(|app| app.slice.is_none()).then_some(Scheduling::Idle));
    }
    if rng.random_range(0..8) > 0 {
        small = super::with_real_time(small, seed);
        let priorities = [1, 1, 2, 50, 50];
        classes.extend(
            priorities.map(Scheduling::Fifo).into_iter().chain(priorities.map(Scheduling::RoundRobin)),
        );
    }
    let mut small = drawn(small, rng, classes);
    protect(&mut small, seed);
    Some(small)
}

/// Gives most locks a protocol of priorities; no ceiling is below the priority of a task.
fn protect(small: &mut Small, seed: u64) {
    let mut rng = stream(seed, Purpose::Test, 52);
    let of = |app: &sim_core::program::AppSpec| {
        let first = (0..app.tasks).map(|rank| app.scheduling_of(rank)).collect::<Vec<_>>();
        let later = app.program.changes().iter().filter_map(|change| match change {
            Change::Class(class) => Some(*class),
            _ => None,
        });
        first.into_iter().chain(later).filter_map(Scheduling::priority).max()
    };
    let best = small.apps.iter().filter_map(of).max().unwrap_or(1);
    let mut rules = |plain: LockRules| match rng.random_range(0..5) {
        0 => plain,
        1 | 2 => LockRules::INHERIT,
        _ => {
            let ceiling = best.max([2, 50, 99][rng.random_range(0..3)]);
            LockRules::protecting(Protocol::Ceiling(ceiling))
        }
    };
    small.objects.locks.iter_mut().for_each(|lock| lock.rules = rules(lock.rules));
    small.apps.iter_mut().for_each(|app| app.lock = rules(app.lock));
}

fn drawn(mut small: Small, mut rng: ChaCha8Rng, classes: Vec<Scheduling>) -> Small {
    let limited = small.model.groups.iter().any(|group| group.limit.is_some());
    let weighs = match small.model.discipline {
        Discipline::Cfs(_) => small.model.groups.is_empty(),
        Discipline::Eevdf(_) => !limited,
        _ => false,
    };
    let step = [1, 1, 500, 2_000][rng.random_range(0..4)];
    let tasks: u32 = small.apps.iter().map(|app| app.tasks).sum();
    let mut shop = Shop::open(&mut rng, step, small.machine.cpus(), weighs, tasks);
    shop.classes = classes;
    let helpers = small.apps.len() > 1 && shop.one_in(4);
    let named = !shop.one_in(3);
    let last = small.apps.len() - 1;
    let work = helpers.then(|| [(); 2].map(|()| shop.event("work", 0, false)));
    for (number, app) in small.apps.iter_mut().enumerate() {
        let mut code = Code { number, ..Code::default() };
        match work {
            Some(work) if number == last => shop.helper(&mut code, work),
            _ => shop.program(&mut code, work.filter(|_| number == 0)),
        }
        let profiles = vec![profile(shop.rng), profile(shop.rng)];
        let program = Program::with(code.ops, profiles, code.tables, code.changes);
        app.program = Arc::new(program.expect("the programs are legal"));
        app.lock = added::lock(shop.rng);
        app.named_locks = named && !shop.one_in(4);
        app.requests = !shop.one_in(3);
        app.deadline = (!shop.one_in(4)).then(|| shop.span(10_000, 400_000));
        app.background = (number > 0 && shop.one_in(4)) || (helpers && number == last);
    }
    small.objects = shop.objects;
    small
}

impl<'a> Shop<'a> {
    /// The objects of a run.
    fn open(rng: &'a mut ChaCha8Rng, step: u64, cpus: u32, weighs: bool, tasks: u32) -> Self {
        let none = EventId(0);
        let (objects, meeting) = (Objects::default(), (none, 1));
        let (semaphores, queues) = (Vec::new(), Vec::new());
        let mut shop = Self {
            rng,
            objects,
            step,
            cpus,
            weighs,
            classes: Vec::new(),
            semaphores,
            condition: none,
            queues,
            meeting,
        };
        for _ in 0..2 {
            let units = shop.below(4) as u32 + 1;
            let semaphore = shop.event("semaphore", units, false);
            shop.semaphores.push((semaphore, units));
        }
        shop.condition = shop.event("condition", 0, false);
        let parties = if shop.one_in(2) { tasks } else { shop.below(u64::from(tasks)) as u32 + 1 };
        shop.meeting = (shop.event("meeting", 0, false), parties);
        for _ in 0..2 {
            let (stamped, fed) = (!shop.one_in(3), shop.one_in(2));
            let items = shop.event("items", 0, stamped);
            let places = (!shop.one_in(3)).then(|| {
                let places = shop.below(5) as u32 + 1;
                shop.event("places", places, false)
            });
            shop.queues.push(Queue { items, places, fed });
            if fed {
                shop.source(items, places);
            }
        }
        if shop.one_in(3) {
            let event = [shop.condition, shop.semaphores[0].0][shop.below(2) as usize];
            shop.source(event, None);
        }
        for _ in 0..2 {
            let servers = shop.below(3) as u32 + 1;
            shop.objects.devices.push(Device { name: "disk".into(), servers });
            let rules = added::lock(shop.rng);
            shop.objects.locks.push(NamedLock { name: "lock".into(), rules });
        }
        shop
    }

    fn event(&mut self, name: &str, initial: u32, stamped: bool) -> EventId {
        self.objects.events.push(Event { name: name.into(), initial, stamped });
        EventId(self.objects.events.len() as u32 - 1)
    }

    fn source(&mut self, event: EventId, places: Option<EventId>) {
        let arrivals = match self.below(4) {
            0 => Arrivals::Every(self.span(8_000, 300_000)),
            1 => Arrivals::Random(self.span(8_000, 300_000)),
            2 => Arrivals::Bursts {
                mean: [self.span(1_000, 20_000), self.span(50_000, 400_000)],
                lasts: [self.span(20_000, 200_000), self.span(100_000, 900_000)],
            },
            _ => {
                let mut list: Vec<Span> = (0..self.below(40)).map(|_| self.span(1, 4_000_000)).collect();
                list.sort_unstable();
                Arrivals::At(list.into())
            }
        };
        let most = [u64::MAX, 1 + self.below(60)][self.below(2) as usize];
        let start = Time::ZERO + self.span(1, 600_000);
        let name = "requests".to_owned();
        self.objects.sources.push(Source { name, event, places, start, most, arrivals });
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.rng.random_range(0..bound)
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// A multiple of the step.
    fn span(&mut self, from: u64, to: u64) -> Span {
        let ns = self.rng.random_range(from..to);
        Span::from_ns(ns.div_ceil(self.step) * self.step)
    }

    /// How a length varies, now and then by a table of the program.
    fn spread(&mut self, code: &mut Code) -> Spread {
        if self.step > 1 {
            return Spread::NONE;
        }
        if self.below(4) > 0 {
            return spread(self.rng);
        }
        let mut values: Vec<u32> = (0..2 + self.below(6)).map(|_| self.below(3 << 16) as u32).collect();
        values.sort_unstable();
        code.tables.push(Quantiles::new(values).expect("in ascending order"));
        Spread::table(code.tables.len() as u16 - 1)
    }

    fn compute(&mut self, code: &mut Code, most: u64) {
        let work = Work::from_span(self.span(1, most));
        let spread = self.spread(code);
        let profile = ProfileId(self.below(2) as u32);
        code.ops.push(Op::Compute { work, spread, profile });
    }

    /// A task that is there for the work of others: it begins when it is told to, as a new process.
    fn helper(&mut self, code: &mut Code, [begin, end]: [EventId; 2]) {
        code.ops.extend([Op::Repeat(0), Op::Take { event: begin, count: 1 }, Op::Respawn]);
        self.compute(code, 30_000);
        code.ops.extend([Op::Post { event: end, count: 1, kept: true }, Op::End]);
    }

    /// A loop of some blocks; `work`: that of helpers, if the program has some.
    fn program(&mut self, code: &mut Code, work: Option<[EventId; 2]>) {
        let passes = [0, 0, 5, 30][self.below(4) as usize];
        code.ops.push(Op::Repeat(passes));
        self.compute(code, 60_000);
        if let Some([begin, end]) = work {
            let count = self.below(3) as u32 + 1;
            code.ops.push(Op::Post { event: begin, count, kept: true });
            self.compute(code, 20_000);
            code.ops.push(Op::Take { event: end, count });
        }
        for _ in 0..self.rng.random_range(1..=4) {
            if self.one_in(5) {
                self.choice(code, Self::block, Self::block);
            } else {
                self.block(code);
            }
        }
        code.ops.push(Op::End);
    }

    /// Either this or that.
    fn choice(&mut self, code: &mut Code, one: fn(&mut Self, &mut Code), other: fn(&mut Self, &mut Code)) {
        let branch = code.ops.len();
        code.ops.push(Op::Done);
        one(self, code);
        let jump = code.ops.len();
        code.ops.push(Op::Done);
        let share = [1 << 31, 1 << 29, 3 << 30][self.below(3) as usize];
        code.ops[branch] = Op::Branch { share, to: jump as u16 + 1 };
        other(self, code);
        code.ops[jump] = Op::Jump(code.ops.len() as u16);
    }

    fn block(&mut self, code: &mut Code) {
        if !self.classes.is_empty() && self.one_in(2) {
            return match self.below(2) {
                0 => self.class(code),
                _ => self.section(code),
            };
        }
        match self.below(16) {
            0 | 1 => self.semaphore(code),
            2 | 3 => self.by_role(code, Self::signals, Self::awaits),
            4..7 => self.by_role(code, Self::sends, Self::receives),
            7 => {
                let (event, parties) = self.meeting;
                code.ops.push(Op::Meet { event, parties });
            }
            8 | 9 => {
                let device = DeviceId(self.below(2) as u32);
                let span = self.span(1, 40_000);
                let spread = self.spread(code);
                code.ops.push(Op::Io { device, span, spread });
            }
            10 | 11 => self.until(code),
            12 => self.changes(code),
            13 => {
                let lock = LockId(self.below(2) as u32);
                code.ops.push(Op::Lock(lock));
                self.compute(code, 10_000);
                code.ops.push(Op::Unlock(lock));
            }
            14 => {
                let span = self.span(1, 30_000);
                let spread = self.spread(code);
                code.ops.push([Op::Done, Op::Yield, Op::Sleep { span, spread }][self.below(3) as usize]);
            }
            _ => self.compute(code, 20_000),
        }
    }

    /// Applications have different roles; now and then, and where there is one only, its tasks have both.
    fn by_role(&mut self, code: &mut Code, gives: fn(&mut Self, &mut Code), takes: fn(&mut Self, &mut Code)) {
        match (code.number, self.below(3)) {
            (_, 0) => self.choice(code, gives, takes),
            (number, _) if number % 2 == 0 => gives(self, code),
            _ => takes(self, code),
        }
    }

    fn semaphore(&mut self, code: &mut Code) {
        let which = self.below(2) as usize;
        let (event, units) = self.semaphores[which];
        let count = self.below(u64::from(units)) as u32 + 1;
        code.ops.push(Op::Take { event, count });
        self.compute(code, 15_000);
        code.ops.push(Op::Post { event, count, kept: true });
    }

    fn signals(&mut self, code: &mut Code) {
        let count = [1, 1, 2, u32::MAX][self.below(4) as usize];
        let locked = self.one_in(2);
        code.ops.extend(locked.then_some(Op::Lock(LockId(0))));
        code.ops.push(Op::Post { event: self.condition, count, kept: false });
        code.ops.extend(locked.then_some(Op::Unlock(LockId(0))));
    }

    fn awaits(&mut self, code: &mut Code) {
        let (lock, event) = (LockId(0), self.condition);
        code.ops.push(Op::Lock(lock));
        if self.one_in(2) {
            self.compute(code, 3_000);
        }
        code.ops.extend([Op::Arm(event), Op::Unlock(lock), Op::Take { event, count: 1 }]);
        code.ops.extend([Op::Lock(lock), Op::Unlock(lock)]);
    }

    fn sends(&mut self, code: &mut Code) {
        let which = self.below(2) as usize;
        let queue = self.queues[which];
        if queue.fed && self.one_in(2) {
            return self.receive(code, queue);
        }
        code.ops.extend(queue.places.map(|event| Op::Take { event, count: 1 }));
        self.compute(code, 3_000);
        code.ops.push(Op::Post { event: queue.items, count: 1, kept: true });
    }

    fn receives(&mut self, code: &mut Code) {
        let which = self.below(2) as usize;
        let queue = self.queues[which];
        self.receive(code, queue);
    }

    fn receive(&mut self, code: &mut Code, queue: Queue) {
        code.ops.push(Op::Take { event: queue.items, count: 1 });
        code.ops.extend(queue.places.map(|event| Op::Post { event, count: 1, kept: true }));
        self.compute(code, 30_000);
    }

    fn until(&mut self, code: &mut Code) {
        let (clock, skips) = (self.below(2) as u8, self.one_in(2));
        let first = [Span::ZERO, self.span(1, 300_000)][self.below(2) as usize];
        let period = self.span(5_000, 400_000);
        code.ops.push(Op::Until { clock, first, period, skips });
    }

    /// A critical section, often with another one inside.
    fn section(&mut self, code: &mut Code) {
        let (mut one, mut other) = (LockId(0), LockId(1));
        if self.one_in(12) {
            (one, other) = (other, one);
        }
        code.ops.push(Op::Lock(one));
        self.compute(code, 15_000);
        if self.one_in(2) {
            code.ops.push(Op::Lock(other));
            self.compute(code, 15_000);
            if self.one_in(3) {
                let span = self.span(1, 20_000);
                code.ops.push(Op::Sleep { span, spread: Spread::NONE });
            }
            code.ops.push(Op::Unlock(other));
        }
        if self.one_in(3) {
            self.class(code);
        }
        code.ops.push(Op::Unlock(one));
        self.compute(code, 5_000);
    }

    /// A task is of another class for a while, or for good.
    fn class(&mut self, code: &mut Code) {
        for _ in 0..self.rng.random_range(1..=2) {
            let drawn = self.below(self.classes.len() as u64) as usize;
            let class = self.classes[drawn];
            code.changes.push(Change::Class(class));
            code.ops.push(Op::Set(code.changes.len() as u16 - 1));
            if self.one_in(4) {
                let span = self.span(1, 30_000);
                code.ops.push(Op::Sleep { span, spread: Spread::NONE });
            } else {
                self.compute(code, 20_000);
            }
        }
    }

    fn changes(&mut self, code: &mut Code) {
        let cpus = self.cpus;
        let first = CpuId(self.below(u64::from(cpus)) as u32);
        let others: Vec<CpuId> = (0..cpus).map(CpuId).filter(|_| self.one_in(3)).collect();
        let change = if self.weighs && self.one_in(2) {
            Change::Weight([15, 335, 1024, 3121][self.below(4) as usize])
        } else {
            Change::Cpus(CpuSet::of(std::iter::once(first).chain(others).collect::<Vec<_>>()))
        };
        code.changes.push(change);
        code.ops.push(Op::Set(code.changes.len() as u16 - 1));
    }
}
