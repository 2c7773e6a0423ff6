//! Tables worked out by hand, and kSTEP's formats: each kernel shows the ticks of its tables, what it writes
//! is read again, and what cannot be expressed is refused by name.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::Path;

use experiment::conformance::{Cell, What, add_trace, compare, read, write, write_trace};

fn tables() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/conformance");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut tables: Vec<_> =
        files.map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap())).collect();
    tables.sort();
    assert!(tables.len() >= 15, "{} tables", tables.len());
    tables
}

#[test]
fn every_table_is_met_at_each_tick() {
    for (name, text) in tables() {
        let found = compare(&read(&text).unwrap()).unwrap();
        assert!(found.first.is_none() && found.ticks.equal >= 7, "{name}: {found:#?}");
    }
}

#[test]
fn what_is_written_is_read_again() {
    for (name, text) in tables() {
        let case = read(&text).unwrap();
        let found = compare(&case).unwrap();
        let again = read(&write(&case, &found.rows)).unwrap();
        assert_eq!(again.operations, case.operations, "{name}");
        let rows: Vec<&Vec<Cell>> = again.rows.values().collect();
        assert_eq!(rows, found.rows.iter().collect::<Vec<_>>(), "{name}");
        let mut traced = case;
        traced.rows.clear();
        // A task may never be seen to run.
        traced.pids = (1..).zip(0..traced.tasks.len()).collect();
        let lines = write_trace(&traced, &found.rows);
        add_trace(&mut traced, &lines).unwrap();
        let traced = compare(&traced).unwrap();
        assert!(traced.first.is_none() && traced.ticks.all > 0, "{name}: {:?}", traced.first);
    }
}

#[test]
fn a_difference_names_tick_cpu_and_the_rule_that_decided() {
    let (_, text) = tables().into_iter().find(|(name, _)| name.contains("wakeup_preempts")).unwrap();
    let case = read(&text.replace("8-10  B/2", "8-10  A/2")).unwrap();
    let first = compare(&case).unwrap().first.unwrap();
    assert_eq!((first.tick, first.cpu), (8, 1));
    assert_eq!((first.expected.who, first.got.who), (Some(Some(0)), Some(Some(1))));
    assert!(
        first.decided[0].contains("tick 8: cpu1 picks B: earliest deadline among the eligible tasks"),
        "{first:?}"
    );
}

/// A group of cpus 1-2 inside another one, a task that joins and leaves, a kernel thread.
#[test]
fn groups_and_kernel_threads_of_kstep_are_masks_groups_and_tasks() {
    let text = "{\"seq\": [[0,4,0,0],[10,-1,0,0],[10,0,1,0],[11,0,1,2],[12,1,50,0],[6,4,0,0],[8,0,0,0],\
        [13,1,4,0],[2,4,2,3],[17,1,4,0],[18,0,0,0],[20,0,0,0],[22,0,0,0],[16,1,0,0]]}";
    let mut case = read(text).unwrap();
    let what: Vec<_> = case.operations.iter().map(|operation| (operation.task, &operation.what)).collect();
    let all = What::Pin((0..1024).collect());
    let expected = [
        (0, &What::Create),
        (1, &What::Shares(512)),
        (0, &What::Wake),
        (0, &What::Pin(vec![0, 1])),
        (0, &What::Join(Some(1))),
        (0, &What::Pin(vec![1])),
        (0, &What::Pin(vec![1, 2])),
        (0, &What::Join(None)),
        (0, &all),
        (1, &What::Create),
        (1, &What::Wake),
        (1, &What::Block),
    ];
    assert_eq!(what, expected);
    assert_eq!((case.tasks.join(" "), case.groups[1].parent), ("t4 k0".into(), Some(0)));
    (case.kernel, case.machine) = ("linux-6.12.0".into(), "core:3".into());
    let rows = compare(&case).unwrap().rows;
    let again = read(&write(&case, &rows)).unwrap();
    assert_eq!((again.operations, again.groups), (case.operations, case.groups));
    // CFS does not move tasks between groups here.
    case = read(text).unwrap();
    (case.kernel, case.machine) = ("linux-6.5".into(), "core:3".into());
    assert!(compare(&case).unwrap_err().contains("only under EEVDF"));
}

/// A number that is used again inside its own group would go round for ever.
#[test]
fn a_group_with_groups_in_it_is_not_destroyed() {
    let nested = "[10,-1,0,0],[10,0,1,0]";
    let why = read(&format!("{{\"seq\": [{nested},[16,0,0,0]]}}")).unwrap_err();
    let said = "operation 3 (column 33): group 0 has groups in it; destroy those first";
    assert_eq!((why.line, why.text.as_str()), (1, said));
    assert_eq!(format!("{{\"seq\": [{nested},[16,0,0,0]]}}").find("[16"), Some(32));
    // Another list, a text with brackets and line ends are before it.
    let apart = format!("{{\"a\": [1, [2]], \"b\": \"[\\\"[\",\n \"ops\": [\n{nested},\n  [16,0,0,0]]}}");
    let why = read(&apart).unwrap_err();
    assert!(why.line == 4 && why.text.starts_with("operation 3 (column 3): group 0 "), "{why:?}");
    let inner_first = format!("{{\"seq\": [{nested},[16,1,0,0],[16,0,0,0],[10,-1,0,0]]}}");
    assert_eq!(read(&inner_first).unwrap().groups.len(), 3);
}

/// Two cores of two threads before four of one: capacities are by cpu, and that of a core is its first cpu's.
#[test]
fn capacities_reach_the_cores_of_mixed_machines() {
    let rows = |small: &str| {
        let table = format!(
            "machine core:2 pu:2 + core:4\nkernel linux-6.12.0\ncapacity 1024 1024 1024 1024 {small}\n\
             at 0 create A\nat 0 pin A 6-7\nat 0 wake A\nat 200 pin A 0-7\nat 400 sleep A\n"
        );
        compare(&read(&table).unwrap()).unwrap().rows
    };
    // It leaves a small cpu for a large one as soon as it may (a misfit), and an equal one never.
    assert_ne!(rows("1024 1024 256 256"), rows("1024 1024 1024 1024"));
}

/// Without a topology the harness shares the caches of the others: a new task finds an idle cpu.
#[test]
fn the_cpu_of_the_harness_stays_in_the_domain_of_the_others() {
    let log = "\
[    0.000000] Linux version 6.12.0-x (someone)\n\
[    0.001374] CPU topo: Allowing 3 present CPUs plus 0 hotplug CPUs\n\
[   10.000000] EXECOP: {\"op\": 0, \"a\": 0, \"b\": 0, \"c\": 0}\n\
[   10.000000] EXECOP: {\"op\": 6, \"a\": 0, \"b\": 0, \"c\": 0}\n\
[   10.000000] Task 0 75: on_cpu=1, state=0, cpu=1, class=0, util_avg=0, eligible=1\n\
[   10.000000] EXECOP: {\"op\": 0, \"a\": 1, \"b\": 0, \"c\": 0}\n\
[   10.000000] Task 0 75: on_cpu=1, state=0, cpu=1, class=0, util_avg=0, eligible=1\n\
[   10.000000] EXECOP: {\"op\": 6, \"a\": 1, \"b\": 0, \"c\": 0}\n\
[   10.000000] Task 0 75: on_cpu=1, state=0, cpu=1, class=0, util_avg=0, eligible=1\n\
[   10.000000] EXECOP: {\"op\": 8, \"a\": 1, \"b\": 0, \"c\": 0}\n\
[   10.000000] Task 0 75: on_cpu=1, state=0, cpu=1, class=0, util_avg=0, eligible=1\n\
[   10.000000] Task 1 76: on_cpu=1, state=0, cpu=2, class=0, util_avg=0, eligible=1\n";
    let mut case = read(log).unwrap();
    assert_eq!((case.machine.as_str(), case.first_cpu, case.tasks.len()), ("core:3", 0, 3));
    case.kernel = "linux-6.12.0".into();
    let found = compare(&case).unwrap();
    assert!(found.first.is_none() && found.ticks.all == 1, "{found:?}");
}

/// Operations are four integers: create 0, wake it, three ticks, pause.
#[test]
fn operations_of_kstep_are_a_case() {
    let case = read("{\"seq\": [[0,0,0,0],[6,0,0,0],[9,3,0,0],[10,-1,0,0],[5,0,0,0],[8,0,0,0]]}").unwrap();
    let what: Vec<_> = case.operations.iter().map(|operation| (operation.tick, &operation.what)).collect();
    assert_eq!(what, [(0, &What::Create), (0, &What::Wake), (3, &What::Sleep)]);
    let mut case = case;
    (case.kernel, case.machine) = ("linux-6.6".into(), "core:1".into());
    let rows = compare(&case).unwrap().rows;
    let busy: Vec<bool> = rows.iter().map(|row| row[0].who == Some(Some(0))).collect();
    assert_eq!(busy, [false, true, true, true], "rows show the state before what is done at their tick");
}

#[test]
fn the_log_of_a_run_has_operations_and_rows() {
    let log = "\
[    0.000000] Linux version 6.12.0-x (someone)\n\
[    0.000000] Command line: rw -- driver=executor topology=SMT:0/1-2/1-2/3-4/3-4\n\
[    0.001374] CPU topo: Allowing 5 present CPUs plus 0 hotplug CPUs\n\
[   10.000000] EXECOP: {\"op\": 8, \"a\": 0, \"b\": 0, \"c\": 0}\n\
[   10.000000] EXECOP: {\"op\": 0, \"a\": 0, \"b\": 0, \"c\": 0}\n\
[   10.000000] Task 0 75: on_cpu=0, state=1, cpu=0, class=0, util_avg=0, eligible=0\n\
[   10.000000] EXECOP: {\"op\": 6, \"a\": 0, \"b\": 0, \"c\": 0}\n\
[   10.000000] Task 0 75: on_cpu=1, state=0, cpu=1, class=0, util_avg=0, eligible=1\n\
[   10.000000] EXECOP: {\"op\": 8, \"a\": 0, \"b\": 0, \"c\": 0}\n\
[   10.000000] Task 0 75: on_cpu=1, state=0, cpu=1, class=0, util_avg=0, eligible=1\n\
[   10.000000] EXECOP: {\"op\": 2, \"a\": 0, \"b\": 2, \"c\": 2}\n\
[   10.000000] Task 0 75: on_cpu=1, state=0, cpu=2, class=0, util_avg=0, eligible=1\n";
    let mut case = read(log).unwrap();
    assert_eq!((case.kernel.as_str(), case.machine.as_str()), ("6.12.0-x", "core:2 pu:2"));
    assert_eq!(
        (case.booted, case.rows[&2][0].who, case.rows[&2][1].who),
        (Some(5), Some(Some(0)), Some(None))
    );
    add_trace(&mut case, "{\"timestamp\":2,\"type\":\"nr_running\",\"cpu1\":1,\"cpu2\":0}").unwrap();
    assert_eq!(case.rows[&2][0], Cell { who: Some(Some(0)), length: Some(1) });
    case.kernel = "linux-6.12.0".into();
    assert!(compare(&case).unwrap().first.is_none());
}

#[test]
fn what_cannot_be_expressed_is_refused_by_name_and_may_be_cut_off() {
    let text = "{\"seq\": [[0,0,0,0],[6,0,0,0],[8,0,0,0],[3,0,0,0],[8,0,0,0]]}";
    let mut case = read(text).unwrap();
    (case.kernel, case.machine) = ("linux-6.6".into(), "core:1".into());
    let why = compare(&case).unwrap_err();
    assert!(why.starts_with("at tick 1: operation 4 (column 40): TASK_FIFO cannot be expressed"), "{why}");
    case.cut();
    assert!(compare(&case).unwrap().first.is_none());
    let table = read("machine core:1\nkernel linux-6.6\nat 0 create A\nat 0 yield A\n").unwrap();
    assert!(compare(&table).unwrap_err().contains("`yield` cannot be expressed"));
}

#[test]
fn a_wrong_line_is_named_with_what_would_be_right() {
    let wrong = [
        ("at 0 wake A", "no task `A` was created before"),
        ("at 0 create A\nat 0 wake A\nat 1 wake A", "is woken and is awake"),
        ("at 0 create A\nat 2 wake A\nat 1 sleep A", "in the order of ticks"),
        ("at 0 create 7", "`7` is no name"),
        ("group g0\ngroup g0", "exists already"),
        ("at 0 create A\nat 0 join A g0", "no line `group g0`"),
        ("group g0\nat 0 shares g0 1", "GROUP 2..262144"),
        ("at 0 create A\nat 0 block A", "is asleep"),
        ("at 0 create A\nat 0 pin A", "`at 0 pin A 1-3`"),
        ("at 0 create A\nat 0 nice A 20", "-20..19"),
        ("cpus 1\nat 0 create A\nat 0 pin A 0", "`at 0 pin A 1-3`"),
        ("at 0 create A\n0 A B", "no task `B`"),
        ("at 0 create A\n0 A\n0 A", "has a row already"),
        ("at 0 create A\n0 A -\n1 A", "a cell for each cpu"),
        ("rules yield", "yield=forfeit"),
        ("capacity 1025", "1 to 1024"),
        ("kthreads K", "no task `K`"),
        ("stepped by-hand", "`kstep`"),
        ("whatever", "begins no line"),
        ("rows later", "`before` or `after`"),
        ("9999999999 -", "ticks are 0 to"),
    ];
    for (text, part) in wrong {
        let trouble = read(text).unwrap_err();
        assert!(trouble.line == text.lines().count() && trouble.text.contains(part), "{text}: {trouble:?}");
    }
    for text in [
        "{\"seq\": [[0,-5,0,0]]}",
        "{\"seq\": [[13,0,0,0]]}",
        "{\"seq\": [[0,0,0]]}",
        "{\"seq\": [[99,0,0,0]]}",
        "{\"seq\": [[2,0,0,3]]}",
        "{}",
        "{\"seq\": [",
    ] {
        assert!(read(text).is_err(), "{text}");
    }
    let mut case = read("at 0 create A").unwrap();
    for text in ["{\"timestamp\":0}", "nonsense", "{\"type\":\"curr_task\",\"cpu\":1,\"pid\":1}"] {
        assert!(add_trace(&mut case, text).is_err(), "{text}");
    }
    let wrong = [
        ("at 0 create A", "the machine is not known"),
        ("machine core:1\nat 0 create A", "the kernel is not known"),
        ("machine core:1\nkernel linux-9.9\nat 0 create A", "linux-9.9"),
        ("machine core:1\nkernel linux-6.6\nrules nothing=1\nat 0 create A", "no rule `nothing`"),
        ("machine core:1\nkernel linux-6.6\nrules tick=4ms\nat 0 create A", "`tick` is fixed"),
        ("machine core:1\nkernel linux-6.6", "needs a task"),
        ("machine core:1\nkernel linux-6.6\nat 0 create A\n0 - -", "has 2 cpus"),
        ("machine core:1\nkernel linux-6.6\nat 0 create A\nat 0 pin A 7", "pinned to cpus"),
        ("machine core:1\nkernel linux-6.6\ncapacity 1 2\nat 0 create A", "1 numbers, not 2"),
    ];
    for (text, part) in wrong {
        let why = compare(&read(text).unwrap()).unwrap_err();
        assert!(why.contains(part), "{text}: {why}");
    }
}
