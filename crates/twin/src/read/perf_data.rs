//! Recordings of `perf record`: `tools/perf/Documentation/perf.data-file-format.txt` of Linux.
//!
//! A file has what its records mean at its end, and a table at its beginning that says where. A pipe of
//! `perf record -o -` has it first.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, SeekFrom};

use super::binary::Bytes;
use super::bytes::{MOST_HELD, Position, Source};
use super::gate::Gate;
use super::layout::Layout;
use super::order::{Back, Order};
use super::text::{MOST_CPU, seconds};
use super::tracepoints::{Names, Tracepoints};
use super::{Progress, RECORD, Refused, Seekable, Seen, sentence, unreadable};
use crate::event::{Event, Kind, UNKNOWN};

/// Kinds of records.
const LOST: u32 = 2;
const SAMPLE: u32 = 9;
const LOST_SAMPLES: u32 = 13;
const ATTRIBUTES: u32 = 64;
const DESCRIPTION: u32 = 66;
const ROUND: u32 = 68;
const AUXILIARY: u32 = 71;
const COMPRESSED: [u32; 2] = [81, 83];

/// Most attributes of events, and most numbers of one.
const MOST_EVENTS: u64 = 1 << 16;
/// Most bytes of the description of events; those of Linux have some 100 KiB.
const MOST_DESCRIBED: u64 = 1 << 26;

/// What is wrong.
enum Wrong {
    /// The bytes cannot be had.
    Read(io::Error),
    /// A sentence.
    Say(String),
}

impl From<io::Error> for Wrong {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

fn say<T>(words: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong::Say(words.into()))
}

/// Part of a file.
#[derive(Clone, Copy, Debug)]
struct Part {
    offset: u64,
    size: u64,
}

impl Part {
    fn of(bytes: &mut Bytes<'_>) -> Option<Self> {
        Some(Self { offset: bytes.u64()?, size: bytes.u64()? })
    }

    /// Reads it.
    fn read(self, file: &mut dyn Seekable, length: u64, most: u64) -> Result<Vec<u8>, Wrong> {
        let inside = self.offset.checked_add(self.size).is_some_and(|end| end <= length);
        if !inside || self.size > most {
            return say(format!(
                "its header tells of {} bytes from byte {} on, and the file has {length}: it is damaged \
                 or cut off",
                self.size, self.offset
            ));
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        file.take(self.size).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// How events are laid out and what they mean.
#[derive(Default)]
struct Meaning {
    layouts: Vec<Layout>,
    /// Places in `layouts`, by the numbers that samples name first.
    by_number: BTreeMap<u64, usize>,
    points: Tracepoints,
}

impl Meaning {
    fn layout(&self, body: &[u8]) -> Option<Layout> {
        let first = *self.layouts.first()?;
        if !first.names_first() || self.layouts.iter().all(|layout| *layout == first) {
            return Some(first);
        }
        self.layouts.get(*self.by_number.get(&Bytes(body).u64()?)?).copied()
    }

    /// Adds an event: its attributes, and its numbers.
    fn add(&mut self, attributes: &[u8], numbers: &[u8]) -> Result<(), Wrong> {
        let Some(layout) = Layout::of(attributes) else {
            return say("its header has attributes of events that are too short: it is damaged");
        };
        let place = self.layouts.len();
        self.layouts.push(layout);
        let (numbers, _) = numbers.as_chunks::<8>();
        self.by_number.extend(numbers.iter().map(|number| (u64::from_le_bytes(*number), place)));
        if self.layouts.len() as u64 > MOST_EVENTS || self.by_number.len() as u64 > 16 * MOST_EVENTS {
            return say(format!("it has more than {MOST_EVENTS} events: it is damaged"));
        }
        Ok(())
    }

    /// Whether anything can be read with it.
    fn check(&self) -> Result<(), Wrong> {
        if !self.points.has_switch() {
            return say(format!(
                "sched_switch is none of its events, without which nobody can tell who ran; {RECORD}"
            ));
        }
        if !self.layouts.iter().any(|layout| layout.is_whole()) {
            return say(
                "its events have no time or no cpu; `perf record -a` and `perf sched record` write both",
            );
        }
        let first = self.layouts.first().copied().unwrap_or_default();
        if !first.names_first() && self.layouts.iter().any(|layout| *layout != first) {
            return say(
                "its events have different layouts and do not say which one; print it with `perf script` \
                 first",
            );
        }
        Ok(())
    }
}

/// Reads a file or a pipe.
pub(super) fn read(
    source: Source<'_>,
    position: &Position,
    progress: Progress<'_>,
    gate: Gate<'_>,
    pipe: bool,
) -> Result<Seen, Refused> {
    let name = gate.name;
    let done = if pipe {
        let mut from = source.stream(position);
        piped(&mut from, position, progress, gate)
    } else {
        match source.places() {
            Ok(Some((mut file, length))) => whole(&mut *file, length, progress, gate),
            Ok(None) => say(format!(
                "more than {} MiB of perf.data from a pipe; name the file, or print it with `perf script \
                 --ns -F comm,pid,tid,cpu,time,event,trace`",
                MOST_HELD >> 20
            )),
            Err(why) => Err(Wrong::Read(why)),
        }
    };
    let (gate, seen, cut) = done.map_err(|wrong| match wrong {
        Wrong::Read(why) => unreadable(name, position, &why),
        Wrong::Say(words) => sentence(name, &words),
    })?;
    gate.done(&seen, false, cut.is_some(), |message| match &cut {
        Some(at) => {
            sentence(name, &format!("the file ends at byte {at} in the middle of a record; {message}"))
        }
        None => sentence(name, message),
    })?;
    Ok(seen)
}

/// Whether the header of a file is that of a pipe.
pub(super) fn is_pipe(head: &[u8]) -> bool {
    Bytes(head).at(8, 8) == Some(16)
}

type Done<'a> = (Gate<'a>, Seen, Option<u64>);

fn whole<'a>(
    file: &mut dyn Seekable,
    length: u64,
    progress: Progress<'_>,
    gate: Gate<'a>,
) -> Result<Done<'a>, Wrong> {
    let head = Part { offset: 0, size: 104 }.read(file, length, 104)?;
    let mut head = Bytes(&head);
    let magic = head.u64();
    if magic != Some(u64::from_le_bytes(*b"PERFILE2")) {
        return say(
            "it was recorded on a machine with the other order of bytes; print it with `perf script` there",
        );
    }
    let parts = (|| {
        head.u64()?;
        let one = head.u64()?;
        let (attributes, data) = (Part::of(&mut head)?, Part::of(&mut head)?);
        Part::of(&mut head)?;
        Some((one, attributes, data, head.u64()?))
    })();
    let Some((one, attributes, data, features)) = parts else { return say("its header is cut off") };
    if data.size == 0 {
        return say("it has no records: perf has not finished it, or recorded nothing");
    }
    let meaning = meaning(file, length, (one, attributes, data, features))?;
    meaning.check()?;
    file.seek(SeekFrom::Start(data.offset))?;
    let end = data.offset.saturating_add(data.size).min(length);
    let mut from = BufReader::with_capacity(1 << 18, file);
    let mut reader = Reader::new(meaning, gate);
    let mut records = Records::new(&mut from, data.offset, end);
    while records.next()? {
        reader.record(&mut records)?;
        if records.number.is_multiple_of(4_096) {
            progress(records.at);
        }
        if reader.order.enough() {
            break;
        }
    }
    reader.end(&records, data.offset.saturating_add(data.size) > length)
}

/// What the header says.
fn meaning(
    file: &mut dyn Seekable,
    length: u64,
    (one, attributes, data, features): (u64, Part, Part, u64),
) -> Result<Meaning, Wrong> {
    let mut meaning = Meaning::default();
    let bytes = attributes.read(file, length, MOST_EVENTS * 256)?;
    // Attributes of one event, behind them where its numbers are.
    if !(64..=4_096).contains(&one) {
        return say(format!("its header has {one} bytes for the attributes of an event: it is damaged"));
    }
    for bytes in bytes.chunks_exact(one as usize) {
        let (attributes, mut numbers) = (bytes, Bytes(bytes.get(bytes.len() - 16..).unwrap_or_default()));
        let numbers = match Part::of(&mut numbers) {
            Some(part) => part.read(file, length, 8 * MOST_EVENTS)?,
            None => Vec::new(),
        };
        meaning.add(attributes, &numbers)?;
    }
    // The table behind the records has a row for each bit that is set; the second bit is the description.
    if features & 0b10 == 0 {
        return say(format!("it has no tracepoints; {RECORD}"));
    }
    let offset = data.offset.saturating_add(data.size).saturating_add(16 * (features & 1));
    let row = Part { offset, size: 16 }.read(file, length, 16)?;
    if let Some(part) = Part::of(&mut Bytes(&row)) {
        let description = part.read(file, length, MOST_DESCRIBED)?;
        if meaning.points.describe(&description).is_none() {
            return say(
                "the formats of its events cannot be read: it is damaged, or of a machine with another \
                 order of bytes",
            );
        }
    }
    Ok(meaning)
}

fn piped<'a>(
    from: &mut dyn Read,
    position: &Position,
    progress: Progress<'_>,
    gate: Gate<'a>,
) -> Result<Done<'a>, Wrong> {
    let mut from = BufReader::with_capacity(1 << 18, from);
    let mut reader = Reader::new(Meaning::default(), gate);
    from.by_ref().take(16).read_to_end(&mut Vec::new())?;
    let mut records = Records::new(&mut from, 16, u64::MAX);
    let mut told = 0;
    while records.next()? {
        reader.record(&mut records)?;
        if position.get() != told {
            told = position.get();
            progress(told);
        }
        if reader.order.enough() {
            break;
        }
    }
    reader.meaning.check()?;
    let cut = records.cut;
    reader.end(&records, cut)
}

/// Records one after the other.
struct Records<'a> {
    from: &'a mut dyn Read,
    /// Where the next one begins, in bytes of the file.
    at: u64,
    end: u64,
    /// How many there were, with this one.
    number: u64,
    kind: u32,
    body: Vec<u8>,
    /// The file ended in the middle of one.
    cut: bool,
}

impl<'a> Records<'a> {
    fn new(from: &'a mut dyn Read, at: u64, end: u64) -> Self {
        Self { from, at, end, number: 0, kind: 0, body: Vec::new(), cut: false }
    }

    /// So many bytes, or those that are left; whether they were all there.
    fn bytes(&mut self, size: u64) -> io::Result<bool> {
        self.body.clear();
        let size = size.min(self.end.saturating_sub(self.at));
        let read = (&mut *self.from).take(size).read_to_end(&mut self.body)? as u64;
        self.at += read;
        Ok(read == size)
    }

    /// The next record. False at the end.
    fn next(&mut self) -> Result<bool, Wrong> {
        let start = self.at;
        let whole = self.bytes(8)?;
        if !whole || self.body.len() < 8 {
            self.cut = !self.body.is_empty();
            return Ok(false);
        }
        self.number += 1;
        let mut header = Bytes(&self.body);
        let (Some(kind), Some(rest)) = (header.u32(), header.u32()) else { return Ok(false) };
        let size = u64::from(rest >> 16);
        if size < 8 {
            return say(format!(
                "record {} at byte {start} has the length {size}: the file is damaged",
                self.number
            ));
        }
        self.kind = kind;
        let whole = self.bytes(size - 8)?;
        self.cut = !whole || (self.body.len() as u64) < size - 8;
        Ok(!self.cut)
    }

    /// Bytes behind a record that do not count as a part of it.
    fn behind(&mut self, size: u64, kept: bool) -> Result<(), Wrong> {
        if kept && size > MOST_DESCRIBED {
            return say(format!(
                "record {} tells of {size} bytes behind it: the file is damaged",
                self.number
            ));
        }
        if kept {
            self.bytes(size)?;
        } else {
            let size = size.min(self.end.saturating_sub(self.at));
            self.at += io::copy(&mut (&mut *self.from).take(size), &mut io::sink())?;
        }
        Ok(())
    }
}

/// Makes events of records.
struct Reader<'a> {
    meaning: Meaning,
    order: Order<'a>,
    seen: Seen,
    names: Names,
    /// The latest time before the last pass of the recorder began.
    pass: u64,
    /// Events that were lost: the sum of what buffers tell, and of what events tell; both count the same
    /// ones.
    lost: [u64; 2],
    /// How many of them have been told.
    told: u64,
}

impl<'a> Reader<'a> {
    fn new(meaning: Meaning, gate: Gate<'a>) -> Self {
        let seen = Seen { form: "perf.data", ..Seen::default() };
        Self {
            meaning,
            order: Order::in_rounds(gate),
            seen,
            names: Names::default(),
            pass: 0,
            lost: [0; 2],
            told: 0,
        }
    }

    fn record(&mut self, records: &mut Records<'_>) -> Result<(), Wrong> {
        match records.kind {
            SAMPLE => self.sample(records),
            LOST | LOST_SAMPLES => self.lost(records),
            ROUND => {
                // What comes after a pass over the buffers is later than all that came before the pass.
                self.order.complete(self.pass);
                self.pass = self.order.newest();
                Ok(())
            }
            ATTRIBUTES => {
                let length = Bytes(&records.body).at(4, 4).unwrap_or_default() as usize;
                match records.body.split_at_checked(length) {
                    Some((attributes, numbers)) => self.meaning.add(attributes, numbers),
                    None => say(format!("record {} is too short: the file is damaged", records.number)),
                }
            }
            DESCRIPTION => {
                let size = Bytes(&records.body).u32().unwrap_or_default();
                records.behind(u64::from(size), true)?;
                match self.meaning.points.describe(&records.body) {
                    Some(_) => self.meaning.check(),
                    None => say(format!("the formats of events in record {} cannot be read", records.number)),
                }
            }
            AUXILIARY => {
                let size = Bytes(&records.body).u64().unwrap_or_default();
                records.behind(size, false)
            }
            kind if COMPRESSED.contains(&kind) => {
                say("its records are compressed (`perf record -z`), which is not undone here; print it with \
                 `perf script --ns -F comm,pid,tid,cpu,time,event,trace`")
            }
            _ => Ok(()),
        }
    }

    fn sample(&mut self, records: &Records<'_>) -> Result<(), Wrong> {
        let Self { meaning, order, seen, names, .. } = self;
        seen.lines += 1;
        let sample = meaning.layout(&records.body).and_then(|layout| layout.sample(&records.body));
        let Some(sample) = sample else {
            seen.unread += 1;
            return Ok(());
        };
        if sample.raw.is_empty() {
            // No tracepoint.
            return Ok(());
        }
        let decoded = meaning.points.decode(sample.raw, names);
        let (Some(decoded), Some(at), Some(cpu)) = (decoded, sample.time, sample.cpu) else {
            seen.unread += 1;
            return Ok(());
        };
        let process = sample.pid.filter(|pid| *pid <= i32::MAX as u32);
        let (tid, interrupt) = (decoded.tid, Some(decoded.interrupt));
        let event = Event { at, cpu, tid, process, interrupt, kind: decoded.kind, line: records.number };
        push(order, &event)
    }

    fn lost(&mut self, records: &Records<'_>) -> Result<(), Wrong> {
        let layout = self.meaning.layouts.first().copied().unwrap_or_default();
        let mut body = Bytes(&records.body);
        if records.kind == LOST {
            body.u64();
        }
        let events = body.u64().unwrap_or(1);
        let [by_buffer, by_event] = &mut self.lost;
        let counted = if records.kind == LOST { &mut *by_buffer } else { &mut *by_event };
        *counted = counted.saturating_add(events);
        let total = (*by_buffer).max(*by_event);
        let events = total - std::mem::replace(&mut self.told, total);
        if events == 0 {
            return Ok(());
        }
        // What perf adds at the end has no time.
        let (at, cpu) = layout.tail(&records.body);
        let at = at.filter(|at| self.order.takes(*at)).unwrap_or(self.order.newest());
        let cpu = cpu.filter(|cpu| u64::from(*cpu) <= MOST_CPU).unwrap_or(0);
        let (kind, line) = (Kind::Lost(events), records.number);
        push(&mut self.order, &Event { at, cpu, tid: UNKNOWN, process: None, interrupt: None, kind, line })
    }

    /// No record is left.
    fn end(mut self, records: &Records<'_>, cut: bool) -> Result<Done<'a>, Wrong> {
        self.order.done();
        if cut || records.cut {
            self.seen.lines += 1;
            self.seen.unread += 1;
            return Ok((self.order.gate, self.seen, Some(records.at)));
        }
        Ok((self.order.gate, self.seen, None))
    }
}

fn push(order: &mut Order<'_>, event: &Event<'_>) -> Result<(), Wrong> {
    let Event { at, cpu, line, .. } = *event;
    if u64::from(cpu) > MOST_CPU {
        return say(format!("record {line}: cpu {cpu}, and the largest number of a cpu is {MOST_CPU}"));
    }
    order.push(event).or_else(|Back { from }| {
        let [at, from] = [at, from].map(seconds);
        say(format!("record {line}: the time steps back from {from} s to {at} s: the file is damaged"))
    })
}
