//! Laws of the model that anyone can check with pencil and paper, asked of the real engine: registries of
//! machines, kernels, policies and workloads included.

#![expect(clippy::unwrap_used, reason = "helpers of tests: a panic is a failed test")]

mod backfilling;
mod balance_rows;
mod balancing;
mod barriers;
mod caches;
mod cfs;
mod cfs_groups;
mod clocks;
mod disciplines;
mod eevdf;
mod eevdf_releases;
mod gangs;
mod groups;
mod homes;
mod jobs;
mod kernels;
mod latencies;
mod locks;
mod looks;
mod memory;
mod messages;
mod modern_balancing;
mod numa_balancing;
mod numa_placement;
mod parked;
mod polling;
mod pools;
mod preemption;
mod programs;
mod queueing;
mod real_time;
mod reservations;
mod rounds;
mod scheduling;
mod sharing;
mod speed;
mod support;
mod teams;
mod threads;
mod turns;
mod unequal_cores;
mod waits;
mod workloads;
