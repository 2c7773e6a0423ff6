//! Homes, idle cpus and ties by hand on a Sun Fire E25K.

use super::*;
use crate::fake::FakeSystem;
use notation::parameter::Values;
use sim_core::ids::AppId;

/// A Sun Fire E25K: 18 boards of 4 packages of 2 cores.
const STARCAT: [(Tree, u32); 3] = [(Tree::Node, 18), (Tree::Package, 4), (Tree::Core, 2)];

fn on(system: &FakeSystem, changes: &[(&str, u64)]) -> Lgroup {
    let mut values = Values::defaults(Parameters::TABLE);
    for (name, value) in changes {
        values.set(name, *value).unwrap();
    }
    Lgroup::new(
        &Parameters::from(&values),
        &Setting { entry: &ENTRY, machine: &system.machine, kernel: &system.kernel, apps: &[] },
    )
}

/// Creates all threads of a new program; the boards of their homes.
fn start(system: &mut FakeSystem, policy: &mut Lgroup, threads: u32) -> Vec<u32> {
    let app: AppId = system.add_app(threads, false);
    let tasks: Vec<TaskId> = system.apps[app.index()].task_ids().collect();
    for task in &tasks {
        let cpu = policy.select_cpu(system, *task, Placement::Fork { parent: CpuId(0) }).cpu;
        system.enter(policy, *task, cpu);
    }
    tasks.iter().map(|task| policy.threads[task.index()].home.unwrap()).collect()
}

#[test]
fn a_program_stays_on_a_board_until_it_carries_more_than_three_threads() {
    let mut system = FakeSystem::new(&STARCAT);
    let mut policy = on(&system, &[]);
    // The fifth thread finds four on the board, more than three: it opens the next board.
    assert_eq!(start(&mut system, &mut policy, 8), [0, 0, 0, 0, 1, 1, 1, 1]);
    // They run on their boards.
    let boards = system.tasks.iter().map(|task| task.view.cpu.0 / 8).collect::<Vec<_>>();
    assert_eq!(boards, [0, 0, 0, 0, 1, 1, 1, 1]);
    // The next program takes the board that was longest not chosen.
    assert_eq!(start(&mut system, &mut policy, 2), [2, 2]);
    // The generic kernel spreads after the first thread.
    let mut system = FakeSystem::new(&STARCAT);
    let mut policy = on(&system, &[("threshold", 950), ("difference", 916)]);
    assert_eq!(start(&mut system, &mut policy, 4), [0, 1, 2, 3]);
}

#[test]
fn with_an_idle_cpu_nobody_waits() {
    let mut system = FakeSystem::new(&STARCAT);
    let mut policy = on(&system, &[]);
    start(&mut system, &mut policy, 144);
    assert_eq!(system.counts(), [1; 144]);
    // One more waits; a cpu that falls idle on the other end of the machine takes it at once.
    start(&mut system, &mut policy, 1);
    assert_eq!(system.counts().iter().filter(|count| **count == 2).count(), 1);
    let overloaded = system.counts().iter().position(|count| *count == 2).unwrap() as u32;
    let far = CpuId((overloaded + 72) % 144);
    let running = system.current(far).unwrap();
    system.leave(&mut policy, running, TaskState::Exited);
    policy.idle(&mut system, far);
    assert_eq!(system.counts(), [1; 144]);
}

#[test]
fn ties_fall_at_random_or_to_the_last_cpu() {
    let places = |ties: u64| {
        let mut system = FakeSystem::new(&STARCAT);
        let mut policy = on(&system, &[("ties", ties)]);
        start(&mut system, &mut policy, 144);
        let daemon = TaskId(144);
        system.add_app(1, true);
        let mut places = Vec::new();
        policy.thread(daemon).home = Some(5);
        for _ in 0..20 {
            let why = Placement::Wake { waker: CpuId(0), previous: CpuId(42) };
            places.push(policy.select_cpu(&system, daemon, why).cpu.0);
        }
        places.sort_unstable();
        places.dedup();
        places
    };
    assert!(places(0).len() > 15);
    assert_eq!(places(1), [42]);
}

#[test]
fn loads_age_by_a_twentieth_each_tenth_of_a_second() {
    let mut group = Group { load: 20_000, ..Group::default() };
    group.age(Time::from_ns(100_000_000));
    assert_eq!(group.load, 19_000);
    group.runnable = 1;
    group.age(Time::from_ns(60_000_000_000));
    assert_eq!(group.load, THREAD);
}

#[test]
fn displaced_threads_are_stolen_or_handed_on() {
    let mut system = FakeSystem::new(&STARCAT);
    let mut policy = on(&system, &[]);
    start(&mut system, &mut policy, 144);
    start(&mut system, &mut policy, 1);
    let odd = TaskId(144);
    let cpu = system.tasks[odd.index()].view.cpu;
    let home = policy.threads[odd.index()].home.unwrap();
    // Nothing is idle: at home it stays where it was, behind the one that took its cpu; at the end of a
    // quantum it goes to the next cpu of the board, where fewer wait.
    assert_eq!(cpu.0 / 8, home);
    policy.preempted(&mut system, odd, cpu, Preemption::Preempted);
    assert_eq!(system.tasks[odd.index()].view.cpu, cpu);
    policy.preempted(&mut system, odd, cpu, Preemption::Expired);
    let next = CpuId(home * 8 + (cpu.0 + 1) % 8);
    assert_eq!(system.tasks[odd.index()].view.cpu, next);
    // An idle cpu at the other end of the machine steals it.
    let far = CpuId((next.0 + 72) % 144);
    let running = system.current(far).unwrap();
    system.leave(&mut policy, running, TaskState::Exited);
    policy.preempted(&mut system, odd, next, Preemption::Preempted);
    assert_eq!(system.tasks[odd.index()].view.cpu, far);
}

#[test]
fn a_thread_away_from_home_returns_when_a_quantum_has_begun_within_the_last_tick() {
    let mut system = FakeSystem::new(&STARCAT);
    let mut policy = on(&system, &[]);
    system.add_app(1, false);
    let (task, tick) = (TaskId(0), system.kernel.tick);
    policy.thread(task).home = Some(0);
    system.enter(&mut policy, task, CpuId(8));
    for (used, moves) in [(tick, 0), (tick - Span::from_ns(1), 1)] {
        system.quantum = Some((used, tick * 2 - used));
        policy.timer(&mut system, Timer::Token(0));
        assert_eq!(system.moves.len(), moves, "{used:?} of the quantum are used");
    }
    assert_eq!(system.moves, [(task, CpuId(0))]);
}
