//! The kernel that the operation in progress can use, for the functions that it imports.
//!
//! A module is run by an interpreter whose store outlives every operation, while the kernel is lent for one
//! operation. So the functions that the module imports find it in a slot of the thread, which is filled while
//! an operation goes on.

use scoped_tls_hkt::scoped_thread_local;
use wasmi::Error;

use crate::ext::Kernel;

/// What the slot holds: something that can lend the kernel.
trait Lends {
    fn lend(&mut self, use_it: &mut dyn FnMut(&mut Kernel<'_>));
}

impl Lends for Kernel<'_> {
    fn lend(&mut self, use_it: &mut dyn FnMut(&mut Kernel<'_>)) {
        use_it(self);
    }
}

scoped_thread_local!(static mut SLOT: for<'a> &'a mut (dyn Lends + 'a));

/// Does something while the functions of [`with`] can use the kernel.
pub(super) fn during<R>(kernel: &mut Kernel<'_>, work: impl FnOnce() -> R) -> R {
    SLOT.set(kernel, work)
}

/// The run is about to end: nothing that the operation does matters any more.
#[derive(Debug)]
pub(super) struct Ended;

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the run has ended")
    }
}

impl wasmi::errors::HostError for Ended {}

/// What the kernel does for a function that a module calls.
///
/// # Errors
/// There is no kernel outside of operations; or the call ends the run, and then the operation is left.
pub(super) fn with<R>(name: &str, work: impl FnOnce(&mut Kernel<'_>) -> R) -> Result<R, Error> {
    if !SLOT.is_set() {
        return Err(Error::new(format!("{name}() is called before the scheduler is there")));
    }
    let (mut work, mut result, mut ended) = (Some(work), None, false);
    SLOT.with(|lends| {
        lends.lend(&mut |kernel| {
            result = work.take().map(|work| work(kernel));
            ended = kernel.has_ended();
        });
    });
    match result {
        Some(result) if !ended => Ok(result),
        _ => Err(Error::host(Ended)),
    }
}
