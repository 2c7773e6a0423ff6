//! `solaris-9`: the time-sharing class.

use notation::declare::Duration;
use notation::parameter::Values;
use notation::{choices, parameters};
use sim_core::os::{Discipline, TsParams};
use sim_core::time::Span;

use super::balance::Form;
use super::{Entry, Kernel, LONGEST, OsBuilt, SHORTEST};

choices! {
    /// The words of `table`.
    enum Table { Default = "default", Server = "server" }
}

parameters! {
    /// Parameters of `solaris-9`.
    struct Parameters {
        /// Period of the clock tick. The quanta of the dispatch table are counted in ticks.
        tick: Duration = ms(10), in SHORTEST..=LONGEST;
        /// If true, the ticks of the cpus are spread over half a period. If false, all cpus tick at the same
        /// time, because one clock interrupt serves all of them.
        tick_skew: bool = false;
        /// Dispatch table: `default` (quanta of 20 to 200 ms), or `server`, the table for large servers (340
        /// to 400 ms).
        table: Table = Table::Default;
        /// Time between two updates. An update raises the priority of all threads that have gone without a
        /// whole quantum.
        update: Duration = s(1), in SHORTEST..=LONGEST;
        /// The update also raises the priority of running threads, not only of waiting ones.
        lift_running: bool = true;
        /// Every sleep earns the priority of a sleeper (System V Release 4). If false, only a sleep during
        /// which an update happens earns it (2005 source).
        every_sleep: bool = true;
        /// Priority of the first thread of a program. It is the priority of the shell that starts the
        /// program.
        start: u8 = 59, in 0..=59;
    }
}

/// Its entry in the registry.
pub(super) const SOLARIS_9: Entry = Entry {
    name: "solaris-9",
    summary: "time-sharing class: sixty priorities that fall with cpu use and rise with sleep; a yield puts \
        the caller \
behind its equals",
    source: "illumos (2005 import of Solaris), uts/common/disp/ts.c and ts_dptbl.c",
    example: "{ solaris-9: { table: server } }",
    parameters: Parameters::TABLE,
    own: Kernel {
        policy: "LGROUP",
        base: None,
        package: None,
        balance: Form::None,
        real_time: false,
        make: ts,
    },
};

fn ts(values: &Values, _cpus: u32) -> OsBuilt {
    let values = Parameters::from(values);
    let discipline = Discipline::Ts(TsParams {
        server_table: values.table == Table::Server,
        clock_tick: Span::from_ns(values.tick.ns()),
        update: Span::from_ns(values.update.ns()),
        lift_running: values.lift_running,
        every_sleep: values.every_sleep,
        start: values.start,
    });
    OsBuilt { tick: values.tick, tick_skew: values.tick_skew, autogroup: false, discipline }
}
