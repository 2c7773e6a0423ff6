//! The keys of graphs of jobs in programs.

use notation::parameter::Kind;
use notation::yaml::Node;
use policies::PolicyRegistry;
use serde_json::{Value as Json, json};
use sim_core::limits::MAX_JOBS;
use sim_core::program::{JobEnd, JobQueues, Roots, Victims};

use crate::Reader;
use crate::forms::Count;
use crate::json::WORD;
use crate::key::{Form, Key, Value, keys, properties};

/// Most jobs of a graph, rows and columns of a grid, depth and branches of a tree.
const MOST: u64 = MAX_JOBS as u64;

keys! {
    /// A graph of jobs as written: one of the first four, and how tasks share the jobs.
    struct GraphKeys

    /// Jobs by name, or the path of a file with them.
    jobs: Jobs {}

    /// A complete tree of forks and joins.
    tree: Tree {}

    /// A grid in which each job comes after the one above it and the one to its left.
    wavefront: Wavefront {}

    /// Jobs that come after none.
    independent: Independent {}

    /// Where jobs that are ready are: each task has a queue of its own (`own`, the default), to which it adds
    /// what it makes ready, or there is one for all (`one`), whose lock is on one cache line.
    queues: Queues {}

    /// Which job a task takes from its own queue or the one of all. Default: `newest`, or with one queue
    /// `oldest`.
    own: End {}

    /// Which job a task takes from the queue of another one, when its own is empty (default `oldest`). That
    /// takes the latency between their two cpus.
    steal: End {}

    /// In which order a task looks at the queues of others: from one on that is drawn (`random`, the
    /// default), or from the `next` rank on.
    victims: Order {}

    /// Who gets the jobs that come after none: the `first` task to come (the default), or all in `turns`.
    roots: First {}
}

/// How many of the keys of [`GraphKeys`] say which jobs there are.
pub(crate) const SHAPES: usize = 4;

keys! {
    /// A job as written.
    struct JobKeys

    /// Its work, as in the statement `run`. Default: none; then it is done at once.
    run: Run {}

    /// Jobs that are done before it begins.
    after: After {}
}

keys! {
    /// A tree as written.
    struct TreeKeys

    /// Forks on the way to a leaf.
    depth: Count<1, MOST> {}

    /// Branches of each fork (default 2).
    fan: Count<1, MOST> {}

    /// Work of each leaf, as in the statement `run`.
    run: Run {}

    /// Work before the branches of each fork (default: none).
    fork: Run {}

    /// Work after the branches of each fork (default: none).
    join: Run {}
}

keys! {
    /// A grid as written.
    struct WavefrontKeys

    /// Rows.
    rows: Count<1, MOST> {}

    /// Columns (default: as many as rows).
    columns: Count<1, MOST> {}

    /// Work of each job, as in the statement `run`.
    run: Run {}
}

keys! {
    /// Jobs that come after none, as written.
    struct IndependentKeys

    /// How many.
    count: Count<1, MOST> {}

    /// Work of each, as in the statement `run`.
    run: Run {}
}

/// A mapping of keys, all of these required.
fn mapping(keys: &[Key], policies: &PolicyRegistry, required: &[&str]) -> Json {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties(keys, policies),
        "required": required,
    })
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
    /// Graphs.
    Graphs: |policies| {
        let mut whole = mapping(GraphKeys::KEYS, policies, &[]);
        let one = |key: &Key| json!({ "required": [key.name] });
        whole["oneOf"] = GraphKeys::KEYS.iter().take(SHAPES).map(one).collect();
        json!({ "anyOf": [{ "type": "string", "description": "A file beside the scenario." }, whole] })
    };

    /// Jobs by name.
    Jobs: |policies| {
        let jobs = json!({
            "type": "object",
            "minProperties": 1,
            "propertyNames": { "pattern": WORD },
            "additionalProperties": mapping(JobKeys::KEYS, policies, &[]),
        });
        json!({ "anyOf": [{ "type": "string", "description": "A file beside the scenario." }, jobs] })
    };

    /// A tree.
    Tree: |policies| mapping(TreeKeys::KEYS, policies, &["depth", "run"]);

    /// A grid.
    Wavefront: |policies| mapping(WavefrontKeys::KEYS, policies, &["rows", "run"]);

    /// Jobs that come after none.
    Independent: |policies| mapping(IndependentKeys::KEYS, policies, &["count", "run"]);

    /// Work.
    Run: |_policies| json!({ "type": "string" });

    /// Names of jobs.
    After: |_policies| {
        let name = json!({ "type": "string", "pattern": WORD });
        json!({ "anyOf": [name, { "type": "array", "items": name }] })
    };
}

/// Declares choices: a word for each value.
macro_rules! choices {
    ($($(#[$about:meta])* $name:ident -> $read:ty: $($word:literal = $value:expr),+;)+) => {$(
        $(#[$about])*
        pub(crate) struct $name;

        impl Form for $name {
            fn schema(_: &Key, _: &PolicyRegistry) -> Json {
                json!({ "enum": [$($word),+] })
            }
        }

        impl Value for $name {
            type Read = $read;

            fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<$read> {
                const WORDS: &[&str] = &[$($word),+];
                let most = WORDS.len() as u64 - 1;
                let at = reader.value(node, what, Kind::Choice(WORDS), 0, most)?;
                [$($value),+].into_iter().nth(at as usize)
            }
        }
    )+};
}

choices! {
    /// Where jobs are.
    Queues -> JobQueues: "own" = JobQueues::OnePerWorker, "one" = JobQueues::One;

    /// An end of a queue.
    End -> JobEnd: "newest" = JobEnd::Newest, "oldest" = JobEnd::Oldest;

    /// An order of victims.
    Order -> Victims: "random" = Victims::Random, "next" = Victims::Next;

    /// Who gets the first jobs.
    First -> Roots: "first" = Roots::First, "turns" = Roots::InTurns;
}
