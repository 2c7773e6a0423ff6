//! The bytes of a recording, decompressed, with the place in the file.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read, SeekFrom};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

use super::{Origin, Seekable};

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 17;
/// Bytes by which a form is recognised.
const HEAD: usize = 256;
/// Most bytes of a file that is held in memory because it comes from a pipe and has to be read twice.
pub(super) const MOST_HELD: u64 = 1 << 30;

/// How many bytes of the file have been used.
#[derive(Clone, Default, Debug)]
pub(super) struct Position(Rc<Cell<u64>>);

impl Position {
    pub(super) fn get(&self) -> u64 {
        self.0.get()
    }

    fn add(&self, bytes: usize) {
        self.0.set(self.0.get() + bytes as u64);
    }
}

/// Counts the bytes that are used.
struct Counted<'a> {
    inner: BufReader<Box<dyn Read + 'a>>,
    position: Position,
}

impl<'a> Counted<'a> {
    fn new(from: Box<dyn Read + 'a>, position: &Position) -> Self {
        Self { inner: BufReader::with_capacity(BUFFER, from), position: position.clone() }
    }
}

impl Read for Counted<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(to)?;
        self.position.add(read);
        Ok(read)
    }
}

impl BufRead for Counted<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
        self.position.add(amount);
    }
}

/// Where the plain bytes come from.
pub(super) enum Source<'a> {
    /// Any place can be read again.
    File(&'a mut dyn Seekable),
    /// Each byte comes once.
    Stream(Box<dyn Read + 'a>),
}

/// Bytes from the beginning, as many as there are.
fn first(from: &mut dyn Read, bytes: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(bytes);
    from.take(bytes as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// The mark of gzip.
fn compressed(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b])
}

/// Undoes the compression. The first plain bytes, by which the form is recognised, come again with the rest.
pub(super) fn open<'a>(from: Origin<'a>, position: &Position) -> io::Result<(Vec<u8>, Source<'a>)> {
    let (head, raw): (Vec<u8>, Box<dyn Read + 'a>) = match from {
        Origin::File(file) => {
            let head = first(file, HEAD)?;
            file.seek(SeekFrom::Start(0))?;
            if !compressed(&head) {
                return Ok((head, Source::File(file)));
            }
            (head, Box::new(file))
        }
        Origin::Stream(from) => {
            let head = first(from, HEAD)?;
            (head.clone(), Box::new(Cursor::new(head).chain(from)))
        }
    };
    let raw = Counted::new(raw, position);
    if !compressed(&head) {
        return Ok((head, Source::Stream(Box::new(raw))));
    }
    let mut plain = MultiGzDecoder::new(raw);
    let head = first(&mut plain, HEAD)?;
    Ok((head.clone(), Source::Stream(Box::new(Cursor::new(head).chain(plain)))))
}

impl<'a> Source<'a> {
    /// From the beginning to the end.
    pub(super) fn stream(self, position: &Position) -> Box<dyn Read + 'a> {
        match self {
            Self::File(file) => Box::new(Counted::new(Box::new(file), position)),
            Self::Stream(from) => from,
        }
    }

    /// Any place, with the number of bytes in all. A stream is held in memory; nothing if it is too large.
    pub(super) fn places(self) -> io::Result<Option<(Box<dyn Seekable + 'a>, u64)>> {
        match self {
            Self::File(file) => {
                let length = file.seek(SeekFrom::End(0))?;
                file.seek(SeekFrom::Start(0))?;
                Ok(Some((Box::new(file), length)))
            }
            Self::Stream(from) => {
                let mut held = Vec::new();
                let length = from.take(MOST_HELD + 1).read_to_end(&mut held)? as u64;
                Ok((length <= MOST_HELD).then(|| (Box::new(Cursor::new(held)) as Box<dyn Seekable>, length)))
            }
        }
    }
}
