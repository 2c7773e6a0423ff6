//! When operations are called, and what follows from what they do.

use std::sync::Arc;

use scx::ext::Given;
use scx::ext::abi::{
    DSQ_GLOBAL, DSQ_LOCAL, DSQ_LOCAL_ON, ENQ_HEAD, ENQ_LAST, ENQ_PREEMPT, KICK_IDLE, KICK_PREEMPT,
    OPS_ENQ_LAST, SLICE_DFL, SLICE_INF,
};
use sim_core::command::{Act, Command};
use sim_core::ids::TaskId;
use sim_core::machine::Level;
use sim_core::program::Op;
use sim_core::time::Time;

use crate::lab::{compute, counter, ends, failure, machine, run_apps, shares, sleep, submitted};
use crate::probe::{Act as Doing, Probe, TOLD, probe};

fn global() -> Option<Doing> {
    Some(Box::new(|kernel, task| kernel.dsq_insert(task, DSQ_GLOBAL, SLICE_DFL, 0)))
}

#[test]
fn operations_come_in_the_order_of_the_kernel() {
    let scheduler = Probe {
        given: TOLD,
        select: Some(Box::new(|_, _, prev| prev)),
        enqueue: global(),
        dispatch: Some(Box::new(|_, _, _| {})),
        ..Probe::default()
    };
    let (report, log) =
        probe(1, scheduler, vec![("a", 0, 2048, 1, vec![compute(25), sleep(5), compute(5)])], 100);
    assert_eq!(ends(&report), [35]);
    // With one cpu, none is selected.
    let wanted = [
        "0 init_task task0 true 1",
        "0 enable task0",
        "0 set_weight task0 200",
        "0 runnable task0 0x0",
        "0 enqueue task0 0x0",
        "0 update_idle cpu0 false",
        "0 running task0 cpu0",
        // Its slice is over, and no other task waits: nobody is told that it goes on.
        "20 dispatch cpu0 Some(task0)",
        "25 stopping task0 false 15000000",
        "25 quiescent task0 0x1",
        "25 dispatch cpu0 Some(task0)",
        "25 update_idle cpu0 true",
        "30 runnable task0 0x1",
        "30 enqueue task0 0x1",
        "30 update_idle cpu0 false",
        "30 running task0 cpu0",
        "35 stopping task0 false 15000000",
        "35 quiescent task0 0x1",
        "35 disable task0",
        "35 exit_task task0",
        // The run is over once all cpus have decided at its last instant.
        "35 dispatch cpu0 None",
        "35 update_idle cpu0 true",
        "35 exit 64 ",
    ];
    assert_eq!(log, wanted);
    assert_eq!(counter(&report, "scx_ev_dispatch_keep_last"), 1);
    assert_eq!(counter(&report, "scx_ev_refill_slice_dfl"), 1);
}

#[test]
fn a_task_whose_slice_is_over_is_stopped_after_its_successor_was_found() {
    let scheduler =
        Probe { given: TOLD, enqueue: global(), dispatch: Some(Box::new(|_, _, _| {})), ..Probe::default() };
    let (_, log) = probe(1, scheduler, vec![("a", 0, 1024, 2, vec![compute(30)])], 25);
    let at = log.iter().position(|line| line.starts_with("20 ")).unwrap();
    let wanted = [
        "20 stopping task0 true 0",
        "20 enqueue task0 0x0",
        "20 running task1 cpu0",
        // The horizon: the scheduler gives up its tasks.
        "25 disable task0",
        "25 exit_task task0",
        "25 disable task1",
        "25 exit_task task1",
        "25 exit 64 ",
    ];
    assert_eq!(log[at..], wanted);
}

#[test]
fn direct_dispatch_from_select_cpu_leaves_out_enqueue() {
    let scheduler = Probe {
        select: Some(Box::new(|kernel, task, _| {
            kernel.dsq_insert(task, DSQ_LOCAL, SLICE_INF, 0);
            2
        })),
        enqueue: global(),
        ..Probe::default()
    };
    let (report, log) = probe(4, scheduler, vec![("a", 0, 1024, 1, vec![compute(50)])], 100);
    assert_eq!(log, ["0 select_cpu task0 0 0x4", "0 running task0 cpu2", "50 exit 64 "]);
    assert_eq!(ends(&report), [50]);
}

#[test]
fn a_task_goes_to_the_local_queue_of_another_cpu() {
    let scheduler = Probe {
        select: Some(Box::new(|_, _, prev| prev)),
        enqueue: Some(Box::new(|kernel, task| kernel.dsq_insert(task, DSQ_LOCAL_ON | 3, SLICE_DFL, 0))),
        ..Probe::default()
    };
    let phases = vec![compute(25), sleep(5), compute(5)];
    let (report, log) = probe(4, scheduler, vec![("a", 0, 1024, 2, phases)], 200);
    assert!(log.iter().filter(|line| line.contains("running")).all(|line| line.ends_with("cpu3")), "{log:?}");
    assert_eq!(shares(&report), [30, 30]);
}

#[test]
fn enq_last_asks_for_a_task_that_no_other_follows() {
    let scheduler = Probe {
        flags: OPS_ENQ_LAST,
        enqueue: Some(Box::new(|kernel, task| kernel.dsq_insert(task, DSQ_LOCAL, SLICE_DFL, 0))),
        ..Probe::default()
    };
    let (report, log) = probe(1, scheduler, vec![("a", 0, 1024, 1, vec![compute(50)])], 100);
    assert_eq!(ends(&report), [50]);
    let last = format!("20 enqueue task0 {ENQ_LAST:#x}");
    assert_eq!(log[..4], ["0 enqueue task0 0x0", "0 running task0 cpu0", &last, "20 running task0 cpu0"]);
    // One that is kept by the scheduler waits until its cpu is kicked.
    let mut asked = 0;
    let scheduler = Probe {
        flags: OPS_ENQ_LAST,
        init: Some(Box::new(|kernel| {
            kernel.timer_start(1, 33_000_000);
            kernel.create_dsq(7, -1)
        })),
        timer: Some(Box::new(|kernel| kernel.kick_cpu(0, KICK_IDLE))),
        enqueue: Some(Box::new(move |kernel, task| {
            asked += 1;
            kernel.dsq_insert(task, if asked == 2 { 7 } else { DSQ_LOCAL }, SLICE_DFL, 0);
        })),
        dispatch: Some(Box::new(|kernel, _, prev| {
            assert!(prev.is_none() || kernel.dsq_nr_queued(7) == 0);
            kernel.dsq_move_to_local(7);
        })),
        ..Probe::default()
    };
    let (report, _) = probe(1, scheduler, vec![("a", 0, 1024, 1, vec![compute(25)])], 100);
    assert_eq!(ends(&report), [38]);
}

#[test]
fn a_tick_ends_a_slice() {
    let scheduler = Probe {
        given: Given { stopping: true, ..Given::default() },
        enqueue: Some(Box::new(|kernel, task| kernel.dsq_insert(task, DSQ_GLOBAL, SLICE_INF, 0))),
        tick: Some(Box::new(|kernel, task| {
            if kernel.now() == 7_000_000 {
                kernel.set_slice(task, 0);
            }
        })),
        ..Probe::default()
    };
    let (_, log) = probe(1, scheduler, vec![("a", 0, 1024, 2, vec![compute(30)])], 9);
    assert!(log.contains(&format!("6 tick task0 {SLICE_INF}")), "{log:?}");
    assert!(!log.iter().any(|line| line.contains("0 tick")), "{log:?}");
    assert!(log.contains(&"7 stopping task0 true 0".to_owned()), "{log:?}");
    assert!(log.contains(&"7 running task1 cpu0".to_owned()), "{log:?}");
}

#[test]
fn a_slice_is_set_while_a_task_runs() {
    let scheduler = Probe {
        init: Some(Box::new(|kernel| {
            kernel.timer_start(0, 5_500_000);
            0
        })),
        timer: Some(Box::new(|kernel| {
            let task = kernel.cpu_curr(0).unwrap();
            assert_eq!(kernel.slice(task), 14_500_000);
            kernel.set_slice(task, 2_000_000);
        })),
        ..Probe::default()
    };
    let (_, log) = probe(1, scheduler, vec![("a", 0, 1024, 2, vec![compute(30)])], 9);
    assert_eq!(log, ["0 running task0 cpu0", "8 running task1 cpu0", "9 exit 64 "]);
}

#[test]
fn a_kick_preempts_and_wakes() {
    let kicks = |flags| Probe {
        init: Some(Box::new(|kernel| {
            kernel.timer_start(0, 5_000_000);
            0
        })),
        timer: Some(Box::new(move |kernel| kernel.kick_cpu(0, flags))),
        ..Probe::default()
    };
    let two = || vec![("a", 0, 1024, 2, vec![compute(30)])];
    let running = |flags| {
        let (_, log) = probe(1, kicks(flags), two(), 9);
        log.into_iter().filter(|line| line.contains("running")).collect::<Vec<_>>()
    };
    assert_eq!(running(KICK_PREEMPT), ["0 running task0 cpu0", "5 running task1 cpu0"]);
    assert_eq!(running(KICK_IDLE), ["0 running task0 cpu0"]);
    assert_eq!(running(0), ["0 running task0 cpu0"]);
    let both = probe(1, kicks(KICK_IDLE | KICK_PREEMPT), two(), 9).0;
    assert!(failure(&both).contains("PREEMPT/WAIT cannot be used with SCX_KICK_IDLE"), "{}", failure(&both));
}

#[test]
fn an_insertion_preempts_and_goes_first() {
    let arrivals = || vec![("a", 0, 1024, 2, vec![compute(30)]), ("b", 5, 1024, 1, vec![compute(2)])];
    let insert = |flags: u64| Probe {
        enqueue: Some(Box::new(move |kernel, task| {
            let flags = if task == TaskId(2) { flags } else { 0 };
            kernel.dsq_insert(task, DSQ_LOCAL, SLICE_DFL, flags);
        })),
        ..Probe::default()
    };
    let ended = |flags| ends(&probe(1, insert(flags), arrivals(), 200).0)[1];
    assert_eq!([ended(ENQ_PREEMPT), ended(ENQ_HEAD), ended(0)], [7, 22, 42]);
}

#[test]
fn the_watchdog_names_the_task_that_is_forgotten() {
    let scheduler = Probe {
        timeout_ms: 2_000,
        select: Some(Box::new(|_, _, prev| prev)),
        // The second task is forgotten.
        enqueue: Some(Box::new(|kernel, task| {
            if task == TaskId(0) {
                kernel.dsq_insert(task, DSQ_GLOBAL, SLICE_DFL, 0);
            }
        })),
        ..Probe::default()
    };
    let apps = vec![("good", 0, 1024, 1, vec![compute(9_000)]), ("bad", 0, 1024, 1, vec![compute(10)])];
    let (report, log) = probe(2, scheduler, apps, 20_000);
    let text =
        "scheduler `probe` is disabled (runnable task stall): bad rank 0 (pid 2) failed to run for 3.000s";
    assert_eq!(failure(&report), text);
    assert_eq!(log.last().unwrap(), "3000 exit 1026 bad rank 0 (pid 2) failed to run for 3.000s");
}

/// What happens to a task that is reniced at 5 ms: what was noted then.
fn reniced(scheduler: Probe) -> Vec<String> {
    let mut apps =
        submitted(vec![("a", 0, 1024, 1, vec![compute(20)]), ("b", 1, 1024, 1, vec![compute(20)])]);
    let at = Time::from_ns(5_000_000);
    apps[1].commands = vec![Command { at, order: 0, act: Act::Weight(512) }];
    let log = Arc::clone(&scheduler.log);
    run_apps(machine(&[(Level::Core, 1)]), scheduler, apps, 9);
    let log = log.lock().unwrap();
    log.iter().filter(|line| line.starts_with("5 ")).cloned().collect()
}

#[test]
fn a_task_that_is_reniced_while_it_waits_is_taken_out_and_put_in_again() {
    let asked: Doing = Box::new(|kernel, task| {
        // The second one stays with the scheduler.
        if task == TaskId(0) {
            kernel.dsq_insert(task, DSQ_GLOBAL, SLICE_INF, 0);
        }
    });
    let wanted = [
        "5 dequeue task1 0x2",
        "5 quiescent task1 0x2",
        "5 set_weight task1 50",
        "5 runnable task1 0x2",
        "5 enqueue task1 0x2",
    ];
    assert_eq!(reniced(Probe { given: TOLD, enqueue: Some(asked), ..Probe::default() }), wanted);
    // In a queue it is nobody's.
    assert_eq!(reniced(Probe { given: TOLD, enqueue: global(), ..Probe::default() }), wanted[1..]);
    // A local queue is left as it is.
    let local: Doing = Box::new(|kernel, task| kernel.dsq_insert(task, DSQ_LOCAL, SLICE_INF, 0));
    assert_eq!(reniced(Probe { given: TOLD, enqueue: Some(local), ..Probe::default() }), wanted[2..3]);
    // One that runs stops and runs again.
    let first: Doing = Box::new(|kernel, task| {
        kernel.dsq_insert(task, DSQ_LOCAL, 9_000_000, u64::from(task.0) * ENQ_PREEMPT);
    });
    let wanted = [
        "5 stopping task1 false 5000000",
        "5 quiescent task1 0x2",
        "5 set_weight task1 50",
        "5 runnable task1 0x2",
        "5 running task1 cpu0",
    ];
    assert_eq!(reniced(Probe { given: TOLD, enqueue: Some(first), ..Probe::default() }), wanted);
}

#[test]
fn a_yield_ends_the_slice() {
    let phases = vec![compute(5), Op::Yield, compute(5)];
    let scheduler = Probe { given: TOLD, enqueue: global(), ..Probe::default() };
    let (report, log) = probe(1, scheduler, vec![("a", 0, 1024, 2, phases)], 100);
    assert_eq!(ends(&report), [20]);
    assert!(log.contains(&"5 stopping task0 true 0".to_owned()), "{log:?}");
    assert!(log.contains(&"5 running task1 cpu0".to_owned()), "{log:?}");
}
