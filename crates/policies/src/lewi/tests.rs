//! `LEWI` by hand: lending, returns, the kept cpu, the grain.

use super::*;
use crate::fake::FakeSystem;
use sim_core::machine::Level as Tree;
use sim_core::wait::Scope;

/// Two cpus with two tasks each; processes of `process` tasks.
fn scene(lewi: Lewi, process: u32) -> (FakeSystem, Lewi, Vec<TaskId>) {
    let (mut system, mut lewi) = (FakeSystem::new(&[(Tree::Core, 2)]), lewi);
    let app = system.add_app(4, false);
    system.apps[0].process = process;
    lewi.init(&mut system);
    lewi.app_started(&mut system, app);
    let tasks: Vec<TaskId> = system.apps[0].task_ids().collect();
    for (task, cpu) in tasks.iter().zip([0, 0, 1, 1]) {
        system.enter(&mut lewi, *task, CpuId(cpu));
    }
    lewi.app_ready(&mut system, app);
    assert_eq!(system.homes(app), [0, 0, 1, 1].map(Some));
    (system, lewi, tasks)
}

fn wait(system: &mut FakeSystem, lewi: &mut Lewi, task: TaskId) {
    system.in_vain.push(task);
    lewi.waits(system, task, Awaited::Barrier(Scope::All));
}

fn plain() -> Lewi {
    Lewi::new((Span::ZERO, Span::from_us(1)), 1, false, true)
}

#[test]
fn an_idle_cpu_is_lent_and_taken_back() {
    let (mut system, mut lewi, tasks) = scene(plain(), 2);
    wait(&mut system, &mut lewi, tasks[0]);
    assert_eq!(system.homes(AppId(0)), [0, 0, 1, 1].map(Some));
    wait(&mut system, &mut lewi, tasks[1]);
    // The queued one of the other cpu, not the one that runs.
    assert_eq!(system.homes(AppId(0)), [0, 0, 1, 0].map(Some));
    assert_eq!(system.charges, [(CpuId(0), Span::from_us(1), true)]);
    assert!(system.reasons.last().unwrap().rule.starts_with("lent"));
    system.in_vain.clear();
    lewi.proceeds(&mut system, tasks[0]);
    assert_eq!(system.homes(AppId(0)), [0, 0, 1, 1].map(Some));
}

#[test]
fn a_guest_that_waits_goes_home_and_an_idle_cpu_calls_its_own_back() {
    for first in [3, 2] {
        let (mut system, mut lewi, tasks) = scene(plain(), 2);
        wait(&mut system, &mut lewi, tasks[0]);
        wait(&mut system, &mut lewi, tasks[1]);
        wait(&mut system, &mut lewi, tasks[first]);
        assert_eq!(system.homes(AppId(0)), [0, 0, 1, 1].map(Some), "task {first} waits");
        assert!(lewi.cpus.iter().all(|place| place.guests.is_empty() && place.away.is_empty()));
    }
}

#[test]
fn a_process_keeps_a_cpu_to_poll_on() {
    for (process, guests) in [(2, 0), (4, 1)] {
        let (mut system, mut lewi, tasks) =
            scene(Lewi::new((Span::ZERO, Span::ZERO), 1, true, true), process);
        wait(&mut system, &mut lewi, tasks[0]);
        wait(&mut system, &mut lewi, tasks[1]);
        assert_eq!(lewi.cpus[CpuId(0)].guests.len(), guests, "processes of {process}");
    }
}

#[test]
fn a_short_wait_is_not_worth_lending_for() {
    let grain = Span::from_ms(1);
    let (mut system, mut lewi, tasks) = scene(Lewi::new((grain, Span::ZERO), 1, false, true), 2);
    wait(&mut system, &mut lewi, tasks[0]);
    wait(&mut system, &mut lewi, tasks[1]);
    assert_eq!((system.timers.clone(), lewi.cpus[CpuId(0)].guests.len()), (vec![(Time::ZERO + grain, 0)], 0));
    system.now = Time::ZERO + grain;
    lewi.timer(&mut system, Timer::Token(0));
    assert_eq!(system.homes(AppId(0)), [0, 0, 1, 0].map(Some));
}

#[test]
fn applications_own_cpus_of_their_own_and_the_cpus_of_an_ended_one_are_to_let() {
    let mut system = FakeSystem::new(&[(Tree::Core, 4)]);
    let (a, b) = (system.add_app(4, false), system.add_app(2, false));
    let mut lewi = plain();
    lewi.init(&mut system);
    lewi.app_started(&mut system, a);
    lewi.app_started(&mut system, b);
    assert_eq!(system.homes(a), [0, 0, 1, 1].map(Some));
    assert_eq!(system.homes(b), [2, 3].map(Some));
    for (task, cpu) in [0, 0, 1, 1, 2, 3].into_iter().enumerate() {
        system.enter(&mut lewi, TaskId::new(task), CpuId(cpu));
    }
    lewi.app_ready(&mut system, b);
    for task in [4, 5] {
        system.leave(&mut lewi, TaskId(task), TaskState::Exited);
    }
    lewi.app_exited(&mut system, b);
    assert_eq!(system.homes(a), [0, 2, 1, 3].map(Some));
}

#[test]
fn who_is_released_counts_before_it_runs() {
    let (mut system, mut lewi, tasks) = scene(plain(), 2);
    for task in [0, 2, 1] {
        wait(&mut system, &mut lewi, tasks[task]);
    }
    assert_eq!(lewi.at_home(CpuId(1)), 1);
    system.in_vain.clear();
    lewi.proceeds(&mut system, tasks[0]);
    assert_eq!((lewi.at_home(CpuId(0)), lewi.at_home(CpuId(1))), (2, 2));
}
