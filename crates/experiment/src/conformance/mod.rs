//! Conformance: tick by tick, what a kernel of the simulator does against what a real kernel did under a
//! stepped clock, or against a table worked out by hand. Without costs, noise and lateness of ticks.

mod case;
mod kstep;
mod record;
mod run;
mod table;

pub use case::{Case, Cell, Difference, Group, Operation, Trouble, What};
pub use kstep::write_trace;
pub use table::{show, write};

use record::Seen;

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
    let Seen { rows, first } = run::run(case)?;
    let mut ticks = Share::default();
    let mut cpus = vec![Share::default(); rows.first().map_or(0, Vec::len)];
    for (tick, expected) in &case.rows {
        let Some(got) = rows.get(*tick as usize) else { continue };
        let (mut equal, mut any) = (true, false);
        for (cpu, (expected, got)) in expected.iter().zip(got).enumerate() {
            if *expected == Cell::default() {
                continue;
            }
            let same = expected.agrees(*got);
            cpus[cpu].count(same);
            (equal, any) = (equal && same, true);
        }
        if any {
            ticks.count(equal);
        }
    }
    Ok(Comparison { ticks, cpus, first, rows })
}
