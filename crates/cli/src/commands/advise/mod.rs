//! `oversim advise`.

mod general;
mod pod;
mod pools;
mod share;
mod wait;

use std::process::ExitCode;

use experiment::PolicyRegistry;

use crate::args::{Advise, AdviseShape};
use crate::failure::Failure;

pub(crate) fn advise(args: &Advise, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    match &args.shape {
        Some(AdviseShape::Wait(wait)) => wait::wait(wait, policies),
        Some(AdviseShape::Pod(pod)) => pod::pod(pod, policies),
        Some(AdviseShape::Share(share)) => share::share(share, policies),
        Some(AdviseShape::Pools(pools)) => pools::pools(pools, policies),
        None => general::general(&args.general, policies),
    }
}
