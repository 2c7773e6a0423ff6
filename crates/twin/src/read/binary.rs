//! Numbers and texts of a binary file, of the order of bytes of x86 and of nearly all others: little-endian.

/// What is left of some bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    /// So many bytes.
    pub(super) fn take(&mut self, bytes: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(bytes).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Bytes up to a zero, which is dropped.
    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let (text, rest) = self.0.split_at_checked(end)?;
        self.0 = rest.get(1..)?;
        Some(text)
    }

    /// A number of protocol buffers: seven bits a byte, the lowest first.
    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A number of 1, 2, 4 or 8 bytes at a place.
    pub(super) fn at(self, place: usize, size: usize) -> Option<u64> {
        let bytes = self.0.get(place..place.checked_add(size)?).filter(|bytes| bytes.len() <= 8)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_behind_the_end() {
        let mut bytes = Bytes(&[1, 0, 0, 0, b'a', 0, 0x80]);
        assert_eq!(bytes.u32(), Some(1));
        assert_eq!(bytes.u64(), None);
        assert_eq!(bytes.text(), Some(b"a".as_slice()));
        assert_eq!((bytes.text(), bytes.varint()), (None, None));
        assert_eq!(bytes.take(u64::MAX), None);
        assert_eq!(Bytes(&[0xac, 0x02]).varint(), Some(300));
        assert_eq!(Bytes(&[0xff; 12]).varint(), None);
        assert_eq!(Bytes(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").varint(), Some(u64::MAX));
        assert_eq!(Bytes(&[0xff; 11]).at(usize::MAX, 2), None);
        assert_eq!(Bytes(&[1, 2, 3]).at(1, 2), Some(0x302));
    }
}
