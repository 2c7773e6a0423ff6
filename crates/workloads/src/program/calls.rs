//! Which operations of a kind are one statement that a runtime has a call for.

use super::collectives::Collective;
use super::tree::{Action, Statement};

/// What a runtime has one call for, and the simulator several operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallOf {
    /// A parallel region of a team.
    Region,
    /// A message to the rank so much further on, and one from the rank as much before, of so many bytes.
    Exchange {
        /// Distance in ranks.
        shift: u32,
        /// Bytes of a message; 0 for a signal alone.
        bytes: u64,
    },
    /// A collective.
    Collective {
        /// Which one.
        what: Collective,
        /// Bytes of the buffer that MPI calls count.
        bytes: u64,
    },
}

/// Such a call, and the operations of the program that it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// What it is.
    pub of: CallOf,
    /// Its first operation.
    pub from: usize,
    /// The operation behind its last one.
    pub to: usize,
}

impl Call {
    /// The call that a statement is, if its operations are these.
    pub(super) fn of(statement: &Statement, from: usize, to: usize) -> Option<Self> {
        let of = match &statement.action {
            Action::Parallel(_) => CallOf::Region,
            Action::Exchange(shift, data) => CallOf::Exchange { shift: *shift, bytes: data.bytes },
            Action::Collective(what, data) => CallOf::Collective { what: *what, bytes: data.bytes },
            _ => return None,
        };
        (from < to).then_some(Self { of, from, to })
    }
}
