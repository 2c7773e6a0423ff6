//! Random runs: machines, kernels with their balancers, masks, weights and ways to wait.

use std::ops::Range;
use std::sync::Arc;

use notation::parameter::Values;
use policies::{Choice, DomainLevel};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use sim_core::ids::{CpuId, ProfileId};
use sim_core::machine::{CpuSet, Machine};
use sim_core::os::OsModel;
use sim_core::outcome::Options;
use sim_core::policy::Policy;
use sim_core::program::{AppSpec, MemoryProfile, Op, Program, Runtime, Spread, StartUp};
use sim_core::rng::{Purpose, stream};
use sim_core::time::{Span, Time, Work};
use sim_core::wait::{BarrierKind, Polling, WaitMode};

use crate::seated::Seated;

/// A kernel and its balancer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its name in the registry.
    pub name: &'static str,
    /// The policy.
    pub policy: &'static str,
    /// A setting of the policy.
    pub setting: Option<(&'static str, u64)>,
    /// The longest time between two looks of an idle cpu where the levels have no interval.
    pub interval: Span,
}

/// Every balancer of this kind that is modelled. ULE: its long-term balancer runs every 0.5 to 1.5 s. LGROUP:
/// an idle cpu looks when it goes idle; what it missed waits for a tick of 10 ms.
pub const KERNELS: [Kernel; 9] = [
    linux("linux-2.6.18"),
    linux("linux-2.6.27"),
    linux("linux-2.6.28"),
    linux("linux-2.6.30"),
    linux("linux-6.18"),
    Kernel { name: "freebsd-7", policy: "ULE", setting: None, interval: Span::from_ms(1_500) },
    Kernel { name: "freebsd-14", policy: "ULE", setting: None, interval: Span::from_ms(1_500) },
    Kernel { name: "solaris-9", policy: "LGROUP", setting: None, interval: Span::from_ms(10) },
    Kernel { name: "solaris-9", policy: "LGROUP", setting: Some(("ties", 0)), interval: Span::from_ms(10) },
];

const fn linux(name: &'static str) -> Kernel {
    Kernel { name, policy: "LOAD", setting: None, interval: Span::ZERO }
}

impl Kernel {
    /// Two balancing intervals of an idle cpu at a level.
    #[must_use]
    pub fn patience(&self, level: &DomainLevel) -> Span {
        Span::from_ms(level.max_interval_ms).max(self.interval) * 2
    }
}

/// Shapes of machines: packages, nodes, caches, hardware threads; small ones of each kind, which a few tasks
/// crowd.
const SHAPES: [&str; 24] = [
    "core:2",
    "core:4",
    "core:8",
    "core:16",
    "package:2 core:2",
    "package:2 core:4",
    "package:2 core:8",
    "package:4 core:2",
    "package:4 core:4",
    "cache:2 core:2",
    "cache:2 core:4",
    "cache:4 core:2",
    "package:2 cache:3 core:3",
    "numa:2 core:2",
    "numa:2 core:4",
    "numa:4 core:2",
    "package:2 numa:2 core:2",
    "package:2 numa:2 cache:2 core:2",
    "core:2 pu:2",
    "core:4 pu:2",
    "package:2 core:2 pu:2",
    "package:2 core:4 pu:2",
    "package:2 cache:2 core:2 pu:2",
    "numa:2 cache:2 core:2 pu:2",
];

/// A run to watch.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its seed.
    pub seed: u64,
    /// The kernel and its balancer.
    pub kernel: Kernel,
    /// The machine.
    pub machine: Machine,
    /// The kernel on this machine.
    pub model: OsModel,
    /// The programs.
    pub apps: Vec<AppSpec>,
    /// Where each task begins, if that is not up to the policy.
    pub seats: Vec<CpuId>,
    /// The options.
    pub options: Options,
}

impl Case {
    pub(super) fn policy(&self) -> Box<dyn Policy> {
        let entry = policies::find(self.kernel.policy).expect("the policy is on the registry");
        let mut values = Values::defaults(entry.parameters);
        if let Some((name, value)) = self.kernel.setting {
            values.set(name, value).expect("the setting is legal");
        }
        let policy = Choice::with(entry, values).build(&self.machine, &self.model, &self.apps);
        if self.seats.is_empty() { policy } else { Box::new(Seated::at(self.seats.clone(), policy)) }
    }

    pub(super) fn levels(&self) -> Vec<DomainLevel> {
        policies::domains(&self.machine, &self.model)
    }

    /// The tasks of an application sleep now and then.
    pub(super) fn sleeps(&self, app: &AppSpec) -> bool {
        let naps = app.program.ops().iter().any(|op| matches!(op, Op::Sleep { .. }));
        let meets = app.program.ops().iter().any(|op| matches!(op, Op::Barrier));
        naps || (meets && matches!(app.runtime.wait, WaitMode::Block | WaitMode::SpinThenBlock { .. }))
    }
}

/// The case of a seed.
#[must_use]
pub fn case(seed: u64) -> Case {
    let mut rng = stream(seed, Purpose::Test, 30);
    let rng = &mut rng;
    // Of twelve cases four are of 6.18, the kernel with the most rules.
    let kernel = KERNELS.get(rng.random_range(0..12)).copied().unwrap_or(linux("linux-6.18"));
    let shape = SHAPES[rng.random_range(0..SHAPES.len())];
    let machine = machines::resolve(shape).expect("the shapes are legal").machine();
    let entry = kernels::KERNELS.resolve(kernel.name).expect("the kernel is on the registry");
    let model = kernels::build(entry, &Values::defaults(entry.parameters), machine.cpus());
    let apps = if rng.random_range(0..3) == 0 { loose(rng, &machine) } else { left(rng, &machine) };
    // What idle cpus steal from a queue as a thread enters it is part of LGROUP's own placement.
    let seated = kernel.policy != "LGROUP" && rng.random_range(0..3) > 0;
    let seats = if seated { seats(rng, &apps, machine.cpus()) } else { Vec::new() };
    let loops = apps.iter().any(|app| app.program.ops().contains(&Op::End));
    // Long enough for what a rule forbids to show; programs that only compute cost little.
    let seconds = match (loops, kernel.policy) {
        (false, _) => 20,
        (true, "ULE") => 12,
        (true, _) => 5,
    };
    let options = Options { seed, horizon: Time::from_ns(seconds * 1_000_000_000), ..Options::default() };
    Case { seed, kernel, machine, model, apps, seats, options }
}

/// The tasks of each program begin spread over its cpus but for some that begin on a cpu that is drawn, or
/// all on cpus that are: the balancer has to even them out.
fn seats(rng: &mut ChaCha8Rng, apps: &[AppSpec], cpus: u32) -> Vec<CpuId> {
    let mut seats = Vec::new();
    for app in apps {
        let may = |cpu: &u32| app.allowed.as_ref().is_none_or(|set| set.contains(CpuId(*cpu)));
        let allowed: Vec<u32> = (0..cpus).filter(may).collect();
        let drawn = if rng.random_range(0..3) == 0 { app.tasks } else { rng.random_range(1..4) };
        let from = rng.random_range(0..allowed.len());
        seats.extend((0..app.tasks).map(|rank| {
            let at = if rank < drawn { rng.random_range(0..allowed.len()) } else { from + rank as usize };
            CpuId(allowed[at % allowed.len()])
        }));
    }
    seats
}

/// One to three programs with masks of their own.
fn loose(rng: &mut ChaCha8Rng, machine: &Machine) -> Vec<AppSpec> {
    let count = rng.random_range(1..=3);
    let mut apps = Vec::new();
    for number in 0..count {
        let allowed = masked(rng, machine);
        let size = allowed.as_ref().map_or(machine.cpus(), CpuSet::len);
        let tasks = match rng.random_range(0..4) {
            0 => rng.random_range(1..=machine.cpus() + 2),
            _ => rng.random_range(size..=3 * size),
        };
        let ops = match rng.random_range(0..8) {
            0..3 => computes(rng, 1_000..20_000),
            3..5 => computes(rng, 20..900),
            _ => loops(rng),
        };
        let start = rng.random_range(0..2) * rng.random_range(0..500);
        apps.push(app(rng, number, (allowed, tasks), ops, start));
    }
    apps
}

/// About as many tasks as their mask has cpus; perhaps a program that leaves cpus of the mask after a
/// while, and perhaps one that fills some cpus for good: cpus that are left over have to find what waits
/// elsewhere.
fn left(rng: &mut ChaCha8Rng, machine: &Machine) -> Vec<AppSpec> {
    let cpus = machine.cpus();
    let set = |cpus: Vec<u32>| Some(CpuSet::of(cpus.into_iter().map(CpuId)));
    let mask = if rng.random_range(0..6) == 0 { None } else { parts(rng, machine) };
    let may = |cpu: &u32| mask.as_ref().is_none_or(|set| set.contains(CpuId(*cpu)));
    let members: Vec<u32> = (0..cpus).filter(may).collect();
    let size = members.len() as u32;
    let ops = if rng.random_range(0..4) == 0 { loops(rng) } else { computes(rng, 4_000..20_000) };
    let tasks =
        if rng.random_range(0..3) == 0 { size..=2 * size } else { size.saturating_sub(1).max(1)..=size + 1 };
    let (tasks, start) = (rng.random_range(tasks), rng.random_range(1..40));
    let mut apps = vec![app(rng, 0, (mask, tasks), ops, start)];
    if rng.random_range(0..2) == 0 {
        let mut leaves: Vec<u32> = members.iter().copied().filter(|_| rng.random_range(0..2) == 0).collect();
        leaves.push(members[rng.random_range(0..members.len())]);
        let tasks = leaves.len() as u32 * rng.random_range(1..=2);
        let ops = computes(rng, 50..900);
        apps.push(app(rng, 1, (set(leaves), tasks), ops, 0));
    }
    if rng.random_range(0..2) == 0 {
        let (first, few) = (rng.random_range(0..cpus), rng.random_range(0..3) == 0);
        let stays = (0..cpus).filter(|cpu| *cpu == first || (few && rng.random_range(0..3) == 0));
        let stays: Vec<u32> = stays.collect();
        let tasks = stays.len() as u32 * rng.random_range(1..=3);
        let ops = computes(rng, 10_000..30_000);
        apps.push(app(rng, 2, (set(stays), tasks), ops, 0));
    }
    apps
}

fn compute(span: Span) -> Op {
    Op::Compute { work: Work::from_span(span), spread: Spread::NONE, profile: ProfileId(0) }
}

fn ms(rng: &mut ChaCha8Rng, range: Range<u64>) -> Span {
    Span::from_us(1_000 * rng.random_range(range) + 137)
}

/// Tasks that compute for so many milliseconds.
fn computes(rng: &mut ChaCha8Rng, range: Range<u64>) -> Vec<Op> {
    vec![compute(ms(rng, range))]
}

/// Tasks that sleep between bursts, or that meet at barriers.
fn loops(rng: &mut ChaCha8Rng) -> Vec<Op> {
    if rng.random_range(0..3) == 0 {
        let (short, nap) = (ms(rng, 1..30), ms(rng, 1..60));
        return vec![Op::Repeat(0), compute(short), Op::Sleep { span: nap, spread: Spread::NONE }, Op::End];
    }
    let grain = Span::from_us(rng.random_range(200..20_000));
    vec![Op::Repeat(0), compute(grain), Op::Barrier, Op::End]
}

/// A program of so many tasks on these cpus, which starts after so many milliseconds.
fn app(
    rng: &mut ChaCha8Rng,
    number: u32,
    (allowed, tasks): (Option<CpuSet>, u32),
    ops: Vec<Op>,
    start: u64,
) -> AppSpec {
    let program = Program::new(ops, vec![MemoryProfile::NONE]).expect("the programs are legal");
    let wait = match rng.random_range(0..4) {
        0 => WaitMode::Spin,
        1 => WaitMode::Yield,
        2 => WaitMode::Block,
        _ => WaitMode::SpinThenBlock { limit: Span::from_us(300), yielding: false },
    };
    let runtime = Runtime {
        name: "drawn".into(),
        barrier: BarrierKind::Central,
        wait,
        polling: Polling::PLAIN,
        processes: rng.random_range(0..2) == 0,
        startup: StartUp::PLAIN,
    };
    let mut app = AppSpec::new(format!("app{number}"), tasks, Arc::new(program), runtime);
    app.start = Time::from_ns(start * 1_000_000);
    app.allowed = allowed;
    app.weight = [1024, 1024, 1024, 335, 3121][rng.random_range(0..5)];
    if rng.random_range(0..4) == 0 {
        app.rank_weights = (0..tasks).map(|_| [15, 335, 1024, 3121][rng.random_range(0..4)]).collect();
    }
    app
}

/// No mask, a run of cpus, some cpus, one, or [`parts`].
fn masked(rng: &mut ChaCha8Rng, machine: &Machine) -> Option<CpuSet> {
    let cpus = machine.cpus();
    let first = rng.random_range(0..cpus);
    let set = |cpus: Vec<u32>| Some(CpuSet::of(cpus.into_iter().map(CpuId)));
    match rng.random_range(0..8) {
        0..2 => None,
        2 => set((first..first + rng.random_range(1..=cpus - first)).collect()),
        3 => {
            let others = (0..cpus).filter(|_| rng.random_range(0..2) == 0);
            set(std::iter::once(first).chain(others.collect::<Vec<_>>()).collect())
        }
        4 => set(vec![first]),
        _ => parts(rng, machine),
    }
}

/// A part of an outermost unit of the machine (package, node, cache), or parts of two.
fn parts(rng: &mut ChaCha8Rng, machine: &Machine) -> Option<CpuSet> {
    let cpus = machine.cpus();
    let outer = machine.topology.levels().first().map_or(1, |(level, _)| machine.topology.span(*level));
    let unit = if outer > 1 && outer < cpus { outer } else { cpus.div_ceil(2) };
    let start = rng.random_range(0..cpus) / unit * unit;
    let mut part = |start: u32| {
        let size = unit.min(cpus - start);
        let wide = rng.random_range(size.div_ceil(2)..=size);
        let from = start + rng.random_range(0..=size - wide);
        from..from + wide
    };
    let near = part(start);
    let far = part((start + unit) % cpus / unit * unit);
    let far = far.start..far.start + rng.random_range(1..=far.end - far.start);
    let all: Vec<u32> = if rng.random_range(0..4) == 0 { near.collect() } else { near.chain(far).collect() };
    Some(CpuSet::of(all.into_iter().map(CpuId)))
}
