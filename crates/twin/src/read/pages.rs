//! Pages of the buffers of tracefs, as `trace_pipe_raw` gives them and trace-cmd keeps them
//! (`kbuffer-parse.c` of libtraceevent), of kernels with 64 bits.

use super::binary::Bytes;

/// Bytes before the events of a page: a time, and how many bytes of events follow.
const HEADER: usize = 16;
/// Parts of the second number: bytes of events; events were lost before the page; how many stands behind
/// them.
const LENGTH: u64 = (1 << 27) - 1;
const LOST: u64 = 1 << 31;
const HOW_MANY: u64 = 1 << 30;

/// What a page holds next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entry<'a> {
    /// An event, and when it was.
    Event(u64, &'a [u8]),
    /// So many events were lost before the page, which begins at this instant.
    Lost(u64, u64),
}

/// Where one is in a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    next: usize,
    end: usize,
    at: u64,
    lost: Option<u64>,
}

impl Place {
    /// In no page.
    pub(super) const EMPTY: Self = Self { next: 0, end: 0, at: 0, lost: None };

    /// Up to where the page has been read.
    pub(super) const fn read(self) -> usize {
        self.next
    }

    /// The beginning of a page.
    pub(super) fn first(page: &[u8]) -> Option<Self> {
        let mut left = Bytes(page);
        let (at, commit) = (left.u64()?, left.u64()?);
        let length = (commit & LENGTH) as usize;
        let end = HEADER.checked_add(length).filter(|end| *end <= page.len())?;
        let lost = (commit & LOST != 0).then(|| {
            let many = (commit & HOW_MANY != 0).then(|| Bytes(page).at(end, 8)).flatten();
            many.filter(|many| *many > 0).unwrap_or(1)
        });
        Some(Self { next: HEADER, end, at, lost })
    }

    /// The next entry; nothing at the end of the page. `Err` if it is damaged.
    pub(super) fn next<'a>(&mut self, page: &'a [u8]) -> Result<Option<Entry<'a>>, ()> {
        if let Some(lost) = self.lost.take() {
            return Ok(Some(Entry::Lost(self.at, lost)));
        }
        let page = page.get(..self.end).ok_or(())?;
        while self.next < self.end {
            let word = Bytes(page).at(self.next, 4).ok_or(())?;
            let (kind, delta) = (word & 0x1f, word >> 5);
            let begin = self.next + 4;
            let long = || Bytes(page).at(begin, 4);
            // Bytes of the event, and before it.
            let (before, size) = match kind {
                29 if delta == 0 => break,
                29 => {
                    self.next = begin.checked_add(long().ok_or(())? as usize).ok_or(())?;
                    continue;
                }
                30 | 31 => {
                    let time = long().ok_or(())? << 27 | delta;
                    // The highest five bits of an instant stay.
                    self.at =
                        if kind == 30 { self.at.wrapping_add(time) } else { self.at & 0x1f << 59 | time };
                    self.next = begin + 4;
                    continue;
                }
                0 => (4, (long().ok_or(())?.checked_sub(4).ok_or(())? as usize).next_multiple_of(4)),
                words => (0, words as usize * 4),
            };
            self.at = self.at.wrapping_add(delta);
            let data = page.get(begin + before..).and_then(|rest| rest.get(..size)).ok_or(())?;
            self.next = begin + before + size;
            return Ok(Some(Entry::Event(self.at, data)));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(commit_flags: u64, words: &[u32]) -> Vec<u8> {
        let length = 4 * words.len() as u64;
        let mut page = [1_000_u64, length | commit_flags].map(u64::to_le_bytes).concat();
        page.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        page
    }

    fn all(page: &[u8]) -> Result<Vec<Entry<'_>>, ()> {
        let mut place = Place::first(page).ok_or(())?;
        let mut entries = Vec::new();
        while let Some(entry) = place.next(page)? {
            entries.push(entry);
        }
        Ok(entries)
    }

    #[test]
    fn each_kind_of_entry_is_read() {
        let bytes = page(
            LOST,
            &[
                5 << 5 | 1,
                0x11, // an event of four bytes after 5 ns
                3 << 5 | 30,
                1, // 2^27 + 3 ns later
                7 << 5,
                8,
                0x22, // an event with its length in front
                1 << 5 | 29,
                8,
                0, // an event that was taken back
                9 << 5 | 31,
                2, // an instant
                1 << 5 | 1,
                0x33,
                29,
                0,
                0, // nothing from here on
            ],
        );
        let later = 1_005 + (1 << 27) + 3 + 7;
        let instant = (2 << 27) + 9 + 1;
        let words = [0x11_u32, 0x22, 0x33].map(u32::to_le_bytes);
        assert_eq!(
            all(&bytes),
            Ok(vec![
                Entry::Lost(1_000, 1),
                Entry::Event(1_005, &words[0]),
                Entry::Event(later, &words[1]),
                Entry::Event(instant, &words[2]),
            ])
        );
        let mut many = page(LOST | HOW_MANY, &[]);
        many.extend(77_u64.to_le_bytes());
        assert_eq!(all(&many), Ok(vec![Entry::Lost(1_000, 77)]));
    }

    #[test]
    fn lengths_that_lie_are_found() {
        for words in [[9, 0], [0, 3], [0, u32::MAX], [1 << 5 | 2, 0]] {
            assert_eq!(all(&page(0, &words)), Err(()), "{words:?}");
        }
        assert_eq!(all(&page(0, &[1 << 5 | 29, u32::MAX])), Ok(Vec::new()));
        assert_eq!(Place::first(&page(1 << 20, &[])), None);
        assert_eq!(Place::first(&[0; 15]), None);
    }
}
