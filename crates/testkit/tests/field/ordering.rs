//! Policies that order the run queues see a task from the instant it is placed: jobs that arrive together,
//! and periodic task sets against schedules that are computed here.

use std::collections::BTreeMap;
use std::sync::Arc;

use notation::parameter::Values;
use policies::{Entry, Setting, TaskGroups};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use sim_core::engine::Simulation;
use sim_core::ids::{CpuId, Id, ProfileId, TaskId};
use sim_core::machine::{Costs, Level, Machine, Memory, Smt, Topology};
use sim_core::os::{Balancer, CfsParams, Discipline, OsModel};
use sim_core::outcome::{Options, Outcome};
use sim_core::policy::{CpuChoice, Enqueue, Order, Placement, Policy, QueueEntry, System, View};
use sim_core::program::{AppSpec, MemoryProfile, Op, Program, Runtime, Spread, StartUp};
use sim_core::time::{Span, Time, Work};
use sim_core::wait::{BarrierKind, Polling, WaitMode};

use crate::support::{mean, results};

const MS: u64 = 1_000_000;

/// A job: when it arrives, its work on one cpu, how long after its arrival it is due, all in ns, and the
/// periodic task that it belongs to.
#[derive(Clone, Copy, Debug)]
struct Job {
    arrives: u64,
    work: u64,
    due_after: u64,
    task: usize,
}

/// When each job ends if at every instant the jobs with the smallest keys have the cpus. Of equal keys the
/// one that runs goes on, then the first that waits.
fn exact(jobs: &[Job], key: impl Fn(usize) -> i64, cpus: usize) -> Vec<u64> {
    let mut left: Vec<u64> = jobs.iter().map(|job| job.work).collect();
    let mut ends = vec![0; jobs.len()];
    let (mut now, mut running, mut waiting): (u64, Vec<usize>, Vec<usize>) = (0, Vec::new(), Vec::new());
    let mut coming: Vec<usize> = (0..jobs.len()).collect();
    coming.sort_by_key(|job| jobs[*job].arrives);
    coming.reverse();
    loop {
        let arrival = coming.last().map(|job| jobs[*job].arrives);
        let end = running.iter().map(|job| now + left[*job]).min();
        let Some(next) = arrival.into_iter().chain(end).min() else { return ends };
        running.iter().for_each(|job| left[*job] -= next - now);
        now = next;
        running.iter().filter(|job| left[**job] == 0).for_each(|job| ends[*job] = now);
        running.retain(|job| left[*job] > 0);
        while coming.last().is_some_and(|job| jobs[*job].arrives == now) {
            waiting.extend(coming.pop());
        }
        while let Some(first) = (0..waiting.len()).min_by_key(|at| (key(waiting[*at]), *at)) {
            let worst = (0..running.len()).max_by_key(|at| key(running[*at]));
            match worst.filter(|_| running.len() == cpus) {
                None => running.push(waiting.remove(first)),
                Some(worst) if key(running[worst]) > key(waiting[first]) => {
                    let preempted = std::mem::replace(&mut running[worst], waiting.remove(first));
                    waiting.push(preempted);
                }
                Some(_) => break,
            }
        }
    }
}

fn machine(cpus: u32) -> Machine {
    Machine {
        name: "no costs".into(),
        topology: Topology::new(&[(Level::Core, cpus)]).unwrap(),
        costs: Costs::free(),
        memory: Memory::unlimited(),
        core_speed: Vec::new(),
        work_unit: sim_core::time::Speed::NOMINAL,
        smt: Smt::NONE,
        turbo: Vec::new(),
        clocks: sim_core::machine::Clocks::HIGHEST,
    }
}

/// When each job ends in a simulation without costs; each job is an application with one task.
fn simulated(jobs: &[Job], cpus: u32, policy: impl FnOnce(&Setting<'_>) -> Box<dyn Policy>) -> Vec<u64> {
    let machine = machine(cpus);
    let kernel = OsModel {
        name: "linux-2.6.28".into(),
        tick: Span::from_ms(1),
        tick_skew: false,
        discipline: Discipline::Cfs(CfsParams::scaled(cpus)),
        balancer: Balancer { policy: "LOAD", rules: Vec::new() },
        groups: Vec::new(),
        autogroup: false,
        numa_balancing: None,
        real_time: None,
    };
    let runtime = Runtime {
        name: "none".into(),
        barrier: BarrierKind::Central,
        wait: WaitMode::Block,
        polling: Polling::PLAIN,
        processes: false,
        startup: StartUp::PLAIN,
    };
    let app = |job: &Job| {
        let work = Work::from_span(Span::from_ns(job.work));
        let compute = Op::Compute { work, spread: Spread::NONE, profile: ProfileId(0) };
        let program = Arc::new(Program::new(vec![compute], vec![MemoryProfile::NONE]).unwrap());
        let spec = AppSpec::new(&*format!("task-{}", job.task), 1, program, runtime.clone());
        AppSpec { start: Time::from_ns(job.arrives), ..spec }
    };
    let apps: Vec<AppSpec> = jobs.iter().map(app).collect();
    let entry = policies::find("EDF").unwrap();
    let setting = Setting { entry, machine: &machine, kernel: &kernel, apps: &apps };
    let mut policy = policy(&setting);
    let options = Options { horizon: Time::from_ns(1_000_000 * MS), ..Options::default() };
    let simulation = Simulation::new(Arc::new(machine), Arc::new(kernel), apps, options).unwrap();
    let report = simulation.run(policy.as_mut(), &mut ());
    assert_eq!((report.outcome, report.corrections), (Outcome::Completed, 0));
    report.apps.iter().map(|app| app.end.unwrap().ns()).collect()
}

/// The built-in policy of this name, with these parameters of all applications.
fn built_in(name: &str, changes: &[(&str, u64)]) -> impl FnOnce(&Setting<'_>) -> Box<dyn Policy> {
    let entry: &'static Entry = policies::find(name).unwrap();
    let mut values = Values::defaults(entry.parameters);
    changes.iter().for_each(|(name, value)| values.set(name, *value).unwrap());
    move |setting| (entry.build)(&values, &Setting { entry, ..*setting })
}

/// EDF where each job is due as it says, with a budget that no job uses up.
fn edf(jobs: &[Job]) -> impl FnOnce(&Setting<'_>) -> Box<dyn Policy> {
    let entry = policies::find("EDF").unwrap();
    let mut values = Values::defaults(entry.parameters);
    values.set("budget", 1_000_000 * MS).unwrap();
    for job in jobs {
        values.set_for("period", &format!("task-{}", job.task), vec![job.due_after]).unwrap();
    }
    move |setting| (entry.build)(&values, setting)
}

/// Rate monotonic on one cpu, as a policy outside the program would be written: the key is the priority, and
/// the queue of the cpu preempts by key.
struct RateMonotonic(Vec<i64>);

impl Policy for RateMonotonic {
    fn order(&self) -> Order {
        Order::Policy
    }
    fn select_cpu(&mut self, _: &dyn View, _: TaskId, _: Placement) -> CpuChoice {
        CpuId(0).into()
    }
    fn enqueue(&mut self, _: &mut dyn System, task: TaskId, _: CpuId, _: Enqueue) -> Option<QueueEntry> {
        Some(QueueEntry { preempts: true, ..QueueEntry::new(self.0[task.index()], Span::MAX) })
    }
}

/// A random set of 2 to 6 periodic tasks that use `share` of a thousandth of a cpu, or less: all jobs that
/// arrive in 300 ms, the first of each task at 0. Periods are multiples of `unit` ns from 5 to 50 ms.
fn periodic(rng: &mut ChaCha8Rng, share: u64, unit: u64) -> Vec<Job> {
    let tasks = rng.random_range(2..=6);
    let parts: Vec<u64> = (0..tasks).map(|_| rng.random_range(1..=1_000)).collect();
    let whole: u64 = parts.iter().sum();
    let mut jobs = Vec::new();
    for (task, part) in parts.iter().enumerate() {
        let period = rng.random_range(5 * MS / unit..=50 * MS / unit) * unit;
        let work = (period * part / whole * share / 1_000).clamp(1, period);
        let job = |number| Job { arrives: number * period, work, due_after: period, task };
        jobs.extend((0..(300 * MS).div_ceil(period)).map(job));
    }
    jobs
}

fn due(jobs: &[Job]) -> impl Fn(usize) -> i64 + '_ {
    |job| (jobs[job].arrives + jobs[job].due_after) as i64
}

/// When the last job of each deadline ends. EDF leaves open which one of equal deadlines runs first, and on
/// one cpu the end of the last one does not depend on it.
fn last_ends(jobs: &[Job], ends: &[u64]) -> BTreeMap<i64, u64> {
    let mut last = BTreeMap::new();
    for (job, end) in ends.iter().enumerate() {
        let found: &mut u64 = last.entry(due(jobs)(job)).or_default();
        *found = (*found).max(*end);
    }
    last
}

fn missed(jobs: &[Job], ends: &[u64]) -> usize {
    jobs.iter().zip(ends).filter(|(job, end)| **end > job.arrives + job.due_after).count()
}

#[test]
fn an_urgent_job_beside_a_bulk_job_of_the_same_instant_runs_first() {
    let found = results("edf.yaml", &["repeat=1"]);
    let seconds = mean(&found, "", "EDF", "urgent", "run_time");
    assert!((0.020..0.0205).contains(&seconds), "{seconds} s");
}

#[test]
fn edf_is_the_exact_schedule_on_one_cpu_and_meets_all_deadlines_up_to_full_use() {
    let mut rng = ChaCha8Rng::seed_from_u64(42);
    for set in 0..100 {
        // Whole milliseconds bring equal deadlines and arrivals at the instant of an end.
        let unit = if set % 2 == 0 { MS } else { 1 };
        let share = *[700, 900, 1_000, 1_000, 1_150].get(set % 5).unwrap();
        let jobs = periodic(&mut rng, share, unit);
        let ends = simulated(&jobs, 1, edf(&jobs));
        let (ours, right) = (last_ends(&jobs, &ends), last_ends(&jobs, &exact(&jobs, due(&jobs), 1)));
        assert_eq!(ours, right, "set {set}: {jobs:?}");
        assert!(share > 1_000 || missed(&jobs, &ends) == 0, "set {set} misses deadlines");
    }
}

#[test]
fn edf_is_the_exact_global_schedule_on_two_cpus() {
    let mut rng = ChaCha8Rng::seed_from_u64(43);
    for set in 0..60 {
        let jobs = periodic(&mut rng, [1_200, 1_700, 2_000][set % 3], 1);
        assert_eq!(simulated(&jobs, 2, edf(&jobs)), exact(&jobs, due(&jobs), 2), "set {set}: {jobs:?}");
    }
}

#[test]
fn fixed_priorities_of_an_outside_policy_are_the_exact_schedule() {
    let mut rng = ChaCha8Rng::seed_from_u64(44);
    for set in 0..60 {
        let jobs = periodic(&mut rng, [690, 850, 1_000][set % 3], [MS, 1][set % 2]);
        // The shorter period first; of one task, and of tasks with one period, the first job in the list.
        let key = |job: usize| (jobs[job].due_after << 16) as i64 + job as i64;
        let policy = RateMonotonic((0..jobs.len()).map(key).collect());
        let ends = simulated(&jobs, 1, |_| Box::new(policy));
        assert_eq!(ends, exact(&jobs, key, 1), "set {set}: {jobs:?}");
    }
}

/// Jobs of one instant with these works in ms.
fn together(works: &[u64]) -> Vec<Job> {
    let job = |(task, work): (usize, &u64)| Job { arrives: 0, work: work * MS, due_after: 100 * MS, task };
    works.iter().enumerate().map(job).collect()
}

fn ms(ends: Vec<u64>) -> Vec<u64> {
    ends.into_iter().map(|end| end / MS).collect()
}

#[test]
fn jobs_of_one_instant_are_all_there_when_the_cpu_decides() {
    let jobs = together(&[50, 10, 30]);
    // One slice of 20 ms each in turn.
    for policy in ["FIFO", "VTIME", "RUSTY"] {
        assert_eq!(ms(simulated(&jobs, 1, built_in(policy, &[]))), [90, 30, 80], "{policy}");
    }
    assert_eq!(ms(simulated(&jobs, 1, built_in("STRIDE", &[("slice", 20 * MS)]))), [90, 30, 80]);
    // 10 ms on the highest level each, then 20 ms on the next one, then the rest.
    assert_eq!(ms(simulated(&jobs, 1, built_in("MLFQ", &[]))), [90, 20, 70]);
    let ends = ms(simulated(&jobs, 1, built_in("LOTTERY", &[("slice", 20 * MS)])));
    assert_eq!(ends.iter().max(), Some(&90), "{ends:?}");
    // The last one in the list is due first.
    let mut jobs = jobs;
    for (job, period) in jobs.iter_mut().zip([300, 200, 100]) {
        job.due_after = period * MS;
    }
    assert_eq!(ms(simulated(&jobs, 1, edf(&jobs))), [90, 40, 30]);
}

#[test]
fn a_preempted_task_takes_a_cpu_that_becomes_idle_at_the_same_instant() {
    // The first job ends on cpu 0 when the third one arrives, which takes cpu 1 from the second one.
    let job = |arrives, work, due_after, task| Job {
        arrives: arrives * MS,
        work: work * MS,
        due_after: due_after * MS,
        task,
    };
    let jobs = [job(0, 10, 50, 0), job(0, 30, 100, 1), job(10, 20, 20, 2)];
    assert_eq!(ms(simulated(&jobs, 2, edf(&jobs))), [10, 30, 30]);
}

#[test]
fn jobs_of_one_instant_fill_all_cpus() {
    let jobs = together(&[40, 40, 40, 40]);
    for policy in ["FIFO", "STRIDE", "VTIME", "LOTTERY", "MLFQ", "EDF", "RUSTY", "GUARANTEED"] {
        assert_eq!(ms(simulated(&jobs, 4, built_in(policy, &[]))), [40, 40, 40, 40], "{policy}");
    }
}

/// A policy of another crate that orders the run queues.
const OUTSIDE: Entry = Entry {
    name: "OUTSIDE",
    summary: "keys of one policy that nobody here knows",
    source: "a test",
    level: policies::Level::InKernel,
    task_groups: TaskGroups::Refused,
    parameters: &[],
    text: "",
    wins: policies::Showcase::NONE,
    loses: policies::Showcase::NONE,
    build: &|_, _| Box::new(RateMonotonic(vec![0; 8])),
};
/// The same, which says that it works with task groups.
const WRONG: Entry = Entry { name: "WRONG", task_groups: TaskGroups::Kept, ..OUTSIDE };

#[test]
fn an_outside_policy_that_orders_the_queues_refuses_task_groups() {
    let registry = policies::PolicyRegistry::with(&[&OUTSIDE, &WRONG]).unwrap();
    let scenario = |policy: &str, group: &str| {
        let text = format!(
            "name: groups\nmachine: core:1\nkernel: linux-6.18\nbaseline: none\nrepeat: 1\n\
             apps:\n  a: {{ workload: {{ hog: {{ work: 10ms }} }}, tasks: 2{group} }}\npolicies: [{policy}]\n"
        );
        scenario::load_with(&registry, "groups.yaml", &text, &scenario::Overrides::default())
    };
    assert!(scenario("OUTSIDE", "").is_ok());
    let said = scenario("OUTSIDE", ", cgroup: web").err().unwrap().to_string();
    assert!(said.contains("the policy `OUTSIDE` does not work with `session` and `cgroup`"), "{said}");
    assert!(said.contains("OUTSIDE orders run queues itself"), "{said}");
    // A wrong statement is found when the run begins, and the groups do not vanish without a word.
    let experiment = scenario("WRONG", ", cgroup: web").unwrap();
    let said = experiment::run::run(&experiment, 1, &|_, _| {}).unwrap_err().to_string();
    assert!(said.contains("WRONG orders the run queues itself"), "{said}");
}
