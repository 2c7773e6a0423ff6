//! Parameters of runtimes: all that any of them has, and the tables of the single ones.

use notation::declare::{Duration, Rate, Size};
use notation::parameter::Parameter;
use notation::{choices, parameters};

choices! {
    /// What a waiting task does.
    pub(super) enum Wait {
        Spin = "spin",
        Yield = "yield",
        Block = "block",
        SpinThenBlock = "spin-then-block",
        YieldTo = "yield-to",
    }
}

choices! {
    /// Whether `spin-then-block` yields.
    pub(super) enum Yielding { Never = "never", Always = "always", Oversubscribed = "oversubscribed" }
}

choices! {
    /// Barrier algorithms.
    pub(super) enum Barrier { Central = "central", Tree = "tree", Dissemination = "dissemination" }
}

choices! {
    /// Who creates the tasks.
    pub(super) enum Creator { Master = "master", Launcher = "launcher", Together = "together" }
}

choices! {
    /// When first-touch pages get their NUMA node.
    pub(super) enum Touching { Work = "work", Each = "each", Master = "master" }
}

choices! {
    /// The library mode of the Intel OpenMP runtime.
    pub(super) enum Library { Throughput = "throughput", Turnaround = "turnaround" }
}

choices! {
    /// What an MPI library counts as a slot.
    pub(super) enum Slots { Cores = "cores", HardwareThreads = "hardware-threads" }
}

choices! {
    /// The library whose algorithms collectives have.
    pub(super) enum Collectives { Mpich = "mpich", OpenMpi = "openmpi" }
}

choices! {
    /// Where the cycle of yields begins.
    pub(super) enum Phase { OffFirst = "off-first", Random = "random" }
}

parameters! {
    /// Parameters of runtimes. The optional ones belong to some runtimes only.
    pub(super) struct Parameters {
        /// What a task does that waits at a barrier or for a message: `spin` polls, `yield` polls and yields,
        /// `block` sleeps at once,
        /// `spin-then-block` polls for a while and then sleeps, `yield-to` yields to a task of the same
        /// application.
        wait: Wait = Wait::Spin;
        /// How long `spin-then-block` polls before it sleeps. `0s` and `infinite` are allowed. 200ms is the
        /// default of KMP_BLOCKTIME.
        block_time: Option<Duration> = ms(200);
        /// KMP_LIBRARY. `throughput` waits as the other parameters define. `turnaround` never sleeps, and
        /// yields only with more threads in the process than cpus that it may use.
        library: Option<Library> = Library::Throughput;
        /// Number of polls before `spin-then-block` sleeps (GOMP_SPINCOUNT: 300000 by default, 30000000000
        /// with OMP_WAIT_POLICY=active, 0 with passive).
        spin_count: Option<u64> = 300_000, in 0..=1_000_000_000_000;
        /// Largest number of polls when the process has more threads than cpus that it may use (libgomp:
        /// 100 by default, 1000 with OMP_WAIT_POLICY=active).
        throttled_spin_count: Option<u64> = 100, in 0..=1_000_000_000_000;
        /// Time of one poll. With a pause instruction it is about 10ns on processors up to 2015 and 45ns on
        /// Skylake (2015) and its like; 17.5ns were measured on a Xeon of 2023, 22.7ns on an EPYC
        /// (`oversim calibrate host` measures it as `poll`). A bare load and compare (Open64) takes 1 to 3ns.
        /// Uncertain.
        spin_step: Option<Duration> = 20, in 1..=ms(1);
        /// Whether `spin-then-block` yields after each poll: never, always, or when the runtime finds itself
        /// oversubscribed: one of threads when its process has more of them than cpus that it may use, one of
        /// processes when its job has more of them than slots.
        yielding: Yielding = Yielding::Always;
        /// What counts as a slot: a core that the job may use, or with `--use-hwthread-cpus` of mpirun a
        /// hardware thread.
        slots: Option<Slots> = Slots::Cores;
        /// Polls of a waiting task before each yield, at barriers. It observes a flag that is set
        /// meanwhile at the end of a poll and does not yield then. In `openmp` and `libomp` with at most as
        /// many threads in the process as cpus; with more they yield at every poll. At most 10ms in all.
        polls: u64 = 1, in 1..=10_000;
        /// How long one of these polls takes; `0s` is `poll` of the machine.
        poll: Duration = 0, in 0..=1_000;
        /// As `polls`, for a task that waits for a message: in nemesis 1,000 passes of the progress engine
        /// (MPID_NEM_POLLS_BEFORE_YIELD).
        message_polls: Option<u64> = 1_000, in 1..=10_000;
        /// How long one of these polls takes: poll(2) on one socket (0.45 to 0.56 us measured on a current
        /// virtual machine), the receive queue and the fast boxes. Uncertain: 0.5 to 0.8 us.
        message_poll: Option<Duration> = 600, in 0..=1_000;
        /// Largest message of a program whose sender goes on without waiting for its receiver (eager): 64KiB
        /// in nemesis (MPID_NEM_CELL_LEN), 4KiB in Open MPI (btl_vader_eager_limit).
        eager_limit: Option<Size> = 64 << 10, in 0..=1 << 40;
        /// Whether the receiver of a larger message copies it out of the memory of the sender (CMA:
        /// process_vm_readv) while that waits. Else both copy at the same time, through shared memory.
        single_copy: Option<bool> = false;
        /// Work of a call that sends, receives or does both, beside copying: MPI_Sendrecv of 8 bytes between
        /// two cores of a Xeon of 2023 took 0.43us with Open MPI 4.1, of which 0.1us are the latency.
        message_call: Option<Duration> = 350, in 1..=ms(1);
        /// The same of a call for a message above `eager_limit`, for each rank of the step. 8KiB took 2.2us
        /// more there than 8 bytes, and 0.4us of them are copying.
        large_message_call: Option<Duration> = us(2), in 1..=ms(1);
        /// How fast a core copies a message into or out of shared memory, or combines two: 9GB/s there, from
        /// 512 to 4,000 bytes. Uncertain: 5 to 12GB/s.
        copy_rate: Option<Rate> = 8_000_000_000, in 1_000_000..=1_000_000_000_000;
        /// How fast the receiver copies a message out of the memory of its sender: 17 to 20GB/s there, from
        /// 8 to 256KiB, 12GB/s for 1MiB.
        single_copy_rate: Option<Rate> = 18_000_000_000, in 1_000_000..=1_000_000_000_000;
        /// By whose algorithms and limits `bcast` and its like are done.
        collectives: Option<Collectives> = Collectives::Mpich;
        /// For how many periods of the runtime's monitor thread waiting tasks yield before they stop
        /// (`__kmp_yield_on_count`). The monitor wakes 1000 / block time in ms times a second, at least once
        /// (`KMP_WAKEUPS_FROM_BLOCKTIME`): every 200 ms by default, every second with `infinite`.
        yield_on: Option<u64> = 10, in 1..=1_000_000;
        /// For how many periods they then poll without a yield (`__kmp_yield_off_count`); 0: they always
        /// yield.
        yield_off: Option<u64> = 1, in 0..=1_000_000;
        /// Where the cycle of yields begins: `off-first` as in the runtime, whose clock starts with the
        /// team; `random` for a part of a longer run.
        yield_phase: Option<Phase> = Phase::OffFirst;
        /// Barrier algorithm.
        barrier: Barrier = Barrier::Central;
        /// Children per inner rank of a tree barrier (4 in the Intel OpenMP runtime).
        arity: u32 = 4, in 2..=1 << 16;
        /// Jobs of 4 processes and more, but fewer than this, meet at a linear barrier in place of the
        /// dissemination barrier: all tell rank 0, and it tells all. 0: none do, as before Open MPI 4.1
        /// (2020).
        linear_barrier: Option<u32> = 8, in 0..=1 << 16;
        /// Tasks are processes instead of threads of one process. Switches between processes cost more.
        processes: bool = false;
        /// Creator of the tasks, which are created one after another: rank 0 (`master`), or a launcher on cpu
        /// 0 such as mpiexec (`launcher`). With `together` all tasks exist and sleep before the start, and
        /// are woken at one instant, in a random order on each cpu.
        startup: Creator = Creator::Master;
        /// All tasks meet at a barrier once before the program proper begins.
        start_barrier: bool = false;
        /// A task that waits at the start barrier sleeps at once, whatever it does at other barriers.
        start_sleep: bool = false;
        /// When first-touch pages get their NUMA node: at the first compute operation of each task (`work`),
        /// when each task first runs, before the start barrier (`each`), or those of all tasks of a process
        /// when the first one of them first runs (`master`).
        touch: Touching = Touching::Work;
    }
}

/// What differs between runtimes in the table they share.
pub(super) struct Preset {
    pub(super) wait: Wait,
    /// In nanoseconds; `u64::MAX` is infinite.
    pub(super) block_time: u64,
    pub(super) yielding: Yielding,
    /// Polls before a yield and the nanoseconds of one.
    pub(super) polls: (u64, u64),
    pub(super) barrier: Barrier,
    pub(super) processes: bool,
    pub(super) startup: Creator,
    pub(super) start_barrier: bool,
    pub(super) start_sleep: bool,
    pub(super) touch: Touching,
}

/// Waits at a central barrier and comes up without further ado.
pub(super) const PLAIN: Preset = Preset {
    wait: Wait::Spin,
    block_time: Parameters::block_time.default,
    yielding: Yielding::Always,
    polls: (1, 0),
    barrier: Barrier::Central,
    processes: false,
    startup: Creator::Master,
    start_barrier: false,
    start_sleep: false,
    touch: Touching::Work,
};

/// The parameters all runtimes share: `wait`, and those behind what follows it.
const fn shared(p: &Preset) -> (Parameter, [Parameter; 10]) {
    let others = [
        Parameters::yielding.with(p.yielding as u64),
        Parameters::polls.with(p.polls.0),
        Parameters::poll.with(p.polls.1),
        Parameters::barrier.with(p.barrier as u64),
        Parameters::arity,
        Parameters::processes.with(p.processes as u64),
        Parameters::startup.with(p.startup as u64),
        Parameters::start_barrier.with(p.start_barrier as u64),
        Parameters::start_sleep.with(p.start_sleep as u64),
        Parameters::touch.with(p.touch as u64),
    ];
    (Parameters::wait.with(p.wait as u64), others)
}

/// The shared table and a block time.
pub(super) const fn timed(preset: &Preset) -> [Parameter; 12] {
    let (wait, [a, b, c, d, e, f, g, h, i, j]) = shared(preset);
    [wait, Parameters::block_time.with(preset.block_time), a, b, c, d, e, f, g, h, i, j]
}

/// How a library moves messages in programs, where its receiver copies a large one or both ranks do.
const fn moves(eager: u64, single_copy: bool, collectives: Collectives) -> [Parameter; 7] {
    [
        Parameters::eager_limit.with(eager),
        Parameters::single_copy.with(single_copy as u64),
        Parameters::message_call,
        Parameters::large_message_call,
        Parameters::copy_rate,
        Parameters::single_copy_rate,
        Parameters::collectives.with(collectives as u64),
    ]
}

/// The same with the slots of Open MPI, and how it moves messages.
pub(super) const fn slots(preset: &Preset) -> [Parameter; 21] {
    let [wait, time, a, b, c, d, e, f, g, h, i, j] = timed(preset);
    let [m, n, o, p, q, r, s] = moves(4 << 10, true, Collectives::OpenMpi);
    let linear = Parameters::linear_barrier;
    [wait, time, a, Parameters::slots, b, c, m, n, o, p, q, r, s, d, e, linear, f, g, h, i, j]
}

/// The same with the polls for messages of MPICH2, and how it moves messages.
pub(super) const fn messages(preset: &Preset) -> [Parameter; 21] {
    let [wait, time, a, b, c, d, e, f, g, h, i, j] = timed(preset);
    let (polls, poll) = (Parameters::message_polls, Parameters::message_poll);
    let [m, n, o, p, q, r, s] = moves(64 << 10, false, Collectives::Mpich);
    [wait, time, a, b, c, polls, poll, m, n, o, p, q, r, s, d, e, f, g, h, i, j]
}

/// The same with Intel's library mode and its cycle of yields.
pub(super) const fn library(preset: &Preset) -> [Parameter; 16] {
    let [wait, time, a, b, c, d, e, f, g, h, i, j] = timed(preset);
    let (on, off, phase) = (Parameters::yield_on, Parameters::yield_off, Parameters::yield_phase);
    [wait, time, Parameters::library, a, b, c, on, off, phase, d, e, f, g, h, i, j]
}

/// The same with the library mode of LLVM's runtime, which has no cycle of yields.
pub(super) const fn llvm(preset: &Preset) -> [Parameter; 13] {
    let [wait, time, a, b, c, d, e, f, g, h, i, j] = timed(preset);
    [wait, time, Parameters::library, a, b, c, d, e, f, g, h, i, j]
}

/// The shared table and numbers of polls of `step` nanoseconds; no runtime is throttled when both numbers are
/// the same.
pub(super) const fn spinning(preset: &Preset, spins: u64, throttled: u64, step: u64) -> [Parameter; 14] {
    let (wait, [a, b, c, d, e, f, g, h, i, j]) = shared(preset);
    let count = Parameters::spin_count.with(spins);
    let fewer = Parameters::throttled_spin_count.with(throttled);
    [wait, count, fewer, Parameters::spin_step.with(step), a, b, c, d, e, f, g, h, i, j]
}
