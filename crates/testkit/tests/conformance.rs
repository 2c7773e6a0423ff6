//! What every policy keeps to under every kernel, every way of waiting and on every shape of machine: legal
//! decisions, nobody lost or starved, an exact account, the same run twice, a reason for everything it does.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use notation::parameter::Values;
use policies::{ALL, Choice, Entry};
use sim_core::ids::{AppId, CpuId, TaskId};
use sim_core::machine::Machine;
use sim_core::outcome::Options;
use sim_core::policy::{CpuChoice, Placement, Policy, System, View, Why};
use sim_core::program::Objects;
use sim_core::time::Span;
use sim_core::wait::WaitMode;
use testkit::contract::{self, SHAPES, WAITS};
use testkit::scenarios::Small;
use testkit::trial::{Trial, watched};

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
        let kernel = kernels::KERNELS.resolve(self.kernel).unwrap();
        let model = kernels::build(kernel, &Values::defaults(kernel.parameters), machine.cpus());
        let small = contract::scenario(machine, model, self.wait.1, seed).unwrap();
        let mut policy = Choice::new(self.entry).build(&small.machine, &small.model, &small.apps);
        contract::trial(&small, policy.as_mut()).unwrap()
    }
}

/// Every policy under every kernel with every way of waiting on every shape; under a variation of a kernel
/// only its own policy.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in ALL {
        let meets = |kernel: &&kernels::Entry| kernel.own.base.is_none() || kernel.own.policy == entry.name;
        for kernel in kernels::KERNELS.entries.iter().filter(meets).map(|kernel| kernel.name) {
            for (wait, shape) in WAITS.into_iter().flat_map(|wait| SHAPES.map(|shape| (wait, shape))) {
                cases.push(Case { entry, kernel, wait, shape });
            }
        }
    }
    cases
}

/// What `work` makes of each item, in their order, on as many threads as there are.
fn of_all<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let part = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(item)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(part)).collect();
        all.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, result)| result).collect()
}

/// All cases with their runs under seed 1, which several tests look at.
static FIRST: LazyLock<Vec<(Case, Trial)>> = LazyLock::new(|| {
    let cases = cases();
    let trials = of_all(&cases, |case| case.run(1));
    cases.into_iter().zip(trials).collect()
});

/// Those that wait in this way.
fn waiting(name: &str) -> Vec<&'static (Case, Trial)> {
    FIRST.iter().filter(|(case, _)| case.wait.0 == name).collect()
}

#[test]
fn every_policy_keeps_to_the_contract_under_every_kernel_and_way_of_waiting() {
    let said = |(case, trial): &(Case, Trial)| {
        trial.found.iter().map(|what| format!("{}: {what}", case.label())).collect::<Vec<_>>()
    };
    let found: Vec<String> = FIRST.iter().flat_map(said).collect();
    assert!(found.is_empty(), "{} of {}: {found:#?}", found.len(), FIRST.len());
}

#[test]
fn every_policy_repeats_itself_and_listens_to_the_seed() {
    let found = of_all(&waiting("yield"), |(case, first)| {
        let (again, other) = (case.run(1).report, case.run(2).report);
        let mut found = Vec::new();
        if first.report != again {
            found.push(format!("{}: the same seed gives another run", case.label()));
        }
        if first.report.digest == other.digest {
            found.push(format!("{}: another seed gives the same run", case.label()));
        }
        found
    });
    let found = found.concat();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_decision_comes_with_a_reason() {
    let mut silent: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for (case, trial) in waiting("block") {
        for (kind, count) in &trial.reasons.silent {
            *silent.entry(case.entry.name).or_default().entry(kind).or_default() += count;
        }
    }
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
    let kernel = kernels::KERNELS.resolve("linux-2.6.28").unwrap();
    let model = kernels::build(kernel, &Values::defaults(kernel.parameters), 1);
    let apps = vec![contract::app("a", 2, 1, Span::from_ms(300), WaitMode::Block).unwrap()];
    let (objects, options) = (Objects::default(), Options::default());
    let small = Small { machine: Arc::new(machine), model: Arc::new(model), apps, objects, options };
    let trial = watched(&small, &mut Unfair, Span::from_ms(200)).unwrap();
    // Rank 0 waits until rank 1 has done its work, 0.27 to 0.33 s; rank 1 is created and later woken on cpu
    // 7.
    let starved = trial.found.iter().any(|what| what.starts_with("Some(task0) waits for a cpu for"));
    let corrected = trial.found.contains(&"2 decisions were refused or corrected".to_owned());
    assert!(starved && corrected && trial.found.len() == 2, "{:?}", trial.found);
    assert_eq!(trial.reasons.silent, BTreeMap::from([("band", 1), ("place a created task", 1)]));
    assert_eq!(trial.reasons.rules, BTreeMap::from([("nowhere", 2)]));
}
