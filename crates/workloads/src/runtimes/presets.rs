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

const UPC: &[Parameter] =
    &timed(&Preset { wait: YIELD, barrier: DISSEMINATION, start_sleep: true, touch: EACH, ..THREADS });
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
const OPENMP: &[Parameter] = &library(&Preset {
    wait: SPIN_THEN_BLOCK,
    yielding: ALWAYS,
    barrier: TREE,
    start_sleep: true,
    ..THREADS
});
const LIBGOMP: &[Parameter] = &spinning(
    &Preset { wait: SPIN_THEN_BLOCK, yielding: NEVER, barrier: CENTRAL, ..THREADS },
    300_000,
    100,
    10,
);
const SUN: &[Parameter] = &timed(&Preset { wait: SPIN, barrier: CENTRAL, ..THREADS });
const OPEN64: &[Parameter] = &spinning(
    &Preset { wait: SPIN_THEN_BLOCK, yielding: NEVER, barrier: CENTRAL, ..THREADS },
    20_000,
    20_000,
    3,
);
const SPINNING: &[Parameter] = &timed(&PLAIN);
const YIELDERS: &[Parameter] = &timed(&Preset { wait: YIELD, ..PLAIN });
const BLOCKING: &[Parameter] = &timed(&Preset { wait: BLOCK, ..PLAIN });
const DIRECTED: &[Parameter] = &timed(&Preset { wait: YIELD_TO, ..PLAIN });

/// The same with an infinite block time.
const fn infinite(mut table: [Parameter; 10]) -> [Parameter; 10] {
    table[1].default = u64::MAX;
    table
}

/// The programming model of plain runtimes and of UPC.
const UPC_MODEL: &str = "upc";

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "upc",
        summary: "Berkeley UPC on threads: polls and yields, dissemination barrier",
        source: "Berkeley UPC runtime and GASNet: sched_yield after each failed poll unless the wait mode is spin; one process, rank 0 creates the pthreads, static shared data are initialised by their owners before main, all threads meet before main at a barrier of a condition variable (upcr_barrier.c of September 2008, polite mode; the same source counts user barriers down on one word). Uncertain: that pthreads of one process use the dissemination barrier, too",
        about: "A waiting thread looks at its flag and calls sched_yield after each failed look, so a cpu goes to whoever can \
compute: the reason why such programs bear several threads per core. The barrier of n ranks takes ceil(log2 n) \
rounds of signals between pairs, 4 for 16 ranks, 6 for 64; with k threads per core a round may need a turn of \
each, (k - 1) x 1.2 us on Barcelona. Threads touch their data where fork put them, before any balancer moves \
them, and sleep until all are there. Use it for the UPC codes of `npb`; it is the default.",
        example: "{ upc: { wait: block } }",
        model: UPC_MODEL,
        parameters: UPC,
    },
    Entry {
        name: "upc-processes",
        summary: "Berkeley UPC on processes: polls and yields, dissemination barrier, started by a launcher",
        source: "as `upc`, built without pthreads; started by upcrun through a launcher. Uncertain: creating a process is charged like creating a thread",
        about: "As `upc`, but each rank is a process that a launcher on cpu 0 creates: a switch between ranks costs that between \
processes, 1.6 instead of 0.8 us on Barcelona. Use it to see what processes cost an oversubscribed program.",
        example: "{ upc-processes: { barrier: central } }",
        model: UPC_MODEL,
        parameters: UPC_PROCESSES,
    },
    Entry {
        name: "mpi",
        summary: "MPI on processes: polls and yields, dissemination barrier, started by mpiexec",
        source: "the common denominator of MPICH2 nemesis and of Open MPI in its degraded mode: sched_yield when progress fails; MPI_Init lets all processes meet, programs touch their data after it. Uncertain: creating a process is charged like creating a thread",
        about: "The common ground of the MPI libraries of the time: processes that poll and yield, a dissemination barrier, data \
touched by each rank's first work. Use it for the MPI codes of `npb` and for `hybrid` when the library does not \
matter.",
        example: "{ mpi: { wait: spin } }",
        model: "mpi",
        parameters: MPI,
    },
    Entry {
        name: "mpich2",
        summary: "MPICH2 with the nemesis channel: polls and yields, central barrier, started by mpiexec",
        source: "MPICH2 sources: inside a node a sense-reversing counter barrier, waiters call sched_yield after each look (the progress engine of messages after 1,000 empty looks)",
        about: "As `mpi` with a counter barrier: all ranks add to one shared line in turn and watch one flag. With n ranks the \
last one is through after about n line latencies, 16 x 0.2 us on Barcelona, where dissemination needs 4.",
        example: "{ mpich2: { barrier: dissemination } }",
        model: "mpi",
        parameters: MPICH2,
    },
    Entry {
        name: "openmpi",
        summary: "Open MPI: polls; yields too when there are more processes than cpus; started by mpirun",
        source: "Open MPI sources and FAQ: mpi_yield_when_idle is off by default and on in degraded mode, chosen when there are more processes than slots; opal_progress yields when it finds no events. Uncertain: its barrier (tuned: recursive doubling) is taken as dissemination",
        about: "Polls without yielding as long as there is a cpu for each process, and yields at every empty look when it was \
started with more processes than cpus it may use. So a single well-sized run never gives way to a neighbour, and \
a second such program beside it costs each of them whole time slices; with two ranks per core both give way.",
        example: "{ openmpi: { yielding: never } }",
        model: "mpi",
        parameters: OPENMPI,
    },
    Entry {
        name: "openmp",
        summary: "Intel OpenMP on threads: polls with yields for 200 ms, then sleeps; tree gather, one release flag",
        source: "LLVM/Intel OpenMP runtime, kmp_wait_release.h and kmp_barrier.cpp: yields at every poll with more threads than cpus, in throughput mode otherwise after 512 polls and then every 256 (taken as every poll, too: a waiting thread beside another program gives way within 26 us); workers wait at the fork barrier before they run any user code, and sleep there (Iancu et al., IPDPS 2010, V.B); KMP_ADJUST_BLOCKTIME off. A release tree, the runtime's default, would make coarse programs lose when oversubscribed, which they did not",
        about: "Waiting workers look and yield for 200 ms and then go to sleep; arrivals are gathered in a tree of four children \
per rank and released by one flag that all watch. Barriers closer than 200 ms therefore never pay for sleep and \
wake-up, and beside another program the waiters give way. `block_time: 0s` sleeps at once, `infinite` never; \
`library: turnaround` is the mode for a machine of one's own. Use it for the OpenMP codes of `npb`.",
        example: "{ openmp: { block_time: 0s } }",
        model: "openmp",
        parameters: OPENMP,
    },
    Entry {
        name: "libgomp",
        summary: "GNU OpenMP on threads: polls without yielding for 300,000 looks (3 ms), or 100 when oversubscribed, then sleeps",
        source: "GCC libgomp, wait.h, bar.c and the manual on GOMP_SPINCOUNT: never yields, futex wait, the last one wakes all, counter barrier; throttled with more managed threads than available cpus",
        about: "Looks 300,000 times (3 ms) without ever yielding and then sleeps on a futex; when there are more threads than \
cpus it may use, only 100 times (1 us). Alone, with a thread per core, barriers up to 3 ms apart cost a look; \
oversubscribed every wait is a sleep and a wake-up of some microseconds; but two programs of one thread per core \
each know nothing of each other and spin 3 ms at every barrier while the other's threads wait for the cpu.",
        example: "{ libgomp: { spin_count: 1000 } }",
        model: "openmp",
        parameters: LIBGOMP,
    },
    Entry {
        name: "sun-openmp",
        summary: "Sun Studio OpenMP on threads: idle threads poll for ever",
        source: "Sun Performance Library and Studio guides on SUNW_MP_THR_IDLE: by default spin-waiting threads never sleep (the C guide of Studio 12 names sleep as the default: set `wait: spin-then-block` and `block_time` for that). Uncertain: the barrier is taken as a central one",
        about: "Idle threads poll for ever and never yield (SUNW_MP_THR_IDLE=spin). With a cpu for each thread that is the \
quickest way to wait; with a neighbour on one cpu, all threads wait out its time slices, and the account shows \
the rest as `spin`. Use it for the PARbench jobs on the E25K.",
        example: "{ sun-openmp: { wait: spin-then-block, block_time: 0s } }",
        model: "openmp",
        parameters: SUN,
    },
    Entry {
        name: "open64",
        summary: "Open64 OpenMP on threads: polls without yielding for 20,000 looks, then sleeps",
        source: "Open64 sources, osprey/libopenmp (omp_thread.c, omp_thread.h, 2009): waiters look __omp_spin_count = 20,000 times without pause or yield and then sleep on a condition variable (pthread_cond_wait), at a region's end, at barriers and between regions; a counter and one flag; the last one wakes all (pthread_cond_broadcast). Uncertain: the length of a look, some 3 to 7 clocks, and that all are woken by the last one instead of by each other in turn (the mutex behind the condition)",
        about: "Looks 20,000 times in a bare loop (some 60 us) without yielding and then sleeps, whether there are enough cpus or not. \
The compiler of the SPEC OMP runs on the X4440. So threads sleep at nearly every barrier: beside other programs they give their \
cpu away, and a kernel that counts runnable threads sees them come and go. Threads created one after another fall asleep \
before the next ones exist, which decides where fork puts those: vary `spin_step` before you conclude from an unbound run.",
        example: "{ open64: { spin_count: 200000 } }",
        model: "openmp",
        parameters: OPEN64,
    },
    Entry {
        name: "spin",
        summary: "threads that poll and never yield, central barrier",
        source: "the simplest waiting there is; sense-reversing counter barrier",
        about: "The plain spinner: looks every `poll` and keeps its cpu until the kernel takes it away. Best with a cpu for each \
thread (no switch, no wake-up), worst otherwise: with two threads per core the one that computes waits behind \
the spinner's whole slice at every barrier. Central barrier, no start-up barrier.",
        example: "{ spin: { barrier: tree } }",
        model: UPC_MODEL,
        parameters: SPINNING,
    },
    Entry {
        name: "yield",
        summary: "threads that poll and yield, central barrier",
        source: "as `spin`, with sched_yield after each poll",
        about: "Looks and calls sched_yield, for ever. What that does is up to the kernel (see the wait mode `yield` and the \
kernels' `yield`): a turn of a microsecond, a place in the queue, or the rest of a slice. Central barrier, no \
start-up barrier.",
        example: "{ yield: { barrier: dissemination } }",
        model: UPC_MODEL,
        parameters: YIELDERS,
    },
    Entry {
        name: "block",
        summary: "threads that sleep at once until woken, central barrier",
        source: "as pthread_barrier_wait on a futex",
        about: "Sleeps at once, and is woken by whoever it waits for. Costs sleep and wake-up at each wait (about 1 + 1.5 us on \
Barcelona, and 2 us more to leave an idle state) and gives the cpu away completely: the fair neighbour, and what \
balancers that count runnable tasks see as an empty queue. Central barrier, no start-up barrier.",
        example: "{ block: { barrier: tree, arity: 8 } }",
        model: UPC_MODEL,
        parameters: BLOCKING,
    },
    Entry {
        name: "yield-to",
        summary: "threads that hand the cpu to a task of their own application, central barrier",
        source: "directed yield, a hypothetical system call",
        about: "A hypothetical system call: the waiter hands its cpu to a task of its own application on the same cpu that is \
not itself waiting in vain; without one it looks on. A yield then never goes to a stranger or to another waiter. \
Central barrier, no start-up barrier. Use it to see what a directed yield could gain over `yield`.",
        example: "{ yield-to: { barrier: dissemination } }",
        model: UPC_MODEL,
        parameters: DIRECTED,
    },
];
