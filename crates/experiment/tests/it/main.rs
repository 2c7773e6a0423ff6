//! From the text of a scenario to what is measured: one program for all subjects, which links faster than one
//! for each.

mod built_in;
mod history;
mod jobs;
mod measurements;
mod mechanisms;
mod numa_balancing;
mod policies_binding;
mod policies_rounds;
mod policies_speed;
mod policies_waits;
mod policy_order;
mod response;
mod schedules;
#[path = "../support/splitmix.rs"]
mod splitmix;
mod stacks;
#[path = "../support/mod.rs"]
mod support;
mod uncertainty;
