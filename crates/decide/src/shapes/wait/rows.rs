//! The settings of waiting that each runtime has: what one types, and what it is in a scenario.

/// A setting of a runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    /// What is typed: an assignment of an environment variable; empty for the default.
    pub(super) typed: &'static str,
    /// What it does, in a few words.
    pub(super) about: &'static str,
    /// The runtime as a scenario writes it.
    pub(super) runtime: &'static str,
}

impl Row {
    const fn new(typed: &'static str, about: &'static str, runtime: &'static str) -> Self {
        Self { typed, about, runtime }
    }
}

/// A runtime with its settings.
#[derive(Debug)]
pub(super) struct Runtime {
    /// Its name in scenarios.
    pub(super) name: &'static str,
    /// Its ranks are processes, each a task of its own; else the threads of one team.
    pub(super) processes: bool,
    /// Its settings, from sleeping at once to polling for ever.
    pub(super) rows: &'static [Row],
}

/// The runtimes whose waiting a user can set. A poll of libgomp takes about 20 ns (`spin_step`): the two
/// short limits are 20 us, some times what sleeping and waking take, and 1 ms, some regions. The block times
/// are of the same order.
///
/// Sources: the manual of libgomp (OMP_WAIT_POLICY, GOMP_SPINCOUNT); LLVM OpenMP, kmp_settings.cpp
/// (KMP_BLOCKTIME, in us since LLVM 18); Open MPI, ompi_mpi_params.c (mpi_yield_when_idle).
pub(super) const RUNTIMES: [Runtime; 4] = [
    Runtime {
        name: "libgomp",
        processes: false,
        rows: &[
            Row::new("OMP_WAIT_POLICY=passive", "sleep at once", "{ libgomp: { spin_count: 0 } }"),
            Row::new("GOMP_SPINCOUNT=1000", "poll for 20 us", "{ libgomp: { spin_count: 1000 } }"),
            Row::new("GOMP_SPINCOUNT=50000", "poll for 1 ms", "{ libgomp: { spin_count: 50000 } }"),
            Row::new("", "poll for 6 ms (300,000 times)", "libgomp"),
            Row::new(
                "OMP_WAIT_POLICY=active",
                "poll for ever",
                "{ libgomp: { spin_count: 30000000000, throttled_spin_count: 1000 } }",
            ),
        ],
    },
    Runtime {
        name: "libomp",
        processes: false,
        rows: &[
            Row::new("KMP_BLOCKTIME=0", "sleep at once", "{ libomp: { block_time: 0s } }"),
            Row::new("KMP_BLOCKTIME=50us", "poll for 50 us, with yields", "{ libomp: { block_time: 50us } }"),
            Row::new("KMP_BLOCKTIME=1", "poll for 1 ms, with yields", "{ libomp: { block_time: 1ms } }"),
            Row::new("", "poll for 200 ms, with yields", "libomp"),
            Row::new(
                "KMP_BLOCKTIME=infinite",
                "poll for ever, with yields",
                "{ libomp: { block_time: infinite } }",
            ),
            Row::new("KMP_LIBRARY=turnaround", "poll for ever", "{ libomp: { library: turnaround } }"),
        ],
    },
    Runtime {
        name: "openmp",
        processes: false,
        rows: &[
            Row::new("KMP_BLOCKTIME=0", "sleep at once", "{ openmp: { block_time: 0s } }"),
            Row::new("KMP_BLOCKTIME=1", "poll for 1 ms, with yields", "{ openmp: { block_time: 1ms } }"),
            Row::new("", "poll for 200 ms, mostly with yields", "openmp"),
            Row::new("KMP_LIBRARY=turnaround", "poll for ever", "{ openmp: { library: turnaround } }"),
        ],
    },
    Runtime {
        name: "openmpi",
        processes: true,
        rows: &[
            Row::new("OMPI_MCA_mpi_yield_when_idle=1", "poll and yield", "{ openmpi: { yielding: always } }"),
            Row::new("", "poll; yield with more processes than cores", "openmpi"),
            Row::new("OMPI_MCA_mpi_yield_when_idle=0", "poll", "{ openmpi: { yielding: never } }"),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_runtime_has_one_default_and_no_setting_twice() {
        for runtime in &RUNTIMES {
            let names = |of: fn(&Row) -> &str| {
                let mut all: Vec<&str> = runtime.rows.iter().map(of).collect();
                all.sort_unstable();
                all.dedup();
                all.len()
            };
            assert_eq!(runtime.rows.iter().filter(|row| row.typed.is_empty()).count(), 1, "{}", runtime.name);
            assert_eq!(names(|row| row.typed), runtime.rows.len());
            assert_eq!(names(|row| row.runtime), runtime.rows.len());
        }
    }
}
