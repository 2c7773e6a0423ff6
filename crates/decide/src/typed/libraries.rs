//! Runtimes and libraries by what they are told in the same way.

use super::advice::Dialect;

/// Runtimes of OpenMP that bind threads by `OMP_PLACES`: GNU's, LLVM's (with Intel's since 2016), and Intel's
/// to 2015.
pub(super) const BINDING: &[&str] = &["libgomp", "libomp", "openmp"];
/// All runtimes of OpenMP of the registry.
pub(super) const OPENMP: &[&str] = &["libgomp", "libomp", "openmp", "sun-openmp", "open64"];
/// All libraries of MPI of the registry; `mpi` is any of them.
pub(super) const MPI: &[&str] = &["mpi", "mpich2", "openmpi"];

/// Libraries, languages and commands that the registry does not have and that count their threads or
/// processes by a setting of their own.
pub const LIBRARIES: &[&str] = &[
    "go",
    "openblas",
    "mkl",
    "rayon",
    "java",
    "make",
    "ninja",
    "cargo",
    "cmake",
    "ctest",
    "xargs",
    "parallel",
    "gunicorn",
    "nginx",
    "php-fpm",
    "pgbouncer",
    "pgbench",
];

/// Of these, commands, and whether their tasks are processes.
const COMMANDS: &[(&str, bool)] = &[
    ("make", true),
    ("ninja", true),
    ("cargo", true),
    ("cmake", true),
    ("ctest", true),
    ("xargs", true),
    ("parallel", true),
    ("gunicorn", true),
    ("nginx", true),
    ("php-fpm", true),
    ("pgbouncer", false),
    ("pgbench", false),
];

/// The command of this name, if there is one.
pub(super) fn command(name: &str) -> Option<&'static str> {
    COMMANDS.iter().find(|(known, _)| *known == name).map(|(known, _)| *known)
}

/// Whether the tasks under this name are processes of a command.
pub(super) fn of_processes(name: &str) -> bool {
    COMMANDS.contains(&(name, true))
}

/// Whether a runtime binds its threads one by one.
pub(super) fn binds(runtime: &str) -> bool {
    BINDING.contains(&runtime)
}

/// The launchers of MPI and the libraries whose processes each of them starts.
pub(super) const LAUNCHERS: &[(Dialect, &str, &[&str])] = &[
    (Dialect::OpenMpi, "mpirun", &["openmpi", "mpi"]),
    (Dialect::IntelMpi, "mpirun", &["mpi"]),
    (Dialect::Mpich, "mpiexec", &["mpich2", "mpi"]),
];
