//! The memory that a plan may take, and numbers of bytes in messages.

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

/// A number of bytes with two or three digits: `5.1 GiB`.
#[must_use]
pub fn shown(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = bytes as f64;
    let mut at = 0;
    while value >= 1_000.0 && at + 1 < units.len() {
        value /= 1_024.0;
        at += 1;
    }
    let decimals = usize::from(value < 100.0 && at > 0);
    format!("{value:.decimals$} {}", units[at])
}
