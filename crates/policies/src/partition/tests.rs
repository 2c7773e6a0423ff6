//! `PARTITION`: cuts worked out by hand, and as few moves as a search over all of them finds.

use super::*;
use crate::Choice;
use crate::fake::FakeSystem;

const BARCELONA: [(Tree, u32); 2] = [(Tree::Package, 4), (Tree::Core, 4)];
const TWO_BY_TWO: [(Tree, u32); 2] = [(Tree::Package, 2), (Tree::Core, 2)];

fn partition(system: &FakeSystem, set: impl Fn(&mut Values)) -> Partition {
    let mut choice = Choice::new(&ENTRY);
    set(&mut choice.values);
    Partition::new(&Parameters::from(&choice.values), &system.specs(), &system.machine.topology)
}

/// First cpu and number of cpus of the parts of a static cut among applications of so many threads.
fn sizes(levels: &[(Tree, u32)], threads: &[u32], set: impl Fn(&mut Values)) -> Vec<(u32, usize)> {
    let mut system = FakeSystem::new(levels);
    for threads in threads {
        system.add_app(*threads, false);
    }
    partition(&system, set)
        .parts
        .iter()
        .map(|part| (part.first().map_or(0, |cpu| cpu.0), part.len()))
        .collect()
}

#[test]
fn packages_then_cores_then_turns() {
    assert_eq!(sizes(&BARCELONA, &[4; 2], |_| ()), [(0, 8), (8, 8)]);
    assert_eq!(sizes(&BARCELONA, &[4; 3], |_| ()), [(0, 8), (8, 4), (12, 4)]);
    assert_eq!(sizes(&[(Tree::Package, 1), (Tree::Core, 4)], &[4; 3], |_| ()), [(0, 2), (2, 1), (3, 1)]);
    assert_eq!(sizes(&[(Tree::Core, 2), (Tree::Thread, 2)], &[4; 3], |_| ()), [(0, 2), (2, 2), (0, 2)]);
    assert!(sizes(&BARCELONA, &[], |_| ()).is_empty());
}

#[test]
fn units_shares_parts_and_explicit_cores() {
    let core = |values: &mut Values| values.set("unit", 1).unwrap();
    assert_eq!(sizes(&BARCELONA, &[4; 3], core), [(0, 6), (6, 5), (11, 5)]);
    // Three quarters of the threads are three of four packages; one thread of 17 still has a package of its
    // own.
    let threads = |values: &mut Values| values.set("share", 1).unwrap();
    assert_eq!(sizes(&BARCELONA, &[12, 4], threads), [(0, 12), (12, 4)]);
    assert_eq!(sizes(&BARCELONA, &[16, 1], threads), [(0, 12), (12, 4)]);
    let both = |values: &mut Values| {
        threads(values);
        core(values);
    };
    assert_eq!(sizes(&BARCELONA, &[16, 1], both), [(0, 15), (15, 1)]);
    let parts = |values: &mut Values| values.set("parts", 2).unwrap();
    assert_eq!(sizes(&BARCELONA, &[4; 5], parts), [(0, 8), (8, 8)]);
    let cores = |values: &mut Values| values.set_list("cores", vec![10, 4]).unwrap();
    assert_eq!(sizes(&BARCELONA, &[4; 2], cores), [(0, 10), (10, 4)]);
    let threaded = [(Tree::Package, 2), (Tree::Core, 4), (Tree::Thread, 2)];
    let one_and_two = |values: &mut Values| values.set_list("cores", vec![1, 2]).unwrap();
    assert_eq!(sizes(&threaded, &[4; 2], one_and_two), [(0, 2), (2, 4)]);
}

#[test]
fn largest_remainders_round_shares() {
    // 16 cores for 5 : 3 : 1 threads: 8.9, 5.3, 1.8 are 9, 5 and 2.
    assert_eq!(cut::portions(16, &[5, 3, 1], &[]), [9, 5, 2]);
    // An odd core goes to who holds more, then to the first.
    assert_eq!(cut::portions(5, &[1, 1], &[1, 4]), [2, 3]);
    assert_eq!(cut::portions(5, &[1, 1], &[]), [3, 2]);
    assert_eq!(cut::portions(4, &[100, 1, 1], &[]), [2, 1, 1]);
}

#[test]
fn tasks_are_dealt_within_their_set_and_hogs_left_alone() {
    let mut system = FakeSystem::new(&TWO_BY_TWO);
    let (a, hog, b) = (system.add_app(3, false), system.add_app(1, true), system.add_app(2, false));
    let mut partition = partition(&system, |_| ());
    for app in [a, hog, b] {
        partition.app_started(&mut system, app);
    }
    assert_eq!(system.homes(a), [0, 1, 0].map(Some));
    assert_eq!(system.homes(b), [2, 3].map(Some));
    assert_eq!(system.homes(hog), [None]);
    let reasons = &system.reasons;
    assert_eq!(reasons.len(), 5, "one for each bound task");
    assert_eq!(reasons[0].facts[..2], [("cpus of the set", 2), ("tasks", 3)]);
}

#[test]
fn unpinned_tasks_get_the_set_as_mask() {
    let mut system = FakeSystem::new(&TWO_BY_TWO);
    let apps = [system.add_app(1, false), system.add_app(1, false)];
    let mut partition = partition(&system, |values| values.set("pin", 0).unwrap());
    partition.app_started(&mut system, apps[1]);
    let allowed: Vec<bool> = (0..4).map(|cpu| system.allowed(TaskId(1), CpuId(cpu))).collect();
    assert_eq!(allowed, [false, false, true, true]);
}

#[test]
fn a_static_part_is_inherited_by_who_waits_and_found_by_who_has_none() {
    let mut system = FakeSystem::new(&BARCELONA);
    let apps: Vec<AppId> = (0..4).map(|_| system.add_app(2, false)).collect();
    let mut specs = system.specs();
    // Application 1 waits for application 0: the machine is cut in three, and it takes the part of
    // application 0.
    specs[1].after = Some(apps[0]);
    let mut waiting =
        Partition::new(&Parameters::from(&Choice::new(&ENTRY).values), &specs, &system.machine.topology);
    assert_eq!(waiting.parts.iter().map(Vec::len).collect::<Vec<_>>(), [8, 4, 4]);
    for app in [apps[0], apps[2], apps[3]] {
        waiting.app_started(&mut system, app);
    }
    waiting.app_exited(&mut system, apps[0]);
    waiting.app_started(&mut system, apps[1]);
    assert_eq!(system.homes(apps[1]), [0, 1].map(Some));
    for task in &mut system.tasks {
        task.affinity = Affinity::All;
    }
    // Two parts for four applications: a third one shares the first part until somebody leaves the second.
    let mut two = partition(&system, |values| values.set("parts", 2).unwrap());
    for app in [apps[0], apps[1], apps[2]] {
        two.app_started(&mut system, app);
    }
    assert_eq!(system.homes(apps[2]), [0, 1].map(Some));
    two.app_exited(&mut system, apps[1]);
    two.app_started(&mut system, apps[3]);
    assert_eq!(system.homes(apps[3]), [8, 9].map(Some));
}

#[test]
fn a_dynamic_cut_follows_starts_and_exits() {
    let mut system = FakeSystem::new(&BARCELONA);
    let (a, b) = (system.add_app(16, false), system.add_app(8, false));
    let mut partition = partition(&system, |values| values.set("cut", 1).unwrap());
    partition.app_started(&mut system, a);
    assert_eq!(system.homes(a), (0..16).map(Some).collect::<Vec<_>>());
    partition.app_started(&mut system, b);
    // The upper two packages change hands; the lower eight tasks stay, the others go round the lower half.
    assert_eq!(system.homes(a), (0..8).chain(0..8).map(Some).collect::<Vec<_>>());
    assert_eq!(system.homes(b), (8..16).map(Some).collect::<Vec<_>>());
    partition.app_exited(&mut system, a);
    // Eight tasks on sixteen cores: everybody has a core already, and nobody moves.
    assert_eq!(system.homes(b), (8..16).map(Some).collect::<Vec<_>>());
    let reasons = &system.reasons;
    assert!(
        reasons
            .iter()
            .any(|why| why.rule.starts_with("divided again") && why.facts[0] == ("applications", 2))
    );
}

#[test]
fn who_has_more_keeps_the_odd_package_and_tasks_spread_over_won_cores() {
    let three = [(Tree::Package, 3), (Tree::Core, 2)];
    let mut system = FakeSystem::new(&three);
    let (late, early) = (system.add_app(2, false), system.add_app(6, false));
    let mut partition = partition(&system, |values| values.set("cut", 1).unwrap());
    partition.app_started(&mut system, early);
    partition.app_started(&mut system, late);
    assert_eq!(system.homes(early), [0, 1, 2, 3, 0, 1].map(Some));
    assert_eq!(system.homes(late), [4, 5].map(Some));
    partition.app_exited(&mut system, late);
    // Two of six tasks move to the package that became free: one on each core.
    let homes = system.homes(early);
    assert_eq!(homes.iter().filter(|home| home.is_some_and(|cpu| cpu >= 4)).count(), 2);
    assert_eq!(homes[..4], [0, 1, 2, 3].map(Some));
}

#[test]
fn an_inherited_mask_bounds_the_part() {
    let mut system = FakeSystem::new(&TWO_BY_TWO);
    let (a, b) = (system.add_app(2, false), system.add_app(2, false));
    for task in 0..2 {
        system.tasks[task].affinity = Affinity::One(CpuId(3));
    }
    let mut partition = partition(&system, |values| values.set("cut", 1).unwrap());
    partition.app_started(&mut system, a);
    assert_eq!(system.homes(a), [3, 3].map(Some));
    partition.app_started(&mut system, b);
    // Its part is package 0, which its mask forbids: it keeps the mask.
    let allowed: Vec<bool> = (0..4).map(|cpu| system.allowed(TaskId(0), CpuId(cpu))).collect();
    assert_eq!(allowed, [false, false, false, true]);
    assert_eq!(system.homes(b), [2, 3].map(Some));
    partition.app_exited(&mut system, b);
    assert_eq!(system.homes(a), [3, 3].map(Some));
}

/// The fewest tasks that must move so that their numbers on `cpus` cpus differ by at most one, by trying
/// every assignment.
fn fewest_moves(cpus: usize, old: &[Option<CpuId>]) -> usize {
    let mut best = usize::MAX;
    for code in 0..cpus.pow(old.len() as u32) {
        let new: Vec<usize> = (0..old.len()).map(|task| code / cpus.pow(task as u32) % cpus).collect();
        let count = |cpu| new.iter().filter(|at| **at == cpu).count();
        let (least, most) = ((0..cpus).map(count).min().unwrap(), (0..cpus).map(count).max().unwrap());
        if most - least <= 1 {
            let moved = new.iter().zip(old).filter(|(at, old)| **old != Some(CpuId(**at as u32))).count();
            best = best.min(moved);
        }
    }
    best
}

#[test]
fn no_even_assignment_moves_fewer_tasks() {
    let topology = Topology::new(&[(Tree::Core, 8)]).unwrap();
    for case in 0u32..600 {
        let mut draws = crate::spread::Draws::new(u64::from(case), sim_core::rng::Purpose::Test, 0);
        let (cpus, tasks) = (1 + draws.below(4) as usize, 1 + draws.below(6) as usize);
        // Some tasks come from cpus that are not in the set.
        let old: Vec<Option<CpuId>> = (0..tasks).map(|_| Some(CpuId(draws.below(6) as u32))).collect();
        let set: Vec<CpuId> = (0..cpus as u32).map(CpuId).collect();
        let new = cut::seats(&topology, &set, &old);
        let moved = new.iter().zip(&old).filter(|(new, old)| Some(**new) != **old).count();
        assert_eq!(moved, fewest_moves(cpus, &old), "{old:?} to {cpus} cpus");
    }
}

#[test]
fn no_cut_of_the_same_shares_moves_fewer_packages() {
    for case in 0u32..300 {
        let mut draws = crate::spread::Draws::new(u64::from(case), sim_core::rng::Purpose::Test, 1);
        let parties = 1 + draws.below(3) as usize;
        let owner: Vec<Option<usize>> =
            (0..5).map(|_| Some(draws.below(4) as usize).filter(|p| *p < parties)).collect();
        let shares = cut::portions(5, &vec![1; parties], &[]);
        let kept = |dealt: &[Option<usize>]| {
            dealt.iter().zip(&owner).filter(|(new, old)| old.is_some() && new == old).count()
        };
        let best = (0..parties.pow(5))
            .map(|code| (0..5).map(|unit| Some(code / parties.pow(unit) % parties)).collect::<Vec<_>>())
            .filter(|dealt| {
                (0..parties).all(|p| dealt.iter().filter(|d| **d == Some(p)).count() == shares[p] as usize)
            })
            .map(|dealt| kept(&dealt))
            .max();
        assert_eq!(Some(kept(&cut::deal(&shares, 1, &owner))), best, "{owner:?}");
    }
}
