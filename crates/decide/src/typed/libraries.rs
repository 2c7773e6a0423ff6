//! Runtimes and libraries by what they are told in the same way.

use super::advice::Dialect;

/// Runtimes of OpenMP that bind threads by `OMP_PLACES`: GNU's, LLVM's (with Intel's since 2016), and Intel's
/// to 2015.
pub(super) const BINDING: &[&str] = &["libgomp", "libomp", "openmp"];
/// All runtimes of OpenMP of the registry.
pub(super) const OPENMP: &[&str] = &["libgomp", "libomp", "openmp", "sun-openmp", "open64"];
/// All libraries of MPI of the registry; `mpi` is any of them.
pub(super) const MPI: &[&str] = &["mpi", "mpich2", "openmpi"];

/// Libraries and languages that the registry does not have and that count their threads by a variable of
/// their own: Go, OpenBLAS, Intel's MKL, Rayon, Java, make.
pub const LIBRARIES: &[&str] = &["go", "openblas", "mkl", "rayon", "java", "make"];

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
