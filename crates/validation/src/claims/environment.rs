//! What else is on the machine: competitors, partitions, queues, threads of other users.

use super::text::{first, numbers_before};

/// How the programs of a claim share the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// Each has a part of it.
    Partitions,
    /// They come from a queue.
    Queue,
    /// Each is alone.
    Alone,
}

/// What competes with a program, or balances it from inside; of several the first counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beside {
    /// A task that computes for ever on core 0.
    Hog,
    /// `make -j 16`.
    Make,
    /// Another program.
    Program,
    /// Nothing: the program is a pool of threads that steal work.
    Pool,
}

const SHARING: [(&str, Sharing); 4] = [
    ("partition", Sharing::Partitions),
    ("queue", Sharing::Queue),
    ("dedicated", Sharing::Alone),
    ("alone", Sharing::Alone),
];
const BESIDE: [(&str, Beside); 6] = [
    ("hog", Beside::Hog),
    ("make", Beside::Make),
    ("another", Beside::Program),
    ("competi", Beside::Program),
    ("steal", Beside::Pool),
    ("parsec", Beside::Pool),
];

/// Surroundings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Environment {
    /// How programs share the machine, where it is no plain sharing.
    pub sharing: Option<Sharing>,
    /// The competitor, if there is one.
    pub beside: Option<Beside>,
    /// Threads of all users on the machine, in the order written.
    pub user_threads: Vec<u32>,
}

impl Environment {
    /// A workload may name the competitor, too; threads and baseline the user threads.
    pub(super) fn read(text: &str, workload: &str, threads: &str, baseline: &str) -> Self {
        let user_threads = [threads, text, baseline].map(|text| numbers_before(text, "user threads"));
        Self {
            sharing: first(text, &SHARING),
            beside: first(&format!("{text} {workload}"), &BESIDE),
            user_threads: user_threads.concat(),
        }
    }
}
