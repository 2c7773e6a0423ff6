//! What stands before an event in a line of text: who, on which cpu, when.
//!
//! ```text
//! comm  pid/tid  [cpu]  seconds.nanoseconds:  group:event: text      perf script
//! comm-tid  (tgid) [cpu] d..2.  seconds.microseconds: event: text    tracefs
//! comm-tid  [cpu]  seconds.nanoseconds: event:   text                trace-cmd report
//! comm-tid  cpud..2.  seconds.nanoseconds: event:   text             trace-cmd report -l
//! ```
//!
//! `pid/`, `(tgid)` and `d..2.` may be absent; times have six or nine decimals.
//!
//! A name may hold all of these signs, but not a whole prefix in its 15 bytes. So the first time with 6 or 9
//! decimals is looked for that has a cpu and a number of a thread before it.

use crate::event::{Tid, UNKNOWN};

/// The time ends within so many bytes: a name has 15, and each number at most 20.
const MOST: usize = 512;

/// Who writes so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    /// `comm pid/tid`
    Perf,
    /// `comm-tid`
    Ftrace,
}

/// A time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stamp {
    /// In ns, with nine decimals in the file.
    Nano(u64),
    /// In ns, with six decimals in the file.
    Micro(u64),
    /// A plain integer: a clock that counts something else than ns.
    Ticks,
}

/// What stands before an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Prefix<'a> {
    pub(super) style: Style,
    /// The name; that of the idle thread is `<idle>` with [`Style::Ftrace`].
    pub(super) comm: &'a [u8],
    pub(super) tid: Tid,
    pub(super) process: Option<Tid>,
    pub(super) cpu: u64,
    pub(super) at: Stamp,
    /// In an interrupt, where there are flags.
    pub(super) interrupt: Option<bool>,
    /// Where the event begins, in bytes of the line.
    pub(super) rest: usize,
}

impl<'a> Prefix<'a> {
    /// The prefix of a line.
    pub(super) fn of(line: &'a [u8]) -> Option<Self> {
        let mut ticks = None;
        let mut from = 0;
        let begin = line.get(..MOST).unwrap_or(line);
        while let Some(found) = begin.get(from..).unwrap_or_default().iter().position(|byte| *byte == b':') {
            let colon = from + found;
            from = colon + 1;
            let ends = line.get(from).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
            if !ends || !colon.checked_sub(1).and_then(|at| line.get(at)).is_some_and(u8::is_ascii_digit) {
                continue;
            }
            let Some((at, head)) = stamp(line.get(..colon)?) else { continue };
            if at == Stamp::Ticks && ticks.is_some() {
                continue;
            }
            let Some(prefix) = before(head, at, from) else { continue };
            if at != Stamp::Ticks {
                return Some(prefix);
            }
            ticks = Some(prefix);
        }
        ticks
    }
}

/// The time at the end of a text, and what is before it.
fn stamp(text: &[u8]) -> Option<(Stamp, &[u8])> {
    let (last, before) = digits(text);
    let (at, head) = match before.strip_suffix(b".") {
        Some(before) => {
            let (first, head) = digits(before);
            let seconds = number(first)?.checked_mul(1_000_000_000)?;
            match last.len() {
                6 => (Stamp::Micro(seconds.checked_add(number(last)? * 1_000)?), head),
                9 => (Stamp::Nano(seconds.checked_add(number(last)?)?), head),
                _ => return None,
            }
        }
        None => (Stamp::Ticks, before),
    };
    head.last().is_some_and(u8::is_ascii_whitespace).then_some((at, head))
}

/// What comes before the time.
fn before(head: &[u8], at: Stamp, rest: usize) -> Option<Prefix<'_>> {
    let head = head.trim_ascii_end();
    let (mut head, mut flags) = (head, None);
    if !head.ends_with(b"]") {
        let (word, before) = last_word(head);
        (head, flags) = (before.trim_ascii_end(), Some(word));
    }
    let cpu = if let Some(inner) = head.strip_suffix(b"]") {
        let (cpu, before) = digits(inner);
        head = before.strip_suffix(b"[")?;
        number(cpu)?
    } else {
        // `1d..2.`
        let word = flags?;
        let cpu = word.get(..word.iter().take_while(|byte| byte.is_ascii_digit()).count())?;
        flags = word.get(cpu.len()..).filter(|flags| flags.len() >= 4);
        flags?;
        number(cpu)?
    };
    let interrupt =
        flags.map(|flags| flags.iter().any(|flag| matches!(flag, b'h' | b'H' | b's' | b'z' | b'Z')));
    let (style, comm, tid, process) = owner(head.trim_ascii_end())?;
    Some(Prefix { style, comm, tid, process, cpu, at, interrupt, rest })
}

/// Who wrote so, the name, the number and the process of the thread.
fn owner(head: &[u8]) -> Option<(Style, &[u8], Tid, Option<Tid>)> {
    let (mut head, mut process) = (head, None);
    if let Some(inner) = head.strip_suffix(b")") {
        let open = inner.iter().rposition(|byte| *byte == b'(')?;
        let group = inner.get(open + 1..)?.trim_ascii();
        if !group.iter().all(|byte| *byte == b'-') {
            process = Some(tid(group)?);
        }
        head = inner.get(..open)?.trim_ascii_end();
    }
    let (last, before) = digits(head);
    let number = tid(last)?;
    match before.split_last() {
        Some((b'/', process)) => perf(process, number),
        Some((b'-', minus)) => match minus.split_last() {
            Some((b'/', process)) if number == 1 && perf(process, UNKNOWN).is_some() => {
                perf(process, UNKNOWN)
            }
            // perf names a thread that it does not know by its number.
            Some((b' ', name)) if name.trim_ascii().is_empty() || name.trim_ascii() == b":-1" => {
                Some((Style::Perf, name.trim_ascii(), UNKNOWN, None))
            }
            _ => Some((Style::Ftrace, minus.trim_ascii_start(), number, process)),
        },
        None | Some((b' ' | b'\t', _)) => Some((Style::Perf, before.trim_ascii(), number, None)),
        _ => None,
    }
}

/// `comm pid` before `/tid`.
fn perf(text: &[u8], thread: Tid) -> Option<(Style, &[u8], Tid, Option<Tid>)> {
    let (pid, before) = last_word(text);
    let process = match pid {
        b"-1" => None,
        pid => Some(tid(pid)?),
    };
    Some((Style::Perf, before.trim_ascii(), thread, process))
}

/// The digits at the end of a text, and what is before them.
fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let many = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, digits) = text.split_at(text.len() - many);
    (digits, before)
}

/// What follows the last blank of a text, and what is before it, with the blank.
fn last_word(text: &[u8]) -> (&[u8], &[u8]) {
    let many = text.iter().rev().take_while(|byte| !byte.is_ascii_whitespace()).count();
    let (before, word) = text.split_at(text.len() - many);
    (word, before)
}

/// Digits as a number; nothing where there are none, or too many.
pub(super) fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.wrapping_sub(b'0');
        (digit < 10).then_some(())?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Digits as the number of a thread.
pub(super) fn tid(digits: &[u8]) -> Option<Tid> {
    // Linux has at most 2^22 threads (PID_MAX_LIMIT).
    number(digits).and_then(|number| Tid::try_from(number).ok()).filter(|tid| *tid < i32::MAX as Tid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Prefix<'_> {
        Prefix::of(line.as_bytes()).unwrap_or_else(|| panic!("{line}"))
    }

    #[test]
    fn each_prefix_is_taken_apart() {
        let perf = of("   my prog-3  41/42  [003]  7142.250089447:   sched:sched_waking: comm=a");
        assert_eq!(
            (perf.style, perf.comm, perf.tid, perf.process),
            (Style::Perf, b"my prog-3".as_slice(), 42, Some(41))
        );
        assert_eq!((perf.cpu, perf.at, perf.interrupt), (3, Stamp::Nano(7_142_250_089_447), None));
        let short = of("perf 42 [000] 12.000001: sched:sched_switch: prev_comm=x");
        assert_eq!(
            (short.style, short.tid, short.process, short.at),
            (Style::Perf, 42, None, Stamp::Micro(12_000_001_000))
        );
        for line in ["  :-1    -1/-1  [001]  1.000000: x: ", " :-1 -1 [001] 1.000000: x: "] {
            assert_eq!((of(line).tid, of(line).process), (UNKNOWN, None), "{line}");
        }
        let tracefs = of("  kworker/0:1-13  (     7) [000] d.h2.  7142.250093: sched_waking: comm=a");
        assert_eq!(
            (tracefs.style, tracefs.comm, tracefs.tid),
            (Style::Ftrace, b"kworker/0:1".as_slice(), 13)
        );
        assert_eq!((tracefs.process, tracefs.interrupt), (Some(7), Some(true)));
        let tracefs = of("   <...>-13   (-------) [000] d..2.  7142.250093: sched_waking: comm=a");
        assert_eq!((tracefs.process, tracefs.interrupt), (None, Some(false)));
        let bare = of("   a b-13   [000]  7142.250093: sched_waking: comm=a");
        assert_eq!((bare.comm, bare.tid, bare.interrupt), (b"a b".as_slice(), 13, None));
        assert_eq!(of("kworker/-6804    1d..2.  2.000001: x: y").tid, 6_804);
        let latency = of("    bash-9409   12d.s3.  7142.250092592: sched_waking:   comm=a");
        assert_eq!((latency.cpu, latency.tid, latency.interrupt), (12, 9_409, Some(true)));
    }

    #[test]
    fn a_name_cannot_pass_for_a_prefix() {
        let line = of("a-1 [0] 1.5: b:-77  [002] d..2. 3.000001: sched_waking: comm=c-1 [1] 2.000000: x");
        assert_eq!((line.comm, line.tid, line.cpu), (b"a-1 [0] 1.5: b:".as_slice(), 77, 2));
        assert_eq!(of("x 1/1 [000] 5: 7/8 [001] 2.000001: e: t").tid, 8);
        assert_eq!(of("(a)-(b 12) 13/14 [001] 2.000001: e: t").tid, 14);
    }

    #[test]
    fn times_that_are_not_in_seconds_are_told_apart() {
        assert_eq!(of("  a-1  [000] d..2. 71422500: sched_switch: x").at, Stamp::Ticks);
        for line in
            ["", ":", "a: b", "1.000000: x", "[000] 1.000000: x", "a-1 [x] 1.000000: y", "a [0] 1.000000: y"]
        {
            assert_eq!(Prefix::of(line.as_bytes()), None, "{line}");
        }
        assert_eq!(Prefix::of(b"a-1 [99999999999999999999999] 1.000000: x"), None);
        assert_eq!(Prefix::of(b"a-1 [0] 99999999999999999999.000000: x"), None);
    }
}
