//! Scenarios as files of other programs, with a list of what those cannot state.

mod apps;
mod rt_app;
mod statements;
mod swf;

pub use rt_app::rt_app;
pub use swf::swf;

use crate::note::{Kind, Note};

/// A file of another program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exported {
    /// What it holds.
    pub text: String,
    /// What it lacks or states differently.
    pub notes: Vec<Note>,
}

impl Exported {
    /// True when it has everything of the scenario that it can act on.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.notes.iter().all(|note| note.kind != Kind::LeftOut)
    }
}
