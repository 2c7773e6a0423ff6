//! The rules of the engine, one at a time: small runs whose times are computed analytically.

mod actions;
mod ordering;
mod pages;
mod programs;

use std::sync::Arc;

use super::Simulation;
use super::setup::{test_machine, test_model, test_simulation};
use crate::account::Category;
use crate::admission::{Admission, StartOrder};
use crate::ids::{AppId, CpuId, LockId, ProfileId, TaskId};
use crate::lock::{LockRules, LockWait};
use crate::machine::{CpuSet, Level, Machine, Topology};
use crate::observe::{LeaveReason, Observation, Observer};
use crate::os::{CfsParams, Discipline, EevdfParams, OsModel, TaskGroup};
use crate::outcome::{Counters, Options, Outcome, RunReport};
use crate::policy::{
    Affinity, CpuChoice, Placement, Policy, Preemption, System, THROTTLED, Timer, View, Watches, Why,
};
use crate::program::{AppSpec, MemoryProfile, Objects, Op, Program, Runtime, Spread, StartUp};
use crate::run_queue::ts::TIME_SHARING;
use crate::time::{Span, Speed, Time, Work};
use crate::wait::{BarrierKind, Polling, PollsPerYield, WaitMode};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// What a test does at an instant.
type Act = fn(&mut dyn System);

/// A machine, an operating system, programs, and what the policy does when.
struct Rig {
    machine: Machine,
    model: OsModel,
    apps: Vec<AppSpec>,
    objects: Objects,
    options: Options,
    acts: Vec<(u64, Act)>,
}

/// Places rank r on cpu r modulo the number of cpus, and acts at given instants.
struct Scripted(Vec<(u64, Act)>);

impl Policy for Scripted {
    fn init(&mut self, system: &mut dyn System) {
        for (at, (ns, _)) in self.0.iter().enumerate() {
            system.at(Time::from_ns(*ns), Timer::Token(at as u64));
        }
    }
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        let cpus = view.machine().cpus();
        let ranks = (0..cpus).map(|step| CpuId((view.task(task).rank + step) % cpus));
        ranks.into_iter().find(|cpu| view.allowed(task, *cpu)).expect("a mask is never empty").into()
    }
    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        if let Timer::Token(at) = timer {
            self.0[at as usize].1(system);
        }
    }
}

/// When tasks began to run, and left a cpu.
#[derive(Default)]
struct Log {
    began: Vec<(u64, u32)>,
    left: Vec<(u64, u32, LeaveReason)>,
}

impl Observer for Log {
    fn observe(&mut self, at: Time, what: &Observation) {
        match *what {
            Observation::Running { task, .. } => self.began.push((at.ns(), task.0)),
            Observation::Stopping { task, reason, .. } => self.left.push((at.ns(), task.0, reason)),
            _ => {}
        }
    }
}

impl Rig {
    /// Free cores on one node under round robin with a quantum of 10 ms and a tick of 1 ms.
    fn of(cpus: u32) -> Self {
        Self {
            machine: test_machine(cpus),
            model: test_model(),
            apps: Vec::new(),
            objects: Objects::default(),
            options: Options::default(),
            acts: Vec::new(),
        }
    }

    fn app(mut self, app: AppSpec) -> Self {
        self.apps.push(app);
        self
    }

    fn at(mut self, ns: u64, act: Act) -> Self {
        self.acts.push((ns, act));
        self
    }

    fn run(self) -> (RunReport, Log) {
        let (machine, model) = (Arc::new(self.machine), Arc::new(self.model));
        let mut log = Log::default();
        let simulation =
            Simulation::with_objects(machine, model, self.apps, self.objects, self.options).unwrap();
        let report = simulation.run(&mut Scripted(self.acts), &mut log);
        (report, log)
    }
}

fn compute(ns: u64) -> Op {
    Op::Compute { work: Work::from_span(Span::from_ns(ns)), spread: Spread::NONE, profile: ProfileId(0) }
}

fn sleep(ns: u64) -> Op {
    Op::Sleep { span: Span::from_ns(ns), spread: Spread::NONE }
}

/// Threads of one process that wait as given.
fn app(tasks: u32, wait: WaitMode, ops: Vec<Op>) -> AppSpec {
    let program = Program::new(ops, vec![MemoryProfile::NONE]).unwrap();
    let runtime = Runtime {
        name: "test".into(),
        barrier: BarrierKind::Central,
        wait,
        polling: Polling::PLAIN,
        processes: false,
        startup: StartUp::PLAIN,
    };
    AppSpec::new("test", tasks, Arc::new(program), runtime)
}

fn end(report: &RunReport, app: usize) -> u64 {
    report.apps[app].end.expect("the application ended").ns()
}

fn spent(report: &RunReport, cpu: usize, category: Category) -> u64 {
    report.cpus[cpu].get(category).ns()
}

/// `found` is `expected`, or at most `most` ns away.
#[track_caller]
fn assert_near(found: u64, expected: u64, most: u64) {
    assert!(found.abs_diff(expected) <= most, "{found} ns, expected {expected} ns");
}

// Dispatch.

#[test]
fn a_task_runs_until_its_quantum_ends_and_goes_behind_the_others() {
    let (report, log) = Rig::of(1).app(app(2, WaitMode::Spin, vec![compute(15 * MS)])).run();
    assert_eq!(log.began, [(0, 0), (10 * MS, 1), (20 * MS, 0), (25 * MS, 1)]);
    let preempted = LeaveReason::Preempted;
    assert_eq!(log.left[..2], [(10 * MS, 0, preempted), (20 * MS, 1, preempted)]);
    assert_eq!(log.left[2..], [(25 * MS, 0, LeaveReason::Exited), (30 * MS, 1, LeaveReason::Exited)]);
    assert_eq!(report.apps[0].counters.involuntary_switches, 2);
}

#[test]
fn a_task_alone_is_never_preempted() {
    let (_, log) = Rig::of(1).app(app(1, WaitMode::Spin, vec![compute(35 * MS)])).run();
    assert_eq!(log.left, [(35 * MS, 0, LeaveReason::Exited)]);
}

#[test]
fn a_switch_between_processes_costs_more_than_one_between_threads() {
    let ended = |processes: bool| {
        let mut rig = Rig::of(1).app(app(2, WaitMode::Spin, vec![compute(5 * MS)]));
        rig.machine.costs.switch_thread = Span::from_us(2);
        rig.machine.costs.switch_process = Span::from_us(5);
        rig.apps[0].runtime.processes = processes;
        let (report, _) = rig.run();
        (spent(&report, 0, Category::Switch), end(&report, 0))
    };
    // The first task finds an empty cpu, where the price is that between threads.
    assert_eq!(ended(false), (4 * US, 10 * MS + 4 * US));
    assert_eq!(ended(true), (7 * US, 10 * MS + 7 * US));
}

#[test]
fn a_yield_goes_behind_all_others() {
    let (_, log) = Rig::of(1).app(app(3, WaitMode::Spin, vec![compute(MS), Op::Yield, compute(MS)])).run();
    let order: Vec<u32> = log.began.iter().map(|(_, task)| *task).collect();
    assert_eq!(order, [0, 1, 2, 0, 1, 2]);
}

#[test]
fn ticks_take_their_price_from_whatever_runs() {
    let mut rig = Rig::of(1).app(app(1, WaitMode::Spin, vec![compute(99 * MS)]));
    rig.machine.costs.tick = Span::from_us(10);
    let (report, _) = rig.run();
    // Each period of 1 ms has 990 us left for the program.
    assert_near(end(&report, 0), 100 * MS, 100);
    assert_near(spent(&report, 0, Category::Kernel), MS, 100);
}

// Wake-ups.

#[test]
fn a_woken_task_waits_for_the_end_of_the_quantum_under_round_robin() {
    let hog = app(1, WaitMode::Spin, vec![compute(100 * MS)]);
    let sleeper = app(1, WaitMode::Spin, vec![sleep(3 * MS), compute(MS)]);
    let (_, log) = Rig::of(1).app(hog).app(sleeper).run();
    // The sleeper gets the cpu after the first quantum, sleeps from 10 to 13 ms, and waits for the end of the
    // quantum that the hog then began.
    assert_eq!(log.began.iter().rfind(|(_, task)| *task == 1), Some(&(20 * MS, 1)));
}

#[test]
fn under_cfs_a_task_that_slept_preempts_at_once() {
    let hog = app(1, WaitMode::Spin, vec![compute(100 * MS)]);
    let sleeper = app(1, WaitMode::Spin, vec![sleep(30 * MS), compute(MS)]);
    let mut rig = Rig::of(1).app(hog).app(sleeper);
    rig.model.discipline = Discipline::Cfs(CfsParams::scaled(1));
    let (_, log) = rig.run();
    let slept = log.left.iter().find(|(_, task, reason)| (*task, *reason) == (1, LeaveReason::Slept));
    let woken = slept.map_or(0, |(at, ..)| at + 30 * MS);
    assert!(log.began.contains(&(woken, 1)), "woken at {woken}: {:?}", log.began);
}

#[test]
fn the_waker_pays_for_each_sleeper_and_an_idle_cpu_for_its_exit() {
    // Rank 2 arrives last, after 2 ms, and wakes two sleepers on idle cpus.
    let mut rig = Rig::of(3).app(app(3, WaitMode::Block, vec![compute(MS), Op::Barrier, compute(MS)]));
    rig.apps[0].rank_scale = vec![1_000, 1_000, 2_000];
    rig.machine.costs.wake = Span::from_us(3);
    rig.machine.costs.wake_remote = Span::from_us(5);
    rig.machine.costs.ipi = Span::from_us(1);
    rig.machine.costs.idle_exit = Span::from_us(7);
    let (report, log) = rig.run();
    // All three cpus were idle when their tasks were created; no other cpu interrupts the first one.
    assert_eq!(spent(&report, 0, Category::Kernel), 7 * US + 8 * US);
    assert_eq!(spent(&report, 1, Category::Kernel), 8 * US + 8 * US);
    assert_eq!(spent(&report, 2, Category::Kernel), 8 * US + 2 * 5 * US);
    // Rank 2 begins after 8 us, computes for 2 ms, wakes two, and computes for 2 ms more.
    assert_near(end(&report, 0), 4 * MS + 18 * US, 10);
    // The first wake-up takes effect after 3 us of the call, the second 5 us later.
    let woken = |task| log.began.iter().filter(|(_, id)| *id == task).map(|(at, _)| *at).max().unwrap();
    assert_eq!(woken(1) - woken(0), 5 * US);
}

#[test]
fn a_longer_idle_time_has_a_longer_exit() {
    let program = vec![sleep(100 * US), compute(MS), sleep(MS), compute(MS)];
    let mut rig = Rig::of(1).app(app(1, WaitMode::Block, program));
    rig.machine.costs.idle_exits = vec![(Span::ZERO, Span::ZERO), (Span::from_us(200), Span::from_us(8))];
    let (report, _) = rig.run();
    // Half of the first row's idle time, and more than the last row's.
    assert_eq!(spent(&report, 0, Category::Kernel), 4 * US + 8 * US);
}

#[test]
fn the_first_tick_after_idle_time_ends_a_slice() {
    let program = vec![sleep(10 * MS + 200 * US), compute(5 * MS)];
    let mut rig = Rig::of(1).app(app(2, WaitMode::Block, program));
    // Slices of 0.7 ms.
    let params = EevdfParams { tick_jitter: Span::ZERO, ..EevdfParams::scaled(1) };
    rig.model.discipline = Discipline::Eevdf(params);
    let (_, log) = rig.run();
    let began: Vec<u64> = log.began.iter().map(|(at, _)| *at).filter(|at| *at > 10 * MS).collect();
    assert_eq!(began[..3], [10 * MS + 200 * US, 11 * MS, 12 * MS]);
}

#[test]
fn a_delayed_task_wakes_beside_virtual_times_of_the_last_tick() {
    let sleeper = app(1, WaitMode::Spin, vec![compute(2 * MS), sleep(2 * MS + MS / 2), compute(MS)]);
    let mut rig = Rig::of(1).app(sleeper).app(app(1, WaitMode::Spin, vec![compute(50 * MS)]));
    let slice = Span::from_ms(6);
    let params = EevdfParams { slice, tick_jitter: Span::ZERO, ..EevdfParams::scaled(1) };
    rig.model.discipline = Discipline::Eevdf(params);
    rig.model.tick = Span::from_ms(10);
    let (_, log) = rig.run();
    // It sleeps at v = 2 ms while V is 1 ms, and stays as a delayed task. The other one, picked with v = 0
    // and protected up to its first deadline of 3 ms, has computed for 2.5 ms when it wakes. Placed beside
    // v = 0, it keeps v = 2 ms: V is 2.25 ms, the other one is not eligible, and it runs at once. Placed
    // beside v = 2.5 ms it would wait for the tick at 10 ms.
    assert!(log.began.contains(&(4 * MS + MS / 2, 0)), "{:?}", log.began);
}

// Barriers.

#[test]
fn a_release_becomes_visible_after_the_line_has_travelled() {
    let mut rig = Rig::of(2).app(app(2, WaitMode::Spin, vec![compute(MS), Op::Barrier]));
    rig.apps[0].rank_scale = vec![1_000, 3_000];
    rig.machine.costs.line = [Span::from_ns(500); 5];
    let (report, _) = rig.run();
    let spun = spent(&report, 0, Category::Spin);
    // From the arrival at 1 ms to the arrival of the last at 3 ms, plus the line from cpu 1 to cpu 0; the
    // counter's line had to travel to cpu 1 before that.
    assert_eq!(spun, 2 * MS + 2 * 500);
    assert_eq!(report.apps[0].counters.barriers, 2);
}

#[test]
fn a_spinner_holds_its_cpu_for_a_quantum_and_a_yielder_gives_it_up() {
    let ended = |wait| end(&Rig::of(1).app(app(2, wait, vec![compute(MS), Op::Barrier])).run().0, 0);
    assert!((10 * MS + MS..10 * MS + MS + 100).contains(&ended(WaitMode::Spin)));
    assert!((2 * MS..2 * MS + 100).contains(&ended(WaitMode::Yield)));
    assert!((2 * MS..2 * MS + 100).contains(&ended(WaitMode::Block)));
}

#[test]
fn a_spin_limit_ends_in_sleep() {
    let wait = WaitMode::SpinThenBlock { limit: Span::from_us(200), yielding: false };
    let mut rig = Rig::of(2).app(app(2, wait, vec![compute(MS), Op::Barrier]));
    rig.apps[0].rank_scale = vec![1_000, 2_000];
    let (report, _) = rig.run();
    assert_near(spent(&report, 0, Category::Spin), 200 * US, 10);
    assert_near(spent(&report, 0, Category::Idle), 800 * US, 10);
}

/// The same run with polls in closed form and one by one.
fn closed_and_each(rig: impl Fn() -> Rig) -> [RunReport; 2] {
    let [closed, each] = [false, true].map(|stepwise| {
        let mut rig = rig();
        let costs = &mut rig.machine.costs;
        [costs.poll, costs.yield_call, costs.switch_thread] = [40, 300, 900].map(Span::from_ns);
        rig.options.stepwise = stepwise;
        rig.run().0
    });
    assert_eq!((&closed.apps, &closed.cpus, closed.digest), (&each.apps, &each.cpus, each.digest));
    [closed, each]
}

#[test]
#[cfg_attr(miri, ignore = "thousands of polls one by one")]
fn polling_in_closed_form_is_polling_one_by_one() {
    let [closed, each] = closed_and_each(|| {
        let mut rig =
            Rig::of(2).app(app(7, WaitMode::Yield, vec![compute(MS), Op::Barrier, compute(MS), Op::Barrier]));
        rig.model.discipline = Discipline::Cfs(CfsParams::scaled(2));
        rig
    });
    assert!(closed.apps[0].counters.polls > 1_000, "{}", closed.apps[0].counters.polls);
    assert!(closed.events < each.events / 10, "{} events, {} one by one", closed.events, each.events);
}

#[test]
fn a_task_that_polls_from_the_first_instant_is_brought_up_to_date() {
    // Rank 1 waits before the price of a switch has passed; a signal comes before anything else does.
    closed_and_each(|| {
        let serial = Op::Serial {
            work: Work::from_span(Span::from_us(35)),
            spread: Spread::NONE,
            profile: ProfileId(0),
        };
        Rig::of(2).app(app(2, WaitMode::Yield, vec![serial, Op::Barrier, compute(MS), Op::Barrier]))
    });
}

#[test]
#[cfg_attr(miri, ignore = "thousands of polls one by one")]
fn polls_in_task_groups_are_no_events() {
    let [closed, each] = closed_and_each(|| {
        // On cpu 0 one group polls alone, then beside the other one, then beside a task in none.
        let member = |group, start, scale: &[u32]| {
            let app = app(scale.len() as u32, WaitMode::Yield, vec![compute(20 * MS), Op::Barrier]);
            AppSpec { rank_scale: scale.to_vec(), group, start: Time::from_ns(start * MS), ..app }
        };
        let [one, two] = [member(Some(0), 0, &[100, 9_000, 150]), member(Some(1), 31, &[300, 7_000, 100])];
        let mut rig = Rig::of(2).app(one).app(two).app(member(None, 90, &[350]));
        let group = |weight| TaskGroup { name: "g".into(), parent: None, weight, limit: None };
        rig.model.groups = [1_024, 300].map(group).to_vec();
        rig.model.discipline = Discipline::Eevdf(EevdfParams::scaled(2));
        rig
    });
    assert!(closed.events < each.events / 50, "{} events, {} one by one", closed.events, each.events);
}

#[test]
#[cfg_attr(miri, ignore = "thousands of polls one by one")]
fn the_polling_of_a_long_queue_is_skipped_by_whole_periods() {
    let [closed, _] = closed_and_each(|| {
        let mut rig = Rig::of(2).app(app(9, WaitMode::Yield, vec![compute(MS), Op::Barrier]));
        rig.apps[0].rank_scale = vec![2_000, 100_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000];
        rig.model.discipline = Discipline::Ts(TIME_SHARING);
        rig
    });
    assert!(closed.apps[0].counters.polls > 100_000, "{}", closed.apps[0].counters.polls);
    assert!(closed.events < 60, "{} events; dispatch by dispatch ten times as many", closed.events);
}

// Locks, start-up and arrivals.

#[test]
fn a_lock_is_handed_on_in_the_order_of_requests() {
    let lock = LockId(0);
    let held = vec![Op::Lock(lock), compute(MS), Op::Unlock(lock)];
    let rules = |wait| LockRules::queued(wait);
    let fair = rules(LockWait::Sleep { spins: 0, again: false });
    let (report, log) = Rig::of(3).app(AppSpec { lock: fair, ..app(3, WaitMode::Block, held) }).run();
    let exits: Vec<u32> =
        log.left.iter().filter(|(.., why)| *why == LeaveReason::Exited).map(|(_, task, _)| *task).collect();
    assert_eq!(exits, [0, 1, 2]);
    assert!((3 * MS..3 * MS + 100).contains(&end(&report, 0)));
}

#[test]
fn the_master_pays_for_each_thread_that_it_creates() {
    let mut rig = Rig::of(3).app(app(3, WaitMode::Spin, vec![compute(MS)]));
    rig.machine.costs.fork = Span::from_us(20);
    let (report, log) = rig.run();
    assert_eq!(spent(&report, 0, Category::Kernel), 40 * US);
    assert_eq!(log.began, [(0, 0), (20 * US, 1), (40 * US, 2)]);
}

#[test]
fn an_application_may_arrive_later_or_after_another_one() {
    let mut late = app(1, WaitMode::Spin, vec![compute(MS)]);
    late.start = Time::from_ns(3 * MS);
    let mut next = late.clone();
    next.after = Some(AppId(0));
    let (report, _) = Rig::of(2).app(late).app(next).run();
    assert_eq!((report.apps[0].start.ns(), end(&report, 0)), (3 * MS, 4 * MS));
    assert_eq!((report.apps[1].arrived.ns(), end(&report, 1)), (7 * MS, 8 * MS));
}

#[test]
fn admission_is_first_come_first_served() {
    let job = || app(1, WaitMode::Spin, vec![compute(2 * MS)]);
    let mut rig = Rig::of(4).app(job()).app(job()).app(job());
    rig.options.admission = Admission { jobs: 1, ..Admission::UNLIMITED };
    let (report, _) = rig.run();
    let starts: Vec<u64> = report.apps.iter().map(|app| app.start.ns()).collect();
    assert_eq!(starts, [0, 2 * MS, 4 * MS]);
    assert_eq!(report.apps[2].queue_time(), Some(Span::from_ms(4)));
}

#[test]
fn a_small_job_overtakes_the_first_one_that_waits_and_does_not_delay_it() {
    // Two cpus are busy until 10 ms, the next job needs all four, the one behind it only what is free until
    // then (the example of Mu'alem and Feitelson).
    let job = |tasks: u32, ms: u64, estimate: u64| {
        let mut job = app(tasks, WaitMode::Spin, vec![compute(ms * MS)]);
        job.estimate = Some(Span::from_ms(estimate));
        job
    };
    let starts = |order, third: u64| {
        let mut rig = Rig::of(4).app(job(2, 10, 10)).app(job(4, 5, 5)).app(job(1, 8, third));
        rig.apps[2].allowed = Some(CpuSet::of([CpuId(3)]));
        rig.options.admission = Admission { tasks: 4, order, ..Admission::UNLIMITED };
        rig.run().0.apps.iter().map(|app| app.start.ns() / MS).collect::<Vec<u64>>()
    };
    assert_eq!(starts(StartOrder::Fcfs, 8), [0, 10, 15]);
    assert_eq!(starts(StartOrder::Easy, 8), [0, 10, 0]);
    assert_eq!(starts(StartOrder::Easy, 10), [0, 10, 0]);
    // By its estimate it would delay the second one: it waits.
    assert_eq!(starts(StartOrder::Easy, 11), [0, 10, 15]);
}

#[test]
fn a_job_that_outlives_its_estimate_runs_on() {
    let job = |tasks: u32, ms: u64, estimate: u64| {
        let mut job = app(tasks, WaitMode::Spin, vec![compute(ms * MS)]);
        job.estimate = Some(Span::from_ms(estimate));
        job
    };
    // The first one says 2 ms and takes 10. At 4 ms one arrives that needs 1 ms: it would end after the
    // first one, which is expected to end at once, and nothing is left over beside the second one.
    let mut rig = Rig::of(4).app(job(2, 10, 2)).app(job(4, 5, 5)).app(job(1, 1, 1));
    rig.apps[2].start = Time::from_ns(4 * MS);
    rig.options.admission = Admission { tasks: 4, order: StartOrder::Easy, ..Admission::UNLIMITED };
    let report = rig.run().0;
    let times: Vec<_> =
        report.apps.iter().map(|app| (app.start.ns() / MS, app.end.unwrap().ns() / MS)).collect();
    assert_eq!(times, [(0, 10), (10, 15), (15, 16)]);
}

#[test]
fn backfilling_without_an_estimate_is_refused() {
    let mut rig = Rig::of(4).app(app(1, WaitMode::Spin, vec![compute(MS)]));
    rig.options.admission = Admission { tasks: 4, order: StartOrder::Easy, ..Admission::UNLIMITED };
    let Rig { machine, model, apps, options, .. } = rig;
    let refused = Simulation::new(Arc::new(machine), Arc::new(model), apps, options).err().unwrap();
    assert!(refused.contains("without an estimate"), "{refused}");
}

#[test]
fn an_operation_may_take_longer_than_clocks_hold() {
    // 35 minutes at nominal speed, 5.8 hours here: the clocks of work hold 2.4 hours.
    let mut slow = Rig::of(1).app(app(1, WaitMode::Spin, vec![compute(2_100_000 * MS)]));
    slow.machine.core_speed = vec![Speed::ratio(1, 10)];
    slow.options.horizon = Time::from_ns(100_000_000 * MS);
    let (report, _) = slow.run();
    assert_eq!(end(&report, 0).div_ceil(1_000 * MS), 21_001);
    assert_eq!(report.apps[0].counters.work_done_ns, 2_100_000 * MS);
}

// Cores and memory.

#[test]
fn two_tasks_that_want_more_than_the_controller_has_slow_each_other() {
    // Each draws 10 GB/s from a controller of 10 GB/s, so two cannot end before 20 ms.
    let run = |tasks| {
        let mut rig = Rig::of(2).app(app(tasks, WaitMode::Spin, vec![compute(10 * MS)]));
        let memory = MemoryProfile { demand: 10_000_000_000, bound: Some(1 << 16), ..MemoryProfile::NONE };
        rig.apps[0].program = Arc::new(Program::new(vec![compute(10 * MS)], vec![memory]).unwrap());
        rig.machine.memory.core_bandwidth = 10_000_000_000;
        end(&rig.run().0, 0)
    };
    let (alone, both) = (run(1), run(2));
    assert!(both >= 20 * MS, "{both}");
    assert!(both > alone && both < 2 * alone + MS, "{alone} alone, {both} together");
}

#[test]
fn a_hardware_thread_is_slower_while_its_sibling_computes() {
    let mut rig = Rig::of(2).app(app(2, WaitMode::Spin, vec![compute(6 * MS)]));
    rig.machine.topology = Topology::new(&[(Level::Core, 1), (Level::Thread, 2)]).unwrap();
    rig.machine.smt.compute = 600;
    let (report, _) = rig.run();
    // Speeds are held as fixed-point numbers.
    assert_near(end(&report, 0), 10 * MS, 200);
    assert_near(spent(&report, 0, Category::Smt), 4 * MS, 200);
}

// Endings.

/// An idle cpu pulls the task that runs on the other one, which is idle then.
struct PingPong;

impl Policy for PingPong {
    fn init(&mut self, system: &mut dyn System) {
        system.at(Time::from_ns(500_000), Timer::Token(0));
    }
    fn select_cpu(&mut self, _: &dyn View, _: TaskId, _: Placement) -> CpuChoice {
        CpuId(1).into()
    }
    fn timer(&mut self, system: &mut dyn System, _: Timer) {
        system.migrate(TaskId(0), CpuId(0), Why::default());
    }
    fn idle(&mut self, system: &mut dyn System, cpu: CpuId) {
        system.migrate(TaskId(0), cpu, Why::default());
    }
}

#[test]
#[cfg_attr(miri, ignore = "10,000 rounds")]
fn an_instant_that_does_not_end_is_a_livelock() {
    let report = test_simulation(2, 1).run(&mut PingPong, &mut ());
    let Outcome::Livelock(message) = &report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!(message, "10000 rounds at @500000ns did not end the instant");
}

/// Each timer arms the next one for the same instant.
struct Rearmed;

impl Policy for Rearmed {
    fn init(&mut self, system: &mut dyn System) {
        system.at(Time::from_ns(500_000), Timer::Token(0));
    }
    fn select_cpu(&mut self, _: &dyn View, _: TaskId, _: Placement) -> CpuChoice {
        CpuId(0).into()
    }
    fn timer(&mut self, system: &mut dyn System, timer: Timer) {
        system.at(system.now(), timer);
    }
}

#[test]
fn timers_of_one_instant_without_end_are_a_livelock() {
    let report = test_simulation(2, 1).run(&mut Rearmed, &mut ());
    let Outcome::Livelock(message) = &report.outcome else { panic!("{:?}", report.outcome) };
    assert_eq!(message, "10033 timers that the policy armed at @500000ns did not end the instant");
}

#[test]
fn the_horizon_cuts_a_run_off() {
    let mut rig = Rig::of(1).app(app(1, WaitMode::Spin, vec![compute(10 * MS)]));
    rig.options.horizon = Time::from_ns(4 * MS);
    let (report, _) = rig.run();
    assert_eq!((report.outcome.clone(), report.apps[0].end), (Outcome::Horizon, None));
    assert_eq!(report.apps[0].counters.work_done_ns, 4 * MS);
}

#[test]
fn each_nanosecond_of_each_cpu_is_in_one_category() {
    let mut rig =
        Rig::of(3).app(app(5, WaitMode::Block, vec![compute(MS), Op::Barrier, compute(MS), Op::Barrier]));
    rig.machine.costs.wake = Span::from_us(3);
    rig.machine.costs.switch_thread = Span::from_us(2);
    let (report, _) = rig.run();
    for cpu in &report.cpus {
        assert_eq!(cpu.total().ns(), report.makespan.ns());
    }
}

#[test]
fn more_memory_profiles_than_a_task_can_name_are_refused() {
    let (machine, model) = (Arc::new(test_machine(1)), Rig::of(1).model);
    let mut many = app(1, WaitMode::Yield, vec![compute(MS)]);
    many.program = Arc::new(Program::new(vec![compute(MS)], vec![MemoryProfile::NONE; 1 << 12]).unwrap());
    // 16 times 4,097 are more than 65,536, 15 times are not.
    let refused = |apps| {
        let apps = vec![many.clone(); apps];
        Simulation::new(machine.clone(), Arc::new(model.clone()), apps, Options::default()).err()
    };
    assert_eq!(refused(15), None);
    let said = refused(16).expect("too many");
    assert!(said.starts_with("at most 65536 memory profiles") && said.contains("65552"), "{said}");
}

#[test]
fn polls_before_a_yield_take_at_most_the_longest_poll() {
    let legal = |count| {
        let mut waiting = app(1, WaitMode::Yield, vec![compute(MS)]);
        waiting.runtime.polling.looks = PollsPerYield { count, each: Span::from_us(1) };
        let rig = Rig::of(1).app(waiting);
        Simulation::new(Arc::new(rig.machine), Arc::new(rig.model), rig.apps, rig.options).is_ok()
    };
    assert_eq!([0, 1, 10_000, 10_001, 20_000].map(legal), [false, true, true, false, false]);
}

#[test]
fn eevdf_and_task_groups_have_limits() {
    let refused = |params: EevdfParams, groups: usize| {
        let mut rig = Rig::of(1).app(app(1, WaitMode::Spin, vec![compute(MS)]));
        rig.model.discipline = Discipline::Eevdf(params);
        let group =
            |number| TaskGroup { name: format!("g{number}"), parent: None, weight: 1024, limit: None };
        rig.model.groups = (0..groups).map(group).collect();
        Simulation::new(Arc::new(rig.machine), Arc::new(rig.model), rig.apps, rig.options).err()
    };
    let params = EevdfParams::scaled(1);
    assert_eq!([0, 1_000].map(|groups| refused(params, groups)), [None, None]);
    assert_eq!(refused(params, 1_001).as_deref(), Some("at most 1000 task groups, these are 1001"));
    let late = |jitter| refused(EevdfParams { tick_jitter: jitter, ..params }, 0);
    assert_eq!(late(Span::from_us(999)), None);
    let said = late(Span::from_ms(1)).expect("a tick as late as the next one");
    assert_eq!(said, "ticks must be late by less than their period");
    let short = refused(EevdfParams { slice: Span::from_ns(999), ..params }, 0).expect("a short slice");
    assert!(short.contains("slice"), "{short}");
}
