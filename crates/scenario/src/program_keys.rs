//! The keys of programs that scenarios write themselves, and of their kinds of tasks.

use notation::parameter::Kind;
use notation::units;
use policies::PolicyRegistry;
use serde_json::{Value as Json, json};
use sim_core::limits::MAX_TASKS;
use workloads::LOCK_KINDS;
use workloads::program::{MOST_NAMES, PROFILE};
use workloads::runtimes::RUNTIMES;

use crate::forms::{Count, Cpus, Duration, Flag, Nice, Runtime, SchedulingPolicy, entries};
use crate::graph_keys::Graphs;
use crate::json::{WORD, parameters};
use crate::key::{Form, Inside, Key, keys, names, properties};
use crate::limits::MAX_HORIZON_NS;

/// Most items that a queue holds, units of a semaphore, parties of a barrier.
pub(crate) const MOST_UNITS: u64 = 1 << 30;

/// Most servers of a device.
pub(crate) const MOST_SERVERS: u64 = 1 << 16;

keys! {
    /// A program as written.
    struct ProgramKeys

    /// Kinds of tasks by name. Without it there is one kind, and `count` and `code` stand in its place.
    kinds: Kinds {}

    /// Tasks of the only kind (default 1).
    count: Count<1, MAX_TASKS> {}

    /// Threads of each task of the only kind, for parallel regions (default 1).
    threads: Count<1, MAX_TASKS> {}

    /// What each task of the only kind does.
    code: Code {}

    /// Whether the tasks of the only kind answer requests. Default: if they wait for clocks, or for queues
    /// that arrivals feed.
    requests: Flag {}

    /// Locks by name: their kinds (default `mutex`), or `{ ceiling: PRIORITY }`.
    locks: Named<Locks> {}

    /// Units of semaphores at the start, by name (default 0).
    semaphores: Named<Units> {}

    /// Queues by name: how many items one holds (default: any number), and the work of copying an item, for
    /// its sender and for its receiver.
    queues: Named<Queues> {}

    /// How many tasks meet at a barrier, by name (default: all tasks of the kinds that use it).
    barriers: Named<Parties> {}

    /// Servers of devices by name (default 1): how many pieces of work one does at once.
    devices: Named<Servers> {}

    /// Graphs of jobs by name, for `work NAME`. Each can be the path of a file beside the scenario.
    graphs: Named<Graphs> {}

    /// Lengths by their quantiles, in ascending order: equally likely parts between them.
    tables: Named<Lengths> {}

    /// Requests from outside, by the name of the queue that they enter. No scheduling delays them. They are
    /// lost when a bounded queue is full.
    arrivals: Named<Feeds> {}

    /// Values by name, for words that begin with `$`: `run $service`.
    values: Named<Values> {}

    /// Memory profiles by name, with the parameters of `spmd`, for `run 5ms with NAME`.
    profiles: Named<Profiles> {}

    /// Runtimes by name, for single statements: `receive jobs by NAME`.
    runtimes: Named<OwnRuntimes> {}

    /// Blocks by name, for `call NAME`.
    sections: Named<Code> {}

    /// Names that mean the same in all applications that share them.
    shared: Names {}
}

keys! {
    /// A kind of tasks as written.
    struct KindKeys

    /// Its tasks (default 1). Of a kind that others fork: how many run at most at the same time.
    count: Count<1, MAX_TASKS> {}

    /// Threads of each of them, which do the parallel regions of the code together (default 1).
    threads: Count<1, MAX_TASKS> {}

    /// What each of them does: statements, as a text or as a list.
    code: Code {}

    /// Nice value, or a list with one for each rank. Default: that of the application.
    nice: Nice {}

    /// Cpus that it may use. Default: those of the application.
    cpus: Cpus {}

    /// Scheduling policy of its tasks. Default: that of the application.
    scheduling: SchedulingPolicy {}

    /// Slice of each of its tasks. Default: that of the application.
    slice: Duration<100_000, 100_000_000> {}

    /// How its tasks wait. Default: that of the application, else `block`. With `threads` it can be two:
    /// `mpi` for the first threads of teams among each other, `openmp` for the threads of a team.
    runtime: Runtime {}

    /// How long after it came a request should be answered. Default: that of the application, else the
    /// period of the only clock that its tasks wait for.
    deadline: Duration<1, MAX_HORIZON_NS> {}

    /// Whether the run ends without waiting for it. Default: if its code has no end and there is no
    /// `window`, or if others fork it.
    background: Flag {}

    /// Whether its tasks answer requests. Default: if they wait for clocks, or for queues that arrivals feed.
    requests: Flag {}
}

keys! {
    /// A lock that is no kind, as written.
    struct LockKeys

    /// Real-time priority that a task has at least while it has the lock or waits for it
    /// (`PTHREAD_PRIO_PROTECT`). No task that takes it has a higher one of its own.
    ceiling: Count<1, 99> {}
}

keys! {
    /// A queue as written.
    struct QueueKeys

    /// Items that it holds at most.
    places: Count<1, MOST_UNITS> {}

    /// Work of copying an item, for its sender and for its receiver.
    copy: Duration<0, MAX_HORIZON_NS> {}
}

keys! {
    /// What feeds a queue, as written: one of the first four, and when it begins and ends.
    struct FeedKeys

    /// Requests at the start and then in these intervals.
    every: Duration<1, MAX_HORIZON_NS> {}

    /// Requests at exponentially distributed intervals with this mean, drawn from the seed.
    mean: Duration<1, MAX_HORIZON_NS> {}

    /// Two states in turn, each with a mean interval and a mean length: bursts.
    bursts: Bursts {}

    /// Requests so long after the start, in ascending order.
    at: Lengths {}

    /// When the first request can come, after the start of the application (default 0s).
    start: Duration<0, MAX_HORIZON_NS> {}

    /// How many requests come at most (default: any number).
    count: Count<1, MOST_UNITS> {}
}

keys! {
    /// Bursts as written.
    struct BurstKeys

    /// The mean intervals of the two states.
    means: Lengths {}

    /// The mean lengths of the two states.
    last: Lengths {}
}

/// The keys of a program.
pub(crate) const PROGRAM: &[Key] = ProgramKeys::KEYS;

/// A program: its keys, or the path of a file with them.
pub(crate) struct Program;

impl Form for Program {
    const INSIDE: Inside = Inside::Tree(PROGRAM);

    fn schema(key: &Key, policies: &PolicyRegistry) -> Json {
        let file = json!({ "type": "string", "description": "A file beside the scenario." });
        json!({ "description": key.about(), "anyOf": [file, mapping(PROGRAM, policies)] })
    }
}

fn mapping(keys: &[Key], policies: &PolicyRegistry) -> Json {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties(keys, policies),
    })
}

/// Something with a name each.
pub(crate) struct Named<T>(std::marker::PhantomData<T>);

impl<T: Form> Form for Named<T> {
    fn schema(key: &Key, policies: &PolicyRegistry) -> Json {
        json!({
            "type": "object",
            "description": key.about(),
            "maxProperties": MOST_NAMES,
            "propertyNames": { "pattern": WORD },
            "additionalProperties": T::schema(key, policies),
        })
    }
}

/// Declares forms by their schemas.
macro_rules! forms {
    ($($(#[$about:meta])* $name:ident: |$policies:ident| $schema:expr;)+) => {$(
        $(#[$about])*
        pub(crate) struct $name;

        impl Form for $name {
            fn schema(_: &Key, $policies: &PolicyRegistry) -> Json {
                $schema
            }
        }
    )+};
}

forms! {
    /// Kinds of tasks.
    Kinds: |policies| json!({
        "type": "object",
        "minProperties": 1,
        "propertyNames": { "pattern": WORD },
        "additionalProperties": mapping(KindKeys::KEYS, policies),
    });

    /// Statements.
    Code: |_policies| json!({ "type": ["string", "array"] });

    /// Words.
    Names: |_policies| json!({ "type": "array", "items": { "type": "string", "pattern": WORD } });

    /// The name of a kind of locks, or a ceiling.
    Locks: |policies| {
        let kinds = json!({ "enum": LOCK_KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>() });
        let mut ceiling = mapping(LockKeys::KEYS, policies);
        ceiling["required"] = json!(["ceiling"]);
        json!({ "anyOf": [kinds, ceiling] })
    };

    /// A number of units.
    Units: |_policies| json!({ "type": "integer", "minimum": 0, "maximum": MOST_UNITS });

    /// How many tasks meet.
    Parties: |_policies| json!({ "type": "integer", "minimum": 1, "maximum": MOST_UNITS });

    /// Servers of a device.
    Servers: |_policies| json!({ "type": "integer", "minimum": 1, "maximum": MOST_SERVERS });

    /// A queue.
    Queues: |policies| mapping(QueueKeys::KEYS, policies);

    /// Lengths of time.
    Lengths: |_policies| json!({
        "type": "array",
        "items": { "type": "string", "pattern": units::pattern(Kind::Duration) },
    });

    /// What feeds a queue.
    Feeds: |policies| {
        let mut schema = mapping(FeedKeys::KEYS, policies);
        let sorts = names(FeedKeys::KEYS);
        let one = |sort: &&str| json!({ "required": [sort] });
        schema["oneOf"] = sorts.iter().take(SORTS).map(one).collect();
        schema
    };

    /// Bursts.
    Bursts: |policies| mapping(BurstKeys::KEYS, policies);

    /// A value.
    Values: |_policies| json!({ "type": ["string", "number"] });

    /// A runtime.
    OwnRuntimes: |_policies| entries(&RUNTIMES);

    /// A memory profile.
    Profiles: |_policies| parameters(PROFILE, false);
}

/// How many of the keys of [`FeedKeys`] say when requests come.
pub(crate) const SORTS: usize = 4;
