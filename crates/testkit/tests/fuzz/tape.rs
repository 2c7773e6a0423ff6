//! Bytes of an input that choose among alternatives; behind the end, every choice is the first one.

/// What is left of an input.
pub(crate) struct Tape<'a>(pub(crate) &'a [u8]);

impl Tape<'_> {
    /// Whether all bytes are used.
    pub(crate) const fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number below `count`, 0 if that is 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let high = if count > 256 { usize::from(self.byte()) << 8 } else { 0 };
        (high | usize::from(self.byte())) % count.max(1)
    }
}
