//! Names of operations that are not executed.

use sim_core::program::Op;

/// The name of an operation that is not executed.
#[must_use]
pub const fn unknown(op: &Op) -> Option<&'static str> {
    match op {
        Op::Compute { .. }
        | Op::Serial { .. }
        | Op::Barrier
        | Op::Sleep { .. }
        | Op::Yield
        | Op::StartClock
        | Op::Repeat(_)
        | Op::End => None,
        Op::TeamBarrier | Op::Join | Op::LeadersBarrier => Some("barriers of teams"),
        Op::Exchange { .. } => Some("exchanges between neighbours"),
        Op::Message(_) | Op::Apart { .. } => Some("messages between ranks"),
        Op::Transfer { .. } => Some("all-to-all transfers"),
        Op::Lock(_) | Op::Unlock(_) => Some("critical sections"),
        Op::Respawn => Some("new processes"),
        Op::RepeatShared(_) => Some("shared loops"),
        Op::Post { .. } | Op::Take { .. } | Op::Arm(_) | Op::Meet { .. } => Some("counted events"),
        Op::Until { .. } => Some("sleeps until an instant"),
        Op::Io { .. } => Some("work of devices"),
        Op::Branch { .. } | Op::Jump(_) => Some("branches"),
        Op::Lead(_) => Some("parallel regions"),
        Op::Set(_) => Some("changes of a task's own scheduling"),
        Op::Done => Some("requests"),
        Op::Work(_) => Some("pools of jobs"),
    }
}
