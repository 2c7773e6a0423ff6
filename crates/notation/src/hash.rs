//! The hash FNV-1a with 64 bits (Fowler, Noll, Vo): the same on every host and in every version.

use std::fmt::{self, Write};

/// Offset basis and prime.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// A hash in progress.
struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = text.bytes().fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        Ok(())
    }
}

/// The hash of a text.
#[must_use]
pub fn text(text: &str) -> u64 {
    shown(format_args!("{text}"))
}

/// The hash of what a value prints for debugging.
#[must_use]
pub fn debug(value: &impl fmt::Debug) -> u64 {
    shown(format_args!("{value:?}"))
}

fn shown(text: fmt::Arguments<'_>) -> u64 {
    let mut hash = Fnv(BASIS);
    // Nothing here can fail to be written.
    let _ = hash.write_fmt(text);
    hash.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hashes() {
        assert_eq!(text(""), BASIS);
        assert_eq!(text("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(text("foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(debug(&"a"), text("\"a\""));
    }
}
