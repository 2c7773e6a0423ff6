//! The Ousterhout matrix by hand: admission, turns, alternates, unification, costs.

use super::*;
use crate::fake::FakeSystem;
use notation::parameter::Values;
use sim_core::ids::Id;
use sim_core::machine::Level as Tree;

fn policy(cpus: u32) -> (FakeSystem, Box<dyn Policy>) {
    with(cpus, &[])
}

/// A policy with some parameters set; choices by position, per cent in hundredths.
fn with(cpus: u32, settings: &[(&str, u64)]) -> (FakeSystem, Box<dyn Policy>) {
    let system = FakeSystem::new(&[(Tree::Core, cpus)]);
    let mut values = Values::defaults(Parameters::TABLE);
    for (name, value) in settings {
        values.set(name, *value).unwrap();
    }
    let gang = build(
        &values,
        &Setting { entry: &ENTRY, machine: &system.machine, kernel: &system.kernel, apps: &[] },
    );
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

fn priorities(system: &FakeSystem, apps: &[AppId]) -> Vec<u8> {
    apps.iter().map(|app| system.tasks[system.apps[app.0 as usize].tasks.start as usize].priority).collect()
}

#[test]
fn small_gangs_share_a_slot_and_large_ones_take_turns() {
    let (mut system, mut gang) = policy(4);
    let apps = start(&mut system, &mut *gang, &[2, 4, 2]);
    assert_eq!(system.homes(apps[0]), [0, 1].map(Some));
    assert_eq!(system.homes(apps[1]), [0, 1, 2, 3].map(Some));
    // First fit: the third gang goes beside the first.
    assert_eq!(system.homes(apps[2]), [2, 3].map(Some));
    assert_eq!(priorities(&system, &apps), [ACTIVE, FILL_IN, ACTIVE]);
    assert_eq!(system.slots, [Time::from_ns(100_000_000)]);
    system.now = system.slots[0];
    gang.timer(&mut system, Timer::Slot);
    assert_eq!(priorities(&system, &apps), [FILL_IN, ACTIVE, FILL_IN]);
    assert_eq!(system.slots[1], Time::from_ns(200_000_000));
}

#[test]
fn an_oversubscribed_gang_shares_its_columns() {
    let (mut system, mut gang) = policy(2);
    let apps = start(&mut system, &mut *gang, &[5]);
    assert_eq!(system.homes(apps[0]), [0, 1, 0, 1, 0].map(Some));
    assert!(system.slots.is_empty(), "one slot is never switched");
    assert!(system.charges.is_empty());
}

#[test]
fn whole_jobs_in_empty_columns_come_before_fill_in() {
    let (mut system, mut gang) = policy(4);
    // Slot 0: a (3 of 4 columns). Slot 1: b (2). Slot 2: c (4). d (1) fits into slot 0.
    let apps = start(&mut system, &mut *gang, &[3, 2, 4, 1]);
    assert_eq!(system.homes(apps[3]), [Some(3)]);
    system.now = Time::from_ns(100_000_000);
    gang.timer(&mut system, Timer::Slot);
    // b has columns 0 and 1; d's column 3 is empty in that slot, a's first two are not.
    assert_eq!(priorities(&system, &apps), [FILL_IN, ACTIVE, FILL_IN, ALTERNATE]);
}

#[test]
fn a_change_of_slots_costs_every_cpu_the_broadcast() {
    let (mut system, mut gang) = policy(16);
    system.machine.costs.ipi = Span::from_us(1);
    system.machine.costs.switch_process = Span::from_us(2);
    start(&mut system, &mut *gang, &[16, 16]);
    system.now = Time::from_ns(100_000_000);
    gang.timer(&mut system, Timer::Slot);
    assert_eq!(system.charges.len(), 16);
    assert!(system.charges.iter().all(|(_, span, daemon)| *span == Span::from_us(6) && !daemon));
}

#[test]
fn an_early_slot_call_changes_nothing() {
    let (mut system, mut gang) = policy(2);
    let apps = start(&mut system, &mut *gang, &[2, 2]);
    system.now = Time::from_ns(50_000_000);
    gang.timer(&mut system, Timer::Slot);
    assert_eq!(priorities(&system, &apps), [ACTIVE, FILL_IN]);
}

#[test]
fn exits_unite_slots_and_hand_over_the_machine() {
    let (mut system, mut gang) = policy(4);
    let apps = start(&mut system, &mut *gang, &[2, 4, 2, 3]);
    assert_eq!(priorities(&system, &apps), [ACTIVE, FILL_IN, ACTIVE, FILL_IN]);
    // b (all columns) ends: slots a+c and d still overlap, so two turns remain.
    gang.app_exited(&mut system, apps[1]);
    assert_eq!(priorities(&system, &[apps[0], apps[3]]), [ACTIVE, FILL_IN]);
    // a ends: c sits on columns 2 and 3, d on 0 to 2: no union.
    gang.app_exited(&mut system, apps[0]);
    assert_eq!(priorities(&system, &[apps[2], apps[3]]), [ACTIVE, FILL_IN]);
    // c ends in its own slot: d takes over at once.
    gang.app_exited(&mut system, apps[2]);
    assert_eq!(priorities(&system, &[apps[3]]), [ACTIVE]);
}

#[test]
fn disjoint_slots_become_one() {
    let (mut system, mut gang) = policy(4);
    // Slot 0: a on 0-2. Slot 1: b on 0-1 (does not fit beside a). c fills slot 0's column 3.
    let apps = start(&mut system, &mut *gang, &[3, 2, 1]);
    gang.app_exited(&mut system, apps[0]);
    assert_eq!(priorities(&system, &apps[1..]), [ACTIVE, ACTIVE]);
    let turns = system.slots.len();
    system.now = Time::from_ns(100_000_000);
    gang.timer(&mut system, Timer::Slot);
    assert_eq!(system.slots.len(), turns, "no more slot changes");
}

#[test]
fn background_tasks_stay_outside_the_matrix() {
    let (mut system, mut gang) = policy(2);
    let hog = system.add_app(1, true);
    gang.init(&mut system);
    gang.app_started(&mut system, hog);
    assert_eq!(system.homes(hog), [None]);
    assert_eq!(gang.select_cpu(&system, TaskId(0), Placement::Fork { parent: CpuId(1) }).cpu, CpuId(0));
}

const BUDDY: (&str, u64) = ("packing", 1);
const STRICT: (&str, u64) = ("alternates", 2);

/// Goes to the next change of slots.
fn next_slot(system: &mut FakeSystem, gang: &mut dyn Policy) {
    system.now = *system.slots.last().unwrap();
    gang.timer(system, Timer::Slot);
}

#[test]
fn buddies_get_whole_blocks() {
    // First fit puts 3, 3 and 2 side by side on 8 columns.
    let (mut system, mut gang) = policy(8);
    let apps = start(&mut system, &mut *gang, &[3, 3, 2]);
    assert_eq!(system.homes(apps[1]), [3, 4, 5].map(Some));
    assert_eq!(system.homes(apps[2]), [6, 7].map(Some));
    assert!(system.slots.is_empty(), "one slot");
    // In blocks, 3 need 4: the two larger gangs fill the slot. All blocks of two are as loaded but the last
    // of each four, where one column is empty.
    let (mut system, mut gang) = with(8, &[BUDDY]);
    let apps = start(&mut system, &mut *gang, &[3, 3, 2]);
    assert_eq!(system.homes(apps[0]), [0, 1, 2].map(Some));
    assert_eq!(system.homes(apps[1]), [4, 5, 6].map(Some));
    assert_eq!(system.homes(apps[2]), [2, 3].map(Some));
    assert_eq!(priorities(&system, &apps), [ACTIVE, ACTIVE, FILL_IN]);
}

#[test]
fn the_least_loaded_block_makes_slots_unite() {
    // 4, 3 and 4 on 8 columns; the second one ends. First fit had put the third one on the first four
    // columns.
    for (settings, third, united) in [(vec![], 0, false), (vec![BUDDY], 4, true)] {
        let (mut system, mut gang) = with(8, &settings);
        let apps = start(&mut system, &mut *gang, &[4, 3, 4]);
        assert_eq!(system.homes(apps[2])[0], Some(third));
        gang.app_exited(&mut system, apps[1]);
        let priority = if united { ACTIVE } else { FILL_IN };
        assert_eq!(priorities(&system, &[apps[0], apps[2]]), [ACTIVE, priority]);
    }
}

#[test]
fn blocks_that_are_cut_short_do_for_gangs_they_hold() {
    let (mut system, mut gang) = with(12, &[BUDDY]);
    // 8 of 12, then 4 for the rest; 5 need a block of 8, and only the first is one; 9 need all.
    let apps = start(&mut system, &mut *gang, &[8, 4, 5, 9]);
    let first = |app: usize| system.homes(apps[app])[0];
    assert_eq!([first(0), first(1), first(2), first(3)], [0, 8, 0, 0].map(Some));
    assert_eq!(priorities(&system, &apps), [ACTIVE, ACTIVE, FILL_IN, FILL_IN]);
}

#[test]
fn strict_gangs_park_everybody_else() {
    let (mut system, mut gang) = with(4, &[STRICT]);
    let apps = start(&mut system, &mut *gang, &[3, 4, 1]);
    assert_eq!(priorities(&system, &apps), [ACTIVE, THROTTLED, ACTIVE]);
    next_slot(&mut system, &mut *gang);
    assert_eq!(priorities(&system, &apps), [THROTTLED, ACTIVE, THROTTLED]);
    // The others may run at once when the slot empties.
    gang.app_exited(&mut system, apps[1]);
    assert_eq!(priorities(&system, &[apps[0], apps[2]]), [ACTIVE, ACTIVE]);
    let rules: Vec<&str> = system.reasons.iter().map(|why| why.rule).collect();
    assert!(rules.contains(&"throttled until its slot is active"), "{rules:?}");
    assert!(rules.iter().all(|rule| !rule.is_empty()));
}

#[test]
fn migration_moves_a_gang_where_that_saves_a_slot() {
    // 4 on 0-3, 3 on 4-6; 4 in a second slot on 0-3. When the 3 end, 4-7 are free in the first slot.
    for migration in [0, 1] {
        let (mut system, mut gang) = with(8, &[("migration", migration)]);
        let apps = start(&mut system, &mut *gang, &[4, 3, 4]);
        gang.app_exited(&mut system, apps[1]);
        assert_eq!(system.homes(apps[2]), [0, 1, 2, 3].map(Some));
        let other = if migration == 1 { [4, 5, 6, 7] } else { [0, 1, 2, 3] };
        assert_eq!(
            system.homes(apps[0]),
            other.map(Some),
            "the first of two equally full slots is dissolved"
        );
        let priority = if migration == 1 { ACTIVE } else { FILL_IN };
        assert_eq!(priorities(&system, &[apps[0], apps[2]]), [ACTIVE, priority]);
    }
}

#[test]
fn migration_keeps_the_columns_it_can() {
    // a on 0-2 and b on 3-5 fill the first slot, c on 0-3 and d on 4-5 the second; b ends. Slots a and c+d do
    // not unite; with d gone too, c cannot go beside a (7 columns), with c gone instead d stays where it is.
    let (mut system, mut gang) = with(6, &[("migration", 1), ("unification", 0)]);
    let apps = start(&mut system, &mut *gang, &[3, 3, 4, 2]);
    gang.app_exited(&mut system, apps[1]);
    assert_eq!(priorities(&system, &[apps[0], apps[2]]), [ACTIVE, FILL_IN]);
    gang.app_exited(&mut system, apps[2]);
    assert_eq!(priorities(&system, &[apps[0], apps[3]]), [ACTIVE, ACTIVE]);
    assert_eq!(system.homes(apps[0]), [0, 1, 2].map(Some));
    assert_eq!(system.homes(apps[3]), [4, 5].map(Some));
}

#[test]
fn slots_by_threads_are_as_long_as_their_gangs_are_large() {
    let (mut system, mut gang) = with(4, &[("quantum_by", 1)]);
    // 8 tasks on 4 cpus: two quanta; 4: one; 3 beside nobody: three quarters.
    start(&mut system, &mut *gang, &[8, 4, 3]);
    for _ in 0..3 {
        next_slot(&mut system, &mut *gang);
    }
    let ms: Vec<u64> = system.slots.iter().map(|at| at.ns() / 1_000_000).collect();
    assert_eq!(ms, [200, 300, 375, 575]);
}

/// Plays turns in which each application uses this part (in per cent) of its columns, and returns who was
/// active in each.
fn turns(
    system: &mut FakeSystem,
    gang: &mut dyn Policy,
    apps: &[AppId],
    demand: &[u64],
    n: usize,
) -> Vec<Vec<usize>> {
    let mut seen = Vec::new();
    for _ in 0..n {
        let active: Vec<usize> = (0..apps.len()).filter(|i| priorities(system, apps)[*i] == ACTIVE).collect();
        let end = *system.slots.last().unwrap();
        for i in &active {
            for task in system.apps[apps[*i].index()].task_ids() {
                system.tasks[task.index()].cpu_time +=
                    Span::from_ns((end - system.now).ns() * demand[*i] / 100);
            }
        }
        seen.push(active);
        next_slot(system, gang);
    }
    seen
}

#[test]
fn gangs_that_sleep_are_paired_with_gangs_that_compute() {
    let (mut system, mut gang) = with(2, &[STRICT, ("pairing", 1), ("pair_cycles", 2)]);
    let apps = start(&mut system, &mut *gang, &[2, 2, 2]);
    // Measured apart for a cycle: 100%, 30%, 60%. The lightest goes with the heaviest; 130% is within the
    // limit.
    let seen = turns(&mut system, &mut *gang, &apps, &[100, 30, 60], 10);
    assert_eq!(seen[..3], [vec![0], vec![1], vec![2]]);
    // Two cycles of two turns, then apart again.
    assert_eq!(seen[3..7], [vec![0, 1], vec![2], vec![0, 1], vec![2]]);
    assert_eq!(seen[7..], [vec![0], vec![1], vec![2]]);
}

#[test]
fn gangs_that_compute_are_not_paired() {
    let (mut system, mut gang) = with(2, &[STRICT, ("pairing", 1)]);
    let apps = start(&mut system, &mut *gang, &[2, 2]);
    let seen = turns(&mut system, &mut *gang, &apps, &[90, 61], 6);
    assert_eq!(seen, [[0], [1], [0], [1], [0], [1]]);
}

#[test]
fn a_pair_alone_pays_for_no_changes_of_slots() {
    let (mut system, mut gang) = with(2, &[STRICT, ("pairing", 1)]);
    system.machine.costs.ipi = Span::from_us(1);
    let apps = start(&mut system, &mut *gang, &[2, 2]);
    turns(&mut system, &mut *gang, &apps, &[90, 20], 2);
    let paid = system.charges.len();
    let seen = turns(&mut system, &mut *gang, &apps, &[90, 20], 7);
    assert!(seen.iter().all(|active| *active == [0, 1]), "{seen:?}");
    assert_eq!(system.charges.len(), paid);
}

#[test]
fn the_slot_after_one_that_is_gone_begins_at_once_for_a_whole_quantum() {
    let (mut system, mut gang) = policy(4);
    system.machine.costs.ipi = Span::from_us(1);
    let apps = start(&mut system, &mut *gang, &[4, 4, 4]);
    system.now = Time::from_ns(30_000_000);
    gang.app_exited(&mut system, apps[0]);
    assert_eq!(priorities(&system, &apps[1..]), [ACTIVE, FILL_IN]);
    assert_eq!(system.charges.len(), 4);
    assert_eq!(system.slots, [100_000_000, 130_000_000].map(Time::from_ns));
}
