//! Recordings of `trace-cmd record`: files of version 6 and 7, as trace-cmd.dat(5) describes them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Read, SeekFrom};

use super::binary::Bytes;
use super::bytes::{Position, Source};
use super::gate::Gate;
use super::order::Order;
use super::pages::{Entry, Place};
use super::text::{MOST_CPU, seconds};
use super::tracepoints::{Names, Tracepoints};
use super::{Progress, Refused, Seekable, Seen, clock, file_of, sentence, unreadable};
use crate::event::{Event, Kind, UNKNOWN};

/// Most bytes of a part of the header; the names of all functions are some 10 MiB.
const MOST_HEADER: u64 = 1 << 26;
/// Largest page of a buffer.
const MOST_PAGE: u64 = 1 << 24;
/// Most options, of a file that is damaged.
const MOST_OPTIONS: u32 = 1 << 12;

/// Why nothing is read.
enum Wrong {
    Read(io::Error),
    /// The file is damaged; where, in words.
    Damaged(String),
    /// A sentence, to which the command that prints the file is added.
    Other(&'static str),
    /// A sentence.
    Say(String),
}

impl From<io::Error> for Wrong {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

fn damaged(what: &str) -> Wrong {
    Wrong::Damaged(what.to_owned())
}

/// The pages of one cpu.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    cpu: u32,
    offset: u64,
    size: u64,
}

/// What the header says.
#[derive(Default)]
struct Header {
    points: Tracepoints,
    buffers: Vec<Buffer>,
    page: u64,
}

/// Reads a file.
pub(super) fn read(
    source: Source<'_>,
    position: &Position,
    progress: Progress<'_>,
    gate: Gate<'_>,
) -> Result<Seen, Refused> {
    let name = gate.name;
    let done = match source.places() {
        Ok(Some((mut file, length))) => whole(&mut File { file: &mut *file, length }, progress, gate),
        Ok(None) => Err(Wrong::Other("it is too large to be read from a pipe")),
        Err(why) => Err(Wrong::Read(why)),
    };
    done.map_err(|wrong| match wrong {
        Wrong::Read(why) => unreadable(name, position, &why),
        Wrong::Damaged(what) => {
            sentence(name, &format!("this file of trace-cmd is damaged or cut off: {what}"))
        }
        Wrong::Say(words) => sentence(name, &words),
        Wrong::Other(why) => sentence(
            name,
            &format!(
                "{why}; print it with `trace-cmd report -t -R {} | oversim twin import -`",
                file_of(name)
            ),
        ),
    })
}

fn whole(file: &mut File<'_>, progress: Progress<'_>, gate: Gate<'_>) -> Result<Seen, Wrong> {
    let name = gate.name;
    let header = header(file)?;
    if !header.points.has_switch() {
        return Err(Wrong::Say(
            "sched_switch is none of its events, without which nobody can tell who ran".into(),
        ));
    }
    let mut reader = Reader {
        points: header.points,
        order: Order::near(gate),
        seen: Seen { form: "trace.dat of trace-cmd", ..Seen::default() },
        names: Names::default(),
    };
    let mut cursors: Vec<Cursor> = header.buffers.iter().map(|buffer| Cursor::new(*buffer)).collect();
    // The next event of each buffer, the earliest first.
    let mut heads = BinaryHeap::new();
    for (number, cursor) in cursors.iter_mut().enumerate() {
        if let Some(at) = cursor.advance(file, header.page)? {
            heads.push(Reverse((at, number)));
        }
    }
    let (mut read, mut told) = (0, 0);
    while let Some(Reverse((_, number))) = heads.pop() {
        let Some(cursor) = cursors.get_mut(number) else { break };
        reader.take(cursor)?;
        let before = cursor.pages;
        if let Some(at) = cursor.advance(file, header.page)? {
            heads.push(Reverse((at, number)));
        }
        read += cursor.pages - before;
        if read * header.page > told + (1 << 20) {
            told = read * header.page;
            progress(told);
        }
        if reader.order.enough() {
            break;
        }
    }
    reader.order.done();
    let Reader { order, seen, .. } = reader;
    order.gate.done(&seen, false, false, |message| sentence(name, message)).map_err(
        |refused| match refused {
            Refused::Sentence(words) | Refused::Rendered(words) => {
                Wrong::Say(words.strip_prefix(&format!("{name}: ")).unwrap_or(&words).to_owned())
            }
        },
    )?;
    Ok(seen)
}

/// A file in which any place can be read.
struct File<'a> {
    file: &'a mut dyn Seekable,
    length: u64,
}

impl File<'_> {
    /// So many bytes from a place on.
    fn read(&mut self, offset: u64, size: u64, to: &mut Vec<u8>) -> Result<(), Wrong> {
        if offset.checked_add(size).is_none_or(|end| end > self.length) {
            return Err(Wrong::Damaged(format!(
                "it tells of {size} bytes from byte {offset} on, and has {}",
                self.length
            )));
        }
        self.file.seek(SeekFrom::Start(offset))?;
        to.clear();
        (&mut *self.file).take(size).read_to_end(to)?;
        Ok(())
    }

    /// A section of a file of version 7, behind its header: its number and its bytes.
    fn section(&mut self, offset: u64) -> Result<(u16, Vec<u8>), Wrong> {
        let mut bytes = Vec::new();
        self.read(offset, 16, &mut bytes)?;
        let mut left = Bytes(&bytes);
        let parts = (left.u16(), left.u16(), left.u32(), left.u64());
        let (Some(number), Some(flags), _, Some(size)) = parts else { return Err(damaged("a section")) };
        if flags & 1 != 0 {
            return Err(Wrong::Other("it is compressed"));
        }
        if size > MOST_HEADER {
            return Err(Wrong::Damaged(format!("section {number} at byte {offset} has {size} bytes")));
        }
        self.read(offset + 16, size, &mut bytes)?;
        Ok((number, bytes))
    }
}

/// What the file says of itself.
fn header(file: &mut File<'_>) -> Result<Header, Wrong> {
    let mut bytes = Vec::new();
    file.read(0, file.length.min(MOST_HEADER), &mut bytes)?;
    let mut left = Bytes(&bytes);
    left.take(10);
    let version = left.text().unwrap_or_default();
    if left.u8() == Some(1) {
        return Err(Wrong::Other("it was recorded on a machine with the other order of bytes"));
    }
    let header = match version {
        b"6" => sixth(&bytes).ok_or_else(|| damaged("its header"))??,
        b"7" => seventh(file, left)?,
        _ => return Err(Wrong::Other("its version is neither 6 nor 7")),
    };
    if header.page < 64 || header.page > MOST_PAGE {
        return Err(Wrong::Damaged(format!("pages of {} bytes", header.page)));
    }
    if let Some(wrong) = header.buffers.iter().find(|buffer| u64::from(buffer.cpu) > MOST_CPU) {
        return Err(Wrong::Damaged(format!(
            "cpu {}, and the largest number of a cpu is {MOST_CPU}",
            wrong.cpu
        )));
    }
    Ok(header)
}

/// The header of version 6. Nothing if it is damaged.
fn sixth(bytes: &[u8]) -> Option<Result<Header, Wrong>> {
    let mut header = Header { page: Bytes(bytes).at(14, 4)?, ..Header::default() };
    let mut left = header.points.describe(bytes)?;
    let printk = left.u32()?;
    left.take(u64::from(printk))?;
    let names = left.u64()?;
    left.take(names)?;
    let cpus = left.u32()?;
    let mut kind = left.take(10)?;
    if kind == b"options  \0" {
        loop {
            let option = left.u16()?;
            if option == 0 {
                break;
            }
            let size = left.u32()?;
            let value = left.take(u64::from(size))?;
            if option == 4
                && let Err(words) = clock(value)
            {
                return Some(Err(Wrong::Say(words)));
            }
        }
        kind = left.take(10)?;
    }
    if kind != b"flyrecord\0" {
        return Some(Err(Wrong::Other("it holds a text of tracefs and no records")));
    }
    for cpu in 0..cpus {
        header.buffers.push(Buffer { cpu, offset: left.u64()?, size: left.u64()? });
    }
    Some(Ok(header))
}

/// The header of version 7: options tell where sections are.
fn seventh(file: &mut File<'_>, mut left: Bytes<'_>) -> Result<Header, Wrong> {
    let begin = (|| {
        left.u8()?;
        let page = left.u32()?;
        left.text()?;
        left.text()?;
        Some((u64::from(page), left.u64()?))
    })();
    let Some((page, mut offset)) = begin else { return Err(damaged("its header")) };
    let mut header = Header { page, ..Header::default() };
    let mut budget = MOST_OPTIONS;
    while offset != 0 {
        let (_, options) = file.section(offset)?;
        let mut left = Bytes(&options);
        let mut next = 0;
        while !left.0.is_empty() {
            budget = budget.checked_sub(1).ok_or_else(|| damaged("its options have no end"))?;
            let parts = (left.u16(), left.u32());
            let (Some(option), Some(size)) = parts else { return Err(damaged("its options")) };
            let value = left.take(u64::from(size)).ok_or_else(|| damaged("its options"))?;
            if option == 0 {
                next = Bytes(value).u64().unwrap_or(0);
                break;
            }
            take_option(file, &mut header, option, value)?;
        }
        if next != 0 && next <= offset {
            return Err(damaged("its options have no end"));
        }
        offset = next;
    }
    Ok(header)
}

fn take_option(file: &mut File<'_>, header: &mut Header, option: u16, value: &[u8]) -> Result<(), Wrong> {
    let mut left = Bytes(value);
    match option {
        3 => buffers(header, left)?.ok_or_else(|| damaged("the places of its buffers")),
        4 => clock(value).map_err(Wrong::Say),
        18 | 19 => {
            let place = left.u64().ok_or_else(|| damaged("its options"))?;
            let (_, section) = file.section(place)?;
            let mut left = Bytes(&section);
            let read = match option {
                18 => header.points.systems(&mut left),
                _ => header.points.functions(&mut left),
            };
            read.ok_or_else(|| damaged("the formats of its events"))
        }
        _ => Ok(()),
    }
}

/// Where the pages of each cpu are.
fn buffers(header: &mut Header, mut left: Bytes<'_>) -> Result<Option<()>, Wrong> {
    let begin = (|| {
        left.u64()?;
        left.text()?;
        left.text()
    })();
    let Some(name) = begin else { return Ok(None) };
    clock(name).map_err(Wrong::Say)?;
    Ok((|| {
        header.page = u64::from(left.u32()?);
        for _ in 0..left.u32()? {
            header.buffers.push(Buffer { cpu: left.u32()?, offset: left.u64()?, size: left.u64()? });
        }
        Some(())
    })())
}

/// Where one is in the buffer of a cpu.
struct Cursor {
    buffer: Buffer,
    /// How many pages have been read.
    pages: u64,
    page: Vec<u8>,
    place: Place,
    /// The next entry: its instant, the events that were lost, or its bytes in the page.
    next: Option<(u64, Option<u64>, std::ops::Range<usize>)>,
}

impl Cursor {
    const fn new(buffer: Buffer) -> Self {
        let place = Place::EMPTY;
        Self { buffer, pages: 0, page: Vec::new(), place, next: None }
    }

    /// Goes on to the next entry; its instant.
    fn advance(&mut self, file: &mut File<'_>, size: u64) -> Result<Option<u64>, Wrong> {
        loop {
            let damaged =
                |cursor: &Self| Wrong::Damaged(format!("page {} of cpu {}", cursor.pages, cursor.buffer.cpu));
            match self.place.next(&self.page) {
                Ok(Some(Entry::Event(at, data))) => {
                    let end = self.place.read();
                    self.next = Some((at, None, end.saturating_sub(data.len())..end));
                    return Ok(Some(at));
                }
                Ok(Some(Entry::Lost(at, events))) => {
                    self.next = Some((at, Some(events), 0..0));
                    return Ok(Some(at));
                }
                Ok(None) => {}
                Err(()) => return Err(damaged(self)),
            }
            let from = self.pages * size;
            if from >= self.buffer.size {
                self.next = None;
                return Ok(None);
            }
            self.pages += 1;
            let offset = self.buffer.offset.saturating_add(from);
            file.read(offset, size.min(self.buffer.size - from), &mut self.page)?;
            self.place = Place::first(&self.page).ok_or_else(|| damaged(self))?;
        }
    }
}

/// Makes events of entries.
struct Reader<'a> {
    points: Tracepoints,
    order: Order<'a>,
    seen: Seen,
    names: Names,
}

impl Reader<'_> {
    fn take(&mut self, cursor: &Cursor) -> Result<(), Wrong> {
        let Some((at, lost, range)) = cursor.next.clone() else { return Ok(()) };
        let cpu = cursor.buffer.cpu;
        self.seen.lines += 1;
        let line = self.seen.lines;
        let Self { points, order, seen, names } = self;
        let event = match lost {
            Some(events) => Event {
                at,
                cpu,
                tid: UNKNOWN,
                process: None,
                interrupt: None,
                kind: Kind::Lost(events),
                line,
            },
            None => {
                let Some(read) = cursor.page.get(range).and_then(|data| points.decode(data, names)) else {
                    seen.unread += 1;
                    return Ok(());
                };
                let interrupt = Some(read.interrupt);
                Event { at, cpu, tid: read.tid, process: None, interrupt, kind: read.kind, line }
            }
        };
        order.push(&event).map_err(|back| {
            let [at, from] = [at, back.from].map(seconds);
            Wrong::Damaged(format!("on cpu {cpu} the time steps back from {from} s to {at} s"))
        })
    }
}
