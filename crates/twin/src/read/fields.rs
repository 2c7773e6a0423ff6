//! The text of an event, by the name of the event. Names of threads may hold anything, also what stands
//! between fields; but each separator between them is longer than a name.

use super::prefix::{number, tid as small};
use crate::event::{Kind, Named, State, Tid, UNKNOWN};

/// Most bytes of a name of a thread in Linux.
const COMM: usize = 15;
/// Most bytes of an event with two names and some numbers.
const MOST: usize = 512;

/// The event that begins here: its name without its group, and what it says.
pub(super) fn named(rest: &str) -> Option<(&str, &str, &str)> {
    let mut rest = rest.trim_ascii_start();
    // `perf script -F +period`
    if let Some((word, after)) = rest.split_once(' ')
        && number(word.as_bytes()).is_some()
    {
        rest = after.trim_ascii_start();
    }
    let end = rest.bytes().position(|byte| byte == b' ' || byte == b'\t').unwrap_or(rest.len());
    let (word, text) = (rest.get(..end)?, rest.get(end..)?.trim_ascii());
    let word = word.strip_suffix(':')?;
    let (group, name) = word.rsplit_once(':').unwrap_or(("", word));
    let of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'@');
    (!name.is_empty() && name.bytes().all(of_name)).then_some((group, name, text))
}

/// What an event says. Nothing if it is a known one whose text is not understood.
pub(super) fn kind<'a>(group: &str, name: &'a str, text: &'a str) -> Option<Kind<'a>> {
    match name {
        "sched_switch" => switch(text),
        "sched_waking" => woken(text).map(Kind::Waking),
        "sched_wakeup" => woken(text).map(Kind::Wakeup),
        "sched_wakeup_new" => woken(text).map(Kind::WakeupNew),
        "sched_stat_runtime" => runtime(text),
        "sched_process_fork" => fork(text),
        "sched_process_exec" => exec(text),
        "sched_process_exit" => exit(text),
        "sched_migrate_task" => migrate(text),
        "hrtimer_start" => timer_start(text),
        "hrtimer_expire_entry" => Some(Kind::TimerExpire { timer: hex(word(text, "hrtimer=")?)? }),
        "softirq_entry" => Some(Kind::SoftirqEntry(number(word(text, "vec=")?.as_bytes())?.try_into().ok()?)),
        "softirq_exit" => Some(Kind::SoftirqExit),
        "irq_handler_entry" => Some(Kind::IrqEntry),
        "irq_handler_exit" => Some(Kind::IrqExit),
        "sys_enter_sched_yield" => Some(Kind::Yield),
        _ => Some(other(group, name, text)),
    }
}

/// A probe that the user has set, or an event that says nothing of a schedule.
fn other<'a>(group: &str, name: &'a str, text: &str) -> Kind<'a> {
    let inner = text.strip_prefix('(').and_then(|text| text.split_once(')')).map(|(inner, _)| inner);
    let Some(inner) = inner else { return Kind::Other };
    let first = inner.split(' ').next().unwrap_or_default();
    let address = hex(first).is_some() || group.starts_with("probe_") || first.contains("+0x");
    if !address {
        return Kind::Other;
    }
    let bare = name.strip_suffix("__return");
    Kind::Mark { name: bare.unwrap_or(name), returns: bare.is_some() || inner.contains(" <- ") }
}

/// Fields from the end of a text.
struct Back<'a>(&'a str);

impl<'a> Back<'a> {
    /// The value of the last field, if it has this key.
    fn word(&mut self, key: &str) -> Option<&'a str> {
        let (before, last) = self.0.rsplit_once(' ')?;
        let value = last.strip_prefix(key)?;
        self.0 = before;
        Some(value)
    }

    /// The same for the number of a thread.
    fn tid(&mut self, key: &str) -> Option<Tid> {
        self.word(key).and_then(tid)
    }
}

/// The number of a thread.
fn tid(text: &str) -> Option<Tid> {
    if text == "-1" {
        return Some(UNKNOWN);
    }
    small(text.as_bytes())
}

/// The value behind a key, which begins the text or follows a blank.
fn word<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut rest = text;
    loop {
        if let Some(value) = rest.strip_prefix(key) {
            return value.split(' ').next();
        }
        rest = rest.split_once(' ')?.1;
    }
}

/// An address or a bit mask, in hexadecimal with or without `0x`.
fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

/// A priority.
fn prio(text: &str) -> Option<i32> {
    text.parse().ok()
}

/// The state of who leaves a cpu: letters, or the numbers of `include/linux/sched.h`.
pub(super) fn state(text: &str) -> Option<State> {
    let letter = *text.as_bytes().first()?;
    if letter.is_ascii_digit() {
        let bits = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok()?,
            None => number(text.as_bytes())?,
        };
        return Some(from_bits(bits));
    }
    match letter {
        b'R' => Some(State::Runnable),
        b'X' | b'x' | b'Z' => Some(State::Ended),
        letter if letter.is_ascii_alphabetic() => Some(State::Waits(letter)),
        _ => None,
    }
}

/// A state by its bits, as Linux has them since 4.14.
pub(super) fn from_bits(bits: u64) -> State {
    match bits & 0xff {
        0 => State::Runnable,
        bits if bits & 0x30 != 0 && bits & 0xf == 0 => State::Ended,
        bits => State::Waits(b"SDTtXZPI".get(bits.trailing_zeros() as usize).copied().unwrap_or(b'S')),
    }
}

fn switch(text: &str) -> Option<Kind<'_>> {
    let Some(rest) = text.strip_prefix("prev_comm=") else { return short_switch(text) };
    let mut back = Back(rest);
    let next_prio = back.word("next_prio=").and_then(prio)?;
    let next_tid = back.tid("next_pid=")?;
    let rest = back.0;
    let mut from = 0;
    while let Some(at) = rest.get(from..)?.find(" prev_pid=") {
        let (comm, after) = rest.split_at_checked(from + at)?;
        from += at + 1;
        if let Some((prev_tid, prev_prio, state, next)) = middle(after) {
            let prev = Named { tid: prev_tid, comm, prio: prev_prio };
            return Some(Kind::Switch {
                prev,
                state,
                next: Named { tid: next_tid, comm: next, prio: next_prio },
            });
        }
    }
    None
}

/// ` prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=NAME`; without the arrow in raw form.
fn middle(text: &str) -> Option<(Tid, i32, State, &str)> {
    let (pid, text) = text.strip_prefix(" prev_pid=")?.split_once(' ')?;
    let (weight, text) = text.strip_prefix("prev_prio=")?.split_once(' ')?;
    let (code, text) = text.strip_prefix("prev_state=")?.split_once(' ')?;
    let next = text.strip_prefix("==> ").unwrap_or(text).strip_prefix("next_comm=")?;
    Some((tid(pid)?, prio(weight)?, state(code)?, next))
}

/// `a:1 [120] S ==> b:2 [120]`
fn short_switch(text: &str) -> Option<Kind<'_>> {
    let mut found = None;
    for (at, _) in text.match_indices(" ==> ").filter(|_| text.len() <= MOST) {
        let (left, right) = (text.get(..at)?, text.get(at + 5..)?);
        let Some((left, code)) = left.rsplit_once(' ') else { continue };
        let (Some(prev), Some(next), Some(state)) = (short(left), short(right), state(code)) else {
            continue;
        };
        let kind = Kind::Switch { prev, state, next };
        if prev.comm.len() <= COMM && next.comm.len() <= COMM {
            return Some(kind);
        }
        found.get_or_insert(kind);
    }
    found
}

/// `a:1 [120]`
fn short(text: &str) -> Option<Named<'_>> {
    let (text, weight) = text.strip_suffix(']')?.rsplit_once(" [")?;
    let (comm, number) = text.rsplit_once(':')?;
    Some(Named { tid: tid(number)?, comm, prio: prio(weight)? })
}

/// Who is woken.
fn woken(text: &str) -> Option<Named<'_>> {
    let Some(rest) = text.strip_prefix("comm=") else {
        // `a:1 [120] success=1 CPU:001`, or words of libtraceevent for a field that is no more.
        let text = text.rsplit_once(" CPU:").map_or(text, |(text, _)| text);
        let text = text.strip_suffix("<CANT FIND FIELD success>").unwrap_or(text);
        return short(text.rsplit_once(" success=").map_or(text, |(text, _)| text));
    };
    let mut back = Back(rest);
    back.word("target_cpu=");
    back.word("success=");
    let prio = back.word("prio=").and_then(prio)?;
    let tid = back.tid("pid=")?;
    Some(Named { tid, comm: back.0, prio })
}

fn runtime(text: &str) -> Option<Kind<'_>> {
    // `comm=a pid=1 runtime=5 [ns] vruntime=6 [ns]`
    let (before, after) = text.rsplit_once(" runtime=")?;
    let ran = number(after.split(' ').next()?.as_bytes())?;
    Some(Kind::Runtime { tid: Back(before).tid("pid=")?, ran })
}

fn fork(text: &str) -> Option<Kind<'_>> {
    let mut back = Back(text);
    let child = back.tid("child_pid=")?;
    let rest = back.0;
    for (at, key) in rest.match_indices(" child_comm=").filter(|_| rest.len() <= MOST) {
        let pid = rest.get(..at)?.rsplit_once("pid=").and_then(|(_, pid)| tid(pid));
        if let Some(parent) = pid {
            return Some(Kind::Fork { parent, child, comm: rest.get(at + key.len()..)? });
        }
    }
    None
}

fn exec(text: &str) -> Option<Kind<'_>> {
    let mut back = Back(text);
    let old = back.tid("old_pid=")?;
    let tid = back.tid("pid=")?;
    Some(Kind::Exec { tid, old, file: back.0.strip_prefix("filename=")? })
}

fn exit(text: &str) -> Option<Kind<'_>> {
    let mut back = Back(text);
    back.word("group_dead=");
    back.word("prio=")?;
    Some(Kind::Exit { tid: back.tid("pid=")? })
}

fn migrate(text: &str) -> Option<Kind<'_>> {
    let mut back = Back(text);
    let mut cpu = |key| back.word(key).and_then(|cpu| number(cpu.as_bytes()));
    let to = cpu("dest_cpu=")?.try_into().ok()?;
    let from = cpu("orig_cpu=")?.try_into().ok()?;
    back.word("prio=")?;
    Some(Kind::Migrate { tid: back.tid("pid=")?, from, to })
}

fn timer_start(text: &str) -> Option<Kind<'_>> {
    if !may_wake(word(text, "function=")?) {
        return Some(Kind::Other);
    }
    let timer = hex(word(text, "hrtimer=")?)?;
    let expires = number(word(text, "expires=")?.as_bytes())?;
    let relative = match word(text, "mode=") {
        None => None,
        Some(mode) => Some(relative(mode)?),
    };
    Some(Kind::TimerStart { timer, expires, relative })
}

/// Whether the function of a timer wakes a thread: `hrtimer_wakeup`, also with an offset or a suffix of the
/// compiler; an address may be that one.
fn may_wake(function: &str) -> bool {
    match function.strip_prefix("hrtimer_wakeup") {
        Some(rest) => !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'),
        None => function.starts_with("0x") || function.len() >= 8 && hex(function).is_some(),
    }
}

/// `REL|PINNED`, `ABS`, or bits of which the first is `HRTIMER_MODE_REL`.
fn relative(mode: &str) -> Option<bool> {
    match mode.split('|').next()? {
        "REL" => Some(true),
        "ABS" => Some(false),
        bits => hex(bits).map(|bits| bits & 1 == 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say<'a>(name: &'a str, text: &'a str) -> Option<Kind<'a>> {
        kind("", name, text)
    }

    fn who(tid: Tid, comm: &str, prio: i32) -> Named<'_> {
        Named { tid, comm, prio }
    }

    fn switched<'a>(prev: &'a str, state: State, next: &'a str) -> Option<Kind<'a>> {
        Some(Kind::Switch { prev: who(7, prev, 120), state, next: who(0, next, -1) })
    }

    #[test]
    fn names_of_threads_may_hold_anything() {
        for (prev, next) in [
            ("tr", "swapper/1"),
            ("a b", "c [d]"),
            (" ==> ", " ==> "),
            ("x next_comm=", "x next_comm="),
            (" prev_pid=1 pr", " next_pid=9 ne"),
            ("", ""),
            (" next_prio=5", "next_prio=5"),
        ] {
            let long = format!(
                "prev_comm={prev} prev_pid=7 prev_prio=120 prev_state=S ==> next_comm={next} next_pid=0 \
                 next_prio=-1"
            );
            assert_eq!(say("sched_switch", &long), switched(prev, State::Waits(b'S'), next), "{long}");
            let raw = long.replace("=S ==> ", "=1 ");
            assert_eq!(say("sched_switch", &raw), switched(prev, State::Waits(b'S'), next), "{raw}");
        }
        for (prev, next) in
            [("tr", "swapper/1"), ("a:1 [1] S ==> b", "c"), ("x:y:", "a:1 [1] S ==> b"), ("", "")]
        {
            let short = format!("{prev}:7 [120] R+ ==> {next}:0 [-1]");
            assert_eq!(say("sched_switch", &short), switched(prev, State::Runnable, next), "{short}");
        }
        let text = "comm=x pid=5 prio=1 pid=77 prio=120 target_cpu=001";
        assert_eq!(say("sched_waking", text), Some(Kind::Waking(who(77, "x pid=5 prio=1", 120))));
        let text = "comm=a pid=7 child_comm=b child_comm=c child_pid=8";
        assert_eq!(
            say("sched_process_fork", text),
            Some(Kind::Fork { parent: 7, child: 8, comm: "b child_comm=c" })
        );
    }

    #[test]
    fn wakes_have_four_spellings() {
        let woken = Some(Kind::Wakeup(who(9, "a b", 98)));
        for text in [
            "comm=a b pid=9 prio=98 target_cpu=001",
            "comm=a b pid=9 prio=98 success=1 target_cpu=001",
            "a b:9 [98] success=1 CPU:001",
            "a b:9 [98]<CANT FIND FIELD success> CPU:001",
            "a b:9 [98] CPU:001",
        ] {
            assert_eq!(say("sched_wakeup", text), woken, "{text}");
        }
    }

    #[test]
    fn states_are_letters_or_bits() {
        for (text, meant) in [
            ("R", State::Runnable),
            ("R+", State::Runnable),
            ("0", State::Runnable),
            ("256", State::Runnable),
            ("0x100", State::Runnable),
            ("S", State::Waits(b'S')),
            ("1", State::Waits(b'S')),
            ("2", State::Waits(b'D')),
            ("D|K", State::Waits(b'D')),
            ("0x102", State::Waits(b'D')),
            ("128", State::Waits(b'I')),
            ("I", State::Waits(b'I')),
            ("t", State::Waits(b't')),
            ("16", State::Ended),
            ("32", State::Ended),
            ("X", State::Ended),
            ("Z", State::Ended),
        ] {
            assert_eq!(state(text), Some(meant), "{text}");
        }
        for wrong in ["", "+", "=", "1x", "0xz"] {
            assert_eq!(state(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_other_events_are_read_in_each_spelling() {
        for text in ["comm=a pid=7 runtime=55 [ns]", "comm=a runtime=1 pid=7 runtime=55 vruntime=66"] {
            assert_eq!(say("sched_stat_runtime", text), Some(Kind::Runtime { tid: 7, ran: 55 }), "{text}");
        }
        let text = "parent_comm=a parent_pid=7 child_comm=b child_pid=8";
        assert_eq!(say("sched_process_fork", text), Some(Kind::Fork { parent: 7, child: 8, comm: "b" }));
        let text = "filename=/my dir/x pid=3 pid=7 old_pid=8";
        assert_eq!(
            say("sched_process_exec", text),
            Some(Kind::Exec { tid: 7, old: 8, file: "/my dir/x pid=3" })
        );
        for text in ["comm=a pid=7 prio=120", "comm=a pid=7 prio=120 group_dead=true"] {
            assert_eq!(say("sched_process_exit", text), Some(Kind::Exit { tid: 7 }), "{text}");
        }
        let text = "comm=a pid=7 prio=120 orig_cpu=3 dest_cpu=12";
        assert_eq!(say("sched_migrate_task", text), Some(Kind::Migrate { tid: 7, from: 3, to: 12 }));
        assert_eq!(say("softirq_entry", "vec=3 [action=NET_RX]"), Some(Kind::SoftirqEntry(3)));
        assert_eq!(say("irq_handler_entry", "irq=36 name=virtio1-req.0"), Some(Kind::IrqEntry));
        assert_eq!(say("sys_enter_sched_yield", ""), Some(Kind::Yield));
        assert_eq!(say("sched_switch", "prev_comm=a prev_pid=1"), None);
        assert_eq!(say("cpu_idle", "state=1 cpu_id=0"), Some(Kind::Other));
    }

    #[test]
    fn only_timers_that_may_wake_a_thread_are_taken() {
        let start = |function: &str, mode: &str| {
            let text =
                format!("hrtimer=0xffff88 function={function} expires=7 softexpires=6{mode} was_armed=0");
            match say("hrtimer_start", &text) {
                Some(Kind::TimerStart { timer: 0xffff88, expires: 7, relative }) => Some(relative),
                Some(Kind::Other) => None,
                other => panic!("{text}: {other:?}"),
            }
        };
        for function in
            ["hrtimer_wakeup", "hrtimer_wakeup/0x0", "hrtimer_wakeup+0x0/0x20", "0xffffffff814332e0"]
        {
            assert_eq!(start(function, ""), Some(None), "{function}");
        }
        for function in ["tick_nohz_handler", "hrtimer_wakeup_other", "dl_task_timer", "bad"] {
            assert_eq!(start(function, ""), None, "{function}");
        }
        for (mode, relative) in
            [("REL|PINNED", true), ("ABS|SOFT", false), ("0x1", true), ("0", false), ("9", true)]
        {
            assert_eq!(start("hrtimer_wakeup", &format!(" mode={mode}")), Some(Some(relative)), "{mode}");
        }
        assert_eq!(
            say("hrtimer_expire_entry", "hrtimer=0000000075fd53d8 function=x now=5"),
            Some(Kind::TimerExpire { timer: 0x75fd_53d8 })
        );
    }

    #[test]
    fn probes_are_marks() {
        let mark = |name, returns| Some(Kind::Mark { name, returns });
        assert_eq!(say("w_in", "(55d0c1a0)"), mark("w_in", false));
        assert_eq!(say("w_in", "(0x55d0c1a0) arg1=5"), mark("w_in", false));
        assert_eq!(say("w_out__return", "(55d0 <- 55c0)"), mark("w_out", true));
        assert_eq!(say("ret", "(0x55d0 <- 0x55c0)"), mark("ret", true));
        assert_eq!(say("print", "(some words)"), Some(Kind::Other));
        assert_eq!(named("  probe_x:w__return: (12)"), Some(("probe_x", "w__return", "(12)")));
        assert_eq!(named("  4000 sched:sched_switch: prev"), Some(("sched", "sched_switch", "prev")));
        assert_eq!(named("b:-77 x"), None);
    }
}
