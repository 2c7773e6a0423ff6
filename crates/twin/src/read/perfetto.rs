//! Perfetto traces that oversim writes: generic kernel events, which say what each thread does from when on.
//! They become the switches and wake-ups that Linux would have recorded.
//!
//! Numbers of fields are those of Perfetto's `trace_packet.proto` and `generic_task.proto`.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};

use super::binary::Bytes;
use super::bytes::Position;
use super::gate::Gate;
use super::order::Order;
use super::text::{MOST_CPU, seconds};
use super::{Progress, Refused, Seen, file_of, sentence, unreadable};
use crate::event::{Event, Kind, Named, State, Tid, UNKNOWN};

/// The key of `Trace.packet`: field 1, bytes with their length in front.
const PACKET: u8 = 1 << 3 | 2;
/// Most bytes of a packet: that of all threads has some 40 for each.
const MOST: u64 = 1 << 26;
/// The priority of all threads in oversim's traces.
const PRIO: i32 = 120;

/// What a packet holds.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The next field of a message: its number and value. Fixed numbers are passed over as 0.
fn field<'a>(left: &mut Bytes<'a>) -> Option<(u64, Value<'a>)> {
    let key = left.varint()?;
    let value = match key & 7 {
        0 => Value::Number(left.varint()?),
        1 => left.take(8).map(|_| Value::Number(0))?,
        2 => {
            let size = left.varint()?;
            Value::Bytes(left.take(size)?)
        }
        5 => left.take(4).map(|_| Value::Number(0))?,
        _ => return None,
    };
    Some((key >> 3, value))
}

/// Each field of a message. Nothing if it is damaged.
fn each<'a>(message: &'a [u8], mut take: impl FnMut(u64, Value<'a>)) -> Option<()> {
    let mut left = Bytes(message);
    while !left.0.is_empty() {
        let (number, value) = field(&mut left)?;
        take(number, value);
    }
    Some(())
}

/// What a thread does from now on.
#[derive(Clone, Copy, Default, Debug)]
struct Does {
    cpu: u64,
    tid: u64,
    state: u64,
}

/// States of threads.
const RUNNABLE: u64 = 2;
const RUNNING: u64 = 3;
const SLEEPS: u64 = 4;
const DEAD: u64 = 7;

/// Names and processes, by the numbers of threads.
type Known = BTreeMap<Tid, (String, Tid)>;

/// Makes events of packets.
struct Reader<'a> {
    order: Order<'a>,
    seen: Seen,
    known: Known,
    /// Names of idle threads.
    idle: Vec<String>,
    /// Who runs, by cpus.
    runs: Vec<Option<Tid>>,
    /// The instant of the last packet.
    at: u64,
    /// Who leaves which cpu at this instant.
    leaving: Vec<(u32, Tid, State)>,
    /// It has events of a recording of Linux.
    foreign: bool,
}

/// Why nothing is read.
enum Wrong {
    Read(io::Error),
    Say(String),
}

impl From<io::Error> for Wrong {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

/// Reads packets.
pub(super) fn read(
    from: &mut dyn Read,
    position: &Position,
    progress: Progress<'_>,
    gate: Gate<'_>,
) -> Result<Seen, Refused> {
    let name = gate.name;
    let mut reader = Reader {
        order: Order::near(gate),
        seen: Seen { form: "Perfetto trace of oversim", ..Seen::default() },
        known: Known::new(),
        idle: Vec::new(),
        runs: Vec::new(),
        at: 0,
        leaving: Vec::new(),
        foreign: false,
    };
    let cut = reader.all(from, position, progress).map_err(|wrong| match wrong {
        Wrong::Read(why) => unreadable(name, position, &why),
        Wrong::Say(words) => sentence(name, &words),
    })?;
    if reader.foreign && reader.seen.lines == 0 {
        return Err(sentence(
            name,
            &format!(
                "this Perfetto trace is not of oversim, and is read as the text that Perfetto makes of \
                 it: `traceconv systrace {}`",
                file_of(name)
            ),
        ));
    }
    let Reader { order, seen, .. } = reader;
    order.gate.done(&seen, true, cut, |message| sentence(name, message))?;
    Ok(seen)
}

/// A number of protocol buffers from a stream; nothing at its end.
fn varint(from: &mut dyn BufRead) -> io::Result<Option<u64>> {
    let mut bytes = Vec::with_capacity(10);
    for byte in from.bytes().take(10) {
        bytes.push(byte?);
        if bytes.last().is_some_and(|byte| *byte < 0x80) {
            break;
        }
    }
    Ok(Bytes(&bytes).varint())
}

impl Reader<'_> {
    /// Reads all packets; whether the last one was cut off.
    fn all(
        &mut self,
        from: &mut dyn Read,
        position: &Position,
        progress: Progress<'_>,
    ) -> Result<bool, Wrong> {
        let mut from = BufReader::with_capacity(1 << 18, from);
        let (mut packet, mut number, mut told) = (Vec::new(), 0, 0);
        let mut cut = false;
        loop {
            let mut key = [0];
            if from.read(&mut key)? == 0 {
                break;
            }
            number += 1;
            if key != [PACKET] {
                let at = position.get().saturating_sub(from.buffer().len() as u64 + 1);
                return Err(Wrong::Say(format!(
                    "no packet begins at byte {at}, behind packet {}: the file is damaged",
                    number - 1
                )));
            }
            let size = varint(&mut from)?;
            if size.is_some_and(|size| size > MOST) {
                return Err(Wrong::Say(format!("packet {number} has more than {} MiB", MOST >> 20)));
            }
            packet.clear();
            let read = (&mut from).take(size.unwrap_or(0)).read_to_end(&mut packet)?;
            if size != Some(read as u64) {
                cut = true;
                self.seen.lines += 1;
                self.seen.unread += 1;
                break;
            }
            self.packet(&packet, number)?;
            if position.get() != told {
                told = position.get();
                progress(told);
            }
            if self.order.enough() {
                break;
            }
        }
        self.settle(u64::MAX, number)?;
        self.order.done();
        Ok(cut)
    }

    fn packet(&mut self, packet: &[u8], number: u64) -> Result<(), Wrong> {
        let (mut at, mut does, mut whole, mut foreign) = (0, None, Some(()), false);
        let read = each(packet, |key, value| match (key, value) {
            (8, Value::Number(time)) => at = time,
            (1, Value::Bytes(_)) => foreign = true,
            (117, Value::Bytes(state)) => {
                let mut found = Does::default();
                whole = whole.and(each(state, |key, value| match (key, value) {
                    (1, Value::Number(cpu)) => found.cpu = cpu,
                    (3, Value::Number(tid)) => found.tid = tid,
                    (4, Value::Number(state)) => found.state = state,
                    _ => {}
                }));
                does = Some(found);
            }
            (122, Value::Bytes(tree)) => whole = whole.and(threads(tree, &mut self.known)),
            _ => {}
        });
        self.foreign |= foreign;
        if read.and(whole).is_none() {
            self.seen.lines += 1;
            self.seen.unread += 1;
            return Ok(());
        }
        let Some(does) = does else { return Ok(()) };
        self.seen.lines += 1;
        if does.cpu > MOST_CPU {
            let message =
                format!("packet {number}: cpu {}, and the largest number of a cpu is {MOST_CPU}", does.cpu);
            return Err(Wrong::Say(message));
        }
        let tid = Tid::try_from(does.tid).ok().filter(|tid| *tid != UNKNOWN && *tid != 0);
        let (Some(tid), Ok(cpu)) = (tid, u32::try_from(does.cpu)) else {
            self.seen.unread += 1;
            return Ok(());
        };
        self.settle(at, number)?;
        self.does(cpu, tid, does.state, number)
    }

    /// Who has left a cpu and was not replaced has left it to the idle thread.
    fn settle(&mut self, at: u64, line: u64) -> Result<(), Wrong> {
        if at != self.at {
            for (cpu, tid, state) in std::mem::take(&mut self.leaving) {
                self.switch(cpu, (Some(tid), state), None, line)?;
            }
            self.at = at;
        }
        Ok(())
    }

    fn does(&mut self, cpu: u32, tid: Tid, state: u64, line: u64) -> Result<(), Wrong> {
        let place = cpu as usize;
        if place >= self.runs.len() {
            self.runs.resize(place + 1, None);
        }
        let runs = self.runs.get(place).copied().flatten();
        let state = match state {
            RUNNING => return self.comes(cpu, tid, runs, line),
            RUNNABLE => State::Runnable,
            SLEEPS => State::Waits(b'S'),
            DEAD => State::Ended,
            _ => return Ok(()),
        };
        if runs == Some(tid) {
            self.leaving.push((cpu, tid, state));
            self.set(cpu, None);
            return Ok(());
        }
        if state == State::Runnable {
            if let Some((other, who, state)) = self.leaves(|(_, who, _)| *who == tid) {
                // It waited no longer than an instant.
                self.switch(other, (Some(who), state), None, line)?;
            }
            let comm = name(&self.known, tid).to_owned();
            return self.push(cpu, UNKNOWN, Kind::Wakeup(Named { tid, comm: &comm, prio: PRIO }), line);
        }
        // It waits or ends without a cpu, of which Linux tells only at a switch.
        self.switch(cpu, (runs, State::Runnable), Some(tid), line)?;
        self.switch(cpu, (Some(tid), state), runs, line)
    }

    /// One that leaves its cpu at this instant.
    fn leaves(&mut self, is: impl Fn(&(u32, Tid, State)) -> bool) -> Option<(u32, Tid, State)> {
        let place = self.leaving.iter().position(is)?;
        Some(self.leaving.remove(place))
    }

    /// A thread gets a cpu.
    fn comes(&mut self, cpu: u32, tid: Tid, runs: Option<Tid>, line: u64) -> Result<(), Wrong> {
        let moves = self.leaves(|(other, who, _)| *who == tid && *other != cpu);
        let before = self.leaves(|(other, _, _)| *other == cpu).map(|(_, who, state)| (Some(who), state));
        if let Some((other, who, state)) = moves {
            self.switch(other, (Some(who), state), None, line)?;
        }
        self.switch(cpu, before.unwrap_or((runs, State::Runnable)), Some(tid), line)
    }

    fn set(&mut self, cpu: u32, runs: Option<Tid>) {
        self.runs.get_mut(cpu as usize).into_iter().for_each(|place| *place = runs);
    }

    fn switch(
        &mut self,
        cpu: u32,
        (prev, state): (Option<Tid>, State),
        next: Option<Tid>,
        line: u64,
    ) -> Result<(), Wrong> {
        while self.idle.len() <= cpu as usize {
            self.idle.push(format!("swapper/{}", self.idle.len()));
        }
        self.set(cpu, next);
        let Self { known, idle, order, at, .. } = self;
        let named = |who: Option<Tid>| match who {
            Some(tid) => Named { tid, comm: name(known, tid), prio: PRIO },
            None => Named { tid: 0, comm: idle.get(cpu as usize).map_or("", String::as_str), prio: PRIO },
        };
        let kind = Kind::Switch { prev: named(prev), state, next: named(next) };
        let tid = prev.unwrap_or(0);
        let process = prev.and_then(|tid| known.get(&tid)).map(|(_, process)| *process);
        push(order, &Event { at: *at, cpu, tid, process, interrupt: None, kind, line })
    }

    fn push(&mut self, cpu: u32, tid: Tid, kind: Kind<'_>, line: u64) -> Result<(), Wrong> {
        push(&mut self.order, &Event { at: self.at, cpu, tid, process: None, interrupt: None, kind, line })
    }
}

fn push(order: &mut Order<'_>, event: &Event<'_>) -> Result<(), Wrong> {
    order.push(event).map_err(|back| {
        let [at, from] = [event.at, back.from].map(seconds);
        Wrong::Say(format!("packet {}: the time steps back from {from} s to {at} s", event.line))
    })
}

fn name(known: &Known, tid: Tid) -> &str {
    known.get(&tid).map_or("?", |(name, _)| name)
}

/// Threads of a process tree.
fn threads(tree: &[u8], known: &mut Known) -> Option<()> {
    let mut whole = Some(());
    each(tree, |key, value| {
        let (2, Value::Bytes(thread)) = (key, value) else { return };
        let (mut tid, mut pid, mut comm) = (0, 0, String::new());
        whole = whole.and(each(thread, |key, value| match (key, value) {
            (1, Value::Number(number)) => tid = number,
            (2, Value::Number(number)) => pid = number,
            (3, Value::Bytes(name)) => comm = String::from_utf8_lossy(name).into_owned(),
            _ => {}
        }));
        if let (Ok(tid), Ok(pid)) = (Tid::try_from(tid), Tid::try_from(pid)) {
            known.insert(tid, (comm, pid));
        }
    })
    .and(whole)
}
