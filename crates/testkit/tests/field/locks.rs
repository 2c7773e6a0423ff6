//! Locks with more threads than cpus.
