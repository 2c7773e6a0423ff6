//! Programs that wait for each other through pipes, mutexes, conditions, semaphores and sockets, beside a
//! host (cases/host-waits.csv).

use std::fmt::Write as _;

use experiment::run::run;
use scenario::{Overrides, load};

use crate::support::{folder, mean};

/// How often each program does what it does.
const TIMES: u32 = 2_000;

/// Work of a byte at one end of a pipe: half of what `waits copy` takes.
const BYTE: &str = "{ copy: 215ns }";
/// Work of a message at one end of a socket: half of what `waits message` takes.
const MESSAGE: &str = "{ copy: 650ns }";
/// What the calls of a turn take where nobody waits: a few atomic operations (estimate).
const CALLS: &str = "run 50ns";
/// By how much work on the host differs from what is asked, because the clock is read now and then (estimate).
const NOISE: &str = "uniform 3%";

/// A row of host-waits.csv: arguments of waits.c.
#[derive(Debug)]
struct Row {
    what: String,
    numbers: Vec<u32>,
    /// Microseconds of one turn, item, section or message: the median of the runs.
    median: f64,
    /// The least and the most that the model may differ from it, %.
    between: [f64; 2],
}

fn rows() -> Vec<Row> {
    let lines = include_str!("cases/host-waits.csv").lines().filter(|line| !line.starts_with('#')).skip(1);
    let rows = lines.map(|line| {
        let at: Vec<&str> = line.split(',').collect();
        let mut words = at[0].split(' ');
        let what = words.next().unwrap().to_owned();
        let number = |i: usize| at[i].parse().unwrap();
        let numbers = words.map(|word| word.parse().unwrap()).collect();
        Row { what, numbers, median: number(1), between: [number(4), number(5)] }
    });
    rows.collect()
}

/// What `waits.c` does, as applications; and how many turns, items, sections or messages that is.
fn apps(row: &Row) -> (String, u32) {
    let n = |i: usize| row.numbers[i];
    let two = |objects: &str, a: &str, b: &str| {
        format!(
            "  x:\n    program:\n{objects}      kinds:\n        a: {{ cpus: [{}], code: \"{a}\" }}\n        b: \
             {{ cpus: [{}], code: \"{b}\" }}\n",
            n(0),
            n(1)
        )
    };
    match row.what.as_str() {
        // Two processes.
        "pipe" => {
            let queues = format!("shared: [to, back]\n      queues: {{ to: {BYTE}, back: {BYTE} }}");
            let app = |name: &str, cpu: u32, code: &str| {
                format!(
                    "  {name}:\n    cpus: [{cpu}]\n    program:\n      {queues}\n      code: \"repeat {TIMES} {{ \
                     {code} }}\"\n"
                )
            };
            (app("a", n(0), "send to; receive back") + &app("b", n(1), "receive to; send back"), TIMES)
        }
        "condition" => {
            let a = format!(
                "sleep 1ms; lock m; repeat {TIMES} {{ {CALLS}; signal two; wait one with m }}; unlock m"
            );
            let b = format!("lock m; repeat {TIMES} {{ {CALLS}; wait two with m; signal one }}; unlock m");
            (two("", &a, &b), TIMES)
        }
        "semaphore" => {
            let a = format!("repeat {TIMES} {{ acquire one; {CALLS}; release two }}");
            let b = format!("repeat {TIMES} {{ acquire two; {CALLS}; release one }}");
            (two("      semaphores: { one: 1 }\n", &a, &b), TIMES)
        }
        "buffer" => {
            let a = format!("repeat {TIMES} {{ run {}us; send items }}", n(2));
            let b = format!("repeat {TIMES} {{ receive items; run {}us }}", n(3));
            (two(&format!("      queues: {{ items: {{ places: {} }} }}\n", n(4)), &a, &b), TIMES)
        }
        "mutex" => {
            let code = format!(
                "repeat {TIMES} {{ run {}us {NOISE}; lock m; run {}us {NOISE}; unlock m }}",
                n(1),
                n(2)
            );
            let app = format!("  x:\n    program:\n      count: {}\n      code: \"{code}\"\n", n(0));
            (app, TIMES * n(0))
        }
        "priority" => {
            let lock = ["mutex", "inherit", "{ ceiling: 30 }"][n(0) as usize];
            let kind = |name: &str, priority: u32, code: String| {
                format!("        {name}: {{ scheduling: {{ fifo: {priority} }}, code: \"{code}\" }}\n")
            };
            let low = kind("low", 10, format!("lock m; run {}ms; unlock m", n(1)));
            let middle = kind("middle", 20, format!("sleep 5ms; run {}ms", n(2)));
            let high = kind("high", 30, "sleep 5ms; lock m; run 1ms; unlock m".into());
            let objects = format!("      locks: {{ m: {lock} }}\n      kinds:\n");
            (format!("  x:\n    cpus: [0]\n    program:\n{objects}{low}{middle}{high}"), 1)
        }
        "sockets" => (sockets(n(0), n(1), n(2)), TIMES / 10 * n(0) * n(1)),
        other => panic!("unknown case {other}"),
    }
}

/// Each sender, a process, makes messages for each receiver in turn.
fn sockets(senders: u32, receivers: u32, us: u32) -> String {
    let mut text = String::new();
    let mut app = |name: String, queues: &[u32], code: String| {
        let names: Vec<String> = queues.iter().map(|queue| format!("s{queue}")).collect();
        let copies: Vec<String> = names.iter().map(|name| format!("{name}: {MESSAGE}")).collect();
        let (names, copies) = (names.join(", "), copies.join(", "));
        write!(
            text,
            "  {name}:\n    program:\n      shared: [{names}]\n      queues: {{ {copies} }}\n      code: \"{code}\"\n"
        )
        .unwrap();
    };
    let all: Vec<u32> = (0..receivers).collect();
    for sender in 0..senders {
        let each: String = all.iter().map(|queue| format!("run {us}us; send s{queue}; ")).collect();
        app(format!("a{sender}"), &all, format!("repeat {} {{ {each}}}", TIMES / 10));
    }
    for queue in all {
        let count = TIMES / 10 * senders;
        app(format!("b{queue}"), &[queue], format!("repeat {count} {{ receive s{queue} }}"));
    }
    text
}

/// The same microseconds, in the mean of three seeds.
fn simulated(row: &Row) -> f64 {
    let machine = folder().join("host-waits.yaml");
    let (apps, times) = apps(row);
    let text = format!(
        "name: t\nmachine: {}\nstart_jitter: 0s\nbaseline: none\nrepeat: 3\npolicies: [LOAD]\napps:\n{apps}",
        machine.display()
    );
    let experiment =
        load("text", &text, &Overrides::default()).unwrap_or_else(|said| panic!("{said}\n{text}"));
    let found = run(&experiment, 1, &|_, _| {}).unwrap();
    let of = |app, metric| mean(&found, "", "LOAD", app, metric) * 1e6;
    match row.what.as_str() {
        "priority" => of("x-high", "run_time") - 5_000.0,
        _ => of("all", "makespan") / f64::from(times),
    }
}

#[test]
fn waits_take_as_long_as_on_a_host_or_as_the_table_says() {
    let mut said = String::new();
    for row in rows() {
        let found = simulated(&row);
        let off = (found / row.median - 1.0) * 100.0;
        if !(row.between[0]..=row.between[1]).contains(&off) {
            writeln!(said, "{} {:?}: {found:.1}, there {}: {off:+.0} %", row.what, row.numbers, row.median)
                .unwrap();
        }
    }
    assert!(said.is_empty(), "{said}");
}
