//! What a Python policy may reach while one of its hooks runs: the engine, lent for the length of the call.

use scoped_tls_hkt::{ReborrowMut, scoped_thread_local};
use sim_core::policy::{System, View};

use super::hooks::Hook;

/// The engine as a hook may use it.
pub(super) enum Reach<'a> {
    /// It may read only.
    View(&'a dyn View),
    /// It may also act.
    System(&'a mut dyn System),
}

/// A hook that runs now.
pub(super) struct Frame<'a> {
    /// Whose hook it is: the number of a [`super::handle::System`].
    pub(super) owner: u64,
    /// Which one.
    pub(super) hook: Hook,
    /// What it may use.
    pub(super) reach: Reach<'a>,
}

impl<'a> ReborrowMut<'a> for Frame<'_> {
    type Result = Frame<'a>;

    fn reborrow_mut(&'a mut self) -> Frame<'a> {
        let reach = match &mut self.reach {
            Reach::View(view) => Reach::View(*view),
            Reach::System(system) => Reach::System(&mut **system),
        };
        Frame { owner: self.owner, hook: self.hook, reach }
    }
}

scoped_thread_local! {
    /// The hook that this thread runs; empty outside of hooks, and in all other threads.
    pub(super) static mut FRAME: for<'a> Frame<'a>
}
