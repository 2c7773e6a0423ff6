//! Random runs: machines, kernels with their balancers, masks, weights and ways to wait.

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

/// A kernel and its balancer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its name on the shelf.
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
    Kernel {
        name: "freebsd-7",
        policy: "ULE",
        setting: Some(("release", 1)),
        interval: Span::from_ms(1_500),
    },
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

/// Shapes of machines: packages, nodes, caches, hardware threads.
const SHAPES: [&str; 20] = [
    "core:2",
    "core:4",
    "core:8",
    "core:16",
    "package:2 core:4",
    "package:2 core:8",
    "package:4 core:4",
    "cache:2 core:4",
    "cache:4 core:2",
    "package:2 cache:3 core:3",
    "numa:2 core:4",
    "numa:4 core:2",
    "package:2 numa:2 core:2",
    "package:2 numa:2 cache:2 core:2",
    "core:4 pu:2",
    "package:2 core:4 pu:2",
    "package:2 cache:2 core:2 pu:2",
    "numa:2 cache:2 core:2 pu:2",
    "package:2 numa:4 core:2",
    "package:2 core:16",
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
    /// The options.
    pub options: Options,
}

impl Case {
    pub(super) fn policy(&self) -> Box<dyn Policy> {
        let entry = policies::find(self.kernel.policy).expect("the policy is on the shelf");
        let mut values = Values::defaults(entry.parameters);
        if let Some((name, value)) = self.kernel.setting {
            values.set(name, value).expect("the setting is legal");
        }
        Choice::with(entry, values).build(&self.machine, &self.model, &self.apps)
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
    let kernel = KERNELS[rng.random_range(0..KERNELS.len())];
    let shape = SHAPES[rng.random_range(0..SHAPES.len())];
    let machine = machines::resolve(shape).expect("the shapes are legal").machine();
    let entry = machines::os::KERNELS.resolve(kernel.name).expect("the kernel is on the shelf");
    let model = machines::os::build(entry, &Values::defaults(entry.parameters), machine.cpus());
    let cpus = machine.cpus();
    let count = rng.random_range(1..=3);
    let apps = (0..count).map(|number| app(rng, number, cpus)).collect();
    let seconds = if kernel.policy == "ULE" { 12 } else { 5 };
    let options = Options { seed, horizon: Time::from_ns(seconds * 1_000_000_000), ..Options::default() };
    Case { seed, kernel, machine, model, apps, options }
}

/// A program: tasks that compute for some time, that sleep between bursts, or that meet at barriers.
fn app(rng: &mut ChaCha8Rng, number: u32, cpus: u32) -> AppSpec {
    let mut ms = |from: u64, to: u64| Span::from_us(1_000 * rng.random_range(from..to) + 137);
    let compute =
        |span| Op::Compute { work: Work::from_span(span), spread: Spread::NONE, profile: ProfileId(0) };
    let (short, long, nap) = (ms(1, 30), ms(100, 9_000), ms(1, 60));
    let grain = Span::from_us(rng.random_range(200..20_000));
    let ops = match rng.random_range(0..6) {
        0..3 => vec![compute(long)],
        3 => vec![Op::Repeat(0), compute(short), Op::Sleep { span: nap, spread: Spread::NONE }, Op::End],
        _ => vec![Op::Repeat(0), compute(grain), Op::Barrier, Op::End],
    };
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
    let program = Program::new(ops, vec![MemoryProfile::NONE]).expect("the programs are legal");
    let tasks = rng.random_range(1..=cpus + 2);
    let mut app = AppSpec::new(format!("app{number}"), tasks, Arc::new(program), runtime);
    app.start = Time::from_ns(rng.random_range(0..2) * rng.random_range(0..500_000_000));
    app.allowed = masked(rng, cpus);
    app.weight = [1024, 1024, 1024, 335, 3121][rng.random_range(0..5)];
    if rng.random_range(0..4) == 0 {
        app.rank_weights = (0..tasks).map(|_| [15, 335, 1024, 3121][rng.random_range(0..4)]).collect();
    }
    app
}

/// No mask, a run of cpus, some cpus, or one.
fn masked(rng: &mut ChaCha8Rng, cpus: u32) -> Option<CpuSet> {
    let first = rng.random_range(0..cpus);
    match rng.random_range(0..6) {
        0..2 => None,
        2..4 => {
            let size = rng.random_range(1..=cpus - first);
            Some(CpuSet::of((first..first + size).map(CpuId)))
        }
        4 => {
            let others = (0..cpus).filter(|_| rng.random_range(0..2) == 0);
            Some(CpuSet::of(std::iter::once(first).chain(others.collect::<Vec<_>>()).map(CpuId)))
        }
        _ => Some(CpuSet::of([CpuId(first)])),
    }
}
