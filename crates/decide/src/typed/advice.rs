//! What is to be typed: programs with the settings that were chosen for them, and the node on which they run.

use notation::cpus::Numbering;
use serde::Serialize;
use sim_core::ids::CpuId;
use sim_core::machine::{Machine, Topology};

/// A chosen setting of all programs of a node. What is `None` stays as it is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Advice {
    /// The programs, in the order in which they are named.
    pub programs: Vec<Program>,
    /// The programs run one after the other, in this order.
    pub turns: bool,
    /// What jobs of a batch system share.
    pub shared: Option<Shared>,
}

/// What jobs of a batch system share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Shared {
    /// So many jobs may have the same cores; at least 2.
    Cores(u32),
    /// Jobs share a node, but no cores.
    Node,
    /// Each job has its node to itself.
    Nothing,
}

/// One application as advised.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// Its name, as the command is called.
    pub name: String,
    /// The processes of an MPI job and their library; none for a program of one process.
    pub processes: Option<Layer>,
    /// The threads of each process and their runtime or library; none for processes of one thread.
    pub threads: Option<Layer>,
    /// Where tasks are bound.
    pub place: Option<Place>,
    /// The cpus that it may use, in the simulator's numbers.
    pub cpus: Option<Vec<u32>>,
    /// Only the first hardware thread of each core is used.
    pub one_thread_per_core: bool,
    /// Where its memory comes from.
    pub pages: Option<Pages>,
    /// Nice value, from -20 to 19.
    pub nice: Option<i8>,
    /// Limit of its cpu time.
    pub quota: Option<Quota>,
    /// Weight of its control group, from 1 to 10,000 (100 is the default of Linux).
    pub weight: Option<u32>,
}

/// Processes or threads, and who creates them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Layer {
    /// A runtime of the registry (`libgomp`, `openmpi`, ...; `oversim list runtimes`), or a library or a
    /// command that is none of them and has its own setting for their number (`LIBRARIES`).
    pub runtime: String,
    /// How many processes, or threads in each process; at least 1.
    pub number: u32,
    /// The number is part of the advice; otherwise it is what the program has already.
    pub set: bool,
    /// How its tasks wait.
    pub wait: Option<Waiting>,
}

/// How tasks wait at barriers and for messages. `simulated` tells what it is in a scenario.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Waiting {
    /// As the library does without any setting. Typed as the value that stands for it where there is one, so
    /// that it also holds where another value is set; [`None`] says nothing.
    Default,
    /// They sleep at once.
    Sleep,
    /// They poll, yield, and never sleep.
    Yield,
    /// They poll and never sleep, and yield as little as the library allows.
    Spin,
    /// They poll for so many nanoseconds and then sleep.
    SpinFor(u64),
    /// They poll so many times and then sleep, or in MPICH yield.
    SpinCount(u64),
}

/// Whether tasks are bound.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// They are not bound, also where a library or a launcher does so by default.
    Unbound,
    /// Task r gets the (r + `offset`)-th place of the layout; after the last one it goes on with the first.
    Bound {
        /// The order of the places.
        layout: Layout,
        /// What a place is.
        unit: Unit,
        /// The place of the first task among those of the layout.
        offset: u32,
    },
}

/// The order of places: the parameter `layout` of the policy `PIN`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Layout {
    /// By number, the first hardware threads of all cores before the second ones (`even`).
    Even,
    /// Neighbouring tasks close together (`gather`).
    Close,
    /// Neighbouring tasks far apart (`scatter`).
    Spread,
    /// Each process in a block of the machine of its own, its threads close together in it (`blocks`).
    Blocks,
    /// These cpus in this order, in the simulator's numbers; a cpu may be named several times (`list`).
    List(Vec<u32>),
}

/// What a place is: the parameter `by` of the policy `PIN`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Unit {
    /// One cpu (hardware thread).
    Cpu,
    /// A core.
    Core,
    /// What shares a cache.
    Cache,
    /// A NUMA node.
    Node,
    /// A package.
    Package,
}

/// Where the memory of a program comes from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Pages {
    /// Page by page from all NUMA nodes in turn.
    Interleaved,
    /// From these NUMA nodes only.
    Nodes(Vec<u32>),
}

/// A limit of cpu time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Quota {
    /// Cpu time in each period, in nanoseconds; at least 1 ms.
    pub quota: u64,
    /// The period in nanoseconds; 1 ms to 1 s.
    pub period: u64,
    /// What of earlier periods may be used on top, in nanoseconds; 0: nothing.
    pub burst: u64,
}

/// The machine on which the programs run.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// Its cpus, cores and NUMA nodes.
    pub machine: &'a Machine,
    /// How Linux numbers its cpus.
    pub numbering: &'a Numbering,
}

impl Node<'_> {
    pub(super) fn topology(&self) -> &Topology {
        &self.machine.topology
    }

    /// Linux's number of a cpu of the simulator.
    pub(super) fn linux(&self, cpu: CpuId) -> u32 {
        self.numbering.linux.get(cpu.0 as usize).copied().unwrap_or(cpu.0)
    }
}

/// A way of saying it: a command, a launcher or a system that takes settings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Environment variables, `taskset`, `numactl`, `nice`.
    Shell,
    /// `srun` and `slurm.conf`.
    Slurm,
    /// `mpirun` of Open MPI.
    OpenMpi,
    /// `mpirun` of Intel MPI.
    IntelMpi,
    /// `mpiexec` of MPICH (Hydra).
    Mpich,
    /// `systemd-run`.
    Systemd,
    /// Files of a control group (cgroup v2).
    Cgroup,
    /// `docker run`.
    Docker,
    /// A container of a pod, in YAML.
    Kubernetes,
}

impl Dialect {
    /// All, in the order of lists.
    pub const ALL: [Self; 9] = [
        Self::Shell,
        Self::Slurm,
        Self::OpenMpi,
        Self::IntelMpi,
        Self::Mpich,
        Self::Systemd,
        Self::Cgroup,
        Self::Docker,
        Self::Kubernetes,
    ];

    /// Its name on the command line and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Slurm => "slurm",
            Self::OpenMpi => "open-mpi",
            Self::IntelMpi => "intel-mpi",
            Self::Mpich => "mpich",
            Self::Systemd => "systemd",
            Self::Cgroup => "cgroup",
            Self::Docker => "docker",
            Self::Kubernetes => "kubernetes",
        }
    }
}

/// Something that a user can set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lever {
    /// The number of processes.
    Processes,
    /// The number of threads.
    Threads,
    /// Where tasks are bound.
    Place,
    /// The cpus that a program may use.
    Cpus,
    /// How processes wait.
    WaitOfProcesses,
    /// How threads wait.
    WaitOfThreads,
    /// Where memory comes from.
    Pages,
    /// The nice value.
    Nice,
    /// The limit of cpu time.
    Quota,
    /// What a limit of cpu time lets a program save.
    Burst,
    /// The weight of a control group.
    Weight,
    /// What jobs share.
    Shared,
}

impl Lever {
    /// What it is, in a few words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Processes => "the number of processes",
            Self::Threads => "the number of threads",
            Self::Place => "where tasks are bound",
            Self::Cpus => "the cpus it may use",
            Self::WaitOfProcesses => "how processes wait",
            Self::WaitOfThreads => "how threads wait",
            Self::Pages => "where its memory comes from",
            Self::Nice => "its nice value",
            Self::Quota => "its limit of cpu time",
            Self::Burst => "the burst of its limit",
            Self::Weight => "its weight",
            Self::Shared => "what jobs share",
        }
    }
}
