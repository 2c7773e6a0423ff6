//! Wrappers with the contract of a policy: one disturbs what another decides, one records it, one replays a
//! record.

mod perturb;
mod record;
mod replay;
mod request;
#[cfg(test)]
mod tests;

pub use perturb::Perturbation;
pub use record::{Call, Hook, Recorder, Schedule};
pub use replay::{Replayer, Tally};

pub(crate) use perturb::Perturbed;
