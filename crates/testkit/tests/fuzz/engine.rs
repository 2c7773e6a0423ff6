//! The simulator under random scenarios, with every check of the campaign over scenario files.

use testkit::swarm::{check_bytes, drawn};

/// A scenario whose decisions these bytes are.
pub(crate) fn case(bytes: &[u8]) {
    if let Err(failure) = check_bytes(bytes) {
        panic!("{}: {}\n{}", failure.kind, failure.detail, drawn(bytes));
    }
}
