//! What every policy keeps to under every kernel, every way of waiting and on every shape of machine: legal
//! decisions, nobody lost or starved, an exact account, the same run twice, a reason for everything it does.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use notation::parameter::Values;
use policies::{ALL, Choice, Entry};
use sim_core::ids::{AppId, CpuId, ProfileId, TaskId};
use sim_core::machine::{CpuSet, Machine};
use sim_core::outcome::{Options, Outcome};
use sim_core::policy::{CpuChoice, Placement, Policy, System, View, Why};
use sim_core::program::{AppSpec, MemoryProfile, Op, Program, Runtime, Spread, StartUp};
use sim_core::time::{Span, Time, Work};
use sim_core::wait::{BarrierKind, Polling, WaitMode};
use testkit::scenarios::Small;
use testkit::trial::{Trial, watched};

/// The longest turn that a queue gives a task while others wait: the quantum of the round-robin kernel and
/// the timeslice of O(1) at nice 0. ULE's slices and the quanta of the time-sharing class from priority 10 on
/// are no longer.
const TURN: Span = Span::from_ms(100);

/// Flat; sockets with shared caches; nodes of cores with two threads.
const SHAPES: [&str; 3] = ["core:3", "package:2 cache:1 core:2", "package:2 numa:1 core:1 thread:2"];

const WAITS: [(&str, WaitMode); 5] = [
    ("spin", WaitMode::Spin),
    ("yield", WaitMode::Yield),
    ("block", WaitMode::Block),
    ("spin then block", WaitMode::SpinThenBlock { limit: Span::from_us(200), yielding: false }),
    ("yield to", WaitMode::YieldTo),
];

fn app(name: &str, tasks: u32, steps: u32, work: Span, wait: WaitMode) -> AppSpec {
    let profile = MemoryProfile { demand: 1_000_000_000, working_set: 1 << 20, ..MemoryProfile::NONE };
    let compute = Op::Compute { work: Work::from_span(work), spread: Spread(6_554), profile: ProfileId(0) };
    let ops = vec![Op::Repeat(steps), compute, Op::Barrier, Op::End];
    let runtime = Runtime {
        name: "test".into(),
        barrier: BarrierKind::Dissemination,
        wait,
        polling: Polling::PLAIN,
        processes: false,
        startup: StartUp::PLAIN,
    };
    AppSpec::new(name, tasks, Arc::new(Program::new(ops, vec![profile]).unwrap()), runtime)
}

/// One task too many for the cpus, a late program, one that computes at length, a pinned hog, and somebody
/// who sleeps.
fn apps(cpus: u32, wait: WaitMode) -> Vec<AppSpec> {
    let mut late = app("late", cpus / 2 + 1, 6, Span::from_ms(5), wait);
    late.start = Time::from_ns(30_000_000);
    let mut hog = app("hog", 1, 0, Span::from_ms(100), wait);
    hog.background = true;
    hog.allowed = Some(CpuSet::of([CpuId(0)]));
    let nap = Op::Sleep { span: Span::from_ms(3), spread: Spread(6_554) };
    let work = Work::from_span(Span::from_us(400));
    let serve = Op::Compute { work, spread: Spread::EXPONENTIAL, profile: ProfileId(0) };
    let mut service = app("service", 2, 0, Span::from_ms(1), wait);
    let ops = vec![Op::Repeat(0), nap, serve, Op::End];
    service.program = Arc::new(Program::new(ops, vec![MemoryProfile::NONE]).unwrap());
    service.background = true;
    let fine = app("fine", cpus + 1, 30, Span::from_ms(1), wait);
    vec![fine, late, hog, app("long", cpus.min(3), 3, Span::from_ms(25), wait), service]
}

/// A case of the product.
struct Case {
    entry: &'static Entry,
    kernel: &'static str,
    wait: (&'static str, WaitMode),
    shape: &'static str,
}

impl Case {
    fn label(&self) -> String {
        format!("{} under {}, waiting by {}, on {}", self.entry.name, self.kernel, self.wait.0, self.shape)
    }

    fn run(&self, seed: u64) -> Trial {
        let machine: Machine = machines::resolve(self.shape).unwrap().machine();
        let kernel = machines::os::KERNELS.resolve(self.kernel).unwrap();
        let model = machines::os::build(kernel, &Values::defaults(kernel.parameters), machine.cpus());
        let apps = apps(machine.cpus(), self.wait.1);
        let options = Options {
            seed,
            horizon: Time::from_ns(20_000_000_000),
            start_jitter: model.tick,
            ..Options::default()
        };
        let small = Small { machine: Arc::new(machine), model: Arc::new(model), apps, options };
        let mut policy = Choice::new(self.entry).build(&small.machine, &small.model, &small.apps);
        // The watchdog: everybody else may have the cpu once, for the longest turn.
        let tasks: u32 = small.apps.iter().map(|app| app.tasks).sum();
        watched(&small, policy.as_mut(), TURN * u64::from(tasks)).unwrap()
    }
}

/// Every policy under every kernel with every way of waiting on every shape.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in ALL {
        for kernel in machines::os::KERNELS.names() {
            for (wait, shape) in WAITS.into_iter().flat_map(|wait| SHAPES.map(|shape| (wait, shape))) {
                cases.push(Case { entry, kernel, wait, shape });
            }
        }
    }
    cases
}

/// Runs `check` on all cases, on as many threads as there are; returns all that was found.
fn of_all(cases: &[Case], check: impl Fn(&Case) -> Vec<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.extend(check(case).into_iter().map(|what| format!("{}: {what}", case.label())));
        }
        found
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        all.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn every_policy_keeps_to_the_contract_under_every_kernel_and_way_of_waiting() {
    let found = of_all(&cases(), |case| {
        let trial = case.run(1);
        let mut found = trial.found;
        if trial.report.outcome != Outcome::Completed {
            found.push(format!("{:?}", trial.report.outcome));
        }
        found
    });
    assert!(found.is_empty(), "{} of {}: {found:#?}", found.len(), cases().len());
}

#[test]
fn every_policy_repeats_itself_and_listens_to_the_seed() {
    let mut cases = cases();
    cases.retain(|case| case.wait.0 == "yield");
    let found = of_all(&cases, |case| {
        let (one, again, other) = (case.run(1).report, case.run(1).report, case.run(2).report);
        let mut found = Vec::new();
        if one != again {
            found.push("the same seed gives another run".to_owned());
        }
        if one.digest == other.digest {
            found.push("another seed gives the same run".to_owned());
        }
        found
    });
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_decision_comes_with_a_reason() {
    let silent: Vec<(&str, BTreeMap<&str, u64>)> = ALL
        .iter()
        .map(|entry| {
            let mut silent = BTreeMap::new();
            let own = |case: &&Case| case.entry.name == entry.name;
            for case in cases().iter().filter(own).filter(|case| case.wait.0 == "block") {
                for (kind, count) in case.run(1).reasons.silent {
                    *silent.entry(kind).or_default() += count;
                }
            }
            (entry.name, silent)
        })
        .filter(|(_, silent)| !silent.is_empty())
        .collect();
    assert!(silent.is_empty(), "decisions without a reason, or with one fact named twice: {silent:#?}");
}

/// Keeps one task behind all others, says nothing, and names a cpu that does not exist.
struct Unfair;

impl Policy for Unfair {
    fn app_ready(&mut self, system: &mut dyn System, app: AppId) {
        if app == AppId(0) {
            system.set_priority(TaskId(0), 1, Why::NONE);
        }
    }

    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        let rank = view.task(task).rank;
        CpuChoice::new(CpuId(7 * rank), if rank == 1 { Why::rule("nowhere") } else { Why::NONE })
    }
}

#[test]
fn the_checkers_find_a_policy_that_breaks_the_contract() {
    let machine = machines::resolve("core:1").unwrap().machine();
    let kernel = machines::os::KERNELS.resolve("linux-2.6.28").unwrap();
    let model = machines::os::build(kernel, &Values::defaults(kernel.parameters), 1);
    let apps = vec![app("a", 2, 1, Span::from_ms(300), WaitMode::Block)];
    let small =
        Small { machine: Arc::new(machine), model: Arc::new(model), apps, options: Options::default() };
    let trial = watched(&small, &mut Unfair, Span::from_ms(200)).unwrap();
    // Rank 0 waits until rank 1 has done its work, 0.27 to 0.33 s; rank 1 is created and later woken on cpu
    // 7.
    let starved = trial.found.iter().any(|what| what.starts_with("Some(task0) waits for a cpu for"));
    let corrected = trial.found.contains(&"2 decisions were refused or corrected".to_owned());
    assert!(starved && corrected && trial.found.len() == 2, "{:?}", trial.found);
    assert_eq!(trial.reasons.silent, BTreeMap::from([("band", 1), ("place a created task", 1)]));
    assert_eq!(trial.reasons.rules, BTreeMap::from([("nowhere", 2)]));
}
