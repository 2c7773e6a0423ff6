//! Events in binary files, by the formats that such files bring along: those of `events/*/*/format` in
//! tracefs.

use std::collections::BTreeMap;

use super::binary::Bytes;
use super::fields::from_bits;
use crate::event::{Kind, Named, State, Tid, UNKNOWN};

/// Most names that one event has.
pub(super) type Names = [String; 2];

/// Bits of `common_flags` (`include/linux/trace_events.h`): in a hard interrupt, a softirq, an NMI.
const IN_INTERRUPT: u64 = 0x08 | 0x10 | 0x40;

/// The known events, and those of their fields that are read.
const KNOWN: [(&str, &[&str]); 16] = [
    (
        "sched_switch",
        &["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"],
    ),
    ("sched_waking", &["comm", "pid", "prio"]),
    ("sched_wakeup", &["comm", "pid", "prio"]),
    ("sched_wakeup_new", &["comm", "pid", "prio"]),
    ("sched_stat_runtime", &["pid", "runtime"]),
    ("sched_process_fork", &["parent_pid", "child_pid", "child_comm"]),
    ("sched_process_exec", &["pid", "old_pid", "filename"]),
    ("sched_process_exit", &["pid"]),
    ("sched_migrate_task", &["pid", "orig_cpu", "dest_cpu"]),
    ("hrtimer_start", &["hrtimer", "function", "expires"]),
    ("hrtimer_expire_entry", &["hrtimer"]),
    ("softirq_entry", &["vec"]),
    ("softirq_exit", &[]),
    ("irq_handler_entry", &[]),
    ("irq_handler_exit", &[]),
    ("sys_enter_sched_yield", &[]),
];

/// Where a field is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Field {
    offset: usize,
    size: usize,
    signed: bool,
    text: Text,
}

/// How a text is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Text {
    /// In the field itself.
    Here,
    /// The field says where (`__data_loc`).
    Located,
    /// The field says where behind itself (`__rel_loc`).
    Behind,
}

/// An event of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Tracepoint {
    /// Its name, that of a mark without `__return`.
    name: String,
    /// Those of [`KNOWN`], in that order.
    fields: Vec<Field>,
    /// `mode` of `hrtimer_start`, which is newer than the others.
    mode: Option<Field>,
    /// A probe that the user has set: whether at the return.
    mark: Option<bool>,
    /// Bits of `prev_state` and their letters, as the kernel prints them.
    states: Vec<(u64, u8)>,
}

/// The events of a file, by their numbers.
#[derive(Clone, Default, Debug)]
pub(super) struct Tracepoints {
    known: BTreeMap<u64, Tracepoint>,
    /// The address of `hrtimer_wakeup`.
    wakeup: Option<u64>,
}

/// The header of every event, and what happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Decoded<'a> {
    /// Who ran.
    pub(super) tid: Tid,
    /// In an interrupt.
    pub(super) interrupt: bool,
    /// What happened.
    pub(super) kind: Kind<'a>,
}

impl Tracepoints {
    /// Adds the text of a format. Those of events that are not known are left out.
    pub(super) fn add(&mut self, format: &str) {
        let value = |key: &str| format.lines().find_map(|line| line.strip_prefix(key));
        let (Some(name), Some(number)) =
            (value("name: "), value("ID: ").and_then(|id| id.trim().parse().ok()))
        else {
            return;
        };
        let fields: Vec<(&str, Field)> = format.lines().filter_map(field).collect();
        let of = |key: &str| fields.iter().find(|(name, _)| *name == key).map(|(_, field)| *field);
        let name = name.trim();
        let keys = KNOWN.iter().find(|(known, _)| *known == name).map(|(_, keys)| *keys);
        let mark = match (of("__probe_ret_ip"), of("__probe_ip")) {
            (Some(_), _) => Some(true),
            (None, Some(_)) => Some(false),
            (None, None) => None,
        };
        let chosen = match (keys, mark) {
            (Some(keys), _) => keys.iter().map(|key| of(key)).collect(),
            (None, Some(_)) => Some(Vec::new()),
            (None, None) => return,
        };
        let Some(fields) = chosen else { return };
        let name = if mark.is_some() { name.strip_suffix("__return").unwrap_or(name) } else { name };
        let states = value("print fmt: ").map(states).unwrap_or_default();
        let tracepoint = Tracepoint { name: name.to_owned(), fields, mode: of("mode"), mark, states };
        self.known.insert(number, tracepoint);
    }

    /// Reads the description of events that perf and trace-cmd write. The names of functions are in it, the
    /// names of threads perhaps behind it. Nothing if it is damaged; what is left otherwise.
    pub(super) fn describe<'a>(&mut self, description: &'a [u8]) -> Option<Bytes<'a>> {
        let mut left = Bytes(description);
        left.0 = left.0.strip_prefix(b"\x17\x08\x44tracing")?;
        left.text()?;
        let (order, _long, _page) = (left.u8()?, left.u8()?, left.u32()?);
        if order != 0 {
            return None;
        }
        for header in ["header_page", "header_event"] {
            (left.text()? == header.as_bytes()).then_some(())?;
            let size = left.u64()?;
            left.take(size)?;
        }
        for _ in 0..left.u32()? {
            let size = left.u64()?;
            left.take(size)?;
        }
        self.systems(&mut left)?;
        self.functions(&mut left)?;
        Some(left)
    }

    /// Reads the formats of events, system by system.
    pub(super) fn systems(&mut self, left: &mut Bytes<'_>) -> Option<()> {
        for _ in 0..left.u32()? {
            left.text()?;
            for _ in 0..left.u32()? {
                let size = left.u64()?;
                self.add(&String::from_utf8_lossy(left.take(size)?));
            }
        }
        Some(())
    }

    /// Finds the function that wakes a thread whose timer expires, in the text of `/proc/kallsyms`.
    pub(super) fn functions(&mut self, left: &mut Bytes<'_>) -> Option<()> {
        let size = left.u32()?;
        let symbols = left.take(u64::from(size))?;
        let wakeup = symbols.split(|byte| *byte == b'\n').find(|line| line.ends_with(b" hrtimer_wakeup"));
        let address = wakeup.and_then(|line| line.split(|byte| *byte == b' ').next());
        let address = address.and_then(|digits| std::str::from_utf8(digits).ok());
        self.wakeup = address.and_then(|digits| u64::from_str_radix(digits, 16).ok()).filter(|at| *at != 0);
        Some(())
    }

    /// `sched_switch` is described.
    pub(super) fn has_switch(&self) -> bool {
        self.known.values().any(|tracepoint| tracepoint.name == "sched_switch")
    }

    /// Reads an event. Nothing if it is too short for what its format says.
    pub(super) fn decode<'a>(&'a self, data: &[u8], names: &'a mut Names) -> Option<Decoded<'a>> {
        let data = Bytes(data);
        let (number, flags) = (data.at(0, 2)?, data.at(2, 1)?);
        let tid = thread(data.at(4, 4)?.cast_signed());
        let interrupt = flags & IN_INTERRUPT != 0;
        let kind = match self.known.get(&number) {
            Some(tracepoint) => tracepoint.kind(data, names)?,
            None => Kind::Other,
        };
        let kind = match kind {
            Kind::TimerStart { .. } if !self.may_wake(number, data, interrupt || tid == 0) => Kind::Other,
            kind => kind,
        };
        Some(Decoded { tid, interrupt, kind })
    }

    /// Whether a timer wakes the thread that starts it. Without names of functions: whether a thread starts
    /// it, not an interrupt and not the idle thread, as with those of ticks.
    fn may_wake(&self, number: u64, data: Bytes<'_>, by_kernel: bool) -> bool {
        let function = self.known.get(&number).and_then(|tracepoint| tracepoint.number(data, 1));
        match (self.wakeup, function) {
            (Some(wakeup), Some(function)) => wakeup == function.cast_unsigned(),
            _ => !by_kernel,
        }
    }
}

/// The number of a thread, -1 where it is not known.
fn thread(number: i64) -> Tid {
    u32::try_from(number as i32).unwrap_or(UNKNOWN)
}

impl Tracepoint {
    fn kind<'a>(&'a self, data: Bytes<'_>, names: &'a mut Names) -> Option<Kind<'a>> {
        if let Some(returns) = self.mark {
            return Some(Kind::Mark { name: &self.name, returns });
        }
        let number = |place| self.number(data, place);
        let tid = |place| number(place).map(thread);
        let unsigned = |place| number(place).map(i64::cast_unsigned);
        let cpu = |place| number(place).and_then(|cpu| u32::try_from(cpu).ok());
        let [one, two] = names;
        Some(match self.name.as_str() {
            "sched_switch" => {
                let state = self.state(unsigned(3)?);
                let prev = self.named(data, [0, 1, 2], one)?;
                Kind::Switch { prev, state, next: self.named(data, [4, 5, 6], two)? }
            }
            "sched_waking" => Kind::Waking(self.named(data, [0, 1, 2], one)?),
            "sched_wakeup" => Kind::Wakeup(self.named(data, [0, 1, 2], one)?),
            "sched_wakeup_new" => Kind::WakeupNew(self.named(data, [0, 1, 2], one)?),
            "sched_stat_runtime" => Kind::Runtime { tid: tid(0)?, ran: unsigned(1)? },
            "sched_process_fork" => {
                Kind::Fork { parent: tid(0)?, child: tid(1)?, comm: self.text(data, 2, one)? }
            }
            "sched_process_exec" => Kind::Exec { tid: tid(0)?, old: tid(1)?, file: self.text(data, 2, one)? },
            "sched_process_exit" => Kind::Exit { tid: tid(0)? },
            "sched_migrate_task" => Kind::Migrate { tid: tid(0)?, from: cpu(1)?, to: cpu(2)? },
            "hrtimer_start" => {
                let relative = self.mode.map(|mode| Some(mode.number(data)? & 1 == 1));
                let relative = if let Some(relative) = relative { Some(relative?) } else { None };
                Kind::TimerStart { timer: unsigned(0)?, expires: unsigned(2)?, relative }
            }
            "hrtimer_expire_entry" => Kind::TimerExpire { timer: unsigned(0)? },
            "softirq_entry" => Kind::SoftirqEntry(cpu(0)?),
            "softirq_exit" => Kind::SoftirqExit,
            "irq_handler_entry" => Kind::IrqEntry,
            "irq_handler_exit" => Kind::IrqExit,
            "sys_enter_sched_yield" => Kind::Yield,
            _ => Kind::Other,
        })
    }

    fn number(&self, data: Bytes<'_>, place: usize) -> Option<i64> {
        self.fields.get(place)?.number(data)
    }

    /// The text of a field, without control of what is in it.
    fn text<'a>(&self, data: Bytes<'_>, place: usize, to: &'a mut String) -> Option<&'a str> {
        let bytes = self.fields.get(place)?.text(data)?;
        to.clear();
        to.push_str(&String::from_utf8_lossy(bytes));
        Some(to)
    }

    /// Name, number and priority of a thread.
    fn named<'a>(
        &self,
        data: Bytes<'_>,
        [comm, tid, prio]: [usize; 3],
        to: &'a mut String,
    ) -> Option<Named<'a>> {
        let tid = thread(self.number(data, tid)?);
        let prio = self.number(data, prio)? as i32;
        Some(Named { tid, comm: self.text(data, comm, to)?, prio })
    }

    /// The first letter that the kernel prints for these bits.
    fn state(&self, bits: u64) -> State {
        if self.states.is_empty() {
            return from_bits(bits);
        }
        match self.states.iter().find(|(bit, _)| bits & bit != 0) {
            None => State::Runnable,
            Some((_, b'X' | b'x' | b'Z')) => State::Ended,
            Some((_, letter)) => State::Waits(*letter),
        }
    }
}

impl Field {
    fn number(self, data: Bytes<'_>) -> Option<i64> {
        let number = data.at(self.offset, self.size)?;
        let unused = 64_u32.checked_sub(8 * self.size as u32)?;
        let signed =
            || number.checked_shl(unused).unwrap_or(0).cast_signed().checked_shr(unused).unwrap_or(0);
        Some(if self.signed { signed() } else { number.cast_signed() })
    }

    fn text(self, data: Bytes<'_>) -> Option<&[u8]> {
        let (from, size) = match self.text {
            Text::Here => (self.offset, self.size),
            Text::Located | Text::Behind => {
                let place = data.at(self.offset, 4)?;
                let behind = if self.text == Text::Behind { self.offset + 4 } else { 0 };
                ((place & 0xffff) as usize + behind, (place >> 16) as usize)
            }
        };
        let bytes = data.0.get(from..from.checked_add(size)?)?;
        bytes.split(|byte| *byte == 0).next()
    }
}

/// `field:char prev_comm[16]; offset:8; size:16; signed:0;`, with tabs before and between.
fn field(line: &str) -> Option<(&str, Field)> {
    let (declared, rest) = line.trim_ascii_start().strip_prefix("field:")?.split_once(';')?;
    let value = |key: &str| rest.split(';').find_map(|part| part.trim_ascii().strip_prefix(key));
    let offset = value("offset:")?.parse().ok()?;
    let size = value("size:")?.parse().ok()?;
    let signed = value("signed:") == Some("1");
    let text = match declared {
        declared if declared.starts_with("__data_loc") => Text::Located,
        declared if declared.starts_with("__rel_loc") => Text::Behind,
        _ => Text::Here,
    };
    let name = declared.rsplit([' ', '*']).next()?;
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    Some((name, Field { offset, size, signed, text }))
}

/// The flags of `prev_state` in `print fmt`: `{ 0x00000001, "S" }, ...`.
fn states(format: &str) -> Vec<(u64, u8)> {
    let Some((_, flags)) = format.split_once("__print_flags") else { return Vec::new() };
    let flag = |part: &str| {
        let (bits, letter) = part.split_once('}').map_or(part, |(part, _)| part).split_once(',')?;
        let bits = bits.trim_ascii();
        let bits = match bits.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok()?,
            None => bits.parse().ok()?,
        };
        let letter = letter.trim_ascii().strip_prefix('"')?.bytes().next()?;
        Some((bits, letter)).filter(|(bits, letter)| *bits != 0 && letter.is_ascii_alphabetic())
    };
    flags.split('{').skip(1).filter_map(flag).collect()
}
