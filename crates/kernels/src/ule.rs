//! The rules of the balancer of ULE, each a key of `kernel:`.

use notation::{choices, parameters};

choices! {
    /// Where a thread goes (`sched_pickcpu`).
    pub enum Places {
        /// To its last cpu if idle, to the idle one with the lowest number, to the one with the fewest
        /// threads.
        LowestIdle = "lowest-idle",
        /// To its last cpu if idle and warm, within its warm cache, to the least loaded cpu by levels.
        Nearest = "nearest",
    }
}

choices! {
    /// From where an idle cpu steals (`tdq_idled`).
    pub enum Steals {
        /// From its core, else from the longest queue of the machine; it looks again at each tick.
        Longest = "longest",
        /// From the longest queue of the nearest level; it looks once.
        Nearest = "nearest",
    }
}

choices! {
    /// What a pass of the long-term balancer does (`sched_balance`).
    pub enum Balances {
        /// One pair of cores, and within each core.
        Pair = "pair",
        /// All queues of the machine, longest to shortest.
        All = "all",
    }
}

parameters! {
    /// The rules of the balancer of ULE.
    pub struct UleRules {
        /// Balancer: where a thread goes (sched_pickcpu): to its last cpu if that is idle, else to the idle
        /// one with the lowest number (`lowest-idle`, FreeBSD 7); or near its warm cache (`nearest`, FreeBSD
        /// 12 and later).
        places: Places = Places::LowestIdle;
        /// Balancer: from where an idle cpu steals (tdq_idled): from its core or the longest queue, looking
        /// again at each tick (`longest`, FreeBSD 7); or from the nearest long queue, looking once
        /// (`nearest`, FreeBSD 12 and later).
        steals: Steals = Steals::Longest;
        /// Balancer: what a pass of the long-term balancer evens out (sched_balance): one pair of cores, and
        /// the threads of each core (`pair`, FreeBSD 7); or all queues of the machine (`all`, FreeBSD 12 and
        /// later).
        balances: Balances = Balances::Pair;
        /// Balancer: threads that a queue must have before an idle cpu steals from it
        /// (kern.sched.steal_thresh); 1 means 2. 0: the base-2 logarithm of the number of cpus, at most 3
        /// (sched_initticks of FreeBSD 7).
        steal_threshold: u64 = 0, in 0..=1_000;
    }
}
