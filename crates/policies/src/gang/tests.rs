//! The Ousterhout matrix by hand: admission, turns, alternates, unification, costs.

use super::*;
use crate::fake::FakeSystem;
use notation::parameter::Values;
use sim_core::machine::Level as Tree;

fn policy(cpus: u32) -> (FakeSystem, Box<dyn Policy>) {
    let system = FakeSystem::new(&[(Tree::Core, cpus)]);
    let values = Values::defaults(PARAMETERS);
    let gang = build(&values, &Setting { machine: &system.machine, kernel: &system.kernel, apps: &[] });
    (system, gang)
}

fn start(system: &mut FakeSystem, gang: &mut dyn Policy, sizes: &[u32]) -> Vec<AppId> {
    let apps: Vec<AppId> = sizes.iter().map(|n| system.add_app(*n, false)).collect();
    gang.init(system);
    for app in &apps {
        gang.app_started(system, *app);
    }
    apps
}

fn bands(system: &FakeSystem, apps: &[AppId]) -> Vec<u8> {
    apps.iter().map(|app| system.tasks[system.apps[app.0 as usize].tasks.start as usize].band).collect()
}

#[test]
fn small_gangs_share_a_slot_and_large_ones_take_turns() {
    let (mut system, mut gang) = policy(4);
    let apps = start(&mut system, &mut *gang, &[2, 4, 2]);
    assert_eq!(system.homes(apps[0]), [0, 1].map(Some));
    assert_eq!(system.homes(apps[1]), [0, 1, 2, 3].map(Some));
    // First fit: the third gang goes beside the first.
    assert_eq!(system.homes(apps[2]), [2, 3].map(Some));
    assert_eq!(bands(&system, &apps), [ACTIVE, FILL_IN, ACTIVE]);
    assert_eq!(system.slots, [Time::from_ns(100_000_000)]);
    system.now = system.slots[0];
    gang.slot(&mut system);
    assert_eq!(bands(&system, &apps), [FILL_IN, ACTIVE, FILL_IN]);
    assert_eq!(system.slots[1], Time::from_ns(200_000_000));
}

#[test]
fn an_oversubscribed_gang_shares_its_columns() {
    let (mut system, mut gang) = policy(2);
    let apps = start(&mut system, &mut *gang, &[5]);
    assert_eq!(system.homes(apps[0]), [0, 1, 0, 1, 0].map(Some));
    assert!(system.slots.is_empty(), "one slot takes no turns");
    assert!(system.charges.is_empty());
}

#[test]
fn whole_jobs_in_empty_columns_come_before_fill_in() {
    let (mut system, mut gang) = policy(4);
    // Slot 0: a (3 of 4 columns). Slot 1: b (2). Slot 2: c (4). d (1) fits into slot 0.
    let apps = start(&mut system, &mut *gang, &[3, 2, 4, 1]);
    assert_eq!(system.homes(apps[3]), [Some(3)]);
    system.now = Time::from_ns(100_000_000);
    gang.slot(&mut system);
    // b has columns 0 and 1; d's column 3 is empty in that slot, a's first two are not.
    assert_eq!(bands(&system, &apps), [FILL_IN, ACTIVE, FILL_IN, ALTERNATE]);
}

#[test]
fn a_change_of_slots_costs_every_cpu_the_broadcast() {
    let (mut system, mut gang) = policy(16);
    system.machine.costs.ipi = Span::from_us(1);
    system.machine.costs.switch_process = Span::from_us(2);
    start(&mut system, &mut *gang, &[16, 16]);
    system.now = Time::from_ns(100_000_000);
    gang.slot(&mut system);
    assert_eq!(system.charges.len(), 16);
    assert!(system.charges.iter().all(|(_, span, daemon)| *span == Span::from_us(6) && !daemon));
}

#[test]
fn an_early_slot_call_changes_nothing() {
    let (mut system, mut gang) = policy(2);
    let apps = start(&mut system, &mut *gang, &[2, 2]);
    system.now = Time::from_ns(50_000_000);
    gang.slot(&mut system);
    assert_eq!(bands(&system, &apps), [ACTIVE, FILL_IN]);
}

#[test]
fn exits_unite_slots_and_hand_over_the_machine() {
    let (mut system, mut gang) = policy(4);
    let apps = start(&mut system, &mut *gang, &[2, 4, 2, 3]);
    assert_eq!(bands(&system, &apps), [ACTIVE, FILL_IN, ACTIVE, FILL_IN]);
    // b (all columns) ends: slots a+c and d still overlap, so two turns remain.
    gang.app_exited(&mut system, apps[1]);
    assert_eq!(bands(&system, &[apps[0], apps[3]]), [ACTIVE, FILL_IN]);
    // a ends: c sits on columns 2 and 3, d on 0 to 2: no union.
    gang.app_exited(&mut system, apps[0]);
    assert_eq!(bands(&system, &[apps[2], apps[3]]), [ACTIVE, FILL_IN]);
    // c ends in its own slot: d takes over at once.
    gang.app_exited(&mut system, apps[2]);
    assert_eq!(bands(&system, &[apps[3]]), [ACTIVE]);
}

#[test]
fn disjoint_slots_become_one() {
    let (mut system, mut gang) = policy(4);
    // Slot 0: a on 0-2. Slot 1: b on 0-1 (does not fit beside a). c fills slot 0's column 3.
    let apps = start(&mut system, &mut *gang, &[3, 2, 1]);
    gang.app_exited(&mut system, apps[0]);
    assert_eq!(bands(&system, &apps[1..]), [ACTIVE, ACTIVE]);
    let turns = system.slots.len();
    system.now = Time::from_ns(100_000_000);
    gang.slot(&mut system);
    assert_eq!(system.slots.len(), turns, "no more turns");
}

#[test]
fn background_tasks_stay_outside_the_matrix() {
    let (mut system, mut gang) = policy(2);
    let hog = system.add_app(1, true);
    gang.init(&mut system);
    gang.app_started(&mut system, hog);
    assert_eq!(system.homes(hog), [None]);
    assert_eq!(gang.select_cpu(&system, TaskId(0), Placement::Fork { parent: CpuId(1) }), CpuId(0));
}
