//! Tables and operations of a stepped kernel, and traces of it: what is compared is written and read again.

use experiment::conformance::{self, Case, Trouble};
use experiment::neutral;

use crate::{archive, promise};

/// Largest case that is simulated: ticks, tasks, and ticks times cpus.
const MOST_TICKS: u64 = 400;
const MOST_TASKS: usize = 40;
const MOST_CELLS: usize = 8_000;

/// A case; if it is two files, the second one is its trace.
pub(crate) fn case(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let files = archive::files(text);
    let (first, trace) = match files[..] {
        [(_, first), (_, trace), ..] if text.starts_with("== ") => (first, Some(trace)),
        _ => (text, None),
    };
    let read = || -> Result<Case, Trouble> {
        let mut case = conformance::read(first)?;
        if let Some(trace) = trace {
            conformance::add_trace(&mut case, trace)?;
        }
        Ok(case)
    };
    match read() {
        Ok(mut case) => {
            case.cut();
            for (known, usual) in [(&mut case.kernel, "linux-6.18"), (&mut case.machine, "core:2")] {
                if known.is_empty() {
                    usual.clone_into(known);
                }
            }
            compared(&case);
        }
        Err(trouble) => {
            // The program shows invisible characters as pictures.
            promise::refusal(&neutral::lines(&trouble.text));
            let line = trouble.line <= text.lines().count();
            assert!(line, "a line behind the end: {trouble:?}");
        }
    }
}

fn compared(case: &Case) {
    let cells = case.last_tick() as usize * case.rows.values().map(Vec::len).max().unwrap_or(1);
    if case.last_tick() > MOST_TICKS || case.tasks.len() > MOST_TASKS || cells > MOST_CELLS {
        return;
    }
    let found = match conformance::compare(case) {
        Ok(found) => found,
        Err(why) => return promise::refusal(&neutral::lines(&why)),
    };
    if let Some(first) = &found.first {
        first.decided.iter().for_each(|text| promise::visible(&neutral::lines(text)));
    }
    let table = conformance::write(case, &found.rows);
    let _ = conformance::write_trace(case, &found.rows);
    let again =
        conformance::read(&table).unwrap_or_else(|why| panic!("{why:?} of what was written:\n{table}"));
    assert_eq!(again.operations, case.operations, "{table}");
    let met =
        conformance::compare(&again).unwrap_or_else(|why| panic!("{why} of what was written:\n{table}"));
    assert!(met.first.is_none(), "what was written is not met: {:?}\n{table}", met.first);
}
