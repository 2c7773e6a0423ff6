//! Directed yields: who is chosen, where, and how often.

use super::*;
use crate::fake::FakeSystem;
use sim_core::machine::Level as Tree;

/// Two cpus with three tasks each, the first of each running.
fn scene(anywhere: bool, limit: u64) -> (FakeSystem, YieldTo, Vec<TaskId>) {
    let mut system = FakeSystem::new(&[(Tree::Core, 2)]);
    let interval = Span::from_ms(1);
    let (apps, tasks, queue) = (Vec::new(), Vec::new(), Vec::new());
    let mut policy = YieldTo { anywhere, interval, limit, apps, tasks, queue, offers: Offers::default() };
    let tasks = system.fill(&mut policy, &[3, 3]);
    policy.app_started(&mut system, AppId(0));
    (system, policy, tasks)
}

const ALL: Awaited = Awaited::Barrier(Scope::All);

#[test]
fn the_local_straggler_that_waits_longest_comes_first() {
    let (mut system, mut policy, tasks) = scene(true, 0);
    system.now = Time::from_ns(1_000);
    system.tasks[1].view.last_ran = Time::from_ns(500);
    policy.waits(&mut system, tasks[0], ALL);
    assert_eq!(system.yields, [(tasks[0], tasks[2])]);
    assert_eq!(system.timers, [(Time::from_ns(1_001_000), 0)]);
    let why = system.reasons[0];
    assert_eq!(why.facts[0], ("straggler last ran, ns ago", 1_000));
}

#[test]
fn elsewhere_only_where_no_straggler_runs() {
    for (anywhere, expected) in [(false, 0), (true, 1)] {
        let (mut system, mut policy, tasks) = scene(anywhere, 0);
        for waiting in [1, 2] {
            system.in_vain.push(tasks[waiting]);
            policy.waits(&mut system, tasks[waiting], ALL);
        }
        system.yields.clear();
        // On the other cpu a straggler runs: nobody is served by interrupting it.
        policy.waits(&mut system, tasks[0], ALL);
        assert!(system.yields.is_empty());
        system.in_vain.push(tasks[3]);
        policy.waits(&mut system, tasks[3], ALL);
        system.yields.clear();
        system.now = Time::ZERO + Span::from_ms(1);
        policy.timer(&mut system, Timer::Token(0));
        assert_eq!(system.yields.len(), expected, "anywhere: {anywhere}");
    }
}

#[test]
fn a_team_waits_for_its_own_stragglers() {
    let (mut system, mut policy, tasks) = scene(true, 0);
    policy.apps[0].as_mut().unwrap().process = 2;
    policy.waits(&mut system, tasks[0], Awaited::Barrier(Scope::Team));
    assert_eq!(system.yields, [(tasks[0], tasks[1])]);
    policy.proceeds(&mut system, tasks[0]);
    policy.waits(&mut system, tasks[0], Awaited::Barrier(Scope::Leaders));
    assert_eq!(system.yields[1], (tasks[0], tasks[2]));
}

#[test]
fn a_straggler_is_still_on_offer_after_it_has_moved_to_a_cpu_visible_before_its_old_one() {
    let mut system = FakeSystem::new(&[(Tree::Core, 3)]);
    let (interval, offers) = (Span::from_ms(1), Offers::default());
    let (apps, tasks, queue) = (Vec::new(), Vec::new(), Vec::new());
    let mut policy = YieldTo { anywhere: true, interval, limit: 0, apps, tasks, queue, offers };
    let tasks = system.fill(&mut policy, &[1, 1, 2]);
    policy.app_started(&mut system, AppId(0));
    let late = *tasks.iter().find(|task| system.task(**task).state == TaskState::Queued).unwrap();
    let running: Vec<TaskId> = (0..3).filter_map(|cpu| system.current(CpuId(cpu))).collect();
    system.in_vain.extend(&running);
    policy.waits(&mut system, running[0], ALL);
    assert!(system.migrate(late, CpuId(1), Why::NONE));
    policy.waits(&mut system, running[0], ALL);
    assert_eq!(system.yields, [(running[0], late); 2]);
}

#[test]
fn the_limit_ends_a_wait_s_yields() {
    let (mut system, mut policy, tasks) = scene(true, 1);
    policy.waits(&mut system, tasks[0], ALL);
    assert_eq!((system.yields.len(), system.timers.len()), (1, 0));
}

#[test]
fn a_task_is_on_offer_once_its_wait_ends_though_nothing_happens_on_its_cpu() {
    let (mut system, mut policy, tasks) = scene(true, 0);
    system.in_vain = tasks.iter().copied().filter(|task| *task != tasks[4]).collect();
    system.tasks[4].view.wait_ends = Some(Time::from_ns(1_500_000));
    policy.waits(&mut system, tasks[0], ALL);
    system.quiet = true;
    for (ms, yields) in [(1, 0), (2, 1)] {
        system.now = Time::ZERO + Span::from_ms(ms);
        policy.timer(&mut system, Timer::Token(0));
        assert_eq!(system.yields.len(), yields, "at {ms} ms");
    }
    assert_eq!(system.yields, [(tasks[0], tasks[4])]);
}
