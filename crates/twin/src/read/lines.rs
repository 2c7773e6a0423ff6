//! Lines of a text as a stream, in a buffer of fixed size.

use std::io::{self, Read};

/// Bytes of the buffer.
const BUFFER: usize = 1 << 18;
/// Most bytes of a line; longer ones are skipped. A line of an event has some hundred.
pub(super) const MOST: usize = 1 << 16;

/// A line without its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Line<'a> {
    /// A whole one.
    Whole(&'a [u8]),
    /// The last one, without a line feed.
    Cut(&'a [u8]),
    /// One of more than [`MOST`] bytes.
    Long,
}

/// Reads lines.
pub(super) struct Lines<'a> {
    from: &'a mut dyn Read,
    buffer: Vec<u8>,
    /// The first byte that has not been given.
    start: usize,
    /// One past the last byte that has been read.
    end: usize,
    ended: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(from: &'a mut dyn Read) -> Self {
        Self { from, buffer: vec![0; BUFFER], start: 0, end: 0, ended: false }
    }

    /// More bytes behind those that are there, of which there are at most [`MOST`].
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        loop {
            match self.from.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.end += read,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
                Err(why) => return Err(why),
            }
            return Ok(());
        }
    }

    /// The next line.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut looked = 0;
        let mut long = false;
        loop {
            let there = &self.buffer[self.start..self.end];
            if let Some(at) = there[looked..].iter().position(|byte| *byte == b'\n') {
                let (start, end) = (self.start, self.start + looked + at);
                self.start = end + 1;
                let line = &self.buffer[start..end];
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                return Ok(Some(if long || line.len() > MOST { Line::Long } else { Line::Whole(line) }));
            }
            looked = there.len();
            if looked > MOST {
                (long, looked) = (true, 0);
                self.start = self.end;
            }
            if self.ended {
                let line = &self.buffer[self.start..self.end];
                self.start = self.end;
                return Ok(match line {
                    _ if long => Some(Line::Long),
                    [] => None,
                    line => Some(Line::Cut(line)),
                });
            }
            self.fill()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives few bytes at a time.
    struct Drops<'a>(&'a [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let some = self.0.len().min(7).min(to.len());
            to[..some].copy_from_slice(&self.0[..some]);
            self.0 = &self.0[some..];
            Ok(some)
        }
    }

    #[test]
    fn lines_come_whole_however_the_bytes_come() {
        let text = b"first\n\nthird line of the text\r\nwithout end";
        let mut from = Drops(text);
        let mut lines = Lines::new(&mut from);
        assert_eq!(lines.next().unwrap(), Some(Line::Whole(b"first")));
        assert_eq!(lines.next().unwrap(), Some(Line::Whole(b"")));
        assert_eq!(lines.next().unwrap(), Some(Line::Whole(b"third line of the text")));
        assert_eq!(lines.next().unwrap(), Some(Line::Cut(b"without end")));
        assert_eq!(lines.next().unwrap(), None);
        assert_eq!(lines.next().unwrap(), None);
    }

    #[test]
    fn a_huge_line_is_skipped_and_the_next_one_is_read() {
        let mut text = vec![b'x'; 3 * BUFFER + 5];
        text.extend(b"\nafter\n");
        text.extend(vec![b'y'; MOST + 1]);
        let mut from = text.as_slice();
        let mut lines = Lines::new(&mut from);
        assert_eq!(lines.next().unwrap(), Some(Line::Long));
        assert_eq!(lines.next().unwrap(), Some(Line::Whole(b"after")));
        assert_eq!(lines.next().unwrap(), Some(Line::Long));
        assert_eq!(lines.next().unwrap(), None);
    }
}
