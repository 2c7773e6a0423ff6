//! Recordings as text: what `perf script`, tracefs and `trace-cmd report` print, and what oversim writes.

use std::borrow::Cow;
use std::io::Read;

use notation::diagnostics::{Diagnostic, Place, Sources};

use super::bytes::Position;
use super::fields;
use super::gate::Gate;
use super::lines::{Line, Lines};
use super::order::{Back, MOST_LATE, Order};
use super::prefix::{Prefix, Stamp, Style, number};
use super::{Progress, RECORD, Refused, Seen, clock, sentence, unreadable};
use crate::event::{Event, Kind, UNKNOWN};

/// The largest number of a cpu: Linux is built for at most 8,192 (`NR_CPUS`).
pub(super) const MOST_CPU: u64 = 65_535;
/// A line with at least so many bytes is rendered as a sentence: others are shown with what is around them.
const MOST_SHOWN: usize = 1_000;
/// Up to this line, a diagnostic shows it.
const MOST_RENDERED: u64 = 1 << 20;
/// After so many lines that are not understood, half of all, the rest is not read.
const IN_VAIN: u64 = 10_000;

/// A line that is in the way.
struct Shown {
    line: u64,
    text: String,
}

impl Shown {
    fn new(line: u64, text: &[u8]) -> Self {
        let text = text.get(..MOST_SHOWN).unwrap_or(text);
        Self { line, text: String::from_utf8_lossy(text).trim_ascii_end().replace(['\n', '\r'], " ") }
    }

    /// What is wrong with it.
    fn wrong(&self, name: &str, message: &str) -> Refused {
        if self.line > MOST_RENDERED {
            return Refused::Sentence(format!("{name}:{}: {message}: {}", self.line, self.text));
        }
        // Diagnostics count the lines of a text, of which only this one is kept.
        let before = usize::try_from(self.line.saturating_sub(1)).unwrap_or_default();
        let text = "\n".repeat(before) + &self.text;
        let problem = Diagnostic::new(Place::range(0, before..text.len()), message);
        Refused::Rendered(Sources::new(name, &text).render(&[problem]))
    }
}

/// What a line is.
enum Parsed {
    /// An event was taken.
    Event,
    /// Nothing to read: a comment, a heading, a line of a call chain.
    Nothing,
    /// It should be an event.
    Unread,
}

/// Reads lines.
struct Reader<'a> {
    order: Order<'a>,
    seen: Seen,
    /// The line that is read, from 1.
    line: u64,
    /// The first line that was not understood.
    unread: Option<Shown>,
    /// `# tracer:` stands at the beginning.
    tracer: bool,
    /// oversim has written it.
    own: bool,
    /// The last line has no end, and was not read for that.
    cut: bool,
}

/// Reads a text.
pub(super) fn read(
    from: &mut dyn Read,
    position: &Position,
    progress: Progress<'_>,
    gate: Gate<'_>,
) -> Result<Seen, Refused> {
    let name = gate.name;
    let mut lines = Lines::new(from);
    let mut reader = Reader {
        order: Order::near(gate),
        seen: Seen { form: "text", ..Seen::default() },
        line: 0,
        unread: None,
        tracer: false,
        own: false,
        cut: false,
    };
    let mut told = 0;
    while let Some(line) = lines.next().map_err(|why| unreadable(name, position, &why))? {
        reader.line += 1;
        reader.take(line)?;
        if position.get() != told {
            told = position.get();
            progress(told);
        }
        let Seen { unread, lines, .. } = reader.seen;
        if reader.order.enough() || unread > IN_VAIN && unread * 2 > lines {
            break;
        }
    }
    progress(position.get());
    reader.order.done();
    let Reader { order, seen, unread, cut, own, .. } = reader;
    order.gate.done(&seen, own, cut, |message| match unread {
        Some(shown) => shown.wrong(name, message),
        None => sentence(name, message),
    })?;
    Ok(seen)
}

impl Reader<'_> {
    fn take(&mut self, line: Line<'_>) -> Result<(), Refused> {
        let (line, parsed) = match line {
            Line::Whole(line) => (line, self.parse(line)?),
            // Whatever was cut off may have been a part of a number.
            Line::Cut(line) => {
                self.cut = true;
                (line, Parsed::Unread)
            }
            Line::Long => (b"(a line of more than 64 KiB)".as_slice(), Parsed::Unread),
        };
        match parsed {
            Parsed::Event => self.seen.lines += 1,
            Parsed::Nothing => {}
            Parsed::Unread => {
                // What stands before the first event is no event.
                if self.seen.lines > 0 {
                    if self.seen.unread == 0 {
                        self.unread = None;
                    }
                    self.seen.lines += 1;
                    self.seen.unread += 1;
                }
                let number = self.line;
                self.unread.get_or_insert_with(|| Shown::new(number, line));
            }
        }
        Ok(())
    }

    /// Reads a line.
    fn parse(&mut self, line: &[u8]) -> Result<Parsed, Refused> {
        let comment = line.first() == Some(&b'#');
        let prefix = if comment { None } else { Prefix::of(line) };
        let Some(prefix) = prefix else { return self.without_prefix(line) };
        let at = match prefix.at {
            Stamp::Nano(at) | Stamp::Micro(at) => at,
            Stamp::Ticks if self.seen.lines == 0 => {
                let message = format!(
                    "the time of this event is not in seconds: the recording has another clock than one \
                     of time; {RECORD}"
                );
                return Err(self.wrong(line, &message));
            }
            Stamp::Ticks => return Ok(Parsed::Unread),
        };
        let Some(cpu) = u32::try_from(prefix.cpu).ok().filter(|_| prefix.cpu <= MOST_CPU) else {
            let message = format!("cpu {}: the largest number of a cpu is {MOST_CPU}", prefix.cpu);
            return Err(self.wrong(line, &message));
        };
        if self.seen.lines == 0 {
            self.begins(&prefix);
        }
        let text = line.get(prefix.rest..).unwrap_or_default();
        let text = std::str::from_utf8(text).map_or_else(|_| String::from_utf8_lossy(text), Cow::Borrowed);
        let Some(kind) = kind(&text) else { return Ok(Parsed::Unread) };
        let mut tid = prefix.tid;
        if self.own && tid == 0 && !matches!(kind, Kind::Switch { .. }) {
            // oversim names nobody who wakes or moves a task; `<idle>` stands there in any case.
            tid = UNKNOWN;
        }
        let Prefix { process, interrupt, .. } = prefix;
        let event = Event { at, cpu, tid, process, interrupt, kind, line: self.line };
        self.order.push(&event).map_err(|back| self.steps_back(line, at, back))?;
        Ok(Parsed::Event)
    }

    /// The first event tells who wrote the text.
    fn begins(&mut self, prefix: &Prefix<'_>) {
        self.own = self.tracer && matches!(prefix.at, Stamp::Nano(_)) && prefix.style == Style::Ftrace;
        self.seen.form = match prefix.style {
            Style::Perf => "text of perf script",
            Style::Ftrace if self.own => "ftrace text of oversim",
            Style::Ftrace if self.tracer => "text of tracefs",
            Style::Ftrace => "text of trace-cmd report",
        };
    }

    fn wrong(&self, line: &[u8], message: &str) -> Refused {
        Shown::new(self.line, line).wrong(self.order.gate.name, message)
    }

    fn steps_back(&self, line: &[u8], at: u64, back: Back) -> Refused {
        let [at, from] = [at, back.from].map(seconds);
        let message = format!(
            "the time steps back from {from} s to {at} s, more than the {} ms by which cpus may be out \
             of order: two recordings in one file, or a damaged one",
            MOST_LATE / 1_000_000
        );
        self.wrong(line, &message)
    }

    /// A line that is no event, or should be one.
    fn without_prefix(&mut self, line: &[u8]) -> Result<Parsed, Refused> {
        let text = line.trim_ascii();
        if let Some(events) = lost(text) {
            self.lose(cpu_of(text), events)?;
            return Ok(Parsed::Nothing);
        }
        if let Some(fact) = text.strip_prefix(b"#") {
            return self.fact(line, fact.trim_ascii());
        }
        Ok(if is_nothing(line, text) { Parsed::Nothing } else { Parsed::Unread })
    }

    /// A comment.
    fn fact(&mut self, line: &[u8], fact: &[u8]) -> Result<Parsed, Refused> {
        self.tracer |= fact.starts_with(b"tracer:");
        if let Some(text) = fact.strip_prefix(b"clock:")
            && let Err(message) = clock(text)
        {
            return Err(self.wrong(line, &message));
        }
        Ok(Parsed::Nothing)
    }

    /// The recorder lost events. The line has no time.
    fn lose(&mut self, cpu: u32, events: u64) -> Result<(), Refused> {
        let (at, line) = (self.order.newest(), self.line);
        if self.seen.lines == 0 {
            // Before the first event, which sets the time: nothing of the recording is missing.
            return Ok(());
        }
        let kind = Kind::Lost(events);
        let event = Event { at, cpu, tid: UNKNOWN, process: None, interrupt: None, kind, line };
        self.order.push(&event).map_err(|back| self.steps_back(b"", at, back))
    }
}

/// A time in seconds.
pub(super) fn seconds(at: u64) -> String {
    format!("{}.{:09}", at / 1_000_000_000, at % 1_000_000_000)
}

/// What follows the prefix.
fn kind(text: &str) -> Option<Kind<'_>> {
    if let Some((group, name, text)) = fields::named(text) {
        return fields::kind(group, name, text);
    }
    let text = text.trim_ascii();
    // tracefs prints calls in its own way, and functions without a colon.
    if text.starts_with("sys_sched_yield(") {
        return Some(Kind::Yield);
    }
    if let Some(record) = text.strip_prefix("PERF_RECORD_") {
        return Some(match record.strip_prefix("LOST").and_then(|record| record.rsplit_once("lost ")) {
            Some((_, events)) => Kind::Lost(number(events.trim_ascii().as_bytes()).unwrap_or(1)),
            None => Kind::Other,
        });
    }
    let call = text.starts_with("sys_") && (text.contains('(') || text.contains(" -> "));
    (call || text.contains(" <-")).then_some(Kind::Other)
}

/// How many events a line says were lost: `CPU:1 [LOST 12 EVENTS]`, `LOST 3 events`, `lost 2 chunks!`,
/// `##### CPU 1 buffer started ####`.
fn lost(line: &[u8]) -> Option<u64> {
    if line.starts_with(b"##") && line.windows(14).any(|part| part == b"buffer started") {
        return Some(1);
    }
    // Few lines have no prefix, and of these few hold the word.
    let at = line.windows(5).position(|part| part.eq_ignore_ascii_case(b"lost "))?;
    if line.starts_with(b"#") || at > 40 {
        return None;
    }
    let mut words = line.get(at + 5..)?.split(|byte| *byte == b' ');
    let first = words.next()?;
    let what = |word: &[u8]| {
        let word = word.to_ascii_lowercase();
        word.starts_with(b"event") || word.starts_with(b"chunk") || word.starts_with(b"sample")
    };
    if what(first) {
        return Some(1);
    }
    number(first).filter(|_| words.next().is_some_and(what))
}

/// The cpu of a line without prefix: `CPU:1` or `CPU 1`; 0 if there is none.
fn cpu_of(line: &[u8]) -> u32 {
    let after = line.windows(3).position(|part| part == b"CPU").and_then(|at| line.get(at + 4..));
    let after = after.unwrap_or_default();
    let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let cpu = after.get(..digits).and_then(number).filter(|cpu| *cpu <= MOST_CPU);
    cpu.and_then(|cpu| u32::try_from(cpu).ok()).unwrap_or(0)
}

/// A line that is no event: empty, a line of a call chain or of a stack, or a heading of trace-cmd.
fn is_nothing(line: &[u8], text: &[u8]) -> bool {
    if text.is_empty() || text.starts_with(b"=> ") {
        return true;
    }
    let word = text.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
    let address = text.get(..word).is_some_and(|word| word.iter().all(u8::is_ascii_hexdigit));
    // `	ffffffff813b4986 try_to_wake_up+0x3b6 ([kernel.kallsyms])`
    if line.first().is_some_and(u8::is_ascii_whitespace) && address && (word > 3 || text.ends_with(b")")) {
        return true;
    }
    let heading =
        text.starts_with(b"CPU") && (text.ends_with(b"is empty") || text.ends_with(b"[SUBBUFFER START]"));
    heading || text.starts_with(b"cpus=") || text.starts_with(b"version = ")
}
