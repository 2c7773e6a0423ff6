//! What is measured, and in which experiments.

use notation::choices;

choices! {
    /// A metric, by its name in files.
    pub enum Metric {
        RelPerf = "rel-perf-1pc",
        WorkloadChange = "wl-change-1pc",
        Correlation = "correlation",
        Throughput = "throughput-vs-sequence",
        Order = "rel-order",
        BlockTimeGain = "kmp-gain",
        Balance = "user-time-balance",
        CacheMisses = "cache-miss-change",
        YieldGain = "psx-gain",
        PinGain = "pin-gain",
        Variation = "variation",
        PartitionGain = "share-vs-part",
        MeanPartitionGain = "share-vs-part-avg",
        OfDedicated = "frac-dedicated",
        ImbalanceChange = "imbalance-change",
        SpeedGain = "speed-gain",
        RelTime = "rel-time",
        CpuShare = "cpu-share",
        RunTime = "run-time",
        BindGain = "bind-gain",
        PairSumRatio = "pair-sum-ratio",
        PairThroughput = "pair-throughput",
        PairReduction = "pair-reduction",
        PairCount = "pair-count",
        QueueThroughput = "queue-throughput",
        QueueTimeReduction = "queue-time-reduction",
        WaitFraction = "wait-fraction",
        JobRunTime = "job-run-time",
        RelCpuTime = "rel-cpu-time",
        CpuTime = "cpu-time",
        RelExtension = "rel-extension",
        HomeRate = "home-board-rate",
        MigrationRate = "migration-rate",
    }
}

/// A family of experiments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// One program alone: oversubscription.
    Dedicated,
    /// One program alone as a predictor of two.
    Predictor,
    /// One program alone: yields, binding and block time.
    Waiting,
    /// Two programs at once against a partition for each.
    Partitions,
    /// Two programs at once.
    Sharing,
    /// Two programs at once in gangs.
    Gangs,
    /// Fewer cores than threads, and competitors.
    Speed,
    /// SPEC OMP programs in pairs and queues.
    Swomps,
    /// Jobs that fill a large machine.
    Parbench,
}

/// The groups of claims and the experiments they belong to.
const GROUPS: [(&str, Family); 28] = [
    ("dedicated-upc", Family::Dedicated),
    ("dedicated-mpi", Family::Dedicated),
    ("dedicated-omp", Family::Dedicated),
    ("predictor", Family::Predictor),
    ("counters", Family::Dedicated),
    ("reversal", Family::Dedicated),
    ("expectation", Family::Dedicated),
    ("yield", Family::Waiting),
    ("affinity", Family::Waiting),
    ("kmp", Family::Waiting),
    ("share-partition", Family::Partitions),
    ("share-dedicated", Family::Sharing),
    ("share-variation", Family::Sharing),
    ("imbalanced", Family::Sharing),
    ("gang", Family::Gangs),
    ("speed", Family::Speed),
    ("hog", Family::Speed),
    ("swomps-t1-binding", Family::Swomps),
    ("swomps-t4-pairs", Family::Swomps),
    ("swomps-t5-pairs", Family::Swomps),
    ("swomps-queue11", Family::Swomps),
    ("swomps-queue3", Family::Swomps),
    ("parbench-seq", Family::Parbench),
    ("parbench-t1", Family::Parbench),
    ("parbench-t2", Family::Parbench),
    ("parbench-t3", Family::Parbench),
    ("parbench-t4", Family::Parbench),
    ("parbench-t5", Family::Parbench),
];

impl Family {
    /// The family of a group of claims.
    pub(super) fn of(group: &str) -> Option<Self> {
        GROUPS.iter().find(|(known, _)| *known == group).map(|(_, family)| *family)
    }
}
