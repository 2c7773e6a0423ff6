//! Conformance: tick by tick, what a kernel of the simulator does against what a real kernel did under a
//! stepped clock, or against a table worked out by hand. Without costs, noise and lateness of ticks.

mod case;
mod kstep;
mod record;
mod run;
mod table;

use sim_core::time::Time;

pub use case::{Case, Cell, Operation, Trouble, What};
pub use kstep::write_trace;
pub use table::{show, write};

use case::TICK;
use record::{Note, Seen};

/// Reads a case in any of its formats: a table, kSTEP's operations, or the log of its run.
///
/// # Errors
/// The line that is wrong, and what would be right.
pub fn read(text: &str) -> Result<Case, Trouble> {
    if text.trim_start().starts_with('{') {
        kstep::read_operations(text)
    } else if text.contains("EXECOP: ") {
        kstep::read_log(text)
    } else {
        table::read(text)
    }
}

/// Adds the rows of kSTEP's trace (`kstep.jsonl`).
///
/// # Errors
/// The line that is wrong, and what would be right.
pub fn add_trace(case: &mut Case, text: &str) -> Result<(), Trouble> {
    kstep::add_trace(case, text)
}

/// How many of something are equal.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Share {
    /// Those that are equal.
    pub equal: u64,
    /// All that were compared.
    pub all: u64,
}

impl Share {
    fn count(&mut self, equal: bool) {
        self.equal += u64::from(equal);
        self.all += 1;
    }
}

/// The first cell that differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The tick.
    pub tick: u64,
    /// The cpu by its number in the file.
    pub cpu: u32,
    /// What was expected there.
    pub expected: Cell,
    /// What the simulator shows.
    pub got: Cell,
    /// Which rules decided, the last decision of the queue first, then how the tasks got where they are.
    pub decided: Vec<String>,
}

/// What a comparison found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comparison {
    /// Ticks at which every cell that was compared is equal.
    pub ticks: Share,
    /// The cells of each cpu.
    pub cpus: Vec<Share>,
    /// The first difference.
    pub first: Option<Difference>,
    /// What the simulator shows from tick 0 on.
    pub rows: Vec<Vec<Cell>>,
}

/// Runs a case and compares its rows.
///
/// # Errors
/// A sentence: what of the case cannot be run.
pub fn compare(case: &Case) -> Result<Comparison, String> {
    if let Some((tick, trouble)) = &case.refused {
        return Err(format!("at tick {tick}: {}", trouble.text));
    }
    let Seen { rows, notes } = run::run(case)?;
    let (mut ticks, mut first) = (Share::default(), None);
    let mut cpus = vec![Share::default(); rows.first().map_or(0, Vec::len)];
    for (tick, expected) in &case.rows {
        let Some(got) = rows.get(*tick as usize) else { continue };
        let (mut equal, mut any) = (true, false);
        for (cpu, (expected, got)) in expected.iter().zip(got).enumerate() {
            if *expected == Cell::default() {
                continue;
            }
            let same = agrees(*expected, *got);
            cpus[cpu].count(same);
            (equal, any) = (equal && same, true);
            if !same && first.is_none() {
                let decided = deciders(case, &notes, *tick, cpu as u32, (*expected, *got));
                let cpu = cpu as u32 + case.first_cpu;
                first = Some(Difference { tick: *tick, cpu, expected: *expected, got: *got, decided });
            }
        }
        if any {
            ticks.count(equal);
        }
    }
    Ok(Comparison { ticks, cpus, first, rows })
}

/// What is known of a cell is as seen.
fn agrees(expected: Cell, got: Cell) -> bool {
    let who = expected.who.is_none() || expected.who == got.who;
    who && (expected.length.is_none() || expected.length == got.length)
}

/// The decisions that led to a cell: the last one of the cpu's queue, and the last placement or move of the
/// tasks that were expected and seen, or of any task to or from the cpu if only its length differs.
fn deciders(case: &Case, notes: &[Note], tick: u64, cpu: u32, (expected, got): (Cell, Cell)) -> Vec<String> {
    let tick_of = |at: Time| at.ns() / TICK.ns();
    let before = |note: &&Note| tick_of(note.at) <= tick;
    let until: Vec<&Note> = notes.iter().take_while(before).collect();
    let last = |is: &dyn Fn(&Note) -> bool| until.iter().rev().find(|note| is(note)).copied();
    let here = |note: &Note| note.cpus.contains(&Some(cpu));
    let mut found: Vec<&Note> = Vec::new();
    if expected.who.is_some() && expected.who != got.who {
        found.extend(last(&|note| note.of_queue && note.cpus[0] == Some(cpu)));
        for task in [expected.who, got.who].into_iter().flatten().flatten() {
            found.extend(last(&|note| !note.of_queue && note.task == Some(task) && note.cpus[0].is_some()));
        }
    }
    if expected.length.is_some() && expected.length != got.length {
        found.extend(last(&|note| !note.of_queue && here(note)));
    }
    let mut texts: Vec<String> = Vec::new();
    for note in found {
        let text = format!("tick {}: {}", tick_of(note.at), note.text);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.is_empty() {
        texts.push(format!("nothing was decided about {}", show(case, expected)));
    }
    texts
}
