//! `PIN`: layouts worked out by hand on machines of the literature.

use super::*;
use crate::Choice;
use crate::fake::FakeSystem;

/// Two packages of four cores with two hardware threads (Nehalem): cpus 0 to 7 are package 0, 0 and 1 its
/// first core.
const NEHALEM: [(Tree, u32); 4] = [(Tree::Package, 2), (Tree::Node, 1), (Tree::Core, 4), (Tree::Thread, 2)];
/// Four packages of four cores, a memory controller each (Barcelona).
const BARCELONA: [(Tree, u32); 3] = [(Tree::Package, 4), (Tree::Node, 1), (Tree::Core, 4)];
const FOUR: [(Tree, u32); 1] = [(Tree::Core, 4)];

fn wish(layout: Layout) -> Wish {
    Wish { layout, by: Tree::Thread, even_start: false, cpus: Vec::new(), offset: 0, process: 1 }
}

fn policy(wishes: Vec<Wish>) -> Pin {
    Pin { wishes, background: false, bound: Vec::new() }
}

/// The cpus that each of `tasks` ranks is bound to.
fn masks(machine: &[(Tree, u32)], tasks: u32, wish: &Wish) -> Vec<Vec<u32>> {
    let mut system = FakeSystem::new(machine);
    let app = system.add_app(tasks, false);
    let mut pin = policy(vec![wish.clone()]);
    pin.app_started(&mut system, app);
    (0..tasks).map(|task| mask(&system, task)).collect()
}

/// The cpus that a task is bound to.
fn mask(system: &FakeSystem, task: u32) -> Vec<u32> {
    let affinity = &system.tasks[task as usize].affinity;
    system.machine.cpu_ids().filter(|cpu| affinity.allows(*cpu)).map(|cpu| cpu.0).collect()
}

/// The one cpu of each of `tasks` ranks.
fn homes(machine: &[(Tree, u32)], tasks: u32, wish: &Wish) -> Vec<u32> {
    let masks = masks(machine, tasks, wish);
    assert!(masks.iter().all(|mask| mask.len() == 1), "{masks:?}");
    masks.into_iter().flatten().collect()
}

#[test]
fn even_layout_goes_round_and_starts_at_the_offset() {
    assert_eq!(homes(&FOUR, 6, &wish(Layout::Even)), [0, 1, 2, 3, 0, 1]);
    assert_eq!(homes(&FOUR, 3, &Wish { offset: 7, ..wish(Layout::Even) }), [3, 0, 1]);
}

#[test]
fn every_core_gets_a_task_before_its_second_thread_does() {
    assert_eq!(homes(&NEHALEM, 10, &wish(Layout::Even)), [0, 2, 4, 6, 8, 10, 12, 14, 1, 3]);
    let mut cores: Vec<u32> = homes(&NEHALEM, 8, &wish(Layout::Random)).iter().map(|cpu| cpu / 2).collect();
    cores.sort_unstable();
    assert_eq!(cores, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn random_layout_is_even_and_another_order() {
    let layout = homes(&FOUR, 9, &wish(Layout::Random));
    let mut counts: Vec<usize> =
        (0..4).map(|cpu| layout.iter().filter(|home| **home == cpu).count()).collect();
    counts.sort_unstable();
    assert_eq!(counts, [2, 2, 2, 3]);
    assert_ne!(layout, homes(&FOUR, 9, &wish(Layout::Even)));
    assert_eq!(layout, homes(&FOUR, 9, &wish(Layout::Random)));
}

#[test]
fn scatter_takes_packages_in_turn_and_gather_fills_them() {
    assert_eq!(homes(&BARCELONA, 6, &wish(Layout::Scatter)), [0, 4, 8, 12, 1, 5]);
    assert_eq!(homes(&BARCELONA, 6, &wish(Layout::Gather)), [0, 1, 2, 3, 4, 5]);
    // Scatter comes to second hardware threads when every core has a task; gather fills a core before the
    // next.
    assert_eq!(homes(&NEHALEM, 10, &wish(Layout::Scatter)), [0, 8, 2, 10, 4, 12, 6, 14, 1, 9]);
    assert_eq!(homes(&NEHALEM, 5, &wish(Layout::Gather)), [0, 1, 2, 3, 4]);
}

#[test]
fn a_list_is_followed_in_its_order_and_limits_the_other_layouts() {
    let cpus = [9, 0, 5].map(CpuId).to_vec();
    let listed = |layout| homes(&BARCELONA, 4, &Wish { cpus: cpus.clone(), ..wish(layout) });
    assert_eq!(listed(Layout::List), [9, 0, 5, 9]);
    assert_eq!(listed(Layout::Even), [0, 5, 9, 0]);
    assert_eq!(homes(&BARCELONA, 2, &wish(Layout::List)), [0, 1]);
}

#[test]
fn a_domain_is_bound_as_a_whole_and_ranks_go_round_the_domains() {
    let by = |layout, by, tasks| masks(&BARCELONA, tasks, &Wish { by, ..wish(layout) });
    let nodes = by(Layout::Even, Tree::Node, 5);
    let node = |n: u32| (4 * n..4 * n + 4).collect::<Vec<u32>>();
    assert_eq!(nodes, [node(0), node(1), node(2), node(3), node(0)]);
    // Gather names a domain once for each of its cpus.
    assert_eq!(by(Layout::Gather, Tree::Package, 5), [node(0), node(0), node(0), node(0), node(1)]);
    let listed = Wish { by: Tree::Node, cpus: vec![CpuId(13), CpuId(2)], ..wish(Layout::List) };
    assert_eq!(masks(&BARCELONA, 3, &listed), [node(3), node(0), node(3)]);
    // A core of a machine with hardware threads is two cpus.
    let cores = masks(&NEHALEM, 3, &Wish { by: Tree::Core, ..wish(Layout::Scatter) });
    assert_eq!(cores, [[0, 1], [8, 9], [2, 3]]);
}

#[test]
fn blocks_give_each_process_a_node_and_its_threads_cores_of_it() {
    let blocks = |by, process| Wish { by, process, ..wish(Layout::Blocks) };
    assert_eq!(homes(&BARCELONA, 8, &blocks(Tree::Thread, 2)), [0, 1, 4, 5, 8, 9, 12, 13]);
    assert_eq!(homes(&BARCELONA, 4, &Wish { offset: 2, ..blocks(Tree::Thread, 2) }), [8, 9, 0, 1]);
    let cores = masks(&NEHALEM, 4, &blocks(Tree::Core, 2));
    assert_eq!(cores, [[0, 1], [2, 3], [8, 9], [10, 11]]);
    let limited = Wish { cpus: [3, 2, 12].map(CpuId).to_vec(), ..blocks(Tree::Thread, 1) };
    assert_eq!(homes(&BARCELONA, 2, &limited), [2, 12]);
    // Other orders do not ask which tasks are of one process.
    assert_eq!(homes(&BARCELONA, 3, &Wish { process: 2, ..wish(Layout::Scatter) }), [0, 4, 8]);
}

#[test]
fn an_even_start_is_that_of_single_cpus_until_all_ranks_exist() {
    let mut system = FakeSystem::new(&NEHALEM);
    let app = system.add_app(9, false);
    let mut pin = policy(vec![Wish { by: Tree::Node, even_start: true, ..wish(Layout::Even) }]);
    pin.app_started(&mut system, app);
    let at_first: Vec<Vec<u32>> = (0..9).map(|task| mask(&system, task)).collect();
    assert_eq!(at_first, [[0], [2], [4], [6], [8], [10], [12], [14], [1]]);
    // Rank 8 has got another mask meanwhile.
    system.tasks[8].affinity = Affinity::One(CpuId(5));
    pin.app_ready(&mut system, app);
    assert_eq!(mask(&system, 8), [5]);
    let package = |cpus: std::ops::Range<u32>| cpus.collect::<Vec<u32>>();
    for (task, first) in at_first.iter().enumerate().take(8) {
        let expected = if first[0] < 8 { package(0..8) } else { package(8..16) };
        assert_eq!(mask(&system, task as u32), expected);
    }
    assert!(pin.bound.is_empty());
}

#[test]
fn inherited_affinity_and_background_are_respected() {
    let mut system = FakeSystem::new(&FOUR);
    let app = system.add_app(3, false);
    let hog = system.add_app(1, true);
    let odd = Arc::new(CpuSet::of([CpuId(1), CpuId(3)]));
    for task in &mut system.tasks[..3] {
        task.affinity = Affinity::Set(odd.clone());
    }
    let mut pin = policy(vec![wish(Layout::Even), wish(Layout::Even)]);
    pin.app_started(&mut system, app);
    pin.app_started(&mut system, hog);
    assert_eq!(system.homes(app), [1, 3, 1].map(Some));
    assert_eq!(system.homes(hog), [None]);
    // A domain is cut to the mask; a list outside it gives way to it.
    let node = Wish { by: Tree::Node, cpus: vec![CpuId(0)], ..wish(Layout::List) };
    for task in &mut system.tasks[..3] {
        task.affinity = Affinity::Set(odd.clone());
    }
    policy(vec![node]).app_started(&mut system, app);
    let allowed: Vec<bool> = (0..4).map(|cpu| system.allowed(TaskId(0), CpuId(cpu))).collect();
    assert_eq!(allowed, [false, true, false, true]);
}

#[test]
fn wishes_are_read_by_application_and_every_binding_has_a_reason() {
    let mut choice = Choice::new(&ENTRY);
    choice.values.set("layout", 2).unwrap();
    choice.values.set_for("layout", "app1", vec![4]).unwrap();
    choice.values.set_for("cpus", "app1", vec![6, 2]).unwrap();
    let mut system = FakeSystem::new(&BARCELONA);
    let (first, second) = (system.add_app(3, false), system.add_app(3, false));
    let specs = system.specs();
    let setting = Setting {
        entry: &ENTRY,
        machine: &system.machine.clone(),
        kernel: &system.kernel.clone(),
        apps: &specs,
    };
    let mut pin = build(&choice.values, &setting);
    pin.app_started(&mut system, first);
    pin.app_started(&mut system, second);
    assert_eq!(system.homes(first), [0, 4, 8].map(Some));
    assert_eq!(system.homes(second), [6, 2, 6].map(Some));
    let reasons = &system.reasons;
    assert_eq!(reasons.len(), 6);
    assert_eq!(reasons[1].facts[..2], [("rank", 1), ("cpu", 4)]);
    assert!(reasons[4].rule.starts_with("bound as listed"));
}

#[test]
fn an_application_without_layout_is_left_to_the_kernel() {
    let none = |even_start| Wish { by: Tree::Node, even_start, ..wish(Layout::None) };
    for even_start in [false, true] {
        let mut system = FakeSystem::new(&BARCELONA);
        let (job, service) = (system.add_app(4, false), system.add_app(3, false));
        let hog = system.add_app(1, true);
        let wishes = vec![wish(Layout::Scatter), none(even_start), none(even_start)];
        let mut pin = Pin { background: true, ..policy(wishes) };
        for app in [job, service, hog] {
            pin.app_started(&mut system, app);
            pin.app_ready(&mut system, app);
        }
        assert_eq!(system.homes(job), [0, 4, 8, 12].map(Some));
        assert_eq!((system.homes(service), system.homes(hog)), (vec![None; 3], vec![None]));
        assert_eq!(system.reasons.len(), 4, "nothing is said about tasks that are not bound");
        assert!(pin.bound.is_empty());
    }
}
