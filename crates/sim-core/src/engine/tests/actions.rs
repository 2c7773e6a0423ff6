//! What policies do to tasks: what is refused, what it costs, and when it takes effect.

use super::*;

#[test]
fn a_task_moves_only_where_its_mask_allows() {
    let mut rig = Rig::of(2).app(app(2, WaitMode::Spin, vec![compute(4 * MS)]));
    rig.apps[0].allowed = Some(CpuSet::of([CpuId(0)]));
    let rig = rig.at(MS, |system| assert!(!system.migrate(TaskId(1), CpuId(1), Why::rule("test"))));
    let (report, _) = rig.run();
    assert_eq!((report.corrections, report.apps[0].counters.migrations), (1, 0));
    assert_eq!(spent(&report, 1, Category::Compute), 0);
}

#[test]
fn what_does_not_exist_is_refused_and_counted() {
    let rig = Rig::of(2).app(app(1, WaitMode::Spin, vec![compute(4 * MS)]));
    let (report, _) = rig
        .at(MS, |system| {
            let (task, cpu, why) = (TaskId(1), CpuId(2), Why::rule("test"));
            assert!(!system.migrate(task, CpuId(1), why) && !system.migrate(TaskId(0), cpu, why));
            assert!(!system.set_affinity(task, Affinity::All, why) && !system.set_priority(task, 1, why));
            assert!(!system.yield_to(TaskId(0), task, why));
            system.charge(cpu, Span::from_ms(1), false);
            system.at(Time::ZERO, Timer::Tick(cpu));
            // A tick that never comes is no fault.
            system.at(Time::NEVER, Timer::Tick(CpuId(1)));
        })
        .run();
    assert_eq!(report.corrections, 7);
    assert_eq!(end(&report, 0), 4 * MS);
}

#[test]
fn the_records_of_task_groups_are_no_tasks() {
    let mut rig = Rig::of(2).app(app(1, WaitMode::Spin, vec![compute(4 * MS)]));
    rig.model.discipline = Discipline::Eevdf(EevdfParams::scaled(2));
    rig.model.groups = vec![TaskGroup { name: "g".into(), parent: None, weight: 1024, limit: None }];
    let (report, _) = rig
        .at(MS, |system| {
            for record in 1..=4 {
                let (task, why) = (TaskId(record), Why::rule("test"));
                assert!(!system.migrate(task, CpuId(1), why) && !system.yield_to(TaskId(0), task, why));
                assert!(!system.set_affinity(task, Affinity::One(CpuId(1)), why));
            }
        })
        .run();
    assert_eq!(report.corrections, 12);
}

#[test]
fn a_mask_that_forbids_the_cpu_moves_the_task_at_once() {
    let rig = Rig::of(2).app(app(1, WaitMode::Spin, vec![compute(4 * MS)]));
    let rig = rig.at(MS, |system| {
        let there = Affinity::One(CpuId(1));
        assert!(system.set_affinity(TaskId(0), there, Why::rule("test")));
    });
    let (report, _) = rig.run();
    assert_eq!(spent(&report, 0, Category::Compute), MS);
    assert_eq!(spent(&report, 1, Category::Compute), 3 * MS);
}

#[test]
fn a_migration_is_paid_by_the_cpu_that_receives_the_task() {
    let mut rig = Rig::of(2).app(app(1, WaitMode::Spin, vec![compute(4 * MS)]));
    rig.machine.costs.migration = Span::from_us(50);
    let (report, _) =
        rig.at(MS, |system| assert!(system.migrate(TaskId(0), CpuId(1), Why::rule("test")))).run();
    assert_eq!(
        (spent(&report, 0, Category::Migration), spent(&report, 1, Category::Migration)),
        (0, 50 * US)
    );
}

#[test]
fn a_move_within_a_shared_cache_costs_the_private_one_and_a_longer_one_all() {
    let acts: [(Act, u64); 2] = [
        (|system| assert!(system.migrate(TaskId(0), CpuId(1), Why::rule("test"))), 1 << 20),
        (|system| assert!(system.migrate(TaskId(0), CpuId(2), Why::rule("test"))), 2 << 20),
    ];
    for (act, bytes) in acts {
        let mut rig = Rig::of(4).app(app(1, WaitMode::Spin, vec![]));
        let levels = [(Level::Package, 1), (Level::Cache, 2), (Level::Core, 2)];
        rig.machine.topology = Topology::new(&levels).unwrap();
        rig.machine.memory.private_cache = 1 << 20;
        rig.machine.memory.shared_cache = 4 << 20;
        let memory = MemoryProfile { working_set: 2 << 20, ..MemoryProfile::NONE };
        rig.apps[0].program = Arc::new(Program::new(vec![compute(20 * MS)], vec![memory]).unwrap());
        let (report, _) = rig.at(10 * MS, act).run();
        let refill: u64 = (0..4).map(|cpu| spent(&report, cpu, Category::Refill)).sum();
        // At 5 GB/s.
        assert_eq!(refill, bytes / 5, "{bytes} bytes are to be fetched again");
    }
}

#[test]
fn a_throttled_task_does_not_run_until_its_priority_is_restored() {
    let rig = Rig::of(1).app(app(1, WaitMode::Spin, vec![compute(4 * MS)]));
    let rig = rig.at(MS, |system| assert!(system.set_priority(TaskId(0), THROTTLED, Why::rule("test"))));
    let rig = rig.at(6 * MS, |system| assert!(system.set_priority(TaskId(0), 0, Why::rule("test"))));
    let (report, _) = rig.run();
    assert_eq!(end(&report, 0), 9 * MS);
    assert_eq!(spent(&report, 0, Category::Idle), 5 * MS);
}

#[test]
fn a_deadlock_names_the_tasks_that_are_waited_for() {
    // Who gets the lock keeps it.
    let keeps = |tasks| app(tasks, WaitMode::Block, vec![Op::Lock(LockId(0)), compute(MS)]);
    let background = AppSpec { background: true, ..keeps(2) };
    let (report, _) = Rig::of(1).app(keeps(3)).app(background).run();
    let Outcome::Deadlock(message) = report.outcome else { panic!("{:?}", report.outcome) };
    let last = "; test rank 2 waits for the lock 0, which test rank 0 holds";
    assert!(message.starts_with("2 tasks wait") && message.ends_with(last), "{message}");
}

#[test]
fn a_lower_priority_level_runs_first() {
    let rig = Rig::of(1).app(app(2, WaitMode::Spin, vec![compute(4 * MS)]));
    let rig = rig.at(MS, |system| assert!(system.set_priority(TaskId(0), 1, Why::rule("test"))));
    let (_, log) = rig.run();
    assert_eq!(log.began, [(0, 0), (MS, 1), (5 * MS, 0)]);
}

/// Rank r on cpu r modulo 2. The first task that loses its cpu takes task 1 to cpu 0.
#[derive(Default)]
struct Taker(Vec<(u64, TaskId, CpuId)>);

impl Policy for Taker {
    fn select_cpu(&mut self, view: &dyn View, task: TaskId, _: Placement) -> CpuChoice {
        CpuId(view.task(task).rank % 2).into()
    }
    fn watches(&self) -> Watches {
        Watches { preemptions: true, ..Watches::default() }
    }
    fn preempted(&mut self, system: &mut dyn System, task: TaskId, cpu: CpuId, _: Preemption) {
        if self.0.is_empty() {
            assert!(system.migrate(TaskId(1), CpuId(0), Why::rule("test")));
        }
        self.0.push((system.now().ns(), task, cpu));
    }
}

#[test]
fn a_preempted_task_that_was_moved_at_this_instant_is_not_reported() {
    let mut rig = Rig::of(2).app(app(4, WaitMode::Spin, vec![compute(30 * MS)]));
    rig.model.discipline = Discipline::Ts(TIME_SHARING);
    let (machine, model) = (Arc::new(rig.machine), Arc::new(rig.model));
    let mut taker = Taker::default();
    Simulation::new(machine, model, rig.apps, rig.options).unwrap().run(&mut taker, &mut ());
    // At 20 ms the quanta of tasks 0 and 1 end.
    let first: Vec<_> = taker.0.iter().filter(|(at, ..)| *at == 20 * MS).collect();
    assert_eq!(first, [&(20 * MS, TaskId(0), CpuId(0))]);
}
