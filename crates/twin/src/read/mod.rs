//! Reads the spellings of a recording, all as a stream: text of `perf script`, of tracefs and of `trace-cmd
//! report`; `perf.data`; `trace.dat`; and the ftrace text and Perfetto traces that oversim writes itself.

mod binary;
mod bytes;
mod fields;
mod gate;
mod kept;
mod layout;
mod lines;
mod order;
mod pages;
mod perf_data;
mod perfetto;
mod prefix;
mod text;
mod trace_dat;
mod tracepoints;

use std::io::{self, Read, Seek};

use crate::event::Event;
use bytes::Position;
use gate::Gate;

pub use import::Refused;

/// Something that is read, and in which any place can be read again.
pub trait Seekable: Read + Seek {}

impl<T: Read + Seek + ?Sized> Seekable for T {}

/// Where the bytes of a recording come from.
enum Origin<'a> {
    /// Each byte comes once.
    Stream(&'a mut dyn Read),
    /// A file, read from its beginning.
    File(&'a mut dyn Seekable),
}

/// What is read, and of it which part.
pub struct Input<'a> {
    /// For messages.
    pub name: &'a str,
    /// The bytes, perhaps compressed by gzip.
    pub from: &'a mut dyn Read,
    /// Only events from this time after the first one on, in ns.
    pub after: Option<u64>,
    /// Only events up to this time after the first one, in ns.
    pub before: Option<u64>,
}

/// What was read.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Seen {
    /// The spelling, in words: "text of perf script".
    pub form: &'static str,
    /// Lines or records.
    pub lines: u64,
    /// Those that were not understood.
    pub unread: u64,
}

/// Takes each event.
pub type Sink<'a> = &'a mut dyn FnMut(&Event<'_>);

/// Is told how many bytes of the file have been read so far.
pub type Progress<'a> = &'a mut dyn FnMut(u64);

/// How a recording is made that can be read.
const RECORD: &str = "record with `oversim twin record` or `perf sched record`; text is read as `perf script \
    --ns -F comm,pid,tid,cpu,time,event,trace` prints it";

/// Reads a recording and gives each event to `sink`, in order of time. `progress` is told the bytes of the
/// file that have been read so far, compressed ones where it is compressed. `perf.data` is held in memory: it
/// has the meaning of its records at its end. [`read_file`] does without.
///
/// # Errors
/// The file is no recording, is damaged, has no events of the scheduler, or its times are of no use.
pub fn read(input: Input<'_>, progress: Progress<'_>, sink: Sink<'_>) -> Result<Seen, Refused> {
    let Input { name, from, after, before } = input;
    read_from(Origin::Stream(from), progress, Gate::new(name, (after, before), sink))
}

/// As [`read`], of a file in which any place can be read again, with a window as [`Input`] has.
///
/// # Errors
/// As [`read`].
pub fn read_file(
    name: &str,
    file: &mut dyn Seekable,
    window: (Option<u64>, Option<u64>),
    progress: Progress<'_>,
    sink: Sink<'_>,
) -> Result<Seen, Refused> {
    read_from(Origin::File(file), progress, Gate::new(name, window, sink))
}

fn read_from(from: Origin<'_>, progress: Progress<'_>, gate: Gate<'_>) -> Result<Seen, Refused> {
    let name = gate.name;
    let position = Position::default();
    let (head, source) = bytes::open(from, &position).map_err(|why| unreadable(name, &position, &why))?;
    match form(&head) {
        Form::Text => text::read(&mut source.stream(&position), &position, progress, gate),
        Form::PerfData => perf_data::read(source, &position, progress, gate, perf_data::is_pipe(&head)),
        Form::Perfetto => perfetto::read(&mut source.stream(&position), &position, progress, gate),
        Form::TraceDat => trace_dat::read(source, &position, progress, gate),
        Form::Empty => Err(sentence(name, &format!("the file is empty; {RECORD}"))),
        Form::Compressed(what, tool) => Err(sentence(
            name,
            &format!(
                "it is compressed by {what}, and only gzip is undone here: `{tool} {} | oversim twin \
                 import -`",
                file_of(name)
            ),
        )),
        Form::Binary => Err(sentence(
            name,
            &format!("neither text nor a recording of perf, trace-cmd or oversim; {RECORD}"),
        )),
    }
}

/// What the first bytes of a file say.
enum Form {
    Empty,
    Text,
    PerfData,
    TraceDat,
    Perfetto,
    /// What compressed it, and the command that undoes it.
    Compressed(&'static str, &'static str),
    Binary,
}

fn form(head: &[u8]) -> Form {
    const COMPRESSED: [(&[u8], &str, &str); 4] = [
        (b"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"),
        (b"\xfd7zXZ\0", "xz", "xz -dc"),
        (b"BZh", "bzip2", "bzip2 -dc"),
        (b"\x04\x22\x4d\x18", "lz4", "lz4 -dc"),
    ];
    if head.is_empty() {
        return Form::Empty;
    }
    if head.starts_with(b"PERFILE2") || head.starts_with(b"2ELIFREP") {
        return Form::PerfData;
    }
    if head.starts_with(b"\x17\x08\x44tracing") {
        return Form::TraceDat;
    }
    if let Some((_, what, tool)) = COMPRESSED.iter().find(|(magic, _, _)| head.starts_with(magic)) {
        return Form::Compressed(what, tool);
    }
    // Bytes that no text has, within what is certainly not a name of a thread.
    let strange = |byte: &&u8| **byte < 0x20 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x1b);
    let strange = head.iter().take(64).filter(strange).count();
    match head {
        [0x0a, ..] if strange > 0 => Form::Perfetto,
        _ if strange > 2 => Form::Binary,
        _ => Form::Text,
    }
}

/// Refuses clocks of tracefs that count no time, or in steps of a tick (`Documentation/trace/ftrace.rst`).
/// The text is that of the file `trace_clock`, in which the chosen one is in brackets, or the name of one.
fn clock(text: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(text);
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word);
    let clock = chosen.unwrap_or(&text).trim_matches(['\0', ' ', '\n']);
    if ["counter", "uptime", "x86-tsc"].contains(&clock) {
        return Err(format!("the clock {clock} counts no ns; `local`, `global`, `mono` and `boot` do"));
    }
    Ok(())
}

/// The name of a file in a command.
fn file_of(name: &str) -> &str {
    if name == "-" { "FILE" } else { name }
}

/// What is wrong with the file as a whole.
fn sentence(name: &str, message: &str) -> Refused {
    Refused::Sentence(format!("{name}: {message}"))
}

/// The bytes cannot be had.
fn unreadable(name: &str, position: &Position, why: &io::Error) -> Refused {
    let at = position.get();
    sentence(
        name,
        &match why.kind() {
            io::ErrorKind::UnexpectedEof => {
                format!("the file ends at byte {at} in the middle of its compressed data")
            }
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                format!("its compressed data is damaged at byte {at}: {why}")
            }
            _ => format!("cannot be read at byte {at}: {why}"),
        },
    )
}

#[cfg(test)]
mod binary_tests;
#[cfg(test)]
mod tests;
