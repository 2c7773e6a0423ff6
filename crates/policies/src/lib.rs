//! The scheduling policies: one file (or folder) per policy, one list of them all.
//!
//! Kernel policies place and balance tasks by themselves; user-level ones set affinities and timers on top of
//! the one that belongs to the scenario's kernel.

mod attempt;
mod choice;
mod domain_level;
mod domains;
mod dwrr;
mod entry;
mod gang;
mod group_types;
mod juggle;
mod lewi;
mod lgroup;
mod load;
mod measure;
mod ordering;
mod partition;
mod pin;
mod queues;
mod registry;
mod speed;
mod spread;
mod swomps;
mod ticks;
mod ule;
mod wrap;
mod yield_to;

#[cfg(test)]
mod fake;

pub use choice::{Choice, just_booted};
pub use domain_level::DomainLevel;
pub use domains::domains;
pub use entry::{Build, Entry, Level, Setting, Showcase, TaskGroups};
pub use ordering::{Priorities, priorities};
pub use partition::{Cut, Parameters as PartitionParameters, Share, Unit};
pub use pin::{Order as PinOrder, Tasks as PinTasks, places as pin_places};
pub use registry::{ALL, PolicyFile, PolicyRegistry, ReadFile, file_label, find, is_file, kernel_policy};
pub use sim_core::wrap::Request;
pub use wrap::{Call, Hook, Perturbation, Recorder, Replayer, Schedule, Tally};
