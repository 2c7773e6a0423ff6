//! The runtimes of the shelf, each with the source of its behaviour.

use notation::parameter::Parameter;

use super::Entry;
use super::table::{
    ALWAYS, BLOCK, CENTRAL, DISSEMINATION, EACH, LAUNCHER, NEVER, OVERSUBSCRIBED, PLAIN, Preset, SPIN,
    SPIN_THEN_BLOCK, TREE, YIELD, YIELD_TO, library, spinning, timed,
};

/// Threads that rank 0 creates and that meet before the program begins.
const THREADS: Preset = Preset { start_barrier: true, ..PLAIN };
/// Processes that a launcher creates and that meet before the program begins.
const PROCESSES: Preset = Preset { processes: true, startup: LAUNCHER, start_barrier: true, ..PLAIN };

const UPC: &[Parameter] = &timed(&Preset { wait: YIELD, barrier: DISSEMINATION, touch: EACH, ..THREADS });
const UPC_PROCESSES: &[Parameter] =
    &timed(&Preset { wait: YIELD, barrier: DISSEMINATION, touch: EACH, ..PROCESSES });
const MPI: &[Parameter] = &timed(&Preset { wait: YIELD, barrier: DISSEMINATION, ..PROCESSES });
const MPICH2: &[Parameter] = &timed(&Preset { wait: YIELD, barrier: CENTRAL, ..PROCESSES });
/// Never sleeps: the time is replaced by `infinite` below.
const OPENMPI: &[Parameter] = &infinite(timed(&Preset {
    wait: SPIN_THEN_BLOCK,
    yielding: OVERSUBSCRIBED,
    barrier: DISSEMINATION,
    ..PROCESSES
}));
const OPENMP: &[Parameter] =
    &library(&Preset { wait: SPIN_THEN_BLOCK, yielding: ALWAYS, barrier: TREE, ..THREADS });
const LIBGOMP: &[Parameter] =
    &spinning(&Preset { wait: SPIN_THEN_BLOCK, yielding: NEVER, barrier: CENTRAL, ..THREADS }, 300_000, 100);
const SUN: &[Parameter] = &timed(&Preset { wait: SPIN, barrier: CENTRAL, ..THREADS });
const OPEN64: &[Parameter] = &spinning(
    &Preset { wait: SPIN_THEN_BLOCK, yielding: NEVER, barrier: CENTRAL, ..THREADS },
    20_000,
    20_000,
);
const SPINNING: &[Parameter] = &timed(&PLAIN);
const YIELDERS: &[Parameter] = &timed(&Preset { wait: YIELD, ..PLAIN });
const BLOCKING: &[Parameter] = &timed(&Preset { wait: BLOCK, ..PLAIN });
const DIRECTED: &[Parameter] = &timed(&Preset { wait: YIELD_TO, ..PLAIN });

/// The same with an infinite block time.
const fn infinite(mut table: [Parameter; 9]) -> [Parameter; 9] {
    table[1].default = u64::MAX;
    table
}

/// The programming model of plain runtimes and of UPC.
const UPC_MODEL: &str = "upc";

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "upc",
        summary: "Berkeley UPC on threads: polls and yields, dissemination barrier",
        source: "Berkeley UPC runtime and GASNet: sched_yield after each failed poll unless the wait mode is spin; one process, rank 0 creates the pthreads, static shared data are initialised by their owners before main, all threads meet before main. Uncertain: that pthreads of one process use the dissemination barrier, too",
        model: UPC_MODEL,
        parameters: UPC,
    },
    Entry {
        name: "upc-processes",
        summary: "Berkeley UPC on processes: polls and yields, dissemination barrier, started by a launcher",
        source: "as `upc`, built without pthreads; started by upcrun through a launcher. Uncertain: creating a process is charged like creating a thread",
        model: UPC_MODEL,
        parameters: UPC_PROCESSES,
    },
    Entry {
        name: "mpi",
        summary: "MPI on processes: polls and yields, dissemination barrier, started by mpiexec",
        source: "the common denominator of MPICH2 nemesis and of Open MPI in its degraded mode: sched_yield when progress fails; MPI_Init lets all processes meet, programs touch their data after it. Uncertain: creating a process is charged like creating a thread",
        model: "mpi",
        parameters: MPI,
    },
    Entry {
        name: "mpich2",
        summary: "MPICH2 with the nemesis channel: polls and yields, central barrier, started by mpiexec",
        source: "MPICH2 sources: inside a node a sense-reversing counter barrier, waiters call sched_yield after each look (the progress engine of messages after 1,000 empty looks)",
        model: "mpi",
        parameters: MPICH2,
    },
    Entry {
        name: "openmpi",
        summary: "Open MPI: polls; yields too when there are more processes than cpus; started by mpirun",
        source: "Open MPI sources and FAQ: mpi_yield_when_idle is off by default and on in degraded mode, chosen when there are more processes than slots; opal_progress yields when it finds no events. Uncertain: its barrier (tuned: recursive doubling) is taken as dissemination",
        model: "mpi",
        parameters: OPENMPI,
    },
    Entry {
        name: "openmp",
        summary: "Intel OpenMP on threads: polls with yields for 200 ms, then sleeps; tree gather, one release flag",
        source: "LLVM/Intel OpenMP runtime, kmp_wait_release.h and kmp_barrier.cpp: yields at every poll with more threads than cpus, in throughput mode otherwise after 512 polls and then every 256 (taken as every poll, too: a waiting thread beside another program gives way within 26 us); workers wait at the fork barrier before they run any user code; KMP_ADJUST_BLOCKTIME off. A release tree, the runtime's default, would make coarse programs lose when oversubscribed, which they did not",
        model: "openmp",
        parameters: OPENMP,
    },
    Entry {
        name: "libgomp",
        summary: "GNU OpenMP on threads: polls without yielding for 300,000 looks (3 ms), or 100 when oversubscribed, then sleeps",
        source: "GCC libgomp, wait.h, bar.c and the manual on GOMP_SPINCOUNT: never yields, futex wait, the last one wakes all, counter barrier; throttled with more managed threads than available cpus",
        model: "openmp",
        parameters: LIBGOMP,
    },
    Entry {
        name: "sun-openmp",
        summary: "Sun Studio OpenMP on threads: idle threads poll for ever",
        source: "Sun Performance Library and Studio guides on SUNW_MP_THR_IDLE: by default spin-waiting threads never sleep (the C guide of Studio 12 names sleep as the default: set `wait: spin-then-block` and `block_time` for that). Uncertain: the barrier is taken as a central one",
        model: "openmp",
        parameters: SUN,
    },
    Entry {
        name: "open64",
        summary: "Open64 OpenMP on threads: polls without yielding for 20,000 looks, then sleeps",
        source: "Open64 and PathScale guides on O64_OMP_SPIN_COUNT and PSC_OMP_SPIN_COUNT: 20,000 user-level spins before the operating system is called. Uncertain: all of it, notably that the call is a sleep, and the central barrier",
        model: "openmp",
        parameters: OPEN64,
    },
    Entry {
        name: "spin",
        summary: "threads that poll and never yield, central barrier",
        source: "the simplest waiting there is; sense-reversing counter barrier",
        model: UPC_MODEL,
        parameters: SPINNING,
    },
    Entry {
        name: "yield",
        summary: "threads that poll and yield, central barrier",
        source: "as `spin`, with sched_yield after each poll",
        model: UPC_MODEL,
        parameters: YIELDERS,
    },
    Entry {
        name: "block",
        summary: "threads that sleep at once until woken, central barrier",
        source: "as pthread_barrier_wait on a futex",
        model: UPC_MODEL,
        parameters: BLOCKING,
    },
    Entry {
        name: "yield-to",
        summary: "threads that hand the cpu to a task of their own application, central barrier",
        source: "directed yield, a hypothetical system call",
        model: UPC_MODEL,
        parameters: DIRECTED,
    },
];
