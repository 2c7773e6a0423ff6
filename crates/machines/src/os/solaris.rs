//! `solaris-9`: the time-sharing class.

use notation::parameter::{Kind, Parameter, Values};
use sim_core::os::{Balancer, Discipline, TsParams};
use sim_core::time::Span;

use super::{Entry, MS, SHORTEST, TICKS_TOGETHER, flag, time};

const PARAMETERS: &[Parameter] = &[
    time(
        "tick",
        10 * MS,
        SHORTEST,
        "Period of the clock tick. The quanta of the dispatch table are counted in ticks.",
    ),
    TICKS_TOGETHER,
    Parameter {
        name: "table",
        kind: Kind::Choice(&["default", "server"]),
        default: 0,
        min: 0,
        max: 1,
        about: "Dispatch table: `default` (quanta of 20 to 200 ms), or `server`, the table for large servers (340 to 400 \
            ms).",
    },
    time(
        "update",
        1_000 * MS,
        SHORTEST,
        "Time between two updates. An update raises the priority of all threads that have gone without a whole quantum.",
    ),
    flag("lift_running", "The update also raises the priority of running threads, not only of waiting ones."),
    flag(
        "every_sleep",
        "Every sleep earns the priority of a sleeper (System V Release 4). If false, only a sleep during which an update \
            happens earns it (2005 source).",
    ),
    Parameter {
        name: "start",
        kind: Kind::Count,
        default: 59,
        min: 0,
        max: 59,
        about: "Priority of the first thread of a program. It is the priority of the shell that starts the program.",
    },
];

/// The entry of the shelf.
pub(super) const SOLARIS_9: Entry = Entry {
    name: "solaris-9",
    summary: "time-sharing class: sixty priorities that fall with cpu use and rise with sleep; a yield puts the caller \
behind its equals",
    source: "illumos (2005 import of Solaris), uts/common/disp/ts.c and ts_dptbl.c",
    about: "The time-sharing class has sixty priorities. A thread that uses up its quantum (20 ms at priority 59, 200 ms \
below 10) loses ten levels. A sleep raises its priority to between 50 and 59. Once a second, a thread that has gone \
without a whole quantum is raised in the same way. A better priority pre-empts at once. Computing programs fall to low \
priorities with long quanta within a second or so. Sleeping threads keep high priorities and interrupt the computing \
ones. A yield puts the caller behind the threads of equal priority. This is the kernel of the Sun Fire E25K. Its policy \
is LGROUP.",
    example: "{ solaris-9: { table: server } }",
    parameters: PARAMETERS,
    balancer: Balancer { policy: "LGROUP", release: "" },
    make: ts,
};

fn ts(values: &Values, _cpus: u32) -> Discipline {
    let span = |name: &str| Span::from_ns(values.get(name));
    Discipline::Ts(TsParams {
        server_table: values.choice("table") == "server",
        clock_tick: span("tick"),
        update: span("update"),
        lift_running: values.flag("lift_running"),
        every_sleep: values.flag("every_sleep"),
        start: values.get("start") as u8,
    })
}
