//! Reads and writes the memory of a policy file; each access is checked.

/// The memory of a module. Addresses come from the module and may be anything.
pub(super) struct Bytes<'a>(pub(super) &'a mut [u8]);

impl Bytes<'_> {
    /// The bytes from an address on.
    pub(super) fn slice(&self, address: u64, length: u64) -> Option<&[u8]> {
        let start = usize::try_from(address).ok()?;
        self.0.get(start..start.checked_add(usize::try_from(length).ok()?)?)
    }

    /// The same, to be written.
    pub(super) fn slice_mut(&mut self, address: u64, length: u64) -> Option<&mut [u8]> {
        let start = usize::try_from(address).ok()?;
        self.0.get_mut(start..start.checked_add(usize::try_from(length).ok()?)?)
    }

    /// A number of 4 bytes.
    pub(super) fn u32(&self, address: u64) -> Option<u32> {
        let bytes = self.slice(address, 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    /// A number of 8 bytes.
    pub(super) fn u64(&self, address: u64) -> Option<u64> {
        let bytes = self.slice(address, 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    /// Writes a number of 1, 2, 4 or 8 bytes: the lowest ones of the value.
    pub(super) fn put(&mut self, address: u64, size: u32, value: u64) -> Option<()> {
        let bytes = value.to_le_bytes();
        let from = bytes.get(..size as usize)?;
        self.slice_mut(address, u64::from(size))?.copy_from_slice(from);
        Some(())
    }

    /// Writes a number of 4 bytes.
    pub(super) fn put_u32(&mut self, address: u64, value: u32) -> Option<()> {
        self.slice_mut(address, 4)?.copy_from_slice(&value.to_le_bytes());
        Some(())
    }

    /// Writes a number of 8 bytes.
    pub(super) fn put_u64(&mut self, address: u64, value: u64) -> Option<()> {
        self.slice_mut(address, 8)?.copy_from_slice(&value.to_le_bytes());
        Some(())
    }

    /// Writes words of bits.
    pub(super) fn put_words(&mut self, address: u64, words: &[u64]) -> Option<()> {
        let to = self.slice_mut(address, words.len() as u64 * 8)?;
        for (to, word) in to.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        Some(())
    }

    /// Reads words of bits.
    pub(super) fn words(&self, address: u64, count: usize) -> Option<Vec<u64>> {
        let bytes = self.slice(address, count as u64 * 8)?;
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        Some(bytes.chunks_exact(8).map(word).collect())
    }

    /// Text without its end, at most so many bytes; bytes that are no UTF-8 become U+FFFD.
    pub(super) fn text(&self, address: u64, most: u64) -> Option<String> {
        let left = (self.0.len() as u64).checked_sub(address)?;
        let bytes = self.slice(address, most.min(left))?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Some(String::from_utf8_lossy(bytes.get(..end)?).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    #[test]
    fn no_address_reaches_beyond_the_memory() {
        let mut memory = vec![0; 16];
        let mut bytes = Bytes(&mut memory);
        assert_eq!(bytes.put_u32(4, 0x0102_0304), Some(()));
        assert_eq!((bytes.u64(0), bytes.u32(4)), (Some(0x0102_0304_0000_0000), Some(0x0102_0304)));
        assert_eq!(bytes.words(0, 2), Some(vec![0x0102_0304_0000_0000, 0]));
        for address in [9, 16, u64::MAX, u64::MAX - 7] {
            assert_eq!((bytes.u64(address), bytes.put_u64(address, 1)), (None, None), "{address}");
        }
        assert_eq!(bytes.text(17, 4), None);
        assert_eq!(bytes.put(15, 1, 0x141), Some(()));
        assert_eq!(bytes.text(15, 10), Some("A".to_owned()));
    }
}
