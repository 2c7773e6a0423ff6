//! The table of what can be typed: for each setting of each library, launcher and system a row with the text
//! of its value, since when there is such a thing, and where that is written.

use super::advice::{Dialect, Lever};
use super::row::{CALLS, Form, PLAIN, Row, UNLAUNCHED};
use super::values;
use super::variables::{PLACES, THREADS, WAITS};

/// Commands of a shell, but for those that have their own word for cpus.
const COMMANDS: &[Dialect] = &[Dialect::Shell, Dialect::OpenMpi, Dialect::IntelMpi, Dialect::Mpich];
const SHELLS: &[Dialect] = &[
    Dialect::Shell,
    Dialect::Slurm,
    Dialect::OpenMpi,
    Dialect::IntelMpi,
    Dialect::Mpich,
    Dialect::Systemd,
    Dialect::Docker,
];
const UNITS: &[Dialect] = &[Dialect::Shell, Dialect::Systemd];

/// All settings, in the order in which they are written.
pub const ROWS: &[&[Row]] = &[THREADS, WAITS, PLACES, LAUNCHERS, CPUS, TIME, OWN, SITE];

/// Options of launchers.
const LAUNCHERS: &[Row] = &[
    Row {
        name: "-np",
        levers: &[Lever::Processes],
        dialects: &[Dialect::OpenMpi, Dialect::IntelMpi],
        form: Form::Option(" "),
        companion: true,
        value: values::processes,
        since: "Open MPI 1.0, Intel MPI 1.0",
        source: "mpirun(1)",
        ..PLAIN
    },
    Row {
        name: "-n",
        levers: &[Lever::Processes],
        dialects: &[Dialect::Mpich],
        form: Form::Option(" "),
        companion: true,
        value: values::processes,
        since: "MPI 2.0, section 4.1",
        source: "MPICH, src/pm/hydra/mansrc/mpiexec.txt",
        ..PLAIN
    },
    Row {
        name: "--oversubscribe",
        levers: &[Lever::Processes],
        dialects: &[Dialect::OpenMpi],
        form: Form::Option(""),
        companion: true,
        value: values::oversubscribe,
        since: "Open MPI 1.8; without it mpirun starts no more processes than there are cores",
        source: "mpirun(1) of Open MPI 4.1",
        ..PLAIN
    },
    Row {
        name: "--map-by",
        levers: &[Lever::Place],
        dialects: &[Dialect::OpenMpi],
        form: Form::Option(" "),
        value: values::map_by,
        since: "Open MPI 1.8; core, hwthread, numa and slot:PE=n are the same in 4 and 5",
        source: "mpirun(1) of Open MPI 4.1; docs.open-mpi.org, mpirun",
        ..PLAIN
    },
    Row {
        name: "--bind-to",
        levers: &[Lever::Place, Lever::Cpus],
        dialects: &[Dialect::OpenMpi],
        form: Form::Option(" "),
        value: values::bind_to,
        since: "Open MPI 1.8; the default is core for two processes, socket (4.1) or numa (from 5.0 on) for \
            more, none with --oversubscribe",
        source: "mpirun(1) of Open MPI 4.1; docs.open-mpi.org, mpirun",
        ..PLAIN
    },
    Row {
        name: "--mca",
        levers: &[Lever::WaitOfProcesses],
        runtimes: &["openmpi", "mpi"],
        dialects: &[Dialect::OpenMpi],
        form: Form::Option(" "),
        value: values::yield_option,
        since: "Open MPI 1.0; mpirun sets it to 1 for more processes than cores, which 0 overrides",
        source: "Open MPI, ompi/runtime/ompi_mpi_params.c",
        ..PLAIN
    },
    Row {
        name: "-bind-to",
        levers: &[Lever::Place],
        dialects: &[Dialect::Mpich],
        form: Form::Option(" "),
        cpus: true,
        value: values::hydra_bind,
        since: "MPICH 3.0; the default is none, the numbers are those of Linux",
        source: "MPICH, src/pm/hydra/ui/mpich/utils.c, help of -bind-to",
        ..PLAIN
    },
    Row {
        name: "--ntasks",
        levers: &[Lever::Processes],
        dialects: &[Dialect::Slurm],
        form: Form::Option("="),
        companion: true,
        value: values::processes,
        since: "",
        source: "srun(1)",
        ..PLAIN
    },
    Row {
        name: "--cpus-per-task",
        levers: &[Lever::Threads],
        dialects: &[Dialect::Slurm],
        form: Form::Option("="),
        companion: true,
        value: values::cpus_per_task,
        since: "from Slurm 22.05 on srun does not take it over from sbatch",
        source: "srun(1)",
        ..PLAIN
    },
    Row {
        name: "--overcommit",
        levers: &[Lever::Processes],
        dialects: &[Dialect::Slurm],
        form: Form::Option(""),
        companion: true,
        value: values::overcommit,
        since: "without it srun starts one process for each cpu at most",
        source: "srun(1)",
        ..PLAIN
    },
    Row {
        name: "--cpu-bind",
        levers: &[Lever::Place, Lever::Cpus],
        dialects: &[Dialect::Slurm],
        form: Form::Option("="),
        cpus: true,
        value: values::cpu_bind,
        since: "Slurm 17.11 (before: --cpu_bind); with the plugin task/affinity srun binds by default",
        source: "srun(1); src/plugins/task/affinity/affinity.c",
        ..PLAIN
    },
    Row {
        name: "--hint",
        levers: &[Lever::Cpus],
        dialects: &[Dialect::Slurm],
        form: Form::Option("="),
        value: values::hint,
        since: "excludes --cpu-bind",
        source: "srun(1)",
        ..PLAIN
    },
    Row {
        name: "--overlap",
        levers: &[Lever::Shared],
        dialects: &[Dialect::Slurm],
        form: Form::Option(""),
        companion: true,
        value: values::overlap,
        since: "Slurm 20.11, for steps of one job",
        source: "srun(1)",
        ..PLAIN
    },
    Row {
        name: "--exclusive",
        levers: &[Lever::Shared],
        dialects: &[Dialect::Slurm],
        form: Form::Option(""),
        value: values::exclusive,
        since: "for the job (sbatch, or srun outside of a job)",
        source: "srun(1)",
        ..PLAIN
    },
];

/// Masks, memory and priority.
const CPUS: &[Row] = &[
    Row {
        name: "taskset",
        levers: &[Lever::Cpus],
        dialects: COMMANDS,
        form: Form::Outer("-c "),
        cpus: true,
        value: values::taskset,
        since: "",
        source: "taskset(1)",
        ..PLAIN
    },
    Row {
        name: "taskset",
        levers: &[Lever::Place, Lever::Cpus],
        dialects: COMMANDS,
        form: Form::Outer("-c "),
        cpus: true,
        value: values::taskset_together,
        since: "",
        source: "taskset(1)",
        ..PLAIN
    },
    Row {
        name: "numactl",
        levers: &[Lever::Cpus],
        dialects: COMMANDS,
        form: Form::Outer("--physcpubind="),
        cpus: true,
        value: values::physcpubind,
        since: "",
        source: "numactl(8)",
        ..PLAIN
    },
    Row {
        name: "numactl",
        levers: &[Lever::Pages],
        dialects: COMMANDS,
        form: Form::Outer("--interleave="),
        value: values::interleave,
        since: "",
        source: "numactl(8)",
        ..PLAIN
    },
    Row {
        name: "numactl",
        levers: &[Lever::Pages],
        dialects: COMMANDS,
        form: Form::Outer("--membind="),
        value: values::memory_nodes,
        since: "",
        source: "numactl(8)",
        ..PLAIN
    },
    Row {
        name: "numactl",
        levers: &[Lever::Pages],
        dialects: &[Dialect::Slurm, Dialect::Systemd],
        form: Form::Inner("--interleave="),
        value: values::interleave,
        since: "",
        source: "numactl(8)",
        ..PLAIN
    },
    Row {
        name: "numactl",
        levers: &[Lever::Pages],
        dialects: &[Dialect::Slurm],
        form: Form::Inner("--membind="),
        value: values::memory_nodes,
        since: "",
        source: "numactl(8)",
        ..PLAIN
    },
    Row {
        name: "bash",
        levers: &[Lever::Place],
        dialects: &[Dialect::OpenMpi],
        form: Form::Inner(""),
        cpus: true,
        value: values::by_rank_open_mpi,
        since: "Open MPI 1.4; in Linux's numbers, which rankfiles and cpu lists of 4 and 5 read differently",
        source: "mpirun(1), OMPI_COMM_WORLD_LOCAL_RANK; bash(1); taskset(1)",
        ..PLAIN
    },
    Row {
        name: "bash",
        levers: &[Lever::Place],
        dialects: &[Dialect::IntelMpi],
        form: Form::Inner(""),
        cpus: true,
        value: values::by_rank_intel,
        since: "Intel MPI 4.0; for places that are used several times",
        source: "Intel MPI Library Developer Reference for Linux, MPI_LOCALRANKID; bash(1); taskset(1)",
        ..PLAIN
    },
    Row {
        name: "nice",
        levers: &[Lever::Nice],
        dialects: SHELLS,
        form: Form::Inner("-n "),
        value: values::nice,
        since: "",
        source: "nice(1); values below 0 need CAP_SYS_NICE",
        ..PLAIN
    },
    Row {
        name: "AllowedCPUs",
        levers: &[Lever::Cpus, Lever::Place],
        dialects: &[Dialect::Systemd],
        form: Form::Property,
        cpus: true,
        value: values::cpuset,
        since: "systemd 244",
        source: "systemd.resource-control(5)",
        ..PLAIN
    },
    Row {
        name: "AllowedMemoryNodes",
        levers: &[Lever::Pages],
        dialects: &[Dialect::Systemd],
        form: Form::Property,
        value: values::memory_nodes,
        since: "systemd 244",
        source: "systemd.resource-control(5)",
        ..PLAIN
    },
    Row {
        name: "cpuset.cpus",
        levers: &[Lever::Cpus, Lever::Place],
        dialects: &[Dialect::Cgroup],
        form: Form::File,
        cpus: true,
        value: values::cpuset,
        since: "Linux 5.0",
        source: "Linux, Documentation/admin-guide/cgroup-v2.rst, section Cpuset",
        ..PLAIN
    },
    Row {
        name: "cpuset.mems",
        levers: &[Lever::Pages],
        dialects: &[Dialect::Cgroup],
        form: Form::File,
        value: values::memory_nodes,
        since: "Linux 5.0",
        source: "Linux, Documentation/admin-guide/cgroup-v2.rst, section Cpuset",
        ..PLAIN
    },
    Row {
        name: "--cpuset-cpus",
        levers: &[Lever::Cpus, Lever::Place],
        dialects: &[Dialect::Docker],
        form: Form::Option("="),
        cpus: true,
        value: values::cpuset,
        since: "Docker 1.6",
        source: "docker-run(1)",
        ..PLAIN
    },
    Row {
        name: "--cpuset-mems",
        levers: &[Lever::Pages],
        dialects: &[Dialect::Docker],
        form: Form::Option("="),
        value: values::memory_nodes,
        since: "Docker 1.7",
        source: "docker-run(1)",
        ..PLAIN
    },
];

/// Limits and weights of cpu time.
const TIME: &[Row] = &[
    Row {
        name: "CPUQuota",
        levers: &[Lever::Quota],
        dialects: UNITS,
        form: Form::Property,
        value: values::cpu_quota,
        since: "systemd 213",
        source: "systemd.resource-control(5)",
        ..PLAIN
    },
    Row {
        name: "CPUQuotaPeriodSec",
        levers: &[Lever::Quota],
        dialects: UNITS,
        form: Form::Property,
        value: values::quota_period,
        since: "systemd 242; 100ms is the default",
        source: "systemd.resource-control(5)",
        ..PLAIN
    },
    Row {
        name: "CPUWeight",
        levers: &[Lever::Weight],
        dialects: UNITS,
        form: Form::Property,
        value: values::weight,
        since: "systemd 232; 100 is the default",
        source: "systemd.resource-control(5)",
        ..PLAIN
    },
    Row {
        name: "cpu.max",
        levers: &[Lever::Quota],
        dialects: &[Dialect::Cgroup],
        form: Form::File,
        value: values::cpu_max,
        since: "Linux 4.15; quota and period in us",
        source: "Linux, Documentation/admin-guide/cgroup-v2.rst, section CPU",
        ..PLAIN
    },
    Row {
        name: "cpu.max.burst",
        levers: &[Lever::Burst],
        dialects: &[Dialect::Cgroup],
        form: Form::File,
        value: values::burst,
        since: "Linux 5.14; in us, at most the quota",
        source: "Linux, Documentation/admin-guide/cgroup-v2.rst, section CPU",
        ..PLAIN
    },
    Row {
        name: "cpu.weight",
        levers: &[Lever::Weight],
        dialects: &[Dialect::Cgroup],
        form: Form::File,
        value: values::weight,
        since: "Linux 4.15; 1 to 10,000, 100 is the default",
        source: "Linux, Documentation/admin-guide/cgroup-v2.rst, section CPU",
        ..PLAIN
    },
    Row {
        name: "--cpu-period",
        levers: &[Lever::Quota],
        dialects: &[Dialect::Docker],
        form: Form::Option("="),
        value: values::period_us,
        since: "Docker 1.7; in us",
        source: "docker-run(1)",
        ..PLAIN
    },
    Row {
        name: "--cpu-quota",
        levers: &[Lever::Quota],
        dialects: &[Dialect::Docker],
        form: Form::Option("="),
        value: values::quota_us,
        since: "Docker 1.7; in us; --cpus is the quotient of both",
        source: "docker-run(1)",
        ..PLAIN
    },
    Row {
        name: "--cpu-shares",
        levers: &[Lever::Weight],
        dialects: &[Dialect::Docker],
        form: Form::Option("="),
        value: values::cpu_shares,
        since: "runc 1.3.2, crun 1.23; earlier ones made cpu.weight 1 + (shares - 2) x 9999 / 262142",
        source: "docker-run(1); opencontainers/runc issue 4772 and pull request 4785",
        ..PLAIN
    },
    Row {
        name: "requests.cpu",
        levers: &[Lever::Weight, Lever::Cpus, Lever::Place],
        dialects: &[Dialect::Kubernetes],
        form: Form::Field,
        value: values::request,
        since: "runc 1.3.2, crun 1.23 for the weight that follows from it",
        source: "kubernetes.io, Resource Management for Pods and Containers; opencontainers/runc issue 4772",
        ..PLAIN
    },
    Row {
        name: "limits.cpu",
        levers: &[Lever::Quota, Lever::Cpus, Lever::Place],
        dialects: &[Dialect::Kubernetes],
        form: Form::Field,
        value: values::limit,
        since: "Kubernetes 1.0",
        source: "kubernetes.io, Resource Management for Pods and Containers",
        ..PLAIN
    },
];

/// Options and files of commands that have a number of processes or threads.
const OWN: &[Row] = &[
    Row {
        name: "-j",
        levers: &[Lever::Threads],
        runtimes: &["make", "ninja", "parallel"],
        dialects: CALLS,
        form: Form::Own(" "),
        value: values::own_number,
        since: "GNU make 3.75",
        source: "make(1); ninja -h; parallel(1), --jobs",
        ..PLAIN
    },
    Row {
        name: "-P",
        levers: &[Lever::Threads],
        runtimes: &["xargs"],
        dialects: CALLS,
        form: Form::Own(" "),
        value: values::own_number,
        since: "",
        source: "xargs(1), --max-procs",
        ..PLAIN
    },
    Row {
        name: "-c",
        levers: &[Lever::Threads],
        runtimes: &["pgbench"],
        dialects: CALLS,
        form: Form::Own(" "),
        value: values::own_number,
        since: "clients, each with a session of its own",
        source: "PostgreSQL documentation, pgbench, --client",
        ..PLAIN
    },
    Row {
        name: "worker_processes",
        levers: &[Lever::Threads],
        runtimes: &["nginx"],
        dialects: UNLAUNCHED,
        form: Form::Site("nginx.conf", " "),
        value: values::own_number,
        since: "",
        source: "nginx.org, Core functionality, worker_processes",
        ..PLAIN
    },
    Row {
        name: "pm.max_children",
        levers: &[Lever::Threads],
        runtimes: &["php-fpm"],
        dialects: UNLAUNCHED,
        form: Form::Site("pool of php-fpm.conf", " = "),
        value: values::own_number,
        since: "PHP 5.3.3",
        source: "PHP manual, FastCGI Process Manager, Configuration",
        ..PLAIN
    },
    Row {
        name: "default_pool_size",
        levers: &[Lever::Threads],
        runtimes: &["pgbouncer"],
        dialects: UNLAUNCHED,
        form: Form::Site("pgbouncer.ini", " = "),
        value: values::own_number,
        since: "server connections for each pair of user and database",
        source: "pgbouncer.org, config, default_pool_size",
        ..PLAIN
    },
];

/// What the administrator of a site sets.
const SITE: &[Row] = &[
    Row {
        name: "OverSubscribe",
        levers: &[Lever::Shared],
        dialects: &[Dialect::Slurm],
        form: Form::Site("slurm.conf, partition", "="),
        value: values::oversubscribe_partition,
        since: "Slurm 16.05 (before: Shared)",
        source: "slurm.conf(5); slurm.schedmd.com/cons_tres_share.html",
        ..PLAIN
    },
    Row {
        name: "cpuManagerPolicy",
        levers: &[Lever::Cpus, Lever::Place],
        dialects: &[Dialect::Kubernetes],
        form: Form::Site("KubeletConfiguration", ": "),
        value: values::static_policy,
        since: "Kubernetes 1.26, in beta from 1.10 on; whole cpus, requests equal to limits, also of memory",
        source: "kubernetes.io, Control CPU Management Policies on the Node",
        ..PLAIN
    },
    Row {
        name: "cpuCFSQuotaPeriod",
        levers: &[Lever::Quota],
        dialects: &[Dialect::Kubernetes],
        form: Form::Site("KubeletConfiguration", ": "),
        value: values::kubelet_period,
        since: "Kubernetes 1.12, feature gate CustomCPUCFSQuotaPeriod",
        source: "kubernetes.io, Kubelet Configuration (v1beta1)",
        ..PLAIN
    },
];
