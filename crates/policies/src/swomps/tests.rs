//! `SWOMPS`: allocations worked out by hand on the paper's machine (24 cores in 4 packages of 6), and no
//! binding of the same plan moves fewer threads.

use sim_core::ids::Id;
use sim_core::machine::Topology;

use super::*;
use crate::Choice;
use crate::fake::FakeSystem;
use crate::spread::Draws;

const FOUR_BY_SIX: [(Tree, u32); 2] = [(Tree::Package, 4), (Tree::Core, 6)];

fn requests(list: &[(i64, u32)]) -> Vec<Request> {
    let request = |(preference, threads): &(i64, u32)| Request {
        preference: *preference,
        threads: *threads,
        live: true,
        managed: true,
    };
    list.iter().map(request).collect()
}

/// The quota of programs of these preferences and threads on so many packages of so many cores.
fn quota(list: &[(i64, u32)], packages: usize, cores: u32, before: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let who: Vec<usize> = (0..list.len()).collect();
    allocate(&requests(list), &who, vec![cores; packages], before)
}

#[test]
fn scatter_takes_one_core_at_a_time_and_gather_all_it_can() {
    // 24 cores as in the paper: 12 threads scattered are 3 per package, 12 gathered are two full packages.
    assert_eq!(quota(&[(-114, 12)], 4, 6, &[]), [[3, 3, 3, 3]]);
    assert_eq!(quota(&[(8, 12)], 4, 6, &[]), [[6, 6, 0, 0]]);
}

#[test]
fn the_stronger_preference_chooses_first() {
    // Scatter first: 3 on each package; gather finds 3 free everywhere: 3 + 3 + 3 + 3.
    assert_eq!(quota(&[(8, 12), (-114, 12)], 4, 6, &[]), [[3, 3, 3, 3], [3, 3, 3, 3]]);
    // Gather first: packages 0 and 1; the rest scatters over 2 and 3.
    assert_eq!(quota(&[(80, 12), (-11, 12)], 4, 6, &[]), [[6, 6, 0, 0], [0, 0, 6, 6]]);
}

#[test]
fn cores_run_out_in_the_order_of_preference() {
    // -5 scatters 2 + 1; +1 gathers from package 1 (3 free) then 0; the last application gets the one core
    // left.
    assert_eq!(quota(&[(1, 4), (-5, 3), (0, 4)], 2, 4, &[]), [[1, 3], [2, 1], [1, 0]]);
}

#[test]
fn the_three_programs_of_a_full_queue() {
    // At most three at once with 6, 8 or 10 threads, the preferences of swim, applu and apsi: swim scatters
    // 10 as 3 + 3 + 2 + 2, then applu its 8 as 1 + 1 + 3 + 3 is not what it does: it looks for the emptiest
    // package each time.
    let quota = quota(&[(8, 6), (-114, 10), (-55, 8)], 4, 6, &[]);
    assert_eq!(quota[1], [3, 3, 2, 2]);
    // Free 3 3 4 4: one from packages 2 and 3, then one from each in turn, then two more from 0 and 1.
    assert_eq!(quota[2], [2, 2, 2, 2]);
    // Free 1 1 2 2: apsi gathers what there is, the fuller packages of free cores first.
    assert_eq!(quota[0], [1, 1, 2, 2]);
}

#[test]
fn equal_packages_prefer_the_one_held_before() {
    assert_eq!(quota(&[(1, 3)], 2, 4, &[vec![0, 3]]), [[0, 3]]);
}

#[test]
fn threads_keep_their_core_within_the_quota() {
    let topology = Topology::new(&[(Tree::Package, 2), (Tree::Core, 2)]).unwrap();
    let mut bound = vec![vec![Some(CpuId(3)), Some(CpuId(2)), None]];
    bind(&topology, &[0], &[vec![2, 1]], &mut bound);
    // One core of package 1 stays with rank 0; ranks 1 and 2 fill package 0.
    assert_eq!(bound, [[3, 0, 1].map(|cpu| Some(CpuId(cpu)))]);
}

#[test]
fn cores_come_before_second_hardware_threads() {
    let topology = Topology::new(&[(Tree::Package, 1), (Tree::Core, 2), (Tree::Thread, 2)]).unwrap();
    let mut bound = vec![vec![None; 3]];
    bind(&topology, &[0], &[vec![3]], &mut bound);
    assert_eq!(bound, [[0, 2, 1].map(|cpu| Some(CpuId(cpu)))]);
}

/// A policy over applications of these preferences and threads; nobody has started.
fn swomps(system: &mut FakeSystem, list: &[(i64, u32)], alone: bool) -> (Swomps, Vec<AppId>) {
    let apps = list.iter().map(|(_, threads)| system.add_app(*threads, false)).collect();
    let mut requests = requests(list);
    for request in &mut requests {
        request.live = false;
    }
    (Swomps::new(requests, alone), apps)
}

/// Threads of an application on each package of six cores.
fn on_packages(system: &FakeSystem, app: AppId) -> [usize; 4] {
    let homes = system.homes(app);
    [0, 1, 2, 3].map(|package| homes.iter().filter(|home| home.is_some_and(|cpu| cpu / 6 == package)).count())
}

#[test]
fn replans_at_starts_and_exits_and_leaves_the_surplus_to_the_kernel() {
    let mut system = FakeSystem::new(&FOUR_BY_SIX);
    let (mut swomps, apps) = swomps(&mut system, &[(-9, 26), (-1, 4)], false);
    swomps.app_ready(&mut system, apps[0]);
    swomps.app_ready(&mut system, apps[1]);
    assert_eq!(system.homes(apps[0]).iter().filter(|home| home.is_some()).count(), 24);
    assert_eq!(system.homes(apps[1]), [None; 4]);
    swomps.app_exited(&mut system, apps[0]);
    assert_eq!(system.homes(apps[1]), [0, 6, 12, 18].map(Some));
}

#[test]
fn an_arrival_takes_what_it_prefers_and_an_exit_gives_it_back() {
    let mut system = FakeSystem::new(&FOUR_BY_SIX);
    let (mut swomps, apps) = swomps(&mut system, &[(-8, 12), (80, 12)], false);
    swomps.app_ready(&mut system, apps[0]);
    assert_eq!(on_packages(&system, apps[0]), [3, 3, 3, 3]);
    let before = system.homes(apps[0]);
    // The strong gatherer arrives: two whole packages. Six threads of the first program must leave them, six
    // stay.
    swomps.app_ready(&mut system, apps[1]);
    assert_eq!(on_packages(&system, apps[1]), [6, 6, 0, 0]);
    assert_eq!(on_packages(&system, apps[0]), [0, 0, 6, 6]);
    let after = system.homes(apps[0]);
    assert_eq!(before.iter().zip(&after).filter(|(old, new)| old != new).count(), 6);
    // It ends: the first program scatters again, and six threads move back.
    swomps.app_exited(&mut system, apps[1]);
    assert_eq!(on_packages(&system, apps[0]), [3, 3, 3, 3]);
    let again = system.homes(apps[0]);
    assert_eq!(after.iter().zip(&again).filter(|(old, new)| old != new).count(), 6);
    let reasons = &system.reasons;
    assert_eq!(reasons.iter().filter(|why| why.rule.starts_with("planned again")).count(), 3);
    assert_eq!(reasons.iter().filter(|why| why.rule.starts_with("bound:")).count(), 12 + 6 + 12 + 6);
}

#[test]
fn a_program_that_decides_for_itself_moves_nobody_and_never_again() {
    let mut system = FakeSystem::new(&FOUR_BY_SIX);
    let (mut swomps, apps) = swomps(&mut system, &[(-8, 12), (80, 12), (-30, 6)], true);
    swomps.app_ready(&mut system, apps[0]);
    let first = system.homes(apps[0]);
    // The gatherer finds 3 free cores on each package, whatever it would like best.
    swomps.app_ready(&mut system, apps[1]);
    assert_eq!(on_packages(&system, apps[1]), [3, 3, 3, 3]);
    assert_eq!(system.homes(apps[0]), first);
    let second = system.homes(apps[1]);
    // Nothing is left for a third one; who ends frees cores only for who starts later.
    swomps.app_ready(&mut system, apps[2]);
    assert_eq!(system.homes(apps[2]), [None; 6]);
    swomps.app_exited(&mut system, apps[0]);
    assert_eq!((system.homes(apps[1]), system.homes(apps[2])), (second, vec![None; 6]));
    assert_eq!(free_cores(&system.machine.topology, &[], &swomps.bound), [3, 3, 3, 3]);
}

#[test]
fn stated_preferences_and_gains_hold_for_their_application() {
    let mut system = FakeSystem::new(&FOUR_BY_SIX);
    for _ in 0..3 {
        system.add_app(12, false);
    }
    let mut choice = Choice::new(&ENTRY);
    choice.values.set_for("preference", "app0", vec![1]).unwrap();
    choice.values.set_for("preference", "app1", vec![2]).unwrap();
    choice.values.set_for("gain", "app0", vec![11_400]).unwrap();
    let of = |app: &AppSpec| preference(&Parameters::from(&choice.values), app, &system.machine);
    let preferences: Vec<i64> = system.specs().iter().map(of).collect();
    // The third one has no memory demand: it gathers, as strongly as it is below a quarter.
    assert_eq!(preferences, [-11_400, 1, 251]);
}

/// The fewest threads whose binding changes, over all bindings with these quotas.
fn fewest_changes(topology: &Topology, quota: &[Vec<u32>], old: &[Vec<Option<CpuId>>]) -> usize {
    fn search(
        threads: &[(usize, Option<CpuId>)],
        left: &mut [Vec<u32>],
        taken: &mut [bool],
        package: &dyn Fn(CpuId) -> usize,
    ) -> Option<usize> {
        let Some(((app, old), rest)) = threads.split_first() else {
            return left.iter().flatten().all(|left| *left == 0).then_some(0);
        };
        let mut best = search(rest, left, taken, package).map(|n| n + usize::from(old.is_some()));
        for cpu in (0..taken.len()).map(CpuId::new) {
            let at = package(cpu);
            if taken[cpu.0 as usize] || left[*app][at] == 0 {
                continue;
            }
            taken[cpu.0 as usize] = true;
            left[*app][at] -= 1;
            let found = search(rest, left, taken, package).map(|n| n + usize::from(*old != Some(cpu)));
            best = best.into_iter().chain(found).min();
            taken[cpu.0 as usize] = false;
            left[*app][at] += 1;
        }
        best
    }
    let each = |(app, threads): (usize, &Vec<Option<CpuId>>)| {
        threads.iter().map(move |cpu| (app, *cpu)).collect::<Vec<_>>()
    };
    let threads: Vec<_> = old.iter().enumerate().flat_map(each).collect();
    let package = |cpu: CpuId| topology.group(Tree::Package, cpu) as usize;
    let mut taken = vec![false; topology.cpus() as usize];
    search(&threads, &mut quota.to_vec(), &mut taken, &package).unwrap()
}

#[test]
fn no_binding_of_the_same_plan_moves_fewer_threads() {
    let topology = Topology::new(&[(Tree::Package, 2), (Tree::Core, 2)]).unwrap();
    for case in 0u32..200 {
        let mut draws = Draws::new(u64::from(case), sim_core::rng::Purpose::Test, 2);
        let list: Vec<(i64, u32)> =
            (0..2).map(|_| (draws.below(9) as i64 - 4, 1 + draws.below(3) as u32)).collect();
        // Anybody may have sat anywhere, alone on a core.
        let mut cpus: Vec<Option<CpuId>> =
            (0..6).map(|cpu| Some(CpuId(cpu)).filter(|cpu| cpu.0 < 4)).collect();
        draws.shuffle(&mut cpus);
        let mut places = cpus.into_iter();
        let old: Vec<Vec<Option<CpuId>>> =
            list.iter().map(|(_, n)| places.by_ref().take(*n as usize).collect()).collect();
        let quota = quota(&list, 2, 2, &[]);
        let mut new = old.clone();
        bind(&topology, &[0, 1], &quota, &mut new);
        let changed = new.iter().flatten().zip(old.iter().flatten()).filter(|(new, old)| new != old).count();
        assert_eq!(changed, fewest_changes(&topology, &quota, &old), "{list:?} from {old:?}");
    }
}
