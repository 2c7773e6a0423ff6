//! OpenMP teams and MPI ranks as their runtimes start them and let them wait.
