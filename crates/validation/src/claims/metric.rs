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

impl Metric {
    /// Whether less of it is better. A change of cache misses is an improvement where it is positive.
    #[must_use]
    pub const fn low_is_better(self) -> bool {
        matches!(
            self,
            Self::Variation
                | Self::RunTime
                | Self::RelTime
                | Self::PairReduction
                | Self::WaitFraction
                | Self::JobRunTime
                | Self::RelCpuTime
                | Self::CpuTime
                | Self::RelExtension
                | Self::MigrationRate
        )
    }

    /// The value that says that nothing changes.
    #[must_use]
    pub const fn neutral(self) -> f64 {
        match self {
            Self::RelPerf
            | Self::RelTime
            | Self::PairSumRatio
            | Self::PairThroughput
            | Self::QueueThroughput => 1.0,
            Self::RelCpuTime => 100.0,
            _ => 0.0,
        }
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

/// The groups of claims by the experiments they belong to.
const GROUPS: [(Family, &[&str]); 9] = [
    (
        Family::Dedicated,
        &["dedicated-upc", "dedicated-mpi", "dedicated-omp", "counters", "reversal", "expectation"],
    ),
    (Family::Predictor, &["predictor"]),
    (Family::Waiting, &["yield", "affinity", "kmp"]),
    (Family::Partitions, &["share-partition"]),
    (Family::Sharing, &["share-dedicated", "share-variation", "imbalanced"]),
    (Family::Gangs, &["gang"]),
    (Family::Speed, &["speed", "hog"]),
    (
        Family::Swomps,
        &["swomps-t1-binding", "swomps-t4-pairs", "swomps-t5-pairs", "swomps-queue11", "swomps-queue3"],
    ),
    (
        Family::Parbench,
        &["parbench-seq", "parbench-t1", "parbench-t2", "parbench-t3", "parbench-t4", "parbench-t5"],
    ),
];

impl Family {
    /// The family of a group of claims.
    pub(super) fn of(group: &str) -> Option<Self> {
        GROUPS.iter().find(|(_, groups)| groups.contains(&group)).map(|(family, _)| *family)
    }
}
