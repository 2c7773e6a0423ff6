//! The memory that a plan may take.

/// Bytes of an application that is read but not planned yet, alone and in the mix.
pub(crate) const READ: u64 = 1_200;

/// The memory that there is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit {
    /// Bytes.
    pub bytes: u64,
    /// Where the limit comes from, as in `the limit of --memory`.
    pub source: String,
    /// Whether it limits the address space, of which threads reserve more than they use.
    pub addresses: bool,
}
