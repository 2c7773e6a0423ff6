//! The runtimes of the registry, each with the source of its behaviour.

use notation::parameter::Parameter;

use super::Entry;
use super::table::{
    Barrier, Creator, PLAIN, Preset, Touching, Wait, Yielding, library, llvm, messages, slots, spinning,
    timed,
};

/// Threads that rank 0 creates and that meet before the program begins.
const THREADS: Preset = Preset { start_barrier: true, ..PLAIN };
/// Processes that a launcher creates and that meet before the program begins.
const PROCESSES: Preset =
    Preset { processes: true, startup: Creator::Launcher, start_barrier: true, ..PLAIN };

const UPC: &[Parameter] = &timed(&Preset {
    wait: Wait::Yield,
    barrier: Barrier::Dissemination,
    start_sleep: true,
    touch: Touching::Each,
    ..THREADS
});
const UPC_PROCESSES: &[Parameter] = &timed(&Preset {
    wait: Wait::Yield,
    barrier: Barrier::Dissemination,
    touch: Touching::Each,
    ..PROCESSES
});
const MPI: &[Parameter] =
    &messages(&Preset { wait: Wait::Yield, barrier: Barrier::Dissemination, start_sleep: true, ..PROCESSES });
const MPICH2: &[Parameter] =
    &messages(&Preset { wait: Wait::Yield, barrier: Barrier::Central, start_sleep: true, ..PROCESSES });
/// Never sleeps.
const OPENMPI: &[Parameter] = &slots(&Preset {
    wait: Wait::SpinThenBlock,
    yielding: Yielding::Oversubscribed,
    barrier: Barrier::Dissemination,
    block_time: u64::MAX,
    ..PROCESSES
});
/// Intel's runtime and LLVM's, which began with its source.
const KMP: Preset = Preset {
    wait: Wait::SpinThenBlock,
    yielding: Yielding::Always,
    polls: (256, 25),
    barrier: Barrier::Tree,
    ..THREADS
};
const OPENMP: &[Parameter] = &library(&KMP);
const LIBOMP: &[Parameter] = &llvm(&Preset { polls: (256, 50), ..KMP });
const LIBGOMP: &[Parameter] = &spinning(
    &Preset { wait: Wait::SpinThenBlock, yielding: Yielding::Never, barrier: Barrier::Central, ..THREADS },
    300_000,
    100,
    20,
);
const SUN: &[Parameter] = &timed(&Preset { wait: Wait::Spin, barrier: Barrier::Central, ..THREADS });
const OPEN64: &[Parameter] = &spinning(
    &Preset { wait: Wait::SpinThenBlock, yielding: Yielding::Never, barrier: Barrier::Central, ..THREADS },
    20_000,
    20_000,
    3,
);
const SPINNING: &[Parameter] = &timed(&PLAIN);
const YIELDERS: &[Parameter] = &timed(&Preset { wait: Wait::Yield, ..PLAIN });
const BLOCKING: &[Parameter] = &timed(&Preset { wait: Wait::Block, ..PLAIN });
const DIRECTED: &[Parameter] = &timed(&Preset { wait: Wait::YieldTo, ..PLAIN });

/// The programming model of plain runtimes and of UPC.
const UPC_MODEL: &str = "upc";

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "upc",
        summary: "Berkeley UPC on threads: polls and yields, dissemination barrier",
        source: "Berkeley UPC runtime and GASNet. A waiter calls sched_yield after each failed poll unless \
            the wait mode \
is spin. There is one process, and rank 0 creates the pthreads. The owners of static shared data \
initialise them before \
main. All threads meet before main at a barrier with a condition variable (upcr_barrier.c of September \
2008, polite \
mode). The same source counts user barriers down on one word. Uncertain: whether pthreads of one process \
also use the \
dissemination barrier",
        example: "{ upc: { wait: block } }",
        own: UPC_MODEL,
        parameters: UPC,
    },
    Entry {
        name: "upc-processes",
        summary: "Berkeley UPC on processes: polls and yields, dissemination barrier, started by a launcher",
        source: "as `upc`, but built without pthreads and started by upcrun through a launcher. Uncertain: \
            creating a \
process is charged like creating a thread",
        example: "{ upc-processes: { barrier: central } }",
        own: UPC_MODEL,
        parameters: UPC_PROCESSES,
    },
    Entry {
        name: "mpi",
        summary: "MPI on processes: polls and yields, dissemination barrier, started by mpiexec",
        source: "common behaviour of MPICH2 nemesis and of Open MPI in its degraded mode: a process calls \
            sched_yield \
when it makes no progress, in nemesis after 1,000 polls for a message, as in `mpich2`. All processes meet \
in MPI_Init, where they sleep in a read from the socket of the \
process manager, and programs touch their data after it. Uncertain: creating a process is charged like \
creating a thread",
        example: "{ mpi: { wait: spin } }",
        own: "mpi",
        parameters: MPI,
    },
    Entry {
        name: "mpich2",
        summary: "MPICH2 with the nemesis channel: polls and yields, central barrier, started by mpiexec",
        source: "MPICH2 sources: inside a node the barrier is a sense-reversing counter barrier. Waiters \
            call \
sched_yield after each poll. The progress engine of messages does so after 1,000 empty polls \
(mpid_nem_inline.h, MPID_NEM_POLLS_BEFORE_YIELD; ch3_progress.c). Each of them reads the receive queue and \
the fast boxes and calls poll(2) on the sockets (MPID_nem_network_poll; socksm.c). In \
MPI_Init all processes meet by way of the process manager: PMI_Barrier writes to its socket and sleeps \
in a read until the answer comes (simple_pmi.c, simple_pmiutil.c)",
        example: "{ mpich2: { barrier: dissemination } }",
        own: "mpi",
        parameters: MPICH2,
    },
    Entry {
        name: "openmpi",
        summary: "Open MPI: polls, and also yields when there are more processes than cores; started by \
            mpirun",
        source: "Open MPI sources, FAQ and mpirun(1): mpi_yield_when_idle is off by default. It is on in \
            degraded mode, which mpirun chooses for a job that has more processes on a node than the node \
            has slots (instance.c, ompi_mpi_oversubscribed; ompi_rte.c, PMIX_NODE_OVERSUBSCRIBED). Without \
            a hostfile or a batch system a slot is a core, with --use-hwthread-cpus a hardware thread \
            (`slots`). The threads of the processes are not counted, nor are other jobs. opal_progress \
            yields when it finds no events. Its barrier (coll_tuned_decision_fixed.c) is linear for 4 to 7 \
            processes since 4.1 (`linear_barrier`). Uncertain: recursive doubling, for more processes, is \
            modelled as dissemination",
        example: "{ openmpi: { yielding: never } }",
        own: "mpi",
        parameters: OPENMPI,
    },
    Entry {
        name: "openmp",
        summary: "Intel OpenMP (to 2015) on threads: polls with yields for 200 ms, then sleeps; tree gather, \
            one \
            release flag",
        source: "LLVM/Intel OpenMP runtime up to 2015, kmp_wait_release.h and kmp_barrier.cpp. With more \
threads in \
the process than cpus that it may use (TCR_4(__kmp_nth) > __kmp_avail_proc) it yields at every poll. \
Otherwise, in throughput mode, it yields after 512 polls and then at every 256th \
(KMP_INIT_WAIT, KMP_NEXT_WAIT; the model: always after 256). Uncertain: a poll takes 20 to 30 ns, a load and \
two pause instructions. A monitor thread switches the yields of all waiters off for 1 of its periods and \
on for 10, beginning with off (first public source of 2013: kmp_global.c, __kmp_yield_cycle; \
z_Linux_util.c, __kmp_launch_monitor and __kmp_yield; kmp.h, KMP_WAKEUPS_FROM_BLOCKTIME). Uncertain: \
releases of 2008 did the same. \
A new worker waits at the fork barrier before it runs any user code, as at any other barrier: it polls for \
the block time (kmp_runtime.c, __kmp_launch_thread). For releases of 2008 Iancu et al. (IPDPS 2010, V.B) \
write that workers sleep there: `start_sleep: true`. \
KMP_ADJUST_BLOCKTIME is \
off. The default of the runtime is a release tree. With it, coarse-grained programs would lose when they are \
oversubscribed, which the measured ones did not",
        example: "{ openmp: { block_time: 0s } }",
        own: "openmp",
        parameters: OPENMP,
    },
    Entry {
        name: "libomp",
        summary: "LLVM OpenMP on threads: polls with yields for 200 ms, then sleeps; no monitor thread",
        source: "LLVM OpenMP runtime of 2016 to 2026 (libomp of clang, libiomp5 of Intel's compilers). \
KMP_USE_MONITOR is off on Unix, so no clock switches yields, and a thread sleeps after its own block time: \
200 ms, 0 on hybrid processors (kmp.h, KMP_DEFAULT_BLOCKTIME). KMP_USE_YIELD is 1: with more threads in the \
process than cpus that it may use (KMP_OVERSUBSCRIBED) it yields at every poll, otherwise after 512 polls \
and then at every 256th (KMP_YIELD_OVERSUB_ELSE_SPIN; the model: always after 256). Only with a monitor does \
KMP_ADJUST_BLOCKTIME make it sleep at once. A new thread polls at the fork barrier for the block time \
(kmp_runtime.cpp, __kmp_launch_thread); so did LLVM 14 on a host (docs/model.md). OMP_WAIT_POLICY=passive: \
`block_time: 0s`; active: `block_time: infinite`, from LLVM 23 on `library: turnaround` (KMP_USE_YIELD=2). \
Uncertain: a poll takes 50 ns (14 us for 256 polls and a yield on a Xeon of 2023, with a read of the time \
stamp counter in each poll). The default barrier (bp_hyper_bar) also releases in a tree; here one flag \
releases all, as in `openmp`",
        example: "{ libomp: { block_time: infinite } }",
        own: "openmp",
        parameters: LIBOMP,
    },
    Entry {
        name: "libgomp",
        summary: "GNU OpenMP on threads: polls 300,000 times (6 ms) without yielding, or 100 times when \
            its process has more threads than cpus, then sleeps",
        source: "GCC libgomp, config/linux/wait.h, bar.c, env.c and the manual on GOMP_SPINCOUNT: it never \
            yields, and it waits on a futex. The barrier is a counter barrier, and the last thread wakes all \
            others. The spin count is throttled when gomp_managed_threads > gomp_available_cpus: the \
            threads of this process, and the cpus of its affinity mask as it started (team.c; proc.c, \
            gomp_init_num_threads). A new thread polls at a barrier like any other \
            (team.c, gomp_thread_start)",
        example: "{ libgomp: { spin_count: 1000 } }",
        own: "openmp",
        parameters: LIBGOMP,
    },
    Entry {
        name: "sun-openmp",
        summary: "Sun Studio OpenMP on threads: idle threads poll and never sleep",
        source: "Sun Performance Library and Studio guides on SUNW_MP_THR_IDLE: by default spin-waiting \
            threads never \
sleep. The C guide of Studio 12 names sleep as the default: set `wait: spin-then-block` and `block_time` \
for that. \
Uncertain: the barrier is modelled as a central one",
        example: "{ sun-openmp: { wait: spin-then-block, block_time: 0s } }",
        own: "openmp",
        parameters: SUN,
    },
    Entry {
        name: "open64",
        summary: "Open64 OpenMP on threads: polls 20,000 times without yielding, then sleeps",
        source: "Open64 sources, osprey/libopenmp (omp_thread.c, omp_thread.h, 2009). Waiters poll \
            __omp_spin_count = \
20,000 times without pause or yield and then sleep on a condition variable (pthread_cond_wait). They do so \
at the end of \
a region, at barriers and between regions. The barrier is a counter and one flag, and the last thread \
wakes all others \
(pthread_cond_broadcast). Uncertain: the length of a poll, some 3 to 7 clocks. Uncertain: in the model the \
last thread \
wakes all others, while in the library the threads wake each other one after the other (the mutex behind \
the condition)",
        example: "{ open64: { spin_count: 200000 } }",
        own: "openmp",
        parameters: OPEN64,
    },
    Entry {
        name: "spin",
        summary: "threads that poll and never yield, central barrier",
        source: "the simplest way to wait; sense-reversing counter barrier",
        example: "{ spin: { barrier: tree } }",
        own: UPC_MODEL,
        parameters: SPINNING,
    },
    Entry {
        name: "yield",
        summary: "threads that poll and yield, central barrier",
        source: "as `spin`, with sched_yield after each poll",
        example: "{ yield: { barrier: dissemination } }",
        own: UPC_MODEL,
        parameters: YIELDERS,
    },
    Entry {
        name: "block",
        summary: "threads that sleep at once until woken, central barrier",
        source: "as pthread_barrier_wait on a futex",
        example: "{ block: { barrier: tree, arity: 8 } }",
        own: UPC_MODEL,
        parameters: BLOCKING,
    },
    Entry {
        name: "yield-to",
        summary: "threads that hand the cpu to a task of the same application, central barrier",
        source: "directed yield, a hypothetical system call",
        example: "{ yield-to: { barrier: dissemination } }",
        own: UPC_MODEL,
        parameters: DIRECTED,
    },
];
