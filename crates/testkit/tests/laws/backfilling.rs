//! EASY backfilling against a schedule that is calculated here in another way: from the use of the cpus over
//! time, with jobs that never share one.

use std::sync::Arc;

use rand::RngExt;
use sim_core::admission::{Admission, StartOrder};
use sim_core::engine::Simulation;
use sim_core::ids::TaskId;
use sim_core::outcome::{Options, Outcome};
use sim_core::policy::{CpuChoice, Placement, Policy, View};
use sim_core::rng::{Purpose, stream};
use sim_core::time::{Span, Time};
use sim_core::wait::WaitMode;

use crate::support::{MS, SIXTEEN, Trial, app, compute};

const CPUS: u64 = 16;

/// A job; times in ns.
#[derive(Clone, Copy, Debug)]
struct Job {
    arrival: u64,
    tasks: u64,
    length: u64,
    estimate: u64,
}

/// Places each task on the first cpu that has none.
struct Apart;

impl Policy for Apart {
    fn select_cpu(&mut self, view: &dyn View, _: TaskId, _: Placement) -> CpuChoice {
        let mut cpus = view.machine().cpu_ids();
        cpus.find(|cpu| view.nr_running(*cpu) == 0).expect("threads are limited to the cpus").into()
    }
}

/// When each job starts in the simulator.
fn simulated(jobs: &[Job], order: StartOrder) -> Vec<u64> {
    let Trial { machine, model, .. } = Trial::on(SIXTEEN).free();
    let specs = jobs.iter().map(|job| {
        let mut spec = app(job.tasks as u32, vec![compute(Span::from_ns(job.length))], WaitMode::Spin);
        spec.start = Time::from_ns(job.arrival);
        spec.estimate = Some(Span::from_ns(job.estimate));
        spec
    });
    let admission = Admission { tasks: CPUS, order, ..Admission::UNLIMITED };
    let options = Options { admission, ..Options::default() };
    let run = Simulation::new(Arc::new(machine), Arc::new(model), specs.collect(), options).unwrap();
    let report = run.run(&mut Apart, &mut ());
    assert_eq!(report.outcome, Outcome::Completed);
    for (app, job) in report.apps.iter().zip(jobs) {
        assert_eq!(app.run_time(), Some(Span::from_ns(job.length)), "{} shares cpus", app.name);
    }
    report.apps.iter().map(|app| app.start.ns()).collect()
}

/// Cpus in use over time: tasks from an instant to another one.
#[derive(Clone, Default)]
struct Plan(Vec<(u64, u64, u64)>);

impl Plan {
    /// Whether so many cpus are free for all of this time: what is in use rises only where something begins.
    fn has(&self, tasks: u64, from: u64, to: u64) -> bool {
        let used = |at: u64| -> u64 {
            self.0.iter().filter(|(begin, end, _)| *begin <= at && at < *end).map(|(.., tasks)| tasks).sum()
        };
        let begins = self.0.iter().map(|(begin, ..)| *begin).filter(|begin| from < *begin && *begin < to);
        begins.chain([from]).all(|at| used(at) + tasks <= CPUS)
    }
}

/// When each job starts, and the first promise to each that was the first one of the queue.
struct Calculated {
    starts: Vec<u64>,
    promised: Vec<Option<u64>>,
}

/// EASY over instants: jobs that run and the reservation of the first one that waits are a plan, and a job
/// starts if the plan has room for it from now on, by its estimate.
fn calculated(jobs: &[Job]) -> Calculated {
    let mut arrivals: Vec<usize> = (0..jobs.len()).collect();
    arrivals.sort_by_key(|job| jobs[*job].arrival);
    let mut arrivals = arrivals.into_iter().peekable();
    let (mut queue, mut running): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut found = Calculated { starts: vec![u64::MAX; jobs.len()], promised: vec![None; jobs.len()] };
    loop {
        let end = |job: &usize| found.starts[*job] + jobs[*job].length;
        let ends = running.iter().map(end).min();
        let comes = arrivals.peek().map(|job| jobs[*job].arrival);
        let Some(now) = ends.into_iter().chain(comes).min() else { return found };
        if ends == Some(now) {
            running.retain(|job| end(job) > now);
        } else {
            queue.extend(arrivals.next());
        }
        while let Some(place) = next(jobs, &queue, &running, now, &mut found) {
            let job = queue.remove(place);
            found.starts[job] = now;
            running.push(job);
        }
    }
}

/// The place in the queue of a job that starts now.
fn next(jobs: &[Job], queue: &[usize], running: &[usize], now: u64, found: &mut Calculated) -> Option<usize> {
    // Estimates are never below the lengths here: each ends after now.
    let ends = |job: &usize| found.starts[*job] + jobs[*job].estimate;
    let mut plan = Plan(running.iter().map(|job| (now, ends(job), jobs[*job].tasks)).collect());
    let head = jobs[*queue.first()?];
    let candidates = running.iter().map(ends).chain([now]);
    let from = candidates.filter(|from| plan.has(head.tasks, *from, from + head.estimate)).min()?;
    if from == now {
        return Some(0);
    }
    found.promised[queue[0]].get_or_insert(from);
    plan.0.push((from, from + head.estimate, head.tasks));
    (1..queue.len()).find(|place| {
        let job = jobs[queue[*place]];
        plan.has(job.tasks, now, now + job.estimate)
    })
}

/// A random list of jobs. Users ask for up to so many times the length.
fn jobs(seed: u64, most: u64) -> Vec<Job> {
    let mut rng = stream(seed, Purpose::Test, 70);
    let narrow = rng.random_range(1..=CPUS);
    let job = |_| {
        let length = rng.random_range(MS..20 * MS);
        let tasks = if rng.random_range(0..3) == 0 { CPUS } else { narrow };
        Job {
            arrival: rng.random_range(0..60 * MS),
            tasks: rng.random_range(1..=tasks),
            length,
            estimate: if most == 1 { length } else { rng.random_range(length..=most * length) },
        }
    };
    (0..24).map(job).collect()
}

#[test]
fn starts_are_those_of_an_independent_calculation() {
    let (mut earlier, mut later, mut overtook) = (0, 0, 0);
    for seed in 0..250 {
        let jobs = jobs(seed, 1);
        let starts = simulated(&jobs, StartOrder::Easy);
        assert_eq!(starts, calculated(&jobs).starts, "seed {seed}: {jobs:#?}");
        let plain = simulated(&jobs, StartOrder::Fcfs);
        let waits =
            |starts: &[u64]| starts.iter().zip(&jobs).map(|(start, job)| start - job.arrival).sum::<u64>();
        earlier += u64::from(waits(&starts) < waits(&plain));
        later += u64::from(waits(&starts) > waits(&plain));
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by_key(|job| jobs[*job].arrival);
        overtook += order.windows(2).filter(|pair| starts[pair[0]] > starts[pair[1]]).count();
        assert!(order.windows(2).all(|pair| plain[pair[0]] <= plain[pair[1]]), "seed {seed}");
    }
    assert!(overtook > 500, "{overtook} jobs overtook the one before them");
    assert!(earlier > 200 && later < 20, "waits are shorter in {earlier} of 250 lists, longer in {later}");
}

#[test]
fn the_first_one_that_waits_never_starts_after_its_reservation() {
    let (mut promises, mut kept_early) = (0, 0);
    for seed in 0..250 {
        let jobs = jobs(seed, 5);
        let starts = simulated(&jobs, StartOrder::Easy);
        let calculated = calculated(&jobs);
        assert_eq!(starts, calculated.starts, "seed {seed}: {jobs:#?}");
        for (start, promised) in starts.iter().zip(&calculated.promised) {
            let Some(promised) = promised else { continue };
            assert!(start <= promised, "seed {seed}: {start} ns instead of {promised} ns");
            promises += 1;
            kept_early += u64::from(start < promised);
        }
    }
    assert!(promises > 1_000 && kept_early * 2 > promises, "{kept_early} of {promises} start before it");
}

#[test]
fn who_takes_longer_than_it_said_is_not_stopped() {
    // All say a half of what they take: nothing but the order changes, and every job ends.
    let mut jobs = jobs(3, 1);
    jobs.iter_mut().for_each(|job| job.estimate = job.length / 2);
    let starts = simulated(&jobs, StartOrder::Easy);
    let ends: Vec<u64> = starts.iter().zip(&jobs).map(|(start, job)| start + job.length).collect();
    for start in &starts {
        let inside = (0..jobs.len()).filter(|job| starts[*job] <= *start && ends[*job] > *start);
        assert!(inside.map(|job| jobs[job].tasks).sum::<u64>() <= CPUS);
    }
}
