//! Sorts what a run tells by time in bounded memory: pieces that fit are sorted, put aside in a temporary
//! file and merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use sim_core::wait::Scope;

/// Records that are sorted at a time: 24 MB, and 16 MB for their order.
const PIECE: usize = 1 << 20;
/// Records of a piece that are read back at a time, at most and at least: all blocks together are no more
/// than a piece, as long as there are not more than 32,768 of them.
const BLOCK: (usize, usize) = (1 << 12, 32);
/// Bytes of a record in the file.
const BYTES: usize = 21;

/// What a record tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Task `a` is runnable on `cpu`.
    Runnable = 0,
    /// Task `a` went to sleep.
    Slept = 1,
    /// Task `a` ended.
    Exited = 2,
    /// Task `a` moved from `cpu` to cpu `b`.
    Migrated = 3,
    /// Task `a` arrived at barrier `b` of scope `cpu`, or waits for lock `b` where `cpu` is [`LOCK`].
    Arrived = 4,
    /// Task `a` went on from there.
    Released = 5,
    /// Barrier `b` of scope `cpu` of application `a` is complete.
    Barrier = 6,
    /// Application `a` started.
    Started = 7,
    /// Application `a` ended.
    Ended = 8,
    /// The policy decided about task `a` (`u32::MAX`: none) by rule `b`; `cpu` is what it did.
    Decided = 9,
    /// A slice on `cpu` ended: occupant `a` of sort `b`.
    End = 10,
    /// A slice on `cpu` began.
    Begin = 11,
}

/// In place of the scope of a barrier: a lock.
pub(crate) const LOCK: u32 = Scope::COUNT as u32;

impl Kind {
    const ALL: [Self; 12] = [
        Self::Runnable,
        Self::Slept,
        Self::Exited,
        Self::Migrated,
        Self::Arrived,
        Self::Released,
        Self::Barrier,
        Self::Started,
        Self::Ended,
        Self::Decided,
        Self::End,
        Self::Begin,
    ];

    /// Within an instant facts come first, in their order, then ends, then begins.
    const fn class(self) -> u8 {
        match self {
            Self::End => 1,
            Self::Begin => 2,
            _ => 0,
        }
    }
}

/// Something that happened at an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    /// When, in nanoseconds.
    pub(crate) at: u64,
    pub(crate) kind: Kind,
    pub(crate) cpu: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
}

impl Record {
    /// What comes first is smaller.
    #[inline]
    const fn key(&self) -> (u64, u8) {
        (self.at, self.kind.class())
    }

    /// The same as one number, with room below for a place among equals.
    #[inline]
    const fn rank(&self) -> u128 {
        (self.at as u128) << 64 | (self.kind.class() as u128) << 32
    }

    fn bytes(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&self.at.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.cpu.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.a.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.b.to_le_bytes());
        bytes[20] = self.kind as u8;
        bytes
    }

    fn of(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        Some(Self {
            at: u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?),
            cpu: word(8)?,
            a: word(12)?,
            b: word(16)?,
            kind: *Kind::ALL.get(usize::from(*bytes.get(20)?))?,
        })
    }
}

/// Takes in records in any order.
pub(crate) struct Sorter {
    piece: Vec<Record>,
    /// Scratch: the order of the piece.
    order: Vec<u128>,
    /// Records at a time.
    size: usize,
    file: Option<File>,
    /// Number of records of each piece in the file.
    pieces: Vec<u64>,
    /// Nothing is kept behind the first failure.
    failed: Option<io::Error>,
}

impl Sorter {
    pub(crate) const fn new() -> Self {
        Self::with_size(PIECE)
    }

    /// With pieces of so many records.
    pub(crate) const fn with_size(size: usize) -> Self {
        let size = if size > u32::MAX as usize { u32::MAX as usize } else { size };
        Self { piece: Vec::new(), order: Vec::new(), size, file: None, pieces: Vec::new(), failed: None }
    }

    pub(crate) fn push(&mut self, record: Record) {
        if self.failed.is_some() {
            return;
        }
        self.piece.push(record);
        if self.piece.len() >= self.size
            && let Err(error) = self.put_aside()
        {
            self.failed = Some(error);
        }
    }

    /// Works out the order of the piece: by key, then as the records came.
    fn sort(&mut self) {
        self.order.clear();
        self.order.extend(self.piece.iter().zip(0u128..).map(|(record, place)| record.rank() | place));
        self.order.sort_unstable();
    }

    fn put_aside(&mut self) -> io::Result<()> {
        self.sort();
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        let mut out = io::BufWriter::with_capacity(1 << 16, file);
        for record in (0..self.order.len()).filter_map(|at| nth(&self.piece, &self.order, at)) {
            out.write_all(&record.bytes())?;
        }
        out.flush()?;
        self.pieces.push(self.piece.len() as u64);
        self.piece.clear();
        Ok(())
    }

    /// All records in order of time; those of one instant and class in the order in which they came.
    pub(crate) fn sorted(mut self) -> io::Result<Sorted> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.sort();
        let Self { piece, order, size, file, pieces, .. } = self;
        let mut next = 0;
        let mut runs = Vec::with_capacity(pieces.len() + 1);
        for count in pieces {
            runs.push(Run { next, left: count, block: Vec::new(), at: 0 });
            next += count;
        }
        // The last piece never left the memory.
        runs.push(Run { next: 0, left: 0, block: Vec::new(), at: 0 });
        let block = (size / runs.len()).clamp(BLOCK.1, BLOCK.0) as u64;
        let mut sorted =
            Sorted { file, piece, order, block, bytes: Vec::new(), runs, heads: BinaryHeap::new() };
        for run in 0..sorted.runs.len() {
            if let Some(key) = sorted.head(run)? {
                sorted.heads.push(Reverse((key, run)));
            }
        }
        Ok(sorted)
    }
}

/// One record of a piece in this order.
#[inline]
fn nth<'a>(piece: &'a [Record], order: &[u128], at: usize) -> Option<&'a Record> {
    piece.get((*order.get(at)? as u32) as usize)
}

/// A sorted piece: what has not been looked at yet, and the block that is being read. The last piece is in
/// memory: no blocks.
struct Run {
    next: u64,
    left: u64,
    block: Vec<Record>,
    at: usize,
}

/// The records in order.
pub(crate) struct Sorted {
    file: Option<File>,
    /// The last piece, with its order.
    piece: Vec<Record>,
    order: Vec<u128>,
    /// Records that are read at a time.
    block: u64,
    /// Scratch: what has been read.
    bytes: Vec<u8>,
    runs: Vec<Run>,
    /// The key of the first record of each run, smallest first; of equals that of the first run.
    heads: BinaryHeap<Reverse<((u64, u8), usize)>>,
}

impl Sorted {
    /// The key of the next record of a run, which is read if need be.
    fn head(&mut self, number: usize) -> io::Result<Option<(u64, u8)>> {
        let last = self.runs.len() - 1;
        let Some(run) = self.runs.get_mut(number) else { return Ok(None) };
        if number == last {
            return Ok(nth(&self.piece, &self.order, run.at).map(Record::key));
        }
        if let Some(record) = run.block.get(run.at) {
            return Ok(Some(record.key()));
        }
        let count = run.left.min(self.block);
        (run.at, run.left) = (0, run.left - count);
        run.block.clear();
        if count > 0
            && let Some(file) = &mut self.file
        {
            self.bytes.resize(count as usize * BYTES, 0);
            file.seek(SeekFrom::Start(run.next * BYTES as u64))?;
            file.read_exact(&mut self.bytes)?;
            run.block.extend(self.bytes.chunks(BYTES).filter_map(Record::of));
        }
        run.next += count;
        Ok(run.block.first().map(Record::key))
    }

    /// The next record.
    pub(crate) fn next(&mut self) -> io::Result<Option<Record>> {
        let Some(Reverse((_, number))) = self.heads.peek().copied() else { return Ok(None) };
        let last = self.runs.len() - 1;
        let record = self.runs.get_mut(number).and_then(|run| {
            run.at += 1;
            let at = run.at - 1;
            if number == last { nth(&self.piece, &self.order, at) } else { run.block.get(at) }.copied()
        });
        let next = self.head(number)?;
        if let Some(mut first) = self.heads.peek_mut() {
            match next {
                Some(key) => *first = Reverse((key, number)),
                None => drop(PeekMut::pop(first)),
            }
        }
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_out_in_order_however_small_the_pieces() {
        let record = |n: u64| Record {
            at: n * 7_919 % 101,
            kind: Kind::ALL[(n % 12) as usize],
            cpu: n as u32,
            a: u32::MAX - n as u32,
            b: 3,
        };
        let all: Vec<Record> = (0..5_000).map(record).collect();
        let mut wanted = all.clone();
        wanted.sort_by_key(Record::key);
        for size in [1, 7, 1_024, 4_999, 5_000, 10_000] {
            let mut sorter = Sorter::with_size(size);
            all.iter().for_each(|record| sorter.push(*record));
            let mut sorted = sorter.sorted().unwrap();
            let mut found = Vec::new();
            while let Some(record) = sorted.next().unwrap() {
                found.push(record);
            }
            assert_eq!(found, wanted, "pieces of {size}");
        }
    }
}
