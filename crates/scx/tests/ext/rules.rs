//! Dispatch queues, idle masks, and what the kernel refuses.

use std::sync::{Arc, Mutex};

use scx::ext::abi::{
    DSQ_GLOBAL, DSQ_LOCAL, DSQ_LOCAL_ON, KICK_IDLE, OPS_ENQ_LAST, OPS_KEEP_BUILTIN_IDLE, PICK_IDLE_CORE,
    SLICE_DFL, SLICE_INF, TASK_QUEUED, WAKE_SYNC,
};
use scx::ext::{CpuMask, Ext, Given, Kernel};
use scx::native::Simple;
use sim_core::ids::TaskId;
use sim_core::machine::Level;
use sim_core::outcome::{Outcome, RunReport};

use crate::lab::{compute, counter, ends, failure, machine, run, run_on, sleep};
use crate::probe::{Act, Probe, probe};

#[test]
fn idle_cpus_are_claimed_and_come_back() {
    let scheduler = Probe {
        select: Some(Box::new(|kernel, task, _| {
            let wanted = if kernel.now() == 0 { 4 - task.0 } else { 4 };
            assert_eq!(kernel.idle_cpumask(None).unwrap().count(), wanted, "{task} at {}", kernel.now());
            let cpu = kernel.pick_idle_cpu(&CpuMask::full(4), 0);
            kernel.dsq_insert(task, DSQ_LOCAL, SLICE_DFL, 0);
            cpu
        })),
        ..Probe::default()
    };
    let (report, log) = probe(
        4,
        scheduler,
        vec![("a", 0, 1024, 4, vec![compute(10)]), ("b", 20, 1024, 1, vec![compute(10)])],
        100,
    );
    assert_eq!(
        (ends(&report), log.iter().filter(|line| line.contains("running")).count()),
        (vec![10, 30], 5)
    );
}

#[test]
fn a_claimed_cpu_that_gets_nothing_is_idle_again_when_it_has_looked_for_a_task() {
    let idle = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&idle);
    let scheduler = Probe {
        init: Some(Box::new(|kernel| {
            (1..5).for_each(|ms| kernel.timer_start(ms, ms * 1_000_000));
            0
        })),
        timer: Some(Box::new(move |kernel| {
            seen.lock().unwrap().push(kernel.idle_cpumask(None).unwrap().count());
            match kernel.now() / 1_000_000 {
                1 => assert!(kernel.test_and_clear_cpu_idle(2) && !kernel.test_and_clear_cpu_idle(2)),
                3 => kernel.kick_cpu(2, KICK_IDLE),
                _ => {}
            }
        })),
        ..Probe::default()
    };
    probe(4, scheduler, vec![("a", 0, 1024, 1, vec![compute(10)])], 100);
    assert_eq!(*idle.lock().unwrap(), [3, 2, 2, 3]);
}

#[test]
fn without_idle_tracking_the_masks_are_refused() {
    let scheduler = |flags| Probe {
        flags,
        given: Given { update_idle: true, ..Given::default() },
        select: Some(Box::new(|kernel, task, prev| kernel.select_cpu_dfl(task, prev, 0).0)),
        ..Probe::default()
    };
    let apps = || vec![("a", 0, 1024, 1, vec![compute(10)])];
    let (report, _) = probe(4, scheduler(0), apps(), 100);
    assert!(failure(&report).ends_with("built-in idle tracking is disabled"), "{}", failure(&report));
    let (report, log) = probe(4, scheduler(OPS_KEEP_BUILTIN_IDLE), apps(), 100);
    assert_eq!(ends(&report), [10]);
    let told: Vec<&String> = log.iter().filter(|line| line.contains("update_idle")).collect();
    assert_eq!(told, ["0 update_idle cpu0 false", "10 update_idle cpu0 true"]);
}

#[test]
fn what_linux_does_not_load_is_refused() {
    let refused = |probe: Probe| Ext::new(probe, &machine(&[(Level::Core, 2)])).map(|_| ()).unwrap_err();
    let text = refused(Probe { flags: OPS_ENQ_LAST, ..Probe::default() });
    assert_eq!(text, "`probe`: SCX_OPS_ENQ_LAST requires ops.enqueue() to be implemented");
    let text = refused(Probe { flags: 1 << 40, ..Probe::default() });
    assert_eq!(text, "`ops.flags` of `probe` has bits that no flag is: 0x10000000000");
    let text = refused(Probe { timeout_ms: 30_001, ..Probe::default() });
    assert_eq!(text, "`ops.timeout_ms` of `probe` is 30001, and at most 30000 is allowed");
}

#[test]
fn what_linux_refuses_ends_the_run() {
    let refused = |act: Act| {
        let probe = Probe {
            select: Some(Box::new(|_, _, prev| prev)),
            enqueue: Some(act),
            init: Some(Box::new(|kernel| kernel.create_dsq(1, -1))),
            ..Probe::default()
        };
        failure(&run(2, probe, vec![("a", 0, 1024, 2, vec![compute(10)])], 100))
    };
    let cases: Vec<(Act, &str)> = vec![
        (
            Box::new(|kernel, task| kernel.dsq_insert(task, 99, 1, 0)),
            "(runtime error): non-existent DSQ 0x63 for a rank 0 (pid 1)",
        ),
        (
            Box::new(|kernel, task| kernel.dsq_insert(task, DSQ_LOCAL_ON | 2, 1, 0)),
            "invalid CPU 2 in SCX_DSQ_LOCAL_ON dispatch verdict",
        ),
        (
            Box::new(|kernel, task| kernel.dsq_insert_vtime(task, DSQ_GLOBAL, 1, 1, 0)),
            "cannot use vtime ordering for built-in DSQs",
        ),
        (
            Box::new(|kernel, task| {
                kernel.dsq_insert(task, 1, 1, 0);
                kernel.dsq_insert(task, 1, 1, 0);
            }),
            "a rank 0 (pid 1) already direct-dispatched",
        ),
        (
            Box::new(|kernel, _| kernel.dsq_insert(TaskId(1), 1, 1, 0)),
            "scheduling for a rank 0 (pid 1) but trying to direct-dispatch a rank 1 (pid 2)",
        ),
        (
            Box::new(|kernel, _| {
                kernel.dsq_move_to_local(1);
            }),
            "scx_bpf_dsq_move_to_local() cannot be called from ops.enqueue()",
        ),
        (Box::new(|kernel, task| kernel.dsq_insert(task, 1, 1, 1 << 57)), "invalid enq_flags"),
        (
            Box::new(|kernel, _| kernel.error("no more")),
            "scheduler `probe` is disabled (scx_bpf_error): no more",
        ),
        (Box::new(|kernel, _| kernel.exit(3, "enough")), "(unregistered from BPF): enough"),
        (Box::new(|kernel, _| kernel.kick_cpu(-1, 0)), "invalid CPU -1"),
    ];
    for (act, text) in cases {
        let found = refused(act);
        assert!(found.contains(text), "{found:?} has no {text:?}");
    }
}

#[test]
fn a_queue_of_one_order_refuses_the_other() {
    let probe = Probe {
        enqueue: Some(Box::new(|kernel, task| match task.0 {
            0 => kernel.dsq_insert(task, DSQ_LOCAL, SLICE_DFL, 0),
            1 => kernel.dsq_insert(task, 1, 1, 0),
            _ => kernel.dsq_insert_vtime(task, 1, 1, 1, 0),
        })),
        init: Some(Box::new(|kernel| kernel.create_dsq(1, -1))),
        ..Probe::default()
    };
    let text = failure(&run(1, probe, vec![("a", 0, 1024, 3, vec![compute(10)])], 100));
    assert!(text.ends_with("DSQ ID 0x0000000000000001 already had FIFO-enqueued tasks"), "{text}");
}

#[test]
fn the_dispatch_buffer_is_as_large_as_stated_and_void_insertions_are_dropped() {
    let slots = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&slots);
    let probe = Probe {
        enqueue: Some(Box::new(|_, _| {})),
        dispatch: Some(Box::new(move |kernel, _, prev| {
            seen.lock().unwrap().push(kernel.dispatch_nr_slots());
            for task in [0, 1, 1, 0] {
                kernel.dsq_insert(TaskId(task), DSQ_LOCAL, SLICE_DFL, 0);
            }
            kernel.dispatch_cancel();
            seen.lock().unwrap().push(kernel.dispatch_nr_slots());
            assert_eq!(prev.map(|prev| kernel.task_flags(prev) & TASK_QUEUED), prev.map(|_| TASK_QUEUED));
        })),
        ..Probe::default()
    };
    let report = run(1, probe, vec![("a", 0, 1024, 2, vec![compute(30)])], 25);
    assert_eq!(slots.lock().unwrap()[..2], [32, 29]);
    assert!(counter(&report, "void_insertions") > 0);
    let probe = Probe {
        enqueue: Some(Box::new(|_, _| {})),
        dispatch: Some(Box::new(|kernel, _, _| {
            (0..33).for_each(|_| kernel.dsq_insert(TaskId(0), DSQ_LOCAL, 1, 0));
        })),
        ..Probe::default()
    };
    let text = failure(&run(1, probe, vec![("a", 0, 1024, 1, vec![compute(30)])], 25));
    assert!(text.ends_with("dispatch buffer overflow"), "{text}");
}

#[test]
fn tasks_are_found_and_moved_by_an_iteration() {
    let probe = Probe {
        init: Some(Box::new(|kernel| kernel.create_dsq(1, -1))),
        enqueue: Some(Box::new(|kernel, task| kernel.dsq_insert(task, 1, SLICE_INF, 0))),
        dispatch: Some(Box::new(|kernel, cpu, _| {
            // The last one goes first.
            let mut iter = kernel.dsq_iter_new(1, 1 << 16).unwrap();
            if let Some(task) = kernel.dsq_iter_next(&mut iter) {
                iter.set_slice(4_000_000);
                assert!(kernel.dsq_move(&mut iter, task, DSQ_LOCAL_ON | u64::from(cpu.0), 0));
                assert!(!kernel.dsq_move(&mut iter, task, DSQ_LOCAL, 0));
            }
            assert!(kernel.dsq_iter_new(2, 0).is_err());
        })),
        ..Probe::default()
    };
    let (report, log) = probe_all(probe);
    let ran: Vec<&String> = log.iter().filter(|line| line.contains("running")).collect();
    assert_eq!(ran[..3], ["0 running task0 cpu0", "4 running task2 cpu0", "8 running task0 cpu0"]);
    assert_eq!(report.outcome, Outcome::Horizon);
}

fn probe_all(scheduler: Probe) -> (RunReport, Vec<String>) {
    probe(1, scheduler, vec![("a", 0, 1024, 3, vec![compute(30)])], 10)
}

/// Four caches of two cores of two hardware threads, two caches a node; a task runs on the first cpu, and at
/// 1 ms cpus are chosen for it.
fn choices(act: impl Fn(&mut Kernel<'_>) -> Vec<i32> + Send + 'static) -> Vec<i32> {
    let found = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&found);
    let scheduler = Probe {
        init: Some(Box::new(|kernel| {
            kernel.timer_start(0, 1_000_000);
            0
        })),
        timer: Some(Box::new(move |kernel| *seen.lock().unwrap() = act(kernel))),
        ..Probe::default()
    };
    let levels =
        [(Level::Package, 2), (Level::Node, 1), (Level::Cache, 2), (Level::Core, 2), (Level::Thread, 2)];
    run_on(machine(&levels), scheduler, vec![("a", 0, 1024, 1, vec![compute(3)])], 10);
    found.lock().unwrap().clone()
}

#[test]
fn the_kernel_chooses_idle_cores_first_and_near_ones_of_them() {
    let found = choices(|kernel| (0..6).map(|_| kernel.select_cpu_dfl(TaskId(0), 0, 0).0).collect());
    // The other core of the cache, the cores of the other cache of the node, and those of the other node.
    assert_eq!(found, [2, 4, 6, 8, 10, 12]);
    let found = choices(|kernel| {
        assert!((0..7).all(|_| kernel.select_cpu_dfl(TaskId(0), 0, 0).1));
        // No core is idle: the cpus beside those that are taken, the near ones first.
        let near = CpuMask::range(16, 0..8);
        let core = kernel.select_cpu_and(TaskId(0), 0, 0, &near, PICK_IDLE_CORE);
        let any = (0..5).map(|_| kernel.select_cpu_and(TaskId(0), 0, 0, &near, 0));
        [vec![core], any.collect()].concat()
    });
    assert_eq!(found, [-16, 1, 3, 5, 7, -16]);
}

#[test]
fn the_last_cpu_comes_first_if_its_core_is_idle() {
    assert_eq!(choices(|kernel| vec![kernel.select_cpu_dfl(TaskId(0), 9, 0).0]), [9]);
    let found = choices(|kernel| {
        kernel.test_and_clear_cpu_idle(8);
        vec![kernel.select_cpu_dfl(TaskId(0), 9, 0).0, kernel.select_cpu_dfl(TaskId(0), 9, 0).0]
    });
    // An idle core of its cache goes before the rest of its own core.
    assert_eq!(found, [10, 12]);
}

#[test]
fn a_synchronous_wake_up_goes_to_the_waker_or_to_an_idle_last_cpu_beside_it() {
    let found = choices(|kernel| {
        // The timer is on the first cpu.
        [2, 2, 9].map(|prev| kernel.select_cpu_dfl(TaskId(0), prev, WAKE_SYNC).0).to_vec()
    });
    assert_eq!(found, [2, 0, 0]);
}

#[test]
fn a_run_is_repeated_to_the_digest() {
    let digest = || {
        let phases = (0..9).flat_map(|_| [compute(3), sleep(2)]).collect();
        run(3, Simple::new(false), vec![("naps", 0, 1024, 7, phases)], 5_000).digest
    };
    assert_eq!(digest(), digest());
}
