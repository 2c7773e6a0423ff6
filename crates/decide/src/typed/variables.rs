//! Environment variables of runtimes and libraries: numbers of threads, waiting, binding.

use super::advice::{Dialect, Lever, Waiting};
use super::case::Case;
use super::libraries::{BINDING, MPI, OPENMP};
use super::row::{PLAIN, Row, UNLAUNCHED};
use super::values;

/// Numbers of threads.
pub(super) const THREADS: &[Row] = &[
    Row {
        name: "OMP_NUM_THREADS",
        levers: &[Lever::Threads],
        runtimes: OPENMP,
        value: values::threads,
        since: "OpenMP 1.0",
        source: "OpenMP 5.0, section 6.2",
        ..PLAIN
    },
    Row {
        name: "GOMAXPROCS",
        levers: &[Lever::Threads],
        runtimes: &["go"],
        value: values::threads,
        since: "Go 1.0; from 1.25 on the default also follows the quota of the control group",
        source: "Go, package runtime, Environment Variables",
        ..PLAIN
    },
    Row {
        name: "OPENBLAS_NUM_THREADS",
        levers: &[Lever::Threads],
        runtimes: &["openblas"],
        value: values::threads,
        since: "OpenBLAS 0.1; a build with OpenMP follows OMP_NUM_THREADS",
        source: "OpenBLAS, README.md, Setting the number of threads using environment variables",
        ..PLAIN
    },
    Row {
        name: "MKL_NUM_THREADS",
        levers: &[Lever::Threads],
        runtimes: &["mkl"],
        value: values::threads,
        since: "MKL 10.0; with MKL_DYNAMIC (the default) it may use fewer",
        source: "oneMKL Developer Guide for Linux, Environment Variables for OpenMP Threading Control",
        ..PLAIN
    },
    Row {
        name: "RAYON_NUM_THREADS",
        levers: &[Lever::Threads],
        runtimes: &["rayon"],
        value: values::threads,
        since: "Rayon 0.8",
        source: "docs.rs/rayon, ThreadPoolBuilder::num_threads",
        ..PLAIN
    },
    Row {
        name: "JAVA_TOOL_OPTIONS",
        levers: &[Lever::Threads],
        runtimes: &["java"],
        value: values::java_cpus,
        since: "JDK 10",
        source: "java(1), -XX:ActiveProcessorCount",
        ..PLAIN
    },
    Row {
        name: "MAKEFLAGS",
        levers: &[Lever::Threads],
        runtimes: &["make"],
        value: values::make_jobs,
        since: "GNU make 3.75",
        source: "make(1), -j; GNU make manual, Options/Recursion",
        ..PLAIN
    },
    Row {
        name: "CARGO_BUILD_JOBS",
        levers: &[Lever::Threads],
        runtimes: &["cargo"],
        dialects: UNLAUNCHED,
        value: values::threads,
        since: "",
        source: "The Cargo Book, Configuration, build.jobs",
        ..PLAIN
    },
    Row {
        name: "CMAKE_BUILD_PARALLEL_LEVEL",
        levers: &[Lever::Threads],
        runtimes: &["cmake"],
        dialects: UNLAUNCHED,
        value: values::threads,
        since: "CMake 3.12, for cmake --build",
        source: "cmake-env-variables(7)",
        ..PLAIN
    },
    Row {
        name: "CTEST_PARALLEL_LEVEL",
        levers: &[Lever::Threads],
        runtimes: &["ctest"],
        dialects: UNLAUNCHED,
        value: values::threads,
        since: "",
        source: "ctest(1), --parallel",
        ..PLAIN
    },
    Row {
        name: "WEB_CONCURRENCY",
        levers: &[Lever::Threads],
        runtimes: &["gunicorn"],
        dialects: UNLAUNCHED,
        value: values::threads,
        since: "an option -w counts instead",
        source: "docs.gunicorn.org, Settings, workers",
        ..PLAIN
    },
];

/// How threads and processes wait.
pub(super) const WAITS: &[Row] = &[
    Row {
        name: "OMP_WAIT_POLICY",
        levers: &[Lever::WaitOfThreads],
        runtimes: &["libgomp"],
        value: values::wait_policy_gnu,
        since: "GCC 4.4; passive is GOMP_SPINCOUNT=0, active 30,000,000,000 polls, or 1,000 with more \
            threads than cpus",
        source: "libgomp manual, GOMP_SPINCOUNT; libgomp/env.c",
        ..PLAIN
    },
    Row {
        name: "OMP_WAIT_POLICY",
        levers: &[Lever::WaitOfThreads],
        runtimes: &["libomp"],
        value: values::wait_policy,
        since: "LLVM 3.4; KMP_SETTINGS=1 of LLVM 14 shows KMP_BLOCKTIME=0 with passive",
        source: "openmp/runtime/src/kmp_settings.cpp, __kmp_stg_parse_wait_policy",
        ..PLAIN
    },
    Row {
        name: "GOMP_SPINCOUNT",
        levers: &[Lever::WaitOfThreads],
        runtimes: &["libgomp"],
        value: values::spin_count,
        since: "GCC 4.4; a number of polls, of which the registry's runtime takes 20 ns each",
        source: "libgomp manual, GOMP_SPINCOUNT",
        ..PLAIN
    },
    Row {
        name: "KMP_LIBRARY",
        levers: &[Lever::WaitOfThreads],
        runtimes: &["libomp", "openmp", "mkl"],
        value: values::library,
        since: "Intel 9, LLVM 3.4",
        source: "LLVM/OpenMP documentation, KMP_LIBRARY",
        ..PLAIN
    },
    Row {
        name: "KMP_BLOCKTIME",
        levers: &[Lever::WaitOfThreads],
        runtimes: &["libomp", "mkl"],
        value: values::block_time,
        since: "Intel 9, LLVM 3.4, in whole milliseconds; with a unit (us) from LLVM 18 on, not in 14",
        source: "LLVM/OpenMP documentation, KMP_BLOCKTIME",
        ..PLAIN
    },
    Row {
        name: "KMP_BLOCKTIME",
        levers: &[Lever::WaitOfThreads],
        runtimes: &["openmp"],
        value: values::block_time_intel,
        since: "Intel 9, in whole milliseconds",
        source: "Intel C++ Compiler 14 User and Reference Guide, KMP_BLOCKTIME",
        ..PLAIN
    },
    Row {
        name: "O64_OMP_SPIN_COUNT",
        levers: &[Lever::WaitOfThreads],
        runtimes: &["open64"],
        value: values::spin_count,
        since: "Open64 4.2",
        source: "Open64, osprey/libopenmp/omp_thread.c",
        ..PLAIN
    },
    Row {
        name: "SUNW_MP_THR_IDLE",
        levers: &[Lever::WaitOfThreads],
        runtimes: &["sun-openmp"],
        value: values::idle_sun,
        since: "Sun Studio 8",
        source: "Sun Studio 12: OpenMP API User's Guide, SUNW_MP_THR_IDLE",
        ..PLAIN
    },
    Row {
        name: "OMPI_MCA_mpi_yield_when_idle",
        levers: &[Lever::WaitOfProcesses],
        runtimes: &["openmpi"],
        dialects: &[Dialect::Slurm, Dialect::Shell],
        value: values::yield_when_idle,
        since: "Open MPI 1.0; under srun the default is 0 for any number of processes",
        source: "Open MPI, ompi/runtime/ompi_mpi_params.c",
        ..PLAIN
    },
    Row {
        name: "I_MPI_WAIT_MODE",
        levers: &[Lever::WaitOfProcesses],
        runtimes: MPI,
        dialects: &[Dialect::IntelMpi],
        value: values::intel_wait_mode,
        since: "Intel MPI 3.1",
        source: "Intel MPI Library Developer Reference for Linux, Other Environment Variables",
        ..PLAIN
    },
    Row {
        name: "I_MPI_THREAD_YIELD",
        levers: &[Lever::WaitOfProcesses],
        runtimes: MPI,
        dialects: &[Dialect::IntelMpi],
        value: values::intel_yield,
        since: "Intel MPI 2019; 0 polls, 2 calls sched_yield",
        source: "Intel MPI Library Developer Reference for Linux, Other Environment Variables",
        ..PLAIN
    },
    Row {
        name: "MPIR_CVAR_POLLS_BEFORE_YIELD",
        levers: &[Lever::WaitOfProcesses],
        runtimes: &["mpich2", "mpi"],
        dialects: &[Dialect::Mpich, Dialect::Slurm],
        value: mpich_polls,
        since: "MPICH 3.0, device ch3; 0 never yields, 1,000 is the default",
        source: "MPICH, src/mpid/ch3/channels/nemesis/include/mpid_nem_inline.h",
        ..PLAIN
    },
];

/// `MPIR_CVAR_POLLS_BEFORE_YIELD`, if the library is MPICH; of a library of any kind only what the model has
/// for it.
fn mpich_polls(case: &Case<'_>) -> Option<String> {
    let layer = case.program.processes.as_ref()?;
    let counted = matches!(layer.wait, Some(Waiting::SpinCount(_)));
    let known = layer.runtime == "mpich2" || case.dialect == Dialect::Mpich && !counted;
    known.then(|| values::polls_before_yield(case)).flatten()
}

/// Where tasks are bound, by variables.
pub(super) const PLACES: &[Row] = &[
    Row {
        name: "OMP_PROC_BIND",
        levers: &[Lever::Place],
        runtimes: BINDING,
        value: values::proc_bind,
        since: "OpenMP 3.1, close and spread OpenMP 4.0; with false OMP_PLACES has no effect",
        source: "OpenMP 5.0, sections 2.6.2 and 6.4",
        ..PLAIN
    },
    Row {
        name: "OMP_PLACES",
        levers: &[Lever::Place],
        runtimes: BINDING,
        cpus: true,
        value: values::places,
        since: "OpenMP 4.0; libgomp 12 and LLVM 14 accept a place several times",
        source: "OpenMP 5.0, section 6.5",
        ..PLAIN
    },
    Row {
        name: "I_MPI_PIN",
        levers: &[Lever::Place, Lever::Cpus],
        dialects: &[Dialect::IntelMpi],
        value: values::intel_pin,
        since: "Intel MPI 3.1; on is the default",
        source: "Intel MPI Library Developer Reference for Linux, Environment Variables for Process Pinning",
        ..PLAIN
    },
    Row {
        name: "I_MPI_PIN_PROCESSOR_LIST",
        levers: &[Lever::Place],
        dialects: &[Dialect::IntelMpi],
        cpus: true,
        value: values::intel_list,
        since: "Intel MPI 3.1; process i gets the i-th cpu of the list",
        source: "Intel MPI Library Developer Reference for Linux, Environment Variables for Process Pinning",
        ..PLAIN
    },
    Row {
        name: "I_MPI_PIN_DOMAIN",
        levers: &[Lever::Place],
        dialects: &[Dialect::IntelMpi],
        cpus: true,
        value: values::intel_domain,
        since: "Intel MPI 3.1; hexadecimal masks that do not overlap",
        source: "Intel MPI Library Developer Reference for Linux, Interoperability with OpenMP API",
        ..PLAIN
    },
];
