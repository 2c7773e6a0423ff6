//! Parameters of runtimes: the table all share, and what some add.

use notation::parameter::{Kind, Parameter};

pub(super) const WAITS: &[&str] = &["spin", "yield", "block", "spin-then-block", "yield-to"];
pub(super) const BARRIERS: &[&str] = &["central", "tree", "dissemination"];
pub(super) const YIELDING: &[&str] = &["never", "always", "oversubscribed"];
pub(super) const STARTUPS: &[&str] = &["master", "launcher"];
pub(super) const TOUCHES: &[&str] = &["work", "each", "master"];
pub(super) const LIBRARIES: &[&str] = &["throughput", "turnaround"];

pub(super) const SPIN: u64 = 0;
pub(super) const YIELD: u64 = 1;
pub(super) const BLOCK: u64 = 2;
pub(super) const SPIN_THEN_BLOCK: u64 = 3;
pub(super) const YIELD_TO: u64 = 4;

pub(super) const CENTRAL: u64 = 0;
pub(super) const TREE: u64 = 1;
pub(super) const DISSEMINATION: u64 = 2;

pub(super) const NEVER: u64 = 0;
pub(super) const ALWAYS: u64 = 1;
pub(super) const OVERSUBSCRIBED: u64 = 2;

pub(super) const MASTER: u64 = 0;
pub(super) const LAUNCHER: u64 = 1;

pub(super) const WORK: u64 = 0;
pub(super) const EACH: u64 = 1;
pub(super) const BY_MASTER: u64 = 2;

/// Default block time of the Intel OpenMP runtime (`KMP_BLOCKTIME`), 200 ms.
pub(super) const BLOCK_TIME: u64 = 200_000_000;

/// What differs between runtimes in the table they share.
pub(super) struct Preset {
    pub(super) wait: u64,
    pub(super) yielding: u64,
    pub(super) barrier: u64,
    pub(super) processes: bool,
    pub(super) startup: u64,
    pub(super) start_barrier: bool,
    pub(super) start_sleep: bool,
    pub(super) touch: u64,
}

/// Waits at a central barrier and comes up without further ado.
pub(super) const PLAIN: Preset = Preset {
    wait: SPIN,
    yielding: ALWAYS,
    barrier: CENTRAL,
    processes: false,
    startup: MASTER,
    start_barrier: false,
    start_sleep: false,
    touch: WORK,
};

/// The parameters all runtimes share.
const fn shared(p: &Preset) -> [Parameter; 9] {
    [
        choice(
            "wait",
            WAITS,
            p.wait,
            "What a waiting task does: `spin` polls, `yield` polls and yields, `block` sleeps at once, `spin-then-block` \
                polls for a while and then sleeps, `yield-to` yields to a task of the same application.",
        ),
        choice(
            "yielding",
            YIELDING,
            p.yielding,
            "Whether `spin-then-block` yields after each poll: never, always, or when the application has more tasks \
                than cpus that it may use.",
        ),
        choice("barrier", BARRIERS, p.barrier, "Barrier algorithm."),
        Parameter {
            name: "arity",
            kind: Kind::Count,
            default: 4,
            min: 2,
            max: 1 << 16,
            about: "Children per inner rank of a tree barrier (4 in the Intel OpenMP runtime).",
        },
        flag(
            "processes",
            p.processes,
            "Tasks are processes instead of threads of one process. Switches between processes cost more.",
        ),
        choice(
            "startup",
            STARTUPS,
            p.startup,
            "Creator of the tasks, which are created one after another: rank 0 (`master`), or a launcher on cpu 0 such \
                as mpiexec (`launcher`).",
        ),
        flag(
            "start_barrier",
            p.start_barrier,
            "All tasks meet at a barrier once before the program proper begins.",
        ),
        flag(
            "start_sleep",
            p.start_sleep,
            "A task that waits at the start barrier sleeps at once, whatever it does at other barriers.",
        ),
        choice(
            "touch",
            TOUCHES,
            p.touch,
            "When first-touch pages get their NUMA node: at the first compute operation of each task (`work`), when each \
                task first runs, before the start barrier (`each`), or all of them when rank 0 first runs (`master`).",
        ),
    ]
}

/// Of runtimes that poll for a time.
const TIMED: Parameter = Parameter {
    name: "block_time",
    kind: Kind::Duration,
    default: BLOCK_TIME,
    min: 0,
    max: u64::MAX,
    about: "How long `spin-then-block` polls before it sleeps. `0s` and `infinite` are allowed. 200ms is the default of \
        KMP_BLOCKTIME.",
};

/// What the Intel OpenMP runtime calls its library mode.
const LIBRARY: Parameter = choice(
    "library",
    LIBRARIES,
    0,
    "KMP_LIBRARY. `throughput` waits as the other parameters define. `turnaround` never sleeps, and yields only with \
        more tasks than cpus.",
);

/// Of runtimes that poll for a number of looks.
const fn counted(spins: u64, throttled: u64, step: u64) -> [Parameter; 3] {
    [
        Parameter {
            name: "spin_count",
            kind: Kind::Count,
            default: spins,
            min: 0,
            max: 1_000_000_000_000,
            about: "Number of polls before `spin-then-block` sleeps (GOMP_SPINCOUNT: 300000 by default, 30000000000 with \
                OMP_WAIT_POLICY=active, 0 with passive).",
        },
        Parameter {
            name: "throttled_spin_count",
            kind: Kind::Count,
            default: throttled,
            min: 0,
            max: 1_000_000_000_000,
            about: "Largest number of polls when the application has more tasks than cpus that it may use (libgomp: 100 \
                by default, 1000 with OMP_WAIT_POLICY=active).",
        },
        Parameter {
            name: "spin_step",
            kind: Kind::Duration,
            default: step,
            min: 1,
            max: 1_000_000,
            about: "Time of one poll. With a pause instruction it is about 10ns on processors up to 2015 and 45ns from \
                Skylake on. A bare load and compare (Open64) takes 1 to 3ns. Uncertain.",
        },
    ]
}

const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    default: u64,
    about: &'static str,
) -> Parameter {
    Parameter { name, kind: Kind::Choice(words), default, min: 0, max: words.len() as u64 - 1, about }
}

const fn flag(name: &'static str, default: bool, about: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Flag, default: default as u64, min: 0, max: 1, about }
}

/// The shared table and a block time.
pub(super) const fn timed(preset: &Preset) -> [Parameter; 10] {
    let [wait, yielding, barrier, arity, processes, startup, start_barrier, start_sleep, touch] =
        shared(preset);
    [wait, TIMED, yielding, barrier, arity, processes, startup, start_barrier, start_sleep, touch]
}

/// The same with Intel's library mode.
pub(super) const fn library(preset: &Preset) -> [Parameter; 11] {
    let [wait, time, yielding, barrier, arity, processes, startup, start_barrier, start_sleep, touch] =
        timed(preset);
    [wait, time, LIBRARY, yielding, barrier, arity, processes, startup, start_barrier, start_sleep, touch]
}

/// The shared table and numbers of looks; nobody is throttled when both numbers are the same.
pub(super) const fn spinning(preset: &Preset, spins: u64, throttled: u64, step: u64) -> [Parameter; 12] {
    let [wait, yielding, barrier, arity, processes, startup, start_barrier, start_sleep, touch] =
        shared(preset);
    let [count, fewer, step] = counted(spins, throttled, step);
    [
        wait,
        count,
        fewer,
        step,
        yielding,
        barrier,
        arity,
        processes,
        startup,
        start_barrier,
        start_sleep,
        touch,
    ]
}
