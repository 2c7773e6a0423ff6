//! Checks for tests: invariants as observers, a slow reference engine, random small scenarios, small
//! policies, campaigns.
//!
//! This crate is used by tests only; nothing that ships depends on it.

pub mod contract;
pub mod cost;
pub mod differences;
pub mod floor;
pub mod house;
pub mod idle_while_waiting;
pub mod invariants;
pub mod job;
pub mod policies;
pub mod reasons;
pub mod reference;
pub mod scenarios;
pub mod seated;
pub mod stopwatch;
pub mod swarm;
pub mod textbook;
pub mod trial;
pub mod watchdog;
