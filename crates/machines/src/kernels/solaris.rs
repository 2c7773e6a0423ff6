//! `solaris-9`: the time-sharing class.

use notation::parameter::{Kind, Parameter, Values};
use sim_core::kernel_model::{Discipline, TsParams};
use sim_core::time::Span;

use super::{Entry, MS, SHORTEST, TICKS_TOGETHER, flag, time};

const PARAMETERS: &[Parameter] = &[
    time("tick", 10 * MS, SHORTEST, "Clock tick; the quanta of the dispatch table are counted in it"),
    TICKS_TOGETHER,
    Parameter {
        name: "table",
        kind: Kind::Choice(&["default", "server"]),
        default: 0,
        min: 0,
        max: 1,
        about: "Dispatch table: `default` (20 to 200 ms), or `server`, the one for large servers (340 to 400 ms)",
    },
    time(
        "update",
        1_000 * MS,
        SHORTEST,
        "Time between two lifts of all that have gone without a whole quantum",
    ),
    flag("lift_running", "The lift takes in threads that run, not only those that wait"),
    flag(
        "every_sleep",
        "Every sleep earns a sleeper's priority (System V Release 4); otherwise only one that a lift falls into (2005 source)",
    ),
    Parameter {
        name: "start",
        kind: Kind::Count,
        default: 59,
        min: 0,
        max: 59,
        about: "Priority of the first thread of a program: that of the shell that starts it",
    },
];

/// The entry of the shelf.
pub(super) const SOLARIS_9: Entry = Entry {
    name: "solaris-9",
    summary: "time-sharing class: sixty priorities that sink with use and rise with sleep; a yield goes behind its equals",
    source: "illumos (2005 import of Solaris), uts/common/disp/ts.c and ts_dptbl.c",
    about: "Sixty priorities. A quantum used up (20 ms at priority 59, 200 ms below 10) costs ten levels; a sleep earns 50 \
to 59, and so does, once a second, having gone without a whole quantum. A better priority pre-empts at once. \
Programs that compute sink to long quanta within a second or so; sleepers stay on top and interrupt them. A \
yield goes behind the threads of equal priority. The kernel of the Sun Fire E25K; its policy is LGROUP.",
    example: "{ solaris-9: { table: server } }",
    parameters: PARAMETERS,
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
