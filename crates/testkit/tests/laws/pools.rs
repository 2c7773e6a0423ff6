//! Pools of jobs: Graham's bounds, chains, independent jobs, and what stealing is for.

use sim_core::ids::{PoolId, ProfileId};
use sim_core::outcome::RunReport;
use sim_core::program::{
    AppSpec, Job, JobEnd, JobQueues, Objects, Op, Pool, PoolRules, Roots, Spread, Victims,
};
use sim_core::rng;
use sim_core::time::{Span, Work};
use sim_core::wait::WaitMode;

use crate::support::{MS, Trial, app, compute, hogs, on_cpu, seconds};

const WORK: Op = Op::Work(PoolId(0));
const MODES: [WaitMode; 3] =
    [WaitMode::Spin, WaitMode::Block, WaitMode::SpinThenBlock { limit: Span::from_us(300), yielding: false }];
/// Latencies and polls of a run without any other overhead, in seconds.
const LITTLE: f64 = 0.000_1;

/// Jobs of these lengths in us, each with those that come after it.
fn pool(jobs: Vec<(u64, Vec<u32>)>, rules: PoolRules) -> Objects {
    let job = |(us, next)| Job {
        work: Work::from_span(Span::from_us(us)),
        spread: Spread::NONE,
        profile: ProfileId(0),
        next,
    };
    let jobs: Vec<Job> = jobs.into_iter().map(job).collect();
    Objects { pools: vec![Pool { name: "graph".into(), jobs: jobs.into(), rules }], ..Objects::default() }
}

/// So many workers that do a pass, each on an idle cpu.
fn workers(count: u32, objects: Objects, wait: WaitMode) -> RunReport {
    let trial = Trial::on("core:8").free().under("linux-6.18", &[]).sharing(objects);
    trial.placed(0..count).app(app(count, vec![WORK], wait)).run()
}

/// A graph of 40 jobs; its work and its longest path, in seconds.
fn drawn(seed: u64) -> (Vec<(u64, Vec<u32>)>, f64, f64) {
    let draw = |bound: u64, n: u64| rng::below(bound, rng::draw(seed, n));
    let mut jobs: Vec<(u64, Vec<u32>)> = (0..40).map(|job| (100 + draw(5_000, job), Vec::new())).collect();
    let share = [2, 6, 20][(seed % 3) as usize];
    let mut longest = vec![0; 40];
    for job in 0..40_u32 {
        let before: Vec<u32> =
            (0..job).filter(|other| draw(100, 1_000 + u64::from(40 * job + other)) < share).collect();
        let path = before.iter().map(|other| longest[*other as usize]).max().unwrap_or(0);
        longest[job as usize] = path + jobs[job as usize].0;
        before.iter().for_each(|other| jobs[*other as usize].1.push(job));
    }
    let all: u64 = jobs.iter().map(|(us, _)| us).sum();
    let path = longest.iter().max().copied().unwrap_or(0);
    (jobs, all as f64 / 1e6, path as f64 / 1e6)
}

fn rules(seed: u64) -> PoolRules {
    let end = |bit: u64| if seed & bit == 0 { JobEnd::Newest } else { JobEnd::Oldest };
    PoolRules {
        queues: if seed.is_multiple_of(5) { JobQueues::One } else { JobQueues::OnePerWorker },
        own: end(1),
        steal: end(2),
        victims: if seed & 4 == 0 { Victims::Random } else { Victims::Next },
        roots: if seed & 8 == 0 { Roots::First } else { Roots::InTurns },
    }
}

#[test]
fn no_schedule_of_greedy_workers_is_longer_than_grahams_bound() {
    // R. L. Graham, Bounds on multiprocessing timing anomalies, SIAM J. Appl. Math. 17, 2 (1969), in the form
    // of Brent and of Blumofe and Leiserson: max(T1 / p, Tinf) <= Tp <= T1 / p + Tinf.
    for seed in 0..60_u64 {
        let (jobs, all, path) = drawn(seed);
        let count = [1, 2, 3, 5, 8][(seed % 5) as usize];
        let wait = MODES[(seed / 5 % 3) as usize];
        let report = workers(count, pool(jobs, rules(seed)), wait);
        let (time, share) = (seconds(&report, 0), all / f64::from(count));
        let case = format!("seed {seed}, {count} workers, {wait:?}: {time} s; T1 {all}, Tinf {path}");
        assert!(time >= share.max(path) - 1e-9, "{case}");
        assert!(time <= share + path + LITTLE, "{case}");
        assert_eq!(report.pools[0].jobs.iter().sum::<u64>(), 40, "{case}");
    }
}

#[test]
fn one_worker_takes_all_the_work() {
    for seed in 0..12 {
        let (jobs, all, _) = drawn(seed);
        let report = workers(1, pool(jobs, rules(seed)), WaitMode::Block);
        assert!((seconds(&report, 0) - all).abs() < 1e-6, "seed {seed}: {}", seconds(&report, 0));
        assert_eq!((report.pools[0].steals, report.pools[0].waits), (0, 0));
    }
}

#[test]
fn a_chain_takes_as_long_whoever_waits_for_it() {
    let chain = (1..=30_u32).map(|next| (1_000, if next < 30 { vec![next] } else { Vec::new() }));
    let chain: Vec<_> = chain.collect();
    for (count, wait) in [1, 2, 8].into_iter().flat_map(|count| MODES.map(|wait| (count, wait))) {
        for seed in [0, 1, 4, 9] {
            let report = workers(count, pool(chain.clone(), rules(seed)), wait);
            let time = seconds(&report, 0);
            assert!((time - 0.030).abs() < LITTLE, "{count} workers, {wait:?}: {time}");
        }
    }
}

#[test]
fn independent_jobs_are_done_side_by_side() {
    for (count, seed) in [1, 2, 4, 8].into_iter().flat_map(|count| (0..16).map(move |seed| (count, seed))) {
        let report = workers(count, pool(vec![(1_000, Vec::new()); 64], rules(seed)), WaitMode::Block);
        let (time, each) = (seconds(&report, 0), 64 / u64::from(count));
        assert!((time - each as f64 / 1e3).abs() < LITTLE, "{count} workers, rules {seed}: {time}");
        assert_eq!(report.pools[0].jobs, vec![each; count as usize]);
    }
}

#[test]
fn whoever_begins_has_all_jobs_and_others_steal_them() {
    let one = |roots| {
        let rules = PoolRules { roots, ..PoolRules::STEALING };
        workers(4, pool(vec![(1_000, Vec::new()); 40], rules), WaitMode::Block).pools.remove(0)
    };
    assert_eq!((one(Roots::First).steals, one(Roots::InTurns).steals), (30, 0));
}

#[test]
fn stealing_makes_up_for_a_busy_cpu_and_static_shares_do_not() {
    let trial = |objects, ops: Vec<Op>| {
        let hog = AppSpec { background: true, ..on_cpu(0, hogs(1, 10_000)) };
        let mut trial = Trial::on("core:4").free().under("linux-6.18", &[]).sharing(objects);
        for cpu in 0..4 {
            trial = trial.app(on_cpu(cpu, app(1, ops.clone(), WaitMode::Block)));
        }
        trial.app(hog).run().makespan.ns() as f64 / MS as f64
    };
    let shares = trial(Objects::default(), vec![compute(Span::from_ms(100))]);
    let jobs = vec![(1_000, Vec::new()); 400];
    let stealing =
        trial(pool(jobs.clone(), PoolRules { roots: Roots::InTurns, ..PoolRules::STEALING }), vec![WORK]);
    let shared = trial(pool(jobs, PoolRules::SHARED), vec![WORK]);
    // A cpu of four is half busy with something else.
    assert!(shares > 190.0, "{shares}");
    for time in [stealing, shared] {
        assert!((time - 400.0 / 3.5).abs() < 6.0, "{time} ms instead of {}", 400.0 / 3.5);
    }
}

#[test]
fn who_comes_late_passes_what_is_over() {
    // The second worker sleeps while the first one does three passes; then they do the fourth one together.
    let jobs = vec![(1_000, Vec::new()); 10];
    let nap = Op::Sleep { span: Span::from_ms(100), spread: Spread::NONE };
    let ops = |first: Vec<Op>| first.into_iter().chain(vec![WORK; 4]).collect();
    let early = [vec![WORK; 3], vec![nap], vec![WORK]].concat();
    let late = ops(vec![nap, compute(Span::from_ms(29))]);
    let trial = Trial::on("core:2").free().under("linux-6.18", &[]);
    let trial = trial.sharing(pool(jobs, PoolRules { roots: Roots::InTurns, ..PoolRules::STEALING }));
    let trial = trial.app(on_cpu(0, app(1, early, WaitMode::Block)));
    let report = trial.app(on_cpu(1, app(1, late, WaitMode::Block))).run();
    assert_eq!(report.pools[0].passes, 4);
    // 30 ms alone, at 129 ms the second one begins the fourth pass, at 130 ms the first one comes: it is half
    // done at 134.5 ms.
    let time = report.makespan.ns() as f64 / MS as f64;
    assert!((time - 135.0).abs() < 0.6, "{time}: {:?}", report.pools);
    let done = &report.pools[0].jobs;
    assert!(done[0] + done[1] == 40 && (5..=6).contains(&done[1]), "{done:?}");
}
